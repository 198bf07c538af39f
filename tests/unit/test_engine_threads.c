/* the engine with its threads: the loop, workers, control; made to run under the thread sanitizer */
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "feeler/hand.h"
#include "feeler/mesh.h"
#include "support/fixtures.h"
#include "support/probe_device.h"

static const flr_vec3 at_block = {0, 0, 0.03};

static void everything_at_once(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_event event;
    flr_test_engine_make(&s, false, NULL);
    flr_error error;
    assert_int_equal(flr_engine_start(s.engine, &error), FLR_BAD_ARGUMENT); /* it runs */
    flr_engine_want_near(s.engine, true, true);
    flr_test_engine_move(&s, 0, at_block, 0, 200);
    flr_test_engine_move(&s, 0, at_block, 1, 50);
    bool gone = false, answered = false;
    for (int i = 0; i < 30; i++) {
        flr_engine_add_def def = flr_default_engine_add_def();
        flr_part_id part = FLR_NO_PART_ID;
        def.name = "one more";
        def.mesh = flr_test_engine_box(flr_vec3_make(0.02, 0.02, 0.02));
        def.kind = i % 2 ? FLR_PART_MOVABLE : FLR_PART_STATIC;
        def.voxel = 0.004;
        def.T_world_part.p = flr_vec3_make(-0.05, 0.03 * (i % 3), 0.05);
        if (i % 5 == 0)
            assert_int_equal(flr_engine_add(s.engine, &def, &part, NULL, NULL), FLR_OK);
        else
            flr_mesh_destroy(def.mesh);
        flr_engine_set(s.engine, "stiffness", 500 + 10 * i, NULL);
        flr_engine_clearance_ask(s.engine, s.block, FLR_NO_PART_ID, i % 2, (uint32_t)i, NULL);
        if (i == 20) flr_engine_remove(s.engine, s.ball, NULL);
        flr_test_engine_move(&s, 0, (flr_vec3){0, 0, 0.001 * i}, 1, 20);
        while (flr_engine_next(s.engine, &event)) {
            gone |= event.kind == FLR_ENGINE_EVENT_PART_GONE && flr_same_part(event.part, s.ball);
            answered |= event.kind == FLR_ENGINE_EVENT_CLEARANCE && event.result == FLR_OK;
        }
    }
    flr_test_engine_settle(&s);
    assert_true(gone);
    assert_true(answered);
    assert_part_equal(flr_engine_view(s.engine)->hands[0].held, s.block);
    flr_engine_health health;
    flr_engine_get_health(s.engine, &health);
    assert_gt(health.loop.frames, 100);
    assert_true(health.sentence[0]);
    assert_gt(health.memory, 0);
    flr_test_engine_free(&s);
}

static void a_job_can_be_cancelled(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_event event;
    flr_test_engine_make(&s, false, NULL);
    flr_engine_add_def def = flr_default_engine_add_def();
    flr_part_id part;
    uint32_t job;
    def.name = "large";
    def.mesh = flr_test_engine_box(flr_vec3_make(1, 1, 1));
    def.voxel = 0.002; /* seconds of work */
    assert_int_equal(flr_engine_add(s.engine, &def, &part, &job, NULL), FLR_OK);
    flr_test_engine_pass(&s, 20);
    assert_int_equal(flr_engine_cancel(s.engine, job, NULL), FLR_OK);
    bool ended = false;
    for (int i = 0; i < 60000 && !ended; i++) {
        flr_test_engine_pass(&s, 10);
        while (flr_engine_next(s.engine, &event))
            if (event.kind == FLR_ENGINE_EVENT_JOB && event.job.job == job &&
                event.job.state == FLR_WIRE_JOB_ENDED) {
                assert_int_equal(event.job.result, FLR_CANCELLED);
                ended = true;
            }
    }
    assert_true(ended);
    flr_engine_part info; /* to be seen, if its mesh was read */
    if (flr_engine_get_part(s.engine, part, &info, NULL) == FLR_OK) assert_false(info.ready);
    // and one that is at work when everything ends
    def.mesh = flr_test_engine_box(flr_vec3_make(1, 1, 1));
    assert_int_equal(flr_engine_add(s.engine, &def, &part, &job, NULL), FLR_OK);
    flr_test_engine_pass(&s, 20);
    flr_test_engine_free(&s);
}

