/* feeler contacts --exact, --tolerance: the triangles themselves */
#include <math.h>

#include "contacts.h"
#include "output.h"

static const char *const kind_names[] = {"vertex", "edge", "face"};

/* ---- measuring ---- */

/* With a sign, and with how sure it is. Parts that meet, or are one in the other, are so deep in each other. */
static void measure_signed(const flr_contacts_job *j, flr_pose T_world_moving, flr_pose_answer *a)
{
    flr_fit_params params = flr_default_fit_params();
    params.reach = -1; /* no samples */
    a->distance = INFINITY;
    for (size_t i = 0; i < j->obstacle_count; i++) {
        const flr_obstacle *o = &j->obstacles[i];
        const flr_pose T = o->T_world_voxmap;
        flr_fit_result r;
        flr_fit_pair_query(o->fits, flr_pose_mul(flr_pose_inverse(T), T_world_moving), &params,
                           NULL, 0, &r);
        if (!r.found || r.distance >= a->distance) continue;
        a->distance = r.distance;
        a->error = fmax(r.upper - r.distance, r.distance - r.lower);
        a->points[0] = flr_pose_apply(T, r.point[1]);
        a->points[1] = flr_pose_apply(T, r.point[0]);
    }
}

/* One pose against all obstacles: the nearest counts. What is known already bounds the search in the next. */
static void measure(flr_contacts_job *j, flr_pose T_world_moving, flr_pose_answer *a)
{
    flr_gauge_params params = flr_default_gauge_params();
    for (size_t i = 0; i < j->obstacle_count; i++) {
        flr_obstacle *o = &j->obstacles[i];
        flr_gauge_result r;
        if (!j->exact) {
            a->within |= flr_gauge_within(j->gauge, o->gauge, T_world_moving, o->T_world_voxmap,
                                          j->tolerance, 0, &o->witness) == FLR_ANSWER_YES;
            continue;
        }
        flr_gauge_distance(j->gauge, o->gauge, T_world_moving, o->T_world_voxmap, &params,
                           &o->witness, &r);
        if (r.found && (!a->nearest.found || r.upper < a->nearest.upper)) {
            a->nearest = r;
            a->nearest_obstacle = i;
            params.max_distance = r.upper;
        }
    }
    if (j->exact) measure_signed(j, T_world_moving, a);
    if (j->exact) a->within = j->tolerance >= 0 && a->nearest.upper <= j->tolerance;
}

static flr_result make_fits(flr_cli *cli, flr_mesh_asset *moving, flr_obstacle *o, flr_error *error)
{
    const flr_fit *a, *b;
    flr_result result = flr_mesh_asset_fit(o->shape->mesh, cli->env, NULL, &a, error);
    if (result == FLR_OK) result = flr_mesh_asset_fit(moving, cli->env, NULL, &b, error);
    return result == FLR_OK ? flr_fit_pair_create(a, b, &o->fits, error) : result;
}

flr_result flr_contacts_measure(flr_cli *cli, flr_contacts_job *j, flr_error *error)
{
    flr_result result = flr_mesh_asset_gauge(j->moving->mesh, &j->gauge, error);
    for (size_t i = 0; i < j->obstacle_count && result == FLR_OK; i++) {
        j->obstacles[i].witness = flr_no_witness();
        result = flr_mesh_asset_gauge(j->obstacles[i].shape->mesh, &j->obstacles[i].gauge, error);
        if (result == FLR_OK && j->exact)
            result = make_fits(cli, j->moving->mesh, &j->obstacles[i], error);
    }
    for (size_t i = 0; i < j->poses.count && result == FLR_OK; i++) {
        if (i % 256 == 0) flr_progress(cli, i, j->poses.count, "measuring");
        int64_t begin = flr_clock_ns(cli->env);
        measure(j, j->poses.poses[i].T_world_part, &j->answers[i]);
        j->answers[i].exact_us = (double)(flr_clock_ns(cli->env) - begin) * 1e-3;
    }
    return result;
}

size_t flr_contacts_within(const flr_contacts_job *j)
{
    size_t count = 0;
    for (size_t i = 0; j->answers && i < j->poses.count; i++) count += j->answers[i].within;
    return count;
}

/* the pose with the least distance, or the first within the tolerance */
static size_t worst(const flr_contacts_job *j)
{
    size_t at = 0;
    for (size_t i = 1; i < j->poses.count; i++) {
        const flr_pose_answer *a = &j->answers[i], *b = &j->answers[at];
        if (j->exact ? a->nearest.upper < b->nearest.upper : a->within && !b->within) at = i;
    }
    return at;
}

