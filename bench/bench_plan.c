/* plan: removal problems: how many are solved, how fast
 *
 * Our own fits, and the problems in the folder `planning` of the shared models: each a folder with moving.ply, obstacle.ply
 * and problem.txt (rows "name tx ty tz qw qx qy qz"). Where a goal is given it is the goal; otherwise the part has to come
 * out. Every problem runs with several seeds. --scene names a single one. With the build option FLR_PEERS, RRT-Connect of OMPL with
 * FCL gets the same problems in the same run, in one thread as it has no more; where there is no goal it gets a pose outside.
 *
 * "processor" is the most processor time that a run took, of all threads: it hardly depends on what else the machine does.
 *
 * --frames measures that many random poses of each path again, by comparing all triangles that are in range (brute.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/brute.h"
#include "bench/plan_peers.h"
#include "feeler/plan.h"
#include "models/fits.h"

enum { MAX_PROBLEMS = 256, MAX_SEEDS = 16, PROBLEM_NAME_SIZE = 64 };
#define PLAN_SECONDS 100.0

typedef struct problem {
    char name[PROBLEM_NAME_SIZE];
    flr_mesh *meshes[2]; /* obstacle, moving */
    flr_fit *fits[2];
    flr_pose obstacle, start, goal;
    bool goal_given;
} problem;

typedef struct plan_bench {
    flr_env *env;
    const flr_bench_options *options;
    FILE *out;
    char names[MAX_PROBLEMS][PROBLEM_NAME_SIZE];
    size_t name_count;
    double seconds[MAX_PROBLEMS * MAX_SEEDS]; /* of runs that found a path */
    size_t runs, found;
    uint64_t state;                              /* of random numbers */
    uint64_t poses_again, too_near, not_checked; /* poses; paths on which parts overlap */
    bool first;
    /* of RRT-Connect: runs that found a path, and runs in which start and goal did not collide */
    double peer_seconds[MAX_PROBLEMS * MAX_SEEDS];
    size_t peer_runs, peer_found;
} plan_bench;

static void free_problem(problem *p)
{
    for (int i = 0; i < 2; i++) {
        flr_fit_destroy(p->fits[i]);
        flr_mesh_destroy(p->meshes[i]);
    }
}

static flr_result make_fits(problem *p, flr_error *error)
{
    flr_result result = FLR_OK;
    for (int i = 0; i < 2 && result == FLR_OK; i++)
        result = flr_fit_build(p->meshes[i], NULL, &p->fits[i], error);
    return result;
}

/* ---- reading ---- */

/* The pose in the row of that name; false: there is none. */
static bool read_pose(const char *text, const char *name, flr_pose *T)
{
    const size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0 || line[length] != ' ') continue;
        double n[7];
        const char *at = line + length;
        for (int i = 0; i < 7; i++) {
            while (*at == ' ') at++;
            if (flr_number_parse(at, &n[i], &at, NULL) != FLR_OK) return false;
        }
        *T = (flr_pose){{n[0], n[1], n[2]}, flr_quat_normalize((flr_quat){n[3], n[4], n[5], n[6]})};
        return true;
    }
    return false;
}

static flr_result read_problem(flr_env *env, const char *folder, const char *name, problem *p,
                               flr_error *error)
{
    char path[4096];
    flr_blob text = {0};
    *p = (problem){0};
    snprintf(p->name, sizeof p->name, "%s", name);
    snprintf(path, sizeof path, "%s/%s/problem.txt", folder, name);
    flr_result result = flr_file_read_all(env, path, 1 << 20, &text, error);
    if (result != FLR_OK) return result;
    const char *rows = (const char *)text.bytes;
    if (!rows || !read_pose(rows, "start", &p->start) ||
        !read_pose(rows, "obstacle_pose", &p->obstacle))
        result = flr_fail(error, FLR_BAD_INPUT, "%s: lacks a row start or obstacle_pose", path);
    p->goal_given = result == FLR_OK && read_pose(rows, "goal", &p->goal);
    flr_blob_free(&text);
    flr_mesh_options options = flr_default_mesh_options();
    options.unit = 1;
    for (int i = 0; i < 2 && result == FLR_OK; i++) {
        snprintf(path, sizeof path, "%s/%s/%s.ply", folder, name, i ? "moving" : "obstacle");
        result = flr_mesh_open(env, path, &options, &p->meshes[i], NULL, error);
    }
    if (result == FLR_OK) result = make_fits(p, error);
    if (result != FLR_OK) free_problem(p);
    return result;
}

