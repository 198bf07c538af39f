/* a scene made ready to be touched */
#include "sim/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/merge.h"
#include "feeler/voxelize.h"

/* A part that is held must follow a hand: its spring gives `stiffness` times half a voxel at most, which is to accelerate
 * the part by so much, whatever it would weigh (1999, section 5, takes 12 g for everything). */
#define BRISK 20.0 /* m/s^2 */

#define SLIDING 0.8 /* of a point: dynamic friction as a share of the static one */

flr_stage_def flr_default_stage_def(void)
{
    return (flr_stage_def){.options = flr_default_mesh_options(),
                           .hands = 1,
                           .dt = 0.001,
                           .params = flr_default_world_params()};
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
    params.engine = scene->contact.spheres ? FLR_ENGINE_SPHERES : FLR_ENGINE_SHELL;
    params.restitution = scene->contact.restitution;
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

/* A sentence about a part gets its name in front, unless it begins with a file's. */
static flr_result about(const char *name, flr_result result, flr_error *error)
{
    flr_error inner = *error;
    return flr_fail(error, result, "part \"%s\": %s", name, inner.message);
}

static bool go_on(const flr_stage_def *def, size_t part, const char *what)
{
    return !def->progress || def->progress(def->context, part, 0, what);
}

/* The part whose voxels are made. */
typedef struct making {
    const flr_stage_def *def;
    uint32_t part;
} making;

static bool still_making(void *context, double done, const char *stage)
{
    const making *m = context;
    (void)stage;
    return !m->def->progress || m->def->progress(m->def->context, m->part, done, "voxelizing");
}

static bool has_spheres(const flr_stage_def *def)
{
    return def->params.engine == FLR_ENGINE_SPHERES;
}

/* ---- what is needed ---- */

static flr_tool tool_of(const flr_stage_def *def, uint32_t hand)
{
    if (hand == 0 && def->has_tool) return def->tool;
    return flr_scene_tool(def->scene, hand);
}

static bool needs_probes(const flr_stage_def *def)
{
    bool some = def->probes;
    for (uint32_t i = 0; i < def->hands; i++) some |= tool_of(def, i) == FLR_TOOL_POINT;
    return some;
}

/* Where nothing moves, and points touch the exact triangles, voxels are of no use. */
static bool needs_voxels(const flr_stage_def *def)
{
    bool moving = !needs_probes(def);
    for (size_t i = 0; i < def->scene->part_count; i++) moving |= def->scene->parts[i].moving;
    return moving;
}

/* ---- meshes, probes and voxels ---- */

static double part_voxel(const flr_stage_def *def, size_t i)
{
    double own = def->scene->parts[i].moving ? def->moving_voxel : def->voxel;
    return own > 0 ? own : flr_scene_part_voxel(def->scene, i);
}

static flr_result read_meshes(flr_env *env, const flr_stage_def *def, flr_stage *stage,
                              flr_error *error)
{
    flr_scene_loader loader = flr_scene_loader_begin(env, def->scene, &def->options);
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < stage->part_count && result == FLR_OK; i++) {
        const flr_scene_part *from = &def->scene->parts[i];
        flr_stage_part *part = &stage->parts[i];
        part->moving = from->moving;
        part->T_start = from->T_world_part;
        part->voxel = part_voxel(def, i);
        if (!(part->name = strdup(from->name)))
            result = no_memory(error);
        else if (!(part->voxel > 0) && needs_voxels(def))
            result = flr_fail(error, FLR_BAD_INPUT,
                              "%s: part \"%s\" has no voxel size; add \"voxel\" to the scene or "
                              "give one",
                              def->scene->path ? def->scene->path : "the scene", from->name);
        else if (!go_on(def, i, "reading"))
            result = flr_fail(error, FLR_CANCELLED, "stopped");
        else
            result = flr_scene_loader_load(&loader, i, &part->mesh, NULL, error);
    }
    flr_scene_loader_end(&loader);
    return result;
}

