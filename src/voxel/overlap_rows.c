/* rows of voxels that a triangle touches, by one, 4 or 8 voxels at a time */
#include "voxel/overlap_rows.h"

#include "voxel/overlap_prepare.h"

/* The tests for `count` voxels from (u, v) on, along u or along v: bit i for the i-th that passes. */
typedef uint64_t pass_test(const flr_edge_test test[3], double u, double v, int32_t count);
/* The plane's test for `count` voxels from x on. */
typedef uint64_t pass_plane(const flr_overlap *t, double x, double y, double z, int32_t count);

/* The tests across x, y and z each depend on two coordinates only: done once per row and column they leave few voxels for
 * the plane's test. */
static inline __attribute__((always_inline)) void
find_rows(flr_vec3 a, flr_vec3 b, flr_vec3 c, const int32_t base[3], flr_overlap_rows *rows,
          pass_test along_u, pass_test along_v, pass_plane plane)
{
    const flr_overlap t = flr_overlap_prepare_inline(a, b, c);
    int32_t from[3], count[3];
    double at[3];
    rows->count = 0;
    for (int axis = 0; axis < 3; axis++) {
        int32_t low = t.low[axis] > base[axis] ? t.low[axis] : base[axis];
        int32_t high = t.high[axis] < base[axis] + 63 ? t.high[axis] : base[axis] + 63;
        if (low > high) return;
        from[axis] = low - base[axis];
        count[axis] = high - low + 1;
        at[axis] = low - t.origin[axis];
    }
    uint64_t across_z[64]; /* by y: which x pass the tests in the xy plane */
    for (int32_t y = 0; y < count[1]; y++) across_z[y] = along_u(t.xy, at[0], at[1] + y, count[0]);
    for (int32_t z = 0; z < count[2]; z++) {
        /* which x pass the tests in the zx plane, and which y those in the yz plane */
        const uint64_t across_y = along_v(t.zx, at[2] + z, at[0], count[0]);
        if (!across_y) continue;
        uint64_t across_x = along_u(t.yz, at[1], at[2] + z, count[1]);
        for (; across_x; across_x &= across_x - 1) {
            const int32_t y = __builtin_ctzll(across_x);
            uint64_t row = across_y & across_z[y];
            if (!row) continue;
            const int32_t x = __builtin_ctzll(row), end = 64 - __builtin_clzll(row);
            row &= plane(&t, at[0] + x, at[1] + y, at[2] + z, end - x) << x;
            if (!row) continue;
            rows->at[rows->count] = (uint16_t)((from[1] + y) | (from[2] + z) << 6);
            rows->bits[rows->count++] = row << from[0];
        }
    }
}

/* ---- one by one ---- */

static uint64_t scalar_along_u(const flr_edge_test test[3], double u, double v, int32_t count)
{
    uint64_t bits = 0;
    for (int32_t i = 0; i < count; i++) bits |= (uint64_t)flr_edge_tests_pass(test, u + i, v) << i;
    return bits;
}

static uint64_t scalar_along_v(const flr_edge_test test[3], double u, double v, int32_t count)
{
    uint64_t bits = 0;
    for (int32_t i = 0; i < count; i++) bits |= (uint64_t)flr_edge_tests_pass(test, u, v + i) << i;
    return bits;
}

static uint64_t scalar_plane(const flr_overlap *t, double x, double y, double z, int32_t count)
{
    uint64_t bits = 0;
    for (int32_t i = 0; i < count; i++)
        bits |= (uint64_t)flr_plane_test_passes(t, x + i, y, z) << i;
    return bits;
}

static void find_scalar(flr_vec3 a, flr_vec3 b, flr_vec3 c, const int32_t base[3],
                        flr_overlap_rows *rows)
{
    find_rows(a, b, c, base, rows, scalar_along_u, scalar_along_v, scalar_plane);
}

#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
#include <immintrin.h>

/* the lowest `count` bits; 1 … 64 */
static inline uint64_t lowest(int32_t count) { return UINT64_MAX >> (64 - count); }

/* ---- 4 at a time ---- */

#define LANES4 __attribute__((target("avx2"))) static inline

/* Do 4 sums stay at or above zero? */
LANES4 unsigned above4(__m256d sum)
{
    return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(sum, _mm256_setzero_pd(), _CMP_GE_OQ));
}

LANES4 __m256d four(double first)
{
    return _mm256_add_pd(_mm256_set1_pd(first), _mm256_set_pd(3, 2, 1, 0));
}

LANES4 __m256d times4(double factor, __m256d by)
{
    return _mm256_mul_pd(_mm256_set1_pd(factor), by);
}

LANES4 uint64_t along_u4(const flr_edge_test test[3], double u, double v, int32_t count)
{
    uint64_t bits = 0;
    for (int32_t i = 0; i < count; i += 4) {
        const __m256d at = four(u + i);
        unsigned pass = 15;
        for (int k = 0; k < 3; k++)
            pass &= above4(
                _mm256_add_pd(times4(test[k].a, at), _mm256_set1_pd(test[k].b * v + test[k].c)));
        bits |= (uint64_t)pass << i;
    }
    return bits & lowest(count);
}

