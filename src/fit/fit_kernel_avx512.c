/* 16 points at a time */
#include <math.h>

#include "fit/fit_kernel.h"

#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define ALL(a) _mm512_set1_ps(a)
#define MUL    _mm512_mul_ps
#define ADD    _mm512_add_ps
/* (n0 x + n1 y) + (n2 z + plus) */
#define ALONG(n, plus)                                                                             \
    ADD(ADD(MUL(ALL((n)[0]), x), MUL(ALL((n)[1]), y)), ADD(MUL(ALL((n)[2]), z), ALL(plus)))
#define LOAD(p)                                                                                    \
    const __m512 x = _mm512_load_ps((p)->x), y = _mm512_load_ps((p)->y), z = _mm512_load_ps((p)->z)

TARGET static void move(const flr_fit_move *m, const flr_fit_lanes *from, flr_fit_lanes *to)
{
    LOAD(from);
    _mm512_store_ps(to->x, ALONG(m->turn[0], m->shift[0]));
    _mm512_store_ps(to->y, ALONG(m->turn[1], m->shift[1]));
    _mm512_store_ps(to->z, ALONG(m->turn[2], m->shift[2]));
}

TARGET static void bounds(const flr_fit_lanes *p, float low[3], float high[3])
{
    LOAD(p);
    low[0] = _mm512_reduce_min_ps(x), high[0] = _mm512_reduce_max_ps(x);
    low[1] = _mm512_reduce_min_ps(y), high[1] = _mm512_reduce_max_ps(y);
    low[2] = _mm512_reduce_min_ps(z), high[2] = _mm512_reduce_max_ps(z);
}

/* The least of four times 16 numbers. */
TARGET static inline __m128 least_of_four(__m512 a, __m512 b, __m512 c, __m512 d)
{
    const __m512 ab = _mm512_min_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b)),
                 cd = _mm512_min_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d)),
                 all = _mm512_min_ps(_mm512_shuffle_ps(ab, cd, 0x44),
                                     _mm512_shuffle_ps(ab, cd, 0xee));
    const __m256 half = _mm256_min_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1));
    return _mm_min_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

TARGET static void extents(const flr_fit_move *m, const flr_fit_lanes *p, float low[4],
                           float high[4])
{
    LOAD(p);
    const __m512 a = ALONG(m->turn[0], m->shift[0]), b = ALONG(m->turn[1], m->shift[1]),
                 c = ALONG(m->turn[2], m->shift[2]);
    const __m512 sign = ALL(-0.0f), na = _mm512_xor_ps(a, sign), nb = _mm512_xor_ps(b, sign),
                 nc = _mm512_xor_ps(c, sign);
    _mm_storeu_ps(low, least_of_four(a, b, c, c));
    _mm_storeu_ps(high, _mm_xor_ps(least_of_four(na, nb, nc, nc), _mm_set1_ps(-0.0f)));
}

#define SHIFTED(p, shift)                                                                          \
    const __m512 x = ADD(_mm512_load_ps((p)->x), ALL((shift)[0])),                                 \
                 y = ADD(_mm512_load_ps((p)->y), ALL((shift)[1])),                                 \
                 z = ADD(_mm512_load_ps((p)->z), ALL((shift)[2]))

TARGET static uint32_t sides(const flr_fit_plane *planes, const flr_fit_face *faces, uint32_t count,
                             const flr_fit_lanes *points, const float shift[3], float limit,
                             flr_fit_masks *masks)
{
    SHIFTED(points, shift);
    const __m512 over = ALL(limit), under = ALL(-limit), one = ALL(1.0f);
    uint32_t near = 0, kept = 0;
    for (uint32_t f = 0; f < count; f++) {
        const __m512 s = ALONG(planes[f].n, -planes[f].o);
        const __mmask16 above = _mm512_cmp_ps_mask(s, over, _CMP_GE_OQ),
                        below = _mm512_cmp_ps_mask(s, under, _CMP_LE_OQ);
        uint16_t *to = masks->beyond[f];
        to[0] = above, to[1] = below, to[2] = to[3] = to[4] = 0;
        near |= (uint32_t)(above != 0xffff && below != 0xffff) << f;
    }
    for (; near; near &= near - 1) {
        const int f = __builtin_ctz(near);
        const flr_fit_face *face = &faces[f];
        const __m512 a = ALONG(face->u, face->u0), b = ALONG(face->v, face->v0),
                     c = _mm512_sub_ps(_mm512_sub_ps(one, a), b);
        const __mmask16 ku = _mm512_cmp_ps_mask(MUL(a, ALL(face->height[0])), under, _CMP_LE_OQ),
                        kv = _mm512_cmp_ps_mask(MUL(b, ALL(face->height[1])), under, _CMP_LE_OQ),
                        kw = _mm512_cmp_ps_mask(MUL(c, ALL(face->height[2])), under, _CMP_LE_OQ);
        uint16_t *to = masks->beyond[f];
        to[2] = ku, to[3] = kv, to[4] = kw;
        kept |= (uint32_t)(ku != 0xffff && kv != 0xffff && kw != 0xffff) << f;
    }
    return kept;
}

