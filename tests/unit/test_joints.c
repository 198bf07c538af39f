/* rigid groups and joints in a world: they hold, they are felt, and they do not drift */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/world.h"
#include "support/fixtures.h"
#include "support/test.h"
#include "world/links_internal.h"

static const double pi = 3.14159265358979323846;
static flr_error error;

/* A rod of 0.2 m along x from `at`, 1 kg, without a surface. */
static flr_world_part rod(flr_vec3 at)
{
    flr_world_part part = flr_default_world_part();
    part.kind = FLR_PART_FREE;
    part.body.inertia = flr_inertia_box(1, flr_vec3_make(0.2, 0.02, 0.02));
    part.body.inertia.centre = flr_vec3_make(0.1, 0, 0);
    part.body.reach = 0.11;
    part.body.T_world_part.p = at;
    return part;
}

static flr_joint joint(flr_joint_kind kind, uint32_t a, uint32_t b, flr_vec3 point, flr_vec3 axis)
{
    flr_joint j = flr_default_joint();
    j.kind = kind, j.a = a, j.b = b, j.point = point, j.axis = axis;
    j.pitch = 0.01;
    return j;
}

static flr_world *make(const flr_world_part *parts, uint32_t count, const uint32_t *groups,
                       const flr_joint *joints, uint32_t joint_count, flr_vec3 gravity)
{
    flr_world_def def = flr_default_world_def();
    flr_world *world;
    def.parts = parts, def.part_count = count;
    def.groups = groups;
    def.joints = joints, def.joint_count = joint_count;
    def.params.step.gravity = gravity;
    assert_ok(flr_world_create(&def, &world, &error), error);
    return world;
}

static void run(flr_world *world, int frames)
{
    flr_world_input none = {0};
    flr_world_frame frame;
    for (int i = 0; i < frames; i++) {
        flr_world_step(world, &none, &frame);
        assert_int_equal(frame.faults, 0);
    }
}

/* Joints hold to a nanometre and a nanoradian. */
static void assert_holds(const flr_world *world)
{
    const flr_mechanism *m = world->links->mechanism;
    flr_pose T[16];
    for (uint32_t i = 0; i < m->part_count; i++) T[i] = flr_world_body(world, i)->T_world_part;
    for (uint32_t i = 0; i < m->joint_count; i++) {
        double length, angle;
        flr_mechanism_error(m, i, T, &length, &angle);
        assert_lt(length, 1e-9);
        assert_lt(angle, 1e-9);
    }
}

/* FLR_LONG=1: a million frames, as the guarantee says */
static int frames_of(int usual) { return getenv("FLR_LONG") ? 1000000 : usual; }

/* ---- joints ---- */

/* a pendulum swings with the period of theory and nearly keeps its energy */
static void swings(void **state)
{
    (void)state;
    flr_world_part parts[] = {rod(flr_vec3_make(0, 0, 0))};
    flr_joint hinge =
        joint(FLR_JOINT_REVOLUTE, FLR_JOINT_WORLD, 0, flr_vec3_zero(), flr_vec3_make(0, 1, 0));
    flr_world *world = make(parts, 1, NULL, &hinge, 1, flr_vec3_make(0, 0, -9.81));
    flr_joint_position at;
    double last = 0, lowest = 0;
    int crossings = 0, first = 0, end = 0;
    for (int i = 0; i < 4000; i++) {
        run(world, 1);
        assert_true(flr_world_joint(world, 0, &at));
        const double angle = at.turn - pi / 2; /* from hanging down */
        if (i > 0 && last < 0 && angle >= 0) {
            if (!crossings) first = i;
            end = i;
            crossings++;
        }
        last = angle;
        lowest = fmax(lowest, at.turn);
    }
    assert_gt(crossings, 2);
    /* a rod hung by its end and let go from the side: 1.18034 times the period of small swings */
    const double inertia = flr_inertia_about(parts[0].body.inertia, flr_vec3_zero()).m[1][1];
    const double period = 2 * pi * sqrt(inertia / (9.81 * 0.1)) * 1.18034;
    assert_lt(fabs((end - first) / 1000.0 / (crossings - 1) / period - 1), 0.02);
    assert_lt(fabs(lowest - pi), 0.05);
    assert_holds(world);
    flr_world_destroy(world);
}

