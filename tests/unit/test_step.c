/* one step of a body, against formulas: springs, rest, friction, braking, the travel limit */
#include "feeler/dynamics.h"
#include "support/fixtures.h"

static const flr_vec3 SIZE = {0.06, 0.04, 0.02};
static const flr_vec3 UP = {0, 0, 1};

static flr_coupling_def linear_def(void)
{
    flr_coupling_def def = flr_default_coupling_def();
    def.stretch = 1, def.turn = 10; /* never clamped */
    return def;
}

/* A critically damped spring, pulled by a step: x = 1 - (1 + w t) exp(-w t). */
static void a_spring_follows_its_formula(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int turning = 0; turning < 2; turning++) {
            flr_test_rig rig;
            flr_test_rig_begin(&rig, 0.1, SIZE);
            flr_coupling_def def = linear_def();
            flr_test_rig_grab(&rig, &def, flr_vec3_zero());
            rig.params.integrator = k ? FLR_INTEGRATOR_EXPLICIT : FLR_INTEGRATOR_IMPLICIT;
            rig.params.dt = 1e-5;
            double w = sqrt(1000 / 0.1), worst = 0;
            /* z has the largest moment, the one that the damping is critical for */
            if (turning)
                rig.handle.T_world_handle.q = flr_quat_from_axis_angle(UP, 0.3);
            else
                rig.handle.T_world_handle.p.x = 0.3;
            for (int i = 1; i <= 5000; i++) {
                flr_test_rig_step(&rig);
                double t = i * 1e-5, x = 0.3 * (1 - (1 + w * t) * exp(-w * t));
                double is = turning ? flr_quat_to_rotation_vector(rig.body.T_world_part.q).z
                                    : rig.body.T_world_part.p.x;
                worst = fmax(worst, fabs(is - x));
            }
            assert_within(worst, 0, 0.3 * 2e-3); /* first order: w dt = 1e-3 */
            flr_test_rig_end(&rig);
        }
}

/* The same at 1 kHz and a hundred times stiffer than mass and rate bear: no overshoot. */
static void an_implicit_spring_never_overshoots(void **state)
{
    (void)state;
    const double stiffness[] = {10, 1000, 1e5, 1e7};
    for (int k = 0; k < 4; k++) {
        flr_test_rig rig;
        flr_test_rig_begin(&rig, 0.012, SIZE);
        flr_coupling_def def = linear_def();
        def.stiffness = stiffness[k];
        flr_test_rig_grab(&rig, &def, flr_vec3_zero());
        rig.handle.T_world_handle.p.x = 0.01;
        double last = 0;
        for (int i = 0; i < 3000; i++) {
            flr_test_rig_step(&rig);
            double x = rig.body.T_world_part.p.x;
            assert_ge(x, last - 1e-12);
            assert_le(x, 0.01 + 1e-12);
            last = x;
        }
        assert_within(last, 0.01, 1e-6);
        flr_test_rig_end(&rig);
    }
}

/* A grip off the centre: the force acts there, so the body turns too, and comes to rest where the handle is. */
static void a_grip_off_the_centre_settles(void **state)
{
    (void)state;
    for (int k = 0; k < FLR_INTEGRATOR_COUNT; k++) {
        flr_test_rig rig;
        flr_test_rig_begin(&rig, 0.1, SIZE);
        flr_coupling_def def = linear_def();
        flr_test_rig_grab(&rig, &def, flr_vec3_make(0.03, 0.02, 0.01));
        rig.params.integrator = (flr_integrator)k;
        /* damping that is critical for the largest moment about the grip is too much for the least one at 1 ms */
        if (k == FLR_INTEGRATOR_EXPLICIT) rig.params.dt = 2e-4;
        flr_pose T_part_handle = rig.coupling.T_part_handle;
        rig.handle.T_world_handle =
            flr_pose_make(flr_vec3_make(0.05, -0.01, 0.03),
                          flr_quat_from_axis_angle(flr_vec3_make(1, 2, 3), 1.0));
        for (int i = 0; i < 5000; i++) flr_test_rig_step(&rig);
        flr_pose grip = flr_pose_mul(rig.body.T_world_part, T_part_handle);
        assert_lt(flr_vec3_distance(grip.p, rig.handle.T_world_handle.p), 1e-6);
        assert_lt(flr_quat_angle(grip.q, rig.handle.T_world_handle.q), 1e-6);
        assert_lt(flr_vec3_length(rig.body.twist.angular), 1e-5);
        flr_test_rig_end(&rig);
    }
}

