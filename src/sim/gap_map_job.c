/* A gap map: the surface of a part in small triangles, with the exact distance to the nearest other part at each corner. A worker
 * splits triangles that may be within reach until they are small: an eightieth of the part, or a third of the reach. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/review.h"

enum { GAP_MAP_TRIANGLES = 64000, FINENESS = 80 };

typedef struct map_other {
    const flr_fit *fit;
    flr_pose T_part_other; /* in the frame of the part whose surface it is */
    flr_box3 box;          /* likewise, grown by the reach */
} map_other;

typedef struct gap_map_job {
    flr_job job;
    flr_env *env;
    flr_cache cache;
    uint32_t token, scene, self;
    double reach;
    flr_part_list parts; /* where they are */
    map_other *others;   /* [other_count] */
    uint32_t other_count;
    uint32_t room; /* triangles that may still be added by splitting */
    flr_gap_map map;
} gap_map_job;

typedef struct map_corner {
    flr_vec3 at;
    double distance;
} map_corner;

void flr_gap_map_free(flr_gap_map *map)
{
    free(map->vertices);
    free(map->distances);
    *map = (flr_gap_map){0};
}

static bool building(void *context, double done)
{
    (void)done;
    return !atomic_load(&((gap_map_job *)context)->job.cancelled);
}

static double distance_at(const gap_map_job *g, flr_vec3 at)
{
    double least = g->reach;
    for (uint32_t i = 0; i < g->other_count; i++) {
        const map_other *o = &g->others[i];
        if (!flr_box3_contains(o->box, at)) continue;
        const flr_vec3 p = flr_pose_apply_inverse(o->T_part_other, at);
        flr_fit_point_result r = flr_fit_point(o->fit, p, g->reach);
        if (r.found) least = fmin(least, r.distance);
        // what is deeper than the reach is found by no surface that is so near
        else if (flr_fit_inside(o->fit, p))
            least = fmin(least, -g->reach);
    }
    return least;
}

static map_corner corner_at(const gap_map_job *g, flr_vec3 at)
{
    return (map_corner){at, distance_at(g, at)};
}

static void put(gap_map_job *g, const map_corner c[3])
{
    flr_gap_map *map = &g->map;
    if (map->triangle_count == GAP_MAP_TRIANGLES) return;
    for (size_t i = 0; i < 3; i++) {
        float *v = &map->vertices[9 * (size_t)map->triangle_count + 3 * i];
        v[0] = (float)c[i].at.x, v[1] = (float)c[i].at.y, v[2] = (float)c[i].at.z;
        map->distances[3 * (size_t)map->triangle_count + i] = (float)c[i].distance;
        map->least = fmin(map->least, c[i].distance);
    }
    map->triangle_count++;
}

static bool may_be_near(const gap_map_job *g, const map_corner c[3])
{
    flr_box3 box = flr_box3_make(c[0].at, c[0].at);
    for (int i = 1; i < 3; i++) {
        box.low = flr_vec3_min(box.low, c[i].at);
        box.high = flr_vec3_max(box.high, c[i].at);
    }
    for (uint32_t i = 0; i < g->other_count; i++)
        if (flr_box3_overlap(box, g->others[i].box)) return true;
    return false;
}

/* Splits the longest edge, again and again: each half is at most half as long in two steps. */
static void refine(gap_map_job *g, const map_corner c[3], double step, int depth)
{
    int longest = 0;
    double lengths[3];
    for (int i = 0; i < 3; i++) {
        lengths[i] = flr_vec3_distance(c[i].at, c[(i + 1) % 3].at);
        if (lengths[i] > lengths[longest]) longest = i;
    }
    if (depth == 0 || g->room == 0 || lengths[longest] <= step || !may_be_near(g, c)) {
        put(g, c);
        return;
    }
    g->room--;
    const map_corner *from = &c[longest], *to = &c[(longest + 1) % 3],
                     *third = &c[(longest + 2) % 3];
    const map_corner middle = corner_at(g, flr_vec3_scale(flr_vec3_add(from->at, to->at), 0.5));
    refine(g, (map_corner[3]){*from, middle, *third}, step, depth - 1);
    refine(g, (map_corner[3]){middle, *to, *third}, step, depth - 1);
}

static flr_result prepare(gap_map_job *g, flr_error *error)
{
    const flr_part_entry *self = &g->parts.list[g->self];
    const flr_box3 own = self->shape->mesh->mesh->bounds;
    g->others = calloc(g->parts.count + 1u, sizeof *g->others);
    if (!g->others) return flr_engine_no_memory(error);
    for (uint32_t i = 0; i < g->parts.count; i++) {
        const flr_part_entry *part = &g->parts.list[i];
        if (i == g->self || (part->rigid && part->rigid == self->rigid)) continue;
        const flr_pose T = flr_pose_mul(flr_pose_inverse(self->T_start), part->T_start);
        const flr_box3 box =
            flr_box3_grow(flr_box3_transform(T, part->shape->mesh->mesh->bounds), g->reach);
        if (!flr_box3_overlap(own, box)) continue;
        map_other *other = &g->others[g->other_count++];
        *other = (map_other){.T_part_other = T, .box = box};
        flr_result result = flr_mesh_asset_fit_shown(part->shape->mesh, g->env, &g->cache, building,
                                                     g, &other->fit, error);
        if (result != FLR_OK) return result;
    }
    return FLR_OK;
}

