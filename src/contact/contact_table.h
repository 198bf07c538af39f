/* contact_table.h: a voxmap's fields, flattened for lookups; shared by all pairs of that voxmap. What a lookup says about
 * distance. Everything is in voxels from the grid's corner. */
#ifndef FLR_CONTACT_CONTACT_TABLE_H
#define FLR_CONTACT_CONTACT_TABLE_H

#include "contact/kernel.h"
#include "contact/point.h"
#include "feeler/contact.h"
#include "voxel/mask.h"
#include "voxel/voxmap_format.h"

struct flr_contact_table {
    const flr_voxmap *voxmap;
    flr_flat_field fields[FLR_FIELD_COUNT];
    uint32_t *entries;         /* of all fields, one block; NULL where they are paged */
    size_t bytes;              /* of that block */
    bool small;                /* word numbers of all planes fit 31 bits: gathers can take them */
    struct flr_paging *paging; /* NULL: all of it is in memory; else see contact/paging.h */
};

/* What a pair stands for, for those who look by themselves; shell or voxmap may be NULL. */
typedef struct flr_pair_view {
    const flr_shell *shell;
    const flr_voxmap *voxmap;
    const flr_flat_field *fields; /* [FLR_FIELD_COUNT] */
} flr_pair_view;

flr_pair_view flr_contact_pair_view(const flr_contact_pair *pair);

/* flr_contact_table_create() that asks now and then whether it shall go on; if not, FLR_CANCELLED. `go_on` may be NULL. */
flr_result flr_contact_table_make(const flr_voxmap *voxmap, bool (*go_on)(void *context),
                                  void *context, flr_contact_table **table, flr_error *error);

/* The entry of a hyperchunk in a field's tree: a number, or one mark for all of it. */
static inline uint32_t flr_hyper_entry(const flr_voxmap *voxmap, const flr_tree_place *place,
                                       uint32_t x, uint32_t y, uint32_t z)
{
    const flr_voxmap_header *h = voxmap->header;
    size_t root = (x >> 3) + h->roots[0] * ((size_t)(y >> 3) + h->roots[1] * (size_t)(z >> 3));
    uint32_t entry = flr_voxmap_u32(voxmap, place->root)[root];
    if (entry & FLR_UNIFORM) return entry;
    return flr_voxmap_u32(voxmap,
                          place->nodes)[(size_t)entry * 512 + flr_cell(x & 7, y & 7, z & 7)];
}

static inline double flr_larger(double a, double b) { return a > b ? a : b; }

/* Bits of a mark and size of the grid into a field. */
void flr_flat_field_size(flr_flat_field *field, const flr_voxmap_header *header);

/* Where the entry of a chunk's hyperchunk is, in a field that has them. */
static inline const uint32_t *flr_table_hyper(const flr_flat_field *f, int32_t cx, int32_t cy,
                                              int32_t cz)
{
    return f->hypers + ((cz >> 3) * f->stride[1] + (cy >> 3) * f->stride[0] + (cx >> 3));
}

/* Where the entry of a chunk of the grid is. */
static inline const uint32_t *flr_table_at(const flr_flat_field *f, int32_t cx, int32_t cy,
                                           int32_t cz)
{
    if (!f->hypers) return f->chunks + (cz * f->stride[1] + cy * f->stride[0] + cx);
    const uint32_t *hyper = flr_table_hyper(f, cx, cy, cz);
    return *hyper & FLR_UNIFORM
               ? hyper
               : f->chunks + ((size_t)*hyper * 512 +
                              flr_cell((unsigned)cx & 7, (unsigned)cy & 7, (unsigned)cz & 7));
}

/* How far (chessboard) a point lies outside the grid; 0 inside. */
static inline double flr_table_outside(const flr_flat_field *f, flr_vec3 v)
{
    double x = flr_larger(-v.x, v.x - f->size[0]), y = flr_larger(-v.y, v.y - f->size[1]),
           z = flr_larger(-v.z, v.z - f->size[2]);
    return flr_larger(0, flr_larger(x, flr_larger(y, z)));
}

/* The mark of the voxel that holds a point. What lies outside is free, as is what is no number. */
static inline uint32_t flr_table_mark(const flr_flat_field *f, flr_vec3 v)
{
    if (!(v.x >= 0 && v.y >= 0 && v.z >= 0 && v.x < f->size[0] && v.y < f->size[1] &&
          v.z < f->size[2]))
        return FLR_MARK_FREE;
    int32_t x = (int32_t)v.x, y = (int32_t)v.y, z = (int32_t)v.z;
    uint32_t entry = *flr_table_at(f, x >> 3, y >> 3, z >> 3);
    if (entry & FLR_UNIFORM) return entry & 255;
    uint32_t bit = flr_cell((unsigned)x & 7, (unsigned)y & 7, (unsigned)z & 7) * f->bits;
    return f->planes[(uint64_t)entry * 16 * f->bits + bit / 32] >> bit % 32 & ((1u << f->bits) - 1);
}

/* Half bytes to bytes. */
static inline uint64_t flr_table_spread(uint64_t halves)
{
    halves = (halves | halves << 16) & UINT64_C(0x0000FFFF0000FFFF);
    halves = (halves | halves << 8) & UINT64_C(0x00FF00FF00FF00FF);
    return (halves | halves << 4) & UINT64_C(0x0F0F0F0F0F0F0F0F);
}

/* The marks of 2x2x2 voxels, the first of which is (x, y, z), a byte each. */
uint64_t flr_table_stencil(const flr_flat_field *f, int32_t x, int32_t y, int32_t z);

/* The same in half bytes, of a field of 4 bits. */
uint32_t flr_table_packed_stencil(const flr_flat_field *f, int32_t x, int32_t y, int32_t z);

/* Voxels from the voxel of a point to the nearest voxel of the field, at least: by the mark of the former; -1 inside. A
 * point `beyond` the grid is farther than the range in that direction, since the grid has a margin of that width. */
static inline double flr_table_by_mark(const flr_voxmap *voxmap, uint32_t mark, double beyond)
{
    const flr_voxmap_header *h = voxmap->header;
    if (mark == FLR_MARK_INTERIOR) return -1;
    if (mark != FLR_MARK_FREE) return mark - 2.0;
    return h->range - h->offset + (beyond > 0 ? beyond : 1.0);
}

/* The same for the surface by the chunk distances: a surface voxel is at least so far from any voxel of this chunk. */
double flr_table_by_chunks(const flr_voxmap *voxmap, flr_vec3 v, double beyond);

/* The marks around a point of the grid whose own voxel has this mark in `field`, one of the table's, where the law needs
 * them. */
void flr_table_look_around(const flr_contact_frame *frame, const flr_flat_field *fields,
                           const flr_flat_field *field, flr_vec3 v, uint32_t mark,
                           flr_contact_stencil *around);

#endif
