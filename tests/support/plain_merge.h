/* plain_merge.h: the union of parts by brute force, voxel by voxel, to compare merged voxmaps with. */
#ifndef FLR_TEST_PLAIN_MERGE_H
#define FLR_TEST_PLAIN_MERGE_H

#include "feeler/merge.h"
#include "support/test.h"

enum { FLR_TEST_MERGE_PARTS = 16 };

/* The voxmap of some parts, from scratch: of those whose bit is set. The caller owns it. */
flr_voxmap *flr_test_merged(const flr_merge_def *def, const flr_merge_part *parts, int count,
                            unsigned which);

/* Merges the parts, FLR_TEST_MERGE_PARTS at most, and fails the test where a mark of any field differs from that by brute force. */
void flr_test_plain_merge_compare(const flr_merge_def *def, const flr_merge_part *parts, int count);

#endif
