/* surface_exact.h: points against triangles in double precision, eight pairs at a time, in plain C that compilers turn into
 * vector instructions. Every lane does the same operations in the same order, so that all variants give the same bits. */
#ifndef FLR_BATCH_SURFACE_EXACT_H
#define FLR_BATCH_SURFACE_EXACT_H

#include "batch/surface_lanes.h"

enum { PAIRS_AT_ONCE = 8 }; /* at a time */

#define DOT(a, b) (a[0] * b[0] + a[1] * b[1] + a[2] * b[2])

/* The regions around a triangle, Ericson 2005, section 5.1.5: the first that holds counts, so the last comes first here. */
LANES void compare_pair(surface_pairs *e, uint32_t i)
{
    double a[3], b[3], c[3], ab[3], ac[3], bc[3], ap[3], bp[3], cp[3];
    for (int k = 0; k < 3; k++) {
        a[k] = e->corner[0][k][i], b[k] = e->corner[1][k][i], c[k] = e->corner[2][k][i];
        ab[k] = b[k] - a[k], ac[k] = c[k] - a[k], bc[k] = c[k] - b[k];
        ap[k] = e->p[k][i] - a[k], bp[k] = e->p[k][i] - b[k], cp[k] = e->p[k][i] - c[k];
    }
    const double normal[3] = {ab[1] * ac[2] - ab[2] * ac[1], ab[2] * ac[0] - ab[0] * ac[2],
                              ab[0] * ac[1] - ab[1] * ac[0]};
    const double ab2 = DOT(ab, ab), ac2 = DOT(ac, ac), bc2 = DOT(bc, bc);
    const double longer2 = ac2 > bc2 ? ac2 : bc2, most2 = ab2 > longer2 ? ab2 : longer2;
    e->slender[i] = DOT(normal, normal) > FLR_SURFACE_SLENDER2 * most2 * most2 ? 0.0 : 1.0;

    const double d1 = DOT(ab, ap), d2 = DOT(ac, ap), d3 = DOT(ab, bp), d4 = DOT(ac, bp);
    const double d5 = DOT(ab, cp), d6 = DOT(ac, cp);
    const double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    const double from_b = d4 - d3, from_c = d5 - d6;
    const bool on_bc = (va <= 0) & (from_b >= 0) & (from_c >= 0);
    const bool on_ac = (vb <= 0) & (d2 >= 0) & (d6 <= 0);
    const bool on_ab = (vc <= 0) & (d1 >= 0) & (d3 <= 0);
    const bool at_c = (d6 >= 0) & (d5 <= d6), at_b = (d3 >= 0) & (d4 <= d3);
    const bool at_a = (d1 <= 0) & (d2 <= 0);

    /* inside, or on a side: from a corner along a side, and inside along another */
    const double scale = 1 / (va + vb + vc), along = vb * scale, other = vc * scale;
    double over = on_bc ? from_b : 0.0, under = on_bc ? from_b + from_c : 1.0;
    double part = on_bc ? 4.0 : 6.0;
    over = on_ac ? d2 : over, under = on_ac ? d2 - d6 : under, part = on_ac ? 5.0 : part;
    over = on_ab ? d1 : over, under = on_ab ? d1 - d3 : under, part = on_ab ? 3.0 : part;
    const double share = over / under;
    part = at_c ? 2.0 : part;
    part = at_b ? 1.0 : part;
    part = at_a ? 0.0 : part;
    double away[3];
    for (int k = 0; k < 3; k++) {
        double start = on_bc ? b[k] : a[k], way = on_bc ? bc[k] : ab[k];
        start = on_ac ? a[k] : start, way = on_ac ? ac[k] : way;
        start = on_ab ? a[k] : start, way = on_ab ? ab[k] : way;
        const double in = (a[k] + along * ab[k]) + other * ac[k], on = start + share * way;
        double q = part > 5.5 ? in : on;
        q = at_c ? c[k] : q;
        q = at_b ? b[k] : q;
        q = at_a ? a[k] : q;
        e->nearest[k][i] = q;
        away[k] = e->p[k][i] - q;
    }
    e->d2[i] = DOT(away, away);
    e->side[i] = DOT(away, normal);
    e->part[i] = part;
}

