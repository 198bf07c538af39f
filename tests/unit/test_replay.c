/* a run is recorded and replayed: the same hashes, whatever the device does; what differs is found */
#include "sim/replay.h"

#include <math.h>

#include "feeler/hand.h"
#include "models/models.h"
#include "support/recorded.h"

static flr_error error;
enum { FRAMES = 240 };

/* ---- a device that stutters: nothing new in every third frame, velocity now and then ---- */

typedef struct stutter {
    flr_target target;
    uint64_t reads;
} stutter;

static flr_result stutter_open(const void *parameters, void **state, flr_device_info *info,
                               flr_error *why)
{
    (void)why;
    stutter *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->target = *(const flr_target *)parameters;
    info->force = 5;
    info->torque = 0.2;
    *state = s;
    return FLR_OK;
}

static void stutter_close(void *state) { free(state); }

static bool stutter_read(void *state, int64_t now_ns, flr_device_sample *sample)
{
    stutter *s = state;
    uint64_t n = s->reads++;
    if (n % 3 == 2) return false;
    *sample = (flr_device_sample){
        .T_base_grip = s->target.at(s->target.context, (double)n * 1e-3),
        .time_ns = now_ns,
        .has_twist = n % 2 == 0,
        .buttons = (uint32_t)n,
    };
    if (sample->has_twist) sample->twist.linear = flr_vec3_make(0, 0.01, -0.02);
    return true;
}

static bool stutter_write(void *state, int64_t now_ns, const flr_wrench *wrench)
{
    (void)state, (void)now_ns, (void)wrench;
    return true;
}

static const flr_device_driver stutter_driver = {.name = "stutter",
                                                 .summary = "does not always answer",
                                                 .open = stutter_open,
                                                 .close = stutter_close,
                                                 .read = stutter_read,
                                                 .write = stutter_write};

/* ---- recording a run ---- */

typedef struct scene_of_ball {
    char *folder;
    flr_scene *scene;
    flr_setup setup;
    char scene_path[1100], path[1100];
} scene_of_ball;

static int make_ball(void **state)
{
    scene_of_ball *b = calloc(1, sizeof *b);
    b->folder = flr_test_folder();
    assert_ok(flr_scenario_make(flr_env_real(), flr_scenario_find("ball"), NULL, b->folder, &error),
              error);
    snprintf(b->scene_path, sizeof b->scene_path, "%s/scene.json", b->folder);
    snprintf(b->path, sizeof b->path, "%s/rec.mcap", b->folder);
    assert_ok(flr_scene_read(flr_env_real(), b->scene_path, &b->scene, &error), error);
    b->setup = flr_default_setup();
    b->setup.scene = b->scene_path;
    b->setup.part = "ball";
    b->setup.voxel = b->setup.moving_voxel = 1e-3;
    b->setup.params = flr_scene_params(b->scene);
    *state = b;
    return 0;
}

static int free_ball(void **state)
{
    scene_of_ball *b = *state;
    flr_scene_destroy(b->scene);
    flr_test_folder_remove(b->folder);
    free(b);
    return 0;
}

static flr_stage *stage_of(const scene_of_ball *b, const flr_setup *setup)
{
    flr_stage_def like = flr_default_stage_def();
    flr_stage *stage;
    assert_ok(flr_setup_stage(flr_env_real(), setup, b->scene, &like, &stage, &error), error);
    return stage;
}

/* Runs with a device and records; returns the hash of all. */
static flr_hash record(scene_of_ball *b, const flr_device_driver *driver, const void *parameters)
{
    flr_device *device;
    assert_ok(flr_device_open(driver, parameters, &device, &error), error);
    b->setup.device_force = flr_device_get_info(device)->force;
    b->setup.device_torque = flr_device_get_info(device)->torque;
    flr_stage *stage = stage_of(b, &b->setup);
    flr_texts texts = {0};
    assert_ok(flr_setup_write(&b->setup, b->scene, stage, &texts, &error), error);
    flr_run_def def = flr_default_run_def();
    def.stage = stage;
    def.part = flr_stage_find(stage, "ball");
    def.device = device;
    def.frames = FRAMES;
    def.record = b->path;
    def.texts = (const char *const *)texts.list;
    flr_path_remove(flr_env_real(), b->path, NULL);
    flr_run_result result;
    assert_ok(flr_run(&def, &result, &error), error);
    assert_int_equal(result.frames, FRAMES);
    assert_gt(result.contact_frames, 0);
    flr_texts_free(&texts);
    flr_device_close(device);
    flr_stage_destroy(stage);
    return result.hash;
}

