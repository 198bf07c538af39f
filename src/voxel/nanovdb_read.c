/* a voxmap from a NanoVDB file: which voxels hold the surface, then as with meshes */
#include <math.h>
#include <stdlib.h>

#include "voxel/field.h"
#include "voxel/nanovdb.h"
#include "voxel/nanovdb_format.h"
#include "voxel/voxelize.h"

/* a leaf with surface voxels */
typedef struct part {
    int32_t at[3]; /* in leaves */
    flr_mask mask;
} part;

typedef struct nanovdb_read_reading {
    const char *name;
    const uint8_t *grid; /* the grid alone */
    uint64_t size;
    double voxel, shift[3]; /* metres */
    float limit;            /* values this near to zero are surface */
    bool inside;            /* there are values below -limit */
    float background;       /* metres: beyond all distances */
    uint64_t left[3];       /* leaves, lowers, uppers that may still be met: none is shared */
    uint64_t tiles_left;    /* surface tiles of 8 voxels each way that may still be met */
    part *parts;
    size_t count, room;
    flr_error *error;
} nanovdb_read_reading;

flr_nanovdb_options flr_default_nanovdb_options(void)
{
    flr_nanovdb_options options = {.bits = 0};
    return options;
}

static flr_result damaged(const nanovdb_read_reading *r, const char *what)
{
    return flr_fail(r->error, FLR_BAD_INPUT, "%s: damaged NanoVDB file: %s", r->name, what);
}

/* ---- the head ---- */

/* The one grid in the file, as far as can be said without looking into it. */
static flr_result find_grid(nanovdb_read_reading *r, const uint8_t *bytes, size_t size)
{
    flr_error *error = r->error;
    if (size < FLR_NV_FILE + FLR_NV_META || flr_get_u64(bytes) != FLR_NANOVDB_MAGIC)
        return flr_fail(error, FLR_BAD_INPUT, "%s is not a NanoVDB file", r->name);
    uint32_t version = flr_get_u32(bytes + 8);
    if (version >> 21 != FLR_NANOVDB_VERSION >> 21)
        return flr_fail(error, FLR_UNSUPPORTED,
                        "%s: NanoVDB files of version %u cannot be read, only those of version %u",
                        r->name, version >> 21, FLR_NANOVDB_VERSION >> 21);
    if (flr_get_u32(bytes + FLR_NV_FILE_COUNT) >> 16)
        return flr_fail(error, FLR_UNSUPPORTED,
                        "%s: the grid is compressed; write it without compression", r->name);
    const uint8_t *meta = bytes + FLR_NV_FILE;
    if (!(flr_get_u32(bytes + FLR_NV_FILE_COUNT) & 0xFFFF))
        return flr_fail(error, FLR_BAD_INPUT, "%s: there is no grid in it", r->name);
    if (flr_get_u32(meta + FLR_NV_META_TYPE) != FLR_NV_TYPE_FLOAT)
        return flr_fail(error, FLR_UNSUPPORTED,
                        "%s: the first grid does not hold 32-bit floats; write it as a level set "
                        "of floats",
                        r->name);

    /* all descriptions come first, then all grids */
    uint64_t at = FLR_NV_FILE, grids = flr_get_u32(bytes + FLR_NV_FILE_COUNT) & 0xFFFF;
    for (uint64_t i = 0; i < grids; i++) {
        if (size - at < FLR_NV_META) return damaged(r, "it ends in the list of grids");
        uint64_t name = flr_get_u32(bytes + at + FLR_NV_META_NAME_SIZE);
        at += FLR_NV_META;
        if (size - at < name) return damaged(r, "it ends in the name of a grid");
        at += name;
    }
    r->grid = bytes + at;
    r->size = flr_get_u64(meta + FLR_NV_META_SIZE);
    if (r->size > size - at) return damaged(r, "it ends before the grid does");
    if (r->size < FLR_NV_GRID + FLR_NV_TREE + FLR_NV_ROOT ||
        flr_get_u64(r->grid) != FLR_NANOVDB_MAGIC ||
        flr_get_u32(r->grid + FLR_NV_GRID_TYPE) != FLR_NV_TYPE_FLOAT)
        return damaged(r, "the grid does not begin as one");
    return FLR_OK;
}

