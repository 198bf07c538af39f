/* a controller: port, engine, devices, until somebody says stop */
#include "serve.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "clash.h"
#include "feeler/device.h"
#include "files.h"
#include "host_address.h"
#include "models/models.h"
#include "output.h"
#include "report.h"
#include "scenarios.h"
#include "scene/scene.h"
#include "scene/scene_import.h"
#include "scratch.h"
#include "serve_https.h"
#include "serve_watch.h"
#include "server/upload.h"
#include "sim/mapping.h"

enum { MAX_DEVICES = 16, URL_SIZE = 1024 };

/* all that a running controller needs */
typedef struct server {
    flr_cli *cli;
    const flr_serve_options *options;
    flr_engine_mapping mapping; /* of --mapping */
    flr_service_def def;
    flr_service *service;
    flr_cache cache;
    char cache_folder[FLR_CACHE_PATH_SIZE], scratch[FLR_CACHE_PATH_SIZE],
        uploads[FLR_CACHE_PATH_SIZE], recordings[FLR_CACHE_PATH_SIZE], shared[FLR_CACHE_PATH_SIZE];
    char temporary
        [FLR_CACHE_PATH_SIZE]; /* where the cache cannot be written: removed at the end; "" */
    char share_token[FLR_TOKEN_SIZE];
    flr_address host_address; /* who is asked to be let in */
    bool joined;              /* the shared session's scene is here */
    char host[256];
    flr_scene_devices wanted; /* by the scene, likewise … */
    bool barrier;
    flr_device *devices[MAX_DEVICES];
    uint32_t device_numbers[MAX_DEVICES];
    size_t device_count;
    flr_log *log;
    uint32_t job; /* that loads the scene; 0: none */
    bool failed;  /* … and has failed */
    flr_error error;
    int64_t end_ns; /* 0: none */
    flr_serve_watch watch;
    flr_https https;
} server;

/* ---- folders ---- */

static flr_result join(char *path, size_t size, const char *folder, const char *name,
                       flr_error *error)
{
    int length = snprintf(path, size, "%s/%s", folder, name);
    if (length > 0 && (size_t)length < size) return FLR_OK;
    return flr_fail(error, FLR_TOO_LARGE, "the name of the folder %s is too long", folder);
}

/* Where files can be made: in the cache, or, where that cannot be written, in a folder of ours until the end. What is in the
 * cache is used all the same. */
static flr_result choose_writable(server *s, const char **folder, flr_error *error)
{
    flr_error why;
    *folder = s->cache_folder;
    if (flr_scratch_try(s->cli->env, s->cache_folder, &why) == FLR_OK) return FLR_OK;
    s->cache.read_only = true;
    *folder = s->temporary;
    flr_result result = flr_scratch_make(s->temporary, error);
    if (result == FLR_OK)
        flr_warn(s->cli,
                 "the cache cannot be written, so voxels are not kept and are made again the next "
                 "time: %s; set FEELER_CACHE to a folder that can be written",
                 why.message);
    return result;
}

static flr_result choose_folders(server *s, flr_error *error)
{
    flr_result result = FLR_OK;
    if (flr_find_cache(NULL, s->cache_folder, NULL) == FLR_OK) {
        const char *folder;
        s->cache.folder = s->options->no_cache ? NULL : s->cache_folder;
        // what killed ones left goes now, not with the next part that is stored; a cache that cannot be written works, too
        if (s->cache.folder && flr_cache_make_folder(s->cli->env, s->cache.folder, NULL) == FLR_OK)
            (void)flr_output_sweep(s->cli->env, s->cache.folder, NULL);
        s->def.engine.cache = &s->cache;
        result = choose_writable(s, &folder, error);
        if (result == FLR_OK)
            result = join(s->scratch, sizeof s->scratch, folder, "scenarios", error);
        if (result == FLR_OK)
            result = join(s->uploads, sizeof s->uploads, folder, "uploads", error);
        if (result == FLR_OK) result = join(s->shared, sizeof s->shared, folder, "shared", error);
        if (result == FLR_OK) flr_upload_folder_sweep(s->cli->env, s->shared); // shared or not
        s->def.engine.scratch = s->scratch;
        s->def.uploads = s->uploads;
    }
    if (result != FLR_OK) return result;
    const char *home = getenv("HOME"), *data = getenv("XDG_DATA_HOME");
    if (s->options->recordings)
        snprintf(s->recordings, sizeof s->recordings, "%s", s->options->recordings);
    else if (data && data[0] == '/')
        result = join(s->recordings, sizeof s->recordings, data, "feeler/recordings", error);
    else if (home && home[0] == '/')
        result = join(s->recordings, sizeof s->recordings, home, ".local/share/feeler/recordings",
                      error);
    if (s->recordings[0]) s->def.engine.recordings = s->recordings;
    return result;
}

