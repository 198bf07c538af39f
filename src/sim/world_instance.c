/* what control hands to the loop: a world with its parts, and what stays as one */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "sim/engine_internal.h"

/* The apparent mass: a hand's spring gives `stiffness` times half a voxel at most, which is to accelerate the part by so
 * much, whatever it would weigh (1999, section 5, takes 12 g for everything). */
#define BRISK 20.0 /* m/s^2 */

static bool allocate(flr_world_instance *instance, uint32_t count)
{
    size_t n = (size_t)count + 1;
    instance->ids = calloc(n, sizeof *instance->ids);
    instance->kinds = calloc(n, sizeof *instance->kinds);
    instance->starts = calloc(n, sizeof *instance->starts);
    instance->shapes = calloc(n, sizeof *instance->shapes);
    instance->before = calloc(n, sizeof *instance->before);
    return instance->ids && instance->kinds && instance->starts && instance->shapes &&
           instance->before;
}

double flr_apparent_mass(const flr_world_params *params, double voxel)
{
    if (params->engine == FLR_ENGINE_EXACT) return flr_world_felt_mass(params);
    const flr_coupling_def *coupling = &params->coupling;
    double stretch = coupling->stretch > 0 ? coupling->stretch : voxel / 2;
    return coupling->stiffness * stretch / BRISK;
}

/* The part as a body where it starts, with the mass that counts for it. */
static flr_body_def make_body(const flr_part_entry *part, const flr_world_params *params,
                              double voxel)
{
    flr_body_def body = flr_mesh_asset_inertia(part->shape->mesh, part->density);
    body.mass = flr_part_mass(part, params, voxel);
    body.T_world_part = part->T_start;
    return body;
}

double flr_part_mass(const flr_part_entry *part, const flr_world_params *params, double voxel)
{
    if (part->mass > 0) return part->mass;
    if (!(part->density > 0)) return flr_apparent_mass(params, voxel);
    flr_body_def body = flr_mesh_asset_inertia(part->shape->mesh, part->density);
    return body.mass > 0 ? body.mass : body.inertia.mass;
}

static flr_result make_part(const flr_world_instance_def *def, double voxel, uint32_t i,
                            flr_world_instance *made, flr_world_part *part, flr_error *error)
{
    const flr_part_entry *m = &def->parts->list[i];
    const bool spheres = def->params->engine == FLR_ENGINE_SPHERES;
    flr_error why;
    made->ids[i] = m->part;
    // with impulses, what is hit moves on
    made->kinds[i] = spheres && m->kind == FLR_PART_MOVABLE ? FLR_PART_FREE : m->kind;
    made->starts[i] = m->T_start;
    made->shapes[i] = flr_shape_retain(m->shape);
    made->count = i + 1;
    *part = flr_default_world_part();
    part->shape = m->shape->touch;
    part->kind = made->kinds[i];
    part->body = make_body(m, def->params, voxel);
    flr_result result =
        spheres ? flr_shape_tree(m->shape, FLR_SPHERE_OCTREE, &part->tree, &why) : FLR_OK;
    if (def->params->engine == FLR_ENGINE_EXACT)
        result = flr_mesh_asset_fit(m->shape->mesh, def->env, def->cache, &part->fit, &why);
    return result == FLR_OK ? result
                            : flr_fail(error, result, "part \"%s\": %s", m->name, why.message);
}

/* The joints whose parts are all there, by their indices. Returns how many there are. */
static uint32_t find_joints(const flr_part_list *parts, const flr_world_instance *made,
                            flr_joint *joints)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < parts->joint_count; i++) {
        flr_joint joint = parts->joints[i].joint;
        uint32_t *const sides[2] = {&joint.a, &joint.b};
        bool there = true, moves = false;
        for (int k = 0; k < 2; k++) {
            if (*sides[k] == FLR_JOINT_WORLD) continue;
            *sides[k] = flr_world_instance_find(made, *sides[k]);
            there = there && *sides[k] != UINT32_MAX;
            moves |= there && made->kinds[*sides[k]] != FLR_PART_STATIC;
        }
        joint.name = parts->joints[i].text;
        if (there && moves) joints[count++] = joint; /* what was made static needs none */
    }
    return count;
}

/* Parts of which nobody says what they weigh weigh together, in a rigid group, what one of them would. */
static void share_mass(const flr_part_list *parts, flr_world_part *made)
{
    for (uint32_t i = 0; i < parts->count; i++) {
        const flr_part_entry *one = &parts->list[i];
        double volume = 0, all = 0;
        if (!one->rigid || one->mass > 0 || one->density > 0) continue;
        for (uint32_t k = 0; k < parts->count; k++) {
            const flr_part_entry *other = &parts->list[k];
            if (other->rigid != one->rigid || other->mass > 0 || other->density > 0) continue;
            const double size = made[k].body.inertia.mass;
            all += size;
            if (k == i) volume = size;
        }
        made[i].body.mass *= all > 0 ? fmax(volume / all, 1e-6) : 1;
    }
}

