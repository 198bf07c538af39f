/* shell.h: making a shell: what its makers share. */
#ifndef FLR_VOXEL_SHELL_H
#define FLR_VOXEL_SHELL_H

#include "feeler/voxels.h"
#include "voxel/build.h"
#include "voxel/shell_format.h"

/* Steps of a coordinate per voxel: 16 bits hold the 8 voxels of a chunk and one more on each side. */
enum { FLR_SHELL_STEPS = 6144 };

/* shell_make.c: from `count` scanned and filled hyperchunks from `first` on, which are all, or a run of them: then the
 * shell is that of the run, with chunks and points counted from there. The masks of their neighbours must be there, too. */
flr_result flr_shell_make(const flr_build *build, const flr_voxelize_def *def, uint32_t first,
                          uint32_t count, flr_shell **shell, flr_error *error);

/* The header of a shell without counts and places. */
flr_shell_header flr_shell_begin_header(const flr_build *build, const flr_voxelize_def *def);

/* Adds what the points of a scanned hyperchunk take: chunks, and points with those that fill up. */
void flr_shell_measure(const flr_build_hyper *hyper, uint64_t *chunks, uint64_t *points);
flr_result flr_shell_check_count(uint64_t points, flr_error *error); /* FLR_TOO_LARGE */

/* To the nearest whole number; halves away from 0. */
static inline int flr_shell_rounded(double v) { return (int)(v < 0 ? v - 0.5 : v + 0.5); }

/* A coordinate within its chunk, from its place in voxels from the chunk's corner. */
static inline uint16_t flr_shell_quantised(double voxels)
{
    double steps = (voxels + 1) * FLR_SHELL_STEPS;
    return (uint16_t)flr_shell_rounded(steps < 0 ? 0 : steps > 65535 ? 65535 : steps);
}

/* shell_spheres.c: around a chunk's points (corner, counts and points are there), and then around the chunks of each
 * hyperchunk and around all. */
void flr_shell_enclose_points(const flr_shell *shell, flr_shell_chunk *chunk);
void flr_shell_enclose_hypers(flr_shell *shell, flr_shell_hyper *hypers);
void flr_shell_enclose_all(const flr_shell_hyper *hypers, uint32_t count, float centre[3],
                           float *radius);

#endif
