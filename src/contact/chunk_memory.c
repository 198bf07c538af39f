/* memories of chunks: one block for all pairs, filled from its beginning; what was given back is closed up when it is full */
#include "contact/chunk_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prefault.h"
#include "contact/contact_engine.h"

#define CHUNK_MEMORY_ROUNDING 1e-6 /* voxels: what a step of the way may be off by */
#define CHUNK_MEMORY_LONGEST  64.0 /* voxels: then counted anew, so that single precision does */

/* ---- one pair ---- */

/* Nothing is known of any chunk. */
static void forget(flr_chunk_memory *m, const flr_query *q)
{
    m->known = true;
    m->moved = 0;
    m->reach = q->reach;
    m->around = q->around;
    for (uint32_t i = 0; i < m->chunk_count; i++)
        m->chunks[i] = (flr_chunk_room){.until = -1, .most = INFINITY};
}

/* Counts the way from here. */
static void count_anew(flr_chunk_memory *m)
{
    for (uint32_t i = 0; i < m->chunk_count; i++) {
        m->chunks[i].until -= (float)m->moved;
        m->chunks[i].most += (float)m->moved;
    }
    m->moved = 0;
}

void flr_chunk_memory_follow(flr_chunk_memory *m, const flr_query *q)
{
    const flr_shell *shell = q->frame.shell;
    const flr_vec3 centre = flr_contact_voxels(&q->frame, (double)shell->centre[0],
                                               (double)shell->centre[1], (double)shell->centre[2]);
    if (!m->known || m->reach != q->reach || m->around != q->around) {
        forget(m, q);
    } else {
        /* the difference of two rotations turns a vector into one that is at most this times as long */
        double turn = 0;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                double d = q->frame.rotation.m[i][k] - m->rotation.m[i][k];
                turn += 0.5 * d * d;
            }
        double radius = (double)shell->radius * q->per_metre + q->around;
        m->moved += flr_vec3_distance(centre, m->centre) + sqrt(turn) * radius +
                    CHUNK_MEMORY_ROUNDING * (1 + radius * 1e-3);
        if (!(m->moved < CHUNK_MEMORY_LONGEST)) count_anew(m);
    }
    m->rotation = q->frame.rotation;
    m->centre = centre;
}

/* ---- all pairs ---- */

flr_chunk_memories *flr_chunk_memories_create(uint32_t chunks)
{
    flr_chunk_memories *made = flr_prefaulted_calloc(1, sizeof *made);
    if (!made) return NULL;
    made->chunks = flr_prefaulted_calloc((size_t)chunks + 1, sizeof *made->chunks);
    made->capacity = chunks;
    for (uint32_t i = FLR_CHUNK_MEMORY_SLOTS; i > 0; i--)
        made->unused[made->unused_count++] = i - 1;
    if (made->chunks) return made;
    flr_chunk_memories_destroy(made);
    return NULL;
}

void flr_chunk_memories_destroy(flr_chunk_memories *memories)
{
    if (!memories) return;
    free(memories->chunks);
    free(memories);
}

/* Moves all that is in use to the beginning of the blocks. */
static void close_up(flr_chunk_memories *all)
{
    all->used = 0;
    for (uint32_t i = 0; i < all->order_count; i++) {
        flr_chunk_memory *m = &all->slots[all->order[i]];
        memmove(all->chunks + all->used, m->chunks, m->chunk_count * sizeof *m->chunks);
        m->chunks = all->chunks + all->used;
        all->used += m->chunk_count;
    }
}

uint32_t flr_chunk_memories_take(flr_chunk_memories *all, uint32_t chunks)
{
    if (!all->unused_count || chunks > all->capacity - all->live) return FLR_NO_MEMORY_SLOT;
    if (chunks > all->capacity - all->used) close_up(all);
    uint32_t slot = all->unused[--all->unused_count];
    all->slots[slot] = (flr_chunk_memory){.chunks = all->chunks + all->used, .chunk_count = chunks};
    all->used += chunks;
    all->live += chunks;
    all->order[all->order_count++] = slot;
    return slot;
}

void flr_chunk_memories_give(flr_chunk_memories *all, uint32_t slot)
{
    if (slot == FLR_NO_MEMORY_SLOT) return;
    uint32_t at = 0;
    while (all->order[at] != slot) at++;
    all->order_count--;
    memmove(all->order + at, all->order + at + 1, (all->order_count - at) * sizeof *all->order);
    all->live -= all->slots[slot].chunk_count;
    all->slots[slot].chunks = NULL;
    all->unused[all->unused_count++] = slot;
}
