/* joints of a scene whose parts have moved */
#include <math.h>

#include "sim/engine_internal.h"

/* From where a part starts to where it is; the world stays. NULL name: there is no such part. */
static flr_pose moved_by(uint32_t part, const flr_part_list *start, const flr_part_list *now,
                         const char **name)
{
    *name = "";
    if (part == FLR_JOINT_WORLD) return flr_pose_identity();
    const flr_part_entry *from = flr_part_list_find(start, part),
                         *to = flr_part_list_find(now, part);
    *name = from && to ? to->name : NULL;
    return *name ? flr_pose_mul(to->T_start, flr_pose_inverse(from->T_start)) : flr_pose_identity();
}

static void shift(flr_joint_axis *axis, double by)
{
    axis->low -= by;
    axis->high -= by;
    axis->rest -= by;
}

/* Poses do not tell whole turns. A screw has gone along its axis with them; another joint is within its limits. */
static double whole_turns(const flr_joint *j, double turn, double slide)
{
    double near = 0;
    if (j->kind == FLR_JOINT_SCREW)
        near = FLR_TWO_PI * slide / j->pitch;
    else if (j->turn.limited && j->turn.high - j->turn.low <= FLR_TWO_PI)
        near = 0.5 * (j->turn.low + j->turn.high);
    return turn - FLR_TWO_PI * round((turn - near) / FLR_TWO_PI);
}

bool flr_joint_moved(const flr_joint_entry *joint, const flr_part_list *start,
                     const flr_part_list *now, flr_scene_joint *to)
{
    const char *a, *b;
    const flr_pose A = moved_by(joint->joint.a, start, now, &a),
                   B = moved_by(joint->joint.b, start, now, &b);
    if (!a || !b) return false;
    *to = (flr_scene_joint){.name = joint->text, .a = *a ? a : NULL, .b = b, .joint = joint->joint};
    flr_joint *j = &to->joint;
    /* how far side b is from side a, about and along the axis */
    const flr_vec3 axis = flr_vec3_normalize(j->axis);
    const flr_pose M = flr_pose_mul(flr_pose_inverse(A), B);
    const flr_vec3 turned = {M.q.x, M.q.y, M.q.z};
    const double turn = 2 * flr_atan2(flr_vec3_dot(turned, axis), M.q.w);
    const double slide = flr_vec3_dot(axis, flr_vec3_sub(flr_pose_apply(M, j->point), j->point));
    if (j->kind != FLR_JOINT_BALL) shift(&j->turn, whole_turns(j, turn, slide));
    shift(&j->slide, slide);
    j->point = flr_pose_apply(A, j->point);
    j->axis = flr_pose_apply_vector(A, axis);
    if (*b) return true;
    /* the world is side a of what is written */
    to->b = to->a, to->a = NULL;
    j->axis = flr_vec3_neg(j->axis);
    return true;
}
