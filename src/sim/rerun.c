/* a recording of the controller run again */
#include "sim/rerun.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "feeler/units.h"
#include "sim/journal.h"

enum { PROGRESS = 1000 }; /* frames */

/* a note, kept */
typedef struct note {
    uint64_t frame;
    char *text;
    uint8_t *data;
    size_t size;
} note;

typedef struct rerun {
    const flr_rerun_def *def;
    flr_rerun_result *result;
    // from the recording
    uint32_t hands;
    flr_world_input *inputs; /* [count][hands] */
    uint64_t *hashes;        /* [count] */
    uint64_t count, room;
    note *notes; /* [note_count] */
    size_t note_count, note_room;
    bool no_memory;
    // the world
    flr_engine *engine;
    flr_world_instance *instance;
    flr_static_scene *ground; /* the last one; NULL: none */
} rerun;

static flr_result no_memory(const rerun *r, flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory to run it again", r->def->path);
}

static bool go_on(const rerun *r, uint64_t done, const char *what)
{
    return !r->def->progress || r->def->progress(r->def->context, done, what);
}

/* ---- reading ---- */

static void keep_note(void *context, const flr_record_note *from)
{
    rerun *r = context;
    if (r->note_count == r->note_room) {
        size_t room = r->note_room ? 2 * r->note_room : 64;
        note *notes = realloc(r->notes, room * sizeof *notes);
        r->no_memory |= !notes;
        if (!notes) return;
        r->notes = notes;
        r->note_room = room;
    }
    note *to = &r->notes[r->note_count];
    *to = (note){from->frame, strdup(from->text), malloc(from->size + 1), from->size};
    r->note_count++;
    r->no_memory |= !to->text || !to->data;
    if (to->data && from->size) memcpy(to->data, from->data, from->size);
}

static bool grow(rerun *r)
{
    uint64_t room = r->room ? 2 * r->room : 4096;
    flr_world_input *inputs = realloc(r->inputs, room * r->hands * sizeof *inputs);
    if (inputs) r->inputs = inputs;
    uint64_t *hashes = inputs ? realloc(r->hashes, room * sizeof *hashes) : NULL;
    if (!hashes) return false;
    r->hashes = hashes;
    r->room = room;
    return true;
}

static flr_result keep_frame(rerun *r, const flr_record_view *view, flr_error *error)
{
    flr_rerun_result *to = r->result;
    if (to->behind > 0 || view->frame.frame != r->count) {
        if (to->behind++ == 0)
            snprintf(to->why, sizeof to->why,
                     "frames are missing behind frame %llu: the disk was too slow, or the file is "
                     "damaged",
                     (unsigned long long)r->count - 1);
        return FLR_OK;
    }
    if (r->count == 0) r->hands = view->hand_count;
    if (view->hand_count != r->hands || r->hands == 0 || r->hands > FLR_ENGINE_HANDS)
        return flr_fail(error, FLR_BAD_INPUT, "%s: frame %llu has %u hands", r->def->path,
                        (unsigned long long)r->count, view->hand_count);
    if (r->count == r->room && !grow(r)) return no_memory(r, error);
    for (uint32_t h = 0; h < r->hands; h++) {
        const flr_record_hand *hand = &view->hands[h];
        r->inputs[r->count * r->hands + h] = (flr_world_input){.T_world_hand = hand->T_world_hand,
                                                               .twist = hand->twist,
                                                               .has_twist = hand->has_twist,
                                                               .fresh = hand->fresh,
                                                               .has_sent = hand->has_sent,
                                                               .sent = hand->sent};
    }
    r->hashes[r->count++] = view->frame.hash;
    return FLR_OK;
}

static flr_result read_all(rerun *r, flr_error *error)
{
    flr_record_view view;
    flr_result result;
    flr_recording_tell_notes(r->def->recording, keep_note, r);
    while ((result = flr_recording_next(r->def->recording, &view, error)) == FLR_OK)
        if ((result = keep_frame(r, &view, error)) != FLR_OK) break;
    flr_recording_tell_notes(r->def->recording, NULL, NULL);
    if (result != FLR_CLOSED) return result;
    if (r->no_memory) return no_memory(r, error);
    r->result->complete = flr_recording_complete(r->def->recording);
    if (r->count == 0)
        return flr_fail(error, FLR_BAD_INPUT, "%s holds no frame that could be run again",
                        r->def->path);
    if (r->note_count == 0 || strcmp(r->notes[0].text, "start") != 0)
        return flr_fail(
            error, FLR_BAD_INPUT,
            "%s does not say how the world was when it began (parts were still made ready "
            "or went just then, or an older feeler made it), so it cannot be run again; feeler "
            "report and the viewer show it",
            r->def->path);
    return FLR_OK;
}

/* ---- the scene ---- */

