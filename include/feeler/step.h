/* feeler/step.h: one step of a body: what acts on it, and where it goes.
 *
 * Once a frame, for every body:
 *
 *     flr_step_begin(step, &body, &params);
 *     flr_step_touch(step, &touches);             what each contact query found
 *     flr_step_pull(step, &coupling, &handle);    every hand that holds it
 *     flr_step_push(step, wrench);                anything else
 *     flr_step_solve(step, &result);
 *     fraction = result.fraction;                 or less, when the way is not free
 *     flr_step_move(&result, fraction, &body);
 *     wrench = flr_coupling_feel(&coupling, &body, &handle, result.touching > 0, dt);
 *
 * Three integrators, to choose from:
 *
 *     implicit      contact, coupling and friction as they will be at the end of the step. The
 *                   velocity is the least point of a convex function of six numbers, found by
 *                   Newton's method with an exact line search: stiffness, mass and rate have no
 *                   stability limit. Contacts only push. Beyond `limit` a contact gets no deeper
 *                   whatever pushes the part and with whatever leverage, so that a part forced into
 *                   a narrow wedge stops and is quiet.
 *     explicit      forces as they are at the beginning (1999, section 5), velocity before
 *                   position. Stiffness is bounded by mass and rate; `bounded` scales the contact
 *                   wrench down in just those directions in which it is too stiff.
 *     quasi-static  no inertia: each step goes to where spring and contacts balance.
 *
 * Braking (1999, section 5.3, here for turns too): the points in the layer before the contact that
 * approach it are slowed by one impulse, which takes the kinetic energy of the motion towards the
 * contact out of the body within the step; but for what one contact can stop before its `limit`.
 *
 * The same input gives the same bits: sums run in the order in which things were added.
 *
 * Nothing that is not a number gets into a body: it is left out and reported as a fault.
 *
 * Thread: one at a time per step object; RT safe, where nothing else is said.
 */
#ifndef FEELER_STEP_H
#define FEELER_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/body.h"
#include "feeler/contact.h"
#include "feeler/coupling.h"
#include "feeler/inertia.h"
#include "feeler/math.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum flr_integrator {
    FLR_INTEGRATOR_IMPLICIT,
    FLR_INTEGRATOR_EXPLICIT,
    FLR_INTEGRATOR_QUASI_STATIC,
    FLR_INTEGRATOR_COUNT
} flr_integrator;

/* "implicit", "explicit", "quasi-static". Never NULL. */
FLR_API const char *flr_integrator_name(flr_integrator integrator);

/* Fill with flr_default_step_params(). All of it may change from step to step. */
typedef struct flr_step_params {
    flr_integrator integrator; /* default implicit */
    double dt;                 /* s, above 0; default 0.001 */
    flr_vec3 gravity;          /* m/s^2, world's axes; default none */
    double damping;            /* of contacts, as a share of the critical one; default 0.3 */
    double braking;            /* 0 off … 1 all of it, see above; default 1 */
    bool bounded;  /* explicit: contact stiffness bounded in every direction; default true */
    double travel; /* metres that any point may go in the step; default INFINITY */
} flr_step_params;

FLR_API flr_step_params flr_default_step_params(void);

/* What went wrong in a step; the step is taken all the same, without it. */
enum {
    FLR_STEP_FAULT_BODY = 1,    /* the body is not valid: it stays where it is, at rest */
    FLR_STEP_FAULT_TOUCH = 2,   /* a contact or what came with it is not finite or out of range */
    FLR_STEP_FAULT_HANDLE = 4,  /* a handle or its coupling is not finite */
    FLR_STEP_FAULT_PUSH = 8,    /* a wrench is not finite */
    FLR_STEP_FAULT_PARAMS = 16, /* a parameter is out of range: the body stays, at rest */
    FLR_STEP_FAULT_FULL = 32,   /* more contacts or handles than there is room for */
    FLR_STEP_FAULT_SOLVE = 64   /* the solver ran out of iterations: the best so far is taken */
};

/* What a contact query found, as it acts on the body. */
typedef struct flr_touches {
    const flr_contact *list; /* result->listed of them; NULL when that is 0 */
    /* [listed] from flr_wall_normals(): contacts push along these; NULL: along their own normals,
     * as in the paper */
    const flr_vec3 *walls;
    const flr_contact_result *result; /* of the query */
    const flr_contact_params *asked;  /* `stiffness` and `full` are taken from here */
    /* the body is the voxmap's part, not the shell's: all forces are the other way round */
    bool reversed;
    flr_vec3 centre; /* world's frame: the point about which the result's torque is */
    flr_twist other; /* of the other part, world's axes, about `centre`; at rest: zero */
    /* metres: a contact does not get deeper than this (implicit and quasi-static); half a voxel
     * keeps exact surfaces apart with force layer 2; INFINITY: no limit */
    double limit;
    double friction; /* coefficient, 0: none */
} flr_touches;

