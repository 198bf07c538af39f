/* through the voxels of a voxmap */
#include "voxel/walk.h"

uint32_t flr_walk_hyper(const flr_voxmap *voxmap, const flr_tree_place *place, uint32_t x,
                        uint32_t y, uint32_t z)
{
    const flr_voxmap_header *h = voxmap->header;
    const size_t root =
        (x >> 3) + h->roots[0] * ((size_t)(y >> 3) + h->roots[1] * (size_t)(z >> 3));
    const uint32_t entry = flr_voxmap_u32(voxmap, place->root)[root];
    if (entry & FLR_UNIFORM) return entry;
    return flr_voxmap_u32(voxmap,
                          place->nodes)[(size_t)entry * 512 + flr_cell(x & 7, y & 7, z & 7)];
}

static bool is_empty(uint32_t entry)
{
    const uint32_t mark = entry & 255;
    return entry & FLR_UNIFORM && mark != FLR_MARK_SURFACE && mark != FLR_MARK_INTERIOR;
}

static void walk_chunk(const flr_voxmap *voxmap, uint32_t entry, const uint32_t low[3],
                       const flr_walk *walk)
{
    if (is_empty(entry) || !walk->enter(walk->context, low, 8)) return;
    const flr_voxmap_header *h = voxmap->header;
    const uint32_t *planes = flr_voxmap_u32(voxmap, h->fields[FLR_FIELD_SURFACE].planes);
    flr_mask surface = {{0}}, interior = {{0}};
    for (unsigned cell = 0; cell < 512; cell++) {
        uint32_t mark = entry & 255;
        if (!(entry & FLR_UNIFORM)) {
            const uint64_t bit = ((uint64_t)entry * 512 + cell) * h->bits;
            mark = planes[bit / 32] >> bit % 32 & ((1u << h->bits) - 1);
        }
        if (mark == FLR_MARK_SURFACE) flr_mask_set(&surface, cell);
        if (mark == FLR_MARK_INTERIOR) flr_mask_set(&interior, cell);
    }
    if (!flr_mask_is_empty(&surface) || !flr_mask_is_empty(&interior))
        walk->chunk(walk->context, low, &surface, &interior);
}

static void walk_hyper(const flr_voxmap *voxmap, const uint32_t at[3], const flr_walk *walk)
{
    const flr_tree_place *place = &voxmap->header->fields[FLR_FIELD_SURFACE];
    const uint32_t entry = flr_walk_hyper(voxmap, place, at[0], at[1], at[2]);
    const uint32_t low[3] = {at[0] * 64, at[1] * 64, at[2] * 64};
    if (is_empty(entry) || !walk->enter(walk->context, low, 64)) return;
    const uint32_t *chunks = flr_voxmap_u32(voxmap, place->hypers);
    for (uint32_t cell = 0; cell < 512; cell++) {
        const uint32_t corner[3] = {low[0] + 8 * (cell & 7), low[1] + 8 * (cell >> 3 & 7),
                                    low[2] + 8 * (cell >> 6)};
        walk_chunk(voxmap, entry & FLR_UNIFORM ? entry : chunks[(size_t)entry * 512 + cell], corner,
                   walk);
    }
}

void flr_voxmap_walk(const flr_voxmap *voxmap, const uint32_t from[3], const uint32_t to[3],
                     const flr_walk *walk)
{
    for (uint32_t z = from[2]; z < to[2]; z++)
        for (uint32_t y = from[1]; y < to[1]; y++)
            for (uint32_t x = from[0]; x < to[0]; x++) {
                const uint32_t at[3] = {x, y, z};
                walk_hyper(voxmap, at, walk);
            }
}
