/* feeler/hardware.h: devices that stand on a table: which there are, opened by name.
 *
 *     spacemouse       a SpaceMouse or another device of spacenavd; gives poses, no force
 *     openhaptics      Touch and PHANTOM arms, by the vendor's libHD.so
 *     forcedimension   omega, delta, sigma, lambda, by the vendor's libdhd.so
 *     plugins          drivers of yours, in a shared library; see below and docs/devices.md
 *
 * Libraries of vendors are looked for when a device is wanted, never at build time. Nothing here
 * needs them to be installed: a list says what is there, what is missing, and what to do:
 *
 *     for (size_t i = 0; i < flr_device_driver_count(); i++) {
 *         const flr_device_driver *driver = flr_device_driver_at(i);
 *         flr_result there = flr_device_look(driver, NULL, &info, &error);
 *         printf("%s: %s\n", driver->name, there == FLR_OK ? info.name : error.message);
 *     }
 *     flr_device_open_named("spacemouse:move=0.2,turn=1.5", &device, &error);
 *
 * All of them have the same base frame: x to the right of the person, y away from the person, z up.
 *
 * Thread: control, unless said otherwise.
 */
#ifndef FEELER_HARDWARE_H
#define FEELER_HARDWARE_H

#include <stddef.h>

#include "feeler/api.h"
#include "feeler/device.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- finding and opening ---- */

/* Is there such a device now? FLR_OK: yes; `info` (may be NULL) has its name, and its limits as far
 * as they are known before it is opened. Anything else: no, and the sentence says what is missing
 * and what to do. `options` as in flr_device_open_named(), may be NULL. Moves nothing, but may take
 * a second where hardware has to be asked. A driver without `look`, such as the simulated hand, is
 * always there. */
FLR_API flr_result flr_device_look(const flr_device_driver *driver, const char *options,
                                   flr_device_info *info, flr_error *error);

/* Opens "NAME" or "NAME:OPTIONS" among the drivers whose parameters are options (those with `look`).
 * Options are "key=value,key=value"; what a driver knows is told below and by its sentence about a
 * key that it does not know. On success the caller owns `*device`. */
FLR_API flr_result flr_device_open_named(const char *text, flr_device **device, flr_error *error);

/* ---- the drivers ---- */

/* Speaks to spacenavd by its socket: the option `socket`, else the environment's SPNAV_SOCKET, else
 * /var/run/spnav.sock. The cap's displacement is a velocity, which is integrated from read to read:
 *
 *     move=0.1    metres per second, cap fully displaced
 *     turn=1      radians per second
 *     dead=0.05   0 … 0.9: of the full way that counts as none
 *     socket=PATH
 *
 * When spacenavd goes away the pose stays where it is and nothing new is read; the driver connects
 * again by itself. */
FLR_API extern const flr_device_driver flr_spacemouse_driver;

/*     device=NAME     as configured with the vendor's tools; default: the default device
 *     force=N, torque=NM   lower limits than the device's own
 *     library=FILE    default libHD.so.3.4, libHD.so.3 or libHD.so, as the system finds it
 * One at a time. */
FLR_API extern const flr_device_driver flr_openhaptics_driver;

/*     device=0        its number
 *     force=8, torque=0.2   what may be asked for: the library does not tell what a device bears
 *                     for long, so this is what the smallest does; 20 and 0.4 suit a sigma.7
 *     library=FILE    default libdhd.so.3 or libdhd.so
 */
FLR_API extern const flr_device_driver flr_forcedimension_driver;

/* ---- plugins ---- */

/* A driver in a shared library is found by the one symbol that the library exports:
 *
 *     FLR_DEVICE_PLUGIN(my_driver);
 *
 * Its driver's parameters are options, its `look` is not NULL. examples/plugin/my_device.c is one to copy. */
enum { FLR_DEVICE_PLUGIN_VERSION = 2 };
typedef struct flr_device_plugin {
    unsigned version; /* FLR_DEVICE_PLUGIN_VERSION of the header it was compiled with */
    const flr_device_driver *driver;
} flr_device_plugin;

#define FLR_DEVICE_PLUGIN(its_driver)                                                              \
    extern __attribute__((visibility("default"))) const flr_device_plugin flr_device_plugin_entry; \
    const flr_device_plugin flr_device_plugin_entry = {FLR_DEVICE_PLUGIN_VERSION, &(its_driver)}

/* Loads every FILE.so of a folder, in the order of their names, and adds their drivers to the list
 * of feeler/device.h; they stay until the process ends. `folder` NULL: the environment's
 * FEELER_DEVICES, and where that is not set nothing is loaded. A library is code that runs with
 * your rights. `*loaded`, which may be NULL, is how many drivers were added. One that is no plugin,
 * is made for another version or takes a name that there is already is left out; the others are
 * loaded all the same, and the result and sentence are those of the first that was left out. */
FLR_API flr_result flr_device_plugins_load(const char *folder, size_t *loaded, flr_error *error);

#ifdef __cplusplus
}
#endif
#endif
