/* voxels.h: a voxmap as a picture: the surface voxels as small cubes, and three slices.
 *
 * One sheet with four panels and a legend. The slices lie across x, y and z through the middle of what is there. Voxels
 * are coloured by their marks: interior, surface (on edges and at vertices in colours of their own), bands of
 * distance. Where a voxel is smaller than a pixel the most important one shows: surface, interior, then the nearest.
 * The cubes of a large voxmap stand for 2, 4, 8... voxels each way.
 *
 * Thread: any; not RT safe.
 */
#ifndef FLR_PICTURE_VOXELS_H
#define FLR_PICTURE_VOXELS_H

#include "feeler/voxels.h"
#include "picture/picture.h"

typedef struct flr_voxel_picture_def {
    uint32_t width, height; /* pixels; default 1200 x 900; at least 320 x 240 */
    flr_vec3 direction;     /* the 3D view looks along it; default as in flr_picture_def */
} flr_voxel_picture_def;

flr_voxel_picture_def flr_default_voxel_picture_def(void);

/* Draws. FLR_BAD_ARGUMENT on sizes out of range, FLR_NO_MEMORY. The caller owns the picture's bytes. */
flr_result flr_picture_voxels(const flr_voxmap *voxmap, const flr_voxel_picture_def *def,
                              flr_picture *picture, flr_error *error);

#endif
