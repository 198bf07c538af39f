/* how much memory voxelizing will take, before it begins
 *
 * What it takes is decided by the chunks that the surface touches and by those within the range around them: each has marks,
 * whatever of it is near. So they are counted, on a grid of chunks in the place of voxels. An area alone says too little: a
 * triangle without any can be as long as the part, and a wire is made of many such. */
#include <math.h>
#include <stdlib.h>

#include "base/parallel.h"
#include "voxel/chunks.h"
#include "voxel/field.h"
#include "voxel/tile.h"
#include "voxel/voxelize.h"

/* what the mesh touches */
typedef struct touched {
    double voxels;  /* surface voxels, at most */
    double chunks;  /* with surface voxels */
    double hypers;  /* with surface voxels */
    double stored;  /* chunks with marks */
    double around;  /* hyperchunks with marks */
    double distant; /* hyperchunks whose chunks differ in how far they are from the surface */
    double roots;   /* root cells with any of them */
    double all_roots;
} touched;

/* Surface voxels of a triangle, at most: by its area, along its sides, at its corners. */
static double triangle_voxels(flr_vec3 a, flr_vec3 b, flr_vec3 c)
{
    flr_vec3 e = flr_vec3_sub(b, a), f = flr_vec3_sub(c, a);
    double area = flr_vec3_length(flr_vec3_cross(e, f)) / 2;
    double round = flr_vec3_length(e) + flr_vec3_length(f) + flr_vec3_distance(b, c);
    return 64 * 1.5 * area + 8 * 1.5 * round + 4; /* lengths are in chunks */
}

/* Corners in chunks, not below zero. */
static flr_vec3 corner(const flr_mesh *mesh, const flr_voxelize_def *def, flr_vec3 low, uint32_t i)
{
    flr_vec3 p = flr_vec3_sub(flr_pose_apply(def->T_voxmap_mesh, mesh->vertices[i]), low);
    flr_vec3 q = flr_vec3_scale(p, 1 / (8 * def->voxel));
    return flr_vec3_make(fmax(q.x, 0), fmax(q.y, 0), fmax(q.z, 0));
}

/* ---- counting chunks on several threads ---- */

/* Each worker has a set of its own. Slices of triangles add up their voxels apart, so that the sum does not depend on who did
 * which. */
typedef struct estimate_job {
    const flr_mesh *mesh;
    const flr_voxelize_def *def;
    flr_vec3 low;
    flr_chunks *sets; /* [workers] */
    double *voxels;   /* [slices] */
} estimate_job;

/* each worker's set may take as much memory as the united one, so there are few */
enum { ESTIMATE_SLICE = 1 << 16, ESTIMATE_MAX_WORKERS = 4 };

static flr_result count_slice(void *context, size_t piece, unsigned worker)
{
    estimate_job *job = context;
    const flr_mesh *mesh = job->mesh;
    uint32_t from = (uint32_t)piece * ESTIMATE_SLICE, left = mesh->triangle_count - from;
    double voxels = 0;
    for (uint32_t i = from; i < from + (left < ESTIMATE_SLICE ? left : ESTIMATE_SLICE); i++) {
        const uint32_t *v = mesh->triangles[i].v;
        flr_vec3 a = corner(mesh, job->def, job->low, v[0]),
                 b = corner(mesh, job->def, job->low, v[1]),
                 c = corner(mesh, job->def, job->low, v[2]);
        voxels += triangle_voxels(a, b, c);
        if (!flr_chunks_add_triangle(&job->sets[worker], a, b, c)) return FLR_NO_MEMORY;
    }
    job->voxels[piece] = voxels;
    return FLR_OK;
}

/* The chunks that the mesh touches; false: no memory, or more than the set may hold. */
static bool count_touched(const flr_mesh *mesh, flr_box3 box, const flr_voxelize_def *def,
                          flr_chunks *set, touched *t)
{
    size_t slices = ((size_t)mesh->triangle_count + ESTIMATE_SLICE - 1) / ESTIMATE_SLICE;
    unsigned workers = flr_parallel_threads(def->threads);
    if (workers > ESTIMATE_MAX_WORKERS) workers = ESTIMATE_MAX_WORKERS;
    estimate_job job = {.mesh = mesh, .def = def, .low = box.low};
    job.sets = malloc(workers * sizeof *job.sets);
    job.voxels = calloc(slices + 1, sizeof *job.voxels);
    bool ok = job.sets && job.voxels;
    for (unsigned i = 0; ok && i < workers; i++) job.sets[i] = flr_chunks_make(set->most);
    bool made = ok;
    ok = ok && flr_parallel_for(workers, slices, count_slice, &job) == FLR_OK;
    for (unsigned i = 0; made && i < workers; i++) {
        set->full |= job.sets[i].full;
        ok = ok && flr_chunks_unite(set, &job.sets[i]);
        flr_chunks_free(&job.sets[i]);
    }
    for (size_t i = 0; ok && i < slices; i++) t->voxels += job.voxels[i];
    free(job.sets);
    free(job.voxels);
    return ok;
}

