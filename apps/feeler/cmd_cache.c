/* feeler cache: what lies in the cache of voxel files, is it sound, make room */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/suggest.h"
#include "command.h"
#include "feeler/base.h"
#include "feeler/fit.h"
#include "feeler/voxel_file.h"
#include "files.h"
#include "output.h"

typedef struct cache_values {
    flr_common common;
    uint64_t max;
    const char *folder;
} cache_values;

/* all the cache holds */
typedef struct contents {
    char folder[FLR_CACHE_PATH_SIZE];
    flr_cache_entry *entries; /* oldest first */
    size_t count;
    uint64_t bytes;
} contents;

static flr_result look(flr_cli *cli, contents *cache, flr_error *error)
{
    flr_result result =
        flr_cache_list(cli->env, cache->folder, &cache->entries, &cache->count, error);
    for (size_t i = 0; result == FLR_OK && i < cache->count; i++)
        cache->bytes += cache->entries[i].size;
    return result;
}

static json_t *summary_json(const contents *cache)
{
    json_t *document = flr_json_object();
    flr_json_set(document, "folder", flr_json_text(cache->folder));
    flr_json_set(document, "files", flr_json_count(cache->count));
    flr_json_set(document, "bytes", flr_json_count(cache->bytes));
    return document;
}

static void print_summary(flr_cli *cli, const contents *cache)
{
    flr_print(cli, "%s: %s file%s, %s\n", FLR_SAFE(cache->folder), FLR_COUNT_TEXT(cache->count),
              flr_noun(cache->count, "", "s"), FLR_BYTES_TEXT(cache->bytes));
}

/* ---- one file ---- */

/* What its header says, as a part of a line and in JSON. */
static void tell_content(flr_cli *cli, const flr_voxmap *voxmap, const flr_shell *shell,
                         json_t *object)
{
    flr_voxmap_info info = flr_voxmap_get_info(voxmap);
    flr_print(cli, "%s, %s triangle%s, %s surface voxel%s%s\n", FLR_SIZE_TEXT(info.voxel),
              FLR_COUNT_TEXT(info.stats.triangles), flr_noun(info.stats.triangles, "", "s"),
              FLR_COUNT_TEXT(info.stats.surface_voxels),
              flr_noun(info.stats.surface_voxels, "", "s"), shell ? ", points" : "");
    flr_json_set(object, "mesh_hash", flr_json_text(FLR_HASH_TEXT(info.mesh_hash)));
    flr_json_set(object, "voxel_size", flr_json_number(info.voxel));
    flr_json_set(object, "bits", flr_json_count(info.bits));
    flr_json_set(object, "triangles", flr_json_count(info.stats.triangles));
    flr_json_set(object, "surface_voxels", flr_json_count(info.stats.surface_voxels));
    flr_json_set(object, "points", shell ? flr_json_count(shell->total) : json_null());
}

static bool is_fit(const char *name)
{
    const size_t size = strlen(name), ending = strlen(".flrfit");
    return size > ending && strcmp(name + size - ending, ".flrfit") == 0;
}

/* Reads a file of the cache and says what is in it. */
static flr_result open_entry(flr_cli *cli, const char *path, unsigned flags, json_t *object,
                             flr_error *error)
{
    if (is_fit(path)) {
        flr_fit *fit;
        flr_result result = flr_fit_read(cli->env, path, &fit, error);
        if (result != FLR_OK) return result;
        const flr_fit_info info = flr_fit_get_info(fit);
        flr_json_set(object, "triangles", flr_json_count(info.triangles));
        flr_print(cli, "exact geometry, %u triangles, %u samples\n", info.triangles, info.samples);
        flr_fit_destroy(fit);
        return FLR_OK;
    }
    flr_voxmap *voxmap;
    flr_shell *shell;
    flr_result result = flr_voxfile_open(cli->env, path, flags, &voxmap, &shell, error);
    if (result != FLR_OK) return result;
    tell_content(cli, voxmap, shell, object);
    flr_shell_destroy(shell);
    flr_voxmap_destroy(voxmap);
    return FLR_OK;
}

/* A line about one file; is it sound, as far as `flags` ask? */
static bool tell_entry(flr_cli *cli, const contents *cache, const flr_cache_entry *entry,
                       unsigned flags, json_t *list)
{
    char path[FLR_CACHE_PATH_SIZE + FLR_CACHE_NAME_SIZE], bytes[FLR_COUNT_TEXT_SIZE], date[32] = "";
    snprintf(path, sizeof path, "%s/%s", cache->folder, entry->name);
    time_t seconds = (time_t)(entry->modified_ns / 1000000000);
    struct tm when;
    if (gmtime_r(&seconds, &when)) strftime(date, sizeof date, "%Y-%m-%d %H:%M", &when);
    flr_print(cli, "  %.8s…  %s  %8s  ", entry->name, date, flr_bytes_print(entry->size, bytes));

    json_t *object = flr_json_object();
    flr_json_set(object, "file", flr_json_text(path));
    flr_json_set(object, "bytes", flr_json_count(entry->size));
    flr_json_set(object, "written", flr_json_number((double)entry->modified_ns * 1e-9));
    flr_error error;
    flr_result result = open_entry(cli, path, flags, object, &error);
    flr_json_set(object, "sound", json_boolean(result == FLR_OK));
    if (result != FLR_OK) {
        // the path stands before the colon; here only what is wrong matters
        const char *words = error.message;
        if (!strncmp(words, path, strlen(path))) words += strlen(path) + 2;
        flr_print(cli, "%s%s%s\n", flr_red(cli), words, flr_plain(cli));
        flr_json_set(object, "error", flr_json_text(error.message));
    }
    flr_json_push(list, object);
    return result == FLR_OK;
}

