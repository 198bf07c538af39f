/* eight points at a time */
#include <math.h>

#include "fit/fit_kernel.h"

#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define ALL(a) _mm256_set1_ps(a)
#define MUL    _mm256_mul_ps
#define ADD    _mm256_add_ps
#define SUB    _mm256_sub_ps
/* (n0 x + n1 y) + (n2 z + plus) */
#define ALONG(n, plus)                                                                             \
    ADD(ADD(MUL(ALL((n)[0]), x), MUL(ALL((n)[1]), y)), ADD(MUL(ALL((n)[2]), z), ALL(plus)))
#define LOAD(p, i)                                                                                 \
    const __m256 x = _mm256_load_ps((p)->x + (i)), y = _mm256_load_ps((p)->y + (i)),               \
                 z = _mm256_load_ps((p)->z + (i))
#define BITS(a, b, how) ((unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, b, how)))

TARGET static void move(const flr_fit_move *m, const flr_fit_lanes *from, flr_fit_lanes *to)
{
    for (int i = 0; i < FLR_FIT_LANES; i += 8) {
        LOAD(from, i);
        _mm256_store_ps(to->x + i, ALONG(m->turn[0], m->shift[0]));
        _mm256_store_ps(to->y + i, ALONG(m->turn[1], m->shift[1]));
        _mm256_store_ps(to->z + i, ALONG(m->turn[2], m->shift[2]));
    }
}

TARGET static inline float least_of(__m256 m)
{
    m = _mm256_min_ps(m, _mm256_permute2f128_ps(m, m, 1));
    m = _mm256_min_ps(m, _mm256_permute_ps(m, 0x4e));
    return _mm256_cvtss_f32(_mm256_min_ps(m, _mm256_permute_ps(m, 0xb1)));
}

TARGET static inline float largest_of(__m256 m)
{
    m = _mm256_max_ps(m, _mm256_permute2f128_ps(m, m, 1));
    m = _mm256_max_ps(m, _mm256_permute_ps(m, 0x4e));
    return _mm256_cvtss_f32(_mm256_max_ps(m, _mm256_permute_ps(m, 0xb1)));
}

TARGET static inline float least(const float *p)
{
    return least_of(_mm256_min_ps(_mm256_load_ps(p), _mm256_load_ps(p + 8)));
}

TARGET static inline float largest(const float *p)
{
    return largest_of(_mm256_max_ps(_mm256_load_ps(p), _mm256_load_ps(p + 8)));
}

TARGET static void bounds(const flr_fit_lanes *p, float low[3], float high[3])
{
    low[0] = least(p->x), low[1] = least(p->y), low[2] = least(p->z);
    high[0] = largest(p->x), high[1] = largest(p->y), high[2] = largest(p->z);
}

TARGET static void extents(const flr_fit_move *m, const flr_fit_lanes *p, float low[4],
                           float high[4])
{
    for (int k = 0; k < 3; k++) {
        __m256 at[2];
        for (int i = 0; i < 2; i++) {
            LOAD(p, 8 * i);
            at[i] = ALONG(m->turn[k], m->shift[k]);
        }
        low[k] = least_of(_mm256_min_ps(at[0], at[1]));
        high[k] = largest_of(_mm256_max_ps(at[0], at[1]));
    }
    low[3] = low[2], high[3] = high[2];
}

/* eight points, moved */
#define SHIFTED(p, i, shift)                                                                       \
    const __m256 x = ADD(_mm256_load_ps((p)->x + (i)), ALL((shift)[0])),                           \
                 y = ADD(_mm256_load_ps((p)->y + (i)), ALL((shift)[1])),                           \
                 z = ADD(_mm256_load_ps((p)->z + (i)), ALL((shift)[2]))

TARGET static uint32_t sides(const flr_fit_plane *planes, const flr_fit_face *faces, uint32_t count,
                             const flr_fit_lanes *points, const float shift[3], float limit,
                             flr_fit_masks *masks)
{
    const __m256 over = ALL(limit), under = ALL(-limit), one = ALL(1.0f);
    uint32_t near = 0, kept = 0;
    for (uint32_t f = 0; f < count; f++)
        for (int k = 0; k < FLR_FIT_SIDES; k++) masks->beyond[f][k] = 0;
    for (int i = 0; i < FLR_FIT_LANES; i += 8) {
        SHIFTED(points, i, shift);
        for (uint32_t f = 0; f < count; f++) {
            const __m256 s = ALONG(planes[f].n, -planes[f].o);
            masks->beyond[f][0] |= (uint16_t)(BITS(s, over, _CMP_GE_OQ) << i);
            masks->beyond[f][1] |= (uint16_t)(BITS(s, under, _CMP_LE_OQ) << i);
        }
    }
    for (uint32_t f = 0; f < count; f++)
        near |= (uint32_t)(masks->beyond[f][0] != 0xffff && masks->beyond[f][1] != 0xffff) << f;
    for (int i = 0; i < FLR_FIT_LANES && near; i += 8) {
        SHIFTED(points, i, shift);
        for (uint32_t left = near; left; left &= left - 1) {
            const int f = __builtin_ctz(left);
            const flr_fit_face *face = &faces[f];
            const __m256 a = ALONG(face->u, face->u0), b = ALONG(face->v, face->v0),
                         c = SUB(SUB(one, a), b);
            const __m256 out[3] = {MUL(a, ALL(face->height[0])), MUL(b, ALL(face->height[1])),
                                   MUL(c, ALL(face->height[2]))};
            for (int k = 0; k < 3; k++)
                masks->beyond[f][2 + k] |= (uint16_t)(BITS(out[k], under, _CMP_LE_OQ) << i);
        }
    }
    for (; near; near &= near - 1) {
        const int f = __builtin_ctz(near);
        const uint16_t *at = masks->beyond[f];
        kept |= (uint32_t)(at[2] != 0xffff && at[3] != 0xffff && at[4] != 0xffff) << f;
    }
    return kept;
}

