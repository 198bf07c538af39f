/* where the wall is that a corner touches */
#include "feeler/dynamics.h"
#include "voxel/voxmap_format.h"

/* Voxels to the surface; below zero inside. */
static double distance_of(const flr_voxmap_header *h, unsigned mark)
{
    if (mark == FLR_MARK_INTERIOR) return -1;
    return mark == FLR_MARK_FREE ? h->range + 1.0 : mark - (double)FLR_MARK_SURFACE;
}

/* The direction in which the distance grows, over the 27 voxels about a point: the slopes of all
 * pairs of opposite ones. Zero where there is none. */
static flr_vec3 slope_at(const flr_voxmap *voxmap, flr_vec3 point)
{
    const flr_voxmap_header *h = voxmap->header;
    flr_vec3 v = flr_grid_to_voxels(&h->grid, point), sum = {0};
    if (!(v.x > -4e9 && v.y > -4e9 && v.z > -4e9 && v.x < 4e9 && v.y < 4e9 && v.z < 4e9))
        return sum;
    int64_t at[3] = {(int64_t)floor(v.x), (int64_t)floor(v.y), (int64_t)floor(v.z)};
    for (int z = -1; z <= 1; z++)
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++) {
                unsigned mark =
                    flr_voxmap_mark_at(voxmap, FLR_FIELD_SURFACE, at[0] + x, at[1] + y, at[2] + z);
                flr_vec3 offset = flr_vec3_make(x, y, z);
                sum = flr_vec3_add_scaled(sum, distance_of(h, mark), offset);
            }
    return sum;
}

void flr_wall_normals(const flr_voxmap *voxmap, flr_pose T_world_voxmap,
                      const flr_contact *contacts, uint32_t count, flr_vec3 *walls)
{
    for (uint32_t i = 0; i < count; i++) {
        const flr_contact *c = &contacts[i];
        walls[i] = c->normal;
        if (c->label == FLR_LABEL_FACE)
            continue; /* meets a corner: its own normal is the plane's */
        flr_vec3 slope = slope_at(voxmap, flr_pose_apply_inverse(T_world_voxmap, c->point));
        slope = flr_vec3_normalize(flr_pose_apply_vector(T_world_voxmap, slope));
        /* a wall from behind is that of another side of a thin part */
        if (flr_vec3_dot(slope, c->normal) > 0) walls[i] = slope;
    }
}
