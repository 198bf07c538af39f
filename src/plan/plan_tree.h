/* plan_tree.h: poses that a body can reach, and the moves between them. Private to src/plan. */
#ifndef FLR_PLAN_PLAN_TREE_H
#define FLR_PLAN_PLAN_TREE_H

#include <pthread.h>
#include <stdatomic.h>

#include "plan/plan_space.h"

/* ---- random numbers: the same on every machine ---- */

typedef struct flr_plan_random {
    uint64_t state;
} flr_plan_random;

uint64_t flr_plan_random_u64(flr_plan_random *random);
double flr_plan_random_unit(flr_plan_random *random); /* 0 … 1 */
flr_vec3 flr_plan_random_normal(flr_plan_random *random);
flr_quat flr_plan_random_turn(flr_plan_random *random);

/* ---- trees ---- */

typedef struct flr_plan_node {
    flr_pose T;      /* T_world_body */
    flr_vec3 middle; /* where the centre of the body is, world */
    flr_vec3 centre; /* of the motion from the parent, frame of the body */
    uint32_t parent; /* FLR_NONE: a root */
    uint32_t depth;
} flr_plan_node;

typedef struct flr_plan_tree {
    flr_plan_node *nodes;
    uint32_t count, capacity;
} flr_plan_tree;

/* Adds a node; FLR_NONE: no memory. */
uint32_t flr_plan_tree_add(flr_plan_tree *tree, const flr_plan_space *space, flr_pose T,
                           uint32_t parent, flr_vec3 centre);
void flr_plan_tree_free(flr_plan_tree *tree);
/* How far apart two poses are: of the centre, and of points at 0.6 of the radius. */
double flr_plan_apart(const flr_plan_space *space, flr_pose a, flr_pose b);
/* The nearest node; its distance is at least `more_than`. FLR_NONE: none. */
uint32_t flr_plan_tree_nearest(const flr_plan_tree *tree, const flr_plan_space *space, flr_pose T,
                               double *distance);

/* ---- searching ---- */

/* Angular and linear velocity of the body, about its centre, world; scaled so that 1 is a travel of about a metre. */
typedef struct flr_plan_twist {
    flr_vec3 turn, move;
} flr_plan_twist;

enum { FLR_PLAN_MAX_TWISTS = 6 };

/* What the contacts near a pose allow. */
typedef struct flr_plan_freedom {
    flr_plan_twist
        slips[FLR_PLAN_MAX_TWISTS]; /* [slip_count]: motions along the surfaces, freest first */
    uint32_t slip_count;
    flr_plan_twist axes
        [6]; /* of all motions: independent of each other, by how little they press on the contacts */
    double presses[6];       /* 0 … 1: how much these do, as a share of the last */
    flr_plan_twist centring; /* brings the body into the middle of its play */
    bool centred;            /* there is such a motion */
    double play;             /* metres: mean distance of the contacts */
    flr_vec3 from_middle;    /* centre of the contacts, from that of the body, world */
    double arm;              /* metres: how far the contacts are from their centre */
} flr_plan_freedom;

enum { FLR_PLAN_MAX_QUEUE = 256 };

/* Poses from which guided moves are tried. */
typedef struct flr_plan_queue {
    uint32_t nodes[FLR_PLAN_MAX_QUEUE], legs[FLR_PLAN_MAX_QUEUE];
    uint32_t count, next;
} flr_plan_queue;

/* What all workers of a search report while they are at it. */
typedef struct flr_plan_live {
    atomic_uint_fast64_t poses; /* tried */
    pthread_mutex_t lock;       /* guards what follows */
    double reached;             /* metres from the start: the centre of the body at `farthest` */
    flr_pose farthest;
} flr_plan_live;

/* One worker's search. */
typedef struct flr_plan_worker {
    flr_plan_live *live; /* NULL: nobody wants to know */
    flr_plan_space *space;
    const flr_plan_search *search;
    flr_plan_tree trees[2]; /* from the start; from the goal, where one is given */
    flr_plan_random random;
    flr_plan_queue queue;
    flr_fit_contact *contacts; /* [FLR_PLAN_CONTACTS] */
    uint64_t *stops;           /* [obstacle_count] */
    flr_vec3 *stop_at;         /* [obstacle_count] */
    uint64_t moves;
    bool no_memory;
    bool found;
    uint32_t end
        [2]; /* where the path ends: in the tree from the start; in that from the goal, or FLR_NONE */
    flr_plan_method method;
    const struct flr_plan_field *field; /* shared; NULL: none yet */
    uint32_t attempts;                  /* of the search with less than the clearance */
    /* asked now and then: is the end near? */
    bool (*give_up)(void *context);
    void *give_up_context;
} flr_plan_worker;

enum { FLR_PLAN_CONTACTS = 4096 };

/* FLR_NO_MEMORY or what flr_plan_space_begin() says. */
flr_result flr_plan_worker_begin(flr_plan_worker *worker, const flr_plan_def *def,
                                 const flr_plan_search *search, uint64_t seed, flr_error *error);
void flr_plan_worker_end(flr_plan_worker *worker);

