/* the velocities of several bodies at the end of an implicit step */
#include "dynamics/joined.h"

#include <string.h>

enum {
    JOINED_ITERATIONS = 32, /* of Newton */
    JOINED_SEARCHES = 24    /* evaluations along a line */
};
static const double STOP = 1e4;     /* a stop, by what would stop the bodies in a step */
static const double SETTLED = 1e-3; /* of all pushes: friction that changes less is settled */

static flr_vec6 *columns_of(const flr_joined *j, uint32_t body)
{
    return j->columns + (size_t)body * FLR_JOINED_UNKNOWNS;
}

static flr_vec6 twist_of(const flr_joined *j, uint32_t body, const double *unknowns)
{
    const flr_vec6 *columns = columns_of(j, body);
    flr_vec6 x = {0};
    for (uint32_t k = 0; k < j->unknown_count; k++)
        x = flr_vec6_add_scaled(x, unknowns[k], columns[k]);
    return x;
}

static double rate_of(const flr_joined *j, const flr_joined_law *law, const double *unknowns)
{
    double rate = 0;
    for (uint32_t k = 0; k < j->unknown_count; k++) rate += law->row[k] * unknowns[k];
    return rate;
}

/* The force of a law at a rate, and by how much it falls with the rate. */
static double force_of(const flr_joined_law *law, double rate, double *fall)
{
    const double force = law->slope * (law->target - rate);
    *fall = law->slope;
    if ((law->side > 0 && !(force > 0)) || (law->side < 0 && !(force < 0))) return *fall = 0;
    if (fabs(force) <= law->limit) return force;
    *fall = 0;
    return force > 0 ? law->limit : -law->limit;
}

/* ---- small dense matrices ---- */

/* Cholesky, in place, lower triangle. */
static bool factor(flr_joined *j)
{
    const uint32_t n = j->unknown_count;
    for (uint32_t c = 0; c < n; c++) {
        double d = j->matrix[c][c];
        for (uint32_t k = 0; k < c; k++) d -= j->matrix[c][k] * j->matrix[c][k];
        if (!(d > 0) || !isfinite(d)) return false;
        j->matrix[c][c] = sqrt(d);
        for (uint32_t r = c + 1; r < n; r++) {
            double v = j->matrix[r][c];
            for (uint32_t k = 0; k < c; k++) v -= j->matrix[r][k] * j->matrix[c][k];
            j->matrix[r][c] = v / j->matrix[c][c];
        }
    }
    return true;
}

static void back_solve(const flr_joined *j, double *b)
{
    const uint32_t n = j->unknown_count;
    for (uint32_t r = 0; r < n; r++) {
        for (uint32_t k = 0; k < r; k++) b[r] -= j->matrix[r][k] * b[k];
        b[r] /= j->matrix[r][r];
    }
    for (uint32_t r = n; r-- > 0;) {
        for (uint32_t k = r + 1; k < n; k++) b[r] -= j->matrix[k][r] * b[k];
        b[r] /= j->matrix[r][r];
    }
}

static void clear(flr_joined *j, double *gradient)
{
    memset(gradient, 0, FLR_JOINED_UNKNOWNS * sizeof *gradient);
    for (uint32_t r = 0; r < j->unknown_count; r++)
        memset(j->matrix[r], 0, j->unknown_count * sizeof **j->matrix);
}

static bool is_zero(const flr_vec6 *v)
{
    for (int i = 0; i < 6; i++)
        if (v->v[i] != 0) return false;
    return true;
}

/* Adds what a body says, by its columns. */
static void add_body(flr_joined *j, uint32_t body, const flr_vec6 *gradient,
                     const flr_mat6 *hessian, double *to)
{
    const flr_vec6 *columns = columns_of(j, body);
    for (uint32_t k = 0; k < j->unknown_count; k++) {
        if (is_zero(&columns[k])) continue;
        const flr_vec6 along = flr_mat6_apply(hessian, columns[k]);
        to[k] += flr_vec6_dot(columns[k], *gradient);
        for (uint32_t l = 0; l <= k; l++) j->matrix[k][l] += flr_vec6_dot(along, columns[l]);
    }
}

/* ---- Newton ---- */

/* The inertia of the unknowns, and the velocity with which everything would go on. Stops get as hard as that needs. */
static bool begin(flr_joined *j, flr_problem *const *problems, double dt)
{
    const uint32_t n = j->unknown_count;
    double *v = j->velocity;
    clear(j, v);
    for (uint32_t b = 0; b < j->body_count; b++) {
        const flr_vec6 momentum = flr_mat6_apply(&problems[b]->inertia, problems[b]->start);
        add_body(j, b, &momentum, &problems[b]->inertia, v);
    }
    for (uint32_t i = 0; i < j->law_count; i++) {
        flr_joined_law *law = &j->laws[i];
        double mass = 0, length = 0;
        if (law->side == 0) continue;
        for (uint32_t k = 0; k < n; k++) {
            mass += law->row[k] * law->row[k] * j->matrix[k][k];
            length += law->row[k] * law->row[k];
        }
        law->slope = length > 0 ? STOP * mass / (length * length) / dt : 0;
    }
    if (!factor(j)) return false;
    back_solve(j, v);
    return true;
}

static void place(flr_joined *j, flr_problem *const *problems, flr_solution *solutions)
{
    for (uint32_t b = 0; b < j->body_count; b++) {
        solutions[b].x = twist_of(j, b, j->velocity);
        flr_problem_place(problems[b], solutions[b].x);
    }
    for (uint32_t i = 0; i < j->law_count; i++)
        j->laws[i].rate = rate_of(j, &j->laws[i], j->velocity);
}

