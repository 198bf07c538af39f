/* temporal coherence beside culling: what a frame costs along the scenarios' own motions, and how far the travel limit slows
 * them down
 *
 * A motion is cut into frames of a millisecond. Where the travel limit does not allow a frame's way, the part goes as
 * far as it may and is late from then on. All engines are asked the same poses. Times are processor times of the
 * thread, so that what else the machine does is not charged. */
#include "bench/coherent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/contact.h"
#include "feeler/voxels.h"
#include "models/models.h"
#include "picture/plot.h"

enum {
    BENCH_COHERENT_MAX_FRAMES = 25000,
    MAX_TESTS = 100000000
}; /* in a walk, whichever comes first */

#define BENCH_COHERENT_SHARE 500.0  /* microseconds of a frame that contact may take */
#define THEN_TESTS           2000.0 /* that a processor did in a millisecond in 2005 */

/* the engines that are timed */
enum { COHERENT, BEST, SCALAR };
static const char *const names[FLR_BENCH_ENGINES] = {"coherent", "culled", "culled, scalar"};

typedef struct bench_coherent_walk {
    const flr_bench_motion *motion;
    flr_contact_params params;
    flr_contact_table *table;
    flr_coherent *engine;
    flr_contact_pair *pairs[FLR_BENCH_ENGINES]; /* not that of COHERENT */
    flr_pose *poses;                            /* [most], as they were asked */
    double *us;                                 /* [most] */
    size_t frames, most;
} bench_coherent_walk;

static void free_walk(bench_coherent_walk *w)
{
    flr_coherent_destroy(w->engine);
    for (int i = 0; i < FLR_BENCH_ENGINES; i++) flr_contact_pair_destroy(w->pairs[i]);
    flr_contact_table_destroy(w->table);
    free(w->poses);
    free(w->us);
}

static flr_result begin_walk(bench_coherent_walk *w, const flr_bench_motion *motion,
                             unsigned divide, flr_error *error)
{
    *w = (bench_coherent_walk){.motion = motion,
                               .params = flr_default_contact_params(),
                               .most = divide < BENCH_COHERENT_MAX_FRAMES / 100
                                           ? BENCH_COHERENT_MAX_FRAMES / divide
                                           : 100};
    w->params.awareness = true; /* as published */
    w->params.force_layer = motion->layer;
    w->params.displacement = motion->displacement;
    w->poses = calloc(w->most, sizeof *w->poses);
    w->us = calloc(w->most, sizeof *w->us);
    if (!w->poses || !w->us) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    flr_result result = flr_contact_table_create(motion->voxmap, &w->table, error);
    for (int i = BEST; i < FLR_BENCH_ENGINES && result == FLR_OK; i++) {
        flr_contact_pair_def def = flr_default_contact_pair_def();
        def.shell = motion->shell;
        def.voxmap = motion->voxmap;
        def.table = w->table;
        def.simd = i == BEST ? FLR_SIMD_BEST : FLR_SIMD_SCALAR;
        result = flr_contact_pair_create(&def, &w->pairs[i], error);
    }
    return result;
}

/* ---- the motion ---- */

/* The pose at this frame of the motion as it was meant. */
static flr_pose wanted(const flr_bench_motion *m, double frame)
{
    double at = frame / m->frames_per_pose, whole = floor(at), part = at - whole;
    size_t i = (size_t)whole;
    if (i + 1 >= m->count) return m->poses[m->count - 1];
    const flr_pose *a = &m->poses[i], *b = &m->poses[i + 1];
    double dot = a->q.w * b->q.w + a->q.x * b->q.x + a->q.y * b->q.y + a->q.z * b->q.z,
           to = dot < 0 ? -part : part, from = 1 - part;
    flr_pose T;
    T.p = flr_vec3_add(flr_vec3_scale(a->p, from), flr_vec3_scale(b->p, part));
    T.q = flr_quat_normalize((flr_quat){from * a->q.w + to * b->q.w, from * a->q.x + to * b->q.x,
                                        from * a->q.y + to * b->q.y, from * a->q.z + to * b->q.z});
    return T;
}

