/* the voxmap: making the block, asking it */
#include "feeler/voxmap.h"

#include <stdlib.h>

#include "base/pages.h"
#include "base/parallel.h"
#include "feeler/assert.h"
#include "voxel/field.h"
#include "voxel/tile.h"
#include "voxel/voxfile_format.h"

/* ---- the block ---- */

static uint64_t aligned(uint64_t size)
{
    return (size + FLR_SECTION_ALIGN - 1) / FLR_SECTION_ALIGN * FLR_SECTION_ALIGN;
}

/* Gives the directory of a tree its places, one section after another. */
static void lay_out(flr_tree_place *place, size_t roots, uint64_t *end)
{
    place->root = *end;
    place->nodes = *end = aligned(*end + roots * sizeof(uint32_t));
    place->hypers = *end = aligned(*end + place->node_count * 512 * sizeof(uint32_t));
    *end = aligned(*end + place->hyper_count * 512 * sizeof(uint32_t));
}

/* The directories come first, together: opening a file looks at all of them, and at nothing else. */
static void lay_out_all(flr_voxmap_header *header, unsigned fields, size_t roots)
{
    uint64_t end = aligned(sizeof *header);
    for (unsigned field = 0; field < fields; field++) lay_out(&header->fields[field], roots, &end);
    lay_out(&header->chunks, roots, &end);
    header->directory = end;
    for (unsigned field = 0; field < fields; field++) {
        header->fields[field].planes = end;
        end = aligned(end + header->fields[field].plane_count * 64 * header->bits);
    }
    header->chunks.planes = end;
    end = aligned(end + header->chunks.plane_count * 256);
    header->size = header->stats.bytes = end;
    header->header_size = sizeof *header;
}

typedef struct fill_job {
    const flr_build *build;
    const flr_field_plan *plan;
    const flr_field_source *source; /* may be NULL */
    flr_voxmap_header *header;
    flr_tile *tiles;       /* per worker */
    uint64_t (*counts)[2]; /* per worker: interior, reached; of the surface field */
    flr_field field;
    unsigned start, steps; /* of this round */
    flr_field_grown *from; /* what the last round reached; NULL: none */
    flr_field_grown *into; /* what this one reaches; NULL: not needed */
} fill_job;

/* The entries of one planned hyperchunk. */
static void fill_entries(const fill_job *job, size_t piece)
{
    const flr_field_hyper *hyper = &job->plan->hypers[job->field][piece];
    uint8_t *block = (uint8_t *)job->header;
    uint32_t *entries = (uint32_t *)(block + job->header->fields[job->field].hypers) + piece * 512;
    uint64_t plane = hyper->first_plane;
    for (unsigned cell = 0; cell < 512; cell++)
        entries[cell] = flr_mask_get(&hyper->stored, cell)     ? (uint32_t)plane++
                        : flr_mask_get(&hyper->interior, cell) ? FLR_UNIFORM | FLR_MARK_INTERIOR
                                                               : FLR_UNIFORM | FLR_MARK_FREE;
}

/* One round of one planned hyperchunk. */
static flr_result fill_one(void *context, size_t piece, unsigned worker)
{
    fill_job *job = context;
    const flr_field_hyper *hyper = &job->plan->hypers[job->field][piece];
    const flr_voxmap_header *h = job->header;
    /* field by field, in each round by round, in each hyperchunk by hyperchunk */
    double part = (double)piece / (double)job->plan->place[job->field].hyper_count;
    double share = (job->start + part * job->steps) / h->range + (double)job->field;
    share /= h->features ? (double)FLR_FIELD_COUNT : 1.0;
    if (flr_build_go_on(job->build, worker, share) != FLR_OK) return FLR_CANCELLED;
    flr_tile *tile = &job->tiles[worker];
    uint8_t *planes =
        (uint8_t *)job->header + h->fields[job->field].planes + hyper->first_plane * 64 * h->bits;
    uint64_t ignored[2] = {0},
             *counts = job->field == FLR_FIELD_SURFACE ? job->counts[worker] : ignored;
    if (job->start == 0) {
        fill_entries(job, piece);
        /* marks known already: only where one round does it, as further rounds need what was reached */
        const flr_field_source *source = job->into ? NULL : job->source;
        if (source &&
            source->take(source->context, job->field, hyper, planes, &counts[0], &counts[1]))
            return FLR_OK;
        flr_field_fill_hyper(job->build, hyper, job->field, h->hollow, h->bits, job->steps,
                             h->offset, tile, planes);
    } else {
        flr_field_fill_round(job->build, job->plan, job->field, piece, job->from, h->hollow,
                             h->bits, job->start, job->steps, tile, planes);
    }
    if (job->into) return flr_field_keep_grown(tile, &job->into[piece]) ? FLR_OK : FLR_NO_MEMORY;
    flr_field_count(tile, &counts[0], &counts[1]);
    return FLR_OK;
}

