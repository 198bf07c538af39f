/* polygons cut into triangles: n - 2 of them, which cover the polygon and nothing else */
#include "mesh/polygon.h"

#include <math.h>

#include "support/meshes.h"

/* an OBJ file with one face */
static flr_test_bytes one_face(const flr_vec3 *corners, unsigned count)
{
    flr_test_bytes file = {0};
    for (unsigned i = 0; i < count; i++)
        flr_test_put_text(&file, "v %.17g %.17g %.17g\n", corners[i].x, corners[i].y, corners[i].z);
    flr_test_put_text(&file, "f");
    for (unsigned i = 0; i < count; i++) flr_test_put_text(&file, " %u", i + 1);
    return file;
}

static flr_vec3 area_of(const flr_mesh *mesh, uint32_t triangle)
{
    const uint32_t *v = mesh->triangles[triangle].v;
    flr_vec3 a = mesh->vertices[v[0]];
    flr_vec3 cross = flr_vec3_cross(flr_vec3_sub(mesh->vertices[v[1]], a),
                                    flr_vec3_sub(mesh->vertices[v[2]], a));
    return flr_vec3_scale(cross, 0.5e6); // mm² to m²
}

/* cuts a plane polygon and checks that all triangles face as it does and that areas add up */
static void check_cut(const flr_vec3 *corners, unsigned count, bool degenerate_ok)
{
    flr_vec3 whole = flr_vec3_zero();
    for (unsigned i = 1; i + 1 < count; i++)
        whole = flr_vec3_add(
            whole, flr_vec3_scale(flr_vec3_cross(flr_vec3_sub(corners[i], corners[0]),
                                                 flr_vec3_sub(corners[i + 1], corners[0])),
                                  0.5));
    double area = flr_vec3_length(whole), sum = 0;
    flr_test_bytes file = one_face(corners, count);
    flr_mesh *mesh = flr_test_parse("a.obj", file.bytes, file.size, false, NULL);
    assert_int_equal(mesh->triangle_count, count - 2);
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        double part = flr_vec3_dot(area_of(mesh, t), whole) / area;
        if (degenerate_ok ? part < -1e-9 * area : part <= 0)
            fail_msg("triangle %u of a polygon with %u corners has area %g of %g", t, count, part,
                     area);
        sum += fabs(part);
    }
    if (fabs(sum - area) > 1e-9 * area) fail_msg("area %.17g, not %.17g", sum, area);
    flr_mesh_destroy(mesh);
    free(file.bytes);
}

/* anywhere in space */
static void turn_randomly(flr_test_random *random, flr_vec3 *corners, unsigned count)
{
    flr_quat q = flr_quat_normalize(
        flr_quat_make(flr_test_random_range(random, -1, 1), flr_test_random_range(random, -1, 1),
                      flr_test_random_range(random, -1, 1), flr_test_random_range(random, -1, 1)));
    for (unsigned i = 0; i < count; i++) corners[i] = flr_quat_rotate(q, corners[i]);
}

static void random_stars(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("random_stars");
    for (unsigned round = 0; round < 300; round++) {
        flr_vec3 corners[40];
        unsigned count = 4 + flr_test_random_below(&random, 36);
        double least = round % 3 == 0 ? 1 : 0.05; // convex, or with deep notches
        for (unsigned i = 0; i < count; i++) {
            double angle =
                2 * 3.14159265358979 * (i + 0.4 * flr_test_random_range(&random, -1, 1)) / count;
            double radius = flr_test_random_range(&random, least, 1);
            corners[i] = flr_vec3_make(radius * cos(angle), radius * sin(angle), 0);
        }
        turn_randomly(&random, corners, count);
        check_cut(corners, count, false);
    }
}

/* a spiral corridor: far from any star */
static void spirals(void **state)
{
    (void)state;
    for (unsigned turns = 1; turns < 5; turns++) {
        flr_vec3 corners[400];
        unsigned half = 30 * turns;
        for (unsigned i = 0; i < half; i++) {
            double angle = 0.2 * i;
            corners[i] = flr_vec3_make((1 + angle) * cos(angle), (1 + angle) * sin(angle), 0);
            corners[2 * half - 1 - i] =
                flr_vec3_make((0.5 + angle) * cos(angle), (0.5 + angle) * sin(angle), 0);
        }
        check_cut(corners, 2 * half, false);
        // and the other way round, seen from below
        for (unsigned i = 0; i < half; i++) {
            flr_vec3 swap = corners[i];
            corners[i] = corners[2 * half - 1 - i];
            corners[2 * half - 1 - i] = swap;
        }
        check_cut(corners, 2 * half, false);
    }
}

