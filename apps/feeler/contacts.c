/* the asking of feeler contacts: each pose by the engine asked for */
#include "contacts.h"

#include <math.h>

#include "output.h"

enum { MAX_STEPS = 1000 }; /* from one pose to the next, to keep the travel limit */

flr_result flr_contacts_make_engine(flr_contacts_job *j, flr_obstacle *o, flr_error *error)
{
    if (j->engine == FLR_CONTACTS_SPHERES) {
        flr_spheres_def room = {
            .pairs = 1 << 20, .listed = 1 << 16, .threads = j->threads > 1 ? j->threads : 1};
        flr_result result = flr_shape_tree(o->shape, j->view, &o->tree, error);
        if (result == FLR_OK) result = flr_shape_tree(j->moving, j->view, &j->tree, error);
        if (result == FLR_OK && !j->spheres) result = flr_spheres_create(&room, &j->spheres, error);
        if (result != FLR_OK) return result;
    }
    if (j->engine == FLR_CONTACTS_COHERENT) {
        flr_coherent_def def = flr_default_coherent_def();
        def.shell = j->moving->shell;
        def.voxmap = o->shape->voxmap;
        def.table = o->shape->table;
        def.capacity = 0;
        if (j->tests > 0) def.tests_per_frame = j->tests / (double)j->obstacle_count;
        flr_result result = flr_coherent_create(&def, &o->coherent, error);
        if (result != FLR_OK) return result;
    }
    if (j->engine != FLR_CONTACTS_CULLED && !j->sweep) return FLR_OK;
    flr_contact_pair_def def = flr_default_contact_pair_def();
    if (j->threads > 1) def.threads = j->threads;
    def.shell = j->moving->shell;
    def.voxmap = o->shape->voxmap;
    def.table = o->shape->table;
    def.capacity = 0;
    return flr_contact_pair_create(&def, &o->pair, error);
}

/* By sphere trees: pairs of intersecting voxels in place of points; force and torque by their depths, shared among many as
 * with points. Nothing is said of distances but whether surfaces may meet. */
static void ask_spheres(flr_contacts_job *j, const flr_obstacle *o, flr_pose T_world_shell,
                        flr_contact_result *one)
{
    flr_spheres_side moving = {.tree = j->tree, .T_world_part = T_world_shell},
                     other = {.tree = o->tree, .T_world_part = o->T_world_voxmap};
    flr_spheres_result found;
    flr_spheres_query(j->spheres, &moving, &other, &j->search, &found);
    j->incomplete += !found.complete;
    *one = (flr_contact_result){.contacts = found.pairs,
                                .penetrations = found.pairs,
                                .listed = found.listed,
                                .points_tested = found.tests,
                                .upper = INFINITY,
                                .far = found.pairs == 0};
    flr_vec3 centre = flr_pose_apply(T_world_shell, j->params.centre);
    const flr_voxel_pair *list = flr_spheres_list(j->spheres);
    for (uint32_t i = 0; i < found.listed; i++) {
        flr_vec3 place = flr_vec3_lerp(list[i].centre_a, list[i].centre_b, 0.5);
        flr_vec3 force = flr_vec3_scale(list[i].normal, j->params.stiffness * list[i].depth);
        one->wrench =
            flr_wrench_add(one->wrench, flr_wrench_from_force(flr_vec3_sub(place, centre), force));
    }
    if (j->params.full && found.pairs > j->params.full)
        one->wrench = flr_wrench_scale(one->wrench, (double)j->params.full / found.pairs);
    /* the surfaces of two voxels that intersect are no farther apart than their diagonals */
    if (found.pairs)
        one->upper = sqrt(3) * (flr_sphere_tree_get_info(j->tree).voxel +
                                flr_sphere_tree_get_info(o->tree).voxel);
}

/* One pose against all obstacles: counts and wrenches add up, the nearest one gives the distance. */
static flr_contact_result ask(flr_contacts_job *j, flr_pose T_world_shell, double *max_travel)
{
    flr_contact_result sum = {.lower = INFINITY, .upper = INFINITY, .far = true};
    *max_travel = INFINITY;
    for (size_t i = 0; i < j->obstacle_count; i++) {
        const flr_obstacle *o = &j->obstacles[i];
        flr_contact_result one;
        if (j->engine == FLR_CONTACTS_SPHERES)
            ask_spheres(j, o, T_world_shell, &one);
        else if (j->engine == FLR_CONTACTS_REFERENCE)
            flr_contact_reference(j->moving->shell, o->shape->voxmap, T_world_shell,
                                  o->T_world_voxmap, &j->params, NULL, 0, &one);
        else if (o->coherent) {
            flr_coherent_result r;
            flr_coherent_query(o->coherent, T_world_shell, o->T_world_voxmap, &j->params, &r);
            *max_travel = fmin(*max_travel, r.max_travel);
            one = r.contact;
        } else
            flr_contact_query(o->pair, T_world_shell, o->T_world_voxmap, &j->params, &one);
        sum.contacts += one.contacts;
        sum.penetrations += one.penetrations;
        sum.points_tested += one.points_tested;
        sum.wrench.force = flr_vec3_add(sum.wrench.force, one.wrench.force);
        sum.wrench.torque = flr_vec3_add(sum.wrench.torque, one.wrench.torque);
        sum.lower = fmin(sum.lower, one.lower);
        sum.upper = fmin(sum.upper, one.upper);
        sum.far &= one.far;
    }
    return sum;
}

