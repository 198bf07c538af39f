/* the handshake, and who keeps which line where two call each other
 *
 * HELLO says nothing new to somebody without the token and is answered by a COOKIE, smaller than itself, that only somebody at
 * that address can read; HELLO with the cookie by a WELCOME. The caller's line is open when the WELCOME is right, the called's
 * when the first sealed packet comes: only then it is certain that this is no repetition of an old call.
 *
 * HELLO and COOKIE have this form, and their keys, in every version. Who is called in another version than its own answers as
 * always, by a COOKIE of its own version; the caller sees by its seal that it is meant, and that there is no use in going on. */
#include <string.h>

#include "net/bytes.h"
#include "net/net_internal.h"

static const int64_t cookie_life = 10000 * 1000000ll; /* accepted so long… */
static const int64_t cookie_use = 5000 * 1000000ll;   /* … but used by the caller only so long */
static const int64_t cookie_pause = 500 * 1000000ll;  /* between two that are taken */
static const int64_t hello_first = 100 * 1000000ll, hello_most = 500 * 1000000ll;

/* verdicts in WELCOME */
enum { COME_IN, NO_ROOM };

enum { SAME_MOST = 2 }; /* calls of one side under way, that we know of */

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

/* what both sides must have heard alike: the call without its cookie (which may change while it is repeated), the keys */
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

/* what binds an answer to its call: its own head, the caller's key */
static void write_known(uint8_t known[FLR_PACKET_HEAD + FLR_SEAL_KEY], const uint8_t *packet,
                        const uint8_t caller_key[FLR_SEAL_KEY])
{
    memcpy(known, packet, FLR_PACKET_HEAD);
    memcpy(known + FLR_PACKET_HEAD, caller_key, FLR_SEAL_KEY);
}

/* ---- the caller ---- */

static void write_hello(const flr_connections *lines, const flr_connection *line, int64_t now,
                        uint8_t plain[FLR_HELLO_PLAIN])
{
    memset(plain, 0, FLR_HELLO_PLAIN);
    memcpy(plain + HELLO_KEY, line->pair.open, FLR_SEAL_KEY);
    flr_put_u64(plain + HELLO_SELF, lines->self);
    flr_put_u32(plain + HELLO_ID, line->id);
    if (line->cookie_ns && now - line->cookie_ns < cookie_use)
        memcpy(plain + HELLO_COOKIE, line->cookie, FLR_SEAL_COOKIE);
    flr_put_u16(plain + HELLO_COUNT, (uint16_t)line->hello_size);
    memcpy(plain + HELLO_TEXT, line->hello, line->hello_size);
}

static void send_hello(flr_connections *lines, const flr_connection *line, int64_t now)
{
    uint8_t packet[FLR_HELLO_SIZE], plain[FLR_HELLO_PLAIN];
    write_hello(lines, line, now, plain);
    flr_packet_head(packet, FLR_PACKET_HELLO, 0, 0);
    flr_seal_close(lines->env, lines->token.hello, packet, FLR_PACKET_HEAD, plain, sizeof plain,
                   packet + FLR_PACKET_HEAD);
    flr_udp_send(lines->socket, line->address, packet, sizeof packet, NULL);
}

void flr_call_begin(flr_connections *lines, flr_connection *line, const void *hello, size_t size,
                    int64_t now)
{
    flr_seal_make_pair(lines->env, &line->pair);
    if (size > 0) memcpy(line->hello, hello, size);
    line->hello_size = size;
    line->caller = true;
    line->began_ns = line->hello_ns = now;
    line->hello_step_ns = hello_first;
    flr_connection_wake(lines, line, now);
}

int64_t flr_call_service(flr_connections *lines, flr_connection *line, int64_t now)
{
    int64_t end = line->began_ns + lines->patience_ns;
    if (now >= end) {
        char text[FLR_ADDRESS_TEXT_SIZE];
        flr_connection_end(
            lines, line, FLR_CONNECTIONS_REFUSED, FLR_CONNECTIONS_SILENCE,
            "%s does not answer, or the token is another one; is feeler serve --share "
            "of this version running there, and does a firewall let UDP through?",
            flr_address_print(line->address, text));
        return now;
    }
    if (line->stage == FLR_CONNECTION_WAITING) return end;
    if (now >= line->hello_ns) {
        send_hello(lines, line, now);
        line->hello_ns = now + line->hello_step_ns;
        line->hello_step_ns = line->hello_step_ns * 8 / 5;
        if (line->hello_step_ns > hello_most) line->hello_step_ns = hello_most;
    }
    return line->hello_ns < end ? line->hello_ns : end;
}

