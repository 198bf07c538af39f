/* a voxmap's fields, flattened: one entry for every chunk of the grid, so that a lookup is two dependent loads */
#include "contact/contact_table.h"

#include <stdlib.h>

#include "base/large_pages.h"

/* Writes the chunk entries of a field in x, y, z order. False: somebody wants it to stop. */
static bool flatten(const flr_voxmap *voxmap, const flr_tree_place *place,
                    const flr_flat_field *field, bool (*go_on)(void *), void *context,
                    uint32_t *entries)
{
    const uint32_t *hypers = voxmap->header->grid.hypers;
    for (uint32_t hz = 0; hz < hypers[2]; hz++) {
        if (go_on && !go_on(context)) return false;
        for (uint32_t hy = 0; hy < hypers[1]; hy++)
            for (uint32_t hx = 0; hx < hypers[0]; hx++) {
                uint32_t entry = flr_hyper_entry(voxmap, place, hx, hy, hz);
                const uint32_t *from = entry & FLR_UNIFORM ? NULL
                                                           : flr_voxmap_u32(voxmap, place->hypers) +
                                                                 (size_t)entry * 512;
                for (unsigned row = 0; row < 64; row++) {
                    uint32_t *to = entries + ((size_t)hz * 8 + row / 8) * (size_t)field->stride[1] +
                                   ((size_t)hy * 8 + row % 8) * (size_t)field->stride[0] +
                                   (size_t)hx * 8;
                    for (unsigned i = 0; i < 8; i++) to[i] = from ? from[row * 8 + i] : entry;
                }
            }
    }
    return true;
}

void flr_flat_field_size(flr_flat_field *field, const flr_voxmap_header *header)
{
    field->bits = header->bits;
    for (int axis = 0; axis < 3; axis++)
        field->size[axis] = (int32_t)header->grid.hypers[axis] * 64;
}

static flr_result flatten_all(flr_contact_table *table, bool (*go_on)(void *), void *context,
                              flr_error *error)
{
    const flr_voxmap *voxmap = table->voxmap;
    const flr_voxmap_header *h = voxmap->header;
    unsigned fields = h->features ? FLR_FIELD_COUNT : 1;
    size_t cells = (size_t)h->grid.hypers[0] * h->grid.hypers[1] * h->grid.hypers[2] * 512;
    table->bytes = cells * fields * sizeof(uint32_t);
    if (cells >= 1u << 31 || !(table->entries = flr_pages_alloc(table->bytes)))
        return flr_fail(error, FLR_NO_MEMORY,
                        "not enough memory for the contact table of a voxmap; use larger voxels");
    table->small = true;
    for (unsigned i = 0; i < fields; i++) {
        flr_flat_field *field = &table->fields[i];
        field->chunks = table->entries + i * cells;
        field->planes = flr_voxmap_u32(voxmap, h->fields[i].planes);
        flr_flat_field_size(field, h);
        field->stride[0] = field->size[0] / 8;
        field->stride[1] = field->size[0] / 8 * (field->size[1] / 8);
        if (!flatten(voxmap, &h->fields[i], field, go_on, context, table->entries + i * cells))
            return flr_fail(error, FLR_CANCELLED, "cancelled");
        table->small &= h->fields[i].plane_count * 16 * h->bits < 1u << 31;
    }
    return FLR_OK;
}

flr_result flr_contact_table_make(const flr_voxmap *voxmap, bool (*go_on)(void *context),
                                  void *context, flr_contact_table **table, flr_error *error)
{
    flr_contact_table *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a contact table");
    made->voxmap = voxmap;
    flr_result result = flatten_all(made, go_on, context, error);
    if (result == FLR_OK)
        *table = made;
    else
        flr_contact_table_destroy(made);
    return result;
}

flr_result flr_contact_table_create(const flr_voxmap *voxmap, flr_contact_table **table,
                                    flr_error *error)
{
    return flr_contact_table_make(voxmap, NULL, NULL, table, error);
}

void flr_contact_table_destroy(flr_contact_table *table)
{
    if (!table) return;
    flr_pages_free(table->entries, table->bytes);
    free(table);
}

size_t flr_contact_table_bytes(const flr_contact_table *table)
{
    return sizeof *table + table->bytes;
}

/* The entry of a voxel's chunk. */
static inline uint32_t entry_of(const flr_flat_field *f, int32_t x, int32_t y, int32_t z)
{
    if (x < 0 || y < 0 || z < 0 || x >= f->size[0] || y >= f->size[1] || z >= f->size[2])
        return FLR_UNIFORM | FLR_MARK_FREE;
    return *flr_table_at(f, x >> 3, y >> 3, z >> 3);
}

static inline uint8_t mark_in(const flr_flat_field *f, uint32_t entry, int32_t x, int32_t y,
                              int32_t z)
{
    if (entry & FLR_UNIFORM) return (uint8_t)entry;
    uint32_t bit = flr_cell((unsigned)x & 7, (unsigned)y & 7, (unsigned)z & 7) * f->bits;
    return (uint8_t)(f->planes[(uint64_t)entry * 16 * f->bits + bit / 32] >> bit % 32 &
                     ((1u << f->bits) - 1));
}

