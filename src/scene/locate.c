/* a light scanner over well-formed JSON: counts elements, skips values */
#include "scene/locate.h"

typedef struct scanner {
    const char *text;
    size_t size, at;
} scanner;

/* the character under the scanner; 0 at the end */
static char peek(const scanner *s) { return s->at < s->size ? s->text[s->at] : 0; }

static void skip_blanks(scanner *s)
{
    while (s->at < s->size) {
        char c = s->text[s->at];
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r') break;
        s->at++;
    }
}

/* from the opening quote to behind the closing one */
static void skip_string(scanner *s)
{
    for (s->at++; s->at < s->size && s->text[s->at] != '"'; s->at++)
        if (s->text[s->at] == '\\') s->at++;
    if (s->at < s->size)
        s->at++;
    else
        s->at = s->size;
}

/* over one value of any kind; brackets are counted, so depth costs no stack */
static void skip_value(scanner *s)
{
    size_t open = 0;
    do {
        skip_blanks(s);
        char c = peek(s);
        if (!c) return;
        if (c == '"') {
            skip_string(s);
        } else if (c == '[' || c == '{') {
            open++, s->at++;
        } else if (c == ']' || c == '}') {
            if (!open) return;
            open--, s->at++;
        } else if (c == ',' || c == ':') {
            if (!open) return;
            s->at++;
        } else {
            while (s->at < s->size && s->text[s->at] != ',' && s->text[s->at] != ']' &&
                   s->text[s->at] != '}' && s->text[s->at] != ' ' && s->text[s->at] != '\n' &&
                   s->text[s->at] != '\t' && s->text[s->at] != '\r')
                s->at++;
        }
    } while (open);
}

/* from an opening bracket to its `index`-th element, at the key of a member when `at_key` */
static bool enter(scanner *s, size_t index, bool at_key)
{
    skip_blanks(s);
    bool object = peek(s) == '{';
    if (!object && peek(s) != '[') return false;
    s->at++;
    for (size_t i = 0;; i++) {
        skip_blanks(s);
        if (object && i == index && at_key) return true;
        if (object) {
            if (peek(s) != '"') return false;
            skip_string(s);
            skip_blanks(s);
            if (peek(s) == ':') s->at++;
            skip_blanks(s);
        }
        if (i == index) return true;
        skip_value(s);
        skip_blanks(s);
        if (peek(s) != ',') return false;
        s->at++;
    }
}

/* moves a position on over text[from..to) */
static void advance(flr_json_position *position, const char *text, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (text[i] == '\n')
            position->line++, position->column = 1;
        else if (((unsigned char)text[i] & 0xC0) != 0x80)
            position->column++;
    }
}

flr_json_position flr_json_position_of(const char *text, size_t at)
{
    flr_json_position position = {1, 1};
    advance(&position, text, 0, at);
    return position;
}

/* as far down the chain as it leads */
static scanner follow(const char *text, size_t size, const size_t *chain, size_t depth, bool at_key)
{
    scanner s = {text, size, 0};
    skip_blanks(&s);
    for (size_t i = 0; i < depth; i++)
        if (!enter(&s, chain[i], at_key && i + 1 == depth)) break;
    return s;
}

flr_json_position flr_json_locate(const char *text, size_t size, const size_t *chain, size_t depth,
                                  bool at_key)
{
    scanner s = follow(text, size, chain, depth, at_key);
    flr_json_position position = {1, 1};
    advance(&position, text, 0, s.at < size ? s.at : size);
    return position;
}

void flr_json_locate_each(const char *text, size_t size, const size_t *chain, size_t depth,
                          flr_json_position *positions, size_t count)
{
    scanner s = follow(text, size, chain, depth, false);
    flr_json_position position = {1, 1};
    if (!count || peek(&s) != '[' || !enter(&s, 0, false)) return;
    for (size_t i = 0, from = 0; i < count; i++) {
        advance(&position, text, from, s.at);
        from = s.at;
        positions[i] = position;
        skip_value(&s);
        skip_blanks(&s);
        if (peek(&s) != ',') return;
        s.at++;
        skip_blanks(&s);
    }
}
