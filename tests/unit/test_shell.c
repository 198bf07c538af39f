/* the shell: one point per surface voxel, inside its spheres, facing in */
#include "feeler/voxels.h"
#include "support/fixtures.h"
#include "support/test.h"

static flr_shell *shell_of(flr_test_shape *shape, double voxel, bool on_surface, bool features,
                           flr_voxmap **voxmap)
{
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    def.on_surface = on_surface;
    def.features = features;
    flr_shell *shell;
    flr_error error;
    assert_ok(flr_voxelize(flr_env_real(), flr_test_shape_mesh(shape), &def, voxmap, &shell, NULL,
                           &error),
              error);
    return shell;
}

static flr_vec3 of3(const float v[3])
{
    return flr_vec3_make((double)v[0], (double)v[1], (double)v[2]);
}

static void points_are_the_centres_of_surface_voxels(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_torus(&shape, 0.03, 0.01, 48, 24);
    flr_voxmap *voxmap;
    flr_shell *shell = shell_of(&shape, 0.001, false, true, &voxmap);
    flr_voxmap_info info = flr_voxmap_get_info(voxmap);
    assert_int_equal(shell->total, info.stats.surface_voxels);
    assert_int_equal(shell->by_label[0] + shell->by_label[1] + shell->by_label[2], shell->total);
    for (uint32_t c = 0; c < shell->chunk_count; c++) {
        const flr_shell_chunk *chunk = &shell->chunks[c];
        assert_int_equal(chunk->first % FLR_SHELL_PAD, 0);
        uint32_t k = 0;
        for (unsigned label = 0; label < FLR_LABEL_COUNT; label++)
            for (unsigned i = 0; i < chunk->count[label]; i++, k++) {
                flr_vec3 p = flr_shell_point(shell, c, chunk->first + k, 0);
                assert_int_equal(flr_voxmap_mark(voxmap, FLR_FIELD_SURFACE, p), FLR_MARK_SURFACE);
                /* a label says which fields have the voxel as their own */
                bool vertex = flr_voxmap_mark(voxmap, FLR_FIELD_VERTEX, p) == FLR_MARK_SURFACE;
                bool edge = flr_voxmap_mark(voxmap, FLR_FIELD_EDGE, p) == FLR_MARK_SURFACE;
                assert_int_equal(label, vertex ? FLR_LABEL_VERTEX
                                        : edge ? FLR_LABEL_EDGE
                                               : FLR_LABEL_FACE);
                assert_le(flr_vec3_distance(p, of3(chunk->centre)), (double)chunk->radius);
                assert_le(flr_vec3_distance(p, of3(shell->centre)), (double)shell->radius);
            }
    }
    flr_shell_destroy(shell);
    flr_voxmap_destroy(voxmap);
    flr_test_shape_free(&shape);
}

static void normals_point_inward_even_when_the_mesh_is_inside_out(void **state)
{
    (void)state;
    for (int inverted = 0; inverted < 2; inverted++) {
        flr_test_shape shape = {0};
        flr_test_shape_sphere(&shape, 0.02, 64, 32);
        if (inverted) flr_test_shape_turn(&shape, 0);
        flr_voxmap *voxmap;
        flr_shell *shell = shell_of(&shape, 0.001, true, true, &voxmap);
        double worst = 1;
        for (uint32_t c = 0; c < shell->chunk_count; c++)
            for (uint32_t k = 0; k < (uint32_t)shell->chunks[c].count[0] +
                                         shell->chunks[c].count[1] + shell->chunks[c].count[2];
                 k++) {
                uint32_t i = shell->chunks[c].first + k;
                flr_vec3 p = flr_shell_point(shell, c, i, 0);
                double cosine =
                    -flr_vec3_dot(flr_vec3_normalize(p), flr_shell_normal(shell->normal[i]));
                if (cosine < worst) worst = cosine;
                /* on the exact surface: between the sphere and its flat triangles */
                assert_le(flr_vec3_length(p), 0.02 + 1e-6);
                assert_ge(flr_vec3_length(p), 0.0198);
            }
        assert_gt(worst, 0.97);
        flr_shell_destroy(shell);
        flr_voxmap_destroy(voxmap);
        flr_test_shape_free(&shape);
    }
}

