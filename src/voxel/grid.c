/* where voxels lie */
#include "voxel/grid.h"

/* Where in its voxel (0..1) the low face of a box of `cells` voxels should lie, so that low and high
 * face both stay as far from the planes between voxels as they can. */
static double low_face(double cells)
{
    double part = cells - floor(cells);
    if (part > 0.5) part -= 1;
    return 0.5 - part / 2;
}

double flr_grid_cells(flr_box3 bounds, double voxel, unsigned margin, int axis)
{
    const double size[3] = {bounds.high.x - bounds.low.x, bounds.high.y - bounds.low.y,
                            bounds.high.z - bounds.low.z};
    double cells = size[axis] / voxel;
    return ceil(low_face(cells) + cells) + 2.0 * margin;
}

flr_grid flr_grid_around(flr_box3 bounds, double voxel, unsigned margin)
{
    flr_grid grid = {.voxel = voxel};
    const double low[3] = {bounds.low.x, bounds.low.y, bounds.low.z};
    const double high[3] = {bounds.high.x, bounds.high.y, bounds.high.z};
    double origin[3];
    for (int axis = 0; axis < 3; axis++) {
        double cells = (high[axis] - low[axis]) / voxel;
        origin[axis] = low[axis] - (low_face(cells) + margin) * voxel;
        grid.hypers[axis] =
            (uint32_t)ceil(flr_grid_cells(bounds, voxel, margin, axis) / FLR_HYPER_SIDE);
    }
    grid.origin = flr_vec3_make(origin[0], origin[1], origin[2]);
    return grid;
}
