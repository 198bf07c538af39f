/* shared sessions by chance among simulated controllers: who leads, who holds what, what everybody agrees on after all faults.
 * Parts here are nothing but poses; with physics the same is done by test_share.c. Scenarios with a known end:
 * test_session_scenarios.c.
 *
 * FLR_SESSION_SEEDS=n tries so many sessions, FLR_TEST_SEED the first of them. */
#include <math.h>

#include "support/sessions.h"

static void trouble(flr_test_sessions *s)
{
    flr_test_random *r = &s->random;
    flr_test_session *t = &s->sites[flr_test_random_below(r, s->count)];
    switch (flr_test_random_below(r, 4)) {
    case 0:
        flr_sim_set_group(t->env, 1);
        break;
    case 1:
        flr_sim_heal(s->sim);
        break;
    case 2: {
        // a machine dies, and somebody starts it again
        uint32_t up = 0; /* and in: somebody must be left to join */
        for (uint32_t i = 0; i < s->count; i++)
            up += s->sites[i].up && flr_session_is_in(s->sites[i].session);
        if (!t->up || up < 3) break;
        t->up = false;
        flr_sim_crash(t->env);
        flr_session_destroy(t->session);
        break;
    }
    default:
        if (t->up) break;
        flr_sim_restart(t->env);
        flr_test_session_start(t);
        flr_test_session_join(t);
    }
}

static void describe(const flr_test_sessions *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const flr_test_session *t = &s->sites[i];
        if (!t->up) continue;
        printf("site %u: member %u, %s, ", i, flr_session_self(t->session),
               flr_session_is_in(t->session) ? "in" : "not in");
        flr_test_print_membership(flr_session_membership(t->session));
        printf("\n");
    }
}

static double session_of(uint64_t seed)
{
    flr_test_sessions s;
    flr_test_random r = {seed};
    flr_sim_network network = flr_test_bad_network(seed, &r);
    double trip = 2e-9 * (double)(network.delay_ns + network.jitter_ns);
    flr_test_sessions_begin(&s, seed, &network,
                            2 + flr_test_random_below(&r, FLR_TEST_SESSION_SITES - 1));
    flr_test_sessions_join(&s);
    s.busy = true;
    for (int i = 0; i < 6; i++) {
        flr_test_sessions_pass(&s, flr_test_random_range(&s.random, 1, 5));
        trouble(&s);
    }
    // everything works again, and whoever is up finds the others
    flr_sim_heal(s.sim);
    flr_test_sessions_pass(&s, 20 + 6 * trip);
    flr_test_sessions_let_go(&s);
    double released = flr_test_sessions_now(&s);
    while (!flr_test_sessions_agree(&s) && flr_test_sessions_now(&s) < released + 15)
        flr_test_sessions_pass(&s, 0.1);
    double took = flr_test_sessions_now(&s) - released;
    if (!flr_test_sessions_agree(&s)) describe(&s);
    parties_check(&s, flr_test_sessions_agree(&s));
    parties_check(&s, took <= 2 + 2 * trip + 0.5);
    flr_test_sessions_end(&s);
    return took;
}

static void test_seeds(void **state)
{
    (void)state;
    const char *text = getenv("FLR_SESSION_SEEDS"), *first = getenv("FLR_TEST_SEED");
    uint64_t seeds = text ? strtoull(text, NULL, 10) : 15,
             from = first ? strtoull(first, NULL, 10) : 1;
    double worst = 0;
    for (uint64_t seed = from; seed < from + seeds; seed++) worst = fmax(worst, session_of(seed));
    printf("%llu sessions from FLR_TEST_SEED=%llu: agreed after %.2f s at most\n",
           (unsigned long long)seeds, (unsigned long long)from, worst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
