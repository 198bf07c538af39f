/* falling: 1 to 20 parts fall into a tray and lie there in a heap (Kim 2004, section 3.4.3 and figure 3.10): what a frame of the
 * broad phase and of all pairs costs against the number of parts
 *
 * The motion is the bench's own and plain: gravity, contact forces, drag in contact, small steps. It is the same in
 * every round, so a frame's best time counts; percentiles are over the frames. What is measured is contact alone, in
 * processor time of the thread, so that what else the machine does is not charged. */
#include <math.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/falling_frames.h"
#include "feeler/mesh_check.h"
#include "feeler/pairs.h"
#include "feeler/voxels.h"

enum { BENCH_FALLING_MAX_PARTS = 20, BENCH_FALLING_FRAMES = 2000 };

static const uint32_t numbers[] = {1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 20};
static const double voxels[] = {4e-3, 2e-3, 1e-3};
enum {
    FALLING_NUMBERS = sizeof numbers / sizeof *numbers,
    VOXELS = sizeof voxels / sizeof *voxels
};

static const double step = 1e-3;      /* s */
static const double fastest = 0.6096; /* m/s: what the paper asks of a hand */
static const double turning = 20;     /* rad/s at most */
static const double drag = 30;        /* 1/s, of what touches */
static const double target = 200;     /* Hz, with 15 parts: the paper's */

/* a shape of the scenario; the tray is the first */
typedef struct asset {
    flr_voxmap *voxmap;
    flr_shell *shell;
    flr_contact_table *table;
    flr_pairs_shape shape;
    flr_pose T_world_part;
    flr_inertia inertia; /* part's frame */
    flr_mat3 slackness;  /* inverse of its tensor */
} asset;

typedef struct assets {
    asset all[BENCH_FALLING_MAX_PARTS + 1];
    uint64_t surface; /* voxels of all of them */
    uint64_t points;  /* of the moving ones */
} assets;

static void free_assets(assets *a)
{
    for (int i = 0; i <= BENCH_FALLING_MAX_PARTS; i++) {
        flr_contact_table_destroy(a->all[i].table);
        flr_voxmap_destroy(a->all[i].voxmap);
        flr_shell_destroy(a->all[i].shell);
    }
    *a = (assets){0};
}

static flr_result make_assets(const flr_model *model, double voxel, assets *a, flr_error *error)
{
    flr_result result = FLR_OK;
    *a = (assets){0};
    for (size_t i = 0; i <= BENCH_FALLING_MAX_PARTS && result == FLR_OK; i++) {
        asset *to = &a->all[i];
        const flr_mesh *mesh = flr_model_find_mesh(model, model->parts[i].file);
        flr_voxelize_def def = flr_default_voxelize_def();
        def.voxel = voxel;
        flr_mass mass;
        result = flr_voxelize(flr_env_real(), mesh, &def, &to->voxmap, &to->shell, NULL, error);
        if (result == FLR_OK) result = flr_contact_table_create(to->voxmap, &to->table, error);
        if (result == FLR_OK) result = flr_mass_compute(mesh, NULL, 2700, &mass, error);
        if (result != FLR_OK) break;
        to->shape = flr_pairs_shape_make(to->shell, to->table);
        to->T_world_part = model->parts[i].T_world_part;
        to->inertia = mass.inertia;
        flr_mat3_inverse(mass.inertia.tensor, &to->slackness);
        a->surface += flr_voxmap_get_info(to->voxmap).stats.surface_voxels;
        a->points += i ? to->shell->total : 0;
    }
    if (result != FLR_OK) free_assets(a);
    return result;
}

/* ---- motion ---- */

typedef struct heap {
    const assets *assets;
    uint32_t count; /* falling parts; place 0 is the tray's */
    flr_pose T[BENCH_FALLING_MAX_PARTS + 1];
    flr_twist motion[BENCH_FALLING_MAX_PARTS + 1]; /* about the centre of mass, world's axes */
} heap;

static heap heap_begin(const assets *a, uint32_t count)
{
    heap h = {.assets = a, .count = count};
    for (uint32_t i = 0; i <= count; i++) h.T[i] = a->all[i].T_world_part;
    return h;
}

static flr_vec3 at_most(flr_vec3 v, double most)
{
    double length = flr_vec3_length(v);
    return length > most ? flr_vec3_scale(v, most / length) : v;
}

