/* the membership of a shared session: whatever its leader does to it, it says one thing, and travels unchanged */
#include "session/membership.h"

#include "protocol/codec.h"
#include "support/test.h"

static bool where(void *context, uint32_t part, flr_pose *pose)
{
    (void)context;
    *pose = flr_pose_identity();
    pose->p.x = part;
    return true;
}

/* What must hold of every membership. */
static void check(const flr_membership *membership)
{
    for (uint32_t i = 1; i < membership->member_count; i++)
        assert_lt(membership->members[i - 1].member, membership->members[i].member);
    for (uint32_t i = 0; i < membership->part_count; i++) {
        const flr_membership_part *p = &membership->parts[i];
        if (i) assert_lt(membership->parts[i - 1].part, p->part);
        assert_eq(p->rest, (p->holder_count == 0));
        assert_true(p->holder_count || p->unsettled_count || p->frozen);
        if (p->frozen) assert_int_equal(p->holder_count, 0);
        if (p->holder_count) assert_int_equal(p->unsettled_count, 0);
        for (uint32_t k = 0; k < p->holder_count; k++) {
            const flr_membership_member *m =
                flr_membership_member_find((flr_membership *)membership, p->holders[k]);
            assert_true(m);
            assert_false(m->away);
        }
        for (uint32_t k = 0; k < p->unsettled_count; k++) {
            const flr_membership_member *m =
                flr_membership_member_find((flr_membership *)membership, p->unsettled[k]);
            assert_true(m);
            assert_false(m->away);
        }
    }
}

