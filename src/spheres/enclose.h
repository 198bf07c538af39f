/* enclose.h: the spheres around a cube's children, from small tables that are filled once.
 *
 * An octree needs one table of 256 spheres. A wider tree would need 2^64 or 2^512; it makes do with the octree's table for
 * its octants and with two bytes for each pattern along an axis. */
#ifndef FLR_SPHERES_ENCLOSE_H
#define FLR_SPHERES_ENCLOSE_H

#include "feeler/spheres.h"

/* in half sides of the cube, from its middle; r is sqrt(3) where nothing is gained */
typedef struct flr_ball {
    double x, y, z, r;
} flr_ball;

typedef struct flr_enclose {
    /* of an octree: the least sphere there is around the children whose bits are set (child x + 2y + 4z): 78 of the 255 masks have
     * a smaller one than the cube. Mask 0 has radius 0 */
    flr_ball balls[256];
    uint8_t middle[256]; /* of the children set along an axis: first + last + 1, half children */
    uint8_t extent[256]; /* last - first + 1 */
} flr_enclose;

void flr_enclose_fill(flr_enclose *enclose);

/* The smaller of two spheres: around the box of what is set, around the octants that hold something. Child x + 4y + 16z of a
 * 64-tree; bit x + 8y of word z of a 512-tree. */
flr_ball flr_enclose_64(const flr_enclose *enclose, uint64_t mask);
flr_ball flr_enclose_512(const flr_enclose *enclose, const uint64_t mask[8]);

#endif
