/* the swept volume: the part in many places, united */
#include "feeler/merge.h"

#include <math.h>

#include "voxel/merge.h"
#include "voxel/walk.h"

/* places that are kept apart before they are joined: joining looks at all that was swept so far */
enum { SWEEP_TOGETHER = 24, MAX_PLACES = 10000000 };

flr_sweep_def flr_default_sweep_def(void)
{
    flr_sweep_def def = {.step = 0.5, .bits = 4, .range = 8};
    return def;
}

/* ---- the path ---- */

/* metres from its origin to the farthest vertex */
static double radius_of(const flr_mesh *mesh)
{
    double most2 = 0;
    for (uint32_t i = 0; i < mesh->vertex_count; i++)
        most2 = fmax(most2, flr_vec3_length2(mesh->vertices[i]));
    return sqrt(most2);
}

/* Steps from one pose to the next, such that no point moves farther than `most` metres in one; at least 1. The way of a
 * point is no longer than that of the origin and the turn about it. */
static double steps_between(flr_pose a, flr_pose b, double radius, double most)
{
    const double way = flr_vec3_distance(a.p, b.p) + flr_quat_angle(a.q, b.q) * radius;
    return fmax(1, ceil(way / most * (1 - 1e-12)));
}

static flr_result check(const flr_sweep_def *def, double *places, flr_error *error)
{
    if (!def->mesh) return flr_fail(error, FLR_BAD_ARGUMENT, "a swept volume needs a mesh");
    if (def->pose_count == 0)
        return flr_fail(error, FLR_BAD_ARGUMENT, "a swept volume needs at least one pose");
    if (!(def->step > 0 && def->step <= 1e6))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "the step of a swept volume must be above 0 voxels");
    if (!(def->voxel > 0))
        return flr_fail(error, FLR_BAD_ARGUMENT, "the size of a voxel must be above 0");
    const double radius = radius_of(def->mesh);
    *places = 1;
    for (size_t i = 0; i < def->pose_count; i++) {
        if (!flr_pose_is_valid(def->poses[i]))
            return flr_fail(error, FLR_BAD_ARGUMENT, "pose %zu is not a pose", i);
        if (i > 0)
            *places +=
                steps_between(def->poses[i - 1], def->poses[i], radius, def->step * def->voxel);
    }
    if (*places <= MAX_PLACES) return FLR_OK;
    return flr_fail(
        error, FLR_TOO_LARGE,
        "the path is %.3g steps of %g voxels long, more than %d; take larger voxels, or "
        "check the unit of the poses",
        *places, def->step, MAX_PLACES);
}

/* ---- sweeping ---- */

typedef struct sweep_sweep {
    const flr_sweep_def *def;
    flr_merge *merge;
    uint64_t done, places;
} sweep_sweep;

static flr_result add_place(sweep_sweep *s, flr_pose T, flr_error *error)
{
    const flr_sweep_def *def = s->def;
    if (def->progress && !def->progress(def->context, s->done, s->places))
        return flr_fail(error, FLR_CANCELLED, "stopped");
    flr_merge_part part = flr_default_merge_part();
    part.mesh = def->mesh;
    part.T_voxmap_part = T;
    part.hollow = def->hollow;
    uint32_t id;
    flr_result result = flr_merge_add(s->merge, &part, &id, error);
    if (result == FLR_OK && flr_merge_part_count(s->merge) >= SWEEP_TOGETHER)
        result = flr_merge_join(s->merge, error);
    if (result == FLR_OK) s->done++;
    return result;
}

static flr_result add_all(sweep_sweep *s, flr_error *error)
{
    const flr_sweep_def *def = s->def;
    const double radius = radius_of(def->mesh);
    flr_result result = add_place(s, def->poses[0], error);
    for (size_t i = 1; i < def->pose_count && result == FLR_OK; i++) {
        const flr_pose from = def->poses[i - 1], to = def->poses[i];
        const uint64_t steps = (uint64_t)steps_between(from, to, radius, def->step * def->voxel);
        for (uint64_t k = 1; k <= steps && result == FLR_OK; k++)
            result = add_place(
                s, k == steps ? to : flr_pose_interpolate(from, to, (double)k / (double)steps),
                error);
    }
    return result;
}

