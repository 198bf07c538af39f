/* ways: where bodies would go in a step, and how far that way is free */
#include <math.h>
#include <string.h>

#include "world/world_internal.h"

#define BEFORE 1e-3 /* voxels: a body stops so far before what stops it, for the sake of rounding */
#define MOTION_CHECKS_CLEAR                                                                        \
    0.875 /* voxels of distance beyond layer 1: no voxel of it reaches out, and a point can slide */
#define REST                1e-6 /* voxels: who moves less in a step rests */
#define MOTION_CHECKS_HALF  0.5  /* voxels: what contact alone keeps safe in a step */
#define MOTION_CHECKS_PRESS 0.01 /* voxels: the depth that is given to what stops a body */
enum {
    MOTION_CHECKS_FIRM = 2, /* stops, before contacts give way to them */
    SLIDES = 8,             /* ways that are tried so that a body slides along its stops */
    STAIRS = 2,             /* the same where the layer is not smooth, which leads less far */
    PASSES = 4,             /* over pairs of moving bodies that stop each other */
    SHARED_CHECKS = 8       /* from so many on, threads share the checks of a pass */
};

/* ---- plans ---- */

/* How much the body gives way to a push, a wrench about `point`: the push times the change of velocity that it causes. */
static double yielding(const flr_world *w, uint32_t part, flr_vec3 point, flr_wrench push)
{
    const flr_body *body = &w->state->bodies[part];
    flr_world_plan *p = &w->plans[part];
    if (!p->turns_known && !flr_mat3_inverse(flr_body_tensor(body), &p->slackness))
        p->slackness = (flr_mat3){0};
    p->turns_known = true;
    flr_wrench at = flr_wrench_move(push, flr_vec3_sub(flr_body_centre(body), point));
    flr_twist open = flr_constraints_free(w, part, flr_twist_make(at.torque, at.force));
    at = flr_wrench_make(open.angular, open.linear);
    double turns = flr_vec3_dot(at.torque, flr_mat3_apply(p->slackness, at.torque));
    return flr_vec3_length2(at.force) / body->inertia.mass + turns;
}

flr_world_met flr_world_meet(const flr_world *w, uint32_t part, uint32_t other, flr_vec3 point,
                             flr_wrench push)
{
    flr_world_met met = {0};
    if (other == FLR_PAIRS_MERGED || !w->plans[other].moves) return met;
    const flr_body *a = &w->state->bodies[part], *b = &w->state->bodies[other];
    met.twist = flr_twist_make(b->twist.angular, flr_body_velocity(b, point));
    if (!w->plans[part].moves) return met;
    double mine = yielding(w, part, point, push), theirs = yielding(w, other, point, push);
    double share = theirs / (mine + theirs);
    if (!(share > 0 && share < 1)) return met;
    flr_twist own = flr_twist_make(a->twist.angular, flr_body_velocity(a, point));
    met.twist = flr_twist_add(flr_twist_scale(own, share), flr_twist_scale(met.twist, 1 - share));
    met.share = share;
    return met;
}

static double voxel_of_pair(const flr_world *w, flr_pair pair)
{
    return pair.voxmap == FLR_PAIRS_MERGED ? w->merged_voxel : w->voxels[pair.voxmap];
}

/* Gives a body what its pairs found. */
static void touch(flr_world *w, uint32_t part)
{
    uint32_t count, touching_count, contact_count;
    const flr_pair_result *results = flr_pairs_results(w->pairs, &count);
    const uint32_t *touching = flr_pairs_touching(w->pairs, part, &touching_count);
    const flr_contact *contacts = flr_pairs_contacts(w->pairs, &contact_count);
    /* below layer 2 nothing is kept apart, and a part may lie in its seat; where the way is not free, that limits a part that is
     * wedged, and contacts which are deeper than they may be must not push it there */
    bool firm = w->params.contact.force_layer > 1 && w->plans[part].stop_count < MOTION_CHECKS_FIRM;
    double depth = firm ? w->params.depth : fmax(w->params.depth, MOTION_CHECKS_HALF);
    for (uint32_t i = 0; i < touching_count; i++) {
        const flr_pair_result *r = &results[touching[i]];
        bool reversed = r->pair.voxmap == part;
        flr_vec3 centre = flr_body_centre(&w->state->bodies[r->pair.shell]);
        /* what pushes, or brakes */
        const flr_wrench push = r->contact.contacts
                                    ? r->contact.wrench
                                    : flr_wrench_make(r->contact.braking_turn, r->contact.braking);
        const flr_world_met met =
            flr_world_meet(w, part, reversed ? r->pair.shell : r->pair.voxmap, centre, push);
        flr_touches touches = {.list = r->contact.listed ? contacts + r->first : NULL,
                               .result = &r->contact,
                               .asked = &w->params.contact,
                               .reversed = reversed,
                               .centre = centre,
                               .other = met.twist,
                               .other_share = met.share,
                               .limit = depth * voxel_of_pair(w, r->pair),
                               .friction = w->params.friction};
        flr_step_touch(w->step, &touches);
    }
}