/* From index to metres: one size for all three directions, no rotation. */
static flr_result read_map(nanovdb_read_reading *r)
{
    double numbers[22];
    for (int i = 0; i < 22; i++) numbers[i] = flr_get_f64(r->grid + FLR_NV_GRID_MAP_D + 8 * i);
    r->voxel = numbers[0];
    if (!(r->voxel >= 1e-12 && r->voxel <= 1e6)) return damaged(r, "the voxel size");
    for (int i = 0; i < 9; i++)
        if (!(fabs(numbers[i] - (i % 4 ? 0 : r->voxel)) <= 1e-6 * r->voxel))
            return flr_fail(r->error, FLR_UNSUPPORTED,
                            "%s: the grid is turned or its voxels are not cubes", r->name);
    for (int i = 0; i < 3; i++) {
        r->shift[i] = numbers[18 + i];
        if (!(fabs(r->shift[i]) <= FLR_MESH_MAX_COORDINATE)) return damaged(r, "its place");
    }
    r->limit = (float)(sqrt(3) / 2 * r->voxel);
    return FLR_OK;
}

/* ---- the tree ---- */

static flr_result add_part(nanovdb_read_reading *r, const int32_t at[3], const flr_mask *mask)
{
    if (r->count == r->room) {
        size_t more = r->room ? 2 * r->room : 256;
        part *bigger = aligned_alloc(64, more * sizeof *bigger);
        if (!bigger) return flr_fail(r->error, FLR_NO_MEMORY, "%s: not enough memory", r->name);
        if (r->count) memcpy(bigger, r->parts, r->count * sizeof *bigger);
        free(r->parts);
        r->parts = bigger;
        r->room = more;
    }
    r->parts[r->count++] = (part){.at = {at[0], at[1], at[2]}, .mask = *mask};
    return FLR_OK;
}

/* Notes whether there is an inside; is this value on the surface? A NaN is not. */
static bool is_surface(nanovdb_read_reading *r, float value)
{
    if (value < -r->limit) r->inside = true;
    return value >= -r->limit && value <= r->limit;
}

/* Are the 64 cells from `first` all tiles off the surface? Nearly all rows are. Notes whether there is an inside. */
static bool is_empty_row(nanovdb_read_reading *r, const uint8_t *children, const uint8_t *cells,
                         unsigned first)
{
    if (flr_get_u64(children + first / 8)) return false;
    const uint8_t *row = cells + 8 * first;
    /* most rows hold one value 64 times, and comparing bytes is several times faster */
    const unsigned count = memcmp(row, row + 8, 63 * 8) == 0 ? 1 : 64;
    float limit = r->limit;
    unsigned below = 0, near = 0;
    for (unsigned n = 0; n < count; n++) {
        float value = flr_get_f32(row + 8 * n);
        below |= value < -limit;
        near |= value >= -limit && value <= limit;
    }
    r->inside |= below != 0;
    return near == 0;
}

static flr_result read_leaf(nanovdb_read_reading *r, uint64_t offset, const int32_t at[3])
{
    const uint8_t *values = r->grid + offset + FLR_NV_LEAF_VALUES;
    flr_mask mask = {{0}};
    for (unsigned n = 0; n < 512; n++)
        if (is_surface(r, flr_get_f32(values + 4 * n)))
            flr_mask_set(&mask, flr_cell(n >> 6, n >> 3 & 7, n & 7));
    return flr_mask_is_empty(&mask) ? FLR_OK : add_part(r, at, &mask);
}

/* Where a child lies, `distance` bytes from its parent: whole within the grid, and one of those that there are. */
static flr_result find_child(nanovdb_read_reading *r, uint64_t parent, uint64_t distance,
                             uint64_t size, int level, uint64_t *offset)
{
    *offset = parent + distance;
    if (distance >= r->size || *offset > r->size - size || *offset < FLR_NV_GRID + FLR_NV_TREE)
        return damaged(r, "a node lies outside of the grid");
    if (!r->left[level]) return damaged(r, "a node has two parents");
    r->left[level]--;
    return FLR_OK;
}

static flr_result surface_tile(const nanovdb_read_reading *r, int voxels)
{
    return flr_fail(r->error, FLR_UNSUPPORTED,
                    "%s: %s of %d voxels or more %s one value near zero; this is no level set",
                    r->name, voxels > 8 ? "a block" : "too many blocks", voxels,
                    voxels > 8 ? "has" : "have");
}

/* One value for eight voxels each way. A block full of surface is rare; as a tile it takes 8 bytes of the file and thousands in
 * memory, so there may be no more of them than leaves would fit into the file. */
