/* a part that moves by itself: turn and drift */
#include "feeler/dynamics.h"

#include "feeler/mesh_check.h"

flr_body_def flr_default_body_def(void)
{
    flr_body_def def = {
        .inertia = flr_inertia_sphere(1, 0.1), .reach = 0.1, .T_world_part = flr_pose_identity()};
    return def;
}

flr_result flr_body_def_from_mesh(const flr_mesh *mesh, double density, flr_body_def *def,
                                  flr_error *error)
{
    flr_mass mass;
    flr_result result = flr_mass_compute(mesh, NULL, density, &mass, error);
    if (result != FLR_OK) return result;
    double farthest2 = 0;
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        flr_vec3 offset = flr_vec3_sub(mesh->vertices[i], mass.inertia.centre);
        farthest2 = fmax(farthest2, flr_vec3_length2(offset));
    }
    *def = flr_default_body_def();
    def->inertia = mass.inertia;
    def->reach = sqrt(farthest2);
    return FLR_OK;
}

flr_result flr_body_make(const flr_body_def *def, flr_body *body, flr_error *error)
{
    if (!flr_inertia_is_valid(def->inertia))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "no body has this inertia: mass and moments must be above 0, and no moment "
                        "above the sum of the other two");
    if (!(def->mass >= 0) || !isfinite(def->mass))
        return flr_fail(error, FLR_BAD_ARGUMENT, "mass %g kg: must be above 0, or 0 for its own",
                        def->mass);
    if (!(def->reach > 0) || !isfinite(def->reach))
        return flr_fail(error, FLR_BAD_ARGUMENT, "reach %g m: must be above 0", def->reach);
    flr_body made = {.inertia = def->inertia,
                     .reach = def->reach,
                     .T_world_part = def->T_world_part,
                     .twist = def->twist};
    if (def->mass > 0) {
        made.inertia.mass = def->mass;
        made.inertia.tensor = flr_mat3_scale(def->inertia.tensor, def->mass / def->inertia.mass);
    }
    if (!flr_body_is_valid(&made))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "pose or velocity of a body: must be finite, with a unit quaternion");
    *body = made;
    return FLR_OK;
}

static bool twist_is_finite(flr_twist twist)
{
    return flr_vec3_is_finite(twist.angular) && flr_vec3_is_finite(twist.linear);
}

bool flr_body_is_valid(const flr_body *body)
{
    return flr_pose_is_valid(body->T_world_part) && twist_is_finite(body->twist) &&
           body->reach > 0 && isfinite(body->reach) && flr_inertia_is_valid(body->inertia);
}

/* the tensor of an orientation: R I R^T */
static flr_mat3 turned_tensor(const flr_body *body, flr_quat q_world_part)
{
    flr_mat3 r = flr_quat_to_mat3(q_world_part);
    return flr_mat3_mul(flr_mat3_mul(r, body->inertia.tensor), flr_mat3_transpose(r));
}

flr_mat3 flr_body_tensor(const flr_body *body) { return turned_tensor(body, body->T_world_part.q); }

flr_wrench flr_body_momentum(const flr_body *body)
{
    return flr_wrench_make(flr_mat3_apply(flr_body_tensor(body), body->twist.angular),
                           flr_vec3_scale(body->twist.linear, body->inertia.mass));
}

/* ---- motion ---- */

/* The angular velocity of a body with this angular momentum (world's axes) in this orientation. */
static flr_vec3 spin_of(const flr_mat3 *inverse, flr_quat q, flr_vec3 momentum)
{
    return flr_quat_rotate(q, flr_mat3_apply(*inverse, flr_quat_rotate_inverse(q, momentum)));
}

flr_motion flr_body_drift(const flr_body *body, double dt)
{
    enum {
        BODY_ITERATIONS = 6
    }; /* each gains the factor dt |w|, 0.01 or less in any sensible use */

    flr_vec3 spin = body->twist.angular;
    flr_motion motion = {.turn = flr_vec3_scale(spin, dt),
                         .shift = flr_vec3_scale(body->twist.linear, dt)};
    flr_mat3 inverse;
    if (!flr_mat3_inverse(body->inertia.tensor, &inverse)) return motion;

    /* the turn that goes evenly with the angular velocity of its own middle: the step is the same
     * forwards and backwards in time, so that energy cannot creep */
    flr_quat q = body->T_world_part.q;
    flr_vec3 momentum = flr_body_momentum(body).torque;
    for (int i = 0; i < BODY_ITERATIONS; i++) {
        flr_vec3 before = spin;
        flr_quat half = flr_quat_from_rotation_vector(flr_vec3_scale(spin, dt / 2));
        spin = spin_of(&inverse, flr_quat_normalize(flr_quat_mul(half, q)), momentum);
        if (flr_vec3_equal(spin, before)) break; /* and so it would stay */
    }
    motion.turn = flr_vec3_scale(spin, dt);
    return motion;
}

flr_pose flr_motion_apply(const flr_body *body, flr_motion motion, double fraction)
{
    flr_quat turn = flr_quat_from_rotation_vector(flr_vec3_scale(motion.turn, fraction));
    flr_quat q = flr_quat_normalize(flr_quat_mul(turn, body->T_world_part.q));
    flr_vec3 centre = flr_vec3_add_scaled(flr_body_centre(body), fraction, motion.shift);
    return flr_pose_make(flr_vec3_sub(centre, flr_quat_rotate(q, body->inertia.centre)), q);
}

void flr_body_move(flr_body *body, flr_motion motion, double fraction)
{
    flr_pose moved = flr_motion_apply(body, motion, fraction);
    flr_mat3 inverse;
    if (!(fraction > 0) || fraction > 1 || !flr_vec3_is_finite(motion.turn) ||
        !flr_vec3_is_finite(moved.p) || !flr_mat3_inverse(body->inertia.tensor, &inverse)) {
        body->twist = (flr_twist){0};
        return;
    }
    flr_vec3 momentum = flr_body_momentum(body).torque;
    body->T_world_part = moved;
    body->twist.angular = spin_of(&inverse, moved.q, momentum);
    if (fraction < 1) body->twist = flr_twist_scale(body->twist, fraction);
    if (!twist_is_finite(body->twist)) body->twist = (flr_twist){0};
}
