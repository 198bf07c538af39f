/* a hand holds a part by a spring and a damper */
#include "feeler/dynamics.h"

static const double DOUBLING = 0.0144; /* s: (1 + dt/this) to the power of 10 ms/dt is about 2 */
static const double CALM = 0.01;       /* s: over which the device's damping is averaged */
static const double LOOSE = 1e6;       /* clamps that have grown so much are none */

flr_coupling_def flr_default_coupling_def(void)
{
    flr_coupling_def def = {
        .stiffness = 1000, .damping = 1, .stretch = 0.0005, .fade = 0.01, .hold = 0.02};
    return def;
}

/* finite and not below zero */
static bool amount(double x) { return x >= 0 && isfinite(x); }

static bool handle_is_valid(const flr_handle *handle)
{
    return flr_pose_is_valid(handle->T_world_handle) && flr_vec3_is_finite(handle->twist.angular) &&
           flr_vec3_is_finite(handle->twist.linear);
}

flr_result flr_coupling_grab(const flr_coupling_def *def, const flr_body *body,
                             const flr_handle *handle, flr_coupling *coupling, flr_error *error)
{
    const struct {
        const char *name;
        double value;
        bool zero; /* allowed */
    } numbers[] = {{"stiffness", def->stiffness, false},
                   {"turn_stiffness", def->turn_stiffness, true},
                   {"damping", def->damping, true},
                   {"stretch", def->stretch, false},
                   {"turn", def->turn, true},
                   {"fade", def->fade, true},
                   {"hold", def->hold, true}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!amount(numbers[i].value) || (!numbers[i].zero && numbers[i].value == 0))
            return flr_fail(error, FLR_BAD_ARGUMENT, "%s of a coupling: %g; must be a number %s 0",
                            numbers[i].name, numbers[i].value,
                            numbers[i].zero ? "not below" : "above");
    if (!flr_body_is_valid(body) || !handle_is_valid(handle))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "a coupling needs a handle and a body with finite poses");

    flr_pose T_part_handle =
        flr_pose_mul(flr_pose_inverse(body->T_world_part), handle->T_world_handle);
    T_part_handle.q = flr_quat_normalize(T_part_handle.q);
    flr_inertia about_grip = body->inertia;
    about_grip.tensor = flr_inertia_about(body->inertia, T_part_handle.p);
    double moment = flr_inertia_principal(about_grip, NULL).z, mass = body->inertia.mass;
    *coupling = (flr_coupling){.T_part_handle = T_part_handle,
                               .stiffness = def->stiffness,
                               .turn_stiffness = def->turn_stiffness,
                               .fade = def->fade,
                               .hold = def->hold,
                               .away = def->hold,
                               .slack = 1};
    if (def->turn_stiffness == 0) coupling->turn_stiffness = def->stiffness * moment / mass;
    coupling->damping = def->damping * 2 * sqrt(coupling->stiffness * mass);
    coupling->turn_damping = def->damping * 2 * sqrt(coupling->turn_stiffness * moment);
    double turn = def->turn > 0 ? def->turn : def->stretch / body->reach;
    coupling->force_limit = coupling->stiffness * def->stretch;
    coupling->torque_limit = coupling->turn_stiffness * turn;
    /* what holds the part back does so at one of its points, so far from the grip at most, against spring and damper */
    double lever = flr_vec3_distance(T_part_handle.p, body->inertia.centre) + body->reach;
    if (def->firm)
        coupling->torque_limit = fmax(coupling->torque_limit, 2 * coupling->force_limit * lever);
    return FLR_OK;
}

/* The turn from q to that of the handle: the shorter one, unless the last was so far round the other
 * way that this would be a jump. */
static flr_vec3 turn_to(flr_quat from, flr_quat to, flr_vec3 last)
{
    flr_vec3 turn = flr_quat_to_rotation_vector(flr_quat_mul(to, flr_quat_conjugate(from)));
    double angle = flr_vec3_length(turn);
    if (flr_vec3_length2(last) > FLR_PI * FLR_PI / 4 && flr_vec3_dot(turn, last) < 0 &&
        angle > FLR_PI / 2)
        turn = flr_vec3_scale(turn, (angle - 2 * FLR_PI) / angle);
    return turn;
}

