/* check_tree.h: a tree of boxes over the triangles of a mesh. Private to src/mesh/check*.c. */
#ifndef FLR_MESH_CHECK_TREE_H
#define FLR_MESH_CHECK_TREE_H

#include <stdbool.h>

#include "mesh/checking.h"

enum {
    FLR_CHECK_LEAF = 4, /* triangles in a leaf */
    FLR_CHECK_LEVELS = 32
};

/* Rounded outwards, so that boxes of triangles that meet always meet. */
typedef struct flr_check_box {
    float low[3], high[3];
} flr_check_box;

/* Leaves hold neighbours along a space-filling curve; every level above joins two boxes. All
 * leaves are on one level, so a pair of nodes is always of one size. */
struct flr_check_tree {
    uint32_t *order;                   /* [triangle_count] triangles along the curve */
    flr_check_box *triangles;          /* [triangle_count] in that order */
    flr_check_box *nodes;              /* leaves first, then level by level, the root last */
    uint32_t start[FLR_CHECK_LEVELS];  /* where a level begins in nodes */
    uint32_t length[FLR_CHECK_LEVELS]; /* nodes of a level */
    uint32_t levels, count;            /* of triangles */
};

/* Builds it; false: no memory. Free in both cases. */
bool flr_check_tree_build(const flr_checking *c, flr_check_tree *tree);
void flr_check_tree_free(flr_check_tree *tree);

static inline bool flr_check_boxes_meet(const flr_check_box *a, const flr_check_box *b)
{
    return a->low[0] <= b->high[0] && b->low[0] <= a->high[0] && a->low[1] <= b->high[1] &&
           b->low[1] <= a->high[1] && a->low[2] <= b->high[2] && b->low[2] <= a->high[2];
}

/* Calls `visit` with every triangle whose box a ray upwards (along +z) from `p` meets, in the
 * order of the tree. */
void flr_check_tree_ray(const flr_check_tree *tree, flr_vec3 p,
                        void (*visit)(void *context, uint32_t triangle), void *context);

#endif
