/* plan_field.h: how far is a body from the parts that stand? Fast and about right: what a search asks first.
 *
 * The parts that stand become one grid of signed distances in the world's frame, exact at its nodes; the body becomes points
 * on its surface, in a tree of spheres. A query looks the spheres up in the grid. What it says is off by a fraction of a cell:
 * paths found with it are checked exactly afterwards. Does not change after it was built: all workers share it. */
#ifndef FLR_PLAN_PLAN_FIELD_H
#define FLR_PLAN_PLAN_FIELD_H

#include "plan/plan_space.h"

typedef struct flr_plan_sphere {
    float centre[3]; /* frame of the body */
    float radius;
    uint32_t first, count; /* of the points, where it is a leaf; else count is 0 */
    uint32_t right;        /* the second child; the first is the next sphere */
} flr_plan_sphere;

typedef struct flr_plan_field {
    flr_vec3 origin; /* of the grid, world */
    double cell;     /* metres */
    int nodes[3];
    float *distance;          /* [z][y][x] */
    double depth;             /* metres: of the deepest node */
    flr_plan_sphere *spheres; /* [sphere_count] */
    uint32_t sphere_count;
    float *points; /* [point_count][3], frame of the body */
    uint32_t point_count;
} flr_plan_field;

/* Where the body is nearest. */
typedef struct flr_plan_witness {
    double distance; /* metres, negative: inside */
    flr_vec3 point;  /* of the body, world */
    flr_vec3 normal; /* unit: moved this way, the body comes off */
} flr_plan_witness;

/* With no more than `max_nodes` nodes. FLR_NO_MEMORY. On success the caller destroys `*field`. */
flr_result flr_plan_field_create(const flr_plan_space *space, uint32_t max_nodes,
                                 flr_plan_field **field, flr_error *error);
void flr_plan_field_destroy(flr_plan_field *field); /* NULL allowed */

/* The distance at a point, world. */
double flr_plan_field_at(const flr_plan_field *field, flr_vec3 p);

/* The least distance of the body, no more than `most`. Below `enough` the first place found will do. `witness` may be
 * NULL; it is not written where nothing is nearer than `most`. */
double flr_plan_field_query(const flr_plan_field *field, flr_pose T_world_body, double most,
                            double enough, flr_plan_witness *witness);

/* Places of the body that are nearer than `below`, one of each leaf of the tree, no more than `capacity`. */
uint32_t flr_plan_field_places(const flr_plan_field *field, flr_pose T_world_body, double below,
                               flr_plan_witness *places, uint32_t capacity);

#endif
