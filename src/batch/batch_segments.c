/* many segments against one mesh */
#include <math.h>

#include "batch/batch.h"

enum { SEGMENTS_IN_PIECE = 4096 };

typedef struct segment_batch {
    const flr_probe_model *model;
    const flr_vec3 *ends;
    flr_probe_hit *hits;
} segment_batch;

static flr_result probe_range(void *context, size_t first, size_t end, unsigned worker)
{
    const segment_batch *b = context;
    (void)worker;
    for (size_t i = first; i < end; i++) {
        b->hits[i] = (flr_probe_hit){.t = INFINITY, .triangle = FLR_PROBE_NONE};
        flr_probe_first(b->model, b->ends[2 * i], b->ends[2 * i + 1], NULL, &b->hits[i]);
    }
    return FLR_OK;
}

flr_result flr_batch_segments(const flr_probe_model *model, const flr_vec3 *ends, size_t count,
                              const flr_batch_options *options, flr_probe_hit *hits,
                              flr_error *error)
{
    FLR_ASSERT(model && (!count || (ends && hits)));
    const flr_batch_options plain = flr_default_batch_options();
    if (!options) options = &plain;
    segment_batch batch = {model, ends, hits};
    const flr_batch_run run = {options, count, SEGMENTS_IN_PIECE, probe_range, &batch};
    return flr_batch_go(&run, options->threads, error);
}
