/* a device for tests (see probe_device.h) */
#include "support/probe_device.h"

#include <time.h>

void flr_test_probe_init(flr_test_probe *probe)
{
    memset(probe, 0, sizeof *probe);
    probe->info.dead_man = -1;
    probe->info.workspace = flr_box3_empty();
    probe->info.force = 15;
    probe->info.torque = 0.5;
    probe->info.buttons = 1;
    probe->pose = flr_pose_identity();
    snprintf(probe->info.name, sizeof probe->info.name, "probe");
}

static flr_result probe_open(const void *parameters, void **state, flr_device_info *info,
                             flr_error *error)
{
    (void)error;
    flr_test_probe *probe = (flr_test_probe *)parameters;
    *info = probe->info;
    *state = probe;
    probe->opens++;
    return FLR_OK;
}

static void probe_close(void *state) { ((flr_test_probe *)state)->closes++; }

static bool probe_read(void *state, int64_t now_ns, flr_device_sample *sample)
{
    flr_test_probe *probe = state;
    probe->reads++;
    if (probe->silent) return false;
    sample->T_base_grip = probe->pose;
    sample->buttons = probe->buttons;
    sample->time_ns = now_ns;
    return true;
}

static bool probe_write(void *state, int64_t now_ns, const flr_wrench *wrench)
{
    flr_test_probe *probe = state;
    while (probe->hang) {
        probe->hanging = true;
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    probe->hanging = false;
    if (probe->deaf) return false;
    probe->writes++;
    probe->wrench = *wrench;
    probe->time_ns = now_ns;
    if (probe->on_write) probe->on_write(probe->context, now_ns, wrench);
    return true;
}

static void probe_stop(void *state) { ((flr_test_probe *)state)->stops++; }

const flr_device_driver flr_test_probe_driver = {
    .name = "probe",
    .summary = "plays what it is told and keeps what it is given",
    .open = probe_open,
    .close = probe_close,
    .read = probe_read,
    .write = probe_write,
    .stop = probe_stop,
};
