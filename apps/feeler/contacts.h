/* contacts.h: what feeler contacts asks, and its answers. */
#ifndef FLR_CONTACTS_H
#define FLR_CONTACTS_H

#include "command.h"
#include "feeler/contact.h"
#include "feeler/distance.h"
#include "feeler/spheres.h"
#include "scene/pose_file.h"
#include "sim/asset.h"

struct json_t;

typedef enum flr_contacts_engine {
    FLR_CONTACTS_CULLED,
    FLR_CONTACTS_REFERENCE,
    FLR_CONTACTS_COHERENT,
    FLR_CONTACTS_SPHERES
} flr_contacts_engine;

extern const char *const flr_contacts_engines[]; /* their names, ending with NULL */

/* a part that the moving one may touch */
typedef struct flr_obstacle {
    flr_shape *shape; /* its voxels */
    flr_pose T_world_voxmap;
    flr_contact_pair *pair;
    flr_coherent *coherent;      /* NULL: not asked for */
    const flr_sphere_tree *tree; /* likewise */
    /* with exact distances only */
    const flr_gauge_part *gauge;
    flr_gauge_witness witness;
    flr_fit_pair *fits; /* it and the moving part */
} flr_obstacle;

/* what one pose gave */
typedef struct flr_pose_answer {
    flr_contact_result sum; /* over all obstacles */
    double us;
    /* coherent only */
    double max_travel; /* metres, from here on */
    unsigned steps;    /* queries since the last pose, this one included */
    /* with a sweep: of the motion from the pose before, up to which nothing comes into the layer */
    double free;
    bool
        stopped; /* something comes into it there; `free` below 1 without: too long to be looked at */
    flr_vec3 place; /* world's frame, metres: where that is */
    /* with exact distances: of the nearest obstacle */
    flr_gauge_result nearest;
    size_t nearest_obstacle;
    double exact_us;
    /* the same with a sign: below 0 is how deep parts are in each other; within `error` of the true one */
    double distance, error;
    flr_vec3 points
        [2]; /* of the moving part and the other, world's frame: the nearest, or the deepest and its way out */
    bool within; /* with a tolerance: nearer than that, or just as near */
} flr_pose_answer;

typedef struct flr_contacts_job {
    flr_shape *moving;           /* its points; for sphere trees voxels, too */
    const flr_sphere_tree *tree; /* of it; NULL: not asked for */
    flr_spheres *spheres;        /* likewise */
    flr_sphere_view view;        /* of the trees */
    flr_spheres_params search;   /* of the descent */
    uint64_t incomplete;         /* answers for which the budget did not suffice */
    flr_obstacle *obstacles;
    size_t obstacle_count;
    flr_pose_list poses;
    flr_pose_answer *answers; /* [poses.count] */
    flr_contact_params params;
    double displaced; /* metres: points are where they are by so much; not in the params any more */
    flr_contacts_engine engine;
    bool sweep; /* look at the motions between the poses, too */
    /* coherent only */
    unsigned threads; /* that share a query of the culled engine or of sphere trees; 0 or 1: none */
    double tests;     /* in a frame: the capacity, of all obstacles together; 0: to be measured */
    uint64_t jumps;   /* from pose to pose, too far for steps within the limit */
    /* exact distances, and whether they are above the tolerance */
    bool exact;
    double tolerance;            /* metres; below 0: none */
    const flr_gauge_part *gauge; /* of the moving part; NULL: nothing exact is asked for */
} flr_contacts_job;

/* Makes what the job's engine needs, and what it needs for an obstacle; freed by whoever frees the obstacle. */
flr_result flr_contacts_make_engine(flr_contacts_job *job, flr_obstacle *obstacle,
                                    flr_error *error);

/* Fills in the answers. */
void flr_contacts_ask(flr_cli *cli, flr_contacts_job *job);

/* Makes the meshes ready, and fills in the exact distances and what the tolerance says. */
flr_result flr_contacts_measure(flr_cli *cli, flr_contacts_job *job, flr_error *error);

/* What that gave: in columns behind a pose's others, in words, and as JSON. Nothing where it was not asked for. */
#define FLR_CONTACTS_EXACT_TITLE                                                                   \
    "  exact [mm]        nearest points [mm]: moving, other; each lies on"
void flr_contacts_exact_columns(flr_cli *cli, const flr_contacts_job *job,
                                const flr_pose_answer *answer);
void flr_contacts_print_exact(flr_cli *cli, const flr_contacts_job *job);
void flr_contacts_exact_json(const flr_contacts_job *job, const flr_pose_answer *answer,
                             struct json_t *pose);
void flr_contacts_exact_summary(const flr_contacts_job *job, struct json_t *sum);

/* Prints all answers and their summary; as JSON, too, where that was asked for. */
flr_result flr_contacts_tell(flr_cli *cli, const flr_contacts_job *job, flr_error *error);

/* How many poses are within the tolerance. */
size_t flr_contacts_within(const flr_contacts_job *job);

/* Fills in what the motions between the poses say. */
void flr_contacts_sweep(flr_cli *cli, flr_contacts_job *job);

#endif
