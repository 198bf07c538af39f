/* a hand holds a part: clamps, turns of more than half, what the device feels */
#include "feeler/dynamics.h"
#include "support/fixtures.h"

static flr_body body_at(flr_pose T_world_part)
{
    flr_body_def def = flr_default_body_def();
    flr_body body;
    def.inertia = flr_inertia_box(0.1, flr_vec3_make(0.06, 0.04, 0.02));
    def.inertia.centre = flr_vec3_make(0.01, 0, 0);
    def.reach = 0.05;
    def.T_world_part = T_world_part;
    assert_int_equal(flr_body_make(&def, &body, NULL), FLR_OK);
    return body;
}

static flr_coupling grabbed(const flr_body *body, const flr_handle *handle)
{
    flr_coupling_def def = flr_default_coupling_def();
    flr_coupling coupling;
    flr_error error;
    assert_ok(flr_coupling_grab(&def, body, handle, &coupling, &error), error);
    return coupling;
}

/* Wherever it is grabbed: no wrench at that moment, and gains as the comments say. */
static void a_grab_does_not_jump(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("grab");
    for (int i = 0; i < 200; i++) {
        flr_body body = body_at(flr_test_random_pose(&random, 1));
        flr_handle handle = {.T_world_handle = flr_test_random_pose(&random, 1)};
        flr_coupling c = grabbed(&body, &handle);
        flr_stretch s;
        assert_true(flr_coupling_stretch(&c, &body, &handle, &s));
        flr_wrench w = flr_coupling_wrench(&c, &s);
        assert_within(flr_vec3_length(w.force), 0, 1e-10);
        assert_within(flr_vec3_length(w.torque), 0, 1e-9);
        assert_within(c.damping, 2 * sqrt(c.stiffness * 0.1), 1e-12);
        /* as quick in turning as in moving */
        double moment = c.turn_damping * c.turn_damping / (4 * c.turn_stiffness);
        assert_within(c.turn_stiffness / moment, c.stiffness / 0.1, 1e-6);
        assert_within(c.force_limit, 0.5, 1e-12);
        assert_within(c.torque_limit, c.turn_stiffness * 0.0005 / 0.05, 1e-12);
    }
}

/* A firm hand's torque is enough for the force's limit at any point of the part; all else is the same. */
static void a_firm_hand_has_the_torque_it_needs(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("firm");
    for (int i = 0; i < 200; i++) {
        flr_body body = body_at(flr_test_random_pose(&random, 1));
        flr_vec3 grip = flr_test_random_pose(&random, 0.05).p;
        flr_pose T_part_grip = flr_pose_make(grip, flr_quat_identity());
        flr_handle handle = {.T_world_handle = flr_pose_mul(body.T_world_part, T_part_grip)};
        flr_coupling usual = grabbed(&body, &handle), firm;
        flr_coupling_def def = flr_default_coupling_def();
        def.firm = true;
        assert_int_equal(flr_coupling_grab(&def, &body, &handle, &firm, NULL), FLR_OK);
        double lever = flr_vec3_distance(grip, body.inertia.centre) + body.reach;
        assert_ge(firm.torque_limit, usual.torque_limit);
        assert_within(firm.torque_limit, fmax(usual.torque_limit, 2 * 0.5 * lever), 1e-9);
        firm.torque_limit = usual.torque_limit;
        // what is behind the last field is nobody's
        assert_memory_equal(&firm, &usual, offsetof(flr_coupling, pulled));
        assert_int_equal(firm.pulled, usual.pulled);
    }
}

/* Half a voxel of stretch gives the limit, more does not give more, however far and fast. */
static void force_and_torque_are_clamped(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("clamp");
    flr_body body = body_at(flr_pose_identity());
    flr_handle handle = {.T_world_handle = flr_pose_identity()};
    flr_coupling c = grabbed(&body, &handle);
    handle.T_world_handle.p.y = 0.0004;
    flr_stretch s;
    assert_true(flr_coupling_stretch(&c, &body, &handle, &s));
    assert_within(flr_coupling_wrench(&c, &s).force.y, 0.4, 1e-12);
    for (int i = 0; i < 2000; i++) {
        double far = pow(10, flr_test_random_range(&random, -5, i % 10 ? 2 : 160));
        handle.T_world_handle = flr_test_random_pose(&random, far);
        handle.twist.linear.x = flr_test_random_range(&random, -far, far);
        handle.twist.angular.z = flr_test_random_range(&random, -far, far);
        if (!flr_coupling_stretch(&c, &body, &handle, &s)) continue;
        flr_wrench w = flr_wrench_move(flr_coupling_wrench(&c, &s), s.arm);
        assert_le(flr_vec3_length(w.force), 2 * c.force_limit * (1 + 1e-9));
        assert_le(flr_vec3_length(w.torque), 2 * c.torque_limit * (1 + 1e-6));
        if (flr_vec3_length(s.shift) > 0.01 && far < 100 && i % 2) {
            handle.twist = (flr_twist){0};
            assert_true(flr_coupling_stretch(&c, &body, &handle, &s));
            w = flr_coupling_wrench(&c, &s);
            assert_within(flr_vec3_length(w.force), c.force_limit, 1e-9);
            assert_gt(flr_vec3_dot(w.force, s.shift), 0);
        }
    }
}

