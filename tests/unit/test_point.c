/* hands whose tool is a point: what they touch in a world, what parts get of it */
#include "world/point_tool.h"

#include <math.h>
#include <string.h>

#include "support/fixtures.h"
#include "support/quiet.h"
#include "support/test.h"

static flr_error error;

/* boxes of 20 mm, each with its own probe model; no voxels: only points touch them */
typedef struct scene {
    flr_test_shape shape;
    flr_probe_model *model;
    flr_world *world;
} scene;

static const double edge = 0.02;

static flr_world_part box_at(flr_part_kind kind, double x, double y, double z)
{
    flr_world_part part = flr_default_world_part();
    part.kind = kind;
    part.body.mass = 0.05;
    part.body.inertia.mass = 0.05;
    double i = 0.05 * edge * edge / 6;
    part.body.inertia.tensor = (flr_mat3){{{i, 0, 0}, {0, i, 0}, {0, 0, i}}};
    part.body.reach = edge;
    part.body.T_world_part.p = flr_vec3_make(x, y, z);
    return part;
}

/* the model borrows from the shape: a scene stays where it is */
static scene *make(const flr_world_part *parts, uint32_t count, uint32_t hands,
                   const flr_world_params *params)
{
    static scene the_scene;
    the_scene = (scene){0};
    scene *s = &the_scene;
    flr_test_shape_box(&s->shape, flr_vec3_make(edge, edge, edge), 3);
    flr_probe_def probe = flr_default_probe_def();
    probe.mesh = flr_test_shape_mesh(&s->shape);
    probe.shading = true;
    assert_ok(flr_probe_model_create(&probe, &s->model, &error), error);
    flr_world_def def = flr_default_world_def();
    def.parts = parts;
    def.part_count = count;
    def.hand_count = hands;
    if (params) def.params = *params;
    assert_ok(flr_world_create(&def, &s->world, &error), error);
    for (uint32_t i = 0; i < count; i++) assert_true(flr_world_set_probe(s->world, i, s->model));
    assert_true(flr_world_set_tool(s->world, 0, FLR_TOOL_POINT));
    return s;
}

static void unmake(scene *s)
{
    flr_world_destroy(s->world);
    flr_probe_model_destroy(s->model);
    flr_test_shape_free(&s->shape);
}

static flr_world_input at(double x, double y, double z)
{
    return (flr_world_input){.T_world_hand = {{x, y, z}, {1, 0, 0, 0}}, .fresh = true};
}

/* goes from one place to the other in so many steps */
static void go(flr_world *world, flr_vec3 from, flr_vec3 to, int steps, flr_world_frame *frame)
{
    for (int i = 1; i <= steps; i++) {
        flr_vec3 p = flr_vec3_lerp(from, to, (double)i / steps);
        flr_world_input in[2] = {at(p.x, p.y, p.z), at(p.x, p.y, p.z)};
        flr_world_step(world, in, frame);
    }
}

/* is a point of the world inside the box, by more than rounding? */
static bool inside(flr_pose T_world_part, flr_vec3 p)
{
    flr_vec3 q = flr_pose_apply(flr_pose_inverse(T_world_part), p);
    double most = edge / 2 - 1e-9;
    return fabs(q.x) < most && fabs(q.y) < most && fabs(q.z) < most;
}

/* ---- what stands still ---- */

static void presses_on_what_stands(void **state)
{
    (void)state;
    flr_world_part part = box_at(FLR_PART_STATIC, 0.1, 0.2, 0.3);
    part.body.T_world_part.q = flr_quat_from_rotation_vector(flr_vec3_make(0, 0, 0.7));
    scene *s = make(&part, 1, 1, NULL);
    flr_world_frame frame;
    go(s->world, flr_vec3_make(0.1, 0.2, 0.35), flr_vec3_make(0.1, 0.2, 0.312), 50, &frame);
    const flr_world_point *p = flr_world_proxy(s->world, 0);
    assert_false(p->touching);
    assert_int_equal(frame.touching, 0);
    assert_int_equal(p->part, FLR_NO_PART);
    assert_eq(p->position.z, 0.312);
    go(s->world, flr_vec3_make(0.1, 0.2, 0.312), flr_vec3_make(0.1, 0.2, 0.307), 50, &frame);
    assert_true(p->touching);
    assert_int_equal(frame.touching, 1);
    assert_gt(frame.segments, 0);
    assert_int_equal(p->part, 0);
    assert_lt(fabs(p->position.z - 0.31), 1e-8);
    assert_lt(fabs(p->depth - 0.003), 1e-7);
    assert_lt(fabs(p->normal.z - 1), 1e-6);
    assert_lt(fabs(p->force.z - 3), 1e-3);
    assert_lt(fabs(flr_world_wrench(s->world, 0).force.z - 3), 0.1);
    assert_eq(flr_vec3_length(flr_world_wrench(s->world, 0).torque), 0);
    unmake(s);
}

