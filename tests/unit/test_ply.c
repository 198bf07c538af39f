/* PLY */
#include <math.h>

#include "support/meshes.h"

#define XYZ  "property float x\nproperty float y\nproperty float z\n"
#define LIST "property list uchar int vertex_indices\n"
#define HEADER(format, vertices, faces)                                                            \
    "ply\nformat " format " 1.0\ncomment by hand\nelement vertex " #vertices "\n" XYZ              \
    "element face " #faces "\n" LIST "end_header\n"
#define TETRAHEDRON "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n"

static const flr_vec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const uint32_t faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

static void ascii_and_both_endians(void **state)
{
    (void)state;
    flr_mesh_report report;
    flr_mesh *first =
        flr_test_parse_text("a.ply", HEADER("ascii", 4, 4) TETRAHEDRON, false, &report);
    assert_int_equal(first->triangle_count, 4);
    assert_int_equal(first->vertex_count, 4);
    assert_int_equal(report.format, FLR_FORMAT_PLY);
    assert_int_equal(report.vertices_in_file, 4);
    for (unsigned big = 0; big < 2; big++) {
        flr_test_bytes file = {0};
        flr_test_put_text(&file, "%s",
                          big ? HEADER("binary_big_endian", 4, 4)
                              : HEADER("binary_little_endian", 4, 4));
        for (unsigned i = 0; i < 4; i++) {
            flr_test_put_float(&file, (float)corners[i].x, big);
            flr_test_put_float(&file, (float)corners[i].y, big);
            flr_test_put_float(&file, (float)corners[i].z, big);
        }
        for (unsigned i = 0; i < 4; i++) {
            flr_test_put_int(&file, 3, 1, big);
            for (unsigned k = 0; k < 3; k++) flr_test_put_int(&file, faces[i][k], 4, big);
        }
        flr_mesh *mesh = flr_test_parse("a.ply", file.bytes, file.size, false, NULL);
        flr_test_assert_same_mesh(first, mesh);
        flr_mesh_destroy(mesh);
        assert_int_equal(flr_test_prefixes("a.ply", file.bytes, file.size), 1);
        free(file.bytes);
    }
    flr_mesh_destroy(first);
}

static void ways_to_write_ascii(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "ply\r\nformat ascii 1.0\r\nobj_info x y z\r\n\r\nelement vertex 3\r\nproperty float32 "
        "x\r\n"
        "property float64 y\r\nproperty int8 z\r\nelement face 1\r\n" LIST "end_header\r\n"
        "0 0 0\r\n1 0 0\r\n0 1 0\r\n3 0 1 2\r\n",
        "ply\rformat ascii 1.0\relement vertex 3\rproperty float x\rproperty float y\rproperty "
        "float "
        "z\relement face 1\rproperty list uchar int vertex_index\rend_header\r0 0 0 1 0 0 0 1 0 3 "
        "0 1 2",
        // faces first, other elements, lists among the vertices
        "ply\nformat ascii 1.0\nelement face 1\n" LIST
        "property list uchar float t\nelement edge 2\n"
        "property int a\nproperty list char short b\nelement nothing 7\nelement vertex 3\n"
        "property uchar red\nproperty float z\nproperty list int int w\nproperty float y\n"
        "property float x\nend_header\n3 0 1 2 2 0.5 -1.5\n7 0\n8 2 -1 -2\n"
        "255 0 1 9 0 0\n255 0 0 0 1\n0 0 2 1 2 1 0\n",
        // a strip of one triangle, after an empty one
        "ply\nformat ascii 1.0\nelement vertex 3\n" XYZ "element tristrips 1\n"
        "property list int int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n6 0 1 -1 0 1 2\n",
    };
    flr_mesh *first = flr_test_parse_text(
        "a.ply", HEADER("ascii", 3, 1) "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", false, NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        flr_mesh *mesh = flr_test_parse_text("a.ply", texts[i], false, NULL);
        flr_test_assert_same_mesh(first, mesh);
        flr_mesh_destroy(mesh);
        flr_test_prefixes("a.ply", texts[i], strlen(texts[i]));
    }
    flr_mesh_destroy(first);
}

