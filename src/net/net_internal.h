/* net_internal.h: what the files of the connections share: the packets' layout, one connection, all connections
 *
 *   connections.c  the interface: creation, events, sending, service
 *   handshake.c    the handshake: HELLO, COOKIE, WELCOME, and who keeps which connection
 *   packets.c      sealed packets of a connection: what is in them, where the other is
 *
 * Thread: as in connections.h. */
#ifndef FLR_NET_NET_INTERNAL_H
#define FLR_NET_NET_INTERNAL_H

#include "net/connections.h"
#include "net/link_timing.h"
#include "net/reliable.h"
#include "net/replay_window.h"
#include "net/seal.h"

/* ---- packets; docs/collaboration.md draws them ---- */

enum {
    FLR_PACKET_VERSION = 1,
    FLR_PACKET_HEAD = 16, /* kind, version, 0, 0, connection (u32), number (u64) */
    FLR_PACKET_MAX_SIZE =
        1232,                 /* with the heads of IPv6 and UDP 1280, which every way takes whole */
    FLR_PACKET_MIN_SIZE = 64, /* so that a challenge is no larger than what it answers */
    FLR_PACKET_TIMES = 20,    /* sent (i64), echo (i64), held (u32) */
    FLR_PACKET_BODY = FLR_PACKET_MAX_SIZE - FLR_PACKET_HEAD - FLR_SEAL_TAG,
    FLR_PACKET_FRAME = 3, /* type (u8), size (u16) of a frame in the body */
    /* plain content of the handshake's packets */
    FLR_HELLO_PLAIN = FLR_SEAL_KEY + 8 + 4 + FLR_SEAL_COOKIE + 2 + FLR_CONNECTIONS_HELLO,
    FLR_WELCOME_INNER =
        1 + 8 + 4 + 2 + FLR_CONNECTIONS_HELLO, /* what only the initiator can read */
    FLR_WELCOME_PLAIN = FLR_SEAL_KEY + FLR_WELCOME_INNER + FLR_SEAL_TAG,
    FLR_HELLO_SIZE = FLR_PACKET_HEAD + FLR_SEAL_NONCE + FLR_HELLO_PLAIN + FLR_SEAL_TAG,
    FLR_COOKIE_SIZE = FLR_PACKET_HEAD + FLR_SEAL_NONCE + FLR_SEAL_COOKIE + FLR_SEAL_TAG,
    FLR_WELCOME_SIZE = FLR_PACKET_HEAD + FLR_SEAL_NONCE + FLR_WELCOME_PLAIN + FLR_SEAL_TAG
};

typedef enum flr_packet_kind {
    FLR_PACKET_HELLO = 0xF1,
    FLR_PACKET_COOKIE,
    FLR_PACKET_WELCOME,
    FLR_PACKET_SEALED
} flr_packet_kind;

typedef enum flr_packet_part {
    FLR_FRAME_END, /* the rest is padding */
    FLR_FRAME_STATE,
    FLR_FRAME_ACK,  /* came u64, limit u64, loss u16, then begin u32, end u32 from `came` on, … */
    FLR_FRAME_PART, /* place u64, bytes of the stream */
    FLR_FRAME_BYE,  /* text */
    FLR_FRAME_ASK,  /* u64: say it back from where you are */
    FLR_FRAME_ANSWER /* u64 */
} flr_packet_part;

/* ---- one connection ---- */

typedef enum flr_connection_stage {
    FLR_CONNECTION_FREE,
    FLR_CONNECTION_ASKING, /* our handshake: HELLO goes out again and again */
    FLR_CONNECTION_WAITING, /* our handshake, given up in favour of the other's, which is in progress */
    FLR_CONNECTION_HALF, /* the other's handshake: welcomed, but nothing sealed came yet. Not shown to the owner */
    FLR_CONNECTION_OPEN,
    FLR_CONNECTION_ENDED /* an event is still to be reported */
} flr_connection_stage;

typedef struct flr_connection {
    flr_connection_stage stage;
    uint32_t number; /* the owner's name for it */
    uint32_t id;     /* in packets to us: the place in the table and some chance */
    uint32_t their_id;
    uint64_t other; /* the other's self; 0: not known */
    flr_address address;
    bool initiator;
    int64_t due_ns; /* service has to look at it then */

    /* handshake */
    flr_seal_pair pair;               /* ours; of the responder only while it is made */
    uint8_t caller_key[FLR_SEAL_KEY]; /* by which a HELLO that comes again is known */
    uint8_t cookie[FLR_SEAL_COOKIE];  /* what the responder gave us */
    int64_t cookie_ns;                /* when; 0: none */
    int64_t began_ns, hello_ns;       /* first HELLO; the next */
    int64_t hello_step_ns;
    uint8_t welcome[FLR_WELCOME_SIZE];    /* to be sent again as it is */
    uint8_t hello[FLR_CONNECTIONS_HELLO]; /* calling: ours; afterwards the other's */
    size_t hello_size;

    /* sealed packets */
    flr_seal_direction in, out;
    flr_window window;
    uint64_t sent_number; /* of the last packet sent */
    flr_link_timing pulse;
    flr_reliable *reliable;               /* NULL before it is open */
    int64_t opened_ns, heard_ns, said_ns; /* last packet in and out */
    bool heard;                           /* anything sealed at all */
    uint64_t state_number;                /* highest of the states given out */
    uint32_t ack_parts;                   /* parts that came and were not yet acknowledged… */
    int64_t ack_ns;                       /* … since; INT64_MAX: none */
    double pace;                          /* bytes of messages that may go out now */
    int64_t pace_ns;                      /* … counted up to then */
    uint64_t forged, replayed, old;
    uint32_t moved;

    /* another place from which sealed packets came */
    flr_address seen_at;
    uint64_t asked; /* what it has to say back; 0: nothing asked */
    int64_t asked_ns;

    /* events */
    bool tell_open;
    flr_connections_kind end_kind;
    flr_connections_cause end_cause;
    char why[FLR_CONNECTIONS_WHY + 160];
} flr_connection;

