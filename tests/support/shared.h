/* shared.h: what tests of shared sessions have in common: networks, and a membership in words. */
#ifndef FLR_TEST_SHARED_H
#define FLR_TEST_SHARED_H

#include "feeler/sim.h"
#include "session/membership.h"
#include "support/test.h"

/* 1 ms, and nothing gets lost */
extern const flr_sim_network flr_test_lan;
/* Delay of 0 to 1 s one way (of every 16th seed 1 s), jitter, loss, packets doubled and overtaken, by chance. */
flr_sim_network flr_test_bad_network(uint64_t seed, flr_test_random *random);

/* Members and parts, in one line without an end. */
void flr_test_print_membership(const flr_membership *membership);

#endif
