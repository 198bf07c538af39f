/* the engine without threads, on a simulated machine: hands and parts, undo, parameters, parts that come and go, what
 * stays as one, recordings */
#include <math.h>

#include "support/fail_alloc.h"
#include "support/fixtures.h"

static const flr_vec3 above = {0, 0, 0.2}, at_block = {0, 0, 0.03}, at_ball = {0.05, 0, 0.03};

static void grabbing_follows_kim(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    // a hand that is far touches nothing
    flr_test_engine_move(&s, 0, above, 0, 100);
    assert_int_equal(flr_test_engine_part(&s, s.block).look, FLR_WIRE_LOOK_PLAIN);
    assert_true(flr_engine_view(s.engine)->hands[0].bits & FLR_WIRE_HAND_PRESENT);
    // in the block: it is ready
    flr_test_engine_move(&s, 0, at_block, 0, 200);
    flr_test_engine_pass(&s, 100);
    assert_int_equal(flr_test_engine_part(&s, s.block).look, FLR_WIRE_LOOK_READY);
    assert_part_equal(flr_engine_view(s.engine)->hands[0].touched, s.block);
    // the button takes it
    flr_test_engine_move(&s, 0, at_block, 1, 20);
    assert_int_equal(flr_test_engine_part(&s, s.block).look, FLR_WIRE_LOOK_HELD);
    assert_part_equal(flr_engine_view(s.engine)->hands[0].held, s.block);
    // it follows
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0.02, 0.05}, 1, 300);
    flr_test_engine_pass(&s, 300);
    flr_pose T = flr_test_engine_part(&s, s.block).T_world_part;
    assert_lt(fabs(T.p.y - 0.02), 1e-3);
    assert_lt(fabs(T.p.z - 0.05), 1e-3);
    // pressed into the plate it collides and stays out of it; the ghost goes on
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0.02, -0.02}, 1, 500);
    flr_test_engine_pass(&s, 200);
    const flr_engine_state *now = flr_engine_view(s.engine);
    assert_int_equal(flr_test_engine_part(&s, s.block).look, FLR_WIRE_LOOK_COLLIDING);
    assert_gt(flr_test_engine_part(&s, s.block).T_world_part.p.z, 0.01);
    assert_lt(now->hands[0].T_world_ghost.p.z, -0.01);
    assert_gt(now->contact_count, 0);
    assert_gt(now->contacts_given, 0);
    assert_part_equal(now->contacts[0].part, s.block);
    assert_part_equal(now->contacts[0].other, s.plate);
    assert_gt(now->contacts[0].force.z, 0);
    // what it touches turns red, too, and back
    assert_int_equal(flr_test_engine_part(&s, s.plate).look, FLR_WIRE_LOOK_COLLIDING);
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0.02, 0.05}, 1, 200);
    flr_test_engine_pass(&s, 200);
    assert_int_equal(flr_test_engine_part(&s, s.plate).look, FLR_WIRE_LOOK_PLAIN);
    // let go, it stays where it is
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0.02, 0.1}, 0, 200);
    assert_part_equal(flr_engine_view(s.engine)->hands[0].held, FLR_NO_PART_ID);
    assert_lt(fabs(flr_test_engine_part(&s, s.block).T_world_part.p.y - 0.02), 1e-3);
    // whoever moved the hand is gone, and so is the hand, until it moves again
    assert_int_equal(flr_engine_leave(s.engine, flr_hand(0), NULL), FLR_OK);
    flr_test_engine_pass(&s, 50);
    assert_false(flr_engine_view(s.engine)->hands[0].bits & FLR_WIRE_HAND_PRESENT);
    flr_test_engine_move(&s, 0, above, 0, 50);
    assert_true(flr_engine_view(s.engine)->hands[0].bits & FLR_WIRE_HAND_PRESENT);
    flr_test_engine_free(&s);
}

