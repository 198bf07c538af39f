/* feeler/world.h: all parts and the hands that hold them, stepped together once per millisecond.
 *
 *     flr_part_open(env, "socket.stl", NULL, &socket, &error);      voxels, points and mass
 *     flr_part_open(env, "ball.stl", NULL, &ball, &error);
 *     flr_world_part parts[] = {flr_part_in_world(socket, FLR_PART_STATIC, T_socket),
 *                               flr_part_in_world(ball, FLR_PART_MOVABLE, T_ball)};
 *     flr_world_def def = flr_default_world_def();
 *     def.parts = parts, def.part_count = 2;
 *     flr_world_create(&def, &world, &error);
 *     flr_world_grab(world, 0, 1);                    hand 0 grabs part 1
 *     every millisecond:
 *         input.T_world_hand = …                      the pose of the device
 *         flr_world_step(world, &input, &frame);
 *         flr_world_wrench(world, 0)                  the wrench for the device
 *
 * docs/hello.md is a complete program. A step queries every pair of parts that may touch
 * (feeler/pairs.h), integrates every body under contact, hands and gravity (feeler/dynamics.h), checks
 * long motions for collisions on the way (flr_contact_check_motion) and moves the bodies. Then it
 * computes the wrench of each hand, through the passivity controller.
 *
 * The same parts, parameters and inputs give the same bits in every frame; flr_world_frame.hash
 * covers the history up to that frame. Saving or restoring the whole state takes a few microseconds.
 *
 * There is a second engine (FLR_ENGINE_SPHERES): voxels against voxels (feeler/spheres.h), and
 * impulses (feeler/spheres.h) in place of forces. Hands, gravity, state and hash are the same. All
 * pairs are resolved together, both bodies of a pair move, and momentum stays. It does not know how
 * far parts are from each other that do not touch. docs/spheres.md tells which to choose when.
 *
 * The third (FLR_ENGINE_EXACT) takes distances from the triangles themselves (feeler/fit.h), so that
 * tight fits can be felt: it needs no voxels, and lengths such as the onset are metres, not
 * layers. Both bodies of a pair move. What is in each other at the start is recorded and tolerated
 * (flr_world_overlaps). docs/fits.md tells what is guaranteed.
 *
 * A part is *static*, *movable* or *free*. A movable part moves only in a hand and floats where the
 * hand releases it. A free part also falls, rolls and is pushed.
 *
 * A hand grabs parts, or its tool is a point (flr_world_set_tool). A point holds nothing; it touches
 * the exact triangles of all parts that have a probe model, through a proxy that stays outside
 * (feeler/probe.h), with friction and force shading. A moving part that it touches gets the opposite
 * force and carries the point along.
 *
 * A part that somebody holds in another world has an *instance* in each: a remote coupling (flr_world_set_remote_coupling)
 * pulls the one here to the one there by a spring and a damper in all six directions, and keeps
 * energy from coming out of the delay between the two.
 *
 * With the shell engine and the exact one, two bodies that touch each other are stepped one beside the
 * other, each against the velocity that both would have after an impact without rebound, so that
 * their momentum stays (flr_touches.other_share).
 *
 * Thread: one at a time per world; see each function for what is RT safe.
 */
#ifndef FEELER_WORLD_H
#define FEELER_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/contact.h"
#include "feeler/dynamics.h"
#include "feeler/fit.h"
#include "feeler/joint.h"
#include "feeler/pairs.h"
#include "feeler/probe.h"
#include "feeler/spheres.h"
#include "feeler/voxels.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLR_WORLD_HANDS = 8, FLR_WORLD_PARTS = 8192, FLR_WORLD_REMOTE_COUPLINGS = 64 };
#define FLR_NO_PART UINT32_MAX

typedef enum flr_part_kind {
    FLR_PART_STATIC,  /* never moves */
    FLR_PART_MOVABLE, /* moves while a hand holds it */
    FLR_PART_FREE     /* moves by itself, too */
} flr_part_kind;

/* How contact is found and answered. */
typedef enum flr_world_engine {
    FLR_ENGINE_SHELL,   /* points of one part in the voxels of another; forces */
    FLR_ENGINE_SPHERES, /* sphere trees of both; impulses */
    FLR_ENGINE_EXACT,   /* samples of both against the triangles of the other; forces */
    /* as shell, but by temporal coherence: points that are far wait in queues, and a travel limit
     * keeps the tests of a frame near `tests` (2005, sections 5 to 5.2). Counts where the world was
     * made with it */
    FLR_ENGINE_COHERENT
} flr_world_engine;

