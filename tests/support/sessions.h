/* sessions.h: a shared session of sessions under simulated clocks and network; parts are nothing but poses, and users take them,
 * move them and let go.
 *
 *     flr_test_sessions s;
 *     flr_test_sessions_begin(&s, 1, &flr_test_lan, 4);      the first leads
 *     flr_test_sessions_join(&s);
 *     flr_test_sessions_pass(&s, 2);
 *     flr_test_sessions_end(&s);
 *
 * While time passes it is checked that no part has two owners of one epoch. */
#ifndef FLR_TEST_SESSIONS_H
#define FLR_TEST_SESSIONS_H

#include "session/session.h"
#include "support/shared.h"

/* SITES: as many as sessions by chance have; some have more */
enum { FLR_TEST_SESSION_SITES = 5, FLR_TEST_SESSION_CAPACITY = 36, FLR_TEST_SESSION_PARTS = 4 };
#define FLR_TEST_SESSION_TOKEN "a-token-of-24-characters"

typedef struct flr_test_session {
    struct flr_test_sessions *network;
    flr_env *env;
    flr_address address;
    flr_session *session;
    bool up;
    uint64_t due_ns; /* next thing its user does */
    flr_pose parts[FLR_TEST_SESSION_PARTS];
    uint32_t wanted[FLR_TEST_SESSION_PARTS]; /* number of the place to go to; 0: none */
    int64_t settle_ns[FLR_TEST_SESSION_PARTS];
    int64_t in_ns; /* since when it is in; 0: it is not */
    uint32_t refused, lost, news;
    const char *name; /* NULL: none */
    bool loads;       /* its scene is not there yet */
} flr_test_session;

typedef struct flr_test_sessions {
    flr_sim *sim;
    flr_test_random random;
    uint32_t count;
    flr_test_session sites[FLR_TEST_SESSION_CAPACITY];
    bool busy; /* users take parts */
    uint64_t seed;
    uint32_t grabs, takeovers;
} flr_test_sessions;

/* `count` sites; the first is up and leads. */
void flr_test_sessions_begin(flr_test_sessions *sessions, uint64_t seed,
                             const flr_sim_network *network, uint32_t count);
void flr_test_sessions_end(flr_test_sessions *sessions);

void flr_test_session_start(flr_test_session *session);
/* Asks somebody who is there. */
void flr_test_session_join(flr_test_session *session);
/* Who is not up starts and joins. */
void flr_test_sessions_join(flr_test_sessions *sessions);

double flr_test_sessions_now(const flr_test_sessions *sessions); /* s */
void flr_test_sessions_pass(flr_test_sessions *sessions, double seconds);
/* Users let go of everything, and take nothing more. */
void flr_test_sessions_let_go(flr_test_sessions *sessions);

/* All who are up are in one epoch with one leader, nobody holds anything, and everything is where it is everywhere. */
bool flr_test_sessions_agree(flr_test_sessions *sessions);
/* How many are not away, as it knows. */
uint32_t flr_test_session_members(const flr_test_session *session);

/* Ends the test where a condition does not hold. */
#define parties_check(sessions, condition)                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s at %.3f s; again: FLR_SESSION_SEEDS=1 FLR_TEST_SEED=%llu "                \
                     "build/tests/test_session",                                                   \
                     #condition, flr_test_sessions_now(sessions),                                  \
                     (unsigned long long)(sessions)->seed);                                        \
    } while (0)

#endif
