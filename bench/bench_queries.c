/* queries: collision queries by voxel size, next to libraries that use triangles (Kim 2004, Tables 3.1 and 3.2)
 *
 * A detailed pair (the axle on its bench, and a cap) and a plain one (a table and a cube of 12 triangles each) are asked at the
 * same poses: the moving part comes down on the fixed one, touches it and goes up again while it turns. feeler answers
 * with contacts, wrench and bounds of the distance, by voxels of four sizes; then exactly, from the triangles. With the build
 * option FLR_PEERS the same poses are asked of FCL, ODE and Bullet in the same run, once exactly and once with the tolerance
 * that the paper gave to PQP at each voxel size (Eq. 1). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "feeler/contact.h"
#include "feeler/distance.h"
#include "feeler/voxels.h"
#ifdef FLR_PEERS
#include "bench/fit_peers.h"
#endif

enum { QUERY_SIZES = 4, QUERY_SETS = 2, QUERY_POSES = 400 };
static const double sizes[QUERY_SIZES] = {6.096e-3, 12.192e-3, 18.288e-3, 24.384e-3}; /* metres */

/* what the paper printed: seconds of a query, exact (PQP only) and by size */
static const struct query_set {
    const char *name;
    double pqp_exact, vps[QUERY_SIZES], pqp[QUERY_SIZES];
} sets[QUERY_SETS] = {
    {"axle and cap", 0.013, {0.00031, 0.00025, 0.00016, 0.00011}, {0.0045, 0.0039, 0.0036, 0.0033}},
    {"table and cube",
     0.0014,
     {0.0008, 0.00078, 0.0007, 0.0005},
     {0.0009, 0.00077, 0.0007, 0.0006}},
};

typedef struct query_pair {
    const flr_mesh *fixed, *moving;
    flr_gauge_part *fixed_gauge, *moving_gauge;
    flr_pose poses[QUERY_POSES];
    size_t count;
} query_pair;

typedef struct query_row {
    const char *name;
    double voxel, tolerance; /* metres; 0: exact */
    double paper;            /* seconds; NAN: not in the paper */
    double p50, p99;         /* us */
    size_t touching;
} query_row;

/* ---- the pairs ---- */

static bool meets(const query_pair *pair, flr_pose pose)
{
    flr_gauge_params params = flr_default_gauge_params();
    params.max_distance = 0;
    params.first = true;
    flr_gauge_result r;
    flr_gauge_distance(pair->moving_gauge, pair->fixed_gauge, pose, flr_pose_identity(), &params,
                       NULL, &r);
    return r.meet;
}

/* From 5 cm above to where surfaces meet by 3 mm and back, four times; turned by a little, so that it lies flat nowhere. */
static void make_poses(query_pair *pair, double x, double y)
{
    const double far = 0.05, deep = 0.003, turn = 6.283185307179586;
    flr_pose pose = flr_pose_identity();
    pose.p = flr_vec3_make(x, y, pair->fixed->bounds.high.z - pair->moving->bounds.low.z + far);
    while (!meets(pair, pose) && pose.p.z > pair->fixed->bounds.low.z) pose.p.z -= 1e-3;
    const double z = pose.p.z;
    for (size_t i = 0; i < pair->count; i++) {
        const double phase = turn * (double)i / (double)pair->count;
        const double height = 0.5 * (1 + cos(4 * phase)) * (far + deep) - deep;
        pair->poses[i].p =
            flr_vec3_make(x + 0.02 * sin(phase), y + 0.01 * sin(2 * phase), z + height);
        pair->poses[i].q = flr_quat_from_rotation_vector(
            flr_vec3_make(0.01 * sin(phase), 0.01 * cos(phase), 0.2 * sin(phase)));
    }
}

static flr_result set_up(query_pair *pair, double x, double y, flr_error *error)
{
    flr_result result = flr_gauge_part_create(pair->fixed, &pair->fixed_gauge, error);
    if (result == FLR_OK) result = flr_gauge_part_create(pair->moving, &pair->moving_gauge, error);
    if (result == FLR_OK) make_poses(pair, x, y);
    return result;
}

static void clear_pair(query_pair *pair)
{
    flr_gauge_part_destroy(pair->fixed_gauge);
    flr_gauge_part_destroy(pair->moving_gauge);
    *pair = (query_pair){0};
}

/* ---- asking ---- */

/* One query at a pose; true where the parts touch. */
typedef bool ask_at(void *context, flr_pose pose);

static void ask_all(const query_pair *pair, unsigned repeat, ask_at *ask, void *context,
                    query_row *to)
{
    double us[QUERY_POSES];
    for (unsigned round = 0; round < repeat; round++)
        for (size_t i = 0; i < pair->count; i++) {
            const double begin = flr_bench_processor_us();
            const bool touching = ask(context, pair->poses[i]);
            const double spent = flr_bench_processor_us() - begin;
            us[i] = round ? fmin(us[i], spent) : spent;
            to->touching += round == 0 && touching;
        }
    to->p50 = flr_bench_percentile(us, pair->count, 0.5);
    to->p99 = flr_bench_percentile(us, pair->count, 0.99);
}

