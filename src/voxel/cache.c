/* the cache: a folder of voxel files named by what they were built from */
#include "feeler/voxel_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"
#include "voxel/voxelize.h"
#include "voxel/voxfile_format.h"

#define CACHE_SUFFIX ".flrvox"
#define FIT_SUFFIX   ".flrfit" /* what feeler/fit.h keeps here, of the same length */

/* ---- names ---- */

flr_result flr_cache_folder(const char *own, const char *cache_home, const char *home,
                            char folder[FLR_CACHE_PATH_SIZE], flr_error *error)
{
    char path[FLR_CACHE_PATH_SIZE];
    int length;
    if (own && own[0])
        length = snprintf(path, sizeof path, "%s", own);
    else if (cache_home && cache_home[0] == '/')
        length = snprintf(path, sizeof path, "%s/feeler", cache_home);
    else if (home && home[0] == '/')
        length = snprintf(path, sizeof path, "%s/.cache/feeler", home);
    else
        return flr_fail(error, FLR_NOT_FOUND,
                        "there is no folder for the cache; set FEELER_CACHE to one");
    // a file's name must fit behind it
    if (length < 0 || (size_t)length + 1 + FLR_CACHE_NAME_SIZE > sizeof path)
        return flr_fail(error, FLR_BAD_ARGUMENT, "the name of the cache's folder is too long");
    memcpy(folder, path, (size_t)length + 1);
    return FLR_OK;
}

/* What has an influence on the bytes built; what has not (threads, limits, progress) is left out. */
typedef struct key_fields {
    uint64_t version;
    flr_hash mesh;
    double voxel;
    flr_pose T_voxmap_mesh;
    uint32_t bits, range, offset;
    uint32_t features, hollow, on_surface;
} key_fields;

/* does the definition have a member that is missing above and below? then put it in, and its size here */
_Static_assert(sizeof(void *) != 8 || sizeof(flr_voxelize_def) == 112,
               "flr_voxelize_def has changed: does the key of the cache still tell all apart?");

flr_hash flr_cache_key(const flr_mesh *mesh, const flr_voxelize_def *def)
{
    FLR_ASSERT(mesh && def);
    key_fields fields;
    memset(&fields, 0, sizeof fields);
    fields.version = FLR_VOXMAP_VERSION;
    fields.mesh = flr_mesh_hash(mesh);
    fields.voxel = def->voxel;
    fields.T_voxmap_mesh = def->T_voxmap_mesh;
    fields.bits = def->bits;
    fields.range = def->bits == 2 ? 1 : def->range;
    fields.offset = def->offset;
    fields.features = def->features;
    fields.hollow = def->hollow;
    fields.on_surface = def->on_surface;
    return flr_hash_bytes(&fields, sizeof fields);
}

static flr_result make_path(const char *folder, const char *name, char path[FLR_CACHE_PATH_SIZE],
                            flr_error *error)
{
    int length = snprintf(path, FLR_CACHE_PATH_SIZE, "%s/%s", folder, name);
    if (length > 0 && length < FLR_CACHE_PATH_SIZE) return FLR_OK;
    return flr_fail(error, FLR_BAD_ARGUMENT, "%.200s…: the name of the cache's folder is too long",
                    folder);
}

static flr_result path_of(const flr_cache *cache, flr_hash key, char path[FLR_CACHE_PATH_SIZE],
                          flr_error *error)
{
    char name[FLR_CACHE_NAME_SIZE];
    snprintf(name, sizeof name, "%s" CACHE_SUFFIX, FLR_HASH_TEXT(key));
    return make_path(cache->folder, name, path, error);
}

/* ---- voxelizing ---- */

/* Is it what was asked for? By its name it is; somebody may have renamed it. */
static bool matches(const flr_voxmap *voxmap, const flr_shell *shell, const flr_mesh *mesh,
                    const flr_voxelize_def *def)
{
    const flr_voxmap_header *h = voxmap->header;
    flr_hash hash = flr_mesh_hash(mesh);
    return flr_hash_equal(h->mesh_hash, hash) && h->grid.voxel == def->voxel &&
           memcmp(&h->T_voxmap_mesh, &def->T_voxmap_mesh, sizeof h->T_voxmap_mesh) == 0 &&
           h->bits == def->bits && h->offset == def->offset &&
           (def->bits == 2 || h->range == def->range) && h->features == def->features &&
           h->hollow == def->hollow && (!shell || shell->on_surface == def->on_surface);
}

