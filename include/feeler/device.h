/* feeler/device.h: devices: drivers, the output guard, and the hardware that feeler finds by itself.
 *
 *   device    the driver interface
 *   guard     the output guard, the only way to a device
 *   hardware  SpaceMouse, force devices, plugins
 */
#ifndef FEELER_DEVICE_H
#define FEELER_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== device ================================================================================= */

/* Where a handle's pose comes from and where its wrench goes.
 *
 * A device is a thing somebody holds: a force-feedback arm, a mouse, a hand that is only simulated,
 * a recording. A driver is a table of functions; feeler brings three for hands that are only
 * simulated (feeler/hand.h) and three for hardware (feeler/device.h), and your own is one more
 * table, see examples/07_own_device.c:
 *
 *     flr_device *device;
 *     if (flr_device_open(&my_driver, &my_parameters, &device, &error) != FLR_OK) ...
 *
 * Anybody may read a device. Nobody writes to one but its output guard (feeler/device.h): there is
 * no function here to do it.
 *
 * Frames: a sample's pose is that of the grip in the device's base frame. Where the base stands in
 * the world, and how far a hand's way is scaled, is for those who use the samples. Wrenches are
 * what the device does to the hand: base's axes, about the origin of the grip.
 *
 * Thread: opening and closing by the control thread; reading by one thread, RT safe.
 */

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
     * are a text of options or NULL, see feeler/device.h. Thread: control. */
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

/* Looks at the device. True: `*sample` is newer than the one before. False: nothing new came, or
 * what came was no pose (not finite, a quaternion that is not of unit length), which is counted;
 * `*sample` is untouched. Thread: one; RT safe. */
FLR_API bool flr_device_read(flr_device *device, int64_t now_ns, flr_device_sample *sample);

/* Samples that were no pose. Thread: any. */
FLR_API uint64_t flr_device_bad_samples(const flr_device *device);

/* ---- the drivers, by name ---- */

/* Those that come with feeler, then those of plugins (feeler/device.h); by name, NULL when there is
 * none. Thread: any. */
FLR_API size_t flr_device_driver_count(void);
FLR_API const flr_device_driver *flr_device_driver_at(size_t index);
FLR_API const flr_device_driver *flr_device_driver_find(const char *name);

/* ==== guard ================================================================================== */

/* The output guard: the only way to a device.
 *
 * Whatever a program computes, what reaches a hand is
 *
 *   finite           a NaN or an infinity is no force
 *   within limits    of the device, and of the guard where that is less
 *   smooth           from frame to frame it changes by at most 1 N, and by a matching torque
 *   ramped           at the start and after every loss it grows over half a second
 *   zero in time     at the latest 25 ms after the device's poses, the data or the thread are lost
 *   held             where there is a dead-man button, nothing without it
 *
 * Losing something is noticed after detect_ns; from there the force fades by no more than its step
 * per frame. So that this ends in time, the force is limited to what can fade in zero_ns -
 * detect_ns: at 1000 Hz that is 20 N, at 500 Hz 10 N, at 250 Hz 4.25 N; from 2000 Hz on the
 * device's limit is the lower one, as a rule. Being zero in time counts more than being smooth:
 * where frames come so late that both cannot be had, a fading force makes up for what was missed.
 *
 *     flr_guard_def def = flr_default_guard_def();
 *     def.device = device;
 *     flr_guard_create(&def, &guard, &error);
 *     each frame:       flr_guard_step(guard, &input, &output);
 *     another thread:   flr_guard_watch(guard, now), every millisecond or two
 *
 * The loop of feeler/loop.h does both.
 *
 * Thread: create and destroy: control; step: the RT thread; watch: one other thread, or the same.
 * Step and watch are RT safe and never wait for each other.
 */

/* Why the output is not the input. Bits of a mask, and indices into counts as 1 << index. */
typedef enum flr_fault {
    FLR_FAULT_NOT_FINITE = 1 << 0,   /* the wrench was no number: fades */
    FLR_FAULT_FORCE_LIMIT = 1 << 1,  /* cut to the limit, direction kept */
    FLR_FAULT_TORQUE_LIMIT = 1 << 2, /* likewise */
    FLR_FAULT_SLEW = 1 << 3,         /* wanted to change faster than allowed */
    FLR_FAULT_INPUT_LOST = 1 << 4,   /* no new pose of the device: fades */
    FLR_FAULT_DATA_LOST = 1 << 5,    /* nothing valid was computed: fades */
    FLR_FAULT_STALLED = 1 << 6,      /* the frames themselves stopped for a while: fades */
    FLR_FAULT_CLOCK = 1 << 7,        /* the clock stood still or went back: fades */
    FLR_FAULT_DEAD_MAN = 1 << 8,     /* the button is not held: fades */
    FLR_FAULT_DEVICE = 1 << 9,       /* the device does not take what is written: fades */
    FLR_FAULT_WATCHDOG = 1 << 10,    /* the other thread had to take over: fades */
    FLR_FAULT_HUNG = 1 << 11         /* … while a step hung, and stopped the device */
} flr_fault;

enum { FLR_FAULT_COUNT = 12 };

