/* the world with sphere trees: both parts move, momentum stays, energy never grows, parts come to rest */
#include "world/impacts.h"

#include <math.h>

#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/quiet.h"

/* a few solids with all that a world asks for */
typedef struct kit {
    flr_test_part parts[FLR_TEST_SOLID_COUNT];
    flr_contact_table *tables[FLR_TEST_SOLID_COUNT];
    flr_sphere_tree *trees[FLR_TEST_SOLID_COUNT];
} kit;

static int begin(void **state)
{
    kit *k = calloc(1, sizeof *k);
    for (int i = 0; i < FLR_TEST_SOLID_COUNT; i++) {
        flr_error error;
        flr_test_part_make(&k->parts[i], (flr_test_solid)i, 1, 0.001, false);
        assert_ok(flr_contact_table_create(k->parts[i].voxmap, &k->tables[i], &error), error);
        flr_sphere_tree_def def = flr_default_sphere_tree_def();
        def.voxmap = k->parts[i].voxmap, def.shell = k->parts[i].shell;
        assert_ok(flr_sphere_tree_create(&def, &k->trees[i], &error), error);
    }
    *state = k;
    return 0;
}

static int end(void **state)
{
    kit *k = *state;
    for (int i = 0; i < FLR_TEST_SOLID_COUNT; i++) {
        flr_sphere_tree_destroy(k->trees[i]);
        flr_contact_table_destroy(k->tables[i]);
        flr_test_part_free(&k->parts[i]);
    }
    free(k);
    return 0;
}

static flr_world_part part_of(kit *k, flr_test_solid solid, flr_part_kind kind, flr_vec3 p)
{
    flr_world_part part = flr_default_world_part();
    part.shape = flr_pairs_shape_make(k->parts[solid].shell, k->tables[solid]);
    part.tree = k->trees[solid];
    part.kind = kind;
    assert_int_equal(
        flr_body_def_from_mesh(flr_test_shape_mesh(&k->parts[solid].shape), 3000, &part.body, NULL),
        FLR_OK);
    part.body.T_world_part.p = p;
    return part;
}

static flr_world_def def_of(const flr_world_part *parts, uint32_t count)
{
    flr_world_def def = flr_default_world_def();
    def.parts = parts;
    def.part_count = count;
    def.params.engine = FLR_ENGINE_SPHERES;
    return def;
}

static flr_world *make(const flr_world_def *def)
{
    flr_world *world;
    flr_error error;
    assert_ok(flr_world_create(def, &world, &error), error);
    return world;
}

static flr_world_frame step(flr_world *world, flr_vec3 hand)
{
    flr_world_input in = {.T_world_hand = flr_pose_make(hand, flr_quat_identity()), .fresh = true};
    flr_world_frame frame;
    flr_world_step(world, &in, &frame);
    return frame;
}

static double speed_of(const flr_body *body)
{
    return flr_vec3_length(body->twist.linear) + body->reach * flr_vec3_length(body->twist.angular);
}

/* ---- two bodies ---- */

static flr_vec3 any_vector(flr_test_random *random, double size)
{
    double x = flr_test_random_range(random, -size, size);
    double y = flr_test_random_range(random, -size, size);
    double z = flr_test_random_range(random, -size, size);
    return flr_vec3_make(x, y, z);
}

/* Two free parts that fly at each other and spin. Returns whether they touched. */
static bool collide(kit *k, flr_test_random *random, double *grown)
{
    flr_world_part parts[2];
    flr_vec3 from = flr_vec3_normalize(any_vector(random, 1));
    for (int i = 0; i < 2; i++) {
        flr_test_solid solid = (flr_test_solid)flr_test_random_below(random, FLR_TEST_SOLID_COUNT);
        parts[i] = part_of(k, solid, FLR_PART_FREE, flr_vec3_zero());
        parts[i].body.T_world_part = flr_test_random_pose(random, 0.003);
        parts[i].body.mass = exp(flr_test_random_range(random, -5, 0));
        if (i == 0) continue;
        flr_pose *T = &parts[i].body.T_world_part;
        T->p = flr_vec3_add_scaled(T->p, 0.034, from);
    }
    parts[1].body.twist.linear = flr_vec3_scale(from, -flr_test_random_range(random, 0.1, 2));
    parts[0].body.twist.angular = any_vector(random, 10);
    parts[1].body.twist.angular = any_vector(random, 10);
    flr_world_def def = def_of(parts, 2);
    def.params.restitution = flr_test_random_range(random, 0, 1);
    def.params.friction = flr_test_random_below(random, 2) ? 0.4 : 0;
    def.hand_count = 0;
    flr_world *world = make(&def);
    const flr_body *a = flr_world_body(world, 0), *b = flr_world_body(world, 1);
    flr_vec3 was = flr_vec3_add(flr_body_momentum(a).force, flr_body_momentum(b).force);
    double before = flr_body_energy(a) + flr_body_energy(b);
    uint32_t contacts = 0;
    for (int i = 0; i < 60; i++) {
        flr_world_frame frame;
        flr_world_step(world, NULL, &frame);
        contacts += frame.contacts;
        *grown = fmax(*grown, frame.energy / before - 1);
        before = frame.energy;
    }
    flr_vec3 is = flr_vec3_add(flr_body_momentum(a).force, flr_body_momentum(b).force);
    assert_lt(flr_vec3_length(flr_vec3_sub(is, was)), 1e-12 * (1 + flr_vec3_length(was)));
    flr_world_destroy(world);
    return contacts > 0;
}

