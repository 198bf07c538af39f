/* table.h: a voxmap's fields, flattened for lookups; shared by all pairs of that voxmap. */
#ifndef FLR_CONTACT_TABLE_H
#define FLR_CONTACT_TABLE_H

#include "contact/kernel.h"
#include "feeler/contact.h"
#include "voxel/mask.h"
#include "voxel/voxmap_format.h"

struct flr_contact_table {
    const flr_voxmap *voxmap;
    flr_flat_field fields[FLR_FIELD_COUNT];
    uint32_t *entries; /* of all fields, one block */
    size_t bytes;      /* of that block */
    bool small;        /* word numbers of all planes fit 31 bits: gathers can take them */
};

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

#endif
