/* a flood for a shared session: udp_flood PORT PER_SECOND SECONDS
 *
 * Sends to 127.0.0.1:PORT what somebody without the token can: noise, calls and sealed packets that are made up, and, where it
 * may listen on loopback (root), packets that others sent there, again, cut short and with a changed byte. Prints one line of
 * JSON: {"sent": N, "seconds": S, "heard": N}. */
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

#include "peer/inside.h"

enum {
    BATCH = 32,
    KEPT = 64,
    ROOM = 1500,
    PART = 1000 /* batches are sent in so many parts of a second */
};

typedef struct packet {
    uint8_t bytes[ROOM];
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

/* Keeps sealed packets to the port that did not come from us. */
static void hear(int s, uint16_t port, uint16_t own)
{
    uint8_t bytes[ROOM];
    for (int i = 0; i < 200; i++) {
        ssize_t size = recv(s, bytes, sizeof bytes, 0);
        if (size < 28) return;
        size_t head = 4u * (bytes[0] & 15u);
        if (bytes[9] != 17 || (size_t)size < head + 8) continue;
        uint16_t from = (uint16_t)(bytes[head] << 8 | bytes[head + 1]);
        uint16_t to = (uint16_t)(bytes[head + 2] << 8 | bytes[head + 3]);
        if (to != port || from == own) continue;
        packet *p = &heard[heard_count++ % KEPT];
        p->size = (size_t)size - head - 8;
        memcpy(p->bytes, bytes + head + 8, p->size);
    }
}

/* ---- what is sent ---- */

static void make(packet *p)
{
    uint64_t known = heard_count < KEPT ? heard_count : KEPT;
    uint64_t what = chance() % (known ? 6 : 3);
    if (what >= 3) { /* as it was, cut short, a byte changed */
        *p = heard[chance() % known];
        if (what == 4 && p->size > 1) p->size = 1 + chance() % (p->size - 1);
        if (what == 5) p->bytes[chance() % p->size] ^= (uint8_t)(1 + chance() % 255);
        return;
    }
    p->size = what == 1 ? FLR_HELLO_SIZE : 64 + chance() % 400;
    for (size_t i = 0; i < p->size; i += 8) {
        uint64_t bits = chance();
        memcpy(p->bytes + i, &bits, 8);
    }
    if (what == 0) return;
    memset(p->bytes, 0, 16);
    p->bytes[0] = what == 1 ? FLR_PACKET_HELLO : FLR_PACKET_SEALED;
    p->bytes[1] = FLR_PACKET_VERSION;
    if (what == 2) p->bytes[4] = (uint8_t)chance(), p->bytes[8] = (uint8_t)chance();
}

int main(int count, char **words)
{
    if (count != 4) {
        fprintf(stderr, "udp_flood PORT PER_SECOND SECONDS\n");
        return 2;
    }
    uint16_t port = (uint16_t)atoi(words[1]);
    double rate = atof(words[2]), seconds = atof(words[3]);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
                       own;
    socklen_t own_size = sizeof own;
    int s = socket(AF_INET, SOCK_DGRAM, 0), listener = listen_all();
    if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof to) != 0 ||
        getsockname(s, (struct sockaddr *)&own, &own_size) != 0) {
        perror("udp_flood");
        return 1;
    }
    static packet packets[BATCH];
    struct iovec pieces[BATCH];
    struct mmsghdr messages[BATCH];
    memset(messages, 0, sizeof messages);
    uint64_t sent = 0;
    for (double first = now(); listener >= 0 && heard_count < KEPT / 4 && now() - first < 0.6;) {
        hear(listener, port, 0);
        usleep(1000);
    }
    double begin = now();
    for (double t; (t = now() - begin) < seconds;) {
        if (listener >= 0) hear(listener, port, ntohs(own.sin_port));
        while ((double)sent < rate * t) {
            for (int i = 0; i < BATCH; i++) {
                make(&packets[i]);
                pieces[i] = (struct iovec){packets[i].bytes, packets[i].size};
                messages[i].msg_hdr = (struct msghdr){.msg_iov = &pieces[i], .msg_iovlen = 1};
            }
            if (sendmmsg(s, messages, BATCH, 0) < 0 && now() - begin > seconds) break;
            sent += BATCH;
        }
        struct timespec pause = {0, 1000000000 / PART};
        nanosleep(&pause, NULL);
    }
    printf("{\"sent\": %llu, \"seconds\": %.3f, \"heard\": %llu}\n", (unsigned long long)sent,
           now() - begin, (unsigned long long)heard_count);
    return 0;
}
