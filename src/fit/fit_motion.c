/* how much of a motion is free
 *
 * A long motion is taken in stretches. In a stretch, each point of b moves along an arc whose distance from its chord is
 * bounded by the sagitta. So where a plane has the three corners of a triangle on its far side both at the beginning and
 * at the end, by more than clearance and sagitta, the triangle does not come near that plane in between; nor, for the
 * planes of b, do the corners of a as b sees them. That is what sliding along a surface looks like, and it settles
 * nearly all pairs, 16 at a time.
 *
 * Those that are left are followed one by one. Two triangles whose nearest points are d apart in the direction n are
 * separated by a plane across n, for which only the speeds of the three corners along n count: when d + a s - q s^2 is
 * above the clearance, s further is free. */
#include <math.h>

#include "fit/fit_query.h"

enum { FIT_MAX_STEPS = 64, MAX_STRETCHES = 4096 };

flr_fit_motion_params flr_default_fit_motion_params(void)
{
    flr_fit_motion_params params = {.tolerance = 1e-7};
    return params;
}

flr_pose flr_fit_motion_pose(const flr_fit_motion *motion, double fraction)
{
    if (fraction <= 0) return motion->from;
    if (fraction >= 1) return motion->to;
    const flr_vec3 from = flr_pose_apply(motion->from, motion->centre),
                   to = flr_pose_apply(motion->to, motion->centre);
    flr_pose T = {.q = flr_quat_slerp(motion->from.q, motion->to.q, fraction)};
    T.p = flr_vec3_sub(flr_vec3_lerp(from, to, fraction), flr_quat_rotate(T.q, motion->centre));
    return T;
}

/* a motion and the stretch of it that is looked at */
typedef struct following {
    const flr_fit_motion *motion;
    flr_fit_motion_params params;
    double
        clearance; /* metres: what is asked for, or what there is at the start, if that is less */
    flr_fit_motion_result
        *result;             /* result->free: up to where all that was looked at so far is free */
    flr_vec3 velocity, spin; /* of the whole motion: metres, radians; frame of a */
    double radius;           /* metres: no point of b is farther from the centre */
    double begin, end;       /* fractions: of the stretch, or what is left of it */
    double little;           /* metres: of the tolerance, what this stretch may take */
    double apart;            /* metres: clearance, tolerance and sagitta */
    double travel;           /* metres: no point of b, or of a as b sees it, goes farther */
    flr_pose T_end;          /* at the end */
    flr_fit_move turn_end[2];
    double rounding;
} following;

/* Sets where the stretch ends: how far points go, and how far from their chords. */
static void set_end(flr_fit_query *q, following *f, double end)
{
    const double length = end - f->begin, turn = length * flr_vec3_length(f->spin),
                 straight = length * flr_vec3_length(f->velocity);
    f->end = end;
    f->T_end = flr_fit_motion_pose(f->motion, end);
    f->T_end.q = flr_quat_normalize(f->T_end.q);
    f->turn_end[1] = flr_fit_turn(f->T_end.q);
    f->turn_end[0] = flr_fit_turn(flr_quat_conjugate(f->T_end.q));
    /* as b sees a: points of a that matter are no farther from the centre than b and all its room */
    const double travel = straight + turn * f->radius,
                 room = f->radius + travel + f->clearance + f->params.deviation;
    f->travel = straight + turn * room;
    f->apart = f->clearance + f->params.deviation +
               0.125 * (turn * turn * room + 2 * turn * straight) + f->rounding;
    q->limit = f->apart + travel;
}

/* ---- one pair of triangles ---- */

static void corners_at(const flr_fit_query *q, flr_pose T, uint32_t triangle, flr_vec3 t[3])
{
    flr_fit_triangle(q->parts[1], triangle, t);
    for (int i = 0; i < 3; i++) t[i] = flr_pose_apply(T, t[i]);
}

