/* whole controllers in a shared session, and users who do what nobody expects: all at once, in the middle of something else, or
 * gone for a while. What is asked: in the end all agree. */
#include <math.h>

#include "support/fixtures.h"

static void take(flr_test_site *s, uint32_t index)
{
    flr_pose pose;
    assert_true(flr_test_site_pose(s, index, &pose));
    s->at = s->to = pose.p;
    s->press = false;
    flr_test_sites_pass(s->session, 0.05);
    s->press = true;
    flr_test_sites_pass(s->session, 0.1);
}

static void drop_all(flr_test_sites *s)
{
    for (uint32_t i = 0; i < s->count; i++) s->sites[i].press = false;
}

/* Waits until all agree; s that took, at most 15. */
static double await_agreed(flr_test_sites *s)
{
    double from = flr_test_sites_now(s);
    while (!flr_test_sites_agree(s) && flr_test_sites_now(s) < from + 15)
        flr_test_sites_pass(s, 0.02);
    if (!flr_test_sites_agree(s)) flr_test_sites_describe(s);
    return flr_test_sites_now(s) - from;
}

static void open_three(flr_test_sites *s, uint64_t seed)
{
    flr_test_sites_begin(s, seed, &flr_test_lan, 3, 250);
    flr_test_sites_open(s);
}

/* Three take one part in the same frame, and let go in the same frame. */
static void test_same_frame(void **state)
{
    (void)state;
    flr_test_sites s;
    open_three(&s, 1);
    for (int round = 0; round < 3; round++) {
        flr_pose pose;
        for (int i = 0; i < 3; i++) {
            assert_true(flr_test_site_pose(&s.sites[i], 1, &pose));
            s.sites[i].at = s.sites[i].to = pose.p;
        }
        flr_test_sites_pass(&s, 0.05);
        for (int i = 0; i < 3; i++) s.sites[i].press = true;
        flr_test_sites_pass(&s, 0.1);
        for (int i = 0; i < 3; i++) {
            assert_true(flr_is_part(flr_engine_view(s.sites[i].engine)->hands[0].held));
            s.sites[i].to = flr_vec3_make(-0.05, 0.02 * i, 0.08);
        }
        flr_test_sites_pass(&s, 1);
        for (uint32_t k = 0; k < 3; k++) {
            flr_membership_part part;
            assert_true(flr_session_part(flr_share_session(s.sites[k].share), 1, &part));
            assert_int_equal(part.holder_count, 3);
        }
        drop_all(&s);
        assert_lt(await_agreed(&s), 2);
    }
    flr_test_sites_end(&s);
}

/* Who holds a part leaves in order: the first the leader, too. It lies where it was seen, and may be taken at once. */
static void test_leave(void **state)
{
    (void)state;
    flr_test_sites s;
    flr_pose pose;
    open_three(&s, 2);
    for (int who = 0; who < 2; who++) {
        take(&s.sites[who], 1);
        s.sites[who].to = flr_vec3_make(-0.05, who ? -0.06 : 0.06, 0.1);
        flr_test_sites_pass(&s, 1);
        flr_test_site_stop(&s.sites[who]);
        assert_lt(await_agreed(&s), 2);
        assert_true(flr_test_site_pose(&s.sites[2], 1, &pose));
        assert_gt(fabs(pose.p.y), 0.04);
    }
    take(&s.sites[2], 1);
    assert_true(flr_is_part(flr_engine_view(s.sites[2].engine)->hands[0].held));
    drop_all(&s);
    assert_lt(await_agreed(&s), 2);
    flr_test_sites_end(&s);
}

/* A controller stands still for a while, as one that is stopped or sleeps, while it holds a part: the leader, or a guest; for so short a
 * time that nobody notices, or long. */
