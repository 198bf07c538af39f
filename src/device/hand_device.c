/* simulated hand: an arm that wants to follow a target, holding a device that pushes back
 *
 * Translation and rotation are each a mass m between a spring-damper to the target (the arm: k, b),
 * friction (the device: c viscous, f dry) and the wrench F that was written last. A step of h is
 * implicit in all linear terms, so that it is stable for every choice of them:
 *
 *     m (v1 - v0) = h (k (target1 - x0 - h v1) + b (target velocity - v1) - c v1 + F)
 *
 * then dry friction takes up to h f/m of the speed, and x1 = x0 + h v1. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "feeler/base.h"
#include "feeler/hand.h"

static const int64_t step_ns = 1000000;     /* at most so long is a step of the simulation */
static const int64_t longest_ns = 50000000; /* and so far back it is caught up with */

typedef struct hand {
    flr_hand_def def;
    // the reader's
    bool started;
    int64_t start_ns, now_ns;
    flr_pose pose, target; /* of the grip; of the target at the same time */
    flr_twist twist;
    // from the writer
    flr_latest *written; /* a `command` */
    atomic_bool stopped;
} hand;

typedef struct hand_device_command {
    flr_wrench wrench;
    int64_t time_ns;
} hand_device_command;

flr_hand_def flr_default_hand_def(void)
{
    flr_hand_def def = {
        .arm_stiffness = 300,
        .arm_damping = 15,
        .arm_mass = 0.4,
        .turn_stiffness = 2,
        .turn_damping = 0.04,
        .turn_inertia = 4e-4,
        .device_mass = 0.2,
        .device_inertia = 1e-4,
        .friction = 0.2,
        .turn_friction = 0.002,
        .viscous = 0.5,
        .turn_viscous = 5e-4,
        .force = 15,
        .torque = 0.5,
        .pressed = true,
    };
    return def;
}

/* ---- opening ---- */

static flr_result check(const flr_hand_def *def, flr_error *error)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"arm stiffness", def->arm_stiffness}, {"arm damping", def->arm_damping},
        {"arm mass", def->arm_mass},           {"turn stiffness", def->turn_stiffness},
        {"turn damping", def->turn_damping},   {"turn inertia", def->turn_inertia},
        {"device mass", def->device_mass},     {"device inertia", def->device_inertia},
        {"friction", def->friction},           {"turn friction", def->turn_friction},
        {"viscous friction", def->viscous},    {"viscous turn friction", def->turn_viscous},
        {"limit of the force", def->force},    {"limit of the torque", def->torque},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!(numbers[i].value >= 0 && numbers[i].value <= 1e9))
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "simulated hand: %s %g; it must be 0 or more, at most 1e9",
                            numbers[i].name, numbers[i].value);
    if (def->arm_mass + def->device_mass < 1e-6 || def->turn_inertia + def->device_inertia < 1e-9)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "simulated hand: arm and device need some mass and inertia together");
    return FLR_OK;
}

static flr_result hand_open(const void *parameters, void **state, flr_device_info *info,
                            flr_error *error)
{
    const flr_hand_def *def = parameters;
    FLR_ASSERT(def && def->target.at);
    flr_result result = check(def, error);
    if (result != FLR_OK) return result;
    hand *h = calloc(1, sizeof *h);
    flr_latest *written = flr_latest_create(sizeof(hand_device_command));
    if (!h || !written) {
        flr_latest_destroy(written);
        free(h);
        return flr_fail(error, FLR_NO_MEMORY, "simulated hand: out of memory");
    }
    h->def = *def;
    h->written = written;
    flr_text_copy(info->name, sizeof info->name, "simulated hand");
    info->force = def->force;
    info->torque = def->torque;
    info->own_timeout_ns = def->own_timeout_ns;
    info->buttons = def->dead_man ? 1 : 0;
    info->dead_man = def->dead_man ? 0 : -1;
    *state = h;
    return FLR_OK;
}

static void hand_close(void *state)
{
    hand *h = state;
    flr_latest_destroy(h->written);
    free(h);
}

/* ---- motion ---- */

/* one of the two masses */
typedef struct mass {
    double mass, stiffness, damping, viscous, dry;
} mass;

/* its velocity after h seconds; `error`: from it to the target at the end of the step */
static flr_vec3 next_velocity(const mass *m, flr_vec3 v, flr_vec3 error, flr_vec3 target_velocity,
                              flr_vec3 force, double h)
{
    flr_vec3 push = flr_vec3_add_scaled(force, m->stiffness, error);
    push = flr_vec3_add_scaled(push, m->damping, target_velocity);
    double inertia = m->mass + h * (m->damping + m->viscous) + h * h * m->stiffness;
    v = flr_vec3_scale(flr_vec3_add_scaled(flr_vec3_scale(v, m->mass), h, push), 1 / inertia);
    double speed = flr_vec3_length(v), lost = h * m->dry / inertia;
    return speed <= lost ? flr_vec3_zero() : flr_vec3_scale(v, 1 - lost / speed);
}

/* from the turn `from` to the turn `to`, as a rotation vector along the base's axes */
static flr_vec3 turn_between(flr_quat from, flr_quat to)
{
    return flr_quat_to_rotation_vector(flr_quat_mul(to, flr_quat_conjugate(from)));
}

