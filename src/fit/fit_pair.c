/* two parts: the least distance of their surfaces, and the samples near each other
 *
 * A walk through the patches of b asks the tree of a for patches near each of them. Two patches that may matter are
 * compared in single precision: the vertices of one with planes along the other's triangles and across their sides, 16
 * at a time, both ways. Where a plane has all three corners of a triangle on its far side, by more than the limit, the two
 * triangles are farther apart than that. What is left, usually little, is measured in double precision. The limit is the reach of contacts or
 * the least distance so far, whichever is larger; the search begins with the distance of two points that were found by
 * going from one surface to the other and back a few times. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit_query.h"

enum {
    FIT_LISTED = 512, /* entries of a's tree near eight patches of b, at most */
    FIT_PAIR_STACK = (FLR_FIT_WIDE - 1) * FLR_FIT_LEVELS + 1,
    STARTS = 8 /* places from which a first distance is sought */
};

/* ---- pairs ---- */

flr_result flr_fit_pair_create(const flr_fit *a, const flr_fit *b, flr_fit_pair **pair,
                               flr_error *error)
{
    flr_fit_pair *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    made->parts[0] = a, made->parts[1] = b;
    made->kernel = flr_fit_choose_kernel(FLR_SIMD_BEST);
    made->bytes = sizeof *made;
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        const size_t words = (made->parts[i]->counts.patches + 63) / 64,
                     samples = made->parts[i]->counts.samples;
        made->near[i] = calloc(samples, sizeof *made->near[i]);
        made->touched[i] = calloc(words, sizeof *made->touched[i]);
        made->side[i] = calloc(made->parts[i]->counts.vertices, 1);
        ok = ok && made->near[i] && made->touched[i] && made->side[i];
        made->bytes += samples * sizeof *made->near[i] + words * sizeof *made->touched[i] +
                       made->parts[i]->counts.vertices;
    }
    if (!ok) {
        flr_fit_pair_destroy(made);
        return flr_fail(error, FLR_NO_MEMORY, "out of memory for a pair of parts");
    }
    *pair = made;
    return FLR_OK;
}

void flr_fit_pair_destroy(flr_fit_pair *pair)
{
    if (!pair) return;
    for (int i = 0; i < 2; i++) {
        free(pair->near[i]);
        free(pair->touched[i]);
        free(pair->side[i]);
    }
    free(pair);
}

size_t flr_fit_pair_bytes(const flr_fit_pair *pair) { return pair->bytes; }

/* ---- triangles ---- */

/* After a better distance: what matters from now on. */
static void set_limit(flr_fit_query *q)
{
    q->least = fmax(sqrt(q->best.distance2) - q->params.tolerance, 0);
    q->limit = fmax(q->reach, q->least);
}

/* a triangle in the frame of a */
static void corners_in_a(const flr_fit_query *q, int side, uint32_t triangle, flr_vec3 t[3])
{
    flr_fit_triangle(q->parts[side], triangle, t);
    if (side == 1)
        for (int i = 0; i < 3; i++) t[i] = flr_pose_apply(q->T_a_b, t[i]);
}

/* Are two triangles farther apart than the best along an axis of any length? */
static bool apart_along(const flr_fit_query *q, flr_vec3 axis, const flr_vec3 a[3],
                        const flr_vec3 b[3])
{
    double x[3], y[3];
    for (int i = 0; i < 3; i++) x[i] = flr_vec3_dot(axis, a[i]), y[i] = flr_vec3_dot(axis, b[i]);
    const double a_low = fmin(x[0], fmin(x[1], x[2])), a_high = fmax(x[0], fmax(x[1], x[2])),
                 b_low = fmin(y[0], fmin(y[1], y[2])), b_high = fmax(y[0], fmax(y[1], y[2]));
    const double between = fmax(a_low - b_high, b_low - a_high);
    return between > 0 &&
           between * between * (1 - 1e-12) > q->best.distance2 * flr_vec3_length2(axis);
}

