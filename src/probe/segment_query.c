/* asking: which triangle does a segment hit first? */
#include <math.h>

#include "probe/judge.h"
#include "probe/probe_kernel.h"

/* t of a hit is right to 1e-8; a hit may be before another in truth and behind it as told, by that much */
static const double t_slack = 1e-7;

enum { SEGMENT_QUERY_FINE = 2 * FLR_PROBE_HALF }; /* fine units along the edge of a cell */

static inline double larger(double a, double b) { return a > b ? a : b; }

/* one question on its way */
typedef struct segment_query_search {
    const flr_probe_model *model;
    flr_vec3 a, b; /* as asked: for the judge */
    flr_vec3 near_a,
        near_b; /* the piece of it that lies near the model: for leaving out, never for deciding */
    double from, to;         /* t of its ends */
    flr_int4 fine_a, fine_b; /* grid: that piece, in fine units from the corner of the first cell */
    double t;                /* the first hit so far; above 1: none */
    uint32_t triangle;
    bool any; /* one hit is enough */
} segment_query_search;

/* ---- triangles ---- */

static inline void consider(segment_query_search *s, uint32_t triangle)
{
    flr_vec3 corners[3];
    double t;
    if (triangle == s->triangle) return;
    flr_probe_corners(s->model->mesh, triangle, corners);
    if (!flr_judge(corners, s->a, s->b, &t)) return;
    if (t < s->t || (t == s->t && triangle < s->triangle)) s->t = t, s->triangle = triangle;
}

static inline bool done(const segment_query_search *s)
{
    return s->any && s->triangle != FLR_PROBE_NONE;
}

/* Judges some triangles; asks for all of their corners before waiting for any. */
static void consider_all(segment_query_search *s, const uint32_t *list, uint32_t count)
{
    const flr_mesh *mesh = s->model->mesh;
    if (count > 1)
        for (uint32_t i = 0; i < count; i++) __builtin_prefetch(&mesh->triangles[list[i]]);
    if (count > 1)
        for (uint32_t i = 0; i < count; i++)
            for (int k = 0; k < 3; k++)
                __builtin_prefetch(&mesh->vertices[mesh->triangles[list[i]].v[k]]);
    for (uint32_t i = 0; i < count && !done(s); i++) consider(s, list[i]);
}

/* All triangles of a cell, or of a leaf. */
static void scan(segment_query_search *s, const flr_probe_block *blocks, uint32_t count,
                 const flr_probe_local *local)
{
    uint32_t list[FLR_PROBE_CAPACITY], found = s->model->gather(blocks, count, local, list);
    if (found != FLR_PROBE_NONE) {
        consider_all(s, list, found);
        return;
    }
    blocks += flr_probe_heads(count);
    for (uint32_t i = 0; i < count && !done(s); i++)
        consider_all(s, list, s->model->gather(&blocks[i], 1, local, list));
}

/* Cuts the segment to where it passes the frame, with room. False: it does not. Fine units; far ends are rare. */
static bool cut_to_frame(double a[3], double b[3])
{
    const double room = FLR_PROBE_HALF + 64;
    double from = 0, to = 1, d[3];
    for (int i = 0; i < 3; i++) {
        d[i] = b[i] - a[i];
        double low = -room - a[i], high = room - a[i];
        if (d[i] == 0) {
            if (low > 0 || high < 0) return false;
            continue;
        }
        double t0 = (d[i] > 0 ? low : high) / d[i], t1 = (d[i] > 0 ? high : low) / d[i];
        from = t0 > from ? t0 : from;
        to = t1 < to ? t1 : to;
    }
    if (from > to) return false;
    for (int i = 0; i < 3; i++) {
        b[i] = a[i] + to * d[i];
        a[i] = a[i] + from * d[i];
    }
    return true;
}

static inline int32_t nearest(double fine) { return (int32_t)(fine + 4194304.5) - 4194304; }

/* The segment in a frame, from its ends in fine units, which may be far away. False: it does not pass the frame. */
static bool make_local(double a[3], double b[3], flr_probe_local *local)
{
    if (!cut_to_frame(a, b)) return false;
    local->a = (flr_int4){nearest(a[0]), nearest(a[1]), nearest(a[2]), 0};
    local->b = (flr_int4){nearest(b[0]), nearest(b[1]), nearest(b[2]), 0};
    return true;
}

/* ---- trees ---- */

