/* kit_math.h: short vector words for geometry written by hand.
 *
 * Only additions, multiplications, divisions and square roots, so that every compiler and every
 * machine makes the same bits of the same model. Angles are in turns (1 = 360 degrees), because
 * a quarter turn is then exact.
 */
#ifndef FLR_MODELS_KIT_MATH_H
#define FLR_MODELS_KIT_MATH_H

#include <math.h>

#include "feeler/math.h"

static inline flr_vec3 v3(double x, double y, double z)
{
    flr_vec3 v = {x, y, z};
    return v;
}

static inline flr_vec3 v3_add(flr_vec3 a, flr_vec3 b)
{
    return v3(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline flr_vec3 v3_sub(flr_vec3 a, flr_vec3 b)
{
    return v3(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline flr_vec3 v3_mul(flr_vec3 a, double s) { return v3(a.x * s, a.y * s, a.z * s); }
static inline double v3_dot(flr_vec3 a, flr_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline double v3_length(flr_vec3 a) { return sqrt(v3_dot(a, a)); }
static inline flr_vec3 v3_unit(flr_vec3 a) { return v3_mul(a, 1.0 / v3_length(a)); }

static inline flr_vec3 v3_cross(flr_vec3 a, flr_vec3 b)
{
    return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

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
