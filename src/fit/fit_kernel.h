/* fit_kernel.h: 16 points or 8 boxes at a time, in single precision, in several instruction sets that give the same bits.
 *
 * All tests err on the side of keeping: callers add what rounding may cost to their limits. */
#ifndef FLR_FIT_KERNEL_H
#define FLR_FIT_KERNEL_H

#include "fit/fit_internal.h"

enum { FLR_FIT_SIDES = 5 };

/* 1 / sqrt(1 + s^2) is concave for squared slopes below this, and a little more */
#define FLR_FIT_STEEP2 0.49f

/* Of each face, the points that lie at least a limit above its plane, below it, and beyond each of its three sides. Where
 * all corners of a triangle are in one of these, it is farther than the limit from the face. */
typedef struct flr_fit_masks {
    uint16_t beyond[FLR_FIT_LANES][FLR_FIT_SIDES + 3];
} flr_fit_masks;

/* from one patch's centre and axes to another's */
typedef struct flr_fit_move {
    float turn[3][3], shift[3];
} flr_fit_move;

typedef struct flr_fit_kernel {
    void (*move)(const flr_fit_move *move, const flr_fit_lanes *from, flr_fit_lanes *to);
    /* The least and the largest coordinates. */
    void (*bounds)(const flr_fit_lanes *points, float low[3], float high[3]);
    /* Of points after a move, the same; the fourth of each repeats the third. */
    void (*extents)(const flr_fit_move *move, const flr_fit_lanes *points, float low[4],
                    float high[4]);
    /* Fills the masks of `count` faces, for points moved by `shift`; bit i of the result: of face i no mask has all points.
     * Masks are filled as far as that takes, and empty beyond. */
    uint32_t (*sides)(const flr_fit_plane *planes, const flr_fit_face *faces, uint32_t count,
                      const flr_fit_lanes *points, const float shift[3], float limit,
                      flr_fit_masks *masks);
    /* Of 16 triangles, given as bits of their corners: those that are not wholly in one mask of a face. */
    uint32_t (*corners)(const uint16_t corners[FLR_FIT_LANES],
                        const uint16_t beyond[FLR_FIT_SIDES + 3]);
    /* Along which of its axes is a patch at least `limit` away from all points, moved by `shift`? Bits: above and below
     * along the first axis, the second, the third. One is enough unless `all`. */
    uint32_t (*apart)(const flr_fit_patch *patch, const flr_fit_lanes *points, const float shift[3],
                      float limit, bool all);
    /* Bit i: point i is not farther than `limit` from the patch's own box along any of its axes. */
    uint32_t (*within)(const flr_fit_patch *patch, const flr_fit_lanes *points, float limit);
    /* Squared distances of points to `count` faces, or less, as far as they are below `limit2`: bit i of the result: some are
     * below that of face i, and are in `d2[i]`. `best` gets the least of each point, `at` its face. */
    uint32_t (*near)(const flr_fit_plane *planes, const flr_fit_face *faces, uint32_t count,
                     const flr_fit_lanes *points, const float limit2[FLR_FIT_LANES],
                     float d2[FLR_FIT_LANES][FLR_FIT_LANES], float best[FLR_FIT_LANES],
                     int32_t at[FLR_FIT_LANES]);
    /* After near(): bit i of masks[f]: point i has a face nearer than `limit2` in f, which is not `at`. For the faces in
     * `kept`. */
    void (*nearer)(uint32_t kept, const float d2[FLR_FIT_LANES][FLR_FIT_LANES],
                   const float limit2[FLR_FIT_LANES], const int32_t at[FLR_FIT_LANES],
                   uint16_t masks[FLR_FIT_LANES]);
    /* Bits for i < count <= 16: of `near`, bounds[i] < limit; of the result, also not sure[i] - way >= need. */
    uint32_t (*unsure)(const float *bounds, const float *sure, uint32_t count, float limit,
                       float way, float need, uint32_t *near);
    /* The least height of points, moved by `shift`, over a curve in its axes, less `off` and each divided by sqrt(1 + s^2)
     * where the curve has the slope s: nearly distances. -INFINITY where it is too steep. `side` -1: heights count
     * downwards. */
    float (*heights)(const float axes[3][3], const float curve[5], const flr_fit_lanes *points,
                     const float shift[3], float side, float off);
    /* The least height along a direction. */
    float (*extent)(const float n[3], const flr_fit_lanes *points, const float shift[3]);
    /* The least height over any of `count` planes; `side` as above. */
    float (*over)(const flr_fit_plane *planes, uint32_t count, const flr_fit_lanes *points,
                  const float shift[3], float side);
    /* Bit i: box i overlaps the given one. */
    uint32_t (*boxes)(const flr_fit_boxes *boxes, const float low[3], const float high[3]);
    /* Squared distances of a point to boxes. Bit i: that to box i is below `limit2`. */
    uint32_t (*box_distances)(const flr_fit_boxes *boxes, const float point[3], float limit2,
                              float d2[FLR_FIT_WIDE]);
} flr_fit_kernel;

extern const flr_fit_kernel flr_fit_kernel_scalar, flr_fit_kernel_avx2, flr_fit_kernel_avx512,
    flr_fit_kernel_neon;

/* The fastest of this machine. */
const flr_fit_kernel *flr_fit_choose_kernel(flr_simd simd);

#endif