static flr_script *script_of(flr_script_kind kind)
{
    flr_script_def def = flr_default_script_def();
    flr_script *script;
    def.kind = kind;
    def.reach = 0.01;
    assert_ok(flr_script_create(&def, &script, &error), error);
    return script;
}

static flr_hand_log read_log(const char *path, flr_setup *setup)
{
    flr_recording *recording;
    flr_hand_log log;
    assert_ok(flr_recording_open(flr_env_real(), path, &recording, &error), error);
    flr_setup found;
    assert_ok(flr_setup_read(recording, path, &found, &error), error);
    if (setup) {
        *setup = found;
        setup->scene = setup->part = NULL; /* were the recording's */
    }
    assert_ok(flr_hand_log_read(recording, path, &log, &error), error);
    flr_recording_close(recording);
    return log;
}

static flr_replay_result replay(scene_of_ball *b, const flr_hand_log *log, const flr_setup *setup)
{
    flr_stage *stage = stage_of(b, setup);
    flr_replay_result result;
    assert_ok(flr_replay_run(flr_env_real(), setup, stage, log, NULL, NULL, &result, &error),
              error);
    flr_stage_destroy(stage);
    assert_int_equal(result.compared, log->count);
    return result;
}

static void the_same_again(void **state)
{
    scene_of_ball *b = *state;
    flr_script *script = script_of(FLR_SCRIPT_AGGRESSIVE);
    flr_target target = flr_script_target(script);
    flr_hand_def hand = flr_default_hand_def();
    hand.target = target;
    const struct {
        const flr_device_driver *driver;
        const void *parameters;
    } devices[] = {
        {&flr_hand_driver, &hand}, {&flr_script_driver, &target}, {&stutter_driver, &target}};
    for (int i = 0; i < 3; i++) {
        flr_hash hash = record(b, devices[i].driver, devices[i].parameters);
        flr_setup setup;
        flr_hand_log log = read_log(b->path, &setup);
        assert_true(log.complete);
        assert_false(log.gap);
        assert_eq(log.count, FRAMES);
        flr_replay_result result = replay(b, &log, &setup);
        assert_true(result.same);
        assert_true(flr_hash_equal(result.run.hash, hash));
        flr_hand_log_free(&log);
    }
    flr_script_destroy(script);
}

static void a_difference_is_found(void **state)
{
    scene_of_ball *b = *state;
    flr_script *script = script_of(FLR_SCRIPT_SLIDE);
    flr_target target = flr_script_target(script);
    record(b, &flr_script_driver, &target);
    flr_setup setup;
    flr_hand_log log = read_log(b->path, &setup);
    /* another hash was recorded */
    log.hashes[100] ^= 1;
    flr_replay_result result = replay(b, &log, &setup);
    assert_false(result.same);
    assert_int_equal(result.first, 100);
    assert_int_equal(result.then ^ result.now, 1);
    log.hashes[100] ^= 1;
    /* the hand was a hair elsewhere */
    log.inputs[50].T_world_hand.p.x += 1e-9;
    result = replay(b, &log, &setup);
    assert_false(result.same);
    assert_int_equal(result.first, 50);
    log.inputs[50].T_world_hand.p.x -= 1e-9;
    /* a parameter is another */
    setup.params.coupling.stiffness *= 1.001;
    assert_false(replay(b, &log, &setup).same);
    flr_hand_log_free(&log);
    flr_script_destroy(script);
}

