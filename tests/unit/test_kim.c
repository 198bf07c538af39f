/* Kim's text configuration as a scene */
#include "scene/kim.h"

#include <jansson.h>
#include <math.h>

#include "support/fail_alloc.h"
#include "support/test.h"

static const char figure[] = "Haptic device: 0 (1=yes/0=no)\n"
                             "Number of models: 8\n"
                             "axle_part01.3ds  -0.434  0.0   3.6   1.0   0.02\n"
                             "axle_part02.3ds   0.0    0.0   3.0   1.0   0.02\n"
                             "axle_part03.3ds   0.7    0.0   3.0   1.0   0.02\n"
                             "axle_part04.3ds   2.034  -0.2   3.2   1.0   0.02\n"
                             "axle_part05.3ds   2.413  1.437  3.4   1.0   0.02\n"
                             "axle_cab01.3ds    1.3  1.5   3.2   1.0   0.02\n"
                             "axle_cab02.3ds    0.1   1.5   3.2   1.0   0.02\n"
                             "axle_base.3ds     0     1.0   2.5   1.0   0.02\n"
                             "Barrier_synchronization: 1 (1=yes/0=no)\n";

static void the_figure(void **state)
{
    (void)state;
    flr_scene *scene;
    flr_error error;
    assert_ok(flr_scene_parse("dir/axle.cfg", figure, strlen(figure), &scene, &error), error);
    assert_int_equal(scene->part_count, 8);
    assert_string_equal(scene->name, "axle.cfg");
    assert_string_equal(scene->path, "dir/axle.cfg");
    assert_non_null(strstr(scene->description, "haptic device no, barrier synchronization yes"));
    assert_int_equal(scene->devices, FLR_SCENE_DEVICES_NONE);
    assert_true(scene->barrier);
    const flr_scene_part *part = &scene->parts[0];
    assert_string_equal(part->name, "axle_part01");
    assert_string_equal(part->file, "axle_part01.3ds");
    // 0.02 ft are the 0.6096 cm of the appendix
    assert_lt(fabs(part->voxel - 0.006096), 1e-15);
    assert_lt(fabs(part->T_world_part.p.x + 0.434 * 0.3048), 1e-15);
    assert_lt(fabs(part->T_world_part.p.z - 3.6 * 0.3048), 1e-15);
    assert_eq(part->unit, 0.3048);
    assert_int_equal(part->line, 3);
    assert_int_equal(part->column, 1);
    for (size_t i = 0; i < 8; i++) assert_true(scene->parts[i].moving);
    char *file = flr_scene_file(scene, scene->parts[7].file);
    assert_string_equal(file, "dir/axle_base.3ds");
    free(file);

    // as JSON: the same numbers, and the same scene
    flr_blob text;
    assert_ok(flr_scene_print(scene, &text, &error), error);
    assert_non_null(strstr((char *)text.bytes, "\"unit\": \"ft\""));
    assert_non_null(strstr((char *)text.bytes, "[2.413, 1.437, 3.4]"));
    assert_non_null(strstr((char *)text.bytes, "\"voxel\": 0.02"));
    flr_blob_free(&text);
    flr_scene_destroy(scene);
}

static void variations(void **state)
{
    (void)state;
    // other cases, tabs, carriage returns, remarks, quoted names, the same file twice
    static const char text[] = "\n  HAPTIC_DEVICE : 1\r\nnumber of models:3 (three)\r\n"
                               "\"two words.stl\"\t1\t2\t3\t0.5\t0.1\r\n"
                               "# a remark\n"
                               "sub/bolt.stl 0 0 0 1 0.02\n"
                               "sub/bolt.stl 0 0 1 1 0.02 # the other one\n"
                               "Barrier synchronization: 0";
    flr_scene *scene;
    flr_error error;
    assert_ok(flr_scene_parse("a.txt", text, strlen(text), &scene, &error), error);
    assert_int_equal(scene->part_count, 3);
    assert_int_equal(scene->devices, FLR_SCENE_DEVICES_FORCE);
    assert_false(scene->barrier);
    assert_string_equal(scene->parts[0].name, "two words");
    assert_string_equal(scene->parts[1].name, "bolt");
    assert_string_equal(scene->parts[2].name, "bolt 2");
    assert_lt(fabs(scene->parts[0].unit - 0.5 * 0.3048), 1e-15);
    assert_int_equal(scene->parts[2].line, 7);
    flr_scene_destroy(scene);

    // the same name in two folders
    static const char folders[] = "Haptic device: 0\nNumber of models: 2\na/x.stl 0 0 0 1 1\n"
                                  "b/x.stl 0 0 0 1 1\nBarrier_synchronization: 0\n";
    assert_ok(flr_scene_parse("a.txt", folders, strlen(folders), &scene, &error), error);
    assert_string_equal(scene->parts[1].name, "b/x.stl");
    flr_scene_destroy(scene);
}

