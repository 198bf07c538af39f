/* a controller: port, engine, devices, until somebody says stop */
#include "serve.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "feeler/hardware.h"
#include "files.h"
#include "output.h"

enum { MOST_DEVICES = 16, URL_SIZE = 1024 };

/* all that a running controller needs */
typedef struct server {
    flr_cli *cli;
    const flr_serve_options *options;
    flr_service_def def;
    flr_service *service;
    flr_cache cache;
    char cache_folder[FLR_CACHE_PATH_SIZE], scratch[FLR_CACHE_PATH_SIZE],
        uploads[FLR_CACHE_PATH_SIZE], recordings[FLR_CACHE_PATH_SIZE];
    char host[256];
    flr_device *devices[MOST_DEVICES];
    uint32_t device_numbers[MOST_DEVICES];
    size_t device_count;
    flr_log *log;
    uint32_t job; /* that loads the scene; 0: none */
    bool failed;  /* … and has failed */
    flr_error error;
    int64_t end_ns; /* 0: none */
} server;

/* ---- folders ---- */

static flr_result join(char *path, size_t size, const char *folder, const char *name,
                       flr_error *error)
{
    int length = snprintf(path, size, "%s/%s", folder, name);
    if (length > 0 && (size_t)length < size) return FLR_OK;
    return flr_fail(error, FLR_TOO_LARGE, "the name of the folder %s is too long", folder);
}

