/* least.h: how far a surface is at least, by the marks and by the chunk distances of a voxmap. */
#ifndef FLR_CONTACT_LEAST_H
#define FLR_CONTACT_LEAST_H

#include "feeler/voxels.h"
#include "voxel/voxmap_format.h"

/* Metres from a point (voxmap's frame) to the surface, at least; 0 in surface voxels and inside. */
double flr_least_distance(const flr_voxmap *voxmap, flr_vec3 point);

/* The same by the chunk distances alone: coarse, and cheap for points in empty space. Negative where the chunk is
 * interior throughout. */
double flr_least_by_chunks(const flr_voxmap *voxmap, flr_vec3 point);

#endif
