/* whole controllers in a shared session with the exact engine: the host's settings count for everybody, parts in two hands of two
 * controllers meet without entering each other, and all agree afterwards, as with the other engines */
#include <math.h>

#include "support/fixtures.h"
#include "support/part_ids.h"

static double value_of(const flr_test_site *s, const char *name)
{
    flr_engine_parameter p;
    for (uint32_t i = 0; flr_engine_parameter_at(s->engine, i, &p); i++)
        if (strcmp(p.name, name) == 0) return p.value;
    return NAN;
}

static void take(flr_test_site *s, uint32_t index)
{
    flr_engine_part part;
    flr_pose pose;
    assert_true(flr_engine_part_at(s->engine, index, &part) && flr_test_site_pose(s, index, &pose));
    s->at = s->to = pose.p;
    s->press = false;
    flr_test_sites_pass(s->session, 0.05);
    s->press = true;
    flr_test_sites_pass(s->session, 0.1);
    assert_part_equal(flr_engine_view(s->engine)->hands[0].held, part.part);
}

/* The host chooses the engine before anybody is there; what a guest changes later counts for the host, too. */
static void begin(flr_test_sites *s)
{
    flr_test_sites_begin(s, 2, &flr_test_lan, 2, 1000);
    flr_test_site_start(&s->sites[0], NULL);
    flr_test_sites_await_ready(s, 5);
    assert_int_equal(flr_engine_set(s->sites[0].engine, "engine", FLR_ENGINE_EXACT, NULL), FLR_OK);
    assert_int_equal(flr_engine_set(s->sites[0].engine, "onset", 2e-5, NULL), FLR_OK);
    assert_int_equal(flr_engine_set(s->sites[0].engine, "overlap", 1e-3, NULL), FLR_OK);
    flr_test_sites_pass(s, 0.1);
    flr_test_sites_join(s);
    flr_test_sites_await_ready(s, 20);
    flr_test_sites_pass(s, 1);
}

static void settings_are_the_hosts(void **state)
{
    (void)state;
    flr_test_sites s;
    begin(&s);
    assert_true(value_of(&s.sites[1], "engine") == FLR_ENGINE_EXACT);
    assert_true(value_of(&s.sites[1], "onset") == 2e-5 && value_of(&s.sites[1], "overlap") == 1e-3);
    assert_int_equal(flr_engine_set(s.sites[1].engine, "strength", 2, NULL), FLR_OK);
    flr_test_sites_pass(&s, 0.5);
    assert_true(value_of(&s.sites[0], "strength") == 2);
    // another engine has another onset: both know the same
    assert_int_equal(flr_engine_set(s.sites[1].engine, "engine", FLR_ENGINE_SHELL, NULL), FLR_OK);
    flr_test_sites_pass(&s, 0.5);
    assert_true(value_of(&s.sites[0], "engine") == FLR_ENGINE_SHELL);
    assert_true(value_of(&s.sites[0], "onset") == value_of(&s.sites[1], "onset"));
    assert_true(value_of(&s.sites[0], "onset") > 1e-4);
    flr_test_sites_end(&s);
}

static void parts_meet_on_both_sides(void **state)
{
    (void)state;
    flr_test_sites s;
    begin(&s);
    take(&s.sites[0], 1);
    take(&s.sites[1], 2);
    s.sites[0].to = flr_vec3_make(0.03, 0, 0.05);
    s.sites[1].to = flr_vec3_make(-0.03, 0, 0.05);
    double least = INFINITY;
    for (int k = 0; k < 300; k++) {
        flr_test_sites_pass(&s, 0.01);
        for (int i = 0; i < 2; i++) {
            const flr_engine_state *now = flr_engine_view(s.sites[i].engine);
            for (uint32_t g = 0; g < now->gap_count; g++)
                least = fmin(least, now->gaps[g].distance);
        }
    }
    for (int i = 0; i < 2; i++) {
        flr_pose a = flr_pose_identity(), b = a;
        assert_true(flr_test_site_pose(&s.sites[i], 1, &a) &&
                    flr_test_site_pose(&s.sites[i], 2, &b));
        assert_gt(b.p.x - a.p.x,
                  0.03 - 1e-6); /* half of each: nearer than any voxel, not in each other */
        assert_lt(b.p.x - a.p.x, 0.03 + 1e-4);
        assert_gt(flr_engine_view(s.sites[i].engine)->contact_count, 0);
    }
    printf("two controllers, one part each: never nearer than %.2f um\n", 1e6 * least);
    assert_gt(least, 0);
    // let go, all agree, to the bit
    s.sites[0].press = s.sites[1].press = false;
    double from = flr_test_sites_now(&s);
    while (!flr_test_sites_agree(&s) && flr_test_sites_now(&s) < from + 15)
        flr_test_sites_pass(&s, 0.02);
    if (!flr_test_sites_agree(&s)) flr_test_sites_describe(&s);
    assert_true(flr_test_sites_agree(&s));
    printf("all agree %.2f s after the release\n", flr_test_sites_now(&s) - from);
    assert_lt(flr_test_sites_now(&s) - from, 3);
    flr_test_sites_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_the_hosts),
        cmocka_unit_test(parts_meet_on_both_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
