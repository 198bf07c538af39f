/* meshes and shapes: made once, shared by parts, workers and senders, freed by whoever is last */
#include "sim/asset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"
#include "contact/contact_table.h"
#include "feeler/voxel_file.h"
#include "sim/build_job.h"
#include "sim/resolution.h"

static flr_result no_memory(flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the scene");
}

flr_result flr_mesh_asset_make(flr_mesh *mesh, uint32_t number, flr_mesh_asset **asset,
                               flr_error *error)
{
    flr_mesh_asset *made = calloc(1, sizeof *made);
    if (!made) {
        flr_mesh_destroy(mesh);
        return no_memory(error);
    }
    atomic_init(&made->users, 1);
    made->number = number;
    made->mesh = mesh;
    made->hash = mesh->hash = flr_mesh_hash(mesh);
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
    flr_fit_destroy(asset->fit);
    flr_mesh_destroy(asset->mesh);
    pthread_mutex_destroy(&asset->lock);
    free(asset);
}

flr_asset_how flr_asset_how_of(const flr_scene_contact *contact)
{
    flr_asset_how how = {.bits = contact->marks, .range = contact->range, .probe = contact->probe};
    if (how.bits == 2) how.range = 1, how.offset = contact->force_layer;
    return how;
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
    def.method = asset->how.probe;
    def.shading = true;
    pthread_mutex_lock(&asset->lock);
    flr_result result = asset->probe ? FLR_OK : flr_probe_model_create(&def, &asset->probe, error);
    if (result == FLR_OK) *probe = asset->probe;
    pthread_mutex_unlock(&asset->lock);
    return result;
}

flr_result flr_mesh_asset_fit(flr_mesh_asset *asset, flr_env *env, const flr_cache *cache,
                              const flr_fit **fit, flr_error *error)
{
    return flr_mesh_asset_fit_shown(asset, env, cache, NULL, NULL, fit, error);
}

flr_result flr_mesh_asset_fit_shown(flr_mesh_asset *asset, flr_env *env, const flr_cache *cache,
                                    bool (*progress)(void *context, double done), void *context,
                                    const flr_fit **fit, flr_error *error)
{
    flr_fit_def how = flr_default_fit_def();
    how.progress = progress;
    how.progress_context = context;
    pthread_mutex_lock(&asset->lock);
    flr_result result =
        asset->fit ? FLR_OK : flr_fit_open(env, cache, asset->mesh, &how, &asset->fit, NULL, error);
    if (result == FLR_OK) *fit = asset->fit;
    pthread_mutex_unlock(&asset->lock);
    return result;
}

/* Mass properties of a mesh that is not closed: those of its box. */
static flr_body_def from_box(const flr_mesh *mesh, double density)
{
    flr_body_def def = flr_default_body_def();
    flr_vec3 size = flr_box3_size(mesh->bounds);
    double x2 = size.x * size.x, y2 = size.y * size.y, z2 = size.z * size.z;
    double least = 1e-6 * (x2 + y2 + z2) + 1e-12; /* a sheet still has some inertia */
    flr_mat3 tensor = {{{(y2 + z2 + least) / 12, 0, 0},
                        {0, (x2 + z2 + least) / 12, 0},
                        {0, 0, (x2 + y2 + least) / 12}}};
    def.inertia =
        (flr_inertia){.mass = 1, .centre = flr_box3_centre(mesh->bounds), .tensor = tensor};
    def.mass = fmax(density * fmax(size.x, 1e-6) * fmax(size.y, 1e-6) * fmax(size.z, 1e-6), 1e-9);
    def.reach = fmax(0.5 * flr_vec3_length(size), 1e-6); /* all of it may be a single point */
    return def;
}

static flr_body_def weigh(const flr_mesh *mesh, double density)
{
    flr_body_def body;
    flr_body made;
    if (!(density > 0)) density = 1000;
    if (flr_body_def_from_mesh(mesh, density, &body, NULL) != FLR_OK ||
        flr_body_make(&body, &made, NULL) != FLR_OK)
        body = from_box(mesh, density);
    return body;
}

