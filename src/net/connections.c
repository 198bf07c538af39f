/* the interface: connections as a table, events, service */
#include "net/connections.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "feeler/base.h"
#include "net/net_internal.h"

enum { BUDGET = 512, QUICK_LOOKS = 16, BYES = 3 };

flr_connections_def flr_default_connections_def(void)
{
    return (flr_connections_def){.most = 64,
                                 .keepalive = 0.25,
                                 .silence = 2.5,
                                 .patience = 10,
                                 .queue = 1u << 20,
                                 .handshakes = 64};
}

/* ---- one place of the table ---- */

flr_connection *flr_connection_make(flr_connections *connections, flr_connection_stage stage,
                                    flr_address address)
{
    for (uint32_t i = 0; i < connections->count; i++) {
        flr_connection *connection = &connections->table[i];
        if (connection->stage != FLR_CONNECTION_FREE) continue;
        memset(connection, 0, sizeof *connection);
        connection->stage = stage;
        // the place, and chance: packets for who had the place before are not taken for this one
        uint32_t chance;
        do flr_random_bytes(connections->env, &chance, sizeof chance);
        while (chance >> 8 == 0);
        connection->id = connection->number = (chance & ~0xffu) | i;
        connection->address = address;
        connection->due_ns = connection->ack_ns = INT64_MAX;
        return connection;
    }
    return NULL;
}

void flr_connection_free(flr_connection *connection)
{
    flr_reliable_destroy(connection->reliable);
    flr_seal_wipe(connection, sizeof *connection);
}

uint32_t flr_connections_used(const flr_connections *connections)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < connections->count; i++) {
        flr_connection_stage stage = connections->table[i].stage;
        used += stage != FLR_CONNECTION_FREE && stage != FLR_CONNECTION_HALF;
    }
    return used;
}

void flr_connection_wake(flr_connections *connections, flr_connection *connection, int64_t time)
{
    if (time < connection->due_ns) connection->due_ns = time;
    if (time < connections->due_ns) connections->due_ns = time;
}

void flr_connection_end(flr_connections *connections, flr_connection *connection,
                        flr_connections_kind kind, flr_connections_cause cause, const char *format,
                        ...)
{
    va_list arguments;
    va_start(arguments, format);
    flr_text_print(connection->why, sizeof connection->why, format, arguments);
    va_end(arguments);
    connection->stage = FLR_CONNECTION_ENDED;
    connection->end_kind = kind;
    connection->end_cause = cause;
    connection->due_ns = INT64_MAX;
    connections->attention = true;
}

bool flr_connection_open(flr_connections *connections, flr_connection *connection, int64_t now)
{
    flr_seal_wipe(&connection->pair, sizeof connection->pair);
    flr_link_timing_begin(&connection->pulse, now);
    connection->opened_ns = connection->heard_ns = connection->pace_ns = now;
    connection->said_ns = now - 1;
    connection->pace = 16 * FLR_PACKET_MAX_SIZE;
    connection->reliable = flr_reliable_create(connections->def.queue);
    if (!connection->reliable) {
        flr_packet_send(connections, connection, FLR_FRAME_BYE, "no memory", 9, now);
        if (connection->initiator)
            flr_connection_end(connections, connection, FLR_CONNECTIONS_REFUSED,
                               FLR_CONNECTIONS_BROKEN,
                               "no memory for a connection: close other programs");
        else
            flr_connection_free(connection);
        return false;
    }
    connection->stage = FLR_CONNECTION_OPEN;
    connection->tell_open = true;
    connections->attention = true;
    flr_connection_wake(connections, connection, now);
    return true;
}

/* open or in the handshake, by the owner's number */
static flr_connection *find(const flr_connections *connections, uint32_t number)
{
    if (number == 0) return NULL;
    // mostly it is where the number says; not where the other's handshake took the place of ours
    uint32_t place = number & 0xff;
    for (uint32_t i = 0; i <= connections->count; i++) {
        uint32_t at = i == 0 ? place : i - 1;
        if (at >= connections->count) continue;
        flr_connection *connection = &connections->table[at];
        if (connection->number == number && connection->stage != FLR_CONNECTION_HALF &&
            connection->stage != FLR_CONNECTION_FREE && connection->stage != FLR_CONNECTION_ENDED)
            return connection;
    }
    return NULL;
}

