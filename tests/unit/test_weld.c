/* welding: against a slow and simple one */
#include "mesh/weld.h"

#include <math.h>

#include "support/test.h"

typedef struct welded {
    flr_weld weld;
    flr_budget budget;
    uint32_t *numbers;
} welded;

static welded weld_all(const flr_vec3 *positions, size_t count, double distance, size_t batch)
{
    welded w = {.weld = {.distance = distance}, .budget = {.limit = SIZE_MAX}};
    w.numbers = malloc((count + 1) * sizeof *w.numbers);
    for (size_t i = 0; i < count; i += batch) {
        size_t n = count - i < batch ? count - i : batch;
        assert_int_equal(flr_weld_reserve(&w.weld, &w.budget, n), FLR_OK);
        flr_weld_add(&w.weld, positions + i, n, w.numbers + i);
    }
    return w;
}

static void free_welded(welded *w)
{
    flr_weld_free_table(&w->weld, &w->budget);
    flr_budget_free(&w->budget, w->weld.vertices, w->weld.capacity, sizeof *w->weld.vertices);
    assert_int_equal(w->budget.used, 0);
    free(w->numbers);
}

/* the rule of weld.c by brute force: the nearest kept one within the distance, lowest number first */
static void check_by_hand(const flr_vec3 *positions, size_t count, double distance, const welded *w)
{
    flr_vec3 *kept = malloc((count + 1) * sizeof *kept);
    size_t kept_count = 0;
    for (size_t i = 0; i < count; i++) {
        double best = INFINITY;
        size_t found = 0;
        for (size_t k = 0; k < kept_count; k++) {
            double square = flr_vec3_length2(flr_vec3_sub(kept[k], positions[i]));
            if (square < best) best = square, found = k;
        }
        if (best > distance * distance) {
            found = kept_count;
            kept[kept_count++] = positions[i];
        }
        assert_int_equal(w->numbers[i], found);
    }
    assert_int_equal(w->weld.count, kept_count);
    for (size_t k = 0; k < kept_count; k++)
        assert_true(flr_vec3_equal(w->weld.vertices[k], kept[k]));
    free(kept);
}

static void fill(flr_test_random *random, flr_vec3 *positions, size_t count, double size,
                 double step)
{
    for (size_t i = 0; i < count; i++) {
        double *p = &positions[i].x;
        for (unsigned k = 0; k < 3; k++)
            p[k] = step * floor(flr_test_random_range(random, -size, size) / step) + 0.0;
    }
}

static void exact(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("exact");
    enum { COUNT = 3000 };
    static flr_vec3 positions[COUNT];
    static const double steps[] = {1, 0.25, 1e-3};
    for (unsigned s = 0; s < 3; s++) {
        fill(&random, positions, COUNT, 4, steps[s]);
        welded whole = weld_all(positions, COUNT, 0, FLR_WELD_BATCH);
        welded single = weld_all(positions, COUNT, 0, 1);
        check_by_hand(positions, COUNT, 0, &whole);
        check_by_hand(positions, COUNT, 0, &single);
        free_welded(&whole);
        free_welded(&single);
    }
}

static void many_vertices(void **state)
{
    (void)state;
    enum { SIDE = 60 };
    size_t count = (size_t)SIDE * SIDE * SIDE;
    flr_vec3 *positions = malloc(2 * count * sizeof *positions);
    for (size_t i = 0; i < 2 * count; i++) {
        size_t k = i % count;
        positions[i] =
            flr_vec3_make((double)(k % SIDE), (double)(k / SIDE % SIDE), (double)(k / SIDE / SIDE));
    }
    welded w = weld_all(positions, 2 * count, 0, FLR_WELD_BATCH);
    assert_int_equal(w.weld.count, count);
    for (size_t i = 0; i < 2 * count; i++) assert_int_equal(w.numbers[i], i % count);
    free_welded(&w);
    free(positions);
}

