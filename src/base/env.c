/* env: the public functions: check, delegate, and say in words what went wrong */
#include "base/env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"

/* ---- sentences ---- */

/* What an error code of the system means for a file or an address. */
typedef struct reason {
    int code;
    flr_result result;
    bool hinders; /* whether the sentence names the action that it prevented */
    const char *says;
} reason;

static const reason of_files[] = {
    {ENOENT, FLR_NOT_FOUND, false, "no such file or folder"},
    {ENOTDIR, FLR_NOT_FOUND, false, "a part of this path is a file, not a folder"},
    {EISDIR, FLR_BAD_INPUT, false, "is a folder, not a file"},
    {ENOTSOCK, FLR_BAD_INPUT, false, "is a socket, not a file"},
    {ENODEV, FLR_BAD_INPUT, false, "is a device, not a file"},
    {ELOOP, FLR_BAD_INPUT, false, "is a link that leads in a circle"},
    {EEXIST, FLR_DENIED, false, "exists already"},
    {ENOTEMPTY, FLR_DENIED, false, "the folder is not empty"},
    {ENAMETOOLONG, FLR_BAD_ARGUMENT, false, "the name is too long"},
    {EROFS, FLR_DENIED, true, "the file system is read-only; choose another place"},
    {ENOSPC, FLR_IO, true, "the disk is full; make room and try again"},
    {EDQUOT, FLR_IO, true, "the disk is full; make room and try again"},
    {EFBIG, FLR_IO, true, "larger than this system allows for a file"},
    {EMFILE, FLR_IO, true, "too many files are open; close some or raise the limit"},
    {ENFILE, FLR_IO, true, "too many files are open; close some or raise the limit"},
    {ENOMEM, FLR_NO_MEMORY, true, "out of memory"},
    {0},
};

static const reason of_sockets[] = {
    {EADDRINUSE, FLR_DENIED, true, "another program uses this port; choose another"},
    {EADDRNOTAVAIL, FLR_NOT_FOUND, true, "this machine has no such address"},
    {ECONNREFUSED, FLR_IO, true, "nobody listens there"},
    {ECONNRESET, FLR_IO, true, "the other side cut the connection"},
    {EPIPE, FLR_IO, true, "the other side cut the connection"},
    {ENETUNREACH, FLR_IO, true, "no way to this address; check the network"},
    {EHOSTUNREACH, FLR_IO, true, "no way to this address; check the network"},
    {ETIMEDOUT, FLR_IO, true, "no answer; check the address and firewall"},
    {EMSGSIZE, FLR_TOO_LARGE, true, "the datagram is too large"},
    {EAFNOSUPPORT, FLR_UNSUPPORTED, true, "no such kind of network here"},
    {EMFILE, FLR_IO, true, "too many files are open"},
    {ENFILE, FLR_IO, true, "too many files are open"},
    {ENOMEM, FLR_NO_MEMORY, true, "out of memory"},
    {0},
};

static flr_result fail_for(const reason *reasons, flr_error *error, const char *what,
                           const char *action, int code)
{
    const reason *r = reasons;
    while (r->code && r->code != code) r++;
    if (!r->code) return flr_fail(error, FLR_IO, "%s: cannot %s: %s", what, action, strerror(code));
    return r->hinders ? flr_fail(error, r->result, "%s: cannot %s: %s", what, action, r->says)
                      : flr_fail(error, r->result, "%s: %s", what, r->says);
}

flr_result flr_fail_errno(flr_error *error, const char *path, const char *action, int code)
{
    if (code == ESPIPE)
        return flr_fail(error, FLR_BAD_INPUT, "%s: is a pipe, not a file; %s", path,
                        strcmp(action, "read") ? "name a file to write" : "save its content first");
    if (code == EACCES || code == EPERM)
        return flr_fail(error, FLR_DENIED, "%s: no permission to %s it; check its access rights",
                        path, action);
    return fail_for(of_files, error, path, action, code);
}

/* the same for sockets */
static flr_result fail_socket(flr_error *error, flr_address address, const char *action, int code)
{
    char text[FLR_ADDRESS_TEXT_SIZE];
    if (code == EAGAIN) return FLR_AGAIN; /* asked for often, and no trouble: nothing is written */
    flr_address_print(address, text);
    if (code == EACCES || code == EPERM)
        return flr_fail(error, FLR_DENIED,
                        "%s: no permission to %s; ports below 1024 are reserved, or a firewall "
                        "forbids it",
                        text, action);
    return fail_for(of_sockets, error, text, action, code);
}

/* ---- clock and chance ---- */

