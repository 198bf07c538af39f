/* simulation: the network: links, datagrams, sockets, waiting */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sim.h"

/* ---- links ---- */

static flr_address without_port(flr_address address)
{
    address.port = 0;
    return address;
}

static bool is_wildcard(flr_address address)
{
    static const uint8_t zeros[16];
    return memcmp(address.ip, zeros, address.family == 4 ? 4 : 16) == 0;
}

/* the node an address means, seen from another; NULL: none */
static sim_node *find_node(sim_node *from, flr_address address)
{
    if (flr_address_is_loopback(address)) return from;
    const flr_sim *sim = from->sim;
    for (size_t i = 0; i < sim->node_count; i++)
        if (flr_address_equal(sim->nodes[i]->address, without_port(address))) return sim->nodes[i];
    return NULL;
}

static bool reachable(const sim_node *from, const sim_node *to)
{
    return to && from->up && to->up && (from == to || from->group == to->group);
}

static const flr_sim_network *network_between(const sim_node *from, const sim_node *to)
{
    if (to && from->links[to->index].own) return &from->links[to->index].network;
    return &from->sim->def.network;
}

/* when a packet sent now would arrive, with bandwidth, delay and jitter */
static int64_t travel(sim_node *from, sim_node *to, size_t size)
{
    flr_sim *sim = from->sim;
    if (from == to) return sim->now_ns;
    const flr_sim_network *network = network_between(from, to);
    int64_t leaves = sim->now_ns;
    if (to && network->bytes_per_second > 0) {
        sim_link *link = &from->links[to->index];
        if (link->busy_until_ns > leaves) leaves = link->busy_until_ns;
        leaves += (int64_t)((double)size / network->bytes_per_second * 1e9);
        link->busy_until_ns = leaves;
    }
    return leaves + network->delay_ns +
           flr_sim_random_below(&sim->network_random, network->jitter_ns + 1);
}

/* ---- datagrams on their way: a heap, the next to arrive on top ---- */

static bool comes_before(const sim_datagram *a, const sim_datagram *b)
{
    return a->arrival_ns != b->arrival_ns ? a->arrival_ns < b->arrival_ns : a->order < b->order;
}

static int heap_push(flr_sim *sim, sim_datagram *datagram)
{
    if (!FLR_GROW(sim->heap, sim->heap_count, sim->heap_capacity, 64)) return ENOMEM;
    size_t at = sim->heap_count++;
    for (; at > 0 && comes_before(datagram, sim->heap[(at - 1) / 2]); at = (at - 1) / 2)
        sim->heap[at] = sim->heap[(at - 1) / 2];
    sim->heap[at] = datagram;
    return 0;
}

static sim_datagram *heap_pop(flr_sim *sim)
{
    sim_datagram *top = sim->heap[0], *last = sim->heap[--sim->heap_count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= sim->heap_count) break;
        if (child + 1 < sim->heap_count && comes_before(sim->heap[child + 1], sim->heap[child]))
            child++;
        if (!comes_before(sim->heap[child], last)) break;
        sim->heap[at] = sim->heap[child];
        at = child;
    }
    sim->heap[at] = last;
    return top;
}

int64_t flr_sim_net_next(const flr_sim *sim)
{
    return sim->heap_count > 0 ? sim->heap[0]->arrival_ns : INT64_MAX;
}

void flr_sim_net_free(flr_sim *sim)
{
    for (size_t i = 0; i < sim->heap_count; i++) free(sim->heap[i]);
    free(sim->heap);
}

/* the UDP socket that hears this address; NULL: none */
static sim_socket *find_socket(sim_node *node, flr_address address)
{
    for (sim_socket *socket = node->sockets; socket; socket = socket->next) {
        flr_address local = socket->base.local;
        if (socket->base.kind != FLR_SOCKET_UDP || socket->dead || local.port != address.port ||
            local.family != address.family)
            continue;
        if (is_wildcard(local) || flr_address_equal(local, address)) return socket;
    }
    return NULL;
}

/* counts the ways a datagram can end; NULL: it goes nowhere */
static sim_socket *find_receiver(flr_sim *sim, const sim_datagram *datagram, sim_node **node)
{
    *node = find_node(datagram->from, datagram->target);
    if (!reachable(datagram->from, *node)) {
        sim->stats.cut++;
        return NULL;
    }
    sim_socket *socket = find_socket(*node, datagram->target);
    if (!socket) {
        sim->stats.unheard++;
        return NULL;
    }
    // a datagram needs a little room even when it is empty
    size_t room = network_between(datagram->from, *node)->udp_buffer;
    if (room > 0 && socket->held + datagram->size + 64 > room) {
        sim->stats.overflowed++;
        return NULL;
    }
    return socket;
}

