/* what hostile clients send */
#include "network_cases.h"

#include <math.h>

static uint32_t below(flr_test_random *random, uint32_t bound)
{
    return flr_test_random_below(random, bound);
}

static void put(network_case *c, const void *bytes, size_t size)
{
    if (size > sizeof c->bytes - c->size) size = sizeof c->bytes - c->size;
    if (size) memcpy(c->bytes + c->size, bytes, size);
    c->size += size;
}

static void put_text(network_case *c, const char *text) { put(c, text, strlen(text)); }

static void put_noise(network_case *c, flr_test_random *random, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)flr_test_random_u64(random);
        put(c, &byte, 1);
    }
}

static const char *any_of(flr_test_random *random, const char *const *list)
{
    uint32_t count = 0;
    while (list[count]) count++;
    return list[below(random, count)];
}

/* ---- HTTP ---- */

#define OPENING                                                                                    \
    "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"         \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
#define H2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

static const char *const requests[] = {
    "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "GET /health?token=%00%zz&token HTTP/1.1\r\nHost: [::1]:99999\r\n\r\n",
    "HEAD / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "HEAD /health HTTP/1.0\r\nHost: localhost\r\n\r\n",
    "GET /recordings/1.mcap HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-\r\n\r\n",
    "GET /recordings/99999999999999999999.mcap HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
    "PUT /health HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
    "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "CONNECT localhost:22 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nIf-None-Match: \"\"\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n",
    H2_PREFACE,
    OPENING,
    NULL,
};

static const char *const methods[] = {"GET",   "HEAD",    "POST", "PUT", "DELETE", "PATCH",
                                      "TRACE", "OPTIONS", "BREW", "get", "",       NULL};
static const char *const lengths[] = {
    "0", "1", "5", "-1", "99999999999999999999", "+5", "0x10", "5 5", "4294967296", "", NULL};
static const char *const upgrades[] = {"h2c",      "h2",  "websocket", "WebSocket, h2c", "TLS/1.0",
                                       "HTTP/2.0", "raw", "",          "websocket ",     NULL};

static void make_truncated(network_case *c, flr_test_random *random)
{
    c->kind = "a request that ends early";
    put_text(c, any_of(random, requests));
    c->size = below(random, (uint32_t)c->size + 1);
}

static void make_pipelined(network_case *c, flr_test_random *random)
{
    c->kind = "pipelined requests";
    uint32_t count = 2 + below(random, below(random, 16) ? 6 : 400);
    const char *same = below(random, 4) ? NULL : any_of(random, requests);
    for (uint32_t i = 0; i < count; i++) put_text(c, same ? same : any_of(random, requests));
}

static void make_body(network_case *c, flr_test_random *random)
{
    char text[512];
    c->kind = "a request with a body";
    if (below(random, 2)) put_text(c, requests[1]);
    snprintf(text, sizeof text, "%s /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: %s\r\n",
             any_of(random, methods), any_of(random, lengths));
    put_text(c, text);
    if (below(random, 4) == 0) {
        snprintf(text, sizeof text, "Content-Length: %s\r\n", any_of(random, lengths));
        put_text(c, text);
    }
    put_text(c, "\r\n");
    put_noise(c, random, below(random, below(random, 8) ? 16 : 3000));
}

static void make_chunked(network_case *c, flr_test_random *random)
{
    static const char *const sizes[] = {"5",  "0",  "ffffffffffffffff", "-1",
                                        "5;", "G;", "00000000000005",   NULL};
    static const char *const codings[] = {
        "chunked", "gzip, chunked", "identity", "chunked, chunked", "", NULL};
    char text[512];
    c->kind = "a chunked body";
    if (below(random, 2)) put_text(c, requests[0]);
    snprintf(text, sizeof text, "%s / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: %s\r\n\r\n",
             any_of(random, methods), any_of(random, codings));
    put_text(c, text);
    for (uint32_t i = below(random, 5); i > 0; i--) {
        snprintf(text, sizeof text, "%s\r\nhello\r\n", any_of(random, sizes));
        put_text(c, text);
    }
}

