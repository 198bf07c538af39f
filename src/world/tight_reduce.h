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

/* Contacts of one body, side by side, world's axes: [capacity] each. Lengths in metres. */
typedef struct flr_tight_points {
    uint32_t count, capacity; /* the latter a multiple of FLR_TIGHT_LANES */
    double *arm[3];           /* from the body's centre of mass */
    double *j[6];             /* arm x n, n: the unit vector n is where it pushes the body */
    double *away;             /* m/s: velocity of the other part there, along n */
    double *depth;            /* below where force begins; below 0: a gap */
    double *limit;            /* how deep it may be at the end of the step */
    double *stiffness;        /* N/m; 0: it pushes only at its limit */
    double *room;   /* that the step leaves before the limit: kept up to date by the planner */
    bool *limited;  /* the planner has asked for its limit already */
    uint32_t *keys; /* of places and directions; for the reduction */
} flr_tight_points;

enum { FLR_TIGHT_LANES = 8 };

/* Memory for `capacity` contacts; false: there is none. Not RT safe. */
bool flr_tight_points_create(flr_tight_points *points, uint32_t capacity);
void flr_tight_points_destroy(flr_tight_points *points);

/* One contact as it is added. */
typedef struct flr_tight_point {
    flr_vec3 arm, normal;
    double away, depth, limit, stiffness, room;
} flr_tight_point;

/* Adds one; there must be room. RT safe, as all that follows. */
static inline void flr_tight_points_add(flr_tight_points *to, const flr_tight_point *p)
{
    const uint32_t i = to->count++;
    const flr_vec3 turn = flr_vec3_cross(p->arm, p->normal);
    to->arm[0][i] = p->arm.x, to->arm[1][i] = p->arm.y, to->arm[2][i] = p->arm.z;
    to->j[0][i] = turn.x, to->j[1][i] = turn.y, to->j[2][i] = turn.z;
    to->j[3][i] = p->normal.x, to->j[4][i] = p->normal.y, to->j[5][i] = p->normal.z;
    to->away[i] = p->away;
    to->depth[i] = p->depth;
    to->limit[i] = p->limit;
    to->stiffness[i] = p->stiffness;
    to->room[i] = p->room;
    to->limited[i] = false;
}

static inline flr_vec3 flr_tight_points_normal(const flr_tight_points *p, uint32_t i)
{
    return flr_vec3_make(p->j[3][i], p->j[4][i], p->j[5][i]);
}

static inline flr_vec3 flr_tight_points_arm(const flr_tight_points *p, uint32_t i)
{
    return flr_vec3_make(p->arm[0][i], p->arm[1][i], p->arm[2][i]);
}

/* How much room a motion of dt leaves each contact before its limit; INFINITY for those that are limited. Returns the
 * least. */
double flr_tight_points_measure(flr_tight_points *points, flr_twist twist, double dt);

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
