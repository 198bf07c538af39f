/* PLY: ASCII, binary of both endians; any properties in any order
 *
 * Numbers of type float in ASCII are rounded to 32 bits, so that an ASCII and a binary file of the
 * same content give the same mesh. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "mesh/decimal.h"
#include "mesh/ply_header.h"
#include "mesh/polygon.h"

typedef struct ply {
    flr_reader *reader;
    flr_ply_header header;
    flr_faces faces;
    const char *at;
    bool broken; /* data cannot be read on from here */
} ply;

/* ---- values ---- */

static double decode(const unsigned char *from, flr_ply_type type, bool big)
{
    unsigned size = flr_ply_size(type);
    uint64_t bits = 0;
    for (unsigned i = 0; i < size; i++) bits |= (uint64_t)from[i] << 8 * (big ? size - 1 - i : i);
    uint32_t low = (uint32_t)bits;
    float single;
    double value;
    switch (type) {
    case FLR_PLY_INT8:
        return (double)(int8_t)low;
    case FLR_PLY_UINT8:
        return (double)(uint8_t)low;
    case FLR_PLY_INT16:
        return (double)(int16_t)low;
    case FLR_PLY_UINT16:
        return (double)(uint16_t)low;
    case FLR_PLY_INT32:
        return (double)(int32_t)low;
    case FLR_PLY_UINT32:
        return (double)low;
    case FLR_PLY_FLOAT:
        memcpy(&single, &low, sizeof single);
        return (double)single;
    case FLR_PLY_DOUBLE:
        memcpy(&value, &bits, sizeof value);
        return value;
    case FLR_PLY_NONE:
        break;
    }
    return 0;
}

static bool read_text_value(ply *p, flr_ply_type type, double *value)
{
    const char *end = p->reader->end, *c = p->at;
    while (c < end && flr_is_space(*c)) c++;
    p->at = c;
    const char *after =
        flr_decimal_parse(c, end, type == FLR_PLY_FLOAT ? FLR_SINGLE : FLR_DOUBLE, value);
    if (!after || (after < end && !flr_is_space(*after))) return false;
    if (type < FLR_PLY_FLOAT && *value != trunc(*value)) return false;
    p->at = after;
    return true;
}

/* the next value; false where there is none, with p->at there */
static bool read_value(ply *p, flr_ply_type type, double *value)
{
    if (p->header.format == FLR_PLY_ASCII) return read_text_value(p, type, value);
    unsigned size = flr_ply_size(type);
    if ((size_t)(p->reader->end - p->at) < size) return false;
    *value = decode((const unsigned char *)p->at, type, p->header.format == FLR_PLY_BIG);
    p->at += size;
    return true;
}

/* the length of a list, which the rest of the file must be able to hold */
static bool read_length(ply *p, const flr_ply_property *property, size_t *length)
{
    double value;
    bool text = p->header.format == FLR_PLY_ASCII;
    while (text && p->at < p->reader->end && flr_is_space(*p->at)) p->at++;
    const char *start = p->at;
    if (!read_value(p, property->count, &value)) return false;
    size_t left = (size_t)(p->reader->end - p->at);
    size_t room =
        p->header.format == FLR_PLY_ASCII ? left / 2 + 1 : left / flr_ply_size(property->type);
    if (!(value >= 0) || value > (double)room) {
        p->at = start;
        return false;
    }
    *length = (size_t)value;
    return true;
}

static bool skip_property(ply *p, const flr_ply_property *property)
{
    double ignored;
    if (!property->count) return read_value(p, property->type, &ignored);
    size_t length;
    if (!read_length(p, property, &length)) return false;
    if (p->header.format != FLR_PLY_ASCII) {
        p->at += length * flr_ply_size(property->type);
        return true;
    }
    for (size_t i = 0; i < length; i++)
        if (!read_value(p, property->type, &ignored)) return false;
    return true;
}

/* ---- elements ---- */

/* the fewest bytes that one item of an element takes */
static uint64_t least_size(const ply *p, const flr_ply_element *element)
{
    uint64_t size = 0;
    for (unsigned i = 0; i < element->properties; i++) {
        const flr_ply_property *property = &p->header.properties[element->first + i];
        size += p->header.format == FLR_PLY_ASCII
                    ? 2
                    : flr_ply_size(property->count ? property->count : property->type);
    }
    return size;
}

