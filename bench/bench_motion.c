/* whole motions: does a part stay out of what it touches, how fast can it turn in its socket, does it come out of the gear
 *
 * Hands are simulated: an arm with mass that holds a device of 15 N and 0.1 N m, whose wrenches go through the output guard. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/motion.h"
#include "picture/plot.h"

static double us(uint64_t ns) { return 1e-3 * (double)ns; }

/* ---- 1999, Table 2: potential penetration ---- */

typedef struct rough {
    const char *scenario, *fixed, *moving;
    double voxel, moving_voxel, reach, turn; /* of the hand */
    double lower;                            /* metres: it begins so much below the part's place */
} rough;

/* What the device can give (1999, section 6.3). The *strong* hand's spring is such that half a voxel of stretch, where it is
 * clamped, takes all of it. The paper's is no stiffer than one contact (section 5.2), and its part weighs 12 g (5.1). */
#define STRONG             15.0  /* N */
#define TWIST              0.1   /* N m */
#define BENCH_MOTION_BRISK 20.0  /* m/s^2: by which that may accelerate the part */
#define REFLECTED          0.012 /* kg */

static const rough roughs[] = {
    {"aircraft", "aircraft.stl", "teapot.stl", 5e-3, 5e-3, 0.15, 1, 0.03},
    {"gear", "gear.stl", "actuator.stl", 2.5e-3, 1e-3, 0.15, 1, 0},
};

static const struct way {
    const char *name;
    double braking, unchecked;
    bool paper;   /* spring and mass as the paper has them; false: a strong hand */
    double speed; /* of the hand, as a share of the rough one's */
} ways[] = {
    {"1999, slower", 0, INFINITY, true, 0.5},
    {"1999, sl., brake", 1, INFINITY, true, 0.5},
    {"1999", 0, INFINITY, true, 1},
    {"1999, braking", 1, INFINITY, true, 1},
    {"contact alone", 0, INFINITY, false, 1},
    {"braking", 1, INFINITY, false, 1},
    {"checked", 0, 0, false, 1},
    {"checked, braking", 1, 0, false, 1},
};
enum {
    ROUGHS = sizeof roughs / sizeof *roughs,
    BENCH_MOTION_WAYS = sizeof ways / sizeof *ways,
    SEEDS = 100
};

typedef struct total {
    uint64_t frames, contact, penetration, stopped, exhausted, meeting;
    double least, p50, p99, max, wall; /* metres, microseconds: the worst seed's */
    double force, torque;
} total;

static flr_result rough_seed(flr_env *env, const flr_motion_scene *scene, const rough *what,
                             const struct way *way, uint64_t seed, uint64_t frames, flr_pose *poses,
                             total *sum, flr_error *error)
{
    flr_script_def def = flr_default_script_def();
    def.kind = FLR_SCRIPT_AGGRESSIVE;
    def.start = scene->T_start;
    def.reach = what->reach * way->speed;
    def.turn = what->turn * way->speed;
    def.seed = seed;
    flr_script *script;
    flr_result result = flr_script_create(&def, &script, error);
    if (result != FLR_OK) return result;
    flr_motion_run run = flr_default_motion_run(scene);
    run.target = flr_script_target(script);
    run.frames = frames;
    run.poses = poses;
    run.params.coupling.stiffness =
        way->paper ? run.params.contact.stiffness : 2 * STRONG / scene->voxel;
    if (!way->paper)
        run.params.coupling.turn_stiffness = 2 * TWIST * scene->body.reach / scene->voxel;
    run.params.step.braking = way->braking;
    run.params.unchecked = way->unchecked;
    flr_motion_exact exact = {0};
    result = flr_motion_do(env, &run, error);
    if (result == FLR_OK) result = flr_motion_measure(&run, &exact, error);
    flr_script_destroy(script);
    if (result != FLR_OK) return result;
    sum->frames += frames;
    sum->contact += run.contact_frames;
    sum->penetration += run.penetration_frames;
    sum->stopped += run.stopped_frames;
    sum->exhausted += run.exhausted_frames;
    sum->meeting += exact.meeting;
    sum->least = fmin(sum->least, exact.least);
    sum->p50 = fmax(sum->p50, us(run.step_ns.p50));
    sum->p99 = fmax(sum->p99, us(run.step_ns.p99));
    sum->max = fmax(sum->max, us(run.step_ns.max));
    sum->wall = fmax(sum->wall, us(run.wall_ns.p99));
    sum->force = fmax(sum->force, run.max_force);
    sum->torque = fmax(sum->torque, run.max_torque);
    return FLR_OK;
}

