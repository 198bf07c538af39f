/* STL, binary and ASCII
 *
 * Binary: 80 bytes of anything, a 32-bit count, then 50 bytes per facet: normal, three corners,
 * two bytes of anything; little-endian 32-bit floats. Normals are not used: corners tell.
 * ASCII: words; coordinates are rounded to 32-bit floats, so that both give the same mesh. */
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "mesh/decimal.h"
#include "mesh/reader.h"

enum { HEADER = 84, FACET = 50, STL_BATCH = FLR_WELD_BATCH / 3 };

/* can a facet with these corners stay? counts it if not */
static flr_result check_corners(flr_reader *reader, const char *at, const flr_vec3 c[3], bool *ok)
{
    *ok = true;
    for (unsigned i = 0; i < 3; i++) {
        if (flr_position_ok(c[i])) continue;
        *ok = false;
        reader->report->dropped_nonfinite++;
        return flr_reader_complain_far(reader, at, c[i]);
    }
    return FLR_OK;
}

/* ---- binary ---- */

bool flr_stl_size_fits(const uint8_t *bytes, size_t size)
{
    if (size < HEADER) return false;
    return size - HEADER == (uint64_t)FACET * flr_get_u32(bytes + 80);
}

/* does the count of the header fit the size of the file? gives the facets to read */
static flr_result check_count(flr_reader *reader, uint64_t *count)
{
    uint64_t size = (uint64_t)(reader->end - reader->bytes);
    uint64_t claimed = flr_get_u32((const uint8_t *)reader->bytes + 80),
             held = (size - HEADER) / FACET;
    char a[FLR_COUNT_TEXT_SIZE];
    *count = claimed < held ? claimed : held;
    reader->report->ignored_bytes = size - HEADER - *count * FACET;
    if (claimed > held) {
        reader->report->dropped_malformed += claimed - held;
        return flr_reader_complain(
            reader, reader->bytes + 80,
            "the header claims %s facets (%s bytes) but the file has %s bytes, which hold %s "
            "facets; it is cut off or not a binary STL file, so export it again",
            flr_count_print(claimed, a), FLR_COUNT_TEXT(HEADER + claimed * FACET),
            FLR_COUNT_TEXT(size), FLR_COUNT_TEXT(held));
    }
    // a few odd bytes at the end do happen; whole facets beyond the count are lost geometry
    if (held > claimed)
        return flr_reader_complain(
            reader, reader->bytes + 80,
            "the header claims %s facets but the file has %s bytes, which hold %s facets; the "
            "count is wrong, so export the file again",
            flr_count_print(claimed, a), FLR_COUNT_TEXT(size), FLR_COUNT_TEXT(held));
    return FLR_OK;
}

/* decodes up to `count` facets at `at`, leaves out bad ones, welds the rest */
static flr_result add_facets(flr_reader *reader, const char *at, size_t count)
{
    flr_vec3 corners[FLR_WELD_BATCH];
    size_t kept = 0;
    for (size_t i = 0; i < count; i++, at += FACET) {
        flr_vec3 *c = &corners[3 * kept];
        for (unsigned k = 0; k < 3; k++) {
            const uint8_t *corner = (const uint8_t *)at + 12 + 12 * k;
            c[k].x = (double)flr_get_f32(corner) * reader->unit;
            c[k].y = (double)flr_get_f32(corner + 4) * reader->unit;
            c[k].z = (double)flr_get_f32(corner + 8) * reader->unit;
        }
        bool ok;
        flr_result result = check_corners(reader, at, c, &ok);
        if (result != FLR_OK) return result;
        kept += ok;
    }
    return flr_reader_built(reader, flr_builder_soup(&reader->builder, corners, kept));
}

flr_result flr_read_stl_binary(flr_reader *reader)
{
    reader->binary = true;
    size_t size = (size_t)(reader->end - reader->bytes);
    if (size < HEADER)
        return flr_reader_stop(reader, reader->end,
                               "the file ends inside the header, a binary STL file has at least 84 "
                               "bytes; export it again");
    uint64_t count;
    flr_result result = check_count(reader, &count);
    if (result != FLR_OK) return result;
    reader->report->triangles_in_file = count;
    reader->report->vertices_in_file = 3 * count;

    // closed meshes have half as many vertices as triangles
    result = flr_reader_built(
        reader, flr_builder_expect(&reader->builder, (size_t)count, (size_t)count / 2));
    const char *at = reader->bytes + HEADER;
    for (uint64_t done = 0; result == FLR_OK && done < count; done += STL_BATCH) {
        size_t batch = count - done < STL_BATCH ? (size_t)(count - done) : STL_BATCH;
        result = add_facets(reader, at + done * FACET, batch);
    }
    return result;
}

/* ---- ASCII ---- */

typedef struct ascii {
    flr_reader *reader;
    const char *at;
    bool in_solid;
    flr_vec3 corners[FLR_WELD_BATCH]; /* facets that wait to be welded */
    size_t kept;
} ascii;

static void skip_space(ascii *text)
{
    const char *at = text->at, *end = text->reader->end;
    while (at < end && flr_is_space(*at)) at++;
    text->at = at;
}

/* takes the word if it is next, in any case */
static bool take(ascii *text, const char *word, size_t length)
{
    skip_space(text);
    const char *at = text->at, *end = text->reader->end;
    if ((size_t)(end - at) < length) return false;
    if (memcmp(at, word, length) != 0 && strncasecmp(at, word, length) != 0) return false;
    if (at + length < end && !flr_is_space(at[length])) return false;
    text->at = at + length;
    return true;
}
#define TAKE(text, word) take(text, word, sizeof(word) - 1)

