/* mask.h: 512 bits as 8x8x8 cells, one cache line.
 *
 * The same shape serves twice: the voxels of a chunk and the chunks of a hyperchunk. Cell (x, y, z),
 * each 0..7, is bit x + 8y of word z, so that a row along x is a byte and a layer is a word. */
#ifndef FLR_VOXEL_MASK_H
#define FLR_VOXEL_MASK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct flr_mask {
    _Alignas(64) uint64_t z[8];
} flr_mask;

/* 0..511 from a cell's place, and its bit */
static inline unsigned flr_cell(unsigned x, unsigned y, unsigned z) { return x | y << 3 | z << 6; }

static inline bool flr_mask_get(const flr_mask *mask, unsigned cell)
{
    return mask->z[cell >> 6] >> (cell & 63) & 1;
}

static inline void flr_mask_set(flr_mask *mask, unsigned cell)
{
    mask->z[cell >> 6] |= UINT64_C(1) << (cell & 63);
}

static inline unsigned flr_mask_count(const flr_mask *mask)
{
    unsigned count = 0;
    for (int z = 0; z < 8; z++) count += (unsigned)__builtin_popcountll(mask->z[z]);
    return count;
}

/* How many cells before `cell` are set: the place of its data where only set cells have any. */
static inline unsigned flr_mask_rank(const flr_mask *mask, unsigned cell)
{
    unsigned count = 0, word = cell >> 6;
    for (unsigned z = 0; z < word; z++) count += (unsigned)__builtin_popcountll(mask->z[z]);
    uint64_t below = (UINT64_C(1) << (cell & 63)) - 1;
    return count + (unsigned)__builtin_popcountll(mask->z[word] & below);
}

static inline bool flr_mask_is_empty(const flr_mask *mask)
{
    uint64_t any = 0;
    for (int z = 0; z < 8; z++) any |= mask->z[z];
    return any == 0;
}

static inline bool flr_mask_is_full(const flr_mask *mask)
{
    uint64_t all = UINT64_MAX;
    for (int z = 0; z < 8; z++) all &= mask->z[z];
    return all == UINT64_MAX;
}

/* one column x = 0 or x = 7 of a layer */
#define FLR_MASK_X0 UINT64_C(0x0101010101010101)
#define FLR_MASK_X7 UINT64_C(0x8080808080808080)

/* for (FLR_EACH_CELL(mask, cell)): the set cells in order */
#define FLR_EACH_CELL(mask, cell)                                                                  \
    unsigned cell##_z = 0;                                                                         \
    cell##_z < 8;                                                                                  \
    cell##_z++) for (uint64_t cell##_rest = (mask)->z[cell##_z], cell = 0;                         \
                     cell##_rest &&                                                                \
                     (cell = cell##_z * 64 + (unsigned)__builtin_ctzll(cell##_rest), true);        \
                     cell##_rest &= cell##_rest - 1

#endif
