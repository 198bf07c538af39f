/* robot.h: scenes from robot descriptions, URDF and MJCF: links become parts, joints become joints.
 *
 * Thread: any. Not RT safe. */
#ifndef FLR_SCENE_ROBOT_H
#define FLR_SCENE_ROBOT_H

#include "scene/scene_import.h"

/* Is it a robot description, by its ending (.urdf) or, of .xml files, by its root? */
bool flr_robot_recognize(flr_env *env, const char *path);

/* Makes the scene of def->files[0] as flr_scene_import() does. Of the definition `move`, `fix` and `up` are not read: the first
 * link stays, the others move, and z is up. */
flr_result flr_robot_import(const flr_scene_import_def *def, flr_scene_import_report *report,
                            flr_error *error);

#endif
