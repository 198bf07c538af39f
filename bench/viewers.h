/* viewers.h: clients of a controller in a process of their own, for benchmarks: each asks for what the page asks for (states with
 * contacts, nearness, voxels that are near, progress, a coarse level of each mesh), reads what comes and throws it away. */
#ifndef FLR_BENCH_VIEWERS_H
#define FLR_BENCH_VIEWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/base.h"

enum { FLR_MAX_VIEWERS = 32 };

typedef struct flr_viewers flr_viewers;

/* Makes the process, with less priority than others; nobody looks yet. To be called before there are threads. On success the
 * caller owns `*viewers`. */
flr_result flr_viewers_create(flr_viewers **viewers, flr_error *error);
void flr_viewers_destroy(flr_viewers *viewers); /* ends the process; NULL allowed */

/* From now on so many look at the controller on this port of loopback, of which so many do not read what they asked for.
 * Does not wait: flr_viewers_there() says when they have come. */
void flr_viewers_want(flr_viewers *viewers, uint16_t port, uint32_t count, uint32_t stalled);
/* Whether as many are connected as wanted. */
bool flr_viewers_there(const flr_viewers *viewers);
/* States that were read so far, by all; how often a connection ended that should not. */
uint64_t flr_viewers_states(const flr_viewers *viewers);
uint64_t flr_viewers_lost(const flr_viewers *viewers);

#endif
