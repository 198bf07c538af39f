/* which format is it? */
#include <string.h>
#include <strings.h>

#include "feeler/mesh.h"
#include "mesh/decimal.h"
#include "mesh/reader.h"

const char *flr_mesh_format_name(flr_mesh_format format)
{
    static const char *const names[] = {[FLR_FORMAT_STL_BINARY] = "binary STL",
                                        [FLR_FORMAT_STL_ASCII] = "ASCII STL",
                                        [FLR_FORMAT_OBJ] = "OBJ",
                                        [FLR_FORMAT_PLY] = "PLY",
                                        [FLR_FORMAT_ITRI] = "ITRI",
                                        [FLR_FORMAT_VRML] = "VRML or Inventor",
                                        [FLR_FORMAT_FOREIGN] = "foreign format"};
    bool known = (size_t)format < sizeof names / sizeof *names && names[format];
    return known ? names[format] : "unknown format";
}

/* the file, and what of it was looked at */
typedef struct format_look {
    const char *bytes, *end;
    size_t size;
} format_look;

static bool begins(const format_look *file, const char *word)
{
    size_t length = strlen(word);
    return file->size >= length && !strncasecmp(file->bytes, word, length);
}

/* "solid" or "facet" first, after blanks */
static const char *stl_word(const format_look *file)
{
    const char *c = file->bytes;
    while (c < file->end && flr_is_space(*c)) c++;
    if (file->end - c < 6 || !flr_is_space(c[5])) return NULL;
    return !strncasecmp(c, "solid", 5) || !strncasecmp(c, "facet", 5) ? c : NULL;
}

/* Is the beginning free of control characters? A binary header may begin with "solid" too, but the
 * count and the floats after it have bytes that no text has. */
static bool is_text(const format_look *file)
{
    size_t size = file->size < 1024 ? file->size : 1024;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)file->bytes[i];
        if (c < 0x20 && !flr_is_space((char)c)) return false;
    }
    return true;
}

/* the first line that says something begins with a word of OBJ */
static bool is_obj_by_text(const format_look *file)
{
    static const char *const words[] = {"v", "vn", "vt", "vp",     "f",
                                        "g", "o",  "s",  "mtllib", "usemtl"};
    const char *c = file->bytes;
    for (;;) {
        while (c < file->end && flr_is_space(*c)) c++;
        if (c == file->end || *c != '#') break;
        while (c < file->end && *c != '\n' && *c != '\r') c++;
    }
    const char *end = c;
    while (end < file->end && !flr_is_space(*end)) end++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == (size_t)(end - c) && !memcmp(words[i], c, (size_t)(end - c)) &&
            end < file->end)
            return true;
    return false;
}

/* a whole number alone on the first line, three numbers on the second */
static bool is_itri_by_text(const format_look *file)
{
    const char *c = file->bytes;
    int64_t count;
    while (c < file->end && flr_is_space(*c)) c++;
    c = flr_integer_parse(c, file->end, &count);
    if (!c || count < 0) return false;
    while (c < file->end && flr_is_blank(*c)) c++;
    if (c == file->end || (*c != '\n' && *c != '\r')) return false;
    for (unsigned i = 0; i < 3; i++) {
        double value;
        while (c < file->end && flr_is_space(*c)) c++;
        c = flr_decimal_parse(c, file->end, FLR_DOUBLE, &value);
        if (!c) return false;
    }
    return c == file->end || flr_is_space(*c);
}

/* the first bytes of foreign formats that cannot be mistaken */
static bool is_foreign_by_text(const format_look *file)
{
    static const char *const starts[] = {"glTF",          "ISO-10303-21",       "PK\3\4", "<?xml",
                                         "AC3D",          "Kaydara FBX",        "OFF\n",  "COFF\n",
                                         "CASCADE Topol", "DBRep_DrawableShape"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (begins(file, starts[i])) return true;
    return false;
}

static bool ends(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && !strcasecmp(path + length - tail, ending);
}

flr_mesh_format flr_mesh_format_of(const char *path, const uint8_t *bytes, size_t size)
{
    format_look file = {(const char *)bytes, (const char *)bytes + size, size};
    if (size >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3)) file.bytes += 3, file.size -= 3;

    // what it says by itself
    if (flr_stl_size_fits(bytes, size) && (ends(path, ".stl") || size > 84))
        return FLR_FORMAT_STL_BINARY;
    if (begins(&file, "ply\n") || begins(&file, "ply\r")) return FLR_FORMAT_PLY;
    if (stl_word(&file)) return is_text(&file) ? FLR_FORMAT_STL_ASCII : FLR_FORMAT_STL_BINARY;
    if (begins(&file, "#VRML") || begins(&file, "#Inventor")) return FLR_FORMAT_VRML;
    if (is_foreign_by_text(&file)) return FLR_FORMAT_FOREIGN;

    // what its name says
    if (ends(path, ".stl")) return FLR_FORMAT_STL_BINARY;
    if (ends(path, ".obj")) return FLR_FORMAT_OBJ;
    if (ends(path, ".ply")) return FLR_FORMAT_PLY;
    if (ends(path, ".itri")) return FLR_FORMAT_ITRI;
    if (ends(path, ".wrl") || ends(path, ".iv")) return FLR_FORMAT_VRML;
    if (flr_import_knows(path)) return FLR_FORMAT_FOREIGN;

    // what it looks like
    if (is_obj_by_text(&file)) return FLR_FORMAT_OBJ;
    if (is_itri_by_text(&file)) return FLR_FORMAT_ITRI;
    return FLR_FORMAT_UNKNOWN;
}
