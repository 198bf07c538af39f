/* another axis points up in a running controller: parts, joints, notes, undo, what is saved; and when that cannot be */
#include <math.h>
#include <string.h>

#include "sim/engine_internal.h"
#include "support/fixtures.h"
#include "support/test.h"

static flr_error error;

static flr_pose pose_of(flr_test_engine *s, flr_part_id part)
{
    flr_engine_part found;
    flr_engine_view(s->engine);
    assert_ok(flr_engine_get_part(s->engine, part, &found, &error), error);
    return found.T_world_part;
}

/* the y axis of what was opened is z then */
static flr_pose upright(flr_axis up, flr_pose pose)
{
    return flr_pose_mul((flr_pose){.q = flr_axis_upright(up)}, pose);
}

static void same_pose(flr_pose a, flr_pose b)
{
    assert_lt(flr_vec3_distance(a.p, b.p), 1e-12);
    assert_lt(flr_quat_angle(a.q, b.q), 1e-7);
}

static void turn(flr_test_engine *s, flr_axis up)
{
    assert_ok(flr_engine_set_up(s->engine, up, &error), error);
    assert_int_equal(flr_engine_up(s->engine), up);
}

static void put(flr_test_engine *s, flr_part_id part, double x, double y, double z)
{
    const flr_pose pose = flr_pose_make(flr_vec3_make(x, y, z), flr_quat_identity());
    assert_ok(flr_engine_place(s->engine, part, pose, &error), error);
    flr_test_engine_pass(s, 50);
}

static void everything_is_turned(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    assert_int_equal(flr_engine_up(s.engine), FLR_AXIS_Z);
    put(&s, s.block, 0.01, 0.02, 0.05);
    put(&s, s.ball, 0.05, 0.01, 0.06);
    const flr_part_id parts[] = {s.plate, s.block, s.ball};
    flr_pose before[3];
    for (int i = 0; i < 3; i++) before[i] = pose_of(&s, parts[i]);
    flr_engine_note free_note = {FLR_ENGINE_NONE, FLR_NO_PART_ID, {0.1, 0.2, 0.3}, "there"};
    flr_engine_note on_part = {FLR_ENGINE_NONE, s.block, {0.01, 0, 0}, "on it"};
    assert_ok(flr_engine_set_note(s.engine, &free_note, &error), error);
    assert_ok(flr_engine_set_note(s.engine, &on_part, &error), error);
    for (flr_axis up = FLR_AXIS_X; up <= FLR_AXIS_Z; up++) {
        turn(&s, up);
        // at once, and when the loop has turned its parts
        for (int later = 0; later < 2; later++) {
            for (int i = 0; i < 3; i++) same_pose(pose_of(&s, parts[i]), upright(up, before[i]));
            flr_test_engine_settle(&s);
        }
        const flr_pose there = upright(up, (flr_pose){{0.1, 0.2, 0.3}, {1, 0, 0, 0}});
        assert_lt(flr_vec3_distance(flr_engine_note_at(s.engine, 0)->position, there.p), 1e-12);
        assert_within(flr_engine_note_at(s.engine, 1)->position.x, 0.01, 1e-15);
    }
    // back to where they started, which is turned, too
    turn(&s, FLR_AXIS_Y);
    flr_test_engine_settle(&s);
    assert_ok(flr_engine_reset(s.engine, &error), error);
    flr_test_engine_pass(&s, 50);
    same_pose(pose_of(&s, s.block), upright(FLR_AXIS_Y, (flr_pose){{0, 0, 0.03}, {1, 0, 0, 0}}));
    // undo takes back what was done before the scene was turned
    for (int i = 0; i < 2; i++) {
        assert_ok(flr_engine_undo(s.engine, 1, &error), error);
        flr_test_engine_pass(&s, 50);
    }
    same_pose(pose_of(&s, s.block), upright(FLR_AXIS_Y, before[1]));
    same_pose(pose_of(&s, s.ball), upright(FLR_AXIS_Y, (flr_pose){{0.05, 0, 0.03}, {1, 0, 0, 0}}));
    flr_test_engine_free(&s);
}

