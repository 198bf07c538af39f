/* How two triangles lie to each other. */
#include "mesh/triangle.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* a triangle's plane, seen from its first corner */
typedef struct triangle_plane {
    flr_vec3 origin, normal; /* unit */
    double doubt;            /* error of a distance, per metre from the origin */
    bool valid;
} triangle_plane;

static double larger(double a, double b) { return a > b ? a : b; }

/* squared */
static double longest_side2(const flr_vec3 t[3])
{
    return larger(larger(flr_vec3_length2(flr_vec3_sub(t[1], t[0])),
                         flr_vec3_length2(flr_vec3_sub(t[2], t[1]))),
                  flr_vec3_length2(flr_vec3_sub(t[0], t[2])));
}

static triangle_plane plane_of(const flr_vec3 t[3], double tolerance)
{
    const flr_vec3 u = flr_vec3_sub(t[1], t[0]), v = flr_vec3_sub(t[2], t[0]);
    const flr_vec3 n = flr_vec3_cross(u, v);
    const double twice2 = flr_vec3_length2(n), spread2 = flr_vec3_length2(u) * flr_vec3_length2(v);
    const double rounding = 8 * DBL_EPSILON;
    triangle_plane p = {.origin = t[0]};
    /* too thin to have a plane */
    if (!(twice2 > rounding * rounding * spread2) ||
        twice2 <= tolerance * tolerance * longest_side2(t))
        return p;
    const double twice = sqrt(twice2);
    p.normal = flr_vec3_scale(n, 1 / twice);
    p.doubt = rounding * sqrt(spread2) / twice;
    p.valid = true;
    return p;
}

/* Which side of a plane each corner is on, -1, 0, 1, and how far, metres. */
typedef struct sides {
    int side[3];
    double distance[3];
    bool above, below; /* some corner is */
} sides;

static sides sides_of(const triangle_plane *p, const flr_vec3 t[3], double tolerance)
{
    sides s = {.above = false};
    for (int i = 0; i < 3; i++) {
        const flr_vec3 d = flr_vec3_sub(t[i], p->origin);
        const double bound = larger(tolerance, p->doubt * (fabs(d.x) + fabs(d.y) + fabs(d.z)));
        s.distance[i] = flr_vec3_dot(p->normal, d);
        s.side[i] = s.distance[i] > bound ? 1 : s.distance[i] < -bound ? -1 : 0;
        s.above = s.above || s.side[i] > 0;
        s.below = s.below || s.side[i] < 0;
    }
    return s;
}

/* where a triangle with corners on both sides of a plane meets it: two points */
static void section(const flr_vec3 t[3], const sides *s, flr_vec3 ends[2])
{
    int count = 0;
    for (int i = 0; i < 3 && count < 2; i++)
        if (s->side[i] == 0) ends[count++] = t[i];
    for (int i = 0; i < 3 && count < 2; i++) {
        const int j = (i + 1) % 3;
        if (s->side[i] * s->side[j] < 0)
            ends[count++] =
                flr_vec3_lerp(t[i], t[j], s->distance[i] / (s->distance[i] - s->distance[j]));
    }
}

static flr_triangles cross(const flr_vec3 a[3], const sides *a_sides, const triangle_plane *a_plane,
                           const flr_vec3 b[3], const sides *b_sides, const triangle_plane *b_plane,
                           double tolerance, flr_vec3 *where)
{
    const flr_vec3 along = flr_vec3_cross(a_plane->normal, b_plane->normal);
    const double sine = flr_vec3_length(along);
    if (!(sine > 1e-14)) return FLR_TRIANGLES_APART;
    const flr_vec3 direction = flr_vec3_scale(along, 1 / sine);
    flr_vec3 ends[4];
    section(a, a_sides, ends);
    section(b, b_sides, ends + 2);

    /* both pieces lie on the common line: compare them as intervals */
    double at[4], size = 0;
    for (int i = 0; i < 4; i++) {
        const flr_vec3 d = flr_vec3_sub(ends[i], ends[0]);
        at[i] = flr_vec3_dot(direction, d);
        size = larger(size, flr_vec3_length(d));
    }
    const double low = larger(fmin(at[0], at[1]), fmin(at[2], at[3]));
    const double high = fmin(larger(at[0], at[1]), larger(at[2], at[3]));
    const double doubt = (a_plane->doubt + b_plane->doubt + 8 * DBL_EPSILON) * size / sine;
    if (!(high - low > larger(tolerance, doubt))) return FLR_TRIANGLES_APART;
    if (where) *where = flr_vec3_add_scaled(ends[0], 0.5 * (low + high), direction);
    return FLR_TRIANGLES_CROSS;
}

