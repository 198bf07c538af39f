/* a flood for a shared session: udp_flood PORT PER_SECOND SECONDS [mixed|calls|sealed]
 *
 * Sends to 127.0.0.1:PORT what somebody without the token can. It listens on loopback first, where it may (root).
 *   mixed    noise, calls and sealed packets that are made up; packets that others sent there, again, cut short and with a changed
 *            byte. The default
 *   calls    HELLO, right in all but its seal
 *   sealed   packets of the connection of somebody who was heard, with numbers that are still to come: right in all but their seals;
 *            where nobody is heard, of connections that are none
 * Prints one line of JSON: {"sent": N, "seconds": S, "heard": N, "drops": N}; drops is what the system threw away because the
 * receiver's buffer was full, from /proc/net/udp, or -1. */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "net/net_internal.h"

enum {
    BATCH = 32,
    KEPT = 64,
    CAPACITY = 1500,
    PART = 1000 /* batches are sent in so many parts of a second */
};

typedef struct packet {
    uint8_t bytes[CAPACITY];
    size_t size;
} packet;

static uint64_t chance_state = 88172645463325252u;
static uint64_t chance(void)
{
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 7;
    chance_state ^= chance_state << 17;
    return chance_state;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what others send ---- */

static packet heard[KEPT];
static uint64_t heard_count;

static int listen_all(void)
{
    struct sockaddr_ll at = {.sll_family = AF_PACKET,
                             .sll_protocol = htons(ETH_P_IP),
                             .sll_ifindex = (int)if_nametoindex("lo")};
    int s = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK, htons(ETH_P_IP));
    if (s >= 0 && bind(s, (struct sockaddr *)&at, sizeof at) == 0) return s;
    if (s >= 0) close(s);
    return -1;
}

/* Keeps packets to the port. */
static void hear(int s, uint16_t port)
{
    uint8_t bytes[CAPACITY];
    for (int i = 0; i < 200; i++) {
        ssize_t size = recv(s, bytes, sizeof bytes, 0);
        if (size < 28) return;
        size_t head = 4u * (bytes[0] & 15u);
        if (bytes[9] != 17 || (size_t)size < head + 8) continue;
        uint16_t to = (uint16_t)(bytes[head + 2] << 8 | bytes[head + 3]);
        if (to != port) continue;
        packet *p = &heard[heard_count++ % KEPT];
        p->size = (size_t)size - head - 8;
        memcpy(p->bytes, bytes + head + 8, p->size);
    }
}

/* ---- what is sent ---- */

static void fill(packet *p, size_t size)
{
    p->size = size;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t bits = chance();
        memcpy(p->bytes + i, &bits, 8);
    }
}

static void make_mixed(packet *p)
{
    uint64_t known = heard_count < KEPT ? heard_count : KEPT;
    uint64_t what = chance() % (known ? 6 : 3);
    if (what >= 3) { /* as it was, cut short, a byte changed */
        *p = heard[chance() % known];
        if (what == 4 && p->size > 1) p->size = 1 + chance() % (p->size - 1);
        if (what == 5) p->bytes[chance() % p->size] ^= (uint8_t)(1 + chance() % 255);
        return;
    }
    fill(p, what == 1 ? FLR_HELLO_SIZE : 64 + chance() % 400);
    if (what == 0) return;
    flr_packet_head(p->bytes, what == 1 ? FLR_PACKET_HELLO : FLR_PACKET_SEALED, 0, 0);
    if (what == 2) p->bytes[4] = (uint8_t)chance(), p->bytes[8] = (uint8_t)chance();
}

/* Another seal, and nothing else: some bytes behind the head. */
static void make_call(packet *p)
{
    if (!p->size) {
        fill(p, FLR_HELLO_SIZE);
        flr_packet_head(p->bytes, FLR_PACKET_HELLO, 0, 0);
    }
    flr_put_u64(p->bytes + FLR_PACKET_HEAD, chance());
}

/* A connection that somebody was heard on, and a number that its window does not have; far ahead, where also the key is another. */
static void make_sealed(packet *p)
{
    static uint64_t count;
    count++;
    uint64_t known = heard_count < KEPT ? heard_count : KEPT;
    if (!p->size) {
        fill(p, 64 + chance() % 400);
        flr_packet_head(p->bytes, FLR_PACKET_SEALED, (uint32_t)chance(), chance());
        for (uint64_t i = 0; i < known; i++)
            if (heard[i].bytes[0] == FLR_PACKET_SEALED) *p = heard[i];
    }
    flr_put_u64(p->bytes + 8, (count % 2 ? 100000 : FLR_SEAL_EPOCH) + count % 100000);
}

typedef struct kind {
    const char *name;
    void (*make)(packet *p);
} kind;

static const kind kinds[] = {{"mixed", make_mixed}, {"calls", make_call}, {"sealed", make_sealed}};

static const kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}

/* What the receiver's buffer had no room for, since its socket was opened. */
static long long drops(uint16_t port)
{
    char connection[512];
    long long found = -1, lost;
    unsigned at;
    FILE *file = fopen("/proc/net/udp", "r");
    while (file && fgets(connection, sizeof connection, file))
        if (sscanf(connection,
                   " %*d: %*x:%x %*x:%*x %*x %*x:%*x %*x:%*x %*x %*d %*d %*d %*d %*s %lld", &at,
                   &lost) == 2 &&
            at == port)
            found = lost;
    if (file) fclose(file);
    return found;
}

static uint64_t send_for(int s, const kind *what, double rate, double seconds)
{
    static packet packets[BATCH];
    struct iovec pieces[BATCH];
    struct mmsghdr messages[BATCH];
    memset(messages, 0, sizeof messages);
    uint64_t sent = 0;
    for (double begin = now(), t; (t = now() - begin) < seconds;) {
        while ((double)sent < rate * t) {
            for (int i = 0; i < BATCH; i++) {
                what->make(&packets[i]);
                pieces[i] = (struct iovec){packets[i].bytes, packets[i].size};
                messages[i].msg_hdr = (struct msghdr){.msg_iov = &pieces[i], .msg_iovlen = 1};
            }
            int went = sendmmsg(s, messages, BATCH, 0);
            if (went > 0) sent += (uint64_t)went;
            if (now() - begin > seconds) break;
        }
        struct timespec pause = {0, 1000000000 / PART};
        nanosleep(&pause, NULL);
    }
    return sent;
}

int main(int count, char **words)
{
    const kind *what = find_kind(count == 5 ? words[4] : "mixed");
    if (count < 4 || count > 5 || !what) {
        fprintf(stderr, "udp_flood PORT PER_SECOND SECONDS [mixed|calls|sealed]\n");
        return 2;
    }
    uint16_t port = (uint16_t)atoi(words[1]);
    double rate = atof(words[2]), seconds = atof(words[3]);
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_DGRAM, 0), listener = listen_all();
    if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof to) != 0) {
        perror("udp_flood");
        return 1;
    }
    for (double first = now(); listener >= 0 && heard_count < KEPT / 4 && now() - first < 0.6;) {
        hear(listener, port);
        usleep(1000);
    }
    // a socket that listens gets a copy of each packet, the own ones too, and would send half as many
    if (listener >= 0) close(listener);
    long long before = drops(port);
    double begin = now();
    uint64_t sent = send_for(s, what, rate, seconds);
    double took = now() - begin;
    printf("{\"sent\": %llu, \"seconds\": %.3f, \"heard\": %llu, \"drops\": %lld}\n",
           (unsigned long long)sent, took, (unsigned long long)heard_count,
           before < 0 ? -1 : drops(port) - before);
    return 0;
}
