/* moves that are worth a try: along axes, and along what the contacts leave free
 *
 * A surface point with normal n at r from the centre comes nearer by -(n·v + (r × n)·w) when the body moves with v and
 * turns with w. The sum of the squares of that, over all contacts, is a quadratic form of (w, v). Its smallest eigenvalues
 * belong to the motions that slip: along a peg, around a shaft, or along the thread of a bolt, with axis and pitch. Its
 * large ones say how to get into the middle of the play. */
#include <stdlib.h>

#include "math/jacobi.h"
#include "plan/plan_tree.h"

enum { MAX_LEGS = 5, MAX_PIECES = 600, MAX_LOOKS = 100, PIECES_OF_A_TURN = 8, MAX_SCAN = 200 };

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

/* ---- what contacts allow ---- */

typedef struct contact_sum {
    double a[FLR_JACOBI_MAX][FLR_JACOBI_MAX]; /* of rows (r × n / R, n) */
    double b[6]; /* of rows times what the distance is short of the mean */
    double weight, mean;
} contact_sum;

static void add_contacts(const flr_plan_space *s, const flr_fit_contact *contacts, uint32_t count,
                         flr_pose T_world, flr_vec3 middle, contact_sum *sum, bool rows)
{
    for (uint32_t i = 0; i < count; i++) {
        const flr_fit_contact *c = &contacts[i];
        if (!(c->area > 0)) continue;
        if (!rows) {
            sum->weight += c->area;
            sum->mean += c->area * c->distance;
            continue;
        }
        const flr_vec3 n = flr_pose_apply_vector(T_world, c->normal),
                       r = flr_vec3_sub(flr_pose_apply(T_world, c->point), middle),
                       m = flr_vec3_scale(flr_vec3_cross(r, n), 1 / s->radius);
        const double row[6] = {m.x, m.y, m.z, n.x, n.y, n.z};
        for (int k = 0; k < 6; k++) {
            for (int l = 0; l < 6; l++) sum->a[k][l] += c->area * row[k] * row[l];
            sum->b[k] += c->area * row[k] * (sum->mean - c->distance);
        }
    }
}

/* In a space of motions that slip alike, those that turn least come first: a round peg goes straight out. */
static void part_turns(double v[FLR_JACOBI_MAX][FLR_JACOBI_MAX], const int *order, int count,
                       double slips[6][6])
{
    double m[FLR_JACOBI_MAX][FLR_JACOBI_MAX] = {{0}}, u[FLR_JACOBI_MAX][FLR_JACOBI_MAX] = {{0}};
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            for (int k = 0; k < 3; k++) m[i][j] += v[k][order[i]] * v[k][order[j]];
    flr_jacobi(count, m, u);
    bool used[6] = {false};
    for (int i = 0; i < count; i++) {
        int least = -1;
        for (int k = 0; k < count; k++)
            if (!used[k] && (least < 0 || m[k][k] < m[least][least])) least = k;
        used[least] = true;
        for (int k = 0; k < 6; k++) {
            slips[i][k] = 0;
            for (int j = 0; j < count; j++) slips[i][k] += v[k][order[j]] * u[j][least];
        }
    }
}

static flr_plan_twist twist_of(const flr_plan_space *s, const double x[6])
{
    return (flr_plan_twist){flr_vec3_scale(flr_vec3_make(x[0], x[1], x[2]), 1 / s->radius),
                            flr_vec3_make(x[3], x[4], x[5])};
}

static flr_plan_freedom solve(const flr_plan_space *s, contact_sum *sum)
{
    flr_plan_freedom f = {0};
    double v[FLR_JACOBI_MAX][FLR_JACOBI_MAX], slips[6][6], centring[6] = {0};
    int order[6] = {0, 1, 2, 3, 4, 5}, free_count = 0;
    flr_jacobi(6, sum->a, v);
    for (int i = 0; i < 6; i++)
        for (int k = i; k > 0 && sum->a[order[k]][order[k]] < sum->a[order[k - 1]][order[k - 1]];
             k--) {
            const int swap = order[k];
            order[k] = order[k - 1], order[k - 1] = swap;
        }
    const double most = sum->a[order[5]][order[5]];
    if (!(most > 0)) return f;
    while (free_count < 5 && sum->a[order[free_count]][order[free_count]] < 0.01 * most)
        free_count++;
    if (free_count > 1) part_turns(v, order, free_count, slips);
    // where nothing slips freely, what slips best
    const int tried = free_count > 2 ? free_count : 2;
    for (int i = 0; i < tried; i++) {
        if (i >= free_count || free_count == 1)
            for (int k = 0; k < 6; k++) slips[i][k] = v[k][order[i]];
        f.slips[f.slip_count++] = twist_of(s, slips[i]);
    }
    for (int i = free_count; i < 6; i++) {
        const int e = order[i];
        double along = 0;
        for (int k = 0; k < 6; k++) along += v[k][e] * sum->b[k];
        for (int k = 0; k < 6; k++) centring[k] += v[k][e] * along / sum->a[e][e];
    }
    f.centring = twist_of(s, centring);
    f.centred = true;
    f.play = fmax(sum->mean, 0);
    return f;
}

