/* overlap_rows.h: the voxels of a hyperchunk that a triangle touches, as rows of bits.
 *
 * The tests of overlap.h are made for up to 8 voxels at a time. Every variant gives the same bits: they are products and sums of
 * doubles, in the same order, and nothing is fused. */
#ifndef FLR_VOXEL_OVERLAP_ROWS_H
#define FLR_VOXEL_OVERLAP_ROWS_H

#include <stdint.h>

#include "feeler/base.h"
#include "feeler/math.h"

enum { FLR_OVERLAP_ROWS_MAX = 64 * 64 };

/* The rows along x that have voxels, y by y, z by z. 40 KB: scratch of a worker rather than of a stack. */
typedef struct flr_overlap_rows {
    uint32_t count;
    uint16_t at[FLR_OVERLAP_ROWS_MAX];   /* y | z << 6, each 0 … 63 */
    uint64_t bits[FLR_OVERLAP_ROWS_MAX]; /* bit x; never 0 */
} flr_overlap_rows;

/* The voxels of the hyperchunk whose low corner is `base` that the triangle abc touches; coordinates are voxels. Thread: any;
 * RT safe. */
typedef void flr_overlap_find(flr_vec3 a, flr_vec3 b, flr_vec3 c, const int32_t base[3],
                              flr_overlap_rows *rows);

/* The variant for these instructions; FLR_SIMD_BEST: the fastest that this processor has. */
flr_overlap_find *flr_overlap_kernel(flr_simd simd);

#endif
