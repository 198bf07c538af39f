/* the fast engine: skip what is far, look up the rest many points at a time, judge the few hits exactly
 *
 * A query is stateless. Hyperchunks, then chunks of the shell are skipped when the voxels at their centre say that
 * nothing is nearer than their radius. The points of what is left go through a kernel that only finds candidates;
 * each candidate is then judged by the same function, in the same order and precision, as in the reference, so that the
 * sums are the same to the bit. */
#include <stdlib.h>
#include <string.h>

#include "contact/kernel.h"
#include "contact/point.h"
#include "contact/table.h"

struct flr_contact_pair {
    flr_contact_pair_def def;
    flr_scan_kernel kernel;
    const char *simd;
    flr_flat_field fields[FLR_FIELD_COUNT]; /* as in the table */
    flr_contact_table *own;                 /* NULL: the table is borrowed */
    flr_contact *contacts;                  /* [def.capacity] */
};

flr_contact_pair_def flr_default_contact_pair_def(void)
{
    flr_contact_pair_def def = {.capacity = 1024, .simd = FLR_SIMD_BEST};
    return def;
}

/* ---- making a pair ---- */

/* The best kernel, or the one asked for. Gathers take 32-bit word numbers: larger planes are looked up one by one. */
static void choose_kernel(flr_contact_pair *pair, bool small)
{
    flr_simd simd = small ? flr_simd_resolve(pair->def.simd) : FLR_SIMD_SCALAR;
    pair->kernel = simd == FLR_SIMD_AVX512 ? flr_scan_avx512
                   : simd == FLR_SIMD_AVX2 ? flr_scan_avx2
                                           : flr_scan_scalar;
    pair->simd = flr_simd_name(simd);
}

void flr_contact_pair_aim(flr_contact_pair *pair, const flr_shell *shell,
                          const flr_contact_table *table)
{
    pair->def.shell = shell;
    pair->def.voxmap = table->voxmap;
    memcpy(pair->fields, table->fields, sizeof pair->fields);
    choose_kernel(pair, table->small);
}

flr_result flr_contact_pair_create(const flr_contact_pair_def *def, flr_contact_pair **pair,
                                   flr_error *error)
{
    if (!flr_simd_has(def->simd))
        return flr_fail(error, FLR_UNSUPPORTED, "this processor or this build has no %s",
                        flr_simd_name(def->simd));
    flr_contact_pair *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a contact pair");
    made->def = *def;
    made->contacts = calloc(def->capacity ? def->capacity : 1, sizeof *made->contacts);
    flr_result result = FLR_OK;
    if (!made->contacts)
        result = flr_fail(error, FLR_NO_MEMORY, "not enough memory for a list of contacts");
    else if (!def->table && def->voxmap)
        result = flr_contact_table_create(def->voxmap, &made->own, error);
    if (result != FLR_OK) {
        flr_contact_pair_destroy(made);
        return result;
    }
    const flr_contact_table *table = def->table ? def->table : made->own;
    if (table)
        flr_contact_pair_aim(made, def->shell, table);
    else
        choose_kernel(made, true);
    *pair = made;
    return FLR_OK;
}

void flr_contact_pair_destroy(flr_contact_pair *pair)
{
    if (!pair) return;
    flr_contact_table_destroy(pair->own);
    free(pair->contacts);
    free(pair);
}

const flr_contact *flr_contact_list(const flr_contact_pair *pair) { return pair->contacts; }
const char *flr_contact_pair_simd(const flr_contact_pair *pair) { return pair->simd; }

size_t flr_contact_pair_bytes(const flr_contact_pair *pair)
{
    return sizeof *pair + (pair->own ? flr_contact_table_bytes(pair->own) : 0) +
           pair->def.capacity * sizeof *pair->contacts;
}

/* ---- how far is everything from here? ---- */

typedef struct query {
    flr_contact_pair *pair;
    flr_contact_frame frame;
    flr_contact_sums sums;
    double around; /* voxels: what is added to a radius: displacement, rounding */
    double reach;  /* voxels: layers that matter, with the near one */
    double per_metre;
    double least;   /* voxels: of what was skipped, the nearest that the other part can be */
    float slack;    /* voxels: what single precision may be off by */
    uint32_t limit; /* marks up to this are candidates */
    uint64_t tested;
} query;

static flr_vec3 in_voxels(const query *q, const float c[3])
{
    return flr_contact_voxels(&q->frame, (double)c[0], (double)c[1], (double)c[2]);
}

/* Is a sphere whose centre is `far` voxels from the field too far away to matter? If so, it still bounds the distance. */
static inline bool skip(query *q, double far, double radius)
{
    double gap = far - 1 - radius - q->around;
    if (!(gap >= q->reach)) return false;
    if (gap < q->least) q->least = gap;
    return true;
}

/* ---- points ---- */

static void scan_group(query *q, uint32_t chunk, flr_label label, uint32_t first, uint32_t count,
                       flr_scan_job *job)
{
    uint16_t hits[32];
    flr_contact_stencil around;
    const flr_shell *shell = q->frame.shell;
    job->field = &q->pair->fields[flr_contact_field(&q->frame, label)];
    job->normal = q->frame.displacement != 0 ? shell->normal + first : NULL;
    job->x = shell->x + first, job->y = shell->y + first, job->z = shell->z + first;
    job->count = count;
    uint32_t least = q->pair->kernel(job, hits);
    q->tested += count;
    flr_contact_bound(&q->frame, least == job->free ? FLR_MARK_FREE : least, &q->sums);
    for (uint32_t i = 0; i < count; i += 16)
        for (uint32_t rest = hits[i / 16]; rest; rest &= rest - 1) {
            uint32_t point = first + i + (uint32_t)__builtin_ctz(rest);
            flr_contact_point p = flr_contact_place(&q->frame, chunk, point);
            uint32_t mark = flr_table_mark(job->field, p.at);
            flr_table_look_around(&q->frame, q->pair->fields, job->field, p.at, mark, &around);
            flr_contact_add(&q->frame, p, mark, &around, point, label, &q->sums, q->pair->contacts,
                            q->pair->def.capacity);
        }
}

