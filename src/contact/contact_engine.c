/* the fast engine: skip what is far, look up the rest many points at a time, judge what touches exactly
 *
 * A query is stateless. Hyperchunks, then chunks of the shell are skipped when the voxels at their centre say that
 * nothing is nearer than their radius. The points of what is left are scanned in single precision; those that touch are judged
 * with the functions and in the order of the reference, so that the sums are the same to the bit. */
#include <stdlib.h>
#include <string.h>

#include "base/prefault.h"
#include "contact/contact_engine.h"
#include "contact/worker_pool.h"

enum { CONTACT_ENGINE_ROUND = 1024 }; /* hyperchunks that threads share at a time */

/* a hyperchunk of the shell that one of several threads works on */
typedef struct contact_engine_piece {
    _Alignas(64) flr_partial part;
    uint32_t hyper;
    uint32_t first;             /* of its contacts in the list of that thread */
    uint32_t first_note, notes; /* likewise, what it noted */
    unsigned worker;
} contact_engine_piece;

struct flr_contact_pair {
    flr_contact_pair_def def;
    const flr_kernel *kernel;
    flr_flat_field fields[FLR_FIELD_COUNT]; /* as in the table */
    flr_contact_table *own;                 /* NULL: the table is borrowed */
    flr_contact *contacts;                  /* [def.capacity] */
    flr_scratch *scratch;                   /* [threads] */
    flr_pair_memory memory;
    flr_simd simd; /* the best, or the one asked for */
    flr_contact
        *lists; /* [threads][def.capacity]; NULL where there is one thread, as the following */
    contact_engine_piece *pieces;  /* [ROUND] */
    flr_near_notes *thread_notes;  /* [threads] */
    flr_near_chunk *thread_chunks; /* [threads][FLR_NEAR_CHUNKS] */
    flr_worker_pool *pool;
    const flr_query *query; /* the one that the worker pool works on */
};

flr_contact_pair_def flr_default_contact_pair_def(void)
{
    flr_contact_pair_def def = {.capacity = 1024, .simd = FLR_SIMD_BEST, .threads = 1};
    return def;
}

/* ---- making a pair ---- */

/* Gathers take 32-bit word numbers. */
static void choose_kernel(flr_contact_pair *pair, bool small)
{
    if (pair->simd == FLR_SIMD_AVX512)
        pair->kernel = small ? &flr_kernel_avx512 : &flr_kernel_avx2;
    else if (pair->simd == FLR_SIMD_AVX2)
        pair->kernel = &flr_kernel_avx2;
    else if (pair->simd == FLR_SIMD_NEON && small)
        pair->kernel = &flr_kernel_neon;
    else
        pair->kernel = &flr_kernel_scalar;
}

void flr_contact_pair_aim(flr_contact_pair *pair, const flr_shell *shell,
                          const flr_contact_table *table)
{
    if (pair->def.shell != shell || pair->def.voxmap != table->voxmap)
        pair->memory.check->known = pair->memory.own_notes.known = false;
    pair->def.shell = shell;
    pair->def.voxmap = table->voxmap;
    pair->memory.rooms = NULL;
    memcpy(pair->fields, table->fields, sizeof pair->fields);
    choose_kernel(pair, table->small);
}

static void work_on_piece(void *context, uint32_t item, unsigned worker);

static unsigned threads_of(const flr_contact_pair *pair)
{
    return pair->def.threads > 1 ? pair->def.threads : 1;
}

