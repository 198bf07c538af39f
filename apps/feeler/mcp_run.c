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

__attribute__((noreturn)) static void become(const flr_mcp_limits *limits, const flr_mcp_call *call,
                                             int output)
{
    char *arguments[FLR_MCP_MAX_ARGUMENTS + 2] = {(char *)(uintptr_t) "feeler"};
    for (int i = 0; i < call->count; i++) arguments[i + 1] = (char *)(uintptr_t)call->arguments[i];
    const struct rlimit memory = {limits->memory, limits->memory},
                        processor = {(rlim_t)(64 * limits->seconds) + 1,
                                     (rlim_t)(64 * limits->seconds) + 1},
                        no_core = {0, 0};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* errors are in the JSON that it prints */
    const int nothing = open("/dev/null", O_RDWR);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(nothing, 2) < 0)
        _exit(127);
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CPU, &processor);
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

/* Takes what comes until the child closes its end. False: time is up. */
static bool listen_to(int from, int64_t until, flr_mcp_outcome *outcome)
{
    outcome->output = calloc(1, FLR_MCP_MAX_OUTPUT + 1);
    for (;;) {
        char rest[4096];
        struct pollfd poll_from = {.fd = from, .events = POLLIN};
        const int64_t left = until - now_ms();
        if (left <= 0) return false;
        if (poll(&poll_from, 1, (int)(left < 1000000 ? left : 1000000)) <= 0) continue;
        const size_t room = outcome->output ? FLR_MCP_MAX_OUTPUT - outcome->size : 0;
        const ssize_t got = room ? read(from, outcome->output + outcome->size, room)
                                 : read(from, rest, sizeof rest);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return true;
        if (room)
            outcome->size += (size_t)got;
        else
            outcome->cut = true;
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
        result = flr_fail(error, FLR_NO_MEMORY, "out of memory");
    }
    flr_blob_free(&blob);
    return result;
}

flr_result flr_mcp_run(const flr_mcp_limits *limits, const flr_mcp_call *call,
                       flr_mcp_outcome *outcome, flr_error *error)
{
    int ends[2], status = 0;
    *outcome = (flr_mcp_outcome){0};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return flr_fail(error, FLR_IO, "no pipe can be made: %s", strerror(errno));
    const pid_t child = fork();
    if (child == 0) become(limits, call, ends[1]);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return flr_fail(error, FLR_IO, "no process can be started: %s", strerror(errno));
    }
    const bool ended = listen_to(ends[0], now_ms() + (int64_t)(1000 * limits->seconds), outcome);
    close(ends[0]);
    if (!ended) {
        kill(-child, SIGKILL);
        kill(child, SIGKILL);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (!ended)
        return flr_fail(
            error, FLR_TIMEOUT,
            "stopped after %g s; ask for less, or start feeler mcp with a larger --time",
            limits->seconds);
    if (!outcome->output) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 127)
        return flr_fail(error, FLR_CRASHED,
                        "the command ended by accident; it may have needed more than the %llu MiB "
                        "of memory that --memory allows",
                        (unsigned long long)(limits->memory >> 20));
    outcome->code = WEXITSTATUS(status);
    return call->file[0] ? read_file(call->file, outcome, error) : FLR_OK;
}