TARGET static uint32_t corners(const uint16_t corners[], const uint16_t beyond[])
{
    const __m256i all = _mm256_loadu_si256((const __m256i *)corners);
    uint32_t kept = 0xffff;
    for (int k = 0; k < FLR_FIT_SIDES; k++)
        kept &= _mm256_test_epi16_mask(all, _mm256_set1_epi16((int16_t)~beyond[k]));
    return kept;
}

TARGET static uint32_t apart(const flr_fit_patch *patch, const flr_fit_lanes *points,
                             const float shift[3], float limit, bool all)
{
    SHIFTED(points, shift);
    uint32_t found = 0;
    for (int k = 0; k < 3 && (all || !found); k++) {
        const __m512 at = ALONG(patch->axes[k], 0.0f);
        const __mmask16 above = _mm512_cmp_ps_mask(at, ALL(patch->high[k] + limit), _CMP_GE_OQ),
                        below = _mm512_cmp_ps_mask(at, ALL(patch->low[k] - limit), _CMP_LE_OQ);
        found |= ((uint32_t)(above == 0xffff) | (uint32_t)(below == 0xffff) << 1) << 2 * k;
    }
    return found;
}

TARGET static uint32_t within(const flr_fit_patch *patch, const flr_fit_lanes *points, float limit)
{
    LOAD(points);
    __mmask16 in = 0xffff;
    for (int k = 0; k < 3; k++) {
        const __m512 at = ALONG(patch->axes[k], 0.0f);
        in &= _mm512_cmp_ps_mask(at, ALL(patch->high[k] + limit), _CMP_LE_OQ) &
              _mm512_cmp_ps_mask(at, ALL(patch->low[k] - limit), _CMP_GE_OQ);
    }
    return in;
}

TARGET static uint32_t near(const flr_fit_plane *planes, const flr_fit_face *faces, uint32_t count,
                            const flr_fit_lanes *p, const float limit2[], float d2[][FLR_FIT_LANES],
                            float best[], int32_t at[])
{
    LOAD(p);
    const __m512 zero = _mm512_setzero_ps(), limit = _mm512_loadu_ps(limit2);
    __m512 least = limit;
    __m512i which = _mm512_set1_epi32(-1);
    uint32_t kept = 0;
    for (uint32_t k = 0; k < count; k++) {
        const flr_fit_face *f = &faces[k];
        const __m512 s = ALONG(planes[k].n, -planes[k].o), s2 = MUL(s, s);
        if (!_mm512_cmp_ps_mask(s2, limit, _CMP_LT_OQ)) continue;
        const __m512 a = ALONG(f->u, f->u0), b = ALONG(f->v, f->v0),
                     c = _mm512_sub_ps(_mm512_sub_ps(ALL(1.0f), a), b);
        const __m512 out =
            _mm512_max_ps(_mm512_max_ps(MUL(_mm512_sub_ps(zero, a), ALL(f->height[0])),
                                        MUL(_mm512_sub_ps(zero, b), ALL(f->height[1]))),
                          _mm512_max_ps(MUL(_mm512_sub_ps(zero, c), ALL(f->height[2])), zero));
        const __m512 all = ADD(s2, MUL(out, out));
        kept |= (uint32_t)(_mm512_cmp_ps_mask(all, limit, _CMP_LT_OQ) != 0) << k;
        const __mmask16 less = _mm512_cmp_ps_mask(all, least, _CMP_LT_OQ);
        least = _mm512_mask_mov_ps(least, less, all);
        which = _mm512_mask_set1_epi32(which, less, (int)k);
        _mm512_storeu_ps(d2[k], all);
    }
    _mm512_storeu_ps(best, least);
    _mm512_storeu_si512(at, which);
    return kept;
}

TARGET static void nearer(uint32_t kept, const float d2[][FLR_FIT_LANES], const float limit2[],
                          const int32_t at[], uint16_t masks[])
{
    const __m512 limit = _mm512_loadu_ps(limit2);
    const __m512i which = _mm512_loadu_si512(at);
    for (; kept; kept &= kept - 1) {
        const int f = __builtin_ctz(kept);
        masks[f] = _mm512_cmp_ps_mask(_mm512_loadu_ps(d2[f]), limit, _CMP_LT_OQ) &
                   _mm512_cmpneq_epi32_mask(which, _mm512_set1_epi32(f));
    }
}

