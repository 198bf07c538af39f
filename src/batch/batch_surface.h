/* batch_surface.h: a mesh sorted for distances of many points.
 *
 * Triangles are in leaves of up to 16 that lie near each other. A node has up to 16 children, each with an oriented box:
 * leaves of a smooth surface are flat, so their boxes are thin and say nearly how far the leaf is.
 *
 * Points are sorted into groups of 16 neighbours (surface_curve.h). A group walks down the tree once (surface_search.h). Of each
 * node, leaf and triangle, the plane across the shortest way to the group's middle tells which of the points it may be
 * nearest to. Triangles that are left are compared with all 16 points. All of this is in single precision and errs on the
 * side of keeping; triangles that are within rounding of the least distance are compared in double precision
 * (surface_exact.h).
 *
 * Thread: any; a surface does not change. */
#ifndef FLR_BATCH_BATCH_SURFACE_H
#define FLR_BATCH_BATCH_SURFACE_H

#include <math.h>

#include "batch/batch.h"

enum {
    FLR_SURFACE_LANES = 16,
    FLR_SURFACE_DEPTH = 8,
    FLR_SURFACE_GROUP = 16,
    FLR_SURFACE_PAIRS = 128
};

/* 16 oriented boxes, in metres from the surface's centre. */
typedef struct flr_surface_node {
    _Alignas(64) float centre[3][FLR_SURFACE_LANES];
    float axis[3][3][FLR_SURFACE_LANES]; /* [axis][coordinate] */
    float half[3][FLR_SURFACE_LANES];    /* infinite where there is no child */
    uint32_t first; /* child: a node, or a leaf where the node is of the lowest level */
} flr_surface_node;

/* 16 triangles, in metres from the leaf's centre. Where there are fewer, the first is repeated.
 *
 * Each has axes of its own: along its longest side, across it into the triangle, and its normal. In these the corners are (0, 0),
 * (base, 0) and the end of the side that leads from either of them. */
typedef struct flr_surface_leaf {
    _Alignas(64) float axis[3][3][FLR_SURFACE_LANES]; /* [axis][coordinate]; unit */
    float origin[3]
                [FLR_SURFACE_LANES]; /* along the axes: the corner where the longest side begins */
    float base[FLR_SURFACE_LANES];   /* length of that side */
    float way[2][2][FLR_SURFACE_LANES];   /* [from (0, 0); from (base, 0)][coordinate]: unit */
    float length[2][FLR_SURFACE_LANES];   /* of these sides */
    uint32_t triangle[FLR_SURFACE_LANES]; /* of the mesh */
    float centre[3];                      /* from the surface's centre */
    float radius;                         /* of the leaf */
} flr_surface_leaf;

struct flr_batch_surface {
    const flr_mesh *mesh;
    const flr_fit *fit;
    flr_vec3
        centre; /* metres, mesh's frame; a coordinate from it is exact in single precision for leaves' centres only */
    flr_surface_node *nodes;
    flr_surface_leaf *leaves;
    flr_vec3 *leaf_centres; /* the same as in the leaves, in the mesh's frame */
    uint32_t leaf_count;
    uint32_t level_first[FLR_SURFACE_DEPTH]; /* first node of each level, the root's first */
    uint32_t level_count;
    double size; /* metres: diagonal of the box */
    /* 1, -1: signs follow from normals, which point out or in; 0: the fit tells what is inside */
    int outward;
    flr_vec3 *corner_normals; /* [vertices]: weighed by angles; where outward is not 0 */
    flr_vec3 *side_normals;   /* [triangles][3]: sums of both triangles' */
};

/* What a group asks, and the answers. */
typedef struct flr_surface_group {
    const flr_vec3 *points; /* [count], metres, mesh's frame; finite */
    uint32_t count;         /* up to FLR_SURFACE_GROUP */
    double *distances;
    flr_vec3 *nearest;   /* not NULL */
    uint32_t *triangles; /* not NULL */
} flr_surface_group;

/* What one thread needs. */
typedef struct flr_surface_scratch flr_surface_scratch;
flr_surface_scratch *flr_surface_scratch_create(void); /* NULL: no memory; free() it */

/* A grid around points. */
typedef struct flr_surface_grid {
    flr_vec3 low;
    double scale;  /* cells per metre */
    unsigned bits; /* of a coordinate; the grid has 2^bits cells along each axis */
} flr_surface_grid;

/* The loops of one instruction set. */
typedef struct flr_surface_kernel {
    void (*query)(const flr_batch_surface *surface, const flr_surface_group *group,
                  flr_surface_scratch *scratch);
    /* where the cells of up to FLR_SURFACE_LANES points are on Hilbert's curve; 0 for a point that is not usable */
    void (*codes)(const flr_surface_grid *grid, const flr_vec3 *points, uint32_t count,
                  uint32_t *codes);
} flr_surface_kernel;
extern const flr_surface_kernel flr_surface_scalar, flr_surface_avx2, flr_surface_avx512,
    flr_surface_neon; /* each where its processor is */

/* Whether distances of a point are known: its coordinates are finite, and no larger than those of meshes. */
static inline bool flr_surface_usable(flr_vec3 p)
{
    return fabs(p.x) <= FLR_MESH_MAX_COORDINATE && fabs(p.y) <= FLR_MESH_MAX_COORDINATE &&
           fabs(p.z) <= FLR_MESH_MAX_COORDINATE;
}

/* A triangle is slender when its area is less than that of a square of its longest side by this factor, squared: rounding decides
 * about the regions around it. */
#define FLR_SURFACE_SLENDER2 1e-6

/* Points of a group and triangles that are to be compared with them in double precision; and what comes of it. */
typedef struct surface_pairs {
    _Alignas(64) double p[3][FLR_SURFACE_PAIRS];
    double corner[3][3][FLR_SURFACE_PAIRS]; /* [corner][coordinate] */
    double nearest[3][FLR_SURFACE_PAIRS], d2[FLR_SURFACE_PAIRS];
    double part
        [FLR_SURFACE_PAIRS]; /* 0 … 2 a corner, 3 … 5 the side that begins at corner part - 3, 6 the inside */
    double side[FLR_SURFACE_PAIRS];    /* of 6: above 0 where the normal points to the point */
    double slender[FLR_SURFACE_PAIRS]; /* 1: see FLR_SURFACE_SLENDER2 */
    uint32_t point[FLR_SURFACE_PAIRS], triangle[FLR_SURFACE_PAIRS];
    uint32_t count;
} surface_pairs;

/* The nearest triangle of each point so far; of equally near ones the first of the mesh. */
typedef struct flr_surface_best {
    _Alignas(64) double d2[FLR_SURFACE_GROUP]; /* INFINITY: none */
    double nearest[3][FLR_SURFACE_GROUP], side[FLR_SURFACE_GROUP];
    uint32_t triangle[FLR_SURFACE_GROUP], part[FLR_SURFACE_GROUP];
    uint32_t pair[FLR_SURFACE_GROUP]; /* the pair that told it; FLR_NONE: told before */
} flr_surface_best;

/* Compares a pair whose triangle is slender. */
void flr_surface_slender(const flr_batch_surface *surface, surface_pairs *pairs, uint32_t pair);

#endif
