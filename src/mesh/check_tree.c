/* A tree of boxes over the triangles of a mesh. */
#include "mesh/check_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void flr_check_tree_free(flr_check_tree *t)
{
    free(t->order);
    free(t->triangles);
    free(t->nodes);
}

/* every third bit: 10 bits become 30 */
static uint32_t spread(uint32_t x)
{
    x = (x | x << 16) & 0x030000FF;
    x = (x | x << 8) & 0x0300F00F;
    x = (x | x << 4) & 0x030C30C3;
    return (x | x << 2) & 0x09249249;
}

static uint32_t curve_place(flr_vec3 p, flr_vec3 low, double scale)
{
    const uint32_t x = (uint32_t)fmin(1023, fmax(0, (p.x - low.x) * scale));
    const uint32_t y = (uint32_t)fmin(1023, fmax(0, (p.y - low.y) * scale));
    const uint32_t z = (uint32_t)fmin(1023, fmax(0, (p.z - low.z) * scale));
    return spread(x) | spread(y) << 1 | spread(z) << 2;
}

/* Sorts triangles along the curve, equal places by number: a radix sort in two passes.
 * `keys` and `spare` are [count]: place, then triangle. */
static void sort_along_curve(uint64_t *keys, uint64_t *spare, uint32_t count)
{
    enum { BUCKETS = 1 << 15 };
    static const unsigned shifts[2] = {32, 47};
    for (int pass = 0; pass < 2; pass++) {
        uint32_t starts[BUCKETS];
        memset(starts, 0, sizeof starts);
        for (uint32_t i = 0; i < count; i++) starts[keys[i] >> shifts[pass] & (BUCKETS - 1)]++;
        uint32_t sum = 0;
        for (uint32_t b = 0; b < BUCKETS; b++) {
            const uint32_t n = starts[b];
            starts[b] = sum;
            sum += n;
        }
        for (uint32_t i = 0; i < count; i++)
            spare[starts[keys[i] >> shifts[pass] & (BUCKETS - 1)]++] = keys[i];
        uint64_t *swap = keys;
        keys = spare, spare = swap;
    }
}

static bool find_order(const flr_checking *c, flr_check_tree *t)
{
    const flr_mesh *mesh = c->mesh;
    const uint32_t count = mesh->triangle_count;
    uint64_t *keys = malloc((size_t)count * sizeof *keys);
    uint64_t *spare = malloc((size_t)count * sizeof *spare);
    const bool ok = keys && spare;
    if (ok) {
        const double scale = c->size > 0 ? 1024 / c->size : 0;
        for (uint32_t i = 0; i < count; i++)
            keys[i] = (uint64_t)curve_place(flr_checking_middle(mesh, i), mesh->bounds.low, scale)
                          << 32 |
                      i;
        sort_along_curve(keys, spare, count);
        for (uint32_t i = 0; i < count; i++) t->order[i] = (uint32_t)keys[i];
    }
    free(keys);
    free(spare);
    return ok;
}

static flr_check_box box_of(const flr_mesh *mesh, uint32_t triangle)
{
    const uint32_t *v = mesh->triangles[triangle].v;
    flr_vec3 low = mesh->vertices[v[0]], high = low;
    for (int k = 1; k < 3; k++) {
        low = flr_vec3_min(low, mesh->vertices[v[k]]);
        high = flr_vec3_max(high, mesh->vertices[v[k]]);
    }
    const double l[3] = {low.x, low.y, low.z}, h[3] = {high.x, high.y, high.z};
    flr_check_box b;
    for (int k = 0; k < 3; k++) {
        b.low[k] = (float)l[k], b.high[k] = (float)h[k];
        if ((double)b.low[k] > l[k]) b.low[k] = nextafterf(b.low[k], -INFINITY);
        if ((double)b.high[k] < h[k]) b.high[k] = nextafterf(b.high[k], INFINITY);
    }
    return b;
}

static void widen(flr_check_box *b, const flr_check_box *other)
{
    for (int k = 0; k < 3; k++) {
        b->low[k] = b->low[k] < other->low[k] ? b->low[k] : other->low[k];
        b->high[k] = b->high[k] > other->high[k] ? b->high[k] : other->high[k];
    }
}

bool flr_check_tree_build(const flr_checking *c, flr_check_tree *t)
{
    const uint32_t count = c->mesh->triangle_count;
    uint32_t total = 0;
    t->count = count;
    for (uint32_t n = (count - 1) / FLR_CHECK_LEAF + 1;; n = (n - 1) / 2 + 1) {
        t->start[t->levels] = total, t->length[t->levels++] = n;
        total += n;
        if (n == 1) break;
    }
    t->order = malloc((size_t)count * sizeof *t->order);
    t->triangles = malloc((size_t)count * sizeof *t->triangles);
    t->nodes = malloc((size_t)total * sizeof *t->nodes);
    if (!t->order || !t->triangles || !t->nodes || !find_order(c, t)) return false;

    for (uint32_t i = 0; i < count; i++) {
        t->triangles[i] = box_of(c->mesh, t->order[i]);
        if (i % FLR_CHECK_LEAF == 0)
            t->nodes[i / FLR_CHECK_LEAF] = t->triangles[i];
        else
            widen(t->nodes + i / FLR_CHECK_LEAF, t->triangles + i);
    }
    for (uint32_t level = 1; level < t->levels; level++)
        for (uint32_t i = 0; i < t->length[level - 1]; i++) {
            const flr_check_box *below = t->nodes + t->start[level - 1] + i;
            flr_check_box *above = t->nodes + t->start[level] + i / 2;
            if (i % 2 == 0)
                *above = *below;
            else
                widen(above, below);
        }
    return true;
}

static bool above(const flr_check_box *b, const float p[3])
{
    return b->low[0] <= p[0] && p[0] <= b->high[0] && b->low[1] <= p[1] && p[1] <= b->high[1] &&
           b->high[2] >= p[2];
}

void flr_check_tree_ray(const flr_check_tree *tree, flr_vec3 p,
                        void (*visit)(void *context, uint32_t triangle), void *context)
{
    /* boxes are rounded outwards by a step at most, and so may the point be */
    const float point[3] = {(float)p.x, (float)p.y, (float)p.z};
    uint32_t levels[2 * FLR_CHECK_LEVELS], nodes[2 * FLR_CHECK_LEVELS], height = 1;
    levels[0] = tree->levels - 1, nodes[0] = 0;
    while (height > 0) {
        const uint32_t level = levels[--height], node = nodes[height];
        if (!above(tree->nodes + tree->start[level] + node, point)) continue;
        if (level > 0) {
            for (uint32_t child = 2 * node; child < 2 * node + 2; child++)
                if (child < tree->length[level - 1])
                    levels[height] = level - 1, nodes[height++] = child;
            continue;
        }
        const uint32_t first = node * FLR_CHECK_LEAF;
        for (uint32_t i = first; i < first + FLR_CHECK_LEAF && i < tree->count; i++)
            if (above(tree->triangles + i, point)) visit(context, tree->order[i]);
    }
}
