/* statistics of a loop: histograms, counters, and the worst frame */
#include "realtime/stats.h"

#include <string.h>

bool flr_stats_init(flr_stats *stats)
{
    stats->worst = flr_latest_create(sizeof(flr_loop_worst));
    return stats->worst != NULL;
}

void flr_stats_free(flr_stats *stats) { flr_latest_destroy(stats->worst); }

/* one writer: no need for a locked addition */
static void add(_Atomic uint64_t *counter, uint64_t more)
{
    uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + more, memory_order_relaxed);
}

static uint64_t get(_Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static uint64_t positive(int64_t x) { return x > 0 ? (uint64_t)x : 0; }

void flr_stats_add(flr_stats *stats, const flr_stats_frame *frame)
{
    const flr_loop_worst *d = &frame->detail;
    int64_t compute = d->read_ns + d->step_ns + d->write_ns, all = d->late_ns + compute;
    flr_histogram_add(&stats->compute, positive(compute));
    if (frame->slept) flr_histogram_add(&stats->wakeup, positive(d->late_ns));
    add(&stats->overruns, all > frame->period_ns);
    add(&stats->skipped, d->skipped);
    add(&stats->commands, d->commands);
    add(&stats->late_input, frame->missed);
    add(&stats->failed_steps, frame->failed);
    add(&stats->faulty, frame->fault);
    if (all > stats->worst_ns) {
        stats->worst_ns = all;
        flr_latest_write(stats->worst, d);
    }
    add(&stats->frames, 1);
}

void flr_stats_read(flr_stats *stats, flr_loop_stats *copy)
{
    memset(copy, 0, sizeof *copy);
    copy->frames = get(&stats->frames);
    copy->overruns = get(&stats->overruns);
    copy->skipped = get(&stats->skipped);
    copy->late_input = get(&stats->late_input);
    copy->failed_steps = get(&stats->failed_steps);
    copy->commands = get(&stats->commands);
    copy->faulty = get(&stats->faulty);
    copy->compute = flr_histogram_percentiles(&stats->compute);
    copy->wakeup = flr_histogram_percentiles(&stats->wakeup);
    flr_latest_read(stats->worst, &copy->worst);
}
