/* recordings: the loop pushes frames into a ring, a thread of their own takes them to the file */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "base/array.h"
#include "base/prefault.h"
#include "base/text.h"
#include "feeler/base.h"
#include "feeler/version.h"
#include "sim/journal.h"
#include "sim/recording_tap.h"
#include "sim/setup.h"

static const int64_t service_ns = 20000000;
static const char ending[] = ".mcap";
enum { ENTRIES = 8192 }; /* that may wait for the disk, besides some for each part */

/* one that is being made */
struct flr_taping {
    flr_recording_tap *tap;
    uint32_t index; /* in the engine's list */
    bool stopping;  /* the loop has been asked to give it back */
    bool back;      /* it did */
    // with threads
    flr_env *env;
    pthread_t thread;
    bool threaded;
    atomic_bool end;    /* the loop pushes no more */
    atomic_bool failed; /* the disk said no */
    atomic_bool done;   /* the file is closed, and what follows is known */
    flr_result result;
    flr_error error; /* when it failed */
    uint64_t frames, lost, bytes;
    uint64_t missed; /* journal entries that found no room, as far as noted */
    char *path;
};

/* ---- the list ---- */

static flr_engine_recording *add_recording(flr_engine *e)
{
    if (!FLR_GROW(e->recordings, e->recording_count, e->recording_room, 16)) return NULL;
    flr_engine_recording *r = &e->recordings[e->recording_count];
    memset(r, 0, sizeof *r);
    r->recording = e->recording_count++;
    r->turned = flr_quat_identity();
    return r;
}

/* Takes back the entry that was added last. */
static void remove_last(flr_engine *e)
{
    const flr_engine_recording *r = &e->recordings[--e->recording_count];
    free((char *)r->path);
    free((char *)r->scene_path);
}

static bool found_file(void *context, const char *name)
{
    flr_engine *e = context;
    size_t length = strlen(name);
    flr_path_info info;
    char path[FLR_CACHE_PATH_SIZE];
    if (length < sizeof ending || strcmp(name + length - (sizeof ending - 1), ending) != 0)
        return true;
    int size = snprintf(path, sizeof path, "%s/%s", e->def.recordings, name);
    if (size < 0 || (size_t)size >= sizeof path) return true;
    if (flr_path_look(e->def.env, path, &info, NULL) != FLR_OK || info.kind != FLR_PATH_FILE)
        return true;
    flr_engine_recording *r = add_recording(e);
    if (!r) return false;
    r->path = strdup(path);
    if (!r->path) {
        remove_last(e);
        return false;
    }
    snprintf(r->name, sizeof r->name, "%.*s", (int)(length - sizeof ending + 1), name);
    r->bytes = info.size;
    r->finished = true;
    flr_recording *recording;
    if (flr_recording_open(e->def.env, path, &recording, NULL) == FLR_OK) {
        const char *rate = flr_recording_text(recording, "rate");
        double hz = rate ? strtod(rate, NULL) : 0;
        const char *scene = flr_recording_text(recording, "scene.name"),
                   *hash = flr_recording_text(recording, "scene.hash"),
                   *of = flr_recording_text(recording, "scene");
        flr_text_copy(r->scene, sizeof r->scene, scene ? scene : "");
        flr_text_copy(r->scene_hash, sizeof r->scene_hash, hash ? hash : "");
        r->scene_path = of ? strdup(of) : NULL;
        /* of one whose writer died no frame is counted, since all of it had to be read for that */
        if ((flr_recording_length(recording, &r->frames, &r->seconds) ||
             flr_recording_reach(recording, &r->seconds)) &&
            hz > 0)
            r->seconds += 1 / hz; /* the last frame lasts, too */
        flr_recording_close(recording);
    }
    return true;
}

flr_result flr_engine_list_recordings(flr_engine *e, flr_error *error)
{
    flr_path_info info;
    if (!e->def.recordings) return FLR_OK;
    flr_result result = flr_path_look(e->def.env, e->def.recordings, &info, error);
    if (result != FLR_OK || info.kind != FLR_PATH_FOLDER) return result;
    return flr_path_list(e->def.env, e->def.recordings, found_file, e, error);
}

uint32_t flr_engine_recordings(const flr_engine *e) { return e->recording_count; }