/* ---- who may come, and where ---- */

/* feeler's own, beside the recordings of this user */
static flr_result choose_certificate(server *s, flr_error *error)
{
    const flr_access *access = &s->def.access;
    const char *home = getenv("HOME"), *data = getenv("XDG_DATA_HOME");
    char folder[FLR_CACHE_PATH_SIZE];
    if (s->options->certificate)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--https makes a certificate; leave out --tls-cert");
    flr_result result = data && data[0] == '/'
                            ? join(folder, sizeof folder, data, "feeler/https", error)
                        : home && home[0] == '/'
                            ? join(folder, sizeof folder, home, ".local/share/feeler/https", error)
                            : flr_fail(error, FLR_NOT_FOUND,
                                       "--https: there is no folder for the certificate; set HOME");
    if (result == FLR_OK)
        result =
            flr_https_prepare(s->cli, folder, access->names, access->name_count, &s->https, error);
    s->def.certificate = s->https.certificate;
    s->def.key = s->https.key;
    return result;
}

static flr_result choose_address(server *s, flr_error *error)
{
    const flr_serve_options *options = s->options;
    flr_access *access = &s->def.access;
    flr_result result = FLR_OK;
    if (options->listen)
        result =
            flr_address_parse(options->listen, (uint16_t)options->port, &s->def.address, error);
    else
        s->def.address.port = (uint16_t)options->port;
    if (result != FLR_OK)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--listen %s: that is no address of this machine; give one such as "
                        "192.168.1.20 or 0.0.0.0",
                        options->listen);
    if (gethostname(s->host, sizeof s->host - 1) == 0 && s->host[0])
        access->names[access->name_count++] = s->host;
    if (options->name) access->names[access->name_count++] = options->name;
    if (options->origin) access->origins[access->origin_count++] = options->origin;
    if (options->token_file)
        result = flr_access_read_token(s->cli->env, options->token_file, access->token, error);
    else if (!flr_address_is_loopback(s->def.address))
        flr_access_make_token(s->cli->env, access->token);
    s->def.certificate = options->certificate;
    s->def.key = options->key;
    if (result == FLR_OK && options->https) result = choose_certificate(s, error);
    return result;
}

static void print_url(const server *s, char url[URL_SIZE])
{
    flr_address address = flr_service_address(s->service);
    const flr_access *access = &s->def.access;
    static const uint8_t any[16], local[4] = {127, 0, 0, 1};
    char host[300];
    bool everywhere = !memcmp(address.ip, any, address.family == 6 ? 16 : 4);
    if (s->options->name)
        snprintf(host, sizeof host, "%s:%u", s->options->name, address.port);
    else if (address.family == 4 && !memcmp(address.ip, local, sizeof local))
        snprintf(host, sizeof host, "localhost:%u", address.port);
    else if (everywhere && s->host[0])
        snprintf(host, sizeof host, "%s:%u", s->host, address.port);
    else
        snprintf(host, sizeof host, "%s", FLR_ADDRESS_TEXT(address));
    /* a generated token must be printed; behind the # it stays in the browser. One of a file is known to those who
     * may read that: it is in no terminal and no journal, and the page asks for it */
    bool tell = access->token[0] && !s->options->token_file;
    snprintf(url, URL_SIZE, "%s://%s/%s%s", s->def.certificate ? "https" : "http", host,
             tell ? "#token=" : "", tell ? access->token : "");
}

