/* Triangles that pass through each other: a tree of boxes over the triangles, tested against
 * itself. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/checking.h"
#include "mesh/triangle.h"

enum {
    LEAF = 4, /* triangles in a leaf */
    LEVELS = 32,
    STACK = 4 * LEVELS
};

/* Rounded outwards, so that boxes of triangles that meet always meet. */
typedef struct box {
    float low[3], high[3];
} box;

/* Leaves hold neighbours along a space-filling curve; every level above joins two boxes. All
 * leaves are on one level, so a pair of nodes is always of one size. */
typedef struct tree {
    uint32_t *order;         /* [triangle_count] triangles along the curve */
    box *triangles;          /* [triangle_count] in that order */
    box *nodes;              /* leaves first, then level by level, the root last */
    uint32_t start[LEVELS];  /* where a level begins in nodes */
    uint32_t length[LEVELS]; /* nodes of a level */
    uint32_t levels;
} tree;

/* What was found of one kind. */
typedef struct found {
    uint64_t count;
    uint32_t a, b; /* the pair with the smallest numbers */
    flr_vec3 where;
} found;

/* ---- the tree ---- */

static void tree_free(tree *t)
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

static bool find_order(const flr_checking *c, tree *t)
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

static box box_of(const flr_mesh *mesh, uint32_t triangle)
{
    const uint32_t *v = mesh->triangles[triangle].v;
    flr_vec3 low = mesh->vertices[v[0]], high = low;
    for (int k = 1; k < 3; k++) {
        low = flr_vec3_min(low, mesh->vertices[v[k]]);
        high = flr_vec3_max(high, mesh->vertices[v[k]]);
    }
    const double l[3] = {low.x, low.y, low.z}, h[3] = {high.x, high.y, high.z};
    box b;
    for (int k = 0; k < 3; k++) {
        b.low[k] = (float)l[k], b.high[k] = (float)h[k];
        if ((double)b.low[k] > l[k]) b.low[k] = nextafterf(b.low[k], -INFINITY);
        if ((double)b.high[k] < h[k]) b.high[k] = nextafterf(b.high[k], INFINITY);
    }
    return b;
}

static void widen(box *b, const box *other)
{
    for (int k = 0; k < 3; k++) {
        b->low[k] = b->low[k] < other->low[k] ? b->low[k] : other->low[k];
        b->high[k] = b->high[k] > other->high[k] ? b->high[k] : other->high[k];
    }
}

static bool boxes_meet(const box *a, const box *b)
{
    return a->low[0] <= b->high[0] && b->low[0] <= a->high[0] && a->low[1] <= b->high[1] &&
           b->low[1] <= a->high[1] && a->low[2] <= b->high[2] && b->low[2] <= a->high[2];
}

static bool tree_build(const flr_checking *c, tree *t)
{
    const uint32_t count = c->mesh->triangle_count;
    uint32_t total = 0;
    for (uint32_t n = (count - 1) / LEAF + 1;; n = (n - 1) / 2 + 1) {
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
        if (i % LEAF == 0)
            t->nodes[i / LEAF] = t->triangles[i];
        else
            widen(t->nodes + i / LEAF, t->triangles + i);
    }
    for (uint32_t level = 1; level < t->levels; level++)
        for (uint32_t i = 0; i < t->length[level - 1]; i++) {
            const box *below = t->nodes + t->start[level - 1] + i;
            box *above = t->nodes + t->start[level] + i / 2;
            if (i % 2 == 0)
                *above = *below;
            else
                widen(above, below);
        }
    return true;
}

/* ---- the search ---- */

typedef struct search {
    flr_checking *c;
    tree tree;
    double tolerance;
    found same, different; /* within a shell, between shells */
    uint8_t *touched;      /* [shell_count]: the shell crosses another */
    uint64_t steps;        /* pairs of nodes looked at */
} search;

static bool same_corners(const uint32_t *a, const uint32_t *b)
{
    for (int i = 0; i < 3; i++)
        if (a[i] != b[0] && a[i] != b[1] && a[i] != b[2]) return false;
    return true;
}

static void note(found *f, uint32_t a, uint32_t b, flr_vec3 where)
{
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (f->count++ == 0 || low < f->a || (low == f->a && high < f->b))
        f->a = low, f->b = high, f->where = where;
}

static void test_pair(search *s, uint32_t a, uint32_t b)
{
    const flr_mesh *mesh = s->c->mesh;
    const uint32_t *va = mesh->triangles[a].v, *vb = mesh->triangles[b].v;
    flr_vec3 pa[3], pb[3], where;
    for (int k = 0; k < 3; k++) pa[k] = mesh->vertices[va[k]], pb[k] = mesh->vertices[vb[k]];
    s->c->report->pairs_tested++;
    const flr_triangles how = flr_triangles_meet(pa, pb, s->tolerance, &where);
    if (how == FLR_TRIANGLES_APART || same_corners(va, vb)) return; /* twins are duplicates */
    const uint32_t shell_a = s->c->adjacency->triangle_shell[a];
    const uint32_t shell_b = s->c->adjacency->triangle_shell[b];
    if (shell_a == shell_b) {
        note(&s->same, a, b, where);
        return;
    }
    if (how == FLR_TRIANGLES_OVERLAP) {
        /* faces of two parts that lie on each other, back to back, are contact */
        const flr_vec3 na = flr_vec3_cross(flr_vec3_sub(pa[1], pa[0]), flr_vec3_sub(pa[2], pa[0]));
        const flr_vec3 nb = flr_vec3_cross(flr_vec3_sub(pb[1], pb[0]), flr_vec3_sub(pb[2], pb[0]));
        if (flr_vec3_dot(na, nb) < 0) return;
    }
    note(&s->different, a, b, where);
    s->touched[shell_a] = s->touched[shell_b] = 1;
}

