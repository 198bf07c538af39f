/* the table of commands: each does what its row says (journal, undo), and what was noted gives the same bits again; a grab with a
 * pose */
#include "sim/commands.h"

#include <math.h>

#include "feeler/hand.h"
#include "sim/journal.h"
#include "sim/replay.h"
#include "support/fixtures.h"

static const flr_vec3 block = {0, 0, 0.03}, ball = {0.05, 0, 0.03};

static flr_pose at(flr_vec3 p) { return flr_pose_make(p, flr_quat_identity()); }

/* ---- one case for each row ---- */

static void nothing(flr_test_engine *s) { (void)s; }

static void command(flr_test_engine *s, flr_message message)
{
    flr_error error;
    assert_ok(flr_engine_command(s->engine, &message, &error), error);
}

static void hold(flr_test_engine *s)
{
    flr_test_engine_move(s, 0, block, 0, 50);
    assert_int_equal(flr_engine_grab(s->engine, flr_hand(0), s->block, NULL), FLR_OK);
    flr_test_engine_move(s, 0, (flr_vec3){0, 0, 0.04}, 0, 100);
}

static void do_grab(flr_test_engine *s)
{
    command(s, (flr_message){.id = FLR_MSG_GRAB,
                             .as.grab = {.hand = 1,
                                         .part = s->ball.index,
                                         .has_pose = true,
                                         .T_world_hand = at((flr_vec3){0.05, 0, 0.04})}});
}

static void do_release(flr_test_engine *s) { command(s, (flr_message){.id = FLR_MSG_RELEASE}); }
static void do_reset(flr_test_engine *s) { command(s, (flr_message){.id = FLR_MSG_RESET}); }

static void do_undo(flr_test_engine *s)
{
    command(s, (flr_message){.id = FLR_MSG_UNDO, .as.undo = {.steps = 1}});
}

static void do_place(flr_test_engine *s)
{
    flr_pose there = at((flr_vec3){0.03, 0.02, 0.05});
    command(s, (flr_message){.id = FLR_MSG_PLACE,
                             .as.place = {.part = s->ball.index, .T_world_part = there}});
}

static void do_pause(flr_test_engine *s)
{
    command(s, (flr_message){.id = FLR_MSG_PAUSE, .as.pause = {.paused = true}});
    flr_test_engine_pass(s, 10);
    command(s, (flr_message){.id = FLR_MSG_PAUSE});
}

static void do_tool(flr_test_engine *s)
{
    command(s, (flr_message){.id = FLR_MSG_TOOL, .as.tool = {.tool = FLR_WIRE_TOOL_POINT}});
}

/* the world has what points need before the recording begins */
static void point_before(flr_test_engine *s)
{
    do_tool(s);
    flr_test_engine_settle(s);
    command(s, (flr_message){.id = FLR_MSG_TOOL});
    hold(s);
}

static void do_guide(flr_test_engine *s)
{
    flr_message guide = {.id = FLR_MSG_GUIDE};
    guide.as.guide = (flr_msg_guide){.on = true,
                                     .from = at((flr_vec3){0, 0.001, 0.04}),
                                     .to = at((flr_vec3){0.05, 0.001, 0.04}),
                                     .share = 0.5};
    command(s, guide);
}

static void do_leave(flr_test_engine *s)
{
    assert_int_equal(flr_engine_leave(s->engine, flr_hand(0), NULL), FLR_OK);
}

static void do_parameters(flr_test_engine *s)
{
    assert_int_equal(flr_engine_set(s->engine, "stiffness", 4000, NULL), FLR_OK);
}

static void do_base(flr_test_engine *s)
{
    flr_sim_command base = {.kind = FLR_SIM_COMMAND_BASE,
                            .as.base = {.hand = 0, .map = flr_default_mapping_def()}};
    base.as.base.map.T_world_base = at((flr_vec3){0, 0, 0.01});
    base.as.base.firm = false; /* a page's hand is firm: this is another */
    flr_engine_send_surely(s->engine, &base);
}

/* The hand stays where it is, so that what it holds goes on. */
static void do_mapping(flr_test_engine *s)
{
    flr_sim_command command = {.kind = FLR_SIM_COMMAND_MAPPING,
                               .as.mapping = {.hand = 0, .map = flr_default_mapping_def()}};
    command.as.mapping.map.scale = 3;
    flr_engine_send_surely(s->engine, &command);
}