flr_body_def flr_mesh_asset_inertia(flr_mesh_asset *asset, double density)
{
    pthread_mutex_lock(&asset->lock);
    if (!asset->weighed || asset->density != density) asset->inertia = weigh(asset->mesh, density);
    asset->weighed = true;
    asset->density = density;
    flr_body_def inertia = asset->inertia;
    pthread_mutex_unlock(&asset->lock);
    return inertia;
}

/* ---- shapes ---- */

/* The flat table has an entry for every chunk of the box, also where there is nothing. */
static flr_result check_table(const flr_shape_def *def, flr_error *error)
{
    if (!def->most) return FLR_OK;
    flr_vec3 size = flr_box3_size(def->mesh->mesh->bounds);
    double hyper = 64 * def->voxel;
    double bytes = (size.x / hyper + 2) * (size.y / hyper + 2) * (size.z / hyper + 2) * 512 *
                   FLR_FIELD_COUNT * sizeof(uint32_t);
    if (bytes <= (double)def->most) return FLR_OK;
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
    made->touch = flr_pairs_shape_make(NULL, NULL);
    return made;
}

flr_voxelize_def flr_shape_how(const flr_shape *shape, bool on_surface)
{
    flr_voxelize_def how = flr_default_voxelize_def();
    how.voxel = shape->voxel;
    how.hollow = shape->hollow;
    how.on_surface = on_surface;
    if (shape->mesh && shape->mesh->how.bits) {
        how.bits = shape->mesh->how.bits;
        how.range = shape->mesh->how.range;
        how.offset = shape->mesh->how.offset;
    }
    return how;
}

static bool still_flattening(void *context)
{
    const flr_shape_def *def = context;
    return !def->progress || def->progress(def->context, 1, "table");
}

/* Is it the voxels of this mesh? By its name it is; somebody may have renamed it. */
static bool is_of(const flr_pager *pager, const flr_mesh_asset *mesh, double voxel)
{
    flr_voxmap_info info = flr_voxmap_get_info(flr_pager_voxmap(pager));
    return info.voxel == voxel && flr_hash_equal(info.mesh_hash, mesh->hash);
}

/* FLR_BAD_INPUT also where the file is of something else. */
static flr_result open_pager(const flr_pager_def *def, const flr_mesh_asset *mesh, double voxel,
                             flr_pager **pager, flr_error *error)
{
    flr_pager *made;
    flr_result result = flr_pager_open(def, &made, error);
    if (result != FLR_OK) return result;
    if (!is_of(made, mesh, voxel)) {
        flr_pager_close(made);
        return flr_fail(error, FLR_BAD_INPUT, "%s: holds something else than its name says",
                        def->path);
    }
    *pager = made;
    return FLR_OK;
}

/* Makes the cache's file of the voxels where it is missing or damaged, slab by slab where it does not fit into memory, and opens
 * it where it is larger than def->memory. */
