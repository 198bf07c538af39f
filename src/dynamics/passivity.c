/* the simulation must not feed energy into the hand */
#include "feeler/dynamics.h"

flr_passivity_params flr_default_passivity_params(void)
{
    flr_passivity_params params = {.control = true,
                                   .store = 0.05,
                                   .damping = 5,
                                   .radius = 0.05,
                                   .bound = 0.01,
                                   .agility = 50,
                                   .turn_agility = 4000,
                                   .slew = 1,
                                   .turn_slew = 0.01};
    return params;
}

static bool wrench_is_finite(flr_wrench wrench)
{
    return flr_vec3_is_finite(wrench.force) && flr_vec3_is_finite(wrench.torque);
}

/* The wrench that was held so many samples before the last. */
static flr_wrench *held(flr_passivity *p, uint32_t before)
{
    return &p->held[(p->held_count - before) % FLR_PASSIVITY_LATE];
}

static uint32_t late_samples(const flr_passivity_params *params, double dt)
{
    double samples = floor(params->delay / dt + 0.5);
    return samples > 0 ? (uint32_t)fmin(samples, FLR_PASSIVITY_LATE - 1) : 0;
}

/* Joules that a wrench gives to the device on its way. */
static double given(flr_wrench wrench, flr_motion way)
{
    return flr_vec3_dot(wrench.force, way.shift) + flr_vec3_dot(wrench.torque, way.turn);
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

/* The damping that would take the surplus back over the next interval, if the device goes on as it
 * did: b |v|^2 dt = surplus, a turn counting by the radius. */
static flr_wrench damped(flr_passivity *p, const flr_passivity_params *params, flr_wrench wrench,
                         double dt)
{
    double r2 = params->radius * params->radius;
    double way2 = flr_vec3_length2(p->way.shift) + r2 * flr_vec3_length2(p->way.turn);
    p->damping = 0;
    if (!(p->account < 0) || !(way2 > 0)) return wrench;
    p->damping = fmin(-p->account * dt / way2, params->damping);
    flr_wrench sum =
        flr_wrench_make(flr_vec3_add_scaled(wrench.torque, -p->damping * r2 / dt, p->way.turn),
                        flr_vec3_add_scaled(wrench.force, -p->damping / dt, p->way.shift));
    return wrench_is_finite(sum) ? sum : wrench;
}

/* Joules by which it may be more in a sample that follows the last way: the hand changes its
 * velocity. */
static double unsure(const flr_passivity_params *params, flr_wrench wrench, double dt)
{
    return (params->agility * flr_vec3_length(wrench.force) +
            params->turn_agility * flr_vec3_length(wrench.torque)) *
           dt * dt;
}

/* Joules that a wrench may give at most until the guard has brought it to zero, in n samples after
 * this one: the share that is left then falls evenly, so that samples count as 1 + n/2; the velocity
 * may have changed by more in each of them, which is at most (1 + n/2)(1 + n/3) changes. */
static double exposed(const flr_passivity *p, const flr_passivity_params *params, flr_wrench wrench,
                      uint32_t late, double dt)
{
    double force = flr_vec3_length(wrench.force), torque = flr_vec3_length(wrench.torque);
    double n = fmax(params->slew > 0 ? force / params->slew : 0,
                    params->turn_slew > 0 ? torque / params->turn_slew : 0);
    double going = given(wrench, p->way);
    /* what goes on taking does so for certain only in this sample */
    double sure = going > 0 ? going * (1 + n / 2) : going;
    return sure + unsure(params, wrench, dt) * (1 + n / 2) * (1 + late + n / 3);
}

/* The same of the wrenches whose ways are not known yet. */
static double on_their_way(flr_passivity *p, const flr_passivity_params *params, uint32_t late,
                           double dt)
{
    double sum = 0;
    for (uint32_t i = 0; i < late; i++) {
        flr_wrench wrench = *held(p, i);
        sum += fmax(0, given(wrench, p->way) + unsure(params, wrench, dt) * (late - i));
    }
    return sum;
}

/* Counts what came of the last way, and how much the device surprises. */
static void look_back(flr_passivity *p, const flr_passivity_params *params, flr_pose T, double dt)
{
    flr_quat back = flr_quat_conjugate(p->T_world_handle.q);
    flr_motion way = {flr_quat_to_rotation_vector(flr_quat_mul(T.q, back)),
                      flr_vec3_sub(T.p, p->T_world_handle.p)};
    double joules = given(*held(p, late_samples(params, dt)), way);
    if (isfinite(joules)) keep_account(p, params, joules);
    double line = flr_vec3_length(flr_vec3_sub(way.shift, p->way.shift));
    double turn = flr_vec3_length(flr_vec3_sub(way.turn, p->way.turn));
    p->agility = fmax(p->agility, line / (dt * dt));
    p->turn_agility = fmax(p->turn_agility, turn / (dt * dt));
    p->way = way;
}

/* Notes what acts from now on. */
static flr_wrench hold(flr_passivity *p, flr_wrench wrench)
{
    p->held_count++;
    return *held(p, 0) = wrench;
}

flr_wrench flr_passivity_pass(flr_passivity *p, const flr_passivity_params *params,
                              flr_pose T_world_handle, flr_wrench wrench, double dt)
{
    if (!flr_pose_is_valid(T_world_handle) || !wrench_is_finite(wrench) || !(dt > 0) ||
        !isfinite(dt)) {
        *p = (flr_passivity){.account = fmin(p->account, 0),
                             .deficit = p->deficit,
                             .agility = p->agility,
                             .turn_agility = p->turn_agility,
                             .put = p->put,
                             .got = p->got};
        return (flr_wrench){0};
    }
    if (p->begun) look_back(p, params, T_world_handle, dt);
    p->begun = true;
    p->T_world_handle = T_world_handle;
    p->damping = 0;
    p->gain = 1;
    if (!params->control) return hold(p, wrench);

    uint32_t late = late_samples(params, dt);
    wrench = damped(p, params, wrench, dt);
    double room = fmax(0, p->account + params->bound - on_their_way(p, params, late, dt));
    double most = exposed(p, params, wrench, late, dt);
    if (most > room) p->gain = room / most;
    return hold(p, p->gain < 1 ? flr_wrench_scale(wrench, p->gain) : wrench);
}

void flr_passivity_sent(flr_passivity *p, flr_wrench wrench)
{
    *held(p, 0) = wrench_is_finite(wrench) ? wrench : (flr_wrench){0};
}
