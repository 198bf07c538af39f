/* the interface: lines as a table, events, service */
#include "net/connections.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "feeler/assert.h"
#include "net/bytes.h"
#include "net/net_internal.h"

enum { BUDGET = 512, QUICK_LOOKS = 16, BYES = 3 };

flr_connections_def flr_default_connections_def(void)
{
    return (flr_connections_def){.most = 32,
                                 .keepalive = 0.25,
                                 .silence = 2.5,
                                 .patience = 10,
                                 .queue = 1u << 20,
                                 .handshakes = 64};
}

/* ---- one place of the table ---- */

flr_connection *flr_connection_make(flr_connections *lines, flr_connection_stage stage,
                                    flr_address address)
{
    for (uint32_t i = 0; i < lines->count; i++) {
        flr_connection *line = &lines->table[i];
        if (line->stage != FLR_CONNECTION_FREE) continue;
        memset(line, 0, sizeof *line);
        line->stage = stage;
        // the place, and chance: packets for who had the place before are not taken for this one
        uint32_t chance;
        do flr_random_bytes(lines->env, &chance, sizeof chance);
        while (chance >> 8 == 0);
        line->id = line->number = (chance & ~0xffu) | i;
        line->address = address;
        line->due_ns = line->ack_ns = INT64_MAX;
        return line;
    }
    return NULL;
}

void flr_connection_free(flr_connection *line)
{
    flr_reliable_destroy(line->reliable);
    flr_seal_wipe(line, sizeof *line);
}

uint32_t flr_connections_used(const flr_connections *lines)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < lines->count; i++) {
        flr_connection_stage stage = lines->table[i].stage;
        used += stage != FLR_CONNECTION_FREE && stage != FLR_CONNECTION_HALF;
    }
    return used;
}

void flr_connection_wake(flr_connections *lines, flr_connection *line, int64_t time)
{
    if (time < line->due_ns) line->due_ns = time;
    if (time < lines->due_ns) lines->due_ns = time;
}

void flr_connection_end(flr_connections *lines, flr_connection *line, flr_connections_kind kind,
                        flr_connections_cause cause, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    flr_text_print(line->why, sizeof line->why, format, arguments);
    va_end(arguments);
    line->stage = FLR_CONNECTION_ENDED;
    line->end_kind = kind;
    line->end_cause = cause;
    line->due_ns = INT64_MAX;
    lines->attention = true;
}

bool flr_connection_open(flr_connections *lines, flr_connection *line, int64_t now)
{
    flr_seal_wipe(&line->pair, sizeof line->pair);
    flr_link_timing_begin(&line->pulse, now);
    line->opened_ns = line->heard_ns = line->pace_ns = now;
    line->said_ns = now - 1;
    line->pace = 16 * FLR_PACKET_MOST;
    line->reliable = flr_reliable_create(lines->def.queue);
    if (!line->reliable) {
        flr_packet_send(lines, line, FLR_FRAME_BYE, "no memory", 9, now);
        if (line->caller)
            flr_connection_end(lines, line, FLR_CONNECTIONS_REFUSED, FLR_CONNECTIONS_BROKEN,
                               "no memory for a line: close other programs");
        else
            flr_connection_free(line);
        return false;
    }
    line->stage = FLR_CONNECTION_OPEN;
    line->tell_open = true;
    lines->attention = true;
    flr_connection_wake(lines, line, now);
    return true;
}

/* open or being called, by the owner's number */
static flr_connection *find(const flr_connections *lines, uint32_t number)
{
    if (number == 0) return NULL;
    // mostly it is where the number says; not where the other's call took the place of ours
    uint32_t place = number & 0xff;
    for (uint32_t i = 0; i <= lines->count; i++) {
        uint32_t at = i == 0 ? place : i - 1;
        if (at >= lines->count) continue;
        flr_connection *line = &lines->table[at];
        if (line->number == number && line->stage != FLR_CONNECTION_HALF &&
            line->stage != FLR_CONNECTION_FREE && line->stage != FLR_CONNECTION_ENDED)
            return line;
    }
    return NULL;
}