static void energy_never_grows(void **state)
{
    const char *text = getenv("FLR_IMPACTS_COLLISIONS");
    unsigned rounds = text ? (unsigned)atoi(text) : 150, hit = 0;
    flr_test_random random = flr_test_random_begin("impacts");
    double grown = 0;
    for (unsigned i = 0; i < rounds; i++) hit += collide(*state, &random, &grown);
    print_message("%u of %u touched; from frame to frame, energy grew by %.2g of itself at most\n",
                  hit, rounds, grown);
    assert_gt(hit, rounds / 4);
    assert_lt(grown, 1e-12);
}

/* A part in a hand runs into one that floats: both go on, and the hand feels it while they touch. */
static void a_hand_pushes_one_part_with_another(void **state)
{
    flr_world_part parts[2] = {
        part_of(*state, FLR_TEST_BOX, FLR_PART_FREE, flr_vec3_make(-0.03, 0, 0)),
        part_of(*state, FLR_TEST_SPHERE, FLR_PART_FREE, flr_vec3_zero())};
    parts[0].body.mass = parts[1].body.mass = 0.03;
    flr_world_def def = def_of(parts, 2);
    flr_world *world = make(&def);
    assert_true(flr_world_grab(world, 0, 0));
    double felt = 0, free_felt = 0;
    uint32_t listed = 0;
    for (int i = 0; i < 600; i++) {
        flr_world_frame frame = step(world, flr_vec3_make(5e-5 * i, 0, 0));
        double force = flr_vec3_length(flr_world_wrench(world, 0).force);
        if (frame.contacts && !listed) flr_world_impacts(world, &listed);
        felt = fmax(felt, force);
        if (i < 100) free_felt = fmax(free_felt, force);
    }
    const flr_body *pushed = flr_world_body(world, 1);
    print_message("pushed %.1f mm, %.3f m/s, %.2f N\n", 1e3 * pushed->T_world_part.p.x,
                  pushed->twist.linear.x, felt);
    assert_gt(pushed->T_world_part.p.x, 0.01);
    assert_gt(pushed->twist.linear.x, 0.02);
    assert_gt(felt, 0.02);
    assert_lt(free_felt, 1e-9);
    assert_gt(listed, 0);
    flr_world_destroy(world);
}

/* However fast, nothing comes through a plate of a few voxels. */
static void what_is_fast_does_not_get_through(void **state)
{
    flr_world_part parts[2] = {
        part_of(*state, FLR_TEST_BOX, FLR_PART_STATIC, flr_vec3_zero()),
        part_of(*state, FLR_TEST_SPHERE, FLR_PART_FREE, flr_vec3_make(0, 0, 0.06))};
    parts[1].body.twist.linear = flr_vec3_make(0, 0, -50);
    flr_world_def def = def_of(parts, 2);
    flr_world *world = make(&def);
    for (int i = 0; i < 100; i++) step(world, flr_vec3_zero());
    assert_gt(flr_world_body(world, 1)->T_world_part.p.z, 0.014);
    flr_world_destroy(world);
}

/* ---- at rest ---- */

/* Falls for `frames`, then must not move at all. */
static void comes_to_rest(flr_world *world, int frames, uint32_t first, uint32_t count)
{
    for (int i = 0; i < frames; i++) step(world, flr_vec3_zero());
    double fastest = 0;
    for (int i = 0; i < 50; i++) {
        step(world, flr_vec3_zero());
        for (uint32_t part = first; part < count; part++)
            fastest = fmax(fastest, speed_of(flr_world_body(world, part)));
    }
    assert_eq(fastest, 0);
}

