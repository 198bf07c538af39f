/* feeler/loop.h: the loop: read the devices, step the world, write the forces, a thousand times a
 * second.
 *
 * You give it devices and a step; it brings time, threads, guards and statistics:
 *
 *     static bool step(void *context, flr_loop_frame *frame)
 *     {
 *         frame->wrenches[0] = my_world_step(context, frame->samples[0].T_base_grip, frame->dt);
 *         return true;
 *     }
 *     ...
 *     flr_loop_def def = flr_default_loop_def();
 *     def.env = flr_env_real();
 *     def.devices[0] = device, def.device_count = 1;
 *     def.step = step, def.context = world;
 *     flr_loop_create(&def, &loop, &error);
 *     flr_loop_start(loop, 0, &error);          // a thread of its own
 *     puts(flr_loop_privileges(loop)->sentence);    // with which privileges
 *     ...
 *     flr_loop_stop(loop);
 *     flr_loop_destroy(loop);
 *
 * Paced, a frame begins every 1/rate seconds on a fixed grid of absolute times. A frame that takes
 * too long does not shift the grid: when the next time is past by less than a period, the next
 * frame follows at once; whole periods that have passed are skipped and counted. Free running,
 * frames follow each other without a pause and their times are those of the grid, as if each had
 * taken exactly a period: for simulated devices only.
 *
 * A step that takes longer than a period may leave a local model (flr_local_model) for each device: with `local`, another thread
 * serves the devices from it at the full rate.
 *
 * Every device has an output guard (feeler/device.h). A second thread watches the first: when frames
 * stop coming, it brings the forces to zero.
 *
 * Control talks to the loop through flr_loop_send() (copied by value, in order), and sees what it
 * does through flr_loop_view() (newest only) and the statistics. Neither side waits for the other.
 *
 * In a frame the loop itself makes one system call, the sleep, and none when free running; it
 * allocates nothing and takes no lock. The step has to keep to that, too.
 *
 * Thread: control, where a function does not say otherwise.
 */
#ifndef FEELER_LOOP_H
#define FEELER_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/device.h"
#include "feeler/dynamics.h"
#include "feeler/env.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLR_LOOP_DEVICES = 8, FLR_LOOP_NOTES = 4 };

/* What a device feels until the next step, for a loop that serves devices locally. `model` is in the world's frame; the device's
 * poses are in its base. */
typedef struct flr_loop_model {
    flr_local_model model;
    flr_passivity_params passivity;
    flr_pose T_base_grip; /* of the device, at the step: filled in by the loop */
    flr_quat world_base;  /* turns what the device says into the world; default none */
    double scale;         /* of its ways, in the world; default 1 */
} flr_loop_model;

/* One frame, as the step sees it. Valid during the step only. */
typedef struct flr_loop_frame {
    uint64_t number;                  /* 0, 1, 2 … */
    int64_t time_ns;                  /* on the grid */
    double dt;                        /* seconds: 1/rate, always */
    uint32_t skipped;                 /* whole periods lost before this frame */
    uint32_t device_count;            /* of the arrays below */
    const flr_device_sample *samples; /* [device_count]: the newest of each; number 0: none yet */
    const flr_wrench *sent; /* [device_count]: what each guard let through in the frame before */
    flr_wrench *wrenches;   /* [device_count], zero: fill in what each device shall do */
    /* [device_count]: fill in, in place of `wrenches`, where devices are served locally; else NULL */
    flr_loop_model *models;
    void *state;                    /* [state_size]: fill in; shown to flr_loop_view() after this
                                         frame. What is there is an old one. NULL: no state */
    uint64_t notes[FLR_LOOP_NOTES]; /* zero: fill in what should be known of the worst frame, such
                                         as points tested */
    /* false: fill in true, and return false, where the frame could not happen yet: free running, it is
     * done again with the same number, time and samples, and no device is written to meanwhile. Paced,
     * time does not wait, and it means nothing */
    bool again;
} flr_loop_frame;

/* Does one frame. False: there was no valid answer this time (data missing): the wrenches are not
 * used, and when it goes on like that the forces fade. Thread: the loop's; RT. */
typedef bool (*flr_loop_step)(void *context, flr_loop_frame *frame);

