/* voxelize.h: the steps of flr_voxelize() that merging takes, too. */
#ifndef FLR_VOXEL_VOXELIZE_H
#define FLR_VOXEL_VOXELIZE_H

#include "feeler/voxels.h"
#include "voxel/build.h"
#include "voxel/voxmap_format.h"

/* Are the parameters within their ranges? */
flr_result flr_voxelize_check(const flr_voxelize_def *def, flr_error *error);

/* Bytes that voxelizing may take where the caller says nothing: most of what this process may. */
double flr_voxelize_default_limit(void);
/* The same, or what the caller says. */
double flr_voxelize_memory_limit(const flr_voxelize_def *def);

/* estimate.c: what voxelizing a mesh within `box` will need. Counts no farther than to where it is clear that it needs more than
 * `limit` bytes of memory; then it is a guess, and more than that. Fails with FLR_NO_MEMORY only, and then it is a
 * guess, too. */
flr_result flr_voxelize_measure(const flr_mesh *mesh, flr_box3 box, const flr_voxelize_def *def,
                                double limit, flr_voxelize_needs *needs);

/* Is there room for what a mesh within `box` will need? */
flr_result flr_voxelize_check_room(const flr_mesh *mesh, flr_box3 box, const flr_voxelize_def *def,
                                   flr_voxelize_needs *needs, flr_error *error);

/* The box of the mesh in the voxmap's frame: of its vertices, not of its box. */
flr_box3 flr_voxelize_bounds(const flr_mesh *mesh, flr_pose T_voxmap_mesh);

/* A header with all that the parameters tell: without grid, mesh and places. */
flr_voxmap_header flr_voxelize_header(const flr_voxelize_def *def);

/* the features of a mesh as the scan wants them; begin with all zero */
typedef struct flr_feature_lists {
    flr_edge *edges;
    uint32_t *corners;
    uint32_t edge_count, corner_count, polygon_count;
} flr_feature_lists;

/* Free the lists on failure, too. */
flr_result flr_list_features(const flr_mesh *mesh, double voxel, unsigned threads,
                             const flr_build_watch *watch, flr_feature_lists *lists,
                             flr_error *error);
void flr_free_features(flr_feature_lists *lists);

/* Adds voxels and hyperchunks of a scanned run of hyperchunks. */
void flr_count_layers(const flr_build *build, uint32_t first, uint32_t count,
                      flr_voxmap_stats *stats);

/* Is the voxel smaller than the part, and are there not too many to be counted? */
flr_result flr_voxelize_check_size(flr_box3 box, const flr_voxelize_def *def, flr_error *error);
bool flr_voxelize_is_wide(flr_box3 box, const flr_voxelize_def *def);

/* Bytes of the result, roughly and rather too much: up to 2.5 times. */
double flr_voxelize_result_bytes(const flr_mesh *mesh, flr_box3 box, const flr_voxelize_def *def);

/* A voxel size of two digits that needs this part of the bytes, or less. */
double flr_voxelize_larger(flr_box3 box, const flr_voxelize_def *def, double part);

/* The header of a mesh's voxmap: all but root cells, counts and places. */
flr_voxmap_header flr_voxelize_begin_header(const flr_mesh *mesh, const flr_voxelize_def *def,
                                            flr_box3 box);

/* ---- progress and times ---- */

typedef struct flr_stages {
    flr_env *env;
    const flr_voxelize_def *def;
    flr_error *error;
    int64_t begin, last;
    double from, to; /* what share of the whole the stage under way is */
    const char *name;
} flr_stages;

flr_stages flr_stages_begin(flr_env *env, const flr_voxelize_def *def, flr_error *error);
/* For a build: asks the caller's progress. */
flr_build_watch flr_stages_watch(flr_stages *stages);
/* Ends a stage: adds the seconds it took. Begins the next, which leads to the share `to` of the whole; FLR_CANCELLED when
 * it shall not. */
flr_result flr_stages_next(flr_stages *stages, double *seconds, double to, const char *name);

#endif
