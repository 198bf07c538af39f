/* network_channel.h: connections of hostile and ordinary clients, plain or over TLS */
#ifndef FLR_NETWORK_CHANNEL_H
#define FLR_NETWORK_CHANNEL_H

#include <pthread.h>
#include <stdatomic.h>

#include "network_cases.h"

/* All channels of this process are over TLS from here on. The certificate is not verified: it is the server that is tried. */
void network_use_tls(void);

/* One connection; socket -1: there is none. */
typedef struct network_channel {
    int socket;
    struct ssl_st *tls; /* NULL: plain */
} network_channel;

/* Connects to 127.0.0.1 from 127.0.0.(1 + address). Over TLS this includes the handshake. */
network_channel network_open(uint16_t port, uint32_t address);
/* Sends what there is room for; the other side may have had enough. */
void network_send(network_channel *c, const network_case *made);
/* Takes what has come, without waiting; less than 1: nothing. */
int network_receive(network_channel *c, void *bytes, size_t size);
/* Waits up to `seconds` for more; then as above. */
int network_await(network_channel *c, void *bytes, size_t size, double seconds);
void network_close(network_channel *c);

/* Sends the case over TLS as a client that breaks TLS itself, in one of several ways chosen by `way`: without TLS, with a damaged
 * or cut first message, with bytes that are no record behind the handshake, with many changes of keys. */
network_channel network_open_broken(uint16_t port, uint32_t address, const network_case *made,
                                    uint64_t way);

/* A port of this process that leads to `port` over TLS, for one client at a time that knows no TLS. */
typedef struct network_relay {
    uint16_t port;
    int listener;
    uint16_t target;
    pthread_t thread;
    atomic_int id; /* of the thread, once it runs */
    atomic_bool stop;
} network_relay;
bool network_relay_begin(network_relay *relay, uint16_t target);
void network_relay_end(network_relay *relay);

#endif
