/* swept volumes beside known ones, and beside all places added one by one */
#include "feeler/merge.h"

#include <math.h>

#include "support/fail_alloc.h"
#include "support/fixtures.h"

static flr_sweep_def along(const flr_mesh *mesh, const flr_pose *poses, size_t count, double voxel)
{
    flr_sweep_def def = flr_default_sweep_def();
    def.mesh = mesh;
    def.poses = poses;
    def.pose_count = count;
    def.voxel = voxel;
    def.threads = 1;
    return def;
}

static void assert_between(double low, double x, double high)
{
    if (!(low <= x && x <= high)) fail_msg("%g is not between %g and %g", x, low, high);
}

/* a cube that moves along an axis sweeps a box; a ball sweeps a rod with round ends */
static void known_volumes(void **state)
{
    (void)state;
    flr_error error;
    flr_pose way[2] = {flr_pose_identity(), flr_pose_identity()};
    way[1].p.x = 0.03;
    flr_test_shape cube = {0}, ball = {0};
    flr_test_shape_box(&cube, flr_vec3_make(0.01, 0.01, 0.01), 1);
    flr_test_shape_sphere(&ball, 0.006, 32, 16);
    for (int kind = 0; kind < 2; kind++) {
        const flr_mesh *mesh = flr_test_shape_mesh(kind ? &ball : &cube);
        const double r = 0.006,
                     volume = kind ? 3.14159265 * r * r * (0.03 + 4 * r / 3) : 0.04 * 0.01 * 0.01;
        flr_sweep_def def = along(mesh, way, 2, 0.0005);
        def.step = 1;
        flr_voxmap *swept;
        flr_sweep_report report;
        assert_ok(flr_sweep_make(&def, &swept, &report, &error), error);
        assert_int_equal(report.places, 61);
        assert_lt(report.volume_least, volume);
        assert_lt(volume, report.volume_most);
        assert_between(0.93 * volume, report.volume, 1.07 * volume);
        /* the middle is inside, what lies beyond is not */
        assert_int_equal(flr_voxmap_mark(swept, FLR_FIELD_SURFACE, flr_vec3_make(0.015, 0, 0)),
                         FLR_MARK_INTERIOR);
        assert_ne(flr_voxmap_mark(swept, FLR_FIELD_SURFACE, flr_vec3_make(0.04, 0, 0)), 1);
        flr_voxmap_destroy(swept);
    }
    flr_test_shape_free(&cube);
    flr_test_shape_free(&ball);
}

/* Along a bent way with turns: the marks are those of all places in one merge, and no point of the part along the way
 * lies outside. */