static void refused(void **state)
{
    (void)state;
    const struct {
        const char *text, *sentence;
    } cases[] = {
        {"Haptic device: 2\n", "f:1:16: must be 0 or 1"},
        {"Haptic device 0\n", "f:1:15: expected a colon"},
        {"Haptic device: yes\n", "f:1:16: "},
        {"Haptic device:\n", "f:1:15: a number is missing"},
        {"Haptic device: 0 or so\n", "f:1:18: nothing but a remark"},
        {"Haptic feedback: 0\n", "f:1:1: expected a line that begins with Haptic device"},
        {"Haptic device: 0\n", "the file ends before the line Number of models"},
        {"Haptic device: 0\nModels: 1\n", "f:2:1: expected a line that begins with Number"},
        {"Haptic device: 0\nNumber of models: 0\n", "f:2:20: a scene has at least one model"},
        {"Haptic device: 0\nNumber of models: 1.5\n", "f:2:19: must be a whole number"},
        {"Haptic device: 0\nNumber of models: 99999\n", "f:2:19: must be a whole number, at most"},
        {"Haptic device: 0\nNumber of models: 2\na.stl 0 0 0 1 1\n", "1 of 2 are there"},
        {"Haptic device: 0\nNumber of models: 1\na.stl 0 0 0 1\n",
         "f:3:14: a model has a file, x y z, scale and voxel size; missing: the voxel size"},
        {"Haptic device: 0\nNumber of models: 1\na.stl 0 0 x 1 1\n", "f:3:11: "},
        {"Haptic device: 0\nNumber of models: 1\na.stl 0 0 0 1 0\n", "f:3:15: must be from 1e-6"},
        {"Haptic device: 0\nNumber of models: 1\na.stl 0 0 0 -1 1\n",
         "f:3:13: must be from 1e-6 to 1e6: the scale"},
        {"Haptic device: 0\nNumber of models: 1\na.stl 1e9 0 0 1 1\n", "f:3:7: out of range: x"},
        {"Haptic device: 0\nNumber of models: 1\na.stl 0 0 0 1 1 7\n",
         "f:3:17: nothing may follow"},
        {"Haptic device: 0\nNumber of models: 1\n\"a.stl 0 0 0 1 1\n", "closing quotation mark"},
        {"Haptic device: 0\nNumber of models: 1\n\xff.stl 0 0 0 1 1\n",
         "f:3:1: the file name has a"},
        {"Haptic device: 0\nNumber of models: 1\na.stl 0 0 0 1 1\n", "before the line Barrier"},
        {"Haptic device: 0\nNumber of models: 1\na.stl 0 0 0 1 1\nBarrier_synchronization: "
         "0\nb.stl\n",
         "f:5:1: nothing may follow"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        flr_scene *scene = NULL;
        flr_error error;
        flr_result result =
            flr_scene_parse("f", cases[i].text, strlen(cases[i].text), &scene, &error);
        assert_int_equal(result, FLR_BAD_INPUT);
        assert_null(scene);
        if (!strstr(error.message, cases[i].sentence))
            fail_msg("\"%s\": \"%s\" lacks \"%s\"", cases[i].text, error.message,
                     cases[i].sentence);
    }
    assert_false(flr_kim_recognize("{\"feeler\": 1}", 13));
    assert_false(flr_kim_recognize(NULL, 0));
    // every prefix is read or refused at a place
    for (size_t n = 6; n < strlen(figure); n++) {
        flr_scene *scene = NULL;
        flr_error error;
        if (flr_scene_parse("f", figure, n, &scene, &error) == FLR_OK)
            flr_scene_destroy(scene);
        else
            assert_memory_equal(error.message, "f:", 2);
    }
}

/* by hand: the writer's blocks come from libc, so they cannot be counted; leaks are the sanitizer's to find */
static void no_memory(void **state)
{
    (void)state;
    uint64_t failed = 0, n = 0;
    do {
        flr_scene *scene = NULL;
        flr_error error;
        flr_fail_alloc_at(++n);
        flr_result result = flr_scene_parse("f", figure, strlen(figure), &scene, &error);
        failed = flr_fail_alloc_failed();
        flr_fail_alloc_at(0);
        assert_true(result == FLR_OK || result == FLR_NO_MEMORY);
        if (result == FLR_OK) flr_scene_destroy(scene);
        if (result != FLR_OK) assert_gt(strlen(error.message), 10);
    } while (failed > 0);
    assert_gt(n, 20);
}

/* How many models there will be costs nothing until they come, and 4096 are the most. */
static void memory_follows_the_models(void **state)
{
    (void)state;
    json_set_alloc_funcs(malloc, free); // its blocks are counted, too
    const char *head = "Haptic device: 0\nNumber of models: 4096\n";
    const char *line = "a 0 0 0 1 1\n", *end = "Barrier_synchronization: 0\n";
    char *text = malloc(64 + 4096 * strlen(line) + strlen(end));
    assert_non_null(text);
    size_t size = strlen(head);
    memcpy(text, head, size);
    flr_scene *scene = NULL;
    flr_error error;
    flr_fail_alloc_peak_begin();
    assert_int_equal(flr_scene_parse("f", text, size, &scene, &error), FLR_BAD_INPUT);
    assert_non_null(strstr(error.message, "0 of 4096 are there"));
    assert_lt(flr_fail_alloc_peak(), 8 << 10);

    for (int i = 0; i < 4096; i++, size += strlen(line)) memcpy(text + size, line, strlen(line));
    memcpy(text + size, end, strlen(end));
    size += strlen(end);
    flr_fail_alloc_peak_begin();
    assert_ok(flr_scene_parse("f", text, size, &scene, &error), error);
    assert_lt(flr_fail_alloc_peak(), 16 << 20);
    assert_int_equal(scene->part_count, 4096);
    flr_scene_destroy(scene);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_figure),
        cmocka_unit_test(variations),
        cmocka_unit_test(refused),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(memory_follows_the_models),
    };
    return cmocka_run_group_tests_name("kim", tests, NULL, NULL);
}
