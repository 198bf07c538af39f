/* rough-fits: rough hands pull, shake and hit parts in tight fits, at several rates
 *
 * The exact engine promises that surfaces never meet and that a nut leaves its bolt by turning only. Here hands try to break
 * both: pulls along the axis with 200 N, taps, hammer blows from all sides, twists. After every frame the triangles are
 * compared by feeler/distance.h, which shares no code with the engine. A thread counts as stripped when the nut is farther from
 * its helix than a quarter of the lead. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/fit_cases.h"
#include "feeler/distance.h"
#include "feeler/fit.h"
#include "feeler/world.h"

enum { ROUGH_FRAMES = 3000, SPELL = 50 }; /* frames of a fit; frames that a hand does the same */
#define ROUGH_STRENGTH 20.0               /* of a hand: 200 N and 10 N m */
#define ROUGH_MASS     0.1                /* kg */
#define NEARLY_OUT     0.4                /* of the path */

static const double rates[] = {250, 1000, 4000};
enum { ROUGH_RATES = sizeof rates / sizeof *rates };

/* One fit in hand. */
typedef struct rough_rig {
    flr_fit *fits[2];
    flr_gauge_part *gauges[2];
    flr_gauge_witness witness;
    flr_world *world;
    flr_pose start;
    void *begun;   /* the world's state at the start */
    flr_vec3 axis; /* unit: the way out */
    double out;    /* metres: how far the path leads */
    double lead;   /* metres a turn; 0: no thread */
    double turned; /* rad, all turns counted */
    uint64_t seed;
} rough_rig;

typedef struct rough_count {
    uint64_t frames, contact, meeting, stripped, exhausted, faults;
    double play; /* metres off the helix, at most */
    flr_histogram times;
} rough_count;

/* ---- hands ---- */

