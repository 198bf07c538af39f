/* labels.h: short labels in pictures, in a font of 5x7 dots. Private to src/picture. */
#ifndef FLR_PICTURE_LABELS_H
#define FLR_PICTURE_LABELS_H

#include "picture/picture.h"

enum { FLR_TEXT_ADVANCE = 6, FLR_TEXT_HEIGHT = 7 }; /* dots */

/* Writes ASCII (letters without case, digits, some signs; others are blank) with its upper left corner at (x, y), each
 * dot `scale` pixels wide. What lies outside of the picture is left out. */
void flr_text_draw(flr_picture *picture, int x, int y, int scale, flr_colour colour,
                   const char *text);

/* A filled rectangle, cut at the picture's edge. */
void flr_text_fill(flr_picture *picture, int x, int y, int width, int height, flr_colour colour);

/* Pixels from its left to its right edge. */
int flr_text_width(const char *text, int scale);

#endif
