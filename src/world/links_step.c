/* a step of parts that are linked: what acts in joints, where all of them go */
#include <math.h>
#include <string.h>

#include "world/links_internal.h"

#define JOINT_CREEP  1e-4 /* m/s, rad/s: slower than this, friction in a joint is viscous */
#define STOP_RETURN  0.1  /* of what a joint is beyond its limit, it comes back in a step … */
#define STOP_RETURNS 1e-3 /* metres, rad: … and no more than this */

/* ---- what acts in joints ---- */

static flr_joined_law *add_law(const flr_island_now *now, uint32_t joint, uint32_t component)
{
    const flr_links *l = now->world->links;
    flr_joined_law *law = &l->joined->laws[l->joined->law_count++];
    double row[FLR_MECHANISM_FREEDOMS];
    *law = (flr_joined_law){.limit = INFINITY};
    flr_mechanism_rate(l->mechanism, joint, component, now->world->poses, now->columns, now->origin,
                       row);
    for (uint32_t k = 0; k < now->unknowns; k++) {
        if (!now->loops) {
            law->row[k] = row[k];
            continue;
        }
        for (uint32_t i = 0; i < l->mechanism->islands[now->island].freedoms; i++)
            law->row[k] += row[i] * now->basis[k][i];
    }
    return law;
}

/* Spring, damper and friction of a motion that is at `at`. */
static void add_forces(const flr_island_now *now, uint32_t joint, uint32_t component,
                       const flr_joint_axis *axis, double at)
{
    const double slope = axis->stiffness * now->world->def.dt + axis->damping;
    if (slope > 0) {
        flr_joined_law *law = add_law(now, joint, component);
        law->slope = slope;
        law->target = axis->stiffness * (axis->rest - at) / slope;
    }
    if (axis->friction > 0) {
        flr_joined_law *law = add_law(now, joint, component);
        law->slope = axis->friction / JOINT_CREEP;
        law->limit = axis->friction;
    }
}

/* m/s, rad/s: with which a stop may be approached that is `room` away. */
static double approach(double room, double dt)
{
    return room >= 0 ? room / dt : -fmin(-STOP_RETURN * room, STOP_RETURNS) / dt;
}

static void add_stops(const flr_island_now *now, uint32_t joint, uint32_t component,
                      const flr_joint_axis *axis, double at)
{
    const double dt = now->world->def.dt;
    if (!axis->limited) return;
    flr_joined_law *low = add_law(now, joint, component);
    low->side = 1;
    low->target = -approach(at - axis->low, dt);
    flr_joined_law *high = add_law(now, joint, component);
    high->side = -1;
    high->target = approach(axis->high - at, dt);
}

/* A ball turns about any axis; its limit is on the angle from the start. */
static void add_ball(const flr_island_now *now, uint32_t joint, const flr_joint *j,
                     const flr_joint_position *at)
{
    const flr_vec3 turned = flr_quat_to_rotation_vector(at->q);
    const double along[3] = {turned.x, turned.y, turned.z};
    flr_joint_axis axis = j->turn;
    axis.rest = 0;
    for (uint32_t i = 0; i < 3; i++) add_forces(now, joint, i, &axis, along[i]);
    if (!j->turn.limited || !(at->turn > 1e-9)) return;
    flr_joined_law *law = add_law(now, joint, 0);
    const flr_joined_law *others[2] = {add_law(now, joint, 1), add_law(now, joint, 2)};
    for (uint32_t k = 0; k < now->unknowns; k++)
        law->row[k] =
            (law->row[k] * turned.x + others[0]->row[k] * turned.y + others[1]->row[k] * turned.z) /
            at->turn;
    now->world->links->joined->law_count -= 2;
    law->side = -1;
    law->target = approach(j->turn.high - at->turn, now->world->def.dt);
}

static void add_laws(const flr_island_now *now)
{
    const flr_links *l = now->world->links;
    const flr_mechanism *m = l->mechanism;
    l->joined->law_count = 0;
    for (uint32_t i = 0; i < m->joint_count; i++) {
        const flr_joint *j = &m->joints[i];
        const flr_joint_position *at = &l->positions[i];
        uint32_t island = FLR_MECHANISM_NONE;
        flr_mechanism_freedom(m, i, &island);
        if (island != now->island) continue;
        if (j->kind == FLR_JOINT_BALL) {
            add_ball(now, i, j, at);
            continue;
        }
        if (flr_joint_turns(j->kind)) {
            add_forces(now, i, FLR_TURN_Z, &j->turn, at->turn);
            add_stops(now, i, FLR_TURN_Z, &j->turn, at->turn);
        }
        if (flr_joint_slides(j->kind)) {
            const double slide =
                j->kind == FLR_JOINT_SCREW ? j->pitch * at->turn / FLR_TWO_PI : at->slide;
            add_forces(now, i, FLR_SHIFT_Z, &j->slide, slide);
            add_stops(now, i, FLR_SHIFT_Z, &j->slide, slide);
        }
        if (j->kind == FLR_JOINT_PLANAR) {
            flr_joint_axis axis = j->slide;
            axis.rest = 0;
            add_forces(now, i, FLR_SHIFT_X, &axis, at->across[0]);
            add_forces(now, i, FLR_SHIFT_Y, &axis, at->across[1]);
        }
    }
}

