/* feeler/guard.h: the output guard: the only way to a device.
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
#ifndef FEELER_GUARD_H
#define FEELER_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/device.h"
#include "feeler/inertia.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
