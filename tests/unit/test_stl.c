/* STL, binary and ASCII */
#include <math.h>

#include "support/meshes.h"

/* a header of 80 bytes, a count, facets of a closed tetrahedron again and again, moved in x */
static flr_test_bytes binary(const char *header, uint32_t claimed, uint32_t held)
{
    static const unsigned faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    static const float corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    flr_test_bytes file = {0};
    char start[80] = {0};
    memcpy(start, header, strlen(header) < 80 ? strlen(header) : 80);
    flr_test_put(&file, start, 80);
    flr_test_put_int(&file, claimed, 4, false);
    for (uint32_t f = 0; f < held; f++) {
        for (unsigned i = 0; i < 3; i++)
            flr_test_put_float(&file, NAN, false); // normals do not count
        for (unsigned i = 0; i < 9; i++) {
            float value = corners[faces[f % 4][i / 3]][i % 3];
            flr_test_put_float(&file, i % 3 == 0 ? value + 2 * (float)(f / 4) : value, false);
        }
        flr_test_put_int(&file, 0xABCD, 2, false);
    }
    return file;
}

static void reads_binary(void **state)
{
    (void)state;
    static const char *const headers[] = {"",
                                          "made by hand",
                                          "solid but binary",
                                          "W\xFCrfel \xFF\xFE",
                                          "facet normal",
                                          "\xEF\xBB\xBF",
                                          "\xFF\xFEs"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        flr_test_bytes file = binary(headers[i], 200, 200);
        flr_mesh_report report;
        flr_mesh *mesh = flr_test_parse("a.stl", file.bytes, file.size, false, &report);
        assert_int_equal(mesh->triangle_count, 200);
        assert_int_equal(mesh->vertex_count, 200);
        assert_eq(mesh->bounds.high.y, 0.001); // millimetres
        assert_int_equal(report.format, FLR_FORMAT_STL_BINARY);
        assert_int_equal(report.triangles_in_file, 200);
        assert_int_equal(report.vertices_in_file, 600);
        assert_int_equal(report.bytes, file.size);
        assert_eq(report.unit, 0.001);
        assert_false(report.unit_from_file);
        flr_mesh_destroy(mesh);
        free(file.bytes);
    }
}

static void binary_with_wrong_counts(void **state)
{
    (void)state;
    // one odd byte is fine, even with "solid" first
    flr_test_bytes file = binary("solid", 4, 4);
    flr_test_put(&file, "", 1);
    flr_mesh_report report;
    flr_mesh *mesh = flr_test_parse("a.stl", file.bytes, file.size, false, &report);
    assert_int_equal(report.ignored_bytes, 1);
    flr_mesh_destroy(mesh);
    free(file.bytes);

    // more promised than there is
    file = binary("", 5, 4);
    flr_test_refuse("a.stl", file.bytes, file.size, false, FLR_BAD_INPUT,
                    "byte 80: the header claims 5 facets (334 bytes) but the file has 284 bytes");
    mesh = flr_test_parse("a.stl", file.bytes, file.size, true, &report);
    assert_int_equal(mesh->triangle_count, 4);
    assert_int_equal(report.dropped_malformed, 1);
    assert_non_null(strstr(report.first_trouble, "byte 80"));
    flr_mesh_destroy(mesh);
    free(file.bytes);

    file = binary("", 1868654180, 4);
    flr_test_refuse("a.stl", file.bytes, file.size, false, FLR_BAD_INPUT,
                    "claims 1,868,654,180 facets (93,432,709,084 bytes)");
    free(file.bytes);

    // less promised than there is
    file = binary("", 3, 4);
    flr_test_refuse("a.stl", file.bytes, file.size, false, FLR_BAD_INPUT, "hold 4 facets");
    mesh = flr_test_parse("a.stl", file.bytes, file.size, true, &report);
    assert_int_equal(mesh->triangle_count, 3);
    assert_int_equal(report.ignored_bytes, 50);
    flr_mesh_destroy(mesh);
    free(file.bytes);

    file = binary("", 0, 0);
    flr_test_refuse("a.stl", file.bytes, file.size, true, FLR_BAD_INPUT, "no triangles");
    flr_test_refuse("a.stl", file.bytes, 83, false, FLR_BAD_INPUT, "byte 83: the file ends inside");
    free(file.bytes);
}

static void put_corner(flr_test_bytes *file, unsigned facet, unsigned number, float value)
{
    flr_test_bytes one = {0};
    flr_test_put_float(&one, value, false);
    memcpy(file->bytes + 84 + 50 * facet + 12 + 4 * number, one.bytes, 4);
    free(one.bytes);
}