/* an upgrade that nobody grants, and frames of HTTP/2 behind it */
static void make_upgrade(network_case *c, flr_test_random *random)
{
    char text[512];
    c->kind = "an upgrade";
    snprintf(text, sizeof text,
             "%s /ws HTTP/1.%u\r\nHost: localhost\r\nConnection: %s\r\nUpgrade: %s\r\n"
             "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\nSec-WebSocket-Version: %u\r\n%s\r\n",
             any_of(random, methods), below(random, 3), below(random, 2) ? "Upgrade" : "close",
             any_of(random, upgrades), 12 + below(random, 2),
             below(random, 2) ? "" : "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
    if (below(random, 4)) put_text(c, text);
    put_text(c, H2_PREFACE);
    for (uint32_t i = below(random, 40); i > 0; i--) {
        uint8_t head[9] = {0, 0, (uint8_t)below(random, 9), (uint8_t)below(random, 11),
                           (uint8_t)flr_test_random_u64(random)};
        head[8] = (uint8_t)below(random, 4);
        put(c, head, sizeof head);
        put_noise(c, random, head[2]);
    }
}

static void make_long(network_case *c, flr_test_random *random)
{
    c->kind = "long headers";
    put_text(c, "GET / HTTP/1.1\r\nHost: localhost\r\n");
    size_t wanted = below(random, 2) ? 8192 - 24 + below(random, 48) : below(random, 60000);
    size_t lines = 1 + below(random, below(random, 2) ? 2 : 2000);
    while (c->size < wanted) {
        put_text(c, below(random, 8) ? "X-Long: " : "Cookie: ");
        for (size_t i = wanted / lines; i > 0; i--) put_text(c, "x");
        put_text(c, "\r\n");
    }
    put_text(c, "\r\n");
}

static void make_mutated(network_case *c, flr_test_random *random)
{
    c->kind = "a request with wrong bytes";
    put_text(c, any_of(random, requests));
    if (below(random, 2)) put_text(c, any_of(random, requests));
    for (uint32_t i = 1 + below(random, 8); i > 0 && c->size > 2; i--) {
        size_t at = below(random, (uint32_t)c->size - 1);
        switch (below(random, 4)) {
        case 0:
            c->bytes[at] = (uint8_t)flr_test_random_u64(random);
            break;
        case 1:
            memmove(c->bytes + at, c->bytes + at + 1, --c->size - at);
            break;
        case 2:
            c->bytes[at] = (uint8_t) "\r\n\0 :\t\x7F\xFF"[below(random, 8)];
            break;
        default:
            memmove(c->bytes + at + 1, c->bytes + at, c->size - at);
            c->size++;
        }
    }
}

static void make_noise(network_case *c, flr_test_random *random)
{
    static const uint8_t hello[] = {0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3};
    c->kind = "noise";
    if (below(random, 3) == 0) put(c, hello, sizeof hello);
    put_noise(c, random, below(random, 400));
}

static void cut(network_case *c, flr_test_random *random)
{
    size_t at = 0;
    unsigned count = 1 + below(random, NETWORK_CASE_PIECES - 1);
    for (unsigned i = 0; i < count && at < c->size; i++) {
        size_t most = below(random, 2) ? 1 : c->size - at;
        at += 1 + below(random, (uint32_t)most);
        if (at < c->size) c->cuts[c->cut_count++] = at;
    }
}

static void make_http(network_case *c, flr_test_random *random)
{
    static void (*const kinds[])(network_case *, flr_test_random *) = {
        make_truncated, make_pipelined, make_body,    make_chunked,
        make_upgrade,   make_long,      make_mutated, make_noise,
    };
    kinds[below(random, sizeof kinds / sizeof kinds[0])](c, random);
    if (below(random, 8) == 0) cut(c, random);
}

/* ---- WebSocket ---- */

/* A frame with a mask, unless `flags` says otherwise. */
static void put_frame(network_case *c, flr_test_random *random, uint8_t first, const uint8_t *bytes,
                      size_t size, bool masked)
{
    uint8_t head[14] = {first};
    size_t count = 2;
    uint8_t bit = masked ? 0x80 : 0;
    if (size < 126) {
        head[1] = (uint8_t)(bit | size);
    } else if (size < 65536) {
        head[1] = bit | 126;
        head[2] = (uint8_t)(size >> 8), head[3] = (uint8_t)size;
        count = 4;
    } else {
        head[1] = bit | 127;
        for (int i = 0; i < 8; i++) head[2 + i] = (uint8_t)((uint64_t)size >> (56 - 8 * i));
        count = 10;
    }
    uint64_t chance = flr_test_random_u64(random);
    uint8_t mask[4];
    memcpy(mask, &chance, 4);
    if (c->size + count + 4 + size > sizeof c->bytes) return;
    put(c, head, count);
    if (masked) put(c, mask, 4);
    for (size_t i = 0; i < size; i++)
        c->bytes[c->size++] = masked ? bytes[i] ^ mask[i & 3] : bytes[i];
    c->messages++;
}

static void put_message(network_case *c, flr_test_random *random, const flr_message *message)
{
    static uint8_t bytes[1 << 16];
    size_t size;
    if (flr_protocol_encode(message, FLR_PROTOCOL_MINOR, bytes, sizeof bytes, &size, NULL) ==
        FLR_OK)
        put_frame(c, random, 0x82, bytes, size, true);
}

static void put_hello(network_case *c, flr_test_random *random)
{
    flr_message hello = {.id = FLR_MSG_HELLO};
    hello.as.hello.role =
        (uint8_t)(below(random, 8) ? FLR_WIRE_ROLE_VIEWER : FLR_WIRE_ROLE_WATCHER);
    hello.as.hello.abilities = UINT32_MAX;
    put_message(c, random, &hello);
}

/* values that arithmetic likes least, and ids that there may be */
static void spoil(uint8_t *bytes, size_t size, flr_test_random *random)
{
    static const double reals[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e-310, -0.0,
                                   1e9, -1e9,     1e-12,     1e38,  0.5,    1,      1e-3};
    static const uint64_t wholes[] = {
        0, 1, 2, 3, 255, 256, 0x7FFFFFFF, 0x80000000, UINT32_MAX, UINT64_MAX, UINT64_C(1) << 63};
    enum { HEAD = 16 };
    for (uint32_t i = below(random, 6); i > 0 && size > HEAD; i--) {
        size_t at = HEAD + below(random, (uint32_t)(size - HEAD));
        unsigned kind = below(random, 4);
        size_t width = kind == 0 ? 1 : kind == 1 ? 4 : 8;
        at -= at % width;
        if (at + width > size) continue;
        double real = reals[below(random, sizeof reals / sizeof reals[0])];
        float single = (float)real;
        uint64_t whole = wholes[below(random, sizeof wholes / sizeof wholes[0])];
        bool number = below(random, 2);
        if (kind == 0 || number)
            memcpy(bytes + at, &whole, width);
        else if (kind == 1)
            memcpy(bytes + at, &single, 4);
        else
            memcpy(bytes + at, &real, 8);
    }
}

/* Numbers of parts, hands and the like are small, so that something is there now and then. */
static void tame(uint8_t *bytes, size_t size, flr_test_random *random)
{
    enum { HEAD = 16 };
    for (size_t at = HEAD; at + 4 <= size && at < HEAD + 12; at += 4)
        if (below(random, 2)) {
            uint32_t small = below(random, 4);
            memcpy(bytes + at, &small, 4);
        }
}

static void put_hostile(network_case *c, flr_test_random *random)
{
    static uint8_t bytes[1 << 16];
    uint32_t count;
    size_t size;
    const flr_wire_message *types = flr_wire_messages(&count), *type;
    /* what a client may send, and now and then what it may not */
    do type = &types[below(random, count)];
    while (!(type->direction & FLR_TO_CONTROLLER) && below(random, 16));
    flr_message message = flr_test_message(type, random, below(random, 16) ? 8 : 600);
    if (flr_protocol_encode(&message, FLR_PROTOCOL_MINOR, bytes, sizeof bytes, &size, NULL) ==
        FLR_OK) {
        if (below(random, 2)) tame(bytes, size, random);
        if (below(random, 4)) spoil(bytes, size, random);
        if (below(random, 64) == 0) size = below(random, (uint32_t)size + 1);
        put_frame(c, random, 0x82, bytes, size, true);
    }
    flr_test_message_free(&message);
}

static void make_commands(network_case *c, flr_test_random *random, const char *scene)
{
    c->kind = "commands with hostile values";
    put_text(c, OPENING);
    put_hello(c, random);
    if (scene && below(random, 40) == 0) {
        flr_message load = {.id = FLR_MSG_LOAD, .request = 1};
        load.as.load.path = flr_wire_text_of(scene);
        put_message(c, random, &load);
    }
    for (uint32_t i = 4 + below(random, 28); i > 0; i--) put_hostile(c, random);
}

static void make_frames(network_case *c, flr_test_random *random)
{
    static const uint8_t opcodes[] = {0, 1, 2, 2, 2, 8, 9, 9, 10, 3, 11, 15};
    c->kind = "frames";
    put_text(c, OPENING);
    if (below(random, 2)) put_hello(c, random);
    for (uint32_t i = 1 + below(random, 24); i > 0; i--) {
        uint8_t payload[300];
        uint8_t opcode = opcodes[below(random, below(random, 8) ? 9 : 12)];
        bool control = opcode & 8, final = control ? below(random, 16) : below(random, 2);
        uint8_t first = (uint8_t)(opcode | (final ? 0x80 : 0));
        if (below(random, 32) == 0) first |= (uint8_t)(0x10 << below(random, 3));
        size_t size = below(random, control && below(random, 16) ? 126 : sizeof payload);
        for (size_t k = 0; k < size; k++) payload[k] = (uint8_t)flr_test_random_u64(random);
        put_frame(c, random, first, payload, size, below(random, 32) != 0);
        /* a length that is a lie */
        if (below(random, 64) == 0) put_noise(c, random, 10);
    }
}

/* A message in many frames, pings between them, some without a byte. */
static void make_fragments(network_case *c, flr_test_random *random)
{
    c->kind = "a message in many frames";
    put_text(c, OPENING);
    put_hello(c, random);
    uint8_t bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)flr_test_random_u64(random);
    uint32_t count = 2 + below(random, below(random, 8) ? 20 : 4000);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t first = (uint8_t)((i == 0 ? 2 : 0) | (i + 1 == count ? 0x80 : 0));
        put_frame(c, random, first, bytes, below(random, 4) ? below(random, sizeof bytes) : 0,
                  true);
        if (below(random, 4) == 0)
            put_frame(c, random, (uint8_t)(0x89 + below(random, 2)), bytes,
                      below(random, sizeof bytes), true);
    }
}

