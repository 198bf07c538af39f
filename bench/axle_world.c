/* the axle of Kim 2004 as a world */
#include "bench/axle_world.h"

#include <string.h>

void flr_axle_free(flr_axle *axle)
{
    for (uint32_t i = 0; i < FLR_AXLE_PARTS; i++) flr_part_destroy(axle->shapes[i]);
    flr_model_free(&axle->model);
}

flr_result flr_axle_make(flr_axle *axle, unsigned divide, flr_error *error)
{
    flr_result result = flr_scenario_build(flr_scenario_find("axle"), NULL, &axle->model, error);
    if (result != FLR_OK) return result;
    axle->voxel = axle->model.scene.voxel * (divide > 4 ? 4 : divide);
    axle->count = (uint32_t)axle->model.part_count;
    FLR_ASSERT(axle->count <= FLR_AXLE_PARTS);
    for (uint32_t i = 0; i < axle->count && result == FLR_OK; i++) {
        const flr_scene_part *p = &axle->model.parts[i];
        flr_part_def def = flr_default_part_def();
        def.voxelize.voxel = axle->voxel;
        result = flr_part_create(flr_env_real(), flr_model_find_mesh(&axle->model, p->file), &def,
                                 &axle->shapes[i], error);
        if (result == FLR_OK)
            axle->parts[i] = flr_part_in_world(
                axle->shapes[i], p->moving ? FLR_PART_MOVABLE : FLR_PART_STATIC, p->T_world_part);
    }
    return result;
}

uint32_t flr_axle_find(const flr_axle *axle, const char *name)
{
    uint32_t i = 0;
    while (i < axle->count && strcmp(axle->model.parts[i].name, name) != 0) i++;
    FLR_ASSERT(i < axle->count);
    return i;
}

flr_pose flr_axle_carry(const flr_axle *axle, uint32_t part, double share)
{
    flr_pose pose = axle->parts[part].body.T_world_part;
    const flr_vec3 goal =
        flr_pose_apply(axle->parts[0].body.T_world_part, flr_box3_centre(axle->parts[0].shape.box));
    pose.p = flr_vec3_add_scaled(pose.p, share, flr_vec3_sub(goal, pose.p));
    return pose;
}
