/* the reference: every point with every triangle, every triangle with every other */
#include <math.h>

#include "fit/fit_internal.h"
#include "fit/fit_triangle.h"
#include "mesh/nearest.h"

static void corners_of(const flr_mesh *mesh, uint32_t triangle, flr_vec3 corners[3])
{
    for (int i = 0; i < 3; i++) corners[i] = mesh->vertices[mesh->triangles[triangle].v[i]];
}

double flr_fit_reference_winding(const flr_mesh *mesh, flr_vec3 point)
{
    double sum = 0;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        flr_vec3 t[3];
        corners_of(mesh, i, t);
        sum += flr_fit_solid_angle(t, point);
    }
    return sum / (4 * acos(-1));
}

/* how far from the origin coordinates reach */
static double extent_of(flr_box3 box, flr_vec3 point)
{
    return fmax(flr_vec3_length(flr_vec3_max(flr_vec3_neg(box.low), box.high)),
                flr_vec3_length(point));
}

static bool in_box(flr_box3 box, flr_vec3 p)
{
    return p.x >= box.low.x && p.x <= box.high.x && p.y >= box.low.y && p.y <= box.high.y &&
           p.z >= box.low.z && p.z <= box.high.z;
}

flr_fit_point_result flr_fit_reference_point(const flr_mesh *mesh, flr_vec3 point, double reach)
{
    flr_fit_point_result r = {.distance = INFINITY, .nearest = point, .triangle = FLR_NONE};
    if (!flr_vec3_is_finite(point) || !(reach >= 0)) return r;
    double best2 = INFINITY;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        flr_vec3 t[3];
        double d2;
        corners_of(mesh, i, t);
        const flr_vec3 q = flr_fit_on_triangle(t, point, &d2);
        if (d2 < best2) best2 = d2, r.nearest = q, r.triangle = i;
    }
    r.error = flr_fit_rounding(extent_of(mesh->bounds, point));
    r.distance = sqrt(best2);
    if (!(r.distance <= reach)) {
        r = (flr_fit_point_result){
            .distance = INFINITY, .nearest = point, .triangle = FLR_NONE, .error = r.error};
        return r;
    }
    r.found = true;
    const bool inside =
        in_box(mesh->bounds, point) && fabs(flr_fit_reference_winding(mesh, point)) > 0.5;
    flr_vec3 t[3];
    corners_of(mesh, r.triangle, t);
    r.direction = flr_fit_direction(t, point, r.nearest, inside);
    if (inside) r.distance = -r.distance;
    return r;
}

static void least_distance(const flr_mesh *a, const flr_mesh *b, flr_pose T_a_b, double limit,
                           flr_fit_result *r)
{
    flr_nearest best = {.distance2 = limit * limit};
    for (uint32_t i = 0; i < b->triangle_count; i++) {
        flr_vec3 q[3];
        corners_of(b, i, q);
        for (int k = 0; k < 3; k++) q[k] = flr_pose_apply(T_a_b, q[k]);
        for (uint32_t j = 0; j < a->triangle_count; j++) {
            flr_vec3 p[3];
            corners_of(a, j, p);
            if (!flr_triangles_nearest(p, q, &best)) continue;
            r->found = true;
            r->triangle[0] = j, r->triangle[1] = i;
            r->point[0] = best.at[0], r->point[1] = best.at[1];
        }
    }
    if (!r->found) return;
    r->distance = sqrt(best.distance2);
    r->meet = best.distance2 == 0;
    r->normal = flr_vec3_normalize(flr_vec3_sub(r->point[1], r->point[0]));
}

void flr_fit_reference_pair(const flr_fit *a, const flr_mesh *mesh_a, const flr_fit *b,
                            const flr_mesh *mesh_b, flr_pose T_a_b, const flr_fit_params *params,
                            flr_fit_contact *contacts, uint32_t capacity, flr_fit_result *result)
{
    const flr_fit_params asked = params ? *params : flr_default_fit_params();
    flr_fit_begin_result(result);
    if (!flr_pose_is_valid(T_a_b)) return;
    T_a_b.q = flr_quat_normalize(T_a_b.q);
    result->complete = true;
    if (asked.max_distance >= 0) least_distance(mesh_a, mesh_b, T_a_b, asked.max_distance, result);
    const flr_fit *parts[2] = {a, b};
    const flr_mesh *meshes[2] = {mesh_a, mesh_b};
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t i = 0; i < parts[side]->info.samples; i++) {
            const flr_fit_sample *sample = &parts[side]->samples[i];
            const flr_vec3 p = side ? flr_pose_apply(T_a_b, sample->point)
                                    : flr_pose_apply_inverse(T_a_b, sample->point);
            const flr_fit_point_result at = flr_fit_reference_point(meshes[1 - side], p, INFINITY);
            flr_fit_note_sample(parts, T_a_b, side, i, &at, &asked, contacts, capacity, result);
        }
    flr_fit_end_result(parts, T_a_b, &asked, result);
}
