/* how far what is held is from the nearest part, by triangles: a worker measures it where the loop's engine does not know it, so
 * that the loop has nothing to do with it */
#include <math.h>
#include <stdlib.h>

#include "sim/gaps.h"
#include "sim/snapshot.h"

static const int64_t gap_ns = 50000000;

#define PRECISE       2e-6 /* metres: the loop's distance is precise when it is off by less than this … */
#define PRECISE_SHARE 0.02 /* … or this share of it */

/* a figure is no longer shown when parts have moved farther than this since: metres, and of the distance */
static const double stale = 1e-4, stale_share = 0.25;

typedef struct gap_job {
    flr_job job;
    flr_cache cache;
    flr_env *env;
    flr_part_list parts;
    uint32_t scene, self; /* self: place of the part that is held */
    bool known;
    flr_gap_found found;
} gap_job;

/* Metres between the boxes of two parts, at least. */
static double between_boxes(const flr_part_entry *a, const flr_part_entry *b)
{
    flr_box3 one = flr_box3_transform(a->T_start, a->shape->mesh->mesh->bounds),
             other = flr_box3_transform(b->T_start, b->shape->mesh->mesh->bounds);
    flr_vec3 apart = {fmax(0, fmax(one.low.x - other.high.x, other.low.x - one.high.x)),
                      fmax(0, fmax(one.low.y - other.high.y, other.low.y - one.high.y)),
                      fmax(0, fmax(one.low.z - other.high.z, other.low.z - one.high.z))};
    return flr_vec3_length(apart);
}

/* The nearest by its box that was not measured yet. */
static uint32_t next_part(const gap_job *g, const bool *done, double *bound)
{
    uint32_t next = UINT32_MAX;
    *bound = INFINITY;
    for (uint32_t i = 0; i < g->parts.count; i++) {
        if (i == g->self || done[i]) continue;
        double apart = between_boxes(&g->parts.list[g->self], &g->parts.list[i]);
        if (apart < *bound || next == UINT32_MAX) *bound = apart, next = i;
    }
    return next;
}

static flr_result measure(gap_job *g, bool *done, flr_error *error)
{
    const flr_part_entry *self = &g->parts.list[g->self];
    double bound;
    uint32_t i;
    g->found.gap.distance = INFINITY;
    while ((i = next_part(g, done, &bound)) != UINT32_MAX && bound < g->found.gap.distance) {
        const flr_part_entry *other = &g->parts.list[i];
        flr_gap gap = {.distance = INFINITY};
        done[i] = true;
        if (atomic_load(&g->job.cancelled)) return flr_fail(error, FLR_CANCELLED, "cancelled");
        flr_result result =
            flr_gap_measure(g->env, &g->cache, self->shape->mesh, self->T_start, other->shape->mesh,
                            other->T_start, g->found.gap.distance, &gap, error);
        if (result != FLR_OK) return result;
        if (!(gap.distance < g->found.gap.distance)) continue;
        g->found.gap = (flr_engine_gap){.part = flr_part_id_of(g->scene, self->part),
                                        .other = flr_part_id_of(g->scene, other->part),
                                        .distance = gap.distance,
                                        .error = gap.error,
                                        .from = gap.from,
                                        .to = gap.to};
        g->found.ends[0] = (flr_gap_end){self->T_start, self->shape->mesh->mesh->bounds};
        g->found.ends[1] = (flr_gap_end){other->T_start, other->shape->mesh->mesh->bounds};
    }
    g->known = isfinite(g->found.gap.distance);
    return FLR_OK;
}

static void gap_work(flr_job *job)
{
    gap_job *g = (gap_job *)job;
    bool *done = calloc((size_t)g->parts.count + 1, sizeof *done);
    for (uint32_t i = 0; done && i < g->parts.count; i++)
        done[i] = flr_part_list_are_tied(&g->parts, &g->parts.list[g->self], &g->parts.list[i]);
    job->result = done ? measure(g, done, &job->error) : flr_engine_no_memory(&job->error);
    free(done);
}

static void gap_done(flr_engine *e, flr_job *job)
{
    gap_job *g = (gap_job *)job;
    e->gaps.measuring = false;
    e->gaps.known = job->result == FLR_OK && g->known && g->scene == e->scene && e->gaps.wanted;
    if (e->gaps.known) e->gaps.nearest = g->found;
}

