/* VRML 2 (VRML 97), VRML 1 and Inventor ASCII: IndexedFaceSet, boxes and what places them
 *
 * The text is read as a tree of nodes, `Type { field value … }`, by one grammar for all three. VRML 2 puts nodes into fields
 * (`children`, `geometry`, `coord`) and a Transform places what is in it; in Inventor and VRML 1 nodes follow each other, and
 * coordinates and transforms hold for what follows in the same Separator. A node that is used again (`DEF`, `USE`) is read again
 * where it is used. Fields may come in any order, so that a node is looked through for its own fields before what is in it is
 * read; arrays of numbers are not copied but remembered by their place. Depth and the bytes looked at are limited, because a few
 * bytes can use each other without end. */
#include <math.h>
#include <string.h>

#include "mesh/decimal.h"
#include "mesh/polygon.h"

enum { VRML_DEPTH = 64, VRML_REREAD = 64 };

/* a place in the text; NULL: none */
typedef const char *place;

/* how what follows is placed: x -> m x + t */
typedef struct vrml_frame {
    double m[3][3], t[3];
} vrml_frame;

/* what holds for the nodes that follow */
typedef struct vrml_state {
    vrml_frame frame;
    place points; /* the array of the last coordinates */
} vrml_state;

/* DEF */
typedef struct vrml_name {
    place name, node;
    size_t length;
} vrml_name;

typedef struct vrml {
    flr_reader *reader;
    flr_faces faces; /* of the face set at hand */
    size_t points;   /* of all face sets so far */
    bool binary;     /* its first line says so */
    bool inventor;   /* nodes follow each other; else VRML 2 */
    vrml_name *names;
    size_t name_count, name_capacity;
    uint64_t looked; /* bytes */
    unsigned depth;
} vrml;

/* ---- words ---- */

static bool is_gap(char c) { return flr_is_space(c) || c == ','; }

static bool is_mark(char c) { return c == '{' || c == '}' || c == '[' || c == ']'; }

static place skip_gap(const vrml *v, place c)
{
    const char *end = v->reader->end;
    for (;;) {
        while (c < end && is_gap(*c)) c++;
        if (c == end || *c != '#') return c;
        while (c < end && *c != '\n' && *c != '\r') c++;
    }
}

/* behind the word, text or bracket at c */
static place word_end(const vrml *v, place c)
{
    const char *end = v->reader->end;
    if (c == end) return c;
    if (is_mark(*c)) return c + 1;
    if (*c == '"') {
        for (c++; c < end && *c != '"'; c++)
            if (*c == '\\' && c + 1 < end) c++;
        return c < end ? c + 1 : c;
    }
    while (c < end && !is_gap(*c) && !is_mark(*c) && *c != '"' && *c != '#') c++;
    return c;
}

/* the next word behind c */
static place next(const vrml *v, place c) { return skip_gap(v, word_end(v, c)); }

static bool is_word(const vrml *v, place c, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(word_end(v, c) - c) == length && !memcmp(c, word, length);
}

static bool at_mark(const vrml *v, place c, char mark) { return c < v->reader->end && *c == mark; }

