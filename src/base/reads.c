/* reads at once: by what the env has, or one after the other */
#include <errno.h>
#include <stdlib.h>

#include "base/env.h"
#include "feeler/base.h"

/* ---- one after the other ---- */

typedef struct reads_waiting {
    uint64_t id, offset;
    void *bytes;
    size_t count;
} reads_waiting;

typedef struct reads_queue {
    flr_reads base;
    unsigned first;
    reads_waiting list[]; /* [depth], a ring */
} reads_queue;

static int queue_open(unsigned depth, flr_reads **reads)
{
    reads_queue *q = calloc(1, sizeof *q + depth * sizeof q->list[0]);
    if (!q) return ENOMEM;
    *reads = &q->base;
    return 0;
}

static int queue_take(reads_queue *q, uint64_t *id, size_t *got)
{
    const reads_waiting *next = &q->list[q->first];
    flr_file *file = q->base.file;
    q->first = (q->first + 1) % q->base.depth;
    *id = next->id;
    int code = file->env->ops->file_read(file, next->offset, next->bytes, next->count, got);
    return code == ETIMEDOUT ? EIO : code; /* a disk behind a network, not our waiting */
}

/* ---- all of them ---- */

flr_result flr_reads_open(flr_file *file, unsigned depth, flr_reads **reads, flr_error *error)
{
    FLR_ASSERT(file && reads && depth >= 1 && depth <= FLR_MAX_READS);
    flr_reads *made = NULL;
    /* whatever the reason why not at once, one after the other is as right */
    bool at_once = depth > 1 && file->env->ops->reads_open(file, depth, &made) == 0;
    if (!at_once && queue_open(depth, &made) != 0)
        return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory to read it", file->path);
    made->file = file;
    made->depth = depth;
    made->at_once = at_once;
    *reads = made;
    return FLR_OK;
}

bool flr_reads_add(flr_reads *reads, uint64_t id, uint64_t offset, void *bytes, size_t count)
{
    FLR_ASSERT(reads && bytes);
    if (reads->under_way == reads->depth) return false;
    if (reads->at_once) {
        reads->file->env->ops->reads_add(reads, id, offset, bytes, count);
    } else {
        reads_queue *q = (reads_queue *)reads;
        q->list[(q->first + reads->under_way) % reads->depth] =
            (reads_waiting){id, offset, bytes, count};
    }
    reads->under_way++;
    return true;
}

flr_result flr_reads_take(flr_reads *reads, int64_t deadline_ns, uint64_t *id, size_t *got,
                          flr_error *error)
{
    FLR_ASSERT(reads && id && got);
    if (reads->under_way == 0) return FLR_TIMEOUT;
    int code = reads->at_once ? reads->file->env->ops->reads_take(reads, deadline_ns, id, got)
                              : queue_take((reads_queue *)reads, id, got);
    if (code == ETIMEDOUT) return FLR_TIMEOUT;
    reads->under_way--;
    return code ? flr_fail_errno(error, reads->file->path, "read", code) : FLR_OK;
}

unsigned flr_reads_under_way(const flr_reads *reads) { return reads->under_way; }
bool flr_reads_at_once(const flr_reads *reads) { return reads->at_once; }

void flr_reads_close(flr_reads *reads)
{
    if (!reads) return;
    if (!reads->at_once) {
        free(reads);
        return;
    }
    /* somebody may still be writing to the caller's bytes */
    uint64_t id;
    size_t got;
    while (reads->under_way > 0) (void)flr_reads_take(reads, INT64_MAX, &id, &got, NULL);
    reads->file->env->ops->reads_close(reads);
}