static void measure(flr_fit_query *q, uint32_t a, uint32_t b)
{
    flr_vec3 p[3], r[3];
    corners_in_a(q, 0, a, p);
    corners_in_a(q, 1, b, r);
    const flr_vec3 between = flr_vec3_sub(flr_vec3_add(p[0], flr_vec3_add(p[1], p[2])),
                                          flr_vec3_add(r[0], flr_vec3_add(r[1], r[2])));
    q->work += 4;
    if (apart_along(q, between, p, r)) return;
    q->work += 40;
    if (!flr_triangles_nearest(p, r, &q->best)) return;
    q->found = true;
    q->triangles[0] = a, q->triangles[1] = b;
    set_limit(q);
}

/* Measures what is in the queue and may be nearer than the best, the nearest first. */
static void flush(flr_fit_query *q)
{
    flr_fit_queue *queue = &q->queue;
    float least2[FLR_FIT_LANES];
    if (!queue->count) return;
    for (uint32_t i = queue->count; i < FLR_FIT_LANES; i++)
        for (int k = 0; k < 9; k++)
            queue->a[k][i] = queue->a[k][0], queue->b[k][i] = queue->b[k][0];
    flr_fit_triangles16(queue->a, queue->b, least2);
    q->work += 16;
    for (uint32_t left = ((uint32_t)1 << queue->count) - 1; left;) {
        int next = -1;
        for (uint32_t k = left; k; k &= k - 1) {
            const int i = __builtin_ctz(k);
            const double bound = sqrt((double)least2[i]) - queue->slack[i];
            if (bound > q->least)
                left &= ~((uint32_t)1 << i);
            else if (next < 0 || least2[i] < least2[next])
                next = i;
        }
        if (next < 0) break;
        left &= ~((uint32_t)1 << next);
        measure(q, queue->triangle[0][next], queue->triangle[1][next]);
    }
    queue->count = 0;
}

/* The corners of a face of a patch, by their lanes. */
static void put_corners(const flr_fit_lanes *lanes, const float shift[3], unsigned bits,
                        float to[9][FLR_FIT_LANES], uint32_t i)
{
    for (int k = 0; k < 9; k += 3) {
        const int lane = __builtin_ctz(bits);
        to[k][i] = lanes->x[lane] + shift[0];
        to[k + 1][i] = lanes->y[lane] + shift[1];
        to[k + 2][i] = lanes->z[lane] + shift[2];
        if (bits & (bits - 1)) bits &= bits - 1;
    }
}

/* ---- patches ---- */

static flr_fit_visitor visit(const flr_fit_query *q, uint32_t patch)
{
    const flr_fit_patch *p = &q->parts[1]->patches[patch];
    flr_fit_visitor v = {.patch = patch, .centre = flr_pose_apply(q->T_a_b, p->centre)};
    q->kernel->move(&q->turn[1], &p->lanes, &v.lanes);
    q->kernel->bounds(&v.lanes, v.low, v.high);
    return v;
}

/* two patches that are near each other */
typedef struct meeting {
    const flr_fit_patch *a, *b;
    const flr_fit_lanes *lanes_b; /* in the axes of a */
    flr_fit_lanes lanes_a;        /* in the axes of b */
    float shift_a[3], shift_b[3]; /* from a's centre to b's in the axes of a; the reverse in b's */
    double slack;
    uint32_t kept_a, kept_b; /* faces that are not apart from the other patch */
    flr_fit_masks masks_a, masks_b;
} meeting;

/* Single precision, and never less. */
static float limit_of(const meeting *m, double limit)
{
    return (float)((limit + m->slack) * (1 + 1e-6));
}

/* Which faces are nearer than a limit to something of the other patch? False: none. */
static bool try_sides(const flr_fit_query *q, meeting *m, double limit)
{
    const float far = limit_of(m, limit);
    m->kept_a = q->kernel->sides(q->parts[0]->planes + m->a->first_face,
                                 q->parts[0]->faces + m->a->first_face, m->a->faces, m->lanes_b,
                                 m->shift_a, far, &m->masks_a);
    if (!m->kept_a) return false;
    m->kept_b = q->kernel->sides(q->parts[1]->planes + m->b->first_face,
                                 q->parts[1]->faces + m->b->first_face, m->b->faces, &m->lanes_a,
                                 m->shift_b, far, &m->masks_b);
    return m->kept_b != 0;
}

