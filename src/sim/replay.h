/* replay.h: a recording run again: the same hands, frame by frame, and does the same come out?
 *
 *     flr_hand_log_read(recording, path, &log, &error);
 *     flr_replay_stage(env, &setup, recording, scene, &log, &like, &stage, &error);
 *     flr_replay_run(env, &setup, stage, &log, progress, context, &result, &error);
 *
 * What the devices said in each frame, and what they got, is taken from the recording; everything else happens anew. The hash
 * that each frame had then is compared with that of now. A recording of `feeler run` goes through the loop and the output guard
 * again. One that a controller made begins with the state of its world, and what was done to it between frames is in its notes
 * (journal.h); where parts came, went or got other voxels meanwhile it ends, since their meshes are not in the file.
 *
 * Thread: control. */
#ifndef FLR_SIM_REPLAY_H
#define FLR_SIM_REPLAY_H

#include "feeler/recording.h"
#include "sim/run.h"
#include "sim/setup.h"

/* What hands did, and what came of it then. */
typedef struct flr_hand_log {
    const char *path; /* of the recording, for sentences; borrowed */
    uint32_t hands;   /* 1 of a run */
    flr_world_input
        *inputs; /* [count][hands]: has_sent is false where the recording is older than that */
    uint32_t *buttons; /* [count], of hand 0 */
    uint64_t *hashes;  /* [count] */
    uint64_t count;
    flr_record_note *notes; /* [note_count]: of a controller; texts and data are the log's */
    size_t note_count;
    bool complete;   /* the recording was ended properly */
    bool gap;        /* frames are missing behind these: the disk was too slow for them */
    uint64_t behind; /* frames of the recording behind the gap, which cannot be replayed */
} flr_hand_log;

/* Reads all of it. On success free it with flr_hand_log_free(). */
flr_result flr_hand_log_read(flr_recording *recording, const char *path, flr_hand_log *log,
                             flr_error *error);
void flr_hand_log_free(flr_hand_log *log);

/* The world as it was when the recording began. `setup` was read from it; `like` as in flr_setup_stage(). */
flr_result flr_replay_stage(flr_env *env, const flr_setup *setup, const flr_recording *recording,
                            const flr_scene *scene, const flr_hand_log *log,
                            const flr_stage_def *like, flr_stage **stage, flr_error *error);

/* What came out. */
typedef struct flr_replay_result {
    flr_run_result run; /* of a controller's recording: the hash alone */
    uint64_t compared;  /* frames */
    bool same;
    uint64_t first;     /* the first frame that differs */
    uint64_t then, now; /* its hashes */
    uint64_t behind;    /* frames that were not run again, … */
    char why[256];      /* … of a controller's recording because of this; "": there are none */
} flr_replay_result;

/* Runs all frames. Returning false from `progress` (may be NULL) stops early: a controller's recording with FLR_CANCELLED. */
flr_result flr_replay_run(flr_env *env, const flr_setup *setup, flr_stage *stage,
                          const flr_hand_log *log, bool (*progress)(void *context, uint64_t done),
                          void *context, flr_replay_result *result, flr_error *error);

#endif