/* Gives a body what its way would meet: a contact that may get no deeper than the gap, so that the body slides along it. */
static void touch_stops(flr_world *w, const flr_world_plan *p)
{
    for (uint32_t i = 0; i < p->stop_count; i++) {
        const flr_world_stop *s = &p->stops[i];
        flr_contact_result one = {.contacts = 1, .listed = 1};
        flr_touches touches = {.list = &s->contact,
                               .result = &one,
                               .asked = &w->params.contact,
                               .reversed = s->reversed,
                               .centre = s->contact.point,
                               .other = s->other.twist,
                               .other_share = s->other.share,
                               .limit = s->limit,
                               .friction = w->params.friction};
        flr_step_touch(w->step, &touches);
    }
}

/* Gives a body what points push it with: a spring from the hand to where it touches, as it will be at the end of the step. */
void flr_motion_checks_touch_points(flr_world *w, uint32_t part)
{
    for (uint32_t i = 0; i < w->def.hand_count; i++) {
        const flr_world_hand_state *hand = &w->state->hands[i];
        for (uint32_t k = 0; hand->tool == FLR_TOOL_POINT && k < hand->point.push_count; k++) {
            const flr_point_push *push = &hand->point.pushes[k];
            double force = flr_vec3_length(push->force);
            if (push->part != part || !(force > 0) || !(w->params.proxy.stiffness > 0)) continue;
            flr_contact contact = {.point = hand->point.shown.position,
                                   .normal = flr_vec3_scale(push->force, 1 / force),
                                   .depth = force / w->params.proxy.stiffness,
                                   .mark = FLR_MARK_SURFACE};
            flr_contact_result one = {.contacts = 1, .listed = 1};
            flr_contact_params asked = w->params.contact;
            asked.stiffness = w->params.proxy.stiffness;
            flr_touches touches = {.list = &contact,
                                   .result = &one,
                                   .asked = &asked,
                                   .centre = contact.point,
                                   .other =
                                       flr_twist_make(flr_vec3_zero(), hand->handle.twist.linear),
                                   .limit = INFINITY};
            one.wrench = flr_wrench_make(flr_vec3_zero(), push->force);
            flr_step_touch(w->step, &touches);
        }
    }
}

/* Metres that a part may go by the travel limits of its pairs, half where both of them move. */
static double travel_of(const flr_world *w, uint32_t part)
{
    uint32_t count;
    const flr_pair_result *results = flr_pairs_results(w->pairs, &count);
    double most = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        const flr_pair pair = results[i].pair;
        if (!(results[i].max_travel < INFINITY) || (pair.shell != part && pair.voxmap != part))
            continue;
        const uint32_t other = pair.shell == part ? pair.voxmap : pair.shell;
        const bool both = other != FLR_PAIRS_MERGED && w->plans[other].moves;
        most = fmin(most, results[i].max_travel * (both ? 0.5 : 1));
    }
    return most;
}

/* Gives the step all that acts on a part. */
static void act(flr_world *w, uint32_t part)
{
    flr_constraints_act(w, part);
    touch(w, part);
    touch_stops(w, &w->plans[part]);
    flr_motion_checks_touch_points(w, part);
    flr_hands_pull(w, part);
    if (flr_couplings_pull(w, part)) flr_couplings_act(w, part);
}

