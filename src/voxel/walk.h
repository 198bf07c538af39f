/* walk.h: through the surface and interior voxels of a voxmap, in the order in which they lie: by hyperchunk (z, y, x, the
 * last fastest), chunk and place. Thread: any; allocates nothing. */
#ifndef FLR_VOXEL_WALK_H
#define FLR_VOXEL_WALK_H

#include "voxel/mask.h"
#include "voxel/voxmap_format.h"

typedef struct flr_walk {
    /* Go into the cube of `side` voxels (64 or 8) whose low corner is voxel `low`? */
    bool (*enter)(void *context, const uint32_t low[3], uint32_t side);
    /* A chunk with surface or interior voxels. */
    void (*chunk)(void *context, const uint32_t low[3], const flr_mask *surface,
                  const flr_mask *interior);
    void *context;
} flr_walk;

/* Walks through the hyperchunks from `from` to before `to`, which must be within the grid. */
void flr_voxmap_walk(const flr_voxmap *voxmap, const uint32_t from[3], const uint32_t to[3],
                     const flr_walk *walk);

/* The entry of a hyperchunk in a tree of a voxmap: a number, or FLR_UNIFORM and one mark for all of it. The place must
 * be within the grid. */
uint32_t flr_walk_hyper(const flr_voxmap *voxmap, const flr_tree_place *place, uint32_t x,
                        uint32_t y, uint32_t z);

#endif
