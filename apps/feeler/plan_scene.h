/* plan_scene.h: a scene as commands that plan and verify see it: what moves, what stands. */
#ifndef FLR_APPS_PLAN_SCENE_H
#define FLR_APPS_PLAN_SCENE_H

#include "command.h"
#include "feeler/plan.h"
#include "files.h"
#include "scene/scene.h"

typedef struct flr_plan_scene {
    const char *path; /* borrowed: the file that was named */
    flr_scene *scene;
    flr_mesh **meshes;   /* [mesh_count] */
    flr_fit **fits;      /* [mesh_count] */
    uint32_t mesh_count; /* parts of equal shape share one */
    uint32_t *mesh_of;   /* [parts] */
    /* [parts]: those that move, the first chosen one first, then those that stand; indices in the scene */
    uint32_t *order;
    flr_plan_part *parts; /* [parts]: in that order */
    uint32_t moving_count, standing_count;
    flr_pose T_world_body; /* of the first moving part, in the scene */
} flr_plan_scene;

/* Reads a scene, CAD file or robot description and prepares its meshes. `path` has to live as long as the scene. Free with
 * flr_plan_scene_free(), also on failure. */
flr_result flr_plan_scene_read(flr_cli *cli, const char *path, const flr_mesh_options *options,
                               unsigned threads, flr_plan_scene *scene, flr_error *error);
void flr_plan_scene_free(flr_plan_scene *scene);

/* Says what moves: parts or groups, separated by commas; NULL: the only part, or rigid group, that is movable. Whole rigid
 * groups move, and parts that others pass through do not stand in the way. FLR_BAD_ARGUMENT with the names that there are. */
flr_result flr_plan_scene_choose(flr_plan_scene *scene, const char *names, flr_error *error);

/* What moves and what stands, as a definition; the space borrows the fits. */
flr_plan_def flr_plan_scene_def(const flr_plan_scene *scene, double clearance);

/* Names of indices in that definition. "": none. */
const char *flr_plan_scene_obstacle(const flr_plan_scene *scene, uint32_t obstacle);
const char *flr_plan_scene_moving(const flr_plan_scene *scene, uint32_t moving);

#endif
