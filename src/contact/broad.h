/* broad.h: which of many boxes overlap, kept up to date as they move (sweep and prune).
 *
 * On each axis the ends of all boxes are kept in order. Motion from one update to the next is small, so putting them back in
 * order is a few exchanges; where the low end of one box passes the high end of another, whether the two overlap on this axis
 * changes. A byte per pair of slots holds the three axes; pairs with all three that may touch at all are in the list.
 *
 * The list depends on boxes and flags alone, not on how they came about. Creating and destroying: control thread; all else is
 * RT safe. */
#ifndef FLR_CONTACT_BROAD_H
#define FLR_CONTACT_BROAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/math.h"

/* A slot's flags: two slots may touch when one of them moves, and one gives points, the other voxels. */
enum { FLR_BROAD_MOVES = 1, FLR_BROAD_POINTS = 2, FLR_BROAD_VOXELS = 4 };

typedef struct flr_broad flr_broad;

/* `slots` boxes, all empty; at most `capacity` pairs in the list. NULL: not enough memory. */
flr_broad *flr_broad_create(uint32_t slots, size_t capacity);
void flr_broad_destroy(flr_broad *broad); /* NULL allowed */

/* What counts from the next update on. A box that is empty or not finite overlaps nothing. */
void flr_broad_flag(flr_broad *broad, uint32_t slot, unsigned flags);
void flr_broad_move(flr_broad *broad, uint32_t slot, flr_box3 box);

/* What an update found. */
typedef struct flr_broad_list {
    const uint64_t
        *keys; /* [count], rising: larger slot << 32 | smaller slot; until the next update */
    size_t count;
    size_t dropped; /* pairs, the last ones in order, for which there was no room */
} flr_broad_list;

flr_broad_list flr_broad_update(flr_broad *broad);

#endif
