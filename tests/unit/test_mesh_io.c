/* which format, which options, and every file that is at hand */
#include "feeler/mesh.h"

#include <math.h>
#include <sys/stat.h>

#include "support/guarantees.h"
#include "support/meshes.h"

#define OBJ "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"

/* ---- formats ---- */

static void tells_formats(void **state)
{
    (void)state;
    static const struct {
        const char *name, *bytes;
        flr_mesh_format format;
    } cases[] = {
        {"a.stl", "solid x\n", FLR_FORMAT_STL_ASCII},
        {"a.obj", "solid x\n", FLR_FORMAT_STL_ASCII},
        {"a.stl", "  \n FACET normal", FLR_FORMAT_STL_ASCII},
        {"a.stl", "solid \1\2\3", FLR_FORMAT_STL_BINARY},
        {"a.STL", "anything", FLR_FORMAT_STL_BINARY},
        {"a.stl", "solidus", FLR_FORMAT_STL_BINARY},
        {"a.Obj", "anything", FLR_FORMAT_OBJ},
        {"a.ply", "anything", FLR_FORMAT_PLY},
        {"a.obj", "ply\nformat", FLR_FORMAT_PLY},
        {"a", "ply\r\nformat", FLR_FORMAT_PLY},
        {"a", "plywood", FLR_FORMAT_UNKNOWN},
        {"a.itri", "anything", FLR_FORMAT_ITRI},
        {"a", "3\n1 2 3\n", FLR_FORMAT_ITRI},
        {"a", "3\n1 2\n", FLR_FORMAT_UNKNOWN},
        {"a", "-3\n1 2 3\n", FLR_FORMAT_UNKNOWN},
        {"a", "3 4\n1 2 3\n", FLR_FORMAT_UNKNOWN},
        {"a", "# comment\r\n\n v 1 2 3", FLR_FORMAT_OBJ},
        {"a", "mtllib x.mtl\n", FLR_FORMAT_OBJ},
        {"a", "\xEF\xBB\xBFo part\n", FLR_FORMAT_OBJ},
        {"a", "volume", FLR_FORMAT_UNKNOWN},
        {"a", "#", FLR_FORMAT_UNKNOWN},
        {"a.obj", "ISO-10303-21;", FLR_FORMAT_FOREIGN},
        {"a", "glTF\2", FLR_FORMAT_FOREIGN},
        {"a.step", "anything", FLR_FORMAT_FOREIGN},
        {"a.GLB", "anything", FLR_FORMAT_FOREIGN},
        {".stl", "anything", FLR_FORMAT_UNKNOWN},
        {"a.txt", "", FLR_FORMAT_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flr_mesh_format format = flr_mesh_format_of(cases[i].name, (const uint8_t *)cases[i].bytes,
                                                    strlen(cases[i].bytes));
        if (format != cases[i].format)
            fail_msg("%s '%s': %s", cases[i].name, cases[i].bytes, flr_mesh_format_name(format));
    }
    // a binary STL is known by its length alone
    uint8_t binary[84 + 50] = "v not an OBJ file";
    binary[80] = 1;
    assert_int_equal(flr_mesh_format_of("a.obj", binary, sizeof binary), FLR_FORMAT_STL_BINARY);
    assert_int_equal(flr_mesh_format_of("a.obj", binary, sizeof binary - 1), FLR_FORMAT_OBJ);
    for (int i = -1; i <= FLR_FORMAT_FOREIGN + 1; i++)
        assert_non_null(flr_mesh_format_name((flr_mesh_format)i));
    assert_string_equal(flr_mesh_format_name(FLR_FORMAT_STL_BINARY), "binary STL");
}

static void refuses_what_is_none(void **state)
{
    (void)state;
    flr_test_refuse("a.stl", NULL, 0, false, FLR_BAD_INPUT, "the file is empty");
    flr_test_refuse("a.txt", "hello", 5, false, FLR_BAD_INPUT, "not a mesh file that feeler knows");
    flr_test_refuse("a.glb", "glTF....", 8, false, FLR_UNSUPPORTED, "import helper");
    flr_test_refuse("a.stl", "\xFE\xFF\0s", 4, false, FLR_BAD_INPUT, "UTF-16");

    // noise of many lengths, under every name: refused, or read by chance to a good mesh
    flr_test_random random = flr_test_random_begin("refuses_what_is_none");
    static const char *const names[] = {"a.stl", "a.obj", "a.ply", "a.itri", "a"};
    for (unsigned i = 0; i < 400; i++) {
        uint8_t noise[700];
        size_t size = 1 + flr_test_random_below(&random, sizeof noise);
        for (size_t k = 0; k < size; k++) noise[k] = (uint8_t)flr_test_random_u64(&random);
        for (unsigned n = 0; n < 5; n++)
            for (unsigned tolerant = 0; tolerant < 2; tolerant++) {
                flr_mesh_options options = flr_default_mesh_options();
                options.tolerant = tolerant;
                flr_mesh *mesh = NULL;
                flr_error error;
                flr_result result =
                    flr_mesh_parse(names[n], noise, size, &options, &mesh, NULL, &error);
                if (result == FLR_OK)
                    assert_null(flr_broken_guarantee(mesh));
                else
                    assert_memory_equal(error.message, names[n], strlen(names[n]));
                flr_mesh_destroy(mesh);
            }
    }
}

static void options(void **state)
{
    (void)state;
    flr_mesh_options o = flr_default_mesh_options();
    flr_mesh *mesh = NULL;
    flr_mesh_report report;
    flr_error error;
    const uint8_t *bytes = (const uint8_t *)OBJ;
    size_t size = strlen(OBJ);
    o.unit = 0.0254;
    assert_ok(flr_mesh_parse("a.obj", bytes, size, &o, &mesh, &report, &error), error);
    assert_eq(mesh->bounds.high.x, 0.0254);
    assert_eq(report.unit, 0.0254);
    flr_mesh_destroy(mesh);
    o.weld = 1;
    assert_ok(flr_mesh_parse("a.obj", bytes, size, &o, &mesh, NULL, &error), error);
    assert_int_equal(mesh->vertex_count, 1);
    flr_mesh_destroy(mesh);
    assert_ok(flr_mesh_parse("a.obj", bytes, size, NULL, &mesh, NULL, &error), error);
    flr_mesh_destroy(mesh);

    static const double units[] = {-1, NAN, INFINITY, 1e-300, 1e300};
    for (unsigned i = 0; i < 5; i++) {
        o = flr_default_mesh_options();
        o.unit = units[i];
        assert_int_equal(flr_mesh_parse("a.obj", bytes, size, &o, &mesh, NULL, &error),
                         FLR_BAD_ARGUMENT);
        assert_non_null(strstr(error.message, "unit"));
    }
    o = flr_default_mesh_options();
    o.weld = -1;
    assert_int_equal(flr_mesh_parse("a.obj", bytes, size, &o, &mesh, NULL, &error),
                     FLR_BAD_ARGUMENT);
    o = flr_default_mesh_options();
    o.size_limit = size - 1;
    assert_int_equal(flr_mesh_parse("a.obj", bytes, size, &o, &mesh, NULL, &error), FLR_TOO_LARGE);
    assert_int_equal(flr_mesh_parse("a.obj", bytes, size, &o, &mesh, NULL, NULL), FLR_TOO_LARGE);
}

/* ---- files ---- */

static void paths_that_are_no_files(void **state)
{
    (void)state;
    char *folder = flr_test_folder(), path[1200];
    flr_env *env = flr_env_real();
    flr_mesh *mesh = NULL;
    flr_mesh_report report;
    flr_error error;
    assert_int_not_equal(flr_mesh_read(env, folder, NULL, &mesh, &report, &error), FLR_OK);
    assert_non_null(strstr(error.message, folder));
    snprintf(path, sizeof path, "%s/none.stl", folder);
    assert_int_equal(flr_mesh_read(env, path, NULL, &mesh, &report, &error), FLR_NOT_FOUND);
    assert_non_null(strstr(error.message, path));
    snprintf(path, sizeof path, "%s/pipe.stl", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_not_equal(flr_mesh_read(env, path, NULL, &mesh, &report, &error), FLR_OK);
    assert_non_null(strstr(error.message, path));
    snprintf(path, sizeof path, "%s/empty.obj", folder);
    fclose(fopen(path, "w"));
    assert_int_equal(flr_mesh_read(env, path, NULL, &mesh, &report, &error), FLR_BAD_INPUT);
    assert_non_null(strstr(error.message, "empty"));
    assert_null(mesh);
    flr_test_folder_remove(folder);
}

/* A file that grows when read: refused before memory runs out. Indices of one byte make triangles
 * of twelve. */
static void memory_is_bounded(void **state)
{
    (void)state;
    enum { FACES = 24000, CORNERS = 250 };
    flr_test_bytes file = {0};
    flr_test_put_text(&file,
                      "ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\n"
                      "property float y\nproperty float z\nelement face %d\n"
                      "property list uchar uchar vertex_indices\nend_header\n",
                      CORNERS, FACES);
    for (unsigned i = 0; i < CORNERS; i++) {
        double angle = 6.28 * i / CORNERS;
        flr_test_put_float(&file, (float)cos(angle), false);
        flr_test_put_float(&file, (float)sin(angle), false);
        flr_test_put_float(&file, 0, false);
    }
    size_t start = file.size;
    file.bytes = realloc(file.bytes, start + FACES * (CORNERS + 1));
    assert_non_null(file.bytes);
    for (size_t i = 0; i < FACES; i++) {
        unsigned char *face = file.bytes + start + i * (CORNERS + 1);
        face[0] = CORNERS;
        for (unsigned k = 0; k < CORNERS; k++) face[1 + k] = (unsigned char)k;
    }
    file.size = start + FACES * (CORNERS + 1);
    flr_mesh *mesh = NULL;
    flr_error error;
    assert_int_equal(flr_mesh_parse("a.ply", file.bytes, file.size, NULL, &mesh, NULL, &error),
                     FLR_TOO_LARGE);
    assert_non_null(strstr(error.message, "a.ply: would take more than"));
    free(file.bytes);
}

/* ---- the shared models ---- */

/* What differs from the index, and why. triangles 0: refused, in a sentence with `part`. */
static const struct {
    const char *file, *part;
    bool tolerant; /* how it is read */
    uint32_t triangles, vertices;
} differences[] = {
    {"dirty/assimp_box_UTF16BE.obj", "UTF-16", true, 0, 0},
    {"dirty/trimesh_empty.stl", "no triangles", true, 0, 0}, // ASCII, an empty solid
    {"dirty/trimesh_obj_points.obj", "no triangles (8 vertices)", true, 0, 0},
    {"dirty/trimesh_stl_empty_bin.stl", "no triangles", true, 0, 0},
    // 3.4e38 mm are farther out than 1e9 m: strict refuses, and tolerant has nothing left
    {"dirty/manifold_Cray_right.obj", "line 11: a corner at (-3.40282e+38", false, 0, 0},
    {"dirty/manifold_Cray_right.obj", "no triangle is left after 12", true, 0, 0},
    // strict refuses at the line, tolerant gives what the index says
    {"dirty/assimp_malformed.obj", "line 23: a face names vertex 12", false, 0, 0},
    {"dirty/assimp_malformed.obj", "line 23: a face names vertex 12", true, 8, 8},
    {"dirty/assimp_number_formats.obj", "line 11: '3.1+e2' is not a number", false, 0, 0},
    {"dirty/assimp_number_formats.obj", "line 11: '3.1+e2' is not a number", true, 1, 3},
    // ASCII without a "solid" line: the index took it for binary
    {"dirty/cgal_invalid_header.stl", "", false, 1, 3},
    // the index merged vertices that are equal as 32-bit floats; OBJ has doubles
    {"dirty/manifold_Offset1.obj", "", false, 4418, 2285},
    // the index did not know lines joined by '\'; with them there are 66 triangles
    {"dirty/trimesh_wallhole.obj", "", false, 66, 35},
};

static bool is_difference(const char *file)
{
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
        if (!strcmp(differences[i].file, file)) return true;
    return false;
}

static void documented_differences(void **state)
{
    (void)state;
    const char *models = flr_test_models_dir();
    if (!models) skip();
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
        char path[1400];
        flr_mesh_options o = flr_default_mesh_options();
        flr_mesh *mesh = NULL;
        flr_mesh_report report;
        flr_error error;
        o.tolerant = differences[i].tolerant;
        snprintf(path, sizeof path, "%s/%s", models, differences[i].file);
        flr_result result = flr_mesh_read(flr_env_real(), path, &o, &mesh, &report, &error);
        const char *sentence = result == FLR_OK ? report.first_trouble : error.message;
        if (!strstr(sentence, differences[i].part)) fail_msg("%s: '%s'", path, sentence);
        assert_int_equal(mesh ? mesh->triangle_count : 0, differences[i].triangles);
        assert_int_equal(mesh ? mesh->vertex_count : 0, differences[i].vertices);
        flr_mesh_destroy(mesh);
    }
}

/* every file of the index has the triangles and vertices that it says */
static void all_of_the_index(void **state)
{
    (void)state;
    const char *models = flr_test_models_dir();
    if (!models) skip();
    char line[1000], path[1400];
    snprintf(path, sizeof path, "%s/INDEX.tsv", models);
    FILE *index = fopen(path, "r");
    if (!index) skip();
    unsigned count = 0;
    while (fgets(line, sizeof line, index)) {
        char file[500], triangles[20], vertices[20];
        if (sscanf(line, "%499[^\t]\t%*[^\t]\t%19[^\t]\t%19[^\t]", file, triangles, vertices) !=
                3 ||
            !strcmp(file, "file") || is_difference(file))
            continue;
        flr_mesh *mesh = NULL;
        flr_error error;
        snprintf(path, sizeof path, "%s/%s", models, file);
        assert_ok(flr_mesh_read(flr_env_real(), path, NULL, &mesh, NULL, &error), error);
        if (mesh->triangle_count != strtoul(triangles, NULL, 10) ||
            mesh->vertex_count != strtoul(vertices, NULL, 10))
            fail_msg("%s: %u triangles, %u vertices", file, mesh->triangle_count,
                     mesh->vertex_count);
        // looking at all promises takes longer than reading
        const char *broken = mesh->vertex_count < 5000 ? flr_broken_guarantee(mesh) : NULL;
        if (broken) fail_msg("%s: %s", file, broken);
        flr_mesh_destroy(mesh);
        count++;
    }
    fclose(index);
    assert_gt(count, 200);
}

static void spider_in_two_formats(void **state)
{
    (void)state;
    const char *models = flr_test_models_dir();
    if (!models) skip();
    flr_mesh *mesh[2] = {NULL, NULL};
    static const char *const names[] = {"ascii", "binary"};
    for (unsigned i = 0; i < 2; i++) {
        char path[1400];
        flr_error error;
        snprintf(path, sizeof path, "%s/dirty/assimp_Spider_%s.stl", models, names[i]);
        assert_ok(flr_mesh_read(flr_env_real(), path, NULL, &mesh[i], NULL, &error), error);
    }
    // the ASCII file has six decimals of what is in the binary one, rounded to float again; all
    // else is the same
    assert_int_equal(mesh[0]->vertex_count, mesh[1]->vertex_count);
    assert_int_equal(mesh[0]->triangle_count, mesh[1]->triangle_count);
    assert_memory_equal(mesh[0]->triangles, mesh[1]->triangles,
                        mesh[0]->triangle_count * sizeof(flr_triangle));
    for (uint32_t i = 0; i < mesh[0]->vertex_count; i++) {
        flr_vec3 d = flr_vec3_sub(mesh[0]->vertices[i], mesh[1]->vertices[i]);
        assert_le(fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z))), 0.75e-6 * 0.001);
    }
    flr_mesh_destroy(mesh[0]);
    flr_mesh_destroy(mesh[1]);
}

