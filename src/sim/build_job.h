/* build_job.h: how jobs make parts; for load.c and part.c */
#ifndef FLR_SIM_BUILD_JOB_H
#define FLR_SIM_BUILD_JOB_H

#include "sim/engine_internal.h"

/* What a worker needs to make voxels, by value. */
typedef struct flr_maker {
    flr_env *env;
    flr_cache cache;
    unsigned threads;
    bool on_surface;
    flr_asset_how how; /* of meshes that are read */
    uint64_t memory;   /* as in flr_shape_def; default 0 */
    bool reads;
    bool exact; /* with what the exact engine needs */
} flr_maker;

flr_maker flr_maker_of(const flr_engine *engine);

/* Which share of a job's way the making of one part is. */
typedef struct flr_build_job_progress {
    flr_job *job;
    const char *name;
    double from, to;
    double voxel; /* filled by flr_build_job_shape() */
} flr_build_job_progress;

/* The sentence of an error names the part. */
flr_result flr_build_job_shape(const flr_maker *maker, flr_mesh_asset *mesh, double voxel,
                               bool hollow, flr_build_job_progress *progress, flr_shape **shape,
                               flr_error *error);
/* A sentence about a file, such as an upload's, names the part instead: who sent it knows no folder of the controller. Up to the
 * file's name all of it gives way to `name`; a sentence that does not name the file stays. */
void flr_build_job_name_upload(char *message, size_t size, const char *file, const char *name);
/* For `options` of reading: whether a job shall go on. */
bool flr_build_job_goes_on(void *job);

/* The colour of a part that has none: those can be told apart. */
uint32_t flr_build_job_colour(uint32_t given, uint32_t part);
/* `asked`, else the first of the others that is given (above 0), but no more than a fiftieth of the part; else one that
 * fits the mesh: a two-hundredth of its largest extent, and more where it would have more than 500,000 surface voxels. Looks
 * at every triangle. */
double flr_build_job_voxel(double asked, double scene, double common, const flr_mesh *mesh);

/* What depends on the least voxel of all parts. */
void flr_engine_set_voxel(flr_engine *engine);
/* Puts voxels that were built into the cache, in the background; warns where they replace a damaged file. */
void flr_engine_store(flr_engine *engine, flr_shape *shape);

#endif
