/* the world: parts are held, stopped, pushed and put back; the same inputs give the same bits */
#include "feeler/world.h"

#include <math.h>
#include <stddef.h>

#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/test.h"
#include "world/world_internal.h"

static const double voxel = 0.001;
static flr_error error;

/* a floor of 60 x 60 x 8 mm whose top is at z = 0, and parts above it */
typedef struct scene {
    flr_test_shape floor;
    flr_voxmap *floor_map;
    flr_contact_table *floor_table;
    flr_test_part parts[FLR_TEST_SOLID_COUNT];
    flr_contact_table *tables[FLR_TEST_SOLID_COUNT];
} scene;

static scene the_scene;

static int set_up(void **state)
{
    (void)state;
    scene *s = &the_scene;
    flr_test_shape_box(&s->floor, flr_vec3_make(0.06, 0.06, 0.008), 1);
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    assert_ok(flr_voxelize(flr_env_real(), flr_test_shape_mesh(&s->floor), &def, &s->floor_map,
                           NULL, NULL, &error),
              error);
    assert_ok(flr_contact_table_create(s->floor_map, &s->floor_table, &error), error);
    for (int i = 0; i < FLR_TEST_SOLID_COUNT; i++) {
        flr_test_part_make(&s->parts[i], (flr_test_solid)i, 0.5, voxel, true);
        assert_ok(flr_contact_table_create(s->parts[i].voxmap, &s->tables[i], &error), error);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scene *s = &the_scene;
    flr_contact_table_destroy(s->floor_table);
    flr_voxmap_destroy(s->floor_map);
    flr_test_shape_free(&s->floor);
    for (int i = 0; i < FLR_TEST_SOLID_COUNT; i++) {
        flr_contact_table_destroy(s->tables[i]);
        flr_test_part_free(&s->parts[i]);
    }
    return 0;
}

static flr_world_part floor_part(void)
{
    flr_world_part part = flr_default_world_part();
    part.shape = flr_pairs_shape_make(NULL, the_scene.floor_table);
    part.body.T_world_part.p.z = -0.004;
    return part;
}

static flr_world_part solid(flr_test_solid kind, flr_part_kind how, flr_vec3 at)
{
    flr_world_part part = flr_default_world_part();
    part.shape = flr_pairs_shape_make(the_scene.parts[kind].shell, the_scene.tables[kind]);
    part.kind = how;
    assert_ok(flr_body_def_from_mesh(flr_test_shape_mesh(&the_scene.parts[kind].shape), 8000,
                                     &part.body, &error),
              error);
    part.body.T_world_part.p = at;
    return part;
}

static flr_world *make(const flr_world_part *parts, uint32_t count, const flr_world_params *params)
{
    flr_world_def def = flr_default_world_def();
    def.parts = parts;
    def.part_count = count;
    if (params) def.params = *params;
    flr_world *world;
    assert_ok(flr_world_create(&def, &world, &error), error);
    return world;
}

static flr_world_input at(double x, double y, double z)
{
    flr_world_input in = {.T_world_hand = {{x, y, z}, {1, 0, 0, 0}}, .fresh = true};
    return in;
}

/* ---- holding ---- */

static void follows_the_hand(void **state)
{
    (void)state;
    flr_world_part parts[] = {floor_part(),
                              solid(FLR_TEST_BOX, FLR_PART_MOVABLE, flr_vec3_make(0, 0, 0.05))};
    flr_world *world = make(parts, 2, NULL);
    assert_false(flr_world_grab(world, 0, 0)); /* static */
    assert_false(flr_world_grab(world, 0, 2));
    assert_false(flr_world_grab(world, 1, 1));
    assert_true(flr_world_grab(world, 0, 1));
    flr_world_frame frame;
    for (int i = 0; i < 500; i++) {
        flr_world_input in = at(1e-5 * i, 0, 0.05);
        flr_world_step(world, &in, &frame);
        assert_int_equal(frame.contacts, 0);
        assert_eq(flr_vec3_length(flr_world_wrench(world, 0).force), 0);
    }
    flr_world_input in = at(0.005, 0, 0.05);
    for (int i = 0; i < 300; i++) flr_world_step(world, &in, &frame);
    assert_lt(fabs(flr_world_body(world, 1)->T_world_part.p.x - 0.005), 1e-6);
    assert_lt(frame.energy, 1e-9);
    /* let go: it stays */
    flr_world_release(world, 0);
    in = at(0.1, 0, 0.05);
    flr_pose before = flr_world_body(world, 1)->T_world_part;
    for (int i = 0; i < 10; i++) flr_world_step(world, &in, &frame);
    assert_memory_equal(&before, &flr_world_body(world, 1)->T_world_part, sizeof before);
    flr_world_destroy(world);
}

/* another world with one more part goes on where the first was, as if nothing had happened */
static void goes_on_in_another(void **state)
{
    (void)state;
    flr_world_part all[] = {floor_part(),
                            solid(FLR_TEST_SPHERE, FLR_PART_MOVABLE, flr_vec3_make(0.02, 0, 0.09)),
                            solid(FLR_TEST_BOX, FLR_PART_MOVABLE, flr_vec3_make(0, 0, 0.02))};
    flr_world_part two[] = {all[0], all[2]};
    flr_world *first = make(two, 2, NULL), *second = make(all, 3, NULL);
    const uint32_t before[] = {0, FLR_NO_PART, 1};
    flr_world_grab(first, 0, 1);
    flr_world_frame a, b;
    for (int i = 0; i < 300; i++) {
        flr_world_input in = at(0, 0, 0.02 - 1e-4 * i);
        flr_world_step(first, &in, &a);
    }
    assert_gt(a.contacts, 0);
    flr_world_adopt(second, first, before);
    flr_pose grip_a, grip_b;
    assert_true(flr_world_grip(first, 0, &grip_a));
    assert_true(flr_world_grip(second, 0, &grip_b));
    assert_memory_equal(&grip_a, &grip_b, sizeof grip_a);
    assert_int_equal(flr_world_held(second, 0), 2);
    for (int i = 0; i < 100; i++) {
        flr_world_input in = at(1e-5 * i, 0, -0.01);
        flr_world_step(first, &in, &a);
        flr_world_step(second, &in, &b);
        assert_int_equal(a.number, b.number);
        assert_memory_equal(&flr_world_body(first, 1)->T_world_part,
                            &flr_world_body(second, 2)->T_world_part, sizeof(flr_pose));
    }
    assert_eq(flr_world_body(second, 1)->T_world_part.p.z, 0.09);
    // what is gone is let go of
    flr_world *third = make(all, 2, NULL);
    flr_world_adopt(third, second, (const uint32_t[]){0, 1});
    assert_int_equal(flr_world_held(third, 0), FLR_NO_PART);
    assert_false(flr_world_grip(third, 0, &grip_a));
    flr_world_destroy(first);
    flr_world_destroy(second);
    flr_world_destroy(third);
}

static void pressed_against_the_floor(void **state)
{
    (void)state;
    flr_world_part parts[] = {floor_part(),
                              solid(FLR_TEST_BOX, FLR_PART_MOVABLE, flr_vec3_make(0, 0, 0.02))};
    flr_world *world = make(parts, 2, NULL);
    flr_world_grab(world, 0, 1);
    flr_world_frame frame;
    double push = 0;
    uint32_t penetrations = 0;
    for (int i = 0; i < 3000; i++) {
        double z = 0.02 - 2e-5 * (i < 1500 ? i : 1500); /* 10 mm below the floor in the end */
        flr_world_input in = at(0, 0, z);
        flr_world_step(world, &in, &frame);
        penetrations += frame.penetrations;
        push = flr_world_wrench(world, 0).force.z;
    }
    /* the box is 6 mm high: it stops more than a voxel above the floor and the hand is pushed up */
    double gap = flr_world_body(world, 1)->T_world_part.p.z - 0.003;
    print_message("gap %.4f mm, force %.3f N\n", gap * 1e3, push);
    assert_int_equal(penetrations, 0);
    assert_gt(gap, voxel);
    assert_lt(gap, 3 * voxel);
    assert_gt(push, 0.1);
    assert_lt(frame.energy, 1e-9);
    flr_world_destroy(world);
}

/* On a floor that is oblique to its voxels a part slides as if they were no stairs, whatever presses it. */
static void slides_over_stairs(void **state)
{
    (void)state;
    const flr_vec3 axes[] = {{1, 0, 0}, {1, 1, 0}, {0.3, 1, 0.2}};
    const double angles[] = {0.4636, 0.1, 0.7854, 0.9553};
    for (int k = 0; k < 12; k += 2) {
        flr_quat turn = flr_quat_from_axis_angle(flr_vec3_normalize(axes[k / 4]), angles[k % 4]);
        flr_voxelize_def def = flr_default_voxelize_def();
        def.voxel = voxel;
        def.T_voxmap_mesh.q = turn;
        flr_voxmap *map;
        flr_contact_table *table;
        assert_ok(flr_voxelize(flr_env_real(), flr_test_shape_mesh(&the_scene.floor), &def, &map,
                               NULL, NULL, &error),
                  error);
        assert_ok(flr_contact_table_create(map, &table, &error), error);
        flr_world_part parts[] = {floor_part(),
                                  solid(FLR_TEST_BOX, FLR_PART_MOVABLE, flr_vec3_make(0, 0, 0.01))};
        parts[0].shape = flr_pairs_shape_make(NULL, table);
        parts[0].body.T_world_part.q = flr_quat_conjugate(turn);
        flr_world *world = make(parts, 2, NULL);
        flr_world_grab(world, 0, 1);
        uint32_t stopped = 0, penetrations = 0, contacts = 0;
        double behind = 0;
        for (int i = 0; i < 900; i++) {
            double t = fmax(0, (i - 300) / 600.0), x = 0.015 * sin(6.28 * t), y = 0.004 * t;
            flr_world_input in = at(x, y, i < 300 ? 0.01 - 2.2e-5 * i : 0.0034);
            flr_world_frame frame;
            flr_world_step(world, &in, &frame);
            stopped += frame.stopped;
            penetrations += frame.penetrations;
            contacts += frame.contacts > 0;
            flr_vec3 p = flr_world_body(world, 1)->T_world_part.p;
            behind = fmax(behind, hypot(p.x - x, p.y - y));
        }
        if (stopped > 5 || behind > 0.004)
            print_message("turn %d: stopped %u, %.2f mm behind\n", k, stopped, behind * 1e3);
        assert_gt(contacts, 500);
        assert_int_equal(penetrations, 0);
        assert_le(stopped, 5);
        assert_lt(behind, 0.004);
        flr_world_destroy(world);
        flr_contact_table_destroy(table);
        flr_voxmap_destroy(map);
    }
}

/* A frame is bounded: when checking takes too much, a body goes half a voxel at most, and nothing passes all the same. */
static void little_budget(void **state)
{
    (void)state;
    flr_world_part parts[] = {floor_part(),
                              solid(FLR_TEST_BOX, FLR_PART_MOVABLE, flr_vec3_make(0, 0, 0.02))};
    flr_world_params params = flr_default_world_params();
    params.coupling.stretch = 1;
    params.coupling.stiffness = 1e4;
    params.budget = 20;
    flr_world *world = make(parts, 2, &params);
    flr_world_grab(world, 0, 1);
    uint32_t exhausted = 0;
    flr_pose before = flr_world_body(world, 1)->T_world_part;
    for (int i = 0; i < 500; i++) {
        flr_world_input in = at(0.01 * sin(0.05 * i), 0, i < 10 ? 0.02 : -0.02);
        flr_world_frame frame;
        flr_world_step(world, &in, &frame);
        flr_pose now = flr_world_body(world, 1)->T_world_part;
        if (frame.exhausted) assert_lt(flr_vec3_distance(now.p, before.p), 0.51 * voxel);
        exhausted += frame.exhausted > 0;
        before = now;
        assert_gt(now.p.z, 0.003 + voxel); /* the box is 6 mm high */
    }
    assert_gt(exhausted, 100);
    params.budget = 0;
    flr_world_set_params(world, &params);
    for (int i = 0; i < 50; i++) {
        flr_world_input in = at(0, 0, 0.02);
        flr_world_frame frame;
        flr_world_step(world, &in, &frame);
        assert_int_equal(frame.exhausted, 0);
    }
    flr_world_destroy(world);
}

/* A hand that jumps through the floor in one frame does not take the part along. */
static void nothing_passes_through(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("nothing_passes_through");
    for (int run = 0; run < 3; run++) {
        flr_world_part parts[] = {floor_part(), solid((flr_test_solid)flr_test_random_below(
                                                          &random, FLR_TEST_SOLID_COUNT),
                                                      FLR_PART_MOVABLE, flr_vec3_make(0, 0, 0.03))};
        flr_world_params params = flr_default_world_params();
        params.coupling.stretch = 1; /* metres: a very strong hand */
        params.coupling.stiffness = 1e5;
        flr_world *world = make(parts, 2, &params);
        flr_world_grab(world, 0, 1);
        flr_world_frame frame;
        uint32_t stopped = 0;
        for (int i = 0; i < 100; i++) {
            double z = i < 10 ? 0.03 : -0.1;
            flr_world_input in = at(0.01 * flr_test_random_range(&random, -1, 1), 0, z);
            flr_world_step(world, &in, &frame);
            stopped += frame.stopped;
            assert_gt(flr_world_body(world, 1)->T_world_part.p.z, 0);
        }
        assert_gt(stopped, 0); /* it was fast enough to need it */
        flr_world_destroy(world);
    }
}

/* ---- free bodies ---- */

static void falls_and_rests(void **state)
{
    (void)state;
    flr_world_part parts[] = {floor_part(),
                              solid(FLR_TEST_BOX, FLR_PART_FREE, flr_vec3_make(-0.012, 0, 0.02)),
                              solid(FLR_TEST_TORUS, FLR_PART_FREE, flr_vec3_make(0.012, 0, 0.02))};
    flr_world_params params = flr_default_world_params();
    params.step.gravity = flr_vec3_make(0, 0, -9.81);
    params.friction = 0.5;
    flr_world *world = make(parts, 3, &params);
    flr_world_frame frame;
    flr_world_input in = at(1, 1, 1);
    double fastest = 0;
    for (int i = 0; i < 1500; i++) {
        flr_world_step(world, &in, &frame);
        fastest = frame.energy > fastest ? frame.energy : fastest;
        assert_gt(flr_world_body(world, 1)->T_world_part.p.z, 0.003);
    }
    assert_gt(fastest, 1e-5);
    /* the box lies on the floor, within its layers */
    const flr_body *box = flr_world_body(world, 1);
    print_message("box at %.3f mm, energy %.2g J\n", box->T_world_part.p.z * 1e3, frame.energy);
    assert_lt(box->T_world_part.p.z, 0.006);
    flr_world_destroy(world);
}

/* ---- the same again ---- */

static flr_hash run(const flr_world_params *params, flr_simd simd, int frames, int save_at)
{
    flr_world_part parts[] = {floor_part(),
                              solid(FLR_TEST_BOX, FLR_PART_MOVABLE, flr_vec3_make(0, 0, 0.012)),
                              solid(FLR_TEST_TORUS, FLR_PART_FREE, flr_vec3_make(0.012, 0, 0.006))};
    flr_world_def def = flr_default_world_def();
    def.parts = parts;
    def.part_count = 3;
    def.params = *params;
    def.simd = simd;
    flr_world *world;
    flr_result made = flr_world_create(&def, &world, &error);
    if (made == FLR_UNSUPPORTED) return (flr_hash){0};
    assert_ok(made, error);
    flr_world_grab(world, 0, 1);
    flr_world_frame frame;
    void *saved = malloc(flr_world_state_size(world));
    for (int i = 0; i < frames; i++) {
        double t = 1e-3 * i;
        flr_world_input in = at(0.01 * sin(7 * t), 0.004 * sin(11 * t), 0.004 + 0.006 * cos(5 * t));
        flr_world_step(world, &in, &frame);
        if (i == save_at) flr_world_save(world, saved);
    }
    if (save_at >= 0) { /* back, and over the same way again */
        flr_hash first = frame.hash;
        assert_true(flr_world_load(world, saved, flr_world_state_size(world)));
        for (int i = save_at + 1; i < frames; i++) {
            double t = 1e-3 * i;
            flr_world_input in =
                at(0.01 * sin(7 * t), 0.004 * sin(11 * t), 0.004 + 0.006 * cos(5 * t));
            flr_world_step(world, &in, &frame);
        }
        assert_true(flr_hash_equal(first, frame.hash));
    }
    assert_false(flr_world_load(world, saved, flr_world_state_size(world) - 1));
    free(saved);
    flr_world_destroy(world);
    return frame.hash;
}

static void the_same_bits(void **state)
{
    (void)state;
    flr_world_params params = flr_default_world_params();
    params.step.gravity = flr_vec3_make(0, 0, -2);
    for (int i = 0; i < FLR_INTEGRATOR_COUNT; i++) {
        params.step.integrator = (flr_integrator)i;
        flr_hash first = run(&params, FLR_SIMD_SCALAR, 80, -1);
        for (flr_simd simd = FLR_SIMD_SCALAR; simd <= FLR_SIMD_NEON; simd++) {
            flr_hash again = run(&params, simd, 80, 40);
            assert_true(flr_hash_equal(first, again) || (again.high == 0 && again.low == 0));
        }
        flr_hash other = run(&params, FLR_SIMD_SCALAR, 20, -1);
        assert_false(flr_hash_equal(first, other));
    }
}

/* ---- nonsense ---- */

static void nonsense_from_the_device(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("nonsense_from_the_device");
    flr_world_part parts[] = {floor_part(),
                              solid(FLR_TEST_BOX, FLR_PART_MOVABLE, flr_vec3_make(0, 0, 0.01))};
    flr_world *world = make(parts, 2, NULL);
    flr_world_grab(world, 0, 1);
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e300, 1e-310, 0, 1e18};
    for (int i = 0; i < 5000; i++) {
        flr_world_input in = at(0, 0, 0.01);
        double *numbers[] = {&in.T_world_hand.p.x, &in.T_world_hand.p.z, &in.T_world_hand.q.w,
                             &in.T_world_hand.q.y, &in.twist.linear.x,   &in.twist.angular.z};
        in.has_twist = i % 2;
        *numbers[flr_test_random_below(&random, 6)] = bad[flr_test_random_below(&random, 7)];
        flr_world_frame frame;
        flr_world_step(world, &in, &frame);
        const flr_body *body = flr_world_body(world, 1);
        assert_true(flr_body_is_valid(body));
        assert_true(flr_vec3_is_finite(flr_world_wrench(world, 0).force));
        assert_true(flr_vec3_is_finite(flr_world_wrench(world, 0).torque));
        assert_true(isfinite(frame.energy));
    }
    /* and it still works */
    assert_false(flr_world_place(world, 1, (flr_pose){{NAN, 0, 0}, {1, 0, 0, 0}}));
    assert_true(flr_world_place(world, 1, (flr_pose){{0, 0, 0.03}, {1, 0, 0, 0}}));
    flr_world_release(world, 0);
    flr_world_input in = at(0, 0, 0.03);
    flr_world_step(world, &in, NULL);
    assert_true(flr_world_grab(world, 0, 1));
    for (int i = 0; i < 100; i++) flr_world_step(world, &in, NULL);
    assert_lt(fabs(flr_world_body(world, 1)->T_world_part.p.z - 0.03), 1e-6);
    flr_world_destroy(world);
}

