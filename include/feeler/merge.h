/* feeler/merge.h: several parts or poses in one voxmap.
 *
 *   merge  several parts in one voxmap
 *   sweep  the volume that a moving part sweeps
 */
#ifndef FEELER_MERGE_H
#define FEELER_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "feeler/voxels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== merge ================================================================================== */

/* Several parts in their poses as one voxmap, and one taken out again.
 *
 *     flr_merge_def def = flr_default_merge_def();
 *     def.voxel = 0.001;
 *     flr_merge_create(&def, &merge, &error);
 *     flr_merge_part part = flr_default_merge_part();
 *     part.mesh = housing, part.T_voxmap_part = T_world_housing;
 *     flr_merge_add(merge, &part, &housing_id, &error);
 *     …
 *     flr_merge_build(merge, NULL, &voxmap, NULL, &error);
 *     flr_merge_remove(merge, housing_id, &error);
 *     flr_merge_build(merge, voxmap, &without, &report, &error);
 *
 * The parts are voxelized on one lattice and united as solids:
 *
 *     interior   what is interior to at least one part, even where another has its surface
 *     surface    what is surface of at least one part and interior to none
 *     free       the rest; its marks are the distances to the surface that is left
 *     edges, vertices   those of all parts, where they are surface
 *
 * Each part is filled on its own: what two parts enclose together and neither alone is free, and an
 * open part stays as it is. Where surfaces of two parts cross, the new edge is concave; nothing
 * touches it before it touches one of the surfaces, so it is not marked.
 *
 * The result depends on which parts there are, not on the order or the history: after adding and
 * removing a part the bytes are those of never having had it. To move a part, remove it and add it
 * in the new pose. An update computes the marks of those hyperchunks (64x64x64 voxels) only in
 * which, or in whose reach, voxels have changed, and copies the others.
 *
 * Thread: control; one thread at a time for one flr_merge. Not RT safe.
 */

typedef struct flr_merge flr_merge;

/* What holds for all parts; see flr_voxelize_def for bits, range, offset and features. Fill with
 * flr_default_merge_def(), then change what you need. */
typedef struct flr_merge_def {
    double voxel; /* metres; must be given */
    /* Where the lattice lies: the planes between voxels are a quarter of a voxel beside this point,
     * so that a face at a whole or half number of voxels from it lies in one layer of voxels.
     * Metres; default 0. */
    flr_vec3 origin;
    unsigned bits, range, offset;
    bool features;
    unsigned threads;      /* 0: one per processor */
    uint64_t memory_limit; /* bytes; 0: what the machine has */
} flr_merge_def;

FLR_API flr_merge_def flr_default_merge_def(void);

/* One part. The mesh is borrowed while it is added. */
typedef struct flr_merge_part {
    const flr_mesh *mesh;
    flr_pose T_voxmap_part; /* default identity */
    bool hollow;            /* no interior; default false */
} flr_merge_part;

FLR_API flr_merge_part flr_default_merge_part(void);

/* Begins without parts. Fails with FLR_BAD_ARGUMENT on parameters out of range, FLR_NO_MEMORY. */
FLR_API flr_result flr_merge_create(const flr_merge_def *def, flr_merge **merge, flr_error *error);

FLR_API void flr_merge_destroy(flr_merge *merge); /* NULL allowed; voxmaps made stay */

/* Voxelizes a part and keeps it. `*id` is never used again for another part of this merge. Fails
 * with FLR_BAD_ARGUMENT (no mesh, no pose), FLR_TOO_LARGE (memory for all parts, or parts too far
 * apart), FLR_NO_MEMORY; then nothing has changed. */
FLR_API flr_result flr_merge_add(flr_merge *merge, const flr_merge_part *part, uint32_t *id,
                                 flr_error *error);

/* Takes a part out. FLR_NOT_FOUND when there is none of that id. */
FLR_API flr_result flr_merge_remove(flr_merge *merge, uint32_t id, flr_error *error);

/* How many parts it has. */
FLR_API uint32_t flr_merge_part_count(const flr_merge *merge);

/* What an update did. Plain data. */
typedef struct flr_merge_report {
    uint64_t hyperchunks; /* with marks of their own in the surface field */
    uint64_t recomputed;  /* of them; the others were copied */
} flr_merge_report;