flr_plan_freedom flr_plan_look_around(flr_plan_worker *worker, flr_pose T)
{
    flr_plan_space *s = worker->space;
    const flr_vec3 middle = flr_pose_apply(T, s->centre);
    const double reach = 0.012 * s->size;
    contact_sum sum = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t m = 0; m < s->moving_count; m++)
            for (uint32_t o = 0; o < s->obstacle_count; o++) {
                const flr_plan_motion still = {T, T, s->centre};
                if (!flr_plan_may_meet(s, &still, m, o, reach)) continue;
                flr_fit_pair *query = flr_plan_query_of(s, m, o);
                flr_fit_params params = flr_default_fit_params();
                flr_fit_result r;
                params.reach = reach;
                params.max_distance = -1;
                if (!query) continue;
                flr_fit_pair_query(query, flr_plan_relative(s, m, o, T), &params, worker->contacts,
                                   FLR_PLAN_CONTACTS, &r);
                add_contacts(s, worker->contacts, r.contact_count, s->obstacles[o].T, middle, &sum,
                             pass == 1);
            }
        if (pass == 0 && sum.weight > 0) sum.mean /= sum.weight;
    }
    return solve(s, &sum);
}

/* ---- poses from which more moves are tried ---- */

typedef flr_plan_queue guided_queue;

/* Poses near one that is there already are left out. */
static void enqueue(const flr_plan_worker *w, guided_queue *q, uint32_t node, uint32_t legs)
{
    const flr_plan_node *nodes = w->trees[0].nodes;
    if (q->count == FLR_PLAN_MAX_QUEUE || legs > MAX_LEGS) return;
    for (uint32_t i = 0; i < q->count; i++)
        if (flr_plan_apart(w->space, nodes[q->nodes[i]].T, nodes[node].T) < 0.03 * w->space->size)
            return;
    q->nodes[q->count] = node;
    q->legs[q->count++] = legs;
}

/* ---- following a screw ---- */

static double dot(const flr_plan_space *s, flr_plan_twist a, flr_plan_twist b)
{
    return flr_vec3_dot(a.move, b.move) + s->radius * s->radius * flr_vec3_dot(a.turn, b.turn);
}

/* A piece of the motion that a twist begins: an eighth of a turn, or straight out. */
static flr_plan_motion piece_of(const flr_plan_space *s, flr_pose T, flr_plan_twist by)
{
    const double turn = flr_vec3_length(by.turn);
    if (turn * s->radius < 0.02 * flr_vec3_length(by.move))
        return flr_plan_leave(s, T, flr_vec3_normalize(by.move));
    const flr_vec3 axis = flr_vec3_scale(by.turn, 1 / turn), middle = flr_pose_apply(T, s->centre),
                   foot = flr_vec3_add(
                       middle, flr_vec3_scale(flr_vec3_cross(by.turn, by.move), 1 / (turn * turn)));
    const double angle = 0.785398163397448, climb = flr_vec3_dot(by.move, axis) / turn * angle;
    flr_plan_motion motion = {.from = T, .centre = flr_pose_apply_inverse(T, foot)};
    motion.to.q = flr_quat_normalize(flr_quat_mul(flr_quat_from_axis_angle(axis, angle), T.q));
    motion.to.p = flr_vec3_sub(flr_vec3_add_scaled(foot, climb, axis),
                               flr_quat_rotate(motion.to.q, motion.centre));
    return motion;
}

/* Metres along the axis in a turn. */
static double climb_of(flr_plan_twist by)
{
    const double turn2 = flr_vec3_length2(by.turn);
    return turn2 > 0 ? fabs(flr_vec3_dot(by.move, by.turn)) / turn2 * 6.283185307179586 : INFINITY;
}

