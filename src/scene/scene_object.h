/* scene_object.h: reads single objects of a scene, for scene_read.c. Each is set to its defaults first, or keeps them where nothing is given; false:
 * what is wrong is in the value's error. Thread: any. Not RT safe. */
#ifndef FLR_SCENE_SCENE_OBJECT_H
#define FLR_SCENE_SCENE_OBJECT_H

#include "scene/scene.h"
#include "scene/value.h"

/* Says that memory ran out. Always false. */
bool flr_scene_fail_memory(const flr_value *value);

/* Allocates `constraint` where the part has one. */
bool flr_scene_read_part(const flr_value *value, flr_scene_part *part);
bool flr_scene_read_group(const flr_value *value, flr_scene_group *group);
bool flr_scene_read_path(const flr_value *value, flr_scene_path *path);
bool flr_scene_read_camera(const flr_value *value, flr_scene_camera *camera);
bool flr_scene_read_contact(const flr_value *value, flr_scene_contact *contact);

#endif
