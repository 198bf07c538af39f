/* feeler/dynamics.h: how a part moves: bodies, the hand that holds one, a step, passivity.
 *
 *   body       mass, inertia, pose, velocity
 *   coupling   the spring and damper between a hand and a part
 *   step       forces on a body and its motion in one step
 *   passivity  keeps energy from flowing into the hand
 */
#ifndef FEELER_DYNAMICS_H
#define FEELER_DYNAMICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/contact.h"
#include "feeler/math.h"
#include "feeler/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== body =================================================================================== */

/* A part that moves: mass, inertia, pose, velocity.
 *
 * A body is plain data: copy it to keep a state, compare it to know that two runs are the same.
 * Its motion follows Newton and Euler with the full inertia tensor; what acts on it in one step is
 * gathered in feeler/dynamics.h. Here is what a body does by itself: turn and drift.
 *
 * The turn of a free body is computed so that its angular momentum stays as it is (to rounding)
 * and its energy does not wander: over the step the angular velocity in the middle of the step is
 * taken, found by iteration.
 *
 * Every motion goes through an flr_motion, a turn about the centre of mass and a shift of it. Its
 * travel is a bound for the way of every point of the part, so that a limit on it (the travel
 * limit) holds for translation and rotation together. A body may make a fraction of a motion: the
 * rest is lost, and with it the same share of the velocity.
 *
 * Thread: any; RT safe, where nothing else is said.
 */

typedef struct flr_body {
    /* what it is */
    flr_inertia inertia; /* part's frame */
    double reach;        /* metres: no point of the part is farther from the centre of mass */
    /* how it is: world's axes, the twist about the centre of mass */
    flr_pose T_world_part;
    flr_twist twist;
} flr_body;

/* What a body is made from. Fill with flr_default_body_def() or flr_body_def_from_mesh(). */
typedef struct flr_body_def {
    flr_inertia inertia; /* part's frame; default a ball of 1 kg and 0.1 m */
    /* kg: the mass to be felt in place of the true one (1999, section 5: 12 g), the tensor in
     * proportion; 0: the true one; default 0 */
    double mass;
    double reach;          /* metres, above 0; default 0.1 */
    flr_pose T_world_part; /* default the identity */
    flr_twist twist;       /* default at rest */
} flr_body_def;

FLR_API flr_body_def flr_default_body_def(void);

/* Inertia and reach of a mesh of this density, kg/m^3; all else by default. Fails as
 * flr_mass_compute() does. Not RT safe. */
FLR_API flr_result flr_body_def_from_mesh(const flr_mesh *mesh, double density, flr_body_def *def,
                                          flr_error *error);

/* Fails with FLR_BAD_ARGUMENT when no body can be like this. Not RT safe when it fails. */
FLR_API flr_result flr_body_make(const flr_body_def *def, flr_body *body, flr_error *error);

/* Pose and twist are finite, the quaternion is unit, the inertia could be real. */
FLR_API bool flr_body_is_valid(const flr_body *body);

/* The centre of mass, world's frame, metres. */
static inline flr_vec3 flr_body_centre(const flr_body *body)
{
    return flr_pose_apply(body->T_world_part, body->inertia.centre);
}

/* About the centre of mass, world's axes, kg m^2. */
FLR_API flr_mat3 flr_body_tensor(const flr_body *body);

/* Of the body's point that is now at `point` (world's frame), m/s. */
static inline flr_vec3 flr_body_velocity(const flr_body *body, flr_vec3 point)
{
    return flr_twist_velocity(body->twist, flr_vec3_sub(point, flr_body_centre(body)));
}

/* The force part is the linear momentum, kg m/s, the torque part the angular momentum about the
 * centre of mass, kg m^2/s, world's axes. */
FLR_API flr_wrench flr_body_momentum(const flr_body *body);

/* Kinetic energy, joules. */
static inline double flr_body_energy(const flr_body *body)
{
    return flr_wrench_power(flr_body_momentum(body), body->twist) / 2;
}

/* ---- motion ---- */