/* Dropped on a table it comes to rest without a bounce worth the name, carries its weight and keeps quiet. */
static void it_rests_on_a_table(void **state)
{
    (void)state;
    const double rates[] = {250, 1000, 4000};
    for (int k = 0; k < 3; k++) {
        flr_test_rig rig;
        flr_test_rig_begin(&rig, 0.1, SIZE);
        flr_test_rig_plane(&rig, UP, 0);
        rig.body.T_world_part.p.z = 0.02;
        rig.body.T_world_part.q = flr_quat_from_axis_angle(flr_vec3_make(1, 1, 0), 0.2);
        rig.params.gravity.z = -9.81;
        rig.params.dt = 1 / rates[k];
        double quiet = 0;
        for (int i = 0; i < 2 * rates[k]; i++) {
            flr_test_rig_step(&rig);
            assert_int_equal(rig.result.faults, 0);
            if (i > 1.5 * rates[k]) quiet = fmax(quiet, flr_vec3_length(rig.body.twist.linear));
        }
        assert_lt(quiet, 1e-6);
        assert_within(rig.result.contact.force.z, 0.981, 1e-5);
        assert_within(rig.body.T_world_part.p.z, 0.01 - 0.981 / 4000, 1e-6);
        assert_int_equal(rig.result.touching, 4);
        flr_test_rig_end(&rig);
    }
}

static void friction_stops_what_slides(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        flr_test_rig rig;
        flr_test_rig_begin(&rig, 0.1, SIZE);
        flr_test_rig_plane(&rig, UP, 0);
        rig.params.integrator = k ? FLR_INTEGRATOR_EXPLICIT : FLR_INTEGRATOR_IMPLICIT;
        rig.params.gravity.z = -9.81;
        rig.params.dt = 5e-4;
        rig.friction = 0.3;
        rig.body.T_world_part.p.z = 0.01 - 0.981 / 4000;
        rig.body.twist.linear.x = 0.5;
        /* the rear corners lift a little and the front ones sink: the way is that of the formula nevertheless */
        for (int i = 0; i < 1000; i++) flr_test_rig_step(&rig);
        assert_within(rig.body.T_world_part.p.x, 0.25 / (2 * 0.3 * 9.81), 0.002);
        assert_within(rig.body.twist.linear.x, 0, 2e-4);
        flr_test_rig_end(&rig);
    }
}

static void friction_holds_on_a_slope_up_to_its_angle(void **state)
{
    (void)state;
    const double mu = 0.4, angles[] = {0.2, 0.36, 0.42, 0.7};
    for (int k = 0; k < 4; k++) {
        flr_test_rig rig;
        flr_test_rig_begin(&rig, 0.1, SIZE);
        /* the table lies level, gravity is turned */
        flr_test_rig_plane(&rig, UP, 0);
        rig.body.T_world_part.p.z = 0.01 - 0.1 * 9.81 * cos(angles[k]) / 4000;
        rig.params.gravity = flr_vec3_make(9.81 * sin(angles[k]), 0, -9.81 * cos(angles[k]));
        rig.friction = mu;
        for (int i = 0; i < 500; i++) flr_test_rig_step(&rig);
        double a = 9.81 * (sin(angles[k]) - mu * cos(angles[k]));
        if (a < 0)
            assert_lt(rig.body.T_world_part.p.x, 1e-4); /* creeps, by design */
        else
            assert_within(rig.body.twist.linear.x, a * 0.5, 0.02 * a);
        flr_test_rig_end(&rig);
    }
}

