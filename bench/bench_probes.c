/* probes: what a query costs while a hand strokes the models of the scenario, in the layout of H-COLLIDE's tables 1 to 5;
 * how long making ready takes; how the cost grows with the number of triangles
 *
 * Every frame is asked several times and its best time counts, less what reading the clock takes. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/stroke.h"
#include "feeler/probe.h"

enum { STROKES = 30000, METHODS = 3, MODELS = 5, BENCH_PROBES_GROWN = 7 };

static const flr_probe_method methods[METHODS] = {FLR_PROBE_GRID, FLR_PROBE_HYBRID, FLR_PROBE_TREE};
static const char *const method_names[METHODS] = {"hash grid", "hybrid", "OBB tree"};

/* what we promise */
static const double most_p999 = 2, least_made = 2e6, most_exponent = 0.15;

/* the paper's average query, microseconds at 400 MHz: hash grid, hybrid, OBB tree */
static const double paper[MODELS][METHODS] = {
    {19, 14, 17}, {30, 25, 28}, {22, 16, 39}, {27, 14, 28}, {30, 16, 16}};

/* one kind of query: nanoseconds */
typedef struct bench_probes_kind {
    double sum, worst;
    size_t count;
} bench_probes_kind;

typedef enum outcome { COLLISION_HIT, COLLISION_MISS, INTERSECTION_HIT, INTERSECTION_MISS } outcome;
enum { OUTCOMES = 4 };
static const char *const outcome_names[OUTCOMES] = {"col. hit", "col. miss", "int. hit",
                                                    "int. miss"};
static const char *const outcome_keys[OUTCOMES] = {"collision_hit", "collision_miss",
                                                   "intersection_hit", "intersection_miss"};

typedef struct bench_probes_measured {
    bench_probes_kind kinds[OUTCOMES];
    double mean, p999, worst; /* ns, collision queries */
    double made;              /* seconds */
    flr_probe_info info;
} bench_probes_measured;

static double clock_cost(flr_env *env)
{
    double least = 1e9;
    for (int i = 0; i < 2000; i++) {
        int64_t begin = flr_clock_ns(env);
        least = fmin(least, (double)(flr_clock_ns(env) - begin));
    }
    return least;
}

static void count_in(bench_probes_kind *k, double ns)
{
    k->sum += ns;
    k->count++;
    k->worst = fmax(k->worst, ns);
}

/* Section 5.1: each frame a collision query, and where it hits an intersection query to the point that it suggests. `warm`:
 * each is asked once more before, so that all it reads is in a cache. */
static flr_result replay(flr_env *env, const flr_probe_model *model, const flr_segment *strokes,
                         size_t count, unsigned repeat, bool warm, bench_probes_measured *m,
                         flr_error *error)
{
    double *ns[2] = {malloc(count * sizeof(double)), malloc(count * sizeof(double))};
    if (!ns[0] || !ns[1]) {
        free(ns[0]), free(ns[1]);
        return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    }
    double clock = clock_cost(env);
    flr_probe_witness witness = flr_probe_witness_none();
    for (unsigned round = 0; round <= repeat; round++)
        for (size_t i = 0; i < count; i++) {
            const flr_segment *s = &strokes[i];
            flr_probe_contact c;
            flr_probe_hit hit;
            if (warm) flr_probe_first(model, s->from, s->to, &witness, &hit);
            int64_t begin = flr_clock_ns(env);
            bool hits = flr_probe_first(model, s->from, s->to, &witness, &hit);
            double spent = fmax(0, (double)(flr_clock_ns(env) - begin) - clock), more = 0;
            /* the second query by itself: its end from the pair that a user would call */
            if (hits) {
                c = flr_probe_touch(model, s->from, s->to, &witness);
                begin = flr_clock_ns(env);
                c.intersection = flr_probe_first(model, s->from, c.surface, &witness, &hit);
                more = fmax(0, (double)(flr_clock_ns(env) - begin) - clock);
            }
            /* the first round only warms up */
            ns[0][i] = round <= 1 ? spent : fmin(ns[0][i], spent);
            ns[1][i] = round <= 1 ? more : fmin(ns[1][i], more);
            if (round != repeat) continue;
            count_in(&m->kinds[hits ? COLLISION_HIT : COLLISION_MISS], ns[0][i]);
            if (hits)
                count_in(&m->kinds[c.intersection ? INTERSECTION_HIT : INTERSECTION_MISS],
                         ns[1][i]);
            m->mean += ns[0][i] / (double)count;
        }
    if (count > 0) {
        qsort(ns[0], count, sizeof(double), flr_bench_by_value);
        m->p999 = ns[0][(count - 1) * 999 / 1000];
        m->worst = ns[0][count - 1];
    }
    free(ns[0]), free(ns[1]);
    return FLR_OK;
}

