/* run_state.h: a run that was interrupted, as a file: where its world, its hand and its loop are, so that it can go on.
 *
 * Thread: control. */
#ifndef FLR_SIM_RUN_STATE_H
#define FLR_SIM_RUN_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/math.h"

typedef struct flr_run_state {
    flr_hash identity;  /* of what the run was made from */
    uint64_t done;      /* frames */
    uint64_t seen;      /* number of the last sample */
    int64_t first_ns;   /* time of the first frame */
    flr_pose T_start;   /* of the part */
    void *world, *loop; /* as flr_world_save() and flr_loop_save() have them */
    size_t world_size, loop_size;
} flr_run_state;

void flr_run_state_free(flr_run_state *state); /* world and loop */

/* The file appears whole or not at all; one that is there is replaced. */
flr_result flr_run_state_write(flr_env *env, const char *path, const flr_run_state *state,
                               flr_error *error);
/* FLR_BAD_INPUT: it is damaged, of another version, or no such file at all. On success the caller frees it. */
flr_result flr_run_state_read(flr_env *env, const char *path, flr_run_state *state,
                              flr_error *error);

#endif
