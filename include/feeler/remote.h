/* feeler/remote.h: a device that is fed: a mouse in a page, a host application, another machine.
 *
 * Whoever knows where the hand is says so whenever it likes, sixty times a second or so; the loop
 * reads a thousand times. In between the hand glides to the newest pose as a critically damped
 * spring would take it there, so that the part it holds does not jerk. It gives no force.
 *
 *     flr_remote *remote = flr_remote_create(0.01);
 *     flr_device_open(&flr_remote_driver, remote, &device, &error);
 *     …
 *     flr_remote_set(remote, T_base_grip, buttons);      // control thread
 *     …
 *     flr_device_close(device);
 *     flr_remote_destroy(remote);
 *
 * What the device says follows from the poses, the times of its reads and nothing else.
 *
 * Thread: set and clear by one thread, RT safe; the device as in feeler/device.h; create and
 * destroy while nobody else uses it.
 */
#ifndef FEELER_REMOTE_H
#define FEELER_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/device.h"
#include "feeler/math.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flr_remote flr_remote;

/* `glide`: seconds in which the hand makes two thirds of the way to a new pose, 0 … 1; 0: it is
 * there at once. NULL: no memory. */
FLR_API flr_remote *flr_remote_create(double glide);
FLR_API void flr_remote_destroy(flr_remote *remote); /* NULL allowed; its device is closed */

/* The hand is here; the first pose is not glided to. False: that is no pose; nothing changes. */
FLR_API bool flr_remote_set(flr_remote *remote, flr_pose T_base_grip, uint32_t buttons);
/* The hand is here at once, wherever it was, and glides on from here to later poses, also where the device reads none of this before
 * them. Buttons stay as they are. False: that is no pose; nothing changes. */
FLR_API bool flr_remote_jump(flr_remote *remote, flr_pose T_base_grip);
/* The hand is gone: the device has nothing new until the next pose. */
FLR_API void flr_remote_clear(flr_remote *remote);

/* Its parameters are an flr_remote, which must outlive the device. */
FLR_API extern const flr_device_driver flr_remote_driver;

#ifdef __cplusplus
}
#endif
#endif
