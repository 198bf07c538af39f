/* what control hands to the loop: a world with its parts, and what stays as one */
#include <stdlib.h>
#include <string.h>

#include "controller/inside.h"
#include "scene/stage.h"

static bool allocate(flr_cast *cast, uint32_t count)
{
    size_t n = (size_t)count + 1;
    cast->ids = calloc(n, sizeof *cast->ids);
    cast->kinds = calloc(n, sizeof *cast->kinds);
    cast->starts = calloc(n, sizeof *cast->starts);
    cast->shapes = calloc(n, sizeof *cast->shapes);
    cast->before = calloc(n, sizeof *cast->before);
    cast->hit = calloc(n, sizeof *cast->hit);
    cast->shown = calloc(n, sizeof *cast->shown);
    return cast->ids && cast->kinds && cast->starts && cast->shapes && cast->before && cast->hit &&
           cast->shown;
}

static double least_voxel(const flr_members *members)
{
    double least = 0;
    for (uint32_t i = 0; i < members->count; i++) {
        double voxel = members->list[i].shape->voxel;
        if (least == 0 || voxel < least) least = voxel;
    }
    return least;
}

flr_result flr_cast_make(const flr_members *members, uint32_t scene, const flr_engine_def *def,
                         const flr_tuning *tuning, bool probes, flr_cast **cast, flr_error *error)
{
    flr_cast *made = calloc(1, sizeof *made);
    flr_world_part *parts = calloc((size_t)members->count + 1, sizeof *parts);
    flr_result result = FLR_OK;
    if (!made || !parts || !allocate(made, members->count)) result = flr_engine_no_memory(error);
    double voxel = least_voxel(members);
    for (uint32_t i = 0; result == FLR_OK && i < members->count; i++) {
        const flr_member *m = &members->list[i];
        made->ids[i] = m->part;
        // with impulses, what is hit moves on
        bool free = m->kind == FLR_PART_MOVABLE && tuning->world.engine == FLR_ENGINE_SPHERES;
        made->kinds[i] = free ? FLR_PART_FREE : m->kind;
        made->starts[i] = m->T_start;
        made->shapes[i] = flr_shape_use(m->shape);
        made->count = i + 1;
        parts[i] = flr_default_world_part();
        parts[i].shape = m->shape->touch;
        parts[i].kind = made->kinds[i];
        if (tuning->world.engine == FLR_ENGINE_SPHERES)
            result = flr_shape_tree(m->shape, &parts[i].tree, error);
        flr_body_def inertia = flr_kept_inertia(m->shape->mesh, m->density);
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
        result = flr_kept_probe(members->list[i].shape->mesh, &probe, error);
        if (result == FLR_OK) flr_world_set_probe(made->world, i, probe);
    }
    free(parts);
    if (result != FLR_OK) {
        flr_cast_free(made);
        return result;
    }
    made->scene = scene;
    *cast = made;
    return FLR_OK;
}

void flr_cast_free(flr_cast *cast)
{
    if (!cast) return;
    flr_world_destroy(cast->world);
    for (uint32_t i = 0; i < cast->count; i++) flr_shape_drop(cast->shapes[i]);
    free(cast->ids);
    free(cast->kinds);
    free(cast->starts);
    free(cast->shapes);
    free(cast->before);
    free(cast->hit);
    free(cast->shown);
    free(cast);
}

typedef struct trash_job {
    flr_job job;
    flr_cast *cast;
    flr_members members;
} trash_job;

static void trash_work(flr_job *job)
{
    trash_job *t = (trash_job *)job;
    flr_cast_free(t->cast);
    flr_members_free(&t->members);
    t->cast = NULL;
}

static void trash_drop(flr_job *job)
{
    trash_work(job); /* it may not have had its turn */
    free(job);
}

void flr_engine_discard(flr_engine *e, flr_cast *cast, flr_members *members)
{
    trash_job *t = e->jobs ? calloc(1, sizeof *t) : NULL;
    if (!t) { /* no memory, or the end */
        flr_cast_free(cast);
        if (members) flr_members_free(members);
        return;
    }
    t->cast = cast;
    if (members) t->members = *members, memset(members, 0, sizeof *members);
    t->job.work = trash_work;
    t->job.drop = trash_drop;
    flr_engine_post(e, &t->job, 0, FLR_ENGINE_NONE, NULL, NULL);
}

uint32_t flr_cast_find(const flr_cast *cast, uint32_t part)
{
    uint32_t low = 0, high = cast->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cast->ids[middle] < part)
            low = middle + 1;
        else
            high = middle;
    }
    return low < cast->count && cast->ids[low] == part ? low : UINT32_MAX;
}

/* ---- the ground ---- */

flr_ground *flr_ground_use(flr_ground *ground)
{
    atomic_fetch_add(&ground->users, 1);
    return ground;
}

void flr_ground_drop(flr_ground *ground)
{
    if (!ground || atomic_fetch_sub(&ground->users, 1) != 1) return;
    flr_contact_table_destroy(ground->table);
    flr_voxmap_destroy(ground->voxmap);
    for (uint32_t i = 0; ground->shapes && i < ground->count; i++)
        flr_shape_drop(ground->shapes[i]);
    free(ground->ids);
    free(ground->poses);
    free(ground->shapes);
    free(ground);
}
