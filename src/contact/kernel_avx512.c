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
#define KERNEL_AVX512_ROW(m)                                                                       \
    _mm512_fmadd_ps(                                                                               \
        _mm512_set1_ps((m)[0]), x,                                                                 \
        _mm512_fmadd_ps(_mm512_set1_ps((m)[1]), y,                                                 \
                        _mm512_fmadd_ps(_mm512_set1_ps((m)[2]), z, _mm512_set1_ps((m)[3]))))
#define KERNEL_AVX512_LOAD(p)                                                                      \
    _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)((p) + i))))
#define KERNEL_AVX512_TURN(t)                                                                      \
    _mm512_fmadd_ps(                                                                               \
        _mm512_set1_ps((t)[0]), u,                                                                 \
        _mm512_fmadd_ps(_mm512_set1_ps((t)[1]), v, _mm512_mul_ps(_mm512_set1_ps((t)[2]), w)))
/* the distance to the nearest side of a voxel, with a sign */
#define SIDE(at) _mm512_reduce_ps(at, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
/* the lesser by size, without a sign */
#define MIN_ABS(a, b) _mm512_range_ps(a, b, 2 << 2 | 2)
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
    return (sixteen){KERNEL_AVX512_TURN(job->turn[0]), KERNEL_AVX512_TURN(job->turn[1]),
                     KERNEL_AVX512_TURN(job->turn[2])};
}

/* bits of `mask` from a, the others from b */
#define BITS(mask, a, b) _mm512_ternarylogic_epi32(_mm512_set1_epi32(mask), a, b, 0xCA)

/* The entries of the chunks of voxels in the local table, which has up to 64 in four registers; order 0: as the job says. */
AVX512 static inline __attribute__((always_inline)) __m512i
entries(const flr_scan_job *job, unsigned order, const __m512i held[4], __m512i vx, __m512i vy,
        __m512i vz)
{
    if (order == 1)
        return _mm512_permutexvar_epi32(
            BITS(1, _mm512_srai_epi32(vx, 3),
                 BITS(2, _mm512_srai_epi32(vy, 2), _mm512_srai_epi32(vz, 1))),
            held[0]);
    if (order == 2) {
        __m512i slot = BITS(3, _mm512_srai_epi32(vx, 3),
                            BITS(12, _mm512_srai_epi32(vy, 1), _mm512_slli_epi32(vz, 1)));
        return _mm512_mask_mov_epi32(_mm512_permutex2var_epi32(held[0], slot, held[1]),
                                     _mm512_test_epi32_mask(slot, _mm512_set1_epi32(32)),
                                     _mm512_permutex2var_epi32(held[2], slot, held[3]));
    }
    const __m512i all = _mm512_set1_epi32((1 << 3 * job->order) - 1);
    const __m128i by = _mm_cvtsi32_si128((int)job->order),
                  by2 = _mm_cvtsi32_si128(2 * (int)job->order);
    __m512i slot = _mm512_or_si512(
        _mm512_srai_epi32(vx, 3), _mm512_or_si512(_mm512_sll_epi32(_mm512_srai_epi32(vy, 3), by),
                                                  _mm512_sll_epi32(_mm512_srai_epi32(vz, 3), by2)));
    return _mm512_i32gather_epi32(_mm512_and_si512(slot, all), job->local, 4);
}

AVX512 static inline void hold(const flr_scan_job *job, unsigned order, __m512i held[4])
{
    for (unsigned k = 0; k < (order == 1 ? 1u : order == 2 ? 4u : 0u); k++)
        held[k] = _mm512_load_si512(job->local + 16 * k);
}

/* The word of a plane that has a voxel's mark, where marks have 4 bits: a row along x. */
#define ROW_OF(entry, vy, vz)                                                                      \
    BITS(63, BITS(7, vy, _mm512_slli_epi32(vz, 3)), _mm512_slli_epi32(entry, 6))
#define IN_ROW(vx) _mm512_and_si512(_mm512_slli_epi32(vx, 2), _mm512_set1_epi32(28))

