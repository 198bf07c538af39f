/* many queries at once: equal to the single ones, for every instruction set and number of threads */
#include "feeler/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail_alloc.h"
#include "support/fixtures.h"

/* ---- points ---- */

static flr_batch_surface *surface_of(const flr_mesh *mesh, const flr_fit *fit)
{
    flr_batch_surface *surface;
    flr_error error;
    assert_ok(flr_batch_surface_build(mesh, fit, &surface, &error), error);
    return surface;
}

enum { POINTS = 6000 };

typedef struct answers {
    double distance[POINTS];
    flr_vec3 nearest[POINTS];
    uint32_t triangle[POINTS];
} answers;

static void ask(const flr_batch_surface *surface, const flr_vec3 *points, unsigned threads,
                flr_simd simd, answers *a)
{
    flr_batch_options options = flr_default_batch_options();
    flr_error error;
    options.threads = threads;
    options.simd = simd;
    assert_ok(flr_batch_points(surface, points, POINTS, &options, a->distance, a->nearest,
                               a->triangle, &error),
              error);
}

/* Near, far and on the surface. */
static void scatter(flr_test_random *random, const flr_mesh *mesh, flr_vec3 *points)
{
    const flr_box3 box = mesh->bounds;
    const double size = flr_vec3_distance(box.low, box.high);
    for (int i = 0; i < POINTS; i++) {
        const flr_vec3 v = mesh->vertices[flr_test_random_below(random, mesh->vertex_count)];
        const double far[] = {0, 1e-9, 1e-4, 0.01, 0.5, 100};
        const double by = far[flr_test_random_below(random, 6)] * size;
        points[i] = flr_vec3_add(v, flr_vec3_make(flr_test_random_range(random, -by, by),
                                                  flr_test_random_range(random, -by, by),
                                                  flr_test_random_range(random, -by, by)));
    }
}

static void check_surface(flr_test_shape *shape, uint32_t references)
{
    const flr_mesh *mesh = flr_test_shape_mesh(shape);
    flr_fit *fit = flr_test_fit(mesh);
    flr_batch_surface *surface = surface_of(mesh, fit);
    flr_test_random random = flr_test_random_begin("points equal the reference");
    flr_vec3 *points = malloc(POINTS * sizeof *points);
    answers *one = malloc(sizeof *one), *other = malloc(sizeof *other);
    scatter(&random, mesh, points);
    ask(surface, points, 1, FLR_SIMD_SCALAR, one);
    for (uint32_t k = 0; k < references; k++) {
        const uint32_t i = flr_test_random_below(&random, POINTS);
        const flr_fit_point_result r = flr_fit_reference_point(mesh, points[i], INFINITY);
        const double scale = flr_fit_get_info(fit).size + fabs(r.distance);
        assert_true(fabs(fabs(one->distance[i]) - fabs(r.distance)) <= 2e-15 * scale);
        /* on the surface a sign is left to rounding */
        if (fabs(r.distance) > 1e-12 * scale) assert_true(one->distance[i] * r.distance > 0);
        assert_true(fabs(flr_vec3_distance(one->nearest[i], points[i]) - fabs(one->distance[i])) <=
                    1e-15 * scale);
        assert_true(one->triangle[i] < mesh->triangle_count);
    }
    for (flr_simd simd = FLR_SIMD_SCALAR; simd <= FLR_SIMD_NEON; simd++) {
        if (!flr_simd_has(simd)) continue;
        memset(other, 0, sizeof *other);
        ask(surface, points, 3, simd, other);
        assert_memory_equal(one, other, sizeof *one);
    }
    free(points);
    free(one);
    free(other);
    flr_batch_surface_destroy(surface);
    flr_fit_destroy(fit);
}

static void points_equal_the_reference(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_torus(&shape, 0.3, 0.1, 40, 24);
    check_surface(&shape, 300);
    flr_test_shape_free(&shape);
    /* few triangles, and inside out */
    flr_test_shape_box(&shape, flr_vec3_make(1, 2, 3), 1);
    flr_test_shape_turn(&shape, 0);
    check_surface(&shape, 300);
    flr_test_shape_free(&shape);
}

static double wave(double x, double y) { return 0.1 * sin(5 * x) * cos(3 * y); }