static flr_result make_scratch(flr_contact_pair *pair, flr_error *error)
{
    const size_t capacity = pair->def.capacity ? pair->def.capacity : 1;
    const unsigned threads = threads_of(pair);
    pair->contacts = flr_prefaulted_calloc(capacity, sizeof *pair->contacts);
    pair->scratch = aligned_alloc(64, threads * sizeof *pair->scratch);
    pair->memory.check = flr_prefaulted_calloc(1, sizeof *pair->memory.check);
    pair->memory.chunks = flr_prefaulted_calloc(FLR_NEAR_CHUNKS, sizeof *pair->memory.chunks);
    pair->memory.own_notes =
        (flr_near_notes){.capacity = FLR_NEAR_CHUNKS, .chunks = pair->memory.chunks};
    pair->memory.notes = &pair->memory.own_notes;
    bool made = pair->contacts && pair->scratch && pair->memory.check && pair->memory.chunks;
    if (threads > 1) {
        pair->lists = flr_prefaulted_calloc(threads * capacity, sizeof *pair->lists);
        pair->pieces = aligned_alloc(64, CONTACT_ENGINE_ROUND * sizeof *pair->pieces);
        pair->thread_notes = flr_prefaulted_calloc(threads, sizeof *pair->thread_notes);
        pair->thread_chunks =
            flr_prefaulted_calloc((size_t)threads * FLR_NEAR_CHUNKS, sizeof *pair->thread_chunks);
        made = made && pair->lists && pair->pieces && pair->thread_notes && pair->thread_chunks;
    }
    if (!made)
        return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the lists of a contact pair");
    memset(pair->scratch, 0, threads * sizeof *pair->scratch);
    for (unsigned i = 0; i < threads; i++) {
        pair->scratch[i].contacts = pair->lists ? pair->lists + i * capacity : pair->contacts;
        pair->scratch[i].capacity = pair->def.capacity;
    }
    if (threads == 1) return FLR_OK;
    memset(pair->pieces, 0,
           CONTACT_ENGINE_ROUND * sizeof *pair->pieces); /* touched now, not in the first query */
    return flr_worker_pool_create(threads - 1, work_on_piece, pair, &pair->pool, error);
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
    made->simd = flr_simd_resolve(def->simd);
    flr_result result = make_scratch(made, error);
    if (result == FLR_OK && !def->table && def->voxmap)
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
    flr_worker_pool_destroy(pair->pool); /* before what it works with */
    flr_contact_table_destroy(pair->own);
    free(pair->lists);
    free(pair->pieces);
    free(pair->thread_notes);
    free(pair->thread_chunks);
    free(pair->contacts);
    free(pair->scratch);
    free(pair->memory.check);
    free(pair->memory.chunks);
    free(pair);
}

const flr_contact *flr_contact_list(const flr_contact_pair *pair) { return pair->contacts; }
const char *flr_contact_pair_simd(const flr_contact_pair *pair) { return pair->kernel->name; }

flr_pair_memory *flr_contact_pair_memory(flr_contact_pair *pair) { return &pair->memory; }

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

static bool moves(const flr_contact_params *params)
{
    return !is_zero(params->motion.linear) || !is_zero(params->motion.angular);
}

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
    q->memory = NULL;
    q->keep = q->rooms = false;
    q->moved = 0;
    q->moving = moves(params);
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
static bool far_sphere(const flr_query *q, const float centre[3], float radius, flr_partial *part)
{
    flr_vec3 v =
        flr_contact_voxels(&q->frame, (double)centre[0], (double)centre[1], (double)centre[2]);
    double beyond = flr_table_outside(q->fields, v), r = (double)radius * q->per_metre;
    double far = flr_table_by_chunks(q->frame.voxmap, v, beyond);
    /* a sphere of a few voxels is small enough for marks, which are finer */
    if (r + q->around + q->reach <= q->frame.voxmap->header->range) {
        uint32_t mark = flr_table_mark(q->fields, v);
        far = flr_larger(far, flr_table_by_mark(q->frame.voxmap, mark, beyond));
    }
    return flr_skip(q, far, r, part);
}

/* ---- one thread, or several ---- */

/* Adds a hyperchunk of which the contacts are in the list already. */
static void merge(flr_partial *all, const flr_partial *part)
{
    flr_contact_merge(&all->sums, &part->sums);
    if (part->least < all->least) all->least = part->least;
    if (part->room < all->room) all->room = part->room;
    all->tested += part->tested;
}

static void ask_alone(flr_contact_pair *pair, const flr_query *q, uint32_t hyper, flr_partial *all)
{
    flr_partial part = {.sums = flr_contact_no_sums(), .least = all->least, .room = all->room};
    part.sums.listed = all->sums.listed;
    flr_query_hyper(q, hyper, pair->scratch, &part);
    merge(all, &part);
    all->sums.listed = part.sums.listed;
}

