/* verify_recording.h: the path of a part out of a recording. */
#ifndef FLR_VERIFY_RECORDING_H
#define FLR_VERIFY_RECORDING_H

#include "feeler/env.h"
#include "scene/pose_file.h"

typedef struct flr_recorded_path {
    char *part;         /* its name; free() it */
    flr_pose_list list; /* seconds since the recording began; free it with flr_pose_list_free() */
} flr_recorded_path;

/* The path of the part `name`; NULL: of the first part that a hand holds. */
flr_result flr_verify_read_recording(flr_env *env, const char *path, const char *name,
                                     flr_recorded_path *to, flr_error *error);

#endif
