/* gauge_tree.h: a tree of boxes over the triangles of a mesh, eight boxes to a node. */
#ifndef FLR_CONTACT_GAUGE_TREE_H
#define FLR_CONTACT_GAUGE_TREE_H

#include "feeler/distance.h"

enum {
    FLR_GAUGE_WIDE = 8,
    FLR_GAUGE_LEAF = 4,   /* triangles in a leaf, at most */
    FLR_GAUGE_DEPTH = 32, /* nodes above one another, at most: 20 by area, the rest by halves */
    FLR_GAUGE_EMPTY = 255
};

/* Boxes are rounded outwards; those that are not used come last. */
typedef struct flr_gauge_node {
    _Alignas(64) float low[3][FLR_GAUGE_WIDE], high[3][FLR_GAUGE_WIDE];
    uint32_t first[FLR_GAUGE_WIDE]; /* a node, or the first of the triangles */
    uint8_t count[FLR_GAUGE_WIDE];  /* of triangles; 0: a node; FLR_GAUGE_EMPTY: not used */
} flr_gauge_node;

struct flr_gauge_part {
    const flr_mesh *mesh;
    flr_gauge_node *nodes; /* node 0 has one box, that of everything, with node 1 in it */
    uint32_t node_count, node_room;
    uint32_t *order; /* [triangle_count], triangles by leaf */
    double radius;   /* metres: nothing is farther from the mesh's origin */
};

#endif
