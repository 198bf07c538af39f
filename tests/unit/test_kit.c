/* the geometry kit: every solid is closed, faces outwards and has the size it should */
#include "models/kit.h"
#include "support/closed.h"
#include "support/fail_alloc.h"
#include "support/test.h"

#include <math.h>

static flr_mesh *finished(flr_kit *kit)
{
    flr_error error;
    flr_mesh *mesh = NULL;
    assert_ok(flr_kit_finish(kit, &mesh, &error), error);
    return mesh;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.12g is not %.12g within %g", value, expected, tolerance);
}

/* ---- numbers and frames ---- */

static void test_sine(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("test_sine");
    for (int i = 0; i < 20000; i++) {
        double turns = flr_test_random_range(&random, -3, 3),
               a = turns * 2 * 3.14159265358979323846;
        assert_near(flr_kit_sin(turns), sin(a), 4e-15);
        assert_near(flr_kit_cos(turns), cos(a), 4e-15);
        double r = flr_test_random_range(&random, 0.1, 10);
        double angle = flr_kit_angle(r * flr_kit_cos(turns), r * flr_kit_sin(turns));
        double difference = angle - turns;
        assert_near(difference, floor(difference + 0.5), 1e-14);
    }
    for (int quarter = -8; quarter <= 8; quarter++) {
        double s = flr_kit_sin(quarter / 4.0), c = flr_kit_cos(quarter / 4.0);
        assert_true(s == 0 || s == 1 || s == -1);
        assert_eq(s * s + c * c, 1);
    }
}

static void test_frames(void **state)
{
    (void)state;
    flr_pose frame = flr_kit_frame(v3(1, 2, 3), v3(0, 5, 0), v3(7, 7, 0));
    flr_vec3 p = flr_kit_point(frame, 2, 0, 3);
    assert_near(p.x, 3, 1e-12);
    assert_near(p.y, 5, 1e-12);
    assert_near(p.z, 3, 1e-12);
    flr_kit kit = flr_kit_begin(1);
    flr_kit_push(&kit, flr_kit_turn_z(flr_kit_at(1, 0, 0), 0.25));
    flr_kit_push(&kit, flr_kit_at(2, 0, 0));
    flr_kit_box(&kit, flr_kit_at(0, 0, 0), 0.2, 0.4, 0.6, 0);
    flr_kit_pop(&kit);
    flr_kit_pop(&kit);
    flr_box3 box = flr_kit_bounds(&kit);
    assert_near(box.low.x, 0.8, 1e-12);
    assert_near(box.high.y, 2.1, 1e-12);
    flr_kit_free(&kit);
}

/* ---- solids ---- */

static void test_volumes(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    flr_kit kit = flr_kit_begin(1);
    flr_kit_box(&kit, flr_kit_at(0, 0, 0), 2, 3, 4, 0);
    flr_mesh *mesh = finished(&kit);
    assert_near(flr_test_volume(mesh), 24, 1e-12);
    flr_mesh_destroy(mesh);

    /* a chamfered box loses 12 edges and gets 8 corner cuts counted once */
    kit = flr_kit_begin(1);
    flr_kit_box(&kit, flr_kit_at(0, 0, 0), 2, 3, 4, 0.1);
    mesh = finished(&kit);
    assert_int_equal(mesh->triangle_count, 44);
    assert_near(flr_test_volume(mesh),
                24 - 4 * (1.8 + 2.8 + 3.8) * 0.1 * 0.1 / 2 - 8 * 5.0 / 6 * 0.001, 1e-9);
    flr_mesh_destroy(mesh);

    kit = flr_kit_begin(1);
    kit.chord = 1e-5;
    flr_kit_tube(&kit, flr_kit_at(0, 0, 0), 0.5, 0.3, 2);
    mesh = finished(&kit);
    assert_near(flr_test_volume(mesh), pi * (0.25 - 0.09) * 2, 1e-3);
    flr_mesh_destroy(mesh);

    kit = flr_kit_begin(1);
    kit.chord = 1e-5;
    flr_kit_sphere(&kit, flr_kit_at(0, 0, 0), 0.5);
    mesh = finished(&kit);
    assert_near(flr_test_volume(mesh), pi / 6, 1e-3);
    flr_mesh_destroy(mesh);

    kit = flr_kit_begin(1);
    kit.chord = 1e-5;
    flr_kit_torus(&kit, flr_kit_at(0, 0, 0), 0.5, 0.1);
    mesh = finished(&kit);
    assert_near(flr_test_volume(mesh), 2 * pi * 0.5 * pi * 0.01, 1e-3);
    flr_mesh_destroy(mesh);
}

