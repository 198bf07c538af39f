/* xml.h: small XML files as a tree: elements and attributes; text is skipped. Robot descriptions are such files.
 *
 * No document types, so no entities but the five of XML and numbers: nothing is fetched, and nothing expands. Depth and number
 * of elements are bounded. Thread: any. Not RT safe. */
#ifndef FLR_SCENE_XML_H
#define FLR_SCENE_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"

enum { FLR_XML_MAX_BYTES = 1 << 24, FLR_XML_MAX_DEPTH = 128, FLR_XML_MAX_ELEMENTS = 200000 };
#define FLR_XML_NONE UINT32_MAX

typedef struct flr_xml_element {
    uint32_t name;                /* place in the text: flr_xml_name() */
    uint32_t parent, first, next; /* elements; FLR_XML_NONE: none */
    uint32_t attribute;           /* the first; the next element's is behind the last */
    unsigned line;
} flr_xml_element;

/* Takes at most 8 times the file: 24 bytes for "<a/>", and the text. */
typedef struct flr_xml {
    char *text;                /* a copy of the file, cut into names and values */
    flr_xml_element *elements; /* [count]; the first is the root */
    uint32_t count;
    struct {
        uint32_t name, value; /* places in the text */
    } * attributes;
    uint32_t attribute_count;
} flr_xml;

/* Sentences begin with "NAME:LINE:". On success free with flr_xml_free(). */
flr_result flr_xml_parse(const char *name, const void *bytes, size_t size, flr_xml *xml,
                         flr_error *error);
void flr_xml_free(flr_xml *xml);

const char *flr_xml_name(const flr_xml *xml, uint32_t element);
bool flr_xml_is(const flr_xml *xml, uint32_t element, const char *name);

/* The value of an attribute; NULL: it has none. */
const char *flr_xml_get(const flr_xml *xml, uint32_t element, const char *name);
/* The first child of that name from `from` on, a child or FLR_XML_NONE; any name: NULL. */
uint32_t flr_xml_child(const flr_xml *xml, uint32_t element, const char *name);
uint32_t flr_xml_sibling(const flr_xml *xml, uint32_t child, const char *name);

#endif
