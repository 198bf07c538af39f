/* tree.h: a part's voxels as a tree of child masks, and the sphere of any of its cubes. */
#ifndef FLR_SPHERES_TREE_H
#define FLR_SPHERES_TREE_H

#include "spheres/enclose.h"

#define FLR_NO_NORMAL UINT32_C(0x80008000) /* no packed normal looks like this */

/* all cubes of one size */
typedef struct flr_sphere_level {
    uint64_t *masks; /* [count][words]; bytes where a cube has 8 children */
    uint32_t *first; /* [count]: number of its first child in the level below; they follow in the
                        order of the mask's bits */
    uint32_t count;
} flr_sphere_level;

struct flr_sphere_tree {
    flr_sphere_tree_info info;
    unsigned shift;  /* 1, 2 or 3: a cube is 2^shift children wide */
    unsigned height; /* of the root: its side is 2^(shift height) voxels */
    flr_sphere_level levels[FLR_SPHERE_LEVELS]; /* [0] has no arrays: voxels */
    uint32_t *normals;                          /* [voxels], outward, packed; NULL: none */
};

static inline uint8_t flr_tree_mask8(const flr_sphere_level *level, uint32_t cube)
{
    return ((const uint8_t *)level->masks)[cube];
}

/* Children of a cube. */
static inline unsigned flr_tree_children(const flr_sphere_tree *tree, unsigned height,
                                         uint32_t cube)
{
    const flr_sphere_level *level = &tree->levels[height];
    if (tree->shift == 1) return (unsigned)__builtin_popcount(flr_tree_mask8(level, cube));
    if (tree->shift == 2) return (unsigned)__builtin_popcountll(level->masks[cube]);
    unsigned count = 0;
    for (int z = 0; z < 8; z++)
        count += (unsigned)__builtin_popcountll(level->masks[(size_t)cube * 8 + (size_t)z]);
    return count;
}

#endif
