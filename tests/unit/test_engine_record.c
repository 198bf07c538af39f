/* recordings of the engine: what they say about parts, and that distances can be measured by them later */
#include <math.h>

#include "base/memory.h"
#include "feeler/recording.h"
#include "sim/engine_internal.h"
#include "sim/replay.h"
#include "sim/setup.h"
#include "support/fixtures.h"

/* records while the hand takes the part up; the file's name */
static void record_part(flr_test_engine *s, flr_part_id part, flr_vec3 at, const char *name,
                        flr_engine_recording *info)
{
    uint32_t recording;
    flr_test_engine_move(s, 0, at, 0, 100);
    flr_test_engine_pass(s, 100);
    assert_int_equal(flr_engine_record_start(s->engine, name, &recording, NULL), FLR_OK);
    assert_int_equal(flr_engine_grab(s->engine, flr_hand(0), part, NULL), FLR_OK);
    flr_test_engine_move(s, 0, flr_vec3_add(at, flr_vec3_make(0, 0, 0.05)), 0, 300);
    assert_int_equal(flr_engine_record_stop(s->engine, NULL), FLR_OK);
    flr_test_engine_settle(s);
    assert_true(flr_engine_recording_at(s->engine, recording, info));
    assert_true(info->finished);
}

/* the meshes of the scene that a recording names are those that were recorded */
static void compare_scene(const flr_test_engine *s, const flr_recording *recording)
{
    flr_error error = {0};
    flr_scene *scene;
    bool changed;
    const char *path = flr_recording_text(recording, "scene");
    if (flr_scene_read(s->env, path, &scene, &error) != FLR_OK) fail_msg("%s", error.message);
    flr_parts_def def = {.env = s->env, .scene = scene};
    flr_part_list parts = {0};
    assert_int_equal(flr_part_list_read(&def, &parts, &error), FLR_OK);
    if (flr_setup_compare(recording, scene, &parts, &changed, &error) != FLR_OK)
        fail_msg("%s", error.message);
    assert_false(changed);
    flr_part_list_free(&parts);
    flr_scene_destroy(scene);
}

