/* what a hand feels between two steps: the planes that its part touched in the last one
 *
 * The hand pulls the part by the coupling's spring, K, and each plane pushes it by a spring of its own, k. Let h be the way, turn
 * and shift, from the grip to the handle, d the way of the grip since the step, and J d the part of it along a plane's normal at
 * its point. Pushed by lambda, the part goes by d = h + K^-1 J^T lambda, and lambda = k max(0, depth - J d). With at most eight
 * planes, a few sweeps of Gauss-Seidel solve that; what the hand feels is J^T lambda. */
#include <math.h>
#include <string.h>

#include "feeler/dynamics.h"

enum { LOCAL_SWEEPS = 24 };
static const double same_normal = 0.95; /* cosine: contacts of one plane */

/* ---- making ---- */

void flr_local_begin(flr_local_model *model, const flr_coupling *coupling, const flr_body *body,
                     flr_pose T_world_handle, flr_wrench wrench)
{
    *model =
        (flr_local_model){.T_world_handle = T_world_handle,
                          .T_world_grip = flr_pose_mul(body->T_world_part, coupling->T_part_handle),
                          .stiffness = coupling->stiffness,
                          .turn_stiffness = coupling->turn_stiffness,
                          .force_limit = coupling->force_limit,
                          .torque_limit = coupling->torque_limit,
                          .feel = coupling->feel,
                          .reach = body->reach,
                          .wrench = wrench,
                          .set = true};
}

/* How unlike a plane a contact is: 0 for the same place and direction. */
static double unlike(const flr_local_model *m, const flr_local_plane *plane,
                     const flr_local_plane *contact)
{
    const double far = flr_vec3_distance(plane->point, contact->point);
    return 1 - flr_vec3_dot(plane->normal, contact->normal) + (m->reach > 0 ? far / m->reach : 0);
}

/* Both become one, which is as stiff as both together and pushes as hard. */
static void unite(flr_local_plane *plane, const flr_local_plane *contact)
{
    const double sum = plane->stiffness + contact->stiffness, share = contact->stiffness / sum;
    plane->point = flr_vec3_lerp(plane->point, contact->point, share);
    plane->normal = flr_vec3_normalize(flr_vec3_lerp(plane->normal, contact->normal, share));
    plane->depth += share * (contact->depth - plane->depth);
    plane->stiffness = sum;
}

void flr_local_add(flr_local_model *model, flr_local_plane contact)
{
    if (!(contact.stiffness > 0) || !flr_vec3_is_finite(contact.point) ||
        !flr_vec3_is_finite(contact.normal) || !isfinite(contact.depth))
        return;
    flr_local_plane *best = NULL;
    for (uint32_t i = 0; i < model->count; i++) {
        flr_local_plane *plane = &model->planes[i];
        if (!best || unlike(model, plane, &contact) < unlike(model, best, &contact)) best = plane;
    }
    const bool alike = best && flr_vec3_dot(best->normal, contact.normal) > same_normal &&
                       unlike(model, best, &contact) < 0.25;
    if (alike || model->count == FLR_LOCAL_PLANES)
        unite(best, &contact);
    else
        model->planes[model->count++] = contact;
}

/* ---- asking ---- */

/* a plane as the spring between handle and part sees it */
typedef struct local_row {
    flr_vec3 normal, moment;
    double missing; /* metres: how deep the part would be if it went with the hand */
    double yield;   /* m/N, of the plane itself */
    double push;    /* N */
} local_row;

static double row_product(const flr_local_model *m, const local_row *a, const local_row *b)
{
    const double turn =
        m->turn_stiffness > 0 ? flr_vec3_dot(a->moment, b->moment) / m->turn_stiffness : 0;
    return flr_vec3_dot(a->normal, b->normal) / m->stiffness + turn;
}

static void solve_rows(const flr_local_model *m, local_row *rows)
{
    double a[FLR_LOCAL_PLANES][FLR_LOCAL_PLANES];
    for (uint32_t i = 0; i < m->count; i++)
        for (uint32_t k = 0; k < m->count; k++) a[i][k] = row_product(m, &rows[i], &rows[k]);
    for (int sweep = 0; sweep < LOCAL_SWEEPS; sweep++)
        for (uint32_t i = 0; i < m->count; i++) {
            local_row *r = &rows[i];
            double left = r->missing - r->yield * r->push;
            for (uint32_t k = 0; k < m->count; k++) left -= a[i][k] * rows[k].push;
            r->push = fmax(0, r->push + left / (a[i][i] + r->yield));
        }
}

static flr_vec3 at_most(flr_vec3 v, double limit)
{
    const double length = flr_vec3_length(v);
    return length > limit ? flr_vec3_scale(v, limit / length) : v;
}

/* What the planes alone let the hand feel where it is. */
static flr_wrench wrench_of_planes(const flr_local_model *m, flr_pose T_world_handle)
{
    const flr_vec3 shift = flr_vec3_sub(T_world_handle.p, m->T_world_grip.p);
    const flr_vec3 turn = flr_quat_to_rotation_vector(
        flr_quat_mul(T_world_handle.q, flr_quat_conjugate(m->T_world_grip.q)));
    local_row rows[FLR_LOCAL_PLANES];
    for (uint32_t i = 0; i < m->count; i++) {
        const flr_local_plane *p = &m->planes[i];
        const flr_vec3 arm = flr_vec3_sub(p->point, m->T_world_grip.p);
        rows[i] = (local_row){.normal = p->normal,
                              .moment = flr_vec3_cross(arm, p->normal),
                              .yield = 1 / p->stiffness};
        rows[i].missing = p->depth - flr_vec3_dot(p->normal, shift) -
                          (m->turn_stiffness > 0 ? flr_vec3_dot(rows[i].moment, turn) : 0);
    }
    solve_rows(m, rows);
    flr_wrench sum = {0};
    for (uint32_t i = 0; i < m->count; i++) {
        sum.force = flr_vec3_add_scaled(sum.force, rows[i].push, rows[i].normal);
        if (m->turn_stiffness > 0)
            sum.torque = flr_vec3_add_scaled(sum.torque, rows[i].push, rows[i].moment);
    }
    sum.force = at_most(sum.force, m->force_limit);
    sum.torque = at_most(sum.torque, m->torque_limit);
    return flr_wrench_scale(sum, m->feel);
}

/* What the step let the hand feel besides, by friction and damping, stays as long as the planes do. */
static flr_vec3 with_rest(flr_vec3 planes, flr_vec3 planes_then, flr_vec3 then)
{
    const double before = flr_vec3_length(planes_then);
    const double share = before > 0 ? fmin(1, flr_vec3_length(planes) / before) : 1;
    return flr_vec3_add_scaled(planes, share, flr_vec3_sub(then, planes_then));
}

flr_wrench flr_local_wrench(const flr_local_model *model, flr_pose T_world_handle)
{
    if (!model->set || !flr_pose_is_valid(T_world_handle)) return (flr_wrench){0};
    const flr_wrench now = wrench_of_planes(model, T_world_handle);
    const flr_wrench then = wrench_of_planes(model, model->T_world_handle);
    const flr_wrench sum = {
        at_most(with_rest(now.torque, then.torque, model->wrench.torque), model->torque_limit),
        at_most(with_rest(now.force, then.force, model->wrench.force), model->force_limit)};
    const bool fine = flr_vec3_is_finite(sum.force) && flr_vec3_is_finite(sum.torque);
    return fine ? sum : (flr_wrench){0};
}
