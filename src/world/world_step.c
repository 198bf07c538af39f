/* a step of the world: from the state before it and the hands' poses alone */
#include <math.h>
#include <string.h>

#include "world/world_internal.h"

#define SMOOTHING    0.002 /* s: over which a hand's velocity is averaged when it is not measured */
#define FRAME_MARGIN 8.0   /* voxels: pairs this near are asked, so that distances are known */
#define SPEED_UP     1.5 /* from one frame to the next, besides a voxel; more is a jump, not a motion */
#define AROUND       16.0 /* voxels: beyond its way, how far around a point anything is looked at */
#define FRAME_SLOW                                                                                 \
    0.005 /* m/s: sphere engine: what touches something and is slower for FRAME_CALM s may rest */
#define FRAME_CALM 0.05

/* ---- hands ---- */

/* Where the hand is now and how fast. Returns a fault when the device speaks nonsense. */
static unsigned follow(flr_world_hand_state *hand, const flr_world_input *in, double dt)
{
    flr_twist still = flr_twist_make(flr_vec3_zero(), flr_vec3_zero());
    flr_handle *handle = &hand->handle;
    unsigned fault = in->fresh && !flr_pose_is_valid(in->T_world_hand) ? FLR_STEP_FAULT_HANDLE : 0;
    if (fault || !in->fresh) {
        handle->twist = still;
        return fault;
    }
    flr_pose before = handle->T_world_handle;
    handle->T_world_handle = in->T_world_hand;
    if (in->has_twist && flr_vec3_is_finite(in->twist.linear) &&
        flr_vec3_is_finite(in->twist.angular)) {
        handle->twist = in->twist;
    } else if (!hand->seen) {
        handle->twist = still;
    } else {
        flr_quat turn = flr_quat_mul(in->T_world_hand.q, flr_quat_conjugate(before.q));
        flr_vec3 linear = flr_vec3_scale(flr_vec3_sub(in->T_world_hand.p, before.p), 1 / dt);
        flr_vec3 angular = flr_vec3_scale(flr_quat_to_rotation_vector(turn), 1 / dt);
        double share = dt / (SMOOTHING + dt);
        handle->twist.linear = flr_vec3_add_scaled(handle->twist.linear, share,
                                                   flr_vec3_sub(linear, handle->twist.linear));
        handle->twist.angular = flr_vec3_add_scaled(handle->twist.angular, share,
                                                    flr_vec3_sub(angular, handle->twist.angular));
    }
    hand->seen = true;
    return 0;
}

/* What a hand feels that touches with a point. */
static flr_wrench feel_point(flr_world *w, uint32_t index, flr_world_frame *frame)
{
    flr_world_hand_state *hand = &w->state->hands[index];
    if (!hand->seen) return flr_wrench_make(flr_vec3_zero(), flr_vec3_zero());
    flr_points_step(w->points, &hand->point, hand->handle.T_world_handle.p, &w->params.proxy,
                    w->poses, w->state->bodies);
    const flr_world_point *shown = &hand->point.shown;
    /* a point feels no torque: how the device turns is nothing to its port */
    flr_pose straight = flr_pose_identity();
    straight.p = hand->handle.T_world_handle.p;
    frame->touching += shown->touching;
    frame->segments += shown->queries;
    w->felt[index] = flr_wrench_make(flr_vec3_zero(), shown->force);
    return flr_passivity_pass(&hand->passivity, &w->params.passivity, straight, w->felt[index],
                              w->def.dt);
}

/* Every hand gets what it shall feel. */
static void feel(flr_world *w, flr_world_frame *frame)
{
    for (uint32_t i = 0; i < w->def.hand_count; i++) {
        flr_world_hand_state *hand = &w->state->hands[i];
        if (hand->tool == FLR_TOOL_POINT) {
            hand->wrench = feel_point(w, i, frame);
            continue;
        }
        if (hand->part == FLR_NO_PART || hand->waiting) {
            hand->wrench = flr_wrench_make(flr_vec3_zero(), flr_vec3_zero());
            continue;
        }
        hand->coupling.pulled = flr_couplings_pull(w, hand->part) || flr_guides_draw(w, i);
        const bool touching =
            w->plans[hand->part].result.touching > 0 || flr_links_is_jointed(w, hand->part);
        w->felt[i] = flr_coupling_feel(&hand->coupling, &w->state->bodies[hand->part],
                                       &hand->handle, touching, w->def.dt);
        hand->wrench = flr_passivity_pass(&hand->passivity, &w->params.passivity,
                                          hand->handle.T_world_handle, w->felt[i], w->def.dt);
    }
}

