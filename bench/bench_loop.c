/* the loop: what a frame costs without a world, and how late frames begin at several rates
 *
 * Free running, an empty step: the loop's own stages. Then a simulated hand against a wall, with its guard. Paced, in a
 * thread of its own with what privileges the system grants: how late it wakes up. */
#include <math.h>

#include "bench/bench.h"
#include "feeler/hand.h"
#include "feeler/loop.h"

static bool do_nothing(void *context, flr_loop_frame *frame)
{
    (void)context, (void)frame;
    return true;
}

static bool touch_wall(void *context, flr_loop_frame *frame)
{
    (void)context;
    frame->wrenches[0].force.z = 500 * fmax(0, -frame->samples[0].T_base_grip.p.z);
    return true;
}

typedef struct bench_loop_row {
    const char *name;
    double rate; /* Hz */
    bool paced, hand;
    // measured
    flr_loop_stats stats;
    bool fifo, locked;
} bench_loop_row;

static flr_result run_loop(flr_env *env, flr_device *device, uint64_t frames, bench_loop_row *r,
                           flr_error *error)
{
    flr_loop_def def = flr_default_loop_def();
    def.env = env;
    def.rate = r->rate;
    def.paced = r->paced;
    def.step = device ? touch_wall : do_nothing;
    def.devices[0] = device;
    def.device_count = device ? 1 : 0;
    flr_loop *loop;
    flr_result result = flr_loop_create(&def, &loop, error);
    if (result != FLR_OK) return result;
    if (r->paced) {
        result = flr_loop_start(loop, frames, error);
        if (result == FLR_OK) flr_loop_wait(loop);
        r->fifo = flr_loop_privileges(loop)->fifo;
        r->locked = flr_loop_privileges(loop)->locked;
    } else {
        flr_loop_run(loop, frames);
    }
    flr_loop_get_stats(loop, &r->stats);
    flr_loop_destroy(loop);
    return result;
}

static flr_result measure(flr_env *env, uint64_t frames, bench_loop_row *r, flr_error *error)
{
    if (!r->hand) return run_loop(env, NULL, frames, r, error);
    flr_script_def script_def = flr_default_script_def();
    script_def.kind = FLR_SCRIPT_AGGRESSIVE;
    flr_script *script;
    flr_result result = flr_script_create(&script_def, &script, error);
    if (result != FLR_OK) return result;
    flr_hand_def hand = flr_default_hand_def();
    hand.target = flr_script_target(script);
    flr_device *device;
    result = flr_device_open(&flr_hand_driver, &hand, &device, error);
    if (result == FLR_OK) {
        result = run_loop(env, device, frames, r, error);
        flr_device_close(device);
    }
    flr_script_destroy(script);
    return result;
}

/* ---- telling ---- */

static double us(uint64_t ns) { return 1e-3 * (double)ns; }

static void print_row(const bench_loop_row *r, bool json, bool first, FILE *out)
{
    const flr_percentiles *c = &r->stats.compute, *w = &r->stats.wakeup;
    if (json) {
        fprintf(out,
                "%s{\"name\":\"%s\",\"rate\":%g,\"paced\":%s,\"frames\":%llu,"
                "\"compute_us\":{\"p50\":%.3f,\"p99\":%.3f,\"p999\":%.3f,\"max\":%.3f},"
                "\"wakeup_us\":{\"p50\":%.3f,\"p99\":%.3f,\"p999\":%.3f,\"max\":%.3f},"
                "\"overruns\":%llu,\"skipped\":%llu,\"sched_fifo\":%s,\"locked\":%s}",
                first ? "" : ",", r->name, r->rate, r->paced ? "true" : "false",
                (unsigned long long)r->stats.frames, us(c->p50), us(c->p99), us(c->p999),
                us(c->max), us(w->p50), us(w->p99), us(w->p999), us(w->max),
                (unsigned long long)r->stats.overruns, (unsigned long long)r->stats.skipped,
                r->fifo ? "true" : "false", r->locked ? "true" : "false");
        return;
    }
    fprintf(out, "%-22s %8.2f %8.2f %9.1f", r->name, us(c->p50), us(c->p99), us(c->max));
    if (r->paced)
        fprintf(out, " %8.1f %8.1f %8.1f %9.1f %8llu\n", us(w->p50), us(w->p99), us(w->p999),
                us(w->max), (unsigned long long)r->stats.skipped);
    else
        fprintf(out, "\n");
}

flr_result flr_bench_loop(flr_env *env, const flr_bench_options *options, FILE *out,
                          flr_error *error)
{
    bench_loop_row rows[] = {
        {.name = "empty, free running", .rate = 1000},
        {.name = "hand, free running", .rate = 1000, .hand = true},
        {.name = "hand, 250 Hz", .rate = 250, .paced = true, .hand = true},
        {.name = "hand, 1000 Hz", .rate = 1000, .paced = true, .hand = true},
        {.name = "hand, 4000 Hz", .rate = 4000, .paced = true, .hand = true},
        {.name = "hand, 10000 Hz", .rate = 10000, .paced = true, .hand = true},
    };
    flr_bench_conditions conditions = flr_bench_look(env);
    if (options->json) {
        fprintf(out, "{\"bench\":\"loop\",");
        flr_bench_print_conditions(&conditions, true, out);
        fprintf(out, ",\"rows\":[");
    } else {
        fprintf(out, "The loop: what a frame costs and how late it begins, microseconds\n");
        flr_bench_print_conditions(&conditions, false, out);
        fprintf(out, "\n%-22s %26s %45s\n%-22s %8s %8s %9s %8s %8s %8s %9s %8s\n", "",
                "frame          ", "late                ", "", "p50", "p99", "worst", "p50", "p99",
                "p99.9", "worst", "skipped");
    }
    double seconds = 5.0 / options->divide;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t frames = rows[i].paced ? (uint64_t)(rows[i].rate * seconds)
                                        : (uint64_t)(1000000 / options->divide);
        flr_result result = measure(env, frames > 0 ? frames : 1, &rows[i], error);
        if (result != FLR_OK) return result;
        print_row(&rows[i], options->json, i == 0, out);
    }
    if (options->json)
        fprintf(out, "]}\n");
    else
        fprintf(out, "\nPaced frames ran %s real-time priority, %s locked memory.\n",
                rows[3].fifo ? "with" : "without", rows[3].locked ? "with" : "without");
    return FLR_OK;
}