/* What the guard let through is an input: it is in the recording, and the books go by it. A recording of before that
 * replays without. */
static void what_was_sent_is_replayed(void **state)
{
    scene_of_ball *b = *state;
    flr_script *script = script_of(FLR_SCRIPT_AGGRESSIVE);
    flr_hand_def hand = flr_default_hand_def();
    hand.target = flr_script_target(script);
    record(b, &flr_hand_driver, &hand);
    flr_setup setup;
    flr_hand_log log = read_log(b->path, &setup);
    double most = 0;
    for (int i = 0; i < FRAMES; i++) {
        assert_true(log.inputs[i].has_sent);
        most = fmax(most, flr_vec3_length(log.inputs[i].sent.force));
    }
    assert_gt(most, 0);
    flr_replay_result as_was = replay(b, &log, &setup);
    assert_true(as_was.same);
    for (int i = 0; i < FRAMES; i++) log.inputs[i].has_sent = false;
    flr_replay_result old = replay(b, &log, &setup);
    /* the guard's ramp let less through than was meant */
    assert_lt(as_was.run.put + as_was.run.got, old.run.put + old.run.got);
    flr_hand_log_free(&log);
    flr_script_destroy(script);
}

static bool stop_at_once(void *context, uint64_t done)
{
    (void)context, (void)done;
    return false;
}

static void stops_when_asked(void **state)
{
    scene_of_ball *b = *state;
    flr_pose poses[1300];
    for (int i = 0; i < 1300; i++) poses[i] = flr_pose_identity();
    flr_test_recorded r;
    flr_test_recorded_make(&r, &b->setup, poses, NULL, 1300, 0, 1);
    flr_hand_log log = read_log(r.path, NULL);
    flr_stage *stage = stage_of(b, &b->setup);
    flr_replay_result result;
    assert_ok(
        flr_replay_run(flr_env_real(), &b->setup, stage, &log, stop_at_once, NULL, &result, &error),
        error);
    assert_true(result.run.stopped);
    assert_lt(result.compared, 1300);
    assert_false(result.same);
    flr_stage_destroy(stage);
    flr_hand_log_free(&log);
    flr_test_recorded_free(&r);
}

static void what_cannot_be_replayed(void **state)
{
    (void)state;
    flr_setup setup = flr_default_setup();
    flr_pose poses[5];
    for (int i = 0; i < 5; i++) poses[i] = flr_pose_identity();
    flr_test_recorded r;
    /* a frame is missing: what follows it cannot be the same */
    const uint64_t numbers[] = {0, 1, 3, 4, 5};
    flr_test_recorded_make(&r, &setup, poses, numbers, 5, 0, 1);
    flr_hand_log log = read_log(r.path, NULL);
    assert_true(log.gap);
    assert_eq(log.count, 2);
    assert_eq(log.behind, 3);
    assert_true(log.inputs[0].fresh);
    assert_false(log.inputs[1].fresh);
    assert_int_equal(log.hashes[1], 1001);
    flr_hand_log_free(&log);
    flr_test_recorded_free(&r);
    /* no frames, two hands */
    for (uint32_t hands = 1; hands <= 2; hands++) {
        flr_recording *recording;
        flr_test_recorded_make(&r, &setup, poses, NULL, hands - 1, 0, hands);
        assert_ok(flr_recording_open(flr_env_real(), r.path, &recording, &error), error);
        assert_int_equal(flr_hand_log_read(recording, r.path, &log, &error), FLR_BAD_INPUT);
        assert_non_null(strstr(error.message, hands == 1 ? "no frame" : "2 hands"));
        flr_recording_close(recording);
        flr_test_recorded_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_again),
        cmocka_unit_test(a_difference_is_found),
        cmocka_unit_test(what_was_sent_is_replayed),
        cmocka_unit_test(stops_when_asked),
        cmocka_unit_test(what_cannot_be_replayed),
    };
    return cmocka_run_group_tests_name("replay", tests, make_ball, free_ball);
}
