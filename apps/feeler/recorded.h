/* recorded.h: a recording and the scene that it was made in, for commands that look back. */
#ifndef FLR_RECORDED_H
#define FLR_RECORDED_H

#include "command.h"
#include "feeler/recording.h"
#include "sim/setup.h"

typedef struct flr_recorded {
    const char *path;
    flr_recording *recording;
    flr_setup setup;
    flr_scene *scene;   /* NULL: not wanted, or not found */
    bool scene_changed; /* the scene file says something else than then */
} flr_recorded;

/* Opens a recording and reads its setup. */
flr_result flr_recorded_open(flr_cli *cli, const char *path, flr_recorded *recorded,
                             flr_error *error);
void flr_recorded_close(flr_recorded *recorded);

/* Reads the scene: `given`, or where NULL the one that the recording names. */
flr_result flr_recorded_scene(flr_cli *cli, flr_recorded *recorded, const char *given,
                              flr_error *error);

#endif