static void test_leaves(search *s, uint32_t i, uint32_t k)
{
    const uint32_t count = s->c->mesh->triangle_count;
    const uint32_t i_end = i * LEAF + LEAF < count ? i * LEAF + LEAF : count;
    const uint32_t k_end = k * LEAF + LEAF < count ? k * LEAF + LEAF : count;
    for (uint32_t a = i * LEAF; a < i_end; a++)
        for (uint32_t b = i == k ? a + 1 : k * LEAF; b < k_end; b++)
            if (boxes_meet(s->tree.triangles + a, s->tree.triangles + b))
                test_pair(s, s->tree.order[a], s->tree.order[b]);
}

/* a pair of nodes of one level still to be looked at */
typedef struct task {
    uint32_t level, i, k;
} task;

static flr_result walk(search *s)
{
    const tree *t = &s->tree;
    task stack[STACK];
    uint32_t height = 0;
    stack[height++] = (task){t->levels - 1, 0, 0};
    while (height > 0) {
        const task now = stack[--height];
        const box *nodes = t->nodes + t->start[now.level];
        s->steps++;
        if (now.i != now.k && !boxes_meet(nodes + now.i, nodes + now.k)) continue;
        if (s->c->report->pairs_tested >= s->c->options.pair_limit ||
            s->steps / 16 >= s->c->options.pair_limit) {
            s->c->report->cut_short = true;
            return FLR_OK;
        }
        if (now.level == 0) {
            test_leaves(s, now.i, now.k);
            if (now.i != now.k || now.i % 4096 != 4095) continue;
            const flr_result result = flr_checking_progress(s->c, 0.3 + 0.7 * now.i / t->length[0]);
            if (result != FLR_OK) return result;
            continue;
        }
        /* children: a node against itself has three pairs, two nodes have four */
        const uint32_t below = t->length[now.level - 1];
        for (uint32_t x = 2; x-- > 0;)
            for (uint32_t y = 2; y-- > 0;) {
                const task next = {now.level - 1, 2 * now.i + x, 2 * now.k + y};
                if (next.i < below && next.k < below && (now.i != now.k || next.i <= next.k))
                    stack[height++] = next;
            }
    }
    return FLR_OK;
}

static void report_crossings(flr_checking *c, const search *s)
{
    char where[FLR_PLACE_TEXT_SIZE];
    const char *at_least = c->report->cut_short ? "at least " : "";
    if (s->different.count > 0) {
        uint32_t shells = 0;
        for (uint32_t i = 0; i < c->adjacency->shell_count; i++) shells += s->touched[i];
        flr_check_finding *f = flr_checking_add(c, FLR_CHECK_OVERLAPPING_SHELLS, FLR_CHECK_WARNING,
                                                s->different.count);
        flr_checking_place(f, s->different.a, s->different.where, 0);
        flr_checking_say(f,
                         "%s%u shells overlap: %llu pair%s of their triangles pass through each "
                         "other, the first (%u and %u) at %s.",
                         at_least, shells, (unsigned long long)f->count, flr_plural(f->count),
                         s->different.a, s->different.b, flr_place_print(f->place, where));
        flr_checking_effect(f, "Does not matter for voxels: what any shell encloses is inside. "
                               "Matters for volume and mass, which count the common part twice.");
    }
    if (s->same.count > 0) {
        flr_check_finding *f =
            flr_checking_add(c, FLR_CHECK_SELF_INTERSECTION, FLR_CHECK_WARNING, s->same.count);
        flr_checking_place(f, s->same.a, s->same.where, 0);
        flr_checking_say(f,
                         "The surface passes through itself: %s%llu pair%s of triangles of one "
                         "shell, the first (%u and %u) at %s.",
                         at_least, (unsigned long long)f->count, flr_plural(f->count), s->same.a,
                         s->same.b, flr_place_print(f->place, where));
        flr_checking_effect(f, "Does not matter for voxels: what the surface encloses is inside. "
                               "Volume and mass are off by the folded part.");
    }
}

flr_result flr_check_crossings(flr_checking *c)
{
    search s = {.c = c};
    s.tolerance = c->options.tolerance > 0 ? c->options.tolerance : 5e-7 * fmax(c->size, c->far);
    s.touched = calloc(c->adjacency->shell_count, 1);
    flr_result result;
    if (s.touched && tree_build(c, &s.tree))
        result = walk(&s);
    else
        result =
            flr_fail(c->error, FLR_NO_MEMORY, "no memory to look for crossings of %u triangles",
                     c->mesh->triangle_count);
    if (result == FLR_OK) report_crossings(c, &s);
    tree_free(&s.tree);
    free(s.touched);
    return result;
}
