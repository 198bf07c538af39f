/* a scene that is loaded: its parts are seen before they have voxels, and become ready when they have them */
#include <math.h>
#include <stdio.h>

#include "support/fixtures.h"

#include "feeler/mesh.h"

static const char plan[] = "/plans/plan.json";

/* the stand's scene as a file */
static void save_plan(flr_test_engine *s)
{
    flr_error error;
    uint32_t job;
    flr_test_engine_make(s, true, NULL);
    assert_ok(flr_path_make_folder(s->env, "/plans", &error), error);
    assert_ok(flr_engine_save(s->engine, plan, &job, &error), error);
    flr_test_engine_settle(s);
    flr_engine_event event;
    while (flr_engine_next(s->engine, &event)) continue;
}

/* serviced until the scene is another one: then nothing has voxels yet */
static uint32_t load_meshes(flr_test_engine *s, const char *path)
{
    flr_engine_scene before, now;
    flr_error error;
    uint32_t job;
    flr_engine_get_scene(s->engine, &before);
    assert_ok(flr_engine_load(s->engine, path, &job, &error), error);
    for (int i = 0; i < 10; i++) {
        flr_engine_service(s->engine);
        flr_engine_get_scene(s->engine, &now);
        if (now.scene != before.scene) return job;
    }
    fail_msg("the scene was not read");
    return 0;
}

static uint32_t count_ready(flr_test_engine *s)
{
    flr_engine_part part;
    uint32_t ready = 0;
    for (uint32_t i = 0; flr_engine_part_at(s->engine, i, &part); i++) {
        assert_non_null(part.geometry);
        assert_eq(part.ready, (part.voxmap && part.voxel > 0 && part.points > 0));
        ready += part.ready;
    }
    return ready;
}

/* what became of a job; and how often parts were told to be ready */
static flr_engine_job ended(flr_test_engine *s, uint32_t job, uint32_t *told)
{
    flr_engine_event event;
    flr_engine_job last = {0};
    flr_engine_part part;
    *told = 0;
    while (flr_engine_next(s->engine, &event)) {
        if (event.kind == FLR_ENGINE_EVENT_JOB && event.job.job == job) last = event.job;
        if (event.kind == FLR_ENGINE_EVENT_PART &&
            flr_engine_get_part(s->engine, event.part, &part, NULL) == FLR_OK)
            *told += part.ready;
    }
    assert_int_equal(last.state, FLR_WIRE_JOB_ENDED);
    return last;
}

static void parts_are_seen_before_they_are_ready(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error;
    flr_engine_scene scene;
    flr_hash hash;
    uint32_t told;
    save_plan(&s);
    uint32_t job = load_meshes(&s, plan);
    flr_engine_get_scene(s.engine, &scene);
    assert_int_equal(scene.parts, 3);
    assert_int_equal(scene.meshes, 2);
    assert_non_null(flr_engine_mesh(s.engine, flr_engine_mesh_id(s.engine, 0), &hash));
    assert_int_equal(count_ready(&s), 0);
    // what cannot be done yet says so
    assert_int_equal(
        flr_engine_grab(s.engine, flr_hand(0), flr_engine_part_id(s.engine, 1), &error), FLR_AGAIN);
    assert_non_null(strstr(error.message, "voxels are being made"));
    assert_int_equal(
        flr_engine_place(s.engine, flr_engine_part_id(s.engine, 1), flr_pose_identity(), &error),
        FLR_AGAIN);
    assert_int_equal(flr_engine_clearance_ask(s.engine, flr_engine_part_id(s.engine, 1),
                                              FLR_NO_PART_ID, false, 1, &error),
                     FLR_AGAIN);
    assert_int_equal(flr_engine_clearance_ask(s.engine, flr_engine_part_id(s.engine, 1),
                                              FLR_NO_PART_ID, true, 1, &error),
                     FLR_OK);
    assert_int_equal(flr_engine_jobs(s.engine), 1);
    flr_test_engine_settle(&s);
    assert_int_equal(count_ready(&s), 3);
    assert_int_equal(ended(&s, job, &told).result, FLR_OK);
    assert_int_equal(told, 3);
    assert_int_equal(
        flr_engine_grab(s.engine, flr_hand(0), flr_engine_part_id(s.engine, 1), &error), FLR_OK);
    flr_test_engine_pass(&s, 20);
    assert_int_equal(flr_engine_view(s.engine)->hands[0].held.index, 1);
    flr_test_engine_free(&s);
}

