/* where a body goes: forces within the onset, and no sample beyond its limit */
#include <math.h>

#include "world/tight_internal.h"

#define TIGHT_SLACK 5e-8 /* metres: beyond its limit by less, a sample is left alone */

/* ---- what is near ---- */

/* What a body meets that is pushed along `normal`. */
static flr_world_met met_at(const flr_world *w, uint32_t part, uint32_t other, flr_vec3 point,
                            flr_vec3 normal)
{
    return flr_world_meet(w, part, other, point, flr_wrench_make(flr_vec3_zero(), normal));
}

/* How a body gives way to pushes. */
static flr_tight_yield yield_of(const flr_world *w, uint32_t part)
{
    const flr_body *body = &w->state->bodies[part];
    flr_tight_yield y = {.twist = body->twist};
    const flr_vec3 one = flr_vec3_make(1, 1, 1);
    const flr_twist open = flr_constraints_free(w, part, flr_twist_make(one, one));
    const flr_vec6 free = flr_vec6_from(open.angular, open.linear);
    flr_mat3 turns;
    if (!flr_mat3_inverse(flr_body_tensor(body), &turns)) turns = (flr_mat3){0};
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c <= r; c++) y.mobility.m[r][c] = turns.m[r][c] * free.v[r] * free.v[c];
        y.mobility.m[r + 3][r + 3] = free.v[r + 3] / body->inertia.mass;
    }
    return y;
}

/* Adds the samples of one of several pairs of a body. */
static void gather_pair(flr_world *w, uint32_t part, const flr_tight_near *n)
{
    flr_tight *e = w->tight;
    const uint32_t other = n->a == part ? n->b : n->a, first = e->together.count;
    const flr_tight_points list = flr_tight_points_from(&e->spots, n->first, n->count);
    const flr_vec3 own = flr_body_centre(&w->state->bodies[part]),
                   their = flr_body_centre(&w->state->bodies[other]);
    flr_tight_points_append(&e->together, &list, n->a == part, flr_vec3_sub(their, own));
    for (uint32_t i = first; i < e->together.count; i++) e->others[i] = other;
    if (!w->plans[other].moves) return;
    const flr_tight_yield mine = yield_of(w, part), theirs = yield_of(w, other);
    flr_tight_points_share(&e->together, first, &mine, &theirs, flr_vec3_sub(own, their));
}

static void gather_pairs(flr_world *w, uint32_t part)
{
    const flr_tight *e = w->tight;
    for (uint32_t i = 0; i < e->near_count; i++)
        if (e->nears[i].a == part || e->nears[i].b == part) gather_pair(w, part, &e->nears[i]);
}

/* All samples of all pairs of a body, as they concern it. */
static void gather(flr_world *w, uint32_t part)
{
    flr_tight *e = w->tight;
    const flr_tight_near *only = NULL;
    uint32_t pairs = 0;
    e->limited_count = 0;
    for (uint32_t i = 0; i < e->near_count; i++) {
        const flr_tight_near *n = &e->nears[i];
        if ((n->a == part || n->b == part) && n->count > 0) only = n, pairs++;
    }
    /* one pair with a part that rests: as they were made */
    if (pairs == 1 && only->b == part && !w->plans[only->a].moves) {
        e->points = flr_tight_points_from(&e->spots, only->first, only->count);
        e->only = only->a;
        return;
    }
    e->only = FLR_NO_PART;
    e->together.count = 0;
    gather_pairs(w, part);
    e->points = e->together;
    e->points_others = e->others;
}

/* What was changed in the samples of a pair is undone. */
static void release_limits(flr_tight *e)
{
    for (uint32_t i = 0; i < e->limited_count; i++)
        e->points.limit[e->limited[i].index] = e->limited[i].limit;
}

/* ---- contacts for the solver ---- */

/* Contacts that the step was given which is being planned, by number. */
static flr_world_touch *pressed_of(flr_world *w)
{
    return w->tight->pressed + (size_t)flr_links_number(w) * FLR_TIGHT_CONTACTS;
}

/* Adds a contact; `stiffness` 0: one that only has a limit. */
static void press(flr_world *w, uint32_t part, uint32_t other, flr_press one)
{
    const uint32_t number = flr_step_pressed(w->step);
    const flr_world_met met = met_at(w, part, other, one.point, one.normal);
    one.other = met.twist.linear;
    one.other_share = met.share;
    one.friction = w->params.friction;
    flr_step_press(w->step, &one, 1);
    if (flr_step_pressed(w->step) > number && number < FLR_TIGHT_CONTACTS)
        pressed_of(w)[number] = (flr_world_touch){.part = part,
                                                  .other = other,
                                                  .point = one.point,
                                                  .normal = one.normal,
                                                  .distance = w->tight->onset - one.depth};
}

