/* feeler/mesh_check.h: closed forms, how results change with the mesh, and the rules for bad meshes */
#include "feeler/mesh_check.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/test.h"

static const double PI = 3.14159265358979323846;

static void assert_close(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * fabs(b)))
        fail_msg("%.17g is not %.17g, off by a factor 1 + %g", a, b, a / b - 1);
}

static void assert_vec_near(flr_vec3 a, flr_vec3 b, double tolerance)
{
    if (!(flr_vec3_distance(a, b) <= tolerance))
        fail_msg("(%g %g %g) is not (%g %g %g)", a.x, a.y, a.z, b.x, b.y, b.z);
}

/* relative to the size of b's tensor; the centre within `length` times that */
static void assert_inertia_close(flr_inertia a, flr_inertia b, double relative, double length)
{
    assert_close(a.mass, b.mass, relative);
    assert_vec_near(a.centre, b.centre, relative * length);
    double size = b.tensor.m[0][0] + b.tensor.m[1][1] + b.tensor.m[2][2];
    for (int i = 0; i < 3; i++)
        assert_vec_near(flr_mat3_row(a.tensor, i), flr_mat3_row(b.tensor, i), relative * size);
}

static flr_mass mass_of(flr_test_shape *shape, double density)
{
    flr_mass mass;
    flr_error error;
    assert_ok(flr_mass_compute(flr_test_shape_mesh(shape), NULL, density, &mass, &error), error);
    assert_true(flr_inertia_is_valid(mass.inertia));
    assert_close(mass.inertia.mass, density * mass.volume, 1e-14);
    return mass;
}

static void test_box(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_vec3 size = {1, 2, 3};
    flr_test_shape_box(&shape, size, 3);
    flr_mass mass = mass_of(&shape, 5);
    assert_true(mass.closed);
    assert_false(mass.inverted);
    assert_int_equal(mass.solid_count, 1);
    assert_int_equal(mass.sheet_count + mass.cavity_count + mass.turned_count, 0);
    assert_close(mass.area, 22, 1e-14);
    assert_close(mass.signed_volume, 6, 1e-14);
    assert_eq(mass.open_area, 0);
    assert_inertia_close(mass.inertia, flr_inertia_box(30, size), 1e-14, 1);
    flr_test_shape_free(&shape);
}

static void test_tetrahedron(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_tetrahedron(&shape, 2, 3, 4);
    flr_mass mass = mass_of(&shape, 1);
    /* V = abc/6, centre at a quarter; about the corner the integral of x^2 is V a^2/10 and that
     * of xy is V ab/20 */
    assert_close(mass.volume, 4, 1e-14);
    assert_vec_near(mass.inertia.centre, flr_vec3_make(0.5, 0.75, 1), 1e-14);
    flr_mat3 about = flr_inertia_about(mass.inertia, flr_vec3_zero());
    assert_close(about.m[0][0], 4 * (9 + 16) / 10.0, 1e-13);
    assert_close(about.m[2][2], 4 * (4 + 9) / 10.0, 1e-13);
    assert_close(about.m[0][1], -4 * 6 / 20.0, 1e-13);
    assert_close(about.m[1][2], -4 * 12 / 20.0, 1e-13);
    flr_test_shape_free(&shape);
}

/* round shapes: the error falls with the square of the tessellation */
static void test_round_shapes(void **state)
{
    (void)state;
    double error[2][3];
    for (int fine = 0; fine < 2; fine++) {
        uint32_t n = fine ? 64 : 32;
        flr_inertia exact[3] = {
            flr_inertia_sphere(4 * PI / 3 * 8, 2),
            {.mass = PI * 3, .tensor = flr_mat3_diagonal(flr_vec3_make(3 * PI, 3 * PI, 1.5 * PI))},
            {.mass = 2 * PI * PI * 3 * 1}};
        /* torus, R = 3, r = 1: m (R^2/2 + 5 r^2/8) across, m (R^2 + 3 r^2/4) along */
        double m = exact[2].mass, across = m * (4.5 + 0.625), along = m * 9.75;
        exact[2].tensor = flr_mat3_diagonal(flr_vec3_make(across, across, along));
        for (int i = 0; i < 3; i++) {
            flr_test_shape shape = {0};
            if (i == 0) flr_test_shape_sphere(&shape, 2, 2 * n, n);
            if (i == 1) flr_test_shape_cylinder(&shape, 1, 3, n, 2);
            if (i == 2) flr_test_shape_torus(&shape, 3, 1, 2 * n, n);
            flr_mass mass = mass_of(&shape, 1);
            assert_inertia_close(mass.inertia, exact[i], 0.02, 1);
            error[fine][i] = 1 - mass.volume / exact[i].mass;
            flr_test_shape_free(&shape);
        }
    }
    for (int i = 0; i < 3; i++) assert_close(error[0][i] / error[1][i], 4, 0.02);
}