TARGET static uint32_t corners(const uint16_t corners[], const uint16_t beyond[])
{
    const __m256i all = _mm256_loadu_si256((const __m256i *)corners), zero = _mm256_setzero_si256();
    __m256i gone = zero;
    for (int k = 0; k < FLR_FIT_SIDES; k++)
        gone = _mm256_or_si256(
            gone, _mm256_cmpeq_epi16(_mm256_and_si256(all, _mm256_set1_epi16((int16_t)~beyond[k])),
                                     zero));
    const __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(gone), _mm256_extracti128_si256(gone, 1));
    return 0xffff & ~(unsigned)_mm_movemask_epi8(bytes);
}

TARGET static uint32_t apart(const flr_fit_patch *patch, const flr_fit_lanes *points,
                             const float shift[3], float limit, bool all)
{
    uint32_t found = 0;
    for (int k = 0; k < 3 && (all || !found); k++) {
        const __m256 high = ALL(patch->high[k] + limit), low = ALL(patch->low[k] - limit);
        unsigned above = 0xff, below = 0xff;
        for (int i = 0; i < FLR_FIT_LANES; i += 8) {
            SHIFTED(points, i, shift);
            const __m256 at = ALONG(patch->axes[k], 0.0f);
            above &= BITS(at, high, _CMP_GE_OQ);
            below &= BITS(at, low, _CMP_LE_OQ);
        }
        found |= ((uint32_t)(above == 0xff) | (uint32_t)(below == 0xff) << 1) << 2 * k;
    }
    return found;
}

TARGET static uint32_t within(const flr_fit_patch *patch, const flr_fit_lanes *points, float limit)
{
    uint32_t kept = 0;
    for (int i = 0; i < FLR_FIT_LANES; i += 8) {
        LOAD(points, i);
        unsigned in = 0xff;
        for (int k = 0; k < 3; k++) {
            const __m256 at = ALONG(patch->axes[k], 0.0f);
            in &= BITS(at, ALL(patch->high[k] + limit), _CMP_LE_OQ) &
                  BITS(at, ALL(patch->low[k] - limit), _CMP_GE_OQ);
        }
        kept |= in << i;
    }
    return kept;
}

TARGET static uint32_t near(const flr_fit_plane *planes, const flr_fit_face *faces, uint32_t count,
                            const flr_fit_lanes *p, const float limit2[], float d2[][FLR_FIT_LANES],
                            float best[], int32_t at[])
{
    const __m256 zero = _mm256_setzero_ps();
    uint32_t kept = 0;
    for (int i = 0; i < FLR_FIT_LANES; i += 8) {
        LOAD(p, i);
        const __m256 limit = _mm256_loadu_ps(limit2 + i);
        __m256 least = limit, which = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
        for (uint32_t k = 0; k < count; k++) {
            const flr_fit_face *f = &faces[k];
            const __m256 s = ALONG(planes[k].n, -planes[k].o), a = ALONG(f->u, f->u0),
                         b = ALONG(f->v, f->v0), c = SUB(SUB(ALL(1.0f), a), b);
            const __m256 out =
                _mm256_max_ps(_mm256_max_ps(MUL(SUB(zero, a), ALL(f->height[0])),
                                            MUL(SUB(zero, b), ALL(f->height[1]))),
                              _mm256_max_ps(MUL(SUB(zero, c), ALL(f->height[2])), zero));
            const __m256 all = ADD(MUL(s, s), MUL(out, out)),
                         less = _mm256_cmp_ps(all, least, _CMP_LT_OQ);
            kept |= (uint32_t)(BITS(all, limit, _CMP_LT_OQ) != 0) << k;
            least = _mm256_blendv_ps(least, all, less);
            which = _mm256_blendv_ps(which, _mm256_castsi256_ps(_mm256_set1_epi32((int)k)), less);
            _mm256_storeu_ps(d2[k] + i, all);
        }
        _mm256_storeu_ps(best + i, least);
        _mm256_storeu_si256((__m256i *)(at + i), _mm256_castps_si256(which));
    }
    return kept;
}

