/* cost KERNEL scalar|simd ROUNDS: runs a kernel so often, for counting its instructions (scripts/cross count). The data is the same
 * for every instruction set, and the answers are compared with those of the scalar loop. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/batch_surface.h"
#include "contact/kernel.h"
#include "feeler/batch.h"
#include "fit/fit_kernel.h"
#include "probe/probe_kernel.h"

enum { TRIANGLES_ROUND = 12 };

static uint64_t seed = 12345;

static uint32_t any_number(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33);
}

static float any_float(float low, float high)
{
    return low + (high - low) * (float)(any_number() & 0xffff) / 65536;
}

static void require(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "cost: %s\n", what);
    exit(1);
}

/* ---- points in a table of 2 x 2 x 2 chunks, of which half are stored ---- */

typedef struct points {
    uint16_t x[FLR_SCAN_POINTS], y[FLR_SCAN_POINTS], z[FLR_SCAN_POINTS];
    uint32_t normal[FLR_SCAN_POINTS];
    uint32_t local[16];
    uint32_t planes[4 * 64];
    flr_scan_job job;
} points;

static void make_points(points *p, bool displaced)
{
    for (int i = 0; i < FLR_SCAN_POINTS; i++) {
        p->x[i] = (uint16_t)(any_number() % 1000), p->y[i] = (uint16_t)(any_number() % 1000);
        p->z[i] = (uint16_t)(any_number() % 1000);
        p->normal[i] = any_number() ^ any_number() << 16;
    }
    for (int i = 0; i < 8; i++) p->local[i] = i % 2 ? (uint32_t)i / 2 : FLR_UNIFORM;
    /* one mark of 64 is in the force layer */
    for (int i = 0; i < 4 * 64; i++) {
        uint32_t word = 0;
        for (int k = 0; k < 8; k++) word |= (any_number() % 64 ? 6 + any_number() % 5 : 3) << 4 * k;
        p->planes[i] = word;
    }
    p->job = (flr_scan_job){
        .x = p->x,
        .y = p->y,
        .z = p->z,
        .normal = p->normal,
        .to = FLR_SCAN_POINTS,
        .displaced = displaced,
        .judged = true,
        .matrix = {{0.0060f, 0.0020f, -0.0010f, 4},
                   {-0.0020f, 0.0060f, 0.0010f, 4},
                   {0.0015f, -0.0005f, 0.0060f, 4}},
        .turn = {{0.93f, 0.32f, -0.16f}, {-0.32f, 0.94f, 0.11f}, {0.19f, -0.05f, 0.98f}},
        .displacement = 0.5f,
        .local = p->local,
        .order = 1,
        .planes = p->planes,
        .shift = 2,
        .slack = 1e-5f,
        .force_mark = 4,
        .layer_one = 3};
}

static void scan_points(bool displaced, bool simd, long rounds)
{
    static points p;
    static flr_scan_hits hits, plain;
    const flr_kernel *kernel = &flr_kernel_scalar;
    if (simd && flr_simd_has(FLR_SIMD_NEON)) kernel = &flr_kernel_neon;
    if (simd && flr_simd_has(FLR_SIMD_AVX2)) kernel = &flr_kernel_avx2;
    make_points(&p, displaced);
    flr_kernel_scalar.scan(&p.job, &plain);
    for (long i = 0; i < rounds; i++) kernel->scan(&p.job, &hits);
    if (!rounds) return;
    require(!memcmp(hits.touch, plain.touch, sizeof hits.touch) && hits.least == plain.least &&
                hits.near_count == plain.near_count && hits.deep_count == plain.deep_count,
            "other points touch");
}

/* ---- segments against triangles and boxes ---- */

static void segments(bool simd, long rounds)
{
    static flr_probe_block blocks[8];
    uint32_t list[FLR_PROBE_CAPACITY];
    for (size_t k = 0; k < sizeof blocks; k++) ((uint8_t *)blocks)[k] = (uint8_t)any_number();
    for (int b = 0; b < 8; b++)
        for (int lane = 0; lane < FLR_PROBE_LANES; lane++)
            for (int axis = 0; axis < 3; axis++) {
                blocks[b].box[axis][lane] /= 2, blocks[b].box[3 + axis][lane] /= 2;
                blocks[b].normal[axis][lane] /= 2, blocks[b].side[axis][lane] /= 2;
            }
    const flr_gather_kernel gather = simd && flr_simd_has(FLR_SIMD_NEON)   ? flr_gather_neon
                                     : simd && flr_simd_has(FLR_SIMD_AVX2) ? flr_gather_avx2
                                                                           : flr_gather_scalar;
    for (long i = 0; i < rounds; i++)
        for (int k = 0; k < 4; k++) {
            const int32_t at = 300 * k - 400;
            const flr_probe_local local = {{at, 100, -at, 0}, {at + 150, -50, 80 - at, 0}};
            gather(blocks, 8, &local, list);
        }
}

