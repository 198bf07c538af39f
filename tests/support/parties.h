/* parties.h: a shared session of parties under simulated clocks and network; parts are nothing but poses, and users take them,
 * move them and let go.
 *
 *     flr_test_parties s;
 *     flr_test_parties_begin(&s, 1, &flr_test_lan, 4);      the first leads
 *     flr_test_parties_join(&s);
 *     flr_test_parties_pass(&s, 2);
 *     flr_test_parties_end(&s);
 *
 * While time passes it is checked that no part has two owners of one epoch. */
#ifndef FLR_TEST_PARTIES_H
#define FLR_TEST_PARTIES_H

#include "peer/party.h"
#include "support/shared.h"

enum { FLR_TEST_PARTY_SITES = 5, FLR_TEST_PARTY_PARTS = 4 };
#define FLR_TEST_PARTY_TOKEN "a-token-of-24-characters"

typedef struct flr_test_party {
    struct flr_test_parties *session;
    flr_env *env;
    flr_address address;
    flr_party *party;
    bool up;
    uint64_t due_ns; /* next thing its user does */
    flr_pose parts[FLR_TEST_PARTY_PARTS];
    uint32_t wanted[FLR_TEST_PARTY_PARTS]; /* number of the place to go to; 0: none */
    int64_t settle_ns[FLR_TEST_PARTY_PARTS];
    int64_t in_ns; /* since when it is in; 0: it is not */
    uint32_t refused, lost, news;
    const char *name; /* NULL: none */
    bool loads;       /* its scene is not there yet */
} flr_test_party;

typedef struct flr_test_parties {
    flr_sim *sim;
    flr_test_random random;
    uint32_t count;
    flr_test_party sites[FLR_TEST_PARTY_SITES];
    bool busy; /* users take parts */
    uint64_t seed;
    uint32_t grabs, takeovers;
} flr_test_parties;

/* `count` sites; the first is up and leads. */
void flr_test_parties_begin(flr_test_parties *parties, uint64_t seed,
                            const flr_sim_network *network, uint32_t count);
void flr_test_parties_end(flr_test_parties *parties);

void flr_test_party_start(flr_test_party *party);
/* Asks somebody who is there. */
void flr_test_party_join(flr_test_party *party);
/* Who is not up starts and joins. */
void flr_test_parties_join(flr_test_parties *parties);

double flr_test_parties_now(const flr_test_parties *parties); /* s */
void flr_test_parties_pass(flr_test_parties *parties, double seconds);
/* Users let go of everything, and take nothing more. */
void flr_test_parties_let_go(flr_test_parties *parties);

/* All who are up are in one epoch with one leader, nobody holds anything, and everything is where it is everywhere. */
bool flr_test_parties_agree(flr_test_parties *parties);
/* How many are not away, as it knows. */
uint32_t flr_test_party_members(const flr_test_party *party);

/* Ends the test where a condition does not hold. */
#define parties_check(parties, condition)                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s at %.3f s; again: FLR_PARTY_SEEDS=1 FLR_TEST_SEED=%llu "                  \
                     "build/tests/test_party",                                                     \
                     #condition, flr_test_parties_now(parties),                                    \
                     (unsigned long long)(parties)->seed);                                         \
    } while (0)

#endif
