/* which voxels can be reached from outside
 *
 * Free space is flooded from beyond the grid, face to face (6 neighbours), never through a surface
 * voxel. What cannot be reached is interior. The flood runs on the largest empty cell at each place: a
 * whole root cell, a hyperchunk, a chunk; only in chunks with surface it works on voxels, 512 at a time.
 * Reaching is monotone, so the order of the work does not matter for the result. Hyperchunks with surface are flooded by
 * several threads: those with an even sum of coordinates and those with an odd one in turn, as a hyperchunk reads only the
 * neighbours beyond its sides. */
#include <stdlib.h>

#include "base/array.h"
#include "base/parallel.h"
#include "voxel/build.h"

/* the six directions: -x +x -y +y -z +z; the opposite is d ^ 1 */
static const int step[6][3] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};

/* ---- faces of a mask: 64 bits, in the order of the two other axes ---- */

static uint64_t face_out(const flr_mask *m, int d)
{
    uint64_t face = 0;
    switch (d) {
    case 0:
    case 1:
        for (int z = 0; z < 8; z++) {
            uint64_t column = m->z[z] >> (d == 0 ? 0 : 7) & FLR_MASK_X0;
            face |= (column * UINT64_C(0x0102040810204080) >> 56) << 8 * z; /* gathers the bits */
        }
        return face;
    case 2:
    case 3:
        for (int z = 0; z < 8; z++) face |= (m->z[z] >> (d == 2 ? 0 : 56) & 255) << 8 * z;
        return face;
    default:
        return m->z[d == 4 ? 0 : 7];
    }
}

/* Adds a face of bits to the side of the mask that looks in direction d. */
static void face_in(flr_mask *m, int d, uint64_t face)
{
    switch (d) {
    case 0:
    case 1:
        for (int z = 0; z < 8; z++) {
            /* spreads a byte over the column: bit y goes to bit 8 y */
            uint64_t byte = face >> 8 * z & 255, spread = 0;
            for (int y = 0; y < 8; y++) spread |= (byte >> y & 1) << 8 * y;
            m->z[z] |= spread << (d == 0 ? 0 : 7);
        }
        return;
    case 2:
    case 3:
        for (int z = 0; z < 8; z++) m->z[z] |= (face >> 8 * z & 255) << (d == 2 ? 0 : 56);
        return;
    default:
        m->z[d == 4 ? 0 : 7] |= face;
    }
}

/* Spreads `outside` through the voxels that are not `surface` until nothing changes. */
static void flood_chunk(flr_mask *outside, const flr_mask *surface)
{
    uint64_t o[8], free[8], changed;
    for (int z = 0; z < 8; z++) {
        free[z] = ~surface->z[z];
        o[z] = outside->z[z];
    }
    do {
        changed = 0;
        for (int up = 0; up < 2; up++)
            for (int i = 0; i < 8; i++) {
                int z = up ? i : 7 - i, before = up ? z - 1 : z + 1;
                uint64_t m = o[z];
                if (before >= 0 && before < 8) m |= o[before] & free[z];
                /* along x and y: doubling steps through runs of free voxels */
                uint64_t left = free[z] & ~FLR_MASK_X0, right = free[z] & ~FLR_MASK_X7;
                for (int k = 0; k < 3; k++) {
                    m |= (m << 1 & left) | (m >> 1 & right);
                    m |= (m << 8 | m >> 8) & free[z];
                }
                changed |= m ^ o[z];
                o[z] = m;
            }
    } while (changed);
    for (int z = 0; z < 8; z++) outside->z[z] = o[z];
}

/* ---- what is to be looked at ---- */

/* a hyperchunk with surface that something reached */
typedef struct fill_reached {
    flr_build_hyper *hyper;
    unsigned
        left; /* after the flood, bit d: something reached its side that looks in direction d */
} fill_reached;

typedef struct fill_wave {
    fill_reached *items;
    size_t count, capacity;
} fill_wave;

typedef struct fill_queue {
    flr_build *build;
    uint64_t *items; /* hyperchunk coordinates, or a root cell's with the top bit set */
    size_t count, capacity;
    fill_wave waves[2]; /* with surface: by the parity of the sum of their coordinates */
    bool out_of_memory;
} fill_queue;

#define ITEM_ROOT (UINT64_C(1) << 63)

static uint64_t item(int64_t x, int64_t y, int64_t z)
{
    return (uint64_t)x | (uint64_t)y << 21 | (uint64_t)z << 42;
}

