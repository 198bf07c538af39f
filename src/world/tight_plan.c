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
    for (uint32_t i = 0; i < e->near_count; i++)
        if (e->nears[i].a == part || e->nears[i].b == part) gather_pair(w, part, &e->nears[i]);
    e->points = e->together;
}

/* What was changed in the samples of a pair is undone. */
static void release_limits(flr_tight *e)
{
    for (uint32_t i = 0; i < e->limited_count; i++)
        e->points.limit[e->limited[i].index] = e->limited[i].limit;
}

/* ---- contacts for the solver ---- */

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
        w->tight->pressed[number] = (flr_world_touch){.part = part,
                                                      .other = other,
                                                      .point = one.point,
                                                      .normal = one.normal,
                                                      .distance = w->tight->onset - one.depth};
}

static void press_point(flr_world *w, uint32_t part, uint32_t i, double stiffness, double limit)
{
    const flr_tight_points *p = &w->tight->points;
    press(w, part, w->tight->only != FLR_NO_PART ? w->tight->only : w->tight->others[i],
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
    for (uint32_t i = 0; i < w->def.hand_count; i++) {
        flr_world_hand_state *hand = &w->state->hands[i];
        if (hand->part == part && !hand->waiting)
            flr_step_pull(w->step, &hand->coupling, &hand->handle);
    }
    if (flr_couplings_pull(w, part)) flr_couplings_act(w, part);
}

/* Lists what pushes a body, in place of what an earlier plan of it gave. */
static uint32_t report(flr_world *w, uint32_t part)
{
    flr_tight *e = w->tight;
    uint32_t kept = 0, pushing = 0;
    for (uint32_t i = 0; i < e->touch_count; i++)
        if (e->touches[i].part != part) e->touches[kept++] = e->touches[i];
    for (uint32_t i = 0; i < flr_step_pressed(w->step) && i < FLR_TIGHT_CONTACTS; i++) {
        double force = flr_step_push_at(w->step, i);
        if (!(force > 0)) continue;
        pushing++;
        if (e->pressed[i].part != part || kept == FLR_TIGHT_TOUCHES) continue;
        e->touches[kept] = e->pressed[i];
        e->touches[kept++].force = force;
    }
    e->touch_count = kept;
    return pushing;
}

void flr_tight_plan(flr_world *w, uint32_t part, flr_world_frame *frame)
{
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
    for (uint32_t i = 0; i < mine->block_count; i++)
        press(w, part, mine->blocks[i].other,
              (flr_press){.point = mine->blocks[i].point,
                          .normal = mine->blocks[i].normal,
                          .depth = mine->blocks[i].depth,
                          .limit = mine->blocks[i].limit});
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