/* The smooth law: may the distance, interpolated between the 8 marks around (4 bits each), be below the force layer? Not if
 * none of them is. x, y, z: from the middles of voxels. See flr_lanes_bases(), flr_lanes_around(), flr_marks_any(). */
AVX512 static inline __attribute__((always_inline)) __mmask16
look_around(const flr_scan_job *job, unsigned order, __m512 x, __m512 y, __m512 z, uint32_t *around)
{
    const __m512i seven = _mm512_set1_epi32(7), one = _mm512_set1_epi32(1),
                  size = _mm512_set1_epi32((8 << job->order) - 1),
                  uniform = _mm512_set1_epi32((int)FLR_UNIFORM),
                  below = _mm512_set1_epi32((int)job->force_mark - 1), low = _mm512_set1_epi32(15);
    __m512i held[4] = {0};
    hold(job, order, held);
    __m512i vx = _mm512_cvttps_epi32(x), vy = _mm512_cvttps_epi32(y), vz = _mm512_cvttps_epi32(z);
    __m512 nearest = MIN_ABS(SIDE(x), MIN_ABS(SIDE(y), SIDE(z)));
    __mmask16 sure = _mm512_cmp_ps_mask(nearest, _mm512_set1_ps(job->slack), _CMP_GE_OQ);
    sure = _mm512_mask_cmp_ps_mask(sure, _mm512_min_ps(x, _mm512_min_ps(y, z)), _mm512_setzero_ps(),
                                   _CMP_GE_OQ);
    sure = _mm512_mask_cmpneq_epi32_mask(sure, _mm512_and_si512(vx, seven), seven);
    sure = _mm512_mask_cmplt_epi32_mask(sure, _mm512_max_epi32(vy, vz), size);
    __m512i shift = IN_ROW(vx), all = _mm512_setzero_si512();
    __mmask16 any = 0;
    for (int i = 3; i >= 0; i--) {
        __m512i cy = i & 1 ? _mm512_add_epi32(vy, one) : vy,
                cz = i & 2 ? _mm512_add_epi32(vz, one) : vz;
        __m512i entry = entries(job, order, held, vx, cy, cz);
        /* the mark of a whole chunk is in both half bytes */
        __m512i both = BITS(15, entry, _mm512_slli_epi32(entry, 4));
        __mmask16 stored = _mm512_mask_testn_epi32_mask(sure, entry, uniform);
        __m512i row =
            _mm512_mask_i32gather_epi32(both, stored, ROW_OF(entry, cy, cz), job->planes, 4);
        row = _mm512_mask_srlv_epi32(row, stored, row, shift);
        __m512i first = _mm512_and_si512(_mm512_sub_epi32(row, one), low),
                second = _mm512_and_si512(_mm512_sub_epi32(_mm512_srli_epi32(row, 4), one), low);
        any |= _mm512_cmplt_epu32_mask(_mm512_min_epu32(first, second), below);
        all = BITS(255, row, _mm512_slli_epi32(all, 8));
    }
    _mm512_storeu_si512(around,
                        _mm512_mask_mov_epi32(_mm512_set1_epi32((int)FLR_UNKNOWN), sure, all));
    return (__mmask16)(any | ~sure);
}

/* not in line: the loop below would lose its registers */
AVX512 static __attribute__((noinline)) __mmask16 look(const flr_scan_job *job, __m512 x, __m512 y,
                                                       __m512 z, uint32_t *around)
{
    if (job->order == 1) return look_around(job, 1, x, y, z, around);
    if (job->order == 2) return look_around(job, 2, x, y, z, around);
    return look_around(job, 0, x, y, z, around);
}