static void heap_step(heap *h, const flr_pairs *pairs)
{
    for (uint32_t i = 1; i <= h->count; i++) {
        const asset *a = &h->assets->all[i];
        const flr_part_total *total = flr_pairs_total(pairs, i);
        flr_quat q = h->T[i].q;
        /* forces to velocities */
        flr_vec3 push = flr_vec3_scale(total->wrench.force, 1 / a->inertia.mass);
        push.z -= 9.81;
        flr_vec3 spin = flr_quat_rotate(
            q, flr_mat3_apply(a->slackness, flr_quat_rotate_inverse(q, total->wrench.torque)));
        double keep = total->contacts ? 1 - drag * step : 1;
        flr_twist *v = &h->motion[i];
        v->linear =
            at_most(flr_vec3_scale(flr_vec3_add_scaled(v->linear, step, push), keep), fastest);
        v->angular =
            at_most(flr_vec3_scale(flr_vec3_add_scaled(v->angular, step, spin), keep), turning);
        /* velocities to poses: the centre of mass moves, the part turns about it */
        flr_vec3 centre = flr_pose_apply(h->T[i], a->inertia.centre);
        centre = flr_vec3_add_scaled(centre, step, v->linear);
        q = flr_quat_mul(flr_quat_from_rotation_vector(flr_vec3_scale(v->angular, step)), q);
        h->T[i].q = flr_quat_normalize(q);
        h->T[i].p = flr_vec3_sub(centre, flr_quat_rotate(h->T[i].q, a->inertia.centre));
    }
}

/* ---- measuring ---- */

typedef struct bench_falling_row {
    uint32_t parts;
    double p50, p99, max;   /* microseconds of a frame */
    double broad;           /* of them, p50 */
    double pairs, contacts; /* of a frame, mean */
    uint32_t most_pairs, most_contacts;
    uint32_t lost; /* parts that ended below the tray */
} bench_falling_row;

static flr_result make_pairs(const assets *a, uint32_t count, flr_pairs **pairs, flr_error *error)
{
    flr_pairs_def def = flr_default_pairs_def();
    def.parts = count + 1;
    def.params.stiffness = 2000;
    flr_result result = flr_pairs_create(&def, pairs, error);
    for (uint32_t i = 0; i <= count && result == FLR_OK; i++) {
        flr_pairs_part part = flr_default_pairs_part();
        part.shape = a->all[i].shape;
        part.T_world_part = a->all[i].T_world_part;
        part.centre = a->all[i].inertia.centre;
        part.moving = i > 0;
        flr_pairs_set(*pairs, i, &part);
    }
    return result;
}

/* One fall; `us` and `broad` [frames] keep the least of what they hold and what is measured now. */
static void fall(const assets *a, flr_pairs *pairs, size_t frames, double *us, double *broad,
                 bench_falling_row *told)
{
    heap h = heap_begin(a, told->parts);
    told->pairs = told->contacts = told->most_pairs = told->most_contacts = told->lost = 0;
    for (size_t f = 0; f < frames; f++) {
        flr_pairs_report report;
        double begin = flr_bench_processor_us();
        flr_pairs_update(pairs, h.T, 0, &report);
        double between = flr_bench_processor_us();
        flr_pairs_query(pairs, h.motion);
        us[f] = fmin(us[f], flr_bench_processor_us() - begin);
        broad[f] = fmin(broad[f], between - begin);
        uint32_t count, contacts = 0;
        const flr_pair_result *results = flr_pairs_results(pairs, &count);
        for (uint32_t i = 0; i < count; i++) contacts += results[i].contact.contacts;
        told->pairs += report.count / (double)frames;
        told->contacts += contacts / (double)frames;
        if (report.count > told->most_pairs) told->most_pairs = report.count;
        if (contacts > told->most_contacts) told->most_contacts = contacts;
        heap_step(&h, pairs);
    }
    for (uint32_t i = 1; i <= h.count; i++) told->lost += h.T[i].p.z < -0.02;
}

