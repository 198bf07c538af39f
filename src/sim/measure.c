/* what workers measure: how far parts are apart, and what is near the one that is held */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/distance.h"
#include "sim/engine_internal.h"
#include "sim/gaps.h"

static const int64_t look_ns = 50000000;
enum { MAX_VOXELS = 16384 };

/* ---- where parts are, for a worker ---- */

typedef struct setting {
    uint32_t scene;
    uint32_t count, self; /* self: place of the part that is asked about */
    uint32_t *ids;
    flr_pose *poses;
    flr_shape **shapes; /* used */
} setting;

static void free_setting(setting *s)
{
    for (uint32_t i = 0; i < s->count; i++) flr_shape_release(s->shapes[i]);
    free(s->ids);
    free(s->poses);
    free(s->shapes);
    memset(s, 0, sizeof *s);
}

/* As it is now; `other` FLR_ENGINE_NONE: with all parts. `voxels`: with those that have some. */
static bool take_setting(flr_engine *e, uint32_t part, uint32_t other, bool voxels, setting *s)
{
    size_t n = (size_t)e->members.count + 1;
    *s = (setting){.scene = e->scene,
                   .self = UINT32_MAX,
                   .ids = calloc(n, sizeof *s->ids),
                   .poses = calloc(n, sizeof *s->poses),
                   .shapes = calloc(n, sizeof *s->shapes)};
    if (!s->ids || !s->poses || !s->shapes) {
        free_setting(s);
        return false;
    }
    const flr_part_entry *self = flr_part_list_find(&e->members, part);
    for (uint32_t i = 0; i < e->members.count; i++) {
        flr_engine_part now;
        const flr_part_entry *m = &e->members.list[i];
        if (m->part != part && other != FLR_ENGINE_NONE && m->part != other) continue;
        if (m->part != part && other == FLR_ENGINE_NONE && self &&
            flr_part_list_are_tied(&e->members, self, m))
            continue; // it moves along, or is meant to be there
        if (m->part != part && voxels && flr_shape_is_bare(m->shape)) continue;
        flr_engine_part_at(e, i, &now);
        if (m->part == part) s->self = s->count;
        s->ids[s->count] = m->part;
        s->poses[s->count] = now.T_world_part;
        s->shapes[s->count++] = flr_shape_retain(m->shape);
    }
    return true;
}

/* ---- clearance ---- */

typedef struct clearance_job {
    flr_job job;
    setting at;
    bool exact;
    uint32_t token;
    flr_env *env;
    flr_cache cache;
    flr_engine_clearance found;
} clearance_job;

static flr_result measure_voxels(clearance_job *c, flr_error *error)
{
    const setting *s = &c->at;
    flr_contact_params params = flr_default_contact_params();
    params.cull = false;
    for (uint32_t i = 0; i < s->count; i++) {
        flr_contact_result r;
        if (i == s->self || !s->shapes[i]->voxmap) continue;
        if (atomic_load(&c->job.cancelled)) return flr_fail(error, FLR_CANCELLED, "cancelled");
        flr_contact_reference(s->shapes[s->self]->shell, s->shapes[i]->voxmap, s->poses[s->self],
                              s->poses[i], &params, NULL, 0, &r);
        if (r.far || !(r.upper < c->found.upper)) continue;
        c->found.upper = r.upper;
        c->found.lower = r.lower;
        c->found.other = flr_part_id_of(s->scene, s->ids[i]);
    }
    return FLR_OK;
}

/* Nearest points, sign and error from the triangles; the nearest part bounds the search for the next. */
static flr_result measure_triangles(clearance_job *c, flr_error *error)
{
    const setting *s = &c->at;
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < s->count && result == FLR_OK; i++) {
        flr_gap gap = {.distance = INFINITY};
        if (i == s->self) continue;
        if (atomic_load(&c->job.cancelled)) return flr_fail(error, FLR_CANCELLED, "cancelled");
        const double within = c->found.known ? c->found.distance : INFINITY;
        result = flr_gap_measure(c->env, &c->cache, s->shapes[s->self]->mesh, s->poses[s->self],
                                 s->shapes[i]->mesh, s->poses[i], within, &gap, error);
        if (result != FLR_OK || !(gap.distance < within)) continue;
        c->found.known = true;
        c->found.distance = gap.distance;
        c->found.error = gap.error;
        c->found.lower = c->found.upper = fmax(0, gap.distance);
        c->found.from = gap.from;
        c->found.to = gap.to;
        c->found.other = flr_part_id_of(s->scene, s->ids[i]);
    }
    return result;
}

