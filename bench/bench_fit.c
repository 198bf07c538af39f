/* fit-distance: what exact contact geometry costs and how exact it is, next to flr_gauge
 *
 * Without a scene: a shaft in a bore and a ball in its socket, made here. With one: a folder with an assembly.txt, whose
 * first two lines name the static and the moving part and their poses (id file, then 3 x 4 numbers); lengths are those of
 * the files. Poses lie at random around the assembled one. Each is asked several times and its best time counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "feeler/distance.h"
#include "feeler/fit.h"
#include "feeler/mesh.h"

enum { POSES = 100, CONTACTS = 1 << 16, BENCH_FIT_AROUND = 96 };
static const double WIDE = 3e-4, TURN = 3e-4, REACH = 5e-4; /* of the part's size; radians */

typedef struct setup {
    flr_mesh *meshes[2];
    flr_fit *fits[2];
    flr_gauge_part *gauges[2];
    flr_fit_pair *pair;
    flr_fit_contact *contacts;
    flr_pose T_a_b;
    double seconds; /* to build the fits on two threads */
} setup;

typedef struct figures {
    double us[3][POSES]; /* everything, contacts only, gauge */
    double worst;        /* metres: difference to gauge */
    unsigned wrong;      /* poses where the stated bounds do not hold */
    unsigned interfering;
    double contacts;
} figures;

static void free_setup(setup *s)
{
    flr_fit_pair_destroy(s->pair);
    for (int i = 0; i < 2; i++) {
        flr_gauge_part_destroy(s->gauges[i]);
        flr_fit_destroy(s->fits[i]);
        flr_mesh_destroy(s->meshes[i]);
    }
    free(s->contacts);
}

/* ---- parts ---- */

/* A cylinder along z, closed by fans; or, with an outer radius, a tube around it. */
static flr_result make_cylinder(double radius, double outer, double height, flr_mesh **mesh,
                                flr_error *error)
{
    enum {
        BENCH_FIT_ROWS = 24,
        WALL = BENCH_FIT_AROUND * (BENCH_FIT_ROWS + 1),
        TOP = BENCH_FIT_ROWS * BENCH_FIT_AROUND
    };
    flr_vec3 v[WALL + 2 * BENCH_FIT_AROUND];
    flr_triangle t[2 * BENCH_FIT_AROUND * BENCH_FIT_ROWS + 6 * BENCH_FIT_AROUND];
    uint32_t n = 0;
    for (uint32_t i = 0; i < BENCH_FIT_AROUND; i++) {
        const double x = cos(2 * acos(-1) * i / BENCH_FIT_AROUND),
                     y = sin(2 * acos(-1) * i / BENCH_FIT_AROUND);
        for (uint32_t r = 0; r <= BENCH_FIT_ROWS; r++)
            v[r * BENCH_FIT_AROUND + i] =
                flr_vec3_make(radius * x, radius * y, height * ((double)r / BENCH_FIT_ROWS - 0.5));
        /* outer rings; of a cylinder, the middles of its ends */
        v[WALL + i] = flr_vec3_make(outer * x, outer * y, -height / 2);
        v[WALL + BENCH_FIT_AROUND + i] = flr_vec3_make(outer * x, outer * y, height / 2);
    }
    for (uint32_t i = 0; i < BENCH_FIT_AROUND; i++) {
        const uint32_t k = (i + 1) % BENCH_FIT_AROUND, low = WALL, high = WALL + BENCH_FIT_AROUND;
        for (uint32_t r = 0; r < TOP; r += BENCH_FIT_AROUND) {
            t[n++] = (flr_triangle){{r + i, r + k, r + BENCH_FIT_AROUND + k}};
            t[n++] = (flr_triangle){{r + i, r + BENCH_FIT_AROUND + k, r + BENCH_FIT_AROUND + i}};
        }
        t[n++] = (flr_triangle){{low + k, k, i}};
        t[n++] = (flr_triangle){{high + k, TOP + i, TOP + k}};
        if (!(outer > 0)) continue;
        t[n++] = (flr_triangle){{low + k, i, low + i}};
        t[n++] = (flr_triangle){{high + k, high + i, TOP + i}};
        t[n++] = (flr_triangle){{low + k, low + i, high + i}};
        t[n++] = (flr_triangle){{low + k, high + i, high + k}};
    }
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = v, def.vertex_count = WALL + 2 * BENCH_FIT_AROUND;
    def.triangles = t, def.triangle_count = n;
    return flr_mesh_create(&def, mesh, error);
}

/* One line of an assembly.txt. */
static flr_result read_part(flr_env *env, const char *folder, const char *line, flr_mesh **mesh,
                            flr_pose *pose, flr_error *error)
{
    char file[200], path[4096];
    double m[12];
    if (sscanf(line, "%*s %199s %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", file, &m[0],
               &m[1], &m[2], &m[3], &m[4], &m[5], &m[6], &m[7], &m[8], &m[9], &m[10], &m[11]) != 13)
        return flr_fail(error, FLR_BAD_INPUT, "%s/assembly.txt: a line is not id, file, 12 numbers",
                        folder);
    const flr_mat3 turn = {{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}};
    *pose = flr_pose_make(flr_vec3_make(m[3], m[7], m[11]), flr_quat_from_mat3(turn));
    flr_mesh_options options = flr_default_mesh_options();
    options.unit = 1;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return flr_mesh_read(env, path, &options, mesh, NULL, error);
}