/* Goes through the motion within the limit, at most so many frames; what it was like goes into the row. */
static void go(bench_coherent_walk *w, size_t most, flr_bench_row *row)
{
    const flr_bench_motion *m = w->motion;
    double voxel = flr_voxmap_get_info(m->voxmap).voxel, at = 0,
           end = (double)(m->count - 1) * m->frames_per_pose;
    flr_coherent_result r;
    flr_coherent_reset(w->engine);
    row->least_limit = INFINITY;
    for (w->frames = 0; w->frames < most;) {
        flr_pose T = wanted(m, at);
        w->poses[w->frames++] = T;
        flr_coherent_query(w->engine, T, flr_pose_identity(), &w->params, &r);
        double limit = r.max_travel / voxel;
        row->below_half += limit < 0.5 * (1 - 1e-9);
        row->least_limit = fmin(row->least_limit, limit);
        row->tested[COHERENT] += (double)r.contact.points_tested;
        row->lookups += (double)r.lookups;
        row->late += r.late && !r.rescanned;
        if (at >= end || row->tested[COHERENT] > MAX_TESTS) break;
        double step = fmin(1, end - at), way;
        row->slowed += flr_coherent_travel(w->engine, T, wanted(m, at + step)) > r.max_travel;
        while ((way = flr_coherent_travel(w->engine, T, wanted(m, at + step))) > r.max_travel)
            step *= 0.99 * r.max_travel / way;
        at += step;
    }
    double frames = (double)w->frames;
    row->frames = w->frames;
    row->slower = at > 0 ? (frames - 1) / at : 1;
    row->below_half /= frames, row->slowed /= frames, row->late /= frames;
    row->tested[COHERENT] /= frames, row->lookups /= frames;
}

/* ---- time ---- */

/* Best of `repeat` for each frame; the first frame, which knows nothing yet, does not count. */
static void time_engine(bench_coherent_walk *w, int engine, unsigned repeat, flr_bench_row *row)
{
    for (unsigned round = 0; round <= repeat; round++) {
        flr_coherent_reset(w->engine);
        for (size_t i = 0; i < w->frames; i++) {
            flr_coherent_result c;
            flr_contact_result r;
            double begin = flr_bench_processor_us();
            if (engine == COHERENT)
                flr_coherent_query(w->engine, w->poses[i], flr_pose_identity(), &w->params, &c);
            else
                flr_contact_query(w->pairs[engine], w->poses[i], flr_pose_identity(), &w->params,
                                  &r);
            double spent = flr_bench_processor_us() - begin;
            w->us[i] = round <= 1 ? spent : fmin(w->us[i], spent); /* the first round warms up */
            if (engine != COHERENT && round == 0)
                row->tested[engine] += (double)r.points_tested / (double)w->frames;
        }
    }
    size_t count = w->frames - 1;
    row->p50[engine] = flr_bench_percentile(w->us + 1, count, 0.5);
    row->p99[engine] = flr_bench_percentile(w->us + 1, count, 0.99);
}

static flr_result make_engine(bench_coherent_walk *w, double tests, flr_error *error)
{
    flr_coherent_destroy(w->engine);
    w->engine = NULL;
    flr_coherent_def def = flr_default_coherent_def();
    def.shell = w->motion->shell;
    def.voxmap = w->motion->voxmap;
    def.table = w->table;
    def.tests_per_frame = tests;
    return flr_coherent_create(&def, &w->engine, error);
}

