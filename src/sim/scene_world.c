/* a scene file as parts and as a world, for libraries and scripts */
#include "feeler/scene_world.h"

#include <stdlib.h>
#include <string.h>

#include "scene/robot.h"
#include "scene/scene_allow.h"
#include "scene/scene_import.h"
#include "sim/stage.h"

struct flr_scene_world {
    flr_env *env;
    flr_scene *scene;
    flr_stage *stage;     /* NULL: only parts */
    flr_part_list *parts; /* the stage's, or those below */
    flr_part_list own;
    flr_allow *allow; /* NULL: none */
    char *folder;     /* of the cache; NULL: none */
    /* while it is opened */
    const flr_scene_world_def *def;
};

flr_scene_world_def flr_default_scene_world_def(void)
{
    return (flr_scene_world_def){.options = flr_default_mesh_options(), .hands = 1, .rate = 1000};
}

static flr_result no_memory(flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the scene");
}

static bool show(const flr_scene_world *s, size_t part, double done)
{
    const double all = (double)s->scene->part_count;
    return !s->def->progress ||
           s->def->progress(s->def->progress_context, ((double)part + done) / all);
}

static bool show_stage(void *context, size_t part, double done, const char *what)
{
    (void)what;
    return show(context, part, done);
}

static bool show_part(void *context, uint32_t part, double *voxel, flr_mesh_options *options)
{
    (void)voxel, (void)options;
    return show(context, part, 0);
}

/* ---- allowed pairs ---- */

bool flr_scene_world_allows(const flr_scene_world *s, uint32_t a, uint32_t b)
{
    FLR_ASSERT(s && a < s->scene->part_count && b < s->scene->part_count);
    if (s->allow && flr_allow_has(s->allow, a, b, NULL)) return true;
    for (size_t i = 0; i < s->scene->joint_count; i++) {
        const flr_joint *j = &s->scene->joints[i].joint;
        if (!j->touch && ((j->a == a && j->b == b) || (j->a == b && j->b == a))) return true;
    }
    return false;
}

/* ---- opening ---- */

static flr_result make_world(flr_scene_world *s, const flr_scene_world_def *def, flr_error *error)
{
    const flr_cache cache = {.folder = s->folder};
    flr_stage_def how = flr_default_stage_def();
    how.scene = s->scene;
    how.options = def->options;
    how.cache = s->folder ? &cache : NULL;
    how.voxel = how.moving_voxel = def->voxel;
    how.threads = def->threads;
    how.hands = def->hands;
    how.rate = def->rate;
    how.params = flr_scene_params(s->scene);
    how.choose_engine = !def->engine_given && !flr_scene_chooses_engine(&s->scene->contact);
    if (def->engine_given) how.params.engine = def->engine;
    if (s->scene->contact.onset >= 0) how.onset = s->scene->contact.onset;
    how.progress = show_stage;
    how.context = s;
    flr_result result = flr_stage_create(s->env, &how, &s->stage, error);
    if (result == FLR_OK) s->parts = &s->stage->parts;
    return result;
}

static flr_result read_parts(flr_scene_world *s, const flr_scene_world_def *def, flr_error *error)
{
    const flr_parts_def how = {.env = s->env,
                               .scene = s->scene,
                               .options = &def->options,
                               .common = 1e-3, /* of voxels that nobody makes */
                               .begin = show_part,
                               .context = s};
    s->parts = &s->own;
    return flr_part_list_read(&how, &s->own, error);
}

static flr_result check_def(const flr_scene_world_def *def, flr_error *error)
{
    if (def->hands < 1 || def->hands > FLR_WORLD_HANDS)
        return flr_fail(error, FLR_BAD_ARGUMENT, "a world has 1 to %d hands, not %u",
                        FLR_WORLD_HANDS, def->hands);
    if (!(def->rate >= 10 && def->rate <= 1e5))
        return flr_fail(error, FLR_BAD_ARGUMENT, "the rate is 10 to 100000 Hz, not %g", def->rate);
    if (!(def->voxel >= 0 && def->voxel <= 1e6))
        return flr_fail(error, FLR_BAD_ARGUMENT, "voxels of %g m cannot be", def->voxel);
    return FLR_OK;
}