static flr_result measure(const flr_bench_options *options, const assets *a, size_t frames,
                          bench_falling_row *told, flr_error *error)
{
    flr_pairs *pairs = NULL;
    double *us = malloc(2 * frames * sizeof *us), *broad = us + frames;
    if (!us) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < 2 * frames; i++) us[i] = INFINITY;
    flr_result result = make_pairs(a, told->parts, &pairs, error);
    if (result == FLR_OK) {
        for (unsigned round = 0; round < options->repeat; round++)
            fall(a, pairs, frames, us, broad, told);
        told->broad = flr_bench_percentile(broad, frames, 0.5);
        told->p50 = flr_bench_percentile(us, frames, 0.5);
        told->p99 = flr_bench_percentile(us, frames, 0.99);
        told->max = us[frames - 1];
    }
    flr_pairs_destroy(pairs);
    free(us);
    return result;
}

/* ---- telling ---- */

static void print_row(const bench_falling_row *r, bool bounds, FILE *out)
{
    fprintf(out, "%6u %7.1f %6u %9.0f %7u %8.2f %9.1f %9.1f %9.1f %9.0f", r->parts, r->pairs,
            r->most_pairs, r->contacts, r->most_contacts, r->broad, r->p50, r->p99, r->max,
            1e6 / r->p99);
    if (r->lost) fprintf(out, "  %u fell through", r->lost);
    if (bounds && r->parts >= 15)
        fprintf(out, "  bound: %.0f Hz: %s", target, 1e6 / r->p99 >= target ? "held" : "MISSED");
    fputc('\n', out);
}

static void print_row_json(const bench_falling_row *r, double voxel, bool first, FILE *out)
{
    fprintf(
        out,
        "%s\n  {\"voxel\": %.6g, \"parts\": %u, \"pairs\": {\"mean\": %.2f, \"most\": %u}, "
        "\"contacts\": {\"mean\": %.1f, \"most\": %u}, \"us\": {\"broad\": %.3f, \"p50\": %.3f, "
        "\"p99\": %.3f, \"max\": %.3f}, \"fell_through\": %u}",
        first ? "" : ",", voxel, r->parts, r->pairs, r->most_pairs, r->contacts, r->most_contacts,
        r->broad, r->p50, r->p99, r->max, r->lost);
}

static flr_result bench_voxel(const flr_bench_options *options, const flr_model *model,
                              size_t which, flr_bench_growth *g, FILE *out, flr_error *error)
{
    assets a;
    double voxel = voxels[which];
    size_t frames =
        BENCH_FALLING_FRAMES / options->divide ? BENCH_FALLING_FRAMES / options->divide : 1;
    flr_result result = make_assets(model, voxel, &a, error);
    if (result != FLR_OK) return result;
    if (!options->json)
        fprintf(out,
                "\nvoxels of %g mm: %llu surface voxels, %llu points\n%6s %7s %6s %9s %7s %8s %9s "
                "%9s %9s %9s\n",
                voxel * 1e3, (unsigned long long)a.surface, (unsigned long long)a.points, "parts",
                "pairs", "most", "contacts", "most", "broad us", "p50 [us]", "p99 [us]", "max [us]",
                "Hz (p99)");
    g->count = 0;
    for (size_t i = 0; i < FALLING_NUMBERS && result == FLR_OK; i++) {
        bench_falling_row r = {.parts = numbers[i]};
        result = measure(options, &a, frames, &r, error);
        if (result != FLR_OK) break;
        if (options->json)
            print_row_json(&r, voxel, which == 0 && i == 0, out);
        else
            print_row(&r, options->divide == 1, out);
        fflush(out);
        g->x[g->count] = r.parts;
        g->y[which][g->count++] = r.p50;
    }
    free_assets(&a);
    return result;
}

/* ---- the broad phase alone ---- */

/* Place and motion of a part that drifts about a lattice of ten columns and rows, near its neighbours at times. */
static flr_pose drift(uint32_t i, size_t frame)
{
    const double spacing = 0.07, swing = 0.02, t = FLR_TWO_PI * step * (double)frame;
    flr_pose T = flr_pose_identity();
    T.p = flr_vec3_make(spacing * (i % 10) + swing * sin(t + i),
                        spacing * (i / 10 % 10) + swing * sin(2 * t + 2 * i),
                        spacing * (i / 100) + swing * sin(3 * t + 3 * i));
    T.q = flr_quat_from_rotation_vector(flr_vec3_make(t, 0.3 * i, 0.7 * i));
    return T;
}