static flr_result read_assembly(flr_env *env, const char *folder, setup *s, flr_error *error)
{
    char path[4096];
    flr_blob blob;
    flr_pose poses[2];
    int count = 0;
    snprintf(path, sizeof path, "%s/assembly.txt", folder);
    flr_result result = flr_file_read_all(env, path, 1 << 20, &blob, error);
    if (result != FLR_OK) return result;
    char *rest = (char *)blob.bytes;
    for (char *line = strtok_r(rest, "\n", &rest); line && count < 2 && result == FLR_OK;
         line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] == '#') continue;
        result = read_part(env, folder, line, &s->meshes[count], &poses[count], error);
        count++;
    }
    flr_blob_free(&blob);
    if (result == FLR_OK && count < 2)
        return flr_fail(error, FLR_BAD_INPUT, "%s: needs two parts", path);
    if (result == FLR_OK) s->T_a_b = flr_pose_mul(flr_pose_inverse(poses[0]), poses[1]);
    return result;
}

static flr_result set_up(flr_env *env, setup *s, flr_error *error)
{
    flr_fit_def def = flr_default_fit_def();
    flr_result result = FLR_OK;
    def.threads = 2;
    const int64_t begin = flr_clock_ns(env);
    for (int i = 0; i < 2 && result == FLR_OK; i++)
        result = flr_fit_build(s->meshes[i], &def, &s->fits[i], error);
    s->seconds = 1e-9 * (double)(flr_clock_ns(env) - begin);
    for (int i = 0; i < 2 && result == FLR_OK; i++)
        result = flr_gauge_part_create(s->meshes[i], &s->gauges[i], error);
    if (result == FLR_OK) result = flr_fit_pair_create(s->fits[0], s->fits[1], &s->pair, error);
    s->contacts = malloc(CONTACTS * sizeof *s->contacts);
    if (result == FLR_OK && !s->contacts)
        result = flr_fail(error, FLR_NO_MEMORY, "out of memory for contacts");
    return result;
}

/* ---- measuring ---- */

static double random_in(uint64_t *seed, double wide)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return wide * (2 * (double)(*seed >> 11) / 9007199254740992.0 - 1);
}

static flr_pose pose_near(const setup *s, uint64_t *seed, double size)
{
    const flr_fit_info b = flr_fit_get_info(s->fits[1]);
    const flr_vec3 middle = flr_vec3_lerp(b.bounds.low, b.bounds.high, 0.5);
    flr_pose T = s->T_a_b;
    const flr_vec3 at = flr_pose_apply(T, middle);
    const flr_vec3 turn = flr_vec3_make(random_in(seed, TURN), random_in(seed, TURN),
                                        random_in(seed, TURN)),
                   move = flr_vec3_make(random_in(seed, WIDE * size), random_in(seed, WIDE * size),
                                        random_in(seed, WIDE * size));
    T.q = flr_quat_normalize(flr_quat_mul(flr_quat_from_rotation_vector(turn), T.q));
    T.p = flr_vec3_add(flr_vec3_sub(at, flr_quat_rotate(T.q, middle)), move);
    return T;
}

static void measure(const setup *s, unsigned repeat, size_t poses, figures *f)
{
    const double size = fmin(flr_fit_get_info(s->fits[0]).size, flr_fit_get_info(s->fits[1]).size);
    uint64_t seed = 1;
    for (size_t i = 0; i < poses; i++) {
        const flr_pose T = pose_near(s, &seed, size);
        flr_fit_params params[2] = {flr_default_fit_params(), flr_default_fit_params()};
        flr_fit_result r = {0}, near;
        flr_gauge_result g = {0};
        params[0].reach = params[1].reach = REACH * size;
        params[1].max_distance = -1;
        for (int k = 0; k < 3; k++) f->us[k][i] = INFINITY;
        for (unsigned n = 0; n < repeat; n++) {
            double at = flr_bench_processor_us();
            flr_fit_pair_query(s->pair, T, &params[0], s->contacts, CONTACTS, &r);
            f->us[0][i] = fmin(f->us[0][i], flr_bench_processor_us() - at);
            at = flr_bench_processor_us();
            flr_fit_pair_query(s->pair, T, &params[1], s->contacts, CONTACTS, &near);
            f->us[1][i] = fmin(f->us[1][i], flr_bench_processor_us() - at);
        }
        const double at = flr_bench_processor_us();
        flr_gauge_distance(s->gauges[0], s->gauges[1], flr_pose_identity(), T, NULL, NULL, &g);
        f->us[2][i] = flr_bench_processor_us() - at;
        f->contacts += r.contact_total / (double)poses;
        f->interfering += r.distance < 0 || r.meet;
        if (r.distance < 0) {
            f->wrong += !g.meet && r.meet;
            continue;
        }
        f->worst = fmax(f->worst, fabs(r.distance - g.upper));
        f->wrong += r.lower > g.upper || r.upper < g.upper || r.meet != g.meet;
    }
}