static flr_result read_tile(nanovdb_read_reading *r, float value, const int32_t leaf[3])
{
    if (!is_surface(r, value)) return FLR_OK;
    if (!r->tiles_left) return surface_tile(r, 8);
    r->tiles_left--;
    flr_mask full;
    memset(&full, 255, sizeof full);
    return add_part(r, leaf, &full);
}

static flr_result read_lower(nanovdb_read_reading *r, uint64_t here, const int32_t at[3])
{
    const uint8_t *node = r->grid + here, *cells = node + FLR_NV_LOWER_CELLS;
    flr_result result = FLR_OK;
    for (unsigned n = 0; n < 4096 && result == FLR_OK; n++) {
        if (n % 64 == 0 && is_empty_row(r, node + FLR_NV_LOWER_CHILDREN, cells, n)) {
            n += 63;
            continue;
        }
        const int32_t leaf[3] = {at[0] * 16 + (int32_t)(n >> 8),
                                 at[1] * 16 + (int32_t)(n >> 4 & 15),
                                 at[2] * 16 + (int32_t)(n & 15)};
        if (!flr_nv_get_bit(node + FLR_NV_LOWER_CHILDREN, n)) {
            result = read_tile(r, flr_get_f32(cells + 8 * n), leaf);
            continue;
        }
        uint64_t child;
        result = find_child(r, here, flr_get_u64(cells + 8 * n), FLR_NV_LEAF, 0, &child);
        if (result == FLR_OK) result = read_leaf(r, child, leaf);
    }
    return result;
}

static flr_result read_upper(nanovdb_read_reading *r, uint64_t here, const int32_t at[3])
{
    const uint8_t *node = r->grid + here, *cells = node + FLR_NV_UPPER_CELLS;
    flr_result result = FLR_OK;
    for (unsigned n = 0; n < 32768 && result == FLR_OK; n++) {
        if (n % 64 == 0 && is_empty_row(r, node + FLR_NV_UPPER_CHILDREN, cells, n)) {
            n += 63;
            continue;
        }
        if (!flr_nv_get_bit(node + FLR_NV_UPPER_CHILDREN, n)) {
            if (is_surface(r, flr_get_f32(cells + 8 * n))) result = surface_tile(r, 128);
            continue;
        }
        const int32_t lower[3] = {at[0] * 32 + (int32_t)(n >> 10),
                                  at[1] * 32 + (int32_t)(n >> 5 & 31),
                                  at[2] * 32 + (int32_t)(n & 31)};
        uint64_t child;
        result = find_child(r, here, flr_get_u64(cells + 8 * n), FLR_NV_LOWER, 1, &child);
        if (result == FLR_OK) result = read_lower(r, child, lower);
    }
    return result;
}

/* a 20-bit place of an upper node, negative in the upper half, from 21 bits of a key */
static int32_t key_place(uint64_t bits)
{
    int32_t place = (int32_t)(bits & 0xFFFFF);
    return place >= 1 << 19 ? place - (1 << 20) : place;
}

static flr_result read_tree(nanovdb_read_reading *r)
{
    const uint8_t *tree = r->grid + FLR_NV_GRID;
    for (int i = 0; i < 3; i++) r->left[i] = flr_get_u32(tree + FLR_NV_TREE_COUNTS + 4 * i);
    /* no more than there is room for, whatever it says */
    const uint64_t sizes[3] = {FLR_NV_LEAF, FLR_NV_LOWER, FLR_NV_UPPER};
    for (int i = 0; i < 3; i++)
        if (r->left[i] > r->size / sizes[i]) return damaged(r, "more nodes than fit into it");
    r->tiles_left = r->size / FLR_NV_LEAF;

    uint64_t root = FLR_NV_GRID + flr_get_u64(tree + FLR_NV_TREE_OFFSETS + 24);
    if (root < FLR_NV_GRID + FLR_NV_TREE || root > r->size - FLR_NV_ROOT)
        return damaged(r, "the root lies outside of the grid");
    uint64_t count = flr_get_u32(r->grid + root + FLR_NV_ROOT_COUNT);
    if (count > (r->size - root - FLR_NV_ROOT) / FLR_NV_TILE)
        return damaged(r, "the root has more tiles than fit into the grid");
    r->background = flr_get_f32(r->grid + root + FLR_NV_ROOT_BACKGROUND);
    if (is_surface(r, r->background)) return surface_tile(r, 128);
    flr_result result = FLR_OK;
    for (uint64_t i = 0; i < count && result == FLR_OK; i++) {
        const uint8_t *tile = r->grid + root + FLR_NV_ROOT + i * FLR_NV_TILE;
        uint64_t key = flr_get_u64(tile), distance = flr_get_u64(tile + FLR_NV_TILE_CHILD), child;
        const int32_t at[3] = {key_place(key >> 42), key_place(key >> 21), key_place(key)};
        if (!distance) {
            if (is_surface(r, flr_get_f32(tile + FLR_NV_TILE_VALUE))) result = surface_tile(r, 128);
            continue;
        }
        result = find_child(r, root, distance, FLR_NV_UPPER, 2, &child);
        if (result == FLR_OK) result = read_upper(r, child, at);
    }
    if (result == FLR_OK && !r->count)
        return flr_fail(r->error, FLR_BAD_INPUT, "%s: no value is near zero: there is no surface",
                        r->name);
    return result;
}

