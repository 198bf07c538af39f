/* the exact engine: forces, limits and motion on exact distances */
#include <math.h>

#include "support/fixtures.h"
#include "support/quiet.h"
#include "support/tight_rig.h"

static flr_pose at(double x, double y, double z)
{
    return flr_pose_make(flr_vec3_make(x, y, z), flr_quat_identity());
}

/* a plate with its top at z = 0 */
static void add_plate(flr_test_tight *rig, double width)
{
    flr_kit kit = flr_kit_begin(1);
    flr_kit_box(&kit, at(0, 0, -5e-3), width, width, 10e-3, 0);
    flr_test_tight_add(rig, &kit, FLR_PART_STATIC, flr_pose_identity());
}

static void add_box(flr_test_tight *rig, flr_part_kind kind, flr_pose T)
{
    flr_kit kit = flr_kit_begin(1);
    flr_kit_box(&kit, flr_pose_identity(), 10e-3, 10e-3, 20e-3, 0);
    flr_test_tight_add(rig, &kit, kind, T);
}

/* ---- a wall ---- */

static void a_wall_is_felt(void **state)
{
    (void)state;
    flr_test_tight rig = flr_test_tight_begin();
    rig.spacing = 3e-3;
    add_plate(&rig, 40e-3);
    add_box(&rig, FLR_PART_MOVABLE, at(1e-3, 2e-3, 12e-3));
    flr_test_tight_make(&rig, 1);
    /* down, until the hand is 1 mm below where the box touches */
    for (int i = 0; i < 600; i++) {
        double down = fmin(i * 1e-5, 3e-3);
        flr_test_tight_step(&rig, at(1e-3, 2e-3, 12e-3 - down));
        assert_int_equal(rig.frame.faults, 0);
        assert_false(flr_test_tight_meet(&rig, 0, 1));
    }
    flr_wrench felt = flr_world_wrench(rig.world, 0);
    double gap = flr_test_tight_distance(&rig, 0, 1);
    print_message("1 mm into a wall: %.3f N, %.2f um apart, %.2g N m\n", felt.force.z, gap * 1e6,
                  flr_vec3_length(felt.torque));
    assert_within(felt.force.z, 2, 0.03);
    assert_within(flr_vec3_length(felt.torque), 0, 1e-4);
    assert_true(gap > 0.9e-6 && gap < 5.1e-6);
    uint32_t count;
    const flr_world_touch *touches = flr_world_touches(rig.world, &count);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += touches[i].force * touches[i].normal.z;
    assert_within(sum, 2, 0.05);
    const flr_world_gap *gaps = flr_world_gaps(rig.world, &count);
    assert_int_equal(count, 1);
    assert_within(gaps[0].distance, gap, 1e-7);
    assert_true(gaps[0].lower <= gap + 1e-9 && gaps[0].upper >= gap - 1e-7 && gaps[0].complete);
    assert_within(gaps[0].normal.z, 1, 1e-9);

    /* as far as the device goes, and no farther */
    for (int i = 0; i < 300; i++)
        flr_test_tight_step(&rig, at(1e-3, 2e-3, 12e-3 - 3e-3 - i * 1e-4));
    for (int i = 0; i < 100; i++) flr_test_tight_step(&rig, at(1e-3, 2e-3, 12e-3 - 33e-3));
    assert_within(flr_world_wrench(rig.world, 0).force.z, 10, 0.01);
    assert_false(flr_test_tight_meet(&rig, 0, 1));
    flr_test_tight_end(&rig);
}

/* ---- nothing passes through ---- */

static flr_vec3 any(flr_test_random *rng, double most)
{
    return flr_vec3_make(flr_test_random_range(rng, -most, most),
                         flr_test_random_range(rng, -most, most),
                         flr_test_random_range(rng, -most, most));
}