static void equals_all_places(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("equals_all_places");
    flr_error error;
    flr_test_shape shape = {0};
    flr_test_shape_torus(&shape, 0.008, 0.003, 20, 10);
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    flr_pose poses[4];
    for (int i = 0; i < 4; i++) poses[i] = flr_test_random_pose(&random, 0.006);
    flr_sweep_def def = along(mesh, poses, 4, 0.001);
    def.step = 2;
    flr_voxmap *swept, *merged;
    flr_sweep_report report;
    assert_ok(flr_sweep_make(&def, &swept, &report, &error), error);

    flr_merge_def merging = flr_default_merge_def();
    merging.voxel = 0.001;
    merging.features = false;
    flr_merge *merge;
    assert_ok(flr_merge_create(&merging, &merge, &error), error);
    double radius = 0;
    for (uint32_t i = 0; i < mesh->vertex_count; i++)
        radius = fmax(radius, flr_vec3_length(mesh->vertices[i]));
    uint64_t places = 0;
    for (int i = 0; i < 4; i++) {
        const flr_pose from = poses[i ? i - 1 : 0], to = poses[i];
        const double way = flr_vec3_distance(from.p, to.p) + radius * flr_quat_angle(from.q, to.q);
        const int steps = i ? (int)ceil(way / 0.002) : 1;
        for (int k = 1; k <= steps; k++, places++) {
            flr_merge_part part = flr_default_merge_part();
            part.mesh = mesh;
            part.T_voxmap_part =
                k == steps ? to : flr_pose_interpolate(from, to, (double)k / steps);
            uint32_t id;
            assert_ok(flr_merge_add(merge, &part, &id, &error), error);
        }
    }
    assert_ok(flr_merge_build(merge, NULL, &merged, NULL, &error), error);
    assert_int_equal(report.places, places);
    assert_gt(places, 24); /* some were joined */
    const flr_voxmap_info info = flr_voxmap_get_info(merged), own = flr_voxmap_get_info(swept);
    assert_int_equal(own.stats.triangles, mesh->triangle_count);
    assert_int_equal(info.stats.surface_voxels, own.stats.surface_voxels);
    assert_int_equal(info.stats.interior_voxels, own.stats.interior_voxels);
    for (int i = 0; i < 3; i++) assert_int_equal(info.size[i], own.size[i]);
    for (int64_t z = 0; z < (int64_t)info.size[2]; z++)
        for (int64_t y = 0; y < (int64_t)info.size[1]; y++)
            for (int64_t x = 0; x < (int64_t)info.size[0]; x++)
                if (flr_voxmap_mark_at(merged, FLR_FIELD_SURFACE, x, y, z) !=
                    flr_voxmap_mark_at(swept, FLR_FIELD_SURFACE, x, y, z))
                    fail_msg("marks differ");
    flr_voxmap_destroy(swept);

    /* with small steps there are no gaps */
    def.step = 0.5;
    assert_ok(flr_sweep_make(&def, &swept, &report, &error), error);
    for (int i = 0; i < 5000; i++) {
        const uint32_t leg = flr_test_random_below(&random, 3);
        const flr_pose T =
            flr_pose_interpolate(poses[leg], poses[leg + 1], flr_test_random_range(&random, 0, 1));
        const flr_vec3 at =
            flr_pose_apply(T, mesh->vertices[flr_test_random_below(&random, mesh->vertex_count)]);
        const unsigned mark = flr_voxmap_mark(swept, FLR_FIELD_SURFACE, at);
        assert_ge(mark, 1);
        assert_le(mark, 3); /* half a step, so at most the voxel beside */
    }
    flr_voxmap_destroy(swept);
    flr_voxmap_destroy(merged);
    flr_merge_destroy(merge);
    flr_test_shape_free(&shape);
}

static void comparing_with_what_stands(void **state)
{
    (void)state;
    flr_error error;
    flr_test_part box;
    flr_test_part_make(&box, FLR_TEST_BOX, 1, 0.0005, false); /* 24 x 20 x 12 mm */
    flr_test_shape cube = {0};
    flr_test_shape_box(&cube, flr_vec3_make(0.01, 0.01, 0.01), 1);
    for (int kind = 0; kind < 3; kind++) {
        /* over the box: 2 mm inside, 1.5 mm off, 50 mm off */
        flr_pose way[2] = {flr_pose_identity(), flr_pose_identity()};
        way[0].p = flr_vec3_make(-0.02, 0, kind == 0 ? 0.009 : kind == 1 ? 0.0125 : 0.061);
        way[1].p = flr_vec3_make(0.02, 0, way[0].p.z);
        flr_sweep_def def = along(flr_test_shape_mesh(&cube), way, 2, 0.0005);
        def.step = 4;
        flr_voxmap *swept;
        assert_ok(flr_sweep_make(&def, &swept, NULL, &error), error);
        flr_sweep_clash c;
        flr_sweep_compare(swept, flr_pose_identity(), box.voxmap, flr_pose_identity(), &c);
        if (kind == 0) {
            assert_between(0.9 * 24e-3 * 10e-3 * 2e-3, c.volume, 1.7 * 24e-3 * 10e-3 * 2e-3);
            assert_lt(fabs(c.centre.x), 1e-3);
            assert_gt(c.centre.z, 0.004);
            assert_lt(c.centre.z, 0.0065);
            assert_eq(c.lower, 0);
        } else if (kind == 1) {
            assert_eq(c.voxels, 0);
            assert_le(c.lower, 0.0015);
            assert_ge(c.upper, 0.0015);
            assert_lt(c.upper, 0.006);
        } else {
            assert_eq(c.voxels, 0);
            assert_true(isinf(c.upper));
            assert_gt(c.lower, 0.003);
            assert_lt(c.lower, 0.05);
        }
        flr_pose wrong = flr_pose_identity();
        wrong.p.x = NAN;
        flr_sweep_compare(swept, wrong, box.voxmap, flr_pose_identity(), &c);
        assert_eq(c.voxels, 0);
        assert_true(isinf(c.lower));
        flr_voxmap_destroy(swept);
    }
    flr_test_shape_free(&cube);
    flr_test_part_free(&box);
}

