/* a search that begins with too little clearance
 *
 * Where a passage is narrow, random poses hardly ever lie in it. So the parts may overlap at first, by a depth that is a part
 * of the thickness of what is in the way: a path is then soon found. It is lifted off the surfaces, pose by pose, and
 * where it does not keep a smaller depth it is searched again, between the pieces that do; and so on until it keeps the
 * clearance (small-step retraction: Saha, Latombe, Chang, Prinz, "Finding narrow passages with probabilistic roadmaps", 2005).
 * Trees grow from both sides and slide along surfaces.
 *
 * All of this asks the field (plan_field.h). Only the path that comes out is checked exactly. */
#include <stdlib.h>
#include <string.h>

#include "plan/plan_field.h"
#include "plan/plan_tree.h"

enum {
    FIRST_ROUNDS = 2500, /* samples to find the first path */
    GAP_ROUNDS = 400,    /* samples to mend one piece */
    LIFT_ROUNDS = 40,    /* the same, where it is good enough already */
    MAX_HALVINGS = 3,
    MAX_PUSHES = 12,
    MAX_NEAR_PLACES = 192,
    PUSH_PASSES = 12,
    OUT_ROOTS = 12
};

typedef struct pose_list {
    flr_pose *at;
    size_t count, capacity;
} pose_list;

static bool append(pose_list *list, flr_pose T)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 256;
        flr_pose *more = realloc(list->at, capacity * sizeof *more);
        if (!more) return false;
        list->at = more;
        list->capacity = capacity;
    }
    list->at[list->count++] = T;
    return true;
}

typedef struct relax {
    flr_plan_worker *w;
    const flr_plan_space *s;
    const flr_plan_field *f;
    double floor;  /* what a pose keeps now; negative: a depth */
    double target; /* what the path keeps in the end */
    flr_pose ends[2];
    double at_end[2]; /* distances there; INFINITY: no such end */
    flr_plan_tree trees[2];
    bool *valid;     /* [poses of a path] which keep the floor */
    double least;    /* metres: shorter moves are none */
    uint32_t rounds; /* to mend a piece */
    flr_plan_witness places[MAX_NEAR_PLACES];
} relax;

/* ---- poses and motions ---- */

/* Near the start, which may be a fit, a pose keeps what it has there. */
static double floor_at(const relax *x, flr_pose T)
{
    double floor = x->floor;
    for (int i = 0; i < 2; i++) {
        const double least = x->at_end[i] - 0.25 * x->f->cell;
        if (least >= floor) continue;
        floor = fmin(floor, least + 0.2 * flr_plan_apart(x->s, x->ends[i], T));
    }
    return floor;
}

static bool keeps(const relax *x, flr_pose T)
{
    const double floor = floor_at(x, T);
    return flr_plan_field_query(x->f, T, floor + x->f->cell, floor, NULL) >= floor;
}

/* How much of a motion keeps the floor, in steps as long as the distance allows. */
static flr_plan_stop try_field(void *context, const flr_plan_motion *motion)
{
    relax *x = context;
    const double travel = flr_plan_travel(x->s, motion), most = 0.3 * x->s->size,
                 least_step = fmax(0.4 * x->f->cell, -0.2 * x->floor);
    double at = 0, good = 0;
    flr_plan_stop stop = {.free = 1};
    flr_plan_witness witness;
    for (;;) {
        const flr_pose T = flr_fit_motion_pose(motion, at);
        const double floor = floor_at(x, T);
        const double d = flr_plan_field_query(x->f, T, most, floor, &witness);
        if (d < floor) break;
        good = at;
        if (at >= 1) return stop;
        at = travel > 0 ? fmin(at + fmax(0.9 * (d - floor), least_step) / travel, 1) : 1;
    }
    stop.free = good;
    stop.place.point[1] = witness.point;
    stop.place.normal = witness.normal;
    return stop;
}

