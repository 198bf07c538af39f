/* plan_space.h: a body among parts that stand: distances and motions over all pairs. */
#ifndef FLR_PLAN_PLAN_SPACE_H
#define FLR_PLAN_PLAN_SPACE_H

#include "feeler/plan.h"

/* One part that moves and one that stands. */
typedef struct flr_plan_pair {
    flr_fit_pair *query; /* NULL until the two are near each other */
    double start; /* distance at the first pose, no farther than the clearance; INFINITY: farther */
    double floor; /* what the pair keeps: a distance, or a negative depth */
    bool fitted;  /* touches or overlaps at the first pose: a depth counts */
} flr_plan_pair;

struct flr_plan_space {
    flr_plan_part *moving, *obstacles;
    uint32_t moving_count, obstacle_count;
    flr_box3 *boxes;      /* [obstacle_count], world */
    flr_vec3 *centres;    /* [moving_count] of the boxes, frame of the body */
    double *radii;        /* [moving_count]: of the spheres around these */
    flr_plan_pair *pairs; /* [moving_count][obstacle_count] */
    double clearance, touch, overlap;
    double
        margin; /* metres: what a search keeps beyond the clearance, so that the check has room for rounding */
    flr_box3 box;    /* around all obstacles; empty: there are none */
    flr_vec3 centre; /* of the body's box, its frame */
    double radius;   /* of the sphere around it */
    double size;     /* of the body: the diagonal of its box */
    uint64_t work;
    /* asked during long motions: stop here? NULL: never */
    bool (*give_up)(void *context);
    void *give_up_context;
    bool (*go_on)(void *context); /* see flr_plan_space_watch() */
    void *go_on_context;
};

/* A motion of the body in the world: `centre` (frame of the body) goes straight on, the body turns evenly about it. */
typedef flr_fit_motion flr_plan_motion;

typedef struct flr_plan_stop {
    double free;          /* 0 … 1: up to here the motion keeps all floors */
    flr_plan_place place; /* what stops it there, where free < 1; `at` is that fraction */
} flr_plan_stop;

/* Sets the floors of all pairs by the distances at a pose. FLR_NO_MEMORY. */
flr_result flr_plan_space_begin(flr_plan_space *space, flr_pose T_world_body, flr_error *error);

/* The pair's queries; NULL: no memory. */
flr_fit_pair *flr_plan_query_of(flr_plan_space *space, uint32_t moving, uint32_t obstacle);
flr_pose flr_plan_relative(const flr_plan_space *space, uint32_t moving, uint32_t obstacle,
                           flr_pose T_world_body);

/* Can a pair come nearer than `margin` on a motion? By boxes alone: false is sure. */
bool flr_plan_may_meet(const flr_plan_space *space, const flr_plan_motion *motion, uint32_t moving,
                       uint32_t obstacle, double margin);

/* No point of the body goes farther on a motion than this. */
double flr_plan_travel(const flr_plan_space *space, const flr_plan_motion *motion);

/* How much of a motion keeps the floors? False: no memory. */
bool flr_plan_move(flr_plan_space *space, const flr_plan_motion *motion, flr_plan_stop *stop);

/* The same for one pair, with a floor of its own for one that is not fitted. */
bool flr_plan_move_pair(flr_plan_space *space, const flr_plan_motion *motion, uint32_t moving,
                        uint32_t obstacle, double floor, flr_plan_stop *stop);

/* The signed distance of a pair; `place` may be NULL. INFINITY: farther than `max_distance`, or no memory.
 * It may be too large by the tolerance. */
double flr_plan_distance(flr_plan_space *space, flr_pose T_world_body, uint32_t moving,
                         uint32_t obstacle, double max_distance, double tolerance,
                         flr_plan_place *place);

#endif