bool flr_engine_recording_at(const flr_engine *e, uint32_t index, flr_engine_recording *out)
{
    if (index >= e->recording_count) return false;
    *out = e->recordings[index];
    return true;
}

/* ---- what it is about ---- */

/* What is recorded when nothing has happened yet: the first part that may move. */
static const char *first_moving(const flr_engine *e)
{
    for (uint32_t i = 0; i < e->members.count; i++)
        if (e->members.list[i].kind != FLR_PART_STATIC) return e->members.list[i].name;
    return "";
}

/* `scene`: the file that has the parts as they are now. */
static flr_result describe(flr_engine *e, const char *scene, flr_texts *texts, flr_error *error)
{
    flr_setup setup = flr_default_setup();
    setup.options = e->def.options;
    setup.rate = e->def.rate;
    setup.params = e->tuning.world;
    setup.tool = e->tools[0];
    setup.live = true;
    const struct {
        const char *key, *text;
    } lines[] = {{"version", FLR_VERSION},
                 {"scene.name", e->name},
                 {"scene.hash", e->altered ? "" : e->file_hash},
                 {"part", first_moving(e)},
                 {"hand", "live"},
                 {"device", e->pointers[e->selected[0]].info.name},
                 {"probes", e->probes ? "true" : "false"},
                 {"paced", e->def.paced ? "true" : "false"},
                 {"frames", e->def.small_recordings ? "some" : "all"}};
    bool apart = scene[0] && scene[0] != '/' && e->def.folder; /* from elsewhere, too */
    flr_texts_add(texts, "scene", "%s%s%s", apart ? e->def.folder : "", apart ? "/" : "", scene);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        flr_texts_add(texts, lines[i].key, "%s", lines[i].text);
    flr_texts_add(texts, "scene.unit", "%s", FLR_NUMBER_TEXT(e->unit_metres));
    flr_texts_add(texts, "voxel.least", "%s", FLR_NUMBER_TEXT(e->tuning.voxel));
    flr_setup_write_numbers(&setup, texts);
    for (uint32_t i = 0; i < e->members.count; i++) {
        const flr_part_entry *m = &e->members.list[i];
        flr_setup_write_part(i, m, texts);
        char key[48];
        snprintf(key, sizeof key, "parts.%u.voxel", i);
        flr_texts_add(texts, key, "%s", FLR_NUMBER_TEXT(m->shape->voxel));
        snprintf(key, sizeof key, "parts.%u.free", i);
        flr_texts_add(texts, key, "%s", m->kind == FLR_PART_FREE ? "true" : "false");
    }
    return flr_texts_end(texts, error);
}

/* Parts have come or gone since the scene was read, or it never was: the scene as it is now is saved beside the
 * recording, so that distances can be measured later. */
static void save_beside(flr_engine *e, const char *path, char scene[FLR_CACHE_PATH_SIZE])
{
    flr_text_copy(scene, FLR_CACHE_PATH_SIZE, e->path);
    if ((!e->altered && e->path[0]) || e->members.count == 0) return;
    snprintf(scene, FLR_CACHE_PATH_SIZE, "%.*s_scene.json",
             (int)(strlen(path) - (sizeof ending - 1)), path);
    flr_error error;
    if (flr_engine_save(e, scene, NULL, &error) != FLR_OK)
        FLR_ENGINE_WARN(e, "the scene is not saved with the recording: %s", error.message);
}

static void free_tape(flr_recording_tap *tap)
{
    if (!tap) return;
    for (flr_journal_entry entry; tap->entries && flr_ring_pop(tap->entries, &entry);)
        if (entry.kind == FLR_JOURNAL_STATIC_SCENE)
            flr_static_scene_release(entry.as.static_scene.parts.scene);
    flr_ring_destroy(tap->entries);
    free(tap->state);
    free(tap->numbers);
    free(tap->ids);
    free(tap->indices);
    free(tap->parts);
    free(tap);
}

