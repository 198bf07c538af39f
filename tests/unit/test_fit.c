/* fits: samples, single points and signs against the plain reference */
#include "feeler/fit.h"

#include <math.h>
#include <string.h>

#include "feeler/mesh.h"
#include "fit/fit_internal.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"

static flr_fit *build(const flr_mesh *mesh, double spacing)
{
    flr_fit_def def = flr_default_fit_def();
    flr_fit *fit;
    flr_error error;
    def.spacing = spacing;
    assert_ok(flr_fit_build(mesh, &def, &fit, &error), error);
    return fit;
}

/* A mesh of the shape's triangles that uses all its vertices. */
static flr_mesh *tidy(const flr_test_shape *s)
{
    flr_mesh_def def = flr_default_mesh_def();
    flr_mesh *mesh;
    flr_error error;
    def.vertices = s->vertices, def.vertex_count = s->vertex_count;
    def.triangles = s->triangles, def.triangle_count = s->triangle_count;
    assert_ok(flr_mesh_create(&def, &mesh, &error), error);
    return mesh;
}

/* ---- samples ---- */

/* Areas add up, points lie on their triangles, every vertex is a sample once. */
static void check_samples(const flr_mesh *mesh, double spacing)
{
    flr_fit *fit = build(mesh, spacing);
    const flr_fit_info info = flr_fit_get_info(fit);
    const flr_fit_sample *samples = flr_fit_samples(fit);
    double area = 0, sum = 0;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        flr_vec3 t[3];
        flr_fit_triangle(fit, i, t);
        area += 0.5 *
                flr_vec3_length(flr_vec3_cross(flr_vec3_sub(t[1], t[0]), flr_vec3_sub(t[2], t[0])));
    }
    unsigned char *seen = calloc(mesh->vertex_count, 1);
    for (uint32_t i = 0; i < info.samples; i++) {
        const flr_mesh one = {.vertices = mesh->vertices,
                              .triangles = &mesh->triangles[samples[i].triangle],
                              .triangle_count = 1,
                              .bounds = mesh->bounds};
        const flr_fit_point_result r = flr_fit_reference_point(&one, samples[i].point, INFINITY);
        assert_true(fabs(r.distance) <= 1e-14 * (1 + info.size));
        assert_true(samples[i].area >= 0 && samples[i].radius >= 0);
        sum += samples[i].area;
        if (samples[i].vertex != FLR_NONE) seen[samples[i].vertex]++;
    }
    for (uint32_t i = 0; i < mesh->vertex_count; i++) assert_int_equal(seen[i], 1);
    assert_true(fabs(area - info.area) <= 1e-12 * area && fabs(sum - area) <= 1e-9 * area);
    free(seen);
    flr_fit_destroy(fit);
}

static void samples_share_the_area(void **state)
{
    (void)state;
    for (int i = 0; i < FLR_TEST_SOLID_COUNT; i++) {
        flr_test_part part;
        flr_test_part_make(&part, (flr_test_solid)i, 1, 0.002, false);
        const flr_mesh *mesh = flr_test_shape_mesh(&part.shape);
        check_samples(mesh, 0);
        check_samples(mesh, 0.0007);
        check_samples(mesh, 1);
        flr_test_part_free(&part);
    }
}

/* Any point of the surface has a sample within the reach that is promised. */
static void samples_cover_the_surface(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("samples cover the surface");
    flr_test_shape box = {0};
    flr_test_shape_box(&box, flr_vec3_make(0.1, 0.002, 0.03), 1);
    const flr_mesh *mesh = flr_test_shape_mesh(&box);
    flr_fit *fit = build(mesh, 0.004);
    const flr_fit_info info = flr_fit_get_info(fit);
    for (int i = 0; i < 2000; i++) {
        flr_vec3 t[3];
        flr_fit_triangle(fit, flr_test_random_below(&random, info.triangles), t);
        double x = flr_test_random_range(&random, 0, 1), y = flr_test_random_range(&random, 0, 1);
        if (x + y > 1) x = 1 - x, y = 1 - y;
        const flr_vec3 p =
            flr_vec3_add(t[0], flr_vec3_add(flr_vec3_scale(flr_vec3_sub(t[1], t[0]), x),
                                            flr_vec3_scale(flr_vec3_sub(t[2], t[0]), y)));
        double least = INFINITY;
        for (uint32_t k = 0; k < info.samples; k++)
            least = fmin(least, flr_vec3_distance(p, flr_fit_samples(fit)[k].point));
        assert_true(least <= info.spacing);
    }
    flr_fit_destroy(fit);
    flr_test_shape_free(&box);
}

/* ---- points ---- */

