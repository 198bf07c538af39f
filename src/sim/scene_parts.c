/* the list of parts, and what is asked of the loop */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sim/engine_internal.h"

static const int64_t LOADING_NS = 500000000; /* between worlds while parts become ready */

/* ---- looking ---- */

flr_result flr_engine_find(const flr_engine *e, uint32_t part, flr_part_entry **member,
                           flr_error *error)
{
    flr_part_entry *found = flr_part_list_find(&e->members, part);
    if (!found) return flr_fail(error, FLR_NOT_FOUND, "there is no part %u", part);
    *member = found;
    return FLR_OK;
}

static const flr_mesh_asset *mesh_of(const flr_engine *e, uint32_t mesh)
{
    for (uint32_t i = 0; i < e->members.count; i++)
        if (e->members.list[i].shape->mesh->number == mesh) return e->members.list[i].shape->mesh;
    return NULL;
}

static uint32_t count_meshes(const flr_engine *e)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->members.count; i++) {
        bool again = false;
        for (uint32_t k = 0; k < i && !again; k++)
            again = e->members.list[k].shape->mesh == e->members.list[i].shape->mesh;
        count += !again;
    }
    return count;
}

void flr_engine_get_scene(const flr_engine *e, flr_engine_scene *scene)
{
    *scene = (flr_engine_scene){.scene = e->scene,
                                .parts = e->members.count,
                                .meshes = count_meshes(e),
                                .hands = e->def.hands,
                                .bounds = flr_box3_empty(),
                                .voxel = e->tuning.voxel,
                                .name = e->name,
                                .unit = e->unit,
                                .path = e->path,
                                .camera = e->camera};
    for (uint32_t i = 0; i < e->members.count; i++) {
        const flr_part_entry *m = &e->members.list[i];
        scene->bounds = flr_box3_union(
            scene->bounds, flr_box3_transform(m->T_start, m->shape->mesh->mesh->bounds));
    }
}

static void describe(const flr_engine *e, const flr_part_entry *m, flr_engine_part *out)
{
    *out = (flr_engine_part){.part = m->part,
                             .mesh = m->shape->mesh->number,
                             .kind = m->kind,
                             .ready = m->there && !flr_shape_is_bare(m->shape),
                             .hollow = m->shape->hollow,
                             .colour = m->colour,
                             .points = m->shape->shell ? m->shape->shell->total : 0,
                             .voxel = flr_shape_is_bare(m->shape) ? 0 : m->shape->voxel,
                             .T_world_part = m->T_start,
                             .T_start = m->T_start,
                             .has_goal = m->has_goal,
                             .T_goal = m->T_goal,
                             .name = m->name,
                             .geometry = m->shape->mesh->mesh,
                             .voxmap = m->shape->voxmap,
                             .shell = m->shape->shell};
    const flr_engine_state *s = e->state;
    for (uint32_t i = 0; s->scene == e->scene && i < s->part_count; i++)
        if (s->parts[i].part == m->part) out->T_world_part = s->parts[i].T_world_part;
}

bool flr_engine_part_at(const flr_engine *e, uint32_t index, flr_engine_part *part)
{
    if (index >= e->members.count) return false;
    describe(e, &e->members.list[index], part);
    return true;
}

flr_result flr_engine_get_part(const flr_engine *e, uint32_t part, flr_engine_part *out,
                               flr_error *error)
{
    flr_part_entry *member = NULL;
    flr_result result = flr_engine_find(e, part, &member, error);
    if (result == FLR_OK) describe(e, member, out);
    return result;
}

const flr_mesh *flr_engine_mesh(const flr_engine *e, uint32_t mesh, flr_hash *hash)
{
    const flr_mesh_asset *asset = mesh_of(e, mesh);
    if (asset && hash) *hash = asset->hash;
    return asset ? asset->mesh : NULL;
}

flr_mesh_asset *flr_engine_retain_mesh(flr_engine *e, uint32_t mesh)
{
    for (uint32_t i = 0; i < e->members.count; i++)
        if (e->members.list[i].shape->mesh->number == mesh)
            return flr_mesh_asset_retain(e->members.list[i].shape->mesh);
    return NULL;
}

/* ---- another world for the loop ---- */

