/* points against a surface with AVX2 */
#include "batch/surface_lanes.h"

#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
__attribute__((target("avx2"))) void flr_surface_query_avx2(const flr_batch_surface *s,
                                                            const flr_surface_group *g,
                                                            flr_surface_scratch *x)
{
    query_group(s, g, x);
}
#else
void flr_surface_query_avx2(const flr_batch_surface *s, const flr_surface_group *g,
                            flr_surface_scratch *x)
{
    flr_surface_query_scalar(s, g, x);
}
#endif