/* the hash as it was when it had no seed, for a file that is made against it */
static uint32_t unseeded_tag(flr_vec3 p)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t bits[3];
    memcpy(bits, &p, sizeof bits);
    wide first = (wide)(bits[0] ^ 0x9E3779B97F4A7C15u) * (bits[1] ^ 0xE7037ED1A0B428DBu);
    uint64_t h = (uint64_t)first ^ (uint64_t)(first >> 64);
    wide second = (wide)(h ^ 0x8EBC6AF09C88C6E3u) * (bits[2] ^ 0x589965CC75374CC3u);
    return (uint32_t)(((uint64_t)second ^ (uint64_t)(second >> 64)) >> 32);
}

static void crafted_positions_are_as_fast_as_others(void **state)
{
    (void)state;
    enum { COUNT = 4096, BITS = 12 };
    flr_test_random random = flr_test_random_begin("crafted");
    flr_vec3 *crafted = malloc(COUNT * sizeof *crafted), *other = malloc(COUNT * sizeof *other);
    for (size_t found = 0, tried = 0; found < COUNT; tried++) {
        flr_vec3 p = flr_vec3_make((double)(tried % 1024), (double)(tried / 1024 % 1024),
                                   1 + (double)(tried / (1024 * 1024)));
        if (unseeded_tag(p) >> (32 - BITS) == 0) crafted[found++] = p;
    }
    fill(&random, other, COUNT, 1e3, 1e-6);
    welded bad = weld_all(crafted, COUNT, 0, FLR_WELD_BATCH);
    welded usual = weld_all(other, COUNT, 0, FLR_WELD_BATCH);
    check_by_hand(crafted, COUNT, 0, &bad);
    // without a seed the crafted ones take about COUNT / 4 probes each, some hundred times as many
    assert_lt(usual.weld.probes, 16 * COUNT);
    assert_lt(bad.weld.probes, 16 * COUNT);
    free_welded(&bad);
    free_welded(&usual);

    // cells of a grid are hashed alike
    bad = weld_all(crafted, COUNT, 0.25, FLR_WELD_BATCH);
    assert_int_equal(bad.weld.count, COUNT);
    assert_lt(bad.weld.probes, 64 * COUNT);
    free_welded(&bad);
    free(crafted);
    free(other);
}

static void every_table_has_its_own_seed(void **state)
{
    (void)state;
    const flr_vec3 positions[] = {{1, 2, 3}, {4, 5, 6}};
    welded a = weld_all(positions, 2, 0, 2), b = weld_all(positions, 2, 0, 2);
    assert_memory_not_equal(a.weld.seed, b.weld.seed, sizeof a.weld.seed);
    assert_memory_equal(a.numbers, b.numbers, 2 * sizeof *a.numbers);
    free_welded(&a);
    free_welded(&b);
}

static void zeros_are_one(void **state)
{
    (void)state;
    const flr_vec3 positions[] = {{-0.0, 0, 0}, {0, -0.0, 0}, {0, 0, -0.0}, {-0.0, -0.0, -0.0}};
    for (unsigned i = 0; i < 2; i++) {
        welded w = weld_all(positions, 4, i ? 0.5 : 0, 4);
        assert_int_equal(w.weld.count, 1);
        assert_false(signbit(w.weld.vertices[0].x));
        free_welded(&w);
    }
}

static void within_a_distance(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("within_a_distance");
    enum { COUNT = 1500 };
    static flr_vec3 positions[COUNT];
    static const double distances[] = {0.01, 0.1, 0.3, 1, 50};
    for (unsigned d = 0; d < 5; d++)
        for (unsigned grid = 0; grid < 2; grid++) {
            // on a grid many are equally far, and lie on the borders of cells
            fill(&random, positions, COUNT, 2, grid ? distances[d] : 1e-9);
            welded w = weld_all(positions, COUNT, distances[d], FLR_WELD_BATCH);
            check_by_hand(positions, COUNT, distances[d], &w);
            free_welded(&w);
        }
}

