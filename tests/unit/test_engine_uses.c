/* what a part is to the others: solid, passed through, a keep-out zone; in scene files and in a running controller */
#include <stdio.h>
#include <string.h>

#include "support/fixtures.h"
#include "support/test.h"

static flr_error error;

static double height(flr_test_engine *s)
{
    return flr_test_engine_part(s, s->block).T_world_part.p.z;
}

/* Pushes the block down to z. */
static void push(flr_test_engine *s, double z)
{
    const flr_pose high = flr_pose_make(flr_vec3_make(0, 0, 0.05), flr_quat_identity());
    assert_ok(flr_engine_place(s->engine, s->block, high, &error), error);
    flr_test_engine_move(s, 0, high.p, 0, 100);
    assert_ok(flr_engine_grab(s->engine, flr_hand(0), s->block, &error), error);
    flr_test_engine_move(s, 0, flr_vec3_make(0, 0, z), 0, 400);
    flr_test_engine_pass(s, 400);
    flr_engine_release(s->engine, flr_hand(0), NULL);
    flr_test_engine_pass(s, 20);
}

static void parts_pass_through(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_part part;
    flr_test_engine_make(&s, true, NULL);
    push(&s, -0.05);
    assert_gt(height(&s), 0.005); /* on the plate */
    assert_ok(flr_engine_set_use(s.engine, s.plate, FLR_PART_USE_PASS, &error), error);
    flr_test_engine_settle(&s);
    push(&s, -0.05);
    assert_lt(height(&s), -0.03); /* through it */
    assert_ok(flr_engine_get_part(s.engine, s.plate, &part, &error), error);
    assert_eq(part.use, FLR_PART_USE_PASS);

    /* also in a world that is made anew, and in one that is loaded */
    assert_ok(flr_engine_set_kind(s.engine, s.ball, FLR_PART_STATIC, &error), error);
    flr_test_engine_settle(&s);
    push(&s, -0.05);
    assert_lt(height(&s), -0.03);
    uint32_t job;
    assert_ok(flr_path_make_folder(s.env, "/plans", &error), error);
    assert_ok(flr_engine_save(s.engine, "/plans/pass.json", &job, &error), error);
    flr_test_engine_settle(&s);
    assert_ok(flr_engine_load(s.engine, "/plans/pass.json", &job, &error), error);
    flr_test_engine_settle(&s);
    s.plate = flr_engine_part_id(s.engine, 0), s.block = flr_engine_part_id(s.engine, 1);
    push(&s, -0.05);
    assert_lt(height(&s), -0.03);

    assert_ok(flr_engine_set_use(s.engine, s.plate, FLR_PART_USE_SOLID, &error), error);
    flr_test_engine_settle(&s);
    push(&s, -0.05);
    assert_gt(height(&s), 0.005);
    flr_test_engine_free(&s);
}

static void zones_never_move(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_part part;
    flr_test_engine_make(&s, true, NULL);
    assert_ok(flr_engine_set_use(s.engine, s.ball, FLR_PART_USE_KEEP_OUT, &error), error);
    flr_test_engine_settle(&s);
    assert_ok(flr_engine_get_part(s.engine, s.ball, &part, &error), error);
    assert_eq(part.kind, FLR_PART_STATIC);
    assert_eq(part.use, FLR_PART_USE_KEEP_OUT);
    assert_int_equal(flr_engine_set_kind(s.engine, s.ball, FLR_PART_MOVABLE, &error), FLR_DENIED);
    assert_non_null(strstr(error.message, "keep-out zone"));
    assert_int_equal(flr_engine_set_use(s.engine, s.ball, (flr_part_use)7, &error),
                     FLR_BAD_ARGUMENT);
    assert_int_equal(
        flr_engine_set_use(s.engine, flr_engine_part_id(s.engine, 77), FLR_PART_USE_PASS, &error),
        FLR_NOT_FOUND);
    flr_test_engine_free(&s);
}

static void scenes_name_uses(void **state)
{
    (void)state;
    static const char text[] =
        "{\"feeler\":1,\"name\":\"s\",\"parts\":[{\"name\":\"a\",\"file\":\"a.stl\"},"
        "{\"name\":\"b\",\"file\":\"a.stl\",\"use\":\"pass\"},"
        "{\"name\":\"c\",\"file\":\"a.stl\",\"use\":\"keep-out\"}]}";
    flr_scene *scene, *back;
    flr_blob printed;
    assert_ok(flr_scene_parse("s.json", text, strlen(text), &scene, &error), error);
    assert_ok(flr_scene_print(scene, &printed, &error), error);
    assert_ok(flr_scene_parse("t.json", (const char *)printed.bytes, printed.size, &back, &error),
              error);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(scene->parts[i].use, i);
        assert_int_equal(back->parts[i].use, i);
    }
    flr_scene_destroy(scene);
    flr_scene_destroy(back);
    flr_blob_free(&printed);
    static const char *const bad[] = {"\"use\":\"keepout\"",
                                      "\"use\":\"keep-out\",\"moving\":true"};
    static const char *const says[] = {"keep-out", "a keep-out zone cannot be \"moving\""};
    for (int i = 0; i < 2; i++) {
        char wrong[200];
        snprintf(wrong, sizeof wrong,
                 "{\"feeler\":1,\"name\":\"s\",\"parts\":[{\"name\":\"a\",\"file\":\"a.stl\",%s}]}",
                 bad[i]);
        assert_int_equal(flr_scene_parse("s.json", wrong, strlen(wrong), &scene, &error),
                         FLR_BAD_INPUT);
        assert_non_null(strstr(error.message, says[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_pass_through),
                                       cmocka_unit_test(zones_never_move),
                                       cmocka_unit_test(scenes_name_uses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
