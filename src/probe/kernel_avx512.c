/* 16 triangles or boxes at a time */
#include "probe/kernel.h"

#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
#include <immintrin.h>

#define LOW(axis)    _mm_loadu_si128((const __m128i *)block->low[axis])
#define HIGH(axis)   _mm_loadu_si128((const __m128i *)block->high[axis])
#define NORMAL(axis) _mm256_loadu_si256((const __m256i *)block->normal[axis])
/* height of an end above the planes through the frame's middle */
#define HEIGHT(end)                                                                                \
    _mm256_add_epi16(_mm256_add_epi16(_mm256_mulhrs_epi16(nx, _mm256_set1_epi16((end)[0])),        \
                                      _mm256_mulhrs_epi16(ny, _mm256_set1_epi16((end)[1]))),       \
                     _mm256_mulhrs_epi16(nz, _mm256_set1_epi16((end)[2])))

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) uint32_t
flr_block_avx512(const flr_probe_block *block, const flr_probe_local *local)
{
    __mmask16 near = 0xFFFF;
    for (int axis = 0; axis < 3; axis++) {
        near = _mm_mask_cmple_epu8_mask(near, LOW(axis), _mm_set1_epi8((char)local->high[axis]));
        near = _mm_mask_cmpge_epu8_mask(near, HIGH(axis), _mm_set1_epi8((char)local->low[axis]));
    }
    if (!near) return 0;
    __m256i nx = NORMAL(0), ny = NORMAL(1), nz = NORMAL(2);
    __m256i a = HEIGHT(local->a), b = HEIGHT(local->b);
    __m256i offset = _mm256_loadu_si256((const __m256i *)block->offset);
    __m256i slack = _mm256_set1_epi16(FLR_PROBE_SLACK);
    near =
        _mm256_mask_cmple_epi16_mask(near, _mm256_min_epi16(a, b), _mm256_add_epi16(offset, slack));
    return _mm256_mask_cmpge_epi16_mask(near, _mm256_max_epi16(a, b),
                                        _mm256_sub_epi16(offset, slack));
}

/* The order of operations is that of the scalar version, so that both round alike. */
#define ROW(vector, number)                                                                        \
    _mm512_add_ps(_mm512_add_ps(_mm512_mul_ps((vector)[0], AXIS(number, 0)),                       \
                                _mm512_mul_ps((vector)[1], AXIS(number, 1))),                      \
                  _mm512_mul_ps((vector)[2], AXIS(number, 2)))
#define AXIS(number, part) _mm512_loadu_ps(node->axis[number][part])
#define HALF(axis)         _mm512_loadu_ps(node->half[axis])
#define CROSS(u, v)                                                                                \
    _mm512_mask_cmp_ps_mask(                                                                       \
        near, _mm512_abs_ps(_mm512_sub_ps(_mm512_mul_ps(m[u], w[v]), _mm512_mul_ps(m[v], w[u]))),  \
        _mm512_mul_ps(                                                                             \
            _mm512_add_ps(_mm512_mul_ps(HALF(u), _mm512_add_ps(_mm512_abs_ps(w[v]), slack)),       \
                          _mm512_mul_ps(HALF(v), _mm512_add_ps(_mm512_abs_ps(w[u]), slack))),      \
            round_up),                                                                             \
        _CMP_NGT_UQ)

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) uint32_t
flr_node_avx512(const flr_probe_node *node, const flr_probe_span *span)
{
    const __m512 slack = _mm512_set1_ps(span->slack), round_up = _mm512_set1_ps(FLR_PROBE_ROUND_UP);
    __m512 d[3], h[3], m[3], w[3];
    __mmask16 near = 0xFFFF;
    for (int k = 0; k < 3; k++) {
        d[k] = _mm512_sub_ps(_mm512_set1_ps(span->middle[k]), _mm512_loadu_ps(node->centre[k]));
        h[k] = _mm512_set1_ps(span->half[k]);
    }
    for (int k = 0; k < 3; k++) {
        m[k] = ROW(d, k);
        w[k] = ROW(h, k);
        near = _mm512_mask_cmp_ps_mask(near, _mm512_abs_ps(m[k]),
                                       _mm512_add_ps(_mm512_abs_ps(w[k]), HALF(k)), _CMP_NGT_UQ);
        if (!near) return 0;
    }
    near = CROSS(1, 2);
    near = CROSS(2, 0);
    near = CROSS(0, 1);
    return near;
}
#else
uint32_t flr_block_avx512(const flr_probe_block *block, const flr_probe_local *local)
{
    return flr_block_scalar(block, local);
}
uint32_t flr_node_avx512(const flr_probe_node *node, const flr_probe_span *span)
{
    return flr_node_scalar(node, span);
}
#endif
