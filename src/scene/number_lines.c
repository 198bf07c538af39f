/* text files of numbers, line by line */
#include "scene/number_lines.h"

#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"

enum { NUMBER_MAX = 64 };

flr_rows flr_rows_begin(const char *name, const void *bytes, size_t size, flr_error *error)
{
    const char *text = size ? bytes : "";
    return (flr_rows){name, text, NULL, text + size, 0, error};
}

/* The most lines of `columns` numbers that the text can have: no more than it has lines, nor than fit into it, since a
 * number takes two bytes with what parts it from the next. With this room an array never has to grow. */
static size_t most_rows(const flr_rows *r, size_t columns)
{
    size_t size = (size_t)(r->end - r->at), fit = (size + 1) / (2 * columns), count = 1;
    const char *at = r->at;
    while (count < fit && (at = memchr(at, '\n', (size_t)(r->end - at)))) at++, count++;
    return count < fit ? count : fit;
}

bool flr_rows_fail(const flr_rows *r, const char *sentence, const char *detail)
{
    unsigned column = 1;
    for (const char *c = r->line_start; c < r->at; c++)
        column += ((unsigned char)*c & 0xC0) != 0x80;
    flr_fail(r->error, FLR_BAD_INPUT, "%s:%u:%u: %s%s", r->name, r->line, column, sentence, detail);
    return false;
}

static void skip_blanks(flr_rows *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) r->at++;
}

static bool at_line_end(const flr_rows *r)
{
    return r->at == r->end || *r->at == '\n' || *r->at == '#';
}

bool flr_rows_next(flr_rows *r)
{
    for (;;) {
        /* behind the line that was read; there is none before the first */
        if (r->line > 0) {
            const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
            r->at = newline ? newline + 1 : r->end;
        }
        r->line_start = r->at;
        r->line++;
        if (r->at == r->end) return false;
        skip_blanks(r);
        if (!at_line_end(r)) return true;
    }
}

bool flr_rows_number(flr_rows *r, const char *missing, const char *what, const char **start,
                     double *value)
{
    skip_blanks(r);
    if (start) *start = r->at;
    if (at_line_end(r)) return flr_rows_fail(r, missing, what);
    // the word, terminated
    char word[NUMBER_MAX];
    size_t length = 0;
    while (r->at + length < r->end) {
        char c = r->at[length];
        if ((unsigned char)c <= ' ' || c == '#') break;
        if (length == NUMBER_MAX - 1) return flr_rows_fail(r, "too long for a number", "");
        word[length++] = c;
    }
    word[length] = 0;
    const char *rest;
    flr_error why;
    if (flr_number_parse(word, value, &rest, &why) != FLR_OK)
        return flr_rows_fail(r, why.message, "");
    if (*rest) return flr_rows_fail(r, "not a number: ", word);
    r->at += length;
    return true;
}

bool flr_rows_end(flr_rows *r, const char *sentence)
{
    skip_blanks(r);
    return at_line_end(r) || flr_rows_fail(r, sentence, "");
}

flr_result flr_rows_parse(const flr_rows_def *def, const char *name, const void *bytes, size_t size,
                          double unit, void **list, size_t *count, flr_error *error)
{
    flr_error why = {0};
    flr_rows r = flr_rows_begin(name, bytes, size, &why);
    size_t room = most_rows(&r, def->columns), found = 0;
    char *rows = malloc((room + 1) * def->size); /* one more, for a line that is refused */
    if (!rows)
        return flr_fail(error, FLR_NO_MEMORY, "%s: no memory for the %s", name, def->several);
    while (why.code == FLR_OK && flr_rows_next(&r)) {
        char *to = rows + found * def->size;
        memset(to, 0, def->size);
        if (def->read(&r, unit, found ? to - def->size : NULL, to)) found++;
        FLR_ASSERT(found <= room);
    }
    if (why.code == FLR_OK && !found)
        flr_fail(&why, FLR_BAD_INPUT, "%s:%u:1: no %s in the file", name, r.line, def->what);
    if (why.code != FLR_OK) {
        free(rows);
        if (error) *error = why;
        return why.code;
    }
    /* what was not needed goes back, where that is much */
    char *less = found <= room / 2 ? realloc(rows, found * def->size) : NULL;
    *list = less ? less : rows;
    *count = found;
    return FLR_OK;
}
