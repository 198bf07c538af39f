/* which parts are near each other, and which of their samples the step may bring into contact */
#include <math.h>

#include "world/tight_internal.h"

#define TIGHT_SPEED_UP 1.5   /* from one step to the next; what is faster is found by the check */
#define SUDDEN         16e-6 /* metres: what a force may add to a step, at most */
#define NEAREST                                                                                    \
    8e-6 /* metres: samples are asked for within this beyond the clearance, or twice, four times … as much */
#define FARTHEST                                                                                   \
    64e-6 /* metres: … but no farther, however fast a part is: what comes from farther away is found by the check */
#define FACE  (1 - 1e-7) /* cosine: the same direction but for rounding */
#define ALIKE 0.95 /* cosine: as two faces of a round surface look, not as the sides of an edge */
#define SMALL 0.01 /* of a sample's area: that of the nearest points, which may be no samples */

flr_pose flr_tight_between(flr_pose T_world_a, flr_pose T_world_b)
{
    flr_pose T = flr_pose_mul(flr_pose_inverse(T_world_a), T_world_b);
    T.q = flr_quat_normalize(T.q);
    return T;
}

/* metres that a part's points may well come nearer to something in a step. Parts in tight fits slide and turn; they
 * approach things much less than they move */
static double may_come(const flr_world *w, uint32_t part, flr_twist twist)
{
    if (!w->plans[part].moves) return 0;
    double pull = w->params.exact.force * w->params.exact.strength +
                  flr_vec3_length(w->params.step.gravity) * w->state->bodies[part].inertia.mass;
    double sudden = pull / w->state->bodies[part].inertia.mass * w->def.dt * w->def.dt;
    return flr_vec3_length(twist.linear) * w->def.dt / 2 + fmin(sudden, SUDDEN);
}

/* Boxes around all parts that touch anything, as large as they may get. */
static flr_broad_list find_pairs(flr_world *w)
{
    flr_tight *e = w->tight;
    for (uint32_t i = 0; i < e->part_count; i++) {
        const flr_tight_part *p = &e->parts[i];
        bool there = p->fit && flr_world_is_solid(w, i) && flr_pose_is_valid(w->poses[i]);
        unsigned moves = w->plans[i].moves ? FLR_BROAD_MOVES : 0u;
        flr_broad_flag(e->broad, i, there ? FLR_BROAD_POINTS | FLR_BROAD_VOXELS | moves : 0u);
        flr_box3 box = flr_box3_empty();
        if (there) {
            box = flr_box3_transform(w->poses[i], flr_fit_get_info(p->fit).bounds);
            box = flr_box3_grow(box, TIGHT_SPEED_UP * p->travel + SUDDEN + w->params.exact.range);
        }
        flr_broad_move(e->broad, i, box);
    }
    return flr_broad_update(e->broad);
}

/* The speed with which b comes off a at a point. */
static double parting(const flr_world *w, const flr_tight_near *n, flr_vec3 point, flr_vec3 normal)
{
    double s = 0;
    if (w->plans[n->b].moves)
        s += flr_vec3_dot(normal, flr_body_velocity(&w->state->bodies[n->b], point));
    if (w->plans[n->a].moves)
        s -= flr_vec3_dot(normal, flr_body_velocity(&w->state->bodies[n->a], point));
    return s;
}