/* real files, cut at many places */
static void cut_models(void **state)
{
    (void)state;
    const char *models = flr_test_models_dir();
    if (!models) skip();
    static const char *const names[] = {
        "dirty/assimp_triangle_with_two_solids.stl", "dirty/numpystl_CubeInvalidUnicode.stl",
        "dirty/cgal_tetrahedron_degenerencies.obj", "dirty/trimesh_negative_indices.obj",
        "assembly/path_ltunnel/l-robot.obj"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1400];
        flr_blob file;
        flr_error error;
        snprintf(path, sizeof path, "%s/%s", models, names[i]);
        assert_ok(flr_file_read_all(flr_env_real(), path, 1 << 20, &file, &error), error);
        flr_test_prefixes(names[i], file.bytes, file.size);
        flr_blob_free(&file);
    }
}

static bool until_third(void *context) { return ++*(unsigned *)context < 3; }

/* Large files of all formats that are read here, in turn with all their triangles and stopped. */
static void reading_stops(void **state)
{
    (void)state;
    enum { FACES = 200000, SIZE = FACES * 200 };
    char *text = malloc(SIZE);
    for (int format = 0; format < 4; format++) {
        static const char *const names[] = {"a.obj", "a.ply", "a.stl", "b.stl"};
        size_t at = 0;
        if (format == 1)
            at = (size_t)snprintf(text, SIZE,
                                  "ply\nformat ascii 1.0\nelement vertex %d\nproperty float x\n"
                                  "property float y\nproperty float z\nelement face %d\n"
                                  "property list uchar int vertex_indices\nend_header\n",
                                  FACES + 2, FACES);
        if (format == 2) at = (size_t)snprintf(text, SIZE, "solid a\n");
        if (format == 3) {
            const uint32_t count = FACES;
            memset(text, 0, 80);
            memcpy(text + 80, &count, 4);
            at = 84;
        }
        for (int i = 0; format < 2 && i < FACES + 2; i++)
            at += (size_t)snprintf(text + at, SIZE - at, "%s%d %d 0\n", format ? "" : "v ", i / 2,
                                   i % 2);
        for (int i = 0; i < FACES; i++) {
            const int x[3] = {i / 2, (i + 1) / 2, (i + 2) / 2}, y[3] = {i % 2, 1 - i % 2, i % 2};
            if (format == 0)
                at += (size_t)snprintf(text + at, SIZE - at, "f %d %d %d\n", i + 1, i + 2, i + 3);
            if (format == 1)
                at += (size_t)snprintf(text + at, SIZE - at, "3 %d %d %d\n", i, i + 1, i + 2);
            if (format == 2)
                at += (size_t)snprintf(text + at, SIZE - at,
                                       "facet normal 0 0 1\nouter loop\nvertex %d %d 0\nvertex "
                                       "%d %d 0\nvertex %d %d 0\nendloop\nendfacet\n",
                                       x[0], y[0], x[1], y[1], x[2], y[2]);
            if (format == 3) {
                float values[12] = {0, 0, 1};
                for (int k = 0; k < 3; k++)
                    values[3 + 3 * k] = (float)x[k], values[4 + 3 * k] = (float)y[k];
                memcpy(text + at, values, sizeof values);
                memset(text + at + 48, 0, 2);
                at += 50;
            }
        }
        if (format == 2) at += (size_t)snprintf(text + at, SIZE - at, "endsolid a\n");
        unsigned asked = 0;
        flr_mesh_options o = flr_default_mesh_options();
        flr_mesh *mesh = NULL;
        flr_error error;
        assert_ok(flr_mesh_parse(names[format], (uint8_t *)text, at, &o, &mesh, NULL, &error),
                  error);
        assert_int_equal(mesh->triangle_count, FACES);
        flr_mesh_destroy(mesh);
        o.go_on = until_third, o.context = &asked;
        assert_int_equal(
            flr_mesh_parse(names[format], (uint8_t *)text, at, &o, &mesh, NULL, &error),
            FLR_CANCELLED);
        assert_int_equal(asked, 3);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_formats),     cmocka_unit_test(refuses_what_is_none),
        cmocka_unit_test(options),           cmocka_unit_test(paths_that_are_no_files),
        cmocka_unit_test(memory_is_bounded), cmocka_unit_test(documented_differences),
        cmocka_unit_test(all_of_the_index),  cmocka_unit_test(spider_in_two_formats),
        cmocka_unit_test(cut_models),        cmocka_unit_test(reading_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
