/* many parts: what a frame and a view do depends on what moves and on requests, not on how many parts there are; and what comes out
 * is the same as if all were looked at */
#include <math.h>

#include "feeler/world.h"
#include "sim/snapshot.h"
#include "support/fixtures.h"

enum { PARTS = 1000, SOME = 60 };
static const double voxel = 0.001;

typedef struct kit {
    flr_test_part box, ball;
    flr_contact_table *tables[2];
    flr_pairs_shape shapes[2];
    flr_world_part parts[PARTS];
} kit;

static int begin(void **state)
{
    kit *k = calloc(1, sizeof *k);
    flr_error error;
    assert_non_null(k);
    flr_test_part_make(&k->box, FLR_TEST_BOX, 0.5, voxel, true);
    flr_test_part_make(&k->ball, FLR_TEST_SPHERE, 0.5, voxel, true);
    assert_ok(flr_contact_table_create(k->box.voxmap, &k->tables[0], &error), error);
    assert_ok(flr_contact_table_create(k->ball.voxmap, &k->tables[1], &error), error);
    k->shapes[0] = flr_pairs_shape_make(k->box.shell, k->tables[0]);
    k->shapes[1] = flr_pairs_shape_make(k->ball.shell, k->tables[1]);
    /* 20 mm apart in a cube of ten by ten by ten; the first is static, the last falls */
    for (uint32_t i = 0; i < PARTS; i++) {
        flr_world_part *part = &k->parts[i];
        *part = flr_default_world_part();
        part->shape = k->shapes[i % 2];
        part->kind = i == 0 ? FLR_PART_STATIC : i == PARTS - 1 ? FLR_PART_FREE : FLR_PART_MOVABLE;
        flr_test_part *of = i % 2 ? &k->ball : &k->box;
        assert_ok(
            flr_body_def_from_mesh(flr_test_shape_mesh(&of->shape), 8000, &part->body, &error),
            error);
        part->body.T_world_part.p =
            flr_vec3_make(0.02 * (i % 10), 0.02 * (i / 10 % 10), 0.02 * (i / 100));
    }
    *state = k;
    return 0;
}

static int end(void **state)
{
    kit *k = *state;
    for (int i = 0; i < 2; i++) flr_contact_table_destroy(k->tables[i]);
    flr_test_part_free(&k->box);
    flr_test_part_free(&k->ball);
    free(k);
    return 0;
}

static flr_world *make(const kit *k, uint32_t count)
{
    flr_world_def def = flr_default_world_def();
    flr_world *world;
    flr_error error;
    def.parts = k->parts;
    def.part_count = count;
    assert_ok(flr_world_create(&def, &world, &error), error);
    return world;
}

static flr_world_input at(flr_vec3 p)
{
    return (flr_world_input){.T_world_hand = {p, {1, 0, 0, 0}}, .fresh = true};
}

/* ---- the world ---- */

static void idle_parts_are_not_visited(void **state)
{
    const kit *k = *state;
    flr_world *world = make(k, PARTS - 1); /* without the one that falls */
    flr_world_input in = at(k->parts[500].body.T_world_part.p);
    flr_world_step(world, &in, NULL);
    static flr_world_part_state parts[PARTS];
    uint64_t since = 0;
    assert_int_equal(flr_world_read_parts(world, &since, parts), PARTS - 1);
    for (int i = 0; i < 10; i++) flr_world_step(world, &in, NULL);
    assert_int_equal(flr_world_read_parts(world, &since, parts), 0);
    /* one in a hand is the only one that is looked at */
    assert_true(flr_world_grab(world, 0, 500));
    memset(parts, 0, sizeof parts);
    for (int i = 0; i < 10; i++) {
        in.T_world_hand.p.z += 1e-5;
        flr_world_step(world, &in, NULL);
        assert_int_equal(flr_world_read_parts(world, &since, parts), 1);
        assert_true(parts[500].moves);
    }
    flr_world_release(world, 0);
    flr_world_step(world, &in, NULL);
    flr_world_read_parts(world, &since, parts);
    flr_world_step(world, &in, NULL);
    assert_int_equal(flr_world_read_parts(world, &since, parts), 0);
    flr_world_destroy(world);
}