/* The largest s with room + a s - q s^2 >= 0. */
static double root_of(double room, double a, double q)
{
    if (!(room > 0)) return 0;
    /* without cancellation */
    const double root = sqrt(a * a + 4 * q * room);
    if (a < 0) return 2 * room / (root - a);
    return q > 0 ? (a + root) / (2 * q) : INFINITY;
}

/* How far two triangles may move on. Along a normal, their nearest points are `room` farther apart than they have to be. A plane
 * across the normal separates the triangles: it is fixed to a and goes through a's point, or fixed to b and goes through b's.
 * A corner that is farther from the plane than the nearest point has that much more room. `left`: the rest of the motion.
 *
 * A corner of b at r from the centre goes v s + sin(w s) k x r + (1 - cos(w s)) k x (k x r), with w the angle and k the axis;
 * sin(x) >= x - x^3 / 6 for a sine that brings nearer, and the reverse. As b sees it, a corner of a at r goes R(-w s) (r - v s) - r. */
static double step_of(const following *f, flr_vec3 normal, const flr_nearest *near,
                      const flr_vec3 a[3], const flr_vec3 b[3], flr_vec3 centre, double room,
                      double left)
{
    const double turn2 = flr_vec3_length2(f->spin), straight = flr_vec3_dot(normal, f->velocity),
                 bend = fabs(flr_vec3_dot(normal, flr_vec3_cross(f->spin, f->velocity))) +
                        0.5 * left * turn2 * flr_vec3_length(f->velocity);
    double least[2] = {INFINITY, INFINITY};
    for (int i = 0; i < 6; i++) {
        const int of_b = i < 3;
        const flr_vec3 corner = of_b ? b[i] : a[i - 3],
                       around = flr_vec3_cross(f->spin, flr_vec3_sub(corner, centre)),
                       from = flr_vec3_sub(corner, near->at[of_b]);
        const double inwards = flr_vec3_dot(normal, flr_vec3_cross(f->spin, around)),
                     rate = flr_vec3_dot(normal, around), side = of_b ? 1 : -1,
                     more = fmax(side * flr_vec3_dot(normal, from) - f->rounding, 0),
                     q = 0.5 * fmax(-side * inwards, 0) + fabs(rate) * left * turn2 / 6 +
                         (of_b ? 0 : bend);
        least[of_b] = fmin(least[of_b], root_of(room + more, straight + rate, q));
    }
    return fmax(least[0], least[1]);
}

static void blocked_by(flr_fit_query *q, const flr_nearest *near, flr_vec3 normal, uint32_t a,
                       uint32_t b, double at)
{
    following *f = q->context;
    flr_fit_motion_result *r = f->result;
    r->free = at;
    r->blocked = true;
    r->distance = sqrt(near->distance2);
    r->normal = normal;
    for (int i = 0; i < 2; i++) r->point[i] = near->at[i];
    r->triangle[0] = a, r->triangle[1] = b;
    /* from here on less of the motion matters */
    set_end(q, f, at);
}

/* The distance that two triangles keep: the clearance, and half a tolerance more where there is room for it, so that
 * rounding matters nowhere. */
static double kept_distance(const following *f, double distance)
{
    const double floor = distance < f->clearance ? 0.5 * distance : f->clearance;
    return floor + 0.5 * fmin(f->little, distance - floor);
}

/* Are two triangles farther apart than the stretch needs, along an axis of any length, both at its beginning and at its end? */
static bool apart_along(const following *f, flr_vec3 axis, const flr_vec3 a[3],
                        const flr_vec3 b[2][3])
{
    double most = -INFINITY, least = INFINITY;
    for (int i = 0; i < 3; i++) {
        most = fmax(most, flr_vec3_dot(axis, a[i]));
        least = fmin(least, fmin(flr_vec3_dot(axis, b[0][i]), flr_vec3_dot(axis, b[1][i])));
    }
    const double between = least - most;
    return between > 0 && between * between > f->apart * f->apart * flr_vec3_length2(axis);
}

