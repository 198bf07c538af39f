/* rerun.h: a recording of the controller run again: does the same come out, to the bit?
 *
 * The scene is loaded as a controller loads it; the world begins in the state that the recording begins with; then, frame by
 * frame, what the hands did is taken from the frames and what was done to the world from the notes (journal.h), and the hash of
 * each frame is compared with that of then. Where parts came, went or got other voxels while it was recorded, it ends: their
 * meshes are not in the file.
 *
 * Thread: control. */
#ifndef FLR_SIM_RERUN_H
#define FLR_SIM_RERUN_H

#include "feeler/cache.h"
#include "feeler/env.h"
#include "feeler/recording.h"
#include "feeler/result.h"
#include "scene/scene.h"
#include "sim/setup.h"

typedef struct flr_rerun_def {
    flr_env *env;
    flr_recording *recording; /* no frame was read yet */
    const char *path;         /* of it, for sentences */
    const flr_setup *setup;   /* read from it */
    const flr_scene *scene;   /* that it was made in, with its path */
    const flr_cache *cache;   /* of voxels; NULL: none */
    /* Parts that have changed since are no reason to refuse: `warning` gets the sentence instead. */
    bool anyway;
    /* What is done, and how many frames of it; false: stop with FLR_CANCELLED. May be NULL. */
    bool (*progress)(void *context, uint64_t done, const char *what);
    void *context;
} flr_rerun_def;

typedef struct flr_rerun_result {
    uint64_t compared; /* frames */
    bool same;
    uint64_t first;     /* the first frame that differs */
    uint64_t then, now; /* its hashes */
    flr_hash hash;      /* of the last frame */
    uint64_t behind;    /* frames that were not run again: … */
    char why[256];      /* … because of this; "": there are none */
    bool complete;      /* the recording was ended properly */
    bool scene_changed;
    char warning[FLR_ERROR_MESSAGE_SIZE]; /* "": none */
} flr_rerun_result;

flr_result flr_rerun(const flr_rerun_def *def, flr_rerun_result *result, flr_error *error);

#endif
