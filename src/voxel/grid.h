/* grid.h: where voxels lie. A regular grid of cubes, counted in voxels, chunks (8) and hyperchunks
 * (64); the origin is the low corner of voxel (0, 0, 0). */
#ifndef FLR_VOXEL_GRID_H
#define FLR_VOXEL_GRID_H

#include <stdint.h>

#include "feeler/math.h"

typedef struct flr_grid {
    flr_vec3 origin;    /* metres, in the voxmap's frame */
    double voxel;       /* metres */
    uint32_t hypers[3]; /* hyperchunks in x, y, z */
    uint32_t zero;      /* no gaps: it lies in files */
} flr_grid;

enum {
    FLR_CHUNK_SIDE = 8,  /* voxels */
    FLR_HYPER_SIDE = 64, /* voxels */
};

/* The grid for everything within `bounds` and `margin` voxels around it. It is shifted so that the
 * faces of `bounds` lie at least a quarter of a voxel from the planes between voxels: a box
 * whose faces fell onto such a plane would get walls of two layers. */
flr_grid flr_grid_around(flr_box3 bounds, double voxel, unsigned margin);

/* Voxels along one axis, as a double: may be beyond 2^32 for a mistyped voxel size. */
double flr_grid_cells(flr_box3 bounds, double voxel, unsigned margin, int axis);

static inline uint64_t flr_grid_hyper_count(const flr_grid *grid)
{
    return (uint64_t)grid->hypers[0] * grid->hypers[1] * grid->hypers[2];
}

/* metres to voxel units: voxel (i, j, k) is [i, i+1] x [j, j+1] x [k, k+1] */
static inline flr_vec3 flr_grid_to_voxels(const flr_grid *grid, flr_vec3 p)
{
    return flr_vec3_make((p.x - grid->origin.x) / grid->voxel, (p.y - grid->origin.y) / grid->voxel,
                         (p.z - grid->origin.z) / grid->voxel);
}

/* The same for a corner of a triangle, rounded to 2^-30 of a voxel: what lies on a plane between voxels then lies on
 * it exactly, wherever the grid begins, so that the surface does not depend on the margin. */
static inline flr_vec3 flr_grid_corner(const flr_grid *grid, flr_vec3 p)
{
    flr_vec3 v = flr_grid_to_voxels(grid, p);
    return flr_vec3_make(floor(v.x * 0x1p30 + 0.5) * 0x1p-30, floor(v.y * 0x1p30 + 0.5) * 0x1p-30,
                         floor(v.z * 0x1p30 + 0.5) * 0x1p-30);
}

static inline flr_vec3 flr_grid_to_metres(const flr_grid *grid, flr_vec3 v)
{
    return flr_vec3_add_scaled(grid->origin, grid->voxel, v);
}

#endif