/* ---- the report of a step ---- */

/* The hash before, the bodies and the hands' wrenches as numbers: no padding gets into it. Those of the bodies are there. */
static flr_hash chain(flr_world *w)
{
    memcpy(w->numbers, &w->state->hash, sizeof(flr_hash));
    double *to = w->numbers + 2 + 13 * (size_t)w->row_count;
    for (uint32_t i = 0; i < w->def.hand_count; i++) {
        to = flr_world_number_vec3(to, w->state->hands[i].wrench.force);
        to = flr_world_number_vec3(to, w->state->hands[i].wrench.torque);
        if (w->state->hands[i].tool == FLR_TOOL_POINT)
            to = flr_world_number_vec3(to, w->state->hands[i].point.shown.position);
    }
    if (w->state->coupling_end) to = flr_couplings_number(w, to);
    return flr_hash_bytes(w->numbers, (size_t)(to - w->numbers) * sizeof *to);
}

/* What all pairs said together. */
static void sum_up(flr_world *w, flr_world_frame *frame)
{
    uint32_t count;
    const flr_pair_result *results = flr_pairs_results(w->pairs, &count);
    frame->pairs = count;
    for (uint32_t i = 0; i < count; i++) {
        const flr_contact_result *c = &results[i].contact;
        frame->points_tested += c->points_tested;
        frame->contacts += c->contacts;
        frame->penetrations += c->penetrations;
        if (c->lower < frame->lower) frame->lower = c->lower;
        if (c->upper < frame->upper) frame->upper = c->upper;
        frame->waiting += results[i].waiting;
        frame->late += results[i].late;
        frame->max_travel = fmin(frame->max_travel, results[i].max_travel);
    }
}

/* ---- the two engines: from what acts on the bodies to where they are at the end of the step ---- */

/* Forces of shells in voxmaps, and ways that are free. */
static void step_shell(flr_world *w, double range, flr_world_frame *frame)
{
    flr_pairs_query(w->pairs, w->twists);
    sum_up(w, frame);
    for (uint32_t i = 0; i < w->active_count; i++)
        if (flr_links_plans(w, w->active[i])) flr_motion_checks_plan(w, w->active[i], range, frame);
    w->spent = 0;
    flr_motion_checks_check(w, range, frame);
    for (uint32_t i = 0; i < w->active_count; i++) {
        const uint32_t part = w->active[i];
        const flr_world_plan *p = &w->plans[part];
        if (!flr_links_is_linked(w, part))
            flr_step_move(&p->result, p->fraction, &w->state->bodies[part]);
        else if (flr_links_plans(w, part))
            flr_links_move(w, part, false);
    }
}

static double turning_energy(const flr_body *body)
{
    return 0.5 * flr_vec3_dot(body->twist.angular,
                              flr_mat3_apply(flr_body_tensor(body), body->twist.angular));
}

/* What a step of finite length adds to a turn, 1e-8 of it, is taken out. */
static void keep_energy(flr_body *body, double before)
{
    double after = turning_energy(body);
    if (after > before)
        body->twist.angular = flr_vec3_scale(body->twist.angular, sqrt(before / after));
}

/* Moves a body by what the impulses left. A way that is too long is shortened, the velocity stays: so does momentum. */
static void move_hit(flr_world *w, uint32_t part, double range)
{
    flr_world_plan *p = &w->plans[part];
    flr_body *body = &w->state->bodies[part];
    flr_impacts_part hit = flr_impacts_get(w->impacts, part);
    p->result.touching = hit.contacts;
    body->twist = flr_constraints_free(w, part, hit.twist);
    flr_twist shift = flr_twist_make(hit.shift.turn, hit.shift.shift);
    shift = flr_constraints_free(w, part, shift);
    hit.shift = (flr_motion){shift.angular, shift.linear};
    double before = turning_energy(body);
    flr_motion drift = flr_body_drift(body, w->def.dt);
    double most = fmin(fmin(hit.room, range / 2), w->params.step.travel);
    flr_motion whole = {flr_vec3_add(drift.turn, hit.shift.turn),
                        flr_vec3_add(drift.shift, hit.shift.shift)};
    p->fraction = flr_motion_fraction(whole, body->reach, most);
    p->limited = p->fraction < 1;
    p->result.motion = whole;
    drift.turn = flr_vec3_scale(drift.turn, p->fraction);
    drift.shift = flr_vec3_scale(drift.shift, p->fraction);
    flr_body_move(body, drift, 1);
    /* the shift takes the velocity of a turn along, so that it gives no energy */
    flr_vec3 turn = flr_vec3_scale(hit.shift.turn, p->fraction);
    body->T_world_part = flr_motion_apply(body, hit.shift, p->fraction);
    body->twist.angular = flr_quat_rotate(flr_quat_from_rotation_vector(turn), body->twist.angular);
    keep_energy(body, before);
    double *slow = &flr_world_slow(w->state, w->def.part_count)[part];
    bool is_slow = 2 * flr_body_energy(body) < body->inertia.mass * FRAME_SLOW * FRAME_SLOW;
    *slow = hit.contacts && is_slow ? *slow + w->def.dt : 0;
}

