/* meshes from arrays */
#include "feeler/mesh.h"

#include <math.h>

#include "support/guarantees.h"
#include "support/meshes.h"

static const flr_vec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0},
                                   {0, 0, 1}, {1, 0, 0}, {9, 9, 9}};
static const flr_triangle triangles[] = {{{0, 2, 1}}, {{0, 4, 3}}, {{0, 3, 2}}, {{1, 2, 3}}};

static flr_mesh_def tetrahedron(void)
{
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = corners;
    def.vertex_count = 6;
    def.triangles = triangles;
    def.triangle_count = 4;
    return def;
}

static flr_mesh *create(const flr_mesh_def *def)
{
    flr_mesh *mesh = NULL;
    flr_error error;
    assert_ok(flr_mesh_create(def, &mesh, &error), error);
    const char *broken = flr_broken_guarantee(mesh);
    if (broken) fail_msg("%s", broken);
    return mesh;
}

static void refuse(const flr_mesh_def *def, flr_result code, const char *part)
{
    flr_mesh *mesh = NULL;
    flr_error error;
    assert_int_equal(flr_mesh_create(def, &mesh, &error), code);
    assert_null(mesh);
    if (!strstr(error.message, part)) fail_msg("'%s' does not hold '%s'", error.message, part);
}

static void welds_and_drops_unused(void **state)
{
    (void)state;
    flr_mesh_def def = tetrahedron();
    flr_mesh *mesh = create(&def);
    // vertex 4 equals vertex 1, vertex 5 is not used; numbers in the order of first use
    assert_int_equal(mesh->vertex_count, 4);
    assert_int_equal(mesh->triangle_count, 4);
    const flr_triangle wanted[] = {{{0, 1, 2}}, {{0, 2, 3}}, {{0, 3, 1}}, {{2, 1, 3}}};
    assert_memory_equal(mesh->triangles, wanted, sizeof wanted);
    assert_true(flr_vec3_equal(mesh->vertices[1], corners[2]));
    assert_int_equal(mesh->group_count, 1);
    assert_string_equal(flr_mesh_group_name(mesh, 0), "");
    flr_mesh_destroy(mesh);
    flr_mesh_destroy(NULL);
}

static void soup_equals_indices(void **state)
{
    (void)state;
    flr_vec3 soup[12];
    for (unsigned i = 0; i < 12; i++) soup[i] = corners[triangles[i / 3].v[i % 3]];
    flr_mesh_def def = tetrahedron(), other = flr_default_mesh_def();
    other.vertices = soup;
    other.vertex_count = 12;
    flr_mesh *a = create(&def), *b = create(&other);
    flr_test_assert_same_mesh(a, b);
    flr_mesh_destroy(a);
    flr_mesh_destroy(b);
    other.vertex_count = 11;
    refuse(&other, FLR_BAD_INPUT, "no whole number of triangles");
    other.vertex_count = 0;
    refuse(&other, FLR_BAD_INPUT, "no triangles");
}

static void scale_and_weld_distance(void **state)
{
    (void)state;
    flr_mesh_def def = tetrahedron();
    def.scale = 0.001;
    flr_mesh *mesh = create(&def);
    assert_eq(mesh->bounds.high.x, 0.001);
    flr_mesh_destroy(mesh);
    def.weld = 0.01; // larger than all of it
    mesh = create(&def);
    assert_int_equal(mesh->vertex_count, 1);
    assert_int_equal(mesh->triangle_count, 4);
    flr_mesh_destroy(mesh);
}

static void bad_definitions(void **state)
{
    (void)state;
    flr_mesh_def def = tetrahedron();
    def.scale = 0;
    refuse(&def, FLR_BAD_ARGUMENT, "scale");
    def.scale = NAN;
    refuse(&def, FLR_BAD_ARGUMENT, "scale");
    def.scale = 1;
    def.weld = -1;
    refuse(&def, FLR_BAD_ARGUMENT, "weld distance");
    def.weld = 0;
    def.vertex_count = 3;
    refuse(&def, FLR_BAD_INPUT, "names vertex 4, but there are only 3");
    def = tetrahedron();
    def.triangle_count = 0;
    refuse(&def, FLR_BAD_INPUT, "no triangles");
    def = tetrahedron();
    def.scale = 2e9;
    refuse(&def, FLR_BAD_INPUT, "farther out");
    flr_vec3 broken[6];
    memcpy(broken, corners, sizeof broken);
    broken[3].y = NAN;
    def = tetrahedron();
    def.vertices = broken;
    refuse(&def, FLR_BAD_INPUT, "vertex 3");
    // one that no triangle uses does not matter
    memcpy(broken, corners, sizeof broken);
    broken[5].y = NAN;
    flr_mesh_destroy(create(&def));
    flr_mesh *none = NULL;
    assert_int_equal(flr_mesh_create(&(flr_mesh_def){.scale = 1}, &none, NULL), FLR_BAD_INPUT);
}

static const char names[] = "left\0right";

static flr_mesh_def two_groups(flr_mesh_group groups[2])
{
    flr_pose T = flr_pose_make(flr_vec3_make(1, 2, 3),
                               flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), 0.5));
    groups[0] =
        (flr_mesh_group){.name = 0, .triangle_count = 1, .T_mesh_group = flr_pose_identity()};
    groups[1] =
        (flr_mesh_group){.name = 5, .first_triangle = 1, .triangle_count = 3, .T_mesh_group = T};
    flr_mesh_def def = tetrahedron();
    def.groups = groups;
    def.group_count = 2;
    def.names = names;
    def.names_size = sizeof names;
    return def;
}