/* `order` and `plain` are known when this is compiled. Plain: marks of 4 bits, no displacement; else order is 0. */
AVX512 static inline __attribute__((always_inline)) void
scan_as(const flr_scan_job *job, unsigned order, bool plain, flr_scan_hits *hits)
{
    const __m512i seven = _mm512_set1_epi32(7), one = _mm512_set1_epi32(1),
                  uniform = _mm512_set1_epi32((int)FLR_UNIFORM), byte = _mm512_set1_epi32(255);
    const unsigned bits = plain ? 2 : job->shift;
    const bool displaced = !plain && job->displaced;
    const __m512i mark_mask = _mm512_set1_epi32((1 << (1 << bits)) - 1),
                  force = _mm512_set1_epi32((int)job->force_mark),
                  layer_one = _mm512_set1_epi32((int)job->layer_one);
    const __m512 half = _mm512_set1_ps(0.5f), slack = _mm512_set1_ps(job->slack),
                 displacement = _mm512_set1_ps(job->displacement),
                 shallow = _mm512_set1_ps(4 * job->slack + 1e-4f);
    const __m128i shift = _mm_cvtsi32_si128((int)bits), plane = _mm_cvtsi32_si128(4 + (int)bits);
    __m512i held[4] = {0};
    hold(job, order, held);
    __m512i least = _mm512_set1_epi32(-1);
    uint32_t near_count = 0, deep_count = 0;
    for (uint32_t word = job->from / 16; word < (job->to + 15) / 16; word++) {
        uint32_t i = word * 16;
        uint32_t wanted = i < job->from ? 0xFFFFu << (job->from - i) : 0xFFFFu;
        if (i + 16 > job->to) wanted &= (1u << (job->to - i)) - 1;
        __mmask16 lanes = (__mmask16)wanted;
        __m512 x = KERNEL_AVX512_LOAD(job->x), y = KERNEL_AVX512_LOAD(job->y),
               z = KERNEL_AVX512_LOAD(job->z);
        __m512 ax = KERNEL_AVX512_ROW(job->matrix[0]), ay = KERNEL_AVX512_ROW(job->matrix[1]),
               az = KERNEL_AVX512_ROW(job->matrix[2]);
        sixteen n = {0};
        __m512 scale = half;
        if (displaced) {
            n = normals(job, i, &scale);
            __m512 far = _mm512_mul_ps(displacement, scale);
            ax = _mm512_fnmadd_ps(far, n.x, ax);
            ay = _mm512_fnmadd_ps(far, n.y, ay);
            az = _mm512_fnmadd_ps(far, n.z, az);
        }
        __m512i vx = _mm512_cvttps_epi32(ax), vy = _mm512_cvttps_epi32(ay),
                vz = _mm512_cvttps_epi32(az);
        __m512 nearest = MIN_ABS(SIDE(ax), MIN_ABS(SIDE(ay), SIDE(az)));
        __mmask16 side = _mm512_mask_cmp_ps_mask(lanes, nearest, slack, _CMP_LT_OQ);

        __m512i entry = entries(job, order, held, vx, vy, vz);
        __m512i mark = _mm512_and_si512(entry, byte);
        __mmask16 stored = _mm512_mask_testn_epi32_mask(lanes, entry, uniform);
        if (stored) {
            __m512i at, in;
            if (plain) {
                at = ROW_OF(entry, vy, vz);
                in = IN_ROW(vx);
            } else {
                __m512i cell = BITS(7, vx,
                                    BITS(56, _mm512_slli_epi32(vy, 3),
                                         _mm512_slli_epi32(_mm512_and_si512(vz, seven), 6)));
                __m512i bit = _mm512_sll_epi32(cell, shift);
                at = _mm512_add_epi32(_mm512_sll_epi32(entry, plane), _mm512_srli_epi32(bit, 5));
                in = _mm512_and_si512(bit, _mm512_set1_epi32(31));
            }
            __m512i found =
                _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), stored, at, job->planes, 4);
            mark = _mm512_mask_and_epi32(mark, stored, _mm512_srlv_epi32(found, in), mark_mask);
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
        if (job->reach) press |= near;
        if (press && job->smooth)
            press &= look(job, _mm512_sub_ps(ax, half), _mm512_sub_ps(ay, half),
                          _mm512_sub_ps(az, half), hits->around + i);
        if (touch && job->judged) {
            if (!displaced) n = normals(job, i, &scale);
            __m512 above = ABOVE(ax, n.x, ABOVE(ay, n.y, ABOVE(az, n.z, _mm512_setzero_ps())));
            __m512 layers = _mm512_cvtepi32_ps(_mm512_sub_epi32(force, mark));
            press = _mm512_mask_cmp_ps_mask(touch, _mm512_mul_ps(above, scale),
                                            _mm512_add_ps(layers, shallow), _CMP_LT_OQ);
        }
        if (press) _mm_storeu_si128((__m128i *)(hits->marks + i), _mm512_cvtepi32_epi8(mark));
        hits->touch[word] = (uint16_t)touch;
        hits->press[word] = (uint16_t)press;
        hits->near[word] = (uint16_t)near;
        hits->unsure[word] = (uint16_t)side;
    }
    hits->least = _mm512_reduce_min_epu32(least);
    hits->near_count = near_count;
    hits->deep_count = deep_count;
}

