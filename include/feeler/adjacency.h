/* feeler/adjacency.h: which triangles of a mesh meet at which edges and vertices.
 *
 * Made for meshes as they come: an edge may have one triangle (border), two, or any number
 * (non-manifold), and two triangles may disagree about which side is outside (flipped).
 *
 * Words used here:
 *   side   one of a triangle's three directed edges: side 3 t + k of triangle t runs from its
 *          corner k to its corner (k + 1) % 3
 *   edge   what all sides between the same two vertices share, in either direction
 *   shell  triangles that hang together by their vertices; one shared vertex is enough
 *
 * A collapsed triangle, one that names a vertex twice, has no edges: all its sides give
 * FLR_NONE, and its neighbours are joined as if it were not there. It does count among the
 * triangles of its vertices and in its shell. Triangles of zero area with three different
 * vertices are triangles like all others.
 *
 * All numbering follows from the mesh alone: edges are sorted by their vertices, sides and
 * triangles within a list rise, shells are numbered by their first triangle.
 *
 * Thread: any; an adjacency may be shared by all threads. Reading it is RT safe, making and
 * destroying it is not.
 */
#ifndef FEELER_ADJACENCY_H
#define FEELER_ADJACENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/mesh.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLR_NONE UINT32_MAX /* no edge, no triangle, no shell */

typedef enum flr_edge_kind {
    FLR_EDGE_REGULAR,    /* two sides, in opposite directions: as it should be */
    FLR_EDGE_BORDER,     /* one side */
    FLR_EDGE_FLIPPED,    /* two sides in the same direction: one triangle is inside out */
    FLR_EDGE_NONMANIFOLD /* three sides or more */
} flr_edge_kind;

/* The two vertices, v[0] < v[1]. */
typedef struct flr_edge {
    uint32_t v[2];
} flr_edge;

/* Read the fields freely; change none. */
typedef struct flr_adjacency {
    uint32_t vertex_count;   /* as in the mesh */
    uint32_t triangle_count; /* as in the mesh */
    uint32_t edge_count;
    uint32_t shell_count;
    uint32_t border_count;      /* edges of kind FLR_EDGE_BORDER */
    uint32_t flipped_count;     /* edges of kind FLR_EDGE_FLIPPED */
    uint32_t nonmanifold_count; /* edges of kind FLR_EDGE_NONMANIFOLD */

    const flr_edge *edges;        /* [edge_count], sorted by v[0], then v[1] */
    const uint8_t *edge_kind;     /* [edge_count], an flr_edge_kind each */
    const uint32_t *edge_first;   /* [edge_count + 1]: where the edge's sides begin in edge_sides */
    const uint32_t *edge_sides;   /* [edge_first[edge_count]], rising within an edge */
    const uint32_t *side_edge;    /* [3 triangle_count]: the side's edge, or FLR_NONE */
    const uint32_t *vertex_first; /* [vertex_count + 1]: where the vertex's triangles begin */
    const uint32_t *vertex_triangles; /* [vertex_first[vertex_count]], rising, each once */
    const uint32_t *triangle_shell;   /* [triangle_count]: 0 … shell_count - 1 */
} flr_adjacency;

/* Makes the adjacency of a mesh, which is borrowed during the call only. Time and memory grow
 * with the number of triangles, about 60 bytes each. Fails with FLR_NO_MEMORY, and with
 * FLR_TOO_LARGE from 1.43e9 triangles on. On success the caller owns `*adjacency`. */
FLR_API flr_result flr_adjacency_create(const flr_mesh *mesh, flr_adjacency **adjacency,
                                        flr_error *error);

/* Frees it; NULL allowed. */
FLR_API void flr_adjacency_destroy(flr_adjacency *adjacency);

/* How many sides lie on an edge. */
static inline uint32_t flr_adjacency_side_count(const flr_adjacency *adjacency, uint32_t edge)
{
    return adjacency->edge_first[edge + 1] - adjacency->edge_first[edge];
}

/* The side across: the other one where exactly two lie on the edge, else FLR_NONE. Divide by
 * three for the triangle. */
static inline uint32_t flr_adjacency_opposite(const flr_adjacency *adjacency, uint32_t side)
{
    uint32_t edge = adjacency->side_edge[side];
    if (edge == FLR_NONE || flr_adjacency_side_count(adjacency, edge) != 2) return FLR_NONE;
    const uint32_t *sides = adjacency->edge_sides + adjacency->edge_first[edge];
    return sides[0] == side ? sides[1] : sides[0];
}

/* The number of the edge between two vertices, or FLR_NONE. Searches: takes the logarithm of
 * the number of edges. */
FLR_API uint32_t flr_adjacency_find_edge(const flr_adjacency *adjacency, uint32_t a, uint32_t b);

/* Every edge has two sides in opposite directions: the mesh bounds a volume. A mesh without edges
 * (all triangles are points) bounds none. */
static inline bool flr_adjacency_is_closed(const flr_adjacency *adjacency)
{
    return adjacency->edge_count > 0 && adjacency->border_count == 0 &&
           adjacency->flipped_count == 0 && adjacency->nonmanifold_count == 0;
}

#ifdef __cplusplus
}
#endif
#endif
