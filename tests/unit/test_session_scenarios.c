/* a shared session among simulated controllers, in scenarios with a known end: joining and leaving, two who hold one part, taking
 * over, partitions, relays, who only looks. Sessions by chance: test_session.c. */
#include <math.h>

#include "support/sessions.h"

static void test_join_and_leave(void **state)
{
    (void)state;
    flr_test_sessions s;
    flr_test_sessions_begin(&s, 1, &flr_test_lan, 4);
    flr_test_sessions_join(&s);
    flr_test_sessions_pass(&s, 3);
    for (uint32_t i = 0; i < 4; i++) {
        flr_session_person person;
        assert_int_equal(flr_test_session_members(&s.sites[i]), 4);
        // all know all by name, directly
        for (uint32_t k = 0; flr_session_person_at(s.sites[i].session, k, &person); k++) {
            char name[32] = "guest";
            if (person.member > 1) snprintf(name, sizeof name, "guest %u", person.member);
            assert_string_equal(person.name, name);
            assert_true(person.self || person.direct);
            assert_true(person.ready);
            assert_int_equal(person.leader, k == 0);
        }
    }
    // one says goodbye: it is gone at once, and its part is free
    flr_session_hold(s.sites[2].session, 1);
    flr_test_sessions_pass(&s, 0.2);
    flr_membership_part entry;
    assert_true(flr_session_part(s.sites[0].session, 1, &entry));
    assert_int_equal(flr_membership_owner(&entry), flr_session_self(s.sites[2].session));
    s.sites[2].up = false;
    flr_session_destroy(s.sites[2].session);
    flr_test_sessions_pass(&s, 1.5);
    assert_int_equal(flr_test_session_members(&s.sites[0]), 3);
    assert_int_equal(flr_session_count(s.sites[3].session), 3);
    assert_false(flr_session_part(s.sites[0].session, 1, &entry));
    // the leader says goodbye, too: the next oldest leads
    s.sites[0].up = false;
    flr_session_destroy(s.sites[0].session);
    flr_test_sessions_pass(&s, 1.5);
    assert_true(flr_session_hosts(s.sites[1].session));
    assert_int_equal(flr_test_session_members(&s.sites[3]), 2);
    flr_test_sessions_end(&s);
}

/* More members than 32, all connected with all; the part that the last one holds is everybody's knowledge. */
static void test_many_members(void **state)
{
    (void)state;
    enum { MANY = FLR_TEST_SESSION_CAPACITY };
    static flr_test_sessions s;
    flr_test_sessions_begin(&s, 8, &flr_test_lan, MANY);
    flr_test_sessions_join(&s);
    for (int i = 0; i < 40 && flr_test_session_members(&s.sites[1]) < MANY; i++)
        flr_test_sessions_pass(&s, 0.25);
    flr_test_sessions_pass(&s, 1);
    flr_session_hold(s.sites[MANY - 1].session, 2);
    flr_test_sessions_pass(&s, 0.5);
    for (uint32_t i = 0; i < MANY; i++) {
        flr_session_person person;
        flr_membership_part entry;
        assert_int_equal(flr_test_session_members(&s.sites[i]), MANY);
        for (uint32_t k = 0; flr_session_person_at(s.sites[i].session, k, &person); k++)
            assert_true(person.self || person.direct);
        assert_true(flr_session_part(s.sites[i].session, 2, &entry));
        assert_int_equal(flr_membership_owner(&entry), flr_session_self(s.sites[MANY - 1].session));
    }
    flr_test_sessions_end(&s);
}

/* A name that does not fit is cut between characters, also where a number is put behind it; one that is no text is mended.
 * No message takes another, and who sent it would wait to be let in for ever. */
