/* whole files: read in one go; written so that they appear whole or not at all */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "feeler/base.h"

/* ---- reading ---- */

void flr_blob_free(flr_blob *blob)
{
    if (!blob) return;
    free(blob->bytes);
    blob->bytes = NULL;
    blob->size = 0;
}

static flr_result fail_too_large(flr_error *error, const char *path, uint64_t limit)
{
    return flr_fail(error, FLR_TOO_LARGE, "%s: larger than the limit of %" PRIu64 " bytes", path,
                    limit);
}

/* Reads until the end, wherever that turns out to be: the size a file claims is only a hint, as
 * it may grow or shrink meanwhile, and some system files claim 0. `limit` bounds it. */
static flr_result read_to_end(flr_file *file, uint64_t limit, size_t capacity, flr_blob *blob,
                              flr_error *error)
{
    uint8_t *bytes = malloc(capacity);
    if (!bytes) return flr_fail_errno(error, file->path, "read", ENOMEM);
    size_t used = 0;
    for (;;) {
        size_t got;
        flr_result result = flr_file_read(file, used, bytes + used, capacity - used, &got, error);
        if (result == FLR_OK && got > 0 && used + got > limit)
            result = fail_too_large(error, file->path, limit);
        if (result != FLR_OK) {
            free(bytes);
            return result;
        }
        if (got == 0) break;
        used += got;
        if (used < capacity) continue;

        // more than was announced: go on with half as much again
        size_t wanted = capacity / 2 > 65536 ? capacity + capacity / 2 : capacity + 65536;
        uint8_t *larger = wanted > capacity ? realloc(bytes, wanted) : NULL;
        if (!larger) {
            free(bytes);
            return flr_fail_errno(error, file->path, "read", ENOMEM);
        }
        bytes = larger, capacity = wanted;
    }
    if (used == 0) {
        free(bytes);
        bytes = NULL;
    } else {
        bytes[used] = 0; // there is room: the loop ends with used < capacity only
    }
    *blob = (flr_blob){bytes, used};
    return FLR_OK;
}

flr_result flr_file_read_all(flr_env *env, const char *path, uint64_t limit, flr_blob *blob,
                             flr_error *error)
{
    FLR_ASSERT(env && path && blob);
    flr_file *file;
    flr_result result = flr_file_open(env, path, FLR_FILE_READ, &file, error);
    if (result) return result;
    uint64_t size;
    result = flr_file_size(file, &size, error);
    if (result == FLR_OK && size > limit) result = fail_too_large(error, path, limit);
    if (result == FLR_OK && size >= SIZE_MAX) result = flr_fail_errno(error, path, "read", ENOMEM);
    if (result == FLR_OK) result = read_to_end(file, limit, (size_t)size + 1, blob, error);
    flr_file_close(file);
    return result;
}

/* ---- writing ---- */

enum { BUFFER_SIZE = 1 << 16 };

/* of temporary names: a random number between them */
#define OUTPUT_PREFIX ".feeler-"
#define OUTPUT_SUFFIX ".tmp"

struct flr_output {
    flr_env *env;
    char *path;      /* as the caller named it, for messages */
    char *target;    /* where it goes, links followed */
    char *temporary; /* where it is written */
    flr_file *file;
    uint64_t written; /* bytes in the file */
    size_t held;      /* bytes in the buffer */
    unsigned flags;   /* FLR_OPEN_… */
    bool failed;
    uint8_t buffer[BUFFER_SIZE];
};

static void free_output(flr_output *output)
{
    free(output->path);
    free(output->target);
    free(output->temporary);
    free(output);
}

/* a name beside the target that nobody else has; short, so that it fits where the target fits */
static char *make_temporary_name(flr_env *env, const char *target)
{
    char *folder = flr_path_parent(target);
    if (!folder) return NULL;
    uint64_t number;
    flr_random_bytes(env, &number, sizeof number);
    char *name;
    if (asprintf(&name, "%s/" OUTPUT_PREFIX "%016" PRIx64 OUTPUT_SUFFIX, folder, number) < 0)
        name = NULL;
    free(folder);
    return name;
}

/* Makes the temporary file and locks it: what can be locked is of nobody, and flr_output_sweep() removes it. One that
 * comes between the two has it, and we take another name. */