/* ---- the scene ---- */

/* Are the files of its parts there? */
static flr_result check_files(server *s, const flr_scene *scene, flr_error *error)
{
    size_t missing = 0;
    for (size_t i = 0; i < scene->part_count; i++) {
        const flr_scene_part *part = &scene->parts[i];
        flr_path_info info;
        flr_error why;
        char *file = flr_scene_file(scene, part->file);
        if (!file) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a scene");
        bool gone =
            flr_path_look(s->cli->env, file, &info, &why) == FLR_OK && info.kind == FLR_PATH_NONE;
        if (gone && missing++ == 0)
            flr_fail(error, FLR_BAD_INPUT, "%s:%u:%u: part \"%s\": %s: no such file", scene->path,
                     part->line, part->column, part->name, file);
        free(file);
    }
    if (missing < 2) return missing ? FLR_BAD_INPUT : FLR_OK;
    flr_error first = *error;
    return flr_fail(error, FLR_BAD_INPUT, "%s; files of %zu more %s are missing, too",
                    first.message, missing - 1, flr_noun(missing - 1, "part", "parts"));
}

/* What is seen at once is said before there is a port and an address. */
static flr_result check_scene(server *s, const char *scene, flr_error *error)
{
    const bool imported = !flr_scenario_find(scene) && flr_scene_can_import(scene);
    if (s->options->up && !imported)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--up is for CAD files; the poses in a scene say how its parts stand, and "
                        "feeler scene --up makes one");
    if (flr_scenario_find(scene)) return FLR_OK;
    if (!scene[0])
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "the name of the scene is empty; give a scene file or a scenario such as "
                        "bay, or leave it out to start without parts");
    flr_path_info info;
    flr_result result = flr_path_look(s->cli->env, scene, &info, error);
    if (result != FLR_OK) return result;
    if (info.kind == FLR_PATH_NONE) {
        const char *words[FLR_WORDS_MAX];
        const char *near = flr_suggest(scene, words, flr_scenarios_words(words, FLR_WORDS_MAX));
        return flr_fail(error, FLR_BAD_INPUT, "%s: no such file or folder%s%s%s", scene,
                        near ? ", and no such scenario; did you mean " : "", near ? near : "",
                        near ? "?" : "");
    }
    if (info.kind == FLR_PATH_FOLDER) {
        flr_fail(error, FLR_BAD_INPUT, "%s: is a folder, not a scene", scene);
        flr_hint_scene(s->cli->env, scene, error);
        return FLR_BAD_INPUT;
    }
    if (imported) return FLR_OK; // read by a job, with progress
    flr_scene *read = NULL;
    result = flr_scene_read(s->cli->env, scene, &read, error);
    if (result == FLR_OK && s->options->memory && s->options->engine < 0 &&
        read->contact.engine == FLR_ENGINE_EXACT)
        result =
            flr_fail(error, FLR_BAD_INPUT,
                     "%s: its engine is exact, which reads no voxels; leave out --memory", scene);
    if (result == FLR_OK) result = check_files(s, read, error);
    if (result == FLR_OK && read->local_haptics) s->def.engine.local = true;
    if (result == FLR_OK) s->wanted = read->devices, s->barrier = read->barrier;
    flr_scene_destroy(read);
    if (result != FLR_OK && result != FLR_NO_MEMORY) result = error->code = FLR_BAD_INPUT;
    return result;
}

/* ---- devices ---- */

