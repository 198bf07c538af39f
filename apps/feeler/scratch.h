/* scratch.h: a folder for what a controller needs only as long as it runs, where the cache cannot be written. */
#ifndef FLR_APP_SCRATCH_H
#define FLR_APP_SCRATCH_H

#include "feeler/env.h"
#include "feeler/voxel_file.h"

/* FLR_OK: files can be made in this folder, which is made where it is missing; else the sentence says why not. */
flr_result flr_scratch_try(flr_env *env, const char *folder, flr_error *error);

/* Makes a folder of a new name, for its owner alone, in $TMPDIR or /tmp. */
flr_result flr_scratch_make(char folder[FLR_CACHE_PATH_SIZE], flr_error *error);
/* Removes it with all that is in it; "": there is none. */
void flr_scratch_remove(flr_env *env, const char *folder);

#endif