/* The chain as it is defined: the hash before, all bodies that are not static, the wrench of the hand. */
static flr_hash chain(const flr_world *world, const kit *k, flr_hash before)
{
    static double numbers[2 + 13 * PARTS + 6];
    double *to = numbers;
    memcpy(to, &before, sizeof before);
    to += 2;
    for (uint32_t i = 0; i < PARTS; i++) {
        if (k->parts[i].kind == FLR_PART_STATIC) continue;
        const flr_body *b = flr_world_body(world, i);
        const double of[13] = {b->T_world_part.p.x, b->T_world_part.p.y, b->T_world_part.p.z,
                               b->T_world_part.q.w, b->T_world_part.q.x, b->T_world_part.q.y,
                               b->T_world_part.q.z, b->twist.linear.x,   b->twist.linear.y,
                               b->twist.linear.z,   b->twist.angular.x,  b->twist.angular.y,
                               b->twist.angular.z};
        memcpy(to, of, sizeof of);
        to += 13;
    }
    flr_wrench w = flr_world_wrench(world, 0);
    const double of[6] = {w.force.x, w.force.y, w.force.z, w.torque.x, w.torque.y, w.torque.z};
    memcpy(to, of, sizeof of);
    to += 6;
    return flr_hash_bytes(numbers, (size_t)(to - numbers) * sizeof *to);
}

/* Whatever is done between steps, the hash is over all bodies as they are. */
static void the_hash_is_of_all_bodies(void **state)
{
    const kit *k = *state;
    flr_test_random random = flr_test_random_begin(__func__);
    flr_world *world = make(k, PARTS);
    void *saved = malloc(flr_world_state_size(world));
    flr_world_input in = at(k->parts[1].body.T_world_part.p);
    flr_hash hash = {0}, saved_hash = {0};
    assert_non_null(saved);
    for (int i = 0; i < 400; i++) {
        uint32_t part = 1 + flr_test_random_below(&random, PARTS - 1);
        switch (i % 40 == 0 ? flr_test_random_below(&random, 6) : 6) {
        case 0:
            flr_world_grab(world, 0, part);
            in = at(flr_world_body(world, part)->T_world_part.p);
            break;
        case 1:
            flr_world_release(world, 0);
            break;
        case 2:
            flr_world_place(world, part, flr_test_random_pose(&random, 0.1));
            break;
        case 3:
            flr_world_set_solid(world, part, !flr_world_is_solid(world, part));
            break;
        case 4:
            flr_world_save(world, saved);
            saved_hash = hash;
            break;
        case 5:
            if (!saved_hash.low) break;
            assert_true(flr_world_load(world, saved, flr_world_state_size(world)));
            hash = saved_hash;
            break;
        default:
            in.T_world_hand.p.x += flr_test_random_range(&random, -1e-4, 1e-4);
        }
        flr_world_frame frame;
        flr_world_step(world, &in, &frame);
        hash = chain(world, k, hash);
        assert_memory_equal(&frame.hash, &hash, sizeof hash);
    }
    free(saved);
    flr_world_destroy(world);
}

/* Parts that fly towards each other, collide and stay together; from `saved` on where it is not NULL, which gets the state after
 * half of the frames. Returns the hash, and how many checks the budget did not suffice for. */
static flr_hash collide(const kit *k, unsigned threads, uint64_t budget, void **saved, bool load,
                        uint32_t *exhausted)
{
    enum { CROWD = 40, CROWD_FRAMES = 120 };
    static flr_world_part parts[CROWD];
    flr_world_def def = flr_default_world_def();
    for (uint32_t i = 0; i < CROWD; i++) {
        parts[i] = k->parts[i];
        if (i > 0) parts[i].kind = FLR_PART_FREE;
        flr_vec3 at = flr_vec3_make(0.015 * (i % 4), 0.015 * (i / 4 % 4), 0.015 * (i / 16));
        parts[i].body.T_world_part.p = at;
        parts[i].body.twist.linear =
            flr_vec3_scale(flr_vec3_sub(flr_vec3_make(0.022, 0.022, 0.015), at), 12);
        parts[i].body.twist.angular = flr_vec3_make(0, i % 3 * 5.0, i % 5 * 3.0);
    }
    def.parts = parts;
    def.part_count = CROWD;
    def.hand_count = 0;
    def.threads = threads;
    def.params.budget = budget;
    flr_world *world;
    flr_error error;
    flr_world_frame frame = {0};
    assert_ok(flr_world_create(&def, &world, &error), error);
    if (load) assert_true(flr_world_load(world, *saved, flr_world_state_size(world)));
    *exhausted = 0;
    for (int i = load ? CROWD_FRAMES / 2 : 0; i < CROWD_FRAMES; i++) {
        if (saved && !load && i == CROWD_FRAMES / 2) {
            *saved = malloc(flr_world_state_size(world));
            assert_non_null(*saved);
            flr_world_save(world, *saved);
        }
        flr_world_step(world, NULL, &frame);
        *exhausted += frame.exhausted;
    }
    flr_world_destroy(world);
    return frame.hash;
}

