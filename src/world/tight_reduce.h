/* tight_reduce.h: a few contacts that act as many do.
 *
 * A part in a tight fit has thousands of points near the other one. What a body feels of them in a step are two sums: the
 * wrench of their pushes and the stiffness with which it grows, six and twenty-one numbers. So a few of the points, spread over
 * places and directions, stand for all: each gets the stiffness of the points around it, and then all of them are
 * weighed anew so that both sums are those of all points, to rounding. */
#ifndef FLR_WORLD_TIGHT_REDUCE_H
#define FLR_WORLD_TIGHT_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/math.h"

/* One contact of a body. World's axes. */
typedef struct flr_tight_point {
    flr_vec3 arm;       /* metres, from the body's centre of mass */
    flr_vec3 normal;    /* unit: where it pushes the body */
    flr_vec3 other;     /* m/s: velocity of the other part there */
    double other_share; /* as in flr_press */
    double depth;       /* metres below where force begins; below 0: a gap */
    double limit;       /* metres: how deep it may be at the end of the step */
    double stiffness;   /* N/m; 0: it pushes only at its limit */
    double room;  /* metres that the step leaves before the limit: kept up to date by the planner */
    bool limited; /* the planner has asked for its limit already */
} flr_tight_point;

enum { FLR_TIGHT_SOFT = 128, FLR_TIGHT_HARD = 128 }; /* contacts that are kept, of either kind */

/* Working memory, too large for a stack. */
typedef struct flr_tight_bins {
    uint16_t slot[24 * 8 * 8 * 8]; /* of a cell: number + 1 of what is kept of it */
    uint32_t kept[24 * 8 * 8 * 8]; /* number of a point */
} flr_tight_bins;

/* Those that are kept of the points with stiffness: numbers in `kept`, N/m in `stiffness`, both with room for
 * FLR_TIGHT_SOFT. Returns how many. All of them as they are when they are few enough. RT safe. */
uint32_t flr_tight_reduce(const flr_tight_point *points, uint32_t count, flr_tight_bins *bins,
                          uint32_t *kept, double *stiffness);

/* Of the points with less room than `below`, those with the least, one or two of each place and direction: no more than
 * FLR_TIGHT_HARD. A step that keeps to these may still bring others beyond their limits. RT safe. */
uint32_t flr_tight_nearest(const flr_tight_point *points, uint32_t count, double below,
                           flr_tight_bins *bins, uint32_t *kept);

#endif
