/* reading of command lines */
#include "options.h"

#include "output.h"
#include "support/test.h"

typedef struct values {
    flr_common common;
    bool flag;
    double size, unit, weight;
    int64_t number;
    uint64_t bytes;
    int choice;
    const char *path;
} values;

static const char *const colours[] = {"red", "green", NULL};
static const flr_option options[] = {
    {.name = "flag", .letter = 'f', .help = "", .offset = offsetof(values, flag)},
    {.name = "size",
     .letter = 's',
     .type = FLR_OPTION_SIZE,
     .argument = "SIZE",
     .help = "",
     .offset = offsetof(values, size),
     .min = 1e-9,
     .max = 10},
    {.name = "unit",
     .type = FLR_OPTION_UNIT,
     .argument = "UNIT",
     .help = "",
     .offset = offsetof(values, unit)},
    {.name = "weight",
     .type = FLR_OPTION_NUMBER,
     .argument = "N",
     .help = "",
     .offset = offsetof(values, weight),
     .min = 0.5,
     .max = 2},
    {.name = "number",
     .letter = 'n',
     .type = FLR_OPTION_INTEGER,
     .argument = "N",
     .help = "",
     .offset = offsetof(values, number),
     .min = 1,
     .max = 100},
    {.name = "bytes",
     .type = FLR_OPTION_BYTES,
     .argument = "SIZE",
     .help = "",
     .offset = offsetof(values, bytes)},
    {.name = "colour",
     .type = FLR_OPTION_CHOICE,
     .argument = "NAME",
     .help = "",
     .offset = offsetof(values, choice),
     .choices = colours},
    {.name = "path",
     .letter = 'p',
     .type = FLR_OPTION_PATH,
     .argument = "FILE",
     .help = "",
     .offset = offsetof(values, path)},
    {.name = NULL},
};
static const values defaults = {.number = 7, .choice = -1};
static const flr_command command = {
    .name = "try",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 2,
    .argument_missing = "a thing",
    .values_size = sizeof(values),
    .defaults = &defaults,
};

enum { MAX_WORDS = 16 };

/* parses up to MAX_WORDS words, ended by NULL */
static flr_result parse(const char *const *words, values *v, const char **arguments, int *count,
                        flr_error *error)
{
    char *argv[MAX_WORDS];
    char *found[MAX_WORDS];
    int argc = 0;
    for (; words[argc]; argc++) argv[argc] = (char *)(uintptr_t)words[argc];
    flr_result result = flr_options_parse(&command, argc, argv, v, found, count, error);
    for (int i = 0; result == FLR_OK && i < *count; i++) arguments[i] = found[i];
    return result;
}

static void good(const char *const *words, values *v, int wanted)
{
    const char *arguments[MAX_WORDS];
    int count = -1;
    flr_error error;
    assert_ok(parse(words, v, arguments, &count, &error), error);
    assert_int_equal(count, wanted);
}

