#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "bench/fit_cases.h"
#include "feeler/distance.h"

/* The exact distance at `count` poses from the beginning to the end of the path; fails where the
 * surfaces meet. Returns the least, and the last in `*end`. */
static double follow(const flr_fit_case *fit, size_t count, double *end)
{
    flr_gauge_part *fixed = NULL, *moving = NULL;
    flr_error error;
    assert_ok(flr_gauge_part_create(fit->fixed, &fixed, &error), error);
    assert_ok(flr_gauge_part_create(fit->moving, &moving, &error), error);
    flr_gauge_witness witness = flr_no_witness();
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        double k = (double)(fit->path_count - 1) * (double)i / (double)(count - 1);
        size_t n = (size_t)k < fit->path_count - 2 ? (size_t)k : fit->path_count - 2;
        flr_pose T = flr_pose_interpolate(fit->path[n].T_world_part, fit->path[n + 1].T_world_part,
                                          k - (double)n);
        flr_gauge_result r;
        flr_gauge_distance(fixed, moving, flr_pose_identity(), T, NULL, &witness, &r);
        if (r.meet) fail_msg("%s: the surfaces meet at pose %zu of %zu", fit->name, i, count);
        least = fmin(least, r.upper);
        *end = r.upper;
    }
    flr_gauge_part_destroy(fixed);
    flr_gauge_part_destroy(moving);
    return least;
}

/* every case is a scene with one moving part, which stands where its path begins, and comes free */
static void check_case(const flr_fit_case *fit, size_t poses)
{
    size_t moving = 0;
    for (size_t i = 0; i < fit->scene->part_count; i++) {
        const flr_scene_part *part = &fit->scene->parts[i];
        if (!part->moving) continue;
        moving++;
        flr_vec3 apart = flr_vec3_sub(part->T_world_part.p, fit->path[0].T_world_part.p);
        assert_true(flr_vec3_length(apart) < 1e-9);
    }
    assert_int_equal(moving, 1);
    double end = 0, least = follow(fit, poses, &end);
    print_message("%-48s %.4f mm, at the end %.2f mm\n", fit->name, least * 1e3, end * 1e3);
    assert_true(end > 2 * least && end > 0.5e-3);
    if (fit->gap > 0) assert_true(least > 0.9999 * fit->gap && least < 1.02 * fit->gap + 1e-6);
}

static void every_fit_comes_free(void **state)
{
    (void)state;
    char *folder = flr_test_folder();
    const char *models = flr_test_models_dir();
    size_t missing = 0;
    for (size_t i = 0; i < flr_fit_case_count(); i++) {
        flr_fit_case fit;
        flr_error error;
        flr_result result =
            flr_fit_case_make(flr_env_real(), i, folder, models ? models : "none", &fit, &error);
        if (result == FLR_NOT_FOUND) {
            missing++;
            continue;
        }
        assert_ok(result, error);
        check_case(&fit, fit.gap > 0 ? 4 : 41);
        flr_fit_case_free(&fit);
    }
    print_message("%zu fits are not there\n", missing);
    flr_test_folder_remove(folder);
}

static void missing_models_are_told(void **state)
{
    (void)state;
    flr_fit_case fit;
    flr_error error;
    char *folder = flr_test_folder();
    assert_int_equal(flr_fit_case_make(flr_env_real(), flr_fit_case_count() - 1, folder,
                                       "no/such/folder", &fit, &error),
                     FLR_NOT_FOUND);
    assert_null(fit.scene);
    flr_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fit_comes_free),
        cmocka_unit_test(missing_models_are_told),
    };
    return cmocka_run_group_tests_name("fit_cases", tests, NULL, NULL);
}
