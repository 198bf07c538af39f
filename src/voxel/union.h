/* union.h: the voxels of several parts as those of one: the union of solids, on masks.
 *
 * All parts lie on one lattice of hyperchunks; each has a grid of its own, placed by the lattice coordinates of
 * its low corner. So has the union. */
#ifndef FLR_VOXEL_UNION_H
#define FLR_VOXEL_UNION_H

#include "voxel/build.h"

/* scanned and, unless hollow, filled voxels with their place */
typedef struct flr_placed {
    flr_build build;
    int64_t low[3]; /* lattice coordinates of hyperchunk (0, 0, 0) */
    bool hollow;    /* has no interior */
} flr_placed;

/* Unites parts (at least one). Before the call `all` has grid, threads and low set and else is zero, and its grid holds
 * those of all parts; free its build on failure, too. Its primitives are the parts that touch a hyperchunk. */
flr_result flr_union_make(const flr_placed *const *parts, uint32_t count, flr_placed *all);

/* Interior voxels of one hyperchunk; coordinates of the build's grid. */
uint64_t flr_union_interior(const flr_build *build, int64_t x, int64_t y, int64_t z);

/* hyperchunks in the reach of changed voxels */
typedef struct flr_changes {
    uint64_t *keys; /* rising; by coordinates in the grid of `after` */
    size_t count, capacity;
} flr_changes;

/* Lists the hyperchunks whose marks may differ since chunks within `range` voxels of them do. Not listed are those that
 * nothing touches before or after and that turned from interior to outside or back: their entries tell. False when out of memory. */
bool flr_union_compare(const flr_placed *before, const flr_placed *after, unsigned range,
                       flr_changes *changes);

/* Is the hyperchunk listed? */
bool flr_changes_has(const flr_changes *changes, int64_t x, int64_t y, int64_t z);

void flr_changes_free(flr_changes *changes);

#endif
