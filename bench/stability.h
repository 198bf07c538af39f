/* stability.h: a peg in a simulated hand touches things in all the ways in which a force can buzz.
 *
 * On voxels or with the exact engine, through the world, the loop and the output guard; the hand has mass and feels what the device gives. */
#ifndef FLR_BENCH_STABILITY_H
#define FLR_BENCH_STABILITY_H

#include "bench/motion.h"

typedef enum flr_stability_case {
    FLR_STABILITY_FREE,  /* waved in the air */
    FLR_STABILITY_REST,  /* pressed on a table */
    FLR_STABILITY_SLIDE, /* drawn to and fro on it */
    FLR_STABILITY_EDGE,  /* tilted, its edge over the rim of a hole */
    FLR_STABILITY_WEDGE, /* pressed between two walls that lean */
    FLR_STABILITY_SLOT,  /* drawn through a slot that is a little too narrow for both sides */
    FLR_STABILITY_HOLE,  /* tilted and off the middle into a hole, to its bottom */
    FLR_STABILITY_DROP,  /* pressed on, and drawn off the table's end and back */
    FLR_STABILITY_COUNT
} flr_stability_case;

const char *flr_stability_name(flr_stability_case which);

/* A block with a hole, a wedge, a slot, and a peg. */
typedef struct flr_stability {
    flr_mesh *meshes[4];
    flr_motion_scene scenes[3]; /* block, wedge, slot; each with the peg */
} flr_stability;

flr_result flr_stability_make(flr_env *env, flr_stability *made, flr_error *error);
void flr_stability_free(flr_stability *made);

/* One run. Fill with flr_default_stability_run(). */
typedef struct flr_stability_run {
    flr_stability_case which;
    double stiffness;        /* N/m: of a contact and of the coupling; default 1000 */
    double mass;             /* kg: of the peg; default 0.0125 */
    double rate;             /* Hz; default 1000 */
    double seconds;          /* default 2; looked at from 0.5 s on */
    flr_world_params params; /* stiffness is filled in */
    flr_result (*open)(void *context, const flr_hand_def *hand, flr_device **device,
                       flr_error *error); /* as in flr_motion_run; default NULL */
    void *context;
    float *felt; /* [frames][6]: filled; may be NULL */
    // measured
    double level; /* what lasts above 100 Hz, as a share of the coupling's largest force */
    double peak;  /* the same in the loudest 50 ms */
    double force; /* N: mean, where it touches */
    double deficit, put, got, agility; /* at the port, J, m/s^2 */
    double deepest;                    /* voxels: points below the plane where force begins */
    uint64_t frames, contact_frames;
} flr_stability_run;

flr_stability_run flr_default_stability_run(flr_stability_case which);
flr_result flr_stability_do(flr_env *env, const flr_stability *made, flr_stability_run *run,
                            flr_error *error);

/* What there is above 100 Hz, `six` [frames][6], force and torque by 50 mm: the largest r.m.s. in 50 ms, and what lasts:
 * the largest that three of them in a row reach. N. */
void flr_stability_level(const float *six, uint64_t frames, double rate, double *lasting,
                         double *peak);

#endif
