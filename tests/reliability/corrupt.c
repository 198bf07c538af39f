/* corrupt FOLDER SEED COUNT SECONDS [CASE]: loads damaged cache files, recordings and saved scenes as feeler serve does, with
 * the same engine and its jobs on a real disk, and compares what comes out with what sound files give.
 *
 * Damage must be reported (an error, a warning) or harmless: the same voxels, the same forces and motion, the same replay.
 * Of a scene's JSON, which people edit, it is harmless, too, when the scene is what the file says, read by other code. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"
#include "feeler/mesh.h"
#include "mutate.h"
#include "sim/engine.h"
#include "support/fixtures.h"
#include "voxel/shell_format.h"
#include "voxel/voxmap_format.h"

enum { PATH = 1200, PARTS = 2, PRESS = 32, RECORDED = 300, STEP_SECONDS = 120 };

/* ---- the machine: the real disk, a clock that goes by frames, so that equal files give equal bits ---- */

static atomic_llong now_ns;

static int64_t virtual_clock(flr_env *env)
{
    (void)env;
    return atomic_load(&now_ns);
}

static flr_env *make_env(void)
{
    static flr_env_ops ops;
    static flr_env env = {&ops};
    ops = *flr_env_real()->ops;
    ops.clock = virtual_clock;
    return &env;
}

static void die(const char *what, const char *why)
{
    fprintf(stderr, "corrupt: %s: %s\n", what, why);
    exit(3);
}

/* ---- an engine, as feeler serve has one ---- */

typedef struct outcome {
    bool failed, warned; /* an error or a warning was reported */
    bool loaded;         /* there is an answer … */
    flr_hash answer;     /* … of all that can be seen and felt */
    char said[FLR_ERROR_MESSAGE_SIZE];
} outcome;

typedef struct session {
    flr_env *env;
    const char *folder;
    flr_cache cache;
    char cache_folder[PATH], scene[PATH], recordings[PATH];
    flr_engine *engine;
    sem_t woken;
    unsigned workers; /* threads; 0: jobs are done by the thread that calls */
    uint32_t job;     /* that is waited for */
    bool ended;       /* … and is over */
    bool answered;    /* a clearance has come */
    flr_engine_clearance clearance;
    outcome *outcome;
} session;

static void wake(void *context) { sem_post(&((session *)context)->woken); }

static void open_engine(session *s, outcome *o)
{
    flr_error error;
    *o = (outcome){0};
    s->outcome = o;
    s->cache = (flr_cache){.folder = s->cache_folder};
    flr_engine_def def = flr_default_engine_def();
    def.env = s->env;
    def.paced = false;
    def.hands = 1;
    def.workers = s->workers;
    def.threads = 1;
    def.merge = false;
    def.cache = &s->cache;
    def.recordings = s->recordings;
    def.priority = 0;
    def.lock_memory = false;
    def.wake = wake;
    def.wake_context = s;
    if (flr_engine_create(&def, &s->engine, &error) != FLR_OK) die("engine", error.message);
}

static void take_event(session *s, const flr_engine_event *event)
{
    outcome *o = s->outcome;
    if (event->kind == FLR_ENGINE_EVENT_NEWS && event->news == FLR_WIRE_EVENT_WARNING) {
        o->warned = true;
        memcpy(o->said, event->sentence, sizeof o->said);
    }
    if (event->kind == FLR_ENGINE_EVENT_CLEARANCE) {
        s->answered = true;
        s->clearance = event->clearance;
    }
    if (event->kind == FLR_ENGINE_EVENT_JOB && event->job.job == s->job &&
        event->job.state == FLR_WIRE_JOB_ENDED) {
        s->ended = true;
        o->failed |= event->job.result != FLR_OK;
        if (event->job.result != FLR_OK) memcpy(o->said, event->job.sentence, sizeof o->said);
    }
}

static void service(session *s)
{
    flr_engine_event event;
    flr_engine_service(s->engine);
    while (flr_engine_next(s->engine, &event)) take_event(s, &event);
}

