/* triangle against voxel, by separating axes */
#include "voxel/overlap.h"

static double least(const double v[3])
{
    return v[0] < v[1] ? (v[0] < v[2] ? v[0] : v[2]) : (v[1] < v[2] ? v[1] : v[2]);
}
static double most(const double v[3])
{
    return v[0] > v[1] ? (v[0] > v[2] ? v[0] : v[2]) : (v[1] > v[2] ? v[1] : v[2]);
}

/* The tests in one coordinate plane for the triangle's edges (u, v): the cube's corner that lies
 * farthest inside decides, hence the two maxima. `sign` orients the edges so that inside is
 * positive. A triangle seen edge-on has sign 0 or of either kind: then forward and
 * backward edges bound the line from both sides. What counts along an edge's normal is the lowest of all three
 * corners: that is the edge itself, but for slivers whose sign is lost in rounding. */
static void edge_tests(const double u[3], const double v[3], double area, flr_edge_test test[3])
{
    double sign = area < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        double a = -sign * (v[j] - v[i]), b = sign * (u[j] - u[i]);
        const double along[3] = {a * u[0] + b * v[0], a * u[1] + b * v[1], a * u[2] + b * v[2]};
        double c = -least(along) + (a > 0 ? a : 0) + (b > 0 ? b : 0);
        test[i] = (flr_edge_test){a, b, c};
    }
}

flr_overlap flr_overlap_prepare(flr_vec3 a, flr_vec3 b, flr_vec3 c)
{
    flr_overlap t;
    flr_vec3 low = flr_vec3_min(a, flr_vec3_min(b, c)), high = flr_vec3_max(a, flr_vec3_max(b, c));
    const double from[3] = {low.x, low.y, low.z}, to[3] = {high.x, high.y, high.z};
    for (int axis = 0; axis < 3; axis++) {
        /* a corner on the plane between two voxels touches both */
        t.low[axis] = (int32_t)ceil(from[axis]) - 1;
        t.high[axis] = (int32_t)floor(to[axis]);
        t.origin[axis] = t.low[axis];
    }

    /* relative to a voxel close by, so that far from the origin no digit is lost */
    const double x[3] = {a.x - t.origin[0], b.x - t.origin[0], c.x - t.origin[0]};
    const double y[3] = {a.y - t.origin[1], b.y - t.origin[1], c.y - t.origin[1]};
    const double z[3] = {a.z - t.origin[2], b.z - t.origin[2], c.z - t.origin[2]};
    flr_vec3 e = flr_vec3_make(x[1] - x[0], y[1] - y[0], z[1] - z[0]);
    flr_vec3 f = flr_vec3_make(x[2] - x[0], y[2] - y[0], z[2] - z[0]);
    flr_vec3 n = flr_vec3_cross(e, f);

    /* the triangle lies between the cube's corner farthest back and the one farthest front; all three corners are
       asked, because the normal of a sliver is mostly rounding and need not be square to it */
    double at[3];
    for (int i = 0; i < 3; i++) at[i] = n.x * x[i] + n.y * y[i] + n.z * z[i];
    double back = (n.x < 0 ? n.x : 0) + (n.y < 0 ? n.y : 0) + (n.z < 0 ? n.z : 0);
    double front = (n.x > 0 ? n.x : 0) + (n.y > 0 ? n.y : 0) + (n.z > 0 ? n.z : 0);
    t.normal[0] = n.x, t.normal[1] = n.y, t.normal[2] = n.z;
    t.near = back - most(at);
    t.far = front - least(at);

    edge_tests(x, y, n.z, t.xy);
    edge_tests(y, z, n.x, t.yz);
    edge_tests(z, x, n.y, t.zx);
    return t;
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
