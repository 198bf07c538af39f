/* the workspace of a device in the world: scale, axes, clutch, boundary; and what clients ask for */
#include <math.h>

#include "feeler/hand.h"
#include "sim/mapping.h"
#include "support/fixtures.h"

static const double tiny = 1e-12;

static flr_pose at(double x, double y, double z)
{
    return flr_pose_make((flr_vec3){x, y, z}, flr_quat_identity());
}

/* An arm of 160 x 120 x 120 mm whose middle is not its origin, at a metre's scale. */
static flr_mapping_def arm(flr_mapping_boundary boundary)
{
    flr_mapping_def def = flr_default_mapping_def();
    def.T_world_base = at(1, 2, 3);
    def.scale = 5;
    def.workspace = flr_box3_make((flr_vec3){-0.08, -0.01, -0.06}, (flr_vec3){0.08, 0.11, 0.06});
    def.boundary = boundary;
    def.clutch_button = 1;
    return def;
}

static void assert_near(flr_vec3 a, flr_vec3 b, double within)
{
    assert_within(a.x, b.x, within);
    assert_within(a.y, b.y, within);
    assert_within(a.z, b.z, within);
}

static void scales_about_the_middle(void **state)
{
    (void)state;
    flr_mapping_def def = arm(FLR_BOUNDARY_NONE);
    flr_mapping map = flr_mapping_make(&def);
    assert_near(flr_mapping_follow(&map, at(0, 0.05, 0), 0, 1e-3).p, (flr_vec3){1, 2, 3}, tiny);
    assert_near(flr_mapping_follow(&map, at(0.02, 0.05, 0), 0, 1e-3).p, (flr_vec3){1.1, 2, 3},
                tiny);
    flr_pose middle;
    flr_vec3 half;
    assert_true(flr_mapping_workspace(&map, &middle, &half));
    assert_near(middle.p, (flr_vec3){1, 2, 3}, tiny);
    assert_near(half, (flr_vec3){0.4, 0.3, 0.3}, tiny);
    // a page's hand is where it says, to the bit
    def = flr_default_mapping_def();
    map = flr_mapping_make(&def);
    flr_pose T = flr_pose_make((flr_vec3){0.1, 0.2, 0.3},
                               flr_quat_normalize((flr_quat){.w = 1, .x = 2, .y = 3, .z = 4}));
    flr_pose same = flr_mapping_follow(&map, T, 3, 1e-3);
    assert_memory_equal(&same.p, &T.p, sizeof T.p);
    assert_memory_equal(&same.q, &T.q, sizeof T.q);
    assert_false(flr_mapping_workspace(&map, &middle, &half));
}

/* The clutch: the hand stays, turned or moved, and goes on from there. */
static void clutch_holds_the_hand(void **state)
{
    (void)state;
    flr_mapping_def def = arm(FLR_BOUNDARY_NONE);
    flr_mapping map = flr_mapping_make(&def);
    flr_mapping_follow(&map, at(0.06, 0.05, 0), 0, 1e-3);
    for (int by_button = 0; by_button < 2; by_button++) {
        const flr_pose held = map.T_world_hand;
        map.held = !by_button;
        for (int i = 1; i <= 100; i++) {
            flr_pose back = at(0.06 - 0.001 * i, 0.05, 0);
            back.q = flr_quat_from_axis_angle((flr_vec3){0, 0, 1}, 0.01 * i);
            flr_pose now = flr_mapping_follow(&map, back, by_button ? 2 : 0, 1e-3);
            assert_near(now.p, held.p, tiny);
            assert_true(map.clutched);
            assert_within(fabs(now.q.w), fabs(held.q.w), 1e-9);
        }
        map.held = false;
        // let go: nothing moves until the device does, and then as far as that goes
        flr_pose on = at(-0.04, 0.05, 0);
        on.q = flr_quat_from_axis_angle((flr_vec3){0, 0, 1}, 1);
        assert_near(flr_mapping_follow(&map, on, 0, 1e-3).p, held.p, 1e-9);
        on.p.x += 0.01;
        assert_near(flr_mapping_follow(&map, on, 0, 1e-3).p,
                    flr_vec3_add(held.p, (flr_vec3){0.05, 0, 0}), 1e-9);
        on.p.x = 0.06;
        on.q = flr_quat_identity();
        flr_mapping_follow(&map, on, 0, 1e-3);
    }
}

/* Another scale or direction while a part is held: it does not jump. */
static void changes_without_a_jump(void **state)
{
    (void)state;
    flr_mapping_def def = arm(FLR_BOUNDARY_NONE);
    flr_mapping map = flr_mapping_make(&def);
    const flr_pose before = flr_mapping_follow(&map, at(0.03, 0.07, -0.02), 0, 1e-3);
    def.scale = 0.5;
    def.T_world_base.q = flr_quat_from_axis_angle((flr_vec3){0, 0, 1}, M_PI / 2);
    flr_mapping_change(&map, &def);
    assert_near(flr_mapping_follow(&map, at(0.03, 0.07, -0.02), 0, 1e-3).p, before.p, 1e-12);
    // right of the device is now the world's y
    assert_near(flr_mapping_follow(&map, at(0.04, 0.07, -0.02), 0, 1e-3).p,
                flr_vec3_add(before.p, (flr_vec3){0, 0.005, 0}), 1e-12);
}

