/* feeler/sweep.h: the room that a part takes along a path: its swept volume.
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
#ifndef FEELER_SWEEP_H
#define FEELER_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "feeler/result.h"
#include "feeler/voxmap.h"

#ifdef __cplusplus
extern "C" {
#endif

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
