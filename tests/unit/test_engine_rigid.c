/* groups that move as one, in a running controller: made, dragged, saved, loaded, dissolved */
#include <math.h>

#include "support/fixtures.h"
#include "support/test.h"

static flr_error error;

static flr_vec3 at(flr_test_engine *s, flr_part_id part)
{
    return flr_test_engine_part(s, part).T_world_part.p;
}

/* Drags the block by its hand for so many metres along z. */
static void drag(flr_test_engine *s, flr_part_id part, double by)
{
    const flr_vec3 from = at(s, part);
    assert_ok(flr_engine_grab(s->engine, flr_hand(0), part, &error), error);
    for (int i = 0; i <= 50; i++)
        flr_test_engine_move(s, 0, flr_vec3_make(from.x, from.y, from.z + by * i / 50), 0, 20);
    flr_test_engine_pass(s, 500);
    flr_engine_release(s->engine, flr_hand(0), NULL);
    flr_test_engine_pass(s, 50);
}

static void a_group_moves_as_one(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    const flr_part_id both[] = {s.block, s.ball};
    assert_int_equal(flr_engine_set_rigid(s.engine, "pair", true, &error), FLR_NOT_FOUND);
    assert_ok(flr_engine_group(s.engine, "pair", both, 2, &error), error);
    assert_false(flr_engine_group_is_rigid(s.engine, 0));
    assert_ok(flr_engine_set_rigid(s.engine, "pair", true, &error), error);
    assert_true(flr_engine_group_is_rigid(s.engine, 0));
    flr_test_engine_settle(&s);
    flr_test_engine_pass(&s, 50);
    const flr_vec3 apart = flr_vec3_sub(at(&s, s.ball), at(&s, s.block));
    const double before = at(&s, s.block).z;
    drag(&s, s.block, 0.02);
    assert_gt(at(&s, s.block).z, before + 0.01);
    const flr_vec3 now = flr_vec3_sub(at(&s, s.ball), at(&s, s.block));
    assert_lt(fabs(flr_vec3_length(now) - flr_vec3_length(apart)), 1e-9);

    /* what is saved is loaded as such */
    uint32_t job;
    assert_ok(flr_path_make_folder(s.env, "/plans", &error), error);
    assert_ok(flr_engine_save(s.engine, "/plans/pair.json", &job, &error), error);
    flr_test_engine_settle(&s);
    flr_scene *scene;
    assert_ok(flr_scene_read(s.env, "/plans/pair.json", &scene, &error), error);
    assert_int_equal(scene->group_count, 1);
    assert_true(scene->groups[0].rigid);
    flr_scene_destroy(scene);

    /* by themselves again */
    assert_ok(flr_engine_set_rigid(s.engine, "pair", false, &error), error);
    flr_test_engine_settle(&s);
    flr_test_engine_pass(&s, 50);
    const flr_vec3 ball = at(&s, s.ball);
    drag(&s, s.block, 0.02);
    assert_lt(flr_vec3_distance(ball, at(&s, s.ball)), 1e-9);
    flr_test_engine_free(&s);
}

/* Parts of a group may be in each other, and what is measured of one of them is not about the others. */
static void parts_of_a_group_are_no_clash(void **state)
{
    (void)state;
    flr_test_engine s;
    char sentence[FLR_ERROR_MESSAGE_SIZE];
    flr_part_id part;
    const flr_pose beside = flr_pose_make(flr_vec3_make(0.015, 0, 0.03), flr_quat_identity());
    flr_test_engine_make(&s, true, NULL);
    assert_ok(flr_engine_place(s.engine, s.ball, beside, &error), error);
    flr_test_engine_settle(&s);
    assert_true(flr_engine_overlap(s.engine, &part, sentence)); /* 5 mm in the block */
    const flr_part_id both[] = {s.block, s.ball};
    assert_ok(flr_engine_group(s.engine, "pair", both, 2, &error), error);
    assert_ok(flr_engine_set_rigid(s.engine, "pair", true, &error), error);
    flr_test_engine_settle(&s);
    flr_test_engine_pass(&s, 200);
    if (flr_engine_overlap(s.engine, &part, sentence)) fail_msg("%s", sentence);
    flr_engine_event event;
    while (flr_engine_next(s.engine, &event)) {}
    assert_ok(flr_engine_clearance_ask(s.engine, s.block, FLR_NO_PART_ID, true, 7, &error), error);
    flr_test_engine_settle(&s);
    bool answered = false;
    while (flr_engine_next(s.engine, &event)) {
        if (event.kind != FLR_ENGINE_EVENT_CLEARANCE) continue;
        answered = true;
        assert_part_equal(event.clearance.other, s.plate);
        assert_within(event.clearance.distance, 0.02, 1e-3);
    }
    assert_true(answered);
    flr_test_engine_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_group_moves_as_one),
                                       cmocka_unit_test(parts_of_a_group_are_no_clash)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
