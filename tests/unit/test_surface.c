/* what a person means who points at a mesh */
#include <math.h>
#include <stdlib.h>

#include "mesh/surface.h"
#include "support/fixtures.h"

static flr_error error;

/* A tube about z: outer and inner radius, from 0 to `height`, of so many sides; inner 0: solid. In metres. */
static flr_mesh *make_tube(double outer, double inner, double height, uint32_t sides)
{
    flr_vec3 *v = calloc(4 * sides + 2, sizeof *v);
    flr_triangle *t = calloc(8 * sides, sizeof *t);
    uint32_t count = 0;
    for (uint32_t i = 0; i < sides; i++)
        for (uint32_t k = 0; k < 4; k++) {
            double angle = 2 * M_PI * i / sides, r = k < 2 ? outer : inner;
            v[4 * i + k] = flr_vec3_make(r * cos(angle), r * sin(angle), k % 2 ? height : 0);
        }
    v[4 * sides] = flr_vec3_make(0, 0, 0), v[4 * sides + 1] = flr_vec3_make(0, 0, height);
    for (uint32_t i = 0; i < sides; i++) {
        uint32_t a = 4 * i, b = 4 * ((i + 1) % sides);
        t[count++] = (flr_triangle){{a, b, b + 1}};
        t[count++] = (flr_triangle){{a, b + 1, a + 1}};
        if (inner > 0) {
            t[count++] = (flr_triangle){{a + 2, b + 3, b + 2}};
            t[count++] = (flr_triangle){{a + 2, a + 3, b + 3}};
            t[count++] = (flr_triangle){{a, b + 2, b}};
            t[count++] = (flr_triangle){{a, a + 2, b + 2}};
            t[count++] = (flr_triangle){{a + 1, b + 1, b + 3}};
            t[count++] = (flr_triangle){{a + 1, b + 3, a + 3}};
        } else {
            t[count++] = (flr_triangle){{a, 4 * sides, b}};
            t[count++] = (flr_triangle){{a + 1, b + 1, 4 * sides + 1}};
        }
    }
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = v, def.vertex_count = 4 * sides + 2, def.triangles = t,
    def.triangle_count = count;
    flr_mesh *mesh;
    assert_ok(flr_mesh_create(&def, &mesh, &error), error);
    free(v);
    free(t);
    return mesh;
}

static flr_surface pick(const flr_mesh *mesh, double x, double y, double z, double reach)
{
    flr_surface s = {0};
    assert_ok(flr_surface_pick(mesh, flr_vec3_make(x, y, z), reach, &s, &error), error);
    return s;
}

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

static void corners_edges_and_planes_of_a_box(void **state)
{
    (void)state;
    flr_mesh *box = flr_test_engine_box(flr_vec3_make(0.04, 0.02, 0.01)); /* about 0 */
    // near a corner, whatever the reach finds
    flr_surface s = pick(box, 0.0199, 0.0099, 0.005, 0.0005);
    assert_int_equal(s.kind, FLR_SURFACE_POINT);
    assert_near(s.point.x, 0.02, 1e-12);
    assert_near(s.point.z, 0.005, 1e-12);
    flr_surface_free(&s);
    // an edge goes from corner to corner, though the mesh has pieces of it
    s = pick(box, 0.003, 0.0098, 0.005, 0.0005);
    assert_int_equal(s.kind, FLR_SURFACE_EDGE);
    assert_near(s.size, 0.04, 1e-12);
    assert_near(fabs(s.direction.x), 1, 1e-9);
    assert_near(s.point.y, 0.01, 1e-12);
    assert_near(s.point.x, 0.003, 1e-12);
    flr_surface_free(&s);
    // a face is all of its triangles, and the place is put onto it
    s = pick(box, 0.003, 0.002, 0.0051, 0.0005);
    assert_int_equal(s.kind, FLR_SURFACE_PLANE);
    assert_near(s.size, 0.04 * 0.02, 1e-12);
    assert_near(s.direction.z, 1, 1e-12);
    assert_near(s.point.z, 0.005, 1e-12);
    flr_surface_free(&s);
    // the place alone
    s = pick(box, 0.003, 0.002, 0.006, -1);
    assert_int_equal(s.kind, FLR_SURFACE_POINT);
    assert_near(s.point.z, 0.005, 1e-12);
    flr_surface_free(&s);
    assert_int_equal(flr_surface_pick(box, flr_vec3_make(NAN, 0, 0), 0, &s, &error),
                     FLR_BAD_ARGUMENT);
    flr_mesh_destroy(box);
}