static void give_impacts(flr_world *w, uint32_t part)
{
    const flr_world_plan *p = &w->plans[part];
    bool calm = flr_world_slow(w->state, w->def.part_count)[part] > FRAME_CALM;
    flr_impacts_set_body(w->impacts, part, &w->state->bodies[part], p->result.twist, p->moves,
                         calm);
}

/* Impulses between sphere trees. What pulls a body is worked out as if nothing were in its way. */
static void step_spheres(flr_world *w, const flr_pairs_report *near, double range,
                         flr_world_frame *frame)
{
    for (uint32_t i = 0; i < w->active_count; i++) {
        flr_motion_checks_plan(w, w->active[i], range, frame);
        give_impacts(w, w->active[i]);
    }
    for (uint32_t i = 0; i < near->count; i++) { /* what does not move and may be met */
        const uint32_t both[2] = {near->pairs[i].shell, near->pairs[i].voxmap};
        for (int k = 0; k < 2; k++)
            if (both[k] < w->def.part_count && !w->plans[both[k]].moves) give_impacts(w, both[k]);
    }
    flr_impulse_params how = flr_default_impulse_params();
    how.restitution = w->params.restitution;
    how.friction = w->params.friction;
    how.dt = w->def.dt;
    flr_impacts_report found;
    flr_impacts_resolve(w->impacts, near->pairs, near->count, &how, w->budget, &found);
    for (uint32_t i = 0; i < w->active_count; i++) move_hit(w, w->active[i], range);
    frame->pairs = near->count;
    frame->points_tested = found.tests;
    frame->contacts = found.contacts;
    frame->penetrations = found.deep;
    frame->exhausted = found.coarse;
    frame->deepest = found.deepest;
    if (near->count) frame->lower = 0;
    if (found.contacts) frame->upper = 2 * sqrt(3) * w->coarsest_voxel;
}

/* How near bodies may come in this step, and a little more. */
static double range_of(const flr_world *w)
{
    return 2 * (SPEED_UP * w->state->travel + w->voxel) + FRAME_MARGIN * w->voxel;
}

/* Voxels that the step would look at are not there: it does not happen, and hands feel nothing. */
static void suspend(flr_world *w, flr_world_frame *frame)
{
    for (uint32_t i = 0; i < w->def.hand_count; i++)
        w->state->hands[i].wrench = flr_wrench_make(flr_vec3_zero(), flr_vec3_zero());
    frame->missing = true;
    frame->hash = w->state->hash;
}

bool flr_world_ready(flr_world *w)
{
    bool ready = flr_pages_begin(w->pages, w->state->bodies, range_of(w) + AROUND * w->voxel);
    flr_pages_end(w->pages);
    return ready;
}

/* ---- the step ---- */

/* Reads the inputs; writes where hands are and how fast, and closes those that wait for a pose around their parts. */
static void follow_hands(flr_world *w, const flr_world_input *inputs, flr_world_frame *frame)
{
    for (uint32_t i = 0; i < w->def.hand_count; i++) {
        flr_world_hand_state *hand = &w->state->hands[i];
        if (inputs[i].has_sent) flr_passivity_sent(&hand->passivity, inputs[i].sent);
        frame->faults |= follow(hand, &inputs[i], w->def.dt);
        if (hand->waiting && hand->seen) {
            flr_world_take(w, hand);
            if (hand->part != FLR_NO_PART)
                flr_pairs_set_moving(w->pairs, hand->part, flr_world_is_moving(w, hand->part));
        }
    }
}