/* The unit normal of a triangle, in the frame of a. Zero: it has none. */
static flr_vec3 normal_of(const flr_world *w, const flr_tight_near *n, flr_pose T_a_b, int side,
                          uint32_t triangle)
{
    flr_vec3 t[3];
    const flr_fit *fit = w->tight->parts[side ? n->b : n->a].fit;
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
static bool straighten(const flr_world *w, const flr_tight_near *n, flr_pose T_a_b,
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
static double keep(flr_world *w, flr_tight_near *n, const flr_fit_contact *c)
{
    flr_tight *e = w->tight;
    if (e->spot_count == FLR_TIGHT_SPOTS) return 0;
    flr_pose T = w->poses[n->a];
    flr_tight_spot *s = &e->spots[e->spot_count++];
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
    return (flr_fit_contact){
        .point = r->point[1], .normal = r->normal, .distance = r->lower, .area = area * SMALL};
}

/* What to ask of a pair. Lengths are doubled until they suffice, so that they seldom change from step to step. */
static flr_fit_params params_of(const flr_world *w, const flr_tight_near *n, double far)
{
    const flr_tight_params *how = &w->params.exact;
    double tolerated = flr_tight_tolerated(w, n->a, n->b), beyond = NEAREST;
    while (beyond < far && beyond < FARTHEST) beyond *= 2;
    double reach = how->clearance + 2 * FLR_TIGHT_FLOOR + beyond;
    flr_fit_params ask = flr_default_fit_params();
    ask.reach = reach > tolerated ? reach - tolerated : 0;
    ask.max_distance = how->range;
    ask.tolerance = FLR_TIGHT_CLEAR / 2;
    return ask;
}

static bool same_pose(flr_pose a, flr_pose b)
{
    return a.p.x == b.p.x && a.p.y == b.p.y && a.p.z == b.p.z && a.q.w == b.q.w && a.q.x == b.q.x &&
           a.q.y == b.q.y && a.q.z == b.q.z;
}

/* What the step before has found at the end of its check of this pair, if it would be asked the same again. */
static const flr_tight_ahead *known(const flr_tight *e, const flr_tight_near *n, uint32_t *at,
                                    flr_pose T, const flr_fit_params *ask)
{
    while (*at < e->ahead_count[0] && e->ahead[0][*at].key < n->key) ++*at;
    if (*at == e->ahead_count[0] || e->ahead[0][*at].key != n->key) return NULL;
    const flr_tight_ahead *a = &e->ahead[0][*at];
    bool same = same_pose(a->T_a_b, T) && a->asked.reach == ask->reach &&
                a->asked.max_distance == ask->max_distance && a->asked.tolerance == ask->tolerance;
    /* what there was time for then must be what there is time for now */
    uint64_t left;
    return same && flr_tight_left(e, &left) && (e->budget == 0 || a->result.work <= left) ? a
                                                                                          : NULL;
}

bool flr_tight_look_ahead(flr_world *w, flr_tight_near *n, flr_pose T, flr_fit_result *result,
                          flr_world_frame *frame)
{
    flr_tight *e = w->tight;
    double far = 0;
    for (int side = 0; side < 2; side++) {
        uint32_t part = side ? n->b : n->a;
        const flr_world_plan *p = &w->plans[part];
        if (p->moves) far += may_come(w, part, p->result.twist);
    }
    flr_fit_params ask = params_of(w, n, far);
    ask.budget = e->budget; /* it counts when the next step uses it, or asks the same again */
    bool room = e->raw_count + FLR_TIGHT_RAW <= FLR_TIGHT_SPOTS &&
                (n->ahead || e->ahead_count[1] < e->near_capacity);
    flr_fit_contact *list = e->raw[1] + e->raw_count;
    flr_fit_pair_query(n->fits, T, &ask, room ? list : NULL, room ? FLR_TIGHT_RAW : 0, result);
    frame->points_tested += result->work;
    if (!result->complete) return false;
    if (!room) return true;
    if (!n->ahead) n->ahead = &e->ahead[1][e->ahead_count[1]++];
    *n->ahead = (flr_tight_ahead){
        .key = n->key, .T_a_b = T, .asked = ask, .result = *result, .first = e->raw_count};
    e->raw_count += result->contact_count;
    return true;
}

/* Asks a pair. */
static void ask(flr_world *w, flr_tight_near *n, uint32_t *ahead)
{
    flr_tight *e = w->tight;
    const flr_pose T = flr_tight_between(w->poses[n->a], w->poses[n->b]);
    double far = may_come(w, n->a, w->state->bodies[n->a].twist) +
                 may_come(w, n->b, w->state->bodies[n->b].twist);
    flr_fit_params ask = params_of(w, n, far);
    flr_fit_contact *raw = e->raw[0];
    const flr_tight_ahead *before = known(e, n, ahead, T, &ask);
    n->result = (flr_fit_result){.distance = INFINITY, .upper = INFINITY, .lower = -INFINITY};
    if (before) {
        n->result = before->result;
        raw += before->first;
    } else if (flr_tight_left(e, &ask.budget)) {
        raw = e->fresh;
        flr_fit_pair_query(n->fits, T, &ask, raw, FLR_TIGHT_RAW, &n->result);
    }
    e->spent += n->result.work;
    const double reach = ask.reach + flr_tight_tolerated(w, n->a, n->b);
    n->tolerated = flr_tight_note(w, n->a, n->b, &n->result);
    n->lower = n->result.lower + n->tolerated;
    n->first = e->spot_count;
    n->count = 0;
    double sum = 0, area = 0;
    for (uint32_t i = 0; i < n->result.contact_count; i++) {
        area = fmax(area, raw[i].area);
        if (raw[i].distance + n->tolerated < reach && straighten(w, n, T, &raw[i]))
            sum += keep(w, n, &raw[i]);
    }
    const flr_fit_result *r = &n->result;
    if (r->found && r->distance > 0 && r->lower + n->tolerated < reach &&
        fabs(flr_vec3_length2(r->normal) - 1) < 1e-3) {
        flr_fit_contact c = nearest_of(r, area > 0 ? area : 1);
        sum += keep(w, n, &c);
    }
    for (uint32_t i = 0; sum > 0 && i < n->count; i++) e->spots[n->first + i].share /= sum;
}

static void report(const flr_world *w, const flr_tight_near *n, flr_world_gap *gap)
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

/* What was ahead is now. */
static void swap_ahead(flr_tight *e)
{
    flr_fit_contact *raw = e->raw[0];
    flr_tight_ahead *ahead = e->ahead[0];
    e->raw[0] = e->raw[1], e->raw[1] = raw;
    e->ahead[0] = e->ahead[1], e->ahead[1] = ahead;
    e->ahead_count[0] = e->ahead_count[1], e->ahead_count[1] = 0;
    e->raw_count = 0;
}

void flr_tight_near_update(flr_world *w, flr_world_frame *frame)
{
    flr_tight *e = w->tight;
    flr_broad_list found = find_pairs(w);
    uint32_t ahead = 0;
    e->near_count = e->spot_count = 0;
    swap_ahead(e);
    for (uint32_t i = 0; i < e->part_count; i++) e->parts[i].pairs_with_moving = false;
    for (size_t i = 0; i < found.count && e->near_count < e->near_capacity; i++) {
        uint32_t high = (uint32_t)(found.keys[i] >> 32), low = (uint32_t)found.keys[i];
        bool both = w->plans[high].moves && w->plans[low].moves, swap = !w->plans[high].moves;
        flr_tight_near *n = &e->nears[e->near_count];
        *n = (flr_tight_near){
            .a = swap ? high : low, .b = swap ? low : high, .checked = -1, .key = found.keys[i]};
        n->fits = e->pairs[e->parts[n->a].kind * e->kind_count + e->parts[n->b].kind];
        ask(w, n, &ahead);
        report(w, n, &e->gaps[e->near_count++]);
        if (both) e->parts[n->a].pairs_with_moving = e->parts[n->b].pairs_with_moving = true;
        frame->lower = fmin(frame->lower, n->result.lower);
        frame->upper = fmin(frame->upper, n->result.upper);
        frame->exhausted += !n->result.complete;
        frame->points_tested += n->result.work;
        for (uint32_t k = 0; k < n->count; k++) {
            const flr_tight_spot *s = &e->spots[n->first + k];
            frame->contacts += s->gap < w->params.exact.clearance;
            frame->penetrations += s->gap < 0;
        }
    }
    frame->pairs = e->near_count;
}