static void tools_change(void **state)
{
    (void)state;
    flr_world_part parts[2] = {box_at(FLR_PART_STATIC, 0, 0, 0),
                               box_at(FLR_PART_MOVABLE, 0.1, 0, 0)};
    scene *s = make(parts, 2, 1, NULL);
    assert_false(flr_world_set_tool(s->world, 1, FLR_TOOL_POINT));
    assert_false(flr_world_set_tool(s->world, 0, (flr_tool)7));
    assert_false(flr_world_set_probe(s->world, 2, s->model));
    assert_null(flr_world_proxy(s->world, 1));
    assert_int_equal(flr_world_tool(s->world, 0), FLR_TOOL_POINT);
    assert_false(flr_world_grab(s->world, 0, 1));
    flr_world_frame frame;
    go(s->world, flr_vec3_make(0, 0, 0.02), flr_vec3_make(0, 0, 0.005), 10, &frame);
    assert_true(flr_world_proxy(s->world, 0)->touching);
    assert_true(flr_world_set_tool(s->world, 0, FLR_TOOL_GRIP));
    assert_null(flr_world_proxy(s->world, 0));
    assert_eq(flr_vec3_length(flr_world_wrench(s->world, 0).force), 0);
    assert_true(flr_world_grab(s->world, 0, 1));
    assert_true(flr_world_set_tool(s->world, 0, FLR_TOOL_POINT));
    assert_int_equal(flr_world_held(s->world, 0), FLR_NO_PART);
    /* a part without a model is not felt */
    assert_true(flr_world_set_probe(s->world, 0, NULL));
    go(s->world, flr_vec3_make(0, 0, 0.02), flr_vec3_make(0, 0, 0.005), 10, &frame);
    assert_false(flr_world_proxy(s->world, 0)->touching);
    unmake(s);
}

/* ---- what moves ---- */

/* a free part gives way, and what it gets is what the hand gives */
static void pushes_a_free_part(void **state)
{
    (void)state;
    flr_world_part part = box_at(FLR_PART_FREE, 0, 0, 0);
    flr_world_params params = flr_default_world_params();
    params.passivity.control = false;
    scene *s = make(&part, 1, 1, &params);
    flr_world_frame frame;
    go(s->world, flr_vec3_make(-0.02, 0, 0), flr_vec3_make(0.05, 0, 0), 1000, &frame);
    const flr_body *body = flr_world_body(s->world, 0);
    assert_gt(body->T_world_part.p.x, 0.05);
    assert_lt(fabs(body->T_world_part.p.y), 1e-4);
    assert_lt(fabs(body->T_world_part.p.z), 1e-4);
    /* half as much again as the hand's speed at most: it was pushed, not thrown */
    assert_gt(body->twist.linear.x, 0.05);
    assert_lt(body->twist.linear.x, 0.12);
    assert_false(inside(body->T_world_part, flr_world_proxy(s->world, 0)->position));
    unmake(s);
}

