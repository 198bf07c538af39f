/* batch_surface.h: a mesh sorted for distances of many points.
 *
 * Triangles are in leaves of up to 16 that lie near each other. A node has up to 16 children, each with an oriented box:
 * leaves of a smooth surface are flat, so their boxes are thin and say nearly how far the leaf is.
 *
 * Points are sorted into groups of neighbours. A group walks down the tree once and keeps the leaves that may be nearest to
 * some point of it: with c the middle of the group and r its radius, those no farther from c than the distance of c plus
 * 2 r. Then each point compares itself with these alone. All of this is in single precision and errs on the side of
 * keeping; triangles that are within rounding of the least distance are compared in double precision.
 *
 * Thread: any; a surface does not change. */
#ifndef FLR_BATCH_BATCH_SURFACE_H
#define FLR_BATCH_BATCH_SURFACE_H

#include "batch/batch.h"

enum { FLR_SURFACE_LANES = 16, FLR_SURFACE_DEPTH = 8, FLR_SURFACE_GROUP = 32 };

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

typedef void (*flr_surface_query)(const flr_batch_surface *surface, const flr_surface_group *group,
                                  flr_surface_scratch *scratch);
void flr_surface_query_scalar(const flr_batch_surface *surface, const flr_surface_group *group,
                              flr_surface_scratch *scratch);
void flr_surface_query_avx2(const flr_batch_surface *surface, const flr_surface_group *group,
                            flr_surface_scratch *scratch);
void flr_surface_query_avx512(const flr_batch_surface *surface, const flr_surface_group *group,
                              flr_surface_scratch *scratch);
void flr_surface_query_neon(const flr_batch_surface *surface, const flr_surface_group *group,
                            flr_surface_scratch *scratch);

/* The point of a triangle nearest to another, and on what it lies: 0 … 2 a corner, 3 … 5 the side that begins at corner
 * part - 3, 6 the inside. */
flr_vec3 flr_surface_nearest(const flr_vec3 corners[3], flr_vec3 point, unsigned *part);

/* The least of the given triangles, in double precision, with its sign; fills entry `i` of the group. */
void flr_surface_decide(const flr_batch_surface *surface, const uint32_t *triangles, uint32_t count,
                        const flr_surface_group *group, uint32_t i);

#endif