static void test_stopped(void **state)
{
    (void)state;
    static const double times[] = {1, 3, 12};
    for (int who = 0; who < 2; who++)
        for (unsigned i = 0; i < sizeof times / sizeof *times; i++) {
            flr_test_sites s;
            open_three(&s, 10 + i);
            take(&s.sites[who], 1);
            s.sites[who].to = flr_vec3_make(-0.05, 0.06, 0.1);
            flr_test_sites_pass(&s, 0.1);
            s.sites[who].up = false;
            flr_test_sites_pass(&s, times[i]);
            s.sites[who].frame_ns = s.sites[who].service_ns = flr_clock_ns(s.sites[who].env);
            s.sites[who].up = true;
            flr_test_sites_pass(&s, 6);
            drop_all(&s);
            assert_lt(await_agreed(&s), 3);
            flr_test_sites_end(&s);
        }
}

/* Somebody joins while the leader goes, at every moment of it, by asking the leader or another. */
static void test_join_in_takeover(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        flr_test_sites s;
        flr_test_sites_begin(&s, 20 + (uint64_t)k, &flr_test_lan, 3, 250);
        flr_test_site_start(&s.sites[0], NULL);
        flr_test_sites_await_ready(&s, 5);
        flr_test_site_start(&s.sites[1], &s.sites[0]);
        flr_test_sites_await_ready(&s, 5);
        bool first = k % 2 == 0; /* joins before it goes */
        if (first) {
            flr_test_site_start(&s.sites[2], &s.sites[1]);
            flr_test_sites_pass(&s, 0.009 * k);
        }
        flr_sim_crash(s.sites[0].env);
        flr_test_site_stop(&s.sites[0]);
        if (!first) {
            flr_test_sites_pass(&s, 0.3 * k);
            flr_test_site_start(&s.sites[2], &s.sites[1]);
        }
        double from = flr_test_sites_now(&s);
        flr_test_sites_await_ready(&s, 20);
        // it takes over after 3 s at the latest, and the scene comes
        assert_lt(flr_test_sites_now(&s) - from, 5);
        assert_lt(await_agreed(&s), 3);
        flr_test_sites_end(&s);
    }
}

/* One site is paused, or looks at a recording, while another moves parts. */
static void test_paused(void **state)
{
    (void)state;
    flr_test_sites s;
    open_three(&s, 5);
    for (int who = 0; who < 2; who++) {
        flr_test_site *paused = &s.sites[who], *moves = &s.sites[2];
        flr_pose pose;
        assert_int_equal(flr_engine_pause(paused->engine, true, NULL), FLR_OK);
        take(moves, 1);
        moves->to = flr_vec3_make(-0.05, who ? -0.06 : 0.06, 0.1);
        flr_test_sites_pass(&s, 1);
        moves->press = false;
        flr_test_sites_pass(&s, 12);
        assert_int_equal(flr_engine_pause(paused->engine, false, NULL), FLR_OK);
        assert_lt(await_agreed(&s), 3);
        assert_true(flr_test_site_pose(paused, 1, &pose));
        assert_gt(fabs(pose.p.y), 0.05);
        assert_false(s.ghosted);
    }
    flr_test_sites_end(&s);
}

/* The leader, or another, looks at a recording, perhaps with a part in its hand, while somebody moves another. */
static void test_replay(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        flr_test_sites s;
        uint32_t recording, job;
        flr_error error;
        flr_pose pose, held;
        open_three(&s, 6);
        flr_test_site *looks = &s.sites[k / 2], *moves = &s.sites[2];
        assert_ok(flr_engine_record_start(looks->engine, "r", &recording, &error), error);
        take(looks, 2);
        looks->to = flr_vec3_make(0.05, 0.06, 0.1);
        flr_test_sites_pass(&s, 1);
        looks->press = false;
        flr_test_sites_pass(&s, 0.5);
        assert_ok(flr_engine_record_stop(looks->engine, &error), error);
        flr_test_sites_pass(&s, 0.5);
        assert_lt(await_agreed(&s), 3);
        if (k % 2) take(looks, 2);
        assert_true(flr_test_site_pose(looks, 2, &held));
        assert_ok(flr_engine_replay(looks->engine, recording, &job, &error), error);
        flr_test_sites_pass(&s, 0.5);
        assert_ok(flr_engine_replay_play(looks->engine, true, 1, &error), error);
        flr_test_sites_pass(&s, 0.5);
        take(moves, 1);
        moves->to = flr_vec3_make(-0.05, -0.06, 0.1);
        flr_test_sites_pass(&s, 1);
        moves->press = false;
        flr_test_sites_pass(&s, 1);
        // nothing of the recording is seen by others
        assert_true(flr_test_site_pose(&s.sites[2], 2, &pose));
        assert_lt(flr_vec3_distance(pose.p, held.p), 1e-4);
        assert_ok(flr_engine_replay_end(looks->engine, &error), error);
        flr_test_sites_pass(&s, 0.2);
        drop_all(&s);
        assert_lt(await_agreed(&s), 3);
        assert_true(flr_test_site_pose(looks, 1, &pose));
        assert_lt(pose.p.y, -0.05);
        flr_test_sites_end(&s);
    }
}

