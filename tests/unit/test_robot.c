/* robot descriptions: links become parts, joints become joints; what makes no sense is refused in a sentence */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scene/robot_build.h"
#include "scene/scene_joint.h"
#include "support/fixtures.h"
#include "support/test.h"

static flr_error error;
static char folder[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/flr_robot_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

/* Writes a description and imports it. */
static flr_result import(const char *name, const char *text, flr_scene **scene, char **notes)
{
    char file[96], out[96];
    const char *files[1] = {file};
    snprintf(file, sizeof file, "%s/%s", folder, name);
    snprintf(out, sizeof out, "%s/out.json", folder);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    flr_scene_import_def def = {.env = flr_env_real(),
                                .files = files,
                                .file_count = 1,
                                .out = out,
                                .options = flr_default_mesh_options()};
    flr_scene_import_report report = {0};
    flr_result result = flr_scene_import(&def, &report, &error);
    if (result == FLR_OK && scene) result = flr_scene_read(flr_env_real(), out, scene, &error);
    if (notes)
        *notes = report.notes;
    else
        free(report.notes);
    return result;
}

static const char arm[] =
    "<?xml version='1.0'?>\n<!-- an arm --><robot name='arm'>\n"
    "<material name='red'><color rgba='1 0 0 1'/></material>"
    "<link name='base'><visual><geometry><box size='0.2 0.2 0.1'/></geometry></visual></link>\n"
    "<link name='upper'><inertial><mass value='2'/></inertial>"
    "<visual><origin xyz='0 0 0.15'/><geometry><cylinder radius='0.03' "
    "length='0.3'/></geometry><material name='red'/></visual>"
    "<visual><geometry><sphere radius='0.04'/></geometry></visual></link>\n"
    "<link name='hand'><collision><geometry><box size='0.05 0.05 "
    "0.05'/></geometry></collision></link><link name='tool'/>\n"
    "<joint name='shoulder' type='revolute'><parent link='base'/><child link='upper'/>"
    "<origin xyz='0 0 0.05' rpy='0 0 1.5707963267948966'/><axis xyz='1 0 0'/><limit lower='-1' "
    "upper='2'/>"
    "<dynamics friction='0.5' damping='0.1'/></joint>\n"
    "<joint name='slide' type='prismatic'><parent link='upper'/><child link='hand'/><origin xyz='0 "
    "0 0.3'/>"
    "<axis xyz='0 0 1'/><limit lower='0' upper='0.1'/></joint>"
    "<joint name='flange' type='fixed'><parent link='hand'/><child link='tool'/></joint></robot>\n";

static void reads_urdf(void **state)
{
    (void)state;
    flr_scene *scene;
    assert_ok(import("arm.urdf", arm, &scene, NULL), error);
    assert_int_equal(scene->part_count, 5);
    assert_int_equal(scene->joint_count, 3);
    assert_int_equal(scene->group_count, 1); /* the upper arm has two shapes */
    assert_true(scene->groups[0].rigid);
    assert_false(scene->parts[0].moving);
    assert_true(scene->parts[1].moving);
    assert_int_equal(scene->parts[1].colour, 0xff0000);
    assert_within(scene->parts[1].mass, 1, 1e-12);
    assert_true(scene->parts[4].hidden); /* the tool has no shape */
    const flr_joint *shoulder = NULL, *slide = NULL;
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(scene->joints[i].name, "shoulder") == 0) shoulder = &scene->joints[i].joint;
        if (strcmp(scene->joints[i].name, "slide") == 0) slide = &scene->joints[i].joint;
    }
    assert_non_null(shoulder);
    assert_non_null(slide);
    assert_within(shoulder->point.z, 0.05, 1e-12);
    assert_within(shoulder->axis.y, 1, 1e-9); /* turned with the frame */
    assert_within(shoulder->turn.low, -1, 1e-9);
    assert_within(shoulder->turn.friction, 0.5, 1e-12);
    assert_within(slide->point.z, 0.35, 1e-12);
    assert_within(slide->slide.high, 0.1, 1e-12);
    flr_mechanism *m;
    assert_ok(flr_scene_mechanism(scene, &m, &error), error);
    assert_int_equal(m->islands[0].freedoms, 2);
    flr_mechanism_destroy(m);
    /* its meshes are there */
    flr_mesh *mesh;
    assert_ok(flr_scene_load_part(flr_env_real(), scene, 0, NULL, &mesh, NULL, &error), error);
    assert_within(flr_box3_size(mesh->bounds).x, 0.2, 1e-9);
    flr_mesh_destroy(mesh);
    flr_scene_destroy(scene);
}

