/* the exact distance to a mesh: triangles by chunk, and a tree of boxes over the chunks
 *
 * A triangle stands in the list of every chunk that it touches, so that the nearest point of the mesh lies in a chunk
 * whose list has its triangle. A chunk's box holds what of its triangles lies in the chunk: long triangles do not
 * make it larger. Chunks are kept along a Morton curve; each eight that follow one another share a box, eight
 * of those the next, up to one. All lengths are in voxels. */
#include "feeler/voxels.h"

#include <stdlib.h>

#include "base/parallel.h"
#include "voxel/build.h"
#include "voxel/closest.h"
#include "voxel/overlap.h"
#include "voxel/voxmap_format.h"

enum { FANOUT = 8, LEVELS = 12, EXACT_STACK = (FANOUT - 1) * LEVELS + 1 };

typedef struct exact_box {
    float low[3], high[3]; /* voxels, rounded outwards */
} exact_box;

struct flr_exact {
    const flr_voxmap *voxmap;
    flr_vec3 *vertices;      /* in voxels */
    flr_triangle *triangles; /* as in the mesh */
    uint32_t triangle_count, vertex_count;
    uint32_t chunk_count;
    uint64_t *first;           /* [chunk_count + 1]: where a chunk's triangles begin in `list` */
    uint32_t *list;            /* triangles by chunk, rising */
    exact_box *boxes;          /* of the chunks, of eight chunks each, … , of all */
    size_t level_at[LEVELS];   /* where in `boxes` a level begins; level 0: the chunks */
    uint32_t in_level[LEVELS]; /* boxes of it */
    unsigned top;              /* the level with one box */
};

/* ---- triangles by chunk ---- */

/* bit i to bit 3 i */
static uint64_t spread(uint64_t bits)
{
    uint64_t out = 0;
    for (unsigned i = 0; i < 21; i++) out |= (bits >> i & 1) << 3 * i;
    return out;
}

static uint64_t morton(uint32_t x, uint32_t y, uint32_t z)
{
    return spread(x) | spread(y) << 1 | spread(z) << 2;
}

/* the chunks of one hyperchunk, along the curve */
typedef struct sorted_hyper {
    uint64_t order;   /* of the hyperchunk on the curve */
    uint32_t *list;   /* triangles by chunk */
    exact_box *boxes; /* [chunks] */
    uint32_t *counts; /* [chunks], triangles each */
    uint32_t chunks;
    uint32_t entries;
} sorted_hyper;

typedef struct exact_sort_job {
    const flr_build *build;
    sorted_hyper *hypers; /* [build->hyper_count] */
} exact_sort_job;

static const exact_box no_box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void box_add(exact_box *to, const exact_box *other)
{
    for (int axis = 0; axis < 3; axis++) {
        to->low[axis] = fminf(to->low[axis], other->low[axis]);
        to->high[axis] = fmaxf(to->high[axis], other->high[axis]);
    }
}

/* What a triangle with these corners has in the cube of 8 voxels at `base`, at most. */
static exact_box part_in_chunk(const flr_vec3 v[3], const int32_t base[3])
{
    flr_vec3 low = flr_vec3_min(v[0], flr_vec3_min(v[1], v[2]));
    flr_vec3 high = flr_vec3_max(v[0], flr_vec3_max(v[1], v[2]));
    const double from[3] = {low.x, low.y, low.z}, to[3] = {high.x, high.y, high.z};
    exact_box b;
    for (int axis = 0; axis < 3; axis++) {
        double least = fmax(from[axis], base[axis]), most = fmin(to[axis], base[axis] + 8.0);
        b.low[axis] = nextafterf((float)least, -INFINITY);
        b.high[axis] = nextafterf((float)most, INFINITY);
    }
    return b;
}

/* one triangle in one chunk of the hyperchunk at hand */
typedef struct exact_entry {
    uint32_t triangle;
    uint16_t cell; /* of the chunk, along the curve */
} exact_entry;

typedef struct entry_list {
    exact_entry *entries;
    uint32_t count, capacity;
} entry_list;

