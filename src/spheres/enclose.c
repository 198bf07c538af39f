/* the least enclosing spheres of a cube's children
 *
 * Of an octree's 255 masks, 177 need the sphere of the whole cube. The others have their centres at
 * 0, 1/3 or 1/2 of half a side in each direction and a squared radius of 3/4, 3/2, 9/4 or 8/3: small
 * whole numbers, so the table is exact. The tests prove for each mask that its sphere encloses and
 * is the least: the centre lies between corners that it touches. */
#include <math.h>

#include "spheres/enclose.h"

/* squared radius in twelfths; centre as three digits of base 5, x first, of -1/2, -1/3, 0, 1/3, 1/2 */
static const struct {
    uint8_t radius, centre;
} table[256] = {
    {0, 62},   {9, 0},   {9, 4},   {18, 2},  {9, 20},  {18, 10}, {27, 12}, {27, 12},
    {9, 24},   {27, 12}, {18, 14}, {27, 12}, {18, 22}, {27, 12}, {27, 12}, {27, 12},
    {9, 100},  {18, 50}, {27, 52}, {27, 52}, {27, 60}, {27, 60}, {32, 31}, {32, 31},
    {36, 62},  {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {9, 104},  {27, 52}, {18, 54}, {27, 52}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {27, 64},  {32, 33}, {27, 64}, {32, 33}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {18, 102}, {27, 52}, {27, 52}, {27, 52}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {36, 62},  {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {9, 120},  {27, 60}, {36, 62}, {36, 62}, {18, 70}, {27, 60}, {36, 62}, {36, 62},
    {27, 72},  {32, 41}, {36, 62}, {36, 62}, {27, 72}, {32, 41}, {36, 62}, {36, 62},
    {18, 110}, {27, 60}, {36, 62}, {36, 62}, {27, 60}, {27, 60}, {36, 62}, {36, 62},
    {36, 62},  {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {27, 112}, {32, 81}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {32, 93},  {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {27, 112}, {32, 81}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {36, 62},  {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {9, 124},  {36, 62}, {27, 64}, {36, 62}, {27, 72}, {36, 62}, {32, 43}, {36, 62},
    {18, 74},  {36, 62}, {27, 64}, {36, 62}, {27, 72}, {36, 62}, {32, 43}, {36, 62},
    {27, 112}, {36, 62}, {32, 83}, {36, 62}, {32, 91}, {36, 62}, {36, 62}, {36, 62},
    {36, 62},  {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {18, 114}, {36, 62}, {27, 64}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {27, 64},  {36, 62}, {27, 64}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {27, 112}, {36, 62}, {32, 83}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {36, 62},  {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {18, 122}, {36, 62}, {36, 62}, {36, 62}, {27, 72}, {36, 62}, {36, 62}, {36, 62},
    {27, 72},  {36, 62}, {36, 62}, {36, 62}, {27, 72}, {36, 62}, {36, 62}, {36, 62},
    {27, 112}, {36, 62}, {36, 62}, {36, 62}, {32, 91}, {36, 62}, {36, 62}, {36, 62},
    {36, 62},  {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {27, 112}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {32, 93},  {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {27, 112}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
    {36, 62},  {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62}, {36, 62},
};

static flr_ball ball_of(uint8_t mask)
{
    static const double digits[5] = {-1.0 / 2, -1.0 / 3, 0, 1.0 / 3, 1.0 / 2};
    unsigned c = table[mask].centre;
    return (flr_ball){digits[c % 5], digits[c / 5 % 5], digits[c / 25],
                      sqrt(table[mask].radius / 12.0)};
}

void flr_enclose_fill(flr_enclose *enclose)
{
    for (unsigned mask = 0; mask < 256; mask++) {
        enclose->balls[mask] = ball_of((uint8_t)mask);
        unsigned low = mask ? (unsigned)__builtin_ctz(mask) : 0,
                 high = mask ? 32 - (unsigned)__builtin_clz(mask) : 0;
        enclose->middle[mask] = (uint8_t)(low + high);
        enclose->extent[mask] = (uint8_t)(high - low);
    }
}

/* ---- wider trees ---- */

/* Something set in each byte: one bit per byte, gathered in the lowest byte. */
static inline uint8_t bytes_set(uint64_t word)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t high = (((word & low) + low) | word) & ~low;
    return (uint8_t)((high >> 7) * UINT64_C(0x0102040810204080) >> 56);
}

/* The box of what is set, by three occupancies of `side` bits, and the octants. */
static inline flr_ball smaller(const flr_enclose *enclose, const uint8_t axes[3], double side,
                               uint8_t octants)
{
    const flr_ball *ball = &enclose->balls[octants];
    double ex = enclose->extent[axes[0]], ey = enclose->extent[axes[1]],
           ez = enclose->extent[axes[2]], squared = (ex * ex + ey * ey + ez * ez) / (side * side);
    if (squared >= ball->r * ball->r) return *ball;
    return (flr_ball){enclose->middle[axes[0]] / side - 1, enclose->middle[axes[1]] / side - 1,
                      enclose->middle[axes[2]] / side - 1, sqrt(squared)};
}

flr_ball flr_enclose_64(const flr_enclose *enclose, uint64_t mask)
{
    /* x: all rows of 4 bits on top of each other; y: rows of a layer; z: layers of 16 bits */
    uint64_t fold = mask | mask >> 32;
    fold |= fold >> 16;
    uint16_t layer = (uint16_t)fold;
    uint64_t rows = mask | mask >> 1;
    rows = (rows | rows >> 2) & UINT64_C(0x1111111111111111); /* one bit per row (y, z) */
    uint64_t y = rows | rows >> 32;
    y |= y >> 16;
    const uint8_t axes[3] = {(uint8_t)((layer | layer >> 4 | layer >> 8 | layer >> 12) & 15),
                             (uint8_t)((y & 1) | (y >> 3 & 2) | (y >> 6 & 4) | (y >> 9 & 8)),
                             (uint8_t)((mask & 0xffff ? 1 : 0) | (mask >> 16 & 0xffff ? 2 : 0) |
                                       (mask >> 32 & 0xffff ? 4 : 0) | (mask >> 48 ? 8 : 0))};
    uint8_t octants = 0;
    for (unsigned i = 0; i < 8; i++) {
        uint64_t octant = UINT64_C(0x00330033) << 2 * (i & 1) << 8 * (i >> 1 & 1) << 32 * (i >> 2);
        if (mask & octant) octants |= (uint8_t)(1u << i);
    }
    return smaller(enclose, axes, 4, octants);
}

flr_ball flr_enclose_512(const flr_enclose *enclose, const uint64_t mask[8])
{
    uint64_t below = mask[0] | mask[1] | mask[2] | mask[3],
             above = mask[4] | mask[5] | mask[6] | mask[7], layer = below | above;
    uint64_t x = layer | layer >> 32;
    x |= x >> 16;
    uint8_t z = 0;
    for (int i = 0; i < 8; i++) z = (uint8_t)(z | (mask[i] ? 1u << i : 0));
    const uint8_t axes[3] = {(uint8_t)(x | x >> 8), bytes_set(layer), z};
    const uint64_t quarter = UINT64_C(0x0f0f0f0f);
    uint8_t octants = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t part = quarter << 4 * (i & 1) << 32 * (i >> 1);
        octants = (uint8_t)(octants | (below & part ? 1u << i : 0) | (above & part ? 16u << i : 0));
    }
    return smaller(enclose, axes, 8, octants);
}
