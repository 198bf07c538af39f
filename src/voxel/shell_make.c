/* the shell: one point per surface voxel, with normal and label
 *
 * How many points each chunk has is known from the masks, so that every point has its place before any normal is
 * computed and hyperchunks can be done in any order. A point's normal is the mean of the normals of the triangles
 * that touch its voxel, each weighted by its area up to that of a voxel's side. Where the sides of a thin plate
 * cancel out, the heaviest triangle decides. Which way is in, the fill knows better than the triangles' winding. */
#include "voxel/shell.h"

#include <stdlib.h>

#include "base/parallel.h"
#include "voxel/clones.h"
#include "voxel/closest.h"
#include "voxel/shell_format.h"

enum { SHELL_MAKE_MAX = 512 }; /* voxels of a chunk */

/* what a voxel collects from the triangles that touch it */
typedef struct gathered {
    float sum[3];      /* weighted outward normals */
    float weight;      /* all weights */
    float heaviest;    /* of them */
    uint32_t triangle; /* that one */
    float distance2;   /* of the nearest point to the voxel's centre, voxels^2 */
    float nearest[3];  /* that point, from the voxel's low corner, voxels */
} gathered;

/* the points of a chunk under way, by voxel */
typedef struct shell_make_points {
    double normal[3][SHELL_MAKE_MAX]; /* unit */
    double sign[SHELL_MAKE_MAX];      /* 1 where the normal points in, else -1 */
    uint32_t packed[SHELL_MAKE_MAX];
    bool sure[SHELL_MAKE_MAX]; /* the triangles agree about the normal */
} shell_make_points;

/* scratch of one worker */
typedef struct shell_make_scratch {
    gathered *voxels; /* [room] */
    size_t room;
    uint16_t slot[512];       /* of a chunk with surface: which in order */
    uint32_t first[513];      /* its first voxel in `voxels` */
    uint16_t before[512][8];  /* voxels of the chunk in the layers below */
    uint64_t outside[64][64]; /* [z][y], bit x */
    flr_overlap_rows rows;    /* of the triangle that is being gathered */
    shell_make_points points;
} shell_make_scratch;

typedef struct shell_job {
    const flr_build *build;
    const flr_build_hyper *from; /* the first hyperchunk of this shell */
    uint32_t count;              /* … and how many */
    const flr_voxelize_def *def;
    flr_shell *shell;
    flr_shell_hyper *hypers;
    flr_shell_chunk *chunks;
    uint16_t *xyz[3];
    uint32_t *normal;
    shell_make_scratch *scratches;
    uint16_t centres[8]; /* of the voxels of a chunk along an axis */
} shell_job;

/* ---- gathering ---- */

/* a triangle whose voxels gather it */
typedef struct gathering {
    shell_make_scratch *s;
    const flr_build_hyper *hyper;
    flr_vec3 corner[3]; /* of the triangle, voxels, from the hyperchunk's corner */
    float normal[3];    /* unit */
    float weight;
    uint32_t triangle;
    bool nearest;
} gathering;

/* What a voxel gathers of a triangle. */
static inline void gather_voxel(const gathering *g, gathered *v, unsigned x, unsigned y, unsigned z)
{
    for (int i = 0; i < 3; i++) v->sum[i] += g->weight * g->normal[i];
    v->weight += g->weight;
    if (g->weight > v->heaviest) {
        v->heaviest = g->weight;
        v->triangle = g->triangle;
    }
    if (!g->nearest) return;
    flr_vec3 centre = flr_vec3_make(x + 0.5, y + 0.5, z + 0.5);
    flr_vec3 p = flr_closest_on_triangle(centre, g->corner[0], g->corner[1], g->corner[2]);
    float d2 = (float)flr_vec3_length2(flr_vec3_sub(p, centre));
    if (d2 >= v->distance2) return;
    v->distance2 = d2;
    v->nearest[0] = (float)(p.x - x);
    v->nearest[1] = (float)(p.y - y);
    v->nearest[2] = (float)(p.z - z);
}

FLR_CLONES static void gather(const gathering *g, const flr_overlap_rows *rows)
{
    shell_make_scratch *s = g->s;
    const flr_mask *surface = g->hyper->masks[FLR_LAYER_SURFACE];
    for (uint32_t i = 0; i < rows->count; i++) {
        const unsigned y = rows->at[i] & 63, z = rows->at[i] >> 6;
        for (uint64_t row = rows->bits[i]; row; row &= row - 1) {
            const unsigned x = (unsigned)__builtin_ctzll(row), bit = (x & 7) | (y & 7) << 3;
            const unsigned slot = s->slot[flr_cell(x >> 3, y >> 3, z >> 3)];
            const uint64_t before = surface[slot].z[z & 7] & ((UINT64_C(1) << bit) - 1);
            gathered *v = &s->voxels[s->first[slot] + s->before[slot][z & 7] +
                                     (unsigned)__builtin_popcountll(before)];
            gather_voxel(g, v, x, y, z);
        }
    }
}