typedef struct flr_world_part {
    flr_pairs_shape shape; /* shell and table are borrowed as long as the world lives */
    /* for the engine of sphere trees, borrowed likewise; the shape is then used to find out who is
     * near whom. NULL, the default: it touches nothing with that engine */
    const flr_sphere_tree *tree;
    /* for the exact engine, borrowed likewise. NULL, the default: it touches nothing with that engine */
    const flr_fit *fit;
    flr_part_kind kind; /* default static */
    /* where it is; for what moves also its mass. Default flr_default_body_def() */
    flr_body_def body;
} flr_world_part;

FLR_API flr_world_part flr_default_world_part(void);

/* ---- from a mesh to a part that can be touched, in one call; not RT safe ---- */

/* Voxels, surface points, contact table and mass of one mesh. Immutable: any number of worlds and
 * threads may share it. */
typedef struct flr_part flr_part;

/* Fill with flr_default_part_def(). */
typedef struct flr_part_def {
    flr_voxelize_def voxelize; /* default as in feeler/voxels.h, with voxels of 1 mm */
    double density;            /* kg/m^3; default 1000 */
} flr_part_def;

FLR_API flr_part_def flr_default_part_def(void);

/* Builds a part from a mesh, which is borrowed during the call only. `def` NULL: defaults. Fails as
 * flr_voxelize() and flr_body_def_from_mesh() do. On success the caller owns `*part`. Thread: any. */
FLR_API flr_result flr_part_create(flr_env *env, const flr_mesh *mesh, const flr_part_def *def,
                                   flr_part **part, flr_error *error);

/* The same from a mesh file of any format, in its default unit (flr_mesh_open()). */
FLR_API flr_result flr_part_open(flr_env *env, const char *path, const flr_part_def *def,
                                 flr_part **part, flr_error *error);
FLR_API void flr_part_destroy(flr_part *part); /* NULL allowed; after all worlds that use it */

/* The part as an entry of flr_world_def.parts. The result borrows from `part`. */
FLR_API flr_world_part flr_part_in_world(const flr_part *part, flr_part_kind kind,
                                         flr_pose T_world_part);

/* Of the exact engine. Fill with flr_default_tight_params(). */
typedef struct flr_tight_params {
    /* metres: force begins this far before surfaces meet, and keeps them apart; default 5e-6. 0: only
     * what keeps surfaces a micrometre apart is left */
    double onset;
    /* N/m: of all contacts of a pair together, whatever the number of samples; default 0: the one with
     * which the coupling's largest force presses halfway into the onset */
    double stiffness;
    double force, torque; /* N, N m: what the device can give; default 10 and 0.5 */
    /* share of those with which a hand pulls at most; the one number to turn; default 1 */
    double strength;
    /* N/m: what a wall feels like: the coupling's stiffness, whatever the voxels; default 2000; 0: that
     * of `coupling` */
    double wall;
    /* metres: parts that are in each other when they are put somewhere may stay so, and be moved out,
     * up to this depth; default 2e-3 */
    double overlap;
    double range; /* metres: distances of pairs are known up to here; default 1e-3 */
    /* units of about 10 ns that distances and checks may take in a step, for each millisecond of it or
     * part of one; 0: as many as it takes; default 2000000. A part goes only as far as was checked; a pair
     * for which the budget did not suffice gets twice as much in the next step, and so on */
    uint64_t budget;
} flr_tight_params;

FLR_API flr_tight_params flr_default_tight_params(void);