/* A way of a body: the turn and the shift go on evenly and at the same time. */
typedef struct flr_motion {
    flr_vec3 turn;  /* rotation vector about the centre of mass, rad, world's axes */
    flr_vec3 shift; /* of the centre of mass, metres */
} flr_motion;

/* What the body does in `dt` seconds when nothing acts on it. */
FLR_API flr_motion flr_body_drift(const flr_body *body, double dt);

/* Metres: no point of a part with this reach goes a longer way. */
static inline double flr_motion_travel(flr_motion motion, double reach)
{
    return flr_vec3_length(motion.shift) + flr_vec3_length(motion.turn) * reach;
}

/* The largest fraction, 0 to 1, of which the travel stays within `limit` metres. 0 when something
 * is not a number or the limit is negative. */
static inline double flr_motion_fraction(flr_motion motion, double reach, double limit)
{
    const double travel = flr_motion_travel(motion, reach);
    if (!isfinite(travel) || !(limit >= 0)) return 0;
    return travel <= limit ? 1 : limit / travel;
}

/* Where the part is after this fraction of the motion. */
FLR_API flr_pose flr_motion_apply(const flr_body *body, flr_motion motion, double fraction);

/* Moves the body by a fraction, 0 to 1, of a motion. Its angular momentum stays as it is; with a
 * fraction below 1, twist and momentum shrink by it. A motion or fraction that is not finite: the
 * body stays where it is, at rest. */
FLR_API void flr_body_move(flr_body *body, flr_motion motion, double fraction);

/* ==== coupling =============================================================================== */

/* A hand holds a part by a spring and a damper.
 *
 * The handle is the user's hand in the scene: a pose and a velocity that come from a device. When
 * it grabs a body, the point of the part where it is becomes the grip. From then on a spring-damper
 * in all six directions pulls the body (McNeely et al. 1999, section 5.1): a force at the grip,
 * proportional to the distance between handle and grip, and a torque proportional to the angle of
 * the turn between them, along its axis. Both are damped by the relative velocity.
 *
 * Spring force and torque are clamped at the values of a stretch of half a voxel (1999, section
 * 5.2), so that a user cannot drag the part through what it touches; the damping is clamped at the
 * same values, by itself, so that it is there when the spring is stretched. The handle may be as
 * far ahead as it likes. In free space the clamps give way, doubling every 10 ms: a part that came
 * free goes straight to the hand, as fast as the travel limit allows, and stops there.
 *
 * By those clamps a part that catches at a corner turns in the hand, as the hand of a force device
 * would be turned. A hand that feels no torque and only pulls wants the part to keep its direction:
 * `firm`.
 *
 * A turn of more than 180 degrees keeps its direction up to 270, so that the torque does not jump
 * to the other side where a jammed part is twisted half a turn.
 *
 * The device feels the opposite wrench, clamped as a whole, but only while the part touches
 * something: in free space it is zero (1999, section 5.2). A part that slides over voxels is without
 * contact for milliseconds, many times a second; so the wrench goes only when contact stays away
 * (`hold`), and comes and goes smoothly (`fade`).
 *
 * Plain data. Thread: one at a time per coupling; RT safe, where nothing else is said.
 */

/* The hand. */
typedef struct flr_handle {
    flr_pose T_world_handle;
    flr_twist twist; /* about the handle's origin, world's axes */
} flr_handle;

/* Fill with flr_default_coupling_def(). */
typedef struct flr_coupling_def {
    double stiffness; /* N/m; default 1000, the contact's: with more, one contact cannot hold it */
    /* N m/rad; 0: the one with which turning is as quick as moving; default 0 */
    double turn_stiffness;
    double damping; /* as a share of the critical one; default 1 */
    /* metres: from this stretch on the force stays; half a voxel; default 0.5 mm */
    double stretch;
    /* rad: from this angle on the torque stays; 0: the one at which the farthest point of the part
     * has moved by `stretch`; default 0 */
    double turn;
    /* the torque stays no earlier than where it is what spring and damper together can do at the
     * part's farthest point: a part that is pulled against something off its middle keeps its direction instead of
     * turning in the hand. For hands that feel no torque, such as a mouse; default false: the
     * paper's clamp, which is gentle to a device */
    bool firm;
    double fade; /* s: how long the device's wrench takes to come and to go; default 0.01 */
    /* s: a contact that is lost for no longer than this is taken to last, for the device; a part that
     * slides over voxels hops. default 0.02 */
    double hold;
} flr_coupling_def;

