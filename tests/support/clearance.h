/* clearance.h: how far is a point from a mesh? A grid of triangles, for checks in tests. */
#ifndef FLR_TEST_CLEARANCE_H
#define FLR_TEST_CLEARANCE_H

#include <stddef.h>

#include "feeler/mesh.h"

typedef struct flr_clearance flr_clearance;

/* For points in `region`, distances up to `reach` metres. Borrows the mesh. Never NULL: a test
 * without memory fails. */
flr_clearance *flr_clearance_create(const flr_mesh *mesh, flr_box3 region, double reach);
void flr_clearance_destroy(flr_clearance *clearance);

/* The distance to the nearest triangle, exact where below `reach`, else `reach`. */
double flr_clearance_at(const flr_clearance *clearance, flr_vec3 p);

/* Points on a mesh's surface, such that no point of it is farther than `spacing` from one. The
 * caller frees them. */
flr_vec3 *flr_test_surface_points(const flr_mesh *mesh, double spacing, size_t *count);

#endif
