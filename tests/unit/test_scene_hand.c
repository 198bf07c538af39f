/* hands for a scene: built in, along its paths, from a file; what is wrong, in words */
#include "scene/hand.h"

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

static flr_scene_hand_def def_for(const char *text)
{
    flr_scene_hand_def def = flr_default_scene_hand_def();
    def.text = text;
    def.part = 1;
    def.box = flr_box3_make(flr_vec3_make(0.1, 0, 0), flr_vec3_make(0.3, 0, 0));
    return def;
}

static flr_pose at(const flr_scene_hand *hand, double t)
{
    flr_target target = flr_script_target(hand->script);
    return target.at(target.context, t);
}

static void built_in(void **state)
{
    (void)state;
    flr_scene scene = scene_in(NULL);
    flr_error error;
    for (int kind = 0; kind < FLR_SCRIPT_REMOVAL; kind++) {
        char text[40];
        snprintf(text, sizeof text, "builtin:%s", flr_script_name((flr_script_kind)kind));
        flr_scene_hand_def def = def_for(text);
        flr_scene_hand hand;
        assert_ok(flr_scene_hand_make(flr_env_real(), &scene, &def, &hand, &error), error);
        // held in the middle of the box: 0.2 along the part's x, which looks along the world's -x
        assert_true(hand.T_part_grip.p.x == 0.2);
        assert_true(flr_vec3_distance(at(&hand, 0).p, flr_vec3_make(0.8, 2, 3)) < 1e-15);
        double farthest = 0;
        for (int i = 0; i < 4000; i++)
            farthest = fmax(farthest, flr_vec3_distance(at(&hand, i * 1e-3).p, at(&hand, 0).p));
        assert_true(farthest <= 0.1 * sqrt(3) && (kind == 0 || farthest > 0.05));
        flr_script_destroy(hand.script);
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
    flr_error error;
    flr_scene_hand hand;
    flr_scene_hand_def def = def_for("builtin:removal");
    assert_ok(flr_scene_hand_make(flr_env_real(), &scene, &def, &hand, &error), error);
    assert_true(flr_script_duration(hand.script) == 1);
    assert_true(fabs(at(&hand, 0.5).p.x - 0.5) < 1e-15); // millimetres became metres
    assert_true(hand.T_part_grip.p.x == 0);
    flr_script_destroy(hand.script);

    def.text = "path:turn";
    def.speed = 2;
    assert_ok(flr_scene_hand_make(flr_env_real(), &scene, &def, &hand, &error), error);
    assert_true(flr_script_duration(hand.script) == 1);
    flr_script_destroy(hand.script);

    def.text = turn;
    assert_ok(flr_scene_hand_make(flr_env_real(), &scene, &def, &hand, &error), error);
    assert_true(fabs(at(&hand, 1).p.y - 0.5) < 1e-15);
    flr_script_destroy(hand.script);

    // what is wrong
    hand.script = NULL;
    const struct {
        const char *text, *says;
        flr_result code;
    } wrong[] = {
        {"builtin:slied", "did you mean slide?", FLR_NOT_FOUND},
        {"path:twist", "no path \"twist\" for the part \"part\"; it has turn, removal",
         FLR_NOT_FOUND},
        {"nothing.txt", "nothing.txt", FLR_NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        def.text = wrong[i].text;
        assert_int_equal(flr_scene_hand_make(flr_env_real(), &scene, &def, &hand, &error),
                         wrong[i].code);
        assert_non_null(strstr(error.message, wrong[i].says));
        assert_null(hand.script);
    }
    scene.path_count = 0;
    def.text = "builtin:removal";
    assert_int_equal(flr_scene_hand_make(flr_env_real(), &scene, &def, &hand, &error),
                     FLR_NOT_FOUND);
    assert_non_null(strstr(error.message, "it has none"));
    flr_test_folder_remove(folder);
}

static flr_result make(void *context, flr_error *error)
{
    flr_scene scene = scene_in(context);
    flr_scene_hand_def def = def_for("path:removal");
    flr_scene_hand hand;
    flr_result result = flr_scene_hand_make(flr_env_real(), &scene, &def, &hand, error);
    if (result == FLR_OK) flr_script_destroy(hand.script);
    return result;
}

static void memory_runs_out(void **state)
{
    (void)state;
    char *folder = flr_test_folder(), file[600], out[600];
    put(folder, "out.txt", "0 0 0 0 1 0 0 0\n1 1000 0 0 1 0 0 0\n", out, sizeof out);
    snprintf(file, sizeof file, "%s/scene.json", folder);
    assert_true(flr_fail_alloc_each(make, file) >= 5);
    flr_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in),
        cmocka_unit_test(along_paths),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("scene_hand", tests, NULL, NULL);
}
