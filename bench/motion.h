/* motion.h: a scenario's part in a hand, for benchmarks: voxels, a world, a simulated hand, the loop with its guard. */
#ifndef FLR_BENCH_MOTION_H
#define FLR_BENCH_MOTION_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/bench.h"
#include "feeler/base.h"
#include "feeler/fit.h"
#include "feeler/hand.h"
#include "feeler/world.h"
#include "models/models.h"

/* A part that stays, as voxels, and one that moves, as points. */
typedef struct flr_motion_scene {
    const flr_mesh *fixed, *moving; /* of the model, borrowed */
    flr_pose T_start;
    double voxel, moving_voxel; /* metres */
    flr_voxmap *voxmap;
    flr_shell *shell;
    flr_contact_table *table;
    flr_fit *fits[2]; /* of both, for the exact engine; NULL: not made */
    flr_body_def body;
} flr_motion_scene;

/* The files are those of the model's meshes; `features`: for geometrical awareness. */
flr_result flr_motion_scene_make(flr_env *env, const flr_model *model, const char *fixed,
                                 const char *moving, double voxel, double moving_voxel,
                                 bool features, flr_motion_scene *scene, flr_error *error);
/* The same from two meshes; it begins where they are. */
flr_result flr_motion_scene_from(flr_env *env, const flr_mesh *fixed, const flr_mesh *moving,
                                 double voxel, double moving_voxel, bool features,
                                 flr_motion_scene *scene, flr_error *error);
/* Adds what the exact engine needs. */
flr_result flr_motion_scene_add_fits(flr_motion_scene *scene, flr_error *error);
void flr_motion_scene_free(flr_motion_scene *scene);

/* One run: the hand takes the part and follows a target. */
typedef struct flr_motion_run {
    const flr_motion_scene *scene;
    flr_target target;
    uint64_t frames;
    double rate;          /* Hz */
    bool exact;           /* the hand is where the target is, whatever it feels */
    double force, torque; /* limits of the device, N and N m */
    /* opens the hand in another way than as a simulated one; NULL: as that */
    flr_result (*open)(void *context, const flr_hand_def *hand, flr_device **device,
                       flr_error *error);
    void *context;
    flr_world_params params; /* of the world */
    flr_pose *poses;         /* [frames]: of the part; may be NULL */
    float *felt;             /* [frames][6]: force and torque at the device; may be NULL */
    uint32_t *contacts;      /* [frames]; may be NULL */
    // measured
    flr_percentiles step_ns; /* processor time of a step of the world */
    flr_percentiles wall_ns; /* by the clock */
    uint64_t contact_frames, penetration_frames, stopped_frames, limited_frames, exhausted_frames;
    uint64_t faults;
    double most_contacts, mean_contacts;
    double put, got, deficit; /* joules at the device's port */
    double agility;           /* m/s^2: of the device */
    double deepest;           /* metres: of contacts */
    double max_force, max_torque;
    flr_pose T_end, T_wanted; /* of the part, of the hand's target */
} flr_motion_run;

/* Everything by default, 1000 Hz, 15 N and 0.1 N m. */
flr_motion_run flr_default_motion_run(const flr_motion_scene *scene);

flr_result flr_motion_do(flr_env *env, flr_motion_run *run, flr_error *error);

/* How many of the poses after a frame have surfaces that meet, by the triangles; the least distance on the way, to a
 * fifth (frames that are known to be free by what was measured before are not measured). */
typedef struct flr_motion_exact {
    uint64_t meeting; /* frames */
    uint64_t measured;
    double least; /* metres */
} flr_motion_exact;

flr_result flr_motion_measure(const flr_motion_run *run, flr_motion_exact *told, flr_error *error);

#endif
