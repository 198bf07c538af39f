/* decimal numbers: the same as the C library's, to the last bit */
#include "mesh/decimal.h"

#include <float.h>
#include <locale.h>
#include <math.h>

#include "support/test.h"

/* reads all of `text` in both precisions and compares with strtod and strtof */
static void check(const char *text)
{
    const char *end = text + strlen(text);
    double value = -1, wanted = strtod(text, NULL), single = (double)strtof(text, NULL);
    if (flr_decimal_parse(text, end, FLR_DOUBLE, &value) != end) fail_msg("'%s' not read", text);
    if (memcmp(&value, &wanted, sizeof value) != 0)
        fail_msg("'%s': %a, not %a", text, value, wanted);
    if (flr_decimal_parse(text, end, FLR_SINGLE, &value) != end) fail_msg("'%s' not read", text);
    if (memcmp(&value, &single, sizeof value) != 0)
        fail_msg("'%s': %a, not %a", text, value, single);
}

static void agrees_with_the_library(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("agrees_with_the_library");
    for (unsigned i = 0; i < 200000; i++) {
        char text[200];
        uint64_t bits = flr_test_random_u64(&random), more = flr_test_random_u64(&random);
        double value;
        float single, next;
        uint32_t low = (uint32_t)bits;
        memcpy(&value, &bits, sizeof value);
        memcpy(&single, &low, sizeof single);
        if (isfinite(value)) {
            snprintf(text, sizeof text, "%.17g", value);
            check(text);
            snprintf(text, sizeof text, "%.*g", 1 + (int)(more % 25), value);
            check(text);
        }
        if (isfinite(single)) {
            snprintf(text, sizeof text, "%.9g", (double)single);
            check(text);
            // the middle between two floats, and a hair beside it
            next = nextafterf(single, INFINITY);
            snprintf(text, sizeof text, "%.60g", ((double)single + (double)next) / 2);
            check(text);
            snprintf(text, sizeof text, "%.20g", ((double)single + (double)next) / 2);
            check(text);
        }
        snprintf(text, sizeof text, "%.*f", (int)(more % 18),
                 flr_test_random_range(&random, -1e4, 1e4));
        check(text);
        snprintf(text, sizeof text, "%llu.%llue%d", (unsigned long long)(bits >> (more & 63)),
                 (unsigned long long)(more >> (bits & 63)), (int)(more % 90) - 45);
        check(text);
        snprintf(text, sizeof text, "-%llue%d", (unsigned long long)bits, (int)(more % 700) - 350);
        check(text);
    }
}

static void odd_spellings(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "+0",
        "0.0",
        ".5",
        "5.",
        "-.5e1",
        "+5.e-1",
        "1e0",
        "1E5",
        "1e+5",
        "00012",
        "1e-400",
        "1e400",
        "-1e400",
        "4.9e-324",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "9007199254740993",
        "9007199254740992.5",
        "16777217",
        "3.4028235677973366e38",
        "3.4028235677973362e38",
        "1.1754943508222875e-38",
        "1e-45",
        "7e-46",
        "123456789012345678901234567890",
        "0.00000000000000000000000000000000000000000000001",
        "0.000000000000000000000000000000000000000000000000000000000000",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0e99999",
        "1000000000000000000000000000000000000000000000e-40"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check(texts[i]);
}

static void very_long_numbers(void **state)
{
    (void)state;
    // 2^-1074 / 2 has 751 significant digits; a digit far behind tips the balance
    char text[3000];
    snprintf(text, sizeof text, "%.1100f", 0x1p-1074 / 1);
    check(text);
    double middle = 1 + DBL_EPSILON; // between 1 and 1 + 2^-51 after the halving below
    snprintf(text, sizeof text, "%.60f", middle);
    check(text);
    memset(text, '0', sizeof text);
    memcpy(text, "1.00000000000000011102230246251565404236316680908203125", 55);
    text[2000] = 0;
    check(text);
    text[1999] = '1';
    check(text);
    memset(text, '9', 2500);
    text[2500] = 0;
    check(text);
    snprintf(text + 2400, 100, "e-2390");
    check(text);
}

