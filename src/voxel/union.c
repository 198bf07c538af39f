/* the union of parts, on masks
 *
 * A voxel is interior if it is interior to some part, surface if it is surface of some part and interior to none, else
 * outside. No voxel outside has a face in common with one interior: the part for which the one is interior would
 * have been flooded through the other. So what no surface touches is of one kind, be it a chunk, a hyperchunk or a
 * root cell, as the fill has it. */
#include "voxel/union.h"

#include <stdlib.h>

#include "base/parallel.h"

/* Is a hyperchunk, by lattice coordinates, interior to the part throughout and not touched by it? */
static bool covers(const flr_placed *part, int64_t x, int64_t y, int64_t z)
{
    const flr_build *build = &part->build;
    x -= part->low[0], y -= part->low[1], z -= part->low[2];
    if (part->hollow || flr_build_empty_is_outside(build, x, y, z)) return false;
    return !flr_build_find(build, x, y, z);
}

/* ---- one touched hyperchunk ---- */

/* scratch of one worker: the chunks of a hyperchunk */
typedef struct union_scratch {
    flr_mask layers[FLR_LAYER_COUNT][512];
    flr_mask interior[512];
} union_scratch;

typedef struct union_job {
    const flr_placed *const *parts;
    flr_placed *all;
    union_scratch *scratches; /* per worker */
    uint32_t count;
} union_job;

/* Adds what a part has in a hyperchunk that it touches. */
static void add_part(union_scratch *s, const flr_placed *part, const flr_build_hyper *hyper)
{
    for (int layer = 0; layer < FLR_LAYER_COUNT; layer++) {
        const flr_mask *mask = hyper->masks[layer];
        for (FLR_EACH_CELL(&hyper->used[layer], cell)) {
            for (int z = 0; z < 8; z++) s->layers[layer][cell].z[z] |= mask->z[z];
            mask++;
        }
    }
    if (part->hollow) return;
    unsigned slot = 0;
    for (unsigned cell = 0; cell < 512; cell++) {
        if (flr_mask_get(&hyper->used[FLR_LAYER_SURFACE], cell)) {
            const flr_mask *surface = &hyper->masks[FLR_LAYER_SURFACE][slot];
            const flr_mask *outside = &hyper->outside[slot++];
            for (int z = 0; z < 8; z++) s->interior[cell].z[z] |= ~surface->z[z] & ~outside->z[z];
        } else if (!flr_mask_get(&hyper->empty_outside, cell)) {
            memset(&s->interior[cell], 255, sizeof s->interior[cell]);
        }
    }
}

/* Keeps the union of a hyperchunk. */
static bool keep(union_scratch *s, flr_build_hyper *hyper)
{
    for (int layer = 0; layer < FLR_LAYER_COUNT; layer++)
        for (unsigned cell = 0; cell < 512; cell++)
            for (int z = 0; z < 8; z++) s->layers[layer][cell].z[z] &= ~s->interior[cell].z[z];
    if (!flr_build_keep_masks(hyper, s->layers)) return false;
    unsigned slot = 0;
    for (unsigned cell = 0; cell < 512; cell++) {
        if (flr_mask_get(&hyper->used[FLR_LAYER_SURFACE], cell)) {
            flr_mask *outside = &hyper->outside[slot++];
            for (int z = 0; z < 8; z++)
                outside->z[z] = ~s->layers[FLR_LAYER_SURFACE][cell].z[z] & ~s->interior[cell].z[z];
        } else if (flr_mask_is_empty(&s->interior[cell])) {
            flr_mask_set(&hyper->empty_outside, cell);
        }
    }
    return true;
}

static flr_result unite_hyper(void *context, size_t piece, unsigned worker)
{
    union_job *job = context;
    flr_build *build = &job->all->build;
    flr_build_hyper *hyper = &build->hypers[piece];
    union_scratch *s = &job->scratches[worker];
    memset(s, 0, sizeof *s);
    int64_t at[3];
    for (int axis = 0; axis < 3; axis++) at[axis] = hyper->at[axis] + job->all->low[axis];
    for (uint32_t i = 0; i < hyper->primitive_count; i++) {
        const flr_placed *part = job->parts[build->primitives[hyper->first_primitive + i]];
        const flr_build_hyper *own = flr_build_find(&part->build, at[0] - part->low[0],
                                                    at[1] - part->low[1], at[2] - part->low[2]);
        add_part(s, part, own);
    }
    for (uint32_t i = 0; i < job->count; i++)
        if (covers(job->parts[i], at[0], at[1], at[2])) {
            memset(s->interior, 255, sizeof s->interior);
            break;
        }
    return keep(s, hyper) ? FLR_OK : FLR_NO_MEMORY;
}

