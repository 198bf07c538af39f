/* small parts ready for contact */
#include "support/fixtures.h"

void flr_test_part_make(flr_test_part *part, flr_test_solid solid, double scale, double voxel,
                        bool features)
{
    flr_test_shape *shape = &part->shape;
    *part = (flr_test_part){0};
    if (solid == FLR_TEST_BOX) flr_test_shape_box(shape, flr_vec3_make(0.024, 0.020, 0.012), 1);
    if (solid == FLR_TEST_SPHERE) flr_test_shape_sphere(shape, 0.010, 12, 8);
    if (solid == FLR_TEST_TORUS) flr_test_shape_torus(shape, 0.012, 0.004, 12, 8);
    if (solid == FLR_TEST_TETRAHEDRON) flr_test_shape_tetrahedron(shape, 0.020, 0.018, 0.016);
    flr_test_shape_move(shape, 0, flr_pose_identity(), scale);
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    def.features = features;
    flr_error error;
    assert_ok(flr_voxelize(flr_env_real(), flr_test_shape_mesh(shape), &def, &part->voxmap,
                           &part->shell, NULL, &error),
              error);
}

void flr_test_part_free(flr_test_part *part)
{
    flr_voxmap_destroy(part->voxmap);
    flr_shell_destroy(part->shell);
    flr_test_shape_free(&part->shape);
}

flr_pose flr_test_random_pose(flr_test_random *random, double reach)
{
    flr_pose T;
    T.p = flr_vec3_make(flr_test_random_range(random, -reach, reach),
                        flr_test_random_range(random, -reach, reach),
                        flr_test_random_range(random, -reach, reach));
    T.q = flr_quat_normalize(
        (flr_quat){flr_test_random_range(random, -1, 1), flr_test_random_range(random, -1, 1),
                   flr_test_random_range(random, -1, 1), flr_test_random_range(random, -1, 1)});
    return T;
}
