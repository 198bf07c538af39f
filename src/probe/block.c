/* triangles in small integers */
#include <math.h>

#include "probe/model.h"

/* Millions of triangles are put into blocks, so these are written without calls: the numbers are small. */
static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline double larger(double a, double b) { return a > b ? a : b; }
static inline int32_t floor_of(double x) { return (int32_t)(x + 65536) - 65536; }
static inline int32_t nearest(double x) { return floor_of(x + 0.5); }
static inline double within(double x, double most) { return larger(smaller(x, most), -most); }

/* fine units to 0 … 255, what lies outside to the border */
static inline uint8_t coarse(double fine)
{
    return (uint8_t)larger(0, smaller(255, (fine + FLR_PROBE_HALF) / 8));
}

static inline double component(flr_vec3 p, int axis)
{
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

/* ---- the piece of a triangle that lies in a frame ---- */

enum { BLOCK_CORNERS = 12 }; /* nine, of a triangle cut by six planes, and what rounding may add */

typedef struct block_piece {
    flr_vec3 at[BLOCK_CORNERS]; /* fine units from the middle of the frame */
    int count;
} block_piece;

/* Keeps what lies below the plane sign * axis = reach. */
static void cut(block_piece *p, int axis, double sign, double reach)
{
    block_piece whole = *p;
    p->count = 0;
    for (int i = 0; i < whole.count; i++) {
        if (p->count > BLOCK_CORNERS - 2) { /* too large is right, too */
            *p = whole;
            return;
        }
        flr_vec3 from = whole.at[i], to = whole.at[(i + 1) % whole.count];
        double a = sign * component(from, axis) - reach, b = sign * component(to, axis) - reach;
        if (a <= 0) p->at[p->count++] = from;
        if ((a < 0 && b > 0) || (a > 0 && b < 0))
            p->at[p->count++] = flr_vec3_lerp(from, to, a / (a - b));
    }
}

/* A triangle that reaches far beyond its frame is cut: only what is near can be hit here, and of the long triangles of a fan
 * that is little. Those that reach a little beyond are left whole, to save time. */
static void make_piece(block_piece *p, const flr_vec3 v[3], flr_vec3 centre, double scale)
{
    const double far = 4 * FLR_PROBE_HALF, near = FLR_PROBE_HALF + 16;
    double most = 0;
    p->count = 3;
    for (int i = 0; i < 3; i++) {
        flr_vec3 at = p->at[i] = flr_vec3_scale(flr_vec3_sub(v[i], centre), scale);
        most = larger(most, larger(fabs(at.x), larger(fabs(at.y), fabs(at.z))));
    }
    for (int axis = 0; axis < 3 && most > far; axis++)
        cut(p, axis, 1, near), cut(p, axis, -1, near);
}

/* ---- a lane of a block ---- */

/* Any direction will do, so it is used as rounded; with a normal of zero it is zero, too, and tells nothing apart. */
static void put_side(flr_probe_block *block, int lane, const flr_vec3 v[3], flr_vec3 n,
                     const block_piece *p)
{
    flr_vec3 longest = flr_vec3_zero();
    for (int i = 0; i < 3; i++) {
        flr_vec3 edge = flr_vec3_sub(v[(i + 1) % 3], v[i]);
        if (flr_vec3_length2(edge) > flr_vec3_length2(longest)) longest = edge;
    }
    flr_vec3 across = flr_vec3_cross(n, longest);
    double length = flr_vec3_length(across), low = INFINITY, high = -INFINITY;
    if (length > 0) across = flr_vec3_scale(across, 1 / length);
    flr_vec3 used = {nearest(across.x * 32767), nearest(across.y * 32767),
                     nearest(across.z * 32767)};
    for (int i = 0; i < p->count; i++) {
        double at = flr_vec3_dot(used, p->at[i]) / 32768;
        low = smaller(low, at), high = larger(high, at);
    }
    for (int axis = 0; axis < 3; axis++) block->side[axis][lane] = (int16_t)component(used, axis);
    /* no end of a segment comes farther out than 8192 */
    block->side_low[lane] = (int16_t)floor_of(within(low, 8192));
    block->side_high[lane] = (int16_t)-floor_of(-within(high, 8192));
}

void flr_probe_block_put(flr_probe_block *block, int lane, const flr_mesh *mesh, uint32_t triangle,
                         flr_vec3 centre, double scale)
{
    flr_vec3 v[3];
    flr_probe_corners(mesh, triangle, v);
    block_piece p;
    make_piece(&p, v, centre, scale);
    /* the box, one fine unit larger on each side for rounding */
    flr_vec3 low = {INFINITY, INFINITY, INFINITY}, high = flr_vec3_neg(low);
    for (int i = 0; i < p.count; i++)
        low = flr_vec3_min(low, p.at[i]), high = flr_vec3_max(high, p.at[i]);
    for (int axis = 0; axis < 3; axis++) {
        uint8_t top = coarse(component(high, axis) + 1);
        block->box[axis][lane] = coarse(component(low, axis) - 1);
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
        block->normal[axis][lane] = (int16_t)nearest(component(n, axis) * 32767);
    block->offset[lane] = (int16_t)nearest(offset * (32767.0 / 32768));
    put_side(block, lane, v, n, &p);
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
