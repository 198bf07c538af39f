/* what a command line says about a controller, looked at before anything begins */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "output.h"
#include "serve.h"
#include "server/access.h"

enum { MIN_UPLOAD = 1024 };

static flr_result check_cpu(int64_t cpu, flr_error *error)
{
    cpu_set_t allowed;
    if (cpu < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return FLR_OK;
    if (cpu < CPU_SETSIZE && CPU_ISSET((unsigned)cpu, &allowed)) return FLR_OK;
    int count = CPU_COUNT(&allowed), first = 0, last = CPU_SETSIZE - 1;
    while (!CPU_ISSET((unsigned)first, &allowed)) first++;
    while (!CPU_ISSET((unsigned)last, &allowed)) last--;
    return flr_fail(error, FLR_BAD_ARGUMENT,
                    "--cpu %lld: feeler may use %d %s of this machine, numbered from %d to %d",
                    (long long)cpu, count, flr_noun((unsigned)count, "processor", "processors"),
                    first, last);
}

static flr_result check_upload(uint64_t limit, flr_error *error)
{
    if (limit >= MIN_UPLOAD) return FLR_OK;
    return flr_fail(error, FLR_BAD_ARGUMENT,
                    "--upload-limit: no mesh is that small; give 1KiB or more, such as 512MiB");
}

/* Options of a shared session do nothing without one. */
static flr_result check_share(const flr_serve_options *o, flr_error *error)
{
    static const flr_serve_options preset = FLR_SERVE_DEFAULTS;
    const char *name = o->user                              ? "user"
                       : o->share_listen                    ? "share-listen"
                       : o->share_port != preset.share_port ? "share-port"
                       : o->relay                           ? "relay"
                       : o->barrier                         ? "barrier"
                       : o->state_rate < preset.state_rate || o->state_rate > preset.state_rate
                           ? "state-rate"
                           : NULL;
    if (!o->share && name)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--%s is for a shared session; add --share, or leave it out", name);
    for (const char *c = o->user; c && *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "--user: a name has no line breaks and no control characters");
    return FLR_OK;
}

/* ---- folders ---- */

/* A folder that is named must take files; one that is not there is made if its parent is. */
static flr_result check_recordings(flr_env *env, const char *path, flr_error *error)
{
    flr_path_info info;
    flr_error why;
    if (!path) return FLR_OK;
    flr_result result = flr_path_look(env, path, &info, &why);
    if (result == FLR_OK && info.kind == FLR_PATH_FILE)
        return flr_fail(error, FLR_BAD_INPUT, "--recordings %s: is a file, not a folder", path);
    if (result == FLR_OK && info.kind == FLR_PATH_NONE) {
        char parent[FLR_PATH_MAX];
        size_t size = strlen(path);
        while (size > 1 && path[size - 1] == '/') size--;
        while (size > 0 && path[size - 1] != '/') size--;
        while (size > 1 && path[size - 1] == '/') size--;
        int length = snprintf(parent, sizeof parent, "%.*s", (int)size, size ? path : "");
        if (length < 0 || (size_t)length >= sizeof parent)
            return flr_fail(error, FLR_BAD_INPUT, "--recordings: the name is too long");
        if (size && flr_path_look(env, parent, &info, &why) == FLR_OK &&
            info.kind != FLR_PATH_FOLDER)
            return flr_fail(error, FLR_BAD_INPUT,
                            "--recordings %s: there is no folder %s; make it first, or mend the "
                            "name",
                            path, parent);
        result = flr_path_make_private(env, path, 0, &why);
    }
    if (result != FLR_OK) return flr_fail(error, FLR_BAD_INPUT, "--recordings: %s", why.message);
    /* rights alone do not tell: file systems can be read-only or full */
    char probe[FLR_PATH_MAX];
    int length = snprintf(probe, sizeof probe, "%s/.feeler-%ld", path, (long)getpid());
    flr_file *file;
    if (length < 0 || (size_t)length >= sizeof probe)
        return flr_fail(error, FLR_BAD_INPUT, "--recordings: the name is too long");
    if (flr_file_open(env, probe, FLR_FILE_CREATE, &file, &why) != FLR_OK)
        return flr_fail(error, FLR_BAD_INPUT,
                        "--recordings %s: nothing can be written there; choose a folder of yours",
                        path);
    flr_file_close(file);
    flr_path_remove(env, probe, NULL);
    return FLR_OK;
}

static flr_result check_token_file(flr_env *env, const char *path, flr_error *error)
{
    char token[FLR_TOKEN_SIZE];
    flr_error why;
    if (!path) return FLR_OK;
    flr_result result = flr_access_read_token(env, path, token, &why);
    memset(token, 0, sizeof token);
    return result == FLR_OK ? FLR_OK : flr_fail(error, result, "--token-file %s", why.message);
}

/* Options of the exact engine next to another one would have no effect. */
static flr_result check_contact(const flr_serve_options *options, flr_error *error)
{
    const char *name = options->strength > 0   ? "strength"
                       : options->overlap >= 0 ? "overlap"
                                               : NULL;
    if (!name || options->engine < 0 || options->engine == FLR_ENGINE_EXACT) return FLR_OK;
    return flr_fail(error, FLR_BAD_ARGUMENT,
                    "--%s has no effect with the engine %s; leave it out, or choose --engine exact",
                    name, flr_scene_engines[options->engine]);
}

flr_result flr_serve_check(flr_env *env, const flr_serve_options *options, flr_error *error)
{
    flr_result result = check_cpu(options->cpu, error);
    if (result == FLR_OK) result = check_upload(options->upload_limit, error);
    if (result == FLR_OK) result = check_contact(options, error);
    if (result == FLR_OK && options->name && !flr_access_is_host_name(options->name))
        result = flr_fail(error, FLR_BAD_ARGUMENT,
                          "--name %s: not a name of a machine; give letters, digits, dots and "
                          "hyphens, without http:// and port, such as bench3.example.org",
                          options->name);
    if (result == FLR_OK && options->origin && !flr_access_is_origin(options->origin))
        result = flr_fail(error, FLR_BAD_ARGUMENT,
                          "--origin %s: not an origin; give http:// or https://, a host and its "
                          "port if it has one, nothing behind it, such as http://localhost:5173",
                          options->origin);
    if (result == FLR_OK) result = check_share(options, error);
    if (result == FLR_OK) result = check_token_file(env, options->token_file, error);
    if (result == FLR_OK) result = check_token_file(env, options->share_token_file, error);
    if (result == FLR_OK) result = check_recordings(env, options->recordings, error);
    return result;
}
