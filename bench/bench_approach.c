/* approach: implicit sphere trees along random paths into contact, figures 3 to 6 of their paper, and the shell engine at
 * the same poses */
#include <math.h>
#include <stdlib.h>

#include "bench/approach.h"
#include "picture/plot.h"

static const double voxels[] = {2e-3, 1.4e-3, 1e-3, 0.7e-3, 0.5e-3}; /* metres */
static const char *const view_names[FLR_APPROACH_VIEWS] = {"octree", "64-tree", "512-tree"};
static const char *const switch_names[] = {"plain", "one-child", "side", "both"};
static const unsigned pool_sizes[] = {1, 2, 4}; /* threads */
enum {
    BENCH_APPROACH_SIZES = sizeof voxels / sizeof *voxels,
    MIDDLE = 2,
    SWITCHES = 4,
    LINES = 8,
    BENCH_APPROACH_WANTED = 1000
};
enum { POOLS = sizeof pool_sizes / sizeof *pool_sizes, SHARED = 3 };

typedef struct bench_approach_job {
    flr_env *env;
    const flr_bench_options *options;
    FILE *out;
    flr_model model;
    flr_approach sizes[BENCH_APPROACH_SIZES];
    size_t paths;               /* that are looked at */
    flr_approach_trace *traces; /* [LINES] */
} bench_approach_job;

/* ---- plots: each figure is four of them or more ---- */

typedef struct figure_plot {
    const char *file, *label;
    size_t offset; /* in a trace */
    bool log;
} figure_plot;

static flr_result plot_one(const bench_approach_job *j, const char *figure, const char *title,
                           figure_plot plot, const char *const *names, size_t lines,
                           flr_error *error)
{
    if (!j->options->plots) return FLR_OK;
    flr_plot_series series[LINES];
    for (size_t i = 0; i < lines; i++)
        series[i] =
            (flr_plot_series){.name = names[i],
                              .y = (const double *)((const char *)&j->traces[i] + plot.offset),
                              .count = FLR_APPROACH_STEPS};
    flr_plot_def def = flr_default_plot_def();
    def.title = title;
    def.x_label = "step";
    def.y_label = plot.label;
    def.log_y = plot.log;
    def.series = series, def.series_count = lines;
    char path[1024];
    snprintf(path, sizeof path, "%s/approach-%s-%s.svg", j->options->plots, figure, plot.file);
    return flr_plot_write(j->env, path, &def, error);
}

static flr_result plot_figure(const bench_approach_job *j, const char *figure, const char *title,
                              const char *const *names, size_t lines, flr_error *error)
{
    static const figure_plot plots[4] = {
        {"distance", "between the origins [mm]", offsetof(flr_approach_trace, distance), false},
        {"contacts", "pairs of voxels", offsetof(flr_approach_trace, pairs), true},
        {"time", "processor time of a step [us]", offsetof(flr_approach_trace, us), true},
        {"tests", "tests of two spheres", offsetof(flr_approach_trace, tests), true},
    };
    flr_result result = FLR_OK;
    for (int p = 0; p < 4 && result == FLR_OK; p++)
        result = plot_one(j, figure, title, plots[p], names, lines, error);
    return result;
}

/* What is left of the tests, in percent of the first line's. */
static flr_result plot_shares(const bench_approach_job *j, const char *figure, const char *title,
                              const char *const *names, size_t lines, flr_error *error)
{
    for (size_t n = lines; n-- > 0;)
        for (size_t i = 0; i < FLR_APPROACH_STEPS; i++)
            j->traces[n].tests[i] *= 100 / j->traces[0].tests[i];
    figure_plot plot = {"share", "tests, of those of plain [%]",
                        offsetof(flr_approach_trace, tests), false};
    return plot_one(j, figure, title, plot, names, lines, error);
}

/* ---- tables ---- */

static double sum_of(const double *values)
{
    double sum = 0;
    for (size_t i = 0; i < FLR_APPROACH_STEPS; i++) sum += values[i];
    return sum;
}

static double most_of(const double *values)
{
    double most = 0;
    for (size_t i = 0; i < FLR_APPROACH_STEPS; i++) most = fmax(most, values[i]);
    return most;
}