static void test_odd_names(void **state)
{
    (void)state;
    char lamps[4 * 60 + 2] = "x";
    for (int i = 0; i < 60; i++) memcpy(lamps + 1 + 4 * i, "\xf0\x9f\x92\xa1", 5);
    const char *names[4] = {lamps, lamps, "M\xfcller", "\xf0\x9f\x92"};
    char cut[FLR_SESSION_NAME + 1] = "", numbered[FLR_SESSION_NAME + 1] = "";
    memcpy(cut, lamps, 61);
    memcpy(numbered, lamps, 61);
    memcpy(numbered + 61, " 2", 3);
    const char *wanted[4] = {cut, numbered, "M?ller", "???"};
    flr_test_sessions s;
    flr_test_sessions_begin(&s, 5, &flr_test_lan, 4);
    flr_session_destroy(s.sites[0].session);
    for (uint32_t i = 0; i < 4; i++) {
        s.sites[i].name = names[i];
        flr_test_session_start(&s.sites[i]);
        if (i == 0) flr_session_lead(s.sites[0].session);
        flr_test_sessions_pass(&s, 0.1);
        if (i > 0) flr_session_join(s.sites[i].session, s.sites[0].address);
        flr_test_sessions_pass(&s, 1);
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(flr_test_session_members(&s.sites[i]), 4);
        flr_session_person person;
        for (uint32_t k = 0; k < 4; k++) {
            assert_true(flr_session_person_at(s.sites[i].session, k, &person));
            assert_string_equal(person.name, wanted[k]);
        }
    }
    flr_test_sessions_end(&s);
}

/* A guest that asks while the scene is loaded learns once why it waits, and is let in afterwards. */
static void test_waits_for_scene(void **state)
{
    (void)state;
    flr_test_sessions s;
    flr_test_sessions_begin(&s, 6, &flr_test_lan, 2);
    s.sites[0].loads = true;
    flr_test_session_start(&s.sites[1]);
    flr_session_join(s.sites[1].session, s.sites[0].address);
    flr_test_sessions_pass(&s, 5);
    assert_false(flr_session_is_in(s.sites[1].session));
    assert_int_equal(s.sites[1].news, 1);
    flr_session_ready(s.sites[0].session, true);
    flr_test_sessions_pass(&s, 2);
    assert_int_equal(flr_test_session_members(&s.sites[1]), 2);
    flr_test_sessions_end(&s);
}

/* The network is interrupted after the host has answered, and before it lets in: the guest calls again by itself. Where the host
 * does not come back, it gives up. */
static void test_interrupted_join(void **state)
{
    (void)state;
    for (int back = 1; back >= 0; back--) {
        flr_test_sessions s;
        flr_test_sessions_begin(&s, 7, &flr_test_lan, 2);
        s.sites[0].loads = true;
        flr_test_session_start(&s.sites[1]);
        flr_session_join(s.sites[1].session, s.sites[0].address);
        flr_test_sessions_pass(&s, 2);
        assert_int_equal(s.sites[1].news, 1);
        flr_sim_set_group(s.sites[1].env, 1);
        flr_test_sessions_pass(&s, 4);
        assert_int_equal(s.sites[1].refused, 0);
        if (back) flr_sim_heal(s.sim);
        flr_session_ready(s.sites[0].session, true);
        flr_test_sessions_pass(&s, back ? 2 : 10);
        assert_int_equal(flr_test_session_members(&s.sites[0]), back ? 2 : 1);
        assert_int_equal(flr_session_is_in(s.sites[1].session), back);
        assert_int_equal(s.sites[1].refused, !back);
        flr_test_sessions_end(&s);
    }
}