static flr_result add_device(server *s, const flr_device_driver *driver, const char *text,
                             flr_error *error)
{
    flr_engine *engine = flr_service_engine(s->service);
    flr_device *device = NULL;
    flr_error why;
    flr_result there = flr_device_look(driver, NULL, NULL, &why);
    if (there == FLR_OK || text)
        there = flr_device_open_named(text ? text : driver->name, &device, &why);
    if (there != FLR_OK && text) {
        *error = why;
        return there;
    }
    const char *name = device ? flr_device_get_info(device)->name : driver->name;
    uint32_t number = 0;
    flr_result result = flr_engine_add_device(
        engine, device,
        driver == &flr_spacemouse_driver ? FLR_WIRE_DEVICE_SPACEMOUSE : FLR_WIRE_DEVICE_FORCE, name,
        device ? "" : why.message, flr_pose_identity(), 1, &number, error);
    if (result != FLR_OK) {
        flr_device_close(device);
        return result;
    }
    if (device) {
        s->devices[s->device_count] = device;
        s->device_numbers[s->device_count++] = number;
    }
    return text ? flr_engine_select(engine, flr_hand(0), number, error) : FLR_OK;
}

/* The scene wants a device that gives forces: hand 0 gets the first there is. */
static void take_force_device(server *s)
{
    flr_engine *engine = flr_service_engine(s->service);
    for (size_t i = 0; i < s->device_count; i++) {
        if (!(flr_device_get_info(s->devices[i])->force > 0)) continue;
        flr_error why;
        if (flr_engine_select(engine, flr_hand(0), s->device_numbers[i], &why) != FLR_OK)
            flr_warn(s->cli, "%s", why.message);
        return;
    }
    flr_warn(s->cli, "the scene wants a device that gives forces, and none was found: the page's "
                     "hand is used; feeler doctor says what devices lack");
}

/* Those that are there can be chosen in the viewer; of the others it tells what they lack. */
static flr_result add_devices(server *s, flr_error *error)
{
    const bool none = s->options->no_devices || s->wanted == FLR_SCENE_DEVICES_NONE;
    if (none && !s->options->device) return FLR_OK;
    flr_error why;
    if (flr_device_plugins_load(NULL, NULL, &why) != FLR_OK) flr_warn(s->cli, "%s", why.message);
    bool found = false;
    for (size_t i = 0; i < flr_device_driver_count() && s->device_count < MAX_DEVICES; i++) {
        const flr_device_driver *driver = flr_device_driver_at(i);
        if (!driver->look) continue;
        size_t size = strlen(driver->name);
        const char *wanted = s->options->device;
        bool chosen = wanted && !strncmp(wanted, driver->name, size) &&
                      (wanted[size] == 0 || wanted[size] == ':');
        found = found || chosen;
        if (none && !chosen) continue;
        flr_result result = add_device(s, driver, chosen ? wanted : NULL, error);
        if (result != FLR_OK) return result;
    }
    if (s->options->device && !found)
        return flr_fail(error, FLR_NOT_FOUND,
                        "there is no device \"%s\"; feeler doctor lists those that are known",
                        s->options->device);
    if (s->wanted == FLR_SCENE_DEVICES_FORCE && !s->options->device) take_force_device(s);
    return FLR_OK;
}

/* the middle of a device's workspace is in the middle of what there is, and its scale lets it reach all of that */
static void centre_devices(server *s)
{
    flr_engine *engine = flr_service_engine(s->service);
    flr_engine_scene scene;
    flr_engine_get_scene(engine, &scene);
    if (!(scene.bounds.low.x <= scene.bounds.high.x)) return;
    flr_pose T = flr_pose_identity();
    T.p = flr_box3_centre(scene.bounds);
    for (size_t i = 0; i < s->device_count; i++) {
        const flr_box3 reach = flr_device_get_info(s->devices[i])->workspace;
        flr_engine_place_device(engine, s->device_numbers[i], T,
                                flr_mapping_scale(reach, scene.bounds), NULL);
    }
}

/* ---- a shared session ---- */