static flr_result find_pages(const flr_shape_def *d, const flr_voxelize_def *how, flr_pager **pager,
                             flr_cache_report *report, flr_error *error)
{
    flr_pager_def def = flr_default_pager_def();
    char path[FLR_CACHE_PATH_SIZE], broken[400];
    flr_path_info info;
    flr_error why;
    /* what a pager takes */
    const uint64_t least = 1 << 20, most = (UINT64_C(8) << 30) - FLR_PAGER_BLOCK;
    flr_cache whole = *d->cache;
    whole.stream = true;
    for (bool again = false;; again = true) {
        flr_result result =
            flr_cache_file(d->env, &whole, d->mesh->mesh, how, false, path, report, error);
        if (result == FLR_OK) result = flr_path_look(d->env, path, &info, error);
        if (result != FLR_OK || info.size <= d->memory) return result;
        if (d->memory < least)
            return flr_fail(
                error, FLR_BAD_ARGUMENT,
                "its voxels take %.3g MB, and its share of the memory given is %.3g MB: "
                "it needs 1 MiB at least, and what is given is shared by all parts that "
                "stay; give more with --memory",
                1e-6 * (double)info.size, 1e-6 * (double)d->memory);
        def.env = d->env, def.path = path, def.budget = d->memory < most ? d->memory : most,
        def.features = d->features;
        result = open_pager(&def, d->mesh, how->voxel, pager, &why);
        /* its directory is damaged, or somebody removed it just now: it is built again, once */
        bool damaged = result == FLR_BAD_INPUT || result == FLR_UNSUPPORTED;
        bool mends =
            damaged ? flr_path_remove(d->env, path, NULL) == FLR_OK : result == FLR_NOT_FOUND;
        if (result != FLR_OK && error) *error = why;
        if (again)
            snprintf(report->broken, sizeof report->broken, "%s; it was built again", broken);
        if (!mends || again) return result;
        snprintf(broken, sizeof broken, "%.*s", (int)strcspn(why.message, ";"), why.message);
    }
}

/* Its voxels come from the cache's file as the loop needs them. Without a pager afterwards: they are few enough. */
static flr_result page(const flr_shape_def *def, const flr_voxelize_def *how, flr_shape *made,
                       flr_error *error)
{
    if (!def->memory || !def->cache || !def->cache->folder) return FLR_OK;
    flr_result result = find_pages(def, how, &made->pager, &made->report, error);
    if (result != FLR_OK || !made->pager) return result;
    made->table = (flr_contact_table *)(uintptr_t)flr_pager_table(made->pager);
    made->touch = flr_pairs_shape_make(NULL, made->table);
    made->bytes = (size_t)flr_pager_get_stats(made->pager).bytes;
    return def->reads ? flr_pager_start(made->pager, error) : FLR_OK;
}

flr_result flr_shape_split_layer(unsigned asked, unsigned *force_layer, unsigned *points_layer,
                                 flr_error *error)
{
    if (asked > FLR_SHAPE_FORCE_LAYER + FLR_RANGE_DEFAULT)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "force layer %u: at most %u, %u in the voxels of one part and %u in the "
                        "points of the other; use larger voxels",
                        asked, FLR_SHAPE_FORCE_LAYER + FLR_RANGE_DEFAULT, FLR_SHAPE_FORCE_LAYER,
                        FLR_RANGE_DEFAULT);
    *points_layer = asked > FLR_SHAPE_FORCE_LAYER ? asked - FLR_SHAPE_FORCE_LAYER : 0;
    *force_layer = asked - *points_layer;
    return FLR_OK;
}

/* Puts points of a free layer in place of those of the surface. */
static flr_result take_layer(const flr_shape_def *def, flr_shape *made, flr_error *error)
{
    flr_exact *exact;
    flr_shell *shell;
    flr_result result =
        flr_exact_create(def->mesh->mesh, made->voxmap, def->threads, &exact, error);
    if (result != FLR_OK) return result;
    result = flr_shell_from_layer(made->voxmap, exact, def->layer, &shell, error);
    flr_exact_destroy(exact);
    if (result != FLR_OK) return result;
    flr_shell_destroy(made->shell);
    made->shell = shell;
    if (def->no_voxels) flr_voxmap_destroy(made->voxmap), made->voxmap = NULL;
    return FLR_OK;
}

