/* parts: what a scene of many parts costs while nothing moves, and while one part is carried among the others
 *
 * A host of a shared session with 1 to 1000 movable parts, on a simulated machine and in one thread. A frame is what the loop
 * does every millisecond; an iteration of control is what the other thread does between two waits: jobs, events, the view for
 * one viewer, and the shared session. All in processor time of the thread. */
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/session.h"
#include "collab/share.h"
#include "feeler/sim.h"

enum { COUNTS = 4, FRAMES = 2000, PARTS = 1000, SETTLING = 3000 };
static const uint32_t counts[COUNTS] = {1, 10, 100, PARTS};
static const double frame_bound = 50, control_bound = 1000; /* us, with PARTS parts */

typedef struct samples {
    size_t count;
    double us[FRAMES];
} samples;

typedef struct host {
    flr_sim *sim;
    flr_env *env;
    flr_engine *engine;
    flr_share *share;
    flr_part_id first; /* the first part */
    samples frames, iterations;
} host;

static flr_result add_parts(host *h, uint32_t count, flr_error *error)
{
    const double pitch = 0.03;
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < count && result == FLR_OK; i++) {
        char name[24];
        flr_part_id part;
        flr_vec3 at = {pitch * (i % 10), pitch * (i / 10 % 10), pitch * (i / 100)};
        snprintf(name, sizeof name, "part %u", i);
        result = flr_bench_add_box(h->engine, name, flr_vec3_make(0.02, 0.012, 0.008), at,
                                   FLR_PART_MOVABLE, &part, error);
        if (i == 0) h->first = part;
        flr_engine_service(h->engine); /* builds it: there are no workers */
    }
    return result;
}

static flr_result begin(host *h, uint32_t count, flr_error *error)
{
    flr_sim_def sim = flr_default_sim_def();
    flr_address self = {.family = 4, .ip = {10, 0, 0, 1}, .port = 7000};
    h->sim = flr_sim_create(&sim);
    h->env = h->sim ? flr_sim_node(h->sim, self) : NULL;
    if (!h->env) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    flr_engine_def def = flr_threadless_engine_def(h->env);
    def.paced = false;
    def.hands = 1;
    def.merge = false; /* parts that stay are not merged: each is there for itself */
    flr_result result = flr_engine_create(&def, &h->engine, error);
    if (result == FLR_OK) result = add_parts(h, count, error);
    flr_share_def share = flr_default_share_def();
    share.engine = h->engine;
    share.env = h->env;
    share.local = self;
    share.token = "a-token-of-24-characters";
    return result == FLR_OK ? flr_share_create(&share, &h->share, error) : result;
}

static void end(host *h)
{
    flr_share_destroy(h->share);
    flr_engine_destroy(h->engine);
    flr_sim_destroy(h->sim);
    free(h);
}

static void add_sample(samples *to, double us)
{
    if (to->count < FRAMES) to->us[to->count++] = us;
}

/* A frame and an iteration of control, 1 ms. */
static void pass(host *h)
{
    flr_engine_event event;
    double begun = flr_bench_processor_us();
    flr_engine_run(h->engine, 1);
    double framed = flr_bench_processor_us();
    flr_engine_service(h->engine);
    while (flr_engine_next(h->engine, &event)) flr_share_event(h->share, &event);
    (void)flr_engine_view(h->engine);
    (void)flr_share_service(h->share);
    add_sample(&h->iterations, flr_bench_processor_us() - framed);
    add_sample(&h->frames, framed - begun);
    flr_sim_run(h->sim, flr_sim_now(h->sim) + FLR_SIM_MS);
}

static void measure(host *h, size_t frames, bool carries)
{
    h->frames.count = h->iterations.count = 0;
    for (size_t i = 0; i < frames; i++) {
        /* up and down, 3 mm, along the part beside it */
        flr_vec3 at = {0, 0, 0.003 * (double)(i % 200 < 100 ? i % 100 : 100 - i % 100) / 100};
        if (carries)
            (void)flr_engine_hand_input(h->engine, flr_hand(0),
                                        flr_pose_make(at, flr_quat_identity()), 1, NULL);
        pass(h);
    }
}

