/* the roll of a shared session: whatever its leader does to it, it says one thing, and travels unchanged */
#include "peer/roll.h"

#include "protocol/codec.h"
#include "support/test.h"

static bool where(void *context, uint32_t part, flr_pose *pose)
{
    (void)context;
    *pose = flr_pose_identity();
    pose->p.x = part;
    return true;
}

/* What must hold of every roll. */
static void check(const flr_roll *roll)
{
    for (uint32_t i = 1; i < roll->member_count; i++)
        assert_true(roll->members[i - 1].member < roll->members[i].member);
    for (uint32_t i = 0; i < roll->part_count; i++) {
        const flr_roll_part *p = &roll->parts[i];
        if (i) assert_true(roll->parts[i - 1].part < p->part);
        assert_true(p->rest == (p->holder_count == 0));
        assert_true(p->holder_count || p->unsettled_count || p->frozen);
        if (p->frozen) assert_int_equal(p->holder_count, 0);
        if (p->holder_count) assert_int_equal(p->unsettled_count, 0);
        for (uint32_t k = 0; k < p->holder_count; k++) {
            const flr_roll_member *m = flr_roll_member_find((flr_roll *)roll, p->holders[k]);
            assert_true(m && !m->away);
        }
        for (uint32_t k = 0; k < p->unsettled_count; k++) {
            const flr_roll_member *m = flr_roll_member_find((flr_roll *)roll, p->unsettled[k]);
            assert_true(m && !m->away);
        }
    }
}

static void check_travel(const flr_roll *roll)
{
    static flr_roll_room room;
    static flr_roll copy;
    flr_msg_peer_roll message;
    flr_error error;
    flr_roll_write(roll, 77, &room, &message);
    assert_ok(flr_roll_read(&message, &copy, &error), error);
    copy.changed = roll->changed;
    assert_int_equal(copy.part_count, roll->part_count);
    assert_int_equal(flr_roll_compare(&copy, roll), 0);
    assert_memory_equal(copy.members, roll->members, roll->member_count * sizeof *roll->members);
    for (uint32_t i = 0; i < roll->part_count; i++) {
        const flr_roll_part *a = &copy.parts[i], *b = &roll->parts[i];
        assert_int_equal(a->part, b->part);
        assert_int_equal(a->rest, b->rest);
        assert_int_equal(a->frozen, b->frozen);
        assert_int_equal(a->number, b->number);
        assert_memory_equal(&a->T_world_part, &b->T_world_part, sizeof a->T_world_part);
        assert_int_equal(a->holder_count, b->holder_count);
        assert_int_equal(a->unsettled_count, b->unsettled_count);
        assert_memory_equal(a->holders, b->holders, b->holder_count * sizeof *b->holders);
        assert_memory_equal(a->unsettled, b->unsettled, b->unsettled_count * sizeof *b->unsettled);
    }
}

static void test_random_deeds(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("roll");
    static flr_roll roll;
    roll = (flr_roll){.epoch = {1, 1}};
    uint16_t top = 0;
    flr_roll_add(&roll, ++top, 7);
    for (int i = 0; i < 20000; i++) {
        uint16_t member = roll.members[flr_test_random_below(&random, roll.member_count)].member;
        uint32_t part = flr_test_random_below(&random, 300);
        const flr_roll_member *m = flr_roll_member_find(&roll, member);
        uint32_t before = roll.number;
        switch (flr_test_random_below(&random, 12)) {
        case 0:
            if (roll.member_count < 20) flr_roll_add(&roll, ++top, 7);
            break;
        case 1:
            if (member != 1) flr_roll_away(&roll, member, where, NULL);
            break;
        case 2:
            flr_roll_back(&roll, member);
            break;
        case 3:
            if (member != 1 && flr_test_random_below(&random, 10) == 0)
                flr_roll_remove(&roll, member, where, NULL);
            break;
        case 4:
        case 5:
        case 6:
            if (!m->away) (void)flr_roll_hold(&roll, member, part);
            break;
        case 7:
        case 8:
            if (!m->away) flr_roll_release(&roll, member, part, flr_pose_identity());
            break;
        default:
            // somebody brings home what is left to do
            if (roll.part_count) {
                const flr_roll_part *p =
                    &roll.parts[flr_test_random_below(&random, roll.part_count)];
                if (p->rest && p->unsettled_count)
                    flr_roll_settle(&roll, p->unsettled[0], p->part, p->number);
            }
        }
        bool changed = roll.changed;
        flr_roll_publish(&roll);
        assert_int_equal(roll.number, before + changed);
        check(&roll);
        if (i % 50 == 0) check_travel(&roll);
    }
    assert_true(roll.part_count > 10);
}