static void gap_drop(flr_job *job)
{
    flr_part_list_free(&((gap_job *)job)->parts);
    free(job);
}

/* Where time is short, the loop measures what nothing touches coarsely: then the worker measures it, too. */
static bool is_precise(double distance, double error)
{
    return error <= fmax(PRECISE, PRECISE_SHARE * fabs(distance));
}

void flr_engine_want_gaps(flr_engine *e, bool wanted)
{
    e->gaps.wanted = wanted;
    if (!wanted) e->gaps.known = false;
}

void flr_engine_keep_gaps(flr_engine *e)
{
    const int64_t now = flr_clock_ns(e->def.env);
    if (!e->gaps.wanted || e->gaps.measuring || now - e->gaps.measured_ns < gap_ns) return;
    e->gaps.measured_ns = now;
    const flr_engine_state *state = flr_engine_view(e);
    const flr_part_id held = flr_engine_held_part(state);
    flr_part_entry *member = NULL;
    const flr_snapshot *newest = flr_engine_snapshot(e);
    const flr_snapshot_gap *first = newest && newest->gap_count > 0 ? &newest->gaps[0] : NULL;
    const bool by_loop = first && !e->replay &&
                         is_precise(first->distance, fmax(first->upper - first->distance,
                                                          first->distance - first->lower));
    if (by_loop || flr_engine_find_id(e, held, &member, NULL) != FLR_OK) {
        e->gaps.known = false;
        return;
    }
    gap_job *g = calloc(1, sizeof *g);
    if (!g) return; /* the next service tries again */
    flr_engine_look_around(e, &g->parts);
    g->self = UINT32_MAX;
    for (uint32_t i = 0; i < g->parts.count; i++)
        if (g->parts.list[i].part == held.index) g->self = i;
    if (g->self == UINT32_MAX) {
        gap_drop(&g->job);
        return;
    }
    g->env = e->def.env;
    g->cache = e->cache;
    g->scene = e->scene;
    g->job = (flr_job){.quick = true, .work = gap_work, .done = gap_done, .drop = gap_drop};
    e->gaps.measuring = true;
    flr_engine_post(e, &g->job, 0, held, NULL, NULL);
}

/* Metres that any point of a part has moved since it was measured: the norm of an affine map is greatest at a corner of a box. */
static double moved(const flr_gap_end *end, flr_pose now)
{
    const flr_box3 b = end->bounds;
    double most = 0;
    for (unsigned k = 0; k < 8; k++) {
        flr_vec3 corner = {k & 1 ? b.high.x : b.low.x, k & 2 ? b.high.y : b.low.y,
                           k & 4 ? b.high.z : b.low.z};
        most = fmax(most, flr_vec3_distance(flr_pose_apply(now, corner),
                                            flr_pose_apply(end->T_world_part, corner)));
    }
    return most;
}

/* Carries an end of the gap to where its part is now; returns how far the part went. Static parts, which a state does not list, stay. */
static double carry(const flr_engine_state *state, flr_part_id part, const flr_gap_end *end,
                    flr_vec3 *point)
{
    uint32_t at = flr_engine_state_find(state, part);
    if (at == FLR_ENGINE_NONE) return 0;
    flr_pose now = state->parts[at].T_world_part;
    double way = moved(end, now);
    if (way > 0) *point = flr_pose_apply(now, flr_pose_apply_inverse(end->T_world_part, *point));
    return way;
}

void flr_engine_show_gaps(const flr_engine *e, flr_engine_state *to)
{
    if (!e->gaps.known || e->gaps.nearest.gap.part.generation != to->scene) return;
    flr_engine_gap gap = e->gaps.nearest.gap;
    flr_engine_gap *first = &to->gaps[0];
    // what the loop measured itself stands, unless it is coarse and the worker measured the same parts
    if (to->gap_count > 0 &&
        (is_precise(first->distance, first->error) || first->part.index != gap.part.index ||
         first->other.index != gap.other.index))
        return;
    // the distance cannot have changed by more than the parts have moved
    double way = carry(to, gap.part, &e->gaps.nearest.ends[0], &gap.from) +
                 carry(to, gap.other, &e->gaps.nearest.ends[1], &gap.to);
    if (way > fmax(stale, stale_share * fabs(gap.distance))) return;
    gap.error += way;
    if (to->gap_count > 0 && !(gap.error < first->error)) return;
    if (to->gap_count == 0) to->gap_count = 1;
    *first = gap;
}