/* Does a plane keep two triangles apart through the stretch? Tries planes across `axis`, which separated other triangles of the same
 * patches; across the vector between the triangles, at both ends; and across its part that is perpendicular to b's motion. */
static bool pass_by(const following *f, flr_vec3 axis, const flr_vec3 a[3], const flr_vec3 b[2][3])
{
    if (apart_along(f, axis, a, b)) return true;
    const flr_vec3 from = flr_vec3_add(flr_vec3_add(a[0], a[1]), a[2]),
                   begin =
                       flr_vec3_sub(flr_vec3_add(flr_vec3_add(b[0][0], b[0][1]), b[0][2]), from),
                   end = flr_vec3_sub(flr_vec3_add(flr_vec3_add(b[1][0], b[1][1]), b[1][2]), from),
                   way = flr_vec3_sub(end, begin);
    if (apart_along(f, begin, a, b) || apart_along(f, end, a, b)) return true;
    const double length2 = flr_vec3_length2(way);
    if (!(length2 > 0)) return false;
    const double along = flr_vec3_dot(begin, way) / length2;
    return apart_along(f, flr_vec3_sub(begin, flr_vec3_scale(way, along)), a, b);
}

/* Follows two triangles through the stretch; shortens the free part of the motion where they come too near. `axis` gets the vector
 * between them. */
static void follow(flr_fit_query *q, uint32_t a, uint32_t b, flr_vec3 *axis)
{
    const following *f = q->context;
    double at = f->begin, floor = 0;
    const double end = fmin(f->end, f->result->free);
    flr_vec3 p[3], ends[2][3], *const r = ends[0];
    if (!(at < end)) return;
    flr_fit_triangle(q->parts[0], a, p);
    corners_at(q, q->T_a_b, b, ends[0]);
    corners_at(q, f->T_end, b, ends[1]);
    q->work += 10;
    if (pass_by(f, *axis, p, ends)) return;
    for (int step = 0; at < end; step++) {
        const flr_pose T = step > 0 ? flr_fit_motion_pose(f->motion, at) : q->T_a_b;
        flr_nearest near = {.distance2 = INFINITY};
        if (step > 0) corners_at(q, T, b, r);
        q->work += 60;
        flr_triangles_nearest(p, r, &near);
        const double apart = fmax(sqrt(near.distance2) - f->rounding, 0),
                     distance = fmax(apart - f->params.deviation, 0);
        if (step == 0 && apart == 0) {
            f->result->meeting++;
            return;
        }
        if (step == 0) floor = kept_distance(f, distance);
        const flr_vec3 normal = flr_vec3_normalize(flr_vec3_sub(near.at[1], near.at[0]));
        if (step == 0) *axis = normal;
        const double s = step_of(f, normal, &near, p, r, flr_pose_apply(T, f->motion->centre),
                                 distance - floor, end - at);
        if (at + s >= end) return;
        if (step == FIT_MAX_STEPS || distance - floor < 0.1 * f->little) {
            blocked_by(q, &near, normal, a, b, at);
            return;
        }
        at += s;
    }
}

/* ---- patches ---- */

/* Faces of one patch and vertices of the other, at the beginning and at the end. */
static uint32_t swept_sides(const flr_fit_query *q, int side, const flr_fit_patch *faces,
                            const flr_fit_lanes *lanes[2], const float shift[2][3], float limit,
                            flr_fit_masks *masks)
{
    const flr_fit *part = q->parts[side];
    flr_fit_masks end;
    q->kernel->sides(part->planes + faces->first_face, part->faces + faces->first_face,
                     faces->faces, lanes[0], shift[0], limit, masks);
    q->kernel->sides(part->planes + faces->first_face, part->faces + faces->first_face,
                     faces->faces, lanes[1], shift[1], limit, &end);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < faces->faces; i++) {
        bool all = false;
        for (int k = 0; k < FLR_FIT_SIDES; k++) {
            masks->beyond[i][k] &= end.beyond[i][k];
            all |= masks->beyond[i][k] == 0xffff;
        }
        kept |= (uint32_t)!all << i;
    }
    return kept;
}

