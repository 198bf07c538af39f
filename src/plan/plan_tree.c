/* trees of poses, and a random search along the surfaces */
#include "plan/plan_tree.h"

#include <stdlib.h>

/* ---- random numbers ---- */

/* splitmix64 */
uint64_t flr_plan_random_u64(flr_plan_random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double flr_plan_random_unit(flr_plan_random *random)
{
    return (double)(flr_plan_random_u64(random) >> 11) * 0x1p-53;
}

/* sums of uniform numbers are near enough to a normal distribution, and the same bits everywhere */
static double bell(flr_plan_random *random)
{
    double sum = -2;
    for (int i = 0; i < 4; i++) sum += flr_plan_random_unit(random);
    return sum * 1.7320508075688772;
}

flr_vec3 flr_plan_random_normal(flr_plan_random *random)
{
    flr_vec3 v;
    v.x = bell(random);
    v.y = bell(random);
    v.z = bell(random);
    return v;
}

flr_quat flr_plan_random_turn(flr_plan_random *random)
{
    for (;;) {
        flr_quat q;
        q.w = 2 * flr_plan_random_unit(random) - 1;
        q.x = 2 * flr_plan_random_unit(random) - 1;
        q.y = 2 * flr_plan_random_unit(random) - 1;
        q.z = 2 * flr_plan_random_unit(random) - 1;
        const double length2 = flr_quat_dot(q, q);
        if (length2 > 0.01 && length2 <= 1) return flr_quat_normalize(q);
    }
}

/* ---- trees ---- */

uint32_t flr_plan_tree_add(flr_plan_tree *tree, const flr_plan_space *space, flr_pose T,
                           uint32_t parent, flr_vec3 centre)
{
    if (tree->count == tree->capacity) {
        const uint32_t capacity = tree->capacity ? 2 * tree->capacity : 256;
        flr_plan_node *more = realloc(tree->nodes, capacity * sizeof *more);
        if (!more) return FLR_NONE;
        tree->nodes = more;
        tree->capacity = capacity;
    }
    T.q = flr_quat_normalize(T.q);
    tree->nodes[tree->count] =
        (flr_plan_node){T, flr_pose_apply(T, space->centre), centre, parent,
                        parent == FLR_NONE ? 0 : tree->nodes[parent].depth + 1};
    return tree->count++;
}

void flr_plan_tree_free(flr_plan_tree *tree)
{
    free(tree->nodes);
    *tree = (flr_plan_tree){0};
}

static double apart2(const flr_plan_space *space, const flr_plan_node *node, flr_vec3 middle,
                     flr_quat q)
{
    // 1 - cos of half the angle grows with its square
    const double turn2 = 8 * (1 - fabs(flr_quat_dot(node->T.q, q)));
    return flr_vec3_length2(flr_vec3_sub(node->middle, middle)) +
           0.36 * space->radius * space->radius * turn2;
}

double flr_plan_apart(const flr_plan_space *space, flr_pose a, flr_pose b)
{
    const flr_plan_node node = {.T = a, .middle = flr_pose_apply(a, space->centre)};
    return sqrt(fmax(apart2(space, &node, flr_pose_apply(b, space->centre), b.q), 0));
}

uint32_t flr_plan_tree_nearest(const flr_plan_tree *tree, const flr_plan_space *space, flr_pose T,
                               double *distance)
{
    const flr_vec3 middle = flr_pose_apply(T, space->centre);
    uint32_t best = FLR_NONE;
    double least = INFINITY;
    for (uint32_t i = 0; i < tree->count; i++) {
        const double d2 = apart2(space, &tree->nodes[i], middle, T.q);
        if (d2 < least) least = d2, best = i;
    }
    if (distance) *distance = sqrt(fmax(least, 0));
    return best;
}

/* ---- one step: towards a pose, and along what is in the way ---- */

enum { MAX_SLIDES = 6, MAX_CONSTRAINTS = 5, PROJECTIONS = 6 };

typedef struct slide_constraint {
    flr_vec3 normal, moment; /* a motion whose rate along these is negative comes nearer */
} slide_constraint;

static flr_plan_twist difference(const flr_plan_space *s, flr_pose from, flr_pose to)
{
    return (flr_plan_twist){
        flr_quat_to_rotation_vector(flr_quat_mul(to.q, flr_quat_conjugate(from.q))),
        flr_vec3_sub(flr_pose_apply(to, s->centre), flr_pose_apply(from, s->centre))};
}

static double length_of(const flr_plan_space *s, flr_plan_twist by)
{
    return flr_vec3_length(by.move) + s->radius * flr_vec3_length(by.turn);
}

static flr_plan_twist scaled(flr_plan_twist by, double factor)
{
    return (flr_plan_twist){flr_vec3_scale(by.turn, factor), flr_vec3_scale(by.move, factor)};
}

flr_plan_twist flr_plan_push(const flr_plan_space *s, flr_vec3 point, flr_vec3 normal,
                             flr_vec3 middle, double by)
{
    const double inertia = 0.36 * s->radius * s->radius;
    const flr_vec3 moment = flr_vec3_cross(flr_vec3_sub(point, middle), normal);
    const double push = by / (1 + flr_vec3_length2(moment) / inertia);
    return (flr_plan_twist){flr_vec3_scale(moment, push / inertia), flr_vec3_scale(normal, push)};
}

/* Takes away what goes against the constraints, and lifts off them a little. */
static flr_plan_twist project(const flr_plan_space *s, flr_plan_twist by,
                              const slide_constraint *constraints, uint32_t count)
{
    const double inertia = 0.36 * s->radius * s->radius, lift = 0.02 * length_of(s, by);
    for (int sweep = 0; sweep < PROJECTIONS; sweep++)
        for (uint32_t i = 0; i < count; i++) {
            const slide_constraint *c = &constraints[i];
            const double rate =
                flr_vec3_dot(c->normal, by.move) + flr_vec3_dot(c->moment, by.turn) - lift;
            if (rate >= 0) continue;
            const double push = -rate / (1 + flr_vec3_length2(c->moment) / inertia);
            by.move = flr_vec3_add_scaled(by.move, push, c->normal);
            by.turn = flr_vec3_add_scaled(by.turn, push / inertia, c->moment);
        }
    return by;
}

flr_pose flr_plan_displace(const flr_plan_space *space, flr_pose T, flr_plan_twist by)
{
    flr_pose to;
    to.q = flr_quat_normalize(flr_quat_mul(flr_quat_from_rotation_vector(by.turn), T.q));
    const flr_vec3 middle = flr_vec3_add(flr_pose_apply(T, space->centre), by.move);
    to.p = flr_vec3_sub(middle, flr_quat_rotate(to.q, space->centre));
    return to;
}

static void add_constraint(slide_constraint *constraints, uint32_t *count,
                           const flr_plan_stop *stop, flr_vec3 middle)
{
    if (!(flr_vec3_length2(stop->place.normal) > 0.5)) return;
    if (*count == MAX_CONSTRAINTS) {
        for (int i = 1; i < MAX_CONSTRAINTS; i++) constraints[i - 1] = constraints[i];
        --*count;
    }
    const flr_vec3 arm = flr_vec3_sub(stop->place.point[1], middle);
    constraints[(*count)++] =
        (slide_constraint){stop->place.normal, flr_vec3_cross(arm, stop->place.normal)};
}

uint32_t flr_plan_extend_by(const flr_plan_space *s, flr_plan_tree *tree, uint32_t node,
                            flr_pose target, double max_travel, double least, flr_plan_trial trial,
                            void *context, bool *there)
{
    slide_constraint constraints[MAX_CONSTRAINTS];
    uint32_t count = 0;
    *there = false;
    flr_plan_twist by = difference(s, tree->nodes[node].T, target);
    const double length = length_of(s, by);
    const bool whole = length <= max_travel;
    if (!whole) {
        by = scaled(by, max_travel / length);
        target = flr_plan_displace(s, tree->nodes[node].T, by);
    }
    for (int slide = 0; slide < MAX_SLIDES; slide++) {
        const flr_pose from = tree->nodes[node].T;
        by = project(s, difference(s, from, target), constraints, count);
        const double travel = length_of(s, by);
        if (travel < 2 * least) break;
        const flr_plan_motion motion = {from, count ? flr_plan_displace(s, from, by) : target,
                                        s->centre};
        const flr_plan_stop stop = trial(context, &motion);
        if (stop.free * travel > least) {
            const flr_pose T = flr_fit_motion_pose(&motion, stop.free);
            const uint32_t next = flr_plan_tree_add(tree, s, T, node, s->centre);
            if (next == FLR_NONE) return FLR_NONE;
            node = next;
        }
        if (stop.free == 1) {
            *there = whole && !count;
            if (!count) break;
            // past what was in the way: straight on again
            count = 0;
            continue;
        }
        add_constraint(constraints, &count, &stop, tree->nodes[node].middle);
    }
    return node;
}

static flr_plan_stop try_exactly(void *context, const flr_plan_motion *motion)
{
    return flr_plan_try(context, motion);
}

uint32_t flr_plan_extend(flr_plan_worker *w, flr_plan_tree *tree, uint32_t node, flr_pose target,
                         double max_travel, double least, bool *there)
{
    const uint32_t end =
        flr_plan_extend_by(w->space, tree, node, target, max_travel, least, try_exactly, w, there);
    if (end != FLR_NONE) return end;
    w->no_memory = true;
    return node;
}