/* Does what waits, until nothing does. `job` 0: none is looked at. */
static flr_result work(rerun *r, uint32_t job, flr_error *error)
{
    flr_engine_event event;
    flr_result result = FLR_OK;
    for (int quiet = 0; quiet < 3;) {
        if (!go_on(r, 0, "making the scene ready"))
            return flr_fail(error, FLR_CANCELLED, "stopped");
        flr_engine_run(r->engine, 1);
        flr_engine_service(r->engine);
        while (flr_engine_next(r->engine, &event))
            if (event.kind == FLR_ENGINE_EVENT_JOB && event.job.job == job &&
                event.job.state == FLR_WIRE_JOB_ENDED && event.job.result != FLR_OK)
                result = flr_fail(error, event.job.result, "%s", event.job.sentence);
        bool busy = flr_engine_jobs(r->engine) > 0 || r->engine->dirty || r->engine->casting ||
                    r->engine->shaping || r->engine->loading;
        quiet = busy ? 0 : quiet + 1;
    }
    return result;
}

static const char *text_of(const rerun *r, uint32_t part, const char *what)
{
    char key[48];
    snprintf(key, sizeof key, "parts.%u.%s", part, what);
    return flr_recording_text(r->def->recording, key);
}

static flr_result compare_parts(rerun *r, flr_error *error)
{
    flr_error why;
    flr_result result = flr_setup_compare(r->def->recording, r->def->scene, &r->engine->members,
                                          &r->result->scene_changed, &why);
    if (result == FLR_BAD_INPUT && r->def->anyway) {
        flr_text_copy(r->result->warning, sizeof r->result->warning, why.message);
        return FLR_OK;
    }
    if (result == FLR_BAD_INPUT)
        return flr_fail(error, result, "%s; --anyway runs it all the same", why.message);
    return result == FLR_OK ? result : flr_fail(error, result, "%s", why.message);
}

/* Voxels and kinds as they were then. */
static flr_result same_parts(rerun *r, flr_error *error)
{
    flr_result result = FLR_OK;
    flr_part_list *all = &r->engine->members;
    for (uint32_t i = 0; i < all->count && result == FLR_OK; i++) {
        flr_part_entry *m = &all->list[i];
        const char *text = text_of(r, i, "voxel"), *free = text_of(r, i, "free"), *end;
        double voxel;
        uint32_t job;
        if (m->kind != FLR_PART_STATIC && free)
            m->kind = strcmp(free, "true") == 0 ? FLR_PART_FREE : FLR_PART_MOVABLE;
        if (!text || flr_number_parse(text, &voxel, &end, NULL) != FLR_OK ||
            voxel == m->shape->voxel)
            continue;
        result = flr_engine_voxelize(r->engine, m->part, voxel, &job, error);
        if (result == FLR_OK) result = work(r, job, error);
    }
    return result;
}

/* The law of contact needs points on the surface, or trees. */
static flr_result same_law(rerun *r, const flr_world_params *params, flr_error *error)
{
    flr_engine *e = r->engine;
    flr_result result = FLR_OK;
    if (e->tuning.world.contact.model != params->contact.model)
        result = flr_engine_set(e, "model", params->contact.model, error);
    if (result == FLR_OK && e->tuning.world.engine != params->engine)
        result = flr_engine_set(e, "engine", params->engine, error);
    return result == FLR_OK ? work(r, 0, error) : result;
}

static flr_result load(rerun *r, flr_error *error)
{
    const flr_setup *setup = r->def->setup;
    flr_engine_def def = flr_threadless_engine_def(r->def->env);
    def.rate = setup->rate;
    def.paced = false;
    def.hands = r->hands;
    def.threads = 0; // voxelizing takes all processors
    def.cache = r->def->cache;
    def.options = setup->options;
    def.merge = false;
    uint32_t job;
    flr_result result = flr_engine_create(&def, &r->engine, error);
    if (result == FLR_OK) result = flr_engine_load(r->engine, r->def->scene->path, &job, error);
    if (result == FLR_OK) result = work(r, job, error);
    if (result == FLR_OK) result = compare_parts(r, error);
    return result;
}

/* The world as it was when the recording began. */
static flr_result begin(rerun *r, flr_error *error)
{
    flr_parameters tuning = flr_default_parameters();
    flr_journal_note entry;
    const char *probes = flr_recording_text(r->def->recording, "probes");
    tuning.world = r->def->setup->params;
    for (size_t i = 0; i < r->note_count; i++) {
        const note *n = &r->notes[i];
        flr_record_note given = {n->frame, n->text, n->data, n->size};
        if (strcmp(n->text, "params") != 0) continue;
        flr_result result = flr_journal_read(&given, r->def->path, &entry, error);
        if (result != FLR_OK) return result;
        tuning.world = entry.params;
        break;
    }
    flr_result result = same_law(r, &tuning.world, error);
    if (result == FLR_OK) result = same_parts(r, error);
    flr_world_instance_def how = flr_engine_instance_def(
        r->engine, &r->engine->members, &tuning.world, probes && strcmp(probes, "true") == 0);
    if (result == FLR_OK) result = flr_world_instance_make(&how, &r->instance, error);
    if (result != FLR_OK) return result;
    if (!r->instance->world ||
        !flr_world_load(r->instance->world, r->notes[0].data, r->notes[0].size))
        return flr_fail(error, FLR_BAD_INPUT,
                        "%s begins with a state that is not one of this scene or this version of "
                        "feeler",
                        r->def->path);
    return FLR_OK;
}

