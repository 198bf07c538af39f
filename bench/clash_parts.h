/* clash_parts.h: assemblies for `feeler bench clash`, as triangles and as exact solids. */
#ifndef FLR_BENCH_CLASH_PARTS_H
#define FLR_BENCH_CLASH_PARTS_H

#include "bench/clash_peers.h"
#include "feeler/fit.h"

enum { FLR_CLASH_SHAPES = 8, FLR_CLASH_UNIT = 10 /* parts that belong together */ };

/* Shapes, and parts that are placed instances of them. */
typedef struct flr_clash_parts {
    flr_clash_solid solids[FLR_CLASH_SHAPES];
    flr_mesh *meshes[FLR_CLASH_SHAPES];
    flr_fit *fits[FLR_CLASH_SHAPES];
    uint32_t count;
    uint32_t *shape;    /* [count] */
    flr_pose *poses;    /* [count] */
    uint64_t triangles; /* of all parts */
} flr_clash_parts;

/* Blocks side by side, each with bolts in bushes, a rod in a collar and a bar: gaps of 0.05 mm to some mm, and here and there a bolt that
 * is in its bush. `seed` decides about places. On success free with flr_clash_parts_free(). */
flr_result flr_clash_parts_make(uint32_t count, uint64_t seed, flr_clash_parts *parts,
                                flr_error *error);
void flr_clash_parts_free(flr_clash_parts *parts);

#endif
