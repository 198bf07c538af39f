/* the aircraft bay and its teapot: counts and sizes of the paper, closed components, room to start */
#include "models/models.h"
#include "support/clearance.h"
#include "support/closed.h"
#include "support/golden.h"
#include "support/test.h"

#include <math.h>

static flr_model model; /* built once: it is large */
static const flr_mesh *aircraft, *teapot;

static int build_once(void **state)
{
    (void)state;
    flr_error error;
    assert_ok(flr_scenario_build(flr_scenario_find("aircraft"), NULL, &model, &error), error);
    aircraft = flr_model_find_mesh(&model, "aircraft.stl");
    teapot = flr_model_find_mesh(&model, "teapot.stl");
    return aircraft && teapot ? 0 : -1;
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

/* cells of a cubic grid that some point of the surface lies in */
static size_t cells_touched(const flr_mesh *mesh, double cell)
{
    flr_vec3 low = mesh->bounds.low, size = flr_vec3_sub(mesh->bounds.high, low);
    size_t nx = (size_t)(size.x / cell) + 1, ny = (size_t)(size.y / cell) + 1;
    size_t nz = (size_t)(size.z / cell) + 1, count, touched = 0;
    flr_vec3 *points = flr_test_surface_points(mesh, cell / 10, &count);
    uint8_t *marks = calloc(nx * ny * nz, 1);
    assert_non_null(marks);
    for (size_t i = 0; i < count; i++) {
        size_t x = (size_t)((points[i].x - low.x) / cell),
               y = (size_t)((points[i].y - low.y) / cell);
        size_t z = (size_t)((points[i].z - low.z) / cell);
        uint8_t *mark = &marks[(z * ny + y) * nx + x];
        if (!*mark) touched++;
        *mark = 1;
    }
    free(marks);
    free(points);
    return touched;
}

/* 1999, section 6.3 */
static void test_numbers_of_the_paper(void **state)
{
    (void)state;
    assert_inside(aircraft->triangle_count, 593409, 0.01);
    flr_vec3 size = flr_vec3_sub(teapot->bounds.high, teapot->bounds.low);
    assert_inside(size.x, 0.075, 0.01);
    assert_inside((double)cells_touched(teapot, 0.005), 380, 0.15);
    size = flr_vec3_sub(aircraft->bounds.high, aircraft->bounds.low);
    assert_inside(size.x, 6, 0.01);
    assert_inside(size.y, 3, 0.01);
    assert_inside(size.z, 3, 0.02);
}

static void test_closed(void **state)
{
    (void)state;
    assert_gt(flr_test_assert_closed(aircraft), 3000);
    assert_int_equal(flr_test_assert_closed(teapot), 3);
}

static void test_golden(void **state)
{
    (void)state;
    flr_test_assert_golden("aircraft", &model);
}

static void test_seeds(void **state)
{
    (void)state;
    flr_error error;
    flr_scenario_options options = flr_default_scenario_options();
    for (options.seed = 2; options.seed < 5; options.seed++) {
        flr_model other;
        assert_ok(flr_scenario_build(flr_scenario_find("aircraft"), &options, &other, &error),
                  error);
        const flr_mesh *mesh = flr_model_find_mesh(&other, "aircraft.stl");
        assert_int_equal(mesh->triangle_count, aircraft->triangle_count);
        assert_false(flr_hash_equal(flr_mesh_hash(mesh), flr_mesh_hash(aircraft)));
        flr_model_free(&other);
    }
}

static void test_start_is_free(void **state)
{
    (void)state;
    assert_true(model.parts[1].moving);
    flr_pose start = model.parts[1].T_world_part;
    flr_vec3 reach = flr_vec3_make(0.3, 0.3, 0.3);
    flr_box3 region = {flr_vec3_sub(start.p, reach), flr_vec3_add(start.p, reach)};
    flr_clearance *clearance = flr_clearance_create(aircraft, region, 0.2);
    size_t count;
    flr_vec3 *points = flr_test_surface_points(teapot, 0.005, &count);
    double least = 1;
    for (size_t i = 0; i < count; i++)
        least = fmin(least, flr_clearance_at(clearance, flr_pose_apply(start, points[i])));
    assert_gt(least, 0.03);
    assert_lt(least, 0.15);
    free(points);
    flr_clearance_destroy(clearance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_the_paper),
        cmocka_unit_test(test_closed),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_start_is_free),
    };
    return cmocka_run_group_tests_name("models_aircraft", tests, build_once, free_all);
}
