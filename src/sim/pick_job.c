/* corners, edges and faces that somebody points at, and how they lie to each other: a worker measures them, from the triangles */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/surface.h"
#include "sim/engine_internal.h"
#include "sim/gaps.h"

static const double parallel_sine = 1e-4; /* less than this between two directions is rounding */

/* One that was picked. */
typedef struct picked {
    flr_engine_pick pick;
    flr_mesh_asset *mesh; /* used; NULL: none */
    flr_pose T_world_part;
    flr_surface surface; /* empty of a whole part */
} picked;

typedef struct pick_job {
    flr_job job;
    flr_env *env;
    flr_cache cache;
    uint32_t token;
    picked of[2];
    flr_engine_measure found;
} pick_job;

static const uint8_t kinds[] = {[FLR_SURFACE_POINT] = FLR_WIRE_MEASURED_POINT,
                                [FLR_SURFACE_EDGE] = FLR_WIRE_MEASURED_EDGE,
                                [FLR_SURFACE_PLANE] = FLR_WIRE_MEASURED_PLANE,
                                [FLR_SURFACE_CYLINDER] = FLR_WIRE_MEASURED_CYLINDER,
                                [FLR_SURFACE_CURVED] = FLR_WIRE_MEASURED_FACE};

static bool is_whole(const picked *p) { return p->pick.kind == FLR_WIRE_MEASURED_PART; }

static flr_result find(picked *p, flr_engine_measured *found, flr_error *error)
{
    *found = (flr_engine_measured){
        .part = p->pick.part, .kind = FLR_WIRE_MEASURED_PART, .point = p->pick.at};
    if (is_whole(p)) return FLR_OK;
    bool place = p->pick.kind == FLR_WIRE_MEASURED_POINT;
    flr_vec3 at = flr_pose_apply_inverse(p->T_world_part, p->pick.at);
    flr_result result = flr_surface_pick(p->mesh->mesh, at, place ? -1 : fmax(0, p->pick.reach),
                                         &p->surface, error);
    if (result != FLR_OK) return result;
    const flr_surface *s = &p->surface;
    found->kind = kinds[s->kind];
    found->hollow = s->hollow;
    found->size = s->size;
    found->radius = s->radius;
    found->point = flr_pose_apply(p->T_world_part, s->point);
    found->direction = flr_pose_apply_vector(p->T_world_part, s->direction);
    return FLR_OK;
}

/* ---- distance ---- */

/* What is picked as a part of a gauge; `*made` is to be destroyed, NULL: it is the asset's. */
static flr_result gauge_of(picked *p, const flr_gauge_part **gauge, flr_gauge_part **made,
                           flr_error *error)
{
    *made = NULL;
    if (is_whole(p)) return flr_mesh_asset_gauge(p->mesh, gauge, error);
    flr_result result = flr_gauge_part_create(p->surface.mesh, made, error);
    *gauge = *made;
    return result;
}

static flr_result measure_apart(pick_job *j, flr_error *error)
{
    picked *a = &j->of[0], *b = &j->of[1];
    flr_engine_measure *found = &j->found;
    if (is_whole(a) && is_whole(b)) {
        flr_gap gap = {.distance = INFINITY};
        flr_result result = flr_gap_measure(j->env, &j->cache, a->mesh, a->T_world_part, b->mesh,
                                            b->T_world_part, INFINITY, &gap, error);
        found->distance = gap.distance, found->from = gap.from, found->to = gap.to;
        return result;
    }
    const flr_gauge_part *one = NULL, *other = NULL;
    flr_gauge_part *made[2] = {NULL, NULL};
    flr_gauge_result r;
    flr_result result = gauge_of(a, &one, &made[0], error);
    if (result == FLR_OK) result = gauge_of(b, &other, &made[1], error);
    if (result == FLR_OK) {
        flr_gauge_distance(one, other, a->T_world_part, b->T_world_part, NULL, NULL, &r);
        found->distance = r.upper;
        found->from = r.a.point;
        found->to = r.b.point;
        if (!r.found) result = flr_fail(error, FLR_BAD_INPUT, "there is nothing to be measured");
    }
    flr_gauge_part_destroy(made[0]);
    flr_gauge_part_destroy(made[1]);
    return result;
}

/* ---- angles, and distances of what goes on for ever ---- */

static bool has_direction(const flr_engine_measured *m)
{
    return flr_vec3_length2(m->direction) > 0;
}
static bool is_plane(const flr_engine_measured *m) { return m->kind == FLR_WIRE_MEASURED_PLANE; }
static bool is_point(const flr_engine_measured *m) { return m->kind == FLR_WIRE_MEASURED_POINT; }

static flr_vec3 across(flr_vec3 d, flr_vec3 direction)
{
    return flr_vec3_add_scaled(d, -flr_vec3_dot(d, direction), direction);
}