/* A word is a row of 8 voxels along x. */
uint32_t flr_table_packed_stencil(const flr_flat_field *f, int32_t x, int32_t y, int32_t z)
{
    const unsigned shift = (unsigned)(x & 7) * 4;
    uint32_t entry = entry_of(f, x, y, z), packed = 0;
    if ((x & 7) < 7 && (y & 7) < 7 && (z & 7) < 7) { /* in one chunk, as two thirds are */
        if (entry & FLR_UNIFORM) return (entry & 15) * UINT32_C(0x11111111);
        const uint32_t *row = f->planes + (uint64_t)entry * 64 + (z & 7) * 8 + (y & 7);
        return (row[0] >> shift & 255) | (row[1] >> shift & 255) << 8 |
               (row[8] >> shift & 255) << 16 | (row[9] >> shift & 255) << 24;
    }
    if (x < 0 || y < 0 || z < 0 || x + 1 >= f->size[0] || y + 1 >= f->size[1] ||
        z + 1 >= f->size[2]) {
        for (int i = 0; i < 8; i++) {
            int32_t cx = x + (i & 1), cy = y + (i >> 1 & 1), cz = z + (i >> 2);
            packed |= (uint32_t)mark_in(f, entry_of(f, cx, cy, cz), cx, cy, cz) << 4 * i;
        }
        return packed;
    }
    /* in the grid, but in several chunks: without branches that cannot be foreseen */
    for (int i = 0; (x & 7) < 7 && i < 4; i++) { /* two along x are in one row */
        int32_t cy = y + (i & 1), cz = z + (i >> 1);
        const uint32_t *chunk = flr_table_at(f, x >> 3, cy >> 3, cz >> 3);
        const uint64_t stored = (uint64_t)(*chunk >> 31) - 1;
        const uint32_t *from[2] = {f->planes, chunk};
        uint64_t at = ((uint64_t)*chunk * 64 + (cz & 7) * 8 + (cy & 7)) & stored;
        uint32_t row = from[*chunk >> 31][at];
        packed |= (stored ? row >> shift & 255 : (row & 15) * 0x11) << 8 * i;
    }
    for (int i = 0; (x & 7) == 7 && i < 8; i++) {
        int32_t cx = x + (i & 1), cy = y + (i >> 1 & 1), cz = z + (i >> 2);
        const uint32_t *chunk = flr_table_at(f, cx >> 3, cy >> 3, cz >> 3);
        const uint64_t stored = (uint64_t)(*chunk >> 31) - 1;
        const uint32_t *from[2] = {f->planes, chunk};
        uint64_t at = ((uint64_t)*chunk * 64 + (cz & 7) * 8 + (cy & 7)) & stored;
        uint32_t row = from[*chunk >> 31][at];
        packed |= (row >> (4 * (cx & 7) & stored) & 15) << 4 * i;
    }
    return packed;
}

uint64_t flr_table_stencil(const flr_flat_field *f, int32_t x, int32_t y, int32_t z)
{
    if (f->bits == 4) return flr_table_spread(flr_table_packed_stencil(f, x, y, z));
    uint64_t marks = 0;
    for (int i = 0; i < 8; i++) {
        int32_t cx = x + (i & 1), cy = y + (i >> 1 & 1), cz = z + (i >> 2);
        marks |= (uint64_t)mark_in(f, entry_of(f, cx, cy, cz), cx, cy, cz) << 8 * i;
    }
    return marks;
}

double flr_table_by_chunks(const flr_voxmap *voxmap, flr_vec3 v, double beyond)
{
    const flr_voxmap_header *h = voxmap->header;
    const double at[3] = {v.x, v.y, v.z};
    uint32_t c[3];
    for (int axis = 0; axis < 3; axis++) {
        uint32_t size = h->grid.hypers[axis] * 64;
        c[axis] = at[axis] <= 0 ? 0 : at[axis] >= size ? (size - 1) >> 3 : (uint32_t)at[axis] >> 3;
    }
    uint32_t entry = flr_hyper_entry(voxmap, &h->chunks, c[0] >> 3, c[1] >> 3, c[2] >> 3),
             mark = entry & 255;
    if (!(entry & FLR_UNIFORM)) {
        unsigned cell = flr_cell(c[0] & 7, c[1] & 7, c[2] & 7);
        const uint8_t *planes = (const uint8_t *)h + h->chunks.planes;
        mark = (uint32_t)planes[(uint64_t)entry * 256 + cell / 2] >> cell % 2 * 4 & 15;
    }
    if (mark == FLR_MARK_INTERIOR) return -1;
    double chunks = mark == FLR_MARK_FREE ? 9 : mark - 2.0;
    return flr_larger(beyond > 0 ? h->range - h->offset + beyond : 0,
                      (chunks - 1) * 8 + 1 - h->offset);
}

void flr_table_look_around(const flr_contact_frame *frame, const flr_flat_field *fields,
                           const flr_flat_field *field, flr_vec3 v, uint32_t mark,
                           flr_contact_stencil *around)
{
    if (!flr_contact_needs_stencil(frame, mark)) return;
    int32_t x = flr_contact_stencil_base(v.x), y = flr_contact_stencil_base(v.y),
            z = flr_contact_stencil_base(v.z);
    const flr_flat_field *surface = &fields[FLR_FIELD_SURFACE];
    around->surface = flr_table_stencil(surface, x, y, z);
    around->field = field != surface ? flr_table_stencil(field, x, y, z) : around->surface;
}
