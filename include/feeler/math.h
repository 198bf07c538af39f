/* feeler/math.h: vectors, quaternions, poses, boxes; twists, wrenches and inertia.
 *
 *   math     vectors, quaternions, poses, boxes
 *   inertia  twists, wrenches, mass and inertia tensors
 */
#ifndef FEELER_MATH_H
#define FEELER_MATH_H

#include <math.h>
#include <stdbool.h>

#include "feeler/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== math =================================================================================== */

/* Vectors, matrices, quaternions, poses, boxes.
 *
 * Plain values, passed by value, double precision, SI units. All functions are pure: the
 * answer depends on the arguments alone, nothing is kept, no pointer may be NULL.
 * Where mathematics has no answer (the direction of a zero vector), the comment names the
 * one that is given. Spatial inertia, twists and wrenches are in feeler/math.h.
 *
 * Frames are named in a transform: T_world_part takes a point given in the part's frame
 * to the world's frame, p_world = flr_pose_apply(T_world_part, p_part), and transforms
 * chain by their inner names: T_a_c = flr_pose_mul(T_a_b, T_b_c). Quaternions are
 * w, x, y, z; a pose's quaternion is of unit length. Z is up.
 *
 * Thread: any; RT safe.
 */

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

/* ---- angles ---- */

#define FLR_PI     3.14159265358979323846
#define FLR_TWO_PI 6.28318530717958647693 /* a whole turn in radians */
#define FLR_DEGREE (FLR_PI / 180)         /* one degree in radians */

/* Sine, cosine and the angle of the point (x, y), as in math.h, but with the same bits on every machine and with every C library:
 * within 0.5001 of the last place. The angle is below 2^20 radians in size; beyond that, and for what is not finite, the
 * C library answers. */
FLR_API double flr_sin(double angle);
FLR_API double flr_cos(double angle);
FLR_API double flr_atan2(double y, double x);

/* ---- vectors ---- */

static inline flr_vec3 flr_vec3_make(double x, double y, double z)
{
    flr_vec3 v = {x, y, z};
    return v;
}

static inline flr_vec3 flr_vec3_zero(void) { return flr_vec3_make(0, 0, 0); }

static inline flr_vec3 flr_vec3_add(flr_vec3 a, flr_vec3 b)
{
    return flr_vec3_make(a.x + b.x, a.y + b.y, a.z + b.z);
}