/* ---- planning ---- */

void flr_links_begin(flr_world *w, uint32_t part, const flr_step_params *how)
{
    flr_links *l = w->links;
    const flr_mechanism_island *of =
        &l->mechanism->islands[flr_mechanism_island_of(w->links->mechanism, part)];
    l->own = w->step;
    for (uint32_t k = 0; k < of->body_count; k++) {
        const uint32_t leader = l->mechanism->bodies[of->first_body + k].leader;
        flr_step_params its = *how;
        if (flr_couplings_pull(w, leader) && !flr_world_is_held(w, leader))
            its.gravity = flr_vec3_zero(); /* whoever holds it elsewhere bears it */
        if (its.integrator == FLR_INTEGRATOR_EXPLICIT) its.integrator = FLR_INTEGRATOR_IMPLICIT;
        flr_step_begin(l->steps[k], &w->state->bodies[leader], &its);
    }
}

void flr_links_enter(flr_world *w, uint32_t part)
{
    const flr_links *l = w->links;
    const uint32_t body = l->mechanism->body_of[part];
    w->step = l->steps[body - l->mechanism->islands[l->mechanism->bodies[body].island].first_body];
}

void flr_links_leave(flr_world *w) { w->step = w->links->own; }

uint32_t flr_links_number(const flr_world *w)
{
    uint32_t number = 0;
    while (w->links && number < w->links->step_count && w->links->steps[number] != w->step)
        number++;
    return w->links && number < w->links->step_count ? number : 0;
}

/* How each unknown moves each body, about its centre of mass. */
static void make_columns(flr_island_now *now)
{
    flr_links *l = now->world->links;
    const flr_mechanism *m = l->mechanism;
    const flr_mechanism_island *of = &m->islands[now->island];
    now->loops = of->loop_count > 0;
    now->origin = flr_body_centre(&now->world->state->bodies[m->bodies[of->first_body].leader]);
    flr_mechanism_columns(m, now->island, now->world->poses, l->centres, now->origin, now->columns);
    now->unknowns = of->freedoms;
    if (now->loops)
        now->unknowns = flr_mechanism_basis(m, now->island, now->world->poses, now->columns,
                                            now->origin, now->basis);
    for (uint32_t b = 0; b < of->body_count; b++) {
        flr_vec6 *to = l->joined->columns + (size_t)b * FLR_JOINED_UNKNOWNS;
        const flr_body *body = &now->world->state->bodies[m->bodies[of->first_body + b].leader];
        const flr_vec3 arm = flr_vec3_sub(flr_body_centre(body), now->origin);
        memset(to, 0, FLR_JOINED_UNKNOWNS * sizeof *to);
        for (uint32_t i = 0; i < of->freedoms; i++) {
            if (!flr_mechanism_moves(m, of->first_body + b, i)) continue;
            const flr_twist *c = &now->columns[i];
            const flr_vec6 column = flr_vec6_from(c->angular, flr_twist_velocity(*c, arm));
            if (!now->loops) to[i] = column;
            for (uint32_t k = 0; now->loops && k < now->unknowns; k++)
                to[k] = flr_vec6_add_scaled(to[k], now->basis[k][i], column);
        }
    }
    l->joined->body_count = of->body_count;
    l->joined->unknown_count = now->unknowns;
}

static void measure_joints(flr_world *w)
{
    flr_links *l = w->links;
    const flr_joint_position *kept = flr_links_kept(w);
    for (uint32_t i = 0; i < l->mechanism->joint_count; i++)
        l->positions[i] = flr_mechanism_measure(l->mechanism, i, w->poses, &kept[i]);
}

