/* a part that moves by itself: what stays the same when nothing acts, and what a travel limit promises */
#include "feeler/dynamics.h"
#include "feeler/mesh_check.h"
#include "support/fixtures.h"

static flr_body slab(void)
{
    flr_body_def def = flr_default_body_def();
    flr_body body;
    def.inertia = flr_inertia_box(0.3, flr_vec3_make(0.2, 0.1, 0.03));
    def.inertia.centre = flr_vec3_make(0.02, -0.01, 0.005);
    def.reach = 0.15;
    assert_int_equal(flr_body_make(&def, &body, NULL), FLR_OK);
    return body;
}

static void a_mesh_gives_inertia_and_reach(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(0.3, 0.2, 0.1), 2);
    flr_test_shape_move(&shape, 0, flr_pose_make(flr_vec3_make(1, 2, 3), flr_quat_identity()), 1);
    flr_body_def def;
    flr_error error;
    assert_ok(flr_body_def_from_mesh(flr_test_shape_mesh(&shape), 1000, &def, &error), error);
    flr_inertia box = flr_inertia_box(6, flr_vec3_make(0.3, 0.2, 0.1));
    assert_within(def.inertia.mass, 6, 1e-9);
    assert_within(def.inertia.centre.z, 3, 1e-9);
    for (int i = 0; i < 3; i++) assert_within(def.inertia.tensor.m[i][i], box.tensor.m[i][i], 1e-9);
    assert_within(def.reach, sqrt(0.14) / 2, 1e-12);

    /* the felt mass changes both in proportion */
    flr_body body;
    def.mass = 0.012;
    assert_ok(flr_body_make(&def, &body, &error), error);
    assert_within(body.inertia.mass, 0.012, 0);
    assert_within(body.inertia.tensor.m[1][1], box.tensor.m[1][1] * 0.002, 1e-12);
    assert_int_equal(flr_body_def_from_mesh(flr_test_shape_mesh(&shape), -1, &def, &error),
                     FLR_BAD_ARGUMENT);
    flr_test_shape_free(&shape);
}

static void what_no_body_can_be_is_refused(void **state)
{
    (void)state;
    flr_body untouched = slab(), body = untouched;
    for (int i = 0; i < 7; i++) {
        flr_body_def def = flr_default_body_def();
        flr_error error = {0};
        if (i == 0) def.inertia.mass = 0;
        if (i == 1) def.inertia.tensor.m[0][0] = 10;
        if (i == 2) def.mass = NAN;
        if (i == 3) def.mass = -1;
        if (i == 4) def.reach = 0;
        if (i == 5) def.T_world_part.q.w = 2;
        if (i == 6) def.twist.angular.x = INFINITY;
        assert_int_equal(flr_body_make(&def, &body, &error), FLR_BAD_ARGUMENT);
        assert_gt(strlen(error.message), 10);
        assert_memory_equal(&body, &untouched, sizeof body);
    }
}

/* A slab thrown about its unstable axis turns over and over: the angular momentum stays to rounding, the energy within
 * a bound that does not grow, at every rate. */
static void tumbling_keeps_momentum_and_energy(void **state)
{
    (void)state;
    const double rates[] = {250, 1000, 10000};
    for (int r = 0; r < 3; r++) {
        flr_body body = slab();
        body.twist = flr_twist_make(flr_vec3_make(0.05, 20, 0.01), flr_vec3_make(0.3, -0.2, 0.1));
        flr_wrench begin = flr_body_momentum(&body);
        flr_vec3 from = flr_body_centre(&body);
        double energy = flr_body_energy(&body), size = flr_vec3_length(begin.torque);
        double wander[2] = {0}, momentum = 0;
        bool over = false;
        enum { STEPS = 20000 };
        for (int i = 0; i < STEPS; i++) {
            flr_body_move(&body, flr_body_drift(&body, 1 / rates[r]), 1);
            double *w = &wander[i >= STEPS / 2];
            *w = fmax(*w, fabs(flr_body_energy(&body) / energy - 1));
            flr_vec3 change = flr_vec3_sub(flr_body_momentum(&body).torque, begin.torque);
            momentum = fmax(momentum, flr_vec3_length(change) / size);
            if (flr_quat_rotate(body.T_world_part.q, flr_vec3_make(0, 1, 0)).y < -0.9) over = true;
        }
        print_message("%5g Hz: momentum %.1e, energy %.1e then %.1e\n", rates[r], momentum,
                      wander[0], wander[1]);
        assert_true(over);
        assert_lt(momentum, 1e-10);
        double angle = 20 / rates[r];
        assert_lt(wander[0], 0.1 * angle * angle + 1e-10);
        assert_lt(wander[1], 1.5 * wander[0] + 1e-10); /* it does not creep */
        flr_vec3 way = flr_vec3_sub(flr_body_centre(&body), from);
        assert_within(way.x, 0.3 * STEPS / rates[r], 1e-9 * STEPS);
        assert_within(flr_quat_dot(body.T_world_part.q, body.T_world_part.q), 1, 1e-12);
    }
}