static struct timespec deadline(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += STEP_SECONDS;
    return end;
}

/* The engine says when there is something to do. */
static void sleep_until_woken(session *s, const struct timespec *end, const char *what)
{
    while (sem_timedwait(&s->woken, end) != 0)
        if (errno != EINTR) die(what, "nothing came within two minutes");
}

static void await(session *s, const bool *flag, const char *what)
{
    struct timespec end = deadline();
    for (service(s); !*flag; service(s)) sleep_until_woken(s, &end, what);
}

static void frames(session *s, int count)
{
    for (int i = 0; i < count; i++) {
        atomic_fetch_add(&now_ns, 1000000);
        flr_engine_run(s->engine, 1);
    }
    service(s);
}

static void load(session *s)
{
    flr_error error;
    s->ended = false;
    if (flr_engine_load(s->engine, s->scene, &s->job, &error) != FLR_OK) die("load", error.message);
    await(s, &s->ended, "loading");
}

/* The loop has all parts: a worker makes a world of them, the loop takes it. */
static bool become_ready(session *s)
{
    struct timespec end = deadline();
    flr_engine_part part;
    for (;;) {
        uint32_t count = 0, ready = 0;
        frames(s, 2);
        for (; flr_engine_part_at(s->engine, count, &part); count++) ready += part.ready;
        if (ready == count) return count == PARTS;
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        if (soon.tv_sec > end.tv_sec) return false;
        if ((soon.tv_nsec += 500000) >= 1000000000) soon.tv_sec++, soon.tv_nsec -= 1000000000;
        sem_timedwait(&s->woken, &soon);
    }
}

/* ---- what can be seen and felt ---- */

static void add_state(flr_hasher *hasher, const flr_engine_state *state)
{
    for (uint32_t i = 0; i < state->part_count; i++) {
        const flr_engine_part_state *p = &state->parts[i];
        flr_hasher_add(hasher, &p->part.index, sizeof p->part.index);
        flr_hasher_add(hasher, &p->look, sizeof p->look);
        flr_hasher_add(hasher, &p->T_world_part, sizeof p->T_world_part);
    }
    for (uint32_t i = 0; i < state->hand_count; i++) {
        flr_hasher_add(hasher, &state->hands[i].held.index, sizeof(uint32_t));
        flr_hasher_add(hasher, &state->hands[i].T_world_hand, sizeof(flr_pose));
        flr_hasher_add(hasher, &state->hands[i].wrench, sizeof(flr_wrench));
    }
    flr_hasher_add(hasher, &state->contact_count, sizeof state->contact_count);
    flr_hasher_add(hasher, &state->lower, sizeof state->lower);
    flr_hasher_add(hasher, &state->upper, sizeof state->upper);
}

static void add_parts(session *s, flr_hasher *hasher)
{
    flr_engine_part part;
    for (uint32_t i = 0; flr_engine_part_at(s->engine, i, &part); i++) {
        flr_hash mesh = flr_mesh_hash(part.geometry);
        const flr_shell_owner *shell = (const flr_shell_owner *)part.shell;
        flr_hasher_add(hasher, &mesh, sizeof mesh);
        flr_hasher_add(hasher, part.name, strlen(part.name));
        flr_hasher_add(hasher, &part.kind, sizeof part.kind);
        flr_hasher_add(hasher, &part.colour, sizeof part.colour);
        flr_hasher_add(hasher, &part.T_start, sizeof part.T_start);
        flr_hasher_add(hasher, part.voxmap->header, part.voxmap->header->size);
        flr_hasher_add(hasher, shell->header, shell->header->size);
    }
}

