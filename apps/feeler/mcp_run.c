/* a command of feeler in a process of its own, with limits of time, memory and files */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "mcp.h"

void flr_mcp_outcome_free(flr_mcp_outcome *outcome)
{
    free(outcome->output);
    free(outcome->file);
    *outcome = (flr_mcp_outcome){0};
}

bool flr_mcp_confines(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

/* ---- in the child ---- */

enum { LOOK, USE };

static void open_up(int ruleset, const char *path, int way)
{
    const uint64_t look =
        LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    struct stat info;
    struct landlock_path_beneath_attr rule = {
        .allowed_access = way == USE ? (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1 : look,
        .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0) return;
    if (fstat(rule.parent_fd, &info) == 0 && !S_ISDIR(info.st_mode))
        rule.allowed_access &= LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                               LANDLOCK_ACCESS_FS_WRITE_FILE;
    syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
}

/* The system and the folders can be read, the output folder and the cache written; nothing else is there. A kernel without
 * landlock leaves the checks of mcp_tools.c. */
static void lock_files(const flr_mcp_limits *limits, const flr_mcp_call *call)
{
    static const char *const system_folders[] = {
        "/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys/devices/system/cpu", NULL};
    struct landlock_ruleset_attr rules = {.handled_access_fs =
                                              (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
    const int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (ruleset < 0) return;
    char program[4096], cache[FLR_CACHE_PATH_SIZE];
    const ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    if (size > 0) {
        program[size] = 0;
        char *slash = strrchr(program, '/');
        if (slash) *slash = 0;
        open_up(ruleset, program, LOOK); /* the import helper is beside it or in libexec */
    }
    for (const char *const *f = system_folders; *f; f++) open_up(ruleset, *f, LOOK);
    for (int i = 0; i < limits->folder_count; i++) open_up(ruleset, limits->folders[i], LOOK);
    open_up(ruleset, "/dev/null", USE);
    open_up(ruleset, "/dev/urandom", LOOK);
    if (call->folder[0]) open_up(ruleset, call->folder, USE);
    if (flr_find_cache(NULL, cache, NULL) == FLR_OK) open_up(ruleset, cache, USE);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        syscall(SYS_landlock_restrict_self, ruleset, 0);
    close(ruleset);
}

/* The files of a process: its output and what it tells of its progress. */
typedef struct pipes {
    int output[2], progress[2];
} pipes;

__attribute__((noreturn)) static void become(const flr_mcp_limits *limits, const flr_mcp_call *call,
                                             const char *const *command, const pipes *to)
{
    char *arguments[FLR_MCP_MAX_ARGUMENTS + 2] = {(char *)(uintptr_t) "feeler"};
    for (int i = 0; command[i]; i++) arguments[i + 1] = (char *)(uintptr_t)command[i];
    const struct rlimit memory = {limits->memory, limits->memory},
                        processor = {(rlim_t)(64 * limits->seconds) + 1,
                                     (rlim_t)(64 * limits->seconds) + 1},
                        no_core = {0, 0};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* errors are in the JSON that it prints */
    const int nothing = open("/dev/null", O_RDWR);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(to->output[1], 1) < 0 ||
        dup2(to->progress[1], 2) < 0)
        _exit(127);
#ifndef FLR_SANITIZED /* address sanitizer reserves terabytes of address space, all of which this would count */
    setrlimit(RLIMIT_AS, &memory);
#else
    (void)memory;
#endif
    setrlimit(RLIMIT_CPU, &processor);
    setenv("TMPDIR", call->folder, 1);
    setrlimit(RLIMIT_CORE, &no_core);
    lock_files(limits, call);
    execv("/proc/self/exe", arguments);
    _exit(127);
}

/* ---- in the server ---- */

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Takes what a process prints. False: it has closed its end. */
static bool take_output(int from, flr_mcp_outcome *outcome)
{
    char rest[4096];
    const size_t room = outcome->output ? FLR_MCP_MAX_OUTPUT - outcome->size : 0;
    const ssize_t got =
        room ? read(from, outcome->output + outcome->size, room) : read(from, rest, sizeof rest);
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;
    if (room)
        outcome->size += (size_t)got;
    else
        outcome->cut = true;
    return true;
}

/* lines of progress; one that is longer than this is none */
typedef struct progress_lines {
    char text[4096];
    size_t size;
} progress_lines;

static bool take_progress(int from, progress_lines *lines, flr_mcp_watch *watch)
{
    const ssize_t got = read(from, lines->text + lines->size, sizeof lines->text - lines->size);
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;
    lines->size += (size_t)got;
    for (char *end; (end = memchr(lines->text, '\n', lines->size));) {
        const size_t used = (size_t)(end - lines->text) + 1;
        flr_mcp_tell(watch, lines->text, used - 1);
        memmove(lines->text, lines->text + used, lines->size - used);
        lines->size -= used;
    }
    if (lines->size == sizeof lines->text) lines->size = 0;
    return true;
}

/* Listens to the process and the client until the process closes its output. FLR_TIMEOUT, FLR_CANCELLED. */
static flr_result listen_to(const pipes *from, int64_t until, flr_mcp_watch *watch,
                            flr_mcp_outcome *outcome)
{
    progress_lines lines = {.size = 0};
    int progress = from->progress[0];
    outcome->output = calloc(1, FLR_MCP_MAX_OUTPUT + 1);
    for (;;) {
        struct pollfd ready[] = {{.fd = from->output[0], .events = POLLIN},
                                 {.fd = progress, .events = POLLIN},
                                 {.fd = watch->client->input, .events = POLLIN}};
        const int64_t left = until - now_ms();
        if (left <= 0) return FLR_TIMEOUT;
        if (poll(ready, 3, (int)(left < 1000000 ? left : 1000000)) <= 0) continue;
        if (ready[2].revents && !watch->client->look(watch->client->context, watch->id))
            return FLR_CANCELLED;
        if (ready[1].revents && !take_progress(progress, &lines, watch)) progress = -1;
        if (ready[0].revents && !take_output(from->output[0], outcome)) return FLR_OK;
    }
}

static void close_pipes(pipes *p)
{
    int *const ends[] = {&p->output[0], &p->output[1], &p->progress[0], &p->progress[1]};
    for (int i = 0; i < 4; i++) {
        if (*ends[i] >= 0) close(*ends[i]);
        *ends[i] = -1;
    }
}

static flr_result read_file(const char *path, flr_mcp_outcome *outcome, flr_error *error)
{
    flr_blob blob = {0};
    flr_error why;
    flr_result result = flr_file_read_all(flr_env_real(), path, FLR_MCP_MAX_FILE, &blob, &why);
    if (result == FLR_NOT_FOUND) return FLR_OK; /* it found nothing to write */
    if (result != FLR_OK) return flr_fail(error, result, "the result could not be read");
    outcome->file = malloc(blob.size + 1);
    if (outcome->file) {
        memcpy(outcome->file, blob.bytes, blob.size);
        outcome->file_size = blob.size;
    } else {
        result = flr_fail_memory(error);
    }
    flr_blob_free(&blob);
    return result;
}

/* One command, to its end. */
static flr_result run(const flr_mcp_limits *limits, const flr_mcp_call *call,
                      const char *const *command, int64_t until, flr_mcp_watch *watch,
                      flr_mcp_outcome *outcome, flr_error *error)
{
    int status = 0;
    pipes p = {{-1, -1}, {-1, -1}};
    if (pipe2(p.output, O_CLOEXEC) != 0 || pipe2(p.progress, O_CLOEXEC) != 0) {
        flr_fail(error, FLR_IO, "no pipe can be made: %s", strerror(errno));
        close_pipes(&p);
        return FLR_IO;
    }
    const pid_t child = fork();
    if (child == 0) become(limits, call, command, &p);
    if (child < 0) {
        flr_fail(error, FLR_IO, "no process can be started: %s", strerror(errno));
        close_pipes(&p);
        return FLR_IO;
    }
    setpgid(child, child); /* whoever comes first: it must be so before its group is killed */
    close(p.output[1]);
    close(p.progress[1]);
    p.output[1] = p.progress[1] = -1;
    const flr_result ended = listen_to(&p, until, watch, outcome);
    close_pipes(&p);
    if (ended != FLR_OK) {
        kill(-child, SIGKILL);
        kill(child, SIGKILL);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (ended == FLR_CANCELLED) return flr_fail(error, ended, "cancelled");
    if (ended != FLR_OK)
        return flr_fail(
            error, FLR_TIMEOUT,
            "stopped after %g s; ask for less, or start feeler mcp with a larger --time",
            limits->seconds);
    if (!outcome->output) return flr_fail_memory(error);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 127)
        return flr_fail(error, FLR_CRASHED,
                        "the command ended by accident; it may have needed more than the %llu MiB "
                        "of memory that --memory allows",
                        (unsigned long long)(limits->memory >> 20));
    outcome->code = WEXITSTATUS(status);
    return FLR_OK;
}

flr_result flr_mcp_run(const flr_mcp_limits *limits, const flr_mcp_call *call, flr_mcp_watch *watch,
                       flr_mcp_outcome *outcome, flr_error *error)
{
    const int64_t until = now_ms() + (int64_t)(1000 * limits->seconds);
    flr_result result = FLR_OK;
    *outcome = (flr_mcp_outcome){0};
    if (call->import[0]) {
        result = run(limits, call, call->import, until, watch, outcome, error);
        /* what went wrong there is the answer */
        if (result != FLR_OK || outcome->code != FLR_EXIT_OK) return result;
        flr_mcp_outcome_free(outcome);
    }
    result = run(limits, call, call->arguments, until, watch, outcome, error);
    return result == FLR_OK && call->file[0] ? read_file(call->file, outcome, error) : result;
}
