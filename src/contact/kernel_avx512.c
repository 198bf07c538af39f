/* the loops over many points with AVX-512: 16 at a time, looked up by permutations and a gather */
#include "contact/kernel.h"

#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
#include <immintrin.h>

#include "contact/kernel_lanes.h"

/* gcc takes half of the width for loops unless told otherwise */
#ifdef __clang__
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,popcnt")))
#else
#define AVX512                                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,popcnt,prefer-vector-width=512")))
#endif

/* Scanning only sorts out, within margins: here sums may round as they like. */
#define ROW(m)                                                                                     \
    _mm512_fmadd_ps(                                                                               \
        _mm512_set1_ps((m)[0]), x,                                                                 \
        _mm512_fmadd_ps(_mm512_set1_ps((m)[1]), y,                                                 \
                        _mm512_fmadd_ps(_mm512_set1_ps((m)[2]), z, _mm512_set1_ps((m)[3]))))
#define LOAD(p)                                                                                    \
    _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)((p) + i))))
#define TURN(t)                                                                                    \
    _mm512_fmadd_ps(                                                                               \
        _mm512_set1_ps((t)[0]), u,                                                                 \
        _mm512_fmadd_ps(_mm512_set1_ps((t)[1]), v, _mm512_mul_ps(_mm512_set1_ps((t)[2]), w)))
/* the distance to the nearest side of a voxel, with a sign */
#define SIDE(at) _mm512_reduce_ps(at, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
/* the lesser by size, without a sign */
#define LEAST(a, b) _mm512_range_ps(a, b, 2 << 2 | 2)
/* times how far a point is above the middle of its voxel */
#define ABOVE(at, n, sum)                                                                          \
    _mm512_fmadd_ps(                                                                               \
        _mm512_sub_ps(_mm512_reduce_ps(at, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC), half), n,   \
        sum)

typedef struct sixteen {
    __m512 x, y, z;
} sixteen;

/* flr_shell_unpack() in single precision and in the voxmap's axes: normals, not yet of unit length, and what makes them
 * so, to 14 bits. */
AVX512 static inline sixteen normals(const flr_scan_job *job, uint32_t i, __m512 *scale)
{
    const __m512 whole = _mm512_set1_ps(32767);
    const __m512i sign = _mm512_set1_epi32((int)0x80000000);
    __m512i packed = _mm512_loadu_si512(job->normal + i);
    __m512 u = _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(packed, 16), 16));
    __m512 v = _mm512_cvtepi32_ps(_mm512_srai_epi32(packed, 16));
    __m512 fu = _mm512_sub_ps(whole, _mm512_abs_ps(v)), au = _mm512_abs_ps(u);
    __m512 fv = _mm512_sub_ps(whole, au), w = _mm512_sub_ps(fu, au);
    /* the lower half is folded over the edges of the square: sign of the one, size of the other */
    __mmask16 folded = _mm512_movepi32_mask(_mm512_castps_si512(w));
    u = _mm512_castsi512_ps(_mm512_mask_ternarylogic_epi32(_mm512_castps_si512(u), folded,
                                                           _mm512_castps_si512(fu), sign, 0xE4));
    v = _mm512_castsi512_ps(_mm512_mask_ternarylogic_epi32(_mm512_castps_si512(v), folded,
                                                           _mm512_castps_si512(fv), sign, 0xE4));
    *scale = _mm512_rsqrt14_ps(_mm512_fmadd_ps(u, u, _mm512_fmadd_ps(v, v, _mm512_mul_ps(w, w))));
    return (sixteen){TURN(job->turn[0]), TURN(job->turn[1]), TURN(job->turn[2])};
}

/* The entries of slots in the local table: of up to 64 it fits into four registers. */
AVX512 static inline __m512i entries(const uint32_t *local, unsigned order, __m512i slot,
                                     const __m512i held[4])
{
    if (order == 1) return _mm512_permutexvar_epi32(slot, held[0]);
    if (order == 2)
        return _mm512_mask_mov_epi32(_mm512_permutex2var_epi32(held[0], slot, held[1]),
                                     _mm512_test_epi32_mask(slot, _mm512_set1_epi32(32)),
                                     _mm512_permutex2var_epi32(held[2], slot, held[3]));
    const __m512i all = _mm512_set1_epi32((1 << 3 * order) - 1);
    return _mm512_i32gather_epi32(_mm512_and_si512(slot, all), local, 4);
}

