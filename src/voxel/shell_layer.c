/* a shell from a layer of free voxels (2005, section 3.2)
 *
 * Where more clearance is asked for than the force layer can give, the points come from the free voxels at a distance
 * from the surface. A point's normal looks at the nearest point of the exact surface; its label is that of what is
 * near: a vertex or edge voxel within the same distance. */
#include <stdlib.h>

#include "voxel/shell.h"
#include "voxel/shell_format.h"
#include "voxel/voxmap_format.h"

/* one hyperchunk with points */
typedef struct shell_layer_place {
    uint32_t entry; /* in the surface field's list of hyperchunks */
    uint32_t at[3]; /* hyperchunk coordinates */
    uint32_t first_chunk, chunk_count;
} shell_layer_place;

typedef struct layer_job {
    const flr_voxmap *voxmap;
    const flr_exact *exact;
    unsigned mark;
    shell_layer_place *places;
    uint32_t place_count;
    flr_shell *shell;
    uint16_t *xyz[3]; /* the shell's, to be written */
    uint32_t *normal;
} layer_job;

/* the layer's voxels of one chunk, in order */
typedef struct voxel_list {
    uint16_t cell[512]; /* in the chunk */
    uint8_t label[512];
    unsigned count;
} voxel_list;

static flr_label label_of(const layer_job *job, int64_t x, int64_t y, int64_t z)
{
    if (!job->voxmap->header->features) return FLR_LABEL_VERTEX;
    unsigned vertex = flr_voxmap_mark_at(job->voxmap, FLR_FIELD_VERTEX, x, y, z);
    if (vertex >= FLR_MARK_SURFACE && vertex <= job->mark) return FLR_LABEL_VERTEX;
    unsigned edge = flr_voxmap_mark_at(job->voxmap, FLR_FIELD_EDGE, x, y, z);
    return edge >= FLR_MARK_SURFACE && edge <= job->mark ? FLR_LABEL_EDGE : FLR_LABEL_FACE;
}

/* The layer's voxels of one chunk. */
static void list_voxels(const layer_job *job, const shell_layer_place *p, unsigned cell,
                        voxel_list *list)
{
    const flr_voxmap_header *h = job->voxmap->header;
    const flr_tree_place *tree = &h->fields[FLR_FIELD_SURFACE];
    list->count = 0;
    uint32_t entry = flr_voxmap_u32(job->voxmap, tree->hypers)[(size_t)p->entry * 512 + cell];
    if (entry & FLR_UNIFORM) return; /* no whole chunk has one distance */
    const uint8_t *plane = (const uint8_t *)h + tree->planes + (uint64_t)entry * 64 * h->bits;
    int64_t x = p->at[0] * INT64_C(64) + (cell & 7) * 8,
            y = p->at[1] * INT64_C(64) + (cell >> 3 & 7) * 8,
            z = p->at[2] * INT64_C(64) + (cell >> 6) * 8;
    for (unsigned c = 0; c < 512; c++) {
        unsigned mark = (unsigned)plane[c * h->bits / 8] >> c * h->bits % 8 & ((1u << h->bits) - 1);
        if (mark != job->mark) continue;
        list->cell[list->count] = (uint16_t)c;
        list->label[list->count++] =
            (uint8_t)label_of(job, x + (c & 7), y + (c >> 3 & 7), z + (c >> 6));
    }
}

/* ---- counting ---- */

/* All hyperchunks of the surface field that have marks of their own, in the order of the tree. */
static bool list_places(layer_job *job)
{
    const flr_voxmap_header *h = job->voxmap->header;
    const flr_tree_place *tree = &h->fields[FLR_FIELD_SURFACE];
    const uint32_t *root = flr_voxmap_u32(job->voxmap, tree->root),
                   *nodes = flr_voxmap_u32(job->voxmap, tree->nodes);
    job->places = calloc(tree->hyper_count + 1, sizeof *job->places);
    if (!job->places) return false;
    size_t roots = (size_t)h->roots[0] * h->roots[1] * h->roots[2];
    for (size_t r = 0; r < roots; r++)
        for (unsigned cell = 0; !(root[r] & FLR_UNIFORM) && cell < 512; cell++) {
            uint32_t entry = nodes[(size_t)root[r] * 512 + cell];
            if (entry & FLR_UNIFORM) continue;
            job->places[job->place_count++] = (shell_layer_place){
                .entry = entry,
                .at = {(uint32_t)(r % h->roots[0]) * 8 + (cell & 7),
                       (uint32_t)(r / h->roots[0] % h->roots[1]) * 8 + (cell >> 3 & 7),
                       (uint32_t)(r / h->roots[0] / h->roots[1]) * 8 + (cell >> 6)}};
        }
    return true;
}

/* How many chunks and points each hyperchunk has; those without any are dropped. */
static uint64_t count_points(layer_job *job, uint64_t *chunks)
{
    uint64_t points = 0;
    uint32_t kept = 0;
    *chunks = 0;
    for (uint32_t i = 0; i < job->place_count; i++) {
        shell_layer_place p = job->places[i];
        p.first_chunk = (uint32_t)*chunks;
        p.chunk_count = 0;
        for (unsigned cell = 0; cell < 512; cell++) {
            voxel_list list;
            list_voxels(job, &p, cell, &list);
            if (!list.count) continue;
            p.chunk_count++;
            points += (list.count + FLR_SHELL_PAD - 1) / FLR_SHELL_PAD * FLR_SHELL_PAD;
        }
        *chunks += p.chunk_count;
        if (p.chunk_count) job->places[kept++] = p;
    }
    job->place_count = kept;
    return points;
}

/* ---- filling ---- */

