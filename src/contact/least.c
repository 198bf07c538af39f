/* how far a surface is at least */
#include "contact/least.h"

#include <math.h>

#include "voxel/walk.h"

/* The chunk that holds a point, or the nearest one, and how far (voxels) the point lies outside the grid. */
static double find_chunk(const flr_voxmap_header *h, flr_vec3 v, uint32_t chunk[3])
{
    const double at[3] = {v.x, v.y, v.z};
    double outside = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double size = FLR_HYPER_SIDE * (double)h->grid.hypers[axis];
        outside = fmax(outside, fmax(-at[axis], at[axis] - size));
        chunk[axis] = at[axis] <= 0     ? 0
                      : at[axis] < size ? (uint32_t)at[axis] >> 3
                                        : h->grid.hypers[axis] * 8 - 1;
    }
    return outside;
}

double flr_least_by_chunks(const flr_voxmap *voxmap, flr_vec3 point)
{
    const flr_voxmap_header *h = voxmap->header;
    uint32_t c[3];
    const double outside = find_chunk(h, flr_grid_to_voxels(&h->grid, point), c);
    const uint32_t entry = flr_walk_hyper(voxmap, &h->chunks, c[0] >> 3, c[1] >> 3, c[2] >> 3);
    uint32_t mark = entry & 255;
    if (!(entry & FLR_UNIFORM)) {
        const unsigned cell = flr_cell(c[0] & 7, c[1] & 7, c[2] & 7);
        const uint8_t *planes = (const uint8_t *)h + h->chunks.planes;
        mark = (uint32_t)planes[(uint64_t)entry * 256 + cell / 2] >> cell % 2 * 4 & 15;
    }
    if (mark == FLR_MARK_INTERIOR) return -1;
    /* with d chunks between this chunk and that of the surface there are 8 (d - 1) voxels at least */
    const double chunks = mark == FLR_MARK_FREE ? 9 : mark - 2.0;
    const double by_chunks = chunks > 1 ? 8 * (chunks - 1) : 0;
    /* the grid reaches beyond the surface by the range of the marks */
    const double by_grid = outside > 0 ? h->range + outside - 1 : 0;
    return fmax(0, fmax(by_chunks, by_grid)) * h->grid.voxel;
}

double flr_least_distance(const flr_voxmap *voxmap, flr_vec3 point)
{
    const flr_voxmap_header *h = voxmap->header;
    const unsigned mark = flr_voxmap_mark(voxmap, FLR_FIELD_SURFACE, point);
    if (mark == FLR_MARK_INTERIOR || mark == FLR_MARK_SURFACE) return 0;
    if (mark != FLR_MARK_FREE) return (mark - FLR_MARK_SURFACE + h->offset - 1.0) * h->grid.voxel;
    const double by_chunks = flr_least_by_chunks(voxmap, point);
    const double range = fmax(0, (double)h->range - h->offset);
    /* outside the grid the marks are not known to be free for so many voxels */
    uint32_t c[3];
    if (find_chunk(h, flr_grid_to_voxels(&h->grid, point), c) > 0) return fmax(0, by_chunks);
    return fmax(range * h->grid.voxel, by_chunks);
}
