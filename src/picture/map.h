/* map.h: maps of numbers over two axes as SVG files: coloured cells with their values, in panels.
 *
 * The same input gives the same bytes. Thread: any; not RT safe.
 */
#ifndef FLR_PICTURE_MAP_H
#define FLR_PICTURE_MAP_H

#include <stddef.h>

#include "feeler/base.h"
#include "feeler/env.h"

typedef struct flr_map_panel {
    const char *title;
    const double *values; /* [rows][columns], the first row at the bottom; not a number: no cell */
} flr_map_panel;

/* What to draw; fill with flr_default_map_def(). All pointers are borrowed during the call; texts
 * are UTF-8 without what XML reserves. */
typedef struct flr_map_def {
    const char *title, *x_label, *y_label;
    const char *const *columns, *const *rows; /* names of the cells along the axes */
    size_t column_count, row_count;
    const flr_map_panel *panels;
    size_t panel_count, across; /* panels side by side; default 1 */
    double good, limit; /* values up to `good` are green, up to `limit` yellow, above it red */
    double scale;       /* by which the values are multiplied to be shown; default 1 */
} flr_map_def;

flr_map_def flr_default_map_def(void);

/* Writes an SVG file, whole or not at all. FLR_BAD_ARGUMENT when there is nothing to draw. */
flr_result flr_map_write(flr_env *env, const char *path, const flr_map_def *def, flr_error *error);

#endif
