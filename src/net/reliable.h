/* reliable.h: messages in order, each once, over packets that get lost, doubled and overtake each other
 *
 * Messages (four bytes of size, then the content) are laid end to end in a stream of bytes without an end. The sender cuts the
 * stream into parts, one to a packet, and keeps it until it is acknowledged; the receiver puts parts to their places, tells
 * which stretches it has, and gives out messages as they become whole. A part that was not acknowledged in time is sent again
 * by itself. How much may be under way grows until the round trip becomes longer, which is when packets queue up in the
 * network, so that states on the same path stay quick; losses alone slow it down only where they are many.
 *
 * Nothing here knows packets, keys or clocks: connections.c does. Both directions of one connection are one flr_reliable.
 *
 * Thread: any, one at a time. */
#ifndef FLR_NET_RELIABLE_H
#define FLR_NET_RELIABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"

enum {
    FLR_RELIABLE_PART = 1120,     /* bytes of the stream in one packet, at most */
    FLR_RELIABLE_PARTS = 2048,    /* parts under way, at most */
    FLR_RELIABLE_RANGES = 256,    /* stretches that the receiver holds behind the first gap */
    FLR_RELIABLE_TOLD = 120,      /* … and tells, at most */
    FLR_RELIABLE_MESSAGE = 65536, /* bytes of one message, at most */
    FLR_RELIABLE_PREFIX = 4       /* bytes of a message's size before it in the stream */
};

typedef struct flr_reliable_range {
    uint64_t begin, end; /* places in the stream; end not included */
} flr_reliable_range;

/* What one side tells the other of what it has. */
typedef struct flr_reliable_ack {
    uint64_t came;  /* everything before this place */
    uint64_t limit; /* nothing may be sent from this place on */
    uint32_t count;
    flr_reliable_range ranges[FLR_RELIABLE_TOLD]; /* further stretches: ascending, apart */
} flr_reliable_ack;

typedef struct flr_reliable_part {
    uint64_t begin;
    int64_t sent_ns;
    uint32_t size;
    uint16_t times; /* sent so often */
    bool came;
} flr_reliable_part;

/* the sender's half */
typedef struct flr_reliable_out {
    uint8_t *ring; /* the stream from `came` to `queued`; place p at p % capacity */
    flr_reliable_part *parts;
    uint32_t first, count; /* parts in use: a ring, in the order of the stream */
    uint32_t cursor; /* parts before this one were looked at in the present search for late ones */
    int64_t search_ns;   /* when to look again for late parts */
    int64_t earliest_ns; /* the first that will be late, of those looked at */
    uint64_t came;       /* the other has everything before */
    uint64_t sent;       /* everything before was sent at least once */
    uint64_t queued;     /* the end of what was put in */
    uint64_t limit;      /* the other takes nothing from here on */
    uint64_t farthest;   /* the end of the farthest part that came */
    size_t flying;       /* bytes sent and not known to have come */
    double window;       /* bytes that may fly */
    bool starting;       /* the window still doubles each round trip */
    uint64_t round_end;  /* when this place has come, a round is over */
    double round_rtt;    /* s, least round trip measured in this round; 0: none */
    uint32_t slow;       /* round trips in a row that were longer than usual */
    double trip, wobble; /* s from sending a part until it is known to have come, and the mean
                            deviation of that; 0: none yet */
    uint64_t resent;
} flr_reliable_out;

/* the receiver's half */
typedef struct flr_reliable_in {
    uint8_t *ring;  /* the stream from `taken` to `taken + capacity` */
    uint64_t taken; /* everything before was given out */
    uint64_t came;  /* everything before came */
    uint32_t count;
    flr_reliable_range ranges[FLR_RELIABLE_RANGES]; /* behind `came`: ascending, apart */
} flr_reliable_in;

typedef struct flr_reliable {
    size_t capacity; /* of each ring */
    flr_reliable_out out;
    flr_reliable_in in;
} flr_reliable;

/* `capacity`: bytes of each direction, at least 2 * FLR_RELIABLE_MESSAGE. NULL: no memory. */
flr_reliable *flr_reliable_create(size_t capacity);
void flr_reliable_destroy(flr_reliable *reliable); /* NULL allowed */

/* ---- sending ---- */

/* Bytes that a message may have now; 0 also where only an empty one would fit. */
size_t flr_reliable_room(const flr_reliable *reliable);

/* FLR_AGAIN: no room. */
flr_result flr_reliable_put(flr_reliable *reliable, const void *bytes, size_t size);

/* The next part to send now, written to `bytes` (FLR_RELIABLE_PART at most); returns its size, 0: none. `late`: s after which a
 * part counts as lost as long as none came. `*place` is its place in the stream. */
size_t flr_reliable_take(flr_reliable *reliable, int64_t now, double late, uint8_t *bytes,
                         uint64_t *place);

/* When flr_reliable_take() will have something again if nothing comes, at the earliest; INT64_MAX: never. */
int64_t flr_reliable_due(const flr_reliable *reliable);

/* what is known of the path when an acknowledgement comes */
typedef struct flr_reliable_path {
    double rtt; /* s, just measured; 0: not */
    double
        usual; /* s, what it is without our doing: the least of late, and how much it wavers; 0: not known */
    double loss; /* share of our packets that get lost */
} flr_reliable_path;

/* What the other tells. False: it claims what cannot be. */
bool flr_reliable_acked(flr_reliable *reliable, const flr_reliable_ack *ack, flr_reliable_path path,
                        int64_t now);

/* ---- receiving ---- */

/* A part that came. False: it lies where nothing may be. */
bool flr_reliable_came(flr_reliable *reliable, uint64_t place, const uint8_t *bytes, size_t size);

typedef enum flr_reliable_answer {
    FLR_RELIABLE_NONE,
    FLR_RELIABLE_WHOLE,
    FLR_RELIABLE_WRONG /* a message larger than there may be */
} flr_reliable_answer;

/* Takes the next whole message: `*bytes` is valid until the next flr_reliable_came(); `scratch` (FLR_RELIABLE_MESSAGE bytes)
 * may be used for it. */
flr_reliable_answer flr_reliable_next(flr_reliable *reliable, uint8_t *scratch,
                                      const uint8_t **bytes, size_t *size);

/* What to tell the other now. */
void flr_reliable_tell(const flr_reliable *reliable, flr_reliable_ack *ack);

#endif
