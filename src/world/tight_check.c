/* how far the planned motions are free, from the triangles alone */
#include <math.h>

#include "world/tight_internal.h"

enum {
    REPLANS = 1,      /* times that a body is planned anew, with what its motion would have met */
    TIGHT_PASSES = 4, /* more, over pairs of moving bodies that stop each other */
    HALVINGS = 3      /* of a stride that ends in something */
};
#define TIGHT_REST 1e-12 /* metres: who moves less in a step rests */
#define STRIDE                                                                                     \
    1e-4 /* metres: from one place that is free to the next; what is thicker is not passed through */

/* Where a part is after a share of what it goes in the step. */
static flr_pose pose_at(const flr_world *w, uint32_t part, double share)
{
    const flr_world_plan *p = &w->plans[part];
    if (!p->moves) return w->poses[part];
    return flr_motion_apply(&w->state->bodies[part], p->result.motion, p->fraction * share);
}

/* Measures a pair after a share of its motion. False: there was no time for it. */
static bool look(flr_world *w, flr_tight_near *n, double share, double range, flr_fit_result *r,
                 flr_world_frame *frame)
{
    flr_tight *e = w->tight;
    flr_pose T = flr_tight_between(pose_at(w, n->a, share), pose_at(w, n->b, share));
    if (share == 1) return flr_tight_look_ahead(w, n, T, r, frame);
    flr_fit_params ask = flr_default_fit_params();
    ask.reach = -1;
    ask.max_distance = range;
    ask.tolerance = FLR_TIGHT_CLEAR / 2;
    if (!flr_tight_left(e, &ask.budget)) return false;
    flr_fit_pair_query(n->fits, T, &ask, NULL, 0, r);
    e->spent += r->work;
    frame->points_tested += r->work;
    return r->complete;
}

/* Are two parts apart enough? Those that are in each other already may stay as deep as they are. */
static bool is_free(const flr_tight_near *n, const flr_fit_result *r)
{
    const double start = n->result.distance;
    if (n->tolerated > 0 || !(start > 0)) /* they meet all the way; how deep is what matters */
        return r->distance >= fmin(-n->tolerated, start) - FLR_TIGHT_FLOOR;
    return r->lower > 0 && !r->meet && r->lower >= fmin(FLR_TIGHT_CLEAR, n->lower / 2);
}

/* The same for a long motion past a part that stands still: triangle by triangle, all the way. */
static double advance_far(flr_world *w, flr_tight_near *n, flr_fit_result *last,
                          flr_world_frame *frame)
{
    flr_tight *e = w->tight;
    flr_fit_motion motion = {.from = flr_tight_between(w->poses[n->a], w->poses[n->b]),
                             .to = flr_tight_between(w->poses[n->a], pose_at(w, n->b, 1)),
                             .centre = w->state->bodies[n->b].inertia.centre};
    flr_fit_motion_params how = flr_default_fit_motion_params();
    flr_fit_motion_result found = {0};
    how.clearance = FLR_TIGHT_CLEAR;
    if (flr_tight_left(e, &how.budget)) flr_fit_pair_motion(n->fits, &motion, &how, &found);
    e->spent += found.work;
    frame->points_tested += found.work;
    frame->exhausted += !found.complete;
    *last = (flr_fit_result){.distance = found.distance,
                             .found = found.blocked,
                             .point = {found.point[0], found.point[1]},
                             .normal = found.normal};
    return fmin(fmax(found.free, 0), 1);
}

/* How much of the planned motion of a pair is free. It goes in strides, each as long as the distance at its beginning
 * allows, or STRIDE where that is more, and each ends in a place that is free: so nothing that is thicker than STRIDE is
 * passed through, and no step ends in anything. The next step begins where the last stride ends, and need not look again. `last` is what was found at the end of the last stride. */
static double advance(flr_world *w, flr_tight_near *n, double travel, flr_fit_result *last,
                      flr_world_frame *frame)
{
    double free = 0, lower = n->lower;
    *last = n->result;
    double near =
        fmax(0, lower - FLR_TIGHT_CLEAR) / travel; /* of the motion, which is free for sure */
    if (near >= 1) return 1;
    if (travel > STRIDE && !w->plans[n->a].moves && n->tolerated == 0 && n->lower > 0)
        return fmax(near, advance_far(w, n, last, frame));
    while (free < 1) {
        /* so far it is free for sure */
        double sure = free + fmax(0, lower - FLR_TIGHT_CLEAR) / travel;
        if (sure >= 1) return 1;
        double next = fmin(1, fmax(sure, free + STRIDE / travel));
        double range = fmax(travel * (1 - next), 2 * FLR_TIGHT_FLOOR);
        flr_fit_result r;
        bool fine = false;
        int halved = 0;
        for (; !fine && halved <= HALVINGS; halved += !fine) {
            if (!look(w, n, next, range, &r, frame)) {
                frame->exhausted++;
                return sure;
            }
            fine = is_free(n, &r);
            if (!fine) next = (sure + next) / 2;
        }
        if (!fine) return sure;
        free = next, lower = r.lower + n->tolerated, *last = r;
        if (halved > 0) return free; /* what it was shortened for is right ahead */
    }
    return 1;
}

