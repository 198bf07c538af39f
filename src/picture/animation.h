/* animation.h: pictures of one size as an animated PNG. Browsers play it; other programs show the first picture.
 *
 * All pictures share one palette of 256 colours, and each holds only the rectangle that differs from the one before. The
 * same pictures give the same bytes.
 *
 * Thread: any; not RT safe.
 */
#ifndef FLR_PICTURE_ANIMATION_H
#define FLR_PICTURE_ANIMATION_H

#include "picture/picture.h"

enum { FLR_ANIMATION_MAX_FRAMES = 240 };

typedef struct flr_animation_def {
    const flr_picture *pictures; /* [count], all of the same size */
    size_t count;                /* 1 ... FLR_ANIMATION_MAX_FRAMES */
    uint16_t delay_ms;           /* between two pictures */
    uint16_t pause_ms;           /* after the last one; then it begins again, forever */
} flr_animation_def;

/* FLR_BAD_ARGUMENT on other counts or different sizes, FLR_NO_MEMORY. Free the result with flr_blob_free(). */
flr_result flr_animation_png(const flr_animation_def *def, flr_blob *png, flr_error *error);

/* The same as a file, whole or not at all. */
flr_result flr_animation_write_png(flr_env *env, const char *path, const flr_animation_def *def,
                                   flr_error *error);

#endif