/* open, and two shells of which one is turned: the fit tells what is inside */
static void dirty_meshes_equal_the_reference(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sheet(&shape, 1, 2, 9, 9, wave);
    check_surface(&shape, 100);
    flr_test_shape_free(&shape);
    flr_test_shape_sphere(&shape, 0.5, 16, 8);
    const uint32_t vertices = shape.vertex_count, triangles = shape.triangle_count;
    flr_test_shape_box(&shape, flr_vec3_make(0.2, 0.2, 0.2), 2);
    flr_test_shape_move(&shape, vertices, (flr_pose){flr_vec3_make(2, 0, 0), flr_quat_identity()},
                        1);
    flr_test_shape_turn(&shape, triangles);
    check_surface(&shape, 100);
    flr_test_shape_free(&shape);
}

/* Triangles so slender that rounding decides where their normals point, and some with all corners in two places. */
static void slivers_equal_the_reference(void **state)
{
    (void)state;
    enum { SLIVERS = 400 };
    flr_vec3 v[3 * SLIVERS];
    flr_triangle t[SLIVERS];
    flr_test_random random = flr_test_random_begin("slivers equal the reference");
    for (uint32_t i = 0; i < SLIVERS; i++) {
        flr_vec3 *to = v + 3 * (size_t)i;
        for (int k = 0; k < 2; k++)
            to[k] = flr_vec3_make(flr_test_random_range(&random, 1, 2),
                                  flr_test_random_range(&random, 1, 2),
                                  flr_test_random_range(&random, 1, 2));
        to[2] = i % 10 == 0
                    ? to[0]
                    : flr_vec3_lerp(to[0], to[1], flr_test_random_range(&random, -0.5, 1.5));
        if (i % 10 > 4) to[2].x += pow(10, flr_test_random_range(&random, -16, -2));
        for (uint32_t k = 0; k < 3; k++) t[i].v[k] = 3 * i + k;
    }
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = v, def.vertex_count = 3 * SLIVERS, def.triangles = t,
    def.triangle_count = SLIVERS;
    flr_mesh *mesh;
    flr_error error;
    assert_ok(flr_mesh_create(&def, &mesh, &error), error);
    flr_fit *fit = flr_test_fit(mesh);
    flr_batch_surface *surface = surface_of(mesh, fit);
    flr_vec3 *points = malloc(POINTS * sizeof *points);
    answers *a = malloc(sizeof *a);
    scatter(&random, mesh, points);
    ask(surface, points, 1, FLR_SIMD_SCALAR, a);
    for (int i = 0; i < POINTS; i += 6) {
        const flr_fit_point_result r = flr_fit_reference_point(mesh, points[i], INFINITY);
        const double scale = flr_fit_get_info(fit).size + fabs(r.distance);
        if (fabs(fabs(a->distance[i]) - fabs(r.distance)) > 1e-12 * scale)
            fail_msg("point %d: %.17g instead of %.17g", i, a->distance[i], r.distance);
    }
    free(points);
    free(a);
    flr_batch_surface_destroy(surface);
    flr_fit_destroy(fit);
    flr_mesh_destroy(mesh);
}

/* The least of the distances from each triangle alone. */
static void check_brute_force(flr_test_shape *shape, const flr_vec3 *points, uint32_t count)
{
    const flr_mesh *mesh = flr_test_shape_mesh(shape);
    double *each = malloc((size_t)mesh->triangle_count * count * sizeof *each),
           *distance = malloc(count * sizeof *distance);
    uint32_t *triangle = malloc(count * sizeof *triangle);
    flr_error error;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *v = mesh->triangles[t].v;
        const flr_vec3 corners[3] = {mesh->vertices[v[0]], mesh->vertices[v[1]],
                                     mesh->vertices[v[2]]};
        const flr_triangle all = {{0, 1, 2}};
        flr_mesh_def def = flr_default_mesh_def();
        flr_mesh *alone;
        def.vertices = corners, def.vertex_count = 3, def.triangles = &all, def.triangle_count = 1;
        assert_ok(flr_mesh_create(&def, &alone, &error), error);
        flr_fit *fit = flr_test_fit(alone);
        flr_batch_surface *surface = surface_of(alone, fit);
        assert_ok(flr_batch_points(surface, points, count, NULL, each + (size_t)t * count, NULL,
                                   NULL, &error),
                  error);
        flr_batch_surface_destroy(surface);
        flr_fit_destroy(fit);
        flr_mesh_destroy(alone);
    }
    flr_fit *fit = flr_test_fit(mesh);
    flr_batch_surface *surface = surface_of(mesh, fit);
    for (flr_simd simd = FLR_SIMD_SCALAR; simd <= FLR_SIMD_NEON; simd++) {
        flr_batch_options options = flr_default_batch_options();
        options.simd = simd;
        if (!flr_simd_has(simd)) continue;
        assert_ok(
            flr_batch_points(surface, points, count, &options, distance, NULL, triangle, &error),
            error);
        for (uint32_t i = 0; i < count; i++) {
            double least = INFINITY;
            for (size_t t = 0; t < mesh->triangle_count; t++)
                least = fmin(least, fabs(each[t * count + i]));
            if (fabs(distance[i]) != least || fabs(each[(size_t)triangle[i] * count + i]) != least)
                fail_msg("%s, point %u: %.17g instead of %.17g", flr_simd_name(simd), i,
                         fabs(distance[i]), least);
        }
    }
    flr_batch_surface_destroy(surface);
    flr_fit_destroy(fit);
    free(each);
    free(distance);
    free(triangle);
}

