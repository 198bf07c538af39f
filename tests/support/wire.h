/* wire.h: two or more connections under a simulated network, with a log of what each was told */
#ifndef FLR_TEST_WIRE_H
#define FLR_TEST_WIRE_H

#include "feeler/sim.h"
#include "net/connections.h"
#include "support/test.h"

enum { FLR_WIRE_SIDES = 4 };

typedef struct flr_wire flr_wire;

/* one side: connections on a node of the simulation, and what came */
typedef struct flr_wire_side {
    flr_wire *wire;
    flr_env *env;
    flr_connections *connections;
    flr_connections_event last[5]; /* of each kind; bytes and why are not valid */
    uint32_t told[5];              /* how often each kind came */
    char why[512];                 /* of the last REFUSED or CLOSED */
    uint8_t hello[FLR_CONNECTIONS_HELLO];
    uint32_t connection; /* of the last OPEN; 0 after it was CLOSED */
    uint32_t opens;      /* connections open now */
    int64_t opened_ns;
    /* called for each event, after it was noted; may be NULL */
    void (*on_event)(struct flr_wire_side *side, const flr_connections_event *event);
    /* called in each step before service; returns when to be called next */
    int64_t (*on_step)(struct flr_wire_side *side, int64_t now);
    void *context;
} flr_wire_side;

struct flr_wire {
    flr_sim *sim;
    flr_wire_side sides[FLR_WIRE_SIDES];
    uint32_t count;
};

#define FLR_WIRE_TOKEN "0123456789abcdef0123456789abcdef"

/* `count` sides at 10.0.0.1:7000, 10.0.0.2:7000, … with one token, defaults otherwise; `change` (may be NULL) may alter the
 * definition of each. */
void flr_wire_begin(flr_wire *wire, uint32_t count, const flr_sim_def *def,
                    void (*change)(flr_connections_def *def, uint32_t side));
void flr_wire_end(flr_wire *wire);
flr_address flr_wire_address(uint32_t side);

/* Lets all programs run for so many seconds of virtual time. */
void flr_wire_run(flr_wire *wire, double seconds);

/* Lets side 0 call side 1 and runs until both have it open; fails the test after `seconds`. */
void flr_wire_join(flr_wire *wire, double seconds);

#endif
