/* balls around patches of b: is a box around a patch of a near?
 *
 * The distance of a ball's centre from the nearest box changes by no more than the centre moves. So it is seldom measured anew: most
 * of b is far from a, and stays so for a while. */
#include <math.h>

#include "fit/fit_query.h"

void flr_fit_make_balls(const flr_fit *b, flr_fit_lists *l)
{
    for (uint32_t first = 0; first < b->counts.patches; first += FLR_FIT_WIDE) {
        const uint32_t left = b->counts.patches - first,
                       count = left < FLR_FIT_WIDE ? left : FLR_FIT_WIDE;
        flr_fit_ball *all = &l->eights[first / FLR_FIT_WIDE];
        flr_box3 box = flr_box3_empty();
        for (uint32_t i = first; i < first + count; i++) {
            const flr_fit_patch *p = &b->patches[i];
            l->balls[i] = (flr_fit_ball){p->centre, (double)p->radius, {0, 0, 0}, {NAN, NAN}};
            box = flr_box3_add(box, p->centre);
        }
        *all = (flr_fit_ball){
            flr_vec3_scale(flr_vec3_add(box.low, box.high), 0.5), 0, {0, 0, 0}, {NAN, NAN}};
        for (uint32_t i = first; i < first + count; i++)
            all->radius = fmax(all->radius, flr_vec3_distance(all->centre, l->balls[i].centre) +
                                                l->balls[i].radius);
    }
}

/* Bounds, but for rounding to single precision: the distance itself unless it is not more than `enough` (then `least` is 0) or
 * more than `plenty` (then `most` may be larger). It is known to be below `below`. */
static flr_fit_bounds box_distance(const flr_fit_query *q, flr_vec3 point, double enough,
                                   double plenty, double below)
{
    const flr_fit *fit = q->parts[0];
    struct {
        float bound2;
        uint32_t level, entry;
    } stack[FLR_FIT_STACK];
    const float p[3] = {(float)point.x, (float)point.y, (float)point.z},
                enough2 = enough > 0 ? (float)(enough * enough) : 0.0f,
                plenty2 = (float)(plenty * plenty);
    float least2 = (float)(below * below), most2 = INFINITY, bound2[FLR_FIT_WIDE];
    unsigned depth = 1;
    stack[0].bound2 = 0, stack[0].level = fit->levels - 1, stack[0].entry = 0;
    while (depth && most2 > enough2) {
        const uint32_t level = stack[--depth].level, entry = stack[depth].entry;
        const unsigned bottom = depth;
        if (stack[depth].bound2 >= least2) continue;
        uint32_t near = q->kernel->box_distances(&fit->level[level][entry], p, least2, bound2);
        for (; near; near &= near - 1) {
            const uint32_t i = (uint32_t)__builtin_ctz(near);
            if (!(bound2[i] < least2)) continue;
            if (level == 0 || bound2[i] > plenty2) {
                least2 = bound2[i];
                if (level == 0) most2 = least2;
                continue;
            }
            /* the nearest last */
            unsigned at = depth++;
            for (; at > bottom && stack[at - 1].bound2 < bound2[i]; at--) stack[at] = stack[at - 1];
            stack[at].bound2 = bound2[i];
            stack[at].level = level - 1, stack[at].entry = entry * FLR_FIT_WIDE + i;
        }
    }
    const double least = most2 > enough2 ? sqrt((double)least2) : 0;
    return (flr_fit_bounds){least, sqrt((double)most2)};
}

/* What was known of the ball elsewhere decides only where it must come to the same. */
bool flr_fit_ball_is_near(const flr_fit_query *q, flr_fit_ball *ball, double far)
{
    const flr_vec3 at = flr_pose_apply(q->T_a_b, ball->centre);
    const double limit = ball->radius + far, moved = flr_vec3_distance(at, ball->seen),
                 slack = 1e-6 * (q->extent[0] + flr_vec3_length(at) + moved);
    /* what is still known of the distance */
    flr_fit_bounds known = {ball->distance.least - moved - slack,
                            ball->distance.most + moved + slack};
    if (known.least > limit) return false;
    if (known.most < limit) return true;
    if (isnan(known.least)) known = (flr_fit_bounds){0, INFINITY};
    const flr_fit_bounds found =
        box_distance(q, at, limit - 2 * slack, 2 * limit, known.most + slack);
    ball->distance.least = fmax(known.least, found.least);
    ball->distance.most = fmin(known.most, found.most);
    ball->seen = at;
    return !(found.least > limit);
}
