/* shell.h: making a shell from scanned hyperchunks. */
#ifndef FLR_VOXEL_SHELL_H
#define FLR_VOXEL_SHELL_H

#include "feeler/shell.h"
#include "feeler/voxelize.h"
#include "voxel/build.h"

enum {
    FLR_SHELL_STEPS = 6144
}; /* per voxel: 16 bits hold the 8 voxels of a chunk and one more on each side */

flr_result flr_shell_make(const flr_build *build, const flr_voxelize_def *def, flr_shell **shell,
                          flr_error *error);

#endif
