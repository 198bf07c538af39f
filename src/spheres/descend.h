/* descend.h: what a query works on. Lengths are in voxels of part b, places from the corner of b's grid. */
#ifndef FLR_SPHERES_DESCEND_H
#define FLR_SPHERES_DESCEND_H

#include "contact/worker_pool.h"
#include "spheres/tree.h"

/* two cubes; side 0 is a, side 1 is b */
typedef struct flr_cube_pair {
    uint32_t cube[2];
    uint32_t low[2][3]; /* low corners, in voxels of their own grids */
} flr_cube_pair;

enum { FLR_SPHERES_BLOCK = 128 }; /* pairs that one thread takes at once */

/* what one thread has to say */
typedef struct flr_spheres_worker {
    flr_cube_pair *out; /* [def.pairs] */
    uint32_t used;
    bool full;
    uint64_t tests;
    char apart[64]; /* from the next one's cache line */
} flr_spheres_worker;

/* where the pairs from a block of pairs went */
typedef struct flr_spheres_block {
    uint32_t worker, start, count, to;
} flr_spheres_block;

/* how the two grids lie; set once per query */
typedef struct flr_spheres_frame {
    const flr_spheres_side *sides[2];
    const flr_sphere_tree *trees[2];
    unsigned heights[2]; /* where the descent is */
    unsigned ends[2];    /* where it ends */
    bool one_child, side;
    double turn[3][3]; /* a's grid to b's: turn . place + shift */
    double shift[3];
    double ratio; /* voxel of a over voxel of b */
    /* from the low corner of a cube two units wide to the middles of its eight children */
    double children[2][3][8];
    /* for an octree: the table of spheres, turned as the side is and in b's units */
    flr_ball balls[2][256];
    /* the axes at right angles to which two voxels may be parted, and how far their projections reach on both sides */
    double axes[3][12]; /* a's three, then nine of edge and edge; b's own three are x, y, z */
    double reach[15];   /* b's three, then as above */
} flr_spheres_frame;

struct flr_spheres {
    flr_spheres_def def;
    flr_enclose enclose;
    flr_worker_pool *pool;       /* NULL: alone */
    flr_cube_pair *pairs;        /* [def.pairs], the level that is being expanded */
    uint32_t count;              /* of these */
    flr_cube_pair *next;         /* [def.pairs], the level below */
    flr_voxel_pair *list;        /* [def.listed] */
    flr_spheres_worker *workers; /* [def.threads] */
    flr_spheres_block *blocks;
    flr_spheres_frame frame;
    enum { FLR_SPHERES_EXPAND, FLR_SPHERES_COLLECT, FLR_SPHERES_TELL } stage;
    unsigned expanded; /* the side whose cubes are replaced by their children */
    bool twice;        /* both, from cubes of 2x2x2 to voxels */
    uint32_t listed;
};

/* Pairs from..to of the level, with the cubes of one side replaced by their children; false when there is no room. */
bool flr_spheres_expand(const flr_spheres *spheres, uint32_t from, uint32_t to,
                        flr_spheres_worker *worker);

/* Pairs from..to of the level as the user sees them. */
void flr_spheres_tell(flr_spheres *spheres, uint32_t from, uint32_t to);

#endif
