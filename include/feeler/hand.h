/* feeler/hand.h: devices without hardware: simulated hands, scripts, replays, and hands fed by a page or a host.
 *
 *   hand    simulated hand, script, replay
 *   remote  input from a page or a host
 */
#ifndef FEELER_HAND_H
#define FEELER_HAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/device.h"
#include "feeler/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== hand =================================================================================== */

/* Devices without hardware: a simulated hand, a script, a replay.
 *
 *   hand     an arm that wants to follow a target and cannot do so exactly: it has mass, the device
 *            it holds has mass and friction, and the wrench that the device gives moves it. This
 *            closes the loop as a person does, so that stability can be measured
 *   script   the target itself, exactly, whatever the wrench
 *   replay   samples of an earlier run, one per frame
 *
 * A target is a pose as a function of time. Five are built in (idle, slide, aggressive, wedge,
 * removal); a list of timed poses is another; a function of yours a third.
 *
 *     flr_script *script;
 *     flr_script_def def = flr_default_script_def();
 *     def.kind = FLR_SCRIPT_SLIDE;
 *     def.start = T_world_part;
 *     flr_script_create(&def, &script, &error);
 *     flr_hand_def hand = flr_default_hand_def();
 *     hand.target = flr_script_target(script);
 *     flr_device_open(&flr_hand_driver, &hand, &device, &error);
 *
 * Everything follows from the times given to flr_device_read(), the wrenches and the seed: the same
 * again gives the same bits.
 *
 * Thread: as in feeler/device.h.
 */

/* ---- targets ---- */

/* Where a hand wants to be. */
typedef struct flr_target {
    /* Pose at `t` seconds from the start, t >= 0; depends on nothing else. RT safe. */
    flr_pose (*at)(const void *context, double t);
    const void *context; /* must outlive the device that uses it */
} flr_target;

/* One pose of a motion. */
typedef struct flr_timed_pose {
    double t; /* seconds */
    flr_pose T_world_part;
} flr_timed_pose;

typedef enum flr_script_kind {
    FLR_SCRIPT_IDLE,       /* holds still, with the tremor of a hand */
    FLR_SCRIPT_SLIDE,      /* presses along `direction` and sweeps to and fro across it */
    FLR_SCRIPT_AGGRESSIVE, /* throws the part about: fast, abrupt, turning */
    FLR_SCRIPT_WEDGE,      /* forces it along `direction`, wriggles, pulls back, again */
    FLR_SCRIPT_REMOVAL,    /* follows `path` */
    FLR_SCRIPT_COUNT
} flr_script_kind;

typedef struct flr_script_def {
    flr_script_kind kind;       /* default idle */
    flr_pose start;             /* where it begins; default the origin. Not for removal */
    flr_vec3 direction;         /* of slide and wedge, any length but 0; default -z */
    double reach;               /* metres: how far it goes from the start; default 0.05 */
    double turn;                /* radians: how far it turns; default 0.5 */
    double speed;               /* 1: a lively hand; times faster; default 1 */
    uint64_t seed;              /* default 1 */
    const flr_timed_pose *path; /* of removal: [path_count], times rising; copied */
    size_t path_count;
} flr_script_def;

FLR_API flr_script_def flr_default_script_def(void);

/* "idle", "slide", …; never NULL. And back: FLR_NOT_FOUND with a sentence that lists them and
 * guesses which was meant. Thread: any. */
FLR_API const char *flr_script_name(flr_script_kind kind);
FLR_API flr_result flr_script_find(const char *name, flr_script_kind *kind, flr_error *error);

typedef struct flr_script flr_script;

/* Makes a target from a definition. On success the caller owns `*script`. */
FLR_API flr_result flr_script_create(const flr_script_def *def, flr_script **script,
                                     flr_error *error);
FLR_API void flr_script_destroy(flr_script *script); /* NULL allowed */

/* As a target; the script must outlive it. */
FLR_API flr_target flr_script_target(const flr_script *script);

/* Seconds until the end of a removal's path at the script's speed; INFINITY for the others, which
 * go on for ever. After its end, a path rests at its last pose. */
FLR_API double flr_script_duration(const flr_script *script);

/* ---- the simulated hand ---- */

/* A hand that holds a device. Translation and rotation each are a mass on a spring and a damper. */
typedef struct flr_hand_def {
    flr_target target; /* what it wants to do; not NULL */
    /* the arm, 1 axis: between the target and the grip */
    double arm_stiffness;  /* N/m; default 300 */
    double arm_damping;    /* N s/m; default 15 */
    double arm_mass;       /* kg, what moves with the grip; default 0.4 */
    double turn_stiffness; /* N m/rad; default 2 */
    double turn_damping;   /* N m s/rad; default 0.04 */
    double turn_inertia;   /* kg m^2; default 4e-4 */
    /* the device */
    double device_mass;    /* kg; default 0.2 */
    double device_inertia; /* kg m^2; default 1e-4 */
    double friction;       /* N, dry; default 0.2 */
    double turn_friction;  /* N m, dry; default 0.002 */
    double viscous;        /* N s/m; default 0.5 */
    double turn_viscous;   /* N m s/rad; default 5e-4 */
    /* what it says about itself */
    double force, torque;   /* limits, N and N m; default 15 and 0.5 */
    int64_t own_timeout_ns; /* goes to zero by itself; default 0: holds the last wrench */
    bool dead_man;          /* has such a button (0); default false */
    bool pressed;           /* and holds it; default true */
} flr_hand_def;

/* A target must still be given. */
FLR_API flr_hand_def flr_default_hand_def(void);

/* Its parameters are an flr_hand_def. The first read is at t = 0 and at the target. */
FLR_API extern const flr_device_driver flr_hand_driver;

/* ---- script: the target itself ---- */

/* Its parameters are an flr_target. */
FLR_API extern const flr_device_driver flr_script_driver;

/* ---- replay ---- */

/* Where recorded samples come from. */
typedef struct flr_replay_def {
    /* Sample of the n-th read (0: first); its number and time are ignored. False: there is none, as
     * behind the end: the device then has nothing new. RT safe. */
    bool (*sample)(const void *context, uint64_t n, flr_device_sample *sample);
    const void *context;  /* must outlive the device */
    double force, torque; /* limits of the device that was recorded, N and N m; what is written is
                             ignored */
    int32_t dead_man;     /* its button; -1: none */
} flr_replay_def;

/* From samples in memory: [count], must outlive the device. A source for flr_replay_def, which has
 * to be given the limits. */
typedef struct flr_replay_array {
    const flr_device_sample *samples;
    uint64_t count;
} flr_replay_array;

FLR_API flr_replay_def flr_replay_from_array(const flr_replay_array *array);

/* Its parameters are an flr_replay_def. */
FLR_API extern const flr_device_driver flr_replay_driver;

/* ==== remote ================================================================================= */

/* A device that is fed: a mouse in a page, a host application, another machine.
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
