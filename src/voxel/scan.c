/* from triangles to surface voxels: every voxel that a triangle touches, exactly
 *
 * Triangles, feature edges and feature vertices ("primitives") are sorted by the hyperchunks they
 * touch; then each hyperchunk is scanned on its own, in a dense scratch of 512 masks per layer, and its
 * non-empty masks are kept. */
#include <stdlib.h>

#include "base/parallel.h"
#include "voxel/build.h"
#include "voxel/overlap_prepare.h"

/* ---- primitives ---- */

/* Edges and corners are triangles without area: the same exact test, so that an edge's voxels are
 * among those of its triangles. */
static void corners_of(const flr_build *build, uint32_t primitive, flr_vec3 corners[3])
{
    const flr_vec3 *v = build->vertices;
    uint32_t triangles = build->mesh->triangle_count, first, second, third;
    if (primitive < triangles) {
        const uint32_t *t = build->mesh->triangles[primitive].v;
        first = t[0], second = t[1], third = t[2];
    } else if (primitive < triangles + build->edge_count) {
        const uint32_t *e = build->edges[primitive - triangles].v;
        first = e[0], second = third = e[1];
    } else {
        first = second = third = build->corners[primitive - triangles - build->edge_count];
    }
    corners[0] = v[first], corners[1] = v[second], corners[2] = v[third];
}

static int layer_of(const flr_build *build, uint32_t primitive)
{
    uint32_t triangles = build->mesh->triangle_count;
    if (primitive < triangles) return FLR_LAYER_SURFACE;
    return primitive < triangles + build->edge_count ? FLR_LAYER_EDGE : FLR_LAYER_VERTEX;
}

/* ---- sorting primitives by hyperchunk ---- */

/* hyperchunk number in the high half, primitive in the low half */
typedef struct pair_list {
    uint64_t *pairs;
    size_t count, capacity;
} pair_list;

static bool pair_add(pair_list *list, uint64_t pair)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 4096;
        uint64_t *pairs = realloc(list->pairs, capacity * sizeof *pairs);
        if (!pairs) return false;
        list->pairs = pairs;
        list->capacity = capacity;
    }
    list->pairs[list->count++] = pair;
    return true;
}

uint32_t flr_build_hyper_number(const flr_build *build, uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t root = (x >> 3) + build->roots[0] * ((y >> 3) + build->roots[1] * (z >> 3));
    return root << 9 | flr_cell(x & 7, y & 7, z & 7);
}

typedef struct scan_sort_job {
    flr_build *build;
    pair_list *lists; /* one per slice of the primitives */
    uint32_t primitive_count, slice;
} scan_sort_job;

/* The hyperchunks of a cube of them that a primitive touches, eighth by eighth: a long one costs by its length, not by its
 * box. */
static bool sort_cube(const flr_build *build, pair_list *list, const flr_overlap *t,
                      const int32_t at[3], int32_t side, uint32_t primitive)
{
    if (!flr_overlap_block(t, at[0] * 64, at[1] * 64, at[2] * 64, side * 64)) return true;
    if (side == 1) {
        uint64_t number =
            flr_build_hyper_number(build, (uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]);
        return pair_add(list, number << 32 | primitive);
    }
    int32_t half = side / 2;
    for (int i = 0; i < 8; i++) {
        const int32_t eighth[3] = {at[0] + (i & 1 ? half : 0), at[1] + (i & 2 ? half : 0),
                                   at[2] + (i & 4 ? half : 0)};
        if (!sort_cube(build, list, t, eighth, half, primitive)) return false;
    }
    return true;
}

