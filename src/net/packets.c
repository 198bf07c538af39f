/* sealed packets: times, frames, where the other is, when to send what */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "net/bytes.h"
#include "net/net_internal.h"

static const int64_t ack_wait = 5000000;   /* an acknowledgement waits so long for company… */
enum { ACK_PARTS = 4, BURST = 256 };       /* … or for so many parts; parts sent in one service */
static const int64_t ask_wait = 200000000; /* between two questions for a new address */
static const int64_t confirm_wait = 100000000; /* while the other may not know that it is open */
static const int64_t pause_least = 200000;     /* between two services while messages wait */

void flr_packet_head(uint8_t *packet, flr_packet_kind kind, uint32_t line, uint64_t number)
{
    memset(packet, 0, FLR_PACKET_HEAD);
    packet[0] = (uint8_t)kind;
    packet[1] = FLR_PACKET_VERSION;
    flr_put_u32(packet + 4, line);
    flr_put_u64(packet + 8, number);
}

/* ---- out ---- */

static uint8_t *write_frame(uint8_t *to, flr_packet_part type, size_t size)
{
    to[0] = (uint8_t)type;
    flr_put_u16(to + 1, (uint16_t)size);
    return to + FLR_PACKET_FRAME;
}

enum { ACK_FIXED = 8 + 8 + 2 };

/* the acknowledgement, if all of it fits into `room`; returns its end */
static uint8_t *write_ack(flr_connection *line, uint8_t *to, size_t room)
{
    flr_reliable_ack ack;
    flr_reliable_tell(line->reliable, &ack);
    size_t size = ACK_FIXED + 8 * ack.count;
    if (FLR_PACKET_FRAME + size > room) return to;
    to = write_frame(to, FLR_FRAME_ACK, size);
    flr_put_u64(to, ack.came);
    flr_put_u64(to + 8, ack.limit);
    flr_put_u16(to + 16, (uint16_t)(line->pulse.loss_in * 65535));
    to += ACK_FIXED;
    for (uint32_t i = 0; i < ack.count; i++, to += 8) {
        flr_put_u32(to, (uint32_t)(ack.ranges[i].begin - ack.came));
        flr_put_u32(to + 4, (uint32_t)(ack.ranges[i].end - ack.came));
    }
    line->ack_parts = 0;
    line->ack_ns = INT64_MAX;
    return to;
}

/* closes the body, which ends at `end`, and sends it */
static void send_body(flr_connections *lines, flr_connection *line, flr_address to, uint8_t *packet,
                      uint8_t *end, int64_t now)
{
    uint8_t *body = packet + FLR_PACKET_HEAD;
    size_t size = (size_t)(end - packet) + FLR_SEAL_TAG;
    if (size < FLR_PACKET_LEAST) {
        memset(end, 0, FLR_PACKET_LEAST - size);
        size = FLR_PACKET_LEAST;
    }
    flr_link_timing_times times = flr_link_timing_sent(&line->pulse, now, size);
    flr_put_u64(body, (uint64_t)times.sent_ns);
    flr_put_u64(body + 8, (uint64_t)times.echo_ns);
    flr_put_u32(body + 16, times.held_us);
    uint64_t number = ++line->sent_number;
    flr_packet_head(packet, FLR_PACKET_SEALED, line->their_id, number);
    flr_seal_close_packet(&line->out, number, packet, FLR_PACKET_HEAD, body,
                          size - FLR_PACKET_HEAD - FLR_SEAL_TAG, body);
    flr_udp_send(lines->socket, to, packet, size, NULL);
    lines->band -= (double)size;
    line->said_ns = now;
}

