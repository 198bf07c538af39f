/* the list of parts, and what is asked of the loop */
#include <stdlib.h>
#include <string.h>

#include "sim/engine_internal.h"
#include "sim/review.h"

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

flr_result flr_engine_check_id(const flr_engine *e, flr_part_id part, flr_error *error)
{
    if (!flr_is_part(part) || part.generation == e->scene) return FLR_OK;
    return flr_fail(error, FLR_NOT_FOUND, "part %u is of a scene that is gone", part.index);
}

flr_result flr_engine_find_id(const flr_engine *e, flr_part_id part, flr_part_entry **member,
                              flr_error *error)
{
    flr_result result = flr_engine_check_id(e, part, error);
    return result == FLR_OK ? flr_engine_find(e, part.index, member, error) : result;
}

flr_part_id flr_engine_part_id(const flr_engine *e, uint32_t index)
{
    return flr_part_id_of(e->scene, index);
}

flr_mesh_id flr_engine_mesh_id(const flr_engine *e, uint32_t index)
{
    return (flr_mesh_id){index, e->scene};
}

static flr_mesh_asset *mesh_of(const flr_engine *e, flr_mesh_id mesh)
{
    for (uint32_t i = 0; i < e->members.count && mesh.generation == e->scene; i++) {
        flr_mesh_asset *asset = e->members.list[i].shape->mesh;
        if (asset->number == mesh.index) return asset;
    }
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
    *out =
        (flr_engine_part){.part = flr_engine_part_id(e, m->part),
                          .mesh = flr_engine_mesh_id(e, m->shape->mesh->number),
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
                          .hidden = m->hidden,
                          .use = m->use,
                          .group = m->group < e->groups.count ? e->groups.list[m->group].name : "",
                          .name = m->name,
                          .geometry = m->shape->mesh->mesh,
                          .voxmap = m->shape->voxmap,
                          .shell = m->shape->shell};
    out->weighed = m->mass > 0 || m->density > 0;
    if (out->weighed || e->tuning.voxel > 0 || e->tuning.world.engine == FLR_ENGINE_EXACT)
        out->mass = flr_part_mass(m, &e->tuning.world, e->tuning.voxel);
    const flr_engine_state *s = e->state;
    uint32_t at = flr_engine_state_find(s, out->part);
    if (at != FLR_ENGINE_NONE) out->T_world_part = s->parts[at].T_world_part;
}

bool flr_engine_part_at(const flr_engine *e, uint32_t index, flr_engine_part *part)
{
    if (index >= e->members.count) return false;
    describe(e, &e->members.list[index], part);
    return true;
}

flr_result flr_engine_get_part(const flr_engine *e, flr_part_id part, flr_engine_part *out,
                               flr_error *error)
{
    flr_part_entry *member = NULL;
    flr_result result = flr_engine_find_id(e, part, &member, error);
    if (result == FLR_OK) describe(e, member, out);
    return result;
}

const flr_mesh *flr_engine_mesh(const flr_engine *e, flr_mesh_id mesh, flr_hash *hash)
{
    const flr_mesh_asset *asset = mesh_of(e, mesh);
    if (asset && hash) *hash = asset->hash;
    return asset ? asset->mesh : NULL;
}

flr_mesh_asset *flr_engine_retain_mesh(flr_engine *e, flr_mesh_id mesh)
{
    flr_mesh_asset *asset = mesh_of(e, mesh);
    return asset ? flr_mesh_asset_retain(asset) : NULL;
}

/* ---- another world for the loop ---- */

typedef struct cast_job {
    flr_job job;
    flr_part_list members;
    flr_world_instance_def def; /* of `members`, with `params` */
    flr_world_params params;
    flr_world_instance *instance;
} cast_job;

/* The part whose exact geometry is being built. */
typedef struct fit_build {
    flr_job *job;
    const char *name;
    double from, to;
} fit_build;

static bool tell_fit(void *context, double done)
{
    const fit_build *b = context;
    return flr_job_progress(b->job, b->from + (b->to - b->from) * done, "%s: exact geometry",
                            b->name);
}

/* Where another engine needs it of all parts: with progress, and it can be cancelled. */
static flr_result build_fits(cast_job *c)
{
    const double count = c->members.count;
    for (uint32_t i = 0; i < c->members.count; i++) {
        const flr_part_entry *m = &c->members.list[i];
        fit_build b = {&c->job, m->name, i / count, (i + 1) / count};
        const flr_fit *fit;
        if (!tell_fit(&b, 0)) return flr_fail(&c->job.error, FLR_CANCELLED, "cancelled");
        flr_result result = flr_mesh_asset_fit_shown(m->shape->mesh, c->def.env, c->def.cache,
                                                     tell_fit, &b, &fit, &c->job.error);
        if (result != FLR_OK) return result;
    }
    return FLR_OK;
}