/* A rough hand throws a box at a sheet of a tenth of a millimetre, at all rates: never through, never in it. */
static void nothing_passes_through_a_sheet(void **state)
{
    (void)state;
    flr_test_random rng = flr_test_random_begin("sheet");
    const double rates[] = {250, 1000, 4000};
    for (int r = 0; r < 3; r++) {
        flr_test_tight rig = flr_test_tight_begin();
        rig.spacing = 1;
        rig.dt = 1 / rates[r];
        rig.params.exact.strength = 20;
        flr_kit kit = flr_kit_begin(1);
        flr_kit_box(&kit, at(0, 0, -0.05e-3), 4, 4, 0.1e-3, 0);
        flr_test_tight_add(&rig, &kit, FLR_PART_STATIC, flr_pose_identity());
        add_box(&rig, FLR_PART_MOVABLE, at(0, 0, 30e-3));
        flr_test_tight_make(&rig, 1);
        uint32_t touched = 0;
        flr_pose T = at(0, 0, 30e-3);
        flr_vec3 v = {0}, spin = {0};
        for (int i = 0; i < 300; i++) {
            if (i % 20 == 0) {
                v = any(&rng, 8);
                v.z = (i % 60 == 40 ? 1 : -1) * flr_test_random_range(&rng, 0.1, 20);
                spin = any(&rng, 40);
            }
            T.p = flr_vec3_add_scaled(T.p, rig.dt, v);
            T.p.x = fmin(fmax(T.p.x, -0.1), 0.1);
            T.p.y = fmin(fmax(T.p.y, -0.1), 0.1);
            T.p.z = fmin(fmax(T.p.z, -0.05), 0.05);
            T.q = flr_quat_normalize(
                flr_quat_mul(flr_quat_from_rotation_vector(flr_vec3_scale(spin, rig.dt)), T.q));
            flr_test_tight_step(&rig, T);
            touched += rig.frame.contacts > 0;
            assert_int_equal(rig.frame.faults, 0);
            assert_false(flr_test_tight_meet(&rig, 0, 1));
            flr_vec3 p = flr_world_body(rig.world, 1)->T_world_part.p;
            if (!(p.z > 4.99e-3)) fail_msg("frame %d: at %g %g %g m", i, p.x, p.y, p.z);
        }
        print_message("%g Hz: touched in %u of 300 frames\n", rates[r], touched);
        assert_true(touched > 5);
        flr_test_tight_end(&rig);
    }
}

/* ---- sliding ---- */

/* What touches nothing is not stopped: along a plate, a tenth of a millimetre above it, fast. */
static void what_touches_nothing_is_not_stopped(void **state)
{
    (void)state;
    flr_test_tight rig = flr_test_tight_begin();
    rig.spacing = 3e-3;
    add_plate(&rig, 200e-3);
    add_box(&rig, FLR_PART_MOVABLE, at(-60e-3, 0, 10.1e-3));
    flr_test_tight_make(&rig, 1);
    for (int i = 0; i < 300; i++) {
        double x = -60e-3 + fmin(i * 1e-3, 100e-3);
        flr_test_tight_step(&rig, at(x, 0, 10.1e-3));
        assert_int_equal(rig.frame.stopped, 0);
        assert_int_equal(rig.frame.contacts, 0);
    }
    assert_within(flr_world_body(rig.world, 1)->T_world_part.p.x, 40e-3, 5e-4);
    assert_within(flr_vec3_length(flr_world_wrench(rig.world, 0).force), 0, 1e-12);
    flr_test_tight_end(&rig);
}

/* ---- free parts ---- */

/* Two boxes fall on a plate, one on the other, and lie there. */
static void boxes_fall_and_lie(void **state)
{
    (void)state;
    flr_test_tight rig = flr_test_tight_begin();
    rig.spacing = 4e-3;
    rig.params.step.gravity = flr_vec3_make(0, 0, -9.81);
    rig.params.friction = 0.3;
    add_plate(&rig, 60e-3);
    add_box(&rig, FLR_PART_FREE, at(0, 0, 11e-3));
    add_box(&rig, FLR_PART_FREE, at(1e-3, 1e-3, 33e-3));
    flr_test_tight_make(&rig, FLR_NO_PART);
    for (int i = 0; i < 400; i++) {
        flr_test_tight_step(&rig, flr_pose_identity());
        assert_int_equal(rig.frame.faults, 0);
        assert_false(flr_test_tight_meet(&rig, 0, 1));
        assert_false(flr_test_tight_meet(&rig, 1, 2));
    }
    print_message("lie at %.3f and %.3f um above each other, %.2g J\n",
                  1e6 * flr_test_tight_distance(&rig, 0, 1),
                  1e6 * flr_test_tight_distance(&rig, 1, 2), rig.frame.energy);
    assert_within(flr_world_body(rig.world, 1)->T_world_part.p.z, 10e-3, 10e-6);
    assert_within(flr_world_body(rig.world, 2)->T_world_part.p.z, 30e-3, 20e-6);
    assert_true(rig.frame.energy < 1e-7);
    flr_test_tight_end(&rig);
}