/* ---- journal entries ---- */

static flr_result change_ground(rerun *r, const flr_journal_note *entry, flr_error *error)
{
    const flr_part_list *all = &r->engine->members;
    const uint32_t count = (uint32_t)(entry->size / 4);
    flr_static_scene *ground = flr_static_scene_bare(count);
    flr_result result = ground ? FLR_OK : no_memory(r, error);
    for (uint32_t i = 0; i < count && result == FLR_OK; i++) {
        uint32_t place = flr_journal_static_scene(entry, i);
        if (place < all->count)
            flr_static_scene_add(ground, place, all->list[place].shape,
                                 flr_world_body(r->instance->world, place)->T_world_part);
        else
            result = flr_fail(error, FLR_BAD_INPUT, "%s: a ground of parts that are not there",
                              r->def->path);
    }
    if (result == FLR_OK) result = flr_static_scene_merge(ground, all, 0, NULL, NULL, error);
    if (result != FLR_OK) {
        flr_static_scene_release(ground);
        return result;
    }
    flr_static_scene_set(ground, r->instance->world);
    flr_static_scene_release(r->ground);
    r->ground = ground;
    return FLR_OK;
}

/* FLR_CLOSED: it cannot go on from here. */
static flr_result apply(rerun *r, const note *n, flr_error *error)
{
    flr_record_note given = {n->frame, n->text, n->data, n->size};
    flr_journal_note entry;
    flr_result result = flr_journal_read(&given, r->def->path, &entry, error);
    if (result != FLR_OK) return result;
    switch (entry.kind) {
    case FLR_JOURNAL_STATIC_SCENE:
        return change_ground(r, &entry, error);
    case FLR_JOURNAL_INSTANCE:
    case FLR_JOURNAL_COUPLING:
    case FLR_JOURNAL_LOST:
        snprintf(
            r->result->why, sizeof r->result->why, "%s",
            entry.kind == FLR_JOURNAL_INSTANCE
                ? "parts came, went or got other voxels there, which the file does not hold"
            : entry.kind == FLR_JOURNAL_COUPLING
                ? "parts of a shared session were tied to what other controllers tell, which the "
                  "file does not hold"
                : "the disk was too slow for what was done there");
        return FLR_CLOSED;
    default:
        flr_journal_do(&entry, r->instance->world);
        return FLR_OK;
    }
}

/* ---- running ---- */

static void compare(rerun *r, uint64_t n, const flr_world_frame *frame)
{
    flr_rerun_result *to = r->result;
    to->compared++;
    to->hash = frame->hash;
    if (!to->same || frame->hash.low == r->hashes[n]) return;
    to->same = false;
    to->first = n;
    to->then = r->hashes[n];
    to->now = frame->hash.low;
}

static flr_result run(rerun *r, flr_error *error)
{
    size_t next = 0;
    flr_result result = FLR_OK;
    for (uint64_t n = 0; n < r->count && result == FLR_OK; n++) {
        for (; next < r->note_count && r->notes[next].frame <= n && result == FLR_OK; next++)
            result = apply(r, &r->notes[next], error);
        if (result == FLR_CLOSED) r->result->behind += r->count - n;
        if (result != FLR_OK) break;
        flr_world_frame frame;
        flr_world_step(r->instance->world, r->inputs + n * r->hands, &frame);
        compare(r, n, &frame);
        if (n % PROGRESS == 0 && !go_on(r, n, "frames"))
            result = flr_fail(error, FLR_CANCELLED, "stopped");
    }
    return result == FLR_CLOSED ? FLR_OK : result;
}

flr_result flr_rerun(const flr_rerun_def *def, flr_rerun_result *result, flr_error *error)
{
    flr_rerun_result made = {.same = true};
    rerun r = {.def = def, .result = &made};
    flr_result did = read_all(&r, error);
    if (did == FLR_OK) did = load(&r, error);
    if (did == FLR_OK) did = begin(&r, error);
    if (did == FLR_OK) did = run(&r, error);
    flr_world_instance_free(r.instance);
    flr_static_scene_release(r.ground);
    flr_engine_destroy(r.engine);
    for (size_t i = 0; i < r.note_count; i++) {
        free(r.notes[i].text);
        free(r.notes[i].data);
    }
    free(r.notes);
    free(r.inputs);
    free(r.hashes);
    if (did == FLR_OK) *result = made;
    return did;
}