static flr_result choose_token(server *s, flr_error *error)
{
    const flr_serve_options *options = s->options;
    const char *file = options->share_token_file ? options->share_token_file : options->token_file;
    struct stat about;
    if (file && stat(file, &about) == 0 && about.st_mode & (S_IRGRP | S_IROTH))
        flr_warn(s->cli, "others on this machine can read %s and join; chmod 600 %s", file, file);
    if (options->share_token_file)
        return flr_access_read_token(s->cli->env, options->share_token_file, s->share_token, error);
    if (options->join && !options->share_token)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "a token is needed: --token-file FILE or --token TOKEN, the token of "
                        "the session's host");
    if (options->join && strlen(options->share_token) >= sizeof s->share_token)
        return flr_fail(error, FLR_BAD_ARGUMENT, "a token has at most %d characters",
                        FLR_TOKEN_SIZE - 1);
    if (options->join) {
        snprintf(s->share_token, sizeof s->share_token, "%s", options->share_token);
        /* it stands in the list of processes until here */
        memset((char *)(uintptr_t)options->share_token, 'x', strlen(options->share_token));
    } else if (options->token_file)
        snprintf(s->share_token, sizeof s->share_token, "%s", s->def.access.token);
    else
        flr_access_make_token(s->cli->env, s->share_token);
    return FLR_OK;
}

static flr_result begin_share(server *s, flr_error *error)
{
    const flr_serve_options *options = s->options;
    flr_share_def def = flr_default_share_def();
    flr_result result = choose_token(s, error);
    def.local = (flr_address){.family = 4, .ip = {127, 0, 0, 1}};
    if (result == FLR_OK && options->join) {
        result = flr_host_address(options->join, &def.host, error);
        def.join = true;
        /* from where the host can answer */
        def.local.family = def.host.family;
        memset(def.local.ip, 0, sizeof def.local.ip);
        if (flr_address_is_loopback(def.host)) memcpy(def.local.ip, def.host.ip, 16);
    }
    if (result == FLR_OK && options->share_listen &&
        flr_address_parse(options->share_listen, 0, &def.local, NULL) != FLR_OK)
        result = flr_fail(error, FLR_BAD_ARGUMENT,
                          "--share-listen %s: that is no address of this machine; give one such as "
                          "192.168.1.20 or 0.0.0.0",
                          options->share_listen);
    if (result == FLR_OK && options->join && def.local.family != def.host.family)
        result = flr_fail(error, FLR_BAD_ARGUMENT,
                          "--share-listen %s is of another kind than %s: IPv4 and IPv6 do not hear "
                          "each other",
                          options->share_listen, FLR_ADDRESS_TEXT(def.host));
    if (result != FLR_OK) return result;
    if (!options->join) def.local.port = (uint16_t)options->share_port;
    const char *login = getenv("USER");
    def.name = options->user ? options->user : login ? login : "";
    def.token = s->share_token;
    def.watcher = options->watch;
    def.relay = options->relay;
    def.barrier = options->barrier || s->barrier;
    def.rate = options->state_rate;
    def.folder = s->shared[0] ? s->shared : NULL;
    if (options->scene_limit) def.scene_limit = options->scene_limit;
    result = flr_service_set_share(s->service, &def, error);
    if (result != FLR_OK && options->share_listen && result == FLR_NOT_FOUND) {
        flr_error why = *error;
        return flr_fail(error, FLR_DENIED, "--share-listen %s; ip address lists those that it has",
                        why.message);
    }
    if (result == FLR_DENIED && !options->join) {
        flr_error why = *error;
        return flr_fail(error, result, "%s. --share-port says which, --share-port 0 takes any",
                        why.message);
    }
    s->host_address = def.host;
    if (result == FLR_OK && options->join)
        flr_print_note(s->cli, "Asking %s to be let in\n", FLR_ADDRESS_TEXT(def.host));
    return result;
}

/* Says where others come to. The token is shown where it was made here, and nowhere else. */
static void announce_share(server *s)
{
    static const uint8_t any[16];
    flr_address address = flr_share_address(flr_service_share(s->service));
    bool everywhere = !memcmp(address.ip, any, address.family == 6 ? 16 : 4);
    char where[400], how[FLR_TOKEN_SIZE + 600];
    if (everywhere && s->host[0])
        snprintf(where, sizeof where, "%s:%u", s->host, address.port);
    else
        snprintf(where, sizeof where, "%s", FLR_ADDRESS_TEXT(address));
    if (s->options->token_file)
        snprintf(how, sizeof how, "feeler join %s --token-file %s", where, s->options->token_file);
    else
        snprintf(how, sizeof how, "feeler join %s --token %s", where, s->share_token);
    flr_print(s->cli, "Others join with  %s%s%s\n", flr_bold(s->cli), FLR_SAFE(how),
              flr_plain(s->cli));
    if (flr_address_is_loopback(address))
        flr_print_note(s->cli, "%s\n",
                       "Only this machine can reach it; --share-listen 0.0.0.0 lets others come.");
}

