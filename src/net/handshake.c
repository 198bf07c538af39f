/* the handshake, and which connection stays where two sides connect to each other at once
 *
 * HELLO reveals nothing without the token. The responder answers it by a COOKIE, smaller than itself, which only the sender's
 * address can read, and HELLO with the cookie by a WELCOME. The initiator's connection is open when the WELCOME is right, the
 * responder's when the first sealed packet arrives: only that proves that the handshake is no repetition of an old one.
 *
 * HELLO and COOKIE have this form, and their keys, in every version. A responder of another version answers as always, by a
 * COOKIE of its own version; the initiator recognises its seal and stops. */
#include <string.h>

#include "base/bytes.h"
#include "net/net_internal.h"

static const int64_t cookie_life = 10000 * 1000000ll; /* accepted so long… */
static const int64_t cookie_use = 5000 * 1000000ll; /* … but used by the initiator only so long */
static const int64_t cookie_pause = 500 * 1000000ll; /* between two that are taken */
static const int64_t hello_first = 100 * 1000000ll, hello_most = 500 * 1000000ll;

/* verdicts in WELCOME */
enum { COME_IN, NO_CAPACITY };

enum { MAX_SAME = 2 }; /* handshakes of one side in progress, that we know of */

/* places in the plain content of HELLO */
enum {
    HELLO_KEY = 0,
    HELLO_SELF = HELLO_KEY + FLR_SEAL_KEY,
    HELLO_ID = HELLO_SELF + 8,
    HELLO_COOKIE = HELLO_ID + 4,
    HELLO_COUNT = HELLO_COOKIE + FLR_SEAL_COOKIE,
    HELLO_TEXT = HELLO_COUNT + 2
};

/* … and of the inside of WELCOME */
enum {
    WELCOME_VERDICT = 0,
    WELCOME_SELF = 1,
    WELCOME_ID = 9,
    WELCOME_COUNT = 13,
    WELCOME_TEXT = 15
};

/* what both sides must have heard alike: the HELLO without its cookie (which may change while it is repeated), the keys */
typedef struct transcript {
    uint8_t bytes[1 + FLR_HELLO_PLAIN - FLR_SEAL_COOKIE + FLR_SEAL_KEY];
} transcript;

static transcript write_transcript(const uint8_t hello[FLR_HELLO_PLAIN],
                                   const uint8_t called_key[FLR_SEAL_KEY])
{
    transcript said;
    uint8_t *to = said.bytes;
    *to++ = FLR_PACKET_VERSION;
    memcpy(to, hello, HELLO_COOKIE);
    to += HELLO_COOKIE;
    memcpy(to, hello + HELLO_COUNT, FLR_HELLO_PLAIN - HELLO_COUNT);
    to += FLR_HELLO_PLAIN - HELLO_COUNT;
    memcpy(to, called_key, FLR_SEAL_KEY);
    return said;
}

/* what binds an answer to its handshake: its own head, the initiator's key */
static void write_known(uint8_t known[FLR_PACKET_HEAD + FLR_SEAL_KEY], const uint8_t *packet,
                        const uint8_t caller_key[FLR_SEAL_KEY])
{
    memcpy(known, packet, FLR_PACKET_HEAD);
    memcpy(known + FLR_PACKET_HEAD, caller_key, FLR_SEAL_KEY);
}

/* ---- the initiator ---- */

static void write_hello(const flr_connections *connections, const flr_connection *connection,
                        int64_t now, uint8_t plain[FLR_HELLO_PLAIN])
{
    memset(plain, 0, FLR_HELLO_PLAIN);
    memcpy(plain + HELLO_KEY, connection->pair.open, FLR_SEAL_KEY);
    flr_put_u64(plain + HELLO_SELF, connections->self);
    flr_put_u32(plain + HELLO_ID, connection->id);
    if (connection->cookie_ns && now - connection->cookie_ns < cookie_use)
        memcpy(plain + HELLO_COOKIE, connection->cookie, FLR_SEAL_COOKIE);
    flr_put_u16(plain + HELLO_COUNT, (uint16_t)connection->hello_size);
    memcpy(plain + HELLO_TEXT, connection->hello, connection->hello_size);
}