/* Whoever checks motions, and whatever was remembered: the same bits, also where the budget of checks is spent. */
static void a_crowd_is_the_same(void **state)
{
    const kit *k = *state;
    const uint64_t budgets[] = {0, 25000, 1000};
    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
        void *saved = NULL;
        uint32_t exhausted, again;
        const flr_hash first = collide(k, 1, budgets[b], &saved, false, &exhausted);
        if (budgets[b] == 1000) assert_gt(exhausted, 50);
        const flr_hash continued = collide(k, 1, budgets[b], &saved, true, &again);
        assert_memory_equal(&first, &continued, sizeof first);
        for (unsigned threads = 2; threads <= 3; threads++) {
            const flr_hash shared = collide(k, threads, budgets[b], NULL, false, &again);
            assert_memory_equal(&first, &shared, sizeof first);
            assert_int_equal(exhausted, again);
        }
        free(saved);
    }
}

/* Who is near a point: all that a look at each would find. */
static void near_parts_are_found(void **state)
{
    const kit *k = *state;
    flr_test_random random = flr_test_random_begin(__func__);
    flr_world *world = make(k, PARTS);
    uint32_t found = 0;
    for (int n = 0; n < 50; n++) {
        flr_vec3 point =
            flr_vec3_add(flr_test_random_pose(&random, 0.1).p, flr_vec3_make(0.09, 0.09, 0.09));
        double within = flr_test_random_range(&random, 0, 0.03);
        uint32_t next = flr_world_next_near(world, 0, point, within);
        for (uint32_t i = 0; i < PARTS; i++) {
            flr_vec3 in_part =
                flr_pose_apply_inverse(flr_world_body(world, i)->T_world_part, point);
            const flr_pairs_shape *shape = &k->shapes[i % 2];
            bool near = flr_vec3_distance(in_part, shape->middle) <= shape->radius + within;
            if (!near && i != next) continue;
            assert_int_equal(next, i);
            found++;
            next = flr_world_next_near(world, i + 1, point, within);
        }
        assert_int_equal(next, FLR_NO_PART);
    }
    assert_in_range(found, 100, 50 * PARTS / 4);
    flr_world_destroy(world);
}

/* ---- pairs ---- */

typedef struct setting {
    flr_pairs_part parts[SOME];
    flr_pose poses[SOME];
    double range;
    uint32_t room; /* for pairs; 0: the default */
} setting;

static flr_pairs *pairs_of(const setting *s)
{
    flr_pairs_def def = flr_default_pairs_def();
    flr_pairs *pairs;
    flr_error error;
    def.parts = SOME;
    def.pairs = s->room;
    assert_ok(flr_pairs_create(&def, &pairs, &error), error);
    for (uint32_t i = 0; i < SOME; i++) {
        flr_pairs_part part = s->parts[i];
        part.T_world_part = s->poses[i];
        flr_pairs_set(pairs, i, &part);
    }
    return pairs;
}

/* Pairs with a long history find the same as new ones. */
static void compare_with_new(const setting *s, flr_pairs *pairs, uint64_t *all)
{
    flr_pairs_report old_report, new_report;
    flr_pairs *fresh = pairs_of(s);
    flr_pairs_update(pairs, s->poses, s->range, &old_report);
    flr_pairs_update(fresh, s->poses, s->range, &new_report);
    assert_int_equal(old_report.count, new_report.count);
    assert_int_equal(old_report.dropped, new_report.dropped);
    assert_int_equal(old_report.unfelt, new_report.unfelt);
    assert_memory_equal(old_report.pairs, new_report.pairs,
                        new_report.count * sizeof *new_report.pairs);
    flr_pairs_query(pairs, NULL);
    flr_pairs_query(fresh, NULL);
    for (uint32_t i = 0; i < SOME; i++)
        assert_memory_equal(&flr_pairs_total(pairs, i)->wrench, &flr_pairs_total(fresh, i)->wrench,
                            sizeof(flr_wrench));
    *all += new_report.count;
    flr_pairs_destroy(fresh);
}