int64_t flr_clock_ns(flr_env *env) { return env->ops->clock(env); }

int64_t flr_clock_wall_ns(flr_env *env) { return env->ops->clock_wall(env); }

void flr_sleep_until(flr_env *env, int64_t time_ns) { env->ops->sleep_until(env, time_ns); }

void flr_random_bytes(flr_env *env, void *bytes, size_t count)
{
    FLR_ASSERT(env && (bytes || count == 0));
    env->ops->random_bytes(env, bytes, count);
}

/* ---- files ---- */

int flr_file_open_like(flr_env *env, const char *path, flr_file_mode mode, unsigned flags,
                       const char *like, flr_file **file)
{
    char *copy = strdup(path);
    if (!copy) return ENOMEM;
    flr_file *opened;
    int code = env->ops->file_open(env, path, mode, flags, like, &opened);
    if (code) {
        free(copy);
        return code;
    }
    opened->env = env;
    opened->path = copy;
    *file = opened;
    return 0;
}

/* a link where none is followed: its name is all there is to say */
static flr_result fail_link(flr_error *error, const char *path)
{
    return flr_fail(error, FLR_DENIED, "%s: is a link, and none is followed here; remove it", path);
}

flr_result flr_file_open(flr_env *env, const char *path, flr_file_mode mode, flr_file **file,
                         flr_error *error)
{
    return flr_file_open_with(env, path, mode, 0, file, error);
}

flr_result flr_file_open_with(flr_env *env, const char *path, flr_file_mode mode, unsigned flags,
                              flr_file **file, flr_error *error)
{
    static const char *const actions[] = {"read", "create", "change"};
    FLR_ASSERT(env && path && file && (unsigned)mode <= FLR_FILE_UPDATE);
    if (!path[0]) return flr_fail(error, FLR_BAD_ARGUMENT, "the file name is empty; give one");
    int code = flr_file_open_like(env, path, mode, flags, NULL, file);
    if (code == ELOOP && (flags & FLR_OPEN_NO_LINK)) return fail_link(error, path);
    return code ? flr_fail_errno(error, path, actions[mode], code) : FLR_OK;
}

flr_result flr_file_read(flr_file *file, uint64_t offset, void *bytes, size_t count, size_t *got,
                         flr_error *error)
{
    FLR_ASSERT(file && (bytes || count == 0) && got);
    int code = file->env->ops->file_read(file, offset, bytes, count, got);
    return code ? flr_fail_errno(error, file->path, "read", code) : FLR_OK;
}

flr_result flr_file_write(flr_file *file, uint64_t offset, const void *bytes, size_t count,
                          flr_error *error)
{
    FLR_ASSERT(file && (bytes || count == 0));
    int code = file->env->ops->file_write(file, offset, bytes, count);
    return code ? flr_fail_errno(error, file->path, "write", code) : FLR_OK;
}

flr_result flr_file_size(flr_file *file, uint64_t *size, flr_error *error)
{
    FLR_ASSERT(file && size);
    int code = file->env->ops->file_size(file, size);
    return code ? flr_fail_errno(error, file->path, "read", code) : FLR_OK;
}

flr_result flr_file_sync(flr_file *file, flr_error *error)
{
    FLR_ASSERT(file);
    int code = file->env->ops->file_sync(file);
    return code ? flr_fail_errno(error, file->path, "write", code) : FLR_OK;
}

flr_result flr_file_lock(flr_file *file, flr_error *error)
{
    FLR_ASSERT(file);
    int code = file->env->ops->file_lock(file);
    if (code == EWOULDBLOCK || code == ESTALE) return FLR_AGAIN;
    if (code == ENOTSUP)
        return flr_fail(error, FLR_UNSUPPORTED, "%s: this file system has no locks", file->path);
    return code ? flr_fail_errno(error, file->path, "lock", code) : FLR_OK;
}

flr_result flr_file_map(flr_file *file, size_t room, flr_map *map, flr_error *error)
{
    FLR_ASSERT(file && map);
    flr_map made = {.env = file->env};
    int code = file->env->ops->file_map(file, room, &made);
    if (code) return flr_fail_errno(error, file->path, "map", code);
    *map = made;
    return FLR_OK;
}

bool flr_map_failed(const flr_map *map)
{
    FLR_ASSERT(map);
    return map->size > 0 && map->env->ops->map_failed && map->env->ops->map_failed(map);
}

void flr_file_unmap(flr_map *map)
{
    if (!map) return;
    if (map->size > 0) map->env->ops->file_unmap(map);
    *map = (flr_map){.size = 0};
}

