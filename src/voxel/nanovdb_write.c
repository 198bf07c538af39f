/* a voxmap as a NanoVDB file: look once to know how much, then write node by node */
#include <stdlib.h>

#include "voxel/mask.h"
#include "voxel/nanovdb.h"
#include "voxel/nanovdb_format.h"
#include "voxel/voxmap_format.h"

static const char grid_name[] = "surface";

enum { LOWER_SHIFT = 7, UPPER_SHIFT = 12 }; /* voxels of a node's side, as a power of two */

/* a box of voxels, both corners inside */
typedef struct nanovdb_write_box {
    int32_t low[3], high[3];
} nanovdb_write_box;

/* 128x128x128 voxels that are not free throughout */
typedef struct lower {
    uint32_t at[3];    /* in lower nodes */
    uint32_t leaves;   /* 0 and `solid`: interior throughout, no node */
    uint32_t furthest; /* largest mark */
    bool solid;
    nanovdb_write_box active;
} lower;

/* 4096x4096x4096 voxels that are not free throughout */
typedef struct upper {
    uint32_t at[3];
    uint32_t first, count; /* of the lowers */
    uint32_t nodes;        /* lowers that are not solid */
    uint32_t furthest;
    nanovdb_write_box active;
} upper;

typedef struct nanovdb_write_writing {
    const flr_voxmap *voxmap;
    flr_output *output;
    float values[256]; /* by mark, metres; of 0: the background */
    lower *lowers;
    size_t lower_count, lower_room;
    upper *uppers;
    size_t upper_count, upper_room;
    uint64_t leaf_count, node_count; /* node_count: lowers that are not solid */
    uint64_t active;                 /* voxels */
    uint32_t furthest;
    nanovdb_write_box all;
    flr_error *error;
} nanovdb_write_writing;

static nanovdb_write_box no_box(void)
{
    return (nanovdb_write_box){{INT32_MAX, INT32_MAX, INT32_MAX},
                               {INT32_MIN, INT32_MIN, INT32_MIN}};
}

static void add_box(nanovdb_write_box *to, const nanovdb_write_box *more)
{
    for (int i = 0; i < 3; i++) {
        if (more->low[i] < to->low[i]) to->low[i] = more->low[i];
        if (more->high[i] > to->high[i]) to->high[i] = more->high[i];
    }
}

/* the box of a whole node, where nothing in it is active: readers tell from it where the node lies */
static nanovdb_write_box node_box(const uint32_t at[3], unsigned shift)
{
    nanovdb_write_box b;
    for (int i = 0; i < 3; i++) {
        b.low[i] = (int32_t)(at[i] << shift);
        b.high[i] = b.low[i] + (1 << shift) - 1;
    }
    return b;
}

/* ---- the voxmap by chunks ---- */

/* The entry of a chunk in the surface field: a plane, or one mark for all of it. */
static uint32_t chunk_entry(const flr_voxmap *voxmap, uint32_t x, uint32_t y, uint32_t z)
{
    const flr_voxmap_header *h = voxmap->header;
    const flr_tree_place *place = &h->fields[FLR_FIELD_SURFACE];
    if (x >= h->grid.hypers[0] * 8 || y >= h->grid.hypers[1] * 8 || z >= h->grid.hypers[2] * 8)
        return FLR_UNIFORM | FLR_MARK_FREE;
    size_t root =
        (size_t)(x >> 6) + h->roots[0] * ((size_t)(y >> 6) + h->roots[1] * (size_t)(z >> 6));
    uint32_t entry = flr_voxmap_u32(voxmap, place->root)[root];
    if (entry & FLR_UNIFORM) return entry;
    unsigned cell = flr_cell(x >> 3 & 7, y >> 3 & 7, z >> 3 & 7);
    entry = flr_voxmap_u32(voxmap, place->nodes)[(size_t)entry * 512 + cell];
    if (entry & FLR_UNIFORM) return entry;
    return flr_voxmap_u32(voxmap,
                          place->hypers)[(size_t)entry * 512 + flr_cell(x & 7, y & 7, z & 7)];
}

