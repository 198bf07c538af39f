/* the marks of planned hyperchunks, on several threads
 *
 * Marks up to 8 voxels need the neighbours' masks only. Those beyond come in rounds of 8: what a hyperchunk reached in
 * one round is the seed of the next, so that a run needs the rounds of the hyperchunks around it, too. Those at the rim
 * of what is worked on lack seeds from beyond it, which is farther than the range from any of the run's own. */
#include "voxel/marks.h"

#include <stdlib.h>

#include "base/parallel.h"
#include "voxel/tile.h"

flr_result flr_marks_begin(flr_marks *marks, const flr_build *build, const flr_field_plan *plan,
                           const flr_voxmap_header *header, const flr_field_source *source)
{
    unsigned workers = flr_parallel_threads(build->threads);
    *marks = (flr_marks){.build = build, .plan = plan, .header = header, .source = source};
    marks->tiles = aligned_alloc(64, workers * sizeof *marks->tiles);
    marks->counts = calloc(workers, sizeof *marks->counts);
    return marks->tiles && marks->counts ? FLR_OK : FLR_NO_MEMORY;
}

void flr_marks_end(flr_marks *marks)
{
    free(marks->tiles);
    free(marks->counts);
    *marks = (flr_marks){0};
}

void flr_marks_entries(const flr_field_hyper *hyper, uint32_t entries[512])
{
    uint64_t plane = hyper->first_plane;
    for (unsigned cell = 0; cell < 512; cell++)
        entries[cell] = flr_mask_get(&hyper->stored, cell)     ? (uint32_t)plane++
                        : flr_mask_get(&hyper->interior, cell) ? FLR_UNIFORM | FLR_MARK_INTERIOR
                                                               : FLR_UNIFORM | FLR_MARK_FREE;
}

/* ---- one round ---- */

static flr_result fill_one(void *context, size_t piece, unsigned worker)
{
    flr_marks *job = context;
    size_t number = job->list ? job->list[piece] : job->first + piece;
    const flr_field_hyper *hypers = job->plan->hypers[job->field], *hyper = &hypers[number];
    const flr_voxmap_header *h = job->header;
    /* field by field, in each round by round, in each hyperchunk by hyperchunk */
    double part = (double)number / (double)job->plan->place[job->field].hyper_count;
    double share = (job->start + part * job->steps) / h->range + (double)job->field;
    share /= h->features ? (double)FLR_FIELD_COUNT : 1.0;
    if (flr_build_go_on(job->build, worker, share) != FLR_OK) return FLR_CANCELLED;
    flr_tile *tile = &job->tiles[worker];
    bool wanted = number - job->first < job->count;
    uint64_t before = wanted ? hyper->first_plane - hypers[job->first].first_plane : 0;
    uint8_t *planes = wanted ? job->planes + before * 64 * h->bits : NULL;
    uint64_t ignored[2] = {0},
             *counts = wanted && job->field == FLR_FIELD_SURFACE ? job->counts[worker] : ignored;
    if (job->start == 0) {
        /* marks known already: only where one round does it, as further rounds need what was reached */
        const flr_field_source *source = job->into ? NULL : job->source;
        if (source &&
            source->take(source->context, job->field, hyper, planes, &counts[0], &counts[1]))
            return FLR_OK;
        flr_field_fill_hyper(job->build, hyper, job->field, h->hollow, h->bits, job->steps,
                             h->offset, tile, planes);
    } else {
        flr_field_fill_round(job->build, job->plan, job->field, number, job->from, job->slots,
                             h->hollow, h->bits, job->start, job->steps, tile, planes);
    }
    if (job->into) return flr_field_keep_grown(tile, &job->into[piece]) ? FLR_OK : FLR_NO_MEMORY;
    flr_field_count(tile, &counts[0], &counts[1]);
    return FLR_OK;
}

static void free_grown(flr_field_grown *grown, size_t count)
{
    for (size_t i = 0; grown && i < count; i++) free(grown[i].masks);
    free(grown);
}

/* ---- what is around a run ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The planned hyperchunk there, or FLR_UNIFORM and something. */
static uint32_t planned_at(const flr_marks *job, int64_t x, int64_t y, int64_t z)
{
    const flr_build *build = job->build;
    const uint32_t *n = build->grid.hypers;
    if (x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2]) return FLR_UNIFORM;
    size_t root = (size_t)(x >> 3) +
                  build->roots[0] * ((size_t)(y >> 3) + build->roots[1] * (size_t)(z >> 3));
    uint32_t entry = job->plan->root[job->field][root];
    if (entry & FLR_UNIFORM) return entry;
    return job->plan->nodes[job->field][(size_t)entry * 512 + flr_cell(x & 7, y & 7, z & 7)];
}

static void list_one(flr_marks *job, uint32_t number)
{
    if (job->slots[number] != UINT32_MAX) return;
    job->slots[number] = 0;
    job->list[job->listed++] = number;
}

static void list_around(flr_marks *job, const uint32_t at[3])
{
    int64_t far = flr_marks_reach(job->header->range) - 1;
    for (int64_t z = at[2] - far; z <= at[2] + far; z++)
        for (int64_t y = at[1] - far; y <= at[1] + far; y++)
            for (int64_t x = at[0] - far; x <= at[0] + far; x++) {
                uint32_t number = planned_at(job, x, y, z);
                if (!(number & FLR_UNIFORM)) list_one(job, number);
            }
}

static bool make_list(flr_marks *job)
{
    size_t all = job->plan->place[job->field].hyper_count;
    job->slots = malloc((all + 1) * sizeof *job->slots);
    job->list = malloc((all + 1) * sizeof *job->list);
    if (!job->slots || !job->list) return false;
    memset(job->slots, 255, all * sizeof *job->slots);
    for (uint64_t i = job->first; i < job->first + job->count; i++) {
        list_one(job, (uint32_t)i); /* some lie beyond the grid, in the last root cells */
        list_around(job, job->plan->hypers[job->field][i].at);
    }
    qsort(job->list, job->listed, sizeof *job->list, by_number);
    for (size_t i = 0; i < job->listed; i++) job->slots[job->list[i]] = (uint32_t)i;
    return true;
}

/* ---- the run ---- */

/* All rounds: 8 voxels each. */
static flr_result fill_rounds(flr_marks *job)
{
    size_t count = job->list ? job->listed : (size_t)job->count;
    unsigned range = job->header->range;
    flr_result result = FLR_OK;
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

flr_result flr_marks_fill(flr_marks *marks, flr_field field, uint64_t first, uint64_t count,
                          uint8_t *planes)
{
    marks->field = field;
    marks->first = first;
    marks->count = count;
    marks->planes = planes;
    marks->listed = 0;
    bool part = count < marks->plan->place[field].hyper_count;
    flr_result result = FLR_OK;
    if (part && marks->header->range > FLR_TILE_MARGIN && !make_list(marks)) result = FLR_NO_MEMORY;
    if (result == FLR_OK) result = fill_rounds(marks);
    free(marks->list);
    free(marks->slots);
    marks->list = marks->slots = NULL;
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

void flr_marks_count(const flr_marks *marks, flr_voxmap_stats *stats)
{
    const uint32_t *n = marks->build->roots;
    if (!marks->header->hollow)
        stats->interior_voxels += uniform_interior(marks->plan, (size_t)n[0] * n[1] * n[2]);
    for (unsigned i = 0; i < flr_parallel_threads(marks->build->threads); i++) {
        stats->interior_voxels += marks->counts[i][0];
        stats->field_voxels += marks->counts[i][1];
    }
    stats->field_voxels -= stats->surface_voxels;
}
