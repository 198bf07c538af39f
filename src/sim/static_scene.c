/* what stays, merged into one voxmap in the background. A part that a hand takes leaves it at once, in the loop; the
 * rest is merged again when it has stood still for a while */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/engine_internal.h"

static const int64_t settle_ns = 250000000;

/* ---- as one ---- */

flr_static_scene *flr_static_scene_bare(uint32_t room)
{
    flr_static_scene *g = calloc(1, sizeof *g);
    size_t n = (size_t)room + 1;
    if (!g) return NULL;
    atomic_init(&g->users, 1);
    g->ids = calloc(n, sizeof *g->ids);
    g->poses = calloc(n, sizeof *g->poses);
    g->shapes = calloc(n, sizeof *g->shapes);
    if (g->ids && g->poses && g->shapes) return g;
    flr_static_scene_release(g);
    return NULL;
}

void flr_static_scene_add(flr_static_scene *g, uint32_t part, flr_shape *shape,
                          flr_pose T_world_part)
{
    g->ids[g->count] = part;
    g->poses[g->count] = T_world_part;
    g->shapes[g->count++] = flr_shape_retain(shape);
}

flr_static_scene *flr_static_scene_retain(flr_static_scene *merged)
{
    atomic_fetch_add(&merged->users, 1);
    return merged;
}

void flr_static_scene_release(flr_static_scene *merged)
{
    if (!merged || atomic_fetch_sub(&merged->users, 1) != 1) return;
    flr_contact_table_destroy(merged->table);
    flr_voxmap_destroy(merged->voxmap);
    for (uint32_t i = 0; merged->shapes && i < merged->count; i++)
        flr_shape_release(merged->shapes[i]);
    free(merged->ids);
    free(merged->poses);
    free(merged->shapes);
    free(merged);
}

static flr_result add_part(flr_merge *merge, const flr_static_scene *g, uint32_t i, uint32_t *id,
                           flr_error *error)
{
    flr_merge_part part = flr_default_merge_part();
    part.mesh = g->shapes[i]->mesh->mesh;
    part.T_voxmap_part = g->poses[i];
    part.hollow = g->shapes[i]->hollow;
    return flr_merge_add(merge, &part, id, error);
}

/* All parts of a scene have the same marks. */
static void take_marks(const flr_shape *shape, flr_merge_def *how)
{
    const flr_voxelize_def made = flr_shape_how(shape, false);
    how->bits = made.bits, how->range = made.range, how->offset = made.offset;
}

/* Makes its voxels, with a merge that has its parts. `before` as in flr_merge_build(). */
static flr_result build_scene(flr_static_scene *g, flr_merge *merge, const flr_voxmap *before,
                              flr_error *error)
{
    flr_result result = flr_merge_build(merge, before, &g->voxmap, NULL, error);
    if (result == FLR_OK) result = flr_contact_table_create(g->voxmap, &g->table, error);
    if (result == FLR_OK) g->touch = flr_pairs_shape_make(NULL, g->table);
    return result;
}

flr_result flr_static_scene_merge(flr_static_scene *g, const flr_part_list *parts, unsigned threads,
                                  bool (*go_on)(void *context, uint32_t part), void *context,
                                  flr_error *error)
{
    flr_merge_def how = flr_default_merge_def();
    flr_merge *merge;
    flr_error why;
    uint32_t id;
    how.voxel = g->count ? g->shapes[0]->voxel : 0;
    if (g->count) take_marks(g->shapes[0], &how);
    how.threads = threads;
    flr_result result = flr_merge_create(&how, &merge, error);
    if (result != FLR_OK) return result;
    for (uint32_t i = 0; i < g->count && result == FLR_OK; i++) {
        result = !go_on || go_on(context, g->ids[i]) ? add_part(merge, g, i, &id, &why)
                                                     : flr_fail(&why, FLR_CANCELLED, "stopped");
        if (result != FLR_OK)
            flr_fail(error, result, "part \"%s\": %s", flr_part_list_find(parts, g->ids[i])->name,
                     why.message);
    }
    if (result == FLR_OK) result = build_scene(g, merge, NULL, error);
    flr_merge_destroy(merge);
    return result;
}

void flr_static_scene_set(const flr_static_scene *g, flr_world *world)
{
    flr_pairs_merged what = {.shape = g->touch,
                             .T_world_voxmap = flr_pose_identity(),
                             .parts = g->ids,
                             .part_count = g->count};
    flr_world_set_merged(world, &what);
}

/* ---- in the background ---- */

/* the merge, and which parts are in it */
typedef struct flr_merging {
    flr_merge *merge;
    double voxel;
    uint32_t count, room;
    struct merged {
        flr_shape *shape; /* used */
        flr_pose pose;
        uint32_t id;
        bool wanted;
    } * parts;
} merging;

static void free_mix(merging *mix)
{
    if (!mix) return;
    for (uint32_t i = 0; i < mix->count; i++) flr_shape_release(mix->parts[i].shape);
    flr_merge_destroy(mix->merge);
    free(mix->parts);
    free(mix);
}