static void two_hands_and_part_against_part(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    flr_test_engine_move(&s, 0, at_block, 0, 100);
    flr_test_engine_move(&s, 1, at_ball, 0, 100);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), s.block, NULL), FLR_OK);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(1), FLR_NO_PART_ID, NULL), FLR_OK);
    flr_test_engine_pass(&s, 20);
    assert_part_equal(flr_engine_view(s.engine)->hands[1].held, s.ball);
    flr_test_engine_move(&s, 1, at_block, 0, 500);
    flr_test_engine_pass(&s, 100);
    assert_int_equal(flr_test_engine_part(&s, s.block).look, FLR_WIRE_LOOK_COLLIDING);
    assert_int_equal(flr_test_engine_part(&s, s.ball).look, FLR_WIRE_LOOK_COLLIDING);
    double gap = flr_test_engine_part(&s, s.ball).T_world_part.p.x -
                 flr_test_engine_part(&s, s.block).T_world_part.p.x;
    assert_gt(gap, 0.02);
    flr_test_engine_free(&s);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error;
    flr_test_engine_make(&s, true, NULL);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), s.plate, &error), FLR_DENIED);
    assert_non_null(strstr(error.message, "plate"));
    assert_int_equal(
        flr_engine_grab(s.engine, flr_hand(0), flr_engine_part_id(s.engine, 77), &error),
        FLR_NOT_FOUND);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(9), s.block, &error), FLR_NOT_FOUND);
    assert_int_equal(flr_engine_undo(s.engine, 0, &error), FLR_BAD_ARGUMENT);
    flr_pose bad = {{NAN, 0, 0}, {1, 0, 0, 0}};
    assert_int_equal(flr_engine_place(s.engine, s.block, bad, &error), FLR_BAD_ARGUMENT);
    assert_int_equal(flr_engine_hand_input(s.engine, flr_hand(0), bad, 0, &error),
                     FLR_BAD_ARGUMENT);
    flr_pose far = {{0, 0, -1e308}, {1, 0, 0, 0}}; /* no scene file could hold it */
    assert_int_equal(flr_engine_place(s.engine, s.block, far, &error), FLR_BAD_ARGUMENT);
    assert_int_equal(flr_engine_hand_input(s.engine, flr_hand(0), far, 0, &error),
                     FLR_BAD_ARGUMENT);
    assert_int_equal(flr_engine_remove(s.engine, flr_engine_part_id(s.engine, 77), &error),
                     FLR_NOT_FOUND);
    assert_int_equal(flr_engine_voxelize(s.engine, s.block, -1, NULL, &error), FLR_BAD_ARGUMENT);
    assert_int_equal(flr_engine_cancel(s.engine, 1000, &error), FLR_NOT_FOUND);
    assert_int_equal(flr_engine_record_start(s.engine, "x", NULL, &error), FLR_UNSUPPORTED);
    assert_int_equal(flr_engine_select(s.engine, flr_hand(0), 50, &error), FLR_NOT_FOUND);
    assert_int_equal(flr_engine_clearance_ask(s.engine, s.block, s.block, false, 1, &error),
                     FLR_BAD_ARGUMENT);
    assert_int_equal(flr_engine_start(s.engine, &error), FLR_UNSUPPORTED);
    flr_test_engine_free(&s);
}

static void undo_and_reset(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    flr_pose a = flr_pose_make(flr_vec3_make(0.01, 0, 0.06), flr_quat_identity());
    flr_pose b = flr_pose_make(flr_vec3_make(0.02, 0, 0.07), flr_quat_identity());
    flr_engine_place(s.engine, s.block, a, NULL);
    flr_test_engine_pass(&s, 10);
    flr_engine_place(s.engine, s.block, b, NULL);
    flr_test_engine_pass(&s, 10);
    assert_int_equal(flr_engine_view(s.engine)->undo, 2);
    assert_eq(flr_test_engine_part(&s, s.block).T_world_part.p.x, 0.02);
    flr_engine_reset(s.engine, NULL);
    flr_test_engine_pass(&s, 10);
    assert_eq(flr_test_engine_part(&s, s.block).T_world_part.p.x, 0);
    flr_engine_undo(s.engine, 1, NULL);
    flr_test_engine_pass(&s, 10);
    assert_eq(flr_test_engine_part(&s, s.block).T_world_part.p.x, 0.02);
    flr_engine_undo(s.engine, 1, NULL);
    flr_test_engine_pass(&s, 10);
    assert_eq(flr_test_engine_part(&s, s.block).T_world_part.p.x, 0.01);
    flr_engine_undo(s.engine, 99, NULL); /* more than there is */
    flr_test_engine_pass(&s, 10);
    assert_eq(flr_test_engine_part(&s, s.block).T_world_part.p.x, 0);
    assert_int_equal(flr_engine_view(s.engine)->undo, 0);
    // a grab is a step, too
    flr_test_engine_move(&s, 0, at_block, 0, 100);
    flr_test_engine_move(&s, 0, at_block, 1, 20);
    flr_test_engine_move(&s, 0, above, 1, 300);
    assert_gt(flr_test_engine_part(&s, s.block).T_world_part.p.z, 0.1);
    flr_engine_undo(s.engine, 1, NULL);
    flr_test_engine_pass(&s, 10);
    assert_eq(flr_test_engine_part(&s, s.block).T_world_part.p.z, 0.03);
    assert_part_equal(flr_engine_view(s.engine)->hands[0].held, FLR_NO_PART_ID);
    flr_test_engine_free(&s);
}