static void press_point(flr_world *w, uint32_t part, uint32_t i, double stiffness, double limit)
{
    const flr_tight_points *p = &w->tight->points;
    press(w, part, w->tight->only != FLR_NO_PART ? w->tight->only : w->tight->points_others[i],
          (flr_press){.point = flr_vec3_add(flr_tight_points_arm(p, i),
                                            flr_body_centre(&w->state->bodies[part])),
                      .normal = flr_tight_points_normal(p, i),
                      .depth = p->depth[i],
                      .limit = limit,
                      .stiffness = stiffness});
}

/* Forces within the onset: few contacts that act as all do. */
static void press_soft(flr_world *w, uint32_t part)
{
    flr_tight *e = w->tight;
    uint32_t kept[FLR_TIGHT_SOFT];
    double stiffness[FLR_TIGHT_SOFT];
    uint32_t count = flr_tight_reduce(&e->points, &e->bins, kept, stiffness);
    for (uint32_t i = 0; i < count; i++)
        if (stiffness[i] > 0) press_point(w, part, kept[i], stiffness[i], INFINITY);
}

/* Limits: those samples that have less room than `below`, the worst of each place and direction. */
static uint32_t press_hard(flr_world *w, uint32_t part, double below)
{
    flr_tight *e = w->tight;
    uint32_t kept[FLR_TIGHT_HARD];
    uint32_t count = flr_tight_nearest(&e->points, below, &e->bins, kept);
    for (uint32_t i = 0; i < count; i++) {
        float *limit = &e->points.limit[kept[i]];
        press_point(w, part, kept[i], 0, *limit);
        e->limited[e->limited_count++] = (flr_tight_limited){kept[i], *limit};
        *limit = INFINITY;
    }
    return count;
}

/* What pulls it. */
static void pull(flr_world *w, uint32_t part)
{
    flr_hands_pull(w, part);
    if (flr_couplings_pull(w, part)) flr_couplings_act(w, part);
}

/* Lists what pushes a body, in place of what an earlier plan of it gave. */
static uint32_t report(flr_world *w, uint32_t part)
{
    flr_tight *e = w->tight;
    uint32_t kept = 0, pushing = 0;
    for (uint32_t i = 0; i < e->touch_count; i++)
        if (!flr_links_same_body(w, e->touches[i].part, part)) e->touches[kept++] = e->touches[i];
    for (uint32_t i = 0; i < flr_step_pressed(w->step) && i < FLR_TIGHT_CONTACTS; i++) {
        double force = flr_step_push_at(w->step, i);
        if (!(force > 0)) continue;
        pushing++;
        const flr_world_touch *touch = &pressed_of(w)[i];
        if (!flr_links_same_body(w, touch->part, part) || kept == FLR_TIGHT_TOUCHES) continue;
        e->touches[kept] = *touch;
        e->touches[kept++].force = force;
    }
    e->touch_count = kept;
    return pushing;
}

/* What else keeps a part from going on. */
static void press_blocks(flr_world *w, uint32_t part)
{
    const flr_tight_part *mine = &w->tight->parts[part];
    for (uint32_t i = 0; i < mine->block_count; i++)
        press(w, part, mine->blocks[i].other,
              (flr_press){.point = mine->blocks[i].point,
                          .normal = mine->blocks[i].normal,
                          .depth = mine->blocks[i].depth,
                          .limit = mine->blocks[i].limit});
}

/* ---- parts that are linked ---- */

/* Bodies of an island while it is planned. */
typedef struct linked_points {
    uint32_t part;         /* some part of the body */
    uint32_t first, count; /* of its points */
} linked_points;

/* The points of one body become those that are pressed. */
static void choose_points(flr_tight *e, const linked_points *body)
{
    e->points = flr_tight_points_from(&e->together, body->first, body->count);
    e->points_others = e->others + body->first;
    e->limited_count = 0; /* they are gathered anew before the next plan: nothing to undo */
}

/* The contacts of all parts of the body of members[at]; first, those that give way. */
static linked_points gather_linked(flr_world *w, const uint32_t *members, uint32_t count,
                                   uint32_t at)
{
    flr_tight *e = w->tight;
    linked_points found = {.part = members[at], .first = e->together.count};
    flr_links_enter(w, members[at]);
    for (uint32_t i = at; i < count; i++) {
        if (!flr_links_same_body(w, members[i], members[at])) continue;
        flr_constraints_act(w, members[i]);
        gather_pairs(w, members[i]);
    }
    found.count = e->together.count - found.first;
    choose_points(e, &found);
    e->together.count = found.first + flr_tight_points_pad(&e->points);
    press_soft(w, members[at]);
    for (uint32_t i = at; i < count; i++) {
        if (!flr_links_same_body(w, members[i], members[at])) continue;
        press_blocks(w, members[i]);
        flr_motion_checks_touch_points(w, members[i]);
        pull(w, members[i]);
    }
    return found;
}

