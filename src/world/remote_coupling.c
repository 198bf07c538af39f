/* remote couplings: what pulls a part to its instance in another world, and keeps energy from coming out of the delay between them.
 *
 * The law, with x for the pose of the centre of mass here and x' for that of the other instance as it is known here:
 *
 *     W = clamp(k (x' - x)) + clamp(b (v' - v)),   b critical for k
 *
 * in shift and turn, taken at the end of the step as all couplings are. Who only follows does so with k0, and stands twice what a
 * hand can push. Of a mutual remote coupling k = k0 max(0.05, 1 - delay / 1 s), and both ends keep an account. With
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

#include "world/world_internal.h"

#define MIN_STIFFNESS 0.05  /* of the stiffness, whatever the delay */
#define LONGEST       1.0   /* s: of delay, from which on that is so */
#define ADAPT         0.25  /* s: over which the stiffness goes after the delay */
#define STORE         0.001 /* joules: see above */
#define OWN           0.25  /* a: what an end may give back of what it was given itself */
#define TRICKLE                                                                                    \
    0.005 /* W: an account that is overdrawn gets back to 0, so that instances at rest meet in the end */
#define REMOTE_COUPLING_SHORT 0.01 /* s: the least delay that damping is made for */
#define REMOTE_COUPLING_FIRM  1.5  /* what damping is at most, in terms of stiffness and delay */
#define BACK                  0.5 /* of what damping took may be given again, while the account is above 0 */
#define STANDS                                                                                     \
    2.0 /* of a hand's clamps: an instance whose holder is elsewhere is not pushed aside by a hand here */
#define YIELD                                                                                      \
    0.5 /* of the clamps while a hand here holds the part, too: it can go around what is caught between */
#define LOOSE                                                                                      \
    1.0 /* s: over the delay: by how much a mutual remote coupling's clamps give way at most where nothing is touched */
#define HORIZON                 0.02 /* s: for which what is left in an account must last */
#define RECOVER                 0.05 /* s: in which a wrench that was scaled to nothing comes back */
#define NEAR                    0.5  /* voxels: this near, it is put where it shall lie */
#define NEARER                  2.0  /* voxels: … or this near, where something keeps it off */
#define LONG                    0.3  /* s: for so long; from one to the other it takes EASE */
#define EASE                    0.15 /* s */
#define REMOTE_COUPLING_SLOW    0.02 /* m/s: if its points are no faster */
#define LIFTED                  0.12 /* s: a part that is kept off still is lifted off for so long, */
#define TRY                     0.30 /* s: and with that pulled there for so long in all, */
#define REMOTE_COUPLING_TRIES   4    /* times */
#define CAUGHT                  2.0 /* voxels: from here on, for PATIENT s, something is between the instances */
#define HEALED                  1.0
#define REMOTE_COUPLING_PATIENT 0.5

static const flr_vec3 none = {0, 0, 0};

