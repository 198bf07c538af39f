/* tight_rig.h: two parts, a world with the exact engine, and a hand that goes exactly where it is told. */
#ifndef FLR_TEST_TIGHT_RIG_H
#define FLR_TEST_TIGHT_RIG_H

#include "feeler/distance.h"
#include "feeler/fit.h"
#include "feeler/world.h"
#include "models/kit.h"
#include "support/test.h"

enum { FLR_TEST_TIGHT_PARTS = 4 };

typedef struct flr_test_tight {
    flr_mesh *meshes[FLR_TEST_TIGHT_PARTS];
    flr_fit *fits[FLR_TEST_TIGHT_PARTS];
    flr_gauge_part *gauges[FLR_TEST_TIGHT_PARTS];
    flr_world_part parts[FLR_TEST_TIGHT_PARTS];
    uint32_t count;
    flr_world_params params;
    double dt, mass; /* s; kg of what is held: 0: flr_world_felt_mass() */
    double spacing;  /* metres, of samples; 0: the default */
    flr_world *world;
    flr_world_input input; /* of the only hand */
    flr_world_frame frame;
} flr_test_tight;

/* Nothing yet: 1 ms, default parameters with the exact engine. */
flr_test_tight flr_test_tight_begin(void);
void flr_test_tight_end(flr_test_tight *rig);

/* Adds a part; the kit is used up. */
void flr_test_tight_add(flr_test_tight *rig, flr_kit *kit, flr_part_kind kind, flr_pose T);
void flr_test_tight_add_mesh(flr_test_tight *rig, flr_mesh *mesh, flr_part_kind kind, flr_pose T);

/* Makes the world. The hand holds part `held` at its origin (FLR_NO_PART: none). */
void flr_test_tight_make(flr_test_tight *rig, uint32_t held);

/* Steps once, with the hand there. */
void flr_test_tight_step(flr_test_tight *rig, flr_pose T_world_hand);

/* Do the triangles of two parts meet now? Their distance, measured by feeler/distance.h. */
bool flr_test_tight_meet(const flr_test_tight *rig, uint32_t a, uint32_t b);
double flr_test_tight_distance(const flr_test_tight *rig, uint32_t a, uint32_t b);

/* Seconds of this thread's processor time. */
double flr_test_thread_seconds(void);

#endif