/* Parameters of the simulation, which may change between steps. Fill with flr_default_world_params(). */
typedef struct flr_world_params {
    flr_contact_params contact; /* centre and motion are not read */
    flr_step_params step;       /* dt is the world's and not read */
    /* stretch 0 (the default here): half a voxel of what it may touch. Read when a hand takes a
     * part */
    flr_coupling_def coupling;
    flr_passivity_params passivity;
    double friction; /* coefficient, between all parts; default 0 */
    /* default shell. With spheres, of `contact`, `depth` and `unchecked` nothing is read, nor are
     * damping, braking and the integrator's contact; a part near another goes a voxel in a frame at
     * most (half of one where both move), and keeps its velocity */
    flr_world_engine engine;
    double restitution; /* spheres: 0 … 1; default 0 */
    double tests; /* coherent: point tests that a frame has time for; default 20000; 2005: 2000 */
    /* voxels: a contact gets no deeper than this (implicit and quasi-static); default 0.1: with force
     * layer 2 that is before the way is checked, an eighth of a voxel below the plane where force
     * begins; 0.5 at least with force layers below 2 */
    double depth;
    /* voxels: nothing stops a body before its fastest point has gone so far in a frame; default 0:
     * no point comes into layer 1 that was not there before, whatever the hand does. 0.5: only fast
     * motion is checked, which is the least with a force layer below 2; INFINITY: none */
    double unchecked;
    /* lookups that checking may take in a step, for each millisecond of it; those that are made many
     * at a time count an eighth; 0: as many as it takes; default 25000. A body whose way cannot be
     * checked any more goes half a voxel at most, which contact alone keeps safe.
     * Spheres: tests of a step; what is found when they are spent are cubes, which stop parts too */
    uint64_t budget;
    /* of hands whose tool is a point; defaults as in feeler/probe.h, but with shading */
    flr_proxy_params proxy;
    /* of the exact engine, which reads of all else only step, coupling, passivity, friction and proxy */
    flr_tight_params exact;
} flr_world_params;

FLR_API flr_world_params flr_default_world_params(void);

/* kg: the mass that a part should have for the exact engine when it is held (flr_body_def.mass): with
 * it the coupling's largest force gives 20 m/s^2, and the coupling is stable. Thread: any. RT safe. */
FLR_API double flr_world_felt_mass(const flr_world_params *params);

typedef struct flr_world_def {
    const flr_world_part *parts; /* [part_count]; copied */
    uint32_t part_count;         /* up to FLR_WORLD_PARTS */
    /* [part_count]: parts with the same number are rigid: they move as one body, with their inertia together,
     * and do not touch each other. FLR_NO_PART: it moves by itself. NULL (the default): all do. Not for the sphere
     * engine, as joints; copied */
    const uint32_t *groups;
    const flr_joint *
        joints; /* [joint_count]; copied. A part that joints fix to what is static is static, too */
    uint32_t joint_count;
    uint32_t hand_count; /* up to FLR_WORLD_HANDS; default 1 */
    double dt;           /* s, 1e-5 … 0.1; default 0.001 */
    flr_world_params params;
    uint32_t contacts; /* of a pair that are known one by one; default 256 */
    flr_simd simd;     /* default best */
    unsigned threads;  /* that share a contact query; see flr_contact_pair_def; default 1 */
} flr_world_def;

FLR_API flr_world_def flr_default_world_def(void);

typedef struct flr_world flr_world;

/* Fails with FLR_BAD_ARGUMENT (a number out of range, a body that cannot be: the sentence names the
 * part), FLR_NO_MEMORY, FLR_UNSUPPORTED. On success the caller owns `*world`. Not RT safe. */
FLR_API flr_result flr_world_create(const flr_world_def *def, flr_world **world, flr_error *error);
FLR_API void flr_world_destroy(flr_world *world); /* NULL allowed; not RT safe */

/* ---- between steps; RT safe ---- */

FLR_API void flr_world_set_params(flr_world *world, const flr_world_params *params);
FLR_API const flr_world_params *flr_world_get_params(const flr_world *world);

/* Coherent: measures how many point tests this processor makes in `seconds`, the longest that contact
 * should take in a step, and sets them as `tests`. Returns them; 0 with another engine. Not RT safe. */
FLR_API double flr_world_calibrate(flr_world *world, flr_env *env, double seconds);

/* Static parts as one voxmap, see flr_pairs_set_merged(). Not taken, and false, where parts have
 * sphere trees or are queried by temporal coherence: these are asked one by one. */
FLR_API bool flr_world_set_merged(flr_world *world, const flr_pairs_merged *merged);

/* Grabs a part at the hand's pose of the last step (or of the first input to come). False:
 * the part is static, the hand's tool is a point, or there is no such hand or part. A hand that holds another lets go of it
 * first. Up to FLR_STEP_PULLS hands may hold one part. Of a rigid group, the hand holds the part with the lowest index. */
