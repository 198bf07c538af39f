/* 16 triangles, or 8 boxes, at a time */
#include "probe/kernel.h"

#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
#include <immintrin.h>

/* lanes whose interval overlaps the segment's along an axis: all ones */
#define OVERLAP(axis)                                                                              \
    _mm_and_si128(_mm_cmpeq_epi8(_mm_min_epu8(LOW(axis), _mm_set1_epi8((char)local->high[axis])),  \
                                 LOW(axis)),                                                       \
                  _mm_cmpeq_epi8(_mm_max_epu8(HIGH(axis), _mm_set1_epi8((char)local->low[axis])),  \
                                 HIGH(axis)))
#define LOW(axis)    _mm_loadu_si128((const __m128i *)block->low[axis])
#define HIGH(axis)   _mm_loadu_si128((const __m128i *)block->high[axis])
#define NORMAL(axis) _mm256_loadu_si256((const __m256i *)block->normal[axis])
/* height of an end above the planes through the frame's middle */
#define HEIGHT(end)                                                                                \
    _mm256_add_epi16(_mm256_add_epi16(_mm256_mulhrs_epi16(nx, _mm256_set1_epi16((end)[0])),        \
                                      _mm256_mulhrs_epi16(ny, _mm256_set1_epi16((end)[1]))),       \
                     _mm256_mulhrs_epi16(nz, _mm256_set1_epi16((end)[2])))

__attribute__((target("avx2"))) uint32_t flr_block_avx2(const flr_probe_block *block,
                                                        const flr_probe_local *local)
{
    __m128i near = _mm_and_si128(_mm_and_si128(OVERLAP(0), OVERLAP(1)), OVERLAP(2));
    uint32_t mask = (uint32_t)_mm_movemask_epi8(near);
    if (!mask) return 0;
    __m256i nx = NORMAL(0), ny = NORMAL(1), nz = NORMAL(2);
    __m256i a = HEIGHT(local->a), b = HEIGHT(local->b);
    __m256i offset = _mm256_loadu_si256((const __m256i *)block->offset);
    __m256i slack = _mm256_set1_epi16(FLR_PROBE_SLACK);
    __m256i apart = _mm256_or_si256(
        _mm256_cmpgt_epi16(_mm256_min_epi16(a, b), _mm256_add_epi16(offset, slack)),
        _mm256_cmpgt_epi16(_mm256_sub_epi16(offset, slack), _mm256_max_epi16(a, b)));
    /* 16-bit lanes to bytes, in order */
    __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(apart), _mm256_extracti128_si256(apart, 1));
    return mask & ~(uint32_t)_mm_movemask_epi8(bytes);
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
uint32_t flr_block_avx2(const flr_probe_block *block, const flr_probe_local *local)
{
    return flr_block_scalar(block, local);
}
uint32_t flr_node_avx2(const flr_probe_node *node, const flr_probe_span *span)
{
    return flr_node_scalar(node, span);
}
#endif