/* A held box pushes a free one, and both move. */
static void a_box_pushes_another(void **state)
{
    (void)state;
    flr_test_tight rig = flr_test_tight_begin();
    rig.spacing = 4e-3;
    add_box(&rig, FLR_PART_FREE, at(10.5e-3, 0, 0));
    add_box(&rig, FLR_PART_MOVABLE, at(0, 0, 0));
    flr_test_tight_make(&rig, 1);
    for (int i = 0; i < 200; i++) {
        flr_test_tight_step(&rig, at(i * 5e-5, 0, 0));
        assert_false(flr_test_tight_meet(&rig, 0, 1));
    }
    double pushed = flr_world_body(rig.world, 0)->T_world_part.p.x;
    assert_true(pushed > 18e-3 && pushed < 30e-3);
    assert_true(fabs(flr_world_body(rig.world, 0)->T_world_part.p.y) < 1e-4);
    flr_test_tight_end(&rig);
}

/* ---- overlaps ---- */

/* A peg that is 20 um too thick for its slot can be drawn out, and then not put in again. */
static void a_press_fit_can_be_drawn_out(void **state)
{
    (void)state;
    flr_test_tight rig = flr_test_tight_begin();
    rig.spacing = 3e-3;
    flr_kit kit = flr_kit_begin(1);
    flr_kit_box(&kit, at(-10e-3 + 10e-6, 0, 0), 10e-3, 30e-3, 10e-3, 0);
    flr_kit_box(&kit, at(10e-3 - 10e-6, 0, 0), 10e-3, 30e-3, 10e-3, 0);
    flr_test_tight_add(&rig, &kit, FLR_PART_STATIC, flr_pose_identity());
    kit = flr_kit_begin(1);
    flr_kit_box(&kit, flr_pose_identity(), 10e-3, 10e-3, 30e-3, 0);
    flr_test_tight_add(&rig, &kit, FLR_PART_MOVABLE, at(0, 0, 5e-3));
    flr_test_tight_make(&rig, 1);
    uint32_t count;
    const flr_world_overlap *found = flr_world_overlaps(rig.world, &count);
    assert_int_equal(count, 1);
    assert_within(found[0].depth, 10e-6, 1e-6);
    assert_true(found[0].tolerated >= 10e-6 && found[0].tolerated < 30e-6);
    /* held still, it stays */
    for (int i = 0; i < 30; i++) flr_test_tight_step(&rig, at(0, 0, 5e-3));
    assert_within(flr_world_body(rig.world, 1)->T_world_part.p.z, 5e-3, 1e-6);
    /* drawn up, it comes */
    for (int i = 0; i < 300; i++) flr_test_tight_step(&rig, at(0, 0, 5e-3 + fmin(i * 1e-4, 18e-3)));
    assert_within(flr_world_body(rig.world, 1)->T_world_part.p.z, 23e-3, 1e-5);
    found = flr_world_overlaps(rig.world, &count);
    assert_int_equal(count, 1);
    assert_true(found[0].tolerated == 0 && found[0].depth > 9e-6);
    /* and it does not go in again */
    for (int i = 0; i < 300; i++)
        flr_test_tight_step(&rig, at(0, 0, 23e-3 - fmin(i * 1e-4, 18e-3)));
    assert_true(flr_world_body(rig.world, 1)->T_world_part.p.z > 19.9e-3);
    assert_false(flr_test_tight_meet(&rig, 0, 1));
    /* unless it is put there */
    assert_true(flr_world_place(rig.world, 1, at(0, 0, 5e-3)));
    flr_test_tight_step(&rig, at(0, 0, 5e-3));
    found = flr_world_overlaps(rig.world, &count);
    assert_true(count == 1 && found[0].tolerated > 9e-6);
    flr_test_tight_end(&rig);
}