/* Somebody moved a frozen part before it knew: it goes back, at all who can be heard, and stays frozen. */
static void test_frozen(void **state)
{
    (void)state;
    flr_roll roll = {.epoch = {1, 1}};
    flr_pose at = flr_pose_identity(), other = flr_pose_make(flr_vec3_make(1, 2, 3), at.q);
    for (uint16_t m = 1; m <= 3; m++) assert_true(flr_roll_add(&roll, m, m));
    assert_true(flr_roll_hold(&roll, 2, 7));
    flr_roll_publish(&roll);
    flr_roll_away(&roll, 2, NULL, NULL);
    flr_roll_publish(&roll);
    uint32_t number = flr_roll_part_find(&roll, 7)->number;
    flr_roll_settle(&roll, 1, 7, number);
    flr_roll_settle(&roll, 3, 7, number);
    flr_roll_publish(&roll);
    assert_false(flr_roll_hold(&roll, 3, 7));
    flr_roll_release(&roll, 3, 7, other);
    flr_roll_publish(&roll);
    const flr_roll_part *p = flr_roll_part_find(&roll, 7);
    assert_true(p->frozen == 2 && p->rest && p->number > number && flr_roll_owes(p, 3));
    assert_memory_equal(&p->T_world_part, &at, sizeof at);
}

/* A part that does not get to its place where the leader is gets another one, which all owe. */
static void test_move(void **state)
{
    (void)state;
    flr_roll roll = {.epoch = {1, 1}};
    flr_pose at = flr_pose_identity(), other = flr_pose_make(flr_vec3_make(1, 2, 3), at.q);
    for (uint16_t m = 1; m <= 3; m++) assert_true(flr_roll_add(&roll, m, m));
    flr_roll_release(&roll, 2, 7, at);
    flr_roll_publish(&roll);
    const flr_roll_part *p = flr_roll_part_find(&roll, 7);
    uint32_t number = p->number;
    flr_roll_settle(&roll, 3, 7, number);
    flr_roll_publish(&roll);
    flr_roll_move(&roll, 7, number, other);
    assert_true(roll.changed);
    flr_roll_publish(&roll);
    p = flr_roll_part_find(&roll, 7);
    assert_true(p->rest && p->number > number && p->unsettled_count == 3);
    assert_true(p->T_world_part.p.y == 2);
    // by an old number, or when somebody holds it: nothing
    flr_roll_move(&roll, 7, number, at);
    assert_true(flr_roll_hold(&roll, 1, 7));
    flr_roll_publish(&roll);
    flr_roll_move(&roll, 7, flr_roll_part_find(&roll, 7)->number, at);
    flr_roll_move(&roll, 8, 0, at);
    assert_false(roll.changed);
    check_travel(&roll);
}

static void test_epochs(void **state)
{
    (void)state;
    flr_epoch a = {3, 2}, b = {3, 5}, c = {4, 9};
    assert_true(flr_epoch_compare(c, a) > 0 && flr_epoch_compare(a, c) < 0);
    // of two with one count the older leader is believed
    assert_true(flr_epoch_compare(a, b) > 0 && flr_epoch_compare(b, a) < 0);
    assert_int_equal(flr_epoch_compare(b, b), 0);
}