/* ---- what nothing touches ---- */

/* The part's first and last hyperchunk on an axis, in the grid of the union. */
static void span(const flr_placed *part, const flr_placed *all, int axis, int64_t *from,
                 int64_t *to)
{
    *from = part->low[axis] - all->low[axis];
    *to = *from + part->build.grid.hypers[axis] - 1;
}

/* Takes what a part covers in one root cell from the outside; from, to: the part's hyperchunks in it. */
static void cover_root(const flr_placed *part, flr_placed *all, size_t root, const int64_t from[3],
                       const int64_t to[3])
{
    flr_build *build = &all->build;
    const int64_t *low = all->low;
    if (build->root[root] >= FLR_ROOT_OUTSIDE) {
        /* of one kind: one hyperchunk stands for all */
        if (covers(part, from[0] + low[0], from[1] + low[1], from[2] + low[2]))
            build->root[root] = FLR_ROOT_EMPTY;
        return;
    }
    flr_build_node *node = &build->nodes[build->root[root]];
    for (int64_t z = from[2]; z <= to[2]; z++)
        for (int64_t y = from[1]; y <= to[1]; y++)
            for (int64_t x = from[0]; x <= to[0]; x++) {
                unsigned cell = flr_cell(x & 7, y & 7, z & 7);
                if (flr_mask_get(&node->empty_outside, cell) &&
                    covers(part, x + low[0], y + low[1], z + low[2]))
                    node->empty_outside.z[cell >> 6] &= ~(UINT64_C(1) << (cell & 63));
            }
}

/* Finds which of the untouched hyperchunks and root cells are outside. */
static void settle_empty(const flr_placed *const *parts, uint32_t count, flr_placed *all)
{
    flr_build *build = &all->build;
    size_t roots = (size_t)build->roots[0] * build->roots[1] * build->roots[2];
    for (size_t i = 0; i < roots; i++)
        if (build->root[i] == FLR_ROOT_EMPTY) build->root[i] = FLR_ROOT_OUTSIDE;
    for (uint32_t i = 0; i < build->node_count; i++)
        for (int z = 0; z < 8; z++) build->nodes[i].empty_outside.z[z] = ~build->nodes[i].used.z[z];
    for (uint32_t i = 0; i < count; i++) {
        int64_t first[3], last[3];
        for (int axis = 0; axis < 3; axis++) span(parts[i], all, axis, &first[axis], &last[axis]);
        for (int64_t rz = first[2] >> 3; rz <= last[2] >> 3; rz++)
            for (int64_t ry = first[1] >> 3; ry <= last[1] >> 3; ry++)
                for (int64_t rx = first[0] >> 3; rx <= last[0] >> 3; rx++) {
                    const int64_t at[3] = {rx, ry, rz};
                    int64_t from[3], to[3];
                    for (int axis = 0; axis < 3; axis++) {
                        from[axis] = first[axis] > at[axis] * 8 ? first[axis] : at[axis] * 8;
                        to[axis] = last[axis] < at[axis] * 8 + 7 ? last[axis] : at[axis] * 8 + 7;
                    }
                    size_t root =
                        (size_t)rx + build->roots[0] * ((size_t)ry + build->roots[1] * (size_t)rz);
                    cover_root(parts[i], all, root, from, to);
                }
    }
}

/* ---- the whole ---- */

