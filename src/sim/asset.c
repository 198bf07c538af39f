/* meshes and shapes: made once, shared by parts, workers and senders, freed by whoever is last */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "contact/contact_table.h"
#include "sim/engine_internal.h"
#include "sim/stage.h"

flr_result flr_mesh_asset_make(flr_mesh *mesh, uint32_t number, flr_mesh_asset **asset,
                               flr_error *error)
{
    flr_mesh_asset *made = calloc(1, sizeof *made);
    if (!made) {
        flr_mesh_destroy(mesh);
        return flr_engine_no_memory(error);
    }
    atomic_init(&made->users, 1);
    made->number = number;
    made->mesh = mesh;
    made->hash = flr_mesh_hash(mesh);
    pthread_mutex_init(&made->lock, NULL);
    *asset = made;
    return FLR_OK;
}

flr_mesh_asset *flr_mesh_asset_retain(flr_mesh_asset *asset)
{
    atomic_fetch_add(&asset->users, 1);
    return asset;
}

const flr_mesh *flr_mesh_asset_mesh(const flr_mesh_asset *asset) { return asset->mesh; }

void flr_mesh_asset_release(flr_mesh_asset *asset)
{
    if (!asset || atomic_fetch_sub(&asset->users, 1) != 1) return;
    flr_gauge_part_destroy(asset->gauge);
    flr_probe_model_destroy(asset->probe);
    flr_mesh_destroy(asset->mesh);
    pthread_mutex_destroy(&asset->lock);
    free(asset);
}

flr_result flr_mesh_asset_gauge(flr_mesh_asset *asset, const flr_gauge_part **gauge,
                                flr_error *error)
{
    pthread_mutex_lock(&asset->lock);
    flr_result result =
        asset->gauge ? FLR_OK : flr_gauge_part_create(asset->mesh, &asset->gauge, error);
    if (result == FLR_OK) *gauge = asset->gauge;
    pthread_mutex_unlock(&asset->lock);
    return result;
}

flr_result flr_mesh_asset_probe(flr_mesh_asset *asset, const flr_probe_model **probe,
                                flr_error *error)
{
    flr_probe_def def = flr_default_probe_def();
    def.mesh = asset->mesh;
    def.shading = true;
    pthread_mutex_lock(&asset->lock);
    flr_result result = asset->probe ? FLR_OK : flr_probe_model_create(&def, &asset->probe, error);
    if (result == FLR_OK) *probe = asset->probe;
    pthread_mutex_unlock(&asset->lock);
    return result;
}

flr_body_def flr_mesh_asset_inertia(flr_mesh_asset *asset, double density)
{
    pthread_mutex_lock(&asset->lock);
    if (!asset->weighed || asset->density != density)
        asset->inertia = flr_stage_inertia(asset->mesh, density);
    asset->weighed = true;
    asset->density = density;
    flr_body_def inertia = asset->inertia;
    pthread_mutex_unlock(&asset->lock);
    return inertia;
}

/* ---- shapes ---- */

/* One part may take half of the memory that this process may: others are there, too, and a controller that is killed for want of it
 * lets go of the hand at a device. */
static uint64_t memory_most(void) { return flr_memory_look(flr_env_real()).limit / 2; }

/* The flat table has an entry for every chunk of the box, also where there is nothing. */
static flr_result check_table(const flr_shape_def *def, uint64_t most, flr_error *error)
{
    flr_vec3 size = flr_box3_size(def->mesh->mesh->bounds);
    double hyper = 64 * def->voxel;
    double bytes = (size.x / hyper + 2) * (size.y / hyper + 2) * (size.z / hyper + 2) * 512 *
                   FLR_FIELD_COUNT * sizeof(uint32_t);
    if (bytes <= (double)most) return FLR_OK;
    return flr_fail(error, FLR_TOO_LARGE,
                    "voxels of %g mm would take %.0f GB of memory for it; take larger ones",
                    1e3 * def->voxel, 1e-9 * bytes);
}

flr_shape *flr_shape_bare(flr_mesh_asset *mesh, double voxel, bool hollow)
{
    flr_shape *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    atomic_init(&made->users, 1);
    made->mesh = flr_mesh_asset_retain(mesh);
    made->voxel = voxel;
    made->hollow = hollow;
    return made;
}

flr_voxelize_def flr_shape_how(const flr_shape *shape, bool on_surface)
{
    flr_voxelize_def how = flr_default_voxelize_def();
    how.voxel = shape->voxel;
    how.hollow = shape->hollow;
    how.on_surface = on_surface;
    return how;
}

static bool still_flattening(void *context)
{
    const flr_shape_def *def = context;
    return !def->progress || def->progress(def->context, 1, "table");
}

