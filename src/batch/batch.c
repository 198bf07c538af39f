/* many queries at once: threads and progress */
#include "batch/batch.h"

flr_batch_options flr_default_batch_options(void) { return (flr_batch_options){0}; }

static flr_result do_piece(void *context, size_t piece, unsigned worker)
{
    const flr_batch_run *run = context;
    const flr_batch_options *o = run->options;
    const size_t first = piece * run->piece,
                 end = run->count - first < run->piece ? run->count : first + run->piece;
    /* the calling thread is worker 0 */
    if (worker == 0 && o->progress &&
        !o->progress(o->progress_context, (double)first / (double)run->count))
        return FLR_CANCELLED;
    return run->work(run->context, first, end, worker);
}

flr_result flr_batch_go(const flr_batch_run *run, unsigned threads, flr_error *error)
{
    if (!run->count) return FLR_OK;
    const size_t pieces = (run->count - 1) / run->piece + 1;
    flr_result result = flr_parallel_for(threads, pieces, do_piece, (void *)(uintptr_t)run);
    const flr_batch_options *o = run->options;
    if (result == FLR_OK && o->progress && !o->progress(o->progress_context, 1))
        result = FLR_CANCELLED;
    if (result == FLR_CANCELLED) return flr_fail(error, FLR_CANCELLED, "stopped");
    return result;
}