/* presses the ring on the plate, by hand */
static void press(session *s, flr_hasher *hasher, int count)
{
    flr_error error;
    if (flr_engine_grab(s->engine, flr_hand(0), flr_engine_part_id(s->engine, 1), &error) != FLR_OK)
        die("grab", error.message);
    for (int i = 0; i < count; i++) {
        flr_vec3 at = flr_vec3_make(0.004 * sin(0.02 * i), 0, -0.006 * fmin(1, i / 24.0));
        flr_engine_hand_input(s->engine, flr_hand(0), flr_pose_make(at, flr_quat_identity()), 0,
                              NULL);
        frames(s, 1);
        if (hasher && i % 4 == 0) add_state(hasher, flr_engine_view(s->engine));
    }
    flr_engine_release(s->engine, flr_hand(0), NULL);
    frames(s, 2);
}

static void ask_distance(session *s, flr_hasher *hasher)
{
    static const double heights[] = {0.0085, 0.0102};
    flr_error error;
    for (int i = 0; i < 2; i++) {
        flr_pose pose = flr_pose_make(flr_vec3_make(0.003, 0.001, heights[i]), flr_quat_identity());
        if (flr_engine_place(s->engine, flr_engine_part_id(s->engine, 1), pose, &error) != FLR_OK)
            die("place", error.message);
        frames(s, 3);
        s->answered = false;
        if (flr_engine_clearance_ask(s->engine, flr_engine_part_id(s->engine, 1),
                                     flr_engine_part_id(s->engine, 0), false, 1, &error) != FLR_OK)
            die("distance", error.message);
        await(s, &s->answered, "a distance");
        flr_hasher_add(hasher, &s->clearance.lower, sizeof s->clearance.lower);
        flr_hasher_add(hasher, &s->clearance.upper, sizeof s->clearance.upper);
    }
}

static void try_scene(session *s, outcome *o)
{
    open_engine(s, o);
    load(s);
    if (!o->failed && become_ready(s)) {
        flr_hasher hasher = flr_hasher_begin();
        add_parts(s, &hasher);
        press(s, &hasher, PRESS);
        ask_distance(s, &hasher);
        o->answer = flr_hasher_end(&hasher);
        o->loaded = true;
    }
    flr_engine_destroy(s->engine);
}

/* ---- recordings ---- */

static void record(session *s, const char *name, int count)
{
    outcome o;
    flr_error error;
    uint32_t number;
    flr_engine_recording info = {0};
    open_engine(s, &o);
    load(s);
    if (!become_ready(s)) die("recording", "the scene does not load");
    if (flr_engine_record_start(s->engine, name, &number, &error) != FLR_OK)
        die("recording", error.message);
    press(s, NULL, count);
    if (flr_engine_record_stop(s->engine, &error) != FLR_OK) die("recording", error.message);
    for (int i = 0; i < 10000 && !info.finished; i++) {
        frames(s, 1);
        usleep(1000);
        flr_engine_recording_at(s->engine, number, &info);
    }
    if (!info.finished) die("recording", "it does not end");
    flr_engine_destroy(s->engine);
}

static void try_recording(session *s, outcome *o, uint64_t *listed)
{
    flr_error error;
    flr_engine_recording info;
    flr_engine_replay_state replay;
    open_engine(s, o);
    load(s);
    if (o->failed || !become_ready(s)) die("replay", "the scene does not load");
    if (!flr_engine_recording_at(s->engine, 0, &info)) die("replay", "no recording is listed");
    *listed = info.frames;
    s->ended = false;
    if (flr_engine_replay(s->engine, 0, &s->job, &error) == FLR_OK)
        await(s, &s->ended, "a replay");
    else
        o->failed = true;
    flr_engine_get_replay(s->engine, &replay);
    if (!o->failed && replay.active) {
        flr_hasher hasher = flr_hasher_begin();
        flr_hasher_add(&hasher, &replay.length, sizeof replay.length);
        for (int i = 0; i <= 20; i++) {
            flr_engine_replay_seek(s->engine, replay.length * i / 20, NULL);
            add_state(&hasher, flr_engine_view(s->engine));
        }
        o->answer = flr_hasher_end(&hasher);
        o->loaded = true;
    }
    flr_engine_destroy(s->engine);
}

