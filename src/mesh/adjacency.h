/* adjacency.h: the edges of a mesh alone, on several threads. */
#ifndef FLR_MESH_ADJACENCY_H
#define FLR_MESH_ADJACENCY_H

#include "feeler/mesh_check.h"

/* Like flr_adjacency_create(), with the same numbers, but without what belongs to vertices and components: these arrays are
 * NULL, and there are 0 components. `threads`: 0 for one per processor. */
flr_result flr_adjacency_create_edges(const flr_mesh *mesh, unsigned threads,
                                      flr_adjacency **adjacency, flr_error *error);

#endif
