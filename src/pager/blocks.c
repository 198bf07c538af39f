/* which blocks of the file hold the marks of which chunks */
#include "pager/blocks.h"

#include <stdlib.h>

#include "base/parallel.h"
#include "base/search.h"
#include "voxel/clones.h"
#include "voxel/voxfile_format.h"

#define NOWHERE UINT32_MAX

/* ---- making ---- */

/* Do [from, to) and `size` bytes at `at` have none in common? */
static bool apart(uint64_t from, uint64_t to, uint64_t at, uint64_t size)
{
    return from == to || at >= to || at + size <= from;
}

/* Notes where in the grid each hyperchunk of a field is. False: one is at two places, or at none. */
static bool find_cells(flr_blocks *b, unsigned field)
{
    const flr_voxmap_header *h = b->voxmap->header;
    flr_blocks_field *f = &b->fields[field];
    size_t cell = 0, found = 0;
    for (uint32_t i = 0; i < f->count; i++) f->cells[i] = NOWHERE;
    for (uint32_t z = 0; z < h->grid.hypers[2]; z++)
        for (uint32_t y = 0; y < h->grid.hypers[1]; y++)
            for (uint32_t x = 0; x < h->grid.hypers[0]; x++, cell++) {
                uint32_t piece = flr_hyper_entry(b->voxmap, &h->fields[field], x, y, z);
                b->pieces[field][cell] = piece;
                if (piece & FLR_UNIFORM) continue;
                if (f->cells[piece] != NOWHERE) return false;
                f->cells[piece] = (uint32_t)cell;
                found++;
            }
    return found == f->count;
}

/* Entries of hyperchunks are going to be changed in place, and those of other levels are not: they must not lie over one
 * another, as in a file that was written by feeler. */
static bool lies_alone(const flr_blocks *b, unsigned field)
{
    const flr_voxmap_header *h = b->voxmap->header;
    const uint64_t from = h->fields[field].hypers, to = from + h->fields[field].hyper_count * 2048,
                   roots = (uint64_t)h->roots[0] * h->roots[1] * h->roots[2] * 4;
    bool alone = apart(from, to, h->chunks.root, roots) &&
                 apart(from, to, h->chunks.nodes, h->chunks.node_count * 2048);
    for (unsigned i = 0; i < b->field_count; i++)
        if (i != field)
            alone = alone && apart(from, to, h->fields[i].hypers, h->fields[i].hyper_count * 2048);
    return alone;
}

/* Looking at the entries of a field's hyperchunks, by several threads. */
typedef struct blocks_look {
    flr_blocks *blocks;
    unsigned field;
    uint32_t *entries; /* [count][512] */
} blocks_look;

enum { BLOCKS_LOOK = 1 << 9 }; /* hyperchunks at once: 1 MiB */

/* The entries of a hyperchunk in which planes are numbered from `next` on become absent. Returns how many there are, or
 * NOWHERE where they are not numbered so or a mark is none; `marks` is a power
 * of two. */
FLR_CLONES static uint32_t make_absent(uint32_t entries[512], uint32_t next, uint64_t begin,
                                       uint32_t plane_bytes, uint32_t marks)
{
    uint32_t wrong = 0, count = 0;
    for (unsigned i = 0; i < 512; i++) {
        /* without branches: which entries are marks is hard to foresee */
        uint32_t entry = entries[i], is_mark = 0u - (entry >> 31);
        wrong |= (entry ^ (next + count)) & ~is_mark;
        wrong |= entry & ~FLR_UNIFORM & ~(marks - 1) & is_mark;
        count += 1 + is_mark;
    }
    if (wrong) return NOWHERE;
    for (unsigned i = 0; i < 512; i++) {
        uint32_t entry = entries[i];
        uint64_t block = (begin + (uint64_t)entry * plane_bytes) / FLR_VOXFILE_BLOCK;
        entries[i] = entry & FLR_UNIFORM ? entry : flr_paging_absent(block);
    }
    return count;
}

/* Each hyperchunk's first plane and the number of its planes, for now: find_planes() compares them with one another. */
static flr_result look_at_some(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    const blocks_look *l = context;
    const flr_blocks *b = l->blocks;
    const flr_blocks_field *f = &b->fields[l->field];
    const uint64_t begin = b->origin_block * FLR_VOXFILE_BLOCK + f->planes;
    const size_t from = piece * BLOCKS_LOOK,
                 to = f->count - from < BLOCKS_LOOK ? f->count : from + BLOCKS_LOOK;
    for (size_t i = from; i < to; i++) {
        uint32_t *entries = l->entries + i * 512, first = 0;
        for (unsigned k = 0; k < 512 && entries[k] & FLR_UNIFORM; k++) first = k + 1;
        uint32_t next = first < 512 ? entries[first] : 0;
        uint32_t count =
            make_absent(entries, next, begin, b->plane_bytes, 1u << b->voxmap->header->bits);
        if (count == NOWHERE) return FLR_BAD_INPUT;
        f->first[i] = next;
        f->cells[i] = count;
    }
    return FLR_OK;
}

