/* a body with a few points between planes */
#include "support/fixtures.h"

void flr_test_rig_begin(flr_test_rig *rig, double mass, flr_vec3 size)
{
    *rig = (flr_test_rig){.params = flr_default_step_params(),
                          .asked = flr_default_contact_params(),
                          .limit = INFINITY};
    flr_body_def def = flr_default_body_def();
    def.inertia = flr_inertia_box(mass, size);
    def.reach = flr_vec3_length(size) / 2;
    flr_error error;
    assert_ok(flr_body_make(&def, &rig->body, &error), error);
    for (int i = 0; i < 8; i++)
        rig->points[rig->point_count++] =
            flr_vec3_make(i & 1 ? size.x / 2 : -size.x / 2, i & 2 ? size.y / 2 : -size.y / 2,
                          i & 4 ? size.z / 2 : -size.z / 2);
    assert_ok(flr_step_create(FLR_TEST_RIG_POINTS * FLR_TEST_RIG_PLANES, &rig->step, &error),
              error);
}

void flr_test_rig_end(flr_test_rig *rig) { flr_step_destroy(rig->step); }

void flr_test_rig_plane(flr_test_rig *rig, flr_vec3 normal, double offset)
{
    rig->planes[rig->plane_count++] = (flr_test_plane){flr_vec3_normalize(normal), offset};
}

void flr_test_rig_grab(flr_test_rig *rig, const flr_coupling_def *def, flr_vec3 point)
{
    flr_error error;
    rig->handle = (flr_handle){.T_world_handle = flr_pose_make(point, flr_quat_identity())};
    assert_ok(flr_coupling_grab(def, &rig->body, &rig->handle, &rig->coupling, &error), error);
    rig->held = true;
}

void flr_test_rig_query(flr_test_rig *rig)
{
    flr_contact_result r = {.lower = INFINITY, .upper = INFINITY};
    flr_vec3 centre = flr_body_centre(&rig->body);
    for (uint32_t i = 0; i < rig->point_count; i++)
        for (uint32_t k = 0; k < rig->plane_count; k++) {
            flr_vec3 p = flr_pose_apply(rig->body.T_world_part, rig->points[i]);
            flr_vec3 n = rig->planes[k].normal, v = flr_body_velocity(&rig->body, p);
            double depth = rig->planes[k].offset - flr_vec3_dot(n, p);
            if (depth > 0) {
                rig->list[r.listed++] =
                    (flr_contact){.point = p, .normal = n, .depth = depth, .index = i};
                r.contacts++;
            } else if (depth > -rig->layer && flr_vec3_dot(n, v) < 0) {
                flr_vec3 share = flr_vec3_scale(v, -flr_vec3_dot(n, v) / flr_vec3_length(v));
                r.near++;
                r.braking = flr_vec3_add(r.braking, share);
                r.braking_turn =
                    flr_vec3_add(r.braking_turn, flr_vec3_cross(flr_vec3_sub(p, centre), share));
            }
        }
    double scale = rig->asked.stiffness;
    if (rig->asked.full && r.contacts > rig->asked.full)
        scale *= (double)rig->asked.full / r.contacts;
    for (uint32_t i = 0; i < r.listed; i++) {
        flr_vec3 force = flr_vec3_scale(rig->list[i].normal, scale * rig->list[i].depth);
        r.wrench = flr_wrench_add(
            r.wrench, flr_wrench_from_force(flr_vec3_sub(rig->list[i].point, centre), force));
    }
    rig->contact = r;
}

void flr_test_rig_step(flr_test_rig *rig)
{
    flr_test_rig_query(rig);
    flr_step_begin(rig->step, &rig->body, &rig->params);
    flr_touches touches = {.list = rig->list,
                           .result = &rig->contact,
                           .asked = &rig->asked,
                           .centre = flr_body_centre(&rig->body),
                           .limit = rig->limit,
                           .friction = rig->friction};
    flr_step_touch(rig->step, &touches);
    if (rig->held) flr_step_pull(rig->step, &rig->coupling, &rig->handle);
    flr_step_solve(rig->step, &rig->result);
    flr_step_move(&rig->result, rig->result.fraction, &rig->body);
    if (rig->held)
        rig->felt = flr_coupling_feel(&rig->coupling, &rig->body, &rig->handle,
                                      rig->result.touching > 0, rig->params.dt);
}

void flr_test_rig_drag(flr_test_rig *rig, flr_vec3 p, int steps)
{
    flr_vec3 from = rig->handle.T_world_handle.p;
    rig->handle.twist.linear = flr_vec3_scale(flr_vec3_sub(p, from), 1 / (steps * rig->params.dt));
    for (int i = 1; i <= steps; i++) {
        rig->handle.T_world_handle.p = flr_vec3_lerp(from, p, (double)i / steps);
        flr_test_rig_step(rig);
    }
    rig->handle.twist = (flr_twist){0};
}
