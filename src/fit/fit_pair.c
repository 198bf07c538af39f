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

enum { STARTS = 8 /* places from which a first distance is sought */ };

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
        made->found[i] = calloc(words, sizeof *made->found[i]);
        const size_t vertices = made->parts[i]->counts.vertices;
        made->far[i] = calloc(samples, sizeof *made->far[i]);
        made->side[i] = calloc(vertices, 1);
        ok = ok && made->near[i] && made->touched[i] && made->found[i] && made->far[i] &&
             made->side[i];
        made->bytes += samples * (sizeof *made->near[i] + sizeof *made->far[i]) +
                       words * (sizeof *made->touched[i] + sizeof *made->found[i]) + vertices;
    }
    if (!ok || !flr_fit_create_lists(made) || !flr_fit_create_lanes(made) ||
        !flr_fit_create_shells(made)) {
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
        free(pair->found[i]);
        free(pair->far[i]);
        free(pair->side[i]);
        free(pair->lanes[i]);
        free(pair->first_lanes[i]);
    }
    flr_fit_destroy_shells(pair);
    flr_fit_destroy_lists(pair);
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

/* Are two triangles farther apart along an axis of any length than what matters? */
static bool apart_along(const flr_fit_query *q, flr_vec3 axis, const flr_vec3 a[3],
                        const flr_vec3 b[3])
{
    double x[3], y[3];
    for (int i = 0; i < 3; i++) x[i] = flr_vec3_dot(axis, a[i]), y[i] = flr_vec3_dot(axis, b[i]);
    const double a_low = fmin(x[0], fmin(x[1], x[2])), a_high = fmax(x[0], fmax(x[1], x[2])),
                 b_low = fmin(y[0], fmin(y[1], y[2])), b_high = fmax(y[0], fmax(y[1], y[2]));
    const double between = fmax(a_low - b_high, b_low - a_high);
    return between > 0 &&
           between * between * (1 - 1e-12) > q->least * q->least * flr_vec3_length2(axis);
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
    /* of several that are equally near, the same one whatever was measured before */
    flr_nearest near = {.distance2 = INFINITY};
    flr_triangles_nearest(p, r, &near);
    const bool before = a < q->triangles[0] || (a == q->triangles[0] && b < q->triangles[1]);
    if (near.distance2 > q->best.distance2 || (near.distance2 == q->best.distance2 && !before))
        return;
    q->best = near;
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

/* Compares two patches that may be `bound` apart or farther. */
static void compare_beyond(flr_fit_query *q, uint32_t patch, const flr_fit_visitor *v, double bound)
{
    const bool measured = q->best.distance2 > 0 && bound < q->least, sampled = bound < q->reach;
    if (!measured && !sampled) return;
    const double limit = measured ? (sampled ? q->limit : q->least) : q->reach;
    meeting m;
    m.a = &q->parts[0]->patches[patch];
    m.b = &q->parts[1]->patches[v->patch];
    m.lanes_b = &v->lanes;
    const flr_vec3 shift = flr_vec3_sub(v->centre, m.a->centre);
    const double radii = (double)m.a->radius + (double)m.b->radius,
                 distance2 = flr_vec3_length2(shift), far = limit + radii;
    q->work++;
    if (distance2 * (1 - 1e-5) > far * far) return;
    m.slack = FLR_FIT_SINGLE * (radii + far);
    m.shift_a[0] = (float)shift.x, m.shift_a[1] = (float)shift.y, m.shift_a[2] = (float)shift.z;
    if (q->kernel->apart(m.a, m.lanes_b, m.shift_a, limit_of(&m, limit), false)) return;
    const flr_vec3 back = flr_vec3_neg(flr_pose_apply_vector(q->out[0], shift));
    m.shift_b[0] = (float)back.x, m.shift_b[1] = (float)back.y, m.shift_b[2] = (float)back.z;
    q->kernel->move(&q->turn[0], &m.a->lanes, &m.lanes_a);
    q->work += 8;
    if (q->kernel->apart(m.b, &m.lanes_a, m.shift_b, limit_of(&m, limit), false)) return;
    /* the samples of a patch lie between its vertices */
    if (sampled) {
        flr_fit_try_samples(q, 1, v->patch, patch, m.shift_a, m.slack);
        flr_fit_try_samples(q, 0, patch, v->patch, m.shift_b, m.slack);
    }
    if (!measured) return;
    q->work += 30;
    if (try_sides(q, &m, q->least)) measure_pairs(q, &m);
}

static void compare(flr_fit_query *q, uint32_t patch, const flr_fit_visitor *v)
{
    compare_beyond(q, patch, v, 0);
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
        q.extent[side] = flr_fit_extent(q.parts[side]);
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

/* Do lists hold all that may be found, or did they where they were made? */
static bool is_listed(const flr_fit_query *q)
{
    const flr_fit_track *t = &q->pair->track;
    uint32_t g = 0;
    while (g < FLR_FIT_GROUPS && t->cover[g] > q->params.max_distance) g++;
    return g == FLR_FIT_GROUPS;
}

/* What was nearest in the last query is a good guess. Where it is too far away, lists tell as soon. */
static void guess(flr_fit_query *q)
{
    const uint32_t *nearest = q->pair->track.nearest;
    if (nearest[0]) measure(q, nearest[0] - 1, nearest[1] - 1);
    if (!q->found && !is_listed(q)) first_guess(q);
}

static void remember(const flr_fit_query *q)
{
    if (!q->found) return;
    for (int i = 0; i < 2; i++) q->pair->track.nearest[i] = q->triangles[i] + 1;
}

static void clear_touched(flr_fit_pair *pair)
{
    for (int side = 0; side < 2; side++) {
        const size_t words = (pair->parts[side]->counts.patches + 63) / 64;
        memset(pair->touched[side], 0, words * sizeof *pair->touched[side]);
        memset(pair->found[side], 0, words * sizeof *pair->found[side]);
    }
}

/* Finds what is nearest and all samples within reach; from scratch, or by what the pair remembers. */
static void search(flr_fit_query *q, bool warm)
{
    if (q->params.max_distance > 0) {
        if (warm)
            guess(q);
        else
            first_guess(q);
    }
    const bool listed = warm && flr_fit_follow(q, q->limit, NULL);
    clear_touched(q->pair);
    if (listed)
        flr_fit_meet_near(q, compare_beyond);
    else
        flr_fit_walk(q, compare);
    flush(q);
}

/* Two triangles that meet, the same ones whatever the pair remembers. */
static void meet_again(flr_fit_query *q, flr_fit_result *result)
{
    flr_fit_query again = flr_fit_begin_query(q->pair, q->T_a_b, &q->params);
    again.work = q->work;
    search(&again, false);
    q->work = again.work;
    tell_distance(&again, result);
}

void flr_fit_pair_query(flr_fit_pair *pair, flr_pose T_a_b, const flr_fit_params *params,
                        flr_fit_contact *contacts, uint32_t capacity, flr_fit_result *result)
{
    flr_fit_ask(pair, T_a_b, params, false, contacts, capacity, result);
}

void flr_fit_ask(flr_fit_pair *pair, flr_pose T_a_b, const flr_fit_params *params, bool moved,
                 flr_fit_contact *contacts, uint32_t capacity, flr_fit_result *result)
{
    const flr_fit_params asked = params ? *params : flr_default_fit_params();
    flr_fit_begin_result(result);
    if (!flr_pose_is_valid(T_a_b)) return;
    T_a_b.q = flr_quat_normalize(T_a_b.q);
    flr_fit_query q = flr_fit_begin_query(pair, T_a_b, &asked);
    q.moved = moved;
    /* samples tell the depth of what interferes; nobody needs them while the surfaces are known to be apart */
    if (asked.reach < 0 && asked.max_distance > 0) q.reach = -INFINITY;
    search(&q, true);
    if (q.reach == -INFINITY && q.found && q.best.distance2 == 0) {
        const uint64_t work = q.work;
        q = flr_fit_begin_query(pair, T_a_b, &asked);
        q.moved = moved;
        q.work = work;
        search(&q, true);
    }
    remember(&q);
    result->complete = q.skipped2 == INFINITY;
    tell_distance(&q, result);
    flr_fit_note_samples(&q, contacts, capacity, result);
    if (result->complete && result->meet && result->distance == 0) meet_again(&q, result);
    flr_fit_end_result(q.parts, T_a_b, &asked, result);
    if (!result->complete) result->lower = fmin(result->lower, sqrt(q.skipped2));
    if (result->complete && result->distance > 0)
        /* what is nearer by less than the tolerance was not looked for, also where nothing was found */
        result->lower = fmax(
            fmin(result->lower, fmin(result->distance, asked.max_distance) - asked.tolerance), 0);
    result->work = q.work;
}
