/* feeler/features.h: the vertices, edges and faces of a mesh that count at a voxel size.
 *
 * Contact between two bodies is decided where a vertex meets a face or an edge meets an edge
 * (McNeely et al. 2005, section 4). A finely tessellated mesh would have a vertex or an edge
 * in every voxel, so triangles are first merged into quasi-planar polygons, to the accuracy
 * of the voxels (section 4.1); the features are those of the polygons.
 *
 *   polygon  triangles that hang together by edges, all of whose vertices lie less than half
 *            a voxel from one plane, and whose normals turn less than 90 degrees from that
 *            plane's and from their neighbours'. It grows from a seed, large triangles first,
 *            in the seed's own plane; then the plane is moved into the middle of what was
 *            found and it grows on, up to three times. As every vertex keeps to the half voxel
 *            each time, a gentle curve cannot lead a polygon astray.
 *   edge     counts when it lies between two polygons, is a border, or has more than two
 *            triangles on it (a triangle listed twice counts once)
 *   vertex   counts where edges that count end or fork, and where their line turns: leaving
 *            it out would move the line by more than half a voxel
 *
 * The angle keeps a ball smaller than a voxel from becoming one flat polygon. Triangles that
 * wind the wrong way do not matter. See docs/features.md for pictures.
 *
 * Thread: any; features may be shared by all threads. Reading is RT safe, making is not.
 */
#ifndef FEELER_FEATURES_H
#define FEELER_FEATURES_H

#include <stdint.h>

#include "feeler/adjacency.h"
#include "feeler/api.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The flags of an edge and of a vertex; 0: it does not count. */
enum {
    FLR_FEATURE_EDGE = 1,
    FLR_FEATURE_VERTEX = 1,
    FLR_FEATURE_CONVEX = 2, /* of an edge that counts: the solid's angle is below 180 degrees */
    FLR_FEATURE_CONCAVE = 4 /* or above; neither when flat, or when sides do not agree */
};

/* All points x with normal . x = offset. */
typedef struct flr_plane {
    flr_vec3 normal; /* unit, outwards as the seed winds; zero: a triangle too thin for one */
    double offset;   /* metres */
} flr_plane;

/* Read the fields freely; change none. */
typedef struct flr_features {
    double voxel;                                      /* metres, as given */
    uint32_t triangle_count, edge_total, vertex_total; /* as in mesh and adjacency */
    uint32_t polygon_count;
    uint32_t edge_count;   /* edges that count */
    uint32_t vertex_count; /* vertices that count */

    const uint32_t *triangle_polygon; /* [triangle_count]; FLR_NONE: collapsed, has no face */
    const flr_plane *polygon_plane;   /* [polygon_count] */
    const uint8_t *edge_flags;        /* [edge_total], numbered as in the adjacency */
    const uint8_t *vertex_flags;      /* [vertex_total] */
} flr_features;

/* Finds them for a voxel size above 0, metres. `adjacency` is that of the mesh; NULL: made for
 * the call. Both are borrowed during the call only. The result depends on nothing else. Fails
 * with FLR_BAD_ARGUMENT and FLR_NO_MEMORY. On success the caller owns `*features`. */
FLR_API flr_result flr_features_create(const flr_mesh *mesh, const flr_adjacency *adjacency,
                                       double voxel, flr_features **features, flr_error *error);

/* Frees them; NULL allowed. */
FLR_API void flr_features_destroy(flr_features *features);

#ifdef __cplusplus
}
#endif
#endif