void flr_packet_send(flr_connections *lines, flr_connection *line, flr_packet_part type,
                     const void *bytes, size_t size, int64_t now)
{
    uint8_t packet[FLR_PACKET_MOST];
    uint8_t *end = packet + FLR_PACKET_HEAD + FLR_PACKET_TIMES;
    size_t frame = type == FLR_FRAME_END ? 0 : FLR_PACKET_FRAME + size;
    if (line->ack_ns != INT64_MAX)
        end = write_ack(line, end, FLR_PACKET_BODY - FLR_PACKET_TIMES - frame);
    if (frame > 0) {
        end = write_frame(end, type, size);
        if (size > 0) memcpy(end, bytes, size);
        end += size;
    }
    send_body(lines, line, line->address, packet, end, now);
}

/* a question that must come back from `to` before packets go there: no larger than any packet that causes it */
static void ask(flr_connections *lines, flr_connection *line, flr_address to, int64_t now)
{
    if (line->asked && now - line->asked_ns < ask_wait) return;
    do flr_random_bytes(lines->env, &line->asked, sizeof line->asked);
    while (line->asked == 0);
    line->seen_at = to;
    line->asked_ns = now;
    uint8_t packet[FLR_PACKET_LEAST];
    uint8_t *end = packet + FLR_PACKET_HEAD + FLR_PACKET_TIMES;
    end = write_frame(end, FLR_FRAME_ASK, 8);
    flr_put_u64(end, line->asked);
    send_body(lines, line, to, packet, end + 8, now);
}

/* ---- in ---- */

static bool read_ack(flr_connection *line, const uint8_t *bytes, size_t size, double rtt,
                     int64_t now)
{
    flr_reliable_ack ack = {.count = 0};
    if (size < ACK_FIXED || (size - ACK_FIXED) % 8 || (size - ACK_FIXED) / 8 > FLR_RELIABLE_TOLD)
        return false;
    ack.came = flr_get_u64(bytes);
    ack.limit = flr_get_u64(bytes + 8);
    line->pulse.loss_out = flr_get_u16(bytes + 16) / 65535.0;
    for (const uint8_t *at = bytes + ACK_FIXED; at < bytes + size; at += 8)
        ack.ranges[ack.count++] =
            (flr_reliable_range){ack.came + flr_get_u32(at), ack.came + flr_get_u32(at + 4)};
    flr_reliable_way way = {
        .rtt = rtt, .usual = flr_link_timing_usual(&line->pulse), .loss = line->pulse.loss_out};
    return flr_reliable_acked(line->reliable, &ack, way, now);
}

static bool read_part(flr_connections *lines, flr_connection *line, const uint8_t *bytes,
                      size_t size, int64_t now)
{
    if (size < 9 || !flr_reliable_came(line->reliable, flr_get_u64(bytes), bytes + 8, size - 8))
        return false;
    lines->attention = true;
    if (line->ack_ns == INT64_MAX) line->ack_ns = now + ack_wait;
    if (++line->ack_parts >= ACK_PARTS) line->ack_ns = now;
    flr_connection_wake(lines, line, line->ack_ns);
    return true;
}

static void read_bye(flr_connections *lines, flr_connection *line, const uint8_t *bytes,
                     size_t size)
{
    char text[FLR_CONNECTIONS_WHY + 1];
    if (size > FLR_CONNECTIONS_WHY) size = FLR_CONNECTIONS_WHY;
    memcpy(text, bytes, size);
    text[size] = 0;
    flr_text_clean(text, size);
    flr_connection_end(lines, line, FLR_CONNECTIONS_CLOSED, FLR_CONNECTIONS_BYE, "%s", text);
}

/* one frame; false: it breaks the rules */
static bool read_frame(flr_connections *lines, flr_connection *line, flr_address from, uint8_t type,
                       const uint8_t *bytes, size_t size, double rtt, int64_t now)
{
    switch (type) {
    case FLR_FRAME_STATE:
        if (size > FLR_CONNECTIONS_STATE || lines->state_line) return false;
        lines->state_line = line;
        lines->state = bytes;
        lines->state_size = size;
        return true;
    case FLR_FRAME_ACK:
        flr_connection_wake(lines, line, now); // there may be room for more
        return read_ack(line, bytes, size, rtt, now);
    case FLR_FRAME_PART:
        return read_part(lines, line, bytes, size, now);
    case FLR_FRAME_BYE:
        read_bye(lines, line, bytes, size);
        return true;
    case FLR_FRAME_ASK:
        if (size != 8) return false;
        flr_packet_send(lines, line, FLR_FRAME_ANSWER, bytes, size, now);
        return true;
    case FLR_FRAME_ANSWER:
        if (size != 8) return false;
        if (line->asked && flr_get_u64(bytes) == line->asked &&
            flr_address_equal(from, line->seen_at)) {
            line->address = from;
            line->asked = 0;
            line->moved++;
        }
        return true;
    default:
        return false;
    }
}

