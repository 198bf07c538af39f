/* every hit and miss equals the reference, with every method and instruction set, on dirty and degenerate meshes
 *
 * FLR_PROBE_SEGMENTS sets how many segments are asked per test over the shared models. */
#include <dirent.h>
#include <math.h>

#include "feeler/env.h"
#include "feeler/mesh.h"
#include "feeler/probe.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/test.h"

#ifdef FLR_SANITIZED
enum { SEGMENTS = 1200, SMALL = 1200 };
#else
enum { SEGMENTS = 6000, SMALL = 4800 };
#endif

static double any_of(flr_test_random *r, double low, double high)
{
    return flr_test_random_range(r, low, high);
}

static flr_vec3 point_in(flr_test_random *r, flr_box3 box)
{
    return flr_vec3_make(any_of(r, box.low.x, box.high.x), any_of(r, box.low.y, box.high.y),
                         any_of(r, box.low.z, box.high.z));
}

static flr_vec3 direction(flr_test_random *r)
{
    flr_vec3 d = flr_vec3_make(any_of(r, -1, 1), any_of(r, -1, 1), any_of(r, -1, 1));
    return flr_test_random_below(r, 4) ? d : flr_vec3_make(d.x > 0, d.y > 0.5, d.z < -0.8);
}

/* A point on a triangle: its inside, its edge or its corner, as they come. */
static flr_vec3 point_on(flr_test_random *r, const flr_mesh *mesh)
{
    const flr_triangle *t = &mesh->triangles[flr_test_random_below(r, mesh->triangle_count)];
    flr_vec3 p = mesh->vertices[t->v[0]], q = mesh->vertices[t->v[1]], s = mesh->vertices[t->v[2]];
    switch (flr_test_random_below(r, 4)) {
    case 0:
        return p;
    case 1:
        return flr_vec3_lerp(p, q, 0.5);
    case 2:
        return flr_vec3_lerp(p, q, any_of(r, 0, 1));
    default:
        return flr_vec3_lerp(flr_vec3_lerp(p, q, any_of(r, 0, 1)), s, any_of(r, 0, 1));
    }
}

/* Segments of all kinds: short ones at the surface, through edges and corners, along edges and planes, far and long. */
static void make_segment(flr_test_random *r, const flr_mesh *mesh, flr_vec3 *a, flr_vec3 *b)
{
    double size = flr_vec3_length(flr_box3_size(mesh->bounds));
    flr_vec3 on = point_on(r, mesh), d = direction(r);
    double length = size * pow(10, any_of(r, -4, 0));
    switch (flr_test_random_below(r, 8)) {
    case 0: /* through a point of the surface, exactly in the middle where rounding allows */
        *a = flr_vec3_add_scaled(on, length, d), *b = flr_vec3_add_scaled(on, -length, d);
        break;
    case 1: /* begins or ends on the surface */
        *a = on, *b = flr_vec3_add_scaled(on, length, d);
        if (flr_test_random_below(r, 2)) *b = *a, *a = flr_vec3_add_scaled(on, length, d);
        break;
    case 2: /* from surface to surface: along edges and planes, through corners */
        *a = on, *b = point_on(r, mesh);
        break;
    case 3: { /* beyond both of these */
        flr_vec3 p = point_on(r, mesh);
        *a = flr_vec3_lerp(on, p, -1), *b = flr_vec3_lerp(on, p, 2);
        break;
    }
    case 4:
        *a = point_in(r, mesh->bounds), *b = point_in(r, mesh->bounds);
        break;
    case 5: /* long */
        *a = flr_vec3_add_scaled(on, size * pow(10, any_of(r, 0, 8)), d);
        *b = flr_vec3_add_scaled(on, -size * pow(10, any_of(r, 0, 8)), d);
        break;
    case 6: /* no length */
        *a = *b = on;
        break;
    default: /* near the surface */
        *a = flr_vec3_add_scaled(on, length * any_of(r, -1, 1), d);
        *b = flr_vec3_add_scaled(*a, length, direction(r));
    }
}