static double value_of(flr_engine *engine, const char *name)
{
    flr_engine_parameter p;
    for (uint32_t i = 0; flr_engine_parameter_at(engine, i, &p); i++)
        if (strcmp(p.name, name) == 0) return p.value;
    fail_msg("no parameter %s", name);
    return 0;
}

static void parameters_have_ranges(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error;
    flr_test_engine_make(&s, true, NULL);
    for (uint32_t i = 0; i < flr_engine_parameters(s.engine); i++) {
        flr_engine_parameter p;
        assert_true(flr_engine_parameter_at(s.engine, i, &p));
        assert_le(p.low, p.preset);
        assert_le(p.preset, p.high);
        assert_le(p.low, p.value);
        assert_gt(strlen(p.doc), 5);
        assert_gt(strlen(p.name), 2);
        assert_int_equal(flr_engine_set(s.engine, p.name, p.low - 1, &error), FLR_BAD_ARGUMENT);
        assert_int_equal(flr_engine_set(s.engine, p.name, NAN, &error), FLR_BAD_ARGUMENT);
        assert_int_equal(flr_engine_set(s.engine, p.name, p.value, &error), FLR_OK);
    }
    assert_int_equal(flr_engine_set(s.engine, "stifness", 5, &error), FLR_NOT_FOUND);
    assert_non_null(strstr(error.message, "stiffness"));
    // the onset and the force layer are one
    assert_int_equal(flr_engine_set(s.engine, "onset", 0.008, &error), FLR_OK);
    assert_eq(value_of(s.engine, "force_layer"), 4);
    assert_int_equal(flr_engine_set(s.engine, "force_layer", 2, &error), FLR_OK);
    assert_lt(fabs(value_of(s.engine, "onset") - 0.004), 1e-12);
    flr_test_engine_free(&s);
}

/* where the block stops on its way down */
static double stops_at(double layer)
{
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    assert_int_equal(flr_engine_set(s.engine, "force_layer", layer, NULL), FLR_OK);
    flr_test_engine_move(&s, 0, at_block, 0, 100);
    flr_test_engine_move(&s, 0, at_block, 1, 20);
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0, 0}, 1, 400);
    flr_test_engine_pass(&s, 200);
    double z = flr_test_engine_part(&s, s.block).T_world_part.p.z;
    flr_test_engine_free(&s);
    return z;
}

static void more_clearance_stops_earlier(void **state)
{
    (void)state;
    double near = stops_at(2), far = stops_at(5);
    assert_gt(far, near + 0.004); /* three voxels of 2 mm, less what they give way */
}

