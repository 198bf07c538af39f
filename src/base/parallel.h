/* parallel.h: a loop over independent pieces of work, on several threads.
 *
 * The pieces are handed out in order, each to whichever thread is free, so that the work must not
 * depend on who does it: every piece writes to its own place. Not RT safe. */
#ifndef FLR_BASE_PARALLEL_H
#define FLR_BASE_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>

#include "feeler/base.h"

/* One piece of work; `worker` is 0 … threads-1 and picks the scratch memory. Returning anything but
 * FLR_OK stops the loop early; the first failure by piece number among those seen is returned. */
typedef flr_result (*flr_parallel_work)(void *context, size_t piece, unsigned worker);

/* Runs work(0) … work(count-1) on up to `threads` threads (0: one per processor), this one
 * included. Fewer threads are used when they cannot be had. */
flr_result flr_parallel_for(unsigned threads, size_t count, flr_parallel_work work, void *context);

/* How many threads flr_parallel_for() would use at most: what `worker` stays below. */
unsigned flr_parallel_threads(unsigned threads);

#endif
