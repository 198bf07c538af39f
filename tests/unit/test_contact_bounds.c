/* the bounds of the least distance, against the distance of the triangles */
#include <math.h>

#include "feeler/distance.h"
#include "support/fixtures.h"

enum { POSES = 300 };

/* how often, and by how much at most (voxels), the distance lies beside its bounds */
typedef struct misses {
    uint64_t asked, bounded, below, above;
    double least, most;
} misses;

static void ask(flr_contact_pair *pair, flr_pose T, bool awareness, double voxel, double distance,
                misses *m)
{
    flr_contact_params params = flr_default_contact_params();
    params.awareness = awareness;
    flr_contact_result r;
    flr_contact_query(pair, T, flr_pose_identity(), &params, &r);
    /* the surfaces of solids that overlap may be far from each other */
    bool inside = false;
    for (uint32_t i = 0; i < r.listed; i++)
        inside |= flr_contact_list(pair)[i].mark == FLR_MARK_INTERIOR;
    if (inside && distance > 0.87 * voxel) return;
    m->asked++;
    m->bounded += r.upper < INFINITY;
    m->below += distance < r.lower - 1e-9;
    m->above += distance > r.upper + 1e-9;
    m->least = fmax(m->least, (r.lower - distance) / voxel);
    m->most = fmax(m->most, isfinite(r.upper) ? (distance - r.upper) / voxel : 0);
}

static void hold(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("hold");
    misses plain = {0}, aware = {0};
    const double voxel = 0.001;
    for (int i = 0; i < FLR_TEST_SOLID_COUNT * FLR_TEST_SOLID_COUNT; i++) {
        flr_test_part moving, fixed;
        flr_test_part_make(&moving, (flr_test_solid)(i % FLR_TEST_SOLID_COUNT), 1, voxel, true);
        flr_test_part_make(&fixed, (flr_test_solid)(i / FLR_TEST_SOLID_COUNT), 1, voxel, true);
        flr_contact_pair_def def = flr_default_contact_pair_def();
        def.shell = moving.shell;
        def.voxmap = fixed.voxmap;
        flr_contact_pair *pair;
        flr_gauge_part *a, *b;
        flr_error error;
        assert_ok(flr_contact_pair_create(&def, &pair, &error), error);
        assert_ok(flr_gauge_part_create(flr_test_shape_mesh(&moving.shape), &a, &error), error);
        assert_ok(flr_gauge_part_create(flr_test_shape_mesh(&fixed.shape), &b, &error), error);
        for (int k = 0; k < POSES; k++) {
            flr_pose T = flr_test_random_pose(&random, 0.03);
            flr_gauge_result exact;
            flr_gauge_distance(a, b, T, flr_pose_identity(), NULL, NULL, &exact);
            assert_true(exact.complete);
            ask(pair, T, false, voxel, exact.upper, &plain);
            ask(pair, T, true, voxel, exact.upper, &aware);
        }
        flr_gauge_part_destroy(a);
        flr_gauge_part_destroy(b);
        flr_contact_pair_destroy(pair);
        flr_test_part_free(&moving);
        flr_test_part_free(&fixed);
    }
    for (int i = 0; i < 2; i++) {
        const misses *m = i ? &aware : &plain;
        print_message("%s: %llu poses, %llu with an upper bound; %llu nearer than the lower one, "
                      "by up to %.2f "
                      "voxels; %llu farther than the upper one, by up to %.2f\n",
                      i ? "aware" : "plain", (unsigned long long)m->asked,
                      (unsigned long long)m->bounded, (unsigned long long)m->below, m->least,
                      (unsigned long long)m->above, m->most);
    }
    assert_int_equal(plain.below, 0);
    assert_int_equal(plain.above, 0);
    assert_gt(plain.bounded, plain.asked / 4);
    assert_lt(plain.bounded, plain.asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hold),
    };
    return cmocka_run_group_tests_name("contact_bounds", tests, NULL, NULL);
}