/* ---- state ---- */

/* A world that is saved and loaded goes on with the same bits. */
static void a_saved_world_goes_on(void **state)
{
    (void)state;
    flr_test_tight rig = flr_test_tight_begin();
    rig.spacing = 4e-3;
    rig.params.friction = 0.2;
    add_plate(&rig, 40e-3);
    add_box(&rig, FLR_PART_MOVABLE, at(0, 0, 10.1e-3));
    flr_test_tight_make(&rig, 1);
    for (int i = 0; i < 50; i++) flr_test_tight_step(&rig, at(i * 2e-5, 0, 10.1e-3 - i * 2e-5));
    size_t size = flr_world_state_size(rig.world);
    uint8_t *saved = malloc(size), *broken = malloc(size);
    flr_world_save(rig.world, saved);
    flr_hash hashes[2];
    for (int k = 0; k < 2; k++) {
        for (int i = 50; i < 80; i++)
            flr_test_tight_step(&rig, at(i * 2e-5, 0, 10.1e-3 - i * 2e-5));
        hashes[k] = rig.frame.hash;
        assert_true(rig.frame.contacts > 0);
        assert_true(flr_world_load(rig.world, saved, size));
    }
    assert_memory_equal(&hashes[0], &hashes[1], sizeof hashes[0]);
    /* overlaps that cannot be are refused */
    memcpy(broken, saved, size);
    memset(broken + size / 2, 0xff, size - size / 2);
    assert_false(flr_world_load(rig.world, broken, size));
    /* and so are memories of pairs that are not there */
    memcpy(broken, saved, size);
    memset(broken + size - 64, 0xff, 64);
    memset(broken + size - sizeof(flr_fit_track) - 48, 0xff, 48);
    assert_false(flr_world_load(rig.world, broken, size));
    free(saved);
    free(broken);
    flr_test_tight_end(&rig);
}

/* A rig with a hand's box on two free ones, and where the hand is. */
static flr_test_tight pushing_rig(uint64_t budget)
{
    flr_test_tight rig = flr_test_tight_begin();
    rig.spacing = 4e-3;
    rig.params.friction = 0.2;
    rig.params.exact.budget = budget;
    add_box(&rig, FLR_PART_FREE, at(10.05e-3, 0, 0));
    add_box(&rig, FLR_PART_FREE, at(20.1e-3, 1e-3, 0));
    add_box(&rig, FLR_PART_MOVABLE, at(0, 0, 0));
    flr_test_tight_make(&rig, 2);
    return rig;
}

static flr_pose pushing_hand(int i)
{
    flr_pose T = at(i * 8e-5, 2e-4 * sin(0.1 * i), 0);
    T.q = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), 0.002 * i);
    return T;
}

/* The same for several pairs, where both move, at every step, and with a budget that does not suffice. */
static void what_pairs_remember_is_saved(void **state)
{
    (void)state;
    const uint64_t budgets[] = {0, 3000};
    for (int b = 0; b < 2; b++) {
        flr_test_tight one = pushing_rig(budgets[b]), other = pushing_rig(budgets[b]);
        size_t size = flr_world_state_size(one.world);
        uint8_t *saved = malloc(size);
        uint32_t exhausted = 0, touched = 0;
        for (int i = 0; i < 60; i++) {
            /* one goes on, the other one begins anew with what was saved */
            flr_world_save(one.world, saved);
            assert_true(flr_world_load(other.world, saved, size));
            flr_test_tight_step(&one, pushing_hand(i));
            flr_test_tight_step(&other, pushing_hand(i));
            exhausted += one.frame.exhausted > 0;
            touched += one.frame.contacts > 0;
            assert_int_equal(one.frame.exhausted, other.frame.exhausted);
            if (memcmp(&one.frame.hash, &other.frame.hash, sizeof one.frame.hash) != 0)
                fail_msg("budget %d, frame %d: another hash", (int)budgets[b], i);
            for (uint32_t k = 0; k < 2; k++) assert_false(flr_test_tight_meet(&one, k, k ? 0 : 2));
        }
        print_message("budget %d: exhausted in %u of 60 frames, touched in %u\n", (int)budgets[b],
                      exhausted, touched);
        assert_true(touched > 10);
        if (b == 0) assert_int_equal(exhausted, 0);
        if (b == 1) assert_true(exhausted > 0);
        free(saved);
        flr_test_tight_end(&one);
        flr_test_tight_end(&other);
    }
}

