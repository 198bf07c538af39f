/* the exact distance of two meshes: both trees of boxes together, nearest first
 *
 * All triangles are compared in the frame of part b. The order of the walk depends on the boxes alone, and a pair of
 * boxes is left out only when nothing in it can be nearer than the best so far. So the first pair of triangles with the
 * least distance is found whatever the search begins with, as long as that is farther: the witness does not show.  */
#include "feeler/distance.h"

#include <float.h>
#include <math.h>

#include "contact/gauge_tree.h"
#include "mesh/nearest.h"
#include "voxel/clones.h"

enum { GAUGE_STACK = (FLR_GAUGE_WIDE - 1) * 2 * FLR_GAUGE_DEPTH + 1 };

flr_gauge_params flr_default_gauge_params(void)
{
    flr_gauge_params params = {.max_distance = INFINITY};
    return params;
}

flr_gauge_witness flr_no_witness(void)
{
    flr_gauge_witness none = {FLR_NONE, FLR_NONE};
    return none;
}

/* ---- boxes ---- */

/* from the frame of the boxes to that of the box they are compared with */
typedef struct way {
    double turn[3][3], size[3][3]; /* the rotation, and its numbers without their signs */
    double shift[3];
} way;

/* a box of the other part, seen from both frames; metres */
typedef struct gauge_seen {
    double centre[3], half[3]; /* in its own frame */
    double from[3], reach[3];  /* its centre and the box around it in the other's frame */
} gauge_seen;

static way way_of(flr_pose T)
{
    const flr_mat3 m = flr_quat_to_mat3(T.q);
    way w = {.shift = {T.p.x, T.p.y, T.p.z}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            w.turn[i][k] = m.m[i][k];
            w.size[i][k] = fabs(m.m[i][k]);
        }
    return w;
}

/* A box of `node`, and how the frame at the end of `out` sees it. */
static gauge_seen see(const flr_gauge_node *node, unsigned slot, const way *out)
{
    gauge_seen s;
    for (int i = 0; i < 3; i++) {
        const double low = (double)node->low[i][slot], high = (double)node->high[i][slot];
        s.centre[i] = 0.5 * (low + high);
        s.half[i] = 0.5 * (high - low);
    }
    for (int i = 0; i < 3; i++) {
        s.from[i] = out->shift[i];
        s.reach[i] = 0;
        for (int k = 0; k < 3; k++) {
            s.from[i] += out->turn[i][k] * s.centre[k];
            s.reach[i] += out->size[i][k] * s.half[k];
        }
    }
    return s;
}

static double diagonal2(const flr_gauge_node *node, unsigned slot)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double side = (double)node->high[i][slot] - (double)node->low[i][slot];
        sum += side * side;
    }
    return sum;
}

/* Squared distances, at least, from the boxes of a node to another box: that of the boxes around each other in the one
 * frame and in the other, or how far they are apart along the line between their centres, whichever is most. `to` leads
 * from the node's frame to the other's. */
FLR_CLONES static void bounds(const flr_gauge_node *node, const gauge_seen *other, const way *to,
                              double slack, double least2[FLR_GAUGE_WIDE])
{
    for (int slot = 0; slot < FLR_GAUGE_WIDE; slot++) {
        double c[3], h[3], here = 0, there = 0, apart2 = 0, sum = 0;
        for (int i = 0; i < 3; i++) {
            const double low = (double)node->low[i][slot], high = (double)node->high[i][slot];
            c[i] = 0.5 * (low + high);
            h[i] = 0.5 * (high - low);
            const double apart = fabs(c[i] - other->from[i]);
            apart2 += apart * apart;
            sum += apart * h[i];
            double gap = apart - h[i] - other->reach[i] - slack;
            gap = gap > 0 ? gap : 0;
            here += gap * gap;
        }
        for (int i = 0; i < 3; i++) {
            const double at = to->turn[i][0] * c[0] + to->turn[i][1] * c[1] +
                              to->turn[i][2] * c[2] + to->shift[i];
            const double reach =
                to->size[i][0] * h[0] + to->size[i][1] * h[1] + to->size[i][2] * h[2];
            const double apart = fabs(at - other->centre[i]);
            sum += apart * other->half[i];
            double gap = apart - reach - other->half[i] - slack;
            gap = gap > 0 ? gap : 0;
            there += gap * gap;
        }
        double along = (apart2 - sum) / (sqrt(apart2) + DBL_MIN) - 2 * slack;
        along = along > 0 ? along : 0;
        here = here > there ? here : there;
        least2[slot] = here > along * along ? here : along * along;
    }
}

