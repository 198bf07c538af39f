/* ties: what pulls a part to its instance in another world, and keeps energy from coming out of the delay between them.
 *
 * The law, with x for the pose of the centre of mass here and x' for that of the other instance as it is known here:
 *
 *     W = clamp(k (x' - x)) + clamp(b (v' - v)),   b critical for k
 *
 * in shift and turn, taken at the end of the step as all couplings are. Who only follows does so with k0, and stands twice what a
 * hand can push. Of a mutual tie k = k0 max(0.05, 1 - delay / 1 s), and both ends keep an account. With
 * P = W . way, put = sum of max(0, -P), got = sum of max(0, P), and `told` the put of the other end as last heard,
 *
 *     account = STORE + a put + (1 - a) told - got + taken
 *
 * Both ends keep their accounts from falling below -STORE; then, whatever the delay and whatever gets lost,
 * got + got' - taken - taken' <= put + put' + 4 STORE: together the ends give no more than they got. An account below STORE
 * brings in a damper against the world, up to k delay, with which the coupling is stable by itself (Nuno et al. 2009); what it takes
 * (`taken`) may be given again. What that leaves is done by scaling. With enough in the account nothing is changed. */
#include <math.h>
#include <string.h>

#include "world/inside.h"

#define LEAST   0.05  /* of the stiffness, whatever the delay */
#define LONGEST 1.0   /* s: of delay, from which on that is so */
#define ADAPT   0.25  /* s: over which the stiffness goes after the delay */
#define STORE   0.001 /* joules: see above */
#define OWN     0.25  /* a: what an end may give back of what it was given itself */
#define TRICKLE                                                                                    \
    0.005 /* W: an account that is overdrawn gets back to 0, so that instances at rest meet in the end */
#define SHORT 0.01 /* s: the least delay that damping is made for */
#define FIRM  1.5  /* what damping is at most, in terms of stiffness and delay */
#define BACK  0.5  /* of what damping took may be given again, while the account is above 0 */
#define STANDS                                                                                     \
    2.0 /* of a hand's clamps: an instance whose holder is elsewhere is not pushed aside by a hand here */
#define YIELD                                                                                      \
    0.5 /* of the clamps while a hand here holds the part, too: it can go around what is caught between */
#define LOOSE                                                                                      \
    1.0 /* s: over the delay: by how much a mutual tie's clamps give way at most where nothing is touched */
#define HORIZON 0.02 /* s: for which what is left in an account must last */
#define RECOVER 0.05 /* s: in which a wrench that was scaled to nothing comes back */
#define NEAR    0.5  /* voxels: this near, it is put where it shall lie */
#define NEARER  2.0  /* voxels: … or this near, where something keeps it off */
#define LONG    0.3  /* s: for so long; from one to the other it takes EASE */
#define EASE    0.15 /* s */
#define SLOW    0.02 /* m/s: if its points are no faster */
#define LIFTED  0.12 /* s: a part that is kept off still is lifted off for so long, */
#define TRY     0.30 /* s: and with that pulled there for so long in all, */
#define TRIES   4    /* times */
#define CAUGHT  2.0  /* voxels: from here on, for PATIENT s, something is between the instances */
#define HEALED  1.0
#define PATIENT 0.5

static const flr_vec3 none = {0, 0, 0};

flr_world_tie_def flr_default_world_tie_def(void)
{
    return (flr_world_tie_def){.damping = 1, .T_world_rest = flr_pose_identity()};
}

/* ---- setting ---- */

static double voxel_or(const flr_world *w, double otherwise)
{
    return w->voxel > 0 ? w->voxel : otherwise;
}

static bool amount(double x) { return x >= 0 && isfinite(x); }

/* The handle of an instance: its centre of mass, with the axes of the part. */
static flr_pose at_centre(const flr_body *body, flr_pose T_world_part)
{
    return flr_pose_make(flr_pose_apply(T_world_part, body->inertia.centre), T_world_part.q);
}

