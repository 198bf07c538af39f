/* batch.h: pieces of a batch, shared by its kinds. */
#ifndef FLR_BATCH_BATCH_H
#define FLR_BATCH_BATCH_H

#include "base/parallel.h"
#include "feeler/batch.h"

/* One run: `work` is called with ranges of items, from several threads. */
typedef struct flr_batch_run {
    const flr_batch_options *options;
    size_t count, piece; /* items; of a piece */
    flr_result (*work)(void *context, size_t first, size_t end, unsigned worker);
    void *context;
} flr_batch_run;

/* Works through all items. `threads` at most. The sentence of a failure is left to the caller, but for FLR_CANCELLED. */
flr_result flr_batch_go(const flr_batch_run *run, unsigned threads, flr_error *error);

#endif