/* Forwards and backwards ends where it began. */
static void a_free_motion_can_be_undone(void **state)
{
    (void)state;
    flr_body body = slab(), start;
    body.twist = flr_twist_make(flr_vec3_make(3, 5, -2), flr_vec3_make(0.3, -0.2, 0.1));
    start = body;
    for (int i = 0; i < 1000; i++) flr_body_move(&body, flr_body_drift(&body, 0.001), 1);
    body.twist = flr_twist_scale(body.twist, -1);
    for (int i = 0; i < 1000; i++) flr_body_move(&body, flr_body_drift(&body, 0.001), 1);
    assert_lt(flr_quat_angle(body.T_world_part.q, start.T_world_part.q), 1e-9);
    assert_lt(flr_vec3_distance(body.T_world_part.p, start.T_world_part.p), 1e-9);
}

/* No point within reach goes a longer way than the travel, wherever it is and whatever the motion. */
static void travel_bounds_every_point(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("travel");
    for (int i = 0; i < 5000; i++) {
        flr_body body = slab();
        body.T_world_part = flr_test_random_pose(&random, 1);
        double big = flr_test_random_range(&random, 0, 3);
        flr_motion motion = {.turn = {flr_test_random_range(&random, -big, big),
                                      flr_test_random_range(&random, -big, big),
                                      flr_test_random_range(&random, -big, big)},
                             .shift = {flr_test_random_range(&random, -0.1, 0.1),
                                       flr_test_random_range(&random, -0.1, 0.1),
                                       flr_test_random_range(&random, -0.1, 0.1)}};
        double limit = flr_test_random_range(&random, 0, 0.5);
        double fraction = flr_motion_fraction(motion, body.reach, limit);
        assert_ge(fraction, 0);
        assert_le(fraction, 1);
        assert_le(fraction * flr_motion_travel(motion, body.reach), limit * (1 + 1e-12));

        flr_vec3 d = flr_vec3_normalize(flr_vec3_make(flr_test_random_range(&random, -1, 1),
                                                      flr_test_random_range(&random, -1, 1), 0.1));
        flr_vec3 p = flr_vec3_add_scaled(body.inertia.centre, body.reach, d);
        flr_vec3 last = flr_pose_apply(body.T_world_part, p);
        double way = 0;
        for (int k = 1; k <= 10; k++) {
            flr_vec3 at = flr_pose_apply(flr_motion_apply(&body, motion, fraction * k / 10), p);
            way += flr_vec3_distance(at, last);
            last = at;
        }
        assert_le(way, limit + 1e-12);
    }
}

static void a_fraction_takes_its_share_of_the_velocity(void **state)
{
    (void)state;
    flr_body body = slab();
    body.twist.linear = flr_vec3_make(1, 0, 0);
    flr_motion motion = flr_body_drift(&body, 0.01);
    flr_body_move(&body, motion, 0.25);
    assert_within(body.T_world_part.p.x, 0.0025, 1e-15);
    assert_within(body.twist.linear.x, 0.25, 1e-15);
    flr_body_move(&body, motion, 0);
    assert_within(body.T_world_part.p.x, 0.0025, 1e-15);
    assert_within(body.twist.linear.x, 0, 0);
}

static void what_is_not_a_number_stops_the_body(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            flr_body body = slab();
            body.twist.linear.x = 1;
            flr_pose before = body.T_world_part;
            flr_motion motion = {{0.1, 0, 0}, {0, 0.1, 0}};
            double fraction = 1;
            if (k == 0) motion.turn.y = bad[i];
            if (k == 1) motion.shift.z = bad[i];
            if (k == 2) fraction = bad[i];
            if (k == 3) motion.shift.x = bad[i], motion.turn.x = bad[i];
            if (k != 2) assert_within(flr_motion_fraction(motion, 1, 1), 0, 0);
            flr_body_move(&body, motion, fraction);
            assert_memory_equal(&body.T_world_part, &before, sizeof before);
            assert_within(body.twist.linear.x, 0, 0);
        }
    assert_within(flr_motion_fraction((flr_motion){0}, 1, NAN), 0, 0);
    assert_within(flr_motion_fraction((flr_motion){0}, 1, -1), 0, 0);
    assert_within(flr_motion_fraction((flr_motion){0}, 1, INFINITY), 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mesh_gives_inertia_and_reach),
        cmocka_unit_test(what_no_body_can_be_is_refused),
        cmocka_unit_test(tumbling_keeps_momentum_and_energy),
        cmocka_unit_test(a_free_motion_can_be_undone),
        cmocka_unit_test(travel_bounds_every_point),
        cmocka_unit_test(a_fraction_takes_its_share_of_the_velocity),
        cmocka_unit_test(what_is_not_a_number_stops_the_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
