/* feeler/recording.h: what happened, frame by frame, in a file.
 *
 * A recording is an MCAP file: one message per frame of the loop on the channel /frame, encoded as
 * protobuf with its description in the file, so that Foxglove and other tools show it; texts that
 * say what was recorded (scene, rate, parameters, part names) as metadata. Numbers are kept to the
 * bit: what was recorded can be run again and compared.
 *
 *     real-time thread   flr_recorder_push()      copies a frame into a ring, never waits
 *     control thread     flr_recorder_service()   every 20 ms or so: ring to file
 *
 * A recorder that is killed leaves a file that can be read up to its last chunk (at most a quarter
 * of a second or 256 KiB before). Frames that did not fit into the ring are counted, not hidden.
 *
 * Thread: see each function.
 */
#ifndef FEELER_RECORDING_H
#define FEELER_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One frame, without its lists. Plain data. */
typedef struct flr_record_frame {
    uint64_t frame;         /* number, from 0 */
    int64_t time_ns;        /* since the start of the recording, by the loop's clock */
    double compute_us;      /* how long the frame took */
    double wakeup_us;       /* how late it began */
    uint64_t points_tested; /* lookups */
    uint32_t contacts, penetrations;
    double lower, upper;     /* metres: bounds of the least distance; INFINITY allowed */
    double energy;           /* joules: kinetic, of all parts, after the frame */
    bool travel_limited;     /* the travel limit shortened the motion */
    bool stopped;            /* something was in the way of a part */
    uint32_t faults;         /* fault bits of the frame */
    uint64_t hash;           /* of the world's state after the frame */
    uint32_t contacts_given; /* entries of the contact list */
    /* where voxels are paged (feeler/pager.h), else zeros: how long this frame had to wait for them, and
     * so far: blocks that came within reach, those of them that were there, bytes read; bytes in memory:
     * of voxels, and of what tells where they are */
    double waited_us;
    uint64_t paged_needed, paged_hits, paged_read, paged_resident, paged_directory;
} flr_record_frame;

/* A handle: what the device said and what it got. */
typedef struct flr_record_hand {
    flr_pose T_world_hand;
    flr_twist twist; /* about the hand's origin, world's axes; zero where has_twist is false */
    bool has_twist;  /* the device measures velocity */
    bool fresh;      /* false: the device had nothing new; the rest is as in the frame before */
    uint32_t buttons;
    uint32_t part;     /* that it holds; UINT32_MAX: none */
    flr_wrench wrench; /* to the device, world's axes, about the hand */
    bool has_sent;     /* the world got what the guard made of the previous frame's wrench */
    flr_wrench sent;   /* that; zero where has_sent is false */
} flr_record_hand;

/* A moving part after the frame. */
typedef struct flr_record_part {
    flr_pose T_world_part;
    flr_twist motion; /* world's axes, about the centre of mass */
} flr_record_part;

typedef struct flr_record_contact {
    flr_vec3 point, normal; /* world; the force on `part` acts along the normal */
    double depth;           /* metres */
    uint32_t part;          /* whose shell it is */
} flr_record_contact;

/* Something that happened between two frames: a part was taken, a parameter changed. What texts and
 * bytes mean is for those who write and read them. */
typedef struct flr_record_note {
    uint64_t frame;      /* it happened before this frame */
    const char *text;    /* a line for people and programs */
    const uint8_t *data; /* [size] more of it; NULL: none */
    size_t size;
} flr_record_note;

/* ---- writing ---- */

typedef struct flr_recorder flr_recorder;

/* How to record. Fill with flr_default_recorder_def(). */
typedef struct flr_recorder_def {
    const char *path;      /* must not exist yet */
    uint32_t hands, parts; /* per frame, at most 64 and 4096 */
    uint32_t contacts;     /* listed per frame at most, up to 1024; default 16 */
    uint32_t
        ring; /* frames that may wait for the disk; 0, the default: 1024 to 8192, as many as fit into 64 MiB */
    const char *const *texts; /* key, value, key, value, …, NULL: kept as they are; NULL: none */
    bool notes;               /* there may be notes, on a channel /note; default false */
} flr_recorder_def;

FLR_API flr_recorder_def flr_default_recorder_def(void);

