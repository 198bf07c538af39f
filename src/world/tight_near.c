/* which parts are near each other, and which of their samples the step may bring into contact */
#include <math.h>

#include "world/tight_internal.h"

#define TIGHT_SPEED_UP 1.5   /* from one step to the next */
#define SUDDEN         16e-6 /* metres: a part may go so much farther than that */
#define ADDED          4e-6  /* metres: samples may come so much nearer than their speeds tell */
#define FINELY                                                                                     \
    5e-7 /* metres: a distance may be off by this where samples may come into contact, which have their own */
#define ROUGHLY 1e-6 /* metres: a distance beyond all contact may be off by this … */
#define ROUGH   0.01 /* … or this share of it, twice that where time is short, and so on */
#define FARTHEST                                                                                   \
    64e-6 /* metres: how far beyond the onset samples are asked for, however fast a part is: what comes from farther \
             away is found by the check */

flr_pose flr_tight_between(flr_pose T_world_a, flr_pose T_world_b)
{
    flr_pose T = flr_pose_mul(flr_pose_inverse(T_world_a), T_world_b);
    T.q = flr_quat_normalize(T.q);
    return T;
}

flr_twist flr_tight_relative(const flr_world *w, const flr_tight_near *n, bool planned)
{
    const flr_vec3 centre = flr_body_centre(&w->state->bodies[n->b]);
    flr_twist sum = {0};
    for (int side = 0; side < 2; side++) {
        const uint32_t part = side ? n->b : n->a;
        const flr_body *body = &w->state->bodies[part];
        if (!w->plans[part].moves) continue;
        flr_twist twist = planned ? w->plans[part].result.twist : body->twist;
        twist = flr_twist_move(twist, flr_vec3_sub(centre, flr_body_centre(body)));
        sum = flr_twist_add(sum, flr_twist_scale(twist, side ? 1 : -1));
    }
    return sum;
}

/* Samples of tight parts slide past each other; they approach much less than they move. So it is the samples found in this step
 * that tell how fast those of the next one come, and the nearest points where there are none; the rest is for what a
 * force may add. What comes faster is found by the check. */
double flr_tight_may_come(const flr_world *w, const flr_tight_near *n)
{
    const flr_twist twist = flr_tight_relative(w, n, true);
    const flr_tight_points points = flr_tight_points_from(&w->tight->spots, n->first, n->count);
    double closing = flr_tight_points_closing(&points, twist);
    if (n->count == 0 && n->result.found) {
        const flr_vec3 at = flr_pose_apply(w->poses[n->a], n->result.point[1]);
        const flr_vec3 normal = flr_pose_apply_vector(w->poses[n->a], n->result.normal);
        const flr_vec3 arm = flr_vec3_sub(at, flr_body_centre(&w->state->bodies[n->b]));
        closing = -flr_vec3_dot(normal, flr_twist_velocity(twist, arm));
    }
    return TIGHT_SPEED_UP * fmax(0, closing) * w->def.dt + ADDED;
}

/* Boxes around all parts that touch anything, as large as they may get. */
static flr_broad_list find_pairs(flr_world *w)
{
    flr_tight *e = w->tight;
    for (uint32_t i = 0; i < e->part_count; i++) {
        flr_tight_part *p = &e->parts[i];
        bool there = p->fit && flr_world_is_solid(w, i) && flr_pose_is_valid(w->poses[i]);
        unsigned moves = w->plans[i].moves ? FLR_BROAD_MOVES : 0u;
        flr_broad_flag(e->broad, i, there ? FLR_BROAD_POINTS | FLR_BROAD_VOXELS | moves : 0u);
        flr_box3 box = flr_box3_empty();
        p->margin = INFINITY;
        if (there) {
            box = flr_box3_transform(w->poses[i], flr_fit_get_info(p->fit).bounds);
            p->margin = TIGHT_SPEED_UP * p->travel + SUDDEN + w->params.exact.range;
            box = flr_box3_grow(box, p->margin);
        }
        p->box = box;
        flr_broad_move(e->broad, i, box);
    }
    return flr_broad_update(e->broad);
}

/* metres: the distance of a pair when it was measured last; 0: it was not. */
static double distance_before(const flr_world *w, const flr_tight_near *n)
{
    if (isfinite(n->result.distance)) return n->result.distance;
    return flr_tight_memories(w, w->state)[n->slot].distance;
}

/* metres: how far off a distance may be: an eighth of it where samples may come into contact, and half a micrometre at most. Beyond that
 * it is for people, and may be as coarse as the time for it demands: half of the way to where it counts, at most. */
