/* accounts.h: what the couplings of shared parts gave and got, of all sites together, as nobody in a session can know it.
 *
 * A coupling is a part that two members hold, with a mutual remote coupling at each end. Whatever the delay, together its ends may give no more
 * than they were given (docs/collaboration.md, Passivity), but for the stores that each begins with and what an overdrawn account is
 * given so that instances at rest meet. What is in flight was put in and not told yet: it only makes the sum less. */
#ifndef FLR_TEST_ACCOUNTS_H
#define FLR_TEST_ACCOUNTS_H

#include <math.h>

#include "collab/share_internal.h"

enum { FLR_TEST_MEMBERS = 24, FLR_TEST_SHARED = 4 };
static const double flr_test_store = 0.001,
                    flr_test_trickle = 0.005; /* as in src/world/remote_coupling.c */

/* A remote coupling as it was last seen. */
typedef struct flr_test_end {
    uint32_t part, seen; /* seen: in how many frames, as a mutual one */
    uint64_t frame;
    uint16_t member;
    double put, got, account, time;
} flr_test_end;

typedef struct flr_test_account {
    double put, got;
    double allowed; /* beyond what was put in */
} flr_test_account;

typedef struct flr_test_accounts {
    flr_test_end ends[FLR_SHARE_HANDS / 8][FLR_WORLD_REMOTE_COUPLINGS];       /* [site] */
    flr_test_account of[FLR_TEST_SHARED][FLR_TEST_MEMBERS][FLR_TEST_MEMBERS]; /* [part], members */
    double
        surplus; /* joules: the most that the ends of a coupling gave beyond what they were allowed to */
    double moved; /* joules that went through couplings in all */
} flr_test_accounts;

/* What a remote coupling did since it was seen last, at `now` s. */
static inline void flr_test_account_end(flr_test_accounts *a, flr_test_end *end, uint16_t self,
                                        const flr_shared_coupling *coupling,
                                        const flr_engine_coupling_state *t, uint64_t frame,
                                        double now)
{
    // counters begin with the remote coupling
    if (end->part != coupling->part || end->member != coupling->member || t->put < end->put)
        *end = (flr_test_end){.part = coupling->part, .member = coupling->member, .time = now};
    if (!coupling->mutual) end->seen = 0;
    uint16_t low = self < coupling->member ? self : coupling->member,
             high = self < coupling->member ? coupling->member : self;
    if (coupling->mutual && coupling->part < FLR_TEST_SHARED && high < FLR_TEST_MEMBERS) {
        flr_test_account *of = &a->of[coupling->part][low][high];
        if (end->seen == 0) of->allowed += 2 * flr_test_store;
        of->put += t->put - end->put;
        // the loop hears of it a little later than the share: what was got before was not counted there
        if (end->seen > 3) of->got += t->got - t->taken - end->got;
        if (end->seen == 0 || frame != end->frame) end->seen++;
        if (fmin(t->account, end->account) <= 0)
            of->allowed += flr_test_trickle * (now - end->time);
        a->surplus = fmax(a->surplus, of->got - of->put - of->allowed);
        a->moved += t->put - end->put;
    }
    end->frame = frame;
    end->put = t->put;
    end->got = t->got - t->taken;
    end->account = t->account;
    end->time = now;
}

/* To be called whenever a site's share has been served. */
static inline void flr_test_accounts_see(flr_test_accounts *a, uint32_t site, flr_share *share,
                                         double now)
{
    const flr_engine_state *state = flr_engine_view(share->def.engine);
    bool there[FLR_WORLD_REMOTE_COUPLINGS] = {false};
    for (uint32_t i = 0; i < state->coupling_count; i++) {
        const flr_engine_coupling_state *t = &state->couplings[i];
        const flr_shared_coupling *coupling = &share->couplings[t->coupling];
        if (!coupling->used || coupling->rest ||
            !flr_same_part(share->parts[coupling->part].id, t->part))
            continue;
        there[t->coupling] = true;
        flr_test_account_end(a, &a->ends[site][t->coupling], flr_session_self(share->session),
                             coupling, t, state->frame, now);
    }
    for (uint32_t i = 0; i < FLR_WORLD_REMOTE_COUPLINGS; i++)
        if (!there[i]) a->ends[site][i] = (flr_test_end){.part = UINT32_MAX};
}

#endif
