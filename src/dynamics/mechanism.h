/* mechanism.h: parts that move together: rigid groups and joints.
 *
 * Parts of a rigid group, and parts that fixed joints tie, are one *body*; the part of it with the lowest index is its
 * leader. Bodies that joints connect are an *island*. The joints of an island form a tree, from the world or from one of its
 * bodies that is free, and the few joints left over close loops. All motions of an island are combinations of one column for
 * each freedom of the tree: so joints of the tree cannot come apart, and loops are a few linear equations.
 *
 *     flr_mechanism_measure()    where are the joints, when parts are there?
 *     flr_mechanism_columns()    how does each freedom move the bodies?
 *     flr_mechanism_loops()      which combinations of them do the loops leave?
 *     flr_mechanism_advance()    where are bodies and joints, so much farther? Loops are closed again.
 *
 * Thread: a mechanism is immutable but for its working memory: one thread at a time. All but making and freeing is RT safe. */
#ifndef FLR_DYNAMICS_MECHANISM_H
#define FLR_DYNAMICS_MECHANISM_H

#include "dynamics/mat6.h"
#include "feeler/joint.h"

enum { FLR_MECHANISM_FREEDOMS = 64 /* of an island */ };
#define FLR_MECHANISM_NONE UINT32_MAX

typedef struct flr_mechanism_def {
    uint32_t part_count, joint_count;
    const flr_pose *T_world_part; /* [part_count] at the start */
    const flr_vec3 *centres;      /* [part_count] of mass, part's frame */
    const bool *fixed;            /* [part_count]: it never moves */
    const uint32_t
        *groups; /* [part_count]: parts with the same number are rigid; FLR_MECHANISM_NONE: by
                                     itself. NULL: all are */
    const flr_joint *joints; /* [joint_count]; copied, without names */
} flr_mechanism_def;

/* parts that move as one */
typedef struct flr_mechanism_body {
    uint32_t leader;       /* part */
    uint32_t parent;       /* body; none: the world, or nothing */
    uint32_t joint;        /* to the parent or the world; none: a free body */
    bool reversed;         /* it is side a of that joint */
    uint32_t first, count; /* its own freedoms in its island */
    uint32_t island;
} flr_mechanism_body;

typedef struct flr_mechanism_island {
    uint32_t first_body, body_count; /* parents before children */
    uint32_t freedoms;
    uint32_t first_part, part_count; /* in `members`, rising */
    uint32_t first_loop, loop_count; /* in `loops` */
    double size;                     /* metres: turns lengths into angles */
} flr_mechanism_island;

typedef struct flr_mechanism {
    uint32_t part_count, joint_count, body_count, island_count;
    flr_joint *joints;
    flr_pose *T_side[2]; /* [joint_count]: of each joint in its sides' leaders, or in the world */
    flr_mechanism_body *bodies;
    flr_mechanism_island *islands;
    uint32_t *members, *loops;
    uint32_t *body_of;         /* [part_count]; none: it does not move, or nothing ties it */
    flr_pose *T_leader;        /* [part_count]: T_leader_part */
    uint32_t *island_of_joint; /* [joint_count]; none: of a fixed one */
    bool *fixed;               /* [part_count]: static, or fixed to what is */
    double (*rows)[FLR_MECHANISM_FREEDOMS + 1]; /* of the island with most loops, and right sides */
    uint32_t row_room;
} flr_mechanism;

/* Fails with FLR_BAD_ARGUMENT and a sentence that names the joint: one that ties a part to itself or to its own group, two
 * parts that do not move, a zero axis or pitch, limits that are reversed or leave out the start by more than a turn, too many
 * freedoms. On success the caller owns `*made`. */
flr_result flr_mechanism_create(const flr_mechanism_def *def, flr_mechanism **made,
                                flr_error *error);
void flr_mechanism_destroy(flr_mechanism *mechanism); /* NULL allowed */

/* The part that stands for the body of a part; itself, when nothing ties it. */
uint32_t flr_mechanism_leader(const flr_mechanism *m, uint32_t part);
/* Its island; none: nothing ties it, or it does not move. */
uint32_t flr_mechanism_island_of(const flr_mechanism *m, uint32_t part);
/* Do two parts touch each other, as far as groups and joints are concerned? */
bool flr_mechanism_may_touch(const flr_mechanism *m, uint32_t a, uint32_t b);

/* Where a joint is, when parts are there. A turn is that nearest to `before`, which may be NULL: nearest to 0. */
flr_joint_position flr_mechanism_measure(const flr_mechanism *m, uint32_t joint,
                                         const flr_pose *T_world_part,
                                         const flr_joint_position *before);

/* By how much a joint is off: metres, and radians. */
void flr_mechanism_error(const flr_mechanism *m, uint32_t joint, const flr_pose *T_world_part,
                         double *length, double *angle);

/* One twist for each freedom of an island, about `origin`, world's axes: what it gives to the body that has it and to all that
 * hang on that. */
void flr_mechanism_columns(const flr_mechanism *m, uint32_t island, const flr_pose *T_world_part,
                           const flr_vec3 *centres, flr_vec3 origin, flr_twist *columns);
/* Does a freedom of the island move a body of it? */
bool flr_mechanism_moves(const flr_mechanism *m, uint32_t body, uint32_t freedom);

/* The rate of one component of a joint's motion, side b against side a in the axes of side a, as a combination of the
 * island's freedoms. */
enum { FLR_TURN_X, FLR_TURN_Y, FLR_TURN_Z, FLR_SHIFT_X, FLR_SHIFT_Y, FLR_SHIFT_Z };
void flr_mechanism_rate(const flr_mechanism *m, uint32_t joint, uint32_t component,
                        const flr_pose *T_world_part, const flr_twist *columns, flr_vec3 origin,
                        double *row);

/* What loops leave of an island's freedoms: basis[k][i] is the rate of freedom i in the combination k. Returns how many
 * there are. */
uint32_t flr_mechanism_basis(const flr_mechanism *m, uint32_t island, const flr_pose *T_world_part,
                             const flr_twist *columns, flr_vec3 origin,
                             double (*basis)[FLR_MECHANISM_FREEDOMS]);

/* Moves the parts of an island by so much of each freedom. `positions` [joint_count] says where its joints are and follows.
 * Loops are closed again by freedoms that are not `held` (NULL: none is). Returns by how many metres they are still open. */
double flr_mechanism_advance(const flr_mechanism *m, uint32_t island, const flr_vec3 *centres,
                             const double *change, const bool *held, flr_joint_position *positions,
                             flr_pose *T_world_part);

/* The island of a joint, and the first of its freedoms there: none for one that closes a loop. */
uint32_t flr_mechanism_freedom(const flr_mechanism *m, uint32_t joint, uint32_t *island);

#endif