/* A few words, such as "input lost", for index 0 … FLR_FAULT_COUNT - 1. Never NULL. Thread: any. */
FLR_API const char *flr_fault_name(unsigned index);

/* What a guard promises. Fill with flr_default_guard_def() and give it a device. */
typedef struct flr_guard_def {
    flr_device *device; /* not NULL; gets one guard at a time */
    double rate;        /* frames per second, 50 … 20000; default 1000 */
    double force;       /* N, at most; default 0: the device's */
    double torque;      /* N m, at most; default 0: the device's */
    double force_step;  /* N per frame, above 0, at most 1; default 1 */
    double torque_step; /* N m per frame; default 0: so that both fade in the same time */
    int64_t ramp_ns;    /* from nothing to all, 0 … 10 s; default 500 ms */
    int64_t detect_ns;  /* lost after so long; default 0: 5 ms, or two frames where that is more */
    int64_t zero_ns;    /* no force from then on; at most the default of 25 ms */
} flr_guard_def;

FLR_API flr_guard_def flr_default_guard_def(void);

/* One frame's. */
typedef struct flr_guard_input {
    flr_wrench wrench; /* wanted: base's axes, about the grip's origin */
    int64_t now_ns;    /* this moment */
    bool input_fresh;  /* the device gave a new sample since the last step */
    bool data_fresh;   /* the wrench was computed from valid data */
    bool held;         /* the dead-man button is held; matters where the device has one */
} flr_guard_input;

/* What the device got. */
typedef struct flr_guard_output {
    flr_wrench wrench;
    uint32_t faults; /* mask of flr_fault: what happened in this frame */
    double gain;     /* 0 … 1: of the ramp */
} flr_guard_output;

typedef struct flr_guard_stats {
    uint64_t steps;                   /* frames so far */
    uint64_t trips;                   /* times the force had to fade */
    uint64_t counts[FLR_FAULT_COUNT]; /* frames with that fault */
    double max_force, max_torque;     /* N, N m: largest written */
} flr_guard_stats;

typedef struct flr_guard flr_guard;

/* Takes hold of the device; refuses (FLR_BAD_ARGUMENT) what is out of range and a device that has a
 * guard already. The device must outlive it. On success the caller owns `*guard`. */
FLR_API flr_result flr_guard_create(const flr_guard_def *def, flr_guard **guard, flr_error *error);

/* Writes zero to the device and lets go of it. No other thread may use the guard. NULL allowed. */
FLR_API void flr_guard_destroy(flr_guard *guard);

/* One frame: limits, writes, tells. `output` may be NULL. */
FLR_API void flr_guard_step(flr_guard *guard, const flr_guard_input *input,
                            flr_guard_output *output);

/* From a second thread, or from whoever still runs: where no step came for detect_ns, fades the
 * force in its place, one call at a time, and stops the device where a step hangs. Does nothing
 * while steps come. Returns true while it is in charge. `now_ns` by the clock of the steps. */
FLR_API bool flr_guard_watch(flr_guard *guard, int64_t now_ns);

/* The limits in force, the smaller of device, definition and what can fade in time: N, N m, and the
 * largest change per frame. Thread: any; RT safe. */
FLR_API double flr_guard_force_limit(const flr_guard *guard);
FLR_API double flr_guard_torque_limit(const flr_guard *guard);
FLR_API double flr_guard_torque_step(const flr_guard *guard);

/* Counts up to some moment during the call. Thread: any; RT safe. */
FLR_API flr_guard_stats flr_guard_get_stats(const flr_guard *guard);

/* ==== hardware =============================================================================== */

/* Devices that stand on a table: which there are, opened by name.
 *
 *     spacemouse       a SpaceMouse or another device of spacenavd; gives poses, no force
 *     openhaptics      Touch and PHANTOM arms, by the vendor's libHD.so
 *     forcedimension   omega, delta, sigma, lambda, by the vendor's libdhd.so
 *     haply            Haply Inverse3, by the vendor's Inverse Service
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

/* ---- finding and opening ---- */

/* Is there such a device now? FLR_OK: yes; `info` (may be NULL) has its name, and its limits as far
 * as they are known before it is opened. Anything else: no, and the sentence says what is missing
 * and what to do. `options` as in flr_device_open_named(), may be NULL. Moves nothing, but may take
 * a second where hardware has to be asked. A driver without `look`, such as the simulated hand, is
 * always there. */
FLR_API flr_result flr_device_look(const flr_device_driver *driver, const char *options,
                                   flr_device_info *info, flr_error *error);

/* Opens "NAME" or "NAME:OPTIONS" among the drivers whose parameters are options (those with `look`).
 * Options are "key=value,key=value"; the options of each driver are listed below and in its sentence about a
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

/* Speaks to the vendor's Inverse Service, which answers each command with one state.
 *
 *     device=ID       one of those that the service knows; default: the first
 *     force=3         N, 0 to 10: what may be asked for
 *     rate=2000       commands per second at most, 100 to 10000
 *     host=127.0.0.1, port=10001
 *
 * Orientation and buttons are those of a VerseGrip where there is one. When the service goes away, nothing new is read and no force is
 * given; the driver connects again by itself. */
FLR_API extern const flr_device_driver flr_haply_driver;

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