/* Its voxels are all in memory. */
static flr_result keep_whole(const flr_shape_def *def, const flr_voxelize_def *how, flr_shape *made,
                             flr_error *error)
{
    static const flr_cache none = {0};
    char broken[sizeof made->report.broken]; /* where it was to be paged */
    memcpy(broken, made->report.broken, sizeof broken);
    const bool layer = def->layer > 0 && !def->no_points;
    flr_result result = check_table(def, error);
    if (result == FLR_OK)
        result =
            flr_cache_voxelize(def->env, def->cache ? def->cache : &none, def->mesh->mesh, how,
                               def->no_voxels && !layer ? NULL : &made->voxmap,
                               def->no_points || layer ? NULL : &made->shell, &made->report, error);
    if (result == FLR_OK && layer) result = take_layer(def, made, error);
    if (result == FLR_OK && made->voxmap)
        result = flr_contact_table_make(made->voxmap, still_flattening, (void *)(uintptr_t)def,
                                        &made->table, error);
    if (result != FLR_OK) return result;
    made->fresh = def->cache && def->cache->folder && !def->cache->read_only && !made->report.found;
    if (!*made->report.broken) memcpy(made->report.broken, broken, sizeof broken);
    made->touch = flr_pairs_shape_make(made->shell, made->table);
    if (made->voxmap)
        made->bytes = (size_t)flr_voxmap_get_info(made->voxmap).stats.bytes +
                      flr_contact_table_bytes(made->table);
    if (made->shell) made->bytes += made->shell->bytes;
    return FLR_OK;
}

flr_result flr_shape_make(const flr_shape_def *def, flr_shape **shape, flr_error *error)
{
    flr_shape *made = flr_shape_bare(def->mesh, def->voxel, def->hollow);
    if (!made) return no_memory(error);
    flr_voxelize_def how = flr_shape_how(made, def->on_surface);
    how.threads = def->threads;
    how.progress = def->progress;
    how.context = def->context;
    how.memory_limit = def->most;
    flr_result result = page(def, &how, made, error);
    if (result == FLR_OK && !made->pager) result = keep_whole(def, &how, made, error);
    if (result != FLR_OK) {
        flr_shape_release(made);
        return result;
    }
    *shape = made;
    return FLR_OK;
}

flr_result flr_shape_open(flr_env *env, const char *path, bool points, flr_shape **shape,
                          flr_error *error)
{
    flr_shape *made = calloc(1, sizeof *made);
    if (!made) return no_memory(error);
    atomic_init(&made->users, 1);
    flr_result result = flr_voxfile_open(env, path, FLR_VOXFILE_LOAD | FLR_VOXFILE_VERIFY,
                                         &made->voxmap, points ? &made->shell : NULL, error);
    if (result != FLR_OK) {
        free(made);
        return result;
    }
    made->voxel = flr_voxmap_get_info(made->voxmap).voxel;
    *shape = made;
    return FLR_OK;
}

flr_result flr_shape_tree(flr_shape *shape, flr_sphere_view view, const flr_sphere_tree **tree,
                          flr_error *error)
{
    flr_sphere_tree_def def = flr_default_sphere_tree_def();
    if (shape->pager)
        return flr_fail(
            error, FLR_UNSUPPORTED,
            "its voxels are read as they are needed, and sphere trees need all of them; "
            "leave out --memory, or take the engine of shells");
    def.voxmap = shape->voxmap;
    def.shell = shape->shell;
    def.view = view;
    if (shape->mesh) pthread_mutex_lock(&shape->mesh->lock);
    flr_result result = shape->tree ? FLR_OK : flr_sphere_tree_create(&def, &shape->tree, error);
    if (result == FLR_OK) *tree = shape->tree;
    if (shape->mesh) pthread_mutex_unlock(&shape->mesh->lock);
    return result;
}

flr_result flr_shape_map(flr_env *env, const flr_shape *shape, flr_voxmap **voxmap,
                         flr_shell **shell, flr_error *error)
{
    FLR_ASSERT(shape->pager);
    return flr_voxfile_open(env, flr_pager_path(shape->pager), 0, voxmap, shell, error);
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
    if (!FLR_GROW(members->list, members->count, members->room, 16)) return false;
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
    free(members->joints);
    memset(members, 0, sizeof *members);
}

