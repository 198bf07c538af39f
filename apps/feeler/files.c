/* inputs that commands take, outputs that are whole or not there */
#include "files.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"

const char *const flr_axis_choices[] = {"auto", "x", "y", "z", NULL};

const char *const flr_unit_choices[] = {"um", "mm", "cm", "m", "in", "ft", NULL};

flr_mesh_options flr_input_mesh_options(const flr_input *input, double voxel)
{
    flr_mesh_options options = flr_default_mesh_options();
    options.unit = input->unit;
    options.weld = input->weld;
    options.chord = input->chord > 0 ? input->chord : flr_mesh_chord(voxel);
    options.tolerant = input->tolerant;
    if (input->helper_seconds) options.helper_seconds = (unsigned)input->helper_seconds;
    if (input->helper_memory) options.helper_memory = input->helper_memory;
    return options;
}

const char *flr_left_out_print(const flr_mesh_report *report, char text[FLR_LEFT_OUT_TEXT_SIZE])
{
    uint64_t count = report->dropped_nonfinite + report->dropped_malformed;
    text[0] = 0;
    if (count && report->first_trouble[0])
        snprintf(text, FLR_LEFT_OUT_TEXT_SIZE, "%s triangle%s left out; the first: %s",
                 FLR_COUNT_TEXT(count), flr_noun(count, "", "s"), report->first_trouble);
    else if (report->first_trouble[0])
        snprintf(text, FLR_LEFT_OUT_TEXT_SIZE, "something left out: %s", report->first_trouble);
    return text;
}

void flr_warn_left_out(flr_cli *cli, const char *name, const flr_mesh_report *report)
{
    char text[FLR_LEFT_OUT_TEXT_SIZE];
    if (*flr_left_out_print(report, text)) flr_warn(cli, "%s: %s", name, text);
}

flr_result flr_find_cache(const char *given, char folder[FLR_CACHE_PATH_SIZE], flr_error *error)
{
    return flr_cache_folder(given ? given : getenv("FEELER_CACHE"), getenv("XDG_CACHE_HOME"),
                            getenv("HOME"), folder, error);
}

flr_result flr_check_memory(uint64_t memory, const flr_cache *cache, const flr_world_params *params,
                            flr_error *error)
{
    if (!memory) return FLR_OK;
    if (!cache->folder)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--memory reads voxels from the cache; leave out --no-cache");
    if (memory < 1 << 20 || memory > (uint64_t)8 << 30)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--memory needs 1MiB to 8GiB for the voxels of parts that stay");
    if (params->engine == FLR_ENGINE_SPHERES)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--memory: sphere trees need all voxels in memory; leave it out, or use "
                        "feeler run --engine shell");
    if (params->engine == FLR_ENGINE_COHERENT)
        return flr_fail(
            error, FLR_BAD_ARGUMENT,
            "--memory: the coherent engine needs all voxels in memory; leave it out, or "
            "use --engine shell");
    if (params->engine == FLR_ENGINE_EXACT)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--memory: the exact engine reads no voxels; leave it out");
    return FLR_OK;
}

bool flr_is_scene(const char *path)
{
    size_t size = strlen(path);
    return (size > 5 && !strcasecmp(path + size - 5, ".json")) ||
           (size > 4 && !strcasecmp(path + size - 4, ".cfg"));
}

void flr_hint_scene(flr_env *env, const char *path, flr_error *error)
{
    char scene[FLR_PATH_MAX];
    size_t size = strlen(path), used = strlen(error->message);
    while (size > 1 && path[size - 1] == '/') size--;
    flr_path_info info;
    if (snprintf(scene, sizeof scene, "%.*s/scene.json", (int)size, path) >= (int)sizeof scene ||
        flr_path_look(env, path, &info, NULL) != FLR_OK || info.kind != FLR_PATH_FOLDER ||
        flr_path_look(env, scene, &info, NULL) != FLR_OK || info.kind != FLR_PATH_FILE)
        return;
    snprintf(error->message + used, sizeof error->message - used, "; did you mean %s?", scene);
}

bool flr_same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino;
}

static sigset_t held_before;

void flr_hold_signals(void)
{
    sigset_t hold;
    sigemptyset(&hold);
    sigaddset(&hold, SIGINT);
    sigaddset(&hold, SIGTERM);
    sigaddset(&hold, SIGHUP);
    sigaddset(&hold, SIGQUIT);
    sigprocmask(SIG_BLOCK, &hold, &held_before);
}

void flr_release_signals(void) { sigprocmask(SIG_SETMASK, &held_before, NULL); }

static volatile sig_atomic_t stop_wanted, at_once;

static void want_stop(int signal_number)
{
    (void)signal_number;
    if (stop_wanted && at_once) _exit(FLR_EXIT_STOPPED);
    stop_wanted = 1;
}

/* those that nobody chose to ignore */
static void handle_stop(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler}, before;
    sigemptyset(&action.sa_mask);
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        sigaction(signals[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL);
    }
}

void flr_catch_stop(void) { handle_stop(want_stop); }
void flr_uncatch_stop(void) { handle_stop(SIG_DFL); }