static bool entry_add(entry_list *list, exact_entry e)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 1024;
        exact_entry *entries = realloc(list->entries, capacity * sizeof *entries);
        if (!entries) return false;
        list->entries = entries;
        list->capacity = capacity;
    }
    list->entries[list->count++] = e;
    return true;
}

/* Finds the chunks of a hyperchunk that a triangle touches and lets their boxes grow. */
static bool list_triangle(const flr_build *build, const int32_t base[3], uint32_t triangle,
                          entry_list *list, exact_box *boxes)
{
    const uint32_t *t = build->mesh->triangles[triangle].v;
    const flr_vec3 v[3] = {build->vertices[t[0]], build->vertices[t[1]], build->vertices[t[2]]};
    flr_overlap o = flr_overlap_prepare(v[0], v[1], v[2]);
    int32_t from[3], to[3];
    for (int axis = 0; axis < 3; axis++) {
        int32_t low = o.low[axis] - base[axis], high = o.high[axis] - base[axis];
        from[axis] = low < 0 ? 0 : low >> 3;
        to[axis] = high > 63 ? 7 : high >> 3;
    }
    for (int32_t z = from[2]; z <= to[2]; z++)
        for (int32_t y = from[1]; y <= to[1]; y++)
            for (int32_t x = from[0]; x <= to[0]; x++) {
                const int32_t at[3] = {base[0] + 8 * x, base[1] + 8 * y, base[2] + 8 * z};
                if (!flr_overlap_block(&o, at[0], at[1], at[2], 8)) continue;
                uint16_t cell = (uint16_t)morton((uint32_t)x, (uint32_t)y, (uint32_t)z);
                exact_box b = part_in_chunk(v, at);
                box_add(&boxes[cell], &b);
                if (!entry_add(list, (exact_entry){triangle, cell})) return false;
            }
    return true;
}

/* Turns the entries, rising by triangle, into lists by chunk. */
static bool group_entries(const entry_list *list, const exact_box boxes[512], sorted_hyper *to)
{
    uint32_t counts[512] = {0}, next[512], sum = 0;
    for (uint32_t i = 0; i < list->count; i++) counts[list->entries[i].cell]++;
    for (unsigned cell = 0; cell < 512; cell++) {
        next[cell] = sum;
        sum += counts[cell];
        to->chunks += counts[cell] > 0;
    }
    to->entries = list->count;
    to->list = malloc((list->count + 1u) * sizeof *to->list);
    to->boxes = malloc((to->chunks + 1u) * sizeof *to->boxes);
    to->counts = malloc((to->chunks + 1u) * sizeof *to->counts);
    if (!to->list || !to->boxes || !to->counts) return false;
    for (uint32_t i = 0; i < list->count; i++)
        to->list[next[list->entries[i].cell]++] = list->entries[i].triangle;
    for (unsigned cell = 0, chunk = 0; cell < 512; cell++)
        if (counts[cell]) {
            to->boxes[chunk] = boxes[cell];
            to->counts[chunk++] = counts[cell];
        }
    return true;
}

static flr_result sort_hyper(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    exact_sort_job *job = context;
    const flr_build *build = job->build;
    const flr_build_hyper *hyper = &build->hypers[piece];
    sorted_hyper *to = &job->hypers[piece];
    to->order = morton(hyper->at[0], hyper->at[1], hyper->at[2]);
    const int32_t base[3] = {(int32_t)hyper->at[0] * 64, (int32_t)hyper->at[1] * 64,
                             (int32_t)hyper->at[2] * 64};
    entry_list list = {0};
    exact_box boxes[512];
    for (unsigned cell = 0; cell < 512; cell++) boxes[cell] = no_box;
    bool ok = true;
    for (uint32_t i = 0; ok && i < hyper->primitive_count; i++)
        ok =
            list_triangle(build, base, build->primitives[hyper->first_primitive + i], &list, boxes);
    ok = ok && group_entries(&list, boxes, to);
    free(list.entries);
    return ok ? FLR_OK : FLR_NO_MEMORY;
}