static flr_result make_probes(const flr_stage_def *def, flr_stage *stage, flr_error *error)
{
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < stage->part_count && result == FLR_OK; i++) {
        flr_probe_def how = flr_default_probe_def();
        how.mesh = stage->parts[i].mesh;
        how.shading = true;
        how.simd = def->simd;
        if (!go_on(def, i, "sorting triangles")) return flr_fail(error, FLR_CANCELLED, "stopped");
        result = flr_probe_model_create(&how, &stage->parts[i].probe, error);
        if (result != FLR_OK) result = about(stage->parts[i].name, result, error);
    }
    return result;
}

/* `m` is filled in and used as long as voxels are made. */
static flr_voxelize_def how_to_voxelize(const flr_stage_def *def, uint32_t i,
                                        const flr_stage_part *part, making *m)
{
    *m = (making){def, i};
    flr_voxelize_def how = flr_default_voxelize_def();
    how.voxel = part->voxel;
    how.hollow = def->scene->parts[i].hollow;
    how.on_surface = def->params.contact.model == FLR_FORCE_SMOOTH;
    how.threads = def->threads;
    how.progress = still_making;
    how.context = m;
    return how;
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

static flr_result voxelize(flr_env *env, const flr_stage_def *def, uint32_t i, flr_stage_part *part,
                           bool voxels, bool points, flr_error *error)
{
    static const flr_cache none = {0};
    flr_cache_report report;
    making m;
    flr_voxelize_def how = how_to_voxelize(def, i, part, &m);
    if (!go_on(def, i, "voxelizing")) return flr_fail(error, FLR_CANCELLED, "stopped");
    flr_result result = flr_cache_voxelize(env, def->cache ? def->cache : &none, part->mesh, &how,
                                           voxels ? &part->voxmap : NULL,
                                           points ? &part->shell : NULL, &report, error);
    if (result == FLR_OK) warn_of(def, part->name, &report);
    if (result == FLR_OK && voxels)
        result = flr_contact_table_create(part->voxmap, &part->table, error);
    if (result == FLR_OK && has_spheres(def)) {
        flr_sphere_tree_def tree = flr_default_sphere_tree_def();
        tree.voxmap = part->voxmap;
        tree.shell = part->shell;
        result = flr_sphere_tree_create(&tree, &part->tree, error);
    }
    return result == FLR_OK ? result : about(part->name, result, error);
}

/* Is it the voxels of this mesh? By its name it is; somebody may have renamed it. */
static bool is_of(const flr_pager *pager, const flr_mesh *mesh, double voxel)
{
    flr_voxmap_info info = flr_voxmap_get_info(flr_pager_voxmap(pager));
    return info.voxel == voxel && flr_hash_equal(info.mesh_hash, flr_mesh_hash(mesh));
}

/* FLR_BAD_INPUT also where the file is of something else. */
static flr_result open_pager(const flr_pager_def *def, const flr_mesh *mesh, double voxel,
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

flr_result flr_stage_page(flr_env *env, const flr_cache *cache, const flr_mesh *mesh,
                          const flr_voxelize_def *how, uint64_t memory, bool features,
                          flr_pager **pager, flr_cache_report *report, flr_error *error)
{
    flr_pager_def def = flr_default_pager_def();
    char path[FLR_CACHE_PATH_SIZE], broken[400];
    flr_path_info info;
    flr_error why;
    /* what a pager takes */
    const uint64_t least = 1 << 20, most = (UINT64_C(8) << 30) - FLR_PAGER_BLOCK;
    flr_cache whole = *cache;
    whole.stream = true;
    *pager = NULL;
    for (bool again = false;; again = true) {
        flr_result result = flr_cache_file(env, &whole, mesh, how, false, path, report, error);
        if (result == FLR_OK) result = flr_path_look(env, path, &info, error);
        if (result != FLR_OK || info.size <= memory) return result;
        if (memory < least)
            return flr_fail(
                error, FLR_BAD_ARGUMENT,
                "its voxels take %.3g MB, and its share of the memory given is %.3g MB: "
                "it needs 1 MiB at least, and what is given is shared by all parts that "
                "stay; give more with --memory",
                1e-6 * (double)info.size, 1e-6 * (double)memory);
        def.env = env, def.path = path, def.budget = memory < most ? memory : most,
        def.features = features;
        result = open_pager(&def, mesh, how->voxel, pager, &why);
        /* its directory is damaged, or somebody removed it just now: it is built again, once */
        bool damaged = result == FLR_BAD_INPUT || result == FLR_UNSUPPORTED;
        bool mends = damaged ? flr_path_remove(env, path, NULL) == FLR_OK : result == FLR_NOT_FOUND;
        if (result != FLR_OK && error) *error = why;
        if (again && report)
            snprintf(report->broken, sizeof report->broken, "%s; it was built again", broken);
        if (!mends || again) return result;
        snprintf(broken, sizeof broken, "%.*s", (int)strcspn(why.message, ";"), why.message);
    }
}

/* The voxels of a part that stays: paged from the cache where they are too many, else in memory. */
static flr_result page_or_voxelize(flr_env *env, const flr_stage_def *def, uint32_t i,
                                   flr_stage *stage, flr_error *error)
{
    flr_stage_part *part = &stage->parts[i];
    making m;
    flr_voxelize_def how = how_to_voxelize(def, i, part, &m);
    flr_cache_report report;
    uint64_t share = 0;
    for (uint32_t k = 0; k < stage->part_count; k++) share += !stage->parts[k].moving;
    share = def->memory / share;
    if (!go_on(def, i, "voxelizing")) return flr_fail(error, FLR_CANCELLED, "stopped");
    flr_result result = flr_stage_page(env, def->cache, part->mesh, &how, share,
                                       def->params.contact.awareness, &part->pager, &report, error);
    if (result == FLR_OK) warn_of(def, part->name, &report);
    if (result != FLR_OK) return about(part->name, result, error);
    return part->pager ? FLR_OK : voxelize(env, def, i, part, true, false, error);
}

flr_pager_stats flr_stage_paging(const flr_stage *stage)
{
    flr_pager_stats all = {0};
    for (uint32_t i = 0; i < stage->part_count; i++) {
        if (!stage->parts[i].pager) continue;
        flr_pager_stats one = flr_pager_get_stats(stage->parts[i].pager);
        flr_pager_stats_add(&all, &one);
    }
    return all;
}

/* Static parts can be one ground when their voxels are of one size. */
static bool can_merge(const flr_stage *stage)
{
    double voxel = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < stage->part_count; i++) {
        const flr_stage_part *part = &stage->parts[i];
        if (part->moving) continue;
        if (count++ && part->voxel != voxel) return false;
        voxel = part->voxel;
    }
    return count > 1;
}

static flr_result merge_ground(const flr_stage_def *def, flr_stage *stage, flr_error *error)
{
    flr_merge_def how = flr_default_merge_def();
    how.threads = def->threads;
    for (uint32_t i = 0; i < stage->part_count; i++)
        if (!stage->parts[i].moving) how.voxel = stage->parts[i].voxel;
    flr_merge *merge;
    flr_result result = flr_merge_create(&how, &merge, error);
    if (result != FLR_OK) return result;
    for (uint32_t i = 0; i < stage->part_count && result == FLR_OK; i++) {
        const flr_stage_part *part = &stage->parts[i];
        if (part->moving) continue;
        flr_merge_part one = flr_default_merge_part();
        one.mesh = part->mesh;
        one.T_voxmap_part = part->T_start;
        one.hollow = def->scene->parts[i].hollow;
        uint32_t id;
        result = go_on(def, i, "merging") ? flr_merge_add(merge, &one, &id, error)
                                          : flr_fail(error, FLR_CANCELLED, "stopped");
        if (result != FLR_OK) result = about(part->name, result, error);
    }
    if (result == FLR_OK) result = flr_merge_build(merge, NULL, &stage->ground, NULL, error);
    flr_merge_destroy(merge);
    if (result == FLR_OK)
        result = flr_contact_table_create(stage->ground, &stage->ground_table, error);
    return result;
}

static flr_result make_voxels(flr_env *env, const flr_stage_def *def, flr_stage *stage,
                              flr_error *error)
{
    bool spheres = has_spheres(def), merged = !spheres && !def->memory && can_merge(stage);
    uint32_t moving = 0;
    for (uint32_t i = 0; i < stage->part_count; i++) moving += stage->parts[i].moving;
    flr_result result = merged ? merge_ground(def, stage, error) : FLR_OK;
    for (uint32_t i = 0; i < stage->part_count && result == FLR_OK; i++) {
        flr_stage_part *part = &stage->parts[i];
        if (part->moving)
            result = voxelize(env, def, i, part, moving > 1 || spheres, true, error);
        else if (def->memory && !spheres)
            result = page_or_voxelize(env, def, i, stage, error);
        else if (!merged)
            result = voxelize(env, def, i, part, true, spheres, error);
        if (part->table || part->pager || merged)
            stage->voxel =
                stage->voxel > 0 && stage->voxel < part->voxel ? stage->voxel : part->voxel;
    }
    return result;
}

/* The points of all parts are displaced once, not in every query: true. Where some do not fit, none is. */
static flr_result displace(flr_stage *stage, double by, bool *done, flr_error *error)
{
    flr_shell **moved = calloc(stage->part_count, sizeof *moved);
    if (!moved) return no_memory(error);
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < stage->part_count && result == FLR_OK; i++)
        if (stage->parts[i].shell)
            result = flr_shell_displace(stage->parts[i].shell, by, &moved[i], error);
    *done = result == FLR_OK;
    for (uint32_t i = 0; i < stage->part_count; i++) {
        flr_shell *out = moved[i];
        if (*done && out) {
            out = stage->parts[i].shell;
            stage->parts[i].shell = moved[i];
        }
        flr_shell_destroy(out);
    }
    free(moved);
    return result == FLR_TOO_LARGE || result == FLR_BAD_ARGUMENT ? FLR_OK : result;
}

