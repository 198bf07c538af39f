/* the exact distance against all triangles, one by one */
#include "feeler/voxels.h"

#include "feeler/mesh.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/test.h"

/* ---- the yardstick ---- */

/* The point of a triangle nearest to p, found the long way: the foot on the plane if it lies within all three sides,
 * else the nearest of the feet on the sides. Independent of what is tested. */
static double plain_distance(flr_vec3 p, const flr_vec3 v[3])
{
    flr_vec3 n =
        flr_vec3_normalize(flr_vec3_cross(flr_vec3_sub(v[1], v[0]), flr_vec3_sub(v[2], v[0])));
    double best = INFINITY;
    bool within = flr_vec3_length2(n) > 0;
    for (int i = 0; i < 3; i++) {
        flr_vec3 a = v[i], side = flr_vec3_sub(v[(i + 1) % 3], a), to = flr_vec3_sub(p, a);
        double length = flr_vec3_length(side), along = 0;
        if (length > 0) along = flr_vec3_dot(to, side) / length;
        along = along < 0 ? 0 : along > length ? length : along;
        flr_vec3 foot = length > 0 ? flr_vec3_add_scaled(a, along / length, side) : a;
        best = fmin(best, flr_vec3_distance(p, foot));
        within = within && flr_vec3_dot(flr_vec3_cross(side, to), n) >= 0;
    }
    if (within) best = fmin(best, fabs(flr_vec3_dot(flr_vec3_sub(p, v[0]), n)));
    return best;
}

static double triangle_distance(const flr_mesh *mesh, flr_pose T, uint32_t triangle, flr_vec3 p)
{
    flr_vec3 v[3];
    for (int k = 0; k < 3; k++)
        v[k] = flr_pose_apply(T, mesh->vertices[mesh->triangles[triangle].v[k]]);
    return plain_distance(p, v);
}

static double plain_query(const flr_mesh *mesh, flr_pose T, flr_vec3 p)
{
    double best = INFINITY;
    for (uint32_t t = 0; t < mesh->triangle_count; t++)
        best = fmin(best, triangle_distance(mesh, T, t, p));
    return best;
}

/* ---- a case: a mesh, its voxmap, its triangles by chunk ---- */

typedef struct exact_case {
    const flr_mesh *mesh;
    flr_pose T;
    double voxel;
    flr_box3 box;
    flr_voxmap *voxmap;
    flr_exact *exact;
} exact_case;

static exact_case begin(const flr_mesh *mesh, double voxel, flr_pose T)
{
    exact_case c = {.mesh = mesh, .T = T, .voxel = voxel, .box = flr_box3_empty()};
    flr_voxelize_def def = flr_default_voxelize_def();
    flr_error error;
    def.voxel = voxel;
    def.features = false;
    def.T_voxmap_mesh = T;
    assert_ok(flr_voxelize(flr_env_real(), mesh, &def, &c.voxmap, NULL, NULL, &error), error);
    assert_ok(flr_exact_create(mesh, c.voxmap, 2, &c.exact, &error), error);
    for (uint32_t i = 0; i < mesh->vertex_count; i++)
        c.box = flr_box3_add(c.box, flr_pose_apply(T, mesh->vertices[i]));
    return c;
}

static void end(exact_case *c)
{
    flr_exact_destroy(c->exact);
    flr_voxmap_destroy(c->voxmap);
}

static flr_vec3 random_in(flr_test_random *random, flr_box3 box, double more)
{
    return flr_vec3_make(flr_test_random_range(random, box.low.x - more, box.high.x + more),
                         flr_test_random_range(random, box.low.y - more, box.high.y + more),
                         flr_test_random_range(random, box.low.z - more, box.high.z + more));
}

/* A point on a random triangle. */
static flr_vec3 random_on(flr_test_random *random, const exact_case *c)
{
    const uint32_t *t =
        c->mesh->triangles[flr_test_random_below(random, c->mesh->triangle_count)].v;
    double u = flr_test_random_range(random, 0, 1), v = flr_test_random_range(random, 0, 1);
    if (u + v > 1) u = 1 - u, v = 1 - v;
    flr_vec3 a = c->mesh->vertices[t[0]], p = a;
    p = flr_vec3_add_scaled(p, u, flr_vec3_sub(c->mesh->vertices[t[1]], a));
    p = flr_vec3_add_scaled(p, v, flr_vec3_sub(c->mesh->vertices[t[2]], a));
    return flr_pose_apply(c->T, p);
}