static int compare_order(const void *a, const void *b)
{
    uint64_t x = ((const sorted_hyper *)a)->order, y = ((const sorted_hyper *)b)->order;
    return (x > y) - (x < y);
}

/* ---- the tree ---- */

/* Joins the hyperchunks' lists and puts boxes over boxes. */
static bool join(flr_exact *exact, sorted_hyper *hypers, uint32_t count)
{
    qsort(hypers, count, sizeof *hypers, compare_order);
    uint64_t entries = 0;
    for (uint32_t i = 0; i < count; i++) {
        exact->chunk_count += hypers[i].chunks;
        entries += hypers[i].entries;
    }
    size_t boxes = 0;
    for (uint32_t n = exact->chunk_count;; n = (n + FANOUT - 1) / FANOUT) {
        exact->level_at[exact->top] = boxes;
        exact->in_level[exact->top] = n;
        boxes += n;
        if (n <= 1) break;
        exact->top++;
    }
    exact->first = malloc((exact->chunk_count + 1u) * sizeof *exact->first);
    exact->list = malloc((entries + 1) * sizeof *exact->list);
    exact->boxes = malloc((boxes + 1) * sizeof *exact->boxes);
    if (!exact->first || !exact->list || !exact->boxes) return false;

    uint32_t chunk = 0;
    uint64_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        const sorted_hyper *h = &hypers[i];
        memcpy(exact->list + at, h->list, h->entries * sizeof *h->list);
        memcpy(exact->boxes + chunk, h->boxes, h->chunks * sizeof *h->boxes);
        for (uint32_t k = 0; k < h->chunks; k++) {
            exact->first[chunk++] = at;
            at += h->counts[k];
        }
    }
    exact->first[chunk] = at;
    for (unsigned level = 1; level <= exact->top; level++)
        for (uint32_t i = 0; i < exact->in_level[level]; i++) {
            exact_box *over = &exact->boxes[exact->level_at[level] + i];
            *over = no_box;
            for (uint32_t k = FANOUT * i; k < FANOUT * (i + 1); k++)
                if (k < exact->in_level[level - 1])
                    box_add(over, &exact->boxes[exact->level_at[level - 1] + k]);
        }
    return true;
}

static flr_result fill_exact(flr_exact *exact, const flr_mesh *mesh, flr_build *build,
                             flr_error *error)
{
    const flr_voxmap_header *h = exact->voxmap->header;
    flr_result result = flr_build_sort(build, h->T_voxmap_mesh, error);
    if (result != FLR_OK) return result;
    exact_sort_job job = {.build = build};
    job.hypers = calloc(build->hyper_count + 1u, sizeof *job.hypers);
    exact->triangles = malloc(mesh->triangle_count * sizeof *exact->triangles);
    result = job.hypers && exact->triangles
                 ? flr_parallel_for(build->threads, build->hyper_count, sort_hyper, &job)
                 : FLR_NO_MEMORY;
    if (result == FLR_OK && !join(exact, job.hypers, build->hyper_count)) result = FLR_NO_MEMORY;
    for (uint32_t i = 0; job.hypers && i < build->hyper_count; i++) {
        free(job.hypers[i].list);
        free(job.hypers[i].boxes);
        free(job.hypers[i].counts);
    }
    free(job.hypers);
    if (result != FLR_OK)
        return flr_fail(error, result, "not enough memory to keep %u triangles by chunk",
                        mesh->triangle_count);
    memcpy(exact->triangles, mesh->triangles, mesh->triangle_count * sizeof *exact->triangles);
    exact->triangle_count = mesh->triangle_count;
    exact->vertex_count = mesh->vertex_count;
    exact->vertices = build->vertices; /* taken over */
    build->vertices = NULL;
    return FLR_OK;
}

