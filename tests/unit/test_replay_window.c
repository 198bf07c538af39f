/* the replay window against a plain memory of everything that came */
#include "net/replay_window.h"

#include "support/test.h"

static void test_order(void **state)
{
    (void)state;
    flr_window window = {0};
    assert_int_equal(flr_window_look(&window, 0), FLR_WINDOW_OLD);
    for (uint64_t n = 1; n <= 3 * FLR_WINDOW_BITS; n++) {
        assert_int_equal(flr_window_look(&window, n), FLR_WINDOW_NEW);
        flr_window_add(&window, n);
        assert_int_equal(flr_window_look(&window, n), FLR_WINDOW_SEEN);
    }
    uint64_t last = 3 * FLR_WINDOW_BITS;
    assert_int_equal(flr_window_look(&window, last - FLR_WINDOW_BITS + 1), FLR_WINDOW_SEEN);
    assert_int_equal(flr_window_look(&window, last - FLR_WINDOW_BITS), FLR_WINDOW_OLD);
    assert_ge(FLR_WINDOW_BITS, 2048);
}

/* any order, steps and jumps: each number is taken exactly once while it is in the window, never after */
static void test_against_memory(void **state)
{
    (void)state;
    enum { NUMBERS = 400000 };
    static uint8_t came[NUMBERS + 1];
    flr_test_random random = flr_test_random_begin("test_replay_window");
    for (int run = 0; run < 20; run++) {
        flr_window window = {0};
        memset(came, 0, sizeof came);
        uint64_t highest = 0;
        for (int i = 0; i < 20000; i++) {
            // near the highest one, just before the window's end, far ahead
            uint64_t number;
            uint32_t kind = flr_test_random_below(&random, 200);
            if (kind == 0)
                number = highest + flr_test_random_below(&random, 2 * FLR_WINDOW_BITS);
            else if (kind < 100)
                number = highest + flr_test_random_below(&random, 8);
            else
                number = highest - flr_test_random_below(&random, FLR_WINDOW_BITS + 64);
            if (number > NUMBERS) continue; // also what went below 0
            flr_window_answer wanted =
                number == 0 || (highest >= FLR_WINDOW_BITS && number <= highest - FLR_WINDOW_BITS)
                    ? FLR_WINDOW_OLD
                : came[number] ? FLR_WINDOW_SEEN
                               : FLR_WINDOW_NEW;
            assert_int_equal(flr_window_look(&window, number), wanted);
            if (wanted != FLR_WINDOW_NEW) continue;
            flr_window_add(&window, number);
            came[number] = 1;
            if (number > highest) highest = number;
        }
    }
}

static void test_extremes(void **state)
{
    (void)state;
    flr_window window = {0};
    flr_window_add(&window, UINT64_MAX);
    assert_int_equal(flr_window_look(&window, UINT64_MAX), FLR_WINDOW_SEEN);
    assert_int_equal(flr_window_look(&window, UINT64_MAX - 1), FLR_WINDOW_NEW);
    assert_int_equal(flr_window_look(&window, 1), FLR_WINDOW_OLD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_against_memory),
        cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
