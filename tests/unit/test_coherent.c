/* temporal coherence: nothing is missed
 *
 * A hand leads one part to another, lets it slide along, and takes it back; the part gives way where it touches. As long as
 * the travel limit is kept, and also where it is not, every frame must tell what flr_contact_query() tells, which gives the
 * same as the reference to the bit (test_contact.c). FLR_COHERENT_FRAMES sets how many frames. */
#include "feeler/contact.h"

#include <math.h>

#include "support/fail_alloc.h"
#include "support/fixtures.h"

#ifdef FLR_SANITIZED
enum { FRAMES = 2400 };
#else
enum { FRAMES = 15600 };
#endif

static const double voxel = 0.0008;

typedef struct scene {
    flr_test_part moving, fixed;
    flr_contact_pair *pair;
    flr_coherent *engine;
} scene;

static void begin(scene *s, flr_test_solid moving, flr_test_solid fixed, double tests,
                  double moving_voxel)
{
    flr_error error;
    flr_test_part_make(&s->moving, moving, 1, moving_voxel, true);
    flr_test_part_make(&s->fixed, fixed, 1, voxel, true);
    flr_contact_pair_def pair = flr_default_contact_pair_def();
    pair.shell = s->moving.shell;
    pair.voxmap = s->fixed.voxmap;
    assert_ok(flr_contact_pair_create(&pair, &s->pair, &error), error);
    flr_coherent_def def = flr_default_coherent_def();
    def.shell = s->moving.shell;
    def.voxmap = s->fixed.voxmap;
    def.tests_per_frame = tests;
    assert_ok(flr_coherent_create(&def, &s->engine, &error), error);
}

static void end(scene *s)
{
    flr_coherent_destroy(s->engine);
    flr_contact_pair_destroy(s->pair);
    flr_test_part_free(&s->moving);
    flr_test_part_free(&s->fixed);
}

/* Asks both; they must agree in all but the bounds, which must agree with each other. */
static flr_coherent_result ask(scene *s, flr_pose T_world_shell, flr_pose T_world_voxmap,
                               const flr_contact_params *params)
{
    flr_contact_result plain;
    flr_coherent_result r;
    memset(&r, 0xAA, sizeof r); /* every field must be written */
    flr_coherent_query(s->engine, T_world_shell, T_world_voxmap, params, &r);
    flr_contact_query(s->pair, T_world_shell, T_world_voxmap, params, &plain);
    const flr_contact_result *c = &r.contact;
    assert_int_equal(c->contacts, plain.contacts);
    assert_int_equal(c->penetrations, plain.penetrations);
    assert_int_equal(c->near, plain.near);
    assert_int_equal(c->listed, plain.listed);
    assert_true(flr_vec3_equal(c->wrench.force, plain.wrench.force));
    assert_true(flr_vec3_equal(c->wrench.torque, plain.wrench.torque));
    assert_true(flr_vec3_equal(c->braking, plain.braking));
    assert_true(flr_vec3_equal(c->braking_turn, plain.braking_turn));
    const flr_contact *list = flr_coherent_list(s->engine), *other = flr_contact_list(s->pair);
    for (uint32_t i = 0; i < c->listed; i++) assert_int_equal(list[i].index, other[i].index);
    assert_le(c->lower, plain.upper);
    assert_le(plain.lower, c->upper);
    assert_le(c->lower, c->upper);
    assert_gt(r.max_travel, 0);
    assert_le(r.lookups, 2 * c->points_tested);
    return r;
}

/* ---- a hand ---- */

typedef struct hand {
    flr_test_random random;
    flr_pose T;         /* of the part it holds, in the frame of the other */
    flr_vec3 v, w;      /* metres and radians per frame */
    int phase, left;    /* 0 approach, 1 slide, 2 retract; frames left of it */
    double speed;       /* metres per frame */
    flr_vec3 direction; /* where it slides */
} hand;

static flr_vec3 random_vec(flr_test_random *random, double reach)
{
    double x = flr_test_random_range(random, -reach, reach);
    double y = flr_test_random_range(random, -reach, reach);
    return flr_vec3_make(x, y, flr_test_random_range(random, -reach, reach));
}

static hand hand_begin(const char *name)
{
    hand h = {.random = flr_test_random_begin(name), .phase = 2};
    h.T = flr_test_random_pose(&h.random, 0);
    h.T.p = flr_vec3_make(0.06, 0, 0.01);
    return h;
}