static void numbers_are_those_of_the_names(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error = {0};
    flr_engine_recording info;
    flr_recording *recording;
    flr_record_view view;
    flr_setup setup;
    flr_test_engine_make(&s, true, "/tapes");
    // the block is gone: the ball is part 2, but the second name in the recording
    assert_int_equal(flr_engine_remove(s.engine, s.block, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    record_part(&s, s.ball, (flr_vec3){0.05, 0, 0.03}, "tape", &info);
    assert_int_equal(flr_recording_open(s.env, info.path, &recording, &error), FLR_OK);
    if (flr_setup_read(recording, info.path, &setup, &error) != FLR_OK)
        fail_msg("%s", error.message);
    assert_true(setup.live);
    assert_eq(setup.rate, 1000);
    assert_string_equal(setup.part, "ball");
    assert_string_equal(flr_recording_text(recording, "parts.0.name"), "plate");
    assert_string_equal(flr_recording_text(recording, "parts.1.name"), "ball");
    assert_null(flr_recording_text(recording, "parts.2.name"));
    assert_string_equal(setup.scene, "/tapes/tape_scene.json");
    uint64_t count = 0, held = 0;
    double top = 0;
    while (flr_recording_next(recording, &view, &error) == FLR_OK) {
        assert_int_equal(view.frame.frame, count++); /* from 0, whatever was before */
        assert_int_equal(view.part_count, 1);
        assert_int_equal(view.hand_count, 2);
        assert_int_equal(view.hands[1].part, UINT32_MAX);
        held += view.hands[0].part == 1;
        top = view.parts[0].T_world_part.p.z;
    }
    assert_int_equal(count, 300);
    assert_gt(held, 290);
    assert_gt(top, 0.06);
    compare_scene(&s, recording);
    flr_recording_close(recording);
    // shown again, it is the ball that is held
    uint32_t job;
    assert_int_equal(flr_engine_replay(s.engine, info.recording, &job, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    flr_engine_replay_seek(s.engine, 0.2, NULL);
    assert_part_equal(flr_engine_view(s.engine)->hands[0].held, s.ball);
    flr_test_engine_free(&s);
}

static void a_scene_that_was_saved_is_named(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error = {0};
    flr_engine_recording info;
    flr_recording *recording;
    uint32_t job;
    flr_path_info none;
    flr_test_engine_make(&s, true, "/tapes");
    assert_int_equal(flr_path_make_folder(s.env, "/plans", &error), FLR_OK);
    assert_int_equal(flr_engine_save(s.engine, "/plans/plan.json", &job, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    assert_int_equal(flr_engine_load(s.engine, "/plans/plan.json", &job, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    record_part(&s, flr_engine_part_id(s.engine, 1), (flr_vec3){0, 0, 0.03}, "tape", &info);
    assert_int_equal(flr_recording_open(s.env, info.path, &recording, &error), FLR_OK);
    assert_string_equal(flr_recording_text(recording, "scene"), "/plans/plan.json");
    compare_scene(&s, recording);
    flr_recording_close(recording);
    assert_int_equal(flr_path_look(s.env, "/tapes/tape_scene.json", &none, &error), FLR_OK);
    assert_int_equal(none.kind, FLR_PATH_NONE); /* nothing has changed: it is not saved again */
    flr_test_engine_free(&s);
}

static void another_scene_ends_it(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error = {0};
    flr_engine_recording info;
    uint32_t job, recording;
    flr_test_engine_make(&s, true, "/tapes");
    assert_int_equal(flr_path_make_folder(s.env, "/plans", &error), FLR_OK);
    assert_int_equal(flr_engine_save(s.engine, "/plans/plan.json", &job, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    assert_int_equal(flr_engine_record_start(s.engine, "tape", &recording, NULL), FLR_OK);
    flr_test_engine_pass(&s, 100);
    assert_int_equal(flr_engine_load(s.engine, "/plans/plan.json", &job, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    assert_true(flr_engine_recording_at(s.engine, recording, &info));
    assert_true(info.finished);
    assert_ge(info.frames, 100);
    assert_false(flr_engine_view(s.engine)->recording);
    flr_test_engine_free(&s);
}

/* Those that were there before are listed with what their end tells. */
static void found_ones_have_a_length(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_recording made, found;
    uint32_t recording;
    flr_engine *second;
    flr_error error = {0};
    flr_test_engine_make(&s, true, "/tapes");
    assert_int_equal(flr_engine_record_start(s.engine, "tape", &recording, NULL), FLR_OK);
    flr_test_engine_pass(&s, 300);
    flr_engine_def def = flr_threadless_engine_def(s.env);
    def.recordings = "/tapes";
    /* to another it looks as if its writer had died: what is on the disk counts, a quarter of a second at a time */
    assert_int_equal(flr_engine_create(&def, &second, &error), FLR_OK);
    assert_true(flr_engine_recording_at(second, 0, &found));
    assert_true(found.finished);
    assert_eq(found.frames, 0);
    assert_ge(found.seconds, 0.25);
    assert_lt(found.seconds, 0.31);
    flr_engine_destroy(second);
    assert_int_equal(flr_engine_record_stop(s.engine, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    assert_true(flr_engine_recording_at(s.engine, recording, &made));
    assert_true(made.finished);
    assert_int_equal(flr_engine_create(&def, &second, &error), FLR_OK);
    assert_true(flr_engine_recording_at(second, 0, &found));
    assert_true(found.finished);
    assert_int_equal(found.frames, made.frames);
    assert_ge(found.frames, 300);
    assert_lt(fabs(found.seconds - made.seconds), 1e-6);
    flr_engine_destroy(second);
    flr_test_engine_free(&s);
}

/* Bytes that an engine has allocated which finds the recordings of this folder; there are so many. */
static uint64_t heap_of_engine(flr_env *env, const char *folder, uint32_t count)
{
    flr_error error = {0};
    flr_engine *engine;
    flr_engine_def def = flr_threadless_engine_def(env);
    def.recordings = folder;
    uint64_t before = flr_memory_heap();
    assert_int_equal(flr_engine_create(&def, &engine, &error), FLR_OK);
    uint64_t heap = flr_memory_heap() - before;
    assert_int_equal(flr_engine_recordings(engine), count);
    flr_engine_destroy(engine);
    return heap;
}

/* The list is kept as long as the controller runs. 4 KiB for each path would show after a day of short recordings. */
static void the_list_is_small(void **state)
{
    (void)state;
    if (flr_memory_heap() == 0) skip(); /* another C library, or the allocator of a sanitizer */
    enum { RECORDINGS = 500 };
    flr_sim_def def = flr_default_sim_def();
    flr_sim *sim = flr_sim_create(&def);
    flr_env *env = flr_sim_node(sim, (flr_address){.family = 4, .ip = {10, 0, 0, 1}});
    flr_error error = {0};
    assert_int_equal(flr_path_make_folder(env, "/none", &error), FLR_OK);
    assert_int_equal(flr_path_make_folder(env, "/many", &error), FLR_OK);
    for (int i = 0; i < RECORDINGS; i++) {
        flr_file *file;
        char path[64];
        snprintf(path, sizeof path, "/many/%d.mcap", i);
        assert_int_equal(flr_file_open(env, path, FLR_FILE_CREATE, &file, &error), FLR_OK);
        flr_file_close(file);
    }
    heap_of_engine(env, "/many", RECORDINGS); /* what is allocated once */
    uint64_t none = heap_of_engine(env, "/none", 0),
             many = heap_of_engine(env, "/many", RECORDINGS);
    assert_in_range(many - none, RECORDINGS * sizeof(flr_engine_recording), RECORDINGS * 1024);
    flr_sim_destroy(sim);
}

/* Small ones: some frames while a part moves, none while nothing does; they are shown, and cannot be run again. */
static void small_ones_hold_what_moves(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error = {0};
    flr_engine_recording info;
    flr_recording *recording;
    flr_record_view view;
    flr_test_engine_make(&s, true, "/tapes");
    s.engine->def.small_recordings = true;
    uint32_t number;
    assert_int_equal(flr_engine_record_start(s.engine, "still", &number, NULL), FLR_OK);
    flr_test_engine_pass(&s, 5000);
    assert_int_equal(flr_engine_record_stop(s.engine, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    assert_true(flr_engine_recording_at(s.engine, number, &info));
    assert_int_equal(info.frames, 1); /* how it was */
    record_part(&s, s.block, (flr_vec3){0, 0, 0.03}, "way", &info);
    assert_in_range(info.frames, 10, 45); /* of 300 frames and what came to rest */
    assert_int_equal(flr_recording_open(s.env, info.path, &recording, &error), FLR_OK);
    int64_t last = -1;
    double top = 0;
    uint64_t count = 0;
    while (flr_recording_next(recording, &view, &error) == FLR_OK) {
        assert_int_equal(view.frame.frame, count++);
        assert_true(view.frame.time_ns > last);
        last = view.frame.time_ns;
        top = view.parts[0].T_world_part.p.z;
    }
    assert_true(top > 0.06); /* to its end */
    flr_recording_close(recording);
    assert_int_equal(flr_recording_open(s.env, info.path, &recording, &error), FLR_OK);
    flr_hand_log log;
    assert_int_equal(flr_hand_log_read(recording, "way.mcap", &log, &error), FLR_BAD_INPUT);
    assert_non_null(strstr(error.message, "holds only some frames"));
    flr_recording_close(recording);
    flr_test_engine_free(&s);
}

static flr_result write_report(const flr_engine_recording_report *report, flr_blob *file,
                               flr_error *why)
{
    if (report->clearance > 0.5) return flr_fail(why, FLR_BAD_INPUT, "too much");
    if (!report->go_on(report->context, 0.5)) return flr_fail(why, FLR_CANCELLED, "cancelled");
    char text[200];
    const int size =
        snprintf(text, sizeof text, "%s %g %u", report->path, report->clearance, report->format);
    *file = (flr_blob){(uint8_t *)strdup(text), (size_t)size};
    return FLR_OK;
}

/* A report about a recording is a job, whose file is kept. */
static void reported(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error = {0};
    flr_engine_recording info;
    uint32_t job = 0;
    uint8_t format;
    const char *what;
    flr_blob file;
    flr_test_engine_make(&s, true, "/tapes");
    assert_int_equal(flr_engine_report_recording(s.engine, 0, -1, 0, &job, &error),
                     FLR_UNSUPPORTED);
    s.engine->def.report_recording = write_report;
    assert_int_equal(flr_engine_report_recording(s.engine, 0, -1, 0, &job, &error), FLR_NOT_FOUND);
    record_part(&s, s.block, (flr_vec3){0, 0, 0.03}, "one", &info);
    assert_int_equal(flr_engine_report_recording(s.engine, info.recording, -1, 1, &job, &error),
                     FLR_BAD_ARGUMENT);
    assert_int_equal(flr_engine_report_recording(s.engine, info.recording, NAN, 0, &job, &error),
                     FLR_BAD_ARGUMENT);
    assert_ok(flr_engine_report_recording(s.engine, info.recording, 0.002, 2, &job, &error), error);
    flr_test_engine_settle(&s);
    assert_true(flr_engine_get_report(s.engine, job, &format, &what, &file));
    assert_int_equal(format, 2);
    assert_string_equal(what, "report");
    assert_memory_equal(file.bytes, "/tapes/one.mcap 0.002 2", file.size);
    assert_ok(flr_engine_report_recording(s.engine, info.recording, 0.6, 0, &job, &error), error);
    flr_test_engine_settle(&s);
    assert_false(flr_engine_get_report(s.engine, job, &format, &what, &file));
    flr_test_engine_free(&s);
}

/* Another name for it and its file, or none. */
static void named_anew_and_removed(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error = {0};
    flr_engine_recording info;
    flr_path_info file;
    flr_test_engine_make(&s, true, "/tapes");
    record_part(&s, s.block, (flr_vec3){0, 0, 0.03}, "one", &info);
    assert_true(flr_engine_recording_is_here(s.engine, &info));
    const uint32_t one = info.recording;
    record_part(&s, s.ball, (flr_vec3){0.05, 0, 0.03}, "two", &info);
    assert_int_equal(flr_engine_record_rename(s.engine, one, "a way out", &error), FLR_OK);
    assert_true(flr_engine_recording_at(s.engine, one, &info));
    assert_string_equal(info.name, "a way out");
    assert_string_equal(info.path, "/tapes/a way out.mcap");
    assert_int_equal(flr_path_look(s.env, info.path, &file, &error), FLR_OK);
    assert_int_equal(file.kind, FLR_PATH_FILE);
    const char *wrong[] = {"", "../out", "a/b", ".hidden", "two\nlines"};
    for (int i = 0; i < 5; i++)
        assert_int_equal(flr_engine_record_rename(s.engine, one, wrong[i], &error),
                         FLR_BAD_ARGUMENT);
    assert_int_equal(flr_engine_record_rename(s.engine, one, "two", &error), FLR_DENIED);
    assert_int_equal(flr_engine_record_rename(s.engine, 9, "three", &error), FLR_NOT_FOUND);
    uint32_t now;
    assert_int_equal(flr_engine_record_start(s.engine, "now", &now, NULL), FLR_OK);
    assert_int_equal(flr_engine_record_remove(s.engine, now, &error), FLR_AGAIN);
    assert_int_equal(flr_engine_record_stop(s.engine, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    // one that is shown ends, and is gone
    assert_int_equal(flr_engine_replay(s.engine, one, NULL, &error), FLR_OK);
    flr_test_engine_settle(&s);
    assert_true(flr_engine_view(s.engine)->replaying);
    assert_int_equal(flr_engine_record_remove(s.engine, one, &error), FLR_OK);
    assert_false(flr_engine_view(s.engine)->replaying);
    assert_int_equal(flr_path_look(s.env, "/tapes/a way out.mcap", &file, &error), FLR_OK);
    assert_int_equal(file.kind, FLR_PATH_NONE);
    assert_int_equal(flr_engine_record_remove(s.engine, one, &error), FLR_NOT_FOUND);
    flr_test_engine_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_the_names),
        cmocka_unit_test(a_scene_that_was_saved_is_named),
        cmocka_unit_test(another_scene_ends_it),
        cmocka_unit_test(found_ones_have_a_length),
        cmocka_unit_test(the_list_is_small),
        cmocka_unit_test(small_ones_hold_what_moves),
        cmocka_unit_test(named_anew_and_removed),
        cmocka_unit_test(reported),
    };
    return cmocka_run_group_tests_name("engine_record", tests, NULL, NULL);
}
