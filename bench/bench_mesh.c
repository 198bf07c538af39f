/* reading and welding of mesh files
 *
 * The mesh is a torus with waves, as many triangles as the landing gear of the paper; its files
 * are written to a scratch folder and read back, each time in a fresh process, from the page
 * cache. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "feeler/mesh.h"

enum { BENCH_MESH_ROUND = 1200, ACROSS = 1150 }; /* 2 · 1200 · 1150 = 2.76 million triangles */

/* one file and what we promise for it; 0: nothing */
typedef struct bench_mesh_subject {
    const char *name, *file;
    unsigned divide; /* so many times fewer triangles; text takes long to write */
    double most_seconds, most_memory, least_rate; /* s, bytes, bytes/s */
} bench_mesh_subject;

static const bench_mesh_subject subjects[] = {
    {"binary STL", "binary.stl", 1, 1.0, 450e6, 0},
    {"ASCII STL", "ascii.stl", 4, 0, 0, 100e6},
    {"OBJ", "mesh.obj", 1, 0, 0, 100e6},
    {"binary PLY", "mesh.ply", 1, 0, 0, 0},
};
enum { BENCH_MESH_SUBJECTS = sizeof subjects / sizeof *subjects };

static flr_vec3 torus_point(unsigned i, unsigned j, unsigned across)
{
    double u = FLR_TWO_PI * i / BENCH_MESH_ROUND, v = FLR_TWO_PI * j / across;
    double r = 300 + 20 * sin(11 * u) * cos(7 * v), ring = 1000 + r * cos(v);
    return flr_vec3_make(ring * cos(u), ring * sin(u), r * sin(v));
}

static flr_result make_mesh(unsigned divide, flr_mesh **mesh, flr_error *error)
{
    unsigned across = ACROSS / divide < 3 ? 3 : ACROSS / divide;
    size_t points = (size_t)BENCH_MESH_ROUND * across;
    flr_vec3 *vertices = malloc(points * sizeof *vertices);
    flr_triangle *triangles = malloc(2 * points * sizeof *triangles);
    flr_result result = FLR_NO_MEMORY;
    if (vertices && triangles) {
        for (unsigned i = 0; i < BENCH_MESH_ROUND; i++)
            for (unsigned j = 0; j < across; j++) {
                size_t here = (size_t)i * across + j;
                vertices[here] = torus_point(i, j, across);
                uint32_t a = (uint32_t)here, b = i * across + (j + 1) % across;
                uint32_t c = (i + 1) % BENCH_MESH_ROUND * across + j;
                uint32_t d = (i + 1) % BENCH_MESH_ROUND * across + (j + 1) % across;
                triangles[2 * here] = (flr_triangle){{a, c, d}};
                triangles[2 * here + 1] = (flr_triangle){{a, d, b}};
            }
        flr_mesh_def def = flr_default_mesh_def();
        def.vertices = vertices;
        def.vertex_count = (uint32_t)points;
        def.triangles = triangles;
        def.triangle_count = (uint32_t)(2 * points);
        def.scale = 0.001;
        result = flr_mesh_create(&def, mesh, error);
    } else {
        flr_fail(error, result, "out of memory for the mesh to measure with");
    }
    free(triangles);
    free(vertices);
    return result;
}

/* as CAD programs write it */
static flr_result write_ascii_stl(flr_env *env, const char *path, const flr_mesh *mesh,
                                  flr_error *error)
{
    flr_output *output;
    flr_result result = flr_output_begin(env, path, &output, error);
    if (result != FLR_OK) return result;
    result = flr_output_print(output, error, "solid torus\n");
    for (uint32_t t = 0; result == FLR_OK && t < mesh->triangle_count; t++) {
        flr_vec3 p[3];
        for (unsigned i = 0; i < 3; i++)
            p[i] = flr_vec3_scale(mesh->vertices[mesh->triangles[t].v[i]], 1000);
        flr_vec3 n =
            flr_vec3_normalize(flr_vec3_cross(flr_vec3_sub(p[1], p[0]), flr_vec3_sub(p[2], p[0])));
        result = flr_output_print(output, error,
                                  "  facet normal %e %e %e\n    outer loop\n"
                                  "      vertex %e %e %e\n      vertex %e %e %e\n"
                                  "      vertex %e %e %e\n    endloop\n  endfacet\n",
                                  n.x, n.y, n.z, p[0].x, p[0].y, p[0].z, p[1].x, p[1].y, p[1].z,
                                  p[2].x, p[2].y, p[2].z);
    }
    if (result == FLR_OK) result = flr_output_print(output, error, "endsolid torus\n");
    if (result == FLR_OK) return flr_output_commit(output, error);
    flr_output_abandon(output);
    return result;
}

static flr_result write_file(flr_env *env, const bench_mesh_subject *s, unsigned divide,
                             const char *path, flr_error *error)
{
    flr_mesh *mesh;
    flr_result result = make_mesh(s->divide * divide, &mesh, error);
    if (result != FLR_OK) return result;
    result = strstr(s->file, "ascii") ? write_ascii_stl(env, path, mesh, error)
                                      : flr_mesh_write(env, path, mesh, 0, error);
    flr_mesh_destroy(mesh);
    return result;
}

/* ---- measuring ---- */

typedef struct bench_mesh_reading {
    flr_env *env;
    const char *path;
} bench_mesh_reading;

static flr_result read_file(void *context, flr_error *error)
{
    bench_mesh_reading *r = context;
    flr_mesh *mesh;
    flr_result result = flr_mesh_read(r->env, r->path, NULL, &mesh, NULL, error);
    if (result == FLR_OK) flr_mesh_destroy(mesh);
    return result;
}