/* The unit normal and area (voxels^2) of a triangle; zero when it has no area. */
static flr_vec3 triangle_normal(const flr_build *build, uint32_t triangle, double *area)
{
    const uint32_t *t = build->mesh->triangles[triangle].v;
    const flr_vec3 *v = build->vertices;
    flr_vec3 n = flr_vec3_cross(flr_vec3_sub(v[t[1]], v[t[0]]), flr_vec3_sub(v[t[2]], v[t[0]]));
    *area = flr_vec3_length(n) / 2;
    return flr_vec3_normalize(n);
}

static bool prepare_scratch(shell_make_scratch *s, const flr_build_hyper *hyper)
{
    unsigned slots = 0;
    uint32_t total = 0;
    memset(s->outside, 0, sizeof s->outside);
    for (unsigned cell = 0; cell < 512; cell++) {
        flr_mask open = {{0}};
        if (flr_mask_get(&hyper->used[FLR_LAYER_SURFACE], cell)) {
            const flr_mask *mask = &hyper->masks[FLR_LAYER_SURFACE][slots];
            open = hyper->outside[slots];
            s->slot[cell] = (uint16_t)slots;
            s->first[slots] = total;
            unsigned below = 0;
            for (int z = 0; z < 8; z++) {
                s->before[slots][z] = (uint16_t)below;
                below += (unsigned)__builtin_popcountll(mask->z[z]);
            }
            total += below;
            slots++;
        } else if (flr_mask_get(&hyper->empty_outside, cell)) {
            memset(&open, 255, sizeof open);
        }
        for (unsigned k = 0; k < 8; k++)
            for (unsigned j = 0; j < 8; j++)
                s->outside[(cell >> 6) * 8 + k][(cell >> 3 & 7) * 8 + j] |=
                    (open.z[k] >> 8 * j & 255) << 8 * (cell & 7);
    }
    s->first[slots] = total;
    if (total > s->room) {
        gathered *voxels = realloc(s->voxels, total * sizeof *voxels);
        if (!voxels) return false;
        s->voxels = voxels;
        s->room = total;
    }
    for (uint32_t i = 0; i < total; i++)
        s->voxels[i] = (gathered){.distance2 = 1e30f, .triangle = FLR_NONE};
    return true;
}

static void gather_all(const shell_job *job, shell_make_scratch *s, const flr_build_hyper *hyper)
{
    const flr_build *build = job->build;
    flr_vec3 base = flr_vec3_make(hyper->at[0] * 64.0, hyper->at[1] * 64.0, hyper->at[2] * 64.0);
    for (uint32_t i = 0; i < hyper->primitive_count; i++) {
        uint32_t triangle = build->primitives[hyper->first_primitive + i];
        if (triangle >= build->mesh->triangle_count)
            break; /* edges and corners come after the triangles */
        double area;
        flr_vec3 n = triangle_normal(build, triangle, &area);
        gathering g = {.s = s,
                       .hyper = hyper,
                       .triangle = triangle,
                       .nearest = job->def->on_surface,
                       .normal = {(float)n.x, (float)n.y, (float)n.z},
                       .weight = (float)fmin(area, 1) + 1e-12f};
        for (int k = 0; k < 3; k++)
            g.corner[k] =
                flr_vec3_sub(build->vertices[build->mesh->triangles[triangle].v[k]], base);
        flr_build_visit(build, hyper, triangle, &s->rows);
        gather(&g, &s->rows);
    }
}

/* ---- one point ---- */

/* Is voxel (x, y, z) outside, counted from the hyperchunk's corner? It may lie a little beyond its sides. */
static bool is_outside(const shell_job *job, const shell_make_scratch *s,
                       const flr_build_hyper *hyper, int x, int y, int z)
{
    if (!((x | y | z) & ~63)) return s->outside[z][y] >> x & 1;
    return flr_build_voxel_is_outside(job->build, hyper->at[0] * INT64_C(64) + x,
                                      hyper->at[1] * INT64_C(64) + y,
                                      hyper->at[2] * INT64_C(64) + z);
}

