/* surface_lanes.h: a group of points against a surface, in plain C that compilers turn into vector instructions; each
 * surface_query_*.c compiles it for its own. All give the same bits. */
#ifndef FLR_BATCH_SURFACE_LANES_H
#define FLR_BATCH_SURFACE_LANES_H

#include <float.h>
#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__) && !defined(FLR_NO_SIMD)
#include <arm_neon.h>
#endif

#include "batch/batch_surface.h"

#define LANES static inline __attribute__((always_inline))

enum {
    MAX_NEAR = 512, /* leaves kept for a group; a group with more is cut in two */
    MAX_TIES = 64   /* triangles within rounding of the least */
};
/* what single precision may cost, as a share of the lengths involved */
#define SINGLE_ROUNDING 3e-6f

struct flr_surface_scratch {
    flr_surface_node near[MAX_NEAR / FLR_SURFACE_LANES]; /* boxes of leaves that may be nearest */
    _Alignas(64) float low[MAX_NEAR / FLR_SURFACE_LANES]
                          [FLR_SURFACE_LANES]; /* their squared distances */
    uint32_t leaf[MAX_NEAR];
    uint32_t count;
    uint32_t last; /* leaf that was nearest before */
};

LANES float larger(float a, float b) { return a > b ? a : b; }
LANES float smaller(float a, float b) { return a < b ? a : b; }

/* The middle of a group, and what is known of its nearest point: a point of the surface `d` away, in the direction of -n. */
typedef struct middle {
    float p[3], n[3], d;
    float r; /* of the group */
    float
        bend; /* metres: that the distance to the point of the surface may grow by more than along n */
    float slack; /* metres: for rounding */
} middle;

/* How far 16 boxes are from the middle, in metres, less what may be nearest to a point of the group: what is above 0 is not.
 *
 * With g the vector from the box to the middle, a point m + v of the group is at least |g| + v g/|g| away from it, because
 * the box is convex; and from the known point of the surface it is at most d + v n + bend. So the box is of no use where
 * |g| > d + bend + r |n - g/|g||. */
LANES void boxes_over(const flr_surface_node *b, const middle *m, float low[FLR_SURFACE_LANES],
                      float over[FLR_SURFACE_LANES])
{
    const float p0 = m->p[0], p1 = m->p[1], p2 = m->p[2], n0 = m->n[0], n1 = m->n[1], n2 = m->n[2];
    const float reach = m->d + m->slack, bend = m->bend, r = m->r;
    for (int i = 0; i < FLR_SURFACE_LANES; i++) {
        float x = p0 - b->centre[0][i], y = p1 - b->centre[1][i], z = p2 - b->centre[2][i];
        float sum = 0, along = 0;
        for (int k = 0; k < 3; k++) {
            float ax = b->axis[k][0][i], ay = b->axis[k][1][i], az = b->axis[k][2][i];
            float at = ax * x + ay * y + az * z;
            float beyond = larger(fabsf(at) - b->half[k][i], 0.0f);
            float na = ax * n0 + ay * n1 + az * n2;
            sum += beyond * beyond;
            along += beyond * (at < 0 ? -na : na);
        }
        float d = sqrtf(sum);
        float turn = 2.0f - 2.0f * (along / (d + FLT_MIN));
        turn = sqrtf(larger(turn, 0.0f));
        float more = smaller(r * turn + bend, 2.0f * r);
        low[i] = d;
        over[i] = d - reach - more;
    }
}

/* what a coordinate from 0 on is beyond a side */
LANES float past(float x, float length) { return x - larger(0.0f, smaller(length, x)); }

/* squared distances of 16 triangles; p from the leaf's centre */
LANES void triangles2(const flr_surface_leaf *l, const float p[3], float out[FLR_SURFACE_LANES])
{
    const float p0 = p[0], p1 = p[1], p2 = p[2];
    for (int i = 0; i < FLR_SURFACE_LANES; i++) {
        float at[3];
        for (int k = 0; k < 3; k++)
            at[k] = l->axis[k][0][i] * p0 + l->axis[k][1][i] * p1 + l->axis[k][2][i] * p2 -
                    l->origin[k][i];
        const float x = at[0], y = at[1], z = at[2], length = l->base[i];
        /* along each side from its beginning, and across it into the triangle */
        const float u0 = l->way[0][0][i], v0 = l->way[0][1][i], u1 = l->way[1][0][i],
                    v1 = l->way[1][1][i], beyond = x - length;
        const float w = past(x, length), w0 = past(x * u0 + y * v0, l->length[0][i]),
                    w1 = past(beyond * u1 + y * v1, l->length[1][i]);
        const float in0 = x * v0 - y * u0, in1 = y * u1 - beyond * v1;
        const float least =
            smaller(w * w + y * y, smaller(w0 * w0 + in0 * in0, w1 * w1 + in1 * in1));
        const float inside = smaller(y, smaller(in0, in1));
        out[i] = (inside > 0.0f ? 0.0f : least) + z * z;
    }
}

