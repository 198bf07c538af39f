/* which instructions this processor has */
#include "feeler/base.h"

bool flr_simd_has(flr_simd simd)
{
#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
    if (simd == FLR_SIMD_AVX2) return __builtin_cpu_supports("avx2");
    if (simd == FLR_SIMD_AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
#if defined(__aarch64__) && !defined(FLR_NO_SIMD) /* every AArch64 processor has it */
    if (simd == FLR_SIMD_NEON) return true;
#endif
    return simd == FLR_SIMD_BEST || simd == FLR_SIMD_SCALAR;
}

flr_simd flr_simd_resolve(flr_simd simd)
{
    if (simd != FLR_SIMD_BEST) return simd;
    return flr_simd_has(FLR_SIMD_AVX512) ? FLR_SIMD_AVX512
           : flr_simd_has(FLR_SIMD_AVX2) ? FLR_SIMD_AVX2
           : flr_simd_has(FLR_SIMD_NEON) ? FLR_SIMD_NEON
                                         : FLR_SIMD_SCALAR;
}

const char *flr_simd_name(flr_simd simd)
{
    static const char *const names[] = {"best", "scalar", "AVX2", "AVX-512", "NEON"};
    return names[simd];
}
