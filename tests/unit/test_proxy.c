/* the proxy never passes a surface, at any speed of the hand; it slides, sticks and is felt as it should
 *
 * FLR_PROXY_FRAMES sets how many frames each motion has. */
#include "feeler/probe.h"

#include <math.h>

#include "support/fixtures.h"
#include "support/test.h"

#ifdef FLR_SANITIZED
enum { FRAMES = 1500 };
#else
enum { FRAMES = 12000 };
#endif

static uint64_t frames(void)
{
    const char *wanted = getenv("FLR_PROXY_FRAMES");
    return wanted ? strtoull(wanted, NULL, 10) : FRAMES;
}

static flr_probe_model *make(flr_test_shape *shape, flr_probe_method method, bool shading)
{
    flr_probe_def def = flr_default_probe_def();
    flr_probe_model *model;
    flr_error error;
    def.mesh = flr_test_shape_mesh(shape);
    def.method = method;
    def.shading = shading;
    assert_ok(flr_probe_model_create(&def, &model, &error), error);
    return model;
}

/* ---- which side? ---- */

/* Inside a closed mesh? By counting crossings of a long segment in a direction in which nothing is special; NAN-free, and
 * independent of everything that the proxy uses but the test of one triangle. */
static bool inside(const flr_mesh *mesh, flr_vec3 p)
{
    int crossings = 0;
    flr_vec3 far = flr_vec3_add(p, flr_vec3_make(17.31415, 23.92653, 31.58979));
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *v = mesh->triangles[t].v;
        flr_vec3 corners[3] = {mesh->vertices[v[0]], mesh->vertices[v[1]], mesh->vertices[v[2]]};
        flr_mesh one = *mesh;
        flr_triangle only = {{0, 1, 2}};
        one.vertices = corners, one.vertex_count = 3;
        one.triangles = &only, one.triangle_count = 1;
        crossings += flr_probe_reference(&one, p, far, NULL);
    }
    return crossings % 2;
}

/* ---- motions ---- */

typedef enum motion {
    MOTION_ANYWHERE, /* a new place in every frame: any speed */
    MOTION_WANDER,   /* small steps of all sizes */
    MOTION_CORNERS,  /* from vertex to vertex, exactly onto them and through them */
    MOTION_PRESS,    /* slides along while pressing in and out */
    MOTION_FAR,      /* very far away and back, also no numbers */
    MOTION_COUNT
} motion;

static flr_vec3 anywhere(flr_test_random *r, flr_box3 box, double times)
{
    flr_vec3 c = flr_box3_centre(box), h = flr_vec3_scale(flr_box3_size(box), 0.5 * times);
    return flr_vec3_make(c.x + flr_test_random_range(r, -h.x, h.x),
                         c.y + flr_test_random_range(r, -h.y, h.y),
                         c.z + flr_test_random_range(r, -h.z, h.z));
}

static flr_vec3 next_hand(flr_test_random *r, motion how, const flr_mesh *mesh, flr_vec3 hand,
                          uint64_t frame)
{
    double size = flr_vec3_length(flr_box3_size(mesh->bounds));
    flr_vec3 step = flr_vec3_make(flr_test_random_range(r, -1, 1), flr_test_random_range(r, -1, 1),
                                  flr_test_random_range(r, -1, 1));
    switch (how) {
    case MOTION_ANYWHERE:
        return anywhere(r, mesh->bounds, 1.6);
    case MOTION_WANDER: {
        hand = flr_vec3_add_scaled(hand, size * pow(10, flr_test_random_range(r, -9, -0.5)), step);
        return flr_box3_contains(flr_box3_grow(mesh->bounds, 0.5 * size), hand)
                   ? hand
                   : flr_box3_centre(mesh->bounds);
    }
    case MOTION_CORNERS: {
        flr_vec3 to = mesh->vertices[flr_test_random_below(r, mesh->vertex_count)];
        if (flr_test_random_below(r, 3) == 0)
            to = flr_vec3_lerp(to, mesh->vertices[flr_test_random_below(r, mesh->vertex_count)],
                               0.5);
        return flr_test_random_below(r, 2) ? to : flr_vec3_lerp(hand, to, 2);
    }
    case MOTION_PRESS: {
        double t = (double)frame * 0.01;
        flr_vec3 c = flr_box3_centre(mesh->bounds), s = flr_box3_size(mesh->bounds);
        double in = 0.5 + 0.15 * sin(7 * t);
        return flr_vec3_make(c.x + s.x * in * sin(t), c.y + s.y * in * cos(1.3 * t),
                             c.z + s.z * in * cos(0.7 * t));
    }
    default: {
        const double odd[] = {NAN, INFINITY, 1e12, 1e300};
        if (frame % 7 == 3) return flr_vec3_make(odd[frame / 7 % 4], 0, 0);
        return frame % 2 ? anywhere(r, mesh->bounds, 1.2)
                         : flr_vec3_scale(step, size * pow(10, flr_test_random_range(r, 0, 6)));
    }
    }
}

