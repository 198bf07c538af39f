/* tight_points.h: contacts of one body, column by column, and what is worked out of all of them at once.
 *
 * A part in a tight fit has thousands of points near the other one. Each column holds one number of every
 * contact, so that the loops over them run in lanes. Used by the exact engine only. */
#ifndef FLR_WORLD_TIGHT_POINTS_H
#define FLR_WORLD_TIGHT_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "dynamics/mat6.h"
#include "feeler/math.h"

enum { FLR_TIGHT_LANES = 16 };

/* Contacts of one body, world's axes: [capacity] each. Lengths in metres. Single precision: arms serve as levers, and depths
 * are small numbers, so that nothing is off by more than a nanometre. */
typedef struct flr_tight_points {
    uint32_t count, capacity; /* the latter a multiple of FLR_TIGHT_LANES */
    float *arm[3];            /* from the body's centre of mass */
    float *j[6];              /* arm x n, n: the unit vector n is where it pushes the body */
    float *away;              /* m/s: velocity of the other part there, along n */
    float *depth;             /* below where force begins; below 0: a gap */
    float *limit;     /* how deep it may be at the end of the step; INFINITY: no matter how deep */
    float *stiffness; /* N/m; 0: it pushes only at its limit */
    float *room;      /* that the step leaves before the limit: by flr_tight_points_measure() */
    uint32_t *keys;   /* of places and directions; for the reduction */
} flr_tight_points;

/* Memory for `capacity` contacts; false: there is none. Not RT safe. */
bool flr_tight_points_create(flr_tight_points *points, uint32_t capacity);
void flr_tight_points_destroy(flr_tight_points *points);

/* The contacts from `first` on, a multiple of FLR_TIGHT_LANES, in the same memory. RT safe, as all that follows. */
flr_tight_points flr_tight_points_from(const flr_tight_points *points, uint32_t first,
                                       uint32_t count);

/* Makes contacts beyond the last one, up to a whole number of lanes, weigh nothing. Returns how many there are then. */
uint32_t flr_tight_points_pad(const flr_tight_points *points);

static inline flr_vec3 flr_tight_points_normal(const flr_tight_points *p, uint32_t i)
{
    return flr_vec3_make(p->j[3][i], p->j[4][i], p->j[5][i]);
}

static inline flr_vec3 flr_tight_points_arm(const flr_tight_points *p, uint32_t i)
{
    return flr_vec3_make(p->arm[0][i], p->arm[1][i], p->arm[2][i]);
}

/* How much room a motion of dt leaves each contact before its limit. Returns the least. */
double flr_tight_points_measure(flr_tight_points *points, flr_twist twist, double dt);

/* m/s: how fast the other part comes nearer, at most, when the body has that twist relative to it. At least 0. */
double flr_tight_points_closing(const flr_tight_points *points, flr_twist twist);

/* Appends contacts of another list to those of a body: the same ones, or, `reversed`, as they concern the part that they touch.
 * `offset` leads from that part's centre of mass to the one of the list. */
void flr_tight_points_append(flr_tight_points *to, const flr_tight_points *from, bool reversed,
                             flr_vec3 offset);

/* one of two bodies that push each other */
typedef struct flr_tight_yield {
    flr_mat6 mobility; /* how its twist changes with a wrench about its centre of mass */
    flr_twist twist;
} flr_tight_yield;

/* Fills `away` from `first` on: the velocity that both bodies have together when each yields to a push by its share. `offset`
 * leads from the other one's centre of mass to that of the body of the list. */
void flr_tight_points_share(flr_tight_points *points, uint32_t first, const flr_tight_yield *body,
                            const flr_tight_yield *other, flr_vec3 offset);

#endif
