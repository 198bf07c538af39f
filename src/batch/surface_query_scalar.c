/* points against a surface without special instructions */
#include <stdlib.h>

#include "batch/surface_lanes.h"

void flr_surface_query_scalar(const flr_batch_surface *s, const flr_surface_group *g,
                              flr_surface_scratch *x)
{
    query_group(s, g, x);
}

flr_surface_scratch *flr_surface_scratch_create(void)
{
    flr_surface_scratch *scratch = aligned_alloc(64, sizeof *scratch);
    if (scratch) memset(scratch, 0, sizeof *scratch);
    return scratch;
}