static void push(fill_queue *q, uint64_t what)
{
    if (FLR_GROW(q->items, q->count, q->capacity, 1024))
        q->items[q->count++] = what;
    else
        q->out_of_memory = true;
}

static void push_hyper(fill_queue *q, flr_build_hyper *hyper)
{
    fill_wave *wave = &q->waves[(hyper->at[0] + hyper->at[1] + hyper->at[2]) & 1];
    if (FLR_GROW(wave->items, wave->count, wave->capacity, 1024))
        wave->items[wave->count++] = (fill_reached){.hyper = hyper};
    else
        q->out_of_memory = true;
}

static uint32_t *root_at(const flr_build *build, int64_t x, int64_t y, int64_t z)
{
    return &build->root[(size_t)x + build->roots[0] * ((size_t)y + build->roots[1] * (size_t)z)];
}

/* Something in direction d of its neighbour was reached: look at the hyperchunk (x, y, z). */
static void touch_hyper(fill_queue *q, int64_t x, int64_t y, int64_t z)
{
    flr_build *build = q->build;
    const uint32_t *n = build->grid.hypers;
    if (x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2]) return;
    uint32_t *root = root_at(build, x >> 3, y >> 3, z >> 3);
    if (*root == FLR_ROOT_OUTSIDE) return;
    if (*root == FLR_ROOT_EMPTY) {
        *root = FLR_ROOT_OUTSIDE;
        push(q, ITEM_ROOT | item(x >> 3, y >> 3, z >> 3));
        return;
    }
    flr_build_node *node = &build->nodes[*root];
    unsigned cell = flr_cell(x & 7, y & 7, z & 7);
    if (flr_mask_get(&node->used, cell)) {
        flr_build_hyper *hyper = &build->hypers[node->first + flr_mask_rank(&node->used, cell)];
        if (hyper->queued) return;
        hyper->queued = true;
        if (!hyper->away) push_hyper(q, hyper);
    } else {
        if (flr_mask_get(&node->empty_outside, cell)) return;
        flr_mask_set(&node->empty_outside, cell);
        push(q, item(x, y, z));
    }
}

bool flr_build_empty_is_outside(const flr_build *build, int64_t x, int64_t y, int64_t z)
{
    const uint32_t *n = build->grid.hypers;
    if (x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2]) return true;
    uint32_t root = *root_at(build, x >> 3, y >> 3, z >> 3);
    if (root >= FLR_ROOT_OUTSIDE) return root == FLR_ROOT_OUTSIDE;
    return flr_mask_get(&build->nodes[root].empty_outside, flr_cell(x & 7, y & 7, z & 7));
}

bool flr_build_voxel_is_outside(const flr_build *build, int64_t x, int64_t y, int64_t z)
{
    const flr_build_hyper *hyper = flr_build_find(build, x >> 6, y >> 6, z >> 6);
    if (!hyper) return flr_build_empty_is_outside(build, x >> 6, y >> 6, z >> 6);
    unsigned cell = flr_cell(x >> 3 & 7, y >> 3 & 7, z >> 3 & 7);
    if (!flr_mask_get(&hyper->used[FLR_LAYER_SURFACE], cell))
        return flr_mask_get(&hyper->empty_outside, cell);
    unsigned slot = flr_mask_rank(&hyper->used[FLR_LAYER_SURFACE], cell);
    return flr_mask_get(&hyper->outside[slot], flr_cell(x & 7, y & 7, z & 7));
}

/* ---- inside one touched hyperchunk ---- */

typedef struct local {
    flr_build_hyper *hyper;
    flr_mask *outside[512];       /* of a chunk with surface, else NULL */
    const flr_mask *surface[512]; /* likewise */
    flr_mask waiting;             /* chunks on the stack */
    uint16_t stack[512];
    unsigned depth;
    unsigned left; /* bit d: something reached the side that looks in direction d */
} local;

/* Gives bits to the side of chunk `cell` that looks in direction d. */
static void give(local *l, unsigned cell, int d, uint64_t face)
{
    if (!face) return;
    if (l->outside[cell]) {
        flr_mask add = {{0}};
        face_in(&add, d, face);
        uint64_t news = 0;
        for (int z = 0; z < 8; z++) {
            uint64_t more = add.z[z] & ~l->surface[cell]->z[z] & ~l->outside[cell]->z[z];
            l->outside[cell]->z[z] |= more;
            news |= more;
        }
        if (!news) return;
    } else {
        if (flr_mask_get(&l->hyper->empty_outside, cell)) return;
        flr_mask_set(&l->hyper->empty_outside, cell);
    }
    if (flr_mask_get(&l->waiting, cell)) return;
    flr_mask_set(&l->waiting, cell);
    l->stack[l->depth++] = (uint16_t)cell;
}

