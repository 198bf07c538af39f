/* env: the real machine: locks, and folders that others may have put links into
 *
 * A path is looked up anew by every call, and whoever may write in one of its folders can exchange
 * what it means in between. So a tree is removed through descriptors: each folder is opened from
 * the descriptor of the one above it, and never through a link. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"

/* ---- locks ---- */

int flr_real_file_lock(flr_file *file)
{
    // of the open file, not of the process: two of one process exclude each other, too
    int fd = flr_real_descriptor(file), code;
    do {
        code = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    } while (code == EINTR);
    if (code == EWOULDBLOCK) return code;
    if (code) return ENOTSUP;
    // somebody who held the lock before us may have removed the file
    struct stat info;
    if (fstat(fd, &info) != 0) return errno;
    return info.st_nlink > 0 ? 0 : ESTALE;
}

/* ---- trees ---- */

enum { ENV_REAL_FOLDER_DEPTH_MAX = 64 }; /* each level has a descriptor open */

static int remove_at(int folder, const char *name, unsigned depth);

static int remove_content(int fd, unsigned depth)
{
    DIR *list = fdopendir(fd);
    if (!list) {
        int code = errno;
        close(fd);
        return code;
    }
    int first = 0;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(list);
        if (!entry) {
            if (!first) first = errno;
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        int code = remove_at(dirfd(list), entry->d_name, depth);
        if (code && code != ENOENT && !first) first = code;
    }
    closedir(list);
    return first;
}

/* what is not a folder goes at once; a folder when it is empty */
static int remove_at(int folder, const char *name, unsigned depth)
{
    if (unlinkat(folder, name, 0) == 0) return 0;
    int code = errno;
    // a folder is EISDIR on Linux, EPERM elsewhere; the open below fails if it is none
    if (code != EISDIR && code != EPERM) return code;
    if (depth == ENV_REAL_FOLDER_DEPTH_MAX) return ELOOP;
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return errno == ENOTDIR ? code : errno;
    int first = remove_content(fd, depth + 1);
    if (unlinkat(folder, name, AT_REMOVEDIR) == 0) return 0;
    return first ? first : errno;
}

int flr_real_tree_remove(flr_env *env, const char *path)
{
    (void)env;
    return remove_at(AT_FDCWD, path, 0);
}

/* ---- access rights ---- */

int flr_real_folder_tighten(flr_env *env, const char *path, unsigned flags)
{
    (void)env;
    int only = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (flags & FLR_OPEN_NO_LINK ? O_NOFOLLOW : 0);
    int fd = open(path, only);
    if (fd < 0) {
        // a link is ENOTDIR here; and one that may be written to but not read is as it should be
        struct stat info;
        int code = errno;
        if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) return ELOOP;
        return code == EACCES ? 0 : code;
    }
    struct stat info;
    int code = fstat(fd, &info) == 0 ? 0 : errno;
    // one that others may write to, such as /tmp, is shared on purpose
    const mode_t others = S_IRWXG | S_IRWXO, shared = S_IWGRP | S_IWOTH | S_ISVTX;
    if (!code && info.st_uid == geteuid() && (info.st_mode & others) && !(info.st_mode & shared))
        (void)fchmod(fd, info.st_mode & 0700); // a file system without rights or for reading only
    close(fd);
    return code;
}