/* Contacts push; when the body is pulled off, they do not hold it. */
static void contact_is_not_sticky(void **state)
{
    (void)state;
    flr_test_rig rig;
    flr_test_rig_begin(&rig, 0.1, SIZE);
    flr_test_rig_plane(&rig, UP, 0.01); /* 20 mm deep: a hard push */
    flr_coupling_def def = linear_def();
    flr_test_rig_grab(&rig, &def, flr_vec3_zero());
    rig.handle.T_world_handle.p.z = -0.02;
    for (int i = 0; i < 300; i++) flr_test_rig_step(&rig);
    flr_test_rig_drag(&rig, flr_vec3_make(0, 0, 0.1), 20); /* 6 m/s */
    for (int i = 0; i < 100; i++) {
        flr_test_rig_step(&rig);
        assert_ge(rig.result.contact.force.z, 0);
    }
    assert_within(rig.body.T_world_part.p.z, 0.1, 1e-3);
    flr_test_rig_end(&rig);
}

/* What moves towards a plane in the layer before it is stopped, translation and rotation together, and nothing else. */
static void braking_takes_the_approach_and_nothing_else(void **state)
{
    (void)state;
    flr_test_rig rig;
    flr_test_rig_begin(&rig, 0.1, SIZE);
    flr_test_rig_plane(&rig, UP, 0);
    rig.layer = 0.001;
    rig.body.T_world_part.p.z = 0.0105;
    rig.body.twist.linear.z = -1;
    double before = flr_body_energy(&rig.body);
    flr_test_rig_step(&rig);
    assert_within(rig.body.twist.linear.z, 0, 1e-12);
    assert_within(rig.result.braked, before, 1e-12);

    /* half of it: a quarter of the energy is left */
    rig.body.T_world_part.p.z = 0.0105;
    rig.body.twist.linear.z = -1;
    rig.params.braking = 0.5;
    flr_test_rig_step(&rig);
    assert_within(rig.body.twist.linear.z, -0.5, 1e-12);
    assert_within(rig.result.braked, 0.75 * before, 1e-12);
    rig.params.braking = 1;

    /* away from the plane */
    rig.body.T_world_part.p.z = 0.0105;
    rig.body.twist.linear.z = 1;
    flr_test_rig_step(&rig);
    assert_within(rig.body.twist.linear.z, 1, 1e-12);

    /* with a limit, what a contact of 1000 N/m can stop within it is left */
    rig.body.T_world_part.p.z = 0.0105;
    rig.body.twist.linear.z = -1;
    rig.limit = 0.0005;
    flr_test_rig_step(&rig);
    assert_within(rig.body.twist.linear.z, -0.0005 * sqrt(1000 / 0.1), 1e-12);
    rig.limit = INFINITY;

    /* tilted and turning, only one edge near: that edge stops, the energy never grows */
    flr_test_random random = flr_test_random_begin("braking");
    for (int i = 0; i < 300; i++) {
        double tilt = flr_test_random_range(&random, 0.1, 0.6);
        rig.body.T_world_part =
            flr_pose_make(flr_vec3_make(0, 0, 0.03 * sin(tilt) + 0.01 * cos(tilt) + 0.0005),
                          flr_quat_from_axis_angle(flr_vec3_make(0, 1, 0), tilt));
        rig.body.twist = flr_twist_make(flr_vec3_make(0, flr_test_random_range(&random, 0, 20), 0),
                                        flr_vec3_make(0, 0, flr_test_random_range(&random, -1, 0)));
        flr_body was = rig.body;
        flr_test_rig_step(&rig);
        assert_int_equal(rig.contact.near, 2);
        flr_body is = was;
        is.twist = rig.result.twist;
        assert_within(flr_body_energy(&was) - flr_body_energy(&is), rig.result.braked, 1e-9);
        flr_wrench sum = flr_wrench_make(rig.contact.braking_turn, rig.contact.braking);
        assert_within(flr_wrench_power(sum, is.twist), 0, 1e-9);
    }
    flr_test_rig_end(&rig);
}