/* ---- the voxmap ---- */

enum {
    ROOTS_ALWAYS = 8192, /* blocks of 512 voxels each way that any file may stretch over */
    BYTES_PER_ROOT = 64, /* of the file, beyond those */
    MEMORY_FACTOR = 6    /* bytes of marks for a byte of the file */
};

/* How far distances are marked is what the background value says, and a single byte of it may ask for gigabytes. A level set
 * holds the values that far out: marks for many times as many voxels are not its own. */
static flr_result check_reach(const nanovdb_read_reading *r, const flr_voxelize_def *def,
                              const flr_grid *grid)
{
    double side = 2 * ((def->range + 7) / 8) + 1; /* chunks around one with surface */
    double all = 512.0 * grid->hypers[0] * grid->hypers[1] * grid->hypers[2];
    double chunks = fmin((double)r->count * side * side * side, all);
    if (chunks * 64 * (def->bits + 1) <= MEMORY_FACTOR * (double)r->size) return FLR_OK;
    return flr_fail(
        r->error, FLR_TOO_LARGE,
        "%s: the background value stands for distances of %u voxels, but the grid holds "
        "far too few values for that; write the level set with the background that "
        "fits its band",
        r->name, def->range);
}

/* The grid for all parts and `range` voxels around them; `low` is its corner, a multiple of 64 voxels, in leaves. */
static flr_result place_grid(const nanovdb_read_reading *r, unsigned range, flr_grid *grid,
                             int64_t low[3])
{
    double origin[3], roots = 1;
    for (int axis = 0; axis < 3; axis++) {
        int64_t first = INT64_MAX, last = INT64_MIN;
        for (size_t i = 0; i < r->count; i++) {
            const flr_mask *mask = &r->parts[i].mask;
            for (FLR_EACH_CELL(mask, cell)) {
                int64_t at = (int64_t)r->parts[i].at[axis] * 8 + (int64_t)(cell >> 3 * axis & 7);
                if (at < first) first = at;
                if (at > last) last = at;
            }
        }
        int64_t corner = (first - (int64_t)range) >> 6; /* rounds down */
        grid->hypers[axis] = (uint32_t)(((last + (int64_t)range) >> 6) - corner + 1);
        low[axis] = corner * 8;
        origin[axis] = r->shift[axis] + ((double)corner * 64 - 0.5) * r->voxel;
        roots *= ceil(grid->hypers[axis] / 8.0);
    }
    /* every root takes memory, also where nothing is in it: no more of them than the file is worth */
    if (roots > fmax(ROOTS_ALWAYS, (double)r->size / BYTES_PER_ROOT) || roots > 8e6)
        return flr_fail(
            r->error, FLR_TOO_LARGE,
            "%s: the voxels lie too far apart for so small a file; write what lies apart "
            "to files of their own",
            r->name);
    grid->voxel = r->voxel;
    grid->origin = flr_vec3_make(origin[0], origin[1], origin[2]);
    return FLR_OK;
}

