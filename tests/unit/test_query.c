/* queries beside the plain ways of asking: every vertex, every voxel, every triangle */
#include "feeler/distance.h"

#include <math.h>

#include "mesh/triangle.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"

static const double voxel = 0.001;

/* ---- do they meet? ---- */

static bool surfaces_meet(const flr_mesh *a, flr_pose T_world_a, const flr_mesh *b)
{
    for (uint32_t i = 0; i < a->triangle_count; i++)
        for (uint32_t j = 0; j < b->triangle_count; j++) {
            flr_vec3 p[3], q[3];
            for (int k = 0; k < 3; k++) {
                p[k] = flr_pose_apply(T_world_a, a->vertices[a->triangles[i].v[k]]);
                q[k] = b->vertices[b->triangles[j].v[k]];
            }
            if (flr_triangles_meet(p, q, 0, NULL) != FLR_TRIANGLES_APART) return true;
        }
    return false;
}

/* Is a point inside a mesh? By the solid angle that it is seen under. */
static bool inside(const flr_mesh *mesh, flr_vec3 p)
{
    double sum = 0;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        flr_vec3 v[3];
        for (int k = 0; k < 3; k++)
            v[k] = flr_vec3_normalize(flr_vec3_sub(mesh->vertices[mesh->triangles[i].v[k]], p));
        sum += 2 * atan2(flr_vec3_dot(v[0], flr_vec3_cross(v[1], v[2])),
                         1 + flr_vec3_dot(v[0], v[1]) + flr_vec3_dot(v[1], v[2]) +
                             flr_vec3_dot(v[2], v[0]));
    }
    return fabs(sum) > 6.28;
}

static void meeting_is_never_wrong(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("meeting_is_never_wrong");
    int answers[3] = {0};
    flr_test_part box, ball;
    flr_test_part_make(&box, FLR_TEST_BOX, 1, voxel, true);
    flr_test_part_make(&ball, FLR_TEST_TETRAHEDRON, 0.6, voxel, true);
    const flr_mesh *moving = flr_test_shape_mesh(&ball.shape),
                   *fixed = flr_test_shape_mesh(&box.shape);
    flr_contact_pair_def def = flr_default_contact_pair_def();
    def.shell = ball.shell, def.voxmap = box.voxmap;
    flr_contact_pair *pair;
    flr_error error;
    assert_ok(flr_contact_pair_create(&def, &pair, &error), error);
    const flr_contact_params params = flr_default_contact_params();
    for (int i = 0; i < 1500; i++) {
        const flr_pose T = flr_test_random_pose(&random, 0.022);
        flr_contact_result r;
        flr_contact_query(pair, T, flr_pose_identity(), &params, &r);
        const flr_answer answer = flr_query_meeting(ball.shell, box.voxmap, flr_pose_identity(),
                                                    flr_contact_list(pair), &r);
        const bool meet = surfaces_meet(moving, T, fixed) ||
                          inside(fixed, flr_pose_apply(T, moving->vertices[0]));
        answers[answer]++;
        if (answer == FLR_ANSWER_NO) assert_false(meet);
        if (answer == FLR_ANSWER_YES) assert_true(meet);
    }
    for (int i = 0; i < 3; i++) assert_gt(answers[i], 50);
    flr_contact_pair_destroy(pair);
    flr_test_part_free(&box);
    flr_test_part_free(&ball);
}

/* ---- normals ---- */

static void normals_are_summed_up(void **state)
{
    (void)state;
    flr_contact contacts[60];
    /* ten push up, twenty along x, thirty a little beside y */
    for (int i = 0; i < 60; i++) {
        flr_vec3 n = i < 10   ? flr_vec3_make(0, 0, 1)
                     : i < 30 ? flr_vec3_make(1, 0, 0)
                              : flr_vec3_make(0, 1, i % 2 ? 0.1 : -0.1);
        contacts[i] = (flr_contact){.point = flr_vec3_make(i, 1, 2),
                                    .normal = flr_vec3_normalize(n),
                                    .depth = 0.001 * (i % 10)};
    }
    flr_contact_normal normals[8];
    assert_int_equal(flr_query_normals(contacts, 60, 0.3, normals, 8), 3);
    assert_int_equal(normals[0].contacts, 30);
    assert_int_equal(normals[1].contacts, 20);
    assert_int_equal(normals[2].contacts, 10);
    assert_gt(normals[0].normal.y, 0.999);
    assert_eq(normals[1].normal.x, 1);
    assert_eq(normals[2].normal.z, 1);
    assert_lt(fabs(normals[0].depth - 0.009), 1e-12);
    assert_lt(fabs(normals[2].sum - 0.045), 1e-9);
    /* of 0 … 9 by weights 0 … 9 */
    assert_lt(fabs(normals[2].point.x - 285.0 / 45), 1e-6);
    assert_lt(fabs(normals[2].point.y - 1), 1e-12);
    /* with room for two the rest belongs to the less far one */
    assert_int_equal(flr_query_normals(contacts, 60, 0.3, normals, 2), 2);
    assert_int_equal(normals[0].contacts + normals[1].contacts, 60);
    assert_int_equal(flr_query_normals(contacts, 60, 0, normals, 0), 0);
    assert_int_equal(flr_query_normals(contacts, 0, 0.3, normals, 8), 0);
}

