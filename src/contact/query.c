/* what a query of contacts tells beyond force: do the parts meet, and along which normals; and which voxels are near */
#include "feeler/distance.h"

#include <math.h>

#include "contact/least.h"
#include "contact/point.h"
#include "voxel/walk.h"

/* ---- do they meet? ---- */

enum { INTERIOR_TRIES = 64, INTERIOR_REACH = 4 };

/* Is everything within `reach` voxels (chessboard) of a point interior? */
static bool deep_inside(const flr_voxmap *voxmap, flr_vec3 point, int64_t reach)
{
    const flr_vec3 v = flr_grid_to_voxels(&voxmap->header->grid, point);
    const int64_t x = (int64_t)floor(v.x), y = (int64_t)floor(v.y), z = (int64_t)floor(v.z);
    for (int64_t k = z - reach; k <= z + reach; k++)
        for (int64_t j = y - reach; j <= y + reach; j++)
            for (int64_t i = x - reach; i <= x + reach; i++)
                if (flr_voxmap_mark_at(voxmap, FLR_FIELD_SURFACE, i, j, k) != FLR_MARK_INTERIOR)
                    return false;
    return true;
}

flr_answer flr_query_meeting(const flr_shell *shell, const flr_voxmap *voxmap,
                             flr_pose T_world_voxmap, const flr_contact *contacts,
                             const flr_contact_result *result)
{
    const flr_voxmap_header *h = voxmap->header;
    if (result->far || result->lower > 0) return FLR_ANSWER_NO;
    /* where surfaces meet, a point is in layer 1 or deeper; true for points no coarser than voxels */
    if (result->penetrations == 0 && shell->voxel <= h->grid.voxel * (1 + 1e-9))
        return FLR_ANSWER_NO;
    if (h->offset) return FLR_ANSWER_MAYBE;
    /* the surface is not farther from its point: all of that must be inside */
    const double reach = ceil(flr_contact_around(shell, 0) / h->grid.voxel);
    if (!(reach <= INTERIOR_REACH)) return FLR_ANSWER_MAYBE;
    for (uint32_t i = 0, tries = 0; i < result->listed && tries < INTERIOR_TRIES; i++) {
        if (contacts[i].mark != FLR_MARK_INTERIOR) continue;
        tries++;
        if (deep_inside(voxmap, flr_pose_apply_inverse(T_world_voxmap, contacts[i].point),
                        (int64_t)reach))
            return FLR_ANSWER_YES;
    }
    return FLR_ANSWER_MAYBE;
}

/* ---- normals ---- */

/* The group that a contact belongs to: the first within the angle, else a new one, else the least far. */
static uint32_t find_group(const flr_contact_normal *normals, uint32_t count, uint32_t capacity,
                           flr_vec3 normal, double least_cosine)
{
    uint32_t nearest = 0;
    double most = -INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        const double length = flr_vec3_length(normals[i].normal);
        const double cosine = length > 0 ? flr_vec3_dot(normals[i].normal, normal) / length : -1;
        if (cosine >= least_cosine) return i;
        if (cosine > most) most = cosine, nearest = i;
    }
    return count < capacity ? count : nearest;
}

/* The one with the most contacts first; as many, as they were found. */
static void sort_normals(flr_contact_normal *normals, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const flr_contact_normal n = normals[i];
        uint32_t at = i;
        for (; at > 0 && normals[at - 1].contacts < n.contacts; at--) normals[at] = normals[at - 1];
        normals[at] = n;
    }
}

uint32_t flr_query_normals(const flr_contact *contacts, uint32_t count, double angle,
                           flr_contact_normal *normals, uint32_t capacity)
{
    if (capacity == 0) return 0;
    const double least_cosine = flr_cos(angle);
    uint32_t groups = 0;
    for (uint32_t i = 0; i < count; i++) {
        const flr_contact *c = &contacts[i];
        /* one without depth still has a direction and a place */
        const double weight = c->depth > 1e-12 ? c->depth : 1e-12;
        const uint32_t at = find_group(normals, groups, capacity, c->normal, least_cosine);
        flr_contact_normal *n = &normals[at];
        if (at == groups) {
            *n = (flr_contact_normal){.depth = 0};
            groups++;
        }
        n->normal = flr_vec3_add_scaled(n->normal, weight, c->normal);
        n->point = flr_vec3_add_scaled(n->point, weight, c->point);
        n->sum += weight;
        n->depth = fmax(n->depth, c->depth);
        n->contacts++;
    }
    for (uint32_t i = 0; i < groups; i++) {
        normals[i].normal = flr_vec3_normalize(normals[i].normal);
        normals[i].point = flr_vec3_scale(normals[i].point, 1 / normals[i].sum);
    }
    sort_normals(normals, groups);
    return groups;
}

/* ---- near voxels ---- */

typedef struct near_search {
    const flr_near_voxels_def *def;
    flr_pose T_moving_around;
    flr_near_voxel *voxels;
    uint64_t capacity, count;
} near_search;

