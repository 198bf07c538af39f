/* contact: what a query costs along the scenarios' own motions, with every instruction set and each idea switched off;
 * how the cost grows with points, with voxels and with contacts
 *
 * Each pose is asked several times and its best time counts, so that what else the machine does matters less; the
 * percentiles are over the poses. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/coherent.h"
#include "feeler/contact.h"
#include "feeler/voxels.h"
#include "models/kit.h"

/* what moves in what, and what we promise; 0: nothing */
typedef struct bench_contact_subject {
    const char *name, *scenario, *fixed, *moving;
    const char *path; /* NULL: slides about its place */
    double voxel, moving_voxel;
    unsigned layer;
    double displace; /* of the points, in voxels */
    double most_p99; /* microseconds, all ideas together */
} bench_contact_subject;

static const bench_contact_subject subjects[] = {
    {"ball turns", "ball", "socket.stl", "ball.stl", "turn", 0.35e-3, 0.35e-3, 0, -0.5, 0},
    {"ball seats", "ball", "socket.stl", "ball.stl", "seat", 0.35e-3, 0.35e-3, 0, -0.5, 0},
    {"fine ball turns", "ball", "socket.stl", "ball.stl", "turn", 0.15e-3, 0.15e-3, 0, -0.5, 0},
    {"teapot", "aircraft", "aircraft.stl", "teapot.stl", NULL, 5e-3, 5e-3, 2, 0, 0},
    {"actuator", "gear", "gear.stl", "actuator.stl", "removal", 2.5e-3, 1e-3, 2, 0, 300},
    {"fine actuator", "gear", "gear.stl", "actuator.stl", "removal", 1.25e-3, 0.7e-3, 2, 0, 500},
};
enum { BENCH_CONTACT_SUBJECTS = sizeof subjects / sizeof *subjects, BENCH_CONTACT_FEW = 150 };

#define SLIDE_FRAMES 5.0 /* of a millisecond, from pose to pose: up to 0.6 m/s */

/* point tests per millisecond that we promise, by instruction set */
static const double least_rate[] = {0, 120e3, 180e3, 350e3, 0};

typedef struct bench_contact_setup {
    const bench_contact_subject *subject;
    flr_voxmap *voxmap;
    flr_shell *shell;
    flr_pose *poses; /* [count] */
    size_t count;
    double frames_per_pose; /* of a millisecond */
    double displacement;
} bench_contact_setup;

typedef struct bench_contact_timing {
    double p50, p99, max, mean; /* microseconds */
    double tested;              /* lookups, mean */
    uint32_t most_contacts;
    size_t poses;
} bench_contact_timing;

static void free_setup(bench_contact_setup *s)
{
    flr_voxmap_destroy(s->voxmap);
    flr_shell_destroy(s->shell);
    free(s->poses);
    *s = (bench_contact_setup){0};
}

/* ---- motions ---- */

flr_pose flr_bench_slide(flr_pose T, size_t i)
{
    double t = (double)i / FLR_BENCH_SLIDE, turn = FLR_TWO_PI;
    T.p.x += 0.20 * sin(3 * turn * t);
    T.p.y += 0.15 * sin(5 * turn * t + 1);
    T.p.z += 0.05 * sin(7 * turn * t + 2);
    flr_quat q = {cos(turn * t), 0.6 * sin(turn * t), 0, 0.8 * sin(turn * t)};
    T.q = flr_quat_mul(T.q, q);
    return T;
}

static flr_result find_poses(const flr_model *model, bench_contact_setup *s, flr_error *error)
{
    const flr_model_path *path = NULL;
    const flr_scene_part *part = NULL;
    for (size_t i = 0; s->subject->path && i < model->path_count; i++)
        if (!strcmp(model->paths[i].name, s->subject->path)) path = &model->paths[i];
    for (size_t i = 0; i < model->part_count; i++)
        if (!strcmp(model->parts[i].file, s->subject->moving)) part = &model->parts[i];
    s->count = path ? path->count : FLR_BENCH_SLIDE;
    s->frames_per_pose = path ? 1e3 * (path->poses[1].t - path->poses[0].t) : SLIDE_FRAMES;
    s->poses = calloc(s->count, sizeof *s->poses);
    if (!s->poses) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < s->count; i++)
        s->poses[i] = path ? path->poses[i].T_world_part : flr_bench_slide(part->T_world_part, i);
    return FLR_OK;
}

/* ---- measuring ---- */

