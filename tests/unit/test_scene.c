#include "support/test.h"

#include <math.h>

#include "feeler/env.h"
#include "scene/scene.h"

static flr_scene *parse(const char *text)
{
    flr_error error;
    flr_scene *scene = NULL;
    assert_ok(flr_scene_parse("s.json", text, strlen(text), &scene, &error), error);
    return scene;
}

#define SMALL                                                                                      \
    "{ \"feeler\": 1, \"name\": \"n\", \"parts\": [ { \"name\": \"a\", \"file\": \"a.stl\" } ] }"

static void the_least_scene(void **state)
{
    (void)state;
    flr_scene *scene = parse(SMALL);
    assert_string_equal(scene->name, "n");
    assert_string_equal(scene->path, "s.json");
    assert_null(scene->description);
    assert_eq(scene->unit, 1);
    assert_eq(scene->voxel, 0);
    assert_int_equal(scene->part_count, 1);
    const flr_scene_part *part = &scene->parts[0];
    assert_string_equal(part->file, "a.stl");
    assert_null(part->group);
    assert_false(part->moving);
    assert_eq(part->T_world_part.q.w, 1);
    assert_int_equal(part->colour, FLR_SCENE_NO_COLOUR);
    assert_int_equal(part->line, 1);
    assert_int_equal(part->column, 40);
    flr_scene_destroy(scene);
}

static const char *const everything =
    "\xEF\xBB\xBF{\n"
    "  \"$schema\": \"scene.schema.json\",\n"
    "  \"feeler\": 1,\n"
    "  \"name\": \"K\xC3\xBChler\",\n"
    "  \"description\": \"all there is\",\n"
    "  \"unit\": \"mm\",\n"
    "  \"voxel\": \"0.35mm\",\n"
    "  \"gravity\": [0, 0, -9.81],\n"
    "  \"contact\": { \"force_layer\": 0, \"displace\": \"-0.2mm\", \"model\": \"smooth\", "
    "\"stiffness\": 500, \"friction\": 0.3, \"awareness\": true },\n"
    "  \"parts\": [\n"
    "    { \"name\": \"socket\", \"file\": \"socket.stl\", \"hollow\": true },\n"
    "    {\n"
    "      \"name\": \"ball\", \"file\": \"../ball.stp\", \"group\": \"b\", \"unit\": \"in\",\n"
    "      \"pose\": { \"position\": [1, \"2cm\", -3.5], \"orientation\": [0.7071, 0, 0.7071, 0] "
    "},\n"
    "      \"moving\": true, \"colour\": \"#FF8000\", \"voxel\": 0.25, \"density\": 7850\n"
    "    },\n"
    "    { \"name\": \"nut\", \"file\": \"nut.stl\", \"mass\": 0.02, \"unit\": 0.5 }\n"
    "  ],\n"
    "  \"paths\": [ { \"name\": \"in\", \"part\": \"ball\", \"poses\": \"in.txt\" } ],\n"
    "  \"camera\": { \"eye\": [100, 100, 100], \"target\": [0, 0, 0] }\n"
    "}\n";

static void all_fields(void **state)
{
    (void)state;
    flr_scene *scene = parse(everything);
    assert_eq(scene->unit, 0.001);
    assert_eq(scene->voxel, 0.35 / 1000);
    assert_eq(scene->gravity.z, -9.81);
    assert_int_equal(scene->contact.force_layer, 0);
    assert_eq(scene->contact.displace, -0.2 / 1000);
    assert_int_equal(scene->contact.model, FLR_FORCE_SMOOTH);
    assert_eq(scene->contact.stiffness, 500);
    assert_eq(scene->contact.friction, 0.3);
    assert_true(scene->contact.awareness);
    assert_int_equal(scene->part_count, 3);
    assert_true(scene->parts[0].hollow);
    const flr_scene_part *ball = &scene->parts[1];
    assert_string_equal(ball->group, "b");
    assert_eq(ball->unit, 0.0254);
    assert_eq(ball->T_world_part.p.x, 0.001);
    assert_eq(ball->T_world_part.p.y, 0.02);
    assert_eq(ball->T_world_part.p.z, -3.5 * 0.001);
    assert_lt(fabs(ball->T_world_part.q.w - sqrt(0.5)), 1e-15);
    assert_true(ball->moving);
    assert_int_equal(ball->colour, 0xFF8000);
    assert_eq(ball->voxel, 0.25 * 0.001);
    assert_eq(ball->density, 7850);
    assert_int_equal(ball->line, 12);
    assert_int_equal(ball->column, 5);
    assert_eq(scene->parts[2].mass, 0.02);
    assert_eq(scene->parts[2].unit, 0.5);
    assert_int_equal(scene->parts[2].line, 17);
    assert_int_equal(scene->path_count, 1);
    assert_string_equal(scene->paths[0].part, "ball");
    assert_int_equal(scene->paths[0].line, 19);
    assert_int_equal(scene->paths[0].column, 14);
    assert_true(scene->camera.given);
    assert_eq(scene->camera.eye.x, 100 * 0.001);
    assert_eq(scene->camera.up.z, 1);
    // a hand that is not named is like the last one that is
    flr_scene_hand hands[] = {{.tool = FLR_TOOL_GRIP}, {.tool = FLR_TOOL_POINT}};
    flr_scene none = *scene, some = *scene;
    some.hands = hands, some.hand_count = 2;
    assert_int_equal(flr_scene_tool(&none, 0), FLR_TOOL_GRIP);
    assert_int_equal(flr_scene_tool(&some, 0), FLR_TOOL_GRIP);
    assert_int_equal(flr_scene_tool(&some, 1), FLR_TOOL_POINT);
    assert_int_equal(flr_scene_tool(&some, 7), FLR_TOOL_POINT);
    flr_scene_destroy(scene);
}

