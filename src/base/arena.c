/* memory that is sized once */
#include "feeler/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/assert.h"

/* lies at the start of its own block */
struct flr_arena {
    uint8_t *memory; /* aligned */
    size_t size, used, high_water;
    uint64_t refused;
    bool owned;
};

/* the arena itself, up to the next aligned place */
enum {
    HEADER =
        (sizeof(flr_arena) + FLR_ARENA_ALIGNMENT - 1) / FLR_ARENA_ALIGNMENT * FLR_ARENA_ALIGNMENT
};

static flr_arena *set_up(void *block, size_t size, bool owned)
{
    flr_arena *arena = block;
    *arena = (flr_arena){(uint8_t *)block + HEADER, size - HEADER, 0, 0, 0, owned};
    return arena;
}

flr_arena *flr_arena_create(size_t size)
{
    if (size > SIZE_MAX - HEADER - FLR_ARENA_ALIGNMENT) return NULL;
    size_t whole =
        (HEADER + size + FLR_ARENA_ALIGNMENT - 1) / FLR_ARENA_ALIGNMENT * FLR_ARENA_ALIGNMENT;
    void *block = aligned_alloc(FLR_ARENA_ALIGNMENT, whole);
    if (!block) return NULL;
    memset(block, 0, whole); // touches every page now rather than in the loop
    return set_up(block, HEADER + size, true);
}

flr_arena *flr_arena_place(void *memory, size_t size)
{
    FLR_ASSERT(memory);
    size_t skip = (size_t)(-(uintptr_t)memory % FLR_ARENA_ALIGNMENT);
    if (size < skip || size - skip < HEADER) return NULL;
    return set_up((uint8_t *)memory + skip, size - skip, false);
}

void flr_arena_destroy(flr_arena *arena)
{
    if (arena && arena->owned) free(arena);
}

static void *take(flr_arena *arena, size_t size, size_t alignment)
{
    uintptr_t next = (uintptr_t)arena->memory + arena->used;
    size_t skip = (size_t)(-next % alignment), left = arena->size - arena->used;
    if (skip > left || size > left - skip) {
        arena->refused++;
        return NULL;
    }
    void *piece = arena->memory + arena->used + skip;
    arena->used += skip + size;
    if (arena->used > arena->high_water) arena->high_water = arena->used;
    return piece;
}

void *flr_arena_take(flr_arena *arena, size_t size)
{
    FLR_ASSERT(arena);
    return take(arena, size, FLR_ARENA_ALIGNMENT);
}

void *flr_arena_take_array(flr_arena *arena, size_t count, size_t size, size_t alignment)
{
    FLR_ASSERT(arena && alignment > 0 && (alignment & (alignment - 1)) == 0);
    if (size > 0 && count > SIZE_MAX / size) {
        arena->refused++;
        return NULL;
    }
    return take(arena, count * size, alignment);
}

flr_arena_mark flr_arena_mark_get(const flr_arena *arena)
{
    FLR_ASSERT(arena);
    flr_arena_mark mark = {arena->used};
    return mark;
}

void flr_arena_release(flr_arena *arena, flr_arena_mark mark)
{
    FLR_ASSERT(arena && mark.used <= arena->used);
    arena->used = mark.used;
}

void flr_arena_reset(flr_arena *arena)
{
    FLR_ASSERT(arena);
    arena->used = 0;
}

size_t flr_arena_size(const flr_arena *arena) { return arena->size; }
size_t flr_arena_used(const flr_arena *arena) { return arena->used; }
size_t flr_arena_high_water(const flr_arena *arena) { return arena->high_water; }
uint64_t flr_arena_refused(const flr_arena *arena) { return arena->refused; }