/* every kind, two in a row, thrown about */
static void holds_every_kind(void **state)
{
    (void)state;
    for (int kind = FLR_JOINT_REVOLUTE; kind < FLR_JOINT_KINDS; kind++) {
        flr_world_part parts[] = {rod(flr_vec3_make(0, 0, 0)), rod(flr_vec3_make(0.2, 0, 0))};
        flr_joint joints[] = {joint((flr_joint_kind)kind, FLR_JOINT_WORLD, 0, flr_vec3_zero(),
                                    flr_vec3_make(0.3, 1, 0.2)),
                              joint((flr_joint_kind)kind, 1, 0, flr_vec3_make(0.2, 0, 0),
                                    flr_vec3_make(1, 0.4, -0.3))};
        joints[0].slide.stiffness = joints[1].slide.stiffness = 200;
        joints[0].turn.damping = joints[1].turn.damping = 0.001;
        flr_world *world = make(parts, 2, NULL, joints, 2, flr_vec3_make(0, 0, -9.81));
        const int pieces = frames_of(20000) / 1000;
        for (int i = 0; i < pieces; i++) {
            flr_world_constraint push = flr_default_world_constraint();
            push.wrench.force = flr_vec3_make(3 * sin(i), 4 * cos(2.0 * i), 5 * sin(3.0 * i));
            push.wrench.torque = flr_vec3_make(0.1 * cos(i), 0.2 * sin(i), 0.1);
            assert_true(flr_world_constrain(world, 1, &push));
            run(world, 1000);
            assert_holds(world);
        }
        assert_gt(flr_vec3_distance(flr_world_body(world, 1)->T_world_part.p,
                                    parts[1].body.T_world_part.p),
                  1e-3);
        flr_world_destroy(world);
    }
}

/* two bodies that nothing ties to the world keep their momentum while their hinge works */
static void keeps_momentum(void **state)
{
    (void)state;
    flr_world_part parts[] = {rod(flr_vec3_make(0, 0, 0)), rod(flr_vec3_make(0.2, 0, 0))};
    parts[0].body.twist = flr_twist_make(flr_vec3_make(0, 0, 4), flr_vec3_make(0.1, 0, 0));
    flr_joint hinge =
        joint(FLR_JOINT_REVOLUTE, 0, 1, flr_vec3_make(0.2, 0, 0), flr_vec3_make(0, 0, 1));
    flr_world *world = make(parts, 2, NULL, &hinge, 1, flr_vec3_zero());
    run(world, 1);
    flr_vec3 before = flr_vec3_add(flr_world_body(world, 0)->twist.linear,
                                   flr_world_body(world, 1)->twist.linear);
    const double energy =
        flr_body_energy(flr_world_body(world, 0)) + flr_body_energy(flr_world_body(world, 1));
    run(world, 2000);
    flr_vec3 after = flr_vec3_add(flr_world_body(world, 0)->twist.linear,
                                  flr_world_body(world, 1)->twist.linear);
    assert_lt(flr_vec3_distance(before, after), 1e-9);
    const double later =
        flr_body_energy(flr_world_body(world, 0)) + flr_body_energy(flr_world_body(world, 1));
    assert_lt(fabs(later / energy - 1), 0.05);
    assert_holds(world);
    flr_world_destroy(world);
}