static void send_hello(flr_connections *connections, const flr_connection *connection, int64_t now)
{
    uint8_t packet[FLR_HELLO_SIZE], plain[FLR_HELLO_PLAIN];
    write_hello(connections, connection, now, plain);
    flr_packet_head(packet, FLR_PACKET_HELLO, 0, 0);
    flr_seal_close(connections->env, connections->token.hello, packet, FLR_PACKET_HEAD, plain,
                   sizeof plain, packet + FLR_PACKET_HEAD);
    flr_udp_send(connections->socket, connection->address, packet, sizeof packet, NULL);
}

void flr_handshake_begin(flr_connections *connections, flr_connection *connection,
                         const void *hello, size_t size, int64_t now)
{
    flr_seal_make_pair(connections->env, &connection->pair);
    if (size > 0) memcpy(connection->hello, hello, size);
    connection->hello_size = size;
    connection->initiator = true;
    connection->began_ns = connection->hello_ns = now;
    connection->hello_step_ns = hello_first;
    flr_connection_wake(connections, connection, now);
}

int64_t flr_handshake_service(flr_connections *connections, flr_connection *connection, int64_t now)
{
    int64_t end = connection->began_ns + connections->patience_ns;
    if (now >= end) {
        flr_connection_end(
            connections, connection, FLR_CONNECTIONS_REFUSED, FLR_CONNECTIONS_SILENCE,
            "%s does not answer, or the token is another one; is feeler serve --share "
            "of this version running there, and does a firewall let UDP through?",
            FLR_ADDRESS_TEXT(connection->address));
        return now;
    }
    if (connection->stage == FLR_CONNECTION_WAITING) return end;
    if (now >= connection->hello_ns) {
        send_hello(connections, connection, now);
        connection->hello_ns = now + connection->hello_step_ns;
        connection->hello_step_ns = connection->hello_step_ns * 8 / 5;
        if (connection->hello_step_ns > hello_most) connection->hello_step_ns = hello_most;
    }
    return connection->hello_ns < end ? connection->hello_ns : end;
}

static flr_connection *find_call(flr_connections *connections, uint32_t id)
{
    uint32_t place = id & 0xff;
    if (place >= connections->count) return NULL;
    flr_connection *connection = &connections->table[place];
    return connection->stage == FLR_CONNECTION_ASKING && connection->id == id ? connection : NULL;
}

static void came_cookie(flr_connections *connections, flr_address from, int64_t now)
{
    flr_connection *connection = find_call(connections, flr_get_u32(connections->packet + 4));
    if (!connection) {
        connections->rejected.unknown++;
        return;
    }
    uint8_t known[FLR_PACKET_HEAD + FLR_SEAL_KEY], cookie[FLR_SEAL_COOKIE];
    write_known(known, connections->packet, connection->pair.open);
    if (!flr_address_equal(from, connection->address) ||
        !flr_seal_open(connections->token.answer, known, sizeof known,
                       connections->packet + FLR_PACKET_HEAD, FLR_COOKIE_SIZE - FLR_PACKET_HEAD,
                       cookie)) {
        connections->rejected.forged++;
        return;
    }
    if (connections->packet[1] != FLR_PACKET_VERSION) {
        flr_connection_end(connections, connection, FLR_CONNECTIONS_REFUSED, FLR_CONNECTIONS_BROKEN,
                           "%s runs another version of feeler: sessions need the same on all sides",
                           FLR_ADDRESS_TEXT(from));
        return;
    }
    // those that answer repetitions need no repetition of ours
    if (connection->cookie_ns && now - connection->cookie_ns < cookie_pause) return;
    memcpy(connection->cookie, cookie, sizeof cookie);
    connection->cookie_ns = now ? now : 1;
    connection->hello_ns = now;
    flr_connection_wake(connections, connection, now);
}

