/* links_internal.h: what the links of a world are made of: links.c makes them, links_step.c plans and moves. */
#ifndef FLR_WORLD_LINKS_INTERNAL_H
#define FLR_WORLD_LINKS_INTERNAL_H

#include "dynamics/joined.h"
#include "dynamics/mechanism.h"
#include "world/links.h"
#include "world/world_internal.h"

/* An island as it is while it is planned: its freedoms, and the combinations of them that are the unknowns. */
typedef struct flr_island_now {
    const flr_world *world;
    uint32_t island;
    flr_vec3 origin;
    flr_twist columns[FLR_MECHANISM_FREEDOMS];
    double basis[FLR_MECHANISM_FREEDOMS][FLR_MECHANISM_FREEDOMS];
    uint32_t unknowns;
    bool loops; /* else unknowns are freedoms */
} flr_island_now;

struct flr_links {
    flr_island_now now;
    flr_mechanism *mechanism;
    flr_vec3 *centres; /* [part_count] of mass of their bodies, part's frame */
    flr_step **steps;  /* [step_count]: of the bodies of one island */
    uint32_t step_count;
    flr_step *own; /* the world's, while an island is planned */
    flr_joined *joined;
    flr_step_result *results;                /* [step_count] */
    double (*rates)[FLR_MECHANISM_FREEDOMS]; /* [islands]: of the freedoms, as planned */
    flr_pose *ends;                          /* [part_count]: at the end of the step, as planned */
    bool *told;                              /* [part_count]: the pairs take it for moving */
    flr_joint_position *positions,
        *later; /* [joint_count]: at the beginning of the step, and at an end */
};

/* Where joints were at the end of the last step, in the world's state: [joint_count]. */
flr_joint_position *flr_links_kept(const flr_world *world);

#endif
