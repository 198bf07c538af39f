/* a folder for one controller alone, and an end to those of controllers that are gone
 *
 * A process number does not show whether a controller still runs: another container or another machine that shares the
 * disk has its own. So each holds a lock on a file beside its folder as long as it runs, and the system ends the
 * lock with the process. The lock comes before the folder and goes after it: a folder without one is of an older version. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/upload.h"

static const char prefix[] = "uploads-", suffix[] = ".lock";

enum { UPLOAD_FOLDER_PREFIX = sizeof prefix - 1, DIGITS = 16, ATTEMPTS = 16 };

typedef struct upload_folder_sweep {
    flr_env *env;
    const char *parent;
} upload_folder_sweep;

/* Removes a folder and its lock file, if nobody holds the lock. */
static void remove_if_free(const upload_folder_sweep *s, const char *folder, const char *lock_path)
{
    flr_file *lock;
    if (flr_file_open_with(s->env, lock_path, FLR_FILE_UPDATE, FLR_OPEN_NO_LINK, &lock, NULL) !=
        FLR_OK)
        return;
    flr_path_info info;
    flr_result result = flr_file_lock(lock, NULL);
    bool is_free = result == FLR_OK;
    if (result == FLR_UNSUPPORTED)
        is_free = flr_path_look_no_link(s->env, lock_path, &info, NULL) == FLR_OK &&
                  flr_path_is_old(s->env, s->parent, info.modified_ns);
    if (is_free && flr_path_remove_tree(s->env, folder, NULL) == FLR_OK)
        flr_path_remove(s->env, lock_path, NULL);
    flr_file_close(lock);
}

/* One of a version that named it by its process. It may be in use; the controller makes it again if so. */
static void remove_if_old(const upload_folder_sweep *s, const char *folder)
{
    flr_path_info info;
    if (flr_path_look_no_link(s->env, folder, &info, NULL) == FLR_OK &&
        info.kind == FLR_PATH_FOLDER && flr_path_is_old(s->env, s->parent, info.modified_ns))
        flr_path_remove_tree(s->env, folder, NULL);
}

static bool remove_stale(void *context, const char *name)
{
    const upload_folder_sweep *s = context;
    if (strncmp(name, prefix, UPLOAD_FOLDER_PREFIX) != 0) return true;
    const char *id = name + UPLOAD_FOLDER_PREFIX;
    size_t hex = strspn(id, "0123456789abcdef"), digits = strspn(id, "0123456789");
    char folder[FLR_CACHE_PATH_SIZE], lock[FLR_CACHE_PATH_SIZE + sizeof suffix];
    int length = snprintf(folder, sizeof folder, "%s/%s%.*s", s->parent, prefix, (int)hex, id);
    if (length < 0 || (size_t)length >= sizeof folder) return true;
    snprintf(lock, sizeof lock, "%s%s", folder, suffix);
    if (hex == DIGITS && strcmp(id + hex, suffix) == 0)
        remove_if_free(s, folder, lock);
    else if (digits > 0 && digits < DIGITS && !id[digits])
        remove_if_old(s, folder);
    return true;
}

void flr_upload_folder_sweep(flr_env *env, const char *parent)
{
    upload_folder_sweep s = {env, parent};
    flr_path_info info;
    if (flr_path_look_no_link(env, parent, &info, NULL) == FLR_OK && info.kind == FLR_PATH_FOLDER)
        flr_path_list(env, parent, remove_stale, &s, NULL);
}

/* Makes the lock file of a new name and locks it. FLR_AGAIN: somebody who cleans up took it for one of the past. */
static flr_result claim(flr_env *env, const char *parent, char *folder, size_t size,
                        flr_file **lock, flr_error *error)
{
    uint64_t number;
    char path[FLR_CACHE_PATH_SIZE + sizeof suffix];
    flr_random_bytes(env, &number, sizeof number);
    int length = snprintf(folder, size, "%s/%s%016" PRIx64, parent, prefix, number);
    if (length < 0 || (size_t)length >= size || length >= FLR_CACHE_PATH_SIZE)
        return flr_fail(error, FLR_TOO_LARGE, "the name of the folder %s is too long", parent);
    snprintf(path, sizeof path, "%.*s%s", FLR_CACHE_PATH_SIZE, folder, suffix);
    flr_result result = flr_file_open_with(env, path, FLR_FILE_CREATE,
                                           FLR_OPEN_PRIVATE | FLR_OPEN_NO_LINK, lock, error);
    if (result != FLR_OK) return result;
    result = flr_file_lock(*lock, error);
    if (result == FLR_UNSUPPORTED) result = FLR_OK;
    if (result == FLR_OK) result = flr_path_make_private(env, folder, FLR_OPEN_NO_LINK, error);
    if (result == FLR_OK) return FLR_OK;
    if (result != FLR_AGAIN) flr_path_remove(env, path, NULL);
    flr_file_close(*lock);
    return result;
}

flr_result flr_upload_folder(flr_env *env, const char *parent, char *folder, size_t size,
                             flr_file **lock, flr_error *error)
{
    flr_result result = flr_path_make_private(env, parent, FLR_OPEN_NO_LINK, error);
    if (result != FLR_OK) return result;
    flr_upload_folder_sweep(env, parent);
    result = FLR_AGAIN;
    for (int i = 0; i < ATTEMPTS && result == FLR_AGAIN; i++)
        result = claim(env, parent, folder, size, lock, error);
    if (result == FLR_AGAIN)
        result = flr_fail(error, FLR_IO, "%s: no folder can be locked there; try again", parent);
    if (result != FLR_OK) folder[0] = 0, *lock = NULL;
    return result;
}

void flr_upload_folder_remove(flr_env *env, const char *folder, flr_file *lock)
{
    char path[FLR_CACHE_PATH_SIZE + sizeof suffix];
    snprintf(path, sizeof path, "%.*s%s", FLR_CACHE_PATH_SIZE, folder, suffix);
    if (flr_path_remove_tree(env, folder, NULL) == FLR_OK) flr_path_remove(env, path, NULL);
    flr_file_close(lock);
}
