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
        pressed_of(w)[number] =
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

/* The points of one body among those of an island, as if there were no others. */
static flr_tight_points points_of(const flr_tight_points *all, uint32_t first, uint32_t count)
{
    flr_tight_points some = *all;
    double **columns[] = {&some.away, &some.depth,  &some.limit,  &some.stiffness, &some.room,
                          &some.j[0], &some.j[1],   &some.j[2],   &some.j[3],      &some.j[4],
                          &some.j[5], &some.arm[0], &some.arm[1], &some.arm[2]};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) *columns[i] += first;
    some.limited += first;
    some.keys += first;
    some.count = count;
    some.capacity -= first;
    return some;
}

/* Bodies of an island while it is planned. */
typedef struct linked_points {
    uint32_t part;         /* some part of the body */
    uint32_t first, count; /* of its points */
} linked_points;

/* The contacts of all parts of the body of members[at]; first, those that give way. */
static linked_points gather_linked(flr_world *w, const uint32_t *members, uint32_t count,
                                   uint32_t at)
{
    flr_tight *e = w->tight;
    const flr_tight_points all = e->points;
    linked_points found = {.part = members[at], .first = all.count};
    flr_links_enter(w, members[at]);
    for (uint32_t i = at; i < count; i++) {
        if (!flr_links_same_body(w, members[i], members[at])) continue;
        flr_constraints_act(w, members[i]);
        gather(w, members[i]);
    }
    found.count = e->points.count - all.count;
    const uint32_t end =
        (e->points.count + FLR_TIGHT_LANES - 1) / FLR_TIGHT_LANES * FLR_TIGHT_LANES;
    const uint32_t *others = e->others;
    e->points = points_of(&all, found.first, found.count);
    e->others += found.first;
    press_soft(w, members[at]);
    for (uint32_t i = at; i < count; i++) {
        if (!flr_links_same_body(w, members[i], members[at])) continue;
        press_blocks(w, members[i]);
        flr_motion_checks_touch_points(w, members[i]);
        pull(w, members[i]);
    }
    e->points = all;
    e->points.count = end < all.capacity ? end : all.capacity;
    e->others = (uint32_t *)(uintptr_t)others;
    return found;
}

/* Limits for points of a body that the solution would bring too deep. True: there are some. */
static bool limit_linked(flr_world *w, const linked_points *body)
{
    flr_tight *e = w->tight;
    const flr_tight_points all = e->points;
    uint32_t *others = e->others;
    e->points = points_of(&all, body->first, body->count);
    e->others += body->first;
    flr_links_enter(w, body->part);
    const double least =
        flr_tight_points_measure(&e->points, w->plans[body->part].result.twist, w->def.dt);
    const bool some = least < -TIGHT_SLACK;
    if (some) press_hard(w, body->part, -TIGHT_SLACK);
    e->points = all;
    e->others = others;
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
    e->points.count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (flr_links_leader(w, members[i]) == members[i])
            bodies[body_count++] = gather_linked(w, members, count, i);
    flr_links_solve(w, part);
    for (int round = 0; round < TIGHT_ROUNDS; round++) {
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
    e->points.count = 0;
    gather(w, part);
    press_soft(w, part);
    press_blocks(w, part);
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
