/* cubes.h: the surface voxels of a voxmap as cubes, in meshes by colour. Private to src/picture. */
#ifndef FLR_PICTURE_CUBES_H
#define FLR_PICTURE_CUBES_H

#include "feeler/voxels.h"
#include "picture/picture.h"

/* What a surface voxel inherits, each in two shades so that neighbours can be told apart. */
enum { FLR_CUBE_FACE, FLR_CUBE_EDGE, FLR_CUBE_VERTEX, FLR_CUBE_LABELS };

typedef struct flr_cubes {
    flr_mesh meshes[FLR_CUBE_LABELS][2]; /* some may have no triangles */
    unsigned block;                      /* voxels of a cube's side: 1, 2, 4... */
} flr_cubes;

/* The box of voxels with a mark, in voxels: high is beyond. False when there is none. */
bool flr_voxels_bounds(const flr_voxmap *voxmap, uint64_t low[3], uint64_t high[3]);

/* Makes cubes of surface voxels, about `most` at most. FLR_NO_MEMORY. */
flr_result flr_cubes_make(const flr_voxmap *voxmap, uint64_t most, flr_cubes *cubes,
                          flr_error *error);
void flr_cubes_free(flr_cubes *cubes);

#endif