static flr_connection *find_open(const flr_connections *connections, uint32_t number)
{
    flr_connection *connection = find(connections, number);
    return connection && connection->stage == FLR_CONNECTION_OPEN ? connection : NULL;
}

/* ---- all of them ---- */

static flr_result check_def(const flr_connections_def *def, flr_error *error)
{
    size_t size = strlen(def->token);
    if (size < FLR_CONNECTIONS_MIN_TOKEN || size > FLR_CONNECTIONS_MAX_TOKEN)
        return flr_fail(error, FLR_BAD_ARGUMENT, "a token has %d to %d characters",
                        FLR_CONNECTIONS_MIN_TOKEN, FLR_CONNECTIONS_MAX_TOKEN);
    for (size_t i = 0; i < size; i++) {
        if (def->token[i] <= ' ' || def->token[i] > '~')
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "a token is made of letters, digits and signs without blanks");
    }
    bool times = def->keepalive >= 0.01 && def->keepalive <= 60 && def->silence >= 0.05 &&
                 def->silence <= 3600 && def->patience >= 0.05 && def->patience <= 3600;
    if (!times || !(def->bandwidth >= 0) || def->most < 1 || def->most > FLR_MAX_CONNECTIONS ||
        def->queue < 2 * (size_t)FLR_CONNECTIONS_MESSAGE || def->queue > 1u << 30 ||
        def->handshakes < 1)
        return flr_fail(
            error, FLR_BAD_ARGUMENT,
            "connections to other controllers: a time, a count or a size is out of range");
    return FLR_OK;
}

flr_result flr_connections_create(const flr_connections_def *def, flr_connections **connections,
                                  flr_error *error)
{
    FLR_ASSERT(def && def->env && def->token && connections);
    flr_result result = check_def(def, error);
    if (result == FLR_OK) result = flr_seal_begin(error);
    if (result != FLR_OK) return result;
    flr_connections *made = calloc(1, sizeof *made);
    if (made) made->table = calloc(2 * (size_t)def->most, sizeof *made->table);
    if (!made || !made->table) {
        free(made);
        return flr_fail(error, FLR_NO_MEMORY, "no memory for connections to other controllers");
    }
    result = flr_udp_open(def->env, def->local, &made->socket, error);
    if (result != FLR_OK) {
        free(made->table);
        free(made);
        return result;
    }
    made->env = def->env;
    made->def = *def;
    made->def.token = NULL;
    made->keepalive_ns = (int64_t)(def->keepalive * 1e9);
    made->silence_ns = (int64_t)(def->silence * 1e9);
    made->patience_ns = (int64_t)(def->patience * 1e9);
    made->count = 2 * def->most;
    flr_seal_make_token(def->token, &made->token);
    flr_random_bytes(made->env, made->secret, sizeof made->secret);
    do flr_random_bytes(made->env, &made->self, sizeof made->self);
    while (made->self == 0);
    made->due_ns = INT64_MAX;
    made->budget = BUDGET;
    made->counted_ns = flr_clock_ns(made->env);
    made->close_looks = def->handshakes;
    made->quick_looks = QUICK_LOOKS * (double)def->handshakes;
    made->band = def->bandwidth;
    *connections = made;
    return FLR_OK;
}

void flr_connections_destroy(flr_connections *connections)
{
    if (!connections) return;
    int64_t now = flr_clock_ns(connections->env);
    for (uint32_t i = 0; i < connections->count; i++) {
        flr_connection *connection = &connections->table[i];
        // nobody is there to say it again where it gets lost
        for (int k = 0; k < BYES && connection->stage == FLR_CONNECTION_OPEN; k++)
            flr_packet_send(connections, connection, FLR_FRAME_BYE, "it has ended", 12, now);
        flr_connection_free(connection);
    }
    flr_socket_close(connections->socket);
    flr_seal_wipe(&connections->token, sizeof connections->token);
    flr_seal_wipe(connections->secret, sizeof connections->secret);
    free(connections->table);
    free(connections);
}

