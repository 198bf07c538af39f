/* surface_lanes.h: sixteen boxes, triangles or points at a time, in plain C that compilers turn into vector instructions;
 * each surface_query_*.c compiles it for its own, and defines SURFACE_AVX512 or SURFACE_AVX2 for these.
 *
 * All of this is in single precision and finds bounds only. They hold for every rounding, so variants may differ in their last
 * bits; what is decided by them does not. */
#ifndef FLR_BATCH_SURFACE_LANES_H
#define FLR_BATCH_SURFACE_LANES_H

#include <float.h>
#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__) && !defined(FLR_NO_SIMD)
#include <arm_neon.h>
#endif

#include "batch/batch_surface.h"

/* instructions to compile for, and whether products are added without rounding in between */
#if defined(SURFACE_AVX512)
#ifdef __clang__ /* it has no attribute for the width */
#define SURFACE_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#else
#define SURFACE_TARGET                                                                             \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#endif
#define SURFACE_FMA
#elif defined(SURFACE_AVX2)
#define SURFACE_TARGET __attribute__((target("avx2")))
#else
#define SURFACE_TARGET
#ifdef __aarch64__
#define SURFACE_FMA
#endif
#endif
#define LANES        SURFACE_TARGET static inline __attribute__((always_inline))
#define EACH_LANE(i) for (int i = 0; i < FLR_SURFACE_LANES; i++)

typedef float lanes[FLR_SURFACE_LANES];

LANES float larger(float a, float b) { return a > b ? a : b; }
LANES float smaller(float a, float b) { return a < b ? a : b; }

/* a b + c */
LANES float add_product(float a, float b, float c)
{
#ifdef SURFACE_FMA
    return fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

/* a b + c d */
LANES float two_products(float a, float b, float c, float d) { return add_product(a, b, c * d); }

/* ---- all lanes together ---- */

/* bits of the lanes where a <= b */
LANES uint32_t below_each(const lanes a, const lanes b)
{
    uint32_t bits = 0;
#if defined(SURFACE_AVX512)
    bits = _mm512_cmp_ps_mask(_mm512_load_ps(a), _mm512_load_ps(b), _CMP_LE_OQ);
#elif defined(__SSE2__)
    for (int k = 0; k < 4; k++)
        bits |=
            (uint32_t)_mm_movemask_ps(_mm_cmple_ps(_mm_load_ps(a + 4 * k), _mm_load_ps(b + 4 * k)))
            << 4 * k;
#elif defined(__aarch64__) && !defined(FLR_NO_SIMD)
    uint16x8_t half[2];
    for (int k = 0; k < 2; k++) {
        const float *x = a + 8 * k, *y = b + 8 * k;
        half[k] = vuzp1q_u16(vreinterpretq_u16_u32(vcleq_f32(vld1q_f32(x), vld1q_f32(y))),
                             vreinterpretq_u16_u32(vcleq_f32(vld1q_f32(x + 4), vld1q_f32(y + 4))));
    }
    const uint8x16_t weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t sum =
        vandq_u8(vuzp1q_u8(vreinterpretq_u8_u16(half[0]), vreinterpretq_u8_u16(half[1])), weight);
    sum = vpaddq_u8(sum, sum);
    sum = vpaddq_u8(sum, sum);
    bits = vgetq_lane_u16(vreinterpretq_u16_u8(vpaddq_u8(sum, sum)), 0);
#else
    EACH_LANE(i) bits |= (uint32_t)(a[i] <= b[i]) << i;
#endif
    return bits;
}

/* bits of the lanes that are no larger than a limit */
LANES uint32_t below(const lanes a, float limit)
{
    _Alignas(64) lanes limits;
    EACH_LANE(i) limits[i] = limit;
    return below_each(a, limits);
}

LANES float least_of(const lanes a)
{
#if defined(SURFACE_AVX512)
    return _mm512_reduce_min_ps(_mm512_load_ps(a));
#elif defined(__SSE2__)
    __m128 x = _mm_min_ps(_mm_min_ps(_mm_load_ps(a), _mm_load_ps(a + 4)),
                          _mm_min_ps(_mm_load_ps(a + 8), _mm_load_ps(a + 12)));
    x = _mm_min_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_min_ss(x, _mm_shuffle_ps(x, x, 1)));
#elif defined(__aarch64__) && !defined(FLR_NO_SIMD)
    return vminvq_f32(vminq_f32(vminq_f32(vld1q_f32(a), vld1q_f32(a + 4)),
                                vminq_f32(vld1q_f32(a + 8), vld1q_f32(a + 12))));
#else
    float least = FLT_MAX;
    EACH_LANE(i) least = smaller(least, a[i]);
    return least;
#endif
}

