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
        assert_true(length >= FLR_ERROR_MESSAGE_SIZE - 3);
        assert_int_equal((length - (size_t)shift) % 3, 0);
    }
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
        cmocka_unit_test(every_code_has_a_name),
    };
    return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}