/* a - b: from b to a. */
static inline flr_vec3 flr_vec3_sub(flr_vec3 a, flr_vec3 b)
{
    return flr_vec3_make(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline flr_vec3 flr_vec3_neg(flr_vec3 a) { return flr_vec3_make(-a.x, -a.y, -a.z); }

static inline flr_vec3 flr_vec3_scale(flr_vec3 a, double factor)
{
    return flr_vec3_make(a.x * factor, a.y * factor, a.z * factor);
}

/* a + factor * b. */
static inline flr_vec3 flr_vec3_add_scaled(flr_vec3 a, double factor, flr_vec3 b)
{
    return flr_vec3_make(a.x + factor * b.x, a.y + factor * b.y, a.z + factor * b.z);
}

static inline double flr_vec3_dot(flr_vec3 a, flr_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline flr_vec3 flr_vec3_cross(flr_vec3 a, flr_vec3 b)
{
    return flr_vec3_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double flr_vec3_length2(flr_vec3 a) { return flr_vec3_dot(a, a); }
static inline double flr_vec3_length(flr_vec3 a) { return sqrt(flr_vec3_dot(a, a)); }

static inline double flr_vec3_distance(flr_vec3 a, flr_vec3 b)
{
    return flr_vec3_length(flr_vec3_sub(a, b));
}

/* By component. A NaN on either side may come through. */
static inline flr_vec3 flr_vec3_min(flr_vec3 a, flr_vec3 b)
{
    return flr_vec3_make(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}

static inline flr_vec3 flr_vec3_max(flr_vec3 a, flr_vec3 b)
{
    return flr_vec3_make(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}

/* a at 0, b at 1, straight between and beyond. */
static inline flr_vec3 flr_vec3_lerp(flr_vec3 a, flr_vec3 b, double t)
{
    return flr_vec3_add(flr_vec3_scale(a, 1 - t), flr_vec3_scale(b, t));
}

static inline bool flr_vec3_is_finite(flr_vec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

static inline bool flr_vec3_equal(flr_vec3 a, flr_vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Unit length, same direction, however small or large `a` is. The zero vector and vectors
 * that are not finite give the zero vector. */
FLR_API flr_vec3 flr_vec3_normalize(flr_vec3 a);

/* Some unit vector at right angles to `a`; the x axis when `a` has no direction. */
FLR_API flr_vec3 flr_vec3_perpendicular(flr_vec3 a);

/* ---- 3x3 matrices ---- */

static inline flr_mat3 flr_mat3_diagonal(flr_vec3 d)
{
    flr_mat3 r = {{{d.x, 0, 0}, {0, d.y, 0}, {0, 0, d.z}}};
    return r;
}

static inline flr_mat3 flr_mat3_identity(void) { return flr_mat3_diagonal(flr_vec3_make(1, 1, 1)); }

/* m v. */
static inline flr_vec3 flr_mat3_apply(flr_mat3 m, flr_vec3 v)
{
    return flr_vec3_make(m.m[0][0] * v.x + m.m[0][1] * v.y + m.m[0][2] * v.z,
                         m.m[1][0] * v.x + m.m[1][1] * v.y + m.m[1][2] * v.z,
                         m.m[2][0] * v.x + m.m[2][1] * v.y + m.m[2][2] * v.z);
}

/* `index` 0, 1 or 2. */
static inline flr_vec3 flr_mat3_row(flr_mat3 m, int index)
{
    return flr_vec3_make(m.m[index][0], m.m[index][1], m.m[index][2]);
}

static inline flr_vec3 flr_mat3_column(flr_mat3 m, int index)
{
    return flr_vec3_make(m.m[0][index], m.m[1][index], m.m[2][index]);
}

static inline flr_mat3 flr_mat3_from_columns(flr_vec3 x, flr_vec3 y, flr_vec3 z)
{
    flr_mat3 r = {{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
    return r;
}

static inline flr_mat3 flr_mat3_add(flr_mat3 a, flr_mat3 b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) a.m[i][j] += b.m[i][j];
    return a;
}

static inline flr_mat3 flr_mat3_sub(flr_mat3 a, flr_mat3 b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) a.m[i][j] -= b.m[i][j];
    return a;
}

static inline flr_mat3 flr_mat3_scale(flr_mat3 a, double factor)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) a.m[i][j] *= factor;
    return a;
}

static inline flr_mat3 flr_mat3_mul(flr_mat3 a, flr_mat3 b)
{
    flr_mat3 r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
    return r;
}

static inline flr_mat3 flr_mat3_transpose(flr_mat3 m)
{
    flr_mat3 r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) r.m[i][j] = m.m[j][i];
    return r;
}

/* The matrix a b^T. */
static inline flr_mat3 flr_mat3_outer(flr_vec3 a, flr_vec3 b)
{
    flr_mat3 r = {{{a.x * b.x, a.x * b.y, a.x * b.z},
                   {a.y * b.x, a.y * b.y, a.y * b.z},
                   {a.z * b.x, a.z * b.y, a.z * b.z}}};
    return r;
}

/* The matrix that does what a cross product with `a` from the left does. */
static inline flr_mat3 flr_mat3_skew(flr_vec3 a)
{
    flr_mat3 r = {{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
    return r;
}

static inline double flr_mat3_det(flr_mat3 m)
{
    return flr_vec3_dot(flr_mat3_row(m, 0), flr_vec3_cross(flr_mat3_row(m, 1), flr_mat3_row(m, 2)));
}

static inline bool flr_mat3_is_finite(flr_mat3 m)
{
    return flr_vec3_is_finite(flr_mat3_row(m, 0)) && flr_vec3_is_finite(flr_mat3_row(m, 1)) &&
           flr_vec3_is_finite(flr_mat3_row(m, 2));
}

/* False, and `*inverse` untouched, when `m` is not finite or singular: its determinant is
 * below 1e-14 of the product of its rows' lengths. */
FLR_API bool flr_mat3_inverse(flr_mat3 m, flr_mat3 *inverse);

/* The eigenvalues of a symmetric matrix in rising order, and as the columns of `*vectors`
 * the unit eigenvectors, a right-handed set: m = V diag(values) V^T. Reads the upper
 * triangle only. When `m` is not finite: zeros and the identity. */
FLR_API void flr_mat3_eigen(flr_mat3 m, flr_vec3 *values, flr_mat3 *vectors);

/* ---- quaternions ---- */

static inline flr_quat flr_quat_make(double w, double x, double y, double z)
{
    flr_quat q = {w, x, y, z};
    return q;
}

static inline flr_quat flr_quat_identity(void) { return flr_quat_make(1, 0, 0, 0); }

/* Turn by b, then by a. */
static inline flr_quat flr_quat_mul(flr_quat a, flr_quat b)
{
    return flr_quat_make(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                         a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                         a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                         a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}

/* The reverse turn of a unit quaternion. */
static inline flr_quat flr_quat_conjugate(flr_quat q)
{
    return flr_quat_make(q.w, -q.x, -q.y, -q.z);
}

static inline double flr_quat_dot(flr_quat a, flr_quat b)
{
    return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}

/* Turns v by the unit quaternion q. */
static inline flr_vec3 flr_quat_rotate(flr_quat q, flr_vec3 v)
{
    flr_vec3 u = flr_vec3_make(q.x, q.y, q.z);
    flr_vec3 t = flr_vec3_scale(flr_vec3_cross(u, v), 2);
    return flr_vec3_add(flr_vec3_add_scaled(v, q.w, t), flr_vec3_cross(u, t));
}

/* Turns v back. */
static inline flr_vec3 flr_quat_rotate_inverse(flr_quat q, flr_vec3 v)
{
    return flr_quat_rotate(flr_quat_conjugate(q), v);
}

static inline bool flr_quat_is_finite(flr_quat q)
{
    return isfinite(q.w) && isfinite(q.x) && isfinite(q.y) && isfinite(q.z);
}

/* Unit length. Zero and not finite give the identity. The sign stays. */
FLR_API flr_quat flr_quat_normalize(flr_quat q);

/* The turn by `angle` radians about `axis`, which need not be of unit length; a zero axis
 * gives the identity. */
FLR_API flr_quat flr_quat_from_axis_angle(flr_vec3 axis, double angle);

/* The turn by |r| radians about r (the exponential map), to full precision for small turns
 * too. A vector that is not finite gives the identity. */
FLR_API flr_quat flr_quat_from_rotation_vector(flr_vec3 r);

/* The reverse (the logarithm): the shorter of the two turns, so at most pi long. `q` need not
 * be quite of unit length; zero and not finite give the zero vector. */
FLR_API flr_vec3 flr_quat_to_rotation_vector(flr_quat q);

/* The rotation nearest to `m` in the sense of least squares, with w >= 0. A scale factor
 * drops out and rounding errors are shared fairly. A mirroring matrix gives the nearest true
 * rotation (one of several); zero and not finite give the identity. */
FLR_API flr_quat flr_quat_from_mat3(flr_mat3 m);

/* The rotation matrix of a unit quaternion. */
FLR_API flr_mat3 flr_quat_to_mat3(flr_quat q);

/* Between two unit quaternions along the shorter way, t from 0 to 1: slerp at constant
 * angular speed, nlerp a little cheaper and not quite constant. */
FLR_API flr_quat flr_quat_slerp(flr_quat a, flr_quat b, double t);
FLR_API flr_quat flr_quat_nlerp(flr_quat a, flr_quat b, double t);

/* The angle between two orientations, radians, 0 to pi. */
FLR_API double flr_quat_angle(flr_quat a, flr_quat b);

/* ---- poses ---- */

static inline flr_pose flr_pose_make(flr_vec3 p, flr_quat q)
{
    flr_pose T = {p, q};
    return T;
}

static inline flr_pose flr_pose_identity(void)
{
    return flr_pose_make(flr_vec3_zero(), flr_quat_identity());
}

/* T_a_c of T_a_b and T_b_c. The quaternion is not normalized again: in a long chain, use
 * flr_quat_normalize() now and then. */
static inline flr_pose flr_pose_mul(flr_pose T_a_b, flr_pose T_b_c)
{
    return flr_pose_make(flr_vec3_add(T_a_b.p, flr_quat_rotate(T_a_b.q, T_b_c.p)),
                         flr_quat_mul(T_a_b.q, T_b_c.q));
}

/* T_b_a of T_a_b. */
static inline flr_pose flr_pose_inverse(flr_pose T_a_b)
{
    flr_quat q = flr_quat_conjugate(T_a_b.q);
    return flr_pose_make(flr_vec3_neg(flr_quat_rotate(q, T_a_b.p)), q);
}

/* A point of frame b as seen in frame a. */
static inline flr_vec3 flr_pose_apply(flr_pose T_a_b, flr_vec3 point_b)
{
    return flr_vec3_add(T_a_b.p, flr_quat_rotate(T_a_b.q, point_b));
}

/* A direction: turned, not moved. */
static inline flr_vec3 flr_pose_apply_vector(flr_pose T_a_b, flr_vec3 vector_b)
{
    return flr_quat_rotate(T_a_b.q, vector_b);
}

/* A point of frame a as seen in frame b. */
static inline flr_vec3 flr_pose_apply_inverse(flr_pose T_a_b, flr_vec3 point_a)
{
    return flr_quat_rotate_inverse(T_a_b.q, flr_vec3_sub(point_a, T_a_b.p));
}

/* Straight in position, slerp in orientation. */
FLR_API flr_pose flr_pose_interpolate(flr_pose a, flr_pose b, double t);

/* Finite, and the quaternion's length within 1e-6 of 1. */
FLR_API bool flr_pose_is_valid(flr_pose T);

/* ---- boxes ---- */

/* The box of nothing: adding to it gives what was added. */
static inline flr_box3 flr_box3_empty(void)
{
    flr_box3 box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    return box;
}

static inline flr_box3 flr_box3_make(flr_vec3 low, flr_vec3 high)
{
    flr_box3 box = {low, high};
    return box;
}

/* True unless low <= high in all three directions; a single point is not empty. */
static inline bool flr_box3_is_empty(flr_box3 box)
{
    return !(box.low.x <= box.high.x && box.low.y <= box.high.y && box.low.z <= box.high.z);
}

static inline flr_box3 flr_box3_add(flr_box3 box, flr_vec3 point)
{
    return flr_box3_make(flr_vec3_min(box.low, point), flr_vec3_max(box.high, point));
}

/* The least box around both. */
static inline flr_box3 flr_box3_union(flr_box3 a, flr_box3 b)
{
    return flr_box3_make(flr_vec3_min(a.low, b.low), flr_vec3_max(a.high, b.high));
}

/* What both share; empty when nothing. */
static inline flr_box3 flr_box3_intersection(flr_box3 a, flr_box3 b)
{
    return flr_box3_make(flr_vec3_max(a.low, b.low), flr_vec3_min(a.high, b.high));
}

/* Touching counts; an empty box overlaps nothing. */
static inline bool flr_box3_overlap(flr_box3 a, flr_box3 b)
{
    return !flr_box3_is_empty(flr_box3_intersection(a, b));
}

/* The border counts. */
static inline bool flr_box3_contains(flr_box3 box, flr_vec3 p)
{
    return box.low.x <= p.x && p.x <= box.high.x && box.low.y <= p.y && p.y <= box.high.y &&
           box.low.z <= p.z && p.z <= box.high.z;
}

/* Edge lengths; zero when empty. */
static inline flr_vec3 flr_box3_size(flr_box3 box)
{
    return flr_box3_is_empty(box) ? flr_vec3_zero() : flr_vec3_sub(box.high, box.low);
}

/* The middle; the origin when empty. */
static inline flr_vec3 flr_box3_centre(flr_box3 box)
{
    return flr_box3_is_empty(box) ? flr_vec3_zero() : flr_vec3_lerp(box.low, box.high, 0.5);
}

/* Larger by `margin` on every side (smaller, perhaps empty, when negative). */
static inline flr_box3 flr_box3_grow(flr_box3 box, double margin)
{
    flr_vec3 m = flr_vec3_make(margin, margin, margin);
    return flr_box3_make(flr_vec3_sub(box.low, m), flr_vec3_add(box.high, m));
}

/* The least box of frame a around the turned box of frame b. Empty stays empty. */
FLR_API flr_box3 flr_box3_transform(flr_pose T_a_b, flr_box3 box_b);

/* ==== inertia ================================================================================ */

/* Mass and inertia, twists and wrenches: the mechanics of one rigid body.
 *
 * All quantities are given in some frame, named in the variable where it matters, with the
 * frame's axes. SI units. Plain values, pure functions, as in feeler/math.h.
 *
 * A twist is how a body moves, a wrench what acts on it, each in a reference point: the twist's
 * linear part is the velocity of the body's point there, the wrench's torque is the one
 * about there. "In frame a" means with the axes of a and the origin of a as reference point.
 * Power, and so energy, does not depend on the frame; the tests hold these functions to it.
 *
 * Thread: any; RT safe.
 */

typedef struct flr_twist {
    flr_vec3 angular; /* rad/s */
    flr_vec3 linear;  /* m/s, of the body's point at the reference point */
} flr_twist;

typedef struct flr_wrench {
    flr_vec3 torque; /* N m, about the reference point */
    flr_vec3 force;  /* N */
} flr_wrench;

typedef struct flr_inertia {
    double mass;     /* kg */
    flr_vec3 centre; /* of mass, m */
    flr_mat3 tensor; /* kg m^2, about the centre; symmetric, products of inertia negative */
} flr_inertia;

/* ---- twists and wrenches ---- */

static inline flr_twist flr_twist_make(flr_vec3 angular, flr_vec3 linear)
{
    flr_twist twist = {angular, linear};
    return twist;
}

static inline flr_wrench flr_wrench_make(flr_vec3 torque, flr_vec3 force)
{
    flr_wrench wrench = {torque, force};
    return wrench;
}

/* Both given about the same point. */
static inline flr_twist flr_twist_add(flr_twist a, flr_twist b)
{
    return flr_twist_make(flr_vec3_add(a.angular, b.angular), flr_vec3_add(a.linear, b.linear));
}

static inline flr_wrench flr_wrench_add(flr_wrench a, flr_wrench b)
{
    return flr_wrench_make(flr_vec3_add(a.torque, b.torque), flr_vec3_add(a.force, b.force));
}

static inline flr_twist flr_twist_scale(flr_twist a, double factor)
{
    return flr_twist_make(flr_vec3_scale(a.angular, factor), flr_vec3_scale(a.linear, factor));
}

static inline flr_wrench flr_wrench_scale(flr_wrench a, double factor)
{
    return flr_wrench_make(flr_vec3_scale(a.torque, factor), flr_vec3_scale(a.force, factor));
}

/* The same motion in another reference point, `offset` from the old one. */
static inline flr_twist flr_twist_move(flr_twist twist, flr_vec3 offset)
{
    return flr_twist_make(twist.angular,
                          flr_vec3_add(twist.linear, flr_vec3_cross(twist.angular, offset)));
}

/* The same action about another reference point, `offset` from the old one. */
static inline flr_wrench flr_wrench_move(flr_wrench wrench, flr_vec3 offset)
{
    return flr_wrench_make(flr_vec3_sub(wrench.torque, flr_vec3_cross(offset, wrench.force)),
                           wrench.force);
}

/* The velocity of the body's point at `offset` from the reference point. */
static inline flr_vec3 flr_twist_velocity(flr_twist twist, flr_vec3 offset)
{
    return flr_twist_move(twist, offset).linear;
}

/* The wrench of a force that acts at `offset` from the reference point. */
static inline flr_wrench flr_wrench_from_force(flr_vec3 offset, flr_vec3 force)
{
    return flr_wrench_make(flr_vec3_cross(offset, force), force);
}

/* From frame b to frame a. */
FLR_API flr_twist flr_twist_transform(flr_pose T_a_b, flr_twist twist_b);
FLR_API flr_wrench flr_wrench_transform(flr_pose T_a_b, flr_wrench wrench_b);

/* What the wrench gives the moving body, watts; both in the same frame. */
static inline double flr_wrench_power(flr_wrench wrench, flr_twist twist)
{
    return flr_vec3_dot(wrench.torque, twist.angular) + flr_vec3_dot(wrench.force, twist.linear);
}

/* ---- inertia of solids, about the origin of their own frame ---- */

FLR_API flr_inertia flr_inertia_box(double mass, flr_vec3 size);
FLR_API flr_inertia flr_inertia_sphere(double mass, double radius);

/* ---- changing and using it ---- */

/* Two bodies that move as one. No mass at all gives zero at the origin. */
FLR_API flr_inertia flr_inertia_add(flr_inertia a, flr_inertia b);

/* From frame b to frame a. */
FLR_API flr_inertia flr_inertia_transform(flr_pose T_a_b, flr_inertia inertia_b);

/* The tensor about another point than the centre (parallel axes, Steiner), kg m^2. */
FLR_API flr_mat3 flr_inertia_about(flr_inertia inertia, flr_vec3 point);

/* The moments about the three principal axes, rising, kg m^2, and where those axes lie:
 * T_body_principal has its origin at the centre. NULL allowed for it. */
FLR_API flr_vec3 flr_inertia_principal(flr_inertia inertia, flr_pose *T_body_principal);

/* Momentum of the body: the force part is the linear momentum, kg m/s, the torque part the
 * angular momentum about the frame's origin, kg m^2/s. It transforms as a wrench does. */
FLR_API flr_wrench flr_inertia_momentum(flr_inertia inertia, flr_twist twist);

/* A real body could have it: finite, mass above 0, tensor symmetric and positive definite, no
 * principal moment larger than the other two together; all but the mass with a relative
 * tolerance of 1e-6, so that a thin plate passes. */
FLR_API bool flr_inertia_is_valid(flr_inertia inertia);

#ifdef __cplusplus
}
#endif
#endif