/* Makes a voxmap of all parts. `before` may be NULL; if it is the voxmap that the last successful
 * call made, or read back from a file, unchanged marks are copied from it (with a range of up to 8
 * voxels; beyond that all marks are computed). It is borrowed during the call; the new voxmap
 * shares nothing with it and is owned by the caller. `report` may be NULL. Fails with
 * FLR_BAD_ARGUMENT when there is no part, FLR_NO_MEMORY; then nothing has changed.
 *
 * In its flr_voxmap_info, mesh_hash stands for all parts, poses and parameters; T_voxmap_mesh is
 * the identity. */
FLR_API flr_result flr_merge_build(flr_merge *merge, const flr_voxmap *before, flr_voxmap **voxmap,
                                   flr_merge_report *report, flr_error *error);

/* ==== sweep ================================================================================== */

/* The room that a part takes along a path: its swept volume.
 *
 *     flr_sweep_def def = flr_default_sweep_def();
 *     def.mesh = actuator, def.voxel = 0.002;
 *     def.poses = poses, def.pose_count = count;
 *     flr_sweep_make(&def, &swept, &report, &error);
 *     flr_voxfile_write(env, "swept.flrvox", swept, NULL, &error);
 *
 * Between two poses the part moves straight and turns evenly, in steps so small that none of its
 * points moves farther than half a voxel. In every place it is voxelized, and the solids are
 * united (feeler/merge.h). The result is a voxmap as of any part: it can be saved, drawn, kept free
 * as an obstacle, or compared with what stands around.
 *
 * Thread: control; not RT safe.
 */

/* What moves where. Fill with flr_default_sweep_def(), then change what you need. */
typedef struct flr_sweep_def {
    const flr_mesh *mesh;  /* must be given; borrowed during the call */
    const flr_pose *poses; /* [pose_count], T_world_mesh; at least one; borrowed likewise */
    size_t pose_count;
    double voxel;          /* metres; must be given */
    double step;           /* voxels that a point may move between two places; default 0.5 */
    bool hollow;           /* the part has no inside; default false */
    unsigned bits;         /* of the marks, as in flr_voxelize_def; default 4 */
    unsigned range;        /* likewise; default 8 */
    unsigned threads;      /* 0: one per processor */
    uint64_t memory_limit; /* bytes; 0: what the machine has */
    /* Called between places, with how many are done and how many there are; return false to stop
     * with FLR_CANCELLED. May be NULL. */
    bool (*progress)(void *context, uint64_t done, uint64_t places);
    void *context;
} flr_sweep_def;

FLR_API flr_sweep_def flr_default_sweep_def(void);

/* What was found. Plain data. */
typedef struct flr_sweep_report {
    uint64_t places; /* in which the part was voxelized */
    /* m^3: of the voxels wholly inside, of those and half of the surface's, of all that were
     * touched. The swept volume lies between the first and the last, but for what the part takes
     * between two places */
    double volume_least, volume, volume_most;
} flr_sweep_report;

/* Makes the voxmap of all that the part touches along the path, in the world's frame. `report` may
 * be NULL. Fails with FLR_BAD_ARGUMENT (no mesh, no or not valid poses, parameters out of range),
 * FLR_TOO_LARGE (too many places, or too much memory), FLR_NO_MEMORY, FLR_CANCELLED. On success the
 * caller owns `*voxmap`. Its parts' surface is that of the union; it has no edge and vertex
 * fields. */
FLR_API flr_result flr_sweep_make(const flr_sweep_def *def, flr_voxmap **voxmap,
                                  flr_sweep_report *report, flr_error *error);

/* How a swept volume lies to a part that stands. Plain data. */
typedef struct flr_sweep_clash {
    uint64_t voxels; /* of the swept volume whose centres lie in surface or interior of the part */
    double volume;   /* m^3, of those */
    flr_vec3 centre; /* metres, world's frame: their middle; zero when there are none */
    /* metres: the least distance of the two along the whole path lies between these, but for half a
     * step; INFINITY beyond the part's field */
    double lower, upper;
} flr_sweep_clash;

/* Compares all voxels of `swept` with those of another part. Poses that are not valid: nothing is
 * found, and the distances are INFINITY. Allocates nothing. */
FLR_API void flr_sweep_compare(const flr_voxmap *swept, flr_pose T_world_swept,
                               const flr_voxmap *part, flr_pose T_world_part,
                               flr_sweep_clash *clash);

#ifdef __cplusplus
}
#endif
#endif
