/* model.h: how a mesh lies ready to be probed.
 *
 * Triangles stand in blocks of 16, in small integers relative to a frame: the cell of a grid, or the leaf of a tree. A
 * block says which of its triangles may be hit (kernel.h); the judge decides on those. Everything here leaves out only
 * what cannot be hit.
 *
 *     frame   a cube; 2048 fine units along its edge, from -1024 to 1023
 *     box     of a triangle in the frame: 0 to 255 along the edge, 8 fine units each; what lies outside counts as at
 *             the border, so that two intervals that overlap still do. Six rows: its low sides x, y, z, and 255 less its high
 *             sides, so that a box is met where all six are at most those of the segment
 *     plane   of a triangle: normal . point = offset, point in fine units; normal zero where the triangle is too thin to
 *             have a reliable one, so that every segment seems to cross
 *     side    a direction in the plane of a triangle, across its longest edge, and from where to where the triangle reaches
 *             along it: tells the long thin triangles of a fan apart
 */
#ifndef FLR_PROBE_MODEL_H
#define FLR_PROBE_MODEL_H

#include "feeler/probe.h"

enum {
    FLR_PROBE_LANES = 16,   /* triangles in a block, boxes in a node */
    FLR_PROBE_BITS = 11,    /* 2^11 fine units along the edge of a frame */
    FLR_PROBE_HALF = 1024,  /* fine units from the middle of a frame to its border */
    FLR_PROBE_SLACK = 5,    /* fine units by which rounding may move a point off a plane (3.8) */
    FLR_PROBE_CELLS = 1024, /* along an axis, at most */
    FLR_PROBE_STACK = 256
};

/* 16 triangles */
typedef struct flr_probe_block {
    uint8_t box[6][FLR_PROBE_LANES];
    int16_t normal[3][FLR_PROBE_LANES];                            /* 32768ths */
    int16_t offset[FLR_PROBE_LANES];                               /* fine units */
    int16_t side[3][FLR_PROBE_LANES];                              /* 32768ths */
    int16_t side_low[FLR_PROBE_LANES], side_high[FLR_PROBE_LANES]; /* fine units */
    uint32_t triangle[FLR_PROBE_LANES]; /* FLR_PROBE_NONE: this lane is empty and never hit */
} flr_probe_block;

/* Boxes of 16 blocks in a frame, as a block has them of its triangles. A cell with more than FLR_PROBE_DIRECT blocks has
 * four such pages in the room of a block, for every 64 blocks one, before its blocks: a segment reads these and the one or two
 * blocks that it passes, not all of them. Its triangles are sorted along a Morton curve, so that a block is a patch. */
typedef struct flr_probe_page {
    uint8_t box[6][FLR_PROBE_LANES];
} flr_probe_page;

enum { FLR_PROBE_DIRECT = 8, FLR_PROBE_PAGES = 4 };
_Static_assert(FLR_PROBE_PAGES * sizeof(flr_probe_page) <= sizeof(flr_probe_block),
               "pages lie in the room of a block");

/* How many blocks' room the pages of a cell with `count` blocks take. */
static inline uint32_t flr_probe_heads(uint32_t count)
{
    enum { EACH = FLR_PROBE_LANES * FLR_PROBE_PAGES };
    return count > FLR_PROBE_DIRECT ? (count + EACH - 1) / EACH : 0;
}

/* Page i of a cell whose blocks and heads begin here. */
static inline const flr_probe_page *flr_probe_page_at(const flr_probe_block *heads, uint32_t i)
{
    const flr_probe_block *head = &heads[i / FLR_PROBE_PAGES];
    return (const flr_probe_page *)((const char *)head +
                                    i % FLR_PROBE_PAGES * sizeof(flr_probe_page));
}

/* where a block of a tree lies */
typedef struct flr_probe_frame {
    flr_vec3 centre; /* metres */
    double scale;    /* fine units per metre */
} flr_probe_frame;

/* Sixteen oriented boxes: centre in metres from the model's middle, axes, half lengths. */
typedef struct flr_probe_node {
    float centre[3][FLR_PROBE_LANES];
    float axis[3][3][FLR_PROBE_LANES]; /* [axis][component] */
    float half[3][FLR_PROBE_LANES];    /* with slack; far below zero: no box here */
    uint32_t child[FLR_PROBE_LANES];   /* a node, or FLR_PROBE_LEAF | a block */
} flr_probe_node;

#define FLR_PROBE_LEAF   0x80000000u /* in a child: it is a block */
#define FLR_PROBE_WOODED UINT32_MAX  /* count of a slot whose cell holds a tree */
#define FLR_PROBE_FREE   UINT32_MAX  /* key of a slot that is not used */

