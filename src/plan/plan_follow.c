/* following a motion that slips: along a rail with bends, around a shaft, off a thread
 *
 * Piece by piece, each checked exactly. After a piece that was stopped the body is brought into the middle of its play, and
 * what that and sliding did to the motion is expected of the next piece: so a ring finds its way along a bent tube, and a nut
 * the pitch of its thread. */
#include "plan/plan_tree.h"

enum {
    MAX_PIECES = 600,
    PIECES_OF_A_TURN = 8,
    PIECES_OF_A_LOOK_BACK = 8,
    MAX_STUCK = 3,
    MAX_SCAN = 200
};
#define MAX_TURNED  6.6  /* radians: beyond a turn without a climb there is nothing new */
#define SHORT_PIECE 0.04 /* of the size of the body */
#define NO_PIECE    2e-3 /* the same: less is no progress */
#define USUAL_PIECE 0.03 /* the same, on average */

typedef struct follower {
    flr_plan_worker *w;
    flr_plan_space *s;
    flr_plan_tree *tree;
    uint32_t node; /* where the body is */
    flr_plan_twist by;
    double most; /* metres: how far the next piece may go */
    double play; /* metres: at the beginning */
    double arm;  /* metres: how far the contacts are from their centre, at the beginning */
    bool turns;  /* it began as a turn that hardly climbs */
    bool
        steers; /* it follows bends; else it keeps its direction and slides past what is in the way */
    bool first; /* from the start: angles of a turn are tried for a way out */
    double turned;
    int stuck;   /* pieces in a row that led nowhere */
    double gone; /* metres: that pieces went since it last looked back */
} follower;

/* ---- pieces ---- */

static bool is_straight(const flr_plan_space *s, flr_plan_twist by)
{
    return flr_vec3_length(by.turn) * s->radius < 0.02 * flr_vec3_length(by.move);
}

/* A piece of the motion that a twist begins: a turn, or straight out. No point goes much farther than `most`. */
static flr_plan_motion piece_of(const flr_plan_space *s, flr_pose T, flr_plan_twist by, double most)
{
    const double turn = flr_vec3_length(by.turn);
    if (is_straight(s, by)) {
        flr_plan_motion out = flr_plan_leave(s, T, flr_vec3_normalize(by.move));
        const double travel = flr_plan_travel(s, &out);
        if (travel > most) out.to = flr_fit_motion_pose(&out, most / travel);
        return out;
    }
    const flr_vec3 axis = flr_vec3_scale(by.turn, 1 / turn), middle = flr_pose_apply(T, s->centre),
                   foot = flr_vec3_add(
                       middle, flr_vec3_scale(flr_vec3_cross(by.turn, by.move), 1 / (turn * turn)));
    const double pitch = flr_vec3_dot(by.move, axis) / turn,
                 reach = s->radius + flr_vec3_distance(foot, middle) + fabs(pitch),
                 angle = fmin(6.283185307179586 / PIECES_OF_A_TURN, most / reach);
    flr_plan_motion motion = {.from = T, .centre = flr_pose_apply_inverse(T, foot)};
    motion.to.q = flr_quat_normalize(flr_quat_mul(flr_quat_from_axis_angle(axis, angle), T.q));
    motion.to.p = flr_vec3_sub(flr_vec3_add_scaled(foot, pitch * angle, axis),
                               flr_quat_rotate(motion.to.q, motion.centre));
    return motion;
}

/* Metres along the axis in a turn. */
static double climb_of(flr_plan_twist by)
{
    const double turn2 = flr_vec3_length2(by.turn);
    return turn2 > 0 ? fabs(flr_vec3_dot(by.move, by.turn)) / turn2 * 6.283185307179586 : INFINITY;
}

static flr_plan_twist scaled(flr_plan_twist by, double factor)
{
    return (flr_plan_twist){flr_vec3_scale(by.turn, factor), flr_vec3_scale(by.move, factor)};
}

static void add_node(follower *f, flr_pose T, flr_vec3 centre)
{
    const uint32_t next = flr_plan_tree_add(f->tree, f->s, T, f->node, centre);
    f->w->no_memory |= next == FLR_NONE;
    if (next != FLR_NONE) f->node = next;
}

uint32_t flr_plan_centre(flr_plan_worker *w, uint32_t node, const flr_plan_freedom *freedom)
{
    flr_plan_tree *tree = &w->trees[0];
    if (!freedom->centred) return node;
    const flr_pose from = tree->nodes[node].T,
                   to = flr_plan_displace(w->space, from, freedom->centring);
    const double travel = flr_plan_apart(w->space, from, to);
    if (travel < 1e-6 * w->space->size || travel > 0.02 * w->space->size) return node;
    bool there;
    return flr_plan_extend(w, tree, node, to, INFINITY, 0.02 * travel, &there);
}

