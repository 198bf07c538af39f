/* hands that touch with a point */
#include "world/point_tool.h"

#include <math.h>
#include <stdlib.h>

#include "probe/among.h"

/* metres beyond what a proxy needs, in sizes of the largest part: it keeps off by less */
#define PROXY_MARGIN 1e-6

/* a sphere around a part, in its frame */
typedef struct ball {
    flr_vec3 centre;
    double radius; /* metres */
} ball;

struct flr_points {
    const flr_probe_model **models; /* [part_count]; NULL: no point touches it */
    ball *balls;                    /* [part_count] */
    /* [part_count]: the triangle that was hit last, by any hand: where the next search begins. The answers do not depend on it, so
     * it is no part of the state */
    flr_probe_witness *witnesses;
    flr_among_part *near; /* what a proxy may meet in this step: what stands, then what moved */
    uint32_t part_count;
    double size; /* metres: of the largest */
};

flr_points *flr_points_create(uint32_t part_count)
{
    flr_points *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->part_count = part_count;
    p->models = calloc((size_t)part_count + 1, sizeof *p->models);
    p->balls = calloc((size_t)part_count + 1, sizeof *p->balls);
    p->near = calloc((size_t)part_count + 1, sizeof *p->near);
    p->witnesses = calloc((size_t)part_count + 1, sizeof *p->witnesses);
    for (uint32_t i = 0; p->witnesses && i < part_count; i++)
        p->witnesses[i] = flr_probe_witness_none();
    if (p->models && p->balls && p->near && p->witnesses) return p;
    flr_points_destroy(p);
    return NULL;
}

void flr_points_destroy(flr_points *p)
{
    if (!p) return;
    free(p->models);
    free(p->balls);
    free(p->near);
    free(p->witnesses);
    free(p);
}

flr_point flr_point_none(void)
{
    return (flr_point){.proxy = flr_proxy_none(), .shown = {.part = FLR_NO_PART}};
}

void flr_points_set(flr_points *p, uint32_t part, const flr_probe_model *model)
{
    const flr_mesh *mesh = model ? flr_probe_model_mesh(model) : NULL;
    p->models[part] = mesh ? model : NULL;
    p->witnesses[part] = flr_probe_witness_none();
    if (mesh)
        p->balls[part] = (ball){flr_box3_centre(mesh->bounds),
                                0.5 * flr_probe_model_size(model) * (1 + PROXY_MARGIN)};
    p->size = 0;
    for (uint32_t i = 0; i < p->part_count; i++)
        if (p->models[i]) p->size = fmax(p->size, flr_probe_model_size(p->models[i]));
}

/* ---- a step ---- */

static bool same_pose(flr_pose a, flr_pose b)
{
    return flr_vec3_equal(a.p, b.p) && a.q.w == b.q.w && a.q.x == b.q.x && a.q.y == b.q.y &&
           a.q.z == b.q.z;
}

/* Lists the parts of one kind that reach into a sphere around the hand; their number in all. */
static uint32_t list_near(flr_points *p, uint32_t count, bool moved, flr_vec3 hand, double range,
                          const flr_pose *before, const flr_body *bodies)
{
    for (uint32_t i = 0; i < p->part_count; i++) {
        if (!p->models[i] || same_pose(before[i], bodies[i].T_world_part) == moved) continue;
        flr_pose T = bodies[i].T_world_part;
        double away = flr_vec3_distance(flr_pose_apply(T, p->balls[i].centre), hand);
        if (away > p->balls[i].radius + range) continue;
        p->near[count++] = (flr_among_part){.model = p->models[i],
                                            .T_world_part = T,
                                            .T_part_world = flr_pose_inverse(T),
                                            .placed = true,
                                            .number = i,
                                            .witness = &p->witnesses[i]};
    }
    return count;
}