typedef struct cast_job {
    flr_job job;
    flr_part_list members;
    flr_world_instance_def def; /* of `members`, with `params` */
    flr_world_params params;
    flr_world_instance *instance;
} cast_job;

static void cast_work(flr_job *job)
{
    cast_job *c = (cast_job *)job;
    job->result = flr_world_instance_make(&c->def, &c->instance, &job->error);
}

/* The loop is told again with every world, since it cannot use a tool before it has what that needs. */
static void send_tools(flr_engine *e)
{
    for (uint32_t h = 0; h < e->def.hands && e->probes; h++) {
        flr_sim_command order = {
            .kind = FLR_SIM_COMMAND_TOOL, .hand = h, .steps = (uint32_t)e->tools[h]};
        flr_engine_send_surely(e, &order);
    }
}

/* Points for the model of force, and trees where the engine needs them, are there: both count from now on. */
static void adopt_law(flr_engine *e, const cast_job *c)
{
    flr_force_model model = c->params.contact.model;
    bool right = true;
    for (uint32_t i = 0; i < c->members.count; i++)
        right &= !c->members.list[i].shape->shell ||
                 c->members.list[i].shape->shell->on_surface == (model == FLR_FORCE_SMOOTH);
    if (right) e->model = model;
    e->kind = c->params.engine;
    flr_engine_send_tuning(e);
}

static void cast_done(flr_engine *e, flr_job *job)
{
    cast_job *c = (cast_job *)job;
    flr_sim_command order = {.kind = FLR_SIM_COMMAND_INSTANCE, .what.instance = c->instance};
    if (job->result == FLR_OK && flr_engine_send(e, &order, &job->error) == FLR_OK) {
        adopt_law(e, c);
        send_tools(e);
        e->state_size = c->instance->world ? flr_world_state_size(c->instance->world) : 0;
        c->instance = NULL; /* the loop's; `casting` ends when it gives the one before back */
        return;
    }
    e->casting = false;
    if (job->result == FLR_OK) e->dirty = true; /* no room in the ring: again */
    if (job->result != FLR_OK && e->tuning.world.engine != e->kind) { /* without the trees */
        e->tuning.world.engine = e->kind;
        e->dirty = true;
        flr_engine_tell_parameter(e, "engine");
    }
    if (job->result != FLR_OK)
        flr_engine_news(e, FLR_WIRE_EVENT_WARNING, FLR_ENGINE_NONE, FLR_ENGINE_NONE, "%s",
                        job->error.message);
}

static void cast_drop(flr_job *job)
{
    cast_job *c = (cast_job *)job;
    flr_world_instance_free(c->instance);
    flr_part_list_free(&c->members);
    free(c);
}

void flr_engine_recast(flr_engine *e)
{
    /* while a scene is loaded, parts become ready one by one: not a world for each of many */
    int64_t now = flr_clock_ns(e->def.env);
    if (!e->dirty || e->casting || (e->loading && now - e->cast_ns < LOADING_NS)) return;
    cast_job *c = calloc(1, sizeof *c);
    bool copied = c;
    for (uint32_t i = 0; i < e->members.count && copied; i++) {
        if (flr_shape_is_bare(e->members.list[i].shape)) continue;
        copied = flr_part_list_add(&c->members, &e->members.list[i]);
        if (copied) flr_shape_retain(e->members.list[i].shape);
        e->members.list[i].sent = copied;
    }
    if (!copied) { /* the next service tries again */
        if (c) cast_drop(&c->job);
        return;
    }
    c->params = e->tuning.world;
    c->def = flr_engine_instance_def(e, &c->members, &c->params, e->probes);
    c->job.quick = true;
    c->job.work = cast_work;
    c->job.done = cast_done;
    c->job.drop = cast_drop;
    e->dirty = false;
    e->casting = true;
    e->cast_ns = now;
    flr_engine_post(e, &c->job, 0, FLR_ENGINE_NONE, NULL, NULL);
}

flr_result flr_engine_remove(flr_engine *e, uint32_t part, flr_error *error)
{
    flr_part_entry *member = NULL;
    flr_result result = flr_engine_find(e, part, &member, error);
    if (result != FLR_OK) return result;
    flr_shape_release(member->shape);
    size_t behind = (size_t)(&e->members.list[--e->members.count] - member);
    memmove(member, member + 1, behind * sizeof *member);
    e->dirty = e->altered = true;
    flr_engine_tell(e, FLR_ENGINE_EVENT_PART_GONE)->part = part;
    return FLR_OK;
}

