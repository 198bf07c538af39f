/* the header of a PLY file: lines of words up to "end_header" */
#include "mesh/ply_header.h"

#include <string.h>

#include "mesh/decimal.h"

unsigned flr_ply_size(flr_ply_type type)
{
    static const unsigned char sizes[] = {0, 1, 1, 2, 2, 4, 4, 4, 8};
    return sizes[type];
}

/* one line, cut into words */
enum { MAX_WORDS = 6 };
typedef struct line {
    const char *start;
    const char *words[MAX_WORDS];
    size_t lengths[MAX_WORDS];
    unsigned count; /* words beyond MAX_WORDS are not kept */
} line;

static bool word_is(const line *l, unsigned index, const char *word)
{
    return index < l->count && strlen(word) == l->lengths[index] &&
           !memcmp(word, l->words[index], l->lengths[index]);
}

/* cuts the line at `c` and returns what follows it, or NULL at the end of the file */
static const char *next_line(const flr_reader *reader, const char *c, line *l)
{
    const char *end = reader->end;
    *l = (line){.start = c};
    while (c < end && *c != '\n' && *c != '\r') {
        while (c < end && flr_is_blank(*c)) c++;
        const char *word = c;
        while (c < end && !flr_is_space(*c)) c++;
        if (c > word && l->count < MAX_WORDS) {
            l->words[l->count] = word;
            l->lengths[l->count++] = (size_t)(c - word);
        }
    }
    if (c == end) return NULL;
    return *c == '\r' && c + 1 < end && c[1] == '\n' ? c + 2 : c + 1;
}

