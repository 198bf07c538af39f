/* points against a surface without special instructions */
#include <stdlib.h>

#include "batch/surface_curve.h"
#include "batch/surface_search.h"

static void query(const flr_batch_surface *s, const flr_surface_group *g, flr_surface_scratch *x)
{
    query_group(s, g, x);
}

static void codes(const flr_surface_grid *grid, const flr_vec3 *points, uint32_t count,
                  uint32_t *out)
{
    find_codes(grid, points, count, out);
}

const flr_surface_kernel flr_surface_scalar = {query, codes};

flr_surface_scratch *flr_surface_scratch_create(void)
{
    flr_surface_scratch *scratch = aligned_alloc(64, sizeof *scratch);
    if (scratch) memset(scratch, 0, sizeof *scratch);
    return scratch;
}