static const char bars[] =
    "<mujoco><compiler angle='degree'/><default><joint damping='0.2'/><default class='thin'><geom "
    "size='0.01'/></default></default>"
    "<worldbody><geom type='plane' size='1 1 1'/><geom type='box' size='0.1 0.1 0.01'/>"
    "<body name='crank' pos='0 0 0.1'><joint name='j1' type='hinge' axis='0 1 0' range='-90 90'/>"
    "<geom class='thin' type='capsule' fromto='0 0 0 0 0 0.1'/>"
    "<body name='coupler' pos='0 0 0.1' euler='0 90 0'><joint name='j2' axis='0 1 0'/>"
    "<geom type='cylinder' size='0.01 0.05' pos='0 0 0.05'/></body></body>"
    "<body name='puck' pos='0.5 0 0.1'><freejoint/><geom type='sphere' size='0.02'/></body>"
    "</worldbody><equality><connect body1='coupler' anchor='0 0 0.1'/></equality></mujoco>";

static void reads_mjcf(void **state)
{
    (void)state;
    flr_scene *scene;
    char *notes = NULL;
    assert_ok(import("bars.xml", bars, &scene, &notes), error);
    assert_non_null(notes);
    assert_non_null(strstr(notes, "plane is left out"));
    free(notes);
    assert_int_equal(scene->part_count, 4);
    assert_int_equal(scene->joint_count, 3);
    assert_int_equal(scene->joints[0].joint.kind, FLR_JOINT_REVOLUTE);
    assert_within(scene->joints[0].joint.turn.high, 3.14159265358979 / 2, 1e-9);
    assert_within(scene->joints[0].joint.turn.damping, 0.2, 1e-12); /* by default */
    assert_int_equal(scene->joints[2].joint.kind, FLR_JOINT_BALL);
    assert_within(scene->joints[2].joint.point.x, 0.1, 1e-9);
    assert_within(scene->joints[2].joint.point.z, 0.2, 1e-9);
    flr_mechanism *m;
    assert_ok(flr_scene_mechanism(scene, &m, &error), error);
    uint32_t loops = 0;
    for (uint32_t i = 0; i < m->island_count; i++) loops += m->islands[i].loop_count;
    assert_int_equal(loops, 1);
    flr_mechanism_destroy(m);
    flr_scene_destroy(scene);
}

static void refuse(const char *text, const char *says)
{
    assert_int_not_equal(import("bad.urdf", text, NULL, NULL), FLR_OK);
    if (!strstr(error.message, says)) fail_msg("\"%s\" does not say \"%s\"", error.message, says);
    assert_non_null(strstr(error.message, "bad.urdf"));
}

#define LINK(name) "<link name='" name "'/>"
#define JOINT(a, b, more)                                                                          \
    "<joint name='j' type='revolute'><parent link='" a "'/><child link='" b "'/>" more "</joint>"

static void refuses_nonsense(void **state)
{
    (void)state;
    refuse("", "no element");
    refuse("<robot>", "ends before");
    refuse("<robot></link>", "ends before those in it");
    refuse("<!DOCTYPE x [<!ENTITY a 'b'>]><robot/>", "document types");
    refuse("<robot a='&x;'/>", "entities");
    refuse("<robot a=1/>", "quotation marks");
    refuse("<sdf/>", "neither URDF nor MJCF");
    refuse("<robot/>", "the robot has no links");
    refuse("<robot>" JOINT("a", "b", "") "</robot>", "the robot has no links");
    refuse("<robot><xacro:macro/></robot>", "xacro");
    refuse("<robot>" LINK("a") LINK("b") "</robot>", "one is the base");
    refuse("<robot>" LINK("a") JOINT("a", "b", "") "</robot>", "no link \"b\"");
    refuse("<robot>" LINK("a") LINK("b") JOINT("a", "b", "") JOINT("b", "a", "") "</robot>",
           "cycle");
    refuse("<robot>" LINK("a") LINK("b") LINK("c") JOINT("b", "c", "")
               JOINT("c", "b", "") "</robot>",
           "from the root to link \"b\"");
    refuse("<robot>" LINK("a") LINK("b")
               JOINT("a", "b", "<limit lower='1' upper='-1'/>") "</robot>",
           "reversed");
    refuse("<robot>" LINK("a") LINK("b") JOINT("a", "b", "<axis xyz='0 0 0'/>") "</robot>",
           "axis of a joint is zero");
    refuse("<robot>" LINK("a") LINK("b") JOINT("a", "b", "<axis xyz='0 0'/>") "</robot>",
           "3 numbers");
    refuse("<robot><link name='a'><visual><geometry><mesh "
           "filename='nowhere.stl'/></geometry></visual></link></robot>",
           "\"nowhere.stl\" is not there");
    refuse("<robot><link name='a'><visual><geometry><box size='1 -1 "
           "1'/></geometry></visual></link></robot>",
           "size above 0");
    refuse("<mujoco/>", "worldbody");
    refuse("<robot>\n<link name='\xe4'/></robot>", "bad.urdf:2: is no text in UTF-8");
    refuse("<robot>\x01</robot>", "bad.urdf:1: is no text in UTF-8");
}

