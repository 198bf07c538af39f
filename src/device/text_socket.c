/* a client for the service of a device: WebSocket over a local connection */
#include "device/text_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "feeler/env.h"

enum {
    SPARE = 64,
    TEXT_FRAME = 1,
    BINARY_FRAME = 2,
    CLOSE_FRAME = 8,
    PING_FRAME = 9,
    PONG_FRAME = 10
};

static int64_t now_ms(void) { return flr_clock_ns(flr_env_real()) / 1000000; }

/* Waits until it can be read or written. False: not in time. */
static bool await(int fd, short events, int64_t until_ms)
{
    for (;;) {
        const int64_t left = until_ms - now_ms();
        struct pollfd wait = {.fd = fd, .events = events};
        const int ready = poll(&wait, 1, left > 0 ? (int)left : 0);
        if (ready > 0) return true;
        if (ready == 0 || errno != EINTR) return false;
    }
}

static bool send_all(int fd, const void *bytes, size_t size)
{
    const int64_t until = now_ms() + 1000;
    for (size_t sent = 0; sent < size;) {
        const ssize_t now = send(fd, (const char *)bytes + sent, size - sent, MSG_NOSIGNAL);
        if (now > 0) sent += (size_t)now;
        if (now > 0 || (now < 0 && errno == EINTR)) continue;
        if (now == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) return false;
        if (!await(fd, POLLOUT, until)) return false;
    }
    return true;
}

/* ---- opening ---- */

static flr_result reach(flr_text_socket *s, const char *host, uint16_t port, int64_t until,
                        flr_error *error)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET, host, &to.sin_addr) != 1)
        return flr_fail(error, FLR_BAD_ARGUMENT, "host=%s is no IPv4 address", host);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0) return flr_fail(error, FLR_IO, "no socket: %s", strerror(errno));
    int why = connect(s->fd, (const struct sockaddr *)&to, sizeof to) == 0 ? 0 : errno;
    if (why == EINPROGRESS) {
        socklen_t size = sizeof why;
        why = ETIMEDOUT;
        if (await(s->fd, POLLOUT, until) &&
            getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &why, &size) != 0)
            why = errno;
    }
    if (why)
        return flr_fail(error, FLR_NOT_FOUND, "nobody answers at %s:%u (%s)", host, port,
                        strerror(why));
    const int one = 1; /* a message is small, and somebody feels how late it is */
    (void)setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return FLR_OK;
}

/* Asks to speak WebSocket, and reads up to the end of the answer's head. What follows it stays. */
static bool shake_hands(flr_text_socket *s, const char *host, uint16_t port, int64_t until)
{
    char ask[256];
    const int size = snprintf(ask, sizeof ask,
                              "GET / HTTP/1.1\r\nHost: %s:%u\r\nUpgrade: websocket\r\nConnection: "
                              "Upgrade\r\nSec-WebSocket-Key: ZmVlbGVyIGRldmljZSAhIQ==\r\n"
                              "Sec-WebSocket-Version: 13\r\n\r\n",
                              host, port);
    if (!send_all(s->fd, ask, (size_t)size)) return false;
    for (;;) {
        const uint8_t *end = memmem(s->bytes, s->used, "\r\n\r\n", 4);
        if (end) {
            if (s->used < 12 || memcmp(s->bytes, "HTTP/1.1 101", 12) != 0) return false;
            s->used -= (size_t)(end + 4 - s->bytes);
            memmove(s->bytes, end + 4, s->used);
            return true;
        }
        if (s->used >= 8192 || !await(s->fd, POLLIN, until)) return false;
        const ssize_t got = recv(s->fd, s->bytes + s->used, 8192 - s->used, 0);
        if (got <= 0 && errno != EINTR && errno != EAGAIN) return false;
        if (got == 0) return false;
        if (got > 0) s->used += (size_t)got;
    }
}

flr_result flr_text_socket_open(flr_text_socket *s, const char *host, uint16_t port,
                                int patience_ms, flr_error *error)
{
    *s = (flr_text_socket){.fd = -1};
    const int64_t until = now_ms() + patience_ms;
    s->bytes = malloc(FLR_TEXT_SOCKET_MAX + SPARE);
    s->message = malloc(FLR_TEXT_SOCKET_MAX + 1);
    flr_result result = s->bytes && s->message ? FLR_OK : flr_fail_memory(error);
    if (result == FLR_OK) result = reach(s, host, port, until, error);
    if (result == FLR_OK && !shake_hands(s, host, port, until))
        result = flr_fail(error, FLR_IO, "what listens at %s:%u speaks no WebSocket", host, port);
    if (result == FLR_OK && getrandom(&s->mask, sizeof s->mask, 0) != sizeof s->mask) s->mask = 1;
    if (result != FLR_OK) flr_text_socket_close(s);
    return result;
}