/* Works out where the parts go that are linked with one. */
static void plan_linked(flr_world *w, uint32_t part, double range, flr_world_frame *frame)
{
    uint32_t count;
    const uint32_t *members = flr_links_members(w, &part, &count);
    flr_step_params how = w->params.step;
    for (uint32_t i = 0; i < count && w->params.engine == FLR_ENGINE_COHERENT; i++)
        how.travel = fmin(how.travel, travel_of(w, members[i]));
    flr_links_begin(w, part, &how);
    for (uint32_t i = 0; i < count; i++) {
        flr_links_enter(w, members[i]);
        act(w, members[i]);
    }
    flr_links_solve(w, part);
    double fraction = w->plans[part].fraction;
    for (uint32_t i = 0; i < count; i++) {
        const flr_world_plan *p = &w->plans[members[i]];
        if (w->voxel > 0)
            fraction =
                fmin(fraction, flr_motion_fraction(p->result.motion,
                                                   w->state->bodies[members[i]].reach, range / 2));
        frame->faults |= p->result.faults;
        if (p->result.deepest > frame->deepest) frame->deepest = p->result.deepest;
    }
    w->plans[part].fraction = fraction;
    w->plans[part].limited = fraction < 1;
    flr_links_share(w, part);
}

void flr_motion_checks_plan(flr_world *w, uint32_t part, double range, flr_world_frame *frame)
{
    if (flr_links_is_linked(w, part)) {
        plan_linked(w, part, range, frame);
        return;
    }
    flr_world_plan *p = &w->plans[part];
    const flr_body *body = &w->state->bodies[part];
    flr_step_params how = w->params.step;
    if (w->params.engine == FLR_ENGINE_COHERENT) how.travel = fmin(how.travel, travel_of(w, part));
    if (flr_couplings_pull(w, part) && !flr_world_is_held(w, part))
        how.gravity = flr_vec3_zero(); /* whoever holds it elsewhere bears it */
    flr_step_begin(w->step, body, &how);
    act(w, part);
    flr_step_solve(w->step, &p->result);
    /* both of a pair may go half of the way that the pairs were made for; without voxels there are none */
    double most = w->voxel > 0 ? flr_motion_fraction(p->result.motion, body->reach, range / 2) : 1;
    p->fraction = p->result.fraction < most ? p->result.fraction : most;
    p->limited = p->fraction < 1;
    frame->faults |= p->result.faults;
    if (p->result.deepest > frame->deepest) frame->deepest = p->result.deepest;
}

/* ---- checks ---- */

/* Where a part would be at the end of the step. */
static flr_pose end_of(flr_world *w, uint32_t part)
{
    flr_world_plan *p = &w->plans[part];
    if (!p->moves) return w->poses[part];
    const flr_motion *now = &p->result.motion;
    if (p->end_fraction != p->fraction || memcmp(&p->to_end, now, sizeof *now) != 0) {
        p->T_end = flr_motion_apply(&w->state->bodies[part], *now, p->fraction);
        p->to_end = *now;
        p->end_fraction = p->fraction;
    }
    return p->T_end;
}

/* Notes a stop for one of the two bodies of a pair. */
static void note_stop(flr_world *w, uint32_t part, uint32_t other, const flr_world_stop *found,
                      bool reversed)
{
    flr_world_plan *p = &w->plans[part];
    if (!p->moves || p->stop_count == FLR_WORLD_STOPS) return;
    flr_world_stop *to = &p->stops[p->stop_count++];
    *to = *found;
    to->reversed = reversed;
    to->other = flr_world_meet(w, part, other, found->contact.point,
                               flr_wrench_make(flr_vec3_zero(), found->contact.normal));
    p->again = true;
}

/* Notes for both bodies of a pair that a point may go no farther than `gap` against a normal. */
static void note_gap(flr_world *w, flr_pair pair, const flr_contact *contact, double gap)
{
    bool merged = pair.voxmap == FLR_PAIRS_MERGED;
    double least = BEFORE * voxel_of_pair(w, pair),
           depth = MOTION_CHECKS_PRESS * voxel_of_pair(w, pair);
    flr_world_stop s = {.contact = *contact, .limit = depth + gap - least};
    s.contact.depth = depth;
    s.contact.mark = FLR_MARK_SURFACE;
    if (!(s.limit > depth / 2)) s.limit = depth / 2;
    note_stop(w, pair.shell, pair.voxmap, &s, false);
    if (!merged) note_stop(w, pair.voxmap, pair.shell, &s, true);
}