static void cancelled_parts_stay_to_be_seen(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error;
    uint32_t told, again;
    save_plan(&s);
    uint32_t job = load_meshes(&s, plan);
    flr_engine_part part;
    for (int i = 0; i < 10; i++) { /* the plate: what stays comes first */
        flr_engine_service(s.engine);
        assert_ok(flr_engine_get_part(s.engine, flr_engine_part_id(s.engine, 0), &part, &error),
                  error);
        if (part.voxmap) break;
    }
    assert_ok(flr_engine_cancel(s.engine, job, &error), error);
    flr_test_engine_settle(&s);
    flr_engine_job info = ended(&s, job, &told);
    assert_int_equal(info.result, FLR_CANCELLED);
    assert_non_null(strstr(info.sentence, "2 of 3 parts have no voxels: they are shown"));
    assert_int_equal(count_ready(&s), 1);
    assert_int_equal(told, 1);
    assert_ok(flr_engine_get_part(s.engine, flr_engine_part_id(s.engine, 0), &part, &error), error);
    assert_true(part.ready);
    assert_eq(part.kind, FLR_PART_STATIC);
    assert_int_equal(
        flr_engine_grab(s.engine, flr_hand(0), flr_engine_part_id(s.engine, 1), &error), FLR_AGAIN);
    assert_non_null(strstr(error.message, "it has no voxels"));
    // and can be had after all
    assert_ok(flr_engine_voxelize(s.engine, flr_engine_part_id(s.engine, 1), 0.002, &again, &error),
              error);
    flr_test_engine_settle(&s);
    assert_int_equal(count_ready(&s), 2);
    assert_int_equal(
        flr_engine_grab(s.engine, flr_hand(0), flr_engine_part_id(s.engine, 1), &error), FLR_OK);
    flr_test_engine_free(&s);
}

static void write_box(flr_env *env, const char *path, flr_vec3 size)
{
    flr_error error;
    flr_mesh *mesh = flr_test_engine_box(size);
    assert_ok(flr_mesh_write(env, path, mesh, 1, &error), error);
    flr_mesh_destroy(mesh);
}

static void one_that_cannot_be_made_hinders_no_other(void **state)
{
    (void)state;
    static const char text[] =
        "{ \"feeler\": 1, \"name\": \"odd\", \"voxel\": \"2mm\", \"parts\": [ { \"name\": \"a\", "
        "\"file\": \"a.ply\", \"unit\": 1, \"voxel\": 1e-9 }, { \"name\": \"b\", "
        "\"file\": \"b.ply\", \"unit\": 1, \"moving\": true } ] }\n";
    flr_test_engine s;
    flr_error error;
    uint32_t told;
    save_plan(&s);
    write_box(s.env, "/plans/a.ply", flr_vec3_make(0.16, 0.08, 0.02));
    write_box(s.env, "/plans/b.ply", flr_vec3_make(0.02, 0.02, 0.02));
    flr_file *file;
    assert_ok(flr_file_open(s.env, "/plans/odd.json", FLR_FILE_CREATE, &file, &error), error);
    assert_ok(flr_file_write(file, 0, text, sizeof text - 1, &error), error);
    flr_file_close(file);
    uint32_t job = load_meshes(&s, "/plans/odd.json");
    flr_test_engine_settle(&s);
    flr_engine_job info = ended(&s, job, &told);
    assert_int_equal(info.result, FLR_TOO_LARGE);
    assert_non_null(strstr(info.sentence, "part \"a\""));
    assert_non_null(strstr(info.sentence, "1 of 2 parts"));
    assert_int_equal(count_ready(&s), 1);
    flr_test_engine_free(&s);
}