static void check_travel(const flr_membership *membership)
{
    static flr_membership_buffers buffers;
    static flr_membership copy;
    flr_msg_peer_membership message;
    flr_error error;
    flr_membership_write(membership, 77, &buffers, &message);
    assert_ok(flr_membership_read(&message, &copy, &error), error);
    copy.changed = membership->changed;
    assert_int_equal(copy.part_count, membership->part_count);
    assert_int_equal(flr_membership_compare(&copy, membership), 0);
    assert_memory_equal(copy.members, membership->members,
                        membership->member_count * sizeof *membership->members);
    for (uint32_t i = 0; i < membership->part_count; i++) {
        const flr_membership_part *a = &copy.parts[i], *b = &membership->parts[i];
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

static void test_random_commands(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("membership");
    static flr_membership membership;
    membership = (flr_membership){.epoch = {1, 1}};
    uint16_t top = 0;
    flr_membership_add(&membership, ++top, 7);
    for (int i = 0; i < 20000; i++) {
        uint16_t member =
            membership.members[flr_test_random_below(&random, membership.member_count)].member;
        uint32_t part = flr_test_random_below(&random, 300);
        const flr_membership_member *m = flr_membership_member_find(&membership, member);
        uint32_t before = membership.number;
        switch (flr_test_random_below(&random, 12)) {
        case 0:
            if (membership.member_count < 20) flr_membership_add(&membership, ++top, 7);
            break;
        case 1:
            if (member != 1) flr_membership_away(&membership, member, where, NULL);
            break;
        case 2:
            flr_membership_back(&membership, member);
            break;
        case 3:
            if (member != 1 && flr_test_random_below(&random, 10) == 0)
                flr_membership_remove(&membership, member, where, NULL);
            break;
        case 4:
        case 5:
        case 6:
            if (!m->away) (void)flr_membership_hold(&membership, member, part);
            break;
        case 7:
        case 8:
            if (!m->away) flr_membership_release(&membership, member, part, flr_pose_identity());
            break;
        default:
            // somebody brings home what is left to do
            if (membership.part_count) {
                const flr_membership_part *p =
                    &membership.parts[flr_test_random_below(&random, membership.part_count)];
                if (p->rest && p->unsettled_count)
                    flr_membership_settle(&membership, p->unsettled[0], p->part, p->number);
            }
        }
        bool changed = membership.changed;
        flr_membership_publish(&membership);
        assert_int_equal(membership.number, before + changed);
        check(&membership);
        if (i % 50 == 0) check_travel(&membership);
    }
    assert_gt(membership.part_count, 10);
}

/* Somebody moved a frozen part before it knew: it goes back, at all who can be heard, and stays frozen. */
static void test_frozen(void **state)
{
    (void)state;
    flr_membership membership = {.epoch = {1, 1}};
    flr_pose at = flr_pose_identity(), other = flr_pose_make(flr_vec3_make(1, 2, 3), at.q);
    for (uint16_t m = 1; m <= 3; m++) assert_true(flr_membership_add(&membership, m, m));
    assert_true(flr_membership_hold(&membership, 2, 7));
    flr_membership_publish(&membership);
    flr_membership_away(&membership, 2, NULL, NULL);
    flr_membership_publish(&membership);
    uint32_t number = flr_membership_part_find(&membership, 7)->number;
    flr_membership_settle(&membership, 1, 7, number);
    flr_membership_settle(&membership, 3, 7, number);
    flr_membership_publish(&membership);
    assert_false(flr_membership_hold(&membership, 3, 7));
    flr_membership_release(&membership, 3, 7, other);
    flr_membership_publish(&membership);
    const flr_membership_part *p = flr_membership_part_find(&membership, 7);
    assert_eq(p->frozen, 2);
    assert_true(p->rest);
    assert_gt(p->number, number);
    assert_true(flr_membership_owes(p, 3));
    assert_memory_equal(&p->T_world_part, &at, sizeof at);
}

/* A part that does not get to its place where the leader is gets another one, which all owe. */
static void test_move(void **state)
{
    (void)state;
    flr_membership membership = {.epoch = {1, 1}};
    flr_pose at = flr_pose_identity(), other = flr_pose_make(flr_vec3_make(1, 2, 3), at.q);
    for (uint16_t m = 1; m <= 3; m++) assert_true(flr_membership_add(&membership, m, m));
    flr_membership_release(&membership, 2, 7, at);
    flr_membership_publish(&membership);
    const flr_membership_part *p = flr_membership_part_find(&membership, 7);
    uint32_t number = p->number;
    flr_membership_settle(&membership, 3, 7, number);
    flr_membership_publish(&membership);
    flr_membership_move(&membership, 7, number, other);
    assert_true(membership.changed);
    flr_membership_publish(&membership);
    p = flr_membership_part_find(&membership, 7);
    assert_true(p->rest);
    assert_gt(p->number, number);
    assert_eq(p->unsettled_count, 3);
    assert_eq(p->T_world_part.p.y, 2);
    // by an old number, or when somebody holds it: nothing
    flr_membership_move(&membership, 7, number, at);
    assert_true(flr_membership_hold(&membership, 1, 7));
    flr_membership_publish(&membership);
    flr_membership_move(&membership, 7, flr_membership_part_find(&membership, 7)->number, at);
    flr_membership_move(&membership, 8, 0, at);
    assert_false(membership.changed);
    check_travel(&membership);
}

static void test_epochs(void **state)
{
    (void)state;
    flr_epoch a = {3, 2}, b = {3, 5}, c = {4, 9};
    assert_gt(flr_epoch_compare(c, a), 0);
    assert_lt(flr_epoch_compare(a, c), 0);
    // of two with one count the older leader is believed
    assert_gt(flr_epoch_compare(a, b), 0);
    assert_lt(flr_epoch_compare(b, a), 0);
    assert_int_equal(flr_epoch_compare(b, b), 0);
}

static void test_contradictions(void **state)
{
    (void)state;
    static flr_membership membership, out;
    static flr_membership_buffers buffers;
    flr_msg_peer_membership m;
    flr_error error;
    membership = (flr_membership){.epoch = {1, 1}};
    for (uint16_t i = 1; i <= 3; i++) flr_membership_add(&membership, i, 7);
    flr_membership_hold(&membership, 2, 7);
    flr_membership_hold(&membership, 3, 7);
    flr_membership_release(&membership, 3, 9, flr_pose_identity());
    flr_membership_publish(&membership);
#define refused(change)                                                                            \
    do {                                                                                           \
        flr_membership_write(&membership, 1, &buffers, &m);                                        \
        change;                                                                                    \
        memset(&out, 0x5A, sizeof out);                                                            \
        assert_int_equal(flr_membership_read(&m, &out, &error), FLR_BAD_INPUT);                    \
        assert_int_equal(((uint8_t *)&out)[sizeof out - 1], 0x5A);                                 \
    } while (0)
    refused(m.leader = 4);
    refused(buffers.members[0].bits |= FLR_WIRE_PEER_AWAY);
    refused(buffers.members[1].member = 1);
    refused(buffers.members[0].member = 0);
    refused(buffers.parts[1].part = 7);
    refused(buffers.parts[0].bits |= FLR_WIRE_PEER_REST);
    refused(buffers.parts[1].bits &= ~(uint32_t)FLR_WIRE_PEER_REST);
    refused(buffers.parts[1].bits |= FLR_WIRE_PEER_FROZEN);
    refused(buffers.holders[0].part = 8);
    refused(buffers.holders[1].member = 2);
    refused(buffers.holders[1].member = 9);
    refused(buffers.members[2].bits |= FLR_WIRE_PEER_AWAY);
    refused(m.holders_count = 0);
    flr_membership_write(&membership, 1, &buffers, &m);
    assert_ok(flr_membership_read(&m, &out, &error), error);
}

/* As many parts as there may be with so many members, all of them owed by all: it fits one message. One more is refused, and
 * so is one more member. */
static void test_full(void **state)
{
    (void)state;
    static flr_membership membership;
    static flr_membership_buffers buffers;
    static uint8_t frame[65536];
    for (uint32_t members = 1; members <= FLR_SESSION_MEMBERS; members++) {
        memset(&membership, 0, sizeof membership);
        membership.epoch = (flr_epoch){1, 1};
        for (uint16_t m = 1; m <= members; m++) assert_true(flr_membership_add(&membership, m, m));
        uint32_t most = flr_membership_max_parts(&membership);
        assert_ge(most, 64);
        assert_le(most, FLR_SESSION_PARTS);
        for (uint32_t part = 0; part < most; part++)
            flr_membership_release(&membership, 1, part, flr_pose_identity());
        assert_int_equal(membership.part_count, most);
        flr_membership_publish(&membership);
        uint32_t number = membership.number;
        assert_false(flr_membership_hold(&membership, 1, 1000));
        flr_membership_release(&membership, 1, 1000, flr_pose_identity());
        assert_int_equal(membership.part_count, most);
        assert_false(membership.changed);
        if (members == FLR_SESSION_MEMBERS || (most + 1) * (members + 1) > FLR_MEMBERSHIP_UNSETTLED)
            assert_int_equal(flr_membership_add(&membership, 1000, 1000),
                             members < FLR_SESSION_MEMBERS &&
                                 most * (members + 1) <= FLR_MEMBERSHIP_UNSETTLED);
        if (membership.member_count > members)
            flr_membership_remove(&membership, 1000, where, NULL);
        check(&membership);
        check_travel(&membership);
        flr_message m = {.id = FLR_MSG_PEER_MEMBERSHIP};
        size_t size;
        flr_error error;
        flr_membership_write(&membership, 77, &buffers, &m.as.peer_membership);
        assert_ok(flr_protocol_encode(&m, FLR_PROTOCOL_MINOR, frame, sizeof frame, &size, &error),
                  error);
        // held by as many as can be, too
        for (uint32_t part = 0; part < most; part++)
            for (uint16_t k = 1; k <= members; k++) (void)flr_membership_hold(&membership, k, part);
        check(&membership);
        check_travel(&membership);
        assert_eq(membership.number, number);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_commands),
                                       cmocka_unit_test(test_frozen),
                                       cmocka_unit_test(test_move),
                                       cmocka_unit_test(test_epochs),
                                       cmocka_unit_test(test_contradictions),
                                       cmocka_unit_test(test_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
