/* making the tree of a part's voxels
 *
 * Every voxel gets a key of as many digits as the tree has levels, each digit the number of a child in its cube. In the
 * order of keys the voxels of any cube lie together, so that every level is one pass over the level below. */
#include "spheres/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "voxel/walk.h"

flr_sphere_tree_def flr_default_sphere_tree_def(void)
{
    return (flr_sphere_tree_def){.view = FLR_SPHERE_OCTREE, .surface_only = true, .normals = true};
}

/* ---- keys ---- */

/* 2^20 voxels along each axis: keys of 60 bits, or 63 in digits of nine */
enum { MAX_BITS = 20 };

static uint64_t key_of(unsigned shift, const uint32_t at[3])
{
    uint64_t key = 0;
    const uint32_t part = (1u << shift) - 1;
    for (unsigned low = 0; low < MAX_BITS; low += shift)
        for (unsigned axis = 0; axis < 3; axis++)
            key |= (uint64_t)(at[axis] >> low & part) << (3 * low + axis * shift);
    return key;
}

static void place_of(unsigned shift, uint64_t key, uint32_t at[3])
{
    const uint32_t part = (1u << shift) - 1;
    at[0] = at[1] = at[2] = 0;
    for (unsigned low = 0; low < MAX_BITS; low += shift)
        for (unsigned axis = 0; axis < 3; axis++)
            at[axis] |= ((uint32_t)(key >> (3 * low + axis * shift)) & part) << low;
}

typedef struct tree_gathering {
    uint64_t *keys; /* NULL: only count */
    uint64_t count;
    unsigned shift;
    bool surface_only;
} tree_gathering;

static bool enter_all(void *context, const uint32_t low[3], uint32_t side)
{
    (void)context, (void)low, (void)side;
    return true;
}

static void gather_chunk(void *context, const uint32_t low[3], const flr_mask *surface,
                         const flr_mask *interior)
{
    tree_gathering *g = context;
    flr_mask all = *surface;
    for (int z = 0; z < 8 && !g->surface_only; z++) all.z[z] |= interior->z[z];
    if (!g->keys) {
        g->count += flr_mask_count(&all);
        return;
    }
    for (FLR_EACH_CELL(&all, cell)) {
        const uint32_t at[3] = {low[0] + (uint32_t)(cell & 7), low[1] + (uint32_t)(cell >> 3 & 7),
                                low[2] + (uint32_t)(cell >> 6)};
        g->keys[g->count++] = key_of(g->shift, at);
    }
}

static void gather(const flr_voxmap *voxmap, tree_gathering *g)
{
    const uint32_t from[3] = {0};
    flr_walk walk = {.enter = enter_all, .chunk = gather_chunk, .context = g};
    g->count = 0;
    flr_voxmap_walk(voxmap, from, voxmap->header->grid.hypers, &walk);
}

/* By bytes, the lowest first. `spare` is as long. */
static void sort_keys(uint64_t *keys, uint64_t *spare, size_t count)
{
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t starts[256] = {0}, sum = 0;
        for (size_t i = 0; i < count; i++) starts[keys[i] >> shift & 255]++;
        if (starts[keys[0] >> shift & 255] == count) continue; /* all the same here */
        for (unsigned i = 0; i < 256; i++) {
            size_t here = starts[i];
            starts[i] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++) spare[starts[keys[i] >> shift & 255]++] = keys[i];
        memcpy(keys, spare, count * sizeof *keys);
    }
}

/* ---- levels ---- */

static size_t mask_bytes(unsigned shift, size_t count)
{
    size_t bytes = count << (3 * shift) >> 3;
    return (bytes + 63) / 64 * 64;
}