flr_address flr_connections_address(const flr_connections *connections)
{
    return flr_socket_local(connections->socket);
}

flr_socket *flr_connections_socket(const flr_connections *connections)
{
    return connections->socket;
}

uint64_t flr_connections_self(const flr_connections *connections) { return connections->self; }

void flr_connections_set_hello(flr_connections *connections, const void *hello, size_t size)
{
    FLR_ASSERT(size <= FLR_CONNECTIONS_HELLO && (hello || size == 0));
    if (size > 0) memcpy(connections->hello, hello, size);
    connections->hello_size = size;
}

uint32_t flr_connections_connect(flr_connections *connections, flr_address address,
                                 const void *hello, size_t size)
{
    FLR_ASSERT(size <= FLR_CONNECTIONS_HELLO && (hello || size == 0));
    if (flr_connections_used(connections) >= connections->def.most) return 0;
    flr_connection *connection = flr_connection_make(connections, FLR_CONNECTION_ASKING, address);
    if (!connection) return 0;
    flr_handshake_begin(connections, connection, hello, size, flr_clock_ns(connections->env));
    return connection->number;
}

/* ---- events ---- */

static flr_connections_event make_event(const flr_connection *connection, flr_connections_kind kind)
{
    static const uint8_t nothing[1];
    return (flr_connections_event){.kind = kind,
                                   .connection = connection->number,
                                   .bytes = nothing,
                                   .address = connection->address,
                                   .other = connection->other,
                                   .initiator = connection->initiator,
                                   .why = ""};
}

/* a message that is whole */
static bool next_message(flr_connections *connections, flr_connection *connection,
                         flr_connections_event *event)
{
    const uint8_t *bytes;
    size_t size;
    flr_reliable_answer answer =
        flr_reliable_next(connection->reliable, connections->scratch, &bytes, &size);
    if (answer == FLR_RELIABLE_WHOLE) {
        *event = make_event(connection, FLR_CONNECTIONS_GOT_MESSAGE);
        event->bytes = bytes, event->size = size;
        return true;
    }
    if (answer == FLR_RELIABLE_WRONG && connection->stage == FLR_CONNECTION_OPEN) {
        connections->rejected.broken++;
        flr_packet_send(connections, connection, FLR_FRAME_BYE, "a message is too large", 22,
                        flr_clock_ns(connections->env));
        flr_connection_end(connections, connection, FLR_CONNECTIONS_CLOSED, FLR_CONNECTIONS_BROKEN,
                           "the other side sends a message that is too large");
    }
    return false;
}

/* the end of a connection or a handshake, after which its place is free */
static void tell_end(flr_connections *connections, flr_connection *connection,
                     flr_connections_event *event)
{
    *event = make_event(connection, connection->end_kind);
    event->cause = connection->end_cause;
    memcpy(connections->why, connection->why, sizeof connections->why);
    event->why = connections->why;
    flr_connection_free(connection);
}

static void tell_state(flr_connections *connections, flr_connections_event *event)
{
    flr_connection *connection = connections->state_connection;
    connections->state_connection = NULL;
    *event = make_event(connection, FLR_CONNECTIONS_GOT_STATE);
    event->bytes = connections->state, event->size = connections->state_size;
    event->number = connections->state_number;
    event->late = event->number < connection->state_number;
    if (!event->late) connection->state_number = event->number;
    int64_t now = flr_clock_ns(connections->env);
    event->sent_ns = now;
    if (connection->pulse.bound_ns != INT64_MAX) {
        // without sign: what the other says may be anything
        int64_t sent =
            (int64_t)((uint64_t)connections->state_sent_ns - (uint64_t)connection->pulse.offset_ns);
        if (sent < now) event->sent_ns = sent;
    }
}

