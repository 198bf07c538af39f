/* triangles in small integers */
#include <math.h>

#include "probe/model.h"

/* fine units to 0 … 255, what lies outside to the border */
static uint8_t coarse(double fine)
{
    double at = floor((fine + FLR_PROBE_HALF) / 8);
    return (uint8_t)(at < 0 ? 0 : at > 255 ? 255 : at);
}

static double component(flr_vec3 p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

/* Any direction will do, so it is used as rounded; with a normal of zero it is zero, too, and tells nothing apart. */
static void put_side(flr_probe_block *block, int lane, const flr_vec3 v[3], flr_vec3 n,
                     flr_vec3 centre, double scale)
{
    flr_vec3 longest = flr_vec3_zero();
    for (int i = 0; i < 3; i++) {
        flr_vec3 edge = flr_vec3_sub(v[(i + 1) % 3], v[i]);
        if (flr_vec3_length2(edge) > flr_vec3_length2(longest)) longest = edge;
    }
    flr_vec3 across = flr_vec3_cross(n, longest);
    double length = flr_vec3_length(across), low = INFINITY, high = -INFINITY;
    if (length > 0) across = flr_vec3_scale(across, 1 / length);
    flr_vec3 used = {rint(across.x * 32767), rint(across.y * 32767), rint(across.z * 32767)};
    for (int i = 0; i < 3; i++) {
        double at = flr_vec3_dot(used, flr_vec3_sub(v[i], centre)) * (scale / 32768);
        low = fmin(low, at), high = fmax(high, at);
    }
    for (int axis = 0; axis < 3; axis++) block->side[axis][lane] = (int16_t)component(used, axis);
    /* no end of a segment comes farther out than 8192 */
    block->side_low[lane] = (int16_t)floor(fmin(fmax(low, -8192), 8192));
    block->side_high[lane] = (int16_t)ceil(fmin(fmax(high, -8192), 8192));
}

void flr_probe_block_put(flr_probe_block *block, int lane, const flr_mesh *mesh, uint32_t triangle,
                         flr_vec3 centre, double scale)
{
    flr_vec3 v[3];
    flr_probe_corners(mesh, triangle, v);
    /* the box, one fine unit larger on each side for rounding */
    flr_vec3 low = flr_vec3_min(v[0], flr_vec3_min(v[1], v[2])),
             high = flr_vec3_max(v[0], flr_vec3_max(v[1], v[2]));
    for (int axis = 0; axis < 3; axis++) {
        double middle = component(centre, axis);
        uint8_t top = coarse((component(high, axis) - middle) * scale + 1);
        block->box[axis][lane] = coarse((component(low, axis) - middle) * scale - 1);
        block->box[3 + axis][lane] = (uint8_t)(255 - top);
    }
    /* the plane, where rounding has left enough of the normal: its direction is right to 1e-10, so that it is right to
     * a fraction of a fine unit wherever the triangle reaches */
    flr_vec3 e = flr_vec3_sub(v[1], v[0]), f = flr_vec3_sub(v[2], v[0]), n = flr_vec3_cross(e, f);
    double length = flr_vec3_length(n);
    double offset = 0;
    if (length > 1e-5 * flr_vec3_length(e) * flr_vec3_length(f) && length > 1e-150) {
        n = flr_vec3_scale(n, 1 / length);
        offset = flr_vec3_dot(n, flr_vec3_sub(v[0], centre)) * scale;
    } else {
        n = flr_vec3_zero();
    }
    if (!(fabs(offset) < 8192)) offset = 0, n = flr_vec3_zero();
    for (int axis = 0; axis < 3; axis++)
        block->normal[axis][lane] = (int16_t)lrint(component(n, axis) * 32767);
    block->offset[lane] = (int16_t)lrint(offset * (32767.0 / 32768));
    put_side(block, lane, v, n, centre, scale);
    block->triangle[lane] = triangle;
}

void flr_probe_block_end(flr_probe_block *block, int lane)
{
    for (; lane < FLR_PROBE_LANES; lane++) {
        for (int axis = 0; axis < 3; axis++) {
            block->box[axis][lane] = block->box[3 + axis][lane] = 255;
            block->normal[axis][lane] = block->side[axis][lane] = 0;
        }
        block->side_low[lane] = block->side_high[lane] = 0;
        block->offset[lane] = INT16_MAX - FLR_PROBE_SLACK; /* no end is that high */
        block->triangle[lane] = FLR_PROBE_NONE;
    }
}
