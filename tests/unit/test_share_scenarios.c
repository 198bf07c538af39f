/* whole controllers in a shared session, in scenarios with a known end: handing over, holding together, parts that meet and
 * fall, taking back, parameters, a full disk, a source that is gone. Sessions by chance: test_share.c. */
#include <math.h>

#include "support/fixtures.h"
#include "support/part_ids.h"

static void take(flr_test_site *s, uint32_t index)
{
    flr_engine_part part;
    assert_true(flr_engine_part_at(s->engine, index, &part));
    flr_pose pose;
    assert_true(flr_test_site_pose(s, index, &pose));
    s->at = s->to = pose.p;
    s->press = false;
    flr_test_sites_pass(s->session, 0.05);
    s->press = true;
    flr_test_sites_pass(s->session, 0.1);
    assert_part_equal(flr_engine_view(s->engine)->hands[0].held, part.part);
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

static void test_hand_over(void **state)
{
    (void)state;
    flr_test_sites s;
    flr_test_sites_begin(&s, 1, &flr_test_lan, 3, 1000);
    flr_test_sites_open(&s);
    // one carries it; it goes along everywhere
    flr_pose pose;
    double turn;
    take(&s.sites[1], 1);
    s.sites[1].to = flr_vec3_make(-0.05, 0.08, 0.1);
    flr_test_sites_pass(&s, 0.2);
    assert_true(flr_test_site_pose(&s.sites[2], 1, &pose));
    assert_gt(pose.p.y, 0.01);
    flr_test_sites_pass(&s, 1.5);
    assert_lt(flr_test_sites_apart(&s, &turn), 2e-4);
    // others see the hand
    flr_share_hand hand;
    uint32_t at = 0;
    do {
        assert_true(flr_share_hand_at(s.sites[0].share, at++, &hand));
    } while (hand.member != flr_session_self(flr_share_session(s.sites[1].share)));
    assert_true(flr_is_part(hand.held));
    assert_lt(flr_vec3_distance(hand.T_world_hand.p, s.sites[1].at), 1e-3);
    // another takes it, too, and the first lets go
    take(&s.sites[2], 1);
    s.sites[1].press = false;
    flr_test_sites_pass(&s, 0.2);
    s.sites[2].to = flr_vec3_make(0, -0.08, 0.08);
    flr_test_sites_pass(&s, 2);
    assert_true(flr_test_site_pose(&s.sites[0], 1, &pose));
    assert_lt(pose.p.y, -0.07);
    s.sites[2].press = false;
    double released = flr_test_sites_now(&s);
    while (!flr_test_sites_agree(&s) && flr_test_sites_now(&s) < released + 15)
        flr_test_sites_pass(&s, 0.02);
    if (!flr_test_sites_agree(&s)) flr_test_sites_describe(&s);
    assert_true(flr_test_sites_agree(&s));
    printf("handed over; all agree %.2f s after the release\n", flr_test_sites_now(&s) - released);
    assert_lt(flr_test_sites_now(&s) - released, 2);
    flr_test_sites_end(&s);
}

/* The host cannot save the scene: the guest learns it, and does not wait for ever. */
static void test_full_disk(void **state)
{
    (void)state;
    flr_test_sites s;
    const flr_sim_disk full = {.capacity = 2000};
    flr_test_sites_begin(&s, 2, &flr_test_lan, 2, 1000);
    flr_sim_set_disk(s.sites[0].env, &full);
    flr_test_site_start(&s.sites[0], NULL);
    flr_test_sites_await_ready(&s, 5);
    flr_test_site_start(&s.sites[1], &s.sites[0]);
    flr_test_sites_pass(&s, 3);
    const char *sentence;
    assert_true(flr_share_failed(s.sites[1].share, &sentence));
    assert_non_null(strstr(sentence, "cannot be sent"));
    assert_true(flr_share_ready(s.sites[0].share));
    flr_test_sites_end(&s);
}

/* The only member with the scene leaves while it is sent: the guest learns it, and does not wait for ever. */
static void test_source_gone(void **state)
{
    (void)state;
    flr_test_sites s;
    flr_test_sites_begin(&s, 3, &flr_test_lan, 2, 250);
    flr_test_site_start(&s.sites[0], NULL);
    flr_test_sites_await_ready(&s, 5);
    flr_test_site_start(&s.sites[1], &s.sites[0]);
    const flr_share *joins = s.sites[1].share;
    for (int i = 0; i < 1000 && !flr_session_is_in(flr_share_session(s.sites[1].share)); i++)
        flr_test_sites_pass(&s, 0.001);
    assert_true(flr_session_is_in(flr_share_session(s.sites[1].share)));
    assert_false(flr_share_ready(joins));
    flr_sim_set_group(s.sites[0].env, 1);
    const char *sentence;
    flr_test_sites_pass(&s, 25);
    assert_false(flr_share_failed(joins, &sentence));
    flr_test_sites_pass(&s, 15);
    assert_true(flr_share_failed(joins, &sentence));
    assert_non_null(strstr(sentence, "nobody who has the scene"));
    flr_test_sites_end(&s);
}

/* Two parts in two hands of two controllers: they meet on both sides, and nothing passes through. */
static void test_part_against_part(void **state)
{
    (void)state;
    flr_test_sites s;
    flr_test_sites_begin(&s, 2, &flr_test_lan, 2, 1000);
    flr_test_sites_open(&s);
    take(&s.sites[0], 1);
    take(&s.sites[1], 2);
    s.sites[0].to = flr_vec3_make(0.03, 0, 0.05);
    s.sites[1].to = flr_vec3_make(-0.03, 0, 0.05);
    flr_test_sites_pass(&s, 3);
    for (int i = 0; i < 2; i++) {
        flr_pose a = flr_pose_identity(), b = a;
        assert_true(flr_test_site_pose(&s.sites[i], 1, &a));
        assert_true(flr_test_site_pose(&s.sites[i], 2, &b));
        assert_gt(b.p.x - a.p.x, 0.03 - 0.001); /* half of each, but for a fifth of a voxel */
        assert_gt(flr_engine_view(s.sites[i].engine)->contact_count, 0);
    }
    flr_test_sites_end(&s);
}

static void test_both_hold(void **state)
{
    (void)state;
    flr_test_sites s;
    flr_test_sites_begin(&s, 3, &flr_test_lan, 2, 1000);
    flr_test_sites_open(&s);
    take(&s.sites[0], 1);
    take(&s.sites[1], 1);
    s.sites[0].to = s.sites[1].to = flr_vec3_make(0, 0.07, 0.1);
    flr_test_sites_pass(&s, 2);
    double turn;
    flr_pose pose;
    assert_true(flr_test_site_pose(&s.sites[0], 1, &pose));
    assert_lt(fabs(pose.p.y - 0.07), 2e-3);
    assert_lt(flr_test_sites_apart(&s, &turn), 1e-3);
    // they pull against each other: it stays between them
    s.sites[0].to.y = 0.05;
    s.sites[1].to.y = 0.09;
    flr_test_sites_pass(&s, 2);
    assert_true(flr_test_site_pose(&s.sites[0], 1, &pose));
    assert_gt(pose.p.y, 0.045);
    assert_lt(pose.p.y, 0.095);
    s.sites[0].press = s.sites[1].press = false;
    flr_test_sites_pass(&s, 2);
    if (!flr_test_sites_agree(&s)) flr_test_sites_describe(&s);
    assert_true(flr_test_sites_agree(&s));
    flr_test_sites_end(&s);
}

/* A third user meets a part that two others carry, with a part of its own (McNeely 2005, section 6.1): nothing passes through
 * at any of the three, the parts touch at all of them, and afterwards all agree. */
static void test_third_meets_what_two_carry(void **state)
{
    (void)state;
    flr_test_sites s;
    flr_test_sites_begin(&s, 6, &flr_test_lan, 3, 1000);
    flr_test_sites_open(&s);
    take(&s.sites[0], 1);
    take(&s.sites[1], 1);
    take(&s.sites[2], 2);
    s.sites[0].to = s.sites[1].to = flr_vec3_make(0.03, 0, 0.05);
    s.sites[2].to = flr_vec3_make(-0.03, 0, 0.05);
    for (int k = 0; k < 6; k++) {
        flr_test_sites_pass(&s, 0.5);
        for (int i = 0; i < 3; i++) {
            flr_pose a = flr_pose_identity(), b = a;
            assert_true(flr_test_site_pose(&s.sites[i], 1, &a));
            assert_true(flr_test_site_pose(&s.sites[i], 2, &b));
            assert_gt(b.p.x - a.p.x, 0.03 - 0.001);
        }
    }
    for (int i = 0; i < 3; i++) assert_gt(flr_engine_view(s.sites[i].engine)->contact_count, 0);
    for (int i = 0; i < 3; i++) s.sites[i].press = false;
    assert_lt(await_agreed(&s), 5);
    flr_test_sites_end(&s);
}

/* Moves a hand through places, one after the other. */
static void lead_through(flr_test_sites *s, uint32_t site, const flr_vec3 *way, uint32_t count)
{
    flr_test_site *at = &s->sites[site];
    for (uint32_t i = 0; i < count; i++) {
        at->to = way[i];
        while (flr_vec3_distance(at->at, at->to) > 1e-9) flr_test_sites_pass(s, 0.01);
    }
}

/* Something comes between two instances of a part while the network is interrupted: each side shows the instance of the other
 * (McNeely 2005, section 6.1) until they are together again. */
static void test_diverged(void **state)
{
    (void)state;
    flr_test_sites s;
    flr_share_instance there[4];
    flr_pose pose;
    flr_test_sites_begin(&s, 11, &flr_test_lan, 2, 1000);
    flr_test_sites_open(&s);
    take(&s.sites[0], 1);
    take(&s.sites[1], 1);
    flr_test_sites_pass(&s, 0.5);
    assert_int_equal(flr_share_instances(s.sites[0].share, there, 4), 0);
    const flr_vec3 down[] = {{-0.05, 0, 0.01}}, up[] = {{-0.05, 0, -0.03}},
                   below[] = {{-0.2, 0, 0.05}, {-0.2, 0, -0.06}, {-0.05, 0, -0.06}},
                   back[] = {{-0.2, 0, -0.06}, {-0.2, 0, 0.06}, {-0.05, 0, 0.06}};
    flr_sim_set_group(s.sites[1].env, 1);
    lead_through(&s, 1, below, 3);
    flr_sim_heal(s.sim);
    lead_through(&s, 0, down, 1);
    lead_through(&s, 1, up, 1);
    for (uint32_t k = 0; k < 2; k++)
        for (int i = 0; i < 100 && !flr_share_instances(s.sites[k].share, there, 4); i++)
            flr_test_sites_pass(&s, 0.05);
    for (uint32_t i = 0; i < 2; i++) {
        const flr_session *other = flr_share_session(s.sites[1 - i].share);
        assert_int_equal(flr_share_instances(s.sites[i].share, there, 4), 1);
        assert_int_equal(there[0].member, flr_session_self(other));
        assert_true(flr_test_site_pose(&s.sites[1 - i], 1, &pose));
        assert_lt(flr_vec3_distance(pose.p, there[0].T_world_part.p), 1e-3);
        assert_true(flr_test_site_pose(&s.sites[i], 1, &pose));
        assert_gt(fabs(pose.p.z - there[0].T_world_part.p.z), 0.03);
    }
    lead_through(&s, 1, back, 3);
    lead_through(&s, 0, back + 2, 1);
    for (uint32_t k = 0; k < 2; k++)
        for (int i = 0; i < 100 && flr_share_instances(s.sites[k].share, there, 4); i++)
            flr_test_sites_pass(&s, 0.05);
    assert_int_equal(flr_share_instances(s.sites[0].share, there, 4), 0);
    assert_int_equal(flr_share_instances(s.sites[1].share, there, 4), 0);
    s.sites[0].press = s.sites[1].press = false;
    assert_lt(await_agreed(&s), 5);
    flr_test_sites_end(&s);
}

/* Parts that fall: who leads tells where they lie, and they lie still everywhere. */
static void test_free_parts(void **state)
{
    (void)state;
    flr_test_sites s;
    flr_pose pose;
    flr_test_sites_begin(&s, 4, &flr_test_lan, 3, 1000);
    s.kind = FLR_PART_FREE;
    flr_test_sites_open(&s);
    flr_test_sites_pass(&s, 2);
    assert_lt(await_agreed(&s), 2);
    assert_true(flr_test_site_pose(&s.sites[2], 1, &pose));
    assert_lt(pose.p.z, 0.04); /* it has fallen */
    // a member who does not lead takes one, and drops it
    take(&s.sites[1], 1);
    s.sites[1].to = flr_vec3_make(-0.02, 0.06, 0.1);
    flr_test_sites_pass(&s, 1.5);
    assert_true(flr_test_site_pose(&s.sites[2], 1, &pose));
    assert_gt(pose.p.z, 0.08);
    s.sites[1].press = false;
    flr_test_sites_pass(&s, 0.5);
    assert_lt(await_agreed(&s), 3);
    assert_true(flr_test_site_pose(&s.sites[0], 1, &pose));
    assert_lt(pose.p.z, 0.04);
    assert_gt(pose.p.y, 0.04);
    // nothing is reported any more
    uint32_t number = flr_session_membership(flr_share_session(s.sites[0].share))->number;
    flr_test_sites_pass(&s, 3);
    assert_true(flr_test_sites_agree(&s));
    assert_int_equal(flr_session_membership(flr_share_session(s.sites[0].share))->number, number);
    flr_test_sites_end(&s);
}

/* One takes back, or resets, while another holds a part: what is held stays in the hand, all else goes back everywhere. */
static void test_undo_while_held(void **state)
{
    (void)state;
    flr_test_sites s;
    flr_pose pose, first, held;
    flr_test_sites_begin(&s, 5, &flr_test_lan, 3, 1000);
    flr_test_sites_open(&s);
    assert_true(flr_test_site_pose(&s.sites[0], 2, &first));
    // the brick is moved, and let go
    take(&s.sites[0], 2);
    s.sites[0].to = flr_vec3_make(0.05, 0.07, 0.08);
    flr_test_sites_pass(&s, 1);
    s.sites[0].press = false;
    assert_lt(await_agreed(&s), 2);
    for (int way = 0; way < 2; way++) {
        take(&s.sites[1], 1);
        s.sites[1].to = flr_vec3_make(-0.05, -0.06, 0.1);
        flr_test_sites_pass(&s, 1);
        assert_true(flr_test_site_pose(&s.sites[1], 1, &held));
        assert_int_equal(way ? flr_engine_reset(s.sites[0].engine, NULL)
                             : flr_engine_undo(s.sites[0].engine, 1, NULL),
                         FLR_OK);
        flr_test_sites_pass(&s, 1);
        for (int i = 0; i < 3; i++) {
            assert_true(flr_test_site_pose(&s.sites[i], 1, &pose));
            assert_lt(flr_vec3_distance(pose.p, held.p), 1e-4);
            assert_true(flr_test_site_pose(&s.sites[i], 2, &pose));
            assert_lt(flr_vec3_distance(pose.p, first.p), 1e-6);
        }
        s.sites[1].press = false;
        assert_lt(await_agreed(&s), 2);
        assert_true(flr_test_site_pose(&s.sites[0], 1, &pose));
        assert_lt(pose.p.y, -0.05);
    }
    flr_test_sites_end(&s);
}

/* Parameters count for all, for those who come later, too; what two set at once becomes the same everywhere and stays, and
 * who draws a slider does not see it jump back. */
static void test_parameters(void **state)
{
    (void)state;
    flr_test_sites s;
    flr_sim_network network = flr_test_lan;
    network.delay_ns = 150 * FLR_SIM_MS;
    flr_test_sites_begin(&s, 8, &network, 3, 250);
    flr_test_site_start(&s.sites[0], NULL);
    flr_test_sites_await_ready(&s, 5);
    flr_test_site_set_restitution(&s.sites[0], 0.125);
    flr_test_sites_pass(&s, 0.1);
    flr_test_sites_join(&s);
    flr_test_sites_await_ready(&s, 20);
    flr_test_sites_pass(&s, 1);
    for (int i = 0; i < 3; i++) assert_eq(flr_test_site_restitution(&s.sites[i]), 0.125);
    // a slider
    for (int k = 1; k <= 40; k++) {
        flr_test_site_set_restitution(&s.sites[1], k / 64.0);
        flr_test_sites_pass(&s, 0.04);
        assert_eq(flr_test_site_restitution(&s.sites[1]), k / 64.0);
    }
    flr_test_sites_pass(&s, 1);
    for (int i = 0; i < 3; i++) assert_eq(flr_test_site_restitution(&s.sites[i]), 40 / 64.0);
    // all three at once, the leader among them
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < 3; i++)
            flr_test_site_set_restitution(&s.sites[i], (1 + i + 3 * k) / 64.0);
        flr_test_sites_pass(&s, 0.1);
    }
    flr_test_sites_pass(&s, 1);
    double value = flr_test_site_restitution(&s.sites[0]);
    for (int k = 0; k < 20; k++) {
        for (int i = 0; i < 3; i++) assert_eq(flr_test_site_restitution(&s.sites[i]), value);
        flr_test_sites_pass(&s, 0.1);
    }
    // the leader goes just when somebody has told it
    flr_test_site_set_restitution(&s.sites[2], 0.875);
    flr_test_sites_pass(&s, 0.02);
    flr_sim_crash(s.sites[0].env);
    flr_test_site_stop(&s.sites[0]);
    flr_test_sites_pass(&s, 8);
    for (int i = 1; i < 3; i++) assert_eq(flr_test_site_restitution(&s.sites[i]), 0.875);
    flr_test_sites_end(&s);
}