/* every scalar type as a coordinate and as an index, in three formats: the same mesh */
static void all_types(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned size;
        char kind;
    } types[] = {{"char", 1, 'i'},  {"uchar", 1, 'i'},  {"short", 2, 'i'},   {"ushort", 2, 'i'},
                 {"int", 4, 'i'},   {"uint", 4, 'i'},   {"int8", 1, 'i'},    {"uint8", 1, 'i'},
                 {"int16", 2, 'i'}, {"uint16", 2, 'i'}, {"int32", 4, 'i'},   {"uint32", 4, 'i'},
                 {"float", 4, 'f'}, {"double", 8, 'd'}, {"float32", 4, 'f'}, {"float64", 8, 'd'}};
    static const char *const formats[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    flr_mesh *first = flr_test_parse_text(
        "a.ply", HEADER("ascii", 3, 1) "0 0 0\n101 0 0\n0 17 0\n3 0 1 2\n", false, NULL);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (unsigned f = 0; f < 3; f++) {
            static const unsigned values[] = {0, 0, 0, 101, 0, 0, 0, 17, 0, 0, 1, 2};
            flr_test_bytes file = {0};
            const char *type = types[t].name;
            flr_test_put_text(&file,
                              "ply\nformat %s 1.0\nelement vertex 3\nproperty %s x\nproperty %s y\n"
                              "property %s z\nelement face 1\nproperty list %s %s vertex_index\n"
                              "end_header\n",
                              formats[f], type, type, type, types[t].kind == 'i' ? type : "uchar",
                              type);
            for (unsigned i = 0; i < 12; i++) {
                unsigned count_size = types[t].kind == 'i' ? types[t].size : 1;
                if (f == 0) {
                    flr_test_put_text(&file, i == 9 ? "3 %u " : "%u ", values[i]);
                    continue;
                }
                if (i == 9) flr_test_put_int(&file, 3, count_size, f == 2);
                if (types[t].kind == 'i')
                    flr_test_put_int(&file, values[i], types[t].size, f == 2);
                else if (types[t].kind == 'f')
                    flr_test_put_float(&file, (float)values[i], f == 2);
                else
                    flr_test_put_double(&file, values[i], f == 2);
            }
            flr_mesh *mesh = flr_test_parse("a.ply", file.bytes, file.size, false, NULL);
            flr_test_assert_same_mesh(first, mesh);
            flr_mesh_destroy(mesh);
            free(file.bytes);
        }
    flr_mesh_destroy(first);
}

static void negative_integers(void **state)
{
    (void)state;
    static const unsigned sizes[] = {1, 2, 4};
    static const char *const names[] = {"char", "short", "int"};
    for (unsigned s = 0; s < 3; s++) {
        flr_test_bytes file = {0};
        flr_test_put_text(&file,
                          "ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty %s x\n"
                          "property %s y\nproperty %s z\nelement face 1\n" LIST "end_header\n",
                          names[s], names[s], names[s]);
        for (unsigned i = 0; i < 9; i++)
            flr_test_put_int(&file, i == 3 ? (uint64_t)-5 : i == 7 ? 1 : 0, sizes[s], true);
        flr_test_put_int(&file, 3, 1, true);
        for (unsigned i = 0; i < 3; i++) flr_test_put_int(&file, i, 4, true);
        flr_mesh *mesh = flr_test_parse("a.ply", file.bytes, file.size, false, NULL);
        assert_eq(mesh->bounds.low.x, -5 * 0.001);
        flr_mesh_destroy(mesh);
        free(file.bytes);
    }
}

/* floats printed with more digits than they have */
static void ascii_equals_binary(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("ascii_equals_binary");
    flr_test_bytes text = {0}, binary = {0};
    flr_test_put_text(&text, HEADER("ascii", 300, 100));
    flr_test_put_text(&binary, HEADER("binary_little_endian", 300, 100));
    for (unsigned i = 0; i < 900; i++) {
        float value = (float)flr_test_random_range(&random, -100, 100);
        flr_test_put_float(&binary, value, false);
        flr_test_put_text(&text, i % 2 ? "%.9g\n" : "%.15f ", (double)value);
    }
    for (unsigned i = 0; i < 100; i++) {
        flr_test_put_int(&binary, 3, 1, false);
        for (unsigned k = 0; k < 3; k++) flr_test_put_int(&binary, 3 * i + k, 4, false);
        flr_test_put_text(&text, "3 %u %u %u\n", 3 * i, 3 * i + 1, 3 * i + 2);
    }
    flr_mesh *a = flr_test_parse("a.ply", text.bytes, text.size, false, NULL);
    flr_mesh *b = flr_test_parse("b.ply", binary.bytes, binary.size, false, NULL);
    flr_test_assert_same_mesh(a, b);
    flr_mesh_destroy(a);
    flr_mesh_destroy(b);
    free(text.bytes);
    free(binary.bytes);
}