static void set_shift(float to[3], flr_vec3 shift)
{
    to[0] = (float)shift.x, to[1] = (float)shift.y, to[2] = (float)shift.z;
}

/* What single precision must show that patches of these radii are apart by. */
static float limit_of(const flr_fit_query *q, const following *f, double radii)
{
    return (float)((f->apart + FLR_FIT_SINGLE * (2 * radii + q->limit)) * (1 + 1e-6));
}

static void pass(flr_fit_query *q, uint32_t patch, const flr_fit_visitor *v)
{
    const following *f = q->context;
    const flr_fit_patch *a = &q->parts[0]->patches[patch], *b = &q->parts[1]->patches[v->patch];
    const flr_vec3 begin = flr_vec3_sub(v->centre, a->centre);
    const double radii = (double)a->radius + (double)b->radius, far = q->limit + radii;
    q->work++;
    if (f->result->free <= f->begin || flr_vec3_length2(begin) * (1 - 1e-5) > far * far) return;
    const float limit = limit_of(q, f, radii);
    const flr_vec3 end = flr_vec3_sub(flr_pose_apply(f->T_end, b->centre), a->centre);
    float shift_a[2][3], shift_b[2][3];
    set_shift(shift_a[0], begin);
    set_shift(shift_a[1], end);
    uint32_t apart = q->kernel->apart(a, &v->lanes, shift_a[0], limit, true);
    flr_fit_lanes b_end, a_begin, a_end;
    q->kernel->move(&f->turn_end[1], &b->lanes, &b_end);
    if (apart) apart &= q->kernel->apart(a, &b_end, shift_a[1], limit, true);
    q->work += 8;
    if (apart) return;
    const flr_fit_lanes *lanes_b[2] = {&v->lanes, &b_end}, *lanes_a[2] = {&a_begin, &a_end};
    flr_fit_masks masks_a, masks_b;
    const uint32_t kept_a = swept_sides(q, 0, a, lanes_b, shift_a, limit, &masks_a);
    q->work += 30;
    if (!kept_a) return;
    q->kernel->move(&q->turn[0], &a->lanes, &a_begin);
    q->kernel->move(&f->turn_end[0], &a->lanes, &a_end);
    set_shift(shift_b[0], flr_vec3_neg(flr_pose_apply_vector(q->out[0], begin)));
    set_shift(shift_b[1], flr_vec3_neg(flr_quat_rotate_inverse(f->T_end.q, end)));
    const uint32_t kept_b = swept_sides(q, 1, b, lanes_a, shift_b, limit, &masks_b);
    q->work += 30;
    uint32_t pairs[FLR_FIT_LANES];
    flr_vec3 axis = flr_vec3_zero();
    for (uint32_t i = kept_b; i; i &= i - 1) {
        const int g = __builtin_ctz(i);
        pairs[g] = kept_a & q->kernel->corners(a->corners, masks_b.beyond[g]);
    }
    for (uint32_t i = kept_a; i; i &= i - 1) {
        const int k = __builtin_ctz(i);
        uint32_t left = kept_b & q->kernel->corners(b->corners, masks_a.beyond[k]);
        for (; left; left &= left - 1) {
            const int g = __builtin_ctz(left);
            if (pairs[g] >> k & 1)
                follow(q, q->parts[0]->faces[a->first_face + (uint32_t)k].triangle,
                       q->parts[1]->faces[b->first_face + (uint32_t)g].triangle, &axis);
        }
    }
}

/* ---- the motion ---- */

