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

/* what a voxel collects from the triangles that touch it */
typedef struct gathered {
    float sum[3];      /* weighted outward normals */
    float weight;      /* all weights */
    float heaviest;    /* of them */
    uint32_t triangle; /* that one */
    float distance2;   /* of the nearest point to the voxel's centre, voxels^2 */
    float nearest[3];  /* that point, from the voxel's low corner, voxels */
} gathered;

/* scratch of one worker */
typedef struct scratch {
    gathered *voxels; /* [room] */
    size_t room;
    uint16_t slot[512];       /* of a chunk with surface: which in order */
    uint32_t first[513];      /* its first voxel in `voxels` */
    uint16_t before[512][8];  /* voxels of the chunk in the layers below */
    uint64_t outside[64][64]; /* [z][y], bit x */
} scratch;

typedef struct shell_job {
    const flr_build *build;
    const flr_voxelize_def *def;
    flr_shell *shell;
    flr_shell_hyper *hypers;
    flr_shell_chunk *chunks;
    uint16_t *xyz[3];
    uint32_t *normal;
    scratch *scratches;
} shell_job;

/* to the nearest whole number; halves away from 0 */
static inline int rounded(double v) { return (int)(v < 0 ? v - 0.5 : v + 0.5); }

/* ---- normals, packed ---- */

uint32_t flr_shell_pack_normal(flr_vec3 n)
{
    double scale = fabs(n.x) + fabs(n.y) + fabs(n.z);
    if (!(scale > 0)) return 0;
    double u = n.x / scale, v = n.y / scale;
    if (n.z < 0) { /* the lower half is folded over the edges of the square */
        double fold = (1 - fabs(v)) * (u < 0 ? -1 : 1);
        v = (1 - fabs(u)) * (v < 0 ? -1 : 1);
        u = fold;
    }
    return (uint32_t)(uint16_t)(int16_t)rounded(u * 32767) |
           (uint32_t)(uint16_t)(int16_t)rounded(v * 32767) << 16;
}

flr_vec3 flr_shell_normal(uint32_t packed)
{
    double u = (int16_t)(packed & 0xFFFF) / 32767.0, v = (int16_t)(packed >> 16) / 32767.0;
    double z = 1 - fabs(u) - fabs(v);
    if (z < 0) {
        double fold = (1 - fabs(v)) * (u < 0 ? -1 : 1);
        v = (1 - fabs(u)) * (v < 0 ? -1 : 1);
        u = fold;
    }
    return flr_vec3_normalize(flr_vec3_make(u, v, z));
}

flr_vec3 flr_shell_point(const flr_shell *shell, uint32_t chunk, uint32_t point,
                         double displacement)
{
    const flr_shell_chunk *c = &shell->chunks[chunk];
    flr_vec3 p = flr_vec3_make((double)c->corner[0] + (double)shell->step * shell->x[point],
                               (double)c->corner[1] + (double)shell->step * shell->y[point],
                               (double)c->corner[2] + (double)shell->step * shell->z[point]);
    if (displacement == 0) return p;
    return flr_vec3_add_scaled(p, -displacement, flr_shell_normal(shell->normal[point]));
}

/* ---- gathering ---- */

typedef struct gather_row {
    scratch *s;
    const flr_build_hyper *hyper;
    flr_vec3 corner[3]; /* of the triangle, voxels, from the hyperchunk's corner */
    float normal[3];    /* unit */
    float weight;
    uint32_t triangle;
    bool nearest;
} gather_row;