/* four bars: the loop stays closed, and has one freedom */
static void closes_loops(void **state)
{
    (void)state;
    const double r = 0.2;
    flr_world_part parts[] = {rod(flr_vec3_make(0, 0, 0)), rod(flr_vec3_make(0, 0, r)),
                              rod(flr_vec3_make(r, 0, 0))};
    const flr_quat up = flr_quat_from_axis_angle(flr_vec3_make(0, 1, 0), -pi / 2);
    parts[0].body.T_world_part.q = parts[2].body.T_world_part.q = up;
    const flr_vec3 y = {0, 1, 0};
    flr_joint joints[] = {joint(FLR_JOINT_REVOLUTE, FLR_JOINT_WORLD, 0, flr_vec3_make(0, 0, 0), y),
                          joint(FLR_JOINT_REVOLUTE, 0, 1, flr_vec3_make(0, 0, r), y),
                          joint(FLR_JOINT_REVOLUTE, 1, 2, flr_vec3_make(r, 0, r), y),
                          joint(FLR_JOINT_REVOLUTE, FLR_JOINT_WORLD, 2, flr_vec3_make(r, 0, 0), y)};
    joints[0].turn.damping = 0.01;
    flr_world *world = make(parts, 3, NULL, joints, 4, flr_vec3_make(1, 0, -9.81));
    assert_int_equal(world->links->mechanism->islands[0].loop_count, 1);
    const int pieces = frames_of(20000) / 1000;
    for (int i = 0; i < pieces; i++) {
        run(world, 1000);
        assert_holds(world);
    }
    /* a parallelogram: its bars turn alike, the coupler stays level */
    flr_joint_position a, b;
    flr_world_joint(world, 0, &a), flr_world_joint(world, 3, &b);
    assert_gt(fabs(a.turn), 0.1);
    assert_lt(fabs(a.turn - b.turn), 1e-9);
    const flr_vec3 x =
        flr_quat_rotate(flr_world_body(world, 1)->T_world_part.q, flr_vec3_make(1, 0, 0));
    assert_lt(fabs(x.z), 1e-9);
    flr_world_destroy(world);
}

/* limits stop, friction holds up to its most, a spring rests where it should */
static void limits_friction_springs(void **state)
{
    (void)state;
    flr_world_part parts[] = {rod(flr_vec3_make(0, 0, 0))};
    flr_joint hinge =
        joint(FLR_JOINT_REVOLUTE, FLR_JOINT_WORLD, 0, flr_vec3_zero(), flr_vec3_make(0, 1, 0));
    flr_joint_position at;
    hinge.turn.limited = true, hinge.turn.low = -0.5, hinge.turn.high = 0.4;
    flr_world *world = make(parts, 1, NULL, &hinge, 1, flr_vec3_make(0, 0, -9.81));
    double most = 0;
    for (int i = 0; i < 1500; i++) {
        run(world, 1);
        flr_world_joint(world, 0, &at);
        most = fmax(most, at.turn);
    }
    assert_lt(most, 0.4 + 1e-5);
    assert_lt(fabs(at.turn - 0.4), 1e-5);
    flr_world_destroy(world);

    hinge.turn = (flr_joint_axis){.friction = 1.2}; /* its weight has 0.981 N m there */
    world = make(parts, 1, NULL, &hinge, 1, flr_vec3_make(0, 0, -9.81));
    run(world, 1000);
    flr_world_joint(world, 0, &at);
    assert_lt(fabs(at.turn), 1e-3);
    flr_world_destroy(world);
    hinge.turn.friction = 0.5;
    world = make(parts, 1, NULL, &hinge, 1, flr_vec3_make(0, 0, -9.81));
    run(world, 3000);
    flr_world_joint(world, 0, &at);
    assert_gt(at.turn, 0.5); /* it falls, and stops where the rest of its weight is held */
    assert_lt(fabs(0.981 * cos(at.turn)), 0.5 + 1e-6);
    flr_world_destroy(world);

    hinge.turn = (flr_joint_axis){.stiffness = 5, .damping = 0.2, .rest = -0.3};
    world = make(parts, 1, NULL, &hinge, 1, flr_vec3_zero());
    run(world, 3000);
    flr_world_joint(world, 0, &at);
    assert_lt(fabs(at.turn + 0.3), 1e-4);
    flr_world_destroy(world);
}

/* a screw goes by its pitch, also after many turns */
static void screws(void **state)
{
    (void)state;
    flr_world_part parts[] = {rod(flr_vec3_make(0, 0, 0))};
    flr_joint nut =
        joint(FLR_JOINT_SCREW, FLR_JOINT_WORLD, 0, flr_vec3_zero(), flr_vec3_make(0, 0, 1));
    nut.pitch = 0.002;
    flr_world *world = make(parts, 1, NULL, &nut, 1, flr_vec3_zero());
    flr_world_constraint push = flr_default_world_constraint();
    push.wrench.torque = flr_vec3_make(0, 0, 0.1);
    assert_true(flr_world_constrain(world, 0, &push));
    run(world, 4000);
    flr_joint_position at;
    flr_world_joint(world, 0, &at);
    assert_gt(at.turn, 8 * pi);
    assert_lt(fabs(flr_world_body(world, 0)->T_world_part.p.z - 0.002 * at.turn / (2 * pi)), 1e-9);
    flr_world_destroy(world);
}

