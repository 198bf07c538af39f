/* pager.h: the inside of a pager: pager.c (opening, running), ahead.c (what is wanted, what may go), fetch.c (reading).
 *
 * A pass looks at where the parts are (the newest view of a step), collects the blocks within their reach, and asks for those
 * that are missing, the nearest first. All state but the table's and the numbers shown belongs to the one thread
 * that makes passes. */
#ifndef FLR_PAGER_PAGER_H
#define FLR_PAGER_PAGER_H

#include <pthread.h>

#include "feeler/pager.h"
#include "pager/blocks.h"

enum { FLR_PAGER_WANTED = 65536 }; /* blocks that one pass may ask for: 4 GiB */
#define FLR_NOWHERE UINT32_MAX

typedef struct flr_wanted {
    uint64_t block;
    double distance; /* metres beyond what a step looks at: the less the sooner */
} flr_wanted;

typedef struct flr_slot {
    uint64_t block;  /* UINT64_MAX: free */
    uint64_t used;   /* the pass that last had it within reach … */
    double distance; /* … and how far away it was: as flr_wanted.distance */
    flr_vec3 at;     /* metres, voxmap's frame: about where what it holds is */
    bool coming;     /* asked for and not there yet */
} flr_slot;

/* A block that is being read. */
typedef struct flr_request {
    uint64_t block; /* UINT64_MAX: none */
    uint32_t slot;
    size_t size, done; /* bytes */
    int64_t begin_ns;
    bool again; /* its checksum was wrong once */
} flr_request;

/* What flr_pager_get_stats() tells; written by the thread that makes passes, read by any. */
typedef struct flr_pager_counts {
    _Atomic uint64_t needed, hits, blocks_read, bytes_read, evicted, failures, refused, reach;
    _Atomic uint32_t resident;
    _Atomic int64_t slowest_ns;
} flr_pager_counts;

static inline void flr_count(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

struct flr_pager {
    flr_pager_def def;
    char *path;
    flr_file *file;
    flr_reads *reads;
    flr_voxmap *voxmap;
    flr_contact_table *table;
    flr_paging paging;
    flr_blocks blocks;
    uint64_t data;          /* where block 0 begins in the file */
    uint64_t file_size;     /* when it was opened */
    const flr_hash *hashes; /* of blocks */
    flr_slot *slots;        /* [slot_count] */
    uint32_t slot_count, free_count;
    uint32_t *free_slots; /* [free_count] */
    uint32_t *where;      /* [end_block - first_block]: slot, or FLR_NOWHERE */
    uint64_t *
        asked; /* [end_block - first_block]: the pass that asked for it; one to come: not before that */
    uint64_t
        *needed;    /* [end_block - first_block]: the pass in which a step could look at it last */
    uint64_t *seen; /* [cells]: the pass that looked at it */
    flr_wanted *list;      /* [FLR_PAGER_WANTED] */
    flr_request *requests; /* [def.depth] */
    uint32_t list_count;
    uint64_t pass;
    uint64_t needs, hits, reach;   /* of this pass */
    int64_t retry_at, retry_after; /* 0: no trouble */
    pthread_t thread;
    bool started;
    atomic_bool stop;
    flr_pager_counts counts;
    uint64_t bytes;        /* of memory */
    pthread_mutex_t mutex; /* of what follows */
    flr_result result;
    flr_error trouble;
    uint64_t damaged; /* the block that `trouble` is about and that stays so; UINT64_MAX: none */
};

/* Begins a pass: what is wanted, sorted, into the list. */
void flr_ahead_look(flr_pager *pager);
/* Lets go of blocks that matter less than one at `distance`; the slots are free afterwards. False: there are none. */
bool flr_ahead_make_room(flr_pager *pager, double distance);

/* Asks for what is in the list, as far as there is room and up to `limit` at once. */
void flr_fetch_ask(flr_pager *pager, uint32_t limit);
/* Takes what has come and puts it in place; waits for the first until the clock is `deadline_ns`. Returns how many blocks are
 * new in the table. */
uint32_t flr_fetch_take(flr_pager *pager, int64_t deadline_ns);

#endif