/* The least motion after which all places that are too near keep the floor, as far as normals tell. */
static flr_plan_twist push_off(relax *x, flr_pose T, double floor)
{
    const uint32_t count =
        flr_plan_field_places(x->f, T, floor + 0.5 * x->f->cell, x->places, MAX_NEAR_PLACES);
    const flr_vec3 middle = flr_pose_apply(T, x->s->centre);
    flr_plan_twist by = {flr_vec3_zero(), flr_vec3_zero()};
    for (int pass = 0; pass < PUSH_PASSES; pass++) {
        double worst = 0;
        for (uint32_t i = 0; i < count; i++) {
            const flr_plan_witness *p = &x->places[i];
            const flr_vec3 moment = flr_vec3_cross(flr_vec3_sub(p->point, middle), p->normal);
            const double lacks = floor + 0.1 * x->f->cell - p->distance -
                                 flr_vec3_dot(p->normal, by.move) - flr_vec3_dot(moment, by.turn);
            if (lacks <= 0) continue;
            worst = fmax(worst, lacks);
            const flr_plan_twist push =
                flr_plan_push(x->s, p->point, p->normal, middle, 1.2 * lacks);
            by.move = flr_vec3_add(by.move, push.move);
            by.turn = flr_vec3_add(by.turn, push.turn);
        }
        if (worst < 0.02 * x->f->cell) break;
    }
    // normals hold nearby only
    const double length = flr_vec3_length(by.move) + x->s->radius * flr_vec3_length(by.turn),
                 most = fmax(4 * x->f->cell, 0.03 * x->s->size);
    if (length > most) {
        by.move = flr_vec3_scale(by.move, most / length);
        by.turn = flr_vec3_scale(by.turn, most / length);
    }
    return by;
}

/* Off the surfaces until a pose keeps the floor; false: that does not come about. */
static bool retract(relax *x, flr_pose *T, double extra)
{
    for (int i = 0; i < MAX_PUSHES; i++) {
        const double floor = floor_at(x, *T) + extra;
        if (flr_plan_field_query(x->f, *T, floor, floor, NULL) >= floor) return true;
        *T = flr_plan_displace(x->s, *T, push_off(x, *T, floor));
    }
    return false;
}

/* ---- trees from both sides ---- */

static flr_pose near_pose(relax *x, flr_pose T, double most)
{
    flr_plan_random *r = &x->w->random;
    const double kind = flr_plan_random_unit(r),
                 scale = most * pow(10, -3 * flr_plan_random_unit(r));
    flr_plan_twist by = {flr_vec3_scale(flr_plan_random_normal(r), scale / (0.6 * x->s->radius)),
                         flr_vec3_scale(flr_plan_random_normal(r), scale)};
    if (kind < 0.2) by.turn = flr_vec3_zero();
    if (kind > 0.8) by.move = flr_vec3_zero();
    return flr_plan_displace(x->s, T, by);
}

static flr_pose anywhere(relax *x)
{
    flr_plan_random *r = &x->w->random;
    const flr_box3 box = flr_box3_grow(x->s->box, 0.7 * x->s->radius);
    flr_vec3 p;
    p.x = box.low.x + flr_plan_random_unit(r) * (box.high.x - box.low.x);
    p.y = box.low.y + flr_plan_random_unit(r) * (box.high.y - box.low.y);
    p.z = box.low.z + flr_plan_random_unit(r) * (box.high.z - box.low.z);
    const flr_quat q = flr_plan_random_turn(r);
    return (flr_pose){flr_vec3_sub(p, flr_quat_rotate(q, x->s->centre)), q};
}

/* Anywhere, near a pose that was reached, or near the piece of a path that has to be mended; half of them lifted off the
 * surfaces. */
static flr_pose pick(relax *x, const flr_plan_tree *tree, const flr_plan_tree *other,
                     const pose_list *guide, size_t first, size_t last)
{
    flr_plan_random *r = &x->w->random;
    double kind = flr_plan_random_unit(r);
    flr_pose T;
    if (kind < 0.05) return other->nodes[flr_plan_random_u64(r) % other->count].T;
    kind = flr_plan_random_unit(r);
    if (guide && kind < 0.7) {
        const size_t i = first + flr_plan_random_u64(r) % (last - first + 1);
        T = near_pose(x, guide->at[i], 0.25 * x->s->size);
    } else if (kind < (guide ? 0.9 : 0.4)) {
        T = near_pose(x, tree->nodes[flr_plan_random_u64(r) % tree->count].T, 0.4 * x->s->size);
    } else {
        T = anywhere(x);
    }
    if (flr_plan_random_unit(r) < 0.6) retract(x, &T, 0);
    return T;
}

