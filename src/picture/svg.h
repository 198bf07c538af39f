/* svg.h: a file of SVG that is being written */
#ifndef FLR_PICTURE_SVG_H
#define FLR_PICTURE_SVG_H

#include "feeler/env.h"

/* The first error sticks; later prints do nothing. */
typedef struct flr_svg {
    flr_output *output;
    flr_error *error;
    flr_result result;
} flr_svg;

/* At most 511 bytes at a time. */
void flr_svg_print(flr_svg *svg, const char *format, ...) FLR_PRINTF(2, 3);
/* Commits what was written without trouble, abandons the rest. */
flr_result flr_svg_end(flr_svg *svg);

#endif
