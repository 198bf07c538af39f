/* feeler/plan.h: removal paths: checked exactly, and found.
 *
 *     flr_plan_def def = flr_default_plan_def();
 *     def.moving = &part, def.moving_count = 1;
 *     def.obstacles = others, def.obstacle_count = count, def.clearance = 0.0002;
 *     flr_plan_space_create(&def, &space, &error);
 *     flr_plan_verify(space, poses, pose_count, &verdict);
 *     if (verdict.free) printf("at least %g m apart\n", verdict.lower);
 *
 * A space holds the parts that move, as one rigid body, and the parts that stand. A path is a list of poses
 * of the body: between two of them its origin moves along a straight line and it turns evenly by the shorter way.
 *
 * Clearance. No part that stands comes nearer to the body than the clearance. What is nearer at the first pose
 * of a path is a fit:
 *   apart      it does not come nearer than 99 % of its distance at the first pose
 *   touching   (no farther than `touch`) or overlapping: the deepest sample of either surface does not go
 *              deeper than it is there by more than `overlap`
 * Both rules hold for that pair of parts on the whole path; a verdict lists fits and says until when they are
 * nearer than the clearance. The check is continuous: it holds between the poses as well (feeler/fit.h).
 *
 * Lengths are metres, places in the world's frame.
 *
 * Thread: a space belongs to one thread at a time; the fits may be shared. Not RT safe.
 */
#ifndef FEELER_PLAN_H
#define FEELER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/fit.h"
#include "feeler/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- spaces ---- */

typedef struct flr_plan_part {
    const flr_fit *fit; /* borrowed as long as the space lives; parts of equal shape share one */
    flr_pose
        T; /* of a part that moves: in the frame of the body; of one that stands: in the world */
} flr_plan_part;

typedef struct flr_plan_def {
    const flr_plan_part *moving; /* [moving_count], at least one; copied */
    uint32_t moving_count;
    const flr_plan_part *obstacles; /* [obstacle_count]; copied */
    uint32_t obstacle_count;
    double clearance; /* 0 or more; default 0: parts do not touch */
    double touch; /* 0 or more: as near as this is touching; default -1: 1e-7 of the body's size */
    /* 0 or more: how much deeper parts that touch or overlap at the start may go; default -1: half their depth, and
     * at least 1e-4 of the body's size */
    double overlap;
} flr_plan_def;

FLR_API flr_plan_def flr_default_plan_def(void);

/* ---- what moves and what stands ---- */

/* A part of an assembly, where it is. */
typedef struct flr_plan_member {
    flr_pose T_world_part;
    uint32_t rigid; /* members with the same number, above 0, move as one */
    bool moves;     /* chosen to move; the rest of its rigid group moves with it */
    bool leads;  /* of the chosen ones: the body has the frame of this one; of none: of the first */
    bool passes; /* others pass through it, so it never stands in the way */
} flr_plan_member;

/* How many bodies the chosen members are: those of a rigid group are one. */
FLR_API uint32_t flr_plan_count_bodies(const flr_plan_member *members, uint32_t count);

typedef struct flr_plan_roles {
    uint32_t moving, standing; /* how many members move and stand */
} flr_plan_roles;

/* Lists the members that move as one body, then those that stand. order[i]: index of the member; parts[i].T: its pose as a
 * definition wants it; `fit` stays as it is. The body has the frame of the chosen member that leads, which comes first; then come
 * the other chosen ones and the rest of their rigid groups. Both arrays have `count` elements. */
FLR_API flr_plan_roles flr_plan_sort(const flr_plan_member *members, uint32_t count,
                                     uint32_t *order, flr_plan_part *parts);

typedef struct flr_plan_space flr_plan_space;

/* FLR_BAD_ARGUMENT for lengths that are no lengths or a pose that is not valid, FLR_NO_MEMORY. On success the
 * caller owns `*space`. */
FLR_API flr_result flr_plan_space_create(const flr_plan_def *def, flr_plan_space **space,
                                         flr_error *error);
FLR_API void flr_plan_space_destroy(flr_plan_space *space); /* NULL allowed */

/* From now on, `go_on` is asked now and then while flr_plan_verify() checks a path; false: it stops with FLR_CANCELLED.
 * NULL: it is not asked. */
FLR_API void flr_plan_space_watch(flr_plan_space *space, bool (*go_on)(void *context),
                                  void *context);

/* Is the body out? Its bounding sphere, around the centre of its box, is clear of the box around all parts that
 * stand. */
