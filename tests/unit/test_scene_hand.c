/* hands for a scene: built in, along its paths, from a file; what is wrong, in words */
#include "scene/scene_hand.h"

#include <math.h>

#include "support/fail_alloc.h"

static const flr_scene_part parts[] = {
    {.name = "bay", .file = "bay.stl", .T_world_part = {{0, 0, 0}, {1, 0, 0, 0}}},
    {.name = "part", .file = "part.stl", .T_world_part = {{1, 2, 3}, {0, 0, 0, 1}}, .moving = true},
};
static flr_scene_path paths[] = {
    {.name = "turn", .part = "part", .poses = "turn.txt"},
    {.name = "removal", .part = "part", .poses = "out.txt"},
    {.name = "removal2", .part = "bay", .poses = "bay.txt"},
};

static flr_scene scene_in(const char *file)
{
    flr_scene scene = flr_default_scene();
    scene.path = file;
    scene.name = "test";
    scene.unit = 0.001;
    scene.parts = parts;
    scene.part_count = 2;
    scene.paths = paths;
    scene.path_count = 3;
    return scene;
}

static void put(const char *folder, const char *name, const char *text, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", folder, name);
    flr_output *output;
    flr_error error;
    assert_ok(flr_output_begin(flr_env_real(), path, &output, &error), error);
    assert_ok(flr_output_write(output, text, strlen(text), &error), error);
    assert_ok(flr_output_commit(output, &error), error);
}

static flr_script_def like(double speed)
{
    flr_script_def def = flr_default_script_def();
    def.start.p = flr_vec3_make(1, 2, 3);
    def.reach = 0.1;
    def.speed = speed;
    return def;
}

static flr_script *make_one(const flr_scene *scene, const char *text, double speed)
{
    flr_error error;
    flr_script_def def = like(speed);
    flr_script *script;
    assert_ok(flr_scene_hand_make(flr_env_real(), scene, "part", text, &def, &script, &error),
              error);
    return script;
}

static flr_pose at(const flr_script *script, double t)
{
    flr_target target = flr_script_target(script);
    return target.at(target.context, t);
}

static void built_in(void **state)
{
    (void)state;
    flr_scene scene = scene_in(NULL);
    for (int kind = 0; kind < FLR_SCRIPT_REMOVAL; kind++) {
        char text[40];
        snprintf(text, sizeof text, "builtin:%s", flr_script_name((flr_script_kind)kind));
        flr_script *script = make_one(&scene, text, 1);
        assert_lt(flr_vec3_distance(at(script, 0).p, flr_vec3_make(1, 2, 3)), 1e-15);
        double farthest = 0;
        for (int i = 0; i < 4000; i++)
            farthest = fmax(farthest, flr_vec3_distance(at(script, i * 1e-3).p, at(script, 0).p));
        assert_le(farthest, 0.1 * sqrt(3));
        assert_true((kind == 0 || farthest > 0.05));
        flr_script_destroy(script);
    }
}

static void along_paths(void **state)
{
    (void)state;
    char *folder = flr_test_folder(), file[600], out[600], turn[600];
    put(folder, "out.txt", "0 0 0 0 1 0 0 0\n1 1000 0 0 1 0 0 0\n", out, sizeof out);
    put(folder, "turn.txt", "0 0 0 0 1 0 0 0\n2 0 500 0 1 0 0 0\n", turn, sizeof turn);
    snprintf(file, sizeof file, "%s/scene.json", folder);
    flr_scene scene = scene_in(file);
    flr_script *script = make_one(&scene, "builtin:removal", 1);
    assert_eq(flr_script_duration(script), 1);
    assert_lt(fabs(at(script, 0.5).p.x - 0.5), 1e-15); // millimetres became metres
    flr_script_destroy(script);
    script = make_one(&scene, "path:turn", 2);
    assert_eq(flr_script_duration(script), 1);
    flr_script_destroy(script);
    script = make_one(&scene, turn, 1);
    assert_lt(fabs(at(script, 2).p.y - 0.5), 1e-15);
    flr_script_destroy(script);
    // without a path of that name the first one is taken
    scene.path_count = 1;
    script = make_one(&scene, "builtin:removal", 1);
    assert_eq(flr_script_duration(script), 2);
    flr_script_destroy(script);
    // and backwards, where it leads to the part: taking out is not pushing in
    put(folder, "turn.txt",
        "1 1000 2000 9000 1 0 0 0\n2 1000 2000 8000 1 0 0 0\n"
        "5 1000 2000 3000 1 0 0 0\n",
        turn, sizeof turn);
    script = make_one(&scene, "builtin:removal", 1);
    assert_eq(flr_script_duration(script), 4);
    assert_eq(at(script, 0).p.z, 3);
    assert_eq(at(script, 3).p.z, 8);
    assert_eq(at(script, 4).p.z, 9);
    flr_script_destroy(script);
    script = make_one(&scene, "path:turn", 1);
    assert_eq(at(script, 0).p.z, 9);
    flr_script_destroy(script);
    flr_test_folder_remove(folder);
}

static void refused(void **state)
{
    (void)state;
    flr_scene scene = scene_in(NULL);
    const struct {
        const char *text, *says;
        size_t paths;
    } wrong[] = {
        {"builtin:slied", "did you mean slide?", 3},
        {"path:twist", "no path \"twist\" for the part \"part\"; it has turn, removal", 3},
        {"path:removal2", "no path \"removal2\" for the part \"part\"", 3},
        {"builtin:removal", "it has none", 0},
        {"nothing.txt", "nothing.txt", 3},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        flr_script *script = NULL;
        flr_error error;
        flr_script_def def = like(1);
        scene.path_count = wrong[i].paths;
        assert_int_equal(flr_scene_hand_make(flr_env_real(), &scene, "part", wrong[i].text, &def,
                                             &script, &error),
                         FLR_NOT_FOUND);
        if (!strstr(error.message, wrong[i].says)) fail_msg("%s", error.message);
        assert_null(script);
    }
}

static flr_result make(void *context, flr_error *error)
{
    flr_scene scene = scene_in(context);
    flr_script_def def = like(1);
    flr_script *script;
    flr_result result =
        flr_scene_hand_make(flr_env_real(), &scene, "part", "path:removal", &def, &script, error);
    if (result == FLR_OK) flr_script_destroy(script);
    return result;
}

static void memory_runs_out(void **state)
{
    (void)state;
    char *folder = flr_test_folder(), file[600], out[600];
    put(folder, "out.txt", "0 0 0 0 1 0 0 0\n1 1000 0 0 1 0 0 0\n", out, sizeof out);
    snprintf(file, sizeof file, "%s/scene.json", folder);
    assert_ge(flr_fail_alloc_each(make, file), 5);
    flr_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in),
        cmocka_unit_test(along_paths),
        cmocka_unit_test(refused),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("scene_hand", tests, NULL, NULL);
}
