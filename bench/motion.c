/* a scenario's part in a hand */
#include "bench/motion.h"

#include <math.h>
#include <stdlib.h>

#include "feeler/distance.h"
#include "feeler/loop.h"
#include "feeler/voxels.h"

#define MOTION_SCENE_BRISK                                                                         \
    20.0 /* m/s^2: by which a hand's spring may accelerate the part, as in sim/stage.c */

/* ---- the scene ---- */

flr_result flr_motion_scene_make(flr_env *env, const flr_model *model, const char *fixed,
                                 const char *moving, double voxel, double moving_voxel,
                                 bool features, flr_motion_scene *scene, flr_error *error)
{
    flr_result result = flr_motion_scene_from(env, flr_model_find_mesh(model, fixed),
                                              flr_model_find_mesh(model, moving), voxel,
                                              moving_voxel, features, scene, error);
    for (size_t i = 0; result == FLR_OK && i < model->part_count; i++)
        if (model->parts[i].moving) scene->T_start = model->parts[i].T_world_part;
    if (result == FLR_OK) scene->body.T_world_part = scene->T_start;
    return result;
}

flr_result flr_motion_scene_from(flr_env *env, const flr_mesh *fixed, const flr_mesh *moving,
                                 double voxel, double moving_voxel, bool features,
                                 flr_motion_scene *scene, flr_error *error)
{
    *scene = (flr_motion_scene){.fixed = fixed,
                                .moving = moving,
                                .T_start = flr_pose_identity(),
                                .voxel = voxel,
                                .moving_voxel = moving_voxel};
    flr_voxelize_def def = flr_default_voxelize_def();
    def.features = features;
    def.voxel = voxel;
    flr_result result = flr_voxelize(env, scene->fixed, &def, &scene->voxmap, NULL, NULL, error);
    def.voxel = moving_voxel;
    if (result == FLR_OK)
        result = flr_voxelize(env, scene->moving, &def, NULL, &scene->shell, NULL, error);
    if (result == FLR_OK) result = flr_contact_table_create(scene->voxmap, &scene->table, error);
    if (result == FLR_OK) result = flr_body_def_from_mesh(scene->moving, 1000, &scene->body, error);
    if (result != FLR_OK) {
        flr_motion_scene_free(scene);
        return result;
    }
    scene->body.mass = flr_default_coupling_def().stiffness * voxel / 2 / MOTION_SCENE_BRISK;
    scene->body.T_world_part = scene->T_start;
    return FLR_OK;
}

flr_result flr_motion_scene_add_fits(flr_motion_scene *scene, flr_error *error)
{
    flr_result result = flr_fit_build(scene->fixed, NULL, &scene->fits[0], error);
    return result == FLR_OK ? flr_fit_build(scene->moving, NULL, &scene->fits[1], error) : result;
}

void flr_motion_scene_free(flr_motion_scene *scene)
{
    for (int i = 0; i < 2; i++) flr_fit_destroy(scene->fits[i]);
    flr_contact_table_destroy(scene->table);
    flr_voxmap_destroy(scene->voxmap);
    flr_shell_destroy(scene->shell);
    *scene = (flr_motion_scene){0};
}

/* ---- a run ---- */

flr_motion_run flr_default_motion_run(const flr_motion_scene *scene)
{
    return (flr_motion_run){.scene = scene,
                            .frames = 1000,
                            .rate = 1000,
                            .force = 15,
                            .torque = 0.1,
                            .params = flr_default_world_params()};
}

typedef struct bench_motion_runner {
    flr_env *env;
    flr_motion_run *run;
    flr_world *world;
    flr_histogram times, wall;
    uint64_t seen, frame, contacts;
} bench_motion_runner;

static uint64_t nanoseconds(double us) { return us > 0 ? (uint64_t)(us * 1e3) : 0; }

static bool step(void *context, flr_loop_frame *frame)
{
    bench_motion_runner *r = context;
    flr_motion_run *run = r->run;
    const flr_device_sample *sample = &frame->samples[0];
    flr_world_input input = {.T_world_hand = sample->T_base_grip,
                             .twist = sample->twist,
                             .has_twist = sample->has_twist,
                             .fresh = sample->number > r->seen,
                             .has_sent = true,
                             .sent = frame->sent[0]};
    r->seen = sample->number;
    flr_world_frame f;
    int64_t began = flr_clock_ns(r->env);
    double us = flr_bench_processor_us();
    flr_world_step(r->world, &input, &f);
    flr_histogram_add(&r->times, nanoseconds(flr_bench_processor_us() - us));
    flr_histogram_add(&r->wall, (uint64_t)(flr_clock_ns(r->env) - began));
    flr_wrench wrench = flr_world_wrench(r->world, 0);
    frame->wrenches[0] = wrench;
    run->contact_frames += f.contacts > 0;
    run->penetration_frames += f.penetrations > 0;
    run->stopped_frames += f.stopped > 0;
    run->limited_frames += f.limited > 0;
    run->exhausted_frames += f.exhausted > 0;
    run->faults |= f.faults;
    run->deepest = fmax(run->deepest, f.deepest);
    r->contacts += f.contacts;
    if (f.contacts > run->most_contacts) run->most_contacts = f.contacts;
    uint64_t i = r->frame++;
    if (run->poses) run->poses[i] = flr_world_body(r->world, 1)->T_world_part;
    if (run->contacts) run->contacts[i] = f.contacts;
    if (run->felt) {
        const double six[6] = {wrench.force.x,  wrench.force.y,  wrench.force.z,
                               wrench.torque.x, wrench.torque.y, wrench.torque.z};
        for (int k = 0; k < 6; k++) run->felt[6 * i + (uint64_t)k] = (float)six[k];
    }
    return true;
}

