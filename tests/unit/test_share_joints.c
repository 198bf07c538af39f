/* rigid groups and joints in a shared session: guests get them with the scene, parts keep to them wherever they are held, also while
 * a part passes from one to the other, and all agree afterwards */
#include <math.h>

#include "support/fixtures.h"
#include "support/part_ids.h"

enum { BLOCK_PART = 1, BRICK_PART = 2 };

static flr_error error;

static flr_part_id part_of(const flr_test_site *s, uint32_t index)
{
    flr_engine_part part;
    assert_true(flr_engine_part_at(s->engine, index, &part));
    return part.part;
}

static flr_pose pose_of(flr_test_site *s, uint32_t index)
{
    flr_pose pose;
    assert_true(flr_test_site_pose(s, index, &pose));
    return pose;
}

/* The user of a site takes a part where it is. */
static void take(flr_test_site *s, uint32_t index)
{
    s->at = s->to = pose_of(s, index).p;
    s->press = false;
    flr_test_sites_pass(s->session, 0.05);
    s->press = true;
    flr_test_sites_pass(s->session, 0.1);
    assert_part_equal(flr_engine_view(s->engine)->hands[0].held, part_of(s, index));
}

static void go(flr_test_site *s, flr_vec3 by, double seconds)
{
    s->to = flr_vec3_add(s->at, by);
    flr_test_sites_pass(s->session, seconds);
}

static void settle(flr_test_sites *s)
{
    for (uint32_t i = 0; i < s->count; i++) s->sites[i].press = false;
    const double from = flr_test_sites_now(s);
    while (!flr_test_sites_agree(s) && flr_test_sites_now(s) < from + 15)
        flr_test_sites_pass(s, 0.02);
    if (!flr_test_sites_agree(s)) flr_test_sites_describe(s);
    assert_true(flr_test_sites_agree(s));
}

/* The host prepares its scene, then a guest joins. */
static void begin(flr_test_sites *s, void (*prepare)(flr_test_site *host))
{
    flr_test_sites_begin(s, 2, &flr_test_lan, 2, 1000);
    s->prepare = prepare;
    flr_test_site_start(&s->sites[0], NULL);
    flr_test_sites_await_ready(s, 5);
    flr_test_sites_join(s);
    flr_test_sites_await_ready(s, 20);
    flr_test_sites_pass(s, 0.5);
}

/* ---- a rigid group ---- */

static void make_pair(flr_test_site *host)
{
    flr_engine *engine = host->engine;
    const flr_part_id both[] = {part_of(host, BLOCK_PART), part_of(host, BRICK_PART)};
    assert_ok(flr_engine_group(engine, "pair", both, 2, &error), error);
    assert_ok(flr_engine_set_rigid(engine, "pair", true, &error), error);
}

/* metres: how far the brick is from where the block has it, at both sites, at most. */
static double torn(flr_test_sites *s)
{
    double most = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const flr_pose T = flr_pose_mul(flr_pose_inverse(pose_of(&s->sites[i], BLOCK_PART)),
                                        pose_of(&s->sites[i], BRICK_PART));
        most = fmax(most, flr_vec3_distance(T.p, flr_vec3_make(0.1, 0, 0)));
    }
    return most;
}

static void a_group_moves_as_one_everywhere(void **state)
{
    (void)state;
    flr_test_sites s;
    begin(&s, make_pair);
    flr_test_site *host = &s.sites[0], *guest = &s.sites[1];
    assert_int_equal(flr_engine_groups(guest->engine), 1);
    assert_true(flr_engine_group_is_rigid(guest->engine, 0));
    take(guest, BRICK_PART);
    go(guest, flr_vec3_make(0, 0.02, 0.04), 1);
    assert_lt(torn(&s), 1e-9);
    for (uint32_t i = 0; i < 2; i++)
        assert_within(pose_of(&s.sites[i], BRICK_PART).p.z, 0.088, 0.004);
    /* the host takes another part of it while the guest holds it, and keeps it when the guest lets go */
    take(host, BLOCK_PART);
    go(host, flr_vec3_make(0.02, 0, 0.02), 0.3);
    assert_lt(torn(&s), 1e-9);
    guest->press = false;
    go(host, flr_vec3_make(0, 0, 0.05), 0.5);
    assert_lt(torn(&s), 1e-9);
    for (uint32_t i = 0; i < 2; i++) assert_gt(pose_of(&s.sites[i], BRICK_PART).p.z, 0.12);
    settle(&s);
    assert_lt(torn(&s), 1e-9);
    flr_test_sites_end(&s);
}