static void print_rough(const rough *what, const struct way *way, const total *t, bool json,
                        bool first, FILE *out)
{
    double ratio = t->contact ? (double)t->penetration / (double)t->contact : 0;
    fprintf(
        out,
        json ? "%s\n  {\"scene\": \"%s\", \"way\": \"%s\", \"frames\": %llu, \"contact_frames\": "
               "%llu, \"penetration_frames\": %llu, \"penetration_ratio\": %.3g, "
               "\"meeting_frames\": %llu, \"least_mm\": %.4g, \"stopped_frames\": %llu, "
               "\"step_us\": {\"p50\": %.1f, \"p99\": %.1f, \"max\": %.1f}, \"wall_p99_us\": "
               "%.1f, \"max_force\": %.3g, \"max_torque\": %.3g}"
             : "%s%-9s %-17s %8llu %8llu %6llu %8.2g %6llu %8.3g %7llu %7.1f %7.1f %8.1f %8.1f "
               "%6.3g %7.2g\n",
        json && !first ? "," : "", what->scenario, way->name, (unsigned long long)t->frames,
        (unsigned long long)t->contact, (unsigned long long)t->penetration, ratio,
        (unsigned long long)t->meeting, t->least * 1e3, (unsigned long long)t->stopped, t->p50,
        t->p99, t->max, t->wall, t->force, t->torque);
    fflush(out);
}

static flr_result bench_rough(flr_env *env, const flr_bench_options *options, const rough *what,
                              const flr_motion_scene *made, bool first, FILE *out, flr_error *error)
{
    flr_motion_scene scene = *made; /* borrows */
    scene.T_start.p.z -= what->lower;
    /* a part that got jammed stays so: often from the beginning */
    const uint64_t frames = 5000, wanted = 100000 / options->divide;
    flr_pose *poses = calloc(frames, sizeof *poses);
    if (!poses) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for poses");
    flr_result result = FLR_OK;
    for (size_t k = 0; k < BENCH_MOTION_WAYS && result == FLR_OK; k++) {
        total sum = {.least = INFINITY};
        scene.body.mass = ways[k].paper ? REFLECTED : STRONG / BENCH_MOTION_BRISK;
        for (uint64_t seed = 1; seed <= SEEDS && sum.contact < wanted && result == FLR_OK; seed++)
            result = rough_seed(env, &scene, what, &ways[k], seed, frames, poses, &sum, error);
        if (result == FLR_OK)
            print_rough(what, &ways[k], &sum, options->json, first && k == 0, out);
    }
    free(poses);
    return result;
}

/* ---- 2005, section 7: a ball turns in its socket ---- */

#define PRESSED 0.7e-3 /* metres: of the hand below the seat */

typedef struct spin {
    flr_pose start;
    flr_vec3 axis;  /* unit */
    double seconds; /* of a full turn, once it turns evenly */
} spin;

/* presses the ball into its socket; gathers speed for half a second */
static flr_pose spin_at(const void *context, double t)
{
    const spin *s = context;
    const double up = 0.5;
    double time = t < up ? t * t / (2 * up) : t - up / 2;
    flr_vec3 turn = flr_vec3_scale(s->axis, FLR_TWO_PI * time / s->seconds);
    flr_pose T = s->start;
    T.q = flr_quat_normalize(flr_quat_mul(flr_quat_from_rotation_vector(turn), T.q));
    T.p.z -= PRESSED * fmin(1, t / up);
    return T;
}