AVX512 static void scan(const flr_scan_job *job, flr_scan_hits *hits)
{
    const bool plain = job->shift == 2 && !job->displaced;
    if (plain && job->order == 1)
        scan_as(job, 1, true, hits);
    else if (plain && job->order == 2)
        scan_as(job, 2, true, hits);
    else
        scan_as(job, 0, false, hits);
}

/* The double precision of 16 steps, in order, but only those lanes that are set. */
#define PICK(steps, corner, to)                                                                    \
    do {                                                                                           \
        __m512i all = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)((steps) + i)));   \
        __m512i few = _mm512_maskz_compress_epi32(lanes, all);                                     \
        __m512d low = _mm512_cvtepi32_pd(_mm512_castsi512_si256(few)),                             \
                high = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(few, 1));                      \
        _mm512_storeu_pd(to, _mm512_add_pd(_mm512_set1_pd(corner), _mm512_mul_pd(step, low)));     \
        _mm512_storeu_pd((to) + 8,                                                                 \
                         _mm512_add_pd(_mm512_set1_pd(corner), _mm512_mul_pd(step, high)));        \
    } while (0)

AVX512 static uint32_t pick(const flr_pick *from, const uint16_t *bits, uint32_t word, uint32_t end,
                            flr_batch *b)
{
    const __m512d step = _mm512_set1_pd(from->step);
    const __m512i count = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i edges = _mm512_set1_epi32((int)from->edges),
                  faces = _mm512_set1_epi32((int)from->faces), one = _mm512_set1_epi32(1);
    uint32_t to = b->count;
    for (; word < end; word++) {
        const __mmask16 lanes = bits[word];
        if (!lanes) continue;
        if (to > FLR_BATCH_FULL) break;
        const uint32_t i = word * 16;
        PICK(from->x, from->corner[0], b->x + to);
        PICK(from->y, from->corner[1], b->y + to);
        PICK(from->z, from->corner[2], b->z + to);
        __m512i index = _mm512_add_epi32(_mm512_set1_epi32((int)i), count);
        __m512i label = _mm512_maskz_mov_epi32(_mm512_cmpge_epu32_mask(index, edges), one);
        label = _mm512_mask_add_epi32(label, _mm512_cmpge_epu32_mask(index, faces), label, one);
        __m512i around = from->known ? _mm512_loadu_si512(from->around + i)
                                     : _mm512_set1_epi32((int)FLR_UNKNOWN);
        __m512i mark = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(from->marks + i)));
        index = _mm512_add_epi32(index, _mm512_set1_epi32((int)from->first));
        _mm512_storeu_si512(b->normal + to, _mm512_maskz_compress_epi32(
                                                lanes, _mm512_loadu_si512(from->normal + i)));
        _mm512_storeu_si512(b->around + to, _mm512_maskz_compress_epi32(lanes, around));
        _mm512_storeu_si512(b->mark + to, _mm512_maskz_compress_epi32(lanes, mark));
        _mm512_storeu_si512(b->point + to, _mm512_maskz_compress_epi32(lanes, index));
        _mm_storeu_si128((__m128i *)(b->label + to),
                         _mm512_cvtepi32_epi8(_mm512_maskz_compress_epi32(lanes, label)));
        to += (uint32_t)__builtin_popcount(lanes);
    }
    b->count = to;
    return word;
}

FLR_LANES_LOOPS(AVX512)

const flr_kernel flr_kernel_avx512 = FLR_LANES_KERNEL("AVX-512");
#else
const flr_kernel flr_kernel_avx512 = {.name = "AVX-512"};
#endif
