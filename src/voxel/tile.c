/* 64x64x64 cells with a margin, as rows of bits */
#include "voxel/tile.h"

#include "voxel/clones.h"

void flr_tile_clear(flr_tile *tile)
{
    memset(&tile->seeds, 0, sizeof tile->seeds);
    memset(tile->interior, 0, sizeof tile->interior);
}

/* ors 8 cells into a row of 80 at block bx = 0 … 9 */
static void put_row(flr_tile_rows *rows, unsigned z, unsigned y, unsigned bx, uint64_t byte)
{
    if (bx < 8)
        rows->low[z][y] |= byte << 8 * bx;
    else
        rows->high[z][y] |= byte << 8 * (bx - 8);
}

void flr_tile_seed(flr_tile *tile, const flr_mask *mask, int x, int y, int z)
{
    unsigned row = (unsigned)(y + 1) * 8, layer = (unsigned)(z + 1) * 8, bx = (unsigned)(x + 1);
    for (unsigned k = 0; k < 8; k++)
        for (unsigned j = 0; j < 8; j++)
            put_row(&tile->seeds, layer + k, row + j, bx, mask->z[k] >> 8 * j & 255);
}

void flr_tile_interior(flr_tile *tile, const flr_mask *mask, unsigned x, unsigned y, unsigned z)
{
    for (unsigned k = 0; k < 8; k++)
        for (unsigned j = 0; j < 8; j++)
            tile->interior[z * 8 + k][y * 8 + j] |= (mask->z[k] >> 8 * j & 255) << 8 * x;
}

/* One step of growth: rows [from, to) in y and z are valid afterwards. First along x and y into the scratch,
 * then along z back. */
FLR_CLONES static void grow_once(flr_tile_rows *rows, flr_tile_rows *scratch, unsigned from,
                                 unsigned to)
{
    for (unsigned z = from - 1; z < to + 1; z++) {
        uint64_t low[FLR_TILE_ROWS], high[FLR_TILE_ROWS];
        for (unsigned y = from - 1; y < to + 1; y++) {
            uint64_t l = rows->low[z][y], h = rows->high[z][y];
            low[y] = l | l << 1 | l >> 1 | h << 63;
            high[y] = h | h << 1 | h >> 1 | l >> 63;
        }
        for (unsigned y = from; y < to; y++) {
            scratch->low[z][y] = low[y - 1] | low[y] | low[y + 1];
            scratch->high[z][y] = high[y - 1] | high[y] | high[y + 1];
        }
    }
    for (unsigned z = from; z < to; z++)
        for (unsigned y = from; y < to; y++) {
            rows->low[z][y] = scratch->low[z - 1][y] | scratch->low[z][y] | scratch->low[z + 1][y];
            rows->high[z][y] =
                scratch->high[z - 1][y] | scratch->high[z][y] | scratch->high[z + 1][y];
        }
}

/* Gives `mark` to the cells that are reached now and had none. */
FLR_CLONES static void mark_new(flr_tile *tile, unsigned mark, unsigned bits)
{
    for (unsigned z = 0; z < FLR_TILE_SIDE; z++) {
        uint64_t fresh[FLR_TILE_SIDE];
        for (unsigned y = 0; y < FLR_TILE_SIDE; y++) {
            uint64_t core = tile->seeds.low[z + 8][y + 8] >> 8 | tile->seeds.high[z + 8][y + 8]
                                                                     << 56;
            fresh[y] = core & ~tile->known[z][y];
            tile->known[z][y] |= core;
        }
        for (unsigned b = 0; b < bits; b++)
            if (mark >> b & 1)
                for (unsigned y = 0; y < FLR_TILE_SIDE; y++) tile->planes[b][z][y] |= fresh[y];
    }
}

static unsigned mark_of(unsigned d, unsigned offset) { return d < offset ? 1 : 2 + d - offset; }

void flr_tile_grow(flr_tile *tile, unsigned start, unsigned steps, unsigned bits, unsigned offset)
{
    memset(tile->planes, 0, bits * sizeof tile->planes[0]);
    memcpy(tile->planes[0], tile->interior, sizeof tile->interior);
    memcpy(tile->known, tile->interior, sizeof tile->interior);
    mark_new(tile, start ? 0 : mark_of(0, offset), bits);
    for (unsigned d = 1; d <= steps; d++) {
        grow_once(&tile->seeds, &tile->scratch, d, FLR_TILE_ROWS - d);
        mark_new(tile, mark_of(start + d, offset), bits);
    }
}

flr_mask flr_tile_block(const flr_tile *tile, unsigned x, unsigned y, unsigned z)
{
    flr_mask mask = {{0}};
    for (unsigned k = 0; k < 8; k++)
        for (unsigned j = 0; j < 8; j++) {
            unsigned row = z * 8 + k + 8, at = y * 8 + j + 8;
            uint64_t core = tile->seeds.low[row][at] >> 8 | tile->seeds.high[row][at] << 56;
            mask.z[k] |= (core >> 8 * x & 255) << 8 * j;
        }
    return mask;
}

/* spread[b] has bit i of b at bit 4 i */
static const uint32_t spread[256] = {
#define S1(b)                                                                                      \
    (uint32_t)(((b)&1) | ((b)&2) << 3 | ((b)&4) << 6 | ((b)&8) << 9 | ((b)&16) << 12 |             \
               ((b)&32) << 15 | ((b)&64) << 18) |                                                  \
        (uint32_t)((b)&128) << 21
#define S4(b)  S1(b), S1(b + 1), S1(b + 2), S1(b + 3)
#define S16(b) S4(b), S4(b + 4), S4(b + 8), S4(b + 12)
#define S64(b) S16(b), S16(b + 16), S16(b + 32), S16(b + 48)
    S64(0), S64(64), S64(128), S64(192)
#undef S1
#undef S4
#undef S16
#undef S64
};

/* Eight marks in a row: `count` bits of each from bit `first` on, in a nibble each. */
static inline uint32_t nibbles(const flr_tile *tile, unsigned x, unsigned y, unsigned z,
                               unsigned first, unsigned count)
{
    uint32_t marks = 0;
    for (unsigned b = 0; b < count; b++)
        marks |= spread[tile->planes[first + b][z][y] >> 8 * x & 255] << b;
    return marks;
}

void flr_tile_pack(const flr_tile *tile, unsigned x, unsigned y, unsigned z, unsigned bits,
                   uint8_t *packed)
{
    for (unsigned k = z * 8; k < z * 8 + 8; k++)
        for (unsigned j = y * 8; j < y * 8 + 8; j++) {
            uint32_t low = bits == 2 ? nibbles(tile, x, j, k, 0, 2) : nibbles(tile, x, j, k, 0, 4);
            if (bits == 4) {
                memcpy(packed, &low, sizeof low);
            } else if (bits == 8) {
                uint32_t high = nibbles(tile, x, j, k, 4, 4);
                for (unsigned i = 0; i < 8; i++)
                    packed[i] = (uint8_t)((low >> 4 * i & 15) | (high >> 4 * i & 15) << 4);
            } else {
                for (unsigned i = 0; i < 2; i++, low >>= 16)
                    packed[i] =
                        (uint8_t)((low & 3) | (low >> 2 & 12) | (low >> 4 & 48) | (low >> 6 & 192));
            }
            packed += bits;
        }
}