static void do_couple(flr_test_engine *s)
{
    flr_remote_coupling_def def = flr_default_remote_coupling_def();
    assert_int_equal(flr_engine_set_coupling(s->engine, 3, s->ball, &def, NULL), FLR_OK);
}

static void do_solid(flr_test_engine *s)
{
    assert_int_equal(flr_engine_set_solid(s->engine, s->block, false, NULL), FLR_OK);
}

/* a part that is held goes away */
static void do_instance(flr_test_engine *s)
{
    assert_int_equal(flr_engine_remove(s->engine, s->block, NULL), FLR_OK);
    flr_test_engine_settle(s);
}

static void do_static_scene(flr_test_engine *s)
{
    flr_test_engine_pass(s, 700);
    assert_true(flr_engine_view(s->engine)->merged);
}

static void couple_and_merge(flr_test_engine *s)
{
    do_couple(s);
    do_guide(s);
    do_static_scene(s);
}

typedef struct test_case {
    void (*before)(flr_test_engine *s); /* the recording */
    void (*act)(flr_test_engine *s);
    bool at_start; /* its entries are those with which the recording begins */
    int with;      /* a command that control sends with it; 0: none */
} test_case;

static const test_case cases[FLR_SIM_COMMANDS] = {
    [FLR_SIM_COMMAND_GRAB] = {hold, do_grab, false, 0},
    [FLR_SIM_COMMAND_RELEASE] = {hold, do_release, false, 0},
    [FLR_SIM_COMMAND_RESET] = {hold, do_reset, false, 0},
    [FLR_SIM_COMMAND_UNDO] = {hold, do_undo, false, 0},
    [FLR_SIM_COMMAND_PLACE] = {hold, do_place, false, 0},
    [FLR_SIM_COMMAND_PAUSE] = {hold, do_pause, false, 0},
    [FLR_SIM_COMMAND_TOOL] = {point_before, do_tool, false, 0},
    [FLR_SIM_COMMAND_GUIDE] = {hold, do_guide, false, 0},
    [FLR_SIM_COMMAND_LEAVE] = {hold, do_leave, false, 0},
    [FLR_SIM_COMMAND_PARAMETERS] = {hold, do_parameters, false, 0},
    [FLR_SIM_COMMAND_BASE] = {hold, do_base, false, 0},
    [FLR_SIM_COMMAND_MAPPING] = {hold, do_mapping, false, 0},
    [FLR_SIM_COMMAND_COUPLE] = {hold, do_couple, false, 0},
    [FLR_SIM_COMMAND_SOLID] = {hold, do_solid, false, 0},
    [FLR_SIM_COMMAND_INSTANCE] = {hold, do_instance, false, FLR_SIM_COMMAND_PARAMETERS},
    [FLR_SIM_COMMAND_STATIC_SCENE] = {nothing, do_static_scene, false, 0},
    [FLR_SIM_COMMAND_RECORD] = {couple_and_merge, nothing, true, 0},
};

/* ---- what was noted ---- */

typedef struct noted {
    uint32_t start, later; /* bits of kinds: before the first frame, and after it */
    bool stops;            /* one of them cannot be repeated */
} noted;

static void note(void *context, const flr_record_note *n)
{
    noted *to = context;
    flr_journal_entry entry;
    flr_error error;
    const char *why;
    assert_ok(flr_journal_read(n, "tape", &entry, &error), error);
    *(n->frame == 0 ? &to->start : &to->later) |= 1u << entry.kind;
    if (!flr_journal_repeats(entry.kind, &why) && why) to->stops = true;
}

static noted read_notes(flr_test_engine *s, const char *path)
{
    noted found = {0};
    flr_recording *recording;
    flr_record_view view;
    flr_error error;
    assert_ok(flr_recording_open(s->env, path, &recording, &error), error);
    flr_recording_tell_notes(recording, note, &found);
    while (flr_recording_next(recording, &view, &error) == FLR_OK) continue;
    flr_recording_close(recording);
    return found;
}

static void run_again(flr_test_engine *s, const char *path, flr_replay_result *result)
{
    flr_recording *recording;
    flr_setup setup;
    flr_scene *scene;
    flr_error error;
    assert_ok(flr_recording_open(s->env, path, &recording, &error), error);
    assert_ok(flr_setup_read(recording, path, &setup, &error), error);
    assert_ok(flr_scene_read(s->env, setup.scene, &scene, &error), error);
    flr_stage_def like = flr_default_stage_def();
    flr_stage *stage;
    flr_hand_log log;
    assert_ok(flr_hand_log_read(recording, path, &log, &error), error);
    assert_ok(flr_replay_stage(s->env, &setup, recording, scene, &log, &like, &stage, &error),
              error);
    assert_ok(flr_replay_run(s->env, &setup, stage, &log, NULL, NULL, result, &error), error);
    flr_stage_destroy(stage);
    flr_hand_log_free(&log);
    flr_scene_destroy(scene);
    flr_recording_close(recording);
}

