/* two parts that come together: with nothing in the way, and with impulses */
#include "bench/approach.h"

#include <math.h>

#include "feeler/dynamics.h"
#include "feeler/voxels.h"

enum {
    PAIRS = 1 << 19,
    LISTED = 1 << 17,
    BENCH_APPROACH_FRAMES = 5
}; /* frames of 1 ms from step to step */

void flr_approach_free(flr_approach *a)
{
    for (int i = 0; i < 2; i++) {
        flr_voxmap_destroy(a->voxmaps[i]);
        flr_shell_destroy(a->shells[i]);
        for (int view = 0; view < FLR_APPROACH_VIEWS; view++)
            flr_sphere_tree_destroy(a->trees[view][i]);
    }
    flr_contact_pair_destroy(a->pair);
    flr_spheres_destroy(a->spheres);
    flr_impulse_destroy(a->impulse);
}

/* Voxels, points and the three trees of one part. */
static flr_result make_part(flr_env *env, const flr_mesh *mesh, int i, flr_approach *a,
                            flr_error *error)
{
    flr_voxelize_def voxelize = flr_default_voxelize_def();
    voxelize.voxel = a->voxel;
    flr_result result =
        flr_voxelize(env, mesh, &voxelize, &a->voxmaps[i], &a->shells[i], NULL, error);
    for (int view = 0; view < FLR_APPROACH_VIEWS && result == FLR_OK; view++) {
        flr_sphere_tree_def def = flr_default_sphere_tree_def();
        def.voxmap = a->voxmaps[i], def.shell = a->shells[i];
        def.view = (flr_sphere_view)(view + FLR_SPHERE_OCTREE);
        int64_t begin = flr_clock_ns(env);
        result = flr_sphere_tree_create(&def, &a->trees[view][i], error);
        if (view == 0) a->build_seconds += 1e-9 * (double)(flr_clock_ns(env) - begin);
    }
    return result;
}

flr_result flr_approach_make(flr_env *env, const flr_model *model, double voxel, flr_approach *a,
                             flr_error *error)
{
    static const char *const files[2] = {"knot.stl", "bracket.stl"};
    *a = (flr_approach){.voxel = voxel};
    flr_result result = FLR_OK;
    for (int i = 0; i < 2 && result == FLR_OK; i++)
        result = make_part(env, flr_model_find_mesh(model, files[i]), i, a, error);
    flr_contact_pair_def pair = flr_default_contact_pair_def();
    pair.shell = a->shells[1], pair.voxmap = a->voxmaps[0];
    pair.capacity = LISTED;
    if (result == FLR_OK) result = flr_contact_pair_create(&pair, &a->pair, error);
    flr_spheres_def room = flr_approach_room();
    if (result == FLR_OK) result = flr_spheres_create(&room, &a->spheres, error);
    if (result == FLR_OK) result = flr_impulse_create(LISTED, &a->impulse, error);
    return result;
}

flr_spheres_def flr_approach_room(void)
{
    return (flr_spheres_def){.pairs = PAIRS, .listed = LISTED, .threads = 1};
}

void flr_approach_sides(const flr_approach *a, const flr_model_path *path, size_t step, int view,
                        flr_spheres_side *bracket, flr_spheres_side *knot)
{
    size_t n = step * (path->count - 1) / (FLR_APPROACH_STEPS - 1);
    *bracket =
        (flr_spheres_side){.tree = a->trees[view][1], .T_world_part = path->poses[n].T_world_part};
    *knot = (flr_spheres_side){.tree = a->trees[view][0], .T_world_part = flr_pose_identity()};
}

void flr_approach_follow(const flr_approach *a, const flr_model_path *path, int view,
                         const flr_spheres_params *params, unsigned repeat,
                         flr_approach_trace *trace)
{
    flr_contact_params contact = flr_default_contact_params();
    *trace = (flr_approach_trace){0};
    for (size_t i = 0; i < FLR_APPROACH_STEPS; i++) {
        flr_spheres_side knot, bracket;
        flr_approach_sides(a, path, i, view, &bracket, &knot);
        const flr_pose T = bracket.T_world_part;
        flr_spheres_result found;
        flr_contact_result touched;
        trace->us[i] = trace->shell_us[i] = INFINITY;
        for (unsigned round = 0; round < repeat; round++) {
            double begin = flr_bench_processor_us();
            flr_spheres_query(a->spheres, &bracket, &knot, params, &found);
            double middle = flr_bench_processor_us();
            flr_contact_query(a->pair, T, flr_pose_identity(), &contact, &touched);
            double end = flr_bench_processor_us();
            trace->us[i] = fmin(trace->us[i], middle - begin);
            trace->shell_us[i] = fmin(trace->shell_us[i], end - middle);
        }
        trace->distance[i] = 1e3 * flr_vec3_length(T.p);
        trace->pairs[i] = found.pairs;
        trace->tests[i] = (double)found.tests;
        trace->contacts[i] = touched.contacts;
    }
}