static void map_work(flr_job *job)
{
    gap_map_job *g = (gap_map_job *)job;
    const flr_mesh *mesh = g->parts.list[g->self].shape->mesh->mesh;
    if (mesh->triangle_count > GAP_MAP_TRIANGLES) {
        job->result = flr_fail(&job->error, FLR_TOO_LARGE,
                               "part \"%s\" has more than %d triangles: too many for a gap map",
                               g->parts.list[g->self].name, GAP_MAP_TRIANGLES);
        return;
    }
    job->result = prepare(g, &job->error);
    if (job->result != FLR_OK) return;
    g->map = (flr_gap_map){.reach = g->reach,
                           .least = g->reach,
                           .vertices = malloc(9 * (size_t)GAP_MAP_TRIANGLES * sizeof(float)),
                           .distances = malloc(3 * (size_t)GAP_MAP_TRIANGLES * sizeof(float))};
    if (!g->map.vertices || !g->map.distances) {
        job->result = flr_engine_no_memory(&job->error);
        return;
    }
    const double size = flr_vec3_length(flr_box3_size(mesh->bounds));
    const double step = fmax(size / FINENESS, g->reach / 3);
    g->room = GAP_MAP_TRIANGLES - (uint32_t)mesh->triangle_count;
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        map_corner c[3];
        if (!building(g, 0)) {
            job->result = flr_fail(&job->error, FLR_CANCELLED, "cancelled");
            return;
        }
        for (int k = 0; k < 3; k++) c[k] = corner_at(g, mesh->vertices[mesh->triangles[i].v[k]]);
        refine(g, c, step, 40);
    }
}

static void map_done(flr_engine *e, flr_job *job)
{
    gap_map_job *g = (gap_map_job *)job;
    flr_review *review = e->review;
    review->mapping--;
    flr_engine_event *event = flr_engine_tell(e, FLR_ENGINE_EVENT_GAP_MAP);
    event->token = g->token;
    event->result = job->result;
    if (job->result != FLR_OK) {
        memcpy(event->sentence, job->error.message, sizeof event->sentence);
        return;
    }
    g->map.part = flr_part_id_of(g->scene, g->parts.list[g->self].part);
    flr_review_map *kept = &review->maps[review->map_count++ % FLR_REVIEW_MAPS];
    flr_gap_map_free(&kept->map);
    *kept = (flr_review_map){g->token, g->map};
    g->map = (flr_gap_map){0};
}

static void map_drop(flr_job *job)
{
    gap_map_job *g = (gap_map_job *)job;
    flr_part_list_free(&g->parts);
    flr_gap_map_free(&g->map);
    free(g->others);
    free(g);
}

flr_result flr_engine_gap_map_ask(flr_engine *e, flr_part_id part, double reach, uint32_t token,
                                  flr_error *error)
{
    flr_part_entry *member = NULL;
    flr_result result = flr_engine_find_id(e, part, &member, error);
    if (result != FLR_OK) return result;
    if (!(reach > 0 && reach <= 1))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "the reach of a gap map is a length above 0 and up to 1 m");
    if (e->review->mapping >= FLR_REVIEW_MAPS)
        return flr_fail(error, FLR_AGAIN, "other gap maps are being made; try again later");
    gap_map_job *g = calloc(1, sizeof *g);
    if (!g) return flr_engine_no_memory(error);
    flr_engine_look_around(e, &g->parts);
    g->self = UINT32_MAX;
    for (uint32_t i = 0; i < g->parts.count; i++)
        if (g->parts.list[i].part == part.index) g->self = i;
    if (g->self == UINT32_MAX) {
        map_drop(&g->job);
        return flr_engine_no_memory(error);
    }
    g->env = e->def.env;
    g->cache = e->cache;
    g->scene = e->scene;
    g->token = token;
    g->reach = reach;
    g->job = (flr_job){.quick = true, .work = map_work, .done = map_done, .drop = map_drop};
    e->review->mapping++;
    return flr_engine_post(e, &g->job, 0, part, NULL, NULL);
}

const flr_gap_map *flr_engine_gap_map_of(const flr_engine *e, uint32_t token)
{
    for (int i = 0; i < FLR_REVIEW_MAPS; i++)
        if (e->review->maps[i].token == token && e->review->maps[i].map.vertices)
            return &e->review->maps[i].map;
    return NULL;
}