static void binary_with_bad_coordinates(void **state)
{
    (void)state;
    static const struct {
        float value;
        const char *part;
    } cases[] = {{NAN, "byte 134: a corner at (0, nan, 0) is not finite"},
                 {INFINITY, "(0, inf, 0) is not finite"},
                 {-1e38f, "(0, -1e+38, 0) is more than 1e+09 m from the origin"}};
    for (size_t i = 0; i < 3; i++) {
        flr_test_bytes file = binary("", 4, 4);
        put_corner(&file, 1, 1, cases[i].value);
        flr_test_refuse("a.stl", file.bytes, file.size, false, FLR_BAD_INPUT, cases[i].part);
        flr_mesh_report report;
        flr_mesh *mesh = flr_test_parse("a.stl", file.bytes, file.size, true, &report);
        assert_int_equal(mesh->triangle_count, 3);
        assert_int_equal(report.triangles_in_file, 4);
        assert_int_equal(report.dropped_nonfinite, 1);
        assert_non_null(strstr(report.first_trouble, cases[i].part));
        flr_mesh_destroy(mesh);
        // nothing left
        for (unsigned f = 0; f < 4; f++) put_corner(&file, f, 0, cases[i].value);
        flr_test_refuse("a.stl", file.bytes, file.size, true, FLR_BAD_INPUT,
                        "no triangle is left after 4 bad ones");
        free(file.bytes);
    }
}

/* ---- ASCII ---- */

#define FACET(a, b, c)                                                                             \
    "  facet normal 0 0 1\n    outer loop\n      vertex " a "\n      vertex " b                    \
    "\n      vertex " c "\n    endloop\n  endfacet\n"
#define SOME FACET("0 0 0", "1 0 0", "0 1 0")

static void reads_ascii(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "solid\n" SOME "endsolid\n",
        "  solid name\r\nfacet normal 0 0 1\r\nouter loop\r\nvertex 0 0 0\r\nvertex 1 0 "
        "0\r\nvertex 0 1 "
        "0\r\nendloop\r\nendfacet\r\nendsolid name",
        "SOLID X\nFACET NORMAL 0 0 1\nOUTER LOOP\nVERTEX 0 0 0\nVERTEX 1E0 0 0\nVERTEX 0 1 0\n"
        "ENDLOOP\nENDFACET\nENDSOLID X\n",
        "solid\n\tfacet\n outer\tloop vertex 0 0 0 vertex\n1 0 0\nvertex 0 +1. 0 endloop endfacet\n"
        "endsolid",
        "solid\nfacet normal\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
        "endfacet\nendsolid\n",
        "solid\nfacet normal nan -nan(ind) inf\nouter loop\nvertex 0 0 -0.0\nvertex 1 0 0\n"
        "vertex 0 1 0\nendloop\nendfacet\nendsolid\n",
        "solid\rfacet normal 0 0 1\router loop\rvertex 0 0 0\rvertex 1 0 0\rvertex 0 1 0\rendloop\r"
        "endfacet\rendsolid\r",
        "\xEF\xBB\xBFsolid\n" SOME "endsolid\n",
        SOME, // without solid, and then without endsolid
        SOME "endsolid\n",
    };
    flr_mesh *first = flr_test_parse_text("a.stl", texts[0], false, NULL);
    assert_int_equal(first->triangle_count, 1);
    for (size_t i = 1; i < sizeof texts / sizeof *texts; i++) {
        flr_mesh_report report;
        flr_mesh *mesh = flr_test_parse_text("a.stl", texts[i], false, &report);
        flr_test_assert_same_mesh(first, mesh);
        assert_int_equal(report.format, FLR_FORMAT_STL_ASCII);
        flr_mesh_destroy(mesh);
    }
    flr_mesh_destroy(first);
}

static void solids_are_groups(void **state)
{
    (void)state;
    flr_mesh *mesh =
        flr_test_parse_text("a.stl",
                            SOME "solid left  part \n" SOME SOME "endsolid left part\n"
                                 "solid empty\nendsolid\nsolid W\xC3\xBCrfel\n" SOME "endsolid",
                            false, NULL);
    assert_int_equal(mesh->triangle_count, 4);
    assert_int_equal(mesh->vertex_count, 3);
    assert_int_equal(mesh->group_count, 4);
    static const char *const names[] = {"", "left  part", "empty", "W\xC3\xBCrfel"};
    static const uint32_t counts[] = {1, 2, 0, 1};
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(flr_mesh_group_name(mesh, i), names[i]);
        assert_int_equal(mesh->groups[i].triangle_count, counts[i]);
    }
    flr_mesh_destroy(mesh);
}

