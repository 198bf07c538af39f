/* the velocity at the end of an implicit step */
#include "dynamics/solve.h"

enum {
    SOLVE_ITERATIONS = 32, /* of Newton; three to six in practice */
    SEARCHES = 24          /* evaluations along a line; most take none beyond the first */
};
static const double CREEP = 1e-5; /* m/s: slower than this, friction is viscous */
static const double SAME = 1e-3;  /* of all pushes: friction that changes less is settled */

static flr_vec3 velocity_at(flr_vec6 x, flr_vec3 arm)
{
    return flr_vec3_add(flr_vec6_linear(x), flr_vec3_cross(flr_vec6_angular(x), arm));
}

/* ---- the laws: force at y, and how it changes ---- */

/* The push of a contact, and by how much it falls per m/s of separation. */
static double push_of(const flr_problem *problem, const flr_touch *t, double speed, double *fall)
{
    double push = t->stiffness * t->depth - t->slope * speed;
    *fall = t->slope;
    if (!(push > 0)) push = *fall = 0;
    double beyond = t->depth - problem->dt * speed - t->limit;
    if (beyond > 0) {
        push += problem->hard * beyond;
        *fall += problem->hard * problem->dt;
    }
    return push;
}

/* c (target - y), clamped. `*factor` is the force by its unclamped value. */
static flr_vec3 clamped_pull(flr_vec3 away, double slope, double limit, double *factor)
{
    double length = flr_vec3_length(away), force = slope * length;
    *factor = force > limit ? limit / force : 1;
    return flr_vec3_scale(away, slope * *factor);
}

/* How that changes with y (with the other sign): where it is clamped, only sideways. */
static flr_mat3 pull_stiffness(flr_vec3 away, double slope, double factor)
{
    double c = slope * factor;
    flr_mat3 m = flr_mat3_diagonal(flr_vec3_make(c, c, c));
    if (factor == 1) return m;
    flr_vec3 d = flr_vec3_normalize(away);
    return flr_mat3_sub(m, flr_mat3_scale(flr_mat3_outer(d, d), c));
}

/* what friction works against: the velocity in the tangent plane, reversed */
static flr_vec3 slip_of(const flr_touch *t, flr_vec3 y)
{
    return flr_vec3_add_scaled(flr_vec3_neg(y), flr_vec3_dot(t->normal, y), t->normal);
}

static flr_vec3 friction_of(const flr_problem *problem, const flr_touch *t, flr_vec3 y,
                            double *factor)
{
    double limit = t->friction * t->hold;
    return clamped_pull(slip_of(t, y), limit / problem->creep, limit, factor);
}

static bool rubs(const flr_touch *t) { return t->hold > 0; }

static flr_vec3 spring_force(const flr_spring *s, flr_vec3 y)
{
    double factor;
    return clamped_pull(flr_vec3_sub(s->target, y), s->slope, s->limit, &factor);
}

/* ---- Newton ---- */

void flr_problem_place(flr_problem *problem, flr_vec6 x)
{
    for (uint32_t i = 0; i < problem->touch_count; i++) {
        flr_touch *t = &problem->touches[i];
        t->s = flr_vec6_dot(t->j, x) - t->away;
        if (rubs(t)) t->y = flr_vec3_sub(velocity_at(x, t->arm), t->other);
    }
    for (uint32_t i = 0; i < problem->spring_count; i++) {
        flr_spring *s = &problem->springs[i];
        s->y = s->turning ? flr_vec6_angular(x) : velocity_at(x, s->arm);
    }
}

void flr_problem_aim(flr_problem *problem, flr_vec6 step)
{
    for (uint32_t i = 0; i < problem->touch_count; i++) {
        flr_touch *t = &problem->touches[i];
        t->climb = flr_vec6_dot(t->j, step);
        if (rubs(t)) t->step = velocity_at(step, t->arm);
    }
    for (uint32_t i = 0; i < problem->spring_count; i++) {
        flr_spring *s = &problem->springs[i];
        s->step = s->turning ? flr_vec6_angular(step) : velocity_at(step, s->arm);
    }
}

/* adds a force at `arm` to a gradient, which is against forces */
static void oppose(flr_vec6 *gradient, double dt, flr_vec3 arm, flr_vec3 force)
{
    *gradient =
        flr_vec6_add_scaled(*gradient, -dt, flr_vec6_from(flr_vec3_cross(arm, force), force));
}

/* M (x - x0) - dt W */
flr_vec6 flr_problem_bare_gradient(const flr_problem *problem, flr_vec6 x)
{
    flr_vec6 change = flr_vec6_add_scaled(x, -1, problem->start);
    return flr_vec6_add_scaled(flr_mat6_apply(&problem->inertia, change), -1, problem->impulse);
}