/* ---- the walk ---- */

/* two boxes that may hold something nearer */
typedef struct gauge_waiting {
    double least2;
    uint32_t node[2];
    uint8_t slot[2];
} gauge_waiting;

typedef struct gauge_search {
    const flr_gauge_part *parts[2];
    flr_pose T_b_a;
    way ways[2]; /* from a to b, from b to a */
    double slack;
    flr_nearest best;
    double reach2; /* of the best, with the slack: what is farther need not be measured */
    uint32_t triangles[2];
    uint64_t work, max_work;
    double enough2; /* a pair as near as this will do */
    bool found;
} gauge_search;

static void corners_of(const gauge_search *s, int side, uint32_t triangle, flr_vec3 corners[3])
{
    const flr_mesh *mesh = s->parts[side]->mesh;
    for (int i = 0; i < 3; i++) {
        const flr_vec3 v = mesh->vertices[mesh->triangles[triangle].v[i]];
        corners[i] = side == 0 ? flr_pose_apply(s->T_b_a, v) : v;
    }
}

static double gap(double a_low, double a_high, double b_low, double b_high, double slack)
{
    const double below = a_low - b_high - slack, above = b_low - a_high - slack;
    return below > 0 ? below : above > 0 ? above : 0;
}

/* Are the boxes of two triangles farther apart than the best? */
static bool boxes_apart(const gauge_search *s, flr_vec3 low, flr_vec3 high, const flr_vec3 b[3])
{
    const flr_vec3 l = flr_vec3_min(b[0], flr_vec3_min(b[1], b[2])),
                   h = flr_vec3_max(b[0], flr_vec3_max(b[1], b[2]));
    const double x = gap(low.x, high.x, l.x, h.x, s->slack),
                 y = gap(low.y, high.y, l.y, h.y, s->slack),
                 z = gap(low.z, high.z, l.z, h.z, s->slack);
    return x * x + y * y + z * z >= s->best.distance2;
}

/* Are two triangles farther apart than the best along an axis of any length? */
static bool apart_along(const gauge_search *s, flr_vec3 axis, const flr_vec3 a[3],
                        const flr_vec3 b[3])
{
    double x[3], y[3];
    for (int i = 0; i < 3; i++) x[i] = flr_vec3_dot(axis, a[i]), y[i] = flr_vec3_dot(axis, b[i]);
    const double a_low = fmin(x[0], fmin(x[1], x[2])), a_high = fmax(x[0], fmax(x[1], x[2])),
                 b_low = fmin(y[0], fmin(y[1], y[2])), b_high = fmax(y[0], fmax(y[1], y[2]));
    const double between = fmax(a_low - b_high, b_low - a_high);
    return between > 0 && between * between >= s->reach2 * flr_vec3_length2(axis);
}

static flr_vec3 normal(const flr_vec3 t[3])
{
    return flr_vec3_cross(flr_vec3_sub(t[1], t[0]), flr_vec3_sub(t[2], t[0]));
}

/* Is a triangle farther than the best from all within `radius` of a point? */
static bool ball_apart(const gauge_search *s, const flr_vec3 t[3], flr_vec3 centre, double radius)
{
    const double reach = sqrt(s->reach2) + radius;
    return flr_triangle_point2(t, centre) >= reach * reach;
}