static bool couple(const flr_world *w, const flr_world_tie_def *def, flr_coupling *coupling)
{
    const flr_body *body = &w->state->bodies[def->part];
    flr_coupling_def how = w->params.coupling;
    if (def->stiffness > 0) how.stiffness = def->stiffness, how.turn_stiffness = 0;
    how.damping = def->damping;
    if (how.stretch == 0) how.stretch = voxel_or(w, 1e-3) / 2;
    flr_handle handle = {.T_world_handle = at_centre(body, body->T_world_part)};
    if (flr_coupling_grab(&how, body, &handle, coupling, NULL) != FLR_OK) return false;
    coupling->T_part_handle = flr_pose_make(body->inertia.centre, flr_quat_identity());
    return true;
}

/* Of the stiffness, at this delay. */
static double share_at(const flr_tie *tie)
{
    return tie->def.mutual ? fmax(LEAST, 1 - tie->delay / LONGEST) : 1;
}

static void find_end(flr_world_state *state)
{
    state->tie_end = FLR_WORLD_TIES;
    while (state->tie_end > 0 && !state->ties[state->tie_end - 1].set) state->tie_end--;
}

/* A part has got or lost a tie. */
static void look_again(flr_world *w, uint32_t part)
{
    if (!flr_world_is_moving(w, part)) w->state->bodies[part].twist = flr_twist_make(none, none);
    flr_world_tell_pairs(w, part);
}

static void untie(flr_world *w, flr_tie *tie)
{
    if (!tie->set) return;
    tie->set = false;
    find_end(w->state);
    look_again(w, tie->def.part);
}

bool flr_world_set_tie(flr_world *w, uint32_t number, const flr_world_tie_def *def)
{
    if (number >= FLR_WORLD_TIES) return false;
    flr_tie *tie = &w->state->ties[number], made;
    if (!def) {
        untie(w, tie);
        return true;
    }
    if (def->part >= w->def.part_count || w->kinds[def->part] == FLR_PART_STATIC ||
        !amount(def->stiffness) || !amount(def->damping) ||
        (def->rest && !flr_pose_is_valid(def->T_world_rest)))
        return false;
    bool goes_on = tie->set && tie->def.part == def->part;
    memset(&made, 0, sizeof made); /* so that states of equal worlds are equal bytes */
    if (goes_on) made = *tie;
    if (!couple(w, def, &made.coupling)) return false;
    if (!goes_on) untie(w, tie);
    if (goes_on)
        made.coupling.slack = tie->coupling.slack, made.coupling.turn = tie->coupling.turn;
    else
        made.share = 1, made.shown.gain = 1,
        made.T_goal = made.handle.T_world_handle = flr_pose_identity();
    /* who follows takes what it needs; an account begins where energy can come back */
    if (!(goes_on && tie->def.mutual)) made.shown.account = STORE, made.heard = false;
    made.def = *def;
    made.set = true;
    made.shown.part = def->part;
    made.shown.settled = false;
    made.held_off = 0;
    if (def->rest) {
        made.handle.T_world_handle = at_centre(&w->state->bodies[def->part], def->T_world_rest);
        made.handle.twist = flr_twist_make(none, none);
        made.shown.begun = true;
        made.delay = 0;
    }
    *tie = made;
    find_end(w->state);
    look_again(w, def->part);
    return true;
}

bool flr_world_tie_follow(flr_world *w, uint32_t number, const flr_world_tie_input *in)
{
    if (number >= FLR_WORLD_TIES || !w->state->ties[number].set) return false;
    flr_tie *tie = &w->state->ties[number];
    if (tie->def.rest || !flr_pose_is_valid(in->T_world_part) ||
        !flr_vec3_is_finite(in->twist.linear) || !flr_vec3_is_finite(in->twist.angular) ||
        !amount(in->delay) || !isfinite(in->put))
        return false;
    tie->handle.T_world_handle = at_centre(&w->state->bodies[tie->def.part], in->T_world_part);
    tie->handle.twist = in->twist;
    tie->delay = in->delay;
    tie->fresh = true;
    /* one that has fallen is another's: what was told before does not count again */
    double more = tie->heard && in->put > tie->told ? in->put - tie->told : 0;
    tie->told = in->put;
    tie->heard = true;
    tie->shown.account = fmin(tie->shown.account + (1 - OWN) * more, STORE);
    if (tie->shown.begun) return true;
    tie->shown.begun = true;
    tie->share = share_at(tie);
    look_again(w, tie->def.part);
    return true;
}

