/* a scene made ready to be touched */
#include "sim/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"
#include "sim/engine_internal.h"
#include "sim/parameters.h"

#define SLIDING 0.8 /* of a point: dynamic friction as a share of the static one */

flr_stage_def flr_default_stage_def(void)
{
    return (flr_stage_def){.options = flr_default_mesh_options(),
                           .hands = 1,
                           .rate = 1000,
                           .params = flr_default_world_params(),
                           .onset = -1};
}

flr_world_params flr_scene_params(const flr_scene *scene)
{
    flr_world_params params = flr_default_world_params();
    params.contact.force_layer = scene->contact.force_layer;
    params.contact.displacement = scene->contact.displace;
    params.contact.model = scene->contact.model;
    params.contact.stiffness = scene->contact.stiffness;
    params.contact.awareness = scene->contact.awareness;
    params.friction = scene->contact.friction;
    params.engine = scene->contact.engine;
    if (scene->contact.onset >= 0) params.exact.onset = scene->contact.onset;
    params.exact.strength = scene->contact.strength;
    params.exact.overlap = scene->contact.overlap;
    params.restitution = scene->contact.restitution;
    params.tests = scene->contact.tests;
    flr_point_touch(&params);
    return params;
}

void flr_point_touch(flr_world_params *params)
{
    params->proxy.stiffness = params->contact.stiffness;
    params->proxy.static_friction = params->friction;
    params->proxy.dynamic_friction = SLIDING * params->friction;
}

static flr_result no_memory(flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the scene");
}

static bool go_on(const flr_stage_def *def, size_t part, const char *what)
{
    return !def->progress || def->progress(def->context, part, 0, what);
}

static flr_result stopped(flr_error *error) { return flr_fail(error, FLR_CANCELLED, "stopped"); }

/* Shells alone can do with less than all voxels and points of each part. */
static bool has_shells(const flr_stage_def *def) { return def->params.engine == FLR_ENGINE_SHELL; }

/* ---- what is needed ---- */

static flr_tool tool_of(const flr_stage_def *def, uint32_t hand)
{
    if (hand == 0 && def->has_tool) return def->tool;
    return flr_scene_tool(def->scene, hand);
}

/* What a controller said of a part; NULL: nothing, or none did. */
static const char *said_of(const flr_stage_def *def, uint32_t part, const char *what)
{
    char key[48];
    snprintf(key, sizeof key, "parts.%u.%s", part, what);
    return def->live ? flr_recording_text(def->live, key) : NULL;
}

static bool is_true(const char *text) { return text && strcmp(text, "true") == 0; }

static bool needs_probes(const flr_stage_def *def)
{
    bool some = false;
    if (def->live) return is_true(flr_recording_text(def->live, "probes"));
    for (uint32_t i = 0; i < def->hands; i++) some |= tool_of(def, i) == FLR_TOOL_POINT;
    return some;
}

/* Where contact is exact, or nothing moves and points touch the exact triangles, voxels are of no use. */
static bool needs_voxels(const flr_stage_def *def)
{
    if (def->params.engine == FLR_ENGINE_EXACT && !def->live) return false;
    bool moving = def->live || !needs_probes(def);
    for (size_t i = 0; i < def->scene->part_count; i++) moving |= def->scene->parts[i].moving;
    return moving;
}

/* ---- meshes and probes ---- */

static bool begin_part(void *context, uint32_t part, double *voxel, flr_mesh_options *options)
{
    const char *text = said_of(context, part, "voxel"), *end;
    (void)options;
    if (text) flr_number_parse(text, voxel, &end, NULL);
    return go_on(context, part, "reading");
}

static flr_result read_parts(flr_env *env, const flr_stage_def *def, flr_stage *stage,
                             flr_error *error)
{
    flr_parts_def how = {.env = env,
                         .scene = def->scene,
                         .options = &def->options,
                         .voxel = def->voxel,
                         .moving_voxel = def->moving_voxel,
                         .common = def->common,
                         .chosen = needs_voxels(def) && !def->live ? &stage->resolution : NULL,
                         .cache = def->cache,
                         .apart = true,
                         .begin = begin_part,
                         .context = (void *)(uintptr_t)def};
    // a world would refuse them, but only after all of them have been voxelized
    if (def->scene->part_count > FLR_WORLD_PARTS)
        return flr_fail(error, FLR_TOO_LARGE,
                        "the scene has %zu parts, and at most %d can be simulated; leave some out",
                        def->scene->part_count, FLR_WORLD_PARTS);
    return flr_part_list_read(&how, &stage->parts, error);
}