static flr_pose moved(flr_pose T, flr_vec3 v, flr_vec3 w)
{
    T.p = flr_vec3_add(T.p, v);
    flr_quat turn = {1, w.x / 2, w.y / 2, w.z / 2};
    T.q = flr_quat_normalize(flr_quat_mul(flr_quat_normalize(turn), T.q));
    return T;
}

static flr_vec3 mixed(flr_vec3 a, flr_vec3 b, double part)
{
    return flr_vec3_add(flr_vec3_scale(a, 1 - part), flr_vec3_scale(b, part));
}

/* Where the hand leads its part next: smoothly, and giving way to what pushes. */
static flr_pose hand_next(hand *h, flr_vec3 force)
{
    if (h->left-- <= 0) {
        h->phase = (h->phase + 1) % 3;
        h->left = 40 + (int)flr_test_random_below(&h->random, h->phase == 2 ? 100 : 300);
        h->speed = flr_test_random_range(&h->random, 0.05, 1.2) * voxel;
        h->direction = random_vec(&h->random, 1);
    }
    flr_vec3 out = flr_vec3_scale(h->T.p, 1 / (flr_vec3_length(h->T.p) + 1e-9));
    flr_vec3 way = h->phase == 2 ? out : flr_vec3_scale(out, -1);
    if (h->phase == 1) way = mixed(way, h->direction, 0.8);
    if (h->phase == 2 && flr_vec3_length(h->T.p) > 0.08) way = flr_vec3_scale(way, -1);
    h->v = mixed(h->v, flr_vec3_scale(way, h->speed), 0.1);
    h->v = flr_vec3_add(h->v, random_vec(&h->random, 0.02 * voxel));
    h->w = flr_vec3_add(flr_vec3_scale(h->w, 0.97), random_vec(&h->random, 0.0015));
    double push = flr_vec3_length(force);
    flr_vec3 back =
        flr_vec3_scale(force, push > 0 ? fmin(0.3 * voxel, 0.3 * push * voxel) / push : 0);
    return moved(h->T, flr_vec3_add(h->v, back), h->w);
}

/* From here towards there, no farther than the limit. */
static flr_pose limited(const flr_coherent *engine, flr_pose from, flr_pose to, double most)
{
    double part = 1;
    flr_pose T = to;
    for (double way; (way = flr_coherent_travel(engine, from, T)) > most;) {
        part *= 0.99 * most / way;
        T.p = mixed(from.p, to.p, part);
        T.q = flr_quat_normalize((flr_quat){
            from.q.w + part * (to.q.w - from.q.w), from.q.x + part * (to.q.x - from.q.x),
            from.q.y + part * (to.q.y - from.q.y), from.q.z + part * (to.q.z - from.q.z)});
    }
    return T;
}

typedef struct counts {
    uint64_t frames, touching, slowed, tests, late;
} counts;

static void lead(scene *s, hand *h, uint64_t frames, const flr_contact_params *params, counts *n)
{
    flr_coherent_result r = {.max_travel = INFINITY};
    flr_coherent_reset(s->engine);
    for (uint64_t i = 0; i < frames; i++) {
        flr_pose wanted = hand_next(h, r.contact.wrench.force);
        flr_pose T = limited(s->engine, h->T, wanted, r.max_travel);
        n->slowed += !flr_vec3_equal(T.p, wanted.p);
        h->T = T;
        r = ask(s, T, flr_pose_identity(), params);
        assert_false(r.exceeded);
        assert_eq(r.rescanned, (i == 0));
        n->frames++;
        n->touching += r.contact.contacts > 0;
        n->tests += r.contact.points_tested;
        n->late += r.late && !r.rescanned;
    }
}