static flr_recording_tap *make_tape(const flr_engine *e)
{
    flr_recording_tap *tap = calloc(1, sizeof *tap);
    size_t n = (size_t)e->members.count + 1;
    if (!tap) return NULL;
    tap->scene = e->scene;
    tap->numbers = calloc(n, sizeof *tap->numbers);
    tap->ids = calloc(n, sizeof *tap->ids);
    tap->indices = calloc(n, sizeof *tap->indices);
    tap->parts = calloc(n, sizeof *tap->parts);
    tap->state_room = e->state_size;
    tap->state = flr_prefaulted_calloc(1, tap->state_room + 1);
    tap->entries = flr_ring_create(sizeof(flr_journal_entry), ENTRIES + 2 * n);
    if (!tap->numbers || !tap->ids || !tap->indices || !tap->parts || !tap->state ||
        !tap->entries) {
        free_tape(tap);
        return NULL;
    }
    for (uint32_t i = 0; i < e->members.count; i++) {
        const flr_part_entry *m = &e->members.list[i];
        tap->numbers[tap->all++] = m->part;
        if (m->kind == FLR_PART_STATIC) continue;
        tap->parts[tap->count].T_world_part = m->T_start;
        tap->ids[tap->count++] = m->part;
    }
    return tap;
}

/* A name that a file can have, and that no other has. */
static flr_result choose_path(flr_engine *e, const char *name, flr_engine_recording *r,
                              flr_error *error)
{
    char safe[128], stamp[32], path[FLR_CACHE_PATH_SIZE];
    if (!name || !name[0]) {
        time_t now = (time_t)(flr_clock_wall_ns(e->def.env) / 1000000000);
        struct tm utc;
        if (!gmtime_r(&now, &utc) || !strftime(stamp, sizeof stamp, "%Y-%m-%d_%H-%M-%S", &utc))
            memcpy(stamp, "recording", 10);
        name = stamp;
    }
    size_t length = 0;
    for (const char *c = name; *c && length < sizeof safe - 1; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || *c == '-' || *c == '_';
        safe[length++] = plain ? *c : '_';
    }
    safe[length] = 0;
    for (unsigned n = 1; n < 10000; n++) {
        flr_path_info info;
        char suffix[16] = "";
        if (n > 1) snprintf(suffix, sizeof suffix, "_%u", n);
        int size =
            snprintf(path, sizeof path, "%s/%s%s%s", e->def.recordings, safe, suffix, ending);
        if (size < 0 || (size_t)size >= sizeof path) break;
        flr_result result = flr_path_look(e->def.env, path, &info, error);
        if (result != FLR_OK) return result;
        if (info.kind != FLR_PATH_NONE) continue;
        flr_text_copy(r->name, sizeof r->name, name);
        r->path = strdup(path);
        return r->path ? FLR_OK : flr_engine_no_memory(error);
    }
    return flr_fail(error, FLR_BAD_ARGUMENT, "%s: no name for a recording is free there",
                    e->def.recordings);
}

/* Frames of the loop for one in the file, so that a minute takes no more than 10 MB: 100 a second as a rule, at least 10. */
static uint32_t stride_of(const flr_engine *e, const flr_recording_tap *tap)
{
    const double second = 150e3; /* bytes */
    const flr_recorder_def usual = flr_default_recorder_def();
    double frame = sizeof(flr_record_frame) + (double)e->def.hands * sizeof(flr_record_hand) +
                   (double)tap->count * sizeof(flr_record_part) +
                   (double)usual.contacts * sizeof(flr_record_contact);
    double stride =
        fmin(fmax(ceil(e->def.rate * frame / second), e->def.rate / 100), e->def.rate / 10);
    return (uint32_t)fmax(stride, 1);
}

/* ---- the writer: a thread, or control where there are none ---- */

static void write_waiting(flr_taping *t)
{
    if (atomic_load(&t->failed)) return;
    t->result = FLR_OK;
    flr_journal_entry entry;
    while (t->result == FLR_OK && flr_ring_pop(t->tap->entries, &entry))
        t->result = flr_journal_write(t->tap, &entry, &t->error);
    uint64_t missed = flr_ring_dropped(t->tap->entries);
    if (t->result == FLR_OK && missed > t->missed) {
        entry = (flr_journal_entry){.kind = FLR_JOURNAL_LOST,
                                    .frame = flr_recorder_written(t->tap->recorder)};
        t->result = flr_journal_write(t->tap, &entry, &t->error);
        t->missed = missed;
    }
    if (t->result == FLR_OK) t->result = flr_recorder_service(t->tap->recorder, &t->error);
    if (t->result != FLR_OK) atomic_store(&t->failed, true);
}

