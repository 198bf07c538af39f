/* robot descriptions of MuJoCo: MJCF */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scene/robot_build.h"

/* What <compiler> says. */
typedef struct mjcf {
    flr_robot *r;
    double angle; /* radians per unit of angles */
    char euler[4];
    const char *mesh_folder;
} mjcf;

enum { DEFAULTS = 1000 }; /* classes, which are looked through for each attribute */

/* ---- attributes ---- */

/* <default> of a class; none: the outermost one has no class, or is called main. */
static uint32_t find_class(const flr_xml *x, uint32_t from, const char *name)
{
    for (uint32_t d = flr_xml_child(x, from, "default"); d != FLR_XML_NONE;
         d = flr_xml_sibling(x, d, "default")) {
        const char *own = flr_xml_get(x, d, "class");
        if (!name ? from == 0 : own && strcmp(own, name) == 0) return d;
        const uint32_t inner = find_class(x, d, name);
        if (name && inner != FLR_XML_NONE) return inner;
    }
    return FLR_XML_NONE;
}

/* An attribute of an element, or of the defaults of its class. */
static const char *look_up(const flr_xml *x, uint32_t element, const char *attribute)
{
    const char *given = flr_xml_get(x, element, attribute),
               *name = flr_xml_get(x, element, "class");
    if (given) return given;
    for (uint32_t up = x->elements[element].parent; !name && up != FLR_XML_NONE;
         up = x->elements[up].parent)
        name = flr_xml_get(x, up, "childclass");
    uint32_t at = find_class(x, 0, name);
    if (at == FLR_XML_NONE) at = find_class(x, 0, NULL);
    for (; at != FLR_XML_NONE && flr_xml_is(x, at, "default"); at = x->elements[at].parent) {
        const uint32_t like = flr_xml_child(x, at, flr_xml_name(x, element));
        const char *usual = like == FLR_XML_NONE ? NULL : flr_xml_get(x, like, attribute);
        if (usual) return usual;
    }
    return NULL;
}

static bool read_numbers(const mjcf *m, uint32_t element, const char *attribute, double *to,
                         int count)
{
    return flr_robot_numbers(m->r, element, look_up(m->r->xml, element, attribute), to, count);
}

static flr_quat from_euler(const mjcf *m, const double e[3])
{
    flr_quat q = flr_quat_identity();
    for (int i = 0; i < 3; i++) {
        const char axis = (char)(m->euler[i] | 32);
        const flr_vec3 about = {axis == 'x', axis == 'y', axis == 'z'};
        const flr_quat turn = flr_quat_from_axis_angle(about, e[i] * m->angle);
        /* small letters: axes that turn along; capital ones: fixed axes */
        q = m->euler[i] >= 'a' ? flr_quat_mul(q, turn) : flr_quat_mul(turn, q);
    }
    return flr_quat_normalize(q);
}

static bool read_pose(const mjcf *m, uint32_t element, flr_pose *T)
{
    const flr_xml *x = m->r->xml;
    double p[3] = {0}, q[4] = {1, 0, 0, 0}, e[3] = {0}, a[4] = {0, 0, 1, 0};
    if (!read_numbers(m, element, "pos", p, 3) || !read_numbers(m, element, "quat", q, 4) ||
        !read_numbers(m, element, "euler", e, 3) || !read_numbers(m, element, "axisangle", a, 4))
        return false;
    if (look_up(x, element, "xyaxes") || look_up(x, element, "zaxis"))
        return flr_robot_fail(m->r, element, "xyaxes and zaxis are not read; write quat or euler");
    *T = flr_pose_make(flr_vec3_make(p[0], p[1], p[2]), flr_quat_identity());
    const flr_quat given = flr_quat_make(q[0], q[1], q[2], q[3]);
    if (!(flr_quat_dot(given, given) > 1e-12))
        return flr_robot_fail(m->r, element, "a quaternion is zero");
    T->q = flr_quat_normalize(given);
    if (look_up(x, element, "euler")) T->q = from_euler(m, e);
    if (look_up(x, element, "axisangle"))
        T->q = flr_quat_from_axis_angle(flr_vec3_normalize(flr_vec3_make(a[0], a[1], a[2])),
                                        a[3] * m->angle);
    return true;
}

/* ---- shapes ---- */