void flr_sim_net_deliver(flr_sim *sim)
{
    sim_datagram *datagram = heap_pop(sim);
    sim_node *node;
    sim_socket *socket = find_receiver(sim, datagram, &node);
    if (!socket) {
        free(datagram);
        return;
    }
    sim_link *link = &datagram->from->links[node->index];
    if (datagram->number < link->newest) sim->stats.reordered++;
    if (datagram->number > link->newest) link->newest = datagram->number;
    sim->stats.delivered++;
    datagram->next = NULL;
    if (socket->last)
        socket->last->next = datagram;
    else
        socket->first = datagram;
    socket->last = datagram;
    socket->held += datagram->size + 64;
    node->touched = true;
}

/* ---- sockets ---- */

/* would a new socket at this address get in the way of one that is there? */
static bool is_taken(sim_node *node, flr_address local, flr_socket_kind kind)
{
    for (const sim_socket *socket = node->sockets; socket; socket = socket->next) {
        flr_address other = socket->base.local;
        if (socket->base.kind != kind || socket->dead || other.port != local.port ||
            other.family != local.family)
            continue;
        if (is_wildcard(other) || is_wildcard(local) || flr_address_equal(other, local))
            return true;
    }
    return false;
}

static int choose_port(sim_node *node, flr_address *local, flr_socket_kind kind)
{
    if (local->port != 0) return is_taken(node, *local, kind) ? EADDRINUSE : 0;
    for (int tries = 0; tries < 16384; tries++) {
        local->port = node->next_port;
        node->next_port = node->next_port == 65535 ? 49152 : (uint16_t)(node->next_port + 1);
        if (!is_taken(node, *local, kind)) return 0;
    }
    return EADDRINUSE;
}

/* a socket bound to `local`, with a port chosen where that is 0 */
static int make_socket(sim_node *node, flr_address local, flr_socket_kind kind, flr_socket **socket)
{
    if (!node->up) return ENETDOWN;
    if (local.family != 4 && local.family != 6) return EAFNOSUPPORT;
    bool here = is_wildcard(local) || flr_address_is_loopback(local) ||
                flr_address_equal(without_port(local), node->address);
    if (!here) return EADDRNOTAVAIL;
    int code = choose_port(node, &local, kind);
    if (code) return code;
    sim_socket *made = calloc(1, sizeof *made);
    if (!made) return ENOMEM;
    made->base.env = &node->base;
    made->base.kind = kind;
    made->base.local = local;
    made->next = node->sockets;
    node->sockets = made;
    *socket = &made->base;
    return 0;
}

static void drop_queue(sim_socket *socket)
{
    while (socket->first) {
        sim_datagram *next = socket->first->next;
        free(socket->first);
        socket->first = next;
    }
    socket->last = NULL;
    socket->held = 0;
}

void flr_sim_socket_close(flr_socket *base)
{
    sim_socket *socket = (sim_socket *)base;
    sim_node *node = (sim_node *)base->env;
    flr_sim_settle(node->sim);
    drop_queue(socket);
    sim_socket **link = &node->sockets;
    while (*link != socket) link = &(*link)->next;
    *link = socket->next;
    free(socket);
}

void flr_sim_net_crash(sim_node *node)
{
    for (sim_socket *socket = node->sockets; socket; socket = socket->next) {
        if (socket->dead) continue;
        socket->dead = true;
        drop_queue(socket);
    }
}

int flr_sim_tcp_listen(flr_env *env, flr_address local, flr_socket **socket)
{
    return make_socket((sim_node *)env, local, FLR_SOCKET_LISTENER, socket);
}

/* ---- udp ---- */

int flr_sim_udp_open(flr_env *env, flr_address local, flr_socket **socket)
{
    return make_socket((sim_node *)env, local, FLR_SOCKET_UDP, socket);
}