/* ---- ways off ---- */

/* Straight out along an axis; true when it is out. */
static bool try_axis(follower *f, flr_vec3 axis)
{
    const flr_plan_motion motion = flr_plan_leave(f->s, f->tree->nodes[f->node].T, axis);
    if (flr_plan_try(f->w, &motion).free < 1) return false;
    const uint32_t kept = f->node;
    add_node(f, motion.to, motion.centre);
    return f->node != kept && flr_plan_arrive(f->w, f->node);
}

/* Off a thread its axis leads out; off a rail, the way that the contacts go. */
static bool leaves(follower *f, const flr_plan_freedom *freedom, bool stopped, int piece)
{
    const double turn2 = flr_vec3_length2(f->by.turn), along = flr_vec3_dot(f->by.move, f->by.turn);
    if (!f->turns && piece % 4 == 3 && turn2 > 0 &&
        try_axis(f, flr_vec3_scale(flr_vec3_normalize(f->by.turn), along < 0 ? -1 : 1)))
        return true;
    const flr_vec3 ahead =
        flr_vec3_add(f->by.move, flr_vec3_cross(f->by.turn, freedom->from_middle));
    return stopped && flr_vec3_length2(ahead) > 0 && try_axis(f, flr_vec3_normalize(ahead));
}

/* A body that turns freely, as a bayonet does, comes out at certain angles only: tries the axis at all of them, in steps in
 * which no contact goes farther than the play. */
static bool scan_turn(follower *f, const flr_plan_motion *motion, double free)
{
    flr_plan_worker *w = f->w;
    flr_plan_space *s = f->s;
    const double angle = free * flr_quat_angle(motion->from.q, motion->to.q);
    const double steps = fmin(ceil(angle * f->arm / fmax(f->play, 1e-4 * s->size)), MAX_SCAN);
    const flr_vec3 axis = flr_vec3_normalize(flr_quat_to_rotation_vector(
        flr_quat_mul(motion->to.q, flr_quat_conjugate(motion->from.q))));
    for (double i = 0; i <= steps && !w->no_memory; i++) {
        const double part = steps > 0 ? free * i / steps : 0;
        if (w->give_up(w->give_up_context)) return false;
        for (int sign = 1; sign >= -1; sign -= 2) {
            const flr_plan_motion out =
                flr_plan_leave(s, flr_fit_motion_pose(motion, part), flr_vec3_scale(axis, sign));
            const flr_plan_stop stop = flr_plan_try(w, &out);
            if (stop.free * flr_plan_travel(s, &out) < 0.02 * s->size) continue;
            const uint32_t kept = f->node;
            add_node(f, out.from, motion->centre);
            add_node(f, flr_fit_motion_pose(&out, stop.free), out.centre);
            if (flr_plan_arrive(w, f->node)) return true;
            f->node = kept;
        }
    }
    return false;
}

/* ---- going on ---- */

/* Slides on along what is in the way of a motion; false where it hardly comes nearer to its end. A straight motion out has its end
 * far off, so that it slides past whole parts. */
static bool slide(follower *f, const flr_plan_motion *motion)
{
    const flr_pose from = f->tree->nodes[f->node].T, target = flr_fit_motion_pose(motion, 0.25);
    bool there;
    const uint32_t end = flr_plan_extend(f->w, f->tree, f->node, target, INFINITY,
                                         0.5 * NO_PIECE * f->s->size, &there);
    const double before = flr_plan_apart(f->s, from, target),
                 left = flr_plan_apart(f->s, f->tree->nodes[end].T, target);
    if (left >= before - fmin(0.1 * before, 0.01 * f->s->size)) return false;
    f->node = end;
    return true;
}

/* Among many parts a motion may go on for long from one contact to the next; along a rail its pieces are longer. */
static bool wanders(follower *f, int piece)
{
    if (!f->steers || piece == 0 || piece % PIECES_OF_A_LOOK_BACK) return false;
    const bool wanders = f->gone < PIECES_OF_A_LOOK_BACK * USUAL_PIECE * f->s->size;
    f->gone = 0;
    return wanders;
}