static void parts_come_and_go(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    flr_test_engine_move(&s, 0, at_block, 0, 100);
    flr_test_engine_pass(&s, 100);
    flr_test_engine_move(&s, 0, at_block, 1, 20);
    // one more while the block is held
    flr_engine_add_def def = flr_default_engine_add_def();
    flr_part_id part;
    uint32_t job;
    def.name = "third";
    def.mesh = flr_test_engine_box(flr_vec3_make(0.02, 0.02, 0.02));
    def.kind = FLR_PART_MOVABLE;
    def.voxel = 0.002;
    def.T_world_part.p = flr_vec3_make(-0.05, 0, 0.03);
    assert_int_equal(flr_engine_add(s.engine, &def, &part, &job, NULL), FLR_OK);
    flr_engine_service(s.engine);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(1), part, NULL), FLR_AGAIN);
    flr_test_engine_settle(&s);
    assert_part_equal(flr_engine_view(s.engine)->hands[0].held, s.block);
    assert_eq(flr_test_engine_part(&s, part).T_world_part.p.x, -0.05);
    // the held one still follows
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0, 0.06}, 1, 300);
    flr_test_engine_pass(&s, 200);
    assert_lt(fabs(flr_test_engine_part(&s, s.block).T_world_part.p.z - 0.06), 1e-3);
    // other voxels
    assert_int_equal(flr_engine_voxelize(s.engine, s.ball, 0.001, &job, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    flr_engine_part info;
    assert_int_equal(flr_engine_get_part(s.engine, s.ball, &info, NULL), FLR_OK);
    assert_eq(info.voxel, 0.001);
    // and gone, from the hand
    assert_int_equal(flr_engine_remove(s.engine, s.block, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    const flr_engine_state *now = flr_engine_view(s.engine);
    assert_part_equal(now->hands[0].held, FLR_NO_PART_ID);
    assert_int_equal(now->part_count, 2);
    flr_engine_scene scene;
    flr_engine_get_scene(s.engine, &scene);
    assert_int_equal(scene.parts, 3);
    flr_test_engine_free(&s);
}

static void wait_for(flr_test_engine *s, flr_engine_event_kind kind, flr_engine_event *event)
{
    for (int i = 0; i < 60000; i++) {
        flr_test_engine_pass(s, 10);
        while (flr_engine_next(s->engine, event))
            if (event->kind == kind) return;
    }
    fail_msg("no such event");
}

/* Somebody asks faster than anything can be done: it is bounded, and what must arrive does. */
static void floods_are_bounded(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_event event;
    flr_error error;
    uint32_t job, told = 0, posted = 0;
    flr_test_engine_make(&s, true, NULL);
    while (flr_engine_next(s.engine, &event)) continue;
    // a parameter is reported once, not for each change
    for (int i = 0; i < 2000; i++) flr_engine_set(s.engine, "reach", i & 1 ? 0.001 : 0.002, NULL);
    while (flr_engine_next(s.engine, &event)) told += event.kind == FLR_ENGINE_EVENT_PARAMETER;
    assert_int_equal(told, 1);
    flr_test_engine_settle(&s);
    // news of the hand do not take the room of the world that comes back from the loop
    assert_int_equal(flr_engine_voxelize(s.engine, s.ball, 0.001, &job, NULL), FLR_OK);
    flr_engine_service(s.engine);
    flr_engine_service(s.engine);
    for (int i = 0; i < 2000; i++) {
        flr_engine_grab(s.engine, flr_hand(0), s.block, NULL);
        flr_engine_run(s.engine, 1);
    }
    flr_test_engine_settle(&s);
    assert_int_equal(flr_engine_voxelize(s.engine, s.ball, 0.002, &job, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(1), s.ball, NULL), FLR_OK);
    // jobs that wait are counted
    while (flr_engine_voxelize(s.engine, s.ball, 0.002, &job, &error) == FLR_OK) posted++;
    assert_int_equal(posted, 256);
    assert_int_equal(error.code, FLR_AGAIN);
    assert_int_equal(flr_engine_load(s.engine, "nowhere.json", &job, NULL), FLR_AGAIN);
    flr_test_engine_free(&s);
}

static void a_part_does_not_take_all_memory(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_event event;
    uint32_t job;
    flr_test_engine_make(&s, true, NULL);
    assert_int_equal(flr_engine_voxelize(s.engine, s.ball, 1e-8, &job, NULL), FLR_OK);
    do wait_for(&s, FLR_ENGINE_EVENT_JOB, &event);
    while (event.job.state != FLR_WIRE_JOB_ENDED || event.job.job != job);
    assert_int_equal(event.job.result, FLR_TOO_LARGE);
    assert_non_null(strstr(event.job.sentence, "GB"));
    flr_test_engine_free(&s);
}

static void what_stays_is_one_until_it_is_taken(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    flr_test_engine_pass(&s, 600);
    flr_test_engine_settle(&s);
    assert_true(flr_engine_view(s.engine)->merged);
    flr_test_engine_move(&s, 0, at_block, 0, 200);
    // taken: apart in the same frame
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), s.block, NULL), FLR_OK);
    flr_engine_run(s.engine, 1);
    assert_false(flr_engine_view(s.engine)->merged);
    // the rest is one again, the held part touches the plate in it
    flr_test_engine_pass(&s, 600);
    assert_true(flr_engine_view(s.engine)->merged);
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0, -0.01}, 0, 400);
    flr_test_engine_pass(&s, 100);
    const flr_engine_state *now = flr_engine_view(s.engine);
    assert_true(now->merged);
    assert_int_equal(flr_test_engine_part(&s, s.block).look, FLR_WIRE_LOOK_COLLIDING);
    assert_part_equal(now->contacts[0].other, s.plate);
    // and let go, all is one
    flr_engine_release(s.engine, flr_hand(0), NULL);
    flr_test_engine_pass(&s, 800);
    assert_true(flr_engine_view(s.engine)->merged);
    flr_test_engine_free(&s);
}