/* the hand's impulse is what the part has in the end */
static void force_and_opposite_force(void **state)
{
    (void)state;
    flr_world_part part = box_at(FLR_PART_FREE, 0, 0, 0);
    flr_world_params params = flr_default_world_params();
    params.passivity.control = false;
    params.step.damping = 0;
    scene *s = make(&part, 1, 1, &params);
    flr_world_frame frame;
    double impulse = 0;
    for (int i = 0; i < 1000; i++) {
        flr_world_input in = at(-0.02 + 5e-5 * i, 0, 0);
        flr_world_step(s->world, &in, &frame);
        impulse -= 0.001 * flr_world_wrench(s->world, 0).force.x;
    }
    double momentum = 0.05 * flr_world_body(s->world, 0)->twist.linear.x;
    assert_gt(momentum, 0.002);
    assert_lt(fabs(impulse - momentum), 0.15 * momentum);
    unmake(s);
}

/* ---- with the second engine ---- */

/* A box of 24 x 20 x 12 mm with voxels and spheres, a probe model, and a world of some of it under gravity, engine spheres. */
typedef struct solid {
    flr_test_part part;
    flr_contact_table *table;
    flr_sphere_tree *tree;
    flr_probe_model *model;
    flr_world *world;
} solid;

static solid *make_solid(const flr_part_kind *kinds, const flr_vec3 *places, uint32_t count,
                         double gravity)
{
    static solid the_solid;
    solid *s = &the_solid;
    flr_test_part_make(&s->part, FLR_TEST_BOX, 1, 0.001, false);
    assert_ok(flr_contact_table_create(s->part.voxmap, &s->table, &error), error);
    flr_sphere_tree_def spheres = flr_default_sphere_tree_def();
    spheres.voxmap = s->part.voxmap, spheres.shell = s->part.shell;
    assert_ok(flr_sphere_tree_create(&spheres, &s->tree, &error), error);
    flr_probe_def probe = flr_default_probe_def();
    probe.mesh = flr_test_shape_mesh(&s->part.shape);
    assert_ok(flr_probe_model_create(&probe, &s->model, &error), error);
    flr_world_part parts[3];
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = flr_default_world_part();
        parts[i].kind = kinds[i];
        parts[i].shape = flr_pairs_shape_make(s->part.shell, s->table);
        parts[i].tree = s->tree;
        assert_int_equal(flr_body_def_from_mesh(probe.mesh, 3000, &parts[i].body, NULL), FLR_OK);
        parts[i].body.T_world_part.p = places[i];
    }
    flr_world_def def = flr_default_world_def();
    def.parts = parts;
    def.part_count = count;
    def.hand_count = 1;
    def.params.engine = FLR_ENGINE_SPHERES;
    def.params.passivity.control = false;
    def.params.step.damping = 0;
    def.params.step.gravity = flr_vec3_make(0, 0, -gravity);
    assert_ok(flr_world_create(&def, &s->world, &error), error);
    for (uint32_t i = 0; i < count; i++) assert_true(flr_world_set_probe(s->world, i, s->model));
    assert_true(flr_world_set_tool(s->world, 0, FLR_TOOL_POINT));
    return s;
}

static void unmake_solid(solid *s)
{
    flr_world_destroy(s->world);
    flr_probe_model_destroy(s->model);
    flr_sphere_tree_destroy(s->tree);
    flr_contact_table_destroy(s->table);
    flr_test_part_free(&s->part);
}

static bool in_solid(const flr_body *body, flr_vec3 p)
{
    flr_vec3 q = flr_pose_apply(flr_pose_inverse(body->T_world_part), p);
    return fabs(q.x) < 0.012 - 1e-8 && fabs(q.y) < 0.010 - 1e-8 && fabs(q.z) < 0.006 - 1e-8;
}