/* ---- a group of points ---- */

typedef struct points16 {
    _Alignas(64) lanes v[3]; /* from the middle, metres */
    lanes near;              /* no point is farther from the surface than this, metres */
    flr_vec3 middle;         /* mesh's frame */
    float from_centre[3];    /* the middle from the surface's centre */
    float r;                 /* no point is farther from the middle */
    float nearest;           /* of the triangles' bounds, to the middle */
    float reach;             /* nothing farther than this from the middle is near any point */
} points16;

/* Lower bounds on the distances of 16 convex shapes from a point v: low + v to, with unit vectors from the shapes to the middle. */
typedef struct bound16 {
    _Alignas(64) lanes low, to[3];
} bound16;

/* Bounds the distance from a convex shape, given the vector g from its point nearest to the middle, to the middle: a point v from
 * the middle is at least |g| + v g/|g| away, because the shape is convex.
 * `error` bounds the error of the coordinates, and `size` the extent of the shape. The direction is off by up to error/|g|, so the
 * plane across it may overestimate the distance by that share of the extents of the shape and of the points. */
LANES void bound(const points16 *p, float g0, float g1, float g2, float error, float size,
                 bound16 *b, int i)
{
    const float d = sqrtf(add_product(g0, g0, two_products(g1, g1, g2, g2)));
    const float scale = 1 / (d + FLT_MIN);
    b->low[i] = d - error * add_product(2 * (size + p->r), scale, 1);
    b->to[0][i] = g0 * scale, b->to[1][i] = g1 * scale, b->to[2][i] = g2 * scale;
}

/* bits of the shapes that may be as near to a point as `near` */
LANES uint32_t may_be_near(const points16 *p, const bound16 *b)
{
    _Alignas(64) lanes beyond;
    EACH_LANE(i)
    {
        const float t0 = b->to[0][i], t1 = b->to[1][i], t2 = b->to[2][i];
#define POINT(k)                                                                                   \
    add_product(t0, p->v[0][k],                                                                    \
                add_product(t1, p->v[1][k], add_product(t2, p->v[2][k], -p->near[k])))
#define TWO(k) smaller(POINT(k), POINT(k + 1))
        beyond[i] =
            b->low[i] + smaller(smaller(smaller(TWO(0), TWO(2)), smaller(TWO(4), TWO(6))),
                                smaller(smaller(TWO(8), TWO(10)), smaller(TWO(12), TWO(14))));
#undef TWO
#undef POINT
    }
    return below(beyond, 0);
}

/* whether shape i may be */
LANES bool one_may_be_near(const points16 *p, const bound16 *b, int i)
{
    const float low = b->low[i], t0 = b->to[0][i], t1 = b->to[1][i], t2 = b->to[2][i];
    _Alignas(64) lanes least;
    EACH_LANE(k)
    least[k] =
        add_product(t0, p->v[0][k], add_product(t1, p->v[1][k], add_product(t2, p->v[2][k], low)));
    return below_each(least, p->near) != 0;
}

/* 16 boxes */
LANES void bound_boxes(const flr_surface_node *n, const points16 *p, float error, bound16 *b)
{
    const float p0 = p->from_centre[0], p1 = p->from_centre[1], p2 = p->from_centre[2];
    EACH_LANE(i)
    {
        const float x = p0 - n->centre[0][i], y = p1 - n->centre[1][i], z = p2 - n->centre[2][i];
        float g0 = 0, g1 = 0, g2 = 0, size = 0;
        for (int k = 0; k < 3; k++) {
            const float a0 = n->axis[k][0][i], a1 = n->axis[k][1][i], a2 = n->axis[k][2][i];
            const float at = add_product(a0, x, two_products(a1, y, a2, z));
            const float beyond = copysignf(larger(fabsf(at) - n->half[k][i], 0.0f), at);
            g0 = add_product(beyond, a0, g0);
            g1 = add_product(beyond, a1, g1);
            g2 = add_product(beyond, a2, g2);
            size += 2 * larger(n->half[k][i], 0.0f);
        }
        bound(p, g0, g1, g2, error, size, b, i);
    }
}

