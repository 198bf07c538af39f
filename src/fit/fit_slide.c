/* how far a part moves in another that it overlaps
 *
 * In a motion without a turn, each sample moves along a straight line. Its depth is at most its distance to any triangle of
 * the other part. So while it stays within `depth` of one triangle, it is not too deep, on either side. That distance is a
 * convex function along the line, so bisection finds where it exceeds `depth`. A sample outside and farther away moves on
 * until it comes near a triangle. Sliding along a face takes one step, however long the face is.
 *
 * In a turn, each patch takes stretches in which no sample is farther from its chord than a small share of the depth; samples
 * then follow their chords. A patch whose ball is clear of the other part goes on as far as that is sure.
 *
 * The distance to the nearest triangle decides whether a sample is too deep. */
#include <math.h>

#include "fit/fit_internal.h"
#include "fit/fit_triangle.h"
#include "mesh/nearest.h"

enum {
    MAX_EVENTS = 20000,
    MAX_PATCH_STRETCHES = 200000, /* of a patch */
    SLIDE_HALVINGS = 44,
    ASK_AFTER = 256,
    REMEMBERED = 64 /* samples of a patch */
};
/* shares of the depth: from the first on, a sample inside is too deep; up to the second, the side does not matter; within the
 * third, a sample from outside has come near */
static const double too_deep = 0.99, at_surface = 0.9, close_by = 0.45;
/* share of the depth that is reserved for the deviation of chords from the motion */
static const double off_chord = 0.01;
/* a patch that is clear for this share of its stretch goes on without its samples; the same for a motion without a turn */
static const double skipped = 0.25, skipped_straight = 0.1;

#define NO_TURN 1e-14 /* radians: rounding may give this to a motion without a turn */

/* a sample on its way in the frame of the other part */
typedef struct slider {
    const flr_fit *fit; /* the other part */
    flr_vec3 from, by;
    double depth;
    uint64_t work;
} slider;

static flr_vec3 place_of(const slider *s, double t)
{
    return flr_vec3_add_scaled(s->from, t, s->by);
}

/* ---- one triangle ---- */

static double distance_at(const slider *s, const flr_vec3 triangle[3], double t)
{
    double d2;
    flr_fit_on_triangle(triangle, place_of(s, t), &d2);
    return sqrt(d2);
}

/* The last place up to which the sample stays within the depth of a triangle; at `t` it does. */
static double stays_until(const slider *s, const flr_vec3 triangle[3], double t, double end)
{
    if (distance_at(s, triangle, end) <= s->depth) return end;
    double near = t, far = end;
    for (int i = 0; i < SLIDE_HALVINGS; i++) {
        const double middle = 0.5 * (near + far);
        if (distance_at(s, triangle, middle) <= s->depth)
            near = middle;
        else
            far = middle;
    }
    return near;
}

/* The first place from `t` on where the sample is within `reach` of a triangle, or a little before; `end`: nowhere
 * before. At `t` it is not. */
static double comes_near(const slider *s, const flr_vec3 triangle[3], double t, double end,
                         double reach)
{
    const flr_vec3 n = flr_vec3_cross(flr_vec3_sub(triangle[1], triangle[0]),
                                      flr_vec3_sub(triangle[2], triangle[0])),
                   p = place_of(s, t), q = place_of(s, end);
    const double hp = flr_vec3_dot(n, flr_vec3_sub(p, triangle[0])),
                 hq = flr_vec3_dot(n, flr_vec3_sub(q, triangle[0])),
                 beyond = 1.0001 * reach * flr_vec3_length(n);
    if ((hp > beyond && hq > beyond) || (hp < -beyond && hq < -beyond)) return end;
    const flr_vec3 way[3] = {p, q, q};
    flr_nearest best = {.distance2 = reach * reach};
    if (!flr_triangles_nearest(triangle, way, &best)) return end;
    const double along = flr_vec3_length2(s->by);
    double far = t,
           near = along > 0 ? flr_vec3_dot(flr_vec3_sub(best.at[1], s->from), s->by) / along : t;
    for (int i = 0; i < SLIDE_HALVINGS; i++) {
        const double middle = 0.5 * (near + far);
        if (distance_at(s, triangle, middle) <= reach)
            near = middle;
        else
            far = middle;
    }
    return far;
}

/* ---- all triangles ---- */

typedef struct box_ahead {
    double from; /* where the way enters the box, grown by the reach */
    uint32_t level, entry;
} box_ahead;