static void history(const kit *k, uint32_t room, const char *name, uint64_t *all)
{
    flr_test_random random = flr_test_random_begin(name);
    setting s = {.range = 0.01, .room = room};
    for (uint32_t i = 0; i < SOME; i++) {
        s.parts[i] = flr_default_pairs_part();
        s.parts[i].shape = k->shapes[i % 2];
        s.parts[i].moving = i % 30 == 7;
        s.poses[i] = flr_test_random_pose(&random, 0.04);
    }
    flr_pairs *pairs = pairs_of(&s);
    for (int step = 0; step < 200; step++) {
        /* few of them move, by little; at times one begins or ceases to, or is put elsewhere, or hands become fast */
        for (uint32_t i = 0; i < SOME; i++) {
            if (!s.parts[i].moving) continue;
            s.poses[i].p = flr_vec3_add(s.poses[i].p, flr_test_random_pose(&random, 0.002).p);
        }
        uint32_t i = flr_test_random_below(&random, SOME);
        if (step % 5 == 0) {
            s.parts[i].moving = !s.parts[i].moving;
            flr_pairs_set_moving(pairs, i, s.parts[i].moving);
            flr_pairs_place(pairs, i, s.poses[i]);
        }
        if (step % 7 == 0) {
            s.poses[i] = flr_test_random_pose(&random, 0.04);
            flr_pairs_place(pairs, i, s.poses[i]);
        }
        if (step % 3 == 0) s.range = 0.01 * pow(10, flr_test_random_range(&random, -1, 0.7));
        compare_with_new(&s, pairs, all);
    }
    flr_pairs_destroy(pairs);
}

static void pairs_do_not_depend_on_history(void **state)
{
    uint64_t all = 0, few = 0;
    history(*state, 0, "history", &all);
    history(*state, 10, "history without room", &few); /* no room for most */
    assert_in_range(all, 1000, UINT64_MAX);
    assert_in_range(few, 100, 2000);
}

/* A part that touches two others: the check of its motion finds what the queries noted, as where there is one. */
static void checks_find_the_notes_of_every_pair(void **state)
{
    kit *k = *state;
    uint64_t asked = 0, tested = 0;
    flr_world_part parts[3] = {k->parts[2], k->parts[2], k->parts[2]};
    parts[0].kind = parts[1].kind = FLR_PART_STATIC;
    /* boxes of 12 x 10 x 6 mm: two side by side, one on both */
    parts[0].body.T_world_part.p = flr_vec3_make(-0.0065, 0, 0);
    parts[1].body.T_world_part.p = flr_vec3_make(0.0065, 0, 0);
    parts[2].body.T_world_part.p = flr_vec3_make(0, 0, 0.009);
    flr_world_def def = flr_default_world_def();
    def.parts = parts;
    def.part_count = 3;
    flr_world *world;
    flr_error error;
    assert_ok(flr_world_create(&def, &world, &error), error);
    assert_true(flr_world_grab(world, 0, 2));
    for (int i = 0; i < 400; i++) {
        flr_world_frame frame;
        flr_world_input in =
            at(flr_vec3_make(1e-5 * (i > 200 ? i - 200 : 0), 0, 0.009 - 2e-5 * fmin(i, 150)));
        flr_world_step(world, &in, &frame);
        if (i < 200) continue;
        uint32_t count;
        const flr_pair_result *results = flr_pairs_results(flr_world_pairs(world), &count);
        assert_int_equal(count, 2);
        for (uint32_t p = 0; p < count; p++) asked += results[p].contact.points_tested;
        tested += frame.points_tested;
    }
    /* a check that had to look for what is near would test as many points as a query does */
    assert_in_range(tested - asked, 1, asked / 3);
    flr_world_destroy(world);
}

/* ---- the engine ---- */

