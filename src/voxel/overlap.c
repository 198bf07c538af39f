/* triangle against voxel, by separating axes */
#include "voxel/overlap.h"

#include "voxel/overlap_prepare.h"

flr_overlap flr_overlap_prepare(flr_vec3 a, flr_vec3 b, flr_vec3 c)
{
    return flr_overlap_prepare_inline(a, b, c);
}

/* An edge test for a cube of `side` voxels: the most favourable voxel in it. A little slack makes up
 * for rounding, so that no voxel is lost that the exact test would take. */
static bool block_passes(const flr_edge_test test[3], double u, double v, double more)
{
    for (int i = 0; i < 3; i++) {
        const flr_edge_test *e = &test[i];
        double best = e->a * u + e->b * v + e->c + (e->a > 0 ? e->a : 0) * more +
                      (e->b > 0 ? e->b : 0) * more;
        double slack =
            1e-9 * (fabs(e->a * u) + fabs(e->b * v) + fabs(e->c) + fabs(e->a) + fabs(e->b));
        if (best < -slack) return false;
    }
    return true;
}

bool flr_overlap_block(const flr_overlap *t, int32_t x, int32_t y, int32_t z, int32_t side)
{
    if (x > t->high[0] || x + side <= t->low[0] || y > t->high[1] || y + side <= t->low[1] ||
        z > t->high[2] || z + side <= t->low[2])
        return false;
    double px = x - t->origin[0], py = y - t->origin[1], pz = z - t->origin[2], more = side - 1;
    const double *n = t->normal;
    double at = n[0] * px + n[1] * py + n[2] * pz;
    double back = ((n[0] < 0 ? n[0] : 0) + (n[1] < 0 ? n[1] : 0) + (n[2] < 0 ? n[2] : 0)) * more;
    double front = ((n[0] > 0 ? n[0] : 0) + (n[1] > 0 ? n[1] : 0) + (n[2] > 0 ? n[2] : 0)) * more;
    double slack =
        1e-9 * (fabs(n[0] * px) + fabs(n[1] * py) + fabs(n[2] * pz) + fabs(t->near) + fabs(t->far));
    if (at + back + t->near > slack || at + front + t->far < -slack) return false;
    return block_passes(t->xy, px, py, more) && block_passes(t->yz, py, pz, more) &&
           block_passes(t->zx, pz, px, more);
}