/* Where a piece of the way enters a box that is grown by `reach`; false: it does not. */
static bool enters(const slider *s, const flr_fit_boxes *b, int i, double reach, double begin,
                   double end, double *from)
{
    const double p[3] = {s->from.x, s->from.y, s->from.z}, v[3] = {s->by.x, s->by.y, s->by.z};
    for (int k = 0; k < 3; k++) {
        const double low = (double)b->low[k][i] - reach, high = (double)b->high[k][i] + reach;
        if (v[k] == 0) {
            if (p[k] < low || p[k] > high) return false;
            continue;
        }
        const double one = (low - p[k]) / v[k], other = (high - p[k]) / v[k];
        const double first = one < other ? one : other, last = one < other ? other : one;
        if (first > begin) begin = first;
        if (last < end) end = last;
    }
    *from = begin;
    return begin <= end;
}

/* The first place from `t` on where the sample is within `reach` of the surface, or a little before; `end`: nowhere before. */
static double first_near(slider *s, double t, double end, double reach)
{
    const flr_fit *fit = s->fit;
    box_ahead stack[FLR_FIT_STACK];
    unsigned depth = 1;
    // boxes are in single precision, rounded outwards; a little more than the reach is for what rounding does to the way
    const double wide = 1.001 * reach;
    stack[0] = (box_ahead){t, fit->levels, 0};
    while (depth) {
        const box_ahead now = stack[--depth];
        if (now.from >= end) continue;
        if (now.level == 0) {
            const flr_fit_patch *patch = &fit->patches[now.entry];
            s->work += patch->faces;
            for (uint32_t i = 0; i < patch->faces; i++) {
                flr_vec3 triangle[3];
                flr_fit_triangle(fit, fit->faces[patch->first_face + i].triangle, triangle);
                end = comes_near(s, triangle, t, end, reach);
            }
            continue;
        }
        const flr_fit_boxes *b = &fit->level[now.level - 1][now.entry];
        const unsigned bottom = depth;
        for (int i = 0; i < FLR_FIT_WIDE && b->low[0][i] <= b->high[0][i]; i++) {
            double from;
            if (!enters(s, b, i, wide, t, end, &from)) continue;
            /* what is entered first comes last */
            unsigned at = depth++;
            for (; at > bottom && stack[at - 1].from < from; at--) stack[at] = stack[at - 1];
            stack[at] = (box_ahead){from, now.level - 1, now.entry * FLR_FIT_WIDE + (uint32_t)i};
        }
    }
    return end;
}

/* Does a sample that is this deep go towards the surface? */
static bool leaves(const slider *s, flr_vec3 p, const flr_fit_near_result *near)
{
    return near->triangle != FLR_NONE && near->distance <= s->depth * (1 + 1e-6) &&
           flr_vec3_dot(s->by, flr_vec3_sub(p, near->nearest)) < 0;
}

/* How far the sample gets. */
static double follow(slider *s, double end)
{
    const double reach = 1.01 * s->depth;
    double t = 0;
    for (int event = 0; t < end && event < MAX_EVENTS; event++) {
        const double before = t;
        const flr_vec3 p = place_of(s, t);
        const flr_fit_near_result near = flr_fit_nearest(s->fit, p, reach);
        const bool found = near.triangle != FLR_NONE && near.distance <= reach;
        bool inside = false, surface = found && near.distance <= at_surface * s->depth;
        s->work++;
        if (!surface)
            inside = found ? flr_fit_inside_by(s->fit, p, near.nearest, near.triangle)
                           : flr_fit_may_be_inside(s->fit, p) && flr_fit_inside(s->fit, p);
        if (inside && (!found || near.distance >= too_deep * s->depth) && !leaves(s, p, &near))
            return t;
        if (surface || inside) {
            flr_vec3 triangle[3];
            flr_fit_triangle(s->fit, near.triangle, triangle);
            t = stays_until(s, triangle, t, end);
        } else {
            t = first_near(s, t, end, close_by * s->depth);
        }
        if (!(t > before)) return before;
    }
    return t < end ? t : end;
}

/* ---- all samples ---- */

typedef struct sliding {
    const flr_fit *parts[2];
    const flr_fit_slide_def *def;
    flr_fit_slide_result *result;
    double straight, turn; /* of the motion: metres of its centre, radians */
    double depth;          /* metres: limit for samples on their chords */
    uint32_t side, sample; /* which sample stops the motion */
    uint32_t asked;
} sliding;

