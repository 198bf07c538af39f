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

/* No force, at once. Thread: any; RT safe. */
void flr_device_stop(flr_device *device, int64_t now_ns);

#endif
