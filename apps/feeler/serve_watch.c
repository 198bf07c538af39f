/* the watchdog of a controller's control thread, and signs of life for systemd */
#include "serve_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "command.h"
#include "feeler/env.h"

/* ---- the service manager ---- */

/* The protocol of sd_notify(3): datagrams to a socket that the environment names; @ stands for the abstract namespace. */
static int open_notify(void)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t size = path ? strlen(path) : 0;
    if (size < 2 || size > sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) return -1;
    memcpy(address.sun_path, path, size);
    if (path[0] == '@') address.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, length) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* Half the time that the manager allows, as its manual recommends. */
static int64_t notify_period(void)
{
    const char *period = getenv("WATCHDOG_USEC"), *process = getenv("WATCHDOG_PID");
    char *end;
    if (!period || (process && strtol(process, &end, 10) != (long)getpid())) return 0;
    long long us = strtoll(period, &end, 10);
    return *end || us <= 0 || us > INT64_C(1000000000000) ? 0 : us * 1000 / 2;
}

static void notify(const flr_serve_watch *watch, const char *text)
{
    /* where it cannot be sent now, the next one will do */
    if (watch->notify >= 0) (void)!send(watch->notify, text, strlen(text), MSG_NOSIGNAL);
}

/* ---- the control thread ---- */

/* Control may hang in the log and hold its lock: the line goes out past that, and nobody waits for it. Nothing is cleaned up, since
 * control may hold what that needs; the next start does it. */
static void end_process(void *context, const flr_stall_report *report)
{
    flr_env *env = context;
    char message[400];
    snprintf(
        message, sizeof message,
        "the control thread did nothing for %.1f s%s%s%s%s; all forces were brought to zero, and "
        "feeler ends with exit code %d",
        report->seconds, report->doing[0] ? " while " : "", report->doing,
        report->what[0] ? ": " : "", report->what, FLR_EXIT_STALLED);
    const flr_log_line line = {FLR_LOG_ERROR, flr_clock_wall_ns(env), message};
    flr_log_stderr(NULL, &line);
    _exit(FLR_EXIT_STALLED);
}

/* ---- output ---- */

/* Opens a terminal or pipe once more for writing without waiting: O_NONBLOCK belongs to the open file, and the one that feeler was
 * given is also the shell's. -1: it stays as it is. */
static int open_without_waiting(int fd)
{
    struct stat info;
    char path[32];
    if (fstat(fd, &info) != 0 || (!S_ISFIFO(info.st_mode) && !isatty(fd))) return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Ctrl-S, or a reader that has stopped, must not hold up the control thread: progress and notes that do not fit are lost. */
static void stop_waiting(flr_serve_watch *watch)
{
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        int fd = STDOUT_FILENO + i, other = open_without_waiting(fd);
        if (other < 0) continue;
        watch->output[i] = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (watch->output[i] >= 0) dup2(other, fd);
        close(other);
    }
}

static void wait_again(flr_serve_watch *watch)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    fflush(stdout);
    /* what was lost because it had to wait is no failure of standard output; a reader that is gone is one */
    if (watch->output[0] >= 0 && poll(&out, 1, 0) >= 0 && !(out.revents & (POLLERR | POLLHUP)))
        clearerr(stdout);
    for (int i = 0; i < 2; i++) {
        if (watch->output[i] < 0) continue;
        dup2(watch->output[i], STDOUT_FILENO + i);
        close(watch->output[i]);
        watch->output[i] = -1;
    }
}

flr_result flr_serve_watch_begin(flr_serve_watch *watch, flr_env *env, flr_error *error)
{
    *watch = (flr_serve_watch){
        .env = env, .notify = open_notify(), .period_ns = notify_period(), .output = {-1, -1}};
    /* what feeler starts, such as a browser, is not the service */
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    flr_stall_def def = flr_default_stall_def();
    def.env = env;
    def.stalled = end_process;
    def.context = env;
    flr_result result = flr_stall_create(&def, &watch->stall, error);
    if (result == FLR_OK) flr_stall_set_doing(watch->stall, "talking to clients", "");
    return result == FLR_OK ? flr_stall_start(watch->stall, error) : result;
}

void flr_serve_watch_ready(flr_serve_watch *watch)
{
    stop_waiting(watch);
    notify(watch, "READY=1");
}

void flr_serve_watch_round(flr_serve_watch *watch)
{
    flr_stall_beat(watch->stall);
    if (watch->period_ns == 0) return;
    int64_t now = flr_clock_ns(watch->env);
    if (now < watch->due_ns) return;
    watch->due_ns = now + watch->period_ns;
    notify(watch, "WATCHDOG=1");
}

void flr_serve_watch_rest(flr_serve_watch *watch)
{
    flr_stall_rest(watch->stall);
    notify(watch, "STOPPING=1");
    wait_again(watch);
}

void flr_serve_watch_end(flr_serve_watch *watch)
{
    flr_stall_destroy(watch->stall);
    if (watch->notify >= 0) close(watch->notify);
}