/* The mean normals of a chunk's voxels, and where to look for what is in front of them. */
FLR_CLONES static void mean_normals(const gathered *voxels, unsigned count, shell_make_points *p)
{
    float sum[3][SHELL_MAKE_MAX], weight[SHELL_MAKE_MAX];
    for (unsigned k = 0; k < count; k++) {
        for (int i = 0; i < 3; i++) sum[i][k] = voxels[k].sum[i];
        weight[k] = voxels[k].weight;
    }
    for (unsigned k = 0; k < count; k++) {
        const double x = (double)sum[0][k], y = (double)sum[1][k], z = (double)sum[2][k];
        const double length = sqrt(x * x + y * y + z * z);
        const bool sure = (length >= 0.1 * (double)weight[k]) & (length > 1e-15);
        const double scale = 1 / (sure ? length : 1);
        p->normal[0][k] = x * scale;
        p->normal[1][k] = y * scale;
        p->normal[2][k] = z * scale;
        p->sure[k] = sure;
    }
}

FLR_CLONES static void pack_normals(shell_make_points *p, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        p->packed[k] = flr_shell_pack(p->sign[k] * p->normal[0][k], p->sign[k] * p->normal[1][k],
                                      p->sign[k] * p->normal[2][k]);
}

/* Where the sides of a thin plate cancel out: the normal of the heaviest triangle. */
static void use_heaviest(const shell_job *job, const gathered *v, unsigned k, shell_make_points *p)
{
    double area;
    flr_vec3 n = flr_vec3_zero();
    if (v->triangle != FLR_NONE) n = triangle_normal(job->build, v->triangle, &area);
    if (flr_vec3_length2(n) == 0)
        n = flr_vec3_make(0, 0, 1); /* nothing but triangles without area */
    p->normal[0][k] = n.x, p->normal[1][k] = n.y, p->normal[2][k] = n.z;
}

/* Does the normal of voxel (x, y, z) point inwards (1) or outwards (-1)? */
static double inward(const shell_job *job, const shell_make_scratch *s,
                     const flr_build_hyper *hyper, unsigned k, int x, int y, int z)
{
    const shell_make_points *p = &s->points;
    if (job->def->hollow) return -1;
    /* a little in front must be outside, a little behind must not; farther if that does not decide */
    for (int step = 2; step <= 3; step++) {
        int dx = flr_shell_rounded(step * p->normal[0][k]),
            dy = flr_shell_rounded(step * p->normal[1][k]),
            dz = flr_shell_rounded(step * p->normal[2][k]);
        bool front = is_outside(job, s, hyper, x + dx, y + dy, z + dz);
        bool back = is_outside(job, s, hyper, x - dx, y - dy, z - dz);
        if (front != back) return front ? -1 : 1;
    }
    return -1;
}

/* The packed inward normals of the voxels of a chunk, in order. */
static void find_normals(const shell_job *job, shell_make_scratch *s, const flr_build_hyper *hyper,
                         unsigned cell)
{
    const unsigned slot = s->slot[cell], count = s->first[slot + 1] - s->first[slot];
    const gathered *v = &s->voxels[s->first[slot]];
    const flr_mask *surface = &hyper->masks[FLR_LAYER_SURFACE][slot];
    const int cx = (int)(cell & 7) * 8, cy = (int)(cell >> 3 & 7) * 8, cz = (int)(cell >> 6) * 8;
    mean_normals(v, count, &s->points);
    unsigned k = 0;
    for (FLR_EACH_CELL(surface, c)) {
        const int x = cx + (int)(c & 7), y = cy + (int)(c >> 3 & 7), z = cz + (int)(c >> 6);
        if (!s->points.sure[k]) use_heaviest(job, &v[k], k, &s->points);
        s->points.sign[k] = inward(job, s, hyper, k, x, y, z);
        k++;
    }
    pack_normals(&s->points, count);
}

/* ---- one hyperchunk ---- */