/* Stiffness c of the point at `arm` along a direction. */
static void stiffen(flr_mat6 *hessian, double c, flr_vec3 arm, flr_vec3 along)
{
    flr_mat6_add_outer(hessian, c, flr_vec6_from(flr_vec3_cross(arm, along), along));
}

static void add_touch(const flr_problem *problem, const flr_touch *t, flr_vec6 *gradient,
                      flr_mat6 *hessian)
{
    double dt = problem->dt, fall, factor;
    double push = push_of(problem, t, t->s, &fall);
    if (fall > 0) {
        *gradient = flr_vec6_add_scaled(*gradient, -dt * push, t->j);
        flr_mat6_add_outer(hessian, dt * fall, t->j);
    }
    if (!rubs(t)) return;
    oppose(gradient, dt, t->arm, friction_of(problem, t, t->y, &factor));
    double c = dt * factor * t->friction * t->hold / problem->creep;
    if (factor < 1) { /* sliding: only across the slip */
        flr_vec3 slip = flr_vec3_normalize(slip_of(t, t->y));
        stiffen(hessian, c, t->arm, flr_vec3_cross(t->normal, slip));
    } else {
        flr_vec3 along = flr_vec3_perpendicular(t->normal);
        stiffen(hessian, c, t->arm, along);
        stiffen(hessian, c, t->arm, flr_vec3_cross(t->normal, along));
    }
}

static void add_spring(const flr_problem *problem, const flr_spring *s, flr_vec6 *gradient,
                       flr_mat6 *hessian)
{
    double dt = problem->dt, factor;
    flr_vec3 away = flr_vec3_sub(s->target, s->y);
    flr_vec3 force = clamped_pull(away, s->slope, s->limit, &factor);
    flr_mat3 c = flr_mat3_scale(pull_stiffness(away, s->slope, factor), dt);
    if (!s->turning) {
        oppose(gradient, dt, s->arm, force);
        flr_mat6_add_at(hessian, s->arm, c);
        return;
    }
    *gradient = flr_vec6_add_scaled(*gradient, -dt, flr_vec6_from(force, flr_vec3_zero()));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k <= i; k++) hessian->m[i][k] += c.m[i][k];
}

void flr_problem_assemble(const flr_problem *problem, flr_vec6 x, flr_vec6 *gradient,
                          flr_mat6 *hessian)
{
    *gradient = flr_problem_bare_gradient(problem, x);
    *hessian = problem->inertia;
    for (uint32_t i = 0; i < problem->touch_count; i++)
        add_touch(problem, &problem->touches[i], gradient, hessian);
    for (uint32_t i = 0; i < problem->spring_count; i++)
        add_spring(problem, &problem->springs[i], gradient, hessian);
}

/* The slope of the function at x + t step, along step. `bare` and `bend` are those of its quadratic
 * part. */
double flr_problem_slope(const flr_problem *problem, double bare, double bend, double t)
{
    double work = 0;
    for (uint32_t i = 0; i < problem->touch_count; i++) {
        const flr_touch *c = &problem->touches[i];
        double fall, factor;
        work += push_of(problem, c, c->s + t * c->climb, &fall) * c->climb;
        if (!rubs(c)) continue;
        flr_vec3 force = friction_of(problem, c, flr_vec3_add_scaled(c->y, t, c->step), &factor);
        work += flr_vec3_dot(force, c->step);
    }
    for (uint32_t i = 0; i < problem->spring_count; i++) {
        const flr_spring *s = &problem->springs[i];
        flr_vec3 force = spring_force(s, flr_vec3_add_scaled(s->y, t, s->step));
        work += flr_vec3_dot(force, s->step);
    }
    return bare + t * bend - problem->dt * work;
}

/* How far to go: all the way, unless the function rises again before; then to about its least point.
 * `first` is the slope at the start, below zero. */
static double search(const flr_problem *problem, flr_vec6 x, flr_vec6 step, double first)
{
    double bare = flr_vec6_dot(flr_problem_bare_gradient(problem, x), step);
    double bend = flr_vec6_dot(flr_mat6_apply(&problem->inertia, step), step);
    double enough = -0.1 * first, low = 0, high = 1, at_low = first;
    double at_high = flr_problem_slope(problem, bare, bend, 1);
    if (at_high <= enough) return 1;

    /* between a fall and a rise: by the chord, kept off the ends so that the bracket shrinks */
    double t = 1;
    for (int i = 0; i < SEARCHES; i++) {
        double part = at_low / (at_low - at_high);
        t = low + (high - low) * fmin(fmax(part, 0.05), 0.95);
        double at = flr_problem_slope(problem, bare, bend, t);
        if (fabs(at) <= enough) break;
        if (at > 0)
            high = t, at_high = at;
        else
            low = t, at_low = at;
    }
    return t;
}

