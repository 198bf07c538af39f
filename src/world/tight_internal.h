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
    FLR_TIGHT_EXTRA = 8 /* places that a body's motion would have met, besides its samples */
};

/* a sample near another part; world's frame */
typedef struct flr_tight_spot {
    flr_vec3 point, normal; /* unit: moved this way, b comes off a */
    double gap;             /* metres: least distance that is sure, besides what is tolerated */
    double share;           /* of the pair's stiffness; all of them add up to 1 or less */
} flr_tight_spot;

/* what a pair was found to be where its check ended: the next step begins there, and asks the same */
typedef struct flr_tight_ahead {
    uint64_t key; /* of the pair */
    flr_pose T_a_b;
    flr_fit_params asked; /* but for the budget */
    flr_fit_result result;
    uint32_t first; /* of its samples; result.contact_count of them */
} flr_tight_ahead;

/* two parts near each other */
typedef struct flr_tight_near {
    uint32_t a, b; /* parts; b moves */
    flr_fit_pair *fits;
    flr_fit_result result;  /* at the beginning of the step; without its list */
    uint32_t first, count;  /* of its spots */
    double tolerated;       /* metres */
    double lower;           /* metres: the distance is not less, besides what is tolerated */
    uint64_t key;           /* of the broad phase: rises from pair to pair */
    flr_tight_ahead *ahead; /* that its check has left; NULL: none */
    int checked;            /* pass in which the motion was checked last; -1: not yet */
} flr_tight_near;

/* what else keeps a body from going on */
typedef struct flr_tight_block {
    flr_tight_point point;
    uint32_t other;
} flr_tight_block;

typedef struct flr_tight_part {
    const flr_fit *fit;
    uint32_t kind; /* number of the fit among different ones */
    /* of the step */
    double travel;          /* metres: how far any of its points went in the step before */
    bool pairs_with_moving; /* some other that is near moves, too */
    uint32_t block_count;
    flr_tight_block blocks[FLR_TIGHT_EXTRA];
    int newest; /* pass in which its motion was changed last */
    bool again;
} flr_tight_part;

struct flr_tight {
    uint32_t part_count, kind_count;
    flr_tight_part *parts; /* [part_count] */
    flr_fit_pair **pairs;  /* [kind_count x kind_count]: of a and b; NULL: never needed */
    flr_broad *broad;
    uint32_t near_count, near_capacity;
    flr_tight_near *nears;  /* [near_capacity] */
    flr_fit_contact *fresh; /* [FLR_TIGHT_RAW]: of a pair that is asked now */
    flr_fit_contact
        *raw[2];        /* [FLR_TIGHT_SPOTS]: found by checks: of the step before; of this one */
    uint32_t raw_count; /* in the latter */
    flr_tight_ahead *ahead[2]; /* [near_capacity]: from the step before; for the one to come */
    uint32_t ahead_count[2];
    flr_tight_spot *spots; /* [FLR_TIGHT_SPOTS]: of all pairs, one after the other */
    uint32_t spot_count;
    flr_tight_point *points; /* [FLR_TIGHT_SPOTS]: those of one body */
    uint32_t *others;        /* [FLR_TIGHT_SPOTS]: the part that each of them touches */
    uint32_t point_count;
    flr_tight_bins bins;
    flr_world_touch
        pressed[FLR_TIGHT_CONTACTS]; /* contacts that one body's step was given, by number */
    uint64_t budget, spent;          /* units in this step; 0: no limit */
    flr_world_gap *gaps;             /* [near_capacity] */
    flr_world_touch touches[FLR_TIGHT_TOUCHES];
    uint32_t touch_count;
};

/* What is left of the budget; 0: no limit. False: nothing is. */
bool flr_tight_left(const flr_tight *exact, uint64_t *left);

/* How far any point of the part goes at most in the step that is planned, metres. */
double flr_tight_travel(const flr_world *world, uint32_t part);

/* ---- near (tight_near.c) ---- */

/* Finds pairs and their samples. */
void flr_tight_near_update(flr_world *world, flr_world_frame *frame);

/* Measures a pair with its samples where its check ends, for that and for the next step, which begins there. False: there was
 * no time for it. */
bool flr_tight_look_ahead(flr_world *world, flr_tight_near *near, flr_pose T_a_b,
                          flr_fit_result *result, flr_world_frame *frame);

/* Where b is in the frame of a. */
flr_pose flr_tight_between(flr_pose T_world_a, flr_pose T_world_b);

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

/* Parts that moved are where they are by their own motion. */
void flr_tight_settle(flr_world *world);

#endif