/* `before`, `middle` so many times, `after` */
static char *repeat(const char *before, const char *middle, int times, const char *after)
{
    char *text = malloc(strlen(before) + strlen(middle) * (size_t)times + strlen(after) + 1);
    assert_non_null(text);
    char *at = text + sprintf(text, "%s", before);
    for (int i = 0; i < times; i++) at += sprintf(at, "%s", middle);
    sprintf(at, "%s", after);
    return text;
}

/* much of anything takes neither long nor much memory */
static void bears_large_files(void **state)
{
    (void)state;
    static const char shape[] = "<visual><geometry><sphere radius='0.04'/></geometry></visual>";
    char *text = repeat("<robot><link name='a'>", shape, 4097, "</link></robot>");
    refuse(text, "more than 4096 shapes");
    free(text);
    text = repeat("<robot>", "<link name='a'/>", 2001, "</robot>");
    refuse(text, "more than 2000 elements \"link\"");
    free(text);
    text = repeat("<mujoco><worldbody>", "<body/>", 2001, "</worldbody></mujoco>");
    refuse(text, "more than 2000 links");
    free(text);
    text = repeat("<mujoco><worldbody><body name='a'><freejoint/></body></worldbody><equality>",
                  "<weld body1='a'/>", 4097, "</equality></mujoco>");
    refuse(text, "more than 4096 joints");
    free(text);
    text = repeat("<mujoco>", "<default/>", 1001, "<worldbody/></mujoco>");
    refuse(text, "more than 1000 classes of defaults");
    free(text);
    /* what is left out is listed up to a limit */
    text = repeat("<mujoco><worldbody><body/></worldbody><equality>", "<tendon/>", 50000,
                  "</equality></mujoco>");
    char *notes = NULL;
    assert_ok(import("long.xml", text, NULL, &notes), error);
    assert_lt(strlen(notes), 40000);
    assert_non_null(strstr(notes, "there is more"));
    free(notes);
    free(text);
}

/* links of one name, and parts that would be called as a link is */
static void names_all_apart(void **state)
{
    (void)state;
    flr_scene *scene;
    assert_ok(import("names.xml",
                     "<mujoco><worldbody><body name='a:3'/><body name='a'/><body name='a'/>"
                     "<body name='a'/></worldbody></mujoco>",
                     &scene, NULL),
              error);
    assert_int_equal(scene->part_count, 4);
    const char *const names[] = {"a:3", "a", "a:2", "a:4"};
    for (size_t i = 0; i < 4; i++) assert_string_equal(scene->parts[i].name, names[i]);
    flr_scene_destroy(scene);
    assert_ok(import("parts.urdf",
                     "<robot><link name='a'><visual><geometry><sphere radius='1'/></geometry>"
                     "</visual><visual><geometry><box size='1 1 1'/></geometry></visual></link>"
                     "<link name='a:1'/><joint type='fixed'><parent link='a'/><child link='a:1'/>"
                     "</joint></robot>",
                     &scene, NULL),
              error);
    assert_string_equal(scene->parts[0].name, "a:2");
    assert_string_equal(scene->parts[1].name, "a:3");
    assert_string_equal(scene->parts[2].name, "a:1");
    flr_scene_destroy(scene);
}

/* cut off anywhere, or changed anywhere, it is read or refused: nothing else */
static void bears_damage(void **state)
{
    (void)state;
    char text[sizeof arm];
    flr_xml xml;
    unsigned seed = 7;
    for (size_t i = 0; i < sizeof arm; i++)
        if (flr_xml_parse("x", arm, i, &xml, &error) == FLR_OK) flr_xml_free(&xml);
    for (int i = 0; i < 20000; i++) {
        memcpy(text, arm, sizeof arm);
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525 + 1013904223;
            text[(seed >> 8) % (sizeof arm - 1)] = "<>/='\"& a\n"[(seed >> 4) % 10];
        }
        if (flr_xml_parse("x", text, sizeof arm - 1, &xml, &error) != FLR_OK) continue;
        for (uint32_t e = 0; e < xml.count; e++) assert_true(xml.elements[e].parent < e || e == 0);
        flr_xml_free(&xml);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_urdf),        cmocka_unit_test(reads_mjcf),
        cmocka_unit_test(refuses_nonsense),  cmocka_unit_test(bears_damage),
        cmocka_unit_test(bears_large_files), cmocka_unit_test(names_all_apart),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