static void where_it_stops(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int used; /* -1: no number */
        double value;
    } cases[] = {{"1e", 1, 1},      {"1e+", 1, 1},  {"1.5.2", 3, 1.5}, {"3.1+e2", 3, 3.1},
                 {"12abc", 2, 12},  {"1 2", 1, 1},  {"", -1, 0},       {"-", -1, 0},
                 {".", -1, 0},      {"+.", -1, 0},  {"e5", -1, 0},     {"abc", -1, 0},
                 {"--1", -1, 0},    {"0x10", 1, 0}, {"1,5", 1, 1},     {"in", -1, 0},
                 {"1e5e5", 3, 1e5}, {"-7f", 2, -7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        double value = 0;
        const char *after = flr_decimal_parse(text, text + strlen(text), FLR_DOUBLE, &value);
        if (cases[i].used < 0) {
            if (after) fail_msg("'%s' was read", text);
            continue;
        }
        if (after != text + cases[i].used) fail_msg("'%s' read to '%s'", text, after ? after : "");
        if (value != cases[i].value) fail_msg("'%s' read as %g", text, value);
    }
    // never beyond the end, though digits go on
    double value;
    const char *text = "12345";
    assert_ptr_equal(flr_decimal_parse(text, text + 2, FLR_DOUBLE, &value), text + 2);
    assert_eq(value, 12);
    assert_null(flr_decimal_parse(text, text, FLR_DOUBLE, &value));
}

static void words(void **state)
{
    (void)state;
    static const char *const nans[] = {"nan",        "NaN",     "-nan",    "-nan(ind)",
                                       "nan(0x7ff)", "1.#QNAN", "-1.#IND", "1.#INF00"};
    double value;
    for (size_t i = 0; i < sizeof nans / sizeof *nans; i++) {
        const char *end = nans[i] + strlen(nans[i]);
        value = 0;
        assert_ptr_equal(flr_decimal_parse(nans[i], end, FLR_SINGLE, &value), end);
        assert_true(isnan(value));
    }
    static const char *const infinities[] = {"inf", "INF", "+Infinity", "infinity"};
    for (size_t i = 0; i < sizeof infinities / sizeof *infinities; i++) {
        const char *end = infinities[i] + strlen(infinities[i]);
        assert_ptr_equal(flr_decimal_parse(infinities[i], end, FLR_DOUBLE, &value), end);
        assert_eq(value, INFINITY);
    }
    const char *minus = "-inf";
    assert_ptr_equal(flr_decimal_parse(minus, minus + 4, FLR_DOUBLE, &value), minus + 4);
    assert_eq(value, -INFINITY);
}

static void any_locale(void **state)
{
    (void)state;
    // where the decimal sign is a comma, if such a locale is installed
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) setlocale(LC_ALL, "");
    double value;
    const char *text = "1.25e-300";
    flr_decimal_parse(text, text + strlen(text), FLR_DOUBLE, &value);
    setlocale(LC_ALL, "C");
    assert_eq(value, 1.25e-300);
}

static void integers(void **state)
{
    (void)state;
    int64_t value = 0;
    const char *text = "-922337203685477580 +17 00x 99999999999999999999";
    const char *end = text + strlen(text);
    assert_ptr_equal(flr_integer_parse(text, end, &value), text + 19);
    assert_eq(value, -922337203685477580);
    assert_ptr_equal(flr_integer_parse(text + 20, end, &value), text + 23);
    assert_eq(value, 17);
    assert_ptr_equal(flr_integer_parse(text + 24, end, &value), text + 26);
    assert_null(flr_integer_parse(text + 26, end, &value));
    assert_null(flr_integer_parse(text + 28, end, &value));
    assert_null(flr_integer_parse(end, end, &value));
}

static __attribute__((noinline)) double scale(double value) { return value * 0.3; }

/* not ours but the compiler's: see cmake/options.cmake */
static __attribute__((noinline)) void round_pair(double *pair)
{
    double a = scale(1), b = scale(2);
    pair[0] = (double)(float)a;
    pair[1] = (double)(float)b;
}

static void the_compiler_rounds_to_float(void **state)
{
    (void)state;
    double pair[2];
    round_pair(pair);
    assert_eq(pair[0], 0x1.333334p-2);
    assert_eq(pair[1], 0x1.333334p-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_library),
        cmocka_unit_test(odd_spellings),
        cmocka_unit_test(very_long_numbers),
        cmocka_unit_test(where_it_stops),
        cmocka_unit_test(words),
        cmocka_unit_test(any_locale),
        cmocka_unit_test(integers),
        cmocka_unit_test(the_compiler_rounds_to_float),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