static flr_result choose_folders(server *s, flr_error *error)
{
    flr_result result = FLR_OK;
    if (flr_find_cache(NULL, s->cache_folder, NULL) == FLR_OK) {
        s->cache.folder = s->options->no_cache ? NULL : s->cache_folder;
        s->cache.lazy = true;
        s->def.engine.cache = &s->cache;
        result = join(s->scratch, sizeof s->scratch, s->cache_folder, "scenarios", error);
        if (result == FLR_OK)
            result = join(s->uploads, sizeof s->uploads, s->cache_folder, "uploads", error);
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
    return result;
}

static void print_url(const server *s, char url[URL_SIZE])
{
    flr_address address = flr_service_address(s->service);
    const flr_access *access = &s->def.access;
    static const uint8_t any[16], local[4] = {127, 0, 0, 1};
    char text[FLR_ADDRESS_TEXT_SIZE], host[300];
    bool everywhere = !memcmp(address.ip, any, address.family == 6 ? 16 : 4);
    if (s->options->name)
        snprintf(host, sizeof host, "%s:%u", s->options->name, address.port);
    else if (address.family == 4 && !memcmp(address.ip, local, sizeof local))
        snprintf(host, sizeof host, "localhost:%u", address.port);
    else if (everywhere && s->host[0])
        snprintf(host, sizeof host, "%s:%u", s->host, address.port);
    else
        snprintf(host, sizeof host, "%s", flr_address_print(address, text));
    /* behind the # it stays in the browser */
    snprintf(url, URL_SIZE, "%s://%s/%s%s", s->def.certificate ? "https" : "http", host,
             access->token[0] ? "#token=" : "", access->token);
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
    return text ? flr_engine_select(engine, 0, number, error) : FLR_OK;
}

/* Those that are there can be chosen in the viewer; of the others it tells what they lack. */
static flr_result add_devices(server *s, flr_error *error)
{
    if (s->options->no_devices && !s->options->device) return FLR_OK;
    flr_error why;
    if (flr_device_plugins_load(NULL, NULL, &why) != FLR_OK) flr_warn(s->cli, "%s", why.message);
    bool found = false;
    for (size_t i = 0; i < flr_device_driver_count() && s->device_count < MOST_DEVICES; i++) {
        const flr_device_driver *driver = flr_device_driver_at(i);
        if (!driver->look) continue;
        size_t size = strlen(driver->name);
        const char *wanted = s->options->device;
        bool chosen = wanted && !strncmp(wanted, driver->name, size) &&
                      (wanted[size] == 0 || wanted[size] == ':');
        found = found || chosen;
        if (s->options->no_devices && !chosen) continue;
        flr_result result = add_device(s, driver, chosen ? wanted : NULL, error);
        if (result != FLR_OK) return result;
    }
    if (s->options->device && !found)
        return flr_fail(error, FLR_NOT_FOUND,
                        "there is no device \"%s\"; feeler doctor lists those that are known",
                        s->options->device);
    return FLR_OK;
}

/* a device's own frame stands in the middle of what there is */
static void centre_devices(server *s)
{
    flr_engine *engine = flr_service_engine(s->service);
    flr_engine_scene scene;
    flr_engine_get_scene(engine, &scene);
    if (!(scene.bounds.low.x <= scene.bounds.high.x)) return;
    flr_pose T = flr_pose_identity();
    T.p = flr_box3_centre(scene.bounds);
    for (size_t i = 0; i < s->device_count; i++)
        flr_engine_place_device(engine, s->device_numbers[i], T, 1, NULL);
}

/* ---- running ---- */

static void seen(void *context, const flr_engine_event *event)
{
    server *s = context;
    if (event->kind == FLR_ENGINE_EVENT_SCENE) centre_devices(s);
    if (event->kind != FLR_ENGINE_EVENT_JOB || event->job.job != s->job) return;
    const flr_engine_job *job = &event->job;
    if (job->state != FLR_WIRE_JOB_ENDED) {
        flr_progress(s->cli, (uint64_t)(job->fraction * 1000), 1000, "%s", job->sentence);
        return;
    }
    flr_progress_end(s->cli);
    flr_engine_scene scene;
    char safe[FLR_SAFE_SIZE];
    flr_engine_get_scene(flr_service_engine(s->service), &scene);
    if (job->result != FLR_OK && job->result != FLR_CANCELLED && scene.parts == 0) {
        s->failed = true;
        flr_fail(&s->error, job->result, "%s", job->sentence);
    } else if (job->result != FLR_OK) { /* it can be looked at, or another be loaded */
        flr_warn(s->cli, "%s", job->sentence);
    } else {
        flr_print_note(s->cli, "%s is loaded: %u %s\n", flr_safe(scene.name, safe), scene.parts,
                       flr_noun(scene.parts, "part", "parts"));
        fflush(stdout);
    }
}

static bool stop(void *context)
{
    const server *s = context;
    return flr_stop_wanted() || s->failed || (s->end_ns && flr_clock_ns(s->cli->env) >= s->end_ns);
}

static void announce(server *s, const char *url)
{
    char safe[FLR_SAFE_SIZE];
    flr_print(s->cli, "The viewer is at  %s%s%s\n", flr_bold(s->cli), flr_safe(url, safe),
              flr_plain(s->cli));
    bool open = !flr_address_is_loopback(flr_service_address(s->service));
    if (open && !s->def.certificate)
        flr_warn(s->cli, "others on the network can read along; use --tls-cert and --tls-key where "
                         "it is not yours alone");
    flr_print_note(s->cli, "%s\n", "Ctrl-C ends it.");
    if (s->cli->json) {
        json_t *json = flr_json_object();
        flr_json_set(json, "url", flr_json_text(url));
        flr_json_set(json, "port", flr_json_count(flr_service_address(s->service).port));
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
    s->def.engine.rate = s->options->rate;
    s->def.engine.hands = (uint32_t)s->options->hands;
    s->def.engine.workers = (unsigned)s->options->workers;
    s->def.engine.voxel = s->options->voxel;
    s->def.engine.cpu = (int)s->options->cpu;
    s->def.limits.clients = (uint32_t)s->options->clients;
    s->def.limits.upload = s->options->upload_limit;
    if (s->def.limits.uploads < 2 * s->def.limits.upload)
        s->def.limits.uploads = 2 * s->def.limits.upload;
    char here[FLR_CACHE_PATH_SIZE]; /* copied by the engine */
    s->def.engine.folder = getcwd(here, sizeof here);
    flr_result result = choose_folders(s, error);
    const uint64_t memory = s->def.engine.memory = s->options->memory;
    if (result == FLR_OK && memory && !s->cache.folder)
        result = flr_fail(error, FLR_BAD_ARGUMENT,
                          "--memory reads voxels from the cache; leave out --no-cache");
    if (result == FLR_OK && memory && (memory < 1 << 20 || memory > (uint64_t)8 << 30))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "--memory: 1MiB to 8GiB");
    if (result == FLR_OK) result = choose_address(s, error);
    if (result == FLR_OK) result = flr_service_create(&s->def, &s->service, error);
    if (result == FLR_OK) result = add_devices(s, error);
    flr_engine *engine = result == FLR_OK ? flr_service_engine(s->service) : NULL;
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
    flr_catch_stop();
    signal(SIGPIPE, SIG_IGN);
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
        flr_service_run(s->service, stop, s);
        flr_progress_end(cli);
        if (s->failed) {
            error = s->error;
            result = error.code;
            code = flr_exit_of_input(error.code == FLR_NOT_FOUND ? FLR_BAD_INPUT : error.code);
        }
    }
    flr_service_destroy(s->service);
    for (size_t i = 0; i < s->device_count; i++) flr_device_close(s->devices[i]);
    flr_log_destroy(s->log);
    memset(&s->def.access, 0, sizeof s->def.access);
    free(s);
    return result == FLR_OK ? code : flr_fail_with(cli, code, &error);
}
