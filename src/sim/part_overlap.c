/* parts that stand inside others: a worker looks when parts have become ready or were put somewhere, and feeler reports it,
 * again whenever such a part is taken. What is inside already is pushed out where it is not deep, but not held back there
 * until it has come out (docs/contact.md, "Parts in contact"), which somebody who drags it would take for a fault */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "feeler/base.h"
#include "feeler/voxels.h"
#include "mesh/nearest.h"
#include "sim/engine_internal.h"
#include "sim/gaps.h"

enum {
    SAMPLES = 96,                /* points whose depth is measured */
    PAGED_SAMPLES = 24,          /* … in a part that is paged: each against all triangles */
    MAX_TRIANGLES = 400000,      /* of a mesh that is sorted for that */
    PART_OVERLAP_MAX_PARTS = 256 /* that are looked at when a scene is opened */
};

typedef struct overlap_job {
    flr_job job;
    uint32_t scene;
    flr_env *env;
    flr_cache cache;
    bool exact;             /* by triangles, as the exact engine does */
    uint32_t count, wanted; /* parts; the first `wanted` of them are asked about */
    /* [count]: T_start is where they are now; shapes are used; `overlap` is what was found */
    flr_part_entry *list;
    flr_part_list all; /* with their joints */
} overlap_job;

/* ---- a pair ---- */

/* The deepest of some points of one part that are inside another, metres, and where that is in the world; 0: none is. */
static double depth_in(const flr_part_entry *of, const flr_part_entry *in, flr_vec3 *where,
                       flr_error *error)
{
    const flr_shell *shell = of->shape->shell;
    flr_pose T = flr_pose_mul(flr_pose_inverse(in->T_start), of->T_start);
    flr_vec3 samples[SAMPLES];
    uint32_t inside = 0, asset = 0, stride = 1;
    for (uint32_t c = 0; c < shell->chunk_count; c++) {
        const flr_shell_chunk *chunk = &shell->chunks[c];
        uint32_t count = 0;
        for (int label = 0; label < FLR_LABEL_COUNT; label++) count += chunk->count[label];
        for (uint32_t i = 0; i < count; i++) {
            flr_vec3 at = flr_pose_apply(T, flr_shell_point(shell, c, chunk->first + i, 0));
            if (flr_voxmap_mark(in->shape->voxmap, FLR_FIELD_SURFACE, at) != FLR_MARK_INTERIOR)
                continue;
            if (inside++ % stride) continue;
            /* evenly over all of them: when there is no room, every other one goes */
            if (asset == SAMPLES) {
                for (asset = 0; asset < SAMPLES / 2; asset++) samples[asset] = samples[2 * asset];
                stride *= 2;
            }
            samples[asset++] = at;
        }
    }
    if (inside == 0) return 0;
    double deepest = in->shape->voxel; /* an interior voxel is one below the surface, at least */
    *where = flr_pose_apply(in->T_start, samples[0]);
    const flr_mesh *mesh = in->shape->mesh->mesh;
    flr_exact *exact = NULL;
    if (mesh->triangle_count > MAX_TRIANGLES ||
        flr_exact_create(mesh, in->shape->voxmap, 1, &exact, error) != FLR_OK)
        return deepest;
    for (uint32_t i = 0; i < asset; i++) {
        flr_exact_result r = flr_exact_distance(exact, samples[i], INFINITY, 0);
        if (!r.found || -r.distance <= deepest) continue;
        deepest = -r.distance;
        *where = flr_pose_apply(in->T_start, samples[i]);
    }
    flr_exact_destroy(exact);
    return deepest;
}

static bool may_meet(const flr_part_entry *shell, const flr_part_entry *voxels)
{
    flr_contact_params params = flr_default_contact_params();
    flr_contact_result r;
    flr_contact_reference(shell->shape->shell, voxels->shape->voxmap, shell->T_start,
                          voxels->T_start, &params, NULL, 0, &r);
    return !r.far && r.penetrations > 0;
}

static bool surfaces_meet(const flr_part_entry *a, const flr_part_entry *b, flr_vec3 *where,
                          flr_error *error)
{
    const flr_gauge_part *one, *other;
    flr_gauge_params params = flr_default_gauge_params();
    flr_gauge_result r;
    params.max_distance = 0;
    if (flr_mesh_asset_gauge(a->shape->mesh, &one, error) != FLR_OK ||
        flr_mesh_asset_gauge(b->shape->mesh, &other, error) != FLR_OK)
        return false;
    flr_gauge_distance(one, other, a->T_start, b->T_start, &params, NULL, &r);
    if (r.found && r.meet) *where = r.a.point;
    return r.found && r.meet;
}

