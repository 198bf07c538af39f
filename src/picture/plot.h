/* plot.h: plain line and bar plots as SVG files, for docs, reports and benchmarks.
 *
 * The same input gives the same bytes. Thread: any; not RT safe.
 */
#ifndef FLR_PICTURE_PLOT_H
#define FLR_PICTURE_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"

typedef enum flr_plot_kind {
    FLR_PLOT_LINES,
    FLR_PLOT_BARS /* one group of bars per category, one bar per series */
} flr_plot_kind;

/* One line, or one bar of every group. Values that are not finite, or not positive on a
 * logarithmic axis, are left out: a gap in the line, no bar. */
typedef struct flr_plot_series {
    const char *name; /* for the legend; NULL: not in the legend */
    const double *x;  /* [count]; lines only; NULL: 0, 1, 2, ... */
    const double *y;  /* [count]; bars: one per category */
    size_t count;
    bool dots;   /* lines only: mark each value */
    bool dashed; /* lines only: for limits and comparisons */
} flr_plot_series;

/* What to plot; fill with flr_default_plot_def(). All pointers are borrowed during the call;
 * texts are UTF-8 and may be NULL. */
typedef struct flr_plot_def {
    flr_plot_kind kind; /* default lines */
    const char *title;
    const char *x_label; /* with unit: "voxel size [mm]" */
    const char *y_label;
    bool log_x, log_y;
    bool from_zero; /* y axis begins at 0 where it is not logarithmic; default true */
    const flr_plot_series *series; /* [series_count] */
    size_t series_count;
    const char *const *categories; /* [category_count], bars only */
    size_t category_count;
    uint32_t width, height; /* pixels; default 720 x 420; at least 200 x 150 */
} flr_plot_def;

flr_plot_def flr_default_plot_def(void);

/* Writes an SVG file, whole or not at all. FLR_BAD_ARGUMENT when it is too small to hold axes. */
flr_result flr_plot_write(flr_env *env, const char *path, const flr_plot_def *def,
                          flr_error *error);

#endif
