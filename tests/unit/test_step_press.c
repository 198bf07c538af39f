/* contacts of which the distance is known, one by one: gaps, limits, friction */
#include <math.h>

#include "feeler/dynamics.h"
#include "support/fixtures.h"

enum { POINTS = 96 };
static const double pi = 3.14159265358979323846;
static flr_error error;
static flr_press list[POINTS];

static flr_body ball_of(double mass, double size)
{
    flr_body body;
    flr_body_def def = flr_default_body_def();
    def.inertia.mass = mass;
    double moment = 0.4 * mass * size * size;
    def.inertia.tensor = flr_mat3_diagonal(flr_vec3_make(moment, moment, moment));
    def.reach = size;
    assert_ok(flr_body_make(&def, &body, &error), error);
    return body;
}

static flr_step *step_make(void)
{
    flr_step *step;
    assert_ok(flr_step_create(1024, &step, &error), error);
    return step;
}

/* ---- gaps ---- */

/* A body that flies at a wall stops at the limit, whatever its speed; from farther away it is not held back. */
static void a_gap_is_closed_to_its_limit(void **state)
{
    (void)state;
    flr_step *step = step_make();
    const double speeds[] = {0.001, 0.1, 10, 100}, limits[] = {4e-6, 0, -1e-6};
    for (int s = 0; s < 4; s++)
        for (int l = 0; l < 3; l++) {
            flr_body body = ball_of(0.5, 0.02);
            body.twist.linear.z = -speeds[s];
            flr_step_params params = flr_default_step_params();
            flr_step_begin(step, &body, &params);
            double gap = 50e-6; /* to where the force begins */
            flr_press press = {.point = flr_vec3_make(0, 0, -0.02),
                               .normal = flr_vec3_make(0, 0, 1),
                               .depth = -gap,
                               .limit = limits[l]};
            flr_step_press(step, &press, 1);
            flr_step_result r;
            flr_step_solve(step, &r);
            assert_int_equal(r.faults, 0);
            double gone = -r.motion.shift.z, free = speeds[s] * 1e-3;
            assert_within(gone, fmin(free, gap + limits[l]), 2e-4 * free + 1e-12);
            assert_eq((flr_step_push_at(step, 0) > 0), (free > gap + limits[l]));
        }
    flr_step_destroy(step);
}

/* Contacts that are added after a solution give the same as all at once. */
static void more_contacts_may_come_later(void **state)
{
    (void)state;
    flr_test_random rng = flr_test_random_begin("more_contacts");
    flr_step *step = step_make();
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 40; i++) {
            flr_vec3 n = flr_vec3_make(flr_test_random_range(&rng, -0.3, 0.3),
                                       flr_test_random_range(&rng, -0.3, 0.3), 1);
            list[i] =
                (flr_press){.point = flr_vec3_make(flr_test_random_range(&rng, -0.02, 0.02),
                                                   flr_test_random_range(&rng, -0.02, 0.02), 0),
                            .normal = flr_vec3_normalize(n),
                            .depth = flr_test_random_range(&rng, -1e-5, 5e-6),
                            .limit = 4e-6,
                            .stiffness = i % 2 ? 1e5 : 0,
                            .friction = round % 2 ? 0.2 : 0};
        }
        flr_body body = ball_of(0.1, 0.02);
        body.twist.linear = flr_vec3_make(0.02, 0, -0.3);
        flr_step_params params = flr_default_step_params();
        flr_step_result once, twice;
        flr_step_begin(step, &body, &params);
        flr_step_press(step, list, 40);
        flr_step_solve(step, &once);
        flr_step_begin(step, &body, &params);
        flr_step_press(step, list, 25);
        flr_step_solve(step, &twice);
        flr_step_press(step, list + 25, 15);
        flr_step_solve(step, &twice);
        assert_int_equal(flr_step_pressed(step), 40);
        double apart = flr_vec3_distance(once.twist.linear, twice.twist.linear);
        assert_lt(apart, (round % 2 ? 2e-3 : 1e-6) * flr_vec3_length(body.twist.linear));
    }
    flr_step_destroy(step);
}

static void nonsense_is_a_fault(void **state)
{
    (void)state;
    flr_step *step = step_make();
    flr_body body = ball_of(0.1, 0.02);
    flr_step_params params = flr_default_step_params();
    flr_press good = {.normal = flr_vec3_make(0, 0, 1), .limit = INFINITY};
    for (int i = 0; i < 5; i++) {
        flr_press bad = good;
        if (i == 0) bad.depth = NAN;
        if (i == 1) bad.normal.z = 2;
        if (i == 2) bad.limit = NAN;
        if (i == 3) bad.stiffness = -1;
        if (i == 4) bad.point.x = INFINITY;
        flr_step_result r;
        flr_step_begin(step, &body, &params);
        flr_step_press(step, &good, 1);
        flr_step_press(step, &bad, 1);
        flr_step_solve(step, &r);
        assert_int_equal(r.faults, FLR_STEP_FAULT_TOUCH);
        assert_int_equal(flr_step_pressed(step), 1);
    }
    flr_step_destroy(step);
}

/* ---- friction ---- */