static void nothing_is_missed(void **state)
{
    (void)state;
    const char *wanted = getenv("FLR_COHERENT_FRAMES");
    uint64_t frames = (wanted ? strtoull(wanted, NULL, 10) : FRAMES) / 12;
    hand h = hand_begin("nothing_is_missed");
    counts n = {0};
    uint32_t hypers = 0;
    for (int i = 0; i < 12; i++) {
        scene s;
        begin(&s, (flr_test_solid)(i % 4), (flr_test_solid)((i + i / 4) % 4),
              i % 3 == 0   ? 300
              : i % 3 == 1 ? 1500
                           : 1e6,
              i % 5 == 4 ? 0.35 * voxel : voxel);
        hypers = s.moving.shell->hyper_count > hypers ? s.moving.shell->hyper_count : hypers;
        flr_contact_params params = flr_default_contact_params();
        params.force_layer = (unsigned)i % 4;
        params.awareness = i % 4 != 1;
        params.displacement = i % 6 == 2 ? -0.5 * voxel : 0;
        params.model = i % 7 == 5 ? FLR_FORCE_SMOOTH : FLR_FORCE_TANGENT;
        params.motion.linear = flr_vec3_make(0.1, -0.2, 0.3);
        params.stiffness = 1000;
        lead(&s, &h, frames, &params, &n);
        end(&s);
    }
    print_message("%llu frames, %llu in contact, %llu slowed by the limit, %llu beyond the "
                  "capacity; nothing missed; %.1f tests a frame\n",
                  (unsigned long long)n.frames, (unsigned long long)n.touching,
                  (unsigned long long)n.slowed, (unsigned long long)n.late,
                  (double)n.tests / (double)n.frames);
    assert_gt(n.touching, n.frames / 10);
    assert_gt(n.slowed, n.frames / 20);
    assert_gt(hypers, 1);
}

/* Jumps, changed questions, both parts moving, poses that are none: right all the same. */
static void whatever_happens(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("whatever_happens");
    scene s;
    begin(&s, FLR_TEST_TORUS, FLR_TEST_BOX, 1000, voxel);
    flr_contact_params params = flr_default_contact_params();
    flr_pose T = flr_pose_identity(), T_world_voxmap = T;
    double limit = INFINITY;
    uint64_t exceeded = 0, rescanned = 0, touching = 0;
    for (int i = 0; i < FRAMES / 12; i++) {
        uint32_t dice = flr_test_random_below(&random, 100);
        double step = dice < 80 ? 0.3 * voxel : dice < 95 ? 4 * voxel : 30 * voxel;
        flr_pose next = moved(T, random_vec(&random, step), random_vec(&random, 0.01));
        if (dice == 99) next = flr_test_random_pose(&random, 0.02);
        if (flr_vec3_length(next.p) > 0.04) next.p = flr_vec3_scale(next.p, 0.9);
        if (dice == 0) params.force_layer = flr_test_random_below(&random, 5);
        if (dice == 1) params.awareness = !params.awareness;
        if (dice == 2) params.displacement = flr_test_random_range(&random, -voxel, voxel);
        if (dice == 3) T_world_voxmap = flr_test_random_pose(&random, 1);
        bool beyond = flr_coherent_travel(s.engine, T, next) > 1.001 * limit;
        flr_pose none = next;
        none.p.x = NAN;
        if (dice == 4) assert_true(ask(&s, none, T_world_voxmap, &params).contact.far);
        T_world_voxmap = moved(T_world_voxmap, random_vec(&random, 1e-4), random_vec(&random, 0.1));
        T = next;
        flr_coherent_result r = ask(&s, flr_pose_mul(T_world_voxmap, T), T_world_voxmap, &params);
        if (beyond && dice > 4) assert_true(r.exceeded);
        exceeded += r.exceeded;
        rescanned += r.rescanned;
        touching += r.contact.contacts > 0;
        limit = r.max_travel;
    }
    assert_gt(rescanned, 1);
    assert_gt(exceeded, FRAMES / 240);
    assert_gt(touching, FRAMES / 60);
    end(&s);
}

/* At rest only what is in contact is looked at, and what is far is looked at seldom. */
static void rest_costs_little(void **state)
{
    (void)state;
    scene s;
    begin(&s, FLR_TEST_SPHERE, FLR_TEST_BOX, 1e6, 0.5 * voxel);
    flr_contact_params params = flr_default_contact_params();
    flr_pose T = {flr_vec3_make(0, 0, 0.0171), flr_quat_identity()};
    flr_coherent_result r = ask(&s, T, flr_pose_identity(), &params);
    uint64_t all = r.contact.points_tested;
    assert_true(r.rescanned);
    assert_gt(r.contact.contacts, 0);
    assert_gt(all, 300);
    assert_eq(r.max_travel, 0.5 * voxel);
    r = ask(&s, T, flr_pose_identity(), &params);
    assert_false(r.rescanned);
    assert_eq(r.travel, 0);
    assert_lt(r.contact.points_tested, all / 3);
    /* far away nothing is looked at one by one, and the limit is as far as it is away */
    T.p.z = 1;
    r = ask(&s, T, flr_pose_identity(), &params);
    assert_true(r.exceeded);
    assert_true(r.contact.far);
    assert_gt(r.max_travel, 0.9);
    assert_lt(r.max_travel, 1);
    T.p.z = 0.5;
    r = ask(&s, T, flr_pose_identity(), &params);
    assert_false(r.exceeded);
    assert_true(r.contact.far);
    assert_eq(r.contact.contacts, 0);
    end(&s);
}

