/* voxels of different sizes in one scene: whatever is finer somewhere else, parts move as they do without it */
#include <math.h>

#include "support/fixtures.h"

enum { ENGINES = 4 };
static const char *const names[ENGINES] = {"shell", "spheres", "exact", "coherent"};

static double value_of(flr_engine *engine, const char *name)
{
    flr_engine_parameter p;
    for (uint32_t i = 0; flr_engine_parameter_at(engine, i, &p); i++)
        if (strcmp(p.name, name) == 0) return p.value;
    fail_msg("no parameter %s", name);
    return 0;
}

static void set(flr_test_engine *s, const char *name, double value)
{
    flr_error error;
    assert_ok(flr_engine_set(s->engine, name, value, &error), error);
}

/* Plate, block and ball have voxels of 2 mm; besides these, something far away has other ones. */
static void make(flr_test_engine *s, double other)
{
    flr_test_engine_make(s, true, NULL);
    if (other > 0)
        flr_test_engine_add(s->engine, "other", flr_vec3_make(0.012, 0.012, 0.012),
                            flr_vec3_make(0, 0, -0.2), FLR_PART_STATIC, other);
    flr_test_engine_settle(s);
}

/* How far the block gets between two rails that leave it 6.6 mm on each side, when force begins 4 mm before surfaces meet. */
static double enters(double other, int engine)
{
    flr_test_engine s;
    make(&s, other);
    const flr_vec3 rail = {0.06, 0.01, 0.04};
    for (int side = -1; side <= 1; side += 2)
        flr_test_engine_add(s.engine, side < 0 ? "left" : "right", rail,
                            flr_vec3_make(0.07, side * (0.01 + 0.0066 + 0.005), 0.1),
                            FLR_PART_STATIC, 0.002);
    set(&s, "engine", engine);
    flr_test_engine_settle(&s);
    set(&s, "onset", 0.004);
    const flr_vec3 from = {0, 0, 0.1}, to = {0.07, 0, 0.1};
    assert_int_equal(
        flr_engine_place(s.engine, s.block, flr_pose_make(from, flr_quat_identity()), NULL),
        FLR_OK);
    flr_test_engine_move(&s, 0, from, 0, 100);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), s.block, NULL), FLR_OK);
    flr_test_engine_pass(&s, 20);
    flr_test_engine_move(&s, 0, to, 1, 700);
    flr_test_engine_pass(&s, 300);
    const double x = flr_test_engine_part(&s, s.block).T_world_part.p.x;
    flr_test_engine_free(&s);
    return x;
}

static void a_slot_is_as_wide_as_with_one_size(void **state)
{
    (void)state;
    for (int engine = 0; engine < ENGINES; engine++) {
        const double one = enters(0, engine), finer = enters(0.0011, engine);
        print_message("%s: %.2f mm with one size, %.2f mm with a finer one elsewhere\n",
                      names[engine], 1e3 * one, 1e3 * finer);
        assert_within(one, 0.07, 5e-4);
        assert_within(finer, 0.07, 5e-4);
    }
}

static void the_onset_is_that_of_the_finest_voxels(void **state)
{
    (void)state;
    flr_test_engine s;
    make(&s, 0.0015);
    assert_within(value_of(s.engine, "onset"), 0.003, 1e-12);
    set(&s, "onset", 0.004);
    assert_eq(value_of(s.engine, "force_layer"), 3);
    assert_within(value_of(s.engine, "onset"), 0.004, 1e-12);
    // a part that comes later, with finer voxels, keeps the length
    flr_test_engine_add(s.engine, "fine", flr_vec3_make(0.01, 0.01, 0.01),
                        flr_vec3_make(0, 0, -0.3), FLR_PART_STATIC, 0.0008);
    flr_test_engine_settle(&s);
    assert_eq(value_of(s.engine, "force_layer"), 5);
    assert_within(value_of(s.engine, "onset"), 0.004, 1e-12);
    // and a layer counts voxels again
    set(&s, "force_layer", 2);
    assert_within(value_of(s.engine, "onset"), 0.0016, 1e-12);
    flr_test_engine_free(&s);
}

/* N: with which the block presses on the plate when the hand is 20 mm too low. */
static double presses(double other)
{
    flr_test_engine s;
    make(&s, other);
    const flr_vec3 at = {0, 0, 0.03};
    flr_test_engine_move(&s, 0, at, 0, 100);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), s.block, NULL), FLR_OK);
    flr_test_engine_pass(&s, 20);
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0, 0.01}, 1, 300);
    flr_test_engine_pass(&s, 300);
    double force = 0;
    const flr_engine_state *now = flr_engine_view(s.engine);
    for (uint32_t i = 0; i < now->contact_count; i++) force += now->contacts[i].force.z;
    flr_test_engine_free(&s);
    return force;
}

static void a_hand_is_as_strong_as_with_one_size(void **state)
{
    (void)state;
    const double one = presses(0), finer = presses(0.0002);
    print_message("a hand presses with %.3f N, with finer voxels elsewhere %.3f N\n", one, finer);
    assert_gt(one, 0.1);
    assert_within(finer, one, 1e-3 * one);
}

/* What stays is merged, unless points of a part that moves would be too far apart for its voxels. */
static void a_coarse_part_meets_fine_ones_by_their_points(void **state)
{
    (void)state;
    for (int coarse = 0; coarse < 2; coarse++) {
        flr_test_engine s;
        make(&s, 0.002);
        flr_test_engine_pass(&s, 1000);
        flr_test_engine_settle(&s);
        assert_true(flr_engine_view(s.engine)->merged);
        const flr_vec3 at = {-0.05, 0, 0.05};
        flr_part_id cover = flr_test_engine_add(s.engine, "cover", flr_vec3_make(0.03, 0.03, 0.03),
                                                at, FLR_PART_MOVABLE, coarse ? 0.003 : 0.002);
        flr_test_engine_settle(&s);
        flr_test_engine_move(&s, 0, at, 0, 100);
        assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), cover, NULL), FLR_OK);
        flr_test_engine_pass(&s, 1000);
        flr_test_engine_settle(&s);
        assert_eq(flr_engine_view(s.engine)->merged, !coarse);
        flr_test_engine_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_is_as_wide_as_with_one_size),
        cmocka_unit_test(the_onset_is_that_of_the_finest_voxels),
        cmocka_unit_test(a_hand_is_as_strong_as_with_one_size),
        cmocka_unit_test(a_coarse_part_meets_fine_ones_by_their_points),
    };
    return cmocka_run_group_tests_name("engine_mixed", tests, NULL, NULL);
}