static bool read_frames(flr_connections *lines, flr_connection *line, flr_address from, size_t size,
                        double rtt, int64_t now)
{
    size_t at = FLR_PACKET_TIMES;
    while (at < size && lines->plain[at] != FLR_FRAME_END && line->stage == FLR_CONNECTION_OPEN) {
        if (size - at < FLR_PACKET_FRAME) return false;
        size_t count = flr_get_u16(lines->plain + at + 1);
        const uint8_t *bytes = lines->plain + at + FLR_PACKET_FRAME;
        if (count > size - at - FLR_PACKET_FRAME ||
            !read_frame(lines, line, from, lines->plain[at], bytes, count, rtt, now))
            return false;
        at += FLR_PACKET_FRAME + count;
    }
    return true;
}

/* the line that a packet names, if its seal is whole and it did not come before; opened into `plain` */
static flr_connection *authentic(flr_connections *lines, size_t size, uint64_t *number)
{
    uint32_t id = flr_get_u32(lines->packet + 4), place = id & 0xff;
    *number = flr_get_u64(lines->packet + 8);
    flr_connection *line = place < lines->count ? &lines->table[place] : NULL;
    if (!line || line->id != id ||
        (line->stage != FLR_CONNECTION_OPEN && line->stage != FLR_CONNECTION_HALF)) {
        lines->rejected.unknown++;
        return NULL;
    }
    switch (flr_window_look(&line->window, *number)) {
    case FLR_WINDOW_NEW:
        break;
    case FLR_WINDOW_SEEN:
        lines->rejected.replayed++, line->replayed++;
        return NULL;
    case FLR_WINDOW_OLD:
        lines->rejected.old++, line->old++;
        return NULL;
    }
    if (!flr_seal_open_packet(&line->in, *number, lines->packet, FLR_PACKET_HEAD,
                              lines->packet + FLR_PACKET_HEAD, size - FLR_PACKET_HEAD,
                              lines->plain)) {
        lines->rejected.forged++, line->forged++;
        return NULL;
    }
    flr_window_add(&line->window, *number);
    return line;
}

void flr_packet_came(flr_connections *lines, flr_address from, size_t size, int64_t now)
{
    if (size < FLR_PACKET_LEAST) {
        lines->rejected.malformed++;
        return;
    }
    uint64_t number;
    flr_connection *line = authentic(lines, size, &number);
    if (!line) return;
    if (line->stage == FLR_CONNECTION_HALF && !flr_call_confirmed(lines, line, now)) return;
    flr_link_timing_times times = {.sent_ns = (int64_t)flr_get_u64(lines->plain),
                                   .echo_ns = (int64_t)flr_get_u64(lines->plain + 8),
                                   .held_us = flr_get_u32(lines->plain + 16)};
    double rtt = flr_link_timing_came(&line->pulse, now, number, &times, size);
    line->heard_ns = now;
    if (!line->heard) {
        line->heard = true;
        // the other learns at once that its first packet came
        if (!line->caller) flr_connection_wake(lines, line, now);
    }
    if (!flr_address_equal(from, line->address) && number == line->window.highest)
        ask(lines, line, from, now);
    lines->state_number = number;
    lines->state_sent_ns = times.sent_ns;
    if (!read_frames(lines, line, from, size - FLR_PACKET_HEAD - FLR_SEAL_TAG, rtt, now)) {
        lines->rejected.broken++;
        lines->state_line = NULL;
        flr_packet_send(lines, line, FLR_FRAME_BYE, "a packet breaks the rules", 25, now);
        char text[FLR_ADDRESS_TEXT_SIZE];
        flr_connection_end(lines, line, FLR_CONNECTIONS_CLOSED, FLR_CONNECTIONS_BROKEN,
                           "%s sends what breaks the rules: is it another version of feeler?",
                           flr_address_print(line->address, text));
    }
}