typedef struct models {
    flr_probe_model *model[9];
    flr_probe_witness witness[9];
    int count;
} models;

/* Every method with every instruction set. */
static models make_models(const flr_mesh *mesh)
{
    models m = {.count = 0};
    for (int method = FLR_PROBE_GRID; method <= FLR_PROBE_HYBRID; method++)
        for (int simd = FLR_SIMD_SCALAR; simd <= FLR_SIMD_NEON; simd++) {
            if (!flr_simd_has((flr_simd)simd)) continue;
            flr_probe_def def = flr_default_probe_def();
            def.mesh = mesh;
            def.method = (flr_probe_method)method;
            def.simd = (flr_simd)simd;
            flr_error error;
            assert_ok(flr_probe_model_create(&def, &m.model[m.count], &error), error);
            m.witness[m.count++] = flr_probe_witness_none();
        }
    return m;
}

static void free_models(models *m)
{
    for (int i = 0; i < m->count; i++) flr_probe_model_destroy(m->model[i]);
}

/* Asks one model, in turn; fails unless the answer is the reference's. Returns whether there was a hit. */
static bool compare(models *m, int which, const flr_mesh *mesh, flr_vec3 a, flr_vec3 b)
{
    flr_probe_hit wanted = {0}, got = {0};
    flr_probe_model *model = m->model[which];
    flr_probe_witness *witness = flr_probe_model_info(model).cells % 2 ? &m->witness[which] : NULL;
    bool hit = flr_probe_reference(mesh, a, b, &wanted);
    bool found = flr_probe_first(model, a, b, witness, &got);
    bool any = flr_probe_any(model, a, b, witness);
    if (found != hit || any != hit || memcmp(&wanted, &got, sizeof got) != 0) {
        flr_probe_info info = flr_probe_model_info(model);
        fail_msg("method %d %s: segment %.17g %.17g %.17g  %.17g %.17g %.17g: reference %d t %.17g "
                 "triangle %u; first %d t %.17g triangle %u; any %d",
                 info.method, info.simd, a.x, a.y, a.z, b.x, b.y, b.z, hit, wanted.t,
                 wanted.triangle, found, got.t, got.triangle, any);
    }
    return hit;
}

static void compare_mesh(const flr_mesh *mesh, uint64_t segments, flr_test_random *r,
                         uint64_t *asked, uint64_t *hits)
{
    models m = make_models(mesh);
    for (uint64_t i = 0; i < segments; i++) {
        flr_vec3 a, b;
        make_segment(r, mesh, &a, &b);
        *hits += compare(&m, (int)(i % (uint64_t)m.count), mesh, a, b);
        ++*asked;
    }
    free_models(&m);
}

static uint64_t wanted_segments(uint64_t usual)
{
    const char *wanted = getenv("FLR_PROBE_SEGMENTS");
    return wanted ? strtoull(wanted, NULL, 10) : usual;
}

static double waves(double x, double y) { return 0.1 * sin(7 * x) * cos(5 * y); }