/* The leader looks at a recording, or is paused, when somebody leaves who holds a part: it stays where that one had it. */
static void test_leave_unseen(void **state)
{
    (void)state;
    for (int replays = 0; replays < 2; replays++) {
        flr_test_sites s;
        uint32_t recording, job;
        flr_error error;
        open_three(&s, 8);
        flr_engine *leader = s.sites[0].engine;
        if (replays) {
            assert_ok(flr_engine_record_start(leader, "r", &recording, &error), error);
            flr_test_sites_pass(&s, 0.5);
            assert_ok(flr_engine_record_stop(leader, &error), error);
            flr_test_sites_pass(&s, 0.5);
            assert_ok(flr_engine_replay(leader, recording, &job, &error), error);
        } else {
            assert_int_equal(flr_engine_pause(leader, true, NULL), FLR_OK);
        }
        flr_test_sites_pass(&s, 0.5);
        take(&s.sites[2], 1);
        s.sites[2].to = flr_vec3_make(-0.05, -0.06, 0.1);
        flr_test_sites_pass(&s, 1);
        flr_pose held, pose;
        assert_true(flr_test_site_pose(&s.sites[2], 1, &held));
        assert_lt(held.p.y, -0.05);
        flr_test_site_stop(&s.sites[2]);
        flr_test_sites_pass(&s, 0.5);
        if (replays)
            assert_ok(flr_engine_replay_end(leader, &error), error);
        else
            assert_int_equal(flr_engine_pause(leader, false, NULL), FLR_OK);
        assert_lt(await_agreed(&s), 3);
        assert_true(flr_test_site_pose(&s.sites[1], 1, &pose));
        assert_lt(flr_vec3_distance(held.p, pose.p), 1e-3);
        flr_test_sites_end(&s);
    }
}

/* A reset while all three move parts, and one that comes twice. */
static void test_reset(void **state)
{
    (void)state;
    flr_test_sites s;
    open_three(&s, 7);
    for (int round = 0; round < 4; round++) {
        take(&s.sites[0], 1);
        take(&s.sites[1], 2);
        s.sites[0].to = flr_vec3_make(-0.05, 0.06, 0.1);
        s.sites[1].to = flr_vec3_make(0.05, -0.06, 0.1);
        flr_test_sites_pass(&s, 0.5);
        for (int i = 0; i < 3; i++)
            if (round != i) assert_int_equal(flr_engine_reset(s.sites[i].engine, NULL), FLR_OK);
        if (round == 3) (void)flr_engine_undo(s.sites[2].engine, 1, NULL);
        drop_all(&s);
        assert_lt(await_agreed(&s), 3);
    }
    flr_test_sites_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_frame),   cmocka_unit_test(test_leave),
        cmocka_unit_test(test_stopped),      cmocka_unit_test(test_join_in_takeover),
        cmocka_unit_test(test_paused),       cmocka_unit_test(test_replay),
        cmocka_unit_test(test_leave_unseen), cmocka_unit_test(test_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