/* However little a step may do: a part waits until its way was checked, and then goes on. */
static void a_small_budget_does_not_stop_a_part(void **state)
{
    (void)state;
    flr_test_tight rig = flr_test_tight_begin();
    rig.spacing = 4e-3;
    rig.params.exact.budget = 1;
    add_plate(&rig, 40e-3);
    add_box(&rig, FLR_PART_MOVABLE, at(0, 0, 10.02e-3));
    flr_test_tight_make(&rig, 1);
    uint32_t exhausted = 0;
    for (int i = 0; i < 1500; i++) {
        flr_test_tight_step(&rig, at(5e-3, 0, 10.02e-3));
        exhausted += rig.frame.exhausted > 0;
        assert_false(flr_test_tight_meet(&rig, 0, 1));
    }
    double x = flr_world_body(rig.world, 1)->T_world_part.p.x;
    print_message("exhausted in %u of 1500 frames, went %.2f mm\n", exhausted, 1e3 * x);
    assert_true(exhausted > 0);
    assert_true(x > 4e-3);
    flr_test_tight_end(&rig);
}

/* More pairs than there is room for: parts in those that were left out stay, the others fall, and the frame tells. */
static void no_pair_is_left_out_silently(void **state)
{
    (void)state;
    enum { MANY = 70, PAIRS = MANY * (MANY - 1) / 2, KEPT = 32 * MANY };
    flr_error error;
    flr_mesh *mesh;
    flr_kit kit = flr_kit_begin(1);
    flr_kit_box(&kit, flr_pose_identity(), 0.2e-3, 0.2e-3, 0.2e-3, 0);
    assert_ok(flr_kit_finish(&kit, &mesh, &error), error);
    flr_fit *fit = flr_test_fit(mesh);
    flr_world_part parts[MANY];
    for (int i = 0; i < MANY; i++) {
        parts[i] = flr_default_world_part();
        parts[i].kind = FLR_PART_FREE;
        parts[i].fit = fit;
        assert_ok(flr_body_def_from_mesh(mesh, 1000, &parts[i].body, &error), error);
        parts[i].body.T_world_part = at(0.3e-3 * (i % 4), 0.3e-3 * (i / 4 % 4), 0.3e-3 * (i / 16));
    }
    flr_world_def def = flr_default_world_def();
    def.parts = parts;
    def.part_count = MANY;
    def.params.engine = FLR_ENGINE_EXACT;
    def.params.exact.budget = 0;
    def.params.step.gravity = flr_vec3_make(0, 0, -9.81);
    flr_world *world;
    assert_ok(flr_world_create(&def, &world, &error), error);
    flr_world_input input = {.T_world_hand = flr_pose_identity()};
    flr_world_frame frame;
    flr_world_step(world, &input, &frame);
    int fell = 0, stayed = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        double z = flr_world_body(world, i)->T_world_part.p.z - parts[i].body.T_world_part.p.z;
        fell += z < -1e-6;
        stayed += z == 0;
    }
    print_message("%u pairs, %u left out; %d parts fell, %d stayed\n", frame.pairs, frame.exhausted,
                  fell, stayed);
    assert_int_equal(frame.pairs, KEPT);
    assert_int_equal(frame.exhausted, PAIRS - KEPT);
    assert_true(stayed > 0 && frame.stopped >= (uint32_t)stayed);
    assert_int_equal(fell + stayed, MANY);
    flr_world_destroy(world);
    flr_fit_destroy(fit);
    flr_mesh_destroy(mesh);
}