static void recordings_can_be_shown(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error;
    uint32_t recording, job;
    flr_engine_recording info;
    flr_test_engine_make(&s, true, "/recordings");
    flr_test_engine_move(&s, 0, at_block, 0, 100);
    assert_int_equal(flr_engine_record_start(s.engine, "a b", &recording, &error), FLR_OK);
    assert_int_equal(flr_engine_record_start(s.engine, "c", NULL, &error), FLR_AGAIN);
    flr_test_engine_move(&s, 0, at_block, 1, 20);
    assert_true(flr_engine_view(s.engine)->recording);
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0, 0.08}, 1, 480);
    assert_int_equal(flr_engine_record_stop(s.engine, &error), FLR_OK);
    flr_test_engine_pass(&s, 20);
    assert_true(flr_engine_recording_at(s.engine, recording, &info));
    assert_true(info.finished);
    assert_gt(info.bytes, 0);
    assert_eq(info.lost, 0);
    assert_int_equal(info.frames, 500);
    assert_string_equal(info.name, "a b");
    assert_string_equal(info.path, "/recordings/a_b.mcap");
    // shown again
    flr_engine_reset(s.engine, NULL);
    flr_test_engine_pass(&s, 20);
    assert_int_equal(flr_engine_replay(s.engine, recording, &job, &error), FLR_OK);
    flr_test_engine_settle(&s);
    flr_engine_replay_state shown;
    flr_engine_get_replay(s.engine, &shown);
    assert_true(shown.active);
    assert_false(shown.playing);
    assert_lt(fabs(shown.length - 0.5), 0.02);
    assert_lt(fabs(flr_test_engine_part(&s, s.block).T_world_part.p.z - 0.03), 1e-4);
    flr_engine_replay_seek(s.engine, 0.5, NULL);
    assert_gt(flr_test_engine_part(&s, s.block).T_world_part.p.z, 0.06);
    flr_engine_replay_seek(s.engine, 0, NULL);
    flr_engine_replay_play(s.engine, true, 1, NULL);
    flr_test_engine_pass(&s, 250);
    double half = flr_test_engine_part(&s, s.block).T_world_part.p.z;
    assert_gt(half, 0.035);
    assert_lt(half, 0.075);
    assert_true(flr_engine_view(s.engine)->replaying);
    assert_true(flr_engine_view(s.engine)->paused);
    assert_int_equal(flr_engine_replay_end(s.engine, NULL), FLR_OK);
    flr_test_engine_pass(&s, 10);
    assert_false(flr_engine_view(s.engine)->paused);
    assert_eq(flr_test_engine_part(&s, s.block).T_world_part.p.z, 0.03);
    flr_test_engine_free(&s);
}