/* ---- the world ---- */

/* Mass properties of a mesh that is not closed: those of its box. */
static flr_body_def from_box(const flr_mesh *mesh)
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
    def.reach = 0.5 * flr_vec3_length(size);
    return def;
}

flr_body_def flr_stage_inertia(const flr_mesh *mesh, double density)
{
    flr_body_def body;
    flr_body made;
    if (flr_body_def_from_mesh(mesh, density > 0 ? density : 1000, &body, NULL) != FLR_OK ||
        flr_body_make(&body, &made, NULL) != FLR_OK)
        body = from_box(mesh);
    return body;
}

flr_body_def flr_stage_body(const flr_body_def *inertia, double voxel,
                            const flr_coupling_def *coupling, flr_pose T_world_part)
{
    flr_body_def body = *inertia;
    double stretch = coupling->stretch > 0 ? coupling->stretch : voxel / 2;
    body.mass = coupling->stiffness * stretch / BRISK;
    body.T_world_part = T_world_part;
    return body;
}

static flr_result make_world(const flr_stage_def *def, flr_stage *stage, flr_error *error)
{
    flr_world_part *parts = calloc(stage->part_count, sizeof *parts);
    uint32_t *merged = calloc(stage->part_count, sizeof *merged), merged_count = 0;
    const double by = def->params.contact.displacement;
    bool displaced = false;
    flr_result result = !parts || !merged ? no_memory(error)
                        : by == 0         ? FLR_OK
                                          : displace(stage, by, &displaced, error);
    if (result != FLR_OK) {
        free(parts);
        free(merged);
        return result;
    }
    flr_world_def world = flr_default_world_def();
    world.parts = parts;
    world.part_count = stage->part_count;
    world.hand_count = def->hands;
    world.dt = def->dt;
    world.params = def->params;
    if (displaced) world.params.contact.displacement = 0;
    world.simd = def->simd;
    if (flr_vec3_length2(world.params.step.gravity) == 0)
        world.params.step.gravity = def->scene->gravity;
    bool falls = def->free || has_spheres(def) || flr_vec3_length2(world.params.step.gravity) > 0;
    for (uint32_t i = 0; i < stage->part_count; i++) {
        const flr_stage_part *part = &stage->parts[i];
        parts[i] = flr_default_world_part();
        parts[i].shape = flr_pairs_shape_make(
            part->shell, part->pager ? flr_pager_table(part->pager) : part->table);
        parts[i].tree = part->tree;
        parts[i].kind = !part->moving ? FLR_PART_STATIC : falls ? FLR_PART_FREE : FLR_PART_MOVABLE;
        flr_body_def inertia = flr_stage_inertia(part->mesh, def->scene->parts[i].density);
        parts[i].body =
            flr_stage_body(&inertia, stage->voxel, &def->params.coupling, part->T_start);
        if (!part->moving && stage->ground) merged[merged_count++] = i;
    }
    result = flr_world_create(&world, &stage->world, error);
    if (result == FLR_OK && stage->ground) {
        flr_pairs_ground ground = {.shape = flr_pairs_shape_make(NULL, stage->ground_table),
                                   .T_world_voxmap = flr_pose_identity(),
                                   .parts = merged,
                                   .part_count = merged_count};
        flr_world_set_ground(stage->world, &ground);
    }
    for (uint32_t i = 0; result == FLR_OK && i < stage->part_count; i++)
        flr_world_set_probe(stage->world, i, stage->parts[i].probe);
    for (uint32_t i = 0; result == FLR_OK && i < def->hands; i++) {
        flr_world_set_tool(stage->world, i, tool_of(def, i));
        flr_world_set_firm(stage->world, i, flr_scene_firm(def->scene, i));
    }
    free(parts);
    free(merged);
    return result;
}