static flr_connection *find_call(flr_connections *lines, uint32_t id)
{
    uint32_t place = id & 0xff;
    if (place >= lines->count) return NULL;
    flr_connection *line = &lines->table[place];
    return line->stage == FLR_CONNECTION_CALLING && line->id == id ? line : NULL;
}

static void came_cookie(flr_connections *lines, flr_address from, int64_t now)
{
    flr_connection *line = find_call(lines, flr_get_u32(lines->packet + 4));
    if (!line) {
        lines->rejected.unknown++;
        return;
    }
    uint8_t known[FLR_PACKET_HEAD + FLR_SEAL_KEY], cookie[FLR_SEAL_COOKIE];
    write_known(known, lines->packet, line->pair.open);
    if (!flr_address_equal(from, line->address) ||
        !flr_seal_open(lines->token.answer, known, sizeof known, lines->packet + FLR_PACKET_HEAD,
                       FLR_COOKIE_SIZE - FLR_PACKET_HEAD, cookie)) {
        lines->rejected.forged++;
        return;
    }
    if (lines->packet[1] != FLR_PACKET_VERSION) {
        char text[FLR_ADDRESS_TEXT_SIZE];
        flr_connection_end(lines, line, FLR_CONNECTIONS_REFUSED, FLR_CONNECTIONS_BROKEN,
                           "%s runs another version of feeler: sessions need the same on all sides",
                           flr_address_print(from, text));
        return;
    }
    // those that answer repetitions need no repetition of ours
    if (line->cookie_ns && now - line->cookie_ns < cookie_pause) return;
    memcpy(line->cookie, cookie, sizeof cookie);
    line->cookie_ns = now ? now : 1;
    line->hello_ns = now;
    flr_connection_wake(lines, line, now);
}

/* a line to the same side that is open, or another's call to us under way */
static flr_connection *find_other(flr_connections *lines, uint64_t other,
                                  const flr_connection *not_this, flr_connection_stage stage)
{
    for (uint32_t i = 0; i < lines->count; i++) {
        flr_connection *line = &lines->table[i];
        if (line != not_this && line->stage == stage && line->other == other) return line;
    }
    return NULL;
}

/* ours is answered. Where there is a line to the same side already, or its call to us is under way, the call made by the side
 * with the smaller number counts. Only a caller decides; the called takes what is confirmed. One of two that call each other
 * always knows of the other's call when its own is answered, so both cannot decide for themselves. */
static void answered(flr_connections *lines, flr_connection *line, int64_t now)
{
    flr_connection *open = find_other(lines, line->other, line, FLR_CONNECTION_OPEN);
    flr_connection *half = find_other(lines, line->other, line, FLR_CONNECTION_HALF);
    bool first = lines->self < line->other;
    char text[FLR_ADDRESS_TEXT_SIZE];
    flr_address_print(line->address, text);
    // a line that is not heard any more is no reason to stay with it
    if (open && !first && now - open->heard_ns < 3 * lines->keepalive_ns) {
        flr_connection_end(lines, line, FLR_CONNECTIONS_REFUSED, FLR_CONNECTIONS_REPLACED,
                           "%s: there is a line to it already", text);
        return;
    }
    if (half && !first) {
        line->stage = FLR_CONNECTION_WAITING;
        return;
    }
    if (open)
        flr_connection_end(lines, open, FLR_CONNECTIONS_CLOSED, FLR_CONNECTIONS_REPLACED,
                           "%s: a new line to it was opened", text);
    if (half) flr_connection_free(half);
    if (flr_connection_open(lines, line, now))
        flr_packet_send(lines, line, FLR_FRAME_END, NULL, 0, now);
}