/* ---- proximity ---- */

static void proximity_is_that_of_every_vertex(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("proximity_is_that_of_every_vertex");
    flr_test_part parts[2];
    flr_test_part_make(&parts[0], FLR_TEST_BOX, 1, voxel, false);
    flr_test_part_make(&parts[1], FLR_TEST_TORUS, 1, 1.5 * voxel, false);
    flr_test_shape shape = {0};
    flr_test_shape_sphere(&shape, 0.02, 40, 20);
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    flr_proximity *p;
    flr_exact *exact;
    flr_error error;
    assert_ok(flr_proximity_create(mesh, &p, &error), error);
    assert_ok(
        flr_exact_create(flr_test_shape_mesh(&parts[0].shape), parts[0].voxmap, 1, &exact, &error),
        error);
    const float *found = flr_proximity_distances(p);
    double *exactly = malloc(mesh->vertex_count * sizeof *exactly);
    int near = 0, far = 0;
    for (uint32_t i = 0; i < mesh->vertex_count; i++) assert_true(isinf(found[i]));
    for (int round = 0; round < 60; round++) {
        const flr_pose T = flr_test_random_pose(&random, round % 4 ? 0.03 : 0.3);
        const flr_proximity_obstacle obstacles[2] = {
            {parts[0].voxmap, flr_test_random_pose(&random, 0.02)},
            {parts[1].voxmap, flr_test_random_pose(&random, 0.02)}};
        /* at once, or a few at a time */
        uint32_t rounds = 0;
        while (flr_proximity_update(p, T, obstacles, 2, round % 2 ? 0 : 200)) rounds++;
        assert_true(round % 2 ? rounds == 0 : rounds >= mesh->vertex_count / 256 - 1);
        for (uint32_t i = 0; i < mesh->vertex_count; i++) {
            float expected = INFINITY;
            for (int k = 0; k < 2; k++) {
                const flr_vec3 at = flr_pose_apply_inverse(obstacles[k].T_world_voxmap,
                                                           flr_pose_apply(T, mesh->vertices[i]));
                const unsigned mark = flr_voxmap_mark(parts[k].voxmap, FLR_FIELD_SURFACE, at);
                const double size = k ? 1.5 * voxel : voxel;
                if (mark) expected = fminf(expected, (float)(((int)mark - 2) * size));
            }
            /* a vertex may lie on a face between voxels: then the next one is as good */
            if (isinf(found[i]) != isinf(expected) || fabsf(found[i] - expected) > 1e-9f) {
                if (isinf(found[i]) || isinf(expected))
                    fail_msg("vertex %u: %g, expected %g", i, (double)found[i], (double)expected);
                assert_le(fabsf(found[i] - expected), 1.5f * (float)voxel);
            }
            near += !isinf(expected), far += isinf(expected);
        }
        flr_proximity_exact(p, T, exact, obstacles[0].T_world_voxmap, 0, mesh->vertex_count, 0.005,
                            0, exactly);
        for (uint32_t i = 0; i < mesh->vertex_count; i += 7) {
            const flr_vec3 at = flr_pose_apply_inverse(obstacles[0].T_world_voxmap,
                                                       flr_pose_apply(T, mesh->vertices[i]));
            const flr_exact_result r = flr_exact_distance(exact, at, 0.005, 0);
            if (r.found) assert_lt(fabs(r.distance - exactly[i]), 1e-9);
            assert_true(r.found || isinf(exactly[i]));
        }
    }
    assert_gt(near, 1000);
    assert_gt(far, 1000);
    free(exactly);
    flr_exact_destroy(exact);
    flr_proximity_destroy(p);
    flr_test_shape_free(&shape);
    for (int k = 0; k < 2; k++) flr_test_part_free(&parts[k]);
}

/* ---- near voxels ---- */

