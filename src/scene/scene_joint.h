/* scene_joint.h: joints and rigid groups of a scene. Thread: any. Not RT safe. */
#ifndef FLR_SCENE_SCENE_JOINT_H
#define FLR_SCENE_SCENE_JOINT_H

#include "dynamics/mechanism.h"
#include "scene/scene.h"
#include "scene/value.h"

/* Reads a joint, without looking for its parts. For the scene's reader. */
bool flr_scene_joint_read(const flr_value *value, flr_scene_joint *joint);

/* The mechanism of a scene's parts, as they are placed: groups that are rigid, and joints. Centres of mass are taken to be the
 * origins of the parts. Fails as flr_mechanism_create(). */
flr_result flr_scene_mechanism(const flr_scene *scene, flr_mechanism **mechanism, flr_error *error);

#endif
