/* signed distances of many points: sorting them, and deciding in double precision */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "batch/batch_surface.h"
#include "fit/fit_triangle.h"

enum { POINTS_IN_PIECE = 4096, MAX_CELL_BITS = 7, POINTS_IN_CELL = 1 };

/* ---- one point ---- */

static const double SLENDER2 = 1e-6; /* of a triangle's height by its longest side, squared */

/* In a triangle so slender that rounding decides about its regions; the part is a side or a corner. */
static flr_vec3 nearest_in_slender(const flr_vec3 c[3], flr_vec3 p, unsigned *part)
{
    double least = INFINITY, d2;
    const flr_vec3 nearest = flr_fit_on_triangle(c, p, &d2);
    for (unsigned k = 0; k < 3; k++) {
        const flr_vec3 side = flr_vec3_sub(c[(k + 1) % 3], c[k]);
        const double length2 = flr_vec3_length2(side),
                     along = flr_vec3_dot(side, flr_vec3_sub(p, c[k])),
                     share = length2 > 0 ? fmin(fmax(along / length2, 0), 1) : 0,
                     away2 =
                         flr_vec3_length2(flr_vec3_sub(p, flr_vec3_add_scaled(c[k], share, side)));
        if (!(away2 < least)) continue;
        least = away2;
        *part = share <= 0 ? k : share >= 1 ? (k + 1) % 3 : 3 + k;
    }
    return nearest;
}

flr_vec3 flr_surface_nearest(const flr_vec3 c[3], flr_vec3 p, unsigned *part)
{
    /* the regions around a triangle, Ericson 2005, section 5.1.5 */
    const flr_vec3 ab = flr_vec3_sub(c[1], c[0]), ac = flr_vec3_sub(c[2], c[0]),
                   ap = flr_vec3_sub(p, c[0]), bp = flr_vec3_sub(p, c[1]),
                   cp = flr_vec3_sub(p, c[2]);
    const double area2 = flr_vec3_length2(flr_vec3_cross(ab, ac)),
                 most2 =
                     fmax(flr_vec3_length2(ab),
                          fmax(flr_vec3_length2(ac), flr_vec3_length2(flr_vec3_sub(c[2], c[1]))));
    if (!(area2 > SLENDER2 * most2 * most2)) return nearest_in_slender(c, p, part);
    const double d1 = flr_vec3_dot(ab, ap), d2 = flr_vec3_dot(ac, ap);
    const double d3 = flr_vec3_dot(ab, bp), d4 = flr_vec3_dot(ac, bp);
    const double d5 = flr_vec3_dot(ab, cp), d6 = flr_vec3_dot(ac, cp);
    *part = 0;
    if (d1 <= 0 && d2 <= 0) return c[0];
    *part = 1;
    if (d3 >= 0 && d4 <= d3) return c[1];
    *part = 2;
    if (d6 >= 0 && d5 <= d6) return c[2];
    const double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    *part = 3;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return flr_vec3_add_scaled(c[0], d1 / (d1 - d3), ab);
    *part = 5;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return flr_vec3_add_scaled(c[0], d2 / (d2 - d6), ac);
    *part = 4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
        return flr_vec3_add_scaled(c[1], (d4 - d3) / ((d4 - d3) + (d5 - d6)),
                                   flr_vec3_sub(c[2], c[1]));
    *part = 6;
    const double scale = 1 / (va + vb + vc);
    return flr_vec3_add_scaled(flr_vec3_add_scaled(c[0], vb * scale, ab), vc * scale, ac);
}

/* the direction that tells the sign, for a point nearest to this part of the triangle */
static flr_vec3 sign_normal(const flr_batch_surface *s, uint32_t triangle, unsigned part)
{
    const uint32_t *v = s->mesh->triangles[triangle].v;
    if (part < 3) return s->corner_normals[v[part]];
    if (part < 6) return s->side_normals[3 * (size_t)triangle + part - 3];
    const flr_vec3 a = s->mesh->vertices[v[0]];
    return flr_vec3_cross(flr_vec3_sub(s->mesh->vertices[v[1]], a),
                          flr_vec3_sub(s->mesh->vertices[v[2]], a));
}

void flr_surface_decide(const flr_batch_surface *s, const uint32_t *triangles, uint32_t count,
                        const flr_surface_group *g, uint32_t i)
{
    const flr_vec3 p = g->points[i];
    if (!count) {
        const flr_fit_point_result r = flr_fit_point(s->fit, p, INFINITY);
        g->distances[i] = r.distance;
        g->nearest[i] = r.nearest;
        g->triangles[i] = r.triangle;
        return;
    }
    double best2 = INFINITY;
    unsigned best_part = 0;
    uint32_t best = 0;
    flr_vec3 nearest = {0, 0, 0};
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t t = triangles[k], *v = s->mesh->triangles[t].v;
        const flr_vec3 corners[3] = {s->mesh->vertices[v[0]], s->mesh->vertices[v[1]],
                                     s->mesh->vertices[v[2]]};
        unsigned part;
        const flr_vec3 at = flr_surface_nearest(corners, p, &part), away = flr_vec3_sub(p, at);
        const double d2 = flr_vec3_dot(away, away);
        if (d2 > best2 || (d2 == best2 && t > best)) continue;
        best2 = d2, best = t, best_part = part, nearest = at;
    }
    bool inside;
    if (s->outward)
        inside =
            flr_vec3_dot(flr_vec3_sub(p, nearest), sign_normal(s, best, best_part)) * s->outward <
            0;
    else
        inside = flr_fit_inside(s->fit, p);
    g->distances[i] = inside ? -sqrt(best2) : sqrt(best2);
    g->nearest[i] = nearest;
    g->triangles[i] = best;
}

