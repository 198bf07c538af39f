/* rigid groups and joints in scene files: read, written, refused with a clear sentence */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/models.h"
#include "scene/scene_joint.h"
#include "sim/engine_internal.h"
#include "support/fixtures.h"
#include "support/test.h"

static flr_error error;

#define PARTS                                                                                      \
    "{\"feeler\":1,\"name\":\"s\",\"unit\":\"mm\",\"parts\":["                                     \
    "{\"name\":\"frame\",\"file\":\"a.stl\"},"                                                     \
    "{\"name\":\"panel\",\"file\":\"b.stl\",\"moving\":true,\"in\":\"door\"},"                     \
    "{\"name\":\"handle\",\"file\":\"c.stl\",\"in\":\"grip\"},"                                    \
    "{\"name\":\"arm\",\"file\":\"d.stl\",\"moving\":true}],"                                      \
    "\"groups\":[{\"name\":\"grip\",\"in\":\"door\"},{\"name\":\"door\",\"rigid\":true}]"

static flr_scene *read_joints(const char *joints)
{
    char text[4096];
    flr_scene *scene = NULL;
    snprintf(text, sizeof text, PARTS ",\"joints\":[%s]}", joints);
    assert_ok(flr_scene_parse("s.json", text, strlen(text), &scene, &error), error);
    return scene;
}

static void refuse(const char *joints, const char *says)
{
    char text[4096];
    flr_scene *scene = NULL;
    snprintf(text, sizeof text, PARTS ",\"joints\":[%s]}", joints);
    assert_int_equal(flr_scene_parse("s.json", text, strlen(text), &scene, &error), FLR_BAD_INPUT);
    if (!strstr(error.message, says)) fail_msg("\"%s\" does not say \"%s\"", error.message, says);
    assert_non_null(strstr(error.message, "s.json:1:"));
}

#define HINGE "\"name\":\"hinge\",\"kind\":\"revolute\",\"a\":\"frame\",\"b\":\"door\""

static void reads_all_of_it(void **state)
{
    (void)state;
    flr_scene *scene = read_joints("{" HINGE ",\"point\":[10,0,0],\"axis\":[0,0,2],"
                                   "\"turn\":{\"from\":-90,\"to\":120,\"friction\":0.5,"
                                   "\"stiffness\":2,\"rest\":45,\"damping\":0.1}},"
                                   "{\"name\":\"rail\",\"kind\":\"prismatic\",\"b\":\"arm\","
                                   "\"slide\":{\"from\":0,\"to\":\"2cm\"},\"touch\":true}");
    assert_int_equal(scene->joint_count, 2);
    const flr_joint *hinge = &scene->joints[0].joint, *rail = &scene->joints[1].joint;
    assert_int_equal(hinge->kind, FLR_JOINT_REVOLUTE);
    assert_int_equal(hinge->a, 0);
    assert_int_equal(hinge->b, 1); /* the first part of the group */
    assert_within(hinge->point.x, 0.01, 1e-15);
    assert_within(hinge->turn.high, 2 * 3.14159265358979 / 3, 1e-12);
    assert_within(hinge->turn.rest, 3.14159265358979 / 4, 1e-12);
    assert_true(hinge->turn.limited && !hinge->touch);
    assert_int_equal(rail->a, FLR_JOINT_WORLD);
    assert_within(rail->slide.high, 0.02, 1e-15);
    assert_true(rail->touch);
    /* a group that has a moving part moves as a whole, nested ones too */
    assert_true(scene->parts[1].moving && scene->parts[2].moving && !scene->parts[0].moving);
    uint32_t rigid[4];
    assert_true(flr_scene_rigid(scene, rigid));
    assert_int_equal(rigid[0], FLR_NO_PART);
    assert_int_equal(rigid[1], 1);
    assert_int_equal(rigid[2], 1);
    assert_true(flr_scene_is_driven(scene, 1));
    assert_false(flr_scene_is_driven(scene, 3));

    /* what is written is read again as the same */
    flr_blob text, again;
    flr_scene *copy;
    assert_ok(flr_scene_print(scene, &text, &error), error);
    assert_ok(flr_scene_parse("t.json", text.bytes, text.size, &copy, &error), error);
    assert_ok(flr_scene_print(copy, &again, &error), error);
    assert_int_equal(text.size, again.size);
    assert_memory_equal(text.bytes, again.bytes, text.size);
    assert_within(copy->joints[0].joint.turn.high, hinge->turn.high, 1e-15);
    flr_blob_free(&text);
    flr_blob_free(&again);
    flr_scene_destroy(copy);
    flr_scene_destroy(scene);
}

