/* the exact engine: parts that touch nothing, and meshes that are hardly any */
#include <math.h>

#include "support/fixtures.h"
#include "support/tight_rig.h"

static flr_pose at(double x, double y, double z)
{
    return flr_pose_make(flr_vec3_make(x, y, z), flr_quat_identity());
}

/* ---- distances for display ---- */

static void add_bore(flr_test_tight *rig, double gap)
{
    static flr_kit_outline outline;
    flr_kit kit = flr_kit_begin(1);
    kit.chord = 2e-6;
    flr_outline_clear(&outline);
    flr_outline_circle(&kit, &outline, 0, 0, 12e-3);
    flr_outline_circle(&kit, &outline, 0, 0, 6e-3 + gap);
    flr_kit_prism(&kit, flr_pose_identity(), &outline, 20e-3);
    flr_test_tight_add(rig, &kit, FLR_PART_STATIC, flr_pose_identity());
    kit = flr_kit_begin(1);
    kit.chord = 2e-6;
    flr_outline_clear(&outline);
    flr_outline_circle(&kit, &outline, 0, 0, 6e-3);
    flr_kit_prism(&kit, at(0, 0, -10e-3), &outline, 20e-3);
    flr_test_tight_add(rig, &kit, FLR_PART_MOVABLE, at(0, 0, 12e-3));
}

/* A peg slides in its bore, turns, and is pushed to the side until it touches. Where nothing touches, distances are measured as
 * finely as there is time for: the bounds hold in every step. Where it touches, they are exact. */
static void bounds_hold(double gap)
{
    flr_test_tight rig = flr_test_tight_begin();
    add_bore(&rig, gap);
    flr_test_tight_make(&rig, 1);
    double widest = 0, touching = 0;
    uint32_t touched = 0;
    for (int i = 0; i < 300; i++) {
        const double aside = i < 150 ? 0 : fmin((i - 150) * 1e-5, gap + 0.2e-3);
        flr_pose T = at(aside, 0, 12e-3 + 15e-6 * i);
        T.q = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), 1e-4 * i);
        const double before = flr_test_tight_distance(&rig, 0, 1);
        flr_test_tight_step(&rig, T);
        uint32_t count;
        const flr_world_gap *gaps = flr_world_gaps(rig.world, &count);
        assert_int_equal(count, 1);
        assert_true(gaps[0].complete);
        assert_true(gaps[0].lower <= before + 1e-9 && gaps[0].upper >= before - 1e-9);
        const double width = gaps[0].upper - gaps[0].lower;
        assert_lt(width, 0.4 * before + 1.1e-6);
        if (rig.frame.contacts > 0) {
            touched++;
            touching = fmax(touching, width);
        }
        widest = fmax(widest, width);
        assert_false(flr_test_tight_meet(&rig, 0, 1));
    }
    print_message("gap %g mm: bounds are %.3g um apart at most, %.3g while it touches (%u steps)\n",
                  1e3 * gap, 1e6 * widest, 1e6 * touching, touched);
    assert_gt(touched, 20);
    assert_lt(touching, 5.1e-7);
    flr_test_tight_end(&rig);
}

static void distances_for_display_keep_their_bounds(void **state)
{
    (void)state;
    bounds_hold(0.1e-3);
    bounds_hold(0.02e-3);
}

/* What a pair remembers of that is part of the state: a world that is loaded goes on with the same bits and the same bounds. */
static void a_peg_in_its_bore_goes_on(void **state)
{
    (void)state;
    flr_test_tight rig = flr_test_tight_begin();
    add_bore(&rig, 0.03e-3);
    flr_test_tight_make(&rig, 1);
    for (int i = 0; i < 40; i++) flr_test_tight_step(&rig, at(0, 0, 12e-3 + 2e-5 * i));
    const size_t size = flr_world_state_size(rig.world);
    uint8_t *saved = malloc(size);
    assert_non_null(saved);
    flr_world_save(rig.world, saved);
    flr_world_gap seen[2][40];
    flr_hash hashes[2];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 40; i++) {
            uint32_t count;
            flr_test_tight_step(&rig, at(i * 2e-6, 0, 12.8e-3 + 2e-5 * i));
            seen[k][i] = flr_world_gaps(rig.world, &count)[0];
        }
        hashes[k] = rig.frame.hash;
        assert_true(flr_world_load(rig.world, saved, size));
    }
    assert_memory_equal(&hashes[0], &hashes[1], sizeof hashes[0]);
    for (int i = 0; i < 40; i++) {
        assert_true(seen[0][i].lower == seen[1][i].lower);
        assert_true(seen[0][i].upper == seen[1][i].upper);
    }
    free(saved);
    flr_test_tight_end(&rig);
}

/* ---- meshes that are hardly any ---- */

