/* a child process whose output is read under a deadline */
#include "mesh/helper.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "feeler/env.h"

enum {
    SLICE_MS = 100,             /* how often a silent child is looked after */
    FIRST_FREE_DESCRIPTOR = 10, /* above those the child is given */
    GRACE_NS = 1000000000       /* for a child that has closed its output */
};

/* the child is a real process, so its time is the real one */
static int64_t now_ns(void) { return flr_clock_ns(flr_env_real()); }

static void close_one(int *descriptor)
{
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
}

/* what the child gets on 0, 1, 2, 3; moved up first, so that setting one cannot hit another */
typedef struct gifts {
    int from[4];
    int count;
} gifts;

static bool gifts_take(gifts *g, int input, int output, int trouble, int folder)
{
    int given[4] = {input, output, trouble, folder};
    *g = (gifts){.from = {-1, -1, -1, -1}, .count = folder >= 0 ? 4 : 3};
    for (int i = 0; i < g->count; ++i) {
        g->from[i] = fcntl(given[i], F_DUPFD_CLOEXEC, FIRST_FREE_DESCRIPTOR);
        if (g->from[i] < 0) return false;
    }
    return true;
}

static void gifts_drop(gifts *g)
{
    for (int i = 0; i < 4; ++i) close_one(&g->from[i]);
}

/* returns an errno value; posix_spawn is safe beside other threads, fork is not */
/* The child gets no other files, also not those that other parts of the program forgot to mark close-on-exec. */
static int close_others(posix_spawn_file_actions_t *actions, int first)
{
#ifdef __GLIBC__
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
#else
    DIR *open_files = opendir("/proc/self/fd");
    int failed = 0;
    for (struct dirent *entry; open_files && !failed && (entry = readdir(open_files));) {
        const int file = atoi(entry->d_name), flags = file >= first ? fcntl(file, F_GETFD) : -1;
        if (flags >= 0 && !(flags & FD_CLOEXEC))
            failed = posix_spawn_file_actions_addclose(actions, file);
    }
    if (open_files) closedir(open_files);
    return failed;
#endif
}