/* Which way the wall looks that each contact touches. The normal of a point on a corner or an edge
 * is a mean of the faces around it: a corner that is pressed against a plane along it slides away
 * and sinks in meanwhile. Here such points get the direction in which the distance to the surface
 * grows in the voxmap; points of faces keep their own. Unit, world's axes, as the contact's normal
 * the direction of a force on the shell's part. `walls` has room for `count`. */
FLR_API void flr_wall_normals(const flr_voxmap *voxmap, flr_pose T_world_voxmap,
                              const flr_contact *contacts, uint32_t count, flr_vec3 *walls);

/* What came out. Plain data. */
typedef struct flr_step_result {
    flr_twist twist;     /* at the end of the step, about the centre of mass, world's axes */
    flr_motion motion;   /* of the step as a whole */
    double fraction;     /* of the motion that the travel limit allows */
    flr_wrench contact;  /* on the body, about its centre of mass: contacts and friction */
    flr_wrench pull;     /* of all handles together, likewise */
    double deepest;      /* metres: of the contacts, at the beginning of the step */
    double braked;       /* joules that braking took */
    uint32_t touching;   /* contacts of all queries together */
    uint32_t iterations; /* of the solver */
    unsigned faults;     /* FLR_FAULT_… */
} flr_step_result;

typedef struct flr_step flr_step;

enum { FLR_STEP_PULLS = 16 }; /* handles that may hold one body */

/* Room for `capacity` contacts in one step (2048 does for two queries with full lists). Fails with
 * FLR_NO_MEMORY, FLR_TOO_LARGE above 2^20. Not RT safe. */
FLR_API flr_result flr_step_create(uint32_t capacity, flr_step **step, flr_error *error);
FLR_API void flr_step_destroy(flr_step *step); /* NULL allowed */
FLR_API size_t flr_step_bytes(const flr_step *step);

/* `body` and `params` are copied. */
FLR_API void flr_step_begin(flr_step *step, const flr_body *body, const flr_step_params *params);

/* Copies what it needs. Where a query found more contacts than it listed, those listed stand for
 * the rest. Beyond `full` contacts the stiffness of each shrinks as in the paper. */
FLR_API void flr_step_touch(flr_step *step, const flr_touches *touches);

/* One contact of which the distance is known, with a law of its own: it pushes by stiffness times
 * depth, and gets no deeper than `limit` by the end of the step. A gap is a depth below zero: such a
 * contact pushes when the step would close it. World's frame. */
typedef struct flr_press {
    flr_vec3 point;   /* metres */
    flr_vec3 normal;  /* unit: where it pushes the body */
    flr_vec3 other;   /* m/s: velocity of the other part there */
    double depth;     /* metres below where force begins, at the beginning of the step */
    double limit;     /* metres: how deep it may be at its end; INFINITY: no limit */
    double stiffness; /* N/m; 0: it pushes only at its limit */
    double friction;  /* coefficient */
} flr_press;

/* Adds contacts (implicit and quasi-static). More of them may be added after flr_step_solve(); the
 * next one then starts from the solution before. Friction goes by the pushes that come out with it. */
FLR_API void flr_step_press(flr_step *step, const flr_press *list, uint32_t count);

/* How many were taken since flr_step_begin(), and the push, N, of each of them at the end of the step.
 * After flr_step_solve(). */
FLR_API uint32_t flr_step_pressed(const flr_step *step);
FLR_API double flr_step_push_at(const flr_step *step, uint32_t index);

/* A hand that holds the body. Keeps the angle in the coupling. */
FLR_API void flr_step_pull(flr_step *step, flr_coupling *coupling, const flr_handle *handle);

/* About the body's centre of mass, world's axes. */
FLR_API void flr_step_push(flr_step *step, flr_wrench wrench);

FLR_API void flr_step_solve(flr_step *step, flr_step_result *result);

/* Gives the body its new twist and moves it by `fraction`, 0 to 1, of the motion. */
FLR_API void flr_step_move(const flr_step_result *result, double fraction, flr_body *body);

#ifdef __cplusplus
}
#endif
#endif
