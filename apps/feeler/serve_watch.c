/* the watchdog of a controller's control thread, and signs of life for systemd */
#include "serve_watch.h"

#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "command.h"
#include "feeler/log.h"

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

/* Control may hang in the log and hold its lock, or in a terminal that takes nothing: the line goes out past both, or not at all.
 * Nothing is cleaned up, since control may hold what that needs; the next start does it. */
static void end_process(void *context, const flr_stall_report *report)
{
    flr_env *env = context;
    char message[400], text[FLR_LOG_TEXT_SIZE + 1];
    snprintf(
        message, sizeof message,
        "the control thread did nothing for %.1f s%s%s%s%s; all forces were brought to zero, and "
        "feeler ends with exit code %d",
        report->seconds, report->doing[0] ? " while " : "", report->doing,
        report->what[0] ? ": " : "", report->what, FLR_EXIT_STALLED);
    const flr_log_line line = {FLR_LOG_ERROR, flr_clock_wall_ns(env), message};
    flr_log_format(&line, text);
    size_t size = strlen(text);
    text[size] = '\n';
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&out, 1, 0) == 1 && out.revents & POLLOUT) (void)!write(STDERR_FILENO, text, size + 1);
    _exit(FLR_EXIT_STALLED);
}

flr_result flr_serve_watch_begin(flr_serve_watch *watch, flr_env *env, flr_error *error)
{
    *watch = (flr_serve_watch){.env = env, .notify = open_notify(), .period_ns = notify_period()};
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

void flr_serve_watch_ready(flr_serve_watch *watch) { notify(watch, "READY=1"); }

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
}

void flr_serve_watch_end(flr_serve_watch *watch)
{
    flr_stall_destroy(watch->stall);
    if (watch->notify >= 0) close(watch->notify);
}
