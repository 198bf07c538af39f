/* Triangles that pass through each other: the tree of boxes, tested against itself. */
#include <math.h>
#include <stdlib.h>

#include "mesh/check_tree.h"
#include "mesh/checking.h"
#include "mesh/triangle.h"

/* what counts how much against the limit, as measured */
enum { CROSSING_WORK = 3, STEPS_PER_PAIR = 16 };

/* What was found of one kind. */
typedef struct found {
    uint64_t count;
    uint32_t a, b; /* the pair with the smallest numbers */
    flr_vec3 where;
} found;

/* ---- the search ---- */

typedef struct check_crossings_search {
    flr_checking *c;
    const flr_check_tree *tree;
    double tolerance;
    found same, different; /* within a component, between components */
    uint8_t *touched;      /* [component_count]: the component crosses another */
    uint64_t steps;        /* pairs of nodes looked at */
    uint64_t work;         /* pairs of triangles looked at; those that cross take longer */
} check_crossings_search;

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

static void test_pair(check_crossings_search *s, uint32_t a, uint32_t b)
{
    const flr_mesh *mesh = s->c->mesh;
    const uint32_t *va = mesh->triangles[a].v, *vb = mesh->triangles[b].v;
    s->c->report->pairs_tested++;
    s->work++;
    if (same_corners(va, vb)) return; /* twins are duplicates, another finding */
    flr_vec3 pa[3], pb[3], where;
    for (int k = 0; k < 3; k++) pa[k] = mesh->vertices[va[k]], pb[k] = mesh->vertices[vb[k]];
    const flr_triangles how = flr_triangles_meet(pa, pb, s->tolerance, &where);
    if (how == FLR_TRIANGLES_APART) return;
    s->work += CROSSING_WORK;
    const uint32_t component_a = s->c->adjacency->triangle_component[a];
    const uint32_t component_b = s->c->adjacency->triangle_component[b];
    if (component_a == component_b) {
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
    s->touched[component_a] = s->touched[component_b] = 1;
}

static void test_leaves(check_crossings_search *s, uint32_t i, uint32_t k)
{
    const uint32_t count = s->c->mesh->triangle_count;
    const uint32_t i_end =
        i * FLR_CHECK_LEAF + FLR_CHECK_LEAF < count ? i * FLR_CHECK_LEAF + FLR_CHECK_LEAF : count;
    const uint32_t k_end =
        k * FLR_CHECK_LEAF + FLR_CHECK_LEAF < count ? k * FLR_CHECK_LEAF + FLR_CHECK_LEAF : count;
    for (uint32_t a = i * FLR_CHECK_LEAF; a < i_end; a++)
        for (uint32_t b = i == k ? a + 1 : k * FLR_CHECK_LEAF; b < k_end; b++)
            if (flr_check_boxes_meet(s->tree->triangles + a, s->tree->triangles + b))
                test_pair(s, s->tree->order[a], s->tree->order[b]);
}

/* a pair of nodes of one level still to be looked at */
typedef struct task {
    uint32_t level, i, k;
} task;

static flr_result walk(check_crossings_search *s)
{
    const flr_check_tree *t = s->tree;
    task stack[4 * FLR_CHECK_LEVELS];
    uint32_t height = 0;
    stack[height++] = (task){t->levels - 1, 0, 0};
    while (height > 0) {
        const task now = stack[--height];
        const flr_check_box *nodes = t->nodes + t->start[now.level];
        s->steps++;
        if (now.i != now.k && !flr_check_boxes_meet(nodes + now.i, nodes + now.k)) continue;
        if (s->work >= s->c->options.pair_limit ||
            s->steps / STEPS_PER_PAIR >= s->c->options.pair_limit) {
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

static void report_crossings(flr_checking *c, const check_crossings_search *s)
{
    const char *at_least = c->report->cut_short ? "at least " : "";
    if (s->different.count > 0) {
        uint32_t components = 0;
        for (uint32_t i = 0; i < c->adjacency->component_count; i++) components += s->touched[i];
        flr_check_finding *f = flr_checking_add(c, FLR_CHECK_OVERLAPPING_COMPONENTS,
                                                FLR_CHECK_WARNING, s->different.count);
        flr_checking_place(f, s->different.a, s->different.where, 0);
        flr_checking_say(
            f,
            "%s%u components overlap: %llu pair%s of their triangles pass through each "
            "other, the first (%u and %u) at %s.",
            at_least, components, (unsigned long long)f->count, flr_noun(f->count, "", "s"),
            s->different.a, s->different.b, FLR_PLACE_TEXT(f->place));
        flr_checking_effect(f, "Does not matter for voxels: what any component encloses is inside. "
                               "Matters for volume and mass, which count the common part twice.");
    }
    if (s->same.count > 0) {
        flr_check_finding *f =
            flr_checking_add(c, FLR_CHECK_SELF_INTERSECTION, FLR_CHECK_WARNING, s->same.count);
        flr_checking_place(f, s->same.a, s->same.where, 0);
        flr_checking_say(f,
                         "The surface passes through itself: %s%llu pair%s of triangles of one "
                         "component, the first (%u and %u) at %s.",
                         at_least, (unsigned long long)f->count, flr_noun(f->count, "", "s"),
                         s->same.a, s->same.b, FLR_PLACE_TEXT(f->place));
        flr_checking_effect(f, "Does not matter for voxels: what the surface encloses is inside. "
                               "Volume and mass are off by the folded part.");
    }
}

flr_result flr_check_crossings(flr_checking *c, const flr_check_tree *tree)
{
    check_crossings_search s = {.c = c, .tree = tree};
    s.tolerance = c->options.tolerance > 0 ? c->options.tolerance : 5e-7 * fmax(c->size, c->far);
    s.touched = calloc(c->adjacency->component_count, 1);
    if (!s.touched) return flr_checking_no_memory(c);
    const flr_result result = walk(&s);
    if (result == FLR_OK) report_crossings(c, &s);
    free(s.touched);
    return result;
}