/* A state comes from a recording or a file of --resume: whatever its bytes are, it is refused, or what it gives can be stepped. */
static void nonsense_in_a_state(void **state)
{
    (void)state;
    static const uint8_t patterns[][8] = {{0x70, 0x70, 0x70, 0x70, 0x70, 0x70, 0x70, 0x70},
                                          {0, 0, 0, 0, 0, 0, 0xf8, 0x7f},
                                          {0, 0, 0, 0, 0, 0, 0xf0, 0xff}};
    flr_test_random random = flr_test_random_begin("nonsense_in_a_state");
    flr_world_part parts[2] = {floor_part(),
                               solid(FLR_TEST_BOX, FLR_PART_MOVABLE, flr_vec3_make(0, 0, 0.05))};
    flr_world_def def = flr_default_world_def();
    def.parts = parts, def.part_count = 2;
    flr_world *world;
    assert_ok(flr_world_create(&def, &world, &error), error);
    flr_world_input in = {.T_world_hand = flr_pose_identity(), .fresh = true};
    assert_true(flr_world_grab(world, 0, 1));
    flr_world_step(world, &in, NULL);
    const size_t size = flr_world_state_size(world);
    uint8_t *good = malloc(2 * size), *bad = good + size;
    assert_non_null(good);
    flr_world_save(world, good);
    int refused = 0, taken = 0;
    for (int i = 0; i < 1500; i++) {
        memcpy(bad, good, size);
        size_t place = flr_test_random_below(&random, (uint32_t)(size / 8)) * (size_t)8;
        /* most of a state are remote couplings: half of the changes where the first hand is */
        if (i % 2) place %= 1024;
        memcpy(bad + place, patterns[i % 3], i % 4 ? 8 : 1);
        if (!flr_world_load(world, bad, size)) {
            refused++;
            continue;
        }
        taken++;
        flr_world_frame frame;
        flr_world_step(world, &in, &frame);
        assert_true(flr_body_is_valid(flr_world_body(world, 1)));
        assert_true(flr_vec3_is_finite(flr_world_wrench(world, 0).force));
    }
    assert_gt(refused, 100);
    assert_gt(taken, 100);
    assert_true(flr_world_load(world, good, size));
    /* an empty hand that is about to take a part would look for it beyond the last one */
    flr_world_release(world, 0);
    flr_world_save(world, bad);
    assert_true(flr_world_load(world, bad, size));
    bad[offsetof(flr_world_state, hands) + offsetof(flr_world_hand_state, waiting)] = 1;
    assert_false(flr_world_load(world, bad, size));
    free(good);
    flr_world_destroy(world);
}