/* One frame of 1 ms: the hand pulls, the knot stops. Returns what the query found. */
static flr_spheres_result frame(const flr_approach *a, flr_body *body, flr_coupling *coupling,
                                const flr_handle *handle, double us[2])
{
    const double dt = 1e-3;
    flr_stretch stretch;
    if (flr_coupling_stretch(coupling, body, handle, &stretch)) {
        flr_wrench pull = flr_coupling_wrench(coupling, &stretch);
        flr_impulse_body pulled =
            flr_impulse_body_make(body->inertia, body->T_world_part, body->twist);
        body->twist.linear =
            flr_vec3_add_scaled(body->twist.linear, dt * pulled.inverse_mass, pull.force);
        body->twist.angular = flr_vec3_add_scaled(
            body->twist.angular, dt, flr_mat3_apply(pulled.inverse_tensor, pull.torque));
    }
    flr_spheres_side knot = {.tree = a->trees[0][0], .T_world_part = flr_pose_identity()},
                     bracket = {a->trees[0][1], body->T_world_part, body->twist,
                                flr_body_centre(body)};
    flr_spheres_params params = flr_default_spheres_params();
    flr_spheres_result found;
    double begin = flr_bench_processor_us();
    flr_spheres_query(a->spheres, &bracket, &knot, &params, &found);
    double middle = flr_bench_processor_us();
    flr_impulse_body both[2] = {
        flr_impulse_body_make(body->inertia, body->T_world_part, body->twist),
        flr_impulse_body_fixed()};
    flr_impulse_params respond = flr_default_impulse_params();
    respond.slop = 0.25 * a->voxel;
    flr_impulse_result result;
    flr_impulse_clear(a->impulse);
    flr_impulse_add(a->impulse, flr_spheres_list(a->spheres), found.listed, 0, 1);
    flr_impulse_solve(a->impulse, both, 2, &respond, &result);
    us[0] = middle - begin;
    us[1] = flr_bench_processor_us() - middle;
    body->twist = both[0].twist;
    flr_motion drift = flr_body_drift(body, dt),
               shift = {both[0].shift.angular, both[0].shift.linear};
    flr_body_move(body, drift, 1);
    body->T_world_part = flr_motion_apply(body, shift, 1);
    flr_coupling_feel(coupling, body, handle, found.pairs > 0, dt);
    return found;
}

/* Once along the path; times are those of the last of each step's frames. */
static void respond_once(const flr_approach *a, const flr_model_path *path, flr_body body,
                         flr_coupling coupling, flr_approach_trace *trace)
{
    flr_handle handle = {.T_world_handle = body.T_world_part};
    for (size_t i = 0; i < FLR_APPROACH_STEPS; i++) {
        flr_spheres_result found = {0};
        double us[2] = {0};
        for (size_t k = 0; k < BENCH_APPROACH_FRAMES; k++) {
            size_t n = i * (path->count - 1) / (FLR_APPROACH_STEPS - 1), next = n + 1 < path->count;
            flr_pose from = path->poses[n].T_world_part, to = path->poses[n + next].T_world_part;
            handle.T_world_handle =
                flr_pose_interpolate(from, to, (double)k / BENCH_APPROACH_FRAMES);
            handle.twist.linear =
                flr_vec3_scale(flr_vec3_sub(to.p, from.p), 1e3 / BENCH_APPROACH_FRAMES);
            found = frame(a, &body, &coupling, &handle, us);
        }
        trace->distance[i] = 1e3 * flr_vec3_length(body.T_world_part.p);
        trace->pairs[i] = found.pairs;
        trace->tests[i] = (double)found.tests;
        trace->us[i] = fmin(trace->us[i], us[0]);
        trace->response_us[i] = fmin(trace->response_us[i], us[1]);
    }
}

flr_result flr_approach_respond(const flr_approach *a, const flr_model *model,
                                const flr_model_path *path, unsigned repeat,
                                flr_approach_trace *trace, flr_error *error)
{
    flr_body_def def;
    flr_body body;
    flr_result result =
        flr_body_def_from_mesh(flr_model_find_mesh(model, "bracket.stl"), 2700, &def, error);
    if (result != FLR_OK) return result;
    def.T_world_part = path->poses[0].T_world_part;
    flr_handle handle = {.T_world_handle = def.T_world_part};
    flr_coupling_def hold = flr_default_coupling_def();
    hold.stretch = 0.5 * a->voxel;
    flr_coupling coupling;
    result = flr_body_make(&def, &body, error);
    if (result == FLR_OK) result = flr_coupling_grab(&hold, &body, &handle, &coupling, error);
    if (result != FLR_OK) return result;
    *trace = (flr_approach_trace){0};
    for (size_t i = 0; i < FLR_APPROACH_STEPS; i++) trace->us[i] = trace->response_us[i] = INFINITY;
    /* the same bits each time, so that the least time of a step is that of the same work */
    for (unsigned round = 0; round < repeat; round++) respond_once(a, path, body, coupling, trace);
    return FLR_OK;
}