static void print_row(host *h, uint32_t count, bool carries, bool json, bool first, FILE *out)
{
    double v[6];
    samples *s[2] = {&h->frames, &h->iterations};
    for (int i = 0; i < 2; i++) {
        v[3 * i] = flr_bench_percentile(s[i]->us, s[i]->count, 0.5);
        v[3 * i + 1] = flr_bench_percentile(s[i]->us, s[i]->count, 0.99);
        v[3 * i + 2] = flr_bench_percentile(s[i]->us, s[i]->count, 1);
    }
    if (json)
        fprintf(out,
                "%s\n  {\"parts\": %u, \"carries\": %s, \"frame_us\": {\"p50\": %.2f, \"p99\": "
                "%.2f, \"max\": %.2f}, \"control_us\": {\"p50\": %.2f, \"p99\": %.2f, \"max\": "
                "%.2f}}",
                first ? "" : ",", count, carries ? "true" : "false", v[0], v[1], v[2], v[3], v[4],
                v[5]);
    else
        fprintf(out, "%6u %8s %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f\n", count, carries ? "1" : "0",
                v[0], v[1], v[2], v[3], v[4], v[5]);
    if (!json && count == PARTS && !carries)
        fprintf(out, "%15s %9s %9s %9s %9s   (idle: bounds %g us and %g us)\n", "",
                v[0] <= frame_bound ? "ok" : "over", v[1] <= frame_bound ? "ok" : "over", "",
                v[4] <= control_bound ? "ok" : "over", frame_bound, control_bound);
    fflush(out);
}

static flr_result bench_count(const flr_bench_options *options, uint32_t count, bool first,
                              FILE *out, flr_error *error)
{
    size_t frames = FRAMES / options->divide ? FRAMES / options->divide : 1;
    host *h = calloc(1, sizeof *h);
    if (!h) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    flr_result result = begin(h, count, error);
    for (int i = 0; result == FLR_OK && i < SETTLING && !flr_share_ready(h->share); i++) pass(h);
    if (result == FLR_OK && !flr_share_ready(h->share))
        result = flr_fail(error, FLR_CLOSED, "the session of %u parts did not begin", count);
    for (int i = 0; result == FLR_OK && i < 2; i++) {
        bool carries = i == 1;
        /* parts that came last are looked at, and the hand takes its part, before anything is measured */
        measure(h, 1000, carries);
        if (carries && !flr_same_part(flr_engine_view(h->engine)->hands[0].held, h->first)) {
            result = flr_fail(error, FLR_CLOSED, "the hand did not take its part");
            break;
        }
        measure(h, frames, carries);
        print_row(h, count, carries, options->json, first && !carries, out);
    }
    end(h);
    return result;
}

flr_result flr_bench_parts(flr_env *env, const flr_bench_options *options, FILE *out,
                           flr_error *error)
{
    flr_result result = FLR_OK;
    flr_bench_begin(env, options, "parts", out);
    if (!options->json)
        fprintf(out,
                "\nmovable parts, none or one of them in a hand; %u frames, processor time [us]\n\n"
                "%6s %8s %9s %9s %9s %9s %9s %9s\n%6s %8s %9s %9s %9s %9s %9s %9s\n",
                (unsigned)FRAMES / options->divide, "parts", "held", "frame", "", "", "control", "",
                "", "", "", "p50", "p99", "max", "p50", "p99", "max");
    for (int i = 0; i < COUNTS && result == FLR_OK; i++)
        result = bench_count(options, counts[i], i == 0, out, error);
    if (result == FLR_OK && options->json) fputs("]}\n", out);
    return result;
}