/* a connection to the same side that is open, or its own handshake with us in progress */
static flr_connection *find_other(flr_connections *connections, uint64_t other,
                                  const flr_connection *not_this, flr_connection_stage stage)
{
    for (uint32_t i = 0; i < connections->count; i++) {
        flr_connection *connection = &connections->table[i];
        if (connection != not_this && connection->stage == stage && connection->other == other)
            return connection;
    }
    return NULL;
}

/* Ours is answered. Where a connection to the same side exists, or its handshake with us is in progress, the handshake of the side
 * with the smaller id counts. Only an initiator decides; a responder takes what is confirmed. Of two sides that connect to each
 * other, one always knows of the other's handshake when its own is answered, so both cannot decide for themselves. */
static void answered(flr_connections *connections, flr_connection *connection, int64_t now)
{
    flr_connection *open =
        find_other(connections, connection->other, connection, FLR_CONNECTION_OPEN);
    flr_connection *half =
        find_other(connections, connection->other, connection, FLR_CONNECTION_HALF);
    bool first = connections->self < connection->other;
    char text[FLR_ADDRESS_TEXT_SIZE];
    flr_address_print(connection->address, text);
    // a connection that is not heard any more is no reason to stay with it
    if (open && !first && now - open->heard_ns < 3 * connections->keepalive_ns) {
        flr_connection_end(connections, connection, FLR_CONNECTIONS_REFUSED,
                           FLR_CONNECTIONS_REPLACED, "%s: there is a connection to it already",
                           text);
        return;
    }
    if (half && !first) {
        connection->stage = FLR_CONNECTION_WAITING;
        return;
    }
    if (open)
        flr_connection_end(connections, open, FLR_CONNECTIONS_CLOSED, FLR_CONNECTIONS_REPLACED,
                           "%s: a new connection to it was opened", text);
    if (half) flr_connection_free(half);
    if (flr_connection_open(connections, connection, now))
        flr_packet_send(connections, connection, FLR_FRAME_END, NULL, 0, now);
}

static void came_welcome(flr_connections *connections, flr_address from, int64_t now)
{
    flr_connection *connection = find_call(connections, flr_get_u32(connections->packet + 4));
    if (!connection) {
        connections->rejected.unknown++;
        return;
    }
    uint8_t known[FLR_PACKET_HEAD + FLR_SEAL_KEY], plain[FLR_WELCOME_PLAIN];
    write_known(known, connections->packet, connection->pair.open);
    if (!flr_seal_open(connections->token.answer, known, sizeof known,
                       connections->packet + FLR_PACKET_HEAD, FLR_WELCOME_SIZE - FLR_PACKET_HEAD,
                       plain)) {
        connections->rejected.forged++;
        return;
    }
    if (connections->close_looks < 1) {
        connections->rejected.flood++;
        return;
    }
    connections->close_looks--;
    uint8_t hello[FLR_HELLO_PLAIN], inner[FLR_WELCOME_INNER];
    write_hello(connections, connection, now, hello);
    transcript said = write_transcript(hello, plain);
    flr_seal_session session;
    flr_seal_direction once = {.epoch = 0};
    bool good = flr_seal_agree(&connections->token, &connection->pair, plain, said.bytes,
                               sizeof said.bytes, &session);
    if (good) {
        memcpy(once.key, session.welcome, FLR_SEAL_KEY);
        good = flr_seal_open_packet(&once, 0, NULL, 0, plain + FLR_SEAL_KEY,
                                    FLR_WELCOME_INNER + FLR_SEAL_TAG, inner);
    }
    size_t size = good ? flr_get_u16(inner + WELCOME_COUNT) : 0;
    if (good && size <= FLR_CONNECTIONS_HELLO) {
        connection->other = flr_get_u64(inner + WELCOME_SELF);
        connection->their_id = flr_get_u32(inner + WELCOME_ID);
        connection->address = from;
        connection->in = session.back, connection->out = session.there;
        memcpy(connection->hello, inner + WELCOME_TEXT, size);
        connection->hello_size = size;
        if (inner[WELCOME_VERDICT] != COME_IN)
            flr_connection_end(
                connections, connection, FLR_CONNECTIONS_REFUSED, FLR_CONNECTIONS_BYE,
                "%s has no room for more; somebody must leave first", FLR_ADDRESS_TEXT(from));
        else
            answered(connections, connection, now);
    } else {
        connections->rejected.forged++;
    }
    flr_seal_wipe(&session, sizeof session);
    flr_seal_wipe(&once, sizeof once);
}

