/* whole controllers in shared sessions by chance, under simulated clocks, network and disks: joins, crashes, partitions, loss
 * and delay. Scenarios with a known end: test_share_scenarios.c.
 *
 * FLR_SHARE_SEEDS=n tries so many sessions of 60 virtual seconds, FLR_TEST_SEED the first of them; FLR_SHARE_TALK=1 prints what
 * the sites say. */
#include <math.h>
#include <time.h>

#include "support/fixtures.h"

/* The user moves a hand somewhere, and takes or lets go. */
static void play(flr_test_site *s)
{
    flr_test_random *r = &s->session->random;
    const flr_engine_state *state = flr_engine_view(s->engine);
    flr_engine_part part;
    bool pressed = s->press;
    if (!s->session->busy || !flr_share_ready(s->share)) {
        s->press = false;
        if (pressed) s->released = flr_test_sites_now(s->session);
        return;
    }
    if (!flr_is_part(state->hands[0].held) && flr_test_random_below(r, 3)) {
        // to a part, there to press
        uint32_t index = 1 + flr_test_random_below(r, FLR_TEST_MOVED);
        if (flr_engine_part_at(s->engine, index, &part)) s->at = s->to = part.T_world_part.p;
        s->press = true;
    } else if (flr_test_random_below(r, 3) == 0) {
        s->press = false;
    } else {
        s->to = flr_vec3_make(flr_test_random_range(r, -0.08, 0.08),
                              flr_test_random_range(r, -0.08, 0.08),
                              flr_test_random_range(r, -0.01, 0.12));
    }
}

static void trouble(flr_test_sites *s)
{
    flr_test_random *r = &s->random;
    flr_test_site *t = &s->sites[flr_test_random_below(r, s->count)];
    uint32_t up = 0;
    for (uint32_t i = 0; i < s->count; i++)
        up += s->sites[i].up && flr_share_ready(s->sites[i].share);
    // impulses are not used here, so this one changes nothing but itself
    if (t->up && flr_share_ready(t->share))
        flr_test_site_set_restitution(t, fmod(flr_test_sites_now(s), 1));
    switch (flr_test_random_below(r, 5)) {
    case 0:
        flr_sim_set_group(t->env, 1);
        break;
    case 1:
        flr_sim_heal(s->sim);
        break;
    case 2:
        if (!t->up || up < 3) break;
        if (flr_session_hosts(flr_share_session(t->share))) s->leaderless = flr_test_sites_now(s);
        flr_sim_crash(t->env);
        flr_test_site_stop(t);
        break;
    case 3:
        t->slow = flr_test_random_range(r, 1, 4);
        break;
    default:
        for (uint32_t i = 0; i < s->count && !t->up; i++)
            if (s->sites[i].up && s->sites[i].joined) {
                flr_sim_restart(t->env);
                flr_test_site_start(t, &s->sites[i]);
            }
    }
}

/* How sessions went. */
typedef struct tally {
    uint64_t frames, count, failed, late; /* late: agreed later */
    double *took; /* [count] s from the last release until all agree, beyond two round trips */
} tally;

static flr_sim_network network_of(uint64_t seed, flr_test_random *r)
{
    flr_sim_network network = flr_test_bad_network(seed, r);
    if (getenv("FLR_SHARE_TALK"))
        printf("delay %.3f s, jitter %.3f s, loss %.2f\n", 1e-9 * (double)network.delay_ns,
               1e-9 * (double)network.jitter_ns, network.loss);
    return network;
}

static void session_of(uint64_t seed, tally *sum)
{
    flr_test_sites s;
    flr_test_random r = {seed * 31 + 7};
    flr_sim_network network = network_of(seed, &r);
    double trip = 2e-9 * (double)(network.delay_ns + network.jitter_ns);
    flr_test_sites_begin(&s, seed, &network, 2 + flr_test_random_below(&r, FLR_TEST_SITES - 1),
                         250);
    s.by_chance = true;
    flr_test_site_start(&s.sites[0], NULL);
    flr_test_sites_await_ready(&s, 5);
    flr_test_sites_join(&s);
    s.busy = true;
    s.play = play;
    flr_test_sites_pass(&s, 10 + 3 * trip);
    for (int i = 0; i < 5; i++) {
        flr_test_sites_pass(&s, flr_test_random_range(&s.random, 1, 4));
        trouble(&s);
    }
    flr_sim_heal(s.sim);
    for (uint32_t i = 0; i < s.count; i++) s.sites[i].slow = 1;
    flr_test_sites_pass(&s, 15 + 4 * trip);
    s.busy = s.ghosted = false;
    double released = flr_test_sites_now(&s);
    flr_test_sites_pass(&s, 1.1); /* every user notices within a second */
    for (uint32_t i = 0; i < s.count; i++) released = fmax(released, s.sites[i].released);
    while (!flr_test_sites_agree(&s) && flr_test_sites_now(&s) < released + 12 + 2 * trip)
        flr_test_sites_pass(&s, 0.05);
    double took = flr_test_sites_now(&s) - released - 2 * trip;
    if (getenv("FLR_SHARE_TALK"))
        printf("%.2f s and two round trips, %d; %g J through couplings, surplus %g J\n", took,
               s.ghosted, s.accounts.moved, s.accounts.surplus);
    if (!flr_test_sites_agree(&s)) flr_test_sites_describe(&s);
    // soon, or by the timeout: where parts have to get past each other it takes what it takes
    sites_check(&s, flr_test_sites_agree(&s));
    while (flr_test_sites_now(&s) < 60) flr_test_sites_pass(&s, 1);
    // and all lies still, with the same parameters
    const flr_test_site *known = NULL;
    for (uint32_t i = 0; i < s.count; i++) {
        const flr_test_site *t = &s.sites[i];
        if (!t->up) continue;
        sites_check(&s, t->energy < 1e-12);
        sites_check(&s, !known || flr_test_site_restitution(known) == flr_test_site_restitution(t));
        known = t;
    }
    sum->frames += s.frames;
    sum->late += took > 2;
    sum->failed += s.failed;
    sum->took[sum->count++] = took;
    flr_test_sites_end(&s);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void test_seeds(void **state)
{
    (void)state;
    const char *text = getenv("FLR_SHARE_SEEDS"), *first = getenv("FLR_TEST_SEED");
    uint64_t seeds = text ? strtoull(text, NULL, 10) : 2,
             from = first ? strtoull(first, NULL, 10) : 1;
    tally sum = {.took = calloc(seeds + 1, sizeof *sum.took)};
    assert_non_null(sum.took);
    struct timespec t0, t1;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
    for (uint64_t seed = from; seed < from + seeds; seed++) session_of(seed, &sum);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
    double seconds = (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec);
    qsort(sum.took, seeds, sizeof *sum.took, by_size);
    printf("%llu sessions from FLR_TEST_SEED=%llu: %.0f times real time, %.2f us a frame; %llu "
           "agreed within 2 s and two round trips, %llu later, %llu failed\n",
           (unsigned long long)seeds, (unsigned long long)from, 60 * (double)seeds / seconds,
           1e6 * seconds / (double)sum.frames, (unsigned long long)(seeds - sum.late),
           (unsigned long long)sum.late, (unsigned long long)sum.failed);
    // for who puts several runs together: s until all agreed, beyond two round trips
    printf("took");
    for (uint64_t k = 0; k < seeds; k++) printf(" %.2f", sum.took[k]);
    printf("\nmedian %.2f, worst %.2f\n", sum.took[seeds / 2], sum.took[seeds ? seeds - 1 : 0]);
    free(sum.took);
    assert_int_equal(sum.failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
