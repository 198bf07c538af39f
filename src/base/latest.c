/* latest-value buffer: three slots, of which one word says which lies in the middle
 *
 * The writer owns one slot, the reader one, and the third lies between them. To publish is to
 * exchange one's own slot for the middle one and mark it fresh; to read is, where it is marked
 * fresh, to exchange likewise. An exchange of one word is the only step both sides take part in. */
#include "feeler/base.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LATEST_LINE = 128, FRESH = 4 };

struct flr_latest {
    // written by nobody after creation
    size_t size, stride;
    uint8_t *slots;
    // both
    alignas(
        LATEST_LINE) _Atomic unsigned middle; /* slot, with FRESH where the reader has not seen it */
    // the writer's
    alignas(LATEST_LINE) unsigned write_slot;
    uint64_t published;
    // the reader's
    alignas(LATEST_LINE) unsigned read_slot;
};

/* each slot: its number, then at the next line the value */
static uint64_t *slot_number(const flr_latest *latest, unsigned slot)
{
    return (uint64_t *)(void *)(latest->slots + slot * latest->stride);
}

static void *slot_value(const flr_latest *latest, unsigned slot)
{
    return latest->slots + slot * latest->stride + LATEST_LINE;
}

flr_latest *flr_latest_create(size_t size)
{
    FLR_ASSERT(size > 0);
    if (size > SIZE_MAX / 4 - 2 * LATEST_LINE) return NULL;
    flr_latest *latest = aligned_alloc(LATEST_LINE, sizeof *latest);
    size_t stride = LATEST_LINE + (size + LATEST_LINE - 1) / LATEST_LINE * LATEST_LINE;
    uint8_t *slots = aligned_alloc(LATEST_LINE, 3 * stride);
    if (!latest || !slots) {
        free(slots);
        free(latest);
        return NULL;
    }
    memset(latest, 0, sizeof *latest);
    memset(slots, 0, 3 * stride);
    latest->size = size;
    latest->stride = stride;
    latest->slots = slots;
    latest->write_slot = 0;
    atomic_init(&latest->middle, 1);
    latest->read_slot = 2;
    return latest;
}

void flr_latest_destroy(flr_latest *latest)
{
    if (!latest) return;
    free(latest->slots);
    free(latest);
}

void *flr_latest_begin(flr_latest *latest)
{
    FLR_ASSERT(latest);
    return slot_value(latest, latest->write_slot);
}

void flr_latest_publish(flr_latest *latest)
{
    FLR_ASSERT(latest);
    *slot_number(latest, latest->write_slot) = ++latest->published;
    // release: the value goes with it; acquire: the reader is done with the slot that comes back
    unsigned back =
        atomic_exchange_explicit(&latest->middle, latest->write_slot | FRESH, memory_order_acq_rel);
    latest->write_slot = back & ~(unsigned)FRESH;
}

void flr_latest_write(flr_latest *latest, const void *value)
{
    FLR_ASSERT(value);
    memcpy(flr_latest_begin(latest), value, latest->size);
    flr_latest_publish(latest);
}

const void *flr_latest_view(flr_latest *latest, uint64_t *number)
{
    FLR_ASSERT(latest);
    if (atomic_load_explicit(&latest->middle, memory_order_relaxed) & FRESH) {
        unsigned back =
            atomic_exchange_explicit(&latest->middle, latest->read_slot, memory_order_acq_rel);
        latest->read_slot = back & ~(unsigned)FRESH;
    }
    if (number) *number = *slot_number(latest, latest->read_slot);
    return slot_value(latest, latest->read_slot);
}

uint64_t flr_latest_read(flr_latest *latest, void *value)
{
    FLR_ASSERT(value);
    uint64_t number;
    memcpy(value, flr_latest_view(latest, &number), latest->size);
    return number;
}
