/* single-producer, single-consumer ring
 *
 * Two counters that only grow: `head` says how many elements were ever pushed, `tail` how many
 * popped; their difference is what is inside, and wrapping around does no harm. Each side writes
 * its own counter with release order after touching the elements, and reads the other's with
 * acquire order before. Each side also keeps a copy of the other's counter and looks at the real
 * one only when the copy says there is not enough, so that in the normal case the cache line of
 * the other side stays where it is. */
#include "feeler/base.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { RING_LINE = 128 }; /* two cache lines: processors fetch them in pairs */

struct flr_ring {
    // written by nobody after creation
    size_t element_size, mask;
    uint8_t *elements;
    // the producer's
    alignas(RING_LINE) _Atomic size_t head;
    size_t seen_tail;
    _Atomic uint64_t dropped;
    // the consumer's
    alignas(RING_LINE) _Atomic size_t tail;
    size_t seen_head;
};

flr_ring *flr_ring_create(size_t element_size, size_t capacity)
{
    FLR_ASSERT(element_size > 0 && capacity > 0);
    size_t rounded = 1;
    while (rounded < capacity) {
        if (rounded > SIZE_MAX / 4) return NULL;
        rounded *= 2;
    }
    if (rounded > (SIZE_MAX - RING_LINE) / element_size) return NULL;
    flr_ring *ring = aligned_alloc(RING_LINE, sizeof *ring);
    size_t bytes = (rounded * element_size + RING_LINE - 1) / RING_LINE * RING_LINE;
    uint8_t *elements = aligned_alloc(RING_LINE, bytes);
    if (!ring || !elements) {
        free(elements);
        free(ring);
        return NULL;
    }
    memset(ring, 0, sizeof *ring);
    memset(elements, 0, bytes); // touches every page now rather than in the loop
    ring->element_size = element_size;
    ring->mask = rounded - 1;
    ring->elements = elements;
    return ring;
}

void flr_ring_destroy(flr_ring *ring)
{
    if (!ring) return;
    free(ring->elements);
    free(ring);
}

size_t flr_ring_capacity(const flr_ring *ring)
{
    FLR_ASSERT(ring);
    return ring->mask + 1;
}

size_t flr_ring_count(const flr_ring *ring)
{
    FLR_ASSERT(ring);
    // the tail first: it never overtakes the head, so the difference is not negative; where a third
    // thread asks, both may run on in between, and the bound keeps the answer possible
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    size_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    size_t count = head - tail;
    return count <= ring->mask + 1 ? count : ring->mask + 1;
}

/* copies between the ring and a plain array; a run may go over the end of the ring */
static void copy_in(flr_ring *ring, size_t at, const uint8_t *from, size_t count)
{
    size_t size = ring->element_size, first = at & ring->mask, until_end = ring->mask + 1 - first;
    size_t run = count < until_end ? count : until_end;
    memcpy(ring->elements + first * size, from, run * size);
    if (run < count) memcpy(ring->elements, from + run * size, (count - run) * size);
}

static void copy_out(const flr_ring *ring, size_t at, uint8_t *to, size_t count)
{
    size_t size = ring->element_size, first = at & ring->mask, until_end = ring->mask + 1 - first;
    size_t run = count < until_end ? count : until_end;
    memcpy(to, ring->elements + first * size, run * size);
    if (run < count) memcpy(to + run * size, ring->elements, (count - run) * size);
}

size_t flr_ring_push_batch(flr_ring *ring, const void *elements, size_t count)
{
    FLR_ASSERT(ring && (elements || count == 0));
    size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    size_t room = ring->mask + 1 - (head - ring->seen_tail);
    if (room < count) {
        ring->seen_tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
        room = ring->mask + 1 - (head - ring->seen_tail);
    }
    if (count > room) count = room;
    if (count == 0) return 0;
    copy_in(ring, head, elements, count);
    atomic_store_explicit(&ring->head, head + count, memory_order_release);
    return count;
}

size_t flr_ring_pop_batch(flr_ring *ring, void *elements, size_t count)
{
    FLR_ASSERT(ring && (elements || count == 0));
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    size_t there = ring->seen_head - tail;
    if (there < count) {
        ring->seen_head = atomic_load_explicit(&ring->head, memory_order_acquire);
        there = ring->seen_head - tail;
    }
    if (count > there) count = there;
    if (count == 0) return 0;
    copy_out(ring, tail, elements, count);
    atomic_store_explicit(&ring->tail, tail + count, memory_order_release);
    return count;
}

void flr_ring_drop(flr_ring *ring, size_t count)
{
    FLR_ASSERT(ring);
    atomic_fetch_add_explicit(&ring->dropped, count, memory_order_relaxed);
}

bool flr_ring_push(flr_ring *ring, const void *element)
{
    if (flr_ring_push_batch(ring, element, 1) == 1) return true;
    flr_ring_drop(ring, 1);
    return false;
}

bool flr_ring_pop(flr_ring *ring, void *element)
{
    return flr_ring_pop_batch(ring, element, 1) == 1;
}

uint64_t flr_ring_dropped(const flr_ring *ring)
{
    FLR_ASSERT(ring);
    return atomic_load_explicit(&ring->dropped, memory_order_relaxed);
}