/* a patch on its way in the frame of the other part */
typedef struct patch_way {
    const flr_fit *own, *other;
    const flr_fit_patch *patch;
    uint32_t side;
    double speed;                /* metres per motion: no sample is faster */
    double stretch;              /* of the motion: in less, chords are near enough */
    double clear[REMEMBERED];    /* samples do not meet the other part until then */
    uint32_t beside[REMEMBERED]; /* triangles near which samples were last; FLR_NONE: none */
} patch_way;

/* The pose of a part's samples in the frame of the other. */
static flr_pose pose_at(const sliding *s, uint32_t side, double t)
{
    flr_pose T = flr_fit_motion_pose(&s->def->motion, t);
    T.q = flr_quat_normalize(T.q);
    return side ? T : flr_pose_inverse(T);
}

/* The point that does not turn is at c: a sample at r from it turns with speed turn r; seen from b, it also moves with the
 * centre while b's axes turn. Its chord is off by an eighth of its acceleration times the square of the time. */
static void set_speed(const sliding *s, patch_way *w)
{
    const flr_fit_motion *m = &s->def->motion;
    const flr_vec3 middle = w->patch->centre;
    double r = (double)w->patch->radius;
    if (w->side)
        r += flr_vec3_distance(middle, m->centre);
    else
        r += flr_vec3_distance(middle, flr_pose_apply(m->from, m->centre)) + s->straight;
    const double bend = s->turn * (s->turn * r + (w->side ? 0 : 2 * s->straight));
    w->speed = s->straight + s->turn * r;
    w->stretch = bend > 0 ? sqrt(8 * off_chord * s->def->depth / bend) : INFINITY;
}

static bool is_interrupted(sliding *s)
{
    if (!s->def->go_on || s->asked++ % ASK_AFTER || s->def->go_on(s->def->context)) return false;
    s->result->stopped = true;
    return true;
}

/* For how long does the ball around a patch stay clear of the surface? `*within`: it is inside of it now. */
static double clear_for(sliding *s, const patch_way *w, flr_vec3 middle, double left, bool *within)
{
    const double ball = (double)w->patch->radius * (1 + 1e-6) + 1.01 * s->depth,
                 reach = ball + left * w->speed;
    flr_box3 box = flr_box3_grow(flr_box3_add(flr_box3_empty(), middle), reach);
    *within = false;
    if (!flr_box3_overlap(box, w->other->info.bounds)) return INFINITY;
    const flr_fit_near_result near = flr_fit_nearest(w->other, middle, reach);
    s->result->work++;
    const bool found = near.triangle != FLR_NONE;
    if (found && near.distance <= ball) return 0;
    *within = found ? flr_fit_inside_by(w->other, middle, near.nearest, near.triangle)
                    : flr_fit_may_be_inside(w->other, middle) && flr_fit_inside(w->other, middle);
    return found ? (near.distance - ball) / w->speed : INFINITY;
}

/* Is a sample on its chord beside the same triangle as before, or known to meet nothing yet? Else looks how long it meets
 * nothing. */
static bool is_settled(sliding *s, patch_way *w, uint32_t k, const slider *one, double t, double to)
{
    flr_vec3 triangle[3];
    if (k >= REMEMBERED || !(s->turn > 0)) return false;
    if (to <= w->clear[k]) return true;
    if (w->beside[k] != FLR_NONE) {
        flr_fit_triangle(w->other, w->beside[k], triangle);
        if (distance_at(one, triangle, 0) <= one->depth &&
            distance_at(one, triangle, 1) <= one->depth)
            return true;
    }
    const double reach = fmax(3 * (to - t) * w->speed, 1.01 * one->depth);
    const flr_fit_near_result near = flr_fit_nearest(w->other, one->from, reach);
    const bool found = near.triangle != FLR_NONE;
    s->result->work++;
    w->beside[k] = near.triangle;
    if (found && near.distance <= at_surface * one->depth) return false;
    if (found ? flr_fit_inside_by(w->other, one->from, near.nearest, near.triangle)
              : flr_fit_may_be_inside(w->other, one->from) && flr_fit_inside(w->other, one->from))
        return false;
    w->clear[k] = t + (found ? near.distance : reach) / w->speed;
    return to <= w->clear[k];
}