static void check_point(const exact_case *c, flr_vec3 p)
{
    double expected = plain_query(c->mesh, c->T, p);
    double slack = 1e-9 * c->voxel + 1e-12 * expected;
    flr_exact_result r = flr_exact_distance(c->exact, p, INFINITY, 0);
    assert_true(r.found);
    assert_true(r.complete);
    if (fabs(fabs(r.distance) - expected) > slack)
        fail_msg("at %.17g %.17g %.17g: %.17g, by all triangles %.17g", p.x, p.y, p.z, r.distance,
                 expected);
    /* point, triangle and bound agree with the distance */
    assert_le(fabs(flr_vec3_distance(p, r.nearest) - expected), slack);
    assert_le(fabs(triangle_distance(c->mesh, c->T, r.triangle, p) - expected), slack);
    assert_eq(r.least, fabs(r.distance));
    /* a little nearer than that nothing is found, a little farther it is */
    flr_exact_result near = flr_exact_distance(c->exact, p, expected * 0.999 - slack, 0);
    assert_false(near.found);
    flr_exact_result far = flr_exact_distance(c->exact, p, expected * 1.001 + slack, 0);
    assert_true(far.found);
    assert_eq(far.distance, r.distance);
    assert_eq(far.triangle, r.triangle);
    /* with few tests the bounds hold */
    flr_exact_result few = flr_exact_distance(c->exact, p, INFINITY, 3);
    assert_le(few.tests, 3);
    assert_le(few.least, expected + slack);
    assert_true(!few.found || fabs(few.distance) >= expected - slack);
}

static void check_points(const exact_case *c, flr_test_random *random, int count)
{
    double size = flr_vec3_length(flr_box3_size(c->box));
    for (int i = 0; i < count; i++) {
        check_point(c, random_in(random, c->box, 4 * c->voxel));
        check_point(c, random_on(random, c));
        check_point(c, flr_vec3_add_scaled(
                           random_on(random, c), c->voxel,
                           random_in(random, flr_box3_make(flr_vec3_zero(), flr_vec3_zero()), 2)));
        if (i % 4 == 0) check_point(c, random_in(random, c->box, 20 * size));
    }
}

/* ---- tests ---- */

static void shapes_equal_all_triangles(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("shapes_equal_all_triangles");
    for (int kind = 0; kind < 4; kind++) {
        flr_test_shape shape = {0};
        if (kind == 0) flr_test_shape_sphere(&shape, 0.03, 24, 12);
        if (kind == 1) flr_test_shape_torus(&shape, 0.03, 0.01, 32, 16);
        if (kind == 2) flr_test_shape_box(&shape, flr_vec3_make(0.2, 0.1, 0.1), 1);
        if (kind == 3) flr_test_shape_tetrahedron(&shape, 0.05, 0.003, 0.02);
        flr_pose T = flr_pose_identity();
        if (kind != 1)
            T = flr_pose_make(flr_vec3_make(0.1, -0.2, 3),
                              flr_quat_from_axis_angle(flr_vec3_make(1, 2, 3), 0.7));
        exact_case c = begin(flr_test_shape_mesh(&shape), 0.001, T);
        check_points(&c, &random, 300);
        check_point(&c, flr_pose_apply(T, flr_vec3_zero()));
        end(&c);
        flr_test_shape_free(&shape);
    }
}

static void dirty_models_equal_all_triangles(void **state)
{
    (void)state;
    const char *models = flr_test_models_dir();
    if (!models) skip();
    flr_test_random random = flr_test_random_begin("dirty_models_equal_all_triangles");
    static const char *const names[] = {
        "dirty/assimp_Spider_binary.stl",
        "dirty/cgal_bunny_random_perturbation.obj",
        "dirty/cgal_rectangle_with_degenerate_faces.obj",
        "dirty/cgal_tetrahedron_duplicates.obj",
        "dirty/cgal_three_knives.obj",
        "dirty/manifold_Offset1.obj",
        "assembly/path_ltunnel/obstacles.obj",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", models, names[i]);
        flr_mesh *mesh;
        flr_error error;
        flr_mesh_options options = flr_default_mesh_options();
        options.tolerant = true;
        assert_ok(flr_mesh_read(flr_env_real(), path, &options, &mesh, NULL, &error), error);
        flr_vec3 size = flr_box3_size(mesh->bounds);
        double voxel = fmax(size.x, fmax(size.y, size.z)) / 150;
        exact_case c = begin(mesh, voxel, flr_pose_identity());
        check_points(&c, &random, 40);
        end(&c);
        flr_mesh_destroy(mesh);
    }
}

/* The sign follows the voxmap: inside of a solid negative, also close to the surface, and of a mesh turned
 * inside out, too. */
static void inside_is_negative(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("inside_is_negative");
    for (int turned = 0; turned < 2; turned++) {
        flr_test_shape shape = {0};
        flr_test_shape_sphere(&shape, 0.02, 96, 48);
        if (turned) flr_test_shape_turn(&shape, 0);
        exact_case c = begin(flr_test_shape_mesh(&shape), 0.001, flr_pose_identity());
        for (int i = 0; i < 5000; i++) {
            flr_vec3 p = i % 2 ? random_in(&random, c.box, 0.003)
                               : flr_vec3_scale(random_on(&random, &c),
                                                flr_test_random_range(&random, 0.93, 1.07));
            double radius = flr_vec3_length(p);
            flr_exact_result r = flr_exact_distance(c.exact, p, INFINITY, 0);
            if (radius < 0.02 * 0.995) assert_lt(r.distance, 0);
            if (radius > 0.02) assert_gt(r.distance, 0);
        }
        end(&c);
        flr_test_shape_free(&shape);
    }
}

