/* parts that overlap and slide or turn: as far as brute force says, along faces and into them */
#include <math.h>

#include "feeler/fit.h"
#include "support/fixtures.h"

enum { AROUND = 24, LOOKS = 12 };

static const double pi = 3.14159265358979323846;

typedef struct both {
    const flr_mesh *meshes[2];
    flr_fit *fits[2];
} both;

static both begin(const flr_mesh *a, const flr_mesh *b)
{
    return (both){{a, b}, {flr_test_fit(a), flr_test_fit(b)}};
}

static void end(both *p)
{
    for (int i = 0; i < 2; i++) flr_fit_destroy(p->fits[i]);
}

/* A peg in a hole of the same radius, turned by half a facet: its corners are in the wall. */
typedef struct nominal {
    flr_test_shape bush, peg;
    both parts;
    flr_pose T;
    double overlap; /* metres */
} nominal;

static void make_nominal(nominal *n)
{
    *n = (nominal){.T = flr_pose_identity(), .overlap = 0.005 * (1 - cos(pi / AROUND))};
    flr_test_shape_tube(&n->bush, 0.005, 0.008, 0.01, AROUND);
    flr_test_shape_cylinder(&n->peg, 0.005, 0.02, AROUND, 1);
    n->parts = begin(flr_test_shape_mesh(&n->bush), flr_test_shape_mesh(&n->peg));
    n->T.q = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), pi / AROUND);
}

static void free_nominal(nominal *n)
{
    end(&n->parts);
    flr_test_shape_free(&n->bush);
    flr_test_shape_free(&n->peg);
}

/* The depth of the deepest sample, by brute force. */
static double depth_at(const both *p, flr_pose T)
{
    flr_fit_params params = flr_default_fit_params();
    flr_fit_result r;
    params.max_distance = 0;
    flr_fit_reference_pair(p->fits[0], p->meshes[0], p->fits[1], p->meshes[1], T, &params, NULL, 0,
                           &r);
    return fmax(-r.distance, 0) * (r.found && r.distance < 0);
}

static flr_fit_slide_result slide(const both *p, flr_pose T, flr_vec3 by, double depth)
{
    flr_fit_slide_result r;
    const flr_fit_slide_def def = {.motion = {T, {flr_vec3_add(T.p, by), T.q}, flr_vec3_zero()},
                                   .depth = depth};
    flr_fit_slide(p->fits[0], p->fits[1], &def, &r);
    return r;
}

static void nominal_fits_slide(void **state)
{
    (void)state;
    nominal n;
    make_nominal(&n);
    const both p = n.parts;
    const double overlap = n.overlap, depth = 1.5 * overlap;
    flr_pose T = n.T;
    assert_within(depth_at(&p, T), overlap, 1e-9);
    // out of the hole, both ways, and a way that is far longer
    for (int i = 0; i < 3; i++) {
        const double z = i == 0 ? 0.02 : i == 1 ? -0.02 : 3;
        const flr_fit_slide_result r = slide(&p, T, flr_vec3_make(0, 0, z), depth);
        assert_true(r.free == 1 && !r.stopped);
        assert_lt(r.work, 400000);
    }
    // aside, until its corners are too deep
    flr_fit_slide_result r = slide(&p, T, flr_vec3_make(0.001, 0, 0), depth);
    assert_true(r.free > 0 && r.free < 0.1);
    T.p.x = r.free * 0.001;
    assert_within(depth_at(&p, T), depth, 0.02 * depth);
    assert_within(r.distance, -depth, 0.02 * depth);
    assert_lt(r.normal.x, -0.9);
    assert_lt(flr_vec3_distance(r.point[0], r.point[1]), 1.01 * depth);
    // less than there is: not a step
    r = slide(&p, n.T, flr_vec3_make(0, 0, 0.02), 0.5 * overlap);
    assert_true(r.free == 0 && r.distance < -0.9 * overlap);
    // a wall behind a gap
    T.p = flr_vec3_make(0, 0, 0.016);
    r = slide(&p, T, flr_vec3_make(0.001, 0, -0.004), depth);
    assert_true(r.free > 0.05 && r.free < 0.3);
    free_nominal(&n);
}

