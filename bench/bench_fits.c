/* fits: a simulated hand takes every tight fit apart, with each engine; the peers at poses of the same path
 *
 * A frame is all that the loop does in it: the hand, contact, the step, the guard. Times are the thread's own. A run that takes
 * too long is ended, and the table says how much of the way was made. What engines report as the least distance stands beside
 * the exact one, measured afterwards at some of the poses that the part went through. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/fit_cases.h"
#include "bench/fit_peers.h"
#include "feeler/distance.h"
#include "feeler/hand.h"
#include "sim/run.h"

/* ---- the engines: a new one gets a row here ---- */

static void choose_shell(flr_scene_contact *contact) { contact->model = FLR_FORCE_TANGENT; }
static void choose_smooth(flr_scene_contact *contact) { contact->model = FLR_FORCE_SMOOTH; }
static void choose_spheres(flr_scene_contact *contact) { contact->engine = FLR_ENGINE_SPHERES; }
static void choose_exact(flr_scene_contact *contact) { contact->engine = FLR_ENGINE_EXACT; }

static const struct engine {
    const char *name;
    void (*choose)(flr_scene_contact *contact);
} engines[] = {
    {"shell", choose_shell},
    {"smooth", choose_smooth},
    {"spheres", choose_spheres},
    {"exact", choose_exact},
};
enum { ENGINES = sizeof engines / sizeof *engines };

static bool is_engine(const char *name)
{
    for (size_t i = 0; name && i < ENGINES; i++)
        if (!strcmp(engines[i].name, name)) return true;
    return name == NULL;
}

enum { FITS_RATE = 1000, MAX_FRAMES = 30000, MEASURED = 25, ASKED = 100, ROWS = 12 };

/* ---- what was measured ---- */

typedef struct fits_row {
    const char *name;
    bool peer;
    uint64_t count;             /* frames, or queries */
    double p50, p99, p999, max; /* us of processor time */
    uint32_t contacts;          /* at most, in one frame or query */
    double lower, upper;        /* metres: least distance as reported; NAN: none */
    double exact; /* metres: least at poses of this run; 0 where surfaces met; NAN: not measured */
    double way;   /* of the path that was made, 0 to 1; NAN: not a motion */
    double seconds; /* to make ready */
} fits_row;

static void take_times(const flr_histogram *times, fits_row *to)
{
    flr_percentiles p = flr_histogram_percentiles(times);
    to->count = p.count;
    to->p50 = 1e-3 * (double)p.p50, to->p99 = 1e-3 * (double)p.p99;
    to->p999 = 1e-3 * (double)p.p999, to->max = 1e-3 * (double)p.max;
}

static uint64_t nanoseconds(double us) { return us > 0 ? (uint64_t)(us * 1e3) : 0; }

/* ---- a hand takes it apart ---- */

typedef struct fits_watch {
    flr_histogram times;
    fits_row *row;
    double last_us, begun_us, limit_us; /* processor time */
    uint64_t frames;
} fits_watch;

/* after every frame, in the loop's thread */
static void seen(void *context, const flr_world_frame *frame)
{
    fits_watch *w = context;
    double now = flr_bench_processor_us();
    if (w->frames++)
        flr_histogram_add(&w->times, nanoseconds(now - w->last_us));
    else
        w->begun_us = now;
    w->last_us = now;
    if (frame->contacts > w->row->contacts) w->row->contacts = frame->contacts;
    w->row->lower = fmin(w->row->lower, frame->lower);
    w->row->upper = fmin(w->row->upper, frame->upper);
}

static bool go_on(void *context, uint64_t done)
{
    fits_watch *w = context;
    (void)done;
    return !flr_bench_stopped() && w->last_us - w->begun_us < w->limit_us;
}