typedef struct bench_mesh_measured {
    double bytes;
    uint32_t triangles;
    flr_bench_cost best, median;
} bench_mesh_measured;

static flr_result measure(flr_env *env, const char *path, unsigned repeat, bench_mesh_measured *m,
                          flr_error *error)
{
    flr_mesh *mesh;
    flr_mesh_report report;
    flr_result result = flr_mesh_read(env, path, NULL, &mesh, &report, error);
    if (result != FLR_OK) return result;
    m->bytes = (double)report.bytes;
    m->triangles = mesh->triangle_count;
    flr_mesh_destroy(mesh);

    bench_mesh_reading r = {env, path};
    flr_bench_cost *costs = calloc(repeat, sizeof *costs);
    if (!costs) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    for (unsigned i = 0; result == FLR_OK && i < repeat; i++)
        result = flr_bench_stopped() ? flr_fail(error, FLR_CANCELLED, "stopped")
                                     : flr_bench_measure(env, read_file, &r, &costs[i], error);
    if (result == FLR_OK) flr_bench_summary(costs, repeat, &m->best, &m->median);
    free(costs);
    return result;
}

/* ---- telling ---- */

static bool holds(const bench_mesh_subject *s, const bench_mesh_measured *m)
{
    return (s->most_seconds == 0 || m->best.seconds <= s->most_seconds) &&
           (s->most_memory == 0 || m->best.memory <= s->most_memory) &&
           (s->least_rate == 0 || m->bytes / m->best.seconds >= s->least_rate);
}

static void print_row(const bench_mesh_subject *s, const bench_mesh_measured *m, bool json,
                      bool first, FILE *out)
{
    double rate = m->bytes / m->best.seconds;
    if (json) {
        fprintf(out,
                "%s{\"file\":\"%s\",\"triangles\":%u,\"bytes\":%.0f,\"best_s\":%.4f,"
                "\"median_s\":%.4f,\"cpu_s\":%.4f,\"bytes_per_s\":%.0f,\"peak_bytes\":%.0f,"
                "\"holds\":%s}",
                first ? "" : ",", s->name, m->triangles, m->bytes, m->best.seconds,
                m->median.seconds, m->best.cpu_seconds, rate, m->best.memory,
                holds(s, m) ? "true" : "false");
        return;
    }
    char bound[64] = "";
    if (s->most_seconds > 0)
        snprintf(bound, sizeof bound, "%.1f s, %.0f MB", s->most_seconds, s->most_memory / 1e6);
    else if (s->least_rate > 0)
        snprintf(bound, sizeof bound, "%.0f MB/s", s->least_rate / 1e6);
    fprintf(out, "%-11s %10u %8.1f %8.3f %8.3f %8.3f %8.0f %8.0f %6.2f  %s%s\n", s->name,
            m->triangles, m->bytes / 1e6, m->best.seconds, m->median.seconds, m->best.cpu_seconds,
            rate / 1e6, m->best.memory / 1e6, m->best.memory / m->bytes, bound,
            !bound[0]     ? ""
            : holds(s, m) ? ": holds"
                          : ": MISSED");
}

static void print_head(flr_env *env, const flr_bench_options *options, FILE *out)
{
    flr_bench_conditions conditions = flr_bench_look(env);
    if (options->json) {
        fprintf(out, "{\"bench\":\"mesh\",\"repeat\":%u,", options->repeat);
        flr_bench_print_conditions(&conditions, true, out);
        fprintf(out, ",\"rows\":[");
        return;
    }
    fprintf(out, "Reading and welding mesh files, best and median of %u, from the page cache\n",
            options->repeat);
    flr_bench_print_conditions(&conditions, false, out);
    fprintf(out, "\n%-11s %10s %8s %8s %8s %8s %8s %8s %6s  %s\n", "file", "triangles", "MB",
            "best s", "median s", "cpu s", "MB/s", "peak MB", "x file", "bound");
}

static flr_result bench_in(flr_env *env, const flr_bench_options *options, const char *folder,
                           FILE *out, flr_error *error)
{
    flr_result result = FLR_OK;
    print_head(env, options, out);
    for (unsigned i = 0; result == FLR_OK && i < BENCH_MESH_SUBJECTS; i++) {
        char path[1200];
        bench_mesh_measured m;
        snprintf(path, sizeof path, "%s/%s", folder, subjects[i].file);
        result = flr_bench_stopped() ? flr_fail(error, FLR_CANCELLED, "stopped")
                                     : write_file(env, &subjects[i], options->divide, path, error);
        if (result != FLR_OK) break;
        result = measure(env, path, options->repeat, &m, error);
        if (result == FLR_OK) print_row(&subjects[i], &m, options->json, i == 0, out);
        fflush(out);
        flr_path_remove(env, path, NULL);
    }
    if (options->json) fprintf(out, "]}\n");
    return result;
}

flr_result flr_bench_mesh(flr_env *env, const flr_bench_options *options, FILE *out,
                          flr_error *error)
{
    flr_bench_options defaults = flr_default_bench_options();
    if (!options) options = &defaults;
    if (options->repeat < 1 || options->repeat > 1000 || options->divide < 1)
        return flr_fail(error, FLR_BAD_ARGUMENT, "repeat must be from 1 to 1000");
    char folder[FLR_BENCH_PATH];
    flr_bench_catch_begin();
    flr_result result = flr_bench_make_folder(env, options, folder, error);
    if (result == FLR_OK) {
        result = bench_in(env, options, folder, out, error);
        flr_path_remove(env, folder, NULL);
    }
    flr_bench_catch_end();
    return result;
}