/* The marks of a stored chunk, z fastest as in a leaf. */
static void leaf_marks(const flr_voxmap *voxmap, uint32_t plane, uint8_t marks[512])
{
    unsigned bits = voxmap->header->bits;
    const uint8_t *packed = (const uint8_t *)voxmap->header +
                            voxmap->header->fields[FLR_FIELD_SURFACE].planes +
                            (uint64_t)plane * 64 * bits;
    for (unsigned n = 0; n < 512; n++) {
        unsigned cell = flr_cell(n >> 6, n >> 3 & 7, n & 7) * bits;
        marks[n] = (uint8_t)((unsigned)packed[cell / 8] >> cell % 8 & ((1u << bits) - 1));
    }
}

/* Where a leaf is active, how many voxels, and its largest mark; an empty box where it is not. */
static unsigned measure_leaf(const uint8_t marks[512], const uint32_t chunk[3],
                             nanovdb_write_box *active, uint32_t *furthest)
{
    unsigned count = 0;
    *active = no_box();
    for (unsigned n = 0; n < 512; n++) {
        if (marks[n] < FLR_MARK_SURFACE) continue;
        const int32_t at[3] = {(int32_t)(chunk[0] * 8 + (n >> 6)),
                               (int32_t)(chunk[1] * 8 + (n >> 3 & 7)),
                               (int32_t)(chunk[2] * 8 + (n & 7))};
        nanovdb_write_box one = {{at[0], at[1], at[2]}, {at[0], at[1], at[2]}};
        add_box(active, &one);
        if (marks[n] > *furthest) *furthest = marks[n];
        count++;
    }
    return count;
}

/* ---- looking ---- */

static bool grow(void **list, size_t *room, size_t count, size_t size)
{
    if (count < *room) return true;
    size_t more = *room ? 2 * *room : 64;
    void *bigger = realloc(*list, more * size);
    if (!bigger) return false;
    *list = bigger;
    *room = more;
    return true;
}

/* One cell of an upper node: added to the lists unless it is free throughout. */
static bool look_at_lower(nanovdb_write_writing *w, upper *u, const uint32_t at[3])
{
    lower found = {.at = {at[0], at[1], at[2]}, .active = no_box()};
    unsigned solid = 0, any = 0;
    for (unsigned n = 0; n < 4096; n++) {
        const uint32_t chunk[3] = {at[0] * 16 + (n >> 8), at[1] * 16 + (n >> 4 & 15),
                                   at[2] * 16 + (n & 15)};
        uint32_t entry = chunk_entry(w->voxmap, chunk[0], chunk[1], chunk[2]);
        if (entry == (FLR_UNIFORM | FLR_MARK_FREE)) continue;
        any++;
        if (entry == (FLR_UNIFORM | FLR_MARK_INTERIOR)) {
            solid++;
            continue;
        }
        uint8_t marks[512];
        nanovdb_write_box active;
        if (entry & FLR_UNIFORM)
            memset(marks, (int)(entry & 255), sizeof marks);
        else
            leaf_marks(w->voxmap, entry, marks);
        w->active += measure_leaf(marks, chunk, &active, &found.furthest);
        add_box(&found.active, &active);
        found.leaves++;
    }
    if (!any) return true;
    found.solid = solid == 4096;
    if (!grow((void **)&w->lowers, &w->lower_room, w->lower_count, sizeof *w->lowers)) return false;
    w->lowers[w->lower_count++] = found;
    u->count++;
    w->leaf_count += found.leaves;
    if (found.solid) return true;
    u->nodes++;
    w->node_count++;
    add_box(&u->active, &found.active);
    if (found.furthest > u->furthest) u->furthest = found.furthest;
    return true;
}

/* Is all of the 512x512x512 voxels around this lower cell free? Saves most of the looking in wide grids. */
static bool root_is_free(const flr_voxmap *voxmap, const uint32_t at[3])
{
    const flr_voxmap_header *h = voxmap->header;
    const uint32_t root[3] = {at[0] >> 2, at[1] >> 2, at[2] >> 2};
    size_t number = root[0] + h->roots[0] * ((size_t)root[1] + h->roots[1] * (size_t)root[2]);
    return flr_voxmap_u32(voxmap, h->fields[FLR_FIELD_SURFACE].root)[number] ==
           (FLR_UNIFORM | FLR_MARK_FREE);
}

