#include "support/test.h"

#include <math.h>

#include "scene/pose_file.h"
#include "support/fail_alloc.h"

static void comments_blanks_and_units(void **state)
{
    (void)state;
    const char text[] = "# a path\n"
                        "\n"
                        "0 1 2 3 1 0 0 0\r\n"
                        "\t0.5\t-1e1 2 3   0.7071 0.7071 0 0 # half\n"
                        "   # only a comment\n"
                        "0.5 0 0 0 1 0 0 0";
    flr_pose_list list;
    flr_error error;
    assert_ok(flr_pose_list_parse("p.txt", text, sizeof text - 1, 0.001, &list, &error), error);
    assert_int_equal(list.count, 3);
    assert_eq(list.poses[0].T_world_part.p.y, 2 * 0.001);
    assert_eq(list.poses[1].t, 0.5);
    assert_eq(list.poses[1].T_world_part.p.x, -10 * 0.001);
    assert_lt(fabs(list.poses[1].T_world_part.q.x - sqrt(0.5)), 1e-15);
    flr_pose_list_free(&list);
    assert_null(list.poses);
    flr_pose_list_free(NULL);
}

static void errors_name_line_and_column(void **state)
{
    (void)state;
    const struct {
        const char *text, *wanted;
    } cases[] = {
        {"", "p.txt:1:1: no pose in the file"},
        {"# x\n\n", "p.txt:3:1: no pose in the file"},
        {"0 1 2 3 1 0 0\n", "p.txt:1:14: a pose is t x y z qw qx qy qz; the line ends before qz"},
        {"0 1 2 3 1 0 0 0 9\n", "p.txt:1:17: a pose has eight numbers; there is more"},
        {"0 1 2 3 1 0 0 0\n0 1 x 3 1 0 0 0\n", "p.txt:2:5: 'x' is not a number"},
        {"0 1 2mm 3 1 0 0 0\n", "p.txt:1:5: not a number: 2mm"},
        {"0 1 nan 3 1 0 0 0\n", "p.txt:1:5: 'nan' is not a number"},
        {"0 1 1e999 3 1 0 0 0\n", "p.txt:1:5: number '1e999' is too large"},
        {"1 1 2 3 1 0 0 0\n0.9 1 2 3 1 0 0 0\n", "p.txt:2:1: the time goes back"},
        {"0 1 2 3e12 1 0 0 0\n", "p.txt:1:7: farther out than 1e9 m: z"},
        {"0 1 2 3 1 1 0 0\n", "p.txt:1:9: qw qx qy qz is not a unit quaternion"},
        {"\xC3\xA4 1 2 3 1 1 0 0\n", "p.txt:1:1: '\xC3\xA4' is not a number"},
        {"0 1 2 3 1 0 0 0.0000000000000000000000000000000000000000000000000000000000000000000001",
         "p.txt:1:15: too long for a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        flr_pose_list list = {NULL, 77};
        flr_error error;
        assert_int_equal(
            flr_pose_list_parse("p.txt", cases[i].text, strlen(cases[i].text), 1, &list, &error),
            FLR_BAD_INPUT);
        assert_string_equal(error.message, cases[i].wanted);
        assert_int_equal(list.count, 77);
    }
}

static void written_poses_read_back_the_same(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("written_poses_read_back_the_same");
    flr_timed_pose poses[100];
    for (int i = 0; i < 100; i++) {
        double angle = flr_test_random_range(&random, -4, 4);
        poses[i] = (flr_timed_pose){i * 0.001,
                                    {{flr_test_random_range(&random, -5, 5),
                                      flr_test_random_range(&random, -1e-6, 1e-6), 0},
                                     {cos(angle), 0, sin(angle), 0}}};
    }
    flr_pose_list list = {poses, 100}, back;
    flr_env *env = flr_env_real();
    flr_error error;
    char *folder = flr_test_folder(), path[600];
    snprintf(path, sizeof path, "%s/p.txt", folder);
    assert_ok(flr_pose_list_write(env, path, &list, 1, "a path", &error), error);
    assert_ok(flr_pose_list_read(env, path, 1, &back, &error), error);
    assert_int_equal(back.count, 100);
    for (int i = 0; i < 100; i++) {
        assert_eq(back.poses[i].t, poses[i].t);
        assert_memory_equal(&back.poses[i].T_world_part.p, &poses[i].T_world_part.p,
                            sizeof(flr_vec3));
        assert_lt(fabs(back.poses[i].T_world_part.q.w - poses[i].T_world_part.q.w), 1e-15);
    }
    flr_pose_list_free(&back);
    snprintf(path, sizeof path, "%s/none/p.txt", folder);
    assert_int_not_equal(flr_pose_list_write(env, path, &list, 1, NULL, &error), FLR_OK);
    assert_int_equal(flr_pose_list_read(env, path, 1, &back, &error), FLR_NOT_FOUND);
    flr_test_folder_remove(folder);
}

static void memory_is_bounded_by_the_file(void **state)
{
    (void)state;
    static const char *const lines[] = {"0 0 0 0 1 0 0 0\n", "\n", "#\n"};
    for (size_t k = 0; k < 3; k++)
        for (size_t count = 100; count < 50000; count += 1 + count / 3) {
            size_t length = strlen(lines[k]), size = length * count;
            char *text = malloc(size);
            assert_non_null(text);
            for (size_t i = 0; i < count; i++) memcpy(text + i * length, lines[k], length);
            flr_pose_list list = {0};
            flr_error error;
            flr_fail_alloc_peak_begin();
            flr_result result = flr_pose_list_parse("p.txt", text, size, 1, &list, &error);
            assert_lt(flr_fail_alloc_peak(), 5 * size);
            assert_int_equal(result, k == 0 ? FLR_OK : FLR_BAD_INPUT);
            assert_int_equal(list.count, k == 0 ? count : 0);
            flr_pose_list_free(&list);
            free(text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_blanks_and_units),
        cmocka_unit_test(errors_name_line_and_column),
        cmocka_unit_test(written_poses_read_back_the_same),
        cmocka_unit_test(memory_is_bounded_by_the_file),
    };
    return cmocka_run_group_tests_name("poses", tests, NULL, NULL);
}