/* Makes the mesh ready `repeat` times, the best counts, and replays the strokes. */
static flr_result measure(flr_env *env, const flr_mesh *mesh, flr_probe_method method,
                          const flr_segment *strokes, size_t count, unsigned repeat, bool warm,
                          bench_probes_measured *m, flr_error *error)
{
    flr_probe_def def = flr_default_probe_def();
    def.mesh = mesh;
    def.method = method;
    *m = (bench_probes_measured){.made = INFINITY};
    flr_probe_model *model = NULL;
    for (unsigned i = 0; i < repeat; i++) {
        flr_probe_model_destroy(model);
        clock_t begin = clock(); /* processor time: one thread does it all */
        flr_result result = flr_probe_model_create(&def, &model, error);
        if (result != FLR_OK) return result;
        m->made = fmin(m->made, fmax((double)(clock() - begin), 1) / CLOCKS_PER_SEC);
    }
    m->info = flr_probe_model_info(model);
    flr_result result = replay(env, model, strokes, count, repeat, warm, m, error);
    flr_probe_model_destroy(model);
    return result;
}

/* The strokes over a mesh; `*count` gets how many. The caller frees. */
static flr_result make_strokes(const flr_mesh *mesh, size_t *count, flr_segment **strokes,
                               flr_error *error)
{
    flr_probe_def def = flr_default_probe_def();
    flr_probe_model *model;
    def.mesh = mesh;
    flr_result result = flr_probe_model_create(&def, &model, error);
    if (result != FLR_OK) return result;
    flr_segment *made = malloc(*count * sizeof *made);
    if (made) {
        *count = flr_stroke_make(model, made, *count);
        *strokes = made;
    } else {
        result = flr_fail(error, FLR_NO_MEMORY, "out of memory");
    }
    flr_probe_model_destroy(model);
    return result;
}

/* ---- the paper's tables ---- */

static double average(const bench_probes_kind *k)
{
    return k->count ? k->sum / (double)k->count * 1e-3 : NAN;
}

static void print_table(const char *name, int number, const flr_mesh *mesh,
                        const bench_probes_measured m[METHODS], bool bounds, FILE *out)
{
    fprintf(out, "\nTable %d. Microseconds for %s, %u triangles\n%-18s %11s %11s %11s\n",
            number + 1, name, mesh->triangle_count, "method", method_names[0], method_names[1],
            method_names[2]);
    for (int o = 0; o < OUTCOMES; o++) {
        fprintf(out, "Ave. %-13s %11.4f %11.4f %11.4f\n", outcome_names[o], average(&m[0].kinds[o]),
                average(&m[1].kinds[o]), average(&m[2].kinds[o]));
        fprintf(out, "Worst %-12s %11.4f %11.4f %11.4f\n", outcome_names[o],
                m[0].kinds[o].worst * 1e-3, m[1].kinds[o].worst * 1e-3, m[2].kinds[o].worst * 1e-3);
    }
    fprintf(out, "%-18s %11.4f %11.4f %11.4f   (1999, 400 MHz: %.0f, %.0f, %.0f)\n", "Ave. query",
            m[0].mean * 1e-3, m[1].mean * 1e-3, m[2].mean * 1e-3, paper[number][0],
            paper[number][1], paper[number][2]);
    fprintf(out, "%-18s %11.4f %11.4f %11.4f", "p99.9", m[0].p999 * 1e-3, m[1].p999 * 1e-3,
            m[2].p999 * 1e-3);
    if (bounds && number == MODELS - 1)
        fprintf(out, "   bound: %.0f us, hash grid: %s", most_p999,
                m[0].p999 * 1e-3 <= most_p999 ? "held" : "MISSED");
    fprintf(out, "\n%-18s %11.4g %11.4g %11.4g", "made, Mtriangle/s",
            mesh->triangle_count / m[0].made * 1e-6, mesh->triangle_count / m[1].made * 1e-6,
            mesh->triangle_count / m[2].made * 1e-6);
    if (bounds && number == MODELS - 1)
        fprintf(out, "   bound: %.0f, hash grid: %s", least_made * 1e-6,
                mesh->triangle_count / m[0].made >= least_made ? "held" : "MISSED");
    fprintf(out, "\n%-18s %11.3g %11.3g %11.3g\n", "bytes / triangle",
            (double)m[0].info.bytes / mesh->triangle_count,
            (double)m[1].info.bytes / mesh->triangle_count,
            (double)m[2].info.bytes / mesh->triangle_count);
}