const flr_world_tie *flr_world_get_tie(const flr_world *w, uint32_t number)
{
    return number < FLR_WORLD_TIES && w->state->ties[number].set ? &w->state->ties[number].shown
                                                                 : NULL;
}

bool flr_tie_is_valid(const flr_world *w, const flr_tie *tie)
{
    if (!tie->set) return true;
    return tie->def.part < w->def.part_count && w->kinds[tie->def.part] != FLR_PART_STATIC &&
           flr_pose_is_valid(tie->handle.T_world_handle) && flr_pose_is_valid(tie->T_goal) &&
           amount(tie->slowness) && amount(tie->share) && amount(tie->delay) &&
           amount(tie->held_off) && flr_vec3_is_finite(tie->lift) && isfinite(tie->shown.account);
}

/* ---- a step ---- */

bool flr_ties_pull(const flr_world *w, uint32_t part)
{
    for (uint32_t t = 0; t < w->state->tie_end; t++) {
        const flr_tie *tie = &w->state->ties[t];
        if (tie->set && tie->def.part == part && tie->shown.begun && !tie->shown.settled)
            return true;
    }
    return false;
}

bool flr_ties_keep(const flr_world *w, uint32_t part)
{
    for (uint32_t t = 0; t < w->state->tie_end; t++) {
        const flr_tie *tie = &w->state->ties[t];
        if (tie->set && tie->def.part == part && tie->shown.settled) return true;
    }
    return false;
}

void flr_ties_unsettle(flr_world *w, uint32_t part)
{
    for (uint32_t t = 0; t < w->state->tie_end; t++)
        if (w->state->ties[t].def.part == part) w->state->ties[t].shown.settled = false;
}

/* s since the part is tried to be brought to its rest another way; below 0: not yet. */
static double trying(const flr_tie *tie) { return tie->held_off - LONG - EASE; }

/* A part that hangs on an edge is turned as it shall lie, off what it hangs on, before it is pulled there again. */
static bool is_lifted(const flr_tie *tie)
{
    double since = trying(tie);
    return tie->def.rest && since > 0 && since < TRIES * TRY && fmod(since, TRY) < LIFTED;
}

/* Two who press parts against each other with all they have stand wherever the other's part is, as they see it: late. Each
 * goes where the other was, to and fro, with nothing to end it. So, where an instance meets a part that is held here, it goes after the
 * other one as slowly as it hears of it: of a swing over two ways and back, half is left each time. */
static void follow(flr_tie *tie, double dt)
{
    flr_pose to = tie->handle.T_world_handle, *goal = &tie->T_goal;
    if (is_lifted(tie)) to.p = flr_vec3_add(to.p, tie->lift);
    if (!(tie->slowness > 0)) {
        *goal = to;
        return;
    }
    double share = dt / (dt + tie->slowness);
    goal->p = flr_vec3_lerp(goal->p, to.p, share);
    goal->q = flr_pose_interpolate(*goal, to, share).q;
    tie->handle.twist = flr_twist_scale(tie->handle.twist, share);
}

/* Does it touch a part that a hand here holds? */
static bool meets(const flr_world *w, uint32_t part)
{
    uint32_t count;
    const flr_pair_result *results = flr_pairs_results(w->pairs, &count);
    for (uint32_t i = 0; i < count; i++) {
        flr_pair p = results[i].pair;
        if ((p.shell != part && p.voxmap != part) || results[i].contact.contacts == 0) continue;
        uint32_t other = p.shell == part ? p.voxmap : p.shell;
        if (other < w->def.part_count && flr_world_is_held(w, other)) return true;
    }
    return false;
}

void flr_ties_begin(flr_world *w)
{
    double dt = w->def.dt;
    for (uint32_t t = 0; t < w->state->tie_end; t++) {
        flr_tie *tie = &w->state->ties[t];
        if (!tie->set) continue;
        /* taken by somebody: it does not lie any more */
        if (tie->shown.settled && flr_world_is_moving(w, tie->def.part)) tie->shown.settled = false;
        if (!tie->fresh) tie->handle.twist = flr_twist_make(none, none);
        tie->fresh = false;
        tie->share += (share_at(tie) - tie->share) * fmin(1, dt / ADAPT);
        tie->shown.stiffness = tie->coupling.stiffness * tie->share;
        follow(tie, dt);
    }
}

/* The coupling as it acts in this step: `damping` against the world is part of its damper, which then goes less far with
 * the other instance. */