static void check(flr_sim_command_kind kind)
{
    const flr_sim_command_row *row = flr_sim_command_row_of(kind);
    const test_case *c = &cases[kind];
    flr_test_engine s;
    flr_engine_recording info;
    flr_replay_result again;
    if (!c->act) fail_msg("command %s has no case here", row->name);
    flr_test_engine_make(&s, true, "/tapes");
    c->before(&s);
    assert_int_equal(flr_engine_record_start(s.engine, "tape", NULL, NULL), FLR_OK);
    flr_test_engine_pass(&s, 10);
    uint32_t undo = flr_engine_view(s.engine)->undo;
    c->act(&s);
    flr_test_engine_pass(&s, 50);
    int steps = (int)flr_engine_view(s.engine)->undo - (int)undo;
    int wanted = kind == FLR_SIM_COMMAND_UNDO ? -1 : row->undo != FLR_SIM_COMMAND_UNDO_NONE;
    if (steps != wanted) fail_msg("command %s: %d undo steps, not %d", row->name, steps, wanted);
    assert_int_equal(flr_engine_record_stop(s.engine, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    assert_true(flr_engine_recording_at(s.engine, 0, &info));
    noted found = read_notes(&s, info.path);
    uint32_t written = c->at_start ? found.start : found.later;
    uint32_t right = row->journal;
    if (c->with) right |= flr_sim_command_row_of((flr_sim_command_kind)c->with)->journal;
    if (written != right)
        fail_msg("command %s: its row has the entries 0x%x, the recording 0x%x", row->name, right,
                 written);
    run_again(&s, info.path, &again);
    if (!again.same)
        fail_msg("command %s: differs from frame %llu on", row->name,
                 (unsigned long long)again.first);
    assert_int_equal(again.why[0] != 0, found.stops);
    if (!found.stops) assert_int_equal(again.compared, info.frames);
    flr_test_engine_free(&s);
}

static void each_does_what_its_row_says(void **state)
{
    (void)state;
    for (int kind = 0; kind < FLR_SIM_COMMANDS; kind++) check((flr_sim_command_kind)kind);
}

static void found_by_their_messages(void **state)
{
    (void)state;
    for (int kind = 0; kind < FLR_SIM_COMMANDS; kind++) {
        const flr_sim_command_row *row = flr_sim_command_row_of((flr_sim_command_kind)kind);
        if (row->message) assert_ptr_equal(flr_sim_command_find(row->message), row);
    }
    assert_null(flr_sim_command_find(FLR_MSG_PING));
    assert_null(flr_sim_command_find(0));
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    flr_error error;
    assert_int_equal(flr_engine_command(s.engine, &(flr_message){.id = FLR_MSG_PING}, &error),
                     FLR_UNSUPPORTED);
    assert_int_equal(
        flr_engine_command(
            s.engine, &(flr_message){.id = FLR_MSG_RELEASE, .as.release = {.hand = 9}}, &error),
        FLR_NOT_FOUND);
    assert_string_equal(error.message, "there is no hand 9; there are 2");
    flr_test_engine_free(&s);
}

/* Which of those that wait are replaced by newer ones. */
static void the_newest_counts(void **state)
{
    (void)state;
    flr_sim_command pause = {.kind = FLR_SIM_COMMAND_PAUSE}, go = pause;
    flr_sim_command release = {.kind = FLR_SIM_COMMAND_RELEASE, .as.release = {.hand = 1}};
    flr_sim_command leave = {.kind = FLR_SIM_COMMAND_LEAVE, .as.leave = {.hand = 1}};
    flr_sim_command other = {.kind = FLR_SIM_COMMAND_LEAVE, .as.leave = {.hand = 0}};
    flr_sim_command solid = {.kind = FLR_SIM_COMMAND_SOLID};
    pause.as.pause.paused = true;
    assert_true(flr_sim_command_replaces(&go, &pause));
    assert_true(flr_sim_command_replaces(&release, &release));
    assert_false(flr_sim_command_replaces(&leave, &release)); /* more than letting go */
    assert_false(flr_sim_command_replaces(&leave, &other));
    assert_false(flr_sim_command_replaces(&solid, &solid));
    assert_int_equal(FLR_COMMANDS_LATE, 6 * FLR_WORLD_HANDS + 2);
}

/* ---- notes that make no sense, and those of older recordings ---- */

static void reads_notes(void **state)
{
    (void)state;
    const uint8_t bytes[120] = {0};
    const struct {
        const char *text;
        size_t size;
        bool good;
    } notes[] = {{"grab 0 1", 0, true},     {"grab 0 1", 56, true}, {"grab 0 1", 55, false},
                 {"grab 0", 0, false},      {"release 3", 0, true}, {"release", 0, false},
                 {"release 3 4", 0, false}, {"place 2", 56, true},  {"place 2", 0, false},
                 {"solid 0 2", 0, true},    {"ground", 8, true},    {"ground", 7, false},
                 {"guide 1", 120, true},    {"guide 1", 0, true},   {"guide 1", 56, false},
                 {"lost", 0, true},         {"nonsense", 0, false}, {"", 0, false}};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        flr_record_note n = {5, notes[i].text, bytes, notes[i].size};
        flr_journal_entry entry;
        flr_error error;
        flr_result result = flr_journal_read(&n, "tape", &entry, &error);
        if (result != (notes[i].good ? FLR_OK : FLR_BAD_INPUT))
            fail_msg("\"%s\" with %zu bytes: %s", notes[i].text, notes[i].size,
                     flr_result_name(result));
    }
    flr_journal_entry grab, solid;
    flr_record_note n = {5, "grab 1 2", bytes, 0};
    assert_int_equal(flr_journal_read(&n, "tape", &grab, NULL), FLR_OK);
    assert_int_equal(grab.kind, FLR_JOURNAL_GRAB);
    assert_int_equal(grab.frame, 5);
    assert_int_equal(grab.as.grab.hand, 1);
    assert_int_equal(grab.as.grab.part, 2);
    assert_false(grab.as.grab.T_world_hand.given);
    n.text = "solid 1 7";
    assert_int_equal(flr_journal_read(&n, "tape", &solid, NULL), FLR_OK);
    assert_true(solid.as.solid.solid);
    assert_int_equal(solid.as.solid.part, 7);
}

/* ---- a grab with the hand's pose ---- */

/* The hand is far away when the part is taken: the part stays, is gripped where it was said, and follows from there. */
static void taken_where_the_hand_is_said_to_be(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error;
    const flr_vec3 grip = {0.005, 0.004, 0.035}, on = {0.005, 0.004, 0.055};
    flr_test_engine_make(&s, true, NULL);
    flr_test_engine_move(&s, 0, (flr_vec3){0.3, 0.2, 0.4}, 0, 50);
    assert_ok(flr_engine_grab_at(s.engine, flr_hand(0), s.block, at(grip), &error), error);
    // the hand moves on before the loop has seen any of it
    assert_ok(flr_engine_hand_input(s.engine, flr_hand(0), at(on), 0, &error), error);
    flr_engine_run(s.engine, 1);
    const flr_engine_hand_state *hand = &flr_engine_view(s.engine)->hands[0];
    assert_part_equal(hand->held, s.block);
    flr_vec3 gripped = flr_vec3_sub(grip, block);
    assert_float_equal(flr_vec3_distance(hand->T_part_hand.p, gripped), 0, 1e-12);
    double least = 1, most = 0;
    for (int i = 0; i < 300; i++) {
        flr_engine_run(s.engine, 1);
        double z = flr_test_engine_part(&s, s.block).T_world_part.p.z;
        least = fmin(least, z);
        most = fmax(most, fabs(flr_test_engine_part(&s, s.block).T_world_part.p.x));
    }
    assert_gt(least, block.z - 1e-6);
    assert_lt(most, 1e-3); /* never pulled towards where the hand was */
    assert_float_equal(flr_test_engine_part(&s, s.block).T_world_part.p.z, 0.05, 1e-4);
    flr_test_engine_free(&s);
}

/* The same without the pose: it is gripped from as far away as the hand was. */
static void without_a_pose_where_it_was_seen(void **state)
{
    (void)state;
    flr_test_engine s;
    const flr_vec3 far = {0.3, 0.2, 0.4};
    flr_test_engine_make(&s, true, NULL);
    flr_test_engine_move(&s, 0, far, 0, 50);
    flr_test_engine_pass(&s, 200);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), s.block, NULL), FLR_OK);
    flr_engine_run(s.engine, 1);
    const flr_engine_hand_state *hand = &flr_engine_view(s.engine)->hands[0];
    assert_part_equal(hand->held, s.block);
    assert_float_equal(flr_vec3_distance(hand->T_part_hand.p, flr_vec3_sub(far, block)), 0, 1e-4);
    flr_test_engine_free(&s);
}