static void came_welcome(flr_connections *lines, flr_address from, int64_t now)
{
    flr_connection *line = find_call(lines, flr_get_u32(lines->packet + 4));
    if (!line) {
        lines->rejected.unknown++;
        return;
    }
    uint8_t known[FLR_PACKET_HEAD + FLR_SEAL_KEY], plain[FLR_WELCOME_PLAIN];
    write_known(known, lines->packet, line->pair.open);
    if (!flr_seal_open(lines->token.answer, known, sizeof known, lines->packet + FLR_PACKET_HEAD,
                       FLR_WELCOME_SIZE - FLR_PACKET_HEAD, plain)) {
        lines->rejected.forged++;
        return;
    }
    if (lines->close_looks < 1) {
        lines->rejected.flood++;
        return;
    }
    lines->close_looks--;
    uint8_t hello[FLR_HELLO_PLAIN], inner[FLR_WELCOME_INNER];
    write_hello(lines, line, now, hello);
    transcript said = write_transcript(hello, plain);
    flr_seal_session session;
    flr_seal_way once = {.epoch = 0};
    bool good =
        flr_seal_agree(&lines->token, &line->pair, plain, said.bytes, sizeof said.bytes, &session);
    if (good) {
        memcpy(once.key, session.welcome, FLR_SEAL_KEY);
        good = flr_seal_open_packet(&once, 0, NULL, 0, plain + FLR_SEAL_KEY,
                                    FLR_WELCOME_INNER + FLR_SEAL_TAG, inner);
    }
    size_t size = good ? flr_get_u16(inner + WELCOME_COUNT) : 0;
    if (good && size <= FLR_CONNECTIONS_HELLO) {
        line->other = flr_get_u64(inner + WELCOME_SELF);
        line->their_id = flr_get_u32(inner + WELCOME_ID);
        line->address = from;
        line->in = session.back, line->out = session.there;
        memcpy(line->hello, inner + WELCOME_TEXT, size);
        line->hello_size = size;
        char text[FLR_ADDRESS_TEXT_SIZE];
        if (inner[WELCOME_VERDICT] != COME_IN)
            flr_connection_end(lines, line, FLR_CONNECTIONS_REFUSED, FLR_CONNECTIONS_BYE,
                               "%s has no room for more; somebody must leave first",
                               flr_address_print(from, text));
        else
            answered(lines, line, now);
    } else {
        lines->rejected.forged++;
    }
    flr_seal_wipe(&session, sizeof session);
    flr_seal_wipe(&once, sizeof once);
}

/* ---- the called ---- */

static void send_cookie(flr_connections *lines, flr_address to, uint32_t id,
                        const uint8_t caller_key[FLR_SEAL_KEY], int64_t now)
{
    uint8_t packet[FLR_COOKIE_SIZE], known[FLR_PACKET_HEAD + FLR_SEAL_KEY], cookie[FLR_SEAL_COOKIE];
    flr_seal_make_cookie(lines->secret, to, caller_key, now, cookie);
    flr_packet_head(packet, FLR_PACKET_COOKIE, id, 0);
    write_known(known, packet, caller_key);
    flr_seal_close(lines->env, lines->token.answer, known, sizeof known, cookie, sizeof cookie,
                   packet + FLR_PACKET_HEAD);
    flr_udp_send(lines->socket, to, packet, sizeof packet, NULL);
}

/* computes the session with a caller and writes the WELCOME; false: its key is no good */
static bool make_welcome(flr_connections *lines, const uint8_t hello[FLR_HELLO_PLAIN], int verdict,
                         uint32_t own_id, flr_seal_session *session,
                         uint8_t packet[FLR_WELCOME_SIZE])
{
    flr_seal_pair pair;
    flr_seal_make_pair(lines->env, &pair);
    transcript said = write_transcript(hello, pair.open);
    bool good = flr_seal_agree(&lines->token, &pair, hello + HELLO_KEY, said.bytes,
                               sizeof said.bytes, session);
    if (good) {
        uint8_t inner[FLR_WELCOME_INNER] = {0}, plain[FLR_WELCOME_PLAIN];
        inner[WELCOME_VERDICT] = (uint8_t)verdict;
        flr_put_u64(inner + WELCOME_SELF, lines->self);
        flr_put_u32(inner + WELCOME_ID, own_id);
        flr_put_u16(inner + WELCOME_COUNT, (uint16_t)lines->hello_size);
        memcpy(inner + WELCOME_TEXT, lines->hello, lines->hello_size);
        flr_seal_way once = {.epoch = 0};
        memcpy(once.key, session->welcome, FLR_SEAL_KEY);
        memcpy(plain, pair.open, FLR_SEAL_KEY);
        flr_seal_close_packet(&once, 0, NULL, 0, inner, sizeof inner, plain + FLR_SEAL_KEY);
        flr_seal_wipe(&once, sizeof once);
        uint8_t known[FLR_PACKET_HEAD + FLR_SEAL_KEY];
        flr_packet_head(packet, FLR_PACKET_WELCOME, flr_get_u32(hello + HELLO_ID), 0);
        write_known(known, packet, hello + HELLO_KEY);
        flr_seal_close(lines->env, lines->token.answer, known, sizeof known, plain, sizeof plain,
                       packet + FLR_PACKET_HEAD);
    }
    flr_seal_wipe(&pair, sizeof pair);
    return good;
}

