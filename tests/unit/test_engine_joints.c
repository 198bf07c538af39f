/* joints in a running controller: made, obeyed, changed, saved, removed; and what becomes of them when parts go */
#include <math.h>
#include <string.h>

#include "support/fixtures.h"
#include "support/test.h"

static flr_error error;

static flr_vec3 at(flr_test_engine *s, flr_part_id part)
{
    return flr_test_engine_part(s, part).T_world_part.p;
}

static void drag(flr_test_engine *s, flr_part_id part, flr_vec3 by)
{
    const flr_vec3 from = at(s, part);
    flr_test_engine_move(s, 0, from, 0, 50);
    assert_ok(flr_engine_grab(s->engine, flr_hand(0), part, &error), error);
    flr_test_engine_move(s, 0, flr_vec3_add(from, by), 0, 600);
    flr_test_engine_pass(s, 400);
    flr_engine_release(s->engine, flr_hand(0), NULL);
    flr_test_engine_pass(s, 50);
}

static flr_joint slide(uint32_t part)
{
    flr_joint joint = flr_default_joint();
    joint.kind = FLR_JOINT_PRISMATIC;
    joint.a = FLR_JOINT_WORLD;
    joint.b = part;
    joint.slide = (flr_joint_axis){.limited = true, .low = -0.002, .high = 0.012};
    return joint;
}

static void joints_are_made_and_obeyed(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_joint found;
    flr_test_engine_make(&s, true, NULL);
    /* where the block is now the joint is at 0 */
    const flr_pose there = flr_pose_make(flr_vec3_make(0, 0, 0.04), flr_quat_identity());
    assert_ok(flr_engine_place(s.engine, s.block, there, &error), error);
    flr_test_engine_pass(&s, 50);
    flr_joint joint = slide(s.block.index);
    assert_ok(flr_engine_set_joint(s.engine, "lift", &joint, &error), error);
    flr_test_engine_settle(&s);
    drag(&s, s.block, flr_vec3_make(0.03, 0, 0.03));
    assert_within(at(&s, s.block).x, 0, 1e-9);
    assert_within(at(&s, s.block).z, 0.052, 1e-4); /* at its limit */

    /* another limit counts from where the first did */
    joint.slide.high = 0.006;
    assert_ok(flr_engine_set_joint(s.engine, "lift", &joint, &error), error);
    assert_int_equal(flr_engine_joints(s.engine), 1);
    flr_test_engine_settle(&s);
    drag(&s, s.block, flr_vec3_make(0, 0, -0.05));
    assert_within(at(&s, s.block).z, 0.038, 1e-4);
    drag(&s, s.block, flr_vec3_make(0, 0, 0.05));
    assert_within(at(&s, s.block).z, 0.046, 1e-4);

    /* one that joins what is joined already is counted from here, and so is the first */
    joint = slide(s.ball.index);
    joint.a = s.block.index;
    joint.axis = flr_vec3_make(1, 0, 0);
    assert_ok(flr_engine_set_joint(s.engine, "reach", &joint, &error), error);
    assert_true(flr_engine_joint_at(s.engine, 0, &found));
    assert_within(found.joint.slide.high, 0, 1e-4); /* it is at its upper limit */
    assert_within(found.joint.slide.low, -0.008, 1e-4);
    flr_test_engine_settle(&s);
    drag(&s, s.block, flr_vec3_make(0, 0, -0.05));
    assert_within(at(&s, s.block).z, 0.038, 2e-4);
    assert_within(at(&s, s.ball).z, 0.03 - 0.008, 2e-4); /* it goes along */

    uint32_t job;
    assert_ok(flr_path_make_folder(s.env, "/plans", &error), error);
    assert_ok(flr_engine_save(s.engine, "/plans/joints.json", &job, &error), error);
    flr_test_engine_settle(&s);
    flr_scene *scene;
    assert_ok(flr_scene_read(s.env, "/plans/joints.json", &scene, &error), error);
    assert_int_equal(scene->joint_count, 2);
    assert_string_equal(scene->joints[1].a, "block");
    flr_scene_destroy(scene);

    assert_ok(flr_engine_remove_joint(s.engine, "reach", &error), error);
    assert_int_equal(flr_engine_remove_joint(s.engine, "reach", &error), FLR_NOT_FOUND);
    assert_int_equal(flr_engine_joints(s.engine), 1);
    flr_test_engine_free(&s);
}