/* one box is pushed against another: what the hand gave is what both have in the end */
static void pushes_with_spheres(void **state)
{
    (void)state;
    const flr_part_kind kinds[2] = {FLR_PART_FREE, FLR_PART_FREE};
    const flr_vec3 places[2] = {{0, 0, 0}, {0.034, 0, 0}};
    solid *s = make_solid(kinds, places, 2, 0);
    double impulse = 0, mass = flr_world_body(s->world, 0)->inertia.mass;
    uint64_t contacts = 0;
    for (int i = 0; i < 500; i++) {
        flr_world_input in = at(-0.02 + 8e-5 * i, 0, 0);
        flr_world_frame frame;
        flr_world_step(s->world, &in, &frame);
        impulse -= 0.001 * flr_world_wrench(s->world, 0).force.x;
        contacts += frame.contacts;
        for (uint32_t k = 0; k < 2; k++)
            assert_false(
                in_solid(flr_world_body(s->world, k), flr_world_proxy(s->world, 0)->position));
    }
    const flr_body *a = flr_world_body(s->world, 0), *b = flr_world_body(s->world, 1);
    double momentum = mass * (a->twist.linear.x + b->twist.linear.x);
    print_message("impulse %g Ns, momentum %g Ns, places %g and %g m, %llu contacts\n", impulse,
                  momentum, a->T_world_part.p.x, b->T_world_part.p.x, (unsigned long long)contacts);
    assert_gt(contacts, 0);
    assert_gt(a->T_world_part.p.x, 0.005);
    assert_gt(b->T_world_part.p.x, 0.035);
    assert_gt(b->twist.linear.x, 0.01);
    assert_gt(momentum, 0);
    assert_lt(fabs(impulse - momentum), 0.15 * momentum);
    unmake_solid(s);
}

/* a box that has come to rest on another is pushed along it: rest does not hold it */
static void pushes_what_rests(void **state)
{
    (void)state;
    const flr_part_kind kinds[2] = {FLR_PART_STATIC, FLR_PART_FREE};
    const flr_vec3 places[2] = {{0, 0, 0}, {0, 0, 0.0145}};
    solid *s = make_solid(kinds, places, 2, 9.81);
    flr_world_frame frame;
    flr_vec3 away = {-0.03, 0, 0.014}, beside = {-0.0125, 0, 0.014}, past = {-0.008, 0, 0.014};
    go(s->world, away, away, 400, &frame);
    const flr_body *body = flr_world_body(s->world, 1);
    flr_vec3 rest = body->T_world_part.p;
    assert_lt(flr_vec3_length(body->twist.linear), 1e-3);
    assert_lt(fabs(rest.x), 1e-3);
    go(s->world, away, beside, 50, &frame);
    go(s->world, beside, past, 250, &frame);
    print_message("at rest x %g z %g m, pushed to x %g z %g m\n", rest.x, rest.z,
                  body->T_world_part.p.x, body->T_world_part.p.z);
    assert_gt(body->T_world_part.p.x - rest.x, 0.002);
    assert_false(in_solid(body, flr_world_proxy(s->world, 0)->position));
    unmake_solid(s);
}

/* ---- taken along ---- */

/* a part that another hand holds comes over the point: it takes it along, and never lies around it */
static void is_taken_along(void **state)
{
    (void)state;
    flr_world_part parts[2] = {box_at(FLR_PART_MOVABLE, 0, 0, 0),
                               box_at(FLR_PART_STATIC, 0, 0, -0.1)};
    flr_world_params params = flr_default_world_params();
    params.proxy.stiffness = 5; /* or the point would hold the part */
    scene *s = make(parts, 2, 2, &params);
    flr_world_frame frame;
    flr_world_input in[2] = {at(0.03, 0.001, 0.002), at(0, 0, 0)};
    flr_world_step(s->world, in, &frame);
    assert_true(flr_world_grab(s->world, 1, 0));
    for (int i = 0; i < 600; i++) {
        in[1] = at(1e-4 * i, 0, 0);
        flr_world_step(s->world, in, &frame);
        const flr_world_point *p = flr_world_proxy(s->world, 0);
        assert_false(inside(flr_world_body(s->world, 0)->T_world_part, p->position));
        assert_false(p->pinched);
    }
    const flr_world_point *p = flr_world_proxy(s->world, 0);
    assert_true(p->touching);
    assert_eq(p->part, 0);
    assert_gt(p->position.x, 0.06);
    assert_gt(flr_world_wrench(s->world, 0).force.x, 0.1);
    unmake(s);
}

