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

/* A normal, folded onto a square of two 16-bit numbers; without branches, for loops over many. Zero gives 0. */
static inline uint32_t flr_shell_pack(double x, double y, double z)
{
    const double sum = fabs(x) + fabs(y) + fabs(z), scale = sum > 0 ? sum : 1;
    const double u = sum > 0 ? x / scale : 0, v = sum > 0 ? y / scale : 0;
    /* the lower half is folded over the edges of the square */
    const double over_u = (1 - fabs(v)) * (u < 0 ? -1 : 1),
                 over_v = (1 - fabs(u)) * (v < 0 ? -1 : 1);
    const int to_u = flr_shell_rounded((z < 0 ? over_u : u) * 32767);
    const int to_v = flr_shell_rounded((z < 0 ? over_v : v) * 32767);
    return ((uint32_t)to_u & 0xFFFF) | (uint32_t)to_v << 16;
}

/* shell_spheres.c: around a chunk's points (corner, counts and points are there), and then around the chunks of each
 * hyperchunk and around all. */
void flr_shell_enclose_points(const flr_shell *shell, flr_shell_chunk *chunk);
void flr_shell_enclose_hypers(flr_shell *shell, flr_shell_hyper *hypers);
void flr_shell_enclose_all(const flr_shell_hyper *hypers, uint32_t count, float centre[3],
                           float *radius);

#endif