static double seconds_since(flr_env *env, int64_t begin_ns)
{
    return (double)(flr_clock_ns(env) - begin_ns) * 1e-9;
}

/* What is wrong with a file, less the advice to build it again or to remove a link: that is what is being done. */
static void tell_broken(const char *message, flr_cache_report *report)
{
    const char *advice = strstr(message, "; build it again");
    if (!advice) advice = strstr(message, "; remove it");
    int length = advice ? (int)(advice - message) : (int)strlen(message);
    snprintf(report->broken, sizeof report->broken, "%.*s; it was built again",
             length < 480 ? length : 480, message);
}

/* What is the file opened for? */
typedef enum opening {
    TO_USE, /* its voxels: read into memory, where nothing that happens to the file matters, all checksums compared */
    TO_FIND /* its name, for a pager, which compares checksums as it reads: its upper levels are checked, mapped */
} opening;

/* Entries are feeler's own files: one that is a link could stand for any file of the user, and is not followed. */
static flr_result refuse_link(flr_env *env, const char *path, flr_error *error)
{
    flr_file *file;
    flr_result result =
        flr_file_open_with(env, path, FLR_FILE_READ, FLR_OPEN_NO_LINK, &file, error);
    if (result == FLR_OK) flr_file_close(file);
    return result;
}

/* FLR_OK with *voxmap, or without: then there is none that can be used, and the report says if one is broken. */
static flr_result look_up(flr_env *env, const char *path, bool maps, opening purpose,
                          const flr_mesh *mesh, const flr_voxelize_def *def, flr_voxmap **voxmap,
                          flr_shell **shell, flr_cache_report *report, flr_error *error)
{
    flr_error why;
    int64_t begin = flr_clock_ns(env);
    uint64_t limit = def->memory_limit ? def->memory_limit : (uint64_t)flr_voxelize_default_limit();
    flr_result result = refuse_link(env, path, &why);
    if (result == FLR_OK)
        result = flr_voxfile_open_within(env, path, purpose == TO_FIND ? 0 : FLR_VOXFILE_LOAD,
                                         limit, voxmap, shell, &why);
    if (result == FLR_TOO_LARGE && maps)
        result = flr_voxfile_open(env, path, FLR_VOXFILE_VERIFY, voxmap, shell, &why);
    report->open_seconds = seconds_since(env, begin);
    if (result == FLR_NO_MEMORY || result == FLR_TOO_LARGE) {
        if (error) *error = why;
        return result;
    }
    if (result != FLR_OK) {
        *voxmap = NULL;
        if (result != FLR_NOT_FOUND) tell_broken(why.message, report);
        return FLR_OK;
    }
    bool right = matches(*voxmap, shell ? *shell : NULL, mesh, def);
    if (right && (!shell || *shell)) {
        report->found = true;
        report->voxelize.voxels = (*voxmap)->header->stats;
        return FLR_OK;
    }
    if (!right) {
        flr_fail(&why, FLR_BAD_INPUT, "%s: holds something else than its name says", path);
        tell_broken(why.message, report);
    }
    flr_voxmap_destroy(*voxmap);
    if (shell) flr_shell_destroy(*shell);
    *voxmap = NULL;
    return FLR_OK;
}

/* Notes that something else than feeler's own is there. */
static bool see_name(void *context, const char *name)
{
    static const char *const own[] = {"scenarios", "shared", "uploads"};
    size_t length = strlen(name);
    bool ours = !strncmp(name, ".feeler-", 8) ||
                (length > sizeof CACHE_SUFFIX &&
                 (!strcmp(name + length - (sizeof CACHE_SUFFIX - 1), CACHE_SUFFIX) ||
                  !strcmp(name + length - (sizeof FIT_SUFFIX - 1), FIT_SUFFIX)));
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) ours = ours || !strcmp(name, own[i]);
    if (!ours) *(bool *)context = true;
    return ours;
}

