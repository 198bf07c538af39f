/* 16 triangles, or 8 boxes, at a time */
#include "probe/probe_kernel.h"

#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
#include <immintrin.h>

#define LOAD(p)   _mm_loadu_si128((const __m128i *)(p))
#define LOAD16(p) _mm256_loadu_si256((const __m256i *)(p))
/* one 16-bit number in all lanes */
#define WORD(from, i) _mm256_broadcastw_epi16(_mm_srli_si128(from, 2 * (i)))
/* where an end lies along 16 directions */
#define ALONG(direction, end)                                                                      \
    _mm256_add_epi16(_mm256_add_epi16(_mm256_mulhrs_epi16(LOAD16((direction)[0]), end##x),         \
                                      _mm256_mulhrs_epi16(LOAD16((direction)[1]), end##y)),        \
                     _mm256_mulhrs_epi16(LOAD16((direction)[2]), end##z))
/* lanes whose interval the segment does not reach: all ones */
#define APART(a, b, from, to)                                                                      \
    _mm256_or_si256(_mm256_cmpgt_epi16(_mm256_min_epi16(a, b), _mm256_add_epi16(to, slack)),       \
                    _mm256_cmpgt_epi16(_mm256_sub_epi16(from, slack), _mm256_max_epi16(a, b)))

#define TARGET __attribute__((target("avx2")))

typedef struct segment {
    const flr_probe_local *local;
    __m256i sides[3]; /* of its box: each the farthest that still meets it, 16 times */
    __m128i words;    /* both ends */
} segment;

TARGET static inline void prepare(const flr_probe_local *local, segment *s)
{
    /* the segment's box, a fine unit larger for rounding; packing cuts to 0 … 255 */
    __m128i a = LOAD(&local->a), b = LOAD(&local->b);
    __m128i low =
        _mm_srai_epi32(_mm_add_epi32(_mm_min_epi32(a, b), _mm_set1_epi32(FLR_PROBE_HALF - 1)), 3);
    __m128i high =
        _mm_srai_epi32(_mm_add_epi32(_mm_max_epi32(a, b), _mm_set1_epi32(FLR_PROBE_HALF + 1)), 3);
    __m128i packed = _mm_packs_epi32(high, low);
    packed = _mm_xor_si128(_mm_packus_epi16(packed, packed), _mm_set_epi32(-1, 0, -1, 0));
    __m256i box = _mm256_broadcastsi128_si256(packed);
    const __m256i half = _mm256_inserti128_si256(_mm256_setzero_si256(), _mm_set1_epi8(1), 1);
    s->sides[0] = _mm256_shuffle_epi8(box, half);
    s->sides[1] =
        _mm256_shuffle_epi8(box, _mm256_add_epi8(_mm256_set1_epi8(2), _mm256_add_epi8(half, half)));
    s->sides[2] = _mm256_shuffle_epi8(box, _mm256_add_epi8(_mm256_set1_epi8(5), half));
    s->words = _mm_packs_epi32(a, b);
    s->local = local;
}

TARGET static inline uint32_t meet(const uint8_t box[6][FLR_PROBE_LANES], const segment *s)
{
    __m256i met = _mm256_set1_epi8(-1);
    for (int k = 0; k < 3; k++) {
        __m256i rows = LOAD16(box[2 * k]);
        met = _mm256_and_si256(met, _mm256_cmpeq_epi8(_mm256_min_epu8(rows, s->sides[k]), rows));
    }
    uint32_t mask = (uint32_t)_mm256_movemask_epi8(met);
    return mask & mask >> 16;
}

TARGET static inline uint32_t pass(const flr_probe_block *block, const segment *s, uint32_t mask)
{
    __m256i ax = WORD(s->words, 0), ay = WORD(s->words, 1), az = WORD(s->words, 2);
    __m256i bx = WORD(s->words, 4), by = WORD(s->words, 5), bz = WORD(s->words, 6);
    const __m256i slack = _mm256_set1_epi16(FLR_PROBE_SLACK);
    __m256i pa = ALONG(block->normal, a), pb = ALONG(block->normal, b);
    __m256i sa = ALONG(block->side, a), sb = ALONG(block->side, b);
    __m256i offset = LOAD16(block->offset);
    __m256i apart =
        _mm256_or_si256(APART(pa, pb, offset, offset),
                        APART(sa, sb, LOAD16(block->side_low), LOAD16(block->side_high)));
    /* 16-bit lanes to bytes, in order */
    __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(apart), _mm256_extracti128_si256(apart, 1));
    return mask & ~(uint32_t)_mm_movemask_epi8(bytes);
}

TARGET static inline bool any_of(const flr_long4 *lanes)
{
    return _mm256_movemask_pd((__m256d)*lanes) & 7;
}

#define GATHER_BLOCKS flr_gather_avx2
#define NEAR_SEGMENT  flr_near_avx2
#include "probe/near.h"

/* The order of operations is that of the scalar version, so that both round alike. */
#define ROW(vector, number)                                                                        \
    _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps((vector)[0], AXIS(number, 0)),                       \
                                _mm256_mul_ps((vector)[1], AXIS(number, 1))),                      \
                  _mm256_mul_ps((vector)[2], AXIS(number, 2)))
#define AXIS(number, part) _mm256_loadu_ps(&node->axis[number][part][i])
#define HALF(axis)         _mm256_loadu_ps(&node->half[axis][i])
#define ABS(x)             _mm256_andnot_ps(sign, x)
#define CROSS(u, v)                                                                                \
    _mm256_cmp_ps(                                                                                 \
        ABS(_mm256_sub_ps(_mm256_mul_ps(m[u], w[v]), _mm256_mul_ps(m[v], w[u]))),                  \
        _mm256_mul_ps(_mm256_add_ps(_mm256_mul_ps(HALF(u), _mm256_add_ps(ABS(w[v]), slack)),       \
                                    _mm256_mul_ps(HALF(v), _mm256_add_ps(ABS(w[u]), slack))),      \
                      round_up),                                                                   \
        _CMP_GT_OQ)

TARGET uint32_t flr_node_avx2(const flr_probe_node *node, const flr_probe_span *span)
{
    const __m256 sign = _mm256_set1_ps(-0.0f), slack = _mm256_set1_ps(span->slack),
                 round_up = _mm256_set1_ps(FLR_PROBE_ROUND_UP);
    uint32_t mask = 0;
    for (int i = 0; i < FLR_PROBE_LANES; i += 8) {
        __m256 d[3], h[3], m[3], w[3], apart = _mm256_setzero_ps();
        for (int k = 0; k < 3; k++) {
            d[k] = _mm256_sub_ps(_mm256_set1_ps(span->middle[k]),
                                 _mm256_loadu_ps(&node->centre[k][i]));
            h[k] = _mm256_set1_ps(span->half[k]);
        }
        for (int k = 0; k < 3; k++) {
            m[k] = ROW(d, k);
            w[k] = ROW(h, k);
            apart = _mm256_or_ps(
                apart, _mm256_cmp_ps(ABS(m[k]), _mm256_add_ps(ABS(w[k]), HALF(k)), _CMP_GT_OQ));
        }
        if (_mm256_movemask_ps(apart) == 255) continue;
        apart = _mm256_or_ps(apart, CROSS(1, 2));
        apart = _mm256_or_ps(apart, CROSS(2, 0));
        apart = _mm256_or_ps(apart, CROSS(0, 1));
        mask |= (uint32_t)(~_mm256_movemask_ps(apart) & 255) << i;
    }
    return mask;
}
#endif