static void free_grown(flr_field_grown *grown, uint64_t count)
{
    for (uint64_t i = 0; grown && i < count; i++) free(grown[i].masks);
    free(grown);
}

/* All rounds of one field: 8 voxels each. */
static flr_result fill_field(fill_job *job, flr_field field)
{
    uint64_t count = job->header->fields[field].hyper_count;
    unsigned range = job->header->range;
    flr_result result = FLR_OK;
    job->field = field;
    job->from = NULL;
    for (job->start = 0; result == FLR_OK && (job->start == 0 || job->start < range);
         job->start += job->steps) {
        job->steps = range - job->start < FLR_TILE_MARGIN ? range - job->start : FLR_TILE_MARGIN;
        bool last = job->start + job->steps >= range;
        job->into = last ? NULL : aligned_alloc(64, (count + 1) * sizeof *job->into);
        if (job->into) memset(job->into, 0, (count + 1) * sizeof *job->into);
        result = last || job->into ? flr_parallel_for(job->build->threads, count, fill_one, job)
                                   : FLR_NO_MEMORY;
        free_grown(job->from, count);
        job->from = job->into;
    }
    free_grown(job->from, count);
    return result;
}

/* Interior voxels of the cells that are interior throughout and have no entry below. */
static uint64_t uniform_interior(const flr_field_plan *plan, size_t roots)
{
    uint64_t count = 0;
    for (size_t i = 0; i < roots; i++)
        if (plan->root[0][i] == (FLR_UNIFORM | FLR_MARK_INTERIOR)) count += UINT64_C(512) << 18;
    for (size_t i = 0; i < plan->place[0].node_count * 512; i++)
        if (plan->nodes[0][i] == (FLR_UNIFORM | FLR_MARK_INTERIOR)) count += UINT64_C(1) << 18;
    return count;
}

/* Fills a laid-out block from the plan. */
static flr_result fill_block(const flr_build *build, const flr_field_plan *plan, unsigned fields,
                             const flr_field_source *source, flr_voxmap_header *header)
{
    uint8_t *block = (uint8_t *)header;
    size_t roots = (size_t)build->roots[0] * build->roots[1] * build->roots[2];
    unsigned workers = flr_parallel_threads(build->threads);
    fill_job job = {.build = build, .plan = plan, .source = source, .header = header};
    job.tiles = aligned_alloc(64, workers * sizeof *job.tiles);
    job.counts = calloc(workers, sizeof *job.counts);
    flr_result result = job.tiles && job.counts ? FLR_OK : FLR_NO_MEMORY;
    for (unsigned field = 0; result == FLR_OK && field < fields; field++) {
        const flr_tree_place *place = &header->fields[field];
        memcpy(block + place->root, plan->root[field], roots * sizeof(uint32_t));
        memcpy(block + place->nodes, plan->nodes[field],
               place->node_count * 512 * sizeof(uint32_t));
        result = fill_field(&job, (flr_field)field);
    }
    if (result == FLR_OK) {
        const flr_tree_place *place = &header->chunks;
        memcpy(block + place->root, plan->chunk_root, roots * sizeof(uint32_t));
        memcpy(block + place->nodes, plan->chunk_nodes, place->node_count * 512 * sizeof(uint32_t));
        memcpy(block + place->planes, plan->chunk_planes, place->plane_count * 256);
        header->stats.interior_voxels = header->hollow ? 0 : uniform_interior(plan, roots);
        for (unsigned i = 0; i < workers; i++) {
            header->stats.interior_voxels += job.counts[i][0];
            header->stats.field_voxels += job.counts[i][1];
        }
        header->stats.field_voxels -= header->stats.surface_voxels;
    }
    free(job.tiles);
    free(job.counts);
    return result;
}

flr_result flr_voxmap_make(const flr_build *build, flr_voxmap_header *header,
                           const flr_field_source *source, flr_voxmap **voxmap)
{
    unsigned fields = header->features ? FLR_FIELD_COUNT : 1;
    size_t roots = (size_t)build->roots[0] * build->roots[1] * build->roots[2];
    flr_field_plan plan;
    flr_result result = flr_field_make_plan(build, fields, header->hollow, header->range, &plan);
    if (result != FLR_OK) return result;

    for (unsigned field = 0; field < fields; field++) {
        header->fields[field] = plan.place[field];
        header->stats.chunks[field] = plan.place[field].plane_count;
    }
    header->chunks = plan.chunk_place;
    lay_out_all(header, fields, roots);
    size_t end = header->size;

    flr_voxmap *made = malloc(sizeof *made);
    flr_voxmap_header *block = made ? flr_pages_alloc(end) : NULL;
    result = FLR_NO_MEMORY;
    if (block) {
        *block = *header;
        result = fill_block(build, &plan, fields, source, block);
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
