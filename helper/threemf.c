/* 3MF: a ZIP file with a model in XML
 *
 * Objects have a mesh or components, which place other objects; build items place objects in the scene. Objects of the
 * production extension may lie in model files of their own. Slicers keep names in a file of settings. */
#include "threemf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "placement.h"
#include "unit.h"
#include "zip.h"

enum { MAX_NESTED = 64, MAX_FILES = 4096, XML_TEXT_SIZE = 1024, NO_COLOUR = -1 };

/* ---- XML ---- */

/* <name attributes> or </name>; names without their prefix */
typedef struct tag {
    const char *name, *attributes, *end;
    size_t name_length;
    bool closes, empty;
} tag;

static const char *skip_to(const char *at, const char *what)
{
    const char *found = strstr(at, what);
    return found ? found + strlen(what) : at + strlen(at);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* The next tag behind `*at`; false: there is none. */
static bool next_tag(const char **at, tag *t)
{
    for (;;) {
        const char *start = strchr(*at, '<');
        if (!start) return false;
        if (start[1] == '!' || start[1] == '?') {
            *at = strncmp(start, "<!--", 4) == 0        ? skip_to(start + 4, "-->")
                  : strncmp(start, "<![CDATA[", 9) == 0 ? skip_to(start + 9, "]]>")
                                                        : skip_to(start + 2, ">");
            continue;
        }
        *t = (tag){.closes = start[1] == '/'};
        const char *c = t->name = start + 1 + t->closes;
        for (; *c && !is_blank(*c) && *c != '/' && *c != '>'; c++)
            if (*c == ':') t->name = c + 1;
        t->name_length = (size_t)(c - t->name);
        t->attributes = c;
        for (char quote = 0; *c && (quote || *c != '>'); c++)
            quote = quote ? (*c == quote ? 0 : quote) : *c == '"' || *c == '\'' ? *c : 0;
        t->end = c;
        t->empty = c > t->attributes && c[-1] == '/';
        *at = *c ? c + 1 : c;
        return true;
    }
}

static bool is(const tag *t, const char *name)
{
    return strlen(name) == t->name_length && strncmp(t->name, name, t->name_length) == 0;
}

/* The value of an attribute, which ends at its quote; NULL: the tag has none of that name. */
static const char *value_of(const tag *t, const char *key, size_t *length)
{
    const size_t wanted = strlen(key);
    for (const char *c = t->attributes; c < t->end;) {
        while (c < t->end && (is_blank(*c) || *c == '/')) c++;
        const char *name = c;
        for (; c < t->end && *c != '=' && !is_blank(*c); c++)
            if (*c == ':') name = c + 1;
        const size_t size = (size_t)(c - name);
        while (c < t->end && *c != '"' && *c != '\'') c++;
        if (c >= t->end) return NULL;
        const char *value = c + 1, *close = memchr(value, *c, (size_t)(t->end - value));
        if (!close) return NULL;
        c = close + 1;
        if (size != wanted || strncmp(name, key, wanted) != 0) continue;
        *length = (size_t)(close - value);
        return value;
    }
    return NULL;
}

static size_t put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) return to[0] = (char)code, 1;
    if (code < 0x800)
        return to[0] = (char)(0xc0 | code >> 6), to[1] = (char)(0x80 | (code & 63)), 2;
    if (code < 0x10000)
        return to[0] = (char)(0xe0 | code >> 12), to[1] = (char)(0x80 | (code >> 6 & 63)),
               to[2] = (char)(0x80 | (code & 63)), 3;
    return to[0] = (char)(0xf0 | code >> 18), to[1] = (char)(0x80 | (code >> 12 & 63)),
           to[2] = (char)(0x80 | (code >> 6 & 63)), to[3] = (char)(0x80 | (code & 63)), 4;
}

