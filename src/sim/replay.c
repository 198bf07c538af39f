/* a recording run again */
#include "sim/replay.h"

#include <stdlib.h>

#include "feeler/hand.h"

/* ---- reading ---- */

static flr_result grow(flr_hand_log *m, uint64_t *room, const char *path, flr_error *error)
{
    uint64_t more = *room ? 2 * *room : 4096;
    flr_device_sample *samples = realloc(m->samples, more * sizeof *samples);
    if (samples) m->samples = samples;
    flr_run_sent *sent = samples ? realloc(m->sent, more * sizeof *sent) : NULL;
    if (sent) m->sent = sent;
    uint64_t *hashes = sent ? realloc(m->hashes, more * sizeof *hashes) : NULL;
    if (!hashes)
        return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory for its frames", path);
    m->hashes = hashes;
    *room = more;
    return FLR_OK;
}

static flr_result take(flr_hand_log *m, uint64_t *room, const flr_record_view *view,
                       const char *path, flr_error *error)
{
    if (m->gap ||
        view->frame.frame != m->count) { /* without its hand, what follows is not the same */
        m->gap = true;
        m->behind++;
        return FLR_OK;
    }
    if (view->hand_count != 1)
        return flr_fail(error, FLR_BAD_INPUT, "%s: frame %llu has %u hands, not 1", path,
                        (unsigned long long)m->count, view->hand_count);
    flr_result result = m->count == *room ? grow(m, room, path, error) : FLR_OK;
    if (result != FLR_OK) return result;
    const flr_record_hand *hand = &view->hands[0];
    m->samples[m->count] = (flr_device_sample){.T_base_grip = hand->T_world_hand,
                                               .twist = hand->twist,
                                               .number = hand->fresh,
                                               .buttons = hand->buttons,
                                               .has_twist = hand->has_twist};
    m->sent[m->count] = (flr_run_sent){hand->sent, hand->has_sent};
    m->hashes[m->count++] = view->frame.hash;
    return FLR_OK;
}

flr_result flr_hand_log_read(flr_recording *recording, const char *path, flr_hand_log *motion,
                             flr_error *error)
{
    flr_hand_log found = {0};
    uint64_t room = 0;
    flr_record_view view;
    flr_result result;
    while ((result = flr_recording_next(recording, &view, error)) == FLR_OK)
        if ((result = take(&found, &room, &view, path, error)) != FLR_OK) break;
    if (result == FLR_CLOSED && found.count == 0)
        result = flr_fail(error, FLR_BAD_INPUT, "%s holds no frame that could be replayed", path);
    if (result != FLR_CLOSED) {
        flr_hand_log_free(&found);
        return result;
    }
    found.complete = flr_recording_complete(recording);
    *motion = found;
    return FLR_OK;
}

void flr_hand_log_free(flr_hand_log *motion)
{
    free(motion->samples);
    free(motion->sent);
    free(motion->hashes);
    *motion = (flr_hand_log){0};
}

/* ---- running ---- */

typedef struct comparison {
    const flr_hand_log *motion;
    flr_replay_result *result;
    bool (*progress)(void *context, uint64_t done);
    void *context;
} comparison;

static bool sample_at(const void *context, uint64_t n, flr_device_sample *sample)
{
    const flr_hand_log *motion = context;
    if (n >= motion->count || !motion->samples[n].number) return false;
    *sample = motion->samples[n];
    return true;
}

static void compare(void *context, const flr_world_frame *frame)
{
    comparison *c = context;
    flr_replay_result *to = c->result;
    uint64_t n = to->compared++;
    if (!to->same || frame->hash.low == c->motion->hashes[n]) return;
    to->same = false;
    to->first = n;
    to->then = c->motion->hashes[n];
    to->now = frame->hash.low;
}

static bool go_on(void *context, uint64_t done)
{
    comparison *c = context;
    return !c->progress || c->progress(c->context, done);
}

flr_result flr_replay_run(flr_env *env, const flr_setup *setup, flr_stage *stage,
                          const flr_hand_log *motion,
                          bool (*progress)(void *context, uint64_t done), void *context,
                          flr_replay_result *result, flr_error *error)
{
    flr_replay_result made = {.same = true};
    flr_replay_def hand = {.sample = sample_at,
                           .context = motion,
                           .force = setup->device_force,
                           .torque = setup->device_torque,
                           .dead_man = setup->dead_man};
    flr_device *device;
    flr_result did = flr_device_open(&flr_replay_driver, &hand, &device, error);
    if (did != FLR_OK) return did;
    comparison c = {motion, &made, progress, context};
    flr_run_def def = flr_default_run_def();
    def.env = env;
    def.stage = stage;
    def.part = flr_stage_find(stage, setup->part);
    def.device = device;
    def.frames = motion->count;
    def.rate = setup->rate;
    def.sent = motion->sent;
    def.seen = compare;
    def.progress = go_on;
    def.context = &c;
    did = flr_run(&def, &made.run, error);
    flr_device_close(device);
    if (did == FLR_OK) *result = made;
    return did;
}