static void cast_work(flr_job *job)
{
    cast_job *c = (cast_job *)job;
    job->result = c->params.engine == FLR_ENGINE_EXACT ? build_fits(c) : FLR_OK;
    if (job->result == FLR_OK)
        job->result = flr_world_instance_make(&c->def, &c->instance, &job->error);
}

/* The loop gets them again with every world, since it cannot use a tool before it has what that needs. */
void flr_engine_send_tools(flr_engine *e)
{
    for (uint32_t h = 0; h < e->def.hands && e->probes; h++) {
        flr_sim_command command = {.kind = FLR_SIM_COMMAND_TOOL,
                                   .as.tool = {.hand = h, .tool = (uint8_t)e->tools[h]}};
        flr_engine_send_surely(e, &command);
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
    flr_sim_command command = {.kind = FLR_SIM_COMMAND_INSTANCE,
                               .as.instance.instance = c->instance};
    if (job->result == FLR_OK && flr_engine_send(e, &command, &job->error) == FLR_OK) {
        adopt_law(e, c);
        flr_engine_send_tools(e);
        e->state_size = c->instance->world ? flr_world_state_size(c->instance->world) : 0;
        c->instance = NULL; /* the loop's; `rebuilding` ends when it gives the one before back */
        return;
    }
    e->rebuilding = false;
    if (job->result == FLR_OK) e->dirty = true; /* no room in the ring: again */
    if (job->result != FLR_OK && e->tuning.world.engine != e->kind) { /* without the trees */
        e->tuning.world.engine = e->kind;
        e->dirty = true;
        flr_engine_tell_parameter(e, "engine");
    }
    if (job->result != FLR_OK) FLR_ENGINE_WARN(e, "%s", job->error.message);
}

static void cast_drop(flr_job *job)
{
    cast_job *c = (cast_job *)job;
    flr_world_instance_free(c->instance);
    flr_part_list_free(&c->members);
    free(c);
}

void flr_engine_rebuild(flr_engine *e)
{
    /* while a scene is loaded, parts become ready one by one: not a world for each of many */
    int64_t now = flr_clock_ns(e->def.env);
    if (!e->dirty || e->rebuilding || (e->loading && now - e->rebuilt_ns < LOADING_NS)) return;
    cast_job *c = calloc(1, sizeof *c);
    bool copied = c;
    for (uint32_t i = 0; i < e->members.count && copied; i++) {
        if (flr_shape_is_bare(e->members.list[i].shape)) continue;
        copied = flr_part_list_add(&c->members, &e->members.list[i]);
        if (copied) flr_shape_retain(e->members.list[i].shape);
        e->members.list[i].sent = copied;
    }
    copied = copied && flr_part_list_add_joints(&c->members, e->members.joints,
                                                e->members.joint_count, 0, flr_pose_identity());
    if (!copied) { /* the next service tries again */
        if (c) cast_drop(&c->job);
        return;
    }
    c->params = e->tuning.world;
    c->def = flr_engine_instance_def(e, &c->members, &c->params, e->probes);
    c->job = (flr_job){.quick = true, .work = cast_work, .done = cast_done, .drop = cast_drop};
    e->dirty = false;
    e->rebuilding = true;
    e->rebuilt_ns = now;
    /* people see a change of engine that takes longer */
    const bool builds =
        c->params.engine == FLR_ENGINE_EXACT && e->kind != FLR_ENGINE_EXACT && c->members.count > 0;
    flr_engine_post(e, &c->job, builds ? FLR_WIRE_JOB_FIT : 0, FLR_NO_PART_ID,
                    builds ? "exact geometry" : NULL, NULL);
}

flr_result flr_engine_remove(flr_engine *e, flr_part_id part, flr_error *error)
{
    flr_part_entry *member = NULL;
    flr_result result = flr_engine_find_id(e, part, &member, error);
    if (result != FLR_OK) return result;
    flr_engine_leave_joints(e, member);
    flr_shape_release(member->shape);
    size_t behind = (size_t)(&e->members.list[--e->members.count] - member);
    memmove(member, member + 1, behind * sizeof *member);
    e->dirty = e->altered = true;
    flr_engine_tell(e, FLR_ENGINE_EVENT_PART_GONE)->part = part;
    flr_review_drop_part(e, part);
    return FLR_OK;
}

flr_result flr_engine_set_kind(flr_engine *e, flr_part_id part, flr_part_kind kind,
                               flr_error *error)
{
    flr_part_entry *member = NULL;
    flr_result result = flr_engine_find_id(e, part, &member, error);
    if (result != FLR_OK) return result;
    if (kind != FLR_PART_STATIC && kind != FLR_PART_MOVABLE && kind != FLR_PART_FREE)
        return flr_fail(error, FLR_BAD_ARGUMENT, "there is no kind %d of parts", (int)kind);
    if (member->kind == kind) return FLR_OK;
    if (member->use == FLR_PART_USE_KEEP_OUT)
        return flr_fail(error, FLR_DENIED,
                        "\"%s\" is a keep-out zone, which never moves; make it solid first",
                        member->name);
    if (kind != FLR_PART_STATIC && member->shape->pager)
        return flr_fail(error, FLR_UNSUPPORTED,
                        "part \"%s\" cannot be made to move: its voxels are read from the disk as "
                        "they are needed; give it larger voxels first, or leave out --memory",
                        member->name);
    if (kind == FLR_PART_STATIC) flr_engine_view(e);
    for (uint32_t i = 0; i < e->members.count; i++) {
        flr_part_entry *other = &e->members.list[i];
        if (other != member && !(member->rigid && other->rigid == member->rigid)) continue;
        flr_engine_part now;
        describe(e, other, &now);
        if (kind == FLR_PART_STATIC) other->T_start = now.T_world_part;
        other->kind = kind;
        flr_engine_tell_part(e, other);
    }
    e->dirty = e->altered = true;
    return FLR_OK;
}

flr_result flr_engine_set_use(flr_engine *e, flr_part_id part, flr_part_use use, flr_error *error)
{
    flr_part_entry *member = NULL;
    flr_result result = flr_engine_find_id(e, part, &member, error);
    if (result != FLR_OK) return result;
    if (use != FLR_PART_USE_SOLID && use != FLR_PART_USE_PASS && use != FLR_PART_USE_KEEP_OUT)
        return flr_fail(error, FLR_BAD_ARGUMENT, "there is no use %d of parts", (int)use);
    const flr_part_use before = member->use;
    if (use == before) return FLR_OK;
    if (use == FLR_PART_USE_KEEP_OUT && member->rigid && member->kind != FLR_PART_STATIC)
        return flr_fail(error, FLR_DENIED,
                        "part \"%s\" moves with its group; take it out of the group first",
                        member->name);
    if (use == FLR_PART_USE_KEEP_OUT) result = flr_engine_set_kind(e, part, FLR_PART_STATIC, error);
    if (result != FLR_OK) return result;
    member->use = use;
    // a recording notes this and goes on; it ends where the world is made anew
    if ((use == FLR_PART_USE_PASS) != (before == FLR_PART_USE_PASS))
        result = flr_engine_set_solid(e, part, use != FLR_PART_USE_PASS, error);
    if (result != FLR_OK) {
        member->use = before;
        return result;
    }
    e->altered = true;
    flr_engine_suspect_overlaps(e);
    e->dirty |= e->rebuilding; // the world that is being made does not know it
    flr_engine_tell_part(e, member);
    return FLR_OK;
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
    flr_sim_command command = {.kind = FLR_SIM_COMMAND_PARAMETERS,
                               .as.parameters = {e->tuning.world, e->tuning.reach}};
    command.as.parameters.world.contact.model = e->model;
    command.as.parameters.world.engine = e->kind;
    flr_engine_send_surely(e, &command);
}

flr_result flr_engine_set(flr_engine *e, const char *name, double value, flr_error *error)
{
    flr_parameters before = e->tuning;
    for (uint32_t i = 0; strcmp(name, "engine") == 0 && i < e->members.count; i++)
        if (value == FLR_ENGINE_EXACT && e->members.list[i].shape->pager)
            return flr_fail(
                error, FLR_UNSUPPORTED,
                "the exact engine reads no voxels, and those of part \"%s\" are read from the "
                "disk as they are needed: start feeler serve without --memory",
                e->members.list[i].name);
    for (uint32_t i = 0; strcmp(name, "engine") == 0 && i < e->members.count; i++)
        if (value == FLR_ENGINE_COHERENT && e->members.list[i].shape->pager)
            return flr_fail(
                error, FLR_UNSUPPORTED,
                "the coherent engine needs all voxels in memory, and those of part \"%s\" are read "
                "from the disk as they are needed: start feeler serve without --memory",
                e->members.list[i].name);
    flr_result result = flr_parameters_set(&e->tuning, name, value, NULL, error);
    if (result != FLR_OK) return result;
    if (e->how.bits == 2 &&
        e->tuning.world.contact.force_layer != before.world.contact.force_layer) {
        e->tuning = before;
        return flr_fail(error, FLR_UNSUPPORTED,
                        "the voxels of this scene have marks of 2 bits with force layer %u built "
                        "in; change \"force_layer\" or \"marks\" in the scene's file",
                        before.world.contact.force_layer);
    }
    if (before.world.engine != e->tuning.world.engine) e->dirty = true; /* needs its trees */
    flr_engine_send_tuning(e);
    for (uint32_t i = 0; i < flr_parameters_count(); i++)
        if (flr_parameters_get(&before, i) != flr_parameters_get(&e->tuning, i))
            flr_engine_tell_change(e, i);
    return FLR_OK;
}