/* the hand feels that a hinge does not give way along its axis, and turns it freely */
static void is_felt(void **state)
{
    (void)state;
    flr_world_part parts[] = {rod(flr_vec3_make(0, 0, 0))};
    parts[0].kind = FLR_PART_MOVABLE;
    flr_joint hinge =
        joint(FLR_JOINT_REVOLUTE, FLR_JOINT_WORLD, 0, flr_vec3_zero(), flr_vec3_make(0, 0, 1));
    flr_world *world = make(parts, 1, NULL, &hinge, 1, flr_vec3_zero());
    flr_world_input in = {.T_world_hand = {{0.2, 0, 0}, {1, 0, 0, 0}}, .fresh = true};
    assert_true(flr_world_grab_at(world, 0, 0, in.T_world_hand));
    for (int i = 0; i < 500; i++) {
        in.T_world_hand.p.z = 1e-6 * i; /* along the axis: against the joint */
        flr_world_step(world, &in, NULL);
    }
    for (int i = 0; i < 200; i++) flr_world_step(world, &in, NULL);
    assert_lt(flr_world_wrench(world, 0).force.z, -0.1);
    assert_lt(fabs(flr_world_body(world, 0)->T_world_part.p.z), 1e-12);
    in.T_world_hand.p = flr_vec3_make(0.2 * cos(0.3), 0.2 * sin(0.3), 0);
    in.T_world_hand.q = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), 0.3);
    for (int i = 0; i < 3000; i++) flr_world_step(world, &in, NULL);
    flr_joint_position at;
    flr_world_joint(world, 0, &at);
    assert_lt(fabs(at.turn - 0.3), 1e-3);
    assert_lt(flr_vec3_length(flr_world_wrench(world, 0).force), 0.01);
    flr_world_release(world, 0);
    run(world, 100); /* a door stays where it is let go */
    flr_joint_position later;
    flr_world_joint(world, 0, &later);
    assert_lt(fabs(later.turn - at.turn), 1e-12);
    flr_world_destroy(world);
}

/* a saved state goes on with the same bits, turns included */
static void goes_on_from_a_state(void **state)
{
    (void)state;
    flr_world_part parts[] = {rod(flr_vec3_make(0, 0, 0)), rod(flr_vec3_make(0.2, 0, 0))};
    flr_joint joints[] = {
        joint(FLR_JOINT_REVOLUTE, FLR_JOINT_WORLD, 0, flr_vec3_zero(), flr_vec3_make(0, 1, 0)),
        joint(FLR_JOINT_REVOLUTE, 0, 1, flr_vec3_make(0.2, 0, 0), flr_vec3_make(0, 1, 0))};
    flr_world *one = make(parts, 2, NULL, joints, 2, flr_vec3_make(0, 0, -9.81));
    flr_world *other = make(parts, 2, NULL, joints, 2, flr_vec3_make(0, 0, -9.81));
    run(one, 1700);
    const size_t size = flr_world_state_size(one);
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    flr_world_save(one, bytes);
    assert_true(flr_world_load(other, bytes, size));
    flr_world_input none = {0};
    flr_world_frame a, b;
    for (int i = 0; i < 500; i++) {
        flr_world_step(one, &none, &a);
        flr_world_step(other, &none, &b);
        assert_memory_equal(&a.hash, &b.hash, sizeof a.hash);
    }
    const double bad = NAN;
    memcpy(bytes + size - sizeof bad, &bad, sizeof bad);
    assert_false(flr_world_load(other, bytes, size));
    free(bytes);
    flr_world_destroy(one);
    flr_world_destroy(other);
}

/* ---- groups ---- */

