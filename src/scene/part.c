/* from a scene to the meshes it names */
#include "scene/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text.h"

char *flr_scene_file(const flr_scene *scene, const char *file)
{
    const char *slash = scene->path ? strrchr(scene->path, '/') : NULL;
    if (*file == '/' || !slash) return strdup(file);
    size_t folder = (size_t)(slash + 1 - scene->path), length = strlen(file) + 1;
    char *joined = malloc(folder + length);
    if (!joined) return NULL;
    memcpy(joined, scene->path, folder);
    memcpy(joined + folder, file, length);
    return joined;
}

/* "FILE:LINE:COLUMN: part "x": " before the sentence that is in `why` */
static flr_result fail_part(const flr_scene *scene, const flr_scene_part *part,
                            const flr_error *why, flr_error *error)
{
    if (scene->path && part->line)
        return flr_fail(error, why->code, "%s:%u:%u: part \"%.60s\": %s", scene->path, part->line,
                        part->column, part->name, why->message);
    return flr_fail(error, why->code, "part \"%.60s\": %s", part->name, why->message);
}

/* replaces `*mesh` by its group of this name */
static flr_result take_group(const char *name, const char *file, flr_mesh **mesh, flr_error *error)
{
    uint32_t count = (*mesh)->group_count, found = 0;
    while (found < count && strcmp(flr_mesh_group_name(*mesh, found), name) != 0) found++;
    if (found < count) {
        flr_mesh *part;
        flr_result result = flr_mesh_extract_group(*mesh, found, &part, error);
        if (result != FLR_OK) return result;
        flr_mesh_destroy(*mesh);
        *mesh = part;
        return FLR_OK;
    }
    const char *meant = NULL;
    for (uint32_t i = 0; i < count && !meant; i++) {
        const char *known = flr_mesh_group_name(*mesh, i);
        meant = flr_suggest(name, &known, 1);
    }
    if (meant)
        return flr_fail(error, FLR_NOT_FOUND, "%s has no group \"%.60s\"; did you mean \"%.60s\"?",
                        file, name, meant);
    return flr_fail(error, FLR_NOT_FOUND, "%s has no group \"%.60s\"; feeler info lists its %u %s",
                    file, name, count, flr_noun(count, "group", "groups"));
}

flr_result flr_scene_load_part(flr_env *env, const flr_scene *scene, size_t part,
                               const flr_mesh_options *options, flr_mesh **mesh,
                               flr_mesh_report *report, flr_error *error)
{
    const flr_scene_part *wanted = &scene->parts[part];
    flr_mesh_options own = options ? *options : flr_default_mesh_options();
    if (wanted->unit > 0) own.unit = wanted->unit;
    char *file = flr_scene_file(scene, wanted->file);
    if (!file) return flr_fail(error, FLR_NO_MEMORY, "no memory to open a part");

    flr_error why = {0};
    flr_mesh *found = NULL;
    flr_result result = flr_mesh_open(env, file, &own, &found, report, &why);
    if (result == FLR_OK && wanted->group) {
        result = take_group(wanted->group, file, &found, &why);
        if (result != FLR_OK) flr_mesh_destroy(found);
    }
    free(file);
    if (result != FLR_OK) return fail_part(scene, wanted, &why, error);
    *mesh = found;
    return FLR_OK;
}
