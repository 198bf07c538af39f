/* which axis of the scene points up: the whole scene is turned, so that up is z as everywhere in feeler */
#include <math.h>
#include <stdlib.h>

#include "sim/engine_internal.h"
#include "sim/review.h"

flr_axis flr_engine_up(const flr_engine *e) { return e->up; }

void flr_engine_take_up(flr_engine *e, flr_quat turn)
{
    if (e->members.count) return;
    flr_axis up = FLR_AXIS_Z;
    for (flr_axis axis = FLR_AXIS_X; axis < FLR_AXIS_Z; axis++)
        if (fabs(flr_quat_dot(flr_axis_upright(axis), turn)) > 1 - 1e-9) up = axis;
    if (up != e->up) flr_engine_tell(e, FLR_ENGINE_EVENT_UP);
    e->up = up;
}

flr_quat flr_turn_between(flr_quat from, flr_quat to)
{
    return flr_quat_normalize(flr_quat_mul(to, flr_quat_conjugate(from)));
}

/* A constraint is in the world's axes, which are other axes of the scene afterwards. */
static void turn_constraint(flr_world_constraint *c, flr_pose turn)
{
    const flr_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    unsigned locks = 0;
    for (int i = 0; i < 3; i++) {
        const flr_vec3 to = flr_pose_apply_vector(turn, axes[i]);
        const int k = fabs(to.x) > 0.5 ? 0 : fabs(to.y) > 0.5 ? 1 : 2;
        if (c->locks & (unsigned)FLR_LOCK_X << i) locks |= (unsigned)FLR_LOCK_X << k;
        if (c->locks & (unsigned)FLR_LOCK_TURN_X << i) locks |= (unsigned)FLR_LOCK_TURN_X << k;
    }
    c->locks = locks;
    c->wrench.force = flr_pose_apply_vector(turn, c->wrench.force);
    c->wrench.torque = flr_pose_apply_vector(turn, c->wrench.torque);
    c->T_world_rest = flr_pose_mul(turn, c->T_world_rest);
}

static void turn_part(flr_part_entry *part, flr_pose turn)
{
    part->T_start = flr_pose_mul(turn, part->T_start);
    if (part->has_goal) part->T_goal = flr_pose_mul(turn, part->T_goal);
    turn_constraint(&part->constraint, turn);
}

flr_result flr_engine_set_up(flr_engine *e, flr_axis up, flr_error *error)
{
    if (up < FLR_AXIS_X || up > FLR_AXIS_Z)
        return flr_fail(error, FLR_BAD_ARGUMENT, "the up axis must be x, y or z");
    if (e->replay) return flr_fail(error, FLR_AGAIN, "a recording is shown; end that first");
    if (e->taping)
        return flr_fail(error, FLR_AGAIN,
                        "a recording is being made; stop it first, since it holds the scene as it "
                        "stands");
    if (up == e->up) return FLR_OK;
    const flr_pose turn = {.q = flr_turn_between(flr_axis_upright(e->up), flr_axis_upright(up))};
    for (uint32_t i = 0; i < e->members.count; i++) {
        turn_part(&e->members.list[i], turn);
        flr_engine_tell_part(e, &e->members.list[i]);
    }
    for (uint32_t i = 0; i < e->members.joint_count; i++) {
        flr_joint *joint = &e->members.joints[i].joint;
        joint->point = flr_pose_apply(turn, joint->point);
        joint->axis = flr_pose_apply_vector(turn, joint->axis);
    }
    for (uint32_t i = 0; i < e->review->note_count; i++) {
        flr_engine_note *note = &e->review->notes[i];
        if (!flr_is_part(note->part)) note->position = flr_pose_apply(turn, note->position);
    }
    e->camera.given = false; /* it looked at the scene as it stood */
    e->up = up;
    e->turned = flr_quat_normalize(flr_quat_mul(turn.q, e->turned));
    flr_view_turn(e);
    e->dirty = e->altered = true;
    flr_engine_suspect_overlaps(e);
    flr_engine_tell(e, FLR_ENGINE_EVENT_UP);
    if (e->members.joint_count) flr_engine_tell(e, FLR_ENGINE_EVENT_JOINTS);
    if (e->review->note_count) flr_engine_tell(e, FLR_ENGINE_EVENT_NOTES);
    return FLR_OK;
}
