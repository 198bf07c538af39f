/* the voxmap: making the block, asking it */
#include "feeler/voxels.h"

#include <stdlib.h>

#include "base/large_pages.h"
#include "feeler/base.h"
#include "voxel/field.h"
#include "voxel/marks.h"
#include "voxel/voxfile_format.h"

/* ---- the block ---- */

/* Gives the directory of a tree its places, one section after another. */
static void lay_out(flr_tree_place *place, size_t roots, uint64_t *end)
{
    place->root = *end;
    place->nodes = *end = flr_section_aligned(*end + roots * sizeof(uint32_t));
    place->hypers = *end = flr_section_aligned(*end + place->node_count * 512 * sizeof(uint32_t));
    *end = flr_section_aligned(*end + place->hyper_count * 512 * sizeof(uint32_t));
}

/* The directories come first, together: opening a file looks at all of them, and at nothing else. */
void flr_voxmap_lay_out(const flr_field_plan *plan, flr_voxmap_header *header)
{
    unsigned fields = header->features ? FLR_FIELD_COUNT : 1;
    size_t roots = (size_t)header->roots[0] * header->roots[1] * header->roots[2];
    uint64_t end = flr_section_aligned(sizeof *header);
    for (unsigned field = 0; field < fields; field++) {
        header->fields[field] = plan->place[field];
        header->stats.chunks[field] = plan->place[field].plane_count;
    }
    header->chunks = plan->chunk_place;
    for (unsigned field = 0; field < fields; field++) lay_out(&header->fields[field], roots, &end);
    lay_out(&header->chunks, roots, &end);
    header->directory = end;
    for (unsigned field = 0; field < fields; field++) {
        header->fields[field].planes = end;
        end = flr_section_aligned(end + header->fields[field].plane_count * 64 * header->bits);
    }
    header->chunks.planes = end;
    end = flr_section_aligned(end + header->chunks.plane_count * 256);
    header->size = header->stats.bytes = end;
    header->header_size = sizeof *header;
}

/* Fills a laid-out block from the plan. */
static flr_result fill_block(const flr_build *build, const flr_field_plan *plan,
                             const flr_field_source *source, flr_voxmap_header *header)
{
    uint8_t *block = (uint8_t *)header;
    unsigned fields = header->features ? FLR_FIELD_COUNT : 1;
    size_t roots = (size_t)build->roots[0] * build->roots[1] * build->roots[2];
    flr_marks marks;
    flr_result result = flr_marks_begin(&marks, build, plan, header, source);
    for (unsigned field = 0; result == FLR_OK && field < fields; field++) {
        const flr_tree_place *place = &header->fields[field];
        memcpy(block + place->root, plan->root[field], roots * sizeof(uint32_t));
        memcpy(block + place->nodes, plan->nodes[field],
               place->node_count * 512 * sizeof(uint32_t));
        uint32_t *entries = (uint32_t *)(block + place->hypers);
        for (uint64_t i = 0; i < place->hyper_count; i++)
            flr_marks_entries(&plan->hypers[field][i], entries + i * 512);
        result =
            flr_marks_fill(&marks, (flr_field)field, 0, place->hyper_count, block + place->planes);
    }
    if (result == FLR_OK) {
        const flr_tree_place *place = &header->chunks;
        memcpy(block + place->root, plan->chunk_root, roots * sizeof(uint32_t));
        memcpy(block + place->nodes, plan->chunk_nodes, place->node_count * 512 * sizeof(uint32_t));
        memcpy(block + place->planes, plan->chunk_planes, place->plane_count * 256);
        flr_marks_count(&marks, &header->stats);
    }
    flr_marks_end(&marks);
    return result;
}

