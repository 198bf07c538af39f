/* force devices by stub libraries, what is missing, and plugins */
#include "feeler/device.h"

#include <dlfcn.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fake/stub_arm.h"
#include "feeler/env.h"
#include "support/fail_alloc.h"

#define STUBS FLR_BINARY_DIR "/tests/stubs/"
static const char hd[] = "openhaptics:library=" STUBS "stub_hd.so";
static const char dhd[] = "forcedimension:library=" STUBS "stub_dhd.so";

/* the stub's state; the library stays loaded, so that driver and test see the same one */
static stub_arm *stub_of(const char *file)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    stub_arm *arm = dlsym(library, "stub_arm_state");
    assert_non_null(arm);
    return arm;
}

static void nap(void) { flr_sleep_until(flr_env_real(), flr_clock_ns(flr_env_real()) + 1000000); }

static flr_device *open_one(const char *text)
{
    flr_device *device = NULL;
    flr_error error;
    assert_ok(flr_device_open_named(text, &device, &error), error);
    return device;
}

static flr_device_sample newest(flr_device *device)
{
    flr_device_sample sample = {0};
    for (int fresh = 0, i = 0; fresh < 3; i++, nap()) { // the first ones may be from before
        assert_lt(i, 300000);
        fresh += flr_device_read(device, 1 + i, &sample);
    }
    return sample;
}

static void assert_vec(flr_vec3 v, double x, double y, double z)
{
    if (fabs(v.x - x) + fabs(v.y - y) + fabs(v.z - z) > 1e-9)
        fail_msg("%g %g %g is not %g %g %g", v.x, v.y, v.z, x, y, z);
}

/* the guard's steps with this wrench wanted, by the clock, for so many milliseconds */
static void push(flr_device *device, flr_guard *guard, flr_wrench wrench, int ms)
{
    flr_device_sample sample;
    for (int i = 0; i < ms; i++, nap()) {
        int64_t now = flr_clock_ns(flr_env_real());
        bool fresh = flr_device_read(device, now, &sample);
        flr_guard_input input = {wrench, now, fresh, true, true};
        flr_guard_step(guard, &input, NULL);
    }
}

static flr_guard *guard_of(flr_device *device)
{
    flr_guard *guard = NULL;
    flr_error error;
    flr_guard_def def = flr_default_guard_def();
    def.device = device;
    def.ramp_ns = 20000000;
    def.detect_ns = 20000000; // a busy machine is no loss here
    assert_ok(flr_guard_create(&def, &guard, &error), error);
    return guard;
}

/* waits until the stub got zero several times in a row */
static void wait_zero(stub_arm *arm)
{
    for (int i = 0; arm->zeros < 3; i++, nap()) assert_lt(i, 300000);
}

/* ---- the same for both ---- */

/* what the stub gets for a force to the right, away and up of 1, 0.5 and 0.25 N, and for torques in thousandths */
typedef struct arm_case {
    const char *text, *file;
    double unit;          /* metres in the vendor's */
    int right, away, up;  /* vendor's axis + 1, negative: against it */
    double torque_unit;   /* the vendor's in 1 N m */
    double force, torque; /* limits */
} arm_case;

static const arm_case openhaptics_case = {hd, STUBS "stub_hd.so", 1e-3, 1, -3, 2, 1e3, 3.3, 0.188};
static const arm_case forcedimension_case = {dhd, STUBS "stub_dhd.so", 1, 2, -1, 3, 1, 8, 0.2};

static double along(const _Atomic double *v, int axis)
{
    return axis > 0 ? v[axis - 1] : -v[-axis - 1];
}
static void set(_Atomic double *v, int axis, double value)
{
    if (axis > 0)
        v[axis - 1] = value;
    else
        v[-axis - 1] = -value;
}