static void small_shapes(void **state)
{
    (void)state;
    flr_test_random r = flr_test_random_begin("small_shapes");
    uint64_t asked = 0, hits = 0;
    for (int i = 0; i < 8; i++) {
        flr_test_shape shape = {0};
        if (i == 0) flr_test_shape_box(&shape, flr_vec3_make(1, 2, 3), 3);
        if (i == 1) flr_test_shape_sphere(&shape, 0.1, 24, 12);
        if (i == 2) flr_test_shape_torus(&shape, 2, 0.5, 24, 12);
        if (i == 3) flr_test_shape_sheet(&shape, 1, 1, 12, 12, waves);
        if (i == 4) flr_test_shape_tetrahedron(&shape, 1, 1e-6, 1e-3);
        if (i == 5) { /* a box far out, where doubles are coarse */
            flr_pose T = flr_pose_identity();
            T.p = flr_vec3_make(1e8, -3e8, 2e8);
            flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 4);
            flr_test_shape_move(&shape, 0, T, 1);
        }
        if (i == 6) { /* large and tiny triangles together */
            flr_test_shape_box(&shape, flr_vec3_make(1000, 1000, 1000), 1);
            flr_test_shape_sphere(&shape, 1e-3, 16, 8);
        }
        if (i == 7) { /* no area: a point, a line, and one triangle with some */
            for (int k = 0; k < 3; k++) flr_test_shape_vertex(&shape, k, 2 * k, 3 * k);
            flr_test_shape_vertex(&shape, 1, 0, 0.5);
            flr_test_shape_triangle(&shape, 0, 1, 2);
            flr_test_shape_triangle(&shape, 1, 1, 1);
            flr_test_shape_triangle(&shape, 0, 2, 0);
            flr_test_shape_triangle(&shape, 0, 1, 3);
        }
        compare_mesh(flr_test_shape_mesh(&shape), SMALL / 8, &r, &asked, &hits);
        flr_test_shape_free(&shape);
    }
    print_message("%llu segments, %llu hits\n", (unsigned long long)asked,
                  (unsigned long long)hits);
    assert_gt(hits, asked / 3);
    assert_lt(hits, asked);
}

static void dirty_models(void **state)
{
    (void)state;
    if (!flr_test_models_dir()) skip();
    char path[4096];
    snprintf(path, sizeof path, "%s/dirty", flr_test_models_dir());
    DIR *folder = opendir(path);
    if (!folder) skip();
    flr_test_random r = flr_test_random_begin("dirty_models");
    uint64_t asked = 0, hits = 0, segments = wanted_segments(SEGMENTS), work = 0;
    flr_mesh *meshes[64];
    int count = 0;
    struct dirent *entry;
    while ((entry = readdir(folder)) && count < 64) {
        flr_mesh_options options = flr_default_mesh_options();
        options.tolerant = true;
        snprintf(path, sizeof path, "%s/dirty/%s", flr_test_models_dir(), entry->d_name);
        if (flr_mesh_read(flr_env_real(), path, &options, &meshes[count], NULL, NULL) == FLR_OK)
            count++;
    }
    closedir(folder);
    assert_gt(count, 10);
    /* shares of the segments so that each model takes about as long, but none less than a tenth of an equal share */
    for (int i = 0; i < count; i++) work += 1000000 / (meshes[i]->triangle_count + 100) + 100;
    for (int i = 0; i < count; i++) {
        uint64_t share = 1000000 / (meshes[i]->triangle_count + 100) + 100;
        compare_mesh(meshes[i], segments * share / work + 1, &r, &asked, &hits);
        flr_mesh_destroy(meshes[i]);
    }
    print_message("%d models, %llu segments, %llu hits\n", count, (unsigned long long)asked,
                  (unsigned long long)hits);
    assert_gt(hits, asked / 10);
    assert_lt(hits, asked);
}

/* ---- no crack ---- */

/* From inside a closed body to the outside there is always a hit, also straight through edges and corners. */
static void nothing_gets_out(void **state)
{
    (void)state;
    flr_test_random r = flr_test_random_begin("nothing_gets_out");
    flr_test_shape shape = {0};
    flr_test_shape_sphere(&shape, 1, 24, 16);
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    models m = make_models(mesh);
    for (int i = 0; i < SMALL; i++) {
        flr_vec3 on = point_on(&r, mesh), inside = flr_vec3_zero();
        if (i % 2) inside = flr_vec3_scale(point_in(&r, mesh->bounds), 0.4);
        flr_vec3 out = flr_vec3_lerp(inside, on, 1.5 + any_of(&r, 0, 10));
        assert_true(flr_probe_any(m.model[i % m.count], inside, out, NULL));
        assert_true(flr_probe_any(m.model[i % m.count], out, inside, NULL));
    }
    free_models(&m);
    flr_test_shape_free(&shape);
}

