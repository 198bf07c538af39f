/* simulation: connections: two flows of bytes, each in order, with bounded room
 *
 * What one end sends goes as segments in a queue; only its front is looked at for arrival, so
 * order needs no further care. A lost segment is sent again after a while, which delays all
 * behind it; while the way is cut the front is tried again and again until the timeout. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sim.h"
#include "feeler/base.h"

enum { MAX_SEGMENT = 16384, SIM_STREAM_MAX_TRIES = 8 };
#define RETRY_NS (200 * FLR_SIM_MS) /* the first time; then twice as long each time */

typedef enum sim_segment_kind {
    SEGMENT_DATA,
    SEGMENT_OPEN,
    SEGMENT_END,
    SEGMENT_RESET
} sim_segment_kind;

typedef struct sim_segment {
    struct sim_segment *next;
    sim_segment_kind kind;
    int64_t sent_ns, arrival_ns;
    int code; /* what a reset means to the other end */
    size_t size, read;
    uint8_t *bytes; /* behind the struct; NULL in the three that are part of the flow */
} sim_segment;

typedef struct sim_queue {
    sim_segment *first, *last;
} sim_queue;

/* what one end sends */
typedef struct sim_flow {
    sim_queue on_way, arrived;
    size_t held; /* bytes in both */
    bool ended;  /* all has arrived, and no more comes */
    // an open, an end and a reset can each be sent once, and must not need memory
    sim_segment open, end, reset;
} sim_flow;

/* between end 0, which connects, and end 1, which accepts */
struct sim_connection {
    sim_connection *next;
    flr_sim *sim;
    sim_node *nodes[2]; /* 1: NULL where nobody has the address */
    flr_address addresses[2];
    sim_flow flows[2];          /* sent by that end */
    bool open[2];               /* the end knows that the connection stands */
    bool gone[2];               /* nobody holds the end any more */
    int error[2];               /* what the end's next call answers */
    const sim_socket *listener; /* whose queue end 1 waits in; NULL: accepted, or none */
};

/* ---- queues ---- */

static void append(sim_queue *queue, sim_segment *segment)
{
    segment->next = NULL;
    if (queue->last)
        queue->last->next = segment;
    else
        queue->first = segment;
    queue->last = segment;
}

static sim_segment *take_first(sim_queue *queue)
{
    sim_segment *segment = queue->first;
    queue->first = segment->next;
    if (!queue->first) queue->last = NULL;
    return segment;
}

static void free_segment(sim_segment *segment)
{
    if (segment->kind == SEGMENT_DATA) free(segment);
}

static void drop_queue(sim_queue *queue)
{
    while (queue->first) free_segment(take_first(queue));
}

/* sends a segment from an end; loss makes it late */
static void dispatch(sim_connection *connection, int end, sim_segment *segment)
{
    sim_node *from = connection->nodes[end], *to = connection->nodes[1 - end];
    flr_sim *sim = connection->sim;
    const flr_sim_network *network = flr_sim_network_between(from, to);
    segment->sent_ns = sim->now_ns;
    segment->arrival_ns = flr_sim_travel(from, to, segment->size);
    int64_t again = RETRY_NS;
    for (int i = 0; i < SIM_STREAM_MAX_TRIES && from != to; i++, again *= 2) {
        if (!flr_sim_random_chance(&sim->network_random, network->loss)) break;
        segment->arrival_ns += again;
        sim->stats.resent++;
    }
    append(&connection->flows[end].on_way, segment);
}

/* sends one of the three that are part of a flow, once */
static void dispatch_own(sim_connection *connection, int end, sim_segment *segment,
                         sim_segment_kind kind, int code)
{
    if (segment->kind == kind || !connection->nodes[end]) return;
    segment->kind = kind;
    segment->code = code;
    dispatch(connection, end, segment);
}

static void touch(sim_node *node)
{
    if (node) node->touched = true;
}

static void fail_end(sim_connection *connection, int end, int code)
{
    if (connection->gone[end] || connection->error[end]) return;
    connection->error[end] = code;
    touch(connection->nodes[end]);
}

