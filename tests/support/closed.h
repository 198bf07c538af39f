/* closed.h: is every shell of a mesh closed and does it face outwards? */
#ifndef FLR_TEST_CLOSED_H
#define FLR_TEST_CLOSED_H

#include "feeler/mesh.h"

/* Fails the test unless every edge has two sides in opposite directions and every shell encloses
 * a positive volume. Returns the number of shells. */
uint32_t flr_test_assert_closed(const flr_mesh *mesh);

/* Square metres of all triangles. */
double flr_test_area(const flr_mesh *mesh);

/* Cubic metres enclosed, overlaps counted twice. */
double flr_test_volume(const flr_mesh *mesh);

#endif