/* ---- order of points ---- */

typedef struct point_batch {
    const flr_batch_surface *surface;
    const flr_vec3 *points;
    size_t count;
    double *distances;
    flr_vec3 *nearest;   /* may be NULL */
    uint32_t *triangles; /* may be NULL */
    flr_surface_query query;
    /* cells of a grid, in Morton order: points of a cell follow each other */
    flr_vec3 low, scale;
    unsigned bits;    /* of a coordinate */
    uint32_t *cell;   /* [count] */
    uint32_t *places; /* [threads][cells]: where the next point of each cell goes */
    uint32_t *order;  /* [count] */
    unsigned threads;
    flr_surface_scratch **scratch; /* [threads] */
    flr_box3 *boxes;               /* [threads] */
} point_batch;

static bool is_usable(flr_vec3 p)
{
    return fabs(p.x) <= FLR_MESH_MAX_COORDINATE && fabs(p.y) <= FLR_MESH_MAX_COORDINATE &&
           fabs(p.z) <= FLR_MESH_MAX_COORDINATE;
}

/* bits of x with two zeros between them */
static uint32_t spread_bits(uint32_t x)
{
    x = (x | x << 16) & 0x030000ff;
    x = (x | x << 8) & 0x0300f00f;
    x = (x | x << 4) & 0x030c30c3;
    return (x | x << 2) & 0x09249249;
}

static uint32_t cell_of(const point_batch *b, flr_vec3 p)
{
    if (!is_usable(p)) return 0;
    const uint32_t top = (1u << b->bits) - 1;
    const double at[3] = {(p.x - b->low.x) * b->scale.x, (p.y - b->low.y) * b->scale.y,
                          (p.z - b->low.z) * b->scale.z};
    uint32_t code = 0;
    for (int k = 0; k < 3; k++) {
        const uint32_t c = at[k] >= top ? top : at[k] > 0 ? (uint32_t)at[k] : 0;
        code |= spread_bits(c) << k;
    }
    return code;
}

/* the points of one thread, of equal shares */
static size_t share(const point_batch *b, size_t thread) { return b->count * thread / b->threads; }

static flr_result bound_share(void *context, size_t thread, unsigned worker)
{
    const point_batch *b = context;
    (void)worker;
    flr_box3 box = flr_box3_empty();
    for (size_t i = share(b, thread); i < share(b, thread + 1); i++)
        if (is_usable(b->points[i])) box = flr_box3_add(box, b->points[i]);
    b->boxes[thread] = box;
    return FLR_OK;
}

static flr_result count_share(void *context, size_t thread, unsigned worker)
{
    const point_batch *b = context;
    (void)worker;
    uint32_t *counts = b->places + (thread << 3 * b->bits);
    for (size_t i = share(b, thread); i < share(b, thread + 1); i++)
        counts[b->cell[i] = cell_of(b, b->points[i])]++;
    return FLR_OK;
}

static flr_result place_share(void *context, size_t thread, unsigned worker)
{
    const point_batch *b = context;
    (void)worker;
    uint32_t *places = b->places + (thread << 3 * b->bits);
    for (size_t i = share(b, thread); i < share(b, thread + 1); i++)
        b->order[places[b->cell[i]]++] = (uint32_t)i;
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
    const double scale = most > 0 ? (double)(1u << b->bits) / most : 0;
    b->low = box.low;
    b->scale = flr_vec3_make(scale, scale, scale);
    flr_parallel_for(b->threads, b->threads, count_share, b);
    const size_t cells = (size_t)1 << 3 * b->bits;
    uint32_t next = 0;
    for (size_t c = 0; c < cells; c++)
        for (unsigned t = 0; t < b->threads; t++) {
            uint32_t *place = &b->places[t * cells + c], found = *place;
            *place = next;
            next += found;
        }
    flr_parallel_for(b->threads, b->threads, place_share, b);
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
            i++;
            if (is_usable(b->points[point])) {
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
        b->query(b->surface, &group, b->scratch[worker]);
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
    while (b->bits < MAX_CELL_BITS && ((size_t)POINTS_IN_CELL << 3 * (b->bits + 1)) <= b->count)
        b->bits++;
    b->boxes = malloc(b->threads * sizeof *b->boxes);
    b->cell = malloc(b->count * sizeof *b->cell);
    b->order = malloc(b->count * sizeof *b->order);
    b->places = calloc((size_t)b->threads << 3 * b->bits, sizeof *b->places);
    return b->boxes && b->cell && b->order && b->places;
}

static void release(point_batch *b)
{
    for (unsigned t = 0; b->scratch && t < b->threads; t++) free(b->scratch[t]);
    free(b->scratch);
    free(b->boxes);
    free(b->cell);
    free(b->order);
    free(b->places);
}

static flr_surface_query choose_query(flr_simd simd)
{
    switch (flr_simd_resolve(simd)) {
    case FLR_SIMD_AVX512:
        return flr_surface_query_avx512;
    case FLR_SIMD_AVX2:
        return flr_surface_query_avx2;
    case FLR_SIMD_NEON:
        return flr_surface_query_neon;
    default:
        return flr_surface_query_scalar;
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
                         .query = choose_query(options->simd),
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
