/* points against a surface with NEON */
#include "batch/surface_lanes.h"

#if defined(__aarch64__) && !defined(FLR_NO_SIMD)
void flr_surface_query_neon(const flr_batch_surface *s, const flr_surface_group *g,
                            flr_surface_scratch *x)
{
    query_group(s, g, x);
}
#else
void flr_surface_query_neon(const flr_batch_surface *s, const flr_surface_group *g,
                            flr_surface_scratch *x)
{
    flr_surface_query_scalar(s, g, x);
}
#endif