/* ---- in time ---- */

/* parts of messages, as many as way, window and bandwidth allow; returns when there may be more */
static int64_t send_parts(flr_connections *lines, flr_connection *line, int64_t now)
{
    int64_t due = flr_reliable_due(line->reliable);
    if (due > now) {
        line->pace_ns = now;
        return due;
    }
    // evenly over the round trip, somewhat faster than the window allows, so that the window decides
    double rtt = line->pulse.rtt > 1e-4 ? line->pulse.rtt : 1e-4;
    double rate = 1.5 * line->reliable->out.window / rtt, burst = 16 * FLR_PACKET_MOST;
    if (rate * 4e-3 > burst) burst = rate * 4e-3;
    line->pace += rate * (double)(now - line->pace_ns) * 1e-9;
    if (line->pace > burst) line->pace = burst;
    line->pace_ns = now;
    double late = flr_link_timing_late(&line->pulse);
    for (int i = 0; i < BURST; i++) {
        if (line->pace < FLR_PACKET_MOST) {
            int64_t wait = (int64_t)((FLR_PACKET_MOST - line->pace) / rate * 1e9);
            return now + (wait > pause_least ? wait : pause_least);
        }
        if (lines->def.bandwidth > 0 && lines->band < FLR_PACKET_MOST)
            return now + 1000 +
                   (int64_t)((FLR_PACKET_MOST - lines->band) / lines->def.bandwidth * 1e9);
        uint8_t part[8 + FLR_RELIABLE_PART];
        uint64_t place;
        size_t size = flr_reliable_take(line->reliable, now, late, part + 8, &place);
        if (size == 0) return flr_reliable_due(line->reliable);
        flr_put_u64(part, place);
        flr_packet_send(lines, line, FLR_FRAME_PART, part, 8 + size, now);
        line->pace -= (double)size;
    }
    return now + pause_least;
}

int64_t flr_packet_service(flr_connections *lines, flr_connection *line, int64_t now)
{
    // nothing heard: of a new line, the whole handshake may still be on its way
    int64_t end = line->heard_ns + (line->heard ? lines->silence_ns : lines->patience_ns);
    if (now >= end) {
        char text[FLR_ADDRESS_TEXT_SIZE];
        flr_connection_end(lines, line, FLR_CONNECTIONS_CLOSED, FLR_CONNECTIONS_SILENCE,
                           "%s has not been heard for %.1f s",
                           flr_address_print(line->address, text),
                           (double)(now - line->heard_ns) * 1e-9);
        return now;
    }
    // once a second the other is told how much gets lost, and again what came
    int64_t second = line->pulse.second_ns, next = flr_link_timing_tick(&line->pulse, now);
    if (line->pulse.second_ns != second) line->ack_ns = now;
    int64_t parts = send_parts(lines, line, now);
    int64_t wait =
        line->heard || lines->keepalive_ns < confirm_wait ? lines->keepalive_ns : confirm_wait;
    bool unknown_there = !line->caller && line->heard && line->said_ns < line->opened_ns;
    if (now >= line->ack_ns || now - line->said_ns >= wait || unknown_there)
        flr_packet_send(lines, line, FLR_FRAME_END, NULL, 0, now);
    if (parts < next) next = parts;
    if (end < next) next = end;
    if (line->ack_ns < next) next = line->ack_ns;
    if (line->said_ns + wait < next) next = line->said_ns + wait;
    return next > now ? next : now + pause_least;
}