FLR_CLONES static void gather(void *context, unsigned y, unsigned z, uint64_t row)
{
    const gather_row *g = context;
    scratch *s = g->s;
    for (; row; row &= row - 1) {
        unsigned x = (unsigned)__builtin_ctzll(row);
        unsigned slot = s->slot[flr_cell(x >> 3, y >> 3, z >> 3)], bit = (x & 7) | (y & 7) << 3;
        uint64_t layer =
            g->hyper->masks[FLR_LAYER_SURFACE][slot].z[z & 7] & ((UINT64_C(1) << bit) - 1);
        gathered *v = &s->voxels[s->first[slot] + s->before[slot][z & 7] +
                                 (unsigned)__builtin_popcountll(layer)];
        for (int i = 0; i < 3; i++) v->sum[i] += g->weight * g->normal[i];
        v->weight += g->weight;
        if (g->weight > v->heaviest) {
            v->heaviest = g->weight;
            v->triangle = g->triangle;
        }
        if (!g->nearest) continue;
        flr_vec3 centre = flr_vec3_make(x + 0.5, y + 0.5, z + 0.5);
        flr_vec3 p = flr_closest_on_triangle(centre, g->corner[0], g->corner[1], g->corner[2]);
        float d2 = (float)flr_vec3_length2(flr_vec3_sub(p, centre));
        if (d2 >= v->distance2) continue;
        v->distance2 = d2;
        v->nearest[0] = (float)(p.x - x);
        v->nearest[1] = (float)(p.y - y);
        v->nearest[2] = (float)(p.z - z);
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

static bool prepare_scratch(scratch *s, const flr_build_hyper *hyper)
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

static void gather_all(const shell_job *job, scratch *s, const flr_build_hyper *hyper)
{
    const flr_build *build = job->build;
    flr_vec3 base = flr_vec3_make(hyper->at[0] * 64.0, hyper->at[1] * 64.0, hyper->at[2] * 64.0);
    for (uint32_t i = 0; i < hyper->primitive_count; i++) {
        uint32_t triangle = build->primitives[hyper->first_primitive + i];
        if (triangle >= build->mesh->triangle_count)
            break; /* edges and corners come after the triangles */
        double area;
        flr_vec3 n = triangle_normal(build, triangle, &area);
        gather_row g = {.s = s,
                        .hyper = hyper,
                        .triangle = triangle,
                        .nearest = job->def->on_surface,
                        .normal = {(float)n.x, (float)n.y, (float)n.z},
                        .weight = (float)fmin(area, 1) + 1e-12f};
        for (int k = 0; k < 3; k++)
            g.corner[k] =
                flr_vec3_sub(build->vertices[build->mesh->triangles[triangle].v[k]], base);
        flr_build_visit(build, hyper, triangle, gather, &g);
    }
}

/* ---- one point ---- */

/* Is voxel (x, y, z) outside, counted from the hyperchunk's corner? It may lie a little beyond its sides. */
static bool is_outside(const shell_job *job, const scratch *s, const flr_build_hyper *hyper, int x,
                       int y, int z)
{
    if (!((x | y | z) & ~63)) return s->outside[z][y] >> x & 1;
    return flr_build_voxel_is_outside(job->build, hyper->at[0] * INT64_C(64) + x,
                                      hyper->at[1] * INT64_C(64) + y,
                                      hyper->at[2] * INT64_C(64) + z);
}

/* The outward normal of a voxel's point. */
static flr_vec3 outward(const shell_job *job, const scratch *s, const flr_build_hyper *hyper,
                        const gathered *v, int x, int y, int z)
{
    flr_vec3 n = flr_vec3_make((double)v->sum[0], (double)v->sum[1], (double)v->sum[2]);
    double length = flr_vec3_length(n);
    if (length >= 0.1 * (double)v->weight && length > 1e-15) {
        n = flr_vec3_scale(n, 1 / length);
    } else {
        double area;
        if (v->triangle != FLR_NONE) n = triangle_normal(job->build, v->triangle, &area);
        if (v->triangle == FLR_NONE || flr_vec3_length2(n) == 0)
            n = flr_vec3_make(0, 0, 1); /* nothing but triangles without area */
    }
    if (job->def->hollow) return n;
    /* a little in front must be outside, a little behind must not; farther if that does not decide */
    for (int step = 2; step <= 3; step++) {
        int dx = rounded(step * n.x), dy = rounded(step * n.y), dz = rounded(step * n.z);
        bool front = is_outside(job, s, hyper, x + dx, y + dy, z + dz);
        bool back = is_outside(job, s, hyper, x - dx, y - dy, z - dz);
        if (front != back) return front ? n : flr_vec3_neg(n);
    }
    return n;
}

/* A coordinate within its chunk, from its place in voxels from the chunk's corner. */
static uint16_t quantised(double voxels)
{
    double steps = (voxels + 1) * FLR_SHELL_STEPS;
    return (uint16_t)rounded(steps < 0 ? 0 : steps > 65535 ? 65535 : steps);
}

/* ---- spheres ---- */

/* up to the next float and a little more, so that rounding leaves no point outside */
static float outer_radius(double radius)
{
    return nextafterf((float)(radius * (1 + 1e-6)), INFINITY);
}

/* Around a chunk's points: the middle of their box, the radius to the farthest. */
static void enclose_points(const shell_job *job, flr_shell_chunk *chunk)
{
    uint32_t count = (uint32_t)chunk->count[0] + chunk->count[1] + chunk->count[2];
    int middle[3]; /* twice the middle, so that it is a whole number of steps */
    for (int axis = 0; axis < 3; axis++) {
        const uint16_t *q = job->xyz[axis] + chunk->first;
        uint16_t low = 65535, high = 0;
        for (uint32_t i = 0; i < count; i++) {
            low = q[i] < low ? q[i] : low;
            high = q[i] > high ? q[i] : high;
        }
        middle[axis] = low + high;
        chunk->centre[axis] =
            (float)((double)chunk->corner[axis] + (double)job->shell->step * middle[axis] / 2);
    }
    int64_t far = 0;
    for (uint32_t i = chunk->first; i < chunk->first + count; i++) {
        int64_t x = 2 * job->xyz[0][i] - middle[0], y = 2 * job->xyz[1][i] - middle[1],
                z = 2 * job->xyz[2][i] - middle[2], d2 = x * x + y * y + z * z;
        far = d2 > far ? d2 : far;
    }
    /* far from the origin the centre itself is rounded */
    double size = fabs((double)chunk->corner[0]) + fabs((double)chunk->corner[1]) +
                  fabs((double)chunk->corner[2]);
    chunk->radius = outer_radius(sqrt((double)far) / 2 * (double)job->shell->step + 1.2e-7 * size);
}

/* a sphere, as part of a larger one */
typedef struct sphere {
    const float *centre;
    float radius;
} sphere;

/* Around spheres: the middle of their centres' box, the radius to the farthest edge. */
static void enclose_spheres(sphere (*get)(const void *items, uint32_t i), const void *items,
                            uint32_t count, float centre[3], float *radius)
{
    flr_box3 box = flr_box3_empty();
    for (uint32_t i = 0; i < count; i++) {
        const float *c = get(items, i).centre;
        box = flr_box3_add(box, flr_vec3_make((double)c[0], (double)c[1], (double)c[2]));
    }
    flr_vec3 middle = flr_box3_centre(box);
    centre[0] = (float)middle.x, centre[1] = (float)middle.y, centre[2] = (float)middle.z;
    middle = flr_vec3_make((double)centre[0], (double)centre[1], (double)centre[2]);
    double far = 0;
    for (uint32_t i = 0; i < count; i++) {
        sphere s = get(items, i);
        flr_vec3 c = flr_vec3_make((double)s.centre[0], (double)s.centre[1], (double)s.centre[2]);
        far = fmax(far, flr_vec3_distance(c, middle) + (double)s.radius);
    }
    *radius = outer_radius(far);
}

static sphere chunk_sphere(const void *items, uint32_t i)
{
    const flr_shell_chunk *chunk = (const flr_shell_chunk *)items + i;
    return (sphere){chunk->centre, chunk->radius};
}

static sphere hyper_sphere(const void *items, uint32_t i)
{
    const flr_shell_hyper *hyper = (const flr_shell_hyper *)items + i;
    return (sphere){hyper->centre, hyper->radius};
}

/* ---- one hyperchunk ---- */

static void fill_chunk(const shell_job *job, const scratch *s, const flr_build_hyper *hyper,
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

    const gathered *v = &s->voxels[s->first[slot]];
    uint32_t last = chunk->first;
    for (FLR_EACH_CELL(surface, c)) {
        unsigned cellular = (unsigned)c;
        int x = (int)(cellular & 7), y = (int)(cellular >> 3 & 7), z = (int)(cellular >> 6);
        unsigned label = masks[0] && flr_mask_get(masks[0], cellular)   ? FLR_LABEL_VERTEX
                         : masks[1] && flr_mask_get(masks[1], cellular) ? FLR_LABEL_EDGE
                                                                        : FLR_LABEL_FACE;
        if (!job->def->features) label = FLR_LABEL_VERTEX;
        uint32_t to = next[label]++;
        bool exact = job->def->on_surface && v->distance2 < 1e29f;
        job->xyz[0][to] = quantised(x + (exact ? (double)v->nearest[0] : 0.5));
        job->xyz[1][to] = quantised(y + (exact ? (double)v->nearest[1] : 0.5));
        job->xyz[2][to] = quantised(z + (exact ? (double)v->nearest[2] : 0.5));
        job->normal[to] =
            flr_shell_pack_normal(flr_vec3_neg(outward(job, s, hyper, v, cx + x, cy + y, cz + z)));
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
    const flr_build_hyper *hyper = &job->build->hypers[piece];
    scratch *s = &job->scratches[worker];
    if (!prepare_scratch(s, hyper)) return FLR_NO_MEMORY;
    gather_all(job, s, hyper);
    flr_shell_hyper *out = &job->hypers[piece];
    uint32_t chunk = out->first_chunk;
    for (FLR_EACH_CELL(&hyper->used[FLR_LAYER_SURFACE], cell)) {
        fill_chunk(job, s, hyper, (unsigned)cell, &job->chunks[chunk]);
        enclose_points(job, &job->chunks[chunk]);
        chunk++;
    }
    enclose_spheres(chunk_sphere, job->chunks + out->first_chunk, out->chunk_count, out->centre,
                    &out->radius);
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

static uint64_t padded_total(const flr_build *build, uint64_t *chunks)
{
    uint64_t points = 0;
    *chunks = 0;
    for (uint32_t i = 0; i < build->hyper_count; i++) {
        unsigned slots = flr_mask_count(&build->hypers[i].used[FLR_LAYER_SURFACE]);
        *chunks += slots;
        for (unsigned k = 0; k < slots; k++)
            points += (flr_mask_count(&build->hypers[i].masks[FLR_LAYER_SURFACE][k]) +
                       FLR_SHELL_PAD - 1u) /
                      FLR_SHELL_PAD * FLR_SHELL_PAD;
    }
    return points;
}

static flr_shell *allocate(shell_job *job, uint64_t chunks, uint64_t points)
{
    flr_shell_header header = {.voxel = job->build->grid.voxel,
                               .step = (float)(job->build->grid.voxel / FLR_SHELL_STEPS),
                               .on_surface = job->def->on_surface,
                               .hyper_count = job->build->hyper_count,
                               .chunk_count = (uint32_t)chunks,
                               .point_count = (uint32_t)points};
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
    const flr_build *build = job->build;
    flr_shell *shell = job->shell;
    uint32_t chunk = 0, end = 0;
    for (uint32_t i = 0; i < build->hyper_count; i++) {
        unsigned slot = 0;
        job->hypers[i].first_chunk = chunk;
        for (FLR_EACH_CELL(&build->hypers[i].used[FLR_LAYER_SURFACE], cell)) {
            place_chunk(&build->hypers[i], (unsigned)cell, slot++, job->def->features, &end,
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

flr_result flr_shell_make(const flr_build *build, const flr_voxelize_def *def, flr_shell **shell,
                          flr_error *error)
{
    uint64_t chunks, points = padded_total(build, &chunks);
    if (points > UINT32_MAX)
        return flr_fail(
            error, FLR_TOO_LARGE,
            "a shell of %.3g points is beyond what one shell can hold; use larger voxels",
            (double)points);
    shell_job job = {.build = build, .def = def};
    unsigned workers = flr_parallel_threads(build->threads);
    job.scratches = calloc(workers, sizeof *job.scratches);
    job.shell = allocate(&job, chunks, points);
    flr_result result = FLR_NO_MEMORY;
    if (job.scratches && job.shell) {
        place_all(&job);
        result = flr_parallel_for(build->threads, build->hyper_count, fill_hyper, &job);
    }
    for (unsigned i = 0; job.scratches && i < workers; i++) free(job.scratches[i].voxels);
    free(job.scratches);
    if (result != FLR_OK) {
        flr_shell_destroy(job.shell);
        return flr_fail(error, result, "not enough memory for a shell of %.3g points",
                        (double)points);
    }
    enclose_spheres(hyper_sphere, job.hypers, job.shell->hyper_count, job.shell->centre,
                    &job.shell->radius);
    flr_shell_seal(job.shell);
    *shell = job.shell;
    return FLR_OK;
}

/* The largest growth of the distance between points of neighbouring voxels in a chunk, metres. */
static double chunk_opening(const flr_shell *shell, uint32_t c, double displacement)
{
    const flr_shell_chunk *chunk = &shell->chunks[c];
    uint32_t count = (uint32_t)chunk->count[0] + chunk->count[1] + chunk->count[2];
    uint32_t at
        [10][10]
        [10]; /* the point of a voxel, with a rim, as points on the surface may lie just outside */
    memset(at, 255, sizeof at);
    for (uint32_t k = chunk->first; k < chunk->first + count; k++)
        at[shell->z[k] / FLR_SHELL_STEPS % 10][shell->y[k] / FLR_SHELL_STEPS % 10]
          [shell->x[k] / FLR_SHELL_STEPS % 10] = k;
    double widest = 0;
    for (unsigned z = 0; z < 9; z++)
        for (unsigned y = 0; y < 9; y++)
            for (unsigned x = 0; x < 9; x++) {
                uint32_t here = at[z][y][x];
                for (unsigned d = 1; here != FLR_NONE && d < 8; d++) {
                    uint32_t there = at[z + (d >> 2)][y + (d >> 1 & 1)][x + (d & 1)];
                    if (there == FLR_NONE) continue;
                    double before = flr_vec3_distance(flr_shell_point(shell, c, here, 0),
                                                      flr_shell_point(shell, c, there, 0));
                    double after =
                        flr_vec3_distance(flr_shell_point(shell, c, here, displacement),
                                          flr_shell_point(shell, c, there, displacement));
                    widest = fmax(widest, after - before);
                }
            }
    return widest;
}

double flr_shell_opening(const flr_shell *shell, double displacement)
{
    double widest = 0;
    for (uint32_t c = 0; c < shell->chunk_count; c++)
        widest = fmax(widest, chunk_opening(shell, c, displacement));
    return 1 + widest / shell->voxel;
}