static void set_motion(following *f, const flr_fit *const parts[2])
{
    const flr_fit_motion *m = f->motion;
    const flr_vec3 from = flr_pose_apply(m->from, m->centre), to = flr_pose_apply(m->to, m->centre);
    flr_quat turn = flr_quat_mul(m->to.q, flr_quat_conjugate(m->from.q));
    f->velocity = flr_vec3_sub(to, from);
    f->spin = flr_quat_to_rotation_vector(turn);
    const flr_vec3 low = flr_vec3_sub(parts[1]->info.bounds.low, m->centre),
                   high = flr_vec3_sub(parts[1]->info.bounds.high, m->centre);
    f->radius = flr_vec3_length(
        flr_vec3_max(flr_vec3_max(flr_vec3_neg(low), low), flr_vec3_max(flr_vec3_neg(high), high)));
    f->rounding = flr_fit_rounding(flr_fit_extent(parts[0]) + flr_fit_extent(parts[1]) +
                                   flr_vec3_length(from) + flr_vec3_length(to));
}

/* Are the patches of an entry farther apart than `need`? */
static bool is_beyond(const flr_fit_query *q, flr_fit_guest *guest, uint32_t patch, uint32_t entry,
                      double need)
{
    return flr_fit_is_sure(q, patch, entry, need) || flr_fit_bound(q, guest, patch, entry) >= need;
}

/* Are they kept apart both at the beginning and at the end of the stretch, and so in between? */
static bool is_free(flr_fit_query *q, const flr_fit_query *end, const following *f, uint32_t patch,
                    uint32_t entry, flr_fit_guest guests[2])
{
    const flr_fit_entry *e = &q->pair->lists.entries[entry];
    const double turn = (f->end - f->begin) * flr_vec3_length(f->spin),
                 need = f->apart + flr_fit_between(q, e, patch, f->travel, turn);
    if (is_beyond(q, &guests[0], patch, entry, need) &&
        is_beyond(end, &guests[1], patch, entry, need))
        return true;
    const double radii =
        (double)q->parts[0]->patches[e->patch].radius + (double)q->parts[1]->patches[patch].radius;
    q->work += 8;
    const flr_fit_query *const both[2] = {q, end};
    return flr_fit_overhang_is_free(both, guests, patch, entry, limit_of(q, f, radii), need);
}

/* All patches in the lists that no surface keeps apart, both at the beginning and at the end of the stretch. */
static void pass_near(flr_fit_query *q, following *f)
{
    const flr_fit_lists *l = &q->pair->lists;
    const flr_fit_params params = {.reach = -1, .max_distance = -1};
    flr_fit_query end = flr_fit_begin_query(q->pair, f->T_end, &params);
    flr_fit_visitor v;
    flr_fit_guest guests[2];
    flr_fit_set_turned(&end);
    flr_fit_recall(&end);
    flr_fit_move_on(&end);
    const double turn = (f->end - f->begin) * flr_vec3_length(f->spin);
    for (uint32_t i = 0; i < q->parts[1]->counts.patches; i++) {
        if (!l->count[i]) continue;
        const float far = (float)((f->apart + (double)l->moved[i]) * (1 + 1e-6));
        bool visited = false;
        if (q->work > q->max_work) {
            q->skipped2 = 0;
            return;
        }
        q->work++;
        guests[0].received = guests[1].received = false;
        /* odometers only rise: what is sure at the end by the largest need of any entry is sure at the beginning */
        const double most = f->apart + 0.125 * (double)l->bent[i] * f->travel * f->travel +
                            turn * (double)l->more[i];
        const uint32_t first = l->first[i], last = first + l->count[i];
        for (uint32_t from = first; from < last; from += FLR_FIT_LANES) {
            uint32_t near,
                left = q->kernel->unsure(l->bounds + from, l->sure + from, lanes_to(from, last),
                                         far, end.odometer[i], (float)(most * (1 + 1e-6)), &near);
            q->work += 6 * (uint64_t)__builtin_popcount(near);
            for (; left; left &= left - 1) {
                const uint32_t entry = from + (uint32_t)__builtin_ctz(left);
                if (is_free(q, &end, f, i, entry, guests)) continue;
                if (!visited) flr_fit_visit(q, i, &v);
                visited = true;
                pass(q, l->entries[entry].patch, &v);
            }
        }
    }
}

