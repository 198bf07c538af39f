/* OBJ: v, f, g and o; everything else is passed over
 *
 * Two passes over the text: the vertices first, because a face may name vertices that come later
 * and its polygon can be cut only when they are known; then the faces. The first pass also counts what
 * the second will make: a polygon takes six times its text as triangles, too much to be copied
 * while they grow. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "mesh/decimal.h"
#include "mesh/polygon.h"

typedef struct obj {
    flr_reader *reader;
    flr_faces faces;
    char newline;      /* '\n', or '\r' in a file that has no other */
    int64_t seen;      /* second pass: vertices above this line */
    const char *group; /* name of the last g or o; NULL: none since the last face */
    size_t group_length;
    const char *current; /* name of the group that is open */
    size_t current_length;
    /* first pass: what the second will make at most */
    size_t triangles, groups, names; /* names: bytes, with a zero behind each */
    size_t corners;                  /* of the largest face */
} obj;

/* ---- lines and words ---- */

static bool is_blank(const obj *o, char c)
{
    return flr_is_blank(c) || (c == '\r' && o->newline == '\n');
}

/* where the line that holds `c` ends: at its newline or the end of the file. A '\' before the
 * newline joins the next line, except in comments. */
static const char *line_end(const obj *o, const char *c)
{
    const char *end = o->reader->end, *first = c;
    bool comment = c < end && *c == '#';
    for (;;) {
        const char *newline = memchr(c, o->newline, (size_t)(end - c));
        if (!newline) return end;
        const char *last = newline > first && newline[-1] == '\r' ? newline - 1 : newline;
        if (comment || last == first || last[-1] != '\\') return newline;
        c = newline + 1;
    }
}

/* over blanks and joined lines */
static const char *skip_blanks(const obj *o, const char *c)
{
    const char *end = o->reader->end;
    for (;;) {
        while (c < end && is_blank(o, *c)) c++;
        if (c == end || *c != '\\') return c;
        const char *after = c + 1;
        if (after < end && *after == '\r' && o->newline == '\n') after++;
        if (after == end || *after != o->newline) return c;
        c = after + 1;
    }
}

/* nothing more on this line? */
static bool at_line_end(const obj *o, const char *c)
{
    return c == o->reader->end || *c == o->newline || *c == '#';
}

static bool at_word_end(const obj *o, const char *c)
{
    return at_line_end(o, c) || is_blank(o, *c) || *c == '\\';
}

/* the line begins with this one letter and a blank */
static bool is_line_of(const obj *o, const char *c, char letter)
{
    return c < o->reader->end && *c == letter && at_word_end(o, c + 1);
}

/* ---- vertices ---- */

static flr_result read_vertex(obj *o, const char *line)
{
    flr_reader *reader = o->reader;
    double value[3];
    const char *c = line + 1;
    for (unsigned i = 0; i < 3; i++) {
        c = skip_blanks(o, c);
        const char *after = flr_decimal_parse(c, reader->end, FLR_DOUBLE, &value[i]);
        if (after && at_word_end(o, after)) {
            c = after;
            continue;
        }
        flr_result result;
        if (at_line_end(o, c))
            result = flr_reader_complain(reader, c,
                                         "a vertex with %u of its three numbers; repair the file "
                                         "or export it again",
                                         i);
        else
            result = flr_reader_complain(reader, c,
                                         "'%s' is not a number; repair the file or export it again",
                                         FLR_WORD_TEXT(reader, c));
        if (result != FLR_OK) return result;
        // it keeps its place, so that the numbers of the others stay right
        reader->report->bad_vertices++;
        value[0] = value[1] = value[2] = NAN;
        break;
    }
    double unit = reader->unit;
    return flr_faces_position(&o->faces, reader,
                              flr_vec3_make(value[0] * unit, value[1] * unit, value[2] * unit));
}

/* a group begins where a g or o with another name came before a face */
static bool begins_group(obj *o)
{
    const char *name = o->group;
    size_t length = o->group_length;
    o->group = NULL;
    if (!name || (o->current && length == o->current_length && !memcmp(name, o->current, length)))
        return false;
    o->current = name;
    o->current_length = length;
    return true;
}

/* how many words begin between `c`, which is none, and `end`. Blanks are all bytes up to ' ', so there may be more words
 * than corners, never fewer. Eight bytes at once: the top bit of each says whether it belongs to a word. */
static size_t count_words(const char *c, const char *end)
{
    const uint64_t top = UINT64_C(0x8080808080808080), above = UINT64_C(0x5f5f5f5f5f5f5f5f);
    size_t words = 0;
    bool inside = false;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; end - c >= 8; c += 8) {
        uint64_t bytes;
        memcpy(&bytes, c, 8);
        uint64_t word = (((bytes & ~top) + above) | bytes) & top;
        words += (size_t)__builtin_popcountll(word & ~(word << 8 | (inside ? 0x80 : 0)));
        inside = word >> 63;
    }
#endif
    for (; c < end; c++) {
        bool before = inside;
        inside = (unsigned char)*c > ' ';
        words += inside && !before;
    }
    return words;
}

static void count_face(obj *o, const char *line, const char *end)
{
    size_t words = count_words(line + 1, end);
    if (words >= 3) o->triangles += words - 2;
    if (words > o->corners) o->corners = words;
    if (!begins_group(o)) return;
    o->names += o->current_length + 1;
    o->groups++;
}