static void cylinders_and_rims(void **state)
{
    (void)state;
    for (uint32_t sides = 12; sides <= 96; sides *= 2) {
        flr_mesh *tube = make_tube(0.01, 0.006, 0.03, sides);
        double angle = M_PI / sides; /* in the middle of a strip */
        double flat = cos(angle);
        flr_surface s =
            pick(tube, 0.01 * flat * cos(angle), 0.01 * flat * sin(angle), 0.012, 0.0002);
        assert_int_equal(s.kind, FLR_SURFACE_CYLINDER);
        assert_near(s.radius, 0.01, 1e-9);
        assert_near(fabs(s.direction.z), 1, 1e-9);
        assert_near(s.point.x, 0, 1e-9);
        assert_near(s.point.z, 0.012, 1e-9);
        assert_false(s.hollow);
        flr_surface_free(&s);
        s = pick(tube, 0.006 * flat * cos(angle), 0.006 * flat * sin(angle), 0.012, 0.0002);
        assert_int_equal(s.kind, FLR_SURFACE_CYLINDER);
        assert_near(s.radius, 0.006, 1e-9);
        assert_true(s.hollow);
        flr_surface_free(&s);
        // the rim is a circle, the end a plane
        s = pick(tube, 0.01 * flat * cos(angle), 0.01 * flat * sin(angle), 0.03, 0.0002);
        assert_int_equal(s.kind, FLR_SURFACE_EDGE);
        assert_near(s.radius, 0.01, 1e-9);
        assert_near(s.point.z, 0.03, 1e-12);
        assert_near(s.point.x, 0, 1e-9);
        assert_near(s.size, 2 * sides * 0.01 * sin(angle), 1e-9);
        flr_surface_free(&s);
        s = pick(tube, 0.008 * cos(angle), 0.008 * sin(angle), 0.03, 0.0002);
        assert_int_equal(s.kind, FLR_SURFACE_PLANE);
        assert_near(s.direction.z, 1, 1e-12);
        flr_surface_free(&s);
        flr_mesh_destroy(tube);
    }
    // what has few sides is no cylinder
    flr_mesh *hexagon = make_tube(0.01, 0, 0.03, 6);
    flr_surface s = pick(hexagon, 0.0086 * cos(M_PI / 6), 0.0086 * sin(M_PI / 6), 0.012, 0.0002);
    assert_int_equal(s.kind, FLR_SURFACE_PLANE);
    assert_near(s.size, 0.01 * 0.03, 1e-9);
    flr_surface_free(&s);
    flr_mesh_destroy(hexagon);
}

/* A block with a rounded edge along z: planes stay planes, the rounding is a piece of a cylinder. */
static void roundings(void **state)
{
    (void)state;
    enum { STEPS = 8, N = STEPS + 4 };
    flr_vec3 v[2 * N];
    flr_triangle t[4 * N];
    uint32_t count = 0, n = 0;
    flr_vec3 outline[N];
    outline[n++] = flr_vec3_make(0, 0, 0);
    outline[n++] = flr_vec3_make(0.03, 0, 0);
    for (int i = 0; i <= STEPS; i++) { /* radius 5 mm about (25, 25) */
        double angle = 0.5 * M_PI * i / STEPS;
        outline[n++] = flr_vec3_make(0.025 + 0.005 * cos(angle), 0.025 + 0.005 * sin(angle), 0);
    }
    outline[n++] = flr_vec3_make(0, 0.03, 0);
    assert_int_equal(n, N);
    for (uint32_t i = 0; i < N; i++) {
        v[2 * i] = outline[i];
        v[2 * i + 1] = flr_vec3_add(outline[i], flr_vec3_make(0, 0, 0.02));
        uint32_t a = 2 * i, b = 2 * ((i + 1) % N);
        t[count++] = (flr_triangle){{a, b, b + 1}};
        t[count++] = (flr_triangle){{a, b + 1, a + 1}};
        if (i > 0 && i + 1 < N) {
            t[count++] = (flr_triangle){{0, b, a}};
            t[count++] = (flr_triangle){{1, a + 1, b + 1}};
        }
    }
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = v, def.vertex_count = 2 * N, def.triangles = t, def.triangle_count = count;
    flr_mesh *mesh;
    assert_ok(flr_mesh_create(&def, &mesh, &error), error);
    flr_surface s = pick(mesh, 0.03, 0.01, 0.01, 0.0002);
    assert_int_equal(s.kind, FLR_SURFACE_PLANE);
    assert_near(s.size, 0.025 * 0.02, 1e-12);
    assert_near(s.direction.x, 1, 1e-12);
    flr_surface_free(&s);
    double angle = 0.5 * M_PI * 3.5 / STEPS, r = 0.005 * cos(0.25 * M_PI / STEPS);
    s = pick(mesh, 0.025 + r * cos(angle), 0.025 + r * sin(angle), 0.01, 0.0002);
    assert_int_equal(s.kind, FLR_SURFACE_CYLINDER);
    assert_near(s.radius, 0.005, 1e-9);
    assert_near(s.point.x, 0.025, 1e-9);
    assert_near(s.point.y, 0.025, 1e-9);
    flr_surface_free(&s);
    flr_mesh_destroy(mesh);
}