void flr_engine_free_merged(flr_engine *e)
{
    flr_static_scene_release(e->merged);
    free_mix(e->mix);
}

/* ---- the worker ---- */

typedef struct merged_job {
    flr_job job;
    flr_static_scene *merged; /* wanted: ids, poses, shapes; filled with voxels */
    flr_static_scene *before; /* used; NULL: none */
    merging *mix;
    unsigned threads;
} merged_job;

static bool same(const struct merged *m, const flr_static_scene *g, uint32_t i)
{
    return m->shape == g->shapes[i] && memcmp(&m->pose, &g->poses[i], sizeof m->pose) == 0;
}

/* Takes out what is not wanted any more. */
static flr_result take_out(merging *mix, const flr_static_scene *g, flr_error *error)
{
    uint32_t asset = 0;
    flr_result result = FLR_OK;
    for (uint32_t k = 0; k < mix->count; k++) {
        struct merged *m = &mix->parts[k];
        m->wanted = false;
        for (uint32_t i = 0; i < g->count && !m->wanted; i++) m->wanted = same(m, g, i);
        if (!m->wanted && result == FLR_OK) result = flr_merge_remove(mix->merge, m->id, error);
        if (m->wanted)
            mix->parts[asset++] = *m;
        else
            flr_shape_release(m->shape);
    }
    mix->count = asset;
    return result;
}

static flr_result put_in(merging *mix, flr_job *job, const flr_static_scene *g, uint32_t i,
                         flr_error *error)
{
    for (uint32_t k = 0; k < mix->count; k++)
        if (same(&mix->parts[k], g, i)) return FLR_OK;
    if (!flr_job_progress(job, 0.8 * i / g->count, "merging"))
        return flr_fail(error, FLR_CANCELLED, "cancelled");
    if (!FLR_GROW(mix->parts, mix->count, mix->room, 16)) return flr_engine_no_memory(error);
    struct merged *m = &mix->parts[mix->count];
    flr_result result = add_part(mix->merge, g, i, &m->id, error);
    if (result != FLR_OK) return result;
    m->shape = flr_shape_retain(g->shapes[i]);
    m->pose = g->poses[i];
    mix->count++;
    return FLR_OK;
}

static void merged_work(flr_job *job)
{
    merged_job *g = (merged_job *)job;
    flr_error *error = &job->error;
    merging *mix = g->mix;
    job->result = FLR_OK;
    if (!mix->merge) {
        flr_merge_def def = flr_default_merge_def();
        def.voxel = mix->voxel;
        def.threads = g->threads;
        if (g->merged->count) take_marks(g->merged->shapes[0], &def);
        job->result = flr_merge_create(&def, &mix->merge, error);
    }
    if (job->result == FLR_OK) job->result = take_out(mix, g->merged, error);
    for (uint32_t i = 0; i < g->merged->count && job->result == FLR_OK; i++)
        job->result = put_in(mix, job, g->merged, i, error);
    if (job->result == FLR_OK) {
        flr_job_progress(job, 0.8, "merging");
        job->result =
            build_scene(g->merged, mix->merge, g->before ? g->before->voxmap : NULL, error);
    }
}

static void merged_done(flr_engine *e, flr_job *job)
{
    merged_job *g = (merged_job *)job;
    e->merging = false;
    e->mix = g->mix;
    g->mix = NULL;
    if (job->result != FLR_OK) {
        free_mix(e->mix); /* half of it may be there: begin anew */
        e->mix = NULL;
        return;
    }
    flr_sim_command command = {.kind = FLR_SIM_COMMAND_STATIC_SCENE,
                               .as.static_scene = {g->merged}};
    flr_static_scene_retain(g->merged); /* the loop's */
    if (flr_engine_send(e, &command, NULL) != FLR_OK) {
        flr_static_scene_release(g->merged);
        return;
    }
    flr_static_scene_release(e->merged);
    e->merged = g->merged;
    g->merged = NULL;
}

static void merged_drop(flr_job *job)
{
    merged_job *g = (merged_job *)job;
    flr_static_scene_release(g->merged);
    flr_static_scene_release(g->before);
    free_mix(g->mix);
    free(g);
}

/* ---- control ---- */

typedef struct sized {
    double voxel;
    uint32_t index; /* of the part */
    bool counts;
} sized;

