/* Where two triangles are nearest to each other: between two sides, or between a corner and an inside; or a side passes
 * through an inside. */
#include "mesh/nearest.h"

#include <float.h>
#include <math.h>

static double clamp01(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

static unsigned part_of_side(int side, double along)
{
    if (along <= 0) return FLR_CORNER + (unsigned)side;
    if (along >= 1) return FLR_CORNER + (unsigned)(side + 1) % 3;
    return FLR_SIDE + (unsigned)side;
}

static void keep(flr_nearest *best, flr_vec3 x, flr_vec3 y, unsigned part_x, unsigned part_y)
{
    const double d2 = flr_vec3_length2(flr_vec3_sub(y, x));
    if (d2 < best->distance2) *best = (flr_nearest){d2, {x, y}, {part_x, part_y}};
}

/* ---- sides ---- */

/* Where the segments p + s u and q + t v are nearest, s and t in 0 … 1. The common perpendicular by way of the cross
 * product: the usual determinant is lost in rounding at angles a million times wider. */
static void nearest_on_segments(flr_vec3 p, flr_vec3 u, flr_vec3 q, flr_vec3 v, double *s,
                                double *t)
{
    const flr_vec3 w = flr_vec3_sub(q, p), n = flr_vec3_cross(u, v);
    const double n2 = flr_vec3_length2(n), uu = flr_vec3_length2(u), vv = flr_vec3_length2(v);
    *s = n2 > 0 ? clamp01(flr_vec3_dot(flr_vec3_cross(w, v), n) / n2) : 0;
    const double free =
        vv > 0 ? flr_vec3_dot(v, flr_vec3_sub(flr_vec3_scale(u, *s), w)) / vv : 0; /* not clamped */
    *t = clamp01(free);
    if (*t == free && n2 > 0) return;
    *s = uu > 0 ? clamp01(flr_vec3_dot(u, flr_vec3_add_scaled(w, *t, v)) / uu) : 0;
    /* parallel: the first s was any, so t follows once more */
    if (n2 == 0 && vv > 0)
        *t = clamp01(flr_vec3_dot(v, flr_vec3_sub(flr_vec3_scale(u, *s), w)) / vv);
}

/* Tries all pairs of sides. True: no other pair of points can be nearer than `best`, since both third corners lie
 * beyond planes across the line between the two points found, beyond doubt (`doubt`: what rounding leaves of a product
 * of two lengths). */
static bool try_sides(const flr_vec3 a[3], const flr_vec3 b[3], double doubt, flr_nearest *best)
{
    flr_vec3 v[3];
    for (int j = 0; j < 3; j++) v[j] = flr_vec3_sub(b[(j + 1) % 3], b[j]);
    for (int i = 0; i < 3; i++) {
        const flr_vec3 u = flr_vec3_sub(a[(i + 1) % 3], a[i]);
        for (int j = 0; j < 3; j++) {
            double s, t;
            nearest_on_segments(a[i], u, b[j], v[j], &s, &t);
            const flr_vec3 x = s >= 1 ? a[(i + 1) % 3] : flr_vec3_add_scaled(a[i], s, u);
            const flr_vec3 y = t >= 1 ? b[(j + 1) % 3] : flr_vec3_add_scaled(b[j], t, v[j]);
            keep(best, x, y, part_of_side(i, s), part_of_side(j, t));
            const flr_vec3 across = flr_vec3_sub(y, x);
            if (flr_vec3_dot(flr_vec3_sub(a[(i + 2) % 3], x), across) < -doubt &&
                flr_vec3_dot(flr_vec3_sub(b[(j + 2) % 3], y), across) > doubt)
                return true;
        }
    }
    return false;
}

/* ---- insides ---- */

/* a triangle's inside: at + x u + y v with x, y >= 0 and x + y <= 1. `w` is what of v is square to u. With the longest
 * side for u a foot is as good as the corners are, even on a needle: w is then short, and so is what its error does. */
typedef struct inside {
    flr_vec3 at, u, w;
    double uu, ww, lean; /* v = w + lean u */
} inside;

static inside inside_of(const flr_vec3 t[3])
{
    double length2[3];
    for (int i = 0; i < 3; i++) length2[i] = flr_vec3_length2(flr_vec3_sub(t[(i + 1) % 3], t[i]));
    const int side = length2[0] >= length2[1] && length2[0] >= length2[2] ? 0
                     : length2[1] >= length2[2]                           ? 1
                                                                          : 2;
    int from = side, to = (side + 1) % 3;
    const int third = (side + 2) % 3;
    /* from the end that is nearer to the third corner */
    if (length2[to] < length2[third]) from = to, to = side;
    inside f = {.at = t[from], .u = flr_vec3_sub(t[to], t[from]), .uu = length2[side]};
    const flr_vec3 v = flr_vec3_sub(t[third], t[from]);
    f.lean = f.uu > 0 ? flr_vec3_dot(v, f.u) / f.uu : 0;
    f.w = flr_vec3_add_scaled(v, -f.lean, f.u);
    f.ww = flr_vec3_length2(f.w);
    return f;
}

/* The foot of a point; false where it lies beside the triangle, or that has no area. */
static bool foot_of(const inside *f, flr_vec3 p, flr_vec3 *foot)
{
    if (!(f->ww > 0)) return false;
    flr_vec3 to = flr_vec3_sub(p, f->at);
    const double along = flr_vec3_dot(to, f->u) / f->uu;
    to = flr_vec3_add_scaled(to, -along, f->u);
    const double y = flr_vec3_dot(to, f->w) / f->ww, x = along - y * f->lean;
    if (!(x >= 0 && y >= 0 && x + y <= 1)) return false;
    *foot = flr_vec3_add_scaled(flr_vec3_add_scaled(f->at, along, f->u), y, f->w);
    return true;
}

/* The corners of `other` over the inside of a triangle, and its sides through it. `first`: that triangle is a. */
static void try_inside(const flr_vec3 triangle[3], const flr_vec3 other[3], bool first,
                       flr_nearest *best)
{
    const inside f = inside_of(triangle);
    const flr_vec3 n = flr_vec3_cross(f.u, f.w);
    double height[3];
    flr_vec3 foot;
    for (int i = 0; i < 3; i++) {
        height[i] = flr_vec3_dot(n, flr_vec3_sub(other[i], f.at));
        if (!foot_of(&f, other[i], &foot)) continue;
        if (first)
            keep(best, foot, other[i], FLR_INSIDE, FLR_CORNER + (unsigned)i);
        else
            keep(best, other[i], foot, FLR_CORNER + (unsigned)i, FLR_INSIDE);
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        if (!((height[i] < 0 && height[j] > 0) || (height[i] > 0 && height[j] < 0))) continue;
        const flr_vec3 x = flr_vec3_lerp(other[i], other[j], height[i] / (height[i] - height[j]));
        if (!foot_of(&f, x, &foot)) continue;
        if (first)
            keep(best, foot, x, FLR_INSIDE, FLR_SIDE + (unsigned)i);
        else
            keep(best, x, foot, FLR_SIDE + (unsigned)i, FLR_INSIDE);
    }
}

/* ---- together ---- */

/* the largest coordinate */
static double extent(const flr_vec3 t[3])
{
    double most = 0;
    for (int i = 0; i < 3; i++)
        most = fmax(most, fmax(fabs(t[i].x), fmax(fabs(t[i].y), fabs(t[i].z))));
    return most;
}

bool flr_triangles_nearest(const flr_vec3 a[3], const flr_vec3 b[3], flr_nearest *best)
{
    const double size = fmax(extent(a), extent(b)), rounding = 16 * DBL_EPSILON * size;
    flr_nearest found = {.distance2 = INFINITY};
    if (!try_sides(a, b, 4 * rounding * size, &found)) {
        try_inside(a, b, true, &found);
        try_inside(b, a, false, &found);
    }
    if (found.distance2 < DBL_MAX && found.distance2 <= rounding * rounding) found.distance2 = 0;
    if (!(found.distance2 < best->distance2)) return false;
    *best = found;
    return true;
}

/* ---- bounds ---- */

static double side_point2(flr_vec3 side, flr_vec3 to)
{
    const double length2 = flr_vec3_length2(side);
    const double t = length2 > 0 ? clamp01(flr_vec3_dot(to, side) / length2) : 0;
    return flr_vec3_length2(flr_vec3_add_scaled(to, -t, side));
}

double flr_triangle_point2(const flr_vec3 t[3], flr_vec3 p)
{
    const flr_vec3 u = flr_vec3_sub(t[1], t[0]), v = flr_vec3_sub(t[2], t[0]),
                   to = flr_vec3_sub(p, t[0]);
    /* over the inside: the height; by way of the normal equations, without a square root */
    const flr_vec3 n = flr_vec3_cross(u, v);
    const double n2 = flr_vec3_length2(n);
    const double y = flr_vec3_dot(flr_vec3_cross(u, to), n),
                 x = flr_vec3_dot(flr_vec3_cross(to, v), n);
    if (n2 > 0 && x >= 0 && y >= 0 && x + y <= n2) {
        const double height = flr_vec3_dot(to, n);
        return height * height / n2;
    }
    return fmin(fmin(side_point2(u, to), side_point2(v, to)),
                side_point2(flr_vec3_sub(t[2], t[1]), flr_vec3_sub(p, t[1])));
}
