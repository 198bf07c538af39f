/* ways out that a worker of the engine searches */
#include "sim/way.h"

#include <math.h>

#include "support/fixtures.h"
#include "support/test.h"

static flr_error error;

typedef struct seen {
    uint32_t progress, job;
    bool answered, cancelled;
    flr_result result;
} seen;

/* Services until the answer is there; `cancel`: as soon as something was tried. */
static seen wait_for(flr_test_engine *s, uint32_t token, bool cancel)
{
    seen all = {0};
    flr_engine_event event;
    while (!all.answered) {
        flr_test_engine_pass(s, 10);
        while (flr_engine_next(s->engine, &event)) {
            if (event.token != token) continue;
            if (event.kind == FLR_ENGINE_EVENT_WAY_PROGRESS) {
                all.progress++;
                assert_int_equal(event.index, all.job ? all.job : event.index);
                all.job = event.index;
                if (cancel && !all.cancelled && event.way.poses > 50)
                    all.cancelled = flr_engine_cancel(s->engine, all.job, &error) == FLR_OK;
            }
            if (event.kind == FLR_ENGINE_EVENT_WAY) all.answered = true, all.result = event.result;
            if (all.answered) return all;
        }
    }
    return all;
}

/* The block hangs free above the plate: up, and away. */
static void straight(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    flr_engine_way_def def = flr_default_engine_way_def();
    uint32_t job;
    def.part = s.block;
    def.clearance = 0.005;
    assert_ok(flr_engine_way_ask(s.engine, &def, 7, &job, &error), error);
    const seen all = wait_for(&s, 7, false);
    assert_int_equal(all.result, FLR_OK);
    const flr_engine_way *way = flr_engine_way_of(s.engine, 7);
    assert_non_null(way);
    assert_true(way->found && way->pose_count >= 2 && !way->stopped);
    assert_part_equal(way->part, s.block);
    assert_int_equal(way->method, FLR_PLAN_STRAIGHT);
    assert_within(way->poses[0].p.z, 0.03, 1e-9);
    assert_gt(way->lower, 0.00499);
    assert_null(flr_engine_way_of(s.engine, 8));

    def.clearance = -1;
    assert_int_equal(flr_engine_way_ask(s.engine, &def, 9, &job, &error), FLR_BAD_ARGUMENT);
    def.clearance = 0, def.seconds = INFINITY;
    assert_int_equal(flr_engine_way_ask(s.engine, &def, 9, &job, &error), FLR_BAD_ARGUMENT);
    def.seconds = 1, def.part = flr_engine_part_id(s.engine, 77);
    assert_int_equal(flr_engine_way_ask(s.engine, &def, 9, &job, &error), FLR_NOT_FOUND);
    flr_test_engine_free(&s);
}

/* Six walls around the block, of which none is enough to leave away. */
static void wall_in(flr_test_engine *s)
{
    static const double at[6][3] = {{0.03, 0, 0.05},  {-0.03, 0, 0.05}, {0, 0.03, 0.05},
                                    {0, -0.03, 0.05}, {0, 0, 0.02},     {0, 0, 0.08}};
    for (int i = 0; i < 6; i++) {
        const flr_vec3 size = i < 2   ? flr_vec3_make(0.02, 0.08, 0.08)
                              : i < 4 ? flr_vec3_make(0.08, 0.02, 0.08)
                                      : flr_vec3_make(0.08, 0.08, 0.02);
        flr_test_engine_add(s->engine, "wall", size, flr_vec3_make(at[i][0], at[i][1], at[i][2]),
                            FLR_PART_STATIC, 0.004);
    }
    const flr_pose in = flr_pose_make(flr_vec3_make(0, 0, 0.05), flr_quat_identity());
    assert_ok(flr_engine_place(s->engine, s->block, in, &error), error);
    flr_test_engine_settle(s);
    flr_test_engine_pass(s, 50);
}

