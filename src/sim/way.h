/* way.h: a way out for a part, searched by a worker while the loop runs.
 *
 *     flr_engine_way_def def = flr_default_engine_way_def();
 *     def.part = part;
 *     flr_engine_way_ask(engine, &def, token, &job, &error);
 *     …                                             FLR_ENGINE_EVENT_WAY_PROGRESS now and then, then FLR_ENGINE_EVENT_WAY
 *     const flr_engine_way *way = flr_engine_way_of(engine, token);
 *
 * The search begins where the part is when it is asked for; all others are taken to stay where they are then, but for parts of its
 * rigid group, which come along. It runs at low priority on processors that the loop does not use. flr_engine_cancel() ends it: what
 * was found so far is the answer.
 *
 * Thread: control. */
#ifndef FLR_SIM_WAY_H
#define FLR_SIM_WAY_H

#include "feeler/plan.h"
#include "sim/engine.h"

enum {
    FLR_WAY_MAX_VIA = 512,
    FLR_WAY_MAX_POSES = 16384,
    FLR_WAY_MAX_SECONDS = 3600,
    FLR_WAY_RUNNING = 2 /* searches that may be under way */
};

typedef struct flr_engine_way_def {
    flr_part_id part; /* default none */
    bool to_given;    /* default false: out of all others */
    flr_pose to;      /* T_world_part */
    double clearance; /* metres, 0 … 1; default 0 */
    double seconds;   /* above 0, at most FLR_WAY_MAX_SECONDS; default 60 */
    uint32_t seed;    /* default 1 */
    /* [via_count] T_world_part, at most FLR_WAY_MAX_VIA: poses or a piece of a path that may help; copied. Default none */
    const flr_pose *via;
    size_t via_count;
} flr_engine_way_def;

flr_engine_way_def flr_default_engine_way_def(void);

typedef struct flr_engine_way_blocker {
    flr_part_id part;
    bool sole;      /* without it, the part comes out by a few moves */
    uint64_t stops; /* moves that it stopped */
    flr_vec3 at;    /* metres, world: where it stopped the first of them */
} flr_engine_way_blocker;

typedef struct flr_engine_way {
    flr_part_id part; /* whose poses they are: of a rigid group the one with the lowest index */
    bool found, stopped;
    flr_plan_method method;
    double clearance;
    flr_pose *poses; /* [pose_count] T_world_part, NULL where none was found */
    uint32_t pose_count;
    double lower, upper;    /* metres: the least distance on the way; INFINITY: nothing is near */
    flr_part_id nearest;    /* FLR_NO_PART_ID: none */
    double length, turn;    /* metres, rad */
    double reached, wanted; /* without a way: metres */
    uint64_t moves;
    double seconds;
    flr_engine_way_blocker blockers[FLR_PLAN_MAX_BLOCKERS];
    uint32_t blocker_count;
} flr_engine_way;

/* `*job` gets the number of the job, for flr_engine_cancel(). FLR_BAD_ARGUMENT, FLR_NOT_FOUND, FLR_AGAIN: several are under way. */
flr_result flr_engine_way_ask(flr_engine *engine, const flr_engine_way_def *def, uint32_t token,
                              uint32_t *job, flr_error *error);
/* The answer, until the next flr_engine_service(); NULL: there is none. */
const flr_engine_way *flr_engine_way_of(const flr_engine *engine, uint32_t token);

#endif