/* What a neighbouring hyperchunk shows through the side of its chunk `cell` that looks in direction d. */
static uint64_t seen(const flr_build_hyper *hyper, unsigned cell, int d)
{
    if (flr_mask_get(&hyper->used[FLR_LAYER_SURFACE], cell))
        return face_out(&hyper->outside[flr_mask_rank(&hyper->used[FLR_LAYER_SURFACE], cell)], d);
    return flr_mask_get(&hyper->empty_outside, cell) ? UINT64_MAX : 0;
}

/* Cells of the side of an 8x8x8 block that looks in direction d: the i-th of 64. */
static unsigned side_cell(int d, unsigned i)
{
    unsigned at = d & 1 ? 7 : 0, u = i & 7, v = i >> 3;
    return d < 2 ? flr_cell(at, u, v) : d < 4 ? flr_cell(u, at, v) : flr_cell(u, v, at);
}

/* Returns through which sides it goes on. Writes to this hyperchunk and reads those beyond its sides. */
static unsigned flood_hyper(const flr_build *build, flr_build_hyper *hyper)
{
    local l = {.hyper = hyper};
    hyper->changed = true;
    const flr_mask *surface = hyper->masks[FLR_LAYER_SURFACE];
    flr_mask *outside = hyper->outside;
    for (FLR_EACH_CELL(&hyper->used[FLR_LAYER_SURFACE], cell)) {
        l.surface[cell] = surface++;
        l.outside[cell] = outside++;
    }
    /* in through the six sides */
    for (int d = 0; d < 6; d++) {
        int64_t x = (int64_t)hyper->at[0] + step[d][0], y = (int64_t)hyper->at[1] + step[d][1],
                z = (int64_t)hyper->at[2] + step[d][2];
        const flr_build_hyper *other = flr_build_find(build, x, y, z);
        bool open = !other && flr_build_empty_is_outside(build, x, y, z);
        if (other ? !other->outside : !open) continue;
        for (unsigned i = 0; i < 64; i++)
            give(&l, side_cell(d, i), d,
                 other ? seen(other, side_cell(d ^ 1, i), d ^ 1) : UINT64_MAX);
    }
    /* on from chunk to chunk */
    while (l.depth) {
        unsigned cell = l.stack[--l.depth];
        l.waiting.z[cell >> 6] &= ~(UINT64_C(1) << (cell & 63));
        if (l.outside[cell]) flood_chunk(l.outside[cell], l.surface[cell]);
        for (int d = 0; d < 6; d++) {
            uint64_t face = l.outside[cell] ? face_out(l.outside[cell], d) : UINT64_MAX;
            int x = (int)(cell & 7) + step[d][0], y = (int)(cell >> 3 & 7) + step[d][1],
                z = (int)(cell >> 6) + step[d][2];
            if ((x | y | z) & ~7)
                l.left |= face ? 1u << d : 0;
            else
                give(&l, flr_cell((unsigned)x, (unsigned)y, (unsigned)z), d ^ 1, face);
        }
    }
    return l.left;
}

/* ---- the whole ---- */

/* A root cell that is empty and outside: its neighbours are reached over the whole side. */
static void leave_root(fill_queue *q, int64_t x, int64_t y, int64_t z)
{
    const uint32_t *n = q->build->roots;
    for (int d = 0; d < 6; d++) {
        int64_t u = x + step[d][0], v = y + step[d][1], w = z + step[d][2];
        if (u < 0 || v < 0 || w < 0 || u >= n[0] || v >= n[1] || w >= n[2]) continue;
        /* an empty neighbour is reached as a whole by its first hyperchunk */
        uint32_t there = *root_at(q->build, u, v, w);
        unsigned count = there == FLR_ROOT_OUTSIDE ? 0 : there == FLR_ROOT_EMPTY ? 1 : 64;
        for (unsigned i = 0; i < count; i++) {
            unsigned cell = side_cell(d ^ 1, i);
            touch_hyper(q, u * 8 + (cell & 7), v * 8 + (cell >> 3 & 7), w * 8 + (cell >> 6));
        }
    }
}