flr_remote_coupling_def flr_default_remote_coupling_def(void)
{
    return (flr_remote_coupling_def){.damping = 1, .T_world_rest = flr_pose_identity()};
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

static bool couple(const flr_world *w, const flr_remote_coupling_def *def, flr_coupling *coupling)
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
static double share_at(const flr_coupled *coupling)
{
    return coupling->def.mutual ? fmax(MIN_STIFFNESS, 1 - coupling->delay / LONGEST) : 1;
}

static void find_end(flr_world_state *state)
{
    state->coupling_end = FLR_WORLD_REMOTE_COUPLINGS;
    while (state->coupling_end > 0 && !state->couplings[state->coupling_end - 1].set)
        state->coupling_end--;
}

/* A part has got or lost a remote coupling. */
static void look_again(flr_world *w, uint32_t part)
{
    if (!flr_world_is_moving(w, part)) w->state->bodies[part].twist = flr_twist_make(none, none);
    flr_world_tell_pairs(w, part);
}

static void uncouple(flr_world *w, flr_coupled *coupling)
{
    if (!coupling->set) return;
    coupling->set = false;
    find_end(w->state);
    look_again(w, coupling->def.part);
}

bool flr_world_set_remote_coupling(flr_world *w, uint32_t number,
                                   const flr_remote_coupling_def *def)
{
    if (number >= FLR_WORLD_REMOTE_COUPLINGS) return false;
    flr_coupled *coupling = &w->state->couplings[number], made;
    if (!def) {
        uncouple(w, coupling);
        return true;
    }
    if (def->part >= w->def.part_count || w->kinds[def->part] == FLR_PART_STATIC ||
        !amount(def->stiffness) || !amount(def->damping) ||
        (def->rest && !flr_pose_is_valid(def->T_world_rest)))
        return false;
    bool goes_on = coupling->set && coupling->def.part == def->part;
    memset(&made, 0, sizeof made); /* so that states of equal worlds are equal bytes */
    if (goes_on) made = *coupling;
    if (!couple(w, def, &made.coupling)) return false;
    if (!goes_on) uncouple(w, coupling);
    if (goes_on)
        made.coupling.slack = coupling->coupling.slack,
        made.coupling.turn = coupling->coupling.turn;
    else
        made.share = 1, made.shown.gain = 1,
        made.T_goal = made.handle.T_world_handle = flr_pose_identity();
    /* who follows takes what it needs; an account begins where energy can come back */
    if (!(goes_on && coupling->def.mutual)) made.shown.account = STORE, made.heard = false;
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
    *coupling = made;
    find_end(w->state);
    look_again(w, def->part);
    return true;
}

bool flr_remote_coupling_follow(flr_world *w, uint32_t number, const flr_remote_coupling_input *in)
{
    if (number >= FLR_WORLD_REMOTE_COUPLINGS || !w->state->couplings[number].set) return false;
    flr_coupled *coupling = &w->state->couplings[number];
    if (coupling->def.rest || !flr_pose_is_valid(in->T_world_part) ||
        !flr_vec3_is_finite(in->twist.linear) || !flr_vec3_is_finite(in->twist.angular) ||
        !amount(in->delay) || !isfinite(in->put))
        return false;
    coupling->handle.T_world_handle =
        at_centre(&w->state->bodies[coupling->def.part], in->T_world_part);
    coupling->handle.twist = in->twist;
    coupling->delay = in->delay;
    coupling->fresh = true;
    /* one that has fallen is another's: what was reported before does not count again */
    double more = coupling->heard && in->put > coupling->told ? in->put - coupling->told : 0;
    coupling->told = in->put;
    coupling->heard = true;
    coupling->shown.account = fmin(coupling->shown.account + (1 - OWN) * more, STORE);
    if (coupling->shown.begun) return true;
    coupling->shown.begun = true;
    coupling->share = share_at(coupling);
    look_again(w, coupling->def.part);
    return true;
}

const flr_remote_coupling *flr_world_get_remote_coupling(const flr_world *w, uint32_t number)
{
    return number < FLR_WORLD_REMOTE_COUPLINGS && w->state->couplings[number].set
               ? &w->state->couplings[number].shown
               : NULL;
}

bool flr_coupled_is_valid(const flr_world *w, const flr_coupled *coupling)
{
    if (!coupling->set) return true;
    return coupling->def.part < w->def.part_count &&
           w->kinds[coupling->def.part] != FLR_PART_STATIC &&
           flr_pose_is_valid(coupling->handle.T_world_handle) &&
           flr_pose_is_valid(coupling->T_goal) && amount(coupling->slowness) &&
           amount(coupling->share) && amount(coupling->delay) && amount(coupling->held_off) &&
           flr_vec3_is_finite(coupling->lift) && isfinite(coupling->shown.account);
}

/* ---- a step ---- */

bool flr_couplings_pull_any(const flr_world *w, uint32_t part)
{
    for (uint32_t t = 0; t < w->state->coupling_end; t++) {
        const flr_coupled *coupling = &w->state->couplings[t];
        if (coupling->set && coupling->def.part == part && coupling->shown.begun &&
            !coupling->shown.settled)
            return true;
    }
    return false;
}

bool flr_couplings_keep(const flr_world *w, uint32_t part)
{
    for (uint32_t t = 0; t < w->state->coupling_end; t++) {
        const flr_coupled *coupling = &w->state->couplings[t];
        if (coupling->set && coupling->def.part == part && coupling->shown.settled) return true;
    }
    return false;
}

void flr_couplings_unsettle(flr_world *w, uint32_t part)
{
    for (uint32_t t = 0; t < w->state->coupling_end; t++)
        if (w->state->couplings[t].def.part == part) w->state->couplings[t].shown.settled = false;
}

/* s since the part is tried to be brought to its rest another way; below 0: not yet. */
static double trying(const flr_coupled *coupling) { return coupling->held_off - LONG - EASE; }

/* A part that hangs on an edge is turned as it shall lie, off what it hangs on, before it is pulled there again. */
static bool is_lifted(const flr_coupled *coupling)
{
    double since = trying(coupling);
    return coupling->def.rest && since > 0 && since < REMOTE_COUPLING_TRIES * TRY &&
           fmod(since, TRY) < LIFTED;
}

/* Two who press parts against each other with all they have stand wherever the other's part is, as they see it: late. Each
 * goes where the other was, to and fro, with nothing to end it. So, where an instance meets a part that is held here, it goes after the
 * other one as slowly as it hears of it: of a swing over two ways and back, half is left each time. */
static void follow(flr_coupled *coupling, double dt)
{
    flr_pose to = coupling->handle.T_world_handle, *goal = &coupling->T_goal;
    if (is_lifted(coupling)) to.p = flr_vec3_add(to.p, coupling->lift);
    if (!(coupling->slowness > 0)) {
        *goal = to;
        return;
    }
    double share = dt / (dt + coupling->slowness);
    goal->p = flr_vec3_lerp(goal->p, to.p, share);
    goal->q = flr_pose_interpolate(*goal, to, share).q;
    coupling->handle.twist = flr_twist_scale(coupling->handle.twist, share);
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

void flr_couplings_begin(flr_world *w)
{
    double dt = w->def.dt;
    for (uint32_t t = 0; t < w->state->coupling_end; t++) {
        flr_coupled *coupling = &w->state->couplings[t];
        if (!coupling->set) continue;
        /* taken by somebody: it does not lie any more */
        if (coupling->shown.settled && flr_world_is_moving(w, coupling->def.part))
            coupling->shown.settled = false;
        if (!coupling->fresh) coupling->handle.twist = flr_twist_make(none, none);
        coupling->fresh = false;
        coupling->share += (share_at(coupling) - coupling->share) * fmin(1, dt / ADAPT);
        coupling->shown.stiffness = coupling->coupling.stiffness * coupling->share;
        follow(coupling, dt);
    }
}

/* The coupling as it acts in this step: `damping` against the world is part of its damper, which then goes less far with
 * the other instance. */
static flr_coupling acting(const flr_world *w, const flr_coupled *coupling, flr_handle *handle)
{
    flr_coupling c = coupling->coupling;
    double gain = coupling->shown.gain, share = coupling->share * gain;
    double clamp = !coupling->def.mutual                      ? STANDS
                   : flr_world_is_held(w, coupling->def.part) ? YIELD * share
                                                              : share;
    c.stiffness *= share;
    c.turn_stiffness *= share;
    c.force_limit *= clamp;
    c.torque_limit *= clamp;
    if (coupling->def.mutual)
        c.slack = fmin(c.slack, fmax(1, LOOSE / fmax(coupling->delay, REMOTE_COUPLING_SHORT)));
    c.damping *= sqrt(coupling->share) * gain;
    c.turn_damping *= sqrt(coupling->share) * gain;
    *handle = (flr_handle){coupling->T_goal, coupling->handle.twist};
    if (!(coupling->shown.damping > 0)) return c;
    double turning =
        coupling->shown.damping * coupling->coupling.turn_stiffness / coupling->coupling.stiffness;
    double line = c.damping / (c.damping + coupling->shown.damping),
           turn = c.turn_damping / (c.turn_damping + turning);
    handle->twist.linear = flr_vec3_scale(handle->twist.linear, line);
    handle->twist.angular = flr_vec3_scale(handle->twist.angular, turn);
    c.damping += coupling->shown.damping;
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
static void control(const flr_world *w, flr_coupled *coupling, const flr_body *body)
{
    flr_remote_coupling *s = &coupling->shown;
    double before = s->gain;
    s->damping = 0, s->gain = 1;
    if (!coupling->def.mutual) return;
    double room = fmin(1, fmax(0, s->account / STORE)), share;
    s->damping = (1 - room) * REMOTE_COUPLING_FIRM * s->stiffness *
                 fmax(coupling->delay, REMOTE_COUPLING_SHORT);
    flr_handle handle;
    flr_stretch x;
    flr_coupling c = acting(w, coupling, &handle);
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

void flr_couplings_act(flr_world *w, uint32_t part)
{
    const flr_body *body = &w->state->bodies[part];
    for (uint32_t t = 0; t < w->state->coupling_end; t++) {
        flr_coupled *coupling = &w->state->couplings[t];
        if (!coupling->set || coupling->def.part != part || !coupling->shown.begun) continue;
        control(w, coupling, body);
        flr_handle handle;
        flr_coupling c = acting(w, coupling, &handle);
        flr_step_pull(w->step, &c, &handle);
    }
}

/* Is the body so near to where it shall lie, and so slow, that it can be put there? Contact alone keeps a step of half a voxel
 * safe, and elsewhere the part lies just so. (A check of the way would stop it by the width of a hair: the other end of this way is
 * as near to things as a part may be.) Where a hand there pressed it against something, the remote coupling does not press as hard, and edges of
 * voxels hold it off by one or two: that is as near as it gets. */
static bool is_there(const flr_world *w, uint32_t part)
{
    const flr_body *body = &w->state->bodies[part];
    const flr_coupled *rest = NULL;
    for (uint32_t t = 0; t < w->state->coupling_end; t++) {
        const flr_coupled *coupling = &w->state->couplings[t];
        if (!coupling->set || coupling->def.part != part || !coupling->shown.begun) continue;
        if (!coupling->def.rest || rest) return false; /* pulled to several places */
        rest = coupling;
    }
    if (!rest) return false;
    flr_quat back = flr_quat_conjugate(body->T_world_part.q);
    flr_vec3 turn = flr_quat_to_rotation_vector(flr_quat_mul(rest->def.T_world_rest.q, back));
    flr_motion way = {turn, flr_vec3_sub(rest->handle.T_world_handle.p, flr_body_centre(body))};
    double speed =
        flr_vec3_length(body->twist.linear) + body->reach * flr_vec3_length(body->twist.angular);
    double near = NEAR + (NEARER - NEAR) * fmin(1, fmax(0, (rest->held_off - LONG) / EASE));
    return flr_motion_travel(way, body->reach) <= near * voxel_or(w, 1e-3) &&
           speed <= REMOTE_COUPLING_SLOW;
}

/* What a remote coupling has given to its body and got from it in the step: the wrench at its end, as the solver took it, on the way that
 * the body made. */
static void count(const flr_world *w, flr_coupled *coupling, const flr_body *before,
                  double fraction)
{
    const flr_step_result *r = &w->plans[coupling->def.part].result;
    bool late = w->params.step.integrator != FLR_INTEGRATOR_EXPLICIT;
    flr_remote_coupling *s = &coupling->shown;
    double dt = w->def.dt, ahead = late ? dt : 0, line, turn;
    flr_handle handle;
    flr_stretch x;
    flr_coupling c = acting(w, coupling, &handle);
    if (!flr_coupling_stretch(&c, before, &handle, &x)) return;
    coupling->coupling.turn = x.turn;
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
    double turning = s->damping * coupling->coupling.turn_stiffness / coupling->coupling.stiffness;
    double taken = line * s->damping * flr_vec3_dot(y.linear, shift) +
                   turn * turning * flr_vec3_dot(y.angular, angle);
    double given =
        flr_vec3_dot(s->wrench.force, shift) + flr_vec3_dot(s->wrench.torque, angle) + taken;
    if (!isfinite(given) || !isfinite(taken)) return;
    s->taken += taken;
    s->got += fmax(0, given);
    s->put += fmax(0, -given);
    if (!coupling->def.mutual) return;
    s->account -= given > 0 ? given : OWN * given;
    s->account += s->account > 0 ? BACK * taken : taken;
    if (s->account < 0) s->account = fmin(0, s->account + TRICKLE * dt);
    s->account = fmin(s->account, STORE);
}

/* Counts for how long something is in the way of a part to its rest, and how to get off that. */
static void hold_off(const flr_world *w, flr_coupled *coupling, bool touching)
{
    double before = trying(coupling), dt = w->def.dt;
    // a part that is lifted touches nothing, and is still kept off
    coupling->held_off = fmax(0, coupling->held_off + (touching || before > 0 ? dt : -dt));
    double since = trying(coupling);
    if (!(since > 0) || (before > 0 && fmod(before, TRY) < fmod(since, TRY))) return;
    flr_vec3 push = w->plans[coupling->def.part].result.contact.force;
    double force = flr_vec3_length(push), reach = w->state->bodies[coupling->def.part].reach;
    coupling->lift = force > 0 ? flr_vec3_scale(push, reach / force) : none;
}

/* Where it is now against the other instance, and whether something is between them. */
static void look(const flr_world *w, flr_coupled *coupling)
{
    const flr_body *body = &w->state->bodies[coupling->def.part];
    flr_remote_coupling *s = &coupling->shown;
    double dt = w->def.dt, voxel = voxel_or(w, 1e-3);
    bool touching = w->plans[coupling->def.part].result.touching > 0;
    flr_coupling_feel(&coupling->coupling, body, &coupling->handle, touching, dt);
    /* it comes at once and goes smoothly */
    bool slow =
        !coupling->def.mutual && !coupling->def.rest && touching && meets(w, coupling->def.part);
    coupling->slowness = slow ? coupling->delay : coupling->slowness * (1 - fmin(1, dt / ADAPT));
    if (coupling->slowness < dt) coupling->slowness = 0;
    if (coupling->def.rest) hold_off(w, coupling, touching);
    s->shift = flr_vec3_sub(coupling->handle.T_world_handle.p, flr_body_centre(body));
    s->turn = coupling->coupling.turn;
    s->stretch = flr_motion_travel((flr_motion){s->turn, s->shift}, body->reach);
    if (s->stretch >= CAUGHT * voxel && touching)
        coupling->apart += dt;
    else if (s->stretch < HEALED * voxel)
        coupling->apart = 0;
    else if (!touching &&
             coupling->apart < REMOTE_COUPLING_PATIENT) /* a contact that hops is one */
        coupling->apart = fmax(0, coupling->apart - dt);
    s->diverged = coupling->apart >= REMOTE_COUPLING_PATIENT;
    if (s->diverged) coupling->apart = REMOTE_COUPLING_PATIENT;
}

/* It has come to where it shall lie: the pose is the very one that was agreed on. */
static void settle(flr_world *w, flr_coupled *coupling)
{
    flr_body *body = &w->state->bodies[coupling->def.part];
    body->T_world_part = coupling->def.T_world_rest;
    body->twist = flr_twist_make(none, none);
    coupling->shown.shift = coupling->shown.turn = none;
    coupling->shown.stretch = 0;
    coupling->shown.wrench = flr_wrench_make(none, none);
    coupling->shown.settled = true;
    flr_world_tell_pairs(w, coupling->def.part);
    /* the others of a rigid group go along */
    uint32_t count, part = coupling->def.part;
    const uint32_t *members = flr_links_members(w, &part, &count);
    const flr_pose T_leader =
        flr_pose_mul(body->T_world_part, flr_pose_inverse(flr_links_in_leader(w, part)));
    for (uint32_t i = 0; i < count; i++) {
        if (members[i] == part || !flr_links_same_body(w, members[i], part)) continue;
        flr_body *other = &w->state->bodies[members[i]];
        other->T_world_part = flr_pose_mul(T_leader, flr_links_in_leader(w, members[i]));
        other->T_world_part.q = flr_quat_normalize(other->T_world_part.q);
        other->twist = flr_twist_make(none, none);
        flr_world_tell_pairs(w, members[i]);
    }
}

void flr_couplings_end(flr_world *w)
{
    for (uint32_t t = 0; t < w->state->coupling_end; t++) {
        flr_coupled *coupling = &w->state->couplings[t];
        if (!coupling->set || !coupling->shown.begun || coupling->shown.settled) continue;
        uint32_t part = coupling->def.part;
        const flr_world_plan *p = &w->plans[part];
        /* as it was before it moved */
        flr_body before = w->state->bodies[part];
        before.T_world_part = w->poses[part];
        before.twist = w->twists[part];
        if (p->moves) count(w, coupling, &before, p->fraction);
        look(w, coupling);
        if (coupling->def.rest && !flr_world_is_held(w, part) && is_there(w, part))
            settle(w, coupling);
    }
}

double *flr_couplings_number(const flr_world *w, double *to)
{
    for (uint32_t t = 0; t < w->state->coupling_end; t++) {
        const flr_remote_coupling *s = &w->state->couplings[t].shown;
        if (!w->state->couplings[t].set) continue;
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