static flr_result make_probes(const flr_stage_def *def, flr_stage *stage, flr_error *error)
{
    flr_result result = FLR_OK;
    const flr_probe_model *probe;
    flr_error why;
    for (uint32_t i = 0; i < stage->parts.count && result == FLR_OK; i++) {
        const flr_part_entry *part = &stage->parts.list[i];
        if (!go_on(def, i, "sorting triangles")) return stopped(error);
        result = flr_mesh_asset_probe(part->shape->mesh, &probe, &why);
        if (result != FLR_OK) flr_fail(error, result, "part \"%s\": %s", part->name, why.message);
    }
    return result;
}

/* The part whose voxels or exact geometry are being built. */
typedef struct voxels_build {
    const flr_stage_def *def;
    uint32_t part;
} voxels_build;

static bool keep_fitting(void *context, double done)
{
    const voxels_build *m = context;
    return !m->def->progress ||
           m->def->progress(m->def->context, m->part, done, "preparing exact contact");
}

static flr_result make_fits(flr_env *env, const flr_stage_def *def, flr_stage *stage,
                            flr_error *error)
{
    flr_result result = FLR_OK;
    const flr_fit *fit;
    flr_error why;
    for (uint32_t i = 0; i < stage->parts.count && result == FLR_OK; i++) {
        const flr_part_entry *part = &stage->parts.list[i];
        voxels_build m = {def, i};
        if (!go_on(def, i, "preparing exact contact")) return stopped(error);
        result = flr_mesh_asset_fit_shown(part->shape->mesh, env, def->cache, keep_fitting, &m,
                                          &fit, &why);
        if (result != FLR_OK) flr_fail(error, result, "part \"%s\": %s", part->name, why.message);
    }
    return result;
}

/* ---- voxels ---- */

static bool keep_building(void *context, double done, const char *stage)
{
    const voxels_build *m = context;
    (void)stage;
    return !m->def->progress || m->def->progress(m->def->context, m->part, done, "voxelizing");
}

/* What is to be known about the cache. */
static void warn_of(const flr_stage_def *def, const char *name, const flr_cache_report *report)
{
    flr_error sentence;
    if (def->warn && *report->broken) {
        flr_fail(&sentence, FLR_IO, "part \"%s\": %s", name, report->broken);
        def->warn(def->context, sentence.message);
    }
    if (def->warn && *report->not_stored) {
        flr_fail(&sentence, FLR_IO,
                 "part \"%s\": its voxels have to be made again the next time: %s", name,
                 report->not_stored);
        def->warn(def->context, sentence.message);
    }
}

/* What a part gives: parts that move points, parts that stay voxels, paged where they are too many. */
static flr_shape_def what_of(flr_env *env, const flr_stage_def *def, const flr_stage *stage,
                             uint32_t i)
{
    const flr_shape *bare = stage->parts.list[i].shape;
    uint32_t moving = 0, staying = 0;
    for (uint32_t k = 0; k < stage->parts.count; k++) {
        moving += flr_stage_moves(stage, k);
        staying += !flr_stage_moves(stage, k) && flr_part_list_is_first(&stage->parts, k);
    }
    flr_shape_def what = {.env = env,
                          .cache = def->cache,
                          .mesh = bare->mesh,
                          .voxel = bare->voxel,
                          .hollow = bare->hollow,
                          .on_surface = def->params.contact.model == FLR_FORCE_SMOOTH,
                          .threads = def->threads,
                          .layer = stage->points_layer,
                          .features = def->params.contact.awareness};
    if (!has_shells(def) || def->live) return what;
    what.no_voxels = flr_stage_moves(stage, i) && moving < 2;
    what.no_points = !flr_stage_moves(stage, i);
    if (what.no_points) what.memory = def->memory / staying;
    return what;
}

static flr_result make_shape(flr_env *env, const flr_stage_def *def, flr_stage *stage, uint32_t i,
                             flr_error *error)
{
    const flr_part_entry *part = &stage->parts.list[i];
    voxels_build m = {def, i};
    flr_shape_def what = what_of(env, def, stage, i);
    flr_shape *made;
    flr_error why;
    if (!go_on(def, i, "voxelizing")) return stopped(error);
    what.progress = keep_building;
    what.context = &m;
    flr_result result = flr_shape_make(&what, &made, &why);
    if (result != FLR_OK)
        return flr_fail(error, result, "part \"%s\": %s", part->name, why.message);
    warn_of(def, part->name, &made->report);
    flr_part_list_replace(&stage->parts, part->shape, made);
    flr_shape_release(made);
    return FLR_OK;
}

/* A part that a joint ties does not touch what it is tied to: it keeps its own voxels. */
static bool is_merged(const flr_stage *stage, uint32_t part)
{
    return !flr_stage_moves(stage, part) &&
           !flr_part_list_is_jointed(&stage->parts, stage->parts.list[part].part);
}