/* All motions from one start, with and without friction; `out`: what inside() must say all the time. */
static void never_through(flr_test_shape *shape, flr_vec3 start, bool is_inside, uint64_t count)
{
    const flr_mesh *mesh = flr_test_shape_mesh(shape);
    flr_test_random r = flr_test_random_begin("never_through");
    assert_int_equal(inside(mesh, start), is_inside);
    uint64_t touched = 0, asked = 0;
    for (int how = 0; how < MOTION_COUNT; how++) {
        flr_probe_model *model = make(shape, (flr_probe_method)(FLR_PROBE_GRID + how % 3), false);
        flr_proxy proxy = flr_proxy_none();
        flr_proxy_params params = flr_default_proxy_params();
        flr_proxy_result result;
        flr_proxy_step(&proxy, model, start, &params, &result);
        flr_vec3 hand = start;
        for (uint64_t i = 0; i < count; i++) {
            hand = next_hand(&r, (motion)how, mesh, flr_vec3_is_finite(hand) ? hand : start, i);
            params.static_friction = i / 100 % 2 ? 0.7 : 0;
            params.dynamic_friction = i / 100 % 2 ? 0.4 : 0;
            flr_vec3 before = proxy.position;
            flr_proxy_step(&proxy, model, hand, &params, &result);
            touched += result.touching;
            asked += result.queries;
            assert_le(result.queries, FLR_PROXY_QUERIES);
            assert_true(flr_vec3_is_finite(result.force));
            assert_true(flr_vec3_is_finite(result.position));
            if (!result.touching && result.valid)
                assert_true(flr_vec3_equal(result.position, hand));
            /* where it has not moved, it was looked at before */
            if (!flr_vec3_equal(before, result.position) &&
                inside(mesh, result.position) != is_inside)
                fail_msg("motion %d, frame %llu: the proxy at %.17g %.17g %.17g is on the wrong "
                         "side, it "
                         "came from %.17g %.17g %.17g, hand %.17g %.17g %.17g",
                         how, (unsigned long long)i, result.position.x, result.position.y,
                         result.position.z, before.x, before.y, before.z, hand.x, hand.y, hand.z);
        }
        flr_probe_model_destroy(model);
    }
    print_message("%llu frames, touching in %llu, %.1f segments asked in a frame\n",
                  (unsigned long long)(MOTION_COUNT * count), (unsigned long long)touched,
                  (double)asked / (double)(MOTION_COUNT * count));
    assert_gt(touched, count / 4);
}

static void outside_a_sphere(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sphere(&shape, 1, 16, 8);
    never_through(&shape, flr_vec3_make(1.2, 0.3, 0.1), false, frames() / 8);
    flr_test_shape_free(&shape);
}

static void inside_a_box(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(1, 2, 3), 2);
    never_through(&shape, flr_vec3_make(0.1, 0.2, 0.3), true, frames() / 6);
    flr_test_shape_free(&shape);
}

static void a_sharp_wedge(void **state)
{
    (void)state;
    /* edges of a hundredth of a degree, from outside and from inside */
    flr_test_shape shape = {0};
    flr_test_shape_tetrahedron(&shape, 1, 1, 2e-4);
    never_through(&shape, flr_vec3_make(0.5, 0.5, 0.5), false, frames() / 2);
    never_through(&shape, flr_vec3_make(0.1, 0.1, 2e-5), true, frames() / 2);
    flr_test_shape_free(&shape);
}

static void a_thin_sheet(void **state)
{
    (void)state;
    /* a plate that is a millionth of its size thick: one side must not be felt through the other */
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1e-6), 1);
    never_through(&shape, flr_vec3_make(0.1, 0.2, 0.5), false, frames() / 2);
    never_through(&shape, flr_vec3_make(0.1, 0.2, 1e-7), true, frames() / 2);
    flr_test_shape_free(&shape);
}

static void a_ring(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_torus(&shape, 2, 0.7, 12, 8);
    never_through(&shape, flr_vec3_make(0, 0, 0.1), false, frames() / 12);
    flr_test_shape_free(&shape);
}

