/* raster.h: triangles to samples: the inner part of the renderer. Private to src/picture. */
#ifndef FLR_PICTURE_RASTER_H
#define FLR_PICTURE_RASTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "picture/picture.h"

/* A point in the camera's frame: x right, y up, z away from the eye; metres. */
typedef struct flr_view_point {
    double x, y, z;
} flr_view_point;

/* Where the eye stands. World to camera: turn by `axes`, subtract `eye`. */
typedef struct flr_camera {
    double axes[3][3]; /* rows: right, up, forward, in the world's frame */
    flr_vec3 centre;   /* world; subtracted before turning, to keep precision far from the origin */
    double eye[3];     /* in the turned frame, relative to centre */
    double scale;      /* samples per metre (parallel) or per unit of tangent (perspective) */
    bool perspective;
    double far;     /* deepest z of anything, for the nearness of parallel views */
    double near;    /* nothing nearer is drawn */
    uint32_t width; /* samples */
    uint32_t height;
} flr_camera;

flr_view_point flr_camera_view(const flr_camera *camera, flr_vec3 p_world);

/* Nearness is what the depth buffer holds: linear on the screen, larger is nearer, 0 is nothing. */
double flr_camera_nearness(const flr_camera *camera, double z);
double flr_camera_depth(const flr_camera *camera, double nearness);
/* The point seen through the middle of sample (x, y) at depth z. */
flr_view_point flr_camera_unproject(const flr_camera *camera, double x, double y, double z);

/* The plane of def's section in the camera's frame, unit normal, positive on the side that stays:
 * plane[0..2] . p + plane[3]. */
void flr_camera_cut(const flr_camera *camera, const flr_picture_def *def, double plane[4]);

/* What the picture knows of one sample. */
typedef struct flr_sample {
    float nearness;
    uint32_t tag;      /* 0: nothing; FLR_TAG_GROUND; else (part + 1) * 2 + (seen from behind) */
    int16_t normal[3]; /* camera frame, unit = 32767, turned towards the eye */
    int16_t shade;     /* ambient light that arrives, 32767 = all; filled after drawing */
} flr_sample;

enum { FLR_TAG_GROUND = 1 };

/* Where triangles go: samples for the eye, or plain nearness for a light. Exactly one is set. */
typedef struct flr_raster {
    const flr_camera *camera;
    flr_sample *samples; /* [height * width] or NULL */
    float *nearness;     /* [height * width] or NULL */
} flr_raster;

/* Draws one part. FLR_NO_MEMORY. */
flr_result flr_raster_part(const flr_raster *target, const flr_picture_def *def, size_t part,
                           flr_error *error);

#endif