/* Makes the file. FLR_BAD_ARGUMENT, FLR_NO_MEMORY, and what flr_file_open() says. Not RT safe. */
FLR_API flr_result flr_recorder_create(flr_env *env, const flr_recorder_def *def,
                                       flr_recorder **recorder, flr_error *error);

/* Gives a frame with its `hands`, `parts` and frame->contacts_given contacts (cut to the limit).
 * False: the ring is full and the frame is lost. Thread: the one that runs the loop; RT safe. */
FLR_API bool flr_recorder_push(flr_recorder *recorder, const flr_record_frame *frame,
                               const flr_record_hand *hands, const flr_record_part *parts,
                               const flr_record_contact *contacts);

/* Takes what waits to the file; every quarter of a second (of recorded time) a chunk is written
 * even if it is small. After a failure the recorder takes nothing more. Thread: control. */
FLR_API flr_result flr_recorder_service(flr_recorder *recorder, flr_error *error);

/* Writes a note, where def.notes is true; frames that wait in the ring come behind it. Thread:
 * control. */
FLR_API flr_result flr_recorder_note(flr_recorder *recorder, const flr_record_note *note,
                                     flr_error *error);

/* Frames written, frames lost so far. Thread: control. */
FLR_API uint64_t flr_recorder_written(const flr_recorder *recorder);
FLR_API uint64_t flr_recorder_lost(const flr_recorder *recorder);

/* Writes the rest and the end, closes, frees the recorder whatever the result. The loop pushes no
 * more. Thread: control. */
FLR_API flr_result flr_recorder_finish(flr_recorder *recorder, flr_error *error);
/* Closes the file as it is; NULL allowed. */
FLR_API void flr_recorder_abandon(flr_recorder *recorder);

/* ---- reading ---- */

typedef struct flr_recording flr_recording;

/* A frame as it was read; the lists are valid until the next call. */
typedef struct flr_record_view {
    flr_record_frame frame;
    const flr_record_hand *hands;
    const flr_record_part *parts;
    const flr_record_contact *contacts; /* [frame.contacts_given] */
    uint32_t hand_count, part_count;
} flr_record_view;

/* Thread: any, one at a time per recording. Not RT safe. */
FLR_API flr_result flr_recording_open(flr_env *env, const char *path, flr_recording **recording,
                                      flr_error *error);
FLR_API void flr_recording_close(flr_recording *recording); /* NULL allowed */

/* The next frame. FLR_CLOSED (no message): no more. What is damaged is left out, as if it were not
 * there: see flr_recording_damaged(). */
FLR_API flr_result flr_recording_next(flr_recording *recording, flr_record_view *view,
                                      flr_error *error);

/* Frames before this time are passed over from now on, without reading what is in them: for those who need
 * some of many. */
FLR_API void flr_recording_skip_to(flr_recording *recording, int64_t time_ns);

/* How many frames there are and how long they last, in seconds, as the end of the file says: nothing
 * else is read. False: its writer died, or the end is damaged. */
FLR_API bool flr_recording_length(flr_recording *recording, uint64_t *frames, double *seconds);

/* How long one lasts whose writer died, in seconds: up to where the last whole piece on the disk
 * goes. That is looked for in the last 8 MiB of the file; nothing else is read, so damage before it is not
 * seen. Before the first frame is read. False: there is none. */
FLR_API bool flr_recording_reach(flr_recording *recording, double *seconds);

/* From now on flr_recording_next() tells the notes that it meets, in the order of the file. A note
 * may stand behind its frame. `seen` NULL: they are passed over. */
FLR_API void flr_recording_tell_notes(flr_recording *recording,
                                      void (*seen)(void *context, const flr_record_note *note),
                                      void *context);

/* A text that was given to the recorder; NULL: no such key. Valid as long as the recording. */
FLR_API const char *flr_recording_text(const flr_recording *recording, const char *key);

/* After the last frame: was something left out because the file is damaged? Then `error` (may be
 * NULL) says in one sentence where, and which frames are lost. */
FLR_API bool flr_recording_damaged(const flr_recording *recording, flr_error *error);

/* After the last frame: was the recording ended properly? False: its writer died. */
FLR_API bool flr_recording_complete(const flr_recording *recording);

#ifdef __cplusplus
}
#endif
#endif