static void assemble(flr_joined *j, flr_problem *const *problems, const flr_solution *solutions,
                     double dt, double *gradient)
{
    clear(j, gradient);
    for (uint32_t b = 0; b < j->body_count; b++) {
        flr_vec6 g;
        flr_mat6 h;
        flr_problem_assemble(problems[b], solutions[b].x, &g, &h);
        add_body(j, b, &g, &h, gradient);
    }
    for (uint32_t i = 0; i < j->law_count; i++) {
        const flr_joined_law *law = &j->laws[i];
        double fall;
        const double force = force_of(law, law->rate, &fall);
        if (force == 0 && fall == 0) continue;
        for (uint32_t k = 0; k < j->unknown_count; k++) {
            if (law->row[k] == 0) continue;
            gradient[k] -= dt * force * law->row[k];
            for (uint32_t l = 0; l <= k; l++)
                j->matrix[k][l] += dt * fall * law->row[k] * law->row[l];
        }
    }
}

/* slope of the function along the line at t */
typedef struct searched {
    flr_joined *joined;
    flr_problem *const *problems;
    double dt, bare, bend;
} searched;

static double slope_at(const searched *s, double t)
{
    double slope = s->bare + t * s->bend;
    for (uint32_t b = 0; b < s->joined->body_count; b++)
        slope += flr_problem_slope(s->problems[b], 0, 0, t);
    for (uint32_t i = 0; i < s->joined->law_count; i++) {
        const flr_joined_law *law = &s->joined->laws[i];
        double fall;
        slope -= s->dt * force_of(law, law->rate + t * law->step, &fall) * law->step;
    }
    return slope;
}

/* How far to go along the line: all of it, or to about the least point. `first` is the slope at the start, below zero. */
static double search(const searched *s, double first)
{
    double enough = -0.1 * first, low = 0, high = 1, at_low = first, at_high = slope_at(s, 1),
           t = 1;
    if (at_high <= enough) return 1;
    for (int i = 0; i < JOINED_SEARCHES; i++) {
        t = low + (high - low) * fmin(fmax(at_low / (at_low - at_high), 0.05), 0.95);
        const double at = slope_at(s, t);
        if (fabs(at) <= enough) break;
        if (at > 0)
            high = t, at_high = at;
        else
            low = t, at_low = at;
    }
    return t;
}

/* Aims all bodies and laws along j->line; what does not come from contacts, springs and laws is quadratic. */
static searched aim(flr_joined *j, flr_problem *const *problems, const flr_solution *solutions,
                    double dt, double *size, double *speed)
{
    searched s = {.joined = j, .problems = problems, .dt = dt};
    *size = *speed = 0;
    for (uint32_t b = 0; b < j->body_count; b++) {
        const flr_vec6 step = twist_of(j, b, j->line);
        flr_problem_aim(problems[b], step);
        s.bare += flr_vec6_dot(flr_problem_bare_gradient(problems[b], solutions[b].x), step);
        s.bend += flr_vec6_dot(flr_mat6_apply(&problems[b]->inertia, step), step);
        *size = fmax(*size, flr_problem_speed(problems[b], step));
        *speed = fmax(*speed, flr_problem_speed(problems[b], solutions[b].x));
    }
    for (uint32_t i = 0; i < j->law_count; i++) j->laws[i].step = rate_of(j, &j->laws[i], j->line);
    return s;
}

static bool newton(flr_joined *j, flr_problem *const *problems, flr_solution *solutions, double dt)
{
    place(j, problems, solutions);
    for (int i = 0; i < JOINED_ITERATIONS; i++) {
        double gradient[FLR_JOINED_UNKNOWNS], first = 0, size, speed;
        assemble(j, problems, solutions, dt, gradient);
        if (!factor(j)) return false;
        for (uint32_t k = 0; k < j->unknown_count; k++) j->line[k] = -gradient[k];
        back_solve(j, j->line);
        for (uint32_t k = 0; k < j->unknown_count; k++) first += gradient[k] * j->line[k];
        if (!isfinite(first)) return false;
        solutions[0].iterations++;
        const searched s = aim(j, problems, solutions, dt, &size, &speed);
        const bool last = !(first < 0) || size <= 1e-9 + 1e-9 * speed;
        const double t = last ? 1 : search(&s, first);
        for (uint32_t k = 0; k < j->unknown_count; k++) j->velocity[k] += t * j->line[k];
        place(j, problems, solutions);
        if (last) return true;
    }
    return false;
}

/* Friction of all bodies goes by their pushes now. */
static double take_holds(const flr_joined *j, flr_problem *const *problems)
{
    double most = 0;
    for (uint32_t b = 0; b < j->body_count; b++)
        most = fmax(most, flr_problem_take_holds(problems[b]));
    return most;
}

void flr_joined_solve(flr_joined *j, flr_problem *const *problems, flr_solution *solutions)
{
    uint32_t rounds = 0;
    const double dt = problems[0]->dt;
    for (uint32_t b = 0; b < j->body_count; b++) {
        solutions[b] = (flr_solution){0};
        problems[b]->guessed = false;
        flr_problem_begin(problems[b]);
        const uint32_t own = problems[b]->rounds ? problems[b]->rounds : 1;
        if (problems[b]->friction && own > rounds) rounds = own;
    }
    bool converged = begin(j, problems, dt) && newton(j, problems, solutions, dt);
    for (uint32_t i = 0; i < rounds; i++) {
        const double change = take_holds(j, problems);
        if (i > 0 && change < SETTLED) break;
        converged = newton(j, problems, solutions, dt) && (converged || i > 0);
    }
    for (uint32_t b = 0; b < j->body_count; b++) {
        flr_problem_sum(problems[b], &solutions[b]);
        solutions[b].converged = converged;
        solutions[b].iterations = solutions[0].iterations;
    }
}