static void works(const arm_case *c)
{
    stub_arm *arm = stub_of(c->file);
    arm->torque_capable = 1;
    set(arm->position, c->right, 0.01 / c->unit);
    set(arm->position, c->away, 0.02 / c->unit);
    set(arm->position, c->up, 0.03 / c->unit);
    set(arm->velocity, c->right, 0.5 / c->unit);
    arm->turn = 0.3;
    arm->buttons = 2;
    int opened = arm->opened, closed = arm->closed;
    flr_device *device = open_one(c->text);
    const flr_device_info *info = flr_device_get_info(device);
    assert_true(info->hardware);
    assert_true(strstr(info->name, "tub "));
    assert_lt(fabs(info->force - c->force), 1e-12);
    assert_lt(fabs(info->torque - c->torque), 1e-12);
    assert_int_equal(arm->enabled, 1);

    // pose, in our axes
    flr_device_sample s = newest(device);
    assert_vec(s.T_base_grip.p, 0.01, 0.02, 0.03);
    assert_vec(flr_quat_to_rotation_vector(s.T_base_grip.q), 0, 0, 0.3);
    assert_vec(s.twist.linear, 0.5, 0, 0);
    assert_true(s.has_twist);
    assert_int_equal(s.buttons, 2);

    // force, by the guard, in the vendor's
    flr_guard *guard = guard_of(device);
    flr_wrench wrench = {.force = {1, 0.5, 0.25}, .torque = {0.004, 0.002, 0.001}};
    // a machine that stalls makes the guard take the force away, and it comes back: all of it, once
    bool right = false;
    for (int i = 0; i < 300000 && !right; i++) {
        push(device, guard, wrench, 1);
        right = fabs(along(arm->force, c->right) - 1) < 1e-9 &&
                fabs(along(arm->force, c->away) - 0.5) < 1e-9 &&
                fabs(along(arm->force, c->up) - 0.25) < 1e-9 &&
                fabs(along(arm->torque, c->right) - 0.004 * c->torque_unit) < 1e-9 &&
                fabs(along(arm->torque, c->up) - 0.001 * c->torque_unit) < 1e-9;
    }
    assert_true(right);

    // more than it bears is cut
    push(device, guard, (flr_wrench){.force = {1000, 0, 0}}, 40);
    assert_le(along(arm->force, c->right), c->force + 1e-9);

    // the loop falls silent, and nobody watches: the thread gives no force
    push(device, guard, wrench, 5);
    wait_zero(arm);
    flr_guard_destroy(guard);
    flr_device_close(device);
    wait_zero(arm);
    assert_int_equal(arm->opened, opened + 1);
    assert_int_equal(arm->closed, closed + 1);
}

static void cable_pulled(const arm_case *c)
{
    stub_arm *arm = stub_of(c->file);
    flr_device *device = open_one(c->text);
    newest(device);
    flr_guard *guard = guard_of(device);
    for (int i = 0; along(arm->force, c->right) <= 0.5; i++) {
        push(device, guard, (flr_wrench){.force = {1, 0, 0}}, 1);
        assert_lt(i, 300000);
    }
    arm->broken = 1;
    for (int i = 0; i < 300000 && flr_guard_get_stats(guard).counts[9] == 0; i++, nap()) {
        flr_guard_input input = {.wrench = {.force = {1, 0, 0}},
                                 .now_ns = flr_clock_ns(flr_env_real()),
                                 .data_fresh = true};
        flr_guard_step(guard, &input, NULL);
    }
    assert_gt(flr_guard_get_stats(guard).counts[9], 0); // FLR_FAULT_DEVICE
    wait_zero(arm);
    flr_device_sample s;
    flr_device_read(device, 1, &s); // what came before
    nap();
    assert_false(flr_device_read(device, 2, &s));
    arm->broken = 0;
    newest(device);
    flr_guard_destroy(guard);
    flr_device_close(device);
}

/* Whatever the library says about the hand: what is read is a pose, no force is beyond the limit, and afterwards it works again. */
static void lies(const arm_case *c)
{
    enum { WELL, NO_NUMBER, ENDLESS, FAR, NO_TURN, NO_SPEED, JUMPS, KINDS };
    stub_arm *arm = stub_of(c->file);
    flr_device *device = open_one(c->text);
    newest(device);
    flr_guard *guard = guard_of(device);
    for (int kind = WELL; kind < KINDS; kind++) {
        set(arm->position, c->up, 0.03 / c->unit);
        set(arm->velocity, c->up, 0);
        arm->turn = 0;
        newest(device);
        for (int i = 0; along(arm->force, c->right) <= 0.5;
             i++) { // it is felt, also after what came before
            push(device, guard, (flr_wrench){.force = {1, 0, 0}}, 1);
            assert_lt(i, 300000);
        }
        if (kind == NO_NUMBER) set(arm->position, c->up, NAN);
        if (kind == ENDLESS) set(arm->position, c->up, INFINITY);
        if (kind == FAR) set(arm->position, c->up, 1e300);
        if (kind == NO_TURN) arm->turn = NAN;
        if (kind == NO_SPEED) set(arm->velocity, c->up, NAN);
        const int frames = arm->frames;
        for (int i = 0; arm->frames < frames + 40; i++, nap()) {
            assert_lt(i, 300000);
            if (kind == JUMPS) set(arm->position, c->up, (i % 2 ? 0.05 : -0.05) / c->unit);
            flr_device_sample s = {.number = 0};
            const int64_t now = flr_clock_ns(flr_env_real());
            const bool fresh = flr_device_read(device, now, &s);
            if (fresh) {
                assert_true(flr_vec3_is_finite(s.T_base_grip.p) &&
                            flr_vec3_length(s.T_base_grip.p) < 1e4);
                assert_eq(flr_quat_angle(s.T_base_grip.q, s.T_base_grip.q), 0);
                assert_true(flr_vec3_is_finite(s.twist.linear));
            }
            const flr_guard_input in = {.wrench.force.x = 100,
                                        .now_ns = now,
                                        .data_fresh = true,
                                        .input_fresh = fresh,
                                        .held = true};
            flr_guard_step(guard, &in, NULL);
            assert_true(fabs(along(arm->force, c->right)) <= c->force + 1e-9);
        }
    }
    set(arm->position, c->up, 0.03 / c->unit);
    arm->turn = 0;
    flr_guard_destroy(guard);
    flr_device_close(device);
}