/* Can the rest of the file hold what the header claims? `*count` becomes what it can. */
static flr_result check_count(ply *p, const flr_ply_element *element, uint64_t *count)
{
    flr_reader *reader = p->reader;
    uint64_t least = least_size(p, element), left = (uint64_t)(reader->end - p->at);
    bool text = p->header.format == FLR_PLY_ASCII;
    *count = element->count;
    if (least == 0) {
        *count = 0;
        return FLR_OK;
    }
    uint64_t held = (left + text) / least;
    if (element->count <= held) return FLR_OK;
    *count = held;
    return flr_reader_complain(reader, p->at,
                               "the header claims %s items of '%s' of at least %s bytes each, but "
                               "only %s bytes are left; the file is cut off or its header is wrong",
                               FLR_COUNT_TEXT(element->count), element->name, FLR_COUNT_TEXT(least),
                               FLR_COUNT_TEXT(left));
}

/* an item could not be read: nothing after it can be */
static flr_result complain_broken(ply *p, const flr_ply_element *element, uint64_t index)
{
    p->broken = true;
    bool text = p->header.format == FLR_PLY_ASCII;
    if (text && p->at < p->reader->end)
        return flr_reader_complain(p->reader, p->at,
                                   "'%s' in item %" PRIu64 " of '%s' is not a number that fits; "
                                   "repair the file or export it again",
                                   FLR_WORD_TEXT(p->reader, p->at), index + 1, element->name);
    return flr_reader_complain(p->reader, p->at,
                               "the file ends inside item %" PRIu64 " of %" PRIu64
                               " of '%s'; it is cut off, so get a whole copy of it",
                               index + 1, element->count, element->name);
}

/* property by property */
static bool read_vertex(ply *p, const flr_ply_element *element, double xyz[3])
{
    for (unsigned i = 0; i < element->properties; i++) {
        const flr_ply_property *property = &p->header.properties[element->first + i];
        bool ok = property->role == FLR_PLY_OTHER
                      ? skip_property(p, property)
                      : read_value(p, property->type, &xyz[property->role - FLR_PLY_X]);
        if (!ok) return false;
    }
    return true;
}

static flr_result read_vertices(ply *p, const flr_ply_element *element)
{
    flr_reader *reader = p->reader;
    double unit = reader->unit;
    uint64_t count;
    flr_result result = check_count(p, element, &count);
    if (result == FLR_OK) result = flr_faces_reserve(&p->faces, reader, (size_t)count);
    for (uint64_t i = 0; result == FLR_OK && i < count; i++) {
        double xyz[3] = {0, 0, 0};
        if (!read_vertex(p, element, xyz)) return complain_broken(p, element, i);
        result = flr_faces_position(&p->faces, reader,
                                    flr_vec3_make(xyz[0] * unit, xyz[1] * unit, xyz[2] * unit));
    }
    p->broken |= count < element->count;
    return result;
}

static flr_result skip_element(ply *p, const flr_ply_element *element)
{
    uint64_t count;
    flr_result result = check_count(p, element, &count);
    for (uint64_t i = 0; result == FLR_OK && i < count; i++)
        for (unsigned k = 0; k < element->properties; k++)
            if (!skip_property(p, &p->header.properties[element->first + k]))
                return complain_broken(p, element, i);
    p->broken |= count < element->count && element->properties;
    return result;
}

/* ---- faces ---- */

/* a strip: each further vertex makes a triangle with the two before it, turned every second time;
 * -1 begins anew. The strip is in the list of corners, -1 as UINT32_MAX. */
static flr_result add_strip(ply *p, const char *at)
{
    // the triangles go one by one through the place of a face
    flr_faces *faces = &p->faces;
    uint32_t *strip = faces->corners;
    size_t length = faces->corner_count, run = 0;
    flr_result result = FLR_OK;
    uint32_t triangle[3] = {0};
    faces->corners = triangle;
    faces->corner_count = 3;
    for (size_t i = 0; result == FLR_OK && i < length; i++) {
        run = strip[i] == UINT32_MAX ? 0 : run + 1;
        if (run < 3) continue;
        bool turned = run % 2 == 0;
        triangle[0] = strip[i - 2];
        triangle[1] = strip[turned ? i : i - 1];
        triangle[2] = strip[turned ? i - 1 : i];
        result = flr_faces_add(faces, p->reader, at);
    }
    faces->corners = strip;
    faces->corner_count = length;
    return result;
}

/* the list of indices into the corners; `*bad` is the first that is out of range */
static flr_result read_indices(ply *p, const flr_ply_property *property, bool strip, bool *ended,
                               double *bad)
{
    size_t length;
    *ended = !read_length(p, property, &length);
    if (*ended) return FLR_OK;
    flr_faces_expect_corners(&p->faces, p->reader, p->faces.corner_count + length);
    for (size_t i = 0; i < length; i++) {
        double index;
        if (!read_value(p, property->type, &index)) {
            *ended = true;
            return FLR_OK;
        }
        uint32_t corner = UINT32_MAX;
        if (index >= 0 && index < (double)p->faces.count && index == trunc(index))
            corner = (uint32_t)index;
        else if (!(strip && index == -1) && isnan(*bad))
            *bad = isnan(index) ? -1 : index;
        flr_result result = flr_faces_corner(&p->faces, p->reader, corner);
        if (result != FLR_OK) return result;
    }
    return FLR_OK;
}