/* Warnings are in the log, which goes to the terminal. */
static void tell_news(server *s, const flr_engine_event *event)
{
    if (event->news != FLR_WIRE_EVENT_NOTE) return;
    flr_print_note(s->cli, "%s\n", FLR_SAFE(event->sentence));
    fflush(stdout);
}

/* What the command line of a guest says about contact, for everybody: parameters of a session are the same for all. */
static void set_contact(server *s)
{
    const struct {
        const char *name;
        bool given;
        double value;
    } wanted[] = {{"engine", s->options->engine >= 0, s->options->engine},
                  {"onset", s->options->onset >= 0, s->options->onset},
                  {"strength", s->options->strength > 0, s->options->strength},
                  {"tests", s->options->tests > 0, s->options->tests},
                  {"overlap", s->options->overlap >= 0, s->options->overlap}};
    flr_error error;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (wanted[i].given && flr_engine_set(flr_service_engine(s->service), wanted[i].name,
                                              wanted[i].value, &error) != FLR_OK)
            flr_warn(s->cli, "--%s: %s", wanted[i].name, error.message);
}

/* how far a guest has come */
static void look_at_share(server *s)
{
    flr_share *share = flr_service_share(s->service);
    const char *sentence;
    uint64_t done, total;
    if (flr_share_failed(share, &sentence)) {
        s->failed = true;
        char text[FLR_ADDRESS_TEXT_SIZE];
        flr_address_print(s->host_address, text);
        /* some say it themselves */
        bool named = strncmp(sentence, text, strlen(text)) == 0;
        flr_fail(&s->error, FLR_CLOSED, "%s%s%s", named ? "" : text, named ? "" : ": ", sentence);
    } else if (flr_share_ready(share)) {
        flr_progress_end(s->cli);
        s->joined = true;
        set_contact(s);
    } else if (flr_share_progress(share, &done, &total)) {
        flr_progress(s->cli, done, total, "fetching the scene");
    }
}

/* ---- running ---- */

static bool seen(void *context, const flr_engine_event *event)
{
    server *s = context;
    if (event->kind == FLR_ENGINE_EVENT_SCENE) centre_devices(s);
    const bool chosen =
        event->kind == FLR_ENGINE_EVENT_NEWS && strncmp(event->sentence, "feeler chose", 12) == 0;
    if (event->kind == FLR_ENGINE_EVENT_NEWS && (s->options->share || chosen) && !s->cli->quiet)
        tell_news(s, event);
    bool fetched = s->options->join && event->job.kind == FLR_WIRE_JOB_LOAD;
    if (event->kind != FLR_ENGINE_EVENT_JOB || (event->job.job != s->job && !fetched)) return false;
    const flr_engine_job *job = &event->job;
    if (job->state != FLR_WIRE_JOB_ENDED) {
        flr_progress(s->cli, (uint64_t)(job->fraction * 1000), 1000, "%s", job->sentence);
        return true;
    }
    flr_progress_end(s->cli);
    flr_engine_scene scene;
    flr_engine_get_scene(flr_service_engine(s->service), &scene);
    if (job->result != FLR_OK && job->result != FLR_CANCELLED && scene.parts == 0) {
        s->failed = true;
        flr_fail(&s->error, job->result, "%s", job->sentence);
    } else if (job->result != FLR_OK && s->options->share && !s->options->join) {
        /* nobody could ever join, since parts of a shared session stay as they are */
        s->failed = true;
        flr_fail(&s->error, job->result, "%s; a scene is shared only with voxels of all its parts",
                 job->sentence);
    } else if (job->result != FLR_OK) { /* it can be looked at, or another be loaded */
        flr_warn(s->cli, "%s", job->sentence);
    } else {
        flr_print_note(s->cli, "%s is loaded: %u %s\n", FLR_SAFE(scene.name), scene.parts,
                       flr_noun(scene.parts, "part", "parts"));
        fflush(stdout);
    }
    return true;
}

