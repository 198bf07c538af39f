/* pairs_internal.h: what pairs are made of: pairs.c makes them and finds who is near, pairs_query.c queries them. */
#ifndef FLR_CONTACT_PAIRS_INTERNAL_H
#define FLR_CONTACT_PAIRS_INTERNAL_H

#include "contact/broad.h"
#include "contact/chunk_memory.h"
#include "contact/contact_engine.h"
#include "contact/contact_table.h"
#include "contact/point.h"
#include "contact/worker_pool.h"
#include "feeler/pairs.h"

enum {
    NOTED = 4096, /* pairs, the first in the list, for which it is noted what is near */
    REMEMBERED_OF_PART =
        2048,               /* chunks for which it is remembered how far they are: for each part, */
    MIN_REMEMBERED = 16384, /* but not fewer, */
    MAX_REMEMBERED = 131072, /* nor more */
    SHARED_PAIRS = 8 /* from so many on, threads share the pairs; with fewer, the points of each */
};

typedef struct pairs_place {
    flr_pairs_part part;
    double layer; /* metres of one force layer: its voxel; 0: it has no voxels */
    double
        beyond; /* metres: how far its surface and its layers but for the force layer reach beyond its box */
    bool taken, grounded;
    uint32_t generation; /* of what is here: another one after every change of shape */
    /* where it was stood up last, where the pose makes sense */
    flr_vec3 middle; /* of its box, world's frame */
    flr_mat3 turn;   /* its axes in the world's */
    flr_box3 box;    /* around all that matters of it, world's axes; … */
    double extra;    /* metres: with so much added to its own box */
} pairs_place;

/* where the memory of a pair is, and of which two shapes */
typedef struct pairs_slot {
    uint32_t slot, shell, voxmap; /* FLR_NO_MEMORY_SLOT; generations */
    uint32_t clear;               /* index in `clears` */
} pairs_slot;

/* A pair that a query found clear: nothing is in the layers that matter until the two have moved so far from where they were. */
typedef struct pairs_clear {
    double room; /* metres; 0 or less: it is not clear, and the following stands for nothing */
    double lower, upper;                    /* metres: of the distance then */
    flr_pose T_world_shell, T_world_voxmap; /* then */
    uint32_t shell, voxmap;                 /* generations */
    uint32_t asked;                         /* number of the parameters */
    bool far;
} pairs_clear;

/* one of several threads that share the pairs */
typedef struct pairs_worker {
    flr_contact_pair *query_context;
    flr_contact *contacts; /* [def.contacts], of the pairs that it took */
    uint32_t contact_count, chunks_used;
} pairs_worker;

/* temporal coherence of two parts */
typedef struct pairs_coherent {
    flr_pair pair;
    const flr_shell *shell;
    const flr_contact_table *table;
    flr_coherent *engine;
} pairs_coherent;

struct flr_pairs {
    flr_pairs_def def;
    flr_broad *broad;
    bool (*may_touch)(const void *context, uint32_t a, uint32_t b); /* NULL: all may */
    const void *filter_context;
    pairs_place *places;      /* [def.parts + 1]: the last one is the merged static scene */
    flr_pair *lists[2];       /* [def.pairs]: of the last update and of the one before */
    pairs_slot *slots[2];     /* [def.pairs]: the same, what is remembered of them */
    int current;              /* which of them is the last */
    uint32_t count;           /* in it */
    flr_pair_result *results; /* [def.pairs] */
    uint32_t answered;        /* in results */
    /* [2 def.pairs]: of them, where something touches or is near: of part 0, then of part 1, … of the merged static scene */
    uint32_t *touching;
    uint32_t *touching_first; /* [def.parts + 2]: where those of a part begin */
    flr_part_total *totals;   /* [def.parts + 1] */
    flr_contact_pair *query_context;
    flr_chunk_memories *memories;
    pairs_clear *clears; /* [def.pairs + 1]: of pairs in the list, in no order */
    uint32_t *unused_clears, unused_clear_count; /* [def.pairs + 1]: those of no pair */
    uint32_t asked;                              /* counts changes of def.params */
    uint32_t generation;                         /* the newest of a place */
    pairs_worker *workers; /* [def.threads]; NULL where there is one thread, as the following */
    uint8_t *worker_of;    /* [def.pairs]: the one that took a pair */
    flr_worker_pool *pool;
    const flr_twist *motion; /* during a query */
    /* during checks of motions that threads share; NULL: at other times */
    const flr_pair_motion *checks;
    const flr_motion_check_params *check_params;
    flr_motion_check_result *checked;
    flr_pair
        checked_last; /* by the one thread: it remembers what was near on the way of this pair */
    flr_near_notes *
        notes; /* [NOTED + 1 + threads]: what the query of a pair found near, for the checks of its motion; from NOTED on, of
                 * pairs farther behind: nothing */
    flr_contact *contacts; /* [def.contacts] */
    uint32_t contact_count;
    pairs_coherent *coherent; /* [coherent_count], by flr_pair_key(); NULL: none */
    uint32_t coherent_count;
    uint32_t unfelt;
    bool changed;                  /* parts came, went, began or ceased to move */
    uint32_t *movers, mover_count; /* [def.parts]: those that move */
    bool *fallen;                  /* [def.parts + 1]: is to be stood up anew */
    bool some_fallen;
    /* Boxes of parts that do not move stand for several updates: in the broad phase they have force layers and metres as here,
     * of which an update needs the same and no more. Who is in the list then shows when they are compared exactly. */
    double layers, granted;
};

static const flr_part_total flr_no_part_total = {.lower = INFINITY, .upper = INFINITY};

static inline pairs_place *place_of(const flr_pairs *pairs, uint32_t index)
{
    return &pairs->places[index == FLR_PAIRS_MERGED ? pairs->def.parts : index];
}

/* Where a pair is in the order of the broad phase, whoever gives the points. */
static inline uint64_t flr_pair_key(flr_pair pair)
{
    uint32_t s = pair.shell, v = pair.voxmap; /* the merged static scene's number is the largest */
    return s > v ? (uint64_t)s << 32 | v : (uint64_t)v << 32 | s;
}

/* Who gives the shell? `low` and `high` are places, the last of which is the merged static scene. */
flr_pair flr_pairs_roles(const flr_pairs *pairs, uint32_t low, uint32_t high);

/* ---- pairs_clear.c ---- */

/* Is it known that a query of the pair with this index would find nothing in the layers that matter? Then this is its result. */
bool flr_pairs_is_clear(const flr_pairs *pairs, uint32_t index, const flr_contact_params *params,
                        flr_contact_result *result);
/* Keeps what a query found: the two may move so many voxels. */
void flr_pairs_note_clear(flr_pairs *pairs, uint32_t index, double room,
                          const flr_contact_result *result);
/* Is it certain that a check of this motion finds the way free, and spends nothing? `travel`: metres that no point exceeds. */
bool flr_pairs_passes(const flr_near_notes *notes, const pairs_place *a, const pairs_place *b,
                      flr_pose T_world_shell, flr_pose T_world_voxmap,
                      const flr_motion_check_params *params, double *travel);

/* ---- pairs_coherent.c ---- */

/* The engine of a pair as it is now; NULL: it has none. */
flr_coherent *flr_pairs_coherent_of(const flr_pairs *pairs, flr_pair pair);
void flr_pairs_free_coherent(flr_pairs *pairs);

/* The last answers and totals stand for nothing any more. */
void flr_pairs_forget_answers(flr_pairs *pairs);

/* One of several threads queries a pair. */
void flr_pairs_work(void *context, uint32_t item, unsigned worker);

#endif
