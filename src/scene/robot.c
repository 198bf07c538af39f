/* scenes from robot descriptions: what is common to URDF and MJCF */
#include "scene/robot.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "scene/robot_build.h"

enum { SIDES = 32, ARC = 8, NOTES = 200 };
static const double MARKER = 1e-3; /* metres: of a link that has no shape */

/* ---- saying ---- */

bool flr_robot_fail(const flr_robot *r, uint32_t element, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    flr_fail(r->error, FLR_BAD_INPUT, "%s:%u: %s", r->file, r->xml->elements[element].line, text);
    return false;
}

static bool no_memory(const flr_robot *r)
{
    flr_fail(r->error, FLR_NO_MEMORY, "%s: not enough memory", r->file);
    return false;
}

bool flr_robot_note(flr_robot *r, uint32_t element, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (r->note_count == NOTES) return true;
    if (++r->note_count == NOTES) snprintf(text, sizeof text, "there is more; it is not listed");
    const size_t before = r->notes ? strlen(r->notes) : 0;
    const size_t size = before + strlen(r->file) + strlen(text) + 32;
    char *notes = realloc(r->notes, size);
    if (!notes) return no_memory(r);
    snprintf(notes + before, size - before, "%s%s:%u: %s", before ? "\n" : "", r->file,
             r->xml->elements[element].line, text);
    r->notes = notes;
    return true;
}

