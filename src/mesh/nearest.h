/* nearest.h: where two triangles are nearest to each other.
 *
 * Every candidate is a point of one triangle and a point of the other, so that no rounding, however thin a triangle,
 * makes a distance smaller than it is. What cannot be told from touching by rounding is touching: distance 0.
 * Triangles without area count as what is left of them.
 *
 * Thread: any; RT safe. */
#ifndef FLR_MESH_NEAREST_H
#define FLR_MESH_NEAREST_H

#include <stdbool.h>

#include "feeler/math.h"

/* on which part of a triangle a point lies */
enum {
    FLR_CORNER = 0, /* + number of the corner */
    FLR_SIDE = 3,   /* + number of the corner where the side begins */
    FLR_INSIDE = 6
};

typedef struct flr_nearest {
    double distance2; /* squared */
    flr_vec3 at[2];   /* on a, on b */
    unsigned part[2]; /* as above */
} flr_nearest;

/* Looks for a distance below `best->distance2`; when there is one, fills `best` and returns true. */
bool flr_triangles_nearest(const flr_vec3 a[3], const flr_vec3 b[3], flr_nearest *best);

/* The squared distance from a point to a triangle, for bounds: off by a few roundings of the corners, and on a triangle
 * thinner than that by its width. */
double flr_triangle_point2(const flr_vec3 t[3], flr_vec3 p);

#endif