static bool is_number(place c)
{
    return (*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == '.';
}

static flr_result cut_off(vrml *v)
{
    return flr_reader_stop(v->reader, v->reader->end,
                           "the file ends inside a node; it is cut off, so get a whole copy of it");
}

/* Counts what was looked at between two places. */
static flr_result look(vrml *v, place from, place to)
{
    v->looked += (uint64_t)(to - from) + 1;
    if (v->looked <= VRML_REREAD * ((uint64_t)(v->reader->end - v->reader->bytes) + 1024))
        return FLR_OK;
    return flr_reader_stop(v->reader, from,
                           "nodes use each other too often; export the file without USE");
}

/* *c is at an opening bracket; afterwards behind the closing one. */
static flr_result skip_brackets(vrml *v, place *c)
{
    const place from = *c;
    unsigned open = 0;
    do {
        if (*c == v->reader->end) return cut_off(v);
        if (**c == '{' || **c == '[') open++;
        if (**c == '}' || **c == ']') open--;
        *c = next(v, *c);
    } while (open > 0);
    return look(v, from, *c);
}

/* ---- fields ---- */

/* *c is at a node (DEF name Type {…}, Type {…} or USE name); afterwards behind it. */
static flr_result skip_node(vrml *v, place *c)
{
    if (is_word(v, *c, "USE")) {
        *c = next(v, next(v, *c));
        return FLR_OK;
    }
    if (is_word(v, *c, "DEF")) *c = next(v, next(v, *c));
    *c = next(v, *c);
    if (!at_mark(v, *c, '{')) return *c == v->reader->end ? cut_off(v) : FLR_OK;
    return skip_brackets(v, c);
}

static bool is_node(const vrml *v, place c)
{
    return is_word(v, c, "DEF") || is_word(v, c, "USE") || at_mark(v, next(v, c), '{');
}

/* *c is behind the name of a field; afterwards behind its value. */
static flr_result skip_value(vrml *v, place *c)
{
    if (*c == v->reader->end) return cut_off(v);
    if (at_mark(v, *c, '[')) return skip_brackets(v, c);
    if (at_mark(v, *c, '}') || at_mark(v, *c, ']')) return FLR_OK;
    if (is_number(*c) || **c == '"') {
        const place from = *c;
        while (*c < v->reader->end && (is_number(*c) || **c == '"')) *c = next(v, *c);
        return look(v, from, *c);
    }
    if (is_node(v, *c)) return skip_node(v, c);
    *c = next(v, *c); // TRUE, an enumeration
    return FLR_OK;
}

/* The value of a field of the node whose body begins at `body`; NULL: it is not there. */
static flr_result find_field(vrml *v, place body, const char *name, place *value)
{
    *value = NULL;
    for (place c = body; !at_mark(v, c, '}');) {
        if (c == v->reader->end) return cut_off(v);
        flr_result result = FLR_OK;
        if (is_node(v, c)) {
            result = skip_node(v, &c);
        } else if (at_mark(v, c, '{') || at_mark(v, c, '[')) {
            result = skip_brackets(v, &c);
        } else {
            const bool found = is_word(v, c, name);
            const place from = c;
            c = next(v, c);
            if (found) *value = c;
            if (found) return FLR_OK;
            result = skip_value(v, &c);
            if (result == FLR_OK && c == from)
                return flr_reader_stop(v->reader, c, "expected the name of a field");
        }
        if (result != FLR_OK) return result;
    }
    return FLR_OK;
}

/* So many numbers at a place; false where there are fewer. */
static bool numbers(const vrml *v, place c, double *to, unsigned count)
{
    if (!c) return false;
    if (at_mark(v, c, '[')) c = next(v, c);
    for (unsigned i = 0; i < count; i++) {
        const place after = flr_decimal_parse(c, v->reader->end, FLR_DOUBLE, &to[i]);
        if (!after || after != word_end(v, c) || !isfinite(to[i])) return false;
        c = skip_gap(v, after);
    }
    return true;
}

/* ---- frames ---- */

static const vrml_frame nowhere = {.m = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

/* First b, then a. */
static vrml_frame then(const vrml_frame *a, const vrml_frame *b)
{
    vrml_frame sum = {.t = {a->t[0], a->t[1], a->t[2]}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            sum.t[i] += a->m[i][k] * b->t[k];
            for (int n = 0; n < 3; n++) sum.m[i][k] += a->m[i][n] * b->m[n][k];
        }
    return sum;
}

static vrml_frame moved(const double t[3], double sign)
{
    vrml_frame frame = nowhere;
    for (int i = 0; i < 3; i++) frame.t[i] = sign * t[i];
    return frame;
}

static vrml_frame turned(const double r[4], double sign)
{
    vrml_frame frame = nowhere;
    const flr_vec3 axis = flr_vec3_normalize(flr_vec3_make(r[0], r[1], r[2]));
    const flr_quat q = flr_quat_from_axis_angle(axis, sign * r[3]);
    for (int k = 0; k < 3; k++) {
        const flr_vec3 to =
            flr_quat_rotate(q, flr_vec3_make(k == 0 ? 1 : 0, k == 1 ? 1 : 0, k == 2 ? 1 : 0));
        frame.m[0][k] = to.x, frame.m[1][k] = to.y, frame.m[2][k] = to.z;
    }
    return frame;
}

static vrml_frame sized(const double s[3])
{
    vrml_frame frame = nowhere;
    for (int i = 0; i < 3; i++) frame.m[i][i] = s[i];
    return frame;
}

/* T C R SR S -SR -C, as both standards have it. */
static flr_result read_frame(vrml *v, place body, vrml_frame *frame)
{
    double t[3] = {0}, r[4] = {0, 0, 1, 0}, s[3] = {1, 1, 1}, so[4] = {0, 0, 1, 0}, c[3] = {0};
    const struct {
        const char *name;
        double *to;
        unsigned count;
    } fields[] = {{"translation", t, 3}, {"rotation", r, 4}, {"scale", s, 3},
                  {"scaleFactor", s, 3}, {"center", c, 3},   {"scaleOrientation", so, 4}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        place value;
        flr_result result = find_field(v, body, fields[i].name, &value);
        if (result != FLR_OK) return result;
        if (value && !numbers(v, value, fields[i].to, fields[i].count))
            return flr_reader_stop(v->reader, value, "%s needs %u numbers", fields[i].name,
                                   fields[i].count);
    }
    const vrml_frame steps[] = {moved(t, 1), moved(c, 1),    turned(r, 1), turned(so, 1),
                                sized(s),    turned(so, -1), moved(c, -1)};
    *frame = nowhere;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) *frame = then(frame, &steps[i]);
    return FLR_OK;
}

/* A matrix of 16 numbers, which multiplies rows. */
static flr_result read_matrix(vrml *v, place body, vrml_frame *frame)
{
    double m[16];
    place value;
    flr_result result = find_field(v, body, "matrix", &value);
    if (result != FLR_OK || !value) return result;
    if (!numbers(v, value, m, 16))
        return flr_reader_stop(v->reader, value, "matrix needs 16 numbers");
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) frame->m[i][k] = m[4 * k + i];
        frame->t[i] = m[12 + i];
    }
    return FLR_OK;
}

