/* feeler/body.h: a part that moves: mass, inertia, pose, velocity.
 *
 * A body is plain data: copy it to keep a state, compare it to know that two runs are the same.
 * Its motion follows Newton and Euler with the full inertia tensor; what acts on it in one step is
 * gathered in feeler/step.h. Here is what a body does by itself: turn and drift.
 *
 * The turn of a free body is computed so that its angular momentum stays as it is (to rounding)
 * and its energy does not wander: over the step the angular velocity in the middle of the step is
 * taken, found by iteration.
 *
 * Every motion goes through an flr_motion, a turn about the centre of mass and a shift of it. Its
 * travel is a bound for the way of every point of the part, so that a limit on it (the travel
 * limit) holds for translation and rotation together. A body may make a fraction of a motion: the
 * rest is lost, and with it the same share of the velocity.
 *
 * Thread: any; RT safe, where nothing else is said.
 */
#ifndef FEELER_BODY_H
#define FEELER_BODY_H

#include <stdbool.h>

#include "feeler/api.h"
#include "feeler/inertia.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flr_body {
    /* what it is */
    flr_inertia inertia; /* part's frame */
    double reach;        /* metres: no point of the part is farther from the centre of mass */
    /* how it is: world's axes, the twist about the centre of mass */
    flr_pose T_world_part;
    flr_twist twist;
} flr_body;

/* What a body is made from. Fill with flr_default_body_def() or flr_body_def_from_mesh(). */
typedef struct flr_body_def {
    flr_inertia inertia; /* part's frame; default a ball of 1 kg and 0.1 m */
    /* kg: the mass to be felt in place of the true one (1999, section 5: 12 g), the tensor in
     * proportion; 0: the true one; default 0 */
    double mass;
    double reach;          /* metres, above 0; default 0.1 */
    flr_pose T_world_part; /* default the identity */
    flr_twist twist;       /* default at rest */
} flr_body_def;

FLR_API flr_body_def flr_default_body_def(void);

/* Inertia and reach of a mesh of this density, kg/m^3; all else by default. Fails as
 * flr_mass_compute() does. Not RT safe. */
FLR_API flr_result flr_body_def_from_mesh(const flr_mesh *mesh, double density, flr_body_def *def,
                                          flr_error *error);

/* Fails with FLR_BAD_ARGUMENT when no body can be like this. Not RT safe when it fails. */
FLR_API flr_result flr_body_make(const flr_body_def *def, flr_body *body, flr_error *error);

/* Pose and twist are finite, the quaternion is unit, the inertia could be real. */
FLR_API bool flr_body_is_valid(const flr_body *body);

/* The centre of mass, world's frame, metres. */
static inline flr_vec3 flr_body_centre(const flr_body *body)
{
    return flr_pose_apply(body->T_world_part, body->inertia.centre);
}

/* About the centre of mass, world's axes, kg m^2. */
FLR_API flr_mat3 flr_body_tensor(const flr_body *body);

/* Of the body's point that is now at `point` (world's frame), m/s. */
static inline flr_vec3 flr_body_velocity(const flr_body *body, flr_vec3 point)
{
    return flr_twist_velocity(body->twist, flr_vec3_sub(point, flr_body_centre(body)));
}

/* Kinetic energy, joules. */
FLR_API double flr_body_energy(const flr_body *body);

/* The force part is the linear momentum, kg m/s, the torque part the angular momentum about the
 * centre of mass, kg m^2/s, world's axes. */
FLR_API flr_wrench flr_body_momentum(const flr_body *body);

/* ---- motion ---- */

/* A way of a body: the turn and the shift go on evenly and at the same time. */
typedef struct flr_motion {
    flr_vec3 turn;  /* rotation vector about the centre of mass, rad, world's axes */
    flr_vec3 shift; /* of the centre of mass, metres */
} flr_motion;

/* What the body does in `dt` seconds when nothing acts on it. */
FLR_API flr_motion flr_body_drift(const flr_body *body, double dt);

/* Metres: no point of a part with this reach goes a longer way. */
FLR_API double flr_motion_travel(flr_motion motion, double reach);

/* The largest fraction, 0 to 1, of which the travel stays within `limit` metres. 0 when something
 * is not a number or the limit is negative. */
FLR_API double flr_motion_fraction(flr_motion motion, double reach, double limit);

/* Where the part is after this fraction of the motion. */
FLR_API flr_pose flr_motion_apply(const flr_body *body, flr_motion motion, double fraction);

/* Moves the body by a fraction, 0 to 1, of a motion. Its angular momentum stays as it is; with a
 * fraction below 1, twist and momentum shrink by it. A motion or fraction that is not finite: the
 * body stays where it is, at rest. */
FLR_API void flr_body_move(flr_body *body, flr_motion motion, double fraction);

#ifdef __cplusplus
}
#endif
#endif
