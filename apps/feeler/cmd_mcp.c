/* feeler mcp: a Model Context Protocol server on standard input and output */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mcp_inbox.h"
#include "output.h"

typedef struct mcp_values {
    flr_common common;
    double time;
    uint64_t memory;
} mcp_values;

/* The folders, each once, as absolute paths. */
static flr_result take_folders(flr_mcp_limits *limits, int count, char **given, flr_error *error)
{
    for (int i = 0; i < count; i++) {
        struct stat info;
        char *real = realpath(given[i], NULL);
        if (!real || stat(real, &info) != 0 || !S_ISDIR(info.st_mode)) {
            free(real);
            return flr_fail(error, FLR_NOT_FOUND, "%s: is no folder that can be opened", given[i]);
        }
        limits->folders[limits->folder_count++] = real;
    }
    return FLR_OK;
}

typedef struct mcp_server {
    flr_mcp mcp;
    flr_mcp_inbox inbox;
    bool ended, broken; /* the input; the output */
} mcp_server;

/* Waits for input or for room. A client that makes its end of a socket or pipe non-blocking may do so to this end, too. */
static void wait_until(int fd, short events)
{
    struct pollfd ready = {.fd = fd, .events = events};
    poll(&ready, 1, -1);
}

static bool write_all(const char *bytes, size_t size)
{
    while (size) {
        const ssize_t put = write(STDOUT_FILENO, bytes, size);
        if (put < 0 && errno == EAGAIN) wait_until(STDOUT_FILENO, POLLOUT);
        if (put < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (put <= 0) return false;
        bytes += put;
        size -= (size_t)put;
    }
    return true;
}

static void send_line(void *context, const char *line)
{
    mcp_server *s = context;
    if (!write_all(line, strlen(line)) || !write_all("\n", 1)) s->broken = true;
}

/* Reads what there is, or waits for something. Returns whether the running request was cancelled. */
static bool read_input(mcp_server *s, const json_t *running)
{
    char bytes[65536];
    const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) return false;
    if (got < 0 && errno == EAGAIN) {
        if (!running) wait_until(STDIN_FILENO, POLLIN);
        return false;
    }
    if (got <= 0) {
        s->ended = true;
        flr_mcp_inbox_end(&s->inbox, &s->mcp);
        return false;
    }
    return flr_mcp_inbox_add(&s->inbox, bytes, (size_t)got, running, &s->mcp);
}

/* while a tool runs */
static void listen_or_not(mcp_server *s)
{
    s->mcp.client.input = s->ended || flr_mcp_inbox_is_full(&s->inbox) ? -1 : STDIN_FILENO;
}

static bool look(void *context, const json_t *id)
{
    mcp_server *s = context;
    const bool cancelled = read_input(s, id);
    listen_or_not(s);
    return !cancelled && !s->broken;
}

/* Answers line by line until the input ends; the last needs no end. */
static int serve(mcp_server *s)
{
    while (!s->broken) {
        flr_mcp_waiting *line = flr_mcp_inbox_take(&s->inbox);
        if (!line && s->ended) break;
        if (!line) {
            read_input(s, NULL);
            continue;
        }
        listen_or_not(s);
        char *answer = flr_mcp_answer(&s->mcp, line->line, line->size);
        if (answer) send_line(s, answer);
        free(answer);
        free(line);
    }
    flr_mcp_inbox_free(&s->inbox);
    return s->broken ? FLR_EXIT_FAILED : FLR_EXIT_OK;
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    const mcp_values *v = given;
    mcp_server server = {.mcp = {.env = cli->env,
                                 .limits = {.seconds = v->time, .memory = v->memory},
                                 .run = flr_mcp_run,
                                 .client = {.look = look, .send = send_line}}};
    flr_mcp_limits *limits = &server.mcp.limits;
    server.mcp.client.context = &server;
    flr_error error;
    flr_result result = take_folders(limits, count, arguments, &error);
    int code = result == FLR_OK ? serve(&server) : flr_fail_with(cli, FLR_EXIT_INPUT, &error);
    for (int i = 0; i < limits->folder_count; i++) free(limits->folders[i]);
    return code;
}

static const mcp_values defaults = {.time = 120, .memory = UINT64_C(4) << 30};
static const char *const usage[] = {"DIR... [options]", NULL};
#define MCP_AT(field) offsetof(mcp_values, field)
static const flr_option options[] = {
    FLR_OPTION(NUMBER, MCP_AT(time), "time", "SECONDS", "a tool may take so long; default 120",
               .min = 0.1, .max = 86400),
    FLR_OPTION(BYTES, MCP_AT(memory), "memory", "SIZE",
               "a tool may take so much memory; default 4GiB"),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler mcp ball < /dev/null", "tools for the files in the folder ball"},
    {.line = NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "the input ended"},
    {FLR_EXIT_FAILED, "an answer could not be written"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT, "a folder cannot be opened"},
    {0, NULL},
};

const flr_command flr_cmd_mcp = {
    .name = "mcp",
    .summary = "tools for programs that speak the Model Context Protocol",
    .usage = usage,
    .description =
        "Answers requests of the Model Context Protocol on standard input and output, one JSON-RPC "
        "message on each line, so that assistants and scripts can ask about assemblies: "
        "open_assembly, clashes, clash_report, removal_path, check_mesh, picture, "
        "recording_report.\n\n"
        "While a tool runs, a client that asked for it hears of the progress, and can cancel the "
        "call."
        "\n\n"
        "Tools read files of the given folders only; file names count from the first of them. Each "
        "call runs in a process of its own, which the system keeps from other files where it can "
        "(Linux with landlock), with the limits of time and memory. Nothing is written but the "
        "cache. Scenes may name only files in these folders.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = FLR_MCP_MAX_FOLDERS,
    .argument_missing = "a folder whose files may be read",
    .values_size = sizeof(mcp_values),
    .defaults = &defaults,
    .run = run,
};