/* Comes down on a box; returns the most tests in a frame once the limit falls. */
static double come_down(scene *s, bool keep, double *least)
{
    flr_contact_params params = flr_default_contact_params();
    params.awareness = true; /* as published */
    flr_pose T = {flr_vec3_make(0, 0, 0.025), flr_quat_identity()};
    double tests = 0;
    flr_coherent_reset(s->engine);
    flr_coherent_result r = ask(s, T, flr_pose_identity(), &params);
    while (T.p.z > 0.0124) {
        flr_pose next = T;
        next.p.z -= 0.4 * voxel;
        T = keep ? limited(s->engine, T, next, r.max_travel) : next;
        r = ask(s, T, flr_pose_identity(), &params);
        if (r.max_travel < 0.4 * voxel) tests = fmax(tests, (double)r.contact.points_tested);
        *least = fmin(*least, r.max_travel);
    }
    return tests;
}

/* Few tests per frame: the limit falls as the part comes near, and keeping it keeps the tests down. */
static void capacity_bounds_the_travel(void **state)
{
    (void)state;
    scene s;
    begin(&s, FLR_TEST_TORUS, FLR_TEST_BOX, 2000, 0.5 * voxel);
    double least = INFINITY, kept = come_down(&s, true, &least);
    assert_gt(least, 0.07 * voxel);
    assert_lt(least, 0.2 * voxel);
    double free = come_down(&s, false, &least);
    print_message("at most %.0f tests where the limit is kept, %.0f where it is not\n", kept, free);
    /* a layer of points may come near at once, which the equation does not see */
    assert_lt(kept, 2.5 * 2000);
    assert_gt(free, 1.2 * kept);
    end(&s);
}

static void capacity_is_measured(void **state)
{
    (void)state;
    scene s;
    begin(&s, FLR_TEST_SPHERE, FLR_TEST_BOX, 1000, voxel);
    flr_contact_params params = flr_default_contact_params();
    flr_pose T = {flr_vec3_make(0, 0, 0.016), flr_quat_identity()};
    double tests =
        flr_coherent_calibrate(s.engine, flr_env_real(), T, flr_pose_identity(), &params, 1e-3);
    assert_gt(tests, 100);
    assert_lt(tests, 1e7);
    assert_true(ask(&s, T, flr_pose_identity(), &params).rescanned);
    end(&s);
}

static flr_result create(void *context, flr_error *error)
{
    flr_coherent *engine;
    flr_result result = flr_coherent_create(context, &engine, error);
    if (result == FLR_OK) flr_coherent_destroy(engine);
    return result;
}

static void definitions_are_checked(void **state)
{
    (void)state;
    flr_test_part part;
    flr_test_part_make(&part, FLR_TEST_BOX, 1, 0.002, true);
    flr_coherent_def def = flr_default_coherent_def();
    def.shell = part.shell;
    def.voxmap = part.voxmap;
    flr_coherent *engine = NULL;
    flr_error error;
    def.tests_per_frame = 0;
    assert_int_equal(flr_coherent_create(&def, &engine, &error), FLR_BAD_ARGUMENT);
    def.tests_per_frame = NAN;
    assert_int_equal(flr_coherent_create(&def, &engine, &error), FLR_BAD_ARGUMENT);
    def = (flr_coherent_def){part.shell, part.voxmap, NULL, 1000, 0.6, 4};
    assert_int_equal(flr_coherent_create(&def, &engine, &error), FLR_BAD_ARGUMENT);
    assert_null(engine);
    def.least_travel = 0.1;
    assert_ge(flr_fail_alloc_each(create, &def), 5);
    flr_coherent_destroy(NULL);
    flr_test_part_free(&part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_missed),    cmocka_unit_test(whatever_happens),
        cmocka_unit_test(rest_costs_little),    cmocka_unit_test(capacity_bounds_the_travel),
        cmocka_unit_test(capacity_is_measured), cmocka_unit_test(definitions_are_checked),
    };
    return cmocka_run_group_tests_name("coherent", tests, NULL, NULL);
}