static void clearance_work(flr_job *job)
{
    clearance_job *c = (clearance_job *)job;
    /* voxels that are paged are the loop's alone */
    for (uint32_t i = 0; i < c->at.count; i++) c->exact |= c->at.shapes[i]->pager != NULL;
    job->result = c->exact ? measure_triangles(c, &job->error) : measure_voxels(c, &job->error);
}

static void clearance_done(flr_engine *e, flr_job *job)
{
    clearance_job *c = (clearance_job *)job;
    flr_engine_event *event = flr_engine_tell(e, FLR_ENGINE_EVENT_CLEARANCE);
    event->token = c->token;
    event->part = c->found.part;
    event->result = job->result;
    event->clearance = c->found;
    if (job->result != FLR_OK) memcpy(event->sentence, job->error.message, sizeof event->sentence);
}

static void clearance_drop(flr_job *job)
{
    clearance_job *c = (clearance_job *)job;
    free_setting(&c->at);
    free(c);
}

flr_result flr_engine_clearance_ask(flr_engine *e, flr_part_id part, flr_part_id other, bool exact,
                                    uint32_t token, flr_error *error)
{
    flr_part_entry *member = NULL, *second = NULL;
    flr_result result = flr_engine_find_id(e, part, &member, error);
    if (result == FLR_OK && flr_is_part(other))
        result = flr_engine_find_id(e, other, &second, error);
    if (result != FLR_OK) return result;
    if (second && flr_shape_is_bare(second->shape)) member = second;
    if (!exact && flr_shape_is_bare(member->shape))
        return flr_fail(error, FLR_AGAIN,
                        "part \"%s\" has no voxels yet; measure by triangles (exact)",
                        member->name);
    if (flr_same_part(part, other))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a part has no distance to itself");
    const uint64_t frame = flr_engine_view(e)->frame;
    clearance_job *c = calloc(1, sizeof *c);
    if (!c || !take_setting(e, part.index, other.index, !exact, &c->at)) {
        free(c);
        return flr_engine_no_memory(error);
    }
    c->exact = exact;
    c->env = e->def.env;
    c->cache = e->cache;
    c->token = token;
    c->found = (flr_engine_clearance){.part = part,
                                      .other = FLR_NO_PART_ID,
                                      .lower = INFINITY,
                                      .upper = INFINITY,
                                      .exact = exact,
                                      .frame = frame};
    c->job = (flr_job){
        .quick = true, .work = clearance_work, .done = clearance_done, .drop = clearance_drop};
    return flr_engine_post(e, &c->job, 0, part, NULL, NULL);
}

/* ---- what is near ---- */

typedef struct flr_look {
    flr_engine_near near;
    float *distances;
    flr_engine_near_voxel *voxels;
} flr_look;

typedef struct look_job {
    flr_job job;
    flr_env *env;
    setting at;
    bool distances, voxels;
    flr_look *look;
} look_job;

static void free_look(flr_look *look)
{
    if (!look) return;
    free(look->distances);
    free(look->voxels);
    free(look);
}

void flr_engine_free_look(flr_engine *e)
{
    free_look(e->look);
    e->look = NULL;
}

static flr_result look_at_vertices(look_job *l, flr_error *error)
{
    const setting *s = &l->at;
    const flr_mesh *mesh = s->shapes[s->self]->mesh->mesh;
    flr_proximity_obstacle *obstacles = calloc(s->count, sizeof *obstacles);
    flr_voxmap **mapped = calloc(s->count, sizeof *mapped); /* of parts that are paged */
    l->look->distances = calloc(mesh->vertex_count, sizeof(float));
    flr_proximity *proximity = NULL;
    flr_result result = !obstacles || !mapped || !l->look->distances
                            ? flr_engine_no_memory(error)
                            : flr_proximity_create(mesh, &proximity, error);
    size_t count = 0;
    double reach = 0;
    for (uint32_t i = 0; i < s->count && result == FLR_OK; i++) {
        const flr_voxmap *voxmap = s->shapes[i]->voxmap;
        if (i == s->self || (!voxmap && !s->shapes[i]->pager)) continue;
        if (!voxmap) {
            result = flr_shape_map(l->env, s->shapes[i], &mapped[i], NULL, error);
            if (result != FLR_OK) break;
            voxmap = mapped[i];
        }
        obstacles[count++] = (flr_proximity_obstacle){voxmap, s->poses[i]};
        reach = fmax(reach, flr_voxmap_get_info(voxmap).range * s->shapes[i]->voxel);
    }
    if (result == FLR_OK) {
        flr_proximity_update(proximity, s->poses[s->self], obstacles, count, 0);
        memcpy(l->look->distances, flr_proximity_distances(proximity),
               mesh->vertex_count * sizeof(float));
        l->look->near.vertices = mesh->vertex_count;
        l->look->near.greatest = reach;
        l->look->near.distances = l->look->distances;
    }
    flr_proximity_destroy(proximity);
    for (uint32_t i = 0; mapped && i < s->count; i++) flr_voxmap_destroy(mapped[i]);
    free(mapped);
    free(obstacles);
    return result;
}