static void devices_change_places(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_probe probe;
    flr_device *device;
    uint32_t number;
    flr_engine_device info;
    flr_test_probe_init(&probe);
    probe.pose = flr_pose_make(at_block, flr_quat_identity());
    assert_int_equal(flr_device_open(&flr_test_probe_driver, &probe, &device, NULL), FLR_OK);
    flr_test_engine_make(&s, false, NULL);
    assert_int_equal(flr_engine_add_device(s.engine, device, FLR_WIRE_DEVICE_FORCE, "arm", NULL,
                                           flr_pose_identity(), 1, &number, NULL),
                     FLR_OK);
    assert_int_equal(flr_engine_select(s.engine, flr_hand(0), number, NULL), FLR_OK);
    flr_test_engine_pass(&s, 200);
    assert_true(flr_engine_device_at(s.engine, number, &info));
    assert_int_equal(info.hand.index, 0);
    assert_gt(atomic_load(&probe.reads), 10);
    const flr_engine_state *now = flr_engine_view(s.engine);
    assert_part_equal(now->hands[0].touched, s.block);
    assert_true(now->hands[0].bits & FLR_WIRE_HAND_FORCE);
    // and back, again and again
    for (int i = 0; i < 4; i++) {
        flr_engine_select(s.engine, flr_hand(0), i % 2 ? number : FLR_ENGINE_NONE, NULL);
        flr_test_engine_pass(&s, 100);
    }
    flr_engine_select(s.engine, flr_hand(0), FLR_ENGINE_NONE, NULL);
    // its force fades first; on a busy machine that may take a while
    uint64_t reads;
    int tries = 0;
    do {
        reads = atomic_load(&probe.reads);
        flr_test_engine_pass(&s, 50);
    } while (atomic_load(&probe.reads) != reads && ++tries < 1000);
    assert_int_equal(atomic_load(&probe.reads), reads);
    flr_test_engine_pass(&s, 50);
    assert_int_equal(atomic_load(&probe.reads), reads);
    flr_test_engine_free(&s);
    flr_device_close(device);
}

/* A scene file may say from where one looks and what hands work with; saved, it still does. */
static void keeps_camera_and_tools(flr_test_engine *s, const char *folder)
{
    char path[256], mesh_path[256];
    flr_engine_scene scene;
    flr_error error;
    uint32_t job;
    snprintf(path, sizeof path, "%s/look.json", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{ \"feeler\": 1, \"name\": \"look\", \"voxel\": \"1mm\", \"parts\": [ { \"name\": "
            "\"a\", \"file\": \"look.ply\", \"unit\": 1 } ], \"hands\": [ { \"tool\": "
            "\"point\" } ], \"camera\": { \"eye\": [1, 2, 3], \"target\": [0, 0, 1] } }\n");
    fclose(file);
    snprintf(mesh_path, sizeof mesh_path, "%s/look.ply", folder);
    flr_mesh *mesh = flr_test_engine_box(flr_vec3_make(0.02, 0.02, 0.02));
    assert_ok(flr_mesh_write(s->env, mesh_path, mesh, 1, &error), error);
    flr_mesh_destroy(mesh);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(flr_engine_load(s->engine, path, &job, NULL), FLR_OK);
        flr_test_engine_settle(s);
        flr_engine_get_scene(s->engine, &scene);
        assert_true(scene.camera.given);
        assert_eq(scene.camera.eye.y, 2);
        assert_eq(scene.camera.target.z, 1);
        const flr_engine_state *now = flr_engine_view(s->engine);
        for (int k = 0; k < 3000 && now->proxy_count < scene.hands; k++) {
            flr_test_engine_pass(s, 10);
            now = flr_engine_view(s->engine);
        }
        assert_int_equal(now->proxy_count, scene.hands);
        assert_true(now->hands[0].bits & FLR_WIRE_HAND_POINT);
        snprintf(path, sizeof path, "%s/again.json", folder);
        assert_int_equal(flr_engine_save(s->engine, path, &job, NULL), FLR_OK);
        flr_test_engine_settle(s);
    }
}

