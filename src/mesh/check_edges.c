/* Non-manifold edges and vertices, flipped neighbours. */
#include <stdlib.h>

#include "base/sets.h"
#include "mesh/checking.h"

static flr_vec3 edge_middle(const flr_checking *c, uint32_t edge)
{
    const flr_edge e = c->adjacency->edges[edge];
    return flr_vec3_lerp(c->mesh->vertices[e.v[0]], c->mesh->vertices[e.v[1]], 0.5);
}

static uint32_t first_edge_of(const flr_adjacency *a, flr_edge_kind kind)
{
    uint32_t e = 0;
    while (a->edge_kind[e] != kind) e++;
    return e;
}

static void check_nonmanifold_edges(flr_checking *c)
{
    const uint32_t count = c->adjacency->nonmanifold_count;
    if (count == 0) return;
    flr_check_finding *f = flr_checking_add(c, FLR_CHECK_NONMANIFOLD_EDGE, FLR_CHECK_NOTE, count);
    const uint32_t edge = first_edge_of(c->adjacency, FLR_EDGE_NONMANIFOLD);
    flr_checking_place(f, flr_checking_edge_triangle(c, edge), edge_middle(c, edge), 0);
    flr_checking_say(f, "%u edge%s shared by three triangles or more, the first at %s.", count,
                     flr_noun(count, " is", "s are"), FLR_PLACE_TEXT(f->place));
    flr_checking_effect(f, "Does not matter for voxels. Volume and mass are estimates where walls "
                           "without thickness or double walls meet a solid.");
}

static void check_flipped(flr_checking *c)
{
    const uint32_t count = c->adjacency->flipped_count;
    if (count == 0) return;
    flr_check_finding *f = flr_checking_add(c, FLR_CHECK_FLIPPED, FLR_CHECK_WARNING, count);
    const uint32_t edge = first_edge_of(c->adjacency, FLR_EDGE_FLIPPED);
    flr_checking_place(f, flr_checking_edge_triangle(c, edge), edge_middle(c, edge), 0);
    flr_checking_say(f,
                     "The triangles on both sides of %u edge%s disagree about which side is "
                     "outside, first at %s.",
                     count, flr_noun(count, "", "s"), FLR_PLACE_TEXT(f->place));
    flr_checking_effect(f, "Does not matter for filling, which does not look at sides. Matters for "
                           "the contact normals of a moving part and for its mass. Unify the "
                           "normals in the CAD program.");
}

/* Corners of neighbouring triangles at the same vertex belong to one fan. A vertex with more than
 * one fan joins pieces of surface in a point. */
static flr_result check_vertices(flr_checking *c)
{
    const flr_adjacency *a = c->adjacency;
    const flr_mesh *mesh = c->mesh;
    uint32_t *fan = flr_singletons(3 * a->triangle_count);
    uint8_t *fans = calloc(a->vertex_count, 1);
    if (!fan || !fans) {
        free(fan);
        free(fans);
        return flr_checking_no_memory(c);
    }
    for (uint32_t t = 0; t < a->triangle_count; t++)
        for (uint32_t k = 0; k < 3; k++) /* a corner named twice is one */
            if (mesh->triangles[t].v[k] == mesh->triangles[t].v[(k + 1) % 3])
                flr_join(fan, 3 * t + k, 3 * t + (k + 1) % 3);
    for (uint32_t e = 0; e < a->edge_count; e++)
        for (uint32_t i = a->edge_first[e] + 1; i < a->edge_first[e + 1]; i++) {
            const uint32_t s = a->edge_sides[i - 1], t = a->edge_sides[i];
            const uint32_t s_end = s - s % 3 + (s + 1) % 3, t_end = t - t % 3 + (t + 1) % 3;
            const bool same = mesh->triangles[s / 3].v[s % 3] == mesh->triangles[t / 3].v[t % 3];
            flr_join(fan, s, same ? t : t_end);
            flr_join(fan, s_end, same ? t_end : t);
        }

    uint32_t count = 0, first = FLR_NONE;
    for (uint32_t i = 0; i < 3 * a->triangle_count; i++) {
        const uint32_t v = mesh->triangles[i / 3].v[i % 3];
        if (fan[i] != i || fans[v] == 2 || ++fans[v] < 2) continue;
        count++;
        if (first == FLR_NONE || v < mesh->triangles[first / 3].v[first % 3]) first = i;
    }
    free(fan);
    free(fans);
    if (count == 0) return FLR_OK;
    flr_check_finding *f = flr_checking_add(c, FLR_CHECK_NONMANIFOLD_VERTEX, FLR_CHECK_NOTE, count);
    flr_checking_place(f, first / 3, mesh->vertices[mesh->triangles[first / 3].v[first % 3]], 0);
    flr_checking_say(f, "At %u vert%s pieces of the surface touch in a point only, first at %s.",
                     count, flr_noun(count, "ex", "ices"), FLR_PLACE_TEXT(f->place));
    flr_checking_effect(f, "Does not matter for voxels.");
    return FLR_OK;
}

flr_result flr_check_edges(flr_checking *c)
{
    check_nonmanifold_edges(c);
    check_flipped(c);
    return check_vertices(c);
}