static void fill_chunk(const shell_job *job, shell_make_scratch *s, const flr_build_hyper *hyper,
                       unsigned cell, flr_shell_chunk *chunk)
{
    const flr_grid *grid = &job->build->grid;
    unsigned slot = s->slot[cell];
    const flr_mask *surface = &hyper->masks[FLR_LAYER_SURFACE][slot];
    uint32_t next[FLR_LABEL_COUNT] = {chunk->first, chunk->first + chunk->count[0],
                                      chunk->first + chunk->count[0] + chunk->count[1]};
    const flr_mask *masks[2] = {NULL, NULL}; /* vertex, edge */
    for (int i = 0; i < 2; i++) {
        int layer = i == 0 ? FLR_LAYER_VERTEX : FLR_LAYER_EDGE;
        if (flr_mask_get(&hyper->used[layer], cell))
            masks[i] = &hyper->masks[layer][flr_mask_rank(&hyper->used[layer], cell)];
    }
    int cx = (int)(cell & 7) * 8, cy = (int)(cell >> 3 & 7) * 8, cz = (int)(cell >> 6) * 8;
    flr_vec3 corner = flr_grid_to_metres(grid, flr_vec3_make(hyper->at[0] * 64.0 + cx - 1,
                                                             hyper->at[1] * 64.0 + cy - 1,
                                                             hyper->at[2] * 64.0 + cz - 1));
    chunk->corner[0] = (float)corner.x, chunk->corner[1] = (float)corner.y,
    chunk->corner[2] = (float)corner.z;

    find_normals(job, s, hyper, cell);
    const gathered *v = &s->voxels[s->first[slot]];
    const uint32_t *packed = s->points.packed;
    uint32_t last = chunk->first;
    for (FLR_EACH_CELL(surface, c)) {
        unsigned cellular = (unsigned)c;
        int x = (int)(cellular & 7), y = (int)(cellular >> 3 & 7), z = (int)(cellular >> 6);
        unsigned label = masks[0] && flr_mask_get(masks[0], cellular)   ? FLR_LABEL_VERTEX
                         : masks[1] && flr_mask_get(masks[1], cellular) ? FLR_LABEL_EDGE
                                                                        : FLR_LABEL_FACE;
        if (!job->def->features) label = FLR_LABEL_VERTEX;
        uint32_t to = next[label]++;
        const int at[3] = {x, y, z};
        const bool exact = job->def->on_surface && v->distance2 < 1e29f;
        for (int axis = 0; axis < 3; axis++)
            job->xyz[axis][to] = exact ? flr_shell_quantised(at[axis] + (double)v->nearest[axis])
                                       : job->centres[at[axis]];
        job->normal[to] = *packed++;
        if (to > last) last = to;
        v++;
    }
    for (uint32_t i = last + 1; i < chunk->first + chunk->padded; i++) {
        for (int axis = 0; axis < 3; axis++) job->xyz[axis][i] = job->xyz[axis][last];
        job->normal[i] = job->normal[last];
    }
}

static flr_result fill_hyper(void *context, size_t piece, unsigned worker)
{
    shell_job *job = context;
    const flr_build_hyper *hyper = &job->from[piece];
    shell_make_scratch *s = &job->scratches[worker];
    double share = (double)(hyper - job->build->hypers) / job->build->hyper_count;
    if (flr_build_go_on(job->build, worker, share) != FLR_OK) return FLR_CANCELLED;
    if (!prepare_scratch(s, hyper)) return FLR_NO_MEMORY;
    gather_all(job, s, hyper);
    flr_shell_hyper *out = &job->hypers[piece];
    uint32_t chunk = out->first_chunk;
    for (FLR_EACH_CELL(&hyper->used[FLR_LAYER_SURFACE], cell)) {
        fill_chunk(job, s, hyper, (unsigned)cell, &job->chunks[chunk]);
        flr_shell_enclose_points(job->shell, &job->chunks[chunk]);
        chunk++;
    }
    return FLR_OK;
}

/* ---- the whole ---- */

/* How many points of each label a chunk has, and where they go. */
static void place_chunk(const flr_build_hyper *hyper, unsigned cell, unsigned slot, bool features,
                        uint32_t *end, flr_shell_chunk *chunk)
{
    unsigned all = flr_mask_count(&hyper->masks[FLR_LAYER_SURFACE][slot]), edge = 0, vertex = 0;
    if (flr_mask_get(&hyper->used[FLR_LAYER_EDGE], cell))
        edge = flr_mask_count(
            &hyper->masks[FLR_LAYER_EDGE][flr_mask_rank(&hyper->used[FLR_LAYER_EDGE], cell)]);
    if (flr_mask_get(&hyper->used[FLR_LAYER_VERTEX], cell))
        vertex = flr_mask_count(
            &hyper->masks[FLR_LAYER_VERTEX][flr_mask_rank(&hyper->used[FLR_LAYER_VERTEX], cell)]);
    if (!features) vertex = edge = all;
    chunk->count[FLR_LABEL_VERTEX] = (uint16_t)vertex;
    chunk->count[FLR_LABEL_EDGE] =
        (uint16_t)(edge - vertex); /* every vertex voxel is an edge voxel, too */
    chunk->count[FLR_LABEL_FACE] = (uint16_t)(all - edge);
    chunk->padded = (uint16_t)((all + FLR_SHELL_PAD - 1) / FLR_SHELL_PAD * FLR_SHELL_PAD);
    chunk->first = *end;
    *end += chunk->padded;
}

