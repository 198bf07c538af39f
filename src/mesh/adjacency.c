/* adjacency: the sides of all triangles, sorted by their vertices
 *
 * Sides are first dealt into one bucket per lower vertex, then each bucket, six sides in the
 * mean, is sorted by the upper vertex. Vertices are numbered in the order of first use, so
 * nearly all of this happens within the caches. The sorted sides are the list of sides by
 * edge: there is no temporary copy of them. Buckets are sorted and cut into edges by slices of
 * vertices, on several threads. */
#include "mesh/adjacency.h"

#include <stdlib.h>

#include "base/parallel.h"
#include "base/sets.h"
#include "feeler/math.h"

/* the owner of the arrays: the public struct first, so that both have one address */
typedef struct adjacency_build {
    flr_adjacency out;
    flr_edge *edges;
    uint8_t *edge_kind;
    uint32_t *edge_first;
    uint32_t *edge_sides;
    uint32_t *side_edge;
    uint32_t *vertex_first;
    uint32_t *vertex_triangles;
    uint32_t *triangle_component;
} adjacency_build;

/* ---- sides ---- */

/* the vertices of a side, lower first */
static flr_edge side_vertices(const flr_mesh *mesh, uint32_t side)
{
    uint32_t k = side % 3;
    const uint32_t *v = mesh->triangles[side / 3].v;
    uint32_t a = v[k], b = v[k == 2 ? 0 : k + 1];
    return a < b ? (flr_edge){{a, b}} : (flr_edge){{b, a}};
}

/* true when the side runs from the lower to the upper vertex */
static bool side_is_forward(const flr_mesh *mesh, uint32_t side)
{
    uint32_t k = side % 3;
    const uint32_t *v = mesh->triangles[side / 3].v;
    return v[k] < v[k == 2 ? 0 : k + 1];
}

/* the order within a bucket: by upper vertex, then by side */
static uint64_t side_key(const flr_mesh *mesh, uint32_t side)
{
    return (uint64_t)side_vertices(mesh, side).v[1] << 32 | side;
}

/* ---- sorting a bucket in place ---- */

static void insertion_sort(const flr_mesh *mesh, uint32_t *sides, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t side = sides[i], j = i;
        uint64_t key = side_key(mesh, side);
        for (; j > 0 && side_key(mesh, sides[j - 1]) > key; j--) sides[j] = sides[j - 1];
        sides[j] = side;
    }
}

static void sift_down(const flr_mesh *mesh, uint32_t *sides, uint32_t at, uint32_t count)
{
    uint32_t side = sides[at];
    uint64_t key = side_key(mesh, side);
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && side_key(mesh, sides[child]) < side_key(mesh, sides[child + 1]))
            child++;
        if (side_key(mesh, sides[child]) <= key) break;
        sides[at] = sides[child];
    }
    sides[at] = side;
}

/* for the hub of a large fan: never worse than n log n, and needs no memory */
static void heap_sort(const flr_mesh *mesh, uint32_t *sides, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;) sift_down(mesh, sides, i, count);
    for (uint32_t end = count - 1; end > 0; end--) {
        uint32_t last = sides[0];
        sides[0] = sides[end];
        sides[end] = last;
        sift_down(mesh, sides, 0, end);
    }
}

/* true when two corners are one vertex: the triangle has no edges */
static bool is_collapsed(flr_triangle t)
{
    return t.v[0] == t.v[1] || t.v[1] == t.v[2] || t.v[2] == t.v[0];
}

/* fills edge_sides with the sides of all triangles that are not collapsed, by lower vertex; the
 * others get no edge. `first` gets vertex_count + 1 bucket borders */
