/* the continuous check: what it costs to know how far a motion can go, from slow to very fast
 *
 * The motions begin at poses along a scenario's own path and go straight towards a later one. Fast ones cut corners and may
 * be stopped. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "feeler/contact.h"
#include "feeler/voxels.h"

static const struct subject {
    const char *name, *scenario, *fixed, *moving, *path;
    double voxel, moving_voxel;
    unsigned layer;
    double displace; /* in voxels */
} subjects[] = {
    {"ball turns", "ball", "socket.stl", "ball.stl", "turn", 0.35e-3, 0.35e-3, 0, -0.5},
    {"ball seats", "ball", "socket.stl", "ball.stl", "seat", 0.35e-3, 0.35e-3, 0, -0.5},
    {"actuator", "gear", "gear.stl", "actuator.stl", "removal", 2.5e-3, 1e-3, 1, 0},
};
static const double speeds[] = {0.25, 1, 3, 10, 30, 100}; /* voxels in one motion */
enum {
    BENCH_MOTION_CHECK_SUBJECTS = sizeof subjects / sizeof *subjects,
    SPEEDS = sizeof speeds / sizeof *speeds,
    MOTIONS = 200
};

typedef struct bench_motion_check_row {
    double p50, p99, max; /* microseconds */
    double lookups;       /* mean */
    unsigned stopped, count;
} bench_motion_check_row;

/* From one of the path's poses straight towards the first later one that is as far away as asked, and just so far. False: the
 * path ends before. */
static bool motion_of(flr_contact_pair *pair, const flr_model_path *path, size_t from,
                      double travel, const flr_motion_check_params *params, flr_pose_span *span)
{
    flr_pose here = flr_pose_identity();
    flr_pose_span still = {here, here};
    flr_motion_check_params look = *params;
    look.unchecked = INFINITY; /* only the travel is asked for */
    flr_motion_check_result r = {0};
    span->from = path->poses[from].T_world_part;
    for (size_t to = from + 1; to < path->count && r.travel < travel; to++) {
        span->to = path->poses[to].T_world_part;
        flr_contact_check_motion(pair, *span, still, &look, &r);
    }
    if (r.travel < travel) return false;
    span->to = flr_pose_interpolate(span->from, span->to, travel / r.travel);
    return true;
}

static void measure(flr_env *env, flr_contact_pair *pair, const flr_model_path *path, double travel,
                    const flr_motion_check_params *params, unsigned repeat,
                    bench_motion_check_row *told)
{
    flr_pose here = flr_pose_identity();
    flr_pose_span still = {here, here};
    double us[MOTIONS];
    *told = (bench_motion_check_row){0};
    for (size_t i = 0; i < MOTIONS; i++) {
        flr_pose_span span;
        if (!motion_of(pair, path, i * (path->count - 1) / MOTIONS, travel, params, &span))
            continue;
        double best = INFINITY;
        flr_motion_check_result r;
        for (unsigned round = 0; round < repeat; round++) {
            int64_t begin = flr_clock_ns(env);
            flr_contact_check_motion(pair, span, still, params, &r);
            best = fmin(best, (double)(flr_clock_ns(env) - begin) * 1e-3);
        }
        us[told->count++] = best;
        told->lookups += (double)r.lookups;
        told->stopped += r.stopped;
    }
    if (told->count == 0) return;
    qsort(us, told->count, sizeof *us, flr_bench_by_value);
    told->lookups /= told->count;
    told->p50 = us[(told->count - 1) / 2];
    told->p99 = us[(told->count - 1) * 99 / 100];
    told->max = us[told->count - 1];
}

static void print_row(const struct subject *what, double speed, const bench_motion_check_row *r,
                      bool json, bool first, FILE *out)
{
    fprintf(out,
            json ? "%s\n  {\"motion\": \"%s\", \"voxels\": %.6g, \"motions\": %u, \"stopped\": %u, "
                   "\"us\": {\"p50\": %.3f, \"p99\": %.3f, \"max\": %.3f}, \"lookups\": %.1f}"
                 : "%s%-12s %8.4g %8u %8u %9.1f %9.1f %9.1f %10.0f\n",
            json && !first ? "," : "", what->name, speed, r->count, r->stopped, r->p50, r->p99,
            r->max, r->lookups);
    fflush(out);
}

static flr_result bench_subject(flr_env *env, const flr_bench_options *options,
                                const struct subject *what, const flr_model *model, bool *first,
                                FILE *out, flr_error *error)
{
    flr_voxmap *voxmap = NULL;
    flr_shell *shell = NULL;
    flr_contact_pair *pair = NULL;
    const flr_model_path *path = NULL;
    for (size_t i = 0; i < model->path_count; i++)
        if (!strcmp(model->paths[i].name, what->path)) path = &model->paths[i];
    flr_voxelize_def def = flr_default_voxelize_def();
    def.features = false;
    const flr_mesh *fixed = flr_model_find_mesh(model, what->fixed),
                   *moving = flr_model_find_mesh(model, what->moving);
    const double voxel = def.voxel = flr_bench_voxel(options, fixed, what->voxel);
    flr_result result = flr_voxelize(env, fixed, &def, &voxmap, NULL, NULL, error);
    def.voxel = flr_bench_voxel(options, moving, what->moving_voxel);
    if (result == FLR_OK) result = flr_voxelize(env, moving, &def, NULL, &shell, NULL, error);
    flr_contact_pair_def pair_def = flr_default_contact_pair_def();
    pair_def.shell = shell;
    pair_def.voxmap = voxmap;
    if (result == FLR_OK) result = flr_contact_pair_create(&pair_def, &pair, error);
    for (size_t i = 0; result == FLR_OK && i < SPEEDS; i++) {
        flr_motion_check_params params = flr_default_motion_check_params();
        params.layer = what->layer;
        params.displacement = what->displace * voxel;
        bench_motion_check_row r;
        measure(env, pair, path, speeds[i] * voxel, &params, options->repeat, &r);
        if (r.count == 0) continue;
        print_row(what, speeds[i], &r, options->json, *first, out);
        *first = false;
    }
    flr_contact_pair_destroy(pair);
    flr_shell_destroy(shell);
    flr_voxmap_destroy(voxmap);
    return result;
}

flr_result flr_bench_motion_check(flr_env *env, const flr_bench_options *options, FILE *out,
                                  flr_error *error)
{
    flr_bench_begin(env, options, "motion-check", out);
    if (!options->json)
        fprintf(out, "best of %u for each motion\n%-12s %8s %8s %8s %9s %9s %9s %10s\n",
                options->repeat, "motion", "voxels", "motions", "stopped", "p50 [us]", "p99 [us]",
                "max [us]", "lookups");
    flr_model model = {0};
    const char *built = "";
    bool first = true;
    flr_result result = FLR_OK;
    for (size_t i = 0; i < BENCH_MOTION_CHECK_SUBJECTS && result == FLR_OK; i++) {
        result = flr_bench_scenario(subjects[i].scenario, &built, &model, error);
        if (result == FLR_OK)
            result = bench_subject(env, options, &subjects[i], &model, &first, out, error);
    }
    if (result == FLR_OK && options->json) fputs("]}\n", out);
    flr_model_free(&model);
    return result;
}
