/* number_lines.h: text files of numbers, line by line: poses, segments.
 *
 * Blanks or tabs between numbers; empty lines and what follows a # are skipped. A sentence about trouble begins with
 * "FILE:LINE:COLUMN:". Thread: any. Not RT safe. */
#ifndef FLR_SCENE_NUMBER_LINES_H
#define FLR_SCENE_NUMBER_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "feeler/base.h"

/* where the reader is */
typedef struct flr_rows {
    const char *name; /* of the file, in sentences */
    const char *at, *line_start, *end;
    unsigned line; /* from 1 */
    flr_error *error;
} flr_rows;

/* `bytes` need not end with 0; NULL allowed where size is 0. `error` is not NULL. */
flr_rows flr_rows_begin(const char *name, const void *bytes, size_t size, flr_error *error);

/* Goes to the next line that has something in it, the first time to the first. False: there is none. */
bool flr_rows_next(flr_rows *lines);

/* Reads a whole text into a new array of `count` elements of `size` bytes. `read` fills the element
 * `to` from a line of `columns` numbers, which ends there; `before` is the element before, NULL for
 * the first one. False from it: the error is set. A text without a line with numbers is
 * FLR_BAD_INPUT; `what` is what is missing then, and `several` what there is no memory for. */
typedef struct flr_rows_def {
    const char *what, *several; /* "pose", "poses" */
    size_t columns, size;
    bool (*read)(flr_rows *lines, double unit, const void *before, void *to);
} flr_rows_def;
flr_result flr_rows_parse(const flr_rows_def *def, const char *name, const void *bytes, size_t size,
                          double unit, void **list, size_t *count, flr_error *error);

/* Reads the next number of the line. `missing` is what to say where the line ends before it, followed by `what`. `*start`
 * (may be NULL) gets where it begins. False: the error is set. */
bool flr_rows_number(flr_rows *lines, const char *missing, const char *what, const char **start,
                     double *value);

/* Nothing may follow. False: the error says `sentence`. */
bool flr_rows_end(flr_rows *lines, const char *sentence);

/* Sets the error to "FILE:LINE:COLUMN: sentence detail", where the reader is; returns false. */
bool flr_rows_fail(const flr_rows *lines, const char *sentence, const char *detail);

#endif