static bool ask_voxels(void *context, flr_pose pose)
{
    const flr_contact_params params = flr_default_contact_params();
    flr_contact_result r;
    flr_contact_query(context, pose, flr_pose_identity(), &params, &r);
    return r.contacts > 0;
}

static flr_result measure_voxels(flr_env *env, const query_pair *pair, unsigned repeat,
                                 query_row *to, flr_error *error)
{
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = to->voxel;
    flr_voxmap *voxmap = NULL;
    flr_shell *shell = NULL;
    flr_contact_pair *contact = NULL;
    flr_result result = flr_voxelize(env, pair->fixed, &def, &voxmap, NULL, NULL, error);
    if (result == FLR_OK) result = flr_voxelize(env, pair->moving, &def, NULL, &shell, NULL, error);
    if (result == FLR_OK) {
        flr_contact_pair_def pair_def = flr_default_contact_pair_def();
        pair_def.shell = shell;
        pair_def.voxmap = voxmap;
        result = flr_contact_pair_create(&pair_def, &contact, error);
    }
    if (result == FLR_OK) ask_all(pair, repeat, ask_voxels, contact, to);
    flr_contact_pair_destroy(contact);
    flr_voxmap_destroy(voxmap);
    flr_shell_destroy(shell);
    return result;
}

typedef struct exact_query {
    const query_pair *pair;
    flr_gauge_witness witness;
} exact_query;

static bool ask_exact(void *context, flr_pose pose)
{
    exact_query *q = context;
    flr_gauge_result r;
    flr_gauge_distance(q->pair->moving_gauge, q->pair->fixed_gauge, pose, flr_pose_identity(), NULL,
                       &q->witness, &r);
    return r.meet;
}

#ifdef FLR_PEERS
/* Eq. 1, both parts with voxels of the same size */
static double offset_of(double voxel) { return sqrt(3.0) * voxel; }

static bool ask_peer(void *context, flr_pose pose) { return flr_fit_peer_query(context, pose) > 0; }

static bool ask_peer_distance(void *context, flr_pose pose)
{
    return flr_fit_peer_query(context, pose) <= 0;
}

static void measure_peer(const query_pair *pair, size_t index, unsigned repeat, query_row *to)
{
    flr_fit_peer *peer = flr_fit_peer_create(index, pair->fixed, pair->moving, to->tolerance);
    ask_all(pair, repeat, flr_fit_peer_gives_distance(index) ? ask_peer_distance : ask_peer, peer,
            to);
    flr_fit_peer_destroy(peer);
}
#endif

/* ---- telling ---- */

static void tell_row(const query_row *r, size_t poses, bool json, bool first, FILE *out)
{
    char paper[32] = "-";
    if (isfinite(r->paper)) snprintf(paper, sizeof paper, "%.0f", 1e6 * r->paper);
    if (json)
        fprintf(out,
                "%s\n   {\"name\": \"%s\", \"voxel\": %g, \"tolerance\": %g, \"paper_us\": %s, "
                "\"p50_us\": %.3f, \"p99_us\": %.3f, \"poses\": %zu, \"touching\": %zu}",
                first ? "" : ",", r->name, r->voxel, r->tolerance,
                isfinite(r->paper) ? paper : "null", r->p50, r->p99, poses, r->touching);
    else
        fprintf(out, "%-30s %9.4f %9.4f %9s %10.1f %10.1f %9zu\n", r->name, 1e2 * r->voxel,
                1e2 * r->tolerance, paper, r->p50, r->p99, r->touching);
    fflush(out);
}

/* the plot shows the medians: ours by voxel size, and the paper's two */
static flr_result plot(flr_env *env, const char *folder, size_t set, const double *ours,
                       flr_error *error)
{
    double x[QUERY_SIZES], vps[QUERY_SIZES], pqp[QUERY_SIZES];
    for (size_t i = 0; i < QUERY_SIZES; i++) {
        x[i] = 1e2 * sizes[i];
        vps[i] = 1e6 * sets[set].vps[i];
        pqp[i] = 1e6 * sets[set].pqp[i];
    }
    const flr_plot_series series[] = {
        {.name = "PQP, 2004", .x = x, .y = pqp, .count = QUERY_SIZES, .dots = true, .dashed = true},
        {.name = "VPS, 2004", .x = x, .y = vps, .count = QUERY_SIZES, .dots = true, .dashed = true},
        {.name = "feeler", .x = x, .y = ours, .count = QUERY_SIZES, .dots = true}};
    flr_plot_def def = flr_default_plot_def();
    def.title = sets[set].name;
    def.x_label = "voxel size [cm]";
    def.y_label = "time of a query [us]";
    def.log_y = true;
    def.series = series;
    def.series_count = sizeof series / sizeof *series;
    return flr_bench_plot(env, folder, set ? "queries-table.svg" : "queries-axle.svg", &def, error);
}