TARGET static void nearer(uint32_t kept, const float d2[][FLR_FIT_LANES], const float limit2[],
                          const int32_t at[], uint16_t masks[])
{
    for (; kept; kept &= kept - 1) {
        const int f = __builtin_ctz(kept);
        unsigned mask = 0;
        for (int i = 0; i < FLR_FIT_LANES; i += 8) {
            const unsigned less =
                BITS(_mm256_loadu_ps(d2[f] + i), _mm256_loadu_ps(limit2 + i), _CMP_LT_OQ);
            const __m256i same = _mm256_cmpeq_epi32(_mm256_loadu_si256((const __m256i *)(at + i)),
                                                    _mm256_set1_epi32(f));
            mask |= (less & ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(same))) << i;
        }
        masks[f] = (uint16_t)mask;
    }
}

TARGET static uint32_t unsure(const float *bounds, const float *sure, uint32_t count, float limit,
                              float way, float need, uint32_t *near)
{
    uint32_t below = 0, there = 0, i = 0;
    for (; i + 8 <= count; i += 8) {
        below |= BITS(_mm256_loadu_ps(bounds + i), ALL(limit), _CMP_LT_OQ) << i;
        there |= BITS(SUB(_mm256_loadu_ps(sure + i), ALL(way)), ALL(need), _CMP_GE_OQ) << i;
    }
    for (; i < count; i++) {
        below |= (uint32_t)(bounds[i] < limit) << i;
        there |= (uint32_t)(sure[i] - way >= need) << i;
    }
    *near = below;
    return below & ~there;
}

TARGET static float heights(const float axes[3][3], const float curve[5],
                            const flr_fit_lanes *points, const float shift[3], float side,
                            float off)
{
    __m256 least = ALL(INFINITY);
    unsigned flat = 0xff;
    for (int i = 0; i < FLR_FIT_LANES; i += 8) {
        SHIFTED(points, i, shift);
        const __m256 up = ALONG(axes[0], 0.0f), u = ALONG(axes[1], 0.0f), v = ALONG(axes[2], 0.0f);
        const __m256 bent =
            MUL(u, ADD(ADD(ALL(curve[0]), MUL(ALL(curve[2]), u)), MUL(ALL(curve[3]), v)));
        const __m256 h = SUB(SUB(up, bent), MUL(v, ADD(ALL(curve[1]), MUL(ALL(curve[4]), v))));
        const __m256 gx = ADD(ADD(ALL(curve[0]), MUL(ALL(curve[2] + curve[2]), u)),
                              MUL(ALL(curve[3]), v)),
                     gy = ADD(ADD(ALL(curve[1]), MUL(ALL(curve[4] + curve[4]), v)),
                              MUL(ALL(curve[3]), u)),
                     steep2 = ADD(MUL(gx, gx), MUL(gy, gy));
        least = _mm256_min_ps(least, _mm256_div_ps(SUB(MUL(ALL(side), h), ALL(off)),
                                                   _mm256_sqrt_ps(ADD(ALL(1.0f), steep2))));
        flat &= BITS(steep2, ALL(FLR_FIT_STEEP2), _CMP_LT_OQ);
    }
    return flat == 0xff ? least_of(least) : -INFINITY;
}

TARGET static float extent(const float n[3], const flr_fit_lanes *points, const float shift[3])
{
    __m256 least = ALL(INFINITY);
    for (int i = 0; i < FLR_FIT_LANES; i += 8) {
        SHIFTED(points, i, shift);
        least = _mm256_min_ps(least, ALONG(n, 0.0f));
    }
    return least_of(least);
}

TARGET static float over(const flr_fit_plane *planes, uint32_t count, const flr_fit_lanes *points,
                         const float shift[3], float side)
{
    __m256 least = ALL(INFINITY);
    for (int i = 0; i < FLR_FIT_LANES; i += 8) {
        SHIFTED(points, i, shift);
        for (uint32_t f = 0; f < count; f++)
            least = _mm256_min_ps(least, MUL(ALL(side), ALONG(planes[f].n, -planes[f].o)));
    }
    return least_of(least);
}

TARGET static uint32_t boxes(const flr_fit_boxes *b, const float low[3], const float high[3])
{
    uint32_t kept = 0xff;
    for (int k = 0; k < 3; k++)
        kept &= BITS(_mm256_load_ps(b->low[k]), ALL(high[k]), _CMP_LE_OQ) &
                BITS(_mm256_load_ps(b->high[k]), ALL(low[k]), _CMP_GE_OQ);
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
    return BITS(sum, ALL(limit2), _CMP_LT_OQ);
}

const flr_fit_kernel flr_fit_kernel_avx2 = {move,    bounds, extents, sides,  corners,
                                            apart,   within, near,    nearer, unsure,
                                            heights, extent, over,    boxes,  box_distances};
#endif