/* Its voxels come from the cache's file as the loop needs them. Without a pager afterwards: they are few enough. */
static flr_result page(const flr_shape_def *def, const flr_voxelize_def *how, flr_shape *made,
                       flr_error *error)
{
    if (!def->memory || !def->cache || !def->cache->folder) return FLR_OK;
    flr_cache_report report = {0};
    flr_result result = flr_stage_page(def->env, def->cache, def->mesh->mesh, how, def->memory,
                                       false, &made->pager, &report, error);
    if (result == FLR_OK) memcpy(made->broken, report.broken, sizeof made->broken);
    if (result != FLR_OK || !made->pager) return result;
    made->table = (flr_contact_table *)(uintptr_t)flr_pager_table(made->pager);
    made->touch = flr_pairs_shape_make(NULL, made->table);
    made->bytes = (size_t)flr_pager_get_stats(made->pager).bytes;
    return def->reads ? flr_pager_start(made->pager, error) : FLR_OK;
}

/* Its voxels are all in memory. */
static flr_result keep_whole(const flr_shape_def *def, const flr_voxelize_def *how, flr_shape *made,
                             flr_error *error)
{
    static const flr_cache none = {0};
    flr_cache_report report = {0};
    flr_result result = check_table(def, how->memory_limit, error);
    if (result == FLR_OK)
        result = flr_cache_voxelize(def->env, def->cache ? def->cache : &none, def->mesh->mesh, how,
                                    &made->voxmap, &made->shell, &report, error);
    if (result == FLR_OK)
        result = flr_contact_table_make(made->voxmap, still_flattening, (void *)(uintptr_t)def,
                                        &made->table, error);
    if (result != FLR_OK) return result;
    made->fresh = def->cache && def->cache->folder && !def->cache->read_only && !report.found;
    if (*report.broken) memcpy(made->broken, report.broken, sizeof made->broken);
    made->touch = flr_pairs_shape_make(made->shell, made->table);
    made->bytes = (size_t)flr_voxmap_get_info(made->voxmap).stats.bytes + made->shell->bytes +
                  flr_contact_table_bytes(made->table);
    return FLR_OK;
}

flr_result flr_shape_make(const flr_shape_def *def, flr_shape **shape, flr_error *error)
{
    flr_shape *made = flr_shape_bare(def->mesh, def->voxel, def->hollow);
    if (!made) return flr_engine_no_memory(error);
    flr_voxelize_def how = flr_shape_how(made, def->on_surface);
    how.threads = def->threads;
    how.progress = def->progress;
    how.context = def->context;
    how.memory_limit = memory_most();
    flr_result result = page(def, &how, made, error);
    if (result == FLR_OK && !made->pager) result = keep_whole(def, &how, made, error);
    if (result != FLR_OK) {
        flr_shape_release(made);
        return result;
    }
    *shape = made;
    return FLR_OK;
}

flr_result flr_shape_tree(flr_shape *shape, const flr_sphere_tree **tree, flr_error *error)
{
    flr_sphere_tree_def def = flr_default_sphere_tree_def();
    if (shape->pager)
        return flr_fail(
            error, FLR_UNSUPPORTED,
            "its voxels are read as they are needed, and sphere trees need all of them; "
            "leave out --memory, or take the engine of shells");
    def.voxmap = shape->voxmap;
    def.shell = shape->shell;
    pthread_mutex_lock(&shape->mesh->lock);
    flr_result result = shape->tree ? FLR_OK : flr_sphere_tree_create(&def, &shape->tree, error);
    if (result == FLR_OK) *tree = shape->tree;
    pthread_mutex_unlock(&shape->mesh->lock);
    return result;
}

flr_shape *flr_shape_retain(flr_shape *shape)
{
    atomic_fetch_add(&shape->users, 1);
    return shape;
}

void flr_shape_release(flr_shape *shape)
{
    if (!shape || atomic_fetch_sub(&shape->users, 1) != 1) return;
    flr_sphere_tree_destroy(shape->tree);
    if (!shape->pager) flr_contact_table_destroy(shape->table);
    flr_pager_close(shape->pager);
    flr_shell_destroy(shape->shell);
    flr_voxmap_destroy(shape->voxmap);
    flr_mesh_asset_release(shape->mesh);
    free(shape);
}

/* ---- lists of parts ---- */

bool flr_part_list_add(flr_part_list *members, const flr_part_entry *member)
{
    if (members->count == members->room) {
        uint32_t room = members->room ? 2 * members->room : 16;
        flr_part_entry *list = realloc(members->list, room * sizeof *list);
        if (!list) return false;
        members->list = list;
        members->room = room;
    }
    // in order of their numbers, which the loop looks them up by
    uint32_t at = members->count++;
    while (at > 0 && members->list[at - 1].part > member->part) {
        members->list[at] = members->list[at - 1];
        at--;
    }
    members->list[at] = *member;
    return true;
}

void flr_part_list_free(flr_part_list *members)
{
    for (uint32_t i = 0; i < members->count; i++) flr_shape_release(members->list[i].shape);
    free(members->list);
    memset(members, 0, sizeof *members);
}

flr_part_entry *flr_part_list_find(const flr_part_list *members, uint32_t part)
{
    for (uint32_t i = 0; i < members->count; i++)
        if (members->list[i].part == part) return &members->list[i];
    return NULL;
}