/* What a motion check ran into, as it is at the beginning of the step. */
static void note(flr_world *w, flr_pair pair, flr_pose_span shell, flr_pose_span voxmap,
                 const flr_motion_check_result *found)
{
    /* the whole motion's end shows several planes; where it stops shows the right one */
    for (uint32_t i = 0; w->pass % 2 == 1 && i < found->plane_count; i++) {
        const flr_motion_check_plane *p = &found->planes[i];
        flr_contact contact = {
            .point = p->point, .normal = p->normal, .index = p->index, .label = p->label};
        note_gap(w, pair, &contact, p->gap);
    }
    if (found->plane_count > 0 && w->pass % 2 == 1) return;
    bool smooth = w->params.contact.force_layer > 1; /* the normal is that of the voxmap's layer */
    flr_pose T_shell, T_voxmap;
    flr_motion_check_poses(shell, voxmap, w->state->bodies[pair.shell].inertia.centre,
                           found->fraction, &T_shell, &T_voxmap);
    flr_pose back = flr_pose_mul(shell.from, flr_pose_inverse(T_shell)),
             met = flr_pose_mul(voxmap.from, flr_pose_inverse(T_voxmap));
    flr_contact contact = {.point = flr_pose_apply(back, found->point),
                           .normal = flr_quat_rotate(smooth ? met.q : back.q, found->normal),
                           .index = found->index,
                           .label = found->label};
    flr_vec3 away = flr_vec3_sub(contact.point, flr_pose_apply(met, found->point));
    note_gap(w, pair, &contact, flr_vec3_dot(contact.normal, away));
}

/* Shortens a way, and says so. */
static void shorten(flr_world *w, uint32_t part, double fraction)
{
    if (part == FLR_PAIRS_MERGED || !w->plans[part].moves) return;
    w->plans[part].fraction *= fraction;
    w->plans[part].stopped = true;
    w->plans[part].newest = w->pass + 1;
    flr_links_share(w, part);
}

/* Has the way of one of them changed since they were checked? */
static bool is_new(const flr_world *w, flr_pair pair)
{
    return w->plans[pair.shell].newest >= w->pass ||
           (pair.voxmap != FLR_PAIRS_MERGED && w->plans[pair.voxmap].newest >= w->pass);
}

/* How the ways of a pass are checked. */
static flr_motion_check_params params_of(const flr_world *w, bool last)
{
    /* what lies below the force layer: with layer 2 and more, where exact surfaces may meet. With less they may meet anyway,
     * and points that nobody pushes out must not hold the part: only fast motion is checked */
    const unsigned layer = w->params.contact.force_layer;
    flr_motion_check_params check = flr_default_motion_check_params();
    check.layer = layer > 1 ? 1 : 0;
    check.interior = layer == 0;
    check.margin = layer > 1 ? MOTION_CHECKS_CLEAR : 0;
    check.planes = !last && w->pass % 2 == 1;
    check.unchecked =
        layer > 1 ? w->params.unchecked : fmax(w->params.unchecked, MOTION_CHECKS_HALF);
    if (w->budget) check.budget = w->budget > w->spent ? w->budget - w->spent : 1;
    return check;
}

/* Metres that the two of a pair move against each other, at most; 0: so little that it is not checked. */
static double travel_of_pair(const flr_world *w, flr_pair pair, double unchecked)
{
    bool merged = pair.voxmap == FLR_PAIRS_MERGED;
    double travel = flr_motion_checks_travel(w, pair.shell) +
                    (merged ? 0 : flr_motion_checks_travel(w, pair.voxmap));
    return travel > fmax(unchecked, REST) * voxel_of_pair(w, pair) ? travel : 0;
}

static flr_pair_motion motion_of(flr_world *w, flr_pair pair)
{
    bool merged = pair.voxmap == FLR_PAIRS_MERGED;
    return (flr_pair_motion){pair, end_of(w, pair.shell),
                             merged ? flr_pose_identity() : end_of(w, pair.voxmap)};
}

static bool budget_is_spent(const flr_world *w) { return w->budget && w->spent >= w->budget; }

/* Several threads check the ways of this pass, all at once, as if each had what is left of the budget. The first and the last
 * wait for their turn: they leave behind what one thread would. */
static void check_ahead(flr_world *w, const flr_pair_result *results, uint32_t count)
{
    const flr_motion_check_params check = params_of(w, false);
    w->ahead_count = w->ahead_next = 0;
    if (!w->ahead || budget_is_spent(w)) return;
    bool first = true;
    for (uint32_t i = 0; i < count && w->ahead_count < FLR_WORLD_AHEAD; i++) {
        const flr_pair pair = results[i].pair;
        if (!is_new(w, pair) || travel_of_pair(w, pair, check.unchecked) == 0) continue;
        if (!first) w->ahead[w->ahead_count++] = motion_of(w, pair);
        first = false;
    }
    if (w->ahead_count > 0) w->ahead_count--;
    if (w->ahead_count < SHARED_CHECKS) w->ahead_count = 0;
    flr_pairs_check_motions(w->pairs, w->ahead, w->ahead_count, &check, w->ahead_found);
}

