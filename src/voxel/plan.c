/* which chunks of a field will have marks of their own, and the distances from chunk to chunk
 *
 * Decided one level up, on chunks in place of voxels, by the same tile code that computes marks. A root cell needs
 * nothing but what is known of the hyperchunks in it and around it, so that each is planned alone. */
#include <stdlib.h>

#include "base/parallel.h"
#include "voxel/field.h"
#include "voxel/tile.h"

static const flr_mask full_mask = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                    UINT64_MAX, UINT64_MAX, UINT64_MAX}};

/* Which chunks of a hyperchunk are interior throughout. */
static flr_mask interior_chunks(const flr_build *build, int64_t x, int64_t y, int64_t z)
{
    const flr_build_hyper *hyper = flr_build_find(build, x, y, z);
    flr_mask inside = {{0}};
    if (!hyper) return flr_build_empty_is_outside(build, x, y, z) ? inside : full_mask;
    for (int k = 0; k < 8; k++)
        inside.z[k] = ~hyper->used[FLR_LAYER_SURFACE].z[k] & ~hyper->empty_outside.z[k];
    return inside;
}

/* A root cell of chunks with its margin: seeds are the chunks with voxels of the layer. */
static void load_chunks(const flr_build *build, const uint32_t root[3], int layer, bool hollow,
                        flr_tile *tile)
{
    flr_tile_clear(tile);
    for (int z = -1; z <= 8; z++)
        for (int y = -1; y <= 8; y++)
            for (int x = -1; x <= 8; x++) {
                int64_t hx = (int64_t)root[0] * 8 + x, hy = (int64_t)root[1] * 8 + y,
                        hz = (int64_t)root[2] * 8 + z;
                const flr_build_hyper *hyper = flr_build_find(build, hx, hy, hz);
                if (hyper) flr_tile_seed(tile, &hyper->used[layer], x, y, z);
                if (hollow || (unsigned)x > 7 || (unsigned)y > 7 || (unsigned)z > 7) continue;
                flr_mask inside = interior_chunks(build, hx, hy, hz);
                flr_tile_interior(tile, &inside, (unsigned)x, (unsigned)y, (unsigned)z);
            }
}

/* ---- the plan ---- */

/* what one root cell contributes to one field */
typedef struct root_part {
    flr_field_hyper *hypers;
    uint32_t *entries; /* [512], numbers within this part; NULL: uniform */
    uint32_t uniform;  /* the entry when uniform */
    uint32_t hyper_count;
    uint64_t plane_count;
} root_part;

struct flr_planning {
    const flr_build *build;
    flr_tile *tiles;                 /* per worker */
    flr_field_hyper (*scratch)[512]; /* per worker */
    root_part *parts;                /* [field][root] */
    root_part *distant;              /* [root]: the chunk distances; planes in `bytes` */
    uint8_t **bytes;                 /* [root]: packed chunk distances */
    size_t roots;
    size_t first; /* root cell of the run under way */
    unsigned fields, range;
    bool hollow;
};
typedef struct flr_planning plan_job;

/* For a range of more than 64 voxels the chunks' own tile does not reach far enough: all chunks of a hyperchunk
 * that is near enough to a seed's, less those inside. */
static flr_mask distant_chunks(const plan_job *job, int64_t hx, int64_t hy, int64_t hz,
                               unsigned field)
{
    int64_t reach = (job->range + 63) / 64;
    flr_mask stored = {{0}};
    for (int64_t z = hz - reach; z <= hz + reach; z++)
        for (int64_t y = hy - reach; y <= hy + reach; y++)
            for (int64_t x = hx - reach; x <= hx + reach; x++) {
                const flr_build_hyper *hyper = flr_build_find(job->build, x, y, z);
                if (!hyper || flr_mask_is_empty(&hyper->used[field])) continue;
                flr_mask inside = {{0}};
                if (!job->hollow) inside = interior_chunks(job->build, hx, hy, hz);
                for (int k = 0; k < 8; k++) stored.z[k] = ~inside.z[k];
                return stored;
            }
    return stored;
}