static void refuse(flr_test_engine *s, const flr_joint *joint, const char *says)
{
    assert_true(flr_engine_set_joint(s->engine, "bad", joint, &error) != FLR_OK);
    if (!strstr(error.message, says)) fail_msg("\"%s\" does not say \"%s\"", error.message, says);
    assert_int_equal(flr_engine_joints(s->engine), 0);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    flr_joint joint = slide(77);
    refuse(&s, &joint, "there is no part 77");
    joint = slide(s.block.index), joint.a = s.block.index;
    refuse(&s, &joint, "itself");
    joint = slide(s.plate.index);
    refuse(&s, &joint, "move");
    joint = slide(s.block.index), joint.slide.low = 1;
    refuse(&s, &joint, "reversed");
    joint = slide(s.block.index), joint.axis = flr_vec3_zero();
    refuse(&s, &joint, "axis");
    joint = slide(s.block.index), joint.kind = FLR_JOINT_SCREW;
    refuse(&s, &joint, "pitch");
    joint = slide(s.block.index), joint.kind = (flr_joint_kind)9;
    refuse(&s, &joint, "out of its range");
    joint = slide(s.block.index), joint.point.x = NAN;
    refuse(&s, &joint, "out of its range");
    assert_int_equal(flr_engine_set_joint(s.engine, "", &joint, &error), FLR_BAD_ARGUMENT);
    flr_test_engine_free(&s);
}

/* The first part of a rigid group stands for it in a joint; when it goes, another one does. */
static void a_group_keeps_its_joint(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_joint found;
    flr_test_engine_make(&s, true, NULL);
    const flr_part_id both[] = {s.block, s.ball};
    assert_ok(flr_engine_group(s.engine, "pair", both, 2, &error), error);
    assert_ok(flr_engine_set_rigid(s.engine, "pair", true, &error), error);
    const flr_joint joint = slide(s.block.index);
    assert_ok(flr_engine_set_joint(s.engine, "lift", &joint, &error), error);
    flr_test_engine_settle(&s);
    assert_ok(flr_engine_remove(s.engine, s.block, &error), error);
    assert_true(flr_engine_joint_at(s.engine, 0, &found));
    assert_int_equal(found.joint.b, s.ball.index);
    flr_test_engine_settle(&s);
    drag(&s, s.ball, flr_vec3_make(0.03, 0, 0.03));
    assert_within(at(&s, s.ball).x, 0.05, 1e-9);
    assert_within(at(&s, s.ball).z, 0.042, 1e-4);
    /* with the last of its parts it goes, too */
    assert_ok(flr_engine_remove(s.engine, s.ball, &error), error);
    assert_int_equal(flr_engine_joints(s.engine), 0);
    flr_test_engine_free(&s);
}

/* The page's hand gives no torque and keeps its direction: a door that it pulls straight on opens all the same. */
static void a_door_opens(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    const flr_pose there = flr_pose_make(flr_vec3_make(0, 0, 0.06), flr_quat_identity());
    assert_ok(flr_engine_place(s.engine, s.block, there, &error), error);
    flr_test_engine_pass(&s, 50);
    flr_joint joint = flr_default_joint();
    joint.kind = FLR_JOINT_REVOLUTE;
    joint.a = FLR_JOINT_WORLD;
    joint.b = s.block.index;
    joint.point = flr_vec3_make(-0.1, 0, 0.06);
    joint.axis = flr_vec3_make(0, 0, 1);
    assert_ok(flr_engine_set_joint(s.engine, "hinge", &joint, &error), error);
    flr_test_engine_settle(&s);
    drag(&s, s.block, flr_vec3_make(-0.05, 0.09, 0));
    const flr_quat q = flr_test_engine_part(&s, s.block).T_world_part.q;
    const double angle = 2 * atan2(q.z, q.w);
    assert_within(angle, atan2(0.09, 0.05), 0.05);
    assert_within(at(&s, s.block).x, -0.1 + 0.1 * cos(angle), 1e-9);
    assert_within(at(&s, s.block).y, 0.1 * sin(angle), 1e-9);
    flr_test_engine_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joints_are_made_and_obeyed), cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_group_keeps_its_joint), cmocka_unit_test(a_door_opens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