static void free_connection(sim_connection *connection)
{
    for (int end = 0; end < 2; end++) {
        drop_queue(&connection->flows[end].on_way);
        drop_queue(&connection->flows[end].arrived);
    }
    free(connection);
}

/* frees connections that nobody holds */
static void sweep(flr_sim *sim)
{
    for (sim_connection **link = &sim->connections; *link;) {
        sim_connection *connection = *link;
        if (connection->gone[0] && connection->gone[1]) {
            *link = connection->next;
            free_connection(connection);
        } else {
            link = &connection->next;
        }
    }
}

void flr_sim_stream_free(flr_sim *sim)
{
    while (sim->connections) {
        sim_connection *next = sim->connections->next;
        free_connection(sim->connections);
        sim->connections = next;
    }
}

/* ---- arrival ---- */

/* the flow whose front arrives first; ties go to the older connection */
static int64_t find_next(const flr_sim *sim, sim_connection **found, int *end)
{
    int64_t earliest = INT64_MAX;
    for (sim_connection *connection = sim->connections; connection; connection = connection->next)
        for (int i = 0; i < 2; i++) {
            const sim_segment *front = connection->flows[i].on_way.first;
            if (!front || front->arrival_ns >= earliest) continue;
            earliest = front->arrival_ns;
            *found = connection;
            *end = i;
        }
    return earliest;
}

int64_t flr_sim_stream_next(const flr_sim *sim)
{
    sim_connection *connection;
    int end;
    return find_next(sim, &connection, &end);
}

/* somebody knocks at end 1 */
static void arrive_open(sim_connection *connection)
{
    sim_node *node = connection->nodes[1];
    const sim_socket *listener =
        flr_sim_socket_find(node, connection->addresses[1], FLR_SOCKET_LISTENER);
    if (!listener) {
        connection->sim->stats.refused++;
        dispatch_own(connection, 1, &connection->flows[1].reset, SEGMENT_RESET, ECONNREFUSED);
        return;
    }
    connection->listener = listener;
    connection->gone[1] = false;
    connection->open[1] = true;
    dispatch_own(connection, 1, &connection->flows[1].open, SEGMENT_OPEN, 0);
    touch(node);
}

/* a segment sent by `end` has come to the other */
static void arrive(sim_connection *connection, int end, sim_segment *segment)
{
    sim_flow *flow = &connection->flows[end];
    int other = 1 - end;
    touch(connection->nodes[other]);
    if (segment->kind == SEGMENT_OPEN && end == 0) {
        arrive_open(connection);
    } else if (segment->kind == SEGMENT_OPEN) {
        connection->open[0] = true;
    } else if (segment->kind == SEGMENT_RESET) {
        connection->sim->stats.broken += segment->code == ECONNRESET;
        fail_end(connection, other, segment->code);
    } else if (connection->gone[other]) {
        // nobody there any more: data is answered by a reset, a goodbye by nothing
        if (segment->kind == SEGMENT_DATA) {
            flow->held -= segment->size;
            dispatch_own(connection, other, &connection->flows[other].reset, SEGMENT_RESET,
                         ECONNRESET);
            free_segment(segment);
        }
    } else if (segment->kind == SEGMENT_END) {
        flow->ended = true;
    } else {
        append(&flow->arrived, segment);
    }
}

void flr_sim_stream_deliver(flr_sim *sim)
{
    sim_connection *connection = NULL;
    int end = 0;
    find_next(sim, &connection, &end);
    if (!connection) return;
    sim_flow *flow = &connection->flows[end];
    sim_segment *front = flow->on_way.first;
    sim_node *from = connection->nodes[end], *to = connection->nodes[1 - end];
    if (flr_sim_reachable(from, to)) {
        arrive(connection, end, take_first(&flow->on_way));
        sweep(sim);
        return;
    }

    // no way through: once more later, or give up; the other end finds out when it sends
    int64_t timeout = flr_sim_network_between(from, to)->tcp_timeout_ns;
    if (timeout > 0 && sim->now_ns - front->sent_ns >= timeout) {
        sim->stats.broken++;
        fail_end(connection, end, ETIMEDOUT);
        drop_queue(&flow->on_way);
    } else {
        int64_t give_up = timeout > 0 ? front->sent_ns + timeout : INT64_MAX;
        front->arrival_ns = sim->now_ns + RETRY_NS;
        if (front->arrival_ns > give_up) front->arrival_ns = give_up;
        sim->stats.resent++;
    }
}