static flr_result add_face(ply *p, const flr_ply_element *element, const char *start, double bad)
{
    flr_reader *reader = p->reader;
    if (!isnan(bad)) {
        reader->report->dropped_malformed++;
        return flr_reader_complain(
            reader, start,
            "an item of '%s' names vertex %.10g but the file has %zu, from 0 "
            "on; repair the file or export it again",
            element->name, bad, p->faces.count);
    }
    if (element->kind == FLR_PLY_STRIPS) return add_strip(p, start);
    if (p->faces.corner_count >= 3) return flr_faces_add(&p->faces, reader, start);
    reader->report->dropped_malformed++;
    return flr_reader_complain(reader, start,
                               "a face with %zu corners; a face needs three, so repair the file or "
                               "export it again",
                               p->faces.corner_count);
}

static flr_result read_faces(ply *p, const flr_ply_element *element)
{
    uint64_t count;
    flr_result result = check_count(p, element, &count);
    p->reader->report->dropped_malformed += element->count - count;
    for (uint64_t i = 0; result == FLR_OK && i < count; i++) {
        const char *start = p->at;
        if (p->header.format == FLR_PLY_ASCII)
            while (start < p->reader->end && flr_is_space(*start)) start++;
        double bad = NAN;
        bool ended = false;
        p->faces.corner_count = 0;
        for (unsigned k = 0; result == FLR_OK && !ended && k < element->properties; k++) {
            const flr_ply_property *property = &p->header.properties[element->first + k];
            if (property->role == FLR_PLY_INDICES)
                result = read_indices(p, property, element->kind == FLR_PLY_STRIPS, &ended, &bad);
            else
                ended = !skip_property(p, property);
        }
        if (ended) {
            p->reader->report->dropped_malformed += count - i;
            return complain_broken(p, element, i);
        }
        if (result == FLR_OK) result = add_face(p, element, start, bad);
    }
    p->broken |= count < element->count;
    return result;
}

/* ---- the file ---- */

/* all elements in order; faces that come before the vertices are remembered and read at the end */
static flr_result read_elements(ply *p)
{
    const char *starts[FLR_PLY_MAX_ELEMENTS] = {0};
    bool have_vertices = false;
    flr_result result = FLR_OK;
    for (unsigned i = 0; result == FLR_OK && !p->broken && i < p->header.element_count; i++) {
        const flr_ply_element *element = &p->header.elements[i];
        bool faces = element->kind == FLR_PLY_FACES || element->kind == FLR_PLY_STRIPS;
        if (element->kind == FLR_PLY_VERTICES) {
            have_vertices = true;
            result = read_vertices(p, element);
            if (result == FLR_OK) result = flr_faces_begin(&p->faces, p->reader);
        } else if (faces && have_vertices) {
            result = read_faces(p, element);
        } else {
            if (faces) starts[i] = p->at;
            result = skip_element(p, element);
        }
    }
    p->reader->report->vertices_in_file = p->faces.count;
    const char *end = p->at;
    bool broken = p->broken;
    for (unsigned i = 0; result == FLR_OK && have_vertices && i < p->header.element_count; i++) {
        if (!starts[i]) continue;
        p->at = starts[i];
        result = read_faces(p, &p->header.elements[i]);
    }
    p->at = end;
    p->broken = broken;
    return result;
}

/* bytes after the last element: a few are padding, more are lost geometry */
static flr_result check_rest(ply *p)
{
    enum { PADDING = 16 };
    const char *at = p->at, *end = p->reader->end;
    if (p->broken) return FLR_OK;
    if (p->header.format == FLR_PLY_ASCII)
        while (at < end && flr_is_space(*at)) at++;
    uint64_t left = (uint64_t)(end - at);
    p->reader->report->ignored_bytes = left;
    if (left <= PADDING) return FLR_OK;
    return flr_reader_complain(p->reader, at,
                               "%" PRIu64 " bytes follow after all that the header claims; its "
                               "counts are wrong, so export the file again",
                               left);
}

flr_result flr_read_ply(flr_reader *reader)
{
    ply p = {.reader = reader};
    flr_result result = flr_ply_read_header(reader, &p.header);
    if (result != FLR_OK) return result;
    p.at = p.header.data;
    reader->binary = p.header.format != FLR_PLY_ASCII;
    result = read_elements(&p);
    if (result == FLR_OK) result = check_rest(&p);
    if (result == FLR_OK) result = flr_faces_flush(&p.faces, reader);
    flr_faces_free(&p.faces, reader);
    return result;
}
