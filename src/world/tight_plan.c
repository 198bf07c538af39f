/* where a body goes: forces within the clearance, and no sample beyond its limit */
#include <math.h>

#include "world/tight_internal.h"

enum { TIGHT_ROUNDS = 4 };
#define TIGHT_SLACK 5e-8 /* metres: beyond its limit by less, a sample is left alone */
#define TIGHT_AROUND                                                                               \
    1e-6 /* metres: samples within the clearance and this keep to their limits from the start */
#define RETURN  0.1  /* of what a sample is too deep, it may come back in a step … */
#define RETURNS 2e-7 /* metres: … and no more than this */

/* ---- what is near ---- */

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
    e->point_count = 0;
    for (uint32_t i = 0; i < e->near_count; i++) {
        const flr_tight_near *n = &e->nears[i];
        if (n->a != part && n->b != part) continue;
        uint32_t other = n->a == part ? n->b : n->a;
        double sign = n->a == part ? -1 : 1;
        for (uint32_t k = 0; k < n->count; k++) {
            const flr_tight_spot *s = &e->spots[n->first + k];
            flr_world_met met = flr_world_meet(w, part, other, s->point,
                                               flr_wrench_make(flr_vec3_zero(), s->normal));
            e->others[e->point_count] = other;
            e->points[e->point_count++] =
                (flr_tight_point){.arm = flr_vec3_sub(s->point, centre),
                                  .normal = flr_vec3_scale(s->normal, sign),
                                  .other = met.twist.linear,
                                  .other_share = met.share,
                                  .depth = clearance - s->gap,
                                  .limit = limit_of(clearance, s->gap),
                                  .room = s->gap - FLR_TIGHT_FLOOR,
                                  .stiffness = stiffness * s->share};
        }
    }
}

/* ---- contacts for the solver ---- */

static void press(flr_world *w, uint32_t part, const flr_tight_point *p, uint32_t other,
                  double stiffness, bool hard)
{
    uint32_t number = flr_step_pressed(w->step);
    flr_press one = {.point = flr_vec3_add(p->arm, flr_body_centre(&w->state->bodies[part])),
                     .normal = p->normal,
                     .other = p->other,
                     .other_share = p->other_share,
                     .depth = p->depth,
                     .limit = hard ? p->limit : INFINITY,
                     .stiffness = stiffness,
                     .friction = w->params.friction};
    flr_step_press(w->step, &one, 1);
    if (flr_step_pressed(w->step) > number && number < FLR_TIGHT_CONTACTS)
        w->tight->pressed[number] =
            (flr_world_touch){.part = part,
                              .other = other,
                              .point = one.point,
                              .normal = one.normal,
                              .distance = w->params.exact.clearance - p->depth};
}

/* Forces within the clearance: few contacts that act as all do. */
static void press_soft(flr_world *w, uint32_t part)
{
    flr_tight *e = w->tight;
    uint32_t kept[FLR_TIGHT_SOFT];
    double stiffness[FLR_TIGHT_SOFT];
    uint32_t count = flr_tight_reduce(e->points, e->point_count, &e->bins, kept, stiffness);
    for (uint32_t i = 0; i < count; i++)
        if (stiffness[i] > 0)
            press(w, part, &e->points[kept[i]], e->others[kept[i]], stiffness[i], false);
}

/* Limits: those samples that have less room than `below`, the worst of each place and direction. */
static uint32_t press_hard(flr_world *w, uint32_t part, double below)
{
    flr_tight *e = w->tight;
    uint32_t kept[FLR_TIGHT_HARD];
    uint32_t count = flr_tight_nearest(e->points, e->point_count, below, &e->bins, kept);
    for (uint32_t i = 0; i < count; i++) {
        press(w, part, &e->points[kept[i]], e->others[kept[i]], 0, true);
        e->points[kept[i]].limited = true;
    }
    return count;
}

/* How much room a motion leaves each sample before its limit. */
static void measure(flr_world *w, flr_twist twist)
{
    flr_tight *e = w->tight;
    double dt = w->def.dt;
    for (uint32_t i = 0; i < e->point_count; i++) {
        flr_tight_point *p = &e->points[i];
        flr_vec3 v = flr_vec3_sub(flr_twist_velocity(twist, p->arm), p->other);
        p->room = p->limited ? INFINITY : p->limit - p->depth + dt * flr_vec3_dot(p->normal, v);
    }
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
    press_hard(w, part, w->params.exact.clearance + TIGHT_AROUND);
    for (uint32_t i = 0; i < mine->block_count; i++)
        press(w, part, &mine->blocks[i].point, mine->blocks[i].other, 0, true);
    flr_motion_checks_touch_points(w, part);
    pull(w, part);
    flr_step_solve(w->step, &p->result);

    /* samples that the solution would bring too deep keep to their limits, too */
    for (int round = 0; round < TIGHT_ROUNDS; round++) {
        measure(w, p->result.twist);
        if (press_hard(w, part, -TIGHT_SLACK) == 0) break;
        flr_step_solve(w->step, &p->result);
    }
    p->fraction = p->result.fraction;
    p->limited = p->fraction < 1;
    p->result.touching = report(w, part);
    frame->faults |= p->result.faults;
    if (p->result.deepest > frame->deepest) frame->deepest = p->result.deepest;
}