static flr_result sort_slice(void *context, size_t piece, unsigned worker)
{
    scan_sort_job *job = context;
    const flr_build *build = job->build;
    uint32_t from = (uint32_t)piece * job->slice, to = from + job->slice;
    if (to > job->primitive_count || to < from) to = job->primitive_count;
    for (uint32_t primitive = from; primitive < to; primitive++) {
        flr_vec3 corners[3];
        corners_of(build, primitive, corners);
        int32_t low[3], high[3];
        bool one = true;
        flr_overlap_box(corners[0], corners[1], corners[2], low, high);
        for (int axis = 0; axis < 3; axis++) {
            low[axis] >>= 6;
            high[axis] >>= 6;
            one &= low[axis] == high[axis];
        }
        /* a large triangle takes its time, and so do many small ones */
        bool ask =
            primitive % 1024 == 0 || high[0] - low[0] + high[1] - low[1] + high[2] - low[2] > 64;
        if (ask && flr_build_go_on(build, worker, 0) != FLR_OK) return FLR_CANCELLED;
        if (one) {
            uint64_t number =
                flr_build_hyper_number(build, (uint32_t)low[0], (uint32_t)low[1], (uint32_t)low[2]);
            if (!pair_add(&job->lists[piece], number << 32 | primitive)) return FLR_NO_MEMORY;
            continue;
        }
        int32_t side = 1;
        for (int axis = 0; axis < 3; axis++)
            while (side <= high[axis] - low[axis]) side *= 2;
        const flr_overlap t = flr_overlap_prepare(corners[0], corners[1], corners[2]);
        if (!sort_cube(build, &job->lists[piece], &t, low, side, primitive)) return FLR_NO_MEMORY;
    }
    return FLR_OK;
}

/* Sorts by the high halves, keeping the order of the low ones: least digit first. */
static bool sort_pairs(uint64_t *pairs, size_t count)
{
    enum { digit = 11 };
    uint64_t *other = malloc((count ? count : 1) * sizeof *other), *from = pairs, *to = other;
    uint64_t highest = 0;
    if (!other) return false;
    for (size_t i = 0; i < count; i++) highest |= pairs[i];
    for (unsigned shift = 32; shift < 64 && highest >> shift; shift += digit) {
        size_t starts[1 << digit] = {0}, sum = 0;
        for (size_t i = 0; i < count; i++) starts[from[i] >> shift & ((1 << digit) - 1)]++;
        for (size_t i = 0; i < 1 << digit; i++) {
            size_t here = starts[i];
            starts[i] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++)
            to[starts[from[i] >> shift & ((1 << digit) - 1)]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != pairs) memcpy(pairs, from, count * sizeof *pairs);
    free(other);
    return true;
}

bool flr_build_directory(flr_build *build, uint64_t *pairs, size_t count)
{
    uint32_t hypers = 0, nodes = 0;
    if (!sort_pairs(pairs, count)) return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = pairs[i] >> 32;
        if (i == 0 || number != pairs[i - 1] >> 32) hypers++;
        if (i == 0 || number >> 9 != pairs[i - 1] >> 41) nodes++;
    }
    size_t cells = (size_t)build->roots[0] * build->roots[1] * build->roots[2];
    build->primitives = malloc((count ? count : 1) * sizeof *build->primitives);
    build->hypers = aligned_alloc(64, (hypers ? hypers : 1) * sizeof *build->hypers);
    build->nodes = aligned_alloc(64, (nodes ? nodes : 1) * sizeof *build->nodes);
    build->root = malloc(cells * sizeof *build->root);
    if (!build->primitives || !build->hypers || !build->nodes || !build->root) return false;
    memset(build->hypers, 0, hypers * sizeof *build->hypers);
    memset(build->nodes, 0, nodes * sizeof *build->nodes);
    for (size_t i = 0; i < cells; i++) build->root[i] = FLR_ROOT_EMPTY;

    for (size_t i = 0; i < count; i++) {
        uint32_t number = (uint32_t)(pairs[i] >> 32), root = number >> 9, cell = number & 511;
        build->primitives[i] = (uint32_t)pairs[i];
        if (i == 0 || number != pairs[i - 1] >> 32) {
            if (build->root[root] == FLR_ROOT_EMPTY) {
                build->nodes[build->node_count].first = build->hyper_count;
                build->root[root] = build->node_count++;
            }
            flr_mask_set(&build->nodes[build->root[root]].used, cell);
            flr_build_hyper *hyper = &build->hypers[build->hyper_count++];
            hyper->at[0] = root % build->roots[0] * 8 + (cell & 7);
            hyper->at[1] = root / build->roots[0] % build->roots[1] * 8 + (cell >> 3 & 7);
            hyper->at[2] = root / build->roots[0] / build->roots[1] * 8 + (cell >> 6);
            hyper->first_primitive = (uint32_t)i;
        }
        build->hypers[build->hyper_count - 1].primitive_count++;
    }
    return true;
}