/* Most pairs that are near one another, but not the nearest, lie apart along one of these. */
static bool triangles_apart(const gauge_search *s, const flr_vec3 a[3], const flr_vec3 b[3])
{
    const flr_vec3 between = flr_vec3_sub(flr_vec3_add(a[0], flr_vec3_add(a[1], a[2])),
                                          flr_vec3_add(b[0], flr_vec3_add(b[1], b[2])));
    return apart_along(s, between, a, b) || apart_along(s, normal(b), a, b) ||
           apart_along(s, normal(a), a, b);
}

static void set_best(gauge_search *s, double distance2)
{
    const double reach = sqrt(distance2) + s->slack;
    s->best.distance2 = distance2;
    s->reach2 = reach * reach;
}

/* the triangles of a leaf, in the frame of b */
typedef struct leaf {
    flr_vec3 corners[FLR_GAUGE_LEAF][3];
    uint32_t triangles[FLR_GAUGE_LEAF];
    unsigned count;
} leaf;

static void take_leaf(const gauge_search *s, int side, const gauge_waiting *w, leaf *to)
{
    const flr_gauge_node *node = &s->parts[side]->nodes[w->node[side]];
    to->count = node->count[w->slot[side]];
    for (unsigned i = 0; i < to->count; i++) {
        to->triangles[i] = s->parts[side]->order[node->first[w->slot[side]] + i];
        corners_of(s, side, to->triangles[i], to->corners[i]);
    }
}

/* Squared distance, at least, from the triangles of a leaf to all within `radius` of a point in the frame of b. Boxes of
 * long triangles are wide, the triangles are not. */
static double around2(const gauge_search *s, const leaf *l, flr_vec3 centre, double radius)
{
    double least2 = INFINITY;
    for (unsigned i = 0; i < l->count; i++)
        least2 = fmin(least2, flr_triangle_point2(l->corners[i], centre));
    const double least = sqrt(least2) - radius - s->slack;
    return least > 0 ? least * least : 0;
}

/* The same for a box of part `side`. */
static double box_around2(const gauge_search *s, const leaf *l, int side,
                          const flr_gauge_node *node, unsigned slot)
{
    flr_vec3 centre =
        flr_vec3_make(0.5 * ((double)node->low[0][slot] + (double)node->high[0][slot]),
                      0.5 * ((double)node->low[1][slot] + (double)node->high[1][slot]),
                      0.5 * ((double)node->low[2][slot] + (double)node->high[2][slot]));
    if (side == 0) centre = flr_pose_apply(s->T_b_a, centre);
    return around2(s, l, centre, 0.5 * sqrt(diagonal2(node, slot)));
}

/* Measures the triangles of two leaves; false when that was cut short. */
static bool measure(gauge_search *s, const gauge_waiting *w)
{
    leaf a, b;
    take_leaf(s, 0, w, &a);
    take_leaf(s, 1, w, &b);
    for (unsigned i = 0; i < a.count; i++) {
        const flr_vec3 *p = a.corners[i];
        const flr_vec3 low = flr_vec3_min(p[0], flr_vec3_min(p[1], p[2])),
                       high = flr_vec3_max(p[0], flr_vec3_max(p[1], p[2]));
        const flr_vec3 centre = flr_vec3_lerp(low, high, 0.5);
        const double radius = 0.5 * flr_vec3_distance(low, high);
        for (unsigned k = 0; k < b.count; k++) {
            const flr_vec3 *q = b.corners[k];
            if (boxes_apart(s, low, high, q) || ball_apart(s, q, centre, radius) ||
                triangles_apart(s, p, q))
                continue;
            if (s->work == s->max_work) return false;
            s->work++;
            if (!flr_triangles_nearest(p, q, &s->best)) continue;
            s->found = true;
            set_best(s, s->best.distance2);
            s->triangles[0] = a.triangles[i], s->triangles[1] = b.triangles[k];
        }
    }
    return true;
}

