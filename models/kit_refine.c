/* kit_refine.c: more triangles for the same surfaces, to meet a count exactly. */
#include "base/array.h"
#include "models/kit.h"

#include <stdlib.h>
#include <string.h>

/* an edge to split, from its smaller to its larger vertex */
typedef struct kit_refine_edge {
    uint32_t a, b;
    uint32_t middle;
    double length2;
} kit_refine_edge;

typedef struct edge_list {
    kit_refine_edge *edges;
    size_t count, room;
    uint32_t *slots; /* hash table of index + 1; 0: empty */
    size_t mask;
} edge_list;

static double length2(const flr_kit *kit, uint32_t a, uint32_t b)
{
    flr_vec3 d = v3_sub(kit->vertices[a], kit->vertices[b]);
    return v3_dot(d, d);
}

/* longest first; ties by vertex, so that the order is one and the same everywhere */
static int compare(const void *left, const void *right)
{
    const kit_refine_edge *x = left, *y = right;
    if (x->length2 != y->length2) return x->length2 > y->length2 ? -1 : 1;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

/* all edges longer than the limit: in a closed component each is once used from a to b, a < b */
static bool collect(flr_kit *kit, double limit2, edge_list *list)
{
    list->count = 0;
    for (size_t i = 0; i < kit->triangle_count; i++)
        for (int k = 0; k < 3; k++) {
            uint32_t a = kit->triangles[i].v[k], b = kit->triangles[i].v[(k + 1) % 3];
            if (a > b) continue;
            double l2 = length2(kit, a, b);
            if (l2 <= limit2) continue;
            if (!FLR_GROW(list->edges, list->count, list->room, 65536)) return false;
            kit_refine_edge *e = &list->edges[list->count++];
            e->a = a;
            e->b = b;
            e->length2 = l2;
        }
    return true;
}

static size_t slot_of(const edge_list *list, uint32_t a, uint32_t b)
{
    uint64_t h = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u;
    return (size_t)(h >> 24) & list->mask;
}

/* gives each edge its middle vertex and makes it findable */
static bool index_edges(flr_kit *kit, edge_list *list)
{
    size_t slots = 1024;
    while (slots < list->count * 2) slots *= 2;
    free(list->slots);
    list->slots = calloc(slots, sizeof *list->slots);
    if (!list->slots) return false;
    list->mask = slots - 1;
    for (size_t i = 0; i < list->count; i++) {
        kit_refine_edge *e = &list->edges[i];
        e->middle = flr_kit_vertex(kit, v3_mix(kit->vertices[e->a], kit->vertices[e->b], 0.5));
        size_t slot = slot_of(list, e->a, e->b);
        while (list->slots[slot]) slot = (slot + 1) & list->mask;
        list->slots[slot] = (uint32_t)i + 1;
    }
    return kit->result == FLR_OK;
}

/* the middle of an edge that is to be split, else UINT32_MAX */
static uint32_t middle_of(const edge_list *list, uint32_t a, uint32_t b)
{
    if (a > b) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    for (size_t slot = slot_of(list, a, b); list->slots[slot]; slot = (slot + 1) & list->mask) {
        const kit_refine_edge *e = &list->edges[list->slots[slot] - 1];
        if (e->a == a && e->b == b) return e->middle;
    }
    return UINT32_MAX;
}

/* cuts one triangle at the middles m[k] of its edges k, k+1; UINT32_MAX: whole */
static void split(flr_kit *kit, size_t i, const uint32_t m[3])
{
    int cuts = (m[0] != UINT32_MAX) + (m[1] != UINT32_MAX) + (m[2] != UINT32_MAX);
    const uint32_t *old = kit->triangles[i].v;
    /* rotate so that with one cut it is edge 0, with two cuts the whole edge is edge 2 */
    int r = 0;
    for (int k = 0; k < 3; k++) {
        if (cuts == 1 && m[k] != UINT32_MAX) r = k;
        if (cuts == 2 && m[k] == UINT32_MAX) r = (k + 1) % 3;
    }
    uint32_t a = old[r], b = old[(r + 1) % 3], c = old[(r + 2) % 3];
    uint32_t ab = m[r], bc = m[(r + 1) % 3], ca = m[(r + 2) % 3];
    flr_triangle first;
    if (cuts == 1) {
        first = (flr_triangle){{a, ab, c}};
        flr_kit_triangle(kit, ab, b, c);
    } else if (cuts == 2) {
        first = (flr_triangle){{ab, b, bc}};
        /* the quadrilateral a, ab, bc, c by its shorter diagonal */
        if (length2(kit, a, bc) <= length2(kit, ab, c)) {
            flr_kit_triangle(kit, a, ab, bc);
            flr_kit_triangle(kit, a, bc, c);
        } else {
            flr_kit_triangle(kit, a, ab, c);
            flr_kit_triangle(kit, ab, bc, c);
        }
    } else {
        first = (flr_triangle){{ab, bc, ca}};
        flr_kit_triangle(kit, a, ab, ca);
        flr_kit_triangle(kit, ab, b, bc);
        flr_kit_triangle(kit, bc, c, ca);
    }
    if (kit->result == FLR_OK) kit->triangles[i] = first;
}

/* one pass: every edge longer than 0.6 of the longest, but no more than still wanted */
static bool pass(flr_kit *kit, size_t wanted, edge_list *list)
{
    double longest2 = 0;
    for (size_t i = 0; i < kit->triangle_count; i++)
        for (int k = 0; k < 3; k++) {
            double l2 = length2(kit, kit->triangles[i].v[k], kit->triangles[i].v[(k + 1) % 3]);
            if (l2 > longest2) longest2 = l2;
        }
    double limit2 = 0.36 * longest2;
    if (!collect(kit, limit2, list)) return false;
    if (list->count == 0) {
        flr_kit_fail(kit, FLR_BAD_ARGUMENT, "there is no edge to split");
        return false;
    }
    qsort(list->edges, list->count, sizeof *list->edges, compare);
    if (list->count > wanted) list->count = wanted;
    limit2 = list->edges[list->count - 1].length2;
    if (!index_edges(kit, list)) return false;
    for (size_t i = 0, count = kit->triangle_count; i < count; i++) {
        uint32_t m[3];
        bool any = false;
        for (int k = 0; k < 3; k++) {
            uint32_t a = kit->triangles[i].v[k], b = kit->triangles[i].v[(k + 1) % 3];
            m[k] = length2(kit, a, b) >= limit2 ? middle_of(list, a, b) : UINT32_MAX;
            any = any || m[k] != UINT32_MAX;
        }
        if (any) split(kit, i, m);
    }
    return kit->result == FLR_OK;
}

void flr_kit_refine_to(flr_kit *kit, size_t count)
{
    if (kit->result != FLR_OK) return;
    if (count < kit->triangle_count) {
        flr_kit_fail(kit, FLR_TOO_LARGE, "it has more triangles than wanted before refinement");
        return;
    }
    edge_list list;
    memset(&list, 0, sizeof list);
    flr_pose here = kit->T_kit_here; /* middles are given in the kit's own frame */
    kit->T_kit_here = flr_kit_at(0, 0, 0);
    while (kit->result == FLR_OK && kit->triangle_count > 0 && count - kit->triangle_count >= 2)
        if (!pass(kit, (count - kit->triangle_count) / 2, &list))
            flr_kit_fail(kit, FLR_NO_MEMORY, "out of memory; free some and try again");
    kit->T_kit_here = here;
    free(list.edges);
    free(list.slots);
}