static void the_bubble_leads_on(void **state)
{
    (void)state;
    flr_mapping_def def = arm(FLR_BOUNDARY_BUBBLE);
    flr_mapping map = flr_mapping_make(&def);
    double before = flr_mapping_follow(&map, at(0.05, 0.05, 0), 0, 1e-3).p.x;
    for (int i = 0; i < 100; i++) flr_mapping_follow(&map, at(0.05, 0.05, 0), 0, 1e-3);
    assert_within(map.T_world_hand.p.x, before, tiny); /* within: nothing moves by itself */
    assert_false(map.outside);
    flr_mapping_follow(&map, at(0.079, 0.05, 0), 0, 1e-3);
    assert_true(map.outside);
    double last = map.T_world_hand.p.x, most = 0;
    for (int i = 0; i < 1000; i++) {
        double now = flr_mapping_follow(&map, at(0.079, 0.05, 0), 0, 1e-3).p.x;
        most = fmax(most, now - last);
        assert_true(now >= last);
        last = now;
    }
    assert_true(last > 1.2 && most < 0.002); /* metres; metres in a millisecond */
    // late samples, a clock that stands or goes back, and a device beyond its workspace do not throw the hand
    const double odd[] = {0, -5, 1e9, NAN};
    for (int i = 0; i < 4; i++) {
        flr_mapping_follow(&map, at(5, 0.05, 0), 0, 1e-3);
        last = map.T_world_hand.p.x;
        double now = flr_mapping_follow(&map, at(5, 0.05, 0), 0, odd[i]).p.x;
        assert_true(now - last >= 0 && now - last < 0.02);
    }
}

static void drift_leads_the_device_back(void **state)
{
    (void)state;
    flr_mapping_def def = arm(FLR_BOUNDARY_DRIFT);
    flr_mapping map = flr_mapping_make(&def);
    flr_mapping_follow(&map, at(0, 0.05, 0), 0, 1e-3);
    // a person keeps the hand at a place of the scene at 0.35 m, as the view shows it, with a little tremor
    const double goal = 1.35;
    double x = 0;
    for (int i = 0; i < 20000; i++) {
        double now = flr_mapping_follow(&map, at(x, 0.05, 0.002 * sin(0.03 * i)), 0, 1e-3).p.x;
        x += 0.004 * (goal - now);
    }
    assert_within(map.T_world_hand.p.x, goal, 0.01);
    assert_true(fabs(x) < 0.02); /* it would be at 0.07 */
    // what stands does not drift
    const flr_pose held = map.T_world_hand;
    const flr_pose still = map.T_base_grip;
    for (int i = 0; i < 100; i++) flr_mapping_follow(&map, still, 0, 1e-3);
    assert_near(map.T_world_hand.p, held.p, tiny);
}

static void the_scale_lets_it_reach_everything(void **state)
{
    (void)state;
    const flr_box3 touch =
        flr_box3_make((flr_vec3){-0.08, -0.06, -0.06}, (flr_vec3){0.08, 0.06, 0.06});
    const flr_box3 none = flr_box3_empty();
    const flr_box3 gear = flr_box3_make((flr_vec3){0, 0, 0}, (flr_vec3){1.31, 0.5, 1});
    assert_within(flr_mapping_scale(touch, gear), 9.8, 1e-9);
    assert_within(flr_mapping_scale(none, gear), 5.2, 1e-9);
    const flr_box3 watch = flr_box3_make((flr_vec3){0, 0, 0}, (flr_vec3){0.02, 0.02, 0.01});
    assert_within(flr_mapping_scale(touch, watch), 0.15, 1e-9);
    assert_within(flr_mapping_scale(touch, none), 1, 0);
    const flr_box3 ship = flr_box3_make((flr_vec3){0, 0, 0}, (flr_vec3){300, 1, 1});
    assert_within(flr_mapping_scale(touch, ship), 20, 0);
}

static void words_become_a_mapping(void **state)
{
    (void)state;
    flr_error error;
    flr_engine_mapping map = flr_default_engine_mapping();
    assert_int_equal(
        flr_engine_mapping_parse("scale=2.5,axes=world,boundary=bubble,clutch=3", &map, &error),
        FLR_OK);
    assert_true(map.scale == 2.5 && map.axes == FLR_WIRE_AXES_WORLD &&
                map.boundary == FLR_WIRE_BOUNDARY_BUBBLE && map.clutch_button == 3);
    map = flr_default_engine_mapping();
    assert_int_equal(flr_engine_mapping_parse("boundary=drift", &map, &error), FLR_OK);
    assert_true(map.scale == 0 && map.axes == FLR_WIRE_AXES_VIEW && map.clutch_button == -1);
    const char *wrong[] = {"scale=0",    "scale=x",   "axes=sideways", "boundary=wall",
                           "clutch=1.5", "clutch=99", "speed=3",       "scale=1e300"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        map = flr_default_engine_mapping();
        assert_int_equal(flr_engine_mapping_parse(wrong[i], &map, &error), FLR_BAD_ARGUMENT);
        assert_non_null(strstr(error.message, "mapping"));
    }
}