static flr_vec3 placed(const vrml *v, const vrml_frame *f, const double p[3])
{
    double q[3];
    for (int i = 0; i < 3; i++)
        q[i] =
            v->reader->unit * (f->m[i][0] * p[0] + f->m[i][1] * p[1] + f->m[i][2] * p[2] + f->t[i]);
    return flr_vec3_make(q[0], q[1], q[2]);
}

/* ---- geometry ---- */

static flr_result add_face(vrml *v, place at)
{
    flr_result result = FLR_OK;
    if (v->faces.corner_count >= 3) {
        v->reader->report->triangles_in_file += v->faces.corner_count - 2;
        result = flr_faces_add(&v->faces, v->reader, at);
    }
    v->faces.corner_count = 0;
    return result;
}

/* The points of a face set are there. */
static flr_result begin_faces(vrml *v)
{
    v->points += v->faces.count;
    v->reader->report->vertices_in_file = v->points;
    flr_result result = flr_faces_begin(&v->faces, v->reader);
    v->reader->builder.weld.max_count = v->points;
    return result;
}

static flr_result read_points(vrml *v, const vrml_frame *frame, place c)
{
    const place from = c;
    v->faces.count = 0;
    if (at_mark(v, c, '[')) c = skip_gap(v, c + 1);
    while (c < v->reader->end && is_number(c)) {
        double p[3];
        if (!numbers(v, c, p, 3))
            return flr_reader_stop(v->reader, c, "a point needs three numbers");
        flr_result result = flr_faces_position(&v->faces, v->reader, placed(v, frame, p));
        if (result != FLR_OK) return result;
        c = next(v, next(v, next(v, c)));
    }
    flr_result result = look(v, from, c);
    return result == FLR_OK ? begin_faces(v) : result;
}

static flr_result read_faces(vrml *v, place c)
{
    const place from = c;
    flr_result result = FLR_OK;
    if (at_mark(v, c, '[')) c = skip_gap(v, c + 1);
    for (; c < v->reader->end && is_number(c) && result == FLR_OK; c = next(v, c)) {
        int64_t index;
        const place after = flr_integer_parse(c, v->reader->end, &index);
        if (!after || after != word_end(v, c))
            return flr_reader_stop(v->reader, c, "coordIndex holds whole numbers");
        if (index < 0)
            result = add_face(v, c);
        else if ((uint64_t)index >= v->faces.count)
            return flr_reader_stop(v->reader, c,
                                   "a face names point %lld of %zu; they count from 0",
                                   (long long)index, v->faces.count);
        else
            result = flr_faces_corner(&v->faces, v->reader, (uint32_t)index);
    }
    if (result == FLR_OK) result = add_face(v, c);
    if (result == FLR_OK) result = look(v, from, c);
    return result == FLR_OK ? flr_faces_flush(&v->faces, v->reader) : result;
}

