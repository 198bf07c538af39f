/* which parts are near each other, and which of their samples the step may bring into contact */
#include <math.h>

#include "world/exact_internal.h"

#define SPEED_UP 1.5   /* from one step to the next; what is faster is found by the check */
#define SUDDEN   50e-6 /* metres: what a force may add to a step, at most */
#define FARTHEST 250e-6 /* metres: samples beyond this are not asked for, however fast a part is */
#define FACE     (1 - 1e-7) /* cosine: the same direction but for rounding */
#define ALIKE    0.95       /* cosine: as two faces of a round surface look, not as the sides of an edge */
#define SMALL    0.01   /* of a sample's area: that of the nearest points, which may be no samples */

flr_pose flr_exact_between(flr_pose T_world_a, flr_pose T_world_b)
{
    flr_pose T = flr_pose_mul(flr_pose_inverse(T_world_a), T_world_b);
    T.q = flr_quat_normalize(T.q);
    return T;
}

/* metres that a part's points may come nearer in the step, from how it moved and what may pull it */
static double may_go(const flr_world *w, uint32_t part)
{
    if (!w->plans[part].moves) return 0;
    double pull = w->params.exact.force * w->params.exact.strength +
                  flr_vec3_length(w->params.step.gravity) * w->state->bodies[part].inertia.mass;
    double sudden = pull / w->state->bodies[part].inertia.mass * w->def.dt * w->def.dt;
    return SPEED_UP * w->exact->parts[part].travel + fmin(sudden, SUDDEN);
}

/* Boxes around all parts that touch anything, as large as they may get. */
static flr_broad_list find_pairs(flr_world *w)
{
    flr_exact *e = w->exact;
    for (uint32_t i = 0; i < e->part_count; i++) {
        const flr_exact_part *p = &e->parts[i];
        bool there = p->fit && flr_world_is_solid(w, i) && flr_pose_is_valid(w->poses[i]);
        unsigned moves = w->plans[i].moves ? FLR_BROAD_MOVES : 0u;
        flr_broad_flag(e->broad, i, there ? FLR_BROAD_POINTS | FLR_BROAD_VOXELS | moves : 0u);
        flr_box3 box = flr_box3_empty();
        if (there) {
            box = flr_box3_transform(w->poses[i], flr_fit_get_info(p->fit).bounds);
            box = flr_box3_grow(box, may_go(w, i) + w->params.exact.range);
        }
        flr_broad_move(e->broad, i, box);
    }
    return flr_broad_update(e->broad);
}

/* The speed with which b comes off a at a point. */
static double parting(const flr_world *w, const flr_exact_near *n, flr_vec3 point, flr_vec3 normal)
{
    double s = 0;
    if (w->plans[n->b].moves)
        s += flr_vec3_dot(normal, flr_body_velocity(&w->state->bodies[n->b], point));
    if (w->plans[n->a].moves)
        s -= flr_vec3_dot(normal, flr_body_velocity(&w->state->bodies[n->a], point));
    return s;
}

/* The unit normal of a triangle, in the frame of a. Zero: it has none. */
static flr_vec3 normal_of(const flr_world *w, const flr_exact_near *n, flr_pose T_a_b, int side,
                          uint32_t triangle)
{
    flr_vec3 t[3];
    const flr_fit *fit = w->exact->parts[side ? n->b : n->a].fit;
    if (triangle >= flr_fit_get_info(fit).triangles) return flr_vec3_zero();
    flr_fit_triangle(fit, triangle, t);
    flr_vec3 v =
        flr_vec3_normalize(flr_vec3_cross(flr_vec3_sub(t[1], t[0]), flr_vec3_sub(t[2], t[0])));
    return side ? flr_pose_apply_vector(T_a_b, v) : v;
}

/* Which plane keeps a sample and what it is near to apart. Where that is a face, the direction of the distance is its normal.
 * Where it is an edge or a corner, the distance is curved as sharply as it is short, and says nothing about a step along the
 * surface: then the plane is that of the sample's own face, if it looks the same way. Else there is none: two edges that
 * pass each other are found by their nearest points, and by the check. */
static bool straighten(const flr_world *w, const flr_exact_near *n, flr_pose T_a_b,
                       flr_fit_contact *c)
{
    int own = c->side ? 1 : 0;
    flr_vec3 theirs = normal_of(w, n, T_a_b, !own, c->triangle[!own]);
    double along = fabs(flr_vec3_dot(c->normal, theirs));
    if (along > FACE) return true;
    flr_vec3 mine = normal_of(w, n, T_a_b, own, c->triangle[own]);
    double cosine = flr_vec3_dot(c->normal, mine);
    if (fabs(cosine) < ALIKE) return along > ALIKE;
    c->normal = cosine > 0 ? mine : flr_vec3_neg(mine);
    c->distance *= fabs(cosine);
    return true;
}