static bool are_near(const flr_part_entry *a, const flr_part_entry *b)
{
    flr_vec3 from = flr_pose_apply(a->T_start, a->shape->touch.middle),
             to = flr_pose_apply(b->T_start, b->shape->touch.middle);
    return flr_vec3_distance(from, to) <= a->shape->touch.radius + b->shape->touch.radius;
}

/* ---- a pair of which one is paged ---- */

/* How far a point is from the nearest triangle, metres. */
static double distance_to(const flr_mesh *mesh, flr_vec3 at)
{
    double least = INFINITY;
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        flr_vec3 t[3];
        for (int k = 0; k < 3; k++) t[k] = mesh->vertices[mesh->triangles[i].v[k]];
        least = fmin(least, flr_triangle_point2(t, at));
    }
    return sqrt(least);
}

/* Of the voxels of `in` only the directory is in memory, which knows what is deep inside; where it does not know, triangles
 * tell. So nothing is read, and nothing waits. */
static bool overlaps_paged(const flr_part_entry *of, const flr_part_entry *in, double *depth,
                           flr_vec3 *where, flr_error *error)
{
    const flr_shell *shell = of->shape->shell;
    const flr_mesh *mesh = in->shape->mesh->mesh;
    const flr_pose T = flr_pose_mul(flr_pose_inverse(in->T_start), of->T_start);
    flr_vec3 samples[PAGED_SAMPLES];
    uint32_t inside = 0, unknown = 0;
    for (uint32_t c = 0; c < shell->chunk_count; c++) {
        const flr_shell_chunk *chunk = &shell->chunks[c];
        uint32_t count = 0;
        for (int label = 0; label < FLR_LABEL_COUNT; label++) count += chunk->count[label];
        for (uint32_t i = 0; i < count; i++) {
            flr_vec3 at = flr_pose_apply(T, flr_shell_point(shell, c, chunk->first + i, 0));
            flr_pager_place place = flr_pager_look(in->shape->pager, at);
            unknown += place == FLR_PAGER_UNKNOWN;
            if (place != FLR_PAGER_INSIDE) continue;
            /* each has the same chance to be among the samples, by a fixed order of numbers */
            uint32_t to = inside < PAGED_SAMPLES ? inside : inside * 2654435761u % (inside + 1);
            if (to < PAGED_SAMPLES) samples[to] = at;
            inside++;
        }
    }
    if (inside > 0) *depth = in->shape->voxel, *where = flr_pose_apply(in->T_start, samples[0]);
    for (uint32_t i = 0; i < inside && i < PAGED_SAMPLES; i++) {
        const double deep =
            mesh->triangle_count <= MAX_TRIANGLES ? distance_to(mesh, samples[i]) : 0;
        if (deep > *depth) *depth = deep, *where = flr_pose_apply(in->T_start, samples[i]);
    }
    return inside > 0 || (unknown > 0 && surfaces_meet(of, in, where, error));
}

/* Whether two parts overlap, how deep, and where. */
static bool overlaps(const flr_part_entry *a, const flr_part_entry *b, double *depth,
                     flr_vec3 *where, flr_error *error)
{
    *depth = 0;
    if (!a->shape->voxmap || !a->shape->shell || !are_near(a, b)) return false;
    if (b->shape->pager) return overlaps_paged(a, b, depth, where, error);
    if (!b->shape->voxmap) return false;
    bool there = may_meet(a, b), back = b->shape->shell && may_meet(b, a);
    flr_vec3 at = {0};
    if (there) *depth = depth_in(a, b, where, error);
    const double deep = back ? depth_in(b, a, &at, error) : 0;
    if (deep > *depth) *depth = deep, *where = at;
    if (*depth > 0) return true;
    if (!there && !back) return false;
    /* only surfaces are near: triangles tell */
    return surfaces_meet(a, b, where, error);
}

/* By triangles: whether surfaces meet or one part is inside the other. */
static bool overlaps_exactly(const overlap_job *o, const flr_part_entry *a, const flr_part_entry *b,
                             double *depth, flr_vec3 *where, flr_error *error)
{
    flr_gap gap;
    if (!are_near(a, b)) return false;
    flr_result result = flr_gap_measure(o->env, &o->cache, a->shape->mesh, a->T_start,
                                        b->shape->mesh, b->T_start, FLR_GAP_MEET, &gap, error);
    if (result != FLR_OK || gap.distance > 0) return false;
    *depth = -gap.distance;
    *where = gap.from;
    return true;
}