/* Lists which part touches which hyperchunk. */
static flr_result list_touched(const flr_placed *const *parts, uint32_t count, flr_placed *all)
{
    flr_build *build = &all->build;
    size_t total = 0;
    for (uint32_t i = 0; i < count; i++) total += parts[i]->build.hyper_count;
    uint64_t *pairs = malloc((total + 1) * sizeof *pairs);
    if (!pairs) return FLR_NO_MEMORY;
    total = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < parts[i]->build.hyper_count; k++) {
            const uint32_t *own = parts[i]->build.hypers[k].at;
            uint32_t at[3];
            for (int axis = 0; axis < 3; axis++)
                at[axis] = (uint32_t)(own[axis] + parts[i]->low[axis] - all->low[axis]);
            uint64_t number = flr_build_hyper_number(build, at[0], at[1], at[2]);
            pairs[total++] = number << 32 | i;
        }
    bool listed = flr_build_directory(build, pairs, total);
    free(pairs);
    return listed ? FLR_OK : FLR_NO_MEMORY;
}

flr_result flr_union_make(const flr_placed *const *parts, uint32_t count, flr_placed *all)
{
    flr_build *build = &all->build;
    for (int axis = 0; axis < 3; axis++) build->roots[axis] = (build->grid.hypers[axis] + 7) / 8;
    flr_result result = list_touched(parts, count, all);
    if (result != FLR_OK) return result;
    union_job job = {.parts = parts, .count = count, .all = all};
    job.scratches = aligned_alloc(64, flr_parallel_threads(build->threads) * sizeof *job.scratches);
    if (!job.scratches) return FLR_NO_MEMORY;
    result = flr_parallel_for(build->threads, build->hyper_count, unite_hyper, &job);
    free(job.scratches);
    if (result == FLR_OK) settle_empty(parts, count, all);
    return result;
}

uint64_t flr_union_interior(const flr_build *build, int64_t x, int64_t y, int64_t z)
{
    const flr_build_hyper *hyper = flr_build_find(build, x, y, z);
    if (!hyper) return flr_build_empty_is_outside(build, x, y, z) ? 0 : UINT64_C(1) << 18;
    uint64_t outside = 512 * (uint64_t)flr_mask_count(&hyper->empty_outside);
    unsigned slots = flr_mask_count(&hyper->used[FLR_LAYER_SURFACE]);
    for (unsigned i = 0; i < slots; i++)
        outside += flr_mask_count(&hyper->masks[FLR_LAYER_SURFACE][i]) +
                   flr_mask_count(&hyper->outside[i]);
    return (UINT64_C(1) << 18) - outside;
}

/* ---- what has changed ---- */

static uint64_t key_of(int64_t x, int64_t y, int64_t z)
{
    return (uint64_t)x | (uint64_t)y << 21 | (uint64_t)z << 42;
}

/* A hyperchunk of a build, as if it were listed when it is not. */
static flr_build_hyper look(const flr_placed *in, int64_t x, int64_t y, int64_t z)
{
    x -= in->low[0], y -= in->low[1], z -= in->low[2];
    const flr_build_hyper *hyper = flr_build_find(&in->build, x, y, z);
    if (hyper) return *hyper;
    flr_build_hyper uniform = {.outside = NULL};
    if (flr_build_empty_is_outside(&in->build, x, y, z))
        memset(&uniform.empty_outside, 255, sizeof uniform.empty_outside);
    return uniform;
}

/* Is a chunk, with or without surface, the same in both? */
static bool same_chunk(const flr_build_hyper *a, const flr_build_hyper *b, unsigned cell)
{
    if (flr_mask_get(&a->empty_outside, cell) != flr_mask_get(&b->empty_outside, cell))
        return false;
    for (int layer = 0; layer < FLR_LAYER_COUNT; layer++) {
        bool used = flr_mask_get(&a->used[layer], cell);
        if (used != flr_mask_get(&b->used[layer], cell)) return false;
        if (!used) continue;
        unsigned i = flr_mask_rank(&a->used[layer], cell), k = flr_mask_rank(&b->used[layer], cell);
        if (memcmp(&a->masks[layer][i], &b->masks[layer][k], sizeof(flr_mask)) != 0) return false;
        if (layer == FLR_LAYER_SURFACE &&
            memcmp(&a->outside[i], &b->outside[k], sizeof(flr_mask)) != 0)
            return false;
    }
    return true;
}