static void test_moved_turned_scaled(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("moved, turned, scaled");
    for (int round = 0; round < 50; round++) {
        flr_test_shape shape = {0};
        flr_test_shape_torus(&shape, 3, 1, 16, 9);
        flr_test_shape_box(&shape, flr_vec3_make(1, 2, 3), 1);
        flr_mass before = mass_of(&shape, 7);

        double far = pow(10, flr_test_random_range(&random, -1, 4));
        double scale = pow(10, flr_test_random_range(&random, -4, 2));
        flr_vec3 r = {flr_test_random_range(&random, -3, 3), flr_test_random_range(&random, -3, 3),
                      flr_test_random_range(&random, -3, 3)};
        flr_pose T =
            flr_pose_make(flr_vec3_make(far, -2 * far, far / 3), flr_quat_from_rotation_vector(r));
        flr_test_shape_move(&shape, 0, T, scale);
        flr_mass after = mass_of(&shape, 7);

        flr_inertia scaled = before.inertia;
        scaled.mass *= pow(scale, 3);
        scaled.centre = flr_vec3_scale(scaled.centre, scale);
        scaled.tensor = flr_mat3_scale(scaled.tensor, pow(scale, 5));
        /* only the rounding of the coordinates themselves, not its square or cube */
        double lost = 1e-15 * (1 + far / scale) * 20 + 1e-13;
        assert_inertia_close(after.inertia, flr_inertia_transform(T, scaled), lost, scale + far);
        assert_close(after.area, before.area * scale * scale, lost);
        flr_test_shape_free(&shape);
    }
}

static void test_inverted(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(2, 2, 2), 2);
    flr_test_shape_turn(&shape, 0);
    flr_mass mass = mass_of(&shape, 1);
    assert_true(mass.inverted);
    assert_true(mass.closed);
    assert_close(mass.signed_volume, -8, 1e-14);
    assert_inertia_close(mass.inertia, flr_inertia_box(8, flr_vec3_make(2, 2, 2)), 1e-14, 1);

    /* with a cavity, all of it inside out: still a hollow box */
    uint32_t first_vertex = shape.vertex_count;
    flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 1);
    mass = mass_of(&shape, 1);
    assert_true(mass.inverted);
    assert_int_equal(mass.cavity_count, 1);
    assert_close(mass.volume, 7, 1e-14);

    /* the small one moved out of the large: turned by itself, for the large one decides */
    flr_test_shape_move(&shape, first_vertex,
                        flr_pose_make(flr_vec3_make(5, 0, 0), flr_quat_identity()), 1);
    mass = mass_of(&shape, 1);
    assert_int_equal(mass.turned_count, 1);
    assert_int_equal(mass.solid_count, 2);
    assert_close(mass.volume, 9, 1e-14);
    flr_test_shape_free(&shape);
}