static void packed_normals_keep_their_direction(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("packed_normals_keep_their_direction");
    for (int i = 0; i < 200000; i++) {
        flr_vec3 n = flr_vec3_normalize(flr_vec3_make(flr_test_random_range(&random, -1, 1),
                                                      flr_test_random_range(&random, -1, 1),
                                                      flr_test_random_range(&random, -1, 1)));
        if (i % 7 == 0) n = flr_vec3_make(i % 3 == 0, i % 3 == 1, i % 3 == 2);
        if (i % 5 == 0) n = flr_vec3_neg(n);
        flr_vec3 back = flr_shell_normal(flr_shell_pack_normal(n));
        assert_lt(flr_vec3_length(flr_vec3_cross(n, back)), 8e-5);
        assert_gt(flr_vec3_dot(n, back), 0);
    }
}

/* outward on a ball of radius R, spacing grows by d / R; inward it does not open */
static void displacement_opens_the_mesh_of_points(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sphere(&shape, 0.01, 96, 48);
    flr_shell *shell = shell_of(&shape, 0.0005, true, true, NULL);
    assert_eq(flr_shell_opening(shell, 0), 1);
    double little = flr_shell_opening(shell, 0.0005), much = flr_shell_opening(shell, 0.005);
    assert_gt(little, 1.02);
    assert_lt(little, 1.5);
    assert_gt(much, 1.4);
    assert_gt(much, little);
    flr_shell_destroy(shell);
    flr_test_shape_free(&shape);
}

static uint32_t points_of(const flr_shell_chunk *chunk)
{
    return (uint32_t)chunk->count[0] + chunk->count[1] + chunk->count[2];
}

/* displaced once or in every query: the same places but for rounding, in their spheres; labels and normals stay */
static void a_displaced_shell_keeps_its_chunks(void **state)
{
    (void)state;
    static const double voxels[] = {-0.5, 0, 0.5, 1.2, -3};
    flr_test_shape shape = {0};
    flr_test_shape_torus(&shape, 0.03, 0.01, 48, 24);
    for (int on_surface = 0; on_surface < 2; on_surface++) {
        flr_shell *shell = shell_of(&shape, 0.001, on_surface, true, NULL);
        for (size_t v = 0; v < sizeof voxels / sizeof *voxels; v++) {
            double by = voxels[v] * 0.001;
            flr_shell *moved;
            flr_error error;
            assert_ok(flr_shell_displace(shell, by, &moved, &error), error);
            assert_lt(fabs((double)moved->displaced - by), 1e-9);
            assert_int_equal(moved->total, shell->total);
            assert_memory_equal(moved->by_label, shell->by_label, sizeof shell->by_label);
            assert_memory_equal(moved->normal, shell->normal,
                                shell->point_count * sizeof *shell->normal);
            for (uint32_t c = 0; c < shell->chunk_count; c++) {
                const flr_shell_chunk *chunk = &moved->chunks[c];
                assert_memory_equal(chunk->count, shell->chunks[c].count, sizeof chunk->count);
                for (uint32_t i = chunk->first; i < chunk->first + points_of(chunk); i++) {
                    flr_vec3 p = flr_shell_point(moved, c, i, 0),
                             q = flr_shell_point(shell, c, i, by);
                    flr_vec3 off = flr_vec3_sub(p, q);
                    double most = fmax(fabs(off.x), fmax(fabs(off.y), fabs(off.z)));
                    assert_le(most, 0.501 * (double)shell->step);
                    assert_le(flr_vec3_distance(p, of3(chunk->centre)), (double)chunk->radius);
                    assert_le(flr_vec3_distance(p, of3(moved->centre)), (double)moved->radius);
                }
            }
            flr_shell_destroy(moved);
        }
        flr_shell_destroy(shell);
    }
    flr_test_shape_free(&shape);
}