/* ---- what must be defined ---- */

static void odd_segments(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 5);
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    models m = make_models(mesh);
    const double odd[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < m.count; i++) {
        for (int k = 0; k < 3; k++) {
            flr_vec3 p = flr_vec3_make(0, odd[k], 0), q = flr_vec3_zero();
            assert_false(flr_probe_first(m.model[i], p, q, NULL, NULL));
            assert_false(flr_probe_any(m.model[i], q, p, NULL));
        }
        /* no length: on the surface, and not */
        assert_true(flr_probe_any(m.model[i], flr_vec3_make(0.5, 0.1, 0.1),
                                  flr_vec3_make(0.5, 0.1, 0.1), NULL));
        assert_false(flr_probe_any(m.model[i], flr_vec3_zero(), flr_vec3_zero(), NULL));
        /* enormous */
        const double far[] = {1e6, 1e12, 1e30, 1e150, 1e300, 1.7e308};
        for (int k = 0; k < 6; k++) {
            flr_vec3 d = flr_vec3_make(far[k], far[k] / 2, far[k] / 4);
            flr_probe_hit hit;
            assert_true(flr_probe_first(m.model[i], flr_vec3_neg(d), d, NULL, &hit));
            assert_lt(fabs(hit.t - 0.5), 1e-5);
            compare(&m, i, mesh, flr_vec3_neg(d), d);
            compare(&m, i, mesh, d, flr_vec3_make(d.x, -d.y, d.z));
            compare(&m, i, mesh, flr_vec3_make(0.1, 0.2, -d.z), flr_vec3_make(0.1, 0.2, d.z));
        }
        compare(&m, i, mesh, flr_vec3_make(1e-320, 0, 0), flr_vec3_make(1, 1e-310, 0));
    }
    free_models(&m);
    flr_test_shape_free(&shape);
}

static void no_triangles(void **state)
{
    (void)state;
    models m = make_models(NULL);
    for (int i = 0; i < m.count; i++) {
        flr_vec3 a = flr_vec3_make(-1, 0, 0), b = flr_vec3_make(1, 0, 0);
        assert_false(flr_probe_first(m.model[i], a, b, NULL, NULL));
        assert_false(flr_probe_any(m.model[i], a, b, NULL));
        assert_false(flr_probe_touch(m.model[i], a, b, NULL).collision);
    }
    assert_false(flr_probe_reference(NULL, flr_vec3_zero(), flr_vec3_zero(), NULL));
    free_models(&m);

    /* triangles without area are as good as none */
    flr_test_shape shape = {0};
    for (int i = 0; i < 3; i++) flr_test_shape_vertex(&shape, i, i, i);
    flr_test_shape_triangle(&shape, 0, 1, 2);
    flr_test_shape_triangle(&shape, 0, 0, 1);
    m = make_models(flr_test_shape_mesh(&shape));
    for (int i = 0; i < m.count; i++)
        assert_false(flr_probe_any(m.model[i], flr_vec3_zero(), flr_vec3_make(2, 2, 2), NULL));
    free_models(&m);
    flr_test_shape_free(&shape);
}

static void bad_arguments(void **state)
{
    (void)state;
    const double bad[] = {-1, NAN, INFINITY};
    for (int i = 0; i < 3; i++) {
        flr_probe_def def = flr_default_probe_def();
        flr_probe_model *model = NULL;
        flr_error error;
        def.grain = bad[i];
        assert_int_equal(flr_probe_model_create(&def, &model, &error), FLR_BAD_ARGUMENT);
        assert_null(model);
    }
}

/* ---- remote couplings, witness, contact ---- */