static void enqueue(flr_fit_query *q, const meeting *m, int f, int g)
{
    flr_fit_queue *queue = &q->queue;
    const uint32_t i = queue->count++;
    const float none[3] = {0, 0, 0};
    put_corners(&m->a->lanes, none, m->a->corners[f], queue->a, i);
    put_corners(m->lanes_b, m->shift_a, m->b->corners[g], queue->b, i);
    queue->slack[i] = m->slack;
    queue->triangle[0][i] = q->parts[0]->faces[m->a->first_face + (uint32_t)f].triangle;
    queue->triangle[1][i] = q->parts[1]->faces[m->b->first_face + (uint32_t)g].triangle;
    q->work += 2;
    if (queue->count == FLR_FIT_LANES) flush(q);
}

/* Measures those pairs of triangles that no plane keeps apart. */
static void measure_pairs(flr_fit_query *q, const meeting *m)
{
    uint32_t pairs[FLR_FIT_LANES];
    for (uint32_t i = m->kept_b; i; i &= i - 1) {
        const int g = __builtin_ctz(i);
        pairs[g] = m->kept_a & q->kernel->corners(m->a->corners, m->masks_b.beyond[g]);
    }
    q->work += 2;
    for (uint32_t i = m->kept_a; i; i &= i - 1) {
        const int f = __builtin_ctz(i);
        uint32_t left = m->kept_b & q->kernel->corners(m->b->corners, m->masks_a.beyond[f]);
        for (; left; left &= left - 1) {
            const int g = __builtin_ctz(left);
            if (pairs[g] >> f & 1) enqueue(q, m, f, g);
        }
    }
}

static void compare(flr_fit_query *q, uint32_t patch, const flr_fit_visitor *v)
{
    meeting m;
    m.a = &q->parts[0]->patches[patch];
    m.b = &q->parts[1]->patches[v->patch];
    m.lanes_b = &v->lanes;
    const flr_vec3 shift = flr_vec3_sub(v->centre, m.a->centre);
    const double radii = (double)m.a->radius + (double)m.b->radius,
                 distance2 = flr_vec3_length2(shift), far = q->limit + radii;
    q->work++;
    if (distance2 * (1 - 1e-5) > far * far) return;
    m.slack = FLR_FIT_SINGLE * (radii + far);
    m.shift_a[0] = (float)shift.x, m.shift_a[1] = (float)shift.y, m.shift_a[2] = (float)shift.z;
    if (q->kernel->apart(m.a, m.lanes_b, m.shift_a, limit_of(&m, q->limit), false)) return;
    const flr_vec3 back = flr_vec3_neg(flr_pose_apply_vector(q->out[0], shift));
    m.shift_b[0] = (float)back.x, m.shift_b[1] = (float)back.y, m.shift_b[2] = (float)back.z;
    q->kernel->move(&q->turn[0], &m.a->lanes, &m.lanes_a);
    q->work += 2;
    if (q->kernel->apart(m.b, &m.lanes_a, m.shift_b, limit_of(&m, q->limit), false)) return;
    q->work += 4;
    const double limit = q->limit;
    if (!try_sides(q, &m, limit)) return;
    q->work += 4;
    /* the masks are those of the larger one of two limits */
    if (q->best.distance2 > 0 && (q->least >= limit || try_sides(q, &m, q->least)))
        measure_pairs(q, &m);
    /* the samples of a patch lie between its vertices */
    const float near = limit_of(&m, q->reach);
    if (q->kernel->apart(m.a, m.lanes_b, m.shift_a, near, false) ||
        q->kernel->apart(m.b, &m.lanes_a, m.shift_b, near, false) || !try_sides(q, &m, q->reach))
        return;
    flr_fit_try_samples(q, 1, v->patch, patch, m.kept_a, m.shift_a, m.slack);
    flr_fit_try_samples(q, 0, patch, v->patch, m.kept_b, m.shift_b, m.slack);
}

/* ---- trees ---- */

/* a box in the frame of a, enlarged by the limit */
typedef struct room {
    float low[3], high[3];
} room;

static room room_of(const flr_fit_query *q, const double centre[3], const double half[3])
{
    room r;
    for (int k = 0; k < 3; k++) {
        const double more = half[k] + q->limit + 1e-6 * (half[k] + fabs(centre[k]));
        /* finite, so that boxes that are not used stay outside */
        r.low[k] = (float)fmax(centre[k] - more, -(double)FLT_MAX);
        r.high[k] = (float)fmin(centre[k] + more, (double)FLT_MAX);
    }
    return r;
}