bool flr_part_list_add_joints(flr_part_list *members, const flr_joint_entry *joints, uint32_t count,
                              uint32_t first, flr_pose T_world_file)
{
    if (count == 0) return true;
    flr_joint_entry *all =
        realloc(members->joints, ((size_t)members->joint_count + count) * sizeof *all);
    if (!all) return false;
    members->joints = all;
    for (uint32_t i = 0; i < count; i++) {
        flr_joint_entry *to = &all[members->joint_count++];
        *to = joints[i];
        if (to->joint.a != FLR_JOINT_WORLD) to->joint.a += first;
        if (to->joint.b != FLR_JOINT_WORLD) to->joint.b += first;
        to->joint.point = flr_pose_apply(T_world_file, to->joint.point);
        to->joint.axis = flr_pose_apply_vector(T_world_file, to->joint.axis);
    }
    return true;
}

static bool is_side(const flr_part_list *list, uint32_t side, const flr_part_entry *part)
{
    if (side == part->part) return true;
    const flr_part_entry *found = part->rigid ? flr_part_list_find(list, side) : NULL;
    return found && found->rigid == part->rigid;
}

bool flr_part_list_are_tied(const flr_part_list *joints, const flr_part_entry *a,
                            const flr_part_entry *b)
{
    if (a->use == FLR_PART_USE_PASS || b->use == FLR_PART_USE_PASS) return true;
    if (a->rigid && a->rigid == b->rigid) return true;
    for (uint32_t i = 0; i < joints->joint_count; i++) {
        const flr_joint *j = &joints->joints[i].joint;
        if (j->touch || j->a == FLR_JOINT_WORLD || j->b == FLR_JOINT_WORLD) continue;
        if ((is_side(joints, j->a, a) && is_side(joints, j->b, b)) ||
            (is_side(joints, j->a, b) && is_side(joints, j->b, a)))
            return true;
    }
    return false;
}

bool flr_part_list_is_jointed(const flr_part_list *members, uint32_t part)
{
    for (uint32_t i = 0; i < members->joint_count; i++)
        if (members->joints[i].joint.a == part || members->joints[i].joint.b == part) return true;
    return false;
}

flr_part_entry *flr_part_list_find(const flr_part_list *members, uint32_t part)
{
    for (uint32_t i = 0; i < members->count; i++)
        if (members->list[i].part == part) return &members->list[i];
    return NULL;
}

bool flr_part_list_is_first(const flr_part_list *members, uint32_t index)
{
    uint32_t i = 0;
    while (members->list[i].shape != members->list[index].shape) i++;
    return i == index;
}

double flr_part_list_voxel(const flr_part_list *members)
{
    double least = 0;
    for (uint32_t i = 0; i < members->count; i++) {
        double voxel = members->list[i].shape->voxel;
        if (least == 0 || voxel < least) least = voxel;
    }
    return least;
}

double flr_part_list_coarsest_voxel(const flr_part_list *members)
{
    double most = 0;
    for (uint32_t i = 0; i < members->count; i++)
        if (members->list[i].shape->voxel > most) most = members->list[i].shape->voxel;
    return most;
}

void flr_part_list_replace(flr_part_list *members, const flr_shape *old, flr_shape *shape)
{
    for (uint32_t i = 0; i < members->count; i++) {
        if (members->list[i].shape != old) continue;
        members->list[i].shape = flr_shape_retain(shape);
        flr_shape_release((flr_shape *)(uintptr_t)old);
    }
}

/* ---- the parts of a scene ---- */

/* The asset of a mesh, which is taken over: one for all that are equal. */
static flr_result share_mesh(const flr_part_list *parts, uint32_t *meshes, flr_mesh *mesh,
                             flr_mesh_asset **asset, flr_error *error)
{
    flr_result result = flr_mesh_asset_make(mesh, *meshes, asset, error);
    for (uint32_t i = 0; result == FLR_OK && i < parts->count; i++) {
        flr_mesh_asset *other = parts->list[i].shape->mesh;
        if (!flr_hash_equal(other->hash, (*asset)->hash)) continue;
        flr_mesh_asset_release(*asset);
        *asset = flr_mesh_asset_retain(other);
        return FLR_OK;
    }
    *meshes += result == FLR_OK;
    return result;
}

