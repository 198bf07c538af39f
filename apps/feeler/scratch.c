/* a folder for what is needed only as long as a controller runs */
#include "scratch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

flr_result flr_scratch_try(flr_env *env, const char *folder, flr_error *error)
{
    char path[FLR_CACHE_PATH_SIZE + 64];
    uint64_t number;
    flr_file *file;
    flr_result result = flr_path_make_folder(env, folder, error);
    if (result != FLR_OK) return result;
    flr_random_bytes(env, &number, sizeof number);
    // named as what is removed after an hour, should we be killed here
    snprintf(path, sizeof path, "%s/.feeler-%016llx.tmp", folder, (unsigned long long)number);
    result = flr_file_open(env, path, FLR_FILE_CREATE, &file, error);
    if (result != FLR_OK) return result;
    flr_file_close(file);
    return flr_path_remove(env, path, error);
}

flr_result flr_scratch_make(char folder[FLR_CACHE_PATH_SIZE], flr_error *error)
{
    const char *parent = getenv("TMPDIR");
    if (!parent || parent[0] != '/') parent = "/tmp";
    int length = snprintf(folder, FLR_CACHE_PATH_SIZE, "%s/feeler-XXXXXX", parent);
    if (length > 0 && length < FLR_CACHE_PATH_SIZE - 300 && mkdtemp(folder)) return FLR_OK;
    folder[0] = 0;
    return flr_fail(error, FLR_IO,
                    "%s: cannot make a folder there: %s; set TMPDIR to one that can "
                    "be written",
                    parent, strerror(errno));
}

typedef struct emptying {
    flr_env *env;
    const char *folder;
} emptying;

static bool remove_entry(void *context, const char *name)
{
    const emptying *e = context;
    char path[FLR_CACHE_PATH_SIZE + 300];
    int length = snprintf(path, sizeof path, "%s/%s", e->folder, name);
    if (length > 0 && (size_t)length < sizeof path && flr_path_remove(e->env, path, NULL) != FLR_OK)
        flr_scratch_remove(e->env, path); // a folder that is not empty
    return true;
}

void flr_scratch_remove(flr_env *env, const char *folder)
{
    if (!folder[0]) return;
    emptying e = {env, folder};
    (void)flr_path_list(env, folder, remove_entry, &e, NULL);
    (void)flr_path_remove(env, folder, NULL);
}