static int make_temporary(flr_output *output)
{
    flr_env *env = output->env;
    const char *like = output->flags & FLR_OPEN_PRIVATE ? NULL : output->target;
    for (int attempt = 0; attempt < 8; attempt++) {
        output->temporary = make_temporary_name(env, output->target);
        if (!output->temporary) return ENOMEM;
        int code = flr_file_open_like(env, output->temporary, FLR_FILE_CREATE,
                                      output->flags | FLR_OPEN_NO_LINK, like, &output->file);
        if (code) return code;
        code = env->ops->file_lock(output->file);
        if (code != EWOULDBLOCK && code != ESTALE) return 0; // without locks it goes, too
        flr_file_close(output->file);
        output->file = NULL;
        free(output->temporary);
        output->temporary = NULL;
    }
    return EBUSY;
}

/* opens the temporary file; the user knows the target, not our temporary name */
static flr_result open_temporary(flr_output *output, flr_error *error)
{
    int code = make_temporary(output);
    if (!code) return FLR_OK;
    char *folder = flr_path_parent(output->target);
    if (!folder) return flr_fail_errno(error, output->path, "write", ENOMEM);
    flr_result result;
    if (code == ENOENT)
        result = flr_fail(error, FLR_NOT_FOUND, "%s: the folder %s does not exist; make it first",
                          output->path, folder);
    else if (code == EACCES || code == EPERM)
        result = flr_fail(error, FLR_DENIED,
                          "%s: no permission to write in the folder %s; choose another place",
                          output->path, folder);
    else
        result = flr_fail_errno(error, output->path, "write", code);
    free(folder);
    return result;
}

/* follows links and looks at what is there now */
static flr_result find_target(flr_output *output, flr_error *error)
{
    flr_env *env = output->env;
    bool follow = !(output->flags & FLR_OPEN_NO_LINK);
    int code = 0;
    if (follow)
        code = env->ops->path_follow(env, output->path, &output->target);
    else if (!(output->target = strdup(output->path)))
        code = ENOMEM;
    if (code) return flr_fail_errno(error, output->path, "write", code);
    size_t length = strlen(output->target);
    if (output->target[length - 1] == '/')
        return flr_fail(error, FLR_BAD_ARGUMENT, "%s: names a folder, not a file", output->path);
    // a link that is not followed is replaced, whether what it points to may be written or not
    flr_path_info info = {.kind = FLR_PATH_NONE};
    if (!follow) code = env->ops->path_look(env, output->target, false, &info);
    if (follow || info.kind == FLR_PATH_FILE || info.kind == FLR_PATH_FOLDER)
        code = env->ops->path_writable(env, output->target);
    if (code && code != ENOENT) return flr_fail_errno(error, output->path, "write", code);
    return FLR_OK;
}

flr_result flr_output_begin(flr_env *env, const char *path, flr_output **output, flr_error *error)
{
    return flr_output_begin_with(env, path, 0, output, error);
}

flr_result flr_output_begin_with(flr_env *env, const char *path, unsigned flags,
                                 flr_output **output, flr_error *error)
{
    FLR_ASSERT(env && path && output);
    if (!path[0]) return flr_fail(error, FLR_BAD_ARGUMENT, "the file name is empty; give one");
    flr_output *made = malloc(sizeof *made);
    if (!made) return flr_fail_errno(error, path, "write", ENOMEM);
    memset(made, 0, offsetof(flr_output, buffer));
    made->env = env;
    made->flags = flags;
    made->path = strdup(path);
    flr_result result =
        made->path ? find_target(made, error) : flr_fail_errno(error, path, "write", ENOMEM);
    if (result == FLR_OK) result = open_temporary(made, error);
    if (result != FLR_OK) {
        free_output(made);
        return result;
    }
    *output = made;
    return FLR_OK;
}

/* straight to the file; a failure is remembered, so that commit cannot bless a file with a hole */
static flr_result put(flr_output *output, const void *bytes, size_t count, flr_error *error)
{
    int code = output->env->ops->file_write(output->file, output->written, bytes, count);
    if (code) {
        output->failed = true;
        return flr_fail_errno(error, output->path, "write", code);
    }
    output->written += count;
    return FLR_OK;
}