flr_result flr_engine_set_kind(flr_engine *e, uint32_t part, flr_part_kind kind, flr_error *error)
{
    flr_part_entry *member = NULL;
    flr_result result = flr_engine_find(e, part, &member, error);
    if (result != FLR_OK) return result;
    if (kind != FLR_PART_STATIC && kind != FLR_PART_MOVABLE && kind != FLR_PART_FREE)
        return flr_fail(error, FLR_BAD_ARGUMENT, "there is no kind %d of parts", (int)kind);
    if (member->kind == kind) return FLR_OK;
    if (kind != FLR_PART_STATIC && member->shape->pager)
        return flr_fail(error, FLR_UNSUPPORTED,
                        "part \"%s\" cannot be made to move: its voxels are read from the disk as "
                        "they are needed; give it larger voxels first, or leave out --memory",
                        member->name);
    if (kind == FLR_PART_STATIC) {
        flr_engine_part now;
        flr_engine_view(e);
        describe(e, member, &now);
        member->T_start = now.T_world_part;
    }
    member->kind = kind;
    e->dirty = e->altered = true;
    flr_engine_tell_part(e, member);
    return FLR_OK;
}

/* ---- orders ---- */

static flr_result check_hand(const flr_engine *e, uint32_t hand, flr_error *error)
{
    if (hand < e->def.hands) return FLR_OK;
    return flr_fail(error, FLR_NOT_FOUND, "there is no hand %u; there are %u", hand, e->def.hands);
}

/* Whether its voxels are on their way. */
static bool is_voxelized(const flr_engine *e, uint32_t part)
{
    flr_engine_job job;
    for (uint32_t i = 0; flr_jobs_at(e->jobs, i, &job); i++)
        if (job.part == part || job.job == e->loading) return true;
    return false;
}

flr_result flr_engine_check_movable(const flr_engine *e, uint32_t part, const char *what,
                                    flr_error *error)
{
    flr_part_entry *member = NULL;
    flr_result result = flr_engine_find(e, part, &member, error);
    if (result == FLR_OK && member->kind == FLR_PART_STATIC)
        return flr_fail(error, FLR_DENIED, "part \"%s\" is static and cannot be %s", member->name,
                        what);
    if (result != FLR_OK || member->there) return result;
    if (!flr_shape_is_bare(member->shape))
        return flr_fail(error, FLR_AGAIN, "part \"%s\" is not ready yet; try again", member->name);
    return flr_fail(error, FLR_AGAIN,
                    is_voxelized(e, part)
                        ? "part \"%s\" cannot be %s yet: its voxels are being made"
                        : "part \"%s\" cannot be %s: it has no voxels; have them made first",
                    member->name, what);
}

flr_result flr_engine_grab(flr_engine *e, uint32_t hand, uint32_t part, flr_error *error)
{
    flr_result result = check_hand(e, hand, error);
    if (result == FLR_OK && part != FLR_ENGINE_NONE)
        result = flr_engine_check_movable(e, part, "taken", error);
    flr_sim_command order = {.kind = FLR_SIM_COMMAND_GRAB, .hand = hand, .part = part};
    return result == FLR_OK ? flr_engine_send(e, &order, error) : result;
}

flr_result flr_engine_set_tool(flr_engine *e, uint32_t hand, flr_tool tool, flr_error *error)
{
    flr_result result = check_hand(e, hand, error);
    if (result == FLR_OK && tool != FLR_TOOL_GRIP && tool != FLR_TOOL_POINT)
        result = flr_fail(error, FLR_BAD_ARGUMENT, "there is no tool %d", (int)tool);
    if (result != FLR_OK) return result;
    e->tools[hand] = tool;
    if (tool == FLR_TOOL_POINT && !e->probes) e->probes = e->dirty = true;
    send_tools(e);
    return FLR_OK;
}

flr_result flr_engine_release(flr_engine *e, uint32_t hand, flr_error *error)
{
    flr_result result = check_hand(e, hand, error);
    flr_sim_command order = {.kind = FLR_SIM_COMMAND_RELEASE, .hand = hand};
    return result == FLR_OK ? flr_engine_send(e, &order, error) : result;
}

