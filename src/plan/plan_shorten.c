/* the moves that were found: collected, shortened, and written as poses */
#include <stdlib.h>

#include "plan/plan_tree.h"

static bool push(flr_plan_legs *legs, flr_plan_motion leg)
{
    if (legs->count == legs->capacity) {
        const size_t capacity = legs->capacity ? 2 * legs->capacity : 64;
        flr_plan_motion *more = realloc(legs->legs, capacity * sizeof *more);
        if (!more) return false;
        legs->legs = more;
        legs->capacity = capacity;
    }
    legs->legs[legs->count++] = leg;
    return true;
}

static void reverse(flr_plan_motion *legs, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        const flr_plan_motion swap = legs[i];
        legs[i] = legs[count - 1 - i], legs[count - 1 - i] = swap;
    }
}

bool flr_plan_collect(const flr_plan_worker *worker, flr_plan_legs *legs)
{
    legs->count = 0;
    const flr_plan_node *nodes = worker->trees[0].nodes;
    for (uint32_t i = worker->end[0]; nodes[i].parent != FLR_NONE; i = nodes[i].parent)
        if (!push(legs, (flr_plan_motion){nodes[nodes[i].parent].T, nodes[i].T, nodes[i].centre}))
            return false;
    reverse(legs->legs, legs->count);
    if (worker->end[1] == FLR_NONE) return true;
    nodes = worker->trees[1].nodes;
    // the two trees meet in the same pose but for rounding
    if (legs->count) legs->legs[legs->count - 1].to = nodes[worker->end[1]].T;
    for (uint32_t i = worker->end[1]; nodes[i].parent != FLR_NONE; i = nodes[i].parent)
        if (!push(legs, (flr_plan_motion){nodes[i].T, nodes[nodes[i].parent].T, nodes[i].centre}))
            return false;
    return true;
}

/* ---- shorter ---- */

static double length_of(const flr_plan_space *s, const flr_plan_motion *legs, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += flr_plan_travel(s, &legs[i]);
    return sum;
}

/* Puts one straight move in the place of all between a point of leg `first` and one of leg `last`. */
static bool replace(flr_plan_legs *legs, size_t first, double from, size_t last, double to,
                    const flr_plan_motion *direct)
{
    flr_plan_legs next = {0};
    bool stored = true;
    for (size_t i = 0; i < first && stored; i++) stored = push(&next, legs->legs[i]);
    flr_plan_motion cut = legs->legs[first];
    cut.to = direct->from;
    if (stored && from > 0) stored = push(&next, cut);
    if (stored) stored = push(&next, *direct);
    cut = legs->legs[last];
    cut.from = direct->to;
    if (stored && to < 1) stored = push(&next, cut);
    for (size_t i = last + 1; i < legs->count && stored; i++) stored = push(&next, legs->legs[i]);
    if (!stored) {
        free(next.legs);
        return false;
    }
    free(legs->legs);
    *legs = next;
    return true;
}

bool flr_plan_shorten(flr_plan_worker *worker, flr_plan_legs *legs, uint32_t tries)
{
    const flr_plan_space *s = worker->space;
    flr_plan_random *r = &worker->random;
    for (uint32_t i = 0; i < tries && legs->count > 1; i++) {
        if (worker->give_up(worker->give_up_context)) return true;
        // long detours first, then anything; ends of moves more often than places within
        size_t first = flr_plan_random_u64(r) % legs->count,
               last = flr_plan_random_u64(r) % legs->count;
        if (i == 0) first = 0, last = legs->count - 1;
        if (first > last) {
            const size_t swap = first;
            first = last, last = swap;
        }
        if (first == last) continue;
        const bool whole = i == 0 || flr_plan_random_unit(r) < 0.3;
        const double from = whole ? 0 : flr_plan_random_unit(r),
                     to = whole ? 1 : flr_plan_random_unit(r);
        const flr_plan_motion direct = {flr_fit_motion_pose(&legs->legs[first], from),
                                        flr_fit_motion_pose(&legs->legs[last], to), s->centre};
        const double old = length_of(s, legs->legs + first, last - first + 1) -
                           from * flr_plan_travel(s, &legs->legs[first]) -
                           (1 - to) * flr_plan_travel(s, &legs->legs[last]);
        if (flr_plan_travel(s, &direct) > 0.98 * old) continue;
        if (flr_plan_try(worker, &direct).free < 1) continue;
        if (!replace(legs, first, from, last, to, &direct)) return false;
    }
    return true;
}

/* ---- poses ---- */

/* A leg turns about its centre; between poses the origin goes straight on. The arc between two of them is no farther from
 * its chord than arm × angle² / 8. */
static size_t pieces_of(const flr_plan_motion *leg, double deviation)
{
    const double angle = flr_quat_angle(leg->from.q, leg->to.q), arm = flr_vec3_length(leg->centre);
    const double fine = angle * sqrt(arm / (8 * deviation)), even = angle / 0.0872664625997165;
    return (size_t)fmin(fmax(ceil(fmax(fine, even)), 1), 4096);
}

flr_pose *flr_plan_poses(const flr_plan_legs *legs, double deviation, size_t *count)
{
    size_t total = 1;
    for (size_t i = 0; i < legs->count; i++) total += pieces_of(&legs->legs[i], deviation);
    flr_pose *poses = malloc(total * sizeof *poses);
    if (!poses) return NULL;
    *count = 0;
    poses[(*count)++] = legs->legs[0].from;
    for (size_t i = 0; i < legs->count; i++) {
        const size_t pieces = pieces_of(&legs->legs[i], deviation);
        for (size_t k = 1; k <= pieces; k++) {
            flr_pose T = flr_fit_motion_pose(&legs->legs[i], (double)k / (double)pieces);
            T.q = flr_quat_normalize(T.q);
            poses[(*count)++] = T;
        }
    }
    return poses;
}