static void bad(const char *const *words, const char *says)
{
    const char *arguments[MAX_WORDS];
    int count = -1;
    values v;
    flr_error error = {0};
    assert_int_equal(parse(words, &v, arguments, &count, &error), FLR_BAD_ARGUMENT);
    if (!strstr(error.message, says)) fail_msg("\"%s\" lacks \"%s\"", error.message, says);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_defaults(void **state)
{
    (void)state;
    values v;
    good(WORDS("x"), &v, 1);
    assert_false(v.flag);
    assert_int_equal(v.number, 7);
    assert_int_equal(v.choice, -1);
    assert_null(v.path);
}

static void test_forms(void **state)
{
    (void)state;
    values v;
    // a value as the next word, after =, after a letter, glued to a letter
    good(WORDS("--size", "0.35mm", "x"), &v, 1);
    assert_eq(v.size, 0.35e-3);
    good(WORDS("x", "--size=2in", "y"), &v, 2);
    assert_eq(v.size, 0.0508);
    good(WORDS("-s", "1m", "-fqn5", "x"), &v, 1);
    assert_eq(v.size, 1);
    assert_true(v.flag);
    assert_true(v.common.quiet);
    assert_eq(v.number, 5);
    good(WORDS("-pfile", "x", "--colour", "green"), &v, 1);
    assert_string_equal(v.path, "file");
    assert_int_equal(v.choice, 1);
    // the last one wins
    good(WORDS("-n1", "-n2", "x"), &v, 1);
    assert_int_equal(v.number, 2);
    // a value may hold =, and an option may stand behind the arguments
    good(WORDS("x", "--path=a=b", "--json"), &v, 1);
    assert_string_equal(v.path, "a=b");
    assert_true(v.common.json);
    good(WORDS("--unit", "0.0254", "x"), &v, 1);
    assert_eq(v.unit, 0.0254);
    good(WORDS("--weight=1.5e0", "x"), &v, 1);
    assert_eq(v.weight, 1.5);
}

static void test_end_of_options(void **state)
{
    (void)state;
    values v;
    good(WORDS("--", "--flag"), &v, 1);
    assert_false(v.flag);
    good(WORDS("-"), &v, 1);
    good(WORDS("-f", "--", "-f", "--"), &v, 2);
    assert_true(v.flag);
    char *argv[] = {"--flag", "--", "--json"};
    assert_false(flr_options_has_flag(3, argv, "json"));
    assert_true(flr_options_has_flag(3, argv, "flag"));
}

static void test_help_wins(void **state)
{
    (void)state;
    values v;
    good(WORDS("--help"), &v, 0);
    assert_true(v.common.help);
    good(WORDS("-h", "a", "b", "c"), &v, 3);
}

static void test_wrong(void **state)
{
    (void)state;
    bad(WORDS("--flg", "x"), "did you mean --flag?");
    bad(WORDS("--szie=1mm", "x"), "did you mean --size?");
    bad(WORDS("--entirely-else", "x"), "see feeler try --help");
    bad(WORDS("-z", "x"), "unknown option -z");
    bad(WORDS("--flag=yes", "x"), "takes no value");
    bad(WORDS("x", "--size"), "--size needs a value: --size SIZE");
    bad(WORDS("x", "--size", "--flag"), "but --flag follows");
    bad(WORDS("x", "-s"), "-s needs a value");
    bad(WORDS("x", "--size", "12"), "unit");
    bad(WORDS("x", "--size", "-1mm"), "at least 0.001 um, not -1mm");
    bad(WORDS("x", "--size", "11m"), "at most 10 m, not 11m");
    bad(WORDS("x", "--size", "nan mm"), "--size");
    bad(WORDS("x", "--unit", "parsec"), "parsec");
    bad(WORDS("x", "--weight", "1,5"), "needs a number");
    bad(WORDS("x", "--weight", "nan"), "needs a number");
    bad(WORDS("x", "--weight", "0.1"), "from 0.5 to 2");
    bad(WORDS("x", "--number", "1.5"), "whole number");
    bad(WORDS("x", "--number", ""), "whole number");
    bad(WORDS("x", "--number", " 5"), "whole number");
    bad(WORDS("x", "--number", "0"), "from 1 to 100");
    bad(WORDS("x", "--number", "99999999999999999999"), "whole number");
    bad(WORDS("x", "--colour", "blue"), "there are red, green");
    bad(WORDS("x", "--path="), "not empty");
    bad(WORDS("-f"), "needs a thing");
    bad(WORDS("a", "b", "c"), "\"c\" is one argument too many");
}

/* whatever comes, the parser answers and the sentence has an end */
static void test_noise(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("options noise");
    const char letters[] = "-=fsnpqjhx1m .\xff\n";
    for (int round = 0; round < 20000; round++) {
        char text[8][12];
        const char *words[9] = {0};
        uint32_t count = flr_test_random_below(&random, 8);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t size = flr_test_random_below(&random, 11);
            for (uint32_t k = 0; k < size; k++)
                text[i][k] = letters[flr_test_random_below(&random, sizeof letters - 1)];
            text[i][size] = 0;
            words[i] = text[i];
        }
        values v;
        const char *arguments[MAX_WORDS];
        int found = 0;
        flr_error error = {0};
        flr_result result = parse(words, &v, arguments, &found, &error);
        if (result == FLR_OK)
            assert_in_range(found, 0, count);
        else
            assert_ne(error.message[0], 0);
    }
}

static void test_safe_text(void **state)
{
    (void)state;
    char safe[FLR_SAFE_SIZE];
    assert_string_equal(flr_safe("plain ä €", safe), "plain ä €");
    assert_string_equal(flr_safe("a\033[2Jb\n\t\x7f", safe), "a?[2Jb???");
    assert_string_equal(flr_safe("\xff\xc3(\xed\xa0\x80", safe), "?"
                                                                 "?("
                                                                 "?"
                                                                 "?"
                                                                 "?");
    assert_string_equal(flr_safe("\xc2\x9b", safe), "?");
    assert_string_equal(flr_safe("\xe2\x80\xae", safe), "?");
    char *large = test_malloc(2000);
    memset(large, 'x', 1999);
    large[1999] = 0;
    assert_lt(strlen(flr_safe(large, safe)), FLR_SAFE_SIZE);
    test_free(large);
}