static void polygons_and_strips(void **state)
{
    (void)state;
    flr_mesh_report report;
    flr_mesh *mesh = flr_test_parse_text(
        "a.ply",
        HEADER("ascii", 5, 2) "0 0 0\n4 0 0\n4 4 0\n2 1 0\n0 4 0\n5 0 1 2 3 4\n4 0 1 2 4\n", false,
        &report);
    assert_int_equal(mesh->triangle_count, 5);
    assert_int_equal(report.polygons_split, 2);
    flr_mesh_destroy(mesh);

    // every second triangle of a strip is turned, so that all face the same way
    mesh = flr_test_parse_text(
        "a.ply",
        "ply\nformat ascii 1.0\nelement vertex 5\n" XYZ
        "element tristrips 1\nproperty list int int vertex_indices\nend_header\n"
        "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 2 0\n9 0 1 2 3 4 -1 2 1 0\n",
        false, NULL);
    const flr_triangle wanted[] = {{{0, 1, 2}}, {{1, 3, 2}}, {{2, 3, 4}}, {{2, 1, 0}}};
    assert_int_equal(mesh->triangle_count, 4);
    assert_memory_equal(mesh->triangles, wanted, sizeof wanted);
    flr_mesh_destroy(mesh);
}

static void wrong_headers(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"plx\n", "line 1: a PLY file begins with the line 'ply'"},
        {"ply\n", "the file ends inside the header"},
        {"ply\nformat ascii 1.0\nelement vertex 1\n" XYZ "end_header", "ends inside the header"},
        {"ply\nelement vertex 1\n" XYZ "end_header\n0 0 0\n", "no line 'format'"},
        {"ply\nformat binary 1.0\nend_header\n", "line 2: the format must be"},
        {"ply\nformat ascii 1.0\nelement vertex\nend_header\n", "line 3: an element needs"},
        {"ply\nformat ascii 1.0\nelement vertex -3\nend_header\n", "line 3: an element needs"},
        {"ply\nformat ascii 1.0\nelement vertex 3x\nend_header\n", "line 3: an element needs"},
        {"ply\nformat ascii 1.0\nproperty float x\nend_header\n", "line 3: a property before"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty quad x\n", "line 4: a property needs"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float\n", "line 4: a property needs"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty list float int x\n",
         "a property needs"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty list uchar int\n", "a property needs"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float x\n",
         "line 5: a second property"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n",
         "the vertices have no x, y and z"},
        {"ply\nformat ascii 1.0\nelement face 1\n" LIST "end_header\n3 0 0 0\n",
         "has 0 elements 'vertex'"},
        {"ply\nformat ascii 1.0\nelement vertex 1\n" XYZ
         "element face 1\nproperty int a\nend_header\n",
         "the element 'face' has no list vertex_indices"},
        {"ply\nformat ascii 1.0\nhello world\nend_header\n", "line 3: 'hello' has no place"},
        {"ply\nformat ascii 1.0\nelement vertex 1\n" XYZ "end_header\n0 0 0\n", "no triangles"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned tolerant = 0; tolerant < 2; tolerant++)
            flr_test_refuse_text("a.ply", cases[i][0], tolerant, cases[i][1]);

    flr_test_bytes file = {0};
    flr_test_put_text(&file, "ply\nformat ascii 1.0\n");
    for (unsigned i = 0; i < 33; i++) flr_test_put_text(&file, "element e%u 0\n", i);
    flr_test_refuse("a.ply", file.bytes, file.size, false, FLR_BAD_INPUT, "more than 32 elements");
    free(file.bytes);
    file = (flr_test_bytes){0};
    flr_test_put_text(&file, "ply\nformat ascii 1.0\nelement vertex 0\n");
    for (unsigned i = 0; i < 513; i++) flr_test_put_text(&file, "property int p%u\n", i);
    flr_test_refuse("a.ply", file.bytes, file.size, false, FLR_BAD_INPUT,
                    "more than 512 properties");
    free(file.bytes);
}