/* The room that box i of b needs in the frame of a. */
static room turned_room(const flr_fit_query *q, const flr_fit_boxes *b, int i)
{
    double low[3], high[3], half[3];
    for (int k = 0; k < 3; k++)
        low[k] = (double)b->low[k][i], high[k] = (double)b->high[k][i],
        half[k] = 0.5 * (high[k] - low[k]);
    const flr_vec3 middle =
        flr_pose_apply(q->T_a_b, flr_vec3_make(0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]),
                                               0.5 * (low[2] + high[2])));
    double wide[3];
    for (int k = 0; k < 3; k++)
        wide[k] = fabs((double)q->turn[1].turn[k][0]) * half[0] +
                  fabs((double)q->turn[1].turn[k][1]) * half[1] +
                  fabs((double)q->turn[1].turn[k][2]) * half[2];
    return room_of(q, (const double[3]){middle.x, middle.y, middle.z}, wide);
}

/* Lists entries of the lowest level but one of a's tree that have something in a room (of the lowest where there is but
 * one level); FIT_LISTED + 1 when there are too many. */
static uint32_t list_entries(flr_fit_query *q, const room *r, uint32_t list[FIT_LISTED])
{
    const flr_fit *a = q->parts[0];
    struct {
        uint32_t level, entry;
    } stack[FIT_PAIR_STACK];
    unsigned depth = 1;
    uint32_t count = 0;
    const uint32_t bottom = a->levels > 1 ? 1 : 0;
    stack[0].level = a->levels - 1, stack[0].entry = 0;
    while (depth) {
        const uint32_t level = stack[--depth].level, entry = stack[depth].entry;
        if (level == bottom) {
            if (count == FIT_LISTED) return FIT_LISTED + 1;
            list[count++] = entry;
            continue;
        }
        q->work++;
        uint32_t kept = q->kernel->boxes(&a->level[level][entry], r->low, r->high);
        for (; kept; kept &= kept - 1) {
            stack[depth].level = level - 1;
            stack[depth++].entry = entry * FLR_FIT_WIDE + (uint32_t)__builtin_ctz(kept);
        }
    }
    return count;
}

/* The squared distance that a box of b keeps from the box of a. */
static double bound2_of(const flr_fit_query *q, const room *r)
{
    const flr_box3 box = q->parts[0]->info.bounds;
    const double low[3] = {box.low.x, box.low.y, box.low.z},
                 high[3] = {box.high.x, box.high.y, box.high.z};
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double gap = fmax(
            fmax((double)r->low[k] + q->limit - high[k], low[k] - ((double)r->high[k] - q->limit)),
            0);
        sum += gap * gap;
    }
    return sum;
}

/* One patch of b with up to eight patches of a. */
static void walk_boxes(flr_fit_query *q, flr_fit_meet meet, uint32_t entry, const room *r,
                       const flr_fit_visitor *v)
{
    uint32_t kept = q->kernel->boxes(&q->parts[0]->level[0][entry], r->low, r->high);
    q->work++;
    for (; kept; kept &= kept - 1) meet(q, entry * FLR_FIT_WIDE + (uint32_t)__builtin_ctz(kept), v);
}

/* One patch of b with the patches of a in some entries. */
static void walk_patch(flr_fit_query *q, flr_fit_meet meet, uint32_t patch, const uint32_t list[],
                       uint32_t count)
{
    const flr_fit_visitor v = visit(q, patch);
    double centre[3] = {v.centre.x, v.centre.y, v.centre.z}, half[3];
    for (int k = 0; k < 3; k++) {
        half[k] = 0.5 * ((double)v.high[k] - (double)v.low[k]);
        centre[k] += 0.5 * ((double)v.high[k] + (double)v.low[k]);
    }
    const room r = room_of(q, centre, half);
    q->work += 2;
    for (uint32_t i = 0; i < count; i++) {
        if (q->parts[0]->levels == 1) {
            walk_boxes(q, meet, list[i], &r, &v);
            continue;
        }
        uint32_t kept = q->kernel->boxes(&q->parts[0]->level[1][list[i]], r.low, r.high);
        q->work++;
        for (; kept; kept &= kept - 1)
            walk_boxes(q, meet, list[i] * FLR_FIT_WIDE + (uint32_t)__builtin_ctz(kept), &r, &v);
    }
}

