/* how much of a motion is free: conservative advancement */
#include <math.h>

#include "fit/fit_query.h"

flr_fit_motion_params flr_default_fit_motion_params(void)
{
    flr_fit_motion_params params = {.tolerance = 1e-7};
    return params;
}

flr_pose flr_fit_motion_pose(const flr_fit_motion *motion, double fraction)
{
    if (fraction <= 0) return motion->from;
    if (fraction >= 1) return motion->to;
    const flr_vec3 from = flr_pose_apply(motion->from, motion->centre),
                   to = flr_pose_apply(motion->to, motion->centre);
    flr_pose T = {.q = flr_quat_slerp(motion->from.q, motion->to.q, fraction)};
    T.p = flr_vec3_sub(flr_vec3_lerp(from, to, fraction), flr_quat_rotate(T.q, motion->centre));
    return T;
}

/* metres: no point of b moves farther in all of the motion */
static double travel_of(const flr_fit *b, const flr_fit_motion *motion)
{
    const flr_vec3 from = flr_pose_apply(motion->from, motion->centre),
                   to = flr_pose_apply(motion->to, motion->centre);
    const flr_vec3 low = flr_vec3_sub(b->info.bounds.low, motion->centre),
                   high = flr_vec3_sub(b->info.bounds.high, motion->centre);
    const double radius =
        flr_vec3_length(flr_vec3_max(flr_vec3_max(flr_vec3_neg(low), low),
                                     flr_vec3_max(flr_vec3_neg(high), high)));
    return flr_vec3_distance(from, to) + radius * flr_quat_angle(motion->from.q, motion->to.q);
}

void flr_fit_pair_motion(flr_fit_pair *pair, const flr_fit_motion *motion,
                         const flr_fit_motion_params *params, flr_fit_motion_result *result)
{
    const flr_fit_motion_params asked = params ? *params : flr_default_fit_motion_params();
    *result = (flr_fit_motion_result){.distance = INFINITY};
    result->triangle[0] = result->triangle[1] = FLR_NONE;
    if (!flr_pose_is_valid(motion->from) || !flr_pose_is_valid(motion->to)) return;
    const double travel = travel_of(pair->parts[1], motion);
    result->complete = true;
    while (result->free < 1) {
        flr_fit_params query = flr_default_fit_params();
        flr_fit_result r;
        query.reach = -1;
        flr_fit_pair_query(pair, flr_fit_motion_pose(motion, result->free), &query, NULL, 0, &r);
        const double room = r.lower - asked.clearance;
        if (room >= travel * (1 - result->free)) {
            result->free = 1;
        } else if (room > asked.tolerance) {
            result->free += room / travel;
        } else {
            result->blocked = true;
            result->distance = r.distance;
            result->normal = r.normal;
            for (int i = 0; i < 2; i++)
                result->point[i] = r.point[i], result->triangle[i] = r.triangle[i];
            return;
        }
    }
}
