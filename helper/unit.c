/* the unit of length that a file states and its reader does not tell */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "zip.h"

enum { UNIT_LOOK = 65536 }; /* bytes from the start of a text in which its unit must stand */

/* ---- XML ---- */

/* copies the value of `attribute` in the first `<element …>` of a text; false if there is none */
static bool find_attribute(const char *text, const char *element, const char *attribute,
                           char *value, size_t size)
{
    size_t element_length = strlen(element), attribute_length = strlen(attribute);
    for (const char *at = strchr(text, '<'); at; at = strchr(at + 1, '<')) {
        if (strncmp(at + 1, element, element_length) != 0 ||
            !strchr(" \t\r\n", at[1 + element_length]))
            continue;
        const char *end = strchr(at, '>');
        for (const char *a = at + 1 + element_length; end && a < end; ++a) {
            if (!strchr(" \t\r\n", *a) || strncmp(a + 1, attribute, attribute_length) != 0)
                continue;
            const char *rest = a + 1 + attribute_length;
            rest += strspn(rest, " \t\r\n");
            if (*rest++ != '=') continue;
            rest += strspn(rest, " \t\r\n");
            const char *close = *rest ? strchr(rest + 1, *rest) : NULL;
            if ((*rest != '"' && *rest != '\'') || !close || close > end) continue;
            size_t length = (size_t)(close - rest - 1);
            if (length >= size) return false;
            memcpy(value, rest + 1, length);
            value[length] = 0;
            return true;
        }
        return false;
    }
    return false;
}

/* the words of 3MF and AMF; 0: none of them */
static double unit_by_word(const char *word)
{
    static const struct {
        const char *word;
        double metres;
    } units[] = {{"micron", 1e-6}, {"millimeter", 1e-3}, {"centimeter", 1e-2}, {"inch", 0.0254},
                 {"foot", 0.3048}, {"feet", 0.3048},     {"meter", 1}};
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i)
        if (strcasecmp(word, units[i].word) == 0) return units[i].metres;
    return 0;
}

/* both formats say that a missing unit is millimetres; what is no unit is taken for that, too, and reported */
static double unit_by_attribute(const char *text, const char *element)
{
    char value[256];
    const bool given = find_attribute(text, element, "unit", value, sizeof value);
    const double unit = given ? unit_by_word(value) : 0;
    return unit > 0 ? unit : 0.001;
}

static double unit_of_collada(const char *text)
{
    char value[64];
    if (!find_attribute(text, "unit", "meter", value, sizeof value)) return 1;
    double metres = strtod(value, NULL);
    return metres > 1e-12 && metres < 1e12 ? metres : 1;
}

/* The text that a file begins with; of a packed one its model. Until the next call. */
static const char *beginning_of(const char *ending, const uint8_t *bytes, size_t size)
{
    static char text[UNIT_LOOK + 1];
    size_t length = size < UNIT_LOOK ? size : UNIT_LOOK;
    memcpy(text, bytes, length);
    bool zipped = size >= 4 && memcmp(bytes, "PK\3\4", 4) == 0;
    const char *member = strcasecmp(ending, "3mf") == 0   ? ".model"
                         : strcasecmp(ending, "zae") == 0 ? ".dae"
                                                          : ".amf";
    if (zipped) length = flr_zip_peek(bytes, size, member, text, UNIT_LOOK);
    text[length] = 0;
    return text;
}

bool flr_unit_note_unknown(flr_collect *collect, const char *ending, const uint8_t *bytes,
                           size_t size)
{
    char word[256];
    const bool amf = strcasecmp(ending, "amf") == 0;
    if (!amf && strcasecmp(ending, "3mf") != 0) return false;
    const char *text = beginning_of(ending, bytes, size);
    if (!find_attribute(text, amf ? "amf" : "model", "unit", word, sizeof word)) return false;
    if (unit_by_word(word) > 0) return false;
    flr_collect_note(collect, "there is no unit \"%.40s\"; millimetres are assumed", word);
    return true;
}

double flr_unit_of_file(const char *ending, const uint8_t *bytes, size_t size)
{
    // these are in metres by definition
    static const char *const metric[] = {"gltf", "glb", "vrm", "x3d", "x3db", "ifc", "ifczip"};
    for (size_t i = 0; i < sizeof metric / sizeof *metric; ++i)
        if (strcasecmp(ending, metric[i]) == 0) return 1;

    const char *text = beginning_of(ending, bytes, size);
    if (strcasecmp(ending, "dae") == 0 || strcasecmp(ending, "zae") == 0)
        return unit_of_collada(text);
    if (strcasecmp(ending, "3mf") == 0) return unit_by_attribute(text, "model");
    if (strcasecmp(ending, "amf") == 0) return unit_by_attribute(text, "amf");
    return 0;
}

unsigned flr_up_of_file(const char *ending, const uint8_t *bytes, size_t size)
{
    static const char *const upright[] = {"gltf", "glb", "vrm", "fbx", "x3d", "x3db"};
    for (size_t i = 0; i < sizeof upright / sizeof *upright; ++i)
        if (strcasecmp(ending, upright[i]) == 0) return 2;
    if (strcasecmp(ending, "3mf") == 0) return 3;
    if (strcasecmp(ending, "dae") != 0) return 0;
    static const char element[] = "<up_axis>";
    size_t look = size < UNIT_LOOK ? size : UNIT_LOOK;
    const char *at = memmem(bytes, look, element, sizeof element - 1);
    size_t left = at ? look - (size_t)(at - (const char *)bytes) - (sizeof element - 1) : 0;
    if (left < 4) return 2; /* what COLLADA says of files that do not say */
    at += sizeof element - 1;
    return *at == 'X' ? 1 : *at == 'Z' ? 3 : 2;
}