static flr_mesh *mesh_of(const flr_vec3 *vertices, uint32_t vertex_count,
                         const flr_triangle *triangles, uint32_t triangle_count, flr_result *result)
{
    flr_error error;
    flr_mesh *mesh = NULL;
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = vertices, def.vertex_count = vertex_count;
    def.triangles = triangles, def.triangle_count = triangle_count;
    *result = flr_mesh_create(&def, &mesh, &error);
    return mesh;
}

static void add_box(flr_test_tight *rig, flr_pose T)
{
    flr_kit kit = flr_kit_begin(1);
    flr_kit_box(&kit, flr_pose_identity(), 10e-3, 10e-3, 20e-3, 0);
    flr_test_tight_add(rig, &kit, FLR_PART_MOVABLE, T);
}

/* A triangle has no inside, but nothing passes through it, from either side. */
static void one_triangle_stops_a_part(void **state)
{
    (void)state;
    const flr_vec3 v[3] = {{-0.05, -0.05, 0}, {0.05, -0.05, 0}, {0, 0.07, 0}};
    const flr_triangle t = {{0, 1, 2}};
    for (int side = -1; side <= 1; side += 2) {
        flr_result result;
        flr_test_tight rig = flr_test_tight_begin();
        flr_mesh *mesh = mesh_of(v, 3, &t, 1, &result);
        assert_int_equal(result, FLR_OK);
        flr_test_tight_add_mesh(&rig, mesh, FLR_PART_STATIC, flr_pose_identity());
        add_box(&rig, at(0, 0, side * 10.5e-3));
        flr_test_tight_make(&rig, 1);
        for (int i = 0; i < 60; i++) {
            flr_test_tight_step(&rig, at(0, 0, side * (10.5e-3 - fmin(i * 1e-4, 2e-3))));
            assert_int_equal(rig.frame.faults, 0);
            assert_false(flr_test_tight_meet(&rig, 0, 1));
        }
        const double height = side * flr_world_body(rig.world, 1)->T_world_part.p.z;
        assert_true(height > 10e-3 && height < 10.01e-3);
        assert_gt(side * flr_world_wrench(rig.world, 0).force.z, 1);
        flr_test_tight_end(&rig);
    }
}

/* Triangles without area, a needle and a point, stop a part as others do. */
static void triangles_without_area_stop_a_part(void **state)
{
    (void)state;
    const flr_vec3 v[6] = {{-0.02, 0, 0},        {0.02, 0, 0},         {0.01, 0, 0},
                           {2e-3, 3e-3, 0.1e-3}, {2e-3, 3e-3, 0.1e-3}, {2e-3, 3e-3, 0.1e-3}};
    const flr_triangle t[2] = {{{0, 1, 2}}, {{3, 4, 5}}};
    flr_result result;
    flr_test_tight rig = flr_test_tight_begin();
    flr_mesh *mesh = mesh_of(v, 6, t, 2, &result);
    assert_int_equal(result, FLR_OK);
    flr_test_tight_add_mesh(&rig, mesh, FLR_PART_STATIC, flr_pose_identity());
    add_box(&rig, at(0, 0, 10.5e-3));
    flr_test_tight_make(&rig, 1);
    for (int i = 0; i < 60; i++) {
        flr_test_tight_step(&rig, at(0, 0, 10.5e-3 - fmin(i * 1e-4, 2e-3)));
        assert_int_equal(rig.frame.faults, 0);
        assert_false(flr_test_tight_meet(&rig, 0, 1));
    }
    assert_gt(flr_world_body(rig.world, 1)->T_world_part.p.z, 10e-3);
    flr_test_tight_end(&rig);
}

/* A mesh without triangles never reaches the engine. */
static void an_empty_mesh_is_refused(void **state)
{
    (void)state;
    flr_result result;
    assert_null(mesh_of(NULL, 0, NULL, 0, &result));
    assert_int_equal(result, FLR_BAD_INPUT);
}

/* A vertex that is no number never reaches the engine. */
static void a_vertex_that_is_no_number_is_refused(void **state)
{
    (void)state;
    const flr_triangle t = {{0, 1, 2}};
    const double wrong[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        const flr_vec3 v[3] = {{0, 0, 0}, {0.1, 0, wrong[i]}, {0, 0.1, 0}};
        flr_result result;
        flr_mesh *mesh = mesh_of(v, 3, &t, 1, &result);
        assert_int_not_equal(result, FLR_OK);
        assert_null(mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(distances_for_display_keep_their_bounds),
                                       cmocka_unit_test(a_peg_in_its_bore_goes_on),
                                       cmocka_unit_test(one_triangle_stops_a_part),
                                       cmocka_unit_test(triangles_without_area_stop_a_part),
                                       cmocka_unit_test(an_empty_mesh_is_refused),
                                       cmocka_unit_test(a_vertex_that_is_no_number_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
