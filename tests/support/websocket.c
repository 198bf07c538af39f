/* a client of a few system calls */
#include "support/websocket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* after which a wait counts as hung: the machine may be busy */
enum { PATIENCE_MS = 300000 };

int flr_test_connect(uint16_t port)
{
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_ge(s, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(s, (struct sockaddr *)&to, sizeof to), 0);
    int one = 1;
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return s;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool send_all(int s, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t sent = send(s, (const char *)bytes + at, size - at, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        at += (size_t)sent;
    }
    return true;
}

/* exactly `size` bytes until the time given */
static bool receive_all(int s, void *bytes, size_t size, double until)
{
    for (size_t at = 0; at < size;) {
        double left = until - seconds_now();
        struct pollfd wait = {.fd = s, .events = POLLIN};
        if (left <= 0 || poll(&wait, 1, (int)(left * 1000) + 1) <= 0) return false;
        ssize_t got = recv(s, (char *)bytes + at, size - at, 0);
        if (got <= 0) return false;
        at += (size_t)got;
    }
    return true;
}

/* head, and what Content-Length promises behind it */
static char *read_answer(int s, bool body)
{
    size_t size = 0, capacity = 1 << 16, wanted = SIZE_MAX;
    char *text = malloc(capacity);
    double until = seconds_now() + PATIENCE_MS * 1e-3;
    while (size < wanted) {
        if (size + 1 == capacity) text = realloc(text, capacity *= 2);
        /* byte by byte in the head, so that nothing behind it is taken */
        bool in_head = wanted == SIZE_MAX;
        size_t room = in_head                               ? 1
                      : wanted - size < capacity - 1 - size ? wanted - size
                                                            : capacity - 1 - size;
        struct pollfd wait = {.fd = s, .events = POLLIN};
        if (seconds_now() > until || poll(&wait, 1, PATIENCE_MS) <= 0) break;
        ssize_t got = recv(s, text + size, room, 0);
        if (got <= 0) break;
        size += (size_t)got;
        text[size] = 0;
        if (in_head && size >= 4 && !memcmp(text + size - 4, "\r\n\r\n", 4)) {
            const char *length = strcasestr(text, "content-length:");
            wanted = size + (body && length ? strtoul(length + 15, NULL, 10) : 0);
        }
    }
    text[size] = 0;
    return text;
}

char *flr_test_http(uint16_t port, const char *request)
{
    int s = flr_test_connect(port);
    assert_true(send_all(s, request, strlen(request)));
    char *answer = read_answer(s, strncmp(request, "HEAD", 4) != 0);
    close(s);
    return answer;
}

char *flr_test_get(uint16_t port, const char *path)
{
    char request[1024];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", path, port);
    return flr_test_http(port, request);
}

bool flr_test_ws_open(flr_test_ws *ws, uint16_t port, const char *host, const char *origin)
{
    *ws = (flr_test_ws){.socket = flr_test_connect(port)};
    char request[1024], line[256] = "";
    if (origin) snprintf(line, sizeof line, "Origin: %s\r\n", origin);
    char name[64];
    snprintf(name, sizeof name, "localhost:%u", port);
    snprintf(request, sizeof request,
             "GET /ws HTTP/1.1\r\nHost: %s\r\n%sUpgrade: websocket\r\nConnection: Upgrade\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
             host ? host : name, line);
    assert_true(send_all(ws->socket, request, strlen(request)));
    ws->answer = read_answer(ws->socket, true);
    if (!strncmp(ws->answer, "HTTP/1.1 101", 12)) return true;
    close(ws->socket);
    ws->socket = -1;
    return false;
}

void flr_test_ws_close(flr_test_ws *ws)
{
    if (ws->socket >= 0) close(ws->socket);
    free(ws->frame);
    free(ws->room);
    free(ws->answer);
    *ws = (flr_test_ws){.socket = -1};
}

bool flr_test_ws_send(flr_test_ws *ws, const void *bytes, size_t size)
{
    uint8_t head[14] = {0x82};
    size_t count = 2;
    if (size < 126) {
        head[1] = (uint8_t)(0x80 | size);
    } else if (size < 65536) {
        head[1] = 0x80 | 126;
        head[2] = (uint8_t)(size >> 8);
        head[3] = (uint8_t)size;
        count = 4;
    } else {
        head[1] = 0x80 | 127;
        for (int i = 0; i < 8; i++) head[2 + i] = (uint8_t)((uint64_t)size >> (56 - 8 * i));
        count = 10;
    }
    /* a mask of zeros leaves the bytes as they are */
    uint8_t *frame = malloc(count + 4 + size);
    memcpy(frame, head, count);
    memset(frame + count, 0, 4);
    if (size) memcpy(frame + count + 4, bytes, size);
    bool sent = send_all(ws->socket, frame, count + 4 + size);
    free(frame);
    return sent;
}

bool flr_test_ws_send_message(flr_test_ws *ws, const flr_message *message)
{
    size_t capacity = flr_wire_max_size(flr_wire_message_find(message->id)), size;
    uint8_t *bytes = malloc(capacity);
    flr_error error;
    assert_ok(flr_protocol_encode(message, FLR_PROTOCOL_MINOR, bytes, capacity, &size, &error),
              error);
    bool sent = flr_test_ws_send(ws, bytes, size);
    free(bytes);
    return sent;
}

/* Without an answer the controller takes the connection for dead after a minute. */
static void answer_ping(flr_test_ws *ws, size_t size)
{
    uint8_t pong[6 + 125] = {0x8A, (uint8_t)(0x80 | size)};
    if (size) memcpy(pong + 6, ws->frame, size);
    (void)send_all(ws->socket, pong, 6 + size);
}

bool flr_test_ws_receive(flr_test_ws *ws, double seconds, flr_message *message)
{
    double until = seconds_now() + seconds;
    for (;;) {
        uint8_t head[10];
        /* only the wait for a frame's first byte is the caller's: to give up inside a frame would
           take what is left of it for the next one */
        if (!receive_all(ws->socket, head, 1, until)) return false;
        double rest = seconds_now() + PATIENCE_MS * 1e-3;
        if (!receive_all(ws->socket, head + 1, 1, rest)) return false;
        size_t size = head[1] & 0x7F;
        unsigned more = size == 126 ? 2 : size == 127 ? 8 : 0;
        if (more && !receive_all(ws->socket, head + 2, more, rest)) return false;
        if (more) size = 0;
        for (unsigned i = 0; i < more; i++) size = size << 8 | head[2 + i];
        if (size > ws->capacity) {
            ws->frame = realloc(ws->frame, size);
            ws->room = realloc(ws->room, FLR_PROTOCOL_CAPACITY(size));
            ws->capacity = size;
        }
        if (!receive_all(ws->socket, ws->frame, size, rest)) return false;
        ws->size = size;
        int opcode = head[0] & 0x0F;
        if (opcode == 8) {
            ws->close_code = size >= 2 ? ws->frame[0] << 8 | ws->frame[1] : 1005;
            return false;
        }
        if (opcode == 9 && size < 126) answer_ping(ws, size);
        if (opcode != 2) continue;
        flr_error error;
        assert_ok(flr_protocol_decode(ws->frame, size, FLR_TO_CLIENT, ws->room,
                                      FLR_PROTOCOL_CAPACITY(ws->capacity), message, &error),
                  error);
        return true;
    }
}

void flr_test_ws_expect(flr_test_ws *ws, uint16_t id, flr_message *message)
{
    while (flr_test_ws_receive(ws, PATIENCE_MS * 1e-3, message)) {
        if (message->id == id) return;
        if (message->id == FLR_MSG_ERROR || message->id == FLR_MSG_BYE) {
            const flr_wire_text *sentence = message->id == FLR_MSG_ERROR
                                                ? &message->as.error.sentence
                                                : &message->as.bye.sentence;
            fail_msg("%s in place of message %u", sentence->size ? sentence->bytes : "?", id);
        }
    }
    fail_msg("message %u did not come", id);
}

void flr_test_ws_hello(flr_test_ws *ws, uint8_t role, uint32_t abilities, const char *token)
{
    flr_message hello = {.id = FLR_MSG_HELLO}, welcome;
    hello.as.hello.role = role;
    hello.as.hello.abilities = abilities;
    hello.as.hello.name = flr_wire_text_of("test");
    hello.as.hello.token = flr_wire_text_of(token ? token : "");
    assert_true(flr_test_ws_send_message(ws, &hello));
    flr_test_ws_expect(ws, FLR_MSG_WELCOME, &welcome);
}
