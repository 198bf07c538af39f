/* XML as a tree */
#include "scene/xml.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* where the reader is */
typedef struct xml_reader {
    const char *name;
    char *at, *end;
    unsigned line;
    flr_xml *xml;
    flr_error *error;
} xml_reader;

static bool fail_xml(const xml_reader *r, const char *what)
{
    flr_fail(r->error, FLR_BAD_INPUT, "%s:%u: %s", r->name, r->line, what);
    return false;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static void skip_space(xml_reader *r)
{
    for (; r->at < r->end && is_space(*r->at); r->at++) r->line += *r->at == '\n';
}

static bool starts(const xml_reader *r, const char *with)
{
    const size_t size = strlen(with);
    return (size_t)(r->end - r->at) >= size && memcmp(r->at, with, size) == 0;
}

/* Goes behind the next `mark`. */
static bool skip_to(xml_reader *r, const char *mark)
{
    for (; r->at < r->end; r->at++) {
        if (starts(r, mark)) {
            r->at += strlen(mark);
            return true;
        }
        r->line += *r->at == '\n';
    }
    return fail_xml(r, "the file ends in the middle of something");
}

static char *read_name(xml_reader *r)
{
    char *begin = r->at;
    while (r->at < r->end && !is_space(*r->at) && !strchr("=/><\"'", *r->at)) r->at++;
    return r->at > begin ? begin : NULL;
}

/* Replaces the entities of XML in place. */
static bool decode(xml_reader *r, char *text)
{
    static const struct {
        const char *name;
        char is;
    } known[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    char *to = text;
    for (char *from = text; *from;) {
        if (*from != '&') {
            *to++ = *from++;
            continue;
        }
        size_t i = 0;
        while (i < 5 && strncmp(from, known[i].name, strlen(known[i].name)) != 0) i++;
        if (i == 5) return fail_xml(r, "only the entities &lt; &gt; &amp; &quot; &apos; are known");
        *to++ = known[i].is;
        from += strlen(known[i].name);
    }
    *to = 0;
    return true;
}

static bool read_attribute(xml_reader *r)
{
    char *name = read_name(r), *name_end = r->at;
    if (!name) return fail_xml(r, "an attribute was expected");
    skip_space(r);
    if (r->at >= r->end || *r->at != '=') return fail_xml(r, "an attribute needs a value");
    r->at++;
    skip_space(r);
    if (r->at >= r->end || (*r->at != '"' && *r->at != '\''))
        return fail_xml(r, "a value stands in quotation marks");
    const char quote = *r->at++;
    char *value = r->at;
    while (r->at < r->end && *r->at != quote) {
        if (*r->at == '<') return fail_xml(r, "\"<\" cannot be in a value");
        r->line += *r->at++ == '\n';
    }
    if (r->at >= r->end) return fail_xml(r, "a value does not end");
    *r->at++ = 0;
    *name_end = 0;
    flr_xml *x = r->xml;
    x->attributes[x->attribute_count].name = (uint32_t)(name - x->text);
    x->attributes[x->attribute_count++].value = (uint32_t)(value - x->text);
    return decode(r, value);
}

static bool add_element(xml_reader *r, const char *name, uint32_t parent, uint32_t last,
                        uint32_t *made)
{
    flr_xml *x = r->xml;
    if (x->count == FLR_XML_MAX_ELEMENTS) return fail_xml(r, "too many elements");
    *made = x->count++;
    x->elements[*made] = (flr_xml_element){.name = (uint32_t)(name - x->text),
                                           .parent = parent,
                                           .first = FLR_XML_NONE,
                                           .next = FLR_XML_NONE,
                                           .attribute = x->attribute_count,
                                           .line = r->line};
    if (last != FLR_XML_NONE)
        x->elements[last].next = *made;
    else if (parent != FLR_XML_NONE)
        x->elements[parent].first = *made;
    return true;
}

/* The tag that begins at `<`. `*closed`: it has no content. */
static bool read_tag(xml_reader *r, uint32_t parent, uint32_t last, uint32_t *made, bool *closed)
{
    char *name = read_name(r), *name_end = r->at;
    if (!name) return fail_xml(r, "the name of an element was expected");
    if (!add_element(r, name, parent, last, made)) return false;
    for (;;) {
        skip_space(r);
        if (r->at >= r->end) return fail_xml(r, "an element does not end");
        *closed = *r->at == '/';
        if (*closed) r->at++;
        if (r->at < r->end && *r->at == '>') {
            r->at++;
            *name_end = 0;
            break;
        }
        if (*closed) return fail_xml(r, "\">\" was expected");
        if (!read_attribute(r)) return false;
    }
    return true;
}

/* Elements are read until the root ends. */
static bool read_all(xml_reader *r)
{
    uint32_t path[FLR_XML_MAX_DEPTH], last[FLR_XML_MAX_DEPTH + 1] = {FLR_XML_NONE}, depth = 0;
    while (r->at < r->end) {
        if (*r->at != '<') {
            r->line += *r->at++ == '\n';
        } else if (starts(r, "<!--")) {
            if (!skip_to(r, "-->")) return false;
        } else if (starts(r, "<?")) {
            if (!skip_to(r, "?>")) return false;
        } else if (starts(r, "<![CDATA[")) {
            if (!skip_to(r, "]]>")) return false;
        } else if (starts(r, "<!")) {
            return fail_xml(r, "document types are not read");
        } else if (starts(r, "</")) {
            r->at += 2;
            const char *name = read_name(r);
            const size_t size = name ? (size_t)(r->at - name) : 0;
            if (depth == 0 || !name) return fail_xml(r, "an element ends that did not begin");
            const char *open = flr_xml_name(r->xml, path[depth - 1]);
            if (strlen(open) != size || memcmp(open, name, size) != 0)
                return fail_xml(r, "an element ends before those in it");
            if (!skip_to(r, ">")) return false;
            if (--depth == 0) return true;
        } else {
            bool closed;
            uint32_t made;
            r->at++;
            if (depth == FLR_XML_MAX_DEPTH)
                return fail_xml(r, "elements are too deep in each other");
            if (!read_tag(r, depth ? path[depth - 1] : FLR_XML_NONE, last[depth], &made, &closed))
                return false;
            last[depth] = made;
            if (closed && depth == 0) return true;
            if (closed) continue;
            path[depth++] = made;
            last[depth] = FLR_XML_NONE;
        }
    }
    return fail_xml(r, depth ? "the file ends before its elements do" : "there is no element");
}

static bool is_text(xml_reader *r)
{
    uint32_t code;
    for (const char *at = r->at; at < r->end; r->line += *at++ == '\n') {
        const size_t step = flr_utf8_size(at, (size_t)(r->end - at), &code);
        if (!step || (flr_utf8_is_control(code) && !is_space(*at)))
            return fail_xml(r, "is no text in UTF-8; save it in that encoding");
        at += step - 1;
    }
    r->line = 1;
    return true;
}

/* Places for all elements and attributes that there may be: each begins with "<", or has "=". */
static bool make_places(flr_xml *xml, size_t size)
{
    size_t elements = 1, attributes = 1;
    for (size_t i = 0; i < size; i++) {
        elements += xml->text[i] == '<' && !strchr("/!?", xml->text[i + 1]);
        attributes += xml->text[i] == '=';
    }
    if (elements > FLR_XML_MAX_ELEMENTS) elements = FLR_XML_MAX_ELEMENTS;
    xml->elements = malloc(elements * sizeof *xml->elements);
    xml->attributes = malloc(attributes * sizeof *xml->attributes);
    return xml->elements && xml->attributes;
}

flr_result flr_xml_parse(const char *name, const void *bytes, size_t size, flr_xml *xml,
                         flr_error *error)
{
    flr_error why = {0};
    *xml = (flr_xml){0};
    if (size > FLR_XML_MAX_BYTES)
        return flr_fail(error, FLR_TOO_LARGE, "%s: more than %d MiB", name,
                        FLR_XML_MAX_BYTES >> 20);
    xml->text = malloc(size + 1);
    if (xml->text && size) memcpy(xml->text, bytes, size);
    if (xml->text) xml->text[size] = 0;
    if (!xml->text || !make_places(xml, size)) {
        flr_xml_free(xml);
        return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory", name);
    }
    xml_reader r = {.name = name,
                    .at = xml->text,
                    .end = xml->text + size,
                    .line = 1,
                    .xml = xml,
                    .error = &why};
    if (is_text(&r) && read_all(&r)) return FLR_OK;
    flr_xml_free(xml);
    if (error) *error = why;
    return why.code;
}

void flr_xml_free(flr_xml *xml)
{
    free(xml->text);
    free(xml->elements);
    free(xml->attributes);
    *xml = (flr_xml){0};
}

const char *flr_xml_name(const flr_xml *xml, uint32_t element)
{
    return xml->text + xml->elements[element].name;
}

bool flr_xml_is(const flr_xml *xml, uint32_t element, const char *name)
{
    return strcmp(flr_xml_name(xml, element), name) == 0;
}

const char *flr_xml_get(const flr_xml *xml, uint32_t element, const char *name)
{
    const uint32_t end =
        element + 1 < xml->count ? xml->elements[element + 1].attribute : xml->attribute_count;
    for (uint32_t i = xml->elements[element].attribute; i < end; i++)
        if (strcmp(xml->text + xml->attributes[i].name, name) == 0)
            return xml->text + xml->attributes[i].value;
    return NULL;
}

static uint32_t next_named(const flr_xml *xml, uint32_t child, const char *name)
{
    while (child != FLR_XML_NONE && name && !flr_xml_is(xml, child, name))
        child = xml->elements[child].next;
    return child;
}

uint32_t flr_xml_child(const flr_xml *xml, uint32_t element, const char *name)
{
    return next_named(xml, xml->elements[element].first, name);
}

uint32_t flr_xml_sibling(const flr_xml *xml, uint32_t child, const char *name)
{
    return next_named(xml, xml->elements[child].next, name);
}
