/* OBJ */
#include <math.h>

#include "support/meshes.h"

#define CUBE   "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

static void many_ways_to_write_a_square(void **state)
{
    (void)state;
    static const char *const texts[] = {
        SQUARE "f 1 2 3\nf 1 3 4\n",
        SQUARE "f 1 2 3 4\n",
        SQUARE "f -4 -3 -2 -1\n",
        SQUARE "vt 0 0\nvt 1 1\nvn 0 0 1\nf 1/1 2/1 3/2 4/1\n",
        SQUARE "vn 0 0 1\nf 1//1 2//1 3//-1 4//1\n",
        SQUARE "f 1/1/1 2/2/2 3/3/3 4/4/4 # a comment\n",
        SQUARE "f 1 2 \\\n 3 4\n",
        SQUARE "f 1 2\\\r\n 3 4",
        "v 0 0 0 1\nv 1 0 0 1.0\nv 1 1 0 0.5 0.5 0.5\nv 0 1 0 # here\nf 1 2 3 4",
        "v 0 0 \\\n0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4",
        "f 1 2 3 4\n" SQUARE,
        "\xEF\xBB\xBF# a comment \\\n  v\t0 0 0\r\n\tv 1 0 0\r\nv 1 1 0\r\nv 0 1 0\r\nf 1 2 3 "
        "4\r\n",
        "v 0 0 0\rv 1 0 0\rv 1 1 0\rv 0 1 0\rf 1 2 3 4\r",
        "mtllib x.mtl\nusemtl\n" SQUARE "s off\nl 1 2\np 1\nvp 1\ncstype bezier\nf 1 2 3 4\nend\n",
        "v 9 9 9\n" SQUARE "v nan nan nan\nf 2 3 4 5\n", // unused ones do not matter
    };
    flr_mesh *first = flr_test_parse_text("a.obj", texts[0], false, NULL);
    assert_int_equal(first->triangle_count, 2);
    assert_int_equal(first->vertex_count, 4);
    assert_eq(first->bounds.high.x, 0.001);
    for (size_t i = 1; i < sizeof texts / sizeof *texts; i++) {
        flr_mesh_report report;
        flr_mesh *mesh = flr_test_parse_text("a.obj", texts[i], false, &report);
        flr_test_assert_same_mesh(first, mesh);
        assert_int_equal(report.polygons_split, 1);
        assert_int_equal(report.triangles_in_file, 2);
        flr_mesh_destroy(mesh);
    }
    flr_mesh_destroy(first);
}

static void relative_to_the_line(void **state)
{
    (void)state;
    flr_mesh *mesh = flr_test_parse_text(
        "a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 0 0 1\nf -4 -3 -1\n", false, NULL);
    const flr_triangle wanted[] = {{{0, 1, 2}}, {{0, 1, 3}}};
    assert_int_equal(mesh->triangle_count, 2);
    assert_memory_equal(mesh->triangles, wanted, sizeof wanted);
    flr_mesh_destroy(mesh);
}

static void groups(void **state)
{
    (void)state;
    flr_mesh *mesh =
        flr_test_parse_text("a.obj",
                            CUBE "f 1 2 3\no part\ng inner  bolt \nf 2 3 4\nusemtl x\n"
                                 "f 3 4 5\ng unused\ng inner  bolt\nf 1 2 5\ng\nf 1 2 6\n"
                                 "o last#one\nf 1 2 7\ng inner  bolt\nf 4 5 6",
                            false, NULL);
    static const char *const names[] = {"", "inner  bolt", "", "last#one", "inner  bolt"};
    static const uint32_t counts[] = {1, 3, 1, 1, 1};
    assert_int_equal(mesh->group_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_string_equal(flr_mesh_group_name(mesh, i), names[i]);
        assert_int_equal(mesh->groups[i].triangle_count, counts[i]);
    }
    flr_mesh_destroy(mesh);
}

