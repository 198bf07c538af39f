/* models.c: the list of scenarios; models in memory and on disk. */
#include "models/models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/kit.h"
#include "models/scenarios.h"

/* ---- the list ---- */

/* in the order of the table in docs/models.md */
static const flr_scenario *const scenarios[] = {
    &flr_scenario_bay,      &flr_scenario_ball,    &flr_scenario_gear,    &flr_scenario_aircraft,
    &flr_scenario_axle,     &flr_scenario_falling, &flr_scenario_probes,  &flr_scenario_probe,
    &flr_scenario_approach, &flr_scenario_pair,    &flr_scenario_cabinet,
};

size_t flr_scenario_count(void) { return sizeof scenarios / sizeof *scenarios; }

const flr_scenario *flr_scenario_at(size_t index)
{
    return index < flr_scenario_count() ? scenarios[index] : NULL;
}

const flr_scenario *flr_scenario_find(const char *name)
{
    for (size_t i = 0; i < flr_scenario_count(); i++)
        if (strcmp(scenarios[i]->name, name) == 0) return scenarios[i];
    return NULL;
}

flr_scenario_options flr_default_scenario_options(void)
{
    flr_scenario_options options = {.seed = 1, .number = 0};
    return options;
}

/* ---- models ---- */

static flr_result no_memory(flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "out of memory while building a model; free some");
}

void flr_model_free(flr_model *model)
{
    if (!model) return;
    for (size_t i = 0; i < model->mesh_count; i++) flr_mesh_destroy(model->meshes[i].mesh);
    for (size_t i = 0; i < model->path_count; i++) free(model->paths[i].poses);
    for (size_t i = 0; i < model->text_count; i++) free(model->texts[i].bytes);
    for (size_t i = 0; i < model->part_count; i++) {
        free((char *)model->parts[i].name);
        free((char *)model->parts[i].file);
    }
    free(model->meshes);
    free(model->paths);
    free(model->texts);
    free(model->parts);
    memset(model, 0, sizeof *model);
}

/* room for one more element of `size` bytes at the end of a small array; zeroed */
static void *append(void *array, size_t *count, size_t size)
{
    char *larger = realloc(*(void **)array, (*count + 1) * size);
    if (!larger) return NULL;
    *(void **)array = larger;
    memset(larger + *count * size, 0, size);
    return larger + (*count)++ * size;
}

flr_result flr_model_add_mesh(flr_model *model, const char *file, flr_mesh *mesh, flr_error *error)
{
    flr_model_mesh *entry = append(&model->meshes, &model->mesh_count, sizeof *entry);
    if (!entry) {
        flr_mesh_destroy(mesh);
        return no_memory(error);
    }
    snprintf(entry->file, sizeof entry->file, "%s", file);
    entry->mesh = mesh;
    return FLR_OK;
}

flr_result flr_model_add_path(flr_model *model, const char *file, const char *name,
                              const char *part, const flr_timed_pose *poses, size_t count,
                              flr_error *error)
{
    flr_timed_pose *copy = malloc(count * sizeof *copy + 1);
    flr_model_path *entry = copy ? append(&model->paths, &model->path_count, sizeof *entry) : NULL;
    if (!entry) {
        free(copy);
        return no_memory(error);
    }
    memcpy(copy, poses, count * sizeof *copy);
    snprintf(entry->file, sizeof entry->file, "%s", file);
    snprintf(entry->name, sizeof entry->name, "%s", name);
    snprintf(entry->part, sizeof entry->part, "%s", part);
    entry->poses = copy;
    entry->count = count;
    return FLR_OK;
}

flr_result flr_model_add_text(flr_model *model, const char *file, const char *bytes, size_t size,
                              flr_error *error)
{
    char *copy = malloc(size + 1);
    flr_model_text *entry = copy ? append(&model->texts, &model->text_count, sizeof *entry) : NULL;
    if (!entry) {
        free(copy);
        return no_memory(error);
    }
    memcpy(copy, bytes, size);
    snprintf(entry->file, sizeof entry->file, "%s", file);
    entry->bytes = copy;
    entry->size = size;
    return FLR_OK;
}