static void read_group(obj *o, const char *line, const char *end)
{
    const char *c = line + 1;
    while (c < end && is_blank(o, *c)) c++;
    while (end > c && is_blank(o, end[-1])) end--;
    o->group = c;
    o->group_length = (size_t)(end - c);
}

/* Room for what was counted. Where the budget has none, there are words that are no corners, or the file will be
 * refused when it has made too much. */
static void expect_counted(obj *o)
{
    flr_builder *builder = &o->reader->builder;
    // triangles before the first group are in one without a name; a file without groups has one, too
    flr_builder_expect_groups(builder, o->groups + 1, o->names + 1);
    flr_faces_expect_corners(&o->faces, o->reader, o->corners);
    (void)flr_builder_expect(builder, o->triangles, 0);
    o->group = o->current = NULL;
    o->group_length = o->current_length = 0;
}

static flr_result read_vertices(obj *o)
{
    const char *end = o->reader->end, *c = o->reader->bytes;
    flr_result result = FLR_OK;
    while (result == FLR_OK && c < end) {
        c = skip_blanks(o, c);
        const char *behind = line_end(o, c);
        if (is_line_of(o, c, 'v'))
            result = read_vertex(o, c);
        else if (is_line_of(o, c, 'f'))
            count_face(o, c, behind);
        else if (is_line_of(o, c, 'g') || is_line_of(o, c, 'o'))
            read_group(o, c, behind);
        c = behind < end ? behind + 1 : end;
    }
    return result;
}

/* ---- faces ---- */

/* one corner: v, v/vt, v//vn or v/vt/vn; NULL when it is none */
static const char *parse_corner(const obj *o, const char *c, int64_t *index)
{
    const char *end = o->reader->end;
    c = flr_integer_parse(c, end, index);
    if (!c) return NULL;
    while (c < end && (*c == '/' || *c == '-' || (*c >= '0' && *c <= '9'))) c++;
    return at_word_end(o, c) ? c : NULL;
}

/* the corners of a face; `*good` false after a complaint */
static flr_result read_corners(obj *o, const char *line, bool *good)
{
    flr_reader *reader = o->reader;
    int64_t count = (int64_t)o->faces.count;
    const char *c = skip_blanks(o, line + 1);
    *good = false;
    o->faces.corner_count = 0;
    for (; !at_line_end(o, c); c = skip_blanks(o, c)) {
        int64_t index;
        const char *after = parse_corner(o, c, &index);
        if (!after)
            return flr_reader_complain(reader, c,
                                       "'%s' is not a corner of a face; repair the file or export "
                                       "it again",
                                       FLR_WORD_TEXT(reader, c));
        int64_t vertex = index < 0 ? o->seen + index : index - 1;
        if (index == 0 || vertex < 0 || vertex >= count)
            return flr_reader_complain(reader, c,
                                       "a face names vertex %" PRId64 " but the file has %" PRId64
                                       " (%" PRId64 " of them above); repair the file or export it "
                                       "again",
                                       index, count, o->seen);
        flr_result result = flr_faces_corner(&o->faces, reader, (uint32_t)vertex);
        if (result != FLR_OK) return result;
        c = after;
    }
    if (o->faces.corner_count < 3)
        return flr_reader_complain(reader, line,
                                   "a face with %zu corners; a face needs three, so repair the "
                                   "file or export it again",
                                   o->faces.corner_count);
    *good = true;
    return FLR_OK;
}

/* a new group, if a g or o with another name came before this face */
static flr_result open_group(obj *o)
{
    if (!begins_group(o)) return FLR_OK;
    flr_result result = flr_faces_flush(&o->faces, o->reader);
    if (result != FLR_OK) return result;
    return flr_reader_built(o->reader, flr_builder_group(&o->reader->builder, o->current,
                                                         o->current_length, flr_pose_identity()));
}

static flr_result read_face(obj *o, const char *line)
{
    bool good;
    flr_result result = read_corners(o, line, &good);
    if (result != FLR_OK) return result;
    if (!good) {
        o->reader->report->dropped_malformed++;
        return FLR_OK;
    }
    result = open_group(o);
    return result == FLR_OK ? flr_faces_add(&o->faces, o->reader, line) : result;
}

static flr_result read_faces(obj *o)
{
    const char *end = o->reader->end, *c = o->reader->bytes;
    flr_result result = flr_faces_begin(&o->faces, o->reader);
    if (result == FLR_OK) expect_counted(o);
    while (result == FLR_OK && c < end) {
        c = skip_blanks(o, c);
        if (is_line_of(o, c, 'f'))
            result = read_face(o, c);
        else if (is_line_of(o, c, 'v'))
            o->seen++;
        else if (is_line_of(o, c, 'g') || is_line_of(o, c, 'o'))
            read_group(o, c, line_end(o, c));
        c = line_end(o, c);
        if (c < end) c++;
    }
    return result;
}

flr_result flr_read_obj(flr_reader *reader)
{
    size_t size = (size_t)(reader->end - reader->bytes);
    obj o = {.reader = reader};
    o.newline =
        !memchr(reader->bytes, '\n', size) && memchr(reader->bytes, '\r', size) ? '\r' : '\n';
    flr_result result = read_vertices(&o);
    reader->report->vertices_in_file = o.faces.count;
    if (result == FLR_OK) result = read_faces(&o);
    if (result == FLR_OK) result = flr_faces_flush(&o.faces, reader);
    flr_faces_free(&o.faces, reader);
    return result;
}