/* the least exact distance at some of the poses of a run */
static flr_result measure_exact(const flr_fit_case *fit, const flr_pose *poses, uint64_t frames,
                                double *least, flr_error *error)
{
    flr_gauge_part *fixed = NULL, *moving = NULL;
    flr_result result = flr_gauge_part_create(fit->fixed, &fixed, error);
    if (result == FLR_OK) result = flr_gauge_part_create(fit->moving, &moving, error);
    flr_gauge_witness witness = flr_no_witness();
    *least = INFINITY;
    for (uint64_t i = 0; i < MEASURED && result == FLR_OK && frames; i++) {
        flr_gauge_result r;
        flr_gauge_distance(fixed, moving, flr_pose_identity(),
                           poses[(frames - 1) * i / (MEASURED - 1)], NULL, &witness, &r);
        *least = fmin(*least, r.meet ? 0 : r.upper);
    }
    flr_gauge_part_destroy(fixed);
    flr_gauge_part_destroy(moving);
    return result;
}

static double way_made(const flr_fit_case *fit, flr_pose T)
{
    flr_vec3 from = fit->path[0].T_world_part.p, to = fit->path[fit->path_count - 1].T_world_part.p;
    flr_vec3 way = flr_vec3_sub(to, from);
    double made = flr_vec3_dot(flr_vec3_sub(T.p, from), way) / flr_vec3_dot(way, way);
    return fmin(fmax(made, 0), 1);
}

static flr_result run_stage(flr_env *env, const flr_fit_case *fit, flr_stage *stage,
                            flr_device *device, uint64_t frames, fits_watch *w, flr_error *error)
{
    flr_pose *poses = calloc(frames, sizeof *poses);
    if (!poses) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for poses");
    flr_run_def def = flr_default_run_def();
    def.env = env;
    def.stage = stage;
    def.part = flr_stage_find(stage, NULL);
    def.device = device;
    def.frames = frames;
    def.rate = FITS_RATE;
    def.single = true;
    def.poses = poses;
    def.seen = seen;
    def.progress = go_on;
    def.context = w;
    flr_run_result run;
    flr_result result = flr_run(&def, &run, error);
    if (result == FLR_OK && flr_bench_stopped()) result = flr_fail(error, FLR_CANCELLED, "stopped");
    if (result == FLR_OK) {
        uint64_t done = w->frames < frames ? w->frames : frames;
        w->row->way = way_made(fit, poses[done ? done - 1 : 0]);
        result = measure_exact(fit, poses, done, &w->row->exact, error);
    }
    free(poses);
    return result;
}

static flr_result run_engine(flr_env *env, const flr_bench_options *options,
                             const flr_fit_case *fit, const struct engine *engine, fits_row *to,
                             flr_error *error)
{
    *to = (fits_row){.name = engine->name, .lower = INFINITY, .upper = INFINITY};
    flr_scene scene = *fit->scene;
    engine->choose(&scene.contact);
    flr_stage_def stage_def = flr_default_stage_def();
    stage_def.scene = &scene;
    stage_def.params = flr_scene_params(&scene);
    flr_stage *stage = NULL;
    int64_t began = flr_clock_ns(env);
    flr_result result = flr_stage_create(env, &stage_def, &stage, error);
    to->seconds = 1e-9 * (double)(flr_clock_ns(env) - began);
    if (result != FLR_OK) return result;

    flr_script_def script_def = flr_default_script_def();
    script_def.kind = FLR_SCRIPT_REMOVAL;
    script_def.path = fit->path;
    script_def.path_count = fit->path_count;
    flr_script *script = NULL;
    flr_device *device = NULL;
    fits_watch *w = calloc(1, sizeof *w);
    if (!w) result = flr_fail(error, FLR_NO_MEMORY, "out of memory");
    if (result == FLR_OK) result = flr_script_create(&script_def, &script, error);
    flr_hand_def hand = flr_default_hand_def();
    if (result == FLR_OK) {
        hand.target = flr_script_target(script);
        result = flr_device_open(&flr_hand_driver, &hand, &device, error);
    }
    if (result == FLR_OK) {
        w->row = to;
        w->limit_us = 4e6 * options->repeat / options->divide;
        /* half a second more for the hand to arrive */
        double frames = (flr_script_duration(script) + 0.5) * FITS_RATE;
        result = run_stage(env, fit, stage, device, (uint64_t)fmin(frames, MAX_FRAMES), w, error);
        take_times(&w->times, to);
    }
    free(w);
    flr_device_close(device);
    flr_script_destroy(script);
    flr_stage_destroy(stage);
    return result;
}

