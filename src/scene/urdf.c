/* robot descriptions of ROS: URDF */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene/robot_build.h"

/* Roll, pitch and yaw about fixed axes. */
static flr_quat from_rpy(const double rpy[3])
{
    const flr_quat x = flr_quat_from_axis_angle(flr_vec3_make(1, 0, 0), rpy[0]),
                   y = flr_quat_from_axis_angle(flr_vec3_make(0, 1, 0), rpy[1]),
                   z = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), rpy[2]);
    return flr_quat_normalize(flr_quat_mul(z, flr_quat_mul(y, x)));
}

static bool read_origin(const flr_robot *r, uint32_t element, flr_pose *T)
{
    const uint32_t origin = flr_xml_child(r->xml, element, "origin");
    double p[3] = {0}, rpy[3] = {0};
    *T = flr_pose_identity();
    if (origin == FLR_XML_NONE) return true;
    if (!flr_robot_numbers(r, origin, flr_xml_get(r->xml, origin, "xyz"), p, 3) ||
        !flr_robot_numbers(r, origin, flr_xml_get(r->xml, origin, "rpy"), rpy, 3))
        return false;
    *T = flr_pose_make(flr_vec3_make(p[0], p[1], p[2]), from_rpy(rpy));
    return true;
}

/* A colour given here, or by a material of that name anywhere in the file. */
static uint32_t read_colour(const flr_robot *r, uint32_t visual)
{
    const flr_xml *x = r->xml;
    const uint32_t material = flr_xml_child(x, visual, "material");
    if (material == FLR_XML_NONE) return FLR_SCENE_NO_COLOUR;
    uint32_t colour = flr_xml_child(x, material, "color");
    const char *name = flr_xml_get(x, material, "name");
    for (uint32_t m = flr_xml_child(x, 0, "material");
         colour == FLR_XML_NONE && name && m != FLR_XML_NONE;
         m = flr_xml_sibling(x, m, "material")) {
        const char *other = flr_xml_get(x, m, "name");
        if (other && strcmp(other, name) == 0) colour = flr_xml_child(x, m, "color");
    }
    double rgba[4] = {0.5, 0.5, 0.5, 1};
    if (colour == FLR_XML_NONE ||
        !flr_robot_numbers(r, colour, flr_xml_get(x, colour, "rgba"), rgba, 4))
        return FLR_SCENE_NO_COLOUR;
    uint32_t packed = 0;
    for (int i = 0; i < 3; i++)
        packed = packed << 8 | (uint32_t)lround(255 * fmin(fmax(rgba[i], 0), 1));
    return packed;
}

static bool read_shape(flr_robot *r, uint32_t geometry, flr_mesh **mesh)
{
    const flr_xml *x = r->xml;
    const uint32_t shape = flr_xml_child(x, geometry, NULL);
    if (shape == FLR_XML_NONE) return flr_robot_fail(r, geometry, "a geometry has no shape");
    const char *kind = flr_xml_name(x, shape);
    double size[3] = {0}, scale[3] = {1, 1, 1}, radius = 0, length = 0;
    if (strcmp(kind, "mesh") == 0) {
        const char *file = flr_xml_get(x, shape, "filename");
        if (!file) return flr_robot_fail(r, shape, "a mesh needs a filename");
        return flr_robot_numbers(r, shape, flr_xml_get(x, shape, "scale"), scale, 3) &&
               flr_robot_load(r, shape, file, flr_vec3_make(scale[0], scale[1], scale[2]), mesh);
    }
    if (!flr_robot_numbers(r, shape, flr_xml_get(x, shape, "size"), size, 3) ||
        !flr_robot_numbers(r, shape, flr_xml_get(x, shape, "radius"), &radius, 1) ||
        !flr_robot_numbers(r, shape, flr_xml_get(x, shape, "length"), &length, 1))
        return false;
    const bool box = strcmp(kind, "box") == 0, ball = strcmp(kind, "sphere") == 0;
    const bool rod = strcmp(kind, "cylinder") == 0, capsule = strcmp(kind, "capsule") == 0;
    if (box && size[0] > 0 && size[1] > 0 && size[2] > 0)
        return flr_robot_box(r, flr_vec3_make(size[0], size[1], size[2]), mesh);
    if ((ball || rod || capsule) && radius > 0 && (ball || length > 0))
        return flr_robot_round(r, radius, ball ? 0 : length, !rod, mesh);
    return flr_robot_fail(r, shape, "<%.40s> is no shape with a size above 0", kind);
}