/* ---- a scene by other code ---- */

static double metres_per_unit(const json_t *unit)
{
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"um", 1e-6}, {"mm", 1e-3},   {"cm", 1e-2},
                 {"m", 1},     {"in", 0.0254}, {"ft", 0.3048}};
    if (!unit) return 1;
    if (json_is_number(unit)) return json_number_value(unit);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(json_string_value(unit), units[i].name)) return units[i].metres;
    return NAN;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(1, fabs(b)); }

static bool same_pose(flr_pose pose, const json_t *said, double unit)
{
    double want[7] = {0, 0, 0, 1, 0, 0, 0};
    const json_t *at = json_object_get(said, "position"),
                 *turn = json_object_get(said, "orientation");
    for (size_t i = 0; at && i < 3; i++) want[i] = unit * json_number_value(json_array_get(at, i));
    for (size_t i = 0; turn && i < 4; i++) want[3 + i] = json_number_value(json_array_get(turn, i));
    double length =
        sqrt(want[3] * want[3] + want[4] * want[4] + want[5] * want[5] + want[6] * want[6]);
    return near(pose.p.x, want[0]) && near(pose.p.y, want[1]) && near(pose.p.z, want[2]) &&
           near(pose.q.w, want[3] / length) && near(pose.q.x, want[4] / length) &&
           near(pose.q.y, want[5] / length) && near(pose.q.z, want[6] / length);
}

static bool same_part(const flr_engine_part *part, const json_t *said, double unit)
{
    const char *file = json_string_value(json_object_get(said, "file"));
    const char *colour = json_string_value(json_object_get(said, "colour"));
    const char *name = file ? strrchr(file, '/') : NULL;
    const json_t *moving = json_object_get(said, "moving");
    char hash[FLR_HASH_TEXT_SIZE];
    flr_hash_print(flr_mesh_hash(part->geometry), hash);
    /* a mesh in other units has another hash: then its box is another one, too, and that is all that is said of it */
    bool plain = metres_per_unit(json_object_get(said, "unit")) == 1;
    return name && (!plain || !strncmp(name + 1, hash, FLR_HASH_TEXT_SIZE - 1)) &&
           !strcmp(part->name, json_string_value(json_object_get(said, "name"))) &&
           (part->kind != FLR_PART_STATIC) == json_is_true(moving) &&
           (!colour || part->colour == strtoul(colour + 1, NULL, 16)) &&
           same_pose(part->T_start, json_object_get(said, "pose"), unit);
}

static bool same_parameter(session *s, const char *name, const json_t *said)
{
    flr_engine_parameter parameter;
    if (!said) return true;
    for (uint32_t i = 0; flr_engine_parameter_at(s->engine, i, &parameter); i++)
        if (!strcmp(parameter.name, name)) return near(parameter.value, json_number_value(said));
    return false;
}

/* Is the engine's scene what this text says? */
static bool is_as_said(session *s, const flr_content *text)
{
    json_t *tree = json_loadb((const char *)text->bytes, text->size, JSON_REJECT_DUPLICATES, NULL);
    const json_t *parts = json_object_get(tree, "parts"),
                 *contact = json_object_get(tree, "contact");
    double unit = metres_per_unit(json_object_get(tree, "unit"));
    flr_engine_part part;
    flr_engine_scene scene;
    flr_engine_get_scene(s->engine, &scene);
    bool same = tree && json_array_size(parts) == scene.parts &&
                !strcmp(scene.name, json_string_value(json_object_get(tree, "name"))) &&
                same_parameter(s, "stiffness", json_object_get(contact, "stiffness")) &&
                same_parameter(s, "friction", json_object_get(contact, "friction"));
    for (uint32_t i = 0; same && flr_engine_part_at(s->engine, i, &part); i++)
        same = same_part(&part, json_array_get(parts, i), unit);
    json_decref(tree);
    return same;
}