static void a_stack_rests(void **state)
{
    flr_world_part parts[3] = {
        part_of(*state, FLR_TEST_BOX, FLR_PART_STATIC, flr_vec3_zero()),
        part_of(*state, FLR_TEST_BOX, FLR_PART_FREE, flr_vec3_make(0.001, 0.002, 0.015)),
        part_of(*state, FLR_TEST_BOX, FLR_PART_FREE, flr_vec3_make(-0.001, 0.001, 0.032))};
    parts[2].body.T_world_part.q = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), 0.4);
    flr_world_def def = def_of(parts, 3);
    def.params.step.gravity = flr_vec3_make(0, 0, -9.81);
    def.params.friction = 0.4;
    def.params.restitution = 0.2;
    flr_world *world = make(&def);
    comes_to_rest(world, 500, 1, 3);
    /* a part's height of 12 mm above each other, and a voxel */
    assert_lt(fabs(flr_world_body(world, 1)->T_world_part.p.z - 0.0128), 0.001);
    assert_lt(fabs(flr_world_body(world, 2)->T_world_part.p.z - 0.0256), 0.002);
    flr_world_destroy(world);
}

/* A groove of two boxes, into which a part falls and where it is wedged. */
static void rests_in_a_groove(kit *k, flr_test_solid solid, flr_quat turn)
{
    flr_world_part parts[3] = {part_of(k, FLR_TEST_BOX, FLR_PART_STATIC, flr_vec3_zero()),
                               part_of(k, FLR_TEST_BOX, FLR_PART_STATIC, flr_vec3_zero()),
                               part_of(k, solid, FLR_PART_FREE, flr_vec3_make(0, 0.001, 0.025))};
    for (int i = 0; i < 2; i++) {
        flr_quat q = flr_quat_from_axis_angle(flr_vec3_make(1, 0, 0), i ? 0.7854 : -0.7854);
        flr_vec3 p = flr_quat_rotate(q, flr_vec3_make(0, 0, -0.016));
        p.z += 0.01;
        parts[i].body.T_world_part = flr_pose_make(p, q);
    }
    parts[2].body.T_world_part.q = turn;
    flr_world_def def = def_of(parts, 3);
    def.params.step.gravity = flr_vec3_make(0, 0, -9.81);
    def.params.friction = 0.3;
    flr_world *world = make(&def);
    comes_to_rest(world, 600, 2, 3);
    /* in the groove, not fallen off */
    assert_gt(flr_body_centre(flr_world_body(world, 2)).z, 0);
    flr_world_destroy(world);
}

static void a_ball_in_a_groove_rests(void **state)
{
    rests_in_a_groove(*state, FLR_TEST_SPHERE, flr_quat_identity());
}

/* Edges and corners against both walls. */
static void wedged_parts_rest(void **state)
{
    for (int i = 0; i < 4; i++)
        rests_in_a_groove(*state, i % 2 ? FLR_TEST_TETRAHEDRON : FLR_TEST_BOX,
                          flr_quat_from_axis_angle(flr_vec3_make(1, 0.3, 0.2), 0.4 + 0.3 * i));
}

/* A part that a hand forces into a narrow gap stops there; the hand feels a steady force. */
static void a_wedged_part_is_quiet(void **state)
{
    flr_world_part parts[3] = {
        part_of(*state, FLR_TEST_BOX, FLR_PART_STATIC, flr_vec3_make(0, -0.0135, 0)),
        part_of(*state, FLR_TEST_BOX, FLR_PART_STATIC, flr_vec3_make(0, 0.0135, 0)),
        part_of(*state, FLR_TEST_SPHERE, FLR_PART_FREE, flr_vec3_make(0, 0, 0.03))};
    parts[2].body.mass = 0.03;
    flr_world_def def = def_of(parts, 3);
    flr_world *world = make(&def);
    assert_true(flr_world_grab(world, 0, 2));
    double least = INFINITY, most = 0;
    for (int i = 0; i < 900; i++) {
        step(world, flr_vec3_make(0, 0, i < 400 ? -5e-5 * i : -0.02));
        if (i < 700) continue;
        double force = flr_vec3_length(flr_world_wrench(world, 0).force);
        least = fmin(least, force), most = fmax(most, force);
    }
    print_message("wedged: %.4f to %.4f N\n", least, most);
    assert_gt(least, 0.05);
    assert_lt(most - least, 0.01 * most);
    assert_lt(speed_of(flr_world_body(world, 2)), 1e-3);
    flr_world_destroy(world);
}

