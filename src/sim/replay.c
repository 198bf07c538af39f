/* a recording run again */
#include "sim/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "feeler/hand.h"
#include "sim/journal.h"

enum { PROGRESS = 1000 }; /* frames */

/* ---- reading ---- */

typedef struct reading {
    flr_hand_log log;
    uint64_t room;
    size_t note_room;
    bool live, no_memory;
    bool some; /* frames were left out on purpose */
} reading;

static flr_result no_memory(const char *path, flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory for its frames", path);
}

static void keep_note(void *context, const flr_record_note *from)
{
    reading *r = context;
    flr_hand_log *log = &r->log;
    if (!FLR_GROW(log->notes, log->note_count, r->note_room, 64)) {
        r->no_memory = true;
        return;
    }
    uint8_t *data = malloc(from->size + 1);
    char *text = strdup(from->text);
    if (data && from->size) memcpy(data, from->data, from->size);
    log->notes[log->note_count++] = (flr_record_note){from->frame, text, data, from->size};
    r->no_memory |= !text || !data;
}

static bool grow(reading *r)
{
    flr_hand_log *log = &r->log;
    uint64_t room = r->room ? 2 * r->room : 4096;
    if (!flr_array_resize(&log->inputs, room * log->hands, sizeof *log->inputs) ||
        !flr_array_resize(&log->buttons, room, sizeof *log->buttons) ||
        !flr_array_resize(&log->hashes, room, sizeof *log->hashes))
        return false;
    r->room = room;
    return true;
}

static flr_result keep_frame(reading *r, const flr_record_view *view, flr_error *error)
{
    flr_hand_log *log = &r->log;
    if (log->gap ||
        view->frame.frame != log->count) { /* without its hands, what follows is not the same */
        log->gap = true;
        log->behind++;
        return FLR_OK;
    }
    if (log->count == 0) log->hands = r->live ? view->hand_count : 1;
    if (view->hand_count != log->hands || log->hands == 0 || log->hands > FLR_ENGINE_HANDS)
        return flr_fail(error, FLR_BAD_INPUT, "%s: frame %llu has %u hands%s", log->path,
                        (unsigned long long)log->count, view->hand_count, r->live ? "" : ", not 1");
    if (log->count == r->room && !grow(r)) return no_memory(log->path, error);
    for (uint32_t h = 0; h < log->hands; h++) {
        const flr_record_hand *hand = &view->hands[h];
        log->inputs[log->count * log->hands + h] =
            (flr_world_input){.T_world_hand = hand->T_world_hand,
                              .twist = hand->twist,
                              .has_twist = hand->has_twist,
                              .fresh = hand->fresh,
                              .has_sent = hand->has_sent,
                              .sent = hand->sent};
    }
    log->buttons[log->count] = view->hands[0].buttons;
    log->hashes[log->count++] = view->frame.hash;
    return FLR_OK;
}

static flr_result check_log(const reading *r, flr_error *error)
{
    const flr_hand_log *log = &r->log;
    if (r->no_memory) return no_memory(log->path, error);
    if (log->count == 0)
        return flr_fail(error, FLR_BAD_INPUT, "%s holds no frame that could be %s", log->path,
                        r->live ? "run again" : "replayed");
    if (r->live && r->some)
        return flr_fail(
            error, FLR_BAD_INPUT,
            "%s holds only some frames of the loop, so it cannot be run again; feeler report and "
            "the viewer show it; a recording of every frame can be run again",
            log->path);
    if (r->live && (log->note_count == 0 || strcmp(log->notes[0].text, "start") != 0))
        return flr_fail(
            error, FLR_BAD_INPUT,
            "%s does not say how the world was when it began (parts were still made ready "
            "or went just then, or an older feeler made it), so it cannot be run again; feeler "
            "report and the viewer show it",
            log->path);
    return FLR_OK;
}