/* Loads as far as its parts are there; a slip in a voxel's size may ask for more voxels than there is time for. */
static void try_text(session *s, outcome *o, const flr_content *text, bool *as_said)
{
    flr_error error;
    flr_engine_scene before, scene;
    open_engine(s, o);
    flr_engine_get_scene(s->engine, &before);
    s->ended = false;
    if (flr_engine_load(s->engine, s->scene, &s->job, &error) != FLR_OK) die("load", error.message);
    struct timespec end = deadline();
    for (;;) {
        service(s);
        flr_engine_get_scene(s->engine, &scene);
        if (s->ended || scene.scene != before.scene) break;
        sleep_until_woken(s, &end, "a scene");
    }
    o->loaded = scene.scene != before.scene;
    *as_said = o->loaded && is_as_said(s, text);
    flr_engine_destroy(s->engine);
}

/* ---- files ---- */

static flr_content read_content(const char *path)
{
    flr_blob blob;
    flr_error error;
    if (flr_file_read_all(flr_env_real(), path, 1 << 28, &blob, &error) != FLR_OK)
        die("read", error.message);
    size_t room = (2 * blob.size + 2 * 4096) / 4096 * 4096;
    flr_content content = {aligned_alloc(4096, room), blob.size};
    if (!content.bytes) die(path, "no memory");
    memcpy(content.bytes, blob.bytes, blob.size);
    flr_blob_free(&blob);
    return content;
}

static void write_content(const char *path, const flr_content *content)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, content->bytes, content->size) != (ssize_t)content->size)
        die(path, strerror(errno));
    close(fd);
}

static void write_part(const char *folder, bool ring, char file[100])
{
    flr_test_shape shape = {0};
    flr_error error;
    char path[PATH], hash[FLR_HASH_TEXT_SIZE];
    if (ring)
        flr_test_shape_torus(&shape, 0.006, 0.002, 12, 6);
    else
        flr_test_shape_box(&shape, flr_vec3_make(0.024, 0.024, 0.008), 2);
    const flr_mesh *plain = flr_test_shape_mesh(&shape);
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = plain->vertices, def.vertex_count = plain->vertex_count;
    def.triangles = plain->triangles, def.triangle_count = plain->triangle_count;
    flr_mesh *mesh; /* welded, as all meshes of an engine are */
    if (flr_mesh_create(&def, &mesh, &error) != FLR_OK) die("mesh", error.message);
    snprintf(file, 100, "scene_parts/%s.ply", flr_hash_print(flr_mesh_hash(mesh), hash));
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (flr_mesh_write(flr_env_real(), path, mesh, 1, &error) != FLR_OK) die(path, error.message);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);
}

static void write_scene(const session *s, char files[PARTS][100])
{
    char path[PATH], text[1000];
    snprintf(path, sizeof path, "%s/scene_parts", s->folder);
    mkdir(path, 0700);
    for (int i = 0; i < PARTS; i++) write_part(s->folder, i == 1, files[i]);
    snprintf(
        text, sizeof text,
        "{\n  \"feeler\": 1,\n  \"name\": \"plan\",\n  \"unit\": \"mm\",\n  \"voxel\": 0.8,\n"
        "  \"contact\": { \"stiffness\": 800, \"friction\": 0.25 },\n  \"parts\": [\n"
        "    { \"name\": \"plate\", \"file\": \"%s\", \"unit\": \"m\", \"colour\": \"#8899aa\" },\n"
        "    { \"name\": \"ring\", \"file\": \"%s\", \"unit\": \"m\", \"moving\": true,\n"
        "      \"pose\": { \"position\": [0.5, 0.25, 8.5], \"orientation\": [1, 0, 0, 0] },\n"
        "      \"density\": 7850 }\n  ]\n}\n",
        files[0], files[1]);
    flr_content content = {(uint8_t *)text, strlen(text)};
    write_content(s->scene, &content);
}

/* ---- the cases ---- */

typedef struct file {
    char path[2 * PATH];
    flr_content sound;
} file;

