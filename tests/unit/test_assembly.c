/* assemblies: trees, names, placements and colours as OpenCASCADE reports them; scenes made of them */
#include "feeler/assembly.h"
#include "scene/scene_import.h"
#include "support/test.h"

#include <math.h>
#include <unistd.h>

#include "mesh/unique_names.h"

#define HELPER FLR_BINARY_DIR "/feeler-import"
#define MAKER  FLR_BINARY_DIR "/tests/make_assembly"

static char *folder;

static int make_files(void **state)
{
    (void)state;
    char command[2048];
    folder = flr_test_folder();
    if (access(HELPER, X_OK) != 0) return 0;
    snprintf(command, sizeof command, "'%s' '%s' >/dev/null", MAKER, folder);
    return system(command);
}

static int remove_files(void **state)
{
    (void)state;
    flr_test_folder_remove(folder);
    return 0;
}

static flr_mesh_options helper_options(void)
{
    flr_mesh_options options = flr_default_mesh_options();
    options.helper = HELPER;
    return options;
}

static flr_assembly *open_assembly(const char *path)
{
    flr_mesh_options options = helper_options();
    flr_assembly *assembly = NULL;
    flr_error error;
    assert_ok(flr_assembly_open(flr_env_real(), path, &options, &assembly, NULL, &error), error);
    return assembly;
}

static int depth_of(const flr_assembly *a, uint32_t node)
{
    int depth = 0;
    for (; a->nodes[node].parent != FLR_ASSEMBLY_NONE; depth++) node = a->nodes[node].parent;
    return depth;
}

/* every node against a line of the tool, which walks the document by other means; parts that have no colour of their own get that of
 * their faces, unless `colours` */
static void compare_with_occt(const char *path, bool colours)
{
    char command[4096], line[4096];
    flr_assembly *a = open_assembly(path);
    snprintf(command, sizeof command, "'%s' --tree '%s'", MAKER, path);
    FILE *tree = popen(command, "r");
    assert_non_null(tree);
    uint32_t i = 0;
    while (fgets(line, sizeof line, tree)) {
        int depth, used = 0;
        char kind[16], colour[16], own[16] = "-";
        double p[3], q[4];
        line[strcspn(line, "\n")] = 0;
        assert_int_equal(sscanf(line, "%d %15s %15s %lf %lf %lf %lf %lf %lf %lf %n", &depth, kind,
                                colour, p, p + 1, p + 2, q, q + 1, q + 2, q + 3, &used),
                         10);
        assert_true(i < a->node_count);
        const flr_assembly_node *node = &a->nodes[i];
        if (node->colour != FLR_ASSEMBLY_NONE) snprintf(own, sizeof own, "%06x", node->colour);
        const flr_pose T = node->T_root_node;
        double error =
            fabs(1e3 * T.p.x - p[0]) + fabs(1e3 * T.p.y - p[1]) + fabs(1e3 * T.p.z - p[2]);
        double turn = fabs(fabs(T.q.w * q[0] + T.q.x * q[1] + T.q.y * q[2] + T.q.z * q[3]) - 1);
        bool part = node->shape != FLR_ASSEMBLY_NONE;
        if (depth != depth_of(a, i) || (strcmp(kind, "part") == 0) != part || error > 2e-5 ||
            turn > 1e-5 || (line[used] && strcmp(line + used, node->name) != 0) ||
            ((colours || strcmp(colour, "-") != 0) && part && strcmp(colour, own) != 0))
            fail_msg("node %u \"%s\" colour %s, off by %g mm and %g, instead of: %s", i, node->name,
                     own, error, turn, line);
        i++;
    }
    assert_int_equal(pclose(tree), 0);
    assert_int_equal(i, a->node_count);
    flr_assembly_destroy(a);
}

static void trees_are_those_of_opencascade(void **state)
{
    (void)state;
    if (access(HELPER, X_OK) != 0) skip();
    static const char *const files[] = {"ap203.step", "ap214.step", "ap242.step"};
    for (size_t i = 0; i < 3; i++) {
        char path[1200];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        compare_with_occt(path, true);
    }
}

