/* who waits for how long: queues as bitmaps of two levels */
#include "contact/queues.h"

#include <string.h>

#include "base/large_pages.h"

bool flr_queues_make(flr_queues *queues, uint32_t items)
{
    *queues = (flr_queues){.items = items};
    queues->blocks = items / 4096 + 1;
    queues->words = queues->blocks * 64; /* whole blocks: a word that no item has stays empty */
    size_t per_queue = queues->words * (sizeof(uint64_t) + sizeof(double)) +
                       queues->blocks * (sizeof(uint64_t) + sizeof(double));
    queues->bytes = per_queue * FLR_QUEUES;
    if (!(queues->memory = flr_pages_alloc(queues->bytes))) return false;
    uint8_t *at = queues->memory;
    for (int i = 0; i < FLR_QUEUES; i++) {
        flr_queue *q = &queues->queue[i];
        q->bits = (uint64_t *)at;
        q->any = q->bits + queues->words;
        q->passed = (double *)(q->any + queues->blocks);
        q->skipped = q->passed + queues->words;
        at += per_queue;
    }
    return true;
}

void flr_queues_free(flr_queues *queues)
{
    flr_pages_free(queues->memory, queues->bytes);
    *queues = (flr_queues){0};
}

void flr_queues_clear(flr_queues *queues)
{
    memset(queues->memory, 0, queues->bytes);
    for (int i = 0; i < FLR_QUEUES; i++) {
        flr_queue *q = &queues->queue[i];
        q->entered = q->filled = 0;
        q->cursor = q->count = 0;
    }
}

/* From the word after `word` to the next one with an item; all words between are passed now. */
static uint32_t next_word(const flr_queues *queues, flr_queue *queue, uint32_t word,
                          double odometer)
{
    for (;;) {
        word = word + 1 < queues->words ? word + 1 : 0;
        uint32_t block = word / 64;
        uint64_t rest = queue->any[block] >> word % 64;
        if (word % 64 == 0 && !rest) {
            queue->skipped[block] = odometer;
            word += 63;
            continue;
        }
        uint32_t ahead = rest ? (uint32_t)__builtin_ctzll(rest) : 64 - word % 64;
        for (uint32_t i = 0; i < ahead; i++) queue->passed[word + i] = odometer;
        word += ahead;
        if (rest) return word;
        word--; /* the last one of the block */
    }
}

uint32_t flr_queue_next(const flr_queues *queues, flr_queue *queue, double odometer)
{
    uint32_t word = queue->cursor / 64;
    uint64_t rest = queue->bits[word] >> queue->cursor % 64 << queue->cursor % 64;
    if (!rest) {
        queue->passed[word] = queue->entered;
        word = next_word(queues, queue, word, odometer);
        queue->entered = odometer;
        rest = queue->bits[word];
    }
    uint32_t item = word * 64 + (uint32_t)__builtin_ctzll(rest);
    if (item % 64 < 63) {
        queue->cursor = item + 1;
        return item;
    }
    /* the word is done */
    queue->passed[word] = queue->entered;
    queue->entered = odometer;
    queue->cursor = word + 1 < queues->words ? (word + 1) * 64 : 0;
    return item;
}

/* The bits of a run that lie in a word. */
static uint64_t run_mask(uint32_t word, uint32_t first, uint32_t end)
{
    uint64_t mask = ~UINT64_C(0);
    if (first > word * 64) mask &= ~UINT64_C(0) << first % 64;
    if (end < (word + 1) * 64) mask &= ~(~UINT64_C(0) << end % 64);
    return mask;
}

void flr_queue_add_run(flr_queue *queue, uint32_t first, uint32_t count, double odometer)
{
    if (!count) return;
    if (queue->count == 0) queue->filled = odometer;
    queue->count += count;
    for (uint32_t word = first / 64; word <= (first + count - 1) / 64; word++) {
        queue->bits[word] |= run_mask(word, first, first + count);
        queue->any[word / 64] |= UINT64_C(1) << word % 64;
    }
}

void flr_queue_remove_run(flr_queue *queue, uint32_t first, uint32_t count)
{
    if (!count || !queue->count) return;
    for (uint32_t word = first / 64; word <= (first + count - 1) / 64; word++) {
        uint64_t gone = queue->bits[word] & run_mask(word, first, first + count);
        queue->count -= (uint32_t)__builtin_popcountll(gone);
        queue->bits[word] &= ~gone;
        if (!queue->bits[word]) queue->any[word / 64] &= ~(UINT64_C(1) << word % 64);
    }
}
