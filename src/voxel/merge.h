/* merge.h: what a swept volume needs beyond feeler/merge.h. */
#ifndef FLR_VOXEL_MERGE_H
#define FLR_VOXEL_MERGE_H

#include "feeler/merge.h"

/* Makes one part of all parts, which cannot be taken out one by one any more: keeps memory small where many places of
 * one part are added. On failure (FLR_NO_MEMORY) nothing has changed. */
flr_result flr_merge_join(flr_merge *merge, flr_error *error);

#endif