/* Can something within `radius` metres of a point of the surroundings be near the moving part? */
static bool may_be_near(const near_search *s, flr_vec3 point, double radius)
{
    const double least =
        flr_least_by_chunks(s->def->moving, flr_pose_apply(s->T_moving_around, point));
    return least - radius <= s->def->distance;
}

/* The middle of a cube of voxels, metres. */
static flr_vec3 middle(const flr_grid *grid, const uint32_t low[3], uint32_t side)
{
    const double half = 0.5 * side;
    return flr_grid_to_metres(grid, flr_vec3_make(low[0] + half, low[1] + half, low[2] + half));
}

static void look_at_voxel(near_search *s, const uint32_t at[3])
{
    const flr_near_voxels_def *def = s->def;
    const flr_vec3 here = middle(&def->around->header->grid, at, 1),
                   there = flr_pose_apply(s->T_moving_around, here);
    double distance = flr_least_distance(def->moving, there);
    if (distance > def->distance) return;
    if (def->exact) {
        const bool inside =
            flr_voxmap_mark(def->moving, FLR_FIELD_SURFACE, there) == FLR_MARK_INTERIOR;
        const flr_exact_result r =
            flr_exact_distance(def->exact, there, inside ? INFINITY : def->distance, 0);
        if (!r.found) return;
        distance = r.distance;
    }
    if (s->count < s->capacity) {
        flr_near_voxel *v = &s->voxels[s->count];
        *v = (flr_near_voxel){.centre = flr_pose_apply(def->T_world_around, here),
                              .distance = distance};
        for (int axis = 0; axis < 3; axis++) v->voxel[axis] = at[axis];
    }
    s->count++;
}

static bool enter(void *context, const uint32_t low[3], uint32_t side)
{
    const near_search *s = context;
    const flr_grid *grid = &s->def->around->header->grid;
    /* within half the diagonal */
    return may_be_near(s, middle(grid, low, side), 0.8660254037844387 * side * grid->voxel);
}

static void look_into_chunk(void *context, const uint32_t low[3], const flr_mask *surface,
                            const flr_mask *interior)
{
    (void)interior;
    for (FLR_EACH_CELL(surface, cell)) {
        const uint32_t at[3] = {low[0] + (uint32_t)(cell & 7), low[1] + (uint32_t)(cell >> 3 & 7),
                                low[2] + (uint32_t)(cell >> 6)};
        look_at_voxel(context, at);
    }
}

/* The hyperchunks of the surroundings that the moving part's grid, and the distance around it, can touch. */
static bool find_hypers(const near_search *s, uint32_t from[3], uint32_t to[3])
{
    const flr_grid *moving = &s->def->moving->header->grid, *around = &s->def->around->header->grid;
    const flr_pose T_around_moving = flr_pose_inverse(s->T_moving_around);
    flr_box3 box = flr_box3_empty();
    for (int i = 0; i < 8; i++) {
        const flr_vec3 corner = flr_vec3_make(i & 1 ? 64.0 * moving->hypers[0] : 0,
                                              i & 2 ? 64.0 * moving->hypers[1] : 0,
                                              i & 4 ? 64.0 * moving->hypers[2] : 0);
        box =
            flr_box3_add(box, flr_pose_apply(T_around_moving, flr_grid_to_metres(moving, corner)));
    }
    const flr_vec3 more = flr_vec3_make(s->def->distance, s->def->distance, s->def->distance);
    const flr_vec3 low = flr_grid_to_voxels(around, flr_vec3_sub(box.low, more)),
                   high = flr_grid_to_voxels(around, flr_vec3_add(box.high, more));
    const double l[3] = {low.x, low.y, low.z}, h[3] = {high.x, high.y, high.z};
    for (int axis = 0; axis < 3; axis++) {
        const double last = around->hypers[axis];
        if (!(h[axis] >= 0 && l[axis] <= 64 * last)) return false;
        from[axis] = l[axis] > 0 ? (uint32_t)(l[axis] / 64) : 0;
        to[axis] = h[axis] / 64 < last ? (uint32_t)(h[axis] / 64) + 1 : around->hypers[axis];
        if (to[axis] > around->hypers[axis]) to[axis] = around->hypers[axis];
    }
    return true;
}

uint64_t flr_query_near_voxels(const flr_near_voxels_def *def, flr_near_voxel *voxels,
                               uint64_t capacity)
{
    if (!flr_pose_is_valid(def->T_world_around) || !flr_pose_is_valid(def->T_world_moving) ||
        !(def->distance >= 0))
        return 0;
    near_search s = {.def = def,
                     .T_moving_around =
                         flr_pose_mul(flr_pose_inverse(def->T_world_moving), def->T_world_around),
                     .voxels = voxels,
                     .capacity = capacity};
    uint32_t from[3], to[3];
    if (!find_hypers(&s, from, to)) return 0;
    const flr_walk walk = {.enter = enter, .chunk = look_into_chunk, .context = &s};
    flr_voxmap_walk(def->around, from, to, &walk);
    return s.count;
}