void flr_text_socket_close(flr_text_socket *s)
{
    if (s->fd >= 0) close(s->fd);
    free(s->bytes);
    free(s->message);
    *s = (flr_text_socket){.fd = -1};
}

/* ---- messages ---- */

static bool send_frame(flr_text_socket *s, unsigned kind, const void *payload, size_t size)
{
    uint8_t frame[2048];
    if (size + 8 > sizeof frame) return false;
    size_t at = 0;
    frame[at++] = (uint8_t)(0x80 | kind);
    if (size < 126) {
        frame[at++] = (uint8_t)(0x80 | size);
    } else {
        frame[at++] = 0x80 | 126;
        frame[at++] = (uint8_t)(size >> 8);
        frame[at++] = (uint8_t)size;
    }
    /* masks are against proxies that take messages for requests; here is none, so any will do */
    uint8_t mask[4];
    s->mask = s->mask * 1664525u + 1013904223u;
    memcpy(mask, &s->mask, sizeof mask);
    memcpy(frame + at, mask, sizeof mask);
    at += sizeof mask;
    for (size_t i = 0; i < size; i++) frame[at + i] = ((const uint8_t *)payload)[i] ^ mask[i % 4];
    return send_all(s->fd, frame, at + size);
}

bool flr_text_socket_send(flr_text_socket *s, const char *text, size_t size)
{
    return send_frame(s, TEXT_FRAME, text, size);
}

/* A frame from what has come. 1: a message is whole; 0: more is needed, or it was none for us; -1: nonsense, or the end. */
static int take_frame(flr_text_socket *s, bool *more)
{
    *more = false;
    if (s->used < 2) return 0;
    const unsigned kind = s->bytes[0] & 15;
    const bool last = s->bytes[0] & 0x80;
    size_t at = 2;
    uint64_t size = s->bytes[1] & 127;
    if (s->bytes[0] & 0x70 || s->bytes[1] & 0x80)
        return -1; /* extensions; a mask, which servers do not use */
    if (size >= 126) {
        const size_t wide = size == 126 ? 2 : 8;
        if (s->used < at + wide) return 0;
        size = 0;
        for (size_t i = 0; i < wide; i++) size = size << 8 | s->bytes[at++];
    }
    if (size > FLR_TEXT_SOCKET_MAX || (kind >= CLOSE_FRAME && (size > 125 || !last))) return -1;
    if (s->used < at + size) return 0;
    int result = 0;
    if (kind == CLOSE_FRAME || (kind > BINARY_FRAME && kind < CLOSE_FRAME) || kind > PONG_FRAME) {
        result = -1;
    } else if (kind == PING_FRAME) {
        if (!send_frame(s, PONG_FRAME, s->bytes + at, (size_t)size)) result = -1;
    } else if (kind != PONG_FRAME) {
        if (kind != 0) s->size = 0; /* 0: goes on */
        if (s->size + size > FLR_TEXT_SOCKET_MAX) return -1;
        memcpy(s->message + s->size, s->bytes + at, (size_t)size);
        s->size += (size_t)size;
        s->message[s->size] = 0;
        result = last ? 1 : 0;
    }
    s->used -= at + (size_t)size;
    memmove(s->bytes, s->bytes + at + size, s->used);
    *more = true;
    return result;
}

int flr_text_socket_receive(flr_text_socket *s, int patience_ms, int wake)
{
    const int64_t until = now_ms() + patience_ms;
    for (bool first = true;; first = false) {
        bool more = true;
        while (more) {
            const int taken = take_frame(s, &more);
            if (taken) return taken;
        }
        const int64_t left = until - now_ms();
        if (left <= 0 && !first) return 0; /* also where frames that are no message never end */
        struct pollfd wait[2] = {{.fd = s->fd, .events = POLLIN}, {.fd = wake, .events = POLLIN}};
        const int ready = poll(wait, 2, left > 0 ? (int)left : 0);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0 || wait[1].revents) return ready < 0 ? -1 : 0;
        const ssize_t got =
            recv(s->fd, s->bytes + s->used, FLR_TEXT_SOCKET_MAX + SPARE - s->used, 0);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return -1;
        if (got > 0) s->used += (size_t)got;
    }
}