bool flr_stop_wanted(void) { return stop_wanted; }
void flr_stop_at_once(bool allowed) { at_once = allowed; }

static bool saw_one(void *context, const char *name)
{
    (void)name;
    *(bool *)context = true;
    return false;
}

/* what is there now, into `folder->was` */
static flr_result look_at_folder(flr_env *env, const char *path, bool force, flr_folder *folder,
                                 flr_error *error)
{
    flr_path_info info;
    flr_result result = flr_path_look(env, path, &info, error);
    if (result != FLR_OK) return result;
    folder->was = FLR_FOLDER_NEW;
    if (info.kind == FLR_PATH_NONE) return FLR_OK;
    if (info.kind != FLR_PATH_FOLDER)
        return flr_fail(error, FLR_DENIED, "%s is there already and is not a folder", path);
    bool full = false;
    result = flr_path_list(env, path, saw_one, &full, error);
    if (result != FLR_OK) return result;
    if (full && !force)
        return flr_fail(error, FLR_DENIED,
                        "%s is not empty; choose another folder, or add --force to write into it",
                        path);
    folder->was = full ? FLR_FOLDER_FULL : FLR_FOLDER_EMPTY;
    return FLR_OK;
}

flr_result flr_folder_check(flr_env *env, const char *path, bool force, flr_error *error)
{
    flr_folder folder;
    return look_at_folder(env, path, force, &folder, error);
}

/* how many bytes of `path` name the nearest folder above it that is there; 0: none of them */
static size_t find_kept(flr_env *env, const char *path)
{
    char parent[FLR_PATH_MAX];
    snprintf(parent, sizeof parent, "%s", path);
    for (char *slash; (slash = strrchr(parent, '/'));) {
        *slash = 0;
        flr_path_info info;
        if (flr_path_look(env, *parent ? parent : "/", &info, NULL) == FLR_OK &&
            info.kind != FLR_PATH_NONE)
            return strlen(parent);
    }
    return 0;
}

flr_result flr_folder_begin(flr_env *env, const char *path, bool force, flr_folder *folder,
                            flr_error *error)
{
    // "foo/" and "foo/." are foo
    size_t size = strlen(path);
    while (size > 1 && (path[size - 1] == '/' || (path[size - 1] == '.' && path[size - 2] == '/')))
        size--;
    if (size + 32 > FLR_PATH_MAX)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%s: the path is too long", path);
    snprintf(folder->path, FLR_PATH_MAX, "%.*s", (int)size, path);
    flr_result result = look_at_folder(env, folder->path, force, folder, error);
    if (result != FLR_OK) return result;
    memcpy(folder->writing, folder->path, FLR_PATH_MAX);
    if (folder->was != FLR_FOLDER_NEW) return FLR_OK;
    if (size >= 2 && !strcmp(folder->path + size - 2, ".."))
        return flr_fail(error, FLR_NOT_FOUND, "%s: no such folder", path);
    snprintf(folder->writing + size, FLR_PATH_MAX - size, ".part%ld", (long)getpid());
    folder->kept = find_kept(env, folder->path);
    result = flr_path_make_folder(env, folder->writing, error);
    if (result != FLR_OK) flr_folder_abandon(env, folder, error);
    return result;
}

flr_result flr_folder_commit(flr_env *env, const flr_folder *folder, flr_error *error)
{
    if (folder->was != FLR_FOLDER_NEW) return FLR_OK;
    flr_result result = flr_path_rename(env, folder->writing, folder->path, error);
    if (result != FLR_OK) flr_folder_abandon(env, folder, error);
    return result;
}

typedef struct files_removal {
    flr_env *env;
    const char *folder;
} files_removal;

static bool remove_one(void *context, const char *name)
{
    const files_removal *r = context;
    char path[FLR_PATH_MAX + 300];
    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    flr_path_remove(r->env, path, NULL);
    return true;
}

/* the user knows nothing of the name that we write under */
static void rename_in_sentence(const flr_folder *folder, flr_error *error)
{
    char *found = error ? strstr(error->message, folder->writing) : NULL;
    if (!found) return;
    size_t size = strlen(folder->path), more = strlen(folder->writing) - size;
    memmove(found + size, found + size + more, strlen(found + size + more) + 1);
}

void flr_folder_abandon(flr_env *env, const flr_folder *folder, flr_error *error)
{
    if (folder->was == FLR_FOLDER_FULL) return;
    files_removal r = {env, folder->writing};
    flr_path_list(env, folder->writing, remove_one, &r, NULL);
    if (folder->was != FLR_FOLDER_NEW) return;
    rename_in_sentence(folder, error);
    flr_path_remove(env, folder->writing, NULL);

    // the parents that we made; one into which somebody else wrote meanwhile stays
    char parent[FLR_PATH_MAX];
    memcpy(parent, folder->path, sizeof parent);
    for (char *slash; (slash = strrchr(parent, '/')) && slash > parent + folder->kept;) {
        *slash = 0;
        flr_path_remove(env, parent, NULL);
    }
}