static void deal_sides(const flr_mesh *mesh, adjacency_build *b, uint32_t *first)
{
    /* count, then sum up to where each bucket ends */
    for (uint32_t v = 0; v <= mesh->vertex_count; v++) first[v] = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        if (is_collapsed(mesh->triangles[t])) continue;
        for (uint32_t k = 0; k < 3; k++) first[side_vertices(mesh, 3 * t + k).v[0]]++;
    }
    for (uint32_t v = 1; v <= mesh->vertex_count; v++) first[v] += first[v - 1];

    /* deal from the back, so that each border moves down to where its bucket begins */
    for (uint32_t t = mesh->triangle_count; t-- > 0;) {
        bool collapsed = is_collapsed(mesh->triangles[t]);
        for (uint32_t k = 3; k-- > 0;) {
            uint32_t side = 3 * t + k;
            if (collapsed)
                b->side_edge[side] = FLR_NONE;
            else
                b->edge_sides[--first[side_vertices(mesh, side).v[0]]] = side;
        }
    }
}

/* ---- edges ---- */

static bool same_edge(const flr_mesh *mesh, uint32_t side_a, uint32_t side_b)
{
    flr_edge a = side_vertices(mesh, side_a), b = side_vertices(mesh, side_b);
    return a.v[0] == b.v[0] && a.v[1] == b.v[1];
}

static uint32_t count_edges(const flr_mesh *mesh, const uint32_t *sides, uint32_t count)
{
    uint32_t edges = 0;
    for (uint32_t i = 0; i < count; i++)
        edges += i == 0 || !same_edge(mesh, sides[i - 1], sides[i]);
    return edges;
}

static flr_edge_kind kind_of(const flr_mesh *mesh, const uint32_t *sides, uint32_t count)
{
    if (count == 1) return FLR_EDGE_BORDER;
    if (count > 2) return FLR_EDGE_NONMANIFOLD;
    return side_is_forward(mesh, sides[0]) == side_is_forward(mesh, sides[1]) ? FLR_EDGE_FLIPPED
                                                                              : FLR_EDGE_REGULAR;
}

/* ---- slices of vertices ---- */

enum { ADJACENCY_SLICE = 1 << 15, ADJACENCY_SMALL = 24 };

typedef struct edge_slice {
    uint32_t first_edge, edge_count;
    uint32_t border_count, flipped_count, nonmanifold_count;
} edge_slice;

typedef struct edge_job {
    const flr_mesh *mesh;
    adjacency_build *b;
    const uint32_t *first; /* [vertex_count + 1] bucket borders */
    edge_slice *slices;
} edge_job;

/* the vertices of a slice */
static uint32_t slice_begin(size_t piece) { return (uint32_t)piece * ADJACENCY_SLICE; }
static uint32_t slice_end(const flr_mesh *mesh, size_t piece)
{
    uint32_t begin = slice_begin(piece), left = mesh->vertex_count - begin;
    return begin + (left < ADJACENCY_SLICE ? left : ADJACENCY_SLICE);
}

/* sorts the buckets of a slice by upper vertex and side, and counts their edges */
static flr_result sort_slice(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    edge_job *job = context;
    uint32_t *sides = job->b->edge_sides, begin = slice_begin(piece);
    uint32_t end = slice_end(job->mesh, piece);
    for (uint32_t v = begin; v < end; v++) {
        uint32_t count = job->first[v + 1] - job->first[v];
        if (count <= ADJACENCY_SMALL)
            insertion_sort(job->mesh, sides + job->first[v], count);
        else
            heap_sort(job->mesh, sides + job->first[v], count);
    }
    job->slices[piece].edge_count =
        count_edges(job->mesh, sides + job->first[begin], job->first[end] - job->first[begin]);
    return FLR_OK;
}

