/* stream.h: building a voxel file that is larger than memory.
 *
 * The stages are those of flr_voxelize(), each in runs of hyperchunks, and so are the bytes:
 *
 *     scan       hyperchunks in batches; their masks go to a temporary file (slab.h)
 *     fill       slab by slab, up and down, until the flood has nowhere left to go
 *     plan       which chunks have marks of their own; now every byte of the file has its place
 *     write      slab by slab: marks of each field, and points, to where they belong (voxfile_write.h)
 *
 * In memory stay the mesh, what each hyperchunk is touched by, which of its chunks are used and outside, and the plan:
 * about 1.5 kB for each hyperchunk of the surface. */
#ifndef FLR_VOXEL_STREAM_H
#define FLR_VOXEL_STREAM_H

#include "voxel/marks.h"
#include "voxel/shell.h"
#include "voxel/slab.h"
#include "voxel/voxelize.h"
#include "voxel/voxfile_write.h"

typedef struct flr_stream {
    flr_env *env;
    const char *path;
    const flr_mesh *mesh;
    const flr_voxelize_def *def;
    bool points;         /* with a shell */
    uint64_t limit;      /* bytes of memory, with the mesh */
    uint64_t slab_bytes; /* of masks in memory at once, for tests; 0: as the limit allows */
    flr_stages stages;
    flr_build_watch watch;
    double share; /* of the stage under way, where it has runs */
    flr_feature_lists lists;
    flr_build build;
    flr_slabs slabs;
    flr_field_plan plan;
    flr_voxmap_header header;
    flr_shell_header shell;
    flr_shell_hyper *shell_hypers; /* [build.hyper_count] */
    uint32_t section_count;
    flr_voxfile_section sections[2]; /* offsets from where the first begins */
    double estimate;                 /* bytes of the file, at most */
    uint64_t file_size;              /* 0: not known yet */
    uint64_t work_size;              /* of the temporary file */
    bool told;                       /* that the disk is too small */
    flr_voxelize_report report;
    flr_error *error;
} flr_stream;

/* flr_voxelize_file() with slabs of up to `slab_bytes` (0: as memory allows). */
flr_result flr_stream_build(flr_env *env, const flr_mesh *mesh, const flr_voxelize_def *def,
                            const char *path, bool points, uint64_t slab_bytes,
                            flr_voxelize_report *report, flr_error *error);

/* stream_write.c: the last stage. */
flr_result flr_stream_write(flr_stream *stream);

/* Bytes that a batch of planes or points may take: what is in memory beside the masks. */
size_t flr_stream_batch(const flr_stream *stream);

#endif
