/* jobs.h: work off the loop: by workers in queues, with what an engine reports of it. For the files of sim and for layers that
 * give the engine work of their own. */
#ifndef FLR_SIM_JOBS_H
#define FLR_SIM_JOBS_H

#include <stdatomic.h>

#include "sim/engine.h"

typedef struct flr_job flr_job;
struct flr_job {
    flr_engine_job info; /* guarded by the queue's lock; number 0: not shown to anybody */
    bool quick;          /* goes to the worker that does nothing long */
    atomic_bool cancelled;
    bool reported; /* control: progress has been reported since it changed; guarded likewise */
    bool more;     /* set by `work`: after `done` has taken what there is so far, `work` goes on */
    flr_result result;
    flr_error error;
    struct flr_jobs *jobs;
    flr_job *next;
    void (*work)(flr_job *job);                     /* a worker; fills result, error */
    void (*done)(flr_engine *engine, flr_job *job); /* control, then `drop` */
    void (*drop)(flr_job *job);                     /* frees the job and what is in it */
};

typedef struct flr_jobs flr_jobs;

/* Their threads keep off processor `cpu` (-1: use any), which is the loop's. */
flr_result flr_jobs_create(unsigned workers, int cpu, void (*wake)(void *), void *context,
                           flr_jobs **jobs, flr_error *error);
void flr_jobs_destroy(flr_jobs *jobs); /* cancels, waits, drops all; NULL allowed */
void flr_jobs_post(flr_jobs *jobs, flr_job *job);
/* Without workers: does the next one. False: none waits. */
bool flr_jobs_do_one(flr_jobs *jobs);
/* One that has ended, or has more to do and waits for control to see how far it is; NULL: none. */
flr_job *flr_jobs_take_ended(flr_jobs *jobs);
void flr_job_end(flr_job *job); /* fills its info; of one that was taken */
bool flr_jobs_cancel(flr_jobs *jobs, uint32_t number);
uint32_t flr_jobs_count(flr_jobs *jobs);
bool flr_jobs_at(flr_jobs *jobs, uint32_t index, flr_engine_job *info);
/* One whose progress has changed since it was asked for here. False: none. */
bool flr_jobs_changed(flr_jobs *jobs, flr_engine_job *info);
/* From within `work`: how far it is. False: it shall stop. */
bool flr_job_progress(flr_job *job, double fraction, const char *format, ...) FLR_PRINTF(3, 4);

/* ---- for an engine; control ---- */

/* FLR_AGAIN: too many jobs wait. */
flr_result flr_engine_can_post(const flr_engine *engine, flr_error *error);
/* Queues a job. With a name, clients see it and `number`, which may be NULL, is set. `part` may be FLR_NO_PART_ID. */
flr_result flr_engine_post(flr_engine *engine, flr_job *job, uint8_t kind, flr_part_id part,
                           const char *name, uint32_t *number);
/* Reports an event to all clients: `news` is FLR_WIRE_EVENT_NOTE, ...; the part and the hand may be none. */
void flr_engine_news(flr_engine *engine, uint8_t news, flr_part_id part, flr_hand_id hand,
                     const char *format, ...) FLR_PRINTF(5, 6);
/* About no part and no hand: what follows is the format and what goes into it. */
#define FLR_ENGINE_NOTE(engine, ...)                                                               \
    flr_engine_news(engine, FLR_WIRE_EVENT_NOTE, FLR_NO_PART_ID, FLR_NO_HAND_ID, __VA_ARGS__)
#define FLR_ENGINE_WARN(engine, ...)                                                               \
    flr_engine_news(engine, FLR_WIRE_EVENT_WARNING, FLR_NO_PART_ID, FLR_NO_HAND_ID, __VA_ARGS__)
/* FLR_NO_MEMORY with its sentence. */
flr_result flr_engine_no_memory(flr_error *error);

#endif
