/* replay.h: a recording run again: the same hand, frame by frame, and does the same come out?
 *
 * What the device said in each frame, and what it got, is taken from the recording; everything else happens anew. The
 * hash that each frame had then is compared with that of now.
 *
 * Thread: control. */
#ifndef FLR_SIM_REPLAY_H
#define FLR_SIM_REPLAY_H

#include "feeler/device.h"
#include "feeler/recording.h"
#include "sim/run.h"
#include "sim/setup.h"

/* What a hand did, and what came of it then. */
typedef struct flr_hand_log {
    flr_device_sample *samples; /* [count]: number 0 where the device had nothing new */
    flr_run_sent *sent;         /* [count]: not known where the recording is older than that */
    uint64_t *hashes;           /* [count] */
    uint64_t count;
    bool complete;   /* the recording was ended properly */
    bool gap;        /* frames are missing behind these: the disk was too slow for them */
    uint64_t behind; /* frames of the recording behind the gap, which cannot be replayed */
} flr_hand_log;

/* Reads all of it. On success free it with flr_hand_log_free(). */
flr_result flr_hand_log_read(flr_recording *recording, const char *path, flr_hand_log *motion,
                             flr_error *error);
void flr_hand_log_free(flr_hand_log *motion);

/* What came out. */
typedef struct flr_replay_result {
    flr_run_result run;
    uint64_t compared; /* frames */
    bool same;
    uint64_t first;     /* the first frame that differs */
    uint64_t then, now; /* its hashes */
} flr_replay_result;

/* Runs all frames of `motion` with the stage, which has been made from the recorded setup. Returning
 * false from `progress` (may be NULL) stops early. */
flr_result flr_replay_run(flr_env *env, const flr_setup *setup, flr_stage *stage,
                          const flr_hand_log *motion,
                          bool (*progress)(void *context, uint64_t done), void *context,
                          flr_replay_result *result, flr_error *error);

#endif
