/* feeler/arena.h: memory that is sized once.
 *
 * A block of fixed size from which pieces are cut one after the other. Pieces are not freed
 * one by one: take a mark, cut what a step needs, go back to the mark. An arena never grows;
 * the high-water mark tells how large it needs to be. This is how the real-time loop gets
 * memory: sized when a scene is loaded, reused every tick.
 *
 *     flr_arena_mark mark = flr_arena_mark_get(arena);
 *     float *depth = FLR_ARENA_NEW(arena, float, count);   // NULL: full
 *     ...
 *     flr_arena_release(arena, mark);
 *
 * Ownership: pieces live until their arena is released below them, reset or destroyed.
 * Thread: one at a time. RT safe, except create and destroy.
 */
#ifndef FEELER_ARENA_H
#define FEELER_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flr_arena flr_arena;

enum { FLR_ARENA_ALIGNMENT = 64 }; /* a cache line, an AVX-512 register */

/* An arena of `size` bytes; the pages are touched, so that the loop meets no page fault.
 * NULL: no memory. */
FLR_API flr_arena *flr_arena_create(size_t size);

/* An arena in the caller's `memory` of `size` bytes, which must stay until the arena is no
 * longer used; a little of it holds the arena itself. NULL: too small even for that. */
FLR_API flr_arena *flr_arena_place(void *memory, size_t size);

/* Frees what flr_arena_create() made; NULL and placed arenas are allowed. */
FLR_API void flr_arena_destroy(flr_arena *arena);

/* Cuts `size` bytes aligned to FLR_ARENA_ALIGNMENT. The content is whatever was there
 * before. A size of 0 gives a valid place with no room. NULL: full. */
FLR_API void *flr_arena_take(flr_arena *arena, size_t size);

/* The same for `count` elements of `size` bytes, aligned to `alignment`, a power of two.
 * NULL: full, or the product is too large to exist. */
FLR_API void *flr_arena_take_array(flr_arena *arena, size_t count, size_t size, size_t alignment);

/* `count` elements of `type`, at the default alignment. */
#define FLR_ARENA_NEW(arena, type, count)                                                          \
    ((type *)flr_arena_take_array((arena), (count), sizeof(type), FLR_ARENA_ALIGNMENT))

/* A place to go back to. */
typedef struct flr_arena_mark {
    size_t used;
} flr_arena_mark;

FLR_API flr_arena_mark flr_arena_mark_get(const flr_arena *arena);

/* Gives back everything cut after the mark was taken. */
FLR_API void flr_arena_release(flr_arena *arena, flr_arena_mark mark);

/* Gives back everything. */
FLR_API void flr_arena_reset(flr_arena *arena);

/* Bytes: that can be cut in all, cut now, and the most ever cut at once. */
FLR_API size_t flr_arena_size(const flr_arena *arena);
FLR_API size_t flr_arena_used(const flr_arena *arena);
FLR_API size_t flr_arena_high_water(const flr_arena *arena);

/* How often a piece was refused because the arena was full. */
FLR_API uint64_t flr_arena_refused(const flr_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