/* sends one copy on its way */
static int launch(sim_node *node, sim_node *to, flr_address source, flr_address target,
                  const void *bytes, size_t count)
{
    flr_sim *sim = node->sim;
    sim_datagram *datagram = malloc(sizeof *datagram + count);
    if (!datagram) return ENOMEM;
    *datagram = (sim_datagram){.from = node, .source = source, .target = target, .size = count};
    if (count > 0) memcpy(datagram->bytes, bytes, count);
    datagram->order = sim->order++;
    datagram->number = to ? node->links[to->index].sent : 0;
    datagram->arrival_ns = travel(node, to, count);
    const flr_sim_network *network = network_between(node, to);
    if (node != to && flr_sim_random_chance(&sim->network_random, network->reorder))
        datagram->arrival_ns += network->reorder_ns;
    int code = heap_push(sim, datagram);
    if (code) free(datagram);
    return code;
}

int flr_sim_udp_send(flr_socket *base, flr_address target, const void *bytes, size_t count)
{
    sim_node *node = (sim_node *)base->env;
    flr_sim *sim = node->sim;
    if (((sim_socket *)base)->dead) return ENETDOWN;
    if (target.family != base->local.family) return EAFNOSUPPORT;
    flr_sim_settle(sim);
    sim->stats.sent++;

    // the receiver sees where it came from, not that we listen everywhere
    flr_address source = base->local;
    if (is_wildcard(source)) {
        source = flr_address_is_loopback(target) ? without_port(target) : node->address;
        source.port = base->local.port;
    }
    sim_node *to = find_node(node, target);
    if (to) node->links[to->index].sent++;
    if (!reachable(node, to)) {
        sim->stats.cut++;
        return 0;
    }
    const flr_sim_network *network = network_between(node, to);
    if (node != to && flr_sim_random_chance(&sim->network_random, network->loss)) {
        sim->stats.lost++;
        return 0;
    }
    if (node != to && flr_sim_random_chance(&sim->network_random, network->duplicate)) {
        sim->stats.duplicated++;
        int code = launch(node, to, source, target, bytes, count);
        if (code) return code;
    }
    return launch(node, to, source, target, bytes, count);
}

int flr_sim_udp_receive(flr_socket *base, flr_address *from, void *bytes, size_t capacity,
                        size_t *got)
{
    sim_socket *socket = (sim_socket *)base;
    sim_node *node = (sim_node *)base->env;
    flr_sim *sim = node->sim;
    if (socket->dead) return ENETDOWN;
    if (node->interrupt_ns > 0) flr_sim_move_to(sim, sim->now_ns + node->interrupt_ns);
    node->interrupt_ns = 0;
    flr_sim_settle(sim);
    while (socket->first) {
        sim_datagram *datagram = socket->first;
        socket->first = datagram->next;
        if (!socket->first) socket->last = NULL;
        socket->held -= datagram->size + 64;
        bool fits = datagram->size <= capacity;
        if (fits) {
            if (datagram->size > 0) memcpy(bytes, datagram->bytes, datagram->size);
            *from = datagram->source;
            *got = datagram->size;
        } else {
            base->dropped++;
            sim->stats.overflowed++;
        }
        free(datagram);
        if (fits) return 0;
    }
    return EAGAIN;
}

/* ---- waiting ---- */

static unsigned ready_for(sim_socket *socket)
{
    if (socket->dead) return FLR_WAIT_READ | FLR_WAIT_WRITE;
    if (socket->base.kind == FLR_SOCKET_LISTENER) return 0; // nothing here connects to one
    return FLR_WAIT_WRITE | (socket->first ? FLR_WAIT_READ : 0u);
}

int flr_sim_wait(flr_env *env, flr_wait *waits, size_t count, int64_t deadline_ns)
{
    sim_node *node = (sim_node *)env;
    flr_sim *sim = node->sim;
    // the deadline by the simulation's clock, which is never ahead of the node's
    int64_t deadline = deadline_ns == INT64_MAX ? INT64_MAX : deadline_ns - node->ahead_ns;
    for (;;) {
        flr_sim_settle(sim);
        bool any = false;
        for (size_t i = 0; i < count; i++) {
            waits[i].ready = waits[i].wanted & ready_for((sim_socket *)waits[i].socket);
            any = any || waits[i].ready;
        }
        if (any) return 0;
        if (sim->now_ns >= deadline) return ETIMEDOUT;
        int64_t next = flr_sim_net_next(sim);
        if (next > deadline) next = deadline;
        // nothing will ever happen again: waiting without end would be a hang
        if (next == INT64_MAX) return EDEADLK;
        flr_sim_move_to(sim, next);
    }
}