static bool look_at_upper(nanovdb_write_writing *w, const uint32_t at[3])
{
    const uint32_t *hypers = w->voxmap->header->grid.hypers;
    upper found = {
        .at = {at[0], at[1], at[2]}, .first = (uint32_t)w->lower_count, .active = no_box()};
    for (unsigned n = 0; n < 32768; n++) {
        const uint32_t cell[3] = {at[0] * 32 + (n >> 10), at[1] * 32 + (n >> 5 & 31),
                                  at[2] * 32 + (n & 31)};
        if (cell[0] * 2 >= hypers[0] || cell[1] * 2 >= hypers[1] || cell[2] * 2 >= hypers[2] ||
            root_is_free(w->voxmap, cell))
            continue;
        if (!look_at_lower(w, &found, cell)) return false;
    }
    if (!found.count) return true;
    if (!grow((void **)&w->uppers, &w->upper_room, w->upper_count, sizeof *w->uppers)) return false;
    w->uppers[w->upper_count++] = found;
    add_box(&w->all, &found.active);
    if (found.furthest > w->furthest) w->furthest = found.furthest;
    return true;
}

static bool look(nanovdb_write_writing *w)
{
    const uint32_t *hypers = w->voxmap->header->grid.hypers;
    uint32_t at[3];
    w->all = no_box();
    for (at[0] = 0; at[0] * 64 < hypers[0]; at[0]++)
        for (at[1] = 0; at[1] * 64 < hypers[1]; at[1]++)
            for (at[2] = 0; at[2] * 64 < hypers[2]; at[2]++)
                if (!look_at_upper(w, at)) return false;
    return true;
}

/* ---- writing ---- */

static flr_result put(nanovdb_write_writing *w, const void *bytes, size_t size)
{
    return flr_output_write(w->output, bytes, size, w->error);
}

static void put_box(uint8_t *p, const nanovdb_write_box *b)
{
    for (int i = 0; i < 3; i++) {
        flr_put_u32(p + 4 * i, (uint32_t)b->low[i]);
        flr_put_u32(p + 12 + 4 * i, (uint32_t)b->high[i]);
    }
}

/* least and largest active value */
static void put_limits(const nanovdb_write_writing *w, uint8_t *p, uint32_t furthest)
{
    flr_put_f32(p, 0);
    flr_put_f32(p + 4, furthest > FLR_MARK_SURFACE ? w->values[furthest] : 0);
}

typedef struct layout {
    uint64_t root, uppers, lowers, leaves, size; /* from the start of the grid */
} layout;

static layout lay_out(const nanovdb_write_writing *w)
{
    layout l = {.root = FLR_NV_GRID + FLR_NV_TREE};
    l.uppers = l.root + FLR_NV_ROOT + w->upper_count * FLR_NV_TILE;
    l.lowers = l.uppers + w->upper_count * FLR_NV_UPPER;
    l.leaves = l.lowers + w->node_count * FLR_NV_LOWER;
    l.size = l.leaves + w->leaf_count * FLR_NV_LEAF;
    return l;
}

/* The box of what is active in metres, and the edge length of a voxel three times. */
static void put_world(const nanovdb_write_writing *w, uint8_t *world, uint8_t *voxel)
{
    const flr_grid *g = &w->voxmap->header->grid;
    const double origin[3] = {g->origin.x, g->origin.y, g->origin.z};
    for (int i = 0; i < 3; i++) {
        flr_put_f64(world + 8 * i, origin[i] + w->all.low[i] * g->voxel);
        flr_put_f64(world + 24 + 8 * i, origin[i] + (w->all.high[i] + 1.0) * g->voxel);
        flr_put_f64(voxel + 8 * i, g->voxel);
    }
}