/* what a connection has to tell: that it is open before anything that came on it, its end after all of it */
static bool next_of(flr_connections *connections, flr_connection *connection,
                    flr_connections_event *event)
{
    if (connection->tell_open) {
        connection->tell_open = false;
        *event = make_event(connection, FLR_CONNECTIONS_OPEN);
        event->bytes = connection->hello, event->size = connection->hello_size;
        return true;
    }
    if (connections->state_connection == connection) return false;
    if (connection->reliable && next_message(connections, connection, event)) return true;
    if (connection->stage != FLR_CONNECTION_ENDED) return false;
    tell_end(connections, connection, event);
    return true;
}

/* connections that ended come first: where one took the place of another, the owner never has two */
static bool next_pending(flr_connections *connections, flr_connections_event *event)
{
    for (int ended = 1; ended >= 0; ended--) {
        for (uint32_t i = 0; i < connections->count; i++) {
            flr_connection *connection = &connections->table[i];
            if (ended == (connection->stage == FLR_CONNECTION_ENDED) &&
                next_of(connections, connection, event))
                return true;
        }
    }
    return false;
}

bool flr_connections_next(flr_connections *connections, flr_connections_event *event)
{
    flr_connections_count(connections, flr_clock_ns(connections->env));
    for (;;) {
        if (connections->attention) {
            if (next_pending(connections, event)) return true;
            connections->attention = connections->state_connection != NULL;
        }
        if (connections->state_connection) {
            tell_state(connections, event);
            connections->attention = true;
            return true;
        }
        flr_address from;
        size_t size;
        if (connections->budget == 0) return false;
        if (flr_udp_receive(connections->socket, &from, connections->packet,
                            sizeof connections->packet, &size, NULL) != FLR_OK)
            return false;
        // after it was received: an earlier time would make the round trip shorter than the way itself where this thread is
        // interrupted in between
        int64_t now = flr_clock_ns(connections->env);
        connections->budget--;
        if (size < FLR_PACKET_HEAD || connections->packet[2] || connections->packet[3] ||
            (connections->packet[1] != FLR_PACKET_VERSION &&
             !flr_handshake_is_timeless(connections->packet[0])))
            connections->rejected.malformed++;
        else if (connections->packet[0] == FLR_PACKET_SEALED)
            flr_packet_came(connections, from, size, now);
        else
            flr_handshake_packet(connections, from, size, now);
    }
}

/* ---- sending ---- */

flr_result flr_connections_state(flr_connections *connections, uint32_t number, const void *bytes,
                                 size_t size)
{
    FLR_ASSERT(size <= FLR_CONNECTIONS_STATE && (bytes || size == 0));
    flr_connection *connection = find_open(connections, number);
    if (!connection) return FLR_CLOSED;
    flr_packet_send(connections, connection, FLR_FRAME_STATE, bytes, size,
                    flr_clock_ns(connections->env));
    return FLR_OK;
}

flr_result flr_connections_send(flr_connections *connections, uint32_t number, const void *bytes,
                                size_t size)
{
    FLR_ASSERT(size <= FLR_CONNECTIONS_MESSAGE && (bytes || size == 0));
    flr_connection *connection = find_open(connections, number);
    if (!connection) return FLR_CLOSED;
    flr_result result = flr_reliable_put(connection->reliable, bytes, size);
    if (result == FLR_OK)
        flr_connection_wake(connections, connection, flr_clock_ns(connections->env));
    return result;
}

void flr_connections_close(flr_connections *connections, uint32_t number, const char *why)
{
    flr_connection *connection = find(connections, number);
    if (!connection) return;
    if (connection->stage == FLR_CONNECTION_OPEN) {
        size_t size = why ? strlen(why) : 0;
        if (size > FLR_CONNECTIONS_WHY) size = FLR_CONNECTIONS_WHY;
        int64_t now = flr_clock_ns(connections->env);
        for (int i = 0; i < BYES; i++)
            flr_packet_send(connections, connection, FLR_FRAME_BYE, why ? why : "", size, now);
    }
    if (connections->state_connection == connection) connections->state_connection = NULL;
    flr_connection_free(connection);
}

/* ---- service ---- */

static double fill(double level, double rate, double most, double seconds)
{
    level += rate * seconds;
    return level < most ? level : most;
}