static void the_lowest_number_wins(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    /* six triangles around a corner, some twice */
    flr_test_shape_vertex(&shape, 0, 0, 0);
    for (int i = 0; i < 6; i++) flr_test_shape_vertex(&shape, cos(i), sin(i), 0);
    for (uint32_t i = 1; i < 6; i++) flr_test_shape_triangle(&shape, 0, i, i + 1);
    for (uint32_t i = 1; i < 6; i++) flr_test_shape_triangle(&shape, 0, i + 1, i);
    models m = make_models(flr_test_shape_mesh(&shape));
    for (int i = 0; i < m.count; i++) {
        flr_probe_hit hit;
        assert_true(flr_probe_first(m.model[i], flr_vec3_make(0, 0, 1), flr_vec3_make(0, 0, -1),
                                    NULL, &hit));
        assert_int_equal(hit.triangle, 0);
        assert_eq(hit.t, 0.5);
        assert_eq(hit.point.z, 0);
        assert_eq(hit.normal.z, 1);
    }
    free_models(&m);
    flr_test_shape_free(&shape);
}

static void touching_a_wedge(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(2, 2, 2), 4);
    models m = make_models(flr_test_shape_mesh(&shape));
    for (int i = 0; i < m.count; i++) {
        flr_probe_witness witness = flr_probe_witness_none();
        flr_vec3 last = flr_vec3_make(0.1, 0.2, 1.1), now = flr_vec3_make(0.3, 0.2, 0.8);
        flr_probe_contact c = flr_probe_touch(m.model[i], last, now, &witness);
        assert_true(c.collision);
        assert_false(c.intersection);
        assert_int_equal(witness.triangle, c.first.triangle);
        assert_lt(fabs(c.surface.x - 0.3), 1e-12);
        assert_lt(fabs(c.surface.z - 1), 1e-8);
        assert_gt(c.surface.z, 1);
        c = flr_probe_touch(m.model[i], last, flr_vec3_make(0.1, 0.2, 1.05), &witness);
        assert_false(c.collision);
    }
    free_models(&m);
    flr_test_shape_free(&shape);
    /* in a narrow groove the suggested point lies behind the other side */
    flr_test_shape groove = {0};
    for (int i = 0; i < 2; i++) {
        uint32_t a = flr_test_shape_vertex(&groove, 0, -1, 0);
        flr_test_shape_vertex(&groove, 0, 1, 0);
        flr_test_shape_vertex(&groove, i ? 0.1 : -0.1, 0, 1);
        flr_test_shape_triangle(&groove, a, a + 1, a + 2);
    }
    m = make_models(flr_test_shape_mesh(&groove));
    for (int i = 0; i < m.count; i++) {
        flr_probe_contact c = flr_probe_touch(m.model[i], flr_vec3_make(0.01, 0, 0.3),
                                              flr_vec3_make(0.3, 0, -0.3), NULL);
        assert_true(c.collision);
        assert_true(c.intersection);
        assert_int_not_equal(c.first.triangle, c.next.triangle);
    }
    free_models(&m);
    flr_test_shape_free(&groove);
}

static flr_result make_one(void *context, flr_error *error)
{
    flr_probe_def def = flr_default_probe_def();
    flr_probe_model *model;
    flr_test_shape *shape = context;
    def.mesh = flr_test_shape_mesh(shape);
    def.method = (flr_probe_method)(shape->group.name % 10);
    def.shading = true;
    flr_result result = flr_probe_model_create(&def, &model, error);
    if (result == FLR_OK) flr_probe_model_destroy(model);
    return result;
}

static void memory_runs_out(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sphere(&shape, 1, 12, 8);
    for (uint32_t method = FLR_PROBE_GRID; method <= FLR_PROBE_HYBRID; method++) {
        flr_test_shape_mesh(&shape);
        shape.group.name = method;
        assert_gt(flr_fail_alloc_each(make_one, &shape), 1);
    }
    shape.group.name = 0;
    flr_test_shape_free(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_shapes),     cmocka_unit_test(nothing_gets_out),
        cmocka_unit_test(odd_segments),     cmocka_unit_test(no_triangles),
        cmocka_unit_test(bad_arguments),    cmocka_unit_test(the_lowest_number_wins),
        cmocka_unit_test(touching_a_wedge), cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(dirty_models),
    };
    return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