/* Keeps a spot; returns its weight in the force law: its area times how deep the step may bring it into the clearance. */
static double keep(flr_world *w, flr_exact_near *n, const flr_fit_contact *c)
{
    flr_exact *e = w->exact;
    if (e->spot_count == FLR_EXACT_SPOTS) return 0;
    flr_pose T = w->poses[n->a];
    flr_exact_spot *s = &e->spots[e->spot_count++];
    s->point = flr_pose_apply(T, c->point);
    s->normal = flr_pose_apply_vector(T, c->normal);
    s->gap = c->distance - c->error + n->tolerated;
    double coming = -w->def.dt * parting(w, n, s->point, s->normal);
    double depth = w->params.exact.clearance - s->gap + fmax(0, coming);
    s->share = depth > 0 ? c->area * depth : 0;
    n->count++;
    return s->share;
}

/* The nearest points, which need not be samples, as one more: so there is always a place where force begins. */
static flr_fit_contact nearest_of(const flr_fit_result *r, double area)
{
    return (flr_fit_contact){.point = r->point[1],
                             .normal = r->normal,
                             .distance = r->lower,
                             .area = area * SMALL};
}

/* Asks a pair. */
static void ask(flr_world *w, flr_exact_near *n)
{
    flr_exact *e = w->exact;
    const flr_exact_params *how = &w->params.exact;
    double tolerated = flr_exact_tolerated(w, n->a, n->b);
    double reach = how->clearance + 2 * FLR_EXACT_FLOOR + fmin(may_go(w, n->a) + may_go(w, n->b), FARTHEST);
    flr_fit_params ask = flr_default_fit_params();
    ask.reach = reach - tolerated > 0 ? reach - tolerated : 0;
    ask.max_distance = how->range + e->parts[n->a].travel + e->parts[n->b].travel;
    ask.tolerance = FLR_EXACT_CLEAR;
    n->result = (flr_fit_result){.distance = INFINITY, .upper = INFINITY, .lower = -INFINITY};
    const flr_pose T = flr_exact_between(w->poses[n->a], w->poses[n->b]);
    if (flr_exact_left(e, &ask.budget)) {
        flr_fit_pair_query(n->fits, T, &ask, e->raw, FLR_EXACT_RAW, &n->result);
        e->spent += n->result.work;
    }
    n->tolerated = flr_exact_note(w, n->a, n->b, &n->result);
    n->lower = n->result.lower + n->tolerated;
    n->first = e->spot_count;
    n->count = 0;
    double sum = 0, area = 0;
    for (uint32_t i = 0; i < n->result.contact_count; i++) {
        area = fmax(area, e->raw[i].area);
        if (e->raw[i].distance + n->tolerated < reach && straighten(w, n, T, &e->raw[i]))
            sum += keep(w, n, &e->raw[i]);
    }
    const flr_fit_result *r = &n->result;
    if (r->found && r->distance > 0 && r->lower + n->tolerated < reach &&
        fabs(flr_vec3_length2(r->normal) - 1) < 1e-3) {
        flr_fit_contact c = nearest_of(r, area > 0 ? area : 1);
        sum += keep(w, n, &c);
    }
    for (uint32_t i = 0; sum > 0 && i < n->count; i++) e->spots[n->first + i].share /= sum;
}

static void report(const flr_world *w, const flr_exact_near *n, flr_world_gap *gap)
{
    const flr_fit_result *r = &n->result;
    flr_pose T = w->poses[n->a];
    *gap = (flr_world_gap){.part_a = n->a,
                           .part_b = n->b,
                           .distance = r->distance,
                           .lower = r->lower,
                           .upper = r->upper,
                           .point_a = flr_pose_apply(T, r->point[0]),
                           .point_b = flr_pose_apply(T, r->point[1]),
                           .normal = flr_pose_apply_vector(T, r->normal),
                           .tolerated = n->tolerated,
                           .complete = r->complete};
}

void flr_exact_near_update(flr_world *w, flr_world_frame *frame)
{
    flr_exact *e = w->exact;
    flr_broad_list found = find_pairs(w);
    e->near_count = e->spot_count = 0;
    for (uint32_t i = 0; i < e->part_count; i++)
        e->parts[i].near_count = 0, e->parts[i].pairs_with_moving = false;
    for (size_t i = 0; i < found.count && e->near_count < e->near_capacity; i++) {
        uint32_t high = (uint32_t)(found.keys[i] >> 32), low = (uint32_t)found.keys[i];
        bool both = w->plans[high].moves && w->plans[low].moves, swap = !w->plans[high].moves;
        flr_exact_near *n = &e->nears[e->near_count];
        *n = (flr_exact_near){.a = swap ? high : low, .b = swap ? low : high, .checked = -1};
        n->fits = e->pairs[e->parts[n->a].kind * e->kind_count + e->parts[n->b].kind];
        ask(w, n);
        report(w, n, &e->gaps[e->near_count++]);
        e->parts[n->a].near_count++, e->parts[n->b].near_count++;
        if (both) e->parts[n->a].pairs_with_moving = e->parts[n->b].pairs_with_moving = true;
        frame->lower = fmin(frame->lower, n->result.lower);
        frame->upper = fmin(frame->upper, n->result.upper);
        frame->exhausted += !n->result.complete;
        frame->points_tested += n->result.work;
        for (uint32_t k = 0; k < n->count; k++) {
            const flr_exact_spot *s = &e->spots[n->first + k];
            frame->contacts += s->gap < w->params.exact.clearance;
            frame->penetrations += s->gap < 0;
        }
    }
    frame->pairs = e->near_count;
}