FLR_API bool flr_plan_is_out(const flr_plan_space *space, flr_pose T_world_body);

/* ---- checking a path ---- */

/* A place on a path where a pair of parts is near. */
typedef struct flr_plan_place {
    uint32_t obstacle, moving; /* indices of the definition; FLR_NONE: none */
    double
        at; /* index of the pose before it and the fraction of the way to the next: 2.5 is between poses 2 and 3 */
    double distance;   /* there; negative: the deepest sample of either part in the other */
    flr_vec3 point[2]; /* on the part that stands and on the one that moves */
    flr_vec3 normal;   /* unit: moved this way, the body comes off */
} flr_plan_place;

/* A pair of parts that is nearer than the clearance at the first pose. */
typedef struct flr_plan_fit {
    uint32_t obstacle, moving;
    double start; /* distance at the first pose; negative: overlap */
    double floor; /* the path is checked against this; negative: a depth */
    double
        until; /* from here on the pair keeps the clearance; the last pose: it never does. As flr_plan_place.at, in
                     steps of 1/16 of a segment */
} flr_plan_fit;

enum { FLR_PLAN_MAX_FITS = 16 };

typedef struct flr_plan_verdict {
    bool free; /* the whole path keeps the clearance */
    /* Of a free path: the least distance of pairs that do not touch at the start lies between `lower`, which is
     * proven, and `upper`, which was measured at `nearest`. INFINITY: there are none */
    double lower, upper;
    flr_plan_place nearest;
    flr_plan_place violation; /* of a path that is not free: the first place where it is not */
    flr_plan_fit fits[FLR_PLAN_MAX_FITS];
    uint32_t fit_count, fit_total; /* stored, found */
    uint64_t work;                 /* units of about 10 ns */
} flr_plan_verdict;

/* Checks a path of one pose or more. FLR_BAD_ARGUMENT for a pose that is not valid, FLR_NO_MEMORY, FLR_CANCELLED. The same
 * arguments give the same verdict but for `work`. */
FLR_API flr_result flr_plan_verify(flr_plan_space *space, const flr_pose *poses, size_t count,
                                   flr_plan_verdict *verdict, flr_error *error);

/* ---- finding a path ---- */

/* How far a search is. */
typedef struct flr_plan_progress {
    double seconds;    /* since it began */
    uint64_t poses;    /* tried so far */
    double reached;    /* metres: how far the centre of the body got by moves that are free */
    flr_pose farthest; /* T_world_body: where that was */
} flr_plan_progress;

/* How much a search tries. */
typedef enum flr_plan_effort {
    FLR_PLAN_THOROUGH, /* everything, until the time is up; without a path, it names the blockers */
    FLR_PLAN_QUICK,    /* straight moves and a few guided ones; no blockers */
    FLR_PLAN_AXES_ONLY /* straight moves along axes and diagonals; no blockers */
} flr_plan_effort;

typedef struct flr_plan_search {
    flr_pose from; /* T_world_body */
    bool to_given; /* default false: out of all parts that stand, as flr_plan_is_out() says */
    flr_pose to;
    double seconds;         /* after which it ends without a path, blockers included; default 60 */
    uint64_t seed;          /* default 1 */
    flr_plan_effort effort; /* default FLR_PLAN_THOROUGH */
    /* default 0: one per processor. The same seed and number of threads find the same path, unless time runs out */
    unsigned threads;
    /* [via_count] T_world_body: poses or a piece of a path that may lead to the goal, as a person thinks. They help the search and
     * do not bind it; they need not be free. Default NULL */
    const flr_pose *via;
    size_t via_count;
    /* called now and then, by one thread at a time; false: stop. A path that was found already is kept. May be NULL */
    bool (*progress)(void *context, const flr_plan_progress *now);
    void *progress_context;
} flr_plan_search;

FLR_API flr_plan_search flr_default_plan_search(void);

/* How a path was found. */
typedef enum flr_plan_method {
    FLR_PLAN_NONE,     /* there is none */
    FLR_PLAN_STRAIGHT, /* one straight move */
    FLR_PLAN_LEGS, /* several moves along axes, or as the contacts allow: straight, turns, screws */
    FLR_PLAN_TREE  /* a random search along the surfaces */
} flr_plan_method;

/* "none", "straight", "legs", "tree". RT safe. */
FLR_API const char *flr_plan_method_name(flr_plan_method method);

