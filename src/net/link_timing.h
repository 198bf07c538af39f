/* link_timing.h: what the packets of a connection tell of the path they took
 *
 * Every packet says when it was sent (by its sender's clock), which time of ours it saw last, and how long ago that was. From
 * those the round trip follows, and with the halves of it the distance of the two clocks, as NTP does. The numbers of packets
 * tell which were lost.
 *
 * Thread: any, one at a time. */
#ifndef FLR_NET_LINK_TIMING_H
#define FLR_NET_LINK_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* the times in a packet */
typedef struct flr_link_timing_times {
    int64_t sent_ns; /* by the sender's clock */
    int64_t
        echo_ns; /* sent_ns of the newest packet that the sender has of the other side; 0: none */
    uint32_t held_us; /* since that came */
} flr_link_timing_times;

typedef struct flr_link_timing_flow {
    uint64_t bytes, packets;           /* since the beginning */
    uint64_t bytes_then, packets_then; /* … when the present second began */
    double bytes_rate, packets_rate;   /* of the last whole one, per second */
} flr_link_timing_flow;

typedef struct flr_link_timing {
    double rtt, jitter;     /* s, smoothed; 0: nothing known */
    double least[2];        /* s, least of the present and of the last period; 0: none */
    int64_t period_ns;      /* when the present period began */
    int64_t offset_ns;      /* the other's clock less ours, from the best sample */
    int64_t bound_ns;       /* … wrong by at most so much then; INT64_MAX: no sample */
    int64_t sampled_ns;     /* … then */
    int64_t newest_ns;      /* highest sent_ns of the other… */
    int64_t newest_here_ns; /* … and when it came; 0: none */
    int64_t echoed_ns;      /* the echo that was evaluated last */
    uint64_t highest,
        highest_then;         /* number of the other's packets; now and when the second began */
    double loss_in, loss_out; /* share */
    flr_link_timing_flow in, out;
    int64_t second_ns; /* when the present second began */
} flr_link_timing;

void flr_link_timing_begin(flr_link_timing *pulse, int64_t now);

/* A packet with these times and this number came, `size` bytes. Returns the round trip that it tells (s), 0: none. */
double flr_link_timing_came(flr_link_timing *pulse, int64_t now, uint64_t number,
                            const flr_link_timing_times *times, size_t size);

/* What to write into a packet that goes out now, of `size` bytes. */
flr_link_timing_times flr_link_timing_sent(flr_link_timing *pulse, int64_t now, size_t size);

/* Closes the present second once it is over; call it now and then. Returns when it is. */
int64_t flr_link_timing_tick(flr_link_timing *pulse, int64_t now);

/* s, of the last 10 to 20 s; 0: nothing known. */
double flr_link_timing_least(const flr_link_timing *pulse);

/* s that a round trip takes by itself, without our filling the path: the least, and how much it wavers; 0: nothing known. */
double flr_link_timing_usual(const flr_link_timing *pulse);

/* How far offset_ns may be off by now; INT64_MAX: not known. */
int64_t flr_link_timing_wrong(const flr_link_timing *pulse, int64_t now);

/* s after which a packet that should have been answered counts as lost. */
double flr_link_timing_late(const flr_link_timing *pulse);

#endif