/* Closes with any code, says hello again, sends an empty message or a very long one. */
static void make_odd_end(network_case *c, flr_test_random *random)
{
    static const uint8_t huge[] = {0x82, 0xFF, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4};
    uint8_t bytes[125];
    c->kind = "an odd end";
    put_text(c, OPENING);
    if (below(random, 2)) put_hello(c, random);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)flr_test_random_u64(random);
    switch (below(random, 4)) {
    case 0:
        put_frame(c, random, 0x82, bytes, 0, true);
        put_hello(c, random);
        break;
    case 1:
        put(c, huge, sizeof huge);
        put_noise(c, random, below(random, 3000));
        break;
    default:
        break;
    }
    bytes[0] = (uint8_t)below(random, 20);
    put_frame(c, random, 0x88, bytes, below(random, sizeof bytes), true);
    put_hello(c, random);
}

static void make_websocket(network_case *c, flr_test_random *random, const char *scene)
{
    switch (below(random, 8)) {
    case 0:
        make_frames(c, random);
        break;
    case 1:
        make_fragments(c, random);
        break;
    case 2:
        make_odd_end(c, random);
        break;
    default:
        make_commands(c, random, scene);
    }
    if (below(random, 8) == 0) cut(c, random);
    if (below(random, 16) == 0) c->size -= below(random, (uint32_t)c->size / 2);
}

void network_make_case(network_case *made, uint64_t seed, uint64_t number, const char *scene)
{
    flr_test_random random = {.state = seed};
    random.state = (flr_test_random_u64(&random) ^ number) * UINT64_C(0xD1342543DE82EF95);
    made->size = 0, made->cut_count = 0, made->messages = 0;
    if (number % 8 == 7)
        make_websocket(made, &random, scene);
    else
        make_http(made, &random);
    made->half_close = below(&random, 8) == 0;
    made->reads = below(&random, 4) != 0;
}
