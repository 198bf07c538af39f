/* chunk_memory.h: how far the chunks of a shell were from the other part when they were looked at last.
 *
 * A chunk whose points had room to spare stays out of reach until the parts have moved by that much against each other. A
 * query with such a memory looks only at the others: it finds the same contacts, near points and sums, to the bit. The
 * bounds of the distance may be wider, by what the parts have moved since. */
#ifndef FLR_CONTACT_CHUNK_MEMORY_H
#define FLR_CONTACT_CHUNK_MEMORY_H

#include "feeler/math.h"
#include "feeler/pairs.h"

/* Voxels of way, counted from where `moved` of the memory is 0. */
typedef struct flr_chunk_room {
    float until; /* no point of the chunk comes into reach before `moved` is larger */
    float most;  /* some point is no farther from the surface than this and `moved` */
} flr_chunk_room;

/* Of one pair: shell, voxmap, reach and displacement are the same, or all is forgotten. */
typedef struct flr_chunk_memory {
    bool known;    /* false: the following stands for nothing */
    double moved;  /* voxels: no point of the shell has moved farther since it was 0 */
    double reach;  /* voxels, as in flr_query */
    double around; /* voxels, as in flr_query */
    flr_mat3 rotation;
    flr_vec3 centre;        /* voxels: of the shell's sphere; both at the last query */
    flr_chunk_room *chunks; /* [chunk_count] */
    uint32_t chunk_count;
} flr_chunk_memory;

struct flr_query;

/* At the beginning of a query: how far have the points moved since the last one? */
void flr_chunk_memory_follow(flr_chunk_memory *memory, const struct flr_query *query);

/* ---- the memories of all pairs, in one block ---- */

enum { FLR_CHUNK_MEMORY_SLOTS = 1024, FLR_NO_MEMORY_SLOT = UINT32_MAX };

typedef struct flr_chunk_memories {
    flr_chunk_memory slots[FLR_CHUNK_MEMORY_SLOTS]; /* `chunks` is NULL where one is free */
    uint32_t order[FLR_CHUNK_MEMORY_SLOTS];         /* those in use, as they lie in the block */
    uint32_t order_count;
    uint32_t unused[FLR_CHUNK_MEMORY_SLOTS], unused_count;
    flr_chunk_room *chunks;  /* [capacity] */
    uint32_t capacity, used; /* up to there; … */
    uint32_t live;           /* … of them, those of slots in use */
} flr_chunk_memories;

/* For so many chunks of all pairs together. NULL: not enough memory. Not RT safe, as its end. */
flr_chunk_memories *flr_chunk_memories_create(uint32_t chunks);
void flr_chunk_memories_destroy(flr_chunk_memories *memories); /* NULL allowed */

/* A slot for a pair, empty; FLR_NO_MEMORY_SLOT where there is no room. RT safe, as what follows. */
uint32_t flr_chunk_memories_take(flr_chunk_memories *memories, uint32_t chunks);
void flr_chunk_memories_give(flr_chunk_memories *memories, uint32_t slot); /* no slot is allowed */
/* NULL for no slot; until the next take. */
static inline flr_chunk_memory *flr_chunk_memories_at(flr_chunk_memories *all, uint32_t slot)
{
    return slot == FLR_NO_MEMORY_SLOT ? NULL : &all->slots[slot];
}

#endif
