/* signed distances of many points: sorting them, and deciding in double precision */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "batch/batch_surface.h"
#include "fit/fit_triangle.h"

enum {
    POINTS_IN_PIECE = 4096,
    MIN_CELL_BITS = 3,
    MAX_CELL_BITS = 7,
    FINE_BITS = 9,
    POINTS_AHEAD = 64
};

/* ---- one point ---- */

void flr_surface_slender(const flr_batch_surface *s, surface_pairs *e, uint32_t pair)
{
    const uint32_t *v = s->mesh->triangles[e->triangle[pair]].v;
    const flr_vec3 p = {e->p[0][pair], e->p[1][pair], e->p[2][pair]};
    const flr_vec3 c[3] = {s->mesh->vertices[v[0]], s->mesh->vertices[v[1]],
                           s->mesh->vertices[v[2]]};
    double least = INFINITY, d2;
    const flr_vec3 nearest = flr_fit_on_triangle(c, p, &d2);
    e->nearest[0][pair] = nearest.x, e->nearest[1][pair] = nearest.y;
    e->nearest[2][pair] = nearest.z;
    e->d2[pair] = flr_vec3_length2(flr_vec3_sub(p, nearest));
    /* a side or a corner */
    for (unsigned k = 0; k < 3; k++) {
        const flr_vec3 side = flr_vec3_sub(c[(k + 1) % 3], c[k]);
        const double length2 = flr_vec3_length2(side),
                     along = flr_vec3_dot(side, flr_vec3_sub(p, c[k])),
                     share = length2 > 0 ? fmin(fmax(along / length2, 0), 1) : 0,
                     away2 =
                         flr_vec3_length2(flr_vec3_sub(p, flr_vec3_add_scaled(c[k], share, side)));
        if (!(away2 < least)) continue;
        least = away2;
        e->part[pair] = share <= 0 ? k : share >= 1 ? (k + 1) % 3 : 3 + k;
    }
}

/* ---- order of points ---- */

/* A point and its cell's place on a curve through all cells. */
typedef struct coded_point {
    uint32_t code, point;
} coded_point;

typedef struct point_batch {
    const flr_batch_surface *surface;
    const flr_vec3 *points;
    size_t count;
    double *distances;
    flr_vec3 *nearest;   /* may be NULL */
    uint32_t *triangles; /* may be NULL */
    const flr_surface_kernel *kernel;
    flr_surface_grid grid;
    unsigned coarse;    /* bits of a code that points are sorted by first */
    uint32_t *starts;   /* [threads][2^coarse]: where the next point with these bits goes */
    coded_point *coded; /* [count]: sorted so */
    uint32_t *order;    /* [count]: codes of all points; in the end, the points sorted by them */
    unsigned threads;
    flr_surface_scratch **scratch; /* [threads] */
    flr_box3 *boxes;               /* [threads] */
} point_batch;

/* the points of one thread, of equal shares */
static size_t share(const point_batch *b, size_t thread) { return b->count * thread / b->threads; }

static flr_result bound_share(void *context, size_t thread, unsigned worker)
{
    const point_batch *b = context;
    (void)worker;
    flr_box3 box = flr_box3_empty();
    for (size_t i = share(b, thread); i < share(b, thread + 1); i++)
        if (flr_surface_usable(b->points[i])) box = flr_box3_add(box, b->points[i]);
    b->boxes[thread] = box;
    return FLR_OK;
}

static flr_result code_share(void *context, size_t thread, unsigned worker)
{
    const point_batch *b = context;
    (void)worker;
    uint32_t *counts = b->starts + (thread << b->coarse);
    const size_t end = share(b, thread + 1);
    for (size_t first = share(b, thread); first < end; first += FLR_SURFACE_LANES) {
        const size_t count = end - first < FLR_SURFACE_LANES ? end - first : FLR_SURFACE_LANES;
        b->kernel->codes(&b->grid, b->points + first, (uint32_t)count, b->order + first);
        for (size_t i = first; i < first + count; i++) counts[b->order[i] >> FINE_BITS]++;
    }
    return FLR_OK;
}