flr_result flr_cache_make_folder(flr_env *env, const char *folder, flr_error *error)
{
    FLR_ASSERT(env && folder);
    bool others = false;
    flr_path_info info;
    flr_result result = flr_path_look(env, folder, &info, error);
    if (result == FLR_OK && info.kind == FLR_PATH_FOLDER)
        result = flr_path_list(env, folder, see_name, &others, error);
    if (result != FLR_OK) return result;
    return others ? flr_path_make_folder(env, folder, error)
                  : flr_path_make_private(env, folder, 0, error);
}

/* The folder to store in, without what others that were killed left there: of a large part that is more than itself. */
static flr_result prepare_folder(flr_env *env, const flr_cache *cache, flr_error *error)
{
    flr_result result = flr_cache_make_folder(env, cache->folder, error);
    if (result == FLR_OK) flr_output_sweep(env, cache->folder, NULL);
    return result;
}

static flr_result prune(flr_env *env, const flr_cache *cache, flr_error *error)
{
    uint64_t files, bytes;
    if (!cache->limit) return FLR_OK;
    return flr_cache_prune(env, cache->folder, cache->limit, &files, &bytes, error);
}

static flr_result store(flr_env *env, const flr_cache *cache, const char *path,
                        const flr_voxmap *voxmap, const flr_shell *shell, bool *stored,
                        flr_error *error)
{
    flr_result result = prepare_folder(env, cache, error);
    if (result == FLR_OK) result = flr_voxfile_write(env, path, voxmap, shell, error);
    *stored = result == FLR_OK;
    return *stored ? prune(env, cache, error) : result;
}

static void tell_not_stored(const flr_error *why, flr_cache_report *report)
{
    snprintf(report->not_stored, sizeof report->not_stored, "the cache: %.480s", why->message);
}

/* Trouble here is reported, but stops nothing. */
static void store_now(flr_env *env, const flr_cache *cache, const char *path,
                      const flr_voxmap *voxmap, const flr_shell *shell, flr_cache_report *report)
{
    flr_error why;
    int64_t begin = flr_clock_ns(env);
    flr_result result = store(env, cache, path, voxmap, shell, &report->stored, &why);
    if (result != FLR_OK) tell_not_stored(&why, report);
    report->write_seconds = seconds_since(env, begin);
}

/* Straight into its file, which is then opened. */
static flr_result stream(flr_env *env, const flr_cache *cache, const char *path, opening purpose,
                         const flr_mesh *mesh, const flr_voxelize_def *def, flr_voxmap **voxmap,
                         flr_shell **shell, flr_cache_report *report, flr_error *error)
{
    flr_error why;
    flr_result result = prepare_folder(env, cache, error);
    if (result == FLR_OK)
        result = flr_voxelize_file(env, mesh, def, path, shell != NULL, &report->voxelize, error);
    const unsigned flags = purpose == TO_FIND ? 0 : FLR_VOXFILE_VERIFY;
    if (result == FLR_OK) result = flr_voxfile_open(env, path, flags, voxmap, shell, error);
    if (result != FLR_OK) return result;
    report->stored = true;
    if (prune(env, cache, &why) != FLR_OK) tell_not_stored(&why, report);
    return FLR_OK;
}

/* What is asked for, found or built; `path` is filled in where there is a folder. */
static flr_result get(flr_env *env, const flr_cache *cache, opening purpose, const flr_mesh *mesh,
                      const flr_voxelize_def *def, char path[FLR_CACHE_PATH_SIZE],
                      flr_voxmap **voxmap, flr_shell **shell, flr_cache_report *report,
                      flr_error *error)
{
    flr_result result = FLR_OK;
    *report = (flr_cache_report){.key = flr_cache_key(mesh, def)};
    if (cache->folder) {
        result = path_of(cache, report->key, path, error);
        if (result == FLR_OK)
            result =
                look_up(env, path, cache->stream, purpose, mesh, def, voxmap, shell, report, error);
    }
    if (result != FLR_OK || *voxmap) return result;
    if (shell) *shell = NULL;
    result = flr_voxelize(env, mesh, def, voxmap, shell, &report->voxelize, error);
    report->streamed = result == FLR_TOO_LARGE && cache->stream && cache->folder;
    if (report->streamed)
        return stream(env, cache, path, purpose, mesh, def, voxmap, shell, report, error);
    if (result == FLR_OK && cache->folder && !cache->later && !cache->read_only)
        store_now(env, cache, path, *voxmap, shell ? *shell : NULL, report);
    return result;
}