static flr_result sort_primitives(flr_build *build)
{
    enum { slice = 65536 };
    uint32_t count = build->mesh->triangle_count + build->edge_count + build->corner_count;
    size_t slices = ((size_t)count + slice - 1) / slice, total = 0;
    scan_sort_job job = {.build = build, .primitive_count = count, .slice = slice};
    job.lists = calloc(slices, sizeof *job.lists);
    if (!job.lists) return FLR_NO_MEMORY;
    flr_result result = flr_parallel_for(build->threads, slices, sort_slice, &job);

    /* one list, in the order of the primitives */
    uint64_t *pairs = NULL;
    for (size_t i = 0; i < slices; i++) total += job.lists[i].count;
    if (result == FLR_OK && !(pairs = malloc((total ? total : 1) * sizeof *pairs)))
        result = FLR_NO_MEMORY;
    total = 0;
    for (size_t i = 0; i < slices; i++) {
        for (size_t k = 0; result == FLR_OK && k < job.lists[i].count; k++)
            pairs[total++] = job.lists[i].pairs[k];
        free(job.lists[i].pairs);
    }
    free(job.lists);
    if (result == FLR_OK && total > UINT32_MAX) result = FLR_TOO_LARGE;
    if (result == FLR_OK && !flr_build_directory(build, pairs, total)) result = FLR_NO_MEMORY;
    free(pairs);
    return result;
}

/* ---- scanning one hyperchunk ---- */

/* Marks rows in dense masks by chunk. */
static void mark_rows(const flr_overlap_rows *rows, flr_mask dense[512])
{
    for (uint32_t i = 0; i < rows->count; i++) {
        const unsigned y = rows->at[i] & 63, z = rows->at[i] >> 6;
        unsigned x = (unsigned)__builtin_ctzll(rows->bits[i]) >> 3;
        flr_mask *chunks = dense + flr_cell(0, y >> 3, z >> 3);
        for (uint64_t row = rows->bits[i] >> 8 * x; row; x++, row >>= 8)
            chunks[x].z[z & 7] |= (row & 255) << 8 * (y & 7);
    }
}

void flr_build_visit(const flr_build *build, const flr_build_hyper *hyper, uint32_t primitive,
                     flr_overlap_rows *rows)
{
    const int32_t base[3] = {(int32_t)hyper->at[0] * 64, (int32_t)hyper->at[1] * 64,
                             (int32_t)hyper->at[2] * 64};
    flr_vec3 corners[3];
    corners_of(build, primitive, corners);
    build->find(corners[0], corners[1], corners[2], base, rows);
}

bool flr_build_keep_masks(flr_build_hyper *hyper, flr_mask (*dense)[512])
{
    size_t counts[FLR_LAYER_COUNT], total = 0;
    for (int layer = 0; layer < FLR_LAYER_COUNT; layer++) {
        for (unsigned cell = 0; cell < 512; cell++)
            if (!flr_mask_is_empty(&dense[layer][cell])) flr_mask_set(&hyper->used[layer], cell);
        total += counts[layer] = flr_mask_count(&hyper->used[layer]);
    }
    size_t surface = counts[FLR_LAYER_SURFACE];
    flr_mask *block = aligned_alloc(64, (total + surface + 1) * sizeof *block);
    if (!block) return false;
    flr_mask *next = block;
    for (int layer = 0; layer < FLR_LAYER_COUNT; layer++) {
        hyper->masks[layer] = next;
        for (FLR_EACH_CELL(&hyper->used[layer], cell)) *next++ = dense[layer][cell];
    }
    hyper->outside = next;
    memset(next, 0, surface * sizeof *next);
    return true;
}

typedef struct scan_scratch {
    flr_mask dense[FLR_LAYER_COUNT][512];
    flr_overlap_rows rows;
} scan_scratch;

typedef struct scan_job {
    flr_build *build;
    uint32_t first;        /* hyperchunk */
    scan_scratch *scratch; /* per worker */
} scan_job;