static void make_span(const segment_query_search *s, flr_probe_span *span)
{
    flr_vec3 c = s->model->centre, p = flr_vec3_sub(s->near_a, c), q = flr_vec3_sub(s->near_b, c);
    const double a[3] = {p.x, p.y, p.z}, b[3] = {q.x, q.y, q.z};
    float longest = 0;
    for (int i = 0; i < 3; i++) {
        span->middle[i] = (float)((a[i] + b[i]) / 2);
        span->half[i] = (float)((b[i] - a[i]) / 2);
        longest = fmaxf(longest, fabsf(span->half[i]));
    }
    span->slack = longest * 2e-6f;
}

/* Ends the piece behind the first hit so far. */
static void shorten(segment_query_search *s)
{
    double t = s->t + t_slack;
    if (s->from > 0 || s->to < 1 || !(t < 1)) return;
    s->near_b = flr_vec3_add_scaled(s->a, t, flr_vec3_sub(s->b, s->a));
}

static void scan_leaf(segment_query_search *s, uint32_t block)
{
    const flr_probe_frame *frame = &s->model->frames[block];
    flr_vec3 p = flr_vec3_scale(flr_vec3_sub(s->near_a, frame->centre), frame->scale),
             q = flr_vec3_scale(flr_vec3_sub(s->near_b, frame->centre), frame->scale);
    double a[3] = {p.x, p.y, p.z}, b[3] = {q.x, q.y, q.z};
    flr_probe_local local;
    if (make_local(a, b, &local)) scan(s, &s->model->blocks[block], 1, &local);
}

static void walk_tree(segment_query_search *s, uint32_t root)
{
    const flr_probe_model *model = s->model;
    uint32_t stack[FLR_PROBE_STACK], depth = 0, found = s->triangle;
    flr_probe_span span;
    make_span(s, &span);
    stack[depth++] = root;
    while (depth && !done(s)) {
        const flr_probe_node *node = &model->nodes[stack[--depth]];
        uint32_t mask = model->meet(node, &span);
        for (; mask; mask &= mask - 1) {
            uint32_t child = node->child[__builtin_ctz(mask)];
            if (!(child & FLR_PROBE_LEAF)) {
                stack[depth++] = child;
                continue;
            }
            scan_leaf(s, child & ~FLR_PROBE_LEAF);
        }
        if (found != s->triangle) {
            found = s->triangle;
            shorten(s);
            make_span(s, &span);
        }
    }
}

/* ---- cells ---- */

/* What a cell holds. */
static void scan_cell(segment_query_search *s, int32_t x, int32_t y, int32_t z)
{
    const flr_probe_model *model = s->model;
    const flr_probe_slot *slot =
        flr_probe_find(model->slots, model->mask, model->shift, (uint32_t)(x | y << 10 | z << 20));
    if (slot->key == FLR_PROBE_FREE) return;
    if (slot->count == FLR_PROBE_WOODED) {
        walk_tree(s, slot->first);
        return;
    }
    const flr_int4 middle = {SEGMENT_QUERY_FINE * x + FLR_PROBE_HALF,
                             SEGMENT_QUERY_FINE * y + FLR_PROBE_HALF,
                             SEGMENT_QUERY_FINE * z + FLR_PROBE_HALF, 0};
    flr_probe_local local = {s->fine_a - middle, s->fine_b - middle};
    flr_int4 far = ((local.a + SEGMENT_QUERY_FINE) | (local.b + SEGMENT_QUERY_FINE)) &
                   ~(2 * SEGMENT_QUERY_FINE - 1);
    if (far[0] | far[1] | far[2]) {
        double p[3] = {local.a[0], local.a[1], local.a[2]},
               q[3] = {local.b[0], local.b[1], local.b[2]};
        if (!make_local(p, q, &local)) return;
    }
    scan(s, &model->blocks[slot->first], slot->count, &local);
}