/* a scene with `extra` members in the root and a part with `part` members */
static void expect_error(const char *root, const char *part, const char *wanted)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\n\"feeler\": 1,\n\"name\": \"n\",\n%s\"parts\": [\n{ \"name\": \"a\", \"file\": "
             "\"a.stl\", \"moving\": true },\n{ \"name\": \"b\", \"file\": \"b.stl\"%s }\n]\n}\n",
             root, part);
    flr_error error = {0};
    flr_scene *scene = (flr_scene *)(uintptr_t)8;
    if (flr_scene_parse("s.json", text, strlen(text), &scene, &error) != FLR_BAD_INPUT)
        fail_msg("accepted, instead of: %s", wanted);
    assert_ptr_equal(scene, (uintptr_t)8);
    if (strcmp(error.message, wanted) != 0) fail_msg("%s\n   instead of %s", error.message, wanted);
}

/* the engine, as a word or as a key, comes back as it went */
static void the_engine_of_contact(void **state)
{
    (void)state;
    const char *const coherent = "{\"feeler\": 1, \"name\": \"n\", \"contact\": { \"engine\": "
                                 "\"coherent\", \"tests\": 2000 }, \"parts\": [{ \"name\": "
                                 "\"a\", \"file\": \"a.stl\" }]}";
    flr_error why;
    flr_scene *read, *copy;
    assert_ok(flr_scene_parse("s.json", coherent, strlen(coherent), &read, &why), why);
    assert_ok(flr_scene_copy(read, &copy, &why), why);
    assert_int_equal(copy->contact.engine, FLR_ENGINE_COHERENT);
    assert_eq(copy->contact.tests, 2000);
    flr_scene_destroy(read);
    flr_scene_destroy(copy);
    const char *const texts[] = {"\"spheres\"", "{ \"engine\": \"spheres\" }",
                                 "{ \"engine\": \"spheres\", \"restitution\": 0.5 }", "\"shell\"",
                                 "{ \"engine\": \"shell\" }"};
    for (int i = 0; i < 5; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"feeler\": 1, \"name\": \"n\", \"contact\": %s, \"parts\": [{ \"name\": "
                 "\"a\", \"file\": \"a.stl\" }]}",
                 texts[i]);
        flr_error error;
        flr_scene *scene, *back;
        assert_ok(flr_scene_parse("s.json", text, strlen(text), &scene, &error), error);
        assert_ok(flr_scene_copy(scene, &back, &error), error);
        assert_int_equal(scene->contact.engine == FLR_ENGINE_SPHERES, i < 3);
        assert_int_equal(back->contact.engine == FLR_ENGINE_SPHERES, i < 3);
        assert_eq(back->contact.restitution, (i == 2 ? 0.5 : 0));
        flr_scene_destroy(scene);
        flr_scene_destroy(back);
    }
}

/* the exact engine and its lengths come back as they went */
static void the_exact_engine(void **state)
{
    (void)state;
    const char *const texts[] = {"\"exact\"", "{ \"engine\": \"exact\" }",
                                 ("{ \"engine\": \"exact\", \"onset\": \"0.02mm\", "
                                  "\"strength\": 2.5, \"overlap\": \"1mm\" }")};
    const flr_scene_contact usual = flr_default_scene_contact();
    for (int i = 0; i < 3; i++) {
        char text[320];
        snprintf(text, sizeof text,
                 "{\"feeler\": 1, \"name\": \"n\", \"contact\": %s, \"parts\": [{ \"name\": "
                 "\"a\", \"file\": \"a.stl\" }]}",
                 texts[i]);
        flr_error error;
        flr_scene *scene, *back;
        assert_ok(flr_scene_parse("s.json", text, strlen(text), &scene, &error), error);
        assert_ok(flr_scene_copy(scene, &back, &error), error);
        assert_int_equal(scene->contact.engine, FLR_ENGINE_EXACT);
        assert_int_equal(back->contact.engine, FLR_ENGINE_EXACT);
        assert_eq(back->contact.onset, (i == 2 ? 2e-5 : usual.onset));
        assert_eq(back->contact.strength, (i == 2 ? 2.5 : 1));
        assert_eq(back->contact.overlap, (i == 2 ? 1e-3 : usual.overlap));
        flr_scene_destroy(scene);
        flr_scene_destroy(back);
    }
}