/* ---- the operations ---- */

int flr_sim_tcp_listen(flr_env *env, flr_address local, flr_socket **socket)
{
    sim_socket *made;
    int code = flr_sim_socket_make((sim_node *)env, local, FLR_SOCKET_LISTENER, &made);
    if (!code) *socket = &made->base;
    return code;
}

int flr_sim_tcp_connect(flr_env *env, flr_address to, flr_socket **socket)
{
    sim_node *node = (sim_node *)env;
    flr_sim *sim = node->sim;
    flr_sim_settle(sim);
    flr_address local = node->address;
    if (flr_address_is_loopback(to)) {
        local = to;
        local.port = 0;
    }
    if (to.family != local.family) return EAFNOSUPPORT;
    sim_connection *connection = calloc(1, sizeof *connection);
    if (!connection) return ENOMEM;
    sim_socket *made;
    int code = flr_sim_socket_make(node, local, FLR_SOCKET_STREAM, &made);
    if (code) {
        free(connection);
        return code;
    }
    made->base.peer = to;
    made->connection = connection;
    connection->sim = sim;
    connection->nodes[0] = node;
    connection->nodes[1] = flr_sim_find_node(node, to);
    connection->addresses[0] = made->base.local;
    connection->addresses[1] = to;
    connection->gone[1] = true; // until a listener takes it
    sim_connection **link = &sim->connections;
    while (*link) link = &(*link)->next;
    *link = connection;
    sim->stats.streams++;
    dispatch_own(connection, 0, &connection->flows[0].open, SEGMENT_OPEN, 0);
    *socket = &made->base;
    return 0;
}

static sim_connection *next_in_line(const sim_socket *listener)
{
    const flr_sim *sim = ((const sim_node *)listener->base.env)->sim;
    for (sim_connection *connection = sim->connections; connection; connection = connection->next)
        if (connection->listener == listener) return connection;
    return NULL;
}

int flr_sim_tcp_accept(flr_socket *base, flr_socket **socket, flr_address *from)
{
    const sim_socket *listener = (const sim_socket *)base;
    sim_node *node = (sim_node *)base->env;
    if (listener->dead) return ENETDOWN;
    flr_sim_settle(node->sim);
    sim_connection *connection = next_in_line(listener);
    if (!connection) return EAGAIN;
    // it shares its port with the listener, so it is not made like other sockets
    sim_socket *made = calloc(1, sizeof *made);
    if (!made) return ENOMEM;
    made->base.env = &node->base;
    made->base.kind = FLR_SOCKET_STREAM;
    made->base.local = connection->addresses[1];
    made->base.peer = connection->addresses[0];
    made->connection = connection;
    made->end = 1;
    made->next = node->sockets;
    node->sockets = made;
    connection->listener = NULL;
    *from = connection->addresses[0];
    *socket = &made->base;
    return 0;
}

static size_t room_left(const sim_connection *connection, int end)
{
    const flr_sim_network *network =
        flr_sim_network_between(connection->nodes[end], connection->nodes[1 - end]);
    size_t held = connection->flows[end].held;
    return network->tcp_buffer > held ? network->tcp_buffer - held : 0;
}

int flr_sim_tcp_send(flr_socket *base, const void *bytes, size_t count, size_t *sent)
{
    const sim_socket *socket = (const sim_socket *)base;
    sim_connection *connection = socket->connection;
    int end = socket->end;
    if (socket->dead) return ENETDOWN;
    flr_sim_settle(connection->sim);
    if (connection->error[end]) return connection->error[end];
    if (!connection->open[end]) return EAGAIN;
    size_t room = room_left(connection, end), done = 0;
    if (count > 0 && room == 0) return EAGAIN;
    if (count > room) count = room;
    while (done < count) {
        size_t size = count - done < MAX_SEGMENT ? count - done : MAX_SEGMENT;
        sim_segment *segment = calloc(1, sizeof *segment + size);
        if (!segment) break;
        segment->bytes = (uint8_t *)(segment + 1);
        segment->size = size;
        memcpy(segment->bytes, (const uint8_t *)bytes + done, size);
        dispatch(connection, end, segment);
        connection->flows[end].held += size;
        done += size;
    }
    if (done == 0 && count > 0) return ENOMEM;
    *sent = done;
    return 0;
}