/* is there room for one more line? The call of somebody that we call, too, or have a line to, needs none */
static bool has_room(flr_connections *lines, flr_address from, uint64_t other)
{
    if (flr_connections_used(lines) < lines->def.most) return true;
    for (uint32_t i = 0; i < lines->count; i++) {
        const flr_connection *line = &lines->table[i];
        if (line->stage == FLR_CONNECTION_OPEN && line->other == other) return true;
        if (line->stage == FLR_CONNECTION_WAITING && line->other == other) return true;
        if (line->stage == FLR_CONNECTION_CALLING && flr_address_equal(line->address, from))
            return true;
    }
    return false;
}

/* a call whose address is proven */
static void welcome(flr_connections *lines, flr_address from, const uint8_t hello[FLR_HELLO_PLAIN],
                    int64_t now)
{
    uint64_t other = flr_get_u64(hello + HELLO_SELF);
    size_t size = flr_get_u16(hello + HELLO_COUNT);
    uint32_t half = 0, same = 0;
    flr_connection *oldest = NULL; // call of the same side that was never confirmed
    for (uint32_t i = 0; i < lines->count; i++) {
        flr_connection *line = &lines->table[i];
        if (line->stage == FLR_CONNECTION_HALF) {
            half++;
            same += line->other == other;
            if (line->other == other && (!oldest || line->began_ns < oldest->began_ns))
                oldest = line;
        }
        if (line->stage == FLR_CONNECTION_FREE || line->caller ||
            memcmp(line->caller_key, hello + HELLO_KEY, FLR_SEAL_KEY) != 0)
            continue;
        // said again: the same answer, if it did not get there yet
        if (line->stage == FLR_CONNECTION_HALF)
            flr_udp_send(lines->socket, from, line->welcome, sizeof line->welcome, NULL);
        else
            lines->rejected.replayed++;
        return;
    }
    if (lines->close_looks < 1 || (half >= lines->def.most && !oldest)) {
        lines->rejected.flood++;
        return;
    }
    // who begins again and again and never goes on takes no room from others
    if (same >= SAME_MOST || (half >= lines->def.most && oldest)) flr_connection_free(oldest);
    lines->close_looks--;
    flr_seal_session session;
    if (!has_room(lines, from, other)) {
        uint8_t packet[FLR_WELCOME_SIZE];
        if (make_welcome(lines, hello, NO_ROOM, 0, &session, packet))
            flr_udp_send(lines->socket, from, packet, sizeof packet, NULL);
        flr_seal_wipe(&session, sizeof session);
        return;
    }
    flr_connection *line = flr_connection_make(lines, FLR_CONNECTION_HALF, from);
    if (!line) {
        lines->rejected.flood++;
        return;
    }
    if (!make_welcome(lines, hello, COME_IN, line->id, &session, line->welcome)) {
        lines->rejected.broken++;
        flr_connection_free(line);
        return;
    }
    line->other = other;
    line->their_id = flr_get_u32(hello + HELLO_ID);
    line->in = session.there, line->out = session.back;
    flr_seal_wipe(&session, sizeof session);
    memcpy(line->caller_key, hello + HELLO_KEY, FLR_SEAL_KEY);
    memcpy(line->hello, hello + HELLO_TEXT, size);
    line->hello_size = size;
    line->began_ns = now;
    flr_connection_wake(lines, line, now + lines->patience_ns);
    flr_udp_send(lines->socket, from, line->welcome, sizeof line->welcome, NULL);
}

/* somebody calls: perhaps ourselves */
static bool is_own(flr_connections *lines, const uint8_t hello[FLR_HELLO_PLAIN])
{
    if (flr_get_u64(hello + HELLO_SELF) != lines->self) return false;
    flr_connection *line = find_call(lines, flr_get_u32(hello + HELLO_ID));
    char text[FLR_ADDRESS_TEXT_SIZE];
    if (line)
        flr_connection_end(lines, line, FLR_CONNECTIONS_REFUSED, FLR_CONNECTIONS_BYE,
                           "%s is this controller itself: give the address of another one",
                           flr_address_print(line->address, text));
    return true;
}

