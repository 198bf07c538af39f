/* tight.h: the exact engine of a world: samples of parts against the triangles of others.
 *
 * A step of it is a list of stages:
 *     near      which parts are near each other, and every sample of theirs that the step may bring into contact
 *     plan      where each body goes: forces within the onset, and no sample beyond its limit at the end of the step
 *     check     how far those motions are free, from the triangles alone; what is in the way becomes a limit, and the body
 *               is planned again; what still is not free is not gone
 *     move
 * tight.c makes it and runs the stages, tight_near.c asks, tight_spots.c makes contacts of samples, tight_plan.c plans,
 * tight_check.c checks, tight_memory.c keeps what pairs remember, tight_overlap.c what was in each other at the start,
 * tight_reduce.c makes few contacts of many. All memory is taken when it is made. Used by the
 * world only; everything but creating, destroying and recording is RT safe. */
#ifndef FLR_WORLD_TIGHT_H
#define FLR_WORLD_TIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/fit.h"
#include "feeler/world.h"

typedef struct flr_tight flr_tight;

enum { FLR_TIGHT_CONTACTS = 1024 }; /* that it may give to one step */

/* what a pair of parts that is near remembers from step to step */
typedef struct flr_tight_memory {
    uint64_t key;        /* a << 32 | b, plus 1; 0: of no pair */
    uint64_t used;       /* number of the step in which it was near last, plus 1 */
    uint64_t known;      /* 1: the pair was measured where it is, as follows; else 0 */
    uint64_t listed;     /* 1: … with its samples; 0: none was within reach */
    uint64_t outside;    /* 1: no shell of either part is inside the other, at `T_a_b`; else 0 */
    flr_pose T_a_b;      /* after the step */
    uint64_t debt;       /* steps in a row for which the budget did not suffice */
    uint64_t coarseness; /* how coarsely the distance is measured for display; 0: finest */
    double reach, range, tolerance; /* metres */
    double distance;                /* metres: as it was measured last; 0: not yet */
    double
        approach; /* metres: how far its samples may come nearer in the next step; 0: not known */
    flr_fit_track track;
} flr_tight_memory;

/* what is saved and loaded with the world's state; after it, aligned, a memory for each slot */
typedef struct flr_tight_state {
    uint32_t overlap_count;
    uint32_t unused; /* 0 */
    flr_world_overlap overlaps[FLR_WORLD_OVERLAPS];
    uint8_t fresh[]; /* [part_count]: it was put somewhere, and has not moved since */
} flr_tight_state;

/* `*exact` is NULL when no part has a fit. `together`: bodies that are planned together, at most. */
flr_result flr_tight_create(const flr_world_part *parts, uint32_t count, uint32_t together,
                            flr_tight **exact, flr_error *error);
void flr_tight_destroy(flr_tight *exact); /* NULL allowed */

/* From the forces on bodies to where they are at the end of the step. */
void flr_tight_step(flr_world *world, flr_world_frame *frame);

/* How a hand holds a body: limits and stiffness from the device, not from voxels. */
void flr_tight_couple(const flr_tight_params *params, const flr_body *body,
                      const flr_handle *handle, flr_coupling_def *def);

/* ---- its part of the world's state ---- */

size_t flr_tight_state_size(const flr_tight *exact);
flr_tight_memory *flr_tight_memories(const flr_world *world, void *state);
bool flr_tight_memories_are_valid(const flr_tight *exact, const uint8_t *bytes);

/* A state was loaded: what is remembered beside it does not count any more. */
void flr_tight_loaded(flr_world *world);

/* ---- what was in each other at the start (tight_overlap.c) ---- */

bool flr_tight_state_is_valid(const flr_tight *exact, const void *bytes);

/* Finds all of it. Not RT safe. */
void flr_tight_record(flr_world *world);

/* A part was put somewhere: what it is in there counts as its start. */
void flr_tight_renew(flr_world *world, uint32_t part);

/* Goes on where another world was. */
void flr_tight_adopt(flr_world *world, const flr_world *from, const uint32_t *before);

#endif
