/* remote couplings: instances of a part in two worlds come together over any delay, make no energy, and lie in the end where they shall,
 * to the bit */
#include <math.h>

#include "feeler/world.h"
#include "support/fixtures.h"
#include "support/test.h"

static const double voxel = 0.001, dt = 0.001;
static const double delays[] = {0, 0.02, 0.12, 0.5, 1};
enum { DELAYS = 5, FLOOR = 0, BOX = 1, BALL = 2 };
static flr_error error;

/* a floor of 60 x 60 x 8 mm whose top is at z = 0, a box of 12 x 10 x 6 mm and a ball of 10 mm */
static struct scene {
    flr_test_shape floor;
    flr_voxmap *floor_map;
    flr_contact_table *floor_table;
    flr_test_part parts[2];
    flr_contact_table *tables[2];
} scene;

static int set_up(void **state)
{
    (void)state;
    flr_test_shape_box(&scene.floor, flr_vec3_make(0.06, 0.06, 0.008), 1);
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    assert_ok(flr_voxelize(flr_env_real(), flr_test_shape_mesh(&scene.floor), &def,
                           &scene.floor_map, NULL, NULL, &error),
              error);
    assert_ok(flr_contact_table_create(scene.floor_map, &scene.floor_table, &error), error);
    for (int i = 0; i < 2; i++) {
        flr_test_part_make(&scene.parts[i], i ? FLR_TEST_SPHERE : FLR_TEST_BOX, 0.5, voxel, true);
        assert_ok(flr_contact_table_create(scene.parts[i].voxmap, &scene.tables[i], &error), error);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    flr_contact_table_destroy(scene.floor_table);
    flr_voxmap_destroy(scene.floor_map);
    flr_test_shape_free(&scene.floor);
    for (int i = 0; i < 2; i++) {
        flr_contact_table_destroy(scene.tables[i]);
        flr_test_part_free(&scene.parts[i]);
    }
    return 0;
}

/* The box at z = 50 mm, the ball 30 mm beside it. */
static flr_world *make(flr_part_kind kind, const flr_world_params *params)
{
    flr_world_part parts[3];
    for (int i = 0; i < 3; i++) {
        parts[i] = flr_default_world_part();
        if (i == FLOOR) {
            parts[i].shape = flr_pairs_shape_make(NULL, scene.floor_table);
            parts[i].body.T_world_part.p.z = -0.004;
            continue;
        }
        flr_test_part *of = &scene.parts[i - 1];
        parts[i].shape = flr_pairs_shape_make(of->shell, scene.tables[i - 1]);
        parts[i].kind = kind;
        assert_ok(
            flr_body_def_from_mesh(flr_test_shape_mesh(&of->shape), 8000, &parts[i].body, &error),
            error);
        parts[i].body.T_world_part.p = flr_vec3_make(0.03 * (i == BALL), 0, 0.05);
    }
    flr_world_def def = flr_default_world_def();
    def.parts = parts;
    def.part_count = 3;
    def.dt = dt;
    if (params) def.params = *params;
    flr_world *world;
    assert_ok(flr_world_create(&def, &world, &error), error);
    return world;
}

static flr_pose pose_at(double x, double y, double z)
{
    return flr_pose_make(flr_vec3_make(x, y, z), flr_quat_identity());
}

static flr_pose pose_of(const flr_world *world, uint32_t part)
{
    return flr_world_body(world, part)->T_world_part;
}

static flr_remote_coupling_def tie_to(uint32_t part, bool mutual)
{
    flr_remote_coupling_def def = flr_default_remote_coupling_def();
    def.part = part;
    def.mutual = mutual;
    return def;
}

static void step(flr_world *world, flr_world_frame *frame)
{
    flr_world_input in = {.T_world_hand = flr_pose_identity()};
    flr_world_step(world, &in, frame);
}

/* ---- two worlds and what is between them ---- */

enum { LINE = 2048 };

typedef struct end {
    flr_world *world;
    flr_remote_coupling_input sent[LINE]; /* [frame % LINE] */
    flr_world_input hand;
} end;

typedef struct pair {
    end ends[2];
    double delay; /* s, one way */
    uint64_t frame, every;
    double energy; /* J: kinetic, of both */
} pair;

static void pair_free(pair *p)
{
    for (int i = 0; i < 2; i++) flr_world_destroy(p->ends[i].world);
    free(p);
}

static pair *pair_make(double delay, bool mutual, const flr_world_params *params)
{
    pair *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->delay = delay;
    p->every = 10;
    for (int i = 0; i < 2; i++) {
        p->ends[i].world = make(FLR_PART_MOVABLE, params);
        p->ends[i].hand.T_world_hand = flr_pose_identity();
        flr_remote_coupling_def def = tie_to(BOX, mutual);
        assert_true(flr_world_set_remote_coupling(p->ends[i].world, 3, &def));
    }
    return p;
}

/* What an end hears of the other: the sample that has arrived last, carried on by its twist. */
static void hear(pair *p, int i)
{
    uint64_t late = (uint64_t)llround(p->delay / dt);
    if (p->frame < late + 1) return;
    uint64_t newest = p->frame - 1 - late, sample = newest - newest % p->every;
    flr_remote_coupling_input in = p->ends[!i].sent[sample % LINE];
    double on = dt * (double)(newest - sample);
    in.T_world_part.p = flr_vec3_add_scaled(in.T_world_part.p, on, in.twist.linear);
    flr_quat turn = flr_quat_from_rotation_vector(flr_vec3_scale(in.twist.angular, on));
    in.T_world_part.q = flr_quat_normalize(flr_quat_mul(turn, in.T_world_part.q));
    in.delay = p->delay + dt * (double)p->every / 2;
    assert_true(flr_remote_coupling_follow(p->ends[i].world, 3, &in));
}

static void pair_step(pair *p)
{
    flr_world_frame frame;
    p->energy = 0;
    for (int i = 0; i < 2; i++) hear(p, i);
    for (int i = 0; i < 2; i++) {
        end *e = &p->ends[i];
        flr_world_step(e->world, &e->hand, &frame);
        p->energy += frame.energy;
        const flr_body *body = flr_world_body(e->world, BOX);
        e->sent[p->frame % LINE] =
            (flr_remote_coupling_input){.T_world_part = body->T_world_part,
                                        .twist = body->twist,
                                        .put = flr_world_get_remote_coupling(e->world, 3)->put};
    }
    p->frame++;
}

static double apart(const pair *p)
{
    return flr_vec3_distance(pose_of(p->ends[0].world, BOX).p, pose_of(p->ends[1].world, BOX).p);
}

/* Together the ends have given no more than they got, by this much. */
static double surplus(const pair *p)
{
    const flr_remote_coupling *a = flr_world_get_remote_coupling(p->ends[0].world, 3),
                              *b = flr_world_get_remote_coupling(p->ends[1].world, 3);
    return a->got + b->got - a->taken - b->taken - a->put - b->put;
}

/* ---- energy ---- */

static flr_pose turned(flr_pose pose, double angle)
{
    pose.q = flr_quat_from_rotation_vector(flr_vec3_make(0, 0.6 * angle, 0.8 * angle));
    return pose;
}

/* Two instances that nobody holds, 10 mm and half a rad apart: nothing but the remote couplings acts. The most that both had, and what they
 * have at the end. */
static pair *swing(double delay, bool mutual, double *most)
{
    pair *p = pair_make(delay, mutual, NULL);
    flr_world_place(p->ends[1].world, BOX, turned(pose_at(0.01, 0, 0.05), 0.5));
    *most = 0;
    for (uint64_t i = 0; i < (uint64_t)(1500 + 9000 * delay); i++) {
        pair_step(p);
        *most = fmax(*most, p->energy);
        if (mutual) assert_lt(surplus(p), 0.005);
    }
    return p;
}

static void delay_makes_no_energy(void **state)
{
    (void)state;
    /* springs between them hold 50 mJ and some in turns: never more than that is seen in motion, and it ends */
    for (int d = 0; d < DELAYS; d++) {
        double most;
        pair *p = swing(delays[d], true, &most);
        assert_lt(most, 0.05);
        assert_gt(most, 1e-6);
        assert_lt(p->energy, 1e-7);
        assert_lt(apart(p), 1e-3);
        assert_false(flr_world_get_remote_coupling(p->ends[0].world, 3)->diverged);
        pair_free(p);
    }
    /* the yardstick: the same without accounts */
    double most;
    pair *p = swing(0.12, false, &most);
    assert_gt(most, 1);
    pair_free(p);
}

/* Samples get lost, come late and out of order: what is heard is never newer than what was said. */
static void loss_and_jitter_make_none(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("ties: loss and jitter");
    for (int run = 0; run < 3; run++) {
        double most = 0, base = flr_test_random_range(&random, 0, 0.6);
        pair *p = pair_make(base, true, NULL);
        p->every = 1 + flr_test_random_below(&random, 50);
        flr_world_place(p->ends[1].world, BOX, turned(pose_at(0.01, 0, 0.05), -0.5));
        for (uint64_t i = 0; i < 7000; i++) {
            if (i % p->every == 0)
                p->delay = base + fmin(0.3, 0.05 * flr_test_random_range(&random, 0, 8) *
                                                (flr_test_random_below(&random, 5) == 0));
            pair_step(p);
            most = fmax(most, p->energy);
            assert_lt(surplus(p), 0.005);
        }
        assert_lt(most, 0.05);
        assert_lt(p->energy, 1e-6);
        assert_lt(apart(p), 1e-3);
        pair_free(p);
    }
}

/* ---- hands ---- */

static void take(pair *p, int i, flr_pose at)
{
    end *e = &p->ends[i];
    e->hand = (flr_world_input){.T_world_hand = at, .fresh = true};
    flr_world_grab(e->world, 0, BOX);
}

/* Both hold it, one moves to and fro and stops: they agree again, and both feel it meanwhile. */
static void two_hands_carry_it(void **state)
{
    (void)state;
    for (int d = 0; d < DELAYS; d++) {
        pair *p = pair_make(delays[d], true, NULL);
        for (int i = 0; i < 2; i++) take(p, i, pose_at(0, 0, 0.05));
        double felt = 0, most = 0;
        for (int i = 0; i < 2000; i++) {
            double x = 0.01 * sin(2 * 3.14159265358979 * i * dt);
            p->ends[0].hand.T_world_hand.p.x = x;
            pair_step(p);
            felt = fmax(felt, flr_vec3_length(flr_world_wrench(p->ends[1].world, 0).force));
            most = fmax(most, p->energy);
        }
        p->ends[0].hand.T_world_hand.p.x = 0;
        for (int i = 0; i < 1000 + (int)(6000 * delays[d]); i++) pair_step(p);
        if (delays[d] < 0.4) assert_gt(felt, 0.01);
        assert_lt(most, 0.01);
        assert_lt(p->energy, 1e-9);
        assert_lt(apart(p), 1e-4);
        /* there is nothing to feel any more */
        for (int i = 0; i < 2; i++)
            assert_lt(flr_vec3_length(flr_world_wrench(p->ends[i].world, 0).force), 0.05);
        pair_free(p);
    }
}

/* One presses it down, the other holds it: it lies on the floor at both ends and is quiet. */
static void contact_at_both_ends(void **state)
{
    (void)state;
    for (int d = 0; d < DELAYS; d += 2) {
        pair *p = pair_make(delays[d], true, NULL);
        for (int i = 0; i < 2; i++) {
            flr_world_place(p->ends[i].world, BOX, pose_at(0, 0, 0.008));
            take(p, i, pose_at(0, 0, 0.008));
        }
        for (int i = 0; i < 3000 + (int)(4000 * delays[d]); i++) {
            if (i < 1000) p->ends[0].hand.T_world_hand.p.z = 0.008 - 1e-5 * i;
            if (i < 1000) p->ends[1].hand.T_world_hand.p.z = 0.008 - 5e-6 * i;
            pair_step(p);
            assert_gt(pose_of(p->ends[0].world, BOX).p.z, 0.003);
            assert_gt(pose_of(p->ends[1].world, BOX).p.z, 0.003);
        }
        assert_lt(p->energy, 1e-6);
        assert_lt(apart(p), voxel);
        pair_free(p);
    }
}

/* Each holds another part, the other's follows: they meet at both ends at once, and neither goes through. */
static void two_parts_meet(void **state)
{
    (void)state;
    for (int d = 0; d < DELAYS; d += 2) {
        flr_world *worlds[2];
        flr_remote_coupling_input line[2][LINE];
        flr_world_input hands[2];
        const uint32_t own[2] = {BOX, BALL};
        for (int i = 0; i < 2; i++) {
            worlds[i] = make(FLR_PART_MOVABLE, NULL);
            hands[i] = (flr_world_input){.T_world_hand = pose_of(worlds[i], own[i]), .fresh = true};
            flr_remote_coupling_def def = tie_to(own[!i], false);
            assert_true(flr_world_set_remote_coupling(worlds[i], 0, &def));
            flr_world_grab(worlds[i], 0, own[i]);
        }
        uint64_t late = (uint64_t)llround(delays[d] / dt);
        double least = 1, energy = 1;
        for (uint64_t f = 0; f < 5000; f++) {
            /* towards each other, 10 mm into each other's way */
            if (f < 2000) hands[0].T_world_hand.p.x = 1e-5 * (double)f;
            if (f < 2000) hands[1].T_world_hand.p.x = 0.03 - 0.5e-5 * (double)f;
            energy = 0;
            for (int i = 0; i < 2; i++) {
                if (f > late) {
                    flr_remote_coupling_input in = line[!i][(f - 1 - late) / 10 * 10 % LINE];
                    in.delay = delays[d];
                    flr_remote_coupling_follow(worlds[i], 0, &in);
                }
            }
            for (int i = 0; i < 2; i++) {
                flr_world_frame frame;
                flr_world_step(worlds[i], &hands[i], &frame);
                energy += frame.energy;
                least = fmin(least, pose_of(worlds[i], BALL).p.x - pose_of(worlds[i], BOX).p.x);
                line[i][f % LINE] =
                    (flr_remote_coupling_input){.T_world_part = pose_of(worlds[i], own[i]),
                                                .twist = flr_world_body(worlds[i], own[i])->twist};
            }
        }
        assert_gt(least, 0.0105); /* half of the box and the ball's radius: 11 mm */
        assert_lt(energy, 1e-6);
        for (int i = 0; i < 2; i++) flr_world_destroy(worlds[i]);
    }
}

/* ---- something between them ---- */

static void a_floor_between_them(void **state)
{
    (void)state;
    pair *p = pair_make(0.05, true, NULL);
    flr_world_place(p->ends[0].world, BOX, pose_at(0, 0, 0.01));
    flr_world_place(p->ends[1].world, BOX, pose_at(0, 0, -0.018));
    for (int i = 0; i < 2; i++) take(p, i, pose_of(p->ends[i].world, BOX));
    pair_step(p);
    /* both pull towards the floor's middle */
    for (int i = 0; i < 2; i++) p->ends[i].hand.T_world_hand.p.z = -0.004;
    for (int i = 0; i < 2000; i++) pair_step(p);
    for (int i = 0; i < 2; i++) {
        const flr_remote_coupling *coupling = flr_world_get_remote_coupling(p->ends[i].world, 3);
        assert_true(coupling->diverged);
        assert_gt(coupling->stretch, 8 * voxel);
    }
    assert_gt(pose_of(p->ends[0].world, BOX).p.z, 0.003);
    assert_lt(pose_of(p->ends[1].world, BOX).p.z, -0.01);
    /* the second goes around it: out, up, back */
    const flr_vec3 way[] = {{0, 0, -0.02}, {0.06, 0, -0.02}, {0.06, 0, 0.02}, {0, 0, 0.02}};
    for (int k = 0; k < 4; k++) {
        flr_vec3 from = p->ends[1].hand.T_world_hand.p;
        for (int i = 0; i < 600; i++) {
            p->ends[1].hand.T_world_hand.p = flr_vec3_lerp(from, way[k], (i + 1) / 600.0);
            if (k > 0) p->ends[0].hand.T_world_hand.p.z = 0.02;
            pair_step(p);
        }
    }
    for (int i = 0; i < 1000; i++) pair_step(p);
    for (int i = 0; i < 2; i++)
        assert_false(flr_world_get_remote_coupling(p->ends[i].world, 3)->diverged);
    assert_lt(apart(p), voxel);
    pair_free(p);
}

/* ---- rest ---- */

static flr_remote_coupling_def rest_at(uint32_t part, flr_pose at)
{
    flr_remote_coupling_def def = tie_to(part, false);
    def.rest = true;
    def.T_world_rest = at;
    return def;
}

/* Steps until it has settled; how many that took, or `most`. */
static int settle(flr_world *world, uint32_t coupling, int most)
{
    int steps = 0;
    for (; steps < most && !flr_world_get_remote_coupling(world, coupling)->settled; steps++)
        step(world, NULL);
    return steps;
}

static void settles_to_the_bit(void **state)
{
    (void)state;
    const flr_part_kind kinds[] = {FLR_PART_MOVABLE, FLR_PART_FREE};
    const flr_integrator how[] = {FLR_INTEGRATOR_IMPLICIT, FLR_INTEGRATOR_QUASI_STATIC};
    for (int i = 0; i < 4; i++) {
        flr_world_params params = flr_default_world_params();
        params.step.gravity = flr_vec3_make(0, 0, -9.81);
        params.step.integrator = how[i / 2];
        flr_world *world = make(kinds[i % 2], &params);
        flr_pose rest = turned(pose_at(0.013, -0.007, 0.0431), 0.7);
        flr_remote_coupling_def def = rest_at(BOX, rest);
        assert_true(flr_world_set_remote_coupling(world, 0, &def));
        assert_true(flr_world_moves(world, BOX));
        assert_lt(settle(world, 0, 500), 500);
        flr_pose now = pose_of(world, BOX);
        assert_memory_equal(&now, &rest, sizeof now);
        /* and stays there, with the remote coupling and, what does not fall, without */
        for (int k = 0; k < 50; k++) step(world, NULL);
        now = pose_of(world, BOX);
        assert_memory_equal(&now, &rest, sizeof now);
        assert_false(flr_world_moves(world, BOX));
        assert_true(flr_world_set_remote_coupling(world, 0, NULL));
        assert_null(flr_world_get_remote_coupling(world, 0));
        assert_int_equal(flr_world_moves(world, BOX), kinds[i % 2] == FLR_PART_FREE);
        flr_world_destroy(world);
    }
}

/* Pressed to the floor in one world and let go there: in the other it comes to lie there just so. */
static void settles_in_contact(void **state)
{
    (void)state;
    flr_world *here = make(FLR_PART_MOVABLE, NULL), *there = make(FLR_PART_MOVABLE, NULL);
    flr_world_input in = {.T_world_hand = pose_of(here, BOX), .fresh = true};
    flr_world_frame frame;
    flr_world_grab(here, 0, BOX);
    for (int i = 0; i < 1500; i++) {
        if (i < 1000) in.T_world_hand.p.z = 0.05 - 5e-5 * i;
        flr_world_step(here, &in, &frame);
    }
    assert_gt(frame.contacts, 0);
    flr_world_release(here, 0);
    flr_remote_coupling_def def = rest_at(BOX, pose_of(here, BOX));
    assert_true(flr_world_set_remote_coupling(there, 9, &def));
    assert_lt(settle(there, 9, 1000), 1000);
    flr_pose a = pose_of(here, BOX), b = pose_of(there, BOX);
    assert_memory_equal(&a, &b, sizeof a);
    /* a hand may take it from there */
    in.T_world_hand = b;
    flr_world_grab(there, 0, BOX);
    flr_world_set_remote_coupling(there, 9, NULL);
    for (int i = 0; i < 300; i++) {
        in.T_world_hand.p.z += 5e-5;
        flr_world_step(there, &in, &frame);
    }
    assert_gt(pose_of(there, BOX).p.z, b.p.z + 0.01);
    flr_world_destroy(here);
    flr_world_destroy(there);
}

/* Pressed deeper there than the remote coupling presses here: by a voxel or two it is put all the same, though not at once; by more it is not,
 * however long it is pulled. */
static void kept_off(void **state)
{
    (void)state;
    flr_world *world = make(FLR_PART_MOVABLE, NULL);
    flr_remote_coupling_def def = rest_at(BOX, pose_at(0, 0, 0));
    assert_true(flr_world_set_remote_coupling(world, 0, &def));
    assert_int_equal(settle(world, 0, 200), 200);
    double lies = pose_of(world, BOX).p.z; /* as low as the remote coupling gets it */
    const double deep[] = {0.3, 1.5, 3};
    for (int i = 0; i < 3; i++) {
        flr_world_set_remote_coupling(world, 0, NULL);
        flr_world_place(world, BOX, pose_at(0, 0, 0.02));
        def.T_world_rest = pose_at(0, 0, lies - deep[i] * voxel);
        assert_true(flr_world_set_remote_coupling(world, 0, &def));
        int steps = settle(world, 0, 3000);
        if (i == 0) assert_in_range(steps, 1, 299);
        if (i == 1) assert_in_range(steps, 300, 600);
        if (i == 2) assert_int_equal(steps, 3000);
    }
    /* it was lifted off in between, and lies still again */
    assert_lt(flr_vec3_length(flr_world_body(world, BOX)->twist.linear), 1e-3);
    flr_world_destroy(world);
}

/* What cannot get there goes through things when its physics is off, and is solid again afterwards. */
static void physics_off(void **state)
{
    (void)state;
    flr_world *world = make(FLR_PART_MOVABLE, NULL);
    flr_pose rest = pose_at(0, 0, -0.02);
    flr_remote_coupling_def def = rest_at(BOX, rest);
    assert_true(flr_world_set_remote_coupling(world, 0, &def));
    assert_int_equal(settle(world, 0, 1500), 1500);
    assert_true(flr_world_get_remote_coupling(world, 0)->diverged);
    assert_gt(pose_of(world, BOX).p.z, 0.003);
    assert_false(flr_world_set_solid(world, 3, false));
    assert_true(flr_world_set_solid(world, BOX, false));
    assert_false(flr_world_is_solid(world, BOX));
    assert_lt(settle(world, 0, 1500), 1500);
    flr_pose now = pose_of(world, BOX);
    assert_memory_equal(&now, &rest, sizeof now);
    assert_true(flr_world_set_solid(world, BOX, true));
    /* back up: the floor is in the way */
    def.T_world_rest = pose_at(0, 0, 0.02);
    assert_true(flr_world_set_remote_coupling(world, 0, &def));
    assert_int_equal(settle(world, 0, 300), 300);
    assert_lt(pose_of(world, BOX).p.z, -0.01);
    flr_world_destroy(world);
}

/* ---- the rest ---- */

static void bad_ties_are_refused(void **state)
{
    (void)state;
    flr_world *world = make(FLR_PART_MOVABLE, NULL);
    flr_remote_coupling_def def = tie_to(BOX, false);
    flr_remote_coupling_input in = {.T_world_part = flr_pose_identity()};
    assert_false(flr_world_set_remote_coupling(world, FLR_WORLD_REMOTE_COUPLINGS, &def));
    def.part = FLOOR;
    assert_false(flr_world_set_remote_coupling(world, 0, &def));
    def.part = 3;
    assert_false(flr_world_set_remote_coupling(world, 0, &def));
    def = tie_to(BOX, false);
    def.stiffness = NAN;
    assert_false(flr_world_set_remote_coupling(world, 0, &def));
    def = rest_at(BOX, flr_pose_make(flr_vec3_make(NAN, 0, 0), flr_quat_identity()));
    assert_false(flr_world_set_remote_coupling(world, 0, &def));
    assert_false(flr_remote_coupling_follow(world, 0, &in));
    assert_false(flr_remote_coupling_follow(world, FLR_WORLD_REMOTE_COUPLINGS, &in));
    def = tie_to(BOX, false);
    assert_true(flr_world_set_remote_coupling(world, 0, &def));
    /* until it hears something it does nothing */
    flr_pose before = pose_of(world, BOX);
    for (int i = 0; i < 10; i++) step(world, NULL);
    flr_pose after = pose_of(world, BOX);
    assert_memory_equal(&before, &after, sizeof before);
    in.put = NAN;
    assert_false(flr_remote_coupling_follow(world, 0, &in));
    in.put = 0, in.delay = -1;
    assert_false(flr_remote_coupling_follow(world, 0, &in));
    in.delay = 0, in.twist.linear.x = INFINITY;
    assert_false(flr_remote_coupling_follow(world, 0, &in));
    in.twist.linear.x = 0, in.T_world_part.q.w = 3;
    assert_false(flr_remote_coupling_follow(world, 0, &in));
    assert_false(flr_world_get_remote_coupling(world, 0)->begun);
    assert_true(flr_world_set_remote_coupling(world, 0, NULL));
    assert_true(flr_world_set_remote_coupling(world, 0, NULL));
    flr_world_destroy(world);
}

/* A state that was saved in the middle goes on to the same bits; so does a world that adopts another. */
static void state_goes_on(void **state)
{
    (void)state;
    pair *p = pair_make(0.02, true, NULL);
    flr_world *world = p->ends[0].world, *other = make(FLR_PART_MOVABLE, NULL);
    flr_world_place(p->ends[1].world, BOX, turned(pose_at(0.01, 0, 0.05), 0.5));
    assert_true(flr_world_set_solid(world, BALL, false));
    for (int i = 0; i < 60; i++) pair_step(p);
    size_t size = flr_world_state_size(world);
    void *saved = malloc(size);
    flr_world_save(world, saved);
    assert_true(flr_world_load(other, saved, size));
    assert_false(flr_world_is_solid(other, BALL));
    assert_true(flr_world_moves(other, BOX));
    flr_world_frame a, b;
    for (int i = 0; i < 200; i++) {
        step(world, &a);
        step(other, &b);
        assert_true(flr_hash_equal(a.hash, b.hash));
    }
    assert_true(flr_world_load(world, saved, size));
    flr_world *third = make(FLR_PART_MOVABLE, NULL);
    const uint32_t same[] = {0, 1, 2}, without[] = {0, FLR_NO_PART, 2};
    flr_world_adopt(third, world, same);
    for (int i = 0; i < 200; i++) {
        step(world, &a);
        step(third, &b);
        assert_true(flr_hash_equal(a.hash, b.hash));
    }
    /* the part is gone, and with it the remote coupling */
    flr_world *fourth = make(FLR_PART_MOVABLE, NULL);
    flr_world_adopt(fourth, world, without);
    assert_null(flr_world_get_remote_coupling(fourth, 3));
    assert_false(flr_world_is_solid(fourth, BALL));
    free(saved);
    flr_world_destroy(other);
    flr_world_destroy(third);
    flr_world_destroy(fourth);
    pair_free(p);
}

/* Softer with delay, in proportion, and not at once. */
/* Who follows takes what it needs; when a hand here takes the part, too, that is no debt, or the remote coupling would be dead until it is paid. */
static void follows_then_mutual(void **state)
{
    (void)state;
    flr_world *world = make(FLR_PART_MOVABLE, NULL);
    flr_remote_coupling_def def = tie_to(BOX, false);
    assert_true(flr_world_set_remote_coupling(world, 0, &def));
    flr_remote_coupling_input in = {.T_world_part = pose_of(world, BOX)};
    for (int i = 0; i < 600; i++) {
        double angle = 0.05 * (i < 400 ? i : 400); /* and then it stands */
        in.T_world_part.p.x = 0.02 * sin(angle);
        in.twist.linear.x = i < 400 ? cos(angle) : 0;
        assert_true(flr_remote_coupling_follow(world, 0, &in));
        step(world, NULL);
    }
    const flr_remote_coupling *coupling = flr_world_get_remote_coupling(world, 0);
    assert_gt(coupling->got, 0.01);
    def.mutual = true;
    assert_true(flr_world_set_remote_coupling(world, 0, &def));
    assert_true(flr_remote_coupling_follow(world, 0, &in));
    step(world, NULL);
    coupling = flr_world_get_remote_coupling(world, 0);
    assert_gt(coupling->account, 0);
    assert_eq(coupling->gain, 1);
    flr_world_destroy(world);
}

static void stiffness_falls_with_delay(void **state)
{
    (void)state;
    const double want[] = {1000, 980, 880, 500, 50};
    for (int d = 0; d < DELAYS; d++) {
        flr_world *world = make(FLR_PART_MOVABLE, NULL);
        flr_remote_coupling_def def = tie_to(BOX, true);
        flr_world_set_remote_coupling(world, 0, &def);
        flr_remote_coupling_input in = {.T_world_part = pose_of(world, BOX)};
        flr_remote_coupling_follow(world, 0, &in);
        double last = 1000;
        for (int i = 0; i < 4000; i++) {
            in.delay = delays[d];
            flr_remote_coupling_follow(world, 0, &in);
            step(world, NULL);
            double now = flr_world_get_remote_coupling(world, 0)->stiffness;
            assert_lt(fabs(now - last), 5);
            last = now;
        }
        assert_lt(fabs(last - want[d]), 1);
        flr_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delay_makes_no_energy),
        cmocka_unit_test(loss_and_jitter_make_none),
        cmocka_unit_test(two_hands_carry_it),
        cmocka_unit_test(contact_at_both_ends),
        cmocka_unit_test(two_parts_meet),
        cmocka_unit_test(a_floor_between_them),
        cmocka_unit_test(settles_to_the_bit),
        cmocka_unit_test(settles_in_contact),
        cmocka_unit_test(kept_off),
        cmocka_unit_test(follows_then_mutual),
        cmocka_unit_test(physics_off),
        cmocka_unit_test(bad_ties_are_refused),
        cmocka_unit_test(state_goes_on),
        cmocka_unit_test(stiffness_falls_with_delay),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