/* From cell to cell along the piece (Amanatides and Woo 1987), until a hit is behind. */
static void walk_cells(segment_query_search *s, const double p[3], const double q[3])
{
    const int32_t *cells = s->model->cells;
    int32_t at[3], step[3];
    double next[3], each[3], entered = 0;
    for (int i = 0; i < 3; i++) {
        double d = q[i] - p[i];
        at[i] = p[i] < 0 ? 0 : p[i] >= cells[i] ? cells[i] - 1 : (int32_t)p[i];
        step[i] = d > 0 ? 1 : -1;
        next[i] = d == 0 ? INFINITY : (at[i] + (d > 0) - p[i]) / d;
        each[i] = d == 0 ? INFINITY : 1 / fabs(d);
    }
    for (;;) {
        scan_cell(s, at[0], at[1], at[2]);
        if (done(s)) return;
        int axis = next[0] < next[1] ? (next[0] < next[2] ? 0 : 2) : (next[1] < next[2] ? 1 : 2);
        entered = next[axis];
        if (!(entered <= 1)) return;
        at[axis] += step[axis];
        if (at[axis] < 0 || at[axis] >= cells[axis]) return;
        next[axis] += each[axis];
        if (s->from + (s->to - s->from) * entered > s->t + t_slack) return;
    }
}

static void search_grid(segment_query_search *s)
{
    const flr_probe_model *m = s->model;
    double p[3] = {(s->near_a.x - m->low.x) * m->per_cell, (s->near_a.y - m->low.y) * m->per_cell,
                   (s->near_a.z - m->low.z) * m->per_cell},
           q[3] = {(s->near_b.x - m->low.x) * m->per_cell, (s->near_b.y - m->low.y) * m->per_cell,
                   (s->near_b.z - m->low.z) * m->per_cell};
    s->fine_a = (flr_int4){nearest(p[0] * SEGMENT_QUERY_FINE), nearest(p[1] * SEGMENT_QUERY_FINE),
                           nearest(p[2] * SEGMENT_QUERY_FINE), 0};
    s->fine_b = (flr_int4){nearest(q[0] * SEGMENT_QUERY_FINE), nearest(q[1] * SEGMENT_QUERY_FINE),
                           nearest(q[2] * SEGMENT_QUERY_FINE), 0};
    walk_cells(s, p, q);
}

/* ---- the whole question ---- */

typedef enum segment_query_place { PLACE_APART, PLACE_NEAR, PLACE_FAR } segment_query_place;

/* Cuts what is far out. In long double: the ends may be a million times farther out than the model is large. */
static segment_query_place cut_to_model(segment_query_search *s, flr_box3 box)
{
    const double a[3] = {s->a.x, s->a.y, s->a.z}, b[3] = {s->b.x, s->b.y, s->b.z};
    const double low[3] = {box.low.x, box.low.y, box.low.z},
                 high[3] = {box.high.x, box.high.y, box.high.z};
    long double from = 0, to = 1;
    for (int i = 0; i < 3; i++) {
        long double d = (long double)b[i] - (long double)a[i];
        if (d == 0) continue; /* the boxes overlap, so this axis cuts nothing */
        long double t0 = ((long double)(d > 0 ? low[i] : high[i]) - (long double)a[i]) / d,
                    t1 = ((long double)(d > 0 ? high[i] : low[i]) - (long double)a[i]) / d;
        from = t0 > from ? t0 : from;
        to = t1 < to ? t1 : to;
    }
    if (from > to) return PLACE_APART;
    double near_a[3], near_b[3];
    for (int i = 0; i < 3; i++) {
        long double d = (long double)b[i] - (long double)a[i];
        near_a[i] = (double)((long double)a[i] + from * d);
        near_b[i] = (double)((long double)a[i] + to * d);
    }
    s->near_a = flr_vec3_make(near_a[0], near_a[1], near_a[2]);
    s->near_b = flr_vec3_make(near_b[0], near_b[1], near_b[2]);
    s->from = (double)from, s->to = (double)to;
    return PLACE_NEAR;
}

static segment_query_place find_place(segment_query_search *s)
{
    const flr_probe_model *model = s->model;
    flr_vec3 low = flr_vec3_min(s->a, s->b), high = flr_vec3_max(s->a, s->b);
    flr_box3 bounds = model->mesh->bounds;
    /* also false where something is not a number */
    if (!(low.x <= bounds.high.x && low.y <= bounds.high.y && low.z <= bounds.high.z &&
          high.x >= bounds.low.x && high.y >= bounds.low.y && high.z >= bounds.low.z))
        return PLACE_APART;
    double fine = model->slots ? model->cell : model->size / FLR_PROBE_CELLS;
    double room = fine + 1e-3 * model->size;
    flr_vec3 below = flr_vec3_sub(bounds.low, low), above = flr_vec3_sub(high, bounds.high),
             most = flr_vec3_max(below, above);
    double out = larger(most.x, larger(most.y, most.z));
    if (out <= room) return PLACE_NEAR;
    if (!(out < 1e12 * fine)) return PLACE_FAR;
    return cut_to_model(s, flr_box3_grow(bounds, room));
}