static bool load_mesh(const mjcf *m, uint32_t geom, flr_mesh **mesh)
{
    const flr_xml *x = m->r->xml;
    const char *wanted = look_up(x, geom, "mesh");
    for (uint32_t assets = flr_xml_child(x, 0, "asset"); wanted && assets != FLR_XML_NONE;
         assets = flr_xml_sibling(x, assets, "asset"))
        for (uint32_t a = flr_xml_child(x, assets, "mesh"); a != FLR_XML_NONE;
             a = flr_xml_sibling(x, a, "mesh")) {
            const char *file = flr_xml_get(x, a, "file"), *name = flr_xml_get(x, a, "name");
            char path[FLR_ROBOT_PATH], stem[FLR_ROBOT_NAME];
            if (!file) continue;
            /* without a name it is called as its file, without ending */
            const char *slash = strrchr(file, '/');
            snprintf(stem, sizeof stem, "%s", slash ? slash + 1 : file);
            if (strrchr(stem, '.')) *strrchr(stem, '.') = 0;
            if (strcmp(name ? name : stem, wanted) != 0) continue;
            double scale[3] = {1, 1, 1};
            snprintf(path, sizeof path, "%s%s%s", m->mesh_folder, *m->mesh_folder ? "/" : "", file);
            return flr_robot_numbers(m->r, a, look_up(x, a, "scale"), scale, 3) &&
                   flr_robot_load(m->r, a, path, flr_vec3_make(scale[0], scale[1], scale[2]), mesh);
        }
    return flr_robot_fail(m->r, geom, "there is no mesh \"%.60s\"", wanted ? wanted : "");
}

/* From one point to another: a pose whose z axis leads there. */
static flr_pose along(const double f[6], double *length)
{
    const flr_vec3 a = {f[0], f[1], f[2]}, b = {f[3], f[4], f[5]};
    const flr_vec3 z = flr_vec3_normalize(flr_vec3_sub(b, a)), x = flr_vec3_perpendicular(z);
    *length = flr_vec3_distance(a, b);
    return flr_pose_make(flr_vec3_lerp(a, b, 0.5),
                         flr_quat_from_mat3(flr_mat3_from_columns(x, flr_vec3_cross(z, x), z)));
}

static bool make_shape(const mjcf *m, uint32_t geom, const char *type, flr_pose *T, flr_mesh **mesh)
{
    double size[3] = {0}, ends[6] = {0}, length;
    if (!read_numbers(m, geom, "size", size,
                      strcmp(type, "box") == 0             ? 3
                      : strcmp(type, "sphere") == 0        ? 1
                      : look_up(m->r->xml, geom, "fromto") ? 1
                                                           : 2) ||
        !read_numbers(m, geom, "fromto", ends, 6))
        return false;
    length = 2 * size[1];
    if (look_up(m->r->xml, geom, "fromto")) *T = along(ends, &length);
    if (strcmp(type, "box") == 0 && size[0] > 0 && size[1] > 0 && size[2] > 0)
        return flr_robot_box(m->r, flr_vec3_make(2 * size[0], 2 * size[1], 2 * size[2]), mesh);
    if (strcmp(type, "sphere") == 0 && size[0] > 0)
        return flr_robot_round(m->r, size[0], 0, true, mesh);
    if (strcmp(type, "box") != 0 && strcmp(type, "sphere") != 0 && size[0] > 0 && length > 0)
        return flr_robot_round(m->r, size[0], length, strcmp(type, "capsule") == 0, mesh);
    return flr_robot_fail(m->r, geom, "a %s needs a size above 0", type);
}

static bool read_geom(const mjcf *m, uint32_t geom, uint32_t link)
{
    const flr_xml *x = m->r->xml;
    const char *type = look_up(x, geom, "type");
    if (!type) type = look_up(x, geom, "mesh") ? "mesh" : "sphere";
    static const char *const known[] = {"box", "sphere", "cylinder", "capsule", "mesh"};
    bool is_known = false;
    for (size_t i = 0; i < 5; i++) is_known |= strcmp(known[i], type) == 0;
    if (!is_known) return flr_robot_note(m->r, geom, "a geom of type %.40s is left out", type);
    flr_pose T;
    flr_mesh *mesh;
    double rgba[4] = {0.5, 0.5, 0.5, 1};
    if (!read_pose(m, geom, &T) || !read_numbers(m, geom, "rgba", rgba, 4) ||
        !(strcmp(type, "mesh") == 0 ? load_mesh(m, geom, &mesh)
                                    : make_shape(m, geom, type, &T, &mesh)))
        return false;
    uint32_t colour = 0;
    for (int i = 0; i < 3; i++)
        colour = colour << 8 | (uint32_t)lround(255 * fmin(fmax(rgba[i], 0), 1));
    return flr_robot_add_part(m->r, link, mesh, T,
                              look_up(x, geom, "rgba") ? colour : FLR_SCENE_NO_COLOUR);
}

/* ---- bodies ---- */