/* bits of the values that are no larger than a limit */
LANES uint32_t below(const float values[FLR_SURFACE_LANES], float limit)
{
    uint32_t bits = 0;
#if defined(__SSE2__)
    const __m128 most = _mm_set1_ps(limit);
    for (int k = 0; k < 4; k++)
        bits |= (uint32_t)_mm_movemask_ps(_mm_cmple_ps(_mm_load_ps(values + 4 * k), most)) << 4 * k;
#elif defined(__aarch64__) && !defined(FLR_NO_SIMD)
    const float32x4_t most = vdupq_n_f32(limit);
    uint16x8_t half[2];
    for (int k = 0; k < 2; k++)
        half[k] = vuzp1q_u16(vreinterpretq_u16_u32(vcleq_f32(vld1q_f32(values + 8 * k), most)),
                             vreinterpretq_u16_u32(vcleq_f32(vld1q_f32(values + 8 * k + 4), most)));
    const uint8x16_t weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t sum =
        vandq_u8(vuzp1q_u8(vreinterpretq_u8_u16(half[0]), vreinterpretq_u8_u16(half[1])), weight);
    sum = vpaddq_u8(sum, sum);
    sum = vpaddq_u8(sum, sum);
    bits = vgetq_lane_u16(vreinterpretq_u16_u8(vpaddq_u8(sum, sum)), 0);
#else
    for (int i = 0; i < FLR_SURFACE_LANES; i++) bits |= (uint32_t)(values[i] <= limit) << i;
#endif
    return bits;
}

LANES float least_of(const float values[FLR_SURFACE_LANES])
{
#if defined(__SSE2__)
    __m128 a = _mm_min_ps(_mm_min_ps(_mm_load_ps(values), _mm_load_ps(values + 4)),
                          _mm_min_ps(_mm_load_ps(values + 8), _mm_load_ps(values + 12)));
    a = _mm_min_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_min_ss(a, _mm_shuffle_ps(a, a, 1)));
#elif defined(__aarch64__) && !defined(FLR_NO_SIMD)
    return vminvq_f32(vminq_f32(vminq_f32(vld1q_f32(values), vld1q_f32(values + 4)),
                                vminq_f32(vld1q_f32(values + 8), vld1q_f32(values + 12))));
#else
    float a[4], least = FLT_MAX;
    for (int i = 0; i < 4; i++)
        a[i] = smaller(smaller(values[i], values[i + 4]), smaller(values[i + 8], values[i + 12]));
    for (int i = 0; i < 4; i++) least = smaller(least, a[i]);
    return least;
#endif
}

/* a bound for squared distances that are no larger than `d2` but for rounding and `more` metres */
LANES float limit_of(float d2, float more, float scale)
{
    const float d = sqrtf(d2);
    const float limit = d + more + SINGLE_ROUNDING * (d + scale);
    return limit * limit;
}

/* Takes the leaf's nearest triangle where it is nearer than what is known. */
LANES void look_at(const flr_batch_surface *s, uint32_t leaf, flr_vec3 point, float scale,
                   middle *m, flr_surface_scratch *x)
{
    const flr_surface_leaf *l = &s->leaves[leaf];
    const flr_vec3 c = s->leaf_centres[leaf];
    _Alignas(64) float d2[FLR_SURFACE_LANES];
    const float from[3] = {(float)(point.x - c.x), (float)(point.y - c.y), (float)(point.z - c.z)};
    triangles2(l, from, d2);
    const float least = least_of(d2);
    if (!(least < m->d * m->d)) return;
    const uint32_t *v = s->mesh->triangles[l->triangle[__builtin_ctz(below(d2, least))]].v;
    const flr_vec3 corners[3] = {s->mesh->vertices[v[0]], s->mesh->vertices[v[1]],
                                 s->mesh->vertices[v[2]]};
    unsigned part;
    const flr_vec3 away = flr_vec3_sub(point, flr_surface_nearest(corners, point, &part));
    const double d = flr_vec3_length(away), scaled = d > 0 ? 1 / d : 0;
    m->d = (float)d;
    m->n[0] = (float)(away.x * scaled), m->n[1] = (float)(away.y * scaled);
    m->n[2] = (float)(away.z * scaled);
    m->bend = m->d > 1.25f * m->r ? 0.5f * m->r * m->r / (m->d - m->r) : 2 * m->r;
    m->slack = SINGLE_ROUNDING * (m->d + scale);
    x->last = leaf;
}