static void groups(void **state)
{
    (void)state;
    flr_mesh_group g[2];
    flr_mesh_def def = two_groups(g);
    flr_mesh *mesh = create(&def), *part = NULL;
    flr_error error;
    assert_int_equal(mesh->group_count, 2);
    assert_string_equal(flr_mesh_group_name(mesh, 0), "left");
    assert_string_equal(flr_mesh_group_name(mesh, 1), "right");

    // the first stays where it is, bit by bit
    assert_ok(flr_mesh_extract_group(mesh, 0, &part, &error), error);
    assert_null(flr_broken_guarantee(part));
    assert_int_equal(part->triangle_count, 1);
    assert_int_equal(part->vertex_count, 3);
    assert_memory_equal(part->vertices, mesh->vertices, 3 * sizeof *part->vertices);
    assert_string_equal(flr_mesh_group_name(part, 0), "left");
    flr_mesh_destroy(part);

    // the second goes into its own frame
    assert_ok(flr_mesh_extract_group(mesh, 1, &part, &error), error);
    assert_null(flr_broken_guarantee(part));
    assert_int_equal(part->triangle_count, 3);
    for (unsigned t = 0; t < 3; t++)
        for (unsigned i = 0; i < 3; i++) {
            flr_vec3 in_part = part->vertices[part->triangles[t].v[i]];
            flr_vec3 in_mesh = mesh->vertices[mesh->triangles[1 + t].v[i]];
            assert_lt(flr_vec3_distance(flr_pose_apply(g[1].T_mesh_group, in_part), in_mesh),
                      1e-14);
        }
    flr_mesh_destroy(part);
    flr_mesh_destroy(mesh);

    // an empty one is possible, but is no mesh
    g[0].triangle_count = 0;
    g[1].first_triangle = 0;
    g[1].triangle_count = 4;
    mesh = create(&def);
    assert_int_equal(flr_mesh_extract_group(mesh, 0, &part, &error), FLR_BAD_INPUT);
    assert_non_null(strstr(error.message, "left"));
    flr_mesh_destroy(mesh);
}

static void bad_groups(void **state)
{
    (void)state;
    flr_mesh_group g[2];
    flr_mesh_def def = two_groups(g);
    g[1].first_triangle = 2;
    refuse(&def, FLR_BAD_INPUT, "group 1 must begin at triangle 1");
    def = two_groups(g);
    g[1].triangle_count = 2;
    refuse(&def, FLR_BAD_INPUT, "hold 3 of 4");
    g[1].triangle_count = 4;
    refuse(&def, FLR_BAD_INPUT, "group 1");
    def = two_groups(g);
    g[0].name = sizeof names;
    refuse(&def, FLR_BAD_INPUT, "name outside");
    def = two_groups(g);
    def.names_size = 8; // no zero after "rig"
    refuse(&def, FLR_BAD_INPUT, "name outside");
    def = two_groups(g);
    g[1].T_mesh_group.q.w = 3;
    refuse(&def, FLR_BAD_INPUT, "pose");
}

static void names_become_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *given, *kept;
    } cases[] = {{"plain", "plain"},
                 {"W\xC3\xBCrfel \xE2\x98\x83 \xF0\x9F\x94\xA7",
                  "W\xC3\xBCrfel \xE2\x98\x83 \xF0\x9F\x94\xA7"},
                 {"\xFC", "?"},
                 {"a\xC3", "a?"},
                 {"\xC0\x80", "??"},
                 {"\xED\xA0\x80", "???"},
                 {"\xF5\x80\x80\x80", "????"},
                 {"\xE2\x28\xA1", "?(?"},
                 {"tab\there\x7F\x1B", "tab?here??"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flr_mesh_group group = {.triangle_count = 4, .T_mesh_group = flr_pose_identity()};
        flr_mesh_def def = tetrahedron();
        def.groups = &group;
        def.group_count = 1;
        def.names = cases[i].given;
        def.names_size = (uint32_t)strlen(cases[i].given) + 1;
        flr_mesh *mesh = create(&def);
        assert_string_equal(flr_mesh_group_name(mesh, 0), cases[i].kept);
        flr_mesh_destroy(mesh);
    }
}

static void hash(void **state)
{
    (void)state;
    flr_mesh_group g[2];
    flr_mesh_def plain = tetrahedron(), grouped = two_groups(g);
    flr_mesh *a = create(&plain), *b = create(&grouped);
    assert_true(flr_hash_equal(flr_mesh_hash(a), flr_mesh_hash(b)));
    /* one that is kept is not computed again */
    flr_mesh kept = *a;
    kept.hash = (flr_hash){1, 2};
    assert_true(flr_hash_equal(flr_mesh_hash(&kept), kept.hash));
    flr_mesh_destroy(b);
    plain.triangle_count = 3;
    b = create(&plain);
    assert_false(flr_hash_equal(flr_mesh_hash(a), flr_mesh_hash(b)));
    flr_mesh_destroy(b);
    plain.triangle_count = 4;
    plain.scale = 1 + 0x1p-52;
    b = create(&plain);
    assert_false(flr_hash_equal(flr_mesh_hash(a), flr_mesh_hash(b)));
    flr_mesh_destroy(b);
    flr_mesh_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(welds_and_drops_unused),
        cmocka_unit_test(soup_equals_indices),
        cmocka_unit_test(scale_and_weld_distance),
        cmocka_unit_test(bad_definitions),
        cmocka_unit_test(groups),
        cmocka_unit_test(bad_groups),
        cmocka_unit_test(names_become_utf8),
        cmocka_unit_test(hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