/* Two parts that turn against each other, both fast, with edges that would cut across each other within a step. */
static void two_turning_parts_do_not_cut_corners(void **state)
{
    (void)state;
    flr_test_tight rig = flr_test_tight_begin();
    rig.spacing = 1;
    for (int i = 0; i < 2; i++) {
        flr_kit kit = flr_kit_begin(1);
        flr_kit_box(&kit, flr_pose_identity(), 40e-3, 2e-3, 0.2e-3, 0);
        flr_test_tight_add(&rig, &kit, i ? FLR_PART_MOVABLE : FLR_PART_FREE,
                           at(0, 0, i ? 0.3e-3 : 0));
    }
    flr_test_tight_make(&rig, 1);
    uint32_t stopped = 0;
    bool was_over = true, above = true;
    for (int i = 0; i < 300; i++) {
        flr_pose T = at(3e-3 * sin(0.05 * i), 0, 0.3e-3 - 1e-4 * i);
        T.q = flr_quat_from_rotation_vector(
            flr_vec3_make(0.4 * sin(0.9 * i), 0.4 * cos(0.7 * i), 0.5 * i));
        flr_test_tight_step(&rig, T);
        stopped += rig.frame.stopped > 0 || rig.frame.contacts > 0;
        assert_false(flr_test_tight_meet(&rig, 0, 1));
        /* the one in hand stays on its side of the other one, as seen by that, unless it goes around it */
        flr_pose below = flr_world_body(rig.world, 0)->T_world_part;
        flr_vec3 p = flr_pose_apply_inverse(below, flr_world_body(rig.world, 1)->T_world_part.p);
        const bool is_over = fabs(p.x) < 18e-3 && fabs(p.y) < 0.9e-3;
        if (is_over && was_over) assert_true((p.z > 0) == above);
        was_over = is_over, above = p.z > 0;
    }
    print_message("touched or stopped in %u of 300 frames\n", stopped);
    assert_true(stopped > 20);
    flr_test_tight_end(&rig);
}

/* ---- stability ---- */

/* A hand with mass that feels the force: pressed on a plate and drawn over it. Returns what is left of the force above its
 * running mean, as a share of it. */
static double buzz(double wall, double friction, bool draw, double *mean)
{
    flr_test_tight rig = flr_test_tight_begin();
    rig.spacing = 4e-3;
    rig.params.exact.wall = wall;
    rig.params.friction = friction;
    add_plate(&rig, 60e-3);
    add_box(&rig, FLR_PART_MOVABLE, at(0, 0, 10.5e-3));
    flr_test_tight_make(&rig, 1);
    flr_vec3 x = flr_vec3_make(0, 0, 10.5e-3), v = {0};
    double sum = 0, square = 0, slow = 0, count = 0;
    for (int i = 0; i < 1500; i++) {
        double t = i * 1e-3;
        flr_vec3 target =
            flr_vec3_make(draw ? 8e-3 * sin(4 * t) : 0, 0, 10.5e-3 - 15e-3 * fmin(1, t / 0.4));
        flr_test_tight_step(&rig, flr_pose_make(x, flr_quat_identity()));
        flr_vec3 felt = flr_world_wrench(rig.world, 0).force;
        /* an arm of 300 N/m and 15 N s/m, 0.6 kg with the device */
        flr_vec3 f = flr_vec3_add_scaled(flr_vec3_scale(flr_vec3_sub(target, x), 300), -15, v);
        v = flr_vec3_add_scaled(v, 1e-3 / 0.6, flr_vec3_add(f, felt));
        x = flr_vec3_add_scaled(x, 1e-3, v);
        assert_int_equal(rig.frame.faults, 0);
        slow += (felt.z - slow) / 20;
        if (i < 900) continue;
        sum += felt.z, square += (felt.z - slow) * (felt.z - slow), count++;
    }
    flr_test_tight_end(&rig);
    *mean = sum / count;
    return sqrt(square / count) / *mean;
}