/* ---- the same again, quietly ---- */

/* A tray of a box, a part in a hand, one that falls. */
static flr_world *busy(kit *k, unsigned threads)
{
    flr_world_part parts[3] = {
        part_of(k, FLR_TEST_BOX, FLR_PART_STATIC, flr_vec3_zero()),
        part_of(k, FLR_TEST_TORUS, FLR_PART_FREE, flr_vec3_make(0.002, 0.001, 0.014)),
        part_of(k, FLR_TEST_TETRAHEDRON, FLR_PART_FREE, flr_vec3_make(-0.004, 0, 0.03))};
    flr_world_def def = def_of(parts, 3);
    def.threads = threads;
    def.params.step.gravity = flr_vec3_make(0, 0, -9.81);
    def.params.friction = 0.3;
    def.params.restitution = 0.3;
    flr_world *world = make(&def);
    assert_true(flr_world_grab(world, 0, 2));
    return world;
}

static flr_hash play(flr_world *world, int frames, uint64_t *contacts)
{
    flr_world_frame frame = {0};
    for (int i = 0; i < frames; i++) {
        double t = (double)(i % 200) / 200;
        frame = step(world, flr_vec3_make(0.01 * t * (1 - t), 0, -0.04 * t * (1 - t)));
        *contacts += frame.contacts;
    }
    return frame.hash;
}

static void the_same_with_any_number_of_threads(void **state)
{
    flr_hash hashes[3];
    for (unsigned i = 0; i < 3; i++) {
        flr_world *world = busy(*state, 1u << i);
        uint64_t contacts = 0;
        hashes[i] = play(world, 300, &contacts);
        assert_gt(contacts, 1000);
        flr_world_destroy(world);
        assert_memory_equal(&hashes[i], &hashes[0], sizeof(flr_hash));
    }
}

static void a_saved_state_goes_on_as_before(void **state)
{
    flr_world *world = busy(*state, 1);
    uint64_t contacts = 0;
    play(world, 150, &contacts);
    void *saved = malloc(flr_world_state_size(world));
    flr_world_save(world, saved);
    flr_hash once = play(world, 100, &contacts);
    assert_true(flr_world_load(world, saved, flr_world_state_size(world)));
    flr_hash again = play(world, 100, &contacts);
    assert_memory_equal(&once, &again, sizeof once);
    free(saved);
    flr_world_destroy(world);
}

typedef struct restarted {
    flr_world *world;
    void *state;
} restarted;

static uint64_t some_frames(void *context)
{
    restarted *r = context;
    uint64_t contacts = 0;
    flr_world_load(r->world, r->state, flr_world_state_size(r->world));
    play(r->world, 100, &contacts);
    return contacts;
}

static void steps_are_quiet(void **state)
{
    restarted r = {.world = busy(*state, 1)};
    r.state = malloc(flr_world_state_size(r.world));
    flr_world_save(r.world, r.state);
    flr_test_quiet(some_frames, &r, NULL);
    free(r.state);
    flr_world_destroy(r.world);
}

static flr_result make_one(void *context, flr_error *error)
{
    flr_world *world;
    flr_result result = flr_world_create(context, &world, error);
    if (result == FLR_OK) flr_world_destroy(world);
    return result;
}

static void lack_of_memory_is_told(void **state)
{
    flr_world_part parts[2] = {
        part_of(*state, FLR_TEST_BOX, FLR_PART_STATIC, flr_vec3_zero()),
        part_of(*state, FLR_TEST_SPHERE, FLR_PART_FREE, flr_vec3_make(0, 0, 0.03))};
    flr_world_def def = def_of(parts, 2);
    flr_fail_alloc_each(make_one, &def);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_never_grows),
        cmocka_unit_test(a_hand_pushes_one_part_with_another),
        cmocka_unit_test(what_is_fast_does_not_get_through),
        cmocka_unit_test(a_stack_rests),
        cmocka_unit_test(a_ball_in_a_groove_rests),
        cmocka_unit_test(wedged_parts_rest),
        cmocka_unit_test(a_wedged_part_is_quiet),
        cmocka_unit_test(the_same_with_any_number_of_threads),
        cmocka_unit_test(a_saved_state_goes_on_as_before),
        cmocka_unit_test(steps_are_quiet),
        cmocka_unit_test(lack_of_memory_is_told),
    };
    return cmocka_run_group_tests_name("impacts", tests, begin, end);
}
