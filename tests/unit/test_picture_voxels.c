/* pictures of voxels: what is there is seen, in its colour */
#include "picture/voxels.h"

#include "feeler/voxels.h"
#include "picture/cubes.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/test.h"

static flr_voxmap *box_voxels(double voxel)
{
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(0.02, 0.01, 0.03), 1);
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    flr_voxmap *voxmap;
    flr_error error;
    assert_ok(flr_voxelize(flr_env_real(), flr_test_shape_mesh(&shape), &def, &voxmap, NULL, NULL,
                           &error),
              error);
    flr_test_shape_free(&shape);
    return voxmap;
}

static void bounds_are_tight(void **state)
{
    (void)state;
    flr_voxmap *voxmap = box_voxels(0.001);
    uint64_t low[3], high[3];
    assert_true(flr_voxels_bounds(voxmap, low, high));
    /* 20 x 10 x 30 mm, one voxel more for the walls, 8 around */
    const uint64_t size[3] = {21 + 16, 11 + 16, 31 + 16};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(low[i], 0);
        assert_int_equal(high[i] - low[i], size[i]);
    }
    flr_voxmap_destroy(voxmap);
}

static double area(const flr_mesh *mesh)
{
    double sum = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *v = mesh->triangles[t].v;
        flr_vec3 e = flr_vec3_sub(mesh->vertices[v[1]], mesh->vertices[v[0]]);
        flr_vec3 f = flr_vec3_sub(mesh->vertices[v[2]], mesh->vertices[v[0]]);
        sum += flr_vec3_length(flr_vec3_cross(e, f)) / 2;
    }
    return sum;
}

/* the cubes of a box show its outside alone, every face looking out; coarser ones are a little larger */
static void cubes_show_the_outside(void **state)
{
    (void)state;
    flr_voxmap *voxmap = box_voxels(0.001);
    flr_cubes cubes;
    flr_error error;
    assert_ok(flr_cubes_make(voxmap, 1000000, &cubes, &error), error);
    assert_int_equal(cubes.block, 1);
    double total = 0, labels[FLR_CUBE_LABELS] = {0}, volume = 0;
    for (int i = 0; i < 2 * FLR_CUBE_LABELS; i++) {
        const flr_mesh *mesh = &cubes.meshes[i / 2][i % 2];
        labels[i / 2] += area(mesh);
        for (uint32_t t = 0; t < mesh->triangle_count; t++) {
            const uint32_t *v = mesh->triangles[t].v;
            volume += flr_vec3_dot(mesh->vertices[v[0]],
                                   flr_vec3_cross(mesh->vertices[v[1]], mesh->vertices[v[2]])) /
                      6;
        }
    }
    for (int i = 0; i < FLR_CUBE_LABELS; i++) total += labels[i];
    assert_lt(fabs(total - 2e-6 * (21 * 11 + 21 * 31 + 11 * 31)), 1e-12);
    assert_lt(fabs(volume - 1e-9 * 21 * 11 * 31), 1e-15);
    /* eight corners of three faces each; twelve edges */
    assert_lt(fabs(labels[FLR_CUBE_VERTEX] - 24e-6), 1e-12);
    assert_lt(fabs(labels[FLR_CUBE_EDGE] - 2e-6 * 4 * (19 + 9 + 29)), 1e-12);
    flr_cubes_free(&cubes);

    assert_ok(flr_cubes_make(voxmap, 500, &cubes, &error), error);
    assert_gt(cubes.block, 1);
    double coarse = 0;
    for (int i = 0; i < 2 * FLR_CUBE_LABELS; i++) coarse += area(&cubes.meshes[i / 2][i % 2]);
    assert_gt(coarse, total);
    assert_lt(coarse, 2 * total);
    flr_cubes_free(&cubes);
    flr_voxmap_destroy(voxmap);
}

static bool has_colour(const flr_picture *picture, int r, int g, int b)
{
    for (size_t i = 0; i < (size_t)picture->width * picture->height; i++) {
        const uint8_t *p = picture->rgb + 3 * i;
        if (abs(p[0] - r) <= 1 && abs(p[1] - g) <= 1 && abs(p[2] - b) <= 1) return true;
    }
    return false;
}

/* at several sizes of voxels, down to many in one pixel */
static void all_marks_are_seen(void **state)
{
    (void)state;
    const double voxels[] = {0.002, 0.0005, 0.0001};
    for (size_t i = 0; i < sizeof voxels / sizeof *voxels; i++) {
        flr_voxmap *voxmap = box_voxels(voxels[i]);
        flr_voxel_picture_def def = flr_default_voxel_picture_def();
        def.width = 480;
        def.height = 360;
        flr_picture picture, again;
        flr_error error;
        assert_ok(flr_picture_voxels(voxmap, &def, &picture, &error), error);
        assert_int_equal(picture.width, 480);
        assert_int_equal(picture.height, 360);
        assert_true(has_colour(&picture, 219, 204, 179)); /* interior */
        assert_true(has_colour(&picture, 84, 102, 125));  /* surface */
        assert_true(has_colour(&picture, 237, 153, 46));  /* edge */
        assert_true(has_colour(&picture, 77, 158, 204));  /* distance 1 */
        assert_ok(flr_picture_voxels(voxmap, &def, &again, &error), error);
        assert_memory_equal(picture.rgb, again.rgb, 480 * 360 * 3);
        flr_picture_free(&picture);
        flr_picture_free(&again);
        flr_voxmap_destroy(voxmap);
    }
}

static void odd_sizes_are_refused(void **state)
{
    (void)state;
    flr_voxmap *voxmap = box_voxels(0.002);
    const uint32_t sizes[][2] = {{0, 0}, {319, 240}, {320, 239}, {100000, 500}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        flr_voxel_picture_def def = flr_default_voxel_picture_def();
        def.width = sizes[i][0];
        def.height = sizes[i][1];
        flr_picture picture;
        flr_error error;
        assert_int_equal(flr_picture_voxels(voxmap, &def, &picture, &error), FLR_BAD_ARGUMENT);
    }
    flr_voxmap_destroy(voxmap);
}

static flr_result draw(void *context, flr_error *error)
{
    flr_voxel_picture_def def = flr_default_voxel_picture_def();
    def.width = 320;
    def.height = 240;
    flr_picture picture;
    flr_result result = flr_picture_voxels(context, &def, &picture, error);
    if (result == FLR_OK) flr_picture_free(&picture);
    return result;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    flr_voxmap *voxmap = box_voxels(0.004);
    flr_fail_alloc_each(draw, voxmap);
    flr_voxmap_destroy(voxmap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_tight),   cmocka_unit_test(cubes_show_the_outside),
        cmocka_unit_test(all_marks_are_seen), cmocka_unit_test(odd_sizes_are_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("picture of voxels", tests, NULL, NULL);
}
