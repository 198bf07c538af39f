/* the mass that a scene gives counts, in bodies and in collisions of every engine */
#include "scene/scene.h"
#include "sim/stage.h"
#include "support/test.h"

static flr_error error;
static char *folder;

/* a cube of 20 mm around its origin */
static int set_up(void **state)
{
    (void)state;
    char path[1024];
    folder = flr_test_folder();
    snprintf(path, sizeof path, "%s/cube.obj", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 8; i++)
        fprintf(file, "v %d %d %d\n", i & 1 ? 10 : -10, i & 2 ? 10 : -10, i & 4 ? 10 : -10);
    fputs("f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n", file);
    assert_int_equal(fclose(file), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    flr_test_folder_remove(folder);
    return 0;
}

/* Two cubes that nothing pulls down, 60 mm apart along x; `a` and `b` are what the scene says of their mass. */
static flr_stage *two_cubes(const char *engine, const char *a, const char *b)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/scene.json", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"feeler\": 1, \"name\": \"cubes\", \"unit\": \"mm\", \"voxel\": 1, \"gravity\": [0, 0, -1e-6],\n"
            " \"contact\": %s,\n \"parts\": [\n"
            "  {\"name\": \"a\", \"file\": \"cube.obj\", \"moving\": true%s},\n"
            "  {\"name\": \"b\", \"file\": \"cube.obj\", \"moving\": true%s,\n"
            "   \"pose\": {\"position\": [60, 0, 0]}}]}\n",
            engine, a, b);
    assert_int_equal(fclose(file), 0);
    flr_scene *scene;
    assert_ok(flr_scene_read(flr_env_real(), path, &scene, &error), error);
    flr_stage_def def = flr_default_stage_def();
    def.scene = scene;
    def.params = flr_scene_params(scene);
    flr_stage *stage;
    assert_ok(flr_stage_create(flr_env_real(), &def, &stage, &error), error);
    flr_scene_destroy(scene);
    return stage;
}

static double mass_of(const flr_stage *stage, uint32_t part)
{
    return flr_world_body(stage->world, part)->inertia.mass;
}

static double speed_of(const flr_stage *stage, uint32_t part)
{
    return flr_world_body(stage->world, part)->twist.linear.x;
}

static void given_by_density_or_apparent(void **state)
{
    (void)state;
    static const char *const engines[] = {"{}", "{\"engine\": \"spheres\"}",
                                          "{\"engine\": \"exact\"}"};
    for (int i = 0; i < 3; i++) {
        flr_stage *stage = two_cubes(engines[i], ", \"mass\": 0.25", ", \"density\": 7850");
        assert_within(mass_of(stage, 0), 0.25, 1e-12);
        assert_within(mass_of(stage, 1), 7850 * 8e-6, 1e-9);
        /* the tensor goes with the mass: m a^2 / 6 of a cube */
        assert_within(flr_world_body(stage->world, 0)->inertia.tensor.m[0][0],
                      0.25 * 0.02 * 0.02 / 6, 1e-9);
        flr_stage_destroy(stage);
        /* 1000 N/m stretched by half a voxel, or the force of the exact engine, give 20 m/s^2 */
        stage = two_cubes(engines[i], "", "");
        assert_within(mass_of(stage, 0), i == 2 ? 0.5 : 0.025, 1e-12);
        assert_within(mass_of(stage, 1), mass_of(stage, 0), 0);
        flr_stage_destroy(stage);
    }
}

/* A hand throws one cube at the other. Returns the momentum of both after it as a share of what it was, and how fast the
 * second one is then, as a share of how fast the first one was. */
static double throw(const char *engine, const char *a, const char *b, double *speed)
{
    flr_stage *stage = two_cubes(engine, a, b);
    flr_world_input in = {.T_world_hand = flr_pose_identity(), .fresh = true};
    flr_world_frame frame;
    assert_true(flr_world_grab(stage->world, 0, 0));
    for (int i = 0; i < 4000 && flr_world_body(stage->world, 0)->T_world_part.p.x < 0.02; i++) {
        in.T_world_hand.p.x += 1e-4;
        flr_world_step(stage->world, &in, &frame);
    }
    flr_world_release(stage->world, 0);
    double before = speed_of(stage, 0), mass[2] = {mass_of(stage, 0), mass_of(stage, 1)};
    assert_gt(before, 0.02);
    assert_eq(speed_of(stage, 1), 0);
    for (int i = 0; i < 1000 && (i < 500 || frame.contacts > 0); i++)
        flr_world_step(stage->world, &in, &frame);
    double after = mass[0] * speed_of(stage, 0) + mass[1] * speed_of(stage, 1);
    *speed = speed_of(stage, 1) / before;
    flr_stage_destroy(stage);
    return after / (mass[0] * before);
}

static void heavy_pushes_light(void **state)
{
    (void)state;
    static const char *const engines[] = {"{}", "{\"engine\": \"spheres\"}",
                                          "{\"engine\": \"exact\"}"};
    for (int i = 0; i < 3; i++) {
        double light, heavy, same;
        double kept = throw(engines[i], ", \"mass\": 0.5", ", \"mass\": 0.005", &light);
        assert_within(kept, 1, 0.02);
        assert_gt(light, 0.95);
        kept = throw(engines[i], ", \"mass\": 0.005", ", \"mass\": 0.5", &heavy);
        assert_within(kept, 1, 0.05);
        assert_lt(heavy, 0.03);
        kept = throw(engines[i], ", \"mass\": 0.05", ", \"mass\": 0.05", &same);
        assert_within(kept, 1, 0.02);
        assert_within(same, 0.52, 0.05);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(given_by_density_or_apparent),
                                       cmocka_unit_test(heavy_pushes_light)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