/* The capacity: what flr_coherent_calibrate() measures, but in processor time, and where there is most to look at. */
static double capacity(bench_coherent_walk *w)
{
    const flr_bench_motion *m = w->motion;
    uint64_t most = 0;
    flr_pose T = m->poses[0];
    for (size_t i = 0; i < m->count; i++) {
        flr_contact_result r;
        flr_contact_query(w->pairs[BEST], m->poses[i], flr_pose_identity(), &w->params, &r);
        if (r.points_tested <= most) continue;
        most = r.points_tested;
        T = m->poses[i];
    }
    double best = 1;
    for (int round = 0; round < 8; round++) {
        flr_coherent_result r;
        flr_coherent_reset(w->engine);
        double begin = flr_bench_processor_us();
        flr_coherent_query(w->engine, T, flr_pose_identity(), &w->params, &r);
        best = fmax(best, (double)r.contact.points_tested / (flr_bench_processor_us() - begin));
    }
    return best * BENCH_COHERENT_SHARE;
}

flr_result flr_bench_coherent_add(const flr_bench_options *options, const flr_bench_motion *motion,
                                  flr_bench_rows *rows, flr_error *error)
{
    bench_coherent_walk w;
    if (rows->count + 2 > FLR_BENCH_ROWS || motion->count < 2) return FLR_OK;
    flr_result result = begin_walk(&w, motion, options->divide, error);
    unsigned repeat = options->repeat < 3 ? options->repeat : 3;
    /* first with the capacity of 2005, to see how slow motion would be, then with that of this processor */
    for (int now = 0; now < 2 && result == FLR_OK; now++) {
        double tests = now ? capacity(&w) : THEN_TESTS;
        result = make_engine(&w, tests, error);
        if (result != FLR_OK) break;
        flr_bench_row *row = &rows->row[rows->count++];
        *row = (flr_bench_row){.tests = tests, .points = motion->shell->total};
        snprintf(row->name, sizeof row->name, "%s", motion->name);
        go(&w, now ? w.most : w.most / 10, row);
        for (int i = 0; now && i < FLR_BENCH_ENGINES; i++) time_engine(&w, i, repeat, row);
    }
    free_walk(&w);
    return result;
}

/* A bracket that goes straight for a knot: the motion that the other scenarios lack. */
static flr_result add_approach(flr_env *env, const flr_bench_options *options, flr_bench_rows *rows,
                               flr_error *error)
{
    flr_model model = {0};
    flr_voxmap *voxmap = NULL;
    flr_shell *shell = NULL;
    flr_pose *poses = NULL;
    flr_voxelize_def def = flr_default_voxelize_def();
    flr_result result = flr_scenario_build(flr_scenario_find("approach"), NULL, &model, error);
    if (result != FLR_OK) return result;
    const flr_mesh *bracket = flr_model_find_mesh(&model, "bracket.stl");
    def.voxel = flr_bench_voxel(options, bracket, 1e-3);
    const flr_model_path *path = &model.paths[0];
    result = flr_voxelize(env, flr_model_find_mesh(&model, "knot.stl"), &def, &voxmap, NULL, NULL,
                          error);
    if (result == FLR_OK) result = flr_voxelize(env, bracket, &def, NULL, &shell, NULL, error);
    if (result == FLR_OK && !(poses = calloc(path->count, sizeof *poses)))
        result = flr_fail(error, FLR_NO_MEMORY, "out of memory");
    if (result == FLR_OK) {
        for (size_t i = 0; i < path->count; i++) poses[i] = path->poses[i].T_world_part;
        flr_bench_motion motion = {.name = "approach",
                                   .shell = shell,
                                   .voxmap = voxmap,
                                   .poses = poses,
                                   .count = path->count,
                                   .frames_per_pose = 1e3 * (path->poses[1].t - path->poses[0].t),
                                   .layer = 2};
        result = flr_bench_coherent_add(options, &motion, rows, error);
    }
    free(poses);
    flr_shell_destroy(shell);
    flr_voxmap_destroy(voxmap);
    flr_model_free(&model);
    return result;
}

/* ---- telling ---- */

