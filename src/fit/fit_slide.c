/* how far a part slides straight on in another that it overlaps
 *
 * Each sample moves along a straight line. Its depth is at most its distance to any triangle of the other part. So while it
 * stays within `depth` of one triangle, it is not too deep, on either side. That distance is a convex function along the
 * line, so bisection finds where it exceeds `depth`. A sample outside and farther away moves on until it comes near a
 * triangle. Sliding along a face takes one step, however long the face is.
 *
 * The distance to the nearest triangle decides whether a sample is too deep. */
#include <math.h>

#include "fit/fit_internal.h"
#include "fit/fit_triangle.h"
#include "mesh/nearest.h"

enum { MAX_EVENTS = 20000, SLIDE_HALVINGS = 44, ASK_AFTER = 256 };
/* shares of the depth: from the first on, a sample inside is too deep; up to the second, the side does not matter; within the
 * third, a sample from outside has come near */
static const double too_deep = 0.99, at_surface = 0.9, close_by = 0.45;

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
        if (inside && (!found || near.distance >= too_deep * s->depth)) return t;
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
    uint32_t side, sample; /* which sample stops the motion */
    uint32_t asked;
} sliding;

/* The samples of a patch on their way stay within a box; does that meet the other part? */
static bool may_meet(const flr_fit *other, flr_vec3 centre, double radius, flr_vec3 by)
{
    flr_box3 box = flr_box3_add(flr_box3_add(flr_box3_empty(), centre), flr_vec3_add(centre, by));
    box = flr_box3_grow(box, radius * (1 + 1e-6));
    return flr_box3_overlap(box, other->info.bounds);
}

/* Samples of one part, in the frame of the other, which is at T. */
static bool slide_side(sliding *s, uint32_t side, flr_pose T, flr_vec3 by)
{
    const flr_fit *own = s->parts[side], *other = s->parts[1 - side];
    slider one = {.fit = other, .by = by, .depth = s->def->depth};
    for (uint32_t i = 0; i < own->counts.patches; i++) {
        const flr_fit_patch *patch = &own->patches[i];
        if (!may_meet(other, flr_pose_apply(T, patch->centre), (double)patch->radius + one.depth,
                      by))
            continue;
        for (uint32_t k = 0; k < patch->samples; k++) {
            if (s->def->go_on && s->asked++ % ASK_AFTER == 0 && !s->def->go_on(s->def->context)) {
                s->result->stopped = true;
                return false;
            }
            one.from = flr_pose_apply(T, own->samples[patch->first_sample + k].point);
            const double end = follow(&one, s->result->free);
            if (end >= s->result->free) continue;
            s->result->free = end;
            s->side = side, s->sample = patch->first_sample + k;
        }
    }
    s->result->work += one.work;
    return true;
}

/* Where the sample is that stops the motion. */
static void fill_place(const sliding *s)
{
    flr_fit_slide_result *r = s->result;
    const flr_fit *own = s->parts[s->side], *other = s->parts[1 - s->side];
    flr_pose T = s->def->T_a_b;
    T.p = flr_vec3_add_scaled(T.p, r->free, s->def->by);
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
    *result = (flr_fit_slide_result){.free = 1};
    if (!flr_pose_is_valid(def->T_a_b) || !flr_vec3_is_finite(def->by) || !(def->depth > 0)) {
        result->free = 0;
        return;
    }
    sliding s = {.parts = {a, b}, .def = def, .result = result};
    const flr_pose T = {def->T_a_b.p, flr_quat_normalize(def->T_a_b.q)}, back = flr_pose_inverse(T);
    const flr_vec3 by = flr_vec3_neg(flr_pose_apply_vector(back, def->by));
    if (!slide_side(&s, 1, T, def->by) || !slide_side(&s, 0, back, by)) {
        *result = (flr_fit_slide_result){.stopped = true, .work = result->work};
        return;
    }
    if (result->free < 1) fill_place(&s);
}