static flr_result make_problem(const flr_model_fit *fit, problem *p, flr_error *error)
{
    flr_model model;
    *p = (problem){0};
    snprintf(p->name, sizeof p->name, "%s", fit->name);
    flr_result result = flr_model_fit_build(fit, NULL, &model, error);
    if (result != FLR_OK) return result;
    p->obstacle = model.parts[0].T_world_part;
    p->start = model.parts[1].T_world_part;
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < model.mesh_count; k++) {
            if (p->meshes[i] || strcmp(model.meshes[k].file, model.parts[i].file) != 0) continue;
            p->meshes[i] = model.meshes[k].mesh;
            model.meshes[k].mesh = NULL;
        }
    flr_model_free(&model);
    result = make_fits(p, error);
    if (result != FLR_OK) free_problem(p);
    return result;
}

/* ---- running ---- */

typedef struct peer_row {
    unsigned runs, found;
    double seconds[MAX_SEEDS];
} peer_row;

#ifdef FLR_PLAN_PEERS
/* A part that is out: beyond the box of the other along an axis of it. */
static flr_pose pose_outside(const problem *p, flr_box3 box, double size)
{
    flr_pose T = p->start;
    T.p.z += flr_box3_size(box).z + 2 * size;
    return T;
}

static void ask_peer(plan_bench *b, const problem *p, unsigned seeds, peer_row *row)
{
    const flr_box3 box = flr_box3_transform(p->obstacle, p->meshes[0]->bounds);
    const double size = flr_vec3_length(flr_box3_size(p->meshes[1]->bounds));
    for (unsigned i = 0; i < seeds; i++) {
        flr_plan_peer_problem q = {.moving = p->meshes[1],
                                   .obstacle = p->meshes[0],
                                   .T_world_obstacle = p->obstacle,
                                   .start = p->start,
                                   .goal = p->goal_given ? p->goal : pose_outside(p, box, size),
                                   .seconds = PLAN_SECONDS / b->options->divide,
                                   .seed = (uint32_t)(b->options->seed + i)};
        q.bounds = flr_box3_add(flr_box3_add(box, q.start.p), q.goal.p);
        q.bounds = flr_box3_grow(q.bounds, 1.5 * size);
        const double seconds = flr_plan_peer_solve(&q);
        if (isnan(seconds)) continue;
        row->runs++;
        b->peer_runs++;
        if (seconds < 0) continue;
        row->seconds[row->found++] = b->peer_seconds[b->peer_found++] = seconds;
    }
}
#else
static void ask_peer(plan_bench *b, const problem *p, unsigned seeds, peer_row *row)
{
    (void)b, (void)p, (void)seeds, (void)row;
}
#endif

/* ---- measuring again ---- */