FLR_API flr_coupling_def flr_default_coupling_def(void);

/* A grip. Filled by flr_coupling_grab(). */
typedef struct flr_coupling {
    /* what was decided at the grab */
    flr_pose T_part_handle;
    double stiffness, turn_stiffness; /* N/m, N m/rad */
    double damping, turn_damping;     /* N s/m, N m s/rad */
    double force_limit, torque_limit; /* N, N m: of the spring, and again of the damping */
    double fade, hold;                /* s */
    /* how it is */
    flr_vec3 turn;   /* rad, world's axes: the last angle between grip and handle */
    double feel;     /* 0 … 1: how much of the wrench the device gets */
    double away;     /* s: since the last contact; at most `hold` */
    flr_twist speed; /* of the handle relative to the grip, averaged over some milliseconds */
    double slack;    /* 1 in contact; by how much the limits have grown since */
    bool pulled; /* set by the caller: somebody else pulls the body, too, and the device feels it
                        though nothing is touched */
} flr_coupling;

/* Grabs: the handle holds the body where it is now, so that nothing jumps. The critical damping is
 * that of the body's mass and of its largest moment about the grip. Fails with FLR_BAD_ARGUMENT
 * when a number of `def` is out of range or a pose makes no sense. Not RT safe when it fails. */
FLR_API flr_result flr_coupling_grab(const flr_coupling_def *def, const flr_body *body,
                                     const flr_handle *handle, flr_coupling *coupling,
                                     flr_error *error);

/* How far handle and grip are apart. */
typedef struct flr_stretch {
    flr_vec3 turn;   /* rad, from the grip to the handle, world's axes */
    flr_vec3 shift;  /* metres, likewise */
    flr_twist speed; /* of the handle relative to the grip; about the grip */
    flr_vec3 arm;    /* metres: from the body's centre of mass to the grip, world's axes */
} flr_stretch;

/* False, and nothing else, when the handle or the body is not finite. Keeps the angle in the
 * coupling. */
FLR_API bool flr_coupling_stretch(flr_coupling *coupling, const flr_body *body,
                                  const flr_handle *handle, flr_stretch *stretch);

/* The clamped wrench on the body at this stretch, about its centre of mass, world's axes. */
FLR_API flr_wrench flr_coupling_wrench(const flr_coupling *coupling, const flr_stretch *stretch);

/* What the device feels, and what the clamps are in the next step: call it once a step, after the
 * body has moved, also where nobody feels it. Returns the wrench for the device, about the handle's
 * origin, world's axes: the opposite of what pulls the body as both are now; zero while nothing is
 * touched. `dt` in seconds; what is not finite gives zero. */
FLR_API flr_wrench flr_coupling_feel(flr_coupling *coupling, const flr_body *body,
                                     const flr_handle *handle, bool touching, double dt);

/* ==== step =================================================================================== */

/* One step of a body: what acts on it, and where it goes.
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

typedef enum flr_integrator {
    FLR_INTEGRATOR_IMPLICIT,
    FLR_INTEGRATOR_EXPLICIT,
    FLR_INTEGRATOR_QUASI_STATIC,
    FLR_INTEGRATOR_COUNT
} flr_integrator;

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
    /* where the other part is a body, too, and gives way: its share, 0 … below 1, of what both yield
     * to a push. `other` is then the velocity of both after an impact without rebound. default 0:
     * the other part goes its way whatever pushes it */
    double other_share;
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

/* `body` and `params` are copied. */
FLR_API void flr_step_begin(flr_step *step, const flr_body *body, const flr_step_params *params);

/* Copies what it needs. Where a query found more contacts than it listed, those listed stand for
 * the rest. Beyond `full` contacts the stiffness of each shrinks as in the paper. */
FLR_API void flr_step_touch(flr_step *step, const flr_touches *touches);