/* ---- the job ---- */

static void overlap_work(flr_job *job)
{
    overlap_job *o = (overlap_job *)job;
    for (uint32_t i = 0; i < o->wanted && !atomic_load(&job->cancelled); i++) {
        flr_part_overlap *found = &o->list[i].overlap;
        *found = (flr_part_overlap){.other = FLR_ENGINE_NONE};
        for (uint32_t k = 0; k < o->count; k++) {
            double depth;
            flr_vec3 where = {0};
            const flr_part_entry *a = &o->list[i], *b = &o->list[k];
            if (k == i || flr_part_list_are_tied(&o->all, a, b)) continue;
            if (!(o->exact ? overlaps_exactly(o, a, b, &depth, &where, &job->error)
                           : overlaps(a, b, &depth, &where, &job->error)))
                continue;
            if (found->there && depth <= found->depth) continue;
            *found = (flr_part_overlap){true, o->list[k].part, depth, where};
        }
    }
    job->result = FLR_OK;
}

/* One sentence for all of them: `more` besides this one. */
static void print_overlap(const flr_engine *e, const flr_part_entry *part, uint32_t more,
                          char sentence[FLR_ERROR_MESSAGE_SIZE])
{
    const flr_part_overlap *o = &part->overlap;
    const flr_part_entry *other = flr_part_list_find(&e->members, o->other);
    char depth[FLR_SIZE_TEXT_SIZE], text[300], others[64] = "";
    double rounded = o->depth;
    if (rounded > 0) { /* two digits are all that points of voxels are worth */
        double unit = pow(10, floor(log10(rounded)) - 1);
        rounded = round(rounded / unit) * unit;
    }
    if (rounded > 0)
        snprintf(text, sizeof text, "%.80s is up to %s deep inside %.80s", part->name,
                 flr_size_print(rounded, depth), other ? other->name : "another part");
    else
        snprintf(text, sizeof text, "the surfaces of %.80s and %.80s meet", part->name,
                 other ? other->name : "another part");
    if (more > 0)
        snprintf(others, sizeof others, ", and %u more %s inside others", more,
                 flr_noun(more, "part is", "parts are"));
    if (e->kind == FLR_ENGINE_EXACT) {
        snprintf(sentence, FLR_ERROR_MESSAGE_SIZE,
                 "%.280s%.60s: it can be moved out, as deep as %s, and is kept apart once it has "
                 "come free",
                 text, others, FLR_SIZE_TEXT(e->tuning.world.exact.overlap));
        return;
    }
    snprintf(sentence, FLR_ERROR_MESSAGE_SIZE,
             "%.280s%.60s: it is pushed out or let through, and contact forces mean little until "
             "the parts are apart. Move it clear first, correct its position, or use the exact "
             "engine",
             text, others);
}

static void tell(flr_engine *e, const flr_part_entry *part, uint32_t more)
{
    char sentence[FLR_ERROR_MESSAGE_SIZE];
    print_overlap(e, part, more, sentence);
    flr_engine_news(e, FLR_WIRE_EVENT_WARNING, flr_engine_part_id(e, part->part), FLR_NO_HAND_ID,
                    "%s", sentence);
}

bool flr_engine_overlap(const flr_engine *e, flr_part_id *part,
                        char sentence[FLR_ERROR_MESSAGE_SIZE])
{
    const flr_part_entry *first = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->members.count; i++) {
        const flr_part_entry *m = &e->members.list[i];
        if (!m->overlap.there || !flr_part_list_find(&e->members, m->overlap.other)) continue;
        if (!first) first = m;
        count++;
    }
    if (!first) return false;
    *part = flr_engine_part_id(e, first->part);
    print_overlap(e, first, count - 1, sentence);
    return true;
}

static bool is_listed(const flr_engine_state *state, uint32_t part, uint32_t other)
{
    for (uint32_t i = 0; i < state->overlap_count; i++) {
        const uint32_t a = state->overlaps[i].part.index, b = state->overlaps[i].other.index;
        if ((a == part && b == other) || (a == other && b == part)) return true;
    }
    return false;
}