static flr_connection *find_open(const flr_connections *lines, uint32_t number)
{
    flr_connection *line = find(lines, number);
    return line && line->stage == FLR_CONNECTION_OPEN ? line : NULL;
}

/* ---- all of them ---- */

static flr_result check_def(const flr_connections_def *def, flr_error *error)
{
    size_t size = strlen(def->token);
    if (size < FLR_CONNECTIONS_TOKEN_LEAST || size > FLR_CONNECTIONS_TOKEN_MOST)
        return flr_fail(error, FLR_BAD_ARGUMENT, "a token has %d to %d characters",
                        FLR_CONNECTIONS_TOKEN_LEAST, FLR_CONNECTIONS_TOKEN_MOST);
    for (size_t i = 0; i < size; i++) {
        if (def->token[i] <= ' ' || def->token[i] > '~')
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "a token is made of letters, digits and signs without blanks");
    }
    bool times = def->keepalive >= 0.01 && def->keepalive <= 60 && def->silence >= 0.05 &&
                 def->silence <= 3600 && def->patience >= 0.05 && def->patience <= 3600;
    if (!times || !(def->bandwidth >= 0) || def->most < 1 || def->most > FLR_CONNECTIONS_MOST ||
        def->queue < 2 * (size_t)FLR_CONNECTIONS_MESSAGE || def->queue > 1u << 30 ||
        def->handshakes < 1)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "lines to other controllers: a time, a count or a size is out of range");
    return FLR_OK;
}

