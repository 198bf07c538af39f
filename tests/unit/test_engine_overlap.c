/* parts that stand inside others: feeler reports them, once when the scene is opened and whenever one is taken, and not where
 * parts only touch */
#include <math.h>

#include "support/fixtures.h"

/* The next warning about a part, if there is one. */
static bool warned(flr_test_engine *s, flr_engine_event *event)
{
    while (flr_engine_next(s->engine, event))
        if (event->kind == FLR_ENGINE_EVENT_NEWS && event->news == FLR_WIRE_EVENT_WARNING)
            return true;
    return false;
}

static void put(flr_test_engine *s, flr_vec3 at)
{
    flr_pose pose = flr_pose_make(at, flr_quat_identity());
    assert_int_equal(flr_engine_place(s->engine, s->block, pose, NULL), FLR_OK);
    flr_test_engine_pass(s, 60);
}

static void what_stands_inside_is_told(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_event event;
    flr_test_engine_make(&s, true, NULL);
    assert_false(warned(&s, &event)); /* all are free */
    /* 6 mm of the block's 20 are in the plate, whose top is at 0 */
    put(&s, (flr_vec3){0, 0, 0.004});
    assert_true(warned(&s, &event));
    assert_part_equal(event.part, s.block);
    assert_non_null(strstr(event.sentence, "block is up to"));
    assert_non_null(strstr(event.sentence, "deep inside plate"));
    assert_non_null(strstr(event.sentence, "pushed out or let through"));
    double depth = strtod(strstr(event.sentence, "up to ") + 6, NULL);
    assert_le(fabs(depth - 6), 2); /* of points in voxels of 2 mm */
    char sentence[FLR_ERROR_MESSAGE_SIZE];
    flr_part_id part;
    assert_true(flr_engine_overlap(s.engine, &part, sentence)); /* for those who come later */
    assert_part_equal(part, s.block);
    assert_string_equal(sentence, event.sentence);
    /* moved a little it is not reported again, but whenever it is grabbed */
    put(&s, (flr_vec3){0, 0, 0.003});
    assert_false(warned(&s, &event));
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), s.block, NULL), FLR_OK);
    flr_test_engine_pass(&s, 60);
    assert_true(warned(&s, &event));
    /* it was pushed out: when it is let go of that is seen, and it can be taken without a word */
    assert_int_equal(flr_engine_release(s.engine, flr_hand(0), NULL), FLR_OK);
    flr_test_engine_pass(&s, 60);
    assert_false(flr_engine_overlap(s.engine, &part, sentence));
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), s.block, NULL), FLR_OK);
    flr_test_engine_pass(&s, 60);
    assert_int_equal(flr_engine_release(s.engine, flr_hand(0), NULL), FLR_OK);
    flr_test_engine_pass(&s, 10);
    assert_false(warned(&s, &event));
    put(&s, (flr_vec3){0, 0, 0.004});
    assert_true(warned(&s, &event));
    flr_test_engine_free(&s);
}

/* Nothing of the small one's surface meets that of the other: it is inside all the same. */
static void one_that_is_wholly_inside_is_told(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_event event;
    flr_error error;
    flr_part_id part;
    uint32_t job;
    flr_test_engine_make(&s, true, NULL);
    flr_engine_add_def def = flr_default_engine_add_def();
    def.name = "pea";
    def.mesh = flr_test_engine_box(flr_vec3_make(0.004, 0.004, 0.004));
    def.kind = FLR_PART_MOVABLE;
    def.voxel = 0.001;
    def.T_world_part = flr_pose_make(flr_vec3_make(0.05, 0, 0.03), flr_quat_identity());
    if (flr_engine_add(s.engine, &def, &part, &job, &error) != FLR_OK)
        fail_msg("%s", error.message);
    flr_test_engine_settle(&s);
    flr_test_engine_pass(&s, 60);
    assert_true(warned(&s, &event));
    assert_non_null(strstr(event.sentence, "ball"));
    assert_non_null(strstr(event.sentence, "and 1 more part is inside others"));
    flr_test_engine_free(&s);
}

/* Pressed against the plate by a hand a part is in contact, and not inside. */
static void touching_is_not_inside(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_event event;
    flr_test_engine_make(&s, true, NULL);
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0, 0.03}, 0, 100);
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0, 0.03}, 1, 20);
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0, -0.03}, 1, 300);
    flr_test_engine_pass(&s, 100);
    assert_gt(flr_engine_view(s.engine)->contact_count, 0);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(1), s.block, NULL), FLR_OK);
    flr_test_engine_pass(&s, 60);
    assert_false(warned(&s, &event));
    flr_test_engine_free(&s);
}

static bool told_nothing_to_undo(flr_test_engine *s)
{
    flr_engine_event event;
    bool found = false;
    while (flr_engine_next(s->engine, &event))
        found |= event.kind == FLR_ENGINE_EVENT_NEWS && event.news == FLR_WIRE_EVENT_NOTE &&
                 strstr(event.sentence, "to undo");
    return found;
}

static void undo_says_when_there_is_nothing(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    assert_int_equal(flr_engine_undo(s.engine, 1, NULL), FLR_OK);
    flr_test_engine_pass(&s, 20);
    assert_true(told_nothing_to_undo(&s));
    put(&s, (flr_vec3){0, 0, 0.05});
    assert_int_equal(flr_engine_undo(s.engine, 1, NULL), FLR_OK);
    flr_test_engine_pass(&s, 20);
    assert_false(told_nothing_to_undo(&s));
    flr_test_engine_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_inside_is_told),
        cmocka_unit_test(one_that_is_wholly_inside_is_told),
        cmocka_unit_test(touching_is_not_inside),
        cmocka_unit_test(undo_says_when_there_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
