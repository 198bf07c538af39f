/* hygiene of the engine's frames: once it is warm, a held part that touches, orders, a recording and the state that is
 * shown allocate nothing, take no lock and call nothing of the system */
#include "support/fixtures.h"
#include "support/quiet.h"

static uint64_t frames(void *context)
{
    flr_test_engine *s = context;
    for (int i = 0; i < 50; i++) {
        flr_pose pose = flr_pose_make(flr_vec3_make(0, 0, 0.001 * (i % 7)), flr_quat_identity());
        flr_engine_hand_input(s->engine, flr_hand(0), pose, 1, NULL);
        flr_engine_set(s->engine, "stiffness", 1000 + i, NULL);
        if (i == 10) flr_engine_release(s->engine, flr_hand(0), NULL);
        if (i == 12) flr_engine_grab(s->engine, flr_hand(0), s->block, NULL);
        if (i == 20) flr_engine_reset(s->engine, NULL);
        if (i == 22) flr_engine_grab(s->engine, flr_hand(0), s->block, NULL);
        if (i == 40) flr_engine_undo(s->engine, 1, NULL);
        if (i == 42) flr_engine_grab(s->engine, flr_hand(0), s->block, NULL);
        flr_engine_run(s->engine, 10);
    }
    return flr_engine_view(s->engine)->frame;
}

/* a loop that does not wait makes no call at all */
static void make(flr_test_engine *s)
{
    flr_test_engine_make(s, true, "/recordings");
    flr_test_engine_move(s, 0, (flr_vec3){0, 0, 0.03}, 0, 100);
    assert_int_equal(flr_engine_record_start(s->engine, "x", NULL, NULL), FLR_OK);
    flr_test_engine_pass(s, 800); /* what stays is one, too */
    assert_true(flr_engine_view(s->engine)->merged);
    assert_true(flr_engine_view(s->engine)->recording);
}

static void frames_are_quiet(void **state)
{
    (void)state;
    flr_test_engine s;
    make(&s);
    flr_test_quiet(frames, &s, NULL);
    flr_test_engine_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_are_quiet)};
    return cmocka_run_group_tests_name("engine_rt", tests, NULL, NULL);
}