static void meaning_is_checked_with_line_and_column(void **state)
{
    (void)state;
    // the part's own members begin in column 32 of line 6, root members in line 4
    const struct {
        const char *root, *part, *wanted;
    } cases[] = {
        {"", ", \"voxel\": 0", "s.json:6:42: parts[1].voxel: must be greater than 0"},
        {"", ", \"voxel\": -1", "s.json:6:42: parts[1].voxel: must be greater than 0"},
        {"", ", \"mass\": 0", "s.json:6:41: parts[1].mass: must be greater than 0"},
        {"", ", \"mass\": 1e-12", "s.json:6:41: parts[1].mass: must be from 1e-09 to 1e+09"},
        {"", ", \"density\": 1e10", "s.json:6:44: parts[1].density: must be from 0.001 to 1e+09"},
        {"", ", \"moving\": true, \"force\": [0, 1e300, 0]",
         "s.json:6:58: parts[1].force: must be from -1e+06 to 1e+06 along each axis"},
        {"", ", \"moving\": true, \"torque\": [0, 0, -2e6]",
         "s.json:6:59: parts[1].torque: must be from -1e+06 to 1e+06 along each axis"},
        {"", ", \"moving\": true, \"spring\": {\"stiffness\": 1e30}",
         "s.json:6:73: parts[1].spring.stiffness: must be from 1e-09 to 1e+09"},
        {"", ", \"voxel\": \"1mile\"",
         "s.json:6:42: parts[1].voxel: size '1mile': unknown unit 'mile'; use one of um, mm, cm, "
         "m, in, ft"},
        {"", ", \"voxel\": [1]",
         "s.json:6:42: parts[1].voxel: must be a number or a text such as \"0.35mm\", not an "
         "array"},
        {"", ", \"voxle\": 1", "s.json:6:33: parts[1].voxle: unknown key; did you mean \"voxel\"?"},
        {"", ", \"color\": 1",
         "s.json:6:33: parts[1].color: unknown key; did you mean \"colour\"?"},
        {"\"x\": 1,\n", "",
         "s.json:4:1: x: unknown key; known here are $schema, feeler, name, description, unit, "
         "voxel, gravity, contact, haptics, devices, barrier, parts, groups, joints, paths, hands, "
         "camera, allow, "
         "notes"},
        {"\"allow\": [[\"a\"]],\n", "",
         "s.json:4:11: allow[0]: must be two names, such as [\"bolt*\", \"nut*\"]"},
        {"\"allow\": {},\n", "", "s.json:4:10: allow: must be an array"},
        {"\"notes\": [{ \"text\": \"t\", \"position\": [0, 0, 0], \"part\": \"c\" }],\n", "",
         "s.json:4:57: notes[0].part: there is no part \"c\""},
        {"\"notes\": [{ \"text\": \"t\" }],\n", "",
         "s.json:4:11: notes[0]: \"position\" is missing"},
        {"\"groups\": [{ \"name\": \"g\" }],\n", ", \"in\": \"h\"",
         "s.json:7:39: parts[1].in: there is no group \"h\""},
        {"\"groups\": [{ \"name\": \"g\", \"in\": \"g\" }],\n", "",
         "s.json:4:33: groups[0].in: puts the group \"g\" into itself"},
        {"\"groups\": [{ \"name\": \"g\", \"in\": \"k\" }, { \"name\": \"k\", \"in\": \"g\" }],\n",
         "", "s.json:4:33: groups[0].in: puts the group \"g\" into itself"},
        {"\"groups\": [{ \"name\": \"g\" }, { \"name\": \"g\" }],\n", "",
         "s.json:4:39: groups[1].name: the name \"g\" is taken by groups[0]"},
        {"", ", \"moving\": 1",
         "s.json:6:43: parts[1].moving: must be true or false, not a number"},
        {"", ", \"colour\": \"red\"",
         "s.json:6:43: parts[1].colour: must be a colour such as \"#ff8000\""},
        {"", ", \"colour\": \"#12345g\"",
         "s.json:6:43: parts[1].colour: must be a colour such as \"#ff8000\""},
        {"", ", \"mass\": 1, \"density\": 2",
         "s.json:6:41: parts[1].mass: give mass or density, not both"},
        {"", ", \"pose\": {\"position\": [1, 2]}",
         "s.json:6:54: parts[1].pose.position: must be an array of 3 numbers"},
        {"", ", \"pose\": {\"position\": [1, 2, null]}",
         "s.json:6:61: parts[1].pose.position[2]: must be a number or a text such as \"0.35mm\", "
         "not null"},
        {"", ", \"pose\": {\"position\": [1, 2, 1e10]}",
         "s.json:6:61: parts[1].pose.position[2]: is farther out than 1e+09 m"},
        {"", ", \"pose\": {\"orientation\": [1, 0, 0, 0.1]}",
         "s.json:6:57: parts[1].pose.orientation: must be a unit quaternion w, x, y, z"},
        {"", ", \"unit\": \"furlong\"",
         "s.json:6:41: parts[1].unit: 'furlong' is not a unit; use one of um, mm, cm, m, in, ft or "
         "a number of metres"},
        {"", ", \"unit\": 0", "s.json:6:41: parts[1].unit: must be greater than 0"},
        {"", ", \"group\": \"\"", "s.json:6:42: parts[1].group: must not be empty"},
        {"", ", \"group\": \"a\\u0007\"",
         "s.json:6:42: parts[1].group: must not hold control characters such as a line break"},
        {"", " }, { \"name\": \"b\", \"file\": \"\xC3\xA4\xC3\xA4.stl\"",
         "s.json:6:45: parts[2].name: the name \"b\" is taken by parts[1]"},
        {"", " }, { \"file\": \"c\"", "s.json:6:35: parts[2]: \"name\" is missing"},
        {"", " }, 7, { \"name\": \"c\"", "s.json:6:35: parts[2]: must be an object, not a number"},
        {"\"paths\": [{\"name\": \"p\", \"part\": \"c\", \"poses\": \"p\"}],\n", "",
         "s.json:4:33: paths[0].part: there is no part \"c\""},
        {"\"paths\": [{\"name\": \"p\", \"part\": \"b\", \"poses\": \"p\"}],\n", "",
         "s.json:4:33: paths[0].part: part \"b\" does not move; give it \"moving\": true"},
        {"\"paths\": 3,\n", "", "s.json:4:10: paths: must be an array"},
        {"\"gravity\": [0, 0, \"1m\"],\n", "",
         "s.json:4:19: gravity[2]: must be a number, not a text"},
        {"\"camera\": {\"eye\": [1, 1, 1], \"target\": [1, 1, 1]},\n", "",
         "s.json:4:40: camera.target: must differ from the eye"},
        {"\"contact\": {\"force_layer\": 253},\n", "",
         "s.json:4:28: contact.force_layer: must be from 0 to 252"},
        {"\"contact\": {\"force_layer\": 1.5},\n", "",
         "s.json:4:28: contact.force_layer: must be a whole number"},
        {"\"contact\": {\"displace\": true},\n", "",
         "s.json:4:25: contact.displace: must be a number or a text such as \"0.35mm\", not true "
         "or "
         "false"},
        {"\"contact\": {\"model\": \"soft\"},\n", "",
         "s.json:4:22: contact.model: must be \"tangent\" or \"smooth\""},
        {"\"contact\": {\"stiffness\": 0},\n", "",
         "s.json:4:26: contact.stiffness: must be from 0.001 to 1e+09"},
        {"\"contact\": {\"friction\": -1},\n", "",
         "s.json:4:25: contact.friction: must be from 0 to 10"},
        {"\"contact\": {\"onset\": -1},\n", "",
         "s.json:4:22: contact.onset: must be from 0 to 1 m"},
        {"\"contact\": {\"clearance\": 1},\n", "",
         "s.json:4:26: contact.clearance: is called \"onset\" now"},
        {"\"contact\": {\"layer\": 1},\n", "",
         "s.json:4:13: contact.layer: unknown key; known here are engine, force_layer, displace, "
         "model, "
         "stiffness, friction, restitution, tests, onset, strength, overlap, awareness, marks, "
         "range, "
         "probe"},
        {"\"contact\": {\"marks\": 3},\n", "", "s.json:4:22: contact.marks: must be 2, 4 or 8"},
        {"\"contact\": {\"range\": 20},\n", "",
         "s.json:4:22: contact.range: is for marks of 8 bits: add \"marks\": 8"},
        {"\"contact\": \"sphere\",\n", "",
         "s.json:4:12: contact: must be \"shell\" or \"spheres\" or \"exact\" or \"coherent\""},
        {"\"camera\": {\"eye\": [1, 1, 1]},\n", "", "s.json:4:11: camera: \"target\" is missing"},
        {"\"unit\": true,\n", "",
         "s.json:4:9: unit: must be the name of a unit or its length in metres, not true or false"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_error(cases[i].root, cases[i].part, cases[i].wanted);
    }
}

static void syntax_is_reported_with_line_and_column(void **state)
{
    (void)state;
    const struct {
        const char *text, *wanted;
    } cases[] = {
        {"", "s.json:1:1: not JSON: "},
        {"{\n\"feeler\": 1,,\n}", "s.json:2:13: not JSON: "},
        {"{\n  \"a\": 1,\n  \"a\": 2}", "s.json:3:5: not JSON: duplicate object key"},
        {"{ \"voxel\": 1e999 }", "s.json:1:16: not JSON: real number overflow"},
        {"{ \"voxel\": NaN }", "s.json:1:"},
        {"{ \"name\": \"\\u0000\" }", "s.json:1:"},
        {"{ \"name\": \"\xFF\" }", "s.json:1:"},
        {"[1]", "s.json:1:1: must be an object, not an array"},
        {"{}", "s.json:1:1: \"feeler\" is missing"},
        {"{\"feeler\": 2, \"new\": 1}", "s.json:1:12: feeler: this feeler reads scene format 1"},
        {"{\"feeler\": \"1\", \"name\": \"n\", \"parts\": []}",
         "s.json:1:12: feeler: must be a number"},
        {"{\"feeler\": 1, \"name\": \"n\", \"parts\": []}",
         "s.json:1:37: parts: must have at least 1 element"},
        {"{\"feeler\": 1, \"name\": \"n\", \"parts\": {}}", "s.json:1:37: parts: must be an array"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        flr_error error = {0};
        flr_scene *scene = NULL;
        assert_int_equal(
            flr_scene_parse("s.json", cases[i].text, strlen(cases[i].text), &scene, &error),
            FLR_BAD_INPUT);
        assert_null(scene);
        if (strncmp(error.message, cases[i].wanted, strlen(cases[i].wanted)) != 0)
            fail_msg("%s\n   instead of %s", error.message, cases[i].wanted);
    }
}

static void cut_off_anywhere_it_is_refused(void **state)
{
    (void)state;
    size_t size = strlen(everything);
    for (size_t cut = 0; cut + 2 < size; cut++) {
        flr_error error;
        flr_scene *scene = NULL;
        assert_int_equal(flr_scene_parse("s.json", everything, cut, &scene, &error), FLR_BAD_INPUT);
        assert_int_equal(strncmp(error.message, "s.json:", 7), 0);
    }
}

static void print_equal(const flr_scene *a, const flr_scene *b)
{
    flr_error error;
    flr_blob one, other;
    assert_ok(flr_scene_print(a, &one, &error), error);
    assert_ok(flr_scene_print(b, &other, &error), error);
    assert_int_equal(one.size, other.size);
    assert_memory_equal(one.bytes, other.bytes, one.size);
    flr_blob_free(&one);
    flr_blob_free(&other);
}

static void written_as_expected(void **state)
{
    (void)state;
    flr_scene *scene = parse(everything);
    flr_blob text;
    flr_error error;
    assert_ok(flr_scene_print(scene, &text, &error), error);
    const char *wanted =
        "{\n"
        "  \"feeler\": 1,\n"
        "  \"name\": \"K\xC3\xBChler\",\n"
        "  \"description\": \"all there is\",\n"
        "  \"unit\": \"mm\",\n"
        "  \"voxel\": 0.35,\n"
        "  \"gravity\": [0, 0, -9.81],\n"
        "  \"contact\": { \"force_layer\": 0, \"displace\": -0.2, \"model\": \"smooth\", "
        "\"stiffness\": 500, \"friction\": 0.3, \"awareness\": true },\n"
        "  \"parts\": [\n"
        "    { \"name\": \"socket\",\n"
        "      \"file\": \"socket.stl\",\n"
        "      \"hollow\": true },\n"
        "    { \"name\": \"ball\",\n"
        "      \"file\": \"../ball.stp\",\n"
        "      \"group\": \"b\",\n"
        "      \"unit\": \"in\",\n"
        "      \"pose\": {\"position\": [1, 20, -3.5], \"orientation\": [0.7071067811865476, 0, "
        "0.7071067811865476, 0]},\n"
        "      \"moving\": true,\n"
        "      \"colour\": \"#ff8000\",\n"
        "      \"voxel\": 0.25,\n"
        "      \"density\": 7850 },\n"
        "    { \"name\": \"nut\",\n"
        "      \"file\": \"nut.stl\",\n"
        "      \"unit\": 0.5,\n"
        "      \"mass\": 0.02 }\n"
        "  ],\n"
        "  \"paths\": [\n"
        "    { \"name\": \"in\", \"part\": \"ball\", \"poses\": \"in.txt\" }\n"
        "  ],\n"
        "  \"camera\": { \"eye\": [100, 100, 100], \"target\": [0, 0, 0], \"up\": [0, 0, 1] }\n"
        "}\n";
    assert_string_equal((const char *)text.bytes, wanted);
    flr_scene *back = parse((const char *)text.bytes);
    print_equal(scene, back);
    flr_scene *copy;
    assert_ok(flr_scene_copy(scene, &copy, &error), error);
    print_equal(scene, copy);
    assert_null(copy->path);
    flr_scene_destroy(copy);
    flr_scene_destroy(back);
    flr_scene_destroy(scene);
    flr_blob_free(&text);
}

/* numbers of all sizes in all units come back within one unit in the last place, and reading and
 * writing again changes nothing */
static void what_is_written_is_read(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("what_is_written_is_read");
    const double units[] = {1, 0.001, 0.01, 0.0254, 0.3048, 1e-6, 0.7};
    for (int i = 0; i < 500; i++) {
        flr_scene_part part = flr_default_scene_part();
        part.name = "a \"quoted\" \\ name", part.file = "\xC3\xA4/b.stl";
        double value = ldexp(flr_test_random_range(&random, -1, 1),
                             (int)flr_test_random_below(&random, 60) - 40);
        part.T_world_part.p = (flr_vec3){value, -value, 1};
        double angle = flr_test_random_range(&random, -4, 4),
               tilt = flr_test_random_range(&random, 0, 4);
        part.T_world_part.q =
            (flr_quat){cos(angle), sin(angle) * cos(tilt), sin(angle) * sin(tilt), 0};
        part.moving = flr_test_random_below(&random, 2);
        part.colour = flr_test_random_below(&random, 0x1000000);
        part.voxel = fabs(value);
        flr_scene scene = flr_default_scene();
        scene.name = "n", scene.unit = units[flr_test_random_below(&random, 7)];
        scene.parts = &part, scene.part_count = 1;
        scene.local_haptics = i % 2;
        scene.devices = (flr_scene_devices)(i % 3);
        scene.barrier = i % 2 == 0;
        scene.contact.marks = i % 3 == 0 ? 2 : i % 3 == 1 ? 4 : 8;
        scene.contact.range = i % 3 == 2 ? 20 : scene.contact.range;
        scene.contact.probe = (flr_probe_method)(i % 4);
        scene.contact.awareness = i % 5 == 0;

        flr_error error;
        flr_scene *first, *second;
        assert_ok(flr_scene_copy(&scene, &first, &error), error);
        assert_ok(flr_scene_copy(first, &second, &error), error);
        double got = first->parts[0].T_world_part.p.x;
        assert_le(fabs(got - value), fabs(value) * 0x1p-52);
        assert_string_equal(first->parts[0].name, part.name);
        assert_int_equal(first->parts[0].colour, part.colour);
        assert_int_equal(first->local_haptics, i % 2);
        assert_int_equal(first->devices, scene.devices);
        assert_int_equal(first->barrier, scene.barrier);
        assert_int_equal(first->contact.marks, scene.contact.marks);
        assert_int_equal(first->contact.range, scene.contact.range);
        assert_int_equal(first->contact.probe, scene.contact.probe);
        print_equal(first, second);
        flr_scene_destroy(first);
        flr_scene_destroy(second);
    }
}

static void what_the_reader_refuses_is_not_written(void **state)
{
    (void)state;
    flr_error error;
    flr_blob text;
    flr_scene_part part = flr_default_scene_part();
    flr_scene scene = flr_default_scene();
    scene.name = "n";
    assert_int_equal(flr_scene_print(&scene, &text, &error), FLR_BAD_ARGUMENT); // no part
    scene.parts = &part, scene.part_count = 1;
    assert_int_equal(flr_scene_print(&scene, &text, &error), FLR_BAD_ARGUMENT); // no name
    part.name = "a", part.file = "\xFF";
    assert_int_equal(flr_scene_print(&scene, &text, &error), FLR_BAD_ARGUMENT); // not UTF-8
    part.file = "a.stl", part.voxel = NAN;
    assert_int_equal(flr_scene_print(&scene, &text, &error), FLR_BAD_ARGUMENT);
    part.voxel = -1;
    assert_int_equal(flr_scene_print(&scene, &text, &error), FLR_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "parts[0].voxel: must be greater than 0"));
    part.voxel = 0, part.colour = 0x1234567;
    assert_int_equal(flr_scene_print(&scene, &text, &error), FLR_BAD_ARGUMENT);
    part.colour = 0, scene.unit = 0;
    assert_int_equal(flr_scene_print(&scene, &text, &error), FLR_BAD_ARGUMENT);
    scene.unit = 1;
    assert_ok(flr_scene_print(&scene, &text, &error), error);
    flr_blob_free(&text);
}

static void files_beside_the_scene(void **state)
{
    (void)state;
    const struct {
        const char *scene, *file, *wanted;
    } cases[] = {{"a/b/s.json", "p.stl", "a/b/p.stl"},   {"s.json", "p.stl", "p.stl"},
                 {"a/s.json", "/x/p.stl", "/x/p.stl"},   {NULL, "p.stl", "p.stl"},
                 {"a/s.json", "../p.stl", "a/../p.stl"}, {"/s.json", "p", "/p"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        flr_scene scene = flr_default_scene();
        scene.path = cases[i].scene;
        char *path = flr_scene_file(&scene, cases[i].file);
        assert_string_equal(path, cases[i].wanted);
        free(path);
    }
}

static void through_files(void **state)
{
    (void)state;
    flr_env *env = flr_env_real();
    flr_error error;
    char *folder = flr_test_folder(), path[600], mesh_path[600];
    snprintf(path, sizeof path, "%s/scene.json", folder);
    snprintf(mesh_path, sizeof mesh_path, "%s/two.obj", folder);
    FILE *obj = fopen(mesh_path, "w");
    fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\ng left\nf 1 2 3\ng right\nf 1 2 4\nf 1 3 4\n", obj);
    fclose(obj);

    flr_scene_part parts[4];
    for (int i = 0; i < 4; i++) parts[i] = flr_default_scene_part();
    parts[0].name = "all", parts[0].file = "two.obj", parts[0].unit = 1;
    parts[1].name = "right", parts[1].file = "two.obj", parts[1].group = "right";
    parts[2].name = "wrong", parts[2].file = "two.obj", parts[2].group = "rihgt";
    parts[3].name = "none", parts[3].file = "none.stl";
    flr_scene scene = flr_default_scene(), *back = NULL;
    scene.name = "n", scene.parts = parts, scene.part_count = 4;
    assert_ok(flr_scene_write(env, path, &scene, &error), error);
    assert_ok(flr_scene_read(env, path, &back, &error), error);
    print_equal(&scene, back);
    assert_string_equal(back->path, path);

    flr_mesh *mesh = NULL;
    assert_ok(flr_scene_load_part(env, back, 0, NULL, &mesh, NULL, &error), error);
    assert_int_equal(mesh->triangle_count, 3);
    assert_eq(mesh->bounds.high.x, 1);
    flr_mesh_destroy(mesh);
    assert_ok(flr_scene_load_part(env, back, 1, NULL, &mesh, NULL, &error), error);
    assert_int_equal(mesh->triangle_count, 2);
    assert_eq(mesh->bounds.high.x, 0.001);
    flr_mesh_destroy(mesh);

    // parts that are groups of one file open it once; the other unit is another opening
    flr_scene_loader loader = flr_scene_loader_begin(env, back, NULL);
    assert_ok(flr_scene_loader_load(&loader, 1, &mesh, NULL, &error), error);
    flr_mesh_destroy(mesh);
    const flr_mesh *kept = loader.mesh;
    assert_non_null(kept);
    assert_int_equal(flr_scene_loader_load(&loader, 2, &mesh, NULL, &error), FLR_NOT_FOUND);
    assert_ptr_equal(loader.mesh, kept);
    assert_int_equal(rename(mesh_path, path), 0); // there is nothing to open any more
    assert_ok(flr_scene_loader_load(&loader, 1, &mesh, NULL, &error), error);
    assert_int_equal(mesh->triangle_count, 2);
    flr_mesh_destroy(mesh);
    assert_int_equal(flr_scene_loader_load(&loader, 0, &mesh, NULL, &error), FLR_NOT_FOUND);
    assert_int_equal(rename(path, mesh_path), 0);
    assert_ok(flr_scene_loader_load(&loader, 0, &mesh, NULL, &error), error);
    assert_eq(mesh->bounds.high.x, 1);
    flr_mesh_destroy(mesh);
    flr_scene_loader_end(&loader);

    // the sentence says which part, and where it stands in which scene
    mesh = NULL;
    char wanted[700];
    assert_int_equal(flr_scene_load_part(env, back, 2, NULL, &mesh, NULL, &error), FLR_NOT_FOUND);
    snprintf(wanted, sizeof wanted, "%s:12:5: part \"wrong\": ", path);
    assert_int_equal(strncmp(error.message, wanted, strlen(wanted)), 0);
    assert_non_null(strstr(error.message, "did you mean \"right\"?"));
    assert_int_equal(flr_scene_load_part(env, back, 3, NULL, &mesh, NULL, &error), FLR_NOT_FOUND);
    snprintf(wanted, sizeof wanted, "%s:15:5: part \"none\": ", path);
    assert_int_equal(strncmp(error.message, wanted, strlen(wanted)), 0);
    assert_non_null(strstr(error.message, "none.stl"));
    assert_null(mesh);
    flr_scene_destroy(back);

    assert_int_equal(flr_scene_read(env, folder, &back, &error), FLR_BAD_INPUT);
    snprintf(path, sizeof path, "%s/nowhere.json", folder);
    assert_int_equal(flr_scene_read(env, path, &back, &error), FLR_NOT_FOUND);
    flr_test_folder_remove(folder);
}

/* ---- hands ---- */

/* what a review has added comes back as it went */
static void allowed_pairs_and_notes(void **state)
{
    (void)state;
    const flr_scene_part parts[] = {{.name = "a", .file = "a.stl", .T_world_part.q.w = 1},
                                    {.name = "b", .file = "b.stl", .T_world_part.q.w = 1}};
    const flr_scene_allow allow[] = {{"a", "b"}, {"bolt*", "*"}};
    const flr_scene_note notes[] = {{"check it", "b", {0.001, 0.002, 0.003}},
                                    {"\xe2\x80\x9chere\xe2\x80\x9d", NULL, {0, 0, 1}}};
    flr_scene scene = flr_default_scene(), *back;
    flr_blob text;
    flr_error error;
    scene.name = "n", scene.unit = 0.001, scene.parts = parts, scene.part_count = 2;
    scene.allow = allow, scene.allow_count = 2, scene.notes = notes, scene.note_count = 2;
    assert_ok(flr_scene_print(&scene, &text, &error), error);
    assert_ok(flr_scene_parse("s.json", text.bytes, text.size, &back, &error), error);
    assert_int_equal(back->allow_count, 2);
    assert_string_equal(back->allow[1].a, "bolt*");
    assert_string_equal(back->allow[1].b, "*");
    assert_int_equal(back->note_count, 2);
    assert_string_equal(back->notes[0].part, "b");
    assert_eq(back->notes[0].position.z, 0.003);
    assert_string_equal(back->notes[1].text, notes[1].text);
    assert_null(back->notes[1].part);
    flr_scene_destroy(back);
    flr_blob_free(&text);
}

static void hands_are_read_and_written(void **state)
{
    (void)state;
    flr_scene_part part = flr_default_scene_part();
    part.name = "a", part.file = "a.stl";
    const flr_scene_hand hands[2] = {
        {.tool = FLR_TOOL_POINT, .placed = true, .position = {1, 2, 3}}, {.tool = FLR_TOOL_GRIP}};
    flr_scene scene = flr_default_scene();
    scene.name = "s", scene.parts = &part, scene.part_count = 1;
    scene.hands = hands, scene.hand_count = 2;
    flr_scene *copy;
    flr_error error;
    assert_int_equal(flr_scene_copy(&scene, &copy, &error), FLR_OK);
    assert_int_equal(copy->hand_count, 2);
    assert_int_equal(copy->hands[0].tool, FLR_TOOL_POINT);
    assert_true(copy->hands[0].placed);
    assert_eq(copy->hands[0].position.z, 3);
    assert_int_equal(copy->hands[1].tool, FLR_TOOL_GRIP);
    assert_false(copy->hands[1].placed);
    flr_scene_destroy(copy);

    static const char *const wrong[][2] = {
        {"{}", "must be an array"},
        {"[{}]", "tool"},
        {"[{\"tool\": \"hook\"}]", "hands[0].tool"},
        {"[{\"tool\": \"point\", \"position\": [1, 2]}]", "hands[0].position"},
        {"[1, 2, 3, 4, 5, 6, 7, 8, 9]", "at most 8"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[256];
        int size =
            snprintf(text, sizeof text,
                     "{\"feeler\": 1, \"name\": \"s\", \"parts\": [{\"name\": \"a\", \"file\": "
                     "\"a.stl\"}], \"hands\": %s}",
                     wrong[i][0]);
        assert_int_equal(flr_scene_parse("s.json", text, (size_t)size, &copy, &error),
                         FLR_BAD_INPUT);
        if (!strstr(error.message, wrong[i][1])) fail_msg("%s: %s", wrong[i][0], error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_scene),
        cmocka_unit_test(all_fields),
        cmocka_unit_test(the_engine_of_contact),
        cmocka_unit_test(the_exact_engine),
        cmocka_unit_test(meaning_is_checked_with_line_and_column),
        cmocka_unit_test(syntax_is_reported_with_line_and_column),
        cmocka_unit_test(cut_off_anywhere_it_is_refused),
        cmocka_unit_test(written_as_expected),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(what_the_reader_refuses_is_not_written),
        cmocka_unit_test(files_beside_the_scene),
        cmocka_unit_test(through_files),
        cmocka_unit_test(allowed_pairs_and_notes),
        cmocka_unit_test(hands_are_read_and_written),
    };
    return cmocka_run_group_tests_name("scene", tests, NULL, NULL);
}