static void fill_point(const layer_job *job, const int64_t low[3], unsigned cell, uint32_t to)
{
    const unsigned at[3] = {cell & 7, cell >> 3 & 7, cell >> 6};
    for (int axis = 0; axis < 3; axis++) job->xyz[axis][to] = flr_shell_quantised(at[axis] + 0.5);
    flr_vec3 p =
        flr_grid_to_metres(&job->voxmap->header->grid,
                           flr_vec3_make((double)low[0] + at[0] + 0.5, (double)low[1] + at[1] + 0.5,
                                         (double)low[2] + at[2] + 0.5));
    flr_exact_result near = flr_exact_distance(job->exact, p, INFINITY, 0);
    flr_vec3 n = flr_vec3_normalize(flr_vec3_sub(near.nearest, p));
    job->normal[to] = flr_shell_pack_normal(n);
}

static void fill_chunk(const layer_job *job, const shell_layer_place *p, unsigned cell,
                       const voxel_list *list, flr_shell_chunk *chunk)
{
    const flr_grid *grid = &job->voxmap->header->grid;
    const int64_t low[3] = {p->at[0] * INT64_C(64) + (cell & 7) * 8,
                            p->at[1] * INT64_C(64) + (cell >> 3 & 7) * 8,
                            p->at[2] * INT64_C(64) + (cell >> 6) * 8};
    flr_vec3 corner = flr_grid_to_metres(
        grid, flr_vec3_make((double)low[0] - 1, (double)low[1] - 1, (double)low[2] - 1));
    chunk->corner[0] = (float)corner.x, chunk->corner[1] = (float)corner.y,
    chunk->corner[2] = (float)corner.z;
    for (unsigned i = 0; i < list->count; i++) chunk->count[list->label[i]]++;
    uint32_t next[FLR_LABEL_COUNT] = {chunk->first, chunk->first + chunk->count[0],
                                      chunk->first + chunk->count[0] + chunk->count[1]};
    for (unsigned i = 0; i < list->count; i++)
        fill_point(job, low, list->cell[i], next[list->label[i]]++);
    uint32_t last = chunk->first + list->count - 1;
    for (uint32_t i = last + 1; i < chunk->first + chunk->padded; i++) {
        for (int axis = 0; axis < 3; axis++) job->xyz[axis][i] = job->xyz[axis][last];
        job->normal[i] = job->normal[last];
    }
    flr_shell_enclose_points(job->shell, chunk);
}

static void fill_all(layer_job *job, flr_shell_hyper *hypers, flr_shell_chunk *chunks)
{
    flr_shell *shell = job->shell;
    uint32_t chunk = 0, end = 0;
    for (uint32_t i = 0; i < job->place_count; i++) {
        hypers[i] =
            (flr_shell_hyper){.first_chunk = chunk, .chunk_count = job->places[i].chunk_count};
        for (unsigned cell = 0; cell < 512; cell++) {
            voxel_list list;
            list_voxels(job, &job->places[i], cell, &list);
            if (!list.count) continue;
            unsigned padded = (list.count + FLR_SHELL_PAD - 1) / FLR_SHELL_PAD * FLR_SHELL_PAD;
            chunks[chunk] = (flr_shell_chunk){.first = end, .padded = (uint16_t)padded};
            fill_chunk(job, &job->places[i], cell, &list, &chunks[chunk]);
            end += padded;
            shell->total += list.count;
            for (int label = 0; label < FLR_LABEL_COUNT; label++)
                shell->by_label[label] += chunks[chunk].count[label];
            chunk++;
        }
    }
    flr_shell_enclose_hypers(shell, hypers);
}

flr_result flr_shell_from_layer(const flr_voxmap *voxmap, const flr_exact *exact, unsigned layer,
                                flr_shell **shell, flr_error *error)
{
    const flr_voxmap_header *h = voxmap->header;
    if (layer < 1 || layer > h->range || h->offset)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "a shell can come from the free layers 1 to %u of this voxmap, not %u",
                        h->offset ? 0 : h->range, layer);
    layer_job job = {.voxmap = voxmap, .exact = exact, .mark = FLR_MARK_SURFACE + layer};
    if (!list_places(&job)) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a shell");
    uint64_t chunks, points = count_points(&job, &chunks);
    flr_result result = points > UINT32_MAX ? FLR_TOO_LARGE : FLR_OK;
    if (result == FLR_OK) {
        flr_shell_header header = {.voxel = h->grid.voxel,
                                   .step = (float)(h->grid.voxel / FLR_SHELL_STEPS),
                                   .hyper_count = job.place_count,
                                   .chunk_count = (uint32_t)chunks,
                                   .point_count = (uint32_t)points};
        job.shell = flr_shell_allocate(&header);
        if (!job.shell) result = FLR_NO_MEMORY;
    }
    if (result == FLR_OK) {
        job.xyz[0] = (uint16_t *)(uintptr_t)job.shell->x;
        job.xyz[1] = (uint16_t *)(uintptr_t)job.shell->y;
        job.xyz[2] = (uint16_t *)(uintptr_t)job.shell->z;
        job.normal = (uint32_t *)(uintptr_t)job.shell->normal;
        fill_all(&job, (flr_shell_hyper *)(uintptr_t)job.shell->hypers,
                 (flr_shell_chunk *)(uintptr_t)job.shell->chunks);
        job.shell->layer = layer;
        flr_shell_seal(job.shell);
        *shell = job.shell;
    }
    free(job.places);
    if (result == FLR_OK) return FLR_OK;
    return flr_fail(error, result, "a shell of %.3g points does not fit; use larger voxels",
                    (double)points);
}
