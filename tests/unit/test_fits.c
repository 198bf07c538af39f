#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "feeler/distance.h"
#include "feeler/mesh_check.h"
#include "models/fits.h"

static flr_model build(const flr_model_fit *fit, double gap, double size)
{
    flr_model_fit_options options = {.gap = gap, .size = size};
    flr_model model;
    flr_error error;
    assert_ok(flr_model_fit_build(fit, &options, &model, &error), error);
    return model;
}

/* what we promise: the gap asked for, within 2 % or a micrometre */
static double allowed(double gap) { return fmax(0.02 * gap, 1e-6); }

/* gaps that every fit takes at its own size */
static const double gaps[] = {0.02e-3, 0.05e-3, 0.1e-3};

static void check_mesh(const char *fit, const char *file, const flr_mesh *mesh)
{
    flr_check_report report;
    flr_error error;
    assert_ok(flr_check_mesh(mesh, NULL, NULL, &report, &error), error);
    for (uint32_t i = 0; i < report.finding_count; i++)
        if (report.findings[i].kind != FLR_CHECK_SLIVER)
            fail_msg("%s, %s: %s", fit, file, report.findings[i].sentence);
    flr_mass mass;
    assert_ok(flr_mass_compute(mesh, NULL, 1000, &mass, &error), error);
    assert_true(mass.closed && !mass.inverted && mass.turned_count == 0);
    assert_true(mass.signed_volume > 0);
}

static void every_mesh_is_closed_manifold_and_outward(void **state)
{
    (void)state;
    for (size_t k = 0; k < flr_model_fit_count(); k++)
        for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
            flr_model model = build(flr_model_fit_at(k), gaps[g], 0);
            assert_int_equal(model.mesh_count, 2);
            for (size_t i = 0; i < model.mesh_count; i++)
                check_mesh(flr_model_fit_at(k)->name, model.meshes[i].file, model.meshes[i].mesh);
            flr_model_free(&model);
        }
}

/* poses between those of a path, as a hand follows them */
static flr_pose along(const flr_model_path *path, double k)
{
    size_t i = (size_t)k;
    if (i + 1 >= path->count) return path->poses[path->count - 1].T_world_part;
    return flr_pose_interpolate(path->poses[i].T_world_part, path->poses[i + 1].T_world_part,
                                k - (double)i);
}

/* As many poses as `effort` triangles take; not a multiple of the path's own steps. */
static size_t steps_for(const flr_model *model, size_t effort)
{
    size_t triangles =
        model->meshes[0].mesh->triangle_count + model->meshes[1].mesh->triangle_count;
    size_t steps = effort / triangles;
    return steps < 11 ? 11 : steps > 307 ? 307 : steps | 1;
}

/* free all the way, never nearer than the gap, and at the gap while it is in; then away */
static void check_path(const flr_model_fit *fit, const flr_model *model, double gap, size_t steps)
{
    flr_gauge_part *fixed = NULL, *moving = NULL;
    flr_error error;
    assert_ok(flr_gauge_part_create(model->meshes[0].mesh, &fixed, &error), error);
    assert_ok(flr_gauge_part_create(model->meshes[1].mesh, &moving, &error), error);
    const flr_model_path *path = &model->paths[0];
    flr_gauge_witness witness = flr_no_witness();
    double least = INFINITY, most = 0, last = 0;
    for (size_t i = 0; i <= steps; i++) {
        flr_gauge_result r;
        flr_gauge_distance(fixed, moving, model->parts[0].T_world_part,
                           along(path, (double)(path->count - 1) * (double)i / (double)steps), NULL,
                           &witness, &r);
        if (r.meet) fail_msg("%s: the surfaces meet at step %zu of %zu", fit->name, i, steps);
        least = fmin(least, r.upper);
        /* the first third is well within every fit */
        if (3 * i < steps) most = fmax(most, r.upper);
        last = r.upper;
    }
    print_message("%-10s gap %.3f mm: %.5f to %.5f mm, at the end %.2f mm\n", fit->name, gap * 1e3,
                  least * 1e3, most * 1e3, last * 1e3);
    if (least < gap * (1 - 1e-4) || most > gap + allowed(gap))
        fail_msg("%s: gap %g mm asked, %g to %g mm found", fit->name, gap * 1e3, least * 1e3,
                 most * 1e3);
    assert_true(last > 5 * gap);
    flr_gauge_part_destroy(fixed);
    flr_gauge_part_destroy(moving);
}

static void the_way_out_keeps_the_gap(void **state)
{
    (void)state;
    for (size_t k = 0; k < flr_model_fit_count(); k++)
        for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
            const flr_model_fit *fit = flr_model_fit_at(k);
            flr_model model = build(fit, gaps[g], 0);
            check_path(fit, &model, gaps[g], steps_for(&model, 1000000));
            flr_model_free(&model);
        }
}

static void every_thread_size(void **state)
{
    (void)state;
    static const double sizes[] = {3, 4, 5, 6, 8, 10, 12, 16, 20};
    const flr_model_fit *fit = flr_model_fit_find("thread");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const double gap = fmin(0.05e-3, fit->max_gap * sizes[i] * 1e-3);
        flr_model model = build(fit, gap, sizes[i] * 1e-3);
        for (size_t k = 0; k < model.mesh_count; k++)
            check_mesh(fit->name, model.meshes[k].file, model.meshes[k].mesh);
        check_path(fit, &model, gap, steps_for(&model, 200000));
        flr_model_free(&model);
    }
}

