/* contacts of samples: which plane keeps a sample and what it is near to apart, and its share of the force */
#include <math.h>

#include "world/tight_internal.h"

#define FACE  (1 - 1e-7) /* cosine: the same direction but for rounding */
#define ALIKE 0.95 /* cosine: as two faces of a round surface look, not as the sides of an edge */
#define SMALL 0.01 /* of a sample's area: that of the nearest points, which may be no samples */

/* what is the same for all samples of a pair */
typedef struct spots_of {
    flr_tight *exact;
    flr_tight_near *near;
    const flr_vec3 *normals[2]; /* of the triangles of a and b, their own frames */
    uint32_t triangles[2];      /* how many; beyond them is a normal of zero */
    flr_mat3 a_b, b_a;          /* rotations from b to a and back */
    flr_mat3 world_a;           /* … and from a to the world */
    flr_vec3 origin;            /* of a */
    flr_vec3 turn, shift;       /* velocity of b over a at p: shift + turn x p; world's frame */
    double clearance, dt;
} spots_of;

static inline flr_vec3 normal_of(const spots_of *of, int side, uint32_t triangle)
{
    const uint32_t end = of->triangles[side];
    return of->normals[side][triangle < end ? triangle : end];
}

/* Which plane keeps a sample and what it is near to apart. Where that is a face, the direction of the distance is its normal.
 * Where it is an edge or a corner, the distance is curved as sharply as it is short, and says nothing about a step along the
 * surface: then the plane is that of the sample's own face, if it looks the same way. Else there is none: two edges that
 * pass each other are found by their nearest points, and by the check. */
static inline bool straighten(const spots_of *of, const flr_fit_contact *c, flr_vec3 *normal,
                              double *distance)
{
    const flr_vec3 n = c->normal;
    const int own_side = c->side ? 1 : 0, other_side = 1 - own_side;
    const flr_vec3 face = normal_of(of, other_side, c->triangle[other_side]);
    const flr_vec3 seen = other_side ? flr_mat3_apply(of->b_a, n) : n;
    const double theirs = fabs(flr_vec3_dot(seen, face));
    *normal = n;
    *distance = c->distance;
    if (theirs > FACE) return true;
    flr_vec3 own = normal_of(of, own_side, c->triangle[own_side]);
    if (own_side) own = flr_mat3_apply(of->a_b, own);
    const double mine = flr_vec3_dot(n, own);
    if (fabs(mine) < ALIKE) return theirs > ALIKE;
    *normal = mine > 0 ? own : flr_vec3_neg(own);
    *distance *= fabs(mine);
    return true;
}

/* Keeps a spot; returns its weight in the force law: its area times how deep the step may bring it into the clearance. */
static inline double keep(spots_of *of, const flr_fit_contact *c, flr_vec3 normal, double distance)
{
    flr_tight *e = of->exact;
    if (e->spot_count == FLR_TIGHT_SPOTS) return 0;
    flr_tight_spot *s = &e->spots[e->spot_count++];
    s->point = flr_vec3_add(flr_mat3_apply(of->world_a, c->point), of->origin);
    s->normal = flr_mat3_apply(of->world_a, normal);
    s->gap = distance - c->error + of->near->tolerated;
    const flr_vec3 v = flr_vec3_add(of->shift, flr_vec3_cross(of->turn, s->point));
    const double coming = -of->dt * flr_vec3_dot(s->normal, v);
    const double depth = of->clearance - s->gap + (coming > 0 ? coming : 0);
    s->share = depth > 0 ? c->area * depth : 0;
    of->near->count++;
    return s->share;
}

/* The nearest points, which need not be samples, as one more: so there is always a place where force begins. */
static flr_fit_contact nearest_of(const flr_fit_result *r, double area)
{
    return (flr_fit_contact){
        .point = r->point[1], .normal = r->normal, .distance = r->lower, .area = area * SMALL};
}

/* Adds the velocity of a part, with a sign. */
static void add_motion(const flr_world *w, uint32_t part, double sign, spots_of *of)
{
    if (!w->plans[part].moves) return;
    const flr_body *body = &w->state->bodies[part];
    const flr_vec3 turn = flr_vec3_scale(body->twist.angular, sign);
    of->turn = flr_vec3_add(of->turn, turn);
    of->shift = flr_vec3_add_scaled(of->shift, sign, body->twist.linear);
    of->shift = flr_vec3_sub(of->shift, flr_vec3_cross(turn, flr_body_centre(body)));
}

void flr_tight_make_spots(flr_world *w, flr_tight_near *n, flr_pose T_a_b,
                          const flr_fit_contact *list, double reach)
{
    flr_tight *e = w->tight;
    const flr_pose T = w->poses[n->a];
    spots_of of = {.exact = e,
                   .near = n,
                   .normals = {e->parts[n->a].normals, e->parts[n->b].normals},
                   .triangles = {flr_fit_get_info(e->parts[n->a].fit).triangles,
                                 flr_fit_get_info(e->parts[n->b].fit).triangles},
                   .a_b = flr_quat_to_mat3(T_a_b.q),
                   .b_a = flr_quat_to_mat3(flr_quat_conjugate(T_a_b.q)),
                   .world_a = flr_quat_to_mat3(T.q),
                   .origin = T.p,
                   .clearance = w->params.exact.clearance,
                   .dt = w->def.dt};
    add_motion(w, n->b, 1, &of);
    add_motion(w, n->a, -1, &of);
    n->first = e->spot_count;
    n->count = 0;
    double sum = 0, area = 0;
    for (uint32_t i = 0; i < n->result.contact_count; i++) {
        flr_vec3 normal;
        double distance;
        area = list[i].area > area ? list[i].area : area;
        if (list[i].distance + n->tolerated < reach &&
            straighten(&of, &list[i], &normal, &distance))
            sum += keep(&of, &list[i], normal, distance);
    }
    const flr_fit_result *r = &n->result;
    if (r->found && r->distance > 0 && r->lower + n->tolerated < reach &&
        fabs(flr_vec3_length2(r->normal) - 1) < 1e-3) {
        flr_fit_contact c = nearest_of(r, area > 0 ? area : 1);
        sum += keep(&of, &c, c.normal, c.distance);
    }
    const double share = sum > 0 ? 1 / sum : 0;
    for (uint32_t i = 0; i < n->count; i++) e->spots[n->first + i].share *= share;
}