flr_result flr_cache_voxelize(flr_env *env, const flr_cache *cache, const flr_mesh *mesh,
                              const flr_voxelize_def *def, flr_voxmap **voxmap, flr_shell **shell,
                              flr_cache_report *report, flr_error *error)
{
    FLR_ASSERT(env && cache && mesh && def && (voxmap || shell));
    char path[FLR_CACHE_PATH_SIZE];
    flr_cache_report ours;
    flr_voxmap *made = NULL;
    flr_shell *points = NULL;
    flr_result result =
        get(env, cache, TO_USE, mesh, def, path, &made, shell ? &points : NULL, &ours, error);
    if (result != FLR_OK) return result;
    if (voxmap)
        *voxmap = made;
    else
        flr_voxmap_destroy(made);
    if (shell) *shell = points;
    if (report) *report = ours;
    return FLR_OK;
}

flr_result flr_cache_file(flr_env *env, const flr_cache *cache, const flr_mesh *mesh,
                          const flr_voxelize_def *def, bool shell, char path[FLR_CACHE_PATH_SIZE],
                          flr_cache_report *report, flr_error *error)
{
    FLR_ASSERT(env && cache && mesh && def && path);
    if (!cache->folder)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "there is no cache for voxels that do not fit into memory; set "
                        "FEELER_CACHE to a folder");
    char place[FLR_CACHE_PATH_SIZE];
    flr_cache at_once = *cache;
    flr_cache_report ours;
    flr_voxmap *made = NULL;
    flr_shell *points = NULL;
    at_once.later = false;
    flr_result result =
        get(env, &at_once, TO_FIND, mesh, def, place, &made, shell ? &points : NULL, &ours, error);
    if (result != FLR_OK) return result;
    flr_voxmap_destroy(made);
    flr_shell_destroy(points);
    if (!ours.found && cache->read_only)
        return flr_fail(error, FLR_DENIED,
                        "%s: its voxels are not there, and the cache cannot be written", place);
    if (!ours.found && !ours.stored) return flr_fail(error, FLR_IO, "%s", ours.not_stored);
    memcpy(path, place, sizeof place);
    if (report) *report = ours;
    return FLR_OK;
}

flr_result flr_cache_store(flr_env *env, const flr_cache *cache, const flr_mesh *mesh,
                           const flr_voxelize_def *def, const flr_voxmap *voxmap,
                           const flr_shell *shell, flr_error *error)
{
    FLR_ASSERT(env && cache && mesh && def && voxmap);
    if (!cache->folder || cache->read_only) return FLR_OK;
    char path[FLR_CACHE_PATH_SIZE];
    bool stored;
    flr_result result = path_of(cache, flr_cache_key(mesh, def), path, error);
    if (result == FLR_OK) result = store(env, cache, path, voxmap, shell, &stored, error);
    return result;
}

/* ---- the folder ---- */

typedef struct listing {
    flr_env *env;
    const char *folder;
    flr_cache_entry *entries;
    size_t count, room;
    flr_result result;
    flr_error *error;
} listing;

static bool is_ours(const char *name)
{
    return strspn(name, "0123456789abcdef") == FLR_HASH_TEXT_SIZE - 1 &&
           (strcmp(name + FLR_HASH_TEXT_SIZE - 1, CACHE_SUFFIX) == 0 ||
            strcmp(name + FLR_HASH_TEXT_SIZE - 1, FIT_SUFFIX) == 0);
}