/* How many tests fit into half a millisecond: measured at the first pose, shared by the obstacles. */
static void measure_capacity(flr_cli *cli, flr_contacts_job *j)
{
    for (size_t i = 0; i < j->obstacle_count; i++) {
        const flr_obstacle *o = &j->obstacles[i];
        j->tests += flr_coherent_calibrate(o->coherent, cli->env, j->poses.poses[0].T_world_part,
                                           o->T_world_voxmap, &j->params,
                                           0.5e-3 / (double)j->obstacle_count);
    }
}

static flr_pose between(flr_pose from, flr_pose to, double part)
{
    flr_quat a = from.q, b = to.q;
    double dot = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z, rest = 1 - part,
           more = dot < 0 ? -part : part;
    flr_pose T = {
        .p = flr_vec3_add(flr_vec3_scale(from.p, rest), flr_vec3_scale(to.p, part)),
        .q = flr_quat_normalize((flr_quat){rest * a.w + more * b.w, rest * a.x + more * b.x,
                                           rest * a.y + more * b.y, rest * a.z + more * b.z})};
    return part < 1 ? T : to;
}

/* Goes from one pose near to the next in steps within the travel limit, the last of which is left to the caller. Where it
 * would take too many, it is a jump, after which everything is looked at. */
static void approach(flr_contacts_job *j, flr_pose from, flr_pose to, double max_travel,
                     flr_pose_answer *a)
{
    const flr_coherent *engine = j->obstacles->coherent;
    double at = 0, way;
    flr_pose T = from;
    while ((way = flr_coherent_travel(engine, T, to)) > max_travel && a->steps < MAX_STEPS) {
        double part = at + (1 - at) * 0.98 * max_travel / way;
        T = between(from, to, part);
        at = part;
        ask(j, T, &max_travel);
        a->steps++;
    }
    j->jumps += way > max_travel;
}

void flr_contacts_ask(flr_cli *cli, flr_contacts_job *j)
{
    double limit;
    if (j->engine == FLR_CONTACTS_COHERENT && !(j->tests > 0)) measure_capacity(cli, j);
    /* the first look at memory is not what is measured */
    ask(j, j->poses.poses[0].T_world_part, &limit);
    for (size_t i = 0; i < j->poses.count; i++) {
        if (i % 256 == 0) flr_progress(cli, i, j->poses.count, "poses");
        flr_pose_answer *a = &j->answers[i];
        flr_pose T = j->poses.poses[i].T_world_part;
        if (i && j->engine == FLR_CONTACTS_COHERENT)
            approach(j, j->poses.poses[i - 1].T_world_part, T, a[-1].max_travel, a);
        a->steps++;
        int64_t begin = flr_clock_ns(cli->env);
        a->sum = ask(j, T, &a->max_travel);
        a->us = (double)(flr_clock_ns(cli->env) - begin) * 1e-3;
    }
}

void flr_contacts_sweep(flr_cli *cli, flr_contacts_job *j)
{
    flr_motion_check_params params = flr_default_motion_check_params();
    if (j->params.force_layer < params.layer) params.layer = j->params.force_layer;
    params.displacement = j->params.displacement;
    params.unchecked = 0;
    for (size_t i = 0; i < j->poses.count; i++) {
        if (i % 64 == 0) flr_progress(cli, i, j->poses.count, "motions");
        flr_pose_answer *a = &j->answers[i];
        a->free = 1;
        for (size_t k = 0; i > 0 && k < j->obstacle_count; k++) {
            const flr_obstacle *o = &j->obstacles[k];
            flr_pose_span shell = {j->poses.poses[i - 1].T_world_part,
                                   j->poses.poses[i].T_world_part},
                          voxmap = {o->T_world_voxmap, o->T_world_voxmap};
            flr_motion_check_result r;
            flr_contact_check_motion(o->pair, shell, voxmap, &params, &r);
            if (!(r.fraction < a->free)) continue;
            a->free = r.fraction;
            a->stopped = r.stopped;
            a->place = r.point;
        }
    }
}