static flr_result put_description(nanovdb_write_writing *w, const layout *l)
{
    uint8_t bytes[FLR_NV_FILE + FLR_NV_META + sizeof grid_name] = {0}, *m = bytes + FLR_NV_FILE;
    flr_put_u64(bytes, FLR_NANOVDB_MAGIC);
    flr_put_u32(bytes + 8, FLR_NANOVDB_VERSION);
    bytes[FLR_NV_FILE_COUNT] = 1;
    flr_put_u64(m + FLR_NV_META_SIZE, l->size);
    flr_put_u64(m + FLR_NV_META_STORED, l->size);
    /* readers find a grid by the key of its name: digits to the base 67, what overflows comes back in */
    uint64_t key = 0;
    for (const char *c = grid_name; *c; c++) key = key * 67 + (uint64_t)*c + (key >> 56);
    flr_put_u64(m + FLR_NV_META_NAME_KEY, key);
    flr_put_u64(m + FLR_NV_META_VOXELS, w->active);
    flr_put_u32(m + FLR_NV_META_TYPE, FLR_NV_TYPE_FLOAT);
    flr_put_u32(m + FLR_NV_META_CLASS, FLR_NV_CLASS_LEVEL_SET);
    put_world(w, m + FLR_NV_META_WORLD, m + FLR_NV_META_VOXEL);
    put_box(m + FLR_NV_META_INDEX, &w->all);
    flr_put_u32(m + FLR_NV_META_NAME_SIZE, sizeof grid_name);
    flr_put_u32(m + FLR_NV_META_NODES, (uint32_t)w->leaf_count);
    flr_put_u32(m + FLR_NV_META_NODES + 4, (uint32_t)w->node_count);
    flr_put_u32(m + FLR_NV_META_NODES + 8, (uint32_t)w->upper_count);
    flr_put_u32(m + FLR_NV_META_NODES + 12, 1);
    flr_put_u32(m + FLR_NV_META_VERSION, FLR_NANOVDB_VERSION);
    memcpy(m + FLR_NV_META, grid_name, sizeof grid_name);
    return put(w, bytes, sizeof bytes);
}

/* From index to metres: a matrix, its inverse and a shift, once in single and once in double precision. */
static void put_map(const nanovdb_write_writing *w, uint8_t *grid)
{
    const flr_grid *g = &w->voxmap->header->grid;
    double numbers[22] = {0};
    for (int i = 0; i < 3; i++) {
        numbers[4 * i] = g->voxel;
        numbers[9 + 4 * i] = 1 / g->voxel;
    }
    numbers[18] = g->origin.x + g->voxel / 2;
    numbers[19] = g->origin.y + g->voxel / 2;
    numbers[20] = g->origin.z + g->voxel / 2;
    numbers[21] = 1;
    for (int i = 0; i < 22; i++) {
        flr_put_f32(grid + FLR_NV_GRID_MAP_F + 4 * i, (float)numbers[i]);
        flr_put_f64(grid + FLR_NV_GRID_MAP_D + 8 * i, numbers[i]);
    }
}

/* head, tree, root and its tiles */
static flr_result put_head(nanovdb_write_writing *w, const layout *l)
{
    uint8_t g[FLR_NV_GRID + FLR_NV_TREE + FLR_NV_ROOT] = {0};
    uint8_t *tree = g + FLR_NV_GRID, *root = tree + FLR_NV_TREE;
    flr_put_u64(g, FLR_NANOVDB_MAGIC);
    flr_put_u64(g + FLR_NV_GRID_CHECKSUM, UINT64_MAX); /* none */
    flr_put_u32(g + FLR_NV_GRID_VERSION, FLR_NANOVDB_VERSION);
    flr_put_u32(g + FLR_NV_GRID_FLAGS,
                FLR_NV_FLAG_BOXES | FLR_NV_FLAG_LIMITS | FLR_NV_FLAG_IN_ORDER);
    flr_put_u32(g + FLR_NV_GRID_COUNT, 1);
    flr_put_u64(g + FLR_NV_GRID_SIZE, l->size);
    memcpy(g + FLR_NV_GRID_NAME, grid_name, sizeof grid_name);
    put_map(w, g);
    put_world(w, g + FLR_NV_GRID_WORLD, g + FLR_NV_GRID_VOXEL);
    flr_put_u32(g + FLR_NV_GRID_CLASS, FLR_NV_CLASS_LEVEL_SET);
    flr_put_u32(g + FLR_NV_GRID_TYPE, FLR_NV_TYPE_FLOAT);

    const uint64_t starts[4] = {l->leaves, l->lowers, l->uppers, l->root};
    const uint64_t counts[3] = {w->leaf_count, w->node_count, w->upper_count};
    for (int i = 0; i < 4; i++)
        flr_put_u64(tree + FLR_NV_TREE_OFFSETS + 8 * i, starts[i] - FLR_NV_GRID);
    for (int i = 0; i < 3; i++) flr_put_u32(tree + FLR_NV_TREE_COUNTS + 4 * i, (uint32_t)counts[i]);
    flr_put_u64(tree + FLR_NV_TREE_VOXELS, w->active);

    put_box(root, &w->all);
    flr_put_u32(root + FLR_NV_ROOT_COUNT, (uint32_t)w->upper_count);
    flr_put_f32(root + FLR_NV_ROOT_BACKGROUND, w->values[FLR_MARK_FREE]);
    put_limits(w, root + FLR_NV_ROOT_MIN, w->furthest);
    flr_result result = put(w, g, sizeof g);
    for (size_t i = 0; result == FLR_OK && i < w->upper_count; i++) {
        const uint32_t *at = w->uppers[i].at;
        uint8_t tile[FLR_NV_TILE] = {0};
        flr_put_u64(tile, (uint64_t)at[0] << 42 | (uint64_t)at[1] << 21 | at[2]);
        flr_put_u64(tile + FLR_NV_TILE_CHILD, l->uppers + i * FLR_NV_UPPER - l->root);
        result = put(w, tile, sizeof tile);
    }
    return result;
}

