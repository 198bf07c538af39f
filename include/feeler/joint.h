/* feeler/joint.h: what ties parts to each other or to the world.
 *
 * A joint leaves its two sides some motions and takes the others away:
 *
 *     fixed         none
 *     revolute      a turn about the axis: a door on its hinge
 *     prismatic     a slide along the axis: a drawer on its rails
 *     cylindrical   both, each by itself: a rod in a hole
 *     screw         both, tied by the pitch: a nut on its bolt
 *     planar        slides in the plane across the axis, and a turn about the axis
 *     ball          turns about the point
 *
 * Its axis and point are given in the world's frame as the parts are placed at the start. There the joint
 * is at 0: turn and slide count from the start, positive about and along the axis, side b against side a.
 *
 * Joints are solved with the contacts and couplings of the step, in the motions that they leave: they do
 * not drift apart. Parts that a joint ties do not touch each other, unless it says so.
 *
 * Plain data. Thread: any; RT safe.
 */
#ifndef FEELER_JOINT_H
#define FEELER_JOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/math.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum flr_joint_kind {
    FLR_JOINT_FIXED,
    FLR_JOINT_REVOLUTE,
    FLR_JOINT_PRISMATIC,
    FLR_JOINT_CYLINDRICAL,
    FLR_JOINT_SCREW,
    FLR_JOINT_PLANAR,
    FLR_JOINT_BALL,
    FLR_JOINT_KINDS
} flr_joint_kind;

/* "fixed", "revolute" and so on. Never NULL. */
FLR_API const char *flr_joint_kind_name(flr_joint_kind kind);

#define FLR_JOINT_WORLD UINT32_MAX /* in place of a part */

/* What acts in a motion that a joint leaves; radians and N m for a turn, metres and N for a slide.
 * Zero: nothing. */
typedef struct flr_joint_axis {
    bool limited;     /* it stays between these: */
    double low, high; /* low <= high; of a ball, high is how far it may lean and turn in all */
    double friction;  /* N m, N: dry friction, the most that it holds */
    double stiffness; /* N m/rad, N/m: a spring … */
    double rest;      /* … that rests here */
    double damping;   /* N m s/rad, N s/m */
} flr_joint_axis;

/* Fill with flr_default_joint(). */
typedef struct flr_joint {
    const char *name; /* for messages; may be NULL; borrowed while a mechanism or world is made */
    flr_joint_kind kind;
    uint32_t a, b;  /* parts; either of them, not both, may be FLR_JOINT_WORLD */
    flr_vec3 point; /* metres, world's frame, at the start */
    flr_vec3 axis;  /* world's axes, at the start; any length but 0; default z */
    double pitch;   /* metres along the axis for a turn, of a screw; not 0 */
    flr_joint_axis turn, slide;
    bool touch; /* its two parts touch each other all the same; default false */
} flr_joint;

FLR_API flr_joint flr_default_joint(void);

/* Has it the motion? */
FLR_API bool flr_joint_turns(flr_joint_kind kind);
FLR_API bool flr_joint_slides(flr_joint_kind kind);

/* Where a joint is. Of a revolute joint only the turn counts, and so on. */
typedef struct flr_joint_position {
    double turn;      /* rad; of a ball the angle from the start */
    double slide;     /* metres along the axis */
    double across[2]; /* metres: planar */
    flr_quat q;       /* ball: side b against side a */
} flr_joint_position;

#ifdef __cplusplus
}
#endif
#endif
