/* scene_allow.h: the pairs of parts that a scene allows to be in each other. */
#ifndef FLR_SCENE_SCENE_ALLOW_H
#define FLR_SCENE_SCENE_ALLOW_H

#include "scene/allow.h"
#include "scene/scene.h"

/* What "allow" says, by index of the parts; NULL: it says nothing. The scene has to live as long. Free with flr_allow_destroy(),
 * also on failure. */
flr_result flr_scene_allowed(flr_scene *scene, flr_allow **allow, flr_error *error);

#endif