static void wrong_data(void **state)
{
    (void)state;
#define THREE "0 0 0\n1 0 0\n0 1 0\n"
    static const struct {
        const char *text, *part;
        unsigned triangles, malformed, nonfinite;
    } cases[] = {
        {HEADER("ascii", 3, 2) THREE "3 0 1 3\n3 0 1 2\n",
         "line 14: an item of 'face' names vertex 3", 1, 1, 0},
        {HEADER("ascii", 3, 2) THREE "3 0 1 -1\n3 0 1 2\n", "names vertex -1", 1, 1, 0},
        {HEADER("ascii", 3, 2) THREE "2 0 1\n3 0 1 2\n", "line 14: a face with 2 corners", 1, 1, 0},
        {HEADER("ascii", 3, 2) THREE "0\n3 0 1 2\n", "line 14: a face with 0 corners", 1, 1, 0},
        {HEADER("ascii", 3, 2) THREE "3 0 1 2\n3 0 one 2\n",
         "line 15: 'one' in item 2 of 'face' is not a number", 1, 1, 0},
        {HEADER("ascii", 3, 2) THREE "3 0 1 2\n3 0 1.5 2\n", "'1.5' in item 2", 1, 1, 0},
        {HEADER("ascii", 3, 2) THREE "3 0 1 2\n-3 0 1 2\n", "'-3' in item 2", 1, 1, 0},
        {HEADER("ascii", 3, 2) THREE "3 0 1 2\n3 0 1\n", "the file ends inside item 2 of 2", 1, 1,
         0},
        {HEADER("ascii", 3, 90) THREE "3 0 1 2\n", "claims 90 items of 'face'", 1, 89, 0},
        {HEADER("ascii", 3, 1) THREE "3 0 1 2\n3 0 1 2\n3 0 1 2\n", "line 15: 15 bytes follow", 1,
         0, 0},
        {HEADER("ascii", 4, 2) THREE "nan 0 0\n3 0 1 2\n3 0 1 3\n",
         "line 16: a corner at (nan, 0, 0)", 1, 0, 1},
        {HEADER("ascii", 4, 2) THREE "1e38 0 0\n3 0 1 2\n4 0 1 2 3\n",
         "line 16: a corner at (1e+38", 1, 0, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flr_mesh_report report;
        if (strstr(cases[i].part, "bytes follow")) {
            // up to 16 bytes are taken for padding
            flr_mesh *mesh = flr_test_parse_text("a.ply", cases[i].text, false, &report);
            assert_int_equal(report.ignored_bytes, 16);
            flr_mesh_destroy(mesh);
            continue;
        }
        flr_test_refuse_text("a.ply", cases[i].text, false, cases[i].part);
        flr_mesh *mesh = flr_test_parse_text("a.ply", cases[i].text, true, &report);
        assert_int_equal(mesh->triangle_count, cases[i].triangles);
        assert_int_equal(report.dropped_malformed, cases[i].malformed);
        assert_int_equal(report.dropped_nonfinite, cases[i].nonfinite);
        if (!strstr(report.first_trouble, cases[i].part)) fail_msg("'%s'", report.first_trouble);
        flr_mesh_destroy(mesh);
    }
    flr_test_refuse_text("a.ply", HEADER("ascii", 3, 1) THREE "3 0 1 2\n3 0 1 2\n3 0 1 2\n9 9 9",
                         false, "bytes follow after all that the header claims");
    flr_test_refuse_text("a.ply", HEADER("ascii", 4000000000, 4) TETRAHEDRON, false,
                         "claims 4,000,000,000 items of 'vertex' of at least 6 bytes each");
    flr_test_refuse_text("a.ply", HEADER("binary_big_endian", 9223372036854775807, 4) TETRAHEDRON,
                         true, "no triangle can be read: byte 200: the header claims 9,223,372");
    flr_test_refuse_text("a.ply", HEADER("ascii", 2, 1) "0 0 0\n0 x 0\n3 0 1 1", false,
                         "line 12: 'x' in item 2 of 'vertex'");
    flr_test_refuse_text(
        "a.ply",
        "ply\nformat ascii 1.0\nelement edge 2\nproperty int a\nelement vertex 3\n" XYZ
        "end_header\n1 x 3 4 5 6 7 8 9 0 1",
        false, "'x' in item 2 of 'edge'");
    // a list that claims more than the file has
    flr_test_refuse_text("a.ply",
                         HEADER("binary_little_endian", 0, 1) "\xFF"
                                                              "abcdefgh",
                         false, "the file ends inside item 1 of 1 of 'face'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ascii_and_both_endians),
        cmocka_unit_test(ways_to_write_ascii),
        cmocka_unit_test(all_types),
        cmocka_unit_test(negative_integers),
        cmocka_unit_test(ascii_equals_binary),
        cmocka_unit_test(polygons_and_strips),
        cmocka_unit_test(wrong_headers),
        cmocka_unit_test(wrong_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
