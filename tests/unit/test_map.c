/* maps of numbers: every number has its cell and its colour, and the same input gives the same bytes */
#include "picture/map.h"

#include <math.h>

#include "support/test.h"

static flr_blob written(const flr_map_def *def)
{
    char *folder = flr_test_folder(), path[1200];
    snprintf(path, sizeof path, "%s/map.svg", folder);
    flr_error error;
    flr_blob blob;
    assert_ok(flr_map_write(flr_env_real(), path, def, &error), error);
    assert_ok(flr_file_read_all(flr_env_real(), path, 1 << 20, &blob, &error), error);
    flr_test_folder_remove(folder);
    return blob;
}

static unsigned count_of(const flr_blob *blob, const char *text)
{
    unsigned count = 0;
    for (const char *at = (const char *)blob->bytes; (at = strstr(at, text)); at++) count++;
    return count;
}

static void every_number_has_its_colour(void **state)
{
    (void)state;
    static const char *const columns[] = {"250", "1k", "4k"}, *const rows[] = {"low", "high"};
    const double values[2][6] = {{0, 0.01, 0.02, 0.05, NAN, 0.000001}, {2, 2, 2, 2, 2, INFINITY}};
    const flr_map_panel panels[] = {{"first", values[0]}, {"second", values[1]}};
    flr_map_def def = flr_default_map_def();
    def.title = "title", def.x_label = "across", def.y_label = "up";
    def.columns = columns, def.column_count = 3;
    def.rows = rows, def.row_count = 2;
    def.panels = panels, def.panel_count = 2, def.across = 2;
    def.good = 0.01, def.limit = 0.03, def.scale = 100;
    flr_blob blob = written(&def), again = written(&def);
    assert_int_equal(blob.size, again.size);
    assert_memory_equal(blob.bytes, again.bytes, blob.size);
    assert_int_equal(count_of(&blob, "#bfe3bf"), 3); /* up to good */
    assert_int_equal(count_of(&blob, "#f6e3a1"), 1);
    assert_int_equal(count_of(&blob, "#eba9a3"), 7); /* not the one that is no number */
    const char *const texts[] = {">0<",     ">1<",     ">5<",  "&lt;0.001<", "&gt;100<",
                                 ">first<", ">title<", ">up<", ">across<",   ">second<"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_gt(count_of(&blob, texts[i]), 0);
    flr_blob_free(&blob);
    flr_blob_free(&again);
}

static void nothing_to_draw_is_refused(void **state)
{
    (void)state;
    flr_error error;
    flr_map_def def = flr_default_map_def();
    assert_int_equal(flr_map_write(flr_env_real(), "/nowhere/map.svg", &def, &error),
                     FLR_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "/nowhere/map.svg"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_has_its_colour),
        cmocka_unit_test(nothing_to_draw_is_refused),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
