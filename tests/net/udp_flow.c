/* udp_flow: numbered, timed datagrams one way, and what came of them
 *
 *     udp_flow take ADDRESS:PORT COUNT               takes up to COUNT packets, prints what came as one line of JSON
 *     udp_flow send ADDRESS:PORT COUNT SIZE MICROS   sends COUNT of SIZE bytes, one each MICROS
 *
 * Both ends must be on one machine: they share its clock. The taker says "ready" first and stops at
 * SIGTERM, after what has come by then; or after ten minutes without a packet. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "feeler/env.h"

enum { MAX_PACKETS = 1000000, PATIENCE = 600 };

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void report(const uint8_t *came, double *delays, uint32_t count, uint32_t got,
                   uint32_t twice, uint32_t overtaken, double seconds, size_t bytes)
{
    qsort(delays, got, sizeof *delays, compare);
    double sum = 0;
    uint64_t hash = 14695981039346656037u; // which ones came
    for (uint32_t i = 0; i < got; i++) sum += delays[i];
    for (uint32_t i = 0; i < count; i++) hash = (hash ^ came[i]) * 1099511628211u;
    uint32_t alone = got - twice;
    printf("{\"wanted\": %u, \"came\": %u, \"lost\": %.4f, \"twice\": %.4f, \"overtaken\": %.4f, "
           "\"least_ms\": %.3f, \"tenth_ms\": %.3f, \"median_ms\": %.3f, \"nine_tenths_ms\": %.3f, "
           "\"mean_ms\": %.3f, \"most_ms\": %.3f, \"bytes_per_second\": %.0f, \"which\": "
           "\"%016llx\"}\n",
           count, alone, 1 - (double)alone / count, alone ? (double)twice / alone : 0,
           alone ? (double)overtaken / alone : 0, got ? delays[0] : 0, got ? delays[got / 10] : 0,
           got ? delays[got / 2] : 0, got ? delays[got * 9 / 10] : 0, got ? sum / got : 0,
           got ? delays[got - 1] : 0, seconds > 0 ? (double)bytes / seconds : 0,
           (unsigned long long)hash);
}

/* a socket with room for all that may come while this process does not run */
static int open_wide(flr_address local)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), room = 64 << 20;
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(local.port)};
    memcpy(&in.sin_addr, local.ip, 4);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    if (fd < 0 || bind(fd, (struct sockaddr *)&in, sizeof in) != 0) {
        perror("udp_flow");
        exit(1);
    }
    return fd;
}

static int take(flr_address local, uint32_t count)
{
    flr_env *env = flr_env_real();
    int fd = open_wide(local);
    uint8_t *came = calloc(count, 1);
    double *delays = malloc(2 * (size_t)count * sizeof *delays);
    if (!came || !delays) return 1;
    // arrives only while it waits, so that none comes between the look and the wait
    sigset_t blocked, open;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &open);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = stop}, NULL);
    printf("ready\n");
    fflush(stdout);
    uint32_t got = 0, twice = 0, overtaken = 0, newest = 0;
    size_t bytes = 0;
    int64_t first = 0, last = 0;
    struct pollfd wait = {fd, POLLIN, 0};
    for (bool more = true; more;) {
        more = ppoll(&wait, 1, &(struct timespec){PATIENCE, 0}, &open) > 0 && !stopped;
        uint8_t packet[2048];
        ssize_t size;
        while ((size = recv(fd, packet, sizeof packet, 0)) >= 0) {
            uint32_t number;
            int64_t sent;
            if (size < 12 || got == 2 * count) continue;
            memcpy(&number, packet, sizeof number);
            memcpy(&sent, packet + 4, sizeof sent);
            if (number >= count) continue;
            last = flr_clock_ns(env);
            if (!first) first = last;
            delays[got++] = (double)(last - sent) * 1e-6;
            bytes += (size_t)size;
            twice += came[number];
            overtaken += !came[number] && number < newest;
            came[number] = 1;
            if (number > newest) newest = number;
        }
    }
    report(came, delays, count, got, twice, overtaken, (double)(last - first) * 1e-9, bytes);
    free(came);
    free(delays);
    close(fd);
    return 0;
}

static int send_all(flr_address to, uint32_t count, size_t size, double micros)
{
    flr_env *env = flr_env_real();
    flr_socket *socket;
    flr_error error;
    if (flr_udp_open(env, (flr_address){.family = 4}, &socket, &error) != FLR_OK) {
        fprintf(stderr, "udp_flow: %s\n", error.message);
        return 1;
    }
    uint8_t packet[2048] = {0};
    int64_t begun = flr_clock_ns(env);
    for (uint32_t i = 0; i < count; i++) {
        flr_sleep_until(env, begun + (int64_t)(i * micros * 1e3));
        int64_t now = flr_clock_ns(env);
        memcpy(packet, &i, sizeof i);
        memcpy(packet + 4, &now, sizeof now);
        flr_udp_send(socket, to, packet, size, NULL);
    }
    flr_socket_close(socket);
    return 0;
}

int main(int count, char **arguments)
{
    flr_address address;
    flr_error error;
    bool takes = count == 4 && !strcmp(arguments[1], "take");
    bool sends = count == 6 && !strcmp(arguments[1], "send");
    if (!takes && !sends) {
        fprintf(stderr, "usage: udp_flow take ADDRESS:PORT COUNT\n"
                        "       udp_flow send ADDRESS:PORT COUNT SIZE MICROS\n");
        return 2;
    }
    uint32_t packets = (uint32_t)strtoul(arguments[3], NULL, 10);
    if (flr_address_parse(arguments[2], 0, &address, &error) != FLR_OK || packets < 1 ||
        packets > MAX_PACKETS) {
        fprintf(stderr, "udp_flow: a bad address or count\n");
        return 2;
    }
    if (takes) return take(address, packets);
    size_t size = strtoul(arguments[4], NULL, 10);
    if (size < 12 || size > 2048) return 2;
    return send_all(address, packets, size, strtod(arguments[5], NULL));
}