static flr_result place_share(void *context, size_t thread, unsigned worker)
{
    const point_batch *b = context;
    (void)worker;
    uint32_t *next = b->starts + (thread << b->coarse);
    for (size_t i = share(b, thread); i < share(b, thread + 1); i++) {
        const uint32_t code = b->order[i];
        b->coded[next[code >> FINE_BITS]++] = (coded_point){code, (uint32_t)i};
    }
    return FLR_OK;
}

/* Sorts points whose codes begin alike by the rest. */
static flr_result sort_run(void *context, size_t run, unsigned worker)
{
    const point_batch *b = context;
    (void)worker;
    /* the last thread's points end where the next run begins */
    const uint32_t *ends = b->starts + ((size_t)(b->threads - 1) << b->coarse);
    const uint32_t from = run ? ends[run - 1] : 0, end = ends[run], mask = (1u << FINE_BITS) - 1;
    uint32_t next[1u << FINE_BITS] = {0}, sum = from;
    for (uint32_t i = from; i < end; i++) next[b->coded[i].code & mask]++;
    for (uint32_t k = 0; k <= mask; k++) {
        const uint32_t found = next[k];
        next[k] = sum;
        sum += found;
    }
    for (uint32_t i = from; i < end; i++)
        b->order[next[b->coded[i].code & mask]++] = b->coded[i].point;
    return FLR_OK;
}

static void sort_points(point_batch *b)
{
    flr_parallel_for(b->threads, b->threads, bound_share, b);
    flr_box3 box = flr_box3_empty();
    for (unsigned t = 0; t < b->threads; t++)
        if (!flr_box3_is_empty(b->boxes[t]))
            box = flr_box3_add(flr_box3_add(box, b->boxes[t].low), b->boxes[t].high);
    const flr_vec3 size = flr_vec3_sub(box.high, box.low);
    /* cells are cubes, so that groups are round */
    const double most = fmax(size.x, fmax(size.y, size.z));
    b->grid.scale = most > 0 ? (double)(1u << b->grid.bits) / most : 0;
    b->grid.low = box.low;
    flr_parallel_for(b->threads, b->threads, code_share, b);
    const size_t runs = (size_t)1 << b->coarse;
    uint32_t next = 0;
    for (size_t r = 0; r < runs; r++)
        for (unsigned t = 0; t < b->threads; t++) {
            uint32_t *start = &b->starts[t * runs + r], found = *start;
            *start = next;
            next += found;
        }
    flr_parallel_for(b->threads, b->threads, place_share, b);
    flr_parallel_for(b->threads, runs, sort_run, b);
}

/* ---- the batch ---- */

static flr_result query_range(void *context, size_t first, size_t end, unsigned worker)
{
    const point_batch *b = context;
    flr_vec3 points[FLR_SURFACE_GROUP], nearest[FLR_SURFACE_GROUP];
    double distances[FLR_SURFACE_GROUP];
    uint32_t triangles[FLR_SURFACE_GROUP], from[FLR_SURFACE_GROUP];
    flr_surface_group group = {points, 0, distances, nearest, triangles};
    for (size_t i = first; i < end || group.count;) {
        if (i < end) {
            const uint32_t point = b->order ? b->order[i] : (uint32_t)i;
            if (b->order && i + POINTS_AHEAD < end) {
                const uint32_t ahead = b->order[i + POINTS_AHEAD];
                __builtin_prefetch(&b->points[ahead]);
                __builtin_prefetch(&b->distances[ahead], 1);
            }
            i++;
            if (flr_surface_usable(b->points[point])) {
                from[group.count] = point;
                points[group.count++] = b->points[point];
            } else {
                b->distances[point] = NAN;
                if (b->nearest) b->nearest[point] = flr_vec3_make(NAN, NAN, NAN);
                if (b->triangles) b->triangles[point] = FLR_NONE;
            }
            if (group.count < FLR_SURFACE_GROUP && i < end) continue;
        }
        if (!group.count) break;
        b->kernel->query(b->surface, &group, b->scratch[worker]);
        for (uint32_t k = 0; k < group.count; k++) {
            b->distances[from[k]] = distances[k];
            if (b->nearest) b->nearest[from[k]] = nearest[k];
            if (b->triangles) b->triangles[from[k]] = triangles[k];
        }
        group.count = 0;
    }
    return FLR_OK;
}