static void refused(const char *text, flr_result code, const char *part)
{
    flr_device *device = NULL;
    flr_error error;
    assert_int_equal(flr_device_open_named(text, &device, &error), code);
    if (!strstr(error.message, part)) fail_msg("\"%s\" lacks \"%s\"", error.message, part);
    assert_null(device);
}

static flr_result open_close(void *context, flr_error *error)
{
    flr_device *device;
    flr_result result = flr_device_open_named(context, &device, error);
    if (result == FLR_OK) flr_device_close(device);
    return result;
}

/* ---- OpenHaptics ---- */

static void openhaptics(void **state)
{
    (void)state;
    works(&openhaptics_case);
    cable_pulled(&openhaptics_case);
    lies(&openhaptics_case);
    char left[300];
    snprintf(left, sizeof left, "%s,device=Left,force=2", hd);
    flr_device *device = open_one(left);
    assert_eq(flr_device_get_info(device)->force, 2);
    assert_eq(flr_device_get_info(device)->workspace.high.z, 0.06);
    refused(hd, FLR_DENIED, "one at a time");
    flr_device_info info;
    flr_error error;
    assert_ok(flr_device_look(&flr_openhaptics_driver, strchr(hd, ':') + 1, &info, &error), error);
    assert_non_null(strstr(info.name, "in use"));
    flr_device_close(device);
    assert_ok(flr_device_look(&flr_openhaptics_driver, strchr(hd, ':') + 1, &info, &error), error);
    assert_string_equal(info.name, "Stub Touch X");
}

static void openhaptics_missing(void **state)
{
    (void)state;
    stub_arm *arm = stub_of(STUBS "stub_hd.so");
    refused("openhaptics:library=/nowhere/libHD.so", FLR_NOT_FOUND, "install OpenHaptics");
    refused("openhaptics:library=" STUBS "stub_hd_old.so", FLR_UNSUPPORTED,
            "has no function hdUnschedule");
    arm->present = 0;
    refused(hd, FLR_NOT_FOUND, "communication error");
    arm->present = 1;
    char right[300];
    snprintf(right, sizeof right, "%s,device=Right", hd);
    refused(right, FLR_NOT_FOUND, "to the name Right");
    arm->scheduler_fails = 1;
    refused(hd, FLR_IO, "scheduler");
    arm->scheduler_fails = 0;
    flr_fail_alloc_each(open_close, (void *)(uintptr_t)hd);
    refused("openhaptics:froce=1", FLR_BAD_ARGUMENT, "did you mean \"force\"");
}

/* ---- Force Dimension ---- */

static void forcedimension(void **state)
{
    (void)state;
    works(&forcedimension_case);
    cable_pulled(&forcedimension_case);
    lies(&forcedimension_case);
    // an older library: no torque, no angular velocity
    flr_device *device = open_one("forcedimension:library=" STUBS "stub_dhd_plain.so,force=12");
    assert_eq(flr_device_get_info(device)->torque, 0);
    assert_eq(flr_device_get_info(device)->force, 12);
    assert_vec(newest(device).twist.angular, 0, 0, 0);
    flr_device_close(device);
}

