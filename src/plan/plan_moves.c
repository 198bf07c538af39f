/* moves that are worth a try: along axes, and along what the contacts leave free (plan_contacts.c, plan_follow.c) */
#include "plan/plan_tree.h"

enum { MAX_LEGS = 5 };

flr_vec3 flr_plan_direction(uint32_t i)
{
    // axes first, then diagonals of faces, then of the cube
    static const signed char all[FLR_PLAN_DIRECTIONS][3] = {
        {0, 0, 1},   {0, 0, -1}, {1, 0, 0},   {-1, 0, 0},  {0, 1, 0},   {0, -1, 0}, {1, 1, 0},
        {1, -1, 0},  {-1, 1, 0}, {-1, -1, 0}, {1, 0, 1},   {1, 0, -1},  {-1, 0, 1}, {-1, 0, -1},
        {0, 1, 1},   {0, 1, -1}, {0, -1, 1},  {0, -1, -1}, {1, 1, 1},   {1, 1, -1}, {1, -1, 1},
        {1, -1, -1}, {-1, 1, 1}, {-1, 1, -1}, {-1, -1, 1}, {-1, -1, -1}};
    return flr_vec3_normalize(flr_vec3_make(all[i][0], all[i][1], all[i][2]));
}

flr_plan_motion flr_plan_leave(const flr_plan_space *space, flr_pose T, flr_vec3 direction)
{
    // the sphere is beyond the first face of the box, grown by its radius, that it passes
    const flr_vec3 p = flr_pose_apply(T, space->centre);
    const flr_box3 box = flr_box3_grow(space->box, space->radius * 1.001 + 1e-6 * space->size);
    const double at[3] = {p.x, p.y, p.z}, by[3] = {direction.x, direction.y, direction.z},
                 low[3] = {box.low.x, box.low.y, box.low.z},
                 high[3] = {box.high.x, box.high.y, box.high.z};
    double far = INFINITY;
    for (int i = 0; i < 3; i++) {
        if (fabs(by[i]) < 1e-9) continue;
        far = fmin(far, fmax(((by[i] > 0 ? high[i] : low[i]) - at[i]) / by[i], 0));
    }
    if (flr_box3_is_empty(space->box)) far = 0;
    return (flr_plan_motion){T, {flr_vec3_add_scaled(T.p, far, direction), T.q}, space->centre};
}

flr_plan_stop flr_plan_try(flr_plan_worker *worker, const flr_plan_motion *motion)
{
    flr_plan_stop stop;
    worker->moves++;
    flr_plan_count(worker);
    if (!flr_plan_move(worker->space, motion, &stop)) {
        worker->no_memory = true;
        return (flr_plan_stop){.free = 0};
    }
    if (stop.free < 1 && worker->stops[stop.place.obstacle]++ == 0)
        worker->stop_at[stop.place.obstacle] = stop.place.point[0];
    return stop;
}

void flr_plan_count(flr_plan_worker *worker)
{
    if (worker->live) atomic_fetch_add_explicit(&worker->live->poses, 1, memory_order_relaxed);
}

void flr_plan_reach(flr_plan_worker *worker, uint32_t node)
{
    flr_plan_live *live = worker->live;
    if (!live) return;
    const flr_plan_node *nodes = worker->trees[0].nodes;
    const double reached = flr_vec3_distance(nodes[0].middle, nodes[node].middle);
    pthread_mutex_lock(&live->lock);
    if (reached > live->reached) live->reached = reached, live->farthest = nodes[node].T;
    pthread_mutex_unlock(&live->lock);
}

bool flr_plan_arrive(flr_plan_worker *worker, uint32_t node)
{
    flr_plan_tree *tree = &worker->trees[0];
    const flr_plan_space *s = worker->space;
    const flr_pose T = tree->nodes[node].T;
    flr_plan_reach(worker, node);
    if (!flr_plan_is_out(s, T)) return false;
    if (worker->search->to_given) {
        const flr_plan_motion motion = {T, worker->search->to, s->centre};
        if (flr_plan_try(worker, &motion).free < 1) return false;
        node = flr_plan_tree_add(tree, s, worker->search->to, node, s->centre);
        worker->no_memory |= node == FLR_NONE;
        if (node == FLR_NONE) return false;
    }
    worker->found = true;
    worker->end[0] = node, worker->end[1] = FLR_NONE;
    return true;
}

/* ---- poses from which more moves are tried ---- */

void flr_plan_enqueue(flr_plan_worker *w, uint32_t node, uint32_t legs)
{
    flr_plan_queue *q = &w->queue;
    const flr_plan_node *nodes = w->trees[0].nodes;
    if (q->count == FLR_PLAN_MAX_QUEUE || legs > MAX_LEGS) return;
    for (uint32_t i = 0; i < q->count; i++)
        if (flr_plan_apart(w->space, nodes[q->nodes[i]].T, nodes[node].T) < 0.03 * w->space->size)
            return;
    q->nodes[q->count] = node;
    q->legs[q->count++] = legs;
}

