#include "support/test.h"

#include <math.h>

#include "picture/plot.h"

/* writes a plot and gives back its text; free with flr_blob_free() */
static flr_blob written(const flr_plot_def *def)
{
    char *folder = flr_test_folder(), path[1200];
    snprintf(path, sizeof path, "%s/plot.svg", folder);
    flr_error error;
    flr_blob blob;
    assert_ok(flr_plot_write(flr_env_real(), path, def, &error), error);
    assert_ok(flr_file_read_all(flr_env_real(), path, 1 << 20, &blob, &error), error);
    flr_test_folder_remove(folder);
    return blob;
}

static bool has(const flr_blob *blob, const char *text)
{
    return strstr((const char *)blob->bytes, text) != NULL;
}

static unsigned count_of(const flr_blob *blob, const char *text)
{
    unsigned count = 0;
    for (const char *at = (const char *)blob->bytes; (at = strstr(at, text)); at++) count++;
    return count;
}

static void lines_go_where_their_values_are(void **state)
{
    (void)state;
    const double x[] = {0, 5, 10}, y[] = {0, 50, 100};
    const flr_plot_series series = {.name = "a", .x = x, .y = y, .count = 3, .dots = true};
    flr_plot_def def = flr_default_plot_def();
    def.series = &series, def.series_count = 1;
    def.title = "title", def.x_label = "across", def.y_label = "up";
    flr_blob blob = written(&def);
    /* frame: 66..700 across, 372..62 up */
    assert_true(has(&blob, "M66.0 372.0L383.0 217.0L700.0 62.0"));
    assert_int_equal(count_of(&blob, "<circle"), 3);
    assert_true(has(&blob, ">title</text>"));
    assert_true(has(&blob, ">across</text>"));
    assert_true(has(&blob, ">up</text>"));
    assert_true(has(&blob, ">100</text>"));
    assert_true(has(&blob, "</svg>\n"));
    flr_blob_free(&blob);
}

static void logarithmic_axes_have_decades(void **state)
{
    (void)state;
    const double x[] = {1, 10, 100}, y[] = {0.001, 1, 1000};
    const flr_plot_series series = {.name = "a", .x = x, .y = y, .count = 3, .dashed = true};
    flr_plot_def def = flr_default_plot_def();
    def.series = &series, def.series_count = 1, def.log_x = def.log_y = true;
    flr_blob blob = written(&def);
    assert_true(has(&blob, "M66.0 372.0L383.0 206.0L700.0 40.0"));
    assert_true(has(&blob, ">0.001</text>"));
    assert_true(has(&blob, ">1000</text>"));
    assert_true(has(&blob, ">50</text>")); /* two decades: 2 and 5 are named */
    assert_true(has(&blob, "stroke-dasharray"));
    flr_blob_free(&blob);

    /* very many decades: not every one is named */
    const double wide[] = {1e-30, 1e30};
    const flr_plot_series steep = {.y = wide, .count = 2};
    def.series = &steep, def.log_x = false;
    blob = written(&def);
    assert_lt(count_of(&blob, "class=\"e\""), 10);
    flr_blob_free(&blob);
}

static void values_that_cannot_be_shown_are_gaps(void **state)
{
    (void)state;
    const double y[] = {1, 2, NAN, 3, INFINITY, -1, 4};
    const flr_plot_series series = {.y = y, .count = 7, .dots = true};
    flr_plot_def def = flr_default_plot_def();
    def.series = &series, def.series_count = 1, def.log_y = true;
    flr_blob blob = written(&def);
    assert_int_equal(count_of(&blob, "<circle"), 4);
    assert_false(has(&blob, "nan") || has(&blob, "inf"));
    flr_blob_free(&blob);
}

static void bars_stand_on_zero(void **state)
{
    (void)state;
    const double a[] = {10, 20, 1234567}, b[] = {5, -5, NAN};
    const flr_plot_series series[] = {{.name = "old", .y = a, .count = 3},
                                      {.name = "new <&>", .y = b, .count = 3}};
    const char *categories[] = {"one", "two", "th\"ree\n"};
    flr_plot_def def = flr_default_plot_def();
    def.kind = FLR_PLOT_BARS;
    def.series = series, def.series_count = 2;
    def.categories = categories, def.category_count = 3;
    flr_blob blob = written(&def);
    assert_int_equal(count_of(&blob, "<rect"), 1 + 5 + 2); /* paper, bars, legend */
    assert_true(has(&blob, "new &lt;&amp;&gt;"));
    assert_true(has(&blob, "th&quot;ree<"));
    assert_true(has(&blob, ">1.23M</text>")); /* three digits, so that neighbours stay apart */
    flr_blob_free(&blob);
    def.log_y = true;
    blob = written(&def);
    assert_int_equal(count_of(&blob, "<rect"), 1 + 4 + 2);
    flr_blob_free(&blob);
}

static void empty_and_constant_plots_have_axes(void **state)
{
    (void)state;
    flr_plot_def def = flr_default_plot_def();
    flr_blob blob = written(&def);
    assert_true(has(&blob, ">0.2</text>"));
    flr_blob_free(&blob);
    def.kind = FLR_PLOT_BARS;
    blob = written(&def);
    flr_blob_free(&blob);

    const double same[] = {20000, 20000};
    for (int mode = 0; mode < 4; mode++) {
        const double zero[] = {0, 0};
        const flr_plot_series series = {.y = mode == 3 ? zero : same, .count = 2};
        def = flr_default_plot_def();
        def.series = &series, def.series_count = 1;
        def.from_zero = mode % 2 == 1, def.log_y = mode == 2;
        blob = written(&def);
        assert_false(has(&blob, "nan") || has(&blob, "inf"));
        flr_blob_free(&blob);
    }
}

static void trouble_is_told(void **state)
{
    (void)state;
    flr_plot_def def = flr_default_plot_def();
    flr_error error;
    assert_int_not_equal(flr_plot_write(flr_env_real(), "/nonexistent/a.svg", &def, &error),
                         FLR_OK);
    assert_non_null(strstr(error.message, "a.svg"));
    def.width = 10;
    assert_int_equal(flr_plot_write(flr_env_real(), "a.svg", &def, &error), FLR_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "10 x 420"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_go_where_their_values_are),
        cmocka_unit_test(logarithmic_axes_have_decades),
        cmocka_unit_test(values_that_cannot_be_shown_are_gaps),
        cmocka_unit_test(bars_stand_on_zero),
        cmocka_unit_test(empty_and_constant_plots_have_axes),
        cmocka_unit_test(trouble_is_told),
    };
    return cmocka_run_group_tests_name("plot", tests, NULL, NULL);
}