static void test_two_hold_one(void **state)
{
    (void)state;
    flr_test_sessions s;
    flr_test_sessions_begin(&s, 2, &flr_test_lan, 3);
    flr_test_sessions_join(&s);
    flr_test_sessions_pass(&s, 2);
    flr_membership_part entry;
    flr_session_hold(s.sites[1].session, 0);
    flr_test_sessions_pass(&s, 0.1);
    flr_session_hold(s.sites[2].session, 0);
    flr_test_sessions_pass(&s, 0.1);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(flr_session_part(s.sites[i].session, 0, &entry));
        assert_int_equal(entry.holder_count, 2);
        assert_int_equal(flr_membership_owner(&entry), flr_session_self(s.sites[1].session));
    }
    flr_pose place = {{1, 2, 3}, {1, 0, 0, 0}};
    flr_session_release(s.sites[1].session, 0, place);
    flr_test_sessions_pass(&s, 0.1);
    assert_true(flr_session_part(s.sites[0].session, 0, &entry));
    assert_int_equal(flr_membership_owner(&entry), flr_session_self(s.sites[2].session));
    s.sites[2].parts[0] = place;
    flr_session_release(s.sites[2].session, 0, place);
    flr_test_sessions_pass(&s, 1);
    assert_true(flr_test_sessions_agree(&s));
    assert_eq(s.sites[0].parts[0].p.z, 3);
    // a later guest finds it there
    flr_pose found;
    assert_true(flr_session_place(s.sites[0].session, 0, &found));
    assert_eq(found.p.y, 2);
    flr_test_sessions_end(&s);
}

static void test_takeover(void **state)
{
    (void)state;
    flr_sim_network network = flr_test_lan;
    for (int64_t delay = 1; delay <= 1000; delay *= 10) {
        network.delay_ns = delay * FLR_SIM_MS;
        flr_test_sessions s;
        flr_test_sessions_begin(&s, 3, &network, 3);
        flr_test_sessions_join(&s);
        flr_test_sessions_pass(&s, 25);
        assert_int_equal(flr_test_session_members(&s.sites[2]), 3);
        flr_session_hold(s.sites[0].session, 2);
        flr_test_sessions_pass(&s, 3);
        // the leader's machine dies with a part in its hand
        double died = flr_test_sessions_now(&s);
        s.sites[0].up = false;
        flr_sim_crash(s.sites[0].env);
        while (!flr_session_hosts(s.sites[1].session) && flr_test_sessions_now(&s) < died + 10)
            flr_test_sessions_pass(&s, 0.02);
        printf("delay %lld ms: another leads after %.2f s", (long long)delay,
               flr_test_sessions_now(&s) - died);
        parties_check(&s, flr_test_sessions_now(&s) - died <= 5);
        while (flr_session_epoch(s.sites[2].session).leader != 2 &&
               flr_test_sessions_now(&s) < died + 10)
            flr_test_sessions_pass(&s, 0.02);
        printf(", everybody knows after %.2f s\n", flr_test_sessions_now(&s) - died);
        parties_check(&s, flr_test_sessions_now(&s) - died <= 5);
        // its part is frozen: nobody may take it, until it has been away for long
        flr_membership_part entry;
        assert_true(flr_session_part(s.sites[2].session, 2, &entry));
        assert_int_equal(entry.frozen, 1);
        uint32_t lost = s.sites[2].lost;
        flr_session_hold(s.sites[2].session, 2);
        flr_test_sessions_pass(&s, 3);
        assert_int_equal(s.sites[2].lost, lost + 1);
        flr_test_sessions_pass(&s, 12);
        flr_session_hold(s.sites[2].session, 2);
        flr_test_sessions_pass(&s, 3);
        assert_int_equal(s.sites[2].lost, lost + 1);
        assert_true(flr_session_part(s.sites[1].session, 2, &entry));
        assert_int_equal(flr_membership_owner(&entry), 3);
        flr_session_destroy(s.sites[0].session);
        flr_test_sessions_end(&s);
    }
}

static void test_partition(void **state)
{
    (void)state;
    flr_test_sessions s;
    flr_test_sessions_begin(&s, 4, &flr_test_lan, 4);
    flr_test_sessions_join(&s);
    flr_test_sessions_pass(&s, 3);
    flr_session_hold(s.sites[3].session, 1);
    flr_test_sessions_pass(&s, 0.5);
    for (uint32_t i = 2; i < 4; i++) flr_sim_set_group(s.sites[i].env, 1);
    flr_test_sessions_pass(&s, 6);
    // each side has its leader; the part is held there, and frozen here
    flr_membership_part entry;
    assert_true(flr_session_hosts(s.sites[0].session));
    assert_true(flr_session_hosts(s.sites[2].session));
    assert_true(flr_session_part(s.sites[1].session, 1, &entry));
    assert_int_equal(entry.frozen, 4);
    assert_true(flr_session_part(s.sites[2].session, 1, &entry));
    assert_int_equal(flr_membership_owner(&entry), 4);
    flr_sim_heal(s.sim);
    flr_test_sessions_pass(&s, 6);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(flr_test_session_members(&s.sites[i]), 4);
    flr_test_sessions_let_go(&s);
    flr_test_sessions_pass(&s, 3);
    assert_true(flr_test_sessions_agree(&s));
    flr_test_sessions_end(&s);
}