/* ---- what can be done ---- */

static int list_files(flr_cli *cli, const contents *cache, bool verify)
{
    json_t *document = summary_json(cache), *list = flr_json_array();
    size_t broken = 0;
    print_summary(cli, cache);
    for (size_t i = 0; i < cache->count; i++) {
        if (verify) flr_progress(cli, i, cache->count, "verifying %s", cache->entries[i].name);
        broken +=
            !tell_entry(cli, cache, &cache->entries[i], verify ? FLR_VOXFILE_VERIFY : 0, list);
    }
    flr_progress_end(cli);
    if (verify && !broken) flr_print_note(cli, "all sound\n");
    flr_json_set(document, "broken", flr_json_count(broken));
    flr_json_set(document, "entries", list);
    flr_json_print(cli, document);
    return verify && broken ? FLR_EXIT_INPUT : FLR_EXIT_OK;
}

static int tell_size(flr_cli *cli, const contents *cache)
{
    print_summary(cli, cache);
    flr_json_print(cli, summary_json(cache));
    return FLR_EXIT_OK;
}

/* down to `limit` bytes; 0: all of it */
static int prune(flr_cli *cli, contents *cache, uint64_t limit)
{
    uint64_t files, bytes;
    flr_error error;
    flr_result result =
        limit ? flr_cache_prune(cli->env, cache->folder, limit, &files, &bytes, &error)
              : flr_cache_clear(cli->env, cache->folder, &files, &bytes, &error);
    if (result != FLR_OK) return flr_fail_with(cli, FLR_EXIT_FAILED, &error);
    cache->count -= files;
    cache->bytes -= bytes;
    flr_print_note(cli, "removed %s file%s, %s; %s left\n", FLR_COUNT_TEXT(files),
                   flr_noun(files, "", "s"), FLR_BYTES_TEXT(bytes), FLR_BYTES_TEXT(cache->bytes));
    json_t *document = summary_json(cache);
    flr_json_set(document, "removed_files", flr_json_count(files));
    flr_json_set(document, "removed_bytes", flr_json_count(bytes));
    flr_json_print(cli, document);
    return FLR_EXIT_OK;
}

static const char *const actions[] = {"list", "size", "verify", "prune", "clear"};
enum { LIST, CACHE_SIZE, VERIFY, PRUNE, CACHE_CLEAR, ACTION_COUNT };

static size_t action_words(const char **words, size_t capacity)
{
    size_t count = 0;
    for (; count < ACTION_COUNT && count < capacity; count++) words[count] = actions[count];
    return count;
}

static int unknown_action(flr_cli *cli, const char *name)
{
    const char *near = flr_suggest(name, actions, ACTION_COUNT);
    return FLR_REFUSE(cli, "no action \"%s\"; %s%s", name,
                      near ? "did you mean " : "one of list, size, verify, prune, clear",
                      near ? near : "");
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    const cache_values *values = given;
    int action = 0;
    if (count)
        while (action < ACTION_COUNT && strcmp(arguments[0], actions[action])) action++;
    if (action == ACTION_COUNT) return unknown_action(cli, arguments[0]);
    if ((values->max > 0) != (action == PRUNE))
        return FLR_REFUSE(cli, action == PRUNE
                                   ? "how much may stay? write feeler cache prune --max 10GB; "
                                     "feeler cache clear removes all"
                                   : "--max belongs to feeler cache prune");

    flr_error error;
    contents cache = {.count = 0};
    flr_result result = flr_find_cache(values->folder, cache.folder, &error);
    if (result == FLR_OK) result = look(cli, &cache, &error);
    if (result != FLR_OK) return flr_fail_with(cli, FLR_EXIT_FAILED, &error);
    int code = action == CACHE_SIZE ? tell_size(cli, &cache)
               : action == PRUNE || action == CACHE_CLEAR
                   ? prune(cli, &cache, values->max)
                   : list_files(cli, &cache, action == VERIFY);
    flr_cache_list_free(cache.entries);
    return code;
}

static const char *const usage[] = {"[list | size | verify | clear] [options]", "prune --max SIZE",
                                    NULL};
static const flr_option options[] = {
    FLR_OPTION(BYTES, offsetof(cache_values, max), "max", "SIZE",
               "for prune: how much may stay, such as 10GB"),
    FLR_OPTION(FOLDER, offsetof(cache_values, folder), "folder", "DIR",
               "another cache than your own"),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler cache", "what is there?"},
    {"feeler cache verify --json", "is all of it sound? For a program"},
    {"feeler cache prune --max 10GB", "the oldest go until no more than this is left"},
    {"feeler cache clear", "everything goes"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "done"},
    {FLR_EXIT_FAILED, "the folder could not be read, or a file not removed"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT, "verify: a file is broken; it is built again when it is needed"},
    {0, NULL},
};

const flr_command flr_cmd_cache = {
    .name = "cache",
    .summary = "list, verify and clear the cache of voxel files",
    .usage = usage,
    .description =
        "What was voxelized once is kept, by a hash of the mesh and of all parameters, and opened "
        "the next time. The cache lies in the folder FEELER_CACHE, else in feeler under "
        "XDG_CACHE_HOME, else in ~/.cache/feeler. Files may be removed at any time, also while "
        "they are in use; a corrupt one is reported and built again.\n\n"
        "list (without an action, too) names the files, oldest first; size adds them up; verify "
        "compares all checksums; prune removes the oldest; clear removes all.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_WORD,
    .words = action_words,
    .max_arguments = 1,
    .values_size = sizeof(cache_values),
    .run = run,
};
