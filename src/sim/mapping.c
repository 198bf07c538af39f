/* the workspace of a device in the world */
#include "sim/mapping.h"

#include <math.h>

#define MAX_DT       0.02 /* s */
#define BUBBLE       0.8  /* of the workspace */
#define BUBBLE_SPEED 0.8  /* of the workspace, per second, where the device is at its boundary */
#define DRIFT                                                                                      \
    0.6 /* of the distance from the middle, for a way of the device as long as half the workspace */
#define NO_LIMIT 0.25 /* m: what a device without a limit counts as */

flr_mapping_def flr_default_mapping_def(void)
{
    return (flr_mapping_def){.T_world_base = flr_pose_identity(),
                             .scale = 1,
                             .workspace = flr_box3_empty(),
                             .clutch_button = FLR_MAPPING_NO_BUTTON};
}

flr_mapping flr_mapping_make(const flr_mapping_def *def)
{
    return (flr_mapping){.def = *def,
                         .turn = flr_quat_identity(),
                         .T_base_grip = flr_pose_identity(),
                         .T_world_hand = def->T_world_base};
}

static bool has_workspace(const flr_mapping *m)
{
    const flr_box3 b = m->def.workspace;
    return b.low.x < b.high.x && b.low.y < b.high.y && b.low.z < b.high.z;
}

/* Of the grip, from the middle of the workspace; metres of the device. */
static flr_vec3 local(const flr_mapping *m, flr_vec3 p)
{
    return has_workspace(m) ? flr_vec3_sub(p, flr_box3_centre(m->def.workspace)) : p;
}

/* Without shift and turn. */
static flr_pose direct(const flr_mapping *m, flr_pose T_base_grip)
{
    T_base_grip.p = flr_vec3_scale(local(m, T_base_grip.p), m->def.scale);
    return flr_pose_mul(m->def.T_world_base, T_base_grip);
}

/* Shift and turn such that the last sample gives T_world_hand. */
static void keep_hand(flr_mapping *m)
{
    const flr_pose T = direct(m, m->T_base_grip);
    m->shift = flr_vec3_sub(m->T_world_hand.p, T.p);
    m->turn = flr_quat_normalize(flr_quat_mul(flr_quat_conjugate(T.q), m->T_world_hand.q));
    m->moved = true;
}

/* Where the device is in its workspace: 1 on an ellipsoid that fills it. */
static double outness(const flr_mapping *m, flr_vec3 at, flr_vec3 *half)
{
    const flr_box3 b = m->def.workspace;
    *half = flr_vec3_scale(flr_vec3_sub(b.high, b.low), 0.5);
    return flr_vec3_length((flr_vec3){at.x / half->x, at.y / half->y, at.z / half->z});
}

static void cross_boundary(flr_mapping *m, flr_vec3 p, double dt)
{
    const flr_vec3 at = local(m, p);
    flr_vec3 half, along = {0, 0, 0};
    const double out = outness(m, at, &half);
    const double size = flr_vec3_length(half);
    m->outside = false;
    if (m->def.boundary == FLR_BOUNDARY_BUBBLE && out > BUBBLE) {
        const double share = fmin((out - BUBBLE) / (1 - BUBBLE), 1);
        const double speed = BUBBLE_SPEED * size * share * share * share;
        along = flr_vec3_scale(flr_vec3_normalize(at), speed * fmin(fmax(dt, 0), MAX_DT));
        m->outside = true;
    } else if (m->def.boundary == FLR_BOUNDARY_DRIFT && m->begun) {
        // no farther than the device itself went: what stands does not drift, and a jump is none
        const double way = fmin(flr_vec3_distance(p, m->T_base_grip.p), size);
        along = flr_vec3_scale(at, fmin(DRIFT * way / size, 1));
    }
    if (flr_vec3_length(along) == 0) return;
    along = flr_quat_rotate(m->def.T_world_base.q, flr_vec3_scale(along, m->def.scale));
    m->shift = flr_vec3_add(m->shift, along);
    m->moved = true;
}

flr_pose flr_mapping_follow(flr_mapping *m, flr_pose T_base_grip, uint32_t buttons, double dt)
{
    const int32_t button = m->def.clutch_button;
    if (!m->begun) { /* another device begins in the middle */
        m->shift = flr_vec3_make(0, 0, 0);
        m->turn = flr_quat_identity();
        m->moved = m->outside = false;
    }
    m->clutched = m->held || (button >= 0 && button < 32 && (buttons >> button & 1));
    if (m->clutched && m->begun) {
        m->T_base_grip = T_base_grip;
        m->outside = false;
        keep_hand(m);
        return m->T_world_hand;
    }
    if (m->def.boundary != FLR_BOUNDARY_NONE && has_workspace(m))
        cross_boundary(m, T_base_grip.p, dt);
    m->T_base_grip = T_base_grip;
    m->begun = true;
    flr_pose T = direct(m, T_base_grip);
    if (m->moved)
        T = flr_pose_make(flr_vec3_add(T.p, m->shift),
                          flr_quat_normalize(flr_quat_mul(T.q, m->turn)));
    m->T_world_hand = T;
    return T;
}

void flr_mapping_change(flr_mapping *m, const flr_mapping_def *def)
{
    m->def = *def;
    if (m->begun) keep_hand(m);
}

void flr_mapping_put(flr_mapping *m, flr_pose T_world_hand)
{
    m->T_world_hand = T_world_hand;
    keep_hand(m);
}

bool flr_mapping_workspace(const flr_mapping *m, flr_pose *T_world_workspace, flr_vec3 *half)
{
    if (!has_workspace(m)) return false;
    const flr_box3 b = m->def.workspace;
    *half = flr_vec3_scale(flr_vec3_sub(b.high, b.low), m->def.scale / 2);
    *T_world_workspace =
        flr_pose_make(flr_vec3_add(m->def.T_world_base.p, m->shift), m->def.T_world_base.q);
    return true;
}

static flr_vec3 extents(flr_box3 box) { return flr_vec3_sub(box.high, box.low); }

double flr_mapping_scale(flr_box3 workspace, flr_box3 scene)
{
    // its axes may lie along any of the scene's: the mean of them reaches nearly everything
    const flr_vec3 reach = extents(workspace), all = extents(scene);
    const double limit = (reach.x + reach.y + reach.z) / 3, size = fmax(all.x, fmax(all.y, all.z));
    if (!(size > 0) || !isfinite(size)) return 1;
    const double scale = size / (limit > 0 && isfinite(limit) ? limit : NO_LIMIT);
    const double digit = pow(10, floor(log10(scale)) - 1);
    return fmin(fmax(round(scale / digit) * digit, 0.05), 20);
}