/* a group has the mass and inertia of its parts together, and moves as one */
static void groups_are_rigid(void **state)
{
    (void)state;
    flr_world_part parts[] = {rod(flr_vec3_make(0, 0, 0)), rod(flr_vec3_make(0, 0.1, 0)),
                              rod(flr_vec3_make(0, 0.2, 0.05))};
    for (int i = 0; i < 3; i++) parts[i].kind = FLR_PART_MOVABLE;
    parts[2].body.T_world_part.q = flr_quat_from_axis_angle(flr_vec3_make(1, 1, 0), 1);
    const uint32_t groups[] = {FLR_NO_PART, 7, 7};
    flr_world *world = make(parts, 3, groups, NULL, 0, flr_vec3_zero());
    const flr_body *a = flr_world_body(world, 1), *b = flr_world_body(world, 2);
    assert_lt(fabs(a->inertia.mass - 2), 1e-12);
    assert_lt(flr_vec3_distance(flr_body_centre(a), flr_body_centre(b)), 1e-12);
    const flr_pose T = flr_pose_mul(flr_pose_inverse(a->T_world_part), b->T_world_part);

    assert_true(flr_world_grab_at(world, 0, 2, b->T_world_part));
    assert_int_equal(flr_world_held(world, 0), 1); /* its leader */
    flr_world_input in = {.T_world_hand = b->T_world_part, .fresh = true};
    for (int i = 0; i < 2000; i++) {
        in.T_world_hand.p.x += 2e-5;
        in.T_world_hand.q = flr_quat_normalize(flr_quat_mul(
            flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), 5e-4), in.T_world_hand.q));
        flr_world_step(world, &in, NULL);
        assert_eq(flr_vec3_length(flr_world_wrench(world, 0).force), 0); /* free space */
    }
    for (int i = 0; i < 1000; i++) flr_world_step(world, &in, NULL);
    assert_lt(flr_vec3_distance(b->T_world_part.p, in.T_world_hand.p), 1e-5);
    const flr_pose now = flr_pose_mul(flr_pose_inverse(a->T_world_part), b->T_world_part);
    assert_lt(flr_vec3_distance(T.p, now.p), 1e-12);
    assert_lt(flr_quat_angle(T.q, now.q), 1e-7);
    assert_lt(flr_vec3_distance(flr_world_body(world, 0)->T_world_part.p, flr_vec3_zero()), 1e-15);

    /* put elsewhere by one of its parts, all of it is there */
    assert_true(flr_world_place(world, 2, parts[2].body.T_world_part));
    assert_lt(flr_vec3_distance(a->T_world_part.p, parts[1].body.T_world_part.p), 1e-12);
    flr_world_destroy(world);
}

/* a free group falls and turns as one body with that inertia does */
static void groups_are_one_body(void **state)
{
    (void)state;
    flr_world_part parts[] = {rod(flr_vec3_make(0, 0, 0)), rod(flr_vec3_make(0, 0.1, 0.03))};
    const uint32_t groups[] = {0, 0};
    flr_world *group = make(parts, 2, groups, NULL, 0, flr_vec3_make(0, 0, -9.81));
    flr_world_part one = parts[0];
    one.body.inertia = flr_world_body(group, 0)->inertia;
    one.body.reach = flr_world_body(group, 0)->reach;
    flr_world *single = make(&one, 1, NULL, NULL, 0, flr_vec3_make(0, 0, -9.81));
    flr_world_constraint push = flr_default_world_constraint();
    push.wrench.torque = flr_vec3_make(0.01, 0.02, 0.03);
    assert_true(flr_world_constrain(group, 1, &push) && flr_world_constrain(single, 0, &push));
    run(group, 1000);
    run(single, 1000);
    const flr_pose a = flr_world_body(group, 0)->T_world_part,
                   b = flr_world_body(single, 0)->T_world_part;
    assert_lt(flr_vec3_distance(a.p, b.p), 1e-4);
    assert_lt(flr_quat_angle(a.q, b.q), 2e-3);
    flr_world_destroy(group);
    flr_world_destroy(single);
}

/* ---- contact ---- */

