/* the loops over many points: the plain version */
#include "contact/kernel_lanes.h"

static void scan(const flr_scan_job *job, flr_scan_hits *hits) { flr_lanes_scan(job, hits); }

static void touch(const flr_contact_frame *frame, flr_batch *batch)
{
    flr_lanes_touch(frame, batch);
}

static void brake(const flr_contact_frame *frame, flr_batch *batch)
{
    flr_lanes_brake(frame, batch);
}

static void centres(const flr_contact_frame *frame, const flr_shell_chunk *chunks, uint32_t count,
                    double at[3][FLR_SCAN_POINTS])
{
    flr_lanes_centres(frame, chunks, count, at);
}

const flr_kernel flr_kernel_scalar = {"scalar", scan, touch, brake, centres};
