/* a device that is fed by another thread */
#include "feeler/hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"

enum { BUTTONS = 32 };

typedef struct target {
    flr_pose T_base_grip;
    uint32_t buttons;
    bool present;
    uint64_t jumps;  /* so far; the newest counts: */
    flr_pose T_jump; /* the hand was put there */
} target;

struct flr_remote {
    flr_latest *latest; /* target: from those who feed to the device */
    target given;       /* the last one; theirs */
    double rate;        /* 1/s: of the spring; 0: at once */

    // the device's
    flr_pose pose;
    flr_twist twist;
    int64_t time_ns;
    bool begun;
    uint64_t jumps; /* that it has made */
};

/* A critically damped spring takes two thirds of the way in about 2.2 of its times. */
static const double two_thirds = 2.2;

flr_remote *flr_remote_create(double glide)
{
    FLR_ASSERT(glide >= 0 && glide <= 1);
    flr_remote *remote = calloc(1, sizeof *remote);
    flr_latest *latest = flr_latest_create(sizeof(target));
    if (!remote || !latest) {
        free(remote);
        flr_latest_destroy(latest);
        return NULL;
    }
    remote->latest = latest;
    remote->rate = glide > 0 ? two_thirds / glide : 0;
    remote->given.T_base_grip = remote->pose = flr_pose_identity();
    return remote;
}

void flr_remote_destroy(flr_remote *remote)
{
    if (!remote) return;
    flr_latest_destroy(remote->latest);
    free(remote);
}

bool flr_remote_set(flr_remote *remote, flr_pose T_base_grip, uint32_t buttons)
{
    FLR_ASSERT(remote);
    if (!flr_pose_is_valid(T_base_grip)) return false;
    remote->given.T_base_grip = T_base_grip;
    remote->given.buttons = buttons;
    remote->given.present = true;
    flr_latest_write(remote->latest, &remote->given);
    return true;
}

bool flr_remote_jump(flr_remote *remote, flr_pose T_base_grip)
{
    FLR_ASSERT(remote);
    if (!flr_pose_is_valid(T_base_grip)) return false;
    remote->given.jumps++;
    remote->given.T_jump = T_base_grip;
    return flr_remote_set(remote, T_base_grip, remote->given.buttons);
}

void flr_remote_clear(flr_remote *remote)
{
    FLR_ASSERT(remote);
    remote->given.present = false;
    remote->given.buttons = 0;
    flr_latest_write(remote->latest, &remote->given);
}

/* ---- the driver ---- */

static flr_result remote_open(const void *parameters, void **state, flr_device_info *info,
                              flr_error *error)
{
    // the device reads what the other side writes: it changes its own half only
    union {
        const void *given;
        void *own;
    } remote = {.given = parameters};
    if (!parameters)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "remote: no hand to follow; make one with flr_remote_create()");
    *state = remote.own;
    memcpy(info->name, "remote hand", sizeof "remote hand");
    info->buttons = BUTTONS;
    return FLR_OK;
}

static void remote_close(void *state) { ((flr_remote *)state)->begun = false; }

/* What is left of a distance and its speed after `dt` on a critically damped spring. */
static void relax(flr_vec3 *away, flr_vec3 *speed, double rate, double dt)
{
    double left = exp(-rate * dt);
    flr_vec3 pull = flr_vec3_add_scaled(*speed, rate, *away);
    *away = flr_vec3_scale(flr_vec3_add_scaled(*away, dt, pull), left);
    *speed = flr_vec3_scale(flr_vec3_add_scaled(*speed, -rate * dt, pull), left);
}

static void glide(flr_remote *r, const target *to, double dt)
{
    flr_vec3 away = flr_vec3_sub(r->pose.p, to->T_base_grip.p);
    flr_quat between = flr_quat_mul(r->pose.q, flr_quat_conjugate(to->T_base_grip.q));
    flr_vec3 turn = flr_quat_to_rotation_vector(between);
    relax(&away, &r->twist.linear, r->rate, dt);
    relax(&turn, &r->twist.angular, r->rate, dt);
    r->pose.p = flr_vec3_add(to->T_base_grip.p, away);
    r->pose.q =
        flr_quat_normalize(flr_quat_mul(flr_quat_from_rotation_vector(turn), to->T_base_grip.q));
}

static bool remote_read(void *state, int64_t now_ns, flr_device_sample *sample)
{
    flr_remote *r = state;
    target to;
    if (flr_latest_read(r->latest, &to) == 0 || !to.present) {
        r->begun = false;
        return false;
    }
    bool jumped = to.jumps != r->jumps && r->rate > 0;
    if (!r->begun || jumped || r->rate == 0) {
        r->pose = jumped ? to.T_jump : to.T_base_grip;
        r->twist = (flr_twist){{0, 0, 0}, {0, 0, 0}};
    } else {
        glide(r, &to, 1e-9 * (double)(now_ns - r->time_ns));
    }
    r->jumps = to.jumps;
    r->begun = true;
    r->time_ns = now_ns;
    *sample = (flr_device_sample){.T_base_grip = r->pose,
                                  .twist = r->twist,
                                  .time_ns = now_ns,
                                  .buttons = to.buttons,
                                  .has_twist = r->rate > 0};
    return true;
}

const flr_device_driver flr_remote_driver = {
    .name = "remote",
    .summary = "fed by a page or a host application",
    .open = remote_open,
    .close = remote_close,
    .read = remote_read,
};
