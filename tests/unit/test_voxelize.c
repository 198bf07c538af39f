/* voxelizing as a whole: what is refused at once, progress, stopping */
#include "feeler/voxels.h"

#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/test.h"

static flr_test_shape ball;

static int make_ball(void **state)
{
    (void)state;
    flr_test_shape_sphere(&ball, 0.0125, 32, 16);
    flr_test_shape_mesh(&ball);
    return 0;
}

static int free_ball(void **state)
{
    (void)state;
    flr_test_shape_free(&ball);
    return 0;
}

static flr_voxelize_def def_of(double voxel)
{
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    def.threads = 2;
    return def;
}

static void refuse(flr_voxelize_def def, flr_result code, const char *words)
{
    flr_voxmap *voxmap = NULL;
    flr_shell *shell = NULL;
    flr_error error;
    flr_voxelize_needs needs = {7, 7};
    assert_int_equal(flr_voxelize(flr_env_real(), &ball.mesh, &def, &voxmap, &shell, NULL, &error),
                     code);
    assert_null(voxmap);
    assert_null(shell);
    if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
    assert_int_equal(flr_voxelize_estimate(&ball.mesh, &def, &needs, &error), code);
    assert_int_equal(needs.memory, 7);
}

static void bad_parameters_are_refused(void **state)
{
    (void)state;
    const double bad[] = {0, -1, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuse(def_of(bad[i]), FLR_BAD_ARGUMENT, "voxel");
    refuse(def_of(1), FLR_BAD_ARGUMENT, "larger than the whole part");
    refuse(def_of(1), FLR_BAD_ARGUMENT, "unit of the part's file");
    refuse(def_of(1e-8), FLR_TOO_LARGE, "try voxels of");
    flr_voxelize_def def = def_of(1e-4);
    def.memory_limit = 1 << 20;
    refuse(def, FLR_TOO_LARGE, "GiB");
    def = def_of(1e-3);
    def.bits = 3;
    refuse(def, FLR_BAD_ARGUMENT, "bits");
    def.bits = 4;
    def.range = 14;
    refuse(def, FLR_BAD_ARGUMENT, "range");
    def.range = 8;
    def.T_voxmap_mesh.q = (flr_quat){2, 0, 0, 0};
    refuse(def, FLR_BAD_ARGUMENT, "pose");
}

/* not below what it takes, and not beyond five times that */
static void estimates_are_rather_high(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        flr_voxelize_def def = def_of(1e-3 / (1 << i));
        def.features = i % 2 == 0;
        flr_voxelize_needs needs;
        flr_voxmap *voxmap;
        flr_shell *shell;
        flr_error error;
        assert_ok(flr_voxelize_estimate(&ball.mesh, &def, &needs, &error), error);
        assert_ok(flr_voxelize(flr_env_real(), &ball.mesh, &def, &voxmap, &shell, NULL, &error),
                  error);
        double is = (double)flr_voxmap_get_info(voxmap).stats.bytes + (double)shell->bytes;
        assert_ge(needs.memory, needs.result);
        if (i >= 2) assert_true((double)needs.result > 0.8 * is && (double)needs.result < 5 * is);
        flr_voxmap_destroy(voxmap);
        flr_shell_destroy(shell);
    }
}

/* A soup of triangles within a box: their corners at random, the third at `width` from the first (metres). */
static void make_soup(flr_test_random *random, flr_mesh *mesh, uint32_t count, flr_vec3 size,
                      double width)
{
    flr_vec3 *vertices = calloc(3 * (size_t)count, sizeof *vertices);
    flr_triangle *triangles = calloc(count, sizeof *triangles);
    flr_box3 bounds = flr_box3_empty();
    for (uint32_t i = 0; i < 3 * count; i++) {
        double *p = &vertices[i].x;
        const double *from = i % 3 == 2 ? &vertices[i - 2].x : NULL;
        for (int k = 0; k < 3; k++)
            p[k] = from ? from[k] + flr_test_random_range(random, 0, width)
                        : flr_test_random_range(random, 0, (&size.x)[k]);
        triangles[i / 3].v[i % 3] = i;
    }
    if (count == 1) vertices[0] = flr_vec3_make(0, 0, 0);
    if (count == 1) vertices[1] = size;
    for (uint32_t i = 0; i < 3 * count; i++) bounds = flr_box3_add(bounds, vertices[i]);
    *mesh = (flr_mesh){.vertices = vertices,
                       .vertex_count = 3 * count,
                       .triangles = triangles,
                       .triangle_count = count,
                       .bounds = bounds};
}

