/* one step of a body: what acts on it, and where it goes */
#include "feeler/dynamics.h"

#include <stdlib.h>
#include <string.h>

#include "base/prefault.h"
#include "dynamics/bound.h"
#include "dynamics/joined.h"
#include "dynamics/solve.h"

static const double REST = 1e-4; /* quasi-static: of the inertia is left, so that all is defined */
static const double LOCKED =
    1e9; /* inertia in a direction that is locked, as a multiple of its own */
static const double HARD = 1e4; /* a contact at its limit, by what would stop the body in a step */
static const double CREEP = 1e-4; /* m/s: slower than this, friction is viscous */

enum { ROUNDS = 4 }; /* of friction, where contacts are given one by one */

/* of lists longer than FEW, those contacts become one that are in the same of CELLS^3 cells about the
 * centre of mass and whose normals are in the same of 24 parts of a sphere */
enum { STEP_FEW = 128, CELLS = 6, STEP_PARTS = 24, STEP_BINS = STEP_PARTS * CELLS * CELLS * CELLS };

/* several contacts in the making of one */
typedef struct cluster {
    uint32_t count;
    flr_vec3 push;  /* metres: sum of depth x normal */
    flr_vec3 point; /* metres^2: sum of depth x point */
    double depth;   /* metres: sum */
    double deepest; /* metres */
} cluster;

/* a hand */
typedef struct hold {
    flr_coupling coupling;
    flr_stretch stretch;
    flr_twist handle;
} hold;

struct flr_step {
    flr_body body;
    flr_step_params params;
    flr_vec3 centre;  /* of mass, world's frame */
    flr_mat6 inertia; /* about it */
    /* gathered */
    unsigned faults, locks;
    flr_wrench push;     /* all that does not depend on where the step goes */
    flr_wrench unlisted; /* of contacts that no touch stands for */
    flr_vec6 braking;    /* sum of v (-n . v/|v|) over near points, m/s, with its moment */
    double approach;     /* its product with the relative twist */
    double near, safe;   /* points in it; m/s: what their contacts will bear */
    double deepest, stiffness, stiffest;
    uint32_t touching, pulls;
    bool pressed, solved; /* contacts one by one; the problem before the last ones was solved */
    uint32_t known;       /* touches of that problem */
    flr_vec6 last;        /* its solution */
    hold holds[FLR_STEP_PULLS];
    flr_spring springs[4 * FLR_STEP_PULLS];
    uint32_t bins[STEP_BINS]; /* number + 1 of the cluster of each; 0: none */
    uint32_t capacity;
    cluster *clusters;   /* [capacity] */
    flr_problem problem; /* .touches has room for `capacity` */
};

flr_step_params flr_default_step_params(void)
{
    flr_step_params params = {.integrator = FLR_INTEGRATOR_IMPLICIT,
                              .dt = 0.001,
                              .damping = 0.3,
                              .braking = 1,
                              .bounded = true,
                              .travel = INFINITY};
    return params;
}

flr_result flr_step_create(uint32_t capacity, flr_step **step, flr_error *error)
{
    if (capacity > 1u << 20)
        return flr_fail(error, FLR_TOO_LARGE, "%u contacts in a step: at most 1048576", capacity);
    flr_step *made = calloc(1, sizeof *made);
    flr_touch *touches = flr_prefaulted_calloc(capacity ? capacity : 1, sizeof *touches);
    cluster *clusters = flr_prefaulted_calloc(capacity ? capacity : 1, sizeof *clusters);
    if (!made || !touches || !clusters) {
        free(made);
        free(touches);
        free(clusters);
        return flr_fail(error, FLR_NO_MEMORY, "no memory for a step with %u contacts", capacity);
    }
    made->capacity = capacity;
    made->clusters = clusters;
    made->problem.touches = touches;
    made->problem.springs = made->springs;
    made->faults = FLR_STEP_FAULT_BODY; /* until there is one */
    *step = made;
    return FLR_OK;
}

void flr_step_destroy(flr_step *step)
{
    if (!step) return;
    free(step->problem.touches);
    free(step->clusters);
    free(step);
}

/* ---- what acts ---- */

/* Finite, and so small that products of several such numbers are finite too. */
static bool sane(double x) { return fabs(x) < 1e30; }
static bool sane3(flr_vec3 v) { return sane(v.x) && sane(v.y) && sane(v.z); }