static void forcedimension_missing(void **state)
{
    (void)state;
    stub_arm *arm = stub_of(STUBS "stub_dhd.so");
    refused("forcedimension:library=/nowhere/libdhd.so", FLR_NOT_FOUND, "Force Dimension SDK");
    refused("forcedimension:library=" STUBS "stub_dhd_old.so", FLR_UNSUPPORTED,
            "has no function dhdSetForceAndTorque");
    arm->present = 0;
    refused(dhd, FLR_NOT_FOUND, "no device found");
    arm->present = 2;
    char third[300];
    snprintf(third, sizeof third, "%s,device=2", dhd);
    refused(third, FLR_NOT_FOUND, "the library sees 2");
    arm->scheduler_fails = 1;
    refused(dhd, FLR_NOT_FOUND, "udev");
    arm->scheduler_fails = 0;
    flr_fail_alloc_each(open_close, (void *)(uintptr_t)dhd);
    flr_device_info info;
    flr_error error;
    assert_ok(flr_device_look(&flr_forcedimension_driver, strchr(dhd, ':') + 1, &info, &error),
              error);
    assert_string_equal(info.name, "stub sigma.7");
}

/* every driver says something about itself, whatever is installed here */
static void looking(void **state)
{
    (void)state;
    for (size_t i = 0; i < flr_device_driver_count(); i++) {
        flr_device_info info = {0};
        flr_error error = {0};
        const flr_device_driver *driver = flr_device_driver_at(i);
        flr_result result = flr_device_look(driver, NULL, &info, &error);
        assert_true(result == FLR_OK ? info.name[0] != 0 : strlen(error.message) > 30);
        if (!driver->look) assert_int_equal(result, FLR_OK);
    }
}

/* ---- plugins ---- */

static void link_into(const char *folder, const char *stub, const char *name)
{
    char from[1024], to[1024];
    snprintf(from, sizeof from, STUBS "%s", stub);
    snprintf(to, sizeof to, "%s/%s", folder, name);
    assert_int_equal(symlink(from, to), 0);
}

static void plugins(void **state)
{
    (void)state;
    char *folder = flr_test_folder();
    flr_error error;
    size_t loaded = 9, before = flr_device_driver_count();
    assert_ok(flr_device_plugins_load(NULL, &loaded, &error), error); // FEELER_DEVICES is not set
    assert_int_equal(loaded, 0);
    link_into(folder, "stub_plugin.so", "good.so");
    link_into(folder, "stub_plugin.so", "notes.txt");
    setenv("FEELER_DEVICES", folder, 1);
    assert_ok(flr_device_plugins_load(NULL, &loaded, &error), error);
    unsetenv("FEELER_DEVICES");
    assert_int_equal(loaded, 1);
    assert_int_equal(flr_device_driver_count(), before + 1);
    assert_ok(flr_device_plugins_load(folder, &loaded, &error), error); // again: it is there
    assert_int_equal(loaded, 0);
    flr_device *device = open_one("stub");
    assert_string_equal(flr_device_get_info(device)->name, "stub device");
    newest(device);
    flr_device_close(device);
    refused("stub:away", FLR_NOT_FOUND, "away");

    // bad ones are reported, and do not keep the others from being loaded
    const struct {
        const char *stub, *part;
        flr_result code;
    } bad[] = {
        {"stub_plugin_version.so", "made for version 99", FLR_UNSUPPORTED},
        {"stub_plugin_taken.so", "a driver \"spacemouse\" already", FLR_BAD_INPUT},
        {"stub_plugin_blind.so", "lacks", FLR_BAD_INPUT},
        {"stub_hd.so", "no device plugin", FLR_BAD_INPUT},
        {"nothing.so", "cannot be loaded", FLR_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *other = flr_test_folder();
        link_into(other, bad[i].stub, "bad.so");
        assert_int_equal(flr_device_plugins_load(other, &loaded, &error), bad[i].code);
        if (!strstr(error.message, bad[i].part)) fail_msg("%s", error.message);
        assert_int_equal(flr_device_driver_count(), before + 1);
        flr_test_folder_remove(other);
    }
    assert_int_equal(flr_device_plugins_load("/nowhere/at/all", &loaded, &error), FLR_NOT_FOUND);
    flr_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looking),
        cmocka_unit_test(openhaptics),
        cmocka_unit_test(openhaptics_missing),
        cmocka_unit_test(forcedimension),
        cmocka_unit_test(forcedimension_missing),
        cmocka_unit_test(plugins),
    };
    return cmocka_run_group_tests_name("hardware", tests, NULL, NULL);
}
