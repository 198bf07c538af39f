/* the device that is fed: the first pose at once, the next ones by gliding, nothing after it was cleared */
#include <math.h>

#include "feeler/hand.h"
#include "support/test.h"

static flr_pose at(double x, double angle)
{
    return flr_pose_make(flr_vec3_make(x, 0, 0),
                         flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), angle));
}

static void glides(void **state)
{
    (void)state;
    flr_remote *remote = flr_remote_create(0.02);
    flr_device *device;
    flr_device_sample sample;
    assert_int_equal(flr_device_open(&flr_remote_driver, remote, &device, NULL), FLR_OK);
    assert_false(flr_device_read(device, 0, &sample));
    assert_true(flr_remote_set(remote, at(1, 0), 5));
    assert_true(flr_device_read(device, 1000000, &sample));
    assert_eq(sample.T_base_grip.p.x, 1);
    assert_eq(sample.buttons, 5);
    assert_eq(flr_vec3_length(sample.twist.linear), 0);
    // on its way: forward only, never beyond, and its speed is that of its way
    assert_true(flr_remote_set(remote, at(2, 1), 0));
    double last = 1;
    for (int i = 2; i <= 300; i++) {
        assert_true(flr_device_read(device, i * 1000000, &sample));
        assert_ge(sample.T_base_grip.p.x, last);
        assert_le(sample.T_base_grip.p.x, 2 + 1e-12);
        if (i == 22) assert_lt(fabs(sample.T_base_grip.p.x - 1.66), 0.05);
        if (i == 10)
            assert_lt(fabs(sample.twist.linear.x * 1e-3 - (sample.T_base_grip.p.x - last)),
                      0.2 * (sample.T_base_grip.p.x - last));
        last = sample.T_base_grip.p.x;
    }
    assert_lt(fabs(last - 2), 1e-6);
    assert_lt(flr_quat_angle(sample.T_base_grip.q, at(2, 1).q), 1e-6);
    // gone, and back without a glide
    flr_remote_clear(remote);
    assert_false(flr_device_read(device, 301000000, &sample));
    assert_true(flr_remote_set(remote, at(-3, 0), 0));
    assert_true(flr_device_read(device, 302000000, &sample));
    assert_eq(sample.T_base_grip.p.x, -3);
    assert_false(flr_remote_set(remote, (flr_pose){{NAN, 0, 0}, {1, 0, 0, 0}}, 0));
    flr_device_close(device);
    flr_remote_destroy(remote);
}

/* There at once, however far; and from there on by gliding, also where the next pose came before the device read the jump. */
static void jumps(void **state)
{
    (void)state;
    flr_remote *remote = flr_remote_create(0.02);
    flr_device *device;
    flr_device_sample sample;
    assert_int_equal(flr_device_open(&flr_remote_driver, remote, &device, NULL), FLR_OK);
    assert_true(flr_remote_set(remote, at(0, 0), 3));
    assert_true(flr_device_read(device, 1000000, &sample));
    assert_true(flr_remote_jump(remote, at(5, 1)));
    assert_true(flr_remote_set(remote, at(6, 1), 2));
    assert_true(flr_device_read(device, 2000000, &sample));
    assert_float_equal(sample.T_base_grip.p.x, 5, 0);
    assert_int_equal(sample.buttons, 2);
    assert_float_equal(flr_vec3_length(sample.twist.linear), 0, 0);
    double last = 5;
    for (int i = 3; i <= 300; i++) {
        assert_true(flr_device_read(device, i * 1000000, &sample));
        assert_ge(sample.T_base_grip.p.x, last);
        assert_le(sample.T_base_grip.p.x, 6 + 1e-12);
        last = sample.T_base_grip.p.x;
    }
    assert_float_equal(last, 6, 1e-6);
    // buttons stay, and it may be the first pose
    assert_true(flr_remote_jump(remote, at(1, 0)));
    assert_true(flr_device_read(device, 301000000, &sample));
    assert_eq(sample.T_base_grip.p.x, 1);
    assert_eq(sample.buttons, 2);
    flr_remote_clear(remote);
    assert_false(flr_device_read(device, 302000000, &sample));
    assert_true(flr_remote_jump(remote, at(9, 0)));
    assert_true(flr_device_read(device, 303000000, &sample));
    assert_float_equal(sample.T_base_grip.p.x, 9, 0);
    assert_false(flr_remote_jump(remote, (flr_pose){{NAN, 0, 0}, {1, 0, 0, 0}}));
    flr_device_close(device);
    flr_remote_destroy(remote);
}

static void at_once(void **state)
{
    (void)state;
    flr_remote *remote = flr_remote_create(0);
    flr_device *device;
    flr_device_sample sample;
    assert_int_equal(flr_device_open(&flr_remote_driver, remote, &device, NULL), FLR_OK);
    for (int i = 0; i < 5; i++) {
        flr_remote_set(remote, at(i, 0), 0);
        assert_true(flr_device_read(device, i * 1000000, &sample));
        assert_eq(sample.T_base_grip.p.x, i);
        assert_false(sample.has_twist);
    }
    flr_device_close(device);
    flr_remote_destroy(remote);
    flr_error error;
    assert_int_equal(flr_device_open(&flr_remote_driver, NULL, &device, &error), FLR_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(glides), cmocka_unit_test(jumps),
                                       cmocka_unit_test(at_once)};
    return cmocka_run_group_tests_name("remote", tests, NULL, NULL);
}
