/* run.h: a stage, a hand and a number of frames: what `feeler run` and `feeler replay` do.
 *
 * The hand (a simulated one, a script or a replay) is a device like any other: its wrenches go through
 * the output guard, and the loop is the one that serves a person. Free running, a run depends on its
 * definition alone: the same again gives the same hash.
 *
 * Thread: control. */
#ifndef FLR_SIM_RUN_H
#define FLR_SIM_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/device.h"
#include "feeler/env.h"
#include "feeler/loop.h"
#include "feeler/pager.h"
#include "sim/stage.h"

/* Fill with flr_default_run_def(). */
typedef struct flr_run_def {
    flr_env *env;
    flr_stage *stage;                  /* borrowed; its world goes on from where it is */
    uint32_t part;                     /* that hand 0 takes; not read when its tool is a point */
    flr_device *device;                /* borrowed: the hand; base frame = world */
    const struct flr_mapping_def *map; /* of a relative one; NULL: 1:1 */
    bool relative;    /* … but its first pose is where the part is; default false */
    flr_pose T_point; /* … or this, for a point; default the origin */
    uint64_t frames;  /* at least 1 */
    double rate;      /* Hz; that of the stage's world: 1/dt */
    bool paced;       /* by the clock; default false: as fast as it goes */
    bool local;    /* the device is served from local models, as in flr_loop_def; default false */
    unsigned slow; /* free running: periods that a step is said to take; default 1 */
    /* [frames]: what the device got before, of these, is said by a recording; NULL: the guard says it */
    const flr_world_input *said;
    const char *record;       /* a recording to be made; NULL: none */
    const char *const *texts; /* for it, as in flr_recorder_def */
    /* a file for the state at the end of the run, from which another can go on; NULL: none is written. And a state to go on
     * from, with what is left of `frames`; NULL: from the beginning. Of a run with the same identity: the hash of all
     * that determines it. Free running, both together are the same, to the bit, as one. With a device that cannot be saved
     * (flr_device_driver.save) the hand takes the part where both are */
    const char *state, *resume;
    bool only_if_given_up; /* … the state is written then only */
    bool *bad_resume;      /* set where it fails because of the file of `resume`; may be NULL */
    flr_hash identity;
    /* all in the calling thread, pagers are served between frames: needed with a simulated env; default false */
    bool single;
    flr_pose *poses; /* [frames][moving parts of the stage, in order]; NULL: not wanted */
    /* Called after every frame, in the loop: RT. May be NULL. */
    void (*seen)(void *context, const flr_world_frame *frame);
    /* Called now and then with the frames done; false: stop early. May be NULL. */
    bool (*progress)(void *context, uint64_t done);
    void *context;
} flr_run_def;

flr_run_def flr_default_run_def(void);

/* What happened. Plain data. */
typedef struct flr_run_result {
    flr_loop_stats loop;     /* times in ns */
    flr_percentiles points;  /* tested per frame */
    flr_percentiles step_ns; /* of the world alone */
    uint64_t frames;
    uint64_t contact_frames;         /* with a contact */
    uint64_t penetration_frames;     /* with a potential penetration of exact surfaces */
    uint64_t limited_frames;         /* the travel limit shortened some way */
    uint64_t stopped_frames;         /* something was in the way of some part */
    uint64_t contacts, penetrations; /* in all */
    uint32_t most_contacts;          /* in one frame */
    uint32_t most_queued;            /* coherent engine: points and chunks in queues at once */
    uint64_t late_frames;            /* … with more tests than there is time for */
    double least_travel;             /* … metres: the strictest limit; INFINITY: none */
    double lower, upper;             /* metres: least distance in the whole run */
    double max_force, max_torque;    /* at the device, N and N m */
    double max_energy, energy;       /* joules, kinetic: largest; at the end */
    double put, got, deficit, bound; /* joules at the device's port, see feeler/dynamics.h */
    double agility, turn_agility;    /* m/s^2, rad/s^2: of the device, as sampled, at most */
    uint64_t touching_frames;        /* of a point: in which it touched something */
    uint64_t pinched_frames;         /* … in which it was between parts that came together */
    uint64_t segments;               /* … asked in all */
    double max_depth;                /* … metres: of the hand below the surface */
    uint32_t sunk; /* a part that began below the force layer (of 2 or more); UINT32_MAX: none */
    double gap;    /* metres: … nearer than this to another */
    uint64_t faulty_frames; /* of the world */
    uint64_t guard_trips;
    uint64_t lost;  /* frames missing in the recording */
    uint64_t first; /* number of the first frame: not 0 where a run went on */
    /* of parts whose voxels are paged: how often steps had to wait for them, and what all pagers did together; `slots` is 0
     * where nothing is paged. What the first step looks at is read before it, in load_seconds, which is no waiting */
    double load_seconds;
    flr_pager_waits waits;
    flr_pager_stats pager;
    flr_hash hash; /* of all frames */
    bool stopped;  /* by `progress` */
} flr_run_result;

flr_result flr_run(const flr_run_def *def, flr_run_result *result, flr_error *error);

#endif