/* An open sheet has two sides and no inside; here the hand cannot go around it. */
static void both_sides_of_a_sheet(void **state)
{
    (void)state;
    flr_test_random r = flr_test_random_begin("both_sides_of_a_sheet");
    flr_test_shape shape = {0};
    uint32_t a = flr_test_shape_vertex(&shape, -9, -9, 0);
    flr_test_shape_vertex(&shape, 9, -9, 0.3);
    flr_test_shape_vertex(&shape, 9, 9, 0);
    flr_test_shape_vertex(&shape, -9, 9, -0.1);
    flr_test_shape_triangle(&shape, a, a + 1, a + 2);
    flr_test_shape_triangle(&shape, a, a + 3, a + 2); /* turned over, as dirty meshes are */
    flr_probe_model *model = make(&shape, FLR_PROBE_BEST, false);
    for (int side = -1; side <= 1; side += 2) {
        flr_proxy proxy = flr_proxy_none();
        flr_proxy_params params = flr_default_proxy_params();
        flr_proxy_result result;
        flr_proxy_step(&proxy, model, flr_vec3_make(0, 0, side), &params, &result);
        for (uint64_t i = 0; i < frames(); i++) {
            flr_vec3 hand = {flr_test_random_range(&r, -4, 4), flr_test_random_range(&r, -4, 4),
                             flr_test_random_range(&r, -2, 2)};
            flr_proxy_step(&proxy, model, hand, &params, &result);
            flr_vec3 from = flr_vec3_make(result.position.x, result.position.y, side * 5);
            assert_false(
                flr_probe_reference(flr_test_shape_mesh(&shape), from, result.position, NULL));
        }
    }
    flr_probe_model_destroy(model);
    flr_test_shape_free(&shape);
}

/* ---- where it goes ---- */

typedef struct setup {
    flr_test_shape shape;
    flr_probe_model *model;
    flr_proxy proxy;
    flr_proxy_params params;
    flr_proxy_result r;
} setup;

/* a cube of 2 m, and the proxy above it */
static void begin(setup *s, bool shading)
{
    *s = (setup){.params = flr_default_proxy_params(), .proxy = flr_proxy_none()};
    flr_test_shape_box(&s->shape, flr_vec3_make(2, 2, 2), 4);
    s->model = make(&s->shape, FLR_PROBE_BEST, shading);
    s->params.shading = shading;
    flr_proxy_step(&s->proxy, s->model, flr_vec3_make(0, 0, 2), &s->params, &s->r);
}

static void end(setup *s)
{
    flr_probe_model_destroy(s->model);
    flr_test_shape_free(&s->shape);
}

static void step(setup *s, double x, double y, double z)
{
    flr_proxy_step(&s->proxy, s->model, flr_vec3_make(x, y, z), &s->params, &s->r);
}

static void near_to(flr_vec3 p, double x, double y, double z)
{
    if (!(flr_vec3_distance(p, flr_vec3_make(x, y, z)) < 2e-6))
        fail_msg("%g %g %g, not %g %g %g", p.x, p.y, p.z, x, y, z);
}

static void spring_and_sliding(void **state)
{
    (void)state;
    setup s;
    begin(&s, false);
    assert_false(s.r.touching);
    step(&s, 0.3, 0.2, 0.9); /* in by 0.1 */
    assert_true(s.r.touching);
    assert_eq(s.r.contact_count, 1);
    near_to(s.r.position, 0.3, 0.2, 1);
    near_to(s.r.normal, 0, 0, 1);
    assert_lt(fabs(s.r.force.z - 100), 1e-3);
    assert_lt(fabs(s.r.force.x), 1e-3);
    assert_lt(fabs(s.r.depth - 0.1), 1e-6);
    step(&s, -0.7, 0.6, 0.9); /* across many triangles in one frame */
    near_to(s.r.position, -0.7, 0.6, 1);
    step(&s, 1.3, 0, 0.5); /* around the convex edge, and down beside it: free again */
    assert_false(s.r.touching);
    step(&s, 0.6, 0, 0.5); /* against the wall */
    near_to(s.r.position, 1, 0, 0.5);
    near_to(s.r.normal, 1, 0, 0);
    step(&s, 0.5, 0.1, 1.5); /* from the wall over the edge to the top, without having left */
    assert_false(s.r.touching);
    end(&s);
}

static void concave_edges_and_corners(void **state)
{
    (void)state;
    setup s;
    begin(&s, false);
    s.proxy = flr_proxy_none();
    step(&s, 0, 0, 0); /* inside: the walls are felt from within */
    step(&s, 0, 0.5, -3);
    near_to(s.r.position, 0, 0.5, -1);
    step(&s, 5, 0.5, -3); /* an edge */
    near_to(s.r.position, 1, 0.5, -1);
    assert_int_equal(s.r.contact_count, 2);
    step(&s, 5, 7, -3); /* a corner */
    near_to(s.r.position, 1, 1, -1);
    assert_int_equal(s.r.contact_count, 3);
    step(&s, 0, 0, 0);
    assert_false(s.r.touching);
    end(&s);
}