static void a_point_stays_outside(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    assert_int_equal(flr_engine_set_tool(s.engine, flr_hand(0), FLR_TOOL_POINT, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    flr_test_engine_move(&s, 0, (flr_vec3){-0.05, 0, 0.05}, 0, 100);
    flr_test_engine_pass(&s, 100);
    const flr_engine_state *now = flr_engine_view(s.engine);
    assert_int_equal(now->proxy_count, 1);
    assert_true(now->hands[0].bits & FLR_WIRE_HAND_POINT);
    assert_part_equal(now->proxies[0].part, FLR_NO_PART_ID);
    flr_test_engine_move(&s, 0, (flr_vec3){-0.05, 0, -0.005}, 1, 300);
    flr_test_engine_pass(&s, 100);
    now = flr_engine_view(s.engine);
    assert_part_equal(now->proxies[0].part, s.plate);
    assert_lt(fabs(now->proxies[0].point.z), 1e-4);
    assert_gt(now->proxies[0].force.z, 0);
    assert_part_equal(now->hands[0].held, FLR_NO_PART_ID);
    // and takes parts again
    assert_int_equal(flr_engine_set_tool(s.engine, flr_hand(0), FLR_TOOL_GRIP, NULL), FLR_OK);
    flr_engine_grab(s.engine, flr_hand(0), s.block, NULL);
    flr_test_engine_pass(&s, 20);
    assert_part_equal(flr_engine_view(s.engine)->hands[0].held, s.block);
    assert_int_equal(flr_engine_set_tool(s.engine, flr_hand(0), (flr_tool)7, NULL),
                     FLR_BAD_ARGUMENT);
    flr_test_engine_free(&s);
}

static void the_other_engine_can_be_chosen(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    assert_int_equal(flr_engine_set(s.engine, "engine", 1, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    flr_test_engine_move(&s, 0, at_block, 0, 100);
    flr_test_engine_pass(&s, 100);
    flr_engine_grab(s.engine, flr_hand(0), s.block, NULL);
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0, 0}, 0, 500);
    flr_test_engine_pass(&s, 200);
    assert_int_equal(flr_test_engine_part(&s, s.block).look, FLR_WIRE_LOOK_COLLIDING);
    assert_gt(flr_test_engine_part(&s, s.block).T_world_part.p.z, 0.007);
    assert_gt(flr_engine_view(s.engine)->contacts_given, 0);
    flr_test_engine_free(&s);
}

/* Nearer than any voxel, and never in each other. */
static void the_exact_engine_can_be_chosen(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    assert_int_equal(flr_engine_set(s.engine, "engine", FLR_ENGINE_EXACT, NULL), FLR_OK);
    assert_int_equal(flr_engine_set(s.engine, "onset", 2e-5, NULL), FLR_OK);
    assert_int_equal(flr_engine_set(s.engine, "strength", 0, NULL), FLR_BAD_ARGUMENT);
    flr_test_engine_settle(&s);
    flr_test_engine_move(&s, 0, at_block, 0, 100);
    flr_test_engine_pass(&s, 100);
    flr_engine_grab(s.engine, flr_hand(0), s.block, NULL);
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0, 0}, 0, 500);
    flr_test_engine_pass(&s, 600);
    const flr_engine_state *now = flr_engine_view(s.engine);
    assert_int_equal(flr_test_engine_part(&s, s.block).look, FLR_WIRE_LOOK_COLLIDING);
    assert_gt(now->contacts_given, 0);
    assert_gt(now->lower, 0);
    assert_lt(now->upper, 2e-5);
    assert_lt(now->upper - now->lower, 1e-6);
    flr_test_engine_free(&s);
}

/* Pressed against the plate all the time; the lowest that the block gets to. */
static double press(flr_test_engine *s, uint64_t frames)
{
    double low = INFINITY;
    for (uint64_t i = 0; i < frames; i += 10) {
        flr_test_engine_pass(s, 10);
        low = fmin(low, flr_test_engine_part(s, s->block).T_world_part.p.z);
    }
    return low;
}

/* Until points or trees for it are there, the law of contact is the old one: nothing slips through. */
static void the_law_changes_under_load(void **state)
{
    (void)state;
    static const char *const names[] = {"model", "model", "engine", "engine"};
    flr_test_engine s;
    flr_engine_part part;
    flr_test_engine_make(&s, true, NULL);
    flr_test_engine_move(&s, 0, at_block, 0, 100);
    flr_test_engine_move(&s, 0, at_block, 1, 20);
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0, -0.01}, 1, 400);
    assert_gt(press(&s, 200), 0.01);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(flr_engine_set(s.engine, names[i], i % 2 ? 0 : 1, NULL), FLR_OK);
        assert_gt(press(&s, 300), 0.0095);
        flr_test_engine_settle(&s);
        assert_gt(press(&s, 100), 0.0095);
        assert_int_equal(flr_engine_get_part(s.engine, s.block, &part, NULL), FLR_OK);
        assert_int_equal(part.shell->on_surface, i == 0);
        assert_int_equal(flr_engine_jobs(s.engine), 0);
        assert_part_equal(flr_engine_view(s.engine)->hands[0].held, s.block);
        assert_int_equal(flr_test_engine_part(&s, s.block).look, FLR_WIRE_LOOK_COLLIDING);
        assert_eq(value_of(s.engine, names[i]), (i % 2 ? 0 : 1));
    }
    flr_test_engine_free(&s);
}

/* Hands that nobody moves are no fault. */
static void an_idle_scene_is_healthy(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_health health;
    flr_test_engine_make(&s, true, NULL);
    flr_test_engine_move(&s, 0, at_block, 0, 100);
    flr_test_engine_pass(&s, 500);
    flr_engine_get_health(s.engine, &health);
    assert_gt(health.loop.frames, 600);
    assert_int_equal(health.loop.faulty, 0);
    flr_test_engine_free(&s);
}

