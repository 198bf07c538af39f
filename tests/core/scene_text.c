/* Scenes as text need jansson, which other platforms may lack. The scenarios' meshes, which the unit tests of libfeeler compare, do not: a
 * test that writes a scene fails with this sentence. */
#include "scene/scene.h"

flr_result flr_scene_print(const flr_scene *scene, flr_blob *text, flr_error *error)
{
    (void)scene, (void)text;
    return flr_fail(error, FLR_UNSUPPORTED, "scenes cannot be written without jansson");
}

flr_result flr_scene_write(flr_env *env, const char *path, const flr_scene *scene, flr_error *error)
{
    (void)env, (void)path;
    return flr_scene_print(scene, NULL, error);
}
