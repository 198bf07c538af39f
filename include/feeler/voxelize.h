/* feeler/voxelize.h: from triangles to voxels and surface points.
 *
 *     flr_voxelize_def def = flr_default_voxelize_def();
 *     def.voxel = 0.001;
 *     flr_voxelize(env, mesh, &def, &voxmap, &shell, NULL, &error);
 *
 * The same mesh and parameters give the same bytes, whatever the number of threads, the compiler or
 * the instruction set.
 *
 * Thread: any; not RT safe.
 */
#ifndef FEELER_VOXELIZE_H
#define FEELER_VOXELIZE_H

#include "feeler/api.h"
#include "feeler/env.h"
#include "feeler/exact.h"
#include "feeler/mesh.h"
#include "feeler/result.h"
#include "feeler/shell.h"
#include "feeler/voxmap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to build and how. Fill with flr_default_voxelize_def(), then change what you need. */
typedef struct flr_voxelize_def {
    double voxel; /* metres; must be given */
    /* where the mesh lies in the voxmap's frame; default identity: its own */
    flr_pose T_voxmap_mesh;
    unsigned bits;  /* 2, 4 (default) or 8 */
    unsigned range; /* voxels of distance marked: default 8; with 2 bits always 1 */
    /* with 2 bits: layers by which the force layer lies outside the surface, 0 … 7; default 0 */
    unsigned offset;
    /* edge and vertex fields, labels of points; default true. false: every point is a vertex, to be
     * tested against the surface */
    bool features;
    bool hollow;      /* no interior: what is inside is free; default false */
    bool on_surface;  /* move the shell's points onto the exact surface; default false */
    unsigned threads; /* 0: one per processor */
    /* bytes; refuse before work begins if more would be needed; 0: what the machine has;
     * UINT64_MAX: no limit, as after flr_voxelize_estimate(). flr_voxelize_file() keeps to it
     * instead */
    uint64_t memory_limit;
    /* Called often, from the calling thread, with the part of the work done, 0 … 1, and what is
     * being done ("features", "triangles", "interior", "chunks", "points", "done"); return false to
     * stop with FLR_CANCELLED. May be NULL. */
    bool (*progress)(void *context, double done, const char *stage);
    void *context;
} flr_voxelize_def;

FLR_API flr_voxelize_def flr_default_voxelize_def(void);

/* What it will take, roughly and rather too much. Plain data. */
typedef struct flr_voxelize_needs {
    uint64_t memory; /* bytes at the peak, without the mesh */
    uint64_t result; /* bytes of voxmap and shell in the end */
} flr_voxelize_needs;

/* Checks everything that flr_voxelize() checks before it begins, and fails as that does; else says
 * what the work will take. Looks at every triangle once. */
FLR_API flr_result flr_voxelize_estimate(const flr_mesh *mesh, const flr_voxelize_def *def,
                                         flr_voxelize_needs *needs, flr_error *error);

/* What happened. Plain data. */
typedef struct flr_voxelize_report {
    flr_voxmap_stats voxels;
    struct {
        double features, scan, fill, fields, shell, total;
    } seconds;
} flr_voxelize_report;

/* Builds a voxmap, a shell, or both (the one whose pointer is NULL is left out). Fails with
 * FLR_BAD_ARGUMENT (a parameter out of range), FLR_TOO_LARGE (with an estimate and a voxel size
 * that would do), FLR_NO_MEMORY, FLR_CANCELLED. The mesh is borrowed during the call only. On
 * success the caller owns what was built. `report` may be NULL. */
FLR_API flr_result flr_voxelize(flr_env *env, const flr_mesh *mesh, const flr_voxelize_def *def,
                                flr_voxmap **voxmap, flr_shell **shell, flr_voxelize_report *report,
                                flr_error *error);

/* Builds straight into a voxel file (feeler/voxfile.h), slab by slab, for voxels that are larger
 * than memory: the same bytes as flr_voxelize() and flr_voxfile_write() give. It keeps to
 * `def->memory_limit` (0: half of what the machine has), the mesh included; what that is least is
 * the mesh, its features and about 1.5 kB for each hyperchunk of the surface. `shell`: with points.
 * Beside the file a temporary one takes about 2 bytes per surface voxel during the work. The file
 * appears whole or not at all, and nothing is left behind on failure. Fails as flr_voxelize() does,
 * with FLR_TOO_LARGE only where the least does not fit, and with FLR_IO, which says how much the
 * disk would have to hold. `report` may be NULL. */
FLR_API flr_result flr_voxelize_file(flr_env *env, const flr_mesh *mesh,
                                     const flr_voxelize_def *def, const char *path, bool shell,
                                     flr_voxelize_report *report, flr_error *error);

/* A shell from the free voxels at distance `layer` (1 … the voxmap's range): for more clearance
 * than the force layer gives (2005, section 3.2). `exact` is that of the voxmap's mesh, for the
 * normals. Both are borrowed during the call. FLR_BAD_ARGUMENT for another layer or a voxmap with
 * an offset; FLR_TOO_LARGE, FLR_NO_MEMORY. */
FLR_API flr_result flr_shell_from_layer(const flr_voxmap *voxmap, const flr_exact *exact,
                                        unsigned layer, flr_shell **shell, flr_error *error);

#ifdef __cplusplus
}
#endif
#endif
