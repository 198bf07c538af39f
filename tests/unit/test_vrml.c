/* VRML 2, VRML 1 and Inventor ASCII */
#include "support/meshes.h"

#define V2    "#VRML V2.0 utf8\n"
#define IV    "#Inventor V2.1 ascii\n"
#define FACES "coordIndex [ 0 2 1 -1, 0 1 3 -1, 0 3 2 -1, 1 2 3 ]"
#define COORD "coord Coordinate { point [ 0 0 0, 1 0 0, 0 1 0, 0 0 1 ] }"
#define TET   "Shape { geometry IndexedFaceSet { " FACES COORD " } }"

static flr_mesh *read_text(const char *name, const char *text)
{
    flr_mesh_report report;
    flr_mesh *mesh = flr_test_parse_text(name, text, false, &report);
    assert_int_equal(report.format, FLR_FORMAT_VRML);
    return mesh;
}

static flr_vec3 high_of(const char *text)
{
    flr_mesh *mesh = read_text("a", text);
    const flr_vec3 high = flr_vec3_scale(mesh->bounds.high, 1000);
    flr_mesh_destroy(mesh);
    return high;
}

static void one_solid_in_three_ways(void **state)
{
    (void)state;
    static const char *const texts[] = {
        V2 TET,
        V2 "# a remark {\nShape { geometry IndexedFaceSet { solid FALSE creaseAngle 0.5 " COORD
           " " FACES " colorPerVertex TRUE } appearance Appearance { } }\nROUTE A.b TO C.d\n",
        V2 "Group { children [ WorldInfo { title \"a } \\\" {\" } " TET " ] }",
        IV
        "Separator { ShapeHints { vertexOrdering COUNTERCLOCKWISE }\nCoordinate3 { point [ 0 0 0, "
        "1 0 0, 0 1 0, 0 0 1 ] }\nIndexedFaceSet { " FACES " } }",
        "#VRML V1.0 ascii\nSeparator { Coordinate3 { point [0 0 0 1 0 0 0 1 0 0 0 1] } DEF A "
        "IndexedFaceSet { " FACES " } }"};
    flr_mesh *first = read_text("a.wrl", texts[0]);
    assert_int_equal(first->triangle_count, 4);
    assert_int_equal(first->vertex_count, 4);
    for (size_t i = 1; i < sizeof texts / sizeof *texts; i++) {
        flr_mesh *mesh = read_text("a", texts[i]);
        flr_test_assert_same_mesh(first, mesh);
        flr_mesh_destroy(mesh);
    }
    flr_mesh_destroy(first);
}

static void frames_place_what_is_in_them(void **state)
{
    (void)state;
    /* fields behind the children count, too; turn before move, size before turn */
    flr_vec3 high =
        high_of(V2 "Transform { children [ " TET
                   " ] translation 10 0 0 rotation 0 0 1 1.5707963267948966 scale 2 3 4 }");
    assert_within(high.x, 10, 1e-9);
    assert_within(high.y, 2, 1e-9);
    assert_within(high.z, 4, 1e-9);
    /* used again, placed twice */
    high =
        high_of(V2 "DEF A " TET " Transform { translation 0 0 5 children Transform { translation "
                   "0 0 1 children USE A } }");
    assert_within(high.z, 7, 1e-9);
    /* in Inventor for what follows, until the end of the Separator */
    high =
        high_of(IV "Coordinate3 { point [ 0 0 0, 1 0 0, 0 1 0, 0 0 1 ] } Separator { Translation { "
                   "translation 0 9 0 } } Scale { scaleFactor 1 1 3 } IndexedFaceSet { " FACES
                   " } MatrixTransform { matrix 1 0 0 0  0 1 0 0  0 0 1 0  7 0 0 1 } Cube { }");
    assert_within(high.x, 8, 1e-9);
    assert_within(high.y, 1, 1e-9);
    assert_within(high.z, 3, 1e-9);
}

static void one_level_and_one_choice(void **state)
{
    (void)state;
    flr_mesh *mesh = read_text("a", V2 "LOD { level [ " TET " Shape { geometry Box { } } ] }");
    assert_int_equal(mesh->triangle_count, 4);
    flr_mesh_destroy(mesh);
    mesh = read_text("a", V2 "Switch { whichChoice 1 choice [ " TET
                             " Shape { geometry Box { size 1 2 3 } } ] }");
    assert_int_equal(mesh->triangle_count, 12);
    flr_mesh_destroy(mesh);
}

static void wrong_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        {V2 "Shape { geometry Sphere { } } " TET, "line 2: Sphere is not read"},
        {V2 "Inline { url \"b.wrl\" } " TET, "Inline names another file"},
        {V2 "PROTO A [ ] { }", "PROTO is not read"},
        {V2 "Shape { geometry IndexedFaceSet { " COORD " coordIndex [ 0 1 9 ] } }",
         "a face names point 9 of 4"},
        {V2 "Shape { geometry IndexedFaceSet { " COORD " coordIndex [ 0 1 2.5 ] } }",
         "whole numbers"},
        {V2 "Shape { geometry IndexedFaceSet { " FACES
            " coord Coordinate { point [ 0 0 0 1 ] } } }",
         "a point needs three numbers"},
        {V2 "Shape { geometry IndexedFaceSet { " FACES " } }", "has no coordinates"},
        {V2 "Group { children [ USE A ] }", "USE of 'A', which no DEF"},
        {V2 "DEF A Group { children [ USE A USE A ] }", "deep in each other"},
        {V2 "Transform { translation 1 2 children [ " TET " ] }", "translation needs 3 numbers"},
        {V2 "Shape { geometry ", "the file ends inside a node"},
        {V2 "] }", "expected a node"},
        {"#Inventor V2.1 binary\nxx", "binary Inventor is not read"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        flr_test_refuse_text("a.wrl", cases[i].text, false, cases[i].part);
}

/* A few bytes that use each other ten deep, ten times each, would take 10^10 nodes. */
static void nodes_that_multiply_are_refused(void **state)
{
    (void)state;
    char text[2048];
    int at = snprintf(text, sizeof text, V2 "DEF A0 Group { }\n");
    for (int i = 1; i <= 10; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at, "DEF A%d Group { children [", i);
        for (int k = 0; k < 10; k++)
            at += snprintf(text + at, sizeof text - (size_t)at, " USE A%d", i - 1);
        at += snprintf(text + at, sizeof text - (size_t)at, " ] }\n");
    }
    flr_test_refuse_text("a.wrl", text, false, "use each other too often");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_solid_in_three_ways),
        cmocka_unit_test(frames_place_what_is_in_them),
        cmocka_unit_test(one_level_and_one_choice),
        cmocka_unit_test(wrong_files),
        cmocka_unit_test(nodes_that_multiply_are_refused),
    };
    return cmocka_run_group_tests_name("vrml", tests, NULL, NULL);
}