static void points_equal_brute_force(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    flr_test_random random = flr_test_random_begin("points equal brute force");
    flr_test_shape shape = {0};
    flr_vec3 *points = malloc(POINTS * sizeof *points);
    flr_test_shape_torus(&shape, 0.3, 0.1, 24, 12);
    scatter(&random, flr_test_shape_mesh(&shape), points);
    check_brute_force(&shape, points, COUNT);
    flr_test_shape_free(&shape);
    /* large triangles beside small ones, and points half way between */
    flr_test_shape_box(&shape, flr_vec3_make(4, 4, 4), 2);
    const uint32_t vertices = shape.vertex_count;
    flr_test_shape_sphere(&shape, 1e-3, 16, 8);
    flr_test_shape_move(&shape, vertices,
                        (flr_pose){flr_vec3_make(0.7, 0.3, 2.003), flr_quat_identity()}, 1);
    for (int i = 0; i < COUNT; i++) {
        /* as far from the plane as from the ball: z = (x^2 + y^2 + c^2 - r^2) / (2 (c + r)), its centre at c */
        const double x = flr_test_random_range(&random, -2e-3, 2e-3),
                     y = flr_test_random_range(&random, -2e-3, 2e-3),
                     off = flr_test_random_range(&random, -3e-5, 3e-5),
                     z = (x * x + y * y + 8e-6) / 8e-3 + off;
        points[i] = flr_vec3_make(0.7 + x, 0.3 + y, 2 + z);
    }
    check_brute_force(&shape, points, COUNT);
    flr_test_shape_free(&shape);
    free(points);
}

/* All triangles are as near to the middle of a ball. */
static void many_triangles_may_be_as_near(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("many triangles");
    flr_test_shape shape = {0};
    flr_vec3 points[40];
    flr_test_shape_sphere(&shape, 1, 64, 32);
    for (int i = 0; i < 40; i++)
        points[i] = flr_vec3_make(flr_test_random_range(&random, -1e-7, 1e-7),
                                  flr_test_random_range(&random, -1e-7, 1e-7),
                                  flr_test_random_range(&random, -1e-7, 1e-7));
    check_brute_force(&shape, points, 40);
    flr_test_shape_free(&shape);
}

static void odd_points_are_told(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sphere(&shape, 1, 16, 8);
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    flr_fit *fit = flr_test_fit(mesh);
    flr_batch_surface *surface = surface_of(mesh, fit);
    const flr_vec3 points[] = {{NAN, 0, 0}, {0, 0, 0}, {1e12, 0, 0}, {0, INFINITY, 0}, {5, 0, 0}};
    double distance[5];
    uint32_t triangle[5];
    flr_error error;
    assert_ok(flr_batch_points(surface, points, 5, NULL, distance, NULL, triangle, &error), error);
    assert_true(isnan(distance[0]) && triangle[0] == FLR_NONE);
    assert_true(isnan(distance[2]) && isnan(distance[3]));
    assert_true(distance[1] < -0.9 && distance[1] > -1);
    assert_true(fabs(distance[4] - 4) <= 1e-12);
    assert_ok(flr_batch_points(surface, NULL, 0, NULL, NULL, NULL, NULL, &error), error);
    flr_batch_surface_destroy(surface);
    flr_fit_destroy(fit);
    flr_test_shape_free(&shape);
}