static flr_engine_measure measure(flr_test_engine *s, flr_engine_pick a, const flr_engine_pick *b)
{
    static uint32_t token;
    flr_engine_event event;
    assert_ok(flr_engine_measure_ask(s->engine, &a, b, ++token, &error), error);
    for (int i = 0; i < 50; i++) {
        flr_engine_service(s->engine);
        while (flr_engine_next(s->engine, &event))
            if (event.kind == FLR_ENGINE_EVENT_MEASURE && event.token == token) {
                assert_int_equal(event.result, FLR_OK);
                return event.measure;
            }
    }
    fail_msg("there is no answer");
    return (flr_engine_measure){0};
}

/* The block, 20 mm, stands 20 mm above the plate, turned by 30 degrees about x; the ball beside it is a cube, too. */
static void two_things_in_an_engine(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    flr_engine_pick plate = {s.plate, FLR_WIRE_MEASURED_ANY, {0.06, 0.02, 0}, 0.0005};
    flr_engine_pick below = {s.block, FLR_WIRE_MEASURED_ANY, {0.003, 0.001, 0.02}, 0.0005};
    flr_engine_measure m = measure(&s, plate, &below);
    assert_int_equal(m.of[0].kind, FLR_WIRE_MEASURED_PLANE);
    assert_near(m.of[0].size, 0.16 * 0.08, 1e-9);
    assert_near(m.distance, 0.02, 1e-9);
    assert_true(m.has_angle && m.has_between);
    assert_near(m.angle, 0, 1e-9);
    assert_near(m.between, 0.02, 1e-9);
    assert_near(m.to.z - m.from.z, 0.02, 1e-9);
    // a corner and a plane, from below
    flr_engine_pick corner = {s.block, FLR_WIRE_MEASURED_ANY, {0.0099, 0.0099, 0.0399}, 0.0005};
    m = measure(&s, corner, &plate);
    assert_int_equal(m.of[0].kind, FLR_WIRE_MEASURED_POINT);
    assert_near(m.distance, 0.04, 1e-9);
    assert_true(!m.has_angle && m.has_between);
    // two whole parts
    flr_engine_pick block = {s.block, FLR_WIRE_MEASURED_PART, {0, 0, 0}, 0},
                    ball = {s.ball, FLR_WIRE_MEASURED_PART, {0, 0, 0}, 0};
    m = measure(&s, block, &ball);
    assert_near(m.distance, 0.03, 1e-9);
    // turned
    flr_quat q = flr_quat_make(cos(M_PI / 12), sin(M_PI / 12), 0, 0);
    assert_ok(
        flr_engine_place(s.engine, s.block, flr_pose_make(flr_vec3_make(0, 0, 0.03), q), &error),
        error);
    flr_test_engine_pass(&s, 60);
    flr_pose T = flr_test_engine_part(&s, s.block).T_world_part;
    below.at = flr_pose_apply(T, flr_vec3_make(0.003, 0.001, -0.01));
    m = measure(&s, plate, &below);
    assert_near(m.angle, M_PI / 6, 1e-6);
    assert_false(m.has_between);
    // one alone, and what is refused
    m = measure(&s, plate, NULL);
    assert_int_equal(m.of[1].kind, FLR_WIRE_MEASURED_ANY);
    assert_int_equal(flr_engine_measure_ask(s.engine, &block, &block, 9, &error), FLR_BAD_ARGUMENT);
    plate.at.x = NAN;
    assert_int_equal(flr_engine_measure_ask(s.engine, &plate, NULL, 9, &error), FLR_BAD_ARGUMENT);
    plate.part = flr_engine_part_id(s.engine, 99);
    assert_int_equal(flr_engine_measure_ask(s.engine, &plate, NULL, 9, &error), FLR_NOT_FOUND);
    flr_test_engine_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners_edges_and_planes_of_a_box),
        cmocka_unit_test(cylinders_and_rims),
        cmocka_unit_test(roundings),
        cmocka_unit_test(two_things_in_an_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
