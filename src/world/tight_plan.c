/* where a body goes: forces within the clearance, and no sample beyond its limit */
#include <math.h>

#include "world/tight_internal.h"

enum { TIGHT_ROUNDS = 4 };
#define TIGHT_SLACK 5e-8 /* metres: beyond its limit by less, a sample is left alone */
#define RETURN      0.1  /* of what a sample is too deep, it may come back in a step … */
#define RETURNS     2e-7 /* metres: … and no more than this */

/* ---- what is near ---- */

/* What a body meets that is pushed along `normal`. */
static flr_world_met met_at(const flr_world *w, uint32_t part, uint32_t other, flr_vec3 point,
                            flr_vec3 normal)
{
    return flr_world_meet(w, part, other, point, flr_wrench_make(flr_vec3_zero(), normal));
}

/* metres of depth at the end of a step, when the surfaces are `gap` apart at its beginning */
static double limit_of(double clearance, double gap)
{
    double end = FLR_TIGHT_FLOOR;
    if (gap < end) end = gap + fmin(RETURN * (end - gap), RETURNS);
    return clearance - end;
}

/* N/m: of the contacts of a pair together. */
static double stiffness_of(const flr_tight_params *how)
{
    if (how->stiffness > 0) return how->stiffness;
    return how->clearance > 0 ? 2 * how->force * how->strength / how->clearance : 0;
}

/* All samples of all pairs of a body, as they concern it. */
static void gather(flr_world *w, uint32_t part)
{
    flr_tight *e = w->tight;
    double clearance = w->params.exact.clearance, stiffness = stiffness_of(&w->params.exact);
    flr_vec3 centre = flr_body_centre(&w->state->bodies[part]);
    e->points.count = 0;
    for (uint32_t i = 0; i < e->near_count; i++) {
        const flr_tight_near *n = &e->nears[i];
        if (n->a != part && n->b != part) continue;
        const uint32_t other = n->a == part ? n->b : n->a;
        const double sign = n->a == part ? -1 : 1;
        const bool moves = w->plans[other].moves;
        for (uint32_t k = 0; k < n->count; k++) {
            const flr_tight_spot *s = &e->spots[n->first + k];
            flr_tight_point p = {.arm = flr_vec3_sub(s->point, centre),
                                 .normal = flr_vec3_scale(s->normal, sign),
                                 .depth = clearance - s->gap,
                                 .limit = limit_of(clearance, s->gap),
                                 .room = s->gap - FLR_TIGHT_FLOOR,
                                 .stiffness = stiffness * s->share};
            if (moves)
                p.away =
                    flr_vec3_dot(p.normal, met_at(w, part, other, s->point, p.normal).twist.linear);
            e->others[e->points.count] = other;
            flr_tight_points_add(&e->points, &p);
        }
    }
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
        w->tight->pressed[number] =
            (flr_world_touch){.part = part,
                              .other = other,
                              .point = one.point,
                              .normal = one.normal,
                              .distance = w->params.exact.clearance - one.depth};
}

static void press_point(flr_world *w, uint32_t part, uint32_t i, double stiffness, double limit)
{
    const flr_tight_points *p = &w->tight->points;
    press(w, part, w->tight->others[i],
          (flr_press){.point = flr_vec3_add(flr_tight_points_arm(p, i),
                                            flr_body_centre(&w->state->bodies[part])),
                      .normal = flr_tight_points_normal(p, i),
                      .depth = p->depth[i],
                      .limit = limit,
                      .stiffness = stiffness});
}

/* Forces within the clearance: few contacts that act as all do. */
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
        press_point(w, part, kept[i], 0, e->points.limit[kept[i]]);
        e->points.limited[kept[i]] = true;
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
    for (int round = 0; round < TIGHT_ROUNDS; round++) {
        double least = flr_tight_points_measure(&e->points, p->result.twist, w->def.dt);
        if (!(least < -TIGHT_SLACK)) break;
        press_hard(w, part, -TIGHT_SLACK);
        flr_step_solve(w->step, &p->result);
    }
    /* pairs were found for motions of a certain length */
    const double travel = flr_motion_travel(p->result.motion, w->state->bodies[part].reach);
    p->fraction = fmin(p->result.fraction, travel > mine->margin ? mine->margin / travel : 1);
    p->limited = p->fraction < 1;
    if (mine->unexamined) p->fraction = 0, p->stopped = true;
    p->result.touching = report(w, part);
    frame->faults |= p->result.faults;
    if (p->result.deepest > frame->deepest) frame->deepest = p->result.deepest;
}