FLR_API bool flr_world_grab(flr_world *world, uint32_t hand, uint32_t part);
/* The same with the hand at a pose, at rest: it takes the part there. False also where it is no pose. */
FLR_API bool flr_world_grab_at(flr_world *world, uint32_t hand, uint32_t part,
                               flr_pose T_world_hand);
FLR_API void flr_world_release(flr_world *world, uint32_t hand);
/* The part that it holds or is about to hold; FLR_NO_PART: none. */
FLR_API uint32_t flr_world_held(const flr_world *world, uint32_t hand);

typedef enum flr_tool {
    FLR_TOOL_GRIP, /* takes parts; the default */
    FLR_TOOL_POINT /* touches them with a point */
} flr_tool;

/* A hand that keeps the direction of what it takes (`firm` in feeler/dynamics.h), as one should
 * whose device gives no torque; default false, then params.coupling decides. Counts from the next
 * grab on. False: no such hand. RT safe. */
FLR_API bool flr_world_set_firm(flr_world *world, uint32_t hand, bool firm);

/* Gives the hand another tool and releases what it holds. A point begins where the hand is in the next
 * step. False: no such hand or tool. */
FLR_API bool flr_world_set_tool(flr_world *world, uint32_t hand, flr_tool tool);
FLR_API flr_tool flr_world_tool(const flr_world *world, uint32_t hand);

/* What a point feels of a part: `model` is of its mesh, in its frame, and borrowed as long as the
 * world lives or until another is set; NULL (the default): points pass through the part. False: no
 * such part. */
FLR_API bool flr_world_set_probe(flr_world *world, uint32_t part, const flr_probe_model *model);

/* Where on the part the hand holds it. False: it holds nothing yet. */
FLR_API bool flr_world_grip(const flr_world *world, uint32_t hand, flr_pose *T_part_hand);

/* Places a part at rest; hands that hold it grab it again there. False: no such part, or it
 * is static, or the pose makes no sense. */
FLR_API bool flr_world_place(flr_world *world, uint32_t part, flr_pose T_world_part);

/* ---- remote couplings; RT safe ---- */

/* What pulls a part to its instance in another world (McNeely et al. 2005, section 6.1, figure 8).
 * Fill with flr_default_remote_coupling_def(). */
typedef struct flr_remote_coupling_def {
    uint32_t part;    /* of this world; not static */
    double stiffness; /* N/m without delay; default 0: that of params.coupling */
    double damping;   /* as a share of the critical one; default 1 */
    /* The other world has a remote coupling to this instance, too: somebody holds the part here and somebody
     * there. What comes back is counted then, see flr_remote_coupling_input. default false: the other
     * instance goes its way whatever this one does, as a hand */
    bool mutual;
    /* Released but not released: the part was let go elsewhere, and this is where it shall lie. Near
     * enough to it, slow, and with a free way, it is put there exactly, and stays. No inputs are
     * needed. default false */
    bool rest;
    flr_pose T_world_rest;
} flr_remote_coupling_def;

FLR_API flr_remote_coupling_def flr_default_remote_coupling_def(void);

/* Couples a part; NULL uncouples it. `remote coupling` 0 … FLR_WORLD_REMOTE_COUPLINGS - 1 is the caller's choice. A
 * movable part that is coupled moves though no hand holds it, and stays where it is when the last remote coupling
 * and the last hand let go. Nothing jumps: a remote coupling begins with the first input, and one that is set
 * again for the same part goes on as it was. Several remote couplings and hands may pull one part, FLR_STEP_PULLS
 * of them. False, and nothing is changed: no such remote coupling or part, a static part, numbers that make no
 * sense. */
FLR_API bool flr_world_set_remote_coupling(flr_world *world, uint32_t coupling,
                                           const flr_remote_coupling_def *def);

/* Where the other instance is, for the steps to come. */
typedef struct flr_remote_coupling_input {
    flr_pose T_world_part; /* of the other instance */
    flr_twist twist;       /* its own, about its centre of mass, world's axes */
    /* s: how old what is known of it is, not below 0; the stiffness of a mutual remote coupling falls with it, in
     * proportion, to a twentieth at 1 s and more */
    double delay;
    /* mutual remote couplings: flr_remote_coupling.put of the other side, as last heard; it never falls */
    double put;
} flr_remote_coupling_input;

/* Before the next step. A remote coupling for which nothing comes takes the other instance to stand still where
 * it was. False: no such remote coupling, or numbers that make no sense; it goes on as if nothing had come. */