static bool params_are_valid(const flr_step_params *p)
{
    return p->dt > 1e-9 && p->dt < 1e3 && sane3(p->gravity) && p->damping >= 0 &&
           p->damping <= 1e6 && p->braking >= 0 && p->braking <= 1 && p->travel >= 0 &&
           (unsigned)p->integrator < FLR_INTEGRATOR_COUNT;
}

static bool body_is_usable(const flr_body *body)
{
    return flr_body_is_valid(body) && sane3(body->T_world_part.p) && sane3(body->twist.angular) &&
           sane3(body->twist.linear) && body->inertia.mass > 1e-12 && sane(body->inertia.mass) &&
           sane3(body->inertia.centre) && sane(body->reach);
}

void flr_step_begin(flr_step *step, const flr_body *body, const flr_step_params *params)
{
    step->body = *body;
    step->params = *params;
    step->faults = step->locks = 0;
    step->push = step->unlisted = (flr_wrench){0};
    step->braking = (flr_vec6){0};
    step->approach = step->near = step->safe = 0;
    step->deepest = step->stiffness = step->stiffest = 0;
    step->touching = step->pulls = 0;
    step->pressed = step->solved = false;
    step->problem = (flr_problem){.touches = step->problem.touches, .springs = step->springs};
    if (!params_are_valid(params)) step->faults |= FLR_STEP_FAULT_PARAMS;
    if (!body_is_usable(body)) {
        step->faults |= FLR_STEP_FAULT_BODY;
        return;
    }
    step->centre = flr_body_centre(body);
    step->inertia = flr_mat6_inertia(flr_body_tensor(body), body->inertia.mass);
    step->push.force = flr_vec3_scale(params->gravity, body->inertia.mass);
}

/* nothing can be gathered for a step that will not be made */
static bool stopped(const flr_step *step)
{
    return step->faults & (FLR_STEP_FAULT_BODY | FLR_STEP_FAULT_PARAMS);
}

/* A contact that is deeper than it may be comes back by a tenth of the excess a step, and slowly
 * enough not to be thrown out. */
static double limit_of(double depth, double limit)
{
    if (!(depth > limit)) return limit;
    return depth - fmin(0.1 * (depth - limit), 0.05 * limit);
}

/* Two bodies that are stepped one beside the other get the same push from a contact between them: each goes its share of the
 * way to the limit. */
static double its_limit(double depth, double limit, double other_share)
{
    return other_share > 0 ? depth + (1 - other_share) * (limit - depth) : limit;
}

/* Force and point of application are those of all of them; the deepest one keeps to the limit. */
static flr_wrench add_cluster(flr_step *step, const flr_touches *touches, const cluster *c,
                              double stiffness)
{
    flr_problem *problem = &step->problem;
    flr_touch *t = &problem->touches[problem->touch_count++];
    flr_vec3 point = flr_vec3_scale(c->point, 1 / c->depth);
    double mean = flr_vec3_length(c->push) / c->count;
    *t = (flr_touch){
        .arm = flr_vec3_sub(point, step->centre),
        .normal = flr_vec3_scale(flr_vec3_normalize(c->push), touches->reversed ? -1 : 1),
        .other = flr_twist_velocity(touches->other, flr_vec3_sub(point, touches->centre)),
        .depth = mean,
        .limit = its_limit(c->deepest, limit_of(c->deepest, touches->limit), touches->other_share) -
                 (c->deepest - mean),
        .share = 1 - touches->other_share,
        .stiffness = stiffness * c->count,
        .friction = touches->friction};
    step->stiffness += t->stiffness;
    step->stiffest = fmax(step->stiffest, t->stiffness);
    step->deepest = fmax(step->deepest, c->deepest);
    problem->friction = problem->friction || touches->friction > 0;
    return flr_wrench_from_force(t->arm, flr_vec3_scale(t->normal, t->stiffness * t->depth));
}

/* 0 … CELLS - 1 of a coordinate from -reach to reach. */
static uint32_t cell_of(double x, double reach)
{
    double cell = floor((x / reach + 1) * (CELLS / 2.0));
    return cell >= CELLS - 1 ? CELLS - 1 : cell > 0 ? (uint32_t)cell : 0;
}