static void check_point(const flr_fit *fit, const flr_mesh *mesh, flr_vec3 p)
{
    const flr_fit_point_result want = flr_fit_reference_point(mesh, p, INFINITY),
                               got = flr_fit_point(fit, p, INFINITY);
    const double winding = fabs(flr_fit_reference_winding(mesh, p));
    assert_true(got.found && want.found);
    assert_true(fabs(got.distance) == fabs(want.distance));
    assert_int_equal(got.triangle, want.triangle);
    assert_true(flr_vec3_equal(got.nearest, want.nearest));
    /* where the winding number is next to one half, or the point on the surface, either will do */
    if (fabs(winding - 0.5) < 0.05 || fabs(got.distance) <= got.error) return;
    if (got.distance != want.distance)
        fail_msg("%.17g, by all triangles %.17g (winding %g) at %.17g %.17g %.17g", got.distance,
                 want.distance, winding, p.x, p.y, p.z);
    assert_true(flr_fit_inside(fit, p) == (want.distance < 0));
    assert_true(flr_vec3_equal(got.direction, want.direction));
    assert_true(!flr_fit_point(fit, p, 0.99 * fabs(want.distance)).found);
    assert_true(flr_fit_point(fit, p, 1.01 * fabs(want.distance)).found);
}

static void check_points(const flr_mesh *mesh, flr_test_random *random, int count)
{
    flr_fit *fit = build(mesh, 0);
    const flr_fit_info info = flr_fit_get_info(fit);
    for (int i = 0; i < count; i++) {
        const double far = i % 3 ? 0.05 : 0.6;
        const flr_vec3 v = mesh->vertices[flr_test_random_below(random, mesh->vertex_count)];
        flr_vec3 p = v;
        if (i % 7)
            p = flr_vec3_add(v,
                             flr_vec3_make(flr_test_random_range(random, -far, far) * info.size,
                                           flr_test_random_range(random, -far, far) * info.size,
                                           flr_test_random_range(random, -far, far) * info.size));
        check_point(fit, mesh, p);
    }
    flr_fit_destroy(fit);
}

static void points_equal_the_reference(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("points equal the reference");
    for (int i = 0; i < FLR_TEST_SOLID_COUNT; i++) {
        flr_test_part part;
        flr_test_part_make(&part, (flr_test_solid)i, i == 1 ? 1e3 : 1, i == 1 ? 2 : 0.002, false);
        const flr_mesh *mesh = flr_test_shape_mesh(&part.shape);
        flr_fit *fit = build(mesh, 0);
        assert_true(flr_fit_get_info(fit).solid);
        flr_fit_destroy(fit);
        check_points(mesh, &random, 300);
        /* inside out has the same inside */
        flr_test_shape_turn(&part.shape, 0);
        check_points(flr_test_shape_mesh(&part.shape), &random, 100);
        flr_test_part_free(&part);
    }
}

/* Two boxes through each other, one within another, doubled, open: the winding number decides. */
static void dirty_solids_have_an_inside(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("dirty solids have an inside");
    for (int kind = 0; kind < 4; kind++) {
        flr_test_shape s = {0};
        flr_test_shape_box(&s, flr_vec3_make(0.02, 0.02, 0.02), 3);
        const uint32_t second = s.vertex_count;
        flr_pose T = flr_pose_identity();
        if (kind == 0) T.p = flr_vec3_make(0.008, 0.007, 0.003);
        flr_test_shape_box(&s, flr_vec3_make(0.02, 0.02, 0.02), 3);
        flr_test_shape_move(&s, second, T, kind == 1 ? 0.5 : 1);
        if (kind == 3) s.triangle_count -= 60;
        flr_mesh *mesh = tidy(&s);
        flr_fit *fit = build(mesh, 0);
        assert_false(flr_fit_get_info(fit).solid);
        if (kind < 3) assert_true(flr_fit_inside(fit, flr_vec3_make(0.001, 0.002, 0.001)));
        flr_fit_destroy(fit);
        check_points(mesh, &random, 200);
        flr_mesh_destroy(mesh);
        flr_test_shape_free(&s);
    }
}