/* Random ways of random solids: never deeper before, as deep there, as brute force has it at many places. */
static void brute_force_agrees(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("brute force agrees");
    unsigned stopped = 0, whole = 0, at_once = 0;
    for (int i = 0; i < 3 * FLR_TEST_SOLID_COUNT; i++) {
        flr_test_part a, b;
        flr_test_part_make(&a, (flr_test_solid)(i % FLR_TEST_SOLID_COUNT), 1, 0.002, false);
        flr_test_part_make(
            &b, (flr_test_solid)((i + i / FLR_TEST_SOLID_COUNT + 1) % FLR_TEST_SOLID_COUNT), 0.6,
            0.002, false);
        both p = begin(flr_test_shape_mesh(&a.shape), flr_test_shape_mesh(&b.shape));
        const double size = flr_fit_get_info(p.fits[0]).size;
        for (int n = 0; n < 3; n++) {
            const flr_pose T = flr_test_random_pose(&random, 0.6 * size);
            // towards the other part, past its middle; or anywhere
            const double share = n % 2 ? flr_test_random_range(&random, 0.5, 2.5) : 0,
                         aside = n % 2 ? 0.2 : 1;
            const flr_vec3 by =
                flr_vec3_add_scaled(flr_test_random_pose(&random, aside * size).p, -share, T.p);
            const double start = depth_at(&p, T),
                         depth = start + size * pow(10, flr_test_random_range(&random, -4, -1.5));
            const flr_fit_slide_result r = slide(&p, T, by, depth);
            whole += r.free == 1, stopped += r.free > 0 && r.free < 1, at_once += r.free == 0;
            double worst = 0;
            for (int k = 0; k <= LOOKS; k++) {
                flr_pose now = T;
                now.p = flr_vec3_add_scaled(T.p, r.free * k / LOOKS, by);
                worst = fmax(worst, depth_at(&p, now));
            }
            assert_le(worst, depth * (1 + 1e-6) + 1e-12);
            if (r.free == 1) continue;
            flr_pose there = T;
            there.p = flr_vec3_add_scaled(T.p, r.free, by);
            assert_ge(depth_at(&p, there), 0.979 * depth);
            assert_within(r.distance, -depth, 0.021 * depth);
        }
        end(&p);
        flr_test_part_free(&a);
        flr_test_part_free(&b);
    }
    print_message("%u ways are free, %u stop, %u at once\n", whole, stopped, at_once);
    assert_true(whole > 5 && stopped > 5);
}

/* The same peg turns in its hole, about its axis and along a thread, and not about an axis beside. */
static void nominal_fits_turn(void **state)
{
    (void)state;
    nominal n;
    make_nominal(&n);
    const both p = n.parts;
    flr_fit_slide_result r;
    flr_fit_slide_def def = {.motion = {n.T, n.T, flr_vec3_zero()}, .depth = 1.5 * n.overlap};
    for (int pitch = 0; pitch < 2; pitch++) {
        def.motion.to.q = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), pi / AROUND + 1.5);
        def.motion.to.p.z = 0.004 * pitch;
        flr_fit_slide(p.fits[0], p.fits[1], &def, &r);
        assert_true(r.free == 1);
        assert_lt(r.work, 3000000);
    }
    // about the other axis its rim goes into the wall
    def.motion.to.q = flr_quat_mul(flr_quat_from_axis_angle(flr_vec3_make(1, 0, 0), 0.3), n.T.q);
    flr_fit_slide(p.fits[0], p.fits[1], &def, &r);
    assert_true(r.free > 0 && r.free < 0.2);
    const flr_pose T = flr_fit_motion_pose(&def.motion, r.free);
    assert_within(depth_at(&p, T), def.depth, 0.03 * def.depth);
    // from there it turns back, but not on
    def.motion.from = T;
    flr_fit_slide(p.fits[0], p.fits[1], &def, &r);
    assert_lt(r.free, 0.01);
    def.motion.to = n.T;
    flr_fit_slide(p.fits[0], p.fits[1], &def, &r);
    assert_true(r.free == 1);
    free_nominal(&n);
}

