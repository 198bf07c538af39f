/* segment files: what is read, what is refused and how */
#include "scene/segment_file.h"

#include "support/fail_alloc.h"
#include "support/test.h"

static void reads(void **state)
{
    (void)state;
    const char *text = "# comment\n\n 1 2 3\t4 5 6 # more\r\n-1e-3 0 0 0 0 1e300";
    flr_segment_list list = {0};
    flr_error error;
    assert_ok(flr_segment_list_parse("s.txt", text, strlen(text), 0.5, &list, &error), error);
    assert_int_equal(list.count, 2);
    assert_eq(list.segments[0].from.x, 0.5);
    assert_eq(list.segments[0].to.z, 3);
    assert_eq(list.segments[1].from.x, -0.5e-3);
    assert_eq(list.segments[1].to.z, 0.5e300);
    flr_segment_list_free(&list);
    assert_null(list.segments);
    flr_segment_list_free(NULL);
}

static void refuses(void **state)
{
    (void)state;
    const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "s.txt:1:1: no segment in the file"},
        {"# nothing\n", "s.txt:2:1: no segment in the file"},
        {"1 2 3 4 5", "s.txt:1:10: a segment is x0 y0 z0 x1 y1 z1; the line ends before z1"},
        {"1 2 3 4 5 6\n1 2 3 4 5 6 7", "s.txt:2:13: a segment has six numbers; there is more"},
        {"1 2 x 4 5 6", "s.txt:1:5: "},
        {"1 2 3mm 4 5 6", "s.txt:1:5: not a number: 3mm"},
        {"1 2 3 nan 5 6", "s.txt:1:7: "},
        {"1 2 3 1e308 5 6", "s.txt:1:7: too large: x1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flr_segment_list list = {0};
        flr_error error;
        assert_int_equal(flr_segment_list_parse("s.txt", cases[i].text, strlen(cases[i].text), 10,
                                                &list, &error),
                         FLR_BAD_INPUT);
        assert_null(list.segments);
        if (strncmp(error.message, cases[i].sentence, strlen(cases[i].sentence)) != 0)
            fail_msg("\"%s\", not \"%s\"", error.message, cases[i].sentence);
    }
}

static flr_result parse(void *context, flr_error *error)
{
    flr_segment_list list;
    flr_result result = flr_segment_list_parse("s.txt", context, strlen(context), 1, &list, error);
    if (result == FLR_OK) flr_segment_list_free(&list);
    return result;
}

static void memory_runs_out(void **state)
{
    (void)state;
    char text[200 * 12 + 1] = "";
    for (int i = 0; i < 200; i++) memcpy(text + 12 * i, "1 2 3 4 5 6\n", 13);
    assert_eq(flr_fail_alloc_each(parse, text), 1);
}

/* Peak memory of reading `count` copies of a line, by the size of the text. */
static double factor(const char *line, size_t count, bool good)
{
    size_t length = strlen(line), size = length * count;
    char *text = malloc(size);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++) memcpy(text + i * length, line, length);
    flr_segment_list list = {0};
    flr_error error;
    flr_fail_alloc_peak_begin();
    flr_result result = flr_segment_list_parse("s.txt", text, size, 1, &list, &error);
    uint64_t peak = flr_fail_alloc_peak();
    assert_int_equal(result == FLR_OK, good);
    if (good) assert_int_equal(list.count, count);
    flr_segment_list_free(&list);
    free(text);
    return (double)peak / (double)size;
}

static void memory_is_bounded_by_the_file(void **state)
{
    (void)state;
    for (size_t count = 50; count < 100000; count += 1 + count / 3)
        assert_lt(factor("0 0 0 0 0 0\n", count, true), 5);
    assert_lt(factor("\n", 100000, false), 5);
    assert_lt(factor("#\n", 100000, false), 5);
    // room for many, and few there: given back
    const char *few = "1 2 3 4 5 6\n";
    char text[40000];
    memset(text, '\n', sizeof text);
    memcpy(text, few, strlen(few));
    flr_segment_list list;
    flr_error error;
    flr_fail_alloc_peak_begin();
    assert_ok(flr_segment_list_parse("s.txt", text, sizeof text, 1, &list, &error), error);
    assert_lt(flr_fail_alloc_peak(), 5 * sizeof text);
    assert_int_equal(list.count, 1);
    flr_segment_list_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(refuses),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(memory_is_bounded_by_the_file),
    };
    return cmocka_run_group_tests_name("segments", tests, NULL, NULL);
}