static void a_hand_on_a_wall_is_quiet(void **state)
{
    (void)state;
    const double walls[] = {2000, 5000, 10000, 20000};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            double mean, rest = buzz(walls[i], k == 2 ? 0.3 : 0, k > 0, &mean);
            print_message("%5.0f N/m, %s: %.2f N, buzz %.3f %%\n", walls[i],
                          k == 2   ? "drawn, rough"
                          : k == 1 ? "drawn"
                                   : "pressed",
                          mean, 100 * rest);
            assert_true(mean > 3 && mean < 6);
            assert_true(rest < 0.01);
        }
}

/* ---- real time ---- */

static uint64_t slide_on(void *context)
{
    flr_test_tight *rig = context;
    uint64_t touched = 0;
    for (int i = 0; i < 60; i++) {
        flr_test_tight_step(rig, at(1e-3 * sin(0.1 * i), 0, 9.5e-3 + 0.8e-3 * sin(0.07 * i)));
        touched += rig->frame.contacts > 0;
    }
    return touched;
}

/* Steps neither allocate nor lock nor call the system. */
static void a_step_is_quiet(void **state)
{
    (void)state;
    flr_test_tight rig = flr_test_tight_begin();
    rig.spacing = 4e-3;
    rig.params.friction = 0.2;
    add_plate(&rig, 40e-3);
    add_box(&rig, FLR_PART_MOVABLE, at(0, 0, 10.1e-3));
    flr_test_tight_make(&rig, 1);
    flr_test_quiet(slide_on, &rig, NULL);
    flr_test_tight_end(&rig);
}

/* An onset of a metre asks for every sample of both parts. The work of a step stays bounded all the same, the onset
 * comes nearer, the part goes on, and nothing meets. */
static void a_large_onset_does_not_take_all_time(void **state)
{
    (void)state;
    flr_test_tight rig = flr_test_tight_begin();
    rig.spacing = 0.4e-3;
    rig.params.exact.onset = 1;
    rig.params.exact.budget = 10000;
    add_plate(&rig, 60e-3);
    add_box(&rig, FLR_PART_MOVABLE, at(0, 0, 10.05e-3));
    flr_test_tight_make(&rig, 1);
    uint64_t most = 0;
    uint32_t exhausted = 0;
    for (int i = 0; i < 60; i++) {
        flr_test_tight_step(&rig, at(1e-5 * i, 0, 10.05e-3 - 1e-5 * i));
        most = rig.frame.points_tested > most ? rig.frame.points_tested : most;
        exhausted = rig.frame.exhausted > 0 ? (uint32_t)i + 1 : exhausted;
        assert_false(flr_test_tight_meet(&rig, 0, 1));
    }
    print_message("at most %llu units of work in a step, exhausted up to step %u\n",
                  (unsigned long long)most, exhausted);
    assert_true(exhausted > 0);
    assert_true(most < 4 * rig.params.exact.budget);
    assert_true(flr_world_body(rig.world, 1)->T_world_part.p.x > 3e-4);
    flr_test_tight_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_wall_is_felt),
                                       cmocka_unit_test(nothing_passes_through_a_sheet),
                                       cmocka_unit_test(what_touches_nothing_is_not_stopped),
                                       cmocka_unit_test(boxes_fall_and_lie),
                                       cmocka_unit_test(a_box_pushes_another),
                                       cmocka_unit_test(a_press_fit_can_be_drawn_out),
                                       cmocka_unit_test(a_saved_world_goes_on),
                                       cmocka_unit_test(what_pairs_remember_is_saved),
                                       cmocka_unit_test(a_small_budget_does_not_stop_a_part),
                                       cmocka_unit_test(no_pair_is_left_out_silently),
                                       cmocka_unit_test(two_turning_parts_do_not_cut_corners),
                                       cmocka_unit_test(a_hand_on_a_wall_is_quiet),
                                       cmocka_unit_test(a_step_is_quiet),
                                       cmocka_unit_test(a_large_onset_does_not_take_all_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
