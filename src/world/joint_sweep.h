/* joint_sweep.h: moves joints from one place to another and finds what is in the way.
 *
 * The motion is checked continuously: no contact between two poses is missed. Each pair of parts that may meet is followed
 * triangle by triangle (flr_fit_pair_motion()), in pieces in which their relative motion is a screw motion, or deviates from one
 * by a length that is kept free, too. Exact distances at evenly spaced poses tell the clearance.
 *
 * Parts that a joint ties, and parts of one rigid group, are not checked against each other. Parts that meet at the start are
 * listed; they stop nothing until they have come apart, which is looked at 64 times in a stage.
 *
 * Thread: control. Not RT safe. */
#ifndef FLR_WORLD_JOINT_SWEEP_H
#define FLR_WORLD_JOINT_SWEEP_H

#include "dynamics/mechanism.h"
#include "feeler/fit.h"

/* One joint, from one place to another: radians where it turns, else metres. */
typedef struct flr_joint_travel {
    uint32_t joint;
    bool slide; /* of a cylindrical joint: along the axis */
    double from, to;
} flr_joint_travel;

typedef struct flr_joint_sweep_def {
    flr_mechanism *mechanism;     /* its working memory is used */
    const flr_fit *const *fits;   /* [part_count]; NULL: a part that touches nothing */
    const flr_pose *T_world_part; /* [part_count] at the start, where joints are at 0 */
    /* Joints of a stage move together, evenly; stages follow each other. first[k] is the first of stage k, first[stages] the
     * number of all */
    const flr_joint_travel *travels;
    const uint32_t *first;
    uint32_t stage_count;
    uint32_t
        samples; /* poses of a stage at which the clearance is measured; default 121, at least 2 */
    double clearance; /* metres: nearer than this counts as in the way; default 0: contact does */
    /* true: the two are not checked against each other; default NULL: all are that no joint ties */
    bool (*skip)(void *context, uint32_t a, uint32_t b);
    void *skip_context;
} flr_joint_sweep_def;

flr_joint_sweep_def flr_default_joint_sweep_def(void);

typedef struct flr_joint_sweep_sample {
    uint32_t stage;
    double share;     /* 0 … 1 of the stage */
    double clearance; /* metres; INFINITY: nothing is near; 0: parts meet */
    uint32_t part[2]; /* that are nearest; FLR_MECHANISM_NONE: none */
} flr_joint_sweep_sample;

/* Two parts that meet at the start. */
typedef struct flr_joint_sweep_start {
    uint32_t part[2];
} flr_joint_sweep_start;

typedef struct flr_joint_sweep {
    bool blocked;      /* something is in the way: */
    bool locked;       /* … a loop, which cannot close there */
    uint32_t stage;    /* in which it ends */
    double share;      /* 0 … 1 of that stage: so much is proven to be free; 1: all of it */
    uint32_t part[2];  /* that would meet; the first one moves */
    flr_vec3 point[2]; /* on these, world's frame, there */
    double open;       /* metres: by which a loop is open */
    flr_joint_sweep_sample *samples; /* [sample_count] up to where it ends */
    uint32_t sample_count;
    flr_joint_sweep_start *starts; /* [start_count] */
    uint32_t start_count;
    flr_pose *T_end; /* [part_count] where it ends */
    uint64_t pairs;  /* that were followed */
} flr_joint_sweep;

/* Fails with FLR_BAD_ARGUMENT (a joint that closes a loop or has not the motion) and FLR_NO_MEMORY. On success free with
 * flr_joint_sweep_free(). */
flr_result flr_joint_sweep_run(const flr_joint_sweep_def *def, flr_joint_sweep *sweep,
                               flr_error *error);
void flr_joint_sweep_free(flr_joint_sweep *sweep);

/* Where a stage has a joint's travel after a share of it. */
static inline double flr_joint_travel_at(const flr_joint_travel *t, double share)
{
    return t->from + share * (t->to - t->from);
}

/* Where all parts are at a share of a stage. `T_world_part` [part_count] is filled. Returns by how many metres loops are open. */
double flr_joint_sweep_pose(const flr_joint_sweep_def *def, uint32_t stage, double share,
                            flr_pose *T_world_part);

/* Does a part move in any stage? */
bool flr_joint_sweep_moves(const flr_joint_sweep_def *def, uint32_t part);

#endif