/* Is all of a hyperchunk the same in both? The usual case, so it is looked at first. */
static bool same_hyper(const flr_build_hyper *a, const flr_build_hyper *b)
{
    if (memcmp(a->used, b->used, sizeof a->used) != 0 ||
        memcmp(&a->empty_outside, &b->empty_outside, sizeof a->empty_outside) != 0)
        return false;
    for (int layer = 0; layer < FLR_LAYER_COUNT; layer++) {
        size_t bytes = flr_mask_count(&a->used[layer]) * sizeof(flr_mask);
        if (bytes == 0) continue;
        if (memcmp(a->masks[layer], b->masks[layer], bytes) != 0) return false;
        if (layer == FLR_LAYER_SURFACE && memcmp(a->outside, b->outside, bytes) != 0) return false;
    }
    return true;
}

static bool add_key(flr_changes *changes, uint64_t key)
{
    if (changes->count == changes->capacity) {
        size_t capacity = changes->capacity ? changes->capacity * 2 : 256;
        uint64_t *keys = realloc(changes->keys, capacity * sizeof *keys);
        if (!keys) return false;
        changes->keys = keys;
        changes->capacity = capacity;
    }
    changes->keys[changes->count++] = key;
    return true;
}

/* Compares one hyperchunk, by lattice coordinates, and lists those in the reach of its differences. */
static bool compare_hyper(const flr_placed *before, const flr_placed *after, const int64_t at[3],
                          unsigned range, flr_changes *changes)
{
    flr_build_hyper a = look(before, at[0], at[1], at[2]), b = look(after, at[0], at[1], at[2]);
    if (same_hyper(&a, &b)) return true;
    int reach = (int)(range + 7) / 8, from[3] = {8, 8, 8}, to[3] = {-1, -1, -1};
    for (unsigned cell = 0; cell < 512; cell++) {
        if (same_chunk(&a, &b, cell)) continue;
        const int c[3] = {(int)(cell & 7), (int)(cell >> 3 & 7), (int)(cell >> 6)};
        for (int axis = 0; axis < 3; axis++) {
            if (c[axis] < from[axis]) from[axis] = c[axis];
            if (c[axis] > to[axis]) to[axis] = c[axis];
        }
    }
    int64_t low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        int64_t here = at[axis] - after->low[axis], last = after->build.grid.hypers[axis] - 1;
        low[axis] = here + ((from[axis] - reach) >> 3);
        high[axis] = here + ((to[axis] + reach) >> 3);
        if (low[axis] < 0) low[axis] = 0;
        if (high[axis] > last) high[axis] = last;
    }
    for (int64_t z = low[2]; z <= high[2]; z++)
        for (int64_t y = low[1]; y <= high[1]; y++)
            for (int64_t x = low[0]; x <= high[0]; x++)
                if (!add_key(changes, key_of(x, y, z))) return false;
    return true;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool flr_union_compare(const flr_placed *before, const flr_placed *after, unsigned range,
                       flr_changes *changes)
{
    const flr_placed *both[2] = {after, before};
    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < both[i]->build.hyper_count; k++) {
            int64_t at[3];
            for (int axis = 0; axis < 3; axis++)
                at[axis] = both[i]->build.hypers[k].at[axis] + both[i]->low[axis];
            /* listed in both: done in the first turn */
            if (i == 1 && flr_build_find(&after->build, at[0] - after->low[0],
                                         at[1] - after->low[1], at[2] - after->low[2]))
                continue;
            if (!compare_hyper(before, after, at, range, changes)) return false;
        }
    if (changes->count == 0) return true;
    qsort(changes->keys, changes->count, sizeof *changes->keys, compare_keys);
    size_t kept = 1;
    for (size_t i = 1; i < changes->count; i++)
        if (changes->keys[i] != changes->keys[kept - 1]) changes->keys[kept++] = changes->keys[i];
    changes->count = kept;
    return true;
}

bool flr_changes_has(const flr_changes *changes, int64_t x, int64_t y, int64_t z)
{
    uint64_t key = key_of(x, y, z);
    return changes->count && bsearch(&key, changes->keys, changes->count, sizeof key, compare_keys);
}

void flr_changes_free(flr_changes *changes)
{
    free(changes->keys);
    *changes = (flr_changes){0};
}