/* Kinds: FLR_JOINT_KINDS for a body that is free. */
static bool read_joint(const mjcf *m, uint32_t element, flr_pose T_world_body, flr_joint *j)
{
    const flr_xml *x = m->r->xml;
    const char *type = look_up(x, element, "type"), *limited = look_up(x, element, "limited");
    const bool free = flr_xml_is(x, element, "freejoint") || (type && strcmp(type, "free") == 0);
    const bool ball = type && strcmp(type, "ball") == 0, slide = type && strcmp(type, "slide") == 0;
    double p[3] = {0}, axis[3] = {0, 0, 1}, range[2] = {0}, friction = 0, damping = 0,
           stiffness = 0, rest = 0;
    if (type && !free && !ball && !slide && strcmp(type, "hinge") != 0)
        return flr_robot_fail(m->r, element, "\"%.40s\" is no type of joint", type);
    if (!read_numbers(m, element, "pos", p, 3) || !read_numbers(m, element, "axis", axis, 3) ||
        !read_numbers(m, element, "range", range, 2) ||
        !read_numbers(m, element, "frictionloss", &friction, 1) ||
        !read_numbers(m, element, "damping", &damping, 1) ||
        !read_numbers(m, element, "stiffness", &stiffness, 1) ||
        !read_numbers(m, element, "springref", &rest, 1))
        return false;
    *j = flr_default_joint();
    j->kind = free    ? FLR_JOINT_KINDS
              : ball  ? FLR_JOINT_BALL
              : slide ? FLR_JOINT_PRISMATIC
                      : FLR_JOINT_REVOLUTE;
    j->point = flr_pose_apply(T_world_body, flr_vec3_make(p[0], p[1], p[2]));
    j->axis = flr_pose_apply_vector(T_world_body, flr_vec3_make(axis[0], axis[1], axis[2]));
    if (!(flr_vec3_length2(j->axis) > 0))
        return flr_robot_fail(m->r, element, "the axis of a joint is zero");
    if (range[0] > range[1])
        return flr_robot_fail(m->r, element, "the limits of a joint are reversed: %g is above %g",
                              range[0], range[1]);
    const double unit = slide ? 1 : m->angle;
    const bool off = limited && strcmp(limited, "false") == 0;
    *(slide ? &j->slide : &j->turn) = (flr_joint_axis){.limited = range[1] > range[0] && !off,
                                                       .low = range[0] * unit,
                                                       .high = range[1] * unit,
                                                       .friction = fmax(friction, 0),
                                                       .damping = fmax(damping, 0),
                                                       .stiffness = fmax(stiffness, 0),
                                                       .rest = rest * unit};
    if (ball) j->turn.low = 0;
    return true;
}

/* A body with several joints hangs on the last one; each of the others moves a link without a shape. */
static bool read_joints(const mjcf *m, uint32_t body, const char *name, flr_pose T, uint32_t parent,
                        uint32_t *link)
{
    const flr_xml *x = m->r->xml;
    uint32_t count = 0, done = 0;
    for (uint32_t j = flr_xml_child(x, body, NULL); j != FLR_XML_NONE;
         j = flr_xml_sibling(x, j, NULL))
        count += flr_xml_is(x, j, "joint") || flr_xml_is(x, j, "freejoint");
    const bool moving = count > 0 || (parent != FLR_XML_NONE && m->r->links[parent].moving);
    flr_joint joint = flr_default_joint();
    joint.point = T.p;
    for (uint32_t j = flr_xml_child(x, body, NULL); j != FLR_XML_NONE;
         j = flr_xml_sibling(x, j, NULL)) {
        if (!flr_xml_is(x, j, "joint") && !flr_xml_is(x, j, "freejoint")) continue;
        if (!read_joint(m, j, T, &joint) ||
            !flr_robot_add_link(m->r, ++done == count ? name : "hidden link", T, true, link))
            return false;
        if (joint.kind != FLR_JOINT_KINDS &&
            !flr_robot_add_joint(m->r, flr_xml_get(x, j, "name"), parent, *link, &joint))
            return false;
        parent = *link;
    }
    if (count > 0) return true;
    if (!flr_robot_add_link(m->r, name, T, moving, link)) return false;
    return !moving || flr_robot_add_joint(m->r, name, parent, *link, &joint); /* fixed */
}