flr_result flr_connections_create(const flr_connections_def *def, flr_connections **lines,
                                  flr_error *error)
{
    FLR_ASSERT(def && def->env && def->token && lines);
    flr_result result = check_def(def, error);
    if (result == FLR_OK) result = flr_seal_begin(error);
    if (result != FLR_OK) return result;
    flr_connections *made = calloc(1, sizeof *made);
    if (made) made->table = calloc(2 * (size_t)def->most, sizeof *made->table);
    if (!made || !made->table) {
        free(made);
        return flr_fail(error, FLR_NO_MEMORY, "no memory for lines to other controllers");
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
    *lines = made;
    return FLR_OK;
}

void flr_connections_destroy(flr_connections *lines)
{
    if (!lines) return;
    int64_t now = flr_clock_ns(lines->env);
    for (uint32_t i = 0; i < lines->count; i++) {
        flr_connection *line = &lines->table[i];
        // nobody is there to say it again where it gets lost
        for (int k = 0; k < BYES && line->stage == FLR_CONNECTION_OPEN; k++)
            flr_packet_send(lines, line, FLR_FRAME_BYE, "it has ended", 12, now);
        flr_connection_free(line);
    }
    flr_socket_close(lines->socket);
    flr_seal_wipe(&lines->token, sizeof lines->token);
    flr_seal_wipe(lines->secret, sizeof lines->secret);
    free(lines->table);
    free(lines);
}

flr_address flr_connections_address(const flr_connections *lines)
{
    return flr_socket_local(lines->socket);
}

flr_socket *flr_connections_socket(const flr_connections *lines) { return lines->socket; }

uint64_t flr_connections_self(const flr_connections *lines) { return lines->self; }

void flr_connections_set_hello(flr_connections *lines, const void *hello, size_t size)
{
    FLR_ASSERT(size <= FLR_CONNECTIONS_HELLO && (hello || size == 0));
    if (size > 0) memcpy(lines->hello, hello, size);
    lines->hello_size = size;
}

uint32_t flr_connections_connect(flr_connections *lines, flr_address address, const void *hello,
                                 size_t size)
{
    FLR_ASSERT(size <= FLR_CONNECTIONS_HELLO && (hello || size == 0));
    if (flr_connections_used(lines) >= lines->def.most) return 0;
    flr_connection *line = flr_connection_make(lines, FLR_CONNECTION_CALLING, address);
    if (!line) return 0;
    flr_call_begin(lines, line, hello, size, flr_clock_ns(lines->env));
    return line->number;
}

/* ---- events ---- */

static flr_connections_event make_event(const flr_connection *line, flr_connections_kind kind)
{
    static const uint8_t nothing[1];
    return (flr_connections_event){.kind = kind,
                                   .line = line->number,
                                   .bytes = nothing,
                                   .address = line->address,
                                   .other = line->other,
                                   .caller = line->caller,
                                   .why = ""};
}

/* a message that is whole */
static bool next_message(flr_connections *lines, flr_connection *line, flr_connections_event *event)
{
    const uint8_t *bytes;
    size_t size;
    flr_reliable_answer answer = flr_reliable_next(line->reliable, lines->scratch, &bytes, &size);
    if (answer == FLR_RELIABLE_WHOLE) {
        *event = make_event(line, FLR_CONNECTIONS_GOT_MESSAGE);
        event->bytes = bytes, event->size = size;
        return true;
    }
    if (answer == FLR_RELIABLE_WRONG && line->stage == FLR_CONNECTION_OPEN) {
        lines->rejected.broken++;
        flr_packet_send(lines, line, FLR_FRAME_BYE, "a message is too large", 22,
                        flr_clock_ns(lines->env));
        flr_connection_end(lines, line, FLR_CONNECTIONS_CLOSED, FLR_CONNECTIONS_BROKEN,
                           "the other side sends a message that is too large");
    }
    return false;
}

/* the end of a line or a call, after which its place is free */
static void tell_end(flr_connections *lines, flr_connection *line, flr_connections_event *event)
{
    *event = make_event(line, line->end_kind);
    event->cause = line->end_cause;
    memcpy(lines->why, line->why, sizeof lines->why);
    event->why = lines->why;
    flr_connection_free(line);
}

static void tell_state(flr_connections *lines, flr_connections_event *event)
{
    flr_connection *line = lines->state_line;
    lines->state_line = NULL;
    *event = make_event(line, FLR_CONNECTIONS_GOT_STATE);
    event->bytes = lines->state, event->size = lines->state_size;
    event->number = lines->state_number;
    event->late = event->number < line->state_number;
    if (!event->late) line->state_number = event->number;
    int64_t now = flr_clock_ns(lines->env);
    event->sent_ns = now;
    if (line->pulse.bound_ns != INT64_MAX) {
        // without sign: what the other says may be anything
        int64_t sent = (int64_t)((uint64_t)lines->state_sent_ns - (uint64_t)line->pulse.offset_ns);
        if (sent < now) event->sent_ns = sent;
    }
}

/* what a line has to tell: that it is open before anything that came on it, its end after all of it */
static bool next_of(flr_connections *lines, flr_connection *line, flr_connections_event *event)
{
    if (line->tell_open) {
        line->tell_open = false;
        *event = make_event(line, FLR_CONNECTIONS_OPEN);
        event->bytes = line->hello, event->size = line->hello_size;
        return true;
    }
    if (lines->state_line == line) return false;
    if (line->reliable && next_message(lines, line, event)) return true;
    if (line->stage != FLR_CONNECTION_ENDED) return false;
    tell_end(lines, line, event);
    return true;
}

/* lines that ended come first: where one took the place of another, the owner never has two */
static bool next_pending(flr_connections *lines, flr_connections_event *event)
{
    for (int ended = 1; ended >= 0; ended--) {
        for (uint32_t i = 0; i < lines->count; i++) {
            flr_connection *line = &lines->table[i];
            if (ended == (line->stage == FLR_CONNECTION_ENDED) && next_of(lines, line, event))
                return true;
        }
    }
    return false;
}

bool flr_connections_next(flr_connections *lines, flr_connections_event *event)
{
    int64_t now = flr_clock_ns(lines->env);
    flr_connections_count(lines, now);
    for (;;) {
        if (lines->attention) {
            if (next_pending(lines, event)) return true;
            lines->attention = lines->state_line != NULL;
        }
        if (lines->state_line) {
            tell_state(lines, event);
            lines->attention = true;
            return true;
        }
        flr_address from;
        size_t size;
        if (lines->budget == 0) return false;
        if (flr_udp_receive(lines->socket, &from, lines->packet, sizeof lines->packet, &size,
                            NULL) != FLR_OK)
            return false;
        lines->budget--;
        if (size < FLR_PACKET_HEAD || lines->packet[2] || lines->packet[3] ||
            (lines->packet[1] != FLR_PACKET_VERSION && !flr_call_is_timeless(lines->packet[0])))
            lines->rejected.malformed++;
        else if (lines->packet[0] == FLR_PACKET_SEALED)
            flr_packet_came(lines, from, size, now);
        else
            flr_call_packet(lines, from, size, now);
    }
}

/* ---- sending ---- */

flr_result flr_connections_state(flr_connections *lines, uint32_t number, const void *bytes,
                                 size_t size)
{
    FLR_ASSERT(size <= FLR_CONNECTIONS_STATE && (bytes || size == 0));
    flr_connection *line = find_open(lines, number);
    if (!line) return FLR_CLOSED;
    flr_packet_send(lines, line, FLR_FRAME_STATE, bytes, size, flr_clock_ns(lines->env));
    return FLR_OK;
}

flr_result flr_connections_send(flr_connections *lines, uint32_t number, const void *bytes,
                                size_t size)
{
    FLR_ASSERT(size <= FLR_CONNECTIONS_MESSAGE && (bytes || size == 0));
    flr_connection *line = find_open(lines, number);
    if (!line) return FLR_CLOSED;
    flr_result result = flr_reliable_put(line->reliable, bytes, size);
    if (result == FLR_OK) flr_connection_wake(lines, line, flr_clock_ns(lines->env));
    return result;
}

size_t flr_connections_room(const flr_connections *lines, uint32_t number)
{
    const flr_connection *line = find_open(lines, number);
    return line ? flr_reliable_room(line->reliable) : 0;
}

bool flr_connections_is_drained(const flr_connections *lines, uint32_t number)
{
    const flr_connection *line = find_open(lines, number);
    return !line || line->reliable->out.came == line->reliable->out.queued;
}

void flr_connections_close(flr_connections *lines, uint32_t number, const char *why)
{
    flr_connection *line = find(lines, number);
    if (!line) return;
    if (line->stage == FLR_CONNECTION_OPEN) {
        size_t size = why ? strlen(why) : 0;
        if (size > FLR_CONNECTIONS_WHY) size = FLR_CONNECTIONS_WHY;
        int64_t now = flr_clock_ns(lines->env);
        for (int i = 0; i < BYES; i++)
            flr_packet_send(lines, line, FLR_FRAME_BYE, why ? why : "", size, now);
    }
    if (lines->state_line == line) lines->state_line = NULL;
    flr_connection_free(line);
}

/* ---- service ---- */

static double fill(double level, double rate, double most, double seconds)
{
    level += rate * seconds;
    return level < most ? level : most;
}

void flr_connections_count(flr_connections *lines, int64_t now)
{
    double seconds = (double)(now - lines->counted_ns) * 1e-9, looks = lines->def.handshakes;
    lines->counted_ns = now;
    lines->close_looks = fill(lines->close_looks, looks, looks, seconds);
    lines->quick_looks =
        fill(lines->quick_looks, QUICK_LOOKS * looks, QUICK_LOOKS * looks, seconds);
    if (lines->def.bandwidth > 0) {
        // what was missed is made up for a twentieth of a second, and two packets always
        double most = lines->def.bandwidth / 20 + 2 * FLR_PACKET_MOST;
        lines->band = fill(lines->band, lines->def.bandwidth, most, seconds);
    }
}

int64_t flr_connections_service(flr_connections *lines)
{
    int64_t now = flr_clock_ns(lines->env);
    bool more = lines->budget == 0;
    lines->budget = BUDGET;
    flr_connections_count(lines, now);
    if (now >= lines->due_ns) {
        lines->due_ns = INT64_MAX;
        for (uint32_t i = 0; i < lines->count; i++) {
            flr_connection *line = &lines->table[i];
            if (now >= line->due_ns) {
                int64_t next = INT64_MAX;
                line->due_ns = INT64_MAX;
                if (line->stage == FLR_CONNECTION_CALLING || line->stage == FLR_CONNECTION_WAITING)
                    next = flr_call_service(lines, line, now);
                else if (line->stage == FLR_CONNECTION_OPEN)
                    next = flr_packet_service(lines, line, now);
                else if (line->stage == FLR_CONNECTION_HALF)
                    flr_connection_free(line); // never confirmed
                if (line->stage != FLR_CONNECTION_FREE && line->stage != FLR_CONNECTION_ENDED)
                    line->due_ns = next;
            }
            if (line->stage != FLR_CONNECTION_FREE && line->due_ns < lines->due_ns)
                lines->due_ns = line->due_ns;
        }
    }
    return more || lines->attention ? now : lines->due_ns;
}

/* ---- what is known ---- */

bool flr_connections_get(const flr_connections *lines, uint32_t number, flr_connections_info *info)
{
    const flr_connection *line = find(lines, number);
    if (!line) return false;
    const flr_link_timing *pulse = &line->pulse;
    bool open = line->stage == FLR_CONNECTION_OPEN;
    *info = (flr_connections_info){
        .address = line->address,
        .other = line->other,
        .open = open,
        .caller = line->caller,
        .rtt = pulse->rtt,
        .rtt_least = flr_link_timing_least(pulse),
        .jitter = pulse->jitter,
        .loss_in = pulse->loss_in,
        .loss_out = pulse->loss_out,
        .offset_ns = pulse->offset_ns,
        .offset_wrong_ns =
            open ? flr_link_timing_wrong(pulse, flr_clock_ns(lines->env)) : INT64_MAX,
        .bytes_in = pulse->in.bytes_rate,
        .bytes_out = pulse->out.bytes_rate,
        .packets_in = pulse->in.packets_rate,
        .packets_out = pulse->out.packets_rate,
        .bytes_in_all = pulse->in.bytes,
        .bytes_out_all = pulse->out.bytes,
        .packets_in_all = pulse->in.packets,
        .packets_out_all = pulse->out.packets,
        .resent = open ? line->reliable->out.resent : 0,
        .queued = open ? (size_t)(line->reliable->out.queued - line->reliable->out.came) : 0,
        .heard_ns = line->heard_ns,
        .opened_ns = line->opened_ns,
        .forged = line->forged,
        .replayed = line->replayed,
        .old = line->old,
        .moved = line->moved,
    };
    return true;
}

static int64_t known_offset(const flr_connections *lines, uint32_t number)
{
    const flr_connection *line = find_open(lines, number);
    return line && line->pulse.bound_ns != INT64_MAX ? line->pulse.offset_ns : 0;
}

int64_t flr_connections_to_ours(const flr_connections *lines, uint32_t line, int64_t theirs_ns)
{
    return (int64_t)((uint64_t)theirs_ns - (uint64_t)known_offset(lines, line));
}

int64_t flr_connections_to_theirs(const flr_connections *lines, uint32_t line, int64_t ours_ns)
{
    return (int64_t)((uint64_t)ours_ns + (uint64_t)known_offset(lines, line));
}

flr_connections_rejected flr_connections_get_rejected(const flr_connections *lines)
{
    flr_connections_rejected rejected = lines->rejected;
    rejected.malformed += flr_udp_dropped(lines->socket); // larger than any of ours
    return rejected;
}