static flr_result tell_pair(flr_env *env, const flr_bench_options *options, size_t set,
                            const query_pair *pair, FILE *out, flr_error *error)
{
    const struct query_set *s = &sets[set];
    double medians[QUERY_SIZES];
    flr_result result = FLR_OK;
    for (size_t i = 0; i < QUERY_SIZES && result == FLR_OK; i++) {
        query_row row = {.name = "feeler, voxels", .voxel = sizes[i], .paper = s->vps[i]};
        result = measure_voxels(env, pair, options->repeat, &row, error);
        medians[i] = row.p50;
        if (result == FLR_OK) tell_row(&row, pair->count, options->json, i == 0, out);
    }
    if (result != FLR_OK) return result;
    query_row row = {.name = "feeler, exact distance", .paper = NAN};
    exact_query exact = {pair, flr_no_witness()};
    ask_all(pair, options->repeat, ask_exact, &exact, &row);
    tell_row(&row, pair->count, options->json, false, out);
#ifdef FLR_PEERS
    for (size_t index = 0; index < flr_fit_peer_count(); index++)
        for (size_t i = 0; i <= (flr_fit_peer_takes_tolerance(index) ? QUERY_SIZES : 0); i++) {
            const bool distance = flr_fit_peer_gives_distance(index);
            row = (query_row){.name = flr_fit_peer_name(index),
                              .tolerance = i ? offset_of(sizes[i - 1]) : 0,
                              .paper = !distance ? NAN
                                       : i       ? s->pqp[i - 1]
                                                 : s->pqp_exact};
            measure_peer(pair, index, options->repeat, &row);
            tell_row(&row, pair->count, options->json, false, out);
        }
#endif
    return options->plots ? plot(env, options->plots, set, medians, error) : FLR_OK;
}

static flr_result tell_set(flr_env *env, const flr_bench_options *options, size_t set,
                           const flr_model *axle, FILE *out, flr_error *error)
{
    query_pair pair = {.count =
                           QUERY_POSES / options->divide > 8 ? QUERY_POSES / options->divide : 8};
    flr_mesh *table = NULL, *cube = NULL;
    flr_result result = FLR_OK;
    if (set == 0) {
        pair.fixed = flr_model_find_mesh(axle, "axle_base.stl");
        pair.moving = flr_model_find_mesh(axle, "right_cap.stl");
        result = set_up(&pair, 0.3, -0.1, error);
    } else {
        /* about as many surface voxels of 6.096 mm as the paper's: 92,986 and 94,932 */
        result = flr_bench_make_box(flr_vec3_make(1.6, 1.0, 0.05), flr_vec3_zero(), &table, error);
        if (result == FLR_OK)
            result = flr_bench_make_box(flr_vec3_make(0.767, 0.767, 0.767), flr_vec3_zero(), &cube,
                                        error);
        pair.fixed = table, pair.moving = cube;
        if (result == FLR_OK) result = set_up(&pair, 0, 0, error);
    }
    if (result == FLR_OK) {
        if (options->json)
            fprintf(out,
                    "%s\n {\"pair\": \"%s\", \"fixed_triangles\": %u, \"moving_triangles\": %u, "
                    "\"rows\": [",
                    set ? "," : "", sets[set].name, pair.fixed->triangle_count,
                    pair.moving->triangle_count);
        else
            fprintf(out,
                    "\nKim 2004, Table 3.%zu: %s, %u and %u triangles, %zu poses; the paper's "
                    "column has VPS next to voxels and PQP next to FCL's distance\n"
                    "%-30s %9s %9s %9s %10s %10s %9s\n",
                    set + 1, sets[set].name, pair.fixed->triangle_count,
                    pair.moving->triangle_count, pair.count, "query", "voxel", "tolerance", "paper",
                    "p50 [us]", "p99 [us]", "touching");
        result = tell_pair(env, options, set, &pair, out, error);
        if (options->json) fputs("]}", out);
    }
    clear_pair(&pair);
    flr_mesh_destroy(table);
    flr_mesh_destroy(cube);
    return result;
}

flr_result flr_bench_queries(flr_env *env, const flr_bench_options *options, FILE *out,
                             flr_error *error)
{
    flr_model axle = {0};
    flr_result result = flr_scenario_build(flr_scenario_find("axle"), NULL, &axle, error);
    if (result != FLR_OK) return result;
    flr_bench_begin(env, options, "queries", out);
    for (size_t set = 0; set < QUERY_SETS && result == FLR_OK; set++)
        result = tell_set(env, options, set, &axle, out, error);
    if (options->json) fputs("]}\n", out);
#ifndef FLR_PEERS
    if (!options->json)
        fputs("\nFCL, ODE and Bullet are asked where feeler is built with -DFLR_PEERS=ON.\n", out);
#endif
    flr_model_free(&axle);
    return result;
}
