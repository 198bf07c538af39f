/* the field of a search: as far as its cells allow, it says what the triangles say */
#include "plan/plan_field.h"
#include "support/fixtures.h"

#include <math.h>
#include <stdlib.h>

/* an L of two boxes, closed; or without its last two triangles, open */
static flr_fit *corner(bool open)
{
    static const double xy[6][2] = {{0, 0},       {0.04, 0},    {0.04, 0.01},
                                    {0.01, 0.01}, {0.01, 0.03}, {0, 0.03}};
    static const uint32_t caps[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
    flr_vec3 v[12];
    flr_triangle t[20];
    uint32_t count = 0;
    for (int i = 0; i < 12; i++) v[i] = flr_vec3_make(xy[i % 6][0], xy[i % 6][1], i < 6 ? 0 : 0.02);
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t j = (i + 1) % 6;
        t[count++] = (flr_triangle){{i, j, j + 6}};
        t[count++] = (flr_triangle){{i, j + 6, i + 6}};
    }
    for (int i = 0; i < 4; i++) t[count++] = (flr_triangle){{caps[i][0], caps[i][2], caps[i][1]}};
    for (int i = 0; i < 4; i++)
        t[count++] = (flr_triangle){{caps[i][0] + 6, caps[i][1] + 6, caps[i][2] + 6}};
    return flr_test_fit_of(v, 12, t, open ? count - 2 : count);
}

static double random_unit(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53;
}

static flr_pose random_pose(uint64_t *seed)
{
    flr_pose T;
    T.p.x = 0.1 * random_unit(seed) - 0.03;
    T.p.y = 0.1 * random_unit(seed) - 0.03;
    T.p.z = 0.1 * random_unit(seed) - 0.03;
    T.q.w = random_unit(seed) - 0.5, T.q.x = random_unit(seed) - 0.5;
    T.q.y = random_unit(seed) - 0.5, T.q.z = random_unit(seed) - 0.5;
    T.q = flr_quat_normalize(T.q);
    return T;
}

static void compare(bool open)
{
    flr_fit *fit = corner(open);
    const flr_plan_part moving = {fit, flr_pose_identity()},
                        stands = {fit, {{0.002, 0.001, 0}, flr_quat_identity()}};
    flr_plan_def def = flr_default_plan_def();
    def.moving = &moving, def.moving_count = 1, def.obstacles = &stands, def.obstacle_count = 1;
    flr_plan_space *space;
    flr_plan_field *field;
    flr_error error;
    assert_ok(flr_plan_space_create(&def, &space, &error), error);
    assert_ok(flr_plan_field_create(space, 60000, &field, &error), error);
    // the thickness of both legs is 10 mm
    if (!open) assert_within(field->depth, 0.0055, field->cell);
    uint64_t seed = 5;
    uint32_t apart = 0, within = 0;
    for (int i = 0; i < 300; i++) {
        const flr_pose T = random_pose(&seed);
        const double exact = flr_plan_distance(space, T, 0, 0, INFINITY, 0, NULL);
        flr_plan_witness witness = {.distance = NAN};
        const double about = flr_plan_field_query(field, T, 1, -INFINITY, &witness);
        assert_eq(about, witness.distance);
        // a threshold gives the same answer
        assert_true((flr_plan_field_query(field, T, 1, 0, NULL) < 0) == (about < 0));
        if (exact > 0) {
            apart++;
            // far away it is a lower bound
            assert_lt(about, exact + field->cell);
            if (!open && exact < 3 * field->cell) assert_within(about, exact, field->cell);
            continue;
        }
        within += exact < -2 * field->cell;
        if (!open && exact < -2 * field->cell) assert_lt(about, 0);
    }
    assert_true(apart > 50 && within > 5);
    flr_plan_field_destroy(field);
    flr_plan_space_destroy(space);
    flr_fit_destroy(fit);
}

static void closed_parts(void **state)
{
    (void)state;
    compare(false);
}

static void open_parts(void **state)
{
    (void)state;
    compare(true);
}

/* all places nearer than a limit, and none beyond it */
static void places(void **state)
{
    (void)state;
    flr_fit *fit = corner(false);
    const flr_plan_part moving = {fit, flr_pose_identity()},
                        stands = {fit, {{0, 0, 0.021}, flr_quat_identity()}};
    flr_plan_def def = flr_default_plan_def();
    def.moving = &moving, def.moving_count = 1, def.obstacles = &stands, def.obstacle_count = 1;
    flr_plan_space *space;
    flr_plan_field *field;
    flr_plan_witness found[64];
    flr_error error;
    assert_ok(flr_plan_space_create(&def, &space, &error), error);
    assert_ok(flr_plan_field_create(space, 60000, &field, &error), error);
    assert_int_equal(flr_plan_field_places(field, flr_pose_identity(), 0.0005, found, 64), 0);
    const uint32_t count = flr_plan_field_places(field, flr_pose_identity(), 0.002, found, 64);
    assert_int_equal(count, 64);
    for (uint32_t i = 0; i < count; i++) {
        assert_lt(found[i].distance, 0.002);
        assert_true(found[i].normal.z < -0.9 && found[i].point.z > 0.018);
    }
    flr_plan_field_destroy(field);
    flr_plan_space_destroy(space);
    flr_fit_destroy(fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_parts),
        cmocka_unit_test(open_parts),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