static void real_files(void **state)
{
    (void)state;
    const char *models = flr_test_models_dir();
    if (access(HELPER, X_OK) != 0 || !models) skip();
    static const char *const files[] = {
        "as1-oc-214.stp",   "XT30_M.step",   "NEMA17.step",   "Motor_holder_SO101_Base.step",
        "STS3215_03a.step", "IndexPnP.step", "splinecage.stp"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/cad/%s", models, files[i]);
        if (access(path, R_OK) == 0) compare_with_occt(path, false);
    }
}

/* the tips of four cones of this file cannot be meshed as they stand in it, whatever the deviation */
static void no_face_is_lost(void **state)
{
    (void)state;
    const char *models = flr_test_models_dir();
    char path[4096];
    snprintf(path, sizeof path, "%s/cad/NEMA17.step", models ? models : "");
    if (access(HELPER, X_OK) != 0 || access(path, R_OK) != 0) skip();
    static const double chords[] = {0, 1e-3, 1e-4, 3e-5, 1e-5};
    for (size_t i = 0; i < sizeof chords / sizeof *chords; i++) {
        flr_mesh_options options = helper_options();
        flr_mesh_report report;
        flr_mesh *mesh;
        flr_error error;
        options.chord = chords[i];
        assert_ok(flr_mesh_open(flr_env_real(), path, &options, &mesh, &report, &error), error);
        assert_int_equal(report.faces_skipped, 0);
        const double exact = 0.0104719292, area = flr_mesh_area(mesh);
        if (!(fabs(area - exact) < 0.002 * exact))
            fail_msg("chord %g: %.6g mm2", chords[i], 1e6 * area);
        flr_mesh_destroy(mesh);
    }
}

static void shapes_are_shared(void **state)
{
    (void)state;
    if (access(HELPER, X_OK) != 0) skip();
    char path[1200];
    snprintf(path, sizeof path, "%s/ap214.step", folder);
    flr_assembly *a = open_assembly(path);
    // plate twice, cover, and in each of two inner groups two bolts and a cube
    assert_int_equal(a->part_count, 9);
    assert_int_equal(a->shape_count, 4);
    uint32_t bolts = 0;
    for (uint32_t i = 0; i < a->node_count; i++)
        bolts += a->nodes[i].shape != FLR_ASSEMBLY_NONE && !strcmp(a->nodes[i].name, "螺栓");
    assert_int_equal(bolts, 4);
    flr_assembly_destroy(a);
}

/* the names that people gave, not ids; a shape's where a node has none */
static void collada_has_names(void **state)
{
    (void)state;
    static const char text[] =
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>"
        "<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\">"
        "<asset><unit name=\"millimeter\" meter=\"0.001\"/><up_axis>Z_UP</up_axis></asset>"
        "<library_geometries><geometry id=\"g1\" name=\"seal\"><mesh><source id=\"p\">"
        "<float_array id=\"pa\" count=\"12\">0 0 0 10 0 0 0 10 0 0 0 10</float_array>"
        "<technique_common><accessor source=\"#pa\" count=\"4\" stride=\"3\">"
        "<param name=\"X\" type=\"float\"/><param name=\"Y\" type=\"float\"/>"
        "<param name=\"Z\" type=\"float\"/></accessor></technique_common></source>"
        "<vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>"
        "<triangles count=\"4\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/>"
        "<p>0 2 1 0 1 3 1 2 3 2 0 3</p></triangles></mesh></geometry></library_geometries>"
        "<library_visual_scenes><visual_scene id=\"s\" name=\"plant\">"
        "<node id=\"n0\" name=\"pump unit\">"
        "<node id=\"n1\" name=\"Ölfilter\"><instance_geometry url=\"#g1\"/></node>"
        "<node id=\"n2\" name=\"Ölfilter\"><translate>30 0 0</translate>"
        "<instance_geometry url=\"#g1\"/></node>"
        "<node id=\"n3\"><translate>60 0 0</translate><instance_geometry url=\"#g1\"/></node>"
        "</node></visual_scene></library_visual_scenes>"
        "<scene><instance_visual_scene url=\"#s\"/></scene></COLLADA>";
    static const char *const names[] = {"pump unit", "Ölfilter", "Ölfilter", "seal"};
    if (access(HELPER, X_OK) != 0) skip();
    char path[1200];
    flr_error error;
    snprintf(path, sizeof path, "%s/names.dae", folder);
    assert_ok(flr_file_write_all(flr_env_real(), path, text, sizeof text - 1, &error), error);
    flr_assembly *a = open_assembly(path);
    assert_int_equal(a->node_count, 4);
    assert_int_equal(a->shape_count, 1);
    for (uint32_t i = 0; i < a->node_count; i++) assert_string_equal(a->nodes[i].name, names[i]);
    flr_assembly_destroy(a);
}