/* What trees take. */
static void tell_trees(const bench_approach_job *j)
{
    bool json = j->options->json;
    fputs(json ? ", \"trees\": ["
               : "\ntrees of both parts      voxels   octree  64-tree 512-tree [bytes per voxel]; "
                 "normals 4 more\n",
          j->out);
    for (int s = 0; s < BENCH_APPROACH_SIZES; s++) {
        const flr_approach *a = &j->sizes[s];
        double per[FLR_APPROACH_VIEWS], count = 0;
        for (int v = 0; v < FLR_APPROACH_VIEWS; v++) {
            flr_sphere_tree_info knot = flr_sphere_tree_get_info(a->trees[v][0]),
                                 bracket = flr_sphere_tree_get_info(a->trees[v][1]);
            count = (double)(knot.voxels + bracket.voxels);
            per[v] = (double)(knot.bytes + bracket.bytes) / count;
        }
        fprintf(j->out,
                json ? "%s\n  {\"voxel\": %g, \"voxels\": %.0f, \"bytes_per_voxel\": [%.3f, %.3f, "
                       "%.3f], \"build_seconds\": %.4f}"
                     : "%s%5.2f mm           %12.0f %8.2f %8.2f %8.2f; octrees made in %.3f s\n",
                json ? (s ? "," : "") : "", json ? a->voxel : 1e3 * a->voxel, count, per[0], per[1],
                per[2], a->build_seconds);
    }
    if (json) fputs("]", j->out);
}

/* One line of a figure: sums along the path and the largest step. */
static void tell_trace(const bench_approach_job *j, const char *name, const flr_approach_trace *t,
                       bool first)
{
    if (j->options->json) {
        fprintf(j->out, "%s\n  {\"name\": \"%s\", \"steps\": [", first ? "" : ",", name);
        for (size_t i = 0; i < FLR_APPROACH_STEPS; i++)
            fprintf(j->out, "%s[%.4f, %.0f, %.3f, %.0f, %.3f]", i ? ", " : "", t->distance[i],
                    t->pairs[i], t->us[i], t->tests[i], t->response_us[i]);
        fputs("]}", j->out);
    } else
        fprintf(j->out, "%-16s %9.1f %10.0f %10.0f %12.0f %10.1f %10.1f %12.1f\n", name,
                t->distance[FLR_APPROACH_STEPS - 1], most_of(t->pairs), most_of(t->tests),
                sum_of(t->tests), most_of(t->us), sum_of(t->us) * 1e-3, most_of(t->response_us));
    fflush(j->out);
}

static void begin_figure(const bench_approach_job *j, const char *key, const char *title)
{
    if (j->options->json)
        fprintf(j->out, ", \"%s\": [", key);
    else
        fprintf(j->out, "\n%s\n%-16s %9s %10s %10s %12s %10s %10s %12s\n", title, "", "end [mm]",
                "most pairs", "most tests", "all tests", "most [us]", "all [ms]", "impulses [us]");
}

static flr_result end_figure(const bench_approach_job *j, const char *key, const char *title,
                             const char *const *names, size_t lines, flr_error *error)
{
    if (j->options->json) fputs("]", j->out);
    return plot_figure(j, key, title, names, lines, error);
}

/* Figures 3 and 4: one path at several resolutions. */
static flr_result resolutions(bench_approach_job *j, bool response, flr_error *error)
{
    char texts[BENCH_APPROACH_SIZES][16];
    const char *names[BENCH_APPROACH_SIZES];
    const char *key = response ? "response" : "resolution",
               *title = response ? "against resolution, stopped by impulses (figure 4)"
                                 : "against resolution, into deep overlap (figure 3)";
    flr_spheres_params params = flr_default_spheres_params();
    flr_result result = FLR_OK;
    begin_figure(j, key, title);
    for (int s = 0; s < BENCH_APPROACH_SIZES && result == FLR_OK; s++) {
        snprintf(texts[s], sizeof texts[s], "%.2f mm", 1e3 * j->sizes[s].voxel);
        names[s] = texts[s];
        if (response)
            result = flr_approach_respond(&j->sizes[s], &j->model, &j->model.paths[0],
                                          j->options->repeat, &j->traces[s], error);
        else
            flr_approach_follow(&j->sizes[s], &j->model.paths[0], 0, &params, j->options->repeat,
                                &j->traces[s]);
        if (result == FLR_OK) tell_trace(j, names[s], &j->traces[s], s == 0);
    }
    return result == FLR_OK ? end_figure(j, key, title, names, BENCH_APPROACH_SIZES, error)
                            : result;
}

