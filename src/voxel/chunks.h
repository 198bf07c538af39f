/* chunks.h: a set of chunks (8x8x8 voxels), to know how many there will be before anything is built.
 *
 * Coordinates are chunks, 0 … FLR_CHUNKS_MAX_COORDINATE. Thread: any, one set in one thread; not RT safe. */
#ifndef FLR_VOXEL_CHUNKS_H
#define FLR_VOXEL_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/math.h"
#include "voxel/mask.h"

enum { FLR_CHUNKS_MAX_COORDINATE = (1 << 20) - 1 };

typedef struct flr_chunks_slot {
    uint64_t key;  /* of a hyperchunk, 8x8x8 chunks; 0: free */
    flr_mask mask; /* which of its chunks */
} flr_chunks_slot;

typedef struct flr_chunks {
    flr_chunks_slot *slots; /* [1 << bits], linear probing */
    unsigned bits;
    size_t hypers;         /* in use */
    size_t most;           /* hyperchunks it may hold; 0: no limit */
    bool full;             /* it was to hold more */
    uint64_t seed;         /* of the hash, random: keys come from files */
    flr_chunks_slot *last; /* found; NULL: none */
} flr_chunks;

flr_chunks flr_chunks_make(size_t most);
void flr_chunks_free(flr_chunks *chunks);

/* False here and below: no memory, or more hyperchunks than allowed. */
bool flr_chunks_add(flr_chunks *chunks, uint32_t x, uint32_t y, uint32_t z);

/* All chunks that a triangle touches, corners in chunks. */
bool flr_chunks_add_triangle(flr_chunks *chunks, flr_vec3 a, flr_vec3 b, flr_vec3 c);

/* Adds the chunks of another set. */
bool flr_chunks_unite(flr_chunks *chunks, const flr_chunks *other);

/* Adds all chunks up to `rings` chunks away, also across corners. */
bool flr_chunks_grow(flr_chunks *chunks, unsigned rings);

/* How many chunks. */
uint64_t flr_chunks_count(const flr_chunks *chunks);

/* The set of its hyperchunks, as if they were chunks; one level up. */
bool flr_chunks_above(const flr_chunks *chunks, flr_chunks *above);

#endif