/* between a part that comes and one that stands, it stays out of that which stands */
static void is_pinched(void **state)
{
    (void)state;
    flr_world_part parts[2] = {box_at(FLR_PART_MOVABLE, 0, 0, 0),
                               box_at(FLR_PART_STATIC, 0.05, 0, 0)};
    scene *s = make(parts, 2, 2, NULL);
    flr_world_frame frame;
    flr_world_input in[2] = {at(0.039, 0, 0), at(0, 0, 0)};
    flr_world_step(s->world, in, &frame);
    assert_true(flr_world_grab(s->world, 1, 0));
    bool pinched = false;
    for (int i = 0; i < 400; i++) { /* without voxels nothing keeps the parts apart */
        in[1] = at(1e-4 * i, 0, 0);
        flr_world_step(s->world, in, &frame);
        const flr_world_point *p = flr_world_proxy(s->world, 0);
        pinched |= p->pinched;
        assert_false(inside(parts[1].body.T_world_part, p->position));
        assert_true(isfinite(p->force.x));
    }
    assert_true(pinched);
    unmake(s);
}

/* friction holds the point to a part that slides below it */
static void friction_goes_along(void **state)
{
    (void)state;
    for (int sticky = 0; sticky < 2; sticky++) {
        flr_world_part part = box_at(FLR_PART_MOVABLE, 0, 0, 0);
        flr_world_params params = flr_default_world_params();
        params.proxy.stiffness = 5;
        params.proxy.static_friction = params.proxy.dynamic_friction = sticky ? 2 : 0;
        scene *s = make(&part, 1, 2, &params);
        flr_world_frame frame;
        flr_world_input in[2] = {at(0, 0, 0.02), at(0, 0, 0)};
        flr_world_step(s->world, in, &frame);
        assert_true(flr_world_grab(s->world, 1, 0));
        for (int i = 0; i < 200; i++) {
            in[0] = at(0, 0, fmax(0.02 - 1e-4 * i, 0.008));
            flr_world_step(s->world, in, &frame);
        }
        for (int i = 0; i < 200; i++) {
            in[1] = at(5e-6 * i, 0, 0);
            flr_world_step(s->world, in, &frame);
        }
        const flr_world_point *p = flr_world_proxy(s->world, 0);
        assert_true(p->touching);
        assert_true(sticky ? p->position.x > 0.0008 : fabs(p->position.x) < 1e-5);
        unmake(s);
    }
}

/* any hand, parts that turn and wander: never in what stands, and in what moves only when pinched */
static void stays_out(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("stays_out");
    flr_world_part parts[3] = {box_at(FLR_PART_STATIC, 0, 0, 0),
                               box_at(FLR_PART_MOVABLE, 0.03, 0, 0),
                               box_at(FLR_PART_FREE, 0, 0.03, 0)};
    flr_world_params params = flr_default_world_params();
    params.proxy.static_friction = 0.5, params.proxy.dynamic_friction = 0.3;
    scene *s = make(parts, 3, 2, &params);
    flr_world_frame frame;
    flr_world_input in[2] = {at(0.05, 0.05, 0.05), at(0.03, 0, 0)};
    flr_world_step(s->world, in, &frame);
    assert_true(flr_world_grab(s->world, 1, 1));
    flr_vec3 hand = {0.05, 0.05, 0.05}, other = {0.03, 0, 0};
    uint32_t touched = 0, pinched = 0;
    for (int i = 0; i < 20000; i++) {
        double step = i % 100 == 0 ? 0.05 : 0.001;
        for (int k = 0; k < 2; k++) {
            flr_vec3 *v = k ? &other : &hand;
            flr_vec3 by = {flr_test_random_range(&random, -1, 1),
                           flr_test_random_range(&random, -1, 1),
                           flr_test_random_range(&random, -1, 1)};
            *v = flr_vec3_add_scaled(flr_vec3_scale(*v, 0.995), k ? 0.0003 : step, by);
        }
        in[0] = at(hand.x, hand.y, hand.z);
        in[1] = at(other.x, other.y, other.z);
        in[1].T_world_hand.q =
            flr_quat_from_rotation_vector(flr_vec3_make(sin(i * 0.01), cos(i * 0.007), 0.3));
        flr_world_step(s->world, in, &frame);
        const flr_world_point *p = flr_world_proxy(s->world, 0);
        assert_false(inside(parts[0].body.T_world_part, p->position));
        touched += p->touching;
        if (!p->pinched) {
            for (uint32_t k = 1; k < 3; k++)
                assert_false(inside(flr_world_body(s->world, k)->T_world_part, p->position));
            continue;
        }
        /* it may be inside one now: begin anew, far out */
        pinched++;
        hand = flr_vec3_make(0.2, 0.2, 0.2);
        flr_world_set_tool(s->world, 0, FLR_TOOL_GRIP);
        flr_world_set_tool(s->world, 0, FLR_TOOL_POINT);
    }

    assert_gt(touched, 100);
    assert_lt(pinched, 200);
    unmake(s);
}