static void blocked_and_cancelled(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, false, NULL);
    wall_in(&s);
    flr_engine_way_def def = flr_default_engine_way_def();
    uint32_t job;
    // a way that a person thinks leads out does not
    const flr_pose hint = flr_pose_make(flr_vec3_make(0.2, 0, 0.05), flr_quat_identity());
    def.part = s.block;
    def.seconds = 2; // also on a busy machine enough to meet what blocks it
    def.via = &hint, def.via_count = 1;
    assert_ok(flr_engine_way_ask(s.engine, &def, 11, &job, &error), error);
    seen all = wait_for(&s, 11, false);
    assert_int_equal(all.result, FLR_OK);
    const flr_engine_way *way = flr_engine_way_of(s.engine, 11);
    assert_non_null(way);
    assert_true(!way->found && !way->poses && way->blocker_count > 0);
    assert_gt(all.progress, 0);
    assert_int_equal(all.job, job);
    for (uint32_t i = 0; i < way->blocker_count; i++)
        assert_true(!flr_same_part(way->blockers[i].part, s.plate) &&
                    !flr_same_part(way->blockers[i].part, s.ball));

    // two at a time; both can be ended
    uint32_t jobs[2];
    def.seconds = 3600;
    assert_ok(flr_engine_way_ask(s.engine, &def, 12, &jobs[0], &error), error);
    assert_ok(flr_engine_way_ask(s.engine, &def, 13, &jobs[1], &error), error);
    assert_int_equal(flr_engine_way_ask(s.engine, &def, 14, &job, &error), FLR_AGAIN);
    all = wait_for(&s, 12, true);
    assert_true(all.cancelled && all.result == FLR_OK);
    way = flr_engine_way_of(s.engine, 12);
    assert_true(way && way->stopped && !way->found);
    flr_test_engine_free(&s); // the other one ends with the engine
}

/* ---- guides ---- */

static flr_pose at(flr_vec3 p) { return flr_pose_make(p, flr_quat_identity()); }

static void guide(flr_test_engine *s, flr_vec3 from, bool on)
{
    flr_message message = {.id = FLR_MSG_GUIDE};
    message.as.guide = (flr_msg_guide){.hand = 0,
                                       .on = on,
                                       .from = at(from),
                                       .to = at(flr_vec3_add(from, flr_vec3_make(0.05, 0, 0))),
                                       .share = on ? 0.3 : 0};
    assert_ok(flr_engine_command(s->engine, &message, &error), error);
}

static flr_vec3 where(flr_test_engine *s)
{
    return flr_test_engine_part(s, s->block).T_world_part.p;
}

/* A guide draws what is held to a line, holds nothing back along it, and gives way to the hand. */
static void guided(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    flr_test_engine_move(&s, 0, flr_vec3_make(0, 0, 0.03), 0, 50);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), s.block, NULL), FLR_OK);
    flr_test_engine_move(&s, 0, flr_vec3_make(0, 0, 0.05), 0, 200);
    flr_test_engine_pass(&s, 1000);
    const flr_vec3 from = where(&s);
    guide(&s, from, true);

    // a little beside the line: drawn to it
    const double beside = 0.0001;
    flr_test_engine_move(&s, 0, flr_vec3_make(0, beside, 0.05), 0, 50);
    flr_test_engine_pass(&s, 1000);
    const double drawn = where(&s).y - from.y;
    assert_lt(drawn, 0.8 * beside);
    assert_gt(drawn, 0);

    // along it: nothing holds
    flr_test_engine_move(&s, 0, flr_vec3_make(0.03, beside, 0.05), 0, 1000);
    flr_test_engine_pass(&s, 500);
    assert_within(where(&s).x - from.x, 0.03, 1e-5);

    // far off: the hand has its way
    flr_test_engine_move(&s, 0, flr_vec3_make(0.03, 0.02, 0.05), 0, 1000);
    flr_test_engine_pass(&s, 1000);
    assert_within(where(&s).y - from.y, 0.02, 1e-3);

    guide(&s, from, false);
    flr_test_engine_pass(&s, 1000);
    assert_within(where(&s).y - from.y, 0.02, 1e-5);

    flr_message wrong = {.id = FLR_MSG_GUIDE, .as.guide = {.hand = 0, .on = true, .share = 2}};
    wrong.as.guide.from = wrong.as.guide.to = flr_pose_identity();
    assert_int_equal(flr_engine_command(s.engine, &wrong, &error), FLR_BAD_ARGUMENT);
    flr_test_engine_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight),
        cmocka_unit_test(blocked_and_cancelled),
        cmocka_unit_test(guided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