static void wrong_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
        unsigned triangles, malformed, nonfinite, vertices;
    } cases[] = {
        {SQUARE "f 1 2 5\nf 1 2 3\n", "line 5: a face names vertex 5 but the file has 4", 1, 1, 0,
         0},
        {SQUARE "f 0 1 2\nf 1 2 3\n", "line 5: a face names vertex 0", 1, 1, 0, 0},
        {SQUARE "f -5 1 2\nf 1 2 3\n", "line 5: a face names vertex -5", 1, 1, 0, 0},
        {"v 0 0 0\nf -1 -2 -3\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "(1 of them above)", 1, 1, 0, 0},
        {SQUARE "f 1 2\nf 1 2 3\n", "line 5: a face with 2 corners", 1, 1, 0, 0},
        {SQUARE "f\nf 1 2 3\n", "line 5: a face with 0 corners", 1, 1, 0, 0},
        {SQUARE "f 1 2 x\nf 1 2 3\n", "line 5: 'x' is not a corner", 1, 1, 0, 0},
        {SQUARE "f 1 2 1.5\nf 1 2 3\n", "line 5: '1.5' is not a corner", 1, 1, 0, 0},
        {SQUARE "f 1 2 99999999999999999999\nf 1 2 3", "is not a corner", 1, 1, 0, 0},
        {SQUARE "\\\n\\\nf 1 2 x\nf 1 2 3\n", "line 7: 'x'", 1, 1, 0, 0},
        {"v 0 0\n" SQUARE "f 2 3 4\nf 1 2 3", "line 1: a vertex with 2 of its three", 1, 0, 1, 1},
        {"v 0 3.1+e2 0\n" SQUARE "f 2 3 4", "line 1: '3.1+e2' is not a number", 1, 0, 0, 1},
        {"v 0 nan 0\n" SQUARE "f 2 3 4\nf 1 2 3", "line 7: a corner at (0, nan, 0)", 1, 0, 1, 0},
        {"v 0 1e38 0\n" SQUARE "f 2 3 4\nf 1 2 3 4 5", "line 7: a corner at (0, 1e+38, 0) is more",
         1, 0, 3, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flr_test_refuse_text("a.obj", cases[i].text, false, cases[i].part);
        flr_mesh_report report;
        flr_mesh *mesh = flr_test_parse_text("a.obj", cases[i].text, true, &report);
        assert_int_equal(mesh->triangle_count, cases[i].triangles);
        assert_int_equal(report.dropped_malformed, cases[i].malformed);
        assert_int_equal(report.dropped_nonfinite, cases[i].nonfinite);
        assert_int_equal(report.bad_vertices, cases[i].vertices);
        if (!strstr(report.first_trouble, cases[i].part)) fail_msg("'%s'", report.first_trouble);
        flr_mesh_destroy(mesh);
    }
    flr_test_refuse_text("a.obj", SQUARE, false, "no triangles (4 vertices)");
    flr_test_refuse_text("a.obj", "v nan 0 0\nf 1 1 1 1\n", true,
                         "no triangle is left after 2 bad");
    flr_test_refuse_text("a.obj", "f 1 2 3\n", false, "has 0");
    flr_test_refuse("a.obj", "\xFF\xFEv\0 \0", 6, false, FLR_BAD_INPUT, "UTF-16");
    flr_test_refuse("a.obj",
                    "\0v\0 \0"
                    "0\0 \0",
                    9, false, FLR_BAD_INPUT, "UTF-16");
    flr_test_refuse("a.obj",
                    "v\0 \0"
                    "0\0 \0",
                    8, false, FLR_BAD_INPUT, "UTF-16");
}

static void cut_anywhere(void **state)
{
    (void)state;
    static const char text[] = "# c\n" CUBE "g a\nf 1/1/1 2/2/2 \\\n3 4\nf -1 -2 -3\nvn 0 0 1\n";
    assert_gt(flr_test_prefixes("a.obj", text, strlen(text)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_ways_to_write_a_square),
        cmocka_unit_test(relative_to_the_line),
        cmocka_unit_test(groups),
        cmocka_unit_test(wrong_files),
        cmocka_unit_test(cut_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