/* Times of the updates to `us`; returns the mean number of pairs in `*found`. */
static flr_result drift_all(const asset *a, uint32_t count, size_t frames, flr_pose *poses,
                            double *us, double *found, flr_error *error)
{
    flr_pairs_def def = flr_default_pairs_def();
    def.parts = count;
    flr_pairs *pairs;
    flr_result result = flr_pairs_create(&def, &pairs, error);
    if (result != FLR_OK) return result;
    flr_pairs_part part = flr_default_pairs_part();
    part.shape = a->shape;
    part.moving = true;
    for (uint32_t i = 0; i < count; i++) flr_pairs_set(pairs, i, &part);
    *found = 0;
    for (size_t f = 0; f < frames; f++) {
        flr_pairs_report report;
        for (uint32_t i = 0; i < count; i++) poses[i] = drift(i, f);
        double begin = flr_bench_processor_us();
        flr_pairs_update(pairs, poses, 0, &report);
        us[f] = flr_bench_processor_us() - begin;
        *found += report.count / (double)frames;
    }
    flr_pairs_destroy(pairs);
    return FLR_OK;
}

/* Updates of 20 to 1000 parts of one shape (the nut), all of which move. */
static flr_result bench_broad(const flr_bench_options *options, const flr_model *model,
                              flr_bench_growth *g, flr_error *error)
{
    enum { FALLING_COUNTS = 6, BENCH_FALLING_PARTS = 1000, DRIFTS = 1000, NUT = 8 };
    static const uint32_t counts[FALLING_COUNTS] = {20, 50, 100, 200, 500, BENCH_FALLING_PARTS};
    size_t frames = DRIFTS / options->divide ? DRIFTS / options->divide : 1;
    assets a = {0};
    flr_pose *poses = malloc(BENCH_FALLING_PARTS * sizeof *poses);
    double *us = malloc(frames * sizeof *us);
    flr_result result = poses && us ? make_assets(model, 2e-3, &a, error)
                                    : flr_fail(error, FLR_NO_MEMORY, "out of memory");
    for (int i = 0; i < FALLING_COUNTS && result == FLR_OK; i++) {
        double found;
        result = drift_all(&a.all[NUT], counts[i], frames, poses, us, &found, error);
        if (result != FLR_OK) break;
        g->x[g->count] = counts[i];
        g->y[0][g->count] = flr_bench_percentile(us, frames, 0.5);
        g->y[1][g->count] = flr_bench_percentile(us, frames, 0.99);
        g->y[2][g->count++] = found;
    }
    free_assets(&a);
    free(poses);
    free(us);
    return result;
}

flr_result flr_bench_falling(flr_env *env, const flr_bench_options *options, FILE *out,
                             flr_error *error)
{
    flr_bench_begin(env, options, "falling", out);
    if (!options->json)
        fprintf(
            out,
            "%u frames of 1 ms, processor time, best of %u for each; percentiles over the frames\n",
            (unsigned)BENCH_FALLING_FRAMES / options->divide, options->repeat);
    flr_bench_growth g = {.title = "Parts that fall into a tray",
                          .by = "parts",
                          .y_label = "time of a frame [us], p50",
                          .file = "contact-parts.svg",
                          .names = {"4 mm", "2 mm", "1 mm"},
                          .lines = VOXELS};
    flr_model model = {0};
    flr_result result = flr_scenario_build(flr_scenario_find("falling"), NULL, &model, error);
    for (size_t i = 0; i < VOXELS && result == FLR_OK; i++)
        result = bench_voxel(options, &model, i, &g, out, error);
    flr_bench_growth broad = {.title = "Finding pairs among parts that drift",
                              .by = "parts",
                              .y_label = "time of an update [us]; pairs",
                              .file = "contact-broad.svg",
                              .names = {"p50 [us]", "p99 [us]", "pairs"},
                              .lines = 3};
    if (result == FLR_OK) result = bench_broad(options, &model, &broad, error);
    if (result == FLR_OK && options->json) fputs("],\n \"growth\": [", out);
    if (result == FLR_OK) result = flr_bench_tell_growth(env, options, &g, out, error);
    if (result == FLR_OK && options->json) fputs(",\n  ", out);
    if (result == FLR_OK) result = flr_bench_tell_growth(env, options, &broad, out, error);
    if (result == FLR_OK && options->json) fputs("],\n \"frames\": [", out);
    if (result == FLR_OK) result = flr_bench_falling_frames(options, out, error);
    if (result == FLR_OK && options->json) fputs("]}\n", out);
    flr_model_free(&model);
    return result;
}