/* One contact of which the distance is known, with a law of its own: it pushes by stiffness times
 * depth, and gets no deeper than `limit` by the end of the step. A gap is a depth below zero: such a
 * contact pushes when the step would close it. World's frame. */
typedef struct flr_press {
    flr_vec3 point;     /* metres */
    flr_vec3 normal;    /* unit: where it pushes the body */
    flr_vec3 other;     /* m/s: velocity of the other part there */
    double depth;       /* metres below where force begins, at the beginning of the step */
    double limit;       /* metres: how deep it may be at its end; INFINITY: no limit */
    double stiffness;   /* N/m; 0: it pushes only at its limit */
    double friction;    /* coefficient */
    double other_share; /* as in flr_touches; default 0 */
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

/* Directions in which the body does not move in this step, and about which it does not turn, world's
 * axes: bits of FLR_LOCK_X and so on. What pushes it there is borne. Velocity that it has there is
 * lost. Before flr_step_solve(). */
enum {
    FLR_LOCK_TURN_X = 1,
    FLR_LOCK_TURN_Y = 2,
    FLR_LOCK_TURN_Z = 4,
    FLR_LOCK_X = 8,
    FLR_LOCK_Y = 16,
    FLR_LOCK_Z = 32,
    FLR_LOCK_ALL = 63
};
FLR_API void flr_step_lock(flr_step *step, unsigned locks);

/* About the body's centre of mass, world's axes. */
FLR_API void flr_step_push(flr_step *step, flr_wrench wrench);

FLR_API void flr_step_solve(flr_step *step, flr_step_result *result);

/* Gives the body its new twist and moves it by `fraction`, 0 to 1, of the motion. */
FLR_API void flr_step_move(const flr_step_result *result, double fraction, flr_body *body);

/* ==== local models =========================================================================== */

/* What a hand feels while a step takes longer than the period of its device.
 *
 * After each step a model holds the planes that the part touched, with their stiffness, and the spring between hand and part. Between
 * two steps it gives the wrench at any pose of the hand: as the last step gave it where the hand was then, more where it
 * presses on, none where it leaves. Pass the wrench through a passivity controller of its own, at the device's rate.
 *
 *     flr_world_local(world, hand, &model);                      after each step
 *     wrench = flr_local_wrench(&model, T_world_handle);         every millisecond
 */

enum { FLR_LOCAL_PLANES = 8 };

/* Something that a part touches. World's frame. */
typedef struct flr_local_plane {
    flr_vec3 point;   /* metres */
    flr_vec3 normal;  /* unit: this way it pushes the part */
    double depth;     /* metres, of the part in it, at the step */
    double stiffness; /* N/m */
} flr_local_plane;

/* Plain data. Fill with flr_local_begin() and flr_local_add(). */
typedef struct flr_local_model {
    flr_pose T_world_handle, T_world_grip; /* at the step */
    double stiffness, turn_stiffness;      /* N/m, N m/rad: of the coupling; no turn: 0 */
    double force_limit, torque_limit;      /* N, N m */
    double feel;                           /* 0 ... 1: share of the wrench that is felt */
    double reach;                          /* metres: how far the part extends from its centre */
    flr_wrench wrench;                     /* that the step gave, before passivity */
    uint32_t count;
    flr_local_plane planes[FLR_LOCAL_PLANES];
    bool set; /* false: there is none, and no wrench */
} flr_local_model;

/* A model without planes; `wrench` is what flr_coupling_feel() gave. RT safe, as all of these. */
FLR_API void flr_local_begin(flr_local_model *model, const flr_coupling *coupling,
                             const flr_body *body, flr_pose T_world_handle, flr_wrench wrench);
/* Adds a contact. Contacts that are alike, and those beyond FLR_LOCAL_PLANES, become one plane that is as stiff as they are. */
FLR_API void flr_local_add(flr_local_model *model, flr_local_plane contact);
/* The wrench on the hand at a pose, about its origin, world's axes. Zero where nothing is finite. */
FLR_API flr_wrench flr_local_wrench(const flr_local_model *model, flr_pose T_world_handle);

/* ==== passivity ============================================================================== */

/* The simulation must not feed energy into the hand.
 *
 * A sampled spring gives back more energy than it took: this is what makes a force device buzz.
 * The observer counts what goes through the device's port: a wrench that was held over an interval
 * gives exactly its product with the way that the device made meanwhile. The controller damps the
 * device by as much as it takes to get the surplus back (Hannaford and Ryu's time-domain
 * passivity), as long as the surplus lasts.
 *
 *     account > 0   the hand has put in more than it got back: springs may return it
 *     account < 0   the simulation has made energy: damping is on
 *
 * What was put in is remembered up to `store` only, so that work done against friction an hour ago
 * does not excuse a vibration now.
 *
 * The bound: over any stretch of time that ends now, no more comes out than went in by more than
 * `bound`: account >= -bound, always. Damping alone cannot promise that, as it works only on a
 * device that moves. So the wrench is scaled down where what it may give before it could be taken
 * back would not be covered: W.way, if the device goes on as it did, and |W| agility dt^2 (force and torque by themselves), if it
 * changes its velocity as fast as a hand can; both until the guard, which lets a wrench change only
 * so fast, has brought it to zero. The promise holds for a device whose acceleration, as it is
 * sampled, keeps to `agility`; flr_passivity.agility tells the most that was
 * seen. `deficit` says how
 * much came out in fact.
 *
 * Plain data. Thread: one at a time; RT safe.
 */

enum { FLR_PASSIVITY_LATE = 16 }; /* samples by which a pose may be late: below this */

/* Fill with flr_default_passivity_params(). */
typedef struct flr_passivity_params {
    bool control;   /* false: observe only; default true */
    double store;   /* joules remembered; default 0.05 */
    double damping; /* N s/m: the most the controller adds; a device bears some; default 5 */
    double radius;  /* metres: a turn by 1 rad counts as a way of this length; default 0.05 */
    double bound;   /* joules: see above; INFINITY: none; default 0.01 */
    double agility, turn_agility; /* m/s^2, rad/s^2: of hand and device; default 50 and 4000 */
    /* s: by which the device's poses are older than the moment at which they are passed: each way is
     * counted with the wrench of its own time, and what is on its way is covered, too. A delay that
     * is not stated here is energy that goes unnoticed. default 0; up to 15 samples */
    double delay;
    double slew, turn_slew; /* N, N m: by which a guard lets a wrench change in a sample; default 1
                               and 0.01 */
} flr_passivity_params;

FLR_API flr_passivity_params flr_default_passivity_params(void);

/* Zero it to begin, and after every gap in the device's data. */
typedef struct flr_passivity {
    double account;               /* joules, at most `store` */
    double deficit;               /* joules: the most by which the account was ever below zero */
    double put, got;              /* joules, in all: by the hand, and back to it */
    double damping;               /* N s/m, at present */
    double gain;                  /* 0 … 1: what the bound leaves of the wrench, at present */
    double agility, turn_agility; /* m/s^2, rad/s^2: the largest that were seen */
    /* on the device since the last call, [held_count % FLR_PASSIVITY_LATE], and before that */
    flr_wrench held[FLR_PASSIVITY_LATE];
    uint32_t held_count;
    flr_pose T_world_handle;
    flr_motion way; /* from the call before to the last */
    bool begun;
} flr_passivity;

/* The wrench to send: `wrench` (on the device, about the handle's origin, world's axes) plus
 * damping, as far as the bound allows. Call it once per sample, with the pose of the device at this moment and the seconds
 * until the next; what it returns is taken to act until then. When the device was sent something
 * else (a guard clamped it), say so by flr_passivity_sent(). What is not finite gives zero and
 * begins anew. */
FLR_API flr_wrench flr_passivity_pass(flr_passivity *passivity, const flr_passivity_params *params,
                                      flr_pose T_world_handle, flr_wrench wrench, double dt);

/* What the device really got after the last flr_passivity_pass(). */
FLR_API void flr_passivity_sent(flr_passivity *passivity, flr_wrench wrench);

#ifdef __cplusplus
}
#endif
#endif
