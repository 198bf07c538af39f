/* paths are checked exactly: never free when they are not, and the bounds hold */
#include "feeler/plan.h"
#include "support/fixtures.h"

#include <math.h>

static flr_fit *box_fit(double x, double y, double z)
{
    flr_vec3 v[8];
    for (int i = 0; i < 8; i++)
        v[i] = (flr_vec3){i & 1 ? x / 2 : -x / 2, i & 2 ? y / 2 : -y / 2, i & 4 ? z / 2 : -z / 2};
    static const flr_triangle t[12] = {{{0, 2, 1}}, {{1, 2, 3}}, {{4, 5, 6}}, {{5, 7, 6}},
                                       {{0, 1, 4}}, {{1, 5, 4}}, {{2, 6, 3}}, {{3, 6, 7}},
                                       {{0, 4, 2}}, {{2, 4, 6}}, {{1, 3, 5}}, {{3, 7, 5}}};
    return flr_test_fit_of(v, 8, t, 12);
}

static flr_pose at(double x, double y, double z) { return (flr_pose){{x, y, z}, {1, 0, 0, 0}}; }

static flr_plan_verdict verify(const flr_plan_part *moving, const flr_plan_part *obstacles,
                               uint32_t count, double clearance, const flr_pose *poses, size_t n)
{
    flr_plan_def def = flr_default_plan_def();
    flr_plan_space *space;
    flr_plan_verdict v;
    flr_error error;
    def.moving = moving, def.moving_count = 1;
    def.obstacles = obstacles, def.obstacle_count = count, def.clearance = clearance;
    assert_ok(flr_plan_space_create(&def, &space, &error), error);
    assert_ok(flr_plan_verify(space, poses, n, &v, &error), error);
    flr_plan_space_destroy(space);
    return v;
}

static void near(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance)) fail_msg("%.9g is not %.9g", value, wanted);
}

/* a cube passes a wall at a known distance, hits it, or jumps through it between two poses */
static void walls(void **state)
{
    (void)state;
    flr_fit *cube = box_fit(0.01, 0.01, 0.01), *wall = box_fit(0.0001, 0.1, 0.1);
    const flr_plan_part moving = {cube, flr_pose_identity()}, stands = {wall, at(0, 0, 0)};
    const flr_pose past[2] = {at(-0.02, 0.0562, 0), at(0.02, 0.0562, 0)};
    flr_plan_verdict v = verify(&moving, &stands, 1, 0.001, past, 2);
    assert_true(v.free);
    near(v.upper, 0.0012, 1e-5);
    assert_true(v.lower <= 0.0012 && v.lower >= 0.98 * 0.0012);
    assert_int_equal(v.nearest.obstacle, 0);
    v = verify(&moving, &stands, 1, 0.0013, past, 2);
    assert_false(v.free);
    // the edges are 1.3 mm apart before the cube is above the wall
    assert_true(v.violation.at > 0.3 && v.violation.at < 0.4);
    near(v.violation.distance, 0.0013, 1e-6);
    const flr_pose through[3] = {at(-0.03, 0, 0), at(-0.02, 0, 0), at(0.02, 0, 0)};
    v = verify(&moving, &stands, 1, 0, through, 3);
    assert_false(v.free);
    near(v.violation.at, 1 + (0.02 - 0.00505) / 0.04, 1e-4);
    near(v.violation.point[0].x, -0.00005, 1e-6);
    // from so far that the lists of what is near cover no more than rounding
    for (double far = 10; far < 1e7; far *= 10) {
        const flr_pose long_way[2] = {at(-far, 0, 0), at(far, 0, 0)};
        v = verify(&moving, &stands, 1, 0, long_way, 2);
        assert_false(v.free);
        near(v.violation.at, 0.5 - 0.00505 / (2 * far), 1e-7);
    }
    flr_fit_destroy(cube);
    flr_fit_destroy(wall);
}

