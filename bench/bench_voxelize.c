/* voxelizing: time, memory and counts beside the papers' numbers; how time grows as voxels shrink (2005, Fig. 10);
 * which tree is smallest (1999, Fig. 6)
 *
 * Each measurement runs in a process of its own, so that its peak memory is its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/bench.h"
#include "feeler/voxels.h"

/* what the papers measured, and what we promise; 0: nothing */
typedef struct bench_voxelize_subject {
    const char *scenario, *file;
    double voxel;
    double paper_seconds, paper_points, paper_voxels;
    double most_seconds, most_memory;
} bench_voxelize_subject;

static const bench_voxelize_subject subjects[] = {
    {"ball", "ball.stl", 0.35e-3, 0, 23960, 0, 0, 0},
    {"ball", "ball.stl", 0.15e-3, 0, 130688, 0, 0, 0},
    {"ball", "socket.stl", 0.35e-3, 5.8, 0, 5.91e5, 0, 0},
    {"ball", "socket.stl", 0.15e-3, 21.5, 0, 3.11e6, 0, 0},
    {"aircraft", "aircraft.stl", 5e-3, 70, 0, 0, 0, 0},
    {"gear", "actuator.stl", 1e-3, 0, 528653, 0, 0, 0},
    {"gear", "actuator.stl", 0.7e-3, 0, 1.14e6, 0, 0, 0},
    {"gear", "gear.stl", 20e-3, 0, 0, 0, 0, 0},
    {"gear", "gear.stl", 10e-3, 0, 0, 0, 0, 0},
    {"gear", "gear.stl", 5e-3, 0, 0, 0, 0, 0},
    {"gear", "gear.stl", 2.5e-3, 1353, 0, 4.59e8, 10, 4.0 * 1024 * 1024 * 1024},
    {"gear", "gear.stl", 1.25e-3, 5861, 0, 1.78e9, 50, 8.0 * 1024 * 1024 * 1024},
};
enum { BENCH_VOXELIZE_SUBJECTS = sizeof subjects / sizeof *subjects };

/* what the measured process tells */
typedef struct told {
    flr_voxelize_report report;
    uint32_t points;
    uint64_t shell_bytes;
} told;

typedef struct bench_voxelize_measured {
    told told;
    flr_bench_cost cost;
} bench_voxelize_measured;

typedef struct bench_voxelize_job {
    const flr_mesh *mesh;
    double voxel;
    told *told; /* shared with the process */
} bench_voxelize_job;

static flr_result voxelize(void *context, flr_error *error)
{
    bench_voxelize_job *j = context;
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = j->voxel;
    flr_voxmap *voxmap;
    flr_shell *shell;
    flr_result result =
        flr_voxelize(flr_env_real(), j->mesh, &def, &voxmap, &shell, &j->told->report, error);
    if (result != FLR_OK) return result;
    j->told->points = shell->total;
    j->told->shell_bytes = shell->bytes;
    flr_voxmap_destroy(voxmap);
    flr_shell_destroy(shell);
    return FLR_OK;
}

/* The best of `repeat` runs by wall clock. */
static flr_result measure(flr_env *env, const flr_mesh *mesh, double voxel, unsigned repeat,
                          bench_voxelize_measured *best, flr_error *error)
{
    told *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    flr_result result = FLR_OK;
    best->cost.seconds = INFINITY;
    for (unsigned i = 0; i < repeat && result == FLR_OK; i++) {
        flr_bench_cost cost;
        bench_voxelize_job j = {.mesh = mesh, .voxel = voxel, .told = shared};
        result = flr_bench_measure(env, voxelize, &j, &cost, error);
        if (result == FLR_OK && cost.seconds < best->cost.seconds)
            *best = (bench_voxelize_measured){*shared, cost};
    }
    munmap(shared, sizeof *shared);
    return result;
}

/* ---- printing ---- */

static double per_voxel_and_field(const told *t)
{
    return (double)t->report.voxels.bytes / 3 / (double)t->report.voxels.surface_voxels;
}

static double all_voxels(const told *t)
{
    return (double)(t->report.voxels.surface_voxels + t->report.voxels.interior_voxels +
                    t->report.voxels.field_voxels);
}