/* ---- the responder ---- */

static void send_cookie(flr_connections *connections, flr_address to, uint32_t id,
                        const uint8_t caller_key[FLR_SEAL_KEY], int64_t now)
{
    uint8_t packet[FLR_COOKIE_SIZE], known[FLR_PACKET_HEAD + FLR_SEAL_KEY], cookie[FLR_SEAL_COOKIE];
    flr_seal_make_cookie(connections->secret, to, caller_key, now, cookie);
    flr_packet_head(packet, FLR_PACKET_COOKIE, id, 0);
    write_known(known, packet, caller_key);
    flr_seal_close(connections->env, connections->token.answer, known, sizeof known, cookie,
                   sizeof cookie, packet + FLR_PACKET_HEAD);
    flr_udp_send(connections->socket, to, packet, sizeof packet, NULL);
}

/* computes the keys shared with an initiator and writes the WELCOME; false: its key is no good */
static bool make_welcome(flr_connections *connections, const uint8_t hello[FLR_HELLO_PLAIN],
                         int verdict, uint32_t own_id, flr_seal_session *session,
                         uint8_t packet[FLR_WELCOME_SIZE])
{
    flr_seal_pair pair;
    flr_seal_make_pair(connections->env, &pair);
    transcript said = write_transcript(hello, pair.open);
    bool good = flr_seal_agree(&connections->token, &pair, hello + HELLO_KEY, said.bytes,
                               sizeof said.bytes, session);
    if (good) {
        uint8_t inner[FLR_WELCOME_INNER] = {0}, plain[FLR_WELCOME_PLAIN];
        inner[WELCOME_VERDICT] = (uint8_t)verdict;
        flr_put_u64(inner + WELCOME_SELF, connections->self);
        flr_put_u32(inner + WELCOME_ID, own_id);
        flr_put_u16(inner + WELCOME_COUNT, (uint16_t)connections->hello_size);
        memcpy(inner + WELCOME_TEXT, connections->hello, connections->hello_size);
        flr_seal_direction once = {.epoch = 0};
        memcpy(once.key, session->welcome, FLR_SEAL_KEY);
        memcpy(plain, pair.open, FLR_SEAL_KEY);
        flr_seal_close_packet(&once, 0, NULL, 0, inner, sizeof inner, plain + FLR_SEAL_KEY);
        flr_seal_wipe(&once, sizeof once);
        uint8_t known[FLR_PACKET_HEAD + FLR_SEAL_KEY];
        flr_packet_head(packet, FLR_PACKET_WELCOME, flr_get_u32(hello + HELLO_ID), 0);
        write_known(known, packet, hello + HELLO_KEY);
        flr_seal_close(connections->env, connections->token.answer, known, sizeof known, plain,
                       sizeof plain, packet + FLR_PACKET_HEAD);
    }
    flr_seal_wipe(&pair, sizeof pair);
    return good;
}

/* is there room for one more connection? A side that we connect to, too, or have a connection to, needs none */
static bool has_room(flr_connections *connections, flr_address from, uint64_t other)
{
    if (flr_connections_used(connections) < connections->def.most) return true;
    for (uint32_t i = 0; i < connections->count; i++) {
        const flr_connection *connection = &connections->table[i];
        if (connection->stage == FLR_CONNECTION_OPEN && connection->other == other) return true;
        if (connection->stage == FLR_CONNECTION_WAITING && connection->other == other) return true;
        if (connection->stage == FLR_CONNECTION_ASKING &&
            flr_address_equal(connection->address, from))
            return true;
    }
    return false;
}

