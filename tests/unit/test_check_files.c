/* feeler/mesh_check.h: real files, dirty and clean, against the tables that came with them */
#include "feeler/mesh.h"
#include "support/checked.h"

enum { BORDER, NONMANIFOLD, FLIPPED, ZERO_AREA, DUPLICATE, COUNTS };

static void counts_of(const flr_check_report *report, long counts[COUNTS])
{
    static const flr_check_kind kinds[COUNTS] = {FLR_CHECK_OPEN_BORDER, FLR_CHECK_NONMANIFOLD_EDGE,
                                                 FLR_CHECK_FLIPPED, FLR_CHECK_ZERO_AREA,
                                                 FLR_CHECK_DUPLICATE};
    for (int i = 0; i < COUNTS; i++) counts[i] = (long)flr_test_check_count(report, kinds[i]);
}

/* the table's reader worked with 32-bit coordinates; most files are the same that way */
static flr_mesh *rounded(const flr_mesh *mesh)
{
    flr_vec3 *vertices = malloc(mesh->vertex_count * sizeof *vertices);
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        vertices[v] =
            flr_vec3_make((double)(float)mesh->vertices[v].x, (double)(float)mesh->vertices[v].y,
                          (double)(float)mesh->vertices[v].z);
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = vertices, def.vertex_count = mesh->vertex_count;
    def.triangles = mesh->triangles, def.triangle_count = mesh->triangle_count;
    flr_mesh *result = NULL;
    flr_error error;
    assert_ok(flr_mesh_create(&def, &result, &error), error);
    free(vertices);
    return result;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static bool same_counts(const flr_mesh *mesh, const long expected[COUNTS])
{
    flr_check_options options = flr_default_check_options();
    options.skip_crossings = true;
    const flr_check_report report = flr_test_checked(mesh, NULL, &options);
    long counts[COUNTS];
    counts_of(&report, counts);
    return memcmp(counts, expected, sizeof counts) == 0;
}

/* one row of the table; false where the file is refused */
static bool check_row(const char *folder, const char *name, const long expected[COUNTS])
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    flr_mesh_options options = flr_default_mesh_options();
    options.tolerant = true, options.unit = 1;
    flr_mesh *mesh = NULL;
    if (flr_mesh_read(flr_env_real(), path, &options, &mesh, NULL, NULL) != FLR_OK) return false;
    bool same = same_counts(mesh, expected);
    if (!same) {
        flr_mesh *coarse = rounded(mesh);
        same = same_counts(coarse, expected);
        flr_mesh_destroy(coarse);
    }
    static const struct {
        const char *name;
        long counts[COUNTS];
    } known[] = {
        /* the table read an ASCII file as binary, */
        {"cgal_invalid_header.stl", {3, 0, 0, 0, 0}},
        /* lost lines that are continued, */
        {"trimesh_wallhole.obj", {0, 0, 0, 0, 0}},
        /* and cut a polygon along a line that leaves a triangle without area */
        {"factory_round_hole_8mm_subdiv_3x.obj", {36, 0, 0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ends_with(name, known[i].name)) same = same_counts(mesh, known[i].counts);
    if (!same) fail_msg("%s: the counts differ from the table", name);
    flr_mesh_destroy(mesh);
    return true;
}

static void real_files_have_the_counts_of_the_table(void **state)
{
    (void)state;
    const char *folder = flr_test_models_dir();
    if (!folder) skip();
    char path[1200], line[2048];
    snprintf(path, sizeof path, "%s/INDEX.tsv", folder);
    FILE *table = fopen(path, "r");
    assert_non_null(table);
    unsigned rows = 0, large = 0;
    while (fgets(line, sizeof line, table)) {
        char name[512];
        long triangles, vertices, components, bytes, expected[COUNTS];
        /* rows without counts are files that must be refused */
        if (sscanf(line, "%511[^\t]\t%ld\t%ld\t%ld\t%ld\t%ld\t%ld\t%ld\t%ld\t%ld", name, &bytes,
                   &triangles, &vertices, &components, expected, expected + 1, expected + 2,
                   expected + 3, expected + 4) != 10)
            continue;
        if (triangles > 40000 && large++ > 1) continue; /* a few of the large ones are enough */
        rows += check_row(folder, name, expected);
    }
    fclose(table);
    assert_gt(rows, 200);
}

static flr_check_report checked_file(const char *name)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", flr_test_models_dir(), name);
    flr_mesh_options options = flr_default_mesh_options();
    options.tolerant = true;
    flr_mesh *mesh = NULL;
    flr_mesh_report read;
    flr_error error;
    assert_ok(flr_mesh_read(flr_env_real(), path, &options, &mesh, &read, &error), error);
    const flr_check_report report = flr_test_checked(mesh, &read, NULL);
    flr_mesh_destroy(mesh);
    return report;
}

static void dirty_files_are_what_their_table_says(void **state)
{
    (void)state;
    if (!flr_test_models_dir()) skip();
    const struct {
        const char *name;
        flr_check_kind kind;
        uint64_t least, most;
        flr_check_severity worst;
    } cases[] = {
        {"dirty/assimp_malformed.obj", FLR_CHECK_MALFORMED, 2, 2, FLR_CHECK_SERIOUS},
        {"dirty/assimp_sphereWithHole.stl", FLR_CHECK_OPEN_BORDER, 9, 9, FLR_CHECK_SERIOUS},
        {"dirty/assimp_triangle_with_two_solids.stl", FLR_CHECK_FEW_TRIANGLES, 2, 2,
         FLR_CHECK_SERIOUS},
        {"dirty/cgal_bunny_random_perturbation.obj", FLR_CHECK_OPEN_BORDER, 14904, 14904,
         FLR_CHECK_SERIOUS},
        {"dirty/cgal_nested_cubes_invalid_volume.obj", FLR_CHECK_NESTING, 1, 1, FLR_CHECK_WARNING},
        {"dirty/cgal_non_manifold_vertex.obj", FLR_CHECK_NONMANIFOLD_VERTEX, 1, 1,
         FLR_CHECK_SERIOUS},
        {"dirty/cgal_tetrahedron_duplicates.obj", FLR_CHECK_DUPLICATE, 4, 4, FLR_CHECK_NOTE},
        {"dirty/cgal_three_knives.obj", FLR_CHECK_NONMANIFOLD_EDGE, 16, 16, FLR_CHECK_NOTE},
        {"dirty/manifold_Offset1.obj", FLR_CHECK_SELF_INTERSECTION, 1, 1000, FLR_CHECK_WARNING},
        {"dirty/manifold_self_intersectA.obj", FLR_CHECK_SELF_INTERSECTION, 200, 400,
         FLR_CHECK_WARNING},
        {"dirty/numpystl_HalfDonut.stl", FLR_CHECK_IGNORED_BYTES, 1, 1, FLR_CHECK_NOTE},
        {"dirty/trimesh_angle_block.STL", FLR_CHECK_OPEN_BORDER, 166, 166, FLR_CHECK_NOTE},
        {"dirty/trimesh_featuretype.STL", FLR_CHECK_OPEN_BORDER, 576, 576, FLR_CHECK_NOTE},
        {"dirty/trimesh_multibody.stl", FLR_CHECK_FLIPPED, 12, 12, FLR_CHECK_WARNING},
        {"dirty/trimesh_soup.stl", FLR_CHECK_OVERLAPPING_COMPONENTS, 1000, 2000, FLR_CHECK_SERIOUS},
        {"dirty/assimp_Spider_ascii.stl", FLR_CHECK_OVERLAPPING_COMPONENTS, 317, 317,
         FLR_CHECK_WARNING},
        {"dirty/assimp_Spider_binary.stl", FLR_CHECK_OVERLAPPING_COMPONENTS, 317, 317,
         FLR_CHECK_WARNING},
        {"dirty/trimesh_bunny.ply", FLR_CHECK_DUPLICATE, 87, 87, FLR_CHECK_SERIOUS},
        {"dirty/trimesh_chair_model.obj", FLR_CHECK_DUPLICATE, 6382, 6382, FLR_CHECK_WARNING},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const flr_check_report report = checked_file(cases[i].name);
        const uint64_t count = flr_test_check_count(&report, cases[i].kind);
        if (count < cases[i].least || count > cases[i].most ||
            flr_check_worst(&report) != cases[i].worst)
            fail_msg("%s: %s %llu, worst %s", cases[i].name, flr_check_kind_name(cases[i].kind),
                     (unsigned long long)count, flr_check_severity_name(flr_check_worst(&report)));
    }
}

static void clean_files_have_nothing_serious(void **state)
{
    (void)state;
    if (!flr_test_models_dir()) skip();
    static const char *const clean[] = {"probes/20mm-xyz-cube.stl",
                                        "probes/bunny.obj",
                                        "probes/unit_sphere.STL",
                                        "probes/odri_transmission_pulley_at3_t30_output.STL",
                                        "probes/so101_sts3215_motor.stl",
                                        "dirty/numpystl_StarWithEmptyHeader.stl",
                                        "dirty/trimesh_negative_indices.obj",
                                        "assembly/asap_beam/6.obj",
                                        "assembly/factory_m16_nut_bolt/factory_bolt_m16_loose.obj",
                                        "assembly/furniture_drawer/drawer_box.obj",
                                        "assembly/path_alpha_1.6/alpharobot.obj",
                                        "assembly/wrs2020_drive_unit/01-BASE.stl"};
    for (size_t i = 0; i < sizeof clean / sizeof *clean; i++) {
        const flr_check_report report = checked_file(clean[i]);
        if (flr_check_worst(&report) != FLR_CHECK_NOTE)
            fail_msg("%s: %s", clean[i], report.findings[0].sentence);
        assert_int_equal(report.closed_component_count, report.component_count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_files_have_the_counts_of_the_table),
        cmocka_unit_test(dirty_files_are_what_their_table_says),
        cmocka_unit_test(clean_files_have_nothing_serious),
    };
    return cmocka_run_group_tests_name("check_files", tests, NULL, NULL);
}