/* A joint to the world and a locked axis turn with the scene. */
static void what_guides_parts_is_turned(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_joint found;
    flr_test_engine_make(&s, true, NULL);
    flr_joint joint = flr_default_joint();
    joint.kind = FLR_JOINT_PRISMATIC;
    joint.a = FLR_JOINT_WORLD, joint.b = s.block.index;
    joint.slide = (flr_joint_axis){.limited = true, .low = -0.002, .high = 0.012};
    assert_ok(flr_engine_set_joint(s.engine, "lift", &joint, &error), error);
    flr_part_list_find(&s.engine->members, s.ball.index)->constraint.locks =
        FLR_LOCK_Z | FLR_LOCK_TURN_X;
    flr_test_engine_settle(&s);
    turn(&s, FLR_AXIS_Y);
    flr_test_engine_settle(&s);
    assert_true(flr_engine_joint_at(s.engine, 0, &found));
    const flr_vec3 axis = flr_quat_rotate(flr_axis_upright(FLR_AXIS_Y), joint.axis);
    assert_lt(flr_vec3_distance(found.joint.axis, axis), 1e-12);
    // the z axis of what was opened is -y, x stays
    assert_int_equal(flr_part_list_find(&s.engine->members, s.ball.index)->constraint.locks,
                     FLR_LOCK_Y | FLR_LOCK_TURN_X);
    // the part slides along it, as far as before
    const flr_pose from = pose_of(&s, s.block);
    flr_test_engine_move(&s, 0, from.p, 0, 50);
    assert_ok(flr_engine_grab(s.engine, flr_hand(0), s.block, &error), error);
    const flr_vec3 to =
        flr_vec3_add(from.p, flr_vec3_add(flr_vec3_scale(axis, 0.04), flr_vec3_make(0.03, 0, 0)));
    flr_test_engine_move(&s, 0, to, 0, 600);
    flr_test_engine_pass(&s, 400);
    const flr_vec3 went = flr_vec3_sub(pose_of(&s, s.block).p, from.p);
    assert_within(flr_vec3_dot(went, axis), 0.012, 1e-4);
    assert_within(went.x, 0, 1e-9);
    flr_test_engine_free(&s);
}

/* Saved scenes stand as they are seen, and have z up when they are opened. */
static void what_is_saved_stands_upright(void **state)
{
    (void)state;
    flr_test_engine s;
    uint32_t job;
    flr_test_engine_make(&s, true, NULL);
    put(&s, s.ball, 0.05, 0.01, 0.06);
    turn(&s, FLR_AXIS_X);
    const flr_pose ball = pose_of(&s, s.ball), plate = pose_of(&s, s.plate);
    assert_ok(flr_path_make_folder(s.env, "/plans", &error), error);
    assert_ok(flr_engine_save(s.engine, "/plans/turned.json", &job, &error), error);
    flr_test_engine_settle(&s);
    assert_ok(flr_engine_load(s.engine, "/plans/turned.json", &job, &error), error);
    flr_test_engine_settle(&s);
    assert_int_equal(flr_engine_up(s.engine), FLR_AXIS_Z);
    same_pose(pose_of(&s, flr_engine_part_id(s.engine, 0)), plate);
    same_pose(pose_of(&s, flr_engine_part_id(s.engine, 2)), ball);
    flr_test_engine_free(&s);
}

static void not_while_a_recording_is_made(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, "/recordings");
    const flr_pose before = pose_of(&s, s.block);
    assert_int_equal(flr_engine_set_up(s.engine, FLR_AXIS_NONE, &error), FLR_BAD_ARGUMENT);
    assert_int_equal(flr_engine_set_up(s.engine, (flr_axis)4, &error), FLR_BAD_ARGUMENT);
    assert_ok(flr_engine_record_start(s.engine, "one", NULL, &error), error);
    flr_test_engine_settle(&s);
    assert_int_equal(flr_engine_set_up(s.engine, FLR_AXIS_Y, &error), FLR_AGAIN);
    assert_non_null(strstr(error.message, "stop it first"));
    assert_ok(flr_engine_record_stop(s.engine, &error), error);
    flr_test_engine_settle(&s);
    same_pose(pose_of(&s, s.block), before);
    // what was recorded is shown where the parts would be now
    turn(&s, FLR_AXIS_Y);
    flr_test_engine_settle(&s);
    uint32_t job;
    assert_ok(flr_engine_replay(s.engine, 0, &job, &error), error);
    flr_test_engine_settle(&s);
    assert_int_equal(flr_engine_set_up(s.engine, FLR_AXIS_Z, &error), FLR_AGAIN);
    assert_true(flr_engine_view(s.engine)->replaying);
    same_pose(pose_of(&s, s.block), upright(FLR_AXIS_Y, before));
    assert_ok(flr_engine_replay_end(s.engine, &error), error);
    flr_test_engine_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_turned),
        cmocka_unit_test(what_guides_parts_is_turned),
        cmocka_unit_test(what_is_saved_stands_upright),
        cmocka_unit_test(not_while_a_recording_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
