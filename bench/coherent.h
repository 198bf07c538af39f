/* coherent.h: temporal coherence beside culling, for the motions of the contact benchmark. */
#ifndef FLR_BENCH_COHERENT_H
#define FLR_BENCH_COHERENT_H

#include "bench/bench.h"
#include "feeler/contact.h"

enum { FLR_BENCH_ENGINES = 3, FLR_BENCH_ROWS = 16 };

/* A part that moves; all is borrowed. */
typedef struct flr_bench_motion {
    const char *name;
    const flr_shell *shell;
    const flr_voxmap *voxmap;
    const flr_pose *poses; /* [count], in the voxmap's frame */
    size_t count;
    double frames_per_pose; /* from one to the next, in frames of a millisecond */
    unsigned layer;         /* force layer */
    double displacement;    /* metres */
} flr_bench_motion;

/* What one motion was like, with one capacity. Times are of coherent, culled, culled by the scalar kernel; 0: not measured. */
typedef struct flr_bench_row {
    char name[48];
    uint32_t points;
    double tests; /* in a frame: the capacity */
    size_t frames;
    double p50[FLR_BENCH_ENGINES], p99[FLR_BENCH_ENGINES]; /* microseconds */
    double tested[FLR_BENCH_ENGINES];                      /* points and chunks, mean */
    double lookups;                                        /* of coherence, mean */
    double least_limit;                                    /* voxels */
    double below_half, slowed,
        late;      /* parts of all frames: limit below half a voxel; that could not go as far as
                                        meant; with more tests than there is capacity for */
    double slower; /* so many times as long as meant */
} flr_bench_row;

typedef struct flr_bench_rows {
    flr_bench_row row[FLR_BENCH_ROWS];
    size_t count;
} flr_bench_rows;

/* Goes through a motion and adds its rows: with the capacity of 2005 and with that of this processor. */
flr_result flr_bench_coherent_add(const flr_bench_options *options, const flr_bench_motion *motion,
                                  flr_bench_rows *rows, flr_error *error);

/* One motion more, then all of them as a table or as a member of a JSON object, and a plot. */
flr_result flr_bench_coherent_tell(flr_env *env, const flr_bench_options *options,
                                   flr_bench_rows *rows, FILE *out, flr_error *error);

#endif