/* Keeps a leaf with its box. False: there are too many. */
LANES bool keep_leaf(flr_surface_scratch *x, const flr_surface_node *n, int child, uint32_t leaf)
{
    const uint32_t k = x->count;
    if (k == MAX_NEAR) return false;
    flr_surface_node *to = &x->near[k / FLR_SURFACE_LANES];
    const uint32_t lane = k % FLR_SURFACE_LANES;
    for (int i = 0; i < 3; i++) {
        to->centre[i][lane] = n->centre[i][child];
        to->half[i][lane] = n->half[i][child];
        for (int j = 0; j < 3; j++) to->axis[i][j][lane] = n->axis[i][j][child];
    }
    x->leaf[k] = leaf;
    x->count++;
    return true;
}

/* Collects the leaves that may be nearest to a point of the group. False: there are too many. */
LANES bool collect(const flr_batch_surface *s, flr_vec3 point, float scale, middle *m,
                   flr_surface_scratch *x)
{
    struct {
        uint32_t node;
        float low;
    } stack[FLR_SURFACE_DEPTH * FLR_SURFACE_LANES];
    int top = 0;
    m->d = FLT_MAX / 4;
    m->d = sqrtf(m->d);
    look_at(s, x->last, point, scale, m, x);
    x->count = 0;
    stack[top].node = 0, stack[top++].low = 0;
    const uint32_t lowest = s->level_first[s->level_count - 1];
    while (top) {
        const uint32_t at = stack[--top].node;
        if (stack[top].low > m->d + 2 * m->r + m->slack) continue;
        const flr_surface_node *n = &s->nodes[at];
        _Alignas(64) float low[FLR_SURFACE_LANES], over[FLR_SURFACE_LANES];
        boxes_over(n, m, low, over);
        uint32_t bits = below(over, 0);
        if (at < lowest) { /* the nearest child goes on top */
            const int first = top;
            for (; bits; bits &= bits - 1) {
                const int i = __builtin_ctz(bits);
                int to = top++;
                for (; to > first && stack[to - 1].low < low[i]; to--) stack[to] = stack[to - 1];
                stack[to].node = n->first + (uint32_t)i;
                stack[to].low = low[i];
            }
            continue;
        }
        for (; bits; bits &= bits - 1) {
            const int i = __builtin_ctz(bits);
            const uint32_t leaf = n->first + (uint32_t)i;
            if (low[i] < m->d) look_at(s, leaf, point, scale, m, x);
            if (low[i] > m->d + 2 * m->r + m->slack) continue;
            if (!keep_leaf(x, n, i, leaf)) return false;
        }
    }
    return true;
}

/* squared distances of 16 boxes */
LANES void boxes2(const flr_surface_node *b, const float p[3], float *restrict out)
{
    const float p0 = p[0], p1 = p[1], p2 = p[2];
    for (int i = 0; i < FLR_SURFACE_LANES; i++) {
        float dx = p0 - b->centre[0][i], dy = p1 - b->centre[1][i], dz = p2 - b->centre[2][i];
        float sum = 0;
        for (int k = 0; k < 3; k++) {
            float along =
                fabsf(b->axis[k][0][i] * dx + b->axis[k][1][i] * dy + b->axis[k][2][i] * dz) -
                b->half[k][i];
            along = larger(along, 0.0f);
            sum += along * along;
        }
        out[i] = sum;
    }
}

/* Squared distances of all kept boxes, of which there is at least one; the index of the least. */
LANES uint32_t kept2(flr_surface_scratch *x, const float p[3])
{
    const uint32_t blocks = (x->count - 1) / FLR_SURFACE_LANES + 1;
    float least = FLT_MAX;
    uint32_t at = 0;
    for (uint32_t b = 0; b < blocks; b++) {
        boxes2(&x->near[b], p, x->low[b]);
        const float here = least_of(x->low[b]);
        if (here < least) {
            least = here;
            at = b;
        }
    }
    return at * FLR_SURFACE_LANES + (uint32_t)__builtin_ctz(below(x->low[at], least));
}

/* Triangles that may be nearest to a point. */
typedef struct ties {
    uint32_t triangle[MAX_TIES];
    float d2[MAX_TIES];
    uint32_t count;
    float best2, limit;
    bool full; /* some may be missing */
} ties;

LANES void drop_far(ties *t)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < t->count; k++)
        if (t->d2[k] <= t->limit) {
            t->triangle[kept] = t->triangle[k];
            t->d2[kept++] = t->d2[k];
        }
    t->count = kept;
}

