/* joined.h: the velocities of several bodies at the end of an implicit step, in the motions that joints leave them.
 *
 * Each body brings its problem (solve.h): inertia, contacts, springs, friction. The twists of all bodies are linear functions
 * of a few unknowns, and what acts in the joints depends on rates that are such functions, too:
 *
 *     spring, damper, friction   slope (target - rate), clamped
 *     stop                       the same where it pushes away from the stop, else nothing; very stiff
 *
 * All of it is the slope of one convex function of the unknowns, and Newton's method finds its least point, as for one
 * body. RT safe. */
#ifndef FLR_DYNAMICS_JOINED_H
#define FLR_DYNAMICS_JOINED_H

#include "dynamics/solve.h"
#include "feeler/dynamics.h"

enum { FLR_JOINED_UNKNOWNS = 64 };

/* What acts along one rate. */
typedef struct flr_joined_law {
    double row[FLR_JOINED_UNKNOWNS]; /* rate = row . unknowns */
    double target;                   /* m/s, rad/s */
    double slope;                    /* N s/m, N m s/rad; of a stop it is filled by the solver */
    double limit;                    /* N, N m */
    int side;                        /* 0: both ways; 1, -1: a stop that pushes up or down only */
    double rate, step; /* filled by the solver: here, and along the line that is searched */
} flr_joined_law;

typedef struct flr_joined {
    uint32_t body_count, unknown_count, law_count;
    flr_vec6
        *columns; /* [body_count][FLR_JOINED_UNKNOWNS]: twist about the body's centre of mass */
    flr_joined_law *laws;
    double velocity[FLR_JOINED_UNKNOWNS]; /* the solution */
    /* working memory */
    double matrix[FLR_JOINED_UNKNOWNS][FLR_JOINED_UNKNOWNS];
    double line[FLR_JOINED_UNKNOWNS];
} flr_joined;

/* Solves. `problems` and `solutions` [body_count]. */
void flr_joined_solve(flr_joined *joined, flr_problem *const *problems, flr_solution *solutions);

/* What flr_step_solve() does, for the bodies of several steps together. `results` [joined->body_count]; their motions are
 * those of free bodies and still to be replaced. Explicit steps are made implicitly. */
void flr_steps_solve(flr_step *const *steps, flr_joined *joined, flr_step_result *results);

#endif