/* Does a field of `range` voxels from these seeds reach the neighbouring chunk in direction (dx, dy, dz)? */
static bool reaches(const flr_mask *seeds, int dx, int dy, int dz, unsigned range)
{
    /* the cells of a row, or the rows of a layer, that are near enough to the side */
    uint64_t near[3];
    const int d[3] = {dx, dy, dz};
    for (int axis = 0; axis < 3; axis++)
        near[axis] = d[axis] < 0   ? (1u << range) - 1
                     : d[axis] > 0 ? 255 & ~((1u << (8 - range)) - 1)
                                   : 255;
    uint64_t layer = 0, any = 0;
    for (unsigned y = 0; y < 8; y++)
        if (near[1] >> y & 1) layer |= near[0] << 8 * y;
    for (unsigned z = 0; z < 8; z++)
        if (near[2] >> z & 1) any |= seeds->z[z];
    return any & layer;
}

/* For a range of less than a chunk: the chunks of a hyperchunk that the field reaches from its seeds and those of its
 * neighbours. */
static flr_mask reached_chunks(const plan_job *job, int64_t hx, int64_t hy, int64_t hz,
                               unsigned field)
{
    flr_mask reached = {{0}};
    for (int n = 0; n < 27; n++) {
        int d[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        const flr_build_hyper *hyper = flr_build_find(job->build, hx + d[0], hy + d[1], hz + d[2]);
        if (!hyper) continue;
        const flr_mask *mask = hyper->masks[field] - 1;
        for (FLR_EACH_CELL(&hyper->used[field], cell)) {
            unsigned c = (unsigned)cell;
            mask++;
            if (!flr_tile_sees(c, d[0], d[1], d[2])) continue;
            for (int k = 0; k < 27; k++) {
                int e[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
                int x = (int)(c & 7) + 8 * d[0] + e[0], y = (int)(c >> 3 & 7) + 8 * d[1] + e[1],
                    z = (int)(c >> 6) + 8 * d[2] + e[2];
                if ((x | y | z) & ~7 || !reaches(mask, e[0], e[1], e[2], job->range)) continue;
                flr_mask_set(&reached, flr_cell((unsigned)x, (unsigned)y, (unsigned)z));
            }
        }
    }
    return reached;
}

/* Chunks that get marks of their own: near a seed, or partly interior. */
static flr_mask stored_chunks(const plan_job *job, const flr_tile *tile, int64_t hx, int64_t hy,
                              int64_t hz, unsigned cell, unsigned field)
{
    uint8_t marks[256];
    flr_mask stored = {{0}};
    unsigned reach = 2 + (job->range + 7) / 8;
    if (reach > 2 + FLR_TILE_MARGIN) return distant_chunks(job, hx, hy, hz, field);
    flr_tile_pack(tile, cell & 7, cell >> 3 & 7, cell >> 6, 4, marks);
    for (unsigned c = 0; c < 512; c += 16) { /* eight bytes at a time: most are far from any seed */
        uint64_t sixteen;
        memcpy(&sixteen, marks + c / 2, sizeof sixteen);
        for (unsigned k = c; sixteen; k++, sixteen >>= 4)
            if ((sixteen & 15) >= 2 && (sixteen & 15) <= reach) flr_mask_set(&stored, k);
    }
    if (job->range < FLR_CHUNK_SIDE && !flr_mask_is_empty(&stored)) {
        flr_mask reached = reached_chunks(job, hx, hy, hz, field);
        for (int z = 0; z < 8; z++) stored.z[z] &= reached.z[z];
    }
    const flr_build_hyper *hyper = flr_build_find(job->build, hx, hy, hz);
    if (!hyper || field == FLR_FIELD_SURFACE || job->hollow) return stored;
    for (int z = 0; z < 8; z++) stored.z[z] |= hyper->partly_inside.z[z];
    return stored;
}

/* Closes a part whose entries are all the same. */
static void settle(root_part *part)
{
    for (unsigned i = 1; i < 512; i++)
        if (part->entries[i] != part->entries[0]) return;
    if (!(part->entries[0] & FLR_UNIFORM)) return;
    part->uniform = part->entries[0];
    free(part->entries);
    part->entries = NULL;
}

static flr_result plan_field(plan_job *job, const uint32_t root[3], unsigned worker, unsigned field,
                             root_part *part)
{
    const flr_tile *tile = &job->tiles[worker];
    flr_field_hyper *hypers = job->scratch[worker];
    part->entries = malloc(512 * sizeof *part->entries);
    if (!part->entries) return FLR_NO_MEMORY;
    for (unsigned cell = 0; cell < 512; cell++) {
        uint32_t at[3] = {root[0] * 8 + (cell & 7), root[1] * 8 + (cell >> 3 & 7),
                          root[2] * 8 + (cell >> 6)};
        flr_field_hyper hyper = {.at = {at[0], at[1], at[2]}};
        hyper.stored = stored_chunks(job, tile, at[0], at[1], at[2], cell, field);
        if (!job->hollow) hyper.interior = interior_chunks(job->build, at[0], at[1], at[2]);
        if (flr_mask_is_empty(&hyper.stored) &&
            (flr_mask_is_empty(&hyper.interior) || flr_mask_is_full(&hyper.interior))) {
            part->entries[cell] =
                FLR_UNIFORM |
                (flr_mask_is_full(&hyper.interior) ? FLR_MARK_INTERIOR : FLR_MARK_FREE);
            continue;
        }
        hyper.first_plane = part->plane_count;
        part->plane_count += flr_mask_count(&hyper.stored);
        part->entries[cell] = part->hyper_count;
        hypers[part->hyper_count++] = hyper;
    }
    part->hypers = aligned_alloc(64, (part->hyper_count + 1) * sizeof *part->hypers);
    if (!part->hypers) return FLR_NO_MEMORY;
    memcpy(part->hypers, hypers, part->hyper_count * sizeof *hypers);
    settle(part);
    return FLR_OK;
}

/* The chunk distances of a root cell, packed. */
static flr_result plan_distant(plan_job *job, size_t number, const flr_tile *tile)
{
    root_part *part = &job->distant[number];
    part->entries = malloc(512 * sizeof *part->entries);
    uint8_t *bytes = malloc(512 * 256);
    if (!part->entries || !bytes) {
        free(bytes);
        return FLR_NO_MEMORY;
    }
    for (unsigned cell = 0; cell < 512; cell++) {
        uint8_t *packed = bytes + 256 * part->plane_count;
        flr_tile_pack(tile, cell & 7, cell >> 3 & 7, cell >> 6, 4, packed);
        bool same = packed[0] % 16 == packed[0] / 16 && memcmp(packed, packed + 1, 255) == 0;
        part->entries[cell] = same ? FLR_UNIFORM | packed[0] % 16u : (uint32_t)part->plane_count++;
    }
    settle(part);
    uint8_t *less = realloc(bytes, 256 * part->plane_count + 1);
    job->bytes[number] = less ? less : bytes;
    return FLR_OK;
}

/* Is nothing touched in this root cell or next to it? Fields reach no farther than that. */
static bool is_lonely(const flr_build *build, const uint32_t root[3])
{
    for (int n = 0; n < 27; n++) {
        int64_t x = (int64_t)root[0] + n % 3 - 1, y = (int64_t)root[1] + n / 3 % 3 - 1,
                z = (int64_t)root[2] + n / 9 - 1;
        if (x < 0 || y < 0 || z < 0 || x >= build->roots[0] || y >= build->roots[1] ||
            z >= build->roots[2])
            continue;
        size_t cell = (size_t)x + build->roots[0] * ((size_t)y + build->roots[1] * (size_t)z);
        if (build->root[cell] < FLR_ROOT_OUTSIDE) return false;
    }
    return true;
}

/* A lonely root cell is of one mark throughout. In a wide scene most are. */
static void plan_lonely(plan_job *job, size_t number, const uint32_t root[3])
{
    flr_mask inside = {{0}};
    if (!job->hollow)
        inside = interior_chunks(job->build, root[0] * INT64_C(8), root[1] * INT64_C(8),
                                 root[2] * INT64_C(8));
    uint32_t uniform =
        FLR_UNIFORM | (flr_mask_is_full(&inside) ? FLR_MARK_INTERIOR : FLR_MARK_FREE);
    for (unsigned field = 0; field < job->fields; field++)
        job->parts[field * job->roots + number].uniform = uniform;
    job->distant[number].uniform = uniform;
}

static flr_result plan_root(void *context, size_t piece, unsigned worker)
{
    plan_job *job = context;
    size_t number = job->first + piece;
    const flr_build *build = job->build;
    flr_tile *tile = &job->tiles[worker];
    if (flr_build_go_on(build, worker, 0) != FLR_OK) return FLR_CANCELLED;
    uint32_t root[3] = {(uint32_t)(number % build->roots[0]),
                        (uint32_t)(number / build->roots[0] % build->roots[1]),
                        (uint32_t)(number / build->roots[0] / build->roots[1])};
    if (is_lonely(build, root)) {
        plan_lonely(job, number, root);
        return FLR_OK;
    }
    for (unsigned field = 0; field < job->fields; field++) {
        load_chunks(build, root, (int)field, job->hollow, tile);
        flr_tile_grow(tile, 0, 8, 4, 0);
        flr_result result =
            plan_field(job, root, worker, field, &job->parts[field * job->roots + number]);
        if (result == FLR_OK && field == FLR_FIELD_SURFACE)
            result = plan_distant(job, number, tile);
        if (result != FLR_OK) return result;
    }
    return FLR_OK;
}

/* Puts the parts of one field, root cell by root cell, into one list. */
static bool join_parts(const root_part *parts, size_t roots, flr_field_hyper **hypers,
                       uint32_t **root, uint32_t **nodes, flr_tree_place *place)
{
    *place = (flr_tree_place){0};
    for (size_t i = 0; i < roots; i++) {
        place->node_count += parts[i].entries != NULL;
        place->hyper_count += parts[i].hyper_count;
        place->plane_count += parts[i].plane_count;
    }
    *root = malloc(roots * sizeof **root);
    *nodes = malloc((place->node_count + 1) * 512 * sizeof **nodes);
    *hypers = aligned_alloc(64, (place->hyper_count + 1) * sizeof **hypers);
    if (!*root || !*nodes || !*hypers) return false;

    uint32_t node = 0, hyper = 0;
    uint64_t plane = 0;
    for (size_t i = 0; i < roots; i++) {
        const root_part *part = &parts[i];
        (*root)[i] = part->entries ? node : part->uniform;
        if (!part->entries) continue;
        uint32_t *entries = *nodes + (size_t)node++ * 512;
        /* numbers count hyperchunks, or planes where there is no level between */
        uint32_t base = part->hypers ? hyper : (uint32_t)plane;
        for (unsigned cell = 0; cell < 512; cell++) {
            uint32_t entry = part->entries[cell];
            entries[cell] = entry & FLR_UNIFORM ? entry : entry + base;
        }
        for (uint32_t k = 0; k < part->hyper_count; k++) {
            (*hypers)[hyper] = part->hypers[k];
            (*hypers)[hyper++].first_plane += plane;
        }
        plane += part->plane_count;
    }
    return true;
}

static bool join_all(plan_job *job, flr_field_plan *plan)
{
    for (unsigned field = 0; field < job->fields; field++)
        if (!join_parts(job->parts + field * job->roots, job->roots, &plan->hypers[field],
                        &plan->root[field], &plan->nodes[field], &plan->place[field]))
            return false;
    flr_field_hyper *none = NULL;
    bool joined = join_parts(job->distant, job->roots, &none, &plan->chunk_root, &plan->chunk_nodes,
                             &plan->chunk_place);
    free(none);
    if (!joined) return false;
    plan->chunk_planes = malloc((plan->chunk_place.plane_count + 1) * 256);
    if (!plan->chunk_planes) return false;
    uint8_t *to = plan->chunk_planes;
    for (size_t i = 0; i < job->roots; i++) {
        size_t size = 256 * job->distant[i].plane_count;
        if (size) memcpy(to, job->bytes[i], size);
        to += size;
    }
    return true;
}

flr_planning *flr_planning_begin(const flr_build *build, unsigned fields, bool hollow,
                                 unsigned range)
{
    size_t roots = (size_t)build->roots[0] * build->roots[1] * build->roots[2];
    unsigned workers = flr_parallel_threads(build->threads);
    plan_job *job = calloc(1, sizeof *job);
    if (!job) return NULL;
    *job = (plan_job){
        .build = build, .roots = roots, .fields = fields, .range = range, .hollow = hollow};
    job->tiles = aligned_alloc(64, workers * sizeof *job->tiles);
    job->scratch = aligned_alloc(64, workers * sizeof *job->scratch);
    job->parts = calloc(roots * fields, sizeof *job->parts);
    job->distant = calloc(roots, sizeof *job->distant);
    job->bytes = calloc(roots, sizeof *job->bytes);
    if (job->tiles && job->scratch && job->parts && job->distant && job->bytes) return job;
    flr_planning_end(job, NULL);
    return NULL;
}

flr_result flr_planning_roots(flr_planning *job, size_t first, size_t count)
{
    job->first = first;
    return flr_parallel_for(job->build->threads, count, plan_root, job);
}

flr_result flr_planning_end(flr_planning *job, flr_field_plan *plan)
{
    flr_result result = FLR_OK;
    if (plan) {
        *plan = (flr_field_plan){0};
        if (!join_all(job, plan)) {
            flr_field_free_plan(plan);
            result = FLR_NO_MEMORY;
        }
    }
    for (size_t i = 0; job->parts && i < job->roots * job->fields; i++) {
        free(job->parts[i].entries);
        free(job->parts[i].hypers);
    }
    for (size_t i = 0; job->distant && i < job->roots; i++) free(job->distant[i].entries);
    for (size_t i = 0; job->bytes && i < job->roots; i++) free(job->bytes[i]);
    free(job->tiles);
    free(job->scratch);
    free(job->parts);
    free(job->distant);
    free(job->bytes);
    free(job);
    return result;
}

flr_result flr_field_make_plan(const flr_build *build, unsigned fields, bool hollow, unsigned range,
                               flr_field_plan *plan)
{
    if (!hollow && fields > 1)
        for (uint32_t i = 0; i < build->hyper_count; i++) flr_build_note_inside(&build->hypers[i]);
    flr_planning *job = flr_planning_begin(build, fields, hollow, range);
    if (!job) return FLR_NO_MEMORY;
    flr_result result = flr_planning_roots(job, 0, job->roots);
    flr_result ended = flr_planning_end(job, result == FLR_OK ? plan : NULL);
    return result == FLR_OK ? ended : result;
}

void flr_field_free_plan(flr_field_plan *plan)
{
    for (unsigned field = 0; field < FLR_FIELD_COUNT; field++) {
        free(plan->hypers[field]);
        free(plan->root[field]);
        free(plan->nodes[field]);
    }
    free(plan->chunk_root);
    free(plan->chunk_nodes);
    free(plan->chunk_planes);
    *plan = (flr_field_plan){0};
}