/* One cell with a value for all of it. */
static void put_value(uint8_t *cells, unsigned n, float value)
{
    flr_put_u32(cells + 8 * n + 4, 0);
    flr_put_f32(cells + 8 * n, value);
}

static flr_result put_uppers(nanovdb_write_writing *w, const layout *l)
{
    uint8_t *node = malloc(FLR_NV_UPPER);
    if (!node) return flr_fail(w->error, FLR_NO_MEMORY, "not enough memory to write voxels");
    flr_result result = FLR_OK;
    uint64_t next = l->lowers;
    for (size_t i = 0; result == FLR_OK && i < w->upper_count; i++) {
        const upper *u = &w->uppers[i];
        uint64_t here = l->uppers + i * FLR_NV_UPPER;
        memset(node, 0, FLR_NV_UPPER);
        nanovdb_write_box whole = node_box(u->at, UPPER_SHIFT);
        put_box(node, u->furthest ? &u->active : &whole);
        node[FLR_NV_NODE_FLAGS] = u->furthest ? FLR_NV_HAS_BOX : 0;
        put_limits(w, node + FLR_NV_UPPER_MIN, u->furthest);
        uint8_t *cells = node + FLR_NV_UPPER_CELLS;
        for (unsigned n = 0; n < 32768; n++) put_value(cells, n, w->values[FLR_MARK_FREE]);
        for (uint32_t k = u->first; k < u->first + u->count; k++) {
            const uint32_t *at = w->lowers[k].at;
            unsigned n = (at[0] & 31) << 10 | (at[1] & 31) << 5 | (at[2] & 31);
            if (w->lowers[k].solid) {
                put_value(cells, n, w->values[FLR_MARK_INTERIOR]);
                continue;
            }
            flr_nv_set_bit(node + FLR_NV_UPPER_CHILDREN, n);
            flr_put_u64(cells + 8 * n, next - here);
            next += FLR_NV_LOWER;
        }
        result = put(w, node, FLR_NV_UPPER);
    }
    free(node);
    return result;
}

static flr_result put_lowers(nanovdb_write_writing *w, const layout *l)
{
    uint8_t *node = malloc(FLR_NV_LOWER);
    if (!node) return flr_fail(w->error, FLR_NO_MEMORY, "not enough memory to write voxels");
    flr_result result = FLR_OK;
    uint64_t here = l->lowers, next = l->leaves;
    for (size_t i = 0; result == FLR_OK && i < w->lower_count; i++) {
        const lower *low = &w->lowers[i];
        if (low->solid) continue;
        memset(node, 0, FLR_NV_LOWER);
        nanovdb_write_box whole = node_box(low->at, LOWER_SHIFT);
        put_box(node, low->furthest ? &low->active : &whole);
        node[FLR_NV_NODE_FLAGS] = low->furthest ? FLR_NV_HAS_BOX : 0;
        put_limits(w, node + FLR_NV_LOWER_MIN, low->furthest);
        for (unsigned n = 0; n < 4096; n++) {
            uint32_t entry =
                chunk_entry(w->voxmap, low->at[0] * 16 + (n >> 8), low->at[1] * 16 + (n >> 4 & 15),
                            low->at[2] * 16 + (n & 15));
            if ((entry & FLR_UNIFORM) && (entry & 255) < FLR_MARK_SURFACE) {
                put_value(node + FLR_NV_LOWER_CELLS, n, w->values[entry & 255]);
                continue;
            }
            flr_nv_set_bit(node + FLR_NV_LOWER_CHILDREN, n);
            flr_put_u64(node + FLR_NV_LOWER_CELLS + 8 * n, next - here);
            next += FLR_NV_LEAF;
        }
        here += FLR_NV_LOWER;
        result = put(w, node, FLR_NV_LOWER);
    }
    free(node);
    return result;
}

