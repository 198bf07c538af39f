/* tight_internal.h: what the exact engine is made of, for its own files. */
#ifndef FLR_WORLD_TIGHT_INTERNAL_H
#define FLR_WORLD_TIGHT_INTERNAL_H

#include "contact/broad.h"
#include "world/tight_reduce.h"
#include "world/world_internal.h"

#define FLR_TIGHT_FLOOR 1e-6 /* metres: surfaces are kept so far apart at the end of a step */
#define FLR_TIGHT_CLEAR 1e-7 /* metres: … and everywhere on the way there */

enum {
    FLR_TIGHT_RAW = 1 << 14,     /* samples of one pair, at most */
    FLR_TIGHT_SPOTS = 1 << 15,   /* of all pairs together */
    FLR_TIGHT_TOUCHES = 1 << 12, /* reported */
    FLR_TIGHT_DEBT = 16,         /* steps in a row without enough budget that count, at most */
    FLR_TIGHT_NEARER = 4,        /* … of which so many bring the onset nearer instead */
    FLR_TIGHT_COARSEST = 5,      /* 1 % becomes 2 %, 4 %, … 32 % */
    FLR_TIGHT_EXTRA = 8,  /* places that a body's motion would have met, besides its samples */
    FLR_TIGHT_ROUNDS = 4, /* in which a plan asks for limits */
    FLR_TIGHT_LIMITED = FLR_TIGHT_ROUNDS * FLR_TIGHT_HARD
};

enum {
    FLR_TIGHT_LINKED = 64, /* bodies that are planned together, at most */
    /* of their samples, those between two of them twice, and each body's in whole lanes */
    FLR_TIGHT_TOGETHER = 2 * FLR_TIGHT_SPOTS + FLR_TIGHT_LINKED * FLR_TIGHT_LANES
};

/* the normal of a triangle, small, since they are read in no order */
typedef struct flr_tight_normal {
    float x, y, z, unused;
} flr_tight_normal;

/* what is known of a pair where it will be when the next step begins: found at the end of its check, or where it stays */
typedef struct flr_tight_ahead {
    bool known;
    bool recent; /* its samples are in raw[1], with those found in this step; else in raw[0] */
    flr_pose T_a_b;
    double reach, range, tolerance; /* metres: as asked */
    bool
        listed; /* samples were looked for; else the parts are known to be farther apart than `reach` */
    flr_fit_result result;
    uint32_t first; /* of its samples; result.contact_count of them */
} flr_tight_ahead;

/* Memory for queries of two parts with certain fits, lent to one such pair at a time. What that has to remember from
 * step to step is part of the world's state (flr_tight_memory). */
typedef struct flr_tight_slot {
    flr_fit_pair *fits;
    flr_tight_ahead ahead;
    bool stale; /* a state was loaded: `fits` and `ahead` are of another one */
} flr_tight_slot;

/* slots for two kinds of fits: `count` from `first` on */
typedef struct flr_tight_shelf {
    uint32_t first, count;
} flr_tight_shelf;

/* two parts near each other */
typedef struct flr_tight_near {
    uint32_t a, b; /* parts; b moves */
    uint32_t slot;
    flr_fit_result result; /* at the beginning of the step; without its list */
    uint32_t first, count; /* of its samples in `spots` */
    double tolerated;      /* metres */
    double lower;          /* metres: the distance is not less, besides what is tolerated */
    int checked;           /* pass in which the motion was checked last; -1: not yet */
    bool exhausted;        /* the budget did not suffice for it */
    bool
        outside; /* no shell of either part is inside the other: surfaces that do not meet on a free way keep it so */
    uint64_t work; /* that it took in this step, units of the budget */
} flr_tight_near;

/* what else keeps a body from going on */
typedef struct flr_tight_block {
    flr_vec3 point, normal; /* world's frame */
    double depth, limit;    /* metres */
    uint32_t other;
} flr_tight_block;

