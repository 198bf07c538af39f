/* connections of hostile and ordinary clients, plain or over TLS */
#include "network_channel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HANDSHAKE_MS = 60000 };

static SSL_CTX *context; /* NULL: plain */

void network_use_tls(void)
{
    signal(SIGPIPE, SIG_IGN); /* the library writes without MSG_NOSIGNAL */
    context = SSL_CTX_new(TLS_client_method());
    if (!context) abort();
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

/* ---- sockets ---- */

static int open_socket(uint16_t port, uint32_t address)
{
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    if (s < 0) return -1;
    /* a reset in place of a farewell: no port stays taken for a minute */
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    setsockopt(s, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(s, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    struct sockaddr_in from = {.sin_family = AF_INET}, to = {.sin_family = AF_INET};
    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + address);
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(s, (struct sockaddr *)&from, sizeof from) == 0 &&
        connect(s, (struct sockaddr *)&to, sizeof to) == 0) {
        fcntl(s, F_SETFL, fcntl(s, F_GETFL) | O_NONBLOCK);
        return s;
    }
    close(s);
    return -1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* waits until the socket is ready for what TLS asked for last; false: it is over */
static bool await_tls(const network_channel *c, int code, int milliseconds)
{
    int why = SSL_get_error(c->tls, code);
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) return false;
    struct pollfd ready = {.fd = c->socket,
                           .events = why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT};
    return poll(&ready, 1, milliseconds) > 0;
}

network_channel network_open(uint16_t port, uint32_t address)
{
    network_channel c = {.socket = open_socket(port, address)};
    if (c.socket < 0 || !context) return c;
    c.tls = SSL_new(context);
    if (!c.tls || !SSL_set_fd(c.tls, c.socket)) abort();
    double end = now() + HANDSHAKE_MS / 1e3;
    int code;
    while ((code = SSL_connect(c.tls)) != 1 && now() < end)
        if (!await_tls(&c, code, HANDSHAKE_MS)) break;
    if (code != 1) network_close(&c);
    return c;
}

void network_close(network_channel *c)
{
    if (c->tls) SSL_free(c->tls);
    if (c->socket >= 0) close(c->socket);
    *c = (network_channel){.socket = -1};
}

static bool send_piece(network_channel *c, const uint8_t *bytes, size_t size)
{
    if (!c->tls) return send(c->socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size;
    while (size > 0) {
        int sent = SSL_write(c->tls, bytes, (int)size);
        if (sent <= 0) return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

void network_send(network_channel *c, const network_case *made)
{
    size_t at = 0;
    for (unsigned i = 0; i <= made->cut_count; i++) {
        size_t end = i < made->cut_count ? made->cuts[i] : made->size;
        if (end > made->size) end = made->size;
        if (end <= at) continue;
        if (!send_piece(c, made->bytes + at, end - at)) return;
        at = end;
    }
    if (!made->half_close) return;
    if (c->tls) SSL_shutdown(c->tls);
    shutdown(c->socket, SHUT_WR);
}

int network_receive(network_channel *c, void *bytes, size_t size)
{
    if (!c->tls) return (int)recv(c->socket, bytes, size, MSG_DONTWAIT);
    return SSL_read(c->tls, bytes, (int)size);
}

int network_await(network_channel *c, void *bytes, size_t size, double seconds)
{
    for (double end = now() + seconds;;) {
        int got = network_receive(c, bytes, size);
        if (got > 0) return got;
        double left = end - now();
        if (left <= 0) return -1;
        if (c->tls) {
            if (!await_tls(c, got, (int)(left * 1000) + 1)) return -1;
        } else {
            struct pollfd ready = {.fd = c->socket, .events = POLLIN};
            if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) return -1;
            if (poll(&ready, 1, (int)(left * 1000) + 1) <= 0) return -1;
        }
    }
}

/* ---- clients that break TLS ---- */

/* the first message of a handshake, damaged or cut */
static void send_first_message(network_channel *c, uint64_t way)
{
    SSL *tls = SSL_new(context);
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    if (!tls || !in || !out) abort();
    SSL_set_bio(tls, in, out);
    SSL_set_tlsext_host_name(tls, "localhost");
    SSL_connect(tls);
    uint8_t hello[4096];
    int size = BIO_read(out, hello, sizeof hello);
    if (size > 0) {
        size_t length = (size_t)size, at = (size_t)(way / 8) % length;
        if (way & 1)
            length = at;
        else
            hello[at] ^= (uint8_t)(1u << (way / 2 % 8));
        send(c->socket, hello, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    SSL_free(tls);
}

network_channel network_open_broken(uint16_t port, uint32_t address, const network_case *made,
                                    uint64_t way)
{
    network_channel c = {.socket = -1};
    switch (way % 4) {
    case 0: /* no TLS at all */
    case 1:
        c.socket = open_socket(port, address);
        if (c.socket < 0) break;
        if (way % 4 == 0)
            network_send(&c, made);
        else
            send_first_message(&c, way / 4);
        break;
    case 2: /* bytes that are no record, where the case is cut, or at once */
        c = network_open(port, address);
        if (c.socket < 0) break;
        if (way & 4) network_send(&c, made);
        send(c.socket, made->bytes, made->size, MSG_NOSIGNAL | MSG_DONTWAIT);
        break;
    case 3: /* new keys again and again, which the other side must answer */
        c = network_open(port, address);
        if (c.socket < 0) break;
        for (uint64_t i = 0; i < 1 + way / 4 % 100; i++)
            if (!SSL_key_update(c.tls, SSL_KEY_UPDATE_REQUESTED) || !SSL_do_handshake(c.tls)) break;
        network_send(&c, made);
        break;
    }
    return c;
}

/* ---- a way over TLS for a client that knows none ---- */

static void pump(network_relay *relay, int client)
{
    network_channel c = network_open(relay->target, 0);
    uint8_t bytes[1 << 16];
    while (c.socket >= 0 && !atomic_load(&relay->stop)) {
        struct pollfd ready[2] = {{.fd = client, .events = POLLIN},
                                  {.fd = c.socket, .events = POLLIN}};
        if (!SSL_pending(c.tls) && poll(ready, 2, 100) <= 0) continue;
        if (ready[0].revents) {
            ssize_t got = recv(client, bytes, sizeof bytes, MSG_DONTWAIT);
            if (got == 0 || (got < 0 && errno != EAGAIN)) break;
            for (ssize_t at = 0; at < got;) {
                int sent = SSL_write(c.tls, bytes + at, (int)(got - at));
                if (sent > 0)
                    at += sent;
                else if (!await_tls(&c, sent, HANDSHAKE_MS))
                    break;
            }
        }
        int got = network_receive(&c, bytes, sizeof bytes);
        if (got > 0 && send(client, bytes, (size_t)got, MSG_NOSIGNAL) != got) break;
        if (got <= 0 && SSL_get_error(c.tls, got) != SSL_ERROR_WANT_READ) break;
    }
    network_close(&c);
}

static void *run_relay(void *of)
{
    network_relay *relay = of;
    atomic_store(&relay->id, (int)gettid());
    while (!atomic_load(&relay->stop)) {
        struct pollfd ready = {.fd = relay->listener, .events = POLLIN};
        if (poll(&ready, 1, 100) <= 0) continue;
        int client = accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0) continue;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        pump(relay, client);
        close(client);
    }
    return NULL;
}

bool network_relay_begin(network_relay *relay, uint16_t target)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    relay->target = target;
    relay->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (relay->listener < 0 || bind(relay->listener, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(relay->listener, 4) != 0 ||
        getsockname(relay->listener, (struct sockaddr *)&at, &size) != 0)
        return false;
    relay->port = ntohs(at.sin_port);
    return pthread_create(&relay->thread, NULL, run_relay, relay) == 0;
}

void network_relay_end(network_relay *relay)
{
    atomic_store(&relay->stop, true);
    pthread_join(relay->thread, NULL);
    close(relay->listener);
}