/* Eight patches of b. */
static void walk_entry(flr_fit_query *q, flr_fit_meet meet, uint32_t entry, const room *r)
{
    uint32_t list[FIT_LISTED];
    uint32_t count = list_entries(q, r, list);
    for (uint32_t i = 0; i < FLR_FIT_WIDE; i++) {
        const uint32_t patch = entry * FLR_FIT_WIDE + i;
        if (patch >= q->parts[1]->counts.patches) break;
        if (count <= FIT_LISTED) {
            walk_patch(q, meet, patch, list, count);
            continue;
        }
        /* too many at once: all of them one after the other */
        const uint32_t each = q->parts[0]->levels > 1 ? FLR_FIT_WIDE * FLR_FIT_WIDE : FLR_FIT_WIDE;
        const uint32_t all = (q->parts[0]->counts.patches + each - 1) / each;
        for (uint32_t k = 0; k < all; k += FIT_LISTED) {
            const uint32_t some = all - k < FIT_LISTED ? all - k : FIT_LISTED;
            for (uint32_t j = 0; j < some; j++) list[j] = k + j;
            walk_patch(q, meet, patch, list, some);
        }
    }
}

void flr_fit_walk(flr_fit_query *q, flr_fit_meet meet)
{
    const flr_fit *a = q->parts[0], *b = q->parts[1];
    struct {
        uint32_t level, entry;
        room room;
    } stack[FIT_PAIR_STACK];
    unsigned depth = 1;
    stack[0].level = b->levels, stack[0].entry = 0;
    while (depth) {
        const uint32_t level = stack[--depth].level, entry = stack[depth].entry;
        const room from = stack[depth].room;
        if (q->work > q->max_work) {
            q->skipped2 = level < b->levels ? fmin(q->skipped2, bound2_of(q, &from)) : 0;
            continue;
        }
        if (level == 0) {
            walk_entry(q, meet, entry, &from);
            continue;
        }
        /* an entry of level - 1 or, at the top, the only one */
        const flr_fit_boxes *boxes = &b->level[level - 1][entry];
        if (level == 1) {
            /* the room of all eight */
            room all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
            for (int i = 0; i < FLR_FIT_WIDE && boxes->low[0][i] <= boxes->high[0][i]; i++) {
                const room r = turned_room(q, boxes, i);
                for (int k = 0; k < 3; k++) {
                    all.low[k] = r.low[k] < all.low[k] ? r.low[k] : all.low[k];
                    all.high[k] = r.high[k] > all.high[k] ? r.high[k] : all.high[k];
                }
            }
            stack[depth].level = 0, stack[depth].entry = entry, stack[depth++].room = all;
            continue;
        }
        for (int i = 0; i < FLR_FIT_WIDE && boxes->low[0][i] <= boxes->high[0][i]; i++) {
            const room r = turned_room(q, boxes, i);
            q->work += 2;
            if (!q->kernel->boxes(&a->level[a->levels - 1][0], r.low, r.high)) continue;
            stack[depth].level = level - 1;
            stack[depth].entry = entry * FLR_FIT_WIDE + (uint32_t)i;
            stack[depth++].room = r;
        }
    }
}

/* ---- the query ---- */