/* Opens the larger of two boxes; what is in it goes onto the stack, the nearest last. */
static unsigned open_box(const gauge_search *s, const gauge_waiting *w, gauge_waiting *stack,
                         unsigned depth)
{
    const flr_gauge_node *held[2] = {&s->parts[0]->nodes[w->node[0]],
                                     &s->parts[1]->nodes[w->node[1]]};
    const bool ends[2] = {held[0]->count[w->slot[0]] > 0, held[1]->count[w->slot[1]] > 0};
    const int side = ends[0]                                                            ? 1
                     : ends[1]                                                          ? 0
                     : diagonal2(held[0], w->slot[0]) >= diagonal2(held[1], w->slot[1]) ? 0
                                                                                        : 1;
    const uint32_t number = held[side]->first[w->slot[side]];
    const gauge_seen other = see(held[1 - side], w->slot[1 - side], &s->ways[1 - side]);
    double least2[FLR_GAUGE_WIDE];
    const flr_gauge_node *node = &s->parts[side]->nodes[number];
    bounds(node, &other, &s->ways[side], s->slack, least2);
    leaf other_leaf;
    if (ends[1 - side]) take_leaf(s, 1 - side, w, &other_leaf);
    const unsigned bottom = depth;
    for (unsigned slot = 0; slot < FLR_GAUGE_WIDE && node->count[slot] != FLR_GAUGE_EMPTY; slot++) {
        if (!(least2[slot] < s->best.distance2)) continue;
        if (ends[1 - side])
            least2[slot] = fmax(least2[slot], box_around2(s, &other_leaf, side, node, slot));
        if (!(least2[slot] < s->best.distance2)) continue;
        gauge_waiting next = *w;
        next.least2 = least2[slot];
        next.node[side] = number;
        next.slot[side] = (uint8_t)slot;
        unsigned at = depth++;
        for (; at > bottom && stack[at - 1].least2 <= least2[slot]; at--) stack[at] = stack[at - 1];
        stack[at] = next;
    }
    return depth;
}

/* Searches; returns below which squared distance nothing was missed. */
static double run(gauge_search *s, bool *complete)
{
    gauge_waiting stack[GAUGE_STACK];
    unsigned depth = 1;
    stack[0] = (gauge_waiting){.least2 = 0};
    *complete = true;
    while (depth) {
        const gauge_waiting now = stack[--depth];
        if (!(now.least2 < s->best.distance2)) continue;
        const bool leaves = s->parts[0]->nodes[now.node[0]].count[now.slot[0]] &&
                            s->parts[1]->nodes[now.node[1]].count[now.slot[1]];
        bool done = s->work < s->max_work;
        if (done) s->work++;
        if (done && leaves)
            done = measure(s, &now);
        else if (done)
            depth = open_box(s, &now, stack, depth);
        if (!done) {
            double least2 = fmin(s->best.distance2, now.least2);
            while (depth) least2 = fmin(least2, stack[--depth].least2);
            *complete = false;
            return least2;
        }
        if (s->found && s->best.distance2 <= s->enough2) break;
    }
    return s->best.distance2;
}

/* ---- asking ---- */

static flr_spot no_spot(void)
{
    flr_spot none = {.kind = FLR_SPOT_FACE, .triangle = FLR_NONE};
    none.vertices[0] = none.vertices[1] = FLR_NONE;
    return none;
}

static flr_spot spot_of(const gauge_search *s, int side, flr_pose T_world_b)
{
    flr_spot spot = no_spot();
    const uint32_t *v = s->parts[side]->mesh->triangles[s->triangles[side]].v;
    const unsigned part = s->best.part[side];
    spot.point = flr_pose_apply(T_world_b, s->best.at[side]);
    spot.triangle = s->triangles[side];
    if (part == FLR_INSIDE) return spot;
    spot.kind = part < FLR_SIDE ? FLR_SPOT_VERTEX : FLR_SPOT_EDGE;
    spot.vertices[0] = v[part % 3];
    if (part < FLR_SIDE) return spot;
    const uint32_t one = v[part % 3], other = v[(part + 1) % 3];
    spot.vertices[0] = one < other ? one : other;
    spot.vertices[1] = one < other ? other : one;
    return spot;
}