static void work_on_piece(void *context, uint32_t item, unsigned worker)
{
    flr_contact_pair *pair = context;
    contact_engine_piece *p = &pair->pieces[item];
    flr_scratch *scratch = &pair->scratch[worker];
    p->part = flr_no_partial();
    p->part.sums.listed = p->first = scratch->listed;
    p->worker = worker;
    p->first_note = scratch->notes ? scratch->notes->count : 0;
    flr_query_hyper(pair->query, p->hyper, scratch, &p->part);
    p->notes = scratch->notes ? scratch->notes->count - p->first_note : 0;
    scratch->listed = p->part.sums.listed;
}

/* What a thread noted of a piece, behind what was noted of the pieces before. */
static void merge_notes(flr_contact_pair *pair, const contact_engine_piece *p)
{
    flr_near_notes *to = pair->memory.notes;
    const flr_near_notes *from = &pair->thread_notes[p->worker];
    if (!to->taking) return;
    to->taking = from->taking && p->notes <= to->capacity - to->count;
    to->full = !to->taking;
    if (!to->taking || !p->notes) return;
    memcpy(to->chunks + to->count, from->chunks + p->first_note, p->notes * sizeof *to->chunks);
    to->count += p->notes;
}

/* Who worked on what does not matter: pieces are merged in their order, each with its own sums. A thread's list has room for
 * as many contacts as the result, and a thread takes pieces in ascending order: so the first ones are all there. */
static void ask_together(flr_contact_pair *pair, uint32_t count, flr_partial *all)
{
    flr_worker_pool_run(pair->pool, count);
    for (uint32_t i = 0; i < count; i++) {
        const contact_engine_piece *p = &pair->pieces[i];
        uint32_t listed = p->part.sums.listed - p->first,
                 room = pair->def.capacity - all->sums.listed;
        if (listed > room) listed = room;
        if (listed)
            memcpy(pair->contacts + all->sums.listed, pair->scratch[p->worker].contacts + p->first,
                   listed * sizeof *pair->contacts);
        merge(all, &p->part);
        all->sums.listed += listed;
        merge_notes(pair, p);
    }
}

static void ask(flr_contact_pair *pair, const flr_query *q, flr_partial *all)
{
    const flr_shell *shell = pair->def.shell;
    uint32_t waiting = 0;
    pair->query = q;
    for (unsigned i = 0; i < threads_of(pair); i++) pair->scratch[i].listed = 0;
    for (uint32_t i = 0; i < shell->hyper_count; i++) {
        const flr_shell_hyper *hyper = &shell->hypers[i];
        all->tested++;
        if (far_sphere(q, hyper->centre, hyper->radius, all)) continue;
        if (!pair->pool) {
            ask_alone(pair, q, i, all);
            continue;
        }
        pair->pieces[waiting++].hyper = i;
        if (waiting == CONTACT_ENGINE_ROUND) {
            ask_together(pair, waiting, all);
            waiting = 0;
        }
    }
    if (waiting) ask_together(pair, waiting, all);
}

/* Notes of nothing yet: points with marks up to one beyond the force layer, at these poses. */
static void clear_notes(flr_near_notes *notes, const flr_shell *shell, const flr_voxmap *voxmap,
                        unsigned force_mark, double displacement, flr_pose T_world_shell,
                        flr_pose T_world_voxmap)
{
    notes->full = false;
    notes->count = 0;
    notes->limit = force_mark + 1;
    notes->shell = shell;
    notes->voxmap = voxmap;
    notes->displacement = displacement;
    notes->T_world_shell = T_world_shell;
    notes->T_world_voxmap = T_world_voxmap;
}

/* Near points are noted where all of them look at the surface's field, and something moves. */
static void begin_notes(flr_contact_pair *pair, const flr_query *q, flr_pose T_world_shell,
                        flr_pose T_world_voxmap)
{
    flr_near_notes *notes = pair->memory.notes;
    notes->taking = q->moving && !q->frame.awareness;
    clear_notes(notes, pair->def.shell, pair->def.voxmap, q->frame.force_mark,
                q->frame.displacement, T_world_shell, T_world_voxmap);
    pair->scratch->notes = notes->taking ? notes : NULL;
    for (unsigned i = 0; pair->pool && i < threads_of(pair); i++) {
        pair->thread_notes[i] =
            (flr_near_notes){.taking = true,
                             .capacity = FLR_NEAR_CHUNKS,
                             .chunks = pair->thread_chunks + (size_t)i * FLR_NEAR_CHUNKS};
        pair->scratch[i].notes = notes->taking ? &pair->thread_notes[i] : NULL;
    }
}