/* Where the network is parted each side lets somebody in, under the same number; together again all are told apart. */
static void test_one_number_twice(void **state)
{
    (void)state;
    flr_test_sessions s;
    flr_test_sessions_begin(&s, 7, &flr_test_lan, 4);
    flr_test_session_start(&s.sites[1]);
    flr_session_join(s.sites[1].session, s.sites[0].address);
    flr_test_sessions_pass(&s, 2);
    flr_sim_set_group(s.sites[1].env, 1);
    flr_sim_set_group(s.sites[3].env, 1);
    flr_test_sessions_pass(&s, 5);
    for (uint32_t i = 2; i < 4; i++) {
        flr_test_session_start(&s.sites[i]);
        flr_session_join(s.sites[i].session, s.sites[i - 2].address);
    }
    flr_test_sessions_pass(&s, 2);
    assert_int_equal(flr_session_self(s.sites[2].session), 3);
    assert_int_equal(flr_session_self(s.sites[3].session), 3);
    // what the losing side has moved goes back to where the others have it
    flr_session_hold(s.sites[3].session, 0);
    flr_test_sessions_pass(&s, 0.2);
    s.sites[3].parts[0].p.x = 1;
    flr_session_release(s.sites[3].session, 0, s.sites[3].parts[0]);
    flr_test_sessions_pass(&s, 1);
    flr_sim_heal(s.sim);
    flr_test_sessions_pass(&s, 8);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(flr_test_session_members(&s.sites[i]), 4);
        for (uint32_t k = 0; k < i; k++)
            assert_int_not_equal(flr_session_self(s.sites[i].session),
                                 flr_session_self(s.sites[k].session));
    }
    flr_session_hold(s.sites[3].session, 1);
    flr_session_hold(s.sites[2].session, 2);
    flr_test_sessions_pass(&s, 0.5);
    assert_true(flr_session_owns(s.sites[3].session, 1));
    assert_true(flr_session_owns(s.sites[2].session, 2));
    flr_test_sessions_let_go(&s);
    flr_test_sessions_pass(&s, 2);
    assert_true(flr_test_sessions_agree(&s));
    flr_test_sessions_end(&s);
}

/* Who only looks takes nothing and moves nothing. */
static void test_watcher(void **state)
{
    (void)state;
    flr_test_sessions s;
    flr_test_sessions_begin(&s, 8, &flr_test_lan, 2);
    flr_test_session_start(&s.sites[1]);
    flr_session_destroy(s.sites[1].session);
    flr_session_def def = flr_default_session_def();
    flr_error error;
    def.env = s.sites[1].env;
    def.local = s.sites[1].address;
    def.token = FLR_TEST_SESSION_TOKEN;
    def.role = FLR_WIRE_PEER_WATCHER;
    assert_ok(flr_session_create(&def, &s.sites[1].session, &error), error);
    flr_session_join(s.sites[1].session, s.sites[0].address);
    flr_test_sessions_pass(&s, 2);
    assert_false(flr_session_may_hold(s.sites[1].session, 0));
    assert_true(flr_session_may_hold(s.sites[0].session, 0));
    flr_pose elsewhere = {{1, 2, 3}, {1, 0, 0, 0}}, found;
    flr_session_hold(s.sites[1].session, 0);
    flr_test_sessions_pass(&s, 0.2);
    assert_int_equal(s.sites[1].lost, 1);
    // neither by a part that it took and let go of before anybody knew
    flr_session_hold(s.sites[1].session, 0);
    flr_session_release(s.sites[1].session, 0, elsewhere);
    flr_test_sessions_pass(&s, 0.5);
    assert_int_equal(flr_session_membership(s.sites[0].session)->part_count, 0);
    assert_true(!flr_session_place(s.sites[0].session, 0, &found) || found.p.x == 0);
    flr_test_sessions_end(&s);
}