static bool stop(void *context)
{
    server *s = context;
    flr_serve_watch_round(&s->watch);
    if (s->options->join && !s->joined) look_at_share(s);
    return flr_stop_wanted() || s->failed || (s->end_ns && flr_clock_ns(s->cli->env) >= s->end_ns);
}

static void announce(server *s, const char *url)
{
    flr_print(s->cli, "The viewer is at  %s%s%s\n", flr_bold(s->cli), FLR_SAFE(url),
              flr_plain(s->cli));
    if (s->options->token_file)
        flr_print_note(s->cli, "Its page asks for the token: the first line of %s\n",
                       FLR_SAFE(s->options->token_file));
    bool open = !flr_address_is_loopback(flr_service_address(s->service));
    if (open && !s->def.certificate)
        flr_warn(s->cli, "others on the network can read along; use --https where it is not "
                         "yours alone");
    if (s->options->https) flr_https_explain(s->cli, &s->https);
    if (s->options->share && !s->options->join) announce_share(s);
    flr_print_note(s->cli, "%s\n", "Ctrl-C ends it.");
    if (s->cli->json) {
        json_t *json = flr_json_object();
        flr_json_set(json, "url", flr_json_text(url));
        flr_json_set(json, "port", flr_json_count(flr_service_address(s->service).port));
        if (s->options->share)
            flr_json_set(json, "share_port",
                         flr_json_count(flr_share_address(flr_service_share(s->service)).port));
        flr_json_print(s->cli, json);
    }
    fflush(stdout);
}

static flr_result begin(server *s, const char *scene, flr_error *error)
{
    flr_log_def log = flr_default_log_def();
    log.env = s->cli->env;
    log.level = s->cli->verbose ? FLR_LOG_INFO : FLR_LOG_WARNING;
    if (!s->cli->quiet) s->log = flr_log_create(&log);
    s->def = flr_default_service_def();
    s->def.log = s->log;
    s->def.seen = seen;
    s->def.context = s;
    s->def.engine.env = s->cli->env;
    s->def.engine.report = flr_clash_serve_report;
    s->def.engine.report_recording = flr_report_serve;
    s->def.engine.up = (flr_axis)s->options->up;
    s->def.engine.rate = s->options->rate;
    s->def.engine.local = s->options->local_haptics;
    s->def.engine.hands = (uint32_t)s->options->hands;
    s->def.engine.workers = (unsigned)s->options->workers;
    s->def.engine.contact_threads = (unsigned)s->options->threads;
    s->def.engine.voxel = s->options->voxel;
    s->def.engine.small_recordings = !s->options->every_frame;
    if (s->options->mapping) s->def.engine.mapping = &s->mapping;
    if (!s->options
             ->join) { /* a guest takes the host's settings, then changes them for everybody */
        s->def.engine.contact = s->options->engine < 0 ? 0 : 1 + (unsigned)s->options->engine;
        s->def.engine.onset = s->options->onset;
        s->def.engine.strength = s->options->strength;
        s->def.engine.tests = s->options->tests;
        s->def.engine.overlap = s->options->overlap;
    }
    s->def.engine.voxel_of_all = s->options->join != NULL && s->options->voxel > 0;
    s->def.engine.cpu = (int)s->options->cpu;
    s->def.limits.clients = (uint32_t)s->options->clients;
    s->def.limits.upload = s->options->upload_limit;
    if (s->def.limits.uploads < 2 * s->def.limits.upload)
        s->def.limits.uploads = 2 * s->def.limits.upload;
    char here[FLR_CACHE_PATH_SIZE]; /* copied by the engine */
    s->def.engine.folder = getcwd(here, sizeof here);
    flr_result result = flr_serve_check(s->cli->env, s->options, error);
    s->mapping = flr_default_engine_mapping();
    if (result == FLR_OK && s->options->mapping)
        result = flr_engine_mapping_parse(s->options->mapping, &s->mapping, error);
    if (result == FLR_OK) result = choose_folders(s, error);
    const uint64_t memory = s->def.engine.memory = s->options->memory;
    flr_world_params params = flr_default_world_params();
    if (s->options->engine >= 0) params.engine = (flr_world_engine)s->options->engine;
    if (result == FLR_OK) result = flr_check_memory(memory, &s->cache, &params, error);
    if (result == FLR_OK && scene) result = check_scene(s, scene, error);
    if (result == FLR_OK && !scene && s->options->share && !s->options->join)
        result = flr_fail(error, FLR_BAD_ARGUMENT,
                          "--share needs a scene, since no part comes or goes while others are in "
                          "it: feeler serve SCENE --share");
    if (result == FLR_OK) result = choose_address(s, error);
    if (result == FLR_OK) result = flr_serve_watch_begin(&s->watch, s->cli->env, error);
    s->def.engine.stall = s->watch.stall;
    if (result == FLR_OK) result = flr_service_create(&s->def, &s->service, error);
    if (result == FLR_OK) result = add_devices(s, error);
    flr_engine *engine = result == FLR_OK ? flr_service_engine(s->service) : NULL;
    if (result == FLR_OK && s->options->share) result = begin_share(s, error);
    if (result == FLR_OK) flr_engine_watch_files(engine, s->options->watch_files);
    if (result == FLR_OK && scene) result = flr_engine_load(engine, scene, &s->job, error);
    if (result == FLR_OK) result = flr_engine_start(engine, error);
    return result;
}