/* What is seen of a link; where nothing is, what touches. */
static bool read_shapes(flr_robot *r, uint32_t element, uint32_t link)
{
    const char *what =
        flr_xml_child(r->xml, element, "visual") != FLR_XML_NONE ? "visual" : "collision";
    for (uint32_t v = flr_xml_child(r->xml, element, what); v != FLR_XML_NONE;
         v = flr_xml_sibling(r->xml, v, what)) {
        const uint32_t geometry = flr_xml_child(r->xml, v, "geometry");
        flr_pose T;
        flr_mesh *mesh;
        if (geometry == FLR_XML_NONE) return flr_robot_fail(r, v, "a %s has no geometry", what);
        if (!read_origin(r, v, &T) || !read_shape(r, geometry, &mesh) ||
            !flr_robot_add_part(r, link, mesh, T, read_colour(r, v)))
            return false;
    }
    const uint32_t inertial = flr_xml_child(r->xml, element, "inertial");
    const uint32_t mass =
        inertial == FLR_XML_NONE ? inertial : flr_xml_child(r->xml, inertial, "mass");
    double kg = 0;
    if (mass != FLR_XML_NONE &&
        !flr_robot_numbers(r, mass, flr_xml_get(r->xml, mass, "value"), &kg, 1))
        return false;
    r->links[link].mass = kg > 0 ? kg : 0;
    return true;
}

/* The name at one end of a joint. */
static const char *end_of(const flr_robot *r, uint32_t joint, const char *which)
{
    const uint32_t end = flr_xml_child(r->xml, joint, which);
    return end == FLR_XML_NONE ? NULL : flr_xml_get(r->xml, end, "link");
}

static bool read_motion(const flr_robot *r, uint32_t element, flr_joint *j)
{
    static const struct {
        const char *name;
        flr_joint_kind kind;
    } kinds[] = {{"fixed", FLR_JOINT_FIXED},         {"revolute", FLR_JOINT_REVOLUTE},
                 {"continuous", FLR_JOINT_REVOLUTE}, {"prismatic", FLR_JOINT_PRISMATIC},
                 {"planar", FLR_JOINT_PLANAR},       {"floating", FLR_JOINT_KINDS}};
    const flr_xml *x = r->xml;
    const char *type = flr_xml_get(x, element, "type");
    size_t i = 0;
    while (i < 6 && (!type || strcmp(kinds[i].name, type) != 0)) i++;
    if (i == 6)
        return flr_robot_fail(r, element, "\"%.40s\" is no type of joint", type ? type : "");
    j->kind = kinds[i].kind;
    double axis[3] = {1, 0, 0}, low = 0, high = 0, friction = 0, damping = 0;
    const uint32_t a = flr_xml_child(x, element, "axis"),
                   limit = flr_xml_child(x, element, "limit"),
                   dynamics = flr_xml_child(x, element, "dynamics");
    if ((a != FLR_XML_NONE && !flr_robot_numbers(r, a, flr_xml_get(x, a, "xyz"), axis, 3)) ||
        (limit != FLR_XML_NONE &&
         (!flr_robot_numbers(r, limit, flr_xml_get(x, limit, "lower"), &low, 1) ||
          !flr_robot_numbers(r, limit, flr_xml_get(x, limit, "upper"), &high, 1))) ||
        (dynamics != FLR_XML_NONE &&
         (!flr_robot_numbers(r, dynamics, flr_xml_get(x, dynamics, "friction"), &friction, 1) ||
          !flr_robot_numbers(r, dynamics, flr_xml_get(x, dynamics, "damping"), &damping, 1))))
        return false;
    j->axis = flr_vec3_make(axis[0], axis[1], axis[2]);
    if (!(flr_vec3_length2(j->axis) > 0))
        return flr_robot_fail(r, element, "the axis of a joint is zero");
    if (low > high)
        return flr_robot_fail(r, element, "the limits of a joint are reversed: %g is above %g", low,
                              high);
    flr_joint_axis *moves = j->kind == FLR_JOINT_PRISMATIC ? &j->slide : &j->turn;
    const bool limited = limit != FLR_XML_NONE && strcmp(type, "continuous") != 0 && high > low;
    *moves = (flr_joint_axis){.limited = limited,
                              .low = low,
                              .high = high,
                              .friction = fmax(friction, 0),
                              .damping = fmax(damping, 0)};
    return true;
}

