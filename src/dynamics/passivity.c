/* the simulation must not feed energy into the hand */
#include "feeler/passivity.h"

#include "feeler/body.h"

flr_passivity_params flr_default_passivity_params(void)
{
    flr_passivity_params params = {.control = true, .store = 0.05, .damping = 5, .radius = 0.05};
    return params;
}

static bool wrench_is_finite(flr_wrench wrench)
{
    return flr_vec3_is_finite(wrench.force) && flr_vec3_is_finite(wrench.torque);
}

/* Joules that the wrench held since the last call gave to the device on its way. */
static double given(const flr_passivity *p, flr_motion way)
{
    return flr_vec3_dot(p->held.force, way.shift) + flr_vec3_dot(p->held.torque, way.turn);
}

static void keep_account(flr_passivity *p, const flr_passivity_params *params, double joules)
{
    if (joules > 0)
        p->got += joules;
    else
        p->put -= joules;
    p->account = fmin(p->account - joules, params->store);
    p->deficit = fmax(p->deficit, -p->account);
}

flr_wrench flr_passivity_pass(flr_passivity *p, const flr_passivity_params *params,
                              flr_pose T_world_handle, flr_wrench wrench, double dt)
{
    if (!flr_pose_is_valid(T_world_handle) || !wrench_is_finite(wrench) || !(dt > 0) ||
        !isfinite(dt)) {
        *p = (flr_passivity){.deficit = p->deficit, .put = p->put, .got = p->got};
        return (flr_wrench){0};
    }
    flr_motion way = {0};
    if (p->begun) {
        flr_quat back = flr_quat_conjugate(p->T_world_handle.q);
        way.turn = flr_quat_to_rotation_vector(flr_quat_mul(T_world_handle.q, back));
        way.shift = flr_vec3_sub(T_world_handle.p, p->T_world_handle.p);
        double joules = given(p, way);
        if (isfinite(joules)) keep_account(p, params, joules);
    }
    p->begun = true;
    p->T_world_handle = T_world_handle;

    /* the damping that would take the surplus back over the next interval, if the device goes on as
     * it did: b |v|^2 dt = surplus, a turn counting by the radius */
    double r2 = params->radius * params->radius;
    double way2 = flr_vec3_length2(way.shift) + r2 * flr_vec3_length2(way.turn);
    p->damping = 0;
    if (params->control && p->account < 0 && way2 > 0)
        p->damping = fmin(-p->account * dt / way2, params->damping);
    p->held = flr_wrench_make(flr_vec3_add_scaled(wrench.torque, -p->damping * r2 / dt, way.turn),
                              flr_vec3_add_scaled(wrench.force, -p->damping / dt, way.shift));
    if (!wrench_is_finite(p->held)) p->held = wrench;
    return p->held;
}

void flr_passivity_sent(flr_passivity *p, flr_wrench wrench)
{
    p->held = wrench_is_finite(wrench) ? wrench : (flr_wrench){0};
}