FLR_API bool flr_remote_coupling_follow(flr_world *world, uint32_t coupling,
                                        const flr_remote_coupling_input *input);

/* The state of a remote coupling. Plain data; world's frame. */
typedef struct flr_remote_coupling {
    uint32_t part;
    flr_vec3 shift,
        turn;          /* metres, rad: from the instance here to the other, at the centre of mass */
    double stretch;    /* metres: no point of the part is farther from its place there */
    flr_wrench wrench; /* on the body, about its centre of mass, in the last step */
    double stiffness;  /* N/m, at this delay */
    /* joules since the remote coupling was set: what the body here gave to the remote coupling, what it got from it; what the
     * damping below took. The other side receives `put` */
    double put, got, taken;
    double account; /* joules that the remote coupling may still give */
    double damping; /* N s/m: on the body, against the world, at present; 0: there is no surplus */
    double gain;    /* 0 … 1: what is left of the wrench, at present; 1: there is no surplus */
    bool begun;     /* there was an input, or it has a rest */
    /* the part here touches something and has been two voxels or more from its instance for half a
     * second: something is caught between the two. Ends when it is within one voxel */
    bool diverged;
    bool settled; /* a rest: the part lies exactly there */
} flr_remote_coupling;

/* NULL: no such remote coupling, or it is not set. Valid until the next call that changes the world. */
FLR_API const flr_remote_coupling *flr_world_get_remote_coupling(const flr_world *world,
                                                                 uint32_t coupling);

/* Physics of a part on (the default) or off: then it touches nothing, nothing touches it, and remote couplings
 * and hands take it wherever they go. False: no such part. */
FLR_API bool flr_world_set_solid(flr_world *world, uint32_t part, bool solid);
FLR_API bool flr_world_is_solid(const flr_world *world, uint32_t part);

/* What else acts on a part, besides contact, hands and gravity (McNeely et al. 2005, sections 2.1 and
 * 6.1). Fill with flr_default_world_constraint(). */
typedef struct flr_world_constraint {
    /* FLR_LOCK_X and so on (feeler/dynamics.h), world's axes; default none. The sphere engine finds its
     * impulses without them and drops what they give in locked directions */
    unsigned locks;
    flr_wrench wrench; /* N, N m: constant, world's axes, about the centre of mass; default none */
    /* a spring to the world: N/m, N m/rad; 0 (the default): none. Damping as a share of the critical one;
     * default 1. It rests where the part is at T_world_rest */
    double stiffness, turn_stiffness, damping;
    flr_pose T_world_rest; /* of the part; default the identity */
} flr_world_constraint;

FLR_API flr_world_constraint flr_default_world_constraint(void);

/* Constrains a part from the next step on; NULL: nothing acts on it any more. Not part of the saved
 * state. False, and nothing is changed: no such part, a static one, numbers that make no sense. */
FLR_API bool flr_world_constrain(flr_world *world, uint32_t part,
                                 const flr_world_constraint *constraint);

/* A motion of the part that a hand holds: straight and turning evenly, by the shorter way. The part is drawn to the nearest pose
 * of it by a spring like the hand's that never has more than a share of the hand's force, so the hand can take the part
 * elsewhere; along the motion nothing holds. */
typedef struct flr_world_guide {
    flr_pose from, to; /* T_world_part */
    double
        share; /* above 0, at most 1; of a rigid group, the part is the one with the lowest index */
} flr_world_guide;

/* Guides a hand from the next step on, whatever it holds; NULL: no longer. Not part of the saved state. False, and nothing is
 * changed: no such hand, poses or a share that make no sense. RT safe. */
FLR_API bool flr_world_set_guide(flr_world *world, uint32_t hand, const flr_world_guide *guide);
FLR_API const flr_world_guide *flr_world_get_guide(const flr_world *world,
                                                   uint32_t hand); /* NULL: not guided */

/* Where a joint is, by its index in the definition. False: there is no such joint. RT safe. */
FLR_API bool flr_world_joint(const flr_world *world, uint32_t joint, flr_joint_position *position);

/* Whether the part moves: by itself, in a hand, or by a remote coupling, or with a part that does, by a group or a
 * joint. */
FLR_API bool flr_world_moves(const flr_world *world, uint32_t part);