static void one_scene(const char *file, const char *move, const char *fix, flr_scene **scene,
                      flr_scene_import_report *report, flr_result wanted)
{
    char out[1200];
    flr_error error;
    snprintf(out, sizeof out, "%s/scene.json", folder);
    flr_scene_import_def def = {.env = flr_env_real(),
                                .files = &file,
                                .file_count = 1,
                                .out = out,
                                .move = move,
                                .fix = fix,
                                .options = helper_options()};
    flr_result result = flr_scene_import(&def, report, &error);
    if (result != wanted) fail_msg("%s: %s", flr_result_name(result), error.message);
    if (result == FLR_OK) assert_ok(flr_scene_read(flr_env_real(), out, scene, &error), error);
}

static void scenes_keep_the_tree(void **state)
{
    (void)state;
    if (access(HELPER, X_OK) != 0) skip();
    char path[1200];
    flr_scene *scene;
    flr_scene_import_report report;
    snprintf(path, sizeof path, "%s/ap242.step", folder);
    one_scene(path, "螺栓*", NULL, &scene, &report, FLR_OK);
    assert_int_equal(report.parts, 9);
    assert_int_equal(report.moving, 4);
    assert_int_equal(report.shapes, 4);
    assert_int_equal(scene->part_count, 9);
    assert_string_equal(scene->groups[0].name, "ポンプ");
    // nine parts in four files; colours as in the file
    size_t files = 0;
    for (size_t i = 0; i < 9; i++) {
        bool again = false;
        for (size_t k = 0; k < i; k++) again |= !strcmp(scene->parts[i].file, scene->parts[k].file);
        files += !again;
        if (!strncmp(scene->parts[i].name, "螺栓", 6)) {
            assert_int_equal(scene->parts[i].colour, 0x336699);
            assert_true(scene->parts[i].moving);
            assert_non_null(strstr(scene->parts[i].in, "bolt pair"));
        }
    }
    assert_int_equal(files, 4);
    size_t of_group[32], of_part[16];
    assert_true(scene->group_count < 32);
    assert_true(flr_scene_resolve_groups(scene, of_group, of_part));
    assert_int_equal(of_group[0], SIZE_MAX);
    flr_scene_destroy(scene);
    // a group moves all that is in it; what is fixed stays
    one_scene(path, "inner*", "螺栓*", &scene, &report, FLR_OK);
    assert_int_equal(report.moving, 2);
    flr_scene_destroy(scene);
    one_scene(path, NULL, NULL, &scene, &report, FLR_OK);
    assert_int_equal(report.moving, 8);
    flr_scene_destroy(scene);
    one_scene(path, "nobody", NULL, &scene, &report, FLR_NOT_FOUND);
}

static void names_become_unique(void **state)
{
    (void)state;
    const char *names[] = {"bolt", "nut", "bolt", "", "bolt:1", "", "nut"}, *unique[7];
    char *block = flr_unique_names(names, 7, "part", unique);
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < i; k++) assert_string_not_equal(unique[i], unique[k]);
    assert_string_equal(unique[1], "nut:1");
    assert_string_equal(unique[6], "nut:2");
    assert_string_equal(unique[3], "part:1");
    free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_those_of_opencascade),
        cmocka_unit_test(real_files),
        cmocka_unit_test(no_face_is_lost),
        cmocka_unit_test(shapes_are_shared),
        cmocka_unit_test(collada_has_names),
        cmocka_unit_test(scenes_keep_the_tree),
        cmocka_unit_test(names_become_unique),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