static flr_result make_voxmap(const flr_mesh *mesh, double voxel, flr_voxmap **voxmap,
                              flr_error *error)
{
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    return flr_voxelize(flr_env_real(), mesh, &def, voxmap, NULL, NULL, error);
}

static flr_result make_shell(const flr_mesh *mesh, double voxel, flr_shell **shell,
                             flr_error *error)
{
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    return flr_voxelize(flr_env_real(), mesh, &def, NULL, shell, NULL, error);
}

static flr_result set_up(const flr_model *model, const bench_contact_subject *what,
                         const flr_bench_options *options, bench_contact_setup *s, flr_error *error)
{
    const flr_mesh *fixed = flr_model_find_mesh(model, what->fixed),
                   *moving = flr_model_find_mesh(model, what->moving);
    const double voxel = flr_bench_voxel(options, fixed, what->voxel);
    *s = (bench_contact_setup){.subject = what, .displacement = what->displace * voxel};
    flr_result result = find_poses(model, s, error);
    if (result == FLR_OK) result = make_voxmap(fixed, voxel, &s->voxmap, error);
    if (result == FLR_OK)
        result = make_shell(moving, flr_bench_voxel(options, moving, what->moving_voxel), &s->shell,
                            error);
    /* once, not in every query */
    if (result == FLR_OK && s->displacement != 0) {
        flr_shell *shell = s->shell;
        result = flr_shell_displace(shell, s->displacement, &s->shell, error);
        flr_shell_destroy(shell);
        if (result != FLR_OK) s->shell = NULL;
        s->displacement = 0;
    }
    if (result != FLR_OK) free_setup(s);
    return result;
}

typedef struct bench_contact_kind {
    flr_simd simd; /* FLR_SIMD_BEST: the reference */
    bool awareness, cull;
    unsigned threads;
} bench_contact_kind;

/* Asks every `stride`-th pose `repeat` times. FLR_UNSUPPORTED: not on this processor. */
static flr_result measure(flr_env *env, const bench_contact_setup *s, bench_contact_kind k,
                          size_t stride, unsigned repeat, bench_contact_timing *told,
                          flr_error *error)
{
    flr_contact_pair_def def = flr_default_contact_pair_def();
    def.shell = s->shell;
    def.voxmap = s->voxmap;
    def.simd = k.simd;
    def.threads = k.threads;
    flr_contact_pair *pair = NULL;
    flr_result result =
        k.simd == FLR_SIMD_BEST ? FLR_OK : flr_contact_pair_create(&def, &pair, error);
    if (result != FLR_OK) return result;
    size_t count = (s->count + stride - 1) / stride;
    double *us = malloc(count * sizeof *us);
    if (!us) {
        flr_contact_pair_destroy(pair);
        return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    }
    flr_contact_params params = flr_default_contact_params();
    params.force_layer = s->subject->layer;
    params.displacement = s->displacement;
    params.awareness = k.awareness;
    params.cull = k.cull;
    bench_contact_timing sum = {.poses = count};
    /* whole paths one after the other, so that a pose is asked with the memory of its neighbour in the caches */
    for (unsigned round = 0; round <= repeat; round++)
        for (size_t i = 0; i < count; i++) {
            flr_contact_result r;
            int64_t begin = flr_clock_ns(env);
            if (pair)
                flr_contact_query(pair, s->poses[i * stride], flr_pose_identity(), &params, &r);
            else
                flr_contact_reference(s->shell, s->voxmap, s->poses[i * stride],
                                      flr_pose_identity(), &params, NULL, 0, &r);
            double spent = (double)(flr_clock_ns(env) - begin) * 1e-3;
            if (round <= 1) us[i] = spent; /* the first round only warms up */
            us[i] = fmin(us[i], spent);
            if (round != repeat) continue;
            sum.tested += (double)r.points_tested / (double)count;
            sum.mean += us[i] / (double)count;
            if (r.contacts > sum.most_contacts) sum.most_contacts = r.contacts;
        }
    sum.p50 = flr_bench_percentile(us, count, 0.5);
    sum.p99 = flr_bench_percentile(us, count, 0.99);
    sum.max = us[count - 1];
    free(us);
    flr_contact_pair_destroy(pair);
    *told = sum;
    return FLR_OK;
}