static void test_contradictions(void **state)
{
    (void)state;
    static flr_roll roll, out;
    static flr_roll_room room;
    flr_msg_peer_roll m;
    flr_error error;
    roll = (flr_roll){.epoch = {1, 1}};
    for (uint16_t i = 1; i <= 3; i++) flr_roll_add(&roll, i, 7);
    flr_roll_hold(&roll, 2, 7);
    flr_roll_hold(&roll, 3, 7);
    flr_roll_release(&roll, 3, 9, flr_pose_identity());
    flr_roll_publish(&roll);
#define refused(change)                                                                            \
    do {                                                                                           \
        flr_roll_write(&roll, 1, &room, &m);                                                       \
        change;                                                                                    \
        memset(&out, 0x5A, sizeof out);                                                            \
        assert_int_equal(flr_roll_read(&m, &out, &error), FLR_BAD_INPUT);                          \
        assert_int_equal(((uint8_t *)&out)[sizeof out - 1], 0x5A);                                 \
    } while (0)
    refused(m.leader = 4);
    refused(room.members[0].bits |= FLR_WIRE_PEER_AWAY);
    refused(room.members[1].member = 1);
    refused(room.members[0].member = 0);
    refused(room.parts[1].part = 7);
    refused(room.parts[0].bits |= FLR_WIRE_PEER_REST);
    refused(room.parts[1].bits &= ~(uint32_t)FLR_WIRE_PEER_REST);
    refused(room.parts[1].bits |= FLR_WIRE_PEER_FROZEN);
    refused(room.holders[0].part = 8);
    refused(room.holders[1].member = 2);
    refused(room.holders[1].member = 9);
    refused(room.members[2].bits |= FLR_WIRE_PEER_AWAY);
    refused(m.holders_count = 0);
    flr_roll_write(&roll, 1, &room, &m);
    assert_ok(flr_roll_read(&m, &out, &error), error);
}

/* As many parts as there may be with so many members, all of them owed by all: it fits one message. One more is refused, and
 * so is one more member. */
static void test_full(void **state)
{
    (void)state;
    static flr_roll roll;
    static flr_roll_room room;
    static uint8_t frame[65536];
    for (uint32_t members = 1; members <= FLR_PARTY_MEMBERS; members++) {
        memset(&roll, 0, sizeof roll);
        roll.epoch = (flr_epoch){1, 1};
        for (uint16_t m = 1; m <= members; m++) assert_true(flr_roll_add(&roll, m, m));
        uint32_t most = flr_roll_most(&roll);
        assert_true(most >= 128 && most <= FLR_PARTY_PARTS);
        for (uint32_t part = 0; part < most; part++)
            flr_roll_release(&roll, 1, part, flr_pose_identity());
        assert_int_equal(roll.part_count, most);
        flr_roll_publish(&roll);
        uint32_t number = roll.number;
        assert_false(flr_roll_hold(&roll, 1, 1000));
        flr_roll_release(&roll, 1, 1000, flr_pose_identity());
        assert_int_equal(roll.part_count, most);
        assert_false(roll.changed);
        if (members == FLR_PARTY_MEMBERS || (most + 1) * (members + 1) > FLR_ROLL_UNSETTLED)
            assert_int_equal(flr_roll_add(&roll, 1000, 1000),
                             members < FLR_PARTY_MEMBERS &&
                                 most * (members + 1) <= FLR_ROLL_UNSETTLED);
        if (roll.member_count > members) flr_roll_remove(&roll, 1000, where, NULL);
        check(&roll);
        check_travel(&roll);
        flr_message m = {.id = FLR_MSG_PEER_ROLL};
        size_t size;
        flr_error error;
        flr_roll_write(&roll, 77, &room, &m.as.peer_roll);
        assert_ok(flr_protocol_encode(&m, FLR_PROTOCOL_MINOR, frame, sizeof frame, &size, &error),
                  error);
        // held by as many as can be, too
        for (uint32_t part = 0; part < most; part++)
            for (uint16_t k = 1; k <= members; k++) (void)flr_roll_hold(&roll, k, part);
        check(&roll);
        check_travel(&roll);
        assert_true(roll.number == number);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_deeds),   cmocka_unit_test(test_frozen),
        cmocka_unit_test(test_move),           cmocka_unit_test(test_epochs),
        cmocka_unit_test(test_contradictions), cmocka_unit_test(test_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
