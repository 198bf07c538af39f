/* connections.h: one UDP socket with sealed connections to other controllers
 *
 * A connection joins two controllers that know the same token. It carries states (small, sent once, may be lost) and messages (up to
 * 64 KiB each, exactly once, in order), all of it encrypted; it measures delay, loss and how far the other's clock is from
 * ours. Whoever lacks the token gets no answer at all. docs/collaboration.md has the packets, the handshake and what is
 * protected against whom.
 *
 * Nothing here waits and nothing runs by itself. The owner makes steps:
 *
 *     flr_connections_event event;
 *     while (flr_connections_next(connections, &event)) ...        takes packets from the socket, says what came
 *     ... flr_connections_state(), flr_connections_send() ...
 *     wake = flr_connections_service(connections);                 sends what is due; says when to make the next step
 *
 * and waits between two steps until flr_clock_ns() is `wake` or flr_connections_socket() is ready for reading, so it runs under
 * flr_sim_run() as it does on a real machine. All chance comes from the env: a simulation gives the same bits again.
 *
 * Connections have numbers that are never 0 and hardly ever come again. A function that gets the number of a connection that is
 * gone does nothing and returns FLR_CLOSED.
 *
 * Thread: control; one thread at a time. Not RT safe. */
#ifndef FLR_NET_CONNECTIONS_H
#define FLR_NET_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"

enum {
    FLR_CONNECTIONS_HELLO =
        512, /* bytes at most that each side tells of itself when a connection opens */
    FLR_CONNECTIONS_STATE =
        1152, /* of one state: with all around it, one packet that fits everywhere */
    FLR_CONNECTIONS_MESSAGE = 65536, /* of one message */
    FLR_CONNECTIONS_WHY = 200,       /* of the reason given to flr_connections_close() */
    FLR_CONNECTIONS_MIN_TOKEN = 16,  /* characters of a token */
    FLR_CONNECTIONS_MAX_TOKEN = 256,
    FLR_MAX_CONNECTIONS = 128
};

typedef struct flr_connections flr_connections;

typedef struct flr_connections_def {
    flr_env *env;      /* borrowed; not NULL */
    flr_address local; /* where to be reached; port 0: any */
    /* FLR_CONNECTIONS_MIN_TOKEN to FLR_CONNECTIONS_MAX_TOKEN characters, not NULL. Made into a key at once, not kept. It is not stretched: use one made
     * by chance, as flr_access_make_token() does. */
    const char *token;
    uint32_t
        most; /* connections at the same time, open or in the handshake; 1 to FLR_MAX_CONNECTIONS; 64 */
    double keepalive; /* s without having sent anything, then an empty packet goes out; 0.25 */
    double silence;   /* s without hearing anything, then a connection is closed; 2.5 */
    double patience;  /* s that HELLO is repeated before a handshake is given up; 10 */
    double
        bandwidth; /* bytes/s of packets sent, all connections together; 0: no bound. States always go
                         out, messages wait */
    size_t
        queue; /* bytes of messages that a connection holds until they are acknowledged, and that the
                         other may have under way to us; at least 2 * FLR_CONNECTIONS_MESSAGE; 1 MiB */
    uint32_t
        handshakes; /* handshakes per second that are looked at closely, of all initiators together; 64 */
} flr_connections_def;

/* All but env, local and token. */
flr_connections_def flr_default_connections_def(void);

/* Opens the socket. FLR_BAD_ARGUMENT: the token is too short, too long or holds other than printable ASCII characters (the
 * sentence never holds it), or a value is out of range. */
flr_result flr_connections_create(const flr_connections_def *def, flr_connections **connections,
                                  flr_error *error);

/* Tells all others goodbye (once, unreliably), wipes the keys, frees. NULL allowed. */
void flr_connections_destroy(flr_connections *connections);

/* Where the socket is bound, and the socket for flr_env_wait() with FLR_WAIT_READ. */
flr_address flr_connections_address(const flr_connections *connections);
flr_socket *flr_connections_socket(const flr_connections *connections);

/* This side's number, made by chance at creation; never 0. Others see it in OPEN. */
uint64_t flr_connections_self(const flr_connections *connections);

/* What this side sends to initiators; nothing at first. At most FLR_CONNECTIONS_HELLO bytes; copied. */
void flr_connections_set_hello(flr_connections *connections, const void *hello, size_t size);

/* Begins a handshake: repeats HELLO until it is answered or `patience` is over; then comes OPEN or REFUSED. `hello` (at most
 * FLR_CONNECTIONS_HELLO bytes; NULL where size is 0; copied) is what the other's OPEN will hold. Two sides that connect to each other
 * at the same moment end up with one connection: mostly under the number of the own handshake; else that one is CLOSED with
 * FLR_CONNECTIONS_REPLACED or REFUSED (`other` is then the side that a connection is open to), and another opens. Returns the connection's number; 0: `most` are in use. */
uint32_t flr_connections_connect(flr_connections *connections, flr_address address,
                                 const void *hello, size_t size);

/* ---- what came ---- */

typedef enum flr_connections_kind {
    FLR_CONNECTIONS_OPEN, /* a connection stands: both sides have proven that they know the token and live */
    FLR_CONNECTIONS_REFUSED, /* a handshake failed; `why` says it in a sentence. The number is gone */
    FLR_CONNECTIONS_CLOSED, /* a connection that was open is gone, with all that was not delivered. The number is
                          gone; the address may be tried again */
    FLR_CONNECTIONS_GOT_STATE,
    FLR_CONNECTIONS_GOT_MESSAGE
} flr_connections_kind;

