/* one point: its nearest triangle, and on which side it is */
#include <math.h>

#include "fit/fit_internal.h"
#include "fit/fit_triangle.h"

/* a box that is still to be opened: an entry of the level below, or a patch */
typedef struct waiting {
    double bound2;
    uint32_t level, entry; /* level 0: entry is a patch */
} waiting;

typedef struct search {
    const flr_fit *fit;
    flr_vec3 point;
    double best2, slack;
    flr_vec3 nearest;
    uint32_t triangle;
} search;

/* how far x is outside of an interval; fmax() would be called, not inlined */
static inline double outside(double low, double high, double x)
{
    return x < low ? low - x : x > high ? x - high : 0;
}

/* Squared distance of a point to box i. */
static inline double box_bound2(const flr_fit_boxes *b, int i, flr_vec3 p)
{
    const double x = outside((double)b->low[0][i], (double)b->high[0][i], p.x),
                 y = outside((double)b->low[1][i], (double)b->high[1][i], p.y),
                 z = outside((double)b->low[2][i], (double)b->high[2][i], p.z);
    return x * x + y * y + z * z;
}

static void search_patch(search *s, const flr_fit_patch *patch)
{
    const flr_fit *fit = s->fit;
    const flr_vec3 p = flr_vec3_sub(s->point, patch->centre);
    for (uint32_t i = 0; i < patch->faces; i++) {
        const flr_fit_face *f = &fit->faces[patch->first_face + i];
        /* the plane alone tells most of them apart */
        const flr_fit_plane *plane = &fit->planes[patch->first_face + i];
        const double height = (double)plane->n[0] * p.x + (double)plane->n[1] * p.y +
                              (double)plane->n[2] * p.z - (double)plane->o;
        const double bound = fabs(height) - s->slack - 4e-7 * flr_vec3_length(p);
        if (bound > 0 && bound * bound > s->best2) continue;
        flr_vec3 t[3];
        double d2;
        flr_fit_triangle(fit, f->triangle, t);
        const flr_vec3 q = flr_fit_on_triangle(t, s->point, &d2);
        if (d2 < s->best2 || (d2 == s->best2 && f->triangle < s->triangle))
            s->best2 = d2, s->nearest = q, s->triangle = f->triangle;
    }
}

static void run(search *s)
{
    const flr_fit *fit = s->fit;
    waiting stack[FLR_FIT_STACK];
    unsigned depth = 1;
    stack[0] = (waiting){0, fit->levels, 0};
    while (depth) {
        const waiting now = stack[--depth];
        if (now.bound2 > s->best2) continue;
        if (now.level == 0) {
            search_patch(s, &fit->patches[now.entry]);
            continue;
        }
        const flr_fit_boxes *b = &fit->level[now.level - 1][now.entry];
        const unsigned bottom = depth;
        for (int i = 0; i < FLR_FIT_WIDE && b->low[0][i] <= b->high[0][i]; i++) {
            const double bound2 = box_bound2(b, i, s->point);
            if (bound2 > s->best2) continue;
            /* the nearest last */
            unsigned at = depth++;
            for (; at > bottom && stack[at - 1].bound2 < bound2; at--) stack[at] = stack[at - 1];
            stack[at] = (waiting){bound2, now.level - 1, now.entry * FLR_FIT_WIDE + (uint32_t)i};
        }
    }
}

flr_fit_near_result flr_fit_nearest(const flr_fit *fit, flr_vec3 point, double reach)
{
    search s = {.fit = fit,
                .point = point,
                .best2 = reach * reach * (1 + 4 * DBL_EPSILON),
                .slack = flr_fit_rounding(flr_fit_extent(fit) + flr_vec3_length(point)),
                .triangle = FLR_NONE};
    run(&s);
    return (flr_fit_near_result){sqrt(s.best2), s.nearest, s.triangle};
}

flr_fit_point_result flr_fit_point(const flr_fit *fit, flr_vec3 point, double reach)
{
    flr_fit_point_result r = {.distance = INFINITY, .nearest = point, .triangle = FLR_NONE};
    if (!flr_vec3_is_finite(point) || !(reach >= 0)) return r;
    r.error = flr_fit_rounding(flr_fit_extent(fit) + flr_vec3_length(point));
    const flr_fit_near_result near = flr_fit_nearest(fit, point, reach);
    if (near.triangle == FLR_NONE || !(near.distance <= reach)) return r;
    flr_vec3 t[3];
    flr_fit_triangle(fit, near.triangle, t);
    const bool inside = flr_fit_inside_by(fit, point, near.nearest, near.triangle);
    r.found = true;
    r.nearest = near.nearest;
    r.triangle = near.triangle;
    r.direction = flr_fit_direction(t, point, near.nearest, inside);
    r.distance = inside ? -near.distance : near.distance;
    return r;
}

/* ---- which side ---- */

/* Is a point on a triangle, up to the slack? Its foot on the plane of a long triangle may be off by more than that, its foot on
 * a side is not. */
static bool is_on(const flr_vec3 t[3], flr_vec3 q, double slack)
{
    double d2;
    flr_fit_on_triangle(t, q, &d2);
    for (int i = 0; i < 3 && d2 > slack * slack; i++) {
        const flr_vec3 on = flr_fit_on_segment(q, t[i], flr_vec3_sub(t[(i + 1) % 3], t[i]));
        d2 = flr_vec3_length2(flr_vec3_sub(q, on));
    }
    return d2 <= slack * slack;
}

