/* queues.h: who waits for how long: queues as bitmaps of two levels (2005, section 5).
 *
 * Each queue has a bit for each item, and each item is in one queue at most. Above 64 bits stands one bit that says whether
 * any of them is set, so that empty runs are skipped. A queue is served in turn: a cursor goes round and round.
 *
 * Time is an odometer: how far the part has moved, not how long it took. Each word of a queue remembers the odometer when
 * the cursor last passed it, so that what is at the cursor has waited longest, and nobody else longer. Items that came
 * meanwhile waited less. RT safe but for making and freeing. */
#ifndef FLR_CONTACT_QUEUES_H
#define FLR_CONTACT_QUEUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLR_QUEUES = 16 };

typedef struct flr_queue {
    uint64_t *bits;  /* [words], an item each */
    uint64_t *any;   /* [blocks], a word each */
    double *passed;  /* [words], odometer */
    double *skipped; /* [blocks], odometer: when the cursor passed a block without items */
    double entered;  /* odometer: when the cursor came to its word */
    double filled;   /* odometer: when the first item came */
    uint32_t cursor; /* item */
    uint32_t count;  /* items in it */
} flr_queue;

typedef struct flr_queues {
    flr_queue queue[FLR_QUEUES];
    uint32_t items, words, blocks;
    void *memory; /* of all of them */
    size_t bytes;
} flr_queues;

/* All empty. False: not enough memory. */
bool flr_queues_make(flr_queues *queues, uint32_t items);
void flr_queues_free(flr_queues *queues); /* all zero allowed */

/* Empties all of them and begins at odometer 0. */
void flr_queues_clear(flr_queues *queues);

/* The next item at the cursor, which moves on; the queue is not empty. The item may be moved to another queue afterwards. */
uint32_t flr_queue_next(const flr_queues *queues, flr_queue *queue, double odometer);

/* Since when the point that waits longest has waited, at most: an odometer. */
static inline double flr_queue_since(const flr_queue *queue)
{
    uint32_t word = queue->cursor / 64;
    double since = queue->passed[word], skipped = queue->skipped[word / 64];
    if (skipped > since) since = skipped;
    return queue->filled > since ? queue->filled : since;
}

static inline void flr_queue_add(flr_queue *queue, uint32_t item, double odometer)
{
    if (queue->count++ == 0) queue->filled = odometer;
    queue->bits[item / 64] |= UINT64_C(1) << item % 64;
    queue->any[item / 4096] |= UINT64_C(1) << item / 64 % 64;
}

static inline void flr_queue_remove(flr_queue *queue, uint32_t item)
{
    queue->count--;
    queue->bits[item / 64] &= ~(UINT64_C(1) << item % 64);
    if (!queue->bits[item / 64]) queue->any[item / 4096] &= ~(UINT64_C(1) << item / 64 % 64);
}

/* Adds items that are in no queue; removes those of a run that are in this one. */
void flr_queue_add_run(flr_queue *queue, uint32_t first, uint32_t count, double odometer);
void flr_queue_remove_run(flr_queue *queue, uint32_t first, uint32_t count);

#endif
