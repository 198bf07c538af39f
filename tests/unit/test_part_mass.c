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
            "{\"feeler\": 1, \"name\": \"cubes\", \"unit\": \"mm\", \"voxel\": 1, \"gravity\": [0, "
            "0, -1e-6],\n"
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

/* Steps a scene of two cubes without a hand for so many milliseconds. */
static flr_stage *left_alone(const char *engine, const char *a, const char *b, int frames)
{
    flr_stage *stage = two_cubes(engine, a, b);
    flr_world_input in = {0};
    for (int i = 0; i < frames; i++) flr_world_step(stage->world, &in, NULL);
    return stage;
}

static void pushed_and_locked(void **state)
{
    (void)state;
    static const char *const engines[] = {"{}", "{\"engine\": \"spheres\"}",
                                          "{\"engine\": \"exact\"}"};
    for (int i = 0; i < 3; i++) {
        /* F = m a: 0.1 N on 0.5 kg for 0.2 s is 0.04 m/s; along y it is locked */
        flr_stage *stage = left_alone(
            engines[i], ", \"mass\": 0.5, \"force\": [0.1, 0.1, 0], \"locked\": [\"y\"]", "", 200);
        const flr_body *body = flr_world_body(stage->world, 0);
        assert_within(body->twist.linear.x, 0.04, 1e-4);
        assert_eq(body->T_world_part.p.y, 0);
        flr_stage_destroy(stage);
        /* a torque about z turns it, about x it is locked */
        stage = left_alone(engines[i],
                           ", \"mass\": 0.5, \"torque\": [1e-4, 0, 1e-4], \"locked\": [\"turn x\"]",
                           "", 200);
        body = flr_world_body(stage->world, 0);
        assert_within(body->twist.angular.z, 1e-4 * 0.2 / (0.5 * 0.02 * 0.02 / 6), 0.02);
        assert_within(body->T_world_part.q.x, 0, 1e-9);
        flr_stage_destroy(stage);
        /* a spring balances the force where stiffness says */
        stage = left_alone(
            engines[i], ", \"mass\": 0.05, \"force\": [0.1, 0, 0], \"spring\": {\"stiffness\": 50}",
            "", 1500);
        body = flr_world_body(stage->world, 0);
        assert_within(body->T_world_part.p.x, 0.1 / 50, 1e-5);
        assert_within(body->twist.linear.x, 0, 1e-5);
        flr_stage_destroy(stage);
    }
}

/* Numbers that make no sense are refused, and nothing is changed. */
static void refused_constraints(void **state)
{
    (void)state;
    flr_stage *stage = two_cubes("{}", "", "");
    flr_world_constraint c = flr_default_world_constraint();
    assert_true(flr_world_constrain(stage->world, 0, &c));
    assert_true(flr_world_constrain(stage->world, 0, NULL));
    assert_false(flr_world_constrain(stage->world, 7, &c));
    c.stiffness = -1;
    assert_false(flr_world_constrain(stage->world, 0, &c));
    c = flr_default_world_constraint(), c.wrench.force.x = NAN;
    assert_false(flr_world_constrain(stage->world, 0, &c));
    c = flr_default_world_constraint(), c.locks = 64;
    assert_false(flr_world_constrain(stage->world, 0, &c));
    c = flr_default_world_constraint(), c.turn_stiffness = 1;
    assert_false(flr_world_constrain(stage->world, 0, &c));
    flr_stage_destroy(stage);
}

/* More clearance than voxels hold comes from the points; what is beyond both is refused. */
static void layers_beyond_the_field(void **state)
{
    (void)state;
    unsigned force, points;
    assert_ok(flr_shape_split_layer(7, &force, &points, &error), error);
    assert_true(force == 7 && points == 0);
    assert_ok(flr_shape_split_layer(12, &force, &points, &error), error);
    assert_true(force == 7 && points == 5);
    assert_int_equal(flr_shape_split_layer(16, &force, &points, &error), FLR_BAD_ARGUMENT);
    /* a cube that is pushed towards the other comes to rest as many voxels before it */
    double gap[3];
    for (int i = 0; i < 3; i++) {
        static const char *const layers[] = {"{\"force_layer\": 2}", "{\"force_layer\": 7}",
                                             "{\"force_layer\": 12}"};
        flr_stage *stage = left_alone(layers[i], ", \"force\": [0.05, 0, 0]",
                                      ", \"locked\": [\"x\", \"y\", \"z\", \"turn x\", "
                                      "\"turn y\", \"turn z\"]",
                                      3000);
        gap[i] = flr_world_body(stage->world, 1)->T_world_part.p.x -
                 flr_world_body(stage->world, 0)->T_world_part.p.x - 0.02;
        flr_stage_destroy(stage);
    }
    assert_within(gap[1] - gap[0], 0.005, 0.0015);
    assert_within(gap[2] - gap[1], 0.005, 0.0015);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_by_density_or_apparent), cmocka_unit_test(heavy_pushes_light),
        cmocka_unit_test(pushed_and_locked), cmocka_unit_test(refused_constraints),
        cmocka_unit_test(layers_beyond_the_field)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