/* ---- a step; RT safe ---- */

typedef struct flr_world_input {
    flr_pose T_world_hand;
    flr_twist twist; /* about the hand's origin, world's axes */
    bool has_twist;  /* false: the world takes it from successive poses */
    /* false: there is nothing new; the hand is taken to stand still where it was */
    bool fresh;
    /* what the device really got since the last step, for the passivity controller's books; without
     * it (has_sent false) flr_world_wrench() is taken to have reached the device unchanged */
    bool has_sent;
    flr_wrench sent; /* world's axes, about the hand's origin */
} flr_world_input;

/* What happened in a step. Plain data. */
typedef struct flr_world_frame {
    uint64_t number;        /* 0 for the first step */
    uint64_t points_tested; /* lookups of contact queries and of checks of the way */
    uint32_t pairs;         /* that were asked */
    /* spheres: pairs of voxels, and those of them that are deeper than a voxel */
    uint32_t contacts, penetrations;
    /* metres: of all pairs, before the step; INFINITY when there is none. Spheres know no distance:
     * 0 and INFINITY for parts that are near, 0 and two voxels' diagonals where they touch */
    double lower, upper;
    double deepest;     /* metres: contact, before the step */
    double energy;      /* joules, kinetic, of all bodies, after it */
    uint32_t limited;   /* bodies whose way was shortened by the travel limit */
    uint32_t stopped;   /* bodies whose way was not free to its end */
    uint32_t exhausted; /* checks for which the budget did not suffice */
    /* coherent: points and chunks in queues; pairs that took more tests than there is time for; metres:
     * the least travel limit of a pair, INFINITY where there is none */
    uint32_t waiting, late;
    double max_travel;
    unsigned faults;   /* FLR_FAULT_… of all bodies */
    uint32_t touching; /* hands whose point touches something, after the step */
    uint32_t segments; /* that were asked for them */
    /* voxels that are paged (feeler/pager.h) were not there yet: the step did not happen, its number
     * is that of the next one, inputs were not used and no hand feels anything */
    bool missing;
    flr_hash hash; /* of this step and all before */
} flr_world_frame;

/* Voxels that are paged (feeler/pager.h): are those there that the next step looks at? Tells the pagers
 * where parts are, so that they come. True where nothing is paged. */
FLR_API bool flr_world_ready(flr_world *world);

/* `inputs` [hand_count]. `frame` may be NULL. */
FLR_API void flr_world_step(flr_world *world, const flr_world_input *inputs,
                            flr_world_frame *frame);

/* ---- looking; RT safe, valid until the next step ---- */

/* NULL when there is no such part. */
FLR_API const flr_body *flr_world_body(const flr_world *world, uint32_t part);
/* Writes what has changed since `*since`, a number that an earlier call left there (0: all parts), into `parts` [part_count], and
 * leaves the newest number. Returns how many parts that were. */
typedef struct flr_world_part_state {
    flr_pose T_world_part;
    flr_twist twist;
    bool moves, solid;
} flr_world_part_state;
FLR_API uint32_t flr_world_read_parts(const flr_world *world, uint64_t *since,
                                      flr_world_part_state *parts);
/* The first part from `from` on whose bounding sphere is within so many metres of a point; FLR_NO_PART: none. */
FLR_API uint32_t flr_world_next_near(const flr_world *world, uint32_t from, flr_vec3 point,
                                     double within);
/* For the device of a hand: world's axes, about the hand's origin; zero for a hand that holds
 * and touches nothing. Where the guard sends something else, the next input says so (`sent`). */
FLR_API flr_wrench flr_world_wrench(const flr_world *world, uint32_t hand);
FLR_API const flr_passivity *flr_world_passivity(const flr_world *world, uint32_t hand);
/* What a hand feels between this step and the next: see flr_local_model. Not set for a hand that holds and touches nothing.
 * RT safe. */
FLR_API void flr_world_local(const flr_world *world, uint32_t hand, flr_local_model *model);
/* A hand's point. Plain data; world's frame. */
typedef struct flr_world_point {
    flr_vec3
        position;    /* metres: of the proxy, outside all parts; in free space where the hand is */
    flr_vec3 force;  /* N, on the hand, before the passivity controller */
    flr_vec3 normal; /* unit, away from the surface, as felt; zero when nothing is touched */
    double depth;    /* metres: how far the hand is below the surface */
    uint32_t part;   /* that it touches; of several the one that bears most; or FLR_NO_PART */
    uint32_t triangle; /* of that part's mesh, or FLR_PROBE_NONE */
    uint32_t queries;  /* segments asked in the last step */
    bool touching;
    bool sticking; /* friction holds it */
    /* parts came together with the point between them: it is inside one that moved. Never in or
     * through what stands still */
    bool pinched;
} flr_world_point;