flr_result flr_hand_log_read(flr_recording *recording, const char *path, flr_hand_log *log,
                             flr_error *error)
{
    const char *source = flr_recording_text(recording, "source");
    reading r = {.log.path = path, .live = source && strcmp(source, "serve") == 0};
    const char *frames = flr_recording_text(recording, "frames");
    r.some = frames && strcmp(frames, "some") == 0;
    flr_record_view view;
    flr_result result;
    if (r.live) flr_recording_tell_notes(recording, keep_note, &r);
    while ((result = flr_recording_next(recording, &view, error)) == FLR_OK)
        if ((result = keep_frame(&r, &view, error)) != FLR_OK) break;
    flr_recording_tell_notes(recording, NULL, NULL);
    if (result == FLR_CLOSED) result = check_log(&r, error);
    if (result != FLR_OK) {
        flr_hand_log_free(&r.log);
        return result;
    }
    r.log.complete = flr_recording_complete(recording);
    *log = r.log;
    return FLR_OK;
}

void flr_hand_log_free(flr_hand_log *log)
{
    for (size_t i = 0; i < log->note_count; i++) {
        free((char *)(uintptr_t)log->notes[i].text);
        free((void *)(uintptr_t)log->notes[i].data);
    }
    free(log->notes);
    free(log->inputs);
    free(log->buttons);
    free(log->hashes);
    *log = (flr_hand_log){0};
}

/* ---- the world ---- */

flr_result flr_replay_stage(flr_env *env, const flr_setup *setup, const flr_recording *recording,
                            const flr_scene *scene, const flr_hand_log *log,
                            const flr_stage_def *like, flr_stage **stage, flr_error *error)
{
    if (!setup->live) return flr_setup_stage(env, setup, scene, like, stage, error);
    flr_setup then = *setup;
    flr_stage_def def = *like;
    flr_journal_entry entry;
    flr_result result = FLR_OK;
    size_t i = 0;
    while (i < log->note_count && strcmp(log->notes[i].text, "params") != 0) i++;
    if (i < log->note_count) {
        result = flr_journal_read(&log->notes[i], log->path, &entry, error);
        if (result == FLR_OK) then.params = entry.as.params.params;
    }
    def.live = recording;
    def.hands = log->hands;
    return result == FLR_OK ? flr_setup_stage(env, &then, scene, &def, stage, error) : result;
}

/* ---- running ---- */

typedef struct comparison {
    const flr_hand_log *log;
    flr_stage *stage;
    flr_replay_result *result;
    bool (*progress)(void *context, uint64_t done);
    void *context;
} comparison;

static void compare(void *context, const flr_world_frame *frame)
{
    comparison *c = context;
    flr_replay_result *to = c->result;
    uint64_t n = to->compared++;
    to->run.hash = frame->hash;
    if (!to->same || frame->hash.low == c->log->hashes[n]) return;
    to->same = false;
    to->first = n;
    to->then = c->log->hashes[n];
    to->now = frame->hash.low;
}

static bool go_on(void *context, uint64_t done)
{
    comparison *c = context;
    return !c->progress || c->progress(c->context, done);
}

/* ---- … of feeler run ---- */

static bool sample_at(const void *context, uint64_t n, flr_device_sample *sample)
{
    const flr_hand_log *log = context;
    if (n >= log->count || !log->inputs[n].fresh) return false;
    *sample = (flr_device_sample){.T_base_grip = log->inputs[n].T_world_hand,
                                  .twist = log->inputs[n].twist,
                                  .number = 1,
                                  .buttons = log->buttons[n],
                                  .has_twist = log->inputs[n].has_twist};
    return true;
}

static flr_result run_again(flr_env *env, const flr_setup *setup, comparison *c, flr_error *error)
{
    flr_replay_def hand = {.sample = sample_at,
                           .context = c->log,
                           .force = setup->device_force,
                           .torque = setup->device_torque,
                           .dead_man = setup->dead_man};
    flr_device *device;
    flr_result did = flr_device_open(&flr_replay_driver, &hand, &device, error);
    if (did != FLR_OK) return did;
    flr_run_def def = flr_default_run_def();
    def.env = env;
    def.stage = c->stage;
    def.part = flr_stage_find(c->stage, setup->part);
    def.device = device;
    def.frames = c->log->count;
    def.rate = setup->rate;
    def.said = c->log->inputs;
    def.seen = compare;
    def.progress = go_on;
    def.context = c;
    did = flr_run(&def, &c->result->run, error);
    flr_device_close(device);
    return did;
}

