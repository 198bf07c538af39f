/* a hand without torque keeps the direction of what it holds: a bar that catches at its far end does not turn in it */
#include <math.h>

#include "support/fixtures.h"

static flr_part_id add(flr_test_engine *s, const char *name, flr_vec3 size, flr_vec3 at,
                       flr_part_kind kind)
{
    flr_engine_add_def def = flr_default_engine_add_def();
    flr_error error;
    flr_part_id part;
    uint32_t job;
    def.name = name;
    def.mesh = flr_test_engine_box(size);
    def.kind = kind;
    def.voxel = 0.002;
    def.T_world_part.p = at;
    assert_ok(flr_engine_add(s->engine, &def, &part, &job, &error), error);
    flr_test_engine_settle(s);
    return part;
}

static double degrees(flr_quat q) { return 2 * acos(fmin(1, fabs(q.w))) * 57.29577951308232; }

static double gap(flr_test_engine *s, flr_part_id part)
{
    flr_engine_event event;
    assert_int_equal(flr_engine_clearance_ask(s->engine, part, FLR_NO_PART_ID, true, 1, NULL),
                     FLR_OK);
    for (int i = 0; i < 100; i++) {
        flr_test_engine_pass(s, 10);
        while (flr_engine_next(s->engine, &event))
            if (event.kind == FLR_ENGINE_EVENT_CLEARANCE) return event.clearance.lower;
    }
    fail_msg("no clearance");
    return 0;
}

/* Pulled by 60 mm at one end, caught at the other: it stays as it was turned, still and outside. */
static void a_bar_that_catches_does_not_turn(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    const flr_vec3 at = {0, 0, 0.12}, grip = {0.045, 0, 0.12};
    flr_part_id bar = add(&s, "bar", flr_vec3_make(0.1, 0.016, 0.016), at, FLR_PART_MOVABLE);
    add(&s, "post", flr_vec3_make(0.01, 0.02, 0.06), flr_vec3_make(-0.04, -0.04, 0.12),
        FLR_PART_STATIC);
    flr_test_engine_move(&s, 0, grip, 0, 100);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), bar, NULL), FLR_OK);
    flr_test_engine_pass(&s, 20);
    double most = 0, least = INFINITY;
    for (int i = 1; i <= 60; i++) {
        flr_vec3 to = flr_vec3_make(grip.x, grip.y - 0.001 * i, grip.z);
        flr_test_engine_move(&s, 0, to, 0, 10);
        flr_engine_part_state now = flr_test_engine_part(&s, bar);
        most = fmax(most, degrees(now.T_world_part.q));
    }
    least = gap(&s, bar);
    flr_test_engine_pass(&s, 300);
    /* it may slide along the post for a while, but smoothly: what differs from a frame to the next is the same in the
     * one after */
    flr_pose T[3];
    double shift = 0, turn = 0;
    for (int i = 0; i < 300; i++) {
        flr_engine_run(s.engine, 1);
        T[0] = T[1], T[1] = T[2], T[2] = flr_test_engine_part(&s, bar).T_world_part;
        if (i < 2) continue;
        flr_vec3 ends = flr_vec3_add(T[0].p, T[2].p);
        shift = fmax(shift, flr_vec3_length(flr_vec3_add_scaled(ends, -2, T[1].p)));
        turn = fmax(turn, fabs(degrees(T[0].q) + degrees(T[2].q) - 2 * degrees(T[1].q)));
    }
    print_message("turned %.2f degrees at most, %.2f in the end, gap %.2f mm; trembles by %.1e mm "
                  "and %.1e degrees\n",
                  most, degrees(T[2].q), 1e3 * least, 1e3 * shift, turn);
    assert_int_equal(flr_test_engine_part(&s, bar).look, FLR_WIRE_LOOK_COLLIDING);
    assert_lt(most, 5);
    assert_lt(degrees(T[2].q), 3);
    assert_gt(least, 0);
    assert_gt(gap(&s, bar), 0);
    assert_lt(shift, 1e-6);
    assert_lt(turn, 1e-3);
    flr_test_engine_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bar_that_catches_does_not_turn),
    };
    return cmocka_run_group_tests_name("engine_firm", tests, NULL, NULL);
}
