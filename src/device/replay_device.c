/* replay: the samples of an earlier run, one for each read */
#include <stdlib.h>

#include "base/text.h"
#include "feeler/base.h"
#include "feeler/hand.h"

typedef struct replay {
    flr_replay_def def;
    uint64_t next;
} replay;

static bool array_sample(const void *context, uint64_t n, flr_device_sample *sample)
{
    const flr_replay_array *array = context;
    if (n >= array->count) return false;
    *sample = array->samples[n];
    return true;
}

flr_replay_def flr_replay_from_array(const flr_replay_array *array)
{
    FLR_ASSERT(array && (array->samples || array->count == 0));
    return (flr_replay_def){.sample = array_sample, .context = array, .dead_man = -1};
}

static flr_result replay_open(const void *parameters, void **state, flr_device_info *info,
                              flr_error *error)
{
    const flr_replay_def *def = parameters;
    FLR_ASSERT(def && def->sample);
    replay *r = calloc(1, sizeof *r);
    if (!r) return flr_fail(error, FLR_NO_MEMORY, "replay: out of memory");
    r->def = *def;
    flr_text_copy(info->name, sizeof info->name, "replay");
    info->force = def->force;
    info->torque = def->torque;
    info->buttons = 32;
    info->dead_man = def->dead_man;
    *state = r;
    return FLR_OK;
}

static void replay_close(void *state) { free(state); }

static bool replay_read(void *state, int64_t now_ns, flr_device_sample *sample)
{
    replay *r = state;
    // the n-th frame gets the n-th sample, also where that frame had none
    if (!r->def.sample(r->def.context, r->next++, sample)) return false;
    sample->time_ns = now_ns;
    return true;
}

/* nobody holds it, but the guard works as it did */
static bool replay_write(void *state, int64_t now_ns, const flr_wrench *wrench)
{
    (void)state, (void)now_ns, (void)wrench;
    return true;
}

const flr_device_driver flr_replay_driver = {
    .name = "replay",
    .summary = "the samples of a recording, one per frame",
    .open = replay_open,
    .close = replay_close,
    .read = replay_read,
    .write = replay_write,
};