LANES void compare_leaf(const flr_batch_surface *s, uint32_t leaf, flr_vec3 point, ties *t,
                        uint32_t *nearest)
{
    const flr_surface_leaf *l = &s->leaves[leaf];
    const flr_vec3 c = s->leaf_centres[leaf];
    const float from[3] = {(float)(point.x - c.x), (float)(point.y - c.y), (float)(point.z - c.z)};
    _Alignas(64) float d2[FLR_SURFACE_LANES];
    triangles2(l, from, d2);
    const float least = least_of(d2);
    if (least < t->best2) {
        t->best2 = least;
        t->limit = limit_of(least, 0, l->radius);
        *nearest = leaf;
        drop_far(t);
    }
    for (uint32_t bits = below(d2, t->limit); bits; bits &= bits - 1) {
        const int i = __builtin_ctz(bits);
        if (t->count == MAX_TIES) {
            t->full = true;
            return;
        }
        t->triangle[t->count] = l->triangle[i];
        t->d2[t->count++] = d2[i];
    }
}

LANES void answer(const flr_batch_surface *s, const flr_surface_group *g, uint32_t i, float scale,
                  flr_surface_scratch *x)
{
    const flr_vec3 point = g->points[i];
    const float p[3] = {(float)(point.x - s->centre.x), (float)(point.y - s->centre.y),
                        (float)(point.z - s->centre.z)};
    ties t = {.best2 = FLT_MAX, .limit = FLT_MAX};
    const uint32_t first = kept2(x, p);
    compare_leaf(s, x->leaf[first], point, &t, &x->last);
    float limit = limit_of(t.best2, 0, scale);
    for (uint32_t from = 0; from < x->count; from += FLR_SURFACE_LANES) {
        const float *low = x->low[from / FLR_SURFACE_LANES];
        for (uint32_t bits = below(low, limit); bits; bits &= bits - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctz(bits), k = from + lane;
            if (k == first || low[lane] > limit) continue;
            const float before = t.best2;
            compare_leaf(s, x->leaf[k], point, &t, &x->last);
            if (t.best2 < before) limit = limit_of(t.best2, 0, scale);
        }
    }
    /* where very many triangles are as near, all are asked */
    flr_surface_decide(s, t.triangle, t.full ? 0 : t.count, g, i);
}

LANES void query_part(const flr_batch_surface *s, const flr_surface_group *g, uint32_t first,
                      uint32_t end, flr_surface_scratch *x, bool *fits)
{
    flr_vec3 low = g->points[first], high = low;
    for (uint32_t i = first + 1; i < end; i++) {
        low = flr_vec3_min(low, g->points[i]);
        high = flr_vec3_max(high, g->points[i]);
    }
    const flr_vec3 c = flr_vec3_scale(flr_vec3_add(low, high), 0.5);
    double r2 = 0;
    for (uint32_t i = first; i < end; i++) {
        const flr_vec3 v = flr_vec3_sub(g->points[i], c);
        r2 = fmax(r2, flr_vec3_dot(v, v));
    }
    middle m = {
        .p = {(float)(c.x - s->centre.x), (float)(c.y - s->centre.y), (float)(c.z - s->centre.z)},
        .r = (float)(sqrt(r2) * (1 + 1e-6))};
    /* coordinates are rounded to this share of the surface's size, or of how far away the point is */
    const float scale = (float)s->size + fabsf(m.p[0]) + fabsf(m.p[1]) + fabsf(m.p[2]);
    *fits = collect(s, c, scale, &m, x);
    if (!*fits) return;
    /* what fills up the last sixteen is far from everything */
    for (uint32_t k = x->count; k % FLR_SURFACE_LANES; k++)
        for (int i = 0; i < 3; i++)
            x->near[k / FLR_SURFACE_LANES].half[i][k % FLR_SURFACE_LANES] = -1e18f;
    for (uint32_t i = first; i < end; i++) answer(s, g, i, scale, x);
}

/* A group, in halves where too many leaves are near to it, down to single points. */
LANES void query_group(const flr_batch_surface *s, const flr_surface_group *g,
                       flr_surface_scratch *x)
{
    uint32_t first = 0, size = g->count;
    while (first < g->count) {
        bool fits;
        const uint32_t end = first + size < g->count ? first + size : g->count;
        query_part(s, g, first, end, x, &fits);
        if (fits) {
            first = end;
        } else if (size > 1) {
            size = (size + 1) / 2;
        } else {
            flr_surface_decide(s, NULL, 0, g, first);
            first++;
        }
    }
}

#endif