void flr_contact_query(flr_contact_pair *pair, flr_pose T_world_shell, flr_pose T_world_voxmap,
                       const flr_contact_params *params, flr_contact_result *result)
{
    flr_query q;
    pair->memory.check->known = pair->memory.notes->known = false;
    pair->memory.room = -1;
    if (!begin(&q, pair, T_world_shell, T_world_voxmap, params)) {
        *result = flr_contact_nothing();
        if (pair->memory.rooms) pair->memory.rooms->known = false;
        return;
    }
    /* one field tells all of a chunk's points */
    if (pair->memory.rooms && params->cull && !q.frame.awareness) {
        flr_chunk_memory_follow(pair->memory.rooms, &q);
        q.memory = pair->memory.rooms;
        q.keep = true;
        q.moved = q.memory->moved;
    } else if (pair->memory.rooms) {
        pair->memory.rooms->known = false;
    }
    q.rooms = params->cull && !q.frame.awareness;
    const flr_shell *shell = pair->def.shell;
    flr_partial all = flr_no_partial();
    bool far = far_sphere(&q, shell->centre, shell->radius, &all);
    if (!params->cull) q.reach = INFINITY; /* from here on nothing is far enough */
    begin_notes(pair, &q, T_world_shell, T_world_voxmap);
    if (!far) ask(pair, &q, &all);
    pair->memory.notes->known = pair->memory.notes->taking;
    if (q.rooms) pair->memory.room = all.room;
    for (unsigned i = 0; i < threads_of(pair); i++) pair->scratch[i].notes = NULL;
    /* what was skipped is at least so far away, with its displacement here */
    double lower = flr_larger(0, all.least / q.per_metre - flr_contact_around(shell, 0));
    if (lower < all.sums.lower) all.sums.lower = lower;
    flr_contact_finish(&q.frame, &all.sums, result);
    result->points_tested = all.tested;
    result->far = far;
}

void flr_contact_note_nothing(flr_contact_pair *pair, const flr_shell *shell,
                              const flr_contact_table *table, flr_pose T_world_shell,
                              flr_pose T_world_voxmap, const flr_contact_params *params)
{
    const flr_voxmap *voxmap = table->voxmap;
    pair->memory.check->known = false;
    clear_notes(pair->memory.notes, shell, voxmap, flr_contact_force_mark(voxmap, params),
                params->displacement / voxmap->header->grid.voxel, T_world_shell, T_world_voxmap);
    pair->memory.notes->known = pair->memory.notes->taking = moves(params);
}

bool flr_contact_visit(flr_contact_pair *pair, flr_pose T_world_shell, flr_pose T_world_voxmap,
                       double displacement, uint32_t limit, flr_chunk_memory *rooms, double ahead,
                       void (*visit)(void *context, uint32_t chunk, uint32_t point,
                                     flr_label label),
                       void *context, uint64_t *tested)
{
    flr_contact_params params = flr_default_contact_params();
    params.awareness = false;
    params.displacement = displacement;
    params.force_layer = limit - FLR_MARK_SURFACE;
    flr_query q;
    flr_scratch *scratch = pair->scratch;
    if (limit < FLR_MARK_SURFACE || !begin(&q, pair, T_world_shell, T_world_voxmap, &params) ||
        q.frame.force_mark != limit)
        return false;
    q.job.judged = false; /* all that touch, whether they press or not */
    q.reach -= 1;         /* and none before them */
    if (rooms && rooms->known && rooms->around == q.around) {
        q.memory = rooms;
        q.moved = rooms->moved + ahead + flr_larger(0, q.reach - rooms->reach);
    }
    scratch->visit = visit;
    scratch->context = context;
    for (uint32_t i = 0; i < pair->def.shell->hyper_count; i++) {
        const flr_shell_hyper *hyper = &pair->def.shell->hypers[i];
        flr_partial part = flr_no_partial();
        if (!far_sphere(&q, hyper->centre, hyper->radius, &part))
            flr_query_hyper(&q, i, scratch, &part);
        *tested += part.tested + 1;
    }
    scratch->visit = NULL;
    return true;
}