/* Looks at a stretch; false when the budget ran out. */
static bool stretch(flr_fit_pair *pair, following *f, uint64_t *work, uint64_t max_work)
{
    const flr_fit_params params = {.reach = -1, .max_distance = -1};
    flr_pose T = flr_fit_motion_pose(f->motion, f->begin);
    T.q = flr_quat_normalize(T.q);
    f->little = f->params.tolerance * (f->end - f->begin);
    flr_fit_query q = flr_fit_begin_query(pair, T, &params);
    set_end(&q, f, f->end);
    q.max_work = max_work > *work ? max_work - *work : 0;
    q.context = f;
    if (flr_fit_follow(&q, f->apart, &f->T_end))
        pass_near(&q, f);
    else
        flr_fit_walk(&q, pass);
    *work += q.work;
    return q.skipped2 == INFINITY;
}

/* Parts that are nearer than the clearance at the start keep what they have, less the tolerance or half of it. */
static double clearance_at_start(flr_fit_pair *pair, const following *f)
{
    flr_fit_params params = flr_default_fit_params();
    flr_fit_result r;
    if (!(f->params.clearance > 0)) return 0;
    if (f->params.start >= f->params.clearance) return f->params.clearance;
    params.reach = -1;
    params.max_distance = f->params.clearance;
    params.outside = true; /* only surfaces count */
    params.budget = f->params.budget;
    flr_fit_pair_query(pair, f->motion->from, &params, NULL, 0, &r);
    f->result->work += r.work;
    if (r.complete && !r.found) return f->params.clearance;
    const double distance = fmax(r.complete ? r.distance : r.lower, 0);
    return fmax(distance - f->params.tolerance, 0.5 * distance);
}

void flr_fit_pair_motion(flr_fit_pair *pair, const flr_fit_motion *motion,
                         const flr_fit_motion_params *params, flr_fit_motion_result *result)
{
    following f = {.motion = motion,
                   .params = params ? *params : flr_default_fit_motion_params(),
                   .result = result};
    *result = (flr_fit_motion_result){.distance = INFINITY};
    result->triangle[0] = result->triangle[1] = FLR_NONE;
    if (!flr_pose_is_valid(motion->from) || !flr_pose_is_valid(motion->to) ||
        !flr_vec3_is_finite(motion->centre) || !(f.params.deviation >= 0))
        return;
    set_motion(&f, pair->parts);
    f.clearance = clearance_at_start(pair, &f);
    const uint64_t max_work = f.params.budget ? f.params.budget : UINT64_MAX;
    const double turn = flr_vec3_length(f.spin), straight = flr_vec3_length(f.velocity),
                 size = fmin(pair->parts[0]->info.size, pair->parts[1]->info.size);
    double count = ceil(fmax(turn / FLR_FIT_STRETCH, size > 0 ? straight / (0.05 * size) : 1));
    count = fmin(fmax(count, 1), MAX_STRETCHES);
    result->complete = true;
    for (double i = 0; i < count; i++) {
        f.begin = i / count;
        f.end = (i + 1) / count;
        result->free = f.end;
        if (!stretch(pair, &f, &result->work, max_work)) {
            result->complete = false;
            result->free = f.begin;
            result->blocked = false;
            return;
        }
        if (result->blocked) return;
    }
    result->free = 1;
}

void flr_fit_pair_sweep(flr_fit_pair *pair, const flr_fit_motion *motion,
                        const flr_fit_motion_params *check, const flr_fit_params *params,
                        flr_fit_contact *contacts, uint32_t capacity, flr_fit_motion_result *way,
                        flr_fit_result *there)
{
    flr_fit_pair_motion(pair, motion, check, way);
    flr_fit_begin_result(there);
    if (way->free == 1) flr_fit_ask(pair, motion->to, params, true, contacts, capacity, there);
}