/* Into the middle of the play, where that is free. Returns the node there. */
static uint32_t centre(flr_plan_worker *w, uint32_t node, const flr_plan_freedom *freedom)
{
    flr_plan_tree *tree = &w->trees[0];
    if (!freedom->centred) return node;
    const flr_pose from = tree->nodes[node].T;
    const flr_plan_motion motion = {from, flr_plan_displace(w->space, from, freedom->centring),
                                    w->space->centre};
    const double travel = flr_plan_travel(w->space, &motion);
    if (travel < 1e-6 * w->space->size || travel > 0.02 * w->space->size) return node;
    const flr_plan_stop stop = flr_plan_try(w, &motion);
    if (stop.free < 0.05) return node;
    const double part = stop.free < 1 ? 0.5 * stop.free : 1;
    const uint32_t next =
        flr_plan_tree_add(tree, w->space, flr_fit_motion_pose(&motion, part), node, motion.centre);
    w->no_memory |= next == FLR_NONE;
    return next == FLR_NONE ? node : next;
}

/* Straight out from a node along an axis; true when it is out. */
static bool try_axis(flr_plan_worker *w, uint32_t node, flr_vec3 axis)
{
    flr_plan_tree *tree = &w->trees[0];
    const flr_plan_motion motion = flr_plan_leave(w->space, tree->nodes[node].T, axis);
    if (flr_plan_try(w, &motion).free < 1) return false;
    const uint32_t out = flr_plan_tree_add(tree, w->space, motion.to, node, motion.centre);
    w->no_memory |= out == FLR_NONE;
    return out != FLR_NONE && flr_plan_arrive(w, out);
}

/* A body that turns freely, as a bayonet does, comes out at certain angles only: tries the axis at all of them, in steps in
 * which no point goes farther than the play. */
static bool scan_turn(flr_plan_worker *w, uint32_t node, const flr_plan_motion *motion, double free,
                      double play)
{
    flr_plan_space *s = w->space;
    flr_plan_tree *tree = &w->trees[0];
    const double angle = free * flr_quat_angle(motion->from.q, motion->to.q);
    const double steps = fmin(ceil(angle * s->radius / fmax(play, 1e-4 * s->size)), MAX_SCAN);
    const flr_vec3 axis = flr_vec3_normalize(flr_quat_to_rotation_vector(
        flr_quat_mul(motion->to.q, flr_quat_conjugate(motion->from.q))));
    for (double i = 0; i <= steps && !w->no_memory; i++) {
        const double part = steps > 0 ? free * i / steps : 0;
        if (w->give_up(w->give_up_context)) return false;
        for (int sign = 1; sign >= -1; sign -= 2) {
            const flr_plan_motion out =
                flr_plan_leave(s, flr_fit_motion_pose(motion, part), flr_vec3_scale(axis, sign));
            const flr_plan_stop stop = flr_plan_try(w, &out);
            if (stop.free * flr_plan_travel(s, &out) < 0.02 * s->size) continue;
            const uint32_t turned = flr_plan_tree_add(tree, s, out.from, node, motion->centre);
            const uint32_t end =
                turned == FLR_NONE
                    ? FLR_NONE
                    : flr_plan_tree_add(tree, s, flr_fit_motion_pose(&out, stop.free), turned,
                                        out.centre);
            w->no_memory |= end == FLR_NONE;
            if (end != FLR_NONE && flr_plan_arrive(w, end)) return true;
        }
    }
    return false;
}

/* Of the motions that slip, the one most like the last. */
static flr_plan_twist most_alike(const flr_plan_space *s, flr_plan_twist by,
                                 const flr_plan_freedom *freedom)
{
    double best = 0.9 * dot(s, by, by);
    flr_plan_twist next = by;
    for (uint32_t k = 0; k < freedom->slip_count; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const flr_plan_twist one = {flr_vec3_scale(freedom->slips[k].turn, sign),
                                        flr_vec3_scale(freedom->slips[k].move, sign)};
            const double size = sqrt(dot(s, by, by) / fmax(dot(s, one, one), 1e-300));
            if (dot(s, by, one) * size > best) best = dot(s, by, one) * size, next = one;
        }
    return next;
}

/* Slides on along what is in the way of a motion. Returns the same node where it does not come nearer to its end. */
static uint32_t slide(flr_plan_worker *w, uint32_t node, const flr_plan_motion *motion)
{
    const flr_plan_space *s = w->space;
    flr_plan_tree *tree = &w->trees[0];
    const flr_pose from = tree->nodes[node].T, target = flr_fit_motion_pose(motion, 0.25);
    bool there;
    const uint32_t end = flr_plan_extend(w, tree, node, target, INFINITY, &there);
    const double left = flr_plan_apart(s, tree->nodes[end].T, target);
    return left < flr_plan_apart(s, from, target) - 0.01 * s->size ? end : node;
}