/* Of a direction: which face of a cube it leaves through, and which quarter of that. */
static uint32_t part_of(flr_vec3 n)
{
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    if (x >= y && x >= z) return (n.x > 0) * 4u + (n.y > 0) * 2u + (n.z > 0);
    if (y >= z) return 8 + (n.y > 0) * 4u + (n.x > 0) * 2u + (n.z > 0);
    return 16 + (n.z > 0) * 4u + (n.x > 0) * 2u + (n.y > 0);
}

/* Where a contact of a long list belongs. */
static cluster *bin_of(flr_step *step, flr_vec3 point, flr_vec3 normal, uint32_t *used)
{
    flr_vec3 p = flr_vec3_sub(point, step->centre);
    double reach = step->body.reach;
    uint32_t bin = part_of(normal);
    bin = bin * CELLS + cell_of(p.x, reach);
    bin = bin * CELLS + cell_of(p.y, reach);
    bin = bin * CELLS + cell_of(p.z, reach);
    if (step->bins[bin] == 0) step->bins[bin] = ++*used;
    return &step->clusters[step->bins[bin] - 1];
}

/* Takes the contacts of a list; returns the wrench that they stand for, about the centre of mass. */
static flr_wrench take_list(flr_step *step, const flr_touches *touches, uint32_t count,
                            double stiffness)
{
    uint32_t used = 0;
    if (count > STEP_FEW) memset(step->bins, 0, sizeof step->bins);
    for (uint32_t i = 0; i < count; i++) {
        const flr_contact *contact = &touches->list[i];
        flr_vec3 normal = touches->walls ? touches->walls[i] : contact->normal;
        if (!sane3(contact->point) || !sane(contact->depth) ||
            !(fabs(flr_vec3_length2(normal) - 1) < 1e-3)) {
            step->faults |= FLR_STEP_FAULT_TOUCH;
            continue;
        }
        if (!(contact->depth > 0)) continue;
        uint32_t before = used;
        cluster *c = count > STEP_FEW ? bin_of(step, contact->point, normal, &used)
                                      : &step->clusters[used++];
        if (used > before) *c = (cluster){0};
        c->count++;
        c->push = flr_vec3_add_scaled(c->push, contact->depth, normal);
        c->point = flr_vec3_add_scaled(c->point, contact->depth, contact->point);
        c->depth += contact->depth;
        c->deepest = fmax(c->deepest, contact->depth);
    }
    flr_wrench sum = {0};
    for (uint32_t i = 0; i < used; i++)
        sum = flr_wrench_add(sum, add_cluster(step, touches, &step->clusters[i], stiffness));
    return sum;
}

/* Points that approach in the layer before contact, as they concern this body. */
static void take_braking(flr_step *step, const flr_touches *touches)
{
    const flr_contact_result *r = touches->result;
    if (!sane3(r->braking) || !sane3(r->braking_turn)) {
        step->faults |= FLR_STEP_FAULT_TOUCH;
        return;
    }
    double sign = touches->reversed ? -1 : 1;
    flr_vec3 offset = flr_vec3_sub(step->centre, touches->centre);
    flr_wrench sum = flr_wrench_scale(
        flr_wrench_move(flr_wrench_make(r->braking_turn, r->braking), offset), sign);
    if (r->near == 0) return;

    /* the speed from which one contact stops the body before its limit */
    double mass = step->body.inertia.mass * (1 - touches->other_share);
    double safe = sqrt(touches->asked->stiffness / mass) * touches->limit;
    if (!isfinite(safe)) safe = 0;
    step->safe = step->near > 0 ? fmin(step->safe, safe) : safe;
    step->near += r->near;
    flr_twist other = flr_twist_move(touches->other, offset);
    flr_twist relative = flr_twist_add(step->body.twist, flr_twist_scale(other, -1));
    step->braking = flr_vec6_add_scaled(step->braking, 1, flr_vec6_from(sum.torque, sum.force));
    step->approach += flr_wrench_power(sum, relative);
}

/* By how much the stiffness of each contact shrinks where there are many, as the engine does it
 * (1999, section 5.2; in the smooth model the number is that of equally deep ones). */
static double share_of(const flr_touches *touches, uint32_t used)
{
    double number = touches->result->contacts, full = touches->asked->full;
    if (touches->asked->model == FLR_FORCE_SMOOTH && used == touches->result->contacts) {
        double sum = 0, squares = 0;
        for (uint32_t i = 0; i < used; i++) {
            sum += touches->list[i].depth;
            squares += touches->list[i].depth * touches->list[i].depth;
        }
        if (squares > 0) number = sum * sum / squares;
    }
    return full > 0 && number > full ? full / number : 1;
}

