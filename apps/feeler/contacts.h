/* contacts.h: what feeler contacts asks, and its answers. */
#ifndef FLR_CONTACTS_H
#define FLR_CONTACTS_H

#include "command.h"
#include "feeler/coherent.h"
#include "feeler/contact.h"
#include "scene/poses.h"

typedef enum flr_contacts_engine {
    FLR_CONTACTS_CULLED,
    FLR_CONTACTS_REFERENCE,
    FLR_CONTACTS_COHERENT
} flr_contacts_engine;

/* a part that the moving one may touch */
typedef struct flr_obstacle {
    flr_voxmap *voxmap;
    flr_pose T_world_voxmap;
    flr_contact_pair *pair;
    flr_coherent *coherent; /* NULL: not asked for */
} flr_obstacle;

/* what one pose gave */
typedef struct flr_answer {
    flr_contact_result sum; /* over all obstacles */
    double us;
    /* coherent only */
    double max_travel; /* metres, from here on */
    unsigned steps;    /* queries since the last pose, this one included */
    /* with a sweep: of the motion from the pose before, up to which nothing comes into the layer */
    double free;
    flr_vec3 place; /* world's frame, metres: where that ends; where `free` is below 1 */
} flr_answer;

typedef struct flr_contacts_job {
    flr_shell *shell;
    flr_voxmap *own; /* from the same file as the shell, if that was a voxel file */
    flr_obstacle *obstacles;
    size_t obstacle_count;
    flr_pose_list poses;
    flr_answer *answers; /* [poses.count] */
    flr_contact_params params;
    flr_contacts_engine engine;
    bool sweep; /* look at the motions between the poses, too */
    /* coherent only */
    double tests;   /* in a frame: the capacity, of all obstacles together; 0: to be measured */
    uint64_t jumps; /* from pose to pose, too far for steps within the limit */
} flr_contacts_job;

/* Makes what the job's engine needs for an obstacle; freed by whoever frees the obstacle. */
flr_result flr_contacts_make_engine(const flr_contacts_job *job, flr_obstacle *obstacle,
                                    flr_error *error);

/* Fills in the answers. */
void flr_contacts_ask(flr_cli *cli, flr_contacts_job *job);

/* Fills in what the motions between the poses say. */
void flr_contacts_sweep(flr_cli *cli, flr_contacts_job *job);

#endif