/* Figure 5: what the optimisations bring, for each width of the tree. */
static flr_result optimisations(bench_approach_job *j, flr_error *error)
{
    flr_result result = FLR_OK;
    for (int view = 0; view < FLR_APPROACH_VIEWS && result == FLR_OK; view++) {
        char title[80];
        snprintf(title, sizeof title, "optimisations, %s, %.2f mm (figure 5)", view_names[view],
                 1e3 * j->sizes[MIDDLE].voxel);
        static const char *const keys[] = {"octree", "tree64", "tree512"};
        begin_figure(j, keys[view], title);
        for (int i = 0; i < SWITCHES; i++) {
            flr_spheres_params params = flr_default_spheres_params();
            params.one_child = i & 1, params.side = i & 2;
            flr_approach_follow(&j->sizes[MIDDLE], &j->model.paths[0], view, &params,
                                j->options->repeat, &j->traces[i]);
            tell_trace(j, switch_names[i], &j->traces[i], i == 0);
        }
        result = end_figure(j, keys[view], title, switch_names, SWITCHES, error);
        if (result == FLR_OK)
            result = plot_shares(j, keys[view], title, switch_names, SWITCHES, error);
    }
    return result;
}

/* Figure 6: random paths, stopped by impulses. */
static flr_result random_paths(bench_approach_job *j, flr_error *error)
{
    static const char *const title = "random paths, stopped by impulses (figure 6)";
    char texts[LINES][32];
    const char *names[LINES];
    begin_figure(j, "random", title);
    flr_result result = FLR_OK;
    for (size_t i = 0; i < j->paths && result == FLR_OK; i++) {
        snprintf(texts[i], sizeof texts[i], "path %zu", i);
        names[i] = texts[i];
        result = flr_approach_respond(&j->sizes[MIDDLE], &j->model, &j->model.paths[i],
                                      j->options->repeat, &j->traces[i], error);
        if (result == FLR_OK) tell_trace(j, names[i], &j->traces[i], i == 0);
    }
    return result == FLR_OK ? end_figure(j, "random", title, names, j->paths, error) : result;
}

/* ---- beside the shell engine ---- */

/* All paths, the same poses for both. */
static flr_result beside_shell(bench_approach_job *j, flr_error *error)
{
    bool json = j->options->json;
    size_t count = j->paths * FLR_APPROACH_STEPS;
    double *us = malloc(2 * count * sizeof *us);
    if (!us) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    fputs(json ? ", \"engines\": ["
               : "\nspheres and shell at the same poses [us]\n"
                 "          steps   spheres p50      p99      max    shell p50      p99      max   "
                 "near 1000 pairs: pairs    tests  spheres | contacts    shell\n",
          j->out);
    for (int s = 0; s < BENCH_APPROACH_SIZES; s++) {
        size_t touching = 0;
        double nearest[5] = {-INFINITY};
        for (size_t w = 0; w < j->paths; w++) {
            flr_spheres_params params = flr_default_spheres_params();
            flr_approach_trace *t = j->traces;
            flr_approach_follow(&j->sizes[s], &j->model.paths[w], 0, &params, j->options->repeat,
                                t);
            for (size_t i = 0; i < FLR_APPROACH_STEPS; i++) {
                if (fabs(t->pairs[i] - BENCH_APPROACH_WANTED) <
                    fabs(nearest[0] - BENCH_APPROACH_WANTED)) {
                    const double here[5] = {t->pairs[i], t->tests[i], t->us[i], t->contacts[i],
                                            t->shell_us[i]};
                    for (int k = 0; k < 5; k++) nearest[k] = here[k];
                }
                if (!(t->pairs[i] > 0)) continue;
                us[touching] = t->us[i];
                us[count + touching++] = t->shell_us[i];
            }
        }
        if (touching == 0) continue;
        double p[2][3];
        for (int k = 0; k < 2; k++) {
            static const double parts[3] = {0.5, 0.99, 1};
            for (int n = 0; n < 3; n++)
                p[k][n] = flr_bench_percentile(us + (size_t)k * count, touching, parts[n]);
        }
        fprintf(j->out,
                json ? "%s\n  {\"voxel\": %g, \"touching\": %zu, \"spheres_us\": [%.2f, %.2f, "
                       "%.2f], \"shell_us\": [%.2f, %.2f, %.2f], \"near_1000\": {\"pairs\": %.0f, "
                       "\"tests\": %.0f, \"spheres_us\": %.2f, \"contacts\": %.0f, \"shell_us\": "
                       "%.2f}}"
                     : "%s%5.2f mm %6zu %13.1f %8.1f %8.1f %12.1f %8.1f %8.1f %23.0f %8.0f %8.1f | "
                       "%8.0f %8.1f\n",
                json ? (s ? "," : "") : "", json ? j->sizes[s].voxel : 1e3 * j->sizes[s].voxel,
                touching, p[0][0], p[0][1], p[0][2], p[1][0], p[1][1], p[1][2], nearest[0],
                nearest[1], nearest[2], nearest[3], nearest[4]);
    }
    if (json) fputs("]", j->out);
    free(us);
    return FLR_OK;
}