static flr_coupling acting(const flr_world *w, const flr_tie *tie, flr_handle *handle)
{
    flr_coupling c = tie->coupling;
    double gain = tie->shown.gain, share = tie->share * gain;
    double clamp = !tie->def.mutual                      ? STANDS
                   : flr_world_is_held(w, tie->def.part) ? YIELD * share
                                                         : share;
    c.stiffness *= share;
    c.turn_stiffness *= share;
    c.force_limit *= clamp;
    c.torque_limit *= clamp;
    if (tie->def.mutual) c.slack = fmin(c.slack, fmax(1, LOOSE / fmax(tie->delay, SHORT)));
    c.damping *= sqrt(tie->share) * gain;
    c.turn_damping *= sqrt(tie->share) * gain;
    *handle = (flr_handle){tie->T_goal, tie->handle.twist};
    if (!(tie->shown.damping > 0)) return c;
    double turning = tie->shown.damping * tie->coupling.turn_stiffness / tie->coupling.stiffness;
    double line = c.damping / (c.damping + tie->shown.damping),
           turn = c.turn_damping / (c.turn_damping + turning);
    handle->twist.linear = flr_vec3_scale(handle->twist.linear, line);
    handle->twist.angular = flr_vec3_scale(handle->twist.angular, turn);
    c.damping += tie->shown.damping;
    c.turn_damping += turning;
    return c;
}

static flr_vec3 clamped(flr_vec3 v, double limit, double *share)
{
    double length = flr_vec3_length(v);
    *share = length > limit ? limit / length : 1;
    return flr_vec3_scale(v, *share);
}

/* Joules that a spring and a damper towards `target` would give to a mass in a step in which nothing else acts on it: its
 * velocity at the end is (m v + dt (pull + b target)) / (m + dt b), and they give their force there on that way. */
static double gives(flr_vec3 pull, double b, flr_vec3 target, double mass, flr_vec3 v, double dt)
{
    flr_vec3 push = flr_vec3_add_scaled(pull, b, target);
    flr_vec3 y =
        flr_vec3_scale(flr_vec3_add_scaled(flr_vec3_scale(v, mass), dt, push), 1 / (mass + dt * b));
    return dt * flr_vec3_dot(flr_vec3_add_scaled(push, -b, y), y);
}

/* How much damping and how much of the wrench the account allows. */
static void control(const flr_world *w, flr_tie *tie, const flr_body *body)
{
    flr_world_tie *s = &tie->shown;
    double before = s->gain;
    s->damping = 0, s->gain = 1;
    if (!tie->def.mutual) return;
    double room = fmin(1, fmax(0, s->account / STORE)), share;
    s->damping = (1 - room) * FIRM * s->stiffness * fmax(tie->delay, SHORT);
    flr_handle handle;
    flr_stretch x;
    flr_coupling c = acting(w, tie, &handle);
    if (!flr_coupling_stretch(&c, body, &handle, &x)) return;
    flr_vec3 pull = clamped(flr_vec3_scale(x.shift, c.stiffness), c.force_limit * c.slack, &share);
    flr_vec3 turn =
        clamped(flr_vec3_scale(x.turn, c.turn_stiffness), c.torque_limit * c.slack, &share);
    double most = fmax(0, gives(pull, c.damping, handle.twist.linear, body->inertia.mass,
                                body->twist.linear, w->def.dt)) +
                  fmax(0, gives(turn, c.turn_damping, handle.twist.angular,
                                flr_inertia_principal(body->inertia, NULL).x, body->twist.angular,
                                w->def.dt));
    double left = fmax(0, s->account + STORE), lasts = most * HORIZON / w->def.dt;
    if (lasts > left) s->gain = left / lasts;
    s->gain = fmin(s->gain, before + w->def.dt / RECOVER);
}

void flr_ties_act(flr_world *w, uint32_t part)
{
    const flr_body *body = &w->state->bodies[part];
    for (uint32_t t = 0; t < w->state->tie_end; t++) {
        flr_tie *tie = &w->state->ties[t];
        if (!tie->set || tie->def.part != part || !tie->shown.begun) continue;
        control(w, tie, body);
        flr_handle handle;
        flr_coupling c = acting(w, tie, &handle);
        flr_step_pull(w->step, &c, &handle);
    }
}