/* Planes are numbered hyperchunk by hyperchunk; a file in which they are not was not written by feeler. All become absent. */
static bool find_planes(flr_blocks *b, unsigned field)
{
    flr_blocks_field *f = &b->fields[field];
    blocks_look l = {b, field, flr_paging_entries(b->voxmap, field)};
    if (flr_parallel_for(0, ((size_t)f->count + BLOCKS_LOOK - 1) / BLOCKS_LOOK, look_at_some, &l) !=
        FLR_OK)
        return false;
    uint64_t next = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        if (f->cells[i] && f->first[i] != next) return false;
        f->first[i] = (uint32_t)next;
        next += f->cells[i];
    }
    f->first[f->count] = (uint32_t)next;
    return next == b->voxmap->header->fields[field].plane_count;
}

static bool allocate(flr_blocks *b, uint64_t offset)
{
    const flr_voxmap_header *h = b->voxmap->header;
    bool made = true;
    for (unsigned i = 0; i < b->field_count; i++) {
        flr_blocks_field *f = &b->fields[i];
        f->count = (uint32_t)h->fields[i].hyper_count;
        f->planes = offset + h->fields[i].planes;
        f->first = calloc((size_t)f->count + 1, sizeof *f->first);
        f->cells = calloc((size_t)f->count + 1, sizeof *f->cells);
        b->pieces[i] = calloc((size_t)flr_grid_hyper_count(&h->grid), sizeof *b->pieces[i]);
        made = made && f->first && f->cells && b->pieces[i];
    }
    return made;
}

/* The range of blocks with planes of this field is added. */
static void add_range(flr_blocks *b, unsigned field)
{
    const flr_blocks_field *f = &b->fields[field];
    uint64_t end = f->planes + (uint64_t)f->first[f->count] * b->plane_bytes;
    if (end == f->planes) return;
    uint64_t first = b->origin_block + f->planes / FLR_VOXFILE_BLOCK,
             last = b->origin_block + (end - 1) / FLR_VOXFILE_BLOCK;
    if (b->end_block == 0 || first < b->first_block) b->first_block = first;
    if (last + 1 > b->end_block) b->end_block = last + 1;
}

flr_result flr_blocks_create(const flr_voxmap *voxmap, uint64_t origin_block, uint64_t offset,
                             flr_blocks *blocks, flr_error *error)
{
    const flr_voxmap_header *h = voxmap->header;
    flr_blocks b = {.voxmap = voxmap,
                    .field_count = h->features ? FLR_FIELD_COUNT : 1,
                    .plane_bytes = 64 * h->bits,
                    .origin_block = origin_block};
    if (origin_block + (offset + h->size) / FLR_VOXFILE_BLOCK >= FLR_PAGING_BLOCKS ||
        flr_grid_hyper_count(&h->grid) >= 1u << 31)
        return flr_fail(error, FLR_TOO_LARGE,
                        "a voxel file of more than 512 GiB cannot be paged; use larger voxels");
    if (!allocate(&b, offset)) {
        flr_blocks_free(&b);
        return flr_fail(error, FLR_NO_MEMORY, "not enough memory to page voxels");
    }
    for (unsigned i = 0; i < b.field_count; i++) {
        if (!lies_alone(&b, i) || !find_planes(&b, i) || !find_cells(&b, i)) {
            flr_blocks_free(&b);
            return flr_fail(error, FLR_BAD_INPUT,
                            "damaged: its marks are not in order; build it again with feeler "
                            "voxelize");
        }
        add_range(&b, i);
    }
    *blocks = b;
    return FLR_OK;
}

void flr_blocks_free(flr_blocks *blocks)
{
    for (unsigned i = 0; i < FLR_FIELD_COUNT; i++) {
        free(blocks->fields[i].first);
        free(blocks->fields[i].cells);
        free(blocks->pieces[i]);
    }
    *blocks = (flr_blocks){0};
}

size_t flr_blocks_bytes(const flr_blocks *blocks)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < blocks->field_count; i++)
        bytes += 8 * ((size_t)blocks->fields[i].count + 1) +
                 4 * (size_t)flr_grid_hyper_count(&blocks->voxmap->header->grid);
    return bytes;
}

/* ---- asking ---- */

bool flr_blocks_of_cell(const flr_blocks *blocks, unsigned field, size_t cell, uint64_t *first,
                        uint64_t *end)
{
    const flr_blocks_field *f = &blocks->fields[field];
    uint32_t piece = blocks->pieces[field][cell];
    if (piece & FLR_UNIFORM || f->first[piece] == f->first[piece + 1]) return false;
    uint64_t low = f->planes + (uint64_t)f->first[piece] * blocks->plane_bytes,
             high = f->planes + (uint64_t)f->first[piece + 1] * blocks->plane_bytes;
    *first = blocks->origin_block + low / FLR_VOXFILE_BLOCK;
    *end = blocks->origin_block + (high - 1) / FLR_VOXFILE_BLOCK + 1;
    return true;
}