/* Grows both trees until they meet; the nodes where they do. */
static bool join(relax *x, uint32_t rounds, const pose_list *guide, size_t first, size_t last,
                 uint32_t met[2])
{
    for (uint32_t i = 0; i < rounds; i++) {
        const int side = (int)(i & 1);
        flr_plan_tree *tree = &x->trees[side], *other = &x->trees[!side];
        bool there;
        if (x->w->give_up(x->w->give_up_context)) return false;
        flr_plan_count(x->w);
        const flr_pose target = pick(x, tree, other, guide, first, last);
        const uint32_t from = flr_plan_tree_nearest(tree, x->s, target, NULL);
        const uint32_t node =
            flr_plan_extend_by(x->s, tree, from, target, INFINITY, x->least, try_field, x, &there);
        x->w->no_memory |= node == FLR_NONE;
        if (x->w->no_memory) return false;
        if (node == from) continue;
        const flr_pose T = tree->nodes[node].T;
        const uint32_t near = flr_plan_tree_nearest(other, x->s, T, NULL);
        const uint32_t end =
            flr_plan_extend_by(x->s, other, near, T, INFINITY, x->least, try_field, x, &there);
        x->w->no_memory |= end == FLR_NONE;
        if (x->w->no_memory) return false;
        if (!there) continue;
        met[side] = node, met[!side] = end;
        return true;
    }
    return false;
}

/* ---- paths ---- */

/* Puts poses between two, so that no point goes farther from one to the next than `step`. */
static bool append_fine(const relax *x, pose_list *list, flr_pose from, flr_pose to)
{
    const flr_plan_motion motion = {from, to, x->s->centre};
    const double steps = fmin(ceil(flr_plan_travel(x->s, &motion) / (4 * x->f->cell)), 4096);
    for (double i = 1; i <= steps; i++)
        if (!append(list, flr_fit_motion_pose(&motion, i / steps))) return false;
    return true;
}

/* From the root of the first tree to the node where they met, and on to a root of the second. */
static bool read_path(relax *x, const uint32_t met[2], pose_list *path)
{
    const flr_plan_node *nodes = x->trees[0].nodes;
    path->count = 0;
    uint32_t count = 0;
    for (uint32_t i = met[0]; i != FLR_NONE; i = nodes[i].parent) count++;
    flr_pose *back = malloc((count + 1u) * sizeof *back);
    if (!back) return false;
    uint32_t k = count;
    for (uint32_t i = met[0]; i != FLR_NONE; i = nodes[i].parent) back[--k] = nodes[i].T;
    bool stored = append(path, back[0]);
    for (k = 1; k < count && stored; k++) stored = append_fine(x, path, back[k - 1], back[k]);
    free(back);
    flr_pose last = path->at[path->count - 1];
    nodes = x->trees[1].nodes;
    for (uint32_t i = met[1]; i != FLR_NONE && stored; i = nodes[i].parent) {
        stored = append_fine(x, path, last, nodes[i].T);
        last = nodes[i].T;
    }
    return stored;
}

/* Leaves out detours. */
static bool shorten(relax *x, pose_list *path, int tries)
{
    flr_plan_random *r = &x->w->random;
    for (int i = 0; i < tries && path->count > 3; i++) {
        size_t a = flr_plan_random_u64(r) % path->count, b = flr_plan_random_u64(r) % path->count;
        if (a > b) {
            const size_t swap = a;
            a = b, b = swap;
        }
        if (b - a < 3) continue;
        const flr_plan_motion direct = {path->at[a], path->at[b], x->s->centre};
        const size_t steps =
            (size_t)fmin(ceil(flr_plan_travel(x->s, &direct) / (4 * x->f->cell)), 4096);
        if (steps >= b - a || try_field(x, &direct).free < 1) continue;
        for (size_t k = 1; k < steps; k++)
            path->at[a + k] = flr_fit_motion_pose(&direct, (double)k / (double)steps);
        const size_t first = a + (steps ? steps : 1);
        memmove(path->at + first, path->at + b, (path->count - b) * sizeof *path->at);
        path->count -= b - first;
    }
    return true;
}

static bool add_chain(relax *x, flr_plan_tree *tree, const pose_list *path, size_t first,
                      size_t last, bool backwards)
{
    uint32_t parent = FLR_NONE;
    for (size_t i = 0; i <= last - first; i++) {
        const flr_pose T = path->at[backwards ? last - i : first + i];
        parent = flr_plan_tree_add(tree, x->s, T, parent, x->s->centre);
        if (parent == FLR_NONE) return false;
    }
    return true;
}

