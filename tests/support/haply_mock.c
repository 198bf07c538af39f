/* the Inverse Service of a Haply Inverse3, as far as feeler speaks to it */
#include "support/haply_mock.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER_SIZE = 4096 };

static bool put(int fd, const void *bytes, size_t size)
{
    return send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool put_text(int fd, const char *text)
{
    const size_t size = strlen(text);
    uint8_t head[4] = {0x81, (uint8_t)size, 0, 0};
    size_t used = 2;
    if (size >= 126)
        head[1] = 126, head[2] = (uint8_t)(size >> 8), head[3] = (uint8_t)size, used = 4;
    return put(fd, head, used) && put(fd, text, size);
}

static bool put_state(haply_mock *m, int fd)
{
    char text[1024], place[200];
    double p[3] = {m->x, m->y, m->z};
    const int mood = m->mood;
    const unsigned turn = m->answers;
    if (mood == HAPLY_JUMPS) p[0] += turn % 2 ? 0.3 : -0.3;
    if (mood == HAPLY_FAR) p[2] = 4000;
    snprintf(place, sizeof place, "{\"x\":%.6f,\"y\":%.6f,\"z\":%.6f}", p[0], p[1], p[2]);
    if (mood == HAPLY_NAN) snprintf(place, sizeof place, "{\"x\":NaN,\"y\":1e999,\"z\":null}");
    snprintf(
        text, sizeof text,
        "{ \"session_id\" : 7, \"status\": [1, {\"note\": \"a \\\"b\\\" ]}\"}], \"inverse3\": [ "
        "{\"device_id\": \"%s\", "
        "\"state\": {\"cursor_velocity\": {\"x\":0,\"y\":0,\"z\":0}, \"cursor_position\": %s}} ], "
        "\"wireless_verse_grip\": "
        "[{\"device_id\":\"61548\",\"state\":{\"orientation\":{\"w\":0.0,\"x\":0.0,"
        "\"y\":0.0,\"z\":1.0},\"buttons\":{\"a\":%s,\"b\":false,\"c\":false}}}] }",
        mood == HAPLY_GONE ? "FFFF" : "049D", place, m->pressed ? "true" : "false");
    return put_text(fd, text);
}

static bool answer(haply_mock *m, int fd)
{
    static const uint8_t huge[10] = {0x81, 127, 0, 0, 1, 0, 0, 0, 0, 0};
    const int count = m->mood == HAPLY_FLOOD ? 50 : 1;
    if (m->mood == HAPLY_SILENT) return true;
    if (m->mood == HAPLY_JUNK) return put(fd, "\xff\xff\xff\xff lots of junk", 17);
    if (m->mood == HAPLY_HUGE) return put(fd, huge, sizeof huge);
    if (m->mood == HAPLY_PONGS) {
        uint8_t pongs[2000];
        for (size_t i = 0; i < sizeof pongs; i++) pongs[i] = i % 2 ? 0 : 0x8a;
        while (m->mood == HAPLY_PONGS && put(fd, pongs, sizeof pongs)) m->pongs++;
        return m->mood != HAPLY_PONGS;
    }
    for (int i = 0; i < count; i++)
        if (!put_state(m, fd)) return false;
    m->answers++;
    return true;
}

static double number_behind(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtod(at + strlen(name), NULL) : 1e9;
}

/* all whole frames that have come; false: the client is gone */
static bool take(haply_mock *m, int fd, uint8_t *bytes, size_t *used)
{
    while (*used >= 6) {
        size_t size = bytes[1] & 127, at = 2;
        if (size == 126) size = (size_t)bytes[2] << 8 | bytes[3], at = 4;
        if (*used < at + 4 + size) return true;
        char text[BUFFER_SIZE];
        const bool pong = bytes[0] == 0x8a;
        for (size_t i = 0; i < size; i++) text[i] = (char)(bytes[at + 4 + i] ^ bytes[at + i % 4]);
        text[size] = 0;
        *used -= at + 4 + size;
        memmove(bytes, bytes + at + 4 + size, *used);
        if (pong) continue;
        if (!strstr(text, "\"device_id\":\"049D\"")) return false;
        m->fx = number_behind(text, "\"x\":");
        m->fy = number_behind(text, "\"y\":");
        m->fz = number_behind(text, "\"z\":");
        if (!answer(m, fd)) return false;
    }
    return true;
}

static void talk(haply_mock *m, int fd)
{
    static const char yes[] =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
    static const uint8_t ping[4] = {0x89, 2, 'h', 'i'};
    uint8_t bytes[BUFFER_SIZE];
    size_t used = 0;
    bool greeted = false;
    m->connections++;
    while (!m->ending) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (poll(&wait, 1, 20) <= 0) continue;
        const ssize_t got = recv(fd, bytes + used, sizeof bytes - used, 0);
        if (got <= 0) return;
        used += (size_t)got;
        if (!greeted) {
            if (!memmem(bytes, used, "\r\n\r\n", 4)) continue;
            greeted = true;
            used = 0;
            if (!put(fd, yes, sizeof yes - 1) || !put_state(m, fd) || !put(fd, ping, sizeof ping))
                return;
            continue;
        }
        if (!take(m, fd, bytes, &used)) return;
    }
}

static void *listen_to(void *context)
{
    haply_mock *m = context;
    while (!m->ending) {
        struct pollfd wait = {.fd = m->listener, .events = POLLIN};
        if (poll(&wait, 1, 20) <= 0) continue;
        const int fd = accept(m->listener, NULL, NULL), one = 1;
        if (fd < 0) continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        talk(m, fd);
        close(fd);
    }
    return NULL;
}

bool haply_mock_begin(haply_mock *m, uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    socklen_t size = sizeof at;
    const int one = 1;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    memset(m, 0, sizeof *m);
    m->y = -0.12;
    m->z = 0.16;
    m->listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(m->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(m->listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(m->listener, 4) != 0 ||
        getsockname(m->listener, (struct sockaddr *)&at, &size) != 0)
        return false;
    m->port = ntohs(at.sin_port);
    return pthread_create(&m->thread, NULL, listen_to, m) == 0;
}

void haply_mock_end(haply_mock *m)
{
    m->ending = true;
    pthread_join(m->thread, NULL);
    close(m->listener);
}
