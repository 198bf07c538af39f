/* the fast engine: skip what is far, look up the rest many points at a time, judge what touches exactly
 *
 * A query is stateless. Hyperchunks, then chunks of the shell are skipped when the voxels at their centre say that
 * nothing is nearer than their radius. The points of what is left are scanned in single precision; those that touch are judged
 * with the functions and in the order of the reference, so that the sums are the same to the bit. */
#include <stdlib.h>
#include <string.h>

#include "contact/engine.h"

struct flr_contact_pair {
    flr_contact_pair_def def;
    const flr_kernel *kernel;
    flr_flat_field fields[FLR_FIELD_COUNT]; /* as in the table */
    flr_contact_table *own;                 /* NULL: the table is borrowed */
    flr_contact *contacts;                  /* [def.capacity] */
    flr_scratch *scratch;
};

flr_contact_pair_def flr_default_contact_pair_def(void)
{
    flr_contact_pair_def def = {.capacity = 1024, .simd = FLR_SIMD_BEST};
    return def;
}

/* ---- making a pair ---- */

/* The best kernel, or the one asked for. Gathers take 32-bit word numbers. */
static void choose_kernel(flr_contact_pair *pair, bool small)
{
    flr_simd simd = flr_simd_resolve(pair->def.simd);
    pair->kernel = simd == FLR_SIMD_AVX512 && small ? &flr_kernel_avx512
                   : simd == FLR_SIMD_SCALAR        ? &flr_kernel_scalar
                                                    : &flr_kernel_avx2;
}

void flr_contact_pair_aim(flr_contact_pair *pair, const flr_shell *shell,
                          const flr_contact_table *table)
{
    pair->def.shell = shell;
    pair->def.voxmap = table->voxmap;
    memcpy(pair->fields, table->fields, sizeof pair->fields);
    choose_kernel(pair, table->small);
}

static bool make_scratch(flr_contact_pair *pair)
{
    pair->contacts = calloc(pair->def.capacity ? pair->def.capacity : 1, sizeof *pair->contacts);
    pair->scratch = aligned_alloc(64, sizeof *pair->scratch);
    if (!pair->contacts || !pair->scratch) return false;
    memset(pair->scratch, 0, sizeof *pair->scratch);
    pair->scratch->contacts = pair->contacts;
    pair->scratch->capacity = pair->def.capacity;
    return true;
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
    flr_result result = FLR_OK;
    if (!make_scratch(made))
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
    free(pair->scratch);
    free(pair);
}

const flr_contact *flr_contact_list(const flr_contact_pair *pair) { return pair->contacts; }
const char *flr_contact_pair_simd(const flr_contact_pair *pair) { return pair->kernel->name; }

size_t flr_contact_pair_bytes(const flr_contact_pair *pair)
{
    return sizeof *pair + (pair->own ? flr_contact_table_bytes(pair->own) : 0) +
           pair->def.capacity * sizeof *pair->contacts + sizeof *pair->scratch;
}

flr_pair_view flr_contact_pair_view(const flr_contact_pair *pair)
{
    return (flr_pair_view){pair->def.shell, pair->def.voxmap, pair->fields};
}

/* ---- asking ---- */

/* What single precision may move a point by, in voxels: a few roundings of sums as large as a chunk of the shell is wide,
 * together with its displacement and counted from a corner outside of it, and of the normal that it is displaced along,
 * whose length is known to 14 bits. */
static float rounding(const flr_query *q)
{
    double wide = 65536 * (double)q->frame.shell->step * q->per_metre;
    double moved = fabs(q->frame.displacement);
    return (float)flr_larger(8e-7 * (1.74 * wide + 2 * moved + 20) + 7e-5 * moved, 2e-5);
}

static bool is_zero(flr_vec3 v) { return v.x == 0 && v.y == 0 && v.z == 0; }

static bool begin(flr_query *q, const flr_contact_pair *pair, flr_pose T_world_shell,
                  flr_pose T_world_voxmap, const flr_contact_params *params)
{
    if (!pair->def.shell || !flr_contact_begin(&q->frame, pair->def.shell, pair->def.voxmap,
                                               T_world_shell, T_world_voxmap, params))
        return false;
    q->kernel = pair->kernel;
    q->fields = pair->fields;
    q->per_metre = 1 / pair->def.voxmap->header->grid.voxel;
    q->around = fabs(q->frame.displacement) + 1e-3;
    q->slack = rounding(q);
    q->reach = q->frame.force_mark - 1.0; /* the near layer: one beyond the force layer */
    q->moving = !is_zero(params->motion.linear) || !is_zero(params->motion.angular);
    q->job = (flr_scan_job){.slack = q->slack,
                            .force_mark = q->frame.force_mark,
                            .layer_one = q->frame.layer_one,
                            .displacement = (float)q->frame.displacement,
                            .displaced = q->frame.displacement != 0,
                            .judged = !q->frame.smooth};
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < 3; i++) {
            double step = (double)pair->def.shell->step;
            q->job.matrix[axis][i] = (float)(q->frame.to_voxels.m[axis][i] * step);
            q->job.turn[axis][i] = (float)q->frame.rotation.m[axis][i];
        }
    return true;
}

/* Is this sphere of the shell (metres) far from everything? */
static bool far_sphere(const flr_query *q, const float centre[3], float radius, flr_part *part)
{
    flr_vec3 v =
        flr_contact_voxels(&q->frame, (double)centre[0], (double)centre[1], (double)centre[2]);
    double beyond = flr_table_outside(q->fields, v);
    return flr_skip(q, flr_table_by_chunks(q->frame.voxmap, v, beyond),
                    (double)radius * q->per_metre, part);
}

void flr_contact_query(flr_contact_pair *pair, flr_pose T_world_shell, flr_pose T_world_voxmap,
                       const flr_contact_params *params, flr_contact_result *result)
{
    flr_query q;
    if (!begin(&q, pair, T_world_shell, T_world_voxmap, params)) {
        *result = flr_contact_nothing();
        return;
    }
    const flr_shell *shell = pair->def.shell;
    flr_part all = flr_no_part();
    bool far = far_sphere(&q, shell->centre, shell->radius, &all);
    if (!params->cull) q.reach = INFINITY; /* from here on nothing is far enough */
    for (uint32_t i = 0; !far && i < shell->hyper_count; i++) {
        const flr_shell_hyper *hyper = &shell->hypers[i];
        all.tested++;
        if (far_sphere(&q, hyper->centre, hyper->radius, &all)) continue;
        flr_part part = {.sums = flr_contact_no_sums(), .least = all.least};
        part.sums.listed = all.sums.listed;
        flr_query_hyper(&q, i, pair->scratch, &part);
        flr_contact_merge(&all.sums, &part.sums);
        all.sums.listed = part.sums.listed;
        all.least = part.least;
        all.tested += part.tested;
    }
    /* what was skipped is at least so far away; half a diagonal of a shell's voxel is left to its surface */
    double lower = flr_larger(0, all.least / q.per_metre - 0.8660254037844387 * shell->voxel);
    if (lower < all.sums.lower) all.sums.lower = lower;
    flr_contact_finish(&q.frame, &all.sums, result);
    result->points_tested = all.tested;
    result->far = far;
}
