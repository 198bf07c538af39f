/* sealed packets: times, frames, where the other is, when to send what */
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "net/net_internal.h"

static const int64_t ack_wait = 5000000;   /* an acknowledgement waits so long for company… */
enum { ACK_PARTS = 4, BURST = 256 };       /* … or for so many parts; parts sent in one service */
static const int64_t ask_wait = 200000000; /* between two questions for a new address */
static const int64_t confirm_wait = 100000000; /* while the other may not know that it is open */
static const int64_t pause_least = 200000;     /* between two services while messages wait */

void flr_packet_head(uint8_t *packet, flr_packet_kind kind, uint32_t connection, uint64_t number)
{
    memset(packet, 0, FLR_PACKET_HEAD);
    packet[0] = (uint8_t)kind;
    packet[1] = FLR_PACKET_VERSION;
    flr_put_u32(packet + 4, connection);
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
static uint8_t *write_ack(flr_connection *connection, uint8_t *to, size_t room)
{
    flr_reliable_ack ack;
    flr_reliable_tell(connection->reliable, &ack);
    size_t size = ACK_FIXED + 8 * ack.count;
    if (FLR_PACKET_FRAME + size > room) return to;
    to = write_frame(to, FLR_FRAME_ACK, size);
    flr_put_u64(to, ack.came);
    flr_put_u64(to + 8, ack.limit);
    flr_put_u16(to + 16, (uint16_t)(connection->pulse.loss_in * 65535));
    to += ACK_FIXED;
    for (uint32_t i = 0; i < ack.count; i++, to += 8) {
        flr_put_u32(to, (uint32_t)(ack.ranges[i].begin - ack.came));
        flr_put_u32(to + 4, (uint32_t)(ack.ranges[i].end - ack.came));
    }
    connection->ack_parts = 0;
    connection->ack_ns = INT64_MAX;
    return to;
}

/* closes the body, which ends at `end`, and sends it */
static void send_body(flr_connections *connections, flr_connection *connection, flr_address to,
                      uint8_t *packet, uint8_t *end, int64_t now)
{
    uint8_t *body = packet + FLR_PACKET_HEAD;
    size_t size = (size_t)(end - packet) + FLR_SEAL_TAG;
    if (size < FLR_PACKET_MIN_SIZE) {
        memset(end, 0, FLR_PACKET_MIN_SIZE - size);
        size = FLR_PACKET_MIN_SIZE;
    }
    flr_link_timing_times times = flr_link_timing_sent(&connection->pulse, now, size);
    flr_put_u64(body, (uint64_t)times.sent_ns);
    flr_put_u64(body + 8, (uint64_t)times.echo_ns);
    flr_put_u32(body + 16, times.held_us);
    uint64_t number = ++connection->sent_number;
    flr_packet_head(packet, FLR_PACKET_SEALED, connection->their_id, number);
    flr_seal_close_packet(&connection->out, number, packet, FLR_PACKET_HEAD, body,
                          size - FLR_PACKET_HEAD - FLR_SEAL_TAG, body);
    flr_udp_send(connections->socket, to, packet, size, NULL);
    connections->band -= (double)size;
    connection->said_ns = now;
}

void flr_packet_send(flr_connections *connections, flr_connection *connection, flr_packet_part type,
                     const void *bytes, size_t size, int64_t now)
{
    uint8_t packet[FLR_PACKET_MAX_SIZE];
    uint8_t *end = packet + FLR_PACKET_HEAD + FLR_PACKET_TIMES;
    size_t frame = type == FLR_FRAME_END ? 0 : FLR_PACKET_FRAME + size;
    if (connection->ack_ns != INT64_MAX)
        end = write_ack(connection, end, FLR_PACKET_BODY - FLR_PACKET_TIMES - frame);
    if (frame > 0) {
        end = write_frame(end, type, size);
        if (size > 0) memcpy(end, bytes, size);
        end += size;
    }
    send_body(connections, connection, connection->address, packet, end, now);
}

/* a question that must come back from `to` before packets go there: no larger than any packet that causes it */
static void ask(flr_connections *connections, flr_connection *connection, flr_address to,
                int64_t now)
{
    if (connection->asked && now - connection->asked_ns < ask_wait) return;
    do flr_random_bytes(connections->env, &connection->asked, sizeof connection->asked);
    while (connection->asked == 0);
    connection->seen_at = to;
    connection->asked_ns = now;
    uint8_t packet[FLR_PACKET_MIN_SIZE];
    uint8_t *end = packet + FLR_PACKET_HEAD + FLR_PACKET_TIMES;
    end = write_frame(end, FLR_FRAME_ASK, 8);
    flr_put_u64(end, connection->asked);
    send_body(connections, connection, to, packet, end + 8, now);
}

/* ---- in ---- */

static bool read_ack(flr_connection *connection, const uint8_t *bytes, size_t size, double rtt,
                     int64_t now)
{
    flr_reliable_ack ack = {.count = 0};
    if (size < ACK_FIXED || (size - ACK_FIXED) % 8 || (size - ACK_FIXED) / 8 > FLR_RELIABLE_TOLD)
        return false;
    ack.came = flr_get_u64(bytes);
    ack.limit = flr_get_u64(bytes + 8);
    connection->pulse.loss_out = flr_get_u16(bytes + 16) / 65535.0;
    for (const uint8_t *at = bytes + ACK_FIXED; at < bytes + size; at += 8)
        ack.ranges[ack.count++] =
            (flr_reliable_range){ack.came + flr_get_u32(at), ack.came + flr_get_u32(at + 4)};
    flr_reliable_path path = {.rtt = rtt,
                              .usual = flr_link_timing_usual(&connection->pulse),
                              .loss = connection->pulse.loss_out};
    return flr_reliable_acked(connection->reliable, &ack, path, now);
}

static bool read_part(flr_connections *connections, flr_connection *connection,
                      const uint8_t *bytes, size_t size, int64_t now)
{
    if (size < 9 ||
        !flr_reliable_came(connection->reliable, flr_get_u64(bytes), bytes + 8, size - 8))
        return false;
    connections->attention = true;
    if (connection->ack_ns == INT64_MAX) connection->ack_ns = now + ack_wait;
    if (++connection->ack_parts >= ACK_PARTS) connection->ack_ns = now;
    flr_connection_wake(connections, connection, connection->ack_ns);
    return true;
}

static void read_bye(flr_connections *connections, flr_connection *connection, const uint8_t *bytes,
                     size_t size)
{
    char text[FLR_CONNECTIONS_WHY + 1];
    if (size > FLR_CONNECTIONS_WHY) size = FLR_CONNECTIONS_WHY;
    memcpy(text, bytes, size);
    text[size] = 0;
    flr_text_clean(text, size);
    flr_connection_end(connections, connection, FLR_CONNECTIONS_CLOSED, FLR_CONNECTIONS_BYE, "%s",
                       text);
}

/* one frame; false: it breaks the rules */
static bool read_frame(flr_connections *connections, flr_connection *connection, flr_address from,
                       uint8_t type, const uint8_t *bytes, size_t size, double rtt, int64_t now)
{
    switch (type) {
    case FLR_FRAME_STATE:
        if (size > FLR_CONNECTIONS_STATE || connections->state_connection) return false;
        connections->state_connection = connection;
        connections->state = bytes;
        connections->state_size = size;
        return true;
    case FLR_FRAME_ACK:
        flr_connection_wake(connections, connection, now); // there may be room for more
        return read_ack(connection, bytes, size, rtt, now);
    case FLR_FRAME_PART:
        return read_part(connections, connection, bytes, size, now);
    case FLR_FRAME_BYE:
        read_bye(connections, connection, bytes, size);
        return true;
    case FLR_FRAME_ASK:
        if (size != 8) return false;
        flr_packet_send(connections, connection, FLR_FRAME_ANSWER, bytes, size, now);
        return true;
    case FLR_FRAME_ANSWER:
        if (size != 8) return false;
        if (connection->asked && flr_get_u64(bytes) == connection->asked &&
            flr_address_equal(from, connection->seen_at)) {
            connection->address = from;
            connection->asked = 0;
            connection->moved++;
        }
        return true;
    default:
        return false;
    }
}

static bool read_frames(flr_connections *connections, flr_connection *connection, flr_address from,
                        size_t size, double rtt, int64_t now)
{
    size_t at = FLR_PACKET_TIMES;
    while (at < size && connections->plain[at] != FLR_FRAME_END &&
           connection->stage == FLR_CONNECTION_OPEN) {
        if (size - at < FLR_PACKET_FRAME) return false;
        size_t count = flr_get_u16(connections->plain + at + 1);
        const uint8_t *bytes = connections->plain + at + FLR_PACKET_FRAME;
        if (count > size - at - FLR_PACKET_FRAME ||
            !read_frame(connections, connection, from, connections->plain[at], bytes, count, rtt,
                        now))
            return false;
        at += FLR_PACKET_FRAME + count;
    }
    return true;
}

/* the connection that a packet names, if its seal is whole and it did not come before; opened into `plain` */
static flr_connection *authentic(flr_connections *connections, size_t size, uint64_t *number)
{
    uint32_t id = flr_get_u32(connections->packet + 4), place = id & 0xff;
    *number = flr_get_u64(connections->packet + 8);
    flr_connection *connection = place < connections->count ? &connections->table[place] : NULL;
    if (!connection || connection->id != id ||
        (connection->stage != FLR_CONNECTION_OPEN && connection->stage != FLR_CONNECTION_HALF)) {
        connections->rejected.unknown++;
        return NULL;
    }
    switch (flr_window_look(&connection->window, *number)) {
    case FLR_WINDOW_NEW:
        break;
    case FLR_WINDOW_SEEN:
        connections->rejected.replayed++, connection->replayed++;
        return NULL;
    case FLR_WINDOW_OLD:
        connections->rejected.old++, connection->old++;
        return NULL;
    }
    if (!flr_seal_open_packet(&connection->in, *number, connections->packet, FLR_PACKET_HEAD,
                              connections->packet + FLR_PACKET_HEAD, size - FLR_PACKET_HEAD,
                              connections->plain)) {
        connections->rejected.forged++, connection->forged++;
        return NULL;
    }
    flr_window_add(&connection->window, *number);
    return connection;
}

void flr_packet_came(flr_connections *connections, flr_address from, size_t size, int64_t now)
{
    if (size < FLR_PACKET_MIN_SIZE) {
        connections->rejected.malformed++;
        return;
    }
    uint64_t number;
    flr_connection *connection = authentic(connections, size, &number);
    if (!connection) return;
    if (connection->stage == FLR_CONNECTION_HALF &&
        !flr_handshake_confirmed(connections, connection, now))
        return;
    flr_link_timing_times times = {.sent_ns = (int64_t)flr_get_u64(connections->plain),
                                   .echo_ns = (int64_t)flr_get_u64(connections->plain + 8),
                                   .held_us = flr_get_u32(connections->plain + 16)};
    double rtt = flr_link_timing_came(&connection->pulse, now, number, &times, size);
    connection->heard_ns = now;
    if (!connection->heard) {
        connection->heard = true;
        // the other learns at once that its first packet came
        if (!connection->initiator) flr_connection_wake(connections, connection, now);
    }
    if (!flr_address_equal(from, connection->address) && number == connection->window.highest)
        ask(connections, connection, from, now);
    connections->state_number = number;
    connections->state_sent_ns = times.sent_ns;
    if (!read_frames(connections, connection, from, size - FLR_PACKET_HEAD - FLR_SEAL_TAG, rtt,
                     now)) {
        connections->rejected.broken++;
        connections->state_connection = NULL;
        flr_packet_send(connections, connection, FLR_FRAME_BYE, "a packet breaks the rules", 25,
                        now);
        flr_connection_end(connections, connection, FLR_CONNECTIONS_CLOSED, FLR_CONNECTIONS_BROKEN,
                           "%s sends what breaks the rules: is it another version of feeler?",
                           FLR_ADDRESS_TEXT(connection->address));
    }
}

/* ---- in time ---- */

/* parts of messages, as many as way, window and bandwidth allow; returns when there may be more */
static int64_t send_parts(flr_connections *connections, flr_connection *connection, int64_t now)
{
    int64_t due = flr_reliable_due(connection->reliable);
    if (due > now) {
        connection->pace_ns = now;
        return due;
    }
    // evenly over the round trip, somewhat faster than the window allows, so that the window decides
    double rtt = connection->pulse.rtt > 1e-4 ? connection->pulse.rtt : 1e-4;
    double rate = 1.5 * connection->reliable->out.window / rtt, burst = 16 * FLR_PACKET_MAX_SIZE;
    if (rate * 4e-3 > burst) burst = rate * 4e-3;
    connection->pace += rate * (double)(now - connection->pace_ns) * 1e-9;
    if (connection->pace > burst) connection->pace = burst;
    connection->pace_ns = now;
    double late = flr_link_timing_late(&connection->pulse);
    for (int i = 0; i < BURST; i++) {
        if (connection->pace < FLR_PACKET_MAX_SIZE) {
            int64_t wait = (int64_t)((FLR_PACKET_MAX_SIZE - connection->pace) / rate * 1e9);
            return now + (wait > pause_least ? wait : pause_least);
        }
        if (connections->def.bandwidth > 0 && connections->band < FLR_PACKET_MAX_SIZE)
            return now + 1000 +
                   (int64_t)((FLR_PACKET_MAX_SIZE - connections->band) /
                             connections->def.bandwidth * 1e9);
        uint8_t part[8 + FLR_RELIABLE_PART];
        uint64_t place;
        size_t size = flr_reliable_take(connection->reliable, now, late, part + 8, &place);
        if (size == 0) return flr_reliable_due(connection->reliable);
        flr_put_u64(part, place);
        flr_packet_send(connections, connection, FLR_FRAME_PART, part, 8 + size, now);
        connection->pace -= (double)size;
    }
    return now + pause_least;
}

int64_t flr_packet_service(flr_connections *connections, flr_connection *connection, int64_t now)
{
    // nothing heard: of a new connection, the whole handshake may still be on its way
    int64_t end = connection->heard_ns +
                  (connection->heard ? connections->silence_ns : connections->patience_ns);
    if (now >= end) {
        flr_connection_end(connections, connection, FLR_CONNECTIONS_CLOSED, FLR_CONNECTIONS_SILENCE,
                           "%s has not been heard for %.1f s",
                           FLR_ADDRESS_TEXT(connection->address),
                           (double)(now - connection->heard_ns) * 1e-9);
        return now;
    }
    // once a second, report losses to the other side and repeat the acknowledgement
    int64_t second = connection->pulse.second_ns,
            next = flr_link_timing_tick(&connection->pulse, now);
    if (connection->pulse.second_ns != second) connection->ack_ns = now;
    int64_t parts = send_parts(connections, connection, now);
    int64_t wait = connection->heard || connections->keepalive_ns < confirm_wait
                       ? connections->keepalive_ns
                       : confirm_wait;
    bool unknown_there =
        !connection->initiator && connection->heard && connection->said_ns < connection->opened_ns;
    if (now >= connection->ack_ns || now - connection->said_ns >= wait || unknown_there)
        flr_packet_send(connections, connection, FLR_FRAME_END, NULL, 0, now);
    if (parts < next) next = parts;
    if (end < next) next = end;
    if (connection->ack_ns < next) next = connection->ack_ns;
    if (connection->said_ns + wait < next) next = connection->said_ns + wait;
    return next > now ? next : now + pause_least;
}
