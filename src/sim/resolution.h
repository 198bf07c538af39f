/* resolution.h: the voxel size for parts of which nobody has said one.
 *
 * One size for all of them, so that parts that stay can be merged. It is 1/200 of the smallest part that moves; a third of the
 * gap at the start, where that is known and smaller; and not so small that a part that moves has more than 500,000 surface
 * voxels, all parts together more than 10 million, or voxels take more than a quarter of the memory. feeler tells what it
 * chose and why. Where such voxels cannot resolve the gap, it takes the exact engine, if nobody has chosen another.
 *
 * Thread: any. Not RT safe. */
#ifndef FLR_SIM_RESOLUTION_H
#define FLR_SIM_RESOLUTION_H

#include "sim/asset.h"

typedef struct flr_resolution {
    double voxel; /* metres; 0: none was chosen */
    /* metres: the least distance of a part that moves to another, at the start, negative: they are in each other, by no more than
     * fits are by design; what is deeper clashes, and does not count. INFINITY: none is near, or it was not measured */
    double gap;
    bool too_coarse; /* for that gap */
    bool
        exact; /* … and the exact engine is the better one: there are not too many triangles for it */
    char sentence[FLR_ERROR_MESSAGE_SIZE];
} flr_resolution;

/* For the parts in `list` whose places are `wanted` [list->count]; the gap is that of all. `memory`: bytes that this process
 * may have. `cache`, for exact geometry, may be NULL. Parts with more than 300,000 triangles are not measured. */
flr_resolution flr_resolution_choose(flr_env *env, const flr_cache *cache,
                                     const flr_part_list *list, const bool *wanted,
                                     uint64_t memory);

/* Nobody has chosen an engine, and `exact` is set: takes the exact one. Then no voxel size was chosen, and the sentence
 * says why. */
void flr_resolution_take_exact(flr_resolution *resolution);

#endif