/* Where the parts of the island are after so many seconds at the planned rates. */
static void go(flr_world *w, uint32_t island, double seconds)
{
    flr_links *l = w->links;
    const flr_mechanism_island *of = &l->mechanism->islands[island];
    double change[FLR_MECHANISM_FREEDOMS];
    for (uint32_t i = 0; i < of->freedoms; i++) change[i] = seconds * l->rates[island][i];
    for (uint32_t i = 0; i < of->part_count; i++) {
        const uint32_t part = l->mechanism->members[of->first_part + i];
        l->ends[part] = w->poses[part];
    }
    memcpy(l->later, l->positions, l->mechanism->joint_count * sizeof *l->later);
    flr_mechanism_advance(l->mechanism, island, l->centres, change, NULL, l->later, l->ends);
}

/* From where a part is to where it is planned to be. */
static flr_motion motion_to(const flr_world *w, uint32_t part, flr_pose end)
{
    const flr_body *body = &w->state->bodies[part];
    const flr_quat turn = flr_quat_mul(end.q, flr_quat_conjugate(body->T_world_part.q));
    return (flr_motion){
        flr_quat_to_rotation_vector(turn),
        flr_vec3_sub(flr_pose_apply(end, body->inertia.centre), flr_body_centre(body))};
}

void flr_links_solve(flr_world *w, uint32_t part)
{
    flr_links *l = w->links;
    const flr_mechanism *m = l->mechanism;
    const uint32_t island = flr_mechanism_island_of(w->links->mechanism, part);
    const flr_mechanism_island *of = &m->islands[island];
    flr_island_now *now = &l->now;
    now->world = w, now->island = island;
    flr_links_leave(w);
    measure_joints(w);
    make_columns(now);
    add_laws(now);
    flr_steps_solve(l->steps, l->joined, l->results);
    const bool failed = l->results[0].faults & (FLR_STEP_FAULT_BODY | FLR_STEP_FAULT_PARAMS);
    for (uint32_t i = 0; i < of->freedoms; i++) {
        double rate = 0;
        for (uint32_t k = 0; !failed && k < now->unknowns; k++)
            rate += (now->loops ? now->basis[k][i] : k == i) * l->joined->velocity[k];
        l->rates[island][i] = isfinite(rate) ? rate : 0;
    }
    go(w, island, w->def.dt);

    /* one plan for all */
    double fraction = 1;
    for (uint32_t i = 0; i < of->part_count; i++) {
        const uint32_t member = m->members[of->first_part + i];
        flr_world_plan *p = &w->plans[member];
        p->result = l->results[m->body_of[member] - of->first_body];
        p->result.motion = motion_to(w, member, l->ends[member]);
        fraction =
            fmin(fraction, flr_motion_fraction(p->result.motion, w->state->bodies[member].reach,
                                               w->params.step.travel));
    }
    for (uint32_t i = 0; i < of->part_count; i++) {
        flr_world_plan *p = &w->plans[m->members[of->first_part + i]];
        p->result.fraction = p->fraction = fraction;
        p->again = false;
    }
}

void flr_linked_share(flr_world *w, uint32_t part)
{
    uint32_t count;
    const uint32_t *members = flr_links_members(w, &part, &count);
    const flr_world_plan *from = &w->plans[part];
    for (uint32_t i = 0; i < count; i++) {
        flr_world_plan *p = &w->plans[members[i]];
        p->fraction = from->fraction;
        p->limited = from->limited;
        p->stopped = from->stopped;
        p->newest = from->newest;
    }
}

void flr_links_move(flr_world *w, uint32_t part, bool keep)
{
    flr_links *l = w->links;
    const flr_mechanism *m = l->mechanism;
    const uint32_t island = flr_mechanism_island_of(w->links->mechanism, part);
    const flr_mechanism_island *of = &m->islands[island];
    const double fraction = w->plans[part].fraction;
    measure_joints(w);
    go(w, island, fraction * w->def.dt);
    for (uint32_t i = 0; i < of->part_count; i++) {
        const uint32_t member = m->members[of->first_part + i];
        const flr_step_result *r = &w->plans[member].result;
        flr_body *body = &w->state->bodies[member];
        flr_motion gone = r->motion;
        if (keep)
            gone = (flr_motion){flr_vec3_scale(gone.turn, fraction),
                                flr_vec3_scale(gone.shift, fraction)};
        body->twist = r->twist;
        flr_body_move(body, gone, keep ? 1 : fraction);
        body->T_world_part = l->ends[member];
    }
    flr_joint_position *kept = flr_links_kept(w);
    for (uint32_t i = 0; i < m->joint_count; i++) {
        uint32_t its = FLR_MECHANISM_NONE;
        flr_mechanism_freedom(m, i, &its);
        if (its == island) kept[i] = l->later[i];
    }
}