void flr_step_touch(flr_step *step, const flr_touches *touches)
{
    const flr_contact_result *r = touches->result;
    if (stopped(step)) return;
    if (!sane3(touches->centre) || !sane3(touches->other.angular) ||
        !sane3(touches->other.linear) || !(touches->limit > 0) || !(touches->friction >= 0) ||
        !sane(touches->friction) || !(touches->asked->stiffness > 0) ||
        !(touches->other_share >= 0 && touches->other_share < 1) ||
        !sane(touches->asked->stiffness)) {
        step->faults |= FLR_STEP_FAULT_TOUCH;
        return;
    }
    take_braking(step, touches);
    if (r->contacts == 0) return;
    step->touching += r->contacts;

    /* as many as there is room for stand for all */
    uint32_t room = step->capacity - step->problem.touch_count, used = r->listed;
    if (used > room) {
        used = room;
        step->faults |= FLR_STEP_FAULT_FULL;
    }
    double share = share_of(touches, used);
    if (used > 0) share *= (double)r->contacts / used;
    flr_wrench sum = take_list(step, touches, used, touches->asked->stiffness * share);
    if (used == r->contacts) return;

    /* the engine's wrench is of all contacts: what the list has too little or too much of */
    if (!sane3(r->wrench.force) || !sane3(r->wrench.torque)) {
        step->faults |= FLR_STEP_FAULT_TOUCH;
        return;
    }
    flr_wrench all =
        flr_wrench_scale(flr_wrench_move(r->wrench, flr_vec3_sub(step->centre, touches->centre)),
                         touches->reversed ? -1 : 1);
    step->unlisted = flr_wrench_add(step->unlisted, flr_wrench_add(all, flr_wrench_scale(sum, -1)));
}

static bool press_is_valid(const flr_press *p)
{
    return sane3(p->point) && sane3(p->other) && sane(p->depth) &&
           fabs(flr_vec3_length2(p->normal) - 1) < 1e-3 && p->stiffness >= 0 &&
           sane(p->stiffness) && p->friction >= 0 && sane(p->friction) && !isnan(p->limit) &&
           p->other_share >= 0 && p->other_share < 1;
}

void flr_step_press(flr_step *step, const flr_press *list, uint32_t count)
{
    flr_problem *problem = &step->problem;
    if (stopped(step)) return;
    step->pressed = true;
    for (uint32_t i = 0; i < count; i++) {
        const flr_press *p = &list[i];
        if (!press_is_valid(p)) {
            step->faults |= FLR_STEP_FAULT_TOUCH;
            continue;
        }
        if (problem->touch_count == step->capacity) {
            step->faults |= FLR_STEP_FAULT_FULL;
            return;
        }
        problem->touches[problem->touch_count++] =
            (flr_touch){.arm = flr_vec3_sub(p->point, step->centre),
                        .normal = p->normal,
                        .other = p->other,
                        .depth = p->depth,
                        .limit = its_limit(p->depth, p->limit, p->other_share),
                        .share = 1 - p->other_share,
                        .stiffness = p->stiffness,
                        .friction = p->friction};
        step->stiffness += p->stiffness;
        step->stiffest = fmax(step->stiffest, p->stiffness);
        step->deepest = fmax(step->deepest, p->depth);
        problem->friction = problem->friction || p->friction > 0;
    }
}

uint32_t flr_step_pressed(const flr_step *step) { return step->problem.touch_count; }

double flr_step_push_at(const flr_step *step, uint32_t index)
{
    const flr_touch *t = &step->problem.touches[index];
    double push = t->stiffness * t->depth - t->slope * t->s;
    double beyond = t->depth - step->problem.dt * t->s - t->limit;
    return fmax(0, push) + (beyond > 0 ? step->problem.hard * beyond : 0);
}

static bool coupling_is_valid(const flr_coupling *c)
{
    return c->stiffness > 0 && sane(c->stiffness) && c->turn_stiffness > 0 &&
           sane(c->turn_stiffness) && c->damping >= 0 && sane(c->damping) && c->turn_damping >= 0 &&
           sane(c->turn_damping) && c->force_limit >= 0 && sane(c->force_limit) &&
           c->torque_limit >= 0 && sane(c->torque_limit) && sane3(c->T_part_handle.p);
}