/* a handshake whose address is proven */
static void welcome(flr_connections *connections, flr_address from,
                    const uint8_t hello[FLR_HELLO_PLAIN], int64_t now)
{
    uint64_t other = flr_get_u64(hello + HELLO_SELF);
    size_t size = flr_get_u16(hello + HELLO_COUNT);
    uint32_t half = 0, same = 0;
    flr_connection *oldest = NULL; // handshake of the same side that was never confirmed
    for (uint32_t i = 0; i < connections->count; i++) {
        flr_connection *connection = &connections->table[i];
        if (connection->stage == FLR_CONNECTION_HALF) {
            half++;
            same += connection->other == other;
            if (connection->other == other && (!oldest || connection->began_ns < oldest->began_ns))
                oldest = connection;
        }
        if (connection->stage == FLR_CONNECTION_FREE || connection->initiator ||
            memcmp(connection->caller_key, hello + HELLO_KEY, FLR_SEAL_KEY) != 0)
            continue;
        // said again: the same answer, if it did not get there yet
        if (connection->stage == FLR_CONNECTION_HALF)
            flr_udp_send(connections->socket, from, connection->welcome, sizeof connection->welcome,
                         NULL);
        else
            connections->rejected.replayed++;
        return;
    }
    if (connections->close_looks < 1 || (half >= connections->def.most && !oldest)) {
        connections->rejected.flood++;
        return;
    }
    // whoever starts over and over without finishing takes no capacity from others
    if (same >= MAX_SAME || (half >= connections->def.most && oldest)) flr_connection_free(oldest);
    connections->close_looks--;
    flr_seal_session session;
    if (!has_room(connections, from, other)) {
        uint8_t packet[FLR_WELCOME_SIZE];
        if (make_welcome(connections, hello, NO_CAPACITY, 0, &session, packet))
            flr_udp_send(connections->socket, from, packet, sizeof packet, NULL);
        flr_seal_wipe(&session, sizeof session);
        return;
    }
    flr_connection *connection = flr_connection_make(connections, FLR_CONNECTION_HALF, from);
    if (!connection) {
        connections->rejected.flood++;
        return;
    }
    if (!make_welcome(connections, hello, COME_IN, connection->id, &session, connection->welcome)) {
        connections->rejected.broken++;
        flr_connection_free(connection);
        return;
    }
    connection->other = other;
    connection->their_id = flr_get_u32(hello + HELLO_ID);
    connection->in = session.there, connection->out = session.back;
    flr_seal_wipe(&session, sizeof session);
    memcpy(connection->caller_key, hello + HELLO_KEY, FLR_SEAL_KEY);
    memcpy(connection->hello, hello + HELLO_TEXT, size);
    connection->hello_size = size;
    connection->began_ns = now;
    flr_connection_wake(connections, connection, now + connections->patience_ns);
    flr_udp_send(connections->socket, from, connection->welcome, sizeof connection->welcome, NULL);
}

/* a HELLO: perhaps our own */
static bool is_own(flr_connections *connections, const uint8_t hello[FLR_HELLO_PLAIN])
{
    if (flr_get_u64(hello + HELLO_SELF) != connections->self) return false;
    flr_connection *connection = find_call(connections, flr_get_u32(hello + HELLO_ID));
    if (connection)
        flr_connection_end(connections, connection, FLR_CONNECTIONS_REFUSED, FLR_CONNECTIONS_BYE,
                           "%s is this controller itself: give the address of another one",
                           FLR_ADDRESS_TEXT(connection->address));
    return true;
}