static void test_hollow(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(2, 2, 2), 2);
    uint32_t first = shape.triangle_count;
    flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 1);
    flr_test_shape_turn(&shape, first);
    flr_mass mass = mass_of(&shape, 1);
    assert_int_equal(mass.cavity_count, 1);
    assert_int_equal(mass.solid_count, 1);
    assert_close(mass.volume, 7, 1e-14);
    flr_inertia outer = flr_inertia_box(8, flr_vec3_make(2, 2, 2));
    flr_inertia inner = flr_inertia_box(1, flr_vec3_make(1, 1, 1)), hollow = outer;
    hollow.mass = 7;
    hollow.tensor = flr_mat3_sub(outer.tensor, inner.tensor);
    assert_inertia_close(mass.inertia, hollow, 1e-14, 1);

    /* the same cavity ten times, still less than there is */
    for (int i = 0; i < 9; i++) {
        first = shape.triangle_count;
        flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 1);
        flr_test_shape_turn(&shape, first);
    }
    flr_test_shape_box(&shape, flr_vec3_make(1.5, 1.5, 1.5), 1); /* keeps the sum above zero */
    mass = mass_of(&shape, 1);
    assert_false(mass.inverted);
    assert_int_equal(mass.cavity_count, 10);
    flr_test_shape_free(&shape);

    flr_test_shape_box(&shape, flr_vec3_make(2, 2, 2), 1);
    flr_test_shape_box(&shape, flr_vec3_make(0.1, 0.1, 0.1), 1);
    uint32_t at = shape.vertex_count;
    flr_test_shape_box(&shape, flr_vec3_make(2, 2, 2), 1); /* holds the sum up from elsewhere */
    flr_test_shape_move(&shape, at, flr_pose_make(flr_vec3_make(9, 0, 0), flr_quat_identity()), 1);
    first = shape.triangle_count;
    for (int i = 0; i < 3; i++) flr_test_shape_box(&shape, flr_vec3_make(1.7, 1.7, 1.7), 1);
    flr_test_shape_turn(&shape, first);
    mass = mass_of(&shape, 1);
    assert_false(mass.inverted);            /* 8 + 8 + 0.001 - 3 * 4.913 is above zero, */
    assert_int_equal(mass.cavity_count, 0); /* but 8 - 3 * 4.913 at the near box is not */
    assert_int_equal(mass.turned_count, 3);
    assert_int_equal(mass.solid_count, 6);
    assert_close(mass.volume, 16.001 + 3 * 4.913, 1e-12);
    flr_test_shape_free(&shape);
}

static void test_many_shells(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    for (int i = 0; i < 100; i++) { /* more solids than are kept as candidates */
        uint32_t at = shape.vertex_count;
        flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 1);
        double grow = 1 + (i * 37 % 100) / 100.0;
        flr_test_shape_move(&shape, at,
                            flr_pose_make(flr_vec3_make(3 * i, 0, 0), flr_quat_identity()), grow);
    }
    uint32_t first = shape.triangle_count, at = shape.vertex_count;
    flr_test_shape_box(&shape, flr_vec3_make(0.5, 0.5, 0.5), 1); /* in the largest, i = 27 */
    flr_test_shape_move(&shape, at, flr_pose_make(flr_vec3_make(81, 0, 0), flr_quat_identity()), 1);
    flr_test_shape_turn(&shape, first);
    flr_mass mass = mass_of(&shape, 1);
    assert_int_equal(mass.cavity_count, 1);
    assert_int_equal(mass.solid_count, 100);
    double volume = -0.125;
    for (int i = 0; i < 100; i++) volume += pow(1 + i / 100.0, 3);
    assert_close(mass.volume, volume, 1e-12);
    flr_test_shape_free(&shape);
}

static void test_holes(void **state)
{
    (void)state;
    /* a box without one triangle, without one face: closed flat, so exact */
    flr_test_shape shape = {0};
    flr_vec3 size = {1, 2, 3};
    flr_test_shape_box(&shape, size, 1);
    flr_test_shape_move(&shape, 0, flr_pose_make(flr_vec3_make(9, 8, 7), flr_quat_identity()), 1);
    flr_inertia whole = flr_inertia_box(6, size);
    whole.centre = flr_vec3_make(9, 8, 7);
    shape.triangle_count--;
    flr_mass mass = mass_of(&shape, 1);
    assert_false(mass.closed);
    assert_int_equal(mass.solid_count, 1);
    assert_close(mass.open_area, 1, 1e-13); /* half of the 1 x 2 top */
    assert_inertia_close(mass.inertia, whole, 1e-13, 10);
    shape.triangle_count--;
    mass = mass_of(&shape, 1);
    assert_close(mass.open_area, 2, 1e-13);
    assert_inertia_close(mass.inertia, whole, 1e-13, 10);
    assert_close(mass.area, 20, 1e-14);
    flr_test_shape_free(&shape);

    /* a tube: two holes, not one */
    flr_test_shape_cylinder(&shape, 1, 10, 64, 5);
    flr_mass closed = mass_of(&shape, 1);
    uint32_t kept = 0; /* leave out the caps, that is the triangles with a middle vertex */
    for (uint32_t t = 0; t < shape.triangle_count; t++)
        if (shape.triangles[t].v[0] < shape.vertex_count - 2)
            shape.triangles[kept++] = shape.triangles[t];
    shape.triangle_count = kept;
    shape.vertex_count -= 2;
    mass = mass_of(&shape, 1);
    assert_int_equal(mass.solid_count, 1);
    assert_inertia_close(mass.inertia, closed.inertia, 1e-13, 10);
    flr_test_shape_free(&shape);
}

