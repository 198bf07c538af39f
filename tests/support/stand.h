/* stand.h: an engine with a few parts: a plate that stays, a block and a ball above it that may be taken. */
#ifndef FLR_TEST_STAND_H
#define FLR_TEST_STAND_H

#include "feeler/sim.h"
#include "sim/engine.h"
#include "support/part_ids.h"
#include "support/test.h"

typedef struct flr_test_stand {
    flr_sim *sim; /* NULL: the real machine */
    flr_env *env;
    flr_engine *engine;
    flr_part_id plate, block,
        ball; /* parts: top of the plate at z = 0; 20 mm, at z = 30 mm, x = 0 and 50 mm */
} flr_test_stand;

/* Simulated: no threads, jobs in flr_engine_service(). Else with two workers and no priority. The parts are there and in
 * the loop. `recordings` NULL: none. */
void flr_test_stand_make(flr_test_stand *stand, bool simulated, const char *recordings);
void flr_test_stand_free(flr_test_stand *stand);

/* A closed box or ball of this size, owned by the caller. */
flr_mesh *flr_test_stand_box(flr_vec3 size);
/* A box of this size becomes a part of any engine. */
flr_part_id flr_test_stand_add(flr_engine *engine, const char *name, flr_vec3 size, flr_vec3 at,
                               flr_part_kind kind, double voxel);

/* Services and runs frames until no job is left and nothing is on its way, then 20 frames more. */
void flr_test_stand_settle(flr_test_stand *stand);
/* Time passes: frames (simulated), or as long with the loop's thread, servicing every 10. */
void flr_test_stand_pass(flr_test_stand *stand, uint64_t frames);
/* Brings a hand there in `frames` frames, step by step. */
void flr_test_stand_move(flr_test_stand *stand, uint32_t hand, flr_vec3 to, uint32_t buttons,
                         uint64_t frames);
/* The part in a state, as it is now. */
flr_engine_part_state flr_test_stand_part(flr_test_stand *stand, flr_part_id part);

#endif