/* The handle is a metre ahead and turned: no corner goes farther than the limit, and the part comes after. */
static void the_travel_limit_holds_for_every_point(void **state)
{
    (void)state;
    flr_test_rig rig;
    flr_test_rig_begin(&rig, 0.1, SIZE);
    flr_coupling_def def = linear_def();
    flr_test_rig_grab(&rig, &def, flr_vec3_zero());
    rig.handle.T_world_handle =
        flr_pose_make(flr_vec3_make(0.3, 0.2, -0.1), flr_quat_from_axis_angle(UP, 2));
    rig.params.travel = 0.0005;
    int limited = 0;
    for (int i = 0; i < 2000; i++) {
        flr_pose was = rig.body.T_world_part;
        flr_test_rig_step(&rig);
        limited += rig.result.fraction < 1;
        for (int k = 0; k < 8; k++) {
            flr_vec3 from = flr_pose_apply(was, rig.points[k]);
            flr_vec3 to = flr_pose_apply(rig.body.T_world_part, rig.points[k]);
            assert_le(flr_vec3_distance(from, to), 0.0005 * (1 + 1e-9));
        }
    }
    assert_gt(limited, 500);
    assert_lt(flr_vec3_distance(rig.body.T_world_part.p, rig.handle.T_world_handle.p), 1e-3);
    assert_lt(flr_quat_angle(rig.body.T_world_part.q, rig.handle.T_world_handle.q), 1e-2);
    flr_test_rig_end(&rig);
}

/* Freed with the hand far ahead, the part comes without swinging past it. */
static void a_freed_part_does_not_overshoot(void **state)
{
    (void)state;
    flr_test_rig rig;
    flr_test_rig_begin(&rig, 0.012, SIZE);
    flr_coupling_def def = flr_default_coupling_def();
    flr_test_rig_grab(&rig, &def, flr_vec3_zero());
    rig.handle.T_world_handle.p.x = 0.1;
    rig.params.travel = 0.0005;
    for (int i = 0; i < 400; i++) {
        flr_test_rig_step(&rig);
        assert_lt(rig.body.T_world_part.p.x, 0.1 + 1e-9);
    }
    assert_within(rig.body.T_world_part.p.x, 0.1, 1e-5);
    flr_test_rig_end(&rig);
}

/* Two bodies, one on each side of a contact: the one that is the voxmap's part gets the opposite. */
static void the_other_side_gets_the_opposite(void **state)
{
    (void)state;
    flr_error error;
    flr_step *step;
    assert_ok(flr_step_create(4, &step, &error), error);
    flr_body_def def = flr_default_body_def();
    flr_body body;
    flr_body_make(&def, &body, NULL);
    flr_contact contact = {.point = {0.05, 0, 0}, .normal = {0, 0, 1}, .depth = 1e-4};
    flr_contact_result found = {.contacts = 1, .listed = 1};
    flr_contact_params asked = flr_default_contact_params();
    flr_step_params params = flr_default_step_params();
    flr_step_result result[2];
    for (int i = 0; i < 2; i++) {
        flr_touches touches = {
            .list = &contact, .result = &found, .asked = &asked, .reversed = i, .limit = INFINITY};
        flr_step_begin(step, &body, &params);
        flr_step_touch(step, &touches);
        flr_step_solve(step, &result[i]);
    }
    assert_gt(result[0].twist.linear.z, 0);
    assert_lt(result[0].twist.angular.y, 0);
    assert_within(result[0].twist.linear.z, -result[1].twist.linear.z, 1e-15);
    assert_within(result[0].twist.angular.y, -result[1].twist.angular.y, 1e-15);

    /* what the other part runs away from, the contact does not push */
    flr_touches touches = {.list = &contact,
                           .result = &found,
                           .asked = &asked,
                           .other = {.linear = {0, 0, -1}},
                           .limit = INFINITY};
    flr_step_begin(step, &body, &params);
    flr_step_touch(step, &touches);
    flr_step_solve(step, &result[0]);
    assert_within(result[0].twist.linear.z, 0, 0);
    flr_step_destroy(step);
}