/* a contact whose limit the planner has asked for, and that limit, metres */
typedef struct flr_tight_limited {
    uint32_t index;
    float limit;
} flr_tight_limited;

typedef struct flr_tight_part {
    const flr_fit *fit;
    const flr_tight_normal *normals; /* of its triangles, part's frame; zero: it has none */
    uint32_t kind;                   /* number of the fit among different ones */
    /* of the step */
    flr_box3 box;    /* as large as it may get; world's frame */
    double travel;   /* metres: how far any of its points went in the step before */
    double margin;   /* metres: … and may go in this one: pairs were found for so much */
    bool unexamined; /* there was no room for all pairs that it is in: it stays */
    uint32_t block_count;
    flr_tight_block blocks[FLR_TIGHT_EXTRA];
    int newest; /* pass in which its motion was changed last */
    bool again;
} flr_tight_part;

/* Two parts that were in each other when the world was made: so deep they may be again, wherever they are put. */
typedef struct flr_tight_design {
    uint32_t a, b;
    double depth; /* metres */
} flr_tight_design;

struct flr_tight {
    uint32_t part_count, kind_count, slot_count;
    flr_tight_part *parts;      /* [part_count] */
    flr_tight_normal **normals; /* [kind_count] */
    flr_tight_shelf *shelves;   /* [kind_count x kind_count]: for a and b; empty: never needed */
    flr_tight_slot *slots;      /* [slot_count] */
    flr_broad *broad;
    uint32_t near_count, near_capacity;
    uint32_t first_near;     /* which of them comes first in this step */
    flr_tight_near *nears;   /* [near_capacity] */
    flr_fit_contact *raw[2]; /* [FLR_TIGHT_SPOTS]: samples found in the step before; in this one */
    uint32_t raw_count;      /* in the latter */
    flr_tight_points spots;  /* samples of all pairs, one after the other, as they concern b */
    flr_tight_points points; /* those of one body: of its only pair, or together */
    flr_tight_points together; /* memory for those of several pairs */
    uint32_t *others;          /* [FLR_TIGHT_TOGETHER]: the part that each of `together` touches */
    const uint32_t *points_others; /* of these, those of `points` */
    uint32_t only; /* the part that all of `points` touch; FLR_NO_PART: see `points_others` */
    flr_tight_limited limited[FLR_TIGHT_LIMITED]; /* points that have a limit in the plan */
    uint32_t limited_count;
    flr_tight_bins bins;
    /* [FLR_TIGHT_CONTACTS] contacts that one body's step was given, by number; of each body that is planned with others */
    flr_world_touch *pressed;
    double onset;           /* metres: where force begins in this step */
    uint64_t budget, spent; /* units in this step; 0: no limit */
    flr_world_gap *gaps;    /* [near_capacity] */
    flr_world_touch touches[FLR_TIGHT_TOUCHES];
    uint32_t touch_count;
    flr_tight_design designs[FLR_WORLD_OVERLAPS];
    uint32_t design_count;
};

/* What is left of the budget for a pair; 0: no limit. False: nothing is. A pair for which it did not suffice gets twice as much
 * in the next step, and so on, so that none stays where it is forever. While the onset can come nearer, that helps more: then the
 * budget grows no further. */
bool flr_tight_left(const flr_world *world, const flr_tight_near *near, uint64_t *left);

/* Counts what a pair took of the budget. */
void flr_tight_spend(flr_world *world, flr_tight_near *near, uint64_t work, flr_world_frame *frame);

/* How far any point of the part goes at most in the step that is planned, metres. */
double flr_tight_travel(const flr_world *world, uint32_t part);

/* ---- memory of pairs (tight_memory.c) ---- */

/* Whether the onset is so large that a lack of time makes it smaller. */
bool flr_tight_onset_is_large(const flr_world *world);

/* metres: where force begins in this step, by what pairs lacked in those before. */
double flr_tight_find_onset(const flr_world *world);