/* Limits for points of a body that the solution would bring too deep. True: there are some. */
static bool limit_linked(flr_world *w, const linked_points *body)
{
    flr_tight *e = w->tight;
    choose_points(e, body);
    flr_links_enter(w, body->part);
    const double least =
        flr_tight_points_measure(&e->points, w->plans[body->part].result.twist, w->def.dt);
    const bool some = least < -TIGHT_SLACK;
    if (some) press_hard(w, body->part, -TIGHT_SLACK);
    return some;
}

/* Works out where the parts go that are linked with one. */
static void plan_linked(flr_world *w, uint32_t part, flr_world_frame *frame)
{
    flr_tight *e = w->tight;
    linked_points bodies[FLR_TIGHT_LINKED];
    flr_step_params how = w->params.step;
    uint32_t count, body_count = 0;
    const uint32_t *members = flr_links_members(w, &part, &count);
    how.braking = 0;
    flr_links_begin(w, part, &how);
    e->only = FLR_NO_PART;
    e->together.count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (flr_links_leader(w, members[i]) == members[i])
            bodies[body_count++] = gather_linked(w, members, count, i);
    flr_links_solve(w, part);
    for (int round = 0; round < FLR_TIGHT_ROUNDS; round++) {
        bool again = false;
        for (uint32_t k = 0; k < body_count; k++) again |= limit_linked(w, &bodies[k]);
        if (!again) break;
        flr_links_solve(w, part);
    }
    double fraction = w->plans[part].fraction;
    bool unexamined = false;
    for (uint32_t i = 0; i < count; i++) {
        flr_world_plan *p = &w->plans[members[i]];
        const flr_tight_part *mine = &e->parts[members[i]];
        const double travel =
            flr_motion_travel(p->result.motion, w->state->bodies[members[i]].reach);
        if (travel > mine->margin) fraction = fmin(fraction, mine->margin / travel);
        unexamined |= mine->unexamined;
        frame->faults |= p->result.faults;
        if (p->result.deepest > frame->deepest) frame->deepest = p->result.deepest;
    }
    for (uint32_t k = 0; k < body_count; k++) {
        flr_links_enter(w, bodies[k].part);
        w->plans[bodies[k].part].result.touching = report(w, bodies[k].part);
    }
    flr_links_leave(w);
    w->plans[part].fraction = unexamined ? 0 : fraction;
    w->plans[part].limited = fraction < 1;
    w->plans[part].stopped = unexamined;
    flr_links_share(w, part);
}

void flr_tight_plan(flr_world *w, uint32_t part, flr_world_frame *frame)
{
    if (flr_links_is_linked(w, part)) {
        plan_linked(w, part, frame);
        return;
    }
    flr_tight *e = w->tight;
    flr_tight_part *mine = &e->parts[part];
    flr_world_plan *p = &w->plans[part];
    flr_step_params how = w->params.step;
    if (how.integrator == FLR_INTEGRATOR_EXPLICIT) how.integrator = FLR_INTEGRATOR_IMPLICIT;
    how.braking = 0;
    if (flr_couplings_pull(w, part) && !flr_world_is_held(w, part))
        how.gravity = flr_vec3_zero(); /* whoever holds it elsewhere bears it */
    flr_step_begin(w->step, &w->state->bodies[part], &how);
    flr_constraints_act(w, part);
    gather(w, part);
    press_soft(w, part);
    press_blocks(w, part);
    flr_motion_checks_touch_points(w, part);
    pull(w, part);
    flr_step_solve(w->step, &p->result);

    /* samples that the solution would bring too deep keep to their limits */
    for (int round = 0; round < FLR_TIGHT_ROUNDS; round++) {
        double least = flr_tight_points_measure(&e->points, p->result.twist, w->def.dt);
        if (!(least < -TIGHT_SLACK)) break;
        press_hard(w, part, -TIGHT_SLACK);
        flr_step_solve(w->step, &p->result);
    }
    release_limits(e);
    /* pairs were found for motions of a certain length */
    const double travel = flr_motion_travel(p->result.motion, w->state->bodies[part].reach);
    p->fraction = fmin(p->result.fraction, travel > mine->margin ? mine->margin / travel : 1);
    p->limited = p->fraction < 1;
    if (mine->unexamined) p->fraction = 0, p->stopped = true;
    p->result.touching = report(w, part);
    frame->faults |= p->result.faults;
    if (p->result.deepest > frame->deepest) frame->deepest = p->result.deepest;
}