static flr_result batch_of_points(void *context, flr_error *error)
{
    const flr_mesh *mesh = ((void **)context)[0];
    const flr_fit *fit = ((void **)context)[1];
    flr_batch_surface *surface;
    flr_result result = flr_batch_surface_build(mesh, fit, &surface, error);
    if (result != FLR_OK) return result;
    flr_vec3 points[100] = {{0}};
    double distance[100];
    flr_batch_options options = flr_default_batch_options();
    options.threads = 1;
    result = flr_batch_points(surface, points, 100, &options, distance, NULL, NULL, error);
    flr_batch_surface_destroy(surface);
    return result;
}

static void points_without_memory(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sphere(&shape, 1, 16, 8);
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    flr_fit *fit = flr_test_fit(mesh);
    const void *context[] = {mesh, fit};
    assert_true(flr_fail_alloc_each(batch_of_points, context) > 5);
    flr_fit_destroy(fit);
    flr_test_shape_free(&shape);
}

/* ---- poses and motions ---- */

enum { POSES = 100 };

typedef struct two_parts {
    flr_test_shape shapes[2];
    flr_fit *fits[2];
    flr_batch_pair *pair;
    flr_pose poses[POSES];
} two_parts;

static void two_parts_begin(two_parts *t)
{
    flr_error error;
    flr_test_random random = flr_test_random_begin("poses");
    *t = (two_parts){0};
    flr_test_shape_box(&t->shapes[0], flr_vec3_make(0.1, 0.1, 0.1), 2);
    flr_test_shape_sphere(&t->shapes[1], 0.05, 12, 6);
    for (int i = 0; i < 2; i++) t->fits[i] = flr_test_fit(flr_test_shape_mesh(&t->shapes[i]));
    assert_ok(flr_batch_pair_create(t->fits[0], t->fits[1], &t->pair, &error), error);
    for (int i = 0; i < POSES; i++) t->poses[i] = flr_test_random_pose(&random, 0.12);
}

static void two_parts_end(two_parts *t)
{
    flr_batch_pair_destroy(t->pair);
    for (int i = 0; i < 2; i++) {
        flr_fit_destroy(t->fits[i]);
        flr_test_shape_free(&t->shapes[i]);
    }
}

static void poses_equal_single_queries(void **state)
{
    (void)state;
    two_parts t;
    two_parts_begin(&t);
    flr_fit_pair *single;
    flr_error error;
    flr_batch_result results[POSES];
    flr_batch_contacts contacts = {0};
    flr_batch_params params = flr_default_batch_params();
    params.fit.reach = 1e-3;
    flr_batch_options options = flr_default_batch_options();
    options.threads = 3;
    assert_ok(flr_fit_pair_create(t.fits[0], t.fits[1], &single, &error), error);
    assert_ok(
        flr_batch_poses(t.pair, t.poses, POSES, &params, &options, results, &contacts, &error),
        error);
    size_t first = 0, touching = 0;
    for (uint32_t i = 0; i < POSES; i++) {
        flr_fit_contact list[4000];
        flr_fit_result r;
        flr_fit_pair_query(single, t.poses[i], &params.fit, list, 4000, &r);
        assert_int_equal(r.contact_count, r.contact_total);
        assert_memory_equal(&r.distance, &results[i].distance, sizeof(double));
        assert_memory_equal(r.point, results[i].point, sizeof r.point);
        assert_int_equal(r.contact_total, results[i].contacts);
        flr_vec3 force = {0, 0, 0};
        for (uint32_t k = 0; k < r.contact_count; k++) {
            assert_int_equal(contacts.pose[first + k], i);
            assert_memory_equal(&contacts.list[first + k].point, &list[k].point, sizeof(flr_vec3));
            force = flr_vec3_add_scaled(force, 0.5e12 * list[k].area * (1e-3 - list[k].distance),
                                        list[k].normal);
        }
        assert_true(flr_vec3_distance(force, results[i].wrench.force) <=
                    1e-9 * (1 + flr_vec3_length(force)));
        first += r.contact_count;
        touching += r.contact_count > 0;
    }
    assert_int_equal(first, contacts.count);
    assert_true(touching > 10 && touching < POSES);
    flr_batch_contacts_free(&contacts);
    flr_fit_pair_destroy(single);
    two_parts_end(&t);
}

