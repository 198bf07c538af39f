/* device: opening, reading, and the private way to write */
#include "device/device.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"

#define DEVICE_FARTHEST 1e4 /* metres: a sample from beyond is no pose of a hand */

struct flr_device {
    const flr_device_driver *driver;
    void *state;
    flr_device_info info;
    uint64_t number; /* samples so far; the reader's */
    _Atomic uint64_t bad_samples;
    atomic_bool taken;   /* has a guard */
    atomic_bool stopped; /* until a zero is written */
};

/* ---- opening ---- */

static flr_result refuse(const flr_device_driver *driver, const char *what, flr_error *error)
{
    return flr_fail(error, FLR_UNSUPPORTED, "device driver %s: %s; this driver has to be mended",
                    driver->name, what);
}

/* what a driver says about its device decides over forces: it has to make sense */
static flr_result check_info(const flr_device_driver *driver, const flr_device_info *info,
                             flr_error *error)
{
    if (!(info->force >= 0 && info->force <= 1e4 && info->torque >= 0 && info->torque <= 1e4))
        return refuse(driver, "its limits of force and torque are not within 0 and 10000", error);
    if ((info->force > 0 || info->torque > 0) && !driver->write)
        return refuse(driver, "it has limits of force but no way to write one", error);
    if (!(info->rate >= 0 && info->rate <= 1e6))
        return refuse(driver, "its rate is not within 0 and 1000000 Hz", error);
    if (info->buttons > 32) return refuse(driver, "it has more than 32 buttons", error);
    if (info->dead_man < -1 || info->dead_man >= (int32_t)info->buttons)
        return refuse(driver, "its dead-man is none of its buttons", error);
    if (info->own_timeout_ns < 0) return refuse(driver, "its own timeout is negative", error);
    return FLR_OK;
}

flr_result flr_device_open(const flr_device_driver *driver, const void *parameters,
                           flr_device **device, flr_error *error)
{
    FLR_ASSERT(driver && device);
    FLR_ASSERT(driver->name && driver->open && driver->close && driver->read);
    flr_device *d = calloc(1, sizeof *d);
    if (!d) return flr_fail(error, FLR_NO_MEMORY, "device driver %s: out of memory", driver->name);
    d->driver = driver;
    d->info.dead_man = -1;
    d->info.workspace = flr_box3_empty();
    flr_result result = driver->open(parameters, &d->state, &d->info, error);
    if (result == FLR_OK) {
        d->info.name[FLR_DEVICE_NAME_SIZE - 1] = 0;
        result = check_info(driver, &d->info, error);
        if (result != FLR_OK) driver->close(d->state);
    }
    if (result != FLR_OK) {
        free(d);
        return result;
    }
    *device = d;
    return FLR_OK;
}

void flr_device_close(flr_device *device)
{
    if (!device) return;
    FLR_ASSERT(!atomic_load(&device->taken));
    device->driver->close(device->state);
    free(device);
}

const flr_device_info *flr_device_get_info(const flr_device *device)
{
    FLR_ASSERT(device);
    return &device->info;
}

/* ---- reading ---- */

bool flr_device_read(flr_device *device, int64_t now_ns, flr_device_sample *sample)
{
    FLR_ASSERT(device && sample);
    flr_device_sample got;
    memset(&got, 0, sizeof got);
    if (!device->driver->read(device->state, now_ns, &got)) return false;
    bool twist_fine = !got.has_twist || (flr_vec3_is_finite(got.twist.angular) &&
                                         flr_vec3_is_finite(got.twist.linear));
    if (!flr_pose_is_valid(got.T_base_grip) || !twist_fine ||
        !(flr_vec3_length(got.T_base_grip.p) < DEVICE_FARTHEST)) {
        atomic_fetch_add_explicit(&device->bad_samples, 1, memory_order_relaxed);
        return false;
    }
    got.number = ++device->number;
    *sample = got;
    return true;
}

uint64_t flr_device_bad_samples(const flr_device *device)
{
    FLR_ASSERT(device);
    return atomic_load_explicit(&device->bad_samples, memory_order_relaxed);
}

/* ---- writing: for the guard ---- */

bool flr_device_take(flr_device *device) { return !atomic_exchange(&device->taken, true); }
void flr_device_release(flr_device *device) { atomic_store(&device->taken, false); }

static bool is_zero(const flr_wrench *wrench)
{
    return flr_vec3_equal(wrench->force, flr_vec3_zero()) &&
           flr_vec3_equal(wrench->torque, flr_vec3_zero());
}

bool flr_device_write(flr_device *device, int64_t now_ns, const flr_wrench *wrench)
{
    if (!device->driver->write) return true;
    if (atomic_load(&device->stopped)) {
        if (!is_zero(wrench)) return false;
        atomic_store(&device->stopped, false);
    }
    return device->driver->write(device->state, now_ns, wrench);
}

void flr_device_stop(flr_device *device, int64_t now_ns)
{
    atomic_store(&device->stopped, true);
    if (device->driver->stop) {
        device->driver->stop(device->state);
    } else if (device->driver->write) {
        flr_wrench zero = {{0, 0, 0}, {0, 0, 0}};
        device->driver->write(device->state, now_ns, &zero);
    }
}

/* ---- saving ---- */

size_t flr_device_saved_size(const flr_device *device)
{
    return sizeof device->number + device->driver->saved;
}

void flr_device_save(const flr_device *device, void *bytes)
{
    memcpy(bytes, &device->number, sizeof device->number);
    if (device->driver->saved)
        device->driver->save(device->state, (uint8_t *)bytes + sizeof device->number);
}

void flr_device_load(flr_device *device, const void *bytes, int64_t shift_ns)
{
    memcpy(&device->number, bytes, sizeof device->number);
    if (device->driver->saved)
        device->driver->load(device->state, (const uint8_t *)bytes + sizeof device->number,
                             shift_ns);
}