/* In a running simulation: a device moves a hand along the view's axes at its scale, and the clutch holds it. */
static void a_device_follows_the_view(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error;
    flr_remote *remote = flr_remote_create(0);
    flr_device *device;
    uint32_t number;
    flr_test_engine_make(&s, true, NULL);
    assert_int_equal(flr_device_open(&flr_remote_driver, remote, &device, &error), FLR_OK);
    flr_remote_set(remote, at(0, 0, 0), 0);
    assert_int_equal(flr_engine_add_device(s.engine, device, FLR_WIRE_DEVICE_SIMULATED, "arm", NULL,
                                           at(0, 0, 0.5), 2, &number, &error),
                     FLR_OK);
    assert_int_equal(flr_engine_view(s.engine)->workspace_count, 0); /* a page moves it */
    assert_int_equal(flr_engine_select(s.engine, flr_hand(0), number, &error), FLR_OK);
    flr_test_engine_pass(&s, 100);
    const flr_engine_state *now = flr_engine_view(s.engine);
    assert_int_equal(now->workspace_count, 1);
    assert_within(now->workspaces[0].scale, 2, 0);
    assert_near(now->hands[0].T_world_hand.p, (flr_vec3){0, 0, 0.5}, tiny);
    // the eye looks along -x: right is y
    const flr_quat view = flr_quat_from_axis_angle((flr_vec3){0, 0, 1}, M_PI / 2);
    assert_int_equal(flr_engine_set_view_axes(s.engine, flr_hand(0), view, &error), FLR_OK);
    flr_test_engine_pass(&s, 20);
    flr_remote_set(remote, at(0.01, 0, 0), 0);
    flr_test_engine_pass(&s, 20);
    assert_near(flr_engine_view(s.engine)->hands[0].T_world_hand.p, (flr_vec3){0, 0.02, 0.5}, 1e-9);
    assert_int_equal(flr_engine_hold_clutch(s.engine, flr_hand(0), true, &error), FLR_OK);
    flr_test_engine_pass(&s, 20);
    flr_remote_set(remote, at(-0.05, 0, 0), 0);
    flr_test_engine_pass(&s, 20);
    now = flr_engine_view(s.engine);
    assert_true(now->workspaces[0].clutched);
    assert_near(now->hands[0].T_world_hand.p, (flr_vec3){0, 0.02, 0.5}, 1e-9);
    assert_int_equal(flr_engine_hold_clutch(s.engine, flr_hand(0), false, &error), FLR_OK);
    flr_engine_mapping map = {.scale = 4, .axes = FLR_WIRE_AXES_WORLD, .clutch_button = -1};
    assert_int_equal(flr_engine_set_mapping(s.engine, flr_hand(0), &map, &error), FLR_OK);
    flr_test_engine_pass(&s, 20);
    flr_remote_set(remote, at(-0.04, 0, 0), 0);
    flr_test_engine_pass(&s, 20);
    assert_near(flr_engine_view(s.engine)->hands[0].T_world_hand.p, (flr_vec3){0.04, 0.02, 0.5},
                1e-9);
    // what cannot be changes nothing
    map.scale = -1;
    assert_int_equal(flr_engine_set_mapping(s.engine, flr_hand(0), &map, &error), FLR_BAD_ARGUMENT);
    assert_int_equal(flr_engine_set_mapping(s.engine, flr_hand(9), &map, &error), FLR_NOT_FOUND);
    assert_int_equal(flr_engine_hold_clutch(s.engine, flr_hand(9), true, &error), FLR_NOT_FOUND);
    const flr_quat none = {.w = NAN};
    assert_int_equal(flr_engine_set_view_axes(s.engine, flr_hand(0), none, &error),
                     FLR_BAD_ARGUMENT);
    flr_test_engine_free(&s);
    flr_device_close(device);
    flr_remote_destroy(remote);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_about_the_middle),
        cmocka_unit_test(clutch_holds_the_hand),
        cmocka_unit_test(changes_without_a_jump),
        cmocka_unit_test(the_bubble_leads_on),
        cmocka_unit_test(drift_leads_the_device_back),
        cmocka_unit_test(the_scale_lets_it_reach_everything),
        cmocka_unit_test(words_become_a_mapping),
        cmocka_unit_test(a_device_follows_the_view),
    };
    return cmocka_run_group_tests_name("mapping", tests, NULL, NULL);
}
