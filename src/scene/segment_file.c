/* segment files */
#include "scene/segment_file.h"

#include <stdlib.h>

#include "feeler/base.h"
#include "scene/number_lines.h"

enum { SEGMENT_FILE_COLUMNS = 6 };

static const char *const column_names[SEGMENT_FILE_COLUMNS] = {"x0", "y0", "z0", "x1", "y1", "z1"};

static bool read_segment(flr_rows *lines, double unit, const void *before, void *to)
{
    (void)before;
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
    *(flr_segment *)to = (flr_segment){{n[0], n[1], n[2]}, {n[3], n[4], n[5]}};
    return flr_rows_end(lines, "a segment has six numbers; there is more");
}

flr_result flr_segment_list_parse(const char *name, const void *bytes, size_t size, double unit,
                                  flr_segment_list *list, flr_error *error)
{
    static const flr_rows_def def = {"segment", "segments", SEGMENT_FILE_COLUMNS,
                                     sizeof(flr_segment), read_segment};
    void *segments;
    flr_result result =
        flr_rows_parse(&def, name, bytes, size, unit, &segments, &list->count, error);
    if (result == FLR_OK) list->segments = segments;
    return result;
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
