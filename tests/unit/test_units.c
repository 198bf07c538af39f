#include "support/test.h"

#include <locale.h>
#include <math.h>

#include "feeler/base.h"

static void sizes_with_units(void **state)
{
    (void)state;
    const struct {
        const char *text;
        double unit, metres;
    } cases[] = {
        {"0.35mm", 0, 0.00035},
        {"2in", 0, 0.0508},
        {"1e-3 m", 0, 0.001},
        {" 3 cm ", 0, 0.03},
        {"5um", 0, 5e-6},
        {"5µm", 0, 5e-6},
        {"2ft", 0, 0.6096},
        {".5m", 0, 0.5},
        {"5.mm", 0, 0.005},
        {"-1mm", 0, -0.001},
        {"+1mm", 0, 0.001},
        {"7", 0.001, 0.007},
        {"7", 1, 7},
        {"7 in", 0.001, 0.1778},
        {"0", 1, 0},
        {"1E2mm", 0, 0.1},
        {"12\"", 0, 0.3048},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        flr_error error;
        double metres = NAN;
        assert_ok(flr_size_parse(cases[i].text, cases[i].unit, &metres, &error), error);
        assert_le(fabs(metres - cases[i].metres), 1e-16);
    }
    // decimal units are rounded once
    double metres;
    assert_int_equal(flr_size_parse("0.35mm", 0, &metres, NULL), FLR_OK);
    assert_eq(metres, 0.35 / 1000);
}

static void what_is_no_size_is_refused(void **state)
{
    (void)state;
    const char *texts[] = {"",       "mm",   "1 furlong", "0x10mm", "inf",    "nan",
                           "1e999m", "1mm1", "1..2mm",    "--1mm",  "1 mm x", "5 MM",
                           "1,5mm",  "e5mm", "1e308ft5",  "1emm",   "1e400",  " "};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        flr_error error = {0};
        double metres = 42;
        if (flr_size_parse(texts[i], 1, &metres, &error) != FLR_BAD_INPUT)
            fail_msg("'%s' was taken for %g", texts[i], metres);
        assert_eq(metres, 42);
        assert_int_equal(error.code, FLR_BAD_INPUT);
        assert_non_null(strstr(error.message, texts[i]));
    }
    // a number alone, where a unit must be given
    flr_error error;
    double metres;
    assert_int_equal(flr_size_parse("7", 0, &metres, &error), FLR_BAD_INPUT);
    assert_non_null(strstr(error.message, "no unit"));
    // more digits than anybody needs
    char digits[400];
    memset(digits, '1', sizeof digits);
    digits[399] = 0;
    assert_int_equal(flr_size_parse(digits, 1, &metres, &error), FLR_BAD_INPUT);
}

static void units_by_name_and_number(void **state)
{
    (void)state;
    flr_error error;
    double metres;
    assert_ok(flr_unit_parse("mm", &metres, &error), error);
    assert_eq(metres, 0.001);
    assert_string_equal(flr_unit_name(metres), "mm");
    assert_ok(flr_unit_parse("in", &metres, &error), error);
    assert_eq(metres, 0.0254);
    assert_string_equal(flr_unit_name(metres), "in");
    assert_ok(flr_unit_parse("0.5", &metres, &error), error);
    assert_eq(metres, 0.5);
    assert_null(flr_unit_name(0.5));
    const char *wrong[] = {"", "furlong", "0", "-1", "1mm", "nan", "inf", "MM"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(flr_unit_parse(wrong[i], &metres, &error), FLR_BAD_INPUT);
}

static void sizes_for_people(void **state)
{
    (void)state;
    const struct {
        double metres;
        const char *text;
    } cases[] = {{0.00035, "0.35 mm"}, {0.0125, "12.5 mm"}, {4.8, "4.8 m"},
                 {0.5, "500 mm"},      {2.5e-6, "2.5 um"},  {0, "0 mm"},
                 {-0.0, "0 mm"},       {-2, "-2 m"},        {0.006096, "6.096 mm"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[FLR_SIZE_TEXT_SIZE];
        assert_string_equal(flr_size_print(cases[i].metres, text), cases[i].text);
        double back;
        flr_error error;
        assert_ok(flr_size_parse(text, 0, &back, &error), error);
        assert_le(fabs(back - cases[i].metres), 1e-12);
    }
}

static void numbers_read_back_the_same(void **state)
{
    (void)state;
    char text[FLR_NUMBER_TEXT_SIZE];
    assert_string_equal(flr_number_print(0.1, text), "0.1");
    assert_string_equal(flr_number_print(-0.0, text), "0");
    assert_string_equal(flr_number_print(1e22, text), "1e+22");
    assert_string_equal(flr_number_print(1.0 / 3, text), "0.3333333333333333");

    flr_test_random random = flr_test_random_begin("numbers_read_back_the_same");
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = flr_test_random_u64(&random);
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        const char *end;
        flr_error error;
        assert_ok(flr_number_parse(flr_number_print(value, text), &back, &end, &error), error);
        assert_int_equal(*end, 0);
        assert_eq(back, value);
    }
}

static void the_locale_does_not_matter(void **state)
{
    (void)state;
    const char *names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    bool found = false;
    for (size_t i = 0; i < 4 && !found; i++) found = setlocale(LC_ALL, names[i]) != NULL;
    if (!found) skip();
    double value;
    char text[FLR_SIZE_TEXT_SIZE];
    assert_int_equal(flr_size_parse("0.35mm", 0, &value, NULL), FLR_OK);
    assert_le(fabs(value - 0.00035), 1e-16);
    assert_string_equal(flr_size_print(0.00035, text), "0.35 mm");
    assert_string_equal(flr_size_print_tight(0.00035, text), "0.35mm");
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_with_units),           cmocka_unit_test(what_is_no_size_is_refused),
        cmocka_unit_test(units_by_name_and_number),   cmocka_unit_test(sizes_for_people),
        cmocka_unit_test(numbers_read_back_the_same), cmocka_unit_test(the_locale_does_not_matter),
    };
    return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
