/* from a path that is about right to one that is: exact moves from pose to pose, sliding along what is in the way */
#include <stdlib.h>
#include <string.h>

#include "plan/plan_tree.h"

enum { MAX_STRIDE = 64 };

size_t flr_plan_follow(flr_plan_worker *w, const flr_pose *poses, size_t count, uint32_t *at_node)
{
    flr_plan_tree *tree = &w->trees[0];
    const flr_plan_space *s = w->space;
    uint32_t node = 0;
    *at_node = 0;
    size_t at = 0, stride = 8;
    while (at + 1 < count && !w->no_memory) {
        if (w->give_up(w->give_up_context)) return at;
        const size_t next = at + stride < count ? at + stride : count - 1;
        const double before = flr_plan_apart(s, tree->nodes[node].T, poses[next]);
        const uint32_t kept = tree->count;
        bool there;
        const uint32_t end =
            flr_plan_extend(w, tree, node, poses[next], INFINITY, 1e-3 * s->size, &there);
        const double after = flr_plan_apart(s, tree->nodes[end].T, poses[next]);
        const bool last = next + 1 == count;
        if (there || (!last && after < 0.02 * s->size && after < 0.5 * before)) {
            node = end, at = next;
            *at_node = node;
            flr_plan_reach(w, node);
            if (stride < MAX_STRIDE) stride *= 2;
        } else if (stride > 1) {
            tree->count = kept;
            stride = (next - at + 1) / 2 < stride ? (next - at + 1) / 2 : stride / 2;
        } else {
            return at;
        }
    }
    return at;
}

void flr_plan_repair(flr_plan_worker *w, const flr_pose *poses, size_t count)
{
    uint32_t node;
    if (flr_plan_follow(w, poses, count, &node) + 1 < count || w->no_memory) return;
    w->found = true;
    w->end[0] = node, w->end[1] = FLR_NONE;
}

void flr_plan_follow_via(flr_plan_worker *w)
{
    const flr_plan_search *search = w->search;
    const size_t count = search->via_count + 1 + search->to_given;
    flr_pose *poses = malloc(count * sizeof *poses);
    uint32_t node;
    w->no_memory |= !poses;
    if (!poses) return;
    poses[0] = search->from;
    memcpy(poses + 1, search->via, search->via_count * sizeof *poses);
    if (search->to_given) poses[count - 1] = search->to;
    w->method = FLR_PLAN_LEGS;
    const size_t at = flr_plan_follow(w, poses, count, &node);
    free(poses);
    if (w->no_memory || flr_plan_arrive(w, node)) return;
    if (search->to_given && at + 1 == count) {
        w->found = true;
        w->end[0] = node, w->end[1] = FLR_NONE;
    } else if (node != 0) {
        flr_plan_queue_first(w, node);
        (void)flr_plan_guided_next(w);
    }
}