/* A bare shape: one for all parts that are alike. */
static flr_shape *share_shape(const flr_parts_def *def, const flr_part_list *parts,
                              flr_mesh_asset *asset, double voxel, const flr_scene_part *from)
{
    for (uint32_t i = 0; i < parts->count; i++) {
        flr_shape *other = parts->list[i].shape;
        bool alike = !def->apart || def->scene->parts[i].moving == from->moving;
        if (alike && other->mesh == asset && other->voxel == voxel && other->hollow == from->hollow)
            return flr_shape_retain(other);
    }
    return flr_shape_bare(asset, voxel, from->hollow);
}

/* a mesh that was read: by which part, and how */
typedef struct read_mesh {
    uint32_t part;
    flr_mesh_options options;
    flr_mesh_report report;
    flr_mesh_asset *asset; /* the part's */
} read_mesh;

typedef struct part_reading {
    const flr_parts_def *def;
    flr_scene_loader loader;
    read_mesh *done;
    uint32_t count, room; /* of these */
    uint32_t meshes;      /* that differ */
    flr_part_list *parts;
} part_reading;

static const read_mesh *find_read(const part_reading *r, uint32_t part)
{
    const flr_mesh_options *options = &r->loader.options;
    for (uint32_t i = 0; i < r->count; i++)
        if (flr_scene_same_mesh(r->def->scene, r->done[i].part, part) &&
            memcmp(&r->done[i].options, options, sizeof *options) == 0)
            return &r->done[i];
    return NULL;
}

/* The mesh of a part, read if no part before it has the same. A file that a thousand parts name takes the time of one. */
static flr_result find_mesh(part_reading *r, uint32_t part, const read_mesh **found,
                            flr_error *error)
{
    if ((*found = find_read(r, part))) return FLR_OK;
    if (!FLR_GROW(r->done, r->count, r->room, 16)) return no_memory(error);
    read_mesh *made = &r->done[r->count];
    flr_mesh *mesh;
    made->part = part, made->options = r->loader.options;
    flr_result result = flr_scene_loader_load(&r->loader, part, &mesh, &made->report, error);
    if (result == FLR_OK) result = share_mesh(r->parts, &r->meshes, mesh, &made->asset, error);
    if (result != FLR_OK) return result;
    made->asset->how = flr_asset_how_of(&r->def->scene->contact);
    *found = made;
    r->count++;
    return FLR_OK;
}

static flr_result read_part(part_reading *r, uint32_t i, flr_error *error)
{
    const flr_parts_def *def = r->def;
    flr_part_list *parts = r->parts;
    const flr_scene_part *from = &def->scene->parts[i];
    bool falls = flr_vec3_length2(def->scene->gravity) > 0 || flr_scene_is_driven(def->scene, i) ||
                 def->scene->contact.engine == FLR_ENGINE_SPHERES;
    flr_part_entry part = {.part = i,
                           .kind = !from->moving ? FLR_PART_STATIC
                                   : falls       ? FLR_PART_FREE
                                                 : FLR_PART_MOVABLE,
                           .colour = flr_build_job_colour(from->colour, i),
                           .density = from->density,
                           .mass = from->mass,
                           .hidden = from->hidden,
                           .use = from->use,
                           .chord = from->chord,
                           .group = FLR_ENGINE_NONE,
                           .constraint = from->constraint ? *from->constraint
                                                          : flr_default_world_constraint(),
                           .T_start = from->T_world_part};
    flr_text_copy(part.name, sizeof part.name, from->name);
    double given = from->moving ? def->moving_voxel : def->voxel;
    if (!(given > 0)) given = flr_scene_part_voxel(def->scene, i);
    r->loader.options = def->options ? *def->options : flr_default_mesh_options();
    if (def->begin && !def->begin(def->context, i, &given, &r->loader.options))
        return flr_fail(error, FLR_CANCELLED, "stopped");
    const read_mesh *read;
    flr_result result = find_mesh(r, i, &read, error);
    if (result != FLR_OK) return result;
    if (def->end) def->end(def->context, i, &read->report);
    if (!(part.chord > 0)) part.chord = flr_mesh_facet_chord(read->asset->mesh);
    double voxel = flr_build_job_voxel(given, 0, def->common, read->asset->mesh);
    part.shape = share_shape(def, parts, read->asset, voxel, from);
    if (part.shape && flr_part_list_add(parts, &part)) return FLR_OK;
    flr_shape_release(part.shape);
    return no_memory(error);
}

