/* picture.h: meshes as a picture: a small software renderer for docs and commands.
 *
 * Made for mechanical parts: two lights with shadows, ambient occlusion, dark outlines at
 * silhouettes and creases, smooth shading across soft edges only, both sides lit (an
 * inverted mesh looks like a right one), an optional ground and an optional section cut.
 * The same input gives the same bytes. A few million triangles take a few seconds.
 *
 * Thread: any; not RT safe.
 */
#ifndef FLR_PICTURE_H
#define FLR_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/math.h"
#include "feeler/mesh.h"

enum { FLR_PICTURE_MAX_SIZE = 8192, FLR_PICTURE_MAX_SAMPLES = 4 };

/* sRGB, each 0..1 */
typedef struct flr_colour {
    float r, g, b;
} flr_colour;

/* One of a fixed row of colours that are told apart well; repeats after 10. */
flr_colour flr_picture_palette(size_t index);
/* The colour 0xRRGGBB; where it is larger, as none is given, one of the palette. */
flr_colour flr_picture_colour(uint32_t rgb, size_t index);

/* One thing to be seen. The mesh is borrowed during the call. */
typedef struct flr_picture_part {
    const flr_mesh *mesh;
    flr_pose T_world_part;
    flr_colour colour;
    bool whole; /* a section cut does not touch it */
} flr_picture_part;

/* What to draw; fill with flr_default_picture_def(), then set parts and what you need. */
typedef struct flr_picture_def {
    const flr_picture_part *parts; /* [part_count]; none gives an empty background */
    size_t part_count;
    uint32_t width, height; /* pixels; default 960 x 640 */
    uint32_t samples;       /* per pixel and direction, 1..FLR_PICTURE_MAX_SAMPLES; default 3 */

    /* the camera: looks along `direction` (world; any length), Z up in the picture, and stands
     * where all parts, or the box `focus`, just fit */
    flr_vec3 direction;    /* default (-0.62, 0.68, -0.42): from the right, in front, above */
    double view_angle;     /* degrees, vertical; 0: parallel projection; default 24 */
    double margin;         /* share of the picture left free at each side; default 0.05 */
    const flr_box3 *focus; /* world, metres; NULL: all parts */

    bool ground;     /* a floor under the lowest point, for the shadows; default true */
    bool shadows;    /* default true */
    bool occlusion;  /* ambient occlusion; default true */
    bool outlines;   /* default true */
    double crease;   /* degrees: edges with a larger bend are shaded sharp; default 32 */
    bool background; /* a soft vertical gradient; false: white; default true */

    /* section: what lies on the side `cut_normal` points to is taken away, and solids show their
     * inside as a flat cap. Off by default */
    bool cut;
    flr_vec3 cut_point, cut_normal; /* world; metres, any length */
} flr_picture_def;

flr_picture_def flr_default_picture_def(void);

/* A picture: 3 bytes per pixel, rows from the top, no padding. */
typedef struct flr_picture {
    uint32_t width, height;
    uint8_t *rgb; /* [height * width * 3], owned; freed by flr_picture_free() */
} flr_picture;

/* Draws. FLR_BAD_ARGUMENT on sizes or angles out of range, FLR_NO_MEMORY. On success the caller
 * owns the picture's bytes. */
flr_result flr_picture_render(const flr_picture_def *def, flr_picture *picture, flr_error *error);

/* Frees the bytes and leaves an empty picture; NULL allowed. */
void flr_picture_free(flr_picture *picture);

/* The picture as a PNG in memory, free with flr_blob_free(). It is kept small, for pages that show
 * many: reduced to 256 well-chosen colours, exact where it has no more. */
flr_result flr_picture_png(const flr_picture *picture, flr_blob *png, flr_error *error);

/* The same as a file, whole or not at all. */
flr_result flr_picture_write_png(flr_env *env, const char *path, const flr_picture *picture,
                                 flr_error *error);

#endif