flr_result flr_exact_create(const flr_mesh *mesh, const flr_voxmap *voxmap, unsigned threads,
                            flr_exact **exact, flr_error *error)
{
    if (!flr_hash_equal(flr_mesh_hash(mesh), voxmap->header->mesh_hash))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "the voxmap was made of another mesh; voxelize this one again");
    flr_exact *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory to keep triangles");
    made->voxmap = voxmap;
    flr_build build = {.mesh = mesh, .grid = voxmap->header->grid, .threads = threads};
    flr_result result = fill_exact(made, mesh, &build, error);
    flr_build_free(&build);
    if (result != FLR_OK) {
        flr_exact_destroy(made);
        return result;
    }
    *exact = made;
    return FLR_OK;
}

void flr_exact_destroy(flr_exact *exact)
{
    if (!exact) return;
    free(exact->vertices);
    free(exact->triangles);
    free(exact->first);
    free(exact->list);
    free(exact->boxes);
    free(exact);
}

/* ---- asking ---- */

/* the search for one point */
typedef struct exact_search {
    const flr_exact *exact;
    flr_vec3 p; /* voxels */
    flr_vec3 nearest;
    double best2; /* voxels^2: of what was found, or of how far to look */
    uint32_t triangle;
    uint32_t tests, max_tests;
} exact_search;

/* a box to be looked into */
typedef struct exact_waiting {
    double least2; /* voxels^2: nothing in it is nearer */
    uint32_t number;
    uint32_t level;
} exact_waiting;

static double gap(double p, double low, double high)
{
    double below = low - p, above = p - high;
    return below > 0 ? below : above > 0 ? above : 0;
}

static double box_distance2(const exact_box *b, flr_vec3 p)
{
    double x = gap(p.x, (double)b->low[0], (double)b->high[0]),
           y = gap(p.y, (double)b->low[1], (double)b->high[1]),
           z = gap(p.z, (double)b->low[2], (double)b->high[2]);
    return x * x + y * y + z * z;
}

/* Looks at a chunk's triangles; false when that was cut short. */
static bool look_into(exact_search *s, uint32_t chunk)
{
    const flr_exact *exact = s->exact;
    for (uint64_t i = exact->first[chunk]; i < exact->first[chunk + 1]; i++) {
        if (s->tests == s->max_tests) return false;
        s->tests++;
        uint32_t triangle = exact->list[i];
        const uint32_t *t = exact->triangles[triangle].v;
        flr_vec3 a = exact->vertices[t[0]], b = exact->vertices[t[1]], c = exact->vertices[t[2]];
        /* most are ruled out by their boxes, at a quarter of the price; the slack is for rounding */
        flr_vec3 low = flr_vec3_min(a, flr_vec3_min(b, c)),
                 high = flr_vec3_max(a, flr_vec3_max(b, c));
        double x = gap(s->p.x, low.x, high.x), y = gap(s->p.y, low.y, high.y),
               z = gap(s->p.z, low.z, high.z);
        if ((x * x + y * y + z * z) * (1 - 1e-12) > s->best2) continue;
        flr_vec3 q = flr_closest_on_triangle(s->p, a, b, c);
        double d2 = flr_vec3_length2(flr_vec3_sub(q, s->p));
        if (d2 > s->best2 || (d2 == s->best2 && triangle >= s->triangle)) continue;
        s->best2 = d2;
        s->nearest = q;
        s->triangle = triangle;
    }
    return true;
}

/* Puts the boxes below one on the stack, the nearest last. */
static unsigned push_below(const exact_search *s, const exact_waiting *over, exact_waiting *stack,
                           unsigned depth)
{
    const flr_exact *exact = s->exact;
    unsigned bottom = depth;
    uint32_t level = over->level - 1;
    for (uint32_t k = FANOUT * over->number; k < FANOUT * (over->number + 1); k++) {
        if (k >= exact->in_level[level]) break;
        double least2 = box_distance2(&exact->boxes[exact->level_at[level] + k], s->p);
        if (least2 > s->best2) continue;
        unsigned at = depth++;
        for (; at > bottom && stack[at - 1].least2 < least2; at--) stack[at] = stack[at - 1];
        stack[at] = (exact_waiting){least2, k, level};
    }
    return depth;
}