static void print_json_row(const char *name, const flr_mesh *mesh, int method,
                           const bench_probes_measured *m, bool first, FILE *out)
{
    fprintf(out,
            "%s\n  {\"model\": \"%s\", \"triangles\": %u, \"method\": \"%s\", \"simd\": \"%s\"",
            first ? "" : ",", name, mesh->triangle_count, method_names[method], m->info.simd);
    for (int o = 0; o < OUTCOMES; o++) {
        const bench_probes_kind *k = &m->kinds[o];
        fprintf(out, ", \"%s\": {\"count\": %zu, \"mean_us\": %.4f, \"worst_us\": %.4f}",
                outcome_keys[o], k->count, k->count ? average(k) : 0.0, k->worst * 1e-3);
    }
    fprintf(out,
            ", \"mean_us\": %.4f, \"p999_us\": %.4f, \"worst_us\": %.4f, \"made_s\": %.6f, "
            "\"bytes\": %zu}",
            m->mean * 1e-3, m->p999 * 1e-3, m->worst * 1e-3, m->made, m->info.bytes);
}

static flr_result bench_models(flr_env *env, const flr_bench_options *options,
                               double us[METHODS][MODELS], FILE *out, flr_error *error)
{
    static const char *const names[MODELS] = {"man symbol", "man with hat", "nano surface",
                                              "off-road car", "butterfly"};
    flr_model model = {0};
    flr_result result = flr_scenario_build(flr_scenario_find("probes"), NULL, &model, error);
    bool first = true;
    for (size_t i = 0; i < MODELS && result == FLR_OK; i++) {
        const flr_mesh *mesh = model.meshes[i].mesh;
        size_t count = STROKES / options->divide;
        flr_segment *strokes = NULL;
        bench_probes_measured m[METHODS];
        result = make_strokes(mesh, &count, &strokes, error);
        for (int k = 0; k < METHODS && result == FLR_OK; k++) {
            result = measure(env, mesh, methods[k], strokes, count, options->repeat, false, &m[k],
                             error);
            if (result != FLR_OK) break;
            us[k][i] = m[k].mean * 1e-3;
            if (options->json) print_json_row(names[i], mesh, k, &m[k], first, out);
            first = false;
        }
        if (result == FLR_OK && !options->json)
            print_table(names[i], (int)i, mesh, m, options->divide == 1, out);
        fflush(out);
        free(strokes);
    }
    flr_model_free(&model);
    return result;
}

/* ---- growth ---- */

/* A ball with hills, of about so many triangles: the same shape at every size. */
static flr_result make_ball(double triangles, flr_mesh **mesh, flr_error *error)
{
    uint32_t rings = (uint32_t)sqrt(triangles / 4), around = 2 * rings;
    uint32_t vertex_count = (rings + 1) * around, triangle_count = 2 * rings * around;
    flr_vec3 *vertices = malloc(vertex_count * sizeof *vertices);
    flr_triangle *list = malloc(triangle_count * sizeof *list);
    if (!vertices || !list) {
        free(vertices), free(list);
        return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; i <= rings; i++)
        for (uint32_t k = 0; k < around; k++) {
            double a = FLR_PI * i / rings, b = FLR_TWO_PI * k / around;
            double r = 0.05 * (1 + 0.1 * sin(5 * b) * sin(a) * sin(a) + 0.07 * cos(7 * a));
            vertices[i * around + k] =
                flr_vec3_make(r * sin(a) * cos(b), r * sin(a) * sin(b), r * cos(a));
        }
    for (uint32_t i = 0, n = 0; i < rings; i++)
        for (uint32_t k = 0; k < around; k++) {
            uint32_t next = (k + 1) % around, p = i * around, q = p + around;
            list[n++] = (flr_triangle){{p + k, q + k, q + next}};
            list[n++] = (flr_triangle){{p + k, q + next, p + next}};
        }
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = vertices, def.vertex_count = vertex_count;
    def.triangles = list, def.triangle_count = triangle_count;
    flr_result result = flr_mesh_create(&def, mesh, error);
    free(vertices), free(list);
    return result;
}