static void clearance_and_what_is_near(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_event event;
    flr_engine_near near;
    flr_test_engine_make(&s, true, NULL);
    assert_int_equal(flr_engine_clearance_ask(s.engine, s.block, FLR_NO_PART_ID, true, 7, NULL),
                     FLR_OK);
    wait_for(&s, FLR_ENGINE_EVENT_CLEARANCE, &event);
    assert_int_equal(event.token, 7);
    assert_part_equal(event.clearance.other, s.plate);
    assert_lt(fabs(event.clearance.upper - 0.02), 1e-9);
    assert_eq(event.clearance.lower, event.clearance.upper);
    flr_pose low = flr_pose_make(flr_vec3_make(0, 0, 0.016), flr_quat_identity());
    flr_engine_place(s.engine, s.block, low, NULL);
    flr_test_engine_pass(&s, 10);
    assert_int_equal(flr_engine_clearance_ask(s.engine, s.block, s.plate, false, 8, NULL), FLR_OK);
    wait_for(&s, FLR_ENGINE_EVENT_CLEARANCE, &event);
    assert_int_equal(event.token, 8);
    assert_le(event.clearance.lower, 0.006);
    assert_ge(event.clearance.upper, 0.006);
    // near: only while something is held
    flr_engine_want_near(s.engine, true, true);
    flr_test_engine_pass(&s, 200);
    assert_false(flr_engine_get_near(s.engine, &near));
    flr_engine_grab(s.engine, flr_hand(0), s.block, NULL);
    flr_test_engine_pass(&s, 300);
    assert_true(flr_engine_get_near(s.engine, &near));
    assert_part_equal(near.part, s.block);
    assert_gt(near.vertices, 0);
    assert_gt(near.voxel_count, 0);
    assert_true(flr_same_part(near.voxels[0].part, s.plate));
    float least = INFINITY;
    for (uint32_t i = 0; i < near.vertices; i++) least = fminf(least, near.distances[i]);
    assert_ge(least, 0.002);
    assert_le(least, 0.012);
    flr_test_engine_free(&s);
}

static flr_hash play_once(void)
{
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    flr_test_engine_move(&s, 0, at_block, 0, 100);
    flr_test_engine_move(&s, 0, at_block, 1, 20);
    flr_test_engine_move(&s, 0, (flr_vec3){0.03, 0.01, 0}, 1, 400);
    flr_test_engine_pass(&s, 400);
    flr_hash hash = flr_engine_view(s.engine)->hash;
    flr_test_engine_free(&s);
    return hash;
}

static void the_same_calls_give_the_same_bits(void **state)
{
    (void)state;
    flr_hash a = play_once(), b = play_once();
    assert_eq(a.low, b.low);
    assert_eq(a.high, b.high);
    assert_ne(a.low, 0);
}

static flr_result make_and_free(void *env, flr_error *error)
{
    flr_engine_def def = flr_threadless_engine_def(env);
    flr_engine *engine;
    flr_result result = flr_engine_create(&def, &engine, error);
    if (result == FLR_OK) flr_engine_destroy(engine);
    return result;
}

static void without_memory(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    flr_sim *sim = flr_sim_create(&def);
    flr_address address = {.family = 4, .ip = {10, 0, 0, 1}};
    assert_gt(flr_fail_alloc_each(make_and_free, flr_sim_node(sim, address)), 5);
    flr_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grabbing_follows_kim),
        cmocka_unit_test(two_hands_and_part_against_part),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(undo_and_reset),
        cmocka_unit_test(parameters_have_ranges),
        cmocka_unit_test(more_clearance_stops_earlier),
        cmocka_unit_test(parts_come_and_go),
        cmocka_unit_test(floods_are_bounded),
        cmocka_unit_test(a_part_does_not_take_all_memory),
        cmocka_unit_test(what_stays_is_one_until_it_is_taken),
        cmocka_unit_test(recordings_can_be_shown),
        cmocka_unit_test(clearance_and_what_is_near),
        cmocka_unit_test(a_point_stays_outside),
        cmocka_unit_test(the_other_engine_can_be_chosen),
        cmocka_unit_test(the_exact_engine_can_be_chosen),
        cmocka_unit_test(the_law_changes_under_load),
        cmocka_unit_test(an_idle_scene_is_healthy),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(the_same_calls_give_the_same_bits),
    };
    return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