/* ---- threads ---- */

static const double large = 0.25e-3; /* metres: the pair whose work is shared */

/* one pose of it, asked with several numbers of threads by turns */
typedef struct shared_step {
    size_t wanted; /* pairs, about */
    flr_pose T;
    uint32_t pairs;
    uint64_t tests;
    double wall_us[POOLS],
        asking_us[POOLS]; /* the least; of the asking thread, with what it waits */
} shared_step;

/* Along the paths, the poses nearest to the numbers of pairs that are wanted. */
static void find_steps(const bench_approach_job *j, const flr_approach *a, flr_spheres *spheres,
                       shared_step *steps)
{
    flr_spheres_params params = flr_default_spheres_params();
    for (size_t w = 0; w < j->paths; w++)
        for (size_t i = 0; i < FLR_APPROACH_STEPS; i++) {
            flr_spheres_side knot, bracket;
            flr_approach_sides(a, &j->model.paths[w], i, 0, &bracket, &knot);
            flr_spheres_result found;
            flr_spheres_query(spheres, &bracket, &knot, &params, &found);
            if (!found.complete) break; /* no room: the rest of the path is deeper still */
            for (int n = 0; n < SHARED; n++) {
                double wanted = (double)steps[n].wanted;
                if (fabs(found.pairs - wanted) >= fabs(steps[n].pairs - wanted)) continue;
                steps[n].T = bracket.T_world_part;
                steps[n].pairs = found.pairs, steps[n].tests = found.tests;
            }
        }
}

static void time_step(const bench_approach_job *j, const flr_approach *a,
                      flr_spheres *const pools[POOLS], shared_step *step)
{
    flr_spheres_params params = flr_default_spheres_params();
    flr_spheres_side knot = {.tree = a->trees[0][0], .T_world_part = flr_pose_identity()},
                     bracket = {.tree = a->trees[0][1], .T_world_part = step->T};
    for (int c = 0; c < POOLS; c++) step->wall_us[c] = step->asking_us[c] = INFINITY;
    for (unsigned round = 0; round < 10 * j->options->repeat; round++)
        for (int c = 0; c < POOLS; c++) {
            flr_spheres_result found;
            double asking = flr_bench_processor_us();
            int64_t begin = flr_clock_ns(j->env);
            flr_spheres_query(pools[c], &bracket, &knot, &params, &found);
            double wall = 1e-3 * (double)(flr_clock_ns(j->env) - begin);
            asking = flr_bench_processor_us() - asking;
            step->wall_us[c] = fmin(step->wall_us[c], wall);
            step->asking_us[c] = fmin(step->asking_us[c], asking);
        }
}