static flr_simd best_simd(flr_env *env, const bench_contact_setup *s)
{
    bench_contact_timing t;
    for (flr_simd simd = FLR_SIMD_NEON; simd > FLR_SIMD_SCALAR; simd--)
        if (measure(env, s, (bench_contact_kind){simd, true, true, 1}, s->count, 1, &t, NULL) ==
            FLR_OK)
            return simd;
    return FLR_SIMD_SCALAR;
}

/* ---- telling ---- */

static const char *const simd_names[] = {"reference", "scalar", "AVX2", "AVX-512", "NEON"};

/* Point tests per millisecond; with culling: points answered for. Chunks that lie outside of the grid are not tested, and do
 * not count where every point is to be. */
static double rate(const bench_contact_setup *s, bench_contact_kind k,
                   const bench_contact_timing *t)
{
    return (k.cull ? s->shell->total : t->tested) / (t->mean * 1e-3);
}

static void print_row(const bench_contact_setup *s, bench_contact_kind k,
                      const bench_contact_timing *t, bool best, bool bounds, FILE *out)
{
    fprintf(out, "%-16s %-10s %-9s %-9s %6zu %8.1f %8.1f %8.1f %9.0f %9.0f %8u", s->subject->name,
            simd_names[k.simd], k.awareness ? "on" : "off", k.cull ? "on" : "off", t->poses, t->p50,
            t->p99, t->max, t->tested, rate(s, k, t), t->most_contacts);
    if (bounds && best && k.awareness && k.cull && s->subject->most_p99 > 0)
        fprintf(out, "  bound: p99 %.0f us: %s", s->subject->most_p99,
                t->p99 <= s->subject->most_p99 ? "held" : "MISSED");
    if (bounds && !k.cull && !k.awareness && k.simd != FLR_SIMD_BEST)
        fprintf(out, "  bound: %.0f per ms: %s", least_rate[k.simd],
                rate(s, k, t) >= least_rate[k.simd] ? "held" : "MISSED");
    fputc('\n', out);
}

static void print_row_json(const bench_contact_setup *s, bench_contact_kind k,
                           const bench_contact_timing *t, bool first, FILE *out)
{
    fprintf(out,
            "%s\n  {\"scenario\": \"%s\", \"voxel\": %.6g, \"moving_voxel\": %.6g, \"points\": %u, "
            "\"force_layer\": %u, \"engine\": \"%s\", \"awareness\": %s, \"cull\": %s, \"poses\": "
            "%zu, \"us\": {\"p50\": %.3f, \"p99\": %.3f, \"max\": %.3f, \"mean\": %.3f}, "
            "\"tested\": %.1f, \"points_per_ms\": %.0f, \"most_contacts\": %u}",
            first ? "" : ",", s->subject->name, flr_voxmap_get_info(s->voxmap).voxel,
            s->shell->voxel, s->shell->total, s->subject->layer, simd_names[k.simd],
            k.awareness ? "true" : "false", k.cull ? "true" : "false", t->poses, t->p50, t->p99,
            t->max, t->mean, t->tested, rate(s, k, t), t->most_contacts);
}

/* Each idea alone and together, with every instruction set; the reference for comparison. `ideas_p50` gets that of the
 * best instruction set: [0] every point, [1] awareness, [2] culling, [3] both. */
static flr_result bench_subject(flr_env *env, const flr_bench_options *options,
                                const bench_contact_setup *s, bool *first, double ideas_p50[4],
                                FILE *out, flr_error *error)
{
    flr_simd best = best_simd(env, s);
    if (!options->json)
        fprintf(out, "\n%s: %u points of %.3g mm in voxels of %.3g mm, force layer %u\n",
                s->subject->name, s->shell->total, s->shell->voxel * 1e3,
                flr_voxmap_get_info(s->voxmap).voxel * 1e3, s->subject->layer);
    size_t few = s->count > BENCH_CONTACT_FEW ? s->count / BENCH_CONTACT_FEW : 1;
    for (int ideas = 3; ideas >= 0; ideas--)
        for (int i = FLR_SIMD_BEST; i <= FLR_SIMD_NEON; i++) {
            bench_contact_kind k = {(flr_simd)i, ideas & 1, ideas & 2, 1};
            /* the reference knows no culling; it takes long, as does every point without culling */
            if (i == FLR_SIMD_BEST && k.cull) continue;
            unsigned repeat = i == FLR_SIMD_BEST ? 1 : options->repeat;
            bench_contact_timing t;
            flr_result result = measure(env, s, k, k.cull ? 1 : few * (i == FLR_SIMD_BEST ? 4 : 1),
                                        repeat, &t, error);
            if (result == FLR_UNSUPPORTED) continue;
            if (result != FLR_OK) return result;
            if (options->json)
                print_row_json(s, k, &t, *first, out);
            else
                print_row(s, k, &t, k.simd == best, options->divide == 1, out);
            *first = false;
            if (k.simd == best) ideas_p50[ideas] = t.p50;
            fflush(out);
        }
    return FLR_OK;
}