/* orders numbers from 0 on as they are */
LANES uint64_t order_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Compares all pairs and forgets them. */
LANES void compare_pairs(const flr_batch_surface *s, const flr_surface_group *g, surface_pairs *e,
                         flr_surface_best *best)
{
    const uint32_t count = e->count;
    if (!count) return;
    for (uint32_t k = 0; k < count || k % PAIRS_AT_ONCE; k++) {
        const uint32_t from = k < count ? k : 0; /* fills up the last eight */
        const flr_vec3 p = g->points[e->point[from]];
        const uint32_t *v = s->mesh->triangles[e->triangle[from]].v;
        e->p[0][k] = p.x, e->p[1][k] = p.y, e->p[2][k] = p.z;
        for (int n = 0; n < 3; n++) {
            const flr_vec3 corner = s->mesh->vertices[v[n]];
            e->corner[n][0][k] = corner.x, e->corner[n][1][k] = corner.y;
            e->corner[n][2][k] = corner.z;
        }
    }
    for (uint32_t k = 0; k < count; k += PAIRS_AT_ONCE)
        for (uint32_t i = 0; i < PAIRS_AT_ONCE; i++) compare_pair(e, k + i);
    for (uint32_t k = 0; k < count; k++)
        if (e->slender[k] > 0) flr_surface_slender(s, e, k);
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t i = e->point[k], t = e->triangle[k], before = best->triangle[i];
        const uint64_t d2 = order_of(e->d2[k]), least = order_of(best->d2[i]);
        const bool nearer = (d2 < least) | ((d2 == least) & (t < before));
        const uint64_t kept = nearer ? d2 : least;
        memcpy(&best->d2[i], &kept, sizeof kept);
        best->triangle[i] = nearer ? t : before;
        best->pair[i] = nearer ? k : best->pair[i];
    }
    for (uint32_t i = 0; i < g->count; i++) {
        const uint32_t k = best->pair[i];
        if (k == FLR_NONE) continue;
        for (int a = 0; a < 3; a++) best->nearest[a][i] = e->nearest[a][k];
        best->side[i] = e->side[k];
        best->part[i] = (uint32_t)e->part[k];
        best->pair[i] = FLR_NONE;
    }
    e->count = 0;
}

/* Gives distances their signs, and the answers to the group. */
LANES void finish(const flr_batch_surface *s, const flr_surface_group *g,
                  const flr_surface_best *best)
{
    static const flr_vec3 none = {0, 0, 0};
    double normal[3][FLR_SURFACE_GROUP], distance[FLR_SURFACE_GROUP];
    const double outward = s->outward;
    for (uint32_t i = 0; i < g->count; i++) {
        const uint32_t t = best->triangle[i], part = best->part[i];
        const flr_vec3 *n = &none;
        if (s->outward && part < 6)
            n = part < 3 ? &s->corner_normals[s->mesh->triangles[t].v[part]]
                         : &s->side_normals[3 * (size_t)t + part - 3];
        normal[0][i] = n->x, normal[1][i] = n->y, normal[2][i] = n->z;
    }
    for (uint32_t i = 0; i < FLR_SURFACE_GROUP; i++) {
        const flr_vec3 p = g->points[i < g->count ? i : 0];
        const double away[3] = {p.x - best->nearest[0][i], p.y - best->nearest[1][i],
                                p.z - best->nearest[2][i]};
        const double across =
            away[0] * normal[0][i] + away[1] * normal[1][i] + away[2] * normal[2][i];
        const double side = best->part[i] < 6 ? across : best->side[i], d = sqrt(best->d2[i]);
        distance[i] = side * outward < 0 ? -d : d;
    }
    for (uint32_t i = 0; i < g->count; i++) {
        if (!s->outward && flr_fit_inside(s->fit, g->points[i])) distance[i] = -distance[i];
        g->distances[i] = distance[i];
        g->nearest[i] =
            flr_vec3_make(best->nearest[0][i], best->nearest[1][i], best->nearest[2][i]);
        g->triangles[i] = best->triangle[i];
    }
}

#endif