static void a_shell_is_not_displaced_beyond_its_coordinates(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sphere(&shape, 0.004, 48, 24);
    flr_shell *shell = shell_of(&shape, 0.001, true, true, NULL), *moved = NULL;
    flr_error error;
    assert_int_equal(flr_shell_displace(shell, 0.02, &moved, &error), FLR_TOO_LARGE);
    assert_non_null(strstr(error.message, "20 mm"));
    assert_int_equal(flr_shell_displace(shell, NAN, &moved, &error), FLR_BAD_ARGUMENT);
    assert_int_equal(flr_shell_displace(shell, INFINITY, &moved, NULL), FLR_BAD_ARGUMENT);
    assert_null(moved);
    flr_shell_destroy(shell);
    flr_test_shape_free(&shape);
}

/* every voxel of the layer has its point, which looks at the surface at the right distance */
static void a_free_layer_makes_a_shell(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(0.02, 0.03, 0.01), 3);
    flr_voxmap *voxmap;
    flr_shell_destroy(shell_of(&shape, 0.001, false, true, &voxmap));
    flr_exact *exact;
    flr_shell *shell;
    flr_error error;
    assert_ok(flr_exact_create(flr_test_shape_mesh(&shape), voxmap, 1, &exact, &error), error);
    for (unsigned layer = 1; layer <= 8; layer += 3) {
        assert_ok(flr_shell_from_layer(voxmap, exact, layer, &shell, &error), error);
        flr_voxmap_info info = flr_voxmap_get_info(voxmap);
        uint32_t expected = 0;
        for (int64_t z = 0; z < (int64_t)info.size[2]; z++)
            for (int64_t y = 0; y < (int64_t)info.size[1]; y++)
                for (int64_t x = 0; x < (int64_t)info.size[0]; x++)
                    expected += flr_voxmap_mark_at(voxmap, FLR_FIELD_SURFACE, x, y, z) == 2 + layer;
        assert_int_equal(shell->total, expected);
        assert_int_equal(shell->layer, layer);
        assert_true(shell->by_label[0]);
        assert_true(shell->by_label[1]);
        assert_true(shell->by_label[2]);
        for (uint32_t c = 0; c < shell->chunk_count; c++)
            for (uint32_t k = 0; k < (uint32_t)shell->chunks[c].count[0] +
                                         shell->chunks[c].count[1] + shell->chunks[c].count[2];
                 k++) {
                uint32_t i = shell->chunks[c].first + k;
                flr_vec3 p = flr_shell_point(shell, c, i, 0),
                         n = flr_shell_normal(shell->normal[i]);
                assert_le(flr_vec3_distance(p, of3(shell->chunks[c].centre)),
                          (double)shell->chunks[c].radius);
                double d = flr_exact_distance(exact, p, INFINITY, 0).distance;
                flr_exact_result foot =
                    flr_exact_distance(exact, flr_vec3_add_scaled(p, d, n), INFINITY, 0);
                assert_lt(fabs(foot.distance), 1e-5);
            }
        flr_shell_destroy(shell);
    }
    assert_int_equal(flr_shell_from_layer(voxmap, exact, 0, &shell, &error), FLR_BAD_ARGUMENT);
    assert_int_equal(flr_shell_from_layer(voxmap, exact, 9, &shell, &error), FLR_BAD_ARGUMENT);
    flr_exact_destroy(exact);
    flr_voxmap_destroy(voxmap);
    flr_test_shape_free(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_the_centres_of_surface_voxels),
        cmocka_unit_test(normals_point_inward_even_when_the_mesh_is_inside_out),
        cmocka_unit_test(displacement_opens_the_mesh_of_points),
        cmocka_unit_test(a_displaced_shell_keeps_its_chunks),
        cmocka_unit_test(a_shell_is_not_displaced_beyond_its_coordinates),
        cmocka_unit_test(a_free_layer_makes_a_shell),
        cmocka_unit_test(packed_normals_keep_their_direction),
    };
    return cmocka_run_group_tests_name("shell", tests, NULL, NULL);
}
