/* looking up 8 points at a time */
#include "contact/kernel.h"

#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
#include <immintrin.h>

#include "voxel/voxmap_format.h"

/* The order of operations is that of the scalar version, so that both round alike. */
#define ROW(m)                                                                                     \
    _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(_mm256_set1_ps((m)[0]), x),                          \
                                _mm256_mul_ps(_mm256_set1_ps((m)[1]), y)),                         \
                  _mm256_add_ps(_mm256_mul_ps(_mm256_set1_ps((m)[2]), z), _mm256_set1_ps((m)[3])))
/* the shell's arrays are padded, so that 8 can always be read */
#define LOAD(p)                                                                                    \
    _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)((p) + i))))
#define TURN(t)                                                                                    \
    _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(_mm256_set1_ps((t)[0]), u),                          \
                                _mm256_mul_ps(_mm256_set1_ps((t)[1]), v)),                         \
                  _mm256_mul_ps(_mm256_set1_ps((t)[2]), w))
#define VOXEL(whole, axis)                                                                         \
    _mm256_add_epi32(_mm256_cvtps_epi32(whole), _mm256_set1_epi32(job->base[axis]))
/* lanes within the slack of a side of their voxel */
#define SIDE(at, whole)                                                                            \
    _mm256_or_ps(_mm256_cmp_ps(_mm256_sub_ps(at, whole), low, _CMP_LT_OQ),                         \
                 _mm256_cmp_ps(_mm256_sub_ps(at, whole), high, _CMP_GT_OQ))
/* 0 <= v < size, lane by lane; v and size are below 2^31 */
#define WITHIN(v, axis)                                                                            \
    _mm256_andnot_si256(_mm256_srai_epi32(v, 31),                                                  \
                        _mm256_cmpgt_epi32(_mm256_set1_epi32(f->size[axis]), v))

