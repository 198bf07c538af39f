/* feeler/device.h: where a handle's pose comes from and where its wrench goes.
 *
 * A device is a thing somebody holds: a force-feedback arm, a mouse, a hand that is only simulated,
 * a recording. A driver is a table of functions; feeler brings three for hands that are only
 * simulated (feeler/hand.h) and three for hardware (feeler/hardware.h), and your own is one more
 * table, see examples/07_own_device.c:
 *
 *     flr_device *device;
 *     if (flr_device_open(&my_driver, &my_parameters, &device, &error) != FLR_OK) ...
 *
 * Anybody may read a device. Nobody writes to one but its output guard (feeler/guard.h): there is
 * no function here to do it.
 *
 * Frames: a sample's pose is that of the grip in the device's base frame. Where the base stands in
 * the world, and how far a hand's way is scaled, is for those who use the samples. Wrenches are
 * what the device does to the hand: base's axes, about the origin of the grip.
 *
 * Thread: opening and closing by the control thread; reading by one thread, RT safe.
 */
#ifndef FEELER_DEVICE_H
#define FEELER_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/inertia.h"
#include "feeler/math.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLR_DEVICE_NAME_SIZE = 64 };

/* One look at the device. Plain data. */
typedef struct flr_device_sample {
    flr_pose T_base_grip;
    flr_twist twist; /* of the grip, base's axes, about its origin; zero where has_twist is false */
    uint64_t number; /* 1 for the first sample, more for each newer one; 0: none yet */
    int64_t time_ns; /* when it was taken, on the clock that read() was given */
    uint32_t buttons; /* bit i: button i is pressed */
    bool has_twist;   /* the device measures velocity */
} flr_device_sample;

/* What a device is and can do; filled in by its driver. */
typedef struct flr_device_info {
    char name[FLR_DEVICE_NAME_SIZE]; /* for people: "simulated hand" */
    double force;                    /* N: the most it may be asked for, lasting; 0: gives none */
    double torque;                   /* N m; 0: gives none */
    double rate;                     /* samples per second; 0: one for every read */
    uint32_t buttons;                /* how many */
    int32_t dead_man;   /* the button that must be held for any force; -1: there is none */
    flr_box3 workspace; /* metres, base's frame; empty: no limit */
    /* after so long without a write the device itself goes to zero; 0: it would hold the last force
     * for ever, and only the guard stands between a dead program and the hand */
    int64_t own_timeout_ns;
    bool hardware; /* moves something real: never run faster than the clock */
} flr_device_info;

/* A driver. `parameters` are the driver's own, as given to flr_device_open(). */
typedef struct flr_device_driver {
    const char *name;    /* one word: "hand" */
    const char *summary; /* one line for a list */

    /* Finds the device and makes it ready, with no force. On success fills `*state`, which the
     * other functions get, and `info`, which comes with no force, no buttons, no dead-man and no
     * limit of the workspace. On failure nothing is left behind. Thread: control. */
    flr_result (*open)(const void *parameters, void **state, flr_device_info *info,
                       flr_error *error);

    /* Lets go of the device. The guard has brought its force to zero. Thread: control. */
    void (*close)(void *state);

    /* Puts the newest sample into `*sample`, all but its number, and returns true; false: there is
     * nothing newer, `*sample` is untouched. `now_ns` is the time of the frame, not less than
     * before. Thread: RT, no allocation, no lock, no waiting. */
    bool (*read)(void *state, int64_t now_ns, flr_device_sample *sample);

    /* Gives the hand this wrench until the next write. Called by the guard only, which has made
     * sure that it is finite and within the limits. False: the device does not answer. NULL for a
     * device without force. Thread: RT, the loop's or the guard's watchdog's, never both
     * at once. */
    bool (*write)(void *state, int64_t now_ns, const flr_wrench *wrench);

    /* Emergency: no force, at once. Called when a thread hangs inside write() or read(), so at any
     * time and from any thread. NULL: a write of zero takes its place, which then may come while
     * another write hangs. */
    void (*stop)(void *state);

    /* Is there such a device now? Fills `info`, its name at least, or says what is missing and what
     * to do. Not NULL: this is hardware that is opened by name, and `parameters`, here and in open,
     * are a text of options or NULL, see feeler/hardware.h. Thread: control. */
    flr_result (*look)(const void *parameters, flr_device_info *info, flr_error *error);

    /* What a simulated device is about, as `saved` bytes; and going on from there, in one opened with
     * the same parameters, all times in it later by `shift_ns`. NULL and 0: there is no such thing.
     * Thread: control, while nobody reads or writes. */
    size_t saved;
    void (*save)(void *state, void *bytes);
    void (*load)(void *state, const void *bytes, int64_t shift_ns);
} flr_device_driver;

typedef struct flr_device flr_device;

/* Opens a device. `driver` must outlive it; `parameters` is what the driver wants there, and need
 * not outlive the call unless the driver says so. The sentence comes from the driver, or tells
 * which of its answers in `info` makes no sense. On success the caller owns `*device`. */
FLR_API flr_result flr_device_open(const flr_device_driver *driver, const void *parameters,
                                   flr_device **device, flr_error *error);

/* Closes; its guard must be destroyed before. NULL allowed. Thread: control. */
FLR_API void flr_device_close(flr_device *device);

/* What it is. Thread: any; RT safe. */
FLR_API const flr_device_info *flr_device_get_info(const flr_device *device);
FLR_API const flr_device_driver *flr_device_get_driver(const flr_device *device);

/* Looks at the device. True: `*sample` is newer than the one before. False: nothing new came, or
 * what came was no pose (not finite, a quaternion that is not of unit length), which is counted;
 * `*sample` is untouched. Thread: one; RT safe. */
FLR_API bool flr_device_read(flr_device *device, int64_t now_ns, flr_device_sample *sample);

/* Samples that were no pose. Thread: any. */
FLR_API uint64_t flr_device_bad_samples(const flr_device *device);

/* ---- the drivers, by name ---- */

/* Those that come with feeler, then those of plugins (feeler/hardware.h); by name, NULL when there is
 * none. Thread: any. */
FLR_API size_t flr_device_driver_count(void);
FLR_API const flr_device_driver *flr_device_driver_at(size_t index);
FLR_API const flr_device_driver *flr_device_driver_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