static void move(hand *h, flr_pose target, flr_wrench wrench, double dt)
{
    const flr_hand_def *d = &h->def;
    mass grip = {d->arm_mass + d->device_mass, d->arm_stiffness, d->arm_damping, d->viscous,
                 d->friction};
    mass turn = {d->turn_inertia + d->device_inertia, d->turn_stiffness, d->turn_damping,
                 d->turn_viscous, d->turn_friction};
    flr_vec3 way = flr_vec3_sub(target.p, h->target.p), spin = turn_between(h->target.q, target.q);
    h->twist.linear = next_velocity(&grip, h->twist.linear, flr_vec3_sub(target.p, h->pose.p),
                                    flr_vec3_scale(way, 1 / dt), wrench.force, dt);
    h->twist.angular = next_velocity(&turn, h->twist.angular, turn_between(h->pose.q, target.q),
                                     flr_vec3_scale(spin, 1 / dt), wrench.torque, dt);
    h->pose.p = flr_vec3_add_scaled(h->pose.p, dt, h->twist.linear);
    flr_quat turned = flr_quat_from_rotation_vector(flr_vec3_scale(h->twist.angular, dt));
    h->pose.q = flr_quat_normalize(flr_quat_mul(turned, h->pose.q));
    h->target = target;
}

/* ---- the driver ---- */

static flr_pose target_at(const hand *h, int64_t time_ns)
{
    return h->def.target.at(h->def.target.context, 1e-9 * (double)(time_ns - h->start_ns));
}

/* what the device gives the hand at this time */
static flr_wrench acting(hand *h, int64_t now_ns)
{
    flr_wrench zero = {{0, 0, 0}, {0, 0, 0}};
    uint64_t number;
    const hand_device_command *c = flr_latest_view(h->written, &number);
    int64_t patience = h->def.own_timeout_ns;
    if (number == 0 || atomic_load(&h->stopped)) return zero;
    return patience > 0 && now_ns - c->time_ns > patience ? zero : c->wrench;
}

static bool hand_read(void *state, int64_t now_ns, flr_device_sample *sample)
{
    hand *h = state;
    if (!h->started) {
        h->started = true;
        h->start_ns = h->now_ns = now_ns;
        h->pose = h->target = target_at(h, now_ns);
    }
    if (now_ns - h->now_ns > longest_ns) {
        // a long stall: nobody was there; the hand is still where it was
        h->now_ns = now_ns - longest_ns;
        h->target = target_at(h, h->now_ns);
    }
    flr_wrench wrench = acting(h, now_ns);
    while (h->now_ns < now_ns) {
        int64_t step = now_ns - h->now_ns < step_ns ? now_ns - h->now_ns : step_ns;
        h->now_ns += step;
        move(h, target_at(h, h->now_ns), wrench, 1e-9 * (double)step);
    }
    sample->T_base_grip = h->pose;
    sample->twist = h->twist;
    sample->has_twist = true;
    sample->time_ns = h->now_ns;
    sample->buttons = h->def.dead_man && h->def.pressed ? 1 : 0;
    return true;
}

static bool hand_write(void *state, int64_t now_ns, const flr_wrench *wrench)
{
    hand *h = state;
    hand_device_command c = {*wrench, now_ns};
    flr_latest_write(h->written, &c);
    atomic_store(&h->stopped, false);
    return true;
}

static void hand_stop(void *state) { atomic_store(&((hand *)state)->stopped, true); }

typedef struct hand_device_saved {
    int64_t start_ns, now_ns;
    flr_pose pose, target;
    flr_twist twist;
    hand_device_command written;
    uint32_t started, commanded, stopped;
    uint32_t zero;
} hand_device_saved;

static void hand_save(void *state, void *bytes)
{
    hand *h = state;
    uint64_t number;
    const hand_device_command *c = flr_latest_view(h->written, &number);
    hand_device_saved s = {h->start_ns,
                           h->now_ns,
                           h->pose,
                           h->target,
                           h->twist,
                           *c,
                           h->started,
                           number > 0,
                           atomic_load(&h->stopped),
                           0};
    memcpy(bytes, &s, sizeof s);
}

static void hand_load(void *state, const void *bytes, int64_t shift_ns)
{
    hand *h = state;
    hand_device_saved s;
    memcpy(&s, bytes, sizeof s);
    h->start_ns = s.start_ns + shift_ns, h->now_ns = s.now_ns + shift_ns;
    h->pose = s.pose, h->target = s.target, h->twist = s.twist;
    h->started = s.started;
    s.written.time_ns += shift_ns;
    if (s.commanded) flr_latest_write(h->written, &s.written);
    atomic_store(&h->stopped, s.stopped);
}

const flr_device_driver flr_hand_driver = {
    .name = "hand",
    .summary = "a simulated arm that follows a target and feels the force",
    .open = hand_open,
    .close = hand_close,
    .read = hand_read,
    .write = hand_write,
    .stop = hand_stop,
    .saved = sizeof(hand_device_saved),
    .save = hand_save,
    .load = hand_load,
};
