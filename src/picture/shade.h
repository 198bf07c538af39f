/* shade.h: from samples to colours. Private to src/picture. */
#ifndef FLR_PICTURE_SHADE_H
#define FLR_PICTURE_SHADE_H

#include "picture/raster.h"

/* Everything the shading looks at. */
typedef struct flr_shading {
    const flr_picture_def *def;
    flr_camera eye;
    flr_camera light;    /* parallel, looking along the key light */
    flr_sample *samples; /* [eye.height * eye.width] */
    float *shadow_map;   /* [light.height * light.width] nearness to the light; NULL: no shadows */
    double radius;       /* metres, of what is in view: the measure for all effects */
    double ground;       /* world z of the floor */
} flr_shading;

/* Turns the samples seen from inside at a section into the section's flat face. */
void flr_shade_caps(flr_shading *stage);

/* Fills each sample's `shade` with the ambient light that reaches it. FLR_NO_MEMORY. */
flr_result flr_shade_occlusion(flr_shading *stage, flr_error *error);

/* Lights every sample and averages them to pixels; `rgb` is [height * width * 3] of def.
 * FLR_NO_MEMORY. */
flr_result flr_shade_picture(const flr_shading *stage, uint8_t *rgb, flr_error *error);

#endif
