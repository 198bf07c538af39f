/* taking an assembly apart: what has to come first, what may come at once, what comes out as one, and what does not */
#include "feeler/plan.h"
#include "support/fixtures.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_BOXES = 8 };

typedef struct solid {
    flr_vec3 v[8 * MAX_BOXES];
    flr_triangle t[12 * MAX_BOXES];
    uint32_t boxes;
} solid;

/* a box in millimetres */
static void add_box(solid *s, double x0, double x1, double y0, double y1, double z0, double z1)
{
    static const uint32_t t[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                      {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                      {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    const uint32_t n = s->boxes++;
    for (uint32_t i = 0; i < 8; i++)
        s->v[8 * n + i] = flr_vec3_make((i & 1 ? x1 : x0) / 1e3, (i & 2 ? y1 : y0) / 1e3,
                                        (i & 4 ? z1 : z0) / 1e3);
    for (uint32_t i = 0; i < 12; i++)
        for (int k = 0; k < 3; k++) s->t[12 * n + i].v[k] = 8 * n + t[i][k];
}

static flr_fit *fit_of(const solid *s)
{
    return flr_test_fit_of(s->v, 8 * s->boxes, s->t, 12 * s->boxes);
}

/* an open box with a floor */
static flr_fit *tub(void)
{
    solid s = {.boxes = 0};
    add_box(&s, -20, 20, -20, 20, -20, -15);
    add_box(&s, -20, -15, -20, 20, -14.9, 15);
    add_box(&s, 15, 20, -20, 20, -14.9, 15);
    add_box(&s, -14.9, 14.9, -20, -15, -14.9, 15);
    add_box(&s, -14.9, 14.9, 15, 20, -14.9, 15);
    return fit_of(&s);
}

static flr_fit *block(double x0, double x1, double y0, double y1, double z0, double z1)
{
    solid s = {.boxes = 0};
    add_box(&s, x0, x1, y0, y1, z0, z1);
    return fit_of(&s);
}

static flr_plan_sequence find(const flr_plan_sequence_def *def)
{
    flr_plan_sequence sequence;
    flr_error error;
    assert_ok(flr_plan_sequence_find(flr_test_counting_env(), def, &sequence, &error), error);
    return sequence;
}

/* With what later steps remove still there and what earlier ones removed gone, every path is free. */
static void check_again(const flr_plan_sequence_def *def, const flr_plan_sequence *s)
{
    for (uint32_t i = 0; i < s->step_count; i++) {
        const flr_plan_step *step = &s->steps[i];
        flr_plan_part parts[8];
        uint32_t count = 0, moving = 0;
        for (int pass = 0; pass < 2; pass++)
            for (uint32_t p = 0; p < def->part_count; p++) {
                bool leaves = false, gone = false;
                for (uint32_t k = 0; k < step->unit_count; k++)
                    leaves |= step->units[k] == def->unit[p];
                for (uint32_t k = 0; k < step->after_count; k++)
                    for (uint32_t n = 0; n < s->steps[step->after[k]].unit_count; n++)
                        gone |= s->steps[step->after[k]].units[n] == def->unit[p];
                if (gone || leaves != (pass == 0)) continue;
                parts[count++] = def->parts[p];
                moving += pass == 0;
            }
        flr_plan_def check = flr_default_plan_def();
        check.moving = parts, check.moving_count = moving;
        check.obstacles = parts + moving, check.obstacle_count = count - moving;
        check.clearance = def->clearance;
        flr_plan_space *space;
        flr_plan_verdict verdict;
        flr_error error;
        assert_ok(flr_plan_space_create(&check, &space, &error), error);
        assert_ok(flr_plan_verify(space, step->poses, step->pose_count, &verdict, &error), error);
        assert_true(verdict.free);
        flr_plan_space_destroy(space);
    }
}

static flr_plan_sequence_def def_of(const flr_plan_part *parts, const uint32_t *unit,
                                    const bool *fixed, uint32_t count)
{
    flr_plan_sequence_def def = flr_default_plan_sequence_def();
    def.parts = parts, def.unit = unit, def.fixed = fixed;
    def.part_count = def.unit_count = count;
    def.search.seconds = 1;
    def.search.threads = 1;
    return def;
}

/* two blocks in a tub under a lid, and a block beside it that nothing holds */
static void lid_first(void **state)
{
    (void)state;
    flr_fit *fits[5] = {tub(), block(-14, -1, -14, 14, -14, 14), block(1, 14, -14, 14, -14, 14),
                        block(-20, 20, -20, 20, 15.1, 18), block(30, 40, -5, 5, -5, 5)};
    flr_plan_part parts[5];
    const uint32_t unit[5] = {0, 1, 2, 3, 4};
    const bool fixed[5] = {true};
    for (int i = 0; i < 5; i++) parts[i] = (flr_plan_part){fits[i], flr_pose_identity()};
    flr_plan_sequence_def def = def_of(parts, unit, fixed, 5);
    const int64_t before = flr_clock_ns(flr_test_counting_env());
    flr_plan_sequence s = find(&def);
    // everything goes straight, so blocks that the lid holds try no guided moves: the clock counts how often it is asked
    assert_lt(flr_clock_ns(flr_test_counting_env()) - before, 180000000);
    assert_int_equal(s.step_count, 4);
    assert_int_equal(s.left_count, 0);
    for (uint32_t i = 0; i < s.step_count; i++) {
        const flr_plan_step *step = &s.steps[i];
        const uint32_t u = step->units[0];
        assert_int_equal(step->unit_count, 1);
        // the blocks, and only they, come after the lid
        assert_int_equal(step->stage, u == 1 || u == 2);
        assert_int_equal(step->after_count, u == 1 || u == 2);
        if (step->after_count) assert_int_equal(s.steps[step->after[0]].units[0], 3);
    }
    check_again(&def, &s);
    flr_plan_sequence_free(&s);
    // until one block is out: the lid and that block
    def.until = 2;
    s = find(&def);
    assert_int_equal(s.step_count, 2);
    assert_int_equal(s.steps[0].units[0], 3);
    assert_int_equal(s.steps[1].units[0], 2);
    assert_int_equal(s.steps[1].after[0], 0);
    check_again(&def, &s);
    flr_plan_sequence_free(&s);
    // a lid that stays
    const bool closed[5] = {true, false, false, true};
    def.fixed = closed;
    def.search.seconds = 0.2;
    s = find(&def);
    assert_int_equal(s.step_count, 1); // what is beside the tub
    assert_int_equal(s.left_count, 1);
    assert_int_equal(s.left[0], 2);
    assert_true(s.blocker[0] < 5);
    flr_plan_sequence_free(&s);
    def.until = 5;
    flr_error error;
    assert_int_equal(flr_plan_sequence_find(flr_env_real(), &def, &s, &error), FLR_BAD_ARGUMENT);
    for (int i = 0; i < 5; i++) flr_fit_destroy(fits[i]);
}

/* The part that is wanted leaves, whichever of the two it is, and nothing else needs to. */
static void the_last_may_be_wanted(void **state)
{
    (void)state;
    flr_fit *fits[3] = {block(-10, 0, -5, 5, -5, 5), block(0.1, 10, -5, 5, -5, 5),
                        block(10.1, 20, -5, 5, -5, 5)};
    flr_plan_part parts[3];
    const uint32_t unit[3] = {0, 1, 2};
    for (int i = 0; i < 3; i++) parts[i] = (flr_plan_part){fits[i], flr_pose_identity()};
    for (uint32_t count = 2; count <= 3; count++)
        for (uint32_t wanted = 0; wanted < count; wanted++) {
            flr_plan_sequence_def def = def_of(parts, unit, NULL, count);
            def.until = wanted;
            flr_plan_sequence s = find(&def);
            assert_int_equal(s.left_count, 0);
            assert_int_equal(s.step_count, 1);
            assert_int_equal(s.steps[0].unit_count, 1);
            assert_int_equal(s.steps[0].units[0], wanted);
            check_again(&def, &s);
            flr_plan_sequence_free(&s);
        }
    for (int i = 0; i < 3; i++) flr_fit_destroy(fits[i]);
}

/* a ring and a pin with two heads in it: neither comes off the other, both come out of the tub */
static void leave_together(void **state)
{
    (void)state;
    solid ring = {.boxes = 0}, pin = {.boxes = 0};
    add_box(&ring, -10, -3, -10, 10, -2, 2);
    add_box(&ring, 3, 10, -10, 10, -2, 2);
    add_box(&ring, -2.9, 2.9, -10, -3, -2, 2);
    add_box(&ring, -2.9, 2.9, 3, 10, -2, 2);
    add_box(&pin, -2, 2, -2, 2, -6, 6);
    add_box(&pin, -6, 6, -6, 6, 6.1, 8);
    add_box(&pin, -6, 6, -6, 6, -8, -6.1);
    flr_fit *fits[3] = {tub(), fit_of(&ring), fit_of(&pin)};
    flr_plan_part parts[3];
    const uint32_t unit[3] = {0, 1, 2};
    const bool fixed[3] = {true};
    for (int i = 0; i < 3; i++) parts[i] = (flr_plan_part){fits[i], flr_pose_identity()};
    flr_plan_sequence_def def = def_of(parts, unit, fixed, 3);
    def.search.seconds = 0.2;
    flr_plan_sequence s = find(&def);
    assert_int_equal(s.step_count, 1);
    assert_int_equal(s.steps[0].unit_count, 2);
    assert_int_equal(s.left_count, 0);
    check_again(&def, &s);
    flr_plan_sequence_free(&s);
    // as one unit, given so
    const uint32_t as_one[3] = {0, 1, 1};
    def.unit = as_one, def.unit_count = 2;
    s = find(&def);
    assert_int_equal(s.step_count, 1);
    assert_int_equal(s.steps[0].unit_count, 1);
    assert_int_equal(s.steps[0].part, 1);
    flr_plan_sequence_free(&s);
    for (int i = 0; i < 3; i++) flr_fit_destroy(fits[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lid_first),
        cmocka_unit_test(the_last_may_be_wanted),
        cmocka_unit_test(leave_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