/* what a coordinate from 0 on is beyond a side */
LANES float past(float x, float length) { return x - larger(0.0f, smaller(length, x)); }

/* 16 triangles; `from` is the middle from the leaf's centre. `at`: the middle in the axes of each. */
LANES void bound_triangles(const flr_surface_leaf *l, const points16 *p, const float from[3],
                           float error, lanes at[3], bound16 *b)
{
    const float p0 = from[0], p1 = from[1], p2 = from[2], size = 2 * l->radius;
    EACH_LANE(i)
    {
        for (int k = 0; k < 3; k++)
            at[k][i] = add_product(l->axis[k][0][i], p0,
                                   two_products(l->axis[k][1][i], p1, l->axis[k][2][i], p2)) -
                       l->origin[k][i];
        const float x = at[0][i], y = at[1][i], z = at[2][i], length = l->base[i];
        /* along each side from its beginning, and across it into the triangle */
        const float u0 = l->way[0][0][i], v0 = l->way[0][1][i], u1 = l->way[1][0][i],
                    v1 = l->way[1][1][i], beyond = x - length;
        const float w = past(x, length), w0 = past(two_products(x, u0, y, v0), l->length[0][i]),
                    w1 = past(two_products(beyond, u1, y, v1), l->length[1][i]);
        const float in0 = two_products(x, v0, -y, u0), in1 = two_products(y, u1, -beyond, v1);
        const float a = two_products(w, w, y, y), a0 = two_products(w0, w0, in0, in0),
                    a1 = two_products(w1, w1, in1, in1);
        /* from the nearest side */
        const bool second = a0 < a1, first = a < smaller(a0, a1);
        float gx = second ? two_products(w0, u0, in0, v0) : two_products(w1, u1, -in1, v1);
        float gy = second ? two_products(w0, v0, -in0, u0) : two_products(w1, v1, in1, u1);
        gx = first ? w : gx, gy = first ? y : gy;
        const bool inside = smaller(y, smaller(in0, in1)) > 0.0f;
        gx = inside ? 0.0f : gx, gy = inside ? 0.0f : gy;
        float g[3];
        for (int k = 0; k < 3; k++)
            g[k] = add_product(gx, l->axis[0][k][i],
                               two_products(gy, l->axis[1][k][i], z, l->axis[2][k][i]));
        bound(p, g[0], g[1], g[2], error, size, b, i);
    }
}

/* squared distances of the points from triangle t of a leaf; `best` gets the least of them and itself */
LANES void distances2(const flr_surface_leaf *l, int t, const points16 *p, const lanes at[3],
                      lanes out, lanes best)
{
    const float length = l->base[t], u0 = l->way[0][0][t], v0 = l->way[0][1][t],
                u1 = l->way[1][0][t], v1 = l->way[1][1][t], length0 = l->length[0][t],
                length1 = l->length[1][t];
    const float ax = l->axis[0][0][t], ay = l->axis[0][1][t], az = l->axis[0][2][t];
    const float bx = l->axis[1][0][t], by = l->axis[1][1][t], bz = l->axis[1][2][t];
    const float cx = l->axis[2][0][t], cy = l->axis[2][1][t], cz = l->axis[2][2][t];
    const float at0 = at[0][t], at1 = at[1][t], at2 = at[2][t];
    EACH_LANE(i)
    {
        const float p0 = p->v[0][i], p1 = p->v[1][i], p2 = p->v[2][i];
        const float x = add_product(ax, p0, add_product(ay, p1, add_product(az, p2, at0))),
                    y = add_product(bx, p0, add_product(by, p1, add_product(bz, p2, at1))),
                    z = add_product(cx, p0, add_product(cy, p1, add_product(cz, p2, at2)));
        const float beyond = x - length;
        const float w = past(x, length), w0 = past(two_products(x, u0, y, v0), length0),
                    w1 = past(two_products(beyond, u1, y, v1), length1);
        const float in0 = two_products(x, v0, -y, u0), in1 = two_products(y, u1, -beyond, v1);
        const float least =
            smaller(two_products(w, w, y, y),
                    smaller(two_products(w0, w0, in0, in0), two_products(w1, w1, in1, in1)));
        const float inside = smaller(y, smaller(in0, in1));
        const float d2 = add_product(z, z, inside > 0.0f ? 0.0f : least);
        out[i] = d2;
        best[i] = smaller(best[i], d2);
    }
}

#endif