/* what starts too near may leave and slide, not come nearer */
static void fits(void **state)
{
    (void)state;
    flr_fit *cube = box_fit(0.01, 0.01, 0.01), *floor = box_fit(0.2, 0.2, 0.01);
    const flr_plan_part moving = {cube, flr_pose_identity()}, stands = {floor, at(0, 0, -0.01)};
    const double heights[] = {5e-5, 0, -1e-4}; // apart, touching, overlapping
    for (int i = 0; i < 3; i++) {
        const double h = heights[i];
        const flr_pose slide[3] = {at(0, 0, h), at(0.03, 0, h), at(0.03, 0, h + 0.02)};
        flr_plan_verdict v = verify(&moving, &stands, 1, 0.0002, slide, 3);
        assert_true(v.free);
        assert_int_equal(v.fit_total, 1);
        near(v.fits[0].start, h, 1e-9);
        assert_true(v.fits[0].until > 1 && v.fits[0].until < 1.2);
        const flr_pose into[2] = {at(0, 0, h), at(0.001, 0, h - 0.001)};
        v = verify(&moving, &stands, 1, 0.0002, into, 2);
        assert_false(v.free);
        assert_true(v.violation.at < 0.2);
    }
    // inside as a whole: it may not move about there as if nothing were
    flr_fit *block = box_fit(0.1, 0.1, 0.1);
    const flr_plan_part solid = {block, at(0, 0, 0)};
    const flr_pose deeper[2] = {at(0.04, 0, 0), at(0, 0, 0)};
    flr_plan_verdict v = verify(&moving, &solid, 1, 0, deeper, 2);
    assert_false(v.free);
    flr_fit_destroy(block);
    flr_fit_destroy(cube);
    flr_fit_destroy(floor);
}

static flr_quat random_turn(flr_test_random *r)
{
    flr_vec3 v;
    v.x = flr_test_random_range(r, -3, 3), v.y = flr_test_random_range(r, -3, 3);
    v.z = flr_test_random_range(r, -3, 3);
    return flr_quat_from_rotation_vector(v);
}

static flr_pose random_pose(flr_test_random *r, double side)
{
    flr_pose T = {.q = random_turn(r)};
    T.p.x = flr_test_random_range(r, -side, side);
    T.p.y = flr_test_random_range(r, -side, side);
    T.p.z = flr_test_random_range(r, -side, side);
    return T;
}

enum { PARTS = 4, POSES = 3, FINE = 200 };

/* Random paths among random boxes, measured again at many poses: none of a free path is nearer than was proven, and none
 * before a violation. */
static void brute_force(void **state)
{
    (void)state;
    flr_test_random r = flr_test_random_begin(__func__);
    flr_fit *bar = box_fit(0.05, 0.01, 0.01), *plate = box_fit(0.06, 0.04, 0.002);
    const flr_plan_part moving = {bar, flr_pose_identity()};
    flr_fit_pair *pair;
    flr_error error;
    int free_paths = 0, blocked = 0;
    assert_ok(flr_fit_pair_create(plate, bar, &pair, &error), error);
    for (int round = 0; round < 150; round++) {
        const double clearance = round % 3 ? 0.002 * (round % 3) : 0;
        flr_plan_part stands[PARTS];
        flr_pose poses[POSES];
        for (int i = 0; i < PARTS; i++) stands[i] = (flr_plan_part){plate, random_pose(&r, 0.1)};
        for (int i = 0; i < POSES; i++) poses[i] = random_pose(&r, 0.1);
        const flr_plan_verdict v = verify(&moving, stands, PARTS, clearance, poses, POSES);
        const double end = v.free ? POSES - 1 : v.violation.at;
        double least = INFINITY;
        for (int k = 0; k < FINE; k++) {
            const double where = end * k / FINE;
            const int i = (int)where;
            const flr_pose T = flr_pose_interpolate(poses[i], poses[i + 1], where - i);
            for (uint32_t o = 0; o < PARTS; o++) {
                flr_fit_result result;
                bool fitted = false;
                for (uint32_t f = 0; f < v.fit_count; f++) fitted |= v.fits[f].obstacle == o;
                if (fitted) continue;
                flr_fit_pair_query(pair, flr_pose_mul(flr_pose_inverse(stands[o].T), T), NULL, NULL,
                                   0, &result);
                least = fmin(least, result.distance);
            }
        }
        if (v.free && !v.fit_count) assert_true(least >= v.lower - 1e-12 && v.lower >= clearance);
        assert_true(least >= clearance - 1e-12);
        free_paths += v.free, blocked += !v.free;
    }
    assert_true(free_paths > 20 && blocked > 20);
    flr_fit_pair_destroy(pair);
    flr_fit_destroy(bar);
    flr_fit_destroy(plate);
}

