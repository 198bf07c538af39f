/* brute.h: distances between triangles, found by comparing everything that is in range with everything. Plain and in double
 * precision; shares no code with the exact engine, which `feeler bench accuracy` compares with it. */
#ifndef FLR_BENCH_BRUTE_H
#define FLR_BENCH_BRUTE_H

#include "feeler/mesh.h"

/* A mesh in a grid of equal cells, each with the triangles whose boxes reach into it. */
typedef struct flr_brute flr_brute;

/* `mesh` is borrowed as long as it lives. */
flr_result flr_brute_create(const flr_mesh *mesh, flr_brute **brute, flr_error *error);
void flr_brute_destroy(flr_brute *brute); /* NULL allowed */

/* The least distance of two triangles, metres; 0 where they have a point in common. */
double flr_brute_triangles(const flr_vec3 a[3], const flr_vec3 b[3]);

/* The least distance between the mesh and another one that `T` places in its frame, metres, if it is less than `range`; else
 * INFINITY. */
double flr_brute_distance(flr_brute *brute, const flr_mesh *other, flr_pose T, double range);

/* The distance of a point from the surface, metres, if it is less than `range`; else INFINITY. */
double flr_brute_point(flr_brute *brute, flr_vec3 point, double range);

/* The winding number of the mesh around a point, by all solid angles. */
double flr_brute_winding(const flr_brute *brute, flr_vec3 point);

#endif
