/* 07 your own device: a driver, from the first line to the first force
 *
 * A driver is a table of five functions. Copy this file, and put the calls of your device's library
 * where a comment says so. What you get for it: the loop, the output guard with its limits, its
 * ramp and its dead-man, recordings, and every program of feeler.
 *
 * The device here is a slider of 200 g on a table, pushed by somebody with 3 N against a wall at
 * x = 0.02 m. It has a button, which must be held for any force. It is simulated in this file, so
 * that the lesson runs anywhere; after a second its cable is pulled out.
 *
 *     build/examples/07_own_device
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/loop.h"

/* ---- what would be the hardware ---- */

typedef struct slider {
    double x, v;         /* m, m/s */
    double pushed, felt; /* N: by the person, by the device */
    int64_t now_ns;
    int unplugged;
} slider;

static void slider_move(slider *s, int64_t now_ns)
{
    double dt = s->now_ns ? 1e-9 * (double)(now_ns - s->now_ns) : 0;
    s->v += dt / 0.2 * (s->pushed + s->felt - 8 * s->v);
    s->x += dt * s->v;
    s->now_ns = now_ns;
}

/* ---- the driver ---- */

/* Opening: find the device, make it ready with no force, say what it can do. `parameters` is what
 * the program gave to flr_device_open(): a port, a serial number, here the slider itself. */
static flr_result my_open(const void *parameters, void **state, flr_device_info *info,
                          flr_error *error)
{
    slider *s = *(slider *const *)parameters;
    /* your library's open call; when it fails, one sentence that says what to do */
    if (s->unplugged)
        return flr_fail(error, FLR_NOT_FOUND, "slider: not connected; plug it in and try again");
    snprintf(info->name, sizeof info->name, "slider");
    info->force = 4;    /* N it can give for as long as you like, not its peak */
    info->torque = 0;   /* N m: it cannot turn */
    info->buttons = 1;  /* how many there are */
    info->dead_man = 0; /* and which of them must be held; -1: none */
    info->own_timeout_ns =
        0;                  /* it would hold its last force if this program died. Tell the truth */
    info->hardware = false; /* true for a real one */
    *state = s;
    return FLR_OK;
}

static void my_close(void *state) { (void)state; /* your library's close call */ }

/* Reading, in the real-time thread: the newest pose, or false when there is nothing new. Never
 * wait here: where your library blocks, read in a thread of your own and hand the newest sample
 * over with flr_latest. */
static bool my_read(void *state, int64_t now_ns, flr_device_sample *sample)
{
    slider *s = state;
    if (s->unplugged) return false;
    slider_move(s, now_ns);
    sample->T_base_grip = flr_pose_make(flr_vec3_make(s->x, 0, 0), flr_quat_identity());
    sample->twist.linear.x = s->v;
    sample->has_twist = true; /* false when the device measures no velocity */
    sample->buttons = 1;
    sample->time_ns = now_ns;
    return true;
}

/* Writing: called by the guard alone. The wrench is finite, within the limits above, and never
 * far from the last one. */
static bool my_write(void *state, int64_t now_ns, const flr_wrench *wrench)
{
    (void)now_ns;
    ((slider *)state)->felt = wrench->force.x; /* your library's call */
    return true;                               /* false when it failed */
}

/* Emergency stop, from any thread, even while a write hangs. */
static void my_stop(void *state) { ((slider *)state)->felt = 0; }

static const flr_device_driver my_driver = {
    .name = "slider",
    .summary = "a slider on a table",
    .open = my_open,
    .close = my_close,
    .read = my_read,
    .write = my_write,
    .stop = my_stop,
};

/* ---- a world to feel: a wall ---- */

static bool wall(void *context, flr_loop_frame *frame)
{
    (void)context;
    double depth = frame->samples[0].T_base_grip.p.x - 0.02;
    if (depth > 0) frame->wrenches[0].force.x = -1000 * depth;
    return true;
}

static void show(const char *when, const slider *s)
{
    printf("%-24s at %5.1f mm, %4.1f N pushed, %5.1f N felt\n", when, 1e3 * s->x, s->pushed,
           s->felt);
}

int main(void)
{
    slider hardware = {.pushed = 3}, *port = &hardware;
    flr_error error;
    flr_device *device = NULL;
    flr_loop *loop = NULL;
    flr_result result = flr_device_open(&my_driver, &port, &device, &error);
    if (result == FLR_OK) {
        flr_loop_def def = flr_default_loop_def();
        def.env = flr_env_real();
        def.devices[0] = device;
        def.device_count = 1;
        def.step = wall;
        def.paced = false; /* nobody is waiting: as fast as it goes, with the time of the frames */
        result = flr_loop_create(&def, &loop, &error);
    }
    if (result != FLR_OK) {
        fprintf(stderr, "%s\n", error.message);
        flr_device_close(device);
        return 1;
    }

    const flr_guard *limits = flr_loop_guard(loop, 0);
    printf("the guard lets through %g N, %g N m, and steps of %.3g N m\n",
           flr_guard_force_limit(limits), flr_guard_torque_limit(limits),
           flr_guard_torque_step(limits));
    flr_loop_run(loop, 50);
    show("after 50 frames:", &hardware);
    flr_loop_run(loop, 950); /* the force has come by its ramp */
    show("after a second:", &hardware);

    hardware.unplugged = 1;
    flr_loop_run(loop, 25);
    show("25 ms without a cable:", &hardware);

    flr_guard_stats guard = flr_guard_get_stats(flr_loop_guard(loop, 0));
    for (unsigned i = 0; i < FLR_FAULT_COUNT; i++)
        if (guard.counts[i])
            printf("the guard saw \"%s\" in %llu frames\n", flr_fault_name(i),
                   (unsigned long long)guard.counts[i]);
    printf("%llu samples were no numbers\n", (unsigned long long)flr_device_bad_samples(device));
    flr_loop_destroy(loop);
    flr_device_close(device);
    return 0;
}
