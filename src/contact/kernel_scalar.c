/* the loops over many points: the plain version */
#include "contact/kernel_lanes.h"

static void scan(const flr_scan_job *job, flr_scan_hits *hits) { flr_lanes_scan(job, hits); }

static uint32_t pick(const flr_pick *from, const uint16_t *bits, uint32_t word, uint32_t end,
                     flr_batch *batch)
{
    return flr_lanes_pick(from, bits, word, end, batch);
}

FLR_LANES_LOOPS()

const flr_kernel flr_kernel_scalar = FLR_LANES_KERNEL("scalar");
