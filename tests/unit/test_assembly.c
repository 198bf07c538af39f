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

/* names in any script with entities, also from a slicer's settings; components in components, of another model file, mirrored */
static void threemf_has_a_tree(void **state)
{
    (void)state;
    if (access(HELPER, X_OK) != 0) skip();
    flr_assembly *a = open_assembly(FLR_SOURCE_DIR "/tests/data/import/tree.3mf");
    static const struct {
        const char *name;
        uint32_t parent, shape, colour;
        flr_vec3 at; /* cm */
        double w, z;
    } wanted[] = {
        {"насос", FLR_ASSEMBLY_NONE, FLR_ASSEMBLY_NONE, FLR_ASSEMBLY_NONE, {10, 20, 30}, 1, 0},
        {"Wanne & Ölpumpe <2>", 0, 0, 0xb08030, {15, 20, 30}, 0.70710678, 0.70710678},
        {"Wanne & Ölpumpe <2>", 0, 1, 0xb08030, {10, 20, 37}, 1, 0},
        {"螺栓", 0, 2, FLR_ASSEMBLY_NONE, {10, 20, 30}, 1, 0},
        {"Wanne & Ölpumpe <2>", FLR_ASSEMBLY_NONE, 0, 0xb08030, {0, 0, 0}, 1, 0},
        {"Deckel", FLR_ASSEMBLY_NONE, 3, FLR_ASSEMBLY_NONE, {0, 0, 0}, 1, 0},
        {"Gehäuse", FLR_ASSEMBLY_NONE, FLR_ASSEMBLY_NONE, FLR_ASSEMBLY_NONE, {0, 0, 0}, 1, 0},
        {"Deckel", 6, 3, FLR_ASSEMBLY_NONE, {0, 0, 0}, 1, 0},
    };
    assert_int_equal(a->node_count, sizeof wanted / sizeof *wanted);
    assert_int_equal(a->shape_count, 4);
    assert_int_equal(a->up, FLR_AXIS_Z);
    for (uint32_t i = 0; i < a->node_count; i++) {
        const flr_assembly_node *node = &a->nodes[i];
        assert_string_equal(node->name, wanted[i].name);
        assert_int_equal(node->parent, wanted[i].parent);
        assert_int_equal(node->shape, wanted[i].shape);
        assert_int_equal(node->colour, wanted[i].colour);
        assert_true(flr_vec3_distance(flr_vec3_scale(node->T_root_node.p, 100), wanted[i].at) <
                    1e-9);
        assert_true(fabs(node->T_root_node.q.w - wanted[i].w) < 1e-7 &&
                    fabs(node->T_root_node.q.z - wanted[i].z) < 1e-7);
    }
    // the mirrored one is not inside out, and reaches to the other side
    assert_true(fabs(a->shapes[0]->bounds.high.x - 0.1) < 1e-12 &&
                fabs(a->shapes[1]->bounds.low.x + 0.1) < 1e-12);
    for (uint32_t i = 0; i < 2; i++) {
        double volume = 0;
        for (uint32_t k = 0; k < a->shapes[i]->triangle_count; k++) {
            const uint32_t *v = a->shapes[i]->triangles[k].v;
            const flr_vec3 *p = a->shapes[i]->vertices;
            volume += flr_vec3_dot(p[v[0]], flr_vec3_cross(p[v[1]], p[v[2]])) / 6;
        }
        assert_true(fabs(volume - 1e-3) < 1e-9);
    }
    flr_assembly_destroy(a);
}

