/* overlap_prepare.h: flr_overlap_prepare() for inlining, where the compiler may use wider instructions. The same bits. */
#ifndef FLR_VOXEL_OVERLAP_PREPARE_H
#define FLR_VOXEL_OVERLAP_PREPARE_H

#include "voxel/overlap.h"

static inline double flr_overlap_least(const double v[3])
{
    return v[0] < v[1] ? (v[0] < v[2] ? v[0] : v[2]) : (v[1] < v[2] ? v[1] : v[2]);
}
static inline double flr_overlap_most(const double v[3])
{
    return v[0] > v[1] ? (v[0] > v[2] ? v[0] : v[2]) : (v[1] > v[2] ? v[1] : v[2]);
}

/* The tests in one coordinate plane for the triangle's edges (u, v): the cube's corner that lies
 * farthest inside decides, hence the two maxima. `sign` orients the edges so that inside is
 * positive. A triangle seen edge-on has sign 0 or of either kind: then forward and
 * backward edges bound the line from both sides. What counts along an edge's normal is the lowest of all three
 * corners: that is the edge itself, but for slivers whose sign is lost in rounding. */
static inline __attribute__((always_inline)) void
flr_overlap_edge_tests(const double u[3], const double v[3], double area, flr_edge_test test[3])
{
    double sign = area < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        double a = -sign * (v[j] - v[i]), b = sign * (u[j] - u[i]);
        const double along[3] = {a * u[0] + b * v[0], a * u[1] + b * v[1], a * u[2] + b * v[2]};
        double c = -flr_overlap_least(along) + (a > 0 ? a : 0) + (b > 0 ? b : 0);
        test[i] = (flr_edge_test){a, b, c};
    }
}

/* The first and the last voxel of the triangle's box. */
static inline __attribute__((always_inline)) void
flr_overlap_box(flr_vec3 a, flr_vec3 b, flr_vec3 c, int32_t first[3], int32_t last[3])
{
    flr_vec3 low = flr_vec3_min(a, flr_vec3_min(b, c)), high = flr_vec3_max(a, flr_vec3_max(b, c));
    const double from[3] = {low.x, low.y, low.z}, to[3] = {high.x, high.y, high.z};
    for (int axis = 0; axis < 3; axis++) {
        /* a corner on the plane between two voxels touches both */
        first[axis] = (int32_t)ceil(from[axis]) - 1;
        last[axis] = (int32_t)floor(to[axis]);
    }
}

static inline __attribute__((always_inline)) flr_overlap
flr_overlap_prepare_inline(flr_vec3 a, flr_vec3 b, flr_vec3 c)
{
    flr_overlap t;
    flr_overlap_box(a, b, c, t.low, t.high);
    for (int axis = 0; axis < 3; axis++) t.origin[axis] = t.low[axis];

    /* relative to a voxel close by, so that far from the origin no digit is lost */
    const double x[3] = {a.x - t.origin[0], b.x - t.origin[0], c.x - t.origin[0]};
    const double y[3] = {a.y - t.origin[1], b.y - t.origin[1], c.y - t.origin[1]};
    const double z[3] = {a.z - t.origin[2], b.z - t.origin[2], c.z - t.origin[2]};
    flr_vec3 e = flr_vec3_make(x[1] - x[0], y[1] - y[0], z[1] - z[0]);
    flr_vec3 f = flr_vec3_make(x[2] - x[0], y[2] - y[0], z[2] - z[0]);
    flr_vec3 n = flr_vec3_cross(e, f);

    /* the triangle lies between the cube's corner farthest back and the one farthest front; all three corners are
       asked, because the normal of a sliver is mostly rounding and need not be square to it */
    double at[3];
    for (int i = 0; i < 3; i++) at[i] = n.x * x[i] + n.y * y[i] + n.z * z[i];
    double back = (n.x < 0 ? n.x : 0) + (n.y < 0 ? n.y : 0) + (n.z < 0 ? n.z : 0);
    double front = (n.x > 0 ? n.x : 0) + (n.y > 0 ? n.y : 0) + (n.z > 0 ? n.z : 0);
    t.normal[0] = n.x, t.normal[1] = n.y, t.normal[2] = n.z;
    t.near = back - flr_overlap_most(at);
    t.far = front - flr_overlap_least(at);

    flr_overlap_edge_tests(x, y, n.z, t.xy);
    flr_overlap_edge_tests(y, z, n.x, t.yz);
    flr_overlap_edge_tests(z, x, n.y, t.zx);
    return t;
}

#endif
