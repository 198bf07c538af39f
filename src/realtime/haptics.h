/* haptics.h: devices that are served by their own thread, from local models, while a step takes longer than a period.
 *
 * The step leaves a model for each device; the devices' side reads the device, asks the model, keeps the passivity account and
 * writes what the guard lets through, once a period. Neither side waits for the other. */
#ifndef FLR_REALTIME_HAPTICS_H
#define FLR_REALTIME_HAPTICS_H

#include <pthread.h>
#include <stdatomic.h>

#include "feeler/base.h"
#include "feeler/loop.h"

struct flr_loop;

typedef struct flr_haptics {
    flr_latest *models[FLR_LOOP_DEVICES]; /* from the step; see haptics.c */
    flr_latest *inputs[FLR_LOOP_DEVICES]; /* from the devices' side */
    // the devices' side
    flr_passivity passivity[FLR_LOOP_DEVICES];
    _Atomic uint64_t served;    /* periods in which devices were served */
    _Atomic uint64_t stretched; /* of these, by a model that was older than a period */
    // the step's side
    flr_loop_model given[FLR_LOOP_DEVICES];      /* filled in by the step */
    flr_device_sample samples[FLR_LOOP_DEVICES]; /* what the step sees */
    flr_wrench sent[FLR_LOOP_DEVICES];
    bool fresh[FLR_LOOP_DEVICES];
    uint64_t seen[FLR_LOOP_DEVICES];
    // control's
    pthread_t thread;
    bool made;
    atomic_bool go_on;
} flr_haptics;

/* NULL: out of memory. */
flr_haptics *flr_haptics_create(uint32_t devices);
void flr_haptics_destroy(flr_haptics *haptics); /* NULL allowed */

/* The step's side, RT safe: the newest samples, and a model for each device. Not `valid`: forces fade. */
void flr_haptics_read(struct flr_loop *loop, flr_loop_frame *frame);
void flr_haptics_publish(struct flr_loop *loop, int64_t now_ns, bool valid);

/* The devices' side, RT safe: one period. Returns the faults of all guards. */
uint32_t flr_haptics_serve(struct flr_loop *loop, int64_t now_ns);

/* The thread's body: serves until `go_on` is false. */
void *flr_haptics_thread(void *loop);

#endif