AVX512 static void scan(const flr_scan_job *job, flr_scan_hits *hits)
{
    const __m512i seven = _mm512_set1_epi32(7), one = _mm512_set1_epi32(1),
                  uniform = _mm512_set1_epi32((int)FLR_UNIFORM), byte = _mm512_set1_epi32(255);
    const __m512i mark_mask = _mm512_set1_epi32((1 << (1 << job->shift)) - 1),
                  force = _mm512_set1_epi32((int)job->force_mark),
                  layer_one = _mm512_set1_epi32((int)job->layer_one);
    const __m512 half = _mm512_set1_ps(0.5f), slack = _mm512_set1_ps(job->slack),
                 displacement = _mm512_set1_ps(job->displacement),
                 shallow = _mm512_set1_ps(4 * job->slack + 1e-4f);
    const __m128i order = _mm_cvtsi32_si128((int)job->order),
                  order2 = _mm_cvtsi32_si128(2 * (int)job->order),
                  shift = _mm_cvtsi32_si128((int)job->shift),
                  plane = _mm_cvtsi32_si128(4 + (int)job->shift);
    __m512i held[4] = {0};
    for (unsigned k = 0; k < (job->order == 1 ? 1u : job->order == 2 ? 4u : 0u); k++)
        held[k] = _mm512_load_si512(job->local + 16 * k);
    __m512i least = _mm512_set1_epi32(-1);
    uint32_t near_count = 0, deep_count = 0;
    for (uint32_t word = job->from / 16; word < (job->to + 15) / 16; word++) {
        uint32_t i = word * 16;
        uint32_t wanted = i < job->from ? 0xFFFFu << (job->from - i) : 0xFFFFu;
        if (i + 16 > job->to) wanted &= (1u << (job->to - i)) - 1;
        __mmask16 lanes = (__mmask16)wanted;
        __m512 x = LOAD(job->x), y = LOAD(job->y), z = LOAD(job->z);
        __m512 ax = ROW(job->matrix[0]), ay = ROW(job->matrix[1]), az = ROW(job->matrix[2]);
        sixteen n = {0};
        __m512 scale = half;
        if (job->displaced) {
            n = normals(job, i, &scale);
            __m512 far = _mm512_mul_ps(displacement, scale);
            ax = _mm512_fnmadd_ps(far, n.x, ax);
            ay = _mm512_fnmadd_ps(far, n.y, ay);
            az = _mm512_fnmadd_ps(far, n.z, az);
        }
        __m512i vx = _mm512_cvttps_epi32(ax), vy = _mm512_cvttps_epi32(ay),
                vz = _mm512_cvttps_epi32(az);
        __m512 nearest = LEAST(SIDE(ax), LEAST(SIDE(ay), SIDE(az)));
        __mmask16 side = _mm512_mask_cmp_ps_mask(lanes, nearest, slack, _CMP_LT_OQ);

        __m512i slot =
            _mm512_or_si512(_mm512_srai_epi32(vx, 3),
                            _mm512_or_si512(_mm512_sll_epi32(_mm512_srai_epi32(vy, 3), order),
                                            _mm512_sll_epi32(_mm512_srai_epi32(vz, 3), order2)));
        __m512i entry = entries(job->local, job->order, slot, held);
        __m512i mark = _mm512_and_si512(entry, byte);
        __mmask16 stored = _mm512_mask_testn_epi32_mask(lanes, entry, uniform);
        if (stored) {
            __m512i cell =
                _mm512_or_si512(_mm512_and_si512(vx, seven),
                                _mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(vy, seven), 3),
                                                _mm512_slli_epi32(_mm512_and_si512(vz, seven), 6)));
            __m512i bit = _mm512_sll_epi32(cell, shift);
            __m512i at =
                _mm512_add_epi32(_mm512_sll_epi32(entry, plane), _mm512_srli_epi32(bit, 5));
            __m512i found =
                _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), stored, at, job->planes, 4);
            found = _mm512_and_si512(
                _mm512_srlv_epi32(found, _mm512_and_si512(bit, _mm512_set1_epi32(31))), mark_mask);
            mark = _mm512_mask_mov_epi32(mark, stored, found);
        }
        lanes &= (__mmask16)~side;
        __m512i below = _mm512_sub_epi32(mark, one);
        least = _mm512_mask_min_epu32(least, lanes, least, below);
        __mmask16 touch = _mm512_mask_cmplt_epu32_mask(lanes, below, force),
                  near = _mm512_mask_cmpeq_epi32_mask(lanes, below, force), press = touch;
        near_count += (uint32_t)__builtin_popcount(near);
        if (touch | near)
            deep_count +=
                (uint32_t)__builtin_popcount(_mm512_mask_cmplt_epu32_mask(lanes, below, layer_one));
        if (touch && job->judged) {
            if (!job->displaced) n = normals(job, i, &scale);
            __m512 above = ABOVE(ax, n.x, ABOVE(ay, n.y, ABOVE(az, n.z, _mm512_setzero_ps())));
            __m512 layers = _mm512_cvtepi32_ps(_mm512_sub_epi32(force, mark));
            press = _mm512_mask_cmp_ps_mask(touch, _mm512_mul_ps(above, scale),
                                            _mm512_add_ps(layers, shallow), _CMP_LT_OQ);
        }
        if (touch) _mm_storeu_si128((__m128i *)(hits->marks + i), _mm512_cvtepi32_epi8(mark));
        hits->touch[word] = (uint16_t)touch;
        hits->press[word] = (uint16_t)press;
        hits->near[word] = (uint16_t)near;
        hits->unsure[word] = (uint16_t)side;
    }
    hits->least = _mm512_reduce_min_epu32(least);
    hits->near_count = near_count;
    hits->deep_count = deep_count;
}

AVX512 static void touch(const flr_contact_frame *frame, flr_batch *batch)
{
    flr_lanes_touch(frame, batch);
}

AVX512 static void brake(const flr_contact_frame *frame, flr_batch *batch)
{
    flr_lanes_brake(frame, batch);
}

AVX512 static void centres(const flr_contact_frame *frame, const flr_shell_chunk *chunks,
                           uint32_t count, double at[3][FLR_SCAN_POINTS])
{
    flr_lanes_centres(frame, chunks, count, at);
}

const flr_kernel flr_kernel_avx512 = {"AVX-512", scan, touch, brake, centres};
#else
const flr_kernel flr_kernel_avx512 = {.name = "AVX-512"};
#endif
