/* what control hands to the loop: a world with its parts, and what stays as one */
#include <stdlib.h>
#include <string.h>

#include "sim/engine_internal.h"
#include "sim/stage.h"

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

static double least_voxel(const flr_part_list *members)
{
    double least = 0;
    for (uint32_t i = 0; i < members->count; i++) {
        double voxel = members->list[i].shape->voxel;
        if (least == 0 || voxel < least) least = voxel;
    }
    return least;
}

flr_result flr_world_instance_make(const flr_part_list *members, uint32_t scene,
                                   const flr_engine_def *def, const flr_parameters *tuning,
                                   bool probes, flr_world_instance **instance, flr_error *error)
{
    flr_world_instance *made = calloc(1, sizeof *made);
    flr_world_part *parts = calloc((size_t)members->count + 1, sizeof *parts);
    flr_result result = FLR_OK;
    if (!made || !parts || !allocate(made, members->count)) result = flr_engine_no_memory(error);
    double voxel = least_voxel(members);
    for (uint32_t i = 0; result == FLR_OK && i < members->count; i++) {
        const flr_part_entry *m = &members->list[i];
        made->ids[i] = m->part;
        // with impulses, what is hit moves on
        bool free = m->kind == FLR_PART_MOVABLE && tuning->world.engine == FLR_ENGINE_SPHERES;
        made->kinds[i] = free ? FLR_PART_FREE : m->kind;
        made->starts[i] = m->T_start;
        made->shapes[i] = flr_shape_retain(m->shape);
        made->count = i + 1;
        parts[i] = flr_default_world_part();
        parts[i].shape = m->shape->touch;
        parts[i].kind = made->kinds[i];
        if (tuning->world.engine == FLR_ENGINE_SPHERES)
            result = flr_shape_tree(m->shape, &parts[i].tree, error);
        flr_body_def inertia = flr_mesh_asset_inertia(m->shape->mesh, m->density);
        parts[i].body = flr_stage_body(&inertia, voxel, &tuning->world.coupling, m->T_start);
    }
    if (result == FLR_OK && members->count > 0) {
        flr_world_def world = flr_default_world_def();
        world.parts = parts;
        world.part_count = members->count;
        world.hand_count = def->hands;
        world.dt = 1 / def->rate;
        world.params = tuning->world;
        result = flr_world_create(&world, &made->world, error);
    }
    for (uint32_t i = 0; result == FLR_OK && probes && i < members->count; i++) {
        const flr_probe_model *probe;
        result = flr_mesh_asset_probe(members->list[i].shape->mesh, &probe, error);
        if (result == FLR_OK) flr_world_set_probe(made->world, i, probe);
    }
    free(parts);
    if (result != FLR_OK) {
        flr_world_instance_free(made);
        return result;
    }
    made->scene = scene;
    *instance = made;
    return FLR_OK;
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
    t->job.work = trash_work;
    t->job.drop = trash_drop;
    flr_engine_post(e, &t->job, 0, FLR_ENGINE_NONE, NULL, NULL);
}

uint32_t flr_world_instance_find(const flr_world_instance *instance, uint32_t part)
{
    uint32_t low = 0, high = instance->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (instance->ids[middle] < part)
            low = middle + 1;
        else
            high = middle;
    }
    return low < instance->count && instance->ids[low] == part ? low : UINT32_MAX;
}

/* ---- the ground ---- */

flr_static_scene *flr_static_scene_retain(flr_static_scene *ground)
{
    atomic_fetch_add(&ground->users, 1);
    return ground;
}

void flr_static_scene_release(flr_static_scene *ground)
{
    if (!ground || atomic_fetch_sub(&ground->users, 1) != 1) return;
    flr_contact_table_destroy(ground->table);
    flr_voxmap_destroy(ground->voxmap);
    for (uint32_t i = 0; ground->shapes && i < ground->count; i++)
        flr_shape_release(ground->shapes[i]);
    free(ground->ids);
    free(ground->poses);
    free(ground->shapes);
    free(ground);
}