/* One level above these keys, which become those of the level. */
static bool build_level(flr_sphere_tree *tree, unsigned height, uint64_t *keys, uint32_t *count)
{
    const unsigned bits = 3 * tree->shift;
    flr_sphere_level *level = &tree->levels[height];
    for (uint32_t i = 0; i < *count; i++)
        level->count += i == 0 || keys[i] >> bits != keys[i - 1] >> bits;
    size_t bytes = mask_bytes(tree->shift, level->count);
    level->masks = aligned_alloc(64, bytes);
    level->first = malloc(level->count * sizeof *level->first);
    if (!level->masks || !level->first) return false;
    memset(level->masks, 0, bytes);
    tree->info.bytes += bytes + level->count * sizeof *level->first;

    uint8_t *masks = (uint8_t *)level->masks;
    uint32_t cube = 0;
    for (uint32_t i = 0; i < *count; i++) {
        uint64_t key = keys[i], child = key & ((UINT64_C(1) << bits) - 1);
        if (i == 0 || key >> bits != keys[cube - 1]) {
            level->first[cube] = i;
            keys[cube++] = key >> bits; /* at or before i: what is overwritten has been read */
        }
        /* words of the machine's order, bit by bit */
        if (tree->shift == 1)
            masks[cube - 1] = (uint8_t)(masks[cube - 1] | 1u << child);
        else
            level->masks[((size_t)(cube - 1) << bits >> 6) + (child >> 6)] |= UINT64_C(1)
                                                                              << (child & 63);
    }
    *count = cube;
    tree->info.cubes[height] = cube;
    return true;
}

/* ---- normals ---- */

/* Where it is freer, by the marks of 5x5x5 voxels, nearer ones first. */
static uint32_t normal_by_marks(const flr_voxmap *voxmap, const uint32_t at[3])
{
    flr_vec3 sum = flr_vec3_zero();
    for (int z = -2; z <= 2; z++)
        for (int y = -2; y <= 2; y++)
            for (int x = -2; x <= 2; x++) {
                unsigned mark = flr_voxmap_mark_at(voxmap, FLR_FIELD_SURFACE, (int64_t)at[0] + x,
                                                   (int64_t)at[1] + y, (int64_t)at[2] + z);
                if (mark == FLR_MARK_SURFACE || !(x || y || z)) continue;
                double free = mark == FLR_MARK_INTERIOR ? -1 : 1;
                flr_vec3 way = flr_vec3_make(x, y, z);
                sum = flr_vec3_add_scaled(sum, free / flr_vec3_dot(way, way), way);
            }
    if (flr_vec3_dot(sum, sum) < 0.25) return FLR_NO_NORMAL; /* a thin wall, or deep inside */
    return flr_shell_pack_normal(flr_vec3_normalize(sum));
}

/* Those of the shell's points, in the voxels in which they lie. */
static void normals_of_shell(flr_sphere_tree *tree, const flr_shell *shell, const uint64_t *keys)
{
    for (uint32_t c = 0; c < shell->chunk_count; c++) {
        const flr_shell_chunk *chunk = &shell->chunks[c];
        uint32_t count = (uint32_t)chunk->count[0] + chunk->count[1] + chunk->count[2];
        for (uint32_t i = chunk->first; i < chunk->first + count; i++) {
            flr_vec3 p = flr_shell_point(shell, c, i, 0);
            double v[3] = {(p.x - tree->info.origin.x) / tree->info.voxel,
                           (p.y - tree->info.origin.y) / tree->info.voxel,
                           (p.z - tree->info.origin.z) / tree->info.voxel};
            if (!(v[0] >= 0 && v[1] >= 0 && v[2] >= 0 && v[0] < 1 << MAX_BITS &&
                  v[1] < 1 << MAX_BITS && v[2] < 1 << MAX_BITS))
                continue;
            const uint32_t at[3] = {(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2]};
            uint64_t key = key_of(tree->shift, at);
            uint32_t voxel;
            FLR_BISECT(voxel, (uint32_t)tree->info.voxels, keys[voxel] < key);
            if (voxel == tree->info.voxels || keys[voxel] != key) continue;
            flr_vec3 inward = flr_shell_normal(shell->normal[i]);
            tree->normals[voxel] = flr_shell_pack_normal(flr_vec3_neg(inward));
        }
    }
}