/* -1 … 1 */
static double any(rough_rig *rig)
{
    rig->seed = rig->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(rig->seed >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static flr_vec3 any_vector(rough_rig *rig, double size)
{
    double x = any(rig), y = any(rig), z = any(rig);
    return flr_vec3_make(size * x, size * y, size * z);
}

/* Where the hand is in a frame: 0.1 m from its part are 200 N. */
static flr_pose hand_at(rough_rig *rig, uint64_t frame, flr_pose T_part)
{
    flr_pose T = rig->start;
    const double side = frame / SPELL / 2 % 2 ? 1 : -1;
    switch (frame / SPELL % 4) {
    case 0: /* pulls */
        T.p = flr_vec3_add_scaled(T.p, 0.15 * side, rig->axis);
        return T;
    case 1: /* blows, a new one in each frame */
        T.p = flr_vec3_add_scaled(T.p, 0.4 * any(rig), rig->axis);
        T.p = flr_vec3_add(T.p, any_vector(rig, 0.2));
        return T;
    case 2: /* taps: now and then, and nothing in between */
        if (frame % 7 == 0)
            T.p = flr_vec3_add(T.p, any_vector(rig, 0.1));
        else
            T = T_part;
        return T;
    default: /* twists while it pulls, and is let go every other time */
        T.p = flr_vec3_add_scaled(T.p, 0.1 * side, rig->axis);
        T.p = flr_vec3_add(T.p, any_vector(rig, 0.02));
        T.q = flr_quat_mul(flr_quat_from_rotation_vector(any_vector(rig, 0.4)), T_part.q);
        return T;
    }
}

/* How far the part is off its helix. */
static double play_of(rough_rig *rig, flr_pose T)
{
    const flr_vec3 turn = flr_quat_to_rotation_vector(
        flr_quat_normalize(flr_quat_mul(T.q, flr_quat_conjugate(rig->start.q))));
    double now = flr_vec3_dot(turn, rig->axis);
    while (now - rig->turned > FLR_PI) now -= FLR_TWO_PI;
    while (now - rig->turned < -FLR_PI) now += FLR_TWO_PI;
    rig->turned = now;
    return fabs(flr_vec3_dot(flr_vec3_sub(T.p, rig->start.p), rig->axis) -
                rig->lead * now / (FLR_TWO_PI));
}

/* ---- a run ---- */

static void run_frames(rough_rig *rig, const flr_bench_options *options, uint64_t frames,
                       rough_count *count)
{
    for (uint64_t i = 0; i < frames && !flr_bench_stopped() && !flr_bench_is_late(options); i++) {
        flr_world_frame frame;
        const flr_body *part = flr_world_body(rig->world, 1);
        flr_world_input input = {.T_world_hand = hand_at(rig, i, part->T_world_part),
                                 .fresh = true};
        const double begin = flr_bench_processor_us();
        flr_world_step(rig->world, &input, &frame);
        flr_histogram_add(&count->times, (uint64_t)(1e3 * (flr_bench_processor_us() - begin)));
        const flr_pose T = flr_world_body(rig->world, 1)->T_world_part;
        count->frames++;
        count->contact += frame.contacts > 0 || frame.stopped > 0;
        count->exhausted += frame.exhausted > 0;
        count->faults += frame.faults != 0;
        count->meeting += flr_gauge_within(rig->gauges[0], rig->gauges[1], flr_pose_identity(), T,
                                           0, 0, &rig->witness) == FLR_ANSWER_YES;
        if (rig->lead != 0) {
            const double play = play_of(rig, T);
            count->play = fmax(count->play, play);
            count->stripped += play > fabs(rig->lead) / 4;
        }
        /* who is nearly out begins again */
        if (flr_vec3_length(flr_vec3_sub(T.p, rig->start.p)) > NEARLY_OUT * rig->out) {
            flr_world_load(rig->world, rig->begun, flr_world_state_size(rig->world));
            rig->turned = 0;
        }
    }
}

static flr_result make_world(rough_rig *rig, const flr_fit_case *fit, double rate, flr_error *error)
{
    flr_world_part parts[2] = {flr_default_world_part(), flr_default_world_part()};
    flr_world_def def = flr_default_world_def();
    flr_result result = flr_body_def_from_mesh(fit->moving, 7850, &parts[1].body, error);
    if (result != FLR_OK) return result;
    parts[0].fit = rig->fits[0], parts[1].fit = rig->fits[1];
    parts[1].kind = FLR_PART_MOVABLE;
    parts[1].body.T_world_part = rig->start;
    parts[1].body.mass = ROUGH_MASS;
    def.parts = parts;
    def.part_count = 2;
    def.dt = 1 / rate;
    def.params.engine = FLR_ENGINE_EXACT;
    def.params.exact.strength = ROUGH_STRENGTH;
    result = flr_world_create(&def, &rig->world, error);
    if (result != FLR_OK) return result;
    flr_world_input input = {.T_world_hand = rig->start, .fresh = true};
    flr_world_step(rig->world, &input, NULL);
    if (!flr_world_grab(rig->world, 0, 1))
        return flr_fail(error, FLR_BAD_INPUT, "%s: the part cannot be held", fit->name);
    rig->begun = malloc(flr_world_state_size(rig->world));
    if (!rig->begun) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    flr_world_save(rig->world, rig->begun);
    return FLR_OK;
}

/* The way out, and how far a turn leads. */
static void find_axis(rough_rig *rig, const flr_fit_case *fit)
{
    const flr_pose a = fit->path[0].T_world_part, b = fit->path[1].T_world_part;
    const flr_vec3 out = flr_vec3_sub(fit->path[fit->path_count - 1].T_world_part.p, a.p);
    rig->start = a;
    rig->axis = flr_vec3_normalize(out);
    rig->out = flr_vec3_length(out);
    const flr_vec3 turn =
        flr_quat_to_rotation_vector(flr_quat_normalize(flr_quat_mul(b.q, flr_quat_conjugate(a.q))));
    const double along = flr_vec3_dot(turn, rig->axis),
                 shift = flr_vec3_dot(flr_vec3_sub(b.p, a.p), rig->axis);
    rig->lead = fabs(along) > 1e-3 && fabs(shift) > 1e-9 ? shift / along * 2 * acos(-1) : 0;
}

static flr_result run_case(const flr_fit_case *fit, const flr_bench_options *options,
                           uint64_t frames, rough_count *count, flr_error *error)
{
    rough_rig rig = {.seed = options->seed, .witness = flr_no_witness()};
    const flr_mesh *meshes[2] = {fit->fixed, fit->moving};
    flr_result result = FLR_OK;
    find_axis(&rig, fit);
    for (int i = 0; i < 2 && result == FLR_OK; i++) {
        result = flr_fit_build(meshes[i], NULL, &rig.fits[i], error);
        if (result == FLR_OK) result = flr_gauge_part_create(meshes[i], &rig.gauges[i], error);
    }
    for (int r = 0; r < ROUGH_RATES && result == FLR_OK; r++) {
        rig.turned = 0;
        result = make_world(&rig, fit, rates[r], error);
        if (result == FLR_OK) run_frames(&rig, options, frames / ROUGH_RATES, count);
        flr_world_destroy(rig.world);
        free(rig.begun);
        rig.world = NULL, rig.begun = NULL;
    }
    for (int i = 0; i < 2; i++) {
        flr_gauge_part_destroy(rig.gauges[i]);
        flr_fit_destroy(rig.fits[i]);
    }
    if (result == FLR_OK && flr_bench_stopped()) result = flr_fail(error, FLR_CANCELLED, "stopped");
    return result;
}

/* ---- telling ---- */

static void tell(const flr_bench_options *options, const char *name, const rough_count *c,
                 bool thread, bool first, FILE *out)
{
    const flr_percentiles p = flr_histogram_percentiles(&c->times);
    if (options->json) {
        fprintf(
            out,
            "%s\n  {\"fit\": \"%s\", \"frames\": %llu, \"contact\": %llu, \"meeting\": %llu, "
            "\"stripped\": %llu, \"play\": %.9g, \"exhausted\": %llu, \"faults\": %llu, \"us\": "
            "{\"p50\": %.2f, \"p99\": %.2f, \"p999\": %.2f, \"max\": %.2f}}",
            first ? "" : ",", name, (unsigned long long)c->frames, (unsigned long long)c->contact,
            (unsigned long long)c->meeting, (unsigned long long)c->stripped, c->play,
            (unsigned long long)c->exhausted, (unsigned long long)c->faults, 1e-3 * (double)p.p50,
            1e-3 * (double)p.p99, 1e-3 * (double)p.p999, 1e-3 * (double)p.max);
    } else {
        char play[32] = "-", stripped[32] = "-";
        if (thread) snprintf(play, sizeof play, "%.4f", 1e3 * c->play);
        if (thread) snprintf(stripped, sizeof stripped, "%llu", (unsigned long long)c->stripped);
        fprintf(out, "  %-42s %9llu %9llu %8llu %8s %8s %9llu %9.1f %9.1f %9.1f %9.1f\n", name,
                (unsigned long long)c->frames, (unsigned long long)c->contact,
                (unsigned long long)c->meeting, stripped, play, (unsigned long long)c->exhausted,
                1e-3 * (double)p.p50, 1e-3 * (double)p.p99, 1e-3 * (double)p.p999,
                1e-3 * (double)p.max);
    }
    fflush(out);
}

static void tell_head(const flr_bench_options *options, FILE *out)
{
    (void)options;
    fprintf(
        out,
        "hands with %.0f N pull, tap, hit and twist at 250, 1000 and 4000 Hz; meeting: frames "
        "after "
        "which triangles meet,\nby feeler/distance.h; stripped: frames with the nut off its helix; "
        "play: mm off the helix, at most; processor time\n  %-42s %9s %9s %8s %8s %8s %9s %9s "
        "%9s %9s %9s\n",
        10 * ROUGH_STRENGTH, "", "frames", "contact", "meeting", "stripped", "play", "exhausted",
        "p50 [us]", "p99 [us]", "p99.9", "worst");
}

/* What all fits have found together; times are not added up. */
static void add_up(rough_count *sum, const rough_count *c, bool thread)
{
    sum->frames += c->frames, sum->contact += c->contact, sum->meeting += c->meeting;
    sum->stripped += thread ? c->stripped : 0, sum->exhausted += c->exhausted;
    sum->faults += c->faults;
    sum->play = fmax(sum->play, c->play);
    flr_histogram_merge(&sum->times, &c->times);
}

static flr_result bench_case(flr_env *env, const flr_bench_options *options,
                             const flr_fit_case *fit, bool first, FILE *out, void *context,
                             flr_error *error)
{
    (void)env;
    const uint64_t frames = options->frames ? options->frames : ROUGH_FRAMES / options->divide;
    rough_count *count = calloc(1, sizeof *count);
    if (!count) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    rough_rig axis = {0};
    find_axis(&axis, fit);
    flr_result result = run_case(fit, options, frames, count, error);
    if (result == FLR_OK) {
        tell(options, fit->name, count, axis.lead != 0, first, out);
        add_up(context, count, axis.lead != 0);
    }
    free(count);
    return result;
}

flr_result flr_bench_rough_fits(flr_env *env, const flr_bench_options *options, FILE *out,
                                flr_error *error)
{
    rough_count *sum = calloc(1, sizeof *sum);
    if (!sum) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    flr_result result = flr_fit_cases_bench(env, options, out, tell_head, bench_case, sum, error);
    if (result == FLR_OK && !options->json) tell(options, "all", sum, true, true, out);
    if (result == FLR_OK && sum->meeting + sum->stripped + sum->faults > 0)
        result = flr_fail(error, FLR_BAD_INPUT,
                          "of %llu frames, %llu have triangles that meet, %llu a stripped thread "
                          "and %llu a fault",
                          (unsigned long long)sum->frames, (unsigned long long)sum->meeting,
                          (unsigned long long)sum->stripped, (unsigned long long)sum->faults);
    free(sum);
    return result;
}
