/* feeler/math.h: vectors, quaternions, poses, boxes, spatial inertia.
 *
 * Plain values, passed by value, double precision, SI units. All functions are pure.
 *
 * Frames are named in a transform: T_world_part takes a point given in the part's frame
 * to the world's frame, p_world = flr_pose_apply(T_world_part, p_part), and transforms
 * chain by their inner names: T_a_c = flr_pose_mul(T_a_b, T_b_c). Quaternions are
 * w, x, y, z; a pose's quaternion is of unit length. Z is up.
 *
 * Thread: any; RT safe.
 */
#ifndef FEELER_MATH_H
#define FEELER_MATH_H

#include <stdbool.h>

#include "feeler/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flr_vec3 {
    double x, y, z;
} flr_vec3;

/* Rows first: m[row][column]. */
typedef struct flr_mat3 {
    double m[3][3];
} flr_mat3;

typedef struct flr_quat {
    double w, x, y, z;
} flr_quat;

/* Turn by q, then move by p. */
typedef struct flr_pose {
    flr_vec3 p; /* metres */
    flr_quat q; /* unit */
} flr_pose;

/* Axis-aligned; empty when low > high in some direction. */
typedef struct flr_box3 {
    flr_vec3 low, high;
} flr_box3;

#ifdef __cplusplus
}
#endif
#endif