static void came_hello(flr_connections *lines, flr_address from, int64_t now)
{
    static const uint8_t none[FLR_SEAL_COOKIE];
    uint8_t hello[FLR_HELLO_PLAIN];
    if (!flr_seal_open(lines->token.hello, lines->packet, FLR_PACKET_HEAD,
                       lines->packet + FLR_PACKET_HEAD, FLR_HELLO_SIZE - FLR_PACKET_HEAD, hello)) {
        lines->rejected.forged++;
        return;
    }
    if (flr_get_u16(hello + HELLO_COUNT) > FLR_CONNECTIONS_HELLO ||
        flr_get_u64(hello + HELLO_SELF) == 0) {
        lines->rejected.broken++;
        return;
    }
    bool same = lines->packet[1] == FLR_PACKET_VERSION;
    if (!same) lines->rejected.malformed++;
    if (same && memcmp(hello + HELLO_COOKIE, none, sizeof none) != 0) {
        switch (flr_seal_check_cookie(lines->secret, from, hello + HELLO_KEY, now, cookie_life,
                                      hello + HELLO_COOKIE)) {
        case FLR_SEAL_GOOD:
            if (!is_own(lines, hello)) welcome(lines, from, hello, now);
            return;
        case FLR_SEAL_OLD:
            lines->rejected.old++;
            break;
        case FLR_SEAL_FORGED:
            lines->rejected.forged++;
            break; // perhaps of our former life
        }
    }
    // the address is not proven: nothing is kept, and the answer is smaller than the question
    if (lines->quick_looks < 1) {
        lines->rejected.flood++;
        return;
    }
    lines->quick_looks--;
    send_cookie(lines, from, flr_get_u32(hello + HELLO_ID), hello + HELLO_KEY, now);
}

bool flr_call_confirmed(flr_connections *lines, flr_connection *line, int64_t now)
{
    char text[FLR_ADDRESS_TEXT_SIZE];
    flr_address_print(line->address, text);
    bool room = flr_connections_used(lines) < lines->def.most;
    for (uint32_t i = 0; i < lines->count; i++) {
        flr_connection *known = &lines->table[i];
        if (known == line) continue;
        bool same = known->other == line->other;
        if (known->stage == FLR_CONNECTION_OPEN && same) {
            flr_connection_end(lines, known, FLR_CONNECTIONS_CLOSED, FLR_CONNECTIONS_REPLACED,
                               "%s has opened a new line", text);
            room = true;
        } else if (known->stage == FLR_CONNECTION_HALF && same) {
            flr_connection_free(known);
        } else if ((known->stage == FLR_CONNECTION_WAITING && same) ||
                   (known->stage == FLR_CONNECTION_CALLING &&
                    flr_address_equal(known->address, line->address))) {
            // our own call to it is over: this is its line
            if (line->number == line->id) {
                line->number = known->number;
                flr_connection_free(known);
            } else {
                flr_connection_end(lines, known, FLR_CONNECTIONS_REFUSED, FLR_CONNECTIONS_REPLACED,
                                   "%s: there is a line to it already", text);
            }
            room = true;
        }
    }
    if (room) return flr_connection_open(lines, line, now);
    flr_packet_send(lines, line, FLR_FRAME_BYE,
                    "there is no room for more; somebody must leave first", 52, now);
    flr_connection_free(line);
    return false;
}

bool flr_call_is_timeless(uint8_t kind)
{
    return kind == FLR_PACKET_HELLO || kind == FLR_PACKET_COOKIE;
}

void flr_call_packet(flr_connections *lines, flr_address from, size_t size, int64_t now)
{
    uint8_t kind = lines->packet[0];
    if (kind == FLR_PACKET_HELLO && size == FLR_HELLO_SIZE)
        came_hello(lines, from, now);
    else if (kind == FLR_PACKET_COOKIE && size == FLR_COOKIE_SIZE)
        came_cookie(lines, from, now);
    else if (kind == FLR_PACKET_WELCOME && size == FLR_WELCOME_SIZE)
        came_welcome(lines, from, now);
    else
        lines->rejected.malformed++;
}