static bool add_entry(void *context, const char *name)
{
    listing *list = context;
    if (!is_ours(name)) return true;
    char path[FLR_CACHE_PATH_SIZE];
    flr_path_info info;
    list->result = make_path(list->folder, name, path, list->error);
    if (list->result == FLR_OK)
        list->result = flr_path_look_no_link(list->env, path, &info, list->error);
    if (list->result != FLR_OK) return false;
    if (info.kind != FLR_PATH_FILE) return true; // also one that was removed meanwhile, and links
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        flr_cache_entry *larger = realloc(list->entries, room * sizeof *larger);
        if (!larger) {
            list->result =
                flr_fail(list->error, FLR_NO_MEMORY, "%s: not enough memory to list it", path);
            return false;
        }
        list->entries = larger, list->room = room;
    }
    flr_cache_entry *entry = &list->entries[list->count++];
    memset(entry, 0, sizeof *entry);
    memcpy(entry->name, name, strlen(name) + 1);
    entry->size = info.size;
    entry->modified_ns = info.modified_ns;
    return true;
}

static int by_age(const void *a, const void *b)
{
    const flr_cache_entry *x = a, *y = b;
    if (x->modified_ns != y->modified_ns) return x->modified_ns < y->modified_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Calls `visit` for each name in the folder, if there is one. */
static flr_result visit_folder(flr_env *env, const char *folder,
                               bool (*visit)(void *context, const char *name), listing *list,
                               flr_error *error)
{
    flr_path_info info;
    flr_result result = flr_path_look(env, folder, &info, error);
    if (result != FLR_OK || info.kind == FLR_PATH_NONE) return result;
    result = flr_path_list(env, folder, visit, list, error);
    return result == FLR_OK ? list->result : result;
}

flr_result flr_cache_list(flr_env *env, const char *folder, flr_cache_entry **entries,
                          size_t *count, flr_error *error)
{
    FLR_ASSERT(env && folder && entries && count);
    listing list = {.env = env, .folder = folder, .error = error};
    flr_result result = visit_folder(env, folder, add_entry, &list, error);
    if (result != FLR_OK) {
        free(list.entries);
        return result;
    }
    if (list.count) qsort(list.entries, list.count, sizeof *list.entries, by_age);
    *entries = list.entries;
    *count = list.count;
    return FLR_OK;
}

void flr_cache_list_free(flr_cache_entry *entries) { free(entries); }

/* what was left over, then the oldest until at most `limit` bytes are there */
static flr_result make_room(flr_env *env, const char *folder, uint64_t limit,
                            uint64_t *removed_files, uint64_t *removed_bytes, flr_error *error)
{
    *removed_files = *removed_bytes = 0;
    flr_result result = flr_output_sweep(env, folder, error);
    flr_cache_entry *entries = NULL;
    size_t count = 0;
    if (result == FLR_OK) result = flr_cache_list(env, folder, &entries, &count, error);
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) total += entries[i].size;
    for (size_t i = 0; i < count && total > limit && result == FLR_OK; i++) {
        char path[FLR_CACHE_PATH_SIZE];
        result = make_path(folder, entries[i].name, path, error);
        if (result == FLR_OK) result = flr_path_remove(env, path, error);
        if (result == FLR_NOT_FOUND) {
            result = FLR_OK; // another process was faster
        } else if (result == FLR_OK) {
            ++*removed_files;
            *removed_bytes += entries[i].size;
        }
        total -= entries[i].size;
    }
    free(entries);
    return result;
}

flr_result flr_cache_prune(flr_env *env, const char *folder, uint64_t limit,
                           uint64_t *removed_files, uint64_t *removed_bytes, flr_error *error)
{
    FLR_ASSERT(env && folder && removed_files && removed_bytes);
    return make_room(env, folder, limit ? limit : UINT64_MAX, removed_files, removed_bytes, error);
}

flr_result flr_cache_clear(flr_env *env, const char *folder, uint64_t *removed_files,
                           uint64_t *removed_bytes, flr_error *error)
{
    FLR_ASSERT(env && folder && removed_files && removed_bytes);
    return make_room(env, folder, 0, removed_files, removed_bytes, error);
}
