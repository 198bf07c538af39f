/* kit_math.h: short vector words for geometry written by hand.
 *
 * The same as feeler/math.h in fewer letters. Only additions, multiplications, divisions and
 * square roots, so that every compiler and machine makes the same bits of the same model.
 */
#ifndef FLR_MODELS_KIT_MATH_H
#define FLR_MODELS_KIT_MATH_H

#include "feeler/math.h"

static inline flr_vec3 v3(double x, double y, double z) { return flr_vec3_make(x, y, z); }
static inline flr_vec3 v3_add(flr_vec3 a, flr_vec3 b) { return flr_vec3_add(a, b); }
static inline flr_vec3 v3_sub(flr_vec3 a, flr_vec3 b) { return flr_vec3_sub(a, b); }
static inline flr_vec3 v3_mul(flr_vec3 a, double s) { return flr_vec3_scale(a, s); }
static inline flr_vec3 v3_cross(flr_vec3 a, flr_vec3 b) { return flr_vec3_cross(a, b); }
static inline double v3_dot(flr_vec3 a, flr_vec3 b) { return flr_vec3_dot(a, b); }
static inline double v3_length(flr_vec3 a) { return flr_vec3_length(a); }
static inline flr_vec3 v3_unit(flr_vec3 a) { return v3_mul(a, 1.0 / v3_length(a)); }

/* a at t = 0, b at t = 1 */
static inline flr_vec3 v3_mix(flr_vec3 a, flr_vec3 b, double t)
{
    return v3(a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t, a.z + (b.z - a.z) * t);
}

/* some unit vector at right angles to the unit vector a */
static inline flr_vec3 v3_across(flr_vec3 a)
{
    double x = fabs(a.x), y = fabs(a.y), z = fabs(a.z);
    flr_vec3 other = z <= x && z <= y ? v3(0, 0, 1) : y <= x ? v3(0, 1, 0) : v3(1, 0, 0);
    return v3_unit(v3_cross(other, a));
}

#endif