/* ---- in one plane ---- */

typedef struct point2 {
    double x, y;
} point2;

/* keeps the part of a polygon left of the line from p to q; one corner more at most */
static int clip_left(const point2 *in, int count, point2 p, point2 q, point2 *out)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const point2 a = in[i], b = in[(i + 1) % count];
        const double da = (q.x - p.x) * (a.y - p.y) - (q.y - p.y) * (a.x - p.x);
        const double db = (q.x - p.x) * (b.y - p.y) - (q.y - p.y) * (b.x - p.x);
        if (da >= 0) out[kept++] = a;
        if ((da >= 0) == (db >= 0)) continue;
        const double t = da / (da - db);
        out[kept++] = (point2){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
    }
    return kept;
}

static flr_triangles overlap(const triangle_plane *p, const flr_vec3 base[3],
                             const flr_vec3 other[3], double tolerance, flr_vec3 *where)
{
    /* coordinates in the base triangle's plane, in which it turns left */
    const flr_vec3 ex = flr_vec3_normalize(flr_vec3_sub(base[1], base[0]));
    const flr_vec3 ey = flr_vec3_cross(p->normal, ex);
    point2 corners[3], polygon[9], clipped[9];
    double size = 0;
    for (int i = 0; i < 3; i++) {
        const flr_vec3 c = flr_vec3_sub(base[i], base[0]), d = flr_vec3_sub(other[i], base[0]);
        corners[i] = (point2){flr_vec3_dot(c, ex), flr_vec3_dot(c, ey)};
        polygon[i] = (point2){flr_vec3_dot(d, ex), flr_vec3_dot(d, ey)};
        size = larger(size, larger(flr_vec3_length(c), flr_vec3_length(d)));
    }
    int count = 3;
    for (int i = 0; i < 3 && count > 0; i++) {
        count = clip_left(polygon, count, corners[i], corners[(i + 1) % 3], clipped);
        for (int k = 0; k < count; k++) polygon[k] = clipped[k];
    }

    /* the common piece: twice its area, its middle, its length; area over length is its width */
    double twice = 0, length = 0, x = 0, y = 0;
    for (int i = 0; i < count; i++) {
        const point2 a = polygon[i], b = polygon[(i + 1) % count], o = polygon[0];
        twice += (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
        length = larger(length, sqrt((a.x - o.x) * (a.x - o.x) + (a.y - o.y) * (a.y - o.y)));
        x += a.x / count, y += a.y / count;
    }
    const double doubt = 64 * DBL_EPSILON * size + p->doubt * size;
    if (!(fabs(twice) > 2 * length * larger(tolerance, doubt))) return FLR_TRIANGLES_APART;
    if (where) *where = flr_vec3_add_scaled(flr_vec3_add_scaled(base[0], x, ex), y, ey);
    return FLR_TRIANGLES_OVERLAP;
}

flr_triangles flr_triangles_meet(const flr_vec3 a[3], const flr_vec3 b[3], double tolerance,
                                 flr_vec3 *where)
{
    const triangle_plane a_plane = plane_of(a, tolerance);
    if (!a_plane.valid) return FLR_TRIANGLES_APART;
    const sides b_sides = sides_of(&a_plane, b, tolerance);
    const bool b_flat = !b_sides.above && !b_sides.below;
    if (!b_flat && b_sides.above != b_sides.below && b_sides.side[0] && b_sides.side[1] &&
        b_sides.side[2])
        return FLR_TRIANGLES_APART;
    const triangle_plane b_plane = plane_of(b, tolerance);
    if (!b_plane.valid) return FLR_TRIANGLES_APART;
    if (b_flat) return overlap(&a_plane, a, b, tolerance, where);
    const sides a_sides = sides_of(&b_plane, a, tolerance);
    if (!a_sides.above && !a_sides.below) return overlap(&b_plane, b, a, tolerance, where);
    if (!(a_sides.above && a_sides.below && b_sides.above && b_sides.below))
        return FLR_TRIANGLES_APART;
    return cross(a, &a_sides, &a_plane, b, &b_sides, &b_plane, tolerance, where);
}