static void chains_do_not_creep(void **state)
{
    (void)state;
    flr_vec3 positions[100];
    for (unsigned i = 0; i < 100; i++) positions[i] = flr_vec3_make(0.6 * i, 0, 0);
    welded w = weld_all(positions, 100, 1, 100);
    for (unsigned i = 0; i < 100; i++)
        assert_le(flr_vec3_distance(positions[i], w.weld.vertices[w.numbers[i]]), 1);
    assert_int_equal(w.weld.count, 50);
    free_welded(&w);
}

static void far_and_fine(void **state)
{
    (void)state;
    const flr_vec3 positions[] = {
        {1e9, -1e9, 1e9}, {1e9, -1e9, 1e9}, {-1e9, 0, 1e-15}, {-1e9, 0, 0}};
    welded w = weld_all(positions, 4, 1e-15, 4);
    check_by_hand(positions, 4, 1e-15, &w);
    free_welded(&w);
}

static void distances_that_work(void **state)
{
    (void)state;
    assert_true(flr_weld_distance_ok(0));
    assert_true(flr_weld_distance_ok(1e-6));
    assert_false(flr_weld_distance_ok(-1));
    assert_false(flr_weld_distance_ok(1e-300));
    assert_false(flr_weld_distance_ok(INFINITY));
    assert_false(flr_weld_distance_ok(NAN));
}

static void budget(void **state)
{
    (void)state;
    flr_budget budget = {.limit = 2000};
    size_t capacity = 0;
    flr_result result;
    void *array = flr_budget_grow(&budget, NULL, &capacity, 10, 8, &result);
    assert_int_equal(result, FLR_OK);
    assert_int_equal(capacity, 64);
    assert_int_equal(budget.used, 512);
    // half as much again fits beside what is there, then nothing does
    array = flr_budget_grow(&budget, array, &capacity, 70, 8, &result);
    assert_int_equal(result, FLR_OK);
    assert_int_equal(capacity, 96);
    array = flr_budget_grow(&budget, array, &capacity, 125, 8, &result);
    assert_int_equal(result, FLR_OK);
    assert_int_equal(capacity, 144);
    array = flr_budget_grow(&budget, array, &capacity, 145, 8, &result);
    assert_int_equal(result, FLR_TOO_LARGE);
    assert_int_equal(capacity, 144);
    // cut to what is used; not where little would be saved
    budget.limit = 3000;
    array = flr_budget_trim(&budget, array, &capacity, 140, 8);
    assert_int_equal(capacity, 144);
    array = flr_budget_trim(&budget, array, &capacity, 100, 8);
    assert_int_equal(capacity, 100);
    assert_int_equal(budget.used, 800);
    // near the limit what is needed and half of what is left
    budget.limit = 2000;
    array = flr_budget_grow(&budget, array, &capacity, 140, 8, &result);
    assert_int_equal(result, FLR_OK);
    assert_int_equal(capacity, 150);
    flr_budget_free(&budget, array, capacity, 8);
    assert_int_equal(budget.used, 0);

    budget.limit = 1000;
    // a table and vertices beyond the limit
    flr_weld weld = {0};
    assert_int_equal(flr_weld_reserve(&weld, &budget, 100), FLR_TOO_LARGE);
    budget.limit = SIZE_MAX;
    assert_int_equal(flr_weld_reserve(&weld, &budget, (size_t)5e9), FLR_TOO_LARGE);
    budget.limit = 64 * sizeof(flr_vec3) + 100;
    assert_int_equal(flr_weld_reserve(&weld, &budget, 50), FLR_TOO_LARGE);
    flr_budget_free(&budget, weld.vertices, weld.capacity, sizeof *weld.vertices);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact),
        cmocka_unit_test(crafted_positions_are_as_fast_as_others),
        cmocka_unit_test(every_table_has_its_own_seed),
        cmocka_unit_test(many_vertices),
        cmocka_unit_test(zeros_are_one),
        cmocka_unit_test(within_a_distance),
        cmocka_unit_test(chains_do_not_creep),
        cmocka_unit_test(far_and_fine),
        cmocka_unit_test(distances_that_work),
        cmocka_unit_test(budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
