/* hands for a scene's part: built in, along a path of the scene, from a pose file */
#include "scene/scene_hand.h"

#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"
#include "scene/scene_path.h"

/* ---- paths ---- */

/* Is this a way in: does it end nearer to where the part stands than it begins? */
static bool leads_in(const flr_pose_list *list, flr_pose start)
{
    flr_vec3 first = list->poses[0].T_world_part.p,
             last = list->poses[list->count - 1].T_world_part.p;
    return flr_vec3_length2(flr_vec3_sub(last, start.p)) <
           flr_vec3_length2(flr_vec3_sub(first, start.p));
}

/* The same way from its end to its begin, in the same time. */
static void turn_round(flr_pose_list *list)
{
    double sum = list->poses[0].t + list->poses[list->count - 1].t;
    for (size_t i = 0, k = list->count - 1; i < k; i++, k--) {
        flr_timed_pose kept = list->poses[i];
        list->poses[i] = list->poses[k];
        list->poses[k] = kept;
    }
    for (size_t i = 0; i < list->count; i++) list->poses[i].t = sum - list->poses[i].t;
}

static flr_result along_file(flr_env *env, const flr_scene *scene, const char *file, bool out,
                             flr_script_def *def, flr_script **script, flr_error *error)
{
    flr_pose_list list = {NULL, 0};
    flr_result result = flr_pose_list_read(env, file, scene->unit, &list, error);
    if (result != FLR_OK) return result;
    if (out && leads_in(&list, def->start)) turn_round(&list);
    def->kind = FLR_SCRIPT_REMOVAL;
    def->path = list.poses;
    def->path_count = list.count;
    result = flr_script_create(def, script, error);
    flr_pose_list_free(&list);
    return result;
}

static flr_result along_path(flr_env *env, const flr_scene *scene, const flr_scene_path *path,
                             bool out, flr_script_def *def, flr_script **script, flr_error *error)
{
    char *file = flr_scene_file(scene, path->poses);
    if (!file) return flr_fail(error, FLR_NO_MEMORY, "%s: out of memory", path->poses);
    flr_result result = along_file(env, scene, file, out, def, script, error);
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
        if (part && strcmp(p->part, part) != 0) continue;
        if (strcmp(p->name, name) == 0) return p;
        if (!first) first = p;
    }
    return any ? first : NULL;
}

static flr_result no_path(const flr_scene *scene, const char *part, const char *name,
                          flr_error *error)
{
    char names[FLR_PATH_NAMES_SIZE];
    if (!part)
        return flr_fail(error, FLR_NOT_FOUND, "%s: no path \"%s\"; it has %s",
                        scene->path ? scene->path : scene->name, name,
                        flr_scene_path_names(scene, NULL, names));
    return flr_fail(error, FLR_NOT_FOUND, "%s: no path \"%s\" for the part \"%s\"; it has %s",
                    scene->path ? scene->path : scene->name, name, part,
                    flr_scene_path_names(scene, part, names));
}

/* ---- from a word ---- */

flr_result flr_scene_hand_make(flr_env *env, const flr_scene *scene, const char *part,
                               const char *text, const flr_script_def *like, flr_script **script,
                               flr_error *error)
{
    FLR_ASSERT(env && scene && text && like && script);
    static const char builtin[] = "builtin:", along[] = "path:";
    flr_script_def def = *like;
    const char *name = "removal";
    bool any = true;
    if (strncmp(text, builtin, sizeof builtin - 1) == 0) {
        flr_result result = flr_script_find(text + sizeof builtin - 1, &def.kind, error);
        if (result != FLR_OK) return result;
        if (def.kind != FLR_SCRIPT_REMOVAL) return flr_script_create(&def, script, error);
    } else if (strncmp(text, along, sizeof along - 1) == 0) {
        name = text + sizeof along - 1;
        any = false;
    } else {
        return along_file(env, scene, text, false, &def, script, error);
    }
    const flr_scene_path *path = find_path(scene, part, name, any);
    if (!path) return no_path(scene, part, name, error);
    // another path than the one asked for may be a way in; then the way out is the same backwards
    bool out = strcmp(path->name, name) != 0;
    return along_path(env, scene, path, out, &def, script, error);
}
