/* claims: see study_claims.h
 *
 * Locks of open file descriptions: they work between machines on NFS, and closing another descriptor of the file does not end
 * them. A file may be removed between its opening and its locking: then the lock is on a file that nobody else finds, and
 * counts for nothing. */
#include "study_claims.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CLAIM_PATH_SIZE = 4400 };

static void path_of(const flr_study *s, const char *name, char path[CLAIM_PATH_SIZE])
{
    snprintf(path, CLAIM_PATH_SIZE, "%s/claims/%s", s->results, name);
}

/* Opens and locks a file. False with errno 0: another process has it, or has just removed it. */
static bool open_locked(const char *path, int flags, int *file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat opened, named;
    *file = open(path, flags | O_RDWR | O_CLOEXEC, 0600);
    if (*file < 0) return false;
    int why = 0;
    if (fcntl(*file, F_OFD_SETLK, &lock) != 0)
        why = errno == EAGAIN || errno == EACCES ? 0 : errno;
    else if (fstat(*file, &opened) == 0 && stat(path, &named) == 0 &&
             opened.st_ino == named.st_ino && opened.st_dev == named.st_dev)
        return true;
    close(*file);
    *file = -1;
    errno = why;
    return false;
}

static bool names_team(int file, const char *team)
{
    char text[FLR_HASH_TEXT_SIZE] = "";
    const ssize_t size = pread(file, text, sizeof text - 1, 0);
    return size > 0 && strcmp(text, team) == 0;
}

flr_result flr_study_take(const flr_study *study, size_t task, const char *team, int *file,
                          flr_study_claim *claim, flr_error *error)
{
    char path[CLAIM_PATH_SIZE];
    path_of(study, study->tasks[task].key, path);
    *claim = FLR_STUDY_BUSY;
    if (!open_locked(path, O_CREAT, file)) {
        if (errno == 0) return FLR_OK;
        return flr_fail(error, FLR_DENIED,
                        "%s: cannot be locked (%s); without ranks, --shard I/N needs no locks",
                        path, strerror(errno));
    }
    if (names_team(*file, team)) {
        close(*file);
        *file = -1;
        *claim = FLR_STUDY_FAILED;
        return FLR_OK;
    }
    *claim = FLR_STUDY_CLAIMED;
    return FLR_OK;
}

void flr_study_release(const flr_study *study, size_t task, const char *team, int file, bool failed)
{
    char path[CLAIM_PATH_SIZE];
    path_of(study, study->tasks[task].key, path);
    // where the mark cannot be written, another rank tries the task again
    const size_t size = strlen(team);
    if (!failed || pwrite(file, team, size, 0) != (ssize_t)size) unlink(path);
    close(file);
}

typedef struct claim_sweep {
    const flr_study *study;
    const char *team;
} claim_sweep;

static bool sweep_one(void *context, const char *name)
{
    const claim_sweep *sweep = context;
    char path[CLAIM_PATH_SIZE];
    int file;
    path_of(sweep->study, name, path);
    if (!open_locked(path, 0, &file)) return true;
    if (!names_team(file, sweep->team)) unlink(path);
    close(file);
    return true;
}

flr_result flr_study_sweep(const flr_study *study, const char *team, flr_error *error)
{
    char folder[CLAIM_PATH_SIZE];
    flr_path_info info;
    path_of(study, "", folder);
    flr_result result = flr_path_look(study->env, folder, &info, error);
    if (result != FLR_OK || info.kind != FLR_PATH_FOLDER) return result;
    return flr_path_list(study->env, folder, sweep_one, &(claim_sweep){study, team}, error);
}
