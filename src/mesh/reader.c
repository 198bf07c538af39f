/* what the readers of all formats share */
#include "mesh/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* The number of the line that holds `at`, from 1. */
static uint64_t line_of(const flr_reader *reader, const char *at)
{
    // a line ends with \n, \r\n or \r
    uint64_t line = 1;
    for (const char *c = reader->bytes; c < at; c++)
        line += *c == '\n' || (*c == '\r' && !(c + 1 < reader->end && c[1] == '\n'));
    return line;
}

/* "line 12" or "byte 1234" */
static void print_place(const flr_reader *reader, const char *at, char text[40])
{
    if (reader->binary)
        snprintf(text, 40, "byte %" PRIu64, (uint64_t)(at - reader->bytes));
    else
        snprintf(text, 40, "line %" PRIu64, line_of(reader, at));
}

static flr_result stop(flr_reader *reader, const char *at, const char *format, va_list arguments)
{
    char place[40], what[400];
    print_place(reader, at, place);
    vsnprintf(what, sizeof what, format, arguments);
    return flr_fail(reader->error, FLR_BAD_INPUT, "%s: %s: %s", reader->name, place, what);
}

flr_result flr_reader_stop(flr_reader *reader, const char *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    flr_result result = stop(reader, at, format, arguments);
    va_end(arguments);
    return result;
}

flr_result flr_reader_complain(flr_reader *reader, const char *at, const char *format, ...)
{
    flr_result result = FLR_OK;
    va_list arguments;
    va_start(arguments, format);
    char *trouble = reader->report->first_trouble;
    if (!reader->tolerant) {
        result = stop(reader, at, format, arguments);
    } else if (!trouble[0]) {
        char place[40], what[400];
        print_place(reader, at, place);
        vsnprintf(what, sizeof what, format, arguments);
        // the same care for control characters as in an error's sentence
        flr_error sentence;
        flr_fail(&sentence, FLR_BAD_INPUT, "%s: %s", place, what);
        flr_text_copy(trouble, sizeof reader->report->first_trouble, sentence.message);
    }
    va_end(arguments);
    return result;
}

flr_result flr_reader_built(flr_reader *reader, flr_result result)
{
    enum { BETWEEN_ASKING = 256 };
    if (result == FLR_OK) {
        if (!reader->go_on || ++reader->steps % BETWEEN_ASKING || reader->go_on(reader->context))
            return FLR_OK;
        return flr_fail(reader->error, FLR_CANCELLED, "%s: reading was stopped", reader->name);
    }
    return flr_builder_fail(&reader->builder, result, reader->name, reader->error);
}

flr_result flr_reader_complain_far(flr_reader *reader, const char *at, flr_vec3 corner)
{
    double u = reader->unit;
    flr_vec3 p = flr_vec3_make(corner.x / u, corner.y / u, corner.z / u);
    if (!flr_vec3_is_finite(corner))
        return flr_reader_complain(reader, at,
                                   "a corner at (%g, %g, %g) is not finite; repair the mesh or "
                                   "read it tolerantly, which leaves such triangles out",
                                   p.x, p.y, p.z);
    return flr_reader_complain(reader, at,
                               "a corner at (%g, %g, %g) is more than %g m from the origin at %g m "
                               "per unit; check the unit, or the file is broken",
                               p.x, p.y, p.z, FLR_MESH_MAX_COORDINATE, u);
}

const char *flr_count_print(uint64_t count, char text[FLR_COUNT_TEXT_SIZE])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count), to = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) text[to++] = ',';
        text[to++] = digits[i];
    }
    text[to] = 0;
    return text;
}

const char *flr_word_print(const flr_reader *reader, const char *at, char text[FLR_WORD_TEXT_SIZE])
{
    size_t length = 0;
    while (length < FLR_WORD_TEXT_SIZE - 4 && at + length < reader->end &&
           !flr_is_space(at[length]) && at[length]) {
        text[length] = (unsigned char)at[length] < 0x80 ? at[length] : '?';
        length++;
    }
    text[length] = 0;
    if (length == FLR_WORD_TEXT_SIZE - 4) memcpy(text + length, "...", 4);
    return text;
}
