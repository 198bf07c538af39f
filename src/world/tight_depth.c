/* how deep parts are in each other at the start: samples of a faceted cylinder in a faceted bore may miss where it is deepest
 *
 * A nominal fit, such as a rod of 10 mm in a hole of 10 mm, overlaps only because both are made of flat facets. Edges of one are
 * then deepest in the other, between their ends. Along each edge the deepest point is bisected for: the depth changes by no more than
 * the place does, so a piece that cannot be deeper than what was found is left out. */
#include <math.h>

#include "world/tight_internal.h"

enum {
    DEPTH_QUERIES = 200000, /* of points, for a pair: about half a second */
    DEPTH_STACK = 64
};
#define DEPTH_FINE  1e-6 /* metres: the depth is that fine … */
#define DEPTH_SHARE 0.01 /* … or this share of it */

/* Edges of one part in the other, whose frame is used. */
typedef struct depth_search {
    const flr_fit *other;
    double most;    /* metres: what is deeper is not looked for */
    double deepest; /* metres, found so far */
    uint32_t queries;
} depth_search;

/* A piece of an edge. */
typedef struct depth_piece {
    flr_vec3 from, to;
} depth_piece;

/* Puts what of the edge is within the box into `piece`. False: nothing is. */
static bool clip(flr_vec3 from, flr_vec3 to, flr_box3 box, depth_piece *piece)
{
    const flr_vec3 way = flr_vec3_sub(to, from);
    const double start[3] = {from.x, from.y, from.z}, d[3] = {way.x, way.y, way.z},
                 low[3] = {box.low.x, box.low.y, box.low.z},
                 high[3] = {box.high.x, box.high.y, box.high.z};
    double first = 0, last = 1;
    for (int k = 0; k < 3; k++) {
        if (d[k] == 0) {
            if (start[k] < low[k] || start[k] > high[k]) return false;
            continue;
        }
        const double enters = (low[k] - start[k]) / d[k], leaves = (high[k] - start[k]) / d[k];
        first = fmax(first, fmin(enters, leaves));
        last = fmin(last, fmax(enters, leaves));
    }
    piece->from = flr_vec3_add_scaled(from, first, way);
    piece->to = flr_vec3_add_scaled(from, last, way);
    return first <= last;
}

static void search_edge(depth_search *s, depth_piece edge)
{
    depth_piece stack[DEPTH_STACK];
    uint32_t count = 1;
    stack[0] = edge;
    while (count && s->queries < DEPTH_QUERIES) {
        const depth_piece p = stack[--count];
        const flr_vec3 middle = flr_vec3_scale(flr_vec3_add(p.from, p.to), 0.5);
        const double half = 0.5 * flr_vec3_distance(p.from, p.to);
        // no surface that near: all of it is outside, or deeper than is asked for
        const flr_fit_point_result r = flr_fit_point(s->other, middle, s->most + half);
        s->queries++;
        if (!r.found) continue;
        if (-r.distance <= s->most) s->deepest = fmax(s->deepest, -r.distance);
        const double fine = fmax(DEPTH_FINE, DEPTH_SHARE * s->deepest);
        if (-r.distance + half <= s->deepest + fine || count + 2 > DEPTH_STACK) continue;
        stack[count++] = (depth_piece){p.from, middle};
        stack[count++] = (depth_piece){middle, p.to};
    }
}

/* All edges of a part in the other; each of a closed mesh once. */
static void search_edges(depth_search *s, const flr_fit *part, flr_pose T_other_part)
{
    const flr_box3 box = flr_fit_get_info(s->other).bounds;
    const uint32_t count = flr_fit_get_info(part).triangles;
    for (uint32_t i = 0; i < count && s->queries < DEPTH_QUERIES; i++) {
        flr_vec3 t[3];
        flr_fit_triangle(part, i, t);
        for (int k = 0; k < 3; k++) t[k] = flr_pose_apply(T_other_part, t[k]);
        for (int k = 0; k < 3; k++) {
            const flr_vec3 from = t[k], to = t[(k + 1) % 3];
            const bool again = from.x != to.x   ? from.x > to.x
                               : from.y != to.y ? from.y > to.y
                                                : from.z > to.z;
            depth_piece piece;
            if (!again && clip(from, to, box, &piece)) search_edge(s, piece);
        }
    }
}

double flr_tight_depth(const flr_fit *a, const flr_fit *b, flr_pose T_a_b, double most)
{
    depth_search in_a = {.other = a, .most = most};
    search_edges(&in_a, b, T_a_b);
    depth_search in_b = {.other = b, .most = most, .deepest = in_a.deepest};
    search_edges(&in_b, a, flr_pose_inverse(T_a_b));
    return in_b.deepest;
}
