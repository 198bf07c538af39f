/* points against a surface with AVX-512 */
#include "batch/surface_lanes.h"

#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
#ifdef __clang__ /* it has no attribute for the width */
#define SURFACE_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#else
#define SURFACE_AVX512                                                                             \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#endif

SURFACE_AVX512 void flr_surface_query_avx512(const flr_batch_surface *s, const flr_surface_group *g,
                                             flr_surface_scratch *x)
{
    query_group(s, g, x);
}
#else
void flr_surface_query_avx512(const flr_batch_surface *s, const flr_surface_group *g,
                              flr_surface_scratch *x)
{
    flr_surface_query_scalar(s, g, x);
}
#endif