/* Static parts can be one merged static scene when their voxels are of one size. */
static bool can_merge(const flr_stage_def *def, const flr_stage *stage)
{
    double voxel = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < stage->parts.count; i++) {
        if (!is_merged(stage, i)) continue;
        if (count++ && stage->parts.list[i].shape->voxel != voxel) return false;
        voxel = stage->parts.list[i].shape->voxel;
    }
    /* nor may points of a part that moves be farther apart */
    for (uint32_t i = 0; i < stage->parts.count; i++)
        if (flr_stage_moves(stage, i) && stage->parts.list[i].shape->voxel > voxel * (1 + 1e-9))
            return false;
    return count > 1 && has_shells(def) && !def->memory && !def->live;
}

static bool still_merging(void *context, uint32_t part) { return go_on(context, part, "merging"); }

static flr_result merge_merged(const flr_stage_def *def, flr_stage *stage, flr_error *error)
{
    if (!(stage->merged = flr_static_scene_bare(stage->parts.count))) return no_memory(error);
    for (uint32_t i = 0; i < stage->parts.count; i++)
        if (is_merged(stage, i))
            flr_static_scene_add(stage->merged, i, stage->parts.list[i].shape,
                                 stage->parts.list[i].T_start);
    return flr_static_scene_merge(stage->merged, &stage->parts, def->threads, still_merging,
                                  (void *)(uintptr_t)def, error);
}

static flr_result make_voxels(flr_env *env, const flr_stage_def *def, flr_stage *stage,
                              flr_error *error)
{
    bool merged = can_merge(def, stage);
    flr_result result = merged ? merge_merged(def, stage, error) : FLR_OK;
    for (uint32_t i = 0; i < stage->parts.count && result == FLR_OK; i++) {
        bool there = !flr_part_list_is_first(&stage->parts, i);
        if (!there && (!merged || !is_merged(stage, i)))
            result = make_shape(env, def, stage, i, error);
        const flr_shape *shape = stage->parts.list[i].shape;
        if (result == FLR_OK && (shape->table || merged))
            stage->voxel =
                stage->voxel > 0 && stage->voxel < shape->voxel ? stage->voxel : shape->voxel;
    }
    return result;
}

/* The points of all parts are displaced once, not in every query: true. Where some do not fit, none is. Nobody else has the
 * shapes yet. */
static flr_result displace(flr_stage *stage, double by, bool *done, flr_error *error)
{
    flr_shell **moved = calloc(stage->parts.count, sizeof *moved);
    if (!moved) return no_memory(error);
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < stage->parts.count && result == FLR_OK; i++)
        if (stage->parts.list[i].shape->shell && flr_part_list_is_first(&stage->parts, i))
            result = flr_shell_displace(stage->parts.list[i].shape->shell, by, &moved[i], error);
    *done = result == FLR_OK;
    for (uint32_t i = 0; i < stage->parts.count; i++) {
        flr_shape *shape = stage->parts.list[i].shape;
        flr_shell *out = moved[i];
        if (*done && out) {
            out = shape->shell;
            shape->shell = moved[i];
            shape->touch = flr_pairs_shape_make(shape->shell, shape->table);
        }
        flr_shell_destroy(out);
    }
    free(moved);
    return result == FLR_TOO_LARGE || result == FLR_BAD_ARGUMENT ? FLR_OK : result;
}

/* ---- the world ---- */

static flr_result make_world(flr_env *env, const flr_stage_def *def, flr_stage *stage,
                             flr_error *error)
{
    flr_world_params params = def->params;
    params.contact.force_layer -= stage->points_layer;
    flr_world_instance_def how = {.parts = &stage->parts,
                                  .hands = def->hands,
                                  .rate = def->rate,
                                  .params = &params,
                                  .probes = needs_probes(def),
                                  .voxel = stage->voxel,
                                  .threads = def->contact_threads,
                                  .env = env,
                                  .cache = def->cache};
    if (def->onset >= 0) flr_parameters_set_onset(&params, stage->voxel, def->onset);
    const double by = params.contact.displacement;
    bool displaced = false;
    flr_result result = by == 0 || def->live ? FLR_OK : displace(stage, by, &displaced, error);
    if (displaced) params.contact.displacement = 0;
    if (flr_vec3_length2(params.step.gravity) == 0 && !def->live)
        params.step.gravity = def->scene->gravity;
    bool falls = flr_vec3_length2(params.step.gravity) > 0;
    for (uint32_t i = 0; i < stage->parts.count; i++) {
        const char *free = said_of(def, i, "free");
        if (flr_stage_moves(stage, i) && (free || !def->live))
            stage->parts.list[i].kind =
                (free ? is_true(free) : falls || flr_scene_is_driven(def->scene, i))
                    ? FLR_PART_FREE
                    : FLR_PART_MOVABLE;
    }
    if (result == FLR_OK) result = flr_world_instance_make(&how, &stage->instance, error);
    if (result != FLR_OK) return result;
    stage->world = stage->instance->world;
    if (stage->merged) flr_static_scene_set(stage->merged, stage->world);
    for (uint32_t i = 0; i < def->hands && !def->live; i++) {
        flr_world_set_tool(stage->world, i, tool_of(def, i));
        flr_world_set_firm(stage->world, i, flr_scene_firm(def->scene, i));
    }
    return FLR_OK;
}

