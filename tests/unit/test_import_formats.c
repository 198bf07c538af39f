/* the real helper on files of each format: shape, unit, names, placements, sandbox */
#include "feeler/mesh.h"
#include "support/test.h"

#include <fcntl.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELPER FLR_BINARY_DIR "/feeler-import"
#define DATA   FLR_SOURCE_DIR "/tests/data/import/"

static char *folder; /* CAD files of tests/support/make_cad.cpp */

static int make_files(void **state)
{
    (void)state;
    char command[2048];
    folder = flr_test_folder();
    if (access(HELPER, X_OK) != 0) return 0;
    snprintf(command, sizeof command, "'%s/tests/make_cad' '%s' >/dev/null", FLR_BINARY_DIR,
             folder);
    return system(command);
}

static int remove_files(void **state)
{
    (void)state;
    flr_test_folder_remove(folder);
    return 0;
}

static void need_helper(void)
{
    if (access(HELPER, X_OK) != 0) skip();
}

static const char *cad(const char *name)
{
    static char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static flr_mesh_options options_for_helper(void)
{
    flr_mesh_options options = flr_default_mesh_options();
    options.helper = HELPER;
    options.helper_seconds = 60;
    return options;
}

static flr_mesh *read_with(const char *path, const flr_mesh_options *options,
                           flr_mesh_report *report)
{
    flr_mesh *mesh = NULL;
    flr_error error;
    assert_ok(flr_mesh_open(flr_env_real(), path, options, &mesh, report, &error), error);
    return mesh;
}

static flr_mesh *read_mesh(const char *path, flr_mesh_report *report)
{
    flr_mesh_options options = options_for_helper();
    return read_with(path, &options, report);
}

/* signed volume of one group in cubic metres; positive when the surface points outwards */
static double group_volume(const flr_mesh *mesh, uint32_t group)
{
    double six = 0;
    const flr_mesh_group *g = &mesh->groups[group];
    for (uint32_t i = g->first_triangle; i < g->first_triangle + g->triangle_count; ++i) {
        flr_vec3 a = mesh->vertices[mesh->triangles[i].v[0]];
        flr_vec3 b = mesh->vertices[mesh->triangles[i].v[1]];
        flr_vec3 c = mesh->vertices[mesh->triangles[i].v[2]];
        six += a.x * (b.y * c.z - b.z * c.y) - a.y * (b.x * c.z - b.z * c.x) +
               a.z * (b.x * c.y - b.y * c.x);
    }
    return six / 6;
}

static void assert_near(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance)) fail_msg("%.9g is not %.9g", value, wanted);
}

static void assert_bounds(const flr_mesh *mesh, double x0, double y0, double z0, double x1,
                          double y1, double z1)
{
    double got[6] = {mesh->bounds.low.x,  mesh->bounds.low.y,  mesh->bounds.low.z,
                     mesh->bounds.high.x, mesh->bounds.high.y, mesh->bounds.high.z};
    double want[6] = {x0, y0, z0, x1, y1, z1};
    for (int i = 0; i < 6; ++i) assert_near(got[i], want[i], 1e-6 * (1 + fabs(want[i])));
}

static void assert_pose(flr_pose pose, double px, double py, double pz, double qw, double qz)
{
    assert_near(pose.p.x, px, 1e-6);
    assert_near(pose.p.y, py, 1e-6);
    assert_near(pose.p.z, pz, 1e-6);
    assert_near(pose.q.w, qw, 1e-6);
    assert_near(pose.q.z, qz, 1e-6);
}

/* ---- assimp ---- */