/* Follows a motion that slips, piece by piece, looking around after each. Returns the last node. */
static uint32_t follow(flr_plan_worker *w, guided_queue *q, uint32_t legs, uint32_t node,
                       flr_plan_twist by, double play)
{
    flr_plan_space *s = w->space;
    flr_plan_tree *tree = &w->trees[0];
    const bool turns = climb_of(by) < 0.02 * s->size;
    int looks = 0;
    for (int i = 0; i < (turns ? 2 * PIECES_OF_A_TURN : MAX_PIECES) && !w->no_memory; i++) {
        if (w->give_up(w->give_up_context)) return node;
        const flr_plan_motion motion = piece_of(s, tree->nodes[node].T, by);
        const flr_plan_stop stop = flr_plan_try(w, &motion);
        const double travel = stop.free * flr_plan_travel(s, &motion);
        if (turns && legs == 1 && scan_turn(w, node, &motion, stop.free, play)) return node;
        if (travel > 2e-3 * s->size) {
            const uint32_t next = flr_plan_tree_add(
                tree, s, flr_fit_motion_pose(&motion, stop.free), node, motion.centre);
            if (next == FLR_NONE) {
                w->no_memory = true;
                return node;
            }
            node = next;
            if (flr_plan_arrive(w, node)) return node;
            if (turns) enqueue(w, q, node, legs);
        }
        if (stop.free < 1 && looks++ == MAX_LOOKS) return node;
        if (stop.free < 1 && travel < 0.02 * s->size) {
            // along what stops it, as far as that leads on
            const uint32_t slid = slide(w, node, &motion);
            if (slid == node) return node;
            node = slid;
        }
        // off the thread there is a straight way out
        const double along = flr_vec3_dot(by.move, by.turn);
        if (!turns && i % 4 == 3 && flr_vec3_length2(by.turn) > 0 &&
            try_axis(w, node, flr_vec3_scale(flr_vec3_normalize(by.turn), along < 0 ? -1 : 1)))
            return node;
        const flr_plan_freedom freedom = flr_plan_look_around(w, tree->nodes[node].T);
        // what else comes near, such as the end of a thread, must not bend a motion that is free
        const flr_plan_twist next = most_alike(s, by, &freedom);
        const double climb = climb_of(by);
        if (stop.free < 1 || turns || fabs(climb_of(next) - climb) < 0.01 * climb) by = next;
        if (stop.free < 1 || turns || i < PIECES_OF_A_TURN) node = centre(w, node, &freedom);
    }
    return node;
}

/* ---- a few moves ---- */

/* Straight out, or as far as it goes. */
static void go_straight(flr_plan_worker *w, guided_queue *q, uint32_t legs, uint32_t node,
                        flr_vec3 direction)
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
        enqueue(w, q, next, legs);
}

/* All moves from one pose, and from the middle of the play there. */
static void try_node(flr_plan_worker *w, guided_queue *q, uint32_t index)
{
    const uint32_t node = q->nodes[index], legs = q->legs[index] + 1;
    const flr_plan_freedom freedom = flr_plan_look_around(w, w->trees[0].nodes[node].T);
    const uint32_t middle = centre(w, node, &freedom);
    for (uint32_t from = node;; from = middle) {
        for (uint32_t i = 0; i < freedom.slip_count && !w->found; i++)
            for (int sign = 1; sign >= -1 && !w->found; sign -= 2) {
                const flr_plan_twist by = {flr_vec3_scale(freedom.slips[i].turn, sign),
                                           flr_vec3_scale(freedom.slips[i].move, sign)};
                const uint32_t end = follow(w, q, legs, from, by, freedom.play);
                if (w->give_up(w->give_up_context)) return;
                if (!w->found) enqueue(w, q, end, legs);
            }
        for (uint32_t i = 0; i < FLR_PLAN_DIRECTIONS && !w->found && !w->no_memory; i++) {
            if (w->give_up(w->give_up_context)) return;
            go_straight(w, q, legs, from, flr_plan_direction(i));
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
        go_straight(worker, &worker->queue, 1, 0, flr_plan_direction(i));
    }
}

void flr_plan_queue_first(flr_plan_worker *worker, uint32_t node)
{
    flr_plan_queue *q = &worker->queue;
    if (q->next == q->count) {
        enqueue(worker, q, node, 1);
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
    try_node(worker, q, q->next++);
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
