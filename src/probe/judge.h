/* judge.h: does a segment hit a triangle, and where? The one test that all methods, the reference and the proxy share.
 *
 * Segment and triangle are closed sets of points, and the answer is the true one for the coordinates as they are: signs
 * come from double precision where its error bound allows, else from exact.h. So a segment through a shared edge or vertex
 * hits every triangle there, and no crack lets it through. A segment in the plane of a triangle hits where it enters. A
 * triangle without area is never hit: it has no surface, and its neighbours' edges cover it.
 *
 * Thread: any; RT safe. */
#ifndef FLR_PROBE_JUDGE_H
#define FLR_PROBE_JUDGE_H

#include <stdbool.h>

#include "feeler/math.h"

/* Has the triangle any area? Without, it is never hit. Exact. */
bool flr_judge_has_area(const flr_vec3 corners[3]);

/* Finite coordinates. On a hit `*t` is where, 0 at a and 1 at b, within 1e-8; else untouched. The same arguments give the
 * same bits everywhere. */
bool flr_judge(const flr_vec3 corners[3], flr_vec3 a, flr_vec3 b, double *t);

#endif