static void test_numbers_for_people(void **state)
{
    (void)state;
    char text[FLR_COUNT_TEXT_SIZE], extent[FLR_EXTENT_TEXT_SIZE];
    assert_string_equal(flr_count_print(0, text), "0");
    assert_string_equal(flr_count_print(999, text), "999");
    assert_string_equal(flr_count_print(2760000, text), "2,760,000");
    assert_string_equal(flr_count_print(UINT64_MAX, text), "18,446,744,073,709,551,615");
    assert_string_equal(flr_bytes_print(1, text), "1 byte");
    assert_string_equal(flr_bytes_print(999, text), "999 bytes");
    assert_string_equal(flr_bytes_print(102484, text), "102 kB");
    assert_string_equal(flr_bytes_print(999999, text), "1 MB");
    assert_string_equal(flr_extent_print((flr_vec3){0.025, 0.0125, 0}, extent), "25 x 12.5 x 0 mm");
    assert_string_equal(flr_extent_print((flr_vec3){4.1, 1.9, 4.8}, extent), "4.1 x 1.9 x 4.8 m");
}

static void join_lines(void *context, const char *text, int size)
{
    char *all = context;
    sprintf(all + strlen(all), "%.*s|", size, text);
}

static void test_wrap(void **state)
{
    (void)state;
    char all[256] = "";
    flr_wrap("one two three four", 9, join_lines, all);
    assert_string_equal(all, "one two|three|four|");
    all[0] = 0;
    flr_wrap("word-longer-than-the-width x\n\n  kept   as it is, however long\nnext", 10,
             join_lines, all);
    assert_string_equal(all, "word-longer-than-the-width|x||  kept   as it is, however long|next|");
    all[0] = 0;
    flr_wrap("", 10, join_lines, all);
    assert_string_equal(all, "");
}

static void test_json_values(void **state)
{
    (void)state;
    json_t *value = flr_json_number(0.0 / 0.0);
    assert_true(json_is_null(value));
    json_decref(value);
    value = flr_json_number(0.35e-3);
    assert_eq(json_real_value(value), 0.35e-3);
    json_decref(value);
    // text that is not UTF-8 keeps what can be kept
    value = flr_json_text("a\xff\xc3\xa4");
    assert_string_equal(json_string_value(value), "a\xef\xbf\xbd\xc3\xa4");
    json_decref(value);
}

/* what every command must have, so that help, man page and completion are whole */
static void test_table(void **state)
{
    (void)state;
    for (const flr_command *const *c = flr_commands; *c; c++) {
        assert_ptr_equal(flr_command_find((*c)->name), *c);
        assert_ge((*c)->values_size, sizeof(flr_common));
        assert_le((*c)->values_size, FLR_VALUES_MAX);
        assert_lt(strlen((*c)->summary), 66);
        assert_true((*c)->examples);
        assert_true((*c)->examples->line);
        assert_true((*c)->min_arguments == 0 || (*c)->argument_missing);
        assert_eq(((*c)->argument == FLR_ARGUMENT_WORD), ((*c)->words != NULL));
        for (const flr_option *o = (*c)->options; o && o->name; o++) {
            assert_eq((o->type == FLR_OPTION_FLAG), (o->argument == NULL));
            assert_true(o->type != FLR_OPTION_CHOICE || o->choices);
            assert_ge(o->offset, sizeof(flr_common));
            assert_lt(o->offset, (*c)->values_size);
            // no name and no letter twice, the common ones included
            for (const flr_option *p = o + 1; p->name; p++) {
                assert_string_not_equal(o->name, p->name);
                assert_true(!o->letter || o->letter != p->letter);
            }
            for (const flr_option *p = flr_common_options; p->name; p++) {
                assert_string_not_equal(o->name, p->name);
                assert_true(!o->letter || o->letter != p->letter);
            }
        }
    }
    assert_null(flr_command_find("nothing"));
}

static void test_bytes(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {{"1", 1},
                 {"65536", 65536},
                 {"500MB", 500000000},
                 {"4 GiB", 4u * UINT64_C(1073741824)},
                 {"1.5kB", 1500},
                 {"2KiB", 2048},
                 {"3G", 3 * UINT64_C(1073741824)},
                 {"1TB", 1000000000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        values v;
        good(WORDS("thing", "--bytes", cases[i].text), &v, 1);
        assert_int_equal(v.bytes, cases[i].bytes);
    }
    const char *wrong[] = {"0", "-1GB", "GB", "1gb", "1 GB more", "nan", "1e30", "0.1", "inf"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        bad((const char *const[]){"thing", "--bytes", wrong[i], NULL}, "bytes such as");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_end_of_options),
        cmocka_unit_test(test_help_wins),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_safe_text),
        cmocka_unit_test(test_numbers_for_people),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_json_values),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
