/* a scene as commands that plan and verify see it */
#include "plan_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/scene_world.h"
#include "output.h"
#include "scratch.h"

/* parts that name the same file share its mesh */
static flr_result load_meshes(flr_cli *cli, flr_plan_scene *s, const flr_mesh_options *options,
                              flr_error *error)
{
    flr_result result = FLR_OK;
    flr_scene_loader loader = flr_scene_loader_begin(cli->env, s->scene, options);
    for (size_t i = 0; i < s->scene->part_count && result == FLR_OK; i++) {
        size_t k = 0;
        while (k < i && !flr_scene_same_mesh(s->scene, k, i)) k++;
        s->mesh_of[i] = k < i ? s->mesh_of[k] : s->mesh_count;
        if (k < i) continue;
        flr_progress(cli, i, s->scene->part_count, "reading %s", s->scene->parts[i].name);
        result = flr_scene_loader_load(&loader, i, &s->meshes[s->mesh_count], NULL, error);
        if (result == FLR_OK) s->mesh_count++;
    }
    flr_scene_loader_end(&loader);
    return result;
}

/* The scene at `path`, with its meshes. */
static flr_result read_scene(flr_cli *cli, const char *path, const flr_mesh_options *options,
                             flr_plan_scene *scene, flr_error *error)
{
    flr_result result = flr_scene_read(cli->env, path, &scene->scene, error);
    if (result != FLR_OK) return result;
    const size_t count = scene->scene->part_count;
    scene->meshes = calloc(count, sizeof *scene->meshes);
    scene->fits = calloc(count, sizeof *scene->fits);
    scene->mesh_of = calloc(count, sizeof *scene->mesh_of);
    scene->order = calloc(count, sizeof *scene->order);
    scene->parts = calloc(count, sizeof *scene->parts);
    if (!scene->meshes || !scene->fits || !scene->mesh_of || !scene->order || !scene->parts)
        return flr_fail_memory(error);
    return load_meshes(cli, scene, options, error);
}

static bool not_stopped(void *context)
{
    (void)context;
    return !flr_stop_wanted();
}

/* A CAD file or robot description becomes a scene for as long as its meshes are read. Ctrl-C waits until its folder is gone. */
static flr_result import(flr_cli *cli, const flr_mesh_options *options, flr_plan_scene *scene,
                         flr_error *error)
{
    char folder[FLR_CACHE_PATH_SIZE], path[FLR_CACHE_PATH_SIZE + 16];
    flr_mesh_options stoppable = *options;
    stoppable.go_on = not_stopped;
    flr_catch_stop();
    flr_result result = flr_scratch_make(folder, error);
    if (result == FLR_OK) {
        snprintf(path, sizeof path, "%s/scene.json", folder);
        flr_progress(cli, 0, 1, "reading");
        result = flr_scene_world_import(cli->env, scene->path, path, &stoppable, error);
        if (result == FLR_OK) result = read_scene(cli, path, &stoppable, scene, error);
        flr_scratch_remove(cli->env, folder);
    }
    flr_uncatch_stop();
    return flr_stop_wanted() ? flr_fail(error, FLR_CANCELLED, "stopped") : result;
}

flr_result flr_plan_scene_read(flr_cli *cli, const char *path, const flr_mesh_options *options,
                               unsigned threads, flr_plan_scene *scene, flr_error *error)
{
    *scene = (flr_plan_scene){.path = path};
    flr_result result = flr_is_scene(path) ? read_scene(cli, path, options, scene, error)
                                           : import(cli, options, scene, error);
    flr_fit_def def = flr_default_fit_def();
    def.threads = threads;
    char folder[FLR_CACHE_PATH_SIZE];
    flr_cache cache = {0};
    if (flr_find_cache(NULL, folder, NULL) == FLR_OK) cache.folder = folder;
    for (uint32_t i = 0; i < scene->mesh_count && result == FLR_OK; i++) {
        flr_progress(cli, i, scene->mesh_count, "preparing shape %u", i + 1);
        result =
            flr_fit_open(cli->env, &cache, scene->meshes[i], &def, &scene->fits[i], NULL, error);
    }
    flr_progress_end(cli);
    return result;
}

void flr_plan_scene_free(flr_plan_scene *scene)
{
    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        flr_fit_destroy(scene->fits[i]);
        flr_mesh_destroy(scene->meshes[i]);
    }
    free(scene->meshes);
    free(scene->fits);
    free(scene->mesh_of);
    free(scene->order);
    free(scene->parts);
    flr_scene_destroy(scene->scene);
    *scene = (flr_plan_scene){0};
}

/* ---- what moves ---- */