/* one box of 10 × 20 × 30 units with its low corner at `corner` */
static void one_box(void **state)
{
    (void)state;
    need_helper();
    static const struct {
        const char *file, *name;
        double unit;
        bool from_file;
        uint64_t split;
        double x, y, z; /* units */
    } cases[] = {
        {"box.3ds", "wedge", 0.001, false, 0, 0, 0, 0},
        {"box.ac", "hull", 0.001, false, 6, 0, 0, 5},
        {"box.off", "", 0.001, false, 6, 0, 0, 0},
        {"box.x3d", "plate", 1, true, 6, 0, 0, 1},
        {"box_cm.3mf", "bracket", 0.01, true, 0, 5, 0, 0},
        {"box_inch.amf", "0", 0.0254, true, 0, 0, 0, 0},
        {"box_inch.dae", "casing", 0.0254, true, 6, 1, 2, 3},
        {"box_mm.fbx", "rail", 0.001, true, 6, 7, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char path[1200];
        snprintf(path, sizeof path, DATA "%s", cases[i].file);
        // as the file says, and as the user says
        for (int own = 0; own < 2; ++own) {
            flr_mesh_options options = options_for_helper();
            flr_mesh_report report;
            if (own) options.unit = 0.5;
            flr_mesh *mesh = read_with(path, &options, &report);
            double u = own ? 0.5 : cases[i].unit;
            assert_int_equal(report.format, FLR_FORMAT_FOREIGN);
            assert_near(report.unit, u, 1e-9);
            assert_int_equal(report.unit_from_file, cases[i].from_file && !own);
            assert_int_equal(report.polygons_split, cases[i].split);
            assert_int_equal(mesh->triangle_count, 12);
            assert_int_equal(mesh->vertex_count, 8);
            assert_int_equal(mesh->group_count, 1);
            assert_string_equal(flr_mesh_group_name(mesh, 0), cases[i].name);
            assert_bounds(mesh, cases[i].x * u, cases[i].y * u, cases[i].z * u,
                          (cases[i].x + 10) * u, (cases[i].y + 20) * u, (cases[i].z + 30) * u);
            assert_near(group_volume(mesh, 0), 6000 * u * u * u, 1e-3 * u * u * u);
            flr_mesh_destroy(mesh);
        }
    }
}

/* nodes become groups: a placed one, and one that is mirrored and stretched; points are left out */
static void gltf(void **state)
{
    (void)state;
    need_helper();
    static const char *const files[] = {DATA "box.gltf", DATA "box.glb"};
    for (int i = 0; i < 2; ++i) {
        flr_mesh_report report;
        flr_mesh *mesh = read_mesh(files[i], &report);
        assert_eq(report.unit, 1);
        assert_true(report.unit_from_file);
        assert_int_equal(mesh->group_count, 2);
        assert_string_equal(flr_mesh_group_name(mesh, 0), "lid");
        assert_string_equal(flr_mesh_group_name(mesh, 1), "mirrored");
        assert_pose(mesh->groups[0].T_mesh_group, 0.04, 0, 0.1, sqrt(0.5), sqrt(0.5));
        assert_pose(mesh->groups[1].T_mesh_group, 0, 0, 0.1, 1, 0);
        assert_near(group_volume(mesh, 0), 6e-6, 1e-11);
        assert_near(group_volume(mesh, 1), 12e-6, 1e-11);
        assert_bounds(mesh, -0.01, 0, 0.1, 0.04, 0.02, 0.16);

        // in its own frame, a part lies as it was drawn
        flr_mesh *part;
        flr_error error;
        assert_ok(flr_mesh_extract_group(mesh, 0, &part, &error), error);
        assert_bounds(part, 0, 0, 0, 0.01, 0.02, 0.03);
        flr_mesh_destroy(part);
        flr_mesh_destroy(mesh);
    }
}

static void expect(const char *path, flr_result code, const char *words)
{
    flr_mesh_options options = options_for_helper();
    flr_mesh *mesh = NULL;
    flr_error error = {0};
    flr_result result = flr_import_read(flr_env_real(), path, &options, &mesh, NULL, NULL, &error);
    if (result != code || !strstr(error.message, words) || !strstr(error.message, path))
        fail_msg("%s gives %s: %s", path, flr_result_name(result), error.message);
}

static const char *write_file(const char *name, const void *bytes, size_t size)
{
    const char *path = cad(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    return path;
}

static const char *write_text(const char *name, const char *text)
{
    return write_file(name, text, strlen(text));
}

static void refusals(void **state)
{
    (void)state;
    need_helper();
    expect(DATA "missing_bin.gltf", FLR_BAD_INPUT, "needs the file");
    expect(write_text("x.xyz", "hello"), FLR_UNSUPPORTED, "no reader for files that end in '.xyz'");
    expect(write_text("noise.step", "hello"), FLR_BAD_INPUT, "not a readable STEP file");
    expect(write_text("noise.igs", "hello"), FLR_BAD_INPUT, "holds no shape");
    expect(write_text("noise.brep", "hello"), FLR_BAD_INPUT, "not a readable BREP file");
    expect(write_text("noise.glb", "hello"), FLR_BAD_INPUT, "cannot be read as glTF");
    expect(write_text("none.off", "OFF\n0 0 0\n"), FLR_BAD_INPUT, "");
}

/* NaN is refused, or left out when asked for */
static void not_finite(void **state)
{
    (void)state;
    need_helper();
    const char *path = write_text("nan.off", "OFF\n5 2 0\n0 0 0\n1 0 0\n0 1 0\nnan 0 0\n0 0 1\n"
                                             "3 0 1 2\n3 0 1 3\n");
    expect(path, FLR_BAD_INPUT, "not finite");
    flr_mesh_options options = options_for_helper();
    options.tolerant = true;
    flr_mesh_report report;
    flr_mesh *mesh = read_with(path, &options, &report);
    assert_int_equal(mesh->triangle_count, 1);
    assert_int_equal(report.dropped_nonfinite, 1);
    assert_int_equal(report.triangles_in_file, 2);
    assert_non_null(strstr(report.first_trouble, "not finite"));
    flr_mesh_destroy(mesh);
}

/* a glTF file may name files beside and below it, none outside */
static void side_files(void **state)
{
    (void)state;
    need_helper();
    char text[4096], command[4096], changed[4200];
    FILE *file = fopen(DATA "box.gltf", "r");
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    char *uri = strstr(text, "box.bin");
    assert_non_null(uri);
    snprintf(command, sizeof command,
             "mkdir '%s/sub' '%s/in' && cp '%sbox.bin' '%s/sub/' && cp "
             "'%sbox.bin' '%s/outside.bin' && ln -s ../outside.bin '%s/in/link.bin'",
             folder, folder, DATA, folder, DATA, folder, folder);
    assert_int_equal(system(command), 0);
    static const struct {
        const char *file, *uri;
        bool fine;
    } cases[] = {{"below.gltf", "sub/box.bin", true},
                 {"in/above.gltf", "../outside.bin", false},
                 {"in/link.gltf", "link.bin", false},
                 {"in/root.gltf", "/etc/passwd", false}};
    for (size_t i = 0; i < 4; ++i) {
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(uri - text), text, cases[i].uri,
                 uri + 7);
        const char *path = write_text(cases[i].file, changed);
        if (cases[i].fine)
            flr_mesh_destroy(read_mesh(path, NULL));
        else
            expect(path, FLR_BAD_INPUT, "needs the file");
    }
}

/* ---- OpenCASCADE ---- */

static void assembly(const char *file, double unit, double options_unit)
{
    flr_mesh_options options = options_for_helper();
    flr_mesh_report report;
    options.unit = options_unit;
    flr_mesh *mesh = read_with(cad(file), &options, &report);
    assert_near(report.unit, unit, 1e-12);
    assert_int_equal(report.unit_from_file, options_unit == 0);
    assert_int_equal(mesh->group_count, 3);
    assert_string_equal(flr_mesh_group_name(mesh, 0), "block:1");
    assert_string_equal(flr_mesh_group_name(mesh, 1), "block:2");
    assert_string_equal(flr_mesh_group_name(mesh, 2), "ball");
    assert_pose(mesh->groups[0].T_mesh_group, 0, 0, 0, 1, 0);
    assert_pose(mesh->groups[1].T_mesh_group, 100 * unit, 50 * unit, 25 * unit, sqrt(0.5),
                sqrt(0.5));
    assert_pose(mesh->groups[2].T_mesh_group, 0, 0, 60 * unit, 1, 0);
    double cubic = unit * unit * unit;
    assert_near(group_volume(mesh, 0), 6000 * cubic, 1e-6 * cubic);
    assert_near(group_volume(mesh, 1), 6000 * cubic, 1e-6 * cubic);
    // a ball inscribed by triangles is a little smaller than 4/3 π r³
    double ball = 4.0 / 3 * 3.14159265358979 * 12.5 * 12.5 * 12.5;
    assert_lt(group_volume(mesh, 2), ball * cubic);
    assert_near(group_volume(mesh, 2), ball * cubic, 0.01 * ball * cubic);

    flr_mesh *part;
    flr_error error;
    assert_ok(flr_mesh_extract_group(mesh, 1, &part, &error), error);
    assert_bounds(part, 0, 0, 0, 10 * unit, 20 * unit, 30 * unit);
    flr_mesh_destroy(part);
    flr_mesh_destroy(mesh);
}

static void step(void **state)
{
    (void)state;
    need_helper();
    assembly("assembly.step", 0.001, 0);
    assembly("inch.step", 0.0254, 0);
    assembly("inch.step", 0.002, 0.002);
    // by content, whatever its name
    char command[2500];
    snprintf(command, sizeof command, "cp '%s/assembly.step' '%s/part.data'", folder, folder);
    assert_int_equal(system(command), 0);
    flr_mesh *mesh = read_mesh(cad("part.data"), NULL);
    assert_int_equal(mesh->group_count, 3);
    flr_mesh_destroy(mesh);
}

static void iges(void **state)
{
    (void)state;
    need_helper();
    flr_mesh_report report;
    flr_mesh *mesh = read_mesh(cad("block.iges"), &report);
    assert_eq(report.unit, 0.001);
    assert_true(report.unit_from_file);
    assert_bounds(mesh, 0, 0, 0, 0.01, 0.02, 0.03);
    assert_near(group_volume(mesh, 0), 6e-6, 1e-12);
    flr_mesh_destroy(mesh);
}

static void brep(void **state)
{
    (void)state;
    need_helper();
    flr_mesh_report report;
    flr_mesh *mesh = read_mesh(cad("mirrored.brep"), &report);
    assert_eq(report.unit, 0.001);
    assert_false(report.unit_from_file);
    assert_int_equal(mesh->group_count, 2);
    // the mirrored part is not inside out
    assert_near(group_volume(mesh, 0), 6e-6, 1e-12);
    assert_near(group_volume(mesh, 1), 6e-6, 1e-12);
    assert_bounds(mesh, -0.01, 0, 0, 0.01, 0.02, 0.03);
    flr_mesh_destroy(mesh);
}

/* finer chords give more triangles and keep their promise */
static void chord(void **state)
{
    (void)state;
    need_helper();
    static const double chords[] = {3e-4, 1e-4, 3e-5, 1e-5};
    uint32_t last = 0;
    for (size_t i = 0; i < 4; ++i) {
        flr_mesh_options options = options_for_helper();
        options.chord = chords[i];
        flr_mesh *mesh = read_with(cad("ball.brep"), &options, NULL);
        assert_gt(mesh->triangle_count, last);
        last = mesh->triangle_count;
        // vertices lie on the ball; triangles stray at most a chord inwards at their centres
        for (uint32_t k = 0; k < mesh->triangle_count; ++k) {
            flr_vec3 a = mesh->vertices[mesh->triangles[k].v[0]];
            flr_vec3 b = mesh->vertices[mesh->triangles[k].v[1]];
            flr_vec3 c = mesh->vertices[mesh->triangles[k].v[2]];
            assert_near(sqrt(a.x * a.x + a.y * a.y + a.z * a.z), 0.0125, 1e-8);
            double x = (a.x + b.x + c.x) / 3, y = (a.y + b.y + c.y) / 3, z = (a.z + b.z + c.z) / 3;
            assert_lt(0.0125 - sqrt(x * x + y * y + z * z), 2 * chords[i]);
        }
        flr_mesh_destroy(mesh);
    }
}

/* ---- limits and sandbox ---- */

static void memory_limit(void **state)
{
    (void)state;
    need_helper();
#if defined(__SANITIZE_ADDRESS__)
    skip(); // the sanitizer needs more address space than any limit allows
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    skip();
#endif
#endif
    flr_mesh_options options = options_for_helper();
    flr_mesh *mesh;
    flr_error error = {0};
    options.chord = 1e-9;
    options.helper_memory = UINT64_C(400) << 20;
    flr_result result =
        flr_mesh_open(flr_env_real(), cad("ball.brep"), &options, &mesh, NULL, &error);
    if (result != FLR_NO_MEMORY || !strstr(error.message, "400 MiB"))
        fail_msg("%s: %s", flr_result_name(result), error.message);
}

static void time_limit(void **state)
{
    (void)state;
    need_helper();
    flr_mesh_options options = options_for_helper();
    flr_mesh *mesh;
    flr_error error = {0};
    options.chord = 1e-9;
    options.helper_seconds = 1;
    flr_result result =
        flr_mesh_open(flr_env_real(), cad("ball.brep"), &options, &mesh, NULL, &error);
    if (result != FLR_TIMEOUT || !strstr(error.message, "longer than 1 s"))
        fail_msg("%s: %s", flr_result_name(result), error.message);
}

static void probe(void **state)
{
    (void)state;
    need_helper();
    static flr_import_state seen;
    flr_error error;
    assert_ok(flr_import_probe(flr_env_real(), HELPER, &seen, &error), error);
    assert_true(seen.starts);
    assert_non_null(strstr(seen.versions, "feeler-import"));
    assert_non_null(strstr(seen.versions, "assimp 5"));
    assert_non_null(strstr(seen.versions, "OpenCASCADE 7"));
    assert_non_null(strstr(seen.formats, " iges "));
    assert_non_null(strstr(seen.formats, " gltf"));
    assert_non_null(strstr(seen.sandbox, "no new privileges"));
    assert_non_null(strstr(seen.sandbox, "resource limits"));
    print_message("starts in %.3f s; sandbox: %s; missing: %s\n", seen.start_seconds, seen.sandbox,
                  seen.missing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_box),      cmocka_unit_test(gltf),       cmocka_unit_test(refusals),
        cmocka_unit_test(not_finite),   cmocka_unit_test(side_files), cmocka_unit_test(step),
        cmocka_unit_test(iges),         cmocka_unit_test(brep),       cmocka_unit_test(chord),
        cmocka_unit_test(memory_limit), cmocka_unit_test(time_limit), cmocka_unit_test(probe),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