flr_result flr_sweep_make(const flr_sweep_def *def, flr_voxmap **voxmap, flr_sweep_report *report,
                          flr_error *error)
{
    double places = 0;
    flr_result result = check(def, &places, error);
    if (result != FLR_OK) return result;
    flr_merge_def merging = flr_default_merge_def();
    merging.voxel = def->voxel;
    merging.bits = def->bits;
    merging.range = def->range;
    merging.features = false;
    merging.threads = def->threads;
    merging.memory_limit = def->memory_limit;
    sweep_sweep s = {.def = def, .places = (uint64_t)places};
    result = flr_merge_create(&merging, &s.merge, error);
    if (result != FLR_OK) return result;
    result = add_all(&s, error);
    if (result == FLR_OK) result = flr_merge_build(s.merge, NULL, voxmap, NULL, error);
    flr_merge_destroy(s.merge);
    if (result != FLR_OK) return result;
    /* the triangles of the part, not of all its places; the block is still ours alone */
    ((flr_voxmap_header *)(*voxmap)->mapping)->stats.triangles = def->mesh->triangle_count;
    if (!report) return FLR_OK;
    const flr_voxmap_stats *stats = &(*voxmap)->header->stats;
    const double one = def->voxel * def->voxel * def->voxel;
    const double inner = (double)stats->interior_voxels, outer = (double)stats->surface_voxels;
    *report = (flr_sweep_report){.places = s.done,
                                 .volume_least = one * inner,
                                 .volume = one * (inner + 0.5 * outer),
                                 .volume_most = one * (inner + outer)};
    return FLR_OK;
}

/* ---- comparing ---- */

typedef struct comparing {
    const flr_grid *grid;
    const flr_voxmap *part;
    flr_pose T_part_swept;
    uint64_t voxels;
    flr_vec3 sum; /* metres, swept volume's frame */
    unsigned
        near; /* the least distance of surface voxels, in voxels of the part; UINT32_MAX: none in its field */
} comparing;

static bool enter(void *context, const uint32_t low[3], uint32_t side)
{
    (void)context, (void)low, (void)side;
    return true;
}

static void compare_chunk(void *context, const uint32_t low[3], const flr_mask *surface,
                          const flr_mask *interior)
{
    comparing *c = context;
    for (unsigned cell = 0; cell < 512; cell++) {
        const bool outer = flr_mask_get(surface, cell);
        if (!outer && !flr_mask_get(interior, cell)) continue;
        const flr_vec3 here = flr_grid_to_metres(
            c->grid, flr_vec3_make(low[0] + (cell & 7) + 0.5, low[1] + (cell >> 3 & 7) + 0.5,
                                   low[2] + (cell >> 6) + 0.5));
        const unsigned mark =
            flr_voxmap_mark(c->part, FLR_FIELD_SURFACE, flr_pose_apply(c->T_part_swept, here));
        if (mark == FLR_MARK_INTERIOR || mark == FLR_MARK_SURFACE) {
            c->voxels++;
            c->sum = flr_vec3_add(c->sum, here);
        }
        const unsigned far = mark > FLR_MARK_SURFACE ? mark - FLR_MARK_SURFACE : 0;
        if (mark != FLR_MARK_FREE && far < c->near) c->near = far;
    }
}

void flr_sweep_compare(const flr_voxmap *swept, flr_pose T_world_swept, const flr_voxmap *part,
                       flr_pose T_world_part, flr_sweep_clash *clash)
{
    *clash = (flr_sweep_clash){.lower = INFINITY, .upper = INFINITY};
    if (!flr_pose_is_valid(T_world_swept) || !flr_pose_is_valid(T_world_part)) return;
    const flr_grid *grid = &swept->header->grid, *other = &part->header->grid;
    comparing c = {.grid = grid,
                   .part = part,
                   .T_part_swept = flr_pose_mul(flr_pose_inverse(T_world_part), T_world_swept),
                   .near = UINT32_MAX};
    const uint32_t from[3] = {0, 0, 0};
    const flr_walk walk = {.enter = enter, .chunk = compare_chunk, .context = &c};
    flr_voxmap_walk(swept, from, grid->hypers, &walk);
    clash->voxels = c.voxels;
    clash->volume = (double)c.voxels * grid->voxel * grid->voxel * grid->voxel;
    if (c.voxels)
        clash->centre = flr_pose_apply(T_world_swept, flr_vec3_scale(c.sum, 1 / (double)c.voxels));
    /* the surfaces are within half a diagonal of the centres of their voxels */
    const double half = 0.8660254037844387 * grid->voxel;
    if (c.near == UINT32_MAX) {
        clash->lower = fmax(0, part->header->range * other->voxel - half);
        return;
    }
    clash->lower = fmax(0, (c.near - 1.0) * other->voxel - half);
    clash->upper = 1.7320508075688772 * (c.near + 1.0) * other->voxel + half;
}