/* The area says nothing about a long triangle without any, or about wires: what has marks is the chunks along them. */
static void estimates_hold_for_thin_things(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("estimates_hold_for_thin_things");
    static const struct {
        uint32_t count;
        flr_vec3 size;
        double width;
        double voxel;
        bool features;
    } cases[] = {
        {1, {1, 1, 1}, 1e-6, 5e-4, false},        /* one long diagonal */
        {1, {1, 0.7, 0.4}, 1e-6, 5e-4, true},     /* with features */
        {1, {1, 0, 0}, 1e-6, 2e-4, false},        /* along an axis */
        {200, {0.2, 0.2, 0.2}, 1e-6, 5e-4, true}, /* wires */
        {20, {0.2, 0.2, 1e-4}, 0.1, 5e-4, false}, /* thin plates */
        {300, {0.1, 0.1, 0.1}, 0.1, 5e-4, true},  /* a dense soup */
        {20000, {0.1, 0.1, 0.1}, 1e-4, 1e-3, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flr_mesh mesh = {0};
        make_soup(&random, &mesh, cases[i].count, cases[i].size, cases[i].width);
        flr_voxelize_def def = def_of(cases[i].voxel);
        def.features = cases[i].features;
        def.hollow = true;
        flr_voxelize_needs needs;
        flr_voxmap *voxmap;
        flr_shell *shell;
        flr_error error;
        assert_ok(flr_voxelize_estimate(&mesh, &def, &needs, &error), error);
        assert_ok(flr_voxelize(flr_env_real(), &mesh, &def, &voxmap, &shell, NULL, &error), error);
        double is = (double)flr_voxmap_get_info(voxmap).stats.bytes + (double)shell->bytes;
        print_message("case %zu: %.2f of %.1f MiB\n", i, (double)needs.result / is, is / 0x1p20);
        assert_ge(needs.memory, needs.result);
        assert_ge((double)needs.result, is);
        assert_lt((double)needs.result, 5 * is);
        // and it is refused where that is too much, with something better to do
        def.memory_limit = needs.memory - 1;
        assert_int_equal(flr_voxelize_estimate(&mesh, &def, &needs, &error), FLR_TOO_LARGE);
        assert_non_null(strstr(error.message, "try voxels of"));
        flr_voxmap_destroy(voxmap);
        flr_shell_destroy(shell);
        free((void *)(uintptr_t)mesh.vertices);
        free((void *)(uintptr_t)mesh.triangles);
    }
}

typedef struct watcher {
    int calls, stop_at; /* 0: never */
    int interior;       /* calls while the interior is filled */
    double last;
    const char *stage;
    int stages;
} watcher;

static bool watch(void *context, double done, const char *stage)
{
    watcher *w = context;
    assert_ge(done, 0);
    assert_le(done, 1);
    assert_ge(done, w->last - 1e-12);
    w->last = done;
    if (!w->stage || strcmp(stage, w->stage) != 0) w->stages++;
    w->stage = stage;
    w->interior += !strcmp(stage, "interior");
    return ++w->calls != w->stop_at;
}

static void progress_rises_and_stops(void **state)
{
    (void)state;
    flr_voxelize_def def = def_of(0.0001);
    def.threads = 1; /* the pieces come in order */
    watcher all = {0};
    flr_voxmap *voxmap = NULL;
    flr_shell *shell = NULL;
    flr_error error;
    def.progress = watch;
    def.context = &all;
    assert_ok(flr_voxelize(flr_env_real(), &ball.mesh, &def, &voxmap, &shell, NULL, &error), error);
    flr_voxmap_destroy(voxmap);
    flr_shell_destroy(shell);
    assert_int_equal(all.stages, 6);
    assert_string_equal(all.stage, "done");
    assert_eq(all.last, 1);
    assert_gt(all.calls, 50);

    /* stopped at any call but the last, nothing is handed out and nothing is lost */
    int64_t before = flr_fail_alloc_live();
    for (int stop = 1; stop < all.calls; stop += 1 + stop / 4) {
        watcher w = {.stop_at = stop};
        def.context = &w;
        def.threads = stop % 2 ? 1 : 2;
        if (def.threads == 2) w.last = -1e9;
        voxmap = NULL;
        shell = NULL;
        flr_result result =
            flr_voxelize(flr_env_real(), &ball.mesh, &def, &voxmap, &shell, NULL, &error);
        if (def.threads == 2 && result == FLR_OK) { /* fewer calls than with one thread */
            flr_voxmap_destroy(voxmap);
            flr_shell_destroy(shell);
            continue;
        }
        assert_int_equal(result, FLR_CANCELLED);
        assert_string_equal(error.message, "voxelizing was stopped");
        assert_null(voxmap);
        assert_null(shell);
    }
    assert_int_equal(flr_fail_alloc_live(), before);
}

/* Whichever threads fill the interior, it is asked before each round of the flood whether to go on. */
static void filling_asks_with_threads(void **state)
{
    (void)state;
    enum { ROUNDS = 4, TRIES = 8 };
    flr_voxelize_def def = def_of(0.0001);
    def.threads = 4;
    def.progress = watch;
    for (int i = 0; i < TRIES; i++) {
        watcher w = {.last = -1e9};
        flr_voxmap *voxmap = NULL;
        flr_shell *shell = NULL;
        flr_error error;
        def.context = &w;
        assert_ok(flr_voxelize(flr_env_real(), &ball.mesh, &def, &voxmap, &shell, NULL, &error),
                  error);
        flr_voxmap_destroy(voxmap);
        flr_shell_destroy(shell);
        assert_ge(w.interior, ROUNDS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_parameters_are_refused),
        cmocka_unit_test(estimates_are_rather_high),
        cmocka_unit_test(estimates_hold_for_thin_things),
        cmocka_unit_test(progress_rises_and_stops),
        cmocka_unit_test(filling_asks_with_threads),
    };
    return cmocka_run_group_tests_name("voxelize", tests, make_ball, free_ball);
}
