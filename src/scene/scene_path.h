/* scene_path.h: the motions that a scene names. */
#ifndef FLR_SCENE_SCENE_PATH_H
#define FLR_SCENE_SCENE_PATH_H

#include "scene/pose_file.h"
#include "scene/scene.h"

/* The path of this name and its poses. FLR_BAD_ARGUMENT with the names of those that there are, or
 * what reading the poses says. Free `*poses` with flr_pose_list_free(). */
flr_result flr_scene_path_read(flr_env *env, const flr_scene *scene, const char *name,
                               const flr_scene_path **path, flr_pose_list *poses, flr_error *error);

/* The names of a part's paths ("seat, turn"), or of all where `part` is NULL; "none". */
enum { FLR_PATH_NAMES_SIZE = 200 };
const char *flr_scene_path_names(const flr_scene *scene, const char *part,
                                 char text[FLR_PATH_NAMES_SIZE]);

#endif
