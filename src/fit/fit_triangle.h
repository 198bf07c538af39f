/* fit_triangle.h: the point of a triangle that is nearest to a given one, in double precision.
 *
 * The point returned lies on the triangle, however thin that is: rounding never makes a distance smaller than it is.
 * Triangles without area count as what is left of them. Fast and plain code share these functions, so that their
 * distances are the same bits. Thread: any; RT safe. */
#ifndef FLR_FIT_TRIANGLE_H
#define FLR_FIT_TRIANGLE_H

#include "feeler/math.h"

static inline double flr_fit_clamp01(double x) { return x > 0 ? (x < 1 ? x : 1) : 0; }

/* The nearest point of the segment from a to a + u. */
static inline flr_vec3 flr_fit_on_segment(flr_vec3 p, flr_vec3 a, flr_vec3 u)
{
    const double uu = flr_vec3_dot(u, u);
    const double s = uu > 0 ? flr_fit_clamp01(flr_vec3_dot(flr_vec3_sub(p, a), u) / uu) : 0;
    return flr_vec3_add_scaled(a, s, u);
}

/* The nearest point of a triangle; `distance2` gets its squared distance. */
static inline flr_vec3 flr_fit_on_triangle(const flr_vec3 t[3], flr_vec3 p, double *distance2)
{
    /* the foot on the plane, where it lies within */
    const flr_vec3 u = flr_vec3_sub(t[1], t[0]), v = flr_vec3_sub(t[2], t[0]),
                   w = flr_vec3_sub(p, t[0]);
    const double uu = flr_vec3_dot(u, u), uv = flr_vec3_dot(u, v), vv = flr_vec3_dot(v, v);
    const flr_vec3 n = flr_vec3_cross(u, v);
    const double nn = flr_vec3_dot(n, n), wu = flr_vec3_dot(w, u), wv = flr_vec3_dot(w, v);
    const double x = (vv * wu - uv * wv) / nn, y = (uu * wv - uv * wu) / nn;
    flr_vec3 best = t[0];
    double best2 = INFINITY;
    if (nn > 0 && x >= 0 && y >= 0 && x + y <= 1) {
        best = flr_vec3_add_scaled(flr_vec3_add_scaled(t[0], x, u), y, v);
        best2 = flr_vec3_length2(flr_vec3_sub(p, best));
    }
    /* that is the nearest point, unless the triangle is so thin that rounding displaces it */
    if (best2 < INFINITY && nn > 1e-3 * uu * vv) {
        *distance2 = best2;
        return best;
    }
    for (int i = 0; i < 3; i++) {
        const flr_vec3 q = flr_fit_on_segment(p, t[i], flr_vec3_sub(t[(i + 1) % 3], t[i]));
        const double d2 = flr_vec3_length2(flr_vec3_sub(p, q));
        if (d2 < best2) best2 = d2, best = q;
    }
    *distance2 = best2;
    return best;
}

/* The solid angle under which a triangle is seen from a point, with the sign of its side (van Oosterom and Strackee). */
static inline double flr_fit_solid_angle(const flr_vec3 t[3], flr_vec3 p)
{
    const flr_vec3 a = flr_vec3_sub(t[0], p), b = flr_vec3_sub(t[1], p), c = flr_vec3_sub(t[2], p);
    const double la = flr_vec3_length(a), lb = flr_vec3_length(b), lc = flr_vec3_length(c);
    const double above = flr_vec3_dot(a, flr_vec3_cross(b, c));
    const double below =
        la * lb * lc + flr_vec3_dot(a, b) * lc + flr_vec3_dot(b, c) * la + flr_vec3_dot(c, a) * lb;
    return 2 * atan2(above, below);
}

#endif