flr_result flr_voxmap_make(const flr_build *build, flr_voxmap_header *header,
                           const flr_field_source *source, flr_voxmap **voxmap)
{
    unsigned fields = header->features ? FLR_FIELD_COUNT : 1;
    flr_field_plan plan;
    flr_result result = flr_field_make_plan(build, fields, header->hollow, header->range, &plan);
    if (result != FLR_OK) return result;
    flr_voxmap_lay_out(&plan, header);
    size_t end = header->size;

    flr_voxmap *made = malloc(sizeof *made);
    flr_voxmap_header *block = made ? flr_pages_alloc(end) : NULL;
    result = FLR_NO_MEMORY;
    if (block) {
        *block = *header;
        result = fill_block(build, &plan, source, block);
    }
    flr_field_free_plan(&plan);
    if (result != FLR_OK) {
        flr_pages_free(block, end);
        free(made);
        return result;
    }
    *made = (flr_voxmap){.header = block, .mapping = block, .mapping_size = end};
    *voxmap = made;
    return FLR_OK;
}

void flr_voxmap_destroy(flr_voxmap *voxmap)
{
    if (!voxmap) return;
    flr_pages_free(voxmap->mapping, voxmap->mapping_size);
    flr_voxfile_release(voxmap->file);
    free(voxmap);
}

/* ---- asking ---- */

unsigned flr_voxmap_mark_at(const flr_voxmap *voxmap, flr_field field, int64_t x, int64_t y,
                            int64_t z)
{
    const flr_voxmap_header *h = voxmap->header;
    if (x < 0 || y < 0 || z < 0 || x >= (int64_t)h->grid.hypers[0] * 64 ||
        y >= (int64_t)h->grid.hypers[1] * 64 || z >= (int64_t)h->grid.hypers[2] * 64)
        return FLR_MARK_FREE;
    const flr_tree_place *place = &h->fields[field];
    if (!place->root) return FLR_MARK_FREE;
    size_t root =
        (size_t)(x >> 9) + h->roots[0] * ((size_t)(y >> 9) + h->roots[1] * (size_t)(z >> 9));
    uint32_t entry = flr_voxmap_u32(voxmap, place->root)[root];
    /* hyperchunk in root cell, chunk in hyperchunk */
    for (unsigned shift = 6; shift && !(entry & FLR_UNIFORM); shift -= 3) {
        unsigned cell = flr_cell((unsigned)(x >> shift) & 7, (unsigned)(y >> shift) & 7,
                                 (unsigned)(z >> shift) & 7);
        uint64_t level = shift == 6 ? place->nodes : place->hypers;
        entry = flr_voxmap_u32(voxmap, level)[(size_t)entry * 512 + cell];
    }
    if (entry & FLR_UNIFORM) return entry & 255;
    FLR_ASSERT(!voxmap->paged);
    unsigned cell = flr_cell((unsigned)x & 7, (unsigned)y & 7, (unsigned)z & 7), bits = h->bits;
    const uint8_t *plane = (const uint8_t *)h + place->planes + (uint64_t)entry * 64 * bits;
    return (unsigned)plane[cell * bits / 8] >> cell * bits % 8 & ((1u << bits) - 1);
}

unsigned flr_voxmap_mark(const flr_voxmap *voxmap, flr_field field, flr_vec3 point)
{
    flr_vec3 v = flr_grid_to_voxels(&voxmap->header->grid, point);
    /* written so that a NaN is outside */
    if (!(v.x >= 0 && v.y >= 0 && v.z >= 0 && v.x < 4e9 && v.y < 4e9 && v.z < 4e9))
        return FLR_MARK_FREE;
    return flr_voxmap_mark_at(voxmap, field, (int64_t)v.x, (int64_t)v.y, (int64_t)v.z);
}

flr_voxmap_info flr_voxmap_get_info(const flr_voxmap *voxmap)
{
    const flr_voxmap_header *h = voxmap->header;
    flr_voxmap_info info = {.origin = h->grid.origin,
                            .voxel = h->grid.voxel,
                            .bits = h->bits,
                            .range = h->range,
                            .offset = h->offset,
                            .features = h->features,
                            .hollow = h->hollow,
                            .T_voxmap_mesh = h->T_voxmap_mesh,
                            .mesh_hash = h->mesh_hash,
                            .stats = h->stats};
    for (int axis = 0; axis < 3; axis++) info.size[axis] = (uint64_t)h->grid.hypers[axis] * 64;
    return info;
}