static void print_text(const bench_voxelize_subject *s, double voxel,
                       const bench_voxelize_measured *m, FILE *out)
{
    const told *t = &m->told;
    fprintf(out, "%-13s %7.4g %9llu %8llu %10.4g %10.4g %9u %8.3f %8.3f %7.0f %6.1f", s->file,
            voxel * 1e3, (unsigned long long)t->report.voxels.triangles,
            (unsigned long long)t->report.voxels.polygons, (double)t->report.voxels.surface_voxels,
            all_voxels(t), t->points, m->cost.seconds, m->cost.cpu_seconds, m->cost.memory / 1e6,
            per_voxel_and_field(t));
    if (s->paper_points > 0)
        fprintf(out, "  paper: %.0f points (%+.1f %%)", s->paper_points,
                100 * (t->points / s->paper_points - 1));
    if (s->paper_seconds > 0)
        fprintf(out, "  paper: %.4g s (%.0f times)", s->paper_seconds,
                s->paper_seconds / m->cost.seconds);
    if (s->paper_voxels > 0) fprintf(out, ", %.3g voxels", s->paper_voxels);
    if (s->most_seconds > 0)
        fprintf(out, "  bound: %.0f s, %.0f MB: %s", s->most_seconds, s->most_memory / 1e6,
                m->cost.seconds <= s->most_seconds && m->cost.memory <= s->most_memory ? "held"
                                                                                       : "MISSED");
    fputc('\n', out);
}

static void print_json(const bench_voxelize_subject *s, double voxel,
                       const bench_voxelize_measured *m, bool first, FILE *out)
{
    const told *t = &m->told;
    const flr_voxelize_report *r = &t->report;
    fprintf(out,
            "%s\n  {\"file\": \"%s\", \"voxel\": %.6g, \"triangles\": %llu, \"polygons\": %llu, "
            "\"surface_voxels\": %llu, "
            "\"interior_voxels\": %llu, \"field_voxels\": %llu, \"points\": %u, \"bytes\": %llu, "
            "\"shell_bytes\": %llu, "
            "\"seconds\": {\"features\": %.4f, \"scan\": %.4f, \"fill\": %.4f, \"fields\": %.4f, "
            "\"shell\": %.4f, \"total\": "
            "%.4f, \"cpu\": %.4f}, \"peak_rss\": %.0f, \"paper\": {\"seconds\": %.6g, \"points\": "
            "%.6g, \"voxels\": %.6g}}",
            first ? "" : ",", s->file, voxel, (unsigned long long)r->voxels.triangles,
            (unsigned long long)r->voxels.polygons, (unsigned long long)r->voxels.surface_voxels,
            (unsigned long long)r->voxels.interior_voxels,
            (unsigned long long)r->voxels.field_voxels, t->points,
            (unsigned long long)r->voxels.bytes, (unsigned long long)t->shell_bytes,
            r->seconds.features, r->seconds.scan, r->seconds.fill, r->seconds.fields,
            r->seconds.shell, m->cost.seconds, m->cost.cpu_seconds, m->cost.memory,
            s->paper_seconds, s->paper_points, s->paper_voxels);
}

/* ---- time against voxel size ---- */

static flr_result plot_growth(flr_env *env, const char *folder, const double *voxel,
                              const double *seconds, size_t count, flr_error *error)
{
    double square[BENCH_VOXELIZE_SUBJECTS], paper_x[2] = {2.5, 1.25}, paper_y[2] = {1353, 5861};
    for (size_t i = 0; i < count; i++)
        square[i] = seconds[count - 1] * pow(voxel[count - 1] / voxel[i], 2);
    flr_plot_series series[3] = {
        {.name = "feeler, all fields and the shell",
         .x = voxel,
         .y = seconds,
         .count = count,
         .dots = true},
        {.name = "1/s\xC2\xB2", .x = voxel, .y = square, .count = count, .dashed = true},
        {.name = "2005 paper (2.8 GHz Xeon)",
         .x = paper_x,
         .y = paper_y,
         .count = 2,
         .dots = true}};
    flr_plot_def def = flr_default_plot_def();
    def.title = "Voxelizing the landing gear, 2.76 million triangles";
    def.x_label = "voxel size s [mm]";
    def.y_label = "time [s]";
    def.log_x = def.log_y = true;
    def.series = series;
    def.series_count = 3;
    return flr_bench_plot(env, folder, "voxelize-time.svg", &def, error);
}