static flr_result flush(flr_output *output, flr_error *error)
{
    flr_result result = FLR_OK;
    if (output->held > 0) result = put(output, output->buffer, output->held, error);
    if (result == FLR_OK) output->held = 0;
    return result;
}

flr_result flr_output_write(flr_output *output, const void *bytes, size_t count, flr_error *error)
{
    FLR_ASSERT(output && (bytes || count == 0));
    if (output->failed) return flr_fail(error, FLR_IO, "%s: an earlier write failed", output->path);
    if (count == 0) return FLR_OK;
    if (count > BUFFER_SIZE - output->held) {
        flr_result result = flush(output, error);
        if (result) return result;
    }
    if (count >= BUFFER_SIZE) return put(output, bytes, count, error);
    memcpy(output->buffer + output->held, bytes, count);
    output->held += count;
    return FLR_OK;
}

flr_result flr_output_put(flr_output *output, uint64_t offset, const void *bytes, size_t count,
                          flr_error *error)
{
    FLR_ASSERT(output && (bytes || count == 0) && output->held == 0);
    if (output->failed) return flr_fail(error, FLR_IO, "%s: an earlier write failed", output->path);
    if (count == 0) return FLR_OK;
    int code = output->env->ops->file_write(output->file, offset, bytes, count);
    if (code) {
        output->failed = true;
        return flr_fail_errno(error, output->path, "write", code);
    }
    if (output->written < offset + count) output->written = offset + count;
    return FLR_OK;
}

flr_result flr_output_get(flr_output *output, uint64_t offset, void *bytes, size_t count,
                          flr_error *error)
{
    FLR_ASSERT(output && (bytes || count == 0) && output->held == 0);
    for (size_t done = 0, got; done < count; done += got) {
        int code = output->env->ops->file_read(output->file, offset + done, (uint8_t *)bytes + done,
                                               count - done, &got);
        if (code) return flr_fail_errno(error, output->path, "read", code);
        if (got == 0)
            return flr_fail(error, FLR_IO, "%s: its temporary file became shorter", output->path);
    }
    return FLR_OK;
}

/* a text too long for the stack */
static flr_result print_long(flr_output *output, flr_error *error, size_t length,
                             const char *format, va_list arguments)
{
    char *text = malloc(length + 1);
    if (!text) {
        output->failed = true;
        return flr_fail_errno(error, output->path, "write", ENOMEM);
    }
    vsnprintf(text, length + 1, format, arguments);
    flr_result result = flr_output_write(output, text, length, error);
    free(text);
    return result;
}

flr_result flr_output_print(flr_output *output, flr_error *error, const char *format, ...)
{
    FLR_ASSERT(output && format);
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    FLR_ASSERT(length >= 0);
    if ((size_t)length < sizeof text) return flr_output_write(output, text, (size_t)length, error);
    va_start(arguments, format);
    flr_result result = print_long(output, error, (size_t)length, format, arguments);
    va_end(arguments);
    return result;
}

flr_result flr_output_commit(flr_output *output, flr_error *error)
{
    FLR_ASSERT(output);
    flr_env *env = output->env;
    flr_result result = FLR_OK;
    if (output->failed)
        result = flr_fail(error, FLR_IO, "%s: an earlier write failed", output->path);
    else
        result = flush(output, error);

    // on the disk first, then in place: a crash in between leaves the old file
    int code = 0;
    if (result == FLR_OK) {
        code = env->ops->file_sync(output->file);
        if (code) result = flr_fail_errno(error, output->path, "write", code);
    }
    char *folder = result == FLR_OK ? flr_path_parent(output->target) : NULL;
    if (result == FLR_OK && !folder) result = flr_fail_errno(error, output->path, "write", ENOMEM);
    if (result == FLR_OK) {
        code = env->ops->path_rename(env, output->temporary, output->target);
        if (code) result = flr_fail_errno(error, output->path, "write", code);
    }
    if (result != FLR_OK) {
        free(folder);
        flr_output_abandon(output);
        return result;
    }

    // in place and whole; what may still fail is that the new name survives a power cut
    code = env->ops->folder_sync(env, folder);
    if (code) result = flr_fail_errno(error, folder, "sync", code);
    free(folder);
    flr_file_close(output->file);
    free_output(output);
    return result;
}