typedef struct trial {
    session s;
    file files[FLR_CONTENT_KINDS]
              [PARTS]; /* JSON and recording: the first is damaged, the second lends pieces */
    flr_content damaged;
    outcome scene, recording; /* of sound files */
    uint64_t listed;
    uint64_t cases[FLR_CONTENT_KINDS], reported[FLR_CONTENT_KINDS];
} trial;

static void keep(file *f, const char *path)
{
    snprintf(f->path, sizeof f->path, "%s", path);
    f->sound = read_content(path);
}

/* An engine that ends gives up what it has not stored yet; then the next one builds and stores again. */
static void store_voxels(trial *t)
{
    for (int tries = 0; tries < 100; tries++) {
        flr_cache_entry *entries;
        flr_error error;
        size_t count;
        outcome o;
        if (flr_cache_list(flr_env_real(), t->s.cache_folder, &entries, &count, &error) != FLR_OK)
            die("cache", error.message);
        flr_cache_list_free(entries);
        if (count == PARTS) return;
        try_scene(&t->s, &o);
    }
    die("cache", "the voxels are not in it");
}

static void find_voxels(trial *t)
{
    flr_cache_entry *entries;
    flr_error error;
    size_t count;
    if (flr_cache_list(flr_env_real(), t->s.cache_folder, &entries, &count, &error) != FLR_OK)
        die("cache", error.message);
    for (size_t i = 0; i < PARTS; i++) {
        char path[2 * PATH];
        snprintf(path, sizeof path, "%s/%s", t->s.cache_folder, entries[i].name);
        keep(&t->files[FLR_CONTENT_VOXELS][i], path);
    }
    flr_cache_list_free(entries);
}

static void prepare(trial *t, const char *folder)
{
    session *s = &t->s;
    char files[PARTS][100], path[2 * PATH];
    outcome first;
    s->env = make_env();
    s->folder = folder;
    s->workers = 1;
    sem_init(&s->woken, 0, 0);
    snprintf(s->cache_folder, PATH, "%s/cache", folder);
    snprintf(s->scene, PATH, "%s/scene.json", folder);
    snprintf(s->recordings, PATH, "%s/recordings", folder);
    write_scene(s, files);
    try_scene(s, &first); /* builds the voxels */
    try_scene(s, &t->scene);
    if (!first.loaded) die("sound files", first.said);
    if (!t->scene.loaded || t->scene.warned || t->scene.failed ||
        !flr_hash_equal(first.answer, t->scene.answer))
        die("sound files", "two runs give different answers");
    store_voxels(t);
    find_voxels(t);
    record(s, "other", RECORDED / 2);
    snprintf(path, sizeof path, "%s/other.mcap", s->recordings);
    keep(&t->files[FLR_CONTENT_RECORDING][1], path);
    unlink(path);
    record(s, "one", RECORDED);
    snprintf(path, sizeof path, "%s/one.mcap", s->recordings);
    keep(&t->files[FLR_CONTENT_RECORDING][0], path);
    try_recording(s, &t->recording, &t->listed);
    if (!t->recording.loaded || t->recording.warned || t->listed == 0)
        die("sound files", "the recording cannot be shown");
    for (int i = 0; i < PARTS; i++) {
        keep(&t->files[FLR_CONTENT_JSON][i], s->scene);
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        keep(&t->files[FLR_CONTENT_MESH][i], path);
    }
    size_t largest = 0;
    for (int k = 0; k < FLR_CONTENT_KINDS; k++)
        for (int i = 0; i < PARTS; i++)
            if (t->files[k][i].sound.size > largest) largest = t->files[k][i].sound.size;
    t->damaged.bytes = aligned_alloc(4096, (2 * largest + 3 * 4096) / 4096 * 4096);
    if (!t->damaged.bytes) die("cases", "no memory");
}