/* cuts the sorted sides of a slice into edges */
static flr_result cut_slice(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    edge_job *job = context;
    const flr_mesh *mesh = job->mesh;
    adjacency_build *b = job->b;
    edge_slice *slice = &job->slices[piece];
    uint32_t edge = slice->first_edge, sorted = job->first[slice_end(mesh, piece)];
    for (uint32_t i = job->first[slice_begin(piece)]; i < sorted; edge++) {
        uint32_t from = i;
        b->edges[edge] = side_vertices(mesh, b->edge_sides[from]);
        b->edge_first[edge] = from;
        do b->side_edge[b->edge_sides[i++]] = edge;
        while (i < sorted && same_edge(mesh, b->edge_sides[from], b->edge_sides[i]));

        flr_edge_kind kind = kind_of(mesh, b->edge_sides + from, i - from);
        b->edge_kind[edge] = (uint8_t)kind;
        slice->border_count += kind == FLR_EDGE_BORDER;
        slice->flipped_count += kind == FLR_EDGE_FLIPPED;
        slice->nonmanifold_count += kind == FLR_EDGE_NONMANIFOLD;
    }
    return FLR_OK;
}

/* ---- vertices ---- */

/* true when corner k repeats an earlier corner of the same triangle */
static bool corner_repeats(const uint32_t v[3], int k)
{
    return (k > 0 && v[k] == v[0]) || (k > 1 && v[k] == v[1]);
}

static void fill_vertices(const flr_mesh *mesh, adjacency_build *b)
{
    uint32_t *first = b->vertex_first;
    for (uint32_t v = 0; v <= mesh->vertex_count; v++) first[v] = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++)
        for (int k = 0; k < 3; k++)
            if (!corner_repeats(mesh->triangles[t].v, k)) first[mesh->triangles[t].v[k]]++;
    for (uint32_t v = 1; v <= mesh->vertex_count; v++) first[v] += first[v - 1];
    for (uint32_t t = mesh->triangle_count; t-- > 0;)
        for (int k = 0; k < 3; k++)
            if (!corner_repeats(mesh->triangles[t].v, k))
                b->vertex_triangles[--first[mesh->triangles[t].v[k]]] = t;
}

/* ---- components ---- */

static void fill_components(const flr_mesh *mesh, adjacency_build *b)
{
    /* join the triangles around every vertex; the lower number becomes the root */
    uint32_t *parent = b->triangle_component;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) parent[t] = t;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        uint32_t i = b->vertex_first[v], end = b->vertex_first[v + 1];
        uint32_t one = i < end ? flr_root(parent, b->vertex_triangles[i++]) : 0;
        for (; i < end; i++) {
            uint32_t two = flr_root(parent, b->vertex_triangles[i]);
            uint32_t low = one < two ? one : two;
            parent[one < two ? two : one] = low;
            one = low;
        }
    }

    /* a parent is never above its child: one pass from the front turns parents into numbers */
    for (uint32_t t = 0; t < mesh->triangle_count; t++)
        parent[t] = parent[t] == t ? b->out.component_count++ : parent[parent[t]];
}

/* ---- the whole ---- */

static void *array(uint64_t count, size_t size)
{
    return count > SIZE_MAX / size ? NULL : malloc(count ? (size_t)count * size : 1);
}

void flr_adjacency_destroy(flr_adjacency *adjacency)
{
    if (!adjacency) return;
    adjacency_build *b = (adjacency_build *)adjacency;
    free(b->edges);
    free(b->edge_kind);
    free(b->edge_first);
    free(b->edge_sides);
    free(b->side_edge);
    free(b->vertex_first);
    free(b->vertex_triangles);
    free(b->triangle_component);
    free(b);
}