LANES4 uint64_t along_v4(const flr_edge_test test[3], double u, double v, int32_t count)
{
    uint64_t bits = 0;
    for (int32_t i = 0; i < count; i += 4) {
        const __m256d at = four(v + i);
        unsigned pass = 15;
        for (int k = 0; k < 3; k++)
            pass &= above4(
                _mm256_add_pd(_mm256_set1_pd(test[k].a * u),
                              _mm256_add_pd(times4(test[k].b, at), _mm256_set1_pd(test[k].c))));
        bits |= (uint64_t)pass << i;
    }
    return bits & lowest(count);
}

LANES4 uint64_t plane4(const flr_overlap *t, double x, double y, double z, int32_t count)
{
    const __m256d zero = _mm256_setzero_pd();
    const __m256d rest = _mm256_set1_pd(t->normal[1] * y + t->normal[2] * z);
    const __m256d near = _mm256_set1_pd(t->near), far = _mm256_set1_pd(t->far);
    uint64_t bits = 0;
    for (int32_t i = 0; i < count; i += 4) {
        const __m256d at = _mm256_add_pd(times4(t->normal[0], four(x + i)), rest);
        const __m256d pass = _mm256_and_pd(_mm256_cmp_pd(_mm256_add_pd(at, near), zero, _CMP_LE_OQ),
                                           _mm256_cmp_pd(_mm256_add_pd(at, far), zero, _CMP_GE_OQ));
        bits |= (uint64_t)(unsigned)_mm256_movemask_pd(pass) << i;
    }
    return bits & lowest(count);
}

__attribute__((target("avx2"))) static void find_avx2(flr_vec3 a, flr_vec3 b, flr_vec3 c,
                                                      const int32_t base[3], flr_overlap_rows *rows)
{
    find_rows(a, b, c, base, rows, along_u4, along_v4, plane4);
}

/* ---- 8 at a time ---- */

#define LANES8 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) static inline

LANES8 __m512d eight(double first)
{
    return _mm512_add_pd(_mm512_set1_pd(first), _mm512_set_pd(7, 6, 5, 4, 3, 2, 1, 0));
}

LANES8 __m512d times8(double factor, __m512d by)
{
    return _mm512_mul_pd(_mm512_set1_pd(factor), by);
}

LANES8 uint64_t along_u8(const flr_edge_test test[3], double u, double v, int32_t count)
{
    uint64_t bits = 0;
    for (int32_t i = 0; i < count; i += 8) {
        const __m512d at = eight(u + i);
        __mmask8 pass = 255;
        for (int k = 0; k < 3; k++)
            pass = _mm512_mask_cmp_pd_mask(
                pass,
                _mm512_add_pd(times8(test[k].a, at), _mm512_set1_pd(test[k].b * v + test[k].c)),
                _mm512_setzero_pd(), _CMP_GE_OQ);
        bits |= (uint64_t)pass << i;
    }
    return bits & lowest(count);
}

LANES8 uint64_t along_v8(const flr_edge_test test[3], double u, double v, int32_t count)
{
    uint64_t bits = 0;
    for (int32_t i = 0; i < count; i += 8) {
        const __m512d at = eight(v + i);
        __mmask8 pass = 255;
        for (int k = 0; k < 3; k++)
            pass = _mm512_mask_cmp_pd_mask(
                pass,
                _mm512_add_pd(_mm512_set1_pd(test[k].a * u),
                              _mm512_add_pd(times8(test[k].b, at), _mm512_set1_pd(test[k].c))),
                _mm512_setzero_pd(), _CMP_GE_OQ);
        bits |= (uint64_t)pass << i;
    }
    return bits & lowest(count);
}

LANES8 uint64_t plane8(const flr_overlap *t, double x, double y, double z, int32_t count)
{
    const __m512d zero = _mm512_setzero_pd();
    const __m512d rest = _mm512_set1_pd(t->normal[1] * y + t->normal[2] * z);
    const __m512d near = _mm512_set1_pd(t->near), far = _mm512_set1_pd(t->far);
    uint64_t bits = 0;
    for (int32_t i = 0; i < count; i += 8) {
        const __m512d at = _mm512_add_pd(times8(t->normal[0], eight(x + i)), rest);
        const __mmask8 pass =
            _mm512_mask_cmp_pd_mask(_mm512_cmp_pd_mask(_mm512_add_pd(at, near), zero, _CMP_LE_OQ),
                                    _mm512_add_pd(at, far), zero, _CMP_GE_OQ);
        bits |= (uint64_t)pass << i;
    }
    return bits & lowest(count);
}

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) static void
find_avx512(flr_vec3 a, flr_vec3 b, flr_vec3 c, const int32_t base[3], flr_overlap_rows *rows)
{
    find_rows(a, b, c, base, rows, along_u8, along_v8, plane8);
}
#endif

flr_overlap_find *flr_overlap_kernel(flr_simd simd)
{
#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
    simd = flr_simd_resolve(simd);
    if (simd == FLR_SIMD_AVX512) return find_avx512;
    if (simd == FLR_SIMD_AVX2) return find_avx2;
#endif
    (void)simd;
    return find_scalar;
}