/* Takes slots for all pairs of fits that may meet. Not RT safe. */
flr_result flr_tight_make_slots(flr_tight *exact, const flr_world_part *parts, flr_error *error);
void flr_tight_free_slots(flr_tight *exact);

/* Any slot for queries of two parts, whatever it remembers. */
flr_fit_pair *flr_tight_any_slot(const flr_tight *exact, uint32_t a, uint32_t b);

/* The slot of a pair that is near: its own, or one that was not used for longest. After a state was loaded, its memory is
 * that of the state. */
uint32_t flr_tight_take_slot(flr_world *world, uint32_t a, uint32_t b);

/* After a step: puts what slots remember into the world's state. */
void flr_tight_keep_memory(flr_world *world);

/* Room for samples that are found in this step. */
flr_fit_contact *flr_tight_room(flr_tight *exact, uint32_t *capacity);

/* ---- near (tight_near.c) ---- */

/* Finds pairs and their samples. */
void flr_tight_near_update(flr_world *world, flr_world_frame *frame);

/* What to ask of a pair whose samples may come nearer by `far` metres in the step. */
flr_fit_params flr_tight_ask(const flr_world *world, const flr_tight_near *near, double far);

/* Is a pair so far apart that samples within reach are not expected? Then the least distance is asked for first, which tells
 * that there are none. */
bool flr_tight_is_apart(const flr_world *world, const flr_tight_near *near, double reach);

/* What was found of a pair where it will be when the next step begins, or is now: kept for it, with `contact_count` samples
 * in the room for them. */
void flr_tight_keep_ahead(flr_world *world, const flr_tight_near *near, flr_pose T_a_b,
                          const flr_fit_params *ask, bool listed, const flr_fit_result *found);

/* metres: how far the samples of a pair may come nearer to each other in a step with the twists that are planned. */
double flr_tight_may_come(const flr_world *world, const flr_tight_near *near);

/* The twist of b over a about b's centre of mass, world's axes: as it is, or as it is planned. */
flr_twist flr_tight_relative(const flr_world *world, const flr_tight_near *near, bool planned);

/* Where b is in the frame of a. */
flr_pose flr_tight_between(flr_pose T_world_a, flr_pose T_world_b);

static inline bool flr_tight_same_pose(flr_pose a, flr_pose b)
{
    return a.p.x == b.p.x && a.p.y == b.p.y && a.p.z == b.p.z && a.q.w == b.q.w && a.q.x == b.q.x &&
           a.q.y == b.q.y && a.q.z == b.q.z;
}

/* ---- samples (tight_spots.c) ---- */

/* Makes contacts of what was found of a pair: those of `spots` from near->first on. */
void flr_tight_make_spots(flr_world *world, flr_tight_near *near, flr_pose T_a_b,
                          const flr_fit_contact *list, double reach);

/* ---- plan (tight_plan.c) ---- */

/* Works out where a body goes, and notes what pushes it. */
void flr_tight_plan(flr_world *world, uint32_t part, flr_world_frame *frame);

/* ---- check (tight_check.c) ---- */

void flr_tight_check(flr_world *world, flr_world_frame *frame);

/* ---- overlaps (tight_overlap.c) ---- */

/* metres: how deep two parts may be in each other. */
double flr_tight_tolerated(const flr_world *world, uint32_t a, uint32_t b);

/* What was found of a pair in this step: a new overlap, or one that is gone. Returns what is tolerated. */
double flr_tight_note(flr_world *world, uint32_t a, uint32_t b, const flr_fit_result *result);

/* metres: how deep edges of two parts are in the other one; what is deeper than `most` is not looked for (tight_depth.c). Not RT safe. */
double flr_tight_depth(const flr_fit *a, const flr_fit *b, flr_pose T_a_b, double most);

/* Parts that moved are where they are by their own motion. */
void flr_tight_settle(flr_world *world);

#endif
