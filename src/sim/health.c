/* how the loop does, judged by its last seconds: one hiccup is not reported for ever */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sim/snapshot.h"

static const int64_t pulse_ns = 1000000000; /* so far apart are the moments that are kept */

void flr_engine_feel_pulse(flr_engine *e)
{
    int64_t now = flr_clock_ns(e->def.env);
    if (e->pulse_count > 0 &&
        now - e->pulses[(e->pulse_count - 1) % FLR_ENGINE_PULSES].time_ns < pulse_ns)
        return;
    flr_loop_stats stats;
    flr_loop_get_stats(e->loop, &stats);
    flr_loop_count *pulse = &e->pulses[e->pulse_count++ % FLR_ENGINE_PULSES];
    pulse->time_ns = now;
    pulse->frames = stats.frames;
    pulse->skipped = stats.skipped;
    /* the loop writes meanwhile: not by an assignment */
    flr_histogram_clear(&pulse->compute);
    flr_histogram_merge(&pulse->compute, flr_loop_compute(e->loop));
}

/* What has happened since the oldest moment that is kept. */
static void recent(const flr_engine *e, const flr_loop_stats *s, flr_loop_count *since)
{
    const flr_loop_count *old =
        &e->pulses[e->pulse_count < FLR_ENGINE_PULSES ? 0 : e->pulse_count % FLR_ENGINE_PULSES];
    *since = (flr_loop_count){.frames = s->frames, .skipped = s->skipped};
    flr_histogram_merge(&since->compute, flr_loop_compute(e->loop));
    if (e->pulse_count == 0) return;
    since->frames -= old->frames;
    since->skipped -= old->skipped;
    since->compute.total = 0;
    for (unsigned i = 0; i < FLR_HISTOGRAM_SIZE; i++) {
        since->compute.counts[i] -= old->compute.counts[i];
        since->compute.total += since->compute.counts[i];
    }
}

static int by_address(const void *a, const void *b)
{
    const flr_shape *const *x = a, *const *y = b;
    return ((uintptr_t)*x > (uintptr_t)*y) - ((uintptr_t)*x < (uintptr_t)*y);
}

/* Of shapes and their meshes, each counted once; without memory to sort them, as often as parts have them. */
static uint64_t memory_of_shapes(const flr_part_list *parts)
{
    const flr_shape **shapes = malloc((parts->count + 1) * sizeof *shapes);
    uint64_t bytes = 0;
    for (uint32_t i = 0; shapes && i < parts->count; i++) shapes[i] = parts->list[i].shape;
    if (shapes) qsort(shapes, parts->count, sizeof *shapes, by_address);
    for (uint32_t i = 0; i < parts->count; i++) {
        const flr_shape *shape = shapes ? shapes[i] : parts->list[i].shape;
        const flr_mesh *mesh = shape->mesh->mesh;
        if (shapes && i > 0 && shapes[i - 1] == shape) continue;
        bytes += shape->bytes + mesh->vertex_count * sizeof *mesh->vertices +
                 mesh->triangle_count * sizeof *mesh->triangles;
    }
    free(shapes);
    return bytes;
}

static uint64_t memory_of(const flr_engine *e)
{
    uint64_t bytes = sizeof *e + sizeof *e->stepper + sizeof *e->view + 3 * sizeof(flr_snapshot) +
                     memory_of_shapes(&e->members);
    if (e->merged)
        bytes += flr_voxmap_get_info(e->merged->voxmap).stats.bytes +
                 flr_contact_table_bytes(e->merged->table);
    return bytes;
}

/* The plain line: held, or why not. */
static void judge(flr_engine *e, flr_engine_health *health)
{
    static const double us = 1e-3;
    const flr_loop_stats *s = &health->loop;
    flr_loop_count r;
    recent(e, s, &r);
    double period_us = 1e6 / e->def.rate,
           half_us = us * (double)flr_histogram_quantile(&r.compute, 0.5),
           most_us = us * (double)flr_histogram_quantile(&r.compute, 0.99);
    unsigned long long missed = r.skipped, of = r.frames + r.skipped, all = s->skipped;
    char *to = health->sentence;
    size_t size = sizeof health->sentence;
    bool running = flr_loop_is_running(e->loop) && s->frames > 0;
    health->rate_held = running && r.frames > 0 && r.skipped * 1000 <= r.frames;
    if (!running) {
        snprintf(to, size, "the loop does not run");
        return;
    }
    if (health->rate_held)
        snprintf(to, size,
                 "%g Hz held: half of the frames take %.0f us, 99 of 100 less than %.0f us",
                 e->def.rate, half_us, most_us);
    else if (r.frames == 0)
        snprintf(to, size, "%g Hz not held: there was no frame in the last seconds", e->def.rate);
    else if (most_us > period_us)
        snprintf(
            to, size,
            "%g Hz not held: frames take up to %.0f us and have %.0f us; larger voxels, or fewer "
            "parts that move, take less",
            e->def.rate, most_us, period_us);
    else
        snprintf(
            to, size,
            "%g Hz not held: %llu of the last %llu periods were missed because the system woke "
            "the loop late%s",
            e->def.rate, missed, of,
            flr_loop_privileges(e->loop)->fifo ? "" : "; it has no real-time priority");
    size_t length = strlen(to);
    if (all > missed)
        snprintf(to + length, size - length, "; %llu of %llu were missed since it began", all,
                 (unsigned long long)s->frames + all);
}

void flr_engine_get_health(flr_engine *e, flr_engine_health *health)
{
    memset(health, 0, sizeof *health);
    flr_loop_get_stats(e->loop, &health->loop);
    health->memory = memory_of(e);
    health->uptime = 1e-9 * (double)(flr_clock_ns(e->def.env) - e->began_ns);
    health->jobs = flr_jobs_count(e->jobs);
    flr_text_copy(health->rights, sizeof health->rights, flr_loop_privileges(e->loop)->sentence);
    judge(e, health);
}

const flr_histogram *flr_engine_compute(const flr_engine *e) { return flr_loop_compute(e->loop); }