/* Counts; false: more than the set may hold. */
static bool count(const flr_mesh *mesh, flr_box3 box, const flr_voxelize_def *def, flr_chunks *set,
                  flr_chunks *above, touched *t)
{
    if (!count_touched(mesh, box, def, set, t)) return false;
    t->chunks = (double)flr_chunks_count(set);
    t->hypers = (double)set->hypers;
    t->voxels = fmin(t->voxels, 512 * t->chunks);
    unsigned range = def->bits == 2 ? 1 + def->offset : def->range, rings = (range + 7) / 8;
    if (!flr_chunks_above(set, above) || !flr_chunks_grow(above, 2)) return false;
    t->distant = (double)flr_chunks_count(above);
    if (rings > FLR_TILE_MARGIN) { /* then whole hyperchunks, see plan.c */
        if (!flr_chunks_grow(above, (range + 63) / 64)) return false;
        t->around = (double)flr_chunks_count(above);
        t->stored = 512 * t->around;
    } else {
        if (!flr_chunks_grow(set, rings)) return false;
        t->stored = (double)flr_chunks_count(set);
        t->around = (double)set->hypers;
    }
    /* `above` has one mask for a root cell; its neighbours are planned, too */
    t->roots = 8 * (double)above->hypers;
    return true;
}

/* By the area, for what is too much to be counted: 1.5 voxels for each square of a voxel's size. */
static void guess(const flr_mesh *mesh, flr_box3 box, const flr_voxelize_def *def, touched *t)
{
    double area = 0, s = def->voxel;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *v = mesh->triangles[i].v;
        flr_vec3 e = flr_vec3_sub(mesh->vertices[v[1]], mesh->vertices[v[0]]);
        flr_vec3 f = flr_vec3_sub(mesh->vertices[v[2]], mesh->vertices[v[0]]);
        area += flr_vec3_length(flr_vec3_cross(e, f)) / 2;
    }
    flr_vec3 size = flr_box3_size(box);
    double cells = (size.x / s + 16) * (size.y / s + 16) * (size.z / s + 16);
    t->voxels = fmin(1.5 * area / (s * s) + 1000, cells);
    t->chunks = t->voxels / 80;
    t->hypers = t->chunks / 60;
    t->stored = t->chunks * (1 + 2 * ceil(def->range / 8.0));
    t->around = t->distant = 3 * t->hypers;
    t->roots = t->around / 20;
}

static void add_up(const flr_mesh *mesh, const flr_voxelize_def *def, const touched *t,
                   flr_voxelize_needs *needs)
{
    double fields = def->features ? FLR_FIELD_COUNT : 1;
    double result = t->stored * 64 * def->bits * fields +
                    t->around * sizeof(flr_field_hyper) * fields + t->distant * 256 +
                    t->roots * 2048 * (fields + 1) + t->all_roots * 4 * (fields + 1) +
                    t->voxels * 11 + t->chunks * 64;
    double masks = t->chunks * sizeof(flr_mask) * (def->features ? 4 : 2);
    double work = masks + t->hypers * sizeof(flr_build_hyper) +
                  t->around * sizeof(flr_field_hyper) * fields * 2 +
                  t->roots * 2048 * (fields + 1) + t->all_roots * 160 + mesh->vertex_count * 24.0 +
                  mesh->triangle_count * 20.0;
    needs->result = (uint64_t)fmin(result, 1e19);
    needs->memory = (uint64_t)fmin(result + work, 1e19);
}

flr_result flr_voxelize_measure(const flr_mesh *mesh, flr_box3 box, const flr_voxelize_def *def,
                                double limit, flr_voxelize_needs *needs)
{
    flr_vec3 size = flr_box3_size(box);
    double root = 512 * def->voxel;
    touched t = {.all_roots = (size.x / root + 2) * (size.y / root + 2) * (size.z / root + 2)};
    touched guessed = t;
    guess(mesh, box, def, &guessed);
    add_up(mesh, def, &guessed, needs);
    if (flr_voxelize_is_wide(box, def) || (double)needs->memory > 4 * limit) return FLR_OK;

    /* a hyperchunk has marks of 7 kB at least, so that a set which does not fit into a sixteenth of the limit stands for more
     * than the limit */
    size_t most = (size_t)fmax(65536, limit / 16 / sizeof(flr_chunks_slot) / 3);
    flr_chunks set = flr_chunks_make(most), above = {0};
    bool counted = count(mesh, box, def, &set, &above, &t);
    bool full = set.full || above.full;
    flr_chunks_free(&set);
    flr_chunks_free(&above);
    if (!counted && !full) return FLR_NO_MEMORY;
    if (counted)
        add_up(mesh, def, &t, needs);
    else if ((double)needs->memory < 2 * limit)
        needs->memory = (uint64_t)(2 * limit);
    return FLR_OK;
}
