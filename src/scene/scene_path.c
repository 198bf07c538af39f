/* the motions that a scene names: found, listed, read */
#include "scene/scene_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *flr_scene_path_names(const flr_scene *scene, const char *part,
                                 char text[FLR_PATH_NAMES_SIZE])
{
    size_t used = 0;
    snprintf(text, FLR_PATH_NAMES_SIZE, "none");
    for (size_t i = 0; i < scene->path_count && used < FLR_PATH_NAMES_SIZE; i++) {
        if (part && strcmp(scene->paths[i].part, part) != 0) continue;
        int more = snprintf(text + used, FLR_PATH_NAMES_SIZE - used, "%s%s", used ? ", " : "",
                            scene->paths[i].name);
        used += more > 0 ? (size_t)more : 0;
    }
    return text;
}

flr_result flr_scene_path_read(flr_env *env, const flr_scene *scene, const char *name,
                               const flr_scene_path **path, flr_pose_list *poses, flr_error *error)
{
    const flr_scene_path *found = NULL;
    for (size_t i = 0; i < scene->path_count && !found; i++)
        if (!strcmp(scene->paths[i].name, name)) found = &scene->paths[i];
    if (!found) {
        char names[FLR_PATH_NAMES_SIZE];
        return flr_fail(error, FLR_BAD_ARGUMENT, "%s has no path \"%s\"; it has %s",
                        scene->path ? scene->path : scene->name, name,
                        flr_scene_path_names(scene, NULL, names));
    }
    char *file = flr_scene_file(scene, found->poses);
    if (!file) return flr_fail(error, FLR_NO_MEMORY, "%s: out of memory", found->poses);
    flr_result result = flr_pose_list_read(env, file, scene->unit, poses, error);
    free(file);
    if (result == FLR_OK) *path = found;
    return result;
}