static void refuses_nonsense(void **state)
{
    (void)state;
    refuse("{\"name\":\"h\",\"kind\":\"revolute\",\"a\":\"frame\",\"b\":\"gate\"}",
           "joints[0].b: there is no part or rigid group \"gate\"");
    refuse("{\"name\":\"h\",\"kind\":\"revolute\",\"a\":\"frame\",\"b\":\"grip\"}",
           "no part or rigid group");
    refuse("{" HINGE ",\"turn\":{\"from\":10,\"to\":-10}}", "must not be below");
    refuse("{" HINGE ",\"turn\":{\"to\":10}}", "both \"from\" and \"to\"");
    refuse("{" HINGE ",\"axis\":[0,0,0]}", "must not be zero");
    refuse("{" HINGE ",\"slide\":{\"from\":0,\"to\":1}}", "a revolute joint has none");
    refuse("{\"name\":\"h\",\"kind\":\"hinge\",\"b\":\"door\"}", "kind");
    refuse("{\"name\":\"h\",\"kind\":\"revolute\"}", "b");
    refuse("{\"name\":\"h\",\"kind\":\"screw\",\"b\":\"arm\"}", "needs \"pitch\"");
    refuse("{\"name\":\"h\",\"kind\":\"screw\",\"b\":\"arm\",\"pitch\":0}", "must not be zero");
    refuse("{\"name\":\"h\",\"kind\":\"ball\",\"b\":\"arm\",\"turn\":{\"from\":-5,\"to\":5}}",
           "from 0");
    refuse("{\"name\":\"h\",\"kind\":\"revolute\",\"b\":\"frame\"}", "do not move");
    refuse("{\"name\":\"h\",\"kind\":\"revolute\",\"a\":\"arm\",\"b\":\"arm\"}", "to itself");
    refuse("{\"name\":\"h\",\"kind\":\"revolute\",\"a\":\"panel\",\"b\":\"handle\"}",
           "same rigid group");
    refuse("{" HINGE "},{" HINGE "}", "is taken");
}

/* the cabinet: what joints are for */
static void reads_the_cabinet(void **state)
{
    (void)state;
    flr_model model;
    flr_blob text;
    flr_scene *scene;
    flr_mechanism *m;
    assert_ok(flr_scenario_build(flr_scenario_find("cabinet"), NULL, &model, &error), error);
    model.scene.parts = model.parts, model.scene.part_count = model.part_count;
    assert_ok(flr_scene_print(&model.scene, &text, &error), error);
    assert_ok(flr_scene_parse("cabinet", text.bytes, text.size, &scene, &error), error);
    assert_ok(flr_scene_mechanism(scene, &m, &error), error);
    assert_int_equal(m->island_count, 3);
    assert_int_equal(m->islands[0].freedoms, 1);
    assert_int_equal(m->islands[0].part_count, 2);
    assert_int_equal(flr_mechanism_leader(m, 2), 1);
    assert_false(
        flr_mechanism_may_touch(m, 0, 2)); /* the handle and the frame: tied by the hinge */
    assert_true(flr_mechanism_may_touch(m, 2, 3));
    flr_mechanism_destroy(m);
    flr_scene_destroy(scene);
    flr_blob_free(&text);
    flr_model_free(&model);
}

/* what is saved of a joint that moved: whole turns come back, of a screw and of a hinge that opens wide */
static void saves_whole_turns(void **state)
{
    (void)state;
    const double degree = 3.14159265358979323846 / 180;
    static flr_part_entry start, now;
    flr_part_list from = {.list = &start, .count = 1}, to = {.list = &now, .count = 1};
    start.part = now.part = 3;
    snprintf(now.name, sizeof now.name, "nut");
    start.T_start = now.T_start = flr_pose_identity();
    flr_joint_entry entry = {.text = "j", .joint = flr_default_joint()};
    flr_scene_joint saved;
    entry.joint.a = FLR_JOINT_WORLD, entry.joint.b = 3;
    entry.joint.axis = flr_vec3_make(0, 0, 1);
    entry.joint.turn = (flr_joint_axis){.limited = true, .low = -3600 * degree, .high = 0};
    entry.joint.kind = FLR_JOINT_SCREW, entry.joint.pitch = 0.002;
    /* two turns and a half: 5 mm */
    now.T_start = flr_pose_make(flr_vec3_make(0, 0, -0.005),
                                flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), -900 * degree));
    assert_true(flr_joint_moved(&entry, &from, &to, &saved));
    assert_within(saved.joint.turn.low, -2700 * degree, 1e-9);
    assert_within(saved.joint.turn.high, 900 * degree, 1e-9);

    entry.joint.kind = FLR_JOINT_REVOLUTE;
    entry.joint.turn.low = 0, entry.joint.turn.high = 270 * degree;
    now.T_start = flr_pose_make(flr_vec3_zero(),
                                flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), 200 * degree));
    assert_true(flr_joint_moved(&entry, &from, &to, &saved));
    assert_within(saved.joint.turn.low, -200 * degree, 1e-9);
    assert_within(saved.joint.turn.high, 70 * degree, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saves_whole_turns),
        cmocka_unit_test(reads_all_of_it),
        cmocka_unit_test(refuses_nonsense),
        cmocka_unit_test(reads_the_cabinet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