static void another_scene_takes_over(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error;
    uint32_t second;
    save_plan(&s);
    uint32_t first = load_meshes(&s, plan);
    assert_ok(flr_engine_load(s.engine, plan, &second, &error), error);
    flr_test_engine_settle(&s);
    assert_int_equal(count_ready(&s), 3);
    flr_engine_event event;
    flr_result results[2] = {FLR_AGAIN, FLR_AGAIN};
    while (flr_engine_next(s.engine, &event))
        if (event.kind == FLR_ENGINE_EVENT_JOB && event.job.state == FLR_WIRE_JOB_ENDED) {
            if (event.job.job == first) results[0] = event.job.result;
            if (event.job.job == second) results[1] = event.job.result;
        }
    assert_int_equal(results[0], FLR_CANCELLED);
    assert_int_equal(results[1], FLR_OK);
    flr_test_engine_free(&s);
}

static void an_added_part_is_seen_first(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error;
    flr_part_id part;
    uint32_t job, told;
    flr_engine_part info;
    flr_test_engine_make(&s, true, NULL);
    flr_engine_add_def def = flr_default_engine_add_def();
    def.name = "third";
    def.mesh = flr_test_engine_box(flr_vec3_make(0.02, 0.02, 0.02));
    def.kind = FLR_PART_MOVABLE;
    def.voxel = 0.002;
    assert_ok(flr_engine_add(s.engine, &def, &part, &job, &error), error);
    flr_engine_service(s.engine);
    assert_ok(flr_engine_get_part(s.engine, part, &info, &error), error);
    assert_false(info.ready);
    assert_ok(flr_engine_cancel(s.engine, job, &error), error);
    flr_test_engine_settle(&s);
    flr_engine_job end = ended(&s, job, &told);
    assert_int_equal(end.result, FLR_CANCELLED);
    assert_non_null(strstr(end.sentence, "it is shown"));
    assert_ok(flr_engine_get_part(s.engine, part, &info, &error), error);
    assert_false(info.ready);
    // a part that goes while its voxels are made is no trouble
    assert_ok(flr_engine_voxelize(s.engine, part, 0.001, &job, &error), error);
    assert_ok(flr_engine_remove(s.engine, part, &error), error);
    flr_test_engine_settle(&s);
    assert_int_equal(count_ready(&s), 3);
    flr_test_engine_free(&s);
}

/* A part becomes static where it is, and movable again; a hand lets go of what stays. */
static void kinds_change(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error;
    flr_engine_part part;
    const flr_pose high = flr_pose_make(flr_vec3_make(0, 0, 0.05), flr_quat_identity());
    flr_test_engine_make(&s, true, NULL);
    assert_ok(flr_engine_place(s.engine, s.block, high, &error), error);
    flr_test_engine_move(&s, 0, high.p, 0, 100);
    assert_ok(flr_engine_grab(s.engine, flr_hand(0), s.block, &error), error);
    flr_test_engine_pass(&s, 20);
    assert_part_equal(flr_engine_view(s.engine)->hands[0].held, s.block);
    flr_test_engine_pass(&s, 300);
    double z = flr_test_engine_part(&s, s.block).T_world_part.p.z;
    assert_gt(z, 0.045);
    assert_ok(flr_engine_set_kind(s.engine, s.block, FLR_PART_STATIC, &error), error);
    flr_test_engine_settle(&s);
    assert_part_equal(flr_engine_view(s.engine)->hands[0].held, FLR_NO_PART_ID);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), s.block, &error), FLR_DENIED);
    assert_ok(flr_engine_reset(s.engine, &error), error);
    flr_test_engine_pass(&s, 50);
    assert_ok(flr_engine_get_part(s.engine, s.block, &part, &error), error);
    assert_eq(part.kind, FLR_PART_STATIC);
    assert_lt(fabs(part.T_world_part.p.z - z), 1e-3);
    assert_ok(flr_engine_set_kind(s.engine, s.block, FLR_PART_MOVABLE, &error), error);
    flr_test_engine_settle(&s);
    assert_ok(flr_engine_grab(s.engine, flr_hand(0), s.block, &error), error);
    flr_test_engine_pass(&s, 20);
    assert_part_equal(flr_engine_view(s.engine)->hands[0].held, s.block);
    assert_int_equal(
        flr_engine_set_kind(s.engine, flr_engine_part_id(s.engine, 77), FLR_PART_STATIC, &error),
        FLR_NOT_FOUND);
    assert_int_equal(flr_engine_set_kind(s.engine, s.block, (flr_part_kind)7, &error),
                     FLR_BAD_ARGUMENT);
    flr_test_engine_free(&s);
}