void flr_step_pull(flr_step *step, flr_coupling *coupling, const flr_handle *handle)
{
    if (stopped(step)) return;
    flr_stretch s;
    if (step->pulls == FLR_STEP_PULLS) {
        step->faults |= FLR_STEP_FAULT_FULL;
        return;
    }
    if (!sane3(handle->T_world_handle.p) || !sane3(handle->twist.linear) ||
        !sane3(handle->twist.angular) || !coupling_is_valid(coupling) ||
        !flr_coupling_stretch(coupling, &step->body, handle, &s)) {
        step->faults |= FLR_STEP_FAULT_HANDLE;
        return;
    }
    step->holds[step->pulls++] = (hold){*coupling, s, handle->twist};
}

void flr_step_push(flr_step *step, flr_wrench wrench)
{
    if (!sane3(wrench.force) || !sane3(wrench.torque))
        step->faults |= FLR_STEP_FAULT_PUSH;
    else
        step->push = flr_wrench_add(step->push, wrench);
}

/* Nothing is left of what is locked. */
static flr_vec6 unlocked(const flr_step *step, flr_vec6 x)
{
    for (int i = 0; i < 6; i++)
        if (step->locks >> i & 1) x.v[i] = 0;
    return x;
}

void flr_step_lock(flr_step *step, unsigned locks)
{
    if (stopped(step)) return;
    for (int i = 0; i < 6; i++) {
        if (!(locks >> i & 1) || step->locks >> i & 1) continue;
        step->inertia.m[i][i] *= LOCKED;
        step->locks |= 1u << i;
    }
    flr_vec6 x = unlocked(step, flr_vec6_from(step->body.twist.angular, step->body.twist.linear));
    step->body.twist = flr_twist_make(flr_vec6_angular(x), flr_vec6_linear(x));
}

/* ---- where it goes ---- */

static flr_vec6 as6(flr_wrench wrench) { return flr_vec6_from(wrench.torque, wrench.force); }

static flr_twist twist_of(flr_vec6 x)
{
    return flr_twist_make(flr_vec6_angular(x), flr_vec6_linear(x));
}

/* The impulse along the braking sum S that takes the motion towards the contact: all of it would
 * leave nothing of the twist's product with S, and no impulse along S takes more energy. So much is
 * left that the points approach at the safe speed, or a slow part would never arrive. */
static flr_vec6 brake(flr_step *step, flr_vec6 x, double *braked)
{
    flr_mat6 l;
    *braked = 0;
    if (!(step->approach > 0) || step->params.braking == 0 || !flr_mat6_factor(&step->inertia, &l))
        return x;
    flr_vec6 change = flr_mat6_solve(&l, step->braking);
    double ease = flr_vec6_dot(change, step->braking), size = step->approach / ease;
    if (!(ease > 0) || !isfinite(size)) return x;
    double turn = flr_vec3_length(flr_vec6_angular(step->braking)) / step->body.reach;
    double speed = fmax(flr_vec3_length(flr_vec6_linear(step->braking)), turn) / step->near;
    size *= step->params.braking * fmax(0, 1 - step->safe / speed);
    *braked = size * (step->approach - size * ease / 2);
    return flr_vec6_add_scaled(x, -size, change);
}

/* Coulomb's, from the velocity at the beginning; near rest only as much as stops the body. */
static flr_wrench explicit_friction(const flr_step *step)
{
    const flr_problem *problem = &step->problem;
    double holds = 0;
    for (uint32_t i = 0; i < problem->touch_count; i++) {
        const flr_touch *t = &problem->touches[i];
        holds += t->friction * t->stiffness * t->depth;
    }
    double slow = fmax(CREEP, holds * step->params.dt / step->body.inertia.mass);
    flr_wrench sum = {0};
    for (uint32_t i = 0; i < problem->touch_count; i++) {
        const flr_touch *t = &problem->touches[i];
        flr_vec3 y = flr_vec3_sub(flr_twist_velocity(step->body.twist, t->arm), t->other);
        y = flr_vec3_add_scaled(y, -flr_vec3_dot(t->normal, y), t->normal);
        double grip = t->friction * t->stiffness * t->depth;
        flr_vec3 force = flr_vec3_scale(y, -grip / fmax(flr_vec3_length(y), slow));
        sum = flr_wrench_add(sum, flr_wrench_from_force(t->arm, force));
    }
    return sum;
}