/* A part that stands in the way. */
typedef struct flr_plan_blocker {
    uint32_t obstacle;
    bool sole;      /* without it, the body comes out by a few moves */
    uint64_t stops; /* moves that it stopped */
    flr_vec3 at;    /* where it stopped the first of them */
} flr_plan_blocker;

enum { FLR_PLAN_MAX_BLOCKERS = 16 };

typedef struct flr_plan_result {
    flr_plan_method method;
    bool stopped; /* progress() asked for an end */
    flr_pose
        *poses; /* [pose_count]: the path, as flr_plan_verify() takes it; NULL: none was found */
    size_t pose_count;
    flr_plan_verdict verdict; /* of the path */
    double length;            /* metres: how far the centre of the body goes */
    double turn;              /* radians: by how much the body turns, all in all */
    /* without a path: how far from the start the centre of the body got, and how far it had to go at least */
    double reached, wanted;
    flr_plan_blocker blockers
        [FLR_PLAN_MAX_BLOCKERS]; /* [blocker_count], the likeliest first; without a path; what is at a goal that is not free */
    uint32_t blocker_count;
    uint64_t moves; /* tried */
    uint64_t nodes; /* poses reached */
    double seconds;
} flr_plan_result;

/* Looks for a path and checks it with flr_plan_verify(): what is returned is free. FLR_BAD_ARGUMENT for poses that are
 * not valid and for a goal that is not free, FLR_NO_MEMORY. Not to find a path is no failure. On success the caller
 * frees `*result`. */
FLR_API flr_result flr_plan_find(flr_env *env, const flr_plan_def *def,
                                 const flr_plan_search *search, flr_plan_result *result,
                                 flr_error *error);
FLR_API void flr_plan_result_free(flr_plan_result *result);

/* ---- taking an assembly apart ---- */

/* Parts that come out as one, such as a rigid group, are a unit. */
typedef struct flr_plan_sequence_def {
    const flr_plan_part *parts; /* [part_count], T: in the world; borrowed during the call */
    const uint32_t *unit;       /* [part_count]: the unit of each part, below unit_count */
    const bool *fixed;          /* [unit_count]: stays; NULL: none does. The last unit stays, too */
    uint32_t part_count, unit_count;
    uint32_t until;            /* ends when this unit is out; default FLR_NONE: all units */
    double clearance, overlap; /* as in flr_plan_def */
    flr_plan_search search;    /* of each unit; from, to, effort and progress do not matter */
    uint32_t max_together; /* default 3: so many units may come out as one where none does alone */
    /* called before each search with the number of units that are out; false: stop. May be NULL */
    bool (*progress)(void *context, uint32_t out, uint32_t unit);
    void *progress_context;
} flr_plan_sequence_def;

FLR_API flr_plan_sequence_def flr_default_plan_sequence_def(void);

/* One removal. Units of a step leave as one body; the poses are those of the first part of the first unit. */
typedef struct flr_plan_step {
    uint32_t *units; /* [unit_count] */
    uint32_t unit_count;
    uint32_t part; /* the poses are of this part, T_world_part */
    flr_pose *poses;
    size_t pose_count;
    flr_plan_method method;
    flr_plan_verdict verdict; /* obstacle and moving are indices of the definition's parts */
    uint32_t stage; /* steps of the same stage need nothing of each other: any order, or at once */
    uint32_t *
        after; /* [after_count]: steps that have to be done before: the path crosses what they remove */
    uint32_t after_count;
} flr_plan_step;

typedef struct flr_plan_sequence {
    flr_plan_step *steps; /* [step_count], in an order that works */
    uint32_t step_count;
    uint32_t
        *left; /* [left_count]: units that are not fixed and did not come out, but for the last */
    uint32_t left_count;
    /* [left_count]: the unit that blocks each most; FLR_NONE: not known */
    uint32_t *blocker;
    bool stopped; /* progress() asked for an end */
} flr_plan_sequence;

/* Plans. With `until`, only the steps that it needs are kept. FLR_BAD_ARGUMENT for units that are not there,
 * FLR_NO_MEMORY. Not to get everything out is no failure. On success the caller frees `*sequence`. */
FLR_API flr_result flr_plan_sequence_find(flr_env *env, const flr_plan_sequence_def *def,
                                          flr_plan_sequence *sequence, flr_error *error);
FLR_API void flr_plan_sequence_free(flr_plan_sequence *sequence);

#ifdef __cplusplus
}
#endif
#endif
