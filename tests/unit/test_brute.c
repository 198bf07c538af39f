/* the brute force of `feeler bench accuracy`, next to distances that are known */
#include "bench/brute.h"

#include <math.h>

#include "models/kit.h"
#include "support/test.h"

static flr_mesh *box_of(double x, double y, double z)
{
    flr_kit kit = flr_kit_begin(1);
    flr_kit_box(&kit, flr_pose_identity(), x, y, z, 0);
    flr_error error;
    flr_mesh *mesh = NULL;
    assert_ok(flr_kit_finish(&kit, &mesh, &error), error);
    return mesh;
}

static void two_triangles(void **state)
{
    (void)state;
    const flr_vec3 a[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const flr_vec3 above[3] = {{0.1, 0.1, 0.5}, {2, 0.1, 3}, {0.1, 2, 3}}; /* corner over face */
    const flr_vec3 across[3] = {{0.2, 0.2, -1}, {0.2, 0.2, 1}, {3, 3, 0}}; /* pierces */
    const flr_vec3 beside[3] = {{2, -1, 0}, {2, 1, 0}, {3, 0, 0}};         /* corner and edge */
    const flr_vec3 crossed[3] = {{0.5, -0.25, 1}, {0.5, -0.25, -1}, {2, -2, 0}}; /* two edges */
    assert_within(flr_brute_triangles(a, above), 0.5, 1e-12);
    assert_within(flr_brute_triangles(a, across), 0, 0);
    assert_within(flr_brute_triangles(a, beside), 1, 1e-12);
    assert_within(flr_brute_triangles(a, crossed), 0.25, 1e-12);
    assert_within(flr_brute_triangles(above, a), 0.5, 1e-12);
}

static void two_boxes(void **state)
{
    (void)state;
    flr_error error;
    flr_brute *brute = NULL;
    flr_mesh *a = box_of(2, 2, 2), *b = box_of(1, 1, 1);
    assert_ok(flr_brute_create(a, &brute, &error), error);
    flr_pose T = flr_pose_identity();
    T.p = flr_vec3_make(1.75, 0.3, 0);
    assert_within(flr_brute_distance(brute, b, T, 10), 0.25, 1e-12);
    assert_true(isinf(flr_brute_distance(brute, b, T, 0.2)));
    T.p = flr_vec3_make(1.8, 1.9, 0); /* edge to edge */
    assert_within(flr_brute_distance(brute, b, T, 10), 0.5, 1e-12);
    T.p.x = 1.4, T.p.y = 0;
    assert_within(flr_brute_distance(brute, b, T, 10), 0, 0);
    assert_within(flr_brute_point(brute, flr_vec3_make(0.2, 0, 0), 10), 0.8, 1e-12);
    assert_within(flr_brute_winding(brute, flr_vec3_make(0.2, 0.3, -0.1)), 1, 1e-12);
    assert_within(flr_brute_winding(brute, flr_vec3_make(3, 0.3, -0.1)), 0, 1e-12);
    flr_brute_destroy(brute);
    flr_mesh_destroy(a);
    flr_mesh_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_triangles),
                                       cmocka_unit_test(two_boxes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
