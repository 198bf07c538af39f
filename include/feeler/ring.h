/* feeler/ring.h: from one thread to another, in order.
 *
 * A queue of fixed capacity for elements of fixed size, copied by value, between exactly one
 * producer thread and one consumer thread. Neither ever waits for the other: a push into a
 * full ring fails and is counted, a pop from an empty one fails. Commands go from the
 * control thread to the real-time loop through such a ring, events come back through one.
 * Where only the newest value matters, use feeler/latest.h.
 *
 * Thread: push functions and flr_ring_dropped() by the producer (the count may be read by
 * anyone), pop functions by the consumer, flr_ring_count() by both.
 * RT safe, except create and destroy, which happen while no other thread uses the ring.
 */
#ifndef FEELER_RING_H
#define FEELER_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flr_ring flr_ring;

/* A ring for at least `capacity` elements of `element_size` bytes each; the capacity is
 * rounded up to a power of two. Both greater than 0. NULL: no memory. */
FLR_API flr_ring *flr_ring_create(size_t element_size, size_t capacity);
FLR_API void flr_ring_destroy(flr_ring *ring); /* NULL allowed */

/* How many elements fit; how many are in it now (to the other thread: at some moment
 * during the call). */
FLR_API size_t flr_ring_capacity(const flr_ring *ring);
FLR_API size_t flr_ring_count(const flr_ring *ring);

/* Copies one element in. False: full; the element is dropped and counted. */
FLR_API bool flr_ring_push(flr_ring *ring, const void *element);

/* Copies in the first of `count` elements that fit, in one step for the consumer; returns
 * how many. The rest are not counted as dropped: push them later or call
 * flr_ring_drop(). */
FLR_API size_t flr_ring_push_batch(flr_ring *ring, const void *elements, size_t count);

/* Counts elements that the producer gives up on. */
FLR_API void flr_ring_drop(flr_ring *ring, size_t count);

/* Copies the oldest element out. False: empty; `element` is untouched. */
FLR_API bool flr_ring_pop(flr_ring *ring, void *element);

/* Copies up to `count` of the oldest elements out; returns how many. */
FLR_API size_t flr_ring_pop_batch(flr_ring *ring, void *elements, size_t count);

/* Elements dropped so far. */
FLR_API uint64_t flr_ring_dropped(const flr_ring *ring);

#ifdef __cplusplus
}
#endif
#endif