/* What was set goes along. */
static void saving_keeps_parameters(void **state)
{
    (void)state;
    static const char *const names[] = {"engine", "restitution", "friction", "gravity_z"};
    static const double values[] = {1, 0.25, 0.5, -9.81};
    flr_test_engine s;
    flr_engine_parameter parameter;
    save_plan(&s);
    for (int i = 0; i < 4; i++)
        assert_int_equal(flr_engine_set(s.engine, names[i], values[i], NULL), FLR_OK);
    flr_test_engine_settle(&s);
    uint32_t job;
    assert_int_equal(flr_engine_save(s.engine, plan, &job, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    for (int i = 0; i < 4; i++)
        assert_int_equal(flr_engine_set(s.engine, names[i], 0, NULL), FLR_OK);
    load_meshes(&s, plan);
    for (uint32_t i = 0; flr_engine_parameter_at(s.engine, i, &parameter); i++)
        for (int k = 0; k < 4; k++)
            if (strcmp(parameter.name, names[k]) == 0) assert_eq(parameter.value, values[k]);
    flr_test_engine_free(&s);
}

/* What is no scene is not written over. */
static void saving_spares_other_files(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error;
    flr_file *file;
    uint32_t job, told;
    save_plan(&s);
    assert_ok(flr_engine_save(s.engine, plan, &job, &error), error); /* a scene: again */
    flr_test_engine_settle(&s);
    assert_int_equal(ended(&s, job, &told).result, FLR_OK);
    assert_ok(flr_file_open(s.env, "/plans/other.json", FLR_FILE_CREATE, &file, &error), error);
    assert_ok(flr_file_write(file, 0, "{}", 2, &error), error);
    flr_file_close(file);
    assert_ok(flr_engine_save(s.engine, "/plans/other.json", &job, &error), error);
    flr_test_engine_settle(&s);
    assert_int_equal(ended(&s, job, &told).result, FLR_DENIED);
    assert_int_equal(flr_engine_save(s.engine, "/plans/.profile", &job, &error), FLR_BAD_ARGUMENT);
    flr_test_engine_free(&s);
}

/* A client gives a name, and it goes beside the scene that was opened: nowhere else, and over nothing that a person wrote. */
static void clients_save_by_name(void **state)
{
    (void)state;
    static const char *const bad[] = {"",          "/etc/x.json", "../x.json", "a/b.json",
                                      "a\\b.json", ".json",       "..json",    "a\nb.json"};
    flr_test_engine s;
    flr_error error;
    uint32_t job, told;
    save_plan(&s);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (flr_engine_save_as(s.engine, bad[i], &job, &error) != FLR_BAD_ARGUMENT)
            fail_msg("\"%s\" is taken", bad[i]);
    assert_int_equal(flr_engine_save_as(s.engine, "../x.json", &job, &error), FLR_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "without folders"));
    /* nothing was opened, and no folder given */
    assert_int_equal(flr_engine_save_as(s.engine, "a.json", &job, &error), FLR_UNSUPPORTED);
    assert_ok(flr_engine_load(s.engine, plan, &job, &error), error);
    flr_test_engine_settle(&s);
    assert_int_equal(ended(&s, job, &told).result, FLR_OK);
    assert_ok(flr_engine_save_as(s.engine, "a.json", &job, &error), error);
    flr_test_engine_settle(&s);
    flr_engine_job end = ended(&s, job, &told);
    assert_int_equal(end.result, FLR_OK);
    assert_string_equal(end.name, "/plans/a.json");
    flr_path_info info;
    assert_ok(flr_path_look(s.env, "/plans/a.json", &info, &error), error);
    assert_int_equal(info.kind, FLR_PATH_FILE);
    /* a scene whose parts are files of its own was written by somebody */
    assert_ok(flr_path_rename(s.env, "/plans/a.json", "/plans/b.json", &error), error);
    assert_ok(flr_engine_save_as(s.engine, "b.json", &job, &error), error);
    flr_test_engine_settle(&s);
    end = ended(&s, job, &told);
    assert_int_equal(end.result, FLR_DENIED);
    assert_non_null(strstr(end.sentence, "not written over"));
    flr_test_engine_free(&s);
}

/* The size of voxels of a part that says none: the scene has none either, so what fits. */
static void voxels_fit_the_part(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error;
    flr_part_id part;
    uint32_t job;
    flr_engine_part info;
    flr_test_engine_make(&s, true, NULL);
    flr_engine_add_def def = flr_default_engine_add_def();
    def.mesh = flr_test_engine_box(flr_vec3_make(0.002, 0.001, 0.001));
    assert_ok(flr_engine_add(s.engine, &def, &part, &job, &error), error);
    flr_test_engine_settle(&s);
    assert_ok(flr_engine_get_part(s.engine, part, &info, &error), error);
    assert_lt(fabs(info.voxel - 1e-5), 1e-12);
    flr_test_engine_free(&s);
}

/* Two files of one name, as people upload them, can be told apart and saved. */
static void names_are_unique(void **state)
{
    (void)state;
    static const char *const wanted[] = {"block 2", "block 3", "part"};
    flr_test_engine s;
    flr_error error;
    flr_part_id part;
    uint32_t job, told;
    flr_engine_part info;
    flr_test_engine_make(&s, true, NULL);
    for (int i = 0; i < 3; i++) {
        flr_engine_add_def def = flr_default_engine_add_def();
        def.name = i < 2 ? "block" : "";
        def.mesh = flr_test_engine_box(flr_vec3_make(0.01, 0.01, 0.01));
        def.T_world_part.p.z = 0.1 * (i + 1);
        assert_ok(flr_engine_add(s.engine, &def, &part, &job, &error), error);
        flr_test_engine_settle(&s);
        assert_ok(flr_engine_get_part(s.engine, part, &info, &error), error);
        assert_memory_equal(info.name, wanted[i], strlen(wanted[i]));
    }
    assert_ok(flr_path_make_folder(s.env, "/plans", &error), error);
    assert_ok(flr_engine_save(s.engine, plan, &job, &error), error);
    flr_test_engine_settle(&s);
    assert_int_equal(ended(&s, job, &told).result, FLR_OK);
    flr_test_engine_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_seen_before_they_are_ready),
        cmocka_unit_test(cancelled_parts_stay_to_be_seen),
        cmocka_unit_test(one_that_cannot_be_made_hinders_no_other),
        cmocka_unit_test(another_scene_takes_over),
        cmocka_unit_test(an_added_part_is_seen_first),
        cmocka_unit_test(kinds_change),
        cmocka_unit_test(saving_spares_other_files),
        cmocka_unit_test(saving_keeps_parameters),
        cmocka_unit_test(clients_save_by_name),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(voxels_fit_the_part),
    };
    return cmocka_run_group_tests_name("engine_load", tests, NULL, NULL);
}