/* Speed along a slope after 0.3 s, from rest. */
static double slide(double angle, double friction)
{
    flr_step *step = step_make();
    flr_body body = ball_of(0.5, 0.02);
    flr_step_params params = flr_default_step_params();
    params.gravity = flr_vec3_make(9.81 * sin(angle), 0, -9.81 * cos(angle));
    for (int i = 0; i < 300; i++) {
        flr_step_begin(step, &body, &params);
        for (int k = 0; k < 4; k++) {
            flr_vec3 c = flr_body_centre(&body);
            list[k] = (flr_press){.point = flr_vec3_make(c.x + (k & 1 ? 0.01 : -0.01),
                                                         c.y + (k & 2 ? 0.01 : -0.01), 0),
                                  .normal = flr_vec3_make(0, 0, 1),
                                  .depth = 5e-6 - c.z,
                                  .limit = 4e-6,
                                  .stiffness = 1e5,
                                  .friction = friction};
        }
        flr_step_press(step, list, 4);
        flr_step_result r;
        flr_step_solve(step, &r);
        flr_step_move(&r, r.fraction, &body);
        assert_int_equal(r.faults, 0);
    }
    flr_step_destroy(step);
    return body.twist.linear.x;
}

static void a_slope_holds_up_to_its_angle(void **state)
{
    (void)state;
    const double angles[] = {0.05, 0.2, 0.5};
    for (int i = 0; i < 3; i++) {
        double friction = tan(angles[i]);
        assert_lt(slide(angles[i], 1.01 * friction), 2e-5);
        /* and beyond it the body runs off by what is left */
        double left = 9.81 * (sin(angles[i]) - 0.9 * friction * cos(angles[i]));
        assert_within(slide(angles[i], 0.9 * friction), 0.3 * left, 0.01 * left);
    }
}

/* A nut of 20 g whose thread is pressed by 100 N: how fast does it run down after 15 ms? */
static double run_down(double pitch, double radius, double flank, double friction)
{
    flr_step *step = step_make();
    flr_body body = ball_of(0.02, 0.012);
    flr_step_params params = flr_default_step_params();
    double lead = atan(pitch / (2 * pi * radius));
    for (int i = 0; i < 15; i++) {
        flr_step_begin(step, &body, &params);
        flr_vec3 turn = flr_quat_to_rotation_vector(body.T_world_part.q);
        /* how far the nut is down its thread, less than by its turn */
        double depth = -body.T_world_part.p.z + pitch / (2 * pi) * turn.z;
        for (int k = 0; k < POINTS; k++) {
            double a = 2 * pi * k / 24.0, z = pitch * k / 24.0 - 2 * pitch;
            flr_vec3 radial = flr_vec3_make(cos(a), sin(a), 0),
                     round = flr_vec3_make(-sin(a), cos(a), 0);
            flr_vec3 along =
                flr_vec3_add(flr_vec3_scale(round, cos(lead)), flr_vec3_make(0, 0, sin(lead)));
            /* across the flank: out and down by its angle */
            flr_vec3 across =
                flr_vec3_make(radial.x * cos(flank), radial.y * cos(flank), -sin(flank));
            flr_vec3 n = flr_vec3_normalize(flr_vec3_cross(across, along));
            if (n.z < 0) n = flr_vec3_neg(n);
            list[k] =
                (flr_press){.point = flr_vec3_add(flr_vec3_scale(radial, radius),
                                                  flr_vec3_make(0, 0, z + body.T_world_part.p.z)),
                            .normal = n,
                            .depth = 5e-6 + depth * n.z,
                            .limit = 4e-6,
                            .stiffness = 1e6 / POINTS,
                            .friction = friction};
        }
        flr_step_press(step, list, POINTS);
        flr_step_push(step, flr_wrench_make(flr_vec3_zero(), flr_vec3_make(0, 0, -100)));
        flr_step_result r;
        flr_step_solve(step, &r);
        flr_step_move(&r, r.fraction, &body);
    }
    flr_step_destroy(step);
    return -body.twist.linear.z;
}

static void a_nut_locks_itself_as_theory_says(void **state)
{
    (void)state;
    const double threads[][3] = {/* pitch, radius, flank */
                                 {2e-3, 7.35e-3, pi / 6},
                                 {0.5e-3, 1.35e-3, pi / 6},
                                 {12e-3, 6e-3, pi / 6},
                                 {8e-3, 5e-3, 0}};
    for (int i = 0; i < 4; i++) {
        double pitch = threads[i][0], radius = threads[i][1], flank = threads[i][2];
        double tangent = pitch / (2 * pi * radius);
        /* the flank's angle, seen across the thread */
        double across = atan(tan(flank) / sqrt(1 + tangent * tangent));
        double theory = tangent * cos(across), low = 0.5 * theory, high = 2 * theory;
        for (int k = 0; k < 12; k++) {
            double middle = 0.5 * (low + high);
            if (run_down(pitch, radius, flank, middle) > 1e-3 * tangent)
                low = middle;
            else
                high = middle;
        }
        print_message(
            "pitch %.1f mm on %.1f mm, flank %.0f: locks itself from %.4f on, theory %.4f\n",
            pitch * 1e3, 2 * radius * 1e3, flank * 180 / pi, high, theory);
        assert_within(high / theory, 1, 0.05);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_gap_is_closed_to_its_limit),
                                       cmocka_unit_test(more_contacts_may_come_later),
                                       cmocka_unit_test(nonsense_is_a_fault),
                                       cmocka_unit_test(a_slope_holds_up_to_its_angle),
                                       cmocka_unit_test(a_nut_locks_itself_as_theory_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
