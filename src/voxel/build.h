/* build.h: voxels in the making, between triangles and finished voxmap.
 *
 * Work is done by hyperchunk (64x64x64 voxels): one fits into a core's cache, none needs another's
 * data to be scanned, and their results are kept apart, so that any number of threads gives the same
 * bytes. Only hyperchunks that some triangle touches are kept here; the wide empty rest is found by
 * the directory: root cells of 8x8x8 hyperchunks, each with a node if anything is in it. */
#ifndef FLR_VOXEL_BUILD_H
#define FLR_VOXEL_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/mesh.h"
#include "feeler/mesh_check.h"
#include "voxel/grid.h"
#include "voxel/mask.h"
#include "voxel/overlap_rows.h"

/* what a voxel inherits from the mesh */
enum { FLR_LAYER_SURFACE, FLR_LAYER_EDGE, FLR_LAYER_VERTEX, FLR_LAYER_COUNT };

/* one hyperchunk that the mesh touches */
typedef struct flr_build_hyper {
    flr_mask used[FLR_LAYER_COUNT];   /* which chunks have voxels of a layer */
    flr_mask empty_outside;           /* which chunks without surface lie outside (by fill) */
    flr_mask partly_inside;           /* which chunks with surface have interior voxels, too */
    flr_mask *masks[FLR_LAYER_COUNT]; /* one per used chunk, in order; one block, owned by [0] */
    flr_mask *outside; /* one per used chunk of the surface layer: voxels reached from outside */
    uint32_t at[3];    /* hyperchunk coordinates */
    uint32_t first_primitive, primitive_count;
    bool queued;  /* by fill: to be looked at */
    bool changed; /* by fill: more of it is outside than before */
    bool away;    /* its masks lie elsewhere or belong to another slab: fill leaves it queued */
} flr_build_hyper;

/* 8x8x8 hyperchunks of which at least one is touched */
typedef struct flr_build_node {
    flr_mask used;          /* which hyperchunks are touched */
    flr_mask empty_outside; /* which of the others lie outside (by fill) */
    uint32_t first;         /* of the used ones, in order, in `hypers` */
} flr_build_node;

/* Asked now and then how the work of a step goes on: the share of it that is done, 0 … 1. */
typedef struct flr_build_watch {
    bool (*go_on)(void *context, double share); /* false: stop with FLR_CANCELLED */
    void *context;
} flr_build_watch;

/* what a touched voxel is touched by: triangles first, then feature edges, then feature vertices */
typedef struct flr_build {
    flr_grid grid;
    const flr_mesh *mesh;
    flr_vec3 *vertices;      /* [mesh->vertex_count], in voxels */
    const flr_edge *edges;   /* feature edges, borrowed */
    const uint32_t *corners; /* feature vertices, borrowed */
    uint32_t edge_count, corner_count;
    uint32_t *primitives; /* numbers of triangles, edges and corners by hyperchunk, rising */
    flr_build_hyper *hypers;
    uint32_t hyper_count;
    flr_build_node *nodes;
    uint32_t node_count;
    uint32_t roots[3]; /* root cells in x, y, z */
    uint32_t *root;    /* node of a root cell, or one of the two below */
    unsigned threads;
    flr_overlap_find *find;       /* voxels that a triangle touches; set with the vertices */
    const flr_build_watch *watch; /* borrowed; NULL: nobody asks */
} flr_build;

/* For the pieces of a parallel loop: FLR_OK, or FLR_CANCELLED. Only one thread asks: that which called. */
static inline flr_result flr_build_go_on(const flr_build *build, unsigned worker, double share)
{
    if (!build->watch || worker) return FLR_OK;
    return build->watch->go_on(build->watch->context, share) ? FLR_OK : FLR_CANCELLED;
}

enum { FLR_ROOT_EMPTY = 0xFFFFFFFF, FLR_ROOT_OUTSIDE = 0xFFFFFFFE };

/* scan.c: which voxels the mesh touches. Before the call `build` is zero but for mesh, grid, edges,
 * corners and threads; after it everything is filled but the outside masks. On failure free it too. */
flr_result flr_build_scan(flr_build *build, flr_pose T_voxmap_mesh, flr_error *error);

/* The first half of it: vertices in voxels, and which hyperchunks each primitive touches. */
flr_result flr_build_sort(flr_build *build, flr_pose T_voxmap_mesh, flr_error *error);

/* The second half, for hyperchunks from `first` on: their masks. */
flr_result flr_build_scan_some(flr_build *build, uint32_t first, uint32_t count, flr_error *error);

void flr_build_free(flr_build *build);

/* Keeps the non-empty ones of the masks [layer][chunk] in a hyperchunk that is zero but for its place. */
bool flr_build_keep_masks(flr_build_hyper *hyper, flr_mask (*dense)[512]);

/* scan.c: hypers, nodes and root cells, where grid and roots are set, from pairs: the number of a hyperchunk in the
 * high half, what touches it (kept in `primitives`) in the low half. The pairs are sorted here by the high halves,
 * keeping the order of the low ones. False when out of memory. */
bool flr_build_directory(flr_build *build, uint64_t *pairs, size_t count);

/* A hyperchunk's number: root cell by root cell, then its place inside, so that those of a node follow one
 * another. */
uint32_t flr_build_hyper_number(const flr_build *build, uint32_t x, uint32_t y, uint32_t z);

/* Again for one primitive: the rows of voxels in the hyperchunk that it touches. */
void flr_build_visit(const flr_build *build, const flr_build_hyper *hyper, uint32_t primitive,
                     flr_overlap_rows *rows);

/* The hyperchunk at these coordinates if it is touched, else NULL; coordinates may be outside. */
flr_build_hyper *flr_build_find(const flr_build *build, int64_t x, int64_t y, int64_t z);

/* fill.c: which voxels can be reached from outside without crossing a surface voxel. Hyperchunks that are away are not
 * looked at: those that would have to be are left queued. */
flr_result flr_build_fill(flr_build *build, flr_error *error);

/* Goes on with the queued ones among hyperchunks from `first` on, which are not away. When none of all is queued any
 * more, it is done; the order does not matter for the result. */
flr_result flr_build_fill_some(flr_build *build, uint32_t first, uint32_t count, flr_error *error);

/* Notes which chunks are partly inside, of a hyperchunk whose masks are there; what a plan of fields needs. */
void flr_build_note_inside(flr_build_hyper *hyper);

/* Is this untouched hyperchunk outside? Coordinates may lie beyond the grid: outside, too. */
bool flr_build_empty_is_outside(const flr_build *build, int64_t x, int64_t y, int64_t z);

/* Is voxel (x, y, z) outside? Any voxel, also beyond the grid; slow. */
bool flr_build_voxel_is_outside(const flr_build *build, int64_t x, int64_t y, int64_t z);

#endif
