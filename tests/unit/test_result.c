#include "base/text.h"
#include "support/test.h"

static void fills_and_returns_the_code(void **state)
{
    (void)state;
    flr_error error;
    assert_int_equal(flr_fail(&error, FLR_IO, "%s: cannot read", "a.stl"), FLR_IO);
    assert_int_equal(error.code, FLR_IO);
    assert_string_equal(error.message, "a.stl: cannot read");
    assert_int_equal(flr_fail(NULL, FLR_IO, "nobody listens"), FLR_IO);
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
    (void)state;
    flr_error error;
    flr_fail(&error, FLR_BAD_INPUT, "x\033[2J\n%s", "\x7f");
    assert_string_equal(error.message, "x?[2J??");
}

static void long_messages_are_cut_between_characters(void **state)
{
    (void)state;
    char text[4 * FLR_ERROR_MESSAGE_SIZE] = "";
    for (int shift = 0; shift < 3; shift++) {
        memset(text, 'a', (size_t)shift);
        for (size_t i = (size_t)shift; i + 3 < sizeof text; i += 3)
            memcpy(text + i, "\xE2\x82\xAC", 4);
        flr_error error;
        flr_fail(&error, FLR_BAD_INPUT, "%s", text);
        size_t length = strlen(error.message);
        assert_ge(length, FLR_ERROR_MESSAGE_SIZE - 3);
        assert_int_equal((length - (size_t)shift) % 3, 0);
    }
}

static void cleaning(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {{"plain", "plain"},
                 {"tab\tnew\nline\x7f", "tab?new?line?"},
                 {"B\xc3\xbchne \xe2\x82\xac \xf0\x9f\x94\xa7",
                  "B\xc3\xbchne \xe2\x82\xac \xf0\x9f\x94\xa7"},
                 {"\xc2\x9b", "??"},
                 {"\xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf", "?? ??? ????"},
                 {"\xed\xa0\x80 \xf4\x90\x80\x80 \xff", "??? ???? ?"},
                 {"cut \xe2\x82", "cut ??"},
                 {"cut \xe2\x82z", "cut ??z"},
                 {"turned \xe2\x80\xae", "turned ???"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[64];
        snprintf(text, sizeof text, "%s", cases[i].in);
        flr_text_clean(text, strlen(text));
        assert_string_equal(text, cases[i].out);
    }
}

static void c1_controls_and_broken_utf8_are_replaced(void **state)
{
    (void)state;
    flr_error error;
    flr_fail(&error, FLR_BAD_INPUT,
             "a\xc2\x9b"
             "31m \xff %s",
             "\xc3");
    assert_string_equal(error.message, "a??31m ? ?");
}

/* the name of the file and the advice stay, whatever the length of the path */
static void long_paths_lose_their_middle(void **state)
{
    (void)state;
    for (size_t length = 10; length < 4100; length += 37) {
        char path[4200] = "/start/";
        while (strlen(path) < length) strcat(path, "B\xc3\xbchne/");
        strcat(path, "part.stl");
        flr_error error;
        flr_fail(&error, FLR_BAD_INPUT, "%s: line 12: this is wrong; do that (%s)", path, path);
        if (length < 200) assert_non_null(strstr(error.message, path));
        assert_lt(strlen(error.message), sizeof error.message);
        assert_int_equal(strncmp(error.message, "/start/", 7), 0);
        assert_non_null(
            strstr(error.message, "part.stl: line 12: this is wrong; do that (/start/"));
        assert_string_equal(error.message + strlen(error.message) - 9, "part.stl)");
        assert_null(strchr(error.message, '?'));
    }
}

static void copies_end_between_words(void **state)
{
    (void)state;
    char text[20];
    flr_text_copy(text, sizeof text, "it fits as it is ok");
    assert_string_equal(text, "it fits as it is ok");
    flr_text_copy(text, sizeof text, "one word more than fits");
    assert_string_equal(text, "one word more...");
    flr_text_copy(text, sizeof text, "onewordthatislongerthanall");
    assert_string_equal(text, "onewordthatislon...");
}

static void every_code_has_a_name(void **state)
{
    (void)state;
    for (int code = 0; code < FLR_RESULT_COUNT; code++)
        assert_non_null(flr_result_name((flr_result)code));
    assert_string_equal(flr_result_name((flr_result)999), "unknown result");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_and_returns_the_code),
        cmocka_unit_test(control_characters_do_not_reach_the_terminal),
        cmocka_unit_test(long_messages_are_cut_between_characters),
        cmocka_unit_test(cleaning),
        cmocka_unit_test(c1_controls_and_broken_utf8_are_replaced),
        cmocka_unit_test(long_paths_lose_their_middle),
        cmocka_unit_test(copies_end_between_words),
        cmocka_unit_test(every_code_has_a_name),
    };
    return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}
