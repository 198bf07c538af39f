/* stats.h: what a loop counts, without locks: the loop's thread writes, others look. */
#ifndef FLR_REALTIME_STATS_H
#define FLR_REALTIME_STATS_H

#include <stdatomic.h>

#include "feeler/base.h"
#include "feeler/loop.h"

typedef struct flr_stats {
    flr_histogram compute, wakeup;
    _Atomic uint64_t frames, overruns, skipped, late_input, failed_steps, commands, faulty;
    flr_latest *worst; /* an flr_loop_worst */
    int64_t worst_ns;
} flr_stats;

/* One frame, as it is measured. */
typedef struct flr_stats_frame {
    flr_loop_worst detail; /* all but the notes filled in on the way */
    int64_t period_ns;
    bool slept;  /* waited for its time, so that late_ns says how well the system wakes */
    bool missed; /* a device had nothing new */
    bool failed; /* the step had no answer */
    bool fault;  /* a guard saw a fault that is more than a limit */
} flr_stats_frame;

bool flr_stats_init(flr_stats *stats); /* false: no memory. Zeroed before. */
void flr_stats_free(flr_stats *stats);

/* Counts a frame. Thread: the loop's. */
void flr_stats_add(flr_stats *stats, const flr_stats_frame *frame);

/* Copies all. Thread: one. */
void flr_stats_read(flr_stats *stats, flr_loop_stats *copy);

#endif
