/* fit_internal.h: what a fit consists of. */
#ifndef FLR_FIT_INTERNAL_H
#define FLR_FIT_INTERNAL_H

#include <float.h>

#include "feeler/fit.h"

struct flr_fit {
    flr_fit_info info;
    flr_vec3 *vertices;      /* [info.vertices] */
    flr_triangle *triangles; /* [info.triangles] */
    flr_fit_sample *samples; /* [info.samples] */
};

struct flr_fit_pair {
    const flr_fit *parts[2];
};

/* Fills fit->samples and what the info says about them; the triangles are there. */
flr_result flr_fit_make_samples(flr_fit *fit, const flr_fit_def *def, flr_error *error);

/* metres: what rounding makes of distances between points this far from the origin */
static inline double flr_fit_rounding(double extent) { return 64 * DBL_EPSILON * extent; }

/* metres: how far from its origin a part reaches */
double flr_fit_extent(const flr_fit *fit);

/* The gradient of the signed distance at `point`; where that lies on the triangle, its normal. */
flr_vec3 flr_fit_direction(const flr_vec3 triangle[3], flr_vec3 point, flr_vec3 nearest,
                           bool inside);

/* ---- results, filled alike by the query and by its reference ---- */

/* Nothing found, nothing done. */
void flr_fit_begin_result(flr_fit_result *result);

/* Takes note of a sample of part `side` (0: a, 1: b) and its distance to the other part, given in the other part's
 * frame: lists it when it is near, and remembers the deepest. */
void flr_fit_note_sample(const flr_fit *const parts[2], flr_pose T_a_b, uint32_t side,
                         uint32_t sample, const flr_fit_point_result *at,
                         const flr_fit_params *params, flr_fit_contact *contacts,
                         uint32_t capacity, flr_fit_result *result);

/* Sets the bounds, after the least distance of the surfaces and all samples have been noted. */
void flr_fit_end_result(const flr_fit *const parts[2], flr_pose T_a_b, const flr_fit_params *params,
                        flr_fit_result *result);

#endif
