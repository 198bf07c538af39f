/* segment files */
#include "scene/segment_file.h"

#include <stdlib.h>

#include "feeler/base.h"
#include "scene/number_lines.h"

enum { SEGMENT_FILE_COLUMNS = 6 };

static const char *const column_names[SEGMENT_FILE_COLUMNS] = {"x0", "y0", "z0", "x1", "y1", "z1"};

static bool read_segment(flr_rows *lines, double unit, flr_segment *segment)
{
    double n[SEGMENT_FILE_COLUMNS];
    for (int i = 0; i < SEGMENT_FILE_COLUMNS; i++) {
        const char *start;
        if (!flr_rows_number(lines, "a segment is x0 y0 z0 x1 y1 z1; the line ends before ",
                             column_names[i], &start, &n[i]))
            return false;
        n[i] = n[i] * unit + 0.0;
        if (isfinite(n[i])) continue;
        lines->at = start;
        return flr_rows_fail(lines, "too large: ", column_names[i]);
    }
    *segment = (flr_segment){{n[0], n[1], n[2]}, {n[3], n[4], n[5]}};
    return flr_rows_end(lines, "a segment has six numbers; there is more");
}

/* gives back what was not needed, where that is much */
static void shrink(flr_segment_list *list, size_t room)
{
    if (list->count > room / 2) return;
    flr_segment *less = realloc(list->segments, list->count * sizeof *less);
    if (less) list->segments = less;
}

flr_result flr_segment_list_parse(const char *name, const void *bytes, size_t size, double unit,
                                  flr_segment_list *list, flr_error *error)
{
    flr_segment_list found = {0};
    flr_error why = {0};
    flr_rows lines = flr_rows_begin(name, bytes, size, &why);
    size_t room = flr_rows_most(&lines, SEGMENT_FILE_COLUMNS);
    found.segments = malloc(room ? room * sizeof *found.segments : 1);
    if (!found.segments)
        return flr_fail(error, FLR_NO_MEMORY, "%s: no memory for the segments", name);
    while (flr_rows_next(&lines)) {
        flr_segment segment = {0};
        if (!read_segment(&lines, unit, &segment)) {
            flr_segment_list_free(&found);
            if (error) *error = why;
            return why.code;
        }
        FLR_ASSERT(found.count < room);
        found.segments[found.count++] = segment;
    }
    if (!found.count) {
        flr_segment_list_free(&found);
        return flr_fail(error, FLR_BAD_INPUT, "%s:%u:1: no segment in the file", name, lines.line);
    }
    shrink(&found, room);
    *list = found;
    return FLR_OK;
}

flr_result flr_segment_list_read(flr_env *env, const char *path, double unit,
                                 flr_segment_list *list, flr_error *error)
{
    flr_blob text = {0};
    flr_result result = flr_file_read_all(env, path, FLR_SEGMENTS_MAX_BYTES, &text, error);
    if (result != FLR_OK) return result;
    result = flr_segment_list_parse(path, text.bytes, text.size, unit, list, error);
    flr_blob_free(&text);
    return result;
}

void flr_segment_list_free(flr_segment_list *list)
{
    if (!list) return;
    free(list->segments);
    *list = (flr_segment_list){0};
}
