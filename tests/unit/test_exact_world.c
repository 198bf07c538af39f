/* the exact engine: forces, limits and motion on exact distances */
#include <math.h>

#include "support/exact_rig.h"
#include "support/rig.h"

static flr_pose at(double x, double y, double z)
{
    return flr_pose_make(flr_vec3_make(x, y, z), flr_quat_identity());
}

/* a plate with its top at z = 0 */
static void add_plate(flr_test_exact *rig, double width)
{
    flr_kit kit = flr_kit_begin(1);
    flr_kit_box(&kit, at(0, 0, -5e-3), width, width, 10e-3, 0);
    flr_test_exact_add(rig, &kit, FLR_PART_STATIC, flr_pose_identity());
}

static void add_box(flr_test_exact *rig, flr_part_kind kind, flr_pose T)
{
    flr_kit kit = flr_kit_begin(1);
    flr_kit_box(&kit, flr_pose_identity(), 10e-3, 10e-3, 20e-3, 0);
    flr_test_exact_add(rig, &kit, kind, T);
}

/* ---- a wall ---- */

static void a_wall_is_felt(void **state)
{
    (void)state;
    flr_test_exact rig = flr_test_exact_begin();
    add_plate(&rig, 40e-3);
    add_box(&rig, FLR_PART_MOVABLE, at(1e-3, 2e-3, 12e-3));
    flr_test_exact_make(&rig, 1);
    /* down, until the hand is 1 mm below where the box touches */
    for (int i = 0; i < 600; i++) {
        double down = fmin(i * 1e-5, 3e-3);
        flr_test_exact_step(&rig, at(1e-3, 2e-3, 12e-3 - down));
        assert_int_equal(rig.frame.faults, 0);
        assert_false(flr_test_exact_meet(&rig, 0, 1));
    }
    flr_wrench felt = flr_world_wrench(rig.world, 0);
    double gap = flr_test_exact_distance(&rig, 0, 1);
    print_message("1 mm into a wall: %.3f N, %.2f um apart, %.2g N m\n", felt.force.z, gap * 1e6,
                  flr_vec3_length(felt.torque));
    assert_within(felt.force.z, 2, 0.03);
    assert_within(flr_vec3_length(felt.torque), 0, 1e-4);
    assert_true(gap > 0.9e-6 && gap < 5.1e-6);
    uint32_t count;
    const flr_world_touch *touches = flr_world_touches(rig.world, &count);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += touches[i].force * touches[i].normal.z;
    assert_within(sum, 2, 0.05);
    const flr_world_gap *gaps = flr_world_gaps(rig.world, &count);
    assert_int_equal(count, 1);
    assert_within(gaps[0].distance, gap, 1e-7);
    assert_true(gaps[0].lower <= gap + 1e-9 && gaps[0].upper >= gap - 1e-7 && gaps[0].complete);
    assert_within(gaps[0].normal.z, 1, 1e-9);

    /* as far as the device goes, and no farther */
    for (int i = 0; i < 300; i++) flr_test_exact_step(&rig, at(1e-3, 2e-3, 12e-3 - 3e-3 - i * 1e-4));
    for (int i = 0; i < 100; i++) flr_test_exact_step(&rig, at(1e-3, 2e-3, 12e-3 - 33e-3));
    assert_within(flr_world_wrench(rig.world, 0).force.z, 10, 0.01);
    assert_false(flr_test_exact_meet(&rig, 0, 1));
    flr_test_exact_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_wall_is_felt)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