double flr_problem_speed(const flr_problem *problem, flr_vec6 x)
{
    return flr_vec3_length(flr_vec6_linear(x)) +
           flr_vec3_length(flr_vec6_angular(x)) * problem->reach;
}

static bool newton(flr_problem *problem, flr_solution *solution)
{
    flr_problem_place(problem, solution->x);
    for (int i = 0; i < SOLVE_ITERATIONS; i++) {
        flr_vec6 gradient;
        flr_mat6 hessian, factor;
        flr_problem_assemble(problem, solution->x, &gradient, &hessian);
        if (!flr_mat6_factor(&hessian, &factor)) return false;
        flr_vec6 step = {0};
        step = flr_vec6_add_scaled(step, -1, flr_mat6_solve(&factor, gradient));
        double first = flr_vec6_dot(gradient, step);
        if (!isfinite(first)) return false;
        solution->iterations++;

        /* a step that moves no point by a nanometre a second is rounding */
        double size = flr_problem_speed(problem, step);
        if (!(first < 0) || size <= 1e-9 + 1e-9 * flr_problem_speed(problem, solution->x)) {
            solution->x = flr_vec6_add_scaled(solution->x, 1, step);
            flr_problem_place(problem, solution->x);
            return true;
        }
        flr_problem_aim(problem, step);
        solution->x =
            flr_vec6_add_scaled(solution->x, search(problem, solution->x, step, first), step);
        flr_problem_place(problem, solution->x);
    }
    return false;
}

void flr_problem_sum(const flr_problem *problem, flr_solution *solution)
{
    flr_wrench contact = {0}, pull = {0};
    for (uint32_t i = 0; i < problem->touch_count; i++) {
        const flr_touch *t = &problem->touches[i];
        double fall, factor;
        flr_vec3 force = flr_vec3_scale(t->normal, push_of(problem, t, t->s, &fall));
        if (rubs(t)) force = flr_vec3_add(force, friction_of(problem, t, t->y, &factor));
        contact = flr_wrench_add(contact, flr_wrench_from_force(t->arm, force));
    }
    for (uint32_t i = 0; i < problem->spring_count; i++) {
        const flr_spring *s = &problem->springs[i];
        flr_vec3 force = spring_force(s, s->y);
        pull = flr_wrench_add(pull, s->turning ? flr_wrench_make(force, flr_vec3_zero())
                                               : flr_wrench_from_force(s->arm, force));
    }
    solution->contact = contact;
    solution->pull = pull;
}

/* Friction goes by these pushes. Returns by how much they have changed, as a share of all of them. */
double flr_problem_take_holds(flr_problem *problem)
{
    double change = 0, sum = 0;
    for (uint32_t i = 0; i < problem->touch_count; i++) {
        double fall, before;
        flr_touch *t = &problem->touches[i];
        before = t->hold;
        t->hold = t->friction > 0 ? push_of(problem, t, t->s, &fall) : 0;
        change += fabs(t->hold - before);
        sum += t->hold;
    }
    return sum > 0 ? change / sum : 0;
}

void flr_problem_begin(flr_problem *problem)
{
    if (problem->creep == 0) problem->creep = CREEP;
    for (uint32_t i = 0; i < problem->touch_count; i++) {
        flr_touch *t = &problem->touches[i];
        t->j = flr_vec6_from(flr_vec3_cross(t->arm, t->normal), t->normal);
        t->away = flr_vec3_dot(t->normal, t->other);
        if (!problem->guessed || i >= problem->known) t->hold = 0;
    }
}

void flr_solve(flr_problem *problem, flr_solution *solution)
{
    *solution = (flr_solution){.x = problem->guessed ? problem->guess : problem->start};
    flr_problem_begin(problem);
    solution->converged = newton(problem, solution);

    /* friction goes by the pushes without it, and then by those with it */
    uint32_t rounds = problem->friction ? (problem->rounds ? problem->rounds : 1) : 0;
    for (uint32_t i = 0; i < rounds; i++) {
        double change = flr_problem_take_holds(problem);
        if (i > 0 && change < SAME) break;
        solution->converged = newton(problem, solution) && (solution->converged || i > 0);
    }
    flr_problem_sum(problem, solution);
}
