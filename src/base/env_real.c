/* env: the real machine: clock, random numbers, files; its sockets are in env_real_socket.c, maps in
 * env_real_map.c */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/env.h"

/* ---- clock and chance ---- */

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t real_clock(flr_env *env)
{
    (void)env;
    return read_clock(CLOCK_MONOTONIC);
}

static int64_t real_clock_wall(flr_env *env)
{
    (void)env;
    return read_clock(CLOCK_REALTIME);
}

static void real_sleep_until(flr_env *env, int64_t time_ns)
{
    (void)env;
    if (time_ns <= 0) return;
    struct timespec until = {.tv_sec = (time_t)(time_ns / 1000000000),
                             .tv_nsec = (long)(time_ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {}
}

static void real_random_bytes(flr_env *env, void *bytes, size_t count)
{
    (void)env;
    uint8_t *next = bytes;
    while (count > 0) {
        ssize_t got = getrandom(next, count, 0);
        // the kernel has no reason left to refuse; weak numbers must never be handed out
        if (got < 0 && errno != EINTR) abort();
        if (got > 0) next += got, count -= (size_t)got;
    }
}

/* ---- files ---- */

typedef struct real_file {
    flr_file base;
    int fd;
} real_file;

int flr_real_descriptor(const flr_file *file) { return ((const real_file *)file)->fd; }

static int refuse_kind(mode_t mode)
{
    if (S_ISREG(mode)) return 0;
    if (S_ISDIR(mode)) return EISDIR;
    if (S_ISFIFO(mode)) return ESPIPE;
    if (S_ISSOCK(mode)) return ENOTSOCK;
    return ENODEV;
}

/* owner where allowed, then access rights, which a change of owner may clear */
static int take_after(int fd, const char *like)
{
    struct stat info;
    if (stat(like, &info) != 0) return errno == ENOENT ? 0 : errno;
    mode_t rights = info.st_mode & 0777;
    if (fchown(fd, info.st_uid, info.st_gid) != 0) {
        // not ours to give away: keep the rights but nothing for a group that is not the same
        struct stat mine;
        if (fstat(fd, &mine) != 0) return errno;
        if (mine.st_gid != info.st_gid) rights &= ~(mode_t)070;
    }
    return fchmod(fd, rights) == 0 ? 0 : errno;
}

static int open_retrying(const char *path, int flags, mode_t rights)
{
    int fd;
    do {
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY, rights);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

static int real_file_open(flr_env *env, const char *path, flr_file_mode mode, unsigned wanted,
                          const char *like, flr_file **file)
{
    (void)env;
    // without O_NONBLOCK a pipe that nobody writes to would hang us here
    int flags = mode == FLR_FILE_READ     ? O_RDONLY | O_NONBLOCK
                : mode == FLR_FILE_CREATE ? O_RDWR | O_CREAT | O_EXCL
                                          : O_RDWR | O_NONBLOCK;
    if (wanted & FLR_OPEN_NO_LINK) flags |= O_NOFOLLOW;
    struct stat info;
    int fd = open_retrying(path, flags, wanted & FLR_OPEN_PRIVATE ? 0600 : 0644);
    if (fd < 0) {
        // a socket cannot be opened at all, a folder not for writing: say what it is
        int code = errno;
        if (mode != FLR_FILE_CREATE && code != ENOENT && code != ELOOP && stat(path, &info) == 0 &&
            refuse_kind(info.st_mode))
            code = refuse_kind(info.st_mode);
        return code;
    }
    int code = fstat(fd, &info) == 0 ? refuse_kind(info.st_mode) : errno;
    if (!code && mode == FLR_FILE_CREATE && like) code = take_after(fd, like);
    real_file *opened = code ? NULL : malloc(sizeof *opened);
    if (!opened) {
        close(fd);
        if (mode == FLR_FILE_CREATE) unlink(path);
        return code ? code : ENOMEM;
    }
    opened->fd = fd;
    *file = &opened->base;
    return 0;
}

static int real_file_read(flr_file *file, uint64_t offset, void *bytes, size_t count, size_t *got)
{
    if (offset > INT64_MAX) return EINVAL;
    if (count > SSIZE_MAX) count = SSIZE_MAX;
    ssize_t done;
    do {
        done = pread(((real_file *)file)->fd, bytes, count, (off_t)offset);
    } while (done < 0 && errno == EINTR);
    if (done < 0) return errno;
    *got = (size_t)done;
    return 0;
}

static int real_file_write(flr_file *file, uint64_t offset, const void *bytes, size_t count)
{
    if (offset > INT64_MAX || count > INT64_MAX - offset) return EFBIG;
    const uint8_t *next = bytes;
    while (count > 0) {
        ssize_t done = pwrite(((real_file *)file)->fd, next, count, (off_t)offset);
        if (done < 0 && errno != EINTR) return errno;
        if (done == 0) return EIO; // never for a regular file; do not spin if it happens
        if (done > 0) next += done, count -= (size_t)done, offset += (uint64_t)done;
    }
    return 0;
}

int flr_real_file_size(flr_file *file, uint64_t *size)
{
    struct stat info;
    if (fstat(((real_file *)file)->fd, &info) != 0) return errno;
    *size = (uint64_t)info.st_size;
    return 0;
}

/* EINVAL: this kind of file system has nothing to sync */
static int sync_descriptor(int fd)
{
    int code;
    do {
        code = fsync(fd) == 0 ? 0 : errno;
    } while (code == EINTR);
    return code == EINVAL ? 0 : code;
}

static int real_file_sync(flr_file *file) { return sync_descriptor(((real_file *)file)->fd); }

static void real_file_close(flr_file *file)
{
    close(((real_file *)file)->fd);
    free(file);
}

/* ---- paths ---- */

static int real_path_look(flr_env *env, const char *path, bool follow, flr_path_info *found)
{
    (void)env;
    struct stat info;
    if (fstatat(AT_FDCWD, path, &info, follow ? 0 : AT_SYMLINK_NOFOLLOW) != 0) return errno;
    found->kind = S_ISREG(info.st_mode)   ? FLR_PATH_FILE
                  : S_ISDIR(info.st_mode) ? FLR_PATH_FOLDER
                                          : FLR_PATH_OTHER;
    found->size = S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
    found->modified_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
    return 0;
}

/* where the link at `path` points to; a relative link starts at the folder it lies in */
static int read_link(const char *path, char **target)
{
    char text[PATH_MAX];
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0) return errno;
    text[length] = 0;
    if (text[0] == '/') {
        *target = strdup(text);
        return *target ? 0 : ENOMEM;
    }
    char *folder = flr_path_parent(path);
    if (!folder) return ENOMEM;
    int made = asprintf(target, "%s/%s", folder, text);
    free(folder);
    return made < 0 ? ENOMEM : 0;
}

/* unlike realpath(), also through a link to a file that does not exist yet */
static int real_path_follow(flr_env *env, const char *path, char **target)
{
    (void)env;
    enum { MAX_LINKS = 40 };
    char *place = strdup(path);
    if (!place) return ENOMEM;
    for (int i = 0; i < MAX_LINKS; i++) {
        struct stat info;
        if (lstat(place, &info) != 0) {
            int code = errno;
            if (code == ENOENT) break;
            free(place);
            return code;
        }
        if (!S_ISLNK(info.st_mode)) break;
        if (i == MAX_LINKS - 1) {
            free(place);
            return ELOOP;
        }
        char *next;
        int code = read_link(place, &next);
        free(place);
        if (code) return code;
        place = next;
    }
    *target = place;
    return 0;
}

static int real_path_writable(flr_env *env, const char *path)
{
    (void)env;
    struct stat info;
    if (stat(path, &info) != 0) return errno;
    int code = refuse_kind(info.st_mode);
    if (code) return code;
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ? 0 : errno;
}

static int real_path_rename(flr_env *env, const char *from, const char *to)
{
    (void)env;
    return rename(from, to) == 0 ? 0 : errno;
}

static int real_path_remove(flr_env *env, const char *path)
{
    (void)env;
    return remove(path) == 0 ? 0 : errno;
}

static int real_folder_make(flr_env *env, const char *path, bool private_)
{
    (void)env;
    return mkdir(path, private_ ? 0700 : 0777) == 0 ? 0 : errno;
}

static int real_folder_sync(flr_env *env, const char *path)
{
    (void)env;
    int fd = open_retrying(path, O_RDONLY | O_DIRECTORY, 0);
    // a folder may be writable without being readable; then there is no way to sync it
    if (fd < 0) return errno == EACCES ? 0 : errno;
    int code = sync_descriptor(fd);
    close(fd);
    return code;
}

static int real_folder_room(flr_env *env, const char *path, uint64_t *bytes)
{
    (void)env;
    struct statvfs disk;
    if (statvfs(path, &disk) != 0) return errno;
    *bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    return 0;
}

/* appends a copy of `name` to a growing list */
static int add_name(char ***names, size_t *count, size_t *capacity, const char *name)
{
    if (!FLR_GROW(*names, *count, *capacity, 64)) return ENOMEM;
    char *copy = strdup(name);
    if (!copy) return ENOMEM;
    (*names)[(*count)++] = copy;
    return 0;
}

static int real_folder_list(flr_env *env, const char *path, char ***names, size_t *count)
{
    (void)env;
    DIR *folder = opendir(path);
    if (!folder) return errno;
    char **list = NULL;
    size_t used = 0, capacity = 0;
    int code = 0;
    while (!code) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (!entry) {
            code = errno;
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        code = add_name(&list, &used, &capacity, entry->d_name);
    }
    closedir(folder);
    if (code) {
        for (size_t i = 0; i < used; i++) free(list[i]);
        free(list);
        return code;
    }
    *names = list, *count = used;
    return 0;
}

static const flr_env_ops real_ops = {
    .clock = real_clock,
    .clock_wall = real_clock_wall,
    .sleep_until = real_sleep_until,
    .random_bytes = real_random_bytes,
    .file_open = real_file_open,
    .file_lock = flr_real_file_lock,
    .file_read = real_file_read,
    .file_write = real_file_write,
    .file_size = flr_real_file_size,
    .file_sync = real_file_sync,
    .reads_open = flr_real_reads_open,
    .reads_add = flr_real_reads_add,
    .reads_take = flr_real_reads_take,
    .reads_close = flr_real_reads_close,
    .file_map = flr_real_file_map,
    .map_failed = flr_real_map_failed,
    .file_unmap = flr_real_file_unmap,
    .file_close = real_file_close,
    .path_look = real_path_look,
    .path_follow = real_path_follow,
    .path_writable = real_path_writable,
    .path_rename = real_path_rename,
    .path_remove = real_path_remove,
    .tree_remove = flr_real_tree_remove,
    .folder_make = real_folder_make,
    .folder_tighten = flr_real_folder_tighten,
    .folder_sync = real_folder_sync,
    .folder_room = real_folder_room,
    .folder_list = real_folder_list,
    .udp_open = flr_real_udp_open,
    .udp_send = flr_real_udp_send,
    .udp_receive = flr_real_udp_receive,
    .tcp_listen = flr_real_tcp_listen,
    .socket_close = flr_real_socket_close,
    .wait = flr_real_wait,
};

flr_env *flr_env_real(void)
{
    static flr_env real = {&real_ops}; // never written to
    return &real;
}