static flr_result look_at_voxels(look_job *l, flr_error *error)
{
    const setting *s = &l->at;
    flr_look *look = l->look;
    const flr_shape *self = s->shapes[s->self];
    flr_near_voxel *found = calloc(MAX_VOXELS, sizeof *found);
    look->voxels = calloc(MAX_VOXELS, sizeof *look->voxels);
    if (!found || !look->voxels) {
        free(found);
        return flr_engine_no_memory(error);
    }
    uint32_t total = 0;
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < s->count && total < MAX_VOXELS && result == FLR_OK; i++) {
        const flr_voxmap *voxmap = s->shapes[i]->voxmap;
        flr_voxmap *mapped = NULL;
        if (i == s->self || !self->voxmap || (!voxmap && !s->shapes[i]->pager)) continue;
        if (!voxmap) result = flr_shape_map(l->env, s->shapes[i], &mapped, NULL, error);
        if (result != FLR_OK) break;
        flr_near_voxels_def def = {.around = voxmap ? voxmap : mapped,
                                   .T_world_around = s->poses[i],
                                   .moving = self->voxmap,
                                   .T_world_moving = s->poses[s->self],
                                   .distance = 4 * self->voxel};
        uint64_t count = flr_query_near_voxels(&def, found, MAX_VOXELS - total);
        flr_voxmap_destroy(mapped);
        for (uint64_t k = 0; k < count && total < MAX_VOXELS; k++) {
            flr_vec3 c = flr_pose_apply_inverse(s->poses[i], found[k].centre);
            look->voxels[total++] = (flr_engine_near_voxel){flr_part_id_of(s->scene, s->ids[i]),
                                                            {(float)c.x, (float)c.y, (float)c.z}};
        }
        if (count > 0) look->near.voxel = fmax(look->near.voxel, s->shapes[i]->voxel);
    }
    look->near.voxels = look->voxels;
    look->near.voxel_count = total;
    free(found);
    return result;
}

static void look_work(flr_job *job)
{
    look_job *l = (look_job *)job;
    if (l->distances) job->result = look_at_vertices(l, &job->error);
    if (l->voxels && job->result == FLR_OK) job->result = look_at_voxels(l, &job->error);
}

static void look_done(flr_engine *e, flr_job *job)
{
    look_job *l = (look_job *)job;
    e->looking = false;
    if (job->result != FLR_OK) return;
    free_look(e->look);
    e->look = l->look;
    e->look->near.number = ++e->look_number;
    l->look = NULL;
}

static void look_drop(flr_job *job)
{
    look_job *l = (look_job *)job;
    free_setting(&l->at);
    free_look(l->look);
    free(l);
}

void flr_engine_want_near(flr_engine *e, bool distances, bool voxels)
{
    e->want_distances = distances;
    e->want_voxels = voxels;
}

flr_part_id flr_engine_held_part(const flr_engine_state *s)
{
    for (uint32_t h = 0; h < s->hand_count; h++)
        if (flr_is_part(s->hands[h].held)) return s->hands[h].held;
    return FLR_NO_PART_ID;
}

void flr_engine_keep_looking(flr_engine *e)
{
    int64_t now = flr_clock_ns(e->def.env);
    if (e->looking || !(e->want_distances || e->want_voxels) || now - e->looked_ns < look_ns)
        return;
    e->looked_ns = now;
    const flr_engine_state *state = flr_engine_view(e);
    flr_part_id part = flr_engine_held_part(state);
    flr_part_entry *member = NULL;
    if (flr_engine_find_id(e, part, &member, NULL) != FLR_OK) {
        flr_engine_free_look(e);
        return;
    }
    look_job *l = calloc(1, sizeof *l);
    if (l) l->look = calloc(1, sizeof *l->look);
    if (!l || !l->look || !take_setting(e, part.index, FLR_ENGINE_NONE, true, &l->at)) {
        if (l) free(l->look);
        free(l);
        return;
    }
    l->env = e->def.env;
    l->look->near.part = part;
    l->look->near.frame = state->frame;
    l->distances = e->want_distances;
    l->voxels = e->want_voxels;
    l->job = (flr_job){.quick = true, .work = look_work, .done = look_done, .drop = look_drop};
    e->looking = true;
    flr_engine_post(e, &l->job, 0, part, NULL, NULL);
}

bool flr_engine_get_near(const flr_engine *e, flr_engine_near *near)
{
    if (!e->look) return false;
    *near = e->look->near;
    return true;
}
