#include "support/test.h"

#include "base/suggest.h"

static void slips_of_the_hand_are_understood(void **state)
{
    (void)state;
    const char *known[] = {"parts", "voxel", NULL, "paths", "colour", "unit"};
    const struct {
        const char *word, *meant;
    } cases[] = {{"part", "parts"}, {"voxle", "voxel"}, {"color", "colour"},  {"UNIT", "unit"},
                 {"untis", "unit"}, {"uit", "unit"},    {"zzz", NULL},        {"", NULL},
                 {"camera", NULL},  {"patsh", "paths"}, {"colours", "colour"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *found = flr_suggest(cases[i].word, known, 6);
        if (!cases[i].meant)
            assert_null(found);
        else
            assert_string_equal(found ? found : "(nothing)", cases[i].meant);
    }
    char long_word[200];
    memset(long_word, 'a', sizeof long_word);
    long_word[199] = 0;
    assert_null(flr_suggest(long_word, known, 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slips_of_the_hand_are_understood)};
    return cmocka_run_group_tests_name("suggest", tests, NULL, NULL);
}
