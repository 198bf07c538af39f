/* the loops over many points with AVX2: 8 points at a time where they move, one by one where they are looked up, since
 * gathers of this width are no faster */
#include "contact/kernel.h"

#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
#include "contact/kernel_lanes.h"

#define AVX2 __attribute__((target("avx2")))

AVX2 static void scan(const flr_scan_job *job, flr_scan_hits *hits) { flr_lanes_scan(job, hits); }

AVX2 static uint32_t pick(const flr_pick *from, const uint16_t *bits, uint32_t word, uint32_t end,
                          flr_batch *batch)
{
    return flr_lanes_pick(from, bits, word, end, batch);
}

FLR_LANES_LOOPS(AVX2)

const flr_kernel flr_kernel_avx2 = FLR_LANES_KERNEL("AVX2");
#else
const flr_kernel flr_kernel_avx2 = {.name = "AVX2"};
#endif