void flr_connections_count(flr_connections *connections, int64_t now)
{
    double seconds = (double)(now - connections->counted_ns) * 1e-9,
           looks = connections->def.handshakes;
    connections->counted_ns = now;
    connections->close_looks = fill(connections->close_looks, looks, looks, seconds);
    connections->quick_looks =
        fill(connections->quick_looks, QUICK_LOOKS * looks, QUICK_LOOKS * looks, seconds);
    if (connections->def.bandwidth > 0) {
        // what was missed is made up for a twentieth of a second, and two packets always
        double most = connections->def.bandwidth / 20 + 2 * FLR_PACKET_MAX_SIZE;
        connections->band = fill(connections->band, connections->def.bandwidth, most, seconds);
    }
}

int64_t flr_connections_service(flr_connections *connections)
{
    int64_t now = flr_clock_ns(connections->env);
    bool more = connections->budget == 0;
    connections->budget = BUDGET;
    flr_connections_count(connections, now);
    if (now >= connections->due_ns) {
        connections->due_ns = INT64_MAX;
        for (uint32_t i = 0; i < connections->count; i++) {
            flr_connection *connection = &connections->table[i];
            if (now >= connection->due_ns) {
                int64_t next = INT64_MAX;
                connection->due_ns = INT64_MAX;
                if (connection->stage == FLR_CONNECTION_ASKING ||
                    connection->stage == FLR_CONNECTION_WAITING)
                    next = flr_handshake_service(connections, connection, now);
                else if (connection->stage == FLR_CONNECTION_OPEN)
                    next = flr_packet_service(connections, connection, now);
                else if (connection->stage == FLR_CONNECTION_HALF)
                    flr_connection_free(connection); // never confirmed
                if (connection->stage != FLR_CONNECTION_FREE &&
                    connection->stage != FLR_CONNECTION_ENDED)
                    connection->due_ns = next;
            }
            if (connection->stage != FLR_CONNECTION_FREE &&
                connection->due_ns < connections->due_ns)
                connections->due_ns = connection->due_ns;
        }
    }
    return more || connections->attention ? now : connections->due_ns;
}

/* ---- what is known ---- */

bool flr_connections_get(const flr_connections *connections, uint32_t number,
                         flr_connections_info *info)
{
    const flr_connection *connection = find(connections, number);
    if (!connection) return false;
    const flr_link_timing *pulse = &connection->pulse;
    bool open = connection->stage == FLR_CONNECTION_OPEN;
    *info = (flr_connections_info){
        .address = connection->address,
        .other = connection->other,
        .open = open,
        .initiator = connection->initiator,
        .rtt = pulse->rtt,
        .rtt_least = flr_link_timing_least(pulse),
        .jitter = pulse->jitter,
        .loss_in = pulse->loss_in,
        .loss_out = pulse->loss_out,
        .offset_ns = pulse->offset_ns,
        .offset_wrong_ns =
            open ? flr_link_timing_wrong(pulse, flr_clock_ns(connections->env)) : INT64_MAX,
        .bytes_in = pulse->in.bytes_rate,
        .bytes_out = pulse->out.bytes_rate,
        .packets_in = pulse->in.packets_rate,
        .packets_out = pulse->out.packets_rate,
        .bytes_in_all = pulse->in.bytes,
        .bytes_out_all = pulse->out.bytes,
        .packets_in_all = pulse->in.packets,
        .packets_out_all = pulse->out.packets,
        .resent = open ? connection->reliable->out.resent : 0,
        .queued =
            open ? (size_t)(connection->reliable->out.queued - connection->reliable->out.came) : 0,
        .heard_ns = connection->heard_ns,
        .opened_ns = connection->opened_ns,
        .forged = connection->forged,
        .replayed = connection->replayed,
        .old = connection->old,
        .moved = connection->moved,
    };
    return true;
}

flr_connections_rejected flr_connections_get_rejected(const flr_connections *connections)
{
    flr_connections_rejected rejected = connections->rejected;
    rejected.malformed += flr_udp_dropped(connections->socket); // larger than any of ours
    return rejected;
}