typedef struct turned {
    double seconds, contacts, p99, wall;
    double lag;    /* rad: the part behind the hand, at most, once it turns evenly */
    double shift;  /* metres: of its centre, at most */
    double noise;  /* N m: of the torque above 100 Hz, r.m.s. */
    double torque; /* N m: r.m.s. */
} turned;

/* What is left of a signal above 100 Hz: its difference from a mean over 10 ms. */
static void above_100_hz(const float *six, uint64_t from, uint64_t frames, unsigned window,
                         double *noise, double *whole)
{
    double high = 0, all = 0;
    uint64_t count = 0;
    for (uint64_t i = from + window; i + window < frames; i++)
        for (unsigned k = 3; k < 6; k++) {
            double mean = 0;
            for (unsigned j = 0; j < window; j++)
                mean += (double)six[6 * (i + j - window / 2) + k] / window;
            double x = (double)six[6 * i + k];
            high += (x - mean) * (x - mean);
            all += x * x;
            count++;
        }
    *noise = count ? sqrt(3 * high / (double)count) : 0;
    *whole = count ? sqrt(3 * all / (double)count) : 0;
}

static flr_result turn_once(flr_env *env, const flr_motion_scene *scene, double seconds,
                            bool smooth, turned *told, flr_error *error)
{
    spin s = {scene->T_start, flr_vec3_normalize(flr_vec3_make(1, 2, 3)), seconds};
    flr_motion_run run = flr_default_motion_run(scene);
    run.target = (flr_target){spin_at, &s};
    run.frames = 500 + (uint64_t)(2 * seconds * run.rate) + 500;
    run.params.contact.force_layer = 0;
    run.params.contact.displacement = -0.5 * scene->voxel; /* as the scenario has it */
    run.params.contact.model = smooth ? FLR_FORCE_SMOOTH : FLR_FORCE_TANGENT;
    run.poses = calloc(run.frames, sizeof *run.poses);
    run.felt = calloc(6 * run.frames, sizeof *run.felt);
    flr_result result = run.poses && run.felt
                            ? flr_motion_do(env, &run, error)
                            : flr_fail(error, FLR_NO_MEMORY, "not enough memory for poses");
    if (result == FLR_OK) {
        *told = (turned){.seconds = seconds,
                         .contacts = run.mean_contacts,
                         .p99 = us(run.step_ns.p99),
                         .wall = us(run.wall_ns.p99)};
        for (uint64_t i = 1000; i < run.frames; i++) {
            flr_pose wanted = spin_at(&s, (double)i / run.rate);
            flr_quat turn = flr_quat_mul(wanted.q, flr_quat_conjugate(run.poses[i].q));
            told->lag = fmax(told->lag, flr_vec3_length(flr_quat_to_rotation_vector(turn)));
            told->shift = fmax(told->shift, flr_vec3_distance(scene->T_start.p, run.poses[i].p));
        }
        above_100_hz(run.felt, 1000, run.frames, 10, &told->noise, &told->torque);
    }
    free(run.poses);
    free(run.felt);
    return result;
}

static flr_result bench_ball(flr_env *env, const flr_bench_options *options, bool first, FILE *out,
                             flr_error *error)
{
    static const double times[] = {5.12, 2.56, 1.28, 0.64, 0.32, 0.16};
    flr_model model;
    flr_motion_scene scene;
    flr_result result = flr_scenario_build(flr_scenario_find("ball"), NULL, &model, error);
    if (result != FLR_OK) return result;
    result = flr_motion_scene_make(env, &model, "socket.stl", "ball.stl", 0.35e-3, 0.35e-3, true,
                                   &scene, error);
    for (size_t i = 0; result == FLR_OK && i < 2 * sizeof times / sizeof *times; i++) {
        turned t;
        bool smooth = i % 2;
        result = turn_once(env, &scene, times[i / 2], smooth, &t, error);
        if (result != FLR_OK) break;
        fprintf(
            out,
            options->json
                ? "%s\n  {\"turn_s\": %.3g, \"model\": \"%s\", \"contacts\": %.1f, \"lag_rad\": "
                  "%.4g, \"shift_mm\": %.4g, \"torque_rms\": %.4g, \"torque_above_100_hz\": "
                  "%.4g, \"step_p99_us\": %.1f, \"wall_p99_us\": %.1f}"
                : "%s%8.3g %-8s %8.1f %8.4f %8.4f %10.2e %10.2e %8.1f %8.1f\n",
            options->json && !(first && i == 0) ? "," : "", t.seconds,
            smooth ? "smooth" : "tangent", t.contacts, t.lag, t.shift * 1e3, t.torque, t.noise,
            t.p99, t.wall);
        fflush(out);
    }
    if (result == FLR_OK) flr_motion_scene_free(&scene);
    flr_model_free(&model);
    return result;
}

