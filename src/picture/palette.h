/* palette.h: few colours that stand well for many. Private to src/picture. */
#ifndef FLR_PICTURE_PALETTE_H
#define FLR_PICTURE_PALETTE_H

#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"

enum { FLR_PALETTE_SIZE = 256 };

typedef struct flr_palette {
    uint8_t rgb[FLR_PALETTE_SIZE][3];
    uint32_t count;
} flr_palette;

/* Chooses a palette for `count` pixels (3 bytes each) and gives every pixel its index. Pictures
 * that have at most FLR_PALETTE_SIZE colours keep them exactly. Deterministic. FLR_NO_MEMORY. */
flr_result flr_palette_make(const uint8_t *rgb, size_t count, flr_palette *palette,
                            uint8_t *indices, flr_error *error);

#endif