typedef enum flr_connections_cause {
    FLR_CONNECTIONS_SILENCE, /* nothing heard for def.silence, or for def.patience in a handshake */
    FLR_CONNECTIONS_BYE,     /* the other closed it, or has no room; `why` is its reason */
    FLR_CONNECTIONS_REPLACED, /* another connection to the same side took its place */
    FLR_CONNECTIONS_BROKEN    /* the other broke the rules, or memory ran out; `why` says what */
} flr_connections_cause;

typedef struct flr_connections_event {
    flr_connections_kind kind;
    uint32_t connection;
    const uint8_t *bytes; /* OPEN: the other's hello; states, messages: the content. Until the next
                             flr_connections_ call that is not const; never NULL */
    size_t size;
    flr_address address; /* of the other */
    uint64_t other;      /* the other's flr_connections_self(); 0: not known (some REFUSED) */
    bool initiator;      /* OPEN: this side began the handshake */
    flr_connections_cause cause; /* REFUSED, CLOSED */
    const char *why;             /* REFUSED, CLOSED: a sentence, as long as `bytes`; "" otherwise */
    uint64_t number; /* states: grows with each packet that the other sends, with gaps */
    bool late;       /* states: one with a higher number was given before */
    int64_t sent_ns; /* states: when it was sent, by this side's flr_clock_ns(), as well as that is
                              known; never later than now */
} flr_connections_event;

/* Takes the next thing that happened. False: nothing more now. After a bounded number of packets it says false until
 * flr_connections_service() was called, so that a flood cannot hold the owner. */
bool flr_connections_next(flr_connections *connections, flr_connections_event *event);

/* ---- sending ---- */

/* Sends a state at once, in one packet, once; FLR_OK also where it gets lost. FLR_CLOSED: the connection is not open.
 * `size` ≤ FLR_CONNECTIONS_STATE. */
flr_result flr_connections_state(flr_connections *connections, uint32_t connection,
                                 const void *bytes, size_t size);

/* Queues a message; it goes out with the next flr_connections_service(). FLR_AGAIN: the queue has no room for one of this size;
 * nothing was taken, try again after some steps. FLR_CLOSED: the connection is not open. `size` ≤ FLR_CONNECTIONS_MESSAGE, 0 allowed. */
flr_result flr_connections_send(flr_connections *connections, uint32_t connection,
                                const void *bytes, size_t size);

/* Ends a connection or a handshake; no event follows here, messages not yet delivered are lost. The other side receives `why` (NULL: no reason;
 * cut after FLR_CONNECTIONS_WHY bytes; control characters become '?') three times in a row, and notices by silence otherwise. */
void flr_connections_close(flr_connections *connections, uint32_t connection, const char *why);

/* Sends what is due: messages, acknowledgements, keepalives, handshakes; closes what is silent. Returns the time, by
 * flr_clock_ns(), at which it wants to be called again at the latest; now, where flr_connections_next() has something. */
int64_t flr_connections_service(flr_connections *connections);

/* ---- what is known of a connection ---- */

typedef struct flr_connections_info {
    flr_address address;
    uint64_t other; /* its flr_connections_self(); 0: not known yet */
    bool open;      /* false: in the handshake */
    bool initiator;
    double rtt;        /* s, smoothed; 0 while nothing is known */
    double rtt_least;  /* s, of the last 10 to 20 s */
    double jitter;     /* s, mean deviation of the round trip */
    double loss_in;    /* share of the other's packets that did not come, over the last seconds */
    double loss_out;   /* share of ours, as the other says */
    int64_t offset_ns; /* the other's flr_clock_ns() less ours, at the same moment */
    int64_t offset_wrong_ns;        /* it is at most so much off; INT64_MAX: not known yet */
    double bytes_in, bytes_out;     /* per second, over about the last second; payload of UDP */
    double packets_in, packets_out; /* per second */
    uint64_t bytes_in_all, bytes_out_all, packets_in_all, packets_out_all; /* since it opened */
    uint64_t resent;                /* parts of messages sent again */
    size_t queued;                  /* bytes of messages not yet acknowledged */
    int64_t heard_ns;               /* when something came last, by flr_clock_ns() */
    int64_t opened_ns;              /* when it opened */
    uint64_t forged, replayed, old; /* packets for this connection that were refused, see below */
    uint32_t moved;                 /* times that the other's address changed */
} flr_connections_info;

/* False: no such connection. */
bool flr_connections_get(const flr_connections *connections, uint32_t connection,
                         flr_connections_info *info);

/* Packets refused since creation, and why. */
typedef struct flr_connections_rejected {
    uint64_t malformed; /* none of ours: size, kind, version */
    uint64_t unknown;   /* for a connection that does not exist */
    uint64_t forged;    /* seal broken: changed, made up, or made with another token */
    uint64_t replayed;  /* came before */
    uint64_t old;       /* too old to tell whether it came before, or whose proof of address is */
    uint64_t
        flood; /* handshakes beyond def.handshakes, or beyond the capacity for those in progress */
    uint64_t broken; /* sealed rightly, but what is inside breaks the rules */
} flr_connections_rejected;

flr_connections_rejected flr_connections_get_rejected(const flr_connections *connections);

#endif