/* What takes the steps of a chunk to voxels, counted from the voxel at its corner. */
static void aim(const query *q, const flr_shell_chunk *c, flr_scan_job *job)
{
    flr_vec3 corner = in_voxels(q, c->corner);
    const double at[3] = {corner.x, corner.y, corner.z}, step = (double)q->frame.shell->step;
    for (int axis = 0; axis < 3; axis++) {
        double base = floor(at[axis]);
        job->base[axis] = (int32_t)base;
        for (int i = 0; i < 3; i++)
            job->matrix[axis][i] = (float)(q->frame.to_voxels.m[axis][i] * step);
        job->matrix[axis][3] = (float)(at[axis] - base);
        for (int i = 0; i < 3; i++)
            job->turn[axis][i] = (float)(-q->frame.displacement * q->frame.rotation.m[axis][i]);
    }
}

static void query_chunk(query *q, uint32_t chunk)
{
    const flr_shell_chunk *c = &q->frame.shell->chunks[chunk];
    flr_vec3 v = in_voxels(q, c->centre);
    double radius = (double)c->radius * q->per_metre,
           beyond = flr_table_outside(q->pair->fields, v);
    q->tested++;
    double far = flr_table_by_mark(q->pair->def.voxmap,
                                   flr_table_mark(&q->pair->fields[FLR_FIELD_SURFACE], v), beyond);
    /* beyond the field the chunk distances know more: asked where the mark alone would bound the distance */
    if (far > q->frame.voxmap->header->range && far - 1 - radius - q->around < q->least)
        far = flr_larger(far, flr_table_by_chunks(q->pair->def.voxmap, v, beyond));
    if (skip(q, far, radius)) return;

    flr_scan_job job = {.slack = q->slack, .limit = q->limit, .free = 256};
    bool aimed = false;
    uint32_t first = c->first;
    for (int label = 0; label < FLR_LABEL_COUNT; label++) {
        uint32_t count = c->count[label];
        if (!count) continue;
        flr_field field = flr_contact_field(&q->frame, (flr_label)label);
        /* a chunk near a face may still be far from every edge or vertex; but inside, every field has a mark */
        bool matters = true;
        if (field != FLR_FIELD_SURFACE && far >= radius + q->around) {
            q->tested++;
            matters = !skip(q,
                            flr_table_by_mark(q->pair->def.voxmap,
                                              flr_table_mark(&q->pair->fields[field], v), beyond),
                            radius);
        }
        if (matters) {
            if (!aimed) aim(q, c, &job);
            aimed = true;
            scan_group(q, chunk, (flr_label)label, first, count, &job);
        }
        first += count;
    }
}

/* What single precision may move a point by, in voxels: a few roundings of sums as large as a chunk of the shell is wide,
 * and of the displacement along a normal that is rounded itself. */
static float rounding(const query *q)
{
    double wide = 65536 * (double)q->frame.shell->step * q->per_metre;
    double off = 4e-7 * (1.74 * wide + 1) + 2e-6 * fabs(q->frame.displacement);
    return (float)flr_larger(off, 2e-5);
}

void flr_contact_query(flr_contact_pair *pair, flr_pose T_world_shell, flr_pose T_world_voxmap,
                       const flr_contact_params *params, flr_contact_result *result)
{
    query q = {.pair = pair, .sums = flr_contact_no_sums(), .least = INFINITY};
    const flr_shell *shell = pair->def.shell;
    if (!shell || !flr_contact_begin(&q.frame, shell, pair->def.voxmap, T_world_shell,
                                     T_world_voxmap, params)) {
        *result = flr_contact_nothing();
        return;
    }
    double s = pair->def.voxmap->header->grid.voxel, moved = fabs(q.frame.displacement);
    q.per_metre = 1 / s;
    q.around = moved + 1e-3;
    q.slack = rounding(&q);
    q.reach = q.frame.force_mark - 1.0; /* the near layer: one beyond the force layer */
    q.limit = q.frame.force_mark + 1;

    flr_vec3 v = in_voxels(&q, shell->centre);
    bool far =
        skip(&q, flr_table_by_chunks(pair->def.voxmap, v, flr_table_outside(pair->fields, v)),
             (double)shell->radius / s);
    if (!params->cull) q.reach = INFINITY; /* from here on nothing is far enough */
    for (uint32_t i = 0; !far && i < shell->hyper_count; i++) {
        const flr_shell_hyper *hyper = &shell->hypers[i];
        v = in_voxels(&q, hyper->centre);
        q.tested++;
        if (skip(&q, flr_table_by_chunks(pair->def.voxmap, v, flr_table_outside(pair->fields, v)),
                 (double)hyper->radius / s))
            continue;
        for (uint32_t k = 0; k < hyper->chunk_count; k++) query_chunk(&q, hyper->first_chunk + k);
    }
    /* what was skipped is at least so far away; half a diagonal of a shell's voxel is left to its surface */
    double lower = flr_larger(0, q.least * s - 0.8660254037844387 * shell->voxel);
    if (lower < q.sums.lower) q.sums.lower = lower;
    flr_contact_finish(&q.frame, &q.sums, result);
    result->points_tested = q.tested;
    result->far = far;
}