/* the hash grid again: what it reads in the caches; with segments that shrink as the edges do */
typedef enum extra { WARM, SHRUNK } extra;
enum { EXTRAS = 2 };
static const char *const extra_names[EXTRAS] = {"grid, warm", "grid, shrunk"};
static const char *const extra_keys[EXTRAS] = {"warm", "shrunk"};

typedef struct growth {
    double triangles[BENCH_PROBES_GROWN], us[METHODS][BENCH_PROBES_GROWN],
        made[METHODS][BENCH_PROBES_GROWN], extra[EXTRAS][BENCH_PROBES_GROWN];
} growth;

/* Segments whose length keeps its relation to that of edges: as they are where there are `first` triangles. */
static void shrink(flr_segment *strokes, size_t count, double first, double triangles)
{
    for (size_t i = 0; i < count; i++)
        strokes[i].to = flr_vec3_lerp(strokes[i].from, strokes[i].to, sqrt(first / triangles));
}

static flr_result bench_growth(flr_env *env, const flr_bench_options *options, growth *g,
                               flr_error *error)
{
    static const double sizes[BENCH_PROBES_GROWN] = {5e3, 16e3, 50e3, 160e3, 500e3, 1.6e6, 5e6};
    for (int i = 0; i < BENCH_PROBES_GROWN; i++) {
        flr_mesh *mesh;
        size_t count = STROKES / options->divide;
        flr_segment *strokes = NULL;
        flr_result result = make_ball(sizes[i] / options->divide, &mesh, error);
        if (result != FLR_OK) return result;
        g->triangles[i] = mesh->triangle_count;
        result = make_strokes(mesh, &count, &strokes, error);
        for (int k = 0; k < METHODS && result == FLR_OK; k++) {
            bench_probes_measured m;
            result =
                measure(env, mesh, methods[k], strokes, count, options->repeat, false, &m, error);
            g->us[k][i] = m.mean * 1e-3;
            g->made[k][i] = mesh->triangle_count / m.made;
        }
        for (int k = 0; k < EXTRAS && result == FLR_OK; k++) {
            bench_probes_measured m;
            if (k == SHRUNK) shrink(strokes, count, g->triangles[0], g->triangles[i]);
            result = measure(env, mesh, methods[0], strokes, count, options->repeat, k == WARM, &m,
                             error);
            g->extra[k][i] = m.mean * 1e-3;
        }
        free(strokes);
        flr_mesh_destroy(mesh);
        if (result != FLR_OK) return result;
    }
    return FLR_OK;
}

static void print_growth(const growth *g, bool json, bool bounds, FILE *out)
{
    if (json) {
        fputs("],\n \"growth\": {", out);
        for (int k = 0; k < METHODS; k++) {
            fprintf(out, "%s\"%s\": {\"exponent\": %.3f, \"rows\": [", k ? ",\n  " : "",
                    method_names[k],
                    flr_bench_exponent(g->triangles, g->us[k], BENCH_PROBES_GROWN));
            for (int i = 0; i < BENCH_PROBES_GROWN; i++)
                fprintf(out, "%s[%.0f, %.4f, %.0f]", i ? ", " : "", g->triangles[i], g->us[k][i],
                        g->made[k][i]);
            fputs("]}", out);
        }
        for (int k = 0; k < EXTRAS; k++) {
            fprintf(out, ",\n  \"%s\": {\"exponent\": %.3f, \"rows\": [", extra_keys[k],
                    flr_bench_exponent(g->triangles, g->extra[k], BENCH_PROBES_GROWN));
            for (int i = 0; i < BENCH_PROBES_GROWN; i++)
                fprintf(out, "%s[%.0f, %.4f]", i ? ", " : "", g->triangles[i], g->extra[k][i]);
            fputs("]}", out);
        }
        fputs("}", out);
        return;
    }
    fprintf(
        out,
        "\nA ball with hills: microseconds a query, and million triangles made ready in a second\n"
        "%10s",
        "triangles");
    for (int k = 0; k < METHODS; k++) fprintf(out, " %10s %7s", method_names[k], "made");
    for (int k = 0; k < EXTRAS; k++) fprintf(out, " %12s", extra_names[k]);
    fputc('\n', out);
    for (int i = 0; i < BENCH_PROBES_GROWN; i++) {
        fprintf(out, "%10.0f", g->triangles[i]);
        for (int k = 0; k < METHODS; k++)
            fprintf(out, " %10.4f %7.2f", g->us[k][i], g->made[k][i] * 1e-6);
        for (int k = 0; k < EXTRAS; k++) fprintf(out, " %12.4f", g->extra[k][i]);
        fputc('\n', out);
    }
    fputs("grows as triangles^", out);
    for (int k = 0; k < METHODS; k++)
        fprintf(out, "%s%.2f (%s)", k ? ", ^" : "",
                flr_bench_exponent(g->triangles, g->us[k], BENCH_PROBES_GROWN), method_names[k]);
    for (int k = 0; k < EXTRAS; k++)
        fprintf(out, ", ^%.2f (%s)",
                flr_bench_exponent(g->triangles, g->extra[k], BENCH_PROBES_GROWN), extra_names[k]);
    double exponent = flr_bench_exponent(g->triangles, g->us[0], BENCH_PROBES_GROWN);
    if (bounds)
        fprintf(out, "; bound: ^%.2f, hash grid: %s", most_exponent,
                exponent <= most_exponent ? "held" : "MISSED");
    fputc('\n', out);
}