static double tolerance_of(const flr_world *w, const flr_tight_near *n, double reach)
{
    const double before = distance_before(w, n), beyond = before - reach;
    if (!(beyond > 0)) return fmax(FLR_TIGHT_CLEAR / 2, fmin(FINELY, before / 8));
    const uint64_t coarseness = flr_tight_memories(w, w->state)[n->slot].coarseness;
    const double share = ROUGH * (double)(1 << coarseness);
    return fmax(FLR_TIGHT_CLEAR / 2, fmin(fmax(ROUGHLY, share * before), beyond / 2));
}

flr_fit_params flr_tight_ask(const flr_world *w, const flr_tight_near *n, double far)
{
    const flr_tight_params *how = &w->params.exact;
    double tolerated = flr_tight_tolerated(w, n->a, n->b), beyond = fmin(far, FARTHEST);
    double reach = w->tight->onset + 2 * FLR_TIGHT_FLOOR + beyond;
    flr_fit_params ask = flr_default_fit_params();
    ask.reach = reach > tolerated ? reach - tolerated : 0;
    ask.max_distance = how->range;
    ask.tolerance = tolerance_of(w, n, reach);
    ask.outside = n->outside;
    return ask;
}

bool flr_tight_is_apart(const flr_world *w, const flr_tight_near *n, double reach)
{
    return distance_before(w, n) > reach + ROUGHLY;
}

void flr_tight_keep_ahead(flr_world *w, const flr_tight_near *n, flr_pose T,
                          const flr_fit_params *ask, bool listed, const flr_fit_result *found)
{
    flr_tight *e = w->tight;
    e->slots[n->slot].ahead = (flr_tight_ahead){.known = found->complete,
                                                .recent = true,
                                                .T_a_b = T,
                                                .reach = ask->reach,
                                                .range = ask->max_distance,
                                                .tolerance = ask->tolerance,
                                                .listed = listed,
                                                .result = *found,
                                                .first = e->raw_count};
    e->raw_count += found->contact_count;
}

/* metres: how far the samples of a pair that was not measured ahead may come nearer in the step. */
static double may_approach(const flr_world *w, const flr_tight_near *n)
{
    const double approach = flr_tight_memories(w, w->state)[n->slot].approach;
    double speed = 0;
    if (approach > 0) return approach;
    for (int side = 0; side < 2; side++)
        if (w->plans[side ? n->b : n->a].moves)
            speed += flr_vec3_length(w->state->bodies[side ? n->b : n->a].twist.linear);
    return speed * w->def.dt / 2 + ADDED;
}

/* Is what the step before has found of a pair what would be found now? */
static bool is_known(const flr_world *w, const flr_tight_near *n, flr_pose T)
{
    const flr_tight_ahead *a = &w->tight->slots[n->slot].ahead;
    return a->known && flr_tight_same_pose(a->T_a_b, T) && a->range == w->params.exact.range &&
           a->reach >= flr_tight_ask(w, n, 0).reach;
}

/* Measures a pair, unless that is known already. Returns its samples. */
static const flr_fit_contact *measure(flr_world *w, flr_tight_near *n, flr_pose T, double *reach,
                                      flr_world_frame *frame)
{
    flr_tight *e = w->tight;
    flr_tight_ahead *ahead = &e->slots[n->slot].ahead;
    if (is_known(w, n, T)) {
        *reach = ahead->reach;
        n->result = ahead->result;
        return ahead->recent ? e->raw[1] + ahead->first : e->raw[0] + ahead->first;
    }
    ahead->known = false;
    n->result = (flr_fit_result){.distance = INFINITY, .upper = INFINITY, .lower = -INFINITY};
    flr_fit_params ask = flr_tight_ask(w, n, may_approach(w, n)), first = ask;
    uint32_t capacity;
    flr_fit_contact *list = flr_tight_room(e, &capacity);
    *reach = ask.reach;
    if (!flr_tight_left(w, n, &ask.budget)) return list;
    bool listed = !flr_tight_is_apart(w, n, ask.reach);
    if (!listed) {
        first.reach = -1;
        first.budget = ask.budget;
        flr_fit_pair_query(e->slots[n->slot].fits, T, &first, NULL, 0, &n->result);
        flr_tight_spend(w, n, n->result.work, frame);
        listed = n->result.complete && !(n->result.lower > ask.reach);
        if (listed && !flr_tight_left(w, n, &ask.budget)) listed = n->result.complete = false;
    }
    if (listed) {
        flr_fit_pair_query(e->slots[n->slot].fits, T, &ask, list, capacity, &n->result);
        flr_tight_spend(w, n, n->result.work, frame);
    }
    flr_tight_keep_ahead(w, n, T, &ask, listed, &n->result);
    return list;
}