/* NULL when there is no such hand, or its tool is another one. */
FLR_API const flr_world_point *flr_world_proxy(const flr_world *world, uint32_t hand);
/* Contacts, pairs and sums of the last step: flr_pairs_contacts() and the like. */
FLR_API const flr_pairs *flr_world_pairs(const flr_world *world);

/* Two voxels that touched in the last step of the sphere engine. World's frame, metres. */
typedef struct flr_world_impact {
    uint32_t part_a, part_b;
    flr_vec3 point;  /* midway between their centres */
    flr_vec3 normal; /* unit: the way in which part_a leaves part_b */
    double depth;
} flr_world_impact;

/* Two parts near each other, in the last step of the exact engine, before anything moved. World's
 * frame, metres. Where they touch or are about to, bounds are 0.05 um apart. Elsewhere the distance is for
 * display: bounds are 1 um or 1 % apart, and up to 32 % for a pair that takes more than 0.2 ms in a step */
typedef struct flr_world_gap {
    uint32_t part_a, part_b;
    double distance;           /* negative: interference; INFINITY: beyond the range */
    double lower, upper;       /* the true one is between these */
    flr_vec3 point_a, point_b; /* nearest points, where they are known */
    flr_vec3 normal;           /* unit: this way part_b comes off part_a */
    double tolerated;          /* how deep they may be in each other: see flr_world_overlap */
    bool complete;             /* false: the budget did not suffice */
} flr_world_gap;

/* Pairs in order. */
FLR_API const flr_world_gap *flr_world_gaps(const flr_world *world, uint32_t *count);

/* What pushed a part in the last step of the exact engine. World's frame. */
typedef struct flr_world_touch {
    uint32_t part, other;
    flr_vec3 point;
    flr_vec3 normal; /* unit: where it pushed the part */
    double distance; /* metres, before the step */
    double force;    /* N, along the normal */
} flr_world_touch;

FLR_API const flr_world_touch *flr_world_touches(const flr_world *world, uint32_t *count);

enum { FLR_WORLD_OVERLAPS = 256 };

/* Two parts that were in each other when the world was made, or when one of them was put somewhere:
 * press fits, nominal fits, modelled threads. They may stay so and be moved out. As soon as they have
 * come free of each other, they are kept apart as all others. */
typedef struct flr_world_overlap {
    uint32_t part_a, part_b;
    double depth;     /* metres: how deep they were in each other */
    double tolerated; /* metres: how deep they may be now; 0: they have come free */
    flr_vec3 point;   /* world's frame: where, then */
} flr_world_overlap;

/* In the order in which they were found; FLR_WORLD_OVERLAPS at most. Exact engine only. */
FLR_API const flr_world_overlap *flr_world_overlaps(const flr_world *world, uint32_t *count);

/* The first 16 times flr_world_def.contacts of them. */
FLR_API const flr_world_impact *flr_world_impacts(const flr_world *world, uint32_t *count);

/* ---- all of its state; RT safe ---- */

/* Bodies, hands, remote couplings, frame number and hash as plain bytes, good for a world made from the same
 * definition. Parameters, merged static scene and parts are not in it. */
FLR_API size_t flr_world_state_size(const flr_world *world);
FLR_API void flr_world_save(const flr_world *world, void *state);
/* False, and nothing is changed, when `size` is another one or a body in it cannot be. */
FLR_API bool flr_world_load(flr_world *world, const void *state, size_t size);

/* Goes on where another world was: when parts have come, gone or got other voxels. before[i]: which
 * part of `from` the part i is, or FLR_NO_PART: a new one, which stays where it is. What moves gets
 * pose and velocity; hands and remote couplings keep what they hold, where it is still there; frame number and
 * hash go on. Parameters and merged static scene are not taken. */
FLR_API void flr_world_adopt(flr_world *world, const flr_world *from, const uint32_t *before);

#ifdef __cplusplus
}
#endif
#endif