/* What a piece has done to the body, as the motion with which it goes on. */
static flr_plan_twist twist_between(const flr_plan_space *s, flr_pose from, flr_pose to)
{
    const flr_vec3 turn =
        flr_quat_to_rotation_vector(flr_quat_mul(to.q, flr_quat_conjugate(from.q)));
    const flr_vec3 move =
        flr_vec3_sub(flr_pose_apply(to, s->centre), flr_pose_apply(from, s->centre));
    // a chord is parallel to its arc half way
    const flr_quat half = flr_quat_from_rotation_vector(flr_vec3_scale(turn, 0.5));
    return (flr_plan_twist){turn, flr_quat_rotate(half, move)};
}

/* How the motion goes on after a piece that began at a pose. */
static void steer(follower *f, const flr_plan_freedom *freedom, flr_pose from, bool bent)
{
    const flr_pose to = f->tree->nodes[f->node].T;
    const flr_quat turned = flr_quat_mul(to.q, flr_quat_conjugate(from.q));
    const flr_plan_twist done = twist_between(f->s, from, to);
    flr_plan_twist by = {flr_quat_rotate(turned, f->by.turn), flr_quat_rotate(turned, f->by.move)};
    const double by2 = flr_plan_alike(freedom, by, by), done2 = flr_plan_alike(freedom, done, done),
                 along = flr_plan_alike(freedom, by, done);
    if (bent && along > 0 && along * along > 0.5 * by2 * done2) {
        const double scale = sqrt(by2 / done2);
        by.move = flr_vec3_add_scaled(by.move, scale, done.move);
        by.turn = flr_vec3_add_scaled(by.turn, scale, done.turn);
        by = scaled(by, sqrt(by2 / flr_plan_alike(freedom, by, by)));
    }
    // what else comes near, such as the end of a thread, must not bend a motion that is free
    const flr_plan_twist next = flr_plan_go_on(freedom, by);
    const double climb = climb_of(by);
    f->by = bent || fabs(climb_of(next) - climb) < 0.01 * climb ? next : by;
}

/* One piece. False: the end. */
static bool step(follower *f, uint32_t legs, int piece)
{
    const flr_plan_motion motion = piece_of(f->s, f->tree->nodes[f->node].T, f->by, f->most);
    const flr_plan_stop stop = flr_plan_try(f->w, &motion);
    const double whole = flr_plan_travel(f->s, &motion), travel = stop.free * whole;
    const bool stopped = stop.free < 1;
    if (f->turns && f->first && scan_turn(f, &motion, stop.free)) return false;
    if (f->turns) f->turned += stop.free * flr_quat_angle(motion.from.q, motion.to.q);
    f->gone += travel;
    if (f->steers) f->most = stopped ? fmax(2 * travel, SHORT_PIECE * f->s->size) : 2 * whole;
    if (travel > NO_PIECE * f->s->size) {
        add_node(f, flr_fit_motion_pose(&motion, stop.free), motion.centre);
        if (flr_plan_arrive(f->w, f->node)) return false;
        if (f->turns) flr_plan_enqueue(f->w, f->node, legs);
    }
    f->stuck = travel > NO_PIECE * f->s->size ? 0 : f->stuck + 1;
    if (stopped && travel < 0.5 * SHORT_PIECE * f->s->size) {
        const bool slid = slide(f, &motion);
        if (slid) f->stuck = 0;
        if (!slid && !f->steers) return false;
    }
    if (f->stuck == MAX_STUCK || f->w->no_memory) return false;
    const flr_plan_freedom freedom = flr_plan_look_around(f->w, f->tree->nodes[f->node].T);
    if (f->steers && leaves(f, &freedom, stopped, piece)) return false;
    if (stopped || f->turns || piece < PIECES_OF_A_TURN)
        f->node = flr_plan_centre(f->w, f->node, &freedom);
    if (f->steers) steer(f, &freedom, motion.from, stopped || f->turns);
    return true;
}

bool flr_plan_slips_straight(const flr_plan_worker *worker, flr_plan_twist by)
{
    return is_straight(worker->space, by);
}

uint32_t flr_plan_follow_slip(flr_plan_worker *worker, uint32_t legs, uint32_t node,
                              const flr_plan_freedom *freedom, flr_plan_twist by, bool steers)
{
    follower f = {.w = worker,
                  .s = worker->space,
                  .tree = &worker->trees[0],
                  .node = node,
                  .by = by,
                  .most = INFINITY,
                  .play = freedom->play,
                  .arm = freedom->arm,
                  .steers = steers,
                  .turns = climb_of(by) < 0.02 * worker->space->size,
                  .first = legs == 1};
    for (int i = 0; i < MAX_PIECES && f.turned < MAX_TURNED; i++) {
        if (worker->give_up(worker->give_up_context) || wanders(&f, i)) break;
        if (!step(&f, legs, i)) break;
    }
    return f.node;
}
