/* hands for a scene's part: built in, along a path of the scene, from a pose file */
#include "scene/hand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/assert.h"
#include "scene/poses.h"

flr_scene_hand_def flr_default_scene_hand_def(void)
{
    flr_scene_hand_def def = {.box = flr_box3_empty(), .speed = 1, .seed = 1};
    return def;
}

/* ---- paths ---- */

static flr_result along_file(flr_env *env, const flr_scene *scene, const char *file,
                             flr_script_def *script, flr_scene_hand *hand, flr_error *error)
{
    flr_pose_list list = {NULL, 0};
    flr_result result = flr_pose_list_read(env, file, scene->unit, &list, error);
    if (result != FLR_OK) return result;
    script->kind = FLR_SCRIPT_REMOVAL;
    script->path = list.poses;
    script->path_count = list.count;
    hand->T_part_grip = flr_pose_identity();
    result = flr_script_create(script, &hand->script, error);
    flr_pose_list_free(&list);
    return result;
}

static flr_result along_path(flr_env *env, const flr_scene *scene, const flr_scene_path *path,
                             flr_script_def *script, flr_scene_hand *hand, flr_error *error)
{
    char *file = flr_scene_file(scene, path->poses);
    if (!file) return flr_fail(error, FLR_NO_MEMORY, "%s: out of memory", path->poses);
    flr_result result = along_file(env, scene, file, script, hand, error);
    free(file);
    return result;
}

/* the path of this name for the part; where `any`, its first one will do */
static const flr_scene_path *find_path(const flr_scene *scene, const char *part, const char *name,
                                       bool any)
{
    const flr_scene_path *first = NULL;
    for (size_t i = 0; i < scene->path_count; i++) {
        const flr_scene_path *p = &scene->paths[i];
        if (strcmp(p->part, part) != 0) continue;
        if (strcmp(p->name, name) == 0) return p;
        if (!first) first = p;
    }
    return any ? first : NULL;
}

/* "; it has seat and turn", or "; it has none" */
static flr_result no_path(const flr_scene *scene, const char *part, const char *name,
                          flr_error *error)
{
    char has[200] = "";
    size_t used = 0, listed = 0;
    for (size_t i = 0; i < scene->path_count && used < sizeof has; i++) {
        if (strcmp(scene->paths[i].part, part) != 0) continue;
        int more = snprintf(has + used, sizeof has - used, "%s%s", listed++ ? ", " : "",
                            scene->paths[i].name);
        used += more > 0 ? (size_t)more : 0;
    }
    return flr_fail(error, FLR_NOT_FOUND, "%s: no path \"%s\" for the part \"%s\"; it has %s",
                    scene->path ? scene->path : scene->name, name, part, listed ? has : "none");
}

/* ---- built in ---- */

static flr_result built_in(const flr_scene *scene, const flr_scene_hand_def *def,
                           flr_script_def *script, flr_scene_hand *hand, flr_error *error)
{
    flr_vec3 middle = flr_box3_centre(def->box);
    double diagonal = flr_vec3_length(flr_box3_size(def->box));
    hand->T_part_grip = flr_pose_make(middle, flr_quat_identity());
    script->start = flr_pose_mul(scene->parts[def->part].T_world_part, hand->T_part_grip);
    script->reach = def->reach > 0 ? def->reach : 0.5 * diagonal;
    if (!flr_vec3_equal(def->direction, flr_vec3_zero())) script->direction = def->direction;
    return flr_script_create(script, &hand->script, error);
}

flr_result flr_scene_hand_make(flr_env *env, const flr_scene *scene, const flr_scene_hand_def *def,
                               flr_scene_hand *hand, flr_error *error)
{
    FLR_ASSERT(env && scene && def && hand && def->text && def->part < scene->part_count);
    const char *text = def->text, *part = scene->parts[def->part].name;
    flr_script_def script = flr_default_script_def();
    script.speed = def->speed;
    script.seed = def->seed;
    flr_scene_hand made = {NULL, flr_pose_identity()};
    flr_result result;
    if (strncmp(text, "builtin:", 8) == 0) {
        result = flr_script_find(text + 8, &script.kind, error);
        if (result != FLR_OK) return result;
        const flr_scene_path *path = NULL;
        if (script.kind == FLR_SCRIPT_REMOVAL) {
            path = find_path(scene, part, "removal", true);
            if (!path) return no_path(scene, part, "removal", error);
        }
        result = path ? along_path(env, scene, path, &script, &made, error)
                      : built_in(scene, def, &script, &made, error);
    } else if (strncmp(text, "path:", 5) == 0) {
        const flr_scene_path *path = find_path(scene, part, text + 5, false);
        if (!path) return no_path(scene, part, text + 5, error);
        result = along_path(env, scene, path, &script, &made, error);
    } else {
        result = along_file(env, scene, text, &script, &made, error);
    }
    if (result == FLR_OK) *hand = made;
    return result;
}