/* The parts as scanned hyperchunks. */
static flr_result make_build(const nanovdb_read_reading *r, const int64_t low[3], flr_build *build)
{
    uint64_t *pairs = malloc(r->count * sizeof *pairs);
    flr_mask(*dense)[512] = aligned_alloc(64, FLR_LAYER_COUNT * sizeof *dense);
    bool ok = pairs && dense;
    for (size_t i = 0; ok && i < r->count; i++) {
        const int32_t *at = r->parts[i].at;
        uint64_t number = flr_build_hyper_number(build, (uint32_t)((at[0] - low[0]) >> 3),
                                                 (uint32_t)((at[1] - low[1]) >> 3),
                                                 (uint32_t)((at[2] - low[2]) >> 3));
        pairs[i] = number << 32 | i;
    }
    ok = ok && flr_build_directory(build, pairs, r->count);
    for (uint32_t h = 0; ok && h < build->hyper_count; h++) {
        flr_build_hyper *hyper = &build->hypers[h];
        memset(dense, 0, FLR_LAYER_COUNT * sizeof *dense);
        for (uint32_t i = 0; i < hyper->primitive_count; i++) {
            const part *p = &r->parts[build->primitives[hyper->first_primitive + i]];
            unsigned cell =
                flr_cell((unsigned)(p->at[0] - low[0]) & 7, (unsigned)(p->at[1] - low[1]) & 7,
                         (unsigned)(p->at[2] - low[2]) & 7);
            for (int z = 0; z < 8; z++) dense[FLR_LAYER_SURFACE][cell].z[z] |= p->mask.z[z];
        }
        ok = flr_build_keep_masks(hyper, dense);
    }
    free(pairs);
    free(dense);
    return ok ? FLR_OK : flr_fail(r->error, FLR_NO_MEMORY, "%s: not enough memory", r->name);
}

/* The background stands one voxel beyond the distances. */
static unsigned range_of(const nanovdb_read_reading *r, unsigned bits)
{
    double most = bits == 4 ? FLR_RANGE_MAX_4BIT : FLR_RANGE_MAX_8BIT;
    double range = round((double)r->background / r->voxel) - 1;
    return (unsigned)fmax(8, fmin(range, most)); /* 8 also if it is not a number */
}

static flr_result make_voxmap(const nanovdb_read_reading *r, const flr_nanovdb_options *options,
                              flr_voxmap **voxmap)
{
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = r->voxel;
    def.range = options->range ? options->range : range_of(r, options->bits);
    def.bits = options->bits ? options->bits : def.range <= FLR_RANGE_MAX_4BIT ? 4 : 8;
    def.features = false;
    def.hollow = !r->inside;
    flr_result result = flr_voxelize_check(&def, r->error);
    if (result != FLR_OK) return result;
    flr_voxmap_header header = flr_voxelize_header(&def);
    int64_t low[3];
    result = place_grid(r, header.range, &header.grid, low);
    if (result == FLR_OK && !options->range) result = check_reach(r, &def, &header.grid);
    if (result != FLR_OK) return result;

    flr_build build = {.grid = header.grid, .threads = options->threads};
    for (int axis = 0; axis < 3; axis++)
        header.roots[axis] = build.roots[axis] = (header.grid.hypers[axis] + 7) / 8;
    result = make_build(r, low, &build);
    if (result == FLR_OK) flr_count_layers(&build, 0, build.hyper_count, &header.stats);
    if (result == FLR_OK && !def.hollow) result = flr_build_fill(&build, r->error);
    if (result == FLR_OK && (result = flr_voxmap_make(&build, &header, NULL, voxmap)) != FLR_OK)
        flr_fail(r->error, result, "%s: not enough memory for the voxels", r->name);
    flr_build_free(&build);
    return result;
}

flr_result flr_nanovdb_parse(const char *name, const uint8_t *bytes, size_t size,
                             const flr_nanovdb_options *options, flr_voxmap **voxmap,
                             flr_error *error)
{
    flr_nanovdb_options defaults = flr_default_nanovdb_options();
    if (!options) options = &defaults;
    nanovdb_read_reading r = {.name = name, .error = error};
    flr_result result = find_grid(&r, bytes, size);
    if (result == FLR_OK) result = read_map(&r);
    if (result == FLR_OK) result = read_tree(&r);
    if (result == FLR_OK) result = make_voxmap(&r, options, voxmap);
    free(r.parts);
    return result;
}

flr_result flr_nanovdb_read(flr_env *env, const char *path, const flr_nanovdb_options *options,
                            flr_voxmap **voxmap, flr_error *error)
{
    /* read, not mapped: what has been checked must not change in place */
    flr_blob blob;
    flr_result result = flr_file_read_all(env, path, SIZE_MAX / 2, &blob, error);
    if (result != FLR_OK) return result;
    result = flr_nanovdb_parse(path, blob.bytes, blob.size, options, voxmap, error);
    flr_blob_free(&blob);
    return result;
}