static flr_result scan_hyper(void *context, size_t piece, unsigned worker)
{
    scan_job *job = context;
    flr_build *build = job->build;
    flr_build_hyper *hyper = &build->hypers[job->first + piece];
    double share = (double)(job->first + piece) / build->hyper_count;
    if (flr_build_go_on(build, worker, share) != FLR_OK) return FLR_CANCELLED;
    flr_mask(*dense)[512] = job->scratch[worker].dense;
    flr_overlap_rows *rows = &job->scratch[worker].rows;
    memset(dense, 0, sizeof job->scratch[worker].dense);
    for (uint32_t i = 0; i < hyper->primitive_count; i++) {
        uint32_t primitive = build->primitives[hyper->first_primitive + i];
        flr_build_visit(build, hyper, primitive, rows);
        mark_rows(rows, dense[layer_of(build, primitive)]);
    }
    /* rounding must not leave an edge or corner voxel without a surface, nor a corner without edge */
    uint64_t *surface = (uint64_t *)dense[FLR_LAYER_SURFACE],
             *edge = (uint64_t *)dense[FLR_LAYER_EDGE];
    const uint64_t *corner = (const uint64_t *)dense[FLR_LAYER_VERTEX];
    if (build->edge_count + build->corner_count > 0)
        for (size_t i = 0; i < 512 * 8; i++) {
            edge[i] |= corner[i];
            surface[i] |= edge[i];
        }
    return flr_build_keep_masks(hyper, dense) ? FLR_OK : FLR_NO_MEMORY;
}

/* ---- the whole ---- */

flr_build_hyper *flr_build_find(const flr_build *build, int64_t x, int64_t y, int64_t z)
{
    const uint32_t *n = build->grid.hypers;
    if (x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2]) return NULL;
    size_t cell = (size_t)(x >> 3) +
                  build->roots[0] * ((size_t)(y >> 3) + build->roots[1] * (size_t)(z >> 3));
    uint32_t node = build->root[cell];
    if (node >= FLR_ROOT_OUTSIDE) return NULL;
    unsigned inside = flr_cell(x & 7, y & 7, z & 7);
    if (!flr_mask_get(&build->nodes[node].used, inside)) return NULL;
    return &build->hypers[build->nodes[node].first +
                          flr_mask_rank(&build->nodes[node].used, inside)];
}

flr_result flr_build_sort(flr_build *build, flr_pose T_voxmap_mesh, flr_error *error)
{
    const flr_mesh *mesh = build->mesh;
    build->find = flr_overlap_kernel(FLR_SIMD_BEST);
    for (int axis = 0; axis < 3; axis++) build->roots[axis] = (build->grid.hypers[axis] + 7) / 8;
    build->vertices = malloc(mesh->vertex_count * sizeof *build->vertices);
    if (!build->vertices) return flr_fail(error, FLR_NO_MEMORY, "not enough memory to voxelize");
    for (uint32_t i = 0; i < mesh->vertex_count; i++)
        build->vertices[i] =
            flr_grid_corner(&build->grid, flr_pose_apply(T_voxmap_mesh, mesh->vertices[i]));

    flr_result result = sort_primitives(build);
    if (result == FLR_OK) return FLR_OK;
    return flr_fail(error, result, "not enough memory to sort %u triangles", mesh->triangle_count);
}

flr_result flr_build_scan(flr_build *build, flr_pose T_voxmap_mesh, flr_error *error)
{
    flr_result result = flr_build_sort(build, T_voxmap_mesh, error);
    if (result != FLR_OK) return result;
    return flr_build_scan_some(build, 0, build->hyper_count, error);
}

flr_result flr_build_scan_some(flr_build *build, uint32_t first, uint32_t count, flr_error *error)
{
    unsigned workers = flr_parallel_threads(build->threads);
    scan_job job = {.build = build, .first = first};
    job.scratch = aligned_alloc(64, workers * sizeof *job.scratch);
    flr_result result =
        job.scratch ? flr_parallel_for(build->threads, count, scan_hyper, &job) : FLR_NO_MEMORY;
    free(job.scratch);
    if (result == FLR_OK) return FLR_OK;
    return flr_fail(error, result, "not enough memory to voxelize %u triangles",
                    build->mesh->triangle_count);
}

void flr_build_free(flr_build *build)
{
    for (uint32_t i = 0; i < build->hyper_count; i++) free(build->hypers[i].masks[0]);
    free(build->vertices);
    free(build->primitives);
    free(build->hypers);
    free(build->nodes);
    free(build->root);
    *build = (flr_build){0};
}
