/* the pairs of parts that a scene allows to be in each other */
#include "scene/scene_allow.h"

#include <string.h>

static bool is_named(void *context, uint32_t part, const char *pattern)
{
    const flr_scene *scene = context;
    if (flr_allow_fits(pattern, scene->parts[part].name)) return true;
    const char *group = scene->parts[part].in;
    for (size_t steps = 0; group && steps <= scene->group_count; steps++) {
        if (flr_allow_fits(pattern, group)) return true;
        size_t i = 0;
        while (i < scene->group_count && strcmp(scene->groups[i].name, group) != 0) i++;
        group = i < scene->group_count ? scene->groups[i].in : NULL;
    }
    return false;
}

flr_result flr_scene_allowed(flr_scene *scene, flr_allow **allow, flr_error *error)
{
    uint32_t found[2];
    flr_result result = FLR_OK;
    *allow = NULL;
    if (!scene->allow_count) return FLR_OK;
    *allow = flr_allow_create((uint32_t)scene->part_count, is_named, scene);
    if (!*allow) return flr_fail_memory(error);
    for (size_t i = 0; i < scene->allow_count && result == FLR_OK; i++)
        result = flr_allow_add(*allow, scene->allow[i].a, scene->allow[i].b, found, error);
    return result;
}