/* a box above a floor, as one part and as the lower part of a group; held above, pushed down */
static void contact_stops_a_group(void **state)
{
    (void)state;
    for (int engine = 0; engine < 2; engine++) {
        flr_test_shape floor_shape = {0}, box_shape = {0};
        flr_part *floor, *box;
        flr_fit *fits[2];
        flr_test_shape_box(&floor_shape, flr_vec3_make(0.06, 0.06, 0.008), 1);
        flr_test_shape_box(&box_shape, flr_vec3_make(0.01, 0.01, 0.01), 1);
        const flr_mesh *meshes[2] = {flr_test_shape_mesh(&floor_shape),
                                     flr_test_shape_mesh(&box_shape)};
        assert_ok(flr_part_create(flr_env_real(), meshes[0], NULL, &floor, &error), error);
        assert_ok(flr_part_create(flr_env_real(), meshes[1], NULL, &box, &error), error);
        for (int i = 0; i < 2; i++) fits[i] = flr_test_fit(meshes[i]);
        const flr_quat q = flr_quat_identity();
        flr_world_part parts[] = {
            flr_part_in_world(floor, FLR_PART_STATIC,
                              flr_pose_make(flr_vec3_make(0, 0, -0.004), q)),
            flr_part_in_world(box, FLR_PART_MOVABLE, flr_pose_make(flr_vec3_make(0, 0, 0.05), q)),
            flr_part_in_world(box, FLR_PART_MOVABLE,
                              flr_pose_make(flr_vec3_make(0.004, 0, 0.015), q))};
        for (int i = 0; i < 3; i++) parts[i].fit = fits[i > 0];
        for (int i = 1; i < 3; i++) parts[i].body.mass = 0.25;
        flr_world_def def = flr_default_world_def();
        const uint32_t groups[] = {FLR_NO_PART, 3, 3};
        def.parts = parts, def.part_count = 3, def.groups = groups;
        def.params.engine = engine ? FLR_ENGINE_EXACT : FLR_ENGINE_SHELL;
        flr_world *world;
        assert_ok(flr_world_create(&def, &world, &error), error);
        flr_world_input in = {.T_world_hand = {{0, 0, 0.05}, {1, 0, 0, 0}}, .fresh = true};
        assert_true(flr_world_grab_at(world, 0, 1, in.T_world_hand));
        flr_world_frame frame;
        double least = 1;
        for (int i = 0; i < 600; i++) {
            in.T_world_hand.p.z -= i < 300 ? 1e-4 : 0; /* 20 mm too far */
            flr_world_step(world, &in, &frame);
            const flr_body *lower = flr_world_body(world, 2);
            least = fmin(least, lower->T_world_part.p.z);
        }
        assert_gt(least, 0.005 - 1e-9); /* surfaces stay apart */
        assert_lt(least, 0.0085);       /* but it came down */
        assert_gt(flr_world_wrench(world, 0).force.z, 0.1);
        assert_lt(fabs(flr_world_body(world, 1)->T_world_part.p.z -
                       flr_world_body(world, 2)->T_world_part.p.z - 0.035),
                  1e-3);
        flr_world_destroy(world);
        for (int i = 0; i < 2; i++) flr_fit_destroy(fits[i]);
        flr_part_destroy(floor);
        flr_part_destroy(box);
        flr_test_shape_free(&floor_shape);
        flr_test_shape_free(&box_shape);
    }
}