static void test_relay(void **state)
{
    (void)state;
    flr_test_sessions s;
    flr_test_sessions_begin(&s, 5, &flr_test_lan, 3);
    // the two who join cannot reach each other, only the leader
    flr_sim_network broken = flr_test_lan;
    broken.loss = 1;
    flr_sim_set_link(s.sites[1].env, s.sites[2].env, &broken);
    flr_sim_set_link(s.sites[2].env, s.sites[1].env, &broken);
    for (uint32_t i = 1; i < 3; i++) {
        flr_test_session_start(&s.sites[i]);
        flr_session_join(s.sites[i].session, s.sites[0].address);
    }
    flr_test_sessions_pass(&s, 5);
    flr_session_person person;
    assert_true(
        flr_session_person_find(s.sites[1].session, flr_session_self(s.sites[2].session), &person));
    assert_false(person.direct);
    assert_in_range((uint64_t)(person.delay * 1e6), 1900,
                    4000); /* two hops of a millisecond, in us */
    flr_session_event event;
    uint32_t states = 0;
    flr_sim_set_program(s.sites[1].env, NULL, NULL);
    for (int i = 0; i < 100; i++) {
        flr_sim_run(s.sim, flr_sim_now(s.sim) + 10 * FLR_SIM_MS);
        while (flr_session_next(s.sites[1].session, &event))
            states += event.kind == FLR_SESSION_STATE &&
                      event.member == flr_session_self(s.sites[2].session);
        flr_session_service(s.sites[1].session);
    }
    assert_gt(states, 40);
    flr_test_sessions_end(&s);
}

static void test_another_scene(void **state)
{
    (void)state;
    flr_test_sessions s;
    flr_test_sessions_begin(&s, 6, &flr_test_lan, 2);
    flr_session_destroy(s.sites[0].session);
    flr_session_def def = flr_default_session_def();
    flr_error error;
    def.token = FLR_TEST_SESSION_TOKEN;
    def.has_scene = true;
    for (uint32_t i = 0; i < 2; i++) {
        def.env = s.sites[i].env;
        def.local = s.sites[i].address;
        def.scene.low = i;
        assert_ok(flr_session_create(&def, &s.sites[i].session, &error), error);
        s.sites[i].up = true;
    }
    flr_session_lead(s.sites[0].session);
    flr_session_join(s.sites[1].session, s.sites[0].address);
    flr_sim_set_program(s.sites[1].env, NULL, NULL);
    bool refused = false;
    for (int i = 0; i < 100 && !refused; i++) {
        flr_session_event event;
        flr_sim_run(s.sim, flr_sim_now(s.sim) + 10 * FLR_SIM_MS);
        while (flr_session_next(s.sites[1].session, &event))
            if (event.kind == FLR_SESSION_REFUSED) {
                assert_non_null(strstr(event.sentence, "another scene"));
                refused = true;
            }
        flr_session_service(s.sites[1].session);
    }
    assert_true(refused);
    assert_int_equal(flr_session_count(s.sites[0].session), 1);
    flr_test_sessions_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join_and_leave),
        cmocka_unit_test(test_many_members),
        cmocka_unit_test(test_odd_names),
        cmocka_unit_test(test_waits_for_scene),
        cmocka_unit_test(test_interrupted_join),
        cmocka_unit_test(test_two_hold_one),
        cmocka_unit_test(test_takeover),
        cmocka_unit_test(test_partition),
        cmocka_unit_test(test_one_number_twice),
        cmocka_unit_test(test_watcher),
        cmocka_unit_test(test_relay),
        cmocka_unit_test(test_another_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