/* these change when a recipe does; nothing else may change them: not compiler, not machine */
static const char *const golden[] = {
    "d1d80be4bc6c185b3b6a0b0e63c93a02", "d18ae27ca3d111fd8c591525ab51eccb",
    "ccfd23e842d10838f792b043a0e5bd3a", "bfe6100b349fdf6880dee74a34244eb0",
    "6c180465c110d043fc0bbf84c27ee698", "96cedf7142322981d9e573a0f3b1dfc3",
    "b298e1f4fc03a3e0ea928ab058aa7d09", "579c788f61d3de74c0d3d01bee2eb7c0",
    "06a3588f797343cf9a6686adde681c51"};

static void the_same_bits_everywhere(void **state)
{
    (void)state;
    int different = 0;
    assert_int_equal(sizeof golden / sizeof *golden, flr_model_fit_count());
    for (size_t k = 0; k < flr_model_fit_count(); k++) {
        flr_model model = build(flr_model_fit_at(k), 0, 0);
        flr_hasher hasher = flr_hasher_begin();
        for (size_t i = 0; i < model.mesh_count; i++) {
            flr_hash hash = flr_mesh_hash(model.meshes[i].mesh);
            flr_hasher_add(&hasher, &hash, sizeof hash);
        }
        flr_hasher_add(&hasher, model.paths[0].poses,
                       model.paths[0].count * sizeof *model.paths[0].poses);
        flr_hasher_add(&hasher, &model.scene.voxel, sizeof model.scene.voxel);
        char text[FLR_HASH_TEXT_SIZE];
        flr_hash_print(flr_hasher_end(&hasher), text);
        if (strcmp(text, golden[k]) != 0) {
            print_message("%s is %s\n", flr_model_fit_at(k)->name, text);
            different++;
        }
        flr_model_free(&model);
    }
    assert_int_equal(different, 0);
}

/* the least and the largest sizes and gaps are whole fits, too */
static void the_limits_hold(void **state)
{
    (void)state;
    for (size_t k = 0; k < flr_model_fit_count(); k++) {
        const flr_model_fit *fit = flr_model_fit_at(k);
        const double sizes[] = {fit->min_size, fit->max_size};
        for (int i = 0; i < 4; i++) {
            const double size = sizes[i & 1];
            /* a gap as small as that on the largest sizes makes millions of triangles */
            const double gap = i & 2 ? fit->max_gap * size : fmax(FLR_FIT_MIN_GAP, 2e-3 * size);
            flr_model model = build(fit, gap, size);
            check_mesh(fit->name, "static", model.meshes[0].mesh);
            check_mesh(fit->name, "moving", model.meshes[1].mesh);
            double found = 0;
            flr_error error;
            assert_ok(flr_model_fit_measure(&model, 0, &found, &error), error);
            if (found < gap * (1 - 1e-4) || found > gap + allowed(gap))
                fail_msg("%s of %g mm: gap %g mm asked, %g mm found", fit->name, size * 1e3,
                         gap * 1e3, found * 1e3);
            flr_model_free(&model);
        }
    }
}

static void refuse(const char *name, flr_model_fit_options options, const char *sentence)
{
    flr_model model;
    flr_error error = {0};
    assert_int_equal(flr_model_fit_build(flr_model_fit_find(name), &options, &model, &error),
                     FLR_BAD_ARGUMENT);
    if (!strstr(error.message, sentence)) fail_msg("%s lacks: %s", error.message, sentence);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    refuse("key", (flr_model_fit_options){.size = 1e-3}, "goes from 4 to 100 mm, not 1");
    refuse("key", (flr_model_fit_options){.size = NAN}, "goes from 4 to 100 mm");
    refuse("key", (flr_model_fit_options){.gap = 1e-3}, "the gap goes from 0.01 to 0.4 mm, not 1");
    refuse("key", (flr_model_fit_options){.gap = -1e-3},
           "the gap goes from 0.01 to 0.4 mm, not -1");
    refuse("key", (flr_model_fit_options){.chord = 1e-3}, "to half the gap, not 1 mm");
    refuse("thread", (flr_model_fit_options){.size = 7e-3}, "no size M7");
    assert_null(flr_model_fit_find("sofa"));
    double size = 0;
    flr_error error;
    assert_ok(flr_model_fit_parse_size("M12", &size, &error), error);
    assert_true(fabs(size - 12e-3) < 1e-12);
    assert_ok(flr_model_fit_parse_size("0.5 in", &size, &error), error);
    assert_true(fabs(size - 12.7e-3) < 1e-12);
    assert_int_not_equal(flr_model_fit_parse_size("Mx", &size, &error), FLR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mesh_is_closed_manifold_and_outward),
        cmocka_unit_test(the_way_out_keeps_the_gap),
        cmocka_unit_test(every_thread_size),
        cmocka_unit_test(the_same_bits_everywhere),
        cmocka_unit_test(the_limits_hold),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests_name("fits", tests, NULL, NULL);
}