static flr_result put_leaf(nanovdb_write_writing *w, uint32_t entry, const uint32_t chunk[3])
{
    uint8_t leaf[FLR_NV_LEAF] = {0}, marks[512];
    if (entry & FLR_UNIFORM)
        memset(marks, (int)(entry & 255), sizeof marks);
    else
        leaf_marks(w->voxmap, entry, marks);
    nanovdb_write_box active, whole = node_box(chunk, 3);
    uint32_t furthest = 0;
    const nanovdb_write_box *b = measure_leaf(marks, chunk, &active, &furthest) ? &active : &whole;
    for (int i = 0; i < 3; i++) {
        flr_put_u32(leaf + 4 * i, (uint32_t)b->low[i]);
        leaf[FLR_NV_LEAF_SIZE + i] = (uint8_t)(b->high[i] - b->low[i]);
    }
    leaf[FLR_NV_LEAF_FLAGS] = furthest ? FLR_NV_HAS_BOX : 0;
    put_limits(w, leaf + FLR_NV_LEAF_MIN, furthest);
    for (unsigned n = 0; n < 512; n++) {
        if (marks[n] >= FLR_MARK_SURFACE) flr_nv_set_bit(leaf + FLR_NV_LEAF_ACTIVE, n);
        flr_put_f32(leaf + FLR_NV_LEAF_VALUES + 4 * n, w->values[marks[n]]);
    }
    return put(w, leaf, sizeof leaf);
}

static flr_result put_leaves(nanovdb_write_writing *w)
{
    flr_result result = FLR_OK;
    for (size_t i = 0; i < w->lower_count; i++) {
        const lower *low = &w->lowers[i];
        for (unsigned n = 0; n < 4096 && low->leaves && result == FLR_OK; n++) {
            const uint32_t chunk[3] = {low->at[0] * 16 + (n >> 8), low->at[1] * 16 + (n >> 4 & 15),
                                       low->at[2] * 16 + (n & 15)};
            uint32_t entry = chunk_entry(w->voxmap, chunk[0], chunk[1], chunk[2]);
            if (!(entry & FLR_UNIFORM) || (entry & 255) >= FLR_MARK_SURFACE)
                result = put_leaf(w, entry, chunk);
        }
    }
    return result;
}

static void set_values(nanovdb_write_writing *w)
{
    const flr_voxmap_header *h = w->voxmap->header;
    for (unsigned mark = 0; mark < 256; mark++)
        w->values[mark] = (float)(((double)mark - FLR_MARK_SURFACE) * h->grid.voxel);
    w->values[FLR_MARK_FREE] = (float)((h->range + 1.0) * h->grid.voxel);
    w->values[FLR_MARK_INTERIOR] = (float)-h->grid.voxel;
}

static flr_result put_all(nanovdb_write_writing *w, flr_env *env, const char *path)
{
    if (!look(w)) return flr_fail(w->error, FLR_NO_MEMORY, "not enough memory to write voxels");
    if (w->leaf_count > UINT32_MAX || !w->furthest)
        return flr_fail(w->error, FLR_UNSUPPORTED, "%s: %s for a NanoVDB file", path,
                        w->furthest ? "too many voxels" : "there is no surface voxel");
    layout l = lay_out(w);
    flr_result result = flr_output_begin(env, path, &w->output, w->error);
    if (result != FLR_OK) return result;
    result = put_description(w, &l);
    if (result == FLR_OK) result = put_head(w, &l);
    if (result == FLR_OK) result = put_uppers(w, &l);
    if (result == FLR_OK) result = put_lowers(w, &l);
    if (result == FLR_OK) result = put_leaves(w);
    return flr_output_end(w->output, result, w->error);
}

flr_result flr_nanovdb_write(flr_env *env, const char *path, const flr_voxmap *voxmap,
                             flr_error *error)
{
    nanovdb_write_writing w = {.voxmap = voxmap, .error = error};
    set_values(&w);
    flr_result result = put_all(&w, env, path);
    free(w.lowers);
    free(w.uppers);
    return result;
}