/* Is the body so near to where it shall lie, and so slow, that it can be put there? Contact alone keeps a step of half a voxel
 * safe, and elsewhere the part lies just so. (A check of the way would stop it by the width of a hair: the other end of this way is
 * as near to things as a part may be.) Where a hand there pressed it against something, the tie does not press as hard, and edges of
 * voxels hold it off by one or two: that is as near as it gets. */
static bool is_there(const flr_world *w, uint32_t part)
{
    const flr_body *body = &w->state->bodies[part];
    const flr_tie *rest = NULL;
    for (uint32_t t = 0; t < w->state->tie_end; t++) {
        const flr_tie *tie = &w->state->ties[t];
        if (!tie->set || tie->def.part != part || !tie->shown.begun) continue;
        if (!tie->def.rest || rest) return false; /* pulled to several places */
        rest = tie;
    }
    if (!rest) return false;
    flr_quat back = flr_quat_conjugate(body->T_world_part.q);
    flr_vec3 turn = flr_quat_to_rotation_vector(flr_quat_mul(rest->def.T_world_rest.q, back));
    flr_motion way = {turn, flr_vec3_sub(rest->handle.T_world_handle.p, flr_body_centre(body))};
    double speed =
        flr_vec3_length(body->twist.linear) + body->reach * flr_vec3_length(body->twist.angular);
    double near = NEAR + (NEARER - NEAR) * fmin(1, fmax(0, (rest->held_off - LONG) / EASE));
    return flr_motion_travel(way, body->reach) <= near * voxel_or(w, 1e-3) && speed <= SLOW;
}

/* What a tie has given to its body and got from it in the step: the wrench at its end, as the solver took it, on the way that
 * the body made. */
static void count(const flr_world *w, flr_tie *tie, const flr_body *before, double fraction)
{
    const flr_step_result *r = &w->plans[tie->def.part].result;
    bool late = w->params.step.integrator != FLR_INTEGRATOR_EXPLICIT;
    flr_world_tie *s = &tie->shown;
    double dt = w->def.dt, ahead = late ? dt : 0, line, turn;
    flr_handle handle;
    flr_stretch x;
    flr_coupling c = acting(w, tie, &handle);
    if (!flr_coupling_stretch(&c, before, &handle, &x)) return;
    tie->coupling.turn = x.turn;
    flr_twist y = late ? r->twist : before->twist;
    double force = c.force_limit * c.slack, torque = c.torque_limit * c.slack, all;
    flr_vec3 pull = clamped(
        flr_vec3_scale(flr_vec3_add_scaled(x.shift, -ahead, y.linear), c.stiffness), force, &all);
    flr_vec3 twist =
        clamped(flr_vec3_scale(flr_vec3_add_scaled(x.turn, -ahead, y.angular), c.turn_stiffness),
                torque, &all);
    flr_vec3 drag = clamped(flr_vec3_scale(flr_vec3_sub(handle.twist.linear, y.linear), c.damping),
                            force, &line);
    flr_vec3 swirl =
        clamped(flr_vec3_scale(flr_vec3_sub(handle.twist.angular, y.angular), c.turn_damping),
                torque, &turn);
    s->wrench = flr_wrench_make(flr_vec3_add(twist, swirl), flr_vec3_add(pull, drag));

    flr_vec3 shift = flr_vec3_scale(r->motion.shift, fraction),
             angle = flr_vec3_scale(r->motion.turn, fraction);
    double turning = s->damping * tie->coupling.turn_stiffness / tie->coupling.stiffness;
    double taken = line * s->damping * flr_vec3_dot(y.linear, shift) +
                   turn * turning * flr_vec3_dot(y.angular, angle);
    double given =
        flr_vec3_dot(s->wrench.force, shift) + flr_vec3_dot(s->wrench.torque, angle) + taken;
    if (!isfinite(given) || !isfinite(taken)) return;
    s->taken += taken;
    s->got += fmax(0, given);
    s->put += fmax(0, -given);
    if (!tie->def.mutual) return;
    s->account -= given > 0 ? given : OWN * given;
    s->account += s->account > 0 ? BACK * taken : taken;
    if (s->account < 0) s->account = fmin(0, s->account + TRICKLE * dt);
    s->account = fmin(s->account, STORE);
}

