/* tight_reduce.h: a few contacts that act as many do.
 *
 * A part in a tight fit has thousands of points near the other one. What a body feels of them in a step are two sums: the
 * wrench of their pushes and the stiffness with which it grows, six and twenty-one numbers. So a few of the points, spread over
 * places and directions, stand for all: each gets the stiffness of the points around it, and then all of them are
 * weighed anew so that both sums are those of all points, to rounding. */
#ifndef FLR_WORLD_TIGHT_REDUCE_H
#define FLR_WORLD_TIGHT_REDUCE_H

#include "world/tight_points.h"

enum { FLR_TIGHT_SOFT = 96, FLR_TIGHT_HARD = 64 }; /* contacts that are kept, of either kind */

enum { FLR_TIGHT_CELLS = 24 * 8 * 8 * 8 };

/* A place and a direction, and what is there. */
typedef struct flr_tight_cell {
    uint32_t key;
    uint32_t best; /* number of the point that is kept of it */
    double stiffness;
} flr_tight_cell;

/* Working memory, too large for a stack. */
typedef struct flr_tight_bins {
    uint16_t slot[FLR_TIGHT_CELLS]; /* of a key: number + 1 of its cell; all 0 between calls */
    flr_tight_cell cells[FLR_TIGHT_CELLS];
} flr_tight_bins;

/* Those that are kept of the points with stiffness: numbers in `kept`, N/m in `stiffness`, both with room for
 * FLR_TIGHT_SOFT. Returns how many. All of them as they are when they are few enough. */
uint32_t flr_tight_reduce(const flr_tight_points *points, flr_tight_bins *bins, uint32_t *kept,
                          double *stiffness);

/* Of the points with less room than `below`, those with the least, one of each place and direction: no more than
 * FLR_TIGHT_HARD. A step that keeps to these may still bring others beyond their limits. */
uint32_t flr_tight_nearest(const flr_tight_points *points, double below, flr_tight_bins *bins,
                           uint32_t *kept);

#endif