/* Random triangles, needles and points among them, small and large. */
static void rubbish_equals_the_reference(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("rubbish equals the reference");
    for (int round = 0; round < 40; round++) {
        flr_test_shape s = {0};
        const double size = pow(10, flr_test_random_range(&random, -6, 6));
        const uint32_t count = 1 + flr_test_random_below(&random, round % 2 ? 8 : 300);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v[3];
            for (int k = 0; k < 3; k++)
                v[k] = flr_test_shape_vertex(&s, flr_test_random_range(&random, -size, size),
                                             flr_test_random_range(&random, -size, size),
                                             flr_test_random_range(&random, -size, size));
            if (i % 5 == 1) v[2] = v[1]; /* a segment */
            if (i % 7 == 2)
                s.vertices[v[2]] = flr_vec3_lerp(s.vertices[v[0]], s.vertices[v[1]], 0.3);
            if (i % 11 == 3) v[1] = v[2] = v[0]; /* a point */
            flr_test_shape_triangle(&s, v[0], v[1], v[2]);
        }
        flr_mesh *mesh = tidy(&s);
        check_points(mesh, &random, 40);
        flr_mesh_destroy(mesh);
        flr_test_shape_free(&s);
    }
}

static void nonsense_finds_nothing(void **state)
{
    (void)state;
    flr_test_shape s = {0};
    for (int i = 0; i < 3; i++) flr_test_shape_vertex(&s, i == 1, i == 2, 0);
    flr_test_shape_triangle(&s, 0, 1, 2);
    const flr_mesh *mesh = flr_test_shape_mesh(&s);
    flr_fit_def def = flr_default_fit_def();
    flr_fit *fit = build(mesh, 0);
    flr_error error;
    /* a triangle has no inside */
    const double heights[] = {-0.5, 0.5};
    for (int i = 0; i < 2; i++) {
        const flr_fit_point_result r = flr_fit_point(fit, flr_vec3_make(0.2, 0.2, heights[i]), 1);
        assert_true(r.found && r.distance == 0.5 && r.direction.z == 2 * heights[i]);
    }
    assert_false(flr_fit_point(fit, flr_vec3_make(NAN, 0, 0), INFINITY).found);
    assert_false(flr_fit_point(fit, flr_vec3_make(0, INFINITY, 0), INFINITY).found);
    assert_false(flr_fit_point(fit, flr_vec3_zero(), NAN).found);
    assert_false(flr_fit_inside(fit, flr_vec3_make(NAN, 0, 0)));
    flr_fit_destroy(fit);
    def.spacing = -1;
    assert_int_equal(flr_fit_build(mesh, &def, &fit, &error), FLR_BAD_ARGUMENT);
    def.spacing = NAN;
    assert_int_equal(flr_fit_build(mesh, &def, &fit, &error), FLR_BAD_ARGUMENT);
    /* spacings that would give more samples than can be grow */
    def.spacing = 1e-9;
    assert_ok(flr_fit_build(mesh, &def, &fit, &error), error);
    assert_true(flr_fit_get_info(fit).samples < 3u << 20 && flr_fit_get_info(fit).spacing > 1e-4);
    flr_fit_destroy(fit);
    flr_test_shape_free(&s);
}

static bool stop(void *context, double done)
{
    (void)done;
    return ++*(int *)context < 2;
}

static flr_result make(void *context, flr_error *error)
{
    flr_fit *fit;
    flr_fit_def def = flr_default_fit_def();
    def.threads = 1;
    flr_result result = flr_fit_build(context, &def, &fit, error);
    if (result == FLR_OK) flr_fit_destroy(fit);
    return result;
}

/* The same bytes on one thread and on many; small; stops when told; does without memory. */
static void building_is_sound(void **state)
{
    (void)state;
    flr_test_shape s = {0};
    flr_error error;
    flr_test_shape_torus(&s, 0.02, 0.006, 120, 80);
    const flr_mesh *mesh = flr_test_shape_mesh(&s);
    flr_fit_def def = flr_default_fit_def();
    flr_fit *fits[2];
    for (int i = 0; i < 2; i++) {
        def.threads = i ? 7 : 1;
        assert_ok(flr_fit_build(mesh, &def, &fits[i], &error), error);
    }
    assert_int_equal(fits[0]->size, fits[1]->size);
    assert_memory_equal(fits[0]->memory, fits[1]->memory, fits[0]->size);
    assert_true(flr_fit_get_info(fits[0]).bytes < 300 * (size_t)mesh->triangle_count);
    for (int i = 0; i < 2; i++) flr_fit_destroy(fits[i]);
    int calls = 0;
    def.progress = stop;
    def.progress_context = &calls;
    assert_int_equal(flr_fit_build(mesh, &def, &fits[0], &error), FLR_CANCELLED);
    flr_test_shape_free(&s);
    flr_test_shape small = {0};
    flr_test_shape_torus(&small, 0.02, 0.006, 12, 8);
    flr_mesh copy = *flr_test_shape_mesh(&small);
    assert_true(flr_fail_alloc_each(make, &copy) > 5);
    flr_test_shape_free(&small);
}