/* Takes one command, at the beginning of a frame. Thread: the loop's; RT. */
typedef void (*flr_loop_command)(void *context, const void *command);

typedef struct flr_loop_def {
    flr_env *env;                          /* clock and sleep; not NULL */
    double rate;                           /* frames per second, 250 … 10000; default 1000 */
    bool paced;                            /* default true; false: free running */
    flr_device *devices[FLR_LOOP_DEVICES]; /* [device_count]; must outlive the loop */
    uint32_t device_count;                 /* default 0 */
    flr_guard_def guard;                   /* of every device; device and rate are filled in */
    flr_loop_step step;                    /* not NULL */
    flr_loop_command command;              /* NULL: takes none */
    void *context;                         /* of both */
    size_t command_size;                   /* bytes of one command; 0: takes none */
    size_t command_capacity;               /* commands on their way; default 64 */
    size_t state_size;                     /* bytes of the state; default 0: none */
    int priority;                          /* SCHED_FIFO, 1 … 98; default 80; 0: ordinary */
    bool lock_memory;                      /* keep the process in memory; default true */
    int cpu;                               /* processor to stay on; default -1: any */
    /* devices get their forces at `rate` from local models, by a thread of their own, however long a step takes: a step may take
     * several periods. Default false: a device gets a force once a step, and it fades when that takes too long */
    bool local;
    unsigned slow; /* free running: periods that a step is said to take, for trials; default 1 */
    int home; /* where cpu is -1: processor to begin on, left when there is need; default -1: any */
} flr_loop_def;

FLR_API flr_loop_def flr_default_loop_def(void);

typedef struct flr_loop flr_loop;

/* Makes everything a frame needs: guards, buffers, statistics. On success the caller owns `*loop`.
 * Free running with a device of hardware is refused. */
FLR_API flr_result flr_loop_create(const flr_loop_def *def, flr_loop **loop, flr_error *error);

/* Stops it where it runs, brings the forces to zero, frees. NULL allowed. */
FLR_API void flr_loop_destroy(flr_loop *loop);

/* ---- running ---- */

/* Begins in a thread of its own, for `frames` frames (0: until stopped), with the watchdog beside
 * it when paced. Where the system refuses real-time priority or locked memory the loop runs
 * without, and flr_loop_privileges() says so. May be started again after it has stopped: numbers, grid
 * and statistics go on. Not with a simulated env. */
FLR_API flr_result flr_loop_start(flr_loop *loop, uint64_t frames, flr_error *error);

/* Whether its thread still runs. */
FLR_API bool flr_loop_is_running(const flr_loop *loop);

/* Waits until all frames are done. Returns at once where nothing runs. */
FLR_API void flr_loop_wait(flr_loop *loop);

/* Asks it to end after the frame it is in, waits for that, and fades the forces, which takes up to
 * 25 ms. */
FLR_API void flr_loop_stop(flr_loop *loop);

/* Runs `frames` frames (0: until flr_loop_end()) in the calling thread, with its priority: for
 * programs without a person, and for tests on a simulated env, where paced frames move virtual
 * time. Forces are left as they are: run on, or destroy the loop. Not while its thread runs. */
FLR_API void flr_loop_run(flr_loop *loop, uint64_t frames);

/* Asks it to end after this frame; does not wait. Thread: any, also the step; RT safe. */
FLR_API void flr_loop_end(flr_loop *loop);

/* While paused, frames go on but the step is not called, and the forces fade. Thread: any; RT
 * safe. */
FLR_API void flr_loop_pause(flr_loop *loop, bool paused);

/* Does what the watchdog's thread does once: fades the forces where frames have stopped. True while
 * it is in charge of some device. For those who run the loop themselves. Thread: one, any. */
FLR_API bool flr_loop_watch(flr_loop *loop);

/* Puts another device in the place of one, while frames go on: the force of the one before fades,
 * then they change places between two frames; other devices notice nothing. `device` gets a guard
 * now and must outlive the loop or its own exchange. Fails with FLR_AGAIN while an exchange is
 * under way there, and as flr_loop_create() does. */
FLR_API flr_result flr_loop_exchange(flr_loop *loop, uint32_t index, flr_device *device,
                                     flr_error *error);

/* Whether it is still under way. When it is not, the device before has no guard any more and may
 * be closed. */