__attribute__((target("avx2"))) uint32_t flr_scan_avx2(const flr_scan_job *job, uint16_t hits[32])
{
    const flr_flat_field *f = job->field;
    const __m256i seven = _mm256_set1_epi32(7), bits = _mm256_set1_epi32((int)f->bits),
                  zero = _mm256_setzero_si256();
    const __m256i limit = _mm256_set1_epi32((int)job->limit),
                  lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i mark_mask = _mm256_set1_epi32((int)((1u << f->bits) - 1)),
                  uniform = _mm256_set1_epi32((int)FLR_UNIFORM);
    const __m256i free = _mm256_set1_epi32((int)job->free);
    const __m256 low = _mm256_set1_ps(job->slack), high = _mm256_set1_ps(1 - job->slack);
    const __m256 one = _mm256_set1_ps(1), unit = _mm256_set1_ps(1.0f / 32767),
                 sign = _mm256_set1_ps(-0.0f);
    __m256i least = free;
    for (uint32_t i = 0; i < job->count; i += 8) {
        __m256 x = LOAD(job->x), y = LOAD(job->y), z = LOAD(job->z);
        __m256 ax = ROW(job->matrix[0]), ay = ROW(job->matrix[1]), az = ROW(job->matrix[2]);
        if (job->normal) {
            __m256i packed = _mm256_loadu_si256((const __m256i *)(job->normal + i));
            __m256 u = _mm256_mul_ps(
                _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(packed, 16), 16)), unit);
            __m256 v = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_srai_epi32(packed, 16)), unit);
            __m256 au = _mm256_andnot_ps(sign, u), av = _mm256_andnot_ps(sign, v);
            __m256 w = _mm256_sub_ps(_mm256_sub_ps(one, au), av);
            /* the lower half is folded over the edges of the square; blends go by the sign of w */
            __m256 fu = _mm256_or_ps(_mm256_sub_ps(one, av), _mm256_and_ps(u, sign));
            __m256 fv = _mm256_or_ps(_mm256_sub_ps(one, au), _mm256_and_ps(v, sign));
            u = _mm256_blendv_ps(u, fu, w);
            v = _mm256_blendv_ps(v, fv, w);
            __m256 length = _mm256_sqrt_ps(_mm256_add_ps(
                _mm256_mul_ps(u, u), _mm256_add_ps(_mm256_mul_ps(v, v), _mm256_mul_ps(w, w))));
            u = _mm256_div_ps(u, length), v = _mm256_div_ps(v, length),
            w = _mm256_div_ps(w, length);
            ax = _mm256_add_ps(ax, TURN(job->turn[0]));
            ay = _mm256_add_ps(ay, TURN(job->turn[1]));
            az = _mm256_add_ps(az, TURN(job->turn[2]));
        }
        __m256 wx = _mm256_floor_ps(ax), wy = _mm256_floor_ps(ay), wz = _mm256_floor_ps(az);
        __m256i vx = VOXEL(wx, 0), vy = VOXEL(wy, 1), vz = VOXEL(wz, 2);
        __m256i side = _mm256_castps_si256(
            _mm256_or_ps(SIDE(ax, wx), _mm256_or_ps(SIDE(ay, wy), SIDE(az, wz))));
        __m256i lanes = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(job->count - i)), lane);
        lanes = _mm256_and_si256(
            lanes, _mm256_and_si256(WITHIN(vx, 0), _mm256_and_si256(WITHIN(vy, 1), WITHIN(vz, 2))));
        if (i % 16 == 0) hits[i / 16] = 0;
        if (_mm256_testz_si256(lanes, lanes)) continue;
        __m256i chunk = _mm256_add_epi32(
            _mm256_add_epi32(
                _mm256_srai_epi32(vx, 3),
                _mm256_mullo_epi32(_mm256_srai_epi32(vy, 3), _mm256_set1_epi32(f->stride[0]))),
            _mm256_mullo_epi32(_mm256_srai_epi32(vz, 3), _mm256_set1_epi32(f->stride[1])));
        __m256i entry =
            _mm256_mask_i32gather_epi32(uniform, (const int *)f->chunks, chunk, lanes, 4);
        __m256i mark = _mm256_and_si256(entry, _mm256_set1_epi32(255));
        __m256i stored = _mm256_andnot_si256(_mm256_srai_epi32(entry, 31), lanes);
        if (!_mm256_testz_si256(stored, stored)) {
            __m256i cell =
                _mm256_or_si256(_mm256_and_si256(vx, seven),
                                _mm256_or_si256(_mm256_slli_epi32(_mm256_and_si256(vy, seven), 3),
                                                _mm256_slli_epi32(_mm256_and_si256(vz, seven), 6)));
            __m256i bit = _mm256_mullo_epi32(cell, bits);
            __m256i word = _mm256_add_epi32(_mm256_mullo_epi32(entry, _mm256_slli_epi32(bits, 4)),
                                            _mm256_srli_epi32(bit, 5));
            __m256i found =
                _mm256_mask_i32gather_epi32(zero, (const int *)f->planes, word, stored, 4);
            found = _mm256_and_si256(
                _mm256_srlv_epi32(found, _mm256_and_si256(bit, _mm256_set1_epi32(31))), mark_mask);
            mark = _mm256_blendv_epi8(mark, found, stored);
        }
        __m256i marked = _mm256_andnot_si256(_mm256_cmpeq_epi32(mark, zero), lanes);
        least = _mm256_min_epu32(least, _mm256_blendv_epi8(free, mark, marked));
        __m256i hit = _mm256_andnot_si256(_mm256_cmpgt_epi32(mark, limit), marked);
        hit = _mm256_or_si256(hit, _mm256_and_si256(side, lanes));
        hits[i / 16] |= (uint16_t)(_mm256_movemask_ps(_mm256_castsi256_ps(hit)) << i % 16);
    }
    uint32_t all[8], lowest = job->free;
    _mm256_storeu_si256((__m256i *)all, least);
    for (int k = 0; k < 8; k++) lowest = all[k] < lowest ? all[k] : lowest;
    return lowest;
}
#else
uint32_t flr_scan_avx2(const flr_scan_job *job, uint16_t hits[32])
{
    return flr_scan_scalar(job, hits);
}
#endif