void flr_file_close(flr_file *file)
{
    if (!file) return;
    char *path = file->path;
    file->env->ops->file_close(file);
    free(path);
}

/* ---- paths ---- */

char *flr_path_parent(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--; // the slashes at the end
    while (length > 0 && path[length - 1] != '/') length--; // the name
    if (length == 0) return strdup(".");
    while (length > 1 && path[length - 1] == '/') length--; // the slashes between
    return strndup(path, length);
}

static flr_result look(flr_env *env, const char *path, bool follow, flr_path_info *info,
                       flr_error *error)
{
    FLR_ASSERT(env && path && info);
    flr_path_info found = {FLR_PATH_NONE, 0, 0};
    int code = env->ops->path_look(env, path, follow, &found);
    if (code && code != ENOENT && code != ENOTDIR)
        return flr_fail_errno(error, path, "look at", code);
    *info = found;
    return FLR_OK;
}

flr_result flr_path_look(flr_env *env, const char *path, flr_path_info *info, flr_error *error)
{
    return look(env, path, true, info, error);
}

flr_result flr_path_look_no_link(flr_env *env, const char *path, flr_path_info *info,
                                 flr_error *error)
{
    return look(env, path, false, info, error);
}

flr_result flr_path_room(flr_env *env, const char *path, uint64_t *bytes, flr_error *error)
{
    FLR_ASSERT(env && path && bytes);
    char *folder = flr_path_parent(path);
    if (!folder) return flr_fail_errno(error, path, "look at", ENOMEM);
    uint64_t room;
    int code = env->ops->folder_room(env, folder, &room);
    flr_result result = code ? flr_fail_errno(error, folder, "look at", code) : FLR_OK;
    if (!code) *bytes = room;
    free(folder);
    return result;
}

flr_result flr_path_rename(flr_env *env, const char *from, const char *to, flr_error *error)
{
    FLR_ASSERT(env && from && to);
    char *folder = flr_path_parent(to);
    if (!folder) return flr_fail_errno(error, to, "rename", ENOMEM);
    int code = env->ops->path_rename(env, from, to);
    flr_result result = FLR_OK;
    if (code)
        result = flr_fail_errno(error, code == ENOENT ? from : to, "rename", code);
    else if ((code = env->ops->folder_sync(env, folder)))
        result = flr_fail_errno(error, folder, "sync", code);
    free(folder);
    return result;
}

flr_result flr_path_remove(flr_env *env, const char *path, flr_error *error)
{
    FLR_ASSERT(env && path);
    int code = env->ops->path_remove(env, path);
    return code ? flr_fail_errno(error, path, "remove", code) : FLR_OK;
}

flr_result flr_path_remove_tree(flr_env *env, const char *path, flr_error *error)
{
    FLR_ASSERT(env && path && path[0]);
    int code = env->ops->tree_remove(env, path);
    return code && code != ENOENT ? flr_fail_errno(error, path, "remove", code) : FLR_OK;
}

flr_result flr_path_sync_folder(flr_env *env, const char *path, flr_error *error)
{
    FLR_ASSERT(env && path);
    int code = env->ops->folder_sync(env, path);
    return code ? flr_fail_errno(error, path, "sync", code) : FLR_OK;
}

/* one level, where being there already is fine */
static flr_result make_one_folder(flr_env *env, const char *path, bool private_, flr_error *error)
{
    int code = env->ops->folder_make(env, path, private_);
    if (code == EEXIST || code == EISDIR) {
        flr_path_info info;
        flr_result result = flr_path_look(env, path, &info, error);
        if (result) return result;
        if (info.kind == FLR_PATH_FOLDER) return FLR_OK;
        return flr_fail(error, FLR_DENIED, "%s: is a file, not a folder", path);
    }
    return code ? flr_fail_errno(error, path, "create", code) : FLR_OK;
}

static flr_result make_folders(flr_env *env, const char *path, bool private_, flr_error *error)
{
    FLR_ASSERT(env && path);
    if (!path[0]) return flr_fail(error, FLR_BAD_ARGUMENT, "the folder name is empty; give one");
    flr_path_info info;
    flr_result result = flr_path_look(env, path, &info, error);
    if (result || info.kind == FLR_PATH_FOLDER) return result;

    // from the top down, cutting the text at each slash
    char *part = strdup(path);
    if (!part) return flr_fail_errno(error, path, "create", ENOMEM);
    for (char *c = part + 1; result == FLR_OK && *c; c++) {
        if (*c != '/' || c[-1] == '/') continue;
        *c = 0;
        result = flr_path_look(env, part, &info, error);
        if (result == FLR_OK && info.kind != FLR_PATH_FOLDER)
            result = make_one_folder(env, part, private_, error);
        *c = '/';
    }
    if (result == FLR_OK) result = make_one_folder(env, part, private_, error);
    free(part);
    return result;
}