static void test_plate_with_holes(void **state)
{
    (void)state;
    flr_kit kit = flr_kit_begin(1);
    kit.chord = 2e-5;
    flr_kit_plate(&kit, flr_kit_at(0, 0, 0), 1, 0.6, 0.01, 0.05, 5, 3, 0.06);
    flr_mesh *mesh = finished(&kit);
    const double pi = 3.14159265358979323846;
    double area = 1 * 0.6 - (4 - pi) * 0.0025 - 15 * pi * 0.0036;
    assert_near(flr_test_volume(mesh), 0.01 * area, 2e-5);
    assert_int_equal(flr_test_assert_closed(mesh), 1);
    flr_mesh_destroy(mesh);
}

/* random polygons around a middle with random holes: the triangles' area is the figure's */
static void test_random_outlines(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("test_random_outlines");
    for (int round = 0; round < 300; round++) {
        flr_kit kit = flr_kit_begin(1);
        kit.chord = 0.002;
        flr_kit_outline o;
        flr_outline_clear(&o);
        int n = 3 + (int)flr_test_random_below(&random, 40);
        double expected = 0, x0 = 0, y0 = 0, x1 = 0, y1 = 0;
        for (int i = 0; i < n; i++) {
            double r = flr_test_random_range(&random, 0.8, 1.6), a = (double)i / n;
            double x = r * flr_kit_cos(a), y = r * flr_kit_sin(a);
            flr_outline_point(&o, x, y);
            if (i == 0) x1 = x, y1 = y;
            if (i > 0) expected += (x0 * y - y0 * x) / 2;
            x0 = x;
            y0 = y;
        }
        expected += (x0 * y1 - y0 * x1) / 2;
        flr_outline_close(&o);
        for (int hole = 0; n >= 8 && hole < 9; hole++) {
            double r = flr_test_random_range(&random, 0.02, 0.09);
            int sides = flr_kit_sides(&kit, r);
            flr_outline_circle(&kit, &o, 0.2 * (hole % 3 - 1), 0.2 * (hole / 3 - 1), r);
            expected -= sides * r * r * flr_kit_sin(1.0 / sides) / 2;
        }
        flr_kit_prism(&kit, flr_kit_at(0, 0, 0), &o, 1);
        flr_mesh *mesh = finished(&kit);
        assert_near(flr_test_volume(mesh), expected, 1e-9);
        assert_int_equal(flr_test_assert_closed(mesh), 1);
        flr_mesh_destroy(mesh);
    }
}

static void test_sweep(void **state)
{
    (void)state;
    /* a mitred beam around a rectangle's three sides: section times the middle line's length */
    flr_kit kit = flr_kit_begin(1);
    flr_kit_outline o;
    flr_outline_clear(&o);
    flr_outline_rect(&kit, &o, 0, 0, 0.1, 0.2, 0);
    flr_vec3 path[4] = {{0, 0, 0}, {2, 0, 0}, {2, 3, 0}, {0, 3, 0}};
    flr_kit_sweep(&kit, path, 4, v3(0, 0, 1), &o, NULL);
    flr_mesh *mesh = finished(&kit);
    assert_near(flr_test_volume(mesh), 0.02 * 7, 1e-12);
    assert_near(mesh->bounds.high.x, 2.05, 1e-12);
    assert_near(mesh->bounds.high.z, 0.1, 1e-12);
    assert_int_equal(flr_test_assert_closed(mesh), 1);
    flr_mesh_destroy(mesh);

    /* a bent pipe: its volume is that of the straight one of the same length */
    kit = flr_kit_begin(1);
    kit.chord = 1e-5;
    flr_kit_pipe(&kit, path, 4, 0.05, 0.04, 0.5);
    mesh = finished(&kit);
    const double pi = 3.14159265358979323846;
    assert_near(flr_test_volume(mesh), pi * 0.0009 * (7 - 4 * 0.5 + pi * 0.5), 1e-4);
    assert_int_equal(flr_test_assert_closed(mesh), 1);
    flr_mesh_destroy(mesh);
}

