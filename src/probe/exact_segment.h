/* exact_segment.h: on which side of a plane or a line a point lies, without any rounding.
 *
 * The coordinates are doubles and taken as what they are. Differences, products and sums are carried as expansions: sums
 * of numbers that do not overlap (after Dekker 1971 and Shewchuk 1997). They are of type long double, whose range holds
 * every product of three doubles, so nothing overflows and nothing is lost at the small end: the answer is right for all
 * finite doubles. This takes microseconds; judge.c comes here only when double precision cannot tell.
 *
 * Thread: any; RT safe. */
#ifndef FLR_PROBE_EXACT_SEGMENT_H
#define FLR_PROBE_EXACT_SEGMENT_H

#include "feeler/math.h"

/* (p - d) . ((q - d) x (r - d)), rounded at the very end: the sign is right, zero is zero, and the value is right to a few
 * units in the last place. */
long double flr_exact_volume(flr_vec3 p, flr_vec3 q, flr_vec3 r, flr_vec3 d);

/* Twice the area of the triangle p q r in the plane of two axes (0, 1 or 2), the same way. */
long double flr_exact_area(flr_vec3 p, flr_vec3 q, flr_vec3 r, int u, int v);

#endif
