/* surface_search.h: a group of points against a surface; each surface_query_*.c compiles it for its own instructions.
 *
 * The group walks down the tree once, to the nearest boxes first. Of each leaf that may be near, the triangles that may be are
 * compared with all points in single precision; those within rounding of the least are then decided upon in double
 * precision. All give the same bits, because the least of these does not depend on which others are compared. */
#ifndef FLR_BATCH_SURFACE_SEARCH_H
#define FLR_BATCH_SURFACE_SEARCH_H

#include "batch/surface_exact.h"

enum { MAX_TRIED = 1024 }; /* triangles compared in single precision before they are decided upon */
/* what single precision may cost, as a share of the lengths involved */
#define SINGLE_ROUNDING 2e-6f
#define FAR_AWAY        1e15f /* metres: farther than anything */

struct flr_surface_scratch {
    _Alignas(64) float d2[MAX_TRIED][FLR_SURFACE_LANES]; /* squared distances of the points */
    float error[MAX_TRIED];                              /* metres: of these distances */
    uint32_t triangle[MAX_TRIED];
    uint32_t near[MAX_TRIED], bits[MAX_TRIED]; /* those that may be nearest to some points; which */
    uint32_t count;
    uint32_t last; /* leaf that was nearest before */
    surface_pairs pairs;
    flr_surface_best best;
};

/* Decides between the triangles that were compared, as far as they may be nearest. */
LANES void decide(const flr_batch_surface *s, const flr_surface_group *g, const points16 *p,
                  flr_surface_scratch *x)
{
    const uint32_t all = (1u << g->count) - 1;
    uint32_t near = 0;
    for (uint32_t k = 0; k < x->count; k++) {
        const float error = x->error[k];
        _Alignas(64) lanes limits;
        EACH_LANE(i) limits[i] = (p->near[i] + error) * (p->near[i] + error);
        const uint32_t bits = below_each(x->d2[k], limits) & all;
        x->near[near] = k, x->bits[near] = bits;
        near += bits != 0;
    }
    for (uint32_t k = 0; k < near; k++) {
        surface_pairs *pairs = &x->pairs;
        for (uint32_t bits = x->bits[k]; bits; bits &= bits - 1) {
            pairs->point[pairs->count] = (uint32_t)__builtin_ctz(bits);
            pairs->triangle[pairs->count++] = x->triangle[x->near[k]];
        }
        if (pairs->count > FLR_SURFACE_PAIRS - FLR_SURFACE_GROUP)
            compare_pairs(s, g, pairs, &x->best);
    }
    compare_pairs(s, g, &x->pairs, &x->best);
    x->count = 0;
}

LANES float length_of(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

LANES void try_leaf(const flr_batch_surface *s, uint32_t leaf, const flr_surface_group *g,
                    points16 *p, flr_surface_scratch *x)
{
    const flr_surface_leaf *l = &s->leaves[leaf];
    const flr_vec3 c = flr_vec3_sub(p->middle, s->leaf_centres[leaf]);
    const float from[3] = {(float)c.x, (float)c.y, (float)c.z};
    const float error = SINGLE_ROUNDING * (length_of(from) + p->r + l->radius);
    _Alignas(64) lanes at[3], best2;
    bound16 b;
    bound_triangles(l, p, from, error, at, &b);
    if (x->count + FLR_SURFACE_LANES > MAX_TRIED) decide(s, g, p, x);
    const uint32_t near = may_be_near(p, &b);
    if (!near) return;
    EACH_LANE(i) best2[i] = FAR_AWAY * FAR_AWAY;
    for (uint32_t bits = near; bits; bits &= bits - 1) {
        const int i = __builtin_ctz(bits);
        const uint32_t to = x->count++;
        distances2(l, i, p, at, x->d2[to], best2);
        x->triangle[to] = l->triangle[i];
        x->error[to] = error;
    }
    EACH_LANE(i) best2[i] = sqrtf(best2[i]) + error;
    _Alignas(64) lanes negative;
    EACH_LANE(i)
    {
        const float known = p->near[i], found = best2[i], least = smaller(known, found);
        p->near[i] = least, negative[i] = -least;
    }
    p->reach = p->r - least_of(negative);
    const float nearest = least_of(b.low);
    if (nearest < p->nearest) p->nearest = nearest, x->last = leaf;
}

LANES void search(const flr_batch_surface *s, const flr_surface_group *g, points16 *p,
                  flr_surface_scratch *x)
{
    struct {
        uint32_t node;
        float low;
    } stack[FLR_SURFACE_DEPTH * FLR_SURFACE_LANES];
    const uint32_t lowest = s->level_first[s->level_count - 1], seed = x->last;
    const float error = SINGLE_ROUNDING * ((float)s->size + length_of(p->from_centre));
    int top = 0;
    try_leaf(s, seed, g, p, x);
    stack[top].node = 0, stack[top++].low = -FAR_AWAY;
    while (top) {
        const uint32_t at = stack[--top].node;
        if (stack[top].low > p->reach) continue;
        const flr_surface_node *n = &s->nodes[at];
        bound16 b;
        bound_boxes(n, p, error, &b);
        uint32_t bits = may_be_near(p, &b);
        if (at < lowest) { /* the nearest child goes on top */
            const int first = top;
            for (; bits; bits &= bits - 1) {
                const int i = __builtin_ctz(bits);
                int to = top++;
                for (; to > first && stack[to - 1].low < b.low[i]; to--) stack[to] = stack[to - 1];
                stack[to].node = n->first + (uint32_t)i;
                stack[to].low = b.low[i];
            }
            continue;
        }
        /* the nearest leaf first */
        const uint32_t first = below(b.low, least_of(b.low)) & bits;
        for (uint32_t turn = 0; turn < 2; turn++)
            for (uint32_t left = turn ? bits & ~first : first; left; left &= left - 1) {
                const int i = __builtin_ctz(left);
                const uint32_t leaf = n->first + (uint32_t)i;
                if (leaf != seed && one_may_be_near(p, &b, i)) try_leaf(s, leaf, g, p, x);
            }
    }
}

LANES void query_group(const flr_batch_surface *s, const flr_surface_group *g,
                       flr_surface_scratch *x)
{
    points16 p;
    flr_vec3 low = g->points[0], high = low;
    for (uint32_t i = 1; i < g->count; i++) {
        low = flr_vec3_min(low, g->points[i]);
        high = flr_vec3_max(high, g->points[i]);
    }
    const flr_vec3 c = flr_vec3_scale(flr_vec3_add(low, high), 0.5);
    p.middle = c;
    p.r = (float)(0.5 * (1 + 1e-6) * flr_vec3_distance(low, high));
    p.from_centre[0] = (float)(c.x - s->centre.x), p.from_centre[1] = (float)(c.y - s->centre.y);
    p.from_centre[2] = (float)(c.z - s->centre.z);
    p.nearest = p.reach = FAR_AWAY;
    /* where there are fewer points, the last is repeated */
    for (uint32_t i = 0; i < FLR_SURFACE_LANES; i++) {
        const flr_vec3 at = g->points[i < g->count ? i : g->count - 1];
        p.v[0][i] = (float)(at.x - c.x), p.v[1][i] = (float)(at.y - c.y);
        p.v[2][i] = (float)(at.z - c.z);
        p.near[i] = FAR_AWAY;
    }
    for (uint32_t i = 0; i < FLR_SURFACE_GROUP; i++) {
        x->best.d2[i] = INFINITY;
        x->best.pair[i] = FLR_NONE;
    }
    x->count = 0;
    search(s, g, &p, x);
    decide(s, g, &p, x);
    finish(s, g, &x->best);
}

#endif