/* ---- peers ---- */

#ifdef FLR_PEERS
/* at even places of the path, in order */
static flr_pose pose_at(const flr_fit_case *fit, size_t i, size_t count)
{
    double k = (double)(fit->path_count - 1) * (double)i / (double)count;
    size_t n = (size_t)k;
    return flr_pose_interpolate(fit->path[n].T_world_part, fit->path[n + 1].T_world_part,
                                k - (double)n);
}

static flr_result ask_peer(const flr_bench_options *options, const flr_fit_case *fit, size_t index,
                           fits_row *to, flr_error *error)
{
    *to = (fits_row){.name = flr_fit_peer_name(index),
                     .peer = true,
                     .lower = NAN,
                     .upper = NAN,
                     .exact = NAN,
                     .way = NAN};
    flr_histogram *times = calloc(1, sizeof *times);
    if (!times) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    double begin = flr_bench_processor_us();
    flr_fit_peer *peer = flr_fit_peer_create(index, fit->fixed, fit->moving, 0);
    to->seconds = 1e-6 * (flr_bench_processor_us() - begin);
    const size_t count = ASKED / options->divide > 10 ? ASKED / options->divide : 10;
    const double limit = flr_bench_processor_us() + 1e6 * options->repeat / options->divide;
    for (size_t i = 0; i < count && flr_bench_processor_us() < limit; i++) {
        begin = flr_bench_processor_us();
        double answer = flr_fit_peer_query(peer, pose_at(fit, i, count));
        flr_histogram_add(times, nanoseconds(flr_bench_processor_us() - begin));
        if (flr_fit_peer_gives_distance(index))
            to->lower = to->upper = fmin(to->upper, answer);
        else if (answer > to->contacts)
            to->contacts = (uint32_t)answer;
    }
    take_times(times, to);
    flr_fit_peer_destroy(peer);
    free(times);
    return FLR_OK;
}
#endif

/* ---- telling ---- */

static const char *number(double value, double scale, const char *format, char text[32])
{
    snprintf(text, 32, "-");
    if (isfinite(value)) snprintf(text, 32, format, value * scale);
    return text;
}

/* an engine that took the part out */
static bool succeeded(const fits_row *r) { return !r->peer && r->way > 0.9; }

/* the fastest engine: of those that took the part out, if there are any; NULL: there is none */
static const fits_row *fastest_engine(const fits_row *rows, size_t count)
{
    const fits_row *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const fits_row *r = &rows[i];
        if (r->peer) continue;
        if (!best || succeeded(r) > succeeded(best) ||
            (succeeded(r) == succeeded(best) && r->p99 < best->p99))
            best = r;
    }
    return best;
}

static void tell_row(const fits_row *r, const fits_row *against, FILE *out)
{
    char lower[32], upper[32], exact[32], way[32], ratio[32];
    number(r->peer && against ? r->p99 / against->p99 : NAN, 1,
           against && succeeded(against) ? "%.2f" : "%.2f*", ratio);
    fprintf(out, "  %-15s %6llu %9.1f %9.1f %9.1f %9.1f %8u %9s %9s %9s %6s %7s\n", r->name,
            (unsigned long long)r->count, r->p50, r->p99, r->p999, r->max, r->contacts,
            number(r->lower, 1e3, "%.4f", lower), number(r->upper, 1e3, "%.4f", upper),
            number(r->exact, 1e3, "%.4f", exact), number(r->way, 100, "%.0f %%", way), ratio);
}

