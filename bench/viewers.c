/* viewers in a process of their own: what is wanted of them and what they have seen lies in memory that both share */
#include "bench/viewers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol/codec.h"

enum {
    NICE = 5,
    BUFFER = 1 << 21,
    BENCH_VIEWERS_SMALL = 4096,
    BENCH_VIEWERS_COARSE = 20000,
    PATIENCE_S = 5
};

/* both processes' */
typedef struct board {
    atomic_uint port, wanted, stalled, there;
    atomic_ullong states, lost;
} board;

struct flr_viewers {
    pid_t process;
    board *shared;
};

/* one of them */
typedef struct viewer {
    int socket; /* -1: not connected */
    bool stalled;
    uint8_t *bytes; /* [BUFFER] that have come and make no whole frame yet */
    size_t size;
} viewer;

/* ---- talking ---- */

static bool send_all(int s, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(s, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* All that is said is short. A mask of zeros leaves the bytes as they are. */
static bool say(int s, const flr_message *message)
{
    uint8_t frame[1024] = {0x82};
    size_t size;
    if (flr_protocol_encode(message, FLR_PROTOCOL_MINOR, frame + 8, sizeof frame - 8, &size, NULL))
        return false;
    if (size < 126) {
        frame[2] = 0x82, frame[3] = (uint8_t)(0x80 | size);
        memset(frame + 4, 0, 4);
        return send_all(s, frame + 2, size + 6);
    }
    frame[1] = 0x80 | 126, frame[2] = (uint8_t)(size >> 8), frame[3] = (uint8_t)size;
    return send_all(s, frame, size + 8);
}

/* The answer to the request that makes a WebSocket; nothing behind it is taken. */
static bool opened(int s)
{
    char head[4096];
    size_t size = 0;
    while (size < sizeof head - 1) {
        if (recv(s, head + size, 1, 0) != 1) return false;
        head[++size] = 0;
        if (size >= 4 && !memcmp(head + size - 4, "\r\n\r\n", 4))
            return !strncmp(head, "HTTP/1.1 101", 12);
    }
    return false;
}

static bool introduce(int s)
{
    static const char request[] =
        "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    flr_message hello = {.id = FLR_MSG_HELLO}, watch = {.id = FLR_MSG_WATCH, .request = 1};
    hello.as.hello.role = FLR_WIRE_ROLE_VIEWER;
    hello.as.hello.abilities = UINT32_MAX;
    hello.as.hello.name = flr_wire_text_of("benchmark");
    hello.as.hello.token = flr_wire_text_of("");
    watch.as.watch.wants = FLR_WIRE_WANT_STATE | FLR_WIRE_WANT_CONTACTS | FLR_WIRE_WANT_PROXIMITY |
                           FLR_WIRE_WANT_VOXELS | FLR_WIRE_WANT_JOBS | FLR_WIRE_WANT_EVENTS;
    watch.as.watch.state_rate = 60;
    return send_all(s, (const uint8_t *)request, sizeof request - 1) && opened(s) &&
           say(s, &hello) && say(s, &watch);
}

static bool join(viewer *v, uint16_t port)
{
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0) return false;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct timeval patience = {.tv_sec = PATIENCE_S};
    int small = BENCH_VIEWERS_SMALL; /* so that the other side notices soon that nobody reads */
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (v->stalled) setsockopt(s, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    if (connect(s, (struct sockaddr *)&to, sizeof to) != 0 || !introduce(s) ||
        fcntl(s, F_SETFL, O_NONBLOCK) != 0) {
        close(s);
        return false;
    }
    v->socket = s;
    v->size = 0;
    return true;
}

static void leave(viewer *v)
{
    if (v->socket >= 0) close(v->socket);
    v->socket = -1;
}

/* ---- reading ---- */

/* A new part's mesh is asked for, as the page does. */
static void look_at(viewer *v, board *b, const uint8_t *frame, size_t size)
{
    flr_protocol_head head;
    if (flr_protocol_read_head(frame, size, &head, NULL) != FLR_OK) return;
    if (head.id == FLR_MSG_STATE) atomic_fetch_add(&b->states, 1);
    uint8_t room[FLR_PROTOCOL_CAPACITY(1024)];
    flr_message part, ask = {.id = FLR_MSG_MESH_ASK, .request = 2};
    if (head.id != FLR_MSG_PART || size > 1024 ||
        flr_protocol_decode(frame, size, FLR_TO_CLIENT, room, sizeof room, &part, NULL) != FLR_OK)
        return;
    ask.as.mesh_ask.mesh = part.as.part.mesh;
    ask.as.mesh_ask.triangles = BENCH_VIEWERS_COARSE;
    say(v->socket, &ask);
}

/* Takes whole frames from what has come; the rest moves to the front. False: the controller has ended it. */
static bool take_frames(viewer *v, board *b)
{
    size_t at = 0;
    while (v->size - at >= 2) {
        const uint8_t *head = v->bytes + at;
        size_t size = head[1] & 0x7F, more = size == 126 ? 2 : size == 127 ? 8 : 0;
        if (v->size - at < 2 + more) break;
        if (more) size = 0;
        for (size_t i = 0; i < more; i++) size = size << 8 | head[2 + i];
        if (size > BUFFER - 16) return false;
        if (v->size - at < 2 + more + size) break;
        unsigned kind = head[0] & 0x0F;
        if (kind == 8) return false;
        if (kind == 2) look_at(v, b, head + 2 + more, size);
        at += 2 + more + size;
    }
    memmove(v->bytes, v->bytes + at, v->size - at);
    v->size -= at;
    return true;
}

static bool read_some(viewer *v, board *b)
{
    ssize_t got = recv(v->socket, v->bytes + v->size, BUFFER - v->size, 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    v->size += (size_t)got;
    return got > 0 && take_frames(v, b);
}

/* ---- the process ---- */

/* As many as wanted; those that read stand before those that do not. */
static void come_and_go(viewer *all, board *b)
{
    uint32_t wanted = atomic_load(&b->wanted), stalled = atomic_load(&b->stalled), there = 0;
    for (uint32_t i = 0; i < FLR_MAX_VIEWERS; i++) {
        viewer *v = &all[i];
        bool stall = i + stalled >= wanted;
        if (i >= wanted || v->stalled != stall) leave(v);
        v->stalled = stall;
        if (i < wanted && v->socket < 0) join(v, (uint16_t)atomic_load(&b->port));
        there += v->socket >= 0;
    }
    atomic_store(&b->there, there);
}

static _Noreturn void look(board *b)
{
    viewer all[FLR_MAX_VIEWERS];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN); /* ends with its parent */
    setpriority(PRIO_PROCESS, 0, NICE);
    for (int i = 0; i < FLR_MAX_VIEWERS; i++) {
        all[i] = (viewer){.socket = -1, .bytes = malloc(BUFFER)};
        if (!all[i].bytes) _exit(1);
    }
    for (;;) {
        struct pollfd waiting[FLR_MAX_VIEWERS];
        come_and_go(all, b);
        for (int i = 0; i < FLR_MAX_VIEWERS; i++)
            waiting[i] =
                (struct pollfd){.fd = all[i].stalled ? -1 : all[i].socket, .events = POLLIN};
        poll(waiting, FLR_MAX_VIEWERS, 20);
        for (int i = 0; i < FLR_MAX_VIEWERS; i++)
            if (waiting[i].fd >= 0 && waiting[i].revents && !read_some(&all[i], b)) {
                leave(&all[i]);
                atomic_fetch_add(&b->lost, 1);
            }
    }
}

flr_result flr_viewers_create(flr_viewers **viewers, flr_error *error)
{
    flr_viewers *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for viewers");
    void *shared =
        mmap(NULL, sizeof *made->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        free(made);
        return flr_fail(error, FLR_NO_MEMORY, "no shared memory for viewers: %s", strerror(errno));
    }
    made->shared = shared;
    made->process = fork();
    if (made->process == 0) look(made->shared);
    if (made->process < 0) {
        flr_result result =
            flr_fail(error, FLR_NO_MEMORY, "cannot make a process of viewers: %s", strerror(errno));
        munmap(shared, sizeof *made->shared);
        free(made);
        return result;
    }
    *viewers = made;
    return FLR_OK;
}

void flr_viewers_destroy(flr_viewers *viewers)
{
    if (!viewers) return;
    kill(viewers->process, SIGKILL);
    while (waitpid(viewers->process, NULL, 0) < 0 && errno == EINTR) {}
    munmap(viewers->shared, sizeof *viewers->shared);
    free(viewers);
}

/* ---- the parent's side ---- */

void flr_viewers_want(flr_viewers *viewers, uint16_t port, uint32_t count, uint32_t stalled)
{
    board *b = viewers->shared;
    atomic_store(&b->port, port);
    atomic_store(&b->stalled, stalled);
    atomic_store(&b->wanted, count < FLR_MAX_VIEWERS ? count : FLR_MAX_VIEWERS);
}

bool flr_viewers_there(const flr_viewers *viewers)
{
    return atomic_load(&viewers->shared->there) == atomic_load(&viewers->shared->wanted);
}

uint64_t flr_viewers_states(const flr_viewers *viewers)
{
    return atomic_load(&viewers->shared->states);
}

uint64_t flr_viewers_lost(const flr_viewers *viewers)
{
    return atomic_load(&viewers->shared->lost);
}