/* More parts are moved at once than there are remote couplings: they are brought home one after the other. */
static void test_more_than_ties(void **state)
{
    (void)state;
    flr_test_sites s;
    double turn;
    flr_engine_part part;
    flr_test_sites_begin(&s, 6, &flr_test_lan, 2, 250);
    s.moved = FLR_WORLD_REMOTE_COUPLINGS + 20;
    flr_test_sites_open(&s);
    for (uint32_t i = 1; i <= s.moved; i++) {
        assert_true(flr_engine_part_at(s.sites[0].engine, i, &part));
        part.T_world_part.p.z += 0.05;
        assert_int_equal(flr_engine_place(s.sites[0].engine, part.part, part.T_world_part, NULL),
                         FLR_OK);
        if (i % 16 == 0) flr_test_sites_pass(&s, 0.02);
    }
    flr_test_sites_pass(&s, 0.05);
    assert_gt(flr_test_sites_apart(&s, &turn), 0.04);
    assert_lt(await_agreed(&s), 3);
    flr_test_sites_end(&s);
}

/* So many parts are held that one more cannot be sent: its owner gets a report, and so do the others when there is room. */
static void test_full_roll(void **state)
{
    (void)state;
    flr_test_sites s;
    double turn;
    flr_test_sites_begin(&s, 9, &flr_test_lan, 2, 250);
    flr_test_sites_open(&s);
    // parts that no scene has stand for those of a large one
    flr_session *leader = flr_share_session(s.sites[0].share),
                *guest = flr_share_session(s.sites[1].share);
    const flr_membership *membership = flr_session_membership(leader);
    for (uint32_t i = 0; i < FLR_SESSION_PARTS; i++) flr_session_hold(leader, 1000 + i);
    flr_test_sites_pass(&s, 1);
    assert_int_equal(membership->part_count, FLR_SESSION_PARTS);
    assert_int_equal(flr_session_membership(guest)->part_count, FLR_SESSION_PARTS);
    // taken: the hand is opened again; what it was moved by meanwhile stays here alone
    s.sites[1].at = s.sites[1].to = flr_vec3_make(-0.05, 0, 0.05);
    flr_test_sites_pass(&s, 0.05);
    s.sites[1].warning[0] = 0;
    s.sites[1].press = true;
    flr_test_sites_pass(&s, 0.5);
    assert_part_equal(flr_engine_view(s.sites[1].engine)->hands[0].held, FLR_NO_PART_ID);
    assert_non_null(strstr(s.sites[1].warning, "too many parts"));
    s.sites[1].press = false;
    flr_test_sites_pass(&s, 0.1);
    // let go of before the leader has said no
    flr_engine_part part;
    assert_true(flr_engine_part_at(s.sites[1].engine, 1, &part));
    flr_session_hold(guest, 1);
    flr_pose moved = part.T_world_part;
    moved.p.y += 0.05;
    assert_int_equal(flr_engine_place(s.sites[1].engine, part.part, moved, NULL), FLR_OK);
    flr_session_release(guest, 1, moved);
    s.sites[1].warning[0] = 0;
    flr_test_sites_pass(&s, 1);
    assert_non_null(strstr(s.sites[1].warning, "the others see"));
    assert_gt(flr_test_sites_apart(&s, &turn), 0.04);
    // room again: all see it where it was put
    for (uint32_t i = 0; i < FLR_SESSION_PARTS; i++)
        flr_session_release(leader, 1000 + i, flr_pose_identity());
    for (int round = 0; round < 100 && membership->part_count; round++) {
        flr_test_sites_pass(&s, 0.05);
        for (uint32_t i = 0; i < 2; i++) {
            flr_session *session = flr_share_session(s.sites[i].share);
            for (uint32_t k = 0; k < flr_session_membership(session)->part_count; k++) {
                const flr_membership_part *p = &flr_session_membership(session)->parts[k];
                if (p->part >= 1000) flr_session_settle(session, p->part, p->number);
            }
        }
    }
    assert_lt(await_agreed(&s), 3);
    flr_pose pose;
    assert_true(flr_test_site_pose(&s.sites[0], 1, &pose));
    assert_lt(flr_vec3_distance(pose.p, moved.p), 1e-9);
    flr_test_sites_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hand_over),   cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_source_gone), cmocka_unit_test(test_part_against_part),
        cmocka_unit_test(test_both_hold),   cmocka_unit_test(test_third_meets_what_two_carry),
        cmocka_unit_test(test_free_parts),  cmocka_unit_test(test_undo_while_held),
        cmocka_unit_test(test_parameters),  cmocka_unit_test(test_more_than_ties),
        cmocka_unit_test(test_full_roll),   cmocka_unit_test(test_diverged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