/* ---- telling ---- */

void flr_contacts_exact_columns(flr_cli *cli, const flr_contacts_job *j, const flr_pose_answer *a)
{
    if (j->exact) {
        const flr_spot *m = &a->nearest.a, *o = &a->nearest.b;
        flr_print(cli, " %11.6f %9.4f %9.4f %9.4f %9.4f %9.4f %9.4f %-6s %-6s",
                  1e3 * a->nearest.upper, 1e3 * m->point.x, 1e3 * m->point.y, 1e3 * m->point.z,
                  1e3 * o->point.x, 1e3 * o->point.y, 1e3 * o->point.z, kind_names[m->kind],
                  kind_names[o->kind]);
    }
    if (j->tolerance >= 0) flr_print(cli, " %6s", a->within ? "yes" : "no");
}

void flr_contacts_print_exact(flr_cli *cli, const flr_contacts_job *j)
{
    if (!j->gauge) return;
    const size_t at = worst(j), within = flr_contacts_within(j);
    const flr_gauge_result *r = &j->answers[at].nearest;
    if (j->exact && r->meet)
        flr_print(cli, "the surfaces meet, first at t = %.4f s, %.4g mm deep there\n",
                  j->poses.poses[at].t, -1e3 * fmin(j->answers[at].distance, 0));
    else if (j->exact)
        flr_print(cli, "nearest at t = %.4f s: %.6g mm between %s and %s\n", j->poses.poses[at].t,
                  1e3 * r->upper, kind_names[r->a.kind], kind_names[r->b.kind]);
    if (j->tolerance < 0) return;
    if (within == 0)
        flr_print(cli, "%sthe parts stay more than %.6g mm apart%s\n", flr_green(cli),
                  1e3 * j->tolerance, flr_plain(cli));
    else
        flr_print(cli, "%sin %zu pose%s the parts are within %.6g mm of each other%s\n",
                  flr_red(cli), within, flr_noun(within, "", "s"), 1e3 * j->tolerance,
                  flr_plain(cli));
}

static json_t *spot_json(const flr_spot *spot)
{
    json_t *object = flr_json_object(), *vertices = flr_json_array();
    flr_json_set(object, "point", flr_json_vec3(spot->point));
    flr_json_set(object, "on", flr_json_text(kind_names[spot->kind]));
    flr_json_set(object, "triangle", flr_json_count(spot->triangle));
    for (int i = 0; i < 2; i++)
        if (spot->vertices[i] != FLR_NONE)
            flr_json_push(vertices, flr_json_count(spot->vertices[i]));
    flr_json_set(object, "vertices", vertices);
    return object;
}

void flr_contacts_exact_json(const flr_contacts_job *j, const flr_pose_answer *a,
                             struct json_t *pose)
{
    if (j->exact) {
        json_t *exact = flr_json_object();
        flr_json_set(exact, "distance", flr_json_number(a->nearest.upper));
        flr_json_set(exact, "meet", json_boolean(a->nearest.meet));
        flr_json_set(exact, "obstacle", flr_json_count(a->nearest_obstacle));
        flr_json_set(exact, "moving", spot_json(&a->nearest.a));
        flr_json_set(exact, "other", spot_json(&a->nearest.b));
        flr_json_set(exact, "us", flr_json_number(a->exact_us));
        flr_json_set(pose, "exact", exact);
        json_t *distance = json_object_get(pose, "distance"), *points = flr_json_array();
        for (int i = 0; i < 2; i++) flr_json_push(points, flr_json_vec3(a->points[i]));
        flr_json_set(distance, "exact", flr_json_number(a->distance));
        flr_json_set(distance, "error", flr_json_number(a->error));
        flr_json_set(distance, "points", points);
    }
    if (j->tolerance >= 0) flr_json_set(pose, "within_tolerance", json_boolean(a->within));
}

void flr_contacts_exact_summary(const flr_contacts_job *j, struct json_t *sum)
{
    if (j->exact)
        flr_json_set(sum, "exact_distance", flr_json_number(j->answers[worst(j)].nearest.upper));
    if (j->tolerance < 0) return;
    flr_json_set(sum, "tolerance", flr_json_number(j->tolerance));
    flr_json_set(sum, "within_tolerance", flr_json_count(flr_contacts_within(j)));
}
