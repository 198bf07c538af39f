/* poses and boxes: what is too long for the header */
#include "feeler/math.h"

flr_pose flr_pose_interpolate(flr_pose a, flr_pose b, double t)
{
    return flr_pose_make(flr_vec3_lerp(a.p, b.p, t), flr_quat_slerp(a.q, b.q, t));
}

bool flr_pose_is_valid(flr_pose T)
{
    return flr_vec3_is_finite(T.p) && flr_quat_is_finite(T.q) &&
           fabs(sqrt(flr_quat_dot(T.q, T.q)) - 1) <= 1e-6;
}

flr_box3 flr_box3_transform(flr_pose T_a_b, flr_box3 box_b)
{
    if (flr_box3_is_empty(box_b)) return flr_box3_empty();

    /* the half edges, turned, reach as far as the sum of their amounts */
    flr_vec3 centre = flr_pose_apply(T_a_b, flr_box3_centre(box_b));
    flr_vec3 half = flr_vec3_scale(flr_box3_size(box_b), 0.5);
    flr_mat3 reach = flr_quat_to_mat3(T_a_b.q);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) reach.m[i][j] = fabs(reach.m[i][j]);
    flr_vec3 turned = flr_mat3_apply(reach, half);
    return flr_box3_make(flr_vec3_sub(centre, turned), flr_vec3_add(centre, turned));
}
