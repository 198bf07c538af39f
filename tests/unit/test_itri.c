/* ITRI */
#include "support/meshes.h"

#define ONE "0 0 0\n1 0 0\n0 1 0\n"

static void reads(void **state)
{
    (void)state;
    static const char *const texts[] = {"1\n" ONE, "\n 1 \r\n0\t0\t0\r\n1 0 0\r\n0 1 0\r\n\r\n",
                                        "+1\n0 0 0 1 0 0 0 1 0",
                                        "\xEF\xBB\xBF"
                                        "1\n" ONE};
    flr_mesh *first = flr_test_parse_text("a.itri", texts[0], false, NULL);
    for (size_t i = 1; i < sizeof texts / sizeof *texts; i++) {
        flr_mesh *mesh = flr_test_parse_text("a.itri", texts[i], false, NULL);
        flr_test_assert_same_mesh(first, mesh);
        flr_mesh_destroy(mesh);
    }
    flr_mesh_destroy(first);
}

/* the example of the thesis, appendix B: a pyramid whose base is a fan of five */
static void thesis(void **state)
{
    (void)state;
    static const char text[] =
        "9\n0.00741279 1.7957 2.98301\n-0.212391 1.5445 2.4178\n0.227216 1.5445 2.4178\n"
        "0.00741279 1.7957 2.98301\n0.227216 1.5445 2.4178\n0.227216 2.0469 2.4178\n"
        "0.00741279 1.7957 2.98301\n0.227216 2.0469 2.4178\n-0.212391 2.0469 2.4178\n"
        "0.00741279 1.7957 2.98301\n-0.212391 2.0469 2.4178\n-0.212391 1.5445 2.4178\n"
        "-0.212391 1.5445 2.4178\n0.00741279 1.7957 2.4178\n0.227216 1.5445 2.4178\n"
        "0.227216 1.5445 2.4178\n0.00741279 1.7957 2.4178\n0.227216 2.0469 2.4178\n"
        "0.227216 2.0469 2.4178\n0.00741279 1.7957 2.4178\n0.227216 2.0469 2.4178\n"
        "0.227216 2.0469 2.4178\n0.00741279 1.7957 2.4178\n-0.212391 2.0469 2.4178\n"
        "-0.212391 2.0469 2.4178\n0.00741279 1.7957 2.4178\n-0.212391 1.5445 2.4178\n";
    // also without a telling name
    flr_mesh_report report;
    flr_mesh *mesh = flr_test_parse_text("example", text, false, &report);
    assert_int_equal(report.format, FLR_FORMAT_ITRI);
    assert_int_equal(mesh->triangle_count, 9);
    assert_int_equal(mesh->vertex_count, 6);
    assert_int_equal(report.triangles_in_file, 9);
    assert_eq(mesh->vertices[0].x, 0.00741279 * 0.001);
    flr_mesh_destroy(mesh);
}

static void wrong_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
        unsigned triangles, malformed, nonfinite, ignored;
    } cases[] = {
        {"3\n" ONE ONE, "claims 3 triangles but only 37 bytes follow", 2, 1, 0, 0},
        {"2\n" ONE "0.5 0.25 0.125\n1 1 1\n2", "line 7: the file ends inside triangle 2", 1, 1, 0,
         0},
        {"2\n" ONE "0 zero 0\n1 1 1\n2 2 2\n", "line 5: 'zero' in triangle 2 is not a number", 1, 1,
         0, 19},
        {"1\n" ONE ONE, "line 5: more follows after the 1 triangles", 1, 0, 0, 18},
        {"2\n" ONE "0 0 inf\n1 0 0\n0 1 0\n", "line 5: a corner at (0, 0, inf) is not finite", 1, 0,
         1, 0},
        {"2\n" ONE "0 0 1e38\n1 0 0\n0 1 0\n", "line 5: a corner at (0, 0, 1e+38) is more", 1, 0, 1,
         0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flr_test_refuse_text("a.itri", cases[i].text, false, cases[i].part);
        flr_mesh_report report;
        flr_mesh *mesh = flr_test_parse_text("a.itri", cases[i].text, true, &report);
        assert_int_equal(mesh->triangle_count, cases[i].triangles);
        assert_int_equal(report.dropped_malformed, cases[i].malformed);
        assert_int_equal(report.dropped_nonfinite, cases[i].nonfinite);
        assert_int_equal(report.ignored_bytes, cases[i].ignored);
        if (!strstr(report.first_trouble, cases[i].part)) fail_msg("'%s'", report.first_trouble);
        flr_mesh_destroy(mesh);
    }
    flr_test_refuse_text("a.itri", "-1\n" ONE, false,
                         "expected the number of triangles, found '-1'");
    flr_test_refuse_text("a.itri", "1.5\n" ONE, true, "expected the number of triangles");
    flr_test_refuse_text("a.itri", "many\n" ONE, false, "found 'many'");
    flr_test_refuse_text("a.itri", "0\n", false, "no triangles");
    flr_test_refuse_text("a.itri", "1868654180\n" ONE, false, "claims 1,868,654,180 triangles");
}

static void cut_anywhere(void **state)
{
    (void)state;
    static const char text[] = "2\n" ONE "0 0 0\n1 0 0\n0 1.25 0\n";
    // the last number may lose its fraction but not its digit
    assert_int_equal(flr_test_prefixes("a.itri", text, strlen(text)), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(thesis),
        cmocka_unit_test(wrong_files),
        cmocka_unit_test(cut_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
