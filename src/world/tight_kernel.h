/* tight_kernel.h: loops over all contacts of a body, 16 at a time. Ranges are whole lanes of flr_tight_points. Used by
 * tight_points.c, tight_spots.c and tight_reduce.c. RT safe. */
#ifndef FLR_WORLD_TIGHT_KERNEL_H
#define FLR_WORLD_TIGHT_KERNEL_H

#include "world/tight_points.h"

/* one number of each of FLR_TIGHT_LANES contacts */
typedef float flr_tight_lanes[FLR_TIGHT_LANES];

/* which numbers make contacts of samples */
typedef struct flr_tight_law {
    float world_a[9]; /* rotation from a to the world, row by row */
    float twist[6];   /* metres: how far b goes over a in a step, about b's centre of mass */
    float onset;      /* metres: force begins so far before surfaces meet */
    float floor;      /* metres: at the end of a step they are no nearer */
} flr_tight_law;

/* Makes contacts of the samples from `first` to `end`, in place. In: `arm` and the normal in the frame of a, the gap in `depth`,
 * the area in `stiffness`. Out: all but `room` and `away`; in `stiffness` the weight in the force law, the area times how deep the
 * step may bring the sample within the onset. Adds up the weights. */
void flr_tight_kernel_place(const flr_tight_points *points, uint32_t first, uint32_t end,
                            const flr_tight_law *law, flr_tight_lanes sums);

/* Fills `room` for a motion, and returns the least. `shift` is the twist times dt. */
float flr_tight_kernel_measure(const flr_tight_points *points, uint32_t end, const float shift[6],
                               float dt);

/* The least of j · twist, or 0. */
float flr_tight_kernel_least(const flr_tight_points *points, uint32_t end, const float twist[6]);

/* Which points are meant: those with stiffness, or those with less room than `below`. */
typedef struct flr_tight_kind {
    bool soft;
    float below;
} flr_tight_kind;

/* A box around the points of a kind; for none of them INFINITY to -INFINITY. */
void flr_tight_kernel_box(const flr_tight_points *points, uint32_t end, flr_tight_kind kind,
                          float low[3], float high[3]);

/* Fills `keys` where there are points of a kind: 24 directions (the face of a cube that they leave through, and which quarter of
 * it), and which of 8 x 8 x 8 cells of a box. Direction, x, y, z: so coarser cells follow from finer ones. */
void flr_tight_kernel_keys(const flr_tight_points *points, uint32_t end, flr_tight_kind kind,
                           const float low[3], const float scale[3]);

enum { FLR_TIGHT_MOMENTS = 27 };

/* The sums over all points of stiffness times the products of J = (size arm x n, n) with itself, and times depth J. */
void flr_tight_kernel_moments(const flr_tight_points *points, uint32_t end, float size, float depth,
                              double sums[FLR_TIGHT_MOMENTS]);

#endif
