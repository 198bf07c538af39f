/* points against a surface with AVX-512 */
#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
#define SURFACE_AVX512
#include "batch/surface_curve.h"
#include "batch/surface_search.h"

SURFACE_TARGET static void query(const flr_batch_surface *s, const flr_surface_group *g,
                                 flr_surface_scratch *x)
{
    query_group(s, g, x);
}

SURFACE_TARGET static void codes(const flr_surface_grid *grid, const flr_vec3 *points,
                                 uint32_t count, uint32_t *out)
{
    find_codes(grid, points, count, out);
}

const flr_surface_kernel flr_surface_avx512 = {query, codes};
#endif
