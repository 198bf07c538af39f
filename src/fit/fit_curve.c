/* a patch as a quadratic height, so that two round faces are kept apart by one curved surface
 *
 * Least squares over the vertices and the middles of all sides. Without the latter, a strip of triangles between two rows
 * of vertices says nothing about how straight its long sides are. Where all of these do not determine all coefficients, a
 * little weight on each of them keeps it small. What the fit misses is in the bounds: at the vertices, and within each triangle, which is flat. With
 * barycentric coordinates l, a quadratic exceeds the linear function through its values at the corners by
 * -1/2 sum l_i l_k e_ik H e_ik, for its second derivatives H and the sides e_ik; the sum of all l_i l_k is at most 1/3. */
#include <math.h>

#include "fit/fit_internal.h"

enum { TERMS = 6 };

/* the vertices in the axes of the patch, of its radius */
typedef struct heights {
    double x[FLR_FIT_LANES], y[FLR_FIT_LANES], z[FLR_FIT_LANES];
    double unit; /* metres */
} heights;

static heights heights_of(const flr_fit_patch *patch)
{
    const flr_fit_lanes *l = &patch->lanes;
    heights h = {.unit = patch->radius > 0 ? (double)patch->radius : 1};
    for (int i = 0; i < FLR_FIT_LANES; i++) {
        double at[3];
        for (int k = 0; k < 3; k++)
            at[k] = ((double)patch->axes[k][0] * (double)l->x[i] +
                     (double)patch->axes[k][1] * (double)l->y[i] +
                     (double)patch->axes[k][2] * (double)l->z[i]) /
                    h.unit;
        h.z[i] = at[0], h.x[i] = at[1], h.y[i] = at[2];
    }
    return h;
}

/* Solves a symmetric positive definite system in place. */
static void solve(double m[TERMS][TERMS], double r[TERMS])
{
    for (int i = 0; i < TERMS; i++) {
        for (int k = i + 1; k < TERMS; k++) {
            const double f = m[k][i] / m[i][i];
            for (int j = i; j < TERMS; j++) m[k][j] -= f * m[i][j];
            r[k] -= f * r[i];
        }
    }
    for (int i = TERMS - 1; i >= 0; i--) {
        for (int j = i + 1; j < TERMS; j++) r[i] -= m[i][j] * r[j];
        r[i] /= m[i][i];
    }
}

/* One more point of the surface. */
static void add_point(double m[TERMS][TERMS], double c[TERMS], double x, double y, double z)
{
    const double b[TERMS] = {1, x, y, x * x, x * y, y * y};
    for (int i = 0; i < TERMS; i++) {
        for (int k = 0; k < TERMS; k++) m[i][k] += b[i] * b[k];
        c[i] += b[i] * z;
    }
}

/* The lanes of a triangle; returns how many. */
static int lanes_of(unsigned corners, int lanes[3])
{
    int count = 0;
    for (; corners && count < 3; corners &= corners - 1) lanes[count++] = __builtin_ctz(corners);
    return count;
}

/* The coefficients, of heights in units of the radius: 1, x, y, x^2, x y, y^2. */
static void fit_heights(const flr_fit_patch *patch, const heights *h, double c[TERMS])
{
    double m[TERMS][TERMS] = {{0}};
    for (int i = 0; i < TERMS; i++) m[i][i] = 1e-9, c[i] = 0;
    for (int v = 0; v < FLR_FIT_LANES; v++) add_point(m, c, h->x[v], h->y[v], h->z[v]);
    for (uint32_t f = 0; f < patch->faces; f++) {
        int lanes[3];
        const int count = lanes_of(patch->corners[f], lanes);
        for (int i = 0; i < count; i++) {
            const int from = lanes[i], to = lanes[(i + 1) % count];
            add_point(m, c, 0.5 * (h->x[from] + h->x[to]), 0.5 * (h->y[from] + h->y[to]),
                      0.5 * (h->z[from] + h->z[to]));
        }
    }
    solve(m, c);
}

/* The largest and the least e H e of a triangle's sides, e in metres; and how long these are. */
static void try_sides(flr_fit_patch *patch, const heights *h, unsigned corners, double *most,
                      double *least)
{
    int lanes[3];
    const int count = lanes_of(corners, lanes);
    const float *k = patch->curve.k;
    for (int i = 0; i < count; i++) {
        const int from = lanes[i], to = lanes[(i + 1) % count];
        const double x = h->unit * (h->x[to] - h->x[from]), y = h->unit * (h->y[to] - h->y[from]),
                     z = h->unit * (h->z[to] - h->z[from]), e[3] = {fabs(z), fabs(x), fabs(y)};
        const double bend =
            2 * ((double)k[2] * x * x + (double)k[3] * x * y + (double)k[4] * y * y);
        *most = fmax(*most, bend);
        *least = fmin(*least, bend);
        for (int j = 0; j < 3; j++)
            if ((double)patch->edge[j] < e[j]) patch->edge[j] = nextafterf((float)e[j], INFINITY);
    }
}

void flr_fit_bend(flr_fit_patch *patch)
{
    const heights h = heights_of(patch);
    double c[TERMS], most = 0, least = 0, top = -INFINITY, bottom = INFINITY;
    fit_heights(patch, &h, c);
    patch->curve = (flr_fit_curve){.k = {(float)c[1], (float)c[2], (float)(c[3] / h.unit),
                                         (float)(c[4] / h.unit), (float)(c[5] / h.unit)}};
    const float *k = patch->curve.k;
    for (int i = 0; i < 3; i++) patch->edge[i] = 0;
    for (uint32_t i = 0; i < patch->faces; i++)
        try_sides(patch, &h, patch->corners[i], &most, &least);
    for (int i = 0; i < FLR_FIT_LANES; i++) {
        const double x = h.unit * h.x[i], y = h.unit * h.y[i],
                     at = h.unit * h.z[i] -
                          ((double)k[0] * x + (double)k[1] * y + (double)k[2] * x * x +
                           (double)k[3] * x * y + (double)k[4] * y * y);
        top = fmax(top, at);
        bottom = fmin(bottom, at);
    }
    /* a flat triangle exceeds a curve that bends upwards in between, and reverse */
    const double little = 1e-6 * h.unit;
    patch->curve.top = nextafterf((float)(top + most / 6 + little), INFINITY);
    patch->curve.bottom = nextafterf((float)(bottom + least / 6 - little), -INFINITY);
}
