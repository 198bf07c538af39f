/* segment_file.h: segment files: what a probe asks.
 *
 *     # a comment
 *     0 0 10   0 0 -10     # x0 y0 z0 x1 y1 z1
 *
 * One line per segment, from the first point to the second, in the unit that the caller states. Blanks or tabs between
 * numbers; empty lines and what follows a # are skipped. In memory the points are in metres.
 *
 * Thread: any. Not RT safe.
 */
#ifndef FLR_SCENE_SEGMENT_FILE_H
#define FLR_SCENE_SEGMENT_FILE_H

#include <stddef.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/math.h"

typedef struct flr_segment {
    flr_vec3 from, to; /* metres, finite */
} flr_segment;

typedef struct flr_segment_list {
    flr_segment *segments; /* [count], owned */
    size_t count;
} flr_segment_list;

enum { FLR_SEGMENTS_MAX_BYTES = 1 << 30 }; /* of a file; larger ones are refused */

/* Reads a segment file with lengths in `unit` (metres per unit). A sentence begins with "FILE:LINE:COLUMN:". A file
 * without any segment is refused. Free `*list` with flr_segment_list_free(). */
flr_result flr_segment_list_read(flr_env *env, const char *path, double unit,
                                 flr_segment_list *list, flr_error *error);

/* The same from memory; `name` stands for the file in messages. `bytes` need not end with 0. */
flr_result flr_segment_list_parse(const char *name, const void *bytes, size_t size, double unit,
                                  flr_segment_list *list, flr_error *error);

/* Frees and empties; NULL allowed. */
void flr_segment_list_free(flr_segment_list *list);

#endif