static flr_result plot_growth(flr_env *env, const char *folder, const growth *g, flr_error *error)
{
    flr_plot_series series[METHODS + EXTRAS];
    char names[METHODS + EXTRAS][48];
    static const char *const short_names[METHODS] = {"grid", "hybrid", "tree"};
    for (int k = 0; k < METHODS + EXTRAS; k++) {
        const double *us = k < METHODS ? g->us[k] : g->extra[k - METHODS];
        snprintf(names[k], sizeof names[k], "%s: ^%.2f",
                 k < METHODS ? short_names[k] : extra_names[k - METHODS],
                 flr_bench_exponent(g->triangles, us, BENCH_PROBES_GROWN));
        series[k] = (flr_plot_series){.name = names[k],
                                      .x = g->triangles,
                                      .y = us,
                                      .count = BENCH_PROBES_GROWN,
                                      .dots = true,
                                      .dashed = k >= METHODS};
    }
    flr_plot_def def = flr_default_plot_def();
    def.title = "Cost of a probe's query against the number of triangles";
    def.x_label = "triangles";
    def.y_label = "mean time of a query [us]";
    def.log_x = def.log_y = true;
    def.series = series;
    def.series_count = METHODS + EXTRAS;
    return flr_bench_plot(env, folder, "probes-growth.svg", &def, error);
}

static flr_result plot_models(flr_env *env, const char *folder, double us[METHODS][MODELS],
                              flr_error *error)
{
    static const char *const categories[MODELS] = {"5k", "7k", "12k", "18k", "79k"};
    flr_plot_series series[METHODS];
    for (int k = 0; k < METHODS; k++)
        series[k] = (flr_plot_series){.name = method_names[k], .y = us[k], .count = MODELS};
    flr_plot_def def = flr_default_plot_def();
    def.kind = FLR_PLOT_BARS;
    def.title = "Mean time of a collision query, by model and method";
    def.y_label = "time [us]";
    def.series = series;
    def.series_count = METHODS;
    def.categories = categories;
    def.category_count = MODELS;
    return flr_bench_plot(env, folder, "probes-models.svg", &def, error);
}

/* ---- a picture of the proxy ---- */

enum { BENCH_PROBES_FRAMES = 600 };

/* A step and a ridge, drawn out along y; the outline is given in x and z, millimetres. */
static const double outline[][2] = {{0, 0},  {12, 0},  {12, -6}, {24, -6},
                                    {30, 3}, {36, -6}, {48, -6}};
enum { OUTLINE = sizeof outline / sizeof *outline };

static flr_result make_step(flr_mesh **mesh, flr_error *error)
{
    flr_vec3 vertices[2 * OUTLINE];
    flr_triangle triangles[2 * OUTLINE];
    uint32_t count = 0;
    for (uint32_t i = 0; i < OUTLINE; i++)
        for (uint32_t side = 0; side < 2; side++)
            vertices[2 * i + side] =
                flr_vec3_make(outline[i][0] * 1e-3, side ? 0.1 : -0.1, outline[i][1] * 1e-3);
    for (uint32_t i = 0; i + 1 < OUTLINE; i++) {
        triangles[count++] = (flr_triangle){{2 * i, 2 * i + 2, 2 * i + 1}};
        triangles[count++] = (flr_triangle){{2 * i + 1, 2 * i + 2, 2 * i + 3}};
    }
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = vertices, def.vertex_count = 2 * OUTLINE;
    def.triangles = triangles, def.triangle_count = count;
    return flr_mesh_create(&def, mesh, error);
}