/* A first distance: from some places of b to a, and back and forth from the nearest of them. */
static void first_guess(flr_fit_query *q)
{
    const flr_fit *a = q->parts[0], *b = q->parts[1];
    flr_fit_point_result best = {.distance = INFINITY};
    double least = sqrt(q->best.distance2);
    uint32_t from = FLR_NONE;
    for (uint32_t i = 0; i < STARTS; i++) {
        const uint32_t patch = (uint32_t)((2 * (uint64_t)i + 1) * b->counts.patches / (2 * STARTS));
        const uint32_t triangle = b->faces[b->patches[patch].first_face].triangle;
        flr_vec3 t[3];
        corners_in_a(q, 1, triangle, t);
        q->work += 100;
        const flr_fit_near_result r = flr_fit_nearest(a, t[0], least);
        if (r.triangle == FLR_NONE || !(r.distance < least)) continue;
        least = r.distance, from = triangle;
        best.nearest = r.nearest, best.triangle = r.triangle;
    }
    if (from == FLR_NONE) return;
    measure(q, best.triangle, from);
    flr_vec3 at = best.nearest;
    for (int i = 0; i < 6; i++) {
        const int side = i % 2 ? 0 : 1; /* whose surface is sought */
        const flr_vec3 there = side ? flr_pose_apply_inverse(q->T_a_b, at) : at;
        q->work += 100;
        const flr_fit_near_result r = flr_fit_nearest(q->parts[side], there, least * 1.0001);
        if (r.triangle == FLR_NONE) break;
        if (side)
            measure(q, best.triangle, r.triangle);
        else
            measure(q, r.triangle, from);
        if (side)
            from = r.triangle;
        else
            best.triangle = r.triangle;
        least = fmin(least, r.distance);
        at = side ? flr_pose_apply(q->T_a_b, r.nearest) : r.nearest;
    }
}

flr_fit_move flr_fit_turn(flr_quat q)
{
    const flr_mat3 m = flr_quat_to_mat3(q);
    flr_fit_move move = {.shift = {0, 0, 0}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) move.turn[i][k] = (float)m.m[i][k];
    return move;
}

flr_fit_query flr_fit_begin_query(flr_fit_pair *pair, flr_pose T_a_b, const flr_fit_params *params)
{
    flr_fit_query q = {.pair = pair,
                       .parts = {pair->parts[0], pair->parts[1]},
                       .kernel = pair->kernel,
                       .params = *params,
                       .T_a_b = T_a_b,
                       .out = {flr_pose_inverse(T_a_b), T_a_b},
                       .triangles = {FLR_NONE, FLR_NONE},
                       .max_work = params->budget ? params->budget : UINT64_MAX,
                       .skipped2 = INFINITY};
    for (int side = 0; side < 2; side++) {
        q.turn[side] = flr_fit_turn(q.out[side].q);
        memset(pair->touched[side], 0,
               (q.parts[side]->counts.patches + 63) / 64 * sizeof *pair->touched[side]);
    }
    /* a patch that is not touched is to be wholly inside or outside */
    const double little = 1e-9 * fmin(q.parts[0]->info.size, q.parts[1]->info.size);
    q.reach = params->reach > little ? params->reach : little;
    const double most = params->max_distance > 0 ? params->max_distance : 0;
    q.best.distance2 = most * most * (1 + 4 * DBL_EPSILON) + DBL_MIN;
    set_limit(&q);
    return q;
}

static void tell_distance(const flr_fit_query *q, flr_fit_result *result)
{
    if (!q->found) return;
    result->meet = q->best.distance2 == 0;
    if (!(q->params.max_distance >= 0)) return;
    result->found = true;
    result->distance = sqrt(q->best.distance2);
    for (int i = 0; i < 2; i++) {
        result->point[i] = q->best.at[i];
        result->triangle[i] = q->triangles[i];
    }
    result->normal = flr_vec3_normalize(flr_vec3_sub(result->point[1], result->point[0]));
}

void flr_fit_pair_query(flr_fit_pair *pair, flr_pose T_a_b, const flr_fit_params *params,
                        flr_fit_contact *contacts, uint32_t capacity, flr_fit_result *result)
{
    const flr_fit_params asked = params ? *params : flr_default_fit_params();
    flr_fit_begin_result(result);
    if (!flr_pose_is_valid(T_a_b)) return;
    T_a_b.q = flr_quat_normalize(T_a_b.q);
    flr_fit_query q = flr_fit_begin_query(pair, T_a_b, &asked);
    if (asked.max_distance > 0) first_guess(&q);
    flr_fit_walk(&q, compare);
    flush(&q);
    result->complete = q.skipped2 == INFINITY;
    tell_distance(&q, result);
    flr_fit_note_samples(&q, contacts, capacity, result);
    flr_fit_end_result(q.parts, T_a_b, &asked, result);
    if (!result->complete) result->lower = fmin(result->lower, sqrt(q.skipped2));
    if (result->complete && result->distance > 0)
        result->lower = fmax(fmin(result->lower, result->distance - asked.tolerance), 0);
    result->work = q.work;
}
