/* how far the planned motions are free, from the triangles alone */
#include <math.h>

#include "world/exact_internal.h"

enum {
    REPLANS = 2, /* times that a body is planned anew, with what its motion would have met */
    PASSES = 4,  /* more, over pairs of moving bodies that stop each other */
    PIECES = 8   /* of a motion in which both parts turn */
};
#define BEND  3e-7  /* metres: the true motion of such a piece is no farther from the one that is checked */
#define REST  1e-12 /* metres: who moves less in a step rests */
#define STEPS 8     /* halvings, where parts are in each other, of … */
#define SHORT 1e-4  /* metres, or the overlap if that is more: what is thicker is not passed through */

/* Where a part is after a share of what it goes in the step. */
static flr_pose pose_at(const flr_world *w, uint32_t part, double share)
{
    const flr_world_plan *p = &w->plans[part];
    if (!p->moves) return w->poses[part];
    return flr_motion_apply(&w->state->bodies[part], p->result.motion, p->fraction * share);
}

static flr_pose between_at(const flr_world *w, const flr_exact_near *n, double share)
{
    return flr_exact_between(pose_at(w, n->a, share), pose_at(w, n->b, share));
}

static double turn_of(const flr_world *w, uint32_t part)
{
    const flr_world_plan *p = &w->plans[part];
    return p->moves ? p->fraction * flr_vec3_length(p->result.motion.turn) : 0;
}

/* In how many pieces a relative motion is checked. Each part moves evenly, its centre along a line; seen from another that
 * turns, it does not. Per piece, what is left of that is below BEND. */
static uint32_t pieces_of(const flr_world *w, const flr_exact_near *n, double *bend)
{
    double turn = turn_of(w, n->a), travel = flr_exact_travel(w, n->b) + flr_exact_travel(w, n->a);
    *bend = 0;
    if (turn == 0) return 1;
    const flr_body *a = &w->state->bodies[n->a], *b = &w->state->bodies[n->b];
    double far = flr_vec3_distance(flr_body_centre(a), flr_body_centre(b));
    double whole = turn * (turn * far / 8 + travel / 2 + turn_of(w, n->b) * b->reach / 4);
    uint32_t pieces = 1;
    while (pieces < PIECES && whole > BEND * pieces * pieces) pieces++;
    *bend = whole / (pieces * pieces);
    return pieces;
}

/* Checks one pair; the share of the planned motion that is free. */
static double march(flr_world *w, const flr_exact_near *n, flr_fit_motion_result *found,
                    flr_world_frame *frame)
{
    flr_exact *e = w->exact;
    double bend;
    uint32_t pieces = pieces_of(w, n, &bend);
    flr_fit_motion_params how = flr_default_fit_motion_params();
    how.clearance = FLR_EXACT_CLEAR + bend;
    for (uint32_t i = 0; i < pieces; i++) {
        double from = (double)i / pieces, to = (i + 1.0) / pieces;
        flr_fit_motion motion = {.from = between_at(w, n, from),
                                 .to = between_at(w, n, to),
                                 .centre = w->state->bodies[n->b].inertia.centre};
        *found = (flr_fit_motion_result){0};
        if (flr_exact_left(e, &how.budget)) {
            flr_fit_pair_motion(n->fits, &motion, &how, found);
            e->spent += found->work;
            frame->points_tested += found->work;
        }
        if (!(found->free < 1)) continue;
        frame->exhausted += !found->complete;
        return from + fmax(0, found->free) * (to - from);
    }
    return 1;
}

/* Parts that are in each other: their surfaces meet all the way, and what is asked is how deep they get. */
static double march_overlap(flr_world *w, const flr_exact_near *n, flr_world_frame *frame)
{
    flr_exact *e = w->exact;
    double allowed = fmin(-n->tolerated, n->result.distance) - FLR_EXACT_FLOOR;
    double travel = flr_exact_travel(w, n->a) + flr_exact_travel(w, n->b);
    double share = fmin(1, fmax(n->tolerated, SHORT) / travel);
    flr_fit_params ask = flr_default_fit_params();
    ask.reach = -1;
    ask.max_distance = FLR_EXACT_FLOOR;
    for (int i = 0; i < STEPS; i++, share /= 2) {
        flr_fit_result r;
        if (!flr_exact_left(e, &ask.budget)) break;
        flr_fit_pair_query(n->fits, between_at(w, n, share), &ask, NULL, 0, &r);
        e->spent += r.work;
        frame->points_tested += r.work;
        if (!r.complete) break;
        if (r.distance >= allowed) return share;
    }
    frame->exhausted++;
    return 0;
}

