/* ITRI (Kim 2004, appendix B): the number of triangles, then three corners for each, one a line */
#include <inttypes.h>

#include "mesh/decimal.h"
#include "mesh/reader.h"

/* three corners take at least "0 0 0\n" each; the last newline may be missing */
enum { MIN_BYTES = 18 };

static const char *skip_space(const flr_reader *reader, const char *c)
{
    while (c < reader->end && flr_is_space(*c)) c++;
    return c;
}

static bool at_word_end(const flr_reader *reader, const char *c)
{
    return c == reader->end || flr_is_space(*c);
}

static flr_result read_count(flr_reader *reader, const char **at, uint64_t *count)
{
    const char *c = skip_space(reader, *at);
    int64_t number;
    const char *after = flr_integer_parse(c, reader->end, &number);
    if (!after || number < 0 || !at_word_end(reader, after))
        return flr_reader_stop(reader, c,
                               "expected the number of triangles, found '%s'; an ITRI file begins "
                               "with it",
                               FLR_WORD_TEXT(reader, c));
    *at = after;
    *count = (uint64_t)number;
    uint64_t left = (uint64_t)(reader->end - after), held = (left + 1) / MIN_BYTES;
    if (*count <= held) return FLR_OK;
    flr_result result = flr_reader_complain(
        reader, c,
        "the file claims %s triangles but only %s bytes follow; it is cut off or not an ITRI file",
        FLR_COUNT_TEXT(*count), FLR_COUNT_TEXT(left));
    return result;
}

/* one triangle at `*at`; `*good` false after a complaint, which ends the file */
static flr_result read_triangle(flr_reader *reader, const char **at, uint64_t index,
                                flr_vec3 corners[3], bool *good)
{
    double value[9];
    *good = false;
    for (unsigned i = 0; i < 9; i++) {
        const char *c = skip_space(reader, *at);
        const char *after = flr_decimal_parse(c, reader->end, FLR_DOUBLE, &value[i]);
        *at = c;
        if (c == reader->end)
            return flr_reader_complain(reader, c,
                                       "the file ends inside triangle %" PRIu64
                                       "; it is cut off, so get a whole copy of it",
                                       index + 1);
        if (!after || !at_word_end(reader, after))
            return flr_reader_complain(reader, c,
                                       "'%s' in triangle %" PRIu64 " is not a number; repair the "
                                       "file or export it again",
                                       FLR_WORD_TEXT(reader, c), index + 1);
        *at = after;
    }
    double unit = reader->unit;
    for (unsigned i = 0; i < 3; i++)
        corners[i] =
            flr_vec3_make(value[3 * i] * unit, value[3 * i + 1] * unit, value[3 * i + 2] * unit);
    *good = true;
    return FLR_OK;
}

static flr_result add_triangle(flr_reader *reader, const char *at, const flr_vec3 corners[3])
{
    for (unsigned i = 0; i < 3; i++) {
        if (flr_position_ok(corners[i])) continue;
        reader->report->dropped_nonfinite++;
        return flr_reader_complain_far(reader, at, corners[i]);
    }
    return flr_reader_built(reader, flr_builder_soup(&reader->builder, corners, 1));
}

flr_result flr_read_itri(flr_reader *reader)
{
    const char *at = reader->bytes;
    uint64_t count = 0, done = 0;
    flr_result result = read_count(reader, &at, &count);
    bool good = true;
    for (; result == FLR_OK && done < count; done++) {
        flr_vec3 corners[3];
        const char *start = skip_space(reader, at);
        result = read_triangle(reader, &at, done, corners, &good);
        if (!good) break;
        result = add_triangle(reader, start, corners);
    }
    if (result != FLR_OK) return result;
    reader->report->triangles_in_file = done;
    reader->report->vertices_in_file = 3 * done;
    reader->report->dropped_malformed = count - done;

    // more than was promised is lost geometry
    at = skip_space(reader, at);
    reader->report->ignored_bytes = (uint64_t)(reader->end - at);
    if (at == reader->end || !good) return FLR_OK;
    return flr_reader_complain(reader, at,
                               "more follows after the %" PRIu64
                               " triangles that the first line claims; correct the number",
                               count);
}