/* Tries a motion, and counts what stops it. */
flr_plan_stop flr_plan_try(flr_plan_worker *worker, const flr_plan_motion *motion);
/* Counts a pose that was tried. */
void flr_plan_count(flr_plan_worker *worker);
/* Reports a node of the first tree. */
void flr_plan_reach(flr_plan_worker *worker, uint32_t node);
/* Is a node of the first tree out, and where a goal is given, is the straight way there free? Then the search has its end. */
bool flr_plan_arrive(flr_plan_worker *worker, uint32_t node);
/* The motion that takes the body out along a direction. */
flr_plan_motion flr_plan_leave(const flr_plan_space *space, flr_pose T, flr_vec3 direction);
/* Axes and diagonals, unit: 26 of them. */
flr_vec3 flr_plan_direction(uint32_t i);
enum { FLR_PLAN_DIRECTIONS = 26 };

/* From a node towards a pose, at most `max_travel`, sliding along what is in the way; what is shorter than `least` is no
 * move. Returns the last node reached; `*there`: it is that pose. */
uint32_t flr_plan_extend(flr_plan_worker *worker, flr_plan_tree *tree, uint32_t node,
                         flr_pose target, double max_travel, double least, bool *there);

/* The same by any check of a motion. FLR_NONE: no memory. */
typedef flr_plan_stop (*flr_plan_trial)(void *context, const flr_plan_motion *motion);
uint32_t flr_plan_extend_by(const flr_plan_space *space, flr_plan_tree *tree, uint32_t node,
                            flr_pose target, double max_travel, double least, flr_plan_trial trial,
                            void *context, bool *there);

flr_plan_freedom flr_plan_look_around(flr_plan_worker *worker, flr_pose T);
/* The product of two motions, as the contacts see them: of speeds at their centre, and of turns by their arm. */
double flr_plan_alike(const flr_plan_freedom *freedom, flr_plan_twist a, flr_plan_twist b);
/* The motion like `by`, and as fast, that gives way to the contacts. */
flr_plan_twist flr_plan_go_on(const flr_plan_freedom *freedom, flr_plan_twist by);

/* Into the middle of the play, as far as that is free. Returns the node there. */
uint32_t flr_plan_centre(flr_plan_worker *worker, uint32_t node, const flr_plan_freedom *freedom);
/* Follows a motion that slips at a node until it is stopped, and queues what a turn passes. `steers`: it bends as the contacts
 * make it; else it keeps its direction and slides past what is in the way. Returns the last node. */
uint32_t flr_plan_follow_slip(flr_plan_worker *worker, uint32_t legs, uint32_t node,
                              const flr_plan_freedom *freedom, flr_plan_twist by, bool steers);
/* A motion that hardly turns. */
bool flr_plan_slips_straight(const flr_plan_worker *worker, flr_plan_twist by);

/* The pose after a motion of the body about its centre. */
flr_pose flr_plan_displace(const flr_plan_space *space, flr_pose T, flr_plan_twist by);

/* The least motion that moves a point of the body by so much along a normal. */
flr_plan_twist flr_plan_push(const flr_plan_space *space, flr_vec3 point, flr_vec3 normal,
                             flr_vec3 middle, double by);

/* Straight moves along axes from the start. What they reach is queued for guided moves. */
void flr_plan_straight(flr_plan_worker *worker);
/* A node from which guided moves are tried later, unless it is near one that is queued already. */
void flr_plan_enqueue(flr_plan_worker *worker, uint32_t node, uint32_t legs);
/* A node from which guided moves are tried next. */
void flr_plan_queue_first(flr_plan_worker *worker, uint32_t node);
/* All moves from the next pose of the queue: along axes, and what the contacts allow. False: there is none. */
bool flr_plan_guided_next(flr_plan_worker *worker);
/* Both, for up to `max_nodes` poses. */
void flr_plan_guided(flr_plan_worker *worker, uint32_t max_nodes);

/* One attempt with less than the clearance, on the field (plan_relax.c). What it finds is a path in the first tree, checked
 * exactly. */
void flr_plan_relax(flr_plan_worker *worker);

/* Follows poses exactly, sliding where they are too near, from the root of the first tree. Returns the number of the last pose
 * that was reached, and `*node` there (plan_repair.c). */
size_t flr_plan_follow(flr_plan_worker *worker, const flr_pose *poses, size_t count,
                       uint32_t *node);
/* The same; the last pose is the end. */
void flr_plan_repair(flr_plan_worker *worker, const flr_pose *poses, size_t count);
/* Follows the poses of flr_plan_search.via as far as that goes, and tries guided moves from there. */
void flr_plan_follow_via(flr_plan_worker *worker);

/* ---- what was found ---- */

typedef struct flr_plan_legs {
    flr_plan_motion *legs;
    size_t count, capacity;
} flr_plan_legs;

/* The moves from the start to the end of what a worker found. False: no memory. */
bool flr_plan_collect(const flr_plan_worker *worker, flr_plan_legs *legs);
/* Leaves out detours, `tries` times. */
bool flr_plan_shorten(flr_plan_worker *worker, flr_plan_legs *legs, uint32_t tries);
/* As poses between which the origin goes straight on, no farther off than `deviation`. NULL: no memory. */
flr_pose *flr_plan_poses(const flr_plan_legs *legs, double deviation, size_t *count);

#endif
