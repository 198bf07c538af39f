/* a hand whose device lies about where it is: the part neither jumps nor goes through anything */
#include <math.h>

#include "support/fixtures.h"

enum { FRAMES = 1000 };

typedef flr_vec3 (*place_fn)(flr_test_random *random, int frame);

/* to and fro by 60 cm, in every frame */
static flr_vec3 to_and_fro(flr_test_random *random, int frame)
{
    (void)random;
    return flr_vec3_make(0, 0, frame % 2 ? 0.33 : -0.27);
}

static flr_vec3 anywhere(flr_test_random *random, int frame)
{
    (void)frame;
    const double r = 0.5;
    return flr_vec3_make(flr_test_random_range(random, -r, r), flr_test_random_range(random, -r, r),
                         flr_test_random_range(random, -r, r));
}

/* half a metre below the plate, and there it stays */
static flr_vec3 below(flr_test_random *random, int frame)
{
    (void)random, (void)frame;
    return flr_vec3_make(0, 0, -0.5);
}

static void lies(place_fn place, int engine, const char *name)
{
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    flr_test_random random = flr_test_random_begin(name);
    assert_int_equal(flr_engine_set(s.engine, "engine", engine, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    const flr_vec3 at = {0, 0, 0.03};
    flr_test_engine_move(&s, 0, at, 0, 100);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), s.block, NULL), FLR_OK);
    flr_test_engine_pass(&s, 20);
    flr_vec3 before = flr_test_engine_part(&s, s.block).T_world_part.p;
    double fastest = 0, lowest = INFINITY;
    for (int i = 0; i < FRAMES; i++) {
        const flr_pose pose = flr_pose_make(place(&random, i), flr_quat_identity());
        assert_int_equal(flr_engine_hand_input(s.engine, flr_hand(0), pose, 1, NULL), FLR_OK);
        flr_engine_run(s.engine, 1);
        flr_engine_service(s.engine);
        const flr_vec3 now = flr_test_engine_part(&s, s.block).T_world_part.p;
        assert_true(flr_vec3_is_finite(now));
        fastest = fmax(fastest, flr_vec3_distance(before, now));
        if (fabs(now.x) < 0.09 && fabs(now.y) < 0.05) lowest = fmin(lowest, now.z);
        before = now;
    }
    print_message(
        "%s, engine %d: %.2f mm in a frame at most, the block's middle %.2f mm above the plate at "
        "least\n",
        name, engine, 1e3 * fastest, 1e3 * lowest);
    /* the spring between hand and part is stretched by half a voxel at most: the part follows, and is nowhere at once */
    assert_lt(fastest, 0.02);
    if (place == below) assert_gt(lowest, 0.01 - 1e-4);
    flr_test_engine_free(&s);
}

static void a_part_does_not_jump(void **state)
{
    (void)state;
    for (int engine = 0; engine < 4; engine++) {
        lies(to_and_fro, engine, "to and fro");
        lies(anywhere, engine, "anywhere");
        lies(below, engine, "below");
    }
}

static void a_hand_that_is_nowhere_is_refused(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    const double wrong[] = {NAN, INFINITY, -INFINITY, 1e300};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        flr_pose pose = flr_pose_make((flr_vec3){0, wrong[i], 0}, flr_quat_identity());
        flr_error error;
        assert_int_not_equal(flr_engine_hand_input(s.engine, flr_hand(0), pose, 1, &error), FLR_OK);
        pose = flr_pose_identity();
        pose.q.x = wrong[i];
        assert_int_not_equal(flr_engine_hand_input(s.engine, flr_hand(0), pose, 1, &error), FLR_OK);
    }
    flr_test_engine_pass(&s, 10);
    assert_true(flr_vec3_is_finite(flr_engine_view(s.engine)->hands[0].T_world_hand.p));
    flr_test_engine_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_does_not_jump),
        cmocka_unit_test(a_hand_that_is_nowhere_is_refused),
    };
    return cmocka_run_group_tests_name("engine_jumps", tests, NULL, NULL);
}
