/* how far the planned motions are free, from the triangles alone */
#include <math.h>

#include "world/tight_internal.h"

enum {
    REPLANS = 1,      /* times that a body is planned anew, with what its motion would have met */
    TIGHT_PASSES = 4, /* more, over pairs of moving bodies that stop each other */
    SWEPT_PIECES = 8, /* of a motion in which both turn, at most */
    HALVINGS = 3      /* of a stride that ends deeper than is tolerated */
};
#define TIGHT_REST 1e-12 /* metres: who moves less in a step rests */
#define STRIDE     1e-4  /* metres: while parts are in each other, depth is measured so often */
#define ASTRAY     0.2   /* of the distance: so little two moving parts go astray in a piece */

/* Where a part is after a share of what it goes in the step. */
static flr_pose pose_at(const flr_world *w, uint32_t part, double share)
{
    const flr_world_plan *p = &w->plans[part];
    if (!p->moves) return w->poses[part];
    return flr_motion_apply(&w->state->bodies[part], p->result.motion, p->fraction * share);
}

/* ---- parts that are apart: triangle by triangle, all the way ---- */

/* How far b goes astray, metres, from an even motion in the frame of a, at most, while both do a share of their motions.
 * The distance of a curve from its chord is an eighth of its second derivative at most. Here the curves are those of b's
 * points in the frame of a, which turns by `turn_a`, and those of the even motion between the same ends. */
static double astray(const flr_world *w, const flr_tight_near *n, double share)
{
    const flr_world_plan *pa = &w->plans[n->a], *pb = &w->plans[n->b];
    if (!pa->moves) return 0;
    const flr_body *a = &w->state->bodies[n->a], *b = &w->state->bodies[n->b];
    const double of_a = pa->fraction * share, of_b = pb->moves ? pb->fraction * share : 0;
    const double turn_a = of_a * flr_vec3_length(pa->result.motion.turn),
                 turn_b = of_b * flr_vec3_length(pb->result.motion.turn);
    const flr_vec3 shift = flr_vec3_sub(flr_vec3_scale(pb->result.motion.shift, of_b),
                                        flr_vec3_scale(pa->result.motion.shift, of_a));
    const double moved = flr_vec3_length(shift), reach = b->reach, both = turn_a + turn_b;
    const double far =
        flr_vec3_length(flr_vec3_sub(flr_body_centre(b), flr_body_centre(a))) + reach + moved;
    /* only what a reaches can be met */
    const double room = fmin(far, a->reach + 2 * (moved + both * reach));
    const double bend = turn_a * turn_a * room + 2 * turn_a * (moved + turn_b * reach) +
                        turn_b * turn_b * reach + both * both * reach;
    return bend / 8;
}

/* A piece of the motion of a pair, from one share to another: true: it is free; else `*share` is how far it is. */
static bool sweep(flr_world *w, flr_tight_near *n, double from, double to, double *share,
                  flr_fit_result *last, flr_world_frame *frame)
{
    flr_tight *e = w->tight;
    flr_fit_motion motion = {.from =
                                 flr_tight_between(pose_at(w, n->a, from), pose_at(w, n->b, from)),
                             .to = flr_tight_between(pose_at(w, n->a, to), pose_at(w, n->b, to)),
                             .centre = w->state->bodies[n->b].inertia.centre};
    flr_fit_motion_params how = flr_default_fit_motion_params();
    flr_fit_params ask = flr_tight_ask(w, n, flr_tight_may_come(w, n));
    flr_fit_motion_result way = {0};
    flr_fit_result there = {0};
    uint32_t capacity;
    flr_fit_contact *list = flr_tight_room(e, &capacity);
    how.clearance = FLR_TIGHT_CLEAR;
    how.deviation = astray(w, n, to - from);
    /* measured there, or left free by the piece before */
    how.start = from > 0 ? FLR_TIGHT_CLEAR : fmax(n->result.lower, 0);
    if (!flr_tight_left(w, n, &how.budget)) {
        *share = from;
        n->exhausted = true;
        frame->exhausted++;
        return false;
    }
    ask.budget = how.budget;
    flr_fit_params first = ask;
    const bool apart = flr_tight_is_apart(w, n, ask.reach);
    if (apart) first.reach = -1;
    if (to == 1)
        flr_fit_pair_sweep(e->slots[n->slot].fits, &motion, &how, &first, apart ? NULL : list,
                           apart ? 0 : capacity, &way, &there);
    else
        flr_fit_pair_motion(e->slots[n->slot].fits, &motion, &how, &way);
    flr_tight_spend(w, n, way.work + there.work, frame);
    n->exhausted |= !way.complete;
    frame->exhausted += !way.complete;
    if (way.free == 1) {
        /* otherwise the next step looks for them */
        if (to == 1 && (!apart || there.lower > ask.reach))
            flr_tight_keep_ahead(w, n, motion.to, &ask, !apart, &there);
        return true;
    }
    *share = from + (to - from) * fmin(fmax(way.free, 0), 1);
    *last = (flr_fit_result){.distance = way.distance,
                             .found = way.blocked,
                             .point = {way.point[0], way.point[1]},
                             .normal = way.normal};
    return false;
}