/* an arm on a hinge comes down on a floor and stops there, with either engine */
static void contact_stops_a_hinge(void **state)
{
    (void)state;
    for (int engine = 0; engine < 2; engine++) {
        flr_test_shape floor_shape = {0}, box_shape = {0};
        flr_part *floor, *box;
        flr_fit *fits[2];
        flr_test_shape_box(&floor_shape, flr_vec3_make(0.06, 0.06, 0.008), 1);
        flr_test_shape_box(&box_shape, flr_vec3_make(0.05, 0.01, 0.01), 1);
        const flr_mesh *meshes[2] = {flr_test_shape_mesh(&floor_shape),
                                     flr_test_shape_mesh(&box_shape)};
        assert_ok(flr_part_create(flr_env_real(), meshes[0], NULL, &floor, &error), error);
        assert_ok(flr_part_create(flr_env_real(), meshes[1], NULL, &box, &error), error);
        for (int i = 0; i < 2; i++) fits[i] = flr_test_fit(meshes[i]);
        const flr_quat q = flr_quat_identity();
        flr_world_part parts[] = {
            flr_part_in_world(floor, FLR_PART_STATIC,
                              flr_pose_make(flr_vec3_make(0, 0, -0.004), q)),
            flr_part_in_world(box, FLR_PART_FREE, flr_pose_make(flr_vec3_make(0, 0, 0.02), q))};
        for (int i = 0; i < 2; i++) parts[i].fit = fits[i];
        parts[1].body.mass = 0.25;
        flr_world_def def = flr_default_world_def();
        flr_joint hinge = joint(FLR_JOINT_REVOLUTE, FLR_JOINT_WORLD, 1,
                                flr_vec3_make(-0.025, 0, 0.02), flr_vec3_make(0, 1, 0));
        def.parts = parts, def.part_count = 2, def.joints = &hinge, def.joint_count = 1;
        def.params.engine = engine ? FLR_ENGINE_EXACT : FLR_ENGINE_SHELL;
        def.params.step.gravity = flr_vec3_make(0, 0, -9.81);
        flr_world *world;
        assert_ok(flr_world_create(&def, &world, &error), error);
        flr_joint_position at;
        for (int i = 0; i < 1500; i++) {
            flr_world_input none = {0};
            flr_world_step(world, &none, NULL);
            const flr_pose T = flr_world_body(world, 1)->T_world_part;
            const double corner = flr_pose_apply(T, flr_vec3_make(0.025, 0, -0.005)).z;
            assert_gt(corner, -1e-9);
        }
        flr_world_joint(world, 0, &at);
        assert_gt(at.turn, 0.2); /* the corner is on the floor at 0.3097 */
        assert_lt(at.turn, 0.3098);
        assert_lt(fabs(flr_world_body(world, 1)->twist.angular.y), 0.01);
        assert_holds(world);
        flr_world_destroy(world);
        for (int i = 0; i < 2; i++) flr_fit_destroy(fits[i]);
        flr_part_destroy(floor);
        flr_part_destroy(box);
        flr_test_shape_free(&floor_shape);
        flr_test_shape_free(&box_shape);
    }
}

/* ---- bad input ---- */

static void refuse(const flr_world_part *parts, uint32_t count, const uint32_t *groups, flr_joint j,
                   const char *says)
{
    flr_world_def def = flr_default_world_def();
    flr_world *world = NULL;
    def.parts = parts, def.part_count = count, def.groups = groups;
    def.joints = &j, def.joint_count = 1;
    j.name = "door";
    assert_int_equal(flr_world_create(&def, &world, &error), FLR_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, says));
    assert_non_null(strstr(error.message, "door"));
}

static void refuses_nonsense(void **state)
{
    (void)state;
    flr_world_part parts[] = {rod(flr_vec3_make(0, 0, 0)), rod(flr_vec3_make(0.2, 0, 0))};
    const flr_vec3 z = {0, 0, 1}, none = {0, 0, 0};
    const uint32_t groups[] = {4, 4};
    flr_joint j = joint(FLR_JOINT_REVOLUTE, 0, 1, none, z);
    refuse(parts, 2, groups, j, "same rigid group");
    refuse(parts, 2, NULL, joint(FLR_JOINT_REVOLUTE, 0, 0, none, z), "to itself");
    refuse(parts, 2, NULL, joint(FLR_JOINT_REVOLUTE, 0, 5, none, z), "not there");
    refuse(parts, 2, NULL, joint(FLR_JOINT_REVOLUTE, 0, 1, none, none), "axis");
    j.turn = (flr_joint_axis){.limited = true, .low = 1, .high = 0};
    refuse(parts, 2, NULL, j, "reversed");
    j = joint(FLR_JOINT_SCREW, 0, 1, none, z);
    j.pitch = 0;
    refuse(parts, 2, NULL, j, "pitch");
    parts[0].kind = parts[1].kind = FLR_PART_STATIC;
    refuse(parts, 2, NULL, joint(FLR_JOINT_REVOLUTE, 0, 1, none, z), "do not move");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swings),
        cmocka_unit_test(holds_every_kind),
        cmocka_unit_test(keeps_momentum),
        cmocka_unit_test(closes_loops),
        cmocka_unit_test(limits_friction_springs),
        cmocka_unit_test(screws),
        cmocka_unit_test(is_felt),
        cmocka_unit_test(goes_on_from_a_state),
        cmocka_unit_test(groups_are_rigid),
        cmocka_unit_test(groups_are_one_body),
        cmocka_unit_test(contact_stops_a_group),
        cmocka_unit_test(contact_stops_a_hinge),
        cmocka_unit_test(refuses_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
