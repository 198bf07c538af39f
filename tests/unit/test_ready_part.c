/* from a mesh to a part that can be touched, in one call */
#include "feeler/mesh.h"
#include "feeler/world.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/test.h"

static const flr_mesh *box(flr_test_shape *shape)
{
    *shape = (flr_test_shape){0};
    flr_test_shape_box(shape, flr_vec3_make(0.02, 0.02, 0.02), 1);
    return flr_test_shape_mesh(shape);
}

/* a block in a hand that goes into another rests on it, with the mass of its density */
static void is_touched(void **state)
{
    (void)state;
    flr_test_shape shape;
    flr_error error;
    flr_part *part;
    flr_part_def def = flr_default_part_def();
    def.density = 7850;
    assert_ok(flr_part_create(flr_env_real(), box(&shape), &def, &part, &error), error);
    flr_test_shape_free(&shape); /* the part needs the mesh no more */
    flr_pose hand = flr_pose_make(flr_vec3_make(0, 0, 0.03), flr_quat_identity());
    const flr_world_part parts[2] = {flr_part_in_world(part, FLR_PART_STATIC, flr_pose_identity()),
                                     flr_part_in_world(part, FLR_PART_MOVABLE, hand)};
    assert_within(parts[1].body.inertia.mass, 7850 * 8e-6, 1e-9);
    flr_world_def world_def = flr_default_world_def();
    world_def.parts = parts, world_def.part_count = 2;
    flr_world *world;
    assert_ok(flr_world_create(&world_def, &world, &error), error);
    assert_int_equal(flr_world_grab(world, 0, 1), true);
    flr_world_frame frame = {0};
    for (int i = 0; i < 1000; i++) {
        hand.p.z -= 2e-5;
        flr_world_step(world, &(flr_world_input){.T_world_hand = hand, .fresh = true}, &frame);
        if (i == 0) assert_int_equal(frame.contacts, 0);
    }
    assert_int_not_equal(frame.contacts, 0);
    double z = flr_world_body(world, 1)->T_world_part.p.z;
    if (!(z > 0.0201 && z < 0.023)) fail_msg("the block is at %.17g m", z);
    double force = flr_world_wrench(world, 0).force.z;
    if (!(force > 0.1)) fail_msg("the hand feels %.17g N", force);
    flr_world_destroy(world);
    flr_part_destroy(part);
}

static void comes_from_a_file(void **state)
{
    (void)state;
    char *folder = flr_test_folder(), path[512];
    snprintf(path, sizeof path, "%s/box.stl", folder);
    flr_test_shape shape;
    flr_error error;
    flr_part *part = NULL;
    assert_ok(flr_mesh_write(flr_env_real(), path, box(&shape), 0.001, &error), error);
    assert_ok(flr_part_open(flr_env_real(), path, NULL, &part, &error), error);
    const flr_world_part placed = flr_part_in_world(part, FLR_PART_FREE, flr_pose_identity());
    assert_int_equal(placed.kind, FLR_PART_FREE);
    assert_within(placed.body.inertia.mass, 8e-3, 1e-9);
    flr_part_destroy(part);
    part = NULL;
    snprintf(path, sizeof path, "%s/none.stl", folder);
    assert_int_equal(flr_part_open(flr_env_real(), path, NULL, &part, &error), FLR_NOT_FOUND);
    assert_non_null(strstr(error.message, "none.stl"));
    assert_null(part);
    flr_test_shape_free(&shape);
    flr_test_folder_remove(folder);
}

static void refuses(void **state)
{
    (void)state;
    flr_test_shape shape;
    flr_error error;
    flr_part *part = NULL;
    flr_part_def def = flr_default_part_def();
    def.voxelize.voxel = 0;
    assert_int_equal(flr_part_create(flr_env_real(), box(&shape), &def, &part, &error),
                     FLR_BAD_ARGUMENT);
    def = flr_default_part_def();
    def.density = -1;
    assert_int_equal(flr_part_create(flr_env_real(), &shape.mesh, &def, &part, &error),
                     FLR_BAD_ARGUMENT);
    assert_null(part);
    flr_part_destroy(NULL);
    flr_test_shape_free(&shape);
}

static flr_result make(void *context, flr_error *error)
{
    flr_part *part = NULL;
    flr_part_def def = flr_default_part_def();
    def.voxelize.threads = 1;
    flr_result result = flr_part_create(flr_env_real(), context, &def, &part, error);
    flr_part_destroy(part);
    return result;
}

static void memory_runs_out(void **state)
{
    (void)state;
    flr_test_shape shape;
    const flr_mesh *mesh = box(&shape);
    assert_int_not_equal(flr_fail_alloc_each(make, (void *)mesh), 0);
    flr_test_shape_free(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_touched),
        cmocka_unit_test(comes_from_a_file),
        cmocka_unit_test(refuses),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