static flr_result plot_ideas(flr_env *env, const char *folder,
                             double p50[BENCH_CONTACT_SUBJECTS][4], flr_error *error)
{
    static const char *const names[4] = {"every point", "awareness", "culling", "both"};
    const char *categories[BENCH_CONTACT_SUBJECTS];
    double bars[4][BENCH_CONTACT_SUBJECTS];
    flr_plot_series series[4];
    for (size_t k = 0; k < 4; k++) {
        for (size_t i = 0; i < BENCH_CONTACT_SUBJECTS; i++) bars[k][i] = p50[i][k];
        series[k] =
            (flr_plot_series){.name = names[k], .y = bars[k], .count = BENCH_CONTACT_SUBJECTS};
    }
    for (size_t i = 0; i < BENCH_CONTACT_SUBJECTS; i++) categories[i] = subjects[i].name;
    flr_plot_def def = flr_default_plot_def();
    def.kind = FLR_PLOT_BARS;
    def.title = "What each idea brings: median time of a query";
    def.y_label = "time [us]";
    def.log_y = true;
    def.series = series;
    def.series_count = 4;
    def.categories = categories;
    def.category_count = BENCH_CONTACT_SUBJECTS;
    return flr_bench_plot(env, folder, "contact-ideas.svg", &def, error);
}

/* ---- growth ---- */

enum { BENCH_CONTACT_GROWN = 7, CULLED = 0, EVERY = 1 };

static flr_bench_growth growth_by(const char *title, const char *by, const char *file)
{
    return (flr_bench_growth){.title = title,
                              .by = by,
                              .y_label = "time of a query [us], p50",
                              .file = file,
                              .names = {"culled", "every point"},
                              .lines = 2};
}

static flr_result grow(flr_env *env, const flr_bench_options *options, const bench_contact_setup *s,
                       double x, flr_bench_growth *g, flr_error *error)
{
    bench_contact_timing culled, all;
    size_t few = s->count > 2 * BENCH_CONTACT_FEW ? s->count / BENCH_CONTACT_FEW / 2 : 1;
    unsigned repeat = options->repeat < 3 ? options->repeat : 3;
    bench_contact_kind k = {best_simd(env, s), true, true, 1};
    flr_result result = measure(env, s, k, few, repeat, &culled, error);
    k.cull = false;
    if (result == FLR_OK) result = measure(env, s, k, few * 2, repeat, &all, error);
    if (result != FLR_OK) return result;
    g->x[g->count] = x;
    g->y[CULLED][g->count] = culled.p50;
    g->y[EVERY][g->count++] = all.p50;
    return FLR_OK;
}

/* A plate that lies on a table, and hangs over its edge but for `width`: ever more contacts of the same points. All points
 * that touch count (no awareness); where it lies it is pressed half a voxel deeper than the force layer begins. */
static flr_result bench_contacts(flr_env *env, const flr_bench_options *options,
                                 flr_bench_growth *g, flr_error *error)
{
    const double side = 0.2, thick = 0.01;
    const bench_contact_subject what = {.name = "plate", .layer = 2};
    bench_contact_setup s = {.subject = &what};
    flr_mesh *plate = NULL, *table = NULL;
    flr_kit kit = flr_kit_begin(1);
    flr_kit_box(&kit, flr_pose_identity(), side, side, thick, 0);
    flr_result result = flr_kit_finish(&kit, &plate, error);
    kit = flr_kit_begin(1);
    flr_kit_box(&kit, flr_pose_identity(), 1.2 * side, 1.2 * side, thick, 0);
    if (result == FLR_OK) result = flr_kit_finish(&kit, &table, error);
    const double voxel = result == FLR_OK ? flr_bench_voxel(options, plate, 1e-3) : 0;
    if (result == FLR_OK) result = make_shell(plate, voxel, &s.shell, error);
    if (result == FLR_OK) result = make_voxmap(table, voxel, &s.voxmap, error);
    for (double part = 1.0 / 128; part <= 1 && result == FLR_OK; part *= 2) {
        /* the plate's right edge lies `part` of its side beyond the table's left edge */
        flr_pose T = flr_pose_identity();
        T.p = flr_vec3_make((part - 0.5 - 0.6) * side, 0, thick + 1.5 * voxel);
        s.poses = &T, s.count = 1;
        bench_contact_timing t[2];
        for (int cull = 0; cull < 2 && result == FLR_OK; cull++)
            result = measure(env, &s, (bench_contact_kind){best_simd(env, &s), false, cull, 1}, 1,
                             20 * options->repeat, &t[cull], error);
        if (result != FLR_OK || !t[1].most_contacts) continue;
        g->x[g->count] = t[1].most_contacts;
        g->y[CULLED][g->count] = t[1].p50;
        g->y[EVERY][g->count++] = t[0].p50;
    }
    s.poses = NULL; /* they were on the stack */
    free_setup(&s);
    flr_mesh_destroy(plate);
    flr_mesh_destroy(table);
    return result;
}