static void friction(void **state)
{
    (void)state;
    setup s;
    begin(&s, false);
    s.params.static_friction = 0.5;
    s.params.dynamic_friction = 0.25;
    step(&s, 0, 0, 0.9);
    step(&s, 0.04, 0, 0.9); /* within the cone */
    assert_true(s.r.sticking);
    near_to(s.r.position, 0, 0, 1);
    assert_lt(fabs(s.r.force.x + 40), 0.01);
    assert_lt(fabs(s.r.force.z - 100), 0.01);
    step(&s, 0.2, 0, 0.9); /* beyond it */
    assert_false(s.r.sticking);
    near_to(s.r.position, 0.2 - 0.025, 0, 1);
    step(&s, 0.2, 0, 1.2); /* off */
    assert_false(s.r.touching);
    assert_true(flr_vec3_equal(s.r.force, flr_vec3_zero()));
    end(&s);
}

static void shading(void **state)
{
    (void)state;
    /* a sphere of few facets: the force turns with the position instead of jumping at edges */
    flr_test_shape shape = {0};
    flr_test_shape_sphere(&shape, 1, 24, 12);
    flr_probe_model *model = make(&shape, FLR_PROBE_BEST, true);
    double most[2] = {0, 0};
    for (int shaded = 0; shaded < 2; shaded++) {
        flr_proxy proxy = flr_proxy_none();
        flr_proxy_params params = flr_default_proxy_params();
        flr_proxy_result r;
        params.shading = shaded;
        flr_vec3 before = flr_vec3_zero();
        for (int i = 0; i < 4000; i++) {
            double angle = 0.0005 * i, radius = i ? 0.95 : 1.5;
            flr_vec3 hand = {radius * cos(angle), radius * sin(angle) * 0.8,
                             radius * sin(angle) * 0.6};
            flr_proxy_step(&proxy, model, hand, &params, &r);
            flr_vec3 now = flr_vec3_normalize(r.force);
            if (i > 1) most[shaded] = fmax(most[shaded], flr_vec3_distance(now, before));
            before = now;
        }
    }
    print_message("largest turn of the force in a step: %.3f without, %.3f with shading\n", most[0],
                  most[1]);
    assert_lt(most[1], 0.5 * most[0]);
    flr_probe_model_destroy(model);
    flr_test_shape_free(&shape);
    /* sharp edges stay sharp: on a cube shading changes nothing */
    setup s;
    begin(&s, true);
    step(&s, 0.9, 0.2, 0.9);
    near_to(s.r.normal, 0, 0, 1);
    end(&s);
}

static void nothing_to_touch_and_odd_starts(void **state)
{
    (void)state;
    flr_probe_def def = flr_default_probe_def();
    flr_probe_model *model;
    flr_error error;
    assert_ok(flr_probe_model_create(&def, &model, &error), error);
    flr_proxy proxy = flr_proxy_none();
    flr_proxy_params params = flr_default_proxy_params();
    flr_proxy_result r;
    flr_proxy_step(&proxy, model, flr_vec3_make(NAN, 0, 0), &params, &r);
    assert_false(r.valid || proxy.placed);
    for (int i = 0; i < 3; i++) {
        flr_proxy_step(&proxy, model, flr_vec3_make(i, 2, 3), &params, &r);
        assert_true(r.valid);
        assert_false(r.touching);
        assert_eq(r.position.x, i);
    }
    flr_probe_model_destroy(model);
    /* begins exactly on a face, an edge and a corner: is not stuck there */
    const flr_vec3 starts[] = {{0.1, 0.2, 1}, {0.1, 1, 1}, {1, 1, 1}};
    for (int i = 0; i < 3; i++) {
        setup s;
        begin(&s, false);
        s.proxy = flr_proxy_none();
        flr_proxy_step(&s.proxy, s.model, starts[i], &s.params, &s.r);
        step(&s, 2, 3, 4);
        step(&s, 0, 0, 3);
        step(&s, 0, 0, -3);
        assert_true(s.r.valid);
        end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spring_and_sliding),
        cmocka_unit_test(concave_edges_and_corners),
        cmocka_unit_test(friction),
        cmocka_unit_test(shading),
        cmocka_unit_test(nothing_to_touch_and_odd_starts),
        cmocka_unit_test(outside_a_sphere),
        cmocka_unit_test(inside_a_box),
        cmocka_unit_test(a_sharp_wedge),
        cmocka_unit_test(a_thin_sheet),
        cmocka_unit_test(a_ring),
        cmocka_unit_test(both_sides_of_a_sheet),
    };
    return cmocka_run_group_tests_name("proxy", tests, NULL, NULL);
}
