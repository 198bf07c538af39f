/* slab.h: a build larger than memory: its masks lie in a temporary file and come in slab by slab.
 *
 * A slab is a run of root cells in the order of the file (x fastest, z slowest), so that what is made of one slab lies
 * together in each section of the result. What is small stays in memory for all: which chunks of a hyperchunk are used,
 * which of them are outside. When a slab is brought in, so are the hyperchunks around it (the halo), to be looked at,
 * not to be changed. */
#ifndef FLR_VOXEL_SLAB_H
#define FLR_VOXEL_SLAB_H

#include "feeler/env.h"
#include "voxel/build.h"

typedef struct flr_slab {
    size_t first_root, root_count;
    uint32_t first_hyper, hyper_count; /* the touched ones in them */
} flr_slab;

typedef struct flr_slabs {
    flr_build *build; /* sorted, not scanned */
    flr_output *file; /* never put in place */
    uint64_t *places; /* [hyper_count + 1]: where in the file a hyperchunk's masks begin */
    uint32_t stored;  /* hyperchunks that have their place */
    flr_slab *list;
    size_t count;
    unsigned halo;          /* hyperchunks around a slab, 1 … 8 */
    uint64_t largest;       /* bytes: the most that comes in at once */
    const flr_slab *inside; /* the slab that is in memory; NULL: none */
    uint32_t *held;         /* the hyperchunks in memory, rising */
    uint32_t held_count;
    flr_mask *masks; /* theirs */
} flr_slabs;

/* `path` is that of the result, beside which the temporary file lies. All hyperchunks are away from now on. End it in any
 * case. FLR_NO_MEMORY, or what the disk says. */
flr_result flr_slabs_begin(flr_env *env, const char *path, flr_build *build, unsigned halo,
                           flr_slabs *slabs, flr_error *error);
void flr_slabs_end(flr_slabs *slabs);

/* Takes the masks of the next `count` hyperchunks, which were scanned, out of memory. */
flr_result flr_slabs_take(flr_slabs *slabs, uint32_t count, flr_error *error);

/* Cuts the root cells into slabs that take up to `bytes` with their halo, when all masks are taken; a root cell is never
 * cut, so that `largest` may be more. Nothing may be in memory. FLR_NO_MEMORY. */
flr_result flr_slabs_cut(flr_slabs *slabs, uint64_t bytes, flr_error *error);

/* Brings a slab in; hyperchunks of its own are no longer away. */
flr_result flr_slabs_enter(flr_slabs *slabs, const flr_slab *slab, flr_error *error);
/* Lets it go; of hyperchunks that fill has changed, what is outside goes to the file, and what is inside is noted. */
flr_result flr_slabs_leave(flr_slabs *slabs, flr_error *error);

/* fill.c from slab to slab: up and down until nothing is left to look at. */
flr_result flr_slabs_fill(flr_slabs *slabs, flr_error *error);

#endif