/* The actuator with more and more points in the same voxels, then the same points in ever smaller voxels; the plate. */
static flr_result bench_growth(flr_env *env, const flr_bench_options *options,
                               const flr_model *gear, bench_contact_setup *s, FILE *out,
                               flr_error *error)
{
    static const double sizes[BENCH_CONTACT_GROWN] = {8e-3, 5.6e-3, 4e-3, 2.8e-3,
                                                      2e-3, 1.4e-3, 1e-3};
    static const double voxels[] = {20e-3, 10e-3, 5e-3, 2.5e-3};
    const flr_mesh *actuator = flr_model_find_mesh(gear, "actuator.stl"),
                   *around = flr_model_find_mesh(gear, "gear.stl");
    flr_bench_growth all[3] = {
        growth_by("Actuator in the gear: more points", "points", "contact-points.svg"),
        growth_by("Actuator in the gear: smaller voxels", "surface voxels", "contact-voxels.svg"),
        growth_by("Plate on a table: more contacts", "contacts", "contact-contacts.svg")};
    flr_result result = FLR_OK;
    for (int i = 0; i < BENCH_CONTACT_GROWN && result == FLR_OK; i++) {
        flr_shell *shell;
        result = make_shell(actuator, flr_bench_voxel(options, actuator, sizes[i]), &shell, error);
        if (result != FLR_OK) return result;
        flr_shell_destroy(s->shell);
        s->shell = shell;
        result = grow(env, options, s, shell->total, &all[0], error);
    }
    for (size_t i = 0; i < sizeof voxels / sizeof *voxels && result == FLR_OK; i++) {
        flr_voxmap *voxmap;
        result = make_voxmap(around, flr_bench_voxel(options, around, voxels[i]), &voxmap, error);
        if (result != FLR_OK) return result;
        flr_voxmap_destroy(s->voxmap);
        s->voxmap = voxmap;
        result = grow(env, options, s, (double)flr_voxmap_get_info(voxmap).stats.surface_voxels,
                      &all[1], error);
    }
    if (result == FLR_OK) result = bench_contacts(env, options, &all[2], error);
    if (result == FLR_OK && options->json) fputs("],\n \"growth\": [", out);
    for (int i = 0; i < 3 && result == FLR_OK; i++) {
        if (options->json && i) fputs(",\n  ", out);
        result = flr_bench_tell_growth(env, options, &all[i], out, error);
    }
    return result;
}

/* The same motion by the coherent engine. */
static flr_result bench_coherence(const flr_bench_options *options, const bench_contact_setup *s,
                                  flr_bench_rows *rows, flr_error *error)
{
    flr_bench_motion motion = {.name = s->subject->name,
                               .shell = s->shell,
                               .voxmap = s->voxmap,
                               .poses = s->poses,
                               .count = s->count,
                               .frames_per_pose = s->frames_per_pose,
                               .layer = s->subject->layer,
                               .displacement = s->displacement};
    return flr_bench_coherent_add(options, &motion, rows, error);
}

/* ---- threads ---- */

/* The actuator with points of 0.22 mm, some ten million, in the gear at 2.5 mm: along its way out, and the same 4 mm lower, where it
 * presses into what holds it. */
