/* a device plugin for tests; STUB_VERSION, STUB_NAME and STUB_LOOK make bad ones of it */
#include <string.h>

#include "feeler/device.h"

#ifndef STUB_NAME
#define STUB_NAME "stub"
#endif
#ifndef STUB_VERSION
#define STUB_VERSION FLR_DEVICE_PLUGIN_VERSION
#endif

static flr_result look(const void *parameters, flr_device_info *info, flr_error *error)
{
    (void)error;
    memcpy(info->name, "stub device", sizeof "stub device");
    if (parameters && !strcmp(parameters, "away")) {
        if (error) memcpy(error->message, "stub: away", sizeof "stub: away");
        return FLR_NOT_FOUND;
    }
    return FLR_OK;
}

static flr_result open_it(const void *parameters, void **state, flr_device_info *info,
                          flr_error *error)
{
    *state = NULL;
    return look(parameters, info, error);
}

static void close_it(void *state) { (void)state; }

static bool read_it(void *state, int64_t now_ns, flr_device_sample *sample)
{
    (void)state;
    sample->T_base_grip.q.w = 1;
    sample->time_ns = now_ns;
    return true;
}

static const flr_device_driver driver = {
    .name = STUB_NAME,
    .summary = "a stub",
    .open = open_it,
    .close = close_it,
    .read = read_it,
#ifndef STUB_LOOK
    .look = look,
#endif
};

extern __attribute__((visibility("default"))) const flr_device_plugin flr_device_plugin_entry;
const flr_device_plugin flr_device_plugin_entry = {STUB_VERSION, &driver};
