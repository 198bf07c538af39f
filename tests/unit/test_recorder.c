/* writing recordings: a recorder that dies leaves what it had written; what does not fit is counted; pushing takes no memory */
#include "support/fail_alloc.h"
#include "support/frames.h"

static flr_error error;

static void the_dead_leave_what_they_wrote(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("the_dead_leave_what_they_wrote");
    enum { COUNT = 1000 };
    flr_test_frame *frames = malloc(COUNT * sizeof *frames);
    flr_recorder *recorder = flr_test_frames_begin("/dead.mcap");
    for (uint64_t i = 0; i < COUNT; i++) {
        frames[i] = flr_test_frame_make(&random, i);
        flr_test_frame_give(recorder, &frames[i]);
        assert_ok(flr_recorder_service(recorder, &error), error);
    }
    flr_recorder_abandon(recorder);
    bool complete;
    uint64_t n = flr_test_frames_read("/dead.mcap", frames, COUNT, &complete);
    assert_false(complete);
    /* a frame takes a millisecond here, a chunk a quarter of a second */
    assert_in_range(n, COUNT - 251, COUNT - 1);
    free(frames);
    /* how far it goes is known without reading all of it, and reading begins at the front all the same */
    flr_recording *r;
    uint64_t count;
    double seconds = 0;
    flr_record_view view;
    assert_ok(flr_recording_open(flr_test_disk(), "/dead.mcap", &r, &error), error);
    assert_false(flr_recording_length(r, &count, &seconds));
    assert_true(flr_recording_reach(r, &seconds));
    assert_lt(fabs(seconds - (double)(n - 1) * 1e-3), 1e-9);
    assert_ok(flr_recording_next(r, &view, &error), error);
    assert_int_equal(view.frame.frame, 0);
    flr_recording_close(r);
}

static void limits_and_losses(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("limits_and_losses");
    flr_recorder *recorder = flr_test_frames_begin("/lost.mcap");
    flr_test_frame f = flr_test_frame_make(&random, 0);
    unsigned taken = 0;
    for (int i = 0; i < 100; i++)
        taken += flr_recorder_push(recorder, &f.head, f.hands, f.parts, f.contacts);
    assert_int_equal(taken, 64);
    assert_int_equal(flr_recorder_lost(recorder), 36);
    assert_ok(flr_recorder_finish(recorder, &error), error);

    /* a file that is there stays as it is */
    flr_recorder_def def = flr_default_recorder_def();
    def.path = "/lost.mcap";
    assert_ne(flr_recorder_create(flr_test_disk(), &def, &recorder, &error), FLR_OK);
    assert_non_null(strstr(error.message, "/lost.mcap"));
    def.path = "/other.mcap";
    def.parts = 5000;
    assert_int_equal(flr_recorder_create(flr_test_disk(), &def, &recorder, &error),
                     FLR_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "4096"));
}

/* Frames that find room while nobody writes, of one hand and so many parts. */
static uint32_t frames_waiting(uint32_t parts)
{
    static flr_record_part list[4096];
    const flr_record_frame head = {0};
    const flr_record_hand hand = {.T_world_hand = flr_pose_identity()};
    flr_recorder_def def = flr_default_recorder_def();
    flr_recorder *recorder;
    char path[32];
    snprintf(path, sizeof path, "/waiting%u.mcap", parts);
    def.path = path, def.hands = 1, def.parts = parts;
    assert_ok(flr_recorder_create(flr_test_disk(), &def, &recorder, &error), error);
    uint32_t count = 0;
    while (flr_recorder_push(recorder, &head, &hand, list, NULL)) count++;
    assert_int_equal(flr_recorder_lost(recorder), 1);
    flr_recorder_abandon(recorder);
    return count;
}

/* A disk may be busy for long seconds; large frames must not take gigabytes for that. */
static void seconds_of_frames_may_wait(void **state)
{
    (void)state;
    assert_int_equal(frames_waiting(1), 8192);
    assert_int_equal(frames_waiting(100), 4096);
    assert_int_equal(frames_waiting(1000), 1024);
}

typedef struct attempt {
    flr_test_frame f;
    char path[512];
} attempt;

static flr_result write_and_read(void *context, flr_error *e)
{
    const attempt *a = context;
    flr_env *env = flr_env_real();
    remove(a->path);
    flr_recorder_def def = flr_default_recorder_def();
    def.path = a->path;
    def.hands = FLR_TEST_HANDS;
    def.parts = FLR_TEST_PARTS;
    def.ring = 4;
    def.texts = flr_test_frame_texts;
    flr_recorder *recorder;
    flr_recording *recording;
    flr_record_view view;
    flr_result result = flr_recorder_create(env, &def, &recorder, e);
    if (result != FLR_OK) return result;
    flr_recorder_push(recorder, &a->f.head, a->f.hands, a->f.parts, a->f.contacts);
    result = flr_recorder_finish(recorder, e);
    if (result == FLR_OK) result = flr_recording_open(env, a->path, &recording, e);
    if (result != FLR_OK) return result;
    result = flr_recording_next(recording, &view, e);
    flr_recording_close(recording);
    return result;
}

static void without_memory(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("without_memory");
    attempt a = {.f = flr_test_frame_make(&random, 0)};
    char *folder = flr_test_folder();
    snprintf(a.path, sizeof a.path, "%s/a.mcap", folder);
    flr_fail_alloc_each(write_and_read, &a);
    flr_test_folder_remove(folder);
}

static void pushing_takes_no_memory(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("pushing_takes_no_memory");
    flr_test_frame f = flr_test_frame_make(&random, 0);
    flr_recorder *recorder = flr_test_frames_begin("/memory.mcap");
    flr_fail_alloc_from(1);
    flr_test_frame_give(recorder, &f);
    uint64_t asked = flr_fail_alloc_asked();
    flr_result result = flr_recorder_service(recorder, &error);
    flr_fail_alloc_at(0);
    assert_int_equal(asked, 0);
    assert_int_equal(result, FLR_NO_MEMORY);
    assert_int_equal(flr_recorder_service(recorder, &error), FLR_IO);
    flr_recorder_abandon(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_dead_leave_what_they_wrote), cmocka_unit_test(limits_and_losses),
        cmocka_unit_test(seconds_of_frames_may_wait),     cmocka_unit_test(without_memory),
        cmocka_unit_test(pushing_takes_no_memory),
    };
    return cmocka_run_group_tests_name("recorder", tests, flr_test_disk_begin, flr_test_disk_end);
}
