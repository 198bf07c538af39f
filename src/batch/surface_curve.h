/* surface_curve.h: points' places on a curve through all cells of a grid, sixteen at a time, in plain C that compilers turn into
 * vector instructions. Points that follow each other there lie near each other. */
#ifndef FLR_BATCH_SURFACE_CURVE_H
#define FLR_BATCH_SURFACE_CURVE_H

#include "batch/surface_lanes.h"

typedef uint32_t cells[FLR_SURFACE_LANES];

LANES void cells_along(const double at[FLR_SURFACE_LANES], double low, double scale, unsigned bits,
                       cells out)
{
    const double top = (double)((1u << bits) - 1);
    EACH_LANE(i)
    {
        double x = (at[i] - low) * scale;
        x = x > 0 ? x : 0;
        out[i] = (uint32_t)(int32_t)(x < top ? x : top);
    }
}

/* bits of x with two zeros between them */
LANES uint32_t spread_bits(uint32_t x)
{
    x = (x | x << 16) & 0x030000ff;
    x = (x | x << 8) & 0x0300f00f;
    x = (x | x << 4) & 0x030c30c3;
    return (x | x << 2) & 0x09249249;
}

/* Skilling 2004, "Programming the Hilbert curve" */
LANES void hilbert_codes(cells x, cells y, cells z, unsigned bits, cells out)
{
    for (unsigned k = bits; k-- > 1;) {
        const uint32_t below = (1u << k) - 1;
        EACH_LANE(i)
        {
            /* where bit k of a coordinate is set, x is inverted below it; otherwise both are exchanged there */
            const uint32_t y_set = 0u - (y[i] >> k & 1), z_set = 0u - (z[i] >> k & 1);
            uint32_t a = x[i] ^ ((0u - (x[i] >> k & 1)) & below);
            const uint32_t ay = (a ^ y[i]) & below & ~y_set;
            a ^= ay | (y_set & below);
            y[i] ^= ay;
            const uint32_t az = (a ^ z[i]) & below & ~z_set;
            x[i] = a ^ (az | (z_set & below));
            z[i] ^= az;
        }
    }
    EACH_LANE(i)
    {
        const uint32_t a = x[i], b = y[i] ^ a, c = z[i] ^ b;
        uint32_t turn = 0;
        for (unsigned k = 1; k <= 9; k++) turn ^= (0u - (c >> k & 1)) & ((1u << k) - 1);
        out[i] = spread_bits(a ^ turn) << 2 | spread_bits(b ^ turn) << 1 | spread_bits(c ^ turn);
    }
}

LANES void find_codes(const flr_surface_grid *grid, const flr_vec3 *points, uint32_t count,
                      uint32_t *codes)
{
    double at[3][FLR_SURFACE_LANES];
    cells x, y, z, found;
    for (uint32_t i = 0; i < FLR_SURFACE_LANES; i++) {
        const flr_vec3 p = points[i < count ? i : 0];
        const bool usable = flr_surface_usable(p);
        at[0][i] = usable ? p.x : grid->low.x;
        at[1][i] = usable ? p.y : grid->low.y;
        at[2][i] = usable ? p.z : grid->low.z;
    }
    cells_along(at[0], grid->low.x, grid->scale, grid->bits, x);
    cells_along(at[1], grid->low.y, grid->scale, grid->bits, y);
    cells_along(at[2], grid->low.z, grid->scale, grid->bits, z);
    hilbert_codes(x, y, z, grid->bits, found);
    memcpy(codes, found, count * sizeof *codes);
}

#endif