/* The angle that a triangle has around a point of it: its corner's, a half turn on a side, a whole turn inside. */
static double angle_at(const flr_vec3 t[3], flr_vec3 q, double slack)
{
    for (int i = 0; i < 3; i++) {
        if (flr_vec3_distance(q, t[i]) > slack) continue;
        const flr_vec3 u = flr_vec3_sub(t[(i + 1) % 3], t[i]),
                       v = flr_vec3_sub(t[(i + 2) % 3], t[i]);
        return atan2(flr_vec3_length(flr_vec3_cross(u, v)), flr_vec3_dot(u, v));
    }
    for (int i = 0; i < 3; i++) {
        const flr_vec3 on = flr_fit_on_segment(q, t[i], flr_vec3_sub(t[(i + 1) % 3], t[i]));
        if (flr_vec3_distance(q, on) <= slack) return 3.14159265358979323846;
    }
    return 2 * 3.14159265358979323846;
}

/* The normals of all triangles that meet in a point, weighted by their angles there (Baerentzen and Aanaes 2005): for
 * the nearest point of a closed surface, its side is that of the point asked about. */
static flr_vec3 pseudonormal(const flr_fit *fit, flr_vec3 q, double slack)
{
    waiting stack[FLR_FIT_STACK];
    unsigned depth = 1;
    flr_vec3 sum = flr_vec3_zero();
    stack[0] = (waiting){0, fit->levels, 0};
    while (depth) {
        const waiting now = stack[--depth];
        if (now.level == 0) {
            const flr_fit_patch *patch = &fit->patches[now.entry];
            for (uint32_t i = 0; i < patch->faces; i++) {
                flr_vec3 t[3];
                flr_fit_triangle(fit, fit->faces[patch->first_face + i].triangle, t);
                if (!is_on(t, q, slack)) continue;
                const flr_vec3 n = flr_vec3_normalize(
                    flr_vec3_cross(flr_vec3_sub(t[1], t[0]), flr_vec3_sub(t[2], t[0])));
                sum = flr_vec3_add_scaled(sum, angle_at(t, q, slack), n);
            }
            continue;
        }
        const flr_fit_boxes *b = &fit->level[now.level - 1][now.entry];
        for (int i = 0; i < FLR_FIT_WIDE && b->low[0][i] <= b->high[0][i]; i++)
            if (box_bound2(b, i, q) <= slack * slack)
                stack[depth++] =
                    (waiting){0, now.level - 1, now.entry * FLR_FIT_WIDE + (uint32_t)i};
    }
    return sum;
}

/* Does the nearest triangle tell on which side a point is? If the mesh has a border, only for points that are near. */
static bool triangle_tells(const flr_fit *fit, uint32_t triangle, const flr_vec3 t[3],
                           flr_vec3 away)
{
    if (!fit->sides[triangle]) return false;
    if (flr_fit_is_closed(fit)) return true;
    const double size2 = fmax(flr_vec3_length2(flr_vec3_sub(t[1], t[0])),
                              flr_vec3_length2(flr_vec3_sub(t[2], t[0])));
    return flr_vec3_length2(away) < size2;
}

/* Is a point of a triangle farther from its sides than the slack for sure? */
static bool well_within(const flr_vec3 t[3], flr_vec3 q, double slack)
{
    for (int i = 0; i < 3; i++) {
        const flr_vec3 side = flr_vec3_sub(t[(i + 1) % 3], t[i]);
        const double area2 = flr_vec3_length2(flr_vec3_cross(side, flr_vec3_sub(q, t[i])));
        if (!(area2 > 4 * slack * slack * flr_vec3_length2(side))) return false;
    }
    return true;
}

static bool is_corner(const flr_vec3 t[3], flr_vec3 q, double slack)
{
    for (int i = 0; i < 3; i++)
        if (flr_vec3_distance(q, t[i]) <= slack) return true;
    return false;
}

bool flr_fit_inside_by(const flr_fit *fit, flr_vec3 point, flr_vec3 nearest, uint32_t triangle)
{
    const flr_vec3 away = flr_vec3_sub(point, nearest);
    flr_vec3 t[3];
    if (!flr_fit_may_be_inside(fit, point)) return false;
    flr_fit_triangle(fit, triangle, t);
    if (!triangle_tells(fit, triangle, t, away)) return flr_fit_inside(fit, point);
    const double slack = flr_fit_rounding(flr_fit_extent(fit)), sign = fit->sides[triangle];
    if (well_within(t, nearest, slack) || angle_at(t, nearest, slack) > 6) {
        const flr_vec3 n = flr_vec3_cross(flr_vec3_sub(t[1], t[0]), flr_vec3_sub(t[2], t[0]));
        return sign * flr_vec3_dot(away, n) < 0;
    }
    /* pieces that touch in a corner have sides of their own there */
    if (!fit->info.solid && is_corner(t, nearest, slack)) return flr_fit_inside(fit, point);
    return sign * flr_vec3_dot(away, pseudonormal(fit, nearest, slack)) < 0;
}

bool flr_fit_inside(const flr_fit *fit, flr_vec3 point)
{
    return flr_fit_may_be_inside(fit, point) && fabs(flr_fit_winding(fit, point)) > 0.5;
}