static void crowd(flr_test_engine *s)
{
    flr_test_engine_make(s, true, NULL);
    for (uint32_t i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "part %u", i);
        flr_test_engine_add(s->engine, name, flr_vec3_make(0.01, 0.01, 0.01),
                            flr_vec3_make(0.015 * (i % 8), 0.1 + 0.015 * (i / 8), 0.03),
                            FLR_PART_MOVABLE, 0.002);
    }
    flr_test_engine_settle(s);
    assert_int_equal(flr_engine_view(s->engine)->part_count >= 42, true);
}

static void a_view_is_made_once_and_when_asked(void **state)
{
    (void)state;
    flr_test_engine s;
    crowd(&s);
    for (int i = 0; i < 4; i++) { /* all three buffers have all parts */
        flr_engine_run(s.engine, 1);
        flr_engine_view(s.engine);
    }
    const flr_view *view = s.engine->view;
    uint64_t derived = view->derived, copied = s.engine->stepper->parts_copied;
    /* nobody asks, nothing moves: nothing is made and nothing copied */
    flr_engine_run(s.engine, 100);
    assert_int_equal(view->derived, derived);
    assert_int_equal(s.engine->stepper->parts_copied, copied);
    const flr_engine_state *first = flr_engine_view(s.engine);
    for (int i = 0; i < 5; i++) assert_ptr_equal(flr_engine_view(s.engine), first);
    assert_int_equal(view->derived, derived + 1);
    /* of all parts, only the one in a hand is copied */
    flr_test_engine_move(&s, 0, flr_vec3_make(0, 0, 0.03), 0, 20);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), s.block, NULL), FLR_OK);
    flr_test_engine_pass(&s, 50);
    copied = s.engine->stepper->parts_copied;
    uint64_t frame = flr_engine_view(s.engine)->frame;
    flr_test_engine_move(&s, 0, flr_vec3_make(0, 0, 0.06), 0, 100);
    uint64_t frames = flr_engine_view(s.engine)->frame - frame;
    assert_in_range(s.engine->stepper->parts_copied - copied, 100, 2 * frames);
    flr_test_engine_free(&s);
}

/* Three buffers go around; each is brought up to date from whatever it had, however seldom somebody looks. */
static void snapshots_are_whole(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin(__func__);
    flr_test_engine s;
    crowd(&s);
    assert_int_equal(flr_engine_grab(s.engine, flr_hand(0), s.block, NULL), FLR_OK);
    for (int i = 0; i < 100; i++) {
        const flr_world_instance *instance = s.engine->stepper->instance;
        uint32_t place = 1 + flr_test_random_below(&random, instance->count - 1);
        if (i % 4 == 0)
            assert_int_equal(flr_engine_place(s.engine,
                                              flr_engine_part_id(s.engine, instance->ids[place]),
                                              flr_test_random_pose(&random, 0.2), NULL),
                             FLR_OK);
        if (i % 10 == 5) assert_int_equal(flr_engine_undo(s.engine, 1, NULL), FLR_OK);
        flr_pose hand = flr_test_random_pose(&random, 0.05);
        assert_int_equal(flr_engine_hand_input(s.engine, flr_hand(0), hand, 0, NULL), FLR_OK);
        flr_engine_run(s.engine, 1 + flr_test_random_below(&random, 7));
        if (i % 3 == 0) flr_engine_service(s.engine);
        if (flr_test_random_below(&random, 3) == 0) continue;
        const flr_engine_state *view = flr_engine_view(s.engine);
        for (uint32_t p = 0; p < view->part_count; p++) {
            uint32_t at = flr_world_instance_find(instance, view->parts[p].part.index);
            const flr_body *body = flr_world_body(instance->world, at);
            assert_memory_equal(&view->parts[p].T_world_part, &body->T_world_part,
                                sizeof body->T_world_part);
            assert_memory_equal(&view->parts[p].twist, &body->twist, sizeof body->twist);
            assert_int_equal(view->parts[p].moves, flr_world_moves(instance->world, at));
        }
    }
    flr_test_engine_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_parts_are_not_visited),
        cmocka_unit_test(the_hash_is_of_all_bodies),
        cmocka_unit_test(a_crowd_is_the_same),
        cmocka_unit_test(near_parts_are_found),
        cmocka_unit_test(pairs_do_not_depend_on_history),
        cmocka_unit_test(checks_find_the_notes_of_every_pair),
        cmocka_unit_test(a_view_is_made_once_and_when_asked),
        cmocka_unit_test(snapshots_are_whole),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