/* one of everything, turned any way */
static void brick(flr_kit *kit, int kind, flr_pose at)
{
    flr_kit_outline o;
    flr_outline_clear(&o);
    flr_vec3 way[4] = {{0, 0, 0}, {0.3, 0, 0.1}, {0.3, 0.4, 0}, {0.7, 0.4, 0.2}};
    switch (kind) {
    case 0:
        flr_outline_beam_i(kit, &o, 0.06, 0.1, 0.004);
        break;
    case 1:
        flr_outline_beam_l(kit, &o, 0.06, 0.1, 0.004);
        break;
    case 2:
        flr_outline_beam_c(kit, &o, 0.06, 0.1, 0.004);
        break;
    case 3:
        flr_outline_beam_t(kit, &o, 0.06, 0.1, 0.004);
        break;
    case 4:
        flr_outline_beam_z(kit, &o, 0.03, 0.1, 0.004);
        break;
    case 5:
        flr_outline_beam_hat(kit, &o, 0.06, 0.05, 0.02, 0.003);
        break;
    case 6:
        flr_kit_box(kit, at, 0.1, 0.2, 0.3, 0.01);
        return;
    case 7:
        flr_kit_rounded_cylinder(kit, at, 0.05, 0.2, 0.01);
        return;
    case 8:
        flr_kit_cone(kit, at, 0.05, 0, 0.2);
        return;
    case 9:
        flr_kit_sphere(kit, at, 0.05);
        return;
    case 10:
        flr_kit_bundle(kit, way, 4, 12, 0.002, 0.03, 0.1);
        return;
    case 11:
        flr_kit_spring(kit, at, 0.05, 0.006, 0.2, 7);
        return;
    case 12:
        flr_kit_bolt(kit, at, 0.01, 0.03);
        return;
    case 13:
        flr_kit_bolt_circle(kit, at, 0.1, 8, 0.01, 0);
        return;
    case 14:
        flr_kit_rivet_row(kit, v3(0, 0, 0), v3(1, 0, 0), v3(0, 1, 1), 7, 0.005);
        return;
    case 15:
        flr_kit_flange(kit, at, 0.1, 0.05, 0.02, 6, 0.01);
        return;
    case 16:
        flr_kit_flange(kit, at, 0.1, 0, 0.02, 6, 0.01);
        return;
    case 17:
        flr_kit_clevis(kit, at, 0.05, 0.02, 0.02, 0.05, 0.1, 0.12);
        return;
    case 18:
        flr_kit_pin(kit, at, 0.02, 0.1);
        return;
    case 19:
        flr_kit_bracket(kit, at, 0.08, 0.06, 0.004, 0.006);
        return;
    case 20:
        flr_kit_clamp(kit, at, 0.01, 0.05);
        return;
    case 21:
        flr_kit_connector(kit, at, 0.02);
        return;
    case 22:
        flr_kit_union(kit, at, 0.01);
        return;
    default:
        flr_kit_torus(kit, at, 0.1, 0.02);
        return;
    }
    flr_kit_sweep(kit, way, 4, v3(0, 0, 1), &o, NULL);
}

static void test_closed(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("test_closed");
    for (int kind = 0; kind <= 23; kind++) {
        flr_kit kit = flr_kit_begin(1);
        flr_pose at = flr_kit_at(0.3, -0.2, 0.1);
        at = flr_kit_turn_x(at, flr_test_random_range(&random, 0, 1));
        at = flr_kit_turn_y(at, flr_test_random_range(&random, 0, 1));
        brick(&kit, kind, at);
        flr_mesh *mesh = finished(&kit);
        flr_test_assert_closed(mesh);
        flr_mesh_destroy(mesh);
    }
}

/* ---- refinement and trouble ---- */

static double area_of(const flr_kit *kit)
{
    double area = 0;
    for (size_t i = 0; i < kit->triangle_count; i++) {
        const uint32_t *v = kit->triangles[i].v;
        flr_vec3 a = kit->vertices[v[0]], side = flr_vec3_sub(kit->vertices[v[1]], a);
        area += flr_vec3_length(flr_vec3_cross(side, flr_vec3_sub(kit->vertices[v[2]], a)));
    }
    return area / 2;
}