static flr_ply_type find_type(const line *l, unsigned index)
{
    static const struct {
        const char *name;
        flr_ply_type type;
    } types[] = {{"char", FLR_PLY_INT8},     {"int8", FLR_PLY_INT8},     {"uchar", FLR_PLY_UINT8},
                 {"uint8", FLR_PLY_UINT8},   {"short", FLR_PLY_INT16},   {"int16", FLR_PLY_INT16},
                 {"ushort", FLR_PLY_UINT16}, {"uint16", FLR_PLY_UINT16}, {"int", FLR_PLY_INT32},
                 {"int32", FLR_PLY_INT32},   {"uint", FLR_PLY_UINT32},   {"uint32", FLR_PLY_UINT32},
                 {"float", FLR_PLY_FLOAT},   {"float32", FLR_PLY_FLOAT}, {"double", FLR_PLY_DOUBLE},
                 {"float64", FLR_PLY_DOUBLE}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (word_is(l, index, types[i].name)) return types[i].type;
    return FLR_PLY_NONE;
}

static flr_result read_format(flr_reader *reader, const line *l, flr_ply_header *header)
{
    if (word_is(l, 1, "ascii"))
        header->format = FLR_PLY_ASCII;
    else if (word_is(l, 1, "binary_little_endian"))
        header->format = FLR_PLY_LITTLE;
    else if (word_is(l, 1, "binary_big_endian"))
        header->format = FLR_PLY_BIG;
    else
        return flr_reader_stop(reader, l->start,
                               "the format must be ascii, binary_little_endian or "
                               "binary_big_endian; export the file again");
    return FLR_OK;
}

static flr_result read_element(flr_reader *reader, const line *l, flr_ply_header *header)
{
    int64_t count = -1;
    const char *after = NULL;
    if (l->count >= 3) after = flr_integer_parse(l->words[2], l->words[2] + l->lengths[2], &count);
    if (!after || after != l->words[2] + l->lengths[2] || count < 0)
        return flr_reader_stop(reader, l->start,
                               "an element needs a name and a number; export the file again");
    if (header->element_count == FLR_PLY_MAX_ELEMENTS)
        return flr_reader_stop(reader, l->start, "more than %d elements; export the file again",
                               FLR_PLY_MAX_ELEMENTS);
    flr_ply_element *element = &header->elements[header->element_count++];
    size_t length = l->lengths[1] < sizeof element->name ? l->lengths[1] : sizeof element->name - 1;
    memset(element->name, 0, sizeof element->name);
    memcpy(element->name, l->words[1], length);
    element->count = (uint64_t)count;
    element->first = header->property_count;
    element->properties = 0;
    element->kind = word_is(l, 1, "vertex")      ? FLR_PLY_VERTICES
                    : word_is(l, 1, "face")      ? FLR_PLY_FACES
                    : word_is(l, 1, "tristrips") ? FLR_PLY_STRIPS
                                                 : FLR_PLY_UNUSED;
    return FLR_OK;
}

static flr_ply_role find_role(const line *l, unsigned index, flr_ply_kind kind, bool list)
{
    if (kind == FLR_PLY_VERTICES && !list) {
        if (word_is(l, index, "x")) return FLR_PLY_X;
        if (word_is(l, index, "y")) return FLR_PLY_Y;
        if (word_is(l, index, "z")) return FLR_PLY_Z;
    }
    if ((kind == FLR_PLY_FACES || kind == FLR_PLY_STRIPS) && list &&
        (word_is(l, index, "vertex_indices") || word_is(l, index, "vertex_index")))
        return FLR_PLY_INDICES;
    return FLR_PLY_OTHER;
}

static flr_result read_property(flr_reader *reader, const line *l, flr_ply_header *header)
{
    if (!header->element_count)
        return flr_reader_stop(reader, l->start,
                               "a property before the first element; export the file again");
    if (header->property_count == FLR_PLY_MAX_PROPERTIES)
        return flr_reader_stop(reader, l->start, "more than %d properties; export the file again",
                               FLR_PLY_MAX_PROPERTIES);
    bool list = word_is(l, 1, "list");
    flr_ply_property property = {.type = find_type(l, list ? 3 : 1)};
    if (list) property.count = find_type(l, 2);
    if (!property.type || (list && (!property.count || property.count >= FLR_PLY_FLOAT)) ||
        l->count <= (list ? 4 : 2))
        return flr_reader_stop(reader, l->start,
                               "a property needs a type that PLY knows and a name; export the file "
                               "again");
    flr_ply_element *element = &header->elements[header->element_count - 1];
    property.role = find_role(l, list ? 4 : 2, element->kind, list);

    // each role once
    for (unsigned i = 0; i < element->properties; i++)
        if (property.role && header->properties[element->first + i].role == property.role)
            return flr_reader_stop(reader, l->start,
                                   "a second property of the same name; export the file again");
    header->properties[header->property_count++] = property;
    element->properties++;
    return FLR_OK;
}

static bool has_role(const flr_ply_header *header, const flr_ply_element *element,
                     flr_ply_role role)
{
    for (unsigned i = 0; i < element->properties; i++)
        if (header->properties[element->first + i].role == role) return true;
    return false;
}

/* is there what a mesh needs? */
static flr_result check_elements(flr_reader *reader, const flr_ply_header *header)
{
    unsigned vertices = 0;
    for (unsigned i = 0; i < header->element_count; i++) {
        const flr_ply_element *element = &header->elements[i];
        if (element->kind == FLR_PLY_VERTICES) {
            vertices++;
            if (!has_role(header, element, FLR_PLY_X) || !has_role(header, element, FLR_PLY_Y) ||
                !has_role(header, element, FLR_PLY_Z))
                return flr_reader_stop(reader, header->data,
                                       "the vertices have no x, y and z; export the file again");
        } else if (element->kind != FLR_PLY_UNUSED && element->count &&
                   !has_role(header, element, FLR_PLY_INDICES)) {
            return flr_reader_stop(reader, header->data,
                                   "the element '%s' has no list vertex_indices; export the file "
                                   "again",
                                   element->name);
        }
    }
    if (vertices != 1)
        return flr_reader_stop(reader, header->data,
                               "the header has %u elements 'vertex' in place of one; export the "
                               "file again",
                               vertices);
    return FLR_OK;
}

flr_result flr_ply_read_header(flr_reader *reader, flr_ply_header *header)
{
    line l;
    const char *c = next_line(reader, reader->bytes, &l);
    header->element_count = header->property_count = 0;
    if (!word_is(&l, 0, "ply"))
        return flr_reader_stop(reader, reader->bytes,
                               "a PLY file begins with the line 'ply'; this is no PLY file");
    bool format = false;
    while (c) {
        c = next_line(reader, c, &l);
        flr_result result = FLR_OK;
        if (word_is(&l, 0, "end_header")) {
            if (!c) break;
            header->data = c;
            if (format) return check_elements(reader, header);
            return flr_reader_stop(reader, l.start,
                                   "the header has no line 'format'; export the file again");
        }
        if (word_is(&l, 0, "format"))
            result = read_format(reader, &l, header), format = true;
        else if (word_is(&l, 0, "element"))
            result = read_element(reader, &l, header);
        else if (word_is(&l, 0, "property"))
            result = read_property(reader, &l, header);
        else if (l.count && !word_is(&l, 0, "comment") && !word_is(&l, 0, "obj_info")) {
            result = flr_reader_stop(reader, l.words[0],
                                     "'%s' has no place in a PLY header; export the file again",
                                     FLR_WORD_TEXT(reader, l.words[0]));
        }
        if (result != FLR_OK) return result;
    }
    return flr_reader_stop(reader, reader->end,
                           "the file ends inside the header, before 'end_header' and its data; it "
                           "is cut off, so get a whole copy of it");
}