static bool find_normals(flr_sphere_tree *tree, const flr_sphere_tree_def *def,
                         const uint64_t *keys)
{
    tree->info.normal_bytes = tree->info.voxels * sizeof *tree->normals;
    tree->normals = malloc(tree->info.normal_bytes);
    if (!tree->normals) return false;
    for (uint64_t i = 0; i < tree->info.voxels; i++) tree->normals[i] = FLR_NO_NORMAL;
    if (def->shell) normals_of_shell(tree, def->shell, keys);
    for (uint64_t i = 0; i < tree->info.voxels; i++) {
        if (tree->normals[i] != FLR_NO_NORMAL) continue;
        uint32_t at[3];
        place_of(tree->shift, keys[i], at);
        tree->normals[i] = normal_by_marks(def->voxmap, at);
    }
    return true;
}

/* ---- all of it ---- */

static bool build(flr_sphere_tree *tree, const flr_sphere_tree_def *def, uint64_t *keys,
                  uint64_t *spare)
{
    tree_gathering g = {.keys = keys, .shift = tree->shift, .surface_only = def->surface_only};
    gather(def->voxmap, &g);
    sort_keys(keys, spare, g.count);
    tree->info.cubes[0] = g.count;
    if (def->normals && !find_normals(tree, def, keys)) return false;
    uint32_t count = (uint32_t)g.count;
    /* up to a cube that holds all: above it every digit is 0 */
    do {
        if (!build_level(tree, ++tree->height, keys, &count)) return false;
    } while (count > 1 || keys[0] != 0);
    tree->info.levels = tree->height;
    tree->info.root_side = tree->info.voxel * (double)(UINT64_C(1) << (tree->shift * tree->height));
    return true;
}

flr_result flr_sphere_tree_create(const flr_sphere_tree_def *def, flr_sphere_tree **tree,
                                  flr_error *error)
{
    if (!def->voxmap) return flr_fail(error, FLR_BAD_ARGUMENT, "a sphere tree needs a voxmap");
    if (def->view != FLR_SPHERE_OCTREE && def->view != FLR_SPHERE_TREE64 &&
        def->view != FLR_SPHERE_TREE512)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%d is no view of a sphere tree; take FLR_SPHERE_OCTREE", (int)def->view);
    const flr_grid *grid = &def->voxmap->header->grid;
    for (int axis = 0; axis < 3; axis++)
        if ((uint64_t)grid->hypers[axis] * 64 > 1u << MAX_BITS)
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "sphere trees reach 2^20 voxels along an axis, this voxmap has %llu; "
                            "use larger voxels",
                            (unsigned long long)grid->hypers[axis] * 64);
    tree_gathering g = {.shift = (unsigned)def->view, .surface_only = def->surface_only};
    gather(def->voxmap, &g);
    if (g.count >= UINT32_MAX)
        return flr_fail(error, FLR_UNSUPPORTED,
                        "sphere trees hold up to 2^32 - 2 voxels; use larger voxels or the surface "
                        "only");
    flr_sphere_tree *made = calloc(1, sizeof *made);
    uint64_t *keys = malloc((2 * g.count + 1) * sizeof *keys);
    bool ok = made && keys;
    if (ok) {
        made->shift = (unsigned)def->view;
        made->info = (flr_sphere_tree_info){.view = def->view,
                                            .voxel = grid->voxel,
                                            .origin = grid->origin,
                                            .voxels = g.count,
                                            .bytes = sizeof *made};
        if (g.count) ok = build(made, def, keys, keys + g.count);
    }
    free(keys);
    if (!ok) {
        flr_sphere_tree_destroy(made);
        return flr_fail(error, FLR_NO_MEMORY,
                        "not enough memory for a sphere tree of %llu voxels; use larger voxels",
                        (unsigned long long)g.count);
    }
    *tree = made;
    return FLR_OK;
}

void flr_sphere_tree_destroy(flr_sphere_tree *tree)
{
    if (!tree) return;
    for (unsigned i = 0; i < FLR_SPHERE_LEVELS; i++) {
        free(tree->levels[i].masks);
        free(tree->levels[i].first);
    }
    free(tree->normals);
    free(tree);
}

flr_sphere_tree_info flr_sphere_tree_get_info(const flr_sphere_tree *tree) { return tree->info; }