/* Twisted further and further the torque keeps its direction up to 270 degrees, then takes the shorter way. */
static void a_jammed_part_is_not_turned_back_at_half_a_turn(void **state)
{
    (void)state;
    flr_body body = body_at(flr_pose_identity());
    flr_handle handle = {.T_world_handle = flr_pose_identity()};
    flr_coupling c = grabbed(&body, &handle);
    for (int degrees = 1; degrees <= 300; degrees++) {
        double angle = degrees * 3.14159265358979323846 / 180;
        handle.T_world_handle.q = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), angle);
        flr_stretch s;
        assert_true(flr_coupling_stretch(&c, &body, &handle, &s));
        if (degrees < 270) assert_within(s.turn.z, angle, 1e-9);
        if (degrees > 270) assert_lt(s.turn.z, 0);
    }
}

/* Nothing in free space; in contact the opposite of what the body gets, coming and going over the fade; a contact that is
 * lost for less than the hold is not noticed. */
static void the_device_feels_contact_only(void **state)
{
    (void)state;
    flr_body body = body_at(flr_pose_identity());
    flr_handle handle = {.T_world_handle = flr_pose_identity()};
    flr_coupling c = grabbed(&body, &handle);
    handle.T_world_handle.p.z = -0.0003;
    handle.T_world_handle.q = flr_quat_from_axis_angle(flr_vec3_make(1, 0, 0), 0.002);
    double last = 0;
    flr_stretch s;
    handle.T_world_handle.p.z = -0.1;
    for (int i = 0; i < 110; i++) flr_coupling_feel(&c, &body, &handle, false, 0.001);
    assert_true(flr_coupling_stretch(&c, &body, &handle, &s));
    assert_within(flr_coupling_wrench(&c, &s).force.z, -100, 1e-9); /* free: not clamped */
    flr_coupling_feel(&c, &body, &handle, true, 0.001);
    assert_within(flr_coupling_wrench(&c, &s).force.z, -0.5, 1e-9); /* clamped at once */
    for (int i = 0; i < 10; i++) flr_coupling_feel(&c, &body, &handle, false, 0.001);
    assert_within(flr_coupling_wrench(&c, &s).force.z, -1, 0.05); /* doubled in 10 ms */
    handle.T_world_handle.p.z = -0.0003;
    for (int i = 0; i < 40; i++) flr_coupling_feel(&c, &body, &handle, false, 0.001);
    for (int i = 0; i < 100; i++) {
        bool touching = i >= 10 && i < 50 && i % 20 < 10;
        flr_wrench w = flr_coupling_feel(&c, &body, &handle, touching, 0.001);
        if (i < 10 || i >= 80) assert_within(flr_vec3_length(w.force), 0, 0);
        if (i >= 30 && i < 60) {
            assert_within(w.force.z, 0.3, 1e-9);
            assert_within(w.torque.x, -c.turn_stiffness * 0.002, 1e-9);
        }
        assert_le(fabs(w.force.z - last), 0.3 / 10 + 1e-12);
        last = w.force.z;
    }
}

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    flr_body body = body_at(flr_pose_identity());
    flr_handle handle = {.T_world_handle = flr_pose_identity()};
    flr_coupling c = grabbed(&body, &handle), untouched = c;
    for (int i = 0; i < 9; i++) {
        flr_coupling_def def = flr_default_coupling_def();
        flr_handle bad = handle;
        flr_error error = {0};
        if (i == 0) def.stiffness = 0;
        if (i == 1) def.turn_stiffness = -1;
        if (i == 2) def.damping = NAN;
        if (i == 3) def.stretch = 0;
        if (i == 4) def.turn = INFINITY;
        if (i == 5) def.fade = -0.1;
        if (i == 8) def.hold = -1;
        if (i == 6) bad.T_world_handle.p.x = NAN;
        if (i == 7) bad.twist.angular.x = INFINITY;
        assert_int_equal(flr_coupling_grab(&def, &body, &bad, &c, &error), FLR_BAD_ARGUMENT);
        assert_gt(strlen(error.message), 10);
        assert_memory_equal(&c, &untouched, sizeof c);
    }
    /* lost in the middle: zero at once, and up again slowly */
    flr_handle lost = handle;
    handle.T_world_handle.p.z = lost.T_world_handle.p.z = -0.0003;
    for (int i = 0; i < 10; i++) flr_coupling_feel(&c, &body, &handle, true, 0.001);
    assert_gt(flr_coupling_feel(&c, &body, &handle, true, 0.001).force.z, 0.29);
    lost.T_world_handle.q.x = NAN;
    assert_within(flr_coupling_feel(&c, &body, &lost, true, 0.001).force.z, 0, 0);
    assert_within(flr_coupling_feel(&c, &body, &handle, true, 0.001).force.z, 0.03, 1e-9);
    assert_within(flr_coupling_feel(&c, &body, &handle, true, NAN).force.z, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grab_does_not_jump),
        cmocka_unit_test(a_firm_hand_has_the_torque_it_needs),
        cmocka_unit_test(force_and_torque_are_clamped),
        cmocka_unit_test(a_jammed_part_is_not_turned_back_at_half_a_turn),
        cmocka_unit_test(the_device_feels_contact_only),
        cmocka_unit_test(bad_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
