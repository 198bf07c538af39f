/* 16 triangles, or 8 boxes, at a time */
#include "probe/kernel.h"

#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
#include <immintrin.h>

#define LOAD(p)   _mm_loadu_si128((const __m128i *)(p))
#define LOAD16(p) _mm256_loadu_si256((const __m256i *)(p))
/* one byte, or one 16-bit number, in all lanes */
#define BYTE(from, i) _mm_shuffle_epi8(from, _mm_set1_epi8(i))
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

__attribute__((target("avx2"))) uint32_t flr_block_avx2(const flr_probe_block *blocks,
                                                        uint32_t count,
                                                        const flr_probe_local *local,
                                                        uint32_t *mask)
{
    /* the segment's box, a fine unit larger for rounding; packing cuts to 0 … 255 */
    __m128i a = LOAD(&local->a), b = LOAD(&local->b);
    __m128i low =
        _mm_srai_epi32(_mm_add_epi32(_mm_min_epi32(a, b), _mm_set1_epi32(FLR_PROBE_HALF - 1)), 3);
    __m128i high =
        _mm_srai_epi32(_mm_add_epi32(_mm_max_epi32(a, b), _mm_set1_epi32(FLR_PROBE_HALF + 1)), 3);
    __m128i ends = _mm_packs_epi32(low, high), box = _mm_packus_epi16(ends, ends);
    __m128i from[3] = {BYTE(box, 0), BYTE(box, 1), BYTE(box, 2)},
            to[3] = {BYTE(box, 4), BYTE(box, 5), BYTE(box, 6)};
    __m128i words = _mm_packs_epi32(a, b);
    __m256i ax = WORD(words, 0), ay = WORD(words, 1), az = WORD(words, 2);
    __m256i bx = WORD(words, 4), by = WORD(words, 5), bz = WORD(words, 6);
    const __m256i slack = _mm256_set1_epi16(FLR_PROBE_SLACK);
    for (uint32_t i = 0; i < count; i++) {
        const flr_probe_block *block = &blocks[i];
        __m128i near = _mm_set1_epi8(-1);
        for (int k = 0; k < 3; k++) {
            __m128i bl = LOAD(block->low[k]), bh = LOAD(block->high[k]);
            near =
                _mm_and_si128(near, _mm_and_si128(_mm_cmpeq_epi8(_mm_min_epu8(bl, to[k]), bl),
                                                  _mm_cmpeq_epi8(_mm_max_epu8(bh, from[k]), bh)));
        }
        uint32_t found = (uint32_t)_mm_movemask_epi8(near);
        if (!found) continue;
        __m256i pa = ALONG(block->normal, a), pb = ALONG(block->normal, b);
        __m256i sa = ALONG(block->side, a), sb = ALONG(block->side, b);
        __m256i offset = LOAD16(block->offset);
        __m256i apart =
            _mm256_or_si256(APART(pa, pb, offset, offset),
                            APART(sa, sb, LOAD16(block->side_low), LOAD16(block->side_high)));
        /* 16-bit lanes to bytes, in order */
        __m128i bytes =
            _mm_packs_epi16(_mm256_castsi256_si128(apart), _mm256_extracti128_si256(apart, 1));
        found &= ~(uint32_t)_mm_movemask_epi8(bytes);
        if (!found) continue;
        *mask = found;
        return i;
    }
    return count;
}

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

__attribute__((target("avx2"))) uint32_t flr_node_avx2(const flr_probe_node *node,
                                                       const flr_probe_span *span)
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
#else
uint32_t flr_block_avx2(const flr_probe_block *blocks, uint32_t count, const flr_probe_local *local,
                        uint32_t *mask)
{
    return flr_block_scalar(blocks, count, local, mask);
}
uint32_t flr_node_avx2(const flr_probe_node *node, const flr_probe_span *span)
{
    return flr_node_scalar(node, span);
}
#endif
