/* closest.h: the point of a triangle nearest to another point. */
#ifndef FLR_VOXEL_CLOSEST_H
#define FLR_VOXEL_CLOSEST_H

#include "feeler/math.h"

/* Works for triangles without area too. */
flr_vec3 flr_closest_on_triangle(flr_vec3 p, flr_vec3 a, flr_vec3 b, flr_vec3 c);

#endif