static void close_file(flr_taping *t)
{
    flr_recorder *recorder = t->tap->recorder;
    flr_path_info info;
    write_waiting(t);
    t->frames = flr_recorder_written(recorder);
    t->lost = flr_recorder_lost(recorder);
    if (atomic_load(&t->failed))
        flr_recorder_abandon(recorder);
    else
        t->result = flr_recorder_finish(recorder, &t->error);
    // a file that is on the disk without its name would be lost with the power
    char folder[FLR_CACHE_PATH_SIZE];
    flr_text_copy(folder, sizeof folder, t->path);
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    if (!atomic_load(&t->failed) && t->result == FLR_OK && slash && slash > folder)
        t->result = flr_path_sync_folder(t->env, folder, &t->error);
    if (flr_path_look(t->env, t->path, &info, NULL) == FLR_OK) t->bytes = info.size;
    atomic_store(&t->done, true);
}

static void *write_frames(void *context)
{
    flr_taping *t = context;
    /* the loop's frames come with real-time priority: on a busy machine an ordinary thread falls behind them. It sleeps most of
     * the time */
    prctl(PR_SET_NAME, (unsigned long)"feeler-record", 0, 0, 0);
    (void)setpriority(PRIO_PROCESS, 0,
                      FLR_RECORDING_NICE); /* of this thread alone, where that may be asked for */
    while (!atomic_load(&t->end)) {
        write_waiting(t);
        flr_sleep_until(t->env, flr_clock_ns(t->env) + service_ns);
    }
    close_file(t);
    return NULL;
}

static void free_taping(flr_taping *t)
{
    free_tape(t->tap);
    free(t->path);
    free(t);
}

/* ---- beginning and ending ---- */

/* For its owner only; one that is there is as its user wants it. */
static flr_result make_folder(const flr_engine *e, flr_error *error)
{
    flr_path_info info;
    flr_result result = flr_path_look(e->def.env, e->def.recordings, &info, error);
    if (result != FLR_OK || info.kind == FLR_PATH_FOLDER) return result;
    return flr_path_make_private(e->def.env, e->def.recordings, 0, error);
}

static flr_result begin(flr_engine *e, flr_taping *t, const char *path, flr_error *error)
{
    flr_texts texts = {0};
    flr_recorder_def def = flr_default_recorder_def();
    flr_result result = (t->tap = make_tape(e)) ? FLR_OK : flr_engine_no_memory(error);
    if (result == FLR_OK && e->def.small_recordings) t->tap->stride = stride_of(e, t->tap);
    if (result == FLR_OK) result = make_folder(e, error);
    if (result == FLR_OK) {
        char scene[FLR_CACHE_PATH_SIZE];
        save_beside(e, path, scene);
        result = describe(e, scene, &texts, error);
    }
    if (result == FLR_OK) {
        def.path = path;
        def.hands = e->def.hands;
        def.parts = t->tap->count;
        def.texts = (const char *const *)texts.list;
        def.notes = true;
        result = flr_recorder_create(e->def.env, &def, &t->tap->recorder, error);
    }
    flr_texts_free(&texts);
    if (result != FLR_OK) return result;
    flr_sim_command command = {.kind = FLR_SIM_COMMAND_RECORD, .as.record = {.tap = t->tap}};
    t->env = e->def.env;
    t->path = strdup(path);
    if (!t->path) return flr_engine_no_memory(error);
    if (e->def.workers > 0) {
        int code = pthread_create(&t->thread, NULL, write_frames, t);
        if (code)
            result = flr_fail(error, FLR_NO_MEMORY, "cannot make a thread that records: %s",
                              strerror(code));
        t->threaded = code == 0;
    }
    return result == FLR_OK ? flr_engine_send(e, &command, error) : result;
}

/* Nothing comes any more: the file is closed, by the thread if there is one. */
static void end_writing(flr_taping *t)
{
    atomic_store(&t->end, true);
    if (t->threaded)
        pthread_join(t->thread, NULL);
    else if (t->tap && t->tap->recorder && !atomic_load(&t->done))
        close_file(t);
    t->threaded = false;
}

