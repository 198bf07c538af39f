/* loop.h: a loop, as its frames (loop.c) and its threads (thread.c) see it. */
#ifndef FLR_REALTIME_LOOP_H
#define FLR_REALTIME_LOOP_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "feeler/base.h"
#include "feeler/loop.h"
#include "realtime/haptics.h"
#include "realtime/stall.h"
#include "realtime/stats.h"

/* its two threads */
typedef struct flr_loop_threads {
    pthread_t loop, watchdog;
    bool loop_made, watchdog_made;
    atomic_bool running;          /* the loop's is in its frames */
    atomic_bool watch;            /* the watchdog shall go on */
    bool locked;                  /* memory */
    sem_t ready;                  /* the loop's knows its privileges */
    _Atomic uint64_t page_faults; /* of the loop's in its frames, when it has ended */
    int fifo, pinned; /* errno of asking for them; the loop's until ready, then control's */
    flr_loop_privileges_info privileges;
} flr_loop_threads;

/* A device on its way into a place. */
typedef enum flr_exchange { FLR_EXCHANGE_NONE, FLR_EXCHANGE_ASKED, FLR_EXCHANGE_DONE } flr_exchange;

typedef struct flr_loop_newcomer {
    _Atomic(flr_exchange) phase; /* none: control's; asked: the loop's; done: control's */
    flr_device *device;
    flr_guard *guard; /* asked: of the newcomer; done: of the one before */
    uint64_t rounds;  /* of the watchdog when it was done; 0: not looked yet */
} flr_loop_newcomer;

struct flr_loop {
    flr_loop_def def;
    int64_t period_ns;
    _Atomic(flr_guard *) guards[FLR_LOOP_DEVICES]; /* loop's; the watchdog looks, too */
    flr_loop_newcomer newcomers[FLR_LOOP_DEVICES];
    _Atomic uint64_t rounds; /* of the watchdog */
    flr_ring *commands;      /* NULL: takes none */
    void *command;           /* room for one */
    flr_latest *state;       /* NULL: none */
    atomic_bool end, paused;
    uint64_t frames;        /* to be done by its thread; 0: no end */
    const flr_stall *stall; /* control's; NULL: nobody watches it */
    uint64_t stale_most;    /* frames that control may take for a round */

    // the loop's thread, and control while that does not run
    bool faded;              /* no frame has been since the forces were brought to zero */
    bool begun, fresh_start; /* has a grid; may move on along it without having skipped anything */
    bool again;              /* the next frame is the one before, with its samples */
    uint64_t number;         /* of the next frame */
    int64_t next_ns;         /* its time on the grid */
    flr_device_sample samples[FLR_LOOP_DEVICES];
    flr_wrench wrenches[FLR_LOOP_DEVICES];
    flr_wrench sent[FLR_LOOP_DEVICES]; /* by the guards, last */
    bool fresh[FLR_LOOP_DEVICES];      /* gave a new sample in this frame */
    uint64_t beats, stale;             /* of control, and frames since they changed */

    flr_haptics *haptics; /* NULL: devices are served once a frame */
    flr_stats stats;
    flr_loop_threads threads;
};

/* Faults of a guard that count for its device. */
uint32_t flr_loop_faults_of(const flr_device_info *info, uint32_t faults);

/* Frames until `frames` are done (0: no such end) or the end is asked for. */
void flr_loop_frames(flr_loop *loop, uint64_t frames);

flr_result flr_loop_check_device(const flr_loop_def *def, const flr_device *device,
                                 flr_error *error);

/* Is there a newcomer for this place, before which the force has to fade? And after the guard has
 * stepped: when the force is gone, they change places. RT safe. */
bool flr_loop_is_leaving(const flr_loop *loop, uint32_t index);
void flr_loop_let_in(flr_loop *loop, uint32_t index);

#endif