static bool read_body(const mjcf *m, uint32_t body, flr_pose T_parent, uint32_t parent)
{
    const flr_xml *x = m->r->xml;
    flr_pose T = flr_pose_identity();
    uint32_t link = parent;
    const bool world = parent == FLR_XML_NONE && x->elements[body].parent == 0;
    if (!world) {
        const char *name = flr_xml_get(x, body, "name");
        if (!read_pose(m, body, &T)) return false;
        T = flr_pose_mul(T_parent, T);
        T.q = flr_quat_normalize(T.q);
        if (!read_joints(m, body, name ? name : "body", T, parent, &link)) return false;
        const uint32_t inertial = flr_xml_child(x, body, "inertial");
        double mass = 0;
        if (inertial != FLR_XML_NONE && !read_numbers(m, inertial, "mass", &mass, 1)) return false;
        m->r->links[link].mass = fmax(mass, 0);
    }
    for (uint32_t g = flr_xml_child(x, body, "geom"); g != FLR_XML_NONE;
         g = flr_xml_sibling(x, g, "geom")) {
        if (link == FLR_XML_NONE && !flr_robot_add_link(m->r, "world", T, false, &link))
            return false;
        if (!read_geom(m, g, link)) return false;
    }
    for (uint32_t b = flr_xml_child(x, body, "body"); b != FLR_XML_NONE;
         b = flr_xml_sibling(x, b, "body"))
        if (!read_body(m, b, T, world ? FLR_XML_NONE : link)) return false;
    return true;
}

/* ---- loops ---- */

static uint32_t find_link(const flr_robot *r, const char *name)
{
    for (uint32_t i = 0; name && i < r->link_count; i++)
        if (strcmp(r->links[i].name, name) == 0) return i;
    return FLR_XML_NONE;
}

static bool read_equalities(const mjcf *m)
{
    const flr_xml *x = m->r->xml;
    const uint32_t all = flr_xml_child(x, 0, "equality");
    if (all == FLR_XML_NONE) return true;
    for (uint32_t e = flr_xml_child(x, all, NULL); e != FLR_XML_NONE;
         e = flr_xml_sibling(x, e, NULL)) {
        const char *kind = flr_xml_name(x, e), *one = flr_xml_get(x, e, "body1"),
                   *other = flr_xml_get(x, e, "body2");
        const bool connect = strcmp(kind, "connect") == 0;
        if ((!connect && strcmp(kind, "weld") != 0) || !one) {
            if (!flr_robot_note(m->r, e, "an equality of type %.40s is left out", kind))
                return false;
            continue;
        }
        const uint32_t b = find_link(m->r, one), a = other ? find_link(m->r, other) : FLR_XML_NONE;
        if (b == FLR_XML_NONE || (other && a == FLR_XML_NONE))
            return flr_robot_fail(m->r, e, "there is no body \"%.60s\"",
                                  b == FLR_XML_NONE ? one : other);
        if (!m->r->links[b].moving && (a == FLR_XML_NONE || !m->r->links[a].moving)) {
            if (!flr_robot_note(m->r, e, "an equality of bodies that do not move is left out"))
                return false;
            continue;
        }
        double anchor[3] = {0};
        if (!flr_robot_numbers(m->r, e, flr_xml_get(x, e, "anchor"), anchor, 3)) return false;
        flr_joint joint = flr_default_joint();
        joint.kind = connect ? FLR_JOINT_BALL : FLR_JOINT_FIXED;
        joint.point = flr_pose_apply(m->r->links[b].T_world_link,
                                     flr_vec3_make(anchor[0], anchor[1], anchor[2]));
        const char *name = flr_xml_get(x, e, "name");
        if (!flr_robot_add_joint(m->r, name ? name : kind, a, b, &joint)) return false;
    }
    return true;
}

bool flr_mjcf_read(flr_robot *r)
{
    const flr_xml *x = r->xml;
    mjcf m = {.r = r, .angle = FLR_DEGREE, .euler = "xyz", .mesh_folder = ""};
    for (uint32_t c = flr_xml_child(x, 0, "compiler"); c != FLR_XML_NONE;
         c = flr_xml_sibling(x, c, "compiler")) {
        const char *angle = flr_xml_get(x, c, "angle"), *order = flr_xml_get(x, c, "eulerseq"),
                   *folder = flr_xml_get(x, c, "meshdir");
        if (angle && strcmp(angle, "radian") == 0) m.angle = 1;
        if (order && (strlen(order) != 3 || strspn(order, "xyzXYZ") != 3))
            return flr_robot_fail(r, c, "\"%.10s\" is no order of angles", order);
        if (order) memcpy(m.euler, order, 4);
        if (folder) m.mesh_folder = folder;
    }
    uint32_t defaults = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        if (flr_xml_is(x, i, "include"))
            return flr_robot_fail(
                r, i, "files that include others are not read; save the compiled model first");
        defaults += flr_xml_is(x, i, "default");
        if (defaults > DEFAULTS)
            return flr_robot_fail(r, i, "more than %d classes of defaults", DEFAULTS);
    }
    const uint32_t world = flr_xml_child(x, 0, "worldbody");
    if (world == FLR_XML_NONE) return flr_robot_fail(r, 0, "there is no <worldbody>");
    return read_body(&m, world, flr_pose_identity(), FLR_XML_NONE) && read_equalities(&m);
}
