/* axle_world.h: the axle of Kim 2004 as a world, for the experiments that carry its parts */
#ifndef FLR_BENCH_AXLE_WORLD_H
#define FLR_BENCH_AXLE_WORLD_H

#include "feeler/world.h"
#include "models/models.h"

enum { FLR_AXLE_PARTS = 16 };

typedef struct flr_axle {
    flr_model model;
    flr_part *shapes[FLR_AXLE_PARTS];
    flr_world_part parts[FLR_AXLE_PARTS];
    uint32_t count;
    double voxel; /* metres */
} flr_axle;

/* `divide`: voxels so many times larger, at most 4. After a failure, too, flr_axle_free() is to be called. */
flr_result flr_axle_make(flr_axle *axle, unsigned divide, flr_error *error);
void flr_axle_free(flr_axle *axle);

/* The index of a part of that name, which must exist. */
uint32_t flr_axle_find(const flr_axle *axle, const char *name);

/* Where a hand is that carries a part from its place to the middle of the base, which it does not reach; `share` 0 ... 1. */
flr_pose flr_axle_carry(const flr_axle *axle, uint32_t part, double share);

#endif
