/* cabinet.c: a door on its hinge, a drawer on its rails, a knob that is screwed in: what joints and rigid groups are for.
 *
 * The door and its handle are one rigid group, as are the drawer and its knob. The door opens to 170 degrees, but a pipe stands
 * in its way at 115; the drawer comes out by 240 mm. The foot is a screw with a pitch of 2 mm.
 */
#include "models/kit.h"
#include "models/scenarios.h"

static const double mm = 1e-3;

static flr_result add(flr_model *model, flr_kit *kit, const char *name, const char *file,
                      const char *in, bool moving, uint32_t colour, flr_error *error)
{
    flr_scene_part part = flr_default_scene_part();
    part.name = name, part.file = file, part.in = in;
    part.moving = moving, part.colour = colour;
    return flr_model_add_kit(model, kit, &part, error);
}

/* 400 mm wide (x), 300 deep (y), 500 high (z); its front is the plane y = 0 */
static flr_result add_frame(flr_model *model, uint64_t seed, flr_error *error)
{
    flr_kit kit = flr_kit_begin(seed);
    flr_kit_box(&kit, flr_kit_at(9 * mm, 141 * mm, 250 * mm), 18 * mm, 282 * mm, 500 * mm, 0);
    flr_kit_box(&kit, flr_kit_at(391 * mm, 141 * mm, 250 * mm), 18 * mm, 282 * mm, 500 * mm, 0);
    flr_kit_box(&kit, flr_kit_at(200 * mm, 291 * mm, 250 * mm), 400 * mm, 18 * mm, 500 * mm, 0);
    for (int i = 0; i < 3; i++) { /* bottom, shelf, top */
        static const double height[] = {9, 170, 491};
        flr_kit_box(&kit, flr_kit_at(200 * mm, 141 * mm, height[i] * mm), 364 * mm, 282 * mm,
                    18 * mm, 0);
    }
    return add(model, &kit, "cabinet", "cabinet.stl", NULL, false, 0x9aa7b5, error);
}

static flr_result add_door(flr_model *model, uint64_t seed, flr_error *error)
{
    flr_kit kit = flr_kit_begin(seed);
    flr_kit_box(&kit, flr_kit_at(200 * mm, -12 * mm, 340 * mm), 392 * mm, 18 * mm, 312 * mm,
                1 * mm);
    flr_result result = add(model, &kit, "panel", "panel.stl", "door", true, 0xd9a05b, error);
    if (result != FLR_OK) return result;
    kit = flr_kit_begin(seed);
    flr_kit_rounded_cylinder(&kit, flr_kit_at(360 * mm, -41 * mm, 290 * mm), 6 * mm, 100 * mm,
                             2 * mm);
    for (int i = 0; i < 2; i++)
        flr_kit_cylinder(&kit,
                         flr_kit_turn_x(flr_kit_at(360 * mm, -21 * mm, (305 + 70 * i) * mm), 0.25),
                         4 * mm, 16 * mm);
    return add(model, &kit, "handle", "handle.stl", "door", true, 0x59636e, error);
}

static flr_result add_drawer(flr_model *model, uint64_t seed, flr_error *error)
{
    flr_kit kit = flr_kit_begin(seed);
    flr_kit_box(&kit, flr_kit_at(200 * mm, -12 * mm, 90 * mm), 392 * mm, 18 * mm, 172 * mm, 1 * mm);
    flr_kit_box(&kit, flr_kit_at(200 * mm, 137 * mm, 29 * mm), 356 * mm, 276 * mm, 10 * mm, 0);
    for (int i = 0; i < 2; i++)
        flr_kit_box(&kit, flr_kit_at((27 + 346 * i) * mm, 137 * mm, 87 * mm), 10 * mm, 276 * mm,
                    104 * mm, 0);
    flr_kit_box(&kit, flr_kit_at(200 * mm, 270 * mm, 87 * mm), 334 * mm, 10 * mm, 104 * mm, 0);
    flr_result result = add(model, &kit, "tray", "tray.stl", "drawer", true, 0x7fb08a, error);
    if (result != FLR_OK) return result;
    kit = flr_kit_begin(seed);
    flr_kit_rounded_cylinder(&kit, flr_kit_turn_x(flr_kit_at(200 * mm, -21 * mm, 90 * mm), 0.25),
                             12 * mm, 25 * mm, 3 * mm);
    return add(model, &kit, "knob", "knob.stl", "drawer", true, 0x59636e, error);
}

static flr_result add_rest(flr_model *model, uint64_t seed, flr_error *error)
{
    flr_kit kit = flr_kit_begin(seed);
    flr_kit_cylinder(&kit, flr_kit_at(-130 * mm, -260 * mm, 0), 15 * mm, 520 * mm);
    flr_result result = add(model, &kit, "pipe", "pipe.stl", NULL, false, 0xb0543c, error);
    if (result != FLR_OK) return result;
    kit = flr_kit_begin(seed);
    flr_kit_cylinder(&kit, flr_kit_at(200 * mm, 140 * mm, -30 * mm), 20 * mm, 25 * mm);
    return add(model, &kit, "foot", "foot.stl", NULL, true, 0x59636e, error);
}

static flr_result build(const flr_scenario_options *options, flr_model *model, flr_error *error)
{
    static const flr_scene_group groups[] = {{.name = "door", .rigid = true},
                                             {.name = "drawer", .rigid = true}};
    static flr_scene_joint joints[3];
    for (int i = 0; i < 3; i++)
        joints[i] = (flr_scene_joint){.a = "cabinet", .joint = flr_default_joint()};
    joints[0].name = "hinge", joints[0].b = "door";
    flr_joint *hinge = &joints[0].joint;
    hinge->kind = FLR_JOINT_REVOLUTE;
    hinge->point = flr_vec3_make(0, -21 * mm, 0), hinge->axis = flr_vec3_make(0, 0, -1);
    hinge->turn = (flr_joint_axis){.limited = true, .high = 170 * FLR_DEGREE, .friction = 0.01};
    joints[1].name = "rails", joints[1].b = "drawer";
    flr_joint *rails = &joints[1].joint;
    rails->kind = FLR_JOINT_PRISMATIC;
    rails->axis = flr_vec3_make(0, -1, 0);
    rails->slide = (flr_joint_axis){.limited = true, .high = 240 * mm, .friction = 0.2};
    joints[2].name = "thread", joints[2].b = "foot";
    flr_joint *thread = &joints[2].joint;
    thread->kind = FLR_JOINT_SCREW;
    thread->point = flr_vec3_make(200 * mm, 140 * mm, 0), thread->pitch = 2 * mm;
    thread->turn =
        (flr_joint_axis){.limited = true, .low = -10 * 360 * FLR_DEGREE, .friction = 0.005};

    flr_result result = add_frame(model, options->seed, error);
    if (result == FLR_OK) result = add_door(model, options->seed, error);
    if (result == FLR_OK) result = add_drawer(model, options->seed, error);
    if (result == FLR_OK) result = add_rest(model, options->seed, error);
    model->scene.voxel = 2 * mm;
    model->scene.groups = groups, model->scene.group_count = 2;
    model->scene.joints = joints, model->scene.joint_count = 3;
    model->scene.camera = (flr_scene_camera){
        .given = true, .eye = {0.9, -1.1, 0.8}, .target = {0.15, 0, 0.22}, .up = {0, 0, 1}};
    return result;
}

const flr_scenario flr_scenario_cabinet = {
    "cabinet", "a door on its hinge, a drawer on its rails: joints and rigid groups", 0, build};