/* Puts a part, and what moves with it, into the list of those that move, which is rising. */
static void activate(flr_world *w, uint32_t part)
{
    if (part >= w->def.part_count || w->plans[part].moves || !flr_world_is_moving(w, part)) return;
    uint32_t count;
    const uint32_t *members = flr_links_members(w, &part, &count);
    for (uint32_t i = 0; i < count; i++) {
        w->plans[members[i]].moves = true;
        w->plans[members[i]].end_fraction = -1; /* it is not where it was */
        w->plans[members[i]].turns_known = false;
        uint32_t k = w->active_count++;
        for (; k > 0 && w->active[k - 1] > members[i]; k--) w->active[k] = w->active[k - 1];
        w->active[k] = members[i];
    }
}

/* Reads kinds, hands and remote couplings; writes which parts move in this step, their empty plans, and for those of this step
 * and the one before where they are and how fast. Nothing has changed for any other part. */
static void find_active(flr_world *w)
{
    uint32_t *before = w->active;
    w->before_count = w->active_count;
    w->active = w->before;
    w->before = before;
    w->active_count = 0;
    for (uint32_t i = 0; i < w->before_count; i++) {
        flr_world_plan *p = &w->plans[before[i]];
        p->moves = p->again = p->stopped = false;
        p->result.touching = 0;
        p->stop_count = 0;
        p->newest = 0;
        flr_world_note(w, before[i]);
    }
    for (uint32_t i = 0; i < w->free_count; i++) activate(w, w->free_parts[i]);
    for (uint32_t i = 0; i < w->def.hand_count; i++) activate(w, w->state->hands[i].part);
    for (uint32_t i = 0; i < w->state->coupling_end; i++)
        if (w->state->couplings[i].set) activate(w, w->state->couplings[i].def.part);
    if (w->links) flr_links_activated(w);
}

/* Reads where bodies are; finds the pairs that may touch and moves the bodies by the forces or impulses between them. */
static void move_bodies(flr_world *w, flr_world_frame *frame)
{
    /* as near as they may come in this step, and a little more */
    const double range = range_of(w);
    flr_pairs_report near;
    flr_pairs_update(w->pairs, w->poses, range, &near);
    if (flr_tight_is_on(w))
        flr_tight_step(w, frame);
    else if (w->params.engine == FLR_ENGINE_SPHERES && w->impacts)
        step_spheres(w, &near, range, frame);
    else
        step_shell(w, range, frame);
}

/* Reads the plans of what moved; writes the sums of the frame and the longest way, by which the next step finds its pairs. */
static void sum_motion(flr_world *w, flr_world_frame *frame)
{
    w->state->travel = 0;
    for (uint32_t i = 0; i < w->active_count; i++) {
        const flr_world_plan *p = &w->plans[w->active[i]];
        double travel = flr_motion_checks_travel(w, w->active[i]);
        if (travel > w->state->travel) w->state->travel = travel;
        frame->limited += p->limited;
        frame->stopped += p->stopped;
        frame->energy += flr_body_energy(&w->state->bodies[w->active[i]]);
    }
}

/* Reads the bodies that moved, the hands' wrenches and remote couplings; writes what is kept of these bodies and the hash of
 * all that has happened. */
static void note_step(flr_world *w, flr_world_frame *frame)
{
    if (w->active_count > 0) w->generation++;
    for (uint32_t i = 0; i < w->active_count; i++) flr_world_note_motion(w, w->active[i]);
    w->state->number++;
    w->state->hash = frame->hash = chain(w);
}

void flr_world_step(flr_world *w, const flr_world_input *inputs, flr_world_frame *out)
{
    flr_world_frame frame = {
        .number = w->state->number, .lower = INFINITY, .upper = INFINITY, .max_travel = INFINITY};
    if (!w->pages || flr_pages_begin(w->pages, w->state->bodies, range_of(w) + AROUND * w->voxel)) {
        follow_hands(w, inputs, &frame);
        if (w->state->coupling_end) flr_couplings_begin(w);
        find_active(w);
        move_bodies(w, &frame);
        if (w->state->coupling_end) flr_couplings_end(w);
        sum_motion(w, &frame);
        feel(w, &frame);
        note_step(w, &frame);
    } else {
        suspend(w, &frame);
    }
    if (w->pages) flr_pages_end(w->pages);
    if (out) *out = frame;
}