/* How much of the planned motion of a pair is free, when both are apart. */
static double advance(flr_world *w, flr_tight_near *n, double sure, flr_fit_result *last,
                      flr_world_frame *frame)
{
    /* two parts that turn both: in pieces, so that they hardly leave an even motion */
    const double apart = fmax(n->lower, FLR_TIGHT_CLEAR), off = astray(w, n, 1);
    int pieces = 1;
    while (pieces < SWEPT_PIECES && off > ASTRAY * apart * pieces * pieces) pieces++;
    for (int i = 0; i < pieces; i++) {
        double share;
        const double to = i + 1 == pieces ? 1 : (double)(i + 1) / pieces;
        if (!sweep(w, n, (double)i / pieces, to, &share, last, frame)) return fmax(sure, share);
    }
    return 1;
}

/* ---- parts that are in each other: no deeper than is tolerated ---- */

/* Measures a pair after a share of its motion. False: there was no time for it. */
static bool look(flr_world *w, flr_tight_near *n, double share, flr_fit_result *r,
                 flr_world_frame *frame)
{
    flr_tight *e = w->tight;
    const flr_pose T = flr_tight_between(pose_at(w, n->a, share), pose_at(w, n->b, share));
    flr_fit_params ask = flr_tight_ask(w, n, flr_tight_may_come(w, n));
    uint32_t capacity;
    flr_fit_contact *list = flr_tight_room(e, &capacity);
    if (share < 1) ask.reach = -1, ask.max_distance = 2 * FLR_TIGHT_FLOOR, capacity = 0;
    if (!flr_tight_left(w, n, &ask.budget)) return false;
    flr_fit_pair_query(e->slots[n->slot].fits, T, &ask, capacity ? list : NULL, capacity, r);
    flr_tight_spend(w, n, r->work, frame);
    if (share == 1) flr_tight_keep_ahead(w, n, T, &ask, true, r);
    return r->complete;
}

/* Parts that are in each other may stay as deep as they are. */
static bool is_tolerated(const flr_tight_near *n, const flr_fit_result *r)
{
    return r->distance >= fmin(-n->tolerated, n->result.distance) - FLR_TIGHT_FLOOR;
}

/* The same for parts in each other, in strides of STRIDE. */
static double advance_within(flr_world *w, flr_tight_near *n, double travel, flr_fit_result *last,
                             flr_world_frame *frame)
{
    double free = 0;
    *last = n->result;
    if (!n->result.complete) return 0;
    while (free < 1) {
        double next = fmin(1, free + fmax(STRIDE, n->lower) / travel);
        flr_fit_result r;
        bool fine = false;
        int halved = 0;
        for (; !fine && halved <= HALVINGS; halved += !fine) {
            if (!look(w, n, next, &r, frame)) {
                n->exhausted = true;
                frame->exhausted++;
                return free;
            }
            fine = is_tolerated(n, &r);
            if (!fine) next = (free + next) / 2;
        }
        if (!fine) return free;
        free = next, *last = r;
        if (halved > 0) return free; /* what it was shortened for is right ahead */
    }
    return 1;
}

/* ---- what stops a body ---- */

/* The motion of a part, and of all that move with it, was changed in a pass. */
static void renew(flr_world *w, uint32_t part, int pass)
{
    uint32_t count;
    const uint32_t *members = flr_links_members(w, &part, &count);
    for (uint32_t i = 0; i < count; i++) w->tight->parts[members[i]].newest = pass;
}

/* Shortens the motion of a part, and says so. */
static void shorten(flr_world *w, uint32_t part, double share, int pass)
{
    if (!w->plans[part].moves) return;
    w->plans[part].fraction *= share;
    w->plans[part].stopped = true;
    flr_links_share(w, part);
    renew(w, part, pass + 1);
}

/* What stops a body becomes a limit of its next plan: the place as it is at the beginning of the step, and a gap such that the
 * motion that was planned closes it as far as it was found closed. */
static void block(flr_world *w, uint32_t part, uint32_t other, flr_vec3 point, flr_vec3 normal,
                  double gap)
{
    flr_tight_part *p = &w->tight->parts[part];
    if (!w->plans[part].moves || p->block_count == FLR_TIGHT_EXTRA) return;
    double onset = w->tight->onset, end = fmin(FLR_TIGHT_FLOOR, gap);
    p->blocks[p->block_count++] = (flr_tight_block){.point = point,
                                                    .normal = normal,
                                                    .depth = onset - gap,
                                                    .limit = onset - end,
                                                    .other = other};
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
    flr_fit_result last = n->result;
    const double sure = fmax(0, n->lower - FLR_TIGHT_CLEAR) / travel;
    const bool within = n->tolerated > 0 || !(n->result.distance > 0);
    double share = fmin(sure, 1);
    if (within)
        share = advance_within(w, n, travel, &last, frame);
    else if (n->result.complete)
        share = advance(w, n, share, &last, frame);
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
                renew(w, part, pass + 1);
                w->plans[part].stopped = false;
                flr_tight_plan(w, part, frame);
            }
    }
    for (uint32_t part = 0; again && part < e->part_count; part++)
        if (w->plans[part].moves) w->plans[part].fraction = 0, w->plans[part].stopped = true;
}