/* ---- the rest ---- */

static void nonsense_is_harmless(void **state)
{
    (void)state;
    flr_world_part part = box_at(FLR_PART_FREE, 0, 0, 0);
    scene *s = make(&part, 1, 1, NULL);
    flr_world_frame frame;
    go(s->world, flr_vec3_make(0, 0, 0.03), flr_vec3_make(0, 0, 0.009), 20, &frame);
    static const double odd[] = {NAN, INFINITY, -INFINITY, 1e300, 1e12};
    for (int i = 0; i < 5; i++) {
        flr_world_input in = at(odd[i], 0, 0);
        flr_world_step(s->world, &in, &frame);
        assert_true(flr_vec3_is_finite(flr_world_wrench(s->world, 0).force));
        assert_true(flr_vec3_is_finite(flr_world_proxy(s->world, 0)->position));
        assert_true(flr_body_is_valid(flr_world_body(s->world, 0)));
    }
    unmake(s);
}

/* the same again gives the same bits, also from a saved state; another way gives others */
static void same_bits(void **state)
{
    (void)state;
    flr_world_part parts[2] = {box_at(FLR_PART_STATIC, 0, 0, 0), box_at(FLR_PART_FREE, 0, 0, 0.02)};
    flr_hash hashes[3];
    static uint8_t saved[1 << 16];
    for (int i = 0; i < 3; i++) {
        scene *s = make(parts, 2, 1, NULL);
        size_t size = flr_world_state_size(s->world);
        assert_le(size, sizeof saved);
        flr_world_frame frame;
        go(s->world, flr_vec3_make(-0.02, 0.001, 0.02), flr_vec3_make(0, 0, 0.008), 100, &frame);
        if (i == 0) {
            flr_world_save(s->world, saved);
            go(s->world, flr_vec3_make(0, 0, 0.008), flr_vec3_make(0.03, 0, 0), 3, &frame);
            assert_true(flr_world_load(s->world, saved, size));
        }
        go(s->world, flr_vec3_make(0, 0, 0.008), flr_vec3_make(i < 2 ? 0.01 : 0.011, 0, 0), 100,
           &frame);
        hashes[i] = frame.hash;
        unmake(s);
    }
    assert_true(flr_hash_equal(hashes[0], hashes[1]));
    assert_false(flr_hash_equal(hashes[0], hashes[2]));
}

static uint64_t steps(void *context)
{
    flr_world *world = context;
    flr_world_frame frame = {0};
    for (int i = 0; i < 200; i++) {
        flr_world_input in = at(0.0002 * i - 0.02, 0.002, 0.012 - 0.00004 * i);
        flr_world_step(world, &in, &frame);
    }
    return frame.hash.low;
}

static void is_quiet(void **state)
{
    (void)state;
    flr_world_part parts[2] = {box_at(FLR_PART_STATIC, 0, 0, 0), box_at(FLR_PART_FREE, 0.02, 0, 0)};
    scene *s = make(parts, 2, 1, NULL);
    flr_test_quiet(steps, s->world, NULL);
    unmake(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presses_on_what_stands),
        cmocka_unit_test(tools_change),
        cmocka_unit_test(pushes_a_free_part),
        cmocka_unit_test(force_and_opposite_force),
        cmocka_unit_test(pushes_with_spheres),
        cmocka_unit_test(pushes_what_rests),
        cmocka_unit_test(is_taken_along),
        cmocka_unit_test(is_pinched),
        cmocka_unit_test(friction_goes_along),
        cmocka_unit_test(stays_out),
        cmocka_unit_test(nonsense_is_harmless),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(is_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