static int spawn(pid_t *pid, char *const arguments[], const gifts *g)
{
    static char path[] = "PATH=/usr/bin:/bin", locale[] = "LC_ALL=C";
    char *const environment[] = {path, locale, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);

    int failed = posix_spawn_file_actions_init(&actions);
    if (failed) return failed;
    failed = posix_spawnattr_init(&attributes);
    if (failed) {
        posix_spawn_file_actions_destroy(&actions);
        return failed;
    }
    for (int i = 0; i < g->count && !failed; ++i)
        failed = posix_spawn_file_actions_adddup2(&actions, g->from[i], i);
    if (!failed) failed = close_others(&actions, g->count);
    if (!failed) failed = posix_spawnattr_setsigmask(&attributes, &none);
    if (!failed) failed = posix_spawnattr_setsigdefault(&attributes, &all);
    if (!failed) failed = posix_spawnattr_setpgroup(&attributes, 0);
    if (!failed)
        failed = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (!failed)
        failed = posix_spawn(pid, arguments[0], &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

flr_result flr_helper_start(flr_helper *helper, char *const arguments[], int input, int folder,
                            const char *name, unsigned seconds, flr_error *error)
{
    *helper =
        (flr_helper){.name = name, .seconds = seconds, .pid = -1, .output = -1, .trouble = -1};
    int output[2] = {-1, -1}, trouble[2] = {-1, -1};
    gifts g = {.from = {-1, -1, -1, -1}};
    int failed = 0;
    if (pipe2(output, O_CLOEXEC) != 0 || pipe2(trouble, O_CLOEXEC) != 0 ||
        !gifts_take(&g, input, output[1], trouble[1], folder))
        failed = errno;
    if (!failed) failed = spawn(&helper->pid, arguments, &g);
    gifts_drop(&g);
    close_one(&output[1]);
    close_one(&trouble[1]);
    if (failed) {
        close_one(&output[0]);
        close_one(&trouble[0]);
        return flr_fail(error, failed == EMFILE || failed == ENFILE ? FLR_IO : FLR_UNSUPPORTED,
                        "%s: cannot start the import helper %s: %s", name, arguments[0],
                        strerror(failed));
    }
    helper->output = output[0];
    helper->trouble = trouble[0];
    helper->deadline_ns = now_ns() + (int64_t)seconds * 1000000000;
    return FLR_OK;
}

/* keeps the beginning of what the child complains about and drops the rest */
static void drain_trouble(flr_helper *helper)
{
    char bytes[4096];
    ssize_t got = read(helper->trouble, bytes, sizeof bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
        close_one(&helper->trouble);
        return;
    }
    size_t room = sizeof helper->said - 1 - helper->said_size;
    size_t keep = (size_t)got < room ? (size_t)got : room;
    memcpy(helper->said + helper->said_size, bytes, keep);
    helper->said_size += keep;
}

static bool child_gone(const flr_helper *helper)
{
    siginfo_t info = {0};
    // the child stays uncollected, so that its number cannot be given to another process yet
    int result = waitid(P_PID, (id_t)helper->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return result != 0 || info.si_pid != 0;
}

static void kill_group(const flr_helper *helper) { kill(-helper->pid, SIGKILL); }

flr_result flr_helper_fail_time(const flr_helper *helper, flr_error *error)
{
    return flr_fail(error, FLR_TIMEOUT,
                    "%s: the import helper took longer than %u s and was stopped; raise its "
                    "time limit, use a coarser chord tolerance or convert the file to STL",
                    helper->name, helper->seconds);
}

flr_result flr_helper_read(flr_helper *helper, void *bytes, size_t count, size_t *got,
                           flr_error *error)
{
    for (;;) {
        int64_t left_ms = (helper->deadline_ns - now_ns()) / 1000000;
        if (left_ms <= 0) {
            helper->timed_out = true;
            return flr_helper_fail_time(helper, error);
        }
        if (helper->go_on && !helper->go_on(helper->context)) {
            kill_group(helper);
            helper->left = true;
            return flr_fail(error, FLR_CANCELLED, "%s: reading was stopped", helper->name);
        }
        struct pollfd polls[2] = {{helper->output, POLLIN, 0}, {helper->trouble, POLLIN, 0}};
        int ready = poll(polls, 2, left_ms < SLICE_MS ? (int)left_ms : SLICE_MS);
        if (ready > 0 && polls[1].revents) drain_trouble(helper);
        if (ready > 0 && polls[0].revents) {
            ssize_t size = read(helper->output, bytes, count);
            if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
            *got = size > 0 ? (size_t)size : 0;
            return FLR_OK;
        }
        if (ready != 0 || !child_gone(helper)) continue;
        // gone, but the pipe is still open: something it started holds it
        if (helper->left) {
            *got = 0;
            return FLR_OK;
        }
        kill_group(helper);
        helper->left = true;
    }
}

/* a child whose output has ended is on its way out; true when it is gone */
static bool await_exit(const flr_helper *helper)
{
    int64_t until = now_ns() + GRACE_NS;
    struct timespec pause = {0, 200000};
    while (!child_gone(helper)) {
        if (now_ns() > until) return false;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 20000000) pause.tv_nsec *= 2;
    }
    return true;
}

flr_helper_end flr_helper_stop(flr_helper *helper)
{
    flr_helper_end end = {.exited = -1};
    close_one(&helper->output);
    end.killed = helper->timed_out || !await_exit(helper);
    kill_group(helper);
    int status = 0;
    pid_t collected;
    do collected = waitpid(helper->pid, &status, 0);
    while (collected < 0 && errno == EINTR);
    end.known = collected == helper->pid;
    if (end.known && WIFEXITED(status)) end.exited = WEXITSTATUS(status);
    if (end.known && WIFSIGNALED(status)) end.signal = WTERMSIG(status);

    // its last words; the group is dead, so this ends (someone who left the group may hold the
    // pipe, so look without waiting)
    struct pollfd poll_trouble = {helper->trouble, POLLIN, 0};
    for (int i = 0; i < 16 && helper->trouble >= 0 && poll(&poll_trouble, 1, 0) > 0; ++i)
        drain_trouble(helper);
    close_one(&helper->trouble);
    // one line is enough for a sentence
    helper->said[helper->said_size] = 0;
    helper->said[strcspn(helper->said, "\n")] = 0;
    flr_text_clean(helper->said, strlen(helper->said));
    return end;
}