/* Searches nearest boxes first; returns below what distance (voxels^2) nothing is missed. */
static double run_search(exact_search *s, bool *complete)
{
    const flr_exact *exact = s->exact;
    exact_waiting stack[EXACT_STACK];
    unsigned depth = 1;
    stack[0] = (exact_waiting){box_distance2(&exact->boxes[exact->level_at[exact->top]], s->p), 0,
                               exact->top};
    while (depth) {
        exact_waiting now = stack[--depth];
        if (now.least2 > s->best2) continue;
        if (now.level > 0) {
            depth = push_below(s, &now, stack, depth);
        } else if (!look_into(s, now.number)) {
            /* cut short: what still waits may hold something nearer */
            double least2 = fmin(s->best2, now.least2);
            while (depth) least2 = fmin(least2, stack[--depth].least2);
            *complete = false;
            return least2;
        }
    }
    *complete = true;
    return s->best2;
}

/* Does the voxmap hold the point (voxels) for inside? */
static bool is_inside(const flr_voxmap *voxmap, flr_vec3 p, flr_vec3 nearest)
{
    flr_vec3 out = flr_vec3_normalize(flr_vec3_sub(p, nearest));
    if (flr_vec3_length2(out) == 0) return false; /* on the surface */
    if (voxmap->header->offset) return false;     /* its marks tell of layers outside */
    /* beyond the point, in half voxels, until the surface voxels are left behind */
    for (unsigned step = 0; step <= 8; step++) {
        flr_vec3 at = flr_vec3_add_scaled(p, 0.5 * step, out);
        unsigned mark = flr_voxmap_mark(voxmap, FLR_FIELD_SURFACE,
                                        flr_grid_to_metres(&voxmap->header->grid, at));
        if (mark != FLR_MARK_SURFACE) return mark == FLR_MARK_INTERIOR;
    }
    return false;
}

/* How far the surface is at most (voxels) by the mark of the voxel; INFINITY where marks do not tell. */
static double bound_by_mark(const flr_voxmap *voxmap, flr_vec3 point)
{
    if (voxmap->header->bits == 2) return INFINITY;
    unsigned mark = flr_voxmap_mark(voxmap, FLR_FIELD_SURFACE, point);
    if (mark < FLR_MARK_SURFACE) return INFINITY;
    return 1.7320508075688772 * (mark - FLR_MARK_SURFACE + 1) * (1 + 1e-6);
}

flr_exact_result flr_exact_distance(const flr_exact *exact, flr_vec3 point, double max_distance,
                                    uint32_t max_tests)
{
    const flr_voxmap *voxmap = exact->voxmap;
    const flr_grid *grid = &voxmap->header->grid;
    flr_exact_result result = {.complete = true,
                               .distance = INFINITY,
                               .least = max_distance,
                               .nearest = point,
                               .triangle = FLR_NONE};
    if (!flr_vec3_is_finite(point) || !(max_distance >= 0)) {
        result.least = 0;
        return result;
    }
    double reach = max_distance / grid->voxel, by_mark = bound_by_mark(voxmap, point);
    if (by_mark < reach) reach = by_mark;
    exact_search s = {.exact = exact,
                      .p = flr_grid_to_voxels(grid, point),
                      .best2 = reach * reach,
                      .triangle = FLR_NONE,
                      .max_tests = max_tests ? max_tests : UINT32_MAX};
    s.nearest = s.p;
    double least2 = run_search(&s, &result.complete);
    result.tests = s.tests;
    result.found = s.triangle != FLR_NONE;
    if (result.found || !result.complete) result.least = sqrt(least2) * grid->voxel;
    if (!result.found) return result;
    result.triangle = s.triangle;
    result.nearest = flr_grid_to_metres(grid, s.nearest);
    result.distance = sqrt(s.best2) * grid->voxel;
    if (is_inside(voxmap, s.p, s.nearest)) result.distance = -result.distance;
    return result;
}
