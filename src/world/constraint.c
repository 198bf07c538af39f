/* constraints: locked directions, a constant wrench, a spring to the world */
#include <math.h>

#include "world/world_internal.h"

flr_world_constraint flr_default_world_constraint(void)
{
    return (flr_world_constraint){.damping = 1, .T_world_rest = flr_pose_identity()};
}

static bool is_amount(double x) { return x >= 0 && isfinite(x); }

static bool is_valid(const flr_world_constraint *c)
{
    return c->locks <= FLR_LOCK_ALL && flr_vec3_is_finite(c->wrench.force) &&
           flr_vec3_is_finite(c->wrench.torque) && is_amount(c->stiffness) &&
           is_amount(c->turn_stiffness) && is_amount(c->damping) &&
           flr_pose_is_valid(c->T_world_rest) && !(c->turn_stiffness > 0 && c->stiffness == 0);
}

/* A hand that never moves holds the part by its origin; its spring has no clamp. */
static bool make_spring(const flr_body *body, flr_constrained *made)
{
    flr_body at_rest = *body;
    at_rest.T_world_part = made->how.T_world_rest;
    made->rest = (flr_handle){.T_world_handle = made->how.T_world_rest};
    flr_coupling_def def = flr_default_coupling_def();
    def.stiffness = made->how.stiffness;
    def.turn_stiffness = made->how.turn_stiffness;
    def.damping = made->how.damping;
    def.stretch = 1e3;
    def.turn = 1e3;
    if (flr_coupling_grab(&def, &at_rest, &made->rest, &made->spring, NULL) != FLR_OK) return false;
    if (made->how.turn_stiffness == 0) /* it pulls, but does not turn */
        made->spring.turn_stiffness = 1e-12, made->spring.turn_damping = 0;
    return true;
}

bool flr_world_constrain(flr_world *w, uint32_t part, const flr_world_constraint *constraint)
{
    if (part >= w->def.part_count || w->kinds[part] == FLR_PART_STATIC) return false;
    flr_constrained made = {0};
    if (constraint) {
        if (!is_valid(constraint)) return false;
        made.how = *constraint;
        made.set = true;
        made.has_spring = constraint->stiffness > 0;
        if (made.has_spring && !make_spring(&w->state->bodies[part], &made)) return false;
    }
    w->constraints[part] = made;
    return true;
}

void flr_constraints_act(flr_world *w, uint32_t part)
{
    flr_constrained *c = &w->constraints[part];
    if (!c->set) return;
    flr_step_lock(w->step, c->how.locks);
    flr_step_push(w->step, c->how.wrench);
    if (!c->has_spring) return;
    flr_coupling spring = flr_world_coupling_of_leader(w, part, &c->spring);
    spring.turn = flr_vec3_zero(); /* nothing is remembered: the state alone decides */
    flr_step_pull(w->step, &spring, &c->rest);
}

flr_twist flr_constraints_free(const flr_world *w, uint32_t part, flr_twist twist)
{
    unsigned locks = w->constraints[part].set ? w->constraints[part].how.locks : 0;
    if (locks & FLR_LOCK_TURN_X) twist.angular.x = 0;
    if (locks & FLR_LOCK_TURN_Y) twist.angular.y = 0;
    if (locks & FLR_LOCK_TURN_Z) twist.angular.z = 0;
    if (locks & FLR_LOCK_X) twist.linear.x = 0;
    if (locks & FLR_LOCK_Y) twist.linear.y = 0;
    if (locks & FLR_LOCK_Z) twist.linear.z = 0;
    return twist;
}