FLR_API bool flr_loop_exchanging(flr_loop *loop, uint32_t index);

/* What the system granted. */
typedef struct flr_loop_privileges_info {
    bool fifo;          /* real-time priority */
    bool locked;        /* memory */
    bool pinned;        /* to a processor, where one was named */
    char sentence[400]; /* for a person: what is missing, what it means, what to do */
} flr_loop_privileges_info;

/* Of the last start. Never NULL; valid as long as the loop. */
FLR_API const flr_loop_privileges_info *flr_loop_privileges(const flr_loop *loop);

/* ---- talking to it ---- */

/* Sends a command (command_size bytes, copied). False: too many are on their way; the command is
 * dropped and counted. Thread: one. */
FLR_API bool flr_loop_send(flr_loop *loop, const void *command);

/* Copies the newest state out. Returns the number of states published so far, 0: none yet.
 * Thread: one. */
FLR_API uint64_t flr_loop_view(flr_loop *loop, void *state);

/* The same without the copy: valid until the next view or look. NULL: none yet. Thread: the same
 * one. */
FLR_API const void *flr_loop_look(flr_loop *loop);

/* Where it is, as plain bytes: number and time of the next frame, and what devices and guards are
 * about. Good for a loop made from the same definition, with devices opened from the same; of a
 * device that cannot be saved (flr_device_driver.save) nothing is in it. While it does not run. */
FLR_API size_t flr_loop_state_size(const flr_loop *loop);
FLR_API void flr_loop_save(const flr_loop *loop, void *state);
/* Goes on from there. Free running, what follows is the same, to the bit, as if the loop that was saved
 * had gone on. Paced, frames go on from now, devices are where they were, and forces come by the ramp.
 * False, and nothing is changed, when `size` is another one or what is in it cannot be. */
FLR_API bool flr_loop_load(flr_loop *loop, const void *state, size_t size);

/* The guard of a device, for its limits and counts. Thread: any. */
FLR_API const flr_guard *flr_loop_guard(const flr_loop *loop, uint32_t device);

/* The account of a device that is served from local models; NULL: it is not. While the loop does not run. */
FLR_API const flr_passivity *flr_loop_passivity(const flr_loop *loop, uint32_t device);

/* ---- statistics ---- */

/* The frame that took longest from its time on the grid to its end, and what was going on. */
typedef struct flr_loop_worst {
    uint64_t number;                /* of the frame */
    int64_t time_ns;                /* on the grid */
    int64_t late_ns;                /* woke up so late; 0 when free running */
    int64_t read_ns;                /* took for commands and devices */
    int64_t step_ns;                /* … for the step */
    int64_t write_ns;               /* … for guards and publishing */
    uint32_t commands;              /* taken in this frame */
    uint32_t skipped;               /* periods lost before it */
    uint32_t faults;                /* of all guards together */
    int32_t cpu_begin, cpu_end;     /* processor at its begin and end; -1: not known */
    uint64_t notes[FLR_LOOP_NOTES]; /* of the step */
} flr_loop_worst;

typedef struct flr_loop_stats {
    uint64_t frames;       /* done */
    uint64_t overruns;     /* frames that ended after the next one should have begun */
    uint64_t skipped;      /* periods without a frame */
    uint64_t late_input;   /* frames in which some device had nothing new */
    uint64_t failed_steps; /* that returned false */
    uint64_t commands;     /* taken */
    uint64_t dropped;      /* commands that found no room */
    /* frames in which some guard saw a fault; a device without force that has nothing new is none */
    uint64_t faulty;
    flr_percentiles compute; /* ns: from waking up to the end of the frame */
    flr_percentiles wakeup;  /* ns: late, paced frames only */
    flr_loop_worst worst;
    uint64_t served; /* periods in which devices were served from local models; 0: they are not */
    uint64_t stretched; /* of these, by a model that was older than a period */
    /* of the thread of flr_loop_start(), from its first frame to its last; 0 until it has ended */
    uint64_t page_faults;
} flr_loop_stats;

/* All of it, as of some moment during the call. Thread: one. */
FLR_API void flr_loop_get_stats(flr_loop *loop, flr_loop_stats *stats);

/* The histograms themselves, in ns. Thread: any; see feeler/base.h. */
FLR_API const flr_histogram *flr_loop_compute(const flr_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