static int by_size(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    if (x->voxel != y->voxel) return x->voxel < y->voxel ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The size that most of what stays has voxels of, and no finer than that of a part that may move: points of this one would be too
 * far apart. */
static double common_voxel(const flr_engine *e)
{
    const flr_part_list *parts = &e->members;
    sized *sizes = malloc((parts->count + 1) * sizeof *sizes);
    double best = 0, moving = 0;
    uint32_t most = 0, first = 0;
    for (uint32_t i = 0; i < parts->count; i++)
        if (parts->list[i].kind != FLR_PART_STATIC)
            moving = fmax(moving, parts->list[i].shape->voxel);
    for (uint32_t i = 0; sizes && i < parts->count; i++) {
        const flr_part_entry *m = &parts->list[i];
        bool counts =
            m->kind != FLR_PART_FREE && !flr_shape_is_bare(m->shape) && !(m->shape->voxel < moving);
        sizes[i] = (sized){m->shape->voxel, i, counts};
    }
    if (sizes) qsort(sizes, parts->count, sizeof *sizes, by_size);
    for (uint32_t i = 0, next; sizes && i < parts->count; i = next) {
        uint32_t count = 0;
        for (next = i; next < parts->count && sizes[next].voxel == sizes[i].voxel; next++)
            count += sizes[next].counts;
        if (count < most || (count == most && !(count > 0 && sizes[i].index < first))) continue;
        best = sizes[i].voxel;
        most = count;
        first = sizes[i].index;
    }
    free(sizes);
    return best;
}

static bool stays(const flr_engine *e, const flr_part_entry *m, double voxel, flr_pose *pose)
{
    const flr_engine_state *s = e->state;
    *pose = m->T_start;
    if (m->use == FLR_PART_USE_PASS || m->shape->voxel != voxel || m->kind == FLR_PART_FREE ||
        flr_shape_is_bare(m->shape) || m->shape->pager ||
        flr_part_list_is_jointed(&e->members, m->part))
        return false;
    if (m->kind == FLR_PART_STATIC) return true;
    uint32_t at = flr_engine_state_find(s, flr_engine_part_id(e, m->part));
    if (at == FLR_ENGINE_NONE) return false;
    *pose = s->parts[at].T_world_part;
    return !s->parts[at].moves && s->parts[at].solid;
}

/* What should be one now. NULL: nothing, or no memory. */
static flr_static_scene *wanted_merged(const flr_engine *e, double voxel)
{
    flr_static_scene *g = flr_static_scene_bare(e->members.count);
    flr_pose pose;
    for (uint32_t i = 0; g && i < e->members.count; i++) {
        const flr_part_entry *m = &e->members.list[i];
        if (stays(e, m, voxel, &pose)) flr_static_scene_add(g, m->part, m->shape, pose);
    }
    if (g && g->count > 1) return g;
    flr_static_scene_release(g);
    return NULL;
}

static flr_hash hash_merged(const flr_static_scene *g)
{
    flr_hash ids = flr_hash_bytes(g->ids, g->count * sizeof *g->ids),
             poses = flr_hash_bytes(g->poses, g->count * sizeof *g->poses),
             shapes = flr_hash_bytes(g->shapes, g->count * sizeof(flr_shape *));
    return (flr_hash){ids.low ^ 3 * poses.low ^ 5 * shapes.low,
                      ids.high ^ 7 * poses.high ^ 11 * shapes.high};
}

static bool equal(const flr_static_scene *a, const flr_static_scene *b)
{
    return a && b && a->count == b->count &&
           memcmp(a->ids, b->ids, a->count * sizeof *a->ids) == 0 &&
           memcmp(a->poses, b->poses, a->count * sizeof *a->poses) == 0 &&
           memcmp(a->shapes, b->shapes, a->count * sizeof(flr_shape *)) == 0;
}

static void post_merge(flr_engine *e, flr_static_scene *wanted, double voxel)
{
    merged_job *g = calloc(1, sizeof *g);
    merging *mix = e->mix;
    if (mix && mix->voxel != voxel) {
        free_mix(mix);
        mix = e->mix = NULL;
    }
    if (!mix) mix = calloc(1, sizeof *mix);
    if (!g || !mix) {
        free(g);
        if (mix != e->mix) free(mix);
        flr_static_scene_release(wanted);
        return;
    }
    mix->voxel = voxel;
    *g = (merged_job){.merged = wanted, .mix = mix, .threads = e->def.threads};
    // marks that have not changed are copied from the one before, if the merge still knows it
    if (e->merged && e->mix && e->mix->merge) g->before = flr_static_scene_retain(e->merged);
    g->job = (flr_job){.work = merged_work, .done = merged_done, .drop = merged_drop};
    e->mix = NULL;
    e->merging = true;
    flr_engine_post(e, &g->job, FLR_WIRE_JOB_MERGE, FLR_NO_PART_ID, "what stays", NULL);
}

void flr_engine_keep_merged(flr_engine *e)
{
    if (!e->def.merge || e->merging || e->dirty || e->rebuilding || e->replay || e->loading) return;
    if (e->kind != FLR_ENGINE_SHELL) return; /* the others ask parts one by one */
    int64_t now = flr_clock_ns(e->def.env);
    if (now - e->merged_ns < settle_ns / 5) return;
    if (!flr_engine_refresh(e) || e->state->scene != e->scene) return;
    e->merged_ns = now;
    double voxel = common_voxel(e);
    flr_static_scene *wanted = wanted_merged(e, voxel);
    if (!wanted || (equal(wanted, e->merged) && e->state->merged)) {
        flr_static_scene_release(wanted);
        return;
    }
    flr_hash hash = hash_merged(wanted);
    bool settled = hash.low == e->settled.low && hash.high == e->settled.high;
    if (!settled) {
        e->settled = hash;
        e->settled_ns = now;
    }
    if (settled && now - e->settled_ns >= settle_ns)
        post_merge(e, wanted, voxel);
    else
        flr_static_scene_release(wanted);
}