/* A hand goes straight along, partly below the surface; where its proxy goes. */
static void follow(const flr_probe_model *model, double friction, double x[BENCH_PROBES_FRAMES],
                   double z[BENCH_PROBES_FRAMES], double hand_x[BENCH_PROBES_FRAMES],
                   double hand_z[BENCH_PROBES_FRAMES])
{
    flr_proxy proxy = flr_proxy_none();
    flr_proxy_params params = flr_default_proxy_params();
    params.static_friction = params.dynamic_friction = friction;
    for (int i = 0; i < BENCH_PROBES_FRAMES; i++) {
        double t = (double)i / (BENCH_PROBES_FRAMES - 1);
        hand_x[i] = 2 + 44 * t;
        hand_z[i] = t < 0.1 ? 4 - 60 * t : -2 - 7 * (t - 0.1);
        flr_proxy_result r;
        flr_proxy_step(&proxy, model, flr_vec3_make(hand_x[i] * 1e-3, 1e-4, hand_z[i] * 1e-3),
                       &params, &r);
        x[i] = r.position.x * 1e3, z[i] = r.position.z * 1e3;
    }
}

static flr_result plot_proxy(flr_env *env, const char *folder, flr_error *error)
{
    static double x[2][BENCH_PROBES_FRAMES], z[2][BENCH_PROBES_FRAMES], hand_x[BENCH_PROBES_FRAMES],
        hand_z[BENCH_PROBES_FRAMES];
    double surface_x[OUTLINE], surface_z[OUTLINE];
    flr_mesh *mesh;
    flr_result result = make_step(&mesh, error);
    if (result != FLR_OK) return result;
    flr_probe_def probe = flr_default_probe_def();
    flr_probe_model *model;
    probe.mesh = mesh;
    result = flr_probe_model_create(&probe, &model, error);
    if (result == FLR_OK) {
        follow(model, 0, x[0], z[0], hand_x, hand_z);
        follow(model, 0.5, x[1], z[1], hand_x, hand_z);
        flr_probe_model_destroy(model);
    }
    flr_mesh_destroy(mesh);
    if (result != FLR_OK) return result;
    for (int i = 0; i < OUTLINE; i++) surface_x[i] = outline[i][0], surface_z[i] = outline[i][1];
    flr_plot_series series[] = {
        {.name = "surface", .x = surface_x, .y = surface_z, .count = OUTLINE},
        {.name = "hand", .x = hand_x, .y = hand_z, .count = BENCH_PROBES_FRAMES, .dashed = true},
        {.name = "proxy", .x = x[0], .y = z[0], .count = BENCH_PROBES_FRAMES},
        {.name = "proxy with friction 0.5", .x = x[1], .y = z[1], .count = BENCH_PROBES_FRAMES},
    };
    flr_plot_def def = flr_default_plot_def();
    def.title = "A hand goes through a step and a ridge; its proxy does not";
    def.x_label = "x [mm]";
    def.y_label = "z [mm]";
    def.from_zero = false;
    def.series = series;
    def.series_count = sizeof series / sizeof *series;
    return flr_bench_plot(env, folder, "probes-proxy.svg", &def, error);
}

flr_result flr_bench_probes(flr_env *env, const flr_bench_options *options, FILE *out,
                            flr_error *error)
{
    flr_bench_conditions conditions = flr_bench_look(env);
    double us[METHODS][MODELS];
    growth g;
    if (options->json) fputs("{", out);
    flr_bench_print_conditions(&conditions, options->json, out);
    if (options->json) fputs(",\n \"models\": [", out);
    flr_result result = bench_models(env, options, us, out, error);
    if (result == FLR_OK) result = bench_growth(env, options, &g, error);
    if (result == FLR_OK) print_growth(&g, options->json, options->divide == 1, out);
    if (result == FLR_OK && options->json) fputs("\n}\n", out);
    if (result == FLR_OK && options->plots) result = plot_models(env, options->plots, us, error);
    if (result == FLR_OK && options->plots) result = plot_proxy(env, options->plots, error);
    if (result == FLR_OK && options->plots) result = plot_growth(env, options->plots, &g, error);
    return result;
}