flr_result flr_path_make_folder(flr_env *env, const char *path, flr_error *error)
{
    return make_folders(env, path, false, error);
}

flr_result flr_path_make_private(flr_env *env, const char *path, unsigned flags, flr_error *error)
{
    flr_result result = make_folders(env, path, true, error);
    if (result != FLR_OK) return result;
    int code = env->ops->folder_tighten(env, path, flags);
    if (code == ELOOP && (flags & FLR_OPEN_NO_LINK)) return fail_link(error, path);
    return code ? flr_fail_errno(error, path, "open", code) : FLR_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

flr_result flr_path_list(flr_env *env, const char *path,
                         bool (*visit)(void *context, const char *name), void *context,
                         flr_error *error)
{
    FLR_ASSERT(env && path && visit);
    char **names = NULL;
    size_t count = 0;
    int code = env->ops->folder_list(env, path, &names, &count);
    if (code == ENOTDIR) {
        return flr_fail(error, FLR_BAD_INPUT, "%s: is not a folder", path);
    } else if (code) {
        return flr_fail_errno(error, path, "list", code);
    }
    if (count > 0) qsort(names, count, sizeof *names, compare_names);
    bool go_on = true;
    for (size_t i = 0; i < count; i++) {
        go_on = go_on && visit(context, names[i]);
        free(names[i]);
    }
    free(names);
    return FLR_OK;
}

/* ---- sockets ---- */

static flr_result opened_socket(flr_socket *opened, flr_env *env, flr_socket_kind kind,
                                flr_socket **socket)
{
    opened->env = env;
    opened->kind = kind;
    opened->dropped = 0;
    *socket = opened;
    return FLR_OK;
}

flr_result flr_udp_open(flr_env *env, flr_address local, flr_socket **socket, flr_error *error)
{
    FLR_ASSERT(env && socket);
    flr_socket *opened;
    int code = env->ops->udp_open(env, local, &opened);
    if (code) return fail_socket(error, local, "open", code);
    return opened_socket(opened, env, FLR_SOCKET_UDP, socket);
}

flr_result flr_udp_send(flr_socket *socket, flr_address to, const void *bytes, size_t count,
                        flr_error *error)
{
    FLR_ASSERT(socket && socket->kind == FLR_SOCKET_UDP && (bytes || count == 0));
    int code = EMSGSIZE;
    if (count <= FLR_UDP_MAX) code = socket->env->ops->udp_send(socket, to, bytes, count);
    return code ? fail_socket(error, to, "send", code) : FLR_OK;
}

flr_result flr_udp_receive(flr_socket *socket, flr_address *from, void *bytes, size_t capacity,
                           size_t *got, flr_error *error)
{
    FLR_ASSERT(socket && socket->kind == FLR_SOCKET_UDP && (bytes || capacity == 0) && got);
    flr_address sender;
    int code = socket->env->ops->udp_receive(socket, &sender, bytes, capacity, got);
    if (code) return fail_socket(error, socket->local, "receive", code);
    if (from) *from = sender;
    return FLR_OK;
}

uint64_t flr_udp_dropped(const flr_socket *socket)
{
    FLR_ASSERT(socket);
    return socket->dropped;
}

flr_result flr_tcp_listen(flr_env *env, flr_address local, flr_socket **socket, flr_error *error)
{
    FLR_ASSERT(env && socket);
    flr_socket *opened;
    int code = env->ops->tcp_listen(env, local, &opened);
    if (code) return fail_socket(error, local, "listen", code);
    return opened_socket(opened, env, FLR_SOCKET_LISTENER, socket);
}

flr_address flr_socket_local(const flr_socket *socket)
{
    FLR_ASSERT(socket);
    return socket->local;
}

void flr_socket_close(flr_socket *socket)
{
    if (socket) socket->env->ops->socket_close(socket);
}

flr_result flr_env_wait(flr_env *env, flr_wait *waits, size_t count, int64_t deadline_ns,
                        flr_error *error)
{
    FLR_ASSERT(env && (waits || count == 0));
    int code = env->ops->wait(env, waits, count, deadline_ns);
    if (code == ETIMEDOUT) return FLR_TIMEOUT;
    return code ? flr_fail_errno(error, "sockets", "wait for", code) : FLR_OK;
}
