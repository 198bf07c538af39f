/* feeler/coupling.h: a hand holds a part by a spring and a damper.
 *
 * The handle is the user's hand in the scene: a pose and a velocity that come from a device. When
 * it grabs a body, the point of the part where it is becomes the grip. From then on a spring-damper
 * in all six directions pulls the body (McNeely et al. 1999, section 5.1): a force at the grip,
 * proportional to the distance between handle and grip, and a torque proportional to the angle of
 * the turn between them, along its axis. Both are damped by the relative velocity.
 *
 * Spring force and torque are clamped at the values of a stretch of half a voxel (1999, section
 * 5.2), so that a user cannot drag the part through what it touches; the damping is clamped at the
 * same values, by itself, so that it is there when the spring is stretched. The handle may be as
 * far ahead as it likes. In free space the clamps give way, doubling every 10 ms: a part that came
 * free goes straight to the hand, as fast as the travel limit allows, and stops there.
 *
 * By those clamps a part that catches at a corner turns in the hand, as the hand of a force device
 * would be turned. A hand that feels no torque and only pulls wants the part to keep its direction:
 * `firm`.
 *
 * A turn of more than 180 degrees keeps its direction up to 270, so that the torque does not jump
 * to the other side where a jammed part is twisted half a turn.
 *
 * The device feels the opposite wrench, clamped as a whole, but only while the part touches
 * something: in free space it is zero (1999, section 5.2). A part that slides over voxels is without
 * contact for milliseconds, many times a second; so the wrench goes only when contact stays away
 * (`hold`), and comes and goes smoothly (`fade`).
 *
 * Plain data. Thread: one at a time per coupling; RT safe, where nothing else is said.
 */
#ifndef FEELER_COUPLING_H
#define FEELER_COUPLING_H

#include <stdbool.h>

#include "feeler/api.h"
#include "feeler/body.h"
#include "feeler/inertia.h"
#include "feeler/math.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The hand. */
typedef struct flr_handle {
    flr_pose T_world_handle;
    flr_twist twist; /* about the handle's origin, world's axes */
} flr_handle;

/* Fill with flr_default_coupling_def(). */
typedef struct flr_coupling_def {
    double stiffness; /* N/m; default 1000, the contact's: with more, one contact cannot hold it */
    /* N m/rad; 0: the one with which turning is as quick as moving; default 0 */
    double turn_stiffness;
    double damping; /* as a share of the critical one; default 1 */
    /* metres: from this stretch on the force stays; half a voxel; default 0.5 mm */
    double stretch;
    /* rad: from this angle on the torque stays; 0: the one at which the farthest point of the part
     * has moved by `stretch`; default 0 */
    double turn;
    /* the torque stays no earlier than where it is what spring and damper together can do at the
     * part's farthest point: a part that is pulled against something off its middle keeps its direction instead of
     * turning in the hand. For hands that feel no torque, such as a mouse; default false: the
     * paper's clamp, which is gentle to a device */
    bool firm;
    double fade; /* s: how long the device's wrench takes to come and to go; default 0.01 */
    /* s: a contact that is lost for no longer than this is taken to last, for the device; a part that
     * slides over voxels hops. default 0.02 */
    double hold;
} flr_coupling_def;

FLR_API flr_coupling_def flr_default_coupling_def(void);

/* A grip. Filled by flr_coupling_grab(). */
typedef struct flr_coupling {
    /* what was decided at the grab */
    flr_pose T_part_handle;
    double stiffness, turn_stiffness; /* N/m, N m/rad */
    double damping, turn_damping;     /* N s/m, N m s/rad */
    double force_limit, torque_limit; /* N, N m: of the spring, and again of the damping */
    double fade, hold;                /* s */
    /* how it is */
    flr_vec3 turn;   /* rad, world's axes: the last angle between grip and handle */
    double feel;     /* 0 … 1: how much of the wrench the device gets */
    double away;     /* s: since the last contact; at most `hold` */
    flr_twist speed; /* of the handle relative to the grip, averaged over some milliseconds */
    double slack;    /* 1 in contact; by how much the limits have grown since */
    bool pulled; /* set by the caller: somebody else pulls the body, too, and the device feels it
                        though nothing is touched */
} flr_coupling;

/* Grabs: the handle holds the body where it is now, so that nothing jumps. The critical damping is
 * that of the body's mass and of its largest moment about the grip. Fails with FLR_BAD_ARGUMENT
 * when a number of `def` is out of range or a pose makes no sense. Not RT safe when it fails. */
FLR_API flr_result flr_coupling_grab(const flr_coupling_def *def, const flr_body *body,
                                     const flr_handle *handle, flr_coupling *coupling,
                                     flr_error *error);

/* How far handle and grip are apart. */
typedef struct flr_stretch {
    flr_vec3 turn;   /* rad, from the grip to the handle, world's axes */
    flr_vec3 shift;  /* metres, likewise */
    flr_twist speed; /* of the handle relative to the grip; about the grip */
    flr_vec3 arm;    /* metres: from the body's centre of mass to the grip, world's axes */
} flr_stretch;

/* False, and nothing else, when the handle or the body is not finite. Keeps the angle in the
 * coupling. */
FLR_API bool flr_coupling_stretch(flr_coupling *coupling, const flr_body *body,
                                  const flr_handle *handle, flr_stretch *stretch);

/* The clamped wrench on the body at this stretch, about its centre of mass, world's axes. */
FLR_API flr_wrench flr_coupling_wrench(const flr_coupling *coupling, const flr_stretch *stretch);

/* What the device feels, and what the clamps are in the next step: call it once a step, after the
 * body has moved, also where nobody feels it. Returns the wrench for the device, about the handle's
 * origin, world's axes: the opposite of what pulls the body as both are now; zero while nothing is
 * touched. `dt` in seconds; what is not finite gives zero. */
FLR_API flr_wrench flr_coupling_feel(flr_coupling *coupling, const flr_body *body,
                                     const flr_handle *handle, bool touching, double dt);

#ifdef __cplusplus
}
#endif
#endif