/* Nobody has chosen an engine, and voxels cannot resolve what is there. */
static flr_stage_def with_engine(const flr_stage_def *def, flr_stage *stage)
{
    flr_stage_def how = *def;
    if (!def->choose_engine || !has_shells(def) || needs_probes(def) || !stage->resolution.exact)
        return how;
    how.params.engine = FLR_ENGINE_EXACT;
    flr_resolution_take_exact(&stage->resolution);
    return how;
}

/* Marks of 2 bits hold one layer, and nothing beyond it. */
static flr_result check_marks(const flr_stage_def *def, flr_error *error)
{
    const flr_scene_contact *contact = &def->scene->contact;
    if (contact->marks != 2 || !has_shells(def)) return FLR_OK;
    if (contact->force_layer > FLR_SHAPE_FORCE_LAYER)
        return flr_fail(error, FLR_BAD_INPUT,
                        "marks of 2 bits hold one force layer, up to %d, and \"force_layer\" is %u",
                        FLR_SHAPE_FORCE_LAYER, contact->force_layer);
    if (def->params.contact.force_layer != contact->force_layer || def->onset >= 0)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "the voxels of this scene have marks of 2 bits with force layer %u built "
                        "in; change \"force_layer\" in the scene, and leave out --force-layer and "
                        "--onset",
                        contact->force_layer);
    if (def->params.contact.model == FLR_FORCE_SMOOTH)
        return flr_fail(error, FLR_BAD_INPUT,
                        "marks of 2 bits have no distances for the smooth model; use \"marks\": 4");
    return FLR_OK;
}

flr_result flr_stage_create(flr_env *env, const flr_stage_def *given, flr_stage **stage,
                            flr_error *error)
{
    flr_stage *made = calloc(1, sizeof *made);
    if (!made) return no_memory(error);
    flr_result result = read_parts(env, given, made, error);
    const flr_stage_def how = with_engine(given, made), *def = &how;
    if (result == FLR_OK && needs_probes(def)) result = make_probes(def, made, error);
    if (result == FLR_OK && def->params.engine == FLR_ENGINE_EXACT)
        result = make_fits(env, def, made, error);
    if (result == FLR_OK) result = check_marks(def, error);
    unsigned force_layer;
    if (result == FLR_OK && has_shells(def) && needs_voxels(def))
        result = flr_shape_split_layer(def->params.contact.force_layer, &force_layer,
                                       &made->points_layer, error);
    if (result == FLR_OK && made->points_layer > 0 && def->warn) {
        char sentence[200];
        snprintf(
            sentence, sizeof sentence,
            "force layer %u: points lie %u voxels outside their parts to give it, and contacts "
            "and distances are those of these points",
            def->params.contact.force_layer, made->points_layer);
        def->warn(def->context, sentence);
    }
    if (result == FLR_OK && needs_voxels(def)) result = make_voxels(env, def, made, error);
    if (result == FLR_OK) result = make_world(env, def, made, error);
    if (result != FLR_OK) {
        flr_stage_destroy(made);
        return result;
    }
    *stage = made;
    return FLR_OK;
}

void flr_stage_destroy(flr_stage *stage)
{
    if (!stage) return;
    flr_world_instance_free(stage->instance);
    flr_static_scene_release(stage->merged);
    flr_part_list_free(&stage->parts);
    free(stage);
}

flr_pager_stats flr_stage_paging(const flr_stage *stage)
{
    flr_pager_stats all = {0};
    for (uint32_t i = 0; i < stage->parts.count; i++) {
        const flr_pager *pager = stage->parts.list[i].shape->pager;
        if (!pager || !flr_part_list_is_first(&stage->parts, i)) continue;
        flr_pager_stats one = flr_pager_get_stats(pager);
        flr_pager_stats_add(&all, &one);
    }
    return all;
}

uint32_t flr_stage_find(const flr_stage *stage, const char *name)
{
    for (uint32_t i = 0; i < stage->parts.count; i++)
        if (name ? !strcmp(stage->parts.list[i].name, name) : flr_stage_moves(stage, i)) return i;
    return UINT32_MAX;
}