/* ---- which tree is smallest ---- */

enum { TREES = 5 };

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* How many different cubes of 2^shift voxels hold surface or proximity voxels. */
static uint64_t count_cubes(const uint64_t *voxels, size_t count, unsigned shift, uint64_t *scratch)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t v = voxels[i], x = v & 0x1FFFFF, y = v >> 21 & 0x1FFFFF, z = v >> 42;
        scratch[i] = x >> shift | (y >> shift) << 21 | (z >> shift) << 42;
    }
    qsort(scratch, count, sizeof *scratch, by_number);
    uint64_t different = count > 0;
    for (size_t i = 1; i < count; i++) different += scratch[i] != scratch[i - 1];
    return different;
}

/* Bytes of a tree of three levels with 2^(3N) children each, voxels of 2 bits and pointers of 4 bytes (1999, Fig. 6):
 * cubes of N bits a side hold voxels, cubes of 2N bits hold pointers to them, the top holds pointers to those. */
static flr_result study_trees(const flr_mesh *mesh, double voxel, double bytes[TREES],
                              flr_error *error)
{
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    def.features = false;
    flr_shell *shell;
    flr_result result = flr_voxelize(flr_env_real(), mesh, &def, NULL, &shell, NULL, error);
    if (result != FLR_OK) return result;
    uint64_t *voxels = malloc((shell->total + 1u) * sizeof *voxels),
             *scratch = malloc((shell->total + 1u) * sizeof *scratch);
    if (voxels && scratch) {
        size_t count = 0;
        double size[3] = {mesh->bounds.high.x - mesh->bounds.low.x,
                          mesh->bounds.high.y - mesh->bounds.low.y,
                          mesh->bounds.high.z - mesh->bounds.low.z};
        for (uint32_t c = 0; c < shell->chunk_count; c++)
            for (uint32_t k = 0; k < shell->chunks[c].count[0];
                 k++) { /* without features all are vertex points */
                flr_vec3 p = flr_shell_point(shell, c, shell->chunks[c].first + k, 0);
                uint64_t x = (uint64_t)((p.x - mesh->bounds.low.x) / voxel + 2),
                         y = (uint64_t)((p.y - mesh->bounds.low.y) / voxel + 2),
                         z = (uint64_t)((p.z - mesh->bounds.low.z) / voxel + 2);
                voxels[count++] = x | y << 21 | z << 42;
            }
        for (unsigned n = 1; n <= TREES; n++) {
            double children = pow(8, n), top = 1;
            for (int axis = 0; axis < 3; axis++) top *= ceil((size[axis] / voxel + 4) / pow(4, n));
            bytes[n - 1] = (double)count_cubes(voxels, count, n, scratch) * children / 4 +
                           (double)count_cubes(voxels, count, 2 * n, scratch) * children * 4 +
                           top * 4;
        }
    } else {
        result = flr_fail(error, FLR_NO_MEMORY, "out of memory");
    }
    free(voxels);
    free(scratch);
    flr_shell_destroy(shell);
    return result;
}

static flr_result bench_trees(flr_env *env, const flr_bench_options *options, const flr_model *gear,
                              const flr_model *aircraft, FILE *out, flr_error *error)
{
    double bytes[2][TREES], n[TREES] = {1, 2, 3, 4, 5};
    const flr_mesh *meshes[2] = {flr_model_find_mesh(gear, "gear.stl"),
                                 flr_model_find_mesh(aircraft, "aircraft.stl")};
    double voxels[2] = {10e-3 * options->divide, 5e-3 * options->divide};
    for (int i = 0; i < 2; i++) {
        flr_result result = study_trees(meshes[i], voxels[i], bytes[i], error);
        if (result != FLR_OK) return result;
    }
    if (options->json) {
        fprintf(out, "],\n \"trees\": [");
        for (int i = 0; i < TREES; i++)
            fprintf(out, "%s{\"N\": %d, \"gear_bytes\": %.0f, \"aircraft_bytes\": %.0f}",
                    i ? ", " : "", i + 1, bytes[0][i], bytes[1][i]);
    } else {
        fprintf(out,
                "\nThree-level tree of 2^(3N) children, 2 bits a voxel, MB (1999, Fig. 6):\n  N    "
                "  gear at %g mm   aircraft at %g mm\n",
                voxels[0] * 1e3, voxels[1] * 1e3);
        for (int i = 0; i < TREES; i++)
            fprintf(out, "  %d %15.1f %18.1f\n", i + 1, bytes[0][i] / 1e6, bytes[1][i] / 1e6);
    }
    if (!options->plots) return FLR_OK;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < TREES; k++) bytes[i][k] /= 1e6;
    flr_plot_series series[2] = {
        {.name = "gear, 10 mm", .x = n, .y = bytes[0], .count = TREES, .dots = true},
        {.name = "aircraft, 5 mm", .x = n, .y = bytes[1], .count = TREES, .dots = true}};
    flr_plot_def def = flr_default_plot_def();
    def.title = "Memory of a three-level tree with 2^(3N) children";
    def.x_label = "N";
    def.y_label = "memory [MB]";
    def.log_y = true;
    def.series = series;
    def.series_count = 2;
    return flr_bench_plot(env, options->plots, "voxelize-trees.svg", &def, error);
}

