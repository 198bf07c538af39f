/* nanovdb_format.h: where things lie in a NanoVDB file, version 32, for a grid of floats.
 *
 *     file header | grid's description | its name | grid
 *     grid:  head | tree | root, tiles | uppers | lowers | leaves
 *
 * All little-endian. A leaf is 8x8x8 voxels, a lower node 16x16x16 leaves, an upper node 32x32x32 lower nodes, the
 * root a list of upper nodes. Cells of a node are numbered with z fastest. A cell of an upper or lower node is eight
 * bytes: a value in the first four, or where its child bit is set the distance in bytes from this node to the child.
 * The root's tiles have a key, a distance (0: a value), a state and a value. All nodes begin at multiples of 32. */
#ifndef FLR_VOXEL_NANOVDB_FORMAT_H
#define FLR_VOXEL_NANOVDB_FORMAT_H

#include <stdint.h>

#include "base/bytes.h"

#define FLR_NANOVDB_MAGIC   UINT64_C(0x304244566f6e614e) /* "NanoVDB0" */
#define FLR_NANOVDB_VERSION (32u << 21 | 4u << 10 | 2u)

enum {
    /* the file's header: magic, version, number of grids (16 bits), codec (16 bits) */
    FLR_NV_FILE = 16,
    FLR_NV_FILE_COUNT = 12,
    FLR_NV_FILE_CODEC = 14,

    /* the description of a grid */
    FLR_NV_META = 176,
    FLR_NV_META_SIZE = 0,
    FLR_NV_META_STORED = 8,
    FLR_NV_META_NAME_KEY = 16,
    FLR_NV_META_VOXELS = 24,
    FLR_NV_META_TYPE = 32,
    FLR_NV_META_CLASS = 36,
    FLR_NV_META_WORLD = 40,  /* double[6] */
    FLR_NV_META_INDEX = 88,  /* int32_t[6] */
    FLR_NV_META_VOXEL = 112, /* double[3] */
    FLR_NV_META_NAME_SIZE = 136,
    FLR_NV_META_NODES = 140, /* uint32_t[4]: leaves, lowers, uppers, root */
    FLR_NV_META_VERSION = 172,

    /* the head of a grid */
    FLR_NV_GRID = 672,
    FLR_NV_GRID_CHECKSUM = 8,
    FLR_NV_GRID_VERSION = 16,
    FLR_NV_GRID_FLAGS = 20,
    FLR_NV_GRID_COUNT = 28,
    FLR_NV_GRID_SIZE = 32,
    FLR_NV_GRID_NAME = 40,   /* char[256] */
    FLR_NV_GRID_MAP_F = 296, /* float: matrix[9], inverse[9], shift[3], taper */
    FLR_NV_GRID_MAP_D = 384, /* double: the same */
    FLR_NV_GRID_WORLD = 560,
    FLR_NV_GRID_VOXEL = 608,
    FLR_NV_GRID_CLASS = 632,
    FLR_NV_GRID_TYPE = 636,

    /* the tree */
    FLR_NV_TREE = 64,
    FLR_NV_TREE_OFFSETS = 0, /* uint64_t[4], from the tree: leaves, lowers, uppers, root */
    FLR_NV_TREE_COUNTS = 32, /* uint32_t[3] */
    FLR_NV_TREE_VOXELS = 56,

    /* the root: box, number of tiles, background, least, largest */
    FLR_NV_ROOT = 64,
    FLR_NV_ROOT_COUNT = 24,
    FLR_NV_ROOT_BACKGROUND = 28,
    FLR_NV_ROOT_MIN = 32,
    FLR_NV_TILE = 32,
    FLR_NV_TILE_CHILD = 8,
    FLR_NV_TILE_VALUE = 20,

    /* upper and lower nodes: box, flags, value bits, child bits, least, largest, cells */
    FLR_NV_NODE_FLAGS = 24,
    FLR_NV_NODE_VALUES = 32,
    FLR_NV_UPPER = 270400,
    FLR_NV_UPPER_CHILDREN = 4128,
    FLR_NV_UPPER_MIN = 8224,
    FLR_NV_UPPER_CELLS = 8256,
    FLR_NV_LOWER = 33856,
    FLR_NV_LOWER_CHILDREN = 544,
    FLR_NV_LOWER_MIN = 1056,
    FLR_NV_LOWER_CELLS = 1088,

    /* leaves: low corner, size less one (3 bytes), flags, value bits, least, largest, values */
    FLR_NV_LEAF = 2144,
    FLR_NV_LEAF_SIZE = 12,
    FLR_NV_LEAF_FLAGS = 15,
    FLR_NV_LEAF_ACTIVE = 16,
    FLR_NV_LEAF_MIN = 80,
    FLR_NV_LEAF_VALUES = 96,

    FLR_NV_TYPE_FLOAT = 1,
    FLR_NV_CLASS_LEVEL_SET = 1,
    FLR_NV_FLAG_BOXES = 2,
    FLR_NV_FLAG_LIMITS = 4, /* least and largest value are given */
    FLR_NV_FLAG_IN_ORDER = 32,
    FLR_NV_HAS_BOX = 2, /* flag of a node */
};

static inline void flr_nv_set_bit(uint8_t *bits, unsigned n)
{
    bits[n >> 3] = (uint8_t)(bits[n >> 3] | 1u << (n & 7));
}

static inline int flr_nv_get_bit(const uint8_t *bits, unsigned n)
{
    return bits[n >> 3] >> (n & 7) & 1;
}

#endif