static void bad_definitions(void **state)
{
    (void)state;
    flr_world_part part = solid(FLR_TEST_BOX, FLR_PART_MOVABLE, flr_vec3_make(0, 0, 0));
    flr_world_def def = flr_default_world_def();
    flr_world *world;
    def.dt = 1;
    assert_int_equal(flr_world_create(&def, &world, &error), FLR_BAD_ARGUMENT);
    def = flr_default_world_def();
    def.hand_count = 9;
    assert_int_equal(flr_world_create(&def, &world, &error), FLR_BAD_ARGUMENT);
    def = flr_default_world_def();
    part.body.inertia.mass = -1;
    def.parts = &part;
    def.part_count = 1;
    assert_int_equal(flr_world_create(&def, &world, &error), FLR_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "part 0"));
    /* nothing in it */
    def = flr_default_world_def();
    assert_ok(flr_world_create(&def, &world, &error), error);
    flr_world_input in = at(0, 0, 0);
    flr_world_step(world, &in, NULL);
    flr_world_destroy(world);
}

static flr_result make_one(void *context, flr_error *e)
{
    flr_world_def def = flr_default_world_def();
    def.parts = context;
    def.part_count = 2;
    flr_world *world;
    flr_result result = flr_world_create(&def, &world, e);
    if (result == FLR_OK) flr_world_destroy(world);
    return result;
}

