/* devices: opening, what a driver may say, reading, the drivers by name */
#include "feeler/device.h"

#include <math.h>

#include "feeler/hand.h"
#include "support/fail_alloc.h"
#include "support/probe_device.h"

static flr_result refuse_open(const void *parameters, void **state, flr_device_info *info,
                              flr_error *error)
{
    (void)parameters, (void)state, (void)info;
    return flr_fail(error, FLR_NOT_FOUND, "no such device; plug it in");
}

static void open_and_close(void **state)
{
    (void)state;
    flr_test_probe probe;
    flr_test_probe_init(&probe);
    flr_error error;
    flr_device *device = NULL;
    assert_ok(flr_device_open(&flr_test_probe_driver, &probe, &device, &error), error);
    assert_string_equal(flr_device_get_info(device)->name, "probe");
    flr_device_close(device);
    flr_device_close(NULL);
    assert_int_equal(probe.closes, 1);

    // the driver's own trouble comes through
    flr_device_driver absent = flr_test_probe_driver;
    absent.open = refuse_open;
    device = NULL;
    assert_int_equal(flr_device_open(&absent, NULL, &device, &error), FLR_NOT_FOUND);
    assert_string_equal(error.message, "no such device; plug it in");
    assert_null(device);
}

static void drivers_must_make_sense(void **state)
{
    (void)state;
    flr_device_driver mute = flr_test_probe_driver;
    mute.write = NULL;
    for (int i = 0; i < 9; i++) {
        flr_test_probe probe;
        flr_test_probe_init(&probe);
        if (i == 0) probe.info.force = NAN;
        if (i == 1) probe.info.force = -1;
        if (i == 2) probe.info.torque = INFINITY;
        if (i == 3) probe.info.rate = -5;
        if (i == 4) probe.info.buttons = 33;
        if (i == 5) probe.info.dead_man = 1;
        if (i == 6) probe.info.dead_man = -2;
        if (i == 7) probe.info.own_timeout_ns = -1;
        flr_device *device = NULL;
        flr_error error;
        const flr_device_driver *driver = i == 8 ? &mute : &flr_test_probe_driver;
        assert_int_equal(flr_device_open(driver, &probe, &device, &error), FLR_UNSUPPORTED);
        assert_non_null(strstr(error.message, "device driver probe: it"));
        assert_null(device);
        assert_int_equal(probe.closes, 1);
    }
}

static void only_poses_come_through(void **state)
{
    (void)state;
    flr_test_probe probe;
    flr_test_probe_init(&probe);
    flr_error error;
    flr_device *device;
    assert_ok(flr_device_open(&flr_test_probe_driver, &probe, &device, &error), error);
    flr_device_sample sample = {.number = 77};
    probe.silent = true;
    assert_false(flr_device_read(device, 1, &sample));
    assert_int_equal(sample.number, 77);
    probe.silent = false;
    probe.pose.p.x = 0.25;
    assert_true(flr_device_read(device, 2, &sample));
    assert_int_equal(sample.number, 1);
    assert_eq(sample.T_base_grip.p.x, 0.25);
    assert_eq(sample.time_ns, 2);
    // a NaN, and a quaternion that is none
    probe.pose.p.x = NAN;
    assert_false(flr_device_read(device, 3, &sample));
    probe.pose.p.x = 0;
    probe.pose.q.w = 0.5;
    assert_false(flr_device_read(device, 4, &sample));
    assert_eq(sample.T_base_grip.p.x, 0.25);
    assert_int_equal(flr_device_bad_samples(device), 2);
    probe.pose.q.w = 1;
    assert_true(flr_device_read(device, 5, &sample));
    assert_int_equal(sample.number, 2);
    flr_device_close(device);
}

static void by_name(void **state)
{
    (void)state;
    static const char *const names[] = {"forcedimension", "hand",   "haply",  "openhaptics",
                                        "remote",         "replay", "script", "spacemouse"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_non_null(flr_device_driver_find(names[i]));
    for (size_t i = 0; i < flr_device_driver_count(); i++) {
        const flr_device_driver *driver = flr_device_driver_at(i);
        assert_ptr_equal(flr_device_driver_find(driver->name), driver);
        assert_gt(strlen(driver->summary), 10);
    }
    assert_ptr_equal(flr_device_driver_find("hand"), &flr_hand_driver);
    assert_null(flr_device_driver_find("Hand"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_and_close),
        cmocka_unit_test(drivers_must_make_sense),
        cmocka_unit_test(only_poses_come_through),
        cmocka_unit_test(by_name),
    };
    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