/* Cells without surface: those beside them are reached. */
static void drain_empty(fill_queue *q)
{
    while (q->count && !q->out_of_memory) {
        uint64_t what = q->items[--q->count];
        int64_t x = what & 0x1FFFFF, y = what >> 21 & 0x1FFFFF, z = what >> 42 & 0x1FFFFF;
        if (what & ITEM_ROOT)
            leave_root(q, x, y, z);
        else
            for (int d = 0; d < 6; d++)
                touch_hyper(q, x + step[d][0], y + step[d][1], z + step[d][2]);
    }
}

typedef struct fill_job {
    const flr_build *build;
    fill_reached *wave;
} fill_job;

static flr_result flood_one(void *context, size_t piece, unsigned worker)
{
    fill_job *job = context;
    fill_reached *r = &job->wave[piece];
    if (piece % 64 == 0 && flr_build_go_on(job->build, worker, 0) != FLR_OK) return FLR_CANCELLED;
    r->left = flood_hyper(job->build, r->hyper);
    return FLR_OK;
}

/* All that were reached and have this parity; then what they reach in turn. */
static flr_result flood_wave(fill_queue *q, unsigned parity)
{
    enum { WORTH_THREADS = 8 }; /* as many are worth starting threads for */
    fill_wave *wave = &q->waves[parity];
    fill_job job = {.build = q->build, .wave = wave->items};
    unsigned threads = wave->count < WORTH_THREADS ? 1 : q->build->threads;
    flr_result result = flr_parallel_for(threads, wave->count, flood_one, &job);
    if (result != FLR_OK) return result;
    for (size_t i = 0; i < wave->count; i++) wave->items[i].hyper->queued = false;
    for (size_t i = 0; i < wave->count; i++) {
        const fill_reached *r = &wave->items[i];
        for (int d = 0; d < 6; d++)
            if (r->left >> d & 1)
                touch_hyper(q, (int64_t)r->hyper->at[0] + step[d][0],
                            (int64_t)r->hyper->at[1] + step[d][1],
                            (int64_t)r->hyper->at[2] + step[d][2]);
    }
    wave->count = 0; /* those beyond the sides have the other parity */
    return FLR_OK;
}

/* Until nothing is left to look at. Frees the queue. */
static flr_result drain(fill_queue *q, flr_error *error)
{
    flr_result result = FLR_OK;
    for (unsigned parity = 0; result == FLR_OK && !q->out_of_memory; parity ^= 1) {
        drain_empty(q);
        if (!q->waves[0].count && !q->waves[1].count) break;
        /* in a small wave, no piece that asks may come to the thread that may */
        result = flr_build_go_on(q->build, 0, 0);
        if (result == FLR_OK) result = flood_wave(q, parity);
    }
    free(q->items);
    free(q->waves[0].items);
    free(q->waves[1].items);
    if (result != FLR_OK) return flr_fail(error, result, "voxelizing was stopped");
    if (q->out_of_memory)
        return flr_fail(error, FLR_NO_MEMORY, "not enough memory to fill the interior");
    return FLR_OK;
}

flr_result flr_build_fill(flr_build *build, flr_error *error)
{
    fill_queue q = {.build = build};
    const uint32_t *n = build->grid.hypers;
    /* in from beyond the grid */
    for (uint32_t z = 0; z < n[2]; z++)
        for (uint32_t y = 0; y < n[1]; y++)
            for (uint32_t x = 0; x < n[0]; x++) {
                bool inner = y > 0 && z > 0 && y + 1 < n[1] && z + 1 < n[2];
                touch_hyper(&q, x, y, z);
                if (inner && x == 0 && n[0] > 2) x = n[0] - 2; /* skip to the far end of the row */
            }
    return drain(&q, error);
}

flr_result flr_build_fill_some(flr_build *build, uint32_t first, uint32_t count, flr_error *error)
{
    fill_queue q = {.build = build};
    for (uint32_t i = first; i < first + count; i++) {
        flr_build_hyper *hyper = &build->hypers[i];
        if (hyper->queued) push_hyper(&q, hyper);
    }
    return drain(&q, error);
}

void flr_build_note_inside(flr_build_hyper *hyper)
{
    unsigned slot = 0;
    memset(&hyper->partly_inside, 0, sizeof hyper->partly_inside);
    for (FLR_EACH_CELL(&hyper->used[FLR_LAYER_SURFACE], cell)) {
        uint64_t inside = 0;
        for (int z = 0; z < 8; z++)
            inside |= ~hyper->masks[FLR_LAYER_SURFACE][slot].z[z] & ~hyper->outside[slot].z[z];
        if (inside) flr_mask_set(&hyper->partly_inside, (unsigned)cell);
        slot++;
    }
}
