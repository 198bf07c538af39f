/* outline.h: where the lines of feature edges turn. */
#ifndef FLR_MESH_OUTLINE_H
#define FLR_MESH_OUTLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/mesh.h"
#include "feeler/mesh_check.h"

/* Sets vertex_flags[v] = 1 where edges with edge_flags[e] != 0 end or fork, and along the lines
 * between those points where needed to stay within `tolerance` (metres) of the line; leaves
 * the others at 0. A closed line without a fork keeps at least two vertices. False: no memory. */
bool flr_outline_mark(const flr_mesh *mesh, const flr_adjacency *adjacency,
                      const uint8_t *edge_flags, double tolerance, uint8_t *vertex_flags);

#endif