static void tell_json(const fits_row *r, bool first, FILE *out)
{
    char lower[32], upper[32], exact[32], way[32];
    const char *json[] = {number(r->lower, 1, "%.9g", lower), number(r->upper, 1, "%.9g", upper),
                          number(r->exact, 1, "%.9g", exact), number(r->way, 1, "%.4f", way)};
    for (int i = 0; i < 4; i++)
        if (!strcmp(json[i], "-")) json[i] = "null";
    fprintf(out,
            "%s\n    {\"name\": \"%s\", \"peer\": %s, \"count\": %llu, \"us\": {\"p50\": %.2f, "
            "\"p99\": %.2f, \"p999\": %.2f, \"max\": %.2f}, \"contacts\": %u, \"lower\": %s, "
            "\"upper\": %s, \"exact\": %s, \"way\": %s, \"build_seconds\": %.4f}",
            first ? "" : ",", r->name, r->peer ? "true" : "false", (unsigned long long)r->count,
            r->p50, r->p99, r->p999, r->max, r->contacts, json[0], json[1], json[2], json[3],
            r->seconds);
}

static void tell_case(const flr_bench_options *options, const flr_fit_case *fit,
                      const fits_row *rows, size_t count, bool first, FILE *out)
{
    if (options->json) {
        char gap[32];
        number(fit->gap > 0 ? fit->gap : NAN, 1, "%.9g", gap);
        fprintf(out,
                "%s\n  {\"fit\": \"%s\", \"gap\": %s, \"triangles\": {\"static\": %u, \"moving\": "
                "%u}, \"voxel\": %.9g, \"rows\": [",
                first ? "" : ",", fit->name, strcmp(gap, "-") ? gap : "null",
                fit->fixed->triangle_count, fit->moving->triangle_count, fit->scene->voxel);
        for (size_t i = 0; i < count; i++) tell_json(&rows[i], i == 0, out);
        fputs("]}", out);
    } else {
        fprintf(out, "\n%s: %u triangles in %u; voxels of %g mm\n", fit->name,
                fit->moving->triangle_count, fit->fixed->triangle_count, fit->scene->voxel * 1e3);
        for (size_t i = 0; i < count; i++) tell_row(&rows[i], fastest_engine(rows, count), out);
    }
    fflush(out);
}

static void tell_head(const flr_bench_options *options, FILE *out)
{
    fprintf(out,
            "a frame of a simulated hand at %d Hz, from assembled to free; processor time of the "
            "thread; a run ends after %.3g s\nleast distance in mm: reported (from, to), and exact "
            "at %d poses of the run; way: how much of the path was made\n",
            FITS_RATE, 4.0 * options->repeat / options->divide, MEASURED);
#ifdef FLR_PEERS
    fprintf(out, "peers: one query at poses of the path; ratio: their p99 over that of the fastest "
                 "engine that took the part out (*: none did)\n");
#else
    fprintf(out, "peers (FCL, ODE, Bullet): not built in; cmake -DFLR_PEERS=ON adds them\n");
#endif
    fprintf(out, "  %-15s %6s %9s %9s %9s %9s %8s %9s %9s %9s %6s %7s\n", "", "frames", "p50 [us]",
            "p99 [us]", "p99.9", "worst", "contacts", "from", "to", "exact", "way", "ratio");
}

/* ---- all of it ---- */

static flr_result bench_case(flr_env *env, const flr_bench_options *options,
                             const flr_fit_case *fit, bool first, FILE *out, void *context,
                             flr_error *error)
{
    (void)context;
    fits_row rows[ROWS];
    size_t count = 0;
    flr_result result = FLR_OK;
    for (size_t i = 0; i < ENGINES && result == FLR_OK; i++)
        if (!options->engine || !strcmp(options->engine, engines[i].name))
            result = run_engine(env, options, fit, &engines[i], &rows[count++], error);
#ifdef FLR_PEERS
    for (size_t i = 0; i < flr_fit_peer_count() && result == FLR_OK; i++) {
        result = ask_peer(options, fit, i, &rows[count++], error);
        if (flr_bench_stopped()) result = flr_fail(error, FLR_CANCELLED, "stopped");
    }
#endif
    if (result == FLR_OK) tell_case(options, fit, rows, count, first, out);
    return result;
}

flr_result flr_bench_fits(flr_env *env, const flr_bench_options *options, FILE *out,
                          flr_error *error)
{
    if (!is_engine(options->engine))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "no engine \"%s\"; use shell, smooth, spheres or exact", options->engine);
    return flr_fit_cases_bench(env, options, out, tell_head, bench_case, NULL, error);
}