static bool stop(void *context, uint64_t done, uint64_t places)
{
    assert_eq(places, 21);
    return done < *(uint64_t *)context;
}

static void what_is_refused(void **state)
{
    (void)state;
    flr_error error;
    flr_test_shape cube = {0};
    flr_test_shape_box(&cube, flr_vec3_make(0.01, 0.01, 0.01), 1);
    flr_pose way[2] = {flr_pose_identity(), flr_pose_identity()};
    way[1].p.y = 0.01;
    const flr_sweep_def good = along(flr_test_shape_mesh(&cube), way, 2, 0.001);
    flr_voxmap *none = NULL;
    flr_sweep_def def = good;
    def.mesh = NULL;
    assert_int_equal(flr_sweep_make(&def, &none, NULL, &error), FLR_BAD_ARGUMENT);
    def = good, def.pose_count = 0;
    assert_int_equal(flr_sweep_make(&def, &none, NULL, &error), FLR_BAD_ARGUMENT);
    def = good, def.step = 0;
    assert_int_equal(flr_sweep_make(&def, &none, NULL, &error), FLR_BAD_ARGUMENT);
    def = good, def.voxel = NAN;
    assert_int_equal(flr_sweep_make(&def, &none, NULL, &error), FLR_BAD_ARGUMENT);
    def = good, def.bits = 5;
    assert_int_equal(flr_sweep_make(&def, &none, NULL, &error), FLR_BAD_ARGUMENT);
    uint64_t most = 3;
    def = good, def.progress = stop, def.context = &most;
    assert_int_equal(flr_sweep_make(&def, &none, NULL, &error), FLR_CANCELLED);
    way[1].p.y = 1e6;
    assert_int_equal(flr_sweep_make(&good, &none, NULL, &error), FLR_TOO_LARGE);
    assert_non_null(strstr(error.message, "unit of the poses"));
    way[1].q.w = 3;
    assert_int_equal(flr_sweep_make(&good, &none, NULL, &error), FLR_BAD_ARGUMENT);
    assert_null(none);
    flr_test_shape_free(&cube);
}

static flr_result make(void *context, flr_error *error)
{
    flr_voxmap *swept;
    flr_result result = flr_sweep_make(context, &swept, NULL, error);
    if (result == FLR_OK) flr_voxmap_destroy(swept);
    return result;
}

static void survives_without_memory(void **state)
{
    (void)state;
    flr_test_shape cube = {0};
    flr_test_shape_box(&cube, flr_vec3_make(0.01, 0.01, 0.01), 1);
    flr_pose way[2] = {flr_pose_identity(), flr_pose_identity()};
    way[1].p.y = 0.036;
    flr_sweep_def def = along(flr_test_shape_mesh(&cube), way, 2, 0.003);
    def.range = 1;
    flr_fail_alloc_each(make, &def);
    flr_test_shape_free(&cube);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_volumes),
        cmocka_unit_test(equals_all_places),
        cmocka_unit_test(comparing_with_what_stands),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