flr_result flr_stage_create(flr_env *env, const flr_stage_def *def, flr_stage **stage,
                            flr_error *error)
{
    flr_error local; /* sentences are put together from others */
    if (!error) error = &local;
    flr_stage *made = calloc(1, sizeof *made);
    if (made) made->parts = calloc(def->scene->part_count, sizeof *made->parts);
    if (!made || !made->parts) {
        free(made);
        return no_memory(error);
    }
    made->part_count = (uint32_t)def->scene->part_count;
    flr_result result = read_meshes(env, def, made, error);
    if (result == FLR_OK && needs_probes(def)) result = make_probes(def, made, error);
    if (result == FLR_OK && needs_voxels(def)) result = make_voxels(env, def, made, error);
    if (result == FLR_OK) result = make_world(def, made, error);
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
    flr_world_destroy(stage->world);
    for (uint32_t i = 0; i < stage->part_count; i++) {
        flr_stage_part *part = &stage->parts[i];
        free(part->name);
        flr_probe_model_destroy(part->probe);
        flr_mesh_destroy(part->mesh);
        flr_contact_table_destroy(part->table);
        flr_pager_close(part->pager);
        flr_sphere_tree_destroy(part->tree);
        flr_voxmap_destroy(part->voxmap);
        flr_shell_destroy(part->shell);
    }
    flr_contact_table_destroy(stage->ground_table);
    flr_voxmap_destroy(stage->ground);
    free(stage->parts);
    free(stage);
}

uint32_t flr_stage_find(const flr_stage *stage, const char *name)
{
    for (uint32_t i = 0; i < stage->part_count; i++)
        if (name ? !strcmp(stage->parts[i].name, name) : stage->parts[i].moving) return i;
    return UINT32_MAX;
}