/* A cube of one metre takes little memory: it has few features. */
static void a_cube_is_small(void **state)
{
    (void)state;
    flr_test_shape s = {0};
    flr_test_shape_box(&s, flr_vec3_make(1, 1, 1), 1);
    flr_fit *fit = build(flr_test_shape_mesh(&s), 0);
    assert_true(flr_fit_get_info(fit).bytes < 2000000);
    flr_fit_destroy(fit);
    flr_test_shape_free(&s);
}

static void dirty_models_equal_the_reference(void **state)
{
    (void)state;
    const char *dir = flr_test_models_dir();
    if (!dir) skip();
    static const char *const names[] = {"cgal_tetrahedron_duplicates.obj",
                                        "cgal_nested_cubes_invalid_volume.obj",
                                        "trimesh_multibody.stl",
                                        "cgal_three_knives.obj",
                                        "trimesh_soup.stl",
                                        "assimp_Spider_binary.stl",
                                        "cgal_rectangle_with_degenerate_faces.obj",
                                        "manifold_Offset1.obj"};
    flr_test_random random = flr_test_random_begin("dirty models equal the reference");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];
        flr_mesh *mesh;
        flr_error error;
        snprintf(path, sizeof path, "%s/dirty/%s", dir, names[i]);
        flr_mesh_options options = flr_default_mesh_options();
        options.tolerant = true;
        if (flr_mesh_read(flr_env_real(), path, &options, &mesh, NULL, &error) != FLR_OK) continue;
        check_points(mesh, &random, 60);
        flr_mesh_destroy(mesh);
    }
}

/* A point far from a box, in the plane of one of its faces: nearest is the edge to the next face, whose triangles are long and
 * thin, so that the edge is not exactly on them. */
static void beside_an_edge_of_thin_triangles(void **state)
{
    (void)state;
    enum { BOXES = 40, POINTS = 50 };
    flr_test_random rng = flr_test_random_begin("beside_an_edge");
    for (int round = 0; round < BOXES; round++) {
        const flr_vec3 size = {0.05, 0.1, 0.01};
        flr_vec3 v[9];
        static const flr_triangle t[14] = {{{0, 2, 1}}, {{1, 2, 3}}, {{0, 1, 4}}, {{1, 5, 4}},
                                           {{2, 6, 3}}, {{3, 6, 7}}, {{0, 4, 2}}, {{2, 4, 6}},
                                           {{1, 3, 5}}, {{3, 7, 5}}, {{4, 5, 8}}, {{5, 7, 8}},
                                           {{7, 6, 8}}, {{6, 4, 8}}};
        for (int i = 0; i < 8; i++)
            v[i] = (flr_vec3){i & 1 ? size.x : 0, i & 2 ? size.y : 0, i & 4 ? size.z : 0};
        v[8] = (flr_vec3){size.x - flr_test_random_range(&rng, 0.001, 0.004),
                          flr_test_random_range(&rng, 0.02, 0.08), size.z};
        flr_mesh_def def = flr_default_mesh_def();
        def.vertices = v, def.vertex_count = 9, def.triangles = t, def.triangle_count = 14;
        flr_mesh *mesh;
        flr_error error;
        assert_ok(flr_mesh_create(&def, &mesh, &error), error);
        flr_fit *fit = build(mesh, 0);
        for (int i = 0; i < POINTS; i++) {
            const double ulps = floor(flr_test_random_range(&rng, -4, 5));
            const flr_vec3 p = {size.x * (1 + ulps * DBL_EPSILON),
                                flr_test_random_range(&rng, 0, size.y),
                                size.z + flr_test_random_range(&rng, 0.001, 0.1)};
            const flr_fit_point_result r = flr_fit_point(fit, p, INFINITY);
            if (!(r.distance > 0) || flr_fit_inside(fit, p))
                fail_msg("%.17g %.17g %.17g is not inside, but %g", p.x, p.y, p.z, r.distance);
        }
        flr_fit_destroy(fit);
        flr_mesh_destroy(mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_share_the_area),
        cmocka_unit_test(samples_cover_the_surface),
        cmocka_unit_test(points_equal_the_reference),
        cmocka_unit_test(beside_an_edge_of_thin_triangles),
        cmocka_unit_test(dirty_solids_have_an_inside),
        cmocka_unit_test(rubbish_equals_the_reference),
        cmocka_unit_test(nonsense_finds_nothing),
        cmocka_unit_test(building_is_sound),
        cmocka_unit_test(a_cube_is_small),
        cmocka_unit_test(dirty_models_equal_the_reference),
    };
    return cmocka_run_group_tests_name("fit", tests, NULL, NULL);
}