static void test_refine(void **state)
{
    (void)state;
    for (size_t wanted = 700; wanted < 20000; wanted = wanted * 5 / 3) {
        flr_kit kit = flr_kit_begin(1);
        flr_kit_plate(&kit, flr_kit_at(0, 0, 0), 1, 0.6, 0.01, 0.05, 3, 1, 0.05);
        double area = area_of(&kit);
        flr_kit_refine_to(&kit, wanted);
        assert_int_equal(kit.triangle_count, wanted & ~(size_t)1);
        assert_near(area_of(&kit), area, 1e-12);
        flr_mesh *mesh = finished(&kit);
        assert_int_equal(flr_test_assert_closed(mesh), 1);
        flr_mesh_destroy(mesh);
    }
}

static void test_trouble(void **state)
{
    (void)state;
    flr_error error;
    flr_mesh *mesh = NULL;
    /* fewer triangles than there are */
    flr_kit kit = flr_kit_begin(1);
    flr_kit_box(&kit, flr_kit_at(0, 0, 0), 1, 1, 1, 0);
    flr_kit_refine_to(&kit, 6);
    assert_int_equal(flr_kit_finish(&kit, &mesh, &error), FLR_TOO_LARGE);
    assert_null(mesh);
    /* a figure that crosses itself */
    kit = flr_kit_begin(1);
    flr_kit_outline o;
    flr_outline_clear(&o);
    flr_outline_point(&o, 0, 0);
    flr_outline_point(&o, 1, 0);
    flr_outline_point(&o, 2, 0);
    flr_outline_close(&o);
    flr_kit_prism(&kit, flr_kit_at(0, 0, 0), &o, 1);
    assert_int_equal(flr_kit_finish(&kit, &mesh, &error), FLR_BAD_ARGUMENT);
    /* a profile beyond its axis */
    kit = flr_kit_begin(1);
    flr_outline_clear(&o);
    flr_outline_rect(&kit, &o, 0, 0, 1, 1, 0);
    flr_kit_revolve(&kit, flr_kit_at(0, 0, 0), &o, 8);
    assert_int_equal(flr_kit_finish(&kit, &mesh, &error), FLR_BAD_ARGUMENT);
    /* nothing but points */
    kit = flr_kit_begin(1);
    for (int i = 0; i < 3; i++) flr_kit_vertex(&kit, v3(1, 1, 1));
    flr_kit_triangle(&kit, 0, 1, 2);
    flr_kit_triangle(&kit, 0, 2, 1);
    flr_kit_refine_to(&kit, 10);
    assert_int_equal(flr_kit_finish(&kit, &mesh, &error), FLR_BAD_ARGUMENT);
    /* too deep */
    kit = flr_kit_begin(1);
    for (int i = 0; i <= FLR_KIT_FRAMES; i++) flr_kit_push(&kit, flr_kit_at(0, 0, 1));
    assert_int_equal(flr_kit_finish(&kit, &mesh, &error), FLR_TOO_LARGE);
    assert_null(mesh);
}

/* ---- memory ---- */

static flr_result build_some(void *context, flr_error *error)
{
    (void)context;
    flr_kit kit = flr_kit_begin(1);
    flr_kit_plate(&kit, flr_kit_at(0, 0, 0), 1, 0.6, 0.01, 0.05, 5, 3, 0.06);
    flr_kit_spring(&kit, flr_kit_at(0, 0, 0), 0.05, 0.006, 0.2, 7);
    flr_kit_refine_to(&kit, 20000);
    flr_mesh *mesh = NULL;
    flr_result result = flr_kit_finish(&kit, &mesh, error);
    if (result == FLR_OK) flr_mesh_destroy(mesh);
    return result;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    assert_gt(flr_fail_alloc_each(build_some, NULL), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sine),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_plate_with_holes),
        cmocka_unit_test(test_random_outlines),
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_closed),
        cmocka_unit_test(test_refine),
        cmocka_unit_test(test_trouble),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("kit", tests, NULL, NULL);
}
