/* winding numbers: by a ray and the border, against all solid angles */
#include <math.h>

#include "feeler/fit.h"
#include "fit/fit_internal.h"
#include "support/fixtures.h"

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

/* 0: a closed torus, 1: doubled, 2: two that pass through each other, 3: with a hole, 4: a few triangles turned over,
 * 5: a part of it twice, and another part missing. */
enum { KINDS = 6 };
static void make(flr_test_shape *s, int kind, flr_test_random *random)
{
    flr_test_shape_torus(s, 0.02, 0.008, 20, 12);
    const uint32_t vertices = s->vertex_count, triangles = s->triangle_count;
    if (kind == 1 || kind == 2) flr_test_shape_torus(s, 0.02, 0.008, 20, 12);
    if (kind == 2) flr_test_shape_move(s, vertices, flr_test_random_pose(random, 0.02), 1);
    if (kind == 3 || kind == 5) s->triangle_count -= 30;
    for (uint32_t i = 0; i < 6 && kind == 4; i++) {
        flr_triangle *t = &s->triangles[flr_test_random_below(random, triangles)];
        const uint32_t first = t->v[0];
        t->v[0] = t->v[1], t->v[1] = first;
    }
    for (uint32_t i = 0; i < 20 && kind == 5; i++) {
        const flr_triangle t = s->triangles[i];
        flr_test_shape_triangle(s, t.v[0], t.v[1], t.v[2]);
    }
}

static flr_vec3 somewhere(flr_test_random *random, double reach)
{
    const double x = flr_test_random_range(random, -reach, reach),
                 y = flr_test_random_range(random, -reach, reach),
                 z = flr_test_random_range(random, -reach, reach);
    return flr_vec3_make(x, y, z);
}

static void winding_numbers_equal_all_solid_angles(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("winding numbers equal all solid angles");
    for (int kind = 0; kind < KINDS; kind++) {
        flr_test_shape s = {0};
        make(&s, kind, &random);
        flr_mesh *mesh = tidy(&s);
        flr_fit *fit = flr_test_fit(mesh);
        int inside = 0;
        assert_int_equal(flr_fit_is_closed(fit), kind < 3);
        assert_false(flr_fit_border_is_long(fit));
        for (int i = 0; i < 1000; i++) {
            /* on rays through vertices and edges, too */
            flr_vec3 p = somewhere(&random, 0.03);
            if (i % 4 == 1) p.x = s.vertices[flr_test_random_below(&random, s.vertex_count)].x;
            if (i % 4 == 2) p = flr_vec3_scale(s.vertices[(uint32_t)i % s.vertex_count], 0.9);
            const double plain = flr_fit_reference_winding(mesh, p);
            assert_within(flr_fit_winding(fit, p), plain, 1e-9);
            inside += fabs(plain) > 0.5;
            if (fabs(fabs(plain) - 0.5) > 1e-6 && fabs(p.z) < 0.0079)
                assert_int_equal(flr_fit_inside(fit, p), fabs(plain) > 0.5);
        }
        assert_true(inside > 50 && inside < 900);
        flr_fit_destroy(fit);
        flr_mesh_destroy(mesh);
        flr_test_shape_free(&s);
    }
}

/* Between points that a straight way joins, winding numbers differ by no more than is said. */
static void changes_are_bounded(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("changes of winding numbers are bounded");
    for (int kind = 0; kind < KINDS; kind++) {
        flr_test_shape s = {0};
        make(&s, kind, &random);
        flr_mesh *mesh = tidy(&s);
        flr_fit *fit = flr_test_fit(mesh);
        unsigned known = 0;
        for (int i = 0; i < 2000; i++) {
            const flr_vec3 p = somewhere(&random, 0.03), d = somewhere(&random, 0.003);
            const double radius = flr_vec3_length(d);
            if (flr_fit_point(fit, p, 1).distance < radius) continue;
            if (fabs(flr_fit_point(fit, p, 1).distance) < radius) continue;
            const double change = flr_fit_winding_change(fit, p, radius),
                         first = flr_fit_reference_winding(mesh, p),
                         second = flr_fit_reference_winding(mesh, flr_vec3_add(p, d));
            assert_true(fabs(first - second) <= change + 1e-12);
            assert_true(kind > 2 || change == 0);
            known += change < 0.3;
        }
        assert_true(known > 500);
        flr_fit_destroy(fit);
        flr_mesh_destroy(mesh);
        flr_test_shape_free(&s);
    }
}

/* Where the nearest triangle is said to tell the side, it does. */
static void triangles_tell_the_side(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("triangles tell the side");
    unsigned told = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        flr_test_shape s = {0};
        make(&s, kind, &random);
        flr_mesh *mesh = tidy(&s);
        flr_fit *fit = flr_test_fit(mesh);
        for (int i = 0; i < 2000; i++) {
            const flr_triangle *t = &s.triangles[flr_test_random_below(&random, s.triangle_count)];
            const double u = flr_test_random_range(&random, 0, 1),
                         v = flr_test_random_range(&random, 0, 1 - u);
            const flr_vec3 a = s.vertices[t->v[0]], ab = flr_vec3_sub(s.vertices[t->v[1]], a),
                           ac = flr_vec3_sub(s.vertices[t->v[2]], a);
            const flr_vec3 p =
                flr_vec3_add(flr_vec3_add_scaled(flr_vec3_add_scaled(a, u, ab), v, ac),
                             somewhere(&random, i % 2 ? 1e-6 : 2e-3));
            const flr_fit_point_result r = flr_fit_point(fit, p, 1);
            const double plain = fabs(flr_fit_reference_winding(mesh, p));
            if (fabs(plain - 0.5) < 1e-9 || !flr_fit_may_be_inside(fit, p)) continue;
            assert_int_equal(r.distance<0, plain> 0.5);
            told += fit->sides[r.triangle] != 0;
        }
        flr_fit_destroy(fit);
        flr_mesh_destroy(mesh);
        flr_test_shape_free(&s);
    }
    assert_true(told > 2200);
}

/* Seen from far away and with a border of many edges, it is known to a few hundredths. */
static void a_long_border_is_known_roughly(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("a long border is known roughly");
    flr_test_shape s = {0};
    for (int i = 0; i < 600; i++) {
        const flr_vec3 at = somewhere(&random, 0.02);
        uint32_t v[3];
        for (int k = 0; k < 3; k++) {
            const flr_vec3 p = flr_vec3_add(at, somewhere(&random, 0.004));
            v[k] = flr_test_shape_vertex(&s, p.x, p.y, p.z);
        }
        flr_test_shape_triangle(&s, v[0], v[1], v[2]);
    }
    flr_mesh *mesh = tidy(&s);
    flr_fit *fit = flr_test_fit(mesh);
    assert_true(flr_fit_border_is_long(fit));
    assert_true(isinf(flr_fit_winding_change(fit, flr_vec3_zero(), 1e-3)));
    for (int i = 0; i < 300; i++) {
        const flr_vec3 p = somewhere(&random, 0.03);
        assert_within(flr_fit_winding(fit, p), flr_fit_reference_winding(mesh, p), 0.1);
    }
    flr_fit_destroy(fit);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(winding_numbers_equal_all_solid_angles),
        cmocka_unit_test(changes_are_bounded),
        cmocka_unit_test(triangles_tell_the_side),
        cmocka_unit_test(a_long_border_is_known_roughly),
    };
    return cmocka_run_group_tests_name("fit winding", tests, NULL, NULL);
}