/* The sum of the contacts' pushes as they are at the beginning. */
static flr_wrench explicit_contact(const flr_step *step)
{
    const flr_problem *problem = &step->problem;
    flr_wrench sum = step->unlisted;
    flr_mat6 stiffness = {0};
    for (uint32_t i = 0; i < problem->touch_count; i++) {
        const flr_touch *t = &problem->touches[i];
        flr_vec6 j = flr_vec6_from(flr_vec3_cross(t->arm, t->normal), t->normal);
        flr_vec3 force = flr_vec3_scale(t->normal, t->stiffness * t->depth);
        sum = flr_wrench_add(sum, flr_wrench_from_force(t->arm, force));
        if (step->params.bounded) flr_mat6_add_outer(&stiffness, t->stiffness, j);
    }
    if (step->params.bounded)
        sum = flr_bound_wrench(sum, &stiffness, &step->inertia, step->params.dt);
    return problem->friction ? flr_wrench_add(sum, explicit_friction(step)) : sum;
}

static flr_vec6 explicit_step(flr_step *step, flr_vec6 start, flr_step_result *result)
{
    flr_mat6 l;
    result->contact = explicit_contact(step);
    for (uint32_t i = 0; i < step->pulls; i++) {
        const hold *h = &step->holds[i];
        result->pull = flr_wrench_add(result->pull, flr_coupling_wrench(&h->coupling, &h->stretch));
    }
    flr_wrench all = flr_wrench_add(step->push, flr_wrench_add(result->contact, result->pull));
    if (!flr_mat6_factor(&step->inertia, &l)) return start; /* not of a valid body */
    return flr_vec6_add_scaled(start, step->params.dt, flr_mat6_solve(&l, as6(all)));
}

/* Spring k (stretch - dt y) and damper b (handle's - y), as the solver wants them. */
static void add_pair(flr_step *step, flr_spring spring, flr_vec3 stretch, flr_vec3 speed, double k,
                     double b)
{
    flr_problem *problem = &step->problem;
    double dt = step->params.dt;
    spring.slope = k * dt, spring.target = flr_vec3_scale(stretch, 1 / dt);
    problem->springs[problem->spring_count++] = spring;
    if (!(b > 0) || step->params.integrator == FLR_INTEGRATOR_QUASI_STATIC) return;
    spring.slope = b, spring.target = speed;
    problem->springs[problem->spring_count++] = spring;
}

static void add_hold(flr_step *step, const hold *h)
{
    const flr_coupling *c = &h->coupling;
    flr_spring line = {.arm = h->stretch.arm, .limit = c->force_limit * c->slack};
    flr_spring turn = {.turning = true, .limit = c->torque_limit * c->slack};
    add_pair(step, line, h->stretch.shift, h->handle.linear, c->stiffness, c->damping);
    add_pair(step, turn, h->stretch.turn, h->handle.angular, c->turn_stiffness, c->turn_damping);
}

/* The problem of an implicit step, from what was gathered. */
static void prepare(flr_step *step, flr_vec6 start)
{
    flr_problem *problem = &step->problem;
    double dt = step->params.dt, mass = step->body.inertia.mass, lag = 0;
    if (step->pressed) problem->rounds = ROUNDS;
    problem->guessed = step->pressed && step->solved;
    problem->guess = step->last;
    problem->known = step->known;
    problem->spring_count = 0;
    bool moving = step->params.integrator != FLR_INTEGRATOR_QUASI_STATIC;
    flr_vec6 none = {0};
    problem->inertia = step->inertia;
    problem->start = moving ? start : none;
    problem->dt = dt;
    problem->reach = step->body.reach;
    problem->hard = HARD * mass / (dt * dt) + step->stiffest;
    problem->impulse =
        flr_vec6_add_scaled(none, dt, as6(flr_wrench_add(step->push, step->unlisted)));
    if (!moving)
        for (int i = 0; i < 6; i++)
            for (int k = 0; k <= i; k++) problem->inertia.m[i][k] *= REST;

    /* the damping of all contacts together is critical for their stiffness together */
    if (moving && step->stiffness > 0)
        lag = step->params.damping * 2 * sqrt(mass / step->stiffness);
    for (uint32_t i = 0; i < problem->touch_count; i++) {
        flr_touch *t = &problem->touches[i];
        /* of the reduced mass, on the relative velocity; this body's is a share of that */
        t->slope = t->stiffness * (dt + lag * sqrt(t->share)) / t->share;
    }
    for (uint32_t i = 0; i < step->pulls; i++) add_hold(step, &step->holds[i]);
}

