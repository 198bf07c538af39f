/* blocks.h: which blocks of the file hold the marks of which chunks, and putting them into a paged table and out of it. */
#ifndef FLR_PAGER_BLOCKS_H
#define FLR_PAGER_BLOCKS_H

#include "contact/paging.h"

/* one field: its hyperchunks are numbered, and so are their planes, in the same order */
typedef struct flr_blocks_field {
    uint32_t *first; /* [count + 1]: the first plane of each hyperchunk, and the end */
    uint32_t *cells; /* [count]: where it is in the grid, x fastest */
    uint32_t count;
    uint64_t
        planes; /* bytes from the start of the block in which the voxmap begins to the field's planes */
} flr_blocks_field;

typedef struct flr_blocks {
    const flr_voxmap *voxmap;
    flr_blocks_field fields[FLR_FIELD_COUNT];
    uint32_t *pieces
        [FLR_FIELD_COUNT]; /* [cells]: the hyperchunk in a cell of the grid, or FLR_UNIFORM | mark */
    unsigned field_count;
    uint32_t plane_bytes;
    uint64_t first_block, end_block; /* that hold planes of fields, numbered as in the file */
    uint64_t origin_block;           /* the one in which the voxmap begins */
} flr_blocks;

/* Looks at the entries of hyperchunks and makes all chunks that have a plane absent. `origin_block`, `offset`: where the voxmap's first byte is. FLR_NO_MEMORY, FLR_BAD_INPUT, FLR_TOO_LARGE. */
flr_result flr_blocks_create(const flr_voxmap *voxmap, uint64_t origin_block, uint64_t offset,
                             flr_blocks *blocks, flr_error *error);
void flr_blocks_free(flr_blocks *blocks);
size_t flr_blocks_bytes(const flr_blocks *blocks);

/* The blocks in which a field has the marks of a cell of the grid: [first, end). False: none. */
bool flr_blocks_of_cell(const flr_blocks *blocks, unsigned field, size_t cell, uint64_t *first,
                        uint64_t *end);

/* About where in space the first of a block's marks are: metres, voxmap's frame. */
flr_vec3 flr_blocks_place(const flr_blocks *blocks, uint64_t block);

/* A block into the table: it lies in `slot`. What it held can be looked at as soon as its cells lack nothing else. */
void flr_blocks_put(const flr_blocks *blocks, const flr_contact_table *table, uint64_t block,
                    uint32_t slot);
/* And out of it, in two steps: cells lack it from now on; then, when no step looks any more that began before, its entries
 * name the block and the slot can be used for another. */
void flr_blocks_withdraw(const flr_blocks *blocks, const flr_contact_table *table, uint64_t block);
void flr_blocks_forget(const flr_blocks *blocks, const flr_contact_table *table, uint64_t block);

#endif