/* A scene without parts has no world: whatever is asked of it, the loop goes on. */
static void nothing_to_take(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    const flr_part_id parts[] = {s.plate, s.block, s.ball};
    for (int i = 0; i < 3; i++)
        assert_int_equal(flr_engine_remove(s.engine, parts[i], NULL), FLR_OK);
    flr_test_engine_settle(&s);
    flr_engine_run(s.engine, 10);
    assert_int_equal(flr_engine_view(s.engine)->part_count, 0);
    assert_int_equal(flr_engine_grab_at(s.engine, flr_hand(0), FLR_NO_PART_ID, at(ball), NULL),
                     FLR_OK);
    flr_engine_run(s.engine, 1);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), FLR_NO_PART_ID, NULL), FLR_OK);
    flr_engine_release(s.engine, flr_hand(0), NULL);
    flr_engine_reset(s.engine, NULL);
    flr_engine_undo(s.engine, 1, NULL);
    flr_engine_set_tool(s.engine, flr_hand(0), FLR_TOOL_POINT, NULL);
    uint64_t before = flr_engine_view(s.engine)->frame;
    flr_engine_run(s.engine, 10);
    assert_int_equal(flr_engine_view(s.engine)->frame, before + 10);
    assert_part_equal(flr_engine_view(s.engine)->hands[0].held, FLR_NO_PART_ID);
    flr_test_engine_free(&s);
}