static flr_result find_node(vrml *v, place c, place *type);

/* The array of points of a Coordinate node, which may be used. */
static flr_result find_points(vrml *v, place node, place *points)
{
    place type;
    flr_result result = find_node(v, node, &type);
    if (result != FLR_OK || !type) return result;
    return find_field(v, next(v, next(v, type)), "point", points);
}

static flr_result read_face_set(vrml *v, const vrml_state *state, place at, place body)
{
    place points = state->points, coord, faces;
    flr_result result = find_field(v, body, "coord", &coord);
    if (result == FLR_OK && coord) result = find_points(v, coord, &points);
    if (result == FLR_OK) result = find_field(v, body, "coordIndex", &faces);
    if (result != FLR_OK || !faces) return result;
    if (!points)
        return flr_reader_complain(v->reader, at,
                                   "an IndexedFaceSet has no coordinates; export the file again");
    result = read_points(v, &state->frame, points);
    return result == FLR_OK ? read_faces(v, faces) : result;
}

static flr_result read_box(vrml *v, const vrml_state *state, place at, place body)
{
    static const uint8_t sides[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    double size[3] = {2, 2, 2};
    const char *const names[3] = {"width", "height", "depth"};
    place value;
    flr_result result = find_field(v, body, "size", &value);
    if (result == FLR_OK && value && !numbers(v, value, size, 3))
        return flr_reader_stop(v->reader, value, "size needs 3 numbers");
    for (int i = 0; i < 3 && result == FLR_OK; i++) {
        result = find_field(v, body, names[i], &value);
        if (result == FLR_OK && value && !numbers(v, value, &size[i], 1))
            return flr_reader_stop(v->reader, value, "%s needs a number", names[i]);
    }
    v->faces.count = 0;
    for (int i = 0; i < 8 && result == FLR_OK; i++) {
        const double p[3] = {(i & 1 ? 0.5 : -0.5) * size[0], (i & 2 ? 0.5 : -0.5) * size[1],
                             (i & 4 ? 0.5 : -0.5) * size[2]};
        result = flr_faces_position(&v->faces, v->reader, placed(v, &state->frame, p));
    }
    if (result == FLR_OK) result = begin_faces(v);
    for (int i = 0; i < 6 && result == FLR_OK; i++) {
        for (int k = 0; k < 4 && result == FLR_OK; k++)
            result = flr_faces_corner(&v->faces, v->reader, sides[i][k]);
        if (result == FLR_OK) result = add_face(v, at);
    }
    return result == FLR_OK ? flr_faces_flush(&v->faces, v->reader) : result;
}

/* ---- nodes ---- */

static flr_result note_name(vrml *v, place name, place node)
{
    flr_result result = FLR_OK;
    if (v->name_count == v->name_capacity)
        v->names = flr_budget_grow(&v->reader->builder.budget, v->names, &v->name_capacity,
                                   v->name_count + 1, sizeof *v->names, &result);
    if (result != FLR_OK) return flr_reader_built(v->reader, result);
    v->names[v->name_count++] = (vrml_name){name, node, (size_t)(word_end(v, name) - name)};
    return FLR_OK;
}

/* The type of the node at c, wherever it was defined; NULL: there is none. */
static flr_result find_node(vrml *v, place c, place *type)
{
    *type = NULL;
    if (is_word(v, c, "DEF")) {
        const place name = next(v, c), node = next(v, name);
        if (node == v->reader->end) return cut_off(v);
        *type = node;
        return note_name(v, name, node);
    }
    if (!is_word(v, c, "USE")) {
        *type = c;
        return FLR_OK;
    }
    const place name = next(v, c);
    const size_t length = (size_t)(word_end(v, name) - name);
    for (size_t i = v->name_count; i-- > 0 && !*type;)
        if (v->names[i].length == length && !memcmp(v->names[i].name, name, length))
            *type = v->names[i].node;
    v->looked += v->name_count; // a search takes time, too
    flr_result looked = look(v, c, name);
    if (looked != FLR_OK) return looked;
    return *type ? FLR_OK
                 : flr_reader_stop(v->reader, c, "USE of '%s', which no DEF before it names",
                                   FLR_WORD_TEXT(v->reader, name));
}

static flr_result read_node(vrml *v, place node, vrml_state *state);

/* The nodes in a body, or of an array; only the one of that number, if `only` is not negative. Afterwards behind the bracket. */
static flr_result read_nodes(vrml *v, place c, char closing, int64_t only, vrml_state *state)
{
    flr_result result = FLR_OK;
    for (int64_t number = 0; result == FLR_OK && !at_mark(v, c, closing);) {
        if (c == v->reader->end) return cut_off(v);
        const place from = c;
        if (is_node(v, c)) {
            if (only < 0 || number++ == only) result = read_node(v, c, state);
            if (result == FLR_OK) result = skip_node(v, &c);
        } else if (at_mark(v, c, '{') || at_mark(v, c, '[') || at_mark(v, c, '}') ||
                   at_mark(v, c, ']')) {
            return flr_reader_stop(v->reader, c, "a bracket without its node or field");
        } else {
            c = next(v, c); // the name of a field
            const bool nodes = at_mark(v, c, '[') && is_node(v, skip_gap(v, c + 1));
            if (nodes) result = read_nodes(v, skip_gap(v, c + 1), ']', only, state);
            if (result == FLR_OK && !nodes && c < v->reader->end && !is_number(c) && is_node(v, c))
                result = read_node(v, c, state);
            if (result == FLR_OK) result = skip_value(v, &c);
        }
        if (result == FLR_OK) result = look(v, from, c);
        if (result == FLR_OK && c == from)
            return flr_reader_stop(v->reader, c, "expected a node or a field");
    }
    return result;
}

/* What only some of the children are: the first level of detail, the choice of a switch. */
static flr_result find_only(vrml *v, place type, place body, int64_t *only)
{
    *only = is_word(v, type, "LOD") ? 0 : -1;
    if (!is_word(v, type, "Switch")) return FLR_OK;
    place value;
    double number = -1;
    flr_result result = find_field(v, body, v->inventor ? "whichChild" : "whichChoice", &value);
    if (value && numbers(v, value, &number, 1) && number >= 0 && number < 1e6)
        *only = (int64_t)number;
    else
        *only = number <= -3 ? -1 : INT64_MAX; // -3: all of them
    return result;
}

static bool is_any(const vrml *v, place type, const char *const *words)
{
    for (; *words; words++)
        if (is_word(v, type, *words)) return true;
    return false;
}

/* Nodes that would be geometry, or lead to some, and are not read. */
static flr_result complain(vrml *v, place type)
{
    static const char *const shapes[] = {"Sphere",
                                         "Cone",
                                         "Cylinder",
                                         "Extrusion",
                                         "ElevationGrid",
                                         "FaceSet",
                                         "QuadMesh",
                                         "TriangleStripSet",
                                         "IndexedTriangleStripSet",
                                         "IndexedNurbsSurface",
                                         "NurbsSurface",
                                         NULL};
    static const char *const files[] = {"Inline", "WWWInline", "File", "EXTERNPROTO", NULL};
    if (is_any(v, type, shapes)) {
        v->reader->report->dropped_malformed++;
        return flr_reader_complain(v->reader, type,
                                   "%s is not read; export the file with IndexedFaceSet",
                                   FLR_WORD_TEXT(v->reader, type));
    }
    if (is_any(v, type, files)) {
        v->reader->report->dropped_malformed++;
        return flr_reader_complain(v->reader, type,
                                   "%s names another file, which is not read; export one file",
                                   FLR_WORD_TEXT(v->reader, type));
    }
    return FLR_OK;
}

static flr_result read_typed(vrml *v, place type, place body, vrml_state *state)
{
    static const char *const places[] = {"Translation", "Rotation", "Scale", "RotationXYZ", NULL};
    vrml_frame frame = nowhere;
    flr_result result = FLR_OK;
    int64_t only;
    if (is_word(v, type, "IndexedFaceSet")) return read_face_set(v, state, type, body);
    if (is_word(v, type, "Box") || is_word(v, type, "Cube")) return read_box(v, state, type, body);
    if (is_word(v, type, "Coordinate3") || is_word(v, type, "Coordinate"))
        return find_field(v, body, "point", &state->points);
    if (is_any(v, type, places) || (v->inventor && is_word(v, type, "Transform"))) {
        result = read_frame(v, body, &frame);
        state->frame = then(&state->frame, &frame);
        return result;
    }
    if (is_word(v, type, "MatrixTransform")) {
        result = read_matrix(v, body, &frame);
        state->frame = then(&state->frame, &frame);
        return result;
    }
    result = complain(v, type);
    if (result != FLR_OK) return result;
    vrml_state inner = *state;
    if (!v->inventor && is_word(v, type, "Transform")) {
        result = read_frame(v, body, &frame);
        inner.frame = then(&state->frame, &frame);
    }
    if (result == FLR_OK) result = find_only(v, type, body, &only);
    // a Group of Inventor changes what follows it; all else keeps that to itself
    const bool open = v->inventor && is_word(v, type, "Group");
    return result == FLR_OK ? read_nodes(v, body, '}', only, open ? state : &inner) : result;
}

static flr_result read_node(vrml *v, place node, vrml_state *state)
{
    place type;
    flr_result result = find_node(v, node, &type);
    if (result != FLR_OK) return result;
    if (is_word(v, type, "PROTO") || is_word(v, type, "EXTERNPROTO"))
        return flr_reader_stop(v->reader, type, "PROTO is not read; export the file without it");
    const place brace = next(v, type);
    if (!at_mark(v, brace, '{'))
        return flr_reader_stop(v->reader, type, "expected a node: a type and its '{'");
    if (v->depth == VRML_DEPTH)
        return flr_reader_stop(v->reader, type, "nodes more than %d deep in each other",
                               VRML_DEPTH);
    v->depth++;
    result = look(v, type, brace);
    if (result == FLR_OK) result = read_typed(v, type, skip_gap(v, brace + 1), state);
    v->depth--;
    return result;
}

/* ---- the file ---- */

static flr_result read_all(vrml *v)
{
    vrml_state state = {.frame = nowhere};
    flr_result result = FLR_OK;
    for (place c = skip_gap(v, v->reader->bytes); result == FLR_OK && c < v->reader->end;) {
        const place from = c;
        if (is_word(v, c, "ROUTE")) {
            c = next(v, next(v, next(v, next(v, c))));
            continue;
        }
        if (is_word(v, c, "PROTO") || is_word(v, c, "EXTERNPROTO"))
            return flr_reader_stop(v->reader, c, "PROTO is not read; export the file without it");
        if (!is_node(v, c)) {
            return flr_reader_stop(v->reader, c, "expected a node, found '%s'",
                                   FLR_WORD_TEXT(v->reader, c));
        }
        result = read_node(v, c, &state);
        if (result == FLR_OK) result = skip_node(v, &c);
        if (result == FLR_OK) result = look(v, from, c);
    }
    return result;
}

flr_result flr_read_vrml(flr_reader *reader)
{
    vrml all, *v = &all;
    memset(v, 0, sizeof *v);
    v->reader = reader;
    static const char second[] = "#VRML V2.0";
    const size_t size = (size_t)(reader->end - reader->bytes);
    v->inventor = size < sizeof second - 1 || memcmp(reader->bytes, second, sizeof second - 1) != 0;
    flr_result result = FLR_OK;
    const char *line = memchr(reader->bytes, '\n', size < 64 ? size : 64);
    static const char binary[] = "binary";
    for (const char *c = reader->bytes; line && c + sizeof binary - 1 <= line; c++)
        if (!memcmp(c, binary, sizeof binary - 1)) v->binary = true;
    if (v->binary)
        result = flr_reader_stop(reader, reader->bytes,
                                 "binary Inventor is not read; convert it to ASCII (ivcat)");
    if (result == FLR_OK) result = read_all(v);
    flr_faces_free(&v->faces, reader);
    flr_budget_free(&reader->builder.budget, v->names, v->name_capacity, sizeof *v->names);
    return result;
}