flr_result flr_model_add_part(flr_model *model, const flr_scene_part *part, flr_error *error)
{
    char *name = strdup(part->name), *file = strdup(part->file);
    flr_scene_part *entry =
        name && file ? append(&model->parts, &model->part_count, sizeof *entry) : NULL;
    if (!entry) {
        free(name);
        free(file);
        return no_memory(error);
    }
    *entry = *part;
    entry->name = name;
    entry->file = file;
    return FLR_OK;
}

flr_result flr_model_add_kit(flr_model *model, flr_kit *kit, const flr_scene_part *part,
                             flr_error *error)
{
    flr_mesh *mesh;
    flr_result result = flr_kit_finish(kit, &mesh, error);
    if (result == FLR_OK) result = flr_model_add_mesh(model, part->file, mesh, error);
    return result == FLR_OK ? flr_model_add_part(model, part, error) : result;
}

const flr_mesh *flr_model_find_mesh(const flr_model *model, const char *file)
{
    for (size_t i = 0; i < model->mesh_count; i++)
        if (strcmp(model->meshes[i].file, file) == 0) return model->meshes[i].mesh;
    return NULL;
}

flr_result flr_scenario_build(const flr_scenario *scenario, const flr_scenario_options *options,
                              flr_model *model, flr_error *error)
{
    flr_scenario_options defaults = flr_default_scenario_options();
    if (options && options->number && !scenario->most)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s always has the same parts; leave the number away", scenario->name);
    if (options && options->number > scenario->most)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%s takes a number from 1 to %u, not %u",
                        scenario->name, scenario->most, options->number);
    flr_model built;
    memset(&built, 0, sizeof built);
    built.scene = flr_default_scene();
    built.scene.name = scenario->name;
    built.scene.description = scenario->summary;
    built.scene.unit = 0.001;
    flr_result result = scenario->build(options ? options : &defaults, &built, error);
    if (result != FLR_OK) {
        flr_model_free(&built);
        return result;
    }
    *model = built;
    return FLR_OK;
}

/* ---- on disk ---- */

static flr_result write_scene(flr_env *env, const char *file, const flr_model *model,
                              flr_error *error)
{
    flr_scene scene = model->scene;
    scene.parts = model->parts;
    scene.part_count = model->part_count;
    flr_scene_path *paths = calloc(model->path_count + 1, sizeof *paths);
    if (!paths) return no_memory(error);
    for (size_t i = 0; i < model->path_count; i++) {
        paths[i].name = model->paths[i].name;
        paths[i].part = model->paths[i].part;
        paths[i].poses = model->paths[i].file;
    }
    scene.paths = paths;
    scene.path_count = model->path_count;
    flr_result result = flr_scene_write(env, file, &scene, error);
    free(paths);
    return result;
}

flr_result flr_model_write(flr_env *env, const flr_model *model, const char *folder,
                           flr_error *error)
{
    size_t size = strlen(folder) + FLR_MODEL_NAME_SIZE + 2;
    char *file = malloc(size);
    if (!file) return no_memory(error);
    flr_result result = flr_path_make_folder(env, folder, error);
    for (size_t i = 0; i < model->mesh_count && result == FLR_OK; i++) {
        snprintf(file, size, "%s/%s", folder, model->meshes[i].file);
        result = flr_mesh_write(env, file, model->meshes[i].mesh, 0.001, error);
    }
    for (size_t i = 0; i < model->path_count && result == FLR_OK; i++) {
        snprintf(file, size, "%s/%s", folder, model->paths[i].file);
        flr_pose_list list = {model->paths[i].poses, model->paths[i].count};
        result =
            flr_pose_list_write(env, file, &list, model->scene.unit, model->paths[i].name, error);
    }
    for (size_t i = 0; i < model->text_count && result == FLR_OK; i++) {
        snprintf(file, size, "%s/%s", folder, model->texts[i].file);
        result = flr_file_write_all(env, file, model->texts[i].bytes, model->texts[i].size, error);
    }
    snprintf(file, size, "%s/scene.json", folder);
    if (result == FLR_OK) result = write_scene(env, file, model, error);
    free(file);
    return result;
}

flr_result flr_scenario_make(flr_env *env, const flr_scenario *scenario,
                             const flr_scenario_options *options, const char *folder,
                             flr_error *error)
{
    flr_model model;
    flr_result result = flr_scenario_build(scenario, options, &model, error);
    if (result != FLR_OK) return result;
    result = flr_model_write(env, &model, folder, error);
    flr_model_free(&model);
    return result;
}