/* What the hand would touch there is taken where no part is named. */
static void takes_what_it_touches_there(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    flr_test_engine_move(&s, 0, block, 0, 50);
    assert_int_equal(flr_engine_grab_at(s.engine, flr_hand(0), FLR_NO_PART_ID, at(ball), NULL),
                     FLR_OK);
    flr_engine_run(s.engine, 1);
    assert_part_equal(flr_engine_view(s.engine)->hands[0].held, s.ball);
    flr_error error;
    flr_pose none = {{0, 0, 0}, {0, 0, 0, 0}};
    assert_int_equal(flr_engine_grab_at(s.engine, flr_hand(0), s.block, none, &error),
                     FLR_BAD_ARGUMENT);
    assert_string_equal(error.message, "that is no pose for hand 0");
    flr_test_engine_free(&s);
}

/* A device moves the hand: it takes the part where the device is. */
static void a_device_is_where_it_is(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error;
    flr_remote *remote = flr_remote_create(0);
    flr_device *device;
    uint32_t number;
    flr_test_engine_make(&s, true, NULL);
    assert_ok(flr_device_open(&flr_remote_driver, remote, &device, &error), error);
    flr_remote_set(remote, at(block), 0);
    assert_ok(flr_engine_add_device(s.engine, device, FLR_WIRE_DEVICE_SIMULATED, "arm", NULL,
                                    flr_pose_identity(), 1, &number, &error),
              error);
    assert_ok(flr_engine_select(s.engine, flr_hand(0), number, &error), error);
    flr_test_engine_pass(&s, 100);
    assert_ok(flr_engine_grab_at(s.engine, flr_hand(0), s.block, at((flr_vec3){1, 1, 1}), &error),
              error);
    flr_test_engine_pass(&s, 50);
    const flr_engine_hand_state *hand = &flr_engine_view(s.engine)->hands[0];
    assert_part_equal(hand->held, s.block);
    assert_float_equal(flr_vec3_length(hand->T_part_hand.p), 0, 1e-9);
    flr_test_engine_free(&s);
    flr_device_close(device);
    flr_remote_destroy(remote);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_does_what_its_row_says),
        cmocka_unit_test(found_by_their_messages),
        cmocka_unit_test(the_newest_counts),
        cmocka_unit_test(reads_notes),
        cmocka_unit_test(taken_where_the_hand_is_said_to_be),
        cmocka_unit_test(without_a_pose_where_it_was_seen),
        cmocka_unit_test(takes_what_it_touches_there),
        cmocka_unit_test(nothing_to_take),
        cmocka_unit_test(a_device_is_where_it_is),
    };
    return cmocka_run_group_tests_name("commands", tests, NULL, NULL);
}