int flr_serve(flr_cli *cli, const flr_serve_options *options, const char *scene,
              void (*ready)(void *context, const char *url), void *context)
{
    server *s = calloc(1, sizeof *s);
    flr_error error;
    if (!s) {
        flr_fail(&error, FLR_NO_MEMORY, "not enough memory for a controller");
        return flr_fail_with(cli, FLR_EXIT_FAILED, &error);
    }
    s->cli = cli;
    s->options = options;
    s->watch.notify = -1;
    flr_catch_stop();
    signal(SIGPIPE, SIG_IGN);
    flr_memory_return_large_blocks();
    flr_result result = begin(s, scene, &error);
    int code = result == FLR_OK                                        ? FLR_EXIT_OK
               : result == FLR_BAD_ARGUMENT || result == FLR_TOO_LARGE ? FLR_EXIT_USAGE
                                                                       : flr_exit_of_input(result);
    if (result == FLR_DENIED) code = FLR_EXIT_FAILED;
    if (result == FLR_OK) {
        char url[URL_SIZE];
        print_url(s, url);
        announce(s, url);
        if (ready) ready(context, url);
        if (options->seconds > 0)
            s->end_ns = flr_clock_ns(cli->env) + (int64_t)(options->seconds * 1e9);
        flr_serve_watch_ready(&s->watch);
        flr_service_run(s->service, stop, s);
        flr_serve_watch_rest(&s->watch);
        flr_progress_end(cli);
        if (s->failed) {
            error = s->error;
            result = error.code;
            code = flr_exit_of_input(error.code == FLR_NOT_FOUND ? FLR_BAD_INPUT : error.code);
            if (error.code == FLR_CLOSED) code = FLR_EXIT_FAILED; /* nobody let us in */
        }
    }
    flr_service_destroy(s->service);
    flr_scratch_remove(cli->env, s->temporary);
    flr_serve_watch_end(&s->watch);
    for (size_t i = 0; i < s->device_count; i++) flr_device_close(s->devices[i]);
    flr_log_destroy(s->log);
    memset(&s->def.access, 0, sizeof s->def.access);
    memset(s->share_token, 0, sizeof s->share_token);
    free(s);
    return result == FLR_OK ? code : flr_fail_with(cli, code, &error);
}