bool flr_coupling_stretch(flr_coupling *coupling, const flr_body *body, const flr_handle *handle,
                          flr_stretch *stretch)
{
    if (!handle_is_valid(handle)) return false;
    flr_pose T_world_grip = flr_pose_mul(body->T_world_part, coupling->T_part_handle);
    if (!flr_vec3_is_finite(T_world_grip.p) || !flr_quat_is_finite(T_world_grip.q)) return false;

    flr_vec3 arm = flr_vec3_sub(T_world_grip.p, flr_body_centre(body));
    flr_twist grip = flr_twist_move(body->twist, arm);
    flr_stretch s = {.turn = turn_to(T_world_grip.q, handle->T_world_handle.q, coupling->turn),
                     .shift = flr_vec3_sub(handle->T_world_handle.p, T_world_grip.p),
                     .speed = flr_twist_make(flr_vec3_sub(handle->twist.angular, grip.angular),
                                             flr_vec3_sub(handle->twist.linear, grip.linear)),
                     .arm = arm};
    if (!flr_vec3_is_finite(s.turn) || !flr_vec3_is_finite(s.shift) ||
        !flr_vec3_is_finite(s.speed.angular) || !flr_vec3_is_finite(s.speed.linear))
        return false;
    coupling->turn = s.turn;
    *stretch = s;
    return true;
}

/* At most so long. */
static flr_vec3 clamped(flr_vec3 v, double limit)
{
    double length = flr_vec3_length(v);
    if (length <= limit) return v;
    /* however long it is, even beyond the range of its own square */
    return flr_vec3_scale(flr_vec3_normalize(v), limit);
}

flr_wrench flr_coupling_wrench(const flr_coupling *c, const flr_stretch *stretch)
{
    double force = c->force_limit * c->slack, torque = c->torque_limit * c->slack;
    flr_wrench at_grip = flr_wrench_make(
        flr_vec3_add(clamped(flr_vec3_scale(stretch->turn, c->turn_stiffness), torque),
                     clamped(flr_vec3_scale(stretch->speed.angular, c->turn_damping), torque)),
        flr_vec3_add(clamped(flr_vec3_scale(stretch->shift, c->stiffness), force),
                     clamped(flr_vec3_scale(stretch->speed.linear, c->damping), force)));
    return flr_wrench_move(at_grip, flr_vec3_neg(stretch->arm));
}

flr_wrench flr_coupling_feel(flr_coupling *coupling, const flr_body *body, const flr_handle *handle,
                             bool touching, double dt)
{
    flr_stretch stretch;
    if (!(dt > 0) || !flr_coupling_stretch(coupling, body, handle, &stretch)) {
        coupling->feel = 0;
        coupling->speed = (flr_twist){0};
        coupling->away = coupling->hold;
        coupling->slack = 1;
        return (flr_wrench){0};
    }
    double change = coupling->fade > dt ? dt / coupling->fade : 1;
    coupling->away = touching ? 0 : fmin(coupling->away + dt, coupling->hold);
    bool felt = touching || coupling->pulled || coupling->away < coupling->hold;
    coupling->feel = felt ? fmin(1, coupling->feel + change) : fmax(0, coupling->feel - change);

    /* as often as not a contact that is lost is back in the next step: the clamps must be there */
    coupling->slack = touching ? 1 : fmin(coupling->slack * (1 + dt / DOUBLING), LOOSE);

    /* the bumps of a body that slides over voxels are in its velocity; a damper behind a lag is still
     * one that only takes energy */
    double share = dt / (CALM + dt);
    coupling->speed = flr_twist_add(flr_twist_scale(coupling->speed, 1 - share),
                                    flr_twist_scale(stretch.speed, share));

    /* the device holds at the handle's origin what the body got at the grip: between the two lies the
     * stretch, which the force runs along, so that its moment is nothing but that of the damping.
     * Clamped as a whole, it does not feel every bump of a body that is pulled by all it has */
    flr_vec3 force = flr_vec3_add_scaled(flr_vec3_scale(stretch.shift, coupling->stiffness),
                                         coupling->damping, coupling->speed.linear);
    flr_vec3 torque = flr_vec3_add_scaled(flr_vec3_scale(stretch.turn, coupling->turn_stiffness),
                                          coupling->turn_damping, coupling->speed.angular);
    return flr_wrench_scale(flr_wrench_make(clamped(torque, coupling->torque_limit),
                                            clamped(force, coupling->force_limit)),
                            -coupling->feel);
}