static flr_result make_world(const flr_motion_run *run, flr_world **world, flr_error *error)
{
    flr_world_part parts[2] = {flr_default_world_part(), flr_default_world_part()};
    parts[0].shape = flr_pairs_shape_make(NULL, run->scene->table);
    parts[1].shape = flr_pairs_shape_make(run->scene->shell, NULL);
    for (int i = 0; i < 2; i++) parts[i].fit = run->scene->fits[i];
    parts[1].kind = FLR_PART_MOVABLE;
    parts[1].body = run->scene->body;
    parts[1].body.T_world_part = run->target.at(run->target.context, 0);
    flr_world_def def = flr_default_world_def();
    def.parts = parts;
    def.part_count = 2;
    def.dt = 1 / run->rate;
    def.params = run->params;
    return flr_world_create(&def, world, error);
}

static flr_result run_loop(flr_env *env, bench_motion_runner *r, flr_device *device,
                           flr_error *error)
{
    flr_loop_def def = flr_default_loop_def();
    def.env = env;
    def.rate = r->run->rate;
    def.paced = false;
    def.devices[0] = device;
    def.device_count = 1;
    def.step = step;
    def.context = r;
    flr_loop *loop;
    flr_result result = flr_loop_create(&def, &loop, error);
    if (result != FLR_OK) return result;
    flr_world_grab(r->world, 0, 1);
    flr_loop_run(loop, r->run->frames);
    flr_guard_stats guard = flr_guard_get_stats(flr_loop_guard(loop, 0));
    r->run->max_force = guard.max_force;
    r->run->max_torque = guard.max_torque;
    flr_loop_destroy(loop);
    return FLR_OK;
}

static void conclude(const bench_motion_runner *r)
{
    flr_motion_run *run = r->run;
    const flr_passivity *port = flr_world_passivity(r->world, 0);
    run->step_ns = flr_histogram_percentiles(&r->times);
    run->wall_ns = flr_histogram_percentiles(&r->wall);
    run->put = port->put, run->got = port->got, run->deficit = port->deficit;
    run->agility = port->agility;
    run->mean_contacts = (double)r->contacts / (double)run->frames;
    run->T_end = flr_world_body(r->world, 1)->T_world_part;
    run->T_wanted = run->target.at(run->target.context, (double)(run->frames - 1) / run->rate);
}

flr_result flr_motion_do(flr_env *env, flr_motion_run *run, flr_error *error)
{
    bench_motion_runner *r = calloc(1, sizeof *r);
    if (!r) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a run");
    r->env = env;
    r->run = run;
    flr_device *device = NULL;
    flr_result result = make_world(run, &r->world, error);
    if (result == FLR_OK && run->exact)
        result = flr_device_open(&flr_script_driver, &run->target, &device, error);
    if (result == FLR_OK && !run->exact) {
        flr_hand_def hand = flr_default_hand_def();
        hand.target = run->target;
        hand.force = run->force;
        hand.torque = run->torque;
        result = run->open ? run->open(run->context, &hand, &device, error)
                           : flr_device_open(&flr_hand_driver, &hand, &device, error);
    }
    if (result == FLR_OK) result = run_loop(env, r, device, error);
    if (result == FLR_OK) conclude(r);
    flr_device_close(device);
    flr_world_destroy(r->world);
    free(r);
    return result;
}

/* ---- exact surfaces ---- */

flr_result flr_motion_measure(const flr_motion_run *run, flr_motion_exact *told, flr_error *error)
{
    flr_gauge_part *fixed = NULL, *moving = NULL;
    flr_result result = flr_gauge_part_create(run->scene->fixed, &fixed, error);
    if (result == FLR_OK) result = flr_gauge_part_create(run->scene->moving, &moving, error);
    *told = (flr_motion_exact){.least = INFINITY};
    flr_gauge_params params = flr_default_gauge_params();
    params.max_distance = 8 * run->scene->voxel;
    flr_gauge_witness witness = flr_no_witness();
    flr_body body;
    if (result == FLR_OK) result = flr_body_make(&run->scene->body, &body, error);
    double left = 0; /* metres that may be gone before something can be met */
    for (uint64_t i = 0; result == FLR_OK && i < run->frames; i++) {
        if (i > 0) {
            flr_pose from = run->poses[i - 1], to = run->poses[i];
            flr_quat turn = flr_quat_mul(to.q, flr_quat_conjugate(from.q));
            flr_vec3 centre = body.inertia.centre;
            flr_motion motion = {
                flr_quat_to_rotation_vector(turn),
                flr_vec3_sub(flr_pose_apply(to, centre), flr_pose_apply(from, centre))};
            left -= flr_motion_travel(motion, body.reach) * (1 + 1e-9) + 1e-12;
        }
        if (left > 0.8 * told->least) continue; /* not much nearer than before */
        flr_gauge_result r;
        flr_gauge_distance(fixed, moving, flr_pose_identity(), run->poses[i], &params, &witness,
                           &r);
        told->measured++;
        told->meeting += r.meet;
        if (r.found && r.upper < told->least) told->least = r.upper;
        left = r.found ? r.lower : params.max_distance;
    }
    flr_gauge_part_destroy(fixed);
    flr_gauge_part_destroy(moving);
    return result;
}
