/* spatial inertia of one rigid body */
#include "feeler/math.h"

#include <stddef.h>

flr_twist flr_twist_transform(flr_pose T_a_b, flr_twist twist_b)
{
    flr_twist turned = flr_twist_make(flr_quat_rotate(T_a_b.q, twist_b.angular),
                                      flr_quat_rotate(T_a_b.q, twist_b.linear));
    return flr_twist_move(turned, flr_vec3_neg(T_a_b.p)); /* from b's origin to a's */
}

flr_wrench flr_wrench_transform(flr_pose T_a_b, flr_wrench wrench_b)
{
    flr_wrench turned = flr_wrench_make(flr_quat_rotate(T_a_b.q, wrench_b.torque),
                                        flr_quat_rotate(T_a_b.q, wrench_b.force));
    return flr_wrench_move(turned, flr_vec3_neg(T_a_b.p));
}

static flr_inertia at_origin(double mass, double x, double y, double z)
{
    return (flr_inertia){mass, flr_vec3_zero(), flr_mat3_diagonal(flr_vec3_make(x, y, z))};
}

flr_inertia flr_inertia_box(double mass, flr_vec3 size)
{
    double xx = size.x * size.x, yy = size.y * size.y, zz = size.z * size.z, m = mass / 12;
    return at_origin(mass, m * (yy + zz), m * (xx + zz), m * (xx + yy));
}

flr_inertia flr_inertia_sphere(double mass, double radius)
{
    double i = 0.4 * mass * radius * radius;
    return at_origin(mass, i, i, i);
}

/* what a point mass at `offset` adds to a tensor: m (|r|^2 1 - r r^T) */
static flr_mat3 point_tensor(double mass, flr_vec3 offset)
{
    double r2 = flr_vec3_length2(offset);
    flr_mat3 diagonal = flr_mat3_diagonal(flr_vec3_make(r2, r2, r2));
    return flr_mat3_scale(flr_mat3_sub(diagonal, flr_mat3_outer(offset, offset)), mass);
}

flr_mat3 flr_inertia_about(flr_inertia inertia, flr_vec3 point)
{
    flr_vec3 offset = flr_vec3_sub(inertia.centre, point);
    return flr_mat3_add(inertia.tensor, point_tensor(inertia.mass, offset));
}

flr_inertia flr_inertia_add(flr_inertia a, flr_inertia b)
{
    double mass = a.mass + b.mass;
    if (!(mass > 0)) return at_origin(0, 0, 0, 0);
    /* from a towards b by b's share: exact when one of the two weighs nothing */
    flr_vec3 centre =
        flr_vec3_add_scaled(a.centre, b.mass / mass, flr_vec3_sub(b.centre, a.centre));
    return (flr_inertia){mass, centre,
                         flr_mat3_add(flr_inertia_about(a, centre), flr_inertia_about(b, centre))};
}

flr_inertia flr_inertia_transform(flr_pose T_a_b, flr_inertia inertia_b)
{
    flr_mat3 r = flr_quat_to_mat3(T_a_b.q);
    flr_mat3 tensor = flr_mat3_mul(flr_mat3_mul(r, inertia_b.tensor), flr_mat3_transpose(r));
    return (flr_inertia){inertia_b.mass, flr_pose_apply(T_a_b, inertia_b.centre), tensor};
}

flr_vec3 flr_inertia_principal(flr_inertia inertia, flr_pose *T_body_principal)
{
    flr_vec3 moments;
    flr_mat3 axes;
    flr_mat3_eigen(inertia.tensor, &moments, &axes);
    if (T_body_principal)
        *T_body_principal = flr_pose_make(inertia.centre, flr_quat_from_mat3(axes));
    return moments;
}

flr_wrench flr_inertia_momentum(flr_inertia inertia, flr_twist twist)
{
    /* simple at the centre, then moved to the origin */
    flr_twist at_centre = flr_twist_move(twist, inertia.centre);
    flr_wrench momentum = flr_wrench_make(flr_mat3_apply(inertia.tensor, at_centre.angular),
                                          flr_vec3_scale(at_centre.linear, inertia.mass));
    return flr_wrench_move(momentum, flr_vec3_neg(inertia.centre));
}

bool flr_inertia_is_valid(flr_inertia inertia)
{
    if (!(inertia.mass > 0) || !isfinite(inertia.mass) || !flr_vec3_is_finite(inertia.centre) ||
        !flr_mat3_is_finite(inertia.tensor))
        return false;

    flr_vec3 moments = flr_inertia_principal(inertia, NULL);
    double tolerance = 1e-6 * moments.z;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            if (fabs(inertia.tensor.m[i][j] - inertia.tensor.m[j][i]) > tolerance) return false;
    return moments.x > 0 && moments.z <= moments.x + moments.y + tolerance;
}