/* The end of the piece that begins at a pose: all its poses and the motions between them keep the floor. */
static size_t end_of_piece(relax *x, const pose_list *path, size_t first)
{
    size_t last = first;
    while (last + 1 < path->count && x->valid[last + 1]) {
        const flr_plan_motion motion = {path->at[last], path->at[last + 1], x->s->centre};
        if (try_field(x, &motion).free < 1) break;
        last++;
    }
    return last;
}

/* From the piece that has been mended so far, which ends at `done`, on to one of the later pieces. Their poses become the
 * path. */
static bool mend_once(relax *x, pose_list *path, size_t *done)
{
    flr_plan_tree_free(&x->trees[0]);
    flr_plan_tree_free(&x->trees[1]);
    bool stored = add_chain(x, &x->trees[0], path, 0, *done, false);
    size_t gap_end = path->count - 1;
    uint32_t roots[64][2], root_count = 0; // the first node of a piece, its last pose
    for (size_t i = *done + 1; i < path->count && stored && root_count < 64; i++) {
        if (!x->valid[i]) continue;
        const size_t last = end_of_piece(x, path, i);
        if (!root_count) gap_end = i;
        roots[root_count][0] = x->trees[1].count, roots[root_count++][1] = (uint32_t)last;
        stored = add_chain(x, &x->trees[1], path, i, last, true);
        i = last;
    }
    x->w->no_memory |= !stored;
    uint32_t met[2];
    if (!stored || !root_count) return false;
    if (!join(x, x->rounds, path, *done, gap_end, met)) return false;
    // which piece was it?
    uint32_t root = met[1], piece = 0;
    while (x->trees[1].nodes[root].parent != FLR_NONE) root = x->trees[1].nodes[root].parent;
    while (roots[piece][0] != root) piece++;
    pose_list next = {0};
    stored = read_path(x, met, &next);
    const size_t mended = next.count;
    for (size_t i = roots[piece][1] + 1; i < path->count && stored; i++)
        stored = append(&next, path->at[i]);
    bool *valid = stored ? malloc(next.count * sizeof *valid) : NULL;
    x->w->no_memory |= !valid;
    if (!valid) {
        free(next.at);
        return false;
    }
    for (size_t i = 0; i < next.count; i++)
        valid[i] = i < mended || x->valid[roots[piece][1] + 1 + (i - mended)];
    free(x->valid);
    x->valid = valid;
    free(path->at);
    *path = next;
    *done = mended - 1;
    return true;
}

/* Makes a path keep the floor. */
static bool mend(relax *x, pose_list *path)
{
    free(x->valid);
    x->valid = malloc(path->count * sizeof *x->valid);
    if (!x->valid) {
        x->w->no_memory = true;
        return false;
    }
    for (size_t i = 0; i < path->count; i++) {
        flr_pose T = path->at[i];
        const bool fixed = i == 0 || i + 1 == path->count;
        x->valid[i] = fixed || retract(x, &T, 0.1 * x->f->cell) || keeps(x, T);
        if (x->valid[i] && !fixed) path->at[i] = T;
    }
    size_t done = 0;
    for (;;) {
        if (x->w->give_up(x->w->give_up_context)) return false;
        done = end_of_piece(x, path, done);
        if (done + 1 == path->count) return true;
        if (!mend_once(x, path, &done)) return false;
    }
}

/* ---- one attempt ---- */

/* The goal, or poses outside from which it is clear. */
static bool plant(relax *x)
{
    flr_plan_random *r = &x->w->random;
    const flr_plan_search *search = x->w->search;
    bool stored =
        flr_plan_tree_add(&x->trees[0], x->s, x->ends[0], FLR_NONE, x->s->centre) != FLR_NONE;
    if (search->to_given)
        return stored && flr_plan_tree_add(&x->trees[1], x->s, search->to, FLR_NONE,
                                           x->s->centre) != FLR_NONE;
    for (int i = 0; i < OUT_ROOTS && stored; i++) {
        const flr_pose T = {search->from.p, i % 2 ? flr_plan_random_turn(r) : search->from.q};
        const flr_plan_motion out = flr_plan_leave(x->s, T, flr_plan_direction((uint32_t)(i % 6)));
        stored = flr_plan_tree_add(&x->trees[1], x->s, out.to, FLR_NONE, x->s->centre) != FLR_NONE;
    }
    return stored;
}

