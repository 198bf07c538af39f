/* overlap.h: does a triangle touch a voxel? Exact, by separating axes.
 *
 * A triangle and a cube are apart if and only if one of 13 directions separates them: the cube's three
 * axes, the triangle's normal, and the nine cross products of their edges. The nine are grouped by the
 * cube's axis, which leaves three tests in the plane across that axis for each (Akenine-Möller's test in
 * the form that has all per-triangle terms set up once). Triangle and cube are closed: touching counts,
 * so that no gap is left between neighbours and a surface of triangles becomes a surface of voxels
 * through which no free voxel, not even by a corner, sees the other side.
 *
 * All coordinates are in voxels: cube (i, j, k) is [i, i+1] x [j, j+1] x [k, k+1]. Triangles without area
 * are taken as the segment or point that they are. */
#ifndef FLR_VOXEL_OVERLAP_H
#define FLR_VOXEL_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/math.h"

/* a u + b v + c >= 0 for the cubes that one edge does not separate, (u, v) = low corner */
typedef struct flr_edge_test {
    double a, b, c;
} flr_edge_test;

typedef struct flr_overlap {
    int32_t origin[3];       /* tests are relative to this voxel, for precision */
    int32_t low[3], high[3]; /* first and last voxel of the triangle's box, absolute */
    double normal[3];        /* of the plane */
    double near, far;        /* normal . corner + near <= 0 <= normal . corner + far */
    flr_edge_test xy[3], yz[3], zx[3];
} flr_overlap;

/* Prepares the tests for one triangle; corners must be finite and within +-2^30 voxels. */
flr_overlap flr_overlap_prepare(flr_vec3 a, flr_vec3 b, flr_vec3 c);

static inline bool flr_edge_tests_pass(const flr_edge_test test[3], double u, double v)
{
    return test[0].a * u + (test[0].b * v + test[0].c) >= 0 &&
           test[1].a * u + (test[1].b * v + test[1].c) >= 0 &&
           test[2].a * u + (test[2].b * v + test[2].c) >= 0;
}

static inline bool flr_plane_test_passes(const flr_overlap *t, double x, double y, double z)
{
    double at = t->normal[0] * x + (t->normal[1] * y + t->normal[2] * z);
    return at + t->near <= 0 && at + t->far >= 0;
}

/* The whole test for voxel (x, y, z): the plain form, kept as the yardstick. */
static inline bool flr_overlap_voxel(const flr_overlap *t, int32_t x, int32_t y, int32_t z)
{
    if (x < t->low[0] || x > t->high[0] || y < t->low[1] || y > t->high[1] || z < t->low[2] ||
        z > t->high[2])
        return false;
    double px = x - t->origin[0], py = y - t->origin[1], pz = z - t->origin[2];
    return flr_plane_test_passes(t, px, py, pz) && flr_edge_tests_pass(t->xy, px, py) &&
           flr_edge_tests_pass(t->yz, py, pz) && flr_edge_tests_pass(t->zx, pz, px);
}

/* May the triangle touch any voxel of the cube of `side` voxels at (x, y, z)? Conservative. */
bool flr_overlap_block(const flr_overlap *t, int32_t x, int32_t y, int32_t z, int32_t side);

#endif