flr_result flr_scene_world_open(flr_env *env, const char *path, const flr_scene_world_def *def,
                                flr_scene_world **scene, flr_error *error)
{
    FLR_ASSERT(env && path && scene);
    const flr_scene_world_def usual = flr_default_scene_world_def();
    if (!def) def = &usual;
    flr_result result = check_def(def, error);
    if (result != FLR_OK) return result;
    flr_scene_world *s = calloc(1, sizeof *s);
    if (!s) return no_memory(error);
    s->env = env;
    s->def = def;
    if (def->cache && !(s->folder = strdup(def->cache))) result = no_memory(error);
    if (result == FLR_OK) result = flr_scene_read(env, path, &s->scene, error);
    if (result == FLR_OK) result = flr_scene_allowed(s->scene, &s->allow, error);
    if (result == FLR_OK)
        result = def->parts_only ? read_parts(s, def, error) : make_world(s, def, error);
    s->def = NULL;
    if (result == FLR_OK)
        *scene = s;
    else
        flr_scene_world_destroy(s);
    return result;
}

void flr_scene_world_destroy(flr_scene_world *s)
{
    if (!s) return;
    flr_stage_destroy(s->stage);
    flr_part_list_free(&s->own);
    flr_allow_destroy(s->allow);
    flr_scene_destroy(s->scene);
    free(s->folder);
    free(s);
}

flr_result flr_scene_world_import(flr_env *env, const char *path, const char *out,
                                  const flr_mesh_options *options, flr_error *error)
{
    FLR_ASSERT(env && path && out);
    const char *const files[] = {path};
    const flr_scene_import_def def = {.env = env,
                                      .files = files,
                                      .file_count = 1,
                                      .out = out,
                                      .options = options ? *options : flr_default_mesh_options()};
    flr_scene_import_report report = {0};
    flr_result result = flr_robot_recognize(env, path) ? flr_robot_import(&def, &report, error)
                                                       : flr_scene_import(&def, &report, error);
    free(report.notes);
    return result;
}

/* ---- looking ---- */

flr_world *flr_scene_world_get(flr_scene_world *s) { return s->stage ? s->stage->world : NULL; }

uint32_t flr_scene_world_part_count(const flr_scene_world *s) { return s->parts->count; }

flr_scene_world_part flr_scene_world_part_at(const flr_scene_world *s, uint32_t part)
{
    FLR_ASSERT(s && part < s->parts->count);
    const flr_part_entry *p = &s->parts->list[part];
    const char *group = s->scene->parts[part].in;
    return (flr_scene_world_part){.name = p->name,
                                  .group = group ? group : "",
                                  .kind = p->kind,
                                  .T_world_part = p->T_start,
                                  .mesh = p->shape->mesh->mesh,
                                  .chord = p->chord,
                                  .keep_out = p->use == FLR_PART_USE_KEEP_OUT,
                                  .passes = p->use == FLR_PART_USE_PASS,
                                  .rigid = p->rigid};
}

uint32_t flr_scene_world_find(const flr_scene_world *s, const char *name)
{
    for (uint32_t i = 0; i < s->parts->count; i++)
        if (strcmp(s->parts->list[i].name, name) == 0) return i;
    return FLR_NO_PART;
}

flr_result flr_scene_world_fit(flr_scene_world *s, uint32_t part, const flr_fit **fit,
                               flr_error *error)
{
    FLR_ASSERT(s && part < s->parts->count && fit);
    const flr_cache cache = {.folder = s->folder};
    return flr_mesh_asset_fit(s->parts->list[part].shape->mesh, s->env, s->folder ? &cache : NULL,
                              fit, error);
}

uint32_t flr_scene_world_joint_count(const flr_scene_world *s) { return s->parts->joint_count; }

const char *flr_scene_world_joint_name(const flr_scene_world *s, uint32_t joint)
{
    FLR_ASSERT(s && joint < s->parts->joint_count);
    return s->parts->joints[joint].text;
}
