/* device.h: what only the output guard may do with a device. */
#ifndef FLR_DEVICE_DEVICE_H
#define FLR_DEVICE_DEVICE_H

#include "feeler/device.h"

/* Takes hold of it, lets go of it. False: somebody else has hold of it. Thread: control. */
bool flr_device_take(flr_device *device);
void flr_device_release(flr_device *device);

/* Gives the wrench to the driver. False: the device did not take it. After a stop it takes nothing
 * before a wrench of zero, so that what was on its way when the device was stopped cannot wake it
 * again. Thread: who owns the guard; RT safe. */
bool flr_device_write(flr_device *device, int64_t now_ns, const flr_wrench *wrench);

/* What a device and a guard are about, for flr_loop_save(). Thread: control, while no frame runs. */
size_t flr_device_saved_size(const flr_device *device);
void flr_device_save(const flr_device *device, void *bytes);
void flr_device_load(flr_device *device, const void *bytes, int64_t shift_ns);
size_t flr_guard_saved_size(void);
void flr_guard_save(const flr_guard *guard, void *bytes);
void flr_guard_load(flr_guard *guard, const void *bytes);

/* No force, at once. Thread: any; RT safe. */
void flr_device_stop(flr_device *device, int64_t now_ns);

#endif