/* By the poses that somebody thinks lead there; false: nothing near them does. */
static bool find_by_via(relax *x, pose_list *path)
{
    const flr_plan_search *search = x->w->search;
    flr_pose last = search->via[search->via_count - 1];
    const flr_vec3 start = flr_pose_apply(search->from, x->s->centre),
                   end = flr_pose_apply(last, x->s->centre);
    bool stored = append(path, search->from);
    for (size_t i = 0; i < search->via_count && stored; i++)
        stored = append_fine(x, path, i ? search->via[i - 1] : search->from, search->via[i]);
    // on the way that it went, or to the goal
    if (flr_vec3_distance(start, end) > 0)
        last = flr_plan_leave(x->s, last, flr_vec3_normalize(flr_vec3_sub(end, start))).to;
    if (search->to_given) last = search->to;
    stored = stored && append_fine(x, path, search->via[search->via_count - 1], last);
    x->w->no_memory |= !stored;
    return stored && path->count > 1 && mend(x, path);
}

static bool find_first(relax *x, pose_list *path)
{
    uint32_t met[2];
    if (x->w->search->via_count && x->w->attempts % 2 == 1) {
        if (find_by_via(x, path)) return true;
        if (x->w->no_memory) return false;
        flr_plan_tree_free(&x->trees[0]);
        flr_plan_tree_free(&x->trees[1]);
        path->count = 0;
    }
    if (!plant(x)) {
        x->w->no_memory = true;
        return false;
    }
    if (!join(x, FIRST_ROUNDS, NULL, 0, 0, met)) return false;
    x->w->no_memory |= !read_path(x, met, path);
    return !x->w->no_memory;
}

/* From a path that keeps one floor to one that keeps a higher one, in smaller steps where that fails. */
static bool raise(relax *x, pose_list *path, double to)
{
    int halvings = 0;
    double from = x->floor;
    while (from < to) {
        x->floor = from + (to - from) / (1 << halvings);
        if (mend(x, path)) {
            from = x->floor;
            if (halvings) halvings--;
            shorten(x, path, 60);
            continue;
        }
        if (x->w->no_memory || ++halvings > MAX_HALVINGS) return false;
        if (x->w->give_up(x->w->give_up_context)) return false;
    }
    return true;
}

/* As far off the surfaces as the path goes without a new search: the check is exact. */
static void lift(relax *x, pose_list *path)
{
    for (double cells = 0.2; cells < 8; cells *= 1.6) {
        pose_list higher = {0};
        const double floor = x->floor;
        for (size_t i = 0; i < path->count; i++)
            if (!append(&higher, path->at[i])) break;
        x->floor = x->target + cells * x->f->cell;
        x->rounds = LIFT_ROUNDS;
        const bool lifted = higher.count == path->count && mend(x, &higher);
        x->rounds = GAP_ROUNDS;
        if (!lifted) {
            free(higher.at);
            x->floor = floor;
            return;
        }
        free(path->at);
        *path = higher;
    }
}

void flr_plan_relax(flr_plan_worker *worker)
{
    static const double depths[] = {0.5, 0.25, 0.8, 0.12, 0};
    relax x = {.w = worker, .s = worker->space, .f = worker->field, .rounds = GAP_ROUNDS};
    const flr_plan_search *search = worker->search;
    pose_list path = {0};
    x.ends[0] = search->from, x.ends[1] = search->to;
    for (int i = 0; i < 2; i++)
        x.at_end[i] = i == 0 || search->to_given
                          ? flr_plan_field_query(x.f, x.ends[i], x.s->size, -INFINITY, NULL)
                          : INFINITY;
    const double share = depths[worker->attempts++ % (sizeof depths / sizeof *depths)];
    x.target = x.s->clearance + x.s->margin - 0.1 * x.f->cell;
    x.floor = fmin(-share * x.f->depth, x.target);
    x.least = fmin(1e-3 * x.s->size, 0.15 * x.f->cell);
    worker->method = FLR_PLAN_TREE;
    bool found = find_first(&x, &path);
    while (found && x.floor < x.target) {
        const double next = x.floor < -x.f->cell ? 0.5 * x.floor : x.target;
        found = raise(&x, &path, next);
    }
    if (found) {
        shorten(&x, &path, 200);
        lift(&x, &path);
        flr_plan_repair(worker, path.at, path.count);
    }
    for (int i = 0; i < 2; i++) flr_plan_tree_free(&x.trees[i]);
    free(x.valid);
    free(path.at);
}