static void tell_steps(const bench_approach_job *j, const flr_approach *a, const shared_step *steps)
{
    bool json = j->options->json;
    double voxels_of_both = (double)(flr_sphere_tree_get_info(a->trees[0][0]).voxels +
                                     flr_sphere_tree_get_info(a->trees[0][1]).voxels);
    if (json)
        fprintf(j->out, ", \"threads\": {\"voxel\": %g, \"voxels\": %.0f, \"steps\": [", a->voxel,
                voxels_of_both);
    else
        fprintf(j->out,
                "\nthreads, by turns, %.2f mm, %.0f voxels: best of %u [us], wall clock and "
                "processor time of the asking thread\n   pairs      tests",
                1e3 * a->voxel, voxels_of_both, 10 * j->options->repeat);
    for (int c = 0; c < POOLS && !json; c++)
        fprintf(j->out, " | %u: %7s %8s %6s", pool_sizes[c], "wall", "asking", "gain");
    if (!json) fputs("\n", j->out);
    for (int n = 0; n < SHARED; n++) {
        const shared_step *s = &steps[n];
        fprintf(j->out, json ? "%s\n  {\"pairs\": %u, \"tests\": %llu, \"us\": [" : "%s%8u %10llu",
                json && n ? "," : "", s->pairs, (unsigned long long)s->tests);
        for (int c = 0; c < POOLS; c++)
            fprintf(j->out, json ? "%s[%u, %.2f, %.2f, %.3f]" : "%s    %u%9.1f %8.1f %6.2f",
                    json && c ? ", " : "", pool_sizes[c], s->wall_us[c], s->asking_us[c],
                    s->wall_us[0] / s->wall_us[c]);
        fputs(json ? "]}" : "\n", j->out);
    }
    if (json) fputs("]}", j->out);
}

/* What a second thread and two more gain, on a pair that is larger than those above. */
static flr_result threads(bench_approach_job *j, flr_error *error)
{
    flr_approach a;
    flr_result result = flr_approach_make(
        j->env, &j->model, large * (j->options->divide > 1 ? 4 * sqrt(j->options->divide) : 1), &a,
        error);
    flr_spheres *pools[POOLS] = {0};
    for (int c = 0; c < POOLS && result == FLR_OK; c++) {
        flr_spheres_def def = flr_approach_room();
        def.threads = pool_sizes[c];
        result = flr_spheres_create(&def, &pools[c], error);
    }
    if (result == FLR_OK) {
        shared_step steps[SHARED] = {{.wanted = 1000}, {.wanted = 10000}, {.wanted = 100000}};
        find_steps(j, &a, pools[0], steps);
        for (int n = 0; n < SHARED; n++) time_step(j, &a, pools, &steps[n]);
        tell_steps(j, &a, steps);
    }
    for (int c = 0; c < POOLS; c++) flr_spheres_destroy(pools[c]);
    flr_approach_free(&a);
    return result;
}

/* ---- all of it ---- */

static flr_result run(bench_approach_job *j, flr_error *error)
{
    flr_result result = flr_scenario_build(flr_scenario_find("approach"), NULL, &j->model, error);
    for (int s = 0; s < BENCH_APPROACH_SIZES && result == FLR_OK; s++)
        result = flr_approach_make(j->env, &j->model, voxels[s] * sqrt(j->options->divide),
                                   &j->sizes[s], error);
    if (result != FLR_OK) return result;
    j->paths = j->model.path_count < LINES ? j->model.path_count : LINES;
    if (j->options->divide > 1 && j->paths > 2) j->paths = 2;
    tell_trees(j);
    result = resolutions(j, false, error);
    if (result == FLR_OK) result = resolutions(j, true, error);
    if (result == FLR_OK) result = optimisations(j, error);
    if (result == FLR_OK) result = random_paths(j, error);
    if (result == FLR_OK) result = beside_shell(j, error);
    return result == FLR_OK ? threads(j, error) : result;
}

flr_result flr_bench_approach(flr_env *env, const flr_bench_options *options, FILE *out,
                              flr_error *error)
{
    flr_bench_conditions conditions = flr_bench_look(env);
    bench_approach_job j = {.env = env, .options = options, .out = out};
    j.traces = calloc(LINES, sizeof *j.traces);
    if (!j.traces) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    if (options->json) fputs("{", out);
    flr_bench_print_conditions(&conditions, options->json, out);
    if (!options->json) fprintf(out, "processor time, best of %u for each step\n", options->repeat);
    flr_result result = run(&j, error);
    if (options->json && result == FLR_OK) fputs("}\n", out);
    for (int s = 0; s < BENCH_APPROACH_SIZES; s++) flr_approach_free(&j.sizes[s]);
    flr_model_free(&j.model);
    free(j.traces);
    return result;
}