/* The planes of a field that lie in a block: [*first, *end). */
static bool planes_of(const flr_blocks *b, unsigned field, uint64_t block, uint32_t *first,
                      uint32_t *end)
{
    const flr_blocks_field *f = &b->fields[field];
    uint64_t low = (block - b->origin_block) * FLR_VOXFILE_BLOCK, high = low + FLR_VOXFILE_BLOCK,
             total = f->first[f->count];
    if (high <= f->planes || low >= f->planes + total * b->plane_bytes) return false;
    uint64_t from = low > f->planes ? (low - f->planes) / b->plane_bytes : 0,
             to = (high - f->planes) / b->plane_bytes;
    *first = (uint32_t)from;
    *end = (uint32_t)(to < total ? to : total);
    return *first < *end;
}

/* The hyperchunk that has a plane. */
static uint32_t piece_of(const flr_blocks_field *f, uint32_t plane)
{
    uint32_t next;
    FLR_BISECT(next, f->count, f->first[next] <= plane);
    return next > 0 ? next - 1 : 0;
}

flr_vec3 flr_blocks_place(const flr_blocks *b, uint64_t block)
{
    const flr_grid *grid = &b->voxmap->header->grid;
    const double side = FLR_HYPER_SIDE * grid->voxel;
    for (unsigned field = 0; field < b->field_count; field++) {
        uint32_t first, end;
        if (!planes_of(b, field, block, &first, &end)) continue;
        uint32_t cell = b->fields[field].cells[piece_of(&b->fields[field], first)];
        return flr_vec3_add(grid->origin,
                            flr_vec3_make(side * (cell % grid->hypers[0] + 0.5),
                                          side * (cell / grid->hypers[0] % grid->hypers[1] + 0.5),
                                          side * (cell / grid->hypers[0] / grid->hypers[1] + 0.5)));
    }
    return grid->origin;
}

/* ---- putting in and out ---- */

typedef struct change {
    const flr_blocks *blocks;
    const flr_contact_table *table;
    uint64_t block;
    uint32_t slot; /* or NOWHERE */
    bool entries;  /* are changed */
    int lacks;     /* what a cell lacks, afterwards: -1, 0, 1 more */
} change;

static void change_entries(const change *c, unsigned field, uint32_t piece, uint32_t first,
                           uint32_t end)
{
    const flr_blocks *b = c->blocks;
    const flr_blocks_field *f = &b->fields[field];
    uint32_t *entries = flr_paging_entries(b->voxmap, field) + (size_t)piece * 512;
    uint32_t next = f->first[piece];
    const uint64_t low = (c->block - b->origin_block) * FLR_VOXFILE_BLOCK;
    for (unsigned i = 0; i < 512; i++) {
        if (!flr_paging_has_plane(entries[i])) continue;
        uint32_t plane = next++, entry = flr_paging_absent(c->block);
        if (plane < first || plane >= end) continue;
        uint64_t in_block = f->planes + (uint64_t)plane * b->plane_bytes - low;
        if (c->slot != NOWHERE)
            entry = (uint32_t)(((uint64_t)c->slot * FLR_VOXFILE_BLOCK + in_block) / b->plane_bytes);
        __atomic_store_n(&entries[i], entry, __ATOMIC_RELAXED);
    }
}

static void apply(const change *c)
{
    const flr_blocks *b = c->blocks;
    for (unsigned field = 0; field < b->field_count; field++) {
        const flr_blocks_field *f = &b->fields[field];
        uint32_t first, end;
        if (!planes_of(b, field, c->block, &first, &end)) continue;
        for (uint32_t piece = piece_of(f, first); piece < f->count && f->first[piece] < end;
             piece++) {
            if (f->first[piece + 1] == f->first[piece]) continue;
            if (c->entries) change_entries(c, field, piece, first, end);
            _Atomic uint16_t *lacks = &c->table->paging->lacks[f->cells[piece]];
            if (c->lacks < 0) atomic_fetch_sub_explicit(lacks, 1, memory_order_release);
            if (c->lacks > 0) atomic_fetch_add_explicit(lacks, 1, memory_order_seq_cst);
        }
    }
}

void flr_blocks_put(const flr_blocks *blocks, const flr_contact_table *table, uint64_t block,
                    uint32_t slot)
{
    apply(&(change){blocks, table, block, slot, true, -1});
}

void flr_blocks_withdraw(const flr_blocks *blocks, const flr_contact_table *table, uint64_t block)
{
    apply(&(change){blocks, table, block, NOWHERE, false, 1});
}

void flr_blocks_forget(const flr_blocks *blocks, const flr_contact_table *table, uint64_t block)
{
    apply(&(change){blocks, table, block, NOWHERE, true, 0});
}