/* The text of an attribute with its entities replaced; "": none. */
static void text_of(const tag *t, const char *key, char to[XML_TEXT_SIZE])
{
    static const struct {
        const char *entity;
        char is;
    } entities[] = {{"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}};
    size_t length = 0, size = 0;
    const char *c = value_of(t, key, &length), *end = c ? c + length : NULL;
    while (c && c < end && size + 5 < XML_TEXT_SIZE) {
        if (*c != '&') {
            to[size++] = *c++;
            continue;
        }
        const char *after = ++c;
        if (*c == '#') {
            const bool hex = c[1] == 'x';
            char *stop;
            const unsigned long code = strtoul(c + 1 + hex, &stop, hex ? 16 : 10);
            if (code > 0 && code < 0x110000 && !(code >= 0xd800 && code < 0xe000) && *stop == ';')
                size += put_utf8(to + size, (uint32_t)code);
            if (*stop == ';') after = stop + 1;
        }
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
            const size_t n = strlen(entities[i].entity);
            if (strncmp(c, entities[i].entity, n) != 0) continue;
            to[size++] = entities[i].is;
            after = c + n;
        }
        c = after;
    }
    to[size] = 0;
}

static bool number_of(const tag *t, const char *key, uint32_t *number)
{
    size_t length;
    const char *value = value_of(t, key, &length);
    if (!value || length == 0 || length > 10) return false;
    char *stop;
    const unsigned long read = strtoul(value, &stop, 10);
    if (stop != value + length || read >= UINT32_MAX) return false;
    *number = (uint32_t)read;
    return true;
}

/* a coordinate; what is none becomes NaN, which counts as a coordinate that cannot be */
static double coordinate_of(const tag *t, const char *key)
{
    size_t length;
    const char *value = value_of(t, key, &length);
    char *stop = NULL;
    const double read = value ? strtod(value, &stop) : 0;
    return value && length > 0 && stop == value + length ? read : (double)NAN;
}

/* ---- what the files hold ---- */

typedef struct model_file {
    char *name, *text; /* as in the ZIP file */
} model_file;

typedef struct object {
    uint32_t file, id;
    char *name; /* NULL: none */
    size_t first_vertex, vertex_count, first_triangle, triangle_count;
    size_t first_component, component_count;
    int32_t colour;
} object;

typedef struct component {
    uint32_t file, id;
    flr_matrix T;
    char *name; /* of an item */
} component;

typedef struct colour_group {
    uint32_t file, id;
    size_t first, count;
} colour_group;

typedef struct placed_shape {
    size_t object;
    flr_matrix change;
    uint32_t number;
} placed_shape;

typedef struct threemf {
    const flr_import_job *job;
    flr_collect *collect;
    double unit;
    model_file *files;
    object *objects;
    component *components, *items;
    colour_group *groups;
    uint32_t *colours;
    flr_vec3 *vertices;
    flr_triangle *triangles;
    placed_shape *shapes;
    size_t file_count, file_room, object_count, object_room, component_count, component_room,
        item_count, item_room, group_count, group_room, colour_count, colour_room, vertex_count,
        vertex_room, triangle_count, triangle_room, shape_count, shape_room;
    bool utf16; /* a model is not in UTF-8 */
    flr_result result;
} threemf;

/* room for one more */
#define GROW(r, list, count, room)                                                                 \
    ((r)->list = flr_collect_grow((r)->list, &(r)->room, (r)->count + 1, sizeof *(r)->list),       \
     &(r)->list[(r)->count++])

static char *copy_text(const char *text)
{
    size_t room = 0, size = strlen(text) + 1;
    return memcpy(flr_collect_grow(NULL, &room, size, 1), text, size);
}

/* The number of a model file, which is read if it was not yet; FLR_STREAM_NONE: it is not there. */
static uint32_t file_of(threemf *r, const char *name)
{
    while (*name == '/') name++;
    for (size_t i = 0; i < r->file_count; i++)
        if (strcasecmp(r->files[i].name, name) == 0) return (uint32_t)i;
    size_t length;
    char *text =
        r->file_count < MAX_FILES ? flr_zip_read(r->job->bytes, r->job->size, name, &length) : NULL;
    if (!text) return FLR_STREAM_NONE;
    r->utf16 |= memchr(text, 0, length) != NULL;
    *GROW(r, files, file_count, file_room) = (model_file){copy_text(name), text};
    return (uint32_t)(r->file_count - 1);
}

static int32_t colour_at(const threemf *r, uint32_t file, uint32_t group, uint32_t index)
{
    for (size_t i = 0; i < r->group_count; i++)
        if (r->groups[i].file == file && r->groups[i].id == group && index < r->groups[i].count)
            return (int32_t)r->colours[r->groups[i].first + index];
    return NO_COLOUR;
}

/* "#rrggbb" or "#rrggbbaa" */
static void add_colour(threemf *r, const tag *t, const char *key)
{
    size_t length;
    const char *value = value_of(t, key, &length);
    const bool given = value && length >= 7 && value[0] == '#';
    *GROW(r, colours, colour_count, colour_room) =
        given ? (uint32_t)(strtoul(value + 1, NULL, 16) >> (length >= 9 ? 8 : 0)) & 0xffffff : 0;
    r->groups[r->group_count - 1].count++;
}

/* "m00 m01 m02 m10 … m32": a row vector times these */
static bool read_transform(const tag *t, flr_matrix *T)
{
    size_t length;
    const char *value = value_of(t, "transform", &length);
    *T = flr_matrix_identity();
    for (int i = 0; value && i < 12; i++) {
        char *stop;
        const double number = strtod(value, &stop);
        if (stop == value || !isfinite(number)) return false;
        T->m[i % 3][i / 3] = number;
        value = stop;
    }
    return true;
}

static bool fail(threemf *r, const char *what, uint32_t id)
{
    if (r->result == FLR_OK)
        r->result = flr_collect_fail(r->collect, FLR_BAD_INPUT,
                                     "is no valid 3MF file: %s %u" FLR_ADVICE, what, id);
    return false;
}

static bool read_place(threemf *r, uint32_t file, const tag *t, component *to)
{
    char path[XML_TEXT_SIZE];
    *to = (component){.file = file};
    if (!number_of(t, "objectid", &to->id))
        return fail(r, "a component without an object in", file);
    if (!read_transform(t, &to->T))
        return fail(r, "the transform is not twelve numbers, of object", to->id);
    text_of(t, "path", path);
    if (path[0]) to->file = file_of(r, path);
    return to->file != FLR_STREAM_NONE || fail(r, "there is no model file for object", to->id);
}

/* The object that is being read. */
typedef struct object_reading {
    uint32_t file, group, index; /* properties of the object */
    bool coloured, in_object;
    int32_t candidate; /* for the colour of most of its triangles */
    size_t votes;
} object_reading;

static void begin_object(threemf *r, object_reading *now, const tag *t)
{
    char name[XML_TEXT_SIZE];
    if (now->in_object) {
        fail(r, "there is no end of object", r->objects[r->object_count - 1].id);
        return;
    }
    object *o = GROW(r, objects, object_count, object_room);
    *o = (object){.file = now->file,
                  .id = FLR_STREAM_NONE,
                  .first_vertex = r->vertex_count,
                  .first_triangle = r->triangle_count,
                  .first_component = r->component_count,
                  .colour = NO_COLOUR};
    number_of(t, "id", &o->id);
    text_of(t, "name", name);
    if (!name[0]) text_of(t, "partnumber", name);
    if (name[0]) o->name = copy_text(name);
    now->coloured = number_of(t, "pid", &now->group) && number_of(t, "pindex", &now->index);
    if (now->coloured) o->colour = colour_at(r, now->file, now->group, now->index);
    now->candidate = o->colour;
    now->votes = 0;
    now->in_object = !t->empty;
}

static void add_triangle(threemf *r, object_reading *now, const tag *t)
{
    object *o = &r->objects[r->object_count - 1];
    flr_triangle *to = GROW(r, triangles, triangle_count, triangle_room);
    static const char *const corners[] = {"v1", "v2", "v3"};
    for (int k = 0; k < 3; k++)
        if (!number_of(t, corners[k], &to->v[k])) to->v[k] = FLR_STREAM_NONE;
    o->triangle_count++;
    uint32_t group = now->group, index = now->index;
    const bool own = number_of(t, "p1", &index);
    if (own) number_of(t, "pid", &group);
    const int32_t colour = own ? colour_at(r, now->file, group, index) : o->colour;
    if (now->votes == 0) now->candidate = colour;
    now->votes += colour == now->candidate ? 1 : (size_t)-1;
}

static void end_object(threemf *r, object_reading *now)
{
    object *o = &r->objects[r->object_count - 1];
    o->vertex_count = r->vertex_count - o->first_vertex;
    o->component_count = r->component_count - o->first_component;
    if (now->candidate != NO_COLOUR) o->colour = now->candidate;
    now->in_object = false;
}

static void read_model(threemf *r, uint32_t file)
{
    object_reading now = {.file = file};
    const char *at = r->files[file].text;
    tag t;
    while (r->result == FLR_OK && next_tag(&at, &t)) {
        if (t.closes) {
            if (now.in_object && is(&t, "object")) end_object(r, &now);
        } else if (now.in_object && is(&t, "vertex")) {
            *GROW(r, vertices, vertex_count, vertex_room) =
                (flr_vec3){coordinate_of(&t, "x"), coordinate_of(&t, "y"), coordinate_of(&t, "z")};
        } else if (now.in_object && is(&t, "triangle")) {
            add_triangle(r, &now, &t);
        } else if (now.in_object && is(&t, "component")) {
            component one;
            if (read_place(r, file, &t, &one))
                *GROW(r, components, component_count, component_room) = one;
        } else if (is(&t, "object")) {
            begin_object(r, &now, &t);
        } else if (is(&t, "basematerials") || is(&t, "colorgroup")) {
            colour_group *group = GROW(r, groups, group_count, group_room);
            *group = (colour_group){.file = file, .id = FLR_STREAM_NONE, .first = r->colour_count};
            number_of(&t, "id", &group->id);
        } else if (r->group_count && is(&t, "base")) {
            add_colour(r, &t, "displaycolor");
        } else if (r->group_count && is(&t, "color")) {
            add_colour(r, &t, "color");
        } else if (file == 0 && is(&t, "item")) {
            component one;
            char name[XML_TEXT_SIZE];
            if (!read_place(r, file, &t, &one)) return;
            text_of(&t, "partnumber", name);
            if (name[0]) one.name = copy_text(name);
            *GROW(r, items, item_count, item_room) = one;
        }
    }
    if (now.in_object) fail(r, "there is no end of object", r->objects[r->object_count - 1].id);
}

static size_t find_object(const threemf *r, uint32_t file, uint32_t id)
{
    for (size_t i = 0; i < r->object_count; i++)
        if (r->objects[i].file == file && r->objects[i].id == id) return i;
    return SIZE_MAX;
}

static int by_file_and_id(const void *a, const void *b)
{
    const object *one = a, *other = b;
    if (one->file != other->file) return one->file < other->file ? -1 : 1;
    return one->id < other->id ? -1 : one->id > other->id;
}

/* Of several objects of one id the first is what the others of the file mean. */
static void note_duplicates(threemf *r)
{
    enum { MAX_DUPLICATES_TOLD = 20 };
    if (r->object_count == 0) return;
    size_t room = 0;
    object *sorted = flr_collect_grow(NULL, &room, r->object_count, sizeof *sorted);
    memcpy(sorted, r->objects, r->object_count * sizeof *sorted);
    qsort(sorted, r->object_count, sizeof *sorted, by_file_and_id);
    uint32_t notes = 0;
    for (size_t i = 1; i < r->object_count; i++) {
        const bool again = by_file_and_id(&sorted[i - 1], &sorted[i]) == 0,
                   told = i > 1 && by_file_and_id(&sorted[i - 2], &sorted[i]) == 0;
        if (!again || told || sorted[i].id == FLR_STREAM_NONE || notes++ >= MAX_DUPLICATES_TOLD)
            continue;
        flr_collect_note(r->collect, "there are several objects %u; the first one counts",
                         sorted[i].id);
    }
    free(sorted);
}

/* Names that slicers keep beside the model: of objects, and of their parts, which are components. */
static void read_settings(threemf *r, const char *member)
{
    size_t length, whole = SIZE_MAX, named = SIZE_MAX;
    char *text = flr_zip_read(r->job->bytes, r->job->size, member, &length), name[XML_TEXT_SIZE];
    const char *at = text;
    tag t;
    while (at && next_tag(&at, &t)) {
        uint32_t id = FLR_STREAM_NONE;
        if (is(&t, "object")) {
            whole = t.closes || !number_of(&t, "id", &id) ? SIZE_MAX : find_object(r, 0, id);
            named = whole;
        } else if (is(&t, "part") || is(&t, "volume")) {
            named = SIZE_MAX;
            number_of(&t, "id", &id);
            const object *o = whole != SIZE_MAX && !t.closes ? &r->objects[whole] : NULL;
            for (size_t i = 0; o && i < o->component_count; i++) {
                const component *c = &r->components[o->first_component + i];
                if (c->id == id) named = find_object(r, c->file, id);
            }
        } else if (named != SIZE_MAX && is(&t, "metadata") && !r->objects[named].name) {
            text_of(&t, "key", name);
            if (strcmp(name, "name") != 0) continue;
            text_of(&t, "value", name);
            if (name[0]) r->objects[named].name = copy_text(name);
        }
    }
    free(text);
}

/* ---- shapes and the tree ---- */

static uint32_t shape_of(threemf *r, size_t index, const flr_matrix *change)
{
    for (size_t i = 0; i < r->shape_count; i++)
        if (r->shapes[i].object == index &&
            memcmp(&r->shapes[i].change, change, sizeof *change) == 0)
            return r->shapes[i].number;
    const object *o = &r->objects[index];
    const uint32_t number = flr_collect_shape(r->collect, o->name);
    *GROW(r, shapes, shape_count, shape_room) = (placed_shape){index, *change, number};
    size_t room = 0;
    uint32_t *at = flr_collect_grow(NULL, &room, o->vertex_count + 1, sizeof *at);
    for (size_t i = 0; i < o->vertex_count; i++) {
        const flr_vec3 v = r->vertices[o->first_vertex + i];
        double p[3];
        for (int k = 0; k < 3; k++)
            p[k] =
                (change->m[k][0] * v.x + change->m[k][1] * v.y + change->m[k][2] * v.z) * r->unit;
        at[i] = flr_collect_vertex(r->collect, (flr_vec3){p[0], p[1], p[2]});
    }
    const bool mirrored = flr_matrix_determinant(change) < 0;
    for (size_t i = 0; i < o->triangle_count; i++) {
        const uint32_t *v = r->triangles[o->first_triangle + i].v;
        if (v[0] >= o->vertex_count || v[1] >= o->vertex_count || v[2] >= o->vertex_count)
            flr_collect_malformed(r->collect, "a face points at a vertex that is not there");
        else
            flr_collect_triangle(r->collect, at[v[0]], at[v[mirrored ? 2 : 1]],
                                 at[v[mirrored ? 1 : 2]]);
    }
    free(at);
    return number;
}

static bool add_placed(threemf *r, const component *c, const flr_matrix *T_parent, uint32_t parent,
                       int depth)
{
    const size_t index = find_object(r, c->file, c->id);
    if (index == SIZE_MAX) return fail(r, "there is no object", c->id);
    if (depth > MAX_NESTED)
        return fail(r, "components are nested too deeply, or in a circle, at object", c->id);
    if (r->collect->content.head.node_count >= FLR_STREAM_MAX_NODES)
        return fail(r, "there are too many components, at object", c->id);
    const object *o = &r->objects[index];
    const flr_matrix T = flr_matrix_multiply(T_parent, &c->T);
    for (int i = 0; i < 3; i++)
        if (!(fabs(T.m[i][3] * r->unit) <= FLR_MESH_MAX_COORDINATE))
            return fail(r, "the transform puts it too far out, of object", c->id);
    flr_stream_node node = {.parent = parent,
                            .group = FLR_STREAM_NONE,
                            .colour =
                                o->colour == NO_COLOUR ? FLR_STREAM_NONE : (uint32_t)o->colour,
                            .T_root_node = flr_matrix_pose(&T, r->unit)};
    if (o->triangle_count) {
        const flr_matrix change = flr_matrix_reshaping(&T, &node.T_root_node);
        node.group = shape_of(r, index, &change);
    }
    const char *name = o->name ? o->name : c->name;
    const uint32_t number = flr_collect_node(r->collect, name, node);
    for (size_t i = 0; i < o->component_count; i++)
        if (!add_placed(r, &r->components[o->first_component + i], &T, number, depth + 1))
            return false;
    return true;
}

/* ---- the file ---- */

/* The name of the model that the file begins with. */
static void find_root(const flr_import_job *job, char name[XML_TEXT_SIZE])
{
    size_t length;
    char *text = flr_zip_read(job->bytes, job->size, "_rels/.rels", &length), type[XML_TEXT_SIZE];
    const char *at = text;
    tag t;
    snprintf(name, XML_TEXT_SIZE, "3D/3dmodel.model");
    while (at && next_tag(&at, &t)) {
        if (!is(&t, "Relationship")) continue;
        text_of(&t, "Type", type);
        const char *last = strrchr(type, '/');
        if (last && strcmp(last, "/3dmodel") == 0) text_of(&t, "Target", name);
    }
    free(text);
}

flr_result flr_threemf_read(const flr_import_job *job, flr_collect *collect)
{
    threemf r = {.job = job, .collect = collect};
    char root[XML_TEXT_SIZE];
    find_root(job, root);
    if (file_of(&r, root) != 0)
        return flr_collect_fail(collect, FLR_BAD_INPUT, "is not a readable 3MF file" FLR_ADVICE);
    if (r.utf16) return FLR_UNSUPPORTED;
    flr_stream_head *head = &collect->content.head;
    const char *text = r.files[0].text;
    const double stated = flr_unit_of_file("3mf", (const uint8_t *)text, strlen(text));
    head->unit = r.unit = job->unit > 0 ? job->unit : stated;
    head->unit_from_file =
        !(job->unit > 0) &&
        !flr_unit_note_unknown(collect, "3mf", (const uint8_t *)text, strlen(text));
    head->up = 3;
    // reading a model may name further ones
    for (size_t i = 0; i < r.file_count && r.result == FLR_OK; i++) read_model(&r, (uint32_t)i);
    note_duplicates(&r);
    read_settings(&r, "Metadata/model_settings.config");
    read_settings(&r, "Metadata/Slic3r_PE_model.config");
    const flr_matrix none = flr_matrix_identity();
    for (size_t i = 0; i < r.item_count && r.result == FLR_OK; i++)
        add_placed(&r, &r.items[i], &none, FLR_STREAM_NONE, 0);
    // the process ends next, so nobody needs the memory back
    return r.result;
}