static void came_hello(flr_connections *connections, flr_address from, int64_t now)
{
    static const uint8_t none[FLR_SEAL_COOKIE];
    uint8_t hello[FLR_HELLO_PLAIN];
    if (!flr_seal_open(connections->token.hello, connections->packet, FLR_PACKET_HEAD,
                       connections->packet + FLR_PACKET_HEAD, FLR_HELLO_SIZE - FLR_PACKET_HEAD,
                       hello)) {
        connections->rejected.forged++;
        return;
    }
    if (flr_get_u16(hello + HELLO_COUNT) > FLR_CONNECTIONS_HELLO ||
        flr_get_u64(hello + HELLO_SELF) == 0) {
        connections->rejected.broken++;
        return;
    }
    bool same = connections->packet[1] == FLR_PACKET_VERSION;
    if (!same) connections->rejected.malformed++;
    if (same && memcmp(hello + HELLO_COOKIE, none, sizeof none) != 0) {
        switch (flr_seal_check_cookie(connections->secret, from, hello + HELLO_KEY, now,
                                      cookie_life, hello + HELLO_COOKIE)) {
        case FLR_SEAL_GOOD:
            if (!is_own(connections, hello)) welcome(connections, from, hello, now);
            return;
        case FLR_SEAL_OLD:
            connections->rejected.old++;
            break;
        case FLR_SEAL_FORGED:
            connections->rejected.forged++;
            break; // perhaps of our former life
        }
    }
    // the address is not proven: nothing is kept, and the answer is smaller than the question
    if (connections->quick_looks < 1) {
        connections->rejected.flood++;
        return;
    }
    connections->quick_looks--;
    send_cookie(connections, from, flr_get_u32(hello + HELLO_ID), hello + HELLO_KEY, now);
}

bool flr_handshake_confirmed(flr_connections *connections, flr_connection *connection, int64_t now)
{
    char text[FLR_ADDRESS_TEXT_SIZE];
    flr_address_print(connection->address, text);
    bool room = flr_connections_used(connections) < connections->def.most;
    for (uint32_t i = 0; i < connections->count; i++) {
        flr_connection *known = &connections->table[i];
        if (known == connection) continue;
        bool same = known->other == connection->other;
        if (known->stage == FLR_CONNECTION_OPEN && same) {
            flr_connection_end(connections, known, FLR_CONNECTIONS_CLOSED, FLR_CONNECTIONS_REPLACED,
                               "%s has opened a new connection", text);
            room = true;
        } else if (known->stage == FLR_CONNECTION_HALF && same) {
            flr_connection_free(known);
        } else if ((known->stage == FLR_CONNECTION_WAITING && same) ||
                   (known->stage == FLR_CONNECTION_ASKING &&
                    flr_address_equal(known->address, connection->address))) {
            // our own handshake with it is over: this is its connection
            if (connection->number == connection->id) {
                connection->number = known->number;
                flr_connection_free(known);
            } else {
                flr_connection_end(connections, known, FLR_CONNECTIONS_REFUSED,
                                   FLR_CONNECTIONS_REPLACED,
                                   "%s: there is a connection to it already", text);
            }
            room = true;
        }
    }
    if (room) return flr_connection_open(connections, connection, now);
    flr_packet_send(connections, connection, FLR_FRAME_BYE,
                    "there is no room for more; somebody must leave first", 52, now);
    flr_connection_free(connection);
    return false;
}

bool flr_handshake_is_timeless(uint8_t kind)
{
    return kind == FLR_PACKET_HELLO || kind == FLR_PACKET_COOKIE;
}

void flr_handshake_packet(flr_connections *connections, flr_address from, size_t size, int64_t now)
{
    uint8_t kind = connections->packet[0];
    if (kind == FLR_PACKET_HELLO && size == FLR_HELLO_SIZE)
        came_hello(connections, from, now);
    else if (kind == FLR_PACKET_COOKIE && size == FLR_COOKIE_SIZE)
        came_cookie(connections, from, now);
    else if (kind == FLR_PACKET_WELCOME && size == FLR_WELCOME_SIZE)
        came_welcome(connections, from, now);
    else
        connections->rejected.malformed++;
}