static void test_flipped_triangles(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_vec3 size = {1, 2, 3};
    flr_test_shape_box(&shape, size, 4);
    for (uint32_t t = 5; t < shape.triangle_count; t += 67) {
        flr_triangle *triangle = &shape.triangles[t];
        *triangle = (flr_triangle){{triangle->v[1], triangle->v[0], triangle->v[2]}};
    }
    flr_mass mass = mass_of(&shape, 1);
    assert_false(mass.closed);
    assert_inertia_close(mass.inertia, flr_inertia_box(6, size), 1e-13, 1);
    flr_test_shape_free(&shape);
}

static double flat(double x, double y)
{
    (void)x, (void)y;
    return 0;
}

static void test_sheets(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sheet(&shape, 3, 4, 5, 6, flat);
    flr_mass mass = mass_of(&shape, 2);
    assert_int_equal(mass.sheet_count, 1);
    assert_int_equal(mass.solid_count, 0);
    assert_close(mass.volume, 12 * 0.05, 1e-14); /* diagonal 5, a hundredth thick */
    flr_inertia plate = flr_inertia_box(2 * 12 * 0.05, flr_vec3_make(3, 4, 0));
    plate.centre = flr_vec3_make(1.5, 2, 0);
    assert_inertia_close(mass.inertia, plate, 1e-13, 1);

    /* twice, back to back: closed, but still nothing inside */
    uint32_t count = shape.triangle_count;
    for (uint32_t t = 0; t < count; t++) {
        flr_triangle back = shape.triangles[t];
        flr_test_shape_triangle(&shape, back.v[2], back.v[1], back.v[0]);
    }
    mass = mass_of(&shape, 2);
    assert_int_equal(mass.sheet_count, 1);
    assert_close(mass.volume, 24 * 0.05, 1e-14);

    /* beside a solid box, each as it is */
    uint32_t at = shape.vertex_count;
    flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 1);
    flr_test_shape_move(&shape, at, flr_pose_make(flr_vec3_make(0, 0, 9), flr_quat_identity()), 1);
    mass = mass_of(&shape, 2);
    assert_int_equal(mass.sheet_count, 1);
    assert_int_equal(mass.solid_count, 1);
    assert_close(mass.volume, 24 * 0.05 + 1, 1e-13);
    flr_test_shape_free(&shape);
}

static void test_no_area(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    for (int i = 0; i < 3; i++) flr_test_shape_vertex(&shape, i, 2 * i, 3 * i);
    flr_test_shape_triangle(&shape, 0, 1, 2); /* a line */
    flr_test_shape_triangle(&shape, 1, 1, 1); /* a point */
    flr_mass mass, untouched;
    memset(&mass, 0x55, sizeof mass);
    untouched = mass;
    flr_error error;
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    assert_int_equal(flr_mass_compute(mesh, NULL, 1, &mass, &error), FLR_BAD_INPUT);
    assert_non_null(strstr(error.message, "no area"));

    const double bad[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++)
        assert_int_equal(flr_mass_compute(mesh, NULL, bad[i], &mass, &error), FLR_BAD_ARGUMENT);
    assert_memory_equal(&mass, &untouched, sizeof mass);

    /* beside something real they do not matter */
    flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 1);
    assert_close(mass_of(&shape, 1).volume, 1, 1e-14);
    flr_test_shape_free(&shape);
}

static flr_result compute_once(void *context, flr_error *error)
{
    flr_mass mass;
    return flr_mass_compute(context, NULL, 1, &mass, error);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sheet(&shape, 1, 1, 3, 3, flat);
    flr_mesh mesh = *flr_test_shape_mesh(&shape);
    assert_ge(flr_fail_alloc_each(compute_once, &mesh), 10);
    flr_test_shape_free(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box),
        cmocka_unit_test(test_tetrahedron),
        cmocka_unit_test(test_round_shapes),
        cmocka_unit_test(test_moved_turned_scaled),
        cmocka_unit_test(test_inverted),
        cmocka_unit_test(test_hollow),
        cmocka_unit_test(test_many_shells),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_flipped_triangles),
        cmocka_unit_test(test_sheets),
        cmocka_unit_test(test_no_area),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("mass", tests, NULL, NULL);
}