/* Shortens the motion of a part, and says so. */
static void shorten(flr_world *w, uint32_t part, double share, int pass)
{
    if (!w->plans[part].moves) return;
    w->plans[part].fraction *= share;
    w->plans[part].stopped = true;
    w->exact->parts[part].newest = pass + 1;
}

/* What stops a body becomes a limit of its next plan: the place as it is at the beginning of the step, and a gap such that the
 * motion that was planned closes it as far as it was found closed. */
static void block(flr_world *w, uint32_t part, uint32_t other, flr_vec3 point, flr_vec3 normal,
                  double gap)
{
    flr_exact_part *p = &w->exact->parts[part];
    if (!w->plans[part].moves || p->block_count == FLR_EXACT_EXTRA) return;
    const flr_body *body = &w->state->bodies[part];
    double clearance = w->params.exact.clearance, end = fmin(FLR_EXACT_FLOOR, gap);
    flr_exact_block *b = &p->blocks[p->block_count++];
    b->other = other;
    b->point = (flr_exact_point){.arm = flr_vec3_sub(point, flr_body_centre(body)),
                                 .normal = normal,
                                 .depth = clearance - gap,
                                 .limit = clearance - end};
    const flr_world_plan *q = &w->plans[other];
    if (q->moves)
        b->point.other = flr_twist_velocity(
            q->result.twist, flr_vec3_sub(point, flr_body_centre(&w->state->bodies[other])));
    p->again = true;
}

static void block_both(flr_world *w, const flr_exact_near *n, double share,
                       const flr_fit_motion_result *found)
{
    flr_pose T_a = pose_at(w, n->a, share), T_b = pose_at(w, n->b, share);
    flr_vec3 normal = flr_pose_apply_vector(T_a, found->normal);
    flr_vec3 at = flr_pose_apply(T_a, found->point[1]);
    flr_vec3 from = flr_pose_apply(w->poses[n->b], flr_pose_apply_inverse(T_b, at));
    double closing = 0;
    for (int side = 0; side < 2; side++) {
        uint32_t part = side ? n->b : n->a;
        const flr_world_plan *p = &w->plans[part];
        if (!p->moves) continue;
        flr_vec3 arm = flr_vec3_sub(from, flr_body_centre(&w->state->bodies[part]));
        double speed = flr_vec3_dot(normal, flr_twist_velocity(p->result.twist, arm));
        closing -= (side ? 1 : -1) * speed * w->def.dt * p->fraction * share;
    }
    double gap = found->distance + closing;
    if (!isfinite(gap) || !(fabs(flr_vec3_length2(normal) - 1) < 1e-3)) return;
    block(w, n->b, n->a, from, normal, gap);
    block(w, n->a, n->b, from, flr_vec3_neg(normal), gap);
}

/* Checks a pair. True: something is in the way. */
static bool check(flr_world *w, flr_exact_near *n, int pass, flr_world_frame *frame)
{
    double travel = flr_exact_travel(w, n->a) + flr_exact_travel(w, n->b);
    n->checked = pass;
    if (!(travel > REST) || n->lower - FLR_EXACT_CLEAR > travel + FLR_EXACT_CLEAR) return false;
    flr_fit_motion_result found = {0};
    double share = n->tolerated > 0 ? march_overlap(w, n, frame) : march(w, n, &found, frame);
    if (!(share < 1)) return false;
    if (pass < REPLANS && found.blocked) {
        block_both(w, n, share, &found);
        if (w->exact->parts[n->a].again || w->exact->parts[n->b].again) return true;
    }
    shorten(w, n->a, share, pass);
    shorten(w, n->b, share, pass);
    return true;
}

void flr_exact_check(flr_world *w, flr_world_frame *frame)
{
    flr_exact *e = w->exact;
    bool again = e->near_count > 0;
    for (int pass = 0; again && pass < REPLANS + PASSES; pass++) {
        again = false;
        for (uint32_t i = 0; i < e->near_count; i++) {
            flr_exact_near *n = &e->nears[i];
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
                flr_exact_plan(w, part, frame);
                w->plans[part].stopped = false;
            }
    }
    for (uint32_t part = 0; again && part < e->part_count; part++)
        if (w->plans[part].moves) w->plans[part].fraction = 0, w->plans[part].stopped = true;
}