static void boxes(bool simd, long rounds)
{
    static flr_probe_node node;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < FLR_PROBE_LANES; i++) {
            node.centre[k][i] = any_float(-1, 1), node.half[k][i] = any_float(0, 0.3f);
            for (int m = 0; m < 3; m++) node.axis[k][m][i] = any_float(-0.7f, 0.7f);
        }
    const flr_node_kernel meet = simd && flr_simd_has(FLR_SIMD_NEON)   ? flr_node_neon
                                 : simd && flr_simd_has(FLR_SIMD_AVX2) ? flr_node_avx2
                                                                       : flr_node_scalar;
    for (long i = 0; i < rounds; i++)
        for (int k = 0; k < 8; k++) {
            const float at = 0.2f * (float)k - 0.8f;
            const flr_probe_span span = {{at, -at, 0.1f}, {0.1f, 0.2f, at}, 1e-6f};
            meet(&node, &span);
        }
}

/* ---- signed distances of points ---- */

static void distances(bool simd, long rounds)
{
    enum { COUNT = 64 };
    static flr_vec3 vertices[TRIANGLES_ROUND * TRIANGLES_ROUND];
    static flr_triangle triangles[2 * TRIANGLES_ROUND * TRIANGLES_ROUND];
    const uint32_t n = TRIANGLES_ROUND;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++) {
            const double a = 6.283185307179586 * i / n, b = 6.283185307179586 * k / n;
            const double r = 0.35 + (0.15 + 0.02 * sin(7 * a) * cos(5 * b)) * cos(b);
            vertices[i * n + k] = flr_vec3_make(r * cos(a), r * sin(a), 0.15 * sin(b));
            const uint32_t p = i * n + k, q = (i + 1) % n * n + k,
                           s = (i + 1) % n * n + (k + 1) % n, t = i * n + (k + 1) % n;
            triangles[2 * p] = (flr_triangle){{p, q, s}};
            triangles[2 * p + 1] = (flr_triangle){{p, s, t}};
        }
    flr_mesh *mesh;
    flr_fit *fit;
    flr_batch_surface *surface;
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = vertices, def.vertex_count = n * n;
    def.triangles = triangles, def.triangle_count = 2 * n * n;
    require(flr_mesh_create(&def, &mesh, NULL) == FLR_OK &&
                flr_fit_build(mesh, NULL, &fit, NULL) == FLR_OK &&
                flr_batch_surface_build(mesh, fit, &surface, NULL) == FLR_OK,
            "no surface");
    static flr_vec3 at[COUNT];
    static double d[COUNT], plain[COUNT];
    for (int i = 0; i < COUNT; i++)
        at[i] = flr_vec3_make((double)any_float(0.2f, 0.5f), (double)any_float(-0.2f, 0.2f),
                              (double)any_float(-0.2f, 0.2f));
    flr_batch_options options = flr_default_batch_options();
    options.threads = 1, options.simd = FLR_SIMD_SCALAR;
    require(flr_batch_points(surface, at, COUNT, &options, plain, NULL, NULL, NULL) == FLR_OK, "");
    options.simd = simd ? FLR_SIMD_BEST : FLR_SIMD_SCALAR;
    for (long i = 0; i < rounds; i++)
        flr_batch_points(surface, at, COUNT, &options, d, NULL, NULL, NULL);
    require(!rounds || !memcmp(d, plain, sizeof d), "other distances");
    flr_batch_surface_destroy(surface);
    flr_fit_destroy(fit);
    flr_mesh_destroy(mesh);
}

/* ---- points against the faces of a patch ---- */

static void faces(bool simd, long rounds)
{
    static flr_fit_lanes points;
    static flr_fit_plane planes[FLR_FIT_LANES];
    static flr_fit_face face[FLR_FIT_LANES];
    static flr_fit_masks masks;
    static float d2[FLR_FIT_LANES][FLR_FIT_LANES];
    float limit2[FLR_FIT_LANES], best[FLR_FIT_LANES];
    int32_t at[FLR_FIT_LANES];
    const float shift[3] = {0.001f, 0, -0.001f};
    for (int i = 0; i < FLR_FIT_LANES; i++) {
        points.x[i] = any_float(-1, 1), points.y[i] = any_float(-1, 1);
        points.z[i] = any_float(-1, 1), limit2[i] = 0.5f;
        for (int k = 0; k < 3; k++) {
            planes[i].n[k] = any_float(-0.6f, 0.6f), face[i].height[k] = any_float(0.1f, 1);
            face[i].u[k] = any_float(-1, 1), face[i].v[k] = any_float(-1, 1);
        }
        planes[i].o = any_float(-0.1f, 0.1f);
        face[i].u0 = any_float(-1, 1), face[i].v0 = any_float(-1, 1);
    }
    const flr_fit_kernel *kernel = flr_fit_choose_kernel(simd ? FLR_SIMD_BEST : FLR_SIMD_SCALAR);
    for (long i = 0; i < rounds; i++) {
        kernel->near(planes, face, FLR_FIT_LANES, &points, limit2, d2, best, at);
        kernel->sides(planes, face, FLR_FIT_LANES, &points, shift, 0.3f, &masks);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    const bool simd = !strcmp(argv[2], "simd");
    const long rounds = atol(argv[3]);
    if (!strcmp(argv[1], "points"))
        scan_points(false, simd, rounds);
    else if (!strcmp(argv[1], "displaced"))
        scan_points(true, simd, rounds);
    else if (!strcmp(argv[1], "triangles"))
        segments(simd, rounds);
    else if (!strcmp(argv[1], "boxes"))
        boxes(simd, rounds);
    else if (!strcmp(argv[1], "faces"))
        faces(simd, rounds);
    else if (!strcmp(argv[1], "distances"))
        distances(simd, rounds);
    else
        return 2;
    return 0;
}