static flr_result weld_facets(ascii *text)
{
    flr_reader *reader = text->reader;
    flr_result result =
        flr_reader_built(reader, flr_builder_soup(&reader->builder, text->corners, text->kept));
    text->kept = 0;
    return result;
}

/* the rest of the line, without blanks around it */
static void take_line(ascii *text, const char **name, size_t *length)
{
    const char *end = text->reader->end, *at = text->at;
    while (at < end && flr_is_blank(*at)) at++;
    *name = at;
    while (at < end && *at != '\n' && *at != '\r') at++;
    text->at = at;
    while (at > *name && flr_is_blank(at[-1])) at--;
    *length = (size_t)(at - *name);
}

static flr_result begin_solid(ascii *text, const char *at)
{
    flr_reader *reader = text->reader;
    flr_result result = FLR_OK;
    if (text->in_solid)
        result = flr_reader_complain(reader, at,
                                     "a solid begins before the last one has ended; "
                                     "'endsolid' is missing, so export the file again");
    if (result == FLR_OK) result = weld_facets(text);
    if (result != FLR_OK) return result;
    const char *name;
    size_t length;
    take_line(text, &name, &length);
    text->in_solid = true;
    return flr_reader_built(reader,
                            flr_builder_group(&reader->builder, name, length, flr_pose_identity()));
}

/* the numbers after 'facet normal', which nobody needs: any number of them */
static void skip_normal(ascii *text)
{
    if (!TAKE(text, "normal")) return;
    const char *end = text->reader->end;
    for (;;) {
        skip_space(text);
        double ignored;
        const char *after = flr_decimal_parse(text->at, end, FLR_SINGLE, &ignored);
        if (!after || (after < end && !flr_is_space(*after))) return;
        text->at = after;
    }
}

/* 'vertex' and three numbers; false where it is wrong, with text->at there */
static bool take_vertex(ascii *text, flr_vec3 *corner)
{
    const char *end = text->reader->end;
    if (!TAKE(text, "vertex")) return false;
    double value[3];
    for (unsigned i = 0; i < 3; i++) {
        skip_space(text);
        const char *after = flr_decimal_parse(text->at, end, FLR_SINGLE, &value[i]);
        if (!after || (after < end && !flr_is_space(*after))) return false;
        text->at = after;
    }
    double unit = text->reader->unit;
    *corner = flr_vec3_make(value[0] * unit, value[1] * unit, value[2] * unit);
    return true;
}

/* what stands behind 'facet'; false where it is wrong, with text->at there and what was wanted */
static bool take_facet(ascii *text, flr_vec3 corners[3], const char **wanted)
{
    skip_normal(text);
    *wanted = "'outer loop'";
    if (!TAKE(text, "outer") || !TAKE(text, "loop")) return false;
    *wanted = "'vertex' and three numbers";
    for (unsigned i = 0; i < 3; i++)
        if (!take_vertex(text, &corners[i])) return false;
    *wanted = "'endloop' after three corners";
    if (!TAKE(text, "endloop")) return false;
    *wanted = "'endfacet'";
    return TAKE(text, "endfacet");
}

/* after a facet that could not be read: to the next place that makes sense */
static void find_next_facet(ascii *text)
{
    const char *end = text->reader->end;
    for (;;) {
        skip_space(text);
        const char *word = text->at;
        if (word == end || TAKE(text, "endfacet")) return;
        if (TAKE(text, "facet") || TAKE(text, "endsolid") || TAKE(text, "solid")) {
            text->at = word;
            return;
        }
        while (text->at < end && !flr_is_space(*text->at)) text->at++;
    }
}

static flr_result read_facet(ascii *text, const char *start)
{
    flr_reader *reader = text->reader;
    flr_vec3 *corners = &text->corners[3 * text->kept];
    const char *wanted;
    flr_result result;
    if (!take_facet(text, corners, &wanted)) {
        skip_space(text);
        reader->report->dropped_malformed++;
        if (text->at == reader->end)
            result = flr_reader_complain(reader, text->at,
                                         "the file ends inside a facet; it is cut off, so get a "
                                         "whole copy of it");
        else
            result = flr_reader_complain(reader, text->at,
                                         "expected %s, found '%s'; repair the file or export it "
                                         "again",
                                         wanted, FLR_WORD_TEXT(reader, text->at));
        find_next_facet(text);
        return result;
    }
    reader->report->triangles_in_file++;
    bool ok;
    result = check_corners(reader, start, corners, &ok);
    if (result != FLR_OK) return result;
    text->kept += ok;
    return text->kept == STL_BATCH ? weld_facets(text) : FLR_OK;
}

flr_result flr_read_stl_ascii(flr_reader *reader)
{
    ascii text = {.reader = reader, .at = reader->bytes};
    flr_result result = FLR_OK;
    while (result == FLR_OK) {
        skip_space(&text);
        const char *start = text.at, *name;
        size_t length;
        if (start == reader->end) break;
        if (TAKE(&text, "facet")) {
            result = read_facet(&text, start);
        } else if (TAKE(&text, "solid")) {
            result = begin_solid(&text, start);
        } else if (TAKE(&text, "endsolid")) {
            take_line(&text, &name, &length);
            text.in_solid = false;
        } else {
            reader->report->dropped_malformed++;
            result = flr_reader_complain(reader, start,
                                         "expected 'facet' or 'endsolid', found '%s'; repair the "
                                         "file or export it again",
                                         FLR_WORD_TEXT(reader, start));
            take_line(&text, &name, &length);
        }
    }
    if (result == FLR_OK && text.in_solid)
        result = flr_reader_complain(reader, reader->end,
                                     "the file ends without 'endsolid'; it is cut off, so get a "
                                     "whole copy of it");
    if (result == FLR_OK) result = weld_facets(&text);
    reader->report->vertices_in_file = 3 * reader->report->triangles_in_file;
    return result;
}