/* ---- 2005, section 7: the actuator comes out ---- */

typedef struct bench_motion_removal {
    double voxel, moving_voxel, rate;
} bench_motion_removal;

static const bench_motion_removal removals[] = {
    {2.5e-3, 1e-3, 1000}, {2.5e-3, 1e-3, 4000}, {1.25e-3, 0.7e-3, 1000}};

static flr_result remove_part(flr_env *env, const flr_bench_options *options,
                              const flr_model *model, const flr_motion_scene *scene,
                              const bench_motion_removal *what, bool first, FILE *out,
                              flr_error *error)
{
    flr_script_def def = flr_default_script_def();
    def.kind = FLR_SCRIPT_REMOVAL;
    for (size_t i = 0; i < model->path_count; i++)
        if (!strcmp(model->paths[i].name, "removal"))
            def.path = model->paths[i].poses, def.path_count = model->paths[i].count;
    flr_script *script;
    flr_result result = flr_script_create(&def, &script, error);
    if (result != FLR_OK) return result;
    flr_motion_run run = flr_default_motion_run(scene);
    run.target = flr_script_target(script);
    run.rate = what->rate;
    run.frames = (uint64_t)((flr_script_duration(script) + 0.5) * what->rate);
    run.poses = calloc(run.frames, sizeof *run.poses);
    flr_motion_exact exact = {0};
    result = run.poses ? flr_motion_do(env, &run, error)
                       : flr_fail(error, FLR_NO_MEMORY, "not enough memory for poses");
    if (result == FLR_OK) result = flr_motion_measure(&run, &exact, error);
    if (result == FLR_OK) {
        double off = flr_vec3_distance(run.T_end.p, run.T_wanted.p);
        double held = (double)(run.stopped_frames + run.limited_frames) / (double)run.frames;
        fprintf(out,
                options->json
                    ? "%s\n  {\"voxel_mm\": %.4g, \"point_mm\": %.4g, \"points\": %llu, \"rate\": "
                      "%g, \"frames\": %llu, \"step_us\": {\"p50\": %.1f, \"p99\": %.1f, \"max\": "
                      "%.1f}, \"wall_p99_us\": %.1f, \"contact_frames\": %llu, \"held_share\": "
                      "%.3g, \"least_mm\": %.4g, \"meeting_frames\": %llu, \"off_mm\": %.4g}"
                    : "%s%6.3g %6.3g %9llu %6g %7llu %7.1f %7.1f %8.1f %8.1f %8llu %8.2g %7.3g "
                      "%6llu %8.3g\n",
                options->json && !first ? "," : "", scene->voxel * 1e3, scene->moving_voxel * 1e3,
                (unsigned long long)scene->shell->total, what->rate, (unsigned long long)run.frames,
                us(run.step_ns.p50), us(run.step_ns.p99), us(run.step_ns.max), us(run.wall_ns.p99),
                (unsigned long long)run.contact_frames, held, exact.least * 1e3,
                (unsigned long long)exact.meeting, off * 1e3);
        fflush(out);
    }
    free(run.poses);
    flr_script_destroy(script);
    return result;
}

/* ---- all of it ---- */