/* Is what came of a damaged file right, or reported? */
static bool judge(trial *t, flr_content_kind kind, outcome *o)
{
    uint64_t listed = 0;
    bool as_said = false;
    switch (kind) {
    case FLR_CONTENT_VOXELS: /* they can always be built again */
        try_scene(&t->s, o);
        t->reported[kind] += o->warned;
        return o->loaded && !o->failed && flr_hash_equal(o->answer, t->scene.answer);
    case FLR_CONTENT_RECORDING:
        try_recording(&t->s, o, &listed);
        t->reported[kind] += o->failed || o->warned;
        if (listed != 0 && listed != t->listed) return false;
        return o->failed || o->warned ||
               (o->loaded && flr_hash_equal(o->answer, t->recording.answer));
    case FLR_CONTENT_MESH:
        try_scene(&t->s, o);
        t->reported[kind] += o->failed;
        return o->failed || (o->loaded && flr_hash_equal(o->answer, t->scene.answer));
    default:
        try_text(&t->s, o, &t->damaged, &as_said);
        t->reported[kind] += !o->loaded;
        return as_said || (o->failed && !o->loaded);
    }
}

static bool try_case(trial *t, uint64_t seed, uint64_t number)
{
    static const char *const words[] = {"voxels", "recording", "scene", "mesh"};
    uint64_t chance = seed * UINT64_C(0x9E3779B97F4A7C15) + number;
    flr_content_kind kind = (flr_content_kind)flr_chance(&chance, FLR_CONTENT_KINDS);
    bool pair = kind == FLR_CONTENT_VOXELS || kind == FLR_CONTENT_MESH;
    size_t which = pair ? flr_chance(&chance, PARTS) : 0;
    file *f = &t->files[kind][which];
    const char *what =
        flr_mutate(kind, &t->damaged, &f->sound, &t->files[kind][1 - which].sound, &chance);
    outcome o;
    /* threads that give way to all others take their time: with them one case of 16 */
    t->s.workers = number % 16 == 0;
    write_content(f->path, &t->damaged);
    bool right = judge(t, kind, &o);
    t->cases[kind]++;
    if (!right) {
        char path[2 * PATH];
        snprintf(path, sizeof path, "%s/wrong", t->s.folder);
        write_content(path, &t->damaged);
        printf(
            "case %llu of seed %llu: %s, %s: silently wrong (loaded %d, failed %d, warned %d) %s\n",
            (unsigned long long)number, (unsigned long long)seed, words[kind], what, o.loaded,
            o.failed, o.warned, o.said);
    }
    write_content(f->path, &f->sound);
    return right;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: corrupt FOLDER SEED COUNT SECONDS [CASE]\n");
        return 2;
    }
    static trial t;
    uint64_t seed = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10), wrong = 0,
             done = 0, first = argc > 5 ? strtoull(argv[5], NULL, 10) : 0;
    int64_t end = flr_clock_ns(flr_env_real()) + (int64_t)(1e9 * strtod(argv[4], NULL));
    prepare(&t, argv[1]);
    for (; done < count && wrong < 20 && flr_clock_ns(flr_env_real()) < end; done++) {
        wrong += !try_case(&t, seed, first + done);
        if (done % 1000 == 999) {
            fprintf(stderr, "%llu cases\n", (unsigned long long)done + 1);
            fflush(stdout);
        }
    }
    printf("%llu damaged files (%llu of voxels, %llu recordings, %llu scenes, %llu meshes), %llu "
           "reported, the others without "
           "any effect or as the file says; %llu silently wrong\n",
           (unsigned long long)done, (unsigned long long)t.cases[0], (unsigned long long)t.cases[1],
           (unsigned long long)t.cases[2], (unsigned long long)t.cases[3],
           (unsigned long long)(t.reported[0] + t.reported[1] + t.reported[2] + t.reported[3]),
           (unsigned long long)wrong);
    for (int k = 0; k < FLR_CONTENT_KINDS; k++)
        for (int i = 0; i < PARTS; i++) free(t.files[k][i].sound.bytes);
    free(t.damaged.bytes);
    return wrong ? 1 : 0;
}