/* ---- joints ---- */

/* The block slides along x by 20 mm; the brick turns about the block's upright axis. */
static void make_joints(flr_test_site *host)
{
    flr_engine *engine = host->engine;
    flr_joint slide = flr_default_joint(), turn = flr_default_joint();
    slide.kind = FLR_JOINT_PRISMATIC;
    slide.a = FLR_JOINT_WORLD, slide.b = part_of(host, BLOCK_PART).index;
    slide.axis = flr_vec3_make(1, 0, 0);
    slide.slide = (flr_joint_axis){.limited = true, .low = 0, .high = 0.02};
    assert_ok(flr_engine_set_joint(engine, "slide", &slide, &error), error);
    turn.kind = FLR_JOINT_REVOLUTE;
    turn.a = part_of(host, BLOCK_PART).index, turn.b = part_of(host, BRICK_PART).index;
    turn.point = flr_vec3_make(-0.05, 0, 0.05);
    assert_ok(flr_engine_set_joint(engine, "turn", &turn, &error), error);
}

/* metres: how far parts are off their joints, at both sites, at most. */
static double off_joints(flr_test_sites *s)
{
    double most = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const flr_pose block = pose_of(&s->sites[i], BLOCK_PART),
                       brick = pose_of(&s->sites[i], BRICK_PART);
        most = fmax(most, fmax(fabs(block.p.y), fabs(block.p.z - 0.05)));
        most = fmax(most, fmax(-0.05 - block.p.x, block.p.x + 0.03));
        /* the brick's place that lies on the axis is the block's */
        const flr_vec3 axis = flr_pose_apply(brick, flr_vec3_make(-0.1, 0, 0));
        most = fmax(most, flr_vec3_distance(axis, block.p));
    }
    return most;
}

static void joints_hold_everywhere(void **state)
{
    (void)state;
    flr_test_sites s;
    begin(&s, make_joints);
    flr_test_site *host = &s.sites[0], *guest = &s.sites[1];
    assert_int_equal(flr_engine_joints(guest->engine), 2);
    take(guest, BRICK_PART);
    go(guest, flr_vec3_make(-0.03, 0.06, 0.04), 0.6);
    assert_lt(off_joints(&s), 1e-4); /* limits give by less */
    for (uint32_t i = 0; i < 2; i++) assert_gt(pose_of(&s.sites[i], BRICK_PART).p.y, 0.03);
    /* the host takes the other side of the joint, beyond its limit */
    take(host, BLOCK_PART);
    go(host, flr_vec3_make(0.05, 0.02, 0), 0.5);
    assert_lt(off_joints(&s), 1e-3); /* a hand at each site pulls against the other's limit */
    for (uint32_t i = 0; i < 2; i++) assert_gt(pose_of(&s.sites[i], BLOCK_PART).p.x, -0.045);
    /* the brick passes from the guest to the host, who lets go of the block for it */
    host->press = false;
    flr_test_sites_pass(&s, 0.1);
    take(host, BRICK_PART);
    guest->press = false;
    go(host, flr_vec3_make(0.04, -0.06, 0), 0.6);
    assert_lt(off_joints(&s), 1e-4);
    settle(&s);
    assert_lt(off_joints(&s), 1e-4);
    flr_test_sites_end(&s);
}

/* Who holds a jointed part is gone: it stays at its joint, and others may take it. */
static void a_holder_may_go(void **state)
{
    (void)state;
    flr_test_sites s;
    begin(&s, make_joints);
    flr_test_site *host = &s.sites[0], *guest = &s.sites[1];
    take(guest, BRICK_PART);
    go(guest, flr_vec3_make(0, 0.05, 0), 0.4);
    flr_test_site_stop(guest);
    s.count = 1;
    flr_test_sites_pass(&s, 8);
    assert_lt(off_joints(&s), 1e-4);
    take(host, BRICK_PART);
    go(host, flr_vec3_make(0, 0.04, 0), 0.5);
    assert_lt(off_joints(&s), 1e-4);
    s.count = 2;
    flr_test_sites_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_moves_as_one_everywhere),
        cmocka_unit_test(joints_hold_everywhere),
        cmocka_unit_test(a_holder_may_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