bool flr_robot_numbers(const flr_robot *r, uint32_t element, const char *text, double *to,
                       int count)
{
    if (!text) return true;
    for (int i = 0; i < count; i++) {
        const char *end;
        while (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r') text++;
        if (flr_number_parse(text, &to[i], &end, NULL) != FLR_OK || end == text ||
            !isfinite(to[i]) || fabs(to[i]) > 1e9)
            return flr_robot_fail(r, element, "%d numbers were expected, not \"%.40s\"", count,
                                  text);
        text = end;
    }
    return true;
}

/* ---- adding ---- */

static bool make_room(const flr_robot *r, void **list, uint32_t *room, uint32_t count, size_t size)
{
    if (count < *room) return true;
    const uint32_t more = *room ? 2 * *room : 16;
    void *moved = realloc(*list, more * size);
    if (!moved) return no_memory(r);
    *list = moved;
    *room = more;
    return true;
}

static bool is_taken(const flr_robot *r, const char *name)
{
    for (uint32_t i = 0; i < r->link_count; i++)
        if (strcmp(r->links[i].name, name) == 0) return true;
    return false;
}

/* Gives a name that one of `count` others has the lowest free number from 2 on. Looks at each of them once. */
static void make_unique(char name[FLR_ROBOT_NAME + 1], const char *names, size_t stride,
                        uint32_t count)
{
    bool seen[FLR_ROBOT_PARTS + 3] = {false}, taken = false;
    char first[FLR_ROBOT_NAME - 16], number[24];
    flr_text_copy(first, sizeof first, name);
    const size_t length = strlen(first);
    for (const char *other = names; count > 0; count--, other += stride) {
        taken = taken || strcmp(other, name) == 0;
        if (strncmp(other, first, length) != 0 || other[length] != ':') continue;
        const unsigned long n = strtoul(other + length + 1, NULL, 10);
        snprintf(number, sizeof number, "%lu", n);
        if (n < sizeof seen && strcmp(number, other + length + 1) == 0) seen[n] = true;
    }
    unsigned n = 2;
    while (n + 1 < sizeof seen && seen[n]) n++;
    if (taken) snprintf(name, FLR_ROBOT_NAME + 1, "%s:%u", first, n);
}

static bool too_many(const flr_robot *r, int most, const char *what)
{
    flr_fail(r->error, FLR_TOO_LARGE, "%s: more than %d %s", r->file, most, what);
    return false;
}

bool flr_robot_add_link(flr_robot *r, const char *name, flr_pose T_world_link, bool moving,
                        uint32_t *link)
{
    void *list = r->links;
    if (r->link_count == FLR_ROBOT_LINKS) return too_many(r, FLR_ROBOT_LINKS, "links");
    if (!make_room(r, &list, &r->link_room, r->link_count, sizeof *r->links)) return false;
    r->links = list;
    flr_robot_link made = {.T_world_link = T_world_link, .moving = moving};
    flr_text_copy(made.name, sizeof made.name, name && *name ? name : "link");
    make_unique(made.name, r->links->name, sizeof *r->links, r->link_count);
    *link = r->link_count;
    r->links[r->link_count++] = made;
    return true;
}

bool flr_robot_add_part(flr_robot *r, uint32_t link, flr_mesh *mesh, flr_pose T_link_part,
                        uint32_t colour)
{
    void *list = r->parts;
    if (r->part_count == FLR_ROBOT_PARTS
            ? !too_many(r, FLR_ROBOT_PARTS, "shapes")
            : !make_room(r, &list, &r->part_room, r->part_count, sizeof *r->parts)) {
        flr_mesh_destroy(mesh);
        return false;
    }
    r->parts = list;
    flr_pose T = flr_pose_mul(r->links[link].T_world_link, T_link_part);
    T.q = flr_quat_normalize(T.q);
    r->parts[r->part_count++] =
        (flr_robot_part){.link = link, .mesh = mesh, .T_world_part = T, .colour = colour};
    r->links[link].parts++;
    return true;
}

bool flr_robot_add_joint(flr_robot *r, const char *name, uint32_t a, uint32_t b,
                         const flr_joint *joint)
{
    void *list = r->joints;
    if (r->joint_count == FLR_ROBOT_PARTS) return too_many(r, FLR_ROBOT_PARTS, "joints");
    if (!make_room(r, &list, &r->joint_room, r->joint_count, sizeof *r->joints)) return false;
    r->joints = list;
    flr_robot_joint made = {.a = a, .b = b, .joint = *joint};
    flr_text_copy(made.name, sizeof made.name, name && *name ? name : "joint");
    make_unique(made.name, r->joints->name, sizeof *r->joints, r->joint_count);
    r->joints[r->joint_count++] = made;
    return true;
}

/* ---- shapes ---- */

static bool make_mesh(const flr_robot *r, const flr_vec3 *vertices, uint32_t count, flr_mesh **mesh)
{
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = vertices; /* in threes */
    def.vertex_count = count;
    return flr_mesh_create(&def, mesh, r->error) == FLR_OK;
}

bool flr_robot_box(flr_robot *r, flr_vec3 size, flr_mesh **mesh)
{
    static const int corners[12][3] = {{0, 3, 1}, {0, 2, 3}, {4, 5, 7}, {4, 7, 6},
                                       {0, 1, 5}, {0, 5, 4}, {2, 7, 3}, {2, 6, 7},
                                       {0, 6, 2}, {0, 4, 6}, {1, 3, 7}, {1, 7, 5}};
    flr_vec3 v[36];
    for (int i = 0; i < 36; i++) {
        const int c = corners[i / 3][i % 3];
        v[i] = flr_vec3_make((c & 1 ? 0.5 : -0.5) * size.x, (c & 2 ? 0.5 : -0.5) * size.y,
                             (c & 4 ? 0.5 : -0.5) * size.z);
    }
    return make_mesh(r, v, 36, mesh);
}

/* A point of what is turned about z. */
static flr_vec3 around(const double at[2], int side)
{
    const double angle = FLR_TWO_PI * side / SIDES;
    return flr_vec3_make(at[0] * cos(angle), at[0] * sin(angle), at[1]);
}

bool flr_robot_round(flr_robot *r, double radius, double length, bool round_ends, flr_mesh **mesh)
{
    enum { ROBOT_POINTS = 2 * ARC + 2 };
    double outline[ROBOT_POINTS][2];
    int count = 0;
    for (int i = 0; round_ends && i <= ARC; i++) {
        const double a = FLR_PI / 2 * i / ARC;
        outline[count][0] = radius * sin(a), outline[count++][1] = -length / 2 - radius * cos(a);
    }
    for (int i = ARC; round_ends && i >= 0; i--) {
        const double a = FLR_PI / 2 * i / ARC;
        outline[count][0] = radius * sin(a), outline[count++][1] = length / 2 + radius * cos(a);
    }
    const double flat[4][2] = {
        {0, -length / 2}, {radius, -length / 2}, {radius, length / 2}, {0, length / 2}};
    for (int i = 0; !round_ends && i < 4; i++)
        outline[count][0] = flat[i][0], outline[count++][1] = flat[i][1];
    outline[0][0] = outline[count - 1][0] = 0; /* on the axis, exactly */
    flr_vec3 *v = calloc((size_t)ROBOT_POINTS * SIDES * 6, sizeof *v);
    uint32_t n = 0;
    if (!v) return no_memory(r);
    for (int i = 0; i + 1 < count; i++)
        for (int k = 0; k < SIDES; k++) {
            const int next = (k + 1) % SIDES;
            if (outline[i][0] == outline[i + 1][0] && outline[i][1] == outline[i + 1][1]) continue;
            const flr_vec3 quad[4] = {around(outline[i], k), around(outline[i], next),
                                      around(outline[i + 1], next), around(outline[i + 1], k)};
            if (outline[i][0] > 0) v[n++] = quad[0], v[n++] = quad[1], v[n++] = quad[2];
            if (outline[i + 1][0] > 0) v[n++] = quad[0], v[n++] = quad[2], v[n++] = quad[3];
        }
    const bool ok = make_mesh(r, v, n, mesh);
    free(v);
    return ok;
}

/* Where a file of the description is. */
static bool find_file(const flr_robot *r, const char *file, char path[FLR_ROBOT_PATH])
{
    const char *rest = file;
    flr_path_info info;
    if (strncmp(rest, "file://", 7) == 0) rest += 7;
    const bool package = strncmp(rest, "package://", 10) == 0 || strncmp(rest, "model://", 8) == 0;
    if (package) rest = strstr(rest, "//") + 2;
    const char *inside = package && strchr(rest, '/') ? strchr(rest, '/') + 1 : rest;
    char up[FLR_ROBOT_PATH];
    flr_text_copy(up, sizeof up, *rest == '/' ? "" : r->folder);
    for (int level = 0; level < 4; level++) {
        for (int i = 0; i < 2; i++) {
            snprintf(path, FLR_ROBOT_PATH, "%s%s", up, i ? inside : rest);
            if (flr_path_look(r->def->env, path, &info, NULL) == FLR_OK &&
                info.kind == FLR_PATH_FILE)
                return true;
        }
        if (!package || strlen(up) + 4 >= sizeof up) break;
        strcat(up, "../");
    }
    return false;
}

bool flr_robot_load(flr_robot *r, uint32_t element, const char *file, flr_vec3 scale,
                    flr_mesh **mesh)
{
    char path[FLR_ROBOT_PATH];
    flr_error why;
    flr_mesh *read;
    if (!find_file(r, file, path))
        return flr_robot_fail(r, element, "the mesh \"%.200s\" is not there", file);
    flr_mesh_options options = r->def->options;
    const char *dot = strrchr(path, '.');
    if (!dot || strcasecmp(dot, ".dae") != 0) options.unit = 1; /* metres, in both formats */
    if (flr_mesh_open(r->def->env, path, &options, &read, NULL, &why) != FLR_OK)
        return flr_robot_fail(r, element, "%s", why.message);
    flr_vec3 *vertices = calloc(read->vertex_count + 1u, sizeof *vertices);
    const bool mirrored = scale.x * scale.y * scale.z < 0;
    flr_triangle *triangles = calloc(read->triangle_count + 1u, sizeof *triangles);
    bool ok = vertices && triangles ? true : no_memory(r);
    for (uint32_t i = 0; ok && i < read->vertex_count; i++)
        vertices[i] = flr_vec3_make(read->vertices[i].x * scale.x, read->vertices[i].y * scale.y,
                                    read->vertices[i].z * scale.z);
    for (uint32_t i = 0; ok && i < read->triangle_count; i++) {
        triangles[i] = read->triangles[i];
        if (mirrored)
            triangles[i].v[1] = read->triangles[i].v[2],
            triangles[i].v[2] = read->triangles[i].v[1];
    }
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = vertices, def.vertex_count = read->vertex_count;
    def.triangles = triangles, def.triangle_count = read->triangle_count;
    ok = ok && flr_mesh_create(&def, mesh, r->error) == FLR_OK;
    free(vertices);
    free(triangles);
    flr_mesh_destroy(read);
    return ok;
}

/* ---- writing ---- */

/* A link without a shape still has a place that joints move: a small box that is not shown. */
static bool mark_links(flr_robot *r)
{
    for (uint32_t i = 0; i < r->link_count; i++) {
        flr_mesh *mesh;
        if (r->links[i].parts) continue;
        if (!flr_robot_box(r, flr_vec3_make(MARKER, MARKER, MARKER), &mesh) ||
            !flr_robot_add_part(r, i, mesh, flr_pose_identity(), FLR_SCENE_NO_COLOUR))
            return false;
        r->parts[r->part_count - 1].hidden = true;
    }
    return true;
}

/* What a scene needs besides the robot. */
typedef struct robot_texts {
    char (*files)[FLR_ROBOT_PATH]; /* [part_count] */
    char (*names)[FLR_ROBOT_NAME + 16];
    flr_scene_part *parts;
    flr_scene_group *groups;
    flr_scene_joint *joints;
    size_t group_count;
} robot_texts;

static flr_result write_meshes(const flr_robot *r, robot_texts *t, flr_error *error)
{
    const char *out = r->def->out, *slash = strrchr(out, '/');
    const size_t stem = strlen(out) - strlen(".json");
    char folder[FLR_ROBOT_PATH], path[FLR_ROBOT_PATH + 64];
    snprintf(folder, sizeof folder, "%.*s_parts", (int)stem, out);
    flr_result result = flr_path_make_folder(r->def->env, folder, error);
    for (uint32_t i = 0; i < r->part_count && result == FLR_OK; i++) {
        snprintf(path, sizeof path, "%s/part_%04u.ply", folder, i);
        result = flr_mesh_write(r->def->env, path, r->parts[i].mesh, 1, error);
        flr_text_copy(t->files[i], FLR_ROBOT_PATH, slash ? path + (slash + 1 - out) : path);
    }
    return result;
}

static void fill_scene(const flr_robot *r, robot_texts *t, flr_scene *scene)
{
    uint32_t numbers[FLR_ROBOT_LINKS] = {0}; /* given so far, by link */
    for (uint32_t i = 0; i < r->link_count; i++)
        if (r->links[i].parts > 1)
            t->groups[t->group_count++] =
                (flr_scene_group){.name = r->links[i].name, .rigid = true};
    for (uint32_t i = 0; i < r->part_count; i++) {
        const flr_robot_part *from = &r->parts[i];
        const flr_robot_link *link = &r->links[from->link];
        const bool several = link->parts > 1;
        snprintf(t->names[i], sizeof t->names[i], "%s", link->name);
        if (several) do /* another link may have such a name */
                snprintf(t->names[i], sizeof t->names[i], "%s:%u", link->name,
                         ++numbers[from->link]);
            while (is_taken(r, t->names[i]));
        t->parts[i] = flr_default_scene_part();
        t->parts[i].name = t->names[i];
        t->parts[i].file = t->files[i];
        t->parts[i].unit = 1;
        t->parts[i].T_world_part = from->T_world_part;
        t->parts[i].moving = link->moving;
        t->parts[i].hidden = from->hidden;
        t->parts[i].colour = from->colour;
        if (link->mass > 1e-9) t->parts[i].mass = link->mass / link->parts;
        if (several) t->parts[i].in = link->name;
    }
    for (uint32_t i = 0; i < r->joint_count; i++) {
        const flr_robot_joint *from = &r->joints[i];
        t->joints[i] = (flr_scene_joint){.name = from->name, .joint = from->joint};
        if (from->a != FLR_XML_NONE) t->joints[i].a = r->links[from->a].name;
        t->joints[i].b = r->links[from->b].name;
    }
    scene->parts = t->parts, scene->part_count = r->part_count;
    scene->groups = t->groups, scene->group_count = t->group_count;
    scene->joints = t->joints, scene->joint_count = r->joint_count;
}

static flr_result write_scene(const flr_robot *r, flr_scene_import_report *report, flr_error *error)
{
    robot_texts t = {0};
    flr_scene scene = flr_default_scene();
    char name[FLR_ROBOT_NAME];
    t.files = calloc(r->part_count + 1u, sizeof *t.files);
    t.names = calloc(r->part_count + 1u, sizeof *t.names);
    t.parts = calloc(r->part_count + 1u, sizeof *t.parts);
    t.groups = calloc(r->link_count + 1u, sizeof *t.groups);
    t.joints = calloc(r->joint_count + 1u, sizeof *t.joints);
    flr_result result = FLR_OK;
    if (!t.files || !t.names || !t.parts || !t.groups || !t.joints)
        result = flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory", r->file);
    if (result == FLR_OK) result = write_meshes(r, &t, error);
    if (result == FLR_OK) {
        const char *slash = strrchr(r->file, '/');
        flr_text_copy(name, sizeof name, slash ? slash + 1 : r->file);
        if (strrchr(name, '.')) *strrchr(name, '.') = 0;
        scene.name = *name ? name : "robot";
        scene.unit = 1;
        scene.voxel = r->def->voxel;
        fill_scene(r, &t, &scene);
        flr_error why;
        result = flr_scene_write(r->def->env, r->def->out, &scene, &why);
        if (result == FLR_BAD_INPUT || result == FLR_BAD_ARGUMENT)
            flr_fail(error, result, "%s: this robot makes no scene: %s", r->file, why.message);
        else if (result != FLR_OK && error)
            *error = why;
    }
    *report = (flr_scene_import_report){
        .parts = r->part_count, .groups = t.group_count, .shapes = r->part_count, .up = FLR_AXIS_Z};
    for (uint32_t i = 0; i < r->part_count; i++) {
        report->moving += r->links[r->parts[i].link].moving;
        report->hidden += r->parts[i].hidden;
        report->triangles += r->parts[i].mesh->triangle_count;
    }
    free(t.files);
    free(t.names);
    free(t.parts);
    free(t.groups);
    free(t.joints);
    return result;
}

static void free_robot(flr_robot *r)
{
    for (uint32_t i = 0; i < r->part_count; i++) flr_mesh_destroy(r->parts[i].mesh);
    free(r->parts);
    free(r->links);
    free(r->joints);
    free(r->notes);
}

/* ---- the whole ---- */

bool flr_robot_recognize(flr_env *env, const char *path)
{
    const char *dot = strrchr(path, '.');
    if (dot && strcasecmp(dot, ".urdf") == 0) return true;
    if (!dot || (strcasecmp(dot, ".xml") != 0 && strcasecmp(dot, ".mjcf") != 0)) return false;
    flr_blob text = {0};
    flr_xml xml;
    bool robot = false;
    if (flr_file_read_all(env, path, FLR_XML_MAX_BYTES, &text, NULL) != FLR_OK) return false;
    if (flr_xml_parse(path, text.bytes, text.size, &xml, NULL) == FLR_OK) {
        robot = flr_xml_is(&xml, 0, "mujoco") || flr_xml_is(&xml, 0, "robot");
        flr_xml_free(&xml);
    }
    flr_blob_free(&text);
    return robot;
}

flr_result flr_robot_import(const flr_scene_import_def *def, flr_scene_import_report *report,
                            flr_error *error)
{
    flr_error why = {0};
    flr_blob text = {0};
    flr_xml xml;
    flr_robot r = {.def = def, .file = def->files[0], .xml = &xml, .error = &why};
    flr_result result = flr_file_read_all(def->env, r.file, FLR_XML_MAX_BYTES, &text, error);
    if (result != FLR_OK) return result;
    result = flr_xml_parse(r.file, text.bytes, text.size, &xml, error);
    flr_blob_free(&text);
    if (result != FLR_OK) return result;
    const char *slash = strrchr(r.file, '/');
    snprintf(r.folder, sizeof r.folder, "%.*s", slash ? (int)(slash + 1 - r.file) : 0, r.file);
    const char *root = flr_xml_name(&xml, 0);
    bool ok = strcmp(root, "robot") == 0 ? flr_urdf_read(&r)
              : strcmp(root, "mujoco") == 0
                  ? flr_mjcf_read(&r)
                  : flr_robot_fail(&r, 0, "is neither URDF nor MJCF: its root is <%.40s>", root);
    if (ok && r.link_count == 0) ok = flr_robot_fail(&r, 0, "the robot has no links");
    ok = ok && mark_links(&r);
    if (ok) {
        result = write_scene(&r, report, error);
        if (result == FLR_OK) report->notes = r.notes, r.notes = NULL;
    } else {
        result = why.code;
        if (error) *error = why;
    }
    free_robot(&r);
    flr_xml_free(&xml);
    return result;
}