static const flr_scene_group *group_named(const flr_scene *scene, const char *name)
{
    for (size_t i = 0; name && i < scene->group_count; i++)
        if (strcmp(scene->groups[i].name, name) == 0) return &scene->groups[i];
    return NULL;
}

/* is a part called so, or in a group called so, in any number of steps? */
static bool belongs(const flr_scene *scene, size_t part, const char *name)
{
    if (strcmp(scene->parts[part].name, name) == 0) return true;
    const flr_scene_group *group = group_named(scene, scene->parts[part].in);
    while (group && strcmp(group->name, name) != 0) group = group_named(scene, group->in);
    return group != NULL;
}

static flr_result choose_named(const flr_plan_scene *s, const char *names, flr_plan_member *members,
                               flr_error *error)
{
    const flr_scene *scene = s->scene;
    char *copy = strdup(names), *rest = copy;
    flr_result result = copy ? FLR_OK : flr_fail_memory(error);
    for (char *name; result == FLR_OK && (name = strsep(&rest, ","));) {
        bool found = false;
        for (size_t i = 0; i < scene->part_count; i++)
            if (belongs(scene, i, name)) {
                // the poses are those of the first part named
                if (!found && name == copy) members[i].leads = true;
                members[i].moves = found = true;
            }
        if (!found)
            result = flr_fail(error, FLR_BAD_ARGUMENT,
                              "%s has neither a part nor a group \"%s\"; feeler info lists them",
                              s->path, name);
    }
    free(copy);
    return result;
}

/* Without names, what the scene lets move has to be one body. */
static flr_result choose_movable(const flr_plan_scene *s, flr_plan_member *members,
                                 flr_error *error)
{
    const uint32_t count = (uint32_t)s->scene->part_count;
    for (uint32_t i = 0; i < count; i++) members[i].moves = s->scene->parts[i].moving;
    const uint32_t bodies = flr_plan_count_bodies(members, count);
    if (bodies == 1) return FLR_OK;
    return flr_fail(error, FLR_BAD_ARGUMENT,
                    "%s has %u movable parts: say which one moves with --part NAME", s->path,
                    bodies);
}

flr_result flr_plan_scene_choose(flr_plan_scene *scene, const char *names, flr_error *error)
{
    const flr_scene *s = scene->scene;
    const uint32_t count = (uint32_t)s->part_count;
    flr_plan_member *members = calloc(count, sizeof *members);
    uint32_t *rigid = calloc(count, sizeof *rigid);
    flr_result result = FLR_OK;
    if (!members || !rigid || !flr_scene_rigid(s, rigid)) result = flr_fail_memory(error);
    for (uint32_t i = 0; i < count && result == FLR_OK; i++)
        members[i] = (flr_plan_member){.T_world_part = s->parts[i].T_world_part,
                                       .rigid = rigid[i] == FLR_NO_PART ? 0 : rigid[i] + 1,
                                       .passes = s->parts[i].use == FLR_PART_USE_PASS};
    if (result == FLR_OK)
        result = names ? choose_named(scene, names, members, error)
                       : choose_movable(scene, members, error);
    if (result == FLR_OK) {
        const flr_plan_roles roles = flr_plan_sort(members, count, scene->order, scene->parts);
        scene->moving_count = roles.moving, scene->standing_count = roles.standing;
    }
    free(members);
    free(rigid);
    if (result != FLR_OK) return result;
    if (!scene->standing_count)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s: no part stands in the way: every part moves or lets others pass",
                        scene->path);
    scene->T_world_body = s->parts[scene->order[0]].T_world_part;
    for (uint32_t i = 0; i < scene->moving_count + scene->standing_count; i++)
        scene->parts[i].fit = scene->fits[scene->mesh_of[scene->order[i]]];
    return FLR_OK;
}

flr_plan_def flr_plan_scene_def(const flr_plan_scene *scene, double clearance)
{
    flr_plan_def def = flr_default_plan_def();
    def.moving = scene->parts;
    def.moving_count = scene->moving_count;
    def.obstacles = scene->parts + scene->moving_count;
    def.obstacle_count = scene->standing_count;
    def.clearance = clearance;
    return def;
}

const char *flr_plan_scene_obstacle(const flr_plan_scene *scene, uint32_t obstacle)
{
    if (obstacle >= scene->standing_count) return "";
    return scene->scene->parts[scene->order[scene->moving_count + obstacle]].name;
}

const char *flr_plan_scene_moving(const flr_plan_scene *scene, uint32_t moving)
{
    if (moving >= scene->moving_count) return "";
    return scene->scene->parts[scene->order[moving]].name;
}