static flr_vec6 take_solution(flr_step *step, const flr_solution *solution, flr_step_result *result)
{
    if (!solution->converged) step->faults |= FLR_STEP_FAULT_SOLVE;
    step->solved = solution->converged;
    step->known = step->problem.touch_count;
    step->last = solution->x;
    result->contact = flr_wrench_add(solution->contact, step->unlisted);
    result->pull = solution->pull;
    result->iterations = solution->iterations;
    return solution->x;
}

static flr_vec6 implicit_step(flr_step *step, flr_vec6 start, flr_step_result *result)
{
    flr_solution solution;
    prepare(step, start);
    flr_solve(&step->problem, &solution);
    return take_solution(step, &solution, result);
}

static bool wrench_is_finite(flr_wrench wrench)
{
    return flr_vec3_is_finite(wrench.torque) && flr_vec3_is_finite(wrench.force);
}

/* What a velocity at the end of the step means. */
static void finish(flr_step *step, flr_body body, flr_vec6 x, flr_step_result *result)
{
    body.twist = twist_of(unlocked(step, x));
    if (!flr_vec3_is_finite(body.twist.angular) || !flr_vec3_is_finite(body.twist.linear) ||
        !wrench_is_finite(result->contact) || !wrench_is_finite(result->pull)) {
        step->faults |= FLR_STEP_FAULT_SOLVE;
        body.twist = (flr_twist){0};
        result->contact = result->pull = (flr_wrench){0};
    }
    double dt = step->params.dt;
    result->twist = body.twist;
    result->motion = step->params.integrator == FLR_INTEGRATOR_QUASI_STATIC
                         ? (flr_motion){flr_vec3_scale(body.twist.angular, dt),
                                        flr_vec3_scale(body.twist.linear, dt)}
                         : flr_body_drift(&body, dt);
    if (step->locks)
        result->motion = (flr_motion){flr_vec3_scale(body.twist.angular, dt),
                                      flr_vec3_scale(body.twist.linear, dt)};
    result->fraction = flr_motion_fraction(result->motion, body.reach, step->params.travel);
    result->faults = step->faults;
}

void flr_step_solve(flr_step *step, flr_step_result *result)
{
    *result = (flr_step_result){.touching = step->touching, .deepest = step->deepest};
    if (stopped(step)) {
        result->faults = step->faults;
        return;
    }
    flr_body body = step->body;
    flr_vec6 x = brake(step, flr_vec6_from(body.twist.angular, body.twist.linear), &result->braked);
    x = step->params.integrator == FLR_INTEGRATOR_EXPLICIT ? explicit_step(step, x, result)
                                                           : implicit_step(step, x, result);
    finish(step, body, x, result);
}

void flr_steps_solve(flr_step *const *steps, flr_joined *joined, flr_step_result *results)
{
    flr_problem *problems[FLR_JOINED_UNKNOWNS];
    flr_solution solutions[FLR_JOINED_UNKNOWNS];
    unsigned faults = 0;
    for (uint32_t i = 0; i < joined->body_count; i++) {
        flr_step *step = steps[i];
        const flr_twist twist = step->body.twist;
        results[i] = (flr_step_result){.touching = step->touching, .deepest = step->deepest};
        problems[i] = &step->problem;
        faults |= step->faults;
        if (!stopped(step))
            prepare(step,
                    brake(step, flr_vec6_from(twist.angular, twist.linear), &results[i].braked));
    }
    if (!(faults & (FLR_STEP_FAULT_BODY | FLR_STEP_FAULT_PARAMS)))
        flr_joined_solve(joined, problems, solutions);
    for (uint32_t i = 0; i < joined->body_count; i++) {
        results[i].faults = faults;
        if (faults & (FLR_STEP_FAULT_BODY | FLR_STEP_FAULT_PARAMS)) continue;
        finish(steps[i], steps[i]->body, take_solution(steps[i], &solutions[i], &results[i]),
               &results[i]);
    }
}

void flr_step_move(const flr_step_result *result, double fraction, flr_body *body)
{
    body->twist = result->twist;
    flr_body_move(body, result->motion, fraction);
}