/* Of these parts nobody says how large their voxels are: one size for all of them. Their shapes are bare and nobody else has
 * them yet. */
static flr_result choose_voxels(const flr_parts_def *def, flr_part_list *parts, flr_error *error)
{
    bool *wanted = calloc((size_t)parts->count + 1, sizeof *wanted), some = false;
    if (!wanted) return no_memory(error);
    for (uint32_t i = 0; i < parts->count; i++) {
        double given = def->scene->parts[i].moving ? def->moving_voxel : def->voxel;
        wanted[i] = !(given > 0) && !(flr_scene_part_voxel(def->scene, i) > 0);
        some |= wanted[i];
    }
    if (some)
        *def->chosen = flr_resolution_choose(def->env, def->cache, parts, wanted,
                                             flr_memory_look(flr_env_real()).limit);
    for (uint32_t i = 0; some && i < parts->count; i++) {
        flr_shape *shape = parts->list[i].shape;
        if (wanted[i] && def->chosen->voxel > 0)
            shape->voxel = flr_build_job_voxel(0, 0, def->chosen->voxel, shape->mesh->mesh);
    }
    free(wanted);
    return FLR_OK;
}

/* Rigid groups and joints, as the scene has them. */
static flr_result read_links(const flr_scene *scene, flr_part_list *parts, flr_error *error)
{
    uint32_t *rigid = calloc(scene->part_count + 1, sizeof *rigid);
    parts->joints = scene->joint_count ? calloc(scene->joint_count, sizeof *parts->joints) : NULL;
    bool ok = rigid && (parts->joints || !scene->joint_count) && flr_scene_rigid(scene, rigid);
    for (uint32_t i = 0; ok && i < parts->count; i++)
        parts->list[i].rigid = rigid[i] == FLR_NO_PART ? 0 : rigid[i] + 1;
    for (size_t i = 0; ok && i < scene->joint_count; i++) {
        flr_joint_entry *joint = &parts->joints[parts->joint_count++];
        joint->joint = scene->joints[i].joint;
        flr_text_copy(joint->text, sizeof joint->text, scene->joints[i].name);
    }
    free(rigid);
    return ok ? FLR_OK : no_memory(error);
}

flr_result flr_part_list_read(const flr_parts_def *def, flr_part_list *parts, flr_error *error)
{
    part_reading r = {.def = def,
                      .meshes = def->first_mesh,
                      .loader = flr_scene_loader_begin(def->env, def->scene, def->options),
                      .parts = parts};
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < def->scene->part_count && result == FLR_OK; i++)
        result = read_part(&r, i, error);
    flr_scene_loader_end(&r.loader);
    for (uint32_t i = 0; i < r.count; i++) flr_mesh_asset_release(r.done[i].asset);
    free(r.done);
    if (result == FLR_OK) result = read_links(def->scene, parts, error);
    if (result == FLR_OK && def->chosen && !(def->common > 0))
        result = choose_voxels(def, parts, error);
    if (result != FLR_OK) flr_part_list_free(parts);
    return result;
}