TARGET static uint32_t unsure(const float *bounds, const float *sure, uint32_t count, float limit,
                              float way, float need, uint32_t *near)
{
    const __mmask16 there = (__mmask16)((1u << count) - 1);
    const __m512 left = _mm512_sub_ps(_mm512_maskz_loadu_ps(there, sure), ALL(way));
    const __mmask16 below = _mm512_mask_cmp_ps_mask(there, _mm512_maskz_loadu_ps(there, bounds),
                                                    ALL(limit), _CMP_LT_OQ);
    *near = below;
    return below & ~(uint32_t)_mm512_cmp_ps_mask(left, ALL(need), _CMP_GE_OQ);
}

TARGET static float heights(const float axes[3][3], const float curve[5],
                            const flr_fit_lanes *points, const float shift[3], float side,
                            float off)
{
    SHIFTED(points, shift);
    const __m512 up = ALONG(axes[0], 0.0f), u = ALONG(axes[1], 0.0f), v = ALONG(axes[2], 0.0f);
    const __m512 bent =
        MUL(u, ADD(ADD(ALL(curve[0]), MUL(ALL(curve[2]), u)), MUL(ALL(curve[3]), v)));
    const __m512 h =
        _mm512_sub_ps(_mm512_sub_ps(up, bent), MUL(v, ADD(ALL(curve[1]), MUL(ALL(curve[4]), v))));
    const __m512 gx = ADD(ADD(ALL(curve[0]), MUL(ALL(curve[2] + curve[2]), u)),
                          MUL(ALL(curve[3]), v)),
                 gy = ADD(ADD(ALL(curve[1]), MUL(ALL(curve[4] + curve[4]), v)),
                          MUL(ALL(curve[3]), u)),
                 steep2 = ADD(MUL(gx, gx), MUL(gy, gy));
    if (_mm512_cmp_ps_mask(steep2, ALL(FLR_FIT_STEEP2), _CMP_LT_OQ) != 0xffff) return -INFINITY;
    return _mm512_reduce_min_ps(_mm512_div_ps(_mm512_sub_ps(MUL(ALL(side), h), ALL(off)),
                                              _mm512_sqrt_ps(ADD(ALL(1.0f), steep2))));
}

TARGET static float extent(const float n[3], const flr_fit_lanes *points, const float shift[3])
{
    SHIFTED(points, shift);
    return _mm512_reduce_min_ps(ALONG(n, 0.0f));
}

TARGET static float over(const flr_fit_plane *planes, uint32_t count, const flr_fit_lanes *points,
                         const float shift[3], float side)
{
    SHIFTED(points, shift);
    __m512 least = ALL(INFINITY);
    for (uint32_t f = 0; f < count; f++)
        least = _mm512_min_ps(least, MUL(ALL(side), ALONG(planes[f].n, -planes[f].o)));
    return _mm512_reduce_min_ps(least);
}

TARGET static uint32_t boxes(const flr_fit_boxes *b, const float low[3], const float high[3])
{
    uint32_t kept = 0xff;
    for (int k = 0; k < 3; k++) {
        const __m256 l = _mm256_load_ps(b->low[k]), h = _mm256_load_ps(b->high[k]);
        kept &= _mm256_cmp_ps_mask(l, _mm256_set1_ps(high[k]), _CMP_LE_OQ) &
                _mm256_cmp_ps_mask(h, _mm256_set1_ps(low[k]), _CMP_GE_OQ);
    }
    return kept;
}

TARGET static uint32_t box_distances(const flr_fit_boxes *b, const float point[3], float limit2,
                                     float d2[FLR_FIT_WIDE])
{
    __m256 sum = _mm256_setzero_ps();
    for (int k = 0; k < 3; k++) {
        const __m256 at = _mm256_set1_ps(point[k]),
                     below = _mm256_sub_ps(_mm256_load_ps(b->low[k]), at),
                     above = _mm256_sub_ps(at, _mm256_load_ps(b->high[k])),
                     gap = _mm256_max_ps(_mm256_max_ps(below, above), _mm256_setzero_ps());
        sum = _mm256_add_ps(sum, _mm256_mul_ps(gap, gap));
    }
    _mm256_storeu_ps(d2, sum);
    return _mm256_cmp_ps_mask(sum, _mm256_set1_ps(limit2), _CMP_LT_OQ);
}

const flr_fit_kernel flr_fit_kernel_avx512 = {move,    bounds, extents, sides,  corners,
                                              apart,   within, near,    nearer, unsure,
                                              heights, extent, over,    boxes,  box_distances};
#endif