static void wrong_ascii(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
        unsigned triangles, dropped; /* tolerant */
    } cases[] = {
        {"solid\n" SOME, "line 9: the file ends without 'endsolid'", 1, 0},
        {"solid a\n" SOME "solid b\n" SOME "endsolid\n", "line 9: a solid begins", 2, 0},
        {"solid\n" SOME "  facet normal 0 0 1\n    outer loop\n vertex 1", "line 11: the file ends",
         1, 1},
        {"solid\n" SOME "facet normal 0 0 1\nouter hoop\nvertex 1 2 3\nendfacet\n" SOME "endsolid",
         "line 10: expected 'outer loop', found 'hoop'", 2, 1},
        {"solid\n" FACET("0 0 0", "1 x 0", "0 1 0") SOME "endsolid",
         "line 5: expected 'vertex' and three numbers, found 'x'", 1, 1},
        {"solid\n" FACET("0 0 0", "1 1", "0 1 0") SOME "endsolid", "line 6: expected 'vertex'", 1,
         1},
        {"solid\n" FACET("0 0 0", "1 3.1+e2 1", "0 1 0") SOME "endsolid", "found '3.1+e2'", 1, 1},
        {"solid\n" FACET("0 0 0", "1 0 0", "0 1 0\n vertex 1 1 1") SOME "endsolid",
         "line 7: expected 'endloop' after three corners, found 'vertex'", 1, 1},
        {"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 "
         "0\nendloop\n" SOME "endsolid",
         "line 8: expected 'endfacet', found 'facet'", 1, 1},
        {"solid\n" SOME "color 1 0 0 facet\n" SOME "endsolid",
         "line 9: expected 'facet' or 'endsolid', found 'color'", 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flr_test_refuse_text("a.stl", cases[i].text, false, cases[i].part);
        flr_mesh_report report;
        flr_mesh *mesh = flr_test_parse_text("a.stl", cases[i].text, true, &report);
        assert_int_equal(mesh->triangle_count, cases[i].triangles);
        assert_int_equal(report.dropped_malformed, cases[i].dropped);
        if (!strstr(report.first_trouble, cases[i].part)) fail_msg("'%s'", report.first_trouble);
        flr_mesh_destroy(mesh);
    }
    flr_test_refuse_text("a.stl", "solid empty\nendsolid empty", true, "no triangles");
    flr_test_refuse_text("a.stl", "solid\n" FACET("nan 0 0", "1 0 0", "0 1 0") "endsolid", false,
                         "line 2: a corner at (nan, 0, 0) is not finite");
    flr_test_refuse_text("a.stl", "solid\n" FACET("0 0 1e38", "1 0 0", "0 1 0") "endsolid", false,
                         "line 2: a corner at (0, 0, 1e+38) is more than");
    flr_test_refuse_text("a.stl",
                         "solid\nfacet normal 0 0 1\nouter loop\nvertex "
                         "a_word_so_long_that_nobody_wants_to_read_all_of_it_in_a_sentence",
                         false, "found 'a_word_so_long_that_nobo...'");
}

/* the same random numbers, as floats and as text in several ways of printing */
static void ascii_equals_binary(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("ascii_equals_binary");
    static const char *const formats[] = {"%.9g", "%.17g", "%.25e", "%.40f"};
    for (unsigned way = 0; way < 4; way++) {
        flr_test_bytes bin = {0}, text = {0};
        char header[80] = "solid by chance";
        flr_test_put(&bin, header, 80);
        flr_test_put_int(&bin, 300, 4, false);
        flr_test_put_text(&text, "solid x\n");
        for (unsigned f = 0; f < 300; f++) {
            char number[9][80];
            for (unsigned i = 0; i < 3; i++) flr_test_put_float(&bin, 0, false);
            for (unsigned i = 0; i < 9; i++) {
                float value = (float)flr_test_random_range(&random, -3, 3);
                if (way < 3 && i == 4) value *= 1e-30f;
                if (i == 5) value = (float)flr_test_random_below(&random, 3);
                flr_test_put_float(&bin, value, false);
                snprintf(number[i], sizeof number[i], formats[way], (double)value);
            }
            flr_test_put_int(&bin, 0, 2, false);
            flr_test_put_text(&text, "facet normal 0 0 0\nouter loop\n");
            for (unsigned i = 0; i < 3; i++)
                flr_test_put_text(&text, "vertex %s %s %s\n", number[3 * i], number[3 * i + 1],
                                  number[3 * i + 2]);
            flr_test_put_text(&text, "endloop\nendfacet\n");
        }
        flr_test_put_text(&text, "endsolid x\n");
        flr_mesh *a = flr_test_parse("a.stl", bin.bytes, bin.size, false, NULL);
        flr_mesh *b = flr_test_parse("b.stl", text.bytes, text.size, false, NULL);
        flr_test_assert_same_mesh(a, b);
        flr_mesh_destroy(a);
        flr_mesh_destroy(b);
        free(bin.bytes);
        free(text.bytes);
    }
}

static void cut_anywhere(void **state)
{
    (void)state;
    flr_test_bytes file = binary("solid x", 4, 4);
    assert_int_equal(flr_test_prefixes("a.stl", file.bytes, file.size), 1);
    free(file.bytes);
    // without its last newline it is still whole, and shortened words of "endsolid x" are its name
    static const char text[] = "solid x\n" SOME SOME "endsolid x\n";
    assert_int_equal(flr_test_prefixes("a.stl", text, strlen(text)), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_binary),
        cmocka_unit_test(binary_with_wrong_counts),
        cmocka_unit_test(binary_with_bad_coordinates),
        cmocka_unit_test(reads_ascii),
        cmocka_unit_test(solids_are_groups),
        cmocka_unit_test(wrong_ascii),
        cmocka_unit_test(ascii_equals_binary),
        cmocka_unit_test(cut_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
