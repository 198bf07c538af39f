/* exact.h: the exact engine of a world: samples of parts against the triangles of others.
 *
 * A step of it is a list of stages:
 *     near      which parts are near each other, and every sample of theirs that the step may bring into contact
 *     plan      where each body goes: forces within the clearance, and no sample beyond its limit at the end of the step
 *     check     how far those motions are free, from the triangles alone; what is in the way becomes a limit, and the body
 *               is planned again; what still is not free is not gone
 *     move
 * exact.c makes it and runs the stages, exact_near.c asks, exact_plan.c plans, exact_check.c checks, exact_overlap.c keeps what
 * was in each other at the start, exact_reduce.c makes few contacts of many. All memory is taken when it is made. Used by the
 * world only; everything but creating, destroying and recording is RT safe. */
#ifndef FLR_WORLD_EXACT_H
#define FLR_WORLD_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/world.h"

typedef struct flr_exact flr_exact;

enum { FLR_EXACT_CONTACTS = 1024 }; /* that it may give to one step */

/* what is saved and loaded with the world's state */
typedef struct flr_exact_state {
    uint32_t overlap_count;
    uint32_t unused; /* 0 */
    flr_world_overlap overlaps[FLR_WORLD_OVERLAPS];
    uint8_t fresh[]; /* [part_count]: it was put somewhere, and has not moved since */
} flr_exact_state;

/* `*exact` is NULL when no part has a fit. */
flr_result flr_exact_create(const flr_world_part *parts, uint32_t count, flr_exact **exact,
                            flr_error *error);
void flr_exact_destroy(flr_exact *exact);     /* NULL allowed */
size_t flr_exact_bytes(const flr_exact *exact); /* NULL: 0 */

/* Does this world use it? */
bool flr_exact_is_on(const flr_world *world);

/* From the forces on bodies to where they are at the end of the step. */
void flr_exact_step(flr_world *world, flr_world_frame *frame);

/* How a hand holds a body: limits and stiffness from the device, not from voxels. */
void flr_exact_couple(const flr_exact_params *params, const flr_body *body,
                      const flr_handle *handle, flr_coupling_def *def);

/* ---- what was in each other at the start (exact_overlap.c) ---- */

size_t flr_exact_state_size(uint32_t part_count);
bool flr_exact_state_is_valid(const flr_exact *exact, const void *bytes);

/* Finds all of it. Not RT safe. */
void flr_exact_record(flr_world *world);

/* A part was put somewhere: what it is in there counts as its start. */
void flr_exact_renew(flr_world *world, uint32_t part);

/* Goes on where another world was. */
void flr_exact_adopt(flr_world *world, const flr_world *from, const uint32_t *before);

#endif