int flr_sim_tcp_receive(flr_socket *base, void *bytes, size_t capacity, size_t *got)
{
    const sim_socket *socket = (const sim_socket *)base;
    sim_connection *connection = socket->connection;
    if (socket->dead) return ENETDOWN;
    flr_sim_settle(connection->sim);
    sim_flow *flow = &connection->flows[1 - socket->end];
    size_t done = 0;
    while (done < capacity && flow->arrived.first) {
        sim_segment *front = flow->arrived.first;
        size_t left = front->size - front->read;
        size_t size = left < capacity - done ? left : capacity - done;
        memcpy((uint8_t *)bytes + done, front->bytes + front->read, size);
        front->read += size;
        done += size;
        if (front->read == front->size) free_segment(take_first(&flow->arrived));
    }
    if (done > 0) {
        flow->held -= done;
        touch(connection->nodes[1 - socket->end]); // there is room again
        *got = done;
        return 0;
    }
    // what had come before an error was still handed out
    if (connection->error[socket->end]) return connection->error[socket->end];
    *got = 0;
    return flow->ended ? 0 : EAGAIN;
}

unsigned flr_sim_stream_ready(sim_socket *socket)
{
    if (socket->base.kind == FLR_SOCKET_LISTENER) return next_in_line(socket) ? FLR_WAIT_READ : 0;
    const sim_connection *connection = socket->connection;
    int end = socket->end;
    if (connection->error[end]) return FLR_WAIT_READ | FLR_WAIT_WRITE;
    const sim_flow *incoming = &connection->flows[1 - end];
    unsigned ready = incoming->arrived.first || incoming->ended ? FLR_WAIT_READ : 0;
    if (connection->open[end] && room_left(connection, end) > 0) ready |= FLR_WAIT_WRITE;
    return ready;
}

/* an end is let go: with unread data it is a reset to the other, else an orderly end */
static void leave(sim_connection *connection, int end)
{
    sim_flow *outgoing = &connection->flows[end];
    bool unread = connection->flows[1 - end].arrived.first;
    drop_queue(&connection->flows[1 - end].arrived);
    connection->gone[end] = true;
    if (connection->error[end]) return;
    if (unread)
        dispatch_own(connection, end, &outgoing->reset, SEGMENT_RESET, ECONNRESET);
    else
        dispatch_own(connection, end, &outgoing->end, SEGMENT_END, 0);
}

void flr_sim_stream_close(sim_socket *socket)
{
    flr_sim *sim = ((sim_node *)socket->base.env)->sim;
    if (socket->dead) return; // let go when its node went down
    if (socket->base.kind == FLR_SOCKET_LISTENER) {
        // those who wait in line are turned away
        for (sim_connection *c; (c = next_in_line(socket));) {
            c->listener = NULL;
            c->gone[1] = true;
            dispatch_own(c, 1, &c->flows[1].reset, SEGMENT_RESET, ECONNRESET);
        }
    } else {
        leave(socket->connection, socket->end);
    }
    sweep(sim);
}

void flr_sim_stream_crash(sim_socket *socket)
{
    // a dead node says no goodbye: the other end notices when it sends, or never
    flr_sim *sim = ((sim_node *)socket->base.env)->sim;
    if (socket->base.kind == FLR_SOCKET_LISTENER) {
        for (sim_connection *c; (c = next_in_line(socket));) {
            c->listener = NULL;
            c->gone[1] = true;
        }
    } else {
        sim_connection *connection = socket->connection;
        socket->connection = NULL;
        connection->gone[socket->end] = true;
        drop_queue(&connection->flows[socket->end].on_way);
        drop_queue(&connection->flows[1 - socket->end].arrived);
    }
    sweep(sim);
}