static void print_json(const flr_bench_rows *rows, FILE *out)
{
    fputs("\"coherent\": [", out);
    for (size_t i = 0; i < rows->count; i++) {
        const flr_bench_row *r = &rows->row[i];
        fprintf(out,
                "%s\n  {\"scenario\": \"%s\", \"points\": %u, \"tests_per_frame\": %.0f, "
                "\"frames\": %zu, \"slower\": %.4f, \"slowed\": %.4f, \"below_half\": %.4f, "
                "\"least_limit\": %.4f, \"late\": %.4f, \"lookups\": %.1f, \"engines\": [",
                i ? "," : "", r->name, r->points, r->tests, r->frames, r->slower, r->slowed,
                r->below_half, r->least_limit, r->late, r->lookups);
        for (int k = 0; k < FLR_BENCH_ENGINES && r->p50[k] > 0; k++)
            fprintf(out,
                    "%s{\"engine\": \"%s\", \"tested\": %.1f, \"us\": {\"p50\": %.3f, \"p99\": "
                    "%.3f}}",
                    k ? ", " : "", names[k], r->tested[k], r->p50[k], r->p99[k]);
        fputs("]}", out);
    }
    fputs("]", out);
}

static void print_table(const flr_bench_rows *rows, FILE *out)
{
    fprintf(out,
            "\ncoherence beside culling: frames of 1 ms, processor time, p50 / p99 in us; limit: "
            "of travel in a "
            "frame\n%-16s %9s %9s %7s %17s %17s %17s %10s %10s %10s %9s %9s %7s\n",
            "scenario", "points", "capacity", "frames", names[0], names[1], names[2], "tests",
            "lookups", "by culling", "limit<0.5", "least", "slower");
    for (size_t i = 0; i < rows->count; i++) {
        const flr_bench_row *r = &rows->row[i];
        fprintf(out, "%-16s %9u %9.0f %7zu", r->name, r->points, r->tests, r->frames);
        for (int k = 0; k < FLR_BENCH_ENGINES; k++)
            if (r->p50[k] > 0)
                fprintf(out, " %8.1f/%8.1f", r->p50[k], r->p99[k]);
            else
                fprintf(out, " %17s", "");
        fprintf(out, " %10.0f %10.0f %10.0f %8.1f%% %9.3f %6.2fx\n", r->tested[COHERENT],
                r->lookups, r->tested[BEST], 100 * r->below_half, r->least_limit, r->slower);
    }
}

static flr_result plot(flr_env *env, const char *folder, const flr_bench_rows *rows,
                       flr_error *error)
{
    const char *categories[FLR_BENCH_ROWS];
    double bars[FLR_BENCH_ENGINES][FLR_BENCH_ROWS];
    flr_plot_series series[FLR_BENCH_ENGINES];
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const flr_bench_row *r = &rows->row[i];
        if (!(r->p50[BEST] > 0)) continue;
        for (int k = 0; k < FLR_BENCH_ENGINES; k++) bars[k][count] = r->p99[k];
        categories[count++] = r->name;
    }
    for (int k = 0; k < FLR_BENCH_ENGINES; k++)
        series[k] = (flr_plot_series){.name = names[k], .y = bars[k], .count = count};
    flr_plot_def def = flr_default_plot_def();
    def.kind = FLR_PLOT_BARS;
    def.title = "Coherence and culling: a frame of a scenario's own motion";
    def.y_label = "time, p99 [us]";
    def.log_y = true;
    def.width = 880;
    def.series = series;
    def.series_count = FLR_BENCH_ENGINES;
    def.categories = categories;
    def.category_count = count;
    return flr_bench_plot(env, folder, "contact-coherent.svg", &def, error);
}

flr_result flr_bench_coherent_tell(flr_env *env, const flr_bench_options *options,
                                   flr_bench_rows *rows, FILE *out, flr_error *error)
{
    flr_result result = add_approach(env, options, rows, error);
    if (result != FLR_OK) return result;
    if (options->json)
        print_json(rows, out);
    else
        print_table(rows, out);
    return options->plots ? plot(env, options->plots, rows, error) : FLR_OK;
}