/* How far a point of a part that touches the proxy can have gone: no farther than the farthest of its sphere. */
static double longest_way(const flr_points *p, const flr_pose *before, const flr_body *bodies)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->part_count; i++) {
        flr_pose from = before[i], to = bodies[i].T_world_part;
        if (!p->models[i] || same_pose(from, to)) continue;
        flr_quat turn = flr_quat_mul(to.q, flr_quat_conjugate(from.q));
        const ball *b = &p->balls[i];
        sum += flr_vec3_distance(flr_pose_apply(from, b->centre), flr_pose_apply(to, b->centre)) +
               b->radius * flr_vec3_length(flr_quat_to_rotation_vector(turn));
    }
    return sum;
}

/* Those that moved take the proxy along where they came over it; `standing` of the list have not. */
static void carry(flr_points *p, flr_point *point, flr_among *among, uint32_t standing,
                  flr_vec3 hand, const flr_proxy_params *params, const flr_pose *before)
{
    flr_vec3 from = point->proxy.position, at = from;
    flr_among settled = *among;
    for (uint32_t i = standing; i < among->count; i++) {
        const flr_among_part *part = &p->near[i];
        settled.count = i;
        bool stuck = point->proxy.touching && params->static_friction > 0 &&
                     point->shown.part == part->number;
        flr_carried how = flr_among_carry(&settled, part, flr_pose_inverse(before[part->number]),
                                          from, hand, stuck, &at);
        point->shown.pinched |= how == FLR_CARRIED_INTO;
    }
    point->proxy.position = at;
}

/* What it shows to others, and what parts get of it. */
static void tell(const flr_points *p, const flr_among_result *result, flr_point *point)
{
    const flr_proxy_result *r = &result->proxy;
    flr_world_point *to = &point->shown;
    to->position = r->position;
    to->force = r->force;
    to->normal = r->normal;
    to->depth = r->depth;
    to->touching = r->touching;
    to->sticking = r->sticking;
    to->queries = r->queries;
    to->part = FLR_NO_PART;
    to->triangle = FLR_PROBE_NONE;
    point->push_count = 0;
    double most = -1;
    for (uint32_t i = 0; i < r->contact_count; i++) {
        uint32_t part = p->near[result->parts[i]].number;
        point->pushes[point->push_count++] = (flr_point_push){part, result->pushes[i]};
        /* of several, the one that bears most */
        double bears = flr_vec3_length(result->pushes[i]);
        if (bears > most) most = bears, to->part = part, to->triangle = r->triangles[i];
    }
}

bool flr_points_step(flr_points *p, flr_point *point, flr_vec3 hand, const flr_proxy_params *params,
                     const flr_pose *before, const flr_body *bodies)
{
    double way = longest_way(p, before, bodies);
    double stretch = point->proxy.placed ? flr_vec3_distance(point->proxy.position, hand) : 0;
    double range = stretch + way + PROXY_MARGIN * p->size;
    point->shown.pinched = false;
    bool there = flr_vec3_is_finite(hand);
    uint32_t standing = there ? list_near(p, 0, false, hand, range, before, bodies) : 0;
    uint32_t count = there ? list_near(p, standing, true, hand, range, before, bodies) : 0;
    flr_among among = {.parts = p->near, .count = count, .size = p->size, .range = range};
    if (point->proxy.placed && there) carry(p, point, &among, standing, hand, params, before);
    flr_among_result result;
    flr_among_step(&point->proxy, &among, hand, params, &result);
    tell(p, &result, point);
    return result.proxy.valid;
}

bool flr_point_is_valid(const flr_point *point, uint32_t part_count)
{
    if (!flr_vec3_is_finite(point->proxy.position) || point->push_count > FLR_PROXY_CONTACTS)
        return false;
    for (uint32_t i = 0; i < point->push_count; i++)
        if (point->pushes[i].part >= part_count || !flr_vec3_is_finite(point->pushes[i].force))
            return false;
    return point->shown.part == FLR_NO_PART || point->shown.part < part_count;
}
