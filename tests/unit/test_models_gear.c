/* the landing gear: counts and sizes of the paper, closed components, a way out that is free */
#include "models/models.h"
#include "support/clearance.h"
#include "support/closed.h"
#include "support/golden.h"
#include "support/test.h"

#include <math.h>

static flr_model model; /* built once: it is large */
static const flr_mesh *gear, *actuator;

static int build_once(void **state)
{
    (void)state;
    flr_error error;
    assert_ok(flr_scenario_build(flr_scenario_find("gear"), NULL, &model, &error), error);
    gear = flr_model_find_mesh(&model, "gear.stl");
    actuator = flr_model_find_mesh(&model, "actuator.stl");
    return gear && actuator ? 0 : -1;
}

static int free_all(void **state)
{
    (void)state;
    flr_model_free(&model);
    return 0;
}

static void assert_inside(double value, double expected, double share)
{
    if (!(fabs(value - expected) <= share * expected))
        fail_msg("%g is not %g within %g %%", value, expected, 100 * share);
}

/* 2005, Table 1 and section 7 */
static void test_numbers_of_the_paper(void **state)
{
    (void)state;
    assert_inside(gear->triangle_count, 2.76e6, 0.01);
    assert_inside(actuator->triangle_count, 40476, 0.01);
    flr_vec3 size = flr_vec3_sub(gear->bounds.high, gear->bounds.low);
    assert_inside(size.x, 4.1, 0.01);
    assert_inside(size.y, 1.9, 0.01);
    assert_inside(size.z, 4.8, 0.01);
    size = flr_vec3_sub(actuator->bounds.high, actuator->bounds.low);
    assert_inside(size.x, 0.9, 0.01);
    assert_inside(size.y, 0.2, 0.01);
    assert_inside(size.z, 0.2, 0.01);
}

static void test_closed(void **state)
{
    (void)state;
    assert_gt(flr_test_assert_closed(gear), 10000);
    assert_gt(flr_test_assert_closed(actuator), 100);
}

static void test_golden(void **state)
{
    (void)state;
    flr_test_assert_golden("gear", &model);
}

/* another seed moves things, but keeps counts, and the same seed gives the same */
static void test_seed(void **state)
{
    (void)state;
    flr_error error;
    flr_scenario_options options = flr_default_scenario_options();
    options.seed = 77;
    flr_model other;
    assert_ok(flr_scenario_build(flr_scenario_find("gear"), &options, &other, &error), error);
    const flr_mesh *mesh = flr_model_find_mesh(&other, "gear.stl");
    assert_int_equal(mesh->triangle_count, gear->triangle_count);
    assert_false(flr_hash_equal(flr_mesh_hash(mesh), flr_mesh_hash(gear)));
    flr_model_free(&other);
}

static void test_scene(void **state)
{
    (void)state;
    assert_int_equal(model.part_count, 2);
    assert_false(model.parts[0].moving);
    assert_true(model.parts[1].moving);
    assert_int_equal(model.path_count, 1);
    assert_string_equal(model.paths[0].name, "removal");
    assert_string_equal(model.paths[0].part, model.parts[1].name);
    assert_memory_equal(&model.paths[0].poses[0].T_world_part, &model.parts[1].T_world_part,
                        sizeof(flr_pose));
}

/* The way out keeps 9 mm everywhere, which the force layer at 2 of 2.5 mm voxels needs; it is
 * tight (below 13 mm) when installed, beside the pipes and in the gate; and it ends outside. */
static void test_way_out(void **state)
{
    (void)state;
    const flr_model_path *path = &model.paths[0];
    flr_box3 region = {{-1.5, -0.6, 0.3}, {0.2, 2.1, 2.1}};
    flr_clearance *clearance = flr_clearance_create(gear, region, 0.025);
    size_t point_count;
    flr_vec3 *points = flr_test_surface_points(actuator, 0.02, &point_count);
    double tightest[3] = {1, 1, 1};
    for (size_t i = 0; i < path->count;
         i += i + 10 < path->count || i + 1 == path->count ? 10 : path->count - 1 - i) {
        const flr_timed_pose *at = &path->poses[i];
        double least = 1;
        for (size_t k = 0; k < point_count; k++)
            least = fmin(least,
                         flr_clearance_at(clearance, flr_pose_apply(at->T_world_part, points[k])));
        if (least < 0.009) fail_msg("%.1f mm of clearance at %g s", 1e3 * least, at->t);
        int stage = at->t < 2 ? 0 : at->t < 8 ? 1 : 2;
        tightest[stage] = fmin(tightest[stage], least);
    }
    for (int stage = 0; stage < 3; stage++)
        if (tightest[stage] > 0.013) fail_msg("stage %d has %g m of room", stage, tightest[stage]);
    flr_pose end = path->poses[path->count - 1].T_world_part;
    for (size_t k = 0; k < point_count; k++)
        assert_gt(flr_pose_apply(end, points[k]).y, gear->bounds.high.y);
    free(points);
    flr_clearance_destroy(clearance);
}

/* it must go the way it goes: straight up, or through the gate without the roll, it is caught */
static void test_things_to_get_caught_on(void **state)
{
    (void)state;
    flr_box3 region = {{-1.5, -0.6, 0.3}, {0.2, 2.1, 2.1}};
    flr_clearance *clearance = flr_clearance_create(gear, region, 0.01);
    size_t point_count;
    flr_vec3 *points = flr_test_surface_points(actuator, 0.008, &point_count);
    flr_pose up = model.paths[0].poses[0].T_world_part, through = up;
    up.p.z += 0.06;
    through.p = flr_vec3_make(-0.80, 0.68, 1.47);
    through.q = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), 1.5707963267948966);
    double caught_up = 1, caught_through = 1;
    for (size_t k = 0; k < point_count; k++) {
        caught_up = fmin(caught_up, flr_clearance_at(clearance, flr_pose_apply(up, points[k])));
        caught_through =
            fmin(caught_through, flr_clearance_at(clearance, flr_pose_apply(through, points[k])));
    }
    assert_lt(caught_up, 0.003);
    assert_lt(caught_through, 0.003);
    free(points);
    flr_clearance_destroy(clearance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_the_paper),
        cmocka_unit_test(test_closed),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_scene),
        cmocka_unit_test(test_way_out),
        cmocka_unit_test(test_things_to_get_caught_on),
    };
    return cmocka_run_group_tests_name("models_gear", tests, build_once, free_all);
}