static void without_memory(void **state)
{
    (void)state;
    flr_world_part parts[] = {floor_part(),
                              solid(FLR_TEST_BOX, FLR_PART_MOVABLE, flr_vec3_make(0, 0, 0.01))};
    flr_fail_alloc_each(make_one, parts);
}

/* ---- temporal coherence ---- */

/* A hand presses a box on the floor and drags it along another part. Writes the frames; returns the farthest that it was dragged. */
static double drag_coherent(flr_world_engine engine, double tests, flr_world_frame *last,
                            uint32_t *limited, uint32_t *queued, double *travel)
{
    flr_world_part parts[] = {floor_part(),
                              solid(FLR_TEST_BOX, FLR_PART_MOVABLE, flr_vec3_make(0, 0, 0.02)),
                              solid(FLR_TEST_BOX, FLR_PART_MOVABLE, flr_vec3_make(0.03, 0, 0.02))};
    flr_world_params params = flr_default_world_params();
    params.engine = engine;
    params.tests = tests;
    flr_world *world = make(parts, 3, &params);
    assert_true(flr_world_grab(world, 0, 1));
    *limited = *queued = 0;
    *travel = 0;
    for (int i = 0; i < 600; i++) {
        flr_vec3 before = flr_world_body(world, 1)->T_world_part.p;
        flr_world_input in = at(i < 100 ? 0 : 1e-4 * (i - 100), 0, fmax(0.005, 0.02 - 1.5e-4 * i));
        flr_world_step(world, &in, last);
        *limited += last->limited;
        if (last->waiting > *queued) *queued = last->waiting;
        double way = flr_vec3_distance(flr_world_body(world, 1)->T_world_part.p, before);
        if (last->max_travel < INFINITY) assert_le(way, last->max_travel * (1 + 1e-9));
        *travel = fmax(*travel, way);
    }
    double x = flr_world_body(world, 1)->T_world_part.p.x;
    flr_world_destroy(world);
    return x;
}

