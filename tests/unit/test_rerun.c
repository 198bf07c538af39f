/* recordings of the engine run again: with all that was done to the world, the same comes out; without, it does not */
#include "sim/replay.h"

#include <math.h>

#include "support/fixtures.h"

static void begin(flr_test_engine *s)
{
    flr_test_engine_make(s, true, "/tapes");
    assert_int_equal(flr_engine_record_start(s->engine, "tape", NULL, NULL), FLR_OK);
}

static void end(flr_test_engine *s, flr_engine_recording *info)
{
    assert_int_equal(flr_engine_record_stop(s->engine, NULL), FLR_OK);
    flr_test_engine_settle(s);
    assert_true(flr_engine_recording_at(s->engine, 0, info));
    assert_true(info->finished);
    assert_eq(info->lost, 0);
}

/* Of a file, with the scene that it names. */
static flr_result rerun(flr_env *env, const char *path, flr_replay_result *result, flr_error *error)
{
    flr_recording *recording;
    flr_setup setup;
    flr_scene *scene;
    assert_ok(flr_recording_open(env, path, &recording, error), *error);
    assert_ok(flr_setup_read(recording, path, &setup, error), *error);
    assert_true(setup.live);
    assert_ok(flr_scene_read(env, setup.scene, &scene, error), *error);
    flr_stage_def like = flr_default_stage_def();
    flr_stage *stage = NULL;
    flr_hand_log log = {0};
    bool changed;
    flr_result did = flr_hand_log_read(recording, path, &log, error);
    if (did == FLR_OK) {
        assert_true(log.complete);
        assert_ok(flr_replay_stage(env, &setup, recording, scene, &log, &like, &stage, error),
                  *error);
        assert_ok(flr_setup_compare(recording, scene, &stage->parts, &changed, error), *error);
        did = flr_replay_run(env, &setup, stage, &log, NULL, NULL, result, error);
    }
    flr_stage_destroy(stage);
    flr_hand_log_free(&log);
    flr_scene_destroy(scene);
    flr_recording_close(recording);
    return did;
}

static void set(flr_test_engine *s, const char *name, double value)
{
    flr_error error;
    assert_ok(flr_engine_set(s->engine, name, value, &error), error);
}

/* Two hands take, press, throw about and let go; parameters change; parts are placed and put back; what stays is merged. */
static void act(flr_test_engine *s)
{
    const flr_vec3 block = {0, 0, 0.03}, ball = {0.05, 0, 0.03};
    flr_pose aside = flr_pose_identity();
    aside.p = (flr_vec3){0.03, 0.02, 0.04};
    flr_test_engine_move(s, 0, block, 0, 50);
    flr_test_engine_move(s, 0, (flr_vec3){0, 0, 0.031}, 1, 20);
    flr_test_engine_move(s, 0, (flr_vec3){0.005, 0.003, 0}, 1, 200); /* into the plate */
    assert_gt(flr_engine_view(s->engine)->contact_count, 0);
    set(s, "stiffness", 4000);
    flr_test_engine_pass(s, 100);
    set(s, "onset", 0.005);
    set(s, "friction", 0.3);
    flr_test_engine_move(s, 0, (flr_vec3){-0.01, 0, 0}, 1, 200);
    flr_test_engine_move(s, 1, ball, 0, 50);
    assert_int_equal(flr_engine_grab(s->engine, flr_hand(1), s->ball, NULL), FLR_OK);
    flr_test_engine_move(s, 1, (flr_vec3){0, 0, 0.02}, 0, 200); /* against the block */
    assert_int_equal(flr_engine_release(s->engine, flr_hand(1), NULL), FLR_OK);
    flr_test_engine_move(s, 0, (flr_vec3){0, 0, 0.1}, 0, 100);
    flr_test_engine_pass(s, 600); /* what stays becomes one */
    assert_true(flr_engine_view(s->engine)->merged);
    assert_int_equal(flr_engine_place(s->engine, s->block, aside, NULL), FLR_OK);
    flr_test_engine_pass(s, 50);
    assert_int_equal(flr_engine_undo(s->engine, 1, NULL), FLR_OK);
    flr_test_engine_pass(s, 50);
    assert_int_equal(flr_engine_reset(s->engine, NULL), FLR_OK);
    flr_test_engine_move(s, 0, block, 0, 100);
    assert_int_equal(flr_engine_pause(s->engine, true, NULL), FLR_OK);
    flr_test_engine_pass(s, 30);
    assert_int_equal(flr_engine_pause(s->engine, false, NULL), FLR_OK);
    assert_int_equal(flr_engine_grab(s->engine, flr_hand(0), s->block, NULL), FLR_OK);
    flr_test_engine_move(s, 0, (flr_vec3){0, 0.01, 0}, 0, 200);
}

static void everything_comes_out_again(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error = {0};
    flr_engine_recording info;
    flr_replay_result r;
    begin(&s);
    act(&s);
    end(&s, &info);
    assert_ok(rerun(s.env, info.path, &r, &error), error);
    if (!r.same) fail_msg("differs from frame %llu on", (unsigned long long)r.first);
    assert_int_equal(r.compared, info.frames);
    assert_gt(r.compared, 1500);
    assert_eq(r.behind, 0);
    assert_false(r.why[0]);
    flr_test_engine_free(&s);
}