static void near_voxels_are_all_that_are_near(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("near_voxels_are_all_that_are_near");
    flr_test_part around, moving;
    flr_test_part_make(&around, FLR_TEST_BOX, 2, 0.002, false);
    flr_test_part_make(&moving, FLR_TEST_TORUS, 1, voxel, false);
    flr_exact *exact;
    flr_error error;
    assert_ok(
        flr_exact_create(flr_test_shape_mesh(&moving.shape), moving.voxmap, 1, &exact, &error),
        error);
    const flr_voxmap_info info = flr_voxmap_get_info(around.voxmap);
    enum { CAPACITY = 20000 };
    flr_near_voxel *listed = malloc(CAPACITY * sizeof *listed);
    uint64_t sum = 0;
    for (int round = 0; round < 12; round++) {
        flr_near_voxels_def def = {.around = around.voxmap,
                                   .moving = moving.voxmap,
                                   .exact = round % 3 ? exact : NULL,
                                   .T_world_around = flr_test_random_pose(&random, 0.01),
                                   .T_world_moving = flr_test_random_pose(&random, 0.03),
                                   .distance = flr_test_random_range(&random, 0, 0.015)};
        const uint64_t count = flr_query_near_voxels(&def, listed, CAPACITY);
        assert_le(count, CAPACITY);
        sum += count;
        /* every voxel, in this order within a chunk; the list is by chunk, so look each one up */
        uint64_t expected = 0;
        for (uint32_t z = 0; z < info.size[2]; z++)
            for (uint32_t y = 0; y < info.size[1]; y++)
                for (uint32_t x = 0; x < info.size[0]; x++) {
                    if (flr_voxmap_mark_at(around.voxmap, FLR_FIELD_SURFACE, x, y, z) != 2)
                        continue;
                    const flr_vec3 here = flr_vec3_add_scaled(
                        info.origin, info.voxel, flr_vec3_make(x + 0.5, y + 0.5, z + 0.5));
                    const flr_vec3 there = flr_pose_apply_inverse(
                        def.T_world_moving, flr_pose_apply(def.T_world_around, here));
                    const flr_exact_result r = flr_exact_distance(exact, there, INFINITY, 0);
                    expected += r.distance <= def.distance;
                }
        if (def.exact)
            assert_int_equal(count, expected);
        else
            assert_ge(count, expected);
        for (uint64_t i = 0; i < count; i++) {
            assert_int_equal(flr_voxmap_mark_at(around.voxmap, FLR_FIELD_SURFACE,
                                                listed[i].voxel[0], listed[i].voxel[1],
                                                listed[i].voxel[2]),
                             2);
            const flr_vec3 there = flr_pose_apply_inverse(def.T_world_moving, listed[i].centre);
            const double d = flr_exact_distance(exact, there, INFINITY, 0).distance;
            assert_true(def.exact ? fabs(d - listed[i].distance) < 1e-9
                                  : listed[i].distance <= fmax(0, d) + 1e-9);
        }
        /* the first ones, when there is room for few; as many are counted */
        flr_near_voxel few[5];
        assert_int_equal(flr_query_near_voxels(&def, few, 5), count);
        for (uint64_t i = 0; i < 5 && i < count; i++)
            assert_memory_equal(few[i].voxel, listed[i].voxel, sizeof few[i].voxel);
    }
    assert_gt(sum, 500);
    flr_near_voxels_def far = {.around = around.voxmap,
                               .moving = moving.voxmap,
                               .T_world_around = flr_pose_identity(),
                               .T_world_moving = flr_pose_identity(),
                               .distance = 0.01};
    far.T_world_moving.p.x = 1e9;
    assert_int_equal(flr_query_near_voxels(&far, listed, CAPACITY), 0);
    far.T_world_moving.p.x = NAN;
    assert_int_equal(flr_query_near_voxels(&far, listed, CAPACITY), 0);
    free(listed);
    flr_exact_destroy(exact);
    flr_test_part_free(&around);
    flr_test_part_free(&moving);
}

/* ---- memory ---- */

static flr_result make(void *context, flr_error *error)
{
    flr_proximity *p;
    flr_result result = flr_proximity_create(context, &p, error);
    if (result == FLR_OK) flr_proximity_destroy(p);
    return result;
}

static void survives_without_memory(void **state)
{
    (void)state;
    flr_test_part part;
    flr_test_part_make(&part, FLR_TEST_TORUS, 1, voxel, false);
    flr_mesh mesh = *flr_test_shape_mesh(&part.shape);
    assert_ge(flr_fail_alloc_each(make, &mesh), 6);
    /* asking takes none */
    flr_proximity *p;
    flr_error error;
    assert_ok(flr_proximity_create(&mesh, &p, &error), error);
    const flr_proximity_obstacle self = {part.voxmap, flr_pose_identity()};
    flr_near_voxels_def def = {.around = part.voxmap,
                               .moving = part.voxmap,
                               .T_world_around = flr_pose_identity(),
                               .T_world_moving = flr_pose_identity(),
                               .distance = 0.01};
    flr_fail_alloc_at(0);
    flr_proximity_update(p, flr_pose_identity(), &self, 1, 0);
    assert_gt(flr_query_near_voxels(&def, NULL, 0), 0);
    assert_int_equal(flr_fail_alloc_asked(), 0);
    for (uint32_t i = 0; i < mesh.vertex_count; i++) assert_eq(flr_proximity_distances(p)[i], 0);
    flr_proximity_destroy(p);
    flr_test_part_free(&part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meeting_is_never_wrong),
        cmocka_unit_test(normals_are_summed_up),
        cmocka_unit_test(proximity_is_that_of_every_vertex),
        cmocka_unit_test(near_voxels_are_all_that_are_near),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