/* Measures a pair and makes spots of its samples. */
static void look_at(flr_world *w, flr_tight_near *n, flr_world_frame *frame)
{
    const flr_pose T = flr_tight_between(w->poses[n->a], w->poses[n->b]);
    const double tolerated = flr_tight_tolerated(w, n->a, n->b);
    double reach;
    n->slot = flr_tight_take_slot(w, n->a, n->b);
    const flr_tight_memory *m = &flr_tight_memories(w, w->state)[n->slot];
    n->outside = m->outside && flr_tight_same_pose(m->T_a_b, T);
    const flr_fit_contact *list = measure(w, n, T, &reach, frame);
    n->tolerated = flr_tight_note(w, n->a, n->b, &n->result);
    n->lower = n->result.lower + n->tolerated;
    n->outside = n->result.complete && n->result.distance > 0 && !(n->tolerated > 0);
    flr_tight_make_spots(w, n, T, list, reach + tolerated);
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

/* Samples that were found ahead are those of this step. */
static void swap_lists(flr_tight *e)
{
    flr_fit_contact *raw = e->raw[0];
    e->raw[0] = e->raw[1], e->raw[1] = raw;
    e->raw_count = 0;
    for (uint32_t i = 0; i < e->slot_count; i++) {
        flr_tight_ahead *ahead = &e->slots[i].ahead;
        ahead->known = ahead->known && ahead->recent;
        ahead->recent = false;
    }
}

/* Parts in pairs for which there was no room: those pairs come after the last one that is listed. */
static void find_unexamined(flr_world *w, const flr_broad_list *found)
{
    flr_tight *e = w->tight;
    for (uint32_t i = 0; i < e->part_count; i++) e->parts[i].unexamined = false;
    if (found->dropped == 0) return;
    const uint64_t last = found->count ? found->keys[found->count - 1] : 0;
    for (uint32_t high = (uint32_t)(last >> 32); high < e->part_count; high++)
        for (uint32_t low = 0; low < high; low++) {
            if (found->count && ((uint64_t)high << 32 | low) <= last) continue;
            if (!flr_box3_overlap(e->parts[low].box, e->parts[high].box)) continue;
            e->parts[low].unexamined = e->parts[high].unexamined = true;
        }
}

static void count_contacts(const flr_world *w, const flr_tight_near *n, flr_world_frame *frame)
{
    const float *depth = w->tight->spots.depth + n->first;
    const float onset = (float)w->tight->onset;
    for (uint32_t k = 0; k < n->count; k++) {
        frame->contacts += depth[k] > 0;
        frame->penetrations += depth[k] > onset;
    }
}

void flr_tight_near_update(flr_world *w, flr_world_frame *frame)
{
    flr_tight *e = w->tight;
    const flr_broad_list found = find_pairs(w);
    e->near_count = e->spots.count = 0;
    swap_lists(e);
    find_unexamined(w, &found);
    frame->exhausted += found.dropped < UINT32_MAX ? (uint32_t)found.dropped : UINT32_MAX;
    for (size_t i = 0; i < found.count; i++) {
        uint32_t high = (uint32_t)(found.keys[i] >> 32), low = (uint32_t)found.keys[i];
        if (!flr_links_may_touch(w, low, high)) continue;
        const bool swap = !w->plans[high].moves;
        e->nears[e->near_count++] =
            (flr_tight_near){.a = swap ? high : low, .b = swap ? low : high, .checked = -1};
    }
    /* another one is first in each step, so that none of them lacks time again and again */
    e->first_near = e->near_count ? (uint32_t)(w->state->number % e->near_count) : 0;
    for (uint32_t i = 0; i < e->near_count; i++) {
        const uint32_t at = (e->first_near + i) % e->near_count;
        flr_tight_near *n = &e->nears[at];
        look_at(w, n, frame);
        report(w, n, &e->gaps[at]);
        frame->lower = fmin(frame->lower, n->result.lower);
        frame->upper = fmin(frame->upper, n->result.upper);
        n->exhausted = !n->result.complete;
        frame->exhausted += n->exhausted;
        count_contacts(w, n, frame);
    }
    frame->pairs = e->near_count;
}
