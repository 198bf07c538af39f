/* tile.h: 64x64x64 cells with a margin of 8 all around, worked on as rows of bits.
 *
 * A tile is a hyperchunk of voxels, or a root cell of chunks: the same work at two levels. Growing a set
 * of cells by one in all 26 directions is done row by row, 64 cells at a time: shift and or along x, or the
 * neighbouring rows along y and z. Eight such steps consume the margin and give the chessboard distances
 * 1 to 8. Marks are kept as bit planes while growing and packed when all is done. */
#ifndef FLR_VOXEL_TILE_H
#define FLR_VOXEL_TILE_H

#include <stdint.h>

#include "voxel/mask.h"

enum { FLR_TILE_MARGIN = 8, FLR_TILE_SIDE = 64, FLR_TILE_ROWS = 80 };

/* A row of 80 cells: x = -8 … 55 in `low`, 56 … 71 in the low 16 bits of `high`. Index [z + 8][y + 8]. */
typedef struct flr_tile_rows {
    uint64_t low[FLR_TILE_ROWS][FLR_TILE_ROWS];
    uint64_t high[FLR_TILE_ROWS][FLR_TILE_ROWS];
} flr_tile_rows;

typedef struct flr_tile {
    flr_tile_rows seeds; /* the set to grow from; grown in place */
    flr_tile_rows scratch;
    uint64_t interior[FLR_TILE_SIDE][FLR_TILE_SIDE];  /* [z][y], bit x */
    uint64_t known[FLR_TILE_SIDE][FLR_TILE_SIDE];     /* cells that have their mark */
    uint64_t planes[8][FLR_TILE_SIDE][FLR_TILE_SIDE]; /* bit b of the marks, [b][z][y], bit x */
} flr_tile;

/* Does a tile with its margin see block `cell` of its neighbour in this direction, each -1 … 1? */
static inline bool flr_tile_sees(unsigned cell, int dx, int dy, int dz)
{
    const int at[3] = {(int)(cell & 7), (int)(cell >> 3 & 7), (int)(cell >> 6)};
    const int d[3] = {dx, dy, dz};
    for (int axis = 0; axis < 3; axis++)
        if ((d[axis] < 0 && at[axis] != 7) || (d[axis] > 0 && at[axis] != 0)) return false;
    return true;
}

/* Everything empty. */
void flr_tile_clear(flr_tile *tile);

/* Puts the 8x8x8 cells of `mask` at block (x, y, z) of the tile, each -1 … 8: the margin included. */
void flr_tile_seed(flr_tile *tile, const flr_mask *mask, int x, int y, int z);

/* Puts interior cells at block (x, y, z), each 0 … 7. */
void flr_tile_interior(flr_tile *tile, const flr_mask *mask, unsigned x, unsigned y, unsigned z);

/* Fills the planes: 1 interior, 2 + d at chessboard distance d from the true seeds, 0 else. The seeds given are the
 * cells within `start` of the true ones: with 0 they get mark 2 themselves, else they were marked in an earlier
 * round and get none. Grows `steps` (at most 8) from there; the seeds are then those of the next round. The first
 * `bits` planes are used: 2, 4 or 8. With an `offset` of k layers the marks are moved outward by k: cells nearer than
 * k count as interior, those at k as seeds (1999, section 4.2). */
void flr_tile_grow(flr_tile *tile, unsigned start, unsigned steps, unsigned bits, unsigned offset);

/* The seeds in block (x, y, z), each 0 … 7. */
flr_mask flr_tile_block(const flr_tile *tile, unsigned x, unsigned y, unsigned z);

/* Packs the marks of block (x, y, z), each 0 … 7, into 512 * bits / 8 bytes: cell x + 8y + 64z, the first of a
 * byte in the low bits. `bits` 2 (marks 0..3), 4 or 8. */
void flr_tile_pack(const flr_tile *tile, unsigned x, unsigned y, unsigned z, unsigned bits,
                   uint8_t *packed);

#endif
