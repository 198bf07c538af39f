/* A device plugin to copy: a driver in a shared library, found by every program of feeler.
 *
 *     cc -shared -fPIC my_device.c $(pkg-config --cflags --libs feeler) -lm -o my_device.so
 *     FEELER_DEVICES=$PWD feeler doctor
 *     FEELER_DEVICES=$PWD feeler run scene.json --device my_device
 *
 * Put the calls of your device's library where a comment says so; ../07_own_device.c explains the
 * functions one by one and feeds a force back. The device here is nobody's hand, which goes round in
 * a circle, so that the plugin can be tried as it is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "feeler/device.h"

typedef struct my_device {
    int64_t start_ns; /* 0: not read yet */
    double radius;    /* metres */
} my_device;

/* Is it there? Say what is missing and what to do. `parameters` is the text behind "my_device:", or
 * NULL; here it is a radius in metres. */
static flr_result my_look(const void *parameters, flr_device_info *info, flr_error *error)
{
    double radius = parameters ? atof(parameters) : 0.01;
    if (!(radius > 0 && radius < 1))
        return flr_fail(error, FLR_BAD_ARGUMENT, "my_device: the radius is not within 0 and 1 m");
    /* ask your library whether the device answers */
    snprintf(info->name, sizeof info->name, "my device");
    info->force = 0; /* N it bears for long; with a force, `write` and `stop` must be there */
    info->buttons = 1;
    return FLR_OK;
}

static flr_result my_open(const void *parameters, void **state, flr_device_info *info,
                          flr_error *error)
{
    flr_result result = my_look(parameters, info, error);
    if (result != FLR_OK) return result;
    my_device *d = calloc(1, sizeof *d);
    if (!d) return flr_fail(error, FLR_NO_MEMORY, "my_device: out of memory");
    /* your library's open call */
    d->radius = parameters ? atof(parameters) : 0.01;
    info->hardware = true;
    *state = d;
    return FLR_OK;
}

static void my_close(void *state) { free(state); }

/* In the real-time thread: never wait here. Where your library waits, call it in a thread of your
 * own and hand the newest sample over with flr_latest (feeler/base.h). */
static bool my_read(void *state, int64_t now_ns, flr_device_sample *sample)
{
    my_device *d = state;
    if (d->start_ns == 0) d->start_ns = now_ns;
    double angle = 2e-9 * (double)(now_ns - d->start_ns); /* 2 rad/s */
    sample->T_base_grip = flr_pose_identity();
    sample->T_base_grip.p.x = d->radius * sin(angle);
    sample->T_base_grip.p.y = d->radius * (1 - cos(angle));
    sample->buttons = 1;
    sample->time_ns = now_ns;
    return true;
}

static const flr_device_driver my_driver = {
    .name = "my_device",
    .summary = "goes round in a circle",
    .open = my_open,
    .close = my_close,
    .read = my_read,
    .look = my_look,
};

FLR_DEVICE_PLUGIN(my_driver);
