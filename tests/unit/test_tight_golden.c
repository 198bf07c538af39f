/* a fit with the exact engine comes out as it always did: a square peg drawn out of its hole along a wall, with friction, has the
 * hash of tests/golden/tight.txt with every compiler, build and instruction set */
#include <math.h>

#include "support/golden.h"
#include "support/tight_rig.h"

static void add_box(flr_kit *kit, flr_vec3 low, flr_vec3 high)
{
    const flr_vec3 size = flr_vec3_sub(high, low);
    flr_pose T = flr_pose_identity();
    T.p = flr_vec3_scale(flr_vec3_add(low, high), 0.5);
    flr_kit_box(kit, T, size.x, size.y, size.z, 0);
}

static void drawn_out_along_a_wall(void **state)
{
    (void)state;
    flr_test_tight rig = flr_test_tight_begin();
    flr_kit block = flr_kit_begin(1), peg = flr_kit_begin(1);
    const double w = 5.05e-3, o = 12e-3, d = 15e-3;
    add_box(&block, flr_vec3_make(-o, -o, -d - 0.004), flr_vec3_make(o, o, -d));
    add_box(&block, flr_vec3_make(-o, -o, -d), flr_vec3_make(-w, o, 0));
    add_box(&block, flr_vec3_make(w, -o, -d), flr_vec3_make(o, o, 0));
    add_box(&block, flr_vec3_make(-w, -o, -d), flr_vec3_make(w, -w, 0));
    add_box(&block, flr_vec3_make(-w, w, -d), flr_vec3_make(w, o, 0));
    add_box(&peg, flr_vec3_make(-5e-3, -5e-3, 5e-5 - d), flr_vec3_make(5e-3, 5e-3, 0.01));
    flr_test_tight_add(&rig, &block, FLR_PART_STATIC, flr_pose_identity());
    flr_test_tight_add(&rig, &peg, FLR_PART_MOVABLE, flr_pose_identity());
    rig.params.friction = 0.1;
    flr_test_tight_make(&rig, 1);
    double least = INFINITY;
    for (int i = 0; i < 1000; i++) {
        flr_pose hand = flr_pose_identity();
        hand.p = flr_vec3_make(3e-4 * fmin(1, i / 200.0), 0, 1e-5 * i);
        flr_test_tight_step(&rig, hand);
        least = fmin(least, rig.frame.lower);
    }
    assert_true(least > 0 && least < 5e-6); /* it did touch */
    assert_true(flr_world_body(rig.world, 1)->T_world_part.p.z > 9e-3);
    assert_true(flr_test_golden_has("tight.txt", "square-peg", rig.frame.hash));
    flr_test_tight_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drawn_out_along_a_wall)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
