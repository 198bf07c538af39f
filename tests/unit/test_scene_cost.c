/* what a scene takes in memory: known before it is read, and bounded */
#include "scene/cost.h"

#include <jansson.h>

#include "scene/scene.h"
#include "support/fail_alloc.h"
#include "support/test.h"

enum { FIXED = 4 << 10 }; /* what every scene takes */

/* `before`, `count` times `what` with commas between, `behind`; free it */
static char *repeat(const char *before, const char *what, size_t count, const char *behind,
                    size_t *size)
{
    size_t length = strlen(what), at = strlen(before);
    char *text = malloc(at + count * (length + 1) + strlen(behind) + 1);
    assert_non_null(text);
    memcpy(text, before, at);
    for (size_t i = 0; i < count; i++) {
        if (i) text[at++] = ',';
        memcpy(text + at, what, length);
        at += length;
    }
    memcpy(text + at, behind, strlen(behind) + 1);
    *size = at + strlen(behind);
    return text;
}

static flr_result parse(const char *text, size_t size, uint64_t *peak, flr_error *error)
{
    flr_scene *scene = NULL;
    flr_fail_alloc_peak_begin();
    flr_result result = flr_scene_parse("s.json", text, size, &scene, error);
    *peak = flr_fail_alloc_peak();
    if (result == FLR_OK) flr_scene_destroy(scene);
    return result;
}

static const struct {
    const char *before, *what, *behind;
} shapes[] = {
    {"[", "[]", "]"},
    {"[", "{}", "]"},
    {"[", "1", "]"},
    {"[", "\"\"", "]"},
    {"[", "true", "]"},
    {"{\"feeler\":1,\"name\":\"n\",\"parts\":[", "{}", "]}"},
    {"{\"feeler\":1,\"name\":\"n\",\"parts\":[", "0", "]}"},
    {"{\"feeler\":1,\"name\":\"n\",\"parts\":[", "{\"name\":\"\",\"file\":\"\"}", "]}"},
    {"{\"feeler\":1,\"name\":\"n\",\"parts\":[",
     "{\"name\":\"a\",\"file\":\"b\",\"pose\":{\"position\":[0,0,0]}}", "]}"},
    {"{\"feeler\":1,\"name\":\"n\",\"parts\":[",
     "{\"name\":\"a\",\"file\":\"b\",\"moving\":true,\"force\":[0,0,0]}", "]}"},
    {"{", "\"a\":{\"b\":[{\"c\":[]}]}", "}"},
    {"{\"name\":\"", "0123456789", "\"}"},
};

static void what_it_takes_is_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t count = 1; count < 20000; count = count * 7 / 4 + 1) {
            size_t size;
            char *text = repeat(shapes[i].before, shapes[i].what, count, shapes[i].behind, &size);
            flr_json_position where;
            uint64_t cost = flr_scene_cost(text, size, UINT64_MAX, &where), peak;
            flr_error error;
            parse(text, size, &peak, &error);
            if (peak > cost + FIXED)
                fail_msg("%zu times %s: %llu bytes, estimated %llu", count, shapes[i].what,
                         (unsigned long long)peak, (unsigned long long)cost);
            free(text);
        }
}

/* what it takes follows its size: empty values are refused, parts and poses as short as they can be written are not */
static void memory_follows_the_size(void **state)
{
    (void)state;
    static const struct {
        const char *before, *what, *behind;
        bool refused;
    } texts[] = {
        {"[", "[]", "]", true},
        {"{\"feeler\":1,\"parts\":[", "{}", "]}", true},
        {"{\"feeler\":1,\"parts\":[", "{\"file\":\"b.stl\"}", "]}", false},
        {"{\"feeler\":1,\"parts\":[", "{\"name\":\"a\",\"file\":\"b\"}", "]}", false},
        {"{\"feeler\":1,\"parts\":[", "{\"file\":\"b\",\"pose\":{\"position\":[0,0,0]}}", "]}",
         false},
        {"{\"feeler\":1,\"parts\":[",
         "{\"file\":\"b\",\"name\":\"a\",\"moving\":true,\"locked\":[]}", "]}", false},
        {"[", "[0,0,0]", "]", false},
        {"[", "[0,0,0,1,0,0,0]", "]", false},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t count = 1; count < 50000; count = count * 3 + 1) {
            size_t size;
            char *text = repeat(texts[i].before, texts[i].what, count, texts[i].behind, &size);
            flr_error error;
            uint64_t peak;
            flr_result result = parse(text, size, &peak, &error);
            assert_le(peak,
                      (uint64_t)FLR_SCENE_MEMORY_FACTOR * size + FLR_SCENE_MEMORY_BESIDE + FIXED);
            if (!texts[i].refused) assert_int_not_equal(result, FLR_TOO_LARGE);
            if (texts[i].refused && count > 5000) assert_int_equal(result, FLR_TOO_LARGE);
            free(text);
        }
}

static void too_many_values_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t size, length = strlen(shapes[i].what) + 1;
        char *text = repeat(shapes[i].before, shapes[i].what, (FLR_SCENE_MAX_BYTES - 99) / length,
                            shapes[i].behind, &size);
        flr_json_position where;
        uint64_t limit = flr_scene_memory_limit(size);
        bool over = flr_scene_cost(text, size, limit, &where) > limit;
        flr_error error;
        uint64_t peak;
        if (over) {
            assert_int_equal(where.line, 1);
            assert_int_equal(parse(text, size, &peak, &error), FLR_TOO_LARGE);
            assert_non_null(strstr(error.message, "too many values"));
            assert_memory_equal(error.message, "s.json:1:", 9);
            assert_lt(peak, 1 << 16);
        }
        // all but the long string, which is no tree
        assert_int_equal(over, strlen(shapes[i].what) != 10);
        free(text);
    }
    size_t size;
    char *text = repeat("", " ", (FLR_SCENE_MAX_BYTES / 2) + 1, "", &size);
    flr_error error;
    uint64_t peak;
    assert_int_equal(parse(text, size, &peak, &error), FLR_TOO_LARGE);
    assert_string_equal(error.message,
                        "s.json:1:1: a scene file has at most 32 MiB; make several scenes of it");
    free(text);
}

/* a file that is large but not absurd is read in a moment, places of all parts included */
static void a_hundred_thousand_parts(void **state)
{
    (void)state;
    enum { PARTS = 100000, LINE = 64 };
    char *text = malloc((size_t)PARTS * LINE + 64);
    size_t size = (size_t)sprintf(text, "{\"feeler\":1,\"name\":\"n\",\"parts\":[");
    for (int i = 0; i < PARTS; i++)
        size +=
            (size_t)sprintf(text + size, "%s\n {\"name\":\"p%d\",\"file\":\"x\"}", i ? "," : "", i);
    size += (size_t)sprintf(text + size, "]}");
    flr_scene *scene = NULL;
    flr_error error;
    assert_ok(flr_scene_parse("s.json", text, size, &scene, &error), error);
    assert_int_equal(scene->part_count, PARTS);
    assert_int_equal(scene->parts[PARTS - 1].line, PARTS + 1);
    assert_int_equal(scene->parts[PARTS - 1].column, 2);
    flr_scene_destroy(scene);
    free(text);
}

int main(void)
{
    // from here its blocks are counted, too
    json_set_alloc_funcs(malloc, free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_thousand_parts),
        cmocka_unit_test(what_it_takes_is_known),
        cmocka_unit_test(memory_follows_the_size),
        cmocka_unit_test(too_many_values_are_refused),
    };
    return cmocka_run_group_tests_name("scene_cost", tests, NULL, NULL);
}