static void head(const flr_bench_options *options, const char *title, const char *key,
                 const char *columns, FILE *out)
{
    if (options->json)
        fprintf(out, ",\"%s\":[", key);
    else
        fprintf(out, "\n%s\n\n%s\n", title, columns);
}

static void foot(const flr_bench_options *options, FILE *out)
{
    if (options->json) fprintf(out, "]");
}

static flr_result bench_gear(flr_env *env, const flr_bench_options *options, bool rough_too,
                             FILE *out, flr_error *error)
{
    flr_model model;
    flr_result result = flr_scenario_build(flr_scenario_find("gear"), NULL, &model, error);
    if (result != FLR_OK) return result;
    flr_motion_scene scene = {0};
    /* a quick look leaves out the fine one; with larger voxels than these there is no way out */
    size_t count = rough_too ? 1 : options->divide > 1 ? 2 : sizeof removals / sizeof *removals;
    for (size_t i = 0; i < count && result == FLR_OK; i++) {
        double voxel = removals[i].voxel, moving = removals[i].moving_voxel;
        if (scene.voxel != voxel) {
            flr_motion_scene_free(&scene);
            result = flr_motion_scene_make(env, &model, "gear.stl", "actuator.stl", voxel, moving,
                                           false, &scene, error);
        }
        if (result == FLR_OK)
            result = rough_too ? bench_rough(env, options, &roughs[1], &scene, false, out, error)
                               : remove_part(env, options, &model, &scene, &removals[i], i == 0,
                                             out, error);
    }
    flr_motion_scene_free(&scene);
    flr_model_free(&model);
    return result;
}

static flr_result bench_aircraft(flr_env *env, const flr_bench_options *options, FILE *out,
                                 flr_error *error)
{
    flr_model model;
    flr_motion_scene scene;
    const rough *what = &roughs[0];
    flr_result result = flr_scenario_build(flr_scenario_find(what->scenario), NULL, &model, error);
    if (result != FLR_OK) return result;
    result = flr_motion_scene_make(env, &model, what->fixed, what->moving, what->voxel,
                                   what->moving_voxel, false, &scene, error);
    if (result == FLR_OK) {
        result = bench_rough(env, options, what, &scene, true, out, error);
        flr_motion_scene_free(&scene);
    }
    flr_model_free(&model);
    return result;
}

flr_result flr_bench_motions(flr_env *env, const flr_bench_options *options, FILE *out,
                             flr_error *error)
{
    flr_bench_conditions conditions = flr_bench_look(env);
    if (options->json) {
        fprintf(out, "{\"bench\":\"motion\",");
        flr_bench_print_conditions(&conditions, true, out);
    } else {
        fprintf(out,
                "Whole motions; times in microseconds of processor time, wall: by the clock\n");
        flr_bench_print_conditions(&conditions, false, out);
    }
    head(
        options, "A ball turns in its socket (2005, section 7: 1.28 s, about 250 contacts)", "ball",
        "  turn s model    contacts  lag rad shift mm  torque Nm >100Hz Nm      p99 wall p99", out);
    flr_result result = bench_ball(env, options, true, out, error);
    foot(options, out);
    if (result != FLR_OK) return result;
    head(
        options,
        "Rough hands (1999, Table 2): frames in which a point is in layer 1, surfaces that meet",
        "rough",
        "scene     kept out by         frames  contact layer1    ratio   meet least mm stopped     "
        "p50     p99      max wall p99  max N  max Nm",
        out);
    result = bench_aircraft(env, options, out, error);
    if (result == FLR_OK) result = bench_gear(env, options, true, out, error);
    foot(options, out);
    if (result != FLR_OK) return result;
    head(options, "The actuator comes out of the gear (2005, section 7)", "removal",
         " voxel  point    points   rate  frames     p50     p99      max wall p99  contact     "
         "held "
         "least mm  meet   off mm",
         out);
    result = bench_gear(env, options, false, out, error);
    foot(options, out);
    if (options->json) fprintf(out, "}\n");
    return result;
}