static flr_result bench_threads(flr_env *env, const flr_bench_options *options,
                                const flr_model *gear, bench_contact_setup *s, FILE *out,
                                flr_error *error)
{
    static const bench_contact_subject whole = {.name = "huge actuator", .layer = 2};
    const double pressed = 4e-3;
    const flr_mesh *actuator = flr_model_find_mesh(gear, "actuator.stl");
    flr_shell *shell;
    flr_result result =
        make_shell(actuator, flr_bench_voxel(options, actuator, 0.22e-3), &shell, error);
    if (result != FLR_OK) return result;
    flr_shell_destroy(s->shell);
    s->shell = shell;
    s->subject = &whole;
    flr_simd best = best_simd(env, s);
    if (options->json)
        fputs("],\n \"threads\": [", out);
    else
        fprintf(out, "\nThreads: actuator of %u points in the gear\n%-8s %-8s %8s %8s %8s %8s\n",
                shell->total, "way", "threads", "p50 [us]", "p99 [us]", "max [us]", "contacts");
    for (unsigned i = 0; i < 8 && result == FLR_OK; i++) {
        bool lower = i >= 4;
        unsigned threads = i % 4 + 1;
        if (i == 4)
            for (size_t k = 0; k < s->count; k++) s->poses[k].p.z -= pressed;
        bench_contact_timing t;
        size_t stride = s->count > BENCH_CONTACT_FEW ? s->count / BENCH_CONTACT_FEW : 1;
        bench_contact_kind k = {best, true, true, threads};
        result = measure(env, s, k, stride, options->repeat, &t, error);
        if (result != FLR_OK) break;
        if (options->json)
            fprintf(out,
                    "%s\n  {\"points\": %u, \"pressed\": %s, \"threads\": %u, \"us\": {\"p50\": "
                    "%.3f, \"p99\": %.3f, \"max\": %.3f}, \"most_contacts\": %u}",
                    i ? "," : "", shell->total, lower ? "true" : "false", threads, t.p50, t.p99,
                    t.max, t.most_contacts);
        else
            fprintf(out, "%-8s %-8u %8.1f %8.1f %8.1f %8u%s\n", lower ? "pressed" : "free", threads,
                    t.p50, t.p99, t.max, t.most_contacts,
                    threads == 2 && !lower && options->divide == 1
                        ? t.p99 <= 1000 ? "  bound: p99 1000 us: held"
                                        : "  bound: p99 1000 us: MISSED"
                        : "");
        fflush(out);
    }
    return result;
}

flr_result flr_bench_contact(flr_env *env, const flr_bench_options *options, FILE *out,
                             flr_error *error)
{
    flr_bench_begin(env, options, "contact", out);
    if (!options->json)
        fprintf(out,
                "best of %u for each pose; percentiles over the poses\n%-16s %-10s %-9s %-9s "
                "%6s %8s %8s %8s %9s %9s %8s\n",
                options->repeat, "scenario", "engine", "awareness", "culling", "poses", "p50 [us]",
                "p99 [us]", "max [us]", "lookups", "points/ms", "contacts");
    flr_model model = {0};
    const char *built = "";
    flr_result result = FLR_OK;
    bool first = true;
    double ideas[BENCH_CONTACT_SUBJECTS][4] = {{0}};
    bench_contact_setup s = {0}, coarse = {0};
    flr_bench_rows coherence = {0};
    for (size_t i = 0; i < BENCH_CONTACT_SUBJECTS && result == FLR_OK; i++) {
        result = flr_bench_scenario(subjects[i].scenario, &built, &model, error);
        if (result == FLR_OK) result = set_up(&model, &subjects[i], options, &s, error);
        if (result == FLR_OK)
            result = bench_subject(env, options, &s, &first, ideas[i], out, error);
        if (result == FLR_OK) result = bench_coherence(options, &s, &coherence, error);
        if (result == FLR_OK && !strcmp(subjects[i].name, "actuator"))
            coarse = s, s = (bench_contact_setup){0}; /* for the growth */
        free_setup(&s);
    }
    if (result == FLR_OK && options->plots) result = plot_ideas(env, options->plots, ideas, error);
    if (result == FLR_OK) result = bench_growth(env, options, &model, &coarse, out, error);
    if (result == FLR_OK) result = bench_threads(env, options, &model, &coarse, out, error);
    if (result == FLR_OK && options->json) fputs("],\n ", out);
    if (result == FLR_OK) result = flr_bench_coherent_tell(env, options, &coherence, out, error);
    if (result == FLR_OK && options->json) fputs("}\n", out);
    free_setup(&coarse);
    flr_model_free(&model);
    return result;
}
