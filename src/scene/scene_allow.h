/* scene_allow.h: the pairs of parts that a scene allows to be in each other. */
#ifndef FLR_SCENE_SCENE_ALLOW_H
#define FLR_SCENE_SCENE_ALLOW_H

#include "scene/allow.h"
#include "scene/scene.h"

/* The pairs that the scene's "allow" lists, by part index; NULL: there are none. The scene has to outlive them. Free with
 * flr_allow_destroy(), also on failure. */
flr_result flr_scene_allowed(flr_scene *scene, flr_allow **allow, flr_error *error);

#endif