/* Reads a link and all that hangs on it. `element` of each link is found by its name. */
static bool read_link(flr_robot *r, uint32_t element, flr_pose T, bool root, int depth,
                      uint32_t *link)
{
    const flr_xml *x = r->xml;
    const char *name = flr_xml_get(x, element, "name");
    if (!name || !*name) return flr_robot_fail(r, element, "a link needs a name");
    if (depth > FLR_XML_MAX_DEPTH)
        return flr_robot_fail(r, element, "joints form a cycle, or too long a chain");
    if (!flr_robot_add_link(r, name, T, !root, link) || !read_shapes(r, element, *link))
        return false;
    for (uint32_t j = flr_xml_child(x, 0, "joint"); j != FLR_XML_NONE;
         j = flr_xml_sibling(x, j, "joint")) {
        const char *parent = end_of(r, j, "parent"), *child = end_of(r, j, "child");
        if (!parent || !child) return flr_robot_fail(r, j, "a joint needs a parent and a child");
        if (strcmp(parent, name) != 0) continue;
        uint32_t next = flr_xml_child(x, 0, "link");
        for (; next != FLR_XML_NONE; next = flr_xml_sibling(x, next, "link")) {
            const char *other = flr_xml_get(x, next, "name");
            if (other && strcmp(other, child) == 0) break;
        }
        if (next == FLR_XML_NONE) return flr_robot_fail(r, j, "there is no link \"%.60s\"", child);
        flr_pose at;
        uint32_t made;
        flr_joint joint = flr_default_joint();
        if (!read_origin(r, j, &at) || !read_motion(r, j, &joint)) return false;
        const flr_pose T_child = flr_pose_mul(T, at);
        if (!read_link(r, next, T_child, false, depth + 1, &made)) return false;
        joint.point = T_child.p;
        joint.axis = flr_quat_rotate(T_child.q, joint.axis);
        if (flr_xml_child(x, j, "mimic") != FLR_XML_NONE &&
            !flr_robot_note(r, j, "a joint that mimics another one moves by itself"))
            return false;
        if (joint.kind != FLR_JOINT_KINDS &&
            !flr_robot_add_joint(r, flr_xml_get(x, j, "name"), *link, made, &joint))
            return false;
    }
    return true;
}

/* Links that the base does not lead to hang on each other. */
static bool finds_all(flr_robot *r)
{
    const flr_xml *x = r->xml;
    for (uint32_t l = flr_xml_child(x, 0, "link"); l != FLR_XML_NONE;
         l = flr_xml_sibling(x, l, "link")) {
        const char *name = flr_xml_get(x, l, "name");
        uint32_t i = 0;
        while (i < r->link_count && (!name || strcmp(r->links[i].name, name) != 0)) i++;
        if (i == r->link_count)
            return flr_robot_fail(
                r, l,
                "no chain of joints leads from the root to link \"%.60s\": joints form a cycle",
                name ? name : "");
    }
    return true;
}

/* All links are compared with all joints, so there must not be too many. */
static bool is_bounded(const flr_robot *r, const char *name, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t i = flr_xml_child(r->xml, 0, name); i != FLR_XML_NONE;
         i = flr_xml_sibling(r->xml, i, name))
        if (++count > most) return flr_robot_fail(r, i, "more than %u elements \"%s\"", most, name);
    return true;
}

bool flr_urdf_read(flr_robot *r)
{
    const flr_xml *x = r->xml;
    uint32_t root = FLR_XML_NONE, roots = 0, link;
    for (uint32_t i = 0; i < x->count; i++)
        if (strncmp(flr_xml_name(x, i), "xacro:", 6) == 0)
            return flr_robot_fail(
                r, i, "this is a xacro file; expand it first: xacro robot.xacro > robot.urdf");
    if (!is_bounded(r, "link", FLR_ROBOT_LINKS) || !is_bounded(r, "joint", FLR_ROBOT_PARTS))
        return false;
    for (uint32_t l = flr_xml_child(x, 0, "link"); l != FLR_XML_NONE;
         l = flr_xml_sibling(x, l, "link")) {
        const char *name = flr_xml_get(x, l, "name");
        uint32_t parents = 0;
        for (uint32_t j = flr_xml_child(x, 0, "joint"); j != FLR_XML_NONE;
             j = flr_xml_sibling(x, j, "joint")) {
            const char *child = end_of(r, j, "child");
            parents += name && child && strcmp(child, name) == 0;
        }
        if (parents > 1)
            return flr_robot_fail(r, l, "link \"%.60s\" is the child of %u joints", name, parents);
        if (parents == 0) roots++, root = root == FLR_XML_NONE ? l : root;
    }
    if (root == FLR_XML_NONE)
        return flr_robot_fail(r, 0,
                              flr_xml_child(x, 0, "link") == FLR_XML_NONE
                                  ? "the robot has no links"
                                  : "there is no link that is no child: joints form a cycle");
    if (roots > 1)
        return flr_robot_fail(r, root, "%u links are no children of any joint; one is the base",
                              roots);
    if (!read_link(r, root, flr_pose_identity(), true, 0, &link)) return false;
    return finds_all(r);
}
