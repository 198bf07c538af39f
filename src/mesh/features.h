/* features.h: features found by several threads. */
#ifndef FLR_MESH_FEATURES_H
#define FLR_MESH_FEATURES_H

#include "feeler/mesh_check.h"

/* flr_features_create() with several threads (0: one per processor): the same features. `adjacency` may have edges only. */
flr_result flr_features_create_threads(const flr_mesh *mesh, const flr_adjacency *adjacency,
                                       double voxel, unsigned threads, flr_features **features,
                                       flr_error *error);

#endif