static void bad_arguments(void **state)
{
    (void)state;
    flr_fit *cube = box_fit(0.01, 0.01, 0.01);
    const flr_plan_part part = {cube, flr_pose_identity()};
    flr_plan_def def = flr_default_plan_def();
    flr_plan_space *space;
    flr_plan_verdict v;
    flr_error error;
    assert_int_equal(flr_plan_space_create(&def, &space, &error), FLR_BAD_ARGUMENT);
    def.moving = &part, def.moving_count = 1, def.clearance = -1;
    assert_int_equal(flr_plan_space_create(&def, &space, &error), FLR_BAD_ARGUMENT);
    def.clearance = 0;
    assert_ok(flr_plan_space_create(&def, &space, &error), error);
    const flr_pose wrong = {{NAN, 0, 0}, {1, 0, 0, 0}}, alone = flr_pose_identity();
    assert_int_equal(flr_plan_verify(space, &wrong, 1, &v, &error), FLR_BAD_ARGUMENT);
    assert_int_equal(flr_plan_verify(space, &alone, 0, &v, &error), FLR_BAD_ARGUMENT);
    assert_ok(flr_plan_verify(space, &alone, 1, &v, &error), error);
    assert_true(v.free && v.lower == INFINITY && flr_plan_is_out(space, alone));
    flr_plan_space_destroy(space);
    flr_fit_destroy(cube);
}

static bool until_third(void *context) { return ++*(unsigned *)context < 3; }

static void checks_stop(void **state)
{
    (void)state;
    enum { STEPS_UP = 100 };
    flr_fit *cube = box_fit(0.01, 0.01, 0.01), *plate = box_fit(0.2, 0.2, 0.01);
    const flr_plan_part part = {cube, flr_pose_identity()}, obstacle = {plate, flr_pose_identity()};
    flr_plan_def def = flr_default_plan_def();
    flr_plan_space *space;
    flr_plan_verdict v, again;
    flr_error error;
    flr_pose poses[STEPS_UP];
    unsigned asked = 0;
    def.moving = &part, def.moving_count = 1, def.obstacles = &obstacle, def.obstacle_count = 1;
    assert_ok(flr_plan_space_create(&def, &space, &error), error);
    for (int i = 0; i < STEPS_UP; i++)
        poses[i] = flr_pose_make(flr_vec3_make(0, 0, 0.02 + 0.001 * i), flr_quat_identity());
    assert_ok(flr_plan_verify(space, poses, STEPS_UP, &v, &error), error);
    flr_plan_space_watch(space, until_third, &asked);
    assert_int_equal(flr_plan_verify(space, poses, STEPS_UP, &again, &error), FLR_CANCELLED);
    assert_int_equal(asked, 3);
    flr_plan_space_watch(space, NULL, NULL);
    assert_ok(flr_plan_verify(space, poses, STEPS_UP, &again, &error), error);
    assert_true(v.free && again.free && v.lower == again.lower && v.upper == again.upper);
    flr_plan_space_destroy(space);
    flr_fit_destroy(cube);
    flr_fit_destroy(plate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walls),       cmocka_unit_test(fits),
        cmocka_unit_test(brute_force), cmocka_unit_test(bad_arguments),
        cmocka_unit_test(checks_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