static bool allocate(point_batch *b)
{
    b->scratch = calloc(b->threads, sizeof(flr_surface_scratch *));
    if (!b->scratch) return false;
    for (unsigned t = 0; t < b->threads; t++)
        if (!(b->scratch[t] = flr_surface_scratch_create())) return false;
    if (b->count <= FLR_SURFACE_GROUP) return true;
    unsigned bits = MIN_CELL_BITS;
    while (bits < MAX_CELL_BITS && (size_t)1 << 3 * bits < 2 * b->count) bits++;
    b->grid.bits = bits;
    b->coarse = 3 * bits - FINE_BITS;
    b->boxes = malloc(b->threads * sizeof *b->boxes);
    b->coded = malloc(b->count * sizeof *b->coded);
    b->order = malloc(b->count * sizeof *b->order);
    b->starts = calloc((size_t)b->threads << b->coarse, sizeof *b->starts);
    return b->boxes && b->coded && b->order && b->starts;
}

static void release(point_batch *b)
{
    for (unsigned t = 0; b->scratch && t < b->threads; t++) free(b->scratch[t]);
    free(b->scratch);
    free(b->boxes);
    free(b->coded);
    free(b->order);
    free(b->starts);
}

static const flr_surface_kernel *choose_kernel(flr_simd simd)
{
    switch (flr_simd_resolve(simd)) {
#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
    case FLR_SIMD_AVX512:
        return &flr_surface_avx512;
    case FLR_SIMD_AVX2:
        return &flr_surface_avx2;
#elif defined(__aarch64__) && !defined(FLR_NO_SIMD)
    case FLR_SIMD_NEON:
        return &flr_surface_neon;
#endif
    default:
        return &flr_surface_scalar;
    }
}

flr_result flr_batch_points(const flr_batch_surface *surface, const flr_vec3 *points, size_t count,
                            const flr_batch_options *options, double *distances, flr_vec3 *nearest,
                            uint32_t *triangles, flr_error *error)
{
    FLR_ASSERT(surface && (!count || (points && distances)));
    const flr_batch_options plain = flr_default_batch_options();
    if (!options) options = &plain;
    if (!flr_simd_has(options->simd))
        return flr_fail(error, FLR_UNSUPPORTED, "this processor has no %s",
                        flr_simd_name(options->simd));
    if (count > UINT32_MAX)
        return flr_fail(error, FLR_TOO_LARGE, "%zu points are too many for one batch", count);
    const size_t pieces = count / POINTS_IN_PIECE + 1;
    unsigned threads = pieces == 1 ? 1 : flr_parallel_threads(options->threads);
    if (threads > pieces) threads = (unsigned)pieces;
    point_batch batch = {.surface = surface,
                         .points = points,
                         .count = count,
                         .distances = distances,
                         .nearest = nearest,
                         .triangles = triangles,
                         .kernel = choose_kernel(options->simd),
                         .threads = threads};
    flr_result result = FLR_OK;
    if (allocate(&batch)) {
        if (batch.order) sort_points(&batch);
        const flr_batch_run run = {options, count, POINTS_IN_PIECE, query_range, &batch};
        result = flr_batch_go(&run, threads, error);
    } else {
        result = flr_fail(error, FLR_NO_MEMORY, "not enough memory for %zu points", count);
    }
    release(&batch);
    return result;
}
