/* feeler/voxmap.h: a part as voxels: interior, surface, and free space marked with distance.
 *
 * A voxmap is built from a mesh at a voxel size by flr_voxelize() (feeler/voxelize.h). Every voxel
 * that a triangle touches is a surface voxel; what cannot be reached from outside is interior; free
 * voxels near the surface are marked with their chessboard distance to it. The marks:
 *
 *     0      free, beyond the field
 *     1      interior
 *     2      surface
 *     2 + d  free, at chessboard distance d from the nearest surface voxel, 1 <= d <= range
 *
 * With 2 bits: 0 free, 1 interior, 2 surface, 3 proximity (the free neighbours of the surface).
 * There the force layer cannot be chosen when asking, so it is built in: with an offset of k
 * layers, "surface" stands for the free voxels at distance k and everything nearer is "interior"
 * (1999, section 4.2). The edge and vertex fields are the same with "voxel touched by a feature
 * edge" or "… vertex" in place of "surface voxel" (see feeler/features.h); surface voxels too far
 * from an edge have mark 0 there.
 *
 * What a mark promises: for a point in a voxel marked 2 + d of the surface field, the exact surface
 * is at least (d - 1) voxels and at most sqrt(3) (d + 1) voxels away.
 *
 * A voxmap is one block without pointers: what is built, what lies in a cache file and what is
 * mapped back are the same bytes. It is immutable and may be shared by all threads.
 *
 * Thread: any. Queries are RT safe; building, saving and opening are not.
 */
#ifndef FEELER_VOXMAP_H
#define FEELER_VOXMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/env.h"
#include "feeler/hash.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flr_voxmap flr_voxmap;

typedef enum flr_field {
    FLR_FIELD_SURFACE,
    FLR_FIELD_EDGE,
    FLR_FIELD_VERTEX,
    FLR_FIELD_COUNT
} flr_field;

enum {
    FLR_MARK_FREE = 0,
    FLR_MARK_INTERIOR = 1,
    FLR_MARK_SURFACE = 2,
    FLR_RANGE_MAX_4BIT = 13,
    FLR_RANGE_MAX_8BIT = 253
};

/* What the building found. Plain data. */
typedef struct flr_voxmap_stats {
    uint64_t triangles, polygons;
    uint64_t surface_voxels, edge_voxels, vertex_voxels; /* an edge voxel is a surface voxel, too */
    uint64_t interior_voxels;
    uint64_t field_voxels;            /* free voxels with a mark in the surface field */
    uint64_t chunks[FLR_FIELD_COUNT]; /* stored, per field */
    uint64_t hyperchunks;             /* touched by the mesh */
    uint64_t bytes;                   /* of the whole block */
} flr_voxmap_stats;

/* Frees or unmaps it; NULL allowed. */
FLR_API void flr_voxmap_destroy(flr_voxmap *voxmap);

/* The mark of the voxel that holds a point (metres, voxmap's frame). Points outside the grid and
 * points that are not finite are free (0). RT safe. */
FLR_API unsigned flr_voxmap_mark(const flr_voxmap *voxmap, flr_field field, flr_vec3 point);

/* The mark of voxel (x, y, z); free when out of range. RT safe. */
FLR_API unsigned flr_voxmap_mark_at(const flr_voxmap *voxmap, flr_field field, int64_t x, int64_t y,
                                    int64_t z);

/* What was asked for and what was found. RT safe. */
typedef struct flr_voxmap_info {
    flr_vec3 origin;  /* low corner of voxel (0, 0, 0), metres, voxmap's frame */
    double voxel;     /* metres */
    uint64_t size[3]; /* voxels */
    unsigned bits, range, offset;
    bool features, hollow;
    flr_pose T_voxmap_mesh;
    flr_hash mesh_hash;
    flr_voxmap_stats stats;
} flr_voxmap_info;

FLR_API flr_voxmap_info flr_voxmap_get_info(const flr_voxmap *voxmap);

#ifdef __cplusplus
}
#endif
#endif