/* Shortens the motion of a part, and says so. */
static void shorten(flr_world *w, uint32_t part, double share, int pass)
{
    if (!w->plans[part].moves) return;
    w->plans[part].fraction *= share;
    w->plans[part].stopped = true;
    w->tight->parts[part].newest = pass + 1;
}

/* What stops a body becomes a limit of its next plan: the place as it is at the beginning of the step, and a gap such that the
 * motion that was planned closes it as far as it was found closed. */
static void block(flr_world *w, uint32_t part, uint32_t other, flr_vec3 point, flr_vec3 normal,
                  double gap)
{
    flr_tight_part *p = &w->tight->parts[part];
    if (!w->plans[part].moves || p->block_count == FLR_TIGHT_EXTRA) return;
    const flr_body *body = &w->state->bodies[part];
    double clearance = w->params.exact.clearance, end = fmin(FLR_TIGHT_FLOOR, gap);
    flr_tight_block *b = &p->blocks[p->block_count++];
    b->other = other;
    b->point = (flr_tight_point){.arm = flr_vec3_sub(point, flr_body_centre(body)),
                                 .normal = normal,
                                 .depth = clearance - gap,
                                 .limit = clearance - end};
    const flr_world_plan *q = &w->plans[other];
    if (q->moves)
        b->point.other = flr_twist_velocity(
            q->result.twist, flr_vec3_sub(point, flr_body_centre(&w->state->bodies[other])));
    p->again = true;
}

/* The nearest points at the end of the part of a motion that is free: what is ahead keeps both bodies off in their next plans. */
static void block_both(flr_world *w, const flr_tight_near *n, double share, const flr_fit_result *r)
{
    flr_pose T_a = pose_at(w, n->a, share), T_b = pose_at(w, n->b, share);
    flr_vec3 normal = flr_pose_apply_vector(T_a, r->normal);
    flr_vec3 at = flr_pose_apply(T_a, r->point[1]);
    flr_vec3 from = flr_pose_apply(w->poses[n->b], flr_pose_apply_inverse(T_b, at));
    if (!r->found || !(fabs(flr_vec3_length2(normal) - 1) < 1e-3)) return;
    double closing = 0;
    for (int side = 0; side < 2; side++) {
        uint32_t part = side ? n->b : n->a;
        const flr_world_plan *p = &w->plans[part];
        if (!p->moves) continue;
        flr_vec3 arm = flr_vec3_sub(from, flr_body_centre(&w->state->bodies[part]));
        double speed = flr_vec3_dot(normal, flr_twist_velocity(p->result.twist, arm));
        closing -= (side ? 1 : -1) * speed * w->def.dt * p->fraction * share;
    }
    double gap = r->distance + n->tolerated + closing;
    block(w, n->b, n->a, from, normal, gap);
    block(w, n->a, n->b, from, flr_vec3_neg(normal), gap);
}

/* Checks a pair. True: something is in the way. */
static bool check(flr_world *w, flr_tight_near *n, int pass, flr_world_frame *frame)
{
    double travel = flr_tight_travel(w, n->a) + flr_tight_travel(w, n->b);
    n->checked = pass;
    if (!(travel > TIGHT_REST) || n->lower - FLR_TIGHT_CLEAR > travel + FLR_TIGHT_CLEAR)
        return false;
    flr_fit_result last;
    double share = advance(w, n, travel, &last, frame);
    if (!(share < 1)) return false;
    if (pass < REPLANS) {
        block_both(w, n, share, &last);
        if (w->tight->parts[n->a].again || w->tight->parts[n->b].again) return true;
    }
    shorten(w, n->a, share, pass);
    shorten(w, n->b, share, pass);
    return true;
}

void flr_tight_check(flr_world *w, flr_world_frame *frame)
{
    flr_tight *e = w->tight;
    bool again = e->near_count > 0;
    for (int pass = 0; again && pass < REPLANS + TIGHT_PASSES; pass++) {
        again = false;
        for (uint32_t i = 0; i < e->near_count; i++) {
            flr_tight_near *n = &e->nears[i];
            int newest = e->parts[n->a].newest > e->parts[n->b].newest ? e->parts[n->a].newest
                                                                       : e->parts[n->b].newest;
            /* a motion that got shorter is free where the longer one was, unless the other part moves, too */
            bool both = w->plans[n->a].moves && w->plans[n->b].moves;
            if (n->checked < 0 || (newest > n->checked && (both || pass <= REPLANS)))
                again |= check(w, n, pass, frame);
        }
        for (uint32_t part = 0; again && part < e->part_count; part++)
            if (e->parts[part].again) {
                e->parts[part].again = false;
                e->parts[part].newest = pass + 1;
                flr_tight_plan(w, part, frame);
                w->plans[part].stopped = false;
            }
    }
    for (uint32_t part = 0; again && part < e->part_count; part++)
        if (w->plans[part].moves) w->plans[part].fraction = 0, w->plans[part].stopped = true;
}
