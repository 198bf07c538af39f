/* the loops over many points with AVX2: 8 points at a time where they move, one by one where they are looked up, since
 * gathers of this width are no faster */
#include "contact/kernel.h"

#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
#include "contact/kernel_lanes.h"

#define AVX2 __attribute__((target("avx2")))

AVX2 static void scan(const flr_scan_job *job, flr_scan_hits *hits) { flr_lanes_scan(job, hits); }

AVX2 static void touch(const flr_contact_frame *frame, flr_batch *batch)
{
    flr_lanes_touch(frame, batch);
}

AVX2 static void brake(const flr_contact_frame *frame, flr_batch *batch)
{
    flr_lanes_brake(frame, batch);
}

AVX2 static void centres(const flr_contact_frame *frame, const flr_shell_chunk *chunks,
                         uint32_t count, double at[3][FLR_SCAN_POINTS])
{
    flr_lanes_centres(frame, chunks, count, at);
}

const flr_kernel flr_kernel_avx2 = {"AVX2", scan, touch, brake, centres};
#else
const flr_kernel flr_kernel_avx2 = {.name = "AVX2"};
#endif