flr_result flr_engine_record_start(flr_engine *e, const char *name, uint32_t *recording,
                                   flr_error *error)
{
    if (!e->def.recordings)
        return flr_fail(error, FLR_UNSUPPORTED, "this controller has no folder for recordings");
    if (e->taping)
        return flr_fail(error, FLR_AGAIN,
                        e->taping->stopping
                            ? "the recording before is still being written; try again in a moment"
                            : "a recording is being made already; stop it first");
    flr_taping *t = calloc(1, sizeof *t);
    flr_engine_recording *r = t ? add_recording(e) : NULL;
    if (!r) {
        free(t);
        return flr_engine_no_memory(error);
    }
    t->index = r->recording;
    r->made_in = (uint64_t)e->scene + 1;
    r->turned = e->turned;
    flr_text_copy(r->scene, sizeof r->scene, e->name);
    r->scene_path = strdup(e->path);
    flr_text_copy(r->scene_hash, sizeof r->scene_hash, e->altered ? "" : e->file_hash);
    flr_result result = choose_path(e, name, r, error);
    if (result == FLR_OK) result = begin(e, t, r->path, error);
    if (result != FLR_OK) {
        end_writing(t);
        free_taping(t);
        remove_last(e);
        return result;
    }
    e->taping = t;
    if (recording) *recording = r->recording;
    flr_engine_tell(e, FLR_ENGINE_EVENT_RECORDING)->index = r->recording;
    return FLR_OK;
}

flr_result flr_engine_record_stop(flr_engine *e, flr_error *error)
{
    if (!e->taping || e->taping->stopping)
        return flr_fail(error, FLR_NOT_FOUND, "nothing is being recorded");
    flr_sim_command command = {.kind = FLR_SIM_COMMAND_RECORD};
    flr_result result = flr_engine_send(e, &command, error);
    if (result == FLR_OK) e->taping->stopping = true;
    return result;
}

void flr_engine_tape_back(flr_engine *e, flr_recording_tap *tap)
{
    if (e->taping && e->taping->tap == tap) e->taping->back = true;
}

/* The file is closed: what became of it. */
static void conclude(flr_engine *e)
{
    flr_taping *t = e->taping;
    flr_engine_recording *r = &e->recordings[t->index];
    end_writing(t);
    r->frames = t->frames;
    r->lost = t->lost;
    r->bytes = t->bytes;
    // by their own time: a loop that was late has left periods out
    if (r->frames) r->seconds = (double)t->tap->last_ns * 1e-9 + 1 / e->def.rate;
    r->finished = t->result == FLR_OK;
    if (t->result != FLR_OK)
        FLR_ENGINE_WARN(e, "the recording %s is not complete: %s", r->name, t->error.message);
    else if (r->lost > 0)
        FLR_ENGINE_WARN(
            e, "the recording %s lacks %llu of %llu frames: the disk or the machine was too busy",
            r->name, (unsigned long long)r->lost, (unsigned long long)(r->lost + r->frames));
    flr_engine_tell(e, FLR_ENGINE_EVENT_RECORDING)->index = t->index;
    free_taping(t);
    e->taping = NULL;
}

void flr_engine_keep_taping(flr_engine *e)
{
    flr_taping *t = e->taping;
    if (!t) return;
    if (!t->threaded && !t->back) write_waiting(t);
    if (atomic_load(&t->failed) && !t->stopping) flr_engine_record_stop(e, NULL);
    if (t->tap->scene != e->scene && !t->stopping &&
        flr_engine_record_stop(e, NULL) == FLR_OK) /* its parts are gone */
        FLR_ENGINE_WARN(e, "the recording %s ends: another scene was loaded",
                        e->recordings[t->index].name);
    if (!t->back) return;
    atomic_store(&t->end, true); /* the thread closes the file; control does not wait for it */
    if (!t->threaded || atomic_load(&t->done)) conclude(e);
}

/* The loop does not run any more. */
void flr_engine_free_recordings(flr_engine *e)
{
    if (e->taping) conclude(e);
    while (e->recording_count > 0) remove_last(e);
    free(e->recordings);
}