void flr_shell_measure(const flr_build_hyper *hyper, uint64_t *chunks, uint64_t *points)
{
    unsigned slots = flr_mask_count(&hyper->used[FLR_LAYER_SURFACE]);
    *chunks += slots;
    for (unsigned k = 0; k < slots; k++)
        *points += (flr_mask_count(&hyper->masks[FLR_LAYER_SURFACE][k]) + FLR_SHELL_PAD - 1u) /
                   FLR_SHELL_PAD * FLR_SHELL_PAD;
}

flr_shell_header flr_shell_begin_header(const flr_build *build, const flr_voxelize_def *def)
{
    return (flr_shell_header){.voxel = build->grid.voxel,
                              .step = (float)(build->grid.voxel / FLR_SHELL_STEPS),
                              .on_surface = def->on_surface};
}

flr_result flr_shell_check_count(uint64_t points, flr_error *error)
{
    if (points <= UINT32_MAX) return FLR_OK;
    return flr_fail(error, FLR_TOO_LARGE,
                    "a shell of %.3g points is beyond what one shell can hold; use larger voxels",
                    (double)points);
}

static flr_shell *allocate(shell_job *job, uint64_t chunks, uint64_t points)
{
    flr_shell_header header = flr_shell_begin_header(job->build, job->def);
    header.hyper_count = job->count;
    header.chunk_count = (uint32_t)chunks;
    header.point_count = (uint32_t)points;
    flr_shell *shell = flr_shell_allocate(&header);
    if (!shell) return NULL;
    job->hypers = (flr_shell_hyper *)(uintptr_t)shell->hypers;
    job->chunks = (flr_shell_chunk *)(uintptr_t)shell->chunks;
    job->xyz[0] = (uint16_t *)(uintptr_t)shell->x;
    job->xyz[1] = (uint16_t *)(uintptr_t)shell->y;
    job->xyz[2] = (uint16_t *)(uintptr_t)shell->z;
    job->normal = (uint32_t *)(uintptr_t)shell->normal;
    return shell;
}

/* Gives every chunk its place. */
static void place_all(shell_job *job)
{
    flr_shell *shell = job->shell;
    uint32_t chunk = 0, end = 0;
    for (uint32_t i = 0; i < job->count; i++) {
        unsigned slot = 0;
        job->hypers[i].first_chunk = chunk;
        for (FLR_EACH_CELL(&job->from[i].used[FLR_LAYER_SURFACE], cell)) {
            place_chunk(&job->from[i], (unsigned)cell, slot++, job->def->features, &end,
                        &job->chunks[chunk]);
            for (int label = 0; label < FLR_LABEL_COUNT; label++) {
                shell->by_label[label] += job->chunks[chunk].count[label];
                shell->total += job->chunks[chunk].count[label];
            }
            chunk++;
        }
        job->hypers[i].chunk_count = slot;
    }
}

flr_result flr_shell_make(const flr_build *build, const flr_voxelize_def *def, uint32_t first,
                          uint32_t count, flr_shell **shell, flr_error *error)
{
    uint64_t chunks = 0, points = 0;
    for (uint32_t i = first; i < first + count; i++)
        flr_shell_measure(&build->hypers[i], &chunks, &points);
    flr_result result = flr_shell_check_count(points, error);
    if (result != FLR_OK) return result;
    shell_job job = {.build = build, .def = def, .from = build->hypers + first, .count = count};
    for (int i = 0; i < 8; i++) job.centres[i] = flr_shell_quantised(i + 0.5);
    unsigned workers = flr_parallel_threads(build->threads);
    job.scratches = calloc(workers, sizeof *job.scratches);
    job.shell = allocate(&job, chunks, points);
    result = FLR_NO_MEMORY;
    if (job.scratches && job.shell) {
        place_all(&job);
        result = flr_parallel_for(build->threads, count, fill_hyper, &job);
    }
    for (unsigned i = 0; job.scratches && i < workers; i++) free(job.scratches[i].voxels);
    free(job.scratches);
    if (result != FLR_OK) {
        flr_shell_destroy(job.shell);
        return flr_fail(error, result, "not enough memory for a shell of %.3g points",
                        (double)points);
    }
    flr_shell_enclose_hypers(job.shell, job.hypers);
    flr_shell_seal(job.shell);
    *shell = job.shell;
    return FLR_OK;
}
