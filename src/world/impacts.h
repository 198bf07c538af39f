/* impacts.h: the parts of a world as sphere trees: where their voxels meet, and the impulses of it.
 * Used by the world only. All memory is taken when it is made; the rest is RT safe. */
#ifndef FLR_WORLD_IMPACTS_H
#define FLR_WORLD_IMPACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/dynamics.h"
#include "feeler/spheres.h"
#include "feeler/world.h"

typedef struct flr_impacts flr_impacts;

/* `contacts`: kept for those who want to look. */
flr_result flr_impacts_create(uint32_t parts, uint32_t contacts, unsigned threads,
                              flr_impacts **impacts, flr_error *error);
void flr_impacts_destroy(flr_impacts *impacts); /* NULL allowed */

/* Borrowed as long as it is used; NULL: touches nothing. */
void flr_impacts_set_tree(flr_impacts *impacts, uint32_t part, const flr_sphere_tree *tree);

/* ---- every frame ---- */

/* How a part is; `twist` after what pulls it. One that does not move stands still whatever hits it.
 * `calm`: it has been slow for a while. */
void flr_impacts_set_body(flr_impacts *impacts, uint32_t part, const flr_body *body,
                          flr_twist twist, bool moves, bool calm);

typedef struct flr_impacts_report {
    uint64_t tests;    /* of two spheres */
    uint32_t contacts; /* pairs of voxels */
    uint32_t deep;     /* of these, deeper than a voxel */
    uint32_t coarse;   /* pairs of parts for which budget or room did not suffice */
    double deepest;    /* metres */
} flr_impacts_report;

/* Finds what touches among these pairs of parts and resolves it. `budget`: tests; 0: as many as it takes. */
void flr_impacts_resolve(flr_impacts *impacts, const flr_pair *pairs, uint32_t count,
                         const flr_impulse_params *params, uint64_t budget,
                         flr_impacts_report *report);

/* What came out for a part. */
typedef struct flr_impacts_part {
    flr_twist twist;
    flr_motion shift;  /* besides what the twist does */
    uint32_t contacts; /* pairs of voxels */
    /* metres that any of its points may go in a frame so that no surfaces pass each other unseen:
     * INFINITY where nothing is near */
    double room;
} flr_impacts_part;

flr_impacts_part flr_impacts_get(const flr_impacts *impacts, uint32_t part);
const flr_world_impact *flr_impacts_list(const flr_impacts *impacts, uint32_t *count);

#endif