/* More contacts than the list has: the wrench is that of all of them. */
static void the_list_stands_for_all(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        flr_test_rig rig;
        flr_test_rig_begin(&rig, 0.1, SIZE);
        flr_test_rig_plane(&rig, UP, 0);
        rig.body.T_world_part.p.z = 0.0099;
        rig.params.integrator = FLR_INTEGRATOR_EXPLICIT;
        flr_test_rig_query(&rig);
        assert_int_equal(rig.contact.contacts, 4);
        rig.contact.listed = k ? 4 : 1;
        flr_touches touches = {.list = rig.list,
                               .result = &rig.contact,
                               .asked = &rig.asked,
                               .limit = INFINITY,
                               .centre = flr_body_centre(&rig.body)};
        flr_step_begin(rig.step, &rig.body, &rig.params);
        flr_step_touch(rig.step, &touches);
        flr_step_solve(rig.step, &rig.result);
        assert_within(rig.result.contact.force.z, 0.4, 1e-12);
        assert_within(rig.result.contact.torque.x, 0, 1e-12);
        flr_test_rig_end(&rig);
    }
}

/* A thousand contacts are made fewer: the wrench is theirs, and the part is held level all the same. */
static void a_long_list_is_shortened(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("clusters");
    flr_test_rig rig;
    flr_test_rig_begin(&rig, 0.1, SIZE);
    static flr_contact list[1000];
    flr_contact_result found = {.contacts = 1000, .listed = 1000};
    flr_step *step;
    flr_error error;
    assert_ok(flr_step_create(1000, &step, &error), error);
    rig.body.T_world_part.q = flr_quat_from_axis_angle(flr_vec3_make(1, 2, 0), 0.004);
    rig.params.gravity.z = -9.81;
    flr_vec3 points[1000];
    for (int i = 0; i < 1000; i++)
        points[i] = flr_vec3_make(flr_test_random_range(&random, -0.03, 0.03),
                                  flr_test_random_range(&random, -0.02, 0.02), -0.01);
    for (int k = 0; k < 600; k++) {
        flr_wrench sum = {0};
        for (int i = 0; i < 1000; i++) {
            flr_vec3 p = flr_pose_apply(rig.body.T_world_part, points[i]);
            list[i] = (flr_contact){.point = p, .normal = UP, .depth = -0.0095 - p.z};
            flr_vec3 arm = flr_vec3_sub(p, rig.body.T_world_part.p);
            flr_vec3 force = flr_vec3_scale(UP, 10 * fmax(0, list[i].depth));
            sum = flr_wrench_add(sum, flr_wrench_from_force(arm, force));
        }
        flr_touches touches = {
            .list = list, .result = &found, .asked = &rig.asked, .limit = INFINITY};
        rig.params.integrator = k ? FLR_INTEGRATOR_IMPLICIT : FLR_INTEGRATOR_EXPLICIT;
        flr_step_begin(step, &rig.body, &rig.params);
        flr_step_touch(step, &touches);
        flr_step_solve(step, &rig.result);
        if (k == 0) {
            assert_within(rig.result.contact.force.z, sum.force.z, 1e-9);
            assert_within(rig.result.contact.torque.x, sum.torque.x, 1e-9);
            assert_within(rig.result.contact.torque.y, sum.torque.y, 1e-9);
        } else
            flr_step_move(&rig.result, 1, &rig.body);
    }
    assert_lt(flr_quat_angle(rig.body.T_world_part.q, flr_quat_identity()), 1e-3);
    assert_lt(flr_vec3_length(rig.body.twist.angular), 1e-3);
    flr_step_destroy(step);
    flr_test_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spring_follows_its_formula),
        cmocka_unit_test(an_implicit_spring_never_overshoots),
        cmocka_unit_test(a_grip_off_the_centre_settles),
        cmocka_unit_test(it_rests_on_a_table),
        cmocka_unit_test(friction_stops_what_slides),
        cmocka_unit_test(friction_holds_on_a_slope_up_to_its_angle),
        cmocka_unit_test(contact_is_not_sticky),
        cmocka_unit_test(braking_takes_the_approach_and_nothing_else),
        cmocka_unit_test(the_travel_limit_holds_for_every_point),
        cmocka_unit_test(a_freed_part_does_not_overshoot),
        cmocka_unit_test(the_other_side_gets_the_opposite),
        cmocka_unit_test(the_list_stands_for_all),
        cmocka_unit_test(a_long_list_is_shortened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
