/* feeler/inertia.h: mass and inertia, twists and wrenches: the mechanics of one rigid body.
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
#ifndef FEELER_INERTIA_H
#define FEELER_INERTIA_H

#include <stdbool.h>

#include "feeler/api.h"
#include "feeler/math.h"

#ifdef __cplusplus
extern "C" {
#endif

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
/* The axis is z. */
FLR_API flr_inertia flr_inertia_cylinder(double mass, double radius, double height);

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

/* Kinetic energy, joules. */
FLR_API double flr_inertia_energy(flr_inertia inertia, flr_twist twist);

/* A real body could have it: finite, mass above 0, tensor symmetric and positive definite, no
 * principal moment larger than the other two together; all but the mass with a relative
 * tolerance of 1e-6, so that a thin plate passes. */
FLR_API bool flr_inertia_is_valid(flr_inertia inertia);

#ifdef __cplusplus
}
#endif
#endif
