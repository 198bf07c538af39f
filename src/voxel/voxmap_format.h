/* voxmap_format.h: how a voxmap lies in memory and on disk.
 *
 * One block, offsets from its start, little-endian, sections at multiples of 4096 bytes:
 *
 *     header | directory: root, nodes, hypers per field; root, nodes of the chunk distances | planes in the same order
 *
 * The tree of a field has three steps: root cells (512^3 voxels) in x-fastest order, nodes (8x8x8 hyperchunks),
 * hypers (8x8x8 chunks), and then the packed marks of a chunk. Each entry is either the number of what lies
 * below, or FLR_UNIFORM with one mark for all of it. The chunk distances are the same thing one level up: a
 * "voxel" is a chunk, and a mark 2 + d says that the nearest chunk with surface is d chunks away. */
#ifndef FLR_VOXEL_VOXMAP_FORMAT_H
#define FLR_VOXEL_VOXMAP_FORMAT_H

#include "feeler/voxels.h"
#include "voxel/grid.h"

#define FLR_VOXMAP_MAGIC "flrvoxm\n"
#define FLR_UNIFORM      UINT32_C(0x80000000) /* entry = FLR_UNIFORM | mark */

/* Raise the version whenever the layout changes, or the same mesh and parameters give other bytes: what older programs
 * left in a cache is then built again. */
enum { FLR_VOXMAP_VERSION = 1, FLR_SECTION_ALIGN = 4096 };

/* The next multiple of FLR_SECTION_ALIGN. */
static inline uint64_t flr_section_aligned(uint64_t size)
{
    return (size + FLR_SECTION_ALIGN - 1) / FLR_SECTION_ALIGN * FLR_SECTION_ALIGN;
}

/* where a tree lies in the block */
typedef struct flr_tree_place {
    uint64_t root;   /* uint32_t[roots] */
    uint64_t nodes;  /* uint32_t[node_count][512] */
    uint64_t hypers; /* uint32_t[hyper_count][512]; none in the chunk distances */
    uint64_t planes; /* [plane_count][plane_bytes] */
    uint64_t node_count, hyper_count, plane_count;
} flr_tree_place;

typedef struct flr_voxmap_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order; /* 0x01020304 as this machine writes it */
    uint64_t size;       /* of the whole block */
    uint64_t directory;  /* of header and directory: where the planes begin */
    flr_grid grid;
    uint32_t roots[3];
    uint32_t bits, range, offset;
    uint32_t features, hollow;
    uint32_t header_size; /* of this struct, which has no gaps between its members */
    uint32_t zero;
    flr_pose T_voxmap_mesh;
    flr_hash mesh_hash;
    flr_voxmap_stats stats;
    flr_tree_place fields[FLR_FIELD_COUNT];
    flr_tree_place chunks;
} flr_voxmap_header;

/* what lies in a gap is left to chance, and in a file */
_Static_assert(offsetof(flr_voxmap_header, T_voxmap_mesh) ==
                   offsetof(flr_voxmap_header, zero) + sizeof(uint32_t),
               "there is a gap in the header: add or remove `zero`");

struct flr_voxmap {
    const flr_voxmap_header *header; /* the block begins here */
    void *mapping;                   /* the block, where it has memory of its own */
    size_t mapping_size;
    struct flr_voxfile *file; /* else the file it lies in */
    bool paged; /* the planes of its fields are not in memory: FLR_VOXFILE_DIRECTORY */
};

static inline const uint32_t *flr_voxmap_u32(const flr_voxmap *voxmap, uint64_t offset)
{
    return (const uint32_t *)((const uint8_t *)voxmap->header + offset);
}

#endif