/* With time for all tests the travel limit is out of the way, and the bits are those of the shell engine. With time for few, parts
 * move no farther in a frame than it says. */
static void temporal_coherence(void **state)
{
    (void)state;
    flr_world_frame shell, coherent, syrup;
    uint32_t limited[3], queued[3];
    double travel[3];
    drag_coherent(FLR_ENGINE_SHELL, 1, &shell, &limited[0], &queued[0], &travel[0]);
    drag_coherent(FLR_ENGINE_COHERENT, 1e6, &coherent, &limited[1], &queued[1], &travel[1]);
    drag_coherent(FLR_ENGINE_COHERENT, 50, &syrup, &limited[2], &queued[2], &travel[2]);
    assert_int_equal(queued[0], 0);
    assert_true(shell.max_travel == INFINITY);
    assert_true(flr_hash_equal(shell.hash, coherent.hash));
    assert_gt(queued[1], 0);
    assert_int_equal(limited[1], 0);
    assert_gt(limited[2], 100);
    assert_lt(travel[2], travel[0]);
    assert_gt(syrup.late, 0);
    assert_false(flr_hash_equal(shell.hash, syrup.hash));

    /* how many tests fit into a time; without queues there is nothing to measure */
    flr_world_part parts[] = {floor_part(),
                              solid(FLR_TEST_BOX, FLR_PART_MOVABLE, flr_vec3_make(0, 0, 0.02))};
    flr_world_params params = flr_default_world_params();
    flr_world *world = make(parts, 2, &params);
    assert_eq(flr_world_calibrate(world, flr_env_real(), 1e-3), 0);
    flr_world_destroy(world);
    params.engine = FLR_ENGINE_COHERENT;
    world = make(parts, 2, &params);
    double tests = flr_world_calibrate(world, flr_env_real(), 1e-3);
    assert_gt(tests, 1);
    assert_eq(flr_world_get_params(world)->tests, tests);
    flr_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_hand),
        cmocka_unit_test(goes_on_in_another),
        cmocka_unit_test(pressed_against_the_floor),
        cmocka_unit_test(slides_over_stairs),
        cmocka_unit_test(little_budget),
        cmocka_unit_test(nothing_passes_through),
        cmocka_unit_test(falls_and_rests),
        cmocka_unit_test(the_same_bits),
        cmocka_unit_test(nonsense_from_the_device),
        cmocka_unit_test(nonsense_in_a_state),
        cmocka_unit_test(bad_definitions),
        cmocka_unit_test(temporal_coherence),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests_name("world", tests, set_up, tear_down);
}
