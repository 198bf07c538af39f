/* 16 triangles or boxes at a time */
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
/* of some lanes, those whose interval the segment reaches */
#define REACHED(lanes, a, b, from, to)                                                             \
    _mm256_mask_cmpge_epi16_mask(                                                                  \
        _mm256_mask_cmple_epi16_mask(lanes, _mm256_min_epi16(a, b), _mm256_add_epi16(to, slack)),  \
        _mm256_max_epi16(a, b), _mm256_sub_epi16(from, slack))

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

typedef struct segment {
    const flr_probe_local *local;
    __m512i
        first; /* of its box: each side the farthest that still meets it, 16 times; four sides */
    __m256i second; /* and two */
    __m128i words;  /* both ends */
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
    s->first = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(packed),
                                   _mm512_set_epi64(0x0404040404040404, 0x0404040404040404,
                                                    0x0202020202020202, 0x0202020202020202,
                                                    0x0101010101010101, 0x0101010101010101, 0, 0));
    s->second = _mm256_shuffle_epi8(_mm256_broadcast_i32x4(packed),
                                    _mm256_set_epi64x(0x0606060606060606, 0x0606060606060606,
                                                      0x0505050505050505, 0x0505050505050505));
    s->words = _mm_packs_epi32(a, b);
    s->local = local;
}

TARGET static inline uint32_t meet(const uint8_t box[6][FLR_PROBE_LANES], const segment *s)
{
    uint64_t met = _mm512_cmple_epu8_mask(_mm512_loadu_si512(box[0]), s->first);
    met &= met >> 32 & _mm256_cmple_epu8_mask(LOAD16(box[4]), s->second);
    return (uint32_t)(met & met >> 16);
}

TARGET static inline uint32_t pass(const flr_probe_block *block, const segment *s, uint32_t mask)
{
    __m256i ax = WORD(s->words, 0), ay = WORD(s->words, 1), az = WORD(s->words, 2);
    __m256i bx = WORD(s->words, 4), by = WORD(s->words, 5), bz = WORD(s->words, 6);
    const __m256i slack = _mm256_set1_epi16(FLR_PROBE_SLACK);
    __m256i pa = ALONG(block->normal, a), pb = ALONG(block->normal, b);
    __m256i offset = LOAD16(block->offset);
    __mmask16 found = REACHED((__mmask16)mask, pa, pb, offset, offset);
    if (!found) return 0;
    __m256i sa = ALONG(block->side, a), sb = ALONG(block->side, b);
    return REACHED(found, sa, sb, LOAD16(block->side_low), LOAD16(block->side_high));
}

TARGET static inline bool any_of(const flr_long4 *lanes)
{
    return _mm256_movemask_pd((__m256d)*lanes) & 7;
}

#define GATHER_BLOCKS flr_gather_avx512
#define NEAR_SEGMENT  flr_near_avx512
#include "probe/near.h"

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

TARGET uint32_t flr_node_avx512(const flr_probe_node *node, const flr_probe_span *span)
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
#endif