/* It need not begin at rest: a part is held and presses. */
static void begins_in_the_middle(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error = {0};
    flr_engine_recording info;
    flr_replay_result r;
    flr_test_engine_make(&s, true, "/tapes");
    flr_test_engine_pass(
        &s, 600); /* there is a merged static scene when it begins, and other numbers than usual */
    set(&s, "stiffness", 2500);
    set(&s, "onset", 0.003);
    flr_test_engine_move(&s, 0, (flr_vec3){0.05, 0, 0.03}, 0, 50);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), s.ball, NULL), FLR_OK);
    flr_test_engine_move(&s, 0, (flr_vec3){0.05, 0, 0}, 0, 150);
    assert_int_equal(flr_engine_record_start(s.engine, "tape", NULL, NULL), FLR_OK);
    flr_test_engine_move(&s, 0, (flr_vec3){0.03, 0.01, 0}, 0, 400);
    assert_gt(flr_engine_view(s.engine)->contact_count, 0);
    end(&s, &info);
    assert_ok(rerun(s.env, info.path, &r, &error), error);
    if (!r.same) fail_msg("differs from frame %llu on", (unsigned long long)r.first);
    assert_ge(r.compared, 400);
    assert_eq(r.behind, 0);
    flr_test_engine_free(&s);
}

/* A part comes meanwhile: up to there. */
static void ends_where_parts_come(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error = {0};
    flr_engine_recording info;
    flr_replay_result r;
    begin(&s);
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0, 0.03}, 0, 50);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), s.block, NULL), FLR_OK);
    flr_test_engine_move(&s, 0, (flr_vec3){0, 0, 0}, 0, 150);
    flr_engine_add_def add = flr_default_engine_add_def();
    add.name = "late", add.mesh = flr_test_engine_box((flr_vec3){0.01, 0.01, 0.01});
    add.T_world_part.p.x = 0.2;
    uint32_t job;
    assert_ok(flr_engine_add(s.engine, &add, NULL, &job, &error), error);
    flr_test_engine_settle(&s);
    flr_test_engine_pass(&s, 100);
    end(&s, &info);
    assert_ok(rerun(s.env, info.path, &r, &error), error);
    assert_true(r.same);
    assert_ge(r.compared, 200);
    assert_gt(r.behind, 50);
    assert_int_equal(r.compared + r.behind, info.frames);
    assert_non_null(strstr(r.why, "parts came"));
    flr_test_engine_free(&s);
}

/* ---- what is left out is noticed ---- */

typedef struct copying {
    flr_recorder *to;
    const char *without; /* notes that begin so are left out */
    uint64_t frame;      /* the first that was */
    bool left_out;
} copying;

static void copy_note(void *context, const flr_record_note *note)
{
    copying *c = context;
    if (strncmp(note->text, c->without, strlen(c->without)) != 0) {
        assert_int_equal(flr_recorder_note(c->to, note, NULL), FLR_OK);
        return;
    }
    if (!c->left_out) c->frame = note->frame;
    c->left_out = true;
}

static void copy_without(flr_env *env, const char *from, const char *to, copying *c)
{
    static const char *const kept[] = {"scene", "part", "scene.hash", "probes"};
    flr_recording *recording;
    flr_record_view view;
    flr_texts texts = {0};
    flr_setup setup;
    flr_error error;
    assert_ok(flr_recording_open(env, from, &recording, &error), error);
    assert_ok(flr_setup_read(recording, from, &setup, &error), error);
    flr_setup_write_numbers(&setup, &texts);
    for (int i = 0; i < 4; i++)
        flr_texts_add(&texts, kept[i], "%s", flr_recording_text(recording, kept[i]));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 5; k++) {
            static const char *const words[] = {"name", "moving", "mesh", "voxel", "free"};
            char key[48];
            snprintf(key, sizeof key, "parts.%d.%s", i, words[k]);
            flr_texts_add(&texts, key, "%s", flr_recording_text(recording, key));
        }
    assert_ok(flr_texts_end(&texts, &error), error);
    flr_recorder_def def = flr_default_recorder_def();
    def.path = to, def.hands = 2, def.parts = 2, def.notes = true;
    def.texts = (const char *const *)texts.list;
    assert_ok(flr_recorder_create(env, &def, &c->to, &error), error);
    flr_recording_tell_notes(recording, copy_note, c);
    while (flr_recording_next(recording, &view, &error) == FLR_OK) {
        assert_true(flr_recorder_push(c->to, &view.frame, view.hands, view.parts, view.contacts));
        assert_ok(flr_recorder_service(c->to, &error), error);
    }
    assert_ok(flr_recorder_finish(c->to, &error), error);
    flr_recording_close(recording);
    flr_texts_free(&texts);
}

static void without_a_command_it_differs(void **state)
{
    (void)state;
    static const char *const entries[] = {"grab", "release", "params", "place", "ground"};
    flr_test_engine s;
    flr_error error = {0};
    flr_engine_recording info;
    flr_replay_result r;
    begin(&s);
    act(&s);
    end(&s, &info);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        copying c = {.without = entries[i]};
        char path[64];
        snprintf(path, sizeof path, "/tapes/without_%s.mcap", entries[i]);
        copy_without(s.env, info.path, path, &c);
        assert_true(c.left_out);
        assert_ok(rerun(s.env, path, &r, &error), error);
        /* what stays is one only while nothing touches it here, so that the hash is the same with and without */
        if (strcmp(entries[i], "ground") == 0) continue;
        if (r.same) fail_msg("the same without \"%s\"", entries[i]);
        assert_ge(r.first, c.frame);
    }
    copying c = {.without = "start"};
    copy_without(s.env, info.path, "/tapes/without.mcap", &c);
    assert_int_equal(rerun(s.env, "/tapes/without.mcap", &r, &error), FLR_BAD_INPUT);
    assert_non_null(strstr(error.message, "cannot be run again"));
    flr_test_engine_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_comes_out_again),
        cmocka_unit_test(begins_in_the_middle),
        cmocka_unit_test(ends_where_parts_come),
        cmocka_unit_test(without_a_command_it_differs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