void flr_engine_show_overlaps(const flr_engine *e, flr_engine_state *to)
{
    if (to->scene != e->scene) return;
    const bool exact = e->kind == FLR_ENGINE_EXACT;
    if (!exact) to->overlap_count = 0;
    for (uint32_t i = 0; i < e->members.count && to->overlap_count < FLR_ENGINE_OVERLAPS; i++) {
        const flr_part_entry *m = &e->members.list[i];
        if (!m->overlap.there || !flr_part_list_find(&e->members, m->overlap.other)) continue;
        /* the exact engine knows more of those that have moved since */
        if (exact && is_listed(to, m->part, m->overlap.other)) continue;
        to->overlaps[to->overlap_count++] =
            (flr_engine_overlap_state){.part = flr_engine_part_id(e, m->part),
                                       .other = flr_engine_part_id(e, m->overlap.other),
                                       .depth = m->overlap.depth,
                                       .tolerated = exact ? e->tuning.world.exact.overlap : 0,
                                       .point = m->overlap.point};
    }
}

static void overlap_done(flr_engine *e, flr_job *job)
{
    overlap_job *o = (overlap_job *)job;
    e->overlaps.looking = false;
    if (o->scene != e->scene) return;
    uint32_t count = 0;
    const flr_part_entry *first = NULL;
    for (uint32_t i = 0; i < o->wanted; i++) {
        flr_part_entry *m = flr_part_list_find(&e->members, o->list[i].part);
        if (!m) continue;
        if (o->list[i].overlap.there && !m->overlap.there) {
            count++;
            if (!first) first = m;
        }
        m->overlap = o->list[i].overlap;
    }
    if (first) tell(e, first, count - 1);
}

static void overlap_drop(flr_job *job)
{
    overlap_job *o = (overlap_job *)job;
    for (uint32_t i = 0; i < o->count; i++) flr_shape_release(o->list[i].shape);
    flr_part_list_free(&o->all);
    free(o->list);
    free(o);
}

/* ---- when ---- */

/* a frame reports what it did before it shows where parts are then */
static const int64_t frame_ns = 10000000;

void flr_engine_suspect_overlaps(flr_engine *e)
{
    e->overlaps.suspected = true;
    e->overlaps.due_ns = flr_clock_ns(e->def.env) + frame_ns;
}

void flr_engine_tell_overlap(flr_engine *e, uint32_t part)
{
    const flr_part_entry *m = flr_part_list_find(&e->members, part);
    if (m && m->overlap.there) tell(e, m, 0);
}

void flr_engine_settle_overlaps(flr_engine *e)
{
    for (uint32_t i = 0; i < e->members.count; i++)
        if (e->members.list[i].overlap.there) {
            flr_engine_suspect_overlaps(e);
            return;
        }
}

/* Of all that may move; these come first. NULL: no memory. */
static overlap_job *make_job(flr_engine *e)
{
    overlap_job *o = calloc(1, sizeof *o);
    if (!o || !(o->list = calloc((size_t)e->members.count + 1, sizeof *o->list))) {
        free(o);
        return NULL;
    }
    flr_engine_look_around(e, &o->all);
    for (int turn = 0; turn < 2; turn++)
        for (uint32_t i = 0; i < e->members.count; i++) {
            const flr_part_entry *m = &e->members.list[i];
            bool asked = m->kind != FLR_PART_STATIC;
            flr_engine_part now;
            if (asked != (turn == 0) || !m->there || flr_shape_is_bare(m->shape)) continue;
            flr_engine_part_at(e, i, &now);
            o->list[o->count] = *m;
            o->list[o->count].T_start = now.T_world_part;
            flr_shape_retain(m->shape);
            o->count++;
            if (asked && o->wanted < PART_OVERLAP_MAX_PARTS) o->wanted++;
        }
    o->scene = e->scene;
    o->env = e->def.env;
    o->cache = e->cache;
    o->exact = e->kind == FLR_ENGINE_EXACT;
    return o;
}

void flr_engine_keep_overlaps(flr_engine *e)
{
    if (!e->overlaps.suspected || e->overlaps.looking || e->replay || e->loading || e->dirty ||
        e->rebuilding || flr_clock_ns(e->def.env) < e->overlaps.due_ns)
        return;
    overlap_job *o = make_job(e);
    if (!o) return; /* the next service tries again */
    e->overlaps.suspected = false;
    if (o->wanted == 0) {
        overlap_drop(&o->job);
        return;
    }
    o->job =
        (flr_job){.quick = true, .work = overlap_work, .done = overlap_done, .drop = overlap_drop};
    e->overlaps.looking = true;
    flr_engine_post(e, &o->job, 0, FLR_NO_PART_ID, NULL, NULL);
}