/* a cell in the hash table; key: x | y << 10 | z << 20 */
typedef struct flr_probe_slot {
    uint32_t key;
    uint32_t first; /* block (where there are many, of their pages), or node of a tree */
    uint32_t count; /* blocks without those of pages, or FLR_PROBE_WOODED */
} flr_probe_slot;

/* Three numbers in one register, and a zero: written and read as one, they need not wait for memory. */
typedef int32_t flr_int4 __attribute__((vector_size(16)));

/* a segment in a frame: its ends in fine units, at most 4096 either way */
typedef struct flr_probe_local {
    flr_int4 a, b;
} flr_probe_local;

/* a segment for boxes, from the model's middle */
typedef struct flr_probe_span {
    float middle[3], half[3]; /* metres: m and w of the paper */
    float slack;              /* metres: by how much rounding may turn w */
} flr_probe_span;

/* see kernel.h */
typedef uint32_t (*flr_gather_kernel)(const flr_probe_block *blocks, uint32_t count,
                                      const flr_probe_local *local, uint32_t *list);
typedef uint32_t (*flr_node_kernel)(const flr_probe_node *node, const flr_probe_span *span);
typedef uint32_t (*flr_near_kernel)(const flr_probe_model *model, const flr_vec3 *a,
                                    const flr_vec3 *b, uint32_t *list);

struct flr_probe_model {
    const flr_mesh *mesh; /* NULL: nothing to hit */
    flr_gather_kernel gather;
    flr_near_kernel near;
    flr_node_kernel meet;
    flr_vec3 centre; /* of the mesh's box, metres */
    double size;     /* metres: its diagonal */
    /* the grid */
    flr_vec3 low;          /* metres: corner of cell 0, 0, 0 */
    double cell, per_cell; /* metres, and one over that */
    double per_fine;       /* fine units in a metre */
    int32_t cells[3];
    double border[4];      /* fine units: where the cells end along an axis; and a one */
    flr_probe_slot *slots; /* [mask + 1]; NULL: a tree */
    uint32_t mask;         /* a power of two less one */
    unsigned shift;        /* of the hash: 32 - log2(mask + 1) */
    /* triangles */
    flr_probe_block *blocks; /* [block_count] */
    flr_probe_frame *frames; /* [block_count]; used by blocks of trees; NULL where there is none */
    flr_probe_node *nodes;   /* [node_count]; a tree's root is node 0 */
    uint32_t block_count, node_count;
    float *corner_normals; /* [3 triangle_count][3], for shading; NULL: not wanted */
    flr_probe_info info;
};

/* Where a key begins to look in the table. */
static inline uint32_t flr_probe_hash(uint32_t key, unsigned shift)
{
    return (key * 2654435769u) >> shift;
}

/* The slot of a cell, or the free one where it would be. */
static inline flr_probe_slot *flr_probe_find(flr_probe_slot *slots, uint32_t mask, unsigned shift,
                                             uint32_t key)
{
    uint32_t at = flr_probe_hash(key, shift);
    while (slots[at].key != key && slots[at].key != FLR_PROBE_FREE) at = (at + 1) & mask;
    return &slots[at];
}

static inline void flr_probe_corners(const flr_mesh *mesh, uint32_t triangle, flr_vec3 corners[3])
{
    const uint32_t *v = mesh->triangles[triangle].v;
    for (int i = 0; i < 3; i++) corners[i] = mesh->vertices[v[i]];
}

/* ---- making ---- */

/* Fills the model's grid, with trees in crowded cells where `crowded` triangles are exceeded. */
flr_result flr_probe_make_grid(flr_probe_model *model, double grain, uint32_t crowded,
                               flr_error *error);
/* One tree for all triangles. */
flr_result flr_probe_make_tree(flr_probe_model *model, flr_error *error);

/* Normals of corners, for shading. */
flr_result flr_probe_make_shading(flr_probe_model *model, double crease, flr_error *error);

/* A triangle becomes a lane of a block in the frame. Lanes from `lane` on that get none: flr_probe_block_end(). */
void flr_probe_block_put(flr_probe_block *block, int lane, const flr_mesh *mesh, uint32_t triangle,
                         flr_vec3 centre, double scale);
void flr_probe_block_end(flr_probe_block *block, int lane);

/* How many nodes a tree over `count` triangles takes; its blocks are count / 16, rounded up. */
uint32_t flr_probe_tree_nodes(uint32_t count);

/* what a triangle needs to be sorted */
typedef struct flr_probe_item {
    float at[3]; /* middle, from the model's */
    uint32_t triangle;
} flr_probe_item;

/* Makes the tree of these triangles into nodes from `node` on and blocks from `block` on. `items` gets another order. */
void flr_probe_tree_fill(const flr_probe_model *model, flr_probe_item *items, uint32_t count,
                         uint32_t node, uint32_t block);
void flr_probe_item_make(const flr_probe_model *model, uint32_t triangle, flr_probe_item *item);

#endif