/* From a point to a plane or to a line. */
static double from_point(flr_vec3 point, const flr_engine_measured *m)
{
    flr_vec3 d = flr_vec3_sub(point, m->point);
    return is_plane(m) ? fabs(flr_vec3_dot(d, m->direction))
                       : flr_vec3_length(across(d, m->direction));
}

static void judge(flr_engine_measure *f)
{
    const flr_engine_measured *a = &f->of[0], *b = &f->of[1];
    if (is_point(a) != is_point(b) && (has_direction(a) || has_direction(b))) {
        f->has_between = true;
        f->between = is_point(a) ? from_point(a->point, b) : from_point(b->point, a);
    }
    if (!has_direction(a) || !has_direction(b)) return;
    double cosine = fabs(flr_vec3_dot(a->direction, b->direction));
    flr_vec3 normal = flr_vec3_cross(a->direction, b->direction);
    double sine = flr_vec3_length(normal);
    bool mixed = is_plane(a) != is_plane(b);
    f->has_angle = true;
    f->angle = mixed ? atan2(cosine, sine) : atan2(sine, cosine);
    if (mixed) {
        const flr_engine_measured *plane = is_plane(a) ? a : b;
        f->has_between = cosine < parallel_sine;
        if (f->has_between) f->between = from_point(plane == a ? b->point : a->point, plane);
    } else if (sine < parallel_sine) {
        f->has_between = true;
        f->between = from_point(b->point, a);
    } else if (!is_plane(a)) { /* lines that pass each other: along what is across both */
        f->has_between = true;
        f->between =
            fabs(flr_vec3_dot(flr_vec3_sub(b->point, a->point), flr_vec3_scale(normal, 1 / sine)));
    }
}

/* ---- the job ---- */

static void pick_work(flr_job *job)
{
    pick_job *j = (pick_job *)job;
    int count = j->found.both ? 2 : 1;
    for (int i = 0; i < count && job->result == FLR_OK; i++)
        job->result = find(&j->of[i], &j->found.of[i], &job->error);
    if (job->result != FLR_OK || !j->found.both) return;
    job->result = measure_apart(j, &job->error);
    judge(&j->found);
}

static void pick_done(flr_engine *e, flr_job *job)
{
    pick_job *j = (pick_job *)job;
    flr_engine_event *event = flr_engine_tell(e, FLR_ENGINE_EVENT_MEASURE);
    event->token = j->token;
    event->result = job->result;
    event->measure = j->found;
    if (job->result != FLR_OK) memcpy(event->sentence, job->error.message, sizeof event->sentence);
}

static void pick_drop(flr_job *job)
{
    pick_job *j = (pick_job *)job;
    for (int i = 0; i < 2; i++) {
        if (j->of[i].mesh) flr_mesh_asset_release(j->of[i].mesh);
        flr_surface_free(&j->of[i].surface);
    }
    free(j);
}

static flr_result take(flr_engine *e, const flr_engine_pick *pick, picked *p, flr_error *error)
{
    flr_part_entry *member = NULL;
    flr_engine_part now;
    flr_result result = flr_engine_find_id(e, pick->part, &member, error);
    if (result == FLR_OK) result = flr_engine_get_part(e, pick->part, &now, error);
    if (result != FLR_OK) return result;
    if (!flr_vec3_is_finite(pick->at) || !isfinite(pick->reach))
        return flr_fail(error, FLR_BAD_ARGUMENT, "that is no place of a part");
    *p = (picked){.pick = *pick,
                  .mesh = flr_mesh_asset_retain(member->shape->mesh),
                  .T_world_part = now.T_world_part};
    return FLR_OK;
}

flr_result flr_engine_measure_ask(flr_engine *e, const flr_engine_pick *first,
                                  const flr_engine_pick *second, uint32_t token, flr_error *error)
{
    pick_job *j = calloc(1, sizeof *j);
    if (!j) return flr_engine_no_memory(error);
    flr_engine_view(e);
    flr_result result = take(e, first, &j->of[0], error);
    if (result == FLR_OK && second) result = take(e, second, &j->of[1], error);
    if (result == FLR_OK && second && is_whole(&j->of[0]) && is_whole(&j->of[1]) &&
        flr_same_part(first->part, second->part))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "a part has no distance to itself");
    if (result != FLR_OK) {
        pick_drop(&j->job);
        return result;
    }
    j->env = e->def.env;
    j->cache = e->cache;
    j->token = token;
    j->found.both = second != NULL;
    j->found.of[1].part = FLR_NO_PART_ID;
    j->job = (flr_job){.quick = true, .work = pick_work, .done = pick_done, .drop = pick_drop};
    return flr_engine_post(e, &j->job, 0, first->part, NULL, NULL);
}