flr_result flr_engine_leave(flr_engine *e, uint32_t hand, flr_error *error)
{
    flr_result result = check_hand(e, hand, error);
    if (result != FLR_OK) return result;
    flr_remote_clear(e->pointers[hand].remote);
    flr_sim_command order = {.kind = FLR_SIM_COMMAND_RELEASE, .hand = hand, .flag = true};
    flr_engine_send_surely(e, &order); /* nobody is left who could try again */
    return FLR_OK;
}

flr_result flr_engine_reset(flr_engine *e, flr_error *error)
{
    flr_sim_command order = {.kind = FLR_SIM_COMMAND_RESET};
    return flr_engine_send(e, &order, error);
}

flr_result flr_engine_undo(flr_engine *e, uint32_t steps, flr_error *error)
{
    if (steps == 0) return flr_fail(error, FLR_BAD_ARGUMENT, "undo 0 steps; give 1 or more");
    flr_sim_command order = {.kind = FLR_SIM_COMMAND_UNDO, .steps = steps};
    return flr_engine_send(e, &order, error);
}

flr_result flr_engine_place(flr_engine *e, uint32_t part, flr_pose T_world_part, flr_error *error)
{
    flr_result result = flr_engine_check_movable(e, part, "placed", error);
    if (result == FLR_OK && !flr_pose_is_valid(T_world_part))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "that is no pose for part %u", part);
    flr_sim_command order = {.kind = FLR_SIM_COMMAND_PLACE, .part = part, .pose = T_world_part};
    return result == FLR_OK ? flr_engine_send(e, &order, error) : result;
}

flr_result flr_engine_pause(flr_engine *e, bool paused, flr_error *error)
{
    flr_sim_command order = {.kind = FLR_SIM_COMMAND_PAUSE, .flag = paused};
    if (e->replay && !paused)
        return flr_fail(error, FLR_AGAIN, "a recording is shown; end that first");
    return flr_engine_send(e, &order, error);
}

/* ---- parameters ---- */

uint32_t flr_engine_parameters(const flr_engine *e)
{
    (void)e;
    return flr_parameters_count();
}

bool flr_engine_parameter_at(const flr_engine *e, uint32_t index, flr_engine_parameter *out)
{
    if (index >= flr_parameters_count()) return false;
    const flr_parameters_entry *entry = flr_parameters_at(index);
    *out = (flr_engine_parameter){.name = entry->name,
                                  .unit = entry->unit,
                                  .words = entry->words,
                                  .doc = entry->doc,
                                  .value = flr_parameters_get(&e->tuning, index),
                                  .low = entry->low,
                                  .high = flr_parameters_high(&e->tuning, index),
                                  .preset = flr_parameters_get(&e->preset, index)};
    return true;
}

void flr_engine_tell_parameter(flr_engine *e, const char *name)
{
    for (uint32_t i = 0; i < flr_parameters_count(); i++)
        if (strcmp(flr_parameters_at(i)->name, name) == 0)
            flr_engine_tell(e, FLR_ENGINE_EVENT_PARAMETER)->index = i;
}

void flr_engine_send_tuning(flr_engine *e)
{
    flr_sim_command order = {.kind = FLR_SIM_COMMAND_TUNING};
    order.what.tuning.world = e->tuning.world;
    order.what.tuning.world.contact.model = e->model;
    order.what.tuning.world.engine = e->kind;
    order.what.tuning.reach = e->tuning.reach;
    flr_engine_send_surely(e, &order);
}

flr_result flr_engine_set(flr_engine *e, const char *name, double value, flr_error *error)
{
    flr_parameters before = e->tuning;
    flr_result result = flr_parameters_set(&e->tuning, name, value, NULL, error);
    if (result != FLR_OK) return result;
    if (before.world.engine != e->tuning.world.engine) e->dirty = true; /* needs its trees */
    flr_engine_send_tuning(e);
    for (uint32_t i = 0; i < flr_parameters_count(); i++)
        if (flr_parameters_get(&before, i) != flr_parameters_get(&e->tuning, i))
            flr_engine_tell_change(e, i);
    return FLR_OK;
}