/* the checksum that ZIP files have */
static uint32_t crc_of(const char *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= (uint8_t)bytes[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* a 3MF file of one model, stored; damaged: a bit of the model differs from what was packed */
static void write_3mf(const char *path, const char *model, bool damaged)
{
    static const char name[] = "3D/3dmodel.model";
    const uint32_t size = (uint32_t)strlen(model), length = sizeof name - 1;
    uint8_t local[30] = {'P', 'K', 3, 4}, entry[46] = {'P', 'K', 1, 2}, end[22] = {'P', 'K', 5, 6};
    const uint32_t directory = 30 + length + size, all = 46 + length,
                   crc = crc_of(model, size) ^ (damaged ? 1 : 0);
    memcpy(local + 14, &crc, 4), memcpy(entry + 16, &crc, 4);
    memcpy(local + 18, &size, 4), memcpy(local + 22, &size, 4), memcpy(local + 26, &length, 2);
    memcpy(entry + 20, &size, 4), memcpy(entry + 24, &size, 4), memcpy(entry + 28, &length, 2);
    end[8] = end[10] = 1;
    memcpy(end + 12, &all, 4), memcpy(end + 16, &directory, 4);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    fwrite(local, 1, sizeof local, out), fwrite(name, 1, length, out), fwrite(model, 1, size, out);
    fwrite(entry, 1, sizeof entry, out), fwrite(name, 1, length, out),
        fwrite(end, 1, sizeof end, out);
    assert_int_equal(fclose(out), 0);
}

static void threemf_that_is_wrong(void **state)
{
    (void)state;
    if (access(HELPER, X_OK) != 0) skip();
#define MESH                                                                                       \
    "<mesh><vertices><vertex x='0' y='0' z='0'/><vertex x='1' y='0' z='0'/><vertex x='0' y='1' "   \
    "z='0'/></vertices><triangles><triangle v1='0' v2='1' v3='%s'/></triangles></mesh>"
    static const struct {
        const char *model, *corner, *says;
    } cases[] = {
        {"<model><resources><object id='1'><components><component "
         "objectid='1'/></components></object>"
         "</resources><build><item objectid='1'/></build></model>%s",
         "", "in a circle"},
        {"<model><resources><object id='1'>" MESH
         "</object></resources><build><item objectid='2'/></build></model>",
         "2", "there is no object 2"},
        {"<model><resources><object id='1'>" MESH
         "</object></resources><build><item objectid='1'/></build></model>",
         "3", "points at a vertex"},
        {"<model><resources><object id='1'>" MESH
         "</object></resources><build><item objectid='1' transform='1 0 0 0 1 0'/></build></model>",
         "2", "twelve numbers"},
        {"<model><resources><object id='1'>" MESH "</object></resources><build><item objectid='1' "
         "p:path='/3D/other.model'/></build></model>",
         "2", "no model file"},
        {"<model><resources><object id='1'>" MESH "</object></resources><build/></model>", "2",
         "no surfaces"},
        {"<model><resources><object id='1'>" MESH
         "</object></resources><build><item objectid='1'/></build></model>",
         "2", "not a readable 3MF"},
        {"<model><resources><object id='1'>" MESH "<object id='2'>" MESH
         "</object></resources><build><item objectid='2'/></build></model>",
         "2", "no end of object 1"},
        {"<model><build><item objectid='1'/></build><resources><object id='1'>" MESH, "2",
         "no end of object 1"},
        {"<model><resources><object id='1'>" MESH "</object></resources><build><item objectid='1' "
         "transform='1 0 0 0 1 0 0 0 1 0 1e300 0'/></build></model>",
         "2", "too far out, of object 1"},
        {"<model unit='inch'><resources><object id='1' name='a&#x1F529;&#xD800;&unknown;b'>" MESH
         "</object></resources><build><item objectid='1'/></build></model>",
         "2", NULL},
    };
    char path[1200], model[2048];
    snprintf(path, sizeof path, "%s/wrong.3mf", folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flr_mesh_options options = helper_options();
        flr_assembly *a = NULL;
        flr_error error;
        snprintf(model, sizeof model, cases[i].model, cases[i].corner, cases[i].corner);
        write_3mf(path, model, cases[i].says && strstr(cases[i].says, "readable"));
        flr_result result = flr_assembly_open(flr_env_real(), path, &options, &a, NULL, &error);
        if (cases[i].says) {
            assert_int_equal(result, FLR_BAD_INPUT);
            if (!strstr(error.message, cases[i].says)) fail_msg("case %zu: %s", i, error.message);
            continue;
        }
        assert_ok(result, error);
        assert_string_equal(a->nodes[0].name, "a\xf0\x9f\x94\xa9unknown;"
                                              "b");
        assert_true(fabs(a->shapes[0]->bounds.high.x - 0.0254) < 1e-12);
        flr_assembly_destroy(a);
    }
}

/* What a 3MF file leaves open is settled in a stated way, and listed. */
static void threemf_that_is_vague(void **state)
{
    (void)state;
    if (access(HELPER, X_OK) != 0) skip();
    char path[1200], model[2048];
    flr_mesh_options options = helper_options();
    flr_mesh_report report;
    flr_assembly *a = NULL;
    flr_error error;
    snprintf(path, sizeof path, "%s/vague.3mf", folder);
    snprintf(model, sizeof model,
             "<model unit='furlong'><resources><object id='1' name='first'>" MESH
             "</object><object id='1' name='second'>" MESH "</object><object id='1'>" MESH
             "</object></resources><build><item objectid='1'/></build></model>",
             "2", "2", "2");
    write_3mf(path, model, false);
    assert_ok(flr_assembly_open(flr_env_real(), path, &options, &a, &report, &error), error);
    assert_int_equal(a->part_count, 1);
    assert_string_equal(a->nodes[0].name, "first");
    assert_true(fabs(a->shapes[0]->bounds.high.x - 0.001) < 1e-12);
    assert_false(report.unit_from_file);
    assert_int_equal(a->note_count, 2);
    assert_string_equal(a->notes[0], "there is no unit \"furlong\"; millimetres are assumed");
    assert_string_equal(a->notes[1], "there are several objects 1; the first one counts");
    flr_assembly_destroy(a);
    // who says what the unit is needs no note about it
    options.unit = 0.0254;
    assert_ok(flr_assembly_open(flr_env_real(), path, &options, &a, NULL, &error), error);
    assert_int_equal(a->note_count, 1);
    assert_true(fabs(a->shapes[0]->bounds.high.x - 0.0254) < 1e-12);
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
        cmocka_unit_test(threemf_has_a_tree),
        cmocka_unit_test(threemf_that_is_wrong),
        cmocka_unit_test(threemf_that_is_vague),
        cmocka_unit_test(collada_has_names),
        cmocka_unit_test(scenes_keep_the_tree),
        cmocka_unit_test(names_become_unique),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