/* Counts for how long something is in the way of a part to its rest, and how to get off that. */
static void hold_off(const flr_world *w, flr_tie *tie, bool touching)
{
    double before = trying(tie), dt = w->def.dt;
    // a part that is lifted touches nothing, and is still kept off
    tie->held_off = fmax(0, tie->held_off + (touching || before > 0 ? dt : -dt));
    double since = trying(tie);
    if (!(since > 0) || (before > 0 && fmod(before, TRY) < fmod(since, TRY))) return;
    flr_vec3 push = w->plans[tie->def.part].result.contact.force;
    double force = flr_vec3_length(push), reach = w->state->bodies[tie->def.part].reach;
    tie->lift = force > 0 ? flr_vec3_scale(push, reach / force) : none;
}

/* Where it is now against the other instance, and whether something is between them. */
static void look(const flr_world *w, flr_tie *tie)
{
    const flr_body *body = &w->state->bodies[tie->def.part];
    flr_world_tie *s = &tie->shown;
    double dt = w->def.dt, voxel = voxel_or(w, 1e-3);
    bool touching = w->plans[tie->def.part].result.touching > 0;
    flr_coupling_feel(&tie->coupling, body, &tie->handle, touching, dt);
    /* it comes at once and goes smoothly */
    bool slow = !tie->def.mutual && !tie->def.rest && touching && meets(w, tie->def.part);
    tie->slowness = slow ? tie->delay : tie->slowness * (1 - fmin(1, dt / ADAPT));
    if (tie->slowness < dt) tie->slowness = 0;
    if (tie->def.rest) hold_off(w, tie, touching);
    s->shift = flr_vec3_sub(tie->handle.T_world_handle.p, flr_body_centre(body));
    s->turn = tie->coupling.turn;
    s->stretch = flr_motion_travel((flr_motion){s->turn, s->shift}, body->reach);
    if (s->stretch >= CAUGHT * voxel && touching)
        tie->apart += dt;
    else if (s->stretch < HEALED * voxel)
        tie->apart = 0;
    else if (!touching && tie->apart < PATIENT) /* a contact that hops is one */
        tie->apart = fmax(0, tie->apart - dt);
    s->diverged = tie->apart >= PATIENT;
    if (s->diverged) tie->apart = PATIENT;
}

/* It has come to where it shall lie: the pose is the very one that was agreed on. */
static void settle(flr_world *w, flr_tie *tie)
{
    flr_body *body = &w->state->bodies[tie->def.part];
    body->T_world_part = tie->def.T_world_rest;
    body->twist = flr_twist_make(none, none);
    tie->shown.shift = tie->shown.turn = none;
    tie->shown.stretch = 0;
    tie->shown.wrench = flr_wrench_make(none, none);
    tie->shown.settled = true;
    flr_world_tell_pairs(w, tie->def.part);
}

void flr_ties_end(flr_world *w)
{
    for (uint32_t t = 0; t < w->state->tie_end; t++) {
        flr_tie *tie = &w->state->ties[t];
        if (!tie->set || !tie->shown.begun || tie->shown.settled) continue;
        uint32_t part = tie->def.part;
        const flr_world_plan *p = &w->plans[part];
        /* as it was before it moved */
        flr_body before = w->state->bodies[part];
        before.T_world_part = w->poses[part];
        before.twist = w->twists[part];
        if (p->moves) count(w, tie, &before, p->fraction);
        look(w, tie);
        if (tie->def.rest && !flr_world_is_held(w, part) && is_there(w, part)) settle(w, tie);
    }
}

double *flr_ties_number(const flr_world *w, double *to)
{
    for (uint32_t t = 0; t < w->state->tie_end; t++) {
        const flr_world_tie *s = &w->state->ties[t].shown;
        if (!w->state->ties[t].set) continue;
        const double numbers[12] = {t,
                                    s->wrench.force.x,
                                    s->wrench.force.y,
                                    s->wrench.force.z,
                                    s->wrench.torque.x,
                                    s->wrench.torque.y,
                                    s->wrench.torque.z,
                                    s->put,
                                    s->got,
                                    s->account,
                                    s->settled,
                                    s->diverged};
        memcpy(to, numbers, sizeof numbers);
        to += 12;
    }
    return to;
}