/* Through the whole model. */
static void search_all(segment_query_search *s, const flr_probe_witness *witness)
{
    const flr_probe_model *model = s->model;
    if (!flr_vec3_is_finite(s->a) || !flr_vec3_is_finite(s->b)) return;
    if (s->any && witness && witness->triangle < model->mesh->triangle_count)
        consider(s, witness->triangle);
    if (done(s)) return;
    segment_query_place where = find_place(s);
    if (where == PLACE_APART) return;
    if (where == PLACE_FAR)
        for (uint32_t t = 0; t < model->mesh->triangle_count && !done(s); t++) consider(s, t);
    else if (model->slots)
        search_grid(s);
    else
        walk_tree(s, 0);
}

/* The triangle that is hit, and where; none: FLR_PROBE_NONE. Most segments are short and come near nothing, so that is
 * looked at first. */
static inline uint32_t ask(const flr_probe_model *model, const flr_vec3 *a, const flr_vec3 *b,
                           bool any, flr_probe_witness *witness, double *t)
{
    uint32_t list[FLR_PROBE_CAPACITY], found = model->near(model, a, b, list);
    if (found == 0) return FLR_PROBE_NONE;
    segment_query_search s = {
        .model = model, .a = *a, .b = *b, .near_a = *a, .near_b = *b, .to = 1, .any = any};
    s.t = 2, s.triangle = FLR_PROBE_NONE;
    if (found == FLR_PROBE_NONE)
        search_all(&s, witness);
    else
        consider_all(&s, list, found);
    if (witness && s.triangle != FLR_PROBE_NONE) witness->triangle = s.triangle;
    *t = s.t;
    return s.triangle;
}

static void tell(const flr_mesh *mesh, flr_vec3 a, flr_vec3 b, double t, uint32_t triangle,
                 flr_probe_hit *hit)
{
    flr_vec3 v[3];
    flr_probe_corners(mesh, triangle, v);
    hit->t = t;
    hit->triangle = triangle;
    hit->point = flr_vec3_lerp(a, b, t);
    hit->normal =
        flr_vec3_normalize(flr_vec3_cross(flr_vec3_sub(v[1], v[0]), flr_vec3_sub(v[2], v[0])));
}

bool flr_probe_first(const flr_probe_model *model, flr_vec3 a, flr_vec3 b,
                     flr_probe_witness *witness, flr_probe_hit *hit)
{
    double t;
    uint32_t triangle = ask(model, &a, &b, false, witness, &t);
    if (triangle == FLR_PROBE_NONE) return false;
    if (hit) tell(model->mesh, a, b, t, triangle, hit);
    return true;
}

bool flr_probe_any(const flr_probe_model *model, flr_vec3 a, flr_vec3 b, flr_probe_witness *witness)
{
    double t;
    return ask(model, &a, &b, true, witness, &t) != FLR_PROBE_NONE;
}

flr_probe_contact flr_probe_touch(const flr_probe_model *model, flr_vec3 last, flr_vec3 now,
                                  flr_probe_witness *witness)
{
    flr_probe_contact c = {.collision = false};
    c.collision = flr_probe_first(model, last, now, witness, &c.first);
    if (!c.collision) return c;
    flr_vec3 v[3], n = c.first.normal;
    flr_probe_corners(model->mesh, c.first.triangle, v);
    if (flr_vec3_dot(n, flr_vec3_sub(last, v[0])) < 0) n = flr_vec3_neg(n);
    double depth = flr_vec3_dot(n, flr_vec3_sub(now, v[0]));
    c.surface = flr_vec3_add_scaled(now, 1e-9 * model->size - depth, n);
    c.intersection = flr_probe_first(model, last, c.surface, witness, &c.next);
    return c;
}

bool flr_probe_reference(const flr_mesh *mesh, flr_vec3 a, flr_vec3 b, flr_probe_hit *hit)
{
    double first = 2;
    uint32_t triangle = FLR_PROBE_NONE;
    if (!mesh || !flr_vec3_is_finite(a) || !flr_vec3_is_finite(b)) return false;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        flr_vec3 v[3];
        double t;
        flr_probe_corners(mesh, i, v);
        if (flr_judge(v, a, b, &t) && t < first) first = t, triangle = i;
    }
    if (triangle == FLR_PROBE_NONE) return false;
    if (hit) tell(mesh, a, b, first, triangle, hit);
    return true;
}