void flr_output_abandon(flr_output *output)
{
    if (!output) return;
    flr_file_close(output->file);
    output->env->ops->path_remove(output->env, output->temporary);
    free_output(output);
}

flr_result flr_output_end(flr_output *output, flr_result result, flr_error *error)
{
    if (result == FLR_OK) return flr_output_commit(output, error);
    flr_output_abandon(output);
    return result;
}

flr_result flr_file_write_all(flr_env *env, const char *path, const void *bytes, size_t size,
                              flr_error *error)
{
    flr_output *output;
    flr_result result = flr_output_begin(env, path, &output, error);
    if (result != FLR_OK) return result;
    return flr_output_end(output, flr_output_write(output, bytes, size, error), error);
}

/* ---- what processes that are gone left ---- */

static const int64_t old_ns = INT64_C(24) * 3600 * 1000000000;

bool flr_path_is_old(flr_env *env, const char *folder, int64_t modified_ns)
{
    FLR_ASSERT(env && folder);
    uint64_t number;
    char *probe;
    flr_random_bytes(env, &number, sizeof number);
    if (asprintf(&probe, "%s/" OUTPUT_PREFIX "%016" PRIx64 OUTPUT_SUFFIX, folder, number) < 0)
        return false;
    // opening alone gives it the time of the file system's own clock
    flr_file *file;
    flr_path_info info = {.kind = FLR_PATH_NONE};
    int code = flr_file_open_like(env, probe, FLR_FILE_CREATE, FLR_OPEN_PRIVATE | FLR_OPEN_NO_LINK,
                                  NULL, &file);
    if (!code) {
        code = env->ops->path_look(env, probe, false, &info);
        flr_file_close(file);
        env->ops->path_remove(env, probe);
    }
    free(probe);
    return !code && info.kind == FLR_PATH_FILE && modified_ns <= info.modified_ns - old_ns;
}

typedef struct output_sweep {
    flr_env *env;
    const char *folder;
    int code; /* of the first that could not be removed */
} output_sweep;

static bool is_temporary(const char *name)
{
    const size_t prefix = sizeof OUTPUT_PREFIX - 1;
    return strncmp(name, OUTPUT_PREFIX, prefix) == 0 &&
           strspn(name + prefix, "0123456789abcdef") == 16 &&
           strcmp(name + prefix + 16, OUTPUT_SUFFIX) == 0;
}

static int remove_if_left(const output_sweep *s, const char *path)
{
    flr_env *env = s->env;
    flr_file *file;
    int code = flr_file_open_like(env, path, FLR_FILE_UPDATE, FLR_OPEN_NO_LINK, NULL, &file);
    if (code) return 0; // of somebody else, a link, or gone meanwhile
    code = env->ops->file_lock(file);
    bool left = code == 0;
    if (code == ENOTSUP) {
        flr_path_info info = {.kind = FLR_PATH_NONE};
        left = env->ops->path_look(env, path, false, &info) == 0 &&
               flr_path_is_old(env, s->folder, info.modified_ns);
    }
    // still locked while it goes, so that nobody takes it for his
    code = left ? env->ops->path_remove(env, path) : 0;
    flr_file_close(file);
    return code == ENOENT ? 0 : code;
}

static bool sweep_one(void *context, const char *name)
{
    output_sweep *s = context;
    char *path;
    if (!is_temporary(name)) return true;
    int code = asprintf(&path, "%s/%s", s->folder, name) < 0 ? ENOMEM : 0;
    if (!code) {
        code = remove_if_left(s, path);
        free(path);
    }
    if (!s->code) s->code = code;
    return true;
}

flr_result flr_output_sweep(flr_env *env, const char *folder, flr_error *error)
{
    FLR_ASSERT(env && folder);
    output_sweep s = {env, folder, 0};
    flr_result result = flr_path_list(env, folder, sweep_one, &s, error);
    if (result == FLR_NOT_FOUND) return FLR_OK;
    if (result == FLR_OK && s.code)
        result = flr_fail_errno(error, folder, "remove temporary files from", s.code);
    return result;
}