static void tell(const flr_bench_options *options, const char *name, const setup *s, size_t poses,
                 figures *f, bool first, FILE *out)
{
    const flr_fit_info a = flr_fit_get_info(s->fits[0]), b = flr_fit_get_info(s->fits[1]);
    const double triangles = (double)a.triangles + (double)b.triangles;
    double p[3][3];
    for (int k = 0; k < 3; k++) {
        p[k][0] = flr_bench_percentile(f->us[k], poses, 0.5);
        p[k][1] = flr_bench_percentile(f->us[k], poses, 0.99);
        p[k][2] = flr_bench_percentile(f->us[k], poses, 1);
    }
    const double bytes = (double)(a.bytes + b.bytes) / triangles, rate = triangles / s->seconds;
    if (options->json)
        fprintf(
            out,
            "%s\n  {\"name\": \"%s\", \"triangles\": [%u, %u], \"poses\": %zu, \"interfering\": "
            "%u, "
            "\"contacts\": %.1f, \"us\": {\"all\": [%.1f, %.1f, %.1f], \"contacts\": [%.1f, "
            "%.1f, %.1f], \"gauge\": [%.1f, %.1f, %.1f]}, \"worst_error\": %.3g, \"wrong\": %u, "
            "\"bytes_per_triangle\": %.1f, \"triangles_per_second\": %.0f}",
            first ? "" : ",", name, a.triangles, b.triangles, poses, f->interfering, f->contacts,
            p[0][0], p[0][1], p[0][2], p[1][0], p[1][1], p[1][2], p[2][0], p[2][1], p[2][2],
            f->worst, f->wrong, bytes, rate);
    else
        fprintf(out,
                "%-24s %7u %7u %6u %8.0f %8.0f %8.0f %8.0f %8.0f %8.0f %9.0f %9.0f %9.2g %6u %6.0f "
                "%7.2f\n",
                name, a.triangles, b.triangles, f->interfering, f->contacts, p[0][0], p[0][1],
                p[0][2], p[1][0], p[1][1], p[2][0], p[2][1], f->worst, f->wrong, bytes,
                1e-6 * rate);
    fflush(out);
}

static flr_result bench_pair(flr_env *env, const flr_bench_options *options, const char *name,
                             setup *s, bool first, FILE *out, flr_error *error)
{
    figures *f = calloc(1, sizeof *f);
    flr_result result = f ? set_up(env, s, error) : flr_fail(error, FLR_NO_MEMORY, "out of memory");
    if (result == FLR_OK) {
        const size_t poses = options->divide > 1 ? 20 : POSES;
        measure(s, options->repeat, poses, f);
        tell(options, name, s, poses, f, first, out);
    }
    free(f);
    return result;
}

flr_result flr_bench_fit(flr_env *env, const flr_bench_options *options, FILE *out,
                         flr_error *error)
{
    flr_bench_begin(env, options, "fit_distance", out);
    if (!options->json)
        fprintf(
            out,
            "best of %u for each pose, processor time, us; distance and contacts / contacts only / "
            "gauge\n%-24s %7s %7s %6s %8s %8s %8s %8s %8s %8s %9s %9s %9s %6s %6s %7s\n",
            options->repeat, "pair", "static", "moving", "meet", "contacts", "p50", "p99", "max",
            "p50", "p99", "gauge p50", "gauge p99", "error", "wrong", "B/tri", "Mtri/s");
    flr_result result = FLR_OK;
    if (options->scene) {
        setup s = {.T_a_b = flr_pose_identity()};
        const char *slash = strrchr(options->scene, '/');
        result = read_assembly(env, options->scene, &s, error);
        if (result == FLR_OK)
            result = bench_pair(env, options, slash && slash[1] ? slash + 1 : options->scene, &s,
                                true, out, error);
        free_setup(&s);
    } else {
        static const double gaps[] = {1e-4, 2e-5};
        static const char *const names[] = {"shaft, gap 0.1 mm", "shaft, gap 0.02 mm"};
        for (int i = 0; i < 2 && result == FLR_OK; i++) {
            setup s = {.T_a_b = flr_pose_identity()};
            result = make_cylinder(0.01, 0.015, 0.05, &s.meshes[0], error);
            if (result == FLR_OK)
                result = make_cylinder(0.01 - gaps[i], 0, 0.03, &s.meshes[1], error);
            if (result == FLR_OK)
                result = bench_pair(env, options, names[i], &s, i == 0, out, error);
            free_setup(&s);
        }
    }
    if (options->json && result == FLR_OK) fputs("]}\n", out);
    return result;
}