/* A hollow voxmap has no inside. */
static void hollow_is_never_inside(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sphere(&shape, 0.02, 24, 12);
    flr_voxelize_def def = flr_default_voxelize_def();
    flr_voxmap *voxmap;
    flr_exact *exact;
    flr_error error;
    def.voxel = 0.001;
    def.hollow = true;
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    assert_ok(flr_voxelize(flr_env_real(), mesh, &def, &voxmap, NULL, NULL, &error), error);
    assert_ok(flr_exact_create(mesh, voxmap, 1, &exact, &error), error);
    assert_gt(flr_exact_distance(exact, flr_vec3_zero(), INFINITY, 0).distance, 0.018);
    flr_exact_destroy(exact);
    flr_voxmap_destroy(voxmap);
    flr_test_shape_free(&shape);
}

static void odd_points_find_nothing(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(0.02, 0.02, 0.02), 2);
    exact_case c = begin(flr_test_shape_mesh(&shape), 0.001, flr_pose_identity());
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        flr_exact_result r = flr_exact_distance(c.exact, flr_vec3_make(0, bad[i], 0), INFINITY, 0);
        assert_false(r.found);
        assert_eq(r.triangle, FLR_NONE);
        assert_eq(r.least, 0);
    }
    flr_exact_result none = flr_exact_distance(c.exact, flr_vec3_make(1, 0, 0), 0.5, 0);
    assert_false(none.found);
    assert_true(none.complete);
    assert_eq(none.least, 0.5);
    assert_true(isinf(none.distance));
    assert_false(flr_exact_distance(c.exact, flr_vec3_zero(), NAN, 0).found);
    assert_false(flr_exact_distance(c.exact, flr_vec3_zero(), -1, 0).found);
    /* far beyond all grids */
    flr_exact_result far = flr_exact_distance(c.exact, flr_vec3_make(1e30, 0, 0), INFINITY, 0);
    assert_true(far.found);
    assert_lt(fabs(far.distance / 1e30 - 1), 1e-9);
    end(&c);
    flr_test_shape_free(&shape);
}

static void another_mesh_is_refused(void **state)
{
    (void)state;
    flr_test_shape shape = {0}, other = {0};
    flr_test_shape_box(&shape, flr_vec3_make(0.02, 0.02, 0.02), 2);
    flr_test_shape_box(&other, flr_vec3_make(0.02, 0.02, 0.03), 2);
    exact_case c = begin(flr_test_shape_mesh(&shape), 0.001, flr_pose_identity());
    flr_exact *exact = NULL;
    flr_error error;
    assert_int_equal(flr_exact_create(flr_test_shape_mesh(&other), c.voxmap, 1, &exact, &error),
                     FLR_BAD_ARGUMENT);
    assert_null(exact);
    end(&c);
    flr_test_shape_free(&shape);
    flr_test_shape_free(&other);
}

/* The same structure, whatever the number of threads: the same triangles after the same tests. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("threads_do_not_matter");
    flr_test_shape shape = {0};
    flr_test_shape_torus(&shape, 0.06, 0.02, 64, 32);
    exact_case c = begin(flr_test_shape_mesh(&shape), 0.0005, flr_pose_identity());
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        flr_exact *other;
        flr_error error;
        assert_ok(flr_exact_create(c.mesh, c.voxmap, threads, &other, &error), error);
        for (int i = 0; i < 2000; i++) {
            flr_vec3 p = random_in(&random, c.box, 0.01);
            flr_exact_result r = flr_exact_distance(c.exact, p, INFINITY, 0),
                             q = flr_exact_distance(other, p, INFINITY, 0);
            assert_eq(r.triangle, q.triangle);
            assert_eq(r.tests, q.tests);
            assert_eq(r.distance, q.distance);
        }
        flr_exact_destroy(other);
    }
    end(&c);
    flr_test_shape_free(&shape);
}

static flr_result create_once(void *context, flr_error *error)
{
    const exact_case *c = context;
    flr_exact *exact = NULL;
    flr_result result = flr_exact_create(c->mesh, c->voxmap, 1, &exact, error);
    if (result != FLR_OK) assert_null(exact);
    flr_exact_destroy(exact);
    return result;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(0.1, 0.02, 0.02), 2);
    exact_case c = begin(flr_test_shape_mesh(&shape), 0.001, flr_pose_identity());
    assert_gt(flr_fail_alloc_each(create_once, &c), 8);
    end(&c);
    flr_test_shape_free(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_equal_all_triangles),
        cmocka_unit_test(dirty_models_equal_all_triangles),
        cmocka_unit_test(inside_is_negative),
        cmocka_unit_test(hollow_is_never_inside),
        cmocka_unit_test(odd_points_find_nothing),
        cmocka_unit_test(another_mesh_is_refused),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("exact", tests, NULL, NULL);
}