static flr_result make_world(const flr_world_instance_def *def, const flr_world_part *parts,
                             flr_world_instance *made, flr_error *error)
{
    const uint32_t count = def->parts->count;
    flr_joint *joints = calloc((size_t)def->parts->joint_count + 1, sizeof *joints);
    uint32_t *groups = calloc((size_t)count + 1, sizeof *groups);
    if (!joints || !groups) {
        free(joints);
        free(groups);
        return flr_engine_no_memory(error);
    }
    for (uint32_t i = 0; i < count; i++)
        groups[i] = def->parts->list[i].rigid ? def->parts->list[i].rigid : FLR_NO_PART;
    flr_world_def world = flr_default_world_def();
    world.parts = parts;
    world.part_count = def->parts->count;
    world.hand_count = def->hands;
    world.dt = 1 / def->rate;
    if (def->threads > 1) world.threads = def->threads;
    world.params = *def->params;
    world.groups = groups;
    world.joints = joints;
    world.joint_count = find_joints(def->parts, made, joints);
    flr_result result = flr_world_create(&world, &made->world, error);
    free(joints);
    free(groups);
    for (uint32_t i = 0; result == FLR_OK && i < def->parts->count; i++)
        flr_world_constrain(made->world, i, &def->parts->list[i].constraint);
    for (uint32_t i = 0; result == FLR_OK && i < count; i++)
        if (def->parts->list[i].use == FLR_PART_USE_PASS)
            flr_world_set_solid(made->world, i, false);
    for (uint32_t i = 0; result == FLR_OK && def->probes && i < def->parts->count; i++) {
        const flr_probe_model *probe;
        result = flr_mesh_asset_probe(def->parts->list[i].shape->mesh, &probe, error);
        if (result == FLR_OK) flr_world_set_probe(made->world, i, probe);
    }
    return result;
}

flr_result flr_world_instance_make(const flr_world_instance_def *def, flr_world_instance **instance,
                                   flr_error *error)
{
    const uint32_t count = def->parts->count;
    flr_world_instance *made = calloc(1, sizeof *made);
    flr_world_part *parts = calloc((size_t)count + 1, sizeof *parts);
    flr_result result = FLR_OK;
    if (!made || !parts || !allocate(made, count)) result = flr_engine_no_memory(error);
    double voxel = def->voxel > 0 ? def->voxel : flr_part_list_voxel(def->parts);
    for (uint32_t i = 0; result == FLR_OK && i < count; i++)
        result = make_part(def, voxel, i, made, &parts[i], error);
    if (result == FLR_OK) share_mass(def->parts, parts);
    if (result == FLR_OK && count > 0) result = make_world(def, parts, made, error);
    free(parts);
    if (result != FLR_OK) {
        flr_world_instance_free(made);
        return result;
    }
    made->scene = def->scene;
    made->turned = def->turned;
    *instance = made;
    return FLR_OK;
}

flr_world_instance_def flr_engine_instance_def(const flr_engine *e, const flr_part_list *parts,
                                               const flr_world_params *params, bool probes)
{
    return (flr_world_instance_def){.parts = parts,
                                    .scene = e->scene,
                                    .hands = e->def.hands,
                                    .rate = e->def.rate,
                                    .params = params,
                                    .probes = probes,
                                    .threads = e->def.contact_threads,
                                    .env = e->def.env,
                                    .cache = e->def.cache,
                                    .turned = e->turned};
}

void flr_world_instance_free(flr_world_instance *instance)
{
    if (!instance) return;
    flr_world_destroy(instance->world);
    for (uint32_t i = 0; i < instance->count; i++) flr_shape_release(instance->shapes[i]);
    free(instance->ids);
    free(instance->kinds);
    free(instance->starts);
    free(instance->shapes);
    free(instance->before);
    free(instance);
}

typedef struct trash_job {
    flr_job job;
    flr_world_instance *instance;
    flr_part_list members;
} trash_job;

static void trash_work(flr_job *job)
{
    trash_job *t = (trash_job *)job;
    flr_world_instance_free(t->instance);
    flr_part_list_free(&t->members);
    t->instance = NULL;
}

static void trash_drop(flr_job *job)
{
    trash_work(job); /* it may not have had its turn */
    free(job);
}

void flr_engine_discard(flr_engine *e, flr_world_instance *instance, flr_part_list *members)
{
    trash_job *t = e->jobs ? calloc(1, sizeof *t) : NULL;
    if (!t) { /* no memory, or the end */
        flr_world_instance_free(instance);
        if (members) flr_part_list_free(members);
        return;
    }
    t->instance = instance;
    if (members) t->members = *members, memset(members, 0, sizeof *members);
    t->job = (flr_job){.work = trash_work, .drop = trash_drop};
    flr_engine_post(e, &t->job, 0, FLR_NO_PART_ID, NULL, NULL);
}

uint32_t flr_world_instance_find(const flr_world_instance *instance, uint32_t part)
{
    uint32_t i;
    FLR_BISECT(i, instance->count, instance->ids[i] < part);
    return i < instance->count && instance->ids[i] == part ? i : UINT32_MAX;
}
