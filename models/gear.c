/* gear.c: the landing gear scenario: a large assembly and an actuator to take out of it.
 *
 * After McNeely, Puterbaugh and Troy (2005), section 7: a main landing gear of 2.76 million
 * triangles, 4.1 x 1.9 x 4.8 m, and "a large hydraulic actuator near the bottom of the scene". */
#include "models/gear.h"

#include "models/scenarios.h"

enum { GEAR_TRIANGLES = 2760000, ACTUATOR_TRIANGLES = 40476 };

/* ---- the way out ---- */

/* a pose of the actuator's middle: yaw about z, then pitch (rod end up), then roll, in turns */
typedef struct gear_station {
    double seconds; /* from the station before */
    double x, y, z, yaw, pitch, roll;
} gear_station;

static const gear_station removal[] = {
    {0, FLR_GEAR_ACTUATOR_X, FLR_GEAR_ACTUATOR_Y, FLR_GEAR_ACTUATOR_Z, 0, 0, 0},
    {2.0, -0.590, 0.300, 0.790, 0, 0, 0},        /* off the aft lug */
    {2.0, -0.562, 0.300, 0.930, 0, 0.0833, 0},   /* rod end up */
    {2.5, -0.562, 0.300, 1.330, 0, 0.0833, 0},   /* between riser and cross pipe */
    {2.0, -0.700, 0.300, 1.470, 0, 0, 0},        /* level */
    {1.0, -0.800, 0.280, 1.470, 0, 0, 0},        /* to where there is room to turn */
    {2.5, -0.800, 0.265, 1.470, 0.25, 0, 0},     /* across the bogie */
    {1.5, -0.800, 0.265, 1.470, 0.25, 0, 0.125}, /* flange's corners out of the way */
    {4.0, -0.800, 1.200, 1.470, 0.25, 0, 0.125}, /* through the gate */
    {1.5, -0.800, 1.600, 1.500, 0.25, 0, 0.125}, /* free */
};

enum { REMOVAL_HZ = 50, REMOVAL_CAPACITY = 1024 };

static flr_pose pose_of(const gear_station *s)
{
    flr_pose pose = flr_kit_turn_z(flr_kit_at(s->x, s->y, s->z), s->yaw);
    return flr_kit_turn_x(flr_kit_turn_y(pose, -s->pitch), s->roll);
}

/* between two stations, at rest at both */
static gear_station between(const gear_station *a, const gear_station *b, double t)
{
    double s = t * t * (3 - 2 * t);
    gear_station m = {0,
                      a->x + (b->x - a->x) * s,
                      a->y + (b->y - a->y) * s,
                      a->z + (b->z - a->z) * s,
                      a->yaw + (b->yaw - a->yaw) * s,
                      a->pitch + (b->pitch - a->pitch) * s,
                      a->roll + (b->roll - a->roll) * s};
    return m;
}

static size_t removal_path(flr_timed_pose *poses)
{
    size_t count = 0;
    double start = 0;
    poses[count++] = (flr_timed_pose){0, pose_of(&removal[0])};
    for (size_t i = 1; i < sizeof removal / sizeof *removal; i++) {
        int steps = (int)(removal[i].seconds * REMOVAL_HZ + 0.5);
        for (int k = 1; k <= steps; k++) {
            gear_station m = between(&removal[i - 1], &removal[i], (double)k / steps);
            poses[count++] = (flr_timed_pose){start + (double)k / REMOVAL_HZ, pose_of(&m)};
        }
        start += (double)steps / REMOVAL_HZ;
    }
    return count;
}

/* ---- the scenario ---- */

static flr_result add_gear(uint64_t seed, flr_model *model, flr_error *error)
{
    flr_kit kit = flr_kit_begin(seed);
    flr_gear_bogie(&kit);
    flr_gear_strut(&kit);
    flr_gear_braces(&kit);
    flr_gear_bay(&kit);
    flr_gear_lines(&kit);
    flr_gear_corridor(&kit);
    flr_kit_refine_to(&kit, GEAR_TRIANGLES);
    flr_scene_part part = flr_default_scene_part();
    part.name = "gear", part.file = "gear.stl", part.colour = 0xa8b2bd, part.voxel = 0.0025;
    return flr_model_add_kit(model, &kit, &part, error);
}

static flr_result add_actuator(uint64_t seed, flr_model *model, flr_error *error)
{
    flr_kit kit = flr_kit_begin(seed);
    kit.chord = 0.0001;
    flr_gear_actuator(&kit);
    flr_kit_refine_to(&kit, ACTUATOR_TRIANGLES);
    flr_timed_pose poses[REMOVAL_CAPACITY];
    size_t count = removal_path(poses);
    flr_scene_part part = flr_default_scene_part();
    part.name = "actuator", part.file = "actuator.stl", part.colour = 0xe68a19, part.moving = true;
    part.voxel = 0.001, part.T_world_part = poses[0].T_world_part;
    flr_result result = flr_model_add_kit(model, &kit, &part, error);
    if (result != FLR_OK) return result;
    return flr_model_add_path(model, "gear_removal.txt", "removal", part.name, poses, count, error);
}

static flr_result build(const flr_scenario_options *options, flr_model *model, flr_error *error)
{
    flr_result result = add_gear(options->seed, model, error);
    if (result == FLR_OK) result = add_actuator(options->seed, model, error);
    model->scene.voxel = 0.0025;
    model->scene.camera.given = true;
    model->scene.camera.eye = v3(-2.9, 3.6, 2.6);
    model->scene.camera.target = v3(-0.5, 0.1, 1.45);
    return result;
}

const flr_scenario flr_scenario_gear = {
    "gear", "a hydraulic actuator to be taken out of an airliner's main landing gear", 0, build};
