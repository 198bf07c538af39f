/* distance fields: from masks to marks
 *
 * Everything within 8 voxels of a hyperchunk lies in it and in the outer chunks of its 26 neighbours, so that
 * each is computed alone. Which chunks will have marks of their own plan.c has decided. */
#include "voxel/field.h"

#include <stdlib.h>

#include "voxel/tile.h"

/* ---- loading tiles ---- */

static const flr_mask full_mask = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                    UINT64_MAX, UINT64_MAX, UINT64_MAX}};

/* Interior voxels of a hyperchunk. */
static void load_interior(const flr_build *build, const uint32_t at[3], flr_tile *tile)
{
    const flr_build_hyper *hyper = flr_build_find(build, at[0], at[1], at[2]);
    if (!hyper) {
        if (!flr_build_empty_is_outside(build, at[0], at[1], at[2]))
            memset(tile->interior, 255, sizeof tile->interior);
        return;
    }
    unsigned index = 0;
    for (unsigned cell = 0; cell < 512; cell++) {
        flr_mask inside = full_mask;
        if (flr_mask_get(&hyper->used[FLR_LAYER_SURFACE], cell)) {
            for (int z = 0; z < 8; z++)
                inside.z[z] =
                    ~hyper->masks[FLR_LAYER_SURFACE][index].z[z] & ~hyper->outside[index].z[z];
            index++;
        } else if (flr_mask_get(&hyper->empty_outside, cell)) {
            continue;
        }
        flr_tile_interior(tile, &inside, cell & 7, cell >> 3 & 7, cell >> 6);
    }
}

/* A hyperchunk of voxels with its margin; false when no seed is in sight. */
static bool load_voxels(const flr_build *build, const uint32_t at[3], int layer, bool hollow,
                        flr_tile *tile)
{
    bool any = false;
    flr_tile_clear(tile);
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const flr_build_hyper *hyper = flr_build_find(
                    build, (int64_t)at[0] + dx, (int64_t)at[1] + dy, (int64_t)at[2] + dz);
                if (!hyper) continue;
                const flr_mask *mask = hyper->masks[layer];
                for (FLR_EACH_CELL(&hyper->used[layer], cell)) {
                    unsigned c = (unsigned)cell;
                    if (flr_tile_sees(c, dx, dy, dz)) {
                        flr_tile_seed(tile, mask, (int)(c & 7) + 8 * dx, (int)(c >> 3 & 7) + 8 * dy,
                                      (int)(c >> 6) + 8 * dz);
                        any = true;
                    }
                    mask++;
                }
            }
    if (!hollow) load_interior(build, at, tile);
    return any;
}

/* ---- the marks ---- */

void flr_field_count(const flr_tile *tile, uint64_t *interior, uint64_t *reached)
{
    uint64_t inside = 0, known = 0;
    for (unsigned z = 0; z < FLR_TILE_SIDE; z++)
        for (unsigned y = 0; y < FLR_TILE_SIDE; y++) {
            inside += (uint64_t)__builtin_popcountll(tile->interior[z][y]);
            known += (uint64_t)__builtin_popcountll(tile->known[z][y]);
        }
    *interior += inside;
    *reached += known - inside;
}

void flr_field_fill_hyper(const flr_build *build, const flr_field_hyper *hyper, flr_field field,
                          bool hollow, unsigned bits, unsigned range, unsigned offset,
                          struct flr_tile *tile, uint8_t *planes)
{
    bool any = load_voxels(build, hyper->at, (int)field, hollow, tile);
    flr_tile_grow(tile, 0, any ? range : 0, bits, offset);
    if (!planes) return;
    for (FLR_EACH_CELL(&hyper->stored, cell)) {
        unsigned c = (unsigned)cell;
        flr_tile_pack(tile, c & 7, c >> 3 & 7, c >> 6, bits, planes);
        planes += 64 * bits;
    }
}

/* ---- marks beyond the margin: round after round ---- */

/* The planned hyperchunk at these coordinates, or NULL where the field is of one mark throughout. */
static const flr_field_grown *find_grown(const flr_build *build, const flr_field_plan *plan,
                                         flr_field field, const flr_field_grown *grown,
                                         const uint32_t *slots, int64_t x, int64_t y, int64_t z)
{
    const uint32_t *n = build->grid.hypers;
    if (x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2]) return NULL;
    size_t root = (size_t)(x >> 3) +
                  build->roots[0] * ((size_t)(y >> 3) + build->roots[1] * (size_t)(z >> 3));
    uint32_t entry = plan->root[field][root];
    if (entry & FLR_UNIFORM) return NULL;
    entry = plan->nodes[field][(size_t)entry * 512 + flr_cell(x & 7, y & 7, z & 7)];
    if (entry & FLR_UNIFORM) return NULL;
    if (slots) entry = slots[entry];
    return entry == UINT32_MAX ? NULL : &grown[entry];
}

bool flr_field_keep_grown(const flr_tile *tile, flr_field_grown *grown)
{
    flr_mask blocks[512];
    *grown = (flr_field_grown){.masks = NULL};
    for (unsigned c = 0; c < 512; c++) {
        blocks[c] = flr_tile_block(tile, c & 7, c >> 3 & 7, c >> 6);
        if (!flr_mask_is_empty(&blocks[c])) flr_mask_set(&grown->used, c);
    }
    flr_mask *next = grown->masks =
        aligned_alloc(64, (flr_mask_count(&grown->used) + 1u) * sizeof *next);
    if (!next) return false;
    for (FLR_EACH_CELL(&grown->used, c)) *next++ = blocks[c];
    return true;
}

void flr_field_fill_round(const flr_build *build, const flr_field_plan *plan, flr_field field,
                          size_t number, const flr_field_grown *grown, const uint32_t *slots,
                          bool hollow, unsigned bits, unsigned start, unsigned steps,
                          flr_tile *tile, uint8_t *planes)
{
    const flr_field_hyper *hyper = &plan->hypers[field][number];
    const uint32_t *at = hyper->at;
    flr_tile_clear(tile);
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const flr_field_grown *other =
                    find_grown(build, plan, field, grown, slots, (int64_t)at[0] + dx,
                               (int64_t)at[1] + dy, (int64_t)at[2] + dz);
                const flr_mask *mask = other ? other->masks : NULL;
                for (unsigned c = 0; other && c < 512; c++) {
                    if (!flr_mask_get(&other->used, c)) continue;
                    if (flr_tile_sees(c, dx, dy, dz))
                        flr_tile_seed(tile, mask, (int)(c & 7) + 8 * dx, (int)(c >> 3 & 7) + 8 * dy,
                                      (int)(c >> 6) + 8 * dz);
                    mask++;
                }
            }
    if (!hollow) load_interior(build, at, tile);
    flr_tile_grow(tile, start, steps, bits, 0);
    if (!planes) return;
    for (FLR_EACH_CELL(&hyper->stored, cell)) {
        uint8_t fresh[512];
        unsigned c = (unsigned)cell;
        flr_tile_pack(tile, c & 7, c >> 3 & 7, c >> 6, bits, fresh);
        for (unsigned i = 0; i < 64 * bits; i++) planes[i] |= fresh[i];
        planes += 64 * bits;
    }
}