/* What was found ahead of time for a pair whose way is still the same, if the budget suffices for it; NULL: nothing. */
static const flr_motion_check_result *found_ahead(flr_world *w, flr_pair pair)
{
    const flr_pair_motion *ahead = w->ahead;
    /* a pair that became new in this pass is not among them; both lists have the same order */
    for (uint32_t i = w->ahead_next; i < w->ahead_count; i++) {
        if (ahead[i].pair.shell != pair.shell || ahead[i].pair.voxmap != pair.voxmap) continue;
        w->ahead_next = i + 1;
        const bool changed =
            w->plans[pair.shell].newest > w->pass ||
            (pair.voxmap != FLR_PAIRS_MERGED && w->plans[pair.voxmap].newest > w->pass);
        const flr_motion_check_result *found = &w->ahead_found[i];
        if (changed || (w->budget && !(found->spent < w->budget - w->spent))) return NULL;
        return found;
    }
    return NULL;
}

/* Checks the way of one pair; true when something is in it: then its bodies are to go another way, or else (`last`) only as
 * far as it is free. */
static bool check_pair(flr_world *w, flr_pair pair, bool last, flr_world_frame *frame)
{
    const flr_motion_check_params check = params_of(w, last);
    const double travel = travel_of_pair(w, pair, check.unchecked), voxel = voxel_of_pair(w, pair);
    if (travel == 0) return false;
    const flr_pair_motion motion = motion_of(w, pair);
    flr_motion_check_result found = {.exhausted = true};
    if (!budget_is_spent(w)) {
        const flr_motion_check_result *ahead = last ? NULL : found_ahead(w, pair);
        if (ahead)
            found = *ahead;
        else
            flr_pairs_check_motion(w->pairs, pair, motion.T_world_shell, motion.T_world_voxmap,
                                   &check, &found);
        w->spent += found.spent;
        frame->points_tested += found.lookups;
    }
    if (found.exhausted) { /* what contact alone keeps safe */
        frame->exhausted++;
        found.fraction = fmin(1, MOTION_CHECKS_HALF * voxel / travel);
        if (!(found.fraction < 1)) return false;
        shorten(w, pair.shell, found.fraction);
        shorten(w, pair.voxmap, found.fraction);
        return true;
    }
    if (!(found.fraction < 1)) return false;
    if (!last) {
        const flr_pose still = flr_pose_identity();
        const flr_pose_span shell = {w->poses[pair.shell], motion.T_world_shell},
                            voxmap = {pair.voxmap == FLR_PAIRS_MERGED ? still
                                                                      : w->poses[pair.voxmap],
                                      motion.T_world_voxmap};
        if (found.stopped || found.plane_count > 0) note(w, pair, shell, voxmap, &found);
        return true;
    }
    double fraction = fmax(0, found.fraction - BEFORE * voxel / travel);
    shorten(w, pair.shell, fraction);
    shorten(w, pair.voxmap, fraction);
    return true;
}

void flr_motion_checks_check(flr_world *w, double range, flr_world_frame *frame)
{
    uint32_t count;
    const flr_pair_result *results = flr_pairs_results(w->pairs, &count);
    /* forces as they are at the beginning know no limits along which to slide */
    int slides = w->params.step.integrator == FLR_INTEGRATOR_EXPLICIT ? 0
                 : w->params.contact.force_layer > 1                  ? SLIDES
                                                                      : STAIRS;
    bool again = count > 0 && w->params.unchecked < INFINITY;
    for (w->pass = 0; again && w->pass < slides + PASSES; w->pass++) {
        bool last = w->pass >= slides;
        again = false;
        if (!last) check_ahead(w, results, count);
        for (uint32_t i = 0; i < count; i++)
            if (is_new(w, results[i].pair)) again |= check_pair(w, results[i].pair, last, frame);
        for (uint32_t k = 0; again && k < w->active_count; k++) {
            flr_world_plan *p = &w->plans[w->active[k]];
            if (!p->again) continue;
            p->again = false;
            p->newest = w->pass + 1;
            flr_motion_checks_plan(w, w->active[k], range, frame);
            flr_links_share(w, w->active[k]);
        }
    }
    for (uint32_t k = 0; again && k < w->active_count; k++)
        w->plans[w->active[k]].fraction = 0, w->plans[w->active[k]].stopped = true;
}