/* The nice value of this process's thread of that name; INT_MAX: there is none. */
static int nice_of(const char *name)
{
    DIR *threads = opendir("/proc/self/task");
    int found = INT_MAX;
    assert_non_null(threads);
    for (struct dirent *entry; (entry = readdir(threads));) {
        char path[300], text[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        if (fgets(text, sizeof text, file) && !strncmp(text, name, strlen(name)))
            found = getpriority(PRIO_PROCESS, (id_t)atoi(entry->d_name));
        fclose(file);
    }
    closedir(threads);
    return found;
}

/* May a thread of this process come before ordinary ones? */
static void *try_priority(void *allowed)
{
    *(bool *)allowed = setpriority(PRIO_PROCESS, 0, -15) == 0;
    return NULL;
}

static void assert_writer_comes_first(const flr_test_engine *s)
{
    pthread_t thread;
    bool allowed = false;
    assert_int_equal(pthread_create(&thread, NULL, try_priority, &allowed), 0);
    pthread_join(thread, NULL);
    int nice = nice_of("feeler-record");
    for (int i = 0; i < 3000 && (nice == INT_MAX || (allowed && nice >= 0)); i++) {
        flr_engine_service(s->engine);
        usleep(1000);
        nice = nice_of("feeler-record");
    }
    assert_true(nice != INT_MAX);
    if (allowed) assert_int_equal(nice, -15);
}

static void it_records_and_loads(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error;
    char folder[] = "/tmp/feeler-engine-XXXXXX", path[256];
    assert_non_null(mkdtemp(folder));
    flr_test_engine_make(&s, false, folder);
    uint32_t recording, job;
    flr_engine_recording info;
    assert_int_equal(flr_engine_record_start(s.engine, "way", &recording, &error), FLR_OK);
    assert_writer_comes_first(&s);
    // the machine may be busy: so many frames, however long they take
    uint64_t first = flr_engine_view(s.engine)->frame;
    for (int i = 0; i < 60000 && flr_engine_view(s.engine)->frame < first + 100; i++)
        flr_test_engine_pass(&s, 10);
    assert_int_equal(flr_engine_record_stop(s.engine, &error), FLR_OK);
    for (int i = 0; i < 60000; i++) {
        flr_test_engine_pass(&s, 10);
        assert_true(flr_engine_recording_at(s.engine, recording, &info));
        if (info.finished) break;
    }
    assert_true(info.finished);
    assert_gt(info.frames, 20);
    assert_gt(info.bytes, 0);
    // the scene as a file, and back
    snprintf(path, sizeof path, "%s/scene.json", folder);
    assert_int_equal(flr_engine_save(s.engine, path, &job, &error), FLR_OK);
    flr_test_engine_settle(&s);
    assert_int_equal(flr_engine_load(s.engine, path, &job, &error), FLR_OK);
    flr_test_engine_settle(&s);
    flr_engine_scene scene;
    flr_engine_get_scene(s.engine, &scene);
    assert_int_equal(scene.scene, 1);
    assert_int_equal(scene.parts, 3);
    assert_int_equal(scene.meshes, 2); /* block and ball are of one shape */
    for (int i = 0; i < 60000 && flr_engine_view(s.engine)->scene != 1; i++)
        flr_test_engine_pass(&s, 10); /* a busy machine */
    assert_int_equal(flr_engine_view(s.engine)->scene, 1);
    keeps_camera_and_tools(&s, folder);
    // what is missing is reported
    flr_engine_event event;
    bool told = false;
    assert_int_equal(flr_engine_load(s.engine, "/nowhere/scene.json", &job, &error), FLR_OK);
    for (int i = 0; i < 60000 && !told; i++) {
        flr_test_engine_pass(&s, 10);
        while (flr_engine_next(s.engine, &event))
            told |= event.kind == FLR_ENGINE_EVENT_JOB && event.job.job == job &&
                    event.job.result == FLR_NOT_FOUND;
    }
    assert_true(told);
    flr_test_engine_free(&s);
    char command[512];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_at_once),
        cmocka_unit_test(a_job_can_be_cancelled),
        cmocka_unit_test(devices_change_places),
        cmocka_unit_test(it_records_and_loads),
    };
    return cmocka_run_group_tests_name("engine_threads", tests, NULL, NULL);
}