/* ---- a few moves ---- */

/* Straight out, or as far as it goes. */
static void go_straight(flr_plan_worker *w, uint32_t legs, uint32_t node, flr_vec3 direction)
{
    flr_plan_space *s = w->space;
    flr_plan_tree *tree = &w->trees[0];
    const flr_plan_motion motion = flr_plan_leave(s, tree->nodes[node].T, direction);
    const flr_plan_stop stop = flr_plan_try(w, &motion);
    const double travel = stop.free * flr_plan_travel(s, &motion);
    if (stop.free < 1 && travel < 0.02 * s->size) return;
    // a little before the end there is room to turn off
    const double part = stop.free < 1 ? stop.free * fmax(1 - 0.005 * s->size / travel, 0.5) : 1;
    const flr_pose T = flr_fit_motion_pose(&motion, part);
    const uint32_t next = flr_plan_tree_add(tree, s, T, node, motion.centre);
    if (next == FLR_NONE)
        w->no_memory = true;
    else if (!flr_plan_arrive(w, next))
        flr_plan_enqueue(w, next, legs);
}

/* All moves from one pose, and from the middle of the play there. */
static void try_node(flr_plan_worker *w, uint32_t index)
{
    const uint32_t node = w->queue.nodes[index], legs = w->queue.legs[index] + 1;
    const flr_plan_freedom freedom = flr_plan_look_around(w, w->trees[0].nodes[node].T);
    const uint32_t middle = flr_plan_centre(w, node, &freedom);
    for (uint32_t from = node;; from = middle) {
        for (uint32_t i = 0; i < freedom.slip_count && !w->found; i++)
            for (int sign = 1; sign >= -1 && !w->found; sign -= 2) {
                const flr_plan_twist by = {flr_vec3_scale(freedom.slips[i].turn, sign),
                                           flr_vec3_scale(freedom.slips[i].move, sign)};
                // what begins straight may be a rail with bends, or a way past other parts
                for (int steers = flr_plan_slips_straight(w, by) ? 0 : 1; steers < 2; steers++) {
                    const uint32_t end =
                        flr_plan_follow_slip(w, legs, from, &freedom, by, steers == 1);
                    if (w->found || w->give_up(w->give_up_context)) return;
                    flr_plan_enqueue(w, end, legs);
                }
            }
        for (uint32_t i = 0; i < FLR_PLAN_DIRECTIONS && !w->found && !w->no_memory; i++) {
            if (w->give_up(w->give_up_context)) return;
            go_straight(w, legs, from, flr_plan_direction(i));
        }
        if (from == middle || w->found) return;
    }
}

void flr_plan_straight(flr_plan_worker *worker)
{
    flr_plan_tree *tree = &worker->trees[0];
    worker->queue = (flr_plan_queue){.count = 1}; // the start
    worker->method = FLR_PLAN_STRAIGHT;
    if (worker->search->to_given) {
        const flr_plan_motion motion = {tree->nodes[0].T, worker->search->to,
                                        worker->space->centre};
        if (flr_plan_try(worker, &motion).free == 1) {
            const uint32_t end =
                flr_plan_tree_add(tree, worker->space, motion.to, 0, motion.centre);
            worker->no_memory = end == FLR_NONE;
            worker->found = end != FLR_NONE;
            worker->end[0] = end, worker->end[1] = FLR_NONE;
            return;
        }
    }
    for (uint32_t i = 0; i < FLR_PLAN_DIRECTIONS && !worker->found; i++) {
        if (worker->give_up(worker->give_up_context)) return;
        go_straight(worker, 1, 0, flr_plan_direction(i));
    }
}

void flr_plan_queue_first(flr_plan_worker *worker, uint32_t node)
{
    flr_plan_queue *q = &worker->queue;
    if (q->next == q->count) {
        flr_plan_enqueue(worker, node, 1);
        return;
    }
    // in the place of what would be next, which comes last
    const uint32_t other = q->nodes[q->next], legs = q->legs[q->next];
    q->nodes[q->next] = node, q->legs[q->next] = 1;
    if (q->count < FLR_PLAN_MAX_QUEUE) q->nodes[q->count] = other, q->legs[q->count++] = legs;
}

bool flr_plan_guided_next(flr_plan_worker *worker)
{
    flr_plan_queue *q = &worker->queue;
    worker->method = FLR_PLAN_LEGS;
    if (q->next >= q->count) return false;
    try_node(worker, q->next++);
    return true;
}

void flr_plan_guided(flr_plan_worker *worker, uint32_t max_nodes)
{
    flr_plan_straight(worker);
    for (uint32_t i = 0; i < max_nodes; i++) {
        if (worker->found || worker->no_memory || worker->give_up(worker->give_up_context)) return;
        if (!flr_plan_guided_next(worker)) return;
    }
}
