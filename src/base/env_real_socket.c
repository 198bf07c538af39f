/* env: the real machine's sockets */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"

typedef struct real_socket {
    flr_socket base;
    int fd;
} real_socket;

static int descriptor(const flr_socket *socket) { return ((const real_socket *)socket)->fd; }

typedef union any_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
} any_address;

static int to_system(flr_address address, any_address *system, socklen_t *size)
{
    memset(system, 0, sizeof *system);
    if (address.family == 4) {
        system->v4.sin_family = AF_INET;
        system->v4.sin_port = htons(address.port);
        memcpy(&system->v4.sin_addr, address.ip, 4);
        *size = sizeof system->v4;
        return 0;
    }
    if (address.family == 6) {
        system->v6.sin6_family = AF_INET6;
        system->v6.sin6_port = htons(address.port);
        memcpy(&system->v6.sin6_addr, address.ip, 16);
        *size = sizeof system->v6;
        return 0;
    }
    return EAFNOSUPPORT;
}

static flr_address from_system(const any_address *system)
{
    flr_address address;
    memset(&address, 0, sizeof address);
    if (system->any.sa_family == AF_INET) {
        address.family = 4;
        address.port = ntohs(system->v4.sin_port);
        memcpy(address.ip, &system->v4.sin_addr, 4);
    } else if (system->any.sa_family == AF_INET6) {
        address.family = 6;
        address.port = ntohs(system->v6.sin6_port);
        memcpy(address.ip, &system->v6.sin6_addr, 16);
    }
    return address;
}

static void set_option(int fd, int level, int option, int value)
{
    // none of ours is needed for correct work, so a refusal does no harm
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

/* wraps a descriptor, which is closed on failure */
static int wrap(int fd, flr_socket **socket)
{
    real_socket *made = malloc(sizeof *made);
    if (!made) {
        close(fd);
        return ENOMEM;
    }
    any_address local;
    socklen_t size = sizeof local;
    memset(&local, 0, sizeof local);
    (void)getsockname(fd, &local.any, &size);
    made->fd = fd;
    made->base.local = from_system(&local);
    *socket = &made->base;
    return 0;
}

static int new_descriptor(flr_address address, int type, int *fd)
{
    if (address.family != 4 && address.family != 6) return EAFNOSUPPORT;
    int domain = address.family == 4 ? AF_INET : AF_INET6;
    *fd = socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0) return errno;
    // one family per socket, so that a peer has one address and not also its mapped form
    if (domain == AF_INET6) set_option(*fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    return 0;
}

static int bind_to(int fd, flr_address local)
{
    any_address system;
    socklen_t size;
    int code = to_system(local, &system, &size);
    if (code) return code;
    return bind(fd, &system.any, size) == 0 ? 0 : errno;
}

/* ---- udp ---- */

int flr_real_udp_open(flr_env *env, flr_address local, flr_socket **socket)
{
    (void)env;
    int fd;
    int code = new_descriptor(local, SOCK_DGRAM, &fd);
    if (code) return code;
    // what comes while nobody reads waits here; the system gives less where it allows less
    int room = 4 << 20;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    code = bind_to(fd, local);
    if (code) {
        close(fd);
        return code;
    }
    return wrap(fd, socket);
}

int flr_real_udp_send(flr_socket *socket, flr_address to, const void *bytes, size_t count)
{
    any_address system;
    socklen_t size;
    int code = to_system(to, &system, &size);
    if (code) return code;
    ssize_t sent;
    do {
        sent = sendto(descriptor(socket), bytes, count, MSG_NOSIGNAL, &system.any, size);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0) return 0;
    return errno == ENOBUFS || errno == EWOULDBLOCK ? EAGAIN : errno;
}

int flr_real_udp_receive(flr_socket *socket, flr_address *from, void *bytes, size_t capacity,
                         size_t *got)
{
    for (;;) {
        any_address system;
        memset(&system, 0, sizeof system);
        socklen_t size = sizeof system;
        // with MSG_TRUNC the true length comes back, also where the buffer is too small
        ssize_t length =
            recvfrom(descriptor(socket), bytes, capacity, MSG_TRUNC, &system.any, &size);
        if (length < 0 && errno == EINTR) continue;
        if (length < 0) return errno == EWOULDBLOCK ? EAGAIN : errno;
        if ((size_t)length > capacity) {
            socket->dropped++;
            continue;
        }
        *from = from_system(&system);
        *got = (size_t)length;
        return 0;
    }
}

/* ---- tcp ---- */

int flr_real_tcp_listen(flr_env *env, flr_address local, flr_socket **socket)
{
    (void)env;
    enum { BACKLOG = 64 };
    int fd;
    int code = new_descriptor(local, SOCK_STREAM, &fd);
    if (code) return code;
    // a controller that is started again must get its port back at once
    set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    code = bind_to(fd, local);
    if (!code && listen(fd, BACKLOG) != 0) code = errno;
    if (code) {
        close(fd);
        return code;
    }
    return wrap(fd, socket);
}

void flr_real_socket_close(flr_socket *socket)
{
    close(descriptor(socket));
    free(socket);
}

/* ---- waiting ---- */

static int poll_until(flr_env *env, struct pollfd *polls, size_t count, int64_t deadline_ns)
{
    for (;;) {
        int64_t left = deadline_ns - flr_clock_ns(env);
        if (deadline_ns <= 0 || left < 0) left = 0;
        struct timespec timeout = {.tv_sec = (time_t)(left / 1000000000),
                                   .tv_nsec = (long)(left % 1000000000)};
        int ready = ppoll(polls, (nfds_t)count, &timeout, NULL);
        if (ready > 0) return 0;
        if (ready < 0 && errno != EINTR) return errno;
        if (flr_clock_ns(env) >= deadline_ns) return ETIMEDOUT;
    }
}

int flr_real_wait(flr_env *env, flr_wait *waits, size_t count, int64_t deadline_ns)
{
    struct pollfd few[32], *polls = few;
    if (count > sizeof few / sizeof *few) {
        polls = calloc(count, sizeof *polls);
        if (!polls) return ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        polls[i].fd = descriptor(waits[i].socket);
        polls[i].events = (short)((waits[i].wanted & FLR_WAIT_READ ? POLLIN : 0) |
                                  (waits[i].wanted & FLR_WAIT_WRITE ? POLLOUT : 0));
        polls[i].revents = 0;
    }
    int code = poll_until(env, polls, count, deadline_ns);
    for (size_t i = 0; i < count; i++) {
        unsigned ready = (polls[i].revents & POLLIN ? FLR_WAIT_READ : 0u) |
                         (polls[i].revents & POLLOUT ? FLR_WAIT_WRITE : 0u);
        // an error or a hang-up wakes up everybody, so that the next call finds out
        if (polls[i].revents & (POLLERR | POLLHUP | POLLNVAL))
            ready = FLR_WAIT_READ | FLR_WAIT_WRITE;
        waits[i].ready = code ? 0 : ready & waits[i].wanted;
    }
    if (polls != few) free(polls);
    return code;
}