/* ---- the whole ---- */

static flr_result bench_sizes(flr_env *env, const flr_bench_options *options,
                              flr_model *const models[3], FILE *out, flr_error *error)
{
    double sizes[BENCH_VOXELIZE_SUBJECTS], seconds[BENCH_VOXELIZE_SUBJECTS];
    size_t grown = 0;
    if (!options->json)
        fprintf(out, "%-13s %7s %9s %8s %10s %10s %9s %8s %8s %7s %6s\n", "mesh", "s [mm]",
                "triangles", "polygons", "surface", "voxels", "points", "wall [s]", "cpu [s]", "MB",
                "B/v/f");
    for (size_t i = 0; i < BENCH_VOXELIZE_SUBJECTS; i++) {
        const bench_voxelize_subject *s = &subjects[i];
        const flr_model *model = models[!strcmp(s->scenario, "ball")       ? 0
                                        : !strcmp(s->scenario, "aircraft") ? 1
                                                                           : 2];
        double voxel = s->voxel * options->divide;
        bench_voxelize_subject shown = *s;
        if (options->divide > 1)
            shown.paper_points = shown.paper_seconds = shown.paper_voxels = shown.most_seconds = 0;
        bench_voxelize_measured m = {0};
        flr_result result =
            measure(env, flr_model_find_mesh(model, s->file), voxel, options->repeat, &m, error);
        if (result != FLR_OK) return result;
        if (options->json)
            print_json(&shown, voxel, &m, i == 0, out);
        else
            print_text(&shown, voxel, &m, out);
        fflush(out);
        if (strcmp(s->file, "gear.stl")) continue;
        sizes[grown] = voxel * 1e3;
        seconds[grown++] = m.cost.seconds;
    }
    if (!options->json)
        fprintf(out, "time of the gear grows as s^%.2f (s^-2 or slower growth is wanted)\n",
                flr_bench_exponent(sizes, seconds, grown));
    return options->plots ? plot_growth(env, options->plots, sizes, seconds, grown, error) : FLR_OK;
}

flr_result flr_bench_voxelize(flr_env *env, const flr_bench_options *options, FILE *out,
                              flr_error *error)
{
    const char *names[3] = {"ball", "aircraft", "gear"};
    flr_model built[3] = {0}, *models[3];
    flr_result result = FLR_OK;
    for (int i = 0; i < 3 && result == FLR_OK; i++) {
        models[i] = &built[i];
        result = flr_scenario_build(flr_scenario_find(names[i]), NULL, &built[i], error);
    }
    flr_bench_conditions conditions = flr_bench_look(env);
    conditions.threads = conditions.cores;
    if (result == FLR_OK) {
        if (options->json) fputs("{", out);
        flr_bench_print_conditions(&conditions, options->json, out);
        if (options->json) fputs(", \"voxelize\": [", out);
        result = bench_sizes(env, options, models, out, error);
    }
    if (result == FLR_OK) result = bench_trees(env, options, &built[2], &built[1], out, error);
    if (result == FLR_OK && options->json) fputs("]}\n", out);
    for (int i = 0; i < 3; i++) flr_model_free(&built[i]);
    return result;
}
