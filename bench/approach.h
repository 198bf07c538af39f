/* approach.h: two parts that come together, as the sphere trees' paper measures them. */
#ifndef FLR_BENCH_APPROACH_H
#define FLR_BENCH_APPROACH_H

#include "bench/bench.h"
#include "feeler/contact.h"
#include "feeler/spheres.h"
#include "models/models.h"

enum { FLR_APPROACH_STEPS = 201, FLR_APPROACH_VIEWS = 3 };

/* both parts at one voxel size; 0: knot, which stands, 1: bracket, which moves */
typedef struct flr_approach {
    double voxel; /* metres */
    flr_voxmap *voxmaps[2];
    flr_shell *shells[2];
    flr_sphere_tree *trees[FLR_APPROACH_VIEWS][2];
    flr_contact_pair *pair; /* the bracket's points in the knot's voxels */
    flr_spheres *spheres;
    flr_impulse *impulse;
    double build_seconds; /* of the octrees */
} flr_approach;

/* one path, step by step: what the paper plots */
typedef struct flr_approach_trace {
    double distance[FLR_APPROACH_STEPS]; /* mm, between the parts' origins */
    double pairs[FLR_APPROACH_STEPS];
    double us[FLR_APPROACH_STEPS]; /* processor time */
    double tests[FLR_APPROACH_STEPS];
    double response_us[FLR_APPROACH_STEPS]; /* of the impulses; 0 without */
    double shell_us[FLR_APPROACH_STEPS];    /* the shell engine at the same pose; 0 with response */
    double contacts[FLR_APPROACH_STEPS];    /* of it */
} flr_approach_trace;

flr_result flr_approach_make(flr_env *env, const flr_model *model, double voxel,
                             flr_approach *approach, flr_error *error);
void flr_approach_free(flr_approach *approach);

/* Where both are at one of FLR_APPROACH_STEPS steps of the path. */
void flr_approach_sides(const flr_approach *approach, const flr_model_path *path, size_t step,
                        int view, flr_spheres_side *bracket, flr_spheres_side *knot);

/* Room for all that is found on these paths. */
flr_spheres_def flr_approach_room(void);

/* Along the path as it is prepared, into deep overlap. Each step is asked `repeat` times, the least time counts. */
void flr_approach_follow(const flr_approach *approach, const flr_model_path *path, int view,
                         const flr_spheres_params *params, unsigned repeat,
                         flr_approach_trace *trace);

/* The same with a hand that goes along the path and holds the bracket, which is stopped by the knot. The whole path is gone
 * `repeat` times. */
flr_result flr_approach_respond(const flr_approach *approach, const flr_model *model,
                                const flr_model_path *path, unsigned repeat,
                                flr_approach_trace *trace, flr_error *error);

#endif