struct flr_connections {
    flr_env *env;
    flr_socket *socket;
    flr_connections_def def; /* without the token */
    int64_t keepalive_ns, silence_ns, patience_ns;
    flr_seal_token token;
    uint8_t secret[FLR_SEAL_KEY]; /* of cookies */
    uint64_t self;
    uint8_t hello[FLR_CONNECTIONS_HELLO];
    size_t hello_size;
    flr_connection *table; /* 2 * most: so many handshakes of others may be in progress besides */
    uint32_t count;
    int64_t due_ns;     /* the earliest of all connections; service has nothing to do before */
    bool attention;     /* some connection has an event or a message */
    uint32_t budget;    /* packets that may still be taken before the next service */
    double close_looks; /* handshakes that may be computed now… */
    double quick_looks; /* … cookies that may be given… */
    double band;        /* … bytes that the bandwidth allows… */
    int64_t counted_ns; /* … counted up to then */
    flr_connections_rejected rejected;
    flr_connection
        *state_connection; /* a state in `plain` that was not yet given out; NULL: none */
    const uint8_t *state;
    size_t state_size;
    uint64_t state_number;
    int64_t state_sent_ns;
    uint8_t packet[FLR_PACKET_MAX_SIZE];
    uint8_t plain[FLR_PACKET_MAX_SIZE];
    uint8_t scratch[FLR_CONNECTIONS_MESSAGE];
    char why[FLR_CONNECTIONS_WHY + 160];
};

/* ---- connections.c ---- */

/* A free place in the table, made ready; NULL: none. */
flr_connection *flr_connection_make(flr_connections *connections, flr_connection_stage stage,
                                    flr_address address);
/* Wipes and frees; the place may be used again. */
void flr_connection_free(flr_connection *connection);
/* Connections that are open or in the handshake. */
uint32_t flr_connections_used(const flr_connections *connections);
/* Reports the end as an event; then the connection is gone. */
void flr_connection_end(flr_connections *connections, flr_connection *connection,
                        flr_connections_kind kind, flr_connections_cause cause, const char *format,
                        ...) FLR_PRINTF(5, 6);
/* Makes it open, with room for messages; false: no memory, and it has ended. */
bool flr_connection_open(flr_connections *connections, flr_connection *connection, int64_t now);
/* Service looks at it at `time` at the latest. */
void flr_connection_wake(flr_connections *connections, flr_connection *connection, int64_t time);
/* Refills the buckets of handshakes and bandwidth. */
void flr_connections_count(flr_connections *connections, int64_t now);

/* ---- handshake.c ---- */

void flr_handshake_begin(flr_connections *connections, flr_connection *connection,
                         const void *hello, size_t size, int64_t now);
/* HELLO once more, or the end of patience; returns when next. */
int64_t flr_handshake_service(flr_connections *connections, flr_connection *connection,
                              int64_t now);
/* HELLO and COOKIE are the same in every version, so that two of different ones can tell. */
bool flr_handshake_is_timeless(uint8_t kind);
/* A packet of the handshake, of `size` bytes in connections->packet. */
void flr_handshake_packet(flr_connections *connections, flr_address from, size_t size, int64_t now);
/* The first sealed packet of a handshake that was welcomed: it becomes a connection. False: it does not. */
bool flr_handshake_confirmed(flr_connections *connections, flr_connection *connection, int64_t now);

/* ---- packets.c ---- */

/* A sealed packet, of `size` bytes in connections->packet. */
void flr_packet_came(flr_connections *connections, flr_address from, size_t size, int64_t now);
/* One packet out with a frame of that type, or without one (FLR_FRAME_END, size 0), and an acknowledgement where one is due
 * and fits. */
void flr_packet_send(flr_connections *connections, flr_connection *connection, flr_packet_part type,
                     const void *bytes, size_t size, int64_t now);
/* Messages, acknowledgements, keepalives; returns when next. The connection may have ended. */
int64_t flr_packet_service(flr_connections *connections, flr_connection *connection, int64_t now);

/* the head of a packet */
void flr_packet_head(uint8_t *packet, flr_packet_kind kind, uint32_t connection, uint64_t number);

#endif