/* allocates and fills what is about edges; `first` is overwritten. False when memory runs out */
static bool fill_edges(const flr_mesh *mesh, unsigned threads, adjacency_build *b, uint32_t *first,
                       edge_slice *slices, size_t slice_count)
{
    edge_job job = {.mesh = mesh, .b = b, .first = first, .slices = slices};
    deal_sides(mesh, b, first);
    if (flr_parallel_for(threads, slice_count, sort_slice, &job) != FLR_OK) return false;
    for (size_t i = 0; i < slice_count; i++) {
        slices[i].first_edge = b->out.edge_count;
        b->out.edge_count += slices[i].edge_count;
    }
    b->edges = array(b->out.edge_count, sizeof *b->edges);
    b->edge_kind = array(b->out.edge_count, sizeof *b->edge_kind);
    b->edge_first = array(b->out.edge_count + (uint64_t)1, sizeof *b->edge_first);
    if (!b->edges || !b->edge_kind || !b->edge_first) return false;
    if (flr_parallel_for(threads, slice_count, cut_slice, &job) != FLR_OK) return false;
    b->edge_first[b->out.edge_count] = first[mesh->vertex_count];
    for (size_t i = 0; i < slice_count; i++) {
        b->out.border_count += slices[i].border_count;
        b->out.flipped_count += slices[i].flipped_count;
        b->out.nonmanifold_count += slices[i].nonmanifold_count;
    }
    return true;
}

/* allocates and fills; false when memory runs out */
static bool fill(const flr_mesh *mesh, unsigned threads, bool edges_only, adjacency_build *b)
{
    uint64_t sides = 3 * (uint64_t)mesh->triangle_count;
    size_t slice_count = ((size_t)mesh->vertex_count + ADJACENCY_SLICE - 1) / ADJACENCY_SLICE;
    edge_slice *slices = calloc(slice_count + 1, sizeof *slices);
    b->vertex_first = array(mesh->vertex_count + (uint64_t)1, sizeof *b->vertex_first);
    b->edge_sides = array(sides, sizeof *b->edge_sides);
    b->side_edge = array(sides, sizeof *b->side_edge);
    /* vertex_first serves as bucket borders until the vertices are filled in */
    bool ok = slices && b->vertex_first && b->edge_sides && b->side_edge &&
              fill_edges(mesh, threads, b, b->vertex_first, slices, slice_count);
    free(slices);
    if (!ok) return false;
    if (edges_only) {
        free(b->vertex_first);
        b->vertex_first = NULL;
        return true;
    }
    b->vertex_triangles = array(sides, sizeof *b->vertex_triangles);
    b->triangle_component = array(mesh->triangle_count, sizeof *b->triangle_component);
    if (!b->vertex_triangles || !b->triangle_component) return false;
    fill_vertices(mesh, b);
    fill_components(mesh, b);
    return true;
}

static flr_result create(const flr_mesh *mesh, unsigned threads, bool edges_only,
                         flr_adjacency **adjacency, flr_error *error)
{
    if (mesh->triangle_count > UINT32_MAX / 3)
        return flr_fail(error, FLR_TOO_LARGE,
                        "the mesh has %u triangles, more than the %u that neighbours can be found "
                        "for: cut it into several parts",
                        mesh->triangle_count, UINT32_MAX / 3);

    adjacency_build *b = calloc(1, sizeof *b);
    if (!b || !fill(mesh, threads, edges_only, b)) {
        flr_adjacency_destroy(b ? &b->out : NULL);
        return flr_fail(error, FLR_NO_MEMORY,
                        "out of memory while finding the neighbours of %u triangles",
                        mesh->triangle_count);
    }
    b->out.vertex_count = mesh->vertex_count;
    b->out.triangle_count = mesh->triangle_count;
    b->out.edges = b->edges;
    b->out.edge_kind = b->edge_kind;
    b->out.edge_first = b->edge_first;
    b->out.edge_sides = b->edge_sides;
    b->out.side_edge = b->side_edge;
    b->out.vertex_first = b->vertex_first;
    b->out.vertex_triangles = b->vertex_triangles;
    b->out.triangle_component = b->triangle_component;
    *adjacency = &b->out;
    return FLR_OK;
}

flr_result flr_adjacency_create(const flr_mesh *mesh, flr_adjacency **adjacency, flr_error *error)
{
    return create(mesh, 1, false, adjacency, error);
}

flr_result flr_adjacency_create_edges(const flr_mesh *mesh, unsigned threads,
                                      flr_adjacency **adjacency, flr_error *error)
{
    return create(mesh, threads, true, adjacency, error);
}