static void combs(void **state)
{
    (void)state;
    enum { TEETH = 60 };
    flr_vec3 corners[2 * TEETH + 2];
    for (unsigned i = 0; i < TEETH; i++) {
        corners[2 * i] = flr_vec3_make(2 * i, 10, 0);
        corners[2 * i + 1] = flr_vec3_make(2 * i + 1, 1, 0);
    }
    corners[2 * TEETH] = flr_vec3_make(2 * TEETH, 0, 0);
    corners[2 * TEETH + 1] = flr_vec3_make(-1, 0, 0);
    check_cut(corners, 2 * TEETH + 2, false);
}

static void corners_on_a_line(void **state)
{
    (void)state;
    // a square with corners along its sides: as T-junctions demand, all of them stay
    const flr_vec3 square[] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0},
                               {2, 2, 0}, {1, 2, 0}, {0, 2, 0}, {0, 1, 0}};
    check_cut(square, 8, false);
    // a hole, reached through a slit that is passed twice
    const flr_vec3 hole[] = {{0, 0, 0}, {9, 0, 0}, {9, 9, 0}, {0, 9, 0}, {0, 0, 0},
                             {3, 3, 0}, {3, 6, 0}, {6, 6, 0}, {6, 3, 0}, {3, 3, 0}};
    check_cut(hole, 10, true);
}

static void quads(void **state)
{
    (void)state;
    // each corner in turn is the notch of a dart
    const flr_vec3 dart[] = {{0, 0, 0}, {4, 2, 0}, {0, 4, 0}, {1, 2, 0}};
    for (unsigned first = 0; first < 4; first++) {
        flr_vec3 turned[4];
        for (unsigned i = 0; i < 4; i++) turned[i] = dart[(first + i) % 4];
        check_cut(turned, 4, false);
    }
    // not plane: two triangles all the same
    const flr_vec3 saddle[] = {{0, 0, 0}, {1, 0, 1}, {1, 1, 0}, {0, 1, 1}};
    flr_test_bytes file = one_face(saddle, 4);
    flr_mesh *mesh = flr_test_parse("a.obj", file.bytes, file.size, false, NULL);
    assert_int_equal(mesh->triangle_count, 2);
    flr_mesh_destroy(mesh);
    free(file.bytes);
}

/* no right answer, but n - 2 triangles, always the same, and an end */
static void hopeless_ones(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "v 0 0 0\nv 1 0 0\nf 1 1 1 1\nf 1 2 1 2\nf 1 1 2 2 1 1\n",
        "v 0 3 0\nv 2 -3 0\nv -3 1 0\nv 3 1 0\nv -2 -3 0\nf 1 2 3 4 5\n",     // pentagram
        "v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 4\n",                    // bow remote coupling
        "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nf 1 2 3 4 3 2\n",                // all on a line
        "v 1 0 0\nv 0 1 0\nv -1 0 0\nv 0 -1 0\nf 1 2 3 4 1 2 3 4 1 4 3 2\n"}; // round and round
    static const uint32_t triangles[] = {8, 3, 2, 4, 10};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        flr_mesh *a = flr_test_parse_text("a.obj", texts[i], false, NULL);
        flr_mesh *b = flr_test_parse_text("a.obj", texts[i], false, NULL);
        assert_int_equal(a->triangle_count, triangles[i]);
        flr_test_assert_same_mesh(a, b);
        flr_mesh_destroy(a);
        flr_mesh_destroy(b);
    }
}

static void very_many_corners(void **state)
{
    (void)state;
    // convex: any number
    enum { COUNT = 6000 };
    flr_vec3 *corners = malloc(COUNT * sizeof *corners);
    for (unsigned i = 0; i < COUNT; i++) {
        double angle = 2 * 3.14159265358979 * i / COUNT;
        corners[i] = flr_vec3_make(1000 * cos(angle), 1000 * sin(angle), 0);
    }
    check_cut(corners, COUNT, false);

    // wild ones up to a limit, in bounded time
    flr_test_random random = flr_test_random_begin("very_many_corners");
    for (unsigned i = 0; i < COUNT; i++)
        corners[i] = flr_vec3_make(flr_test_random_range(&random, 0, 1),
                                   flr_test_random_range(&random, 0, 1), 0);
    flr_test_bytes file = one_face(corners, FLR_POLYGON_MAX_CORNERS);
    flr_mesh *mesh = flr_test_parse("a.obj", file.bytes, file.size, false, NULL);
    assert_int_equal(mesh->triangle_count, FLR_POLYGON_MAX_CORNERS - 2);
    flr_mesh_destroy(mesh);
    free(file.bytes);
    file = one_face(corners, FLR_POLYGON_MAX_CORNERS + 1);
    flr_test_refuse("a.obj", file.bytes, file.size, false, FLR_BAD_INPUT,
                    "a face with 4097 corners");
    free(file.bytes);
    free(corners);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_stars),
        cmocka_unit_test(spirals),
        cmocka_unit_test(combs),
        cmocka_unit_test(corners_on_a_line),
        cmocka_unit_test(quads),
        cmocka_unit_test(hopeless_ones),
        cmocka_unit_test(very_many_corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