/* The samples of a patch in a stretch of the motion; false: interrupted. */
static bool slide_samples(sliding *s, patch_way *w, double t, double to)
{
    const flr_pose T = pose_at(s, w->side, t), T_to = pose_at(s, w->side, to);
    slider one = {.fit = w->other, .depth = s->depth};
    for (uint32_t k = 0; k < w->patch->samples; k++) {
        const flr_vec3 point = w->own->samples[w->patch->first_sample + k].point;
        if (is_interrupted(s)) return false;
        one.from = flr_pose_apply(T, point);
        one.by = flr_vec3_sub(flr_pose_apply(T_to, point), one.from);
        if (is_settled(s, w, k, &one, t, to)) continue;
        const double end = (s->result->free - t) / (to - t), got = follow(&one, fmin(end, 1));
        if (got >= 1 || got >= end) continue;
        s->result->free = t + got * (to - t);
        s->side = w->side, s->sample = w->patch->first_sample + k;
        if (s->result->free <= t) break;
    }
    s->result->work += one.work;
    return true;
}

/* Takes a patch through the motion; false: interrupted. */
static bool slide_patch(sliding *s, patch_way *w)
{
    double t = 0;
    for (uint32_t i = 0; i < REMEMBERED; i++) w->clear[i] = 0, w->beside[i] = FLR_NONE;
    set_speed(s, w);
    for (int i = 0; t < s->result->free; i++) {
        const double left = s->result->free - t, stretch = fmin(w->stretch, left);
        bool within;
        if (is_interrupted(s)) return false;
        const double clear = clear_for(
            s, w, flr_pose_apply(pose_at(s, w->side, t), w->patch->centre), left, &within);
        if ((within && t == 0) || i == MAX_PATCH_STRETCHES) {
            s->result->free = t;
            s->side = w->side, s->sample = w->patch->first_sample;
            return true;
        }
        if (clear >= left) return true;
        if (clear > (s->turn > 0 ? skipped : skipped_straight) * stretch) {
            t += clear;
            continue;
        }
        if (!slide_samples(s, w, t, t + stretch)) return false;
        t += stretch;
    }
    return true;
}

/* Samples of one part, in the frame of the other; false: interrupted. */
static bool slide_side(sliding *s, uint32_t side)
{
    patch_way w = {.own = s->parts[side], .other = s->parts[1 - side], .side = side};
    for (uint32_t i = 0; i < w.own->counts.patches; i++) {
        w.patch = &w.own->patches[i];
        if (w.patch->samples && !slide_patch(s, &w)) return false;
    }
    return true;
}

/* Where the sample is that stops the motion. */
static void fill_place(const sliding *s)
{
    flr_fit_slide_result *r = s->result;
    const flr_fit *own = s->parts[s->side], *other = s->parts[1 - s->side];
    const flr_pose T = pose_at(s, 1, r->free);
    const flr_vec3 point = own->samples[s->sample].point,
                   p = s->side ? flr_pose_apply(T, point) : flr_pose_apply_inverse(T, point);
    const flr_fit_point_result at = flr_fit_point(other, p, INFINITY);
    r->distance = at.distance;
    const flr_vec3 nearest = s->side ? at.nearest : flr_pose_apply(T, at.nearest),
                   seen = s->side ? p : flr_pose_apply(T, p);
    r->point[0] = s->side ? nearest : seen;
    r->point[1] = s->side ? seen : nearest;
    r->normal = s->side ? at.direction : flr_vec3_neg(flr_pose_apply_vector(T, at.direction));
}

void flr_fit_slide(const flr_fit *a, const flr_fit *b, const flr_fit_slide_def *def,
                   flr_fit_slide_result *result)
{
    const flr_fit_motion *m = &def->motion;
    *result = (flr_fit_slide_result){.free = 1};
    if (!flr_pose_is_valid(m->from) || !flr_pose_is_valid(m->to) ||
        !flr_vec3_is_finite(m->centre) || !(def->depth > 0)) {
        result->free = 0;
        return;
    }
    sliding s = {.parts = {a, b}, .def = def, .result = result};
    s.straight =
        flr_vec3_distance(flr_pose_apply(m->from, m->centre), flr_pose_apply(m->to, m->centre));
    s.turn = flr_quat_angle(m->from.q, m->to.q);
    if (s.turn < NO_TURN) s.turn = 0;
    s.depth = def->depth * (1 - off_chord);
    if (!slide_side(&s, 1) || !slide_side(&s, 0)) {
        *result = (flr_fit_slide_result){.stopped = true, .work = result->work};
        return;
    }
    if (result->free < 1) fill_place(&s);
}