/* Turns of random solids: never deeper before than it may be, and nearly as deep there. */
static void brute_force_agrees_on_turns(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("brute force agrees on turns");
    unsigned stopped = 0, whole = 0;
    for (int i = 0; i < 2 * FLR_TEST_SOLID_COUNT; i++) {
        flr_test_part a, b;
        flr_test_part_make(&a, (flr_test_solid)(i % FLR_TEST_SOLID_COUNT), 1, 0.002, false);
        flr_test_part_make(
            &b, (flr_test_solid)((i + i / FLR_TEST_SOLID_COUNT + 1) % FLR_TEST_SOLID_COUNT), 0.6,
            0.002, false);
        both p = begin(flr_test_shape_mesh(&a.shape), flr_test_shape_mesh(&b.shape));
        const double size = flr_fit_get_info(p.fits[0]).size;
        for (int n = 0; n < 2; n++) {
            flr_fit_slide_result r;
            flr_fit_slide_def def = {.motion = {.from = flr_test_random_pose(&random, 0.7 * size),
                                                .to = flr_test_random_pose(&random, 0.7 * size)}};
            def.motion.centre = flr_test_random_pose(&random, 0.5 * size * (n % 2)).p;
            const double start = depth_at(&p, def.motion.from);
            def.depth = start + size * pow(10, flr_test_random_range(&random, -3, -1.5));
            flr_fit_slide(p.fits[0], p.fits[1], &def, &r);
            whole += r.free == 1, stopped += r.free < 1;
            double worst = 0;
            for (int k = 0; k <= LOOKS; k++)
                worst =
                    fmax(worst, depth_at(&p, flr_fit_motion_pose(&def.motion, r.free * k / LOOKS)));
            assert_le(worst, def.depth * (1 + 1e-6) + 1e-12);
            if (r.free == 1) continue;
            assert_ge(depth_at(&p, flr_fit_motion_pose(&def.motion, r.free)), 0.96 * def.depth);
        }
        end(&p);
        flr_test_part_free(&a);
        flr_test_part_free(&b);
    }
    print_message("%u turns are free, %u stop\n", whole, stopped);
    assert_true(whole > 1 && stopped > 4);
}

static bool not_long(void *context)
{
    int *left = context;
    return (*left)-- > 0;
}

static void can_be_stopped(void **state)
{
    (void)state;
    nominal n;
    make_nominal(&n);
    const both p = n.parts;
    int left = 0;
    flr_fit_slide_result r;
    flr_fit_slide_def def = {.motion = {n.T, {flr_vec3_make(0, 0, 1), n.T.q}, flr_vec3_zero()},
                             .depth = 1e-4,
                             .go_on = not_long,
                             .context = &left};
    flr_fit_slide(p.fits[0], p.fits[1], &def, &r);
    assert_true(r.stopped && r.free == 0);
    left = 1000000;
    flr_fit_slide(p.fits[0], p.fits[1], &def, &r);
    assert_true(!r.stopped && r.free == 1);
    // what is no way is none
    def.motion.to.p.x = NAN;
    flr_fit_slide(p.fits[0], p.fits[1], &def, &r);
    assert_true(r.free == 0);
    free_nominal(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nominal_fits_slide), cmocka_unit_test(brute_force_agrees),
        cmocka_unit_test(nominal_fits_turn),  cmocka_unit_test(brute_force_agrees_on_turns),
        cmocka_unit_test(can_be_stopped),
    };
    return cmocka_run_group_tests_name("fit slide", tests, NULL, NULL);
}