/* ---- … of a controller ---- */

static flr_result change_merged(comparison *c, const flr_noted_parts *parts, flr_error *error)
{
    const flr_part_list *all = &c->stage->parts;
    const uint32_t count = (uint32_t)parts->count;
    flr_static_scene *merged = flr_static_scene_bare(count);
    flr_result result = merged ? FLR_OK : no_memory(c->log->path, error);
    for (uint32_t i = 0; i < count && result == FLR_OK; i++) {
        uint32_t index = flr_journal_part(parts, i);
        if (index < all->count)
            flr_static_scene_add(merged, index, all->list[index].shape,
                                 flr_world_body(c->stage->world, index)->T_world_part);
        else
            result = flr_fail(error, FLR_BAD_INPUT, "%s: a ground of parts that are not there",
                              c->log->path);
    }
    if (result == FLR_OK) result = flr_static_scene_merge(merged, all, 0, NULL, NULL, error);
    if (result != FLR_OK) {
        flr_static_scene_release(merged);
        return result;
    }
    flr_static_scene_set(merged, c->stage->world);
    flr_static_scene_release(c->stage->merged);
    c->stage->merged = merged;
    return FLR_OK;
}

/* FLR_CLOSED: it cannot go on from here. */
static flr_result apply(comparison *c, const flr_record_note *note, flr_error *error)
{
    flr_journal_entry entry;
    flr_result result = flr_journal_read(note, c->log->path, &entry, error);
    if (result != FLR_OK) return result;
    const char *why;
    if (flr_journal_repeats(entry.kind, &why)) flr_journal_do(&entry, c->stage->world);
    if (entry.kind == FLR_JOURNAL_STATIC_SCENE)
        return change_merged(c, &entry.as.static_scene.parts, error);
    if (!why) return FLR_OK;
    flr_text_copy(c->result->why, sizeof c->result->why, why);
    return FLR_CLOSED;
}

static flr_result run_live(comparison *c, flr_error *error)
{
    const flr_hand_log *log = c->log;
    flr_world *world = c->stage->world;
    flr_result result = FLR_OK;
    size_t next = 0;
    if (log->gap)
        snprintf(c->result->why, sizeof c->result->why,
                 "frames are missing behind frame %llu: the disk or the machine was too busy, or "
                 "the file is "
                 "damaged",
                 (unsigned long long)log->count - 1);
    if (!world || !flr_world_load(world, log->notes[0].data, log->notes[0].size))
        return flr_fail(error, FLR_BAD_INPUT,
                        "%s begins with a state that is not one of this scene or this version of "
                        "feeler",
                        log->path);
    for (uint64_t n = 0; n < log->count && result == FLR_OK; n++) {
        for (; next < log->note_count && log->notes[next].frame <= n && result == FLR_OK; next++)
            result = apply(c, &log->notes[next], error);
        if (result == FLR_CLOSED) c->result->behind += log->count - n;
        if (result != FLR_OK) break;
        flr_world_frame frame;
        flr_world_step(world, log->inputs + n * log->hands, &frame);
        compare(c, &frame);
        if (n % PROGRESS == 0 && !go_on(c, n)) result = flr_fail(error, FLR_CANCELLED, "stopped");
    }
    return result == FLR_CLOSED ? FLR_OK : result;
}

flr_result flr_replay_run(flr_env *env, const flr_setup *setup, flr_stage *stage,
                          const flr_hand_log *log, bool (*progress)(void *context, uint64_t done),
                          void *context, flr_replay_result *result, flr_error *error)
{
    flr_replay_result made = {.same = true, .behind = log->behind};
    comparison c = {log, stage, &made, progress, context};
    flr_result did = setup->live ? run_live(&c, error) : run_again(env, setup, &c, error);
    if (did == FLR_OK) *result = made;
    return did;
}