/* What the triangles of the witness measure now; false when they are none, or too far apart to matter. */
static bool recall(const gauge_search *s, const flr_gauge_witness *witness, flr_nearest *known)
{
    if (!witness || witness->a >= s->parts[0]->mesh->triangle_count ||
        witness->b >= s->parts[1]->mesh->triangle_count)
        return false;
    flr_vec3 p[3], q[3];
    corners_of(s, 0, witness->a, p);
    corners_of(s, 1, witness->b, q);
    *known = s->best;
    return flr_triangles_nearest(p, q, known);
}

static void take(gauge_search *s, const flr_nearest *known, const flr_gauge_witness *witness)
{
    s->best = *known;
    s->triangles[0] = witness->a, s->triangles[1] = witness->b;
    s->found = true;
}

/* The whole search, from what the witness knows; returns below which squared distance nothing was missed. */
static double search_from(gauge_search *s, const flr_gauge_witness *witness, bool *complete)
{
    flr_nearest known;
    const bool knows = recall(s, witness, &known);
    *complete = true;
    if (knows && s->enough2 > 0 && known.distance2 <= s->enough2) {
        take(s, &known, witness);
        return 0;
    }
    /* begin a little above it, so that the pair itself, or another as near, is found again */
    if (knows)
        set_best(s, fmin(s->best.distance2, known.distance2 * (1 + 4 * DBL_EPSILON) + DBL_MIN));
    const double least2 = run(s, complete);
    if (knows && !s->found) take(s, &known, witness);
    return fmin(least2, s->best.distance2);
}

void flr_gauge_distance(const flr_gauge_part *a, const flr_gauge_part *b, flr_pose T_world_a,
                        flr_pose T_world_b, const flr_gauge_params *params,
                        flr_gauge_witness *witness, flr_gauge_result *result)
{
    const flr_gauge_params asked = params ? *params : flr_default_gauge_params();
    const double most = asked.max_distance;
    *result = (flr_gauge_result){.lower = most > 0 ? most : 0,
                                 .upper = INFINITY,
                                 .complete = true,
                                 .a = no_spot(),
                                 .b = no_spot()};
    if (!flr_pose_is_valid(T_world_a) || !flr_pose_is_valid(T_world_b) || !(most >= 0)) return;

    T_world_a.q = flr_quat_normalize(T_world_a.q);
    T_world_b.q = flr_quat_normalize(T_world_b.q);
    gauge_search s = {.parts = {a, b},
                      .T_b_a = flr_pose_mul(flr_pose_inverse(T_world_b), T_world_a),
                      .max_work = asked.max_work ? asked.max_work : UINT64_MAX,
                      .enough2 = asked.first ? most * most : 0,
                      .triangles = {FLR_NONE, FLR_NONE}};
    s.ways[0] = way_of(s.T_b_a);
    s.ways[1] = way_of(flr_pose_inverse(s.T_b_a));
    s.slack = 64 * DBL_EPSILON * (flr_vec3_length(s.T_b_a.p) + a->radius + b->radius);
    set_best(&s, most * most * (1 + 4 * DBL_EPSILON) + DBL_MIN);
    const double least2 = search_from(&s, witness, &result->complete);
    result->work = s.work;
    result->found = s.found;
    if (s.found || !result->complete) result->lower = sqrt(least2);
    if (!s.found) return;
    result->upper = sqrt(s.best.distance2);
    if (asked.first && result->complete) result->lower = 0;
    result->meet = s.best.distance2 == 0;
    result->a = spot_of(&s, 0, T_world_b);
    result->b = spot_of(&s, 1, T_world_b);
    if (witness) *witness = (flr_gauge_witness){s.triangles[0], s.triangles[1]};
}

flr_answer flr_gauge_within(const flr_gauge_part *a, const flr_gauge_part *b, flr_pose T_world_a,
                            flr_pose T_world_b, double tolerance, uint64_t max_work,
                            flr_gauge_witness *witness)
{
    flr_gauge_params params = {.max_distance = tolerance, .first = true, .max_work = max_work};
    flr_gauge_result r;
    flr_gauge_distance(a, b, T_world_a, T_world_b, &params, witness, &r);
    return r.found ? FLR_ANSWER_YES : r.complete ? FLR_ANSWER_NO : FLR_ANSWER_MAYBE;
}
