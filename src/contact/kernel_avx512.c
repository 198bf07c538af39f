/* looking up 16 points at a time */
#include "contact/kernel.h"

#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
#include <immintrin.h>

#include "voxel/voxmap_format.h"

/* The order of operations is that of the scalar version, so that both round alike. */
#define ROW(m)                                                                                     \
    _mm512_add_ps(_mm512_add_ps(_mm512_mul_ps(_mm512_set1_ps((m)[0]), x),                          \
                                _mm512_mul_ps(_mm512_set1_ps((m)[1]), y)),                         \
                  _mm512_add_ps(_mm512_mul_ps(_mm512_set1_ps((m)[2]), z), _mm512_set1_ps((m)[3])))
#define LOAD(p) _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, (p) + i)))
#define TURN(t)                                                                                    \
    _mm512_add_ps(_mm512_add_ps(_mm512_mul_ps(_mm512_set1_ps((t)[0]), u),                          \
                                _mm512_mul_ps(_mm512_set1_ps((t)[1]), v)),                         \
                  _mm512_mul_ps(_mm512_set1_ps((t)[2]), w))
#define FLOOR(at) _mm512_roundscale_ps(at, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define VOXEL(whole, axis)                                                                         \
    _mm512_add_epi32(_mm512_cvtps_epi32(whole), _mm512_set1_epi32(job->base[axis]))
/* lanes within the slack of a side of their voxel */
#define SIDE(at, whole)                                                                            \
    (_mm512_cmp_ps_mask(_mm512_sub_ps(at, whole), low, _CMP_LT_OQ) |                               \
     _mm512_cmp_ps_mask(_mm512_sub_ps(at, whole), high, _CMP_GT_OQ))

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) uint32_t
flr_scan_avx512(const flr_scan_job *job, uint16_t hits[32])
{
    const flr_flat_field *f = job->field;
    const __m512i seven = _mm512_set1_epi32(7), bits = _mm512_set1_epi32((int)f->bits),
                  zero = _mm512_setzero_si512();
    const __m512i free = _mm512_set1_epi32((int)job->free),
                  limit = _mm512_set1_epi32((int)job->limit);
    const __m512i mark_mask = _mm512_set1_epi32((int)((1u << f->bits) - 1)),
                  uniform = _mm512_set1_epi32((int)FLR_UNIFORM);
    const __m512 low = _mm512_set1_ps(job->slack), high = _mm512_set1_ps(1 - job->slack);
    const __m512 one = _mm512_set1_ps(1), unit = _mm512_set1_ps(1.0f / 32767),
                 sign = _mm512_set1_ps(-0.0f);
    __m512i least = free;
    for (uint32_t i = 0; i < job->count; i += 16) {
        __mmask16 lanes =
            (__mmask16)(job->count - i >= 16 ? 0xFFFFu : (1u << (job->count - i)) - 1);
        __m512 x = LOAD(job->x), y = LOAD(job->y), z = LOAD(job->z);
        __m512 ax = ROW(job->matrix[0]), ay = ROW(job->matrix[1]), az = ROW(job->matrix[2]);
        if (job->normal) {
            __m512i packed = _mm512_maskz_loadu_epi32(lanes, job->normal + i);
            __m512 u = _mm512_mul_ps(
                _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(packed, 16), 16)), unit);
            __m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_srai_epi32(packed, 16)), unit);
            __m512 w = _mm512_sub_ps(_mm512_sub_ps(one, _mm512_abs_ps(u)), _mm512_abs_ps(v));
            /* the lower half is folded over the edges of the square */
            __mmask16 folded = _mm512_cmp_ps_mask(w, _mm512_setzero_ps(), _CMP_LT_OQ);
            __m512 fu = _mm512_or_ps(_mm512_sub_ps(one, _mm512_abs_ps(v)), _mm512_and_ps(u, sign));
            __m512 fv = _mm512_or_ps(_mm512_sub_ps(one, _mm512_abs_ps(u)), _mm512_and_ps(v, sign));
            u = _mm512_mask_mov_ps(u, folded, fu);
            v = _mm512_mask_mov_ps(v, folded, fv);
            __m512 length = _mm512_sqrt_ps(_mm512_add_ps(
                _mm512_mul_ps(u, u), _mm512_add_ps(_mm512_mul_ps(v, v), _mm512_mul_ps(w, w))));
            u = _mm512_div_ps(u, length), v = _mm512_div_ps(v, length),
            w = _mm512_div_ps(w, length);
            ax = _mm512_add_ps(ax, TURN(job->turn[0]));
            ay = _mm512_add_ps(ay, TURN(job->turn[1]));
            az = _mm512_add_ps(az, TURN(job->turn[2]));
        }
        __m512 wx = FLOOR(ax), wy = FLOOR(ay), wz = FLOOR(az);
        __m512i vx = VOXEL(wx, 0), vy = VOXEL(wy, 1), vz = VOXEL(wz, 2);
        __mmask16 side = SIDE(ax, wx) | SIDE(ay, wy) | SIDE(az, wz);
        lanes = _mm512_mask_cmplt_epu32_mask(lanes, vx, _mm512_set1_epi32(f->size[0]));
        lanes = _mm512_mask_cmplt_epu32_mask(lanes, vy, _mm512_set1_epi32(f->size[1]));
        lanes = _mm512_mask_cmplt_epu32_mask(lanes, vz, _mm512_set1_epi32(f->size[2]));
        hits[i / 16] = 0;
        if (!lanes) continue;
        __m512i chunk = _mm512_add_epi32(
            _mm512_add_epi32(
                _mm512_srai_epi32(vx, 3),
                _mm512_mullo_epi32(_mm512_srai_epi32(vy, 3), _mm512_set1_epi32(f->stride[0]))),
            _mm512_mullo_epi32(_mm512_srai_epi32(vz, 3), _mm512_set1_epi32(f->stride[1])));
        __m512i entry = _mm512_mask_i32gather_epi32(uniform, lanes, chunk, f->chunks, 4);
        __m512i mark = _mm512_and_si512(entry, _mm512_set1_epi32(255));
        __mmask16 stored = _mm512_mask_testn_epi32_mask(lanes, entry, uniform);
        if (stored) {
            __m512i cell =
                _mm512_or_si512(_mm512_and_si512(vx, seven),
                                _mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(vy, seven), 3),
                                                _mm512_slli_epi32(_mm512_and_si512(vz, seven), 6)));
            __m512i bit = _mm512_mullo_epi32(cell, bits);
            __m512i word = _mm512_add_epi32(_mm512_mullo_epi32(entry, _mm512_slli_epi32(bits, 4)),
                                            _mm512_srli_epi32(bit, 5));
            __m512i found = _mm512_mask_i32gather_epi32(zero, stored, word, f->planes, 4);
            found = _mm512_and_si512(
                _mm512_srlv_epi32(found, _mm512_and_si512(bit, _mm512_set1_epi32(31))), mark_mask);
            mark = _mm512_mask_mov_epi32(mark, stored, found);
        }
        __mmask16 marked = _mm512_mask_test_epi32_mask(lanes, mark, mark);
        least = _mm512_mask_min_epu32(least, marked, least, mark);
        hits[i / 16] =
            (uint16_t)(_mm512_mask_cmple_epu32_mask(marked, mark, limit) | (lanes & side));
    }
    return _mm512_reduce_min_epu32(least);
}
#else
uint32_t flr_scan_avx512(const flr_scan_job *job, uint16_t hits[32])
{
    return flr_scan_scalar(job, hits);
}
#endif