static double random_unit(plan_bench *b)
{
    uint64_t z = b->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Is the path anywhere nearer than was proven? The brute force measures distances of surfaces, so it says nothing where parts
 * are allowed to overlap. */
static flr_result measure_again(plan_bench *b, const problem *p, const flr_plan_result *r,
                                flr_error *error)
{
    double least = r->verdict.lower;
    flr_brute *brute = NULL;
    for (uint32_t i = 0; i < r->verdict.fit_count; i++) {
        if (r->verdict.fits[i].floor < 0) b->not_checked++;
        if (r->verdict.fits[i].floor < 0) return FLR_OK;
        least = fmin(least, r->verdict.fits[i].floor);
    }
    flr_result result = flr_brute_create(p->meshes[0], &brute, error);
    const double size = flr_vec3_length(flr_box3_size(p->meshes[1]->bounds));
    const double range = fmin(fmax(least, 1e-9 * size), size);
    for (uint64_t i = 0; i < b->options->frames && result == FLR_OK; i++) {
        const double at = random_unit(b) * (double)(r->pose_count - 1);
        const size_t k = r->pose_count > 1 ? (size_t)fmin(at, (double)(r->pose_count - 2)) : 0;
        const size_t next = r->pose_count > 1 ? k + 1 : 0;
        const flr_pose T = flr_pose_interpolate(r->poses[k], r->poses[next], at - (double)k);
        const flr_pose T_a_b = flr_pose_mul(flr_pose_inverse(p->obstacle), T);
        const double distance = flr_brute_distance(brute, p->meshes[1], T_a_b, range);
        b->poses_again++;
        // rounding of poses in double precision
        b->too_near += distance <= 0 || distance < least - 1e-12 * size;
    }
    flr_brute_destroy(brute);
    return result;
}

static flr_result run_problem(plan_bench *b, const problem *p, flr_error *error)
{
    const flr_plan_part moving = {p->fits[1], flr_pose_identity()},
                        obstacle = {p->fits[0], p->obstacle};
    const unsigned seeds = b->options->repeat < MAX_SEEDS ? b->options->repeat : MAX_SEEDS;
    flr_plan_def def = flr_default_plan_def();
    def.moving = &moving, def.moving_count = 1;
    def.obstacles = &obstacle, def.obstacle_count = 1;
    double seconds[MAX_SEEDS], processor[MAX_SEEDS], lower = INFINITY;
    unsigned solved = 0;
    flr_plan_method method = FLR_PLAN_NONE;
    for (unsigned i = 0; i < seeds; i++) {
        flr_plan_search search = flr_default_plan_search();
        flr_plan_result r;
        search.from = p->start, search.to = p->goal, search.to_given = p->goal_given;
        search.seconds = PLAN_SECONDS / b->options->divide;
        search.seed = b->options->seed + i;
        const clock_t before = clock();
        flr_result result = flr_plan_find(b->env, &def, &search, &r, error);
        if (result != FLR_OK) return result;
        b->runs++;
        if (r.poses) {
            processor[solved] = (double)(clock() - before) / CLOCKS_PER_SEC;
            b->seconds[b->found++] = seconds[solved++] = r.seconds;
            lower = fmin(lower, r.verdict.lower);
            method = r.method;
            if (b->options->frames) result = measure_again(b, p, &r, error);
        }
        flr_plan_result_free(&r);
        if (result != FLR_OK) return result;
    }
    const double middle = solved ? flr_bench_percentile(seconds, solved, 0.5) : NAN,
                 slowest = solved ? flr_bench_percentile(seconds, solved, 1) : NAN,
                 used = solved ? flr_bench_percentile(processor, solved, 1) : NAN;
    peer_row peer = {0};
    ask_peer(b, p, seeds, &peer);
    const double peer_middle =
        peer.found ? flr_bench_percentile(peer.seconds, peer.found, 0.5) : NAN;
    if (!b->options->json)
        fprintf(b->out, "%-24s %u of %u  %10.3f %11.3f %13.3f  %-8s %10.3g  %6u of %u %10.3f\n",
                p->name, solved, seeds, middle, slowest, used, flr_plan_method_name(method),
                isfinite(lower) ? 1e3 * lower : NAN, peer.found, peer.runs, peer_middle);
    else
        fprintf(b->out,
                "%s\n  {\"problem\": \"%s\", \"runs\": %u, \"found\": %u, \"seconds\": %.6g, "
                "\"slowest\": %.6g, \"processor\": %.6g, \"peer_runs\": %u, \"peer_found\": %u, "
                "\"peer_seconds\": %.6g}",
                b->first ? "" : ",", p->name, seeds, solved, solved ? middle : -1.0,
                solved ? slowest : -1.0, solved ? used : -1.0, peer.runs, peer.found,
                peer.found ? peer_middle : -1.0);
    b->first = false;
    fflush(b->out);
    return FLR_OK;
}

static bool wanted(const plan_bench *b, const char *name)
{
    return !b->options->scene || strcmp(b->options->scene, name) == 0;
}

static bool take_name(void *context, const char *name)
{
    plan_bench *b = context;
    if (strchr(name, '_') && strlen(name) < PROBLEM_NAME_SIZE && b->name_count < MAX_PROBLEMS)
        snprintf(b->names[b->name_count++], PROBLEM_NAME_SIZE, "%s", name);
    return true;
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static flr_result run_shared(plan_bench *b, flr_error *error)
{
    char folder[2048];
    flr_path_info info;
    snprintf(folder, sizeof folder, "%s/planning",
             b->options->models ? b->options->models : "../shared/models");
    flr_result result = flr_path_look(b->env, folder, &info, error);
    if (result != FLR_OK) return result;
    if (info.kind != FLR_PATH_FOLDER) {
        if (!b->options->json) fprintf(b->out, "(no folder %s: only our own fits)\n", folder);
        return FLR_OK;
    }
    result = flr_path_list(b->env, folder, take_name, b, error);
    qsort(b->names, b->name_count, PROBLEM_NAME_SIZE, by_name);
    for (size_t i = 0; i < b->name_count && result == FLR_OK; i++) {
        problem p;
        if (!wanted(b, b->names[i])) continue;
        result = read_problem(b->env, folder, b->names[i], &p, error);
        if (result != FLR_OK) break;
        result = run_problem(b, &p, error);
        free_problem(&p);
    }
    return result;
}

static flr_result run_fits(plan_bench *b, flr_error *error)
{
    flr_result result = FLR_OK;
    for (size_t i = 0; i < flr_model_fit_count() && result == FLR_OK; i++) {
        problem p;
        if (!wanted(b, flr_model_fit_at(i)->name)) continue;
        result = make_problem(flr_model_fit_at(i), &p, error);
        if (result != FLR_OK) break;
        result = run_problem(b, &p, error);
        free_problem(&p);
    }
    return result;
}

flr_result flr_bench_plan(flr_env *env, const flr_bench_options *options, FILE *out,
                          flr_error *error)
{
    plan_bench *b = calloc(1, sizeof *b);
    if (!b) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    b->env = env, b->options = options, b->out = out, b->first = true;
    b->state = options->seed;
    if (options->json)
        fputs("{\"problems\": [", out);
    else
        fprintf(out, "%-24s %-7s %11s %11s %13s  %-8s %10s  %s\n", "problem", "found", "p50 [s]",
                "slowest [s]", "processor [s]", "method", "least [mm]", "OMPL + FCL, p50 [s]");
    flr_result result = run_fits(b, error);
    if (result == FLR_OK) result = run_shared(b, error);
    if (result == FLR_OK && !b->runs)
        result = flr_fail(error, FLR_BAD_ARGUMENT, "there is no problem \"%s\"",
                          options->scene ? options->scene : "");
    const double p50 = b->found ? flr_bench_percentile(b->seconds, b->found, 0.5) : NAN,
                 p95 = b->found ? flr_bench_percentile(b->seconds, b->found, 0.95) : NAN;
    if (options->json)
        fprintf(out,
                "\n], \"runs\": %zu, \"found\": %zu, \"p50\": %.6g, \"p95\": %.6g, "
                "\"poses_again\": %llu, \"too_near\": %llu}\n",
                b->runs, b->found, b->found ? p50 : -1.0, b->found ? p95 : -1.0,
                (unsigned long long)b->poses_again, (unsigned long long)b->too_near);
    else if (result == FLR_OK)
        fprintf(out, "%zu of %zu runs found a path; p50 %.3f s, p95 %.3f s\n", b->found, b->runs,
                p50, p95);
    if (!options->json && result == FLR_OK && options->frames)
        fprintf(
            out,
            "%llu random poses measured again by brute force: %llu nearer than was proven; %llu "
            "paths not measured, as their parts overlap\n",
            (unsigned long long)b->poses_again, (unsigned long long)b->too_near,
            (unsigned long long)b->not_checked);
#ifdef FLR_PLAN_PEERS
    if (!options->json && result == FLR_OK)
        fprintf(out, "RRT-Connect of OMPL with FCL: %zu of %zu; p50 %.3f s\n", b->peer_found,
                b->peer_runs,
                b->peer_found ? flr_bench_percentile(b->peer_seconds, b->peer_found, 0.5) : NAN);
#else
    if (!options->json && result == FLR_OK)
        fputs("OMPL and FCL are asked where feeler is built with -DFLR_PEERS=ON.\n", out);
#endif
    free(b);
    return result;
}
