/* solve.h: the velocity at the end of an implicit step.
 *
 * Everything that acts depends on the velocity y of one point of the body at the end of the step,
 * and each is the slope of a convex function of y:
 *
 *     contact    pushes along n by max(0, k depth - c s) with the speed of separation s = n . y and
 *                c = k dt + damping; beyond its limit it gets very much stiffer
 *     spring     pulls by c (target - y), clamped in length: the coupling, both parts of it
 *     friction   holds back by c (0 - y) in the tangent plane, clamped at mu times the push
 *
 * so that the velocity is the only least point of
 *
 *     1/2 (x - x0)^T M (x - x0) - dt W . x + dt sum of those functions
 *
 * in six dimensions. Newton's method finds it: between the kinks the function is nearly quadratic,
 * and a line search on its slope, which only rises, makes it safe from any start. */
#ifndef FLR_DYNAMICS_SOLVE_H
#define FLR_DYNAMICS_SOLVE_H

#include <stdint.h>

#include "dynamics/mat6.h"

/* one contact */
typedef struct flr_touch {
    flr_vec3 arm;     /* metres, from the centre of mass; world's axes, as all here */
    flr_vec3 normal;  /* unit: where it pushes the body */
    flr_vec3 other;   /* m/s: velocity of the other part there */
    double depth;     /* metres, at the beginning of the step */
    double limit;     /* metres: how deep it may be at the end */
    double stiffness; /* N/m */
    double friction;  /* coefficient */
    double share; /* of what both bodies yield to a push, this one's; 1: the other goes its way */
    /* filled by the solver; s is the speed of separation, n . y, y relative to the other part */
    double slope;     /* N s/m: c */
    flr_vec6 j;       /* s = j . x - away */
    double away;      /* m/s: n . other */
    double s, climb;  /* m/s: at x, and how it changes along the line that is searched */
    double hold;      /* N: the push that friction goes by; 0: none */
    flr_vec3 y, step; /* m/s: with friction only, and how it changes */
} flr_touch;

/* one pull in three directions */
typedef struct flr_spring {
    flr_vec3 arm;
    bool turning;    /* y is the angular velocity, not that of the point at `arm` */
    flr_vec3 target; /* m/s or rad/s */
    double slope;    /* N s/m or N m s/rad */
    double limit;    /* N or N m */
    flr_vec3 y, step;
} flr_spring;

typedef struct flr_problem {
    flr_mat6 inertia; /* M */
    flr_vec6 start;   /* x0 */
    flr_vec6 impulse; /* dt W */
    double dt;        /* s */
    double reach;     /* metres: turns into speeds, for the tolerance */
    double hard;      /* N/m: stiffness beyond the limit */
    flr_touch *touches;
    flr_spring *springs;
    uint32_t touch_count, spring_count;
    bool friction;   /* some touch has it */
    uint32_t rounds; /* of friction: each goes by the pushes of the one before; 0: one */
    double creep;    /* m/s: slower than this, friction is viscous; 0: 1e-5 */
    /* the solution of almost the same problem, from which to start: the touches from `known` on are new */
    bool guessed;
    uint32_t known;
    flr_vec6 guess;
} flr_problem;

typedef struct flr_solution {
    flr_vec6 x;
    flr_wrench contact, pull; /* at the end of the step, about the centre of mass */
    uint32_t iterations;
    bool converged;
} flr_solution;

void flr_solve(flr_problem *problem, flr_solution *solution);

/* ---- its pieces, for several bodies that joints tie (joined.c) ---- */

/* Makes touches ready. */
void flr_problem_begin(flr_problem *problem);
/* The body is at x; it goes along a line from there. */
void flr_problem_place(flr_problem *problem, flr_vec6 x);
void flr_problem_aim(flr_problem *problem, flr_vec6 step);
/* Slope and curvature at x, where it was placed. */
void flr_problem_assemble(const flr_problem *problem, flr_vec6 x, flr_vec6 *gradient,
                          flr_mat6 *hessian);
/* The part of the slope that does not come from touches and springs: M (x - x0) - dt W. */
flr_vec6 flr_problem_bare_gradient(const flr_problem *problem, flr_vec6 x);
/* The slope along the line, t of its length on. `bare` and `bend` are those of the part above. */
double flr_problem_slope(const flr_problem *problem, double bare, double bend, double t);
/* m/s: no point of the body is faster. */
double flr_problem_speed(const flr_problem *problem, flr_vec6 x);
/* Friction goes by the pushes as they are now. Returns by how much they have changed, as a share of all of them. */
double flr_problem_take_holds(flr_problem *problem);
/* The forces as they are now. */
void flr_problem_sum(const flr_problem *problem, flr_solution *solution);

#endif