static void motions_equal_single_checks(void **state)
{
    (void)state;
    two_parts t;
    two_parts_begin(&t);
    flr_fit_motion motions[POSES - 1];
    flr_fit_motion_result results[POSES - 1];
    flr_fit_pair *single;
    flr_error error;
    for (int i = 0; i + 1 < POSES; i++)
        motions[i] = (flr_fit_motion){t.poses[i], t.poses[i + 1], {0, 0, 0}};
    assert_ok(flr_batch_motions(t.pair, motions, POSES - 1, NULL, NULL, results, &error), error);
    assert_ok(flr_fit_pair_create(t.fits[0], t.fits[1], &single, &error), error);
    for (int i = 0; i + 1 < POSES; i++) {
        flr_fit_motion_result r;
        flr_fit_pair_motion(single, &motions[i], NULL, &r);
        assert_true(r.free == results[i].free);
        assert_int_equal(r.blocked, results[i].blocked);
    }
    flr_fit_pair_destroy(single);
    two_parts_end(&t);
}

static bool stop_half_way(void *context, double done)
{
    *(double *)context = done;
    return done < 0.5;
}

static void batches_refuse_and_stop(void **state)
{
    (void)state;
    two_parts t;
    two_parts_begin(&t);
    flr_batch_result results[POSES];
    flr_error error;
    double done = -1;
    flr_batch_options options = flr_default_batch_options();
    options.threads = 1;
    options.progress = stop_half_way, options.progress_context = &done;
    assert_int_equal(flr_batch_poses(t.pair, t.poses, POSES, NULL, &options, results, NULL, &error),
                     FLR_CANCELLED);
    assert_true(done >= 0.5 && done < 0.7);
    t.poses[7].q.w = 3;
    assert_int_equal(flr_batch_poses(t.pair, t.poses, POSES, NULL, NULL, results, NULL, &error),
                     FLR_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "pose 7 "));
    const flr_fit_motion bad = {t.poses[0], t.poses[7], {0, 0, 0}};
    flr_fit_motion_result way;
    assert_int_equal(flr_batch_motions(t.pair, &bad, 1, NULL, NULL, &way, &error),
                     FLR_BAD_ARGUMENT);
    two_parts_end(&t);
}

/* ---- segments ---- */

static void segments_equal_single_queries(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sphere(&shape, 1, 24, 12);
    flr_probe_def def = flr_default_probe_def();
    flr_probe_model *model;
    flr_error error;
    def.mesh = flr_test_shape_mesh(&shape);
    assert_ok(flr_probe_model_create(&def, &model, &error), error);
    flr_test_random random = flr_test_random_begin("segments");
    enum { SEGMENTS = 10000 };
    flr_vec3 *ends = malloc(2 * SEGMENTS * sizeof *ends);
    flr_probe_hit *hits = malloc(SEGMENTS * sizeof *hits);
    for (int i = 0; i < 2 * SEGMENTS; i++)
        ends[i] = flr_vec3_make(flr_test_random_range(&random, -2, 2),
                                flr_test_random_range(&random, -2, 2),
                                flr_test_random_range(&random, -2, 2));
    assert_ok(flr_batch_segments(model, ends, SEGMENTS, NULL, hits, &error), error);
    int found = 0;
    for (int i = 0; i < SEGMENTS; i++) {
        flr_probe_hit hit;
        const bool any = flr_probe_first(model, ends[2 * i], ends[2 * i + 1], NULL, &hit);
        assert_int_equal(any, hits[i].triangle != FLR_PROBE_NONE);
        if (any) assert_true(hit.t == hits[i].t);
        if (!any) assert_true(isinf(hits[i].t));
        found += any;
    }
    assert_true(found > 1000 && found < SEGMENTS);
    free(ends);
    free(hits);
    flr_probe_model_destroy(model);
    flr_test_shape_free(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_equal_the_reference),
        cmocka_unit_test(dirty_meshes_equal_the_reference),
        cmocka_unit_test(slivers_equal_the_reference),
        cmocka_unit_test(points_equal_brute_force),
        cmocka_unit_test(many_triangles_may_be_as_near),
        cmocka_unit_test(odd_points_are_told),
        cmocka_unit_test(points_without_memory),
        cmocka_unit_test(poses_equal_single_queries),
        cmocka_unit_test(motions_equal_single_checks),
        cmocka_unit_test(batches_refuse_and_stop),
        cmocka_unit_test(segments_equal_single_queries),
    };
    return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
